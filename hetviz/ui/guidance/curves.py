"""How far the map keeps what was said: curves one can click, and what is not kept there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from hetviz._text import percent
from hetviz._types import Bools, Floats, Ints
from hetviz.data import HeteroData
from hetviz.plots.curve import Curve, usual_place
from hetviz.ui.guidance import order as guidance_order
from hetviz.ui.guidance import sentences
from hetviz.ui.guidance.ledger import NO_PLACE, Ledger, goodness, joins, records
from hetviz.ui.map import away
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts, failed
from hetviz.workspace import State

_MOST_PAGES = 25
_TOLD = 4
_LEAST = 0.1
_HIGH, _LOW = 186, 165
_HERE = "-guidance"
_NOT_MET = {"apart": "Said apart, yet near", "comparisons": "Comparisons not met"}


@dataclass(frozen=True)
class ReadOff:
    """Where the curve is read off.

    Attributes
    ----------
    kind : str
        Of statements, as in `hetviz.metrics.fit.curves`.
    at : float
        Share of all pairs; of comparisons the length of the near pair beside the far pair's.
    """

    kind: str
    at: float


def usual(form: str) -> ReadOff:
    """Return where the curve is read off as long as nobody asked for another place."""
    kind = "comparisons" if form == "comparison" else "links"
    return ReadOff(kind, usual_place(kind))


def glance(state: State, *, low: bool = False) -> None:
    """Show how far the map keeps the links, as a small picture without anything to set."""
    if state.run is None:
        return
    kinds = charts.curves_of(charts.figures(state, state.run), "link")
    if kinds.get("links"):
        with st.container(height=_LOW if low else _HIGH, border=False, key="small-curve"):
            charts.show_curve(kinds["links"], place=_HERE, height=_LOW - 11 if low else None)


def measured(state: State, data: HeteroData, form: str) -> ReadOff:
    """Show how far the map keeps the links or the comparisons; return where that is read off."""
    found = usual(form)
    if state.run is None:
        return found
    figures = charts.figures(state, state.run)
    if any(charts.curves_of(figures, form).values()):
        theme.section("What the map keeps")
        found = _curve(*charts.choose_curve(figures, form, _HERE))
    elif form == "comparison":
        guidance_order.shares(figures["scores"])
    if form == "comparison":
        guidance_order.stages(state.guided or data)
        guidance_order.views(state)
    return found


def _curve(curves: Mapping[str, Curve], kind: str) -> ReadOff:
    sort = charts.sort_of(kind)
    key = f"look-at-{sort}"
    # The field stands below the curve that it moves; until it is drawn the session knows its value.
    share = float(st.session_state.setdefault(key, 100.0 * usual_place(sort))) / 100.0
    with st.container(height=190, border=False, key="clicked-curve"):
        charts.show_curve(curves, kind, share, lambda chart: _clicked(chart, key), _HERE)
    theme.quiet(charts.curve_words(curves, kind, share))
    st.number_input(
        "Near pair, at most so many % as long" if sort == "comparisons" else "Nearest pairs, in %",
        _LEAST,
        100.0,
        step=1.0,
        format="%.3g",
        key=key,
        width=220,
        help="A click on the curve sets it too. Beside it stands what is not kept there.",
    )
    return ReadOff(kind, share)


def _clicked(chart: str, key: str) -> None:
    """Read the curve off where it was clicked; a click that takes a point back says nothing."""
    points = st.session_state[chart]["selection"]["points"]
    if points:
        share = points[0]["customdata"]
        share = share[0] if isinstance(share, list) else share
        st.session_state[key] = min(max(float(f"{100 * float(share):.2g}"), _LEAST), 100.0)


def broken(state: State, data: HeteroData, ledger: Ledger, form: str, read: ReadOff) -> None:
    """Show the statements that are not kept at a place of the curve, the worst first, priced."""
    said = ledger.of(form)
    n_rows, lost, good = session.cached(
        ("lost", id(ledger), form, read), ledger, lambda: _lost(said, read)
    )
    what = _NOT_MET.get(read.kind, "Links not met")
    usual = read.at == usual_place(charts.sort_of(read.kind))
    theme.section(
        f"{what}{'' if usual else f' at {percent(read.at)}'}",
        f"{len(lost):,} of {n_rows:,}",
    )
    if not n_rows:
        theme.quiet("Nothing of this is between items that have a place on this map.")
        return
    if not len(lost):
        theme.quiet(f"The map keeps all of them: {n_rows:,}.")
        return
    pages = min(-(-len(lost) // _TOLD), _MOST_PAGES)
    place = st.container()
    page = 1
    if pages > 1:
        page = st.pagination(pages, key=f"broken-page-{form}-{read.kind}-{read.at}-{pages}")
    if pages * _TOLD < len(lost):
        theme.quiet(
            f"The {pages * _TOLD:,} that are kept worst stand here. All {len(lost):,} are in the "
            f"table of {form}s: choose “those not kept”, and find one by name."
        )
    told = records(said.iloc[lost[_worst(good, (page - 1) * _TOLD, page * _TOLD)]])
    with place:
        prices = _prices(state, [str(row["key"]) for row in told], read)
        sentences.lines(data, told, f"broken-{form}", prices)


def _lost(said: pd.DataFrame, read: ReadOff) -> tuple[int, Ints, Floats]:
    """Return how many statements a curve is of, those not kept there, and how well these are."""
    rows = np.flatnonzero(
        _of_kind(said, read.kind) & said["on"].to_numpy() & (said["fate"] != NO_PLACE).to_numpy()
    )
    lost = rows[lost_at(said, read)[rows]]
    return len(rows), lost, goodness(said)[lost]


def lost_at(rows: pd.DataFrame, read: ReadOff) -> Bools:
    """Say which statements do not count as kept at a place of the curve."""
    near = rows["near"].to_numpy(dtype=np.float64)
    if read.kind == "comparisons":
        # far / (near + far) of a pair that is `at` times as long
        return np.asarray(near <= 0.5 if read.at >= 1.0 else near < 1.0 / (1.0 + read.at))
    together = rows["weight"].to_numpy(dtype=np.float64) > 0
    return np.asarray(together != (near >= 1.0 - read.at))


def _worst(good: Floats, first: int, end: int) -> Ints:
    """Return places `first` to `end` of the order from the worst on, equal ones as they stand."""
    if end >= len(good):
        return np.argsort(good, kind="stable")[first:end]
    most = np.partition(good, end)[end]
    some = np.flatnonzero(good <= most)
    return some[np.argsort(good[some], kind="stable")][first:end]


def _of_kind(rows: pd.DataFrame, kind: str) -> Bools:
    """Say which statements a curve is of."""
    weight = rows["weight"].to_numpy(dtype=np.float64)
    if kind == "comparisons":
        return np.ones(len(rows), dtype=bool)
    if kind == "apart":
        return np.asarray(weight < 0)
    if "|" not in kind:
        return np.asarray(weight > 0)
    found = weight > 0
    found &= (rows["joins"] == joins(kind.split("|"))).to_numpy()
    return np.asarray(found)


def _prices(state: State, keys: Sequence[str], read: ReadOff) -> dict[str, str]:
    """Return, by key, what keeping a statement would break."""
    data, run = state.guided, state.run
    embedding = None if run is None else charts.embedding_of(state, run)
    near = usual_place("links") if read.kind == "comparisons" else read.at
    if data is None or embedding is None or not 0 < near < 1:
        return {}

    # While they are found out the statements stand there without them.
    found = None
    with failed.told("prices"):
        found = away.found(
            background.owner(),
            data,
            ("price", id(embedding), near, tuple(keys)),
            "hetviz.jobs.tasks.look:prices",
            {"embedding": embedding, "near": near, "keys": list(keys)},
            embedding,
        )
    return dict(found or {})
