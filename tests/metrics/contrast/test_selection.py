from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu

from hetviz.features.columns.types import infer
from hetviz.features.known import groups_of
from hetviz.metrics.contrast.selection import contrast

CHOSEN = np.arange(200) < 40


def test_a_value_that_the_chosen_have_more_often_is_found() -> None:
    kind = ["cake"] * 30 + ["tree"] * 10 + ["cake"] * 16 + ["tree"] * 144
    (found,) = contrast({"kind": infer("kind", kind)}, CHOSEN)
    assert (found.column, found.value, found.inside, found.outside) == ("kind", "cake", 0.75, 0.1)
    pooled = 46 / 200
    assert found.z == pytest.approx(0.65 / np.sqrt(pooled * (1 - pooled) * (1 / 40 + 1 / 160)))


def test_numbers_are_compared_by_ranks() -> None:
    rng = np.random.default_rng(1)
    size = np.round(np.where(CHOSEN, 3.0, 0.0) + rng.normal(size=200), 1)
    size[[3, 150]] = np.nan
    (found,) = contrast({"size": infer("size", size)}, CHOSEN)
    assert found.value is None
    assert found.inside == np.nanmedian(size[:40])
    assert found.outside == np.nanmedian(size[40:])
    known = ~np.isnan(size)
    test = mannwhitneyu(
        size[known & CHOSEN], size[known & ~CHOSEN], method="asymptotic", use_continuity=False
    )
    from scipy.stats import norm

    assert found.z == pytest.approx(norm.isf(test.pvalue / 2), rel=1e-9)


def test_chance_and_small_selections_say_nothing() -> None:
    rng = np.random.default_rng(2)
    columns = {
        "a": infer("a", rng.normal(size=200)),
        "b": infer("b", rng.choice(["x", "y"], size=200)),
    }
    assert contrast(columns, CHOSEN) == []
    few = np.arange(200) < 2
    assert contrast({"c": infer("c", ["x"] * 2 + ["y"] * 198)}, few) == []
    assert contrast({"c": infer("c", ["x"] * 2 + ["y"] * 198)}, np.ones(200, bool)) == []


def test_few_whole_numbers_are_groups_and_many_are_not() -> None:
    groups = groups_of(infer("digit", pd.Series([3, 1, None, 3])))
    assert groups is not None
    assert groups.tolist() == ["3", "1", None, "3"]
    assert groups_of(infer("n", range(40))) is None
    assert groups_of(infer("x", [0.5, 1.5, 0.5])) is None
