"""Kinds of links that count less, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Dataset, HeteroData, Links
from hetviz.data.model.checks import check_global_rows
from hetviz.data.model.links import kind_key
from hetviz.errors import DataError


def example() -> HeteroData:
    a, b = Dataset("a", ["x", "y", "z"]), Dataset("b", ["u", "v"])
    expected_input = Links("a", "b", [0, 1], [0, 1], [1.0, -0.5], score=[7.0, 2.0])
    near = Links("a", "a", [0, 1, 0], [1, 2, 2], score=[4.0, 0.0, -2.0], kind="near")
    return HeteroData([a, b], [expected_input, near])


def test_kind_key() -> None:
    assert [kind_key(links) for links in example().links] == ["a|b|link", "a|a|near"]


def test_weigh_scales_weights_not_scores() -> None:
    expected_input, near = example().edit().weigh({"a|a|near": 0.5, "a|b|link": 0.25}).links
    assert expected_input.weight.tolist() == [0.25, -0.125]
    assert near.weight.tolist() == [0.5, 0.0, -0.25]
    assert expected_input.score is not None and near.score is not None
    assert expected_input.score.tolist() == [7.0, 2.0]
    assert near.score.tolist() == [4.0, 0.0, -2.0]


def test_weigh_changes_adjacency() -> None:
    data = example()
    W, half = data.adjacency(), data.edit().weigh({"a|a|near": 0.5, "a|b|link": 0.5}).adjacency()
    assert np.allclose(half.toarray(), W.toarray() / 2)


def test_weigh_by_zero_and_by_one() -> None:
    data = example()
    assert [kind_key(links) for links in data.edit().weigh({"a|b|link": 0}).links] == ["a|a|near"]
    same = data.edit().weigh({"a|b|link": 1.0})
    assert same.fingerprint() == data.fingerprint()
    assert data.edit().weigh({}).fingerprint() == data.fingerprint()


def test_weigh_drops_underflowing_links() -> None:
    tiny = HeteroData([Dataset("a", ["x", "y"])], Links("a", "a", [0], [1], [5e-324]))
    assert [len(links) for links in tiny.edit().weigh({"a|a|link": 0.5}).links] == [0]


@pytest.mark.parametrize("factor", [-0.1, 1.01, float("nan"), "1", None, True])
def test_weigh_refuses_factors_out_of_range(factor: object) -> None:
    with pytest.raises(DataError, match=r"a\|b\|link"):
        example().edit().weigh({"a|b|link": factor})  # type: ignore[dict-item]


def test_weigh_lists_all_problems() -> None:
    with pytest.raises(DataError) as caught:
        example().edit().weigh({"a|b|lnk": 0.5, "a|a|near": 2})
    assert [problem.code for problem in caught.value.problems] == ["unknown-links", "bad-factor"]
    assert "Did you mean 'a|b|link'" in str(caught.value)


def test_check_global_rows_sorts_and_validates() -> None:
    assert check_global_rows([3, 0, 3], 5).tolist() == [0, 3]
    assert check_global_rows([], 5).tolist() == []
    for wrong in ([5], [-1], [0.5], [True]):
        with pytest.raises(DataError):
            check_global_rows(wrong, 5)
