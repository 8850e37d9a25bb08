"""Tests of the chart of the values of a column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, Filter, HeteroData
from hetviz.features.item_columns import item_columns
from hetviz.ui.map import value_chart
from hetviz.ui.widgets import charts


def data_of(**columns: object) -> HeteroData:
    table = pd.DataFrame(columns)
    return HeteroData([Dataset("shops", [str(k) for k in range(len(table))], table=table)])


def test_bins_of_whole_numbers_hold_as_many_numbers_each() -> None:
    data = data_of(rank=np.arange(50))
    bins = value_chart.bins_of(data, "shops", item_columns(data, "shops")["rank"])
    assert bins is not None
    assert bins.counts.tolist() == [3] * 16 + [2]
    assert (bins.low, bins.high) == (0, 49)


def test_few_values_have_no_histogram() -> None:
    data = data_of(stars=np.arange(50) % 5)
    column = item_columns(data, "shops")["stars"]
    assert value_chart.bins_of(data, "shops", column) is None


def test_values_after_the_twelfth_are_pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {}
    monkeypatch.setattr(
        charts, "show_bars", lambda rows, marked: shown.update(rows=rows, marked=marked)
    )
    monkeypatch.setattr(value_chart.theme, "show_note", lambda text: shown.update(note=text))
    letters = [letter for k, letter in enumerate("abcdefghijklmn") for _ in range(20 - k)]
    data = data_of(letter=[*letters, None])
    column = item_columns(data, "shops")["letter"]
    value_chart.show_values(data, "shops", column, [Filter("shops", "letter", values=("b", "n"))])
    assert len(shown["rows"]) == 13
    assert shown["rows"][-1] == ("other", 15.0, "15", "2 values")
    assert [row[3] for row, flag in zip(shown["rows"], shown["marked"], strict=True) if flag] == [
        "b",
        "2 values",
    ]
    assert shown["note"] == "190 items, 1 without a value"
