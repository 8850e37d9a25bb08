"""The bar over the foot of the map: groups A, B and C, and what is said of them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from hetviz._text import short
from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.data.queries.rows import touching
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.statements import because, commands, objections, preview, wording
from hetviz.ui.statements import draft as act_draft
from hetviz.ui.statements.wording import HOWS, How
from hetviz.ui.widgets import filters, item_chip
from hetviz.workspace import State

_FACES = 3
_MOST_PAIRS = 300
_PILL = 16


def show(state: State) -> None:
    """Show the bar."""
    data = state.data
    if data is None:
        return
    groups, picked = wording.groups(state), selection.chosen(state)
    if not groups and not len(picked):
        return
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="acts", border=True
    ):
        if not groups:
            _selected(data, picked)
            return
        for name in "ABC":
            if name == "B" and wording.saying().dropped is not None:
                _proposals(data, groups)
            else:
                _group(data, name, groups, picked)
        _statement(state, data, groups)
    _objections(state)


def _selected(data: HeteroData, picked: Ints) -> None:
    """Show what is selected, and what can be done with it."""
    st.html(
        f'<span class="hv-act"><b>{theme.esc(commands.group_words(data, picked))}</b></span>',
        width="content",
    )
    st.button(
        "Make it A",
        key="set-A",
        help="Key A on the map",
        on_click=wording.set_group,
        args=("A", picked),
    )
    st.button(
        "Show only what is linked",
        key="only-linked",
        help="Key F on the map. Hides all other items; undo or the filter's × brings them back.",
        on_click=_only_linked,
        args=(picked,),
    )
    st.button(
        "×", key="let-go", type="tertiary", help="Select nothing (Esc)", on_click=selection.clear
    )


def _only_linked(picked: Ints) -> None:
    data = session.workspace().state.opened()
    filters.only([*picked.tolist(), *touching(data, picked).leads_to().tolist()])


def _group(data: HeteroData, name: str, groups: dict[str, Ints], picked: Ints) -> None:
    rows = groups.get(name)
    how = wording.saying().how
    if rows is not None:
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", width="content"
        ):
            st.html(_face(data, name, rows), width="content")
            st.button(
                "×",
                key=f"drop-{name}",
                type="tertiary",
                help=f"Clear group {name}",
                on_click=wording.set_group,
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
        f"Make it {name}",
        key=f"set-{name}",
        help=f"Key {name} on the map" if name != "C" else "Key C on the map",
        on_click=wording.set_group,
        args=(name, picked),
    )


def _proposals(data: HeteroData, groups: dict[str, Ints]) -> None:
    """Ask what an item that was let go there belongs with: what is near, all of it at first."""
    st.html('<span class="hv-act-open">belongs here with</span>', width="content")
    near = list(wording.saying().proposed)
    now = set(groups.get("B", np.empty(0, dtype=np.int64)).tolist())
    key = f"near-{'-'.join(map(str, near))}"
    st.pills(
        "With respect to what?",
        near,
        default=[row for row in near if row in now],
        selection_mode="multi",
        format_func=lambda row: theme.plain(short(item_chip.item_at(data, row).title, _PILL)),
        key=key,
        label_visibility="collapsed",
        width="content",
        on_change=_proposed,
        args=(key,),
    )


def _face(data: HeteroData, name: str, rows: Ints) -> str:
    """Return a group as its letter, up to three pictures, and few words."""
    pictures = [
        item_chip.picture_of(data, item_chip.item_at(data, int(row))) for row in rows[:_FACES]
    ]
    images = "".join(f'<img src="{theme.esc(one)}" alt="">' for one in pictures if one)
    if not images and len(rows) == 1:
        images = f"<em>{item_chip.item_at(data, int(rows[0])).glyph}</em>"
    words = theme.esc(commands.group_words(data, rows))
    return (
        f'<span class="hv-act" title="Group {name}: {words}">'
        f'<i class="hv-act-{name}">{name}</i>{images}<b>{words}</b><u>{len(rows):,}</u></span>'
    )


def _statement(state: State, data: HeteroData, groups: dict[str, Ints]) -> None:
    saying = wording.saying()
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
            width=84,
            on_change=_weighed,
            args=(key,),
        )
    if saying.how == "label":
        _label_form(data, groups["A"] if "A" in groups else next(iter(groups.values())))
        return
    if saying.how == "together":
        because.offer(data, groups)
    draft = act_draft.draft(state)
    missing = wording.lacking(saying.how, groups)
    if draft is not None and saying.dropped is None:
        _number(draft)
    elif missing:
        st.html(
            f'<span class="hv-act-open">Pick items for <i>{missing}</i></span>', width="content"
        )
    st.space("stretch")
    with st.container(key="primary_act", width="content"):
        opposed = draft is not None and objections.objections(state, draft)
        st.button(
            f"{_say(draft)} anyway" if opposed else _say(draft),
            key="act-add",
            type="primary",
            disabled=draft is None,
            help="Or press its key, T, X or C, once more on the map",
            on_click=act_draft.add,
        )


def _say(draft: commands.Draft | None) -> str:
    """Return what the button does, with how many statements it makes."""
    if draft is None:
        return "Say it"
    what = "comparison" if wording.saying().how == "closer" else "pair"
    return f"Say {theme.count(draft.n, what)}"


def _number(draft: commands.Draft) -> None:
    """Let the number of statements be changed; the button says it."""
    what = "comparison" if wording.saying().how == "closer" else "pair"
    if draft.n_possible == 1:
        return
    words = "Fewer" if draft.n == draft.n_possible else f"of {draft.n_possible:,}"
    with st.popover(words, key="act-number", help=f"How many {what}s are said"):
        theme.quiet(draft.account)
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


def _label_form(data: HeteroData, rows: Ints) -> None:
    """Ask for column and name; Enter in the name adds it."""
    spans = [
        name
        for name, span in data.offsets.items()
        if ((rows >= span.start) & (rows < span.stop)).any()
    ]
    there = list(dict.fromkeys(one.name for one in data.labels if one.dataset in spans))
    mine = commands.own_column(data)
    column = st.selectbox(
        "Column",
        [mine, *(name for name in there if name != mine)],
        key="label-column",
        accept_new_options=True,
        label_visibility="collapsed",
        width=150,
        help="A column of your own, so that nothing that came with the data is overwritten.",
    )
    value = st.text_input(
        "Name of group A",
        placeholder="Name of group A",
        key="label-value",
        label_visibility="collapsed",
        width=180,
    )
    st.space("stretch")
    over = commands.n_overwritten(data, rows, str(column), value.strip()) if column else 0
    with st.container(key="primary_act", width="content"):
        st.button(
            f"Write over {theme.count(over, 'label')}" if over and value.strip() else "Add",
            key="act-label",
            type="primary",
            disabled=not (column and value.strip()),
            on_click=act_draft.label,
            args=(rows, str(column), value.strip()),
        )


def _objections(state: State) -> None:
    """Say what would come of it, and what speaks against it."""
    draft = act_draft.draft(state)
    if draft is None:
        return
    against = filter(None, [*objections.objections(state, draft), act_draft.deaf(state)])
    no = [f'<p class="hv-act-not" role="status">{theme.esc(one)}</p>' for one in against]
    lines = [*foreseen(state, draft), *no]
    if lines:
        with st.container(key="acts-not", gap="xsmall"):
            for line in lines:
                st.html(line)


def foreseen(state: State, draft: commands.Draft) -> list[str]:
    """Return what would come of it as HTML, where that is known by now."""
    found = preview.of(state, draft)
    if found is None:
        return []
    would = found.consequences
    words = [f"{would.kept_after:,} of {would.n_said:,} would be kept, now {would.kept_before:,}."]
    if would.n_hubs:
        both = "Both hold" if would.n_hubs == would.n_said == 1 else "Where both items hold"
        words.append(f"{both} many others{', so they' if both == 'Both hold' else ', they'} stay.")
    if would.links_won or would.links_lost:
        words.append(
            f"Of the other links, {would.links_won:,} would be won and {would.links_lost:,} lost."
        )
    if np.isfinite([would.true_before, would.true_after]).all():
        before, after = (10 * share for share in (would.true_before, would.true_after))
        words.append(f"Of their 10 nearest, {before:.0f} are true now, {after:.0f} would be.")
    words.append(f"{theme.count(would.n_moved, 'other item')} would move.")
    if found.n_followers:
        words.append(f"About {found.n_followers:,} may be like them.")
    mark = " falser" if would.falser else ""
    return [f'<p class="hv-act-would{mark}" role="status">{theme.esc(" ".join(words))}</p>']


def _proposed(key: str) -> None:
    wording.set_group("B", np.array(st.session_state[key], dtype=np.int64))


def _chosen(key: str) -> None:
    how: How | None = st.session_state[key]
    if how is not None:
        wording.choose(how)


def _weighed(key: str) -> None:
    wording.weigh(float(st.session_state[key]))


def _thinned(key: str) -> None:
    wording.change(most=int(st.session_state[key]))
