"""Form for a new map: method, parameters and weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import streamlit as st

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.features.map_columns import coordinate_columns, number_columns
from hetviz.ui.map import periods
from hetviz.ui.shell import background, navigation, session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.widgets import weights
from hetviz.ui.widgets.folded import needs_content
from hetviz.ui.widgets.param_form import param_form
from hetviz.workspace import State

if TYPE_CHECKING:
    from hetviz.algorithms.registry import Verdict

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass
class MapForm:
    """State of the form, and the number of maps started with it."""

    recipe: dict[str, Any] | None = None
    n_started: int = 0


def show_form(state: State) -> None:
    """Show the form."""
    # Imported after the map is drawn, because they load the numerical libraries.
    from hetviz.algorithms.pictures import too_few_axes_reason
    from hetviz.algorithms.registry import get_method
    from hetviz.runs.embed.run import no_pins_reason

    data = state.data
    if data is None:
        return
    by_key = {verdict.card.key: verdict for verdict in rank_methods(state)}
    theme.show_section("Make another map" if state.run else "Make a map")
    key = st.selectbox(
        "Method",
        list(by_key),
        format_func=lambda key: _method_title(by_key[key].card.title, by_key[key].suits),
        key="method",
        label_visibility="collapsed",
    )
    verdict = by_key[key]
    theme.show_note(verdict.card.first_sentence)
    reasons = "".join(f"<li>{theme.escape_html(reason)}</li>" for reason in verdict.reasons)
    if not verdict.suits:
        st.html(f'<ul class="hv-reasons no">{reasons}</ul>')
    declared = get_method(key).params
    params: dict[str, object] = {}
    seed, too_few = 0, ""
    settings = st.expander("Settings", key="map-settings", on_change="rerun")
    if needs_content(settings, stays="settings"):
        with settings:
            if verdict.suits and reasons:
                st.html(f'<ul class="hv-reasons">{reasons}</ul>')
            plain = {name: p for name, p in declared.items() if name != weights.WEIGHTS_PARAM}
            params = param_form(key, plain, list(data.datasets))
            too_few = too_few_axes_reason(params)
            if too_few:
                text = "A neighbour map needs 3 axes or more, such as 10: set Axes above."
                st.html(f'<ul class="hv-reasons no"><li>{theme.escape_html(text)}</li></ul>')
            seed = int(
                st.number_input(
                    "Seed", 0, 2**31 - 1, 0, key="seed", help="The same seed gives the same map."
                )
            )
    if state.run is not None and (pins := state.run.params.get("pins")):
        theme.show_note(
            no_pins_reason(get_method(key)) or f"Keeps {theme.count(len(pins), 'pin')}."
        )
    factors: Mapping[str, float] = {}
    if data.links or len(data.datasets) > 1:
        chosen = st.expander("Weights", key="map-weights", on_change="rerun")
        if needs_content(chosen, stays="weights"):
            with chosen:
                params |= weights.ask_dataset_weights(key, declared, data)
                factors = weights.ask_link_weights(data)
    hold_out = _held_out_share(data)
    _set_recipe(state, verdict, params, seed, hold_out, factors)
    with st.container(key="primary_run"):
        st.button(
            "Make map",
            type="primary",
            key="run",
            width="stretch",
            disabled=not verdict.suits or bool(too_few) or background.running_job() is not None,
            on_click=make_map,
        )
    periods.show_form(state, _count_start)
    _show_coordinates(data)


def _show_coordinates(data: HeteroData) -> None:
    """Offer two columns of the tables as a map."""
    tables = [number_columns(dataset) for dataset in data.datasets.values()]
    names = list(dict.fromkeys(column.name for columns in tables for column in columns))
    if len(names) < 2:
        return
    known = next(coordinate_columns(data), None)
    first, second = known or names[:2]
    label = "Show two columns as the map"
    if known is not None:
        label = (
            f"Show {theme.escape_markdown(first)} and {theme.escape_markdown(second)} as the map"
        )
    with st.expander(label, key="coordinates"):
        theme.show_note("A map made elsewhere, such as x and y, UMAP, or longitude and latitude.")
        with st.container(horizontal=True):
            x, y = (
                st.selectbox(label, names, names.index(name), key=f"coordinate-{label}")
                for label, name in (("Across", first), ("Up", second))
            )
        st.button(
            "Show as map",
            key="take-map",
            width="stretch",
            disabled=x == y or background.running_job() is not None,
            on_click=_take_map,
            args=(x, y),
        )


def _take_map(x: str, y: str) -> None:
    background.start_task("take-map", {"x": x, "y": y}, title=f"{x} and {y}")
    _count_start()


def _count_start() -> None:
    """Close the popover, whose key depends on the number."""
    state_of(MapForm).n_started += 1


def make_map(only: Ints | None = None) -> None:
    """Start making the map of the form, of all items or of these global rows."""
    form, state = state_of(MapForm), session.workspace().state
    best = next(iter(rank_methods(state)), None)
    if form.recipe is None and best is not None:
        # The form was not opened. The best method makes the map.
        _set_recipe(state, best)
    if form.recipe is not None:
        background.make_map(**form.recipe, only=only)
        _count_start()
    # An open form sets it again.
    form.recipe = None


def _set_recipe(
    state: State,
    verdict: Verdict,
    params: Mapping[str, object] = _EMPTY,
    seed: int = 0,
    hold_out: float = 0.0,
    factors: Mapping[str, float] = _EMPTY,
) -> None:
    """Set the arguments of `background.make_map`; pins of the shown map stay."""
    from hetviz.algorithms.registry import get_method

    key = verdict.card.key
    pins = None if state.run is None else state.run.params.get("pins")
    keeps_pins = pins and "pins" in get_method(key).params
    state_of(MapForm).recipe = {
        "method": key,
        "title": verdict.card.title,
        "params": {**params, "pins": pins} if keeps_pins else {**params},
        "seed": seed,
        "hold_out": hold_out,
        "weights": {**factors},
    }


def can_make(state: State) -> bool:
    """Return whether a map can be started now."""
    return background.running_job() is None and any(
        verdict.suits for verdict in rank_methods(state)
    )


def rank_methods(state: State) -> list[Verdict]:
    """Return the suitability of each method for the open data, the best first."""
    from hetviz.algorithms.registry import suggest

    data = state.data
    if data is None:
        return []
    verdicts: list[Verdict] = session.get_or_compute(
        ("verdicts", id(data)), data, lambda: suggest(data)
    )
    return verdicts


def show_no_map(state: State) -> None:
    """Show why there is no map and what to do."""
    if any(verdict.suits for verdict in rank_methods(state)):
        theme.show_headline("No map yet", "Choose a method in the Item tab and make one.")
    else:
        theme.show_headline(
            "These data cannot be mapped yet",
            "A map needs links, or at least two items that differ in a column of numbers or words. "
            "Add a file on the Data page, or open other data on the Start page.",
        )
        navigation.show_link("data", "Add a file")
        navigation.show_link("start", "Open other data")


def _held_out_share(data: HeteroData) -> float:
    kinds = ["links"] * bool(data.links) + ["comparisons"] * bool(data.comparisons)
    if not kinds:
        return 0.0
    is_on = st.toggle(
        f"Hide 20 % of the {theme.join_words(kinds)}",
        key="hold",
        help="The method does not see them. The more of them the map finds again, the more you can "
        "trust it.",
    )
    return 0.2 if is_on else 0.0


def _method_title(title: str, suits: bool) -> str:
    return title if suits else f"{title} (not suitable)"
