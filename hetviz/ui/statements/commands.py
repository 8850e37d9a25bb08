"""Commands for statements about groups of items, with the lines of their preview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._text import shorten
from hetviz._types import Ints
from hetviz.data import Comparisons, HeteroData, Links
from hetviz.data.model.labels import OWN_LABEL_PREFIX, is_own_label
from hetviz.data.model.meta import make_meta
from hetviz.data.model.statements import set_names
from hetviz.features.relations.grouping import links_between
from hetviz.ui.item.item import find_item
from hetviz.ui.shell import people
from hetviz.ui.statements.statement_draft import StatementDraft
from hetviz.workspace import Act, Command, SetLabels
from hetviz.workspace.commands.guidance import statement_command

_MIN_COMPARISONS = 30
_MAX_NAME_CHARS = 24


@dataclass(frozen=True, eq=False)
class DraftCommands:
    """Commands of a statement that was not added yet."""

    commands: tuple[Command, ...]
    parts: Sequence[Links | Comparisons]  # The statements by row
    lines: list[list[float]]  # Pairs drawn on the map
    # n, n_possible: Number of statements, and the number that the groups allow.
    n: int
    n_possible: int
    name: str  # Name of the step and of the set of statements
    account: str = ""  # Explains how the pairs were chosen

    def command(self) -> Act:
        """Return all commands as one step."""
        return Act(self.commands, self.name)


def draft_pairs(
    data: HeteroData, groups: Mapping[str, Ints], statement: StatementDraft
) -> DraftCommands:
    """Draft links between groups A and B, or within A if B is empty."""
    ends = groups["A"], groups.get("B")
    stated = links_between(data, *ends, statement.weight, most=statement.max_pairs, in_turn=True)
    word = "together" if statement.weight > 0 else "apart"
    name = _unused_set_name(data, f"{_groups_text(data, groups, 'AB')} {word}")
    lines = [
        [i + data.offsets[links.source].start, j + data.offsets[links.target].start, w]
        for links in stated.links
        for i, j, w in zip(links.i.tolist(), links.j.tolist(), links.weight.tolist(), strict=True)
    ]
    parts = [links.noting(_author(len(links))) for links in stated.links]
    command = statement_command(data, parts, set=name)
    n = len(lines)
    return DraftCommands((command,), parts, lines, n, stated.n_possible, name, stated.account)


def draft_comparisons(
    data: HeteroData, groups: Mapping[str, Ints], statement: StatementDraft
) -> DraftCommands:
    """Draft comparisons: items of A are closer to B than to C."""
    a, b, c = (groups[name] for name in "ABC")
    possible = len(a) * len(b) * len(c)
    n = min(possible, statement.max_pairs or max(_MIN_COMPARISONS, len(a)))
    triples = _spread_triples(a, b, c, n)
    comparisons = Comparisons(triples, meta=_author(n))
    name = _unused_set_name(
        data,
        f"{_groups_text(data, groups, 'A')} closer to {_groups_text(data, groups, 'B')} than to "
        f"{_groups_text(data, groups, 'C')}",
    )
    lines = [[p, q, w] for p, q, r in triples for q, w in ((q, 1.0), (r, -1.0))]
    account = f"{n:,} of {possible:,} comparisons. Each item of a group is used about as often."
    command = statement_command(data, comparisons, set=name)
    return DraftCommands((command,), [comparisons], lines, n, possible, name, account)


def _author(n: int) -> pd.DataFrame | None:
    """Return a meta table, so that a preview knows which statements are the visitor's own."""
    return make_meta(n, who=people.author_name())


def draft_labels(data: HeteroData, rows: Ints, column: str, value: str) -> DraftCommands:
    """Draft a label for the items of a group in each dataset."""
    commands = []
    for name, span in data.offsets.items():
        local_rows = rows[(rows >= span.start) & (rows < span.stop)] - span.start
        if len(local_rows):
            ids = data[name].ids
            commands.append(SetLabels(name, column, {str(ids[row]): value for row in local_rows}))
    return DraftCommands(
        tuple(commands), [], [], len(rows), len(rows), f"label {shorten(value, _MAX_NAME_CHARS)}"
    )


def own_label_column(data: HeteroData) -> str:
    """Return the name of the user's latest label column, or of a first one."""
    names = {label.name for label in data.labels}
    tables = (part.table for part in data.datasets.values() if part.table is not None)
    names |= {str(name) for table in tables for name in table.columns}
    numbers = [int(name[len(OWN_LABEL_PREFIX) :]) for name in names if is_own_label(name)]
    return f"{OWN_LABEL_PREFIX}{max(numbers, default=1)}"


def count_overwritten(data: HeteroData, rows: Ints, column: str, value: str) -> int:
    """Return how many of the rows have another label in the column."""
    count = 0
    for label in data.labels:
        span = data.offsets[label.dataset]
        if label.name == column:
            local_rows = rows[(rows >= span.start) & (rows < span.stop)] - span.start
            count += sum(label.known[row] and str(label.values[row]) != value for row in local_rows)
    return int(count)


def _spread_triples(a: Ints, b: Ints, c: Ints, n: int) -> list[tuple[int, int, int]]:
    """Return n different triples that use the items of each group evenly."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.permutation(rows).tolist() for rows in (a, b, c))
    triples = []
    for k in range(n):
        round_, i = divmod(k, len(a))
        turn, shift = divmod(round_, len(b))
        triples.append((a[i], b[(i + shift) % len(b)], c[(i + turn) % len(c)]))
    return triples


def _groups_text(data: HeteroData, groups: Mapping[str, Ints], names: str) -> str:
    return " and ".join(group_text(data, groups[name]) for name in names if name in groups)


def group_text(data: HeteroData, rows: Sequence[int] | Ints) -> str:
    """Return the title of a single item, or the counts by dataset."""
    if len(rows) == 1:
        return shorten(find_item(data, int(rows[0])).title, _MAX_NAME_CHARS)
    array = np.asarray(rows)
    counts = {
        name: int(((array >= span.start) & (array < span.stop)).sum())
        for name, span in data.offsets.items()
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _unused_set_name(data: HeteroData, base: str) -> str:
    """Return `base`, with a number if a set of statements has that name."""
    used, name, number = set(set_names(data)), base, 2
    while name in used:
        name, number = f"{base} {number}", number + 1
    return name
