"""Ranking of the compared methods, drawn on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from hetviz._text import format_seconds, per_hundred, shorten
from hetviz.data import Embedding, HeteroData
from hetviz.plots import still_map
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.measures import MEASURES
from hetviz.ui.compare.leaderboard import deciding_measure
from hetviz.ui.map_data import layers
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.comparison_results import comparison_of, run_of
from hetviz.workspace import Finding, MapResult, State

if TYPE_CHECKING:
    from hetviz.algorithms.registry import Verdict

_THUMB_SIZE, _MAX_THUMB_DOTS = (56, 40), 500
_SUMMARY_CHARS = 90
# Candidates for the second measure shown.
_SECOND_MEASURES = ("links_kept", "trustworthiness", "label_knn_accuracy", "comparison_accuracy")
_N_TICKS = 4


def show_ranking(state: State, finding: Finding, verdicts: Sequence[Verdict]) -> None:
    """Show a row for each compared method, the best first."""
    comparison, measure = comparison_of(finding), deciding_measure(comparison_of(finding))
    if measure is None:
        return
    summaries = {v.card.key: v.card.first_sentence for v in verdicts}
    rows = ranked(comparison, measure)
    scale = _Scale(comparison, measure, [key for _, key in rows])
    second_measure = next(
        (key for key in _SECOND_MEASURES if key in comparison.measures and key != measure), None
    )
    lines = [_head_html(measure, second_measure, scale)]
    for rank, key in rows:
        run = run_of(state, finding, key)
        lines.append(
            _row_html(
                comparison,
                key,
                measure,
                second_measure,
                scale,
                rank=rank,
                is_first=key == rows[0][1],
                thumb=_thumb_html(state, run),
                summary=summaries.get(comparison.candidate(key).method, ""),
            )
        )
    st.html(
        f'<div role="table" aria-label="Methods compared" class="hv-ranks">{"".join(lines)}</div>'
    )


def ranked(comparison: Comparison, measure: str) -> list[tuple[str, str]]:
    """Return rank and key of every candidate with a fit, best first, ties share a rank."""
    rows: list[tuple[str, str]] = []
    for group in comparison.places(measure):
        low, high = len(rows) + 1, len(rows) + len(group)
        rows += [(str(low) if low == high else f"{low}–{high}", key) for key in group]
    ranked_keys = {key for _, key in rows}
    return rows + [
        ("", str(key))
        for key, row in comparison.table.iterrows()
        if row["n_fits"] > 0 and key not in ranked_keys
    ]


class _Scale:
    """Shared horizontal scale of all rows."""

    def __init__(self, comparison: Comparison, measure: str, keys: Sequence[str]) -> None:
        values = [v for key in keys for v in comparison.values(key, measure)]
        for key in keys:
            values += [v for v in comparison.interval(key, measure) if math.isfinite(v)]
        self.chance = comparison.chance(measure)
        if self.chance is not None:
            values.append(self.chance)
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        low, high = max(low, 0.0), min(high, 1.0)
        if low < 0.5 * high:
            low = 0.0
        margin = 0.04 * max(high - low, 0.02)
        self.low, self.high = max(low - margin, 0.0), min(high + margin, 1.0)
        rough_step = 100 * (self.high - self.low) / _N_TICKS
        step = next((s for s in (1, 2, 5, 10, 20, 25, 50) if s >= rough_step), 50)
        start = math.ceil(100 * self.low / step) * step
        self.ticks = [k / 100 for k in range(start, math.floor(100 * self.high) + 1, step)]

    def position(self, value: float) -> str:
        """Return the position of a value, in percent of the width."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return f"{100 * share:.1f}%"


def _head_html(measure: str, second_measure: str | None, scale: _Scale) -> str:
    ticks = "".join(
        f'<i style="left:{scale.position(tick)}">{per_hundred(tick)}</i>' for tick in scale.ticks
    )
    second_title = (
        "" if second_measure is None else theme.escape_html(MEASURES[second_measure].label)
    )
    if second_measure == "links_kept":
        second_title = "Links close"
    return (
        '<div role="row" class="hv-rank hv-rank-head"><span role="columnheader">Place</span>'
        '<span role="columnheader" class="hv-rank-still"><em>Map</em></span>'
        '<span role="columnheader">Method</span>'
        '<span role="columnheader" '
        f'class="hv-rank-line">{theme.escape_html(MEASURES[measure].label)}, '
        f'in %. Bar: 95&nbsp;%<u aria-hidden="true">{ticks}</u></span>'
        f'<span role="columnheader" class="hv-rank-beside">{second_title}</span>'
        '<span role="columnheader">Time</span></div>'
    )


def _row_html(
    comparison: Comparison,
    key: str,
    measure: str,
    second_measure: str | None,
    scale: _Scale,
    *,
    rank: str,
    is_first: bool,
    thumb: str,
    summary: str,
) -> str:
    candidate = comparison.candidate(key)
    name, _, variant = candidate.title.rstrip(")").partition(" (")
    second_score = "" if second_measure is None else comparison.mean(key, second_measure)
    classes = "hv-rank" + (" first" if is_first else "") + (" tie" if "–" in rank else "")
    tooltip = comparison.failures.get(key) or shorten(summary, _SUMMARY_CHARS)
    small = f"<small>{theme.escape_html(variant)}</small>" if variant else ""
    return (
        f'<div role="row" class="{classes}" title="{theme.escape_html(tooltip)}">'
        f'<span role="cell" class="hv-rank-place">{rank or "–"}</span>'
        f'<span role="cell" class="hv-rank-still">{thumb}</span>'
        f'<span role="rowheader"><b>{theme.escape_html(name)}</b>{small}</span>'
        '<span role="cell" '
        f'class="hv-rank-line">{_dots_html(comparison, key, measure, scale)}</span>'
        f'<span role="cell" class="hv-rank-beside">{_score_text(second_score)}</span>'
        "<span "
        f'role="cell">{theme.escape_html(format_seconds(comparison.seconds(key)))}</span></div>'
    )


def _score_text(score: float | str) -> str:
    return "–" if isinstance(score, str) or math.isnan(score) else per_hundred(score)


def _dots_html(comparison: Comparison, key: str, measure: str, scale: _Scale) -> str:
    """Return HTML of the mean, its interval and the splits."""
    values, mean = comparison.values(key, measure), comparison.mean(key, measure)
    if not values:
        return "not measured"
    low, high = comparison.interval(key, measure)
    marks_html = ""
    if scale.chance is not None:
        marks_html += f'<i class="chance" style="left:{scale.position(scale.chance)}"></i>'
    label = f"{per_hundred(mean)} %"
    if math.isfinite(low):
        left, right = scale.position(low), scale.position(high)
        marks_html += f'<i class="span" style="left:{left};width:calc({right} - {left})"></i>'
        label += f", 95 % interval {per_hundred(max(low, 0.0))} to {per_hundred(min(high, 1.0))} %"
    marks_html += "".join(
        f'<i class="ring" style="left:{scale.position(value)}"></i>'
        for value in values[: 9 * (len(values) > 1)]
    )
    label_end = high if math.isfinite(high) else max(values)
    return (
        f'<span class="hv-dots" role="img" aria-label="{theme.escape_html(label)}">{marks_html}'
        f'<i class="dot" style="left:{scale.position(mean)}"></i>'
        f'<b style="left:{scale.position(max(label_end, mean))}">{per_hundred(mean)}</b></span>'
    )


def _thumb_html(state: State, run: MapResult | None) -> str:
    data = state.opened()
    theme_name = session.theme()
    embedding = None if run is None else state.embedding(run)
    if run is None or embedding is None or len(embedding.planar().stacked()) != data.n_rows:
        return '<i class="hv-no-thumbnail"></i>'
    colours = layers.colours_of(state, state.run)
    svg = session.get_or_compute(
        ("thumb", run.id, id(colours), theme_name),
        (run, colours),
        lambda: still_map(
            data,
            _thinned(data, embedding),
            colours,
            theme_name,
            width=_THUMB_SIZE[0],
            height=_THUMB_SIZE[1],
            dot=1.2,
        ),
    )
    return theme.svg_image(svg, "")


def _thinned(data: HeteroData, embedding: Embedding) -> Embedding:
    """Return a map with only a sample of the rows, for a thumbnail."""
    Y = embedding.planar().stacked().copy()
    step = max(1, -(-len(Y) // _MAX_THUMB_DOTS))
    Y[np.arange(len(Y)) % step > 0] = np.nan
    return Embedding(
        {name: Y[rows] for name, rows in data.offsets.items()},
        {name: dataset.ids for name, dataset in data.datasets.items()},
    )
