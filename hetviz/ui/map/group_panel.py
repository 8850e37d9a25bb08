"""The panel of several selected items: how many of each, what sets them apart, what to do."""

from __future__ import annotations

import hashlib

import numpy as np
import streamlit as st

from hetviz._types import Bools, Ints
from hetviz.data import HeteroData
from hetviz.data.queries.rows import touching
from hetviz.io.bundle.coordinates import rows_csv
from hetviz.metrics.contrast import LEAST_ITEMS, Difference, contrast
from hetviz.plots.colour import spoken
from hetviz.plots.palette import shape_of
from hetviz.ui.map import new_map
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.widgets import filters, item_chip, item_text
from hetviz.workspace import State

_MOST_FACES = 30
_MOST_COPIED = 2000


def show(state: State, rows: Ints) -> None:
    """Show several items."""
    data = state.data
    if data is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        theme.section(f"{len(rows):,} selected")
        st.button("Clear", type="tertiary", key="clear", on_click=selection.clear)
    st.html(f'<div class="hv-told">{"".join(_counts(data, rows))}</div>')
    _actions(state, data, rows)
    _apart(data, rows)
    _links(data, rows)
    theme.section("Items", f"first {_MOST_FACES}" if len(rows) > _MOST_FACES else "")
    item_chip.named(data, rows[:_MOST_FACES].tolist())


def _counts(data: HeteroData, rows: Ints) -> list[str]:
    words = []
    for place, (name, span) in enumerate(data.offsets.items()):
        number = int(((rows >= span.start) & (rows < span.stop)).sum())
        if number:
            words.append(
                f"<span><b>{shape_of(place)[1]} {number:,}</b> of {len(data[name]):,} "
                f"{theme.esc(name)}</span>"
            )
    return words


def _actions(state: State, data: HeteroData, rows: Ints) -> None:
    with st.container(horizontal=True, gap="small", key="group-actions"):
        st.button(
            "Only these",
            key="only-these",
            help="Hide all other items. A filter above the map; undo or remove it there.",
            on_click=filters.only,
            args=(rows.tolist(),),
        )
        st.button(
            "Map only these",
            key="map-only-these",
            help="Make a new map of these items alone, with the method and settings below.",
            disabled=not new_map.can_make(state),
            on_click=new_map.make,
            args=(rows,),
        )
        with st.popover("Ids", key="ids-of-selection"):
            _ids(data, rows)


def _ids(data: HeteroData, rows: Ints) -> None:
    st.download_button(
        "Download as CSV",
        data=lambda: rows_csv(data, rows.tolist()),
        file_name="selection.csv",
        mime="text/csv",
        on_click="ignore",
        key="download-ids",
    )
    if len(rows) <= _MOST_COPIED:
        theme.quiet("Or copy them with the button at the corner:")
        st.code(rows_csv(data, rows.tolist()), language=None, height=220)
    else:
        theme.quiet(f"Copying is for up to {_MOST_COPIED:,} items.")


def _apart(data: HeteroData, rows: Ints) -> None:
    """Say what sets them apart, dataset by dataset."""
    told: list[tuple[str, Difference]] = []
    looked = False
    for name, span in data.offsets.items():
        mine = np.zeros(len(data[name]), dtype=bool)
        mine[rows[(rows >= span.start) & (rows < span.stop)] - span.start] = True
        looked |= min(int(mine.sum()), int((~mine).sum())) >= LEAST_ITEMS
        told += [(name, difference) for difference in _contrast(data, name, mine)]
    if not looked:
        return
    if any(item_text.while_read(data, name) for name in data.datasets):
        theme.section("What sets them apart")
        theme.quiet("The columns are being read.")
        return
    theme.section("What sets them apart", "here, and elsewhere")
    if not told:
        theme.quiet("No column tells these items from the others of their datasets.")
        return
    many = len({name for name, _ in told}) > 1
    theme.table(
        ["", "here", "elsewhere"],
        [_difference(f"{name}, " if many else "", difference) for name, difference in told],
    )


def _contrast(data: HeteroData, name: str, mine: Bools) -> list[Difference]:
    if item_text.while_read(data, name):
        return []
    mark = hashlib.sha256(mine.tobytes()).hexdigest()
    return session.cached(
        ("contrast", id(data), name, mark),
        data,
        lambda: contrast(item_text.columns_of(data, name), mine),
    )


def _difference(prefix: str, found: Difference) -> list[str]:
    column = prefix + spoken(found.column)
    if found.value is not None:
        return [
            f"{column}: {item_text.in_words(found.value)}",
            item_text.share_words(found.inside),
            item_text.share_words(found.outside),
        ]
    return [
        f"{column}, median",
        item_text.number_words(found.inside, found.kind),
        item_text.number_words(found.outside, found.kind),
    ]


def _links(data: HeteroData, rows: Ints) -> None:
    found = touching(data, rows)
    if not len(found):
        return
    together, apart = found.weight > 0, found.weight < 0
    lines = [
        ("Links among them", f"{int((together & found.inside).sum()):,}"),
        ("Links to other items", f"{int((together & ~found.inside).sum()):,}"),
    ]
    if apart.any():
        lines.append(("Said to be apart, among them", f"{int((apart & found.inside).sum()):,}"))
    theme.section("Their links")
    theme.pairs(lines)
    linked = [*rows.tolist(), *found.leads_to().tolist()]
    st.button(
        "Add what they are linked to",
        key="pick-linked",
        disabled=len(linked) == len(rows),
        on_click=selection.choose,
        args=(linked,),
    )
