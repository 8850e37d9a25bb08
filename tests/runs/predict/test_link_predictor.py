"""The default link predictor: hidden links, reasons and constraints."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import hetviz
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import NotApplicableError, ParameterError
from hetviz.runs.predict import link_fitting, link_judging, link_predictor, links
from hetviz.runs.predict.held_out_links import average_precision, rank_held_out
from hetviz.runs.predict.link_fitting import signed_links
from hetviz.runs.predict.link_judging import with_chosen_axes
from hetviz.runs.predict.pair_scores import DistanceScore, PairScorer

QUICK = {"quick": True}


def people_and_books(seed: int = 0, rate: float = 0.12) -> tuple[HeteroData, np.ndarray]:
    """People and books of four tastes, linked by taste, and the pairs of equal taste."""
    rng = np.random.default_rng(seed)
    g, h = np.arange(60) % 4, np.arange(40) % 4
    X = 2.0 * np.eye(4)[g] + 0.7 * rng.normal(size=(60, 4))
    Z = 2.0 * np.eye(4)[h] + 0.7 * rng.normal(size=(40, 4))
    same = g[:, None] == h[None]
    Y = rng.random(same.shape) < np.where(same, 4 * rate, 0.01)
    Y[-4:] = False
    people = Dataset("people", [f"p{k}" for k in range(60)], X, feature_names=list("wxyz"))
    books = Dataset("books", [f"b{k}" for k in range(40)], Z)
    return HeteroData([people, books], [Links("people", "books", *np.nonzero(Y))]), same


@pytest.fixture(scope="module")
def fitted_predictor() -> tuple[HeteroData, np.ndarray, link_predictor.LinkPredictor]:
    data, same = people_and_books()
    return data, same, hetviz.fit_link_predictor(data, "people", "books", members=())


def test_link_predictor_finds_hidden_links_and_links_of_new_items(
    fitted_predictor: tuple[HeteroData, np.ndarray, link_predictor.LinkPredictor],
) -> None:
    data, same, predictor = fitted_predictor
    known = (signed_links(data, "people", "books") > 0).toarray()
    P = predictor.scores(np.arange(60))
    assert ((P > 0) & (P < 1)).all()
    linked = ~known & (np.arange(60) < 56)[:, None]
    assert roc_auc_score(same[linked], P[linked]) > 0.95
    assert roc_auc_score(same[-4:].ravel(), P[-4:].ravel()) > 0.9
    i, j = np.array([0, 59, 7]), np.array([3, 3, 0])
    np.testing.assert_allclose(predictor.pair_scores(i, j), P[i, j])
    # A fifth of all links is a quarter of the known ones.
    assert 0.6 < P[~known].sum() / (0.25 * known.sum()) < 1.5


def test_link_predictor_states_the_share_of_likely_pairs_that_are_links() -> None:
    stated, right = [], []
    for seed in range(4):
        data, same = people_and_books(seed, rate=0.2)
        train, hidden = data.holdout(0.2, random_state=seed)
        likely = same & (signed_links(train, "people", "books").toarray() == 0)
        likely[-4:] = False
        predictor = hetviz.fit_link_predictor(train, "people", "books")
        stated.append(predictor.scores(np.arange(60))[likely].mean())
        right.append((signed_links(hidden, "people", "books") > 0).toarray()[likely].mean())
    assert np.mean(stated) == pytest.approx(np.mean(right), abs=0.1)


def test_link_predictor_uses_own_scores_for_items_without_links() -> None:
    """A new book is proposed to people by its features, a new person to popular books as well."""
    data, same = people_and_books(rate=0.2)
    links = data.links[0]
    rest = links.take((links.i > 3) & (links.j > 3))
    P = hetviz.fit_link_predictor(HeteroData(data.datasets, [rest]), "people", "books").scores(
        np.arange(60)
    )
    new_people, new_books = np.ix_(range(4), range(4, 40)), np.ix_(range(4, 56), range(4))
    for part in (new_people, new_books):
        assert roc_auc_score(same[part].ravel(), P[part].ravel()) > 0.9


def test_weights_do_not_depend_on_items_without_links() -> None:
    rng = np.random.default_rng(0)
    is_link = rng.random(400) < 0.2

    def hidden_test(*, with_unlinked: bool) -> link_judging._HiddenTest:
        """Score links well; of items without links by the other score alone."""
        good, other = is_link + 0.3 * rng.normal(size=400), rng.normal(size=400)
        side = np.zeros(400, dtype=np.int64)
        links = is_link
        if with_unlinked:
            good, other = np.append(good, other), np.append(other, good)
            side, links = np.append(side, side + 1), np.append(is_link, is_link)
        rows = np.arange(len(links))
        pairs = link_judging._SampledPairs(rows, rows, links, np.ones(len(links)), ~links)
        return link_judging._HiddenTest(pairs, {"good": good, "other": other}, side, {})

    rng = np.random.default_rng(1)
    plain, judged = link_judging.fit_stack([hidden_test(with_unlinked=False)])
    rng = np.random.default_rng(1)
    mixed, mixed_judged = link_judging.fit_stack([hidden_test(with_unlinked=True)])
    assert mixed_judged == judged
    np.testing.assert_array_equal(mixed.weights, plain.weights)
    assert mixed.intercept == plain.intercept


def test_predict_links_gives_reasons(
    fitted_predictor: tuple[HeteroData, np.ndarray, link_predictor.LinkPredictor],
) -> None:
    data, same, predictor = fitted_predictor
    suggestions = hetviz.predict_links(data, "people", "books", 30, by=predictor)
    i, j = (
        data["people"].find(suggestions["source_id"]),
        data["books"].find(suggestions["target_id"]),
    )
    assert same[i, j].mean() > 0.9
    Y = signed_links(data, "people", "books").toarray()
    for row, (p, q) in enumerate(zip(i, j, strict=True)):
        one = suggestions.iloc[row]
        for a, b in one["carried_by"]:
            assert Y[data["people"].position(a), data["books"].position(b)] > 0
        linked, others = data["people"].find(one["alike_linked"]), one["alike_not_linked"]
        assert (Y[linked, q] > 0).all()
        assert not (Y[data["people"].find(others), q] > 0).any()
        assert set(one["shared_features"]) <= set("wxyz")
        assert p not in linked
    assert suggestions["carried_by"].map(len).min() > 0
    assert suggestions["shared_features"].map(len).max() > 0


def test_link_predictor_is_deterministic(
    fitted_predictor: tuple[HeteroData, np.ndarray, link_predictor.LinkPredictor],
) -> None:
    data, _, predictor = fitted_predictor
    again = hetviz.fit_link_predictor(data, "people", "books", members=())
    np.testing.assert_array_equal(again.scores(np.arange(9)), predictor.scores(np.arange(9)))
    assert again.weights == predictor.weights
    assert predictor.judged["all"] >= 0.9 * max(predictor.judged.values())


def test_predict_links_avoids_all_scores_for_large_tables(
    fitted_predictor: tuple[HeteroData, np.ndarray, link_predictor.LinkPredictor],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, _, predictor = fitted_predictor
    whole = hetviz.predict_links(data, "people", "books", 20, by=predictor)
    monkeypatch.setattr(links, "_MAX_PAIRS_OF_ALL", 0)
    some = hetviz.predict_links(data, "people", "books", 20, by=predictor)
    assert some["source_id"].tolist() == whole["source_id"].tolist()
    np.testing.assert_allclose(some["score"], whole["score"])


def test_link_predictor_respects_one_to_one_links() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    a = Dataset("a", [f"a{k}" for k in range(40)], X)
    b = Dataset("b", [f"b{k}" for k in range(40)], X + 0.05 * rng.normal(size=X.shape))
    data = HeteroData([a, b], [Links("a", "b", range(25), range(25))])
    predictor = hetviz.fit_link_predictor(data, "a", "b", **QUICK)
    assert predictor.once == (True, True)
    suggestions = hetviz.predict_links(data, "a", "b", 40, by=predictor)
    assert suggestions["source_id"].is_unique
    assert suggestions["target_id"].is_unique
    assert not set(suggestions["source_id"]) & {f"a{k}" for k in range(25)}
    right = suggestions["source_id"].str[1:] == suggestions["target_id"].str[1:]
    assert right[:10].mean() >= 0.7


def test_predict_links_within_a_dataset_lists_pairs_once() -> None:
    rng = np.random.default_rng(2)
    g = np.arange(50) % 5
    X = sp.csr_array(np.maximum(2.0 * np.eye(5)[g] + 0.3 * rng.normal(size=(50, 5)), 0.0))
    i, j = np.triu_indices(50, 1)
    kept = (g[i] == g[j]) & (rng.random(len(i)) < 0.4)
    data = HeteroData(
        [Dataset("papers", [f"p{k}" for k in range(50)], X)],
        [Links("papers", "papers", i[kept], j[kept], kind="cites")],
    )
    predictor = hetviz.fit_link_predictor(data, "papers", "papers", **QUICK)
    P = predictor.scores(np.arange(50))
    np.testing.assert_allclose(P, P.T, atol=1e-9)
    suggestions = hetviz.predict_links(data, "papers", "papers", 30, by=predictor)
    p, q = (
        data["papers"].find(suggestions["source_id"]),
        data["papers"].find(suggestions["target_id"]),
    )
    assert (g[p] == g[q]).mean() > 0.9
    assert len({frozenset(pair) for pair in zip(p, q, strict=True)}) == 30


def test_link_predictor_works_without_features() -> None:
    data, same = people_and_books(rate=0.2)
    bare = HeteroData([Dataset(name, part.ids) for name, part in data.datasets.items()], data.links)
    P = hetviz.fit_link_predictor(bare, "people", "books", **QUICK).scores(np.arange(56))
    known = (signed_links(data, "people", "books") > 0).toarray()[:56]
    assert roc_auc_score(same[:56][~known], P[~known]) > 0.8


def test_low_rank_similarity_finds_as_many_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, same = people_and_books()
    monkeypatch.setattr(link_fitting, "MAX_EXACT_ROWS", 10)
    P = hetviz.fit_link_predictor(data, "people", "books", **QUICK).scores(np.arange(56))
    known = (signed_links(data, "people", "books") > 0).toarray()[:56]
    assert roc_auc_score(same[:56][~known], P[~known]) > 0.93


def test_link_predictor_needs_a_link() -> None:
    data, _ = people_and_books()
    few = HeteroData(data.datasets, [Links("people", "books", [0, 1, 2], [0, 1, 2])])
    suggestions = hetviz.predict_links(few, "people", "books", 10)
    assert len(suggestions) == 10
    with pytest.raises(NotApplicableError, match="there are none"):
        hetviz.predict_links(HeteroData(data.datasets), "people", "books")
    with pytest.raises(ParameterError, match="members"):
        hetviz.fit_link_predictor(data, "people", "books", members=["pca"])
    with pytest.raises(ParameterError, match="give the two datasets first"):
        hetviz.predict_links(data, None, "people", "books")  # type: ignore[arg-type]
    predictor = hetviz.fit_link_predictor(few, "people", "books", **QUICK)
    with pytest.raises(ParameterError, match="the predictor is of"):
        hetviz.predict_links(few, "books", "people", by=predictor)


def test_rank_held_out_of_links_and_of_items() -> None:
    data, _ = people_and_books()

    def quiet(fraction: float, message: str = "", **figures: object) -> None: ...

    args = (data, "stack", {}, "people", "books", 0.2, 0, quiet)
    links_hidden = rank_held_out(*args, quick=True)
    items_hidden = rank_held_out(*args, quick=True, items=0.2)
    assert links_hidden is not None
    assert items_hidden is not None
    for suggestions in (links_hidden, items_hidden):
        assert suggestions.own_scores
        assert suggestions.auc["method"] > suggestions.auc["popularity"]
        assert suggestions.average_precision["method"] > suggestions.n_links / suggestions.n_pairs
    assert items_hidden.n_pairs == round(0.2 * 56) * 40
    by_map = rank_held_out(data, "cdmca", {}, "people", "books", 0.2, 0, quiet)
    assert by_map is not None
    assert not by_map.own_scores


def test_rank_held_out_by_known_links() -> None:
    data, _ = people_and_books(rate=0.2)

    def quiet(fraction: float, message: str = "", **figures: object) -> None: ...

    ranking = rank_held_out(data, "stack", {}, "people", "books", 0.2, 0, quiet, quick=True)
    assert ranking is not None
    groups = {group.known_links: group for group in ranking.by_known_links}
    assert list(groups) == ["2 to 5", "more than 5"]  # No other item has a hidden link.
    assert sum(group.n_links for group in groups.values()) == ranking.n_links
    # The four people without links have 40 candidate pairs each.
    assert sum(group.n_pairs for group in groups.values()) <= ranking.n_pairs - 4 * 40
    for group in groups.values():
        assert group.auc["method"] > group.auc["popularity"]
        assert group.average_precision["method"] > group.n_links / group.n_pairs
    sparse, _ = people_and_books(rate=0.06)
    few = rank_held_out(sparse, "stack", {}, "people", "books", 0.2, 0, quiet, quick=True)
    assert few is not None
    assert [group.known_links for group in few.by_known_links][:2] == ["0", "1"]


def test_predict_links_counts_known_links(
    fitted_predictor: tuple[HeteroData, np.ndarray, link_predictor.LinkPredictor],
) -> None:
    data, _, predictor = fitted_predictor
    table = hetviz.predict_links(data, "people", "books", 300, by=predictor)
    Y = signed_links(data, "people", "books").toarray() > 0
    i, j = data["people"].find(table["source_id"]), data["books"].find(table["target_id"])
    expected = np.minimum(Y.sum(axis=1)[i], Y.sum(axis=0)[j])
    np.testing.assert_array_equal(table["known_links"], expected)
    assert len(set(expected)) > 2


def test_average_precision_handles_ties() -> None:
    is_link = np.array([True, False, True, False])
    assert average_precision(np.array([4.0, 3, 2, 1]), is_link) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(np.ones(4), is_link) == pytest.approx(0.5)


def test_choose_axes_uses_hidden_links() -> None:
    data, _ = people_and_books(rate=0.2)
    ends = ("kbmf2k", "people", "books")
    chosen = with_chosen_axes(data, *ends, {"n_iter": 20}, 0)
    assert chosen["n_components"] in (5, 10, 20)
    said = with_chosen_axes(data, *ends, {"n_components": 3}, 0)
    assert said == {"n_components": 3}


@pytest.mark.parametrize("within", [False, True])
def test_closest_pairs_by_tree_equal_all_distances(
    within: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    names = ["a", "b"]
    data = HeteroData(
        [Dataset(name, [f"{name}{k}" for k in range(70)]) for name in names],
        [Links("a", names[not within], range(60), range(1, 61))],
    )
    places = rng.normal(size=(2, 70, 2)) ** 3
    places[0, :20] = places[0, 0]
    placed = hetviz.Embedding(
        dict(zip(names, places, strict=True)), {name: data[name].ids for name in names}
    )
    target = names[not within]
    tree = hetviz.predict_links(data, "a", target, 200, by=placed)
    # With many rows, a sample bounds the distance of the best pairs first.
    few = hetviz.predict_links(data, "a", target, 12, by=placed)
    with monkeypatch.context() as patch:
        patch.setattr(links, "_N_SAMPLED_ROWS", 5)
        assert hetviz.predict_links(data, "a", target, 12, by=placed).equals(few)
    monkeypatch.setattr(links, "_MAX_TREE_AXES", 0)
    plain = hetviz.predict_links(data, "a", target, 200, by=placed)
    np.testing.assert_allclose(tree["score"], plain["score"])
    scorer = PairScorer.of(data, placed, "a", target)
    assert isinstance(scorer.share, DistanceScore)
    top = plain["score"] > plain["score"].iloc[-1]
    pairs = [
        {frozenset(pair) for pair in zip(one["source_id"][top], one["target_id"][top], strict=True)}
        for one in (tree, plain)
    ]
    assert pairs[0] == pairs[1]
