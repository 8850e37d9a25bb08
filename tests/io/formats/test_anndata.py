import io
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from hetviz.errors import DataError, HetvizError, MissingExtraError
from hetviz.io import limits
from hetviz.io.formats import anndata
from hetviz.io.formats.anndata import read_hdf5
from hetviz.io.infer.parsed import Choices
from tests.depth import examples

h5py = pytest.importorskip("h5py")

N = 6
IDS = [f"c{row}" for row in range(N)]
X = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32)
NEAR = sp.csr_array(np.diag(np.full(N - 1, 0.5), 1) + np.diag(np.full(N - 1, 0.5), -1))
text = h5py.string_dtype()


def put_frame(group, index, **columns):
    group.attrs["encoding-type"] = "dataframe"
    group.attrs["_index"] = "_index"
    group.attrs["column-order"] = np.array(list(columns), dtype=text)
    group.create_dataset("_index", data=index, dtype=text)
    for name, values in columns.items():
        if isinstance(values, tuple):
            inner = group.create_group(name)
            inner.attrs["encoding-type"] = "categorical"
            inner["codes"] = np.array(values[0], dtype=np.int8)
            inner.create_dataset("categories", data=values[1], dtype=text)
        elif isinstance(values[0], str):
            group.create_dataset(name, data=values, dtype=text)
        else:
            group[name] = values


def put_sparse(parent, name, matrix):
    group = parent.create_group(name)
    group.attrs["encoding-type"] = f"{matrix.format}_matrix"
    group.attrs["shape"] = matrix.shape
    for part in ("data", "indices", "indptr"):
        group[part] = getattr(matrix, part)


def put_cells(root, matrix=X, ids=IDS, near=NEAR):
    put_frame(
        root.create_group("obs"),
        ids,
        type=([0, 1, 0, 1, -1, 1], ["T cell", "B cell"]),
        n_genes=np.arange(N),
        share=np.array([0.5, np.nan, 1, 1, 1, 1]),
        batch=["x", "x", "y", "y", "z", "ü"],
    )
    put_frame(root.create_group("var"), ["CD4", "CD8A", "MS4A1", "NKG7"])
    if sp.issparse(matrix):
        put_sparse(root, "X", matrix)
    elif matrix is not None:
        root["X"] = matrix
    root.create_group("obsm")["X_pca"] = X[:, :3]
    root["obsm"]["X_umap"] = X[:, :2]
    if near is not None:
        obsp = root.create_group("obsp")
        put_sparse(obsp, "connectivities", near)
        put_sparse(obsp, "distances", near * 7)


def file_of(put, **how):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as root:
        put(root, **how)
    return buffer.getvalue()


def read(content, **choices):
    return read_hdf5("cells.h5ad", content, Choices(**choices))


def codes(caught):
    return {problem.code for problem in caught.value.problems}


@pytest.mark.parametrize("form", [None, "csr", "csc"])
def test_anndata_observations_with_features(form):
    matrix = X if form is None else sp.csr_array(X).asformat(form)
    cells, links = read(file_of(put_cells, matrix=matrix))
    result = cells.X if form is None else cells.X.toarray()
    np.testing.assert_array_equal(result, X)
    assert cells.feature_names == ("CD4", "CD8A", "MS4A1", "NKG7")
    assert cells.frame.to_dict("list") == {
        "id": IDS,
        "type": ["T cell", "B cell", "T cell", "B cell", "", "B cell"],
        "n_genes": ["0", "1", "2", "3", "4", "5"],
        "share": ["0.5", "", "1.0", "1.0", "1.0", "1.0"],
        "batch": ["x", "x", "y", "y", "z", "ü"],
    }
    assert cells.facts["could be the features"] == "X_pca (3 columns), X_umap (2 columns)"
    assert len(links.frame) == N - 1
    assert set(links.frame["weight"]) == {"0.5"}
    assert not links.problems
    assert set(links.frame["kind"]) == {"connectivities"}


def test_anndata_embedding_as_features():
    content = file_of(put_cells)
    np.testing.assert_array_equal(read(content, part="X_pca")[0].X, X[:, :3])
    np.testing.assert_array_equal(read(file_of(put_cells, matrix=None))[0].X, X[:, :3])
    with pytest.raises(DataError, match="X_umap"):
        read(content, part="X_tsne")


def test_anndata_layer_as_features():
    def put(root):
        put_cells(root)
        put_sparse(root.create_group("layers"), "counts", sp.csr_array(X * 2))

    cells, _ = read(file_of(put), part="counts")
    np.testing.assert_array_equal(cells.X.toarray(), X * 2)
    assert cells.feature_names == ("CD4", "CD8A", "MS4A1", "NKG7")
    assert "counts (4 columns)" in read(file_of(put))[0].facts["could be the features"]


def test_mudata_modalities_are_views():
    def put(root):
        modalities = root.create_group("mod")
        put_cells(modalities.create_group("rna"))
        put_cells(modalities.create_group("protein"), matrix=X[:, ::-1], near=None)
        modalities.create_group("broken")

    pieces = read_hdf5("blood.h5mu", file_of(put), Choices())
    assert {(piece.name, piece.entity) for piece in pieces if piece.role == "dataset"} == {
        ("rna", "blood"),
        ("protein", "blood"),
    }
    (links,) = [piece for piece in pieces if piece.role == "links"]
    assert set(links.frame["source_dataset"]) == {"rna"}
    assert [problem.code for problem in pieces[0].problems] == ["unknown-format"]


def test_anndata_masked_columns():
    def put(root):
        put_cells(root, near=None)
        del root["obs/_index"], root["obs/n_genes"]
        for name, values in (("_index", IDS), ("n_genes", list("123456"))):
            group = root["obs"].create_group(name)
            group.create_dataset("values", data=values, dtype=text)
            group["mask"] = np.array([False] * 5 + [name == "n_genes"])

    (cells,) = read(file_of(put))
    assert cells.frame["id"].tolist() == IDS
    assert cells.frame["n_genes"].tolist() == ["1", "2", "3", "4", "5", ""]


def test_anndata_raw_count_note():
    assert [p.code for p in read(file_of(put_cells, matrix=np.round(X * X * 99)))[0].problems] == [
        "raw-counts"
    ]


def test_anndata_external_links_are_not_followed(tmp_path):
    other = tmp_path / "secret.h5"
    other.write_bytes(file_of(put_cells))

    def outside(root):
        put_cells(root, matrix=None, near=None)
        root["X"] = h5py.ExternalLink(str(other), "/X")
        root["obs"]["batch2"] = h5py.SoftLink("/var/_index")
        root["obs"].attrs["column-order"] = np.array(
            ["batch2", "../var/_index", "batch"], dtype=text
        )

    (cells,) = read(file_of(outside))
    assert cells.X.shape == (N, 3)
    assert list(cells.frame) == ["id", "batch"]
    told = ["bad-column", "bad-column", "unreadable-x"]
    assert [problem.code for problem in cells.problems] == told

    def raw(root):
        put_cells(root, matrix=None, near=None)
        secret = [(str(tmp_path / "bytes"), 0, 8 * N)]
        root.create_dataset("X", (N, 1), dtype="f8", external=secret)

    with pytest.raises(DataError) as caught:
        read(file_of(raw))
    assert codes(caught) == {"link"}

    def virtual(root):
        put_cells(root, matrix=None, near=None)
        layout = h5py.VirtualLayout((N, 4), dtype="f4")
        layout[:] = h5py.VirtualSource(str(other), "X", (N, 4))
        root.create_virtual_dataset("X", layout)

    with pytest.raises(DataError) as caught:
        read(file_of(virtual))
    assert codes(caught) == {"link"}


def test_anndata_declared_sizes_are_checked(monkeypatch):
    def empty(root):
        put_cells(root, matrix=None, near=None)
        root.create_dataset("X", (N, 15_000_000), dtype="f8", chunks=(1, 1000))

    with pytest.raises(DataError) as caught:
        read(file_of(empty))
    assert codes(caught) == {"too-large"}

    def zeros(root):
        put_cells(root, matrix=None, near=None)
        root.create_dataset("X", data=np.zeros((N, 19_000)), compression="gzip")
        root["obsm"].create_dataset("big", (N, 10_000_000), dtype="f8", chunks=(1, 1000))

    read(file_of(zeros))
    monkeypatch.setattr(limits, "MAX_RATIO", 1)
    monkeypatch.setattr(limits, "MB", 1000)
    with pytest.raises(DataError) as caught:
        read(file_of(zeros))
    assert codes(caught) == {"too-large"}


def test_anndata_too_many_neighbours_are_skipped(monkeypatch):
    monkeypatch.setattr(anndata, "MAX_LINKS", 2)
    (cells,) = read(file_of(put_cells))
    assert [problem.code for problem in cells.problems] == ["too-many"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda root: root["X"]["indices"].__setitem__(0, 99),
        lambda root: root["X"]["indptr"].__setitem__(1, 99),
        lambda root: root["X"].attrs.__setitem__("shape", (N, 0)),
        lambda root: root["X"].attrs.__setitem__("shape", (2**40, 2**40)),
        lambda root: root["X"].__delitem__("data"),
        lambda root: root["obs"].__delitem__("_index"),
        lambda root: root.__delitem__("obs"),
    ],
)
def test_anndata_mismatched_parts(spoil):
    def put(root):
        put_cells(root, matrix=sp.csr_array(X), near=None)
        root.__delitem__("obsm")
        spoil(root)

    try:
        (cells,) = read(file_of(put))
    except DataError:
        return
    assert cells.X is None, "features that do not fit were read"


def test_anndata_invalid_category_codes():
    def put(root):
        put_cells(root, near=None)
        root["obs/type/codes"][0] = 9

    (cells,) = read(file_of(put))
    assert "type" not in cells.frame
    assert [problem.code for problem in cells.problems] == ["bad-column"]


def test_anndata_refuses_other_and_old_files():
    for put, code in (
        (lambda root: root.create_dataset("x", data=X), "unknown-format"),
        (lambda root: root.create_dataset("obs", data=X), "old-format"),
        (lambda root: root.create_group("mod"), "no-rows"),
    ):
        with pytest.raises(DataError) as caught:
            read(file_of(put))
        assert codes(caught) == {code}


def test_anndata_without_h5py_names_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match="omics"):
        read(b"\x89HDF\r\n\x1a\n")


GOOD = file_of(put_cells)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, len(GOOD)), st.binary(min_size=1, max_size=8))
def test_damaged_anndata_is_read_or_refused(at, noise):
    for content in (GOOD[:at], GOOD[:at] + noise + GOOD[at + len(noise) :]):
        try:
            pieces = read(content)
        except HetvizError:
            continue
        for piece in pieces:
            assert piece.X is None or len(piece.X) == len(piece.frame)


@pytest.mark.parametrize("how", ["vlen", "link", "shape"])
def test_anndata_unreadable_x_is_reported(how):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        obs = file.create_group("obs")
        obs.attrs["_index"] = "index"
        obs.create_dataset("index", data=np.array([b"a", b"b", b"c"]))
        if how == "vlen":
            file.create_group("X").attrs["encoding-type"] = "awkward-array"
        elif how == "link":
            file["X"] = h5py.SoftLink("/elsewhere")
        else:
            file.create_dataset("X", data=np.ones((5, 2)))
        file.create_group("obsm").create_dataset("X_pca", data=np.eye(3))
    (piece,) = read_hdf5("t.h5ad", buffer.getvalue(), Choices())
    (problem,) = [problem for problem in piece.problems if problem.code == "unreadable-x"]
    assert problem.severity == "error"
    assert "the features are X_pca instead" in problem.what
