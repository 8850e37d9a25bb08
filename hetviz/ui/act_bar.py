"""The bar under the map: groups A, B and C, what is said of them, and the button that adds it."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from hetviz.data import HeteroData
from hetviz.plots.text import short
from hetviz.ui import act_commands, act_draft, act_objections, act_say, faces, look, selecting
from hetviz.ui.act_say import HOWS, How
from hetviz.workspace import State

_FACES = 3
_MOST_PAIRS = 300
_PILL = 16

Rows = NDArray[np.int64]


def show(state: State) -> None:
    """Show the bar."""
    data = state.data
    if data is None:
        return
    groups, picked = act_say.groups(state), selecting.chosen(state)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="acts", border=True
    ):
        if not groups and not len(picked):
            look.quiet("Pick something on the map, make it group A, and say how it relates.")
            return
        for name in "ABC":
            if name == "B" and act_say.saying().dropped is not None:
                _proposals(data, groups)
            else:
                _group(data, name, groups, picked)
        if groups:
            _statement(state, data, groups)
    if groups:
        _objections(state)


def _group(data: HeteroData, name: str, groups: dict[str, Rows], picked: Rows) -> None:
    rows = groups.get(name)
    how = act_say.saying().how
    if rows is not None:
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", width="content"
        ):
            st.html(_face(data, name, rows), width="content")
            st.button(
                "×",
                key=f"drop-{name}",
                type="tertiary",
                help=f"Give up group {name}",
                on_click=act_say.set_group,
                args=(name, np.empty(0, dtype=np.int64)),
            )
        return
    wanted = name == "A" or ("A" in groups and (name == "B" or (how == "closer" and "B" in groups)))
    if not wanted:
        return
    taken = any(np.array_equal(picked, rows) for rows in groups.values())
    if not len(picked) or taken:
        if how == "closer" or (name == "B" and how != "label"):
            words = {"B": "and", "C": "than to"}.get(name, "")
            st.html(f'<span class="hv-act-open">{words} <i>{name}</i> ?</span>', width="content")
        return
    st.button(
        f"Set as {name}",
        key=f"set-{name}",
        help=f"Key {name} on the map" if name != "C" else "Key C on the map",
        on_click=act_say.set_group,
        args=(name, picked),
    )


def _proposals(data: HeteroData, groups: dict[str, Rows]) -> None:
    """Ask what an item that was let go there belongs with: what is near, all of it at first."""
    st.html('<span class="hv-act-open">belongs here with</span>', width="content")
    near = list(act_say.saying().proposed)
    now = set(groups.get("B", np.empty(0, dtype=np.int64)).tolist())
    key = f"near-{'-'.join(map(str, near))}"
    st.pills(
        "With respect to what?",
        near,
        default=[row for row in near if row in now],
        selection_mode="multi",
        format_func=lambda row: look.plain(short(faces.item_at(data, row).title, _PILL)),
        key=key,
        label_visibility="collapsed",
        width="content",
        on_change=_proposed,
        args=(key,),
    )


def _face(data: HeteroData, name: str, rows: Rows) -> str:
    """Return a group as its letter, up to three pictures, and few words."""
    pictures = [faces.picture_of(data, faces.item_at(data, int(row))) for row in rows[:_FACES]]
    images = "".join(f'<img src="{look.esc(one)}" alt="">' for one in pictures if one)
    if not images and len(rows) == 1:
        images = f"<em>{faces.item_at(data, int(rows[0])).glyph}</em>"
    words = look.esc(act_commands.group_words(data, rows))
    return (
        f'<span class="hv-act" title="Group {name}: {words}">'
        f'<i class="hv-act-{name}">{name}</i>{images}<b>{words}</b><u>{len(rows):,}</u></span>'
    )


def _statement(state: State, data: HeteroData, groups: dict[str, Rows]) -> None:
    saying = act_say.saying()
    if saying.dropped is None:
        st.segmented_control(
            "What to say",
            list(HOWS),
            default=saying.how,
            format_func=lambda how: HOWS[how],
            key=f"how-{saying.how}",
            label_visibility="collapsed",
            width="content",
            on_change=_chosen,
            args=(f"how-{saying.how}",),
        )
    if saying.how in ("together", "apart"):
        key = f"weight-{saying.weight:g}"
        st.slider(
            "How strongly: −1 apart, +1 together",
            -1.0,
            1.0,
            saying.weight,
            0.1,
            format="%.1f",
            key=key,
            label_visibility="collapsed",
            help=None,
            width=120,
            on_change=_weighed,
            args=(key,),
        )
    if saying.how == "label":
        _label_form(data, groups["A"] if "A" in groups else next(iter(groups.values())))
        return
    draft = act_draft.draft(state)
    missing = act_say.lacking(saying.how, groups)
    if draft is not None and saying.dropped is None:
        _number(draft)
    elif missing:
        st.html(
            f'<span class="hv-act-open">Pick items for <i>{missing}</i></span>', width="content"
        )
    st.space("stretch")
    with st.container(key="primary_act", width="content"):
        opposed = draft is not None and act_objections.objections(state, draft)
        st.button(
            "Add anyway" if opposed else "Add",
            key="act-add",
            type="primary",
            disabled=draft is None,
            help="Or the key of the choice again, on the map: T, X or C",
            on_click=act_draft.add,
        )


def _number(draft: act_commands.Draft) -> None:
    """Show how many statements it makes, of how many, and let that be changed."""
    what = "comparison" if act_say.saying().how == "closer" else "pair"
    words = f"{look.count(draft.n, what)} of {draft.n_possible:,}"
    if draft.n_possible == 1:
        st.html(f'<span class="hv-act-open">{words}</span>', width="content")
        return
    with st.popover(words, key="act-number"):
        look.quiet(draft.account)
        key = f"most-{draft.n}-{draft.n_possible}"
        st.number_input(
            f"Most {what}s",
            1,
            min(draft.n_possible, _MOST_PAIRS),
            min(draft.n, _MOST_PAIRS),
            key=key,
            on_change=_thinned,
            args=(key,),
        )


def _label_form(data: HeteroData, rows: Rows) -> None:
    """Ask for column and name; Enter in the name adds it."""
    spans = [
        name
        for name, span in data.offsets.items()
        if ((rows >= span.start) & (rows < span.stop)).any()
    ]
    there = list(dict.fromkeys(one.name for one in data.labels if one.dataset in spans))
    column = st.selectbox(
        "Column",
        [*there, "label"] if "label" not in there else there,
        key="label-column",
        accept_new_options=True,
        label_visibility="collapsed",
        width=150,
    )
    value = st.text_input(
        "Name of group A",
        placeholder="Name of group A",
        key="label-value",
        label_visibility="collapsed",
        width=180,
    )
    st.space("stretch")
    with st.container(key="primary_act", width="content"):
        st.button(
            "Add",
            key="act-label",
            type="primary",
            disabled=not (column and value.strip()),
            on_click=act_draft.label,
            args=(rows, str(column), value.strip()),
        )


def _objections(state: State) -> None:
    draft = act_draft.draft(state)
    told = (
        [] if draft is None else [*act_objections.objections(state, draft), act_draft.deaf(state)]
    )
    for sentence in filter(None, told):
        st.html(f'<p class="hv-act-not" role="status">{look.esc(sentence)}</p>')


def _proposed(key: str) -> None:
    act_say.set_group("B", np.array(st.session_state[key], dtype=np.int64))


def _chosen(key: str) -> None:
    how: How | None = st.session_state[key]
    if how is not None:
        act_say.choose(how)


def _weighed(key: str) -> None:
    act_say.weigh(float(st.session_state[key]))


def _thinned(key: str) -> None:
    act_say.change(most=int(st.session_state[key]))
