"""Which label is learned when it is named, named by its dataset, or left to choose."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, HeteroData, Labels
from hetviz.errors import DataError, NotApplicableError, ParameterError
from hetviz.features.relations.labelled import chosen_problem

IDS = [f"i{k}" for k in range(8)]
X = np.random.default_rng(0).normal(size=(8, 2))
SAME, HALVES = ["one"] * 8, ["a", "b"] * 4
DATA = HeteroData(
    [
        Dataset("items", IDS, X, table=pd.DataFrame({"size": np.arange(8.0) + 0.5})),
        Dataset("items:more", IDS, X + 1.0, entity="others"),
    ],
    labels=[Labels("items", "same", SAME), Labels("items:more", "half", HALVES)],
)


def chosen(label: str | None) -> tuple[str, str]:
    column = chosen_problem(DATA, label, key="gbc", title="Consensus").column
    return column.dataset, column.name


def test_the_first_label_that_can_be_learned_counts() -> None:
    assert chosen(None) == ("items:more", "half")
    assert chosen("items:more") == ("items:more", "half")


def test_a_column_is_named_after_the_longest_dataset() -> None:
    assert chosen("items:size") == ("items", "size")
    assert chosen("items:more:half") == ("items:more", "half")


def test_why_no_label_is_learned_is_said() -> None:
    with pytest.raises(NotApplicableError, match="holds one value only"):
        chosen("items")
    with pytest.raises(ParameterError, match="one value only"):
        chosen("items:same")
    with pytest.raises(DataError, match="no such label or column"):
        chosen("items:colour")
    with pytest.raises(ParameterError, match="gbc: label = 'colour'; give dataset:column"):
        chosen("colour")
