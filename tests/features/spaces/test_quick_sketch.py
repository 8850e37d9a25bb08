"""What there is to look at before a map is made."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Dataset, HeteroData, Links
from hetviz.features.spaces.joint_axes import is_sketch_quick, quick_sketch


def test_quick_sketch_averages_linked_items() -> None:
    X = np.random.default_rng(0).normal(size=(40, 5))
    items = Dataset("items", [f"i{k}" for k in range(40)], X)
    words = Dataset("words", ["v", "w", "x"])
    other = Dataset("other", ["o1", "o2", "o3"], np.eye(3))
    links = Links("words", "items", [0, 0, 1], [3, 7, 5], [1.0, 1.0, 0.5])
    data = HeteroData([items, words, other], [links])
    Y = quick_sketch(data)
    assert Y.shape == (46, 2)
    assert np.isclose((Y[:40] ** 2).sum(axis=1).mean(), 1.0)
    assert np.allclose(Y[40], (Y[3] + Y[7]) / 2)
    assert np.allclose(Y[41], Y[5])
    # Nothing leads to the third word; the other dataset has features of its own.
    assert np.isnan(Y[42]).all()
    assert np.isfinite(Y[43:]).all()
    assert np.isnan(quick_sketch(HeteroData([words]))).all()


def test_is_sketch_quick() -> None:
    def of(n: int, p: int) -> HeteroData:
        return HeteroData([Dataset("items", [f"i{k}" for k in range(n)], np.eye(n, p))])

    assert is_sketch_quick(of(3_000, 12))
    # The same numbers, but as few wide rows: a matrix of their products is made first.
    assert not is_sketch_quick(of(2_000, 590))
    assert not is_sketch_quick(HeteroData([Dataset("words", ["v", "w"])]))


def test_quick_sketch_places_components_side_by_side() -> None:
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(90, 4))
    # One far off, which made a point of all others.
    wide[0] += 500.0
    sets = [
        Dataset("a", [f"a{k}" for k in range(90)], wide),
        Dataset("b", [f"b{k}" for k in range(9)], rng.normal(size=(9, 3))),
        Dataset("c", list("xyz")),
    ]
    Y = quick_sketch(HeteroData(sets, [Links("b", "c", [0, 1, 2], [0, 0, 1])]))
    a, b, c = Y[:90], Y[90:99], Y[99:]
    # What is linked stays with it: the first of c with the first two of b.
    assert np.allclose(c[0], (b[0] + b[1]) / 2)
    assert np.allclose(c[1], b[2])
    assert a[:, 0].max() < b[:, 0].min()
    for first in (a, b):
        assert np.ptp(first, axis=0).max() == pytest.approx(np.ptp(a, axis=0).max())
    assert np.isnan(c[2]).all()
