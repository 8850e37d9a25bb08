from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness
from sklearn.metrics import roc_auc_score

from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError
from hetviz.metrics.fit.guidance import guidance_curve
from hetviz.metrics.fit.summary import evaluate

rng = np.random.default_rng(5)
A, B = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
PAIRS = [(0, 0), (1, 3), (2, 8), (7, 7), (11, 1)]


def ids(n: int, letter: str) -> list[str]:
    return [f"{letter}{k}" for k in range(n)]


def example() -> tuple[HeteroData, Embedding]:
    a = Dataset("a", ids(12, "a"), rng.normal(size=(12, 4)))
    b = Dataset("b", ids(9, "b"))
    i, j = zip(*PAIRS, strict=True)
    links = [
        Links("a", "b", i, j),
        Links("b", "a", [2, 5], [4, 6], [-1.0, -0.5]),
        Links("a", "a", [0, 5], [1, 2], kind="alike"),
    ]
    data = HeteroData([a, b], links, Comparisons([[0, 1, 2], [0, 2, 1], [3, 12, 20]]))
    return data, Embedding({"a": A, "b": B}, {"a": a.ids, "b": b.ids})


def brute_percentile(distance: float, candidates: np.ndarray) -> float:
    return float((candidates < distance).mean() + (candidates == distance).mean() / 2)


def test_areas_and_auc_equal_brute_force() -> None:
    data, embedding = example()
    cross = np.linalg.norm(A[:, None] - B[None], axis=2)
    within = np.linalg.norm(A[:, None] - A[None], axis=2)[np.triu_indices(12, 1)]
    F_cross = [brute_percentile(cross[pair], cross.ravel()) for pair in PAIRS]
    F_within = [brute_percentile(np.linalg.norm(A[i] - A[j]), within) for i, j in ((0, 1), (2, 5))]
    scores = evaluate(data, embedding)
    pooled = np.mean(1 - np.array(F_cross + F_within))
    values = scores.to_dict()
    assert values["guidance_area"] == pytest.approx(pooled, abs=1e-12)
    F_apart = [
        brute_percentile(cross[4, 2], cross.ravel()),
        brute_percentile(cross[6, 5], cross.ravel()),
    ]
    assert values["negative_guidance_area"] == pytest.approx(np.mean(F_apart), abs=1e-12)
    truth = np.zeros((12, 9), int)
    for pair in PAIRS:
        truth[pair] = 1
    block = scores.blocks.query("source == 'a' and target == 'b' and sign == 1").iloc[0]
    assert block["auc"] == pytest.approx(roc_auc_score(truth.ravel(), -cross.ravel()), abs=1e-12)
    assert block["n_links"] == 5
    ab = np.linalg.norm(A[3] - B[0]) < np.linalg.norm(A[3] - B[8])
    assert values["comparison_accuracy"] == pytest.approx((1 + ab) / 3)
    assert "guidance_area_held_out" not in values


def test_rows_are_matched_by_id_without_unplaced_ones() -> None:
    data, embedding = example()
    order = rng.permutation(12)
    shuffled = Embedding({"a": A[order], "b": B}, {"a": [f"a{k}" for k in order], "b": ids(9, "b")})
    assert evaluate(data, shuffled).to_dict() == evaluate(data, embedding).to_dict()
    gone = A.copy()
    gone[7] = np.nan
    scores = evaluate(data, Embedding({"a": gone, "b": B}, embedding.ids))
    block = scores.blocks.query("target == 'b' and sign == 1").iloc[0]
    assert (block["n_links"], block["n_unplaced"]) == (4, 1)
    assert np.isfinite(list(scores.to_dict().values())).all()


def test_curve_integrates_to_the_area() -> None:
    data, embedding = example()
    for sign, name in ((1, "guidance_area"), (-1, "negative_guidance_area")):
        f, satisfied = guidance_curve(embedding, data, sign=sign, n_points=20_001)
        assert f[0] == 0.0
        assert f[-1] == 1.0
        assert (satisfied[0], satisfied[-1]) == ((0.0, 1.0) if sign > 0 else (1.0, 0.0))
        area = evaluate(data, embedding).to_dict()[name]
        assert np.trapezoid(satisfied, f) == pytest.approx(area, abs=1e-3)
    assert (np.diff(guidance_curve(embedding, data)[1]) >= 0).all()


def test_curve_of_links_without_data() -> None:
    data, embedding = example()
    direct = guidance_curve(embedding, data.links[0])
    through = guidance_curve(embedding, HeteroData(data.datasets, data.links[0]))
    np.testing.assert_array_equal(direct[1], through[1])
    with pytest.raises(DataError, match="no together links"):
        guidance_curve(embedding, HeteroData(data.datasets))
    with pytest.raises(DataError, match="no dataset of this name"):
        guidance_curve(embedding, Links("a", "z", [0], [0]))


def test_curve_of_unknown_rows_is_refused() -> None:
    _, embedding = example()
    with pytest.raises(DataError) as caught:
        guidance_curve(embedding, [Links("a", "b", [0, 12], [9, 0]), Links("a", "a", [0], [40])])
    assert [problem.value for problem in caught.value.problems] == ["12", "9", "40"]


def test_new_rows_have_no_distances_among_themselves() -> None:
    data = HeteroData([Dataset("a", ids(12, "a"), kernel=np.eye(12) + 1.0)])
    _, held_out = data.holdout(objects={"a": 1 / 3})
    rows = np.array([data["a"].position(text) for text in held_out["a"].ids])
    embedding = Embedding({"a": A[rows]}, {"a": held_out["a"].ids})
    assert "trustworthiness" not in evaluate(held_out, embedding).to_dict()
    assert "trustworthiness" in evaluate(data, Embedding({"a": A}, {"a": data["a"].ids})).to_dict()


def test_held_out_links_have_separate_values() -> None:
    data, embedding = example()
    train, held_out = data.holdout(links=0.5, comparisons=0.4)
    values = evaluate(train, embedding, held_out).to_dict()
    assert (
        values["guidance_area_held_out"] == evaluate(held_out, embedding).to_dict()["guidance_area"]
    )
    assert values["guidance_area"] == evaluate(train, embedding).to_dict()["guidance_area"]


def test_trustworthiness_equals_scikit_learn() -> None:
    X = rng.normal(size=(60, 5))
    Y = X[:, :2]
    data = HeteroData([Dataset("a", ids(60, "a"), X), Dataset("tags", ["t"])])
    embedding = Embedding({"a": Y, "tags": [[0.0, 0.0]]}, {"a": ids(60, "a"), "tags": ["t"]})
    values = evaluate(data, embedding).to_dict()
    assert values["trustworthiness"] == pytest.approx(trustworthiness(X, Y, n_neighbors=10))
    assert values["continuity"] == pytest.approx(trustworthiness(Y, X, n_neighbors=10))
    assert set(values) == {"trustworthiness", "continuity"}


def test_perfect_and_chance_maps() -> None:
    n = 400
    a, b = Dataset("a", ids(n, "a")), Dataset("b", ids(n, "b"))
    data = HeteroData([a, b], Links("a", "b", np.arange(n), np.arange(n)))
    Y = rng.normal(size=(n, 2))
    perfect = evaluate(data, Embedding({"a": Y, "b": Y}, {"a": a.ids, "b": b.ids})).to_dict()
    assert perfect["link_auc"] == 1.0
    chance = Embedding({"a": Y, "b": rng.normal(size=(n, 2))}, {"a": a.ids, "b": b.ids})
    assert abs(evaluate(data, chance).to_dict()["guidance_area"] - 0.5) < 0.06


def test_apart_auc_can_reach_one():
    # Two kinds on a line with a wide gap: a perfect map.
    rng = np.random.default_rng(0)
    sort = np.repeat(np.arange(5), 8)
    Y = 100.0 * sort[:, None] + rng.normal(size=(40, 2))
    i, j = np.triu_indices(40, 1)
    taken = rng.permutation(len(i))[:120]
    i, j = i[taken], j[taken]
    weight = np.where(sort[i] == sort[j], 1.0, -1.0)
    ids = [str(k) for k in range(40)]
    data = HeteroData([Dataset("a", ids)], [Links("a", "a", i, j, weight)])
    scores = evaluate(data, Embedding({"a": Y}, {"a": np.array(ids)}))
    values = scores.to_dict()
    assert values["apart_auc"] == 1.0
    assert scores.ceiling("apart_auc") == 1.0
    # Most pairs are of different kinds, which keeps the other measure low.
    assert values["negative_guidance_area"] < 0.65 < scores.ceiling("negative_guidance_area")
    shuffled = evaluate(data, Embedding({"a": rng.permutation(Y)}, {"a": np.array(ids)}))
    gap = abs(shuffled.to_dict()["apart_auc"] - 0.5)
    assert gap < shuffled.resolutions["apart_auc"] < 0.5


def test_resolution_shrinks_with_more_links():
    data, Y, _ = few_and_many()
    few_links, many = (
        evaluate(HeteroData(data.datasets.values(), [links]), Y) for links in data.links
    )
    for name in ("guidance_area", "link_auc", "links_kept", "degree_auc"):
        assert 0 < many.resolutions[name] < few_links.resolutions[name]
        assert few_links.ceiling(name) <= 1.0


def few_and_many():
    rng = np.random.default_rng(3)
    parts = [Dataset(name, [f"{name}{k}" for k in range(60)]) for name in "ab"]
    places = {name: rng.normal(size=(60, 2)) for name in "ab"}
    links = []
    for size in (30, 600):
        pairs = rng.choice(3_600, size, replace=False)
        links.append(Links("a", "b", pairs // 60, pairs % 60))
    data = HeteroData(parts, links)
    return data, Embedding(places, {p.name: p.ids for p in parts}), links
