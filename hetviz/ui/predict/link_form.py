"""What links to look for: between which datasets, by which method, and how it is tested."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import Verdict, get_method, methods
from hetviz.data import HeteroData
from hetviz.jobs.tasks import predict
from hetviz.params import Integer, Param
from hetviz.runs.predict.link_predictor import AXES_CHOSEN, STACK
from hetviz.runs.predict.link_predictor import TITLE as STACK_TITLE
from hetviz.runs.predict.pair_scores import PROFILES, PROFILES_TITLE
from hetviz.ui.map import new_map
from hetviz.ui.predict import quick
from hetviz.ui.shell import background, theme
from hetviz.ui.widgets.param_form import param_form
from hetviz.workspace import State

TASK = "hetviz.jobs.tasks.predict:find_links"
_MAP = "map"
_SCORING = ("mkpe", "kbmf2k", "pmvge", "code")
_AXES, _HOLD_OUT = 10, 0.2


def chosen(data: HeteroData) -> tuple[str, str]:
    """Return the two datasets that were chosen; first those that most links join."""
    found = st.session_state.get("links-source"), st.session_state.get("links-target")
    if all(name in data.datasets for name in found):
        return str(found[0]), str(found[1])
    names = list(data.datasets)
    return next(iter(quick.linked_pairs(data)), (names[0], names[min(1, len(names) - 1)]))


def show(state: State) -> None:
    """Show the choices and the button that starts the search."""
    data = state.data
    if data is None:
        return
    names = list(data.datasets)
    theme.section("Find links", "between or within datasets")
    first, second = chosen(data)
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
    offered = _offered(state, source == target)
    key = st.selectbox("By", list(offered), format_func=offered.__getitem__, key="links-method")
    run = state.run
    by_map = key == _MAP and run is not None
    method = run.method if by_map and run is not None else key
    params = dict(run.params) if by_map and run is not None else {}
    fits = not by_map and key not in (PROFILES, STACK)
    theme.quiet(_summary(key))
    with st.expander("Settings"):
        if fits:
            params = param_form(f"links-{key}", _wider(method), names)
        starts = int(
            st.number_input(
                "Repeats",
                1,
                10,
                3,
                key="links-repeats",
                help="So many starts of the method, and so many tests.",
            )
        )
        tested = st.toggle(
            "Test with 20 % of the links held out",
            value=True,
            key="links-tested",
            help="Tells how far to trust what is found. Takes as long again.",
        )
    _not_offered(state, source == target)
    with st.container(key="primary_find"):
        st.button(
            "Find links",
            type="primary",
            key="find-links",
            width="stretch",
            disabled=background.live() is not None,
            on_click=background.find,
            args=(f"Links between {source} and {target}", TASK),
            kwargs={
                "arguments": {
                    "source": source,
                    "target": target,
                    "method": method,
                    "params": params,
                    "seeds": list(range(starts)),
                    "hold_out": _HOLD_OUT if tested else 0.0,
                    "top": predict.TOP,
                },
                "start": run if by_map else None,
            },
        )


def _offered(state: State, within: bool) -> dict[str, str]:
    """Return ways by key: the default, the shown map, then methods that score links themselves."""
    out: dict[str, str] = {STACK: STACK_TITLE}
    run = state.run
    if run is not None and run.method in {card.key for card in methods()}:
        out[_MAP] = f"The map shown: {run.title}"
    out[PROFILES] = PROFILES_TITLE
    found = [verdict for verdict in new_map.verdicts(state) if not _reasons(verdict, within)]
    order = {key: place for place, key in enumerate(_SCORING)}
    for verdict in sorted(found, key=lambda one: order.get(one.card.key, len(order))):
        out[verdict.card.key] = verdict.card.title
    return out


def _reasons(verdict: Verdict, within: bool) -> list[str]:
    """Return why a method is not offered for links."""
    if not verdict.suits:
        return list(verdict.reasons)
    needed = Capability.WITHIN_LINKS if within else Capability.LINKS
    if needed not in verdict.card.capabilities:
        return [f"It does not learn from {'links within a dataset' if within else 'links'}."]
    return []


def _not_offered(state: State, within: bool) -> None:
    rest = [
        (verdict.card.title, reasons)
        for verdict in new_map.verdicts(state)
        if (reasons := _reasons(verdict, within))
    ]
    if rest:
        with st.expander("Why other methods are not offered"):
            lines = "".join(
                f"<li><b>{theme.esc(title)}</b> {theme.esc(' '.join(reasons))}</li>"
                for title, reasons in rest
            )
            st.html(f'<ul class="hv-reasons no">{lines}</ul>')


def _summary(key: str) -> str:
    if key == _MAP:
        return "Pairs that lie near each other on this map, and that no link tells of."
    if key == STACK:
        return "What is alike and linked alike, weighed by how well it finds held-out links."
    if key == PROFILES:
        return "Guesses from what the items most alike by their features are linked with."
    return get_method(key).card.summary.split(". ")[0].rstrip(".") + "."


def _wider(method: str) -> dict[str, Param]:
    """Return a method's parameters with more axes than a picture needs: they find links better.

    Where hidden links choose the number, it is not asked for.
    """
    out: dict[str, Param] = {}
    for name, param in get_method(method).params.items():
        if name == "n_components" and method in AXES_CHOSEN:
            continue
        if name == "n_components" and isinstance(param, Integer):
            most = _AXES if param.high is None else min(_AXES, param.high)
            out[name] = replace(param, default=most)
        else:
            out[name] = param
    return out
