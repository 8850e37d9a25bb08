"""Labels predicted: how right they are, which are doubtful, and taking them over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from hetviz.data import HeteroData
from hetviz.features.relations.labelled import label_column
from hetviz.plots.colour import spoken
from hetviz.plots.predicted_labels import (
    doubt_alt,
    doubt_figure,
    error_alt,
    error_figure,
    reliability_alt,
    reliability_figure,
    weights_alt,
    weights_figure,
)
from hetviz.ui.map import parts
from hetviz.ui.predict import label_form
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts, pair_list
from hetviz.workspace import Finding, SetLabels, State

KIND = "labels"
_LEAST_BINS = 2
_NAMES = {
    "blend": "all that is known",
    "gbc": "consensus of the sources",
    "hemap": "transfer",
    "vote": "vote of the sources",
    "joined features": "all features joined",
    "guess": "always the usual",
}
_DECISIONS = {
    "accept": "The transfer can be trusted",
    "caution": "Take this transfer with caution",
    "too risky": "Too risky to transfer",
}
_ASKED = 6
_SURE = 90


def show(state: State) -> None:
    """Show the section."""
    kept = state.findings.get(KIND)
    if kept is None or state.data is None or kept.content["dataset"] not in state.data.datasets:
        _nothing()
        _, narrow = st.columns([1.75, 1], gap="large")
        with narrow:
            label_form.show(state)
        return
    content = kept.content
    items = items_of(state, kept)
    theme.headline(_found(content, items), _in_words(content, items))
    if state.guided is None or kept.fingerprint != state.guided.fingerprint():
        theme.quiet("Predicted before the data changed. Predict again to use what you said since.")
    wide, narrow = st.columns([1.75, 1], gap="large")
    with wide:
        with st.container(horizontal=True, vertical_alignment="center", key="labels-bar"):
            accept(kept, items)
            other = st.popover("Other labels", type="tertiary", key="labels-other")
            with other, st.container(width=380):
                label_form.show(state)
        _map(state, kept, items)
        doubtful(state, kept, items)
    with narrow:
        _errors(content)
        _weights(content)
        _reliability(content)
        for reason in [*content["reasons"], *content["notes"]]:
            theme.quiet(str(reason))


def _nothing() -> None:
    if background.live() is not None:
        theme.headline("Predicting", "Labels appear here as soon as they are judged.")
    else:
        theme.headline(
            "No label predicted yet",
            "Choose a label at the right. Items without it get one, with how sure it is, and "
            "labels that are held out tell how often that is right.",
        )


def _found(content: Mapping[str, Any], items: list[Labelled]) -> str:
    if content["decision"] is not None:
        what = f"{spoken(content['label'])} of {content['dataset']}"
        errors = _errors_of(content)
        if "hemap" in errors and min(errors, key=errors.__getitem__) != "hemap":
            return f"{what}: its own labels tell more than the transfer"
        return f"{_DECISIONS[content['decision']]}: {what}"
    errors = _errors_of(content)
    open_ = sum(not item.known for item in items)
    what = f"{spoken(content['label'])} of {content['dataset']}"
    if content["method"] not in errors:
        return f"{what}: {theme.count(open_, 'label')} predicted"
    error = errors[content["method"]]
    if content["classes"]:
        return f"{what}: {100 * (1 - error):.0f} of 100 held-out labels are predicted right"
    return f"{what}: held-out numbers are missed by about {error:.3g}"


def _in_words(content: Mapping[str, object], items: list[Labelled]) -> str:
    open_ = sum(not item.known for item in items)
    words = [f"By {content['title']}."]
    if open_:
        has = theme.count(open_, "item has", "items have")
        words.append(f"{has} no label of their own." if open_ > 1 else f"{has} none of its own.")
    errors = _errors_of(content)
    if content["method"] in errors and "guess" in errors:
        guess = errors["guess"]
        if content["classes"]:
            words.append(
                f"Always guessing the commonest is right in {100 * (1 - guess):.0f} of 100."
            )
        else:
            words.append(f"Always guessing the mean misses by {guess:.3g}.")
    return " ".join(words)


def _errors_of(content: Mapping[str, Any]) -> dict[str, float]:
    held = content["held_out"]
    return dict(zip(held["model"], held["error"], strict=True))


def _map(state: State, kept: Finding, items: list[Labelled]) -> None:
    run, data = state.run, state.data
    if run is None or data is None:
        return
    embedding = charts.embedding_of(state, run)
    if embedding is None:
        return
    content = kept.content
    doubt = np.array([item.doubt for item in items], dtype=float)
    if not content["classes"] and np.isfinite(doubt).any():
        doubt = doubt / (np.nanmax(doubt) or 1.0)
    figure = session.cached(
        ("doubt", id(data), id(run), id(kept), session.theme()),
        (data, run, kept),
        lambda: doubt_figure(
            embedding,
            [item.row for item in items],
            [item.label for item in items],
            doubt,
            _coloured(data, content),
            session.theme(),
            300,
        ),
    )
    theme.section("On the map", "larger: more doubtful")
    st.plotly_chart(
        figure,
        key="labels-map",
        theme=None,
        config={"displayModeBar": False},
        alt=doubt_alt(len(items), content["label"]),
    )


def _coloured(data: HeteroData, content: Mapping[str, Any]) -> list[str]:
    """Return the classes in the order of their colours on the Map page."""
    classes = [str(one) for one in content["classes"]]
    key = json.dumps([content["dataset"], content["label"]])
    first = [one for one in parts.colours_of(data, key).categories if one in classes]
    return [*first, *(one for one in classes if one not in first)]


def _errors(content: Mapping[str, Any]) -> None:
    held = content["held_out"]
    if not held["model"]:
        theme.quiet("Not tested: too few labels are known, or no test was asked for.")
        return
    aside = "wrong of those held out" if content["classes"] else "how far off, in its own unit"
    theme.section("Error on held-out labels", aside)
    st.plotly_chart(
        error_figure(held, _NAMES, bool(content["classes"]), session.theme()),
        key="labels-errors",
        theme=None,
        config={"displayModeBar": False},
        alt=error_alt(held, _NAMES, bool(content["classes"])),
    )
    tests = max(held["repeats"], default=1)
    if tests > 1:
        theme.quiet(f"Mean of {tests} tests; the line is one standard error.")


def _reliability(content: Mapping[str, Any]) -> None:
    """Show how often the likeliest class was right, by how sure the model was."""
    rows = content["figures"].get("reliability") or []
    if len(rows) < _LEAST_BINS:
        return
    theme.section("Is it as sure as it says?", "of labels that were held out")
    st.plotly_chart(
        reliability_figure(rows, session.theme()),
        key="labels-reliability",
        theme=None,
        config={"displayModeBar": False},
        alt=reliability_alt(rows),
    )


def _weights(content: Mapping[str, Any]) -> None:
    weights = content["weights"]
    if len(set(weights["source"])) < 2:
        return
    theme.section("How far each source is trusted", "over the rounds")
    st.plotly_chart(
        weights_figure(weights, session.theme()),
        key="labels-weights",
        theme=None,
        config={"displayModeBar": False},
        alt=weights_alt(weights),
    )


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
