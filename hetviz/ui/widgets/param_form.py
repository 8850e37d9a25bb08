"""Input forms for the declared parameters of a method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from hetviz.params import Choice, DatasetName, Flag, Integer, Param, PerDataset, Real
from hetviz.ui.shell import theme

_SKIPPED = ("random_state", "pins")
_OPTION_TEXTS = {None: "automatic", "cv": "chosen by cross-validation", "auto": "automatic"}


def param_form(
    method: str, declared: Mapping[str, Param], datasets: Sequence[str]
) -> dict[str, object]:
    """Draw the form of a method and return a value for each parameter except the seed."""
    values: dict[str, Any] = {}
    basic = {name: p for name, p in declared.items() if not p.advanced and name not in _SKIPPED}
    advanced = {name: p for name, p in declared.items() if p.advanced and name not in _SKIPPED}
    for name, param in basic.items():
        values[name] = _param_input(f"param-{method}-{name}", name, param, datasets)
    if advanced:
        with st.expander("More settings"):
            for name, param in advanced.items():
                values[name] = _param_input(f"param-{method}-{name}", name, param, datasets)
    return values


def _param_input(key: str, name: str, param: Param, datasets: Sequence[str]) -> object:
    label = theme.escape_markdown(param.label or name.replace("_", " "))
    if isinstance(param, PerDataset):
        return _per_dataset_input(key, label, param, datasets)
    if isinstance(param, Choice):
        return _choice_input(key, label, param)
    if isinstance(param, DatasetName):
        options = {name: name for name in datasets}
        names = Choice(param.label, param.help, options=options, also=param.also)
        return _choice_input(key, label, names.with_default(param.default))
    if isinstance(param, Flag):
        return st.toggle(label, value=bool(param.default), help=_help_text(param), key=key)
    if param.also:
        return _number_or_word_input(key, label, param)
    return _number_input(key, label, param, param.default)


def _per_dataset_input(key: str, label: str, param: PerDataset, datasets: Sequence[str]) -> object:
    inner = param.inner
    if len(datasets) > 1 and st.toggle(
        f"{label}: one for each dataset", key=f"{key}-each", help=_help_text(param)
    ):
        return {
            name: _param_input(f"{key}-{name}", name, _relabelled(inner, name), datasets)
            for name in datasets
        }
    return _param_input(f"{key}-all", label, _relabelled(inner, param.label, param.help), datasets)


def _relabelled(param: Param, label: str, text: str = "") -> Param:
    return replace(param, label=label, help=text or param.help)


def _choice_input(key: str, label: str, param: Choice) -> object:
    options = [*param.options, *(word for word in param.also if word not in param.options)]
    meaning = {**{word: _option_text(word) for word in param.also}, **param.options}
    position = options.index(param.default) if param.default in options else 0
    return options[
        st.selectbox(
            label,
            range(len(options)),
            index=position,
            format_func=lambda k: meaning[options[k]] or str(options[k]),
            help=_help_text(param),
            key=key,
        )
    ]


def _number_or_word_input(key: str, label: str, param: Param) -> object:
    """Ask for a number or an option such as "automatic"."""
    manual = object()
    options = [*param.also, manual]
    start = options.index(param.default) if param.default in param.also else len(param.also)
    position = st.selectbox(
        label,
        range(len(options)),
        index=start,
        format_func=lambda k: "set by hand" if options[k] is manual else _option_text(options[k]),
        help=_help_text(param),
        key=f"{key}-how",
    )
    if options[position] is not manual:
        return options[position]
    default = 1 if param.default in param.also else param.default
    return _number_input(key, f"{label}, by hand", param, default)


def _number_input(key: str, label: str, param: Param, default: Any) -> object:
    if isinstance(param, Integer):
        low, high = param.low, param.high
        value = default if low is None else max(low, default)
        value = value if high is None else min(high, value)
        return int(
            st.number_input(
                label,
                min_value=low,
                max_value=high,
                value=int(value),
                help=_help_text(param),
                key=key,
            )
        )
    if isinstance(param, Real):
        low_f = None if math.isinf(param.low) else float(param.low)
        high_f = None if math.isinf(param.high) else float(param.high)
        if low_f is not None and high_f is not None and high_f - low_f <= 1.0 and not param.log:
            return st.slider(label, low_f, high_f, float(default), help=_help_text(param), key=key)
        value_f = float(default) if low_f is None else max(low_f, float(default))
        value_f = value_f if high_f is None else min(high_f, value_f)
        return float(
            st.number_input(
                label,
                min_value=low_f,
                max_value=high_f,
                value=value_f,
                step=None if param.log else 0.1,
                format="%g",
                help=_help_text(param),
                key=key,
            )
        )
    return param.default


def _option_text(word: Any) -> str:
    try:
        return _OPTION_TEXTS.get(word, str(word))
    except TypeError:
        return str(word)


def _help_text(param: Param) -> str | None:
    return theme.escape_markdown(param.help) if param.help else None
