"""Panel of the statement in the bar: its pairs and the preview of the map."""

from __future__ import annotations

import streamlit as st

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.data.queries.rows import links_touching
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.shell import theme
from hetviz.ui.statements import actions, bar, contradictions, statement_draft
from hetviz.ui.statements.commands import DraftCommands
from hetviz.workspace import State

_MAX_PAIRS, _MAX_NAME_CHARS = 12, 30


def show_draft(state: State) -> bool:
    """Show the pairs of the statement; return False if there is none."""
    draft, data = actions.get_draft(state), state.data
    if draft is None or data is None or statement_draft.get_statement().kind == "closer":
        return False
    existing = _existing_weights(data, draft)
    goal = "pulled together" if draft.lines[0][2] > 0 else "pushed apart"
    if existing:
        detail = _existing_text(draft, list(existing.values()))
    else:
        detail = "" if contradictions.find_contradictions(state, draft) else "No conflicts."
    pairs_text = theme.count(draft.n, "pair" if existing else "new pair")
    theme.show_headline(f"{pairs_text} will be {goal}", detail)
    _show_pairs(data, draft, existing)
    lines = bar.preview_html(state, draft)
    if lines:
        theme.show_section("Preview")
        for html in lines:
            st.html(html)
    return True


def _existing_weights(data: HeteroData, draft: DraftCommands) -> dict[tuple[int, int], float]:
    """Return the weights of the pairs that have a link already."""
    pairs_drafted = {_sort_pair(p, q) for p, q, _ in draft.lines}
    touching_links = links_touching(data, [int(p) for p, _, _ in draft.lines])
    pairs = zip(
        touching_links.inner.tolist(),
        touching_links.outer.tolist(),
        touching_links.weight.tolist(),
        strict=True,
    )
    weights = {_sort_pair(p, q): weight for p, q, weight in pairs}
    return {pair: weights[pair] for pair in pairs_drafted if pair in weights}


def _sort_pair(p: float, q: float) -> tuple[int, int]:
    """Return two rows in order: a link has no direction."""
    return int(min(p, q)), int(max(p, q))


def _existing_text(draft: DraftCommands, weights: list[float]) -> str:
    """Return a text about the links that the pairs have already."""
    same = sum((weight > 0) == (draft.lines[0][2] > 0) for weight in weights)
    opposed = len(weights) - same
    texts = [f"{same:,} of them {'is' if same == 1 else 'are'} linked already."] if same else []
    if opposed:
        texts.append(f"{opposed:,} {'contradicts' if opposed == 1 else 'contradict'} a link.")
    return " ".join(texts)


def _show_pairs(
    data: HeteroData, draft: DraftCommands, existing: dict[tuple[int, int], float]
) -> None:
    """List the pairs; an end that all pairs share is not repeated."""
    ends = [{int(pair[end]) for pair in draft.lines} for end in (0, 1)]
    rows = []
    for p, q, weight in draft.lines[:_MAX_PAIRS]:
        rows_named = [row for row, all_ in ((int(p), ends[0]), (int(q), ends[1])) if len(all_) > 1]
        items = [find_item(data, row) for row in rows_named or [int(p), int(q)]]
        source = item_chip.picture_of(data, items[0])
        face = (
            f'<img src="{theme.escape_html(source)}" alt="" loading="lazy">'
            if source
            else f'<i aria-hidden="true">{items[0].glyph}</i>'
        )
        names = " · ".join(shorten(item.title, _MAX_NAME_CHARS) for item in items)
        old = existing.get(_sort_pair(p, q))
        new = _weight_text(weight)
        change = f"<em>new, {new}</em>" if old is None else f"linked, {_weight_text(old)} → {new}"
        rows.append(f"<li>{face}<span>{theme.escape_html(names)}</span><b>{change}</b></li>")
    more = len(draft.lines) - len(rows)
    tail = f"<li class=more>… and {more:,} more</li>" if more > 0 else ""
    st.html(f'<ul class="hv-link-list hv-statement-list">{"".join(rows)}{tail}</ul>')


def _weight_text(weight: float) -> str:
    return f"{weight:+.2g}".replace("-", "−")
