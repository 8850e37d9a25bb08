"""Errors of means whose values share items, and of paired splits."""

import numpy as np
import pytest

from hetviz.core.measures.resolution import (
    error_of_mean,
    least_significant_difference,
    significant_difference,
)


def test_error_of_mean_of_independent_values():
    x = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    assert error_of_mean(x) == pytest.approx(x.std(ddof=1) / np.sqrt(5))
    assert error_of_mean(x, np.arange(5), np.arange(5)) == pytest.approx(error_of_mean(x))
    assert np.isnan(error_of_mean(np.array([1.0, np.nan])))


def test_error_of_mean_of_links_of_one_item():
    # Ten items with ten links each, all links of an item alike: ten values, not a hundred.
    each = np.random.default_rng(0).normal(size=10)
    values, items = np.repeat(each, 10), np.repeat(np.arange(10), 10)
    others = np.arange(100)
    expected = np.sqrt(((each - each.mean()) ** 2).sum()) / 10
    assert error_of_mean(values, items, others) == pytest.approx(expected)
    assert error_of_mean(values) < 0.5 * expected


def test_error_of_mean_uses_both_ends():
    # A sum of an effect of each row and of each column: V_i + V_j.
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=30), rng.normal(size=40)
    i, j = np.repeat(np.arange(30), 40), np.tile(np.arange(40), 30)
    expected = np.sqrt(a.var() / 30 + b.var() / 40)
    assert error_of_mean(a[i] + b[j], i, j) == pytest.approx(expected, rel=0.02)


def test_significant_difference():
    assert significant_difference(0.01) == pytest.approx(1.959964 * np.sqrt(2) * 0.01)


def test_least_significant_difference_of_paired_splits():
    # Two candidates: Student's t of the paired difference.
    a, b = np.array([0.50, 0.60, 0.55, 0.52]), np.array([0.40, 0.52, 0.44, 0.45])
    error = (a - b).std(ddof=1) / 2
    assert least_significant_difference([a, b]) == pytest.approx(3.182446 * error, rel=1e-6)
    # What splits have in common is no doubt about a difference.
    assert least_significant_difference([a, a + 0.1]) == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(least_significant_difference([a]))
    assert np.isnan(least_significant_difference([[0.1], [0.2]]))
