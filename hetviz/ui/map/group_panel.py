"""Panel of several selected items: counts, differences, links and actions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from hetviz._text import join_first
from hetviz._types import Bools, Ints
from hetviz.data import HeteroData
from hetviz.data.queries.rows import links_touching
from hetviz.features.relations.most_linked import most_linked
from hetviz.io.bundle.coordinates import rows_csv
from hetviz.metrics.contrast import MIN_ITEMS, Difference, find_differences
from hetviz.plots.colour import display_name
from hetviz.plots.filter_text import number_text, value_text
from hetviz.plots.palette import shape_of
from hetviz.ui.item import item_chip, item_text
from hetviz.ui.map import filters, map_reasons, new_map
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.widgets.select_buttons import show_select_button
from hetviz.workspace import State

_MAX_ITEMS_SHOWN = 30
_MAX_LINKED_SHOWN = 3
"""Number of tables of linked items before *Show more*."""


@dataclass(frozen=True)
class GroupAction:
    """A button of the panel. `run` gets the selected rows."""

    label: str
    key: str
    help: str
    run: Callable[[Ints], None]


_WITH_HIDDEN = "compare-with-hidden"
_MAX_IDS_COPIED = 2000


def show_group(
    state: State,
    rows: Ints,
    actions: Sequence[GroupAction] = (),
    show_more: Callable[[Ints], None] = lambda rows: None,
) -> None:
    """Show the panel, with actions of other packages; `show_more` shows further ones."""
    data = state.data
    if data is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        theme.show_section(f"{len(rows):,} selected")
        st.button("Clear", type="tertiary", key="clear", on_click=selection.clear_selection)
    st.html(f'<div class="hv-summary">{"".join(_count_texts(data, rows))}</div>')
    _show_actions(state, data, rows, actions, show_more)
    if len(rows) == 2 and state.run is not None:
        map_reasons.show_pair(state, state.run, int(rows[0]), int(rows[1]))
    shown = filters.shown_rows(state)
    _show_differences(data, rows, shown, map_reasons.axes_of(state))
    _show_linked_counts(data, rows)
    _show_links(state, data, rows)
    theme.show_section("Items", f"first {_MAX_ITEMS_SHOWN}" if len(rows) > _MAX_ITEMS_SHOWN else "")
    item_chip.show_named(data, rows[:_MAX_ITEMS_SHOWN].tolist())


def _count_texts(data: HeteroData, rows: Ints) -> list[str]:
    texts = []
    for place, (name, span) in enumerate(data.offsets.items()):
        number = int(((rows >= span.start) & (rows < span.stop)).sum())
        if number:
            texts.append(
                "<span>"
                + theme.evidence_html(
                    f"<b>{shape_of(place)[1]} {number:,}</b> of {len(data[name]):,} "
                    f"{theme.escape_html(name)}",
                    theme.evidence_key("selection", name),
                )
                + "</span>"
            )
    return texts


def _show_actions(
    state: State,
    data: HeteroData,
    rows: Ints,
    actions: Sequence[GroupAction],
    show_more: Callable[[Ints], None],
) -> None:
    with st.container(horizontal=True, gap="small", key="group-actions"):
        st.button(
            "Only these",
            key="only-these",
            help="Hides all other items. Remove the filter above the map to show them.",
            on_click=filters.show_only,
            args=(rows.tolist(),),
        )
        st.button(
            "Map only these",
            key="map-only-these",
            help="Makes a new map of these items only, with the method and settings of New map.",
            disabled=not new_map.can_make(state),
            on_click=new_map.make_map,
            args=(rows,),
        )
        for action in actions:
            st.button(
                action.label,
                key=action.key,
                help=action.help,
                on_click=action.run,
                args=(rows,),
            )
        show_more(rows)
        with st.popover("Ids", key="ids-of-selection"):
            _show_ids(data, rows)


def _show_ids(data: HeteroData, rows: Ints) -> None:
    st.download_button(
        "Download as CSV",
        data=lambda: rows_csv(data, rows.tolist()),
        file_name="selection.csv",
        mime="text/csv",
        on_click="ignore",
        key="download-ids",
    )
    if len(rows) <= _MAX_IDS_COPIED:
        theme.show_note("Or copy them with the button in the corner:")
        st.code(rows_csv(data, rows.tolist()), language=None, height=220)
    else:
        theme.show_note(f"At most {_MAX_IDS_COPIED:,} items can be copied.")


def _show_differences(
    data: HeteroData, rows: Ints, shown: Bools, axes: Collection[str] = ()
) -> None:
    """Show the columns that differ from the other items that are shown, by dataset.

    `axes`: Columns that are the map itself, and differ in any case.
    """
    n_hidden = int((~shown).sum())
    if n_hidden and st.session_state.get(_WITH_HIDDEN):
        shown = np.ones_like(shown)
    differences: list[tuple[str, Difference]] = []
    is_comparable = False
    for name, span in data.offsets.items():
        mask = np.zeros(len(data[name]), dtype=bool)
        mask[rows[(rows >= span.start) & (rows < span.stop)] - span.start] = True
        others = shown[span] & ~mask
        is_comparable |= min(int(mask.sum()), int(others.sum())) >= MIN_ITEMS
        found = _find_differences(data, name, mask, shown[span])
        differences += [(name, one) for one in found if one.column not in axes]
    if not is_comparable and not n_hidden:
        return
    if any(item_text.is_loading(data, name) for name in data.datasets):
        theme.show_section("What sets them apart")
        theme.show_note("Reading the columns.")
        return
    elsewhere = "among the others shown" if n_hidden and not shown.all() else "elsewhere"
    theme.show_section("What sets them apart", f"here and {elsewhere}")
    if n_hidden:
        st.toggle(
            f"Compare with the {n_hidden:,} hidden items too",
            key=_WITH_HIDDEN,
            persist_state="session",
        )
    if not is_comparable:
        theme.show_note("The filter hides the other items, so there is nothing to compare with.")
        return
    if not differences:
        theme.show_note("No column differs clearly between these items and the others.")
        return
    many = len({name for name, _ in differences}) > 1
    theme.show_table(
        ["", "here", "others shown" if elsewhere != "elsewhere" else elsewhere],
        [
            _difference_row(f"{name}, " if many else "", difference)
            for name, difference in differences
        ],
        evidence=[
            theme.evidence_key(
                "difference",
                name,
                difference.column,
                difference.value or "",
                "all" if shown.all() else "",
            )
            for name, difference in differences
        ],
    )


def _find_differences(data: HeteroData, name: str, mask: Bools, among: Bools) -> list[Difference]:
    if item_text.is_loading(data, name):
        return []
    mark = hashlib.sha256(mask.tobytes() + among.tobytes()).hexdigest()
    return session.get_or_compute(
        ("contrast", id(data), name, mark),
        data,
        lambda: find_differences(item_text.columns_of(data, name), mask, among=among),
    )


def _show_linked_counts(data: HeteroData, rows: Ints) -> None:
    """Show what the links of the items lead to most, also through other datasets."""
    n_datasets = sum(
        bool(((rows >= span.start) & (rows < span.stop)).any()) for span in data.offsets.values()
    )
    mark = hashlib.sha256(np.sort(rows).tobytes()).hexdigest()
    frame = session.get_or_compute(
        ("most linked", id(data), mark), data, lambda: most_linked(data, rows)
    )
    if not len(frame):
        return
    theme.show_section("What they link to most", "here and elsewhere")
    tables = [table for _, table in frame.groupby(["dataset", "linked_dataset"], sort=False)]
    for table in tables[:_MAX_LINKED_SHOWN]:
        _show_linked_table(table, n_datasets > 1)
    if others := tables[_MAX_LINKED_SHOWN:]:
        names = [str(table["linked_dataset"].iloc[0]) for table in others]
        with st.expander(f"Show more: {join_first(list(dict.fromkeys(names)), 3)}"):
            for table in others:
                _show_linked_table(table, n_datasets > 1)


def _show_linked_table(table: pd.DataFrame, is_named: bool) -> None:
    """Show what items of a dataset link to most in another one, with or without its name."""
    name, linked, through = (table[key].iloc[0] for key in ("dataset", "linked_dataset", "through"))
    head = f"{linked} through {through}" if through else linked
    theme.show_table(
        [f"{name}: {head}" if is_named else head, "links", "here", "elsewhere"],
        [
            [
                row["title"],
                f"{row['n_links']:,}",
                item_text.share_text(row["share"]),
                "" if math.isnan(elsewhere) else item_text.share_text(elsewhere),
            ]
            for row in table.to_dict("records")
            for elsewhere in [row["share_elsewhere"]]
        ],
    )


def _difference_row(prefix: str, difference: Difference) -> list[str]:
    column = prefix + display_name(difference.column)
    if difference.value is not None:
        return [
            f"{column}: {value_text(difference.value)}",
            item_text.share_text(difference.inside),
            item_text.share_text(difference.outside),
        ]
    return [
        f"{column}, median",
        number_text(difference.inside, difference.kind),
        number_text(difference.outside, difference.kind),
    ]


def _show_links(state: State, data: HeteroData, rows: Ints) -> None:
    touching_links = links_touching(data, rows)
    if not len(touching_links):
        return
    together, apart = touching_links.weight > 0, touching_links.weight < 0
    lines = [
        (
            "Links among them",
            f"{int((together & touching_links.inside).sum()):,}",
            theme.evidence_key("selection-links"),
        ),
        (
            "Links to other items",
            f"{int((together & ~touching_links.inside).sum()):,}",
            theme.evidence_key("selection-links"),
        ),
    ]
    if apart.any():
        n_apart = int((apart & touching_links.inside).sum())
        lines.append(("Links apart among them", f"{n_apart:,}", ""))
    theme.show_section("Their links")
    theme.show_pairs(lines)
    linked = touching_links.leads_to()
    show_select_button(
        state,
        "Add {n}",
        "pick-linked",
        linked.tolist(),
        noun="linked item",
        selected=rows.tolist(),
    )
