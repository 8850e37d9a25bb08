"""Curves of how many statements a map meets, and the statements it does not meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from hetviz._text import percent
from hetviz._types import Bools, Floats, Ints
from hetviz.data import HeteroData
from hetviz.plots.curve import Curve, pair_share_of
from hetviz.ui.guidance import comparison_order as guidance_order
from hetviz.ui.guidance import sentences
from hetviz.ui.guidance.ledger import UNMET, UNPLACED, Ledger, datasets_text, goodness, records
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets import charts, failure
from hetviz.workspace import State

_MAX_PAGES = 25
_PAGE_SIZE = 4
_MIN_PERCENT = 0.1
_TALL_PX, _LOW_PX = 186, 165
_KEY_SUFFIX = "-guidance"
_UNMET_TITLES = {"apart": "Apart, but close", "comparisons": "Comparisons not met"}


@dataclass(frozen=True)
class CurvePoint:
    """Point at which a curve is read.

    `share` is a share of all pairs, None where pairs count as close; for comparisons it is the
    length of the close pair divided by that of the far pair, None for 1. `kind` is a kind of
    statements, as in `hetviz.metrics.fit.curves`.
    """

    kind: str
    share: float | None = None


def usual_point(form: str) -> CurvePoint:
    """Return the default point at which the curve is read."""
    kind = "comparisons" if form == "comparison" else "links"
    return CurvePoint(kind)


def show_small_curve(state: State, *, low: bool = False) -> None:
    """Show the curve of the links as a small picture."""
    if state.run is None:
        return
    kinds = charts.curves_of(charts.run_figures(state, state.run), "link")
    if kinds.get("links"):
        with st.container(height=_LOW_PX if low else _TALL_PX, border=False, key="small-curve"):
            charts.show_curve(
                kinds["links"], key_suffix=_KEY_SUFFIX, height=_LOW_PX - 11 if low else None
            )


def show_curves(state: State, data: HeteroData, form: str) -> CurvePoint:
    """Show the curves of links or comparisons and return the chosen point."""
    point = usual_point(form)
    if state.run is None:
        return point
    figures = charts.run_figures(state, state.run)
    if any(charts.curves_of(figures, form).values()):
        theme.show_section("How well the map fits")
        point = _choose_point(*charts.choose_curve(figures, form, _KEY_SUFFIX))
    elif form == "comparison":
        guidance_order.show_accuracy(figures["scores"])
    if form == "comparison":
        guidance_order.show_stages(state.guided or data)
        guidance_order.show_view_weights(state)
    return point


def _choose_point(curves: Mapping[str, Curve], kind: str) -> CurvePoint:
    curve_kind = charts.curve_type(kind)
    usual = float(f"{100 * pair_share_of(curves, curve_kind):.3g}")
    key = f"look-at-{curve_kind}-{usual}"
    # The field is below its curve, so its value comes from the session.
    chosen = float(st.session_state.setdefault(key, usual))
    share = None if chosen == usual else chosen / 100.0
    with st.container(height=190, border=False, key="clicked-curve"):
        charts.show_curve(curves, kind, share, lambda chart: _on_click(chart, key), _KEY_SUFFIX)
    theme.show_note(charts.curve_sentence(curves, kind, share), charts.curve_evidence(kind))
    st.number_input(
        "Close pair, at most this % of the far pair"
        if curve_kind == "comparisons"
        else "Closest pairs, in %",
        _MIN_PERCENT,
        100.0,
        step=1.0,
        format="%.3g",
        key=key,
        width=220,
        help="You can also click the curve. Statements not met there are listed next to it.",
    )
    return CurvePoint(kind, share)


def _on_click(chart: str, key: str) -> None:
    """Move the point to where the curve was clicked, ignoring deselection."""
    points = st.session_state[chart]["selection"]["points"]
    if points:
        share = points[0]["customdata"]
        share = share[0] if isinstance(share, list) else share
        st.session_state[key] = min(max(float(f"{100 * float(share):.2g}"), _MIN_PERCENT), 100.0)


def show_unmet(
    state: State, data: HeteroData, ledger: Ledger, form: str, point: CurvePoint
) -> None:
    """Show the statements not met at a point of the curve, the worst first, with costs."""
    statements = ledger.statements(form)
    n_rows, unmet, goodness_of_unmet = session.get_or_compute(
        ("lost", id(ledger), form, point), ledger, lambda: _unmet(statements, point)
    )
    title = _UNMET_TITLES.get(point.kind, "Links still far")
    theme.show_section(
        f"{title}{'' if point.share is None else f' at {percent(point.share)}'}",
        f"{len(unmet):,} of {n_rows:,}",
    )
    if not n_rows:
        theme.show_note("None of these statements is between items on this map.")
        return
    if not len(unmet):
        theme.show_note(f"The map fits all {n_rows:,}.")
        return
    pages = min(-(-len(unmet) // _PAGE_SIZE), _MAX_PAGES)
    lines_box = st.container()
    page = 1
    if pages > 1:
        page = st.pagination(pages, key=f"broken-page-{form}-{point.kind}-{point.share}-{pages}")
    if pages * _PAGE_SIZE < len(unmet):
        theme.show_note(
            f"These are the worst {pages * _PAGE_SIZE:,}. All {len(unmet):,} are in the table of "
            f"{form}s: choose “those not met” and search by name."
        )
    rows = records(
        statements.iloc[
            unmet[_worst_positions(goodness_of_unmet, (page - 1) * _PAGE_SIZE, page * _PAGE_SIZE)]
        ]
    )
    with lines_box:
        costs = _costs(state, [str(row["key"]) for row in rows], point)
        sentences.show_statements(data, rows, f"broken-{form}", costs)


def _unmet(statements: pd.DataFrame, point: CurvePoint) -> tuple[int, Ints, Floats]:
    """Return the number of statements, the positions of the unmet ones and their goodness."""
    rows = np.flatnonzero(
        _is_of_kind(statements, point.kind)
        & statements["on"].to_numpy()
        & (statements["fate"] != UNPLACED).to_numpy()
    )
    unmet = rows[is_unmet(statements, point)[rows]]
    return len(rows), unmet, goodness(statements)[unmet]


def is_unmet(rows: pd.DataFrame, point: CurvePoint) -> Bools:
    """Return which statements are not met at a point of the curve."""
    closeness = rows["near"].to_numpy(dtype=np.float64)
    if point.share is None:
        return (rows["fate"] == UNMET).to_numpy(dtype=bool)
    if point.kind == "comparisons":
        # far / (close + far) for a close pair that is `share` times as long as the far one
        return np.asarray(
            closeness <= 0.5 if point.share >= 1.0 else closeness < 1.0 / (1.0 + point.share)
        )
    is_together = rows["weight"].to_numpy(dtype=np.float64) > 0
    return np.asarray(is_together != (closeness >= 1.0 - point.share))


def _worst_positions(values: Floats, first: int, end: int) -> Ints:
    """Return positions `first` to `end` in order from the worst, ties as they stand."""
    if end >= len(values):
        return np.argsort(values, kind="stable")[first:end]
    limit = np.partition(values, end)[end]
    candidates = np.flatnonzero(values <= limit)
    return candidates[np.argsort(values[candidates], kind="stable")][first:end]


def _is_of_kind(rows: pd.DataFrame, kind: str) -> Bools:
    """Return which statements a curve is about."""
    weight = rows["weight"].to_numpy(dtype=np.float64)
    if kind == "comparisons":
        return np.ones(len(rows), dtype=bool)
    if kind == "apart":
        return np.asarray(weight < 0)
    if "|" not in kind:
        return np.asarray(weight > 0)
    mask = weight > 0
    mask &= (rows["joins"] == datasets_text(kind.split("|"))).to_numpy()
    return np.asarray(mask)


def _costs(state: State, keys: Sequence[str], point: CurvePoint) -> dict[str, str]:
    """Return, by key, what meeting a statement would cost."""
    data, run = state.guided, state.run
    embedding = None if run is None else charts.embedding_of(state, run)
    share = None if point.kind == "comparisons" else point.share
    if data is None or embedding is None or (share is not None and not 0 < share < 1):
        return {}

    # Until the costs are ready, statements are shown without them.
    costs = None
    with failure.show_failure("prices"):
        costs = worker_results.fetch_from_worker(
            project_id(),
            data,
            ("price", id(embedding), share, tuple(keys)),
            "price-statements",
            {"embedding": embedding, "near": share, "keys": list(keys)},
            embedding,
        )
    return dict(costs or {})
