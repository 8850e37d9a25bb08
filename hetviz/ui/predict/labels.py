"""Labels predicted: how right they are, which are doubtful, and taking them over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from hetviz.data import HeteroData
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
from hetviz.ui.predict import label_form, label_list
from hetviz.ui.predict.label_list import Labelled
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, State

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
    items = label_list.items_of(state, kept)
    theme.headline(_found(content, items), _in_words(content, items))
    if state.guided is None or kept.fingerprint != state.guided.fingerprint():
        theme.quiet("Predicted before the data changed. Predict again to use what you said since.")
    wide, narrow = st.columns([1.75, 1], gap="large")
    with wide:
        with st.container(horizontal=True, vertical_alignment="center", key="labels-bar"):
            label_list.accept(kept, items)
            other = st.popover("Other labels", type="tertiary", key="labels-other")
            with other, st.container(width=380):
                label_form.show(state)
        _map(state, kept, items)
        label_list.doubtful(state, kept, items)
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
