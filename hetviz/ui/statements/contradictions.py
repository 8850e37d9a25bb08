"""Earlier statements that a new one contradicts, directly or over a short path."""

from __future__ import annotations

from hetviz._text import shorten
from hetviz.data import Comparisons, HeteroData
from hetviz.data.edits.adding import add_statements
from hetviz.data.model.statements import author_names, statement_keys, statement_rows
from hetviz.metrics.conflicts.conflicts import find_new_conflicts
from hetviz.ui.item.item import find_item
from hetviz.ui.shell import session, theme
from hetviz.ui.statements import statement_draft
from hetviz.ui.statements.commands import DraftCommands
from hetviz.workspace import State

_MAX_NAMED = 2
# Two links together and one apart. Longer paths connect nearly all linked items, so a warning about
# them would appear for every statement.
_MAX_CYCLE = 3


def find_contradictions(state: State, draft: DraftCommands) -> list[str]:
    """Return sentences about the statements that this one contradicts."""
    data = state.data
    if data is None:
        return []
    if not draft.parts:
        return []
    key = ("objections", id(data), id(draft))
    return session.get_or_compute(
        key, (data, draft), lambda: [*_opposite_texts(data, draft), *_cycle_texts(data, draft)]
    )


def _opposite_texts(data: HeteroData, draft: DraftCommands) -> list[str]:
    after = add_statements(data, draft.parts)
    row_of = {key: row for row, key in enumerate(statement_keys(after.data))}
    ends = statement_rows(after.data)
    pairs = [
        [shorten(find_item(data, int(row)).title, 24) for row in ends[row_of[old]] if row >= 0]
        for _, old in after.opposite
    ]
    if not pairs:
        return []
    if isinstance(draft.parts[0], Comparisons):
        return [f"{len(pairs):,} of these comparisons contradict others."]
    who = author_names(after.data)
    names = dict.fromkeys(str(who[row_of[old]]) for _, old in after.opposite)
    by = f" by {theme.join_words([*filter(None, names)])}" if all(names) else ""
    named = "; ".join(" and ".join(pair[:2]) for pair in pairs[:_MAX_NAMED])
    more = f" and {len(pairs) - _MAX_NAMED:,} more" if len(pairs) > _MAX_NAMED else ""
    word = "apart" if statement_draft.get_statement().weight > 0 else "together"
    return [f"These have a link {word}{by}: {named}{more}."]


def _cycle_texts(data: HeteroData, draft: DraftCommands) -> list[str]:
    conflicts = [
        conflict for conflict in find_new_conflicts(data, draft.parts) if len(conflict.keys) > 2
    ]
    if isinstance(draft.parts[0], Comparisons):
        return [f"This makes a cycle: {conflicts[0].sentence}"] if conflicts else []
    short_cycles = [conflict for conflict in conflicts if len(conflict.keys) <= _MAX_CYCLE]
    if not short_cycles:
        return []
    n_others = len(short_cycles) - 1
    more = f" {theme.count(n_others, 'more pair')} of these also contradict links."
    return [f"{short_cycles[0].sentence}{more if n_others else ''}"]
