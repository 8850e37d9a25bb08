import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hetviz.errors import DataError, HetvizError
from hetviz.io import limits
from hetviz.io.datasets.matrices import square_table
from hetviz.io.formats.arrays import read_npy, read_npz
from hetviz.io.formats.matrix_kinds import ROW, matrix_kind
from hetviz.io.infer.parsed import Choices, Table
from tests.depth import examples

PLAIN = Choices()


def npy(array, **how):
    buffer = io.BytesIO()
    np.save(buffer, array, **how)
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def sparse_npz(matrix):
    buffer = io.BytesIO()
    sp.save_npz(buffer, matrix)
    return buffer.getvalue()


def codes(caught):
    return {problem.code for problem in caught.value.problems}


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(12, 4))


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2", "<i4", "|u1", "|b1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_embedding(kind, order):
    X = np.asarray(np.arange(6).reshape(2, 3), dtype=kind, order=order)
    (piece,) = read_npy("dir/vectors.npy", npy(X), PLAIN)
    np.testing.assert_array_equal(piece.X, X.astype(float))
    assert (piece.name, piece.id_column) == ("vectors", ROW)
    assert piece.frame[ROW].tolist() == ["1", "2"]
    assert "row numbers" in piece.facts["ids"]


@pytest.mark.parametrize("kind", ["U", "S"])
def test_npz_ids_names_and_columns(points, kind):
    ids = np.array([f"00{row}" for row in range(12)], dtype=kind)
    names = np.array(list("abcd"))
    content = npz(X=points, ids=ids, feature_names=names, y=np.arange(12), other=np.zeros(5))
    (piece,) = read_npz("cells.npz", content, PLAIN)
    assert piece.frame["ids"].tolist() == [f"00{row}" for row in range(12)]
    assert piece.frame["y"].tolist()[:2] == ["0", "1"]
    assert piece.feature_names == ("a", "b", "c", "d")
    assert (piece.name, piece.id_column) == ("cells", "ids")
    assert [problem.code for problem in piece.problems] == ["not-used"]


def test_npz_several_matrices(points):
    pieces = read_npz("m.npz", npz(a=points, b=points[:5], y=np.arange(12)), PLAIN)
    assert {piece.name: piece.X.shape for piece in pieces} == {"a": (12, 4), "b": (5, 4)}


def test_matrix_kind_of_square_matrices(points):
    D, K = distances(points), points @ points.T
    assert matrix_kind(D) == "distance"
    assert matrix_kind(K) == "kernel"
    assert matrix_kind(K.astype(np.float32)) == "kernel"
    assert matrix_kind(points) == "features"
    assert matrix_kind(np.triu(K)) == "features"
    assert matrix_kind(-D) == "features"
    assert matrix_kind(D - 5 * np.eye(12)) == "features"
    joined = np.zeros((4, 4))
    joined[0, 1] = joined[1, 0] = joined[2, 3] = joined[3, 2] = 1
    assert matrix_kind(joined) == "features"
    twice = np.repeat(np.repeat(D, 2, axis=0), 2, axis=1)
    assert matrix_kind(twice) == "distance"


def test_matrix_kind_can_be_chosen(points):
    D = distances(points)
    assert read_npy("d.npy", npy(D), PLAIN)[0].distance is not None
    assert read_npy("d.npy", npy(D), Choices(matrix="features"))[0].X is not None
    (piece,) = read_npy("d.npy", npy(D), Choices(matrix="kernel"))
    assert piece.X is None
    assert "kernel" in piece.facts["matrix"]
    for X, said in ((-D, "distance"), (points, "kernel"), (np.triu(D), "distance"), (D, "cube")):
        with pytest.raises(DataError):
            read_npy("d.npy", npy(X), Choices(matrix=said))


def test_matrix_kind_of_large_square_is_features(points, monkeypatch):
    monkeypatch.setattr(limits, "MAX_SQUARE", 10)
    assert matrix_kind(distances(points)) == "features"
    with pytest.raises(DataError, match="12 rows, at most 10 are allowed"):
        read_npy("d.npy", npy(distances(points)), Choices(matrix="distance"))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_npz_sparse_matrices(form):
    X = sp.random_array((30, 50), density=0.1, rng=np.random.default_rng(1)).asformat(form)
    (piece,) = read_npz("words.npz", sparse_npz(X), PLAIN)
    assert sp.issparse(piece.X)
    np.testing.assert_array_equal(piece.X.toarray(), X.toarray())


def test_npy_rows_with_missing_numbers_are_left_out(points):
    points[3, 1] = np.nan
    (piece,) = read_npy("x.npy", npy(points), PLAIN)
    assert len(piece.X) == len(piece.frame) == 11
    assert piece.row[3] == 4
    assert piece.frame[ROW].tolist()[3] == "5"
    assert [problem.row for problem in piece.problems] == [3]
    with pytest.raises(DataError, match="missing or infinite"):
        read_npy("x.npy", npy(points * np.nan), PLAIN)


def test_npy_refuses_objects():
    class Bomb:
        def __reduce__(self):
            return (exec, ("raise SystemExit",))

    bombs = np.array([Bomb()], dtype=object)
    with pytest.raises(DataError, match="Python objects"):
        read_npy("x.npy", npy(bombs, allow_pickle=True), PLAIN)
    buffer = io.BytesIO()
    np.savez(buffer, X=np.eye(3), ids=np.array(list("abc"), dtype=object))
    (piece,) = read_npz("x.npz", buffer.getvalue(), PLAIN)
    assert piece.id_column == ROW
    assert "bad-npy" in {problem.code for problem in piece.problems}


def test_npy_wrong_header_takes_no_memory():
    content = npy(np.eye(4)).replace(b"(4, 4)", b"(900000000, 4)").replace(b"          \n", b"\n")
    with pytest.raises(DataError) as caught:
        read_npy("x.npy", content, PLAIN)
    assert codes(caught) == {"bad-npy"}


def test_npz_zip_bomb_is_refused():
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=np.zeros((3000, 1000)))
    with pytest.raises(DataError) as caught:
        read_npz("x.npz", buffer.getvalue(), PLAIN)
    assert codes(caught) == {"zip-bomb"}


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 99])},
        {"indices": np.array([0, -1])},
        {"indptr": np.array([0, 5, 2])},
        {"indptr": np.array([0])},
        {"shape": np.array([2])},
        {"shape": np.array([-1, 5])},
        {"shape": np.array([2**62, 2**62])},
        {"data": np.array(["a", "b"])},
        {"format": np.array("bsr")},
        {"format": np.array([1, 2])},
    ],
)
def test_npz_mismatched_sparse_parts(change):
    parts = {
        "format": np.array("csr"),
        "shape": np.array([2, 3]),
        "data": np.ones(2),
        "indices": np.array([0, 1]),
        "indptr": np.array([0, 1, 2]),
    }
    assert read_npz("x.npz", npz(**parts), PLAIN)[0].X.shape == (2, 3)
    with pytest.raises(DataError):
        read_npz("x.npz", npz(**{**parts, **change}), PLAIN)


@pytest.mark.parametrize(
    "X", [np.float64(3), np.zeros(3), np.zeros((0, 3)), np.zeros((2, 2, 2)), np.array([["a"]])]
)
def test_npy_refuses_other_arrays(X):
    with pytest.raises(DataError):
        read_npy("x.npy", npy(X), PLAIN)
    with pytest.raises(DataError):
        read_npz("x.npz", npz(X=X), PLAIN)


def table(X, names, ids=None, decimals=3):
    frame = pd.DataFrame(np.round(X, decimals).astype(str), columns=names)
    frame.insert(0, "column_1", ids or names)
    return Table("t", "t.csv", None, frame.astype(str), tuple(range(len(frame))))


def test_square_table_is_kernel_or_distances(points):
    names = [f"p{at}" for at in range(12)]
    shuffled = np.random.default_rng(2).permutation(12)
    for X, kind in ((distances(points), "distance"), (np.corrcoef(points), "kernel")):
        given = table(X[:, shuffled], [names[at] for at in shuffled], names)
        piece = square_table(given)
        np.testing.assert_allclose(getattr(piece, kind), X, atol=1e-3)
        assert piece.frame["id"].tolist() == names
        assert square_table(given, "features") is given
    assert square_table(table(points[:, :3], ["a", "b", "c"], names)).X is None
    text = table(distances(points), names)
    text.frame.loc[2, "p3"] = "far"
    assert square_table(text) is text


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=200), st.integers(0, 200), st.sampled_from([npy, npz]))
def test_damaged_arrays_are_read_or_refused(noise, at, pack):
    good = npy(np.eye(3)) if pack is npy else npz(X=np.eye(3), ids=np.array(["a", "b", "c"]))
    for content in (good[:at] + noise, good[:at] + noise + good[at + len(noise) :]):
        for read in (read_npy, read_npz):
            try:
                pieces = read("x", content, PLAIN)
            except HetvizError:
                continue
            assert all(piece.X is None or np.isfinite(piece.X).all() for piece in pieces)


@settings(max_examples=examples(40), deadline=None)
@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int16, np.complex64]),
        hnp.array_shapes(max_dims=3, max_side=4),
    )
)
def test_random_arrays_are_read_or_refused(X):
    try:
        (piece,) = read_npy("x.npy", npy(X), PLAIN)
    except HetvizError:
        return
    for matrix in (piece.X, piece.kernel, piece.distance):
        assert matrix is None or np.isfinite(matrix).all()


@pytest.mark.parametrize("sign", [0x110000, 0xD800, 0xFFFFFFFF])
def test_npy_refuses_invalid_code_points(sign):
    names = np.array(["a1", "a2", "a3"]).view(np.uint32).copy()
    names[1] = sign
    content = npz(X=np.eye(3)[:, :2], ids=names.view("<U2"))
    with pytest.raises(DataError, match="next to the matrix is damaged"):
        read_npz("m.npz", content, Choices())
