"""Tests of the table below the map: cells, order and text of its rows, and their routes."""

from __future__ import annotations

from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, HeteroData
from hetviz.ui.map import item_table
from hetviz.workspace import SESSIONS, State
from hetviz.workspace.sessions import new_session_id
from tests.app.asking import ask


def example() -> HeteroData:
    table = pd.DataFrame(
        {
            "name": ["oak", "Ash", "elm", "=fir"],
            "height": [20.5, np.nan, 8.0, -3.0],
            "kind": ["tall-tree", None, "small-tree", "small-tree"],
            "planted": ["2020-01-02", "2019-05-06", "", "2021-01-01"],
        }
    )
    recipe = {"title": "name", "units": {"height": "m"}}
    return HeteroData([Dataset("trees", list("abcd"), table=table, recipe=recipe)])


DATA = example()


def order_of(column: str) -> tuple[list[int], int]:
    found = item_table.sorted_rows(DATA, "trees", column)
    assert found is not None
    return np.frombuffer(found[0].content, dtype="<i4").tolist(), found[1]


@pytest.mark.parametrize(
    ("column", "order", "present"),
    [
        ("", [3, 1, 2, 0], 4),
        ("height", [3, 2, 0, 1], 3),
        ("kind", [2, 3, 0, 1], 3),
        ("planted", [1, 0, 3, 2], 3),
    ],
)
def test_rows_are_sorted_with_missing_values_last(
    column: str, order: list[int], present: int
) -> None:
    assert order_of(column) == (order, present)


def test_cells_have_the_texts_of_the_columns_without_the_title_twice() -> None:
    cells = item_table.table_cells(DATA, "trees", [0, 1])
    assert cells["title"] == "Name"
    assert [column["title"] for column in cells["columns"]] == ["Height (m)", "Kind", "Planted"]
    assert [column["number"] for column in cells["columns"]] == [True, False, False]
    assert cells["rows"] == [
        ["oak", "20.5", "Tall tree", "2020-01-02"],
        ["Ash", "", "", "2019-05-06"],
    ]


def test_text_of_rows_keeps_values_as_they_are_and_is_no_formula() -> None:
    text = item_table.rows_text(DATA, "trees", [3, 1])
    assert text.splitlines() == [
        "id,name,height,kind,planted",
        "d,'=fir,-3.0,small-tree,2021-01-01",
        "b,Ash,,,2019-05-06",
    ]
    tabs = item_table.rows_text(DATA, "trees", [0], tabs=True)
    assert tabs.splitlines()[1].split("\t") == ["a", "oak", "20.5", "tall-tree", "2020-01-02"]
    untitled = HeteroData([Dataset("words", ["x"])])
    assert item_table.rows_text(untitled, "words", [0]).splitlines() == ["id,title", "x,x"]


@pytest.fixture(scope="module")
def sid() -> str:
    sid = new_session_id()
    SESSIONS.get(sid).state = State(data=DATA)
    return sid


def test_table_routes(sid: str) -> None:
    trees = urlencode({"dataset": "trees"})
    assert ask(f"/hv/cells/{sid}?{trees}&rows=2,0").json["rows"][0][0] == "elm"
    order = ask(f"/hv/sorted/{sid}?{trees}&column=height").json
    assert order["present"] == 3
    body = ask(f"/hv/array/{sid}/{order['key']}").body
    assert np.frombuffer(body, dtype="<i4").tolist() == [3, 2, 0, 1]
    rows = np.array([2], dtype="<i4").tobytes()
    answer = ask(f"/hv/rows/{sid}?{trees}", method="POST", body=rows)
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.body.decode().splitlines()[1].startswith("c,elm,8.0")
    tabs = ask(f"/hv/rows/{sid}?{trees}&tabs=1", method="POST", body=rows)
    assert tabs.body.decode().splitlines()[1].startswith("c\telm\t8.0")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("cells/{}?dataset=x&rows=0", 404),
        ("cells/{}?dataset=trees&rows=4", 204),
        ("cells/{}?dataset=trees&rows=-1", 400),
        ("cells/{}?dataset=trees", 400),
        ("sorted/{}?dataset=trees&column=gone", 204),
    ],
)
def test_table_routes_refuse_other_rows_and_columns(sid: str, address: str, status: int) -> None:
    assert ask(f"/hv/{address.format(sid)}").status == status


@pytest.mark.parametrize(("rows", "status"), [([4], 400), ([-1], 400), ([0] * 5, 413), ([], 200)])
def test_text_route_refuses_other_rows(sid: str, rows: list[int], status: int) -> None:
    body = np.array(rows, dtype="<i4").tobytes()
    assert ask(f"/hv/rows/{sid}?dataset=trees", method="POST", body=body).status == status
    assert ask(f"/hv/rows/{sid}?dataset=trees", method="POST", body=b"abc").status == 400
