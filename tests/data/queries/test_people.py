"""Tests of datasets whose titles are names of people."""

from __future__ import annotations

import pandas as pd
import pytest

from hetviz.data import Dataset
from hetviz.data.queries.people import names_people

PEOPLE = ["Anna Berg", "Otto Vuori", "Maria-Luisa O'Neill", "Li Wei", "J. R. Smith"]


@pytest.mark.parametrize(
    ("name", "column", "titles", "expected"),
    [
        ("customers", "size", PEOPLE, True),
        ("tblPersons", "size", PEOPLE, True),
        ("rows", "First name", PEOPLE, True),
        ("rows", "gender", PEOPLE, True),
        ("rows", "size", PEOPLE, False),
        # Animals have a sex too.
        ("horses", "sex", PEOPLE, False),
        ("customers", "size", ["C-0001", "C-0002", "C-0003", "C-0004", "C-0005"], False),
        ("keywords", "size", ["smile", "hand", "food", "drink", "sun"], False),
    ],
)
def test_names_people(name: str, column: str, titles: list[str], expected: bool) -> None:
    table = pd.DataFrame({"title": titles, column: range(5)})
    dataset = Dataset(name, [str(k) for k in range(5)], table=table)
    assert names_people(dataset) is expected
