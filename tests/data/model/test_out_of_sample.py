from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Dataset, HeteroData, Links
from hetviz.data.model.out_of_sample import new_rows
from hetviz.errors import DataError

FITTED = {
    "a": Dataset("a", ["a0", "a1", "a2"], kernel=np.eye(3)),
    "tags": Dataset("tags", ["red", "blue"]),
}


def test_new_rows_links_in_both_directions() -> None:
    a = Dataset("a", ["a1", "new", "a2"], kernel=np.arange(9.0).reshape(3, 3))
    tags = Dataset("tags", ["blue", "green"])
    links = [
        Links("a", "tags", [1, 0, 1], [0, 1, 1], [0.5, 0.25, 1.0]),
        Links("tags", "a", [1], [2], [-1.0]),
    ]
    messages = [("a", "a0", "tags", "green"), ("tags", "red", "a", "new", -0.75)]
    result = new_rows(FITTED, HeteroData([a, tags], links), messages)
    seen = {
        name: sorted(
            (str(rows.dataset.ids[row]), str(to), str(FITTED[to].ids[to_row]), float(weight))
            for row, to, to_row, weight in zip(
                rows.row, rows.to, rows.to_row, rows.weight, strict=True
            )
        )
        for name, rows in result.items()
    }
    # the pair new - green joins two new rows, and so leads nowhere
    assert seen == {
        "a": [("new", "tags", "blue", 0.5), ("new", "tags", "red", -0.75)],
        "tags": [
            ("green", "a", "a0", 1.0),
            ("green", "a", "a1", 0.25),
            ("green", "a", "a2", -1.0),
        ],
    }


def test_new_rows_square_kernel_keeps_fitted_columns() -> None:
    a = Dataset("a", ["a1", "new", "a2"], kernel=np.arange(9.0).reshape(3, 3))
    rows = new_rows(FITTED, HeteroData([a]))["a"]
    assert rows.dataset.ids.tolist() == ["new"]
    np.testing.assert_array_equal(rows.dataset.kernel, [[3.0, 4.0, 5.0]])


def test_new_rows_lists_all_invalid_links() -> None:
    new = HeteroData([Dataset("tags", ["green"])])
    messages = [
        ("tags", "green", "a", "a9"),
        ("tags", "green", "b", "a0"),
        ("tags", "grene", "a", "a0"),
        ("tags", "green", "a"),
        ("tags", "green", "a", "a0", "much"),
        ("tags", "green", "a", 7),
        ("tags", "green", "a", "a0", 3.0),
        ("tags", "green", "a", "a0", float("nan")),
        ("tags", "green", "a", "a0", 1.0),
    ]
    with pytest.raises(DataError) as caught:
        new_rows(FITTED, new, messages)  # type: ignore[arg-type]
    assert [(problem.code, problem.row) for problem in caught.value.problems] == [
        ("unknown-id", 0),
        ("unknown-id", 1),
        ("unknown-id", 2),
        ("bad-link", 3),
        ("bad-link", 4),
        ("bad-link", 5),
        ("weight-range", 6),
        ("weight-range", 7),
    ]


def test_new_rows_lists_all_mismatched_datasets() -> None:
    new = HeteroData([Dataset("b", ["x"]), Dataset("a", ["new"], kernel=np.ones((1, 1)))])
    with pytest.raises(DataError) as caught:
        new_rows(FITTED, new)
    assert [problem.code for problem in caught.value.problems] == ["unknown-dataset", "bad-shape"]
