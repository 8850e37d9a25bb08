"""Tables, matrices and graphs of other libraries become data, and go back under their own ids."""

from __future__ import annotations

import datetime as dt
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
import scipy.sparse as sp

import hetviz
from hetviz import Dataset, HeteroData, Links
from hetviz.errors import DataError, DataWarning, MissingExtraError, ParameterError

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
        (lambda: HeteroData.from_frames([DISHES]), "HeteroData.from_frames"),
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


def test_from_frames_refuses_features_of_a_plain_table() -> None:
    with pytest.raises(DataError, match="chooses a part of an AnnData"):
        HeteroData.from_frames({"wines": WINES}, features={"wines": "distance"})


def test_account_names_repeated_and_contradicting_links() -> None:
    data = made([("dal", 7), ("dal", 7, -1.0), ("dal", 7, 0.5), ("flan", 7)])
    assert data.account[-1] == (
        "dishes - wines, link: 4 links, 1 negative, 2 of a pair that has one already, "
        "1 pair with both signs."
    )
