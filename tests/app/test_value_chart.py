"""Tests of the chart of the values of a column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, Filter, HeteroData
from hetviz.features.item_columns import item_columns
from hetviz.ui.map import value_chart
from hetviz.ui.widgets import charts


def data_of(units: dict[str, str] | None = None, **columns: object) -> HeteroData:
    table = pd.DataFrame(columns)
    ids = [str(k) for k in range(len(table))]
    return HeteroData([Dataset("shops", ids, table=table, recipe={"units": units or {}})])


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


def test_few_numbers_are_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {}
    monkeypatch.setattr(charts, "show_bars", lambda rows, marked: shown.update(rows=rows))
    monkeypatch.setattr(value_chart.theme, "show_note", lambda text: None)
    data = data_of(stars=[10, 9, 9, 2, 2, 2])
    column = item_columns(data, "shops")["stars"]
    value_chart.show_values(data, "shops", column, [])
    assert [row[:3] for row in shown["rows"]] == [("2", 3, "3"), ("9", 2, "2"), ("10", 1, "1")]


def test_histogram_shows_the_unit_and_marks_what_all_filters_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = {}
    monkeypatch.setattr(
        charts,
        "show_histogram",
        lambda counts, marked, ends: shown.update(counts=counts, marked=marked, ends=ends),
    )
    monkeypatch.setattr(value_chart.theme, "show_note", lambda text: None)
    data = data_of({"area": "m²"}, area=np.linspace(0.0, 48.0, 97))
    column = item_columns(data, "shops")["area"]
    filters = [
        Filter("shops", "area", "range", low=12.0, high=36.0),
        Filter("shops", "area", "range", low=6.0, high=24.0),
    ]
    value_chart.show_values(data, "shops", column, filters)
    assert sum(shown["counts"]) == 97
    assert shown["marked"] == (0.25, 0.5)
    assert shown["ends"] == ("0 m²", "48 m²")


def test_few_values_with_an_order_are_in_it() -> None:
    decades = ["1990s", "1980s", "1990s", "2000s"]
    data = data_of(decade=decades, town=["Wels", "Graz", "Graz", "Linz"])
    columns = item_columns(data, "shops")
    counts = value_chart.counts_of(data, "shops", columns["decade"])
    assert counts is not None
    assert counts.to_dict() == {"1980s": 1, "1990s": 2, "2000s": 1}
    assert list(counts.index) == ["1980s", "1990s", "2000s"]
    towns = value_chart.counts_of(data, "shops", columns["town"])
    assert towns is not None
    assert towns.index[0] == "Graz"
