"""Rows of links and comparisons files to the data model; every row that is wrong is listed."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetviz.data import Comparisons, Dataset, Links
from hetviz.data.links import ROLES
from hetviz.errors import Problem
from hetviz.features.columns import number
from hetviz.io import cells, gate
from hetviz.io.manifest import LinksEntry
from hetviz.io.tables import TableRead

_LINK_COLUMNS = (
    "source_dataset", "source_id", "target_dataset", "target_id", "weight", "score", "kind", "role",
)  # fmt: skip
_FORMS = (("anchor", "near", "far"), ("a", "b", "c", "d"), ("a", "b", "c"))
_MAX_HINTS = 50
_HINT_POOL = 20_000


class Lookup:
    """Finds rows of datasets by id, and collects what cannot be found."""

    def __init__(self, datasets: Mapping[str, Dataset], problems: list[Problem]) -> None:
        self.datasets, self.problems = datasets, problems
        self._hints = 0
        self._told: set[str] = set()

    def refuse(
        self, code: str, read: TableRead, row: int, column: str, what: str, value: str, remedy: str
    ) -> None:
        """List a bad row."""
        place = read.place(row, column)
        self.problems.append(Problem(code, place, what, value, remedy, row=read.row[row]))

    def find(self, read: TableRead, row: int, dataset: str, text: str, column: str) -> int | None:
        """Return the row that an id names in a dataset, or list the problem."""
        found = int(self.datasets[dataset].find([text])[0])
        if found >= 0:
            return found
        for form in ("NFC", "NFD"):
            found = int(self.datasets[dataset].find([unicodedata.normalize(form, text)])[0])
            if found >= 0:
                self._tell_form(read)
                return found
        what = f"dataset {dataset!r} has no such id"
        self.refuse("unknown-id", read, row, column, what, text, self._near(dataset, text))
        return None

    def dataset(self, read: TableRead, row: int, name: str, column: str) -> bool:
        """Say whether a dataset exists, or list the problem."""
        if name in self.datasets:
            return True
        near = difflib.get_close_matches(name, self.datasets, n=1)
        there = ", ".join(self.datasets)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {there}."
        self.refuse("unknown-dataset", read, row, column, "there is no such dataset", name, hint)
        return False

    def _tell_form(self, read: TableRead) -> None:
        if read.name not in self._told:
            self._told.add(read.name)
            what = "some ids write accented letters in another way; they were matched all the same"
            self.problems.append(Problem("unicode-form", read.name, what, severity="note"))

    def _near(self, dataset: str, text: str) -> str:
        """Suggest the nearest id; only for the first few, as each costs a pass over all ids."""
        ids = self.datasets[dataset].ids
        self._hints += 1
        if self._hints > _MAX_HINTS or len(ids) > _HINT_POOL:
            return "Correct the id, or leave the row out."
        folded = text.strip().casefold()
        alike = [known for known in ids if known.strip().casefold() == folded]
        alike = alike or difflib.get_close_matches(text, list(ids), n=1)
        return f"Did you mean {alike[0]!r}?" if alike else "Correct the id, or leave the row out."


@dataclass
class _Group:
    """Rows of one source, target, kind and role, while they are collected."""

    rows: list[int] = field(default_factory=list)
    i: list[int] = field(default_factory=list)
    j: list[int] = field(default_factory=list)
    weight: list[float | None] = field(default_factory=list)
    score: list[float | None] = field(default_factory=list)


def is_links(read: TableRead) -> bool:
    """Say whether a table has the columns of links."""
    return {"source_id", "target_id"} <= set(read.frame.columns)


def comparison_form(read: TableRead) -> tuple[str, ...] | None:
    """Return the names of the items of a comparison, if the table has such columns."""
    there = set(read.frame.columns)
    return next((f for f in _FORMS if {f"{item}_id" for item in f} <= there), None)


def read_links(read: TableRead, entry: LinksEntry, lookup: Lookup) -> list[Links]:
    """Turn the rows of a table into Links, one for each source, target, kind and role.

    Parameters
    ----------
    read : TableRead
        Columns source_dataset, source_id, target_dataset, target_id, weight; score, kind and role
        are optional, and any other column is kept as `meta`.
    entry : LinksEntry
        Gives what has no column.
    lookup : Lookup
        Takes the problems.

    Raises
    ------
    hetviz.errors.DataError
        If the columns themselves are missing.
    """
    lookup.problems += read.problems
    if not is_links(read):
        raise gate.refusal(
            "columns",
            read.name,
            "links need the columns source_id and target_id",
            ", ".join(read.frame.columns[:10]),
            "Name them so in the first row.",
        )
    groups: dict[tuple[str, str, str, str], _Group] = {}
    if entry.source is not None and entry.target is not None and read.frame.empty:
        groups[(entry.source, entry.target, entry.kind, entry.role)] = _Group()
    pairs: dict[tuple[Any, ...], tuple[int, float | None]] = {}
    for row, cell in enumerate(_dicts(read)):
        link = _link(read, row, cell, entry, lookup)
        if link is None:
            continue
        key, i, j, weight, score = link
        ends = (i, j) if key[0] != key[1] else (min(i, j), max(i, j))
        before = pairs.setdefault((key, ends), (row, weight))
        if before[0] != row and not entry.repeated:
            _refuse_repeat(read, row, cell, before, weight, lookup)
            continue
        group = groups.setdefault(key, _Group())
        group.rows.append(row)
        group.i.append(i)
        group.j.append(j)
        group.weight.append(weight)
        group.score.append(score)
    links = [_built(read, key, group, entry, lookup) for key, group in groups.items()]
    return [group for group in links if group is not None]


def _dicts(read: TableRead) -> list[dict[str, str]]:
    names = list(read.frame.columns)
    rows = read.frame.to_numpy(dtype=object)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _link(
    read: TableRead, row: int, cell: dict[str, str], entry: LinksEntry, lookup: Lookup
) -> tuple[tuple[str, str, str, str], int, int, float | None, float | None] | None:
    before = len(lookup.problems)
    ends: list[int | None] = []
    names: list[str] = []
    for end, given in (("source", entry.source), ("target", entry.target)):
        name = cell.get(f"{end}_dataset", "") or given or ""
        names.append(name)
        good = lookup.dataset(read, row, name, f"{end}_dataset")
        column = f"{end}_id"
        ends.append(lookup.find(read, row, name, cell[column], column) if good else None)
    role = cell.get("role", "") or entry.role
    if role not in ROLES:
        what = "the role is not known"
        lookup.refuse("bad-role", read, row, "role", what, role, "Write guidance or relation.")
    weight = _number(read, row, cell, "weight", lookup)
    score = _number(read, row, cell, "score", lookup)
    if weight is not None and weight == 0:
        remedy = "Leave the row out, or write above 0 for together and below 0 for apart."
        what = "a weight of 0 says nothing"
        lookup.refuse("zero-weight", read, row, "weight", what, cell["weight"], remedy)
    if weight is not None and abs(weight) > 1:
        what = "weights go from -1 (apart) to 1 (together)"
        remedy = "Divide by the largest, or name the column score."
        lookup.refuse("weight-range", read, row, "weight", what, cell["weight"], remedy)
    if names[0] == names[1] and ends[0] is not None and ends[0] == ends[1]:
        what = "the link joins an item to itself"
        lookup.refuse("self-link", read, row, "target_id", what, cell["target_id"], "Leave it out.")
    i, j = ends
    wrong = any(problem.severity == "error" for problem in lookup.problems[before:])
    if wrong or i is None or j is None:
        return None
    kind = cell.get("kind", "") or entry.kind
    return (names[0], names[1], kind, role), i, j, weight, score


def _number(
    read: TableRead, row: int, cell: dict[str, str], column: str, lookup: Lookup
) -> float | None:
    text = cell.get(column, "").strip()
    if not text:
        return None
    value = number(text, read.decimal)
    if value is None:
        remedy = "Write a number such as 0.5, or leave the cell empty."
        lookup.refuse("not-a-number", read, row, column, "this is no number", text, remedy)
    return value


def _refuse_repeat(
    read: TableRead,
    row: int,
    cell: dict[str, str],
    before: tuple[int, float | None],
    weight: float | None,
    lookup: Lookup,
) -> None:
    first, other = before
    opposite = (1.0 if other is None else other) * (1.0 if weight is None else weight) < 0
    word = "says the opposite" if opposite else "joins the same two items"
    code = "contradiction" if opposite else "duplicate-link"
    what = f"row {read.row[first] + 1} {word}"
    pair = f"{cell['source_id']} - {cell['target_id']}"
    lookup.refuse(code, read, row, "target_id", what, pair, "Keep one of the two rows.")


def _built(
    read: TableRead,
    key: tuple[str, str, str, str],
    group: _Group,
    entry: LinksEntry,
    lookup: Lookup,
) -> Links | None:
    weights = _all_or_none(read, group, group.weight, "weight", lookup)
    scores = _all_or_none(read, group, group.score, "score", lookup)
    others = [name for name in read.frame.columns if name not in _LINK_COLUMNS]
    meta = None
    if entry.columns is not None:
        text = read.frame[others].iloc[group.rows].reset_index(drop=True)
        meta = cells.exact(read.name, text, entry.columns, entry.missing)
    elif others:
        meta = read.frame[others].iloc[group.rows].reset_index(drop=True)
    return Links(
        key[0],
        key[1],
        np.array(group.i, dtype=np.int64),
        np.array(group.j, dtype=np.int64),
        weights,
        score=scores,
        complete=entry.complete,
        kind=key[2],
        role=key[3],
        meta=meta,
    )


def _all_or_none(
    read: TableRead, group: _Group, values: list[float | None], column: str, lookup: Lookup
) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Return the numbers of a column; where only some are given, an empty weight counts as 1."""
    given = [value for value in values if value is not None]
    if not given:
        return None
    fill = 1.0 if column == "weight" else 0.0
    if len(given) < len(values):
        what = f"{len(values) - len(given):,} rows have no {column}; they count as {fill:g}"
        lookup.problems.append(Problem("no-" + column, read.name, what, severity="note"))
    return np.array([fill if value is None else value for value in values])


def read_comparisons(read: TableRead, lookup: Lookup) -> Comparisons | None:
    """Turn the rows of a table into Comparisons.

    Parameters
    ----------
    read : TableRead
        Columns anchor_dataset, anchor_id, near_.., far_.., or a_.. b_.. c_.. and d_..; weight is
        optional. The dataset columns may be left out where there is one dataset.
    lookup : Lookup
        Takes the problems.
    """
    lookup.problems += read.problems
    form = comparison_form(read)
    if form is None:
        raise gate.refusal(
            "columns",
            read.name,
            "comparisons need the columns anchor_id, near_id, far_id (or a_id, b_id, c_id, d_id)",
            ", ".join(read.frame.columns[:10]),
            "Name them so in the first row.",
        )
    starts: dict[str, int] = {}
    total = 0
    for name, dataset in lookup.datasets.items():
        starts[name] = total
        total += len(dataset)
    only = next(iter(starts)) if len(starts) == 1 else ""
    objects: list[list[int]] = []
    weights: list[float] = []
    for row, cell in enumerate(_dicts(read)):
        before = len(lookup.problems)
        found: list[int] = []
        for item in form:
            name = cell.get(f"{item}_dataset", "") or only
            if not lookup.dataset(read, row, name, f"{item}_dataset"):
                continue
            at = lookup.find(read, row, name, cell[f"{item}_id"], f"{item}_id")
            if at is not None:
                found.append(starts[name] + at)
        weight = _number(read, row, cell, "weight", lookup)
        if weight is not None and weight <= 0:
            what, remedy = "the weight is above 0", "To say the opposite, exchange the two pairs."
            lookup.refuse("weight-range", read, row, "weight", what, cell["weight"], remedy)
        if not any(problem.severity == "error" for problem in lookup.problems[before:]):
            objects.append(found)
            weights.append(1.0 if weight is None else weight)
    if not objects:
        return None
    return Comparisons(np.array(objects, dtype=np.int64), np.array(weights))
