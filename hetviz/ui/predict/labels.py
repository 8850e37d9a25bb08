"""Predicted labels: how accurate they are, which are doubtful, and accepting them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from hetviz.data import HeteroData
from hetviz.features.problems.label_problems import label_column
from hetviz.plots.colour import display_name
from hetviz.plots.predicted_labels import (
    error_alt,
    error_figure,
    reliability_alt,
    reliability_figure,
    uncertainty_alt,
    uncertainty_figure,
    weights_alt,
    weights_figure,
)
from hetviz.ui.item import pair_list
from hetviz.ui.item.item import row_of
from hetviz.ui.map_data import parts
from hetviz.ui.predict import label_form
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, SetLabels, State

KIND = "labels"
_MIN_BINS = 2
_MODEL_NAMES = {
    "blend": "all evidence",
    "gbc": "consensus of the sources",
    "hemap": "transfer",
    "vote": "vote of the sources",
    "joined features": "all features joined",
    "guess": "constant guess",
}
_DECISION_TITLES = {
    "accept": "The transfer can be trusted",
    "caution": "Take this transfer with caution",
    "too risky": "Too risky to transfer",
}
_MAX_QUESTIONS = 6
_DEFAULT_SURE_PERCENT = 90


def show(state: State) -> None:
    """Show the section."""
    finding = state.findings.get(KIND)
    if (
        finding is None
        or state.data is None
        or finding.content["dataset"] not in state.data.datasets
    ):
        _show_empty()
        _, side_column = st.columns([1.75, 1], gap="large")
        with side_column:
            label_form.show_form(state)
        return
    content = finding.content
    items = labelled_items(state, finding)
    theme.show_headline(
        _title(content, items),
        _subtitle(content, items),
        theme.evidence_key("predicted-labels") if content["table"]["id"] else "",
    )
    if state.guided is None or finding.fingerprint != state.guided.fingerprint():
        theme.show_note("Predicted before the data changed. Predict again to use the new data.")
    main_column, side_column = st.columns([1.75, 1], gap="large")
    with main_column:
        with st.container(horizontal=True, vertical_alignment="center", key="labels-bar"):
            show_accept(finding, items)
            popover = st.popover("Other labels", type="tertiary", key="labels-other")
            with popover, st.container(width=380):
                label_form.show_form(state)
        _show_map(state, finding, items)
        show_doubtful(state, finding, items)
    with side_column:
        _show_errors(content)
        _show_weights(content)
        _show_reliability(content)
        for reason in [*content["reasons"], *content["notes"]]:
            theme.show_note(str(reason))


def _show_empty() -> None:
    if background.running_job() is not None:
        theme.show_headline("Predicting", "Labels appear here as soon as they are tested.")
    else:
        theme.show_headline(
            "No label predicted yet",
            "Choose a label on the right. Items without one get a prediction and its certainty. "
            "Hidden labels show how often predictions are right.",
        )


def _title(content: Mapping[str, Any], items: list[LabelledItem]) -> str:
    if content["decision"] is not None:
        label_title = f"{display_name(content['label'])} of {content['dataset']}"
        errors = _error_by_model(content)
        if "hemap" in errors and min(errors, key=errors.__getitem__) != "hemap":
            return f"{label_title}: its own labels predict better than the transfer"
        return f"{_DECISION_TITLES[content['decision']]}: {label_title}"
    errors = _error_by_model(content)
    n_open = sum(not item.is_known for item in items)
    label_title = f"{display_name(content['label'])} of {content['dataset']}"
    if content["method"] not in errors:
        return f"{label_title}: {theme.count(n_open, 'label')} predicted"
    error = errors[content["method"]]
    if content["classes"]:
        return f"{label_title}: {100 * (1 - error):.0f} % of hidden labels are predicted correctly"
    return f"{label_title}: predictions of hidden numbers are off by about {error:.3g}"


def _subtitle(content: Mapping[str, object], items: list[LabelledItem]) -> str:
    n_open = sum(not item.is_known for item in items)
    sentences = [f"By {content['title']}."]
    if n_open:
        subject = theme.count(n_open, "item has", "items have")
        sentences.append(f"{subject} no label.")
    errors = _error_by_model(content)
    if content["method"] in errors and "guess" in errors:
        guess = errors["guess"]
        if content["classes"]:
            sentences.append(
                f"The most common label alone would be right for {100 * (1 - guess):.0f} %."
            )
        else:
            sentences.append(f"The mean alone would be off by {guess:.3g}.")
    return " ".join(sentences)


def _error_by_model(content: Mapping[str, Any]) -> dict[str, float]:
    tests = content["held_out"]
    return dict(zip(tests["model"], tests["error"], strict=True))


def _show_map(state: State, finding: Finding, items: list[LabelledItem]) -> None:
    run, data = state.run, state.data
    if run is None or data is None:
        return
    embedding = charts.embedding_of(state, run)
    if embedding is None:
        return
    content = finding.content
    doubt = np.array([item.doubt for item in items], dtype=float)
    if not content["classes"] and np.isfinite(doubt).any():
        doubt = doubt / (np.nanmax(doubt) or 1.0)
    figure = session.get_or_compute(
        ("doubt", id(data), id(run), id(finding), session.theme()),
        (data, run, finding),
        lambda: uncertainty_figure(
            embedding,
            [item.row for item in items],
            [item.label for item in items],
            doubt,
            _classes_in_colour_order(data, content),
            session.theme(),
            300,
        ),
    )
    theme.show_section("On the map", "larger dots are less certain")
    charts.show_figure(figure, "labels-map", uncertainty_alt(len(items), content["label"]))


def _classes_in_colour_order(data: HeteroData, content: Mapping[str, Any]) -> list[str]:
    classes = [str(name) for name in content["classes"]]
    key = json.dumps([content["dataset"], content["label"]])
    coloured = [name for name in parts.get_colouring(data, key).categories if name in classes]
    return [*coloured, *(name for name in classes if name not in coloured)]


def _show_errors(content: Mapping[str, Any]) -> None:
    held_out = content["held_out"]
    if not held_out["model"]:
        theme.show_note("Not tested: too few known labels, or no tests requested.")
        return
    aside = (
        "share predicted wrong" if content["classes"] else "typical error, in the unit of the label"
    )
    theme.show_section("Error on hidden labels", aside, theme.evidence_key("label-test"))
    charts.show_figure(
        error_figure(held_out, _MODEL_NAMES, bool(content["classes"]), session.theme()),
        "labels-errors",
        error_alt(held_out, _MODEL_NAMES, bool(content["classes"])),
    )
    tests = max(held_out["repeats"], default=1)
    if tests > 1:
        theme.show_note(f"Mean of {tests} tests. The line is one standard error.")


def _show_reliability(content: Mapping[str, Any]) -> None:
    """Show how often the likeliest class was right, by its probability."""
    rows = content["figures"].get("reliability") or []
    if len(rows) < _MIN_BINS:
        return
    theme.show_section("Are the probabilities right?", "on hidden labels")
    charts.show_figure(
        reliability_figure(rows, session.theme()), "labels-reliability", reliability_alt(rows)
    )


def _show_weights(content: Mapping[str, Any]) -> None:
    weights = content["weights"]
    if len(set(weights["source"])) < 2:
        return
    theme.show_section("Weight of each source", "over the rounds")
    charts.show_figure(
        weights_figure(weights, session.theme()), "labels-weights", weights_alt(weights)
    )


@dataclass(frozen=True)
class LabelledItem:
    """An item with its predicted or known label.

    `row` is global, and `is_known` tells whether the data have the label now. `doubt` is 0 to 1 for
    classes, in the unit of the label for numbers, and NaN if unknown. `is_decided` predictions are
    better than a guess. `interval` contains 90 % of the hidden numbers.
    """

    row: int
    id: str
    label: Any
    is_known: bool
    doubt: float
    is_decided: bool = True
    interval: tuple[float, float] | None = None


def labelled_items(state: State, finding: Finding) -> list[LabelledItem]:
    """Return the labelled items that are in the open data."""
    data = state.data
    if data is None:
        return []

    def make() -> list[LabelledItem]:
        name, label = finding.content["dataset"], finding.content["label"]
        has_label = np.zeros(len(data[name]), dtype=bool)
        if label in label_form.label_columns(data, name):
            has_label = np.isfinite(label_column(data, name, label).y)
        table = finding.content["table"]
        labelled = []
        n = len(table["id"])
        decided = table.get("decided") or [True] * n
        bounds = list(
            zip(table.get("low") or [None] * n, table.get("high") or [None] * n, strict=True)
        )
        columns = [table[key] for key in ("id", "label", "known", "doubt")]
        for id, predicted, was_known, doubt, is_decided, (low, high) in zip(
            *columns, decided, bounds, strict=True
        ):
            row = row_of(data, name, id)
            if row is not None:
                is_known = bool(was_known or has_label[row - data.offsets[name].start])
                doubt = np.nan if doubt is None else doubt
                interval = None if low is None or high is None else (low, high)
                labelled.append(
                    LabelledItem(row, id, predicted, is_known, doubt, bool(is_decided), interval)
                )
        return labelled

    return session.get_or_compute(("labelled", id(data), id(finding)), (data, finding), make)


def show_accept(finding: Finding, items: list[LabelledItem]) -> None:
    """Show the required certainty and the button that accepts labels."""
    candidates = [item for item in items if not item.is_known and item.label is not None]
    if not candidates:
        theme.show_note("Every item has a label, so there is nothing to accept.")
        return
    accepted = [item for item in candidates if item.is_decided]
    n_unknown = len(candidates) - len(accepted)
    if n_unknown:
        theme.show_note(f"{theme.count(n_unknown, 'label')} could only be guessed.")
    if finding.content["classes"]:
        min_percent = st.slider(
            "Minimum certainty, %", 50, 100, _DEFAULT_SURE_PERCENT, key="labels-sure", width=220
        )
        accepted = [item for item in accepted if item.doubt <= 1.0 - 0.01 * min_percent]
    with st.container(key="primary_take", width="content"):
        st.button(
            f"Accept {theme.count(len(accepted), 'label')}",
            type="primary",
            key="accept-labels",
            disabled=not accepted,
            on_click=_accept_labels,
            args=(finding, {item.id: item.label for item in accepted}),
        )


def show_doubtful(state: State, finding: Finding, items: list[LabelledItem]) -> None:
    """Ask for the labels of the most doubtful items."""
    data, classes = state.data, finding.content["classes"]
    questions = [item for item in items if not item.is_known]
    title = "Least certain"
    if not questions and classes and finding.content["method"] == "gbc":
        questions = [item for item in items if item.doubt > 0.5]
        title = "Given labels that look wrong"
    questions.sort(key=lambda item: -np.nan_to_num(item.doubt))
    if data is None or not questions:
        return
    theme.show_section(title, "answers are saved right away")
    for item in questions[:_MAX_QUESTIONS]:
        item_column, answer_column = st.columns([2, 1], vertical_alignment="center", gap="small")
        with item_column:
            st.html(pair_list.item_html(data, item.row, _label_text(item, bool(classes))))
        with answer_column:
            key = f"label-{finding.when}-{item.row}"
            if classes:
                st.selectbox(
                    f"{finding.content['label']} of this item",
                    classes,
                    index=None,
                    placeholder="Which is it?",
                    key=key,
                    label_visibility="collapsed",
                    on_change=_answer,
                    args=(finding, item.id, key),
                )
            else:
                st.number_input(
                    f"{finding.content['label']} of this item",
                    value=None,
                    placeholder="What is it?",
                    key=key,
                    label_visibility="collapsed",
                    on_change=_answer,
                    args=(finding, item.id, key),
                )


def _label_text(item: LabelledItem, classes: bool) -> str:
    if item.label is None:
        return "no prediction"
    if not item.is_decided and not item.is_known:
        return f"uncertain, perhaps {item.label if classes else f'{float(item.label):.4g}'}"
    if classes:
        return f"{item.label}, {100 * (1 - item.doubt):.0f} % sure".replace("nan % sure", "unsure")
    if item.interval is not None and not item.is_known:
        return f"{float(item.label):.4g}, from {item.interval[0]:.4g} to {item.interval[1]:.4g}"
    spread = "" if np.isnan(item.doubt) else f" ± {item.doubt:.2g}"
    return f"{float(item.label):.4g}{spread}"


def _accept_labels(finding: Finding, values: dict[str, object]) -> None:
    note = f"accepted from {finding.content['title']}"
    session.run_command(
        SetLabels(finding.content["dataset"], finding.content["label"], values, note=note)
    )


def _answer(finding: Finding, id: str, key: str) -> None:
    value = st.session_state[key]
    if value is not None:
        session.run_command(
            SetLabels(
                finding.content["dataset"], finding.content["label"], {id: value}, note="answered"
            )
        )
