"""Why an item is where it is: planted causes are named first, and limit cases are exact."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

import hetviz
from hetviz.core.layout.holding import KINDS, LINK, NEIGHBOUR, STATEMENT, Pulls, held, sne_stiffness
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, HetvizError, NotApplicableError, ParameterError
from hetviz.features.spaces.sne_map import SneMap
from hetviz.runs.embed.run import fit_run
from hetviz.runs.place import why as module

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


def test_shares_are_those_of_the_gradient_and_moves_those_of_its_balance() -> None:
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(6, 2))
    A = np.triu(rng.random((6, 6)), 1)
    A[0, 4] = 0.0
    P = sp.csr_array((A + A.T) / A.sum() / 2)
    found = held(0, Y, Pulls({NEIGHBOUR: P * 0.25, LINK: P * 0.75}, sne_stiffness))
    assert found is not None
    assert 4 not in found.to and 0 not in found.to
    d = ((Y[0] - Y) ** 2).sum(axis=1)
    k = P.toarray()[0] / (1 + d)
    np.testing.assert_allclose(found.share, (k / k.sum())[found.to])
    assert (np.diff(found.share) <= 0).all()
    np.testing.assert_allclose(found.share.sum(), 1.0)
    np.testing.assert_allclose(found.by[LINK], 0.75 * found.share)
    centre = k @ Y / k.sum()
    for row, moved in zip(found.to, found.moves, strict=True):
        rest = np.where(np.arange(6) == row, 0.0, k)
        np.testing.assert_allclose(moved, np.linalg.norm(rest @ Y / rest.sum() - centre))


def test_an_item_that_nothing_attracts_and_one_without_a_place_are_not_held() -> None:
    P = sp.csr_array(np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    pulls = Pulls({NEIGHBOUR: P}, sne_stiffness)
    assert held(2, Y, pulls) is None
    Y[1] = np.nan
    assert held(1, Y, pulls) is None and held(0, Y, pulls) is None


@pytest.mark.parametrize("key", ["mr-sne", "joint-map", "graph-axes"])
def test_the_parts_are_together_the_graph_that_is_drawn(
    key: str, data: HeteroData, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Links("things", "things", [1, 2], [30, 33], kind="said")
    apart = Links("things", "things", [0], [2], [-1.0], kind="said")
    guided = data.edit().add(said).edit().add(apart)
    drawn = []
    before = SneMap.run

    def run(self: SneMap, *given: object, **more: object) -> None:
        drawn.append(self.placed.graph)
        before(self, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(SneMap, "run", run)
    hetviz.get_method(key)().fit(guided)
    pulls = hetviz.get_method(key)().pulls(guided)
    assert pulls is not None and set(pulls.parts) <= set(KINDS)
    whole = sum(part.toarray() for part in pulls.parts.values())
    assert all((part.toarray() >= -1e-12).all() for part in pulls.parts.values())
    graph = drawn[-1].toarray()
    there = whole.sum(axis=1) > 0
    np.testing.assert_allclose(whole[there][:, there] / whole.sum(), graph / graph.sum(), atol=1e-9)


@pytest.mark.parametrize("key", GRAPHS)
def test_what_has_one_link_alone_is_held_by_it(key: str, data: HeteroData) -> None:
    found = hetviz.why(data, hetviz.embed(data, key), "tags", "alone")
    if key in ("mr-sne", "umap"):
        assert found.parts == pytest.approx({LINK: 1.0})
        assert [one.id for one in found.holds] == ["t5"]
        assert found.holds[0].share == pytest.approx(1.0)
    assert sum(found.parts.values()) == pytest.approx(1.0)
    assert found.holds[0].kind in KINDS


@pytest.mark.parametrize("key", ["mr-sne", "umap"])
@pytest.mark.parametrize("planted", [3, 6])
def test_the_feature_that_was_planted_is_named_first(key: str, planted: int) -> None:
    data = two_groups(planted)
    found = hetviz.why(data, hetviz.embed(data, key), "things", "t7")
    assert found.features[0].title == f"f{planted}"
    assert found.features[0].share > 0.5
    assert {one.id for one in found.holds if one.kind == NEIGHBOUR} <= {f"t{k}" for k in range(20)}


@pytest.mark.parametrize("key", ["mr-sne", "joint-map"])
def test_what_was_said_is_named_first_and_weighs_about_as_much_as_all_else(
    key: str, data: HeteroData
) -> None:
    guided = data.edit().add(Links("things", "things", [1], [33], kind="said"))
    found = hetviz.why(guided, hetviz.embed(guided, key), "things", "t1")
    first = (found.holds + found.elsewhere)[0] if found.holds[0].id == "t33" else found.elsewhere[0]
    assert (first.kind, first.id) == (STATEMENT, "t33")


def test_a_far_friend_pulls_elsewhere(data: HeteroData) -> None:
    guided = data.edit().add(Links("things", "things", [1], [33], kind="knows"))
    Y = hetviz.embed(data, "mr-sne")
    found = hetviz.why(guided, Y, "things", "t1", method="mr-sne")
    assert found.elsewhere[0].id == "t33" and found.elsewhere[0].kind == LINK
    assert found.elsewhere[0].distance > module.FAR


@pytest.mark.parametrize("key", ["pca", "guided-projection", "cdmca"])
def test_of_a_linear_method_each_feature_counts_by_what_it_adds(key: str) -> None:
    data = two_groups()
    other = Dataset("twins", data["things"].ids, data["things"].X[:, :5] * 2.0 + 1.0)
    pairs = Links("things", "twins", np.arange(N), np.arange(N))
    data = HeteroData([data["things"], other], [pairs])
    embedding = hetviz.embed(data, key)
    found = hetviz.why(data, embedding, "things", "t7")
    assert found.features[0].title == "f3"
    shares = {one.title: one.share for one in found.features}
    assert sum(shares.values()) == pytest.approx(found.parts[module.FEATURE])
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
    for one in found.features:
        assert one.share == pytest.approx(moved[one.title] / total, rel=1e-5)


def test_links_of_a_closed_form_are_left_out_together(data: HeteroData) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 4))
    a = Dataset("a", [f"a{k}" for k in range(30)], X)
    b = Dataset("b", [f"b{k}" for k in range(30)], X @ rng.normal(size=(4, 3)))
    both = HeteroData([a, b], [Links("a", "b", np.arange(30), np.arange(30))])
    found = hetviz.why(both, hetviz.embed(both, "guided-projection"), "a", "a3")
    told = [one for one in found.would_move if one.kind == LINK]
    assert [one.title for one in told] == ["its link"]
    # One of 30 links of which all say the same: it hardly matters.
    assert 0.0 <= told[0].moves < 0.2


def test_comparisons_not_kept_by_a_margin_pull() -> None:
    ids = [f"i{k}" for k in range(4)]
    said = Comparisons([[0, 1, 2], [0, 3, 2], [1, 2, 3]])
    data = HeteroData([Dataset("things", ids)], comparisons=said)
    # i0 is to be nearer to i1 than to i2, but lies beside i2; i3 is far nearer as it is.
    places = Embedding(
        {"things": [[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [0.0, 0.1]]}, {"things": ids}
    )
    found = hetviz.why(data, places, "things", "i0", method="gnmds")
    assert found.parts == {"comparison": 1.0}
    assert found.holds[0].title == "i0 nearer to i1 than to i2"
    # 2 |(y0 - y1) - (y0 - y2)| = 4, against 2 |(y0 - y3) - (y0 - y2)| = 2 * sqrt(1.01)
    assert found.holds[0].share == pytest.approx(4.0 / (4.0 + 2.0 * np.sqrt(1.01)))
    kept = Embedding({"things": [[0.0, 0.0], [0.1, 0.0], [9.0, 0.0], [0.0, 0.1]]}, {"things": ids})
    easy = hetviz.why(data, kept, "things", "i0", method="gnmds")
    assert not easy.holds and "kept by a margin" in easy.note


def test_of_many_rows_only_the_surroundings_are_looked_at(
    data: HeteroData, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding = hetviz.embed(data, "mr-sne")
    monkeypatch.setattr(module, "MOST_ROWS", 30)
    monkeypatch.setattr(module, "SURROUNDINGS", 15)
    found = hetviz.why(data, embedding, "things", "t7")
    assert "items around it" in found.note
    assert {one.id for one in found.holds} <= {f"t{k}" for k in range(20)} | {"low"}


def test_a_part_of_the_rows_and_weights_are_heard(data: HeteroData) -> None:
    seen = np.arange(0, data.n_rows - 1)
    shares = []
    for weight in (1.0, 0.5):
        run = fit_run(data, "mr-sne", only=seen, weights={"things|tags|has": weight})
        found = hetviz.why(data, run.embedding, "things", "t4", run=run.run)
        shares.append(found.parts[LINK])
    assert 0.0 < shares[1] < shares[0] < 1.0
    with pytest.raises(NotApplicableError, match="no place"):
        hetviz.why(data, run.embedding, "tags", "alone", run=run.run)


def test_the_answer_is_json_and_a_table(data: HeteroData) -> None:
    found = hetviz.why(data, hetviz.embed(data, "mr-sne"), "things", "t7", most=3)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["id"] for one in told["holds"]] == [one.id for one in found.holds]
    assert len(found.holds) == 3
    table = found.frame()
    assert set(table["part"]) <= {"holds", "features", "elsewhere", "would_move"}
    assert "Held by" in found.sentence and "t7" in found._repr_html_()


def test_what_cannot_be_told_is_told_plainly(data: HeteroData) -> None:
    embedding = hetviz.embed(data, "mr-sne")
    with pytest.raises(DataError, match="no such dataset"):
        hetviz.why(data, embedding, "thing", "t1")
    with pytest.raises(DataError, match="no such item"):
        hetviz.why(data, embedding, "things", "t99")
    bare = Embedding(dict(embedding.coordinates), dict(embedding.ids))
    with pytest.raises(ParameterError, match="how this map was made"):
        hetviz.why(data, bare, "things", "t1")


def test_the_axes_alone_tell_which_links_are_kept_and_which_lead_far() -> None:
    places = {"a": [[0.0, 0], [9, 9], [1, 1]], "b": [[0.5, 0], [10, 10], [np.nan, 0]]}
    data = HeteroData(
        [Dataset("a", ["x", "y", "z"]), Dataset("b", ["near", "far", "nowhere"])],
        [Links("a", "b", [0, 0, 0, 1], [0, 1, 2, 1])],
    )
    embedding = Embedding(places, {name: data[name].ids for name in places})
    found = hetviz.why(data, embedding, "a", "x", method="mkpe", fit=False)
    # of four others one lies farther than none: near counts 4 / 4, far 1 / 4
    assert [one.id for one in found.holds] == ["near"]
    assert found.holds[0].share == pytest.approx(0.8)
    assert [(one.id, one.distance) for one in found.elsewhere] == [
        ("far", pytest.approx(np.sqrt(200) / 10))
    ]
    assert found.parts == {} and found.sentence.startswith("Links that it keeps")
    assert found.note == "Nearest to it on the axes: near, z and y."
    lone = hetviz.why(data, embedding, "a", "z", method="mkpe", fit=False)
    assert lone.holds == () and lone.note.startswith("No link of it leads to anything")
    with pytest.raises(NotApplicableError):
        hetviz.why(data, embedding, "b", "nowhere", method="mkpe", fit=False)


@pytest.mark.parametrize("key", ["pca", "mr-sne"])
def test_a_fitted_method_is_asked_as_its_map_is(
    key: str, data: HeteroData, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"n_components": 3} if key == "pca" else {"perplexity": 6.0}
    only = HeteroData([data["things"]]) if key == "pca" else data
    asked = hetviz.why(only, hetviz.embed(only, key, **params), "things", "t7")
    model = hetviz.get_method(key)(**params).fit(only)
    monkeypatch.setattr(module, "fit_again", None)
    assert hetviz.why(only, model, "things", "t7") == asked
    assert hetviz.why(only, fit_run(only, key, params), "things", "t7") == asked


def test_methods_not_fitted_or_fitted_on_other_items_are_refused(data: HeteroData) -> None:
    with pytest.raises(HetvizError, match="call fit before why"):
        hetviz.why(data, hetviz.get_method("pca")(), "things", "t1")
    model = hetviz.get_method("pca")().fit(HeteroData([data["things"]]))
    with pytest.raises(DataError, match=r"fitted on other items \('tags'\)"):
        hetviz.why(data, model, "things", "t1")


def test_of_a_joint_map_it_is_told_what_makes_each_neighbour_one() -> None:
    data = two_groups()
    found = hetviz.why(data, hetviz.embed(data, "joint-map"), "things", "t4", most=50)
    by = {(one.dataset, one.id): one.by for one in found.holds}
    assert by["tags", "low"] == "linked"
    assert by["things", "t8"] == "both linked with low"
    # t5 has another tag, so it is near by its features or not at all.
    assert {one for (_, id), one in by.items() if id == "t5"} <= {
        "alike by features",
        "through others",
    }
    assert sum(found.near.values()) == pytest.approx(1.0)
    assert "what it is linked with" in found.sentence and "neighbours" not in found.sentence
    alone = hetviz.why(data, hetviz.embed(data, "joint-map"), "tags", "alone")
    assert alone.holds[0].id == "t5" and alone.holds[0].by == "linked"
    # Neighbours of the other maps are so by their features alone.
    other = hetviz.why(data, hetviz.embed(data, "mr-sne"), "things", "t4")
    assert other.near == {} and {one.by for one in other.holds} == {""}


def test_two_views_of_one_item_hold_each_other_as_the_same_item() -> None:
    rng = np.random.default_rng(3)
    ids = [f"i{k}" for k in range(20)]
    data = HeteroData([Dataset(n, ids, rng.normal(size=(20, 4)), entity="thing") for n in "ab"])
    found = hetviz.why(data, hetviz.embed(data, "joint-map"), "a", "i3", most=30)
    assert [one.by for one in found.holds if one.id == "i3"] in ([], ["the same item"])
