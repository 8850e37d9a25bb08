"""Reasons for places of items: planted causes come first, and limit cases are exact."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

import hetviz
from hetviz.core.layout.attraction import (
    KINDS,
    LINK,
    NEIGHBOUR,
    STATEMENT,
    AttractionGraph,
    attraction_of,
    sne_stiffness,
)
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, DataWarning, HetvizError, NotApplicableError
from hetviz.features.spaces.sne_map import SneMap
from hetviz.runs.embed.run import fit_run
from hetviz.runs.place import why as module
from hetviz.runs.place import why_by_graph
from hetviz.runs.place.reasons import FAR_SHARE, FEATURE, INDIRECT, SAME_ITEM, SIMILAR, Reason, Why

GRAPHS = ("mr-sne", "joint-map", "umap", "graph-axes")
N = 40


def two_groups(planted: int = 3) -> HeteroData:
    """Two groups that differ in one feature of eight, and tags that some items have."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 8))
    X[:, planted] += np.where(np.arange(N) < N // 2, -9.0, 9.0)
    names = [f"f{k}" for k in range(8)]
    things = Dataset("things", [f"t{k}" for k in range(N)], X, feature_names=names)
    tags = Dataset("tags", ["low", "high", "alone"])
    i = np.r_[np.arange(0, N, 2), 5]
    j = np.r_[(np.arange(0, N, 2) >= N // 2).astype(int), 2]
    return HeteroData([things, tags], [Links("things", "tags", i, j, kind="has")])


@pytest.fixture(scope="module")
def data() -> HeteroData:
    return two_groups()


def test_held_shares_match_the_gradient() -> None:
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(6, 2))
    A = np.triu(rng.random((6, 6)), 1)
    A[0, 4] = 0.0
    P = sp.csr_array((A + A.T) / A.sum() / 2)
    explanation = attraction_of(
        0, Y, AttractionGraph({NEIGHBOUR: P * 0.25, LINK: P * 0.75}, sne_stiffness)
    )
    assert explanation is not None
    assert 4 not in explanation.rows and 0 not in explanation.rows
    d = ((Y[0] - Y) ** 2).sum(axis=1)
    k = P.toarray()[0] / (1 + d)
    np.testing.assert_allclose(explanation.share, (k / k.sum())[explanation.rows])
    assert (np.diff(explanation.share) <= 0).all()
    np.testing.assert_allclose(explanation.share.sum(), 1.0)
    np.testing.assert_allclose(explanation.by[LINK], 0.75 * explanation.share)
    centre = k @ Y / k.sum()
    for row, moved in zip(explanation.rows, explanation.moves, strict=True):
        others = np.where(np.arange(6) == row, 0.0, k)
        np.testing.assert_allclose(moved, np.linalg.norm(others @ Y / others.sum() - centre))


def test_held_is_none_without_attraction_or_place() -> None:
    P = sp.csr_array(np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    pulls = AttractionGraph({NEIGHBOUR: P}, sne_stiffness)
    assert attraction_of(2, Y, pulls) is None
    Y[1] = np.nan
    assert attraction_of(1, Y, pulls) is None and attraction_of(0, Y, pulls) is None


@pytest.mark.parametrize("key", ["mr-sne", "joint-map", "graph-axes"])
def test_pulls_sum_to_the_graph_of_the_method(
    key: str, data: HeteroData, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = Links("things", "things", [1, 2], [30, 33], kind="said")
    apart = Links("things", "things", [0], [2], [-1.0], kind="said")
    guided = data.edit().add(together).edit().add(apart)
    graphs = []
    original_run = SneMap.run

    def run(self: SneMap, *args: object, **kwargs: object) -> None:
        graphs.append(self.placed.graph)
        original_run(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(SneMap, "run", run)
    hetviz.get_method(key)().fit(guided)
    pulls = hetviz.get_method(key)().attraction_graph(guided)
    assert pulls is not None and set(pulls.parts) <= set(KINDS)
    total = sum(part.toarray() for part in pulls.parts.values())
    assert all((part.toarray() >= -1e-12).all() for part in pulls.parts.values())
    graph = graphs[-1].toarray()
    has_edges = total.sum(axis=1) > 0
    np.testing.assert_allclose(
        total[has_edges][:, has_edges] / total.sum(), graph / graph.sum(), atol=1e-9
    )


@pytest.mark.parametrize("key", GRAPHS)
def test_why_names_the_only_link(key: str, data: HeteroData) -> None:
    explanation = hetviz.why(data, hetviz.embed(data, key), "tags", "alone")
    if key in ("mr-sne", "umap"):
        assert explanation.parts == pytest.approx({LINK: 1.0})
        assert [reason.id for reason in explanation.holds] == ["t5"]
        assert explanation.holds[0].share == pytest.approx(1.0)
    assert sum(explanation.parts.values()) == pytest.approx(1.0)
    assert explanation.holds[0].kind in KINDS


@pytest.mark.parametrize("key", ["mr-sne", "umap"])
@pytest.mark.parametrize("planted", [3, 6])
def test_why_names_the_planted_feature_first(key: str, planted: int) -> None:
    data = two_groups(planted)
    explanation = hetviz.why(data, hetviz.embed(data, key), "things", "t7")
    assert explanation.features[0].title == f"f{planted}"
    assert explanation.features[0].share > 0.5
    assert {reason.id for reason in explanation.holds if reason.kind == NEIGHBOUR} <= {
        f"t{k}" for k in range(20)
    }


@pytest.mark.parametrize("key", ["mr-sne", "joint-map"])
def test_why_names_guidance_first(key: str, data: HeteroData) -> None:
    guided = data.edit().add(Links("things", "things", [1], [33], kind="said"))
    explanation = hetviz.why(guided, hetviz.embed(guided, key), "things", "t1")
    first = (
        (explanation.holds + explanation.elsewhere)[0]
        if explanation.holds[0].id == "t33"
        else explanation.elsewhere[0]
    )
    assert (first.kind, first.id) == (STATEMENT, "t33")


def test_why_lists_a_distant_link_as_elsewhere(data: HeteroData) -> None:
    guided = data.edit().add(Links("things", "things", [1], [33], kind="knows"))
    Y = hetviz.embed(data, "mr-sne")
    explanation = hetviz.why(guided, Y, "things", "t1", method="mr-sne")
    assert explanation.elsewhere[0].id == "t33" and explanation.elsewhere[0].kind == LINK
    assert explanation.elsewhere[0].distance > FAR_SHARE


@pytest.mark.parametrize("key", ["pca", "guided-projection", "cdmca"])
def test_why_of_linear_methods_shares_by_feature_contribution(key: str) -> None:
    data = two_groups()
    other = Dataset("twins", data["things"].ids, data["things"].X[:, :5] * 2.0 + 1.0)
    pairs = Links("things", "twins", np.arange(N), np.arange(N))
    data = HeteroData([data["things"], other], [pairs])
    embedding = hetviz.embed(data, key)
    explanation = hetviz.why(data, embedding, "things", "t7")
    assert explanation.features[0].title == "f3"
    shares = {reason.title: reason.share for reason in explanation.features}
    assert sum(shares.values()) == pytest.approx(explanation.parts[FEATURE])
    if key == "pca":
        return
    model = fit_run(data, key).model
    X = data["things"].X
    table = model.coefficients_["things"].to_numpy()
    moved = {
        f"f{c}": np.linalg.norm((X[7, c] - X[:, c].mean()) / X[:, c].std() * table[c])
        for c in range(8)
    }
    total = sum(moved.values())
    for reason in explanation.features:
        assert reason.share == pytest.approx(moved[reason.title] / total, rel=1e-5)


def test_why_of_closed_forms_leaves_out_all_links_together(data: HeteroData) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 4))
    a = Dataset("a", [f"a{k}" for k in range(30)], X)
    b = Dataset("b", [f"b{k}" for k in range(30)], X @ rng.normal(size=(4, 3)))
    both = HeteroData([a, b], [Links("a", "b", np.arange(30), np.arange(30))])
    explanation = hetviz.why(both, hetviz.embed(both, "guided-projection"), "a", "a3")
    link_reasons = [reason for reason in explanation.would_move if reason.kind == LINK]
    assert [reason.title for reason in link_reasons] == ["its link"]
    # One of 30 consistent links hardly matters.
    assert 0.0 <= link_reasons[0].moves < 0.2


def test_why_counts_violated_comparisons() -> None:
    ids = [f"i{k}" for k in range(4)]
    comparisons = Comparisons([[0, 1, 2], [0, 3, 2], [1, 2, 3]])
    data = HeteroData([Dataset("things", ids)], comparisons=comparisons)
    # i0 should be closer to i1 than to i2, but is next to i2. i3 is closer already.
    places = Embedding(
        {"things": [[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [0.0, 0.1]]}, {"things": ids}
    )
    explanation = hetviz.why(data, places, "things", "i0", method="gnmds")
    assert explanation.parts == {"comparison": 1.0}
    assert explanation.holds[0].title == "i0 closer to i1 than to i2"
    # 2 |(y0 - y1) - (y0 - y2)| = 4, against 2 |(y0 - y3) - (y0 - y2)| = 2 * sqrt(1.01)
    assert explanation.holds[0].share == pytest.approx(4.0 / (4.0 + 2.0 * np.sqrt(1.01)))
    satisfied = Embedding(
        {"things": [[0.0, 0.0], [0.1, 0.0], [9.0, 0.0], [0.0, 0.1]]}, {"things": ids}
    )
    explanation = hetviz.why(data, satisfied, "things", "i0", method="gnmds")
    assert not explanation.holds and "by a margin" in explanation.note


def test_why_of_many_rows_uses_the_surroundings(
    data: HeteroData, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding = hetviz.embed(data, "mr-sne")
    monkeypatch.setattr(module, "MAX_ROWS", 30)
    monkeypatch.setattr(why_by_graph, "N_SURROUNDING_ROWS", 15)
    explanation = hetviz.why(data, embedding, "things", "t7")
    assert "items around it" in explanation.note
    assert {one.id for one in explanation.holds} <= {f"t{k}" for k in range(20)} | {"low"}


def test_why_respects_only_and_weights(data: HeteroData) -> None:
    seen = np.arange(0, data.n_rows - 1)
    shares = []
    for weight in (1.0, 0.5):
        run = fit_run(data, "mr-sne", only=seen, weights={"things|tags|has": weight})
        explanation = hetviz.why(data, run.result.embedding, "things", "t4", run=run.result)
        shares.append(explanation.parts[LINK])
    assert 0.0 < shares[1] < shares[0] < 1.0
    with pytest.raises(NotApplicableError, match="no place"):
        hetviz.why(data, run.result.embedding, "tags", "alone", run=run.result)


def test_why_converts_to_json_and_table(data: HeteroData) -> None:
    explanation = hetviz.why(data, hetviz.embed(data, "mr-sne"), "things", "t7", most=3)
    content = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert [reason["id"] for reason in content["holds"]] == [
        reason.id for reason in explanation.holds
    ]
    assert len(explanation.holds) == 3
    table = explanation.frame()
    assert set(table["part"]) <= {"holds", "features", "elsewhere", "would_move"}
    assert "ere because of" in explanation.sentence and "t7" in explanation._repr_html_()


def test_why_rejects_unknown_items_and_maps(data: HeteroData) -> None:
    embedding = hetviz.embed(data, "mr-sne")
    with pytest.raises(DataError, match="no such dataset"):
        hetviz.why(data, embedding, "thing", "t1")
    with pytest.raises(DataError, match="no such item"):
        hetviz.why(data, embedding, "things", "t99")
    bare = Embedding(dict(embedding.coordinates), dict(embedding.ids))
    # Without its method, a map is explained by its positions.
    assert "From the positions" in hetviz.why(data, bare, "things", "t1").how


def test_why_without_fit_separates_close_and_far_links() -> None:
    places = {"a": [[0.0, 0], [9, 9], [1, 1]], "b": [[0.5, 0], [10, 10], [np.nan, 0]]}
    data = HeteroData(
        [Dataset("a", ["x", "y", "z"]), Dataset("b", ["near", "far", "nowhere"])],
        [Links("a", "b", [0, 0, 0, 1], [0, 1, 2, 1])],
    )
    embedding = Embedding(places, {name: data[name].ids for name in places})
    explanation = hetviz.why(data, embedding, "a", "x", method="mkpe", fit=False)
    # Of four other items, all are as far as "near" (4 / 4) and one as far as "far" (1 / 4).
    assert [reason.id for reason in explanation.holds] == ["near"]
    assert explanation.holds[0].share == pytest.approx(0.8)
    assert [(reason.id, reason.distance) for reason in explanation.elsewhere] == [
        ("far", pytest.approx(np.sqrt(200) / 10))
    ]
    assert explanation.parts == {} and explanation.sentence.startswith("Its close links")
    assert explanation.note == "Closest on the map: near, z and y."
    lone = hetviz.why(data, embedding, "a", "z", method="mkpe", fit=False)
    assert lone.holds == () and lone.note.startswith("None of its links leads to an item")
    with pytest.raises(NotApplicableError):
        hetviz.why(data, embedding, "b", "nowhere", method="mkpe", fit=False)


@pytest.mark.parametrize("key", ["pca", "mr-sne"])
def test_why_of_a_fitted_method_equals_that_of_its_map(
    key: str, data: HeteroData, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"n_components": 3} if key == "pca" else {"perplexity": 6.0}
    only = HeteroData([data["things"]]) if key == "pca" else data
    expected = hetviz.why(only, hetviz.embed(only, key, **params), "things", "t7")
    model = hetviz.get_method(key)(**params).fit(only)
    monkeypatch.setattr(module, "fit_again", None)
    assert hetviz.why(only, model, "things", "t7") == expected
    assert hetviz.why(only, fit_run(only, key, params), "things", "t7") == expected


def test_why_rejects_unfitted_methods_and_other_items(data: HeteroData) -> None:
    with pytest.raises(HetvizError, match="call fit before why"):
        hetviz.why(data, hetviz.get_method("pca")(), "things", "t1")
    model = hetviz.get_method("pca")().fit(HeteroData([data["things"]]))
    with pytest.raises(DataError, match=r"fitted on other items \('tags'\)"):
        hetviz.why(data, model, "things", "t1")


def test_why_of_joint_map_names_causes_of_closeness() -> None:
    data = two_groups()
    explanation = hetviz.why(data, hetviz.embed(data, "joint-map"), "things", "t4", most=50)
    by = {(reason.dataset, reason.id): reason.by for reason in explanation.holds}
    assert by["tags", "low"] == "linked"
    assert by["things", "t8"] == "both linked to low"
    # t5 has another tag, so it is close through its features or other items.
    assert {reason for (_, id), reason in by.items() if id == "t5"} <= {
        "similar features",
        "indirect",
    }
    assert sum(explanation.near.values()) == pytest.approx(1.0)
    assert "its links" in explanation.sentence and "similar items" not in explanation.sentence
    alone = hetviz.why(data, hetviz.embed(data, "joint-map"), "tags", "alone")
    assert alone.holds[0].id == "t5" and alone.holds[0].by == "linked"
    # Neighbours of the other maps come from features alone.
    other = hetviz.why(data, hetviz.embed(data, "mr-sne"), "things", "t4")
    assert other.near == {} and {reason.by for reason in other.holds} == {""}


def test_why_of_views_names_the_same_item() -> None:
    rng = np.random.default_rng(3)
    ids = [f"i{k}" for k in range(20)]
    data = HeteroData([Dataset(n, ids, rng.normal(size=(20, 4)), entity="thing") for n in "ab"])
    explanation = hetviz.why(data, hetviz.embed(data, "joint-map"), "a", "i3", most=30)
    assert [one.by for one in explanation.holds if one.id == "i3"] in ([], ["the same item"])


def test_why_claims_no_connection_where_there_is_none() -> None:
    linked = two_groups()
    X = np.random.default_rng(5).normal(size=(60, 2))
    events = Dataset("events", [f"e{k}" for k in range(60)], X)
    data = HeteroData([*linked.datasets.values(), events], linked.links)
    with pytest.warns(DataWarning, match="Links do not connect all datasets"):
        m = hetviz.embed(data, "graph-axes")
    explanation = hetviz.why(data, m, "events", "e3", most=50)
    assert {reason.by for reason in explanation.holds} == {
        "similar features",
        "less similar features",
        "not connected",
    }
    assert "indirect" not in explanation.sentence
    assert sum(explanation.near.values()) == pytest.approx(1.0)
    assert not any("connected" in line for line in explanation.sentences_elsewhere)
    other = hetviz.why(data, m, "things", "t4", most=50)
    assert {one.dataset for one in other.holds if one.by == "not connected"} <= {"events"}


def test_why_says_what_kind_of_tie_it_is() -> None:
    def why(*reasons: Reason, near: dict[str, float] | None = None) -> Why:
        held = tuple(one for one in reasons if one.distance <= FAR_SHARE)
        far = tuple(one for one in reasons if one.distance > FAR_SHARE)
        return Why("a", "x", "x", "m", "", {}, held, elsewhere=far, near=near or {})

    def reason(kind: str, title: str, distance: float, by: str = "") -> Reason:
        return Reason(kind, "b", title, title, 0.5, distance=distance, by=by)

    twin, friend = reason(LINK, "x", 0.1, SAME_ITEM), reason(LINK, "y", 0.1, "linked")
    near = {"linked": 0.9, "alike": 0.1}
    assert why(friend, near=near).sentence.startswith("Mostly here because of its links (90 %).")
    same = "the same item in another dataset (90 %)."
    assert why(twin, near=near).sentence.startswith(f"Mostly here because of {same}")
    both = f"Mostly here because of its links and {same}"
    assert why(twin, friend, near=near).sentence.startswith(both)
    far = (
        reason(LINK, "p", 0.6, "linked"),
        reason(NEIGHBOUR, "q", 0.6, INDIRECT),
        reason(NEIGHBOUR, "r", 0.6, SIMILAR),
    )
    assert why(far[0], far[0]).sentences_elsewhere == [
        "It is also linked to p, which is far away.",
    ]
    assert why(*far).sentences_elsewhere == [
        "It is also linked to p, which is far away.",
        "It is also indirectly connected with q, which is far away.",
        "It is also similar to r, which is far away.",
    ]
