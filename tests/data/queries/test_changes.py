"""Share of the data that changed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from hetviz.data import Comparisons, Dataset, HeteroData, Links
from hetviz.data.queries.changes import share_changed

X = np.arange(20.0).reshape(10, 2)


def data(rows: int = 10, values: object = None, links: object = None) -> HeteroData:
    ids = [f"a{k}" for k in range(rows)]
    a = Dataset("a", ids, X=X[:rows] if values is None else values, feature_names=["u", "v"])
    b = Dataset("b", ["x", "y"])
    i, j, weight = ([0, 1], [0, 1], [1.0, 1.0]) if links is None else links  # type: ignore[misc]
    return HeteroData([a, b], [Links("a", "b", i, j, weight)])


def test_equal_data_have_no_change() -> None:
    assert share_changed(data(), data()) == 0.0


@pytest.mark.parametrize(
    ("after", "n_changed", "n_all"),
    [
        # Items that are gone, new, or have other features.
        (data(rows=7), 3, 14),
        (data(values=np.where(np.arange(10)[:, None] < 4, -1.0, X)), 4, 14),
        (data(values=sp.csr_array(X)), 0, 14),
        # Links that are new, gone, or have another weight.
        (data(links=([0, 1, 2], [0, 1, 1], [1.0] * 3)), 1, 15),
        (data(links=([0, 1], [0, 1], [1.0, 0.5])), 1, 14),
        (data(links=([0, 2], [0, 1], [1.0, 1.0])), 1, 14),
        # A dataset or comparison more.
        (data().edit().add(Dataset("c", ["p", "q"])), 2, 16),
        (data().edit().add(Comparisons([[0, 1, 2]])), 1, 15),
        (data().edit().drop("b"), 4, 14),
    ],
)
def test_share_changed(after: HeteroData, n_changed: int, n_all: int) -> None:
    assert share_changed(data(), after) == pytest.approx(n_changed / n_all)
    assert share_changed(after, data()) == pytest.approx(n_changed / n_all)


def test_links_of_removed_items_are_gone() -> None:
    before = data(links=([8, 9, 1], [0, 1, 1], [1.0] * 3))
    after = data(rows=8, links=([1], [1], [1.0]))
    assert share_changed(before, after) == pytest.approx((2 + 2) / (12 + 3))


def test_tables_are_compared_by_values_and_feature_columns() -> None:
    def tabled(sizes: list[float], X: object, names: list[str]) -> HeteroData:
        table = pd.DataFrame({"size": sizes, "name": ["p", None, "q", "r"]})
        return HeteroData([Dataset("a", list("abcd"), table=table, X=X, feature_names=names)])

    before = tabled([1, 2, 3, 4], np.ones((4, 2)), ["size", "age"])
    # Scaled features of the other items differ, too.
    assert share_changed(before, tabled([1, 2, 3, 9], np.zeros((4, 2)), ["size", "age"])) == 0.25
    assert share_changed(before, tabled([1, 2, 3, 4], np.ones((4, 1)), ["size"])) == 0.5
