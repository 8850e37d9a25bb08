"""Files of new items: which column names them, and which rows can be used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz import Dataset
from hetviz.errors import DataError
from hetviz.io import Choices
from hetviz.io.intake.new_items import NewItems, read_new_items

OWNER = Dataset(
    "plants",
    ["p0", "p1"],
    np.zeros((2, 1)),
    feature_names=["score"],
    table=pd.DataFrame({"name": ["a", "b"], "height": [1.5, 2.5]}),
)


def read(text: str, id_column: str | None = None, **choice: str) -> NewItems:
    choices = {"new.csv": Choices(**choice)} if choice else None
    return read_new_items([("new.csv", text.encode())], OWNER, choices, id_column)


def test_new_items_id_column() -> None:
    text = "height,code,name,id\n1,x,a,i\n2,y,b,j\n"
    assert read(text).table["id"].tolist() == ["i", "j"]
    assert read(text, "code").table["id"].tolist() == ["x", "y"]
    assert read(text, "code", id="name").table["id"].tolist() == ["a", "b"]
    assert read("height,code\n1,x\n2,y\n").table["id"].tolist() == ["x", "y"]
    invented = read("height,name\n1,x\n2,y\n")
    assert invented.table["id"].tolist() == ["new 1", "new 2"]
    assert [problem.code for problem in invented.problems] == ["no-ids"]


def test_new_items_numbers() -> None:
    result = read("id;height;score;note\ni;1,5;2,25;a,b\nj;x;;c\n")
    table = result.table
    assert table["height"].tolist() == [1.5, ""]
    assert [problem.code for problem in result.problems] == ["words-for-missing"]
    assert table["score"].tolist() == [2.25, ""]
    assert table["note"].tolist() == ["a,b", "c"]


def test_new_items_bad_ids_are_left_out() -> None:
    result = read("id,height\ni,1\n,2\ni,3\nj,4\n")
    assert result.table["id"].tolist() == ["i", "j"]
    assert [problem.row for problem in result.problems] == [1, 2]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("id,height\n", "no-rows"),
        ("source_id,target_id\ni,j\n", "not-a-table"),
        ("id,height\n,1\n", "bad-id"),
    ],
)
def test_new_items_refuses_file_without_items(text: str, code: str) -> None:
    with pytest.raises(DataError) as refused:
        read(text)
    assert code in {problem.code for problem in refused.value.problems}


def test_new_items_refuses_unknown_id_column() -> None:
    with pytest.raises(DataError, match="column does not exist"):
        read("id,height\ni,1\n", id="nothing")
