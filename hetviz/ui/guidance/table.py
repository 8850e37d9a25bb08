"""Tables of links and comparisons: filtered, worst first, edited in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from hetviz._types import Ints, Texts
from hetviz.data import HeteroData
from hetviz.data.model.statements import COMPARISON_SET as COMPARED_SET
from hetviz.metrics.measure_names import CLOSE_MEANING
from hetviz.ui.guidance import editor, sentences
from hetviz.ui.guidance.ledger import (
    MET,
    UNMET,
    UNPLACED,
    Ledger,
    StatementTable,
    goodness,
    ledger_of,
    matches_text,
    records,
    titles,
)
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.widgets import pager
from hetviz.workspace import DropStatements, EditStatements, ReverseComparisons

PAGE_SIZE = 200
_MAX_VISIBLE_ROWS = 12
_ALL_STATEMENTS, _HELD, _OFF = "all of them", "hidden", "switched off"
_FATES = {"those not met": UNMET, "those met": MET, "those not on the map": UNPLACED}
_ALL_SETS, _ALL_PAIRS = "in all sets", "of all datasets"
ALL_PEOPLE, NO_NAME = "by all people", "without a name"
_NOUNS = {"link": ("link", "links"), "comparison": ("comparison", "comparisons")}
_TEXTS = ("kind", "note", "who", "when", "set", "fate")


def show_statements(data: HeteroData, ledger: Ledger, form: str) -> None:
    """Show the links or the comparisons with their filters."""
    listed = ledger.listed(form)
    with st.container(horizontal=True, key="guidance-filters"):
        frame, order = _choose_statements(data, ledger, listed, form)
    _show_page(data, form, frame, order, len(listed.rows))


@dataclass(frozen=True, eq=False)
class _Order:
    """Order of a table, unchanged while the filter stays the same.

    `choice` is the map and the filter, `keys` all statements at first, and `first` the positions in
    `keys` of those that passed. `order` has the positions in `ledger` that pass now, `editable` and
    `has_observed` describe them.
    """

    choice: tuple[object, ...]
    ledger: Ledger
    keys: Texts
    first: Ints
    order: Ints
    editable: Ints
    has_observed: bool


@dataclass
class _Orders:
    """Order of the statements of each form."""

    by_form: dict[str, _Order] = field(default_factory=dict)


def _choose_statements(
    data: HeteroData, ledger: Ledger, listed: StatementTable, form: str
) -> tuple[pd.DataFrame, _Order]:
    """Ask for filters and return all statements with the order of those to show."""
    hidden = ledger.hidden if form == "link" else ledger.hidden.iloc[:0]
    choices = [_ALL_STATEMENTS, *(words for words, fate in _FATES.items() if fate in listed.fates)]
    choices += [_HELD] * bool(listed.has_held_out or len(hidden)) + [_OFF] * listed.has_off
    fate_choice = st.selectbox(
        "Which", choices, key=f"which-{form}", label_visibility="collapsed", width=170
    )
    set_choice = _ALL_SETS
    if len(listed.sets) > 1:
        set_choice = st.selectbox(
            "Set",
            [_ALL_SETS, *listed.sets],
            key=f"which-set-{form}",
            label_visibility="collapsed",
            width=170,
        )
    person = choose_person(listed.people, f"which-person-{form}")
    datasets = _choose_datasets(listed, form)
    text = st.text_input(
        "Find",
        key=f"find-{form}",
        placeholder="Find an item or note",
        icon=":material/search:",
        label_visibility="collapsed",
        width=190,
        max_chars=100,
    )
    frame = listed.rows
    if fate_choice == _HELD:
        frame = pd.concat([frame[frame["held"]], hidden])
    shown = session.workspace().state.chosen
    choice = (shown, fate_choice, set_choice, datasets, person, text.strip())
    earlier = state_of(_Orders).by_form.get(form)
    if earlier is not None and earlier.choice == choice and earlier.ledger is ledger:
        return frame, earlier
    full_order = (
        np.argsort(goodness(frame), kind="stable") if fate_choice == _HELD else listed.order
    )
    mask = np.ones(len(frame), dtype=bool)
    if fate_choice == _OFF:
        mask &= ~frame["on"].to_numpy()
    elif fate_choice in _FATES:
        mask &= (frame["fate"] == _FATES[fate_choice]).to_numpy()
    if set_choice != _ALL_SETS:
        mask &= (frame["set"] == set_choice).to_numpy()
    if person is not None:
        mask &= (frame["who"] == person).to_numpy()
    if datasets is not None:
        mask &= (frame["joins"] == datasets).to_numpy()
    if text.strip():
        mask &= matches_text(data, frame, text)
    order = full_order if mask.all() else full_order[mask[full_order]]
    keys: Texts = frame["key"].to_numpy(dtype=object)
    first = order
    if earlier is not None and earlier.choice == choice:
        # Keeps a row in its place while its weight is edited.
        order = in_earlier_order(
            order, positions_in(earlier.keys, keys), earlier.first, len(earlier.keys)
        )
        keys, first = earlier.keys, earlier.first
    editable = (
        order
        if listed.is_editable and fate_choice != _HELD
        else order[frame["own"].to_numpy()[order]]
    )
    has_observed = listed.has_observed and bool(
        (frame["role"] == "relation").to_numpy()[order].any()
    )
    result = _Order(choice, ledger, keys, first, order, editable, has_observed)
    state_of(_Orders).by_form[form] = result
    return frame, result


def in_earlier_order(order: Ints, positions: Ints, first: Ints, n: int) -> Ints:
    """Return rows in an earlier order; rows that were not listed then come first. O(n)."""
    # `positions` has where each row was among the `n` earlier ones (-1: new), and `first` which of
    # those were listed, in their order.
    was_listed = np.zeros(n + 1, dtype=bool)
    was_listed[first] = True
    new = order[~was_listed[positions[order]]]
    row = np.full(n + 1, -1, dtype=np.int64)
    row[positions[order]] = order
    listed_rows = row[first]
    return np.concatenate([new, listed_rows[listed_rows >= 0]])


def positions_in(old: Texts, new: Texts) -> Ints:
    """Return the position in `old` of each text of `new`, -1 if absent; equal ends are fast."""

    def alike(a: Texts, b: Texts) -> int:
        is_equal = np.asarray(a == b)
        return len(is_equal) if is_equal.all() else int(np.argmin(is_equal))

    n = min(len(old), len(new))
    first = alike(old[:n], new[:n])
    n_left = n - first
    last = alike(old[::-1][:n_left], new[::-1][:n_left])
    positions = np.full(len(new), -1, dtype=np.int64)
    positions[:first] = np.arange(first)
    positions[len(new) - last :] = np.arange(len(old) - last, len(old))
    position_of_text = {old[k]: k for k in range(first, len(old) - last)}
    for k in range(first, len(new) - last):
        positions[k] = position_of_text.get(new[k], -1)
    return positions


def choose_person(people: Sequence[str], key: str) -> str | None:
    """Ask for an author, if a statement has one; None for all."""
    if not any(people):
        return None
    choice = st.selectbox(
        "By",
        [ALL_PEOPLE, *filter(None, people), *([NO_NAME] if "" in people else [])],
        key=key,
        label_visibility="collapsed",
        width=150,
    )
    return None if choice == ALL_PEOPLE else "" if choice == NO_NAME else choice


def _choose_datasets(listed: StatementTable, form: str) -> str | None:
    """Ask for the datasets that statements connect, if there are several pairs."""
    if len(listed.pairs) < 2:
        return None
    choice = st.selectbox(
        "Datasets",
        [_ALL_PAIRS, *listed.pairs],
        key=f"which-pair-{form}",
        label_visibility="collapsed",
        width=190,
    )
    return None if choice == _ALL_PAIRS else choice


def _show_page(
    data: HeteroData, form: str, frame: pd.DataFrame, order_found: _Order, total: int
) -> None:
    noun, plural = _NOUNS[form]
    order = order_found.order
    if not len(order):
        theme.show_note(
            f"No {noun} passes this filter. There are {total:,}." if total else f"No {plural} yet."
        )
        return
    table_box = st.container()
    with st.container(horizontal=True, vertical_alignment="center", key=f"below-{form}"):
        count_text = f"{theme.count(len(order), noun)}"
        count_text += "" if len(order) == total else f" of {total:,}"
        theme.show_note(f"{count_text}, worst first. Double-click a cell to edit it.")
        _offer_bulk_edit(form, frame, order_found.editable)
        shown = pager.choose_rows(len(order), PAGE_SIZE, f"page-{form}")
    with table_box:
        _show_table(data, form, frame.iloc[order[shown]], order_found.has_observed)


def _show_table(data: HeteroData, form: str, rows: pd.DataFrame, has_observed: bool) -> None:
    name = f"table-{form}"
    frame = _frame(data, form, rows)
    columns: dict[str, Any] = _item_config(data, form, rows, frame)
    number_column = st.column_config.NumberColumn
    text_column = st.column_config.TextColumn
    if form == "link":
        columns["weight"] = number_column(
            "Weight", min_value=-1.0, max_value=1.0, step=0.05, format="%.2f", width=86,
            help="From −1, apart, to 1, together.",
        )  # fmt: skip
        if rows["score"].notna().any():
            columns["score"] = number_column("Score", format="%.3g", width=70)
        columns["kind"] = text_column("Kind", max_chars=150, width=78)
    else:
        columns["weight"] = number_column(
            "Weight", min_value=0.0, step=0.1, format="%.2f", width=78,
            help="How much it counts compared with the others, above 0.",
        )  # fmt: skip
    columns["near"] = st.column_config.ProgressColumn(
        "Closeness" if form == "link" else "Agreement",
        min_value=0.0,
        max_value=100.0,
        format="%.0f %%",
        width=92,
        help=(
            "The share of all pairs that are farther apart on the map. 100 % is closest."
            if form == "link"
            else "The far distance as a share of both. Above 50 % the map agrees."
        ),
    )
    columns["fate"] = text_column(
        "Met?",
        width=76,
        help=(
            f"Together is met if the items are close, apart if they are not. {CLOSE_MEANING}"
            if form == "link"
            else "Whether the closer pair is closer on the map."
        ),
    )
    # Placed before the columns that may not fit the window.
    columns |= _button_config(form, frame)
    columns["note"] = text_column("Note", max_chars=500, width=110 if form == "link" else 80)
    has_own_set = frame["set"] != (frame["kind"] if form == "link" else COMPARED_SET)
    for column, label, is_set in (
        ("set", "Set", has_own_set),
        ("who", "Added by", frame["who"] != ""),
        ("when", "When", frame["when"] != ""),
    ):
        if is_set.any():
            columns[column] = text_column(label, width=90)
    editable = {"weight", "score", "kind", "note"} & set(columns)
    editor.show_table(
        name,
        frame,
        columns,
        editable if rows["own"].all() else set(),
        _save,
        _MAX_VISIBLE_ROWS,
        f"Table of {theme.count(len(rows), *_NOUNS[form])}, worst first",
    )
    if has_observed and form == "link":
        theme.show_note(
            "Some of these links were observed, not added by a person. They count all the same."
        )


def _frame(data: HeteroData, form: str, rows: pd.DataFrame) -> pd.DataFrame:
    names = titles(data)
    table = pd.DataFrame(index=pd.Index(rows["key"].to_numpy(), name="key"))
    for end in _item_columns(form, rows):
        item_rows = rows[end].to_numpy()
        pictures = _picture_addresses(data, item_rows)
        if pictures is not None:
            table[f"{end}-face"] = pictures
        table[end] = names[item_rows]
    table["weight"] = rows["weight"].to_numpy(dtype=np.float64)
    table["score"] = rows["score"].to_numpy(dtype=np.float64)
    table["near"] = 100.0 * rows["near"].to_numpy(dtype=np.float64)
    for column in _TEXTS:
        table[column] = rows[column].astype(object).fillna("").to_numpy()
    table["when"] = [str(moment)[:10] for moment in table["when"]]
    return table


def _item_columns(form: str, rows: pd.DataFrame) -> tuple[str, ...]:
    if form == "link":
        return ("p", "q")
    return ("a", "b", "d") if (rows["a"] == rows["c"]).all() else ("a", "b", "c", "d")


def _picture_addresses(data: HeteroData, rows: Ints) -> list[str] | None:
    """Return the addresses of pictures, empty where missing, or None without any picture."""
    if all(part.media is None for part in data.datasets.values()):
        return None
    addresses = [item_chip.picture_of(data, find_item(data, int(row))) or "" for row in rows]
    return addresses if any(addresses) else None


def _item_config(
    data: HeteroData, form: str, rows: pd.DataFrame, frame: pd.DataFrame
) -> dict[str, object]:
    """Return the columns of the items, named after their dataset if all are of one."""
    ends = _item_columns(form, rows)
    headings = {
        "link": ("One item", "The other"),
        "comparison": ("This", "is closer to", "than to")
        if len(ends) == 3
        else ("These", "two", "are closer than", "and"),
    }[form]
    columns: dict[str, Any] = {}
    for end, heading in zip(ends, headings, strict=True):
        if f"{end}-face" in frame:
            columns[f"{end}-face"] = st.column_config.ImageColumn("", width=44)
        first, last = (find_item(data, int(k)) for k in (rows[end].min(), rows[end].max()))
        is_single_dataset = form == "link" and first.dataset is last.dataset
        label = f"{first.glyph} {first.dataset.name}" if is_single_dataset else heading
        columns[end] = st.column_config.TextColumn(label, width=134 if form == "link" else 104)
    return columns


def _button_config(form: str, frame: pd.DataFrame) -> dict[str, object]:
    """Add a menu of actions at the end of each row."""
    labels = ["Show on the map", *(["Reverse"] if form == "comparison" else []), "Remove"]
    frame["do"] = [labels] * len(frame)
    return {
        "do": st.column_config.ButtonColumn(
            "", width=44, type="tertiary", key=f"do-{form}", on_click=_on_button, args=(form,)
        )
    }


def _on_button(form: str) -> None:
    key = editor.clicked_key(f"table-{form}", f"do-{form}")
    if key is None:
        return
    label = str(st.session_state[f"do-{form}"]["label"])
    if label == "Remove":
        session.run_command(DropStatements([key]))
    elif label == "Reverse":
        session.run_command(ReverseComparisons([key]))
    else:
        ledger = ledger_of(session.workspace().state)
        if ledger is None:
            return
        rows = ledger.statements(form)
        matching = rows[(rows["key"] == key).to_numpy()]
        if len(matching):
            selection.show_on_map(sentences.rows_of_statement(records(matching)[0]))


def _save(changes: Mapping[str, Mapping[str, object]]) -> None:
    session.run_command(EditStatements({key: dict(cells) for key, cells in changes.items()}))


def _offer_bulk_edit(form: str, frame: pd.DataFrame, editable: Ints) -> None:
    """Offer one change for all editable statements that pass the filter."""
    noun = "link" if form == "link" else "comparison"
    with st.popover("Change all shown", key=f"bulk-{form}", disabled=not len(editable)):
        theme.show_note(
            f"For {theme.count(len(editable), noun)}: all that pass the filter, on every page. "
            "You can undo it."
        )
        low = -1.0 if form == "link" else 0.05
        weight = st.slider(
            "Weight", low, 1.0, 0.5, 0.05, key=f"bulk-weight-{form}",
            help="From −1, apart, to 1, together." if form == "link" else None,
        )  # fmt: skip
        with st.container(horizontal=True):
            st.button(
                "Set the weight",
                key=f"bulk-set-{form}",
                disabled=weight == 0,
                on_click=_edit_all,
                args=(frame, editable, "weight", weight),
            )
            st.button(
                f"Remove {theme.count(len(editable), noun)}",
                key=f"bulk-remove-{form}",
                on_click=_remove_all,
                args=(frame, editable),
            )
        note = st.text_input("Note", max_chars=500, key=f"bulk-note-{form}")
        st.button(
            "Set the note",
            key=f"bulk-note-do-{form}",
            disabled=not note.strip(),
            on_click=_edit_all,
            args=(frame, editable, "note", note.strip()),
        )


def _edit_all(frame: pd.DataFrame, editable: Ints, column: str, value: object) -> None:
    keys = frame["key"].to_numpy()[editable].tolist()
    session.run_command(EditStatements({key: {column: value} for key in keys}))


def _remove_all(frame: pd.DataFrame, editable: Ints) -> None:
    session.run_command(DropStatements(frame["key"].to_numpy()[editable].tolist()))
