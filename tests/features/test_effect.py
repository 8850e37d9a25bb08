"""How far a map agrees with a column: 1 where neighbours are equal, 0 by chance."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hetviz
from hetviz.features import effect


def test_neighbours_that_are_equal_and_neighbours_by_chance():
    rng = np.random.default_rng(0)
    group = np.repeat([0.0, 1.0], 100)
    Y = rng.normal(size=(200, 2)) + 50 * group[:, None]
    assert effect.neighbor_agreement(group[:, None], Y) == pytest.approx(1.0)
    assert effect.neighbor_agreement(rng.normal(size=(200, 3)), Y) == pytest.approx(0.0, abs=0.1)
    assert effect.neighbor_agreement(sp.csr_array(group[:, None]), Y) == pytest.approx(1.0)


def test_by_hand_on_four_points():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [10.0, 0.0]])
    x = np.array([[0.0], [1.0], [0.0], [1.0]])
    # each neighbour is 1 away; all pairs are 2/3 away on average
    assert effect.neighbor_agreement(x, Y, n_neighbors=1) == pytest.approx(1 - 1 / (2 / 3))


def test_what_cannot_be_told():
    Y = np.zeros((5, 2))
    assert np.isnan(effect.neighbor_agreement(np.ones((5, 1)), Y))
    assert np.isnan(effect.neighbor_agreement(np.ones((5, 1)), np.full((5, 2), np.nan)))
    # all at one place: neighbours are as alike as any
    doubles = effect.neighbor_agreement(np.arange(20.0)[:, None], np.zeros((20, 2)), 19)
    assert doubles == pytest.approx(0.0)


def test_many_rows_are_sampled_and_items_without_a_place_left_out(monkeypatch):
    monkeypatch.setattr(effect, "MOST_ROWS", 300)
    monkeypatch.setattr(effect, "MOST_QUERIES", 100)
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    Y = np.column_stack([x, np.zeros(1000)])
    Y[:10] = np.nan
    assert effect.neighbor_agreement(x[:, None], Y) > 0.9


def test_each_column_has_its_own():
    x = np.arange(40.0)
    table = pd.DataFrame({"x": x, "other": np.random.default_rng(0).normal(size=40)})
    found = hetviz.make_features(hetviz.Dataset("d", [str(k) for k in range(40)], table=table))
    told = effect.column_effects(found, np.column_stack([x, x]))
    assert told["x"] > 0.9 > 0.3 > told["other"]
    assert effect.column_effects(found) == {}
    less = hetviz.make_features(found, {"x": {"use": False}})
    assert effect.column_effects(less, np.column_stack([x, x]))["x"] == pytest.approx(told["x"])
