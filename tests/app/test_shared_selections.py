"""Selections that people show to each other: bounded, of members, and gone after a while."""

from __future__ import annotations

import json

import pytest

from hetviz.ui.map.shared_selections import KEPT_S, MAX_ROWS, PageReport, SharedSelections


def report(page: str, rows: list[int] | None, **more: object) -> PageReport:
    fields = {"page": page, "name": "x", "fingerprint": "f", "rows": rows, "count": 0}
    return PageReport.parse(json.dumps({**fields, **more}).encode())


class Room:
    """A project whose time is set by the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.members = {"a", "b"}
        self.shared = SharedSelections(lambda: self.now)

    def exchange(self, person: str, rows: list[int] | None, **more: object) -> list[object]:
        count = 0 if rows is None else len(rows)
        sent = report(f"page of {person}", rows, count=count, **more)  # type: ignore[arg-type]
        author = person, person.upper()
        others = self.shared.exchange("p", sent, author, 10, lambda p: p in self.members)
        return [(item["name"], item["rows"]) for item in others]


def test_others_see_selection_until_it_is_switched_off() -> None:
    room = Room()
    assert room.exchange("a", [1, 2]) == []
    assert room.exchange("b", None) == [("A", [1, 2])]
    assert room.exchange("a", [3]) == []
    assert room.exchange("b", [4]) == [("A", [3])]
    assert room.exchange("a", None) == [("B", [4])]
    assert room.exchange("b", None) == []


def test_selection_ends_with_its_page_and_with_access() -> None:
    room = Room()
    room.exchange("a", [1])
    room.members.remove("a")
    assert room.exchange("b", None) == []
    room.members.add("a")
    room.now = KEPT_S - 0.1
    assert room.exchange("b", None) == [("A", [1])]
    room.now = KEPT_S + 0.1
    assert room.exchange("b", None) == []


def test_rows_of_other_data_are_not_shown() -> None:
    room = Room()
    room.exchange("a", [10])
    room.exchange("a", [])
    assert room.exchange("b", None) == []
    room.exchange("a", [1], fingerprint="older")
    assert room.exchange("b", None) == []


def test_person_cannot_end_selection_of_another() -> None:
    room = Room()
    room.exchange("a", [1])
    sent = report("page of a", None)
    others = room.shared.exchange("p", sent, ("b", "B"), 10, lambda _: True)
    assert [item["name"] for item in others] == ["A"]


def test_number_of_pages_is_limited() -> None:
    room = Room()
    for number in range(80):
        room.exchange(str(number), [1])
    room.members = {str(number) for number in range(80)}
    assert len(room.exchange("b", None)) == 50


@pytest.mark.parametrize(
    "fields",
    [
        {"rows": [-1]},
        {"rows": [True]},
        {"rows": ["1"]},
        {"rows": "all"},
        {"rows": [0] * (MAX_ROWS + 1)},
        {"name": "x" * 65},
        {"name": 3},
        {"page": None},
        {"count": "many"},
    ],
)
def test_bad_report_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="invalid"):
        report(**{"page": "p", "rows": [1], "count": 1, **fields})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="mapping"):
        PageReport.parse(b"[]")
