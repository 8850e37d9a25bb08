"""Tests of the values of items as text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, HeteroData
from hetviz.features.columns.types import Column, infer
from hetviz.ui.item.item_text import cell_text, facts_of


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("2019-03-23 20:50:49", "2019-03-23 20:50:49"),
        ("2019-03-23", "2019-03-23"),
        ("1969-12-31 23:59:59", "1969-12-31 23:59:59"),
    ],
)
def test_date_is_shown_with_its_time(moment: str, text: str) -> None:
    days = (pd.Timestamp(moment) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    column = Column("pickup", "date", np.array([days, np.nan]), n_missing=1)
    assert [cell_text(column, row) for row in (0, 1)] == [text, ""]


@pytest.mark.parametrize(("name", "text"), [("ID", "2019221"), ("members", "2,019,221")])
def test_numbers_that_only_label_have_no_separators(name: str, text: str) -> None:
    assert cell_text(infer(name, [2019221, 14401754]), 0) == text


def test_what_an_item_lacks_comes_last() -> None:
    table = pd.DataFrame({"barn": [0, 1], "boat": [1, 0], "snow": [0, 1], "year": [1983, 1984]})
    table.insert(0, "ice", 0)
    data = HeteroData([Dataset("films", ["a", "b"], table=table)])
    facts_of(data, "films", 0)
    assert list(facts_of(data, "films", 1)) == ["barn", "snow", "year", "ice", "boat"]
