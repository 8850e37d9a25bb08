"""Form that chooses a label to predict and what to learn it from."""

from __future__ import annotations

from typing import Any

import streamlit as st

from hetviz.algorithms.registry import get_method
from hetviz.data import HeteroData
from hetviz.features.item_columns import group_values
from hetviz.runs.predict.label_blend import BLEND, TITLE
from hetviz.ui.item import item_text
from hetviz.ui.shell import background, theme
from hetviz.ui.widgets.param_form import param_form
from hetviz.workspace import State

_METHOD_TITLES = {BLEND: TITLE, "gbc": "Gradient boosting consensus (GBC)"}
_FROM_FEATURES, _FROM_DATASET = "features and links", "another dataset's labels"


def show_form(state: State) -> None:
    """Show the choices and the button that starts the prediction."""
    data = state.data
    if data is None:
        return
    columns_by_dataset = {
        name: columns for name in data.datasets if (columns := label_columns(data, name))
    }
    theme.show_section("Predict a label")
    if not columns_by_dataset:
        theme.show_note(
            "No dataset has a column of categories or numbers yet. Select items on the Map page "
            "and give them a label."
        )
        return
    name = st.selectbox("Dataset", list(columns_by_dataset), key="labels-dataset")
    label = st.selectbox("Label", columns_by_dataset[name], key=f"labels-label-{name}")
    approaches = [_FROM_FEATURES]
    others = [
        (other, column)
        for other, columns in columns_by_dataset.items()
        if other != name
        for column in columns
    ]
    if others:
        approaches.append(_FROM_DATASET)
    approach = st.segmented_control(
        "Learn from", approaches, default=_FROM_FEATURES, required=True, key="labels-way"
    )
    arguments: dict[str, Any] = {"dataset": name, "label": label}
    if approach == _FROM_DATASET:
        theme.show_note(
            "Works only for similar datasets. A warning appears if the transfer is too risky."
        )
        source = st.selectbox(
            "Label to learn from",
            others,
            format_func=lambda pair: f"{pair[1]} of {pair[0]}",
            key=f"labels-from-{name}",
        )
        arguments |= {"method": "hemap", "source": list(source)}
        ready = True
    else:
        arguments["method"] = st.selectbox(
            "Method",
            list(_METHOD_TITLES),
            format_func=_METHOD_TITLES.__getitem__,
            key="labels-method",
        )
        ready = _choose_sources(data, name, arguments)
    # The blend measures its error in the cross-validation of its own fit.
    if arguments["method"] != BLEND:
        with st.expander("Settings"):
            _show_settings(data, arguments)
    with st.container(key="primary_predict"):
        st.button(
            "Predict labels",
            type="primary",
            key="predict-labels",
            width="stretch",
            disabled=background.running_job() is not None or not ready,
            on_click=background.start_task,
            args=("find-labels", arguments),
            kwargs={"title": f"{label} of {name}"},
        )


def _show_settings(data: HeteroData, arguments: dict[str, Any]) -> None:
    arguments["training_share"] = 0.01 * st.slider(
        "Training share in tests, %",
        10,
        90,
        80,
        5,
        key="labels-share",
        help="The other labels are hidden and predicted. The predictions shown use all labels.",
    )
    arguments["repeats"] = int(st.number_input("Tests", 0, 20, 3, key="labels-repeats"))
    if arguments["method"] == "gbc":
        declared = get_method("gbc").params
        skipped = ("label", "n_components")
        params = {key: param for key, param in declared.items() if key not in skipped}
        arguments |= param_form("labels-gbc", params, list(data.datasets))


def label_columns(data: HeteroData, name: str) -> list[str]:
    """Return the columns that can be predicted: labels first, then groups, numbers."""
    labels = [label.name for label in data.labels if label.dataset == name]
    groups, numbers = [], []
    for column, values in item_text.columns_of(data, name).items():
        if column in labels or column == data[name].title_column:
            continue
        if group_values(values) is not None:
            groups.append(column)
        elif values.kind == "number":
            numbers.append(column)
    return [*dict.fromkeys(labels), *groups, *numbers]


def _choose_sources(data: HeteroData, name: str, arguments: dict[str, object]) -> bool:
    views = data.views(data[name].entity)
    featured = [view for view in views if not data[view].is_featureless]
    kinds = dict.fromkeys(
        group.kind
        for group in data.links
        if group.source in views and group.target in views and bool((group.weight > 0).any())
    )
    sources = [*featured, *(kind for kind in kinds if kind not in featured)]
    if len(sources) < 2:
        theme.show_note(f"Learned from the features of {name}.")
        return bool(featured)
    chosen = st.pills(
        "Sources",
        sources,
        default=sources,
        selection_mode="multi",
        key=f"labels-sources-{name}",
        help="Features of datasets that show the same items, and links within them.",
    )
    arguments["sources"] = list(chosen)
    if not set(chosen) & set(featured):
        theme.show_note("Keep at least one dataset with features.")
        return False
    return True
