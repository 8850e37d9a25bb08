"""What moved when the map was made again: the list in the panel."""

from __future__ import annotations

import numpy as np
import streamlit as st

from hetviz._types import Floats
from hetviz.errors import HetvizError
from hetviz.metrics.fit.moved import moved
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.widgets import charts, item_chip
from hetviz.workspace import Run, State

NOTICED = 0.05
"""Share of the map's extent from which on an item counts as having moved."""
_MOST = 8


def show(state: State, run: Run) -> bool:
    """Show what moved most; return whether there was anything to show.

    Where something was said since the map was made, what moved then is no longer told.
    """
    far = distances(state, run)
    if far is None or state.data is None or not state.is_current(run):
        return False
    there = np.flatnonzero(np.isfinite(far))
    if not len(there):
        return False
    rows = there[np.argsort(-far[there], kind="stable")]
    away = rows[far[rows] >= NOTICED]
    still = len(there) - len(away)
    theme.section("What moved most", f"{len(away):,} of {len(there):,}")
    if len(away):
        item_chip.named(state.data, away[:_MOST].tolist())
    theme.quiet(
        f"{still:,} items stayed: they moved less than {_percent(NOTICED)} of the width of the "
        f"map, half of them less than {_percent(float(np.median(far[there])))}."
    )
    if len(away):
        st.button("Select what moved", key="pick-moved", on_click=selection.choose, args=(away,))
    return True


def distances(state: State, run: Run) -> Floats | None:
    """Return how far each row moved, or None where the map was not made from another."""
    before, after = run.before, charts.embedding_of(state, run)
    if before is None or after is None:
        return None

    def measured() -> Floats | None:
        try:
            return moved(before, after)
        except HetvizError:
            # Rows were added or taken away since.
            return None

    return session.cached(("moved", id(state.data), id(run)), (state.data, run), measured)


def _percent(share: float) -> str:
    return f"{share:.1%}".replace(".0%", "%").replace("%", " %")
