"""Files for other programs, read with their own readers."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import HeteroData
from hetviz.errors import ParameterError
from hetviz.io.formats.anndata import read_hdf5
from hetviz.io.infer.parsed import Choices

h5py = pytest.importorskip("h5py")
networkx = pytest.importorskip("networkx")

X = np.random.default_rng(0).normal(size=(6, 4))
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(
    word=["x & y", "<b>", "bell\a", "é", "tab\there", "z"], side=["l", "r"] * 3, x=range(6)
)
DATA = HeteroData.from_frames(
    {"left": TABLE.set_index("word", drop=False), "right": ["p", "q"]},
    links=[("x & y", "p", 0.5), ("z", "q", -1.0), ("é", "q", 1.0)],
    labels={"left": "side"},
)
MAP = hetviz.Embedding(
    {"left": X[:, :2], "right": np.array([[0.0, 1.0], [np.nan, np.nan]])},
    {name: dataset.ids for name, dataset in DATA.datasets.items()},
)


def test_graphml_and_gexf_load_in_networkx(tmp_path: Path) -> None:
    for form, read in (("graphml", networkx.read_graphml), ("gexf", networkx.read_gexf)):
        path = hetviz.export(DATA, MAP, tmp_path / f"map.{form}")
        graph = read(path)
        assert set(graph.nodes) >= {"left|x & y", "left|<b>", "left|é", "right|q"}
        assert graph.number_of_edges() == 3
        assert graph.edges["left|z", "right|q"]["weight"] == -1.0
        assert graph.nodes["left|<b>"]["side"] == "r"
        assert graph.nodes["left|z"]["a"] == X[5, 0]
    graph = networkx.read_graphml(tmp_path / "map.graphml")
    assert graph.nodes["left|é"]["x"] == X[3, 0]
    assert "x" not in graph.nodes["right|q"]


def test_gexf_has_node_positions(tmp_path: Path) -> None:
    root = ET.parse(hetviz.export(DATA, MAP, tmp_path / "map.gexf")).getroot()
    places = root.findall(".//{http://gexf.net/1.3/viz}position")
    assert len(places) == 7
    assert np.ptp([float(place.get("x")) for place in places]) == pytest.approx(1000, rel=0.5)


def test_cytoscape_json_has_nodes_and_edges(tmp_path: Path) -> None:
    record = json.loads(hetviz.export(DATA, MAP, tmp_path / "map.cyjs").read_bytes())
    nodes = {node["data"]["id"]: node for node in record["elements"]["nodes"]}
    assert len(nodes) == 8
    assert "position" not in nodes["right|q"]
    assert nodes["left|z"]["position"]["y"] * X[5, 1] < 0
    assert {edge["data"]["source"] for edge in record["elements"]["edges"]} <= set(nodes)


def test_h5ad_has_map_and_labels(tmp_path: Path) -> None:
    content = hetviz.export(DATA, MAP, tmp_path / "map.h5ad").read_bytes()
    with h5py.File(io.BytesIO(content)) as file:
        assert dict(file.attrs) == {"encoding-type": "anndata", "encoding-version": "0.1.0"}
        np.testing.assert_array_equal(file["obsm/X_hetviz"][:6], X[:, :2])
    cells = read_hdf5("map.h5ad", content, Choices())[0]
    assert cells.frame["id"].tolist()[0] == "left|x & y"
    assert cells.frame["side"].tolist()[:6] == ["l", "r"] * 3


def test_h5ad_single_dataset_has_features(tmp_path: Path) -> None:
    single = DATA.edit().drop("right")
    path = hetviz.export(single, MAP, tmp_path / "one.h5ad")
    loaded = hetviz.io.read_tables([(path.name, path.read_bytes())]).data
    assert loaded["one"].ids.tolist() == single["left"].ids.tolist()
    np.testing.assert_array_equal(loaded["one"].X, single["left"].X)


def test_projector_zip_has_two_tables(tmp_path: Path) -> None:
    path = hetviz.export(DATA, MAP, tmp_path / "map.zip")
    with zipfile.ZipFile(path) as archive:
        vectors = archive.read("vectors.tsv").decode().splitlines()
        metadata = archive.read("metadata.tsv").decode().splitlines()
        assert 'tensor_path: "vectors.tsv"' in archive.read("projector_config.pbtxt").decode()
    assert len(vectors) == 7 == len(metadata) - 1
    assert metadata[0].split("\t") == ["dataset", "id", "title", "side"]
    assert {line.count("\t") for line in metadata} == {3}
    assert float(vectors[0].split("\t")[0]) == X[0, 0]


@pytest.mark.parametrize("name", ["map.graphml", "map.gexf", "map.cyjs", "map.zip"])
def test_network_files_are_reproducible(tmp_path: Path, name: str) -> None:
    first, second = (
        hetviz.export(DATA, MAP, tmp_path / part / name).read_bytes() for part in ("a", "b")
    )
    assert first == second


def test_export_graph_rejects_csv(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="graphml"):
        hetviz.export(DATA, MAP, tmp_path / "map.csv", "graph")
