"""Selections that people show to each other while they have a project open, in memory only."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

MAX_ROWS = 200
"""Further items of a selection are counted, but not shown."""
MAX_BODY_BYTES = 4_000
KEPT_S = 8.0
"""A page that is open sends its selection every 2 s."""
_MAX_PAGES = 50
_MAX_TEXT = 64


class SharedSelection(TypedDict):
    """Selection of another person."""

    name: str
    rows: list[int]
    count: int


@dataclass(frozen=True)
class _Shared:
    person: str  # Id, empty without login.
    selection: SharedSelection
    fingerprint: str  # Of the data that the rows are of.
    until: float


@dataclass(frozen=True)
class PageReport:
    """What a page sends: its random id, and the rows that it shows, None for none."""

    page: str
    name: str
    fingerprint: str
    rows: list[int] | None
    count: int

    @classmethod
    def parse(cls, body: bytes) -> PageReport:
        """Read a report; ValueError if it is not one."""
        fields: Any = json.loads(body)
        if not isinstance(fields, Mapping):
            raise ValueError("a mapping is needed")
        texts = [fields.get(name, "") for name in ("page", "name", "fingerprint")]
        rows, count = fields.get("rows"), fields.get("count")
        is_valid = all(isinstance(text, str) and len(text) <= _MAX_TEXT for text in texts)
        if rows is not None:
            is_valid &= isinstance(rows, list) and len(rows) <= MAX_ROWS
            is_valid &= isinstance(rows, list) and all(
                type(row) is int and row >= 0 for row in rows
            )
        if not is_valid or type(count) is not int:
            raise ValueError("a field is invalid")
        return cls(texts[0], texts[1], texts[2], rows, count)


class SharedSelections:
    """The selections shown in each project of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pages: dict[str, dict[tuple[str, str], _Shared]] = {}

    def exchange(
        self,
        project: str,
        report: PageReport,
        author: tuple[str, str],
        n_rows: int,
        may_look: Callable[[str], bool],
    ) -> list[SharedSelection]:
        """Record what a page shows, and return what the other pages show.

        `author`: Id and name of the person. `may_look`: whether a person may still open the
        project.
        """
        person, name = author
        now = self._clock()
        with self._lock:
            pages = self._pages.setdefault(project, {})
            pages.pop((person, report.page), None)
            if report.rows and name and max(report.rows) < n_rows and len(pages) < _MAX_PAGES:
                shown = SharedSelection(name=name, rows=report.rows, count=report.count)
                pages[person, report.page] = _Shared(
                    person, shown, report.fingerprint, now + KEPT_S
                )
            for key in [key for key, shared in pages.items() if shared.until < now]:
                del pages[key]
            others = [shared for key, shared in pages.items() if key != (person, report.page)]
            if not pages:
                del self._pages[project]
        return [
            shared.selection
            for shared in others
            if shared.fingerprint == report.fingerprint and may_look(shared.person)
        ]


SHARED = SharedSelections()
