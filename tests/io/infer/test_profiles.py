"""Profiles of the columns of a dataset."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hetviz.data import Dataset
from hetviz.io.infer.profiles import MAX_SAMPLE_ROWS, profiles_of


def plants(**columns: object) -> Dataset:
    table = pd.DataFrame(columns)
    return Dataset("plants", [f"p{k}" for k in range(len(table))], table=table)


def test_dataset_profiles_count_values_and_missing() -> None:
    data = plants(
        height=[1.5, 2.0, None, 9.5],
        leaves=[3, 4, 4, 5],
        kind=["oak", "ash", "oak", None],
        same=["x", "x", "x", "x"],
        none=[None, None, None, None],
    )
    names = ["height", "leaves", "kind", "same", "none"]
    height, leaves, kind, same, none = profiles_of(data, names, n_bins=4)
    assert (height.type, height.n_rows, height.n_missing, height.n_distinct) == ("number", 4, 1, 3)
    assert (height.bins[0], height.bins[-1], height.counts) == (1.5, 9.5, (2, 0, 0, 1))
    assert (leaves.type, leaves.n_missing, sum(leaves.counts)) == ("whole number", 0, 4)
    assert (kind.values, kind.counts, kind.n_missing) == (("oak", "ash"), (2, 1), 1)
    assert (same.type, same.n_distinct, same.counts) == ("constant", 1, (4,))
    assert (none.type, none.n_missing, none.n_distinct) == ("empty", 4, 0)


def test_dataset_profiles_sample_large_tables() -> None:
    n = 2 * MAX_SAMPLE_ROWS + 10
    data = plants(count=np.arange(n))
    (count,) = profiles_of(data, ["count"])
    assert count.n_rows == sum(count.counts) == -(-n // 3)
    assert (count.bins[0], count.bins[-1]) == (0.0, n - 1 - (n - 1) % 3)
    # Each twelfth of the numbers has about as many of them.
    assert max(count.counts) - min(count.counts) <= 1


def test_dataset_profiles_without_table() -> None:
    assert profiles_of(Dataset("things", ["a", "b"]), []) == []
