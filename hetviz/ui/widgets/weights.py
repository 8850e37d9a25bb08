"""How much each dataset and each kind of links counts, as sliders."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.model.links import kind_key
from hetviz.params import Param, PerDataset, Real
from hetviz.ui.shell import theme

PARAMETER = "weights"
"""The name under which a method declares the weight of each dataset."""
_BY_HAND = "set by hand"


def of_datasets(method: str, declared: Mapping[str, Param], data: HeteroData) -> dict[str, object]:
    """Ask for the weight of each dataset; return it as the parameter, empty where there is none."""
    param = declared.get(PARAMETER)
    if not isinstance(param, PerDataset) or not isinstance(param.inner, Real):
        if len(data.datasets) > 1:
            theme.quiet("This method weighs all datasets alike.")
        return {}
    if len(data.datasets) == 1:
        return {}
    words = [word for word in (*param.also, *param.inner.also) if isinstance(word, str)]
    if words:
        how = st.selectbox(
            theme.plain(param.label),
            [*words, _BY_HAND],
            index=words.index(param.default) if param.default in words else len(words),
            help=theme.plain(param.help) or None,
            key=f"weigh-{method}-how",
        )
        if how != _BY_HAND:
            return {} if how == param.default else {PARAMETER: how}
    low, high = param.inner.low, param.inner.high
    low, high = max(low, 0.0), min(high, 1.0 if high <= 1 else 5.0)
    start = param.default if isinstance(param.default, (int, float)) else 1.0
    theme.quiet(param.label or "Weight of each dataset")
    values = {
        name: st.slider(
            theme.plain(name), low, high, float(start), key=f"weigh-{method}-{place}-{name}"
        )
        for place, name in enumerate(data.datasets)
    }
    # All alike is what a method does by itself, unless it was told to find the weights.
    return {} if not words and len(set(values.values())) == 1 else {PARAMETER: values}


def of_links(data: HeteroData) -> dict[str, float]:
    """Ask for the weight of each kind of links; return those that are not 1, by kind."""
    if not data.links:
        return {}
    counts: dict[str, int] = {}
    for group in data.links:
        counts[kind_key(group)] = counts.get(kind_key(group), 0) + len(group)
    theme.quiet("Weight of each kind of links: 0 leaves it out, 1 counts it as given.")
    out = {}
    for key, number in counts.items():
        label = theme.plain(f"{kind_words(data, key)} ({number:,})")
        value = st.slider(label, 0.0, 1.0, 1.0, 0.05, key=f"weigh-{key}")
        if value != 1.0:
            out[key] = float(value)
    return out


def kind_words(data: HeteroData, key: str) -> str:
    """Return a kind of links in words: "tagged, emoji – keywords"."""
    for group in data.links:
        if kind_key(group) == key:
            ends = f"{group.source} – {group.target}"
            return f"{group.kind}, {f'within {group.source}' if group.within else ends}"
    return key
