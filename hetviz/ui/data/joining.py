"""The Data page's part on joining: proposals, ways by hand, whom links reach, the same things."""

from __future__ import annotations

import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.queries.reach import reach
from hetviz.ui.data import joining_cards, joining_forms
from hetviz.ui.data import joining_preview as preview
from hetviz.ui.shell import session, theme
from hetviz.workspace import SetEntity, State


def column(state: State) -> None:
    """Show what joins the datasets or may do so, and what is amiss with the links."""
    data = state.data
    if data is None:
        return
    theme.section("Join datasets", "by ids, lists or places")
    joining_cards.cards(data)
    joining_forms.by_hand(data)
    if data.links:
        preview.warned(session.cached(("reach", id(data)), data, lambda: reach(data)).warnings)


def same_things(data: HeteroData, name: str, place: int) -> None:
    """Ask whether a dataset shows the same things as another one."""
    others = [other for other in data.datasets if other != name]
    if not others:
        return
    with (
        st.popover("Same things", type="tertiary", key=f"same-{place}"),
        st.container(width=340, key=f"same-form-{place}"),
    ):
        theme.quiet(
            "Two datasets can show the same things in two ways, as a picture and a text of one "
            "product. Rows with the same id are then one thing, and need no links."
        )
        entity = data[name].entity
        now = next((other for other in others if data[other].entity == entity), None)
        chosen = st.selectbox(
            f"{theme.plain(name)}: the same things as",
            [None, *others],
            index=0 if now is None else 1 + others.index(now),
            format_func=lambda other: "none of the others" if other is None else str(other),
            key=f"same-as-{place}-{name}-{now}",
        )
        if chosen is not None:
            shared = int((data[chosen].find(data[name].ids) >= 0).sum())
            theme.quiet(
                f"{shared:,} of {len(data[name]):,} {name} have an id that {chosen} has too."
            )
        st.button(
            "Apply",
            key=f"do-same-{place}",
            disabled=chosen == now,
            on_click=_say,
            args=(name, data[chosen].entity if chosen is not None else _alone(data, name)),
        )


def _alone(data: HeteroData, name: str) -> str:
    """Return an entity that no other dataset has."""
    taken = {other.entity for other in data.datasets.values() if other.name != name}
    entity = name
    while entity in taken:
        entity += " alone"
    return entity


def _say(name: str, entity: str) -> None:
    session.do(SetEntity(name, entity))
