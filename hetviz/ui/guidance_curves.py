"""How far the map keeps what was said: curves, and the statements it breaks with what opposes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetviz.data import Embedding, HeteroData
from hetviz.metrics.pricing import price
from hetviz.plots.curve import LOOK_AT
from hetviz.ui import charts, guidance_order, guidance_say, look, session
from hetviz.ui.guidance_ledger import BROKEN, NO_PLACE, Ledger, goodness, records
from hetviz.workspace import State

_TOLD = 4
# Prices are looked for among so many broken statements, and where that is too few, so many.
_PRICED = (60, 500)


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
        look.section("What the map keeps")
        curves, sort = charts.choose_curve(figures)
        charts.show_curve(curves, sort)
        look.quiet(charts.curve_words(curves, sort))


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
    guidance_say.lines(data, told, f"broken-{form}", _prices(state, [row["key"] for row in told]))


def _prices(state: State, keys: Sequence[str]) -> dict[str, str]:
    """Return, by key, what keeping a statement would break; the worst are looked at first."""
    data, run = state.guided, state.run
    embedding = None if run is None else charts.embedding_of(state, run)
    if data is None or embedding is None:
        return {}
    found = _priced(data, embedding, _PRICED[0])
    return found if set(keys) <= set(found) else _priced(data, embedding, _PRICED[1])


def _priced(data: HeteroData, embedding: Embedding, most: int) -> dict[str, str]:
    def make() -> dict[str, str]:
        table = price(data, embedding, near=LOOK_AT, most=most)
        return dict(zip(table["key"], table["sentence"], strict=True))

    return session.cached(("price", id(data), id(embedding), most), (data, embedding), make)
