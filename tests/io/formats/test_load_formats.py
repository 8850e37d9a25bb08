"""`hetviz.load` takes each format by itself, and folders of them."""

import io

import numpy as np
import pytest
from PIL import Image

import hetviz
from hetviz.errors import DataError

nx = pytest.importorskip("networkx")

X = np.random.default_rng(0).normal(size=(8, 3))
IDS = [f"c{row}" for row in range(8)]


def test_load_matrices(tmp_path):
    np.save(tmp_path / "vectors.npy", X)
    np.savez(tmp_path / "kernel.npz", K=X @ X.T, ids=np.array(IDS))
    vectors = hetviz.load(tmp_path / "vectors.npy")["vectors"]
    np.testing.assert_array_equal(vectors.X, X)
    kernel = hetviz.load(tmp_path / "kernel.npz")["kernel"]
    np.testing.assert_allclose(kernel.kernel, X @ X.T)
    assert kernel.ids.tolist() == IDS


def test_load_graph_and_edge_list(tmp_path):
    nx.write_graphml(nx.karate_club_graph(), tmp_path / "club.graphml")
    data = hetviz.load(tmp_path / "club.graphml")
    assert (len(data["club"]), sum(map(len, data.links))) == (34, 78)
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,1\nb,c,-0.5\nc,a,1\n")
    data = hetviz.load(tmp_path / "edges.csv")
    assert data["edges"].ids.tolist() == ["a", "b", "c"]
    assert data.links[0].weight.tolist() == [1.0, -0.5, 1.0]


def test_load_anndata_with_neighbours(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "cells.h5ad", "w") as root:
        root["X"] = X
        root.create_dataset("obs/_index", data=IDS, dtype=h5py.string_dtype())
        near = root.create_group("obsp/connectivities")
        near.attrs.update({"encoding-type": "csr_matrix", "shape": (8, 8)})
        near["data"], near["indices"] = np.full(8, 0.5), (np.arange(8) + 1) % 8
        near["indptr"] = np.arange(9)
    data = hetviz.load(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(data["cells"].X, X)
    assert len(data.links[0]) == 8


def test_load_folder_of_pictures_table_and_texts(tmp_path):
    rows = []
    for at, name in enumerate("abcd"):
        buffer = io.BytesIO()
        Image.new("RGB", (30, 20), (60 * at, 0, 0)).save(buffer, "PNG")
        (tmp_path / f"{name}.png").write_bytes(buffer.getvalue())
        (tmp_path / f"{name}.txt").write_text(f"A long story about {name}, and of what it did.")
        rows.append(f"{at},{name}.png,{at * 2}")
    (tmp_path / "things.csv").write_text("\n".join(["id,file,size", *rows]) + "\n")
    data = hetviz.load(tmp_path)
    assert set(data.datasets) == {"things", f"{tmp_path.name} texts"}
    assert all(data["things"].media)
    assert data[f"{tmp_path.name} texts"].titles[0].startswith("A long story")


def test_load_matrix_without_ids_is_error(tmp_path):
    np.save(tmp_path / "cells.npy", X)
    (tmp_path / "cells.csv").write_text("id,x\n" + "".join(f"{text},1\n" for text in IDS))
    with pytest.raises(DataError, match="array named ids"):
        hetviz.load(tmp_path)
