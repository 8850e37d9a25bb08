from __future__ import annotations

import pandas as pd
import pytest

from hetviz.data import Dataset, HeteroData
from hetviz.io.bundle.coordinates import escape_formula, rows_csv


def test_rows_csv_escapes_formulas() -> None:
    table = pd.DataFrame({"name": ["=1+1", 'a "b", c', "d"]})
    data = HeteroData([Dataset("x", ["007", "+2", "3"], table=table), Dataset("y", ["u"])])
    assert rows_csv(data, [3, 1, 0]).splitlines() == [
        "dataset,id,title",
        "x,007,'=1+1",
        'x,\'+2,"a ""b"", c"',
        "y,u,u",
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("=1", "+1", "-1", "@x", "−1", "＝1+1", "＋1", "－1", "＠x"),
        *("\t=1", "\r=1", "\n=1+1", "  =1", "\u200b=1", "\ufeff+1", " \n＝1"),
    ],
)
def test_escape_formula_marks_formulas(text: str) -> None:
    assert escape_formula(text) == "'" + text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\x1b]0;owned\x07name", "]0;ownedname"),
        ("a\x1b[2Jb\x9b31mc", "a[2Jb31mc"),
        ("\0=1", "'=1"),
        ("\x1b=1", "'=1"),
        ("two\tand\nthree", "two\tand\nthree"),
    ],
)
def test_escape_formula_drops_escapes_of_terminals(text: str, written: str) -> None:
    assert escape_formula(text) == written


@pytest.mark.parametrize("text", ["", "a=1", "x", " plain", "7", "é", "a\n=1", "(1)"])
def test_escape_formula_keeps_other_text(text: str) -> None:
    assert escape_formula(text) == text
