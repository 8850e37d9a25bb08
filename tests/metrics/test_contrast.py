from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import fisher_exact, mannwhitneyu

from hetviz.features.columns.types import infer
from hetviz.features.item_columns import group_values
from hetviz.metrics.contrast import (
    correct_p_values,
    find_differences,
    find_frequent_things,
    find_shifted_numbers,
)

CHOSEN = np.arange(200) < 40


def test_find_differences_reports_frequent_values() -> None:
    kind = ["cake"] * 30 + ["tree"] * 10 + ["cake"] * 16 + ["tree"] * 144
    (difference,) = find_differences({"kind": infer("kind", kind)}, CHOSEN)
    assert (difference.column, difference.value, difference.inside, difference.outside) == (
        "kind",
        "cake",
        0.75,
        0.1,
    )
    pooled = 46 / 200
    assert difference.z == pytest.approx(0.65 / np.sqrt(pooled * (1 - pooled) * (1 / 40 + 1 / 160)))


def test_find_differences_compares_numbers_by_ranks() -> None:
    rng = np.random.default_rng(1)
    size = np.round(np.where(CHOSEN, 3.0, 0.0) + rng.normal(size=200), 1)
    size[[3, 150]] = np.nan
    (difference,) = find_differences({"size": infer("size", size)}, CHOSEN)
    assert difference.value is None
    assert difference.inside == np.nanmedian(size[:40])
    assert difference.outside == np.nanmedian(size[40:])
    is_known = ~np.isnan(size)
    test = mannwhitneyu(
        size[is_known & CHOSEN], size[is_known & ~CHOSEN], method="asymptotic", use_continuity=False
    )
    from scipy.stats import norm

    assert difference.z == pytest.approx(norm.isf(test.pvalue / 2), rel=1e-9)


def test_find_differences_ignores_chance_and_small_selections() -> None:
    rng = np.random.default_rng(2)
    columns = {
        "a": infer("a", rng.normal(size=200)),
        "b": infer("b", rng.choice(["x", "y"], size=200)),
    }
    assert find_differences(columns, CHOSEN) == []
    two_rows = np.arange(200) < 2
    assert find_differences({"c": infer("c", ["x"] * 2 + ["y"] * 198)}, two_rows) == []
    assert find_differences({"c": infer("c", ["x"] * 2 + ["y"] * 198)}, np.ones(200, bool)) == []


def test_few_whole_numbers_are_categories() -> None:
    groups = group_values(infer("digit", pd.Series([3, 1, None, 3])))
    assert groups is not None
    assert groups.tolist() == ["3", "1", None, "3"]
    assert group_values(infer("n", range(40))) is None
    assert group_values(infer("x", [0.5, 1.5, 0.5])) is None


def test_find_frequent_things_equals_fisher_test() -> None:
    has = np.array([1, 1, 1, 0, 0, 0, 0, 1, 0, 0])
    M = sp.csr_array(np.c_[has, 1 - has].astype(float))
    code = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1, -1])
    table = find_frequent_things(M, code, 2)
    row = table[(table.group == 0) & (table.thing == 0)].iloc[0]
    assert (row.inside, row.outside) == (0.75, pytest.approx(1 / 6))
    assert row.p == pytest.approx(fisher_exact([[3, 1], [1, 5]], alternative="greater").pvalue)
    h = 2 * np.arcsin(np.sqrt(0.75)) - 2 * np.arcsin(np.sqrt(1 / 6))
    assert row.effect == pytest.approx(h)
    # In the other group only one of four rows has the thing.
    assert not ((table.group == 1) & (table.thing == 0)).any()
    assert table.attrs["tests"] == 4


def test_rows_without_things_are_ignored() -> None:
    M = sp.csr_array(np.array([[1.0], [1.0], [0.0], [0.0]]))
    table = find_frequent_things(M, np.array([0, 0, 1, 1]), 2)
    assert table.empty


def test_find_shifted_numbers_equals_rank_sum_test() -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=60), 1)
    code = np.repeat([0, 1, -1], 20)
    x[code == 0] += 1.5
    x[3] = np.nan
    table = find_shifted_numbers(x[:, None], code, 2)
    row = table[table.group == 0].iloc[0]
    inside, outside = x[code == 0], x[code != 0]
    inside = inside[~np.isnan(inside)]
    U = mannwhitneyu(inside, outside, use_continuity=False, method="asymptotic")
    assert row.p == pytest.approx(U.pvalue)
    assert row.effect == pytest.approx(2 * U.statistic / (len(inside) * len(outside)) - 1)
    assert row.inside == np.median(inside)
    assert table.attrs["tests"] == 2


def test_constant_and_empty_columns_have_no_result() -> None:
    assert find_shifted_numbers(np.ones((6, 1)), np.array([0, 0, 0, 1, 1, 1]), 2).empty
    assert find_shifted_numbers(np.zeros((6, 0)), np.zeros(6, dtype=np.int64), 1).empty


def test_correct_p_values_by_hand() -> None:
    assert correct_p_values(np.array([0.04, 0.01, 0.03])).tolist() == pytest.approx(
        [0.04, 0.03, 0.04]
    )
    assert correct_p_values(np.array([0.01]), 10).tolist() == pytest.approx([0.1])
    assert correct_p_values(np.empty(0)).tolist() == []


def test_find_differences_compares_with_chosen_rows_only() -> None:
    kind = ["cake"] * 30 + ["tree"] * 10 + ["cake"] * 16 + ["tree"] * 144
    columns = {"kind": infer("kind", kind)}
    among = np.zeros(200, dtype=bool)
    among[50:90] = True
    (difference,) = find_differences(columns, CHOSEN, among=among)
    assert (difference.value, difference.inside, difference.outside) == ("cake", 0.75, 6 / 40)
    # With nothing but the chosen rows there is nothing to compare.
    assert find_differences(columns, CHOSEN, among=CHOSEN) == []
