"""Which label to predict, and from what."""

from __future__ import annotations

from typing import Any

import streamlit as st

from hetviz.algorithms.registry import get_method
from hetviz.data import HeteroData
from hetviz.features.known import groups_of
from hetviz.runs.predict.label_blend import BLEND, TITLE
from hetviz.ui.shell import background, theme
from hetviz.ui.widgets import item_text
from hetviz.ui.widgets.param_form import param_form
from hetviz.workspace import State

TASK = "hetviz.jobs.tasks.predict:find_labels"
_METHODS = {BLEND: TITLE, "gbc": "Boosting consensus"}
_CONSENSUS, _TRANSFER = "what describes them", "another dataset's labels"


def show(state: State) -> None:
    """Show the choices and the button that starts the prediction."""
    data = state.data
    if data is None:
        return
    offered = {name: columns for name in data.datasets if (columns := label_columns(data, name))}
    theme.section("Predict a label")
    if not offered:
        theme.quiet(
            "No dataset has a column of groups or numbers yet. Select items on the Map page and "
            "give them a label: it becomes one."
        )
        return
    name = st.selectbox("Of", list(offered), key="labels-dataset")
    label = st.selectbox("Label", offered[name], key=f"labels-label-{name}")
    ways = [_CONSENSUS]
    others = [
        (other, column) for other, columns in offered.items() if other != name for column in columns
    ]
    if others:
        ways.append(_TRANSFER)
    way = st.segmented_control(
        "Learned from", ways, default=_CONSENSUS, required=True, key="labels-way"
    )
    arguments: dict[str, Any] = {"dataset": name, "label": label}
    if way == _TRANSFER:
        theme.quiet("Only where the two datasets are alike enough; it says if that is too risky.")
        from_one = st.selectbox(
            "Label to learn from",
            others,
            format_func=lambda pair: f"{pair[1]} of {pair[0]}",
            key=f"labels-from-{name}",
        )
        arguments |= {"method": "hemap", "source": list(from_one)}
        ready = True
    else:
        arguments["method"] = st.selectbox(
            "By", list(_METHODS), format_func=_METHODS.__getitem__, key="labels-method"
        )
        ready = _sources(data, name, arguments)
    with st.expander("Settings"):
        arguments["training_share"] = 0.01 * st.slider(
            "Share of labels learned from in tests, %",
            10,
            90,
            80,
            5,
            key="labels-share",
            help="The rest is held out and predicted. The predictions shown use all labels.",
        )
        arguments["repeats"] = int(st.number_input("Tests", 0, 20, 3, key="labels-repeats"))
        if way == _CONSENSUS and arguments["method"] == "gbc":
            declared = get_method("gbc").params
            skipped = ("label", "n_components")
            plain = {key: param for key, param in declared.items() if key not in skipped}
            arguments |= param_form("labels-gbc", plain, list(data.datasets))
    with st.container(key="primary_predict"):
        st.button(
            "Predict labels",
            type="primary",
            key="predict-labels",
            width="stretch",
            disabled=background.live() is not None or not ready,
            on_click=background.find,
            args=(f"{label} of {name}", TASK, arguments),
        )


def label_columns(data: HeteroData, name: str) -> list[str]:
    """Return the columns of a dataset that can be learned: labels first, then groups, numbers."""
    labels = [label.name for label in data.labels if label.dataset == name]
    groups, numbers = [], []
    for column, held in item_text.columns_of(data, name).items():
        if column in labels or column == data[name].title_column:
            continue
        if groups_of(held) is not None:
            groups.append(column)
        elif held.kind == "number":
            numbers.append(column)
    return [*dict.fromkeys(labels), *groups, *numbers]


def _sources(data: HeteroData, name: str, arguments: dict[str, object]) -> bool:
    views = data.views(data[name].entity)
    featured = [view for view in views if not data[view].is_featureless]
    kinds = dict.fromkeys(
        group.kind
        for group in data.links
        if group.source in views and group.target in views and bool((group.weight > 0).any())
    )
    there = [*featured, *(kind for kind in kinds if kind not in featured)]
    if len(there) < 2:
        theme.quiet(f"Learned from the features of {name}.")
        return bool(featured)
    chosen = st.pills(
        "Sources",
        there,
        default=there,
        selection_mode="multi",
        key=f"labels-sources-{name}",
        help="Features of datasets that show the same items, and links within them.",
    )
    arguments["sources"] = list(chosen)
    if not set(chosen) & set(featured):
        theme.quiet("Keep at least one dataset with features.")
        return False
    return True
