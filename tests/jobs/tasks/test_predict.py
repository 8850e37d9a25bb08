"""Tests of the tasks that predict links and labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import NotApplicableError, ParameterError
from hetviz.jobs.tasks.predict import find_links
from hetviz.progress import ignore_progress
from hetviz.runs.embed.run import fit_run

N = 40


def clustered(links: int = 2) -> HeteroData:
    """Items and words of four groups; an item is linked with some words of its group."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 4
    X = 4.0 * np.eye(4)[group] + 0.3 * rng.normal(size=(N, 4))
    Z = 4.0 * np.eye(4)[np.arange(12) % 4] + 0.3 * rng.normal(size=(12, 4))
    a, b = (
        Dataset("a", [f"a{k}" for k in range(N)], X),
        Dataset("b", [f"b{k}" for k in range(12)], Z),
    )
    pairs = {(k, int(4 * rng.integers(3) + group[k])) for k in range(N) for _ in range(links)}
    i, j = np.array(sorted(pairs)).T
    return HeteroData([a, b], [Links("a", "b", i, j)])


@pytest.mark.parametrize("method", ["guided-projection", "profiles"])
def test_find_links_recovers_hidden_links(method: str) -> None:
    seen: list[float] = []

    def progress(fraction: float, message: str = "", **figures: object) -> None:
        seen.append(fraction)

    params = {} if method == "profiles" else {"n_components": 3}
    result = find_links(clustered(), "a", "b", method, params, [0, 1], 0.2, progress, top=15)
    content = json.loads(json.dumps(result.content))
    assert result.kind == "links"
    assert len(content["candidates"]) == 15
    for entry in content["candidates"]:
        assert int(entry["source_id"][1:]) % 4 == int(entry["target_id"][1:]) % 4
    test = content["test"]
    assert test["auc"]["method"][0] > 0.9
    assert test["auc"]["chance"] == [0.5, 0.0]
    assert ("profiles" in test["auc"]) == (method != "profiles")
    precision = {k: mean for k, mean, _ in test["precision"]["method"]}
    chance = {k: mean for k, mean, _ in test["precision"]["chance"]}
    assert precision[30] > 3 * chance[30]
    assert chance[1] == pytest.approx(test["n_links"] / test["n_pairs"], rel=0.05)
    assert len(result.maps) == (method != "profiles")
    for made in result.maps:
        again = fit_run(clustered(), made.method, made.params, made.seed)
        np.testing.assert_array_equal(again.result.embedding.stacked(), made.embedding.stacked())
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_find_links_uses_given_map() -> None:
    data = clustered()
    places = {"a": np.arange(N, dtype=float)[:, None], "b": np.arange(12, dtype=float)[:, None]}
    embedding = Embedding(places, {name: part.ids for name, part in data.datasets.items()})
    result = find_links(
        data, "a", "b", "pca", {}, [0], 0.0, ignore_progress, top=5, start=embedding
    )
    for entry in result.content["candidates"]:
        assert entry["source_id"][1:] == entry["target_id"][1:]
    assert result.content["by_map"]
    assert result.content["test"] is None
    assert result.maps == ()


def test_find_links_without_links() -> None:
    data = clustered()
    bare = HeteroData(data.datasets)
    result = find_links(bare, "a", "a", "pca", {}, [0], 0.2, ignore_progress, top=3)
    assert result.content["test"] is None
    assert len(result.content["candidates"]) == 3
    with pytest.raises(NotApplicableError, match="needs links between"):
        find_links(bare, "a", "b", "profiles", {}, [0], 0.0, ignore_progress)
    with pytest.raises(ParameterError, match="seed"):
        find_links(data, "a", "b", "pca", {}, [], 0.0, ignore_progress)
