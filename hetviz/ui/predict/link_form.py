"""Form that chooses datasets, method and test of a link search."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import Verdict, get_method, is_method
from hetviz.data import HeteroData
from hetviz.jobs.tasks import predict
from hetviz.params import Integer, Param
from hetviz.runs.predict.link_settings import AXES_CHOSEN, STACK
from hetviz.runs.predict.link_settings import TITLE as STACK_TITLE
from hetviz.runs.predict.pair_scores import PROFILES, PROFILES_TITLE
from hetviz.ui.map import new_map
from hetviz.ui.shell import background, theme
from hetviz.ui.statements import candidate_search
from hetviz.ui.widgets.param_form import param_form
from hetviz.workspace import State

_MAP = "map"
_SCORING_METHODS = ("mkpe", "kbmf2k", "pmvge", "code")
_MAX_AXES, _HOLD_OUT = 10, 0.2


def chosen_datasets(data: HeteroData) -> tuple[str, str]:
    """Return the two chosen datasets, by default those with most links between them."""
    chosen = st.session_state.get("links-source"), st.session_state.get("links-target")
    if all(name in data.datasets for name in chosen):
        return str(chosen[0]), str(chosen[1])
    names = list(data.datasets)
    return next(
        iter(candidate_search.linked_pairs(data)), (names[0], names[min(1, len(names) - 1)])
    )


def show_form(state: State) -> None:
    """Show the choices and the button that starts the search."""
    data = state.data
    if data is None:
        return
    names = list(data.datasets)
    theme.show_section("Find links", "between or within datasets")
    first, second = chosen_datasets(data)
    source = st.selectbox(
        "Between", names, index=names.index(first), key="links-source", persist_state="session"
    )
    target = st.selectbox(
        "and",
        names,
        index=names.index(second),
        key="links-target",
        help="May be the same one.",
        persist_state="session",
    )
    choices = _method_choices(state, source == target)
    key = st.selectbox("Method", list(choices), format_func=choices.__getitem__, key="links-method")
    run = state.run
    uses_map = key == _MAP and run is not None
    method = run.method if uses_map and run is not None else key
    params = dict(run.params) if uses_map and run is not None else {}
    is_fitted = not uses_map and key not in (PROFILES, STACK)
    theme.show_note(_summary(key))
    with st.expander("Settings"):
        if is_fitted:
            params = param_form(f"links-{key}", _params_with_more_axes(method), names)
        n_repeats = int(
            st.number_input(
                "Repeats",
                1,
                10,
                3,
                key="links-repeats",
                help="Number of starts of the method, and of tests.",
            )
        )
        is_tested = st.toggle(
            "Test with 20 % of the links hidden",
            value=True,
            key="links-tested",
            help="Shows how reliable the results are. Takes twice as long.",
        )
    _show_unsuitable(state, source == target)
    with st.container(key="primary_find"):
        st.button(
            "Find links",
            type="primary",
            key="find-links",
            width="stretch",
            disabled=background.running_job() is not None,
            on_click=background.start_task,
            args=("find-links",),
            kwargs={
                "title": f"Links between {source} and {target}",
                "arguments": {
                    "source": source,
                    "target": target,
                    "method": method,
                    "params": params,
                    "seeds": list(range(n_repeats)),
                    "hold_out": _HOLD_OUT if is_tested else 0.0,
                    "top": predict.TOP,
                },
                "start": run.id if uses_map and run is not None else None,
            },
        )


def _method_choices(state: State, within: bool) -> dict[str, str]:
    """Return methods by key: the default, the shown map, then others that score links."""
    choices: dict[str, str] = {STACK: STACK_TITLE}
    run = state.run
    if run is not None and is_method(run.method):
        choices[_MAP] = f"The shown map: {run.title}"
    choices[PROFILES] = PROFILES_TITLE
    suitable = [
        verdict
        for verdict in new_map.rank_methods(state)
        if not _unsuitable_reasons(verdict, within)
    ]
    order = {key: rank for rank, key in enumerate(_SCORING_METHODS)}
    for verdict in sorted(
        suitable, key=lambda candidate: order.get(candidate.card.key, len(order))
    ):
        choices[verdict.card.key] = verdict.card.title
    return choices


def _unsuitable_reasons(verdict: Verdict, is_within: bool) -> list[str]:
    """Return why a method cannot predict links here."""
    if not verdict.suits:
        return list(verdict.reasons)
    needed = Capability.WITHIN_LINKS if is_within else Capability.LINKS
    if needed not in verdict.card.capabilities:
        return [f"It does not learn from {'links within a dataset' if is_within else 'links'}."]
    return []


def _show_unsuitable(state: State, is_within: bool) -> None:
    unsuitable = [
        (verdict.card.title, reasons)
        for verdict in new_map.rank_methods(state)
        if (reasons := _unsuitable_reasons(verdict, is_within))
    ]
    if unsuitable:
        with st.expander("Why other methods are not offered"):
            lines = "".join(
                f"<li><b>{theme.escape_html(title)}</b> {theme.escape_html(' '.join(reasons))}</li>"
                for title, reasons in unsuitable
            )
            st.html(f'<ul class="hv-reasons no">{lines}</ul>')


def _summary(key: str) -> str:
    if key == _MAP:
        return "Pairs that are close on this map and not linked."
    if key == STACK:
        return "Combines several predictors, weighted by how well they find hidden links."
    if key == PROFILES:
        return "Guesses from the links of items with the most similar features."
    return get_method(key).card.first_sentence


def _params_with_more_axes(method: str) -> dict[str, Param]:
    """Return a method's parameters with more axes, unless hidden links choose their number."""
    params: dict[str, Param] = {}
    for name, param in get_method(method).params.items():
        if name == "n_components" and method in AXES_CHOSEN:
            continue
        if name == "n_components" and isinstance(param, Integer):
            n_axes = _MAX_AXES if param.high is None else min(_MAX_AXES, param.high)
            params[name] = replace(param, default=n_axes)
        else:
            params[name] = param
    return params
