"""How far the map keeps what was said: curves, and the statements it breaks with what opposes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hetviz.data import HeteroData
from hetviz.ui import charts, guidance_order, guidance_say, known, look
from hetviz.ui.guidance_ledger import BROKEN, NO_PLACE, Ledger, goodness, records
from hetviz.workspace import State

_TOLD = 5


def measured(state: State, data: HeteroData, form: str) -> None:
    """Show how far the map keeps the links, or the comparisons and what becomes of them."""
    if state.run is None:
        return
    figures = charts.figures(state, state.run)
    if form == "comparison":
        guidance_order.shares(figures["scores"])
        guidance_order.stages(state.guided or data)
        guidance_order.views(state)
    elif figures["curves"]:
        look.section("Links the map keeps")
        charts.show_curve(figures["curves"])
        look.quiet(charts.curve_words(figures["curves"]))
        _apart(figures["scores"])


def _apart(scores: Mapping[str, Any]) -> None:
    """Say how far what is said to be apart lies apart."""
    given = scores.get("negative_guidance_area")
    if given is not None:
        look.quiet(
            f"Pairs said to be apart lie farther apart than {known.share_words(given)} of all "
            "pairs; by chance 50 %."
        )


def broken(state: State, data: HeteroData, ledger: Ledger, form: str) -> None:
    """Show the statements that the map breaks, the worst first, each with its price."""
    rows = ledger.of(form)
    lost = rows[(rows["fate"] == BROKEN) & rows["on"]]
    kept = len(rows) - int((rows["fate"] == NO_PLACE).sum())
    what = "Links" if form == "link" else "Comparisons"
    look.section(f"{what} not met", f"{len(lost):,} of {kept:,}")
    if lost.empty:
        look.quiet(f"The map keeps all of them: {kept:,}.")
        return
    worst = lost.iloc[np.argsort(goodness(lost), kind="stable")[:_TOLD]]
    told = records(worst)
    guidance_say.lines(data, told, f"broken-{form}", {})
