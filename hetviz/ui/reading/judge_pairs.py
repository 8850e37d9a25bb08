"""Judging of pairs of rows in similar words, one pair at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from hetviz._text import shorten
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.keys import cell_texts
from hetviz.data.joins.proposals import Proposal, proposal_by_words
from hetviz.data.joins.similar_rows import MIN_ANSWERS, judged_pairs, judging_order
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import state_of

Answer = tuple[str, str, bool]
_MAX_CHARS, _MAX_COLUMNS = 90, 3
_SHORTCUTS = {True: "y", False: "n"}
_LABELS = {True: "Right", False: "Wrong"}


@dataclass
class PairAnswers:
    """Answers of the user about pairs, by the two datasets."""

    answers: dict[tuple[str, str], tuple[Answer, ...]] = field(default_factory=dict)


def with_answers(data: HeteroData, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals, those by similar words with the pairs that the answers leave."""
    return [_judged(data, proposal) for proposal in proposals]


def _judged(data: HeteroData, proposal: Proposal) -> Proposal:
    answers = state_of(PairAnswers).answers.get(proposal.ends, ())
    if proposal.join.kind != "words" or not answers:
        return proposal
    join = replace(proposal.join, answers=answers)
    key = ("judged", id(data), *proposal.ends, answers)
    judged: Proposal = session.get_or_compute(key, data, lambda: proposal_by_words(data, join))
    return judged


def show_judging(data: HeteroData, join: Join, key: str) -> None:
    """Show the next pair to judge, inside a part that can be opened."""
    n = len(join.answers)
    n_wanted = MIN_ANSWERS * (n // MIN_ANSWERS + 1)
    pair = _next_pair(data, join, n_wanted)
    label = "Judge ten pairs" if n < MIN_ANSWERS else "Judge ten more"
    with st.expander(label, key=f"judge-{key}"):
        if pair is None:
            theme.show_note(f"All {n:,} pairs are judged.")
        else:
            theme.show_note(f"Are these the same? {n % MIN_ANSWERS} of {MIN_ANSWERS} judged.")
            st.html(_pair_html(data, join, pair))
        with st.container(horizontal=True, gap="small", key=f"judge-buttons-{key}"):
            for is_right, shortcut in _SHORTCUTS.items() if pair is not None else ():
                st.button(
                    _LABELS[is_right],
                    key=f"judge-{is_right}-{key}",
                    shortcut=shortcut,
                    on_click=_answer,
                    args=((join.source, join.target), (*join.answers, (*pair, is_right))),
                )
            if n:
                st.button(
                    "Take back",
                    key=f"judge-back-{key}",
                    type="tertiary",
                    on_click=_answer,
                    args=((join.source, join.target), join.answers[:-1]),
                )


def _answer(ends: tuple[str, str], answers: tuple[Answer, ...]) -> None:
    state_of(PairAnswers).answers[ends] = answers


def _next_pair(data: HeteroData, join: Join, n_wanted: int) -> tuple[str, str] | None:
    pairs = judged_pairs(data, join.source, join.target)
    answered = {(a, b) for a, b, _ in join.answers}
    for at in judging_order(len(pairs), n_wanted):
        pair = str(pairs["source_id"].iloc[at]), str(pairs["target_id"].iloc[at])
        if pair not in answered:
            return pair
    return None


def _pair_html(data: HeteroData, join: Join, pair: tuple[str, str]) -> str:
    parts = []
    for name, item_id in zip((join.source, join.target), pair, strict=True):
        dataset = data[name]
        row = dataset.position(item_id)
        lines = "".join(f"<p>{theme.escape_html(line)}</p>" for line in _row_lines(dataset, row))
        title = theme.escape_html(shorten(str(dataset.display_names[row]), _MAX_CHARS))
        parts.append(f"<div><p>{theme.escape_html(name)}</p><h2>{title}</h2>{lines}</div>")
    return f'<div class="hv-question-items">{"".join(parts)}</div>'


def _row_lines(dataset: Dataset, row: int) -> list[str]:
    """Return the first cells of a row with text besides its title."""
    names = [] if dataset.table is None else list(map(str, dataset.table.columns))
    cells = [
        (name, cell_texts(dataset, name)[row]) for name in names if name != dataset.title_column
    ]
    return [f"{name}: {shorten(cell, _MAX_CHARS)}" for name, cell in cells if cell][:_MAX_COLUMNS]
