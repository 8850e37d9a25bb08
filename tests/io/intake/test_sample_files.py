"""Sample files that other packages ship or write, with known content."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
import scipy
import sklearn

from hetviz.errors import DataError
from hetviz.io import Loaded, gate, read_tables

mpl = pytest.importorskip("matplotlib")
nx = pytest.importorskip("networkx")
plotly = pytest.importorskip("plotly")

PLOTLY = Path(plotly.__file__).parent / "package_data" / "datasets"
OPENML = Path(sklearn.__file__).parent / "datasets" / "tests" / "data" / "openml"
SVMLIGHT = Path(sklearn.__file__).parent / "datasets" / "tests" / "data"
ARFF = Path(scipy.__file__).parent / "io" / "arff" / "tests" / "data"
PARQUET = Path(pyarrow.__file__).parent / "tests" / "data" / "parquet"
MPL = Path(mpl.get_data_path()) / "sample_data"


def read(path: Path) -> Loaded:
    return read_tables([gate.unpack_gzip(path.name, path.read_bytes())])


def kinds(loaded: Loaded) -> dict[str, str]:
    (dataset,) = loaded.data.datasets.values()
    return {step["column"]: step["kind"] for step in dataset.recipe["features"]["columns"]}


def table(loaded: Loaded) -> pd.DataFrame:
    (dataset,) = loaded.data.datasets.values()
    assert dataset.table is not None
    return dataset.table


@pytest.mark.parametrize("name", ["carshare", "experiment", "gapminder", "iris", "stocks", "tips"])
def test_plotly_tables(name: str) -> None:
    path = PLOTLY / f"{name}.csv.gz"
    expected = pd.read_csv(path)
    loaded = read(path)
    assert not loaded.errors
    found = table(loaded)
    assert list(found.columns) == list(expected.columns)
    assert len(found) == len(expected)
    for column in expected.columns:
        if pd.api.types.is_numeric_dtype(expected[column]):
            assert found[column].tolist() == pytest.approx(expected[column].tolist())


def test_plotly_regions_are_rows_of_geojson() -> None:
    path = PLOTLY / "election.geojson.gz"
    features = json.loads(gzip.decompress(path.read_bytes()))["features"]
    (dataset,) = read(path).data.datasets.values()
    assert len(dataset) == len(features)


def test_openml_titanic_keeps_rows_with_both_quotes() -> None:
    loaded = read(OPENML / "id_40945" / "data-v1-dl-16826755.arff.gz")
    assert not loaded.errors
    passengers = table(loaded)
    assert passengers.shape == (1309, 14)
    assert passengers["name"].iloc[0] == "Allen, Miss. Elisabeth Walton"
    assert passengers["name"].str.contains("O'").any()
    assert kinds(loaded)["age"] == "number"


@pytest.mark.parametrize("folder", ["id_1119", "id_1590"])
def test_openml_classes_of_limits_are_categories(folder: str) -> None:
    (path,) = (OPENML / folder).glob("data*.arff.gz")
    loaded = read(path)
    assert set(table(loaded)["class"]) == {"<=50K", ">50K"}
    assert kinds(loaded)["class"] == "category"


@pytest.mark.parametrize(
    ("folder", "shape"),
    [("id_3", (3196, 37)), ("id_561", (209, 8)), ("id_61", (150, 5)), ("id_62", (101, 18)),
     ("id_40675", (163, 10)), ("id_42585", (344, 7))],
)  # fmt: skip
def test_openml_tables(folder: str, shape: tuple[int, int]) -> None:
    (path,) = (OPENML / folder).glob("data*.arff.gz")
    loaded = read(path)
    assert not loaded.errors
    assert table(loaded).shape == shape


def test_scipy_arff() -> None:
    assert kinds(read(ARFF / "iris.arff"))["petalwidth"] == "number"
    assert set(table(read(ARFF / "quoted_nominal_spaces.arff"))["smoker"]) == {"yes", "no"}
    assert kinds(read(ARFF / "test7.arff"))["attr_date"] == "date"
    with pytest.raises(DataError, match="tables inside tables"):
        read(ARFF / "test9.arff")


@pytest.mark.parametrize(
    "name", ["svmlight_classification", "svmlight_multilabel", "svmlight_invalid_order"]
)
def test_svmlight_is_refused_by_name(name: str) -> None:
    with pytest.raises(DataError, match="svmlight"):
        read(SVMLIGHT / f"{name}.txt")


@pytest.mark.parametrize("name", [path.name for path in sorted(PARQUET.glob("*.parquet"))])
def test_pyarrow_parquet_of_older_versions(name: str) -> None:
    loaded = read(PARQUET / name)
    assert not loaded.errors
    (dataset,) = loaded.data.datasets.values()
    assert len(dataset) == pyarrow.parquet.read_metadata(PARQUET / name).num_rows
    if "column-metadata" in name:
        assert kinds(loaded)["index_level_1"] == "date"


def test_matplotlib_stocks() -> None:
    loaded = read(MPL / "Stocks.csv")
    assert len(table(loaded)) == 524
    assert kinds(loaded)["Date"] == "date"
    assert kinds(loaded)["^GSPC"] == "number"
    assert "rows-above" in {problem.code for problem in loaded.problems}


GRAPHS: dict[str, Callable[[], nx.Graph]] = {
    "lesmis": nx.les_miserables_graph,
    "karate": nx.karate_club_graph,
    "florence": nx.florentine_families_graph,
}


def as_bytes(write: Callable[[nx.Graph, io.BytesIO], None], graph: nx.Graph) -> bytes:
    content = io.BytesIO()
    write(graph, content)
    return content.getvalue()


WRITERS: dict[str, Callable[[nx.Graph], bytes]] = {
    "graphml": lambda graph: as_bytes(nx.write_graphml, graph),
    "gexf": lambda graph: as_bytes(nx.write_gexf, graph),
    "gml": lambda graph: "\n".join(nx.generate_gml(graph)).encode(),
    "net": lambda graph: as_bytes(nx.write_pajek, graph),
    "edgelist": lambda graph: as_bytes(nx.write_edgelist, graph),
    "json": lambda graph: json.dumps(nx.node_link_data(graph)).encode(),
    "csv": lambda graph: nx.to_pandas_edgelist(graph).to_csv(index=False).encode(),
}


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("name", GRAPHS)
def test_networkx_graphs(name: str, form: str) -> None:
    graph = GRAPHS[name]()
    loaded = read_tables([(f"{name}.{form}", WRITERS[form](graph))])
    assert not loaded.errors
    (dataset,) = loaded.data.datasets.values()
    (links,) = loaded.data.links
    assert (len(dataset), len(links)) == (len(graph), graph.number_of_edges())
    titles = dataset.titles.astype(str).tolist()
    pairs = {frozenset((titles[a], titles[b])) for a, b in zip(links.i, links.j, strict=True)}
    assert pairs == {frozenset(map(str, edge)) for edge in graph.edges}


def test_networkx_edges_without_a_header() -> None:
    for graph in (nx.florentine_families_graph(), nx.davis_southern_women_graph()):
        lines = "\n".join(nx.generate_edgelist(graph, delimiter=",", data=False))
        loaded = read_tables([("graph.csv", lines.encode())])
        (dataset,) = loaded.data.datasets.values()
        assert (len(dataset), len(loaded.data.links[0])) == (len(graph), graph.number_of_edges())


def test_networkx_weights_are_kept() -> None:
    graph = nx.les_miserables_graph()
    for form in ("net", "edgelist", "csv", "gml"):
        loaded = read_tables([(f"lesmis.{form}", WRITERS[form](graph))])
        weights = loaded.data.links[0].weight
        assert len(set(weights.tolist())) > 5
