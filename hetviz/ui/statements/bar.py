"""Bar at the foot of the map: one sentence about selected items."""

from __future__ import annotations

import numpy as np
import streamlit as st

from hetviz._text import shorten
from hetviz._types import Ints
from hetviz.data import Comparisons, HeteroData
from hetviz.data.queries.rows import links_touching
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.map import filters
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.statements import (
    actions,
    commands,
    contradictions,
    pins,
    preview,
    shared_columns,
    statement_draft,
)
from hetviz.ui.statements.statement_draft import StatementDraft, StatementKind
from hetviz.workspace import State

_MAX_PICTURES = 3
_MAX_PAIRS = 300
_MAX_PILL_CHARS = 16


# Of one item, of several items among themselves, and of several items with others.
_VERBS: dict[StatementKind, tuple[str, str, str]] = {
    "together": ("belongs with", "belong together", "belong with"),
    "apart": ("is not like", "are not alike", "are not like"),
    "closer": ("is closer to", "are closer to", "are closer to"),
    "label": ("is called …", "are called …", "are called …"),
}
# Of one item, and of several.
_BEGIN_TEXTS: dict[StatementKind, tuple[str, str]] = {
    "together": ("belongs with …", "belong together"),
    "apart": ("is not like …", "are not alike"),
    "closer": ("is closer to … than to …", "are closer to … than to …"),
}
_INVITATION = (
    '<p class="hv-invitation"><b>Something in the wrong place?</b> '
    "Click it, then say what it belongs with.</p>"
)
_FIELD_TEXT = "click an item, or type its name"


def show_bar(state: State) -> None:
    """Show the bar."""
    data = state.data
    if data is None:
        return
    groups, picked = statement_draft.get_groups(state), selection.selected_rows(state)
    if not groups and not len(picked):
        if state.run is not None:
            with st.container(key="invitation"):
                st.html(_INVITATION)
        return
    groups = statement_draft.take_awaited(groups, picked)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="statement-bar", border=True
    ):
        if not groups:
            _show_selection(data, picked)
            return
        _show_group(data, "A", groups, picked)
        dropped = statement_draft.get_statement().dropped
        if dropped is None:
            _show_verbs(groups)
            for name in "BC":
                _show_group(data, name, groups, picked)
        else:
            _show_proposals(data, groups)
            pins.show_drop_button(state, *dropped)
        _show_statement(state, data, groups)
    _show_consequences(state)


def _show_selection(data: HeteroData, picked: Ints) -> None:
    text = theme.escape_html(commands.group_text(data, picked))
    st.html(f'<span class="hv-group-chip"><b>{text}</b></span>', width="content")
    st.button(
        "×",
        key="clear-selection",
        type="tertiary",
        help="Select nothing (Esc)",
        on_click=selection.clear_selection,
    )
    for kind, texts in _BEGIN_TEXTS.items():
        st.button(
            texts[len(picked) > 1],
            key=f"begin-{kind}",
            on_click=statement_draft.begin,
            args=(kind, picked),
        )
    st.button(
        "Show only linked items",
        key="only-linked",
        icon=":material/filter_alt:",
        help="Key F on the map. Hides all other items. Undo or the filter's × shows them again.",
        on_click=_filter_to_linked,
        args=(picked,),
    )


def _filter_to_linked(picked: Ints) -> None:
    data = session.workspace().state.opened()
    filters.show_only([*picked.tolist(), *links_touching(data, picked).leads_to().tolist()])


def _show_verbs(groups: dict[str, Ints]) -> None:
    """Show the verbs of the sentence."""
    kind = statement_draft.get_statement().kind
    form = 0 if len(groups.get("A", ())) == 1 else 2 if "B" in groups else 1
    key = f"how-{kind}-{form}"
    st.segmented_control(
        "What is said about the items",
        list(_VERBS),
        default=kind,
        format_func=lambda one: _VERBS[one][form],
        key=key,
        label_visibility="collapsed",
        width="content",
        on_change=_on_kind,
        args=(key,),
    )


def _show_group(data: HeteroData, name: str, groups: dict[str, Ints], picked: Ints) -> None:
    rows = groups.get(name)
    kind = statement_draft.get_statement().kind
    if name == "C" and kind == "closer" and "B" in groups:
        st.html('<span class="hv-draft-prompt">than to</span>', width="content")
    if rows is not None:
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", width="content"
        ):
            st.html(_group_html(data, rows), width="content")
            st.button(
                "×",
                key=f"drop-{name}",
                type="tertiary",
                help=f"Remove {commands.group_text(data, rows)} from the sentence",
                on_click=statement_draft.drop_group,
                args=(name,),
            )
        return
    is_next = name == "A" or (
        "A" in groups and kind != "label" and (name == "B" or (kind == "closer" and "B" in groups))
    )
    if not is_next:
        return
    if len(picked) and not any(np.array_equal(picked, rows) for rows in groups.values()):
        st.button(
            shorten(commands.group_text(data, picked), _MAX_PILL_CHARS),
            key=f"set-{name}",
            help=f"Put the selection here (key {name} on the map)",
            on_click=statement_draft.set_group,
            args=(name, picked),
        )
    elif statement_draft.missing_group(kind, groups) == name:
        st.html(_field_html(name), width="content")


def _field_html(group: str) -> str:
    """Return the field in which the browser finds the item that is put into a group."""
    return (
        f'<span class="hv-find-field"><input type="text" data-hv-find="{group}" '
        f'placeholder="{_FIELD_TEXT}" aria-label="{_FIELD_TEXT.capitalize()}"></span>'
    )


def _show_proposals(data: HeteroData, groups: dict[str, Ints]) -> None:
    """Ask which of the nearest items a dropped item belongs with."""
    st.html('<span class="hv-draft-prompt">belongs here with</span>', width="content")
    nearest = list(statement_draft.get_statement().proposed)
    members = set(groups.get("B", np.empty(0, dtype=np.int64)).tolist())
    key = f"near-{'-'.join(map(str, nearest))}"
    st.pills(
        "Belongs with which items?",
        nearest,
        default=[row for row in nearest if row in members],
        selection_mode="multi",
        format_func=lambda row: theme.escape_markdown(
            shorten(find_item(data, row).title, _MAX_PILL_CHARS)
        ),
        key=key,
        label_visibility="collapsed",
        width="content",
        on_change=_on_proposal,
        args=(key,),
    )


def _group_html(data: HeteroData, rows: Ints) -> str:
    """Return a group as up to three pictures and a short text."""
    pictures = [
        item_chip.picture_of(data, find_item(data, int(row))) for row in rows[:_MAX_PICTURES]
    ]
    images = "".join(
        f'<img src="{theme.escape_html(source)}" alt="">' for source in pictures if source
    )
    if not images and len(rows) == 1:
        images = f"<em>{find_item(data, int(rows[0])).glyph}</em>"
    text = theme.escape_html(commands.group_text(data, rows))
    number = f"<u>{len(rows):,}</u>" if len(rows) > 1 else ""
    return f'<span class="hv-group-chip" title="{text}">{images}<b>{text}</b>{number}</span>'


def _show_statement(state: State, data: HeteroData, groups: dict[str, Ints]) -> None:
    statement = statement_draft.get_statement()
    if statement.kind == "label":
        _show_label_form(data, groups["A"] if "A" in groups else next(iter(groups.values())))
        return
    if statement.kind == "together":
        shared_columns.offer_weights(data, groups)
    draft = actions.get_draft(state)
    if draft is not None:
        _show_settings(draft, statement)
    st.space("stretch")
    with st.container(key="primary_action", width="content"):
        opposed = draft is not None and contradictions.find_contradictions(state, draft)
        moves = state.run is not None and actions.is_auto_refit()
        text = "Move the map" if moves else "Add"
        st.button(
            f"{text} anyway" if opposed else text,
            key="add-statement",
            type="primary",
            disabled=draft is None,
            help="Or press its key, T, X or C, once more on the map",
            on_click=actions.add_statement,
        )


def _show_settings(draft: commands.DraftCommands, statement: StatementDraft) -> None:
    """Show the number of statements, with fields for it and for their strength."""
    noun = "comparison" if statement.kind == "closer" else "pair"
    has_number = draft.n_possible > 1 and statement.dropped is None
    has_strength = statement.kind in ("together", "apart")
    if not has_number and not has_strength:
        return
    text = theme.count(draft.n, noun) if has_number else "Strength"
    if has_number and draft.n < draft.n_possible:
        text = f"{draft.n:,} of {theme.count(draft.n_possible, noun)}"
    if has_strength and abs(statement.weight) != 1.0:
        text += f" · {abs(statement.weight):.1f}"
    with st.popover(text, key="how-much", help="How many, and how much they count"):
        if has_number:
            theme.show_note(draft.account)
            key = f"most-{draft.n}-{draft.n_possible}"
            st.number_input(
                f"Maximum number of {noun}s",
                1,
                min(draft.n_possible, _MAX_PAIRS),
                min(draft.n, _MAX_PAIRS),
                key=key,
                on_change=_on_number,
                args=(key,),
            )
        if has_strength:
            key = f"weight-{statement.weight:g}"
            st.slider(
                "Strength: −1 is apart, +1 is together",
                -1.0,
                1.0,
                statement.weight,
                0.1,
                format="%.1f",
                key=key,
                on_change=_on_weight,
                args=(key,),
            )


def _show_label_form(data: HeteroData, rows: Ints) -> None:
    """Show the fields for the column and the name of a label."""
    spans = [
        name
        for name, span in data.offsets.items()
        if ((rows >= span.start) & (rows < span.stop)).any()
    ]
    columns = list(dict.fromkeys(label.name for label in data.labels if label.dataset in spans))
    own_column_name = commands.own_label_column(data)
    column = st.selectbox(
        "Column",
        [own_column_name, *(name for name in columns if name != own_column_name)],
        key="label-column",
        accept_new_options=True,
        label_visibility="collapsed",
        width=150,
        help="A column of your own. The labels of the data stay as they are.",
    )
    value = st.text_input(
        "Their name",
        placeholder="Their name",
        key="label-value",
        label_visibility="collapsed",
        width=180,
    )
    st.space("stretch")
    over = commands.count_overwritten(data, rows, str(column), value.strip()) if column else 0
    with st.container(key="primary_action", width="content"):
        st.button(
            f"Replace {theme.count(over, 'label')}" if over and value.strip() else "Add",
            key="act-label",
            type="primary",
            disabled=not (column and value.strip()),
            on_click=actions.add_labels,
            args=(rows, str(column), value.strip()),
        )


def _show_consequences(state: State) -> None:
    """Show the preview of the statement and what contradicts it."""
    draft = actions.get_draft(state)
    if draft is None:
        return
    against = filter(
        None,
        [*contradictions.find_contradictions(state, draft), actions.unsupported_reason(state)],
    )
    no = [
        f'<p class="hv-draft-warning" role="status">{theme.escape_html(reason)}</p>'
        for reason in against
    ]
    lines = [*preview_html(state, draft), *no]
    if lines:
        with st.container(key="contradictions", gap="xsmall"):
            for html in lines:
                st.html(html)


def preview_html(state: State, draft: commands.DraftCommands) -> list[str]:
    """Return the preview of the statement as HTML, empty until it is computed."""
    expected = preview.find_preview(state, draft)
    if expected is None:
        return []
    result = expected.consequences
    sentences = [
        f"{result.kept_after:,} of {_count_statements(draft, result.n_said)} would "
        f"{_goal_text(draft)} ({result.kept_before:,} now)."
    ]
    if result.n_hubs == result.n_said == 1:
        sentences.append("Both items have many other links, so they stay.")
    elif result.n_hubs:
        sentences.append("Pairs of items that both have many other links stay.")
    if result.links_won or result.links_lost:
        sentences.append(
            f"{theme.count(result.links_won, 'other link')} would get closer, "
            f"{result.links_lost:,} would drift apart."
        )
    if np.isfinite([result.true_before, result.true_after]).all():
        sentences.append(
            f"{10 * result.true_after:.0f} of their 10 neighbours would be similar in the data "
            f"({10 * result.true_before:.0f} now)."
        )
    sentences.append(f"{theme.count(result.n_moved, 'other item')} would move.")
    if expected.n_followers:
        sentences.append(f"About {expected.n_followers:,} more may be similar.")
    mark = " falser" if result.has_more_false_neighbors else ""
    text = theme.escape_html(" ".join(sentences))
    return [f'<p class="hv-draft-effect{mark}" role="status">{text}</p>']


def _count_statements(draft: commands.DraftCommands, n: int) -> str:
    return theme.count(n, "comparison" if isinstance(draft.parts[0], Comparisons) else "pair")


def _goal_text(draft: commands.DraftCommands) -> str:
    if isinstance(draft.parts[0], Comparisons):
        return "hold"
    return "be close" if draft.lines[0][2] > 0 else "be apart"


def _on_proposal(key: str) -> None:
    statement_draft.set_group("B", np.array(st.session_state[key], dtype=np.int64))


def _on_kind(key: str) -> None:
    kind: StatementKind | None = st.session_state[key]
    if kind is not None:
        statement_draft.choose_kind(kind)


def _on_weight(key: str) -> None:
    statement_draft.set_weight(float(st.session_state[key]))


def _on_number(key: str) -> None:
    statement_draft.change_statement(max_pairs=int(st.session_state[key]))
