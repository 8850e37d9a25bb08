"""One setting of one method at several values: small pictures of the maps, each with its score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from hetviz import params as parameters
from hetviz._text import per_hundred
from hetviz.data import Embedding, HeteroData
from hetviz.params import Choice, Flag, Param, PerDataset
from hetviz.plots import still_map
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.measures import MEASURES
from hetviz.runs.compare.sweep import sweep_values, value_words
from hetviz.ui.compare.results import SWEEP, comparison_of, is_current, kept_of
from hetviz.ui.map import new_map
from hetviz.ui.shell import background, session
from hetviz.ui.shell import theme as look
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, State

_HOLD_OUT = 0.2
_MOST = 12


def show(state: State) -> None:
    """Show the form, and the pictures of the last sweep."""
    # The catalogue loads the numerical libraries.
    from hetviz.algorithms.registry import get_method

    suitable = {v.card.key: v.card.title for v in new_map.verdicts(state) if v.suits}
    if not suitable:
        look.quiet("No method suits these data yet.")
        return
    one, two, three, four = st.columns([1.3, 1, 1.3, 0.6], vertical_alignment="bottom")
    with one:
        method = st.selectbox(
            "Method",
            list(suitable),
            format_func=lambda key: suitable[key],
            key="sweep-method",
            persist_state="session",
        )
    declared = {
        name: param
        for name, param in get_method(method).params.items()
        if name != "random_state" and sweep_values(param)
    }
    if not declared:
        look.quiet("This method has no setting to try.")
        return
    with two:
        name = st.selectbox(
            "Setting",
            list(declared),
            format_func=lambda name: declared[name].label or name,
            key=f"sweep-setting-{method}",
        )
    with three:
        values = _values(method, name, declared[name])
    with four, st.container(key="primary_sweep"):
        st.button(
            "Try them",
            key="sweep-run",
            type="primary",
            width="stretch",
            disabled=not values or background.live() is not None,
            on_click=_run,
            args=(method, name, values),
        )
    if declared[name].help:
        look.quiet(declared[name].help)
    kept = kept_of(state, SWEEP)
    if kept is not None:
        _found(state, kept)


def _values(method: str, name: str, param: Param) -> list[object]:
    """Draw the choice of values and return those that are allowed."""
    offered = sweep_values(param)
    key = f"sweep-values-{method}-{name}"
    inner = param.inner if isinstance(param, PerDataset) else param
    if isinstance(inner, Choice | Flag):
        meaning = dict(inner.options) if isinstance(inner, Choice) else {}
        picked = st.multiselect(
            "Values",
            range(len(offered)),
            default=range(len(offered)),
            format_func=lambda k: meaning.get(offered[k]) or value_words(offered[k]),
            key=key,
        )
        return [offered[k] for k in picked]
    text = st.text_input("Values", ", ".join(map(value_words, offered)), key=key)
    found = []
    for word in filter(None, (piece.strip() for piece in text.split(","))):
        try:
            found.append(param.check(parameters.parse(param, word)))
        except ValueError:
            st.error(look.plain(f"{word}: it must be {param.wanted()}."))
            return []
    return list(dict.fromkeys(found))[:_MOST]


def _run(method: str, name: str, values: list[object]) -> None:
    arguments = {"method": method, "parameter": name, "values": values, "hold_out": _HOLD_OUT}
    background.find("Trying values", "hetviz.jobs.tasks.compare:sweep_parameter", arguments)


def _found(state: State, kept: Finding) -> None:
    found, content = comparison_of(kept), kept.content
    measure = found.decides
    data = state.opened()
    method, param = _declared(content)
    if method is None or found.best() is None or measure is None:
        look.quiet("The values tried last gave no result.")
        return
    best = str(found.best())
    label = (param.label or content["parameter"]).lower() if param else content["parameter"]
    advice = f"{MEASURES[measure].label} in 100, by {label} of {method}."
    look.section(f"{found.candidate(best).title} {MEASURES[measure].does} best", advice)
    if not is_current(state, kept):
        look.quiet("Tried before the data changed.")
        if max(content["still_rows"], default=0) >= data.n_rows:
            return
    with st.grid(6, min_column_width=170, gap="small", key="sweep-grid"):
        for candidate in found.candidates:
            _picture(state, data, kept, found, measure, candidate.key)
    if found.failures:
        rows = [[key, reason] for key, reason in found.failures.items()]
        look.table(["Value", "Why it gave no map"], rows, words=True)


def _declared(content: Mapping[str, Any]) -> tuple[str | None, Param | None]:
    from hetviz.algorithms.registry import get_method, methods

    if content["method"] not in {card.key for card in methods()}:
        return None, None
    kind = get_method(content["method"])
    return kind.card.title, kind.params.get(content["parameter"])


def _picture(
    state: State, data: HeteroData, kept: Finding, found: Comparison, measure: str, key: str
) -> None:
    still = kept.content["stills"].get(key)
    if still is None:
        return
    theme = session.theme()
    svg = session.cached(
        ("sweep", id(kept), key, state.view.colour, theme),
        kept,
        lambda: still_map(
            data, _embedding(data, kept.content, still), charts.colours(state), theme, dot=2.6
        ),
    )
    candidate = found.candidate(key)
    score = per_hundred(found.mean(key, measure))
    best = key == found.best()
    with st.container(border=True, key=f"card-sweep-{key.encode().hex()[:24]}", gap="xsmall"):
        words = f"{candidate.title}, {score} in 100"
        st.html(
            f"{look.svg_image(svg, f'Still map with {words}')}"
            f'<div class="hv-map-head{" best" if best else ""}"><b>{look.esc(candidate.title)}</b>'
            f"<span>{look.esc(score)}</span></div>"
        )
        st.button(
            "Make this map",
            key=f"sweep-make-{key.encode().hex()[:24]}",
            type="tertiary",
            disabled=background.live() is not None,
            on_click=_make,
            args=(candidate.method, dict(candidate.params)),
        )


def _embedding(
    data: HeteroData, content: Mapping[str, object], still: list[list[object]]
) -> Embedding:
    Y = np.full((data.n_rows, 2), np.nan)
    Y[np.asarray(content["still_rows"], dtype=np.int64)] = np.array(still, dtype=np.float64).T
    return Embedding(
        {name: Y[rows] for name, rows in data.offsets.items()},
        {name: dataset.ids for name, dataset in data.datasets.items()},
    )


def _make(method: str, params: dict[str, object]) -> None:
    from hetviz.algorithms.registry import get_method

    background.make_map(method, get_method(method).card.title, params, 0, 0.0)
