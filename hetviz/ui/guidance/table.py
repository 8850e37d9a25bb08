"""The tables of links and comparisons: filtered, worst kept first, edited in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from hetviz._types import Ints, Texts
from hetviz.data import HeteroData
from hetviz.data.model.statements import COMPARED as COMPARED_SET
from hetviz.plots.curve import LOOK_AT
from hetviz.ui.guidance import editor, sentences
from hetviz.ui.guidance.ledger import (
    BROKEN,
    KEPT,
    NO_PLACE,
    Ledger,
    Listed,
    goodness,
    ledger_of,
    naming,
    records,
    titles,
)
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import item_chip, pager
from hetviz.workspace import DropStatements, EditStatements, ReverseComparisons

PAGE = 200
_SEEN = 12
_ALL, _HELD, _OFF = "all of them", "held out", "switched off"
_FATES = {"those not kept": BROKEN, "those kept": KEPT, "those without a place": NO_PLACE}
_ALL_SETS, _ALL_PAIRS = "in all sets", "of all datasets"
_WORDS = {"link": ("link", "links"), "comparison": ("comparison", "comparisons")}
_TEXTS = ("kind", "note", "who", "when", "set", "fate")


def show(data: HeteroData, ledger: Ledger, form: str) -> None:
    """Show the links or the comparisons, with what to choose among them by."""
    said = ledger.listed(form)
    with st.container(horizontal=True, key="guidance-filters"):
        among, order = _asked(data, ledger, said, form)
    _page(data, form, among, order, len(said.rows))


@dataclass(frozen=True, eq=False)
class _Order:
    """In which order a table stands, kept while the choice is the same.

    Attributes
    ----------
    choice : tuple
        The map, and what was chosen.
    ledger : Ledger
    keys : array of str
        Of all statements there were to choose from at first.
    first : array of int
        Positions in `keys` of those that fitted the choice, in their order.
    order : array of int
        Positions of the statements of `ledger` that fit the choice.
    own : array of int
        Those of `order` that can be edited.
    observed : bool
        Whether any of them was observed, not said.
    """

    choice: tuple[object, ...]
    ledger: Ledger
    keys: Texts
    first: Ints
    order: Ints
    own: Ints
    observed: bool


def _asked(
    data: HeteroData, ledger: Ledger, said: Listed, form: str
) -> tuple[pd.DataFrame, _Order]:
    """Ask which statements to show; return all there are to choose from, and which, in order."""
    aside = ledger.aside if form == "link" else ledger.aside.iloc[:0]
    choices = [_ALL, *(words for words, fate in _FATES.items() if fate in said.fates)]
    choices += [_HELD] * bool(said.held or len(aside)) + [_OFF] * said.off
    which = st.selectbox(
        "Which", choices, key=f"which-{form}", label_visibility="collapsed", width=170
    )
    part = _ALL_SETS
    if len(said.sets) > 1:
        part = st.selectbox(
            "Set",
            [_ALL_SETS, *said.sets],
            key=f"which-set-{form}",
            label_visibility="collapsed",
            width=170,
        )
    between = _between(said, form)
    text = st.text_input(
        "Find",
        key=f"find-{form}",
        placeholder="Find an item or note",
        icon=":material/search:",
        label_visibility="collapsed",
        width=190,
        max_chars=100,
    )
    among = said.rows
    if which == _HELD:
        among = pd.concat([among[among["held"]], aside])
    choice = (session.workspace().state.chosen, which, part, between, text.strip())
    kept: _Order | None = st.session_state.get(f"order-{form}")
    if kept is not None and kept.choice == choice and kept.ledger is ledger:
        return among, kept
    whole = np.argsort(goodness(among), kind="stable") if which == _HELD else said.order
    fits = np.ones(len(among), dtype=bool)
    if which == _OFF:
        fits &= ~among["on"].to_numpy()
    elif which in _FATES:
        fits &= (among["fate"] == _FATES[which]).to_numpy()
    if part != _ALL_SETS:
        fits &= (among["set"] == part).to_numpy()
    if between is not None:
        fits &= (among["joins"] == between).to_numpy()
    if text.strip():
        fits &= naming(data, among, text)
    order = whole if fits.all() else whole[fits[whole]]
    keys: Texts = among["key"].to_numpy(dtype=object)
    first = order
    if kept is not None and kept.choice == choice:
        # Otherwise a weight that changes its sign would take its row elsewhere under the hand.
        order = as_before(order, places_in(kept.keys, keys), kept.first, len(kept.keys))
        keys, first = kept.keys, kept.first
    own = order if said.own and which != _HELD else order[among["own"].to_numpy()[order]]
    observed = said.observed and bool((among["role"] == "relation").to_numpy()[order].any())
    found = _Order(choice, ledger, keys, first, order, own, observed)
    st.session_state[f"order-{form}"] = found
    return among, found


def as_before(order: Ints, places: Ints, first: Ints, n: int) -> Ints:
    """Return an order of rows as it was when its list was first asked for.

    Parameters
    ----------
    order : array of int
        Rows that are wanted now, in an order of their own.
    places : array of int
        Where each row stood among the n of that time; -1 where it was not there.
    first : array of int
        Which of those fitted, in the order of that time.
    n : int

    Returns
    -------
    array of int
        The rows that did not fit then first, as in `order`; behind them the others. O(n).
    """
    fitted = np.zeros(n + 1, dtype=bool)
    fitted[first] = True
    new = order[~fitted[places[order]]]
    row = np.full(n + 1, -1, dtype=np.int64)
    row[places[order]] = order
    known = row[first]
    return np.concatenate([new, known[known >= 0]])


def places_in(old: Texts, new: Texts) -> Ints:
    """Return the position in `old` of each text of `new`, -1 where it is not there.

    Most stand in the same order in both, before and behind what differs, and are found so.
    """

    def alike(a: Texts, b: Texts) -> int:
        same = np.asarray(a == b)
        return len(same) if same.all() else int(np.argmin(same))

    n = min(len(old), len(new))
    first = alike(old[:n], new[:n])
    rest = n - first
    last = alike(old[::-1][:rest], new[::-1][:rest])
    out = np.full(len(new), -1, dtype=np.int64)
    out[:first] = np.arange(first)
    out[len(new) - last :] = np.arange(len(old) - last, len(old))
    place = {old[k]: k for k in range(first, len(old) - last)}
    for k in range(first, len(new) - last):
        out[k] = place.get(new[k], -1)
    return out


def _between(said: Listed, form: str) -> str | None:
    """Ask for the datasets that statements join, where there are several choices."""
    if len(said.pairs) < 2:
        return None
    found = st.selectbox(
        "Datasets",
        [_ALL_PAIRS, *said.pairs],
        key=f"which-pair-{form}",
        label_visibility="collapsed",
        width=190,
    )
    return None if found == _ALL_PAIRS else found


def _page(data: HeteroData, form: str, among: pd.DataFrame, found: _Order, total: int) -> None:
    """Show the statements asked for, a page of them at a time."""
    one, many = _WORDS[form]
    order = found.order
    if not len(order):
        theme.quiet(
            f"No {one} fits this choice; there are {total:,}." if total else f"No {many} yet."
        )
        return
    pages = -(-len(order) // PAGE)
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="center", key=f"below-{form}"):
        shown = f"{theme.count(len(order), one)}"
        shown += "" if len(order) == total else f" of {total:,}"
        theme.quiet(f"{shown}, worst kept first. Double-click a cell to change it.")
        _change_all(form, among, found.own)
        number = pager.show(pages, f"page-{form}-{pages}")
    part = among.iloc[order[(number - 1) * PAGE : number * PAGE]]
    with place:
        _table(data, form, part, found.observed)


def _table(data: HeteroData, form: str, rows: pd.DataFrame, observed: bool) -> None:
    name = f"table-{form}"
    frame = _frame(data, form, rows)
    columns: dict[str, Any] = _items(data, form, rows, frame)
    number = st.column_config.NumberColumn
    text = st.column_config.TextColumn
    if form == "link":
        columns["weight"] = number(
            "Weight", min_value=-1.0, max_value=1.0, step=0.05, format="%.2f", width=86,
            help="From −1, apart, to 1, together.",
        )  # fmt: skip
        if rows["score"].notna().any():
            columns["score"] = number("Score", format="%.3g", width=70)
        columns["kind"] = text("Kind", max_chars=150, width=78)
    else:
        columns["weight"] = number(
            "Weight", min_value=0.0, step=0.1, format="%.2f", width=78,
            help="How much it counts beside the others; above 0.",
        )  # fmt: skip
    columns["near"] = st.column_config.ProgressColumn(
        "Nearness" if form == "link" else "Agreement",
        min_value=0.0,
        max_value=100.0,
        format="%.0f %%",
        width=92,
        help=(
            "The share of all pairs that lie farther apart on the map: 100 % is nearest."
            if form == "link"
            else "The far distance as a share of both: above 50 % the map agrees."
        ),
    )
    columns["fate"] = text(
        "Kept?",
        width=76,
        help=(
            f"Together is kept among the nearest {100 * LOOK_AT:.0f} % of all pairs of the two "
            "datasets, apart outside them."
            if form == "link"
            else "Whether the pair said to be nearer is nearer on the map."
        ),
    )
    # Before what may need a table wider than the window.
    columns |= _buttons(form, frame)
    columns["note"] = text("Note", max_chars=500, width=110 if form == "link" else 80)
    own_sets = frame["set"] != (frame["kind"] if form == "link" else COMPARED_SET)
    for column, label, some in (
        ("set", "Set", own_sets),
        ("who", "Said by", frame["who"] != ""),
        ("when", "When", frame["when"] != ""),
    ):
        if some.any():
            columns[column] = text(label, width=90)
    editable = {"weight", "score", "kind", "note"} & set(columns)
    editor.table(
        name,
        frame,
        columns,
        editable if rows["own"].all() else set(),
        _save,
        _SEEN,
        f"Table of {theme.count(len(rows), *_WORDS[form])}, worst kept first",
    )
    if observed and form == "link":
        theme.quiet("Some of these were observed, not said; they count as links all the same.")


def _frame(data: HeteroData, form: str, rows: pd.DataFrame) -> pd.DataFrame:
    names = titles(data)
    out = pd.DataFrame(index=pd.Index(rows["key"].to_numpy(), name="key"))
    for end in _shown_ends(form, rows):
        at = rows[end].to_numpy()
        shown = _faces(data, at)
        if shown is not None:
            out[f"{end}-face"] = shown
        out[end] = names[at]
    out["weight"] = rows["weight"].to_numpy(dtype=np.float64)
    out["score"] = rows["score"].to_numpy(dtype=np.float64)
    out["near"] = 100.0 * rows["near"].to_numpy(dtype=np.float64)
    for column in _TEXTS:
        out[column] = rows[column].astype(object).fillna("").to_numpy()
    out["when"] = [str(moment)[:10] for moment in out["when"]]
    return out


def _shown_ends(form: str, rows: pd.DataFrame) -> tuple[str, ...]:
    if form == "link":
        return ("p", "q")
    return ("a", "b", "d") if (rows["a"] == rows["c"]).all() else ("a", "b", "c", "d")


def _faces(data: HeteroData, rows: Ints) -> list[str] | None:
    """Return the addresses of pictures, empty where an item has none; None if none has one."""
    if all(part.media is None for part in data.datasets.values()):
        return None
    found = [item_chip.picture_of(data, item_chip.item_at(data, int(row))) or "" for row in rows]
    return found if any(found) else None


def _items(
    data: HeteroData, form: str, rows: pd.DataFrame, frame: pd.DataFrame
) -> dict[str, object]:
    """Return the columns of the items, named after their dataset where that is one."""
    ends = _shown_ends(form, rows)
    said = {
        "link": ("One item", "The other"),
        "comparison": ("This", "is nearer to", "than to")
        if len(ends) == 3
        else ("These", "two", "are nearer than", "and"),
    }[form]
    columns: dict[str, Any] = {}
    for end, words in zip(ends, said, strict=True):
        if f"{end}-face" in frame:
            columns[f"{end}-face"] = st.column_config.ImageColumn("", width=44)
        first, last = (item_chip.item_at(data, int(k)) for k in (rows[end].min(), rows[end].max()))
        alone = form == "link" and first.dataset is last.dataset
        label = f"{first.glyph} {first.dataset.name}" if alone else words
        columns[end] = st.column_config.TextColumn(label, width=134 if form == "link" else 104)
    return columns


def _buttons(form: str, frame: pd.DataFrame) -> dict[str, object]:
    """Add what can be done with a row, at its end."""
    offered = ["Show on the map", *(["Turn round"] if form == "comparison" else []), "Remove"]
    frame["do"] = [offered] * len(frame)
    return {
        "do": st.column_config.ButtonColumn(
            "", width=44, type="tertiary", key=f"do-{form}", on_click=_do, args=(form,)
        )
    }


def _do(form: str) -> None:
    key = editor.clicked(f"table-{form}", f"do-{form}")
    if key is None:
        return
    label = str(st.session_state[f"do-{form}"]["label"])
    if label == "Remove":
        session.do(DropStatements([key]))
    elif label == "Turn round":
        session.do(ReverseComparisons([key]))
    else:
        ledger = ledger_of(session.workspace().state)
        if ledger is None:
            return
        rows = ledger.of(form)
        found = rows[(rows["key"] == key).to_numpy()]
        if len(found):
            sentences.show_on_map(sentences.items_of(records(found)[0]))


def _save(changes: Mapping[str, Mapping[str, object]]) -> None:
    session.do(EditStatements({key: dict(cells) for key, cells in changes.items()}))


def _change_all(form: str, among: pd.DataFrame, own: Ints) -> None:
    """Offer one change for all statements that the filter lets through: `own` among those."""
    word = "link" if form == "link" else "comparison"
    with st.popover("Change all shown", key=f"bulk-{form}", disabled=not len(own)):
        theme.quiet(
            f"For {theme.count(len(own), word)}: all that the choice at the left shows, on every "
            "page of the table. One undo takes it back."
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
                on_click=_edit,
                args=(among, own, "weight", weight),
            )
            st.button(
                f"Remove {theme.count(len(own), word)}",
                key=f"bulk-remove-{form}",
                on_click=_remove,
                args=(among, own),
            )
        note = st.text_input("Note", max_chars=500, key=f"bulk-note-{form}")
        st.button(
            "Write the note",
            key=f"bulk-note-do-{form}",
            disabled=not note.strip(),
            on_click=_edit,
            args=(among, own, "note", note.strip()),
        )


def _edit(among: pd.DataFrame, own: Ints, column: str, value: object) -> None:
    keys = among["key"].to_numpy()[own].tolist()
    session.do(EditStatements({key: {column: value} for key in keys}))


def _remove(among: pd.DataFrame, own: Ints) -> None:
    session.do(DropStatements(among["key"].to_numpy()[own].tolist()))
