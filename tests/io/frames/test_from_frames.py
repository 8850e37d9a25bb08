"""Tables, matrices and graphs of other libraries become data, and go back under their own ids."""

from __future__ import annotations

import datetime as dt
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import hetviz
from hetviz import Dataset, HeteroData, Links
from hetviz.errors import DataError, DataWarning, MissingExtraError, ParameterError

networkx = pytest.importorskip("networkx")
polars = pytest.importorskip("polars")

DISHES = pd.DataFrame(
    {
        "salt": [2.0, 0.1, 0.5, 1.0, 0.3, 0.7],
        "course": ["main", "sweet", "main", "main", "sweet", "main"],
    },
    index=["dal", "flan", "curry", "pho", "cake", "pilaf"],
)
WINES = pd.DataFrame({"sugar": [4.0, 90.0, 3.0], "acid": [6, 5, 7]}, index=[1982, 2001, 7])
PAIRS = [("dal", 1982), ("flan", 2001), ("curry", 7)]


def made(links: Any = PAIRS, **others: Any) -> HeteroData:
    return HeteroData.from_frames({"dishes": DISHES, "wines": WINES}, links=links, **others)


def ends(data: HeteroData) -> list[tuple[object, object]]:
    table = data.to_links()
    return [*zip(table["source_id"], table["target_id"], strict=True)]


@pytest.mark.filterwarnings("ignore:Only 1 of 2 axes")
def test_from_frames_and_embed_minimal_example() -> None:
    data = made()
    embedding = hetviz.embed(data)
    assert {name: len(Y) for name, Y in embedding.coordinates.items()} == {"dishes": 6, "wines": 3}
    assert embedding.placed["wines"].all()
    with pytest.raises(ParameterError, match="Name one"):
        hetviz.embed(data, n_neighbors=3)


def test_from_frames_maps_keys_to_text_ids() -> None:
    wines = made()["wines"]
    assert wines.ids.tolist() == ["1982", "2001", "7"]
    assert wines.keys.tolist() == [1982, 2001, 7]
    assert wines.key("7") == 7
    assert wines.position(2001) == wines.position("2001") == 1
    assert wines.subset([2, 0]).keys.tolist() == [7, 1982]
    assert made()["dishes"].keys is None


@pytest.mark.parametrize(
    ("keys", "texts"),
    [
        ([1, 2], ["1", "2"]),
        ([1.0, 2.5], ["1", "2.5"]),
        ([dt.date(2020, 1, 2), dt.date(2021, 1, 2)], ["2020-01-02", "2021-01-02"]),
        ([("a", 1), ("a", 2)], ["a / 1", "a / 2"]),
        ([True, False], ["True", "False"]),
        ([b"x", b"y"], ["x", "y"]),
        (["007", "7"], ["007", "7"]),
    ],
)
def test_from_frames_accepts_hashable_keys(keys: list[Any], texts: list[str]) -> None:
    index = pd.Index(keys, tupleize_cols=False)
    frame = pd.DataFrame({"size": [1.0, 2.0]}, index=index)
    data = HeteroData.from_frames(
        {"a": frame, "b": frame}, links={("a", "b"): [(keys[0], keys[1])]}
    )
    assert data["a"].ids.tolist() == texts
    assert data.to_frames()["a"].index.tolist() == keys
    assert ends(data) == [(keys[0], keys[1])]


def test_from_frames_refuses_keys_with_equal_text() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0]}, index=pd.Index([7, "7"], dtype=object))
    with pytest.raises(DataError, match="already used in row 1"):
        HeteroData.from_frames({"a": frame})


@pytest.mark.parametrize(
    "links",
    [
        PAIRS,
        pd.DataFrame(PAIRS, columns=["dishes", "wines"]),
        pd.DataFrame(PAIRS, columns=["dish_id", "wine_id"]),
        pd.DataFrame(PAIRS, columns=["source_id", "target_id"]),
        pd.DataFrame(PAIRS, columns=["what", "with"]),
        pd.DataFrame(PAIRS, columns=["source_id", "target_id"]).assign(
            source_dataset="dishes", target_dataset="wines"
        ),
        {"dishes": [a for a, _ in PAIRS], "wines": [b for _, b in PAIRS]},
        {("dishes", "wines"): PAIRS},
        {("dishes", "wines"): sp.coo_array((np.ones(3), ([0, 1, 2], [0, 1, 2])), shape=(6, 3))},
        np.eye(6)[:, :3],
        pa.table({"dishes": [a for a, _ in PAIRS], "wines": [b for _, b in PAIRS]}),
        networkx.Graph(PAIRS),
        [pd.DataFrame(PAIRS[:2], columns=["dishes", "wines"]),
         pd.DataFrame(PAIRS[2:], columns=["dishes", "wines"])],
        Links("dishes", "wines", [0, 1, 2], [0, 1, 2]),
    ],
)  # fmt: skip
def test_from_frames_links_in_all_forms(links: Any) -> None:
    assert sorted(ends(made(links)), key=str) == sorted(PAIRS, key=str)


def test_from_frames_links_with_weight_and_kind() -> None:
    table = pd.DataFrame(PAIRS, columns=["dishes", "wines"]).assign(
        weight=[0.5, -1.0, np.nan], kind=["goes with", "never", "goes with"], note=["a", "b", "c"]
    )
    with pytest.warns(DataWarning, match="1 link without a weight .the first in row 3. have the"):
        data = made(table)
    assert [(links.kind, links.weight.tolist()) for links in data.links] == [
        ("goes with", [0.5, 1.0]),
        ("never", [-1.0]),
    ]
    assert data.links[0].meta["note"].tolist() == ["a", "c"]
    assert made([("dal", 7, 0.25)]).links[0].weight.tolist() == [0.25]
    named = made({("dishes", "wines", "served with"): PAIRS})
    assert named.links[0].kind == "served with"


def test_from_frames_matches_integers_stored_as_floats() -> None:
    table = pd.DataFrame({"dishes": ["dal", "flan"], "wines": [1982.0, 2001.0]})
    assert ends(made(table)) == PAIRS[:2]


def test_from_frames_labels_types_titles_and_views() -> None:
    frame = DISHES.assign(year=[1, 2, 1, 2, 1, 2], word=list("abcdef"))
    data = HeteroData.from_frames(
        {"dishes": frame, "photos": frame[["salt"]]},
        labels={"dishes": ["course"]},
        columns={"dishes": {"year": "category", "salt": False}},
        titles={"dishes": "word"},
        entities={"dishes": "dish", "photos": "dish"},
    )
    assert [(label.dataset, label.name) for label in data.labels] == [("dishes", "course")]
    assert data["dishes"].feature_names == ("year=1", "year=2")
    assert data["dishes"].titles[0] == "a"
    assert data.views("dish") == ("dishes", "photos")


@pytest.mark.parametrize(
    "compared",
    [
        pd.DataFrame({"anchor": ["dal"], "near": ["pho"], "far": ["cake"]}),
        pd.DataFrame({"anchor_id": ["dal"], "near_id": ["pho"], "far_id": ["cake"]}).assign(
            anchor_dataset="dishes", near_dataset="dishes", far_dataset="dishes"
        ),
        [("dal", "pho", "cake")],
        [(("dishes", "dal"), "pho", "cake")],
    ],
)
def test_from_frames_comparisons(compared: Any) -> None:
    assert made(comparisons=compared).comparisons.objects.tolist() == [[0, 3, 4]]


class Tensor:
    """Behaves as one of torch that a gradient hangs on."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.n_unlinked = values, False

    def detach(self) -> Tensor:
        freed = Tensor(self.values)
        freed.n_unlinked = True
        return freed

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not self.n_unlinked:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.values


@pytest.mark.parametrize(
    "matrix",
    [np.eye(3), np.eye(3).tolist(), sp.csr_matrix(np.eye(3)), sp.coo_array(np.eye(3)),
     Tensor(np.eye(3))],
)  # fmt: skip
def test_from_frames_matrix_has_row_numbers_as_ids(matrix: Any) -> None:
    data = HeteroData.from_frames({"points": matrix})
    assert data["points"].X.shape == (3, 3)
    assert data["points"].keys.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "frame",
    [
        DISHES.rename_axis("id").reset_index(),
        DISHES.rename_axis("dish").reset_index(),
        pa.Table.from_pandas(DISHES.rename_axis("dish_id").reset_index()),
        DISHES.rename_axis("id").reset_index().to_dict("list"),
        DISHES.rename_axis("id").reset_index().to_dict("records"),
        DISHES,
    ],
)
def test_from_frames_tables_of_other_libraries(frame: Any) -> None:
    dishes = HeteroData.from_frames({"dishes": frame})["dishes"]
    assert dishes.ids.tolist() == DISHES.index.tolist()
    assert dishes.feature_names == ("salt",)


def test_from_frames_polars_tables() -> None:
    frame = polars.DataFrame({"id": ["a", "b"], "size": [1.0, 2.0], "tags": [["x"], ["x", "y"]]})
    pairs = polars.DataFrame({"source": ["a"], "target": ["b"]})
    data = HeteroData.from_frames({"things": frame}, links=pairs)
    assert ends(data) == [("a", "b")]
    assert data["things"].table["tags"].tolist() == ["x", "x; y"]
    with pytest.raises(DataError, match="collect"):
        HeteroData.from_frames({"things": frame.lazy()})


def annotated(n: int = 6, **others: Any) -> SimpleNamespace:
    """Return what an AnnData has, as hetviz looks at it."""
    obs = pd.DataFrame(
        {"cluster": pd.Categorical(list("ababab"))}, index=[f"cell{k}" for k in range(n)]
    )
    ring = sp.csr_matrix(np.roll(np.eye(n), 1, axis=1) * 0.5)
    return SimpleNamespace(
        obs=obs,
        var=pd.DataFrame(index=["gene1", "gene2"]),
        obs_names=obs.index,
        var_names=pd.Index(["gene1", "gene2"]),
        X=sp.csr_matrix(np.arange(2.0 * n).reshape(n, 2)),
        obsm={"X_pca": np.ones((n, 3))},
        obsp={"connectivities": ring, "distances": ring},
        **others,
    )


def test_from_frames_anndata_and_mudata() -> None:
    data = HeteroData.from_frames(annotated())
    assert data["cells"].X.shape == (6, 2)
    assert data["cells"].feature_names == ("gene1", "gene2")
    assert [(group.kind, group.role, len(group)) for group in data.links] == [
        ("connectivities", "relation", 6)
    ]
    named = HeteroData.from_frames({"rna": annotated()}, features={"rna": "X_pca"})
    assert named["rna"].X.shape == (6, 3)
    with pytest.raises(DataError, match="X_pca"):
        HeteroData.from_frames({"rna": annotated()}, features={"rna": "X_umap"})
    both = SimpleNamespace(mod={"rna": annotated(), "protein": annotated()})
    assert HeteroData.from_frames({"cell": both}).views("cell") == ("rna", "protein")


def test_from_frames_and_to_networkx_graphs() -> None:
    graph = networkx.karate_club_graph()
    data = HeteroData.from_frames({"people": graph})
    assert data["people"].keys.tolist() == list(graph.nodes)
    assert data.links[0].score.max() == 7
    assert data.label("club").values[0] == "Mr. Hi"
    back = data.to_networkx()
    assert {(a[1], b[1]) for a, b in back.edges()} == set(graph.edges)
    embedding = hetviz.embed(made(), "pca")
    node = made().to_networkx(embedding).nodes["wines", 2001]
    assert node["x"] == embedding.coordinates["wines"][1, 0]


def test_from_frames_anndata_layers_and_chosen_obsp() -> None:
    cells = annotated(layers={"counts": np.full((6, 2), 3.0)})
    cells.obsp["spatial"] = cells.obsp["connectivities"] * 2

    def made_of(*parts: str) -> HeteroData:
        return HeteroData.from_frames({"rna": cells}, features={"rna": parts})

    assert made_of("counts")["rna"].X.tolist() == [[3.0, 3.0]] * 6
    assert made_of("counts")["rna"].feature_names == ("gene1", "gene2")
    assert [group.kind for group in made_of("counts").links] == ["connectivities"]
    chosen = made_of("X", "spatial", "distances")
    assert [(group.kind, *set(group.weight)) for group in chosen.links] == [
        ("spatial", 1.0),
        ("distances", 1.0),
    ]
    cells.obsp |= {"far": DISTANCES, "alike": np.eye(6)}
    both = made_of("far", "alike")["rna"]
    assert both.X is None
    assert (both.distance == DISTANCES).all()
    assert (both.kernel == np.eye(6)).all()
    with pytest.raises(DataError, match=r"'countz'.*Available: X, X_pca, counts"):
        made_of("countz")
    with pytest.raises(DataError, match=r"one part is the features.*as views"):
        made_of("X", "counts")


class IGraph:
    """Has what an igraph.Graph has, as hetviz looks at it."""

    class Sequence(list):
        def __getitem__(self, which: Any) -> Any:
            if isinstance(which, str):
                return [each.attributes()[which] for each in self]
            return super().__getitem__(which)

        def attributes(self) -> list[str]:
            return [*self[0].attributes()] if self else []

    def __init__(self, nodes: list[dict], edges: list[tuple[int, int, dict]]) -> None:
        self.vs = self.Sequence(SimpleNamespace(attributes=lambda f=f: f) for f in nodes)
        self.es = self.Sequence(
            SimpleNamespace(source=a, target=b, attributes=lambda f=f: f) for a, b, f in edges
        )

    def is_directed(self) -> bool:
        return False

    def vcount(self) -> int:
        return len(self.vs)

    def ecount(self) -> int:
        return len(self.es)

    def get_edgelist(self) -> list[tuple[int, int]]:
        return [(edge.source, edge.target) for edge in self.es]


def test_from_frames_igraph_graphs() -> None:
    edges = [(0, 1, {"weight": 0.5}), (1, 2, {"weight": 1.0})]
    graph = IGraph([{"name": name, "age": len(name) ** 2} for name in ("a", "bb", "ccc")], edges)
    data = HeteroData.from_frames({"people": graph})
    assert data["people"].ids.tolist() == ["a", "bb", "ccc"]
    assert data["people"].feature_names == ("age",)
    assert data.links[0].weight.tolist() == [0.5, 1.0]
    assert ends(HeteroData.from_frames({"people": data["people"]}, links=graph)) == [
        ("a", "bb"),
        ("bb", "ccc"),
    ]
    bare = HeteroData.from_frames(IGraph([{}, {}, {}], [(2, 0, {})]))
    assert ends(bare) == [(2, 0)]


def test_from_frames_refuses_and_names_strange_edges_of_graphs() -> None:
    loop = networkx.Graph([("a", "b"), ("a", "a")])
    with pytest.warns(DataWarning, match="1 edge of a node with itself left out"):
        HeteroData.from_frames({"nodes": loop})
    words = networkx.Graph()
    words.add_edge("a", "b", weight="strong")
    with pytest.raises(DataError, match="weight does not contain numbers"):
        HeteroData.from_frames({"nodes": words})


FIRST, SECOND = np.random.default_rng(0).normal(size=(6, 3)), np.ones((4, 2))
EDGES = np.array([[0, 1, 2, 5, 5], [0, 1, 3, 3, 0]])
DISTANCES = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))


@pytest.mark.parametrize(
    "links",
    [
        EDGES,
        EDGES.T,
        Tensor(EDGES),
        EDGES.T.astype(float),
        EDGES.astype(str),
        {("people", "films"): EDGES},
        {("people", "likes", "films"): EDGES},
        {("people", "films", "likes"): EDGES.T},
        {("people", "likes", "films"): EDGES.T.tolist()},
        {("people", "films"): np.column_stack([EDGES.T, np.full(5, 0.5)])},
    ],
)
def test_from_frames_edge_arrays_and_key_orders(links: Any) -> None:
    data = HeteroData.from_frames({"people": FIRST, "films": SECOND}, links=links)
    assert ends(data) == [*map(tuple, EDGES.T.tolist())]
    if isinstance(links, dict):
        key, array = next(iter(links.items()))
        assert data.links[0].kind == ("link" if len(key) == 2 else "likes")
        assert set(data.links[0].weight) == {0.5 if np.shape(array) == (5, 3) else 1.0}


@pytest.mark.parametrize(
    ("frames", "links", "words"),
    [
        ({"a": FIRST, "b": SECOND}, EDGES[:, :2], "list of pairs, two rows of ids or a matrix"),
        ({"a": FIRST, "b": np.ones((2, 2))}, np.arange(12).reshape(6, 2), "coo_array"),
        ({"a": DISHES, "b": SECOND}, EDGES, r"hetviz.Links\('a', 'b', i, j\) for row positions"),
        ({"a": FIRST, "b": SECOND}, np.ones((3, 4)), "two rows or columns of ids"),
        ({"a": FIRST, "b": SECOND}, [[0, 1, 2, 3], [0, 1, 2, 3]], "two rows of ids as an array"),
        ({"a": FIRST, "b": SECOND}, {("a", "a", "b"): EDGES}, "another name than the datasets"),
        ({"a": FIRST, "b": SECOND}, {("a", "likes", "c"): EDGES}, "does not exist"),
        (
            {"a": FIRST, "b": SECOND},
            {"a": [(0, 1)]},
            r"two datasets .*\('a'\).*{\('a', 'b'\): pairs}",
        ),
        ({"a": FIRST, "b": SECOND}, {("b",): [(0, 1)]}, "two datasets that they join"),
    ],
)
def test_from_frames_refuses_links_with_several_meanings(
    frames: Any, links: Any, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        HeteroData.from_frames(frames, links=links)


def test_from_frames_matrix_of_weights_keeps_both_triangles() -> None:
    weights = np.zeros((6, 6))
    weights[4, 1], weights[0, 2], weights[2, 0] = 0.5, -1.0, -1.0
    data = HeteroData.from_frames({"a": FIRST}, links=weights)
    assert sorted(zip(*data.links[0].take([0, 1]).weight[None], strict=True)) == [(-1.0,), (0.5,)]
    assert {*map(frozenset, ends(data))} == {frozenset((0, 2)), frozenset((1, 4))}
    with pytest.warns(DataWarning, match="6 links of an item with itself left out"):
        HeteroData.from_frames({"a": FIRST}, links=weights + np.eye(6))


NAMED = pd.DataFrame(DISTANCES, index=list("uvwxyz"), columns=list("uvwxyz"))


@pytest.mark.parametrize(
    ("frame", "ids"),
    [
        (DISTANCES, list("012345")),
        (DISTANCES[np.triu_indices(6, 1)], list("012345")),
        (NAMED, list("uvwxyz")),
        (NAMED[list("zyxwvu")], list("uvwxyz")),
        (NAMED.reset_index(), list("uvwxyz")),
        (NAMED.reset_index(drop=True), list("uvwxyz")),
        (Tensor(DISTANCES), list("012345")),
    ],
)
def test_from_frames_distances(frame: Any, ids: list[str]) -> None:
    data = HeteroData.from_frames({"towns": frame}, features={"towns": "distance"})
    towns = data["towns"]
    assert towns.X is None
    assert (towns.distance == DISTANCES).all()
    assert towns.ids.tolist() == ids
    assert data.account[0].endswith("Features: a distance matrix.")


def test_from_frames_kernels_and_a_warning_of_square_features() -> None:
    data = HeteroData.from_frames({"a": sp.eye_array(3)}, features={"a": "kernel"})
    assert (data["a"].kernel == np.eye(3)).all()
    with pytest.warns(DataWarning, match=r"distance matrix.*features=\{'towns': 'distance'\}"):
        data = HeteroData.from_frames({"towns": NAMED})
    assert data["towns"].distance is None


COURSES = ["main", "sweet", "main", "main", "sweet", None]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (COURSES, "label"),
        (np.array(COURSES, dtype=object), "label"),
        (np.array(COURSES, dtype=object)[:, None], "label"),
        (pd.Categorical(COURSES), "label"),
        (pd.Series(COURSES, name="meal"), "meal"),
        (pd.Series(COURSES[::-1], index=DISHES.index[::-1], name="meal"), "meal"),
        (pd.Series(COURSES[:5], index=DISHES.index[:5], name="course"), "course"),
        ({"meal": COURSES}, "meal"),
    ],
)
def test_from_frames_label_arrays(given: Any, name: str) -> None:
    data = made(labels={"dishes": given})
    assert [(label.name, label.values.tolist()) for label in data.labels] == [(name, COURSES)]
    # A label is no feature, also where a column of its name is in the table.
    named = data["dishes"].feature_names
    assert ("course=sweet" in named) == (name != "course"), named


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.array(COURSES[:4]), r"one label for each of the 6 rows.*\(4,\)"),
        (np.ones((6, 2)), r"one label for each.*\(6, 2\)"),
        (pd.Series(COURSES, index=[*"abcdef"]), "no item with this id"),
        (["curse", "salty"], "column does not exist"),
    ],
)
def test_from_frames_refuses_label_arrays_that_do_not_fit(given: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        made(labels={"dishes": given})


def test_from_frames_list_of_views() -> None:
    views = HeteroData.from_frames([FIRST, FIRST**2], labels={"view 1": COURSES})
    assert views.views("items") == ("view 1", "view 2")
    assert views.n_objects == 6
    assert "view 2: 6 rows. A view of items." in views.account[1]
    by_id = HeteroData.from_frames((DISHES, DISHES[["salt"]][1:]))
    assert by_id.n_objects == 6
    named = HeteroData.from_frames([Dataset("a", ["x"]), Dataset("b", ["y"])])
    assert named.entities == ("a", "b")
    with pytest.raises(DataError, match=r"6 and 4 rows.*Name datasets"):
        HeteroData.from_frames([FIRST, SECOND])


def test_from_frames_takes_no_measurement_for_an_id() -> None:
    frame = pd.DataFrame({"flow": [0.5, 1.5, 2.0], "b": [1, 2, 1]})
    assert HeteroData.from_frames({"flow": frame})["flow"].ids.tolist() == ["0", "1", "2"]


@pytest.mark.parametrize("package", ["anndata", "networkx"])
def test_exports_name_missing_package(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    data = made()
    with pytest.raises(MissingExtraError, match=f"pip install {package}"):
        data.to_anndata("dishes") if package == "anndata" else data.to_networkx()


def test_to_frames_and_to_links_round_trip() -> None:
    data = made(labels={"dishes": "course"})
    again = HeteroData.from_frames(
        data.to_frames(), links=data.to_links(), labels={"dishes": "course"}
    )
    assert again.fingerprint() == data.fingerprint()
    embedding = hetviz.embed(data, "pca")
    placed = data.to_frames(embedding)["wines"]
    assert placed.loc[2001, "y"] == embedding.coordinates["wines"][1, 1]


def test_from_frames_links_auto_uses_proposals() -> None:
    countries = pd.DataFrame({"code": ["FR", "IT", "ES", "PT", "GR"], "km": [5.0, 3, 5, 1, 2]})
    wines = pd.DataFrame({"wine": list("uvwxyz"), "from": ["FR", "IT", "ES", "PT", "GR", "FR"]})
    with pytest.warns(DataWarning, match="Joined: .*score"):
        data = HeteroData.from_frames({"countries": countries, "wines": wines}, links="auto")
    assert len(data.links[0]) == 6
    with pytest.raises(DataError, match="propose_joins"):
        HeteroData.from_frames({"a": np.eye(3), "b": WINES}, links="auto")


def test_from_frames_unknown_ids_raise_or_drop() -> None:
    links = [*PAIRS, ("dall", 7), ("pho", 1999)]
    with pytest.raises(DataError, match=r"Did you mean 'dal'\?.*unknown='drop'"):
        made(links)
    with pytest.warns(DataWarning, match="left out"):
        data = made(links, unknown="drop")
    assert ends(data) == PAIRS


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: HeteroData({"a": DISHES}), "HeteroData.from_frames"),
        (lambda: HeteroData([DISHES]), "HeteroData.from_frames"),
        (lambda: Dataset("a", DISHES), "HeteroData.from_frames"),
        (lambda: hetviz.embed(DISHES), "HeteroData.from_frames"),
        (lambda: hetviz.embed({"a": DISHES}), "HeteroData.from_frames"),
        (lambda: HeteroData.from_frames(DISHES), "HeteroData.from_frames"),
        (lambda: HeteroData.from_frames([{"salt": 1.0}]), "HeteroData.from_frames"),
        (lambda: HeteroData.from_frames([DISHES, WINES]), "views of the same items"),
        (lambda: HeteroData.from_frames({"a": "a.csv"}), "hetviz.load"),
        (lambda: HeteroData.from_frames({"a": np.ones(3)}), "reshape"),
        (lambda: HeteroData.from_frames({"a": object()}), "DataFrame"),
        (lambda: HeteroData.from_frames({"a": {"x": [1, 2], "y": [1]}}), "different numbers"),
        (lambda: HeteroData.from_frames({}), "at least one"),
        (lambda: HeteroData.from_frames({"a": DISHES[:0]}), "at least one row"),
        (lambda: made([(1982, "dal")]), "swapped"),
        (lambda: made([("dal",)]), "pair"),
        (lambda: made(["dal", 1982]), "pair"),
        (lambda: made(pd.DataFrame({"x": [1.5], "y": [2.5]})), "after the datasets"),
        (lambda: made({("dishes", "beers"): PAIRS}), "wines"),
        (lambda: made(np.eye(3)), "row for each source"),
        (lambda: made(labels={"dishes": "curse"}), "Did you mean 'course'"),
        (lambda: made(labels={"dish": "course"}), "Did you mean 'dishes'"),
        (lambda: made(labels="course"), "dictionary by dataset"),
        (lambda: made(ids={"dishes": "name"}), "column does not exist"),
        (lambda: made(comparisons=[("dal", "pho")]), "3 items"),
        (lambda: made([("dal", 7, 3.0)]), "as scores"),
    ],
)
def test_from_frames_errors_name_the_correct_call(call: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        call()


def test_from_frames_refuses_unknown_option_values() -> None:
    with pytest.raises(ParameterError, match="drop"):
        made(unknown="ignore")
    with pytest.raises(ParameterError, match="auto"):
        made("all")


def test_from_frames_valid_input_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made()


def test_from_frames_never_matches_links_to_the_rows_of_a_repeated_id() -> None:
    people = pd.DataFrame({"id": [1, 2, 3, 3], "age": [30.0, 41.0, 22.0, 19.0]})
    frames = {"people": people, "wines": WINES}
    with pytest.warns(DataWarning, match="column 'id' has '3' more than once .2 rows, the first"):
        data = HeteroData.from_frames(frames)
    assert "Ids: row numbers, because id repeats or has empty cells." in data.account[0]
    for links in ([(1, 7)], {("people", "wines"): [(1, 7)]}, pd.DataFrame({"a": [1], "b": [7]})):
        with (
            pytest.warns(DataWarning, match="more than once"),
            pytest.raises(DataError, match=r"cannot identify rows|no two columns"),
        ):
            HeteroData.from_frames(frames, links=links)
    people["id"] = [1, 2, None, 4]
    with pytest.warns(DataWarning, match="column 'id' is empty .1 row, at 2"):
        HeteroData.from_frames(frames)


def test_from_frames_keeps_orders_periods_and_says_so() -> None:
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(
                ["low", "mid", "high"] * 3, categories=["low", "mid", "high"], ordered=True
            ),
            "month": pd.period_range("2020-01", periods=9, freq="M"),
        }
    )
    data = HeteroData.from_frames({"jobs": frame}, labels={})
    assert data["jobs"].orders == {"size": ("low", "mid", "high")}
    assert data["jobs"].feature_names == ("size", "month")
    assert np.diff(data["jobs"].X[:3, 0]).min() > 0
    assert data.account == [
        "jobs: 9 rows. Ids: made, as no column is an id. Features: size (ordered) and month (date)."
    ]


@pytest.mark.parametrize(
    ("frame", "kind", "words"),
    [
        (WINES, "X_pca", "square matrix, or a part of an AnnData"),
        (WINES, "distance", "a column for each row"),
        (np.triu(np.ones((3, 3)), 1), "distance", "not symmetric"),
        (-np.ones((3, 3)), "distance", "0 or more"),
        (sp.csr_array(np.eye(3)), "distance", "leaves most distances out"),
        (np.ones(4), "distance", "one for each pair"),
    ],
)
def test_from_frames_refuses_features_that_are_none(frame: Any, kind: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        HeteroData.from_frames({"wines": frame}, features={"wines": kind})


def test_account_names_durations() -> None:
    frame = pd.DataFrame({"time": pd.to_timedelta([30, 90, 45, 20], unit="min")})
    data = HeteroData.from_frames({"runs": frame}, labels={})
    assert data.account[0].endswith("Features: time (number, from a duration).")


def test_account_names_repeated_and_contradicting_links() -> None:
    data = made([("dal", 7), ("dal", 7, -1.0), ("dal", 7, 0.5), ("flan", 7)])
    assert data.account[-1] == (
        "dishes - wines, link: 4 links, 1 negative, 2 of a pair that has one already, "
        "1 pair with both signs."
    )
