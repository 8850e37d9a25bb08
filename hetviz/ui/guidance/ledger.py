"""All that was said, one row a statement, each with how far the map keeps it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Texts
from hetviz.data import HeteroData
from hetviz.data.model.statements import statement_keys, statement_rows, statements
from hetviz.data.queries.filters import folded
from hetviz.plots.curve import LOOK_AT
from hetviz.ui.map.links_of_rows import hidden_from
from hetviz.ui.shell import session
from hetviz.ui.widgets import charts
from hetviz.workspace import State

KEPT, BROKEN, NO_PLACE, UNSEEN = "kept", "not kept", "no place", ""
LINK_ENDS = ("p", "q")
COMPARED = ("a", "b", "c", "d")


@dataclass(frozen=True, eq=False)
class Ledger:
    """What was said.

    Attributes
    ----------
    links, comparisons : DataFrame
        The rows of `hetviz.statements` of that form, with the global rows of their items (p, q or
        a, b, c, d), ``own`` (it can be edited), ``on`` (its set is switched on), ``held`` (the
        method of the map did not see it), ``near`` (how far the map keeps it, 0 to 1) and ``fate``
        (kept, not kept, no place, or empty where there is no map).
    aside : DataFrame
        Links that came with the data to judge maps by, the same columns; they cannot be edited.
    """

    links: pd.DataFrame
    comparisons: pd.DataFrame
    aside: pd.DataFrame

    def of(self, form: str) -> pd.DataFrame:
        """Return the links or the comparisons."""
        return self.comparisons if form == "comparison" else self.links

    @property
    def sets(self) -> pd.DataFrame:
        """Return one row a set: set, number, on; in the order in which they were first said."""
        both = pd.concat([part[["set", "on"]] for part in (self.links, self.comparisons)])
        found = both.groupby("set", sort=False)["on"].agg(["size", "all"]).reset_index()
        return found.set_axis(["set", "number", "on"], axis=1)


def ledger_of(state: State) -> Ledger:
    """Return what was said, with how far the shown map keeps it; kept until either changes."""
    data, run = _data(state), state.run
    return session.cached(
        ("ledger", id(data), id(run), state.off, id(state.held_out)),
        (data, run, state.held_out),
        lambda: _read(state),
    )


def _read(state: State) -> Ledger:
    data, run = _data(state), state.run
    said = statements(data)
    on = ~said["set"].isin(list(state.off))
    items = statement_rows(data)
    is_link = (said["form"] == "link").to_numpy(dtype=bool)
    said = said.assign(on=on, held=False, own=True)
    links = said[is_link].assign(p=items[is_link, 0], q=items[is_link, 1]).reset_index(drop=True)
    pairs = dict(zip(COMPARED, items[~is_link].T, strict=True))
    compared = said[~is_link].assign(**pairs).reset_index(drop=True)
    near_links, near_compared = np.full(len(links), np.nan), np.full(len(compared), np.nan)
    embedding = None if run is None else charts.embedding_of(state, run)
    if run is not None and embedding is not None:
        from hetviz.metrics.fit.nearest import comparison_nearness, link_nearness

        near_links = link_nearness(data, embedding)
        near_compared = comparison_nearness(data, embedding)
        hidden = hidden_from(state.guided or data, run)
        if hidden is not None:
            links["held"] = links["key"].isin(statement_keys(hidden))
            compared["held"] = compared["key"].isin(statement_keys(hidden))
    seen = embedding is not None
    links = _judged(links, near_links, seen)
    compared["near"] = near_compared
    agrees = np.where(near_compared > 0.5, KEPT, BROKEN)
    compared["fate"] = np.where(np.isnan(near_compared), NO_PLACE if seen else UNSEEN, agrees)
    return Ledger(links, compared, _aside(state, data, links))


def _judged(links: pd.DataFrame, near: Floats, seen: bool) -> pd.DataFrame:
    together, close = links["weight"].to_numpy() > 0, near >= 1.0 - LOOK_AT
    fate = np.where(together == close, KEPT, BROKEN)
    return links.assign(
        near=near, fate=np.where(np.isnan(near), NO_PLACE if seen else UNSEEN, fate)
    )


def _aside(state: State, data: HeteroData, links: pd.DataFrame) -> pd.DataFrame:
    """Return the links that came to judge maps by, as far as their items are still there."""
    held = state.held_out
    if held is None or not len(held.links):
        return links.iloc[:0]
    said = statements(held)
    said = said[said["form"] == "link"].reset_index(drop=True)
    ends = []
    for end in ("source", "target"):
        rows = np.full(len(said), -1, dtype=np.int64)
        for name in said[end].unique():
            mine = (said[end] == name).to_numpy()
            if name in data.datasets:
                found = data[name].find(said.loc[mine, f"{end}_id"].to_numpy(dtype=object))
                rows[mine] = np.where(found >= 0, found + data.offsets[name].start, -1)
        ends.append(rows)
    said = said.assign(on=True, held=True, own=False, p=ends[0], q=ends[1])
    there = (ends[0] >= 0) & (ends[1] >= 0)
    run = state.run
    embedding = None if run is None else charts.embedding_of(state, run)
    near = np.full(len(said), np.nan)
    if embedding is not None:
        from hetviz.metrics.fit.nearest import link_nearness

        near = link_nearness(held, embedding)
    return _judged(said, near, embedding is not None)[there].reset_index(drop=True)


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def goodness(rows: pd.DataFrame) -> Floats:
    """Return how well each statement is kept: the broken below 1, then the kept, then the others.

    Pairs said to be apart are the better kept the farther apart they lie.
    """
    near = rows["near"].to_numpy(dtype=np.float64)
    good = np.where(rows["weight"] > 0, near, 1.0 - near) + (rows["fate"] == KEPT).to_numpy()
    return np.asarray(np.nan_to_num(good, nan=3.0), dtype=np.float64)


def by_key(ledger: Ledger, keys: Collection[str]) -> dict[str, dict[str, object]]:
    """Return the rows of those keys."""
    parts = (ledger.links, ledger.comparisons)
    found = [row for part in parts for row in records(part[part["key"].isin(keys)])]
    return {str(row["key"]): row for row in found}


def titles(data: HeteroData) -> Texts:
    """Return what each global row is called."""
    return session.cached(
        ("titles", id(data)),
        data,
        lambda: np.array(
            [str(title) for part in data.datasets.values() for title in part.titles], dtype=object
        ),
    )


def naming(data: HeteroData, rows: pd.DataFrame, text: str) -> Bools:
    """Say which statements hold a text in the name of an item, their kind, set or note."""
    wanted = " ".join(folded(text).split())
    names = session.cached(
        ("folded", id(data)), data, lambda: np.array([folded(name) for name in titles(data)])
    )
    hit_rows = np.char.find(names.astype(str), wanted) >= 0
    hit = np.zeros(len(rows), dtype=bool)
    for end in ends_of(rows):
        hit |= hit_rows[rows[end].to_numpy()]
    for column in ("kind", "set", "note"):
        if column in rows:
            hit |= [wanted in folded(str(cell)) for cell in rows[column].fillna("")]
    return hit


def ends_of(rows: pd.DataFrame) -> Iterable[str]:
    """Return the columns that hold the items of statements."""
    return LINK_ENDS if "p" in rows else COMPARED


def _data(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - asked for only where data are open
    return state.data
