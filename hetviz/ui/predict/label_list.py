"""Predicted labels item by item: accept the sure ones, answer the doubtful ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from hetviz.features.relations.labelled import label_column
from hetviz.ui.predict import label_form
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import pair_list
from hetviz.workspace import Finding, SetLabels, State

_ASKED = 6
_SURE = 90


@dataclass(frozen=True)
class Labelled:
    """An item with its label.

    Attributes
    ----------
    row : int
        Global.
    id : str
    label : text, number or None
    known : bool
        Whether the data say so by now.
    doubt : float
        Of classes from 0 to 1; of numbers in their own unit; NaN where it is not known.
    decided : bool
        Whether it is told better than by a guess.
    interval : tuple of two numbers, optional
        Of a number: nine of ten that were hidden lay within such bounds.
    """

    row: int
    id: str
    label: Any
    known: bool
    doubt: float
    decided: bool = True
    interval: tuple[float, float] | None = None


def items_of(state: State, kept: Finding) -> list[Labelled]:
    """Return the items that are still there."""
    data = state.data
    if data is None:
        return []

    def make() -> list[Labelled]:
        name, label = kept.content["dataset"], kept.content["label"]
        now = np.zeros(len(data[name]), dtype=bool)
        if label in label_form.label_columns(data, name):
            now = np.isfinite(label_column(data, name, label).y)
        table = kept.content["table"]
        out = []
        n = len(table["id"])
        decided = table.get("decided") or [True] * n
        bounds = list(
            zip(table.get("low") or [None] * n, table.get("high") or [None] * n, strict=True)
        )
        columns = [table[key] for key in ("id", "label", "known", "doubt")]
        for id, said, known, doubt, sure, (low, high) in zip(
            *columns, decided, bounds, strict=True
        ):
            row = pair_list.row_of(data, name, id)
            if row is not None:
                there = bool(known or now[row - data.offsets[name].start])
                doubt = np.nan if doubt is None else doubt
                within = None if low is None or high is None else (low, high)
                out.append(Labelled(row, id, said, there, doubt, bool(sure), within))
        return out

    return session.cached(("labelled", id(data), id(kept)), (data, kept), make)


def accept(kept: Finding, items: list[Labelled]) -> None:
    """Show how sure a label must be, and the button that takes those over."""
    open_ = [item for item in items if not item.known and item.label is not None]
    if not open_:
        theme.quiet("Every item has a label of its own: nothing to take over.")
        return
    sure = [item for item in open_ if item.decided]
    unknown = len(open_) - len(sure)
    if unknown:
        theme.quiet(f"{theme.count(unknown, 'label')} could only be guessed.")
    if kept.content["classes"]:
        least = st.slider("At least so sure, %", 50, 100, _SURE, key="labels-sure", width=220)
        sure = [item for item in sure if item.doubt <= 1.0 - 0.01 * least]
    with st.container(key="primary_take", width="content"):
        st.button(
            f"Accept {theme.count(len(sure), 'label')}",
            type="primary",
            key="accept-labels",
            disabled=not sure,
            on_click=_take,
            args=(kept, {item.id: item.label for item in sure}),
        )


def doubtful(state: State, kept: Finding, items: list[Labelled]) -> None:
    """Ask for the labels of the items that are most in doubt."""
    data, classes = state.data, kept.content["classes"]
    asked = [item for item in items if not item.known]
    title = "The most doubtful"
    if not asked and classes and kept.content["method"] == "gbc":
        asked = [item for item in items if item.doubt > 0.5]
        title = "Labels given that look wrong"
    asked.sort(key=lambda item: -np.nan_to_num(item.doubt))
    if data is None or not asked:
        return
    theme.section(title, "your answer is kept at once")
    for item in asked[:_ASKED]:
        words, answer = st.columns([2, 1], vertical_alignment="center", gap="small")
        with words:
            st.html(pair_list.item(data, item.row, _aside(item, bool(classes))))
        with answer:
            key = f"label-{kept.when}-{item.row}"
            if classes:
                st.selectbox(
                    f"{kept.content['label']} of this item",
                    classes,
                    index=None,
                    placeholder="Which is it?",
                    key=key,
                    label_visibility="collapsed",
                    on_change=_answer,
                    args=(kept, item.id, key),
                )
            else:
                st.number_input(
                    f"{kept.content['label']} of this item",
                    value=None,
                    placeholder="What is it?",
                    key=key,
                    label_visibility="collapsed",
                    on_change=_answer,
                    args=(kept, item.id, key),
                )


def _aside(item: Labelled, classes: bool) -> str:
    if item.label is None:
        return "no guess"
    if not item.decided and not item.known:
        return f"does not know; perhaps {item.label if classes else f'{float(item.label):.4g}'}"
    if classes:
        return f"{item.label}, {100 * (1 - item.doubt):.0f} % sure".replace("nan % sure", "unsure")
    if item.interval is not None and not item.known:
        return f"{float(item.label):.4g}, from {item.interval[0]:.4g} to {item.interval[1]:.4g}"
    spread = "" if np.isnan(item.doubt) else f" ± {item.doubt:.2g}"
    return f"{float(item.label):.4g}{spread}"


def _take(kept: Finding, values: dict[str, object]) -> None:
    note = f"accepted from {kept.content['title']}"
    session.do(SetLabels(kept.content["dataset"], kept.content["label"], values, note=note))


def _answer(kept: Finding, id: str, key: str) -> None:
    value = st.session_state[key]
    if value is not None:
        session.do(
            SetLabels(kept.content["dataset"], kept.content["label"], {id: value}, note="answered")
        )
