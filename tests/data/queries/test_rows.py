from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Comparisons, Dataset, HeteroData, Links
from hetviz.data.joins import matching as m
from hetviz.data.joins.matching import match_by_key
from hetviz.data.queries.rows import linked_counts, links_touching, select_rows
from hetviz.errors import DataError


def example() -> HeteroData:
    a, b = Dataset("a", ["x", "y", "z"]), Dataset("b", ["u", "v"])
    links = [Links("a", "b", [0, 1, 1], [0, 0, 1], [1, -0.5, 1]), Links("a", "a", [0], [2])]
    return HeteroData([a, b], links)


def test_links_touching_orients_links() -> None:
    result = links_touching(example(), [3])
    assert result.inner.tolist() == [3, 3]
    assert result.outer.tolist() == [0, 1]
    assert result.weight.tolist() == [1.0, -0.5]
    assert result.leads_to().tolist() == [0]
    both = links_touching(example(), [0, 2])
    assert both.inside.tolist() == [False, True]
    assert both.group.tolist() == [0, 1]
    assert both.leads_to().tolist() == [3]
    assert len(links_touching(example(), [])) == 0


def test_linked_counts_follow_chains_of_links() -> None:
    sizes = {"customers": 3, "orders": 4, "products": 2, "kinds": 2, "alone": 1}
    datasets = [Dataset(name, [f"{name}{k}" for k in range(n)]) for name, n in sizes.items()]
    links = [
        Links("orders", "customers", [0, 1, 2, 3], [0, 0, 1, 2]),
        Links("orders", "products", [0, 0, 1, 2, 3], [0, 1, 1, 1, 0], [1, 0.5, 1, 1, -1]),
        Links("products", "kinds", [0, 1], [1, 0]),
        Links("customers", "kinds", [0], [1], kind="said"),
    ]
    data = HeteroData(datasets, links)
    found = linked_counts(data, "customers", np.array([True, False, True]), ["said"])
    assert [(each.path[1:], each.counts.tolist(), each.others.tolist()) for each in found] == [
        (("orders",), [1, 1, 0, 1], [0, 0, 1, 0]),
        (("orders", "products"), [1, 2], [0, 1]),
        (("orders", "products", "kinds"), [2, 1], [1, 0]),
    ]


def with_keys(left: list[object], right: list[object]) -> HeteroData:
    a = Dataset("a", [f"a{k}" for k in range(len(left))], table=pd.DataFrame({"k": left}))
    b = Dataset("b", [f"b{k}" for k in range(len(right))], table=pd.DataFrame({"key": right}))
    return HeteroData([a, b])


def test_match_by_key_lists_unmatched_rows() -> None:
    data = with_keys(["p", " q ", None, "q", "s"], ["q", "p", "p", "t"])
    result = match_by_key(data, "a", "k", "b", "key")
    assert list(zip(result.i, result.j, strict=True)) == [(0, 1), (0, 2), (1, 0), (3, 0)]
    assert result.unmatched_source.tolist() == [2, 4]
    assert result.unmatched_target.tolist() == [3]
    links = result.links("same k")
    assert (links.kind, links.weight.tolist()) == ("same k", [1.0] * 4)


def test_match_by_key_normalises_whole_numbers() -> None:
    a = Dataset("a", ["007", "8"])
    b = Dataset("b", ["p", "q"], table=pd.DataFrame({"n": [7.0, 8.0]}))
    result = match_by_key(HeteroData([a, b]), "a", "", "b", "n")
    assert list(zip(result.i, result.j, strict=True)) == [(1, 1)]


def test_match_by_key_without_matches() -> None:
    result = match_by_key(with_keys(["p"], ["q"]), "a", "k", "b", "key")
    assert len(result.links("k")) == 0
    assert result.unmatched_source.tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("a", "k", "a", "k"), "one-dataset"),
        (("a", "no", "b", "key"), "unknown-column"),
        (("a", "", "c", ""), "unknown-dataset"),
    ],
)
def test_match_by_key_refuses_invalid_input(arguments: tuple[str, ...], code: str) -> None:
    with pytest.raises(DataError) as caught:
        match_by_key(with_keys(["p"], ["p"]), *arguments)
    assert [problem.code for problem in caught.value.problems] == [code]


def test_match_by_key_refuses_too_many_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(m, "MAX_PAIRS", 11)
    data = with_keys(["p"] * 3, ["p"] * 4)
    with pytest.raises(DataError, match="12 pairs"):
        match_by_key(data, "a", "k", "b", "key")
    assert np.unique(match_by_key(with_keys(["p"] * 2, ["p"] * 5), "a", "k", "b", "key").i).size


def small() -> HeteroData:
    parts = [Dataset("a", ["x", "y"]), Dataset("b", ["u"]), Dataset("c", ["p", "q"])]
    links = [Links("a", "b", [0], [0]), Links("a", "c", [0, 1], [0, 1])]
    return HeteroData(parts, links, Comparisons([[1, 4, 3], [0, 1, 2]]))


def test_select_rows_keeps_links_and_drops_empty_datasets() -> None:
    part = select_rows(small(), [4, 1, 3])
    assert {name: list(dataset.ids) for name, dataset in part.datasets.items()} == {
        "a": ["y"],
        "c": ["p", "q"],
    }
    (links,) = part.links
    assert (links.target, links.i.tolist(), links.j.tolist()) == ("c", [0], [1])
    assert part.comparisons is not None
    assert part.comparisons.objects.tolist() == [[0, 2, 1]]


def test_select_rows_refuses_empty_selection() -> None:
    with pytest.raises(DataError, match="no items are selected"):
        select_rows(small(), [])
