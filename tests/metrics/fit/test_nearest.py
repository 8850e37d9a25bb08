from __future__ import annotations

import numpy as np

from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.metrics.fit.nearest import nearest

rng = np.random.default_rng(3)
A, B = rng.normal(size=(30, 2)), rng.normal(size=(41, 2))
A[7] = B[5] = np.nan


def example() -> tuple[HeteroData, Embedding]:
    a, b = Dataset("a", [f"a{k}" for k in range(30)]), Dataset("b", [f"b{k}" for k in range(41)])
    links = [Links("a", "b", [2, 2, 2, 2], [0, 1, 2, 5], [1, 1, -1, 1]), Links("a", "a", [9], [2])]
    return HeteroData([a, b], links), Embedding({"a": A, "b": B}, {"a": a.ids, "b": b.ids})


def test_nearest_equal_brute_force_and_links_are_marked() -> None:
    data, embedding = example()
    found = nearest(data, embedding, 2, n=6, near=0.1)
    to_b = np.linalg.norm(B - A[2], axis=1)
    order = [k for k in np.argsort(to_b) if k != 5]
    assert (found["b"].rows - 30).tolist() == order[:6]
    assert found["b"].linked.tolist() == [k in (0, 1) for k in order[:6]]
    assert (found["b"].n_others, found["b"].n_near, found["b"].n_links) == (40, 4, 2)
    assert found["b"].n_links_near == sum(k in (0, 1) for k in order[:4])
    assert 2 not in found["a"].rows
    assert (found["a"].n_others, found["a"].n_links) == (28, 1)


def test_an_item_without_a_place_has_no_nearest() -> None:
    data, embedding = example()
    assert nearest(data, embedding, 7) == {}
