"""Sliders for the weight of each dataset and each kind of links."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.model.links import kind_key
from hetviz.params import Param, PerDataset, Real
from hetviz.ui.shell import theme

WEIGHTS_PARAM = "weights"
"""Parameter name of the dataset weights."""
_BY_HAND = "set by hand"


def ask_dataset_weights(
    method: str, declared: Mapping[str, Param], data: HeteroData
) -> dict[str, object]:
    """Ask for the weight of each dataset and return it as a parameter, empty without one."""
    param = declared.get(WEIGHTS_PARAM)
    if not isinstance(param, PerDataset) or not isinstance(param.inner, Real):
        if len(data.datasets) > 1:
            theme.show_note("This method gives all datasets the same weight.")
        return {}
    if len(data.datasets) == 1:
        return {}
    words = [word for word in (*param.also, *param.inner.also) if isinstance(word, str)]
    if words:
        choice = st.selectbox(
            theme.escape_markdown(param.label),
            [*words, _BY_HAND],
            index=words.index(param.default) if param.default in words else len(words),
            help=theme.escape_markdown(param.help) or None,
            key=f"weigh-{method}-how",
        )
        if choice != _BY_HAND:
            return {} if choice == param.default else {WEIGHTS_PARAM: choice}
    low, high = param.inner.low, param.inner.high
    low, high = max(low, 0.0), min(high, 1.0 if high <= 1 else 5.0)
    start = param.default if isinstance(param.default, (int, float)) else 1.0
    theme.show_note(param.label or "Weight of each dataset")
    values = {
        name: st.slider(
            theme.escape_markdown(name),
            low,
            high,
            float(start),
            key=f"weigh-{method}-{number}-{name}",
        )
        for number, name in enumerate(data.datasets)
    }
    # Equal weights are the default, unless the method chooses the weights.
    return {} if not words and len(set(values.values())) == 1 else {WEIGHTS_PARAM: values}


def ask_link_weights(data: HeteroData) -> dict[str, float]:
    """Ask for the weight of each kind of links and return those that are not 1."""
    if not data.links:
        return {}
    counts: dict[str, int] = {}
    for group in data.links:
        counts[kind_key(group)] = counts.get(kind_key(group), 0) + len(group)
    theme.show_note("Weight of each kind of links. 0 ignores it, 1 uses it fully.")
    weights = {}
    for key, number in counts.items():
        label = theme.escape_markdown(f"{kind_title(data, key)} ({number:,})")
        value = st.slider(label, 0.0, 1.0, 1.0, 0.05, key=f"weigh-{key}")
        if value != 1.0:
            weights[key] = float(value)
    return weights


def kind_title(data: HeteroData, key: str) -> str:
    """Return a kind of links in words: "tagged, emoji – keywords"."""
    for group in data.links:
        if kind_key(group) == key:
            ends = f"{group.source} – {group.target}"
            return f"{group.kind}, {f'within {group.source}' if group.within else ends}"
    return key
