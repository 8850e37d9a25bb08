from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import Dataset, HeteroData, Labels
from hetviz.errors import DataError, ParameterError
from hetviz.features.relations.comparisons import (
    comparison_table,
    comparisons_from_hierarchy,
    comparisons_from_label,
    comparisons_from_rating,
)

PATHS = [
    "animal > mammal > cat",
    "animal>mammal>cat",
    "animal > mammal > dog",
    "animal > bird",
    "plant > tree > oak",
    "plant > tree > oak",
    "plant",
    "",
]


def made() -> HeteroData:
    table = pd.DataFrame(
        {
            "path": PATHS,
            "kind": [path.split(">")[0].strip() for path in PATHS],
            "kin": ["m", "m", "m", "b", "t", "t", None, None],
            "stars": [1.0, 1.2, 2.0, 3.0, 5.0, 5.1, np.nan, 4.0],
            "same": ["x"] * 8,
        }
    )
    first = Dataset("first", ["u", "v"])
    items = Dataset("items", [f"i{k}" for k in range(8)], table=table)
    labels = [Labels("items", "side", [1, 1, 1, 2, 2, 2, 2, None])]
    return HeteroData([first, items], [], None, labels)


def depth(a: int, b: int) -> int:
    """Steps shared by two paths."""
    left, right = ([step.strip() for step in PATHS[k].split(">")] for k in (a, b))
    shared = 0
    for x, y in zip(left, right, strict=False):
        if x != y:
            break
        shared += 1
    return shared


def test_comparisons_from_hierarchy() -> None:
    data = made()
    drawn = comparisons_from_hierarchy(data, "items", "path", n_comparisons=500)
    rows = drawn.objects - 2
    assert len(np.unique(rows, axis=0)) == len(rows)
    for a, b, c in rows.tolist():
        assert a != b
        assert depth(a, b) > depth(a, c)
        assert 7 not in (a, b, c)
    possible = {
        (a, b, c)
        for a in range(7)
        for b in range(7)
        for c in range(7)
        if a != b and depth(a, b) > depth(a, c) == depth(b, c)
    }
    # c leaves at the level next above one that a and b share; nothing else is left out
    assert {tuple(row) for row in rows.tolist()} <= possible
    assert len(rows) > 20
    report = hetviz.guidance_report(data.edit().add(drawn))
    assert report.comparisons is not None
    assert report.comparisons.n_conflicts == 0


def test_comparisons_from_columns_and_label() -> None:
    data = made()
    two = comparisons_from_hierarchy(data, "items", ["kind", "kin"], n_comparisons=500)
    rows = two.objects - 2
    assert {3, 4} & set(rows[:, 0].tolist())
    side = comparisons_from_label(data, "items", "side", n_comparisons=500)
    group = np.array([1, 1, 1, 2, 2, 2, 2, 0])
    near, far = group[side.objects[:, 1] - 2], group[side.objects[:, 2] - 2]
    own_values = group[side.objects[:, 0] - 2]
    assert (near == own_values).all()
    assert (far != own_values).all()
    assert (far > 0).all()
    # every item is the anchor about as often
    thin = comparisons_from_label(data, "items", "side", n_comparisons=60)
    assert min(Counter(thin.objects[:, 0].tolist()).values()) >= 2
    assert len(thin) == 60


def test_comparisons_from_rating_need_clear_differences() -> None:
    data = made()
    drawn = comparisons_from_rating(data, "items", "stars", n_comparisons=200)
    stars = np.array([1.0, 1.2, 2.0, 3.0, 5.0, 5.1, np.nan, 4.0])
    a, b, c = stars[drawn.objects - 2].T
    spread = np.nanstd(stars)
    assert (np.abs(a - c) - np.abs(a - b) >= 0.5 * spread - 1e-12).all()
    assert (drawn.objects[:, 0] != drawn.objects[:, 1]).all()
    more = comparisons_from_rating(data, "items", "stars", clear=0.0, n_comparisons=200)
    assert len(more) > len(drawn)


def test_comparison_table() -> None:
    data = made()
    drawn = comparisons_from_label(data, "items", "side", n_comparisons=3)
    table = comparison_table(data, drawn)
    assert table.columns.tolist() == ["row", "near_a", "near_b", "far_a", "far_b", "weight"]
    assert (table["near_a"] == table["far_a"]).all()
    assert table["near_a"].str.startswith("items: i").all()
    assert data.comparisons is None
    again = comparisons_from_label(data, "items", "side", n_comparisons=3)
    np.testing.assert_array_equal(drawn.objects, again.objects)


def test_comparisons_refuse_uninformative_columns() -> None:
    data = made()
    with pytest.raises(DataError, match="path, kind, kin"):
        comparisons_from_label(data, "items", "colour")
    with pytest.raises(DataError, match="no two items share"):
        comparisons_from_label(data, "items", "same")
    with pytest.raises(DataError, match="numbers are needed"):
        comparisons_from_rating(data, "items", "kind")
    with pytest.raises(DataError, match="do not differ clearly"):
        comparisons_from_rating(data, "items", "stars", clear=50.0)
    with pytest.raises(ParameterError, match="n_comparisons = 0"):
        comparisons_from_label(data, "items", "side", n_comparisons=0)
    with pytest.raises(ParameterError, match="clear = -1"):
        comparisons_from_rating(data, "items", "stars", clear=-1)
    with pytest.raises(ParameterError, match="at least one column"):
        comparisons_from_hierarchy(data, "items", [])


def test_map_satisfies_comparisons_of_digits() -> None:
    whole = hetviz.load("digit-views")
    data = whole.edit().subset({name: one.ids[:500] for name, one in whole.datasets.items()})
    drawn = hetviz.comparisons_from_label(data, "pixels", "digit", n_comparisons=600)
    train, held_out = data.edit().add(drawn).holdout(links=0, comparisons=0.3)
    model = hetviz.get_method("mkpoe")().fit(train)
    scores = hetviz.evaluate(train, model.embedding_, held_out).to_dict()
    assert scores["comparison_accuracy_held_out"] > 0.8
