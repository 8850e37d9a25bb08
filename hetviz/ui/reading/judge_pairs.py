"""Judging of proposed pairs of rows, one pair at a time."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from hetviz._text import capital, shorten
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.judged_links import MIN_ANSWERS, judging_order
from hetviz.data.joins.keys import cell_texts
from hetviz.data.joins.near_rows import NEAR
from hetviz.data.joins.proposals import Proposal, similarity_proposal
from hetviz.data.joins.similar_rows import SIMILAR, judged_pairs
from hetviz.ui.item.thumbnails import thumbnail_strip
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import state_of

Answer = tuple[str, str, bool]
Place = tuple[str, str, str]
_MAX_CHARS, _MAX_NAME_CHARS, _MAX_COLUMNS = 90, 20, 3
_PICTURE_PX = 144
_SHORTCUTS = {True: "y", False: "n"}
_LABELS = {True: "Right", False: "Wrong"}
_SAME, _TOGETHER = "Are these two the same?", "Do these two belong together?"


@dataclass
class PairAnswers:
    """Answers of the user about pairs, by the kind of their similarity and the two datasets."""

    answers: dict[Place, tuple[Answer, ...]] = field(default_factory=dict)
    # The pairs that are being judged, and the number of answers at the start.
    open: Place | None = None
    n_before: int = 0

    def of(self, data: HeteroData, place: Place) -> tuple[Answer, ...]:
        """Return the answers about items of the data; other files may have the same names."""
        if place not in self.answers:
            return ()
        known = [set(data[name].ids) for name in place[1:]]
        return tuple(
            answer
            for answer in self.answers[place]
            if all(id in ids for id, ids in zip(answer[:2], known, strict=True))
        )


def with_answers(data: HeteroData, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals, those by similarity with the pairs that the answers leave."""
    return [_judged(data, proposal) for proposal in proposals]


def _judged(data: HeteroData, proposal: Proposal) -> Proposal:
    join = proposal.join
    answers = state_of(PairAnswers).of(data, _place(join))
    if join.kind not in SIMILAR or not answers:
        return proposal
    join = replace(join, answers=answers)
    judged: Proposal = session.get_or_compute(
        ("judged", id(data), join), data, lambda: similarity_proposal(data, join)
    )
    return judged


def _place(join: Join) -> Place:
    return join.kind, join.source, join.target


@st.fragment
def show_judging(data: HeteroData, join: Join, key: str) -> None:
    """Show a button that starts the judging, then pair by pair; ten answers redraw the page."""
    judging, place = state_of(PairAnswers), _place(join)
    answers = judging.of(data, place)
    if judging.open != place:
        st.button(
            "Judge ten pairs" if len(answers) < MIN_ANSWERS else "Judge ten more",
            key=f"judge-{key}",
            on_click=_open,
            args=(place, len(answers)),
        )
        return
    if len(answers) > judging.n_before and len(answers) % MIN_ANSWERS == 0:
        judging.open = None
        st.rerun()
    pair = _next_pair(data, join, answers)
    with st.container(border=True, key=f"judge-pair-{key}"):
        if pair is None:
            theme.show_note(f"All {len(answers):,} pairs are judged.")
        else:
            number = len(answers) % MIN_ANSWERS + 1
            st.html(
                f'<p class="hv-question">{_SAME if join.kind == "words" else _TOGETHER}'
                f"<small>{number} of {MIN_ANSWERS}</small></p>"
            )
            *ids, reason = pair
            st.html(_pair_html(data, (join.source, join.target), ids))
            if reason:
                theme.show_note(f"{capital(reason)}.")
            _show_answers(place, answers, (ids[0], ids[1]), key)
        with st.container(horizontal=True, gap="small", key=f"judge-below-{key}"):
            st.button(
                "Take back",
                key=f"judge-back-{key}",
                type="tertiary",
                shortcut="u",
                disabled=not answers,
                on_click=_set_answers,
                args=(place, answers[:-1]),
            )
            if st.button("Stop here", key=f"judge-stop-{key}", type="tertiary"):
                judging.open = None
                st.rerun()


def _show_answers(
    place: Place, answers: tuple[Answer, ...], pair: tuple[str, str], key: str
) -> None:
    for column, is_right in zip(st.columns(2, gap="small"), _SHORTCUTS, strict=True):
        column.button(
            _LABELS[is_right],
            key=f"judge-{_LABELS[is_right].lower()}-{key}",
            width="stretch",
            shortcut=_SHORTCUTS[is_right],
            on_click=_set_answers,
            args=(place, (*answers, (*pair, is_right))),
        )


def _open(place: Place, n_answers: int) -> None:
    judging = state_of(PairAnswers)
    judging.open, judging.n_before = place, n_answers


def _set_answers(place: Place, answers: tuple[Answer, ...]) -> None:
    state_of(PairAnswers).answers[place] = answers


def _next_pair(
    data: HeteroData, join: Join, answers: tuple[Answer, ...]
) -> tuple[str, str, str] | None:
    """Return the ids of the next pair, and why they were proposed."""
    pairs = judged_pairs(data, join.source, join.target, by=join.kind, pairs=join.pairs)
    answered = {(a, b) for a, b, _ in answers}
    for at in judging_order(len(pairs), len(answers) + MIN_ANSWERS):
        pair = str(pairs["source_id"].iloc[at]), str(pairs["target_id"].iloc[at])
        if pair not in answered:
            return *pair, pairs["reason"].iloc[at] if join.kind in NEAR else ""
    return None


def _pair_html(data: HeteroData, ends: tuple[str, str], pair: Sequence[str]) -> str:
    parts = []
    for name, item_id in zip(ends, pair, strict=True):
        dataset = data[name]
        row = dataset.position(item_id)
        lines = "".join(f"<p>{theme.escape_html(line)}</p>" for line in _row_lines(dataset, row))
        title = theme.escape_html(shorten(str(dataset.display_names[row]), _MAX_CHARS))
        face = _picture_html(data, name, row)
        parts.append(f"<div><p>{theme.escape_html(name)}</p>{face}<h2>{title}</h2>{lines}</div>")
    return f'<div class="hv-question-items">{"".join(parts)}</div>'


def _picture_html(data: HeteroData, name: str, row: int) -> str:
    """Return a row's picture inside the page, as data that are reviewed have no addresses."""
    media = data[name].media
    if media is None or media[row] is None:
        return ""
    content, kind = thumbnail_strip(data, [data.offsets[name].start + row], _PICTURE_PX)
    return f'<img src="data:{kind};base64,{base64.b64encode(content).decode()}" alt="">'


def _row_lines(dataset: Dataset, row: int) -> list[str]:
    """Return the first cells of a row with text besides its title."""
    names = [] if dataset.table is None else list(map(str, dataset.table.columns))
    cells = [
        (name, cell_texts(dataset, name)[row]) for name in names if name != dataset.title_column
    ]
    return [
        f"{shorten(name, _MAX_NAME_CHARS)}: {shorten(cell, _MAX_CHARS)}"
        for name, cell in cells
        if cell
    ][:_MAX_COLUMNS]
