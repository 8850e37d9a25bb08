"""What sets groups apart: against tests of scipy, and the correction by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import fisher_exact, mannwhitneyu

from hetviz.metrics.contrast.groups import corrected, higher_or_lower, more_often


def test_shares_effect_and_p_are_those_of_fisher() -> None:
    has = np.array([1, 1, 1, 0, 0, 0, 0, 1, 0, 0])
    M = sp.csr_array(np.c_[has, 1 - has].astype(float))
    code = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1, -1])
    found = more_often(M, code, 2)
    row = found[(found.group == 0) & (found.thing == 0)].iloc[0]
    assert (row.inside, row.outside) == (0.75, pytest.approx(1 / 6))
    assert row.p == pytest.approx(fisher_exact([[3, 1], [1, 5]], alternative="greater").pvalue)
    h = 2 * np.arcsin(np.sqrt(0.75)) - 2 * np.arcsin(np.sqrt(1 / 6))
    assert row.effect == pytest.approx(h)
    # One of four has the thing in the other group: less than two.
    assert not ((found.group == 1) & (found.thing == 0)).any()
    assert found.attrs["tests"] == 4


def test_rows_without_anything_take_no_part() -> None:
    M = sp.csr_array(np.array([[1.0], [1.0], [0.0], [0.0]]))
    found = more_often(M, np.array([0, 0, 1, 1]), 2)
    assert found.empty


def test_numbers_by_the_rank_sum() -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=60), 1)
    code = np.repeat([0, 1, -1], 20)
    x[code == 0] += 1.5
    x[3] = np.nan
    found = higher_or_lower(x[:, None], code, 2)
    row = found[found.group == 0].iloc[0]
    inside, outside = x[code == 0], x[code != 0]
    inside = inside[~np.isnan(inside)]
    U = mannwhitneyu(inside, outside, use_continuity=False, method="asymptotic")
    assert row.p == pytest.approx(U.pvalue)
    assert row.effect == pytest.approx(2 * U.statistic / (len(inside) * len(outside)) - 1)
    assert row.inside == np.median(inside)
    assert found.attrs["tests"] == 2


def test_a_constant_column_and_none_tell_nothing() -> None:
    assert higher_or_lower(np.ones((6, 1)), np.array([0, 0, 0, 1, 1, 1]), 2).empty
    assert higher_or_lower(np.zeros((6, 0)), np.zeros(6, dtype=np.int64), 1).empty


def test_correction_by_hand() -> None:
    assert corrected(np.array([0.04, 0.01, 0.03])).tolist() == pytest.approx([0.04, 0.03, 0.04])
    assert corrected(np.array([0.01]), 10).tolist() == pytest.approx([0.1])
    assert corrected(np.empty(0)).tolist() == []
