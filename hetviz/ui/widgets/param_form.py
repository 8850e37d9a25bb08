"""A form drawn from a method's declared parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from hetviz.params import Choice, DatasetName, Flag, Integer, Param, PerDataset, Real
from hetviz.ui.shell import theme

_SKIPPED = ("random_state",)
_IN_WORDS = {None: "automatic", "cv": "chosen by cross-validation", "auto": "automatic"}


def param_form(
    method: str, declared: Mapping[str, Param], datasets: Sequence[str]
) -> dict[str, object]:
    """Draw the form of a method and return the values in it.

    Parameters
    ----------
    method : str
        Its key; values are kept per method.
    declared : mapping of str to Param
    datasets : sequence of str
        For parameters that may differ between datasets.

    Returns
    -------
    dict
        A value for each declared parameter except the seed.
    """
    values: dict[str, Any] = {}
    plain = {name: p for name, p in declared.items() if not p.advanced and name not in _SKIPPED}
    deep = {name: p for name, p in declared.items() if p.advanced and name not in _SKIPPED}
    for name, param in plain.items():
        values[name] = _draw(f"param-{method}-{name}", name, param, datasets)
    if deep:
        with st.expander("More settings"):
            for name, param in deep.items():
                values[name] = _draw(f"param-{method}-{name}", name, param, datasets)
    return values


def _draw(key: str, name: str, param: Param, datasets: Sequence[str]) -> object:
    label = theme.plain(param.label or name.replace("_", " "))
    if isinstance(param, PerDataset):
        return _per_dataset(key, label, param, datasets)
    if isinstance(param, Choice):
        return _choice(key, label, param)
    if isinstance(param, DatasetName):
        options = {name: name for name in datasets}
        names = Choice(param.label, param.help, options=options, also=param.also)
        return _choice(key, label, names.with_default(param.default))
    if isinstance(param, Flag):
        return st.toggle(label, value=bool(param.default), help=_help(param), key=key)
    if param.also:
        return _number_or_word(key, label, param)
    return _number(key, label, param, param.default)


def _per_dataset(key: str, label: str, param: PerDataset, datasets: Sequence[str]) -> object:
    inner = param.inner
    if len(datasets) > 1 and st.toggle(
        f"{label}: one for each dataset", key=f"{key}-each", help=_help(param)
    ):
        return {
            name: _draw(f"{key}-{name}", name, _named(inner, name), datasets) for name in datasets
        }
    return _draw(f"{key}-all", label, _named(inner, param.label, param.help), datasets)


def _named(param: Param, label: str, text: str = "") -> Param:
    return replace(param, label=label, help=text or param.help)


def _choice(key: str, label: str, param: Choice) -> object:
    options = [*param.options, *(word for word in param.also if word not in param.options)]
    meaning = {**{word: _words(word) for word in param.also}, **param.options}
    place = options.index(param.default) if param.default in options else 0
    return options[
        st.selectbox(
            label,
            range(len(options)),
            index=place,
            format_func=lambda k: meaning[options[k]] or str(options[k]),
            help=_help(param),
            key=key,
        )
    ]


def _number_or_word(key: str, label: str, param: Param) -> object:
    """Draw a number that may also be left to a word such as "automatic"."""
    by_hand = object()
    options = [*param.also, by_hand]
    start = options.index(param.default) if param.default in param.also else len(param.also)
    place = st.selectbox(
        label,
        range(len(options)),
        index=start,
        format_func=lambda k: "set by hand" if options[k] is by_hand else _words(options[k]),
        help=_help(param),
        key=f"{key}-how",
    )
    if options[place] is not by_hand:
        return options[place]
    default = 1 if param.default in param.also else param.default
    return _number(key, f"{label}, by hand", param, default)


def _number(key: str, label: str, param: Param, default: Any) -> object:
    if isinstance(param, Integer):
        low, high = param.low, param.high
        value = default if low is None else max(low, default)
        value = value if high is None else min(high, value)
        return int(
            st.number_input(
                label, min_value=low, max_value=high, value=int(value), help=_help(param), key=key
            )
        )
    if isinstance(param, Real):
        low_f = None if math.isinf(param.low) else float(param.low)
        high_f = None if math.isinf(param.high) else float(param.high)
        if low_f is not None and high_f is not None and high_f - low_f <= 1.0 and not param.log:
            return st.slider(label, low_f, high_f, float(default), help=_help(param), key=key)
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
                help=_help(param),
                key=key,
            )
        )
    return param.default


def _words(word: Any) -> str:
    try:
        return _IN_WORDS.get(word, str(word))
    except TypeError:
        return str(word)


def _help(param: Param) -> str | None:
    return theme.plain(param.help) if param.help else None
