"""The one table of Compare: every method that suits, chosen by a tick, and told once it has run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from hetviz._text import in_seconds, per_hundred, short
from hetviz.data import Embedding, HeteroData
from hetviz.plots import still_map
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.measures import MEASURES
from hetviz.ui.compare.leaderboard import judged_by
from hetviz.ui.compare.results import comparison_of, run_of
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, Run, State

if TYPE_CHECKING:
    from hetviz.algorithms.registry import Verdict

_THUMB, _DOTS = (56, 40), 500
_SUMMARY = 90
# Beside the measure that decides, one that tells something else.
_BESIDE = ("links_kept", "trustworthiness", "label_knn_accuracy", "comparison_accuracy")
_TICKS = 4


def show(state: State, kept: Finding | None, verdicts: Sequence[Verdict]) -> None:
    """Show a row for each method that has run, the best first.

    Parameters
    ----------
    state : State
    kept : Finding or None
        What was compared so far.
    verdicts : sequence of Verdict
        Of the methods that suit.
    """
    if kept is None:
        return
    found, measure = comparison_of(kept), judged_by(comparison_of(kept))
    if measure is None:
        return
    summaries = {v.card.key: v.card.summary.split(". ")[0].rstrip(".") + "." for v in verdicts}
    rows = order(found, measure)
    scale = _Scale(found, measure, [key for _, key in rows])
    beside = next((key for key in _BESIDE if key in found.measures and key != measure), None)
    lines = [_head(measure, beside, scale)]
    for place, key in rows:
        run = run_of(state, kept, key)
        lines.append(
            _row(
                found,
                key,
                measure,
                beside,
                scale,
                place=place,
                first=key == rows[0][1],
                thumb=_thumb(state, run),
                summary=summaries.get(found.candidate(key).method, ""),
            )
        )
    st.html(
        f'<div role="table" aria-label="Methods compared" class="hv-ranks">{"".join(lines)}</div>'
    )


def order(found: Comparison, measure: str) -> list[tuple[str, str]]:
    """Return place and key of all that have a fit, the best first; those that tie share a place."""
    rows: list[tuple[str, str]] = []
    for group in found.places(measure):
        low, high = len(rows) + 1, len(rows) + len(group)
        rows += [(str(low) if low == high else f"{low}–{high}", key) for key in group]
    placed = {key for _, key in rows}
    return rows + [
        ("", str(key))
        for key, row in found.table.iterrows()
        if row["n_fits"] > 0 and key not in placed
    ]


class _Scale:
    """Where values stand on the line that all rows share."""

    def __init__(self, found: Comparison, measure: str, keys: Sequence[str]) -> None:
        ends = [v for key in keys for v in found.values(key, measure)]
        for key in keys:
            ends += [v for v in found.interval(key, measure) if math.isfinite(v)]
        self.chance = MEASURES[measure].chance
        if self.chance is not None:
            ends.append(self.chance)
        low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
        low, high = max(low, 0.0), min(high, 1.0)
        if low < 0.5 * high:
            low = 0.0
        room = 0.04 * max(high - low, 0.02)
        self.low, self.high = max(low - room, 0.0), min(high + room, 1.0)
        rough = 100 * (self.high - self.low) / _TICKS
        step = next((s for s in (1, 2, 5, 10, 20, 25, 50) if s >= rough), 50)
        start = math.ceil(100 * self.low / step) * step
        self.ticks = [k / 100 for k in range(start, math.floor(100 * self.high) + 1, step)]

    def at(self, value: float) -> str:
        """Return the place of a value, in per cent of the line."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return f"{100 * share:.1f}%"


def _head(measure: str, beside: str | None, scale: _Scale) -> str:
    ticks = "".join(
        f'<i style="left:{scale.at(one)}">{per_hundred(one)}</i>' for one in scale.ticks
    )
    other = "" if beside is None else theme.esc(MEASURES[beside].label)
    if beside == "links_kept":
        other = "Given kept"
    return (
        '<div role="row" class="hv-rank hv-rank-head"><span role="columnheader">Place</span>'
        '<span role="columnheader" class="hv-rank-still"><em>Map</em></span>'
        '<span role="columnheader">Method</span>'
        f'<span role="columnheader" class="hv-rank-line">{theme.esc(MEASURES[measure].label)}, '
        f'in 100; bar: 95&nbsp;%<u aria-hidden="true">{ticks}</u></span>'
        f'<span role="columnheader" class="hv-rank-beside">{other}</span>'
        '<span role="columnheader">Time</span></div>'
    )


def _row(
    found: Comparison,
    key: str,
    measure: str,
    beside: str | None,
    scale: _Scale,
    *,
    place: str,
    first: bool,
    thumb: str,
    summary: str,
) -> str:
    candidate = found.candidate(key)
    name, _, aside = candidate.title.rstrip(")").partition(" (")
    other = "" if beside is None else found.mean(key, beside)
    classes = "hv-rank" + (" first" if first else "") + (" tie" if "–" in place else "")
    told = found.failures.get(key) or short(summary, _SUMMARY)
    small = f"<small>{theme.esc(aside)}</small>" if aside else ""
    return (
        f'<div role="row" class="{classes}" title="{theme.esc(told)}">'
        f'<span role="cell" class="hv-rank-place">{place or "–"}</span>'
        f'<span role="cell" class="hv-rank-still">{thumb}</span>'
        f'<span role="rowheader"><b>{theme.esc(name)}</b>{small}</span>'
        f'<span role="cell" class="hv-rank-line">{_dot(found, key, measure, scale)}</span>'
        f'<span role="cell" class="hv-rank-beside">{_number(other)}</span>'
        f'<span role="cell">{theme.esc(in_seconds(found.seconds(key)))}</span></div>'
    )


def _number(value: float | str) -> str:
    return "–" if isinstance(value, str) or math.isnan(value) else per_hundred(value)


def _dot(found: Comparison, key: str, measure: str, scale: _Scale) -> str:
    """Draw the mean, its interval and the splits on the line that all rows share."""
    values, mean = found.values(key, measure), found.mean(key, measure)
    if not values:
        return "not measured"
    low, high = found.interval(key, measure)
    marks = ""
    if scale.chance is not None:
        marks += f'<i class="chance" style="left:{scale.at(scale.chance)}"></i>'
    words = f"{per_hundred(mean)} in 100"
    if math.isfinite(low):
        left, right = scale.at(low), scale.at(high)
        marks += f'<i class="span" style="left:{left};width:calc({right} - {left})"></i>'
        words += f", 95 % from {per_hundred(max(low, 0.0))} to {per_hundred(min(high, 1.0))}"
    marks += "".join(
        f'<i class="ring" style="left:{scale.at(one)}"></i>'
        for one in values[: 9 * (len(values) > 1)]
    )
    end = high if math.isfinite(high) else max(values)
    return (
        f'<span class="hv-dots" role="img" aria-label="{theme.esc(words)}">{marks}'
        f'<i class="dot" style="left:{scale.at(mean)}"></i>'
        f'<b style="left:{scale.at(max(end, mean))}">{per_hundred(mean)}</b></span>'
    )


def _thumb(state: State, run: Run | None) -> str:
    data = state.opened()
    look = session.theme()
    embedding = None if run is None else state.embedding(run)
    if run is None or embedding is None or len(embedding.planar().stacked()) != data.n_rows:
        return '<i class="hv-no-still"></i>'
    colours = charts.colours(state)
    svg = session.cached(
        ("thumb", run.id, id(colours), look),
        (run, colours),
        lambda: still_map(
            data,
            _few(data, embedding),
            colours,
            look,
            width=_THUMB[0],
            height=_THUMB[1],
            dot=1.2,
        ),
    )
    return theme.svg_image(svg, "")


def _few(data: HeteroData, embedding: Embedding) -> Embedding:
    """Return a map of some of the rows: a small picture shows no more."""
    Y = embedding.planar().stacked().copy()
    step = max(1, -(-len(Y) // _DOTS))
    Y[np.arange(len(Y)) % step > 0] = np.nan
    return Embedding(
        {name: Y[rows] for name, rows in data.offsets.items()},
        {name: dataset.ids for name, dataset in data.datasets.items()},
    )
