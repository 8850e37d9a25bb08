from __future__ import annotations

import pytest

from hetviz.data import Comparisons, Dataset, HeteroData, Links
from hetviz.data.queries.part import part_of
from hetviz.errors import DataError


def example() -> HeteroData:
    parts = [Dataset("a", ["x", "y"]), Dataset("b", ["u"]), Dataset("c", ["p", "q"])]
    links = [Links("a", "b", [0], [0]), Links("a", "c", [0, 1], [0, 1])]
    return HeteroData(parts, links, Comparisons([[1, 4, 3], [0, 1, 2]]))


def test_rows_keep_what_joins_them_and_empty_datasets_go() -> None:
    part = part_of(example(), [4, 1, 3])
    assert {name: list(dataset.ids) for name, dataset in part.datasets.items()} == {
        "a": ["y"],
        "c": ["p", "q"],
    }
    (links,) = part.links
    assert (links.target, links.i.tolist(), links.j.tolist()) == ("c", [0], [1])
    assert part.comparisons is not None
    assert part.comparisons.objects.tolist() == [[0, 2, 1]]


def test_no_rows_are_refused() -> None:
    with pytest.raises(DataError, match="no items were chosen"):
        part_of(example(), [])
