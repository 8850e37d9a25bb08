"""Maps of periods: their form, the buttons that step through them, and what moved most."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st

from hetviz._text import count, join_words
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.periods import Period, find_dates, find_periods
from hetviz.errors import HetvizError, ParameterError
from hetviz.plots.colour import display_name
from hetviz.serve.config import settings
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.map import description
from hetviz.ui.map.component.messages import PeriodsSpec
from hetviz.ui.map_data import periods, spread
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import MapResult, State

Choice = str | int | list[str]

_PARTS, _BOUNDS = "parts", "bounds"
_TITLES = {
    "year": "Each year",
    "quarter": "Each quarter",
    "month": "Each month",
    _PARTS: "Parts of equal length",
    _BOUNDS: "Between bounds of my own",
}
_DEFAULT_METHOD = "joint-map"
_MAX_DEFAULT = 12  # number of periods up to which a unit is proposed
_MAX_NAMED = 3
_MAX_LISTED = 10
# Dates of more items are not read by a script of the page.
_MAX_READ_ITEMS = 200_000
# Settings that the map of a period does not take from the shown map.
_OWN_PARAMS = ("pins", "tie", "random_state")


def show_form(state: State, on_start: Callable[[], None]) -> None:
    """Offer a map of each period of a column of dates."""
    data = state.guided
    columns = {} if data is None else periods.date_columns(data)
    if data is None or not columns:
        return
    with st.expander("Map each period", key="period-form"):
        theme.show_note(
            "A map of each year, quarter or other period. What does not change stays where it is."
        )
        by = st.selectbox("Column", list(columns), format_func=display_name, key="period-column")
        choice = _ask_periods(data, by, is_dates=columns[by])
        measure = st.checkbox(
            "Measure how sure the positions are",
            value=data.n_rows <= settings().work.spread_items,
            key="period-spread",
            help="Refits the maps with resampled links, to see which moves are larger than the "
            "positions vary anyway. Takes two to three times as long as the maps.",
        )
        try:
            theme.show_note(_periods_text(_find_periods(data, by, choice)))
            error = ""
        except HetvizError as problem:
            error = str(problem)
            theme.show_note(error)
        method, params = _method_of(state)
        arguments = {
            "by": by,
            "periods": choice,
            "method": method,
            "params": params,
            "seed": 0 if state.run is None else state.run.seed,
            "measure": measure,
        }

        def start() -> None:
            background.start_task("find-periods", arguments)
            on_start()

        st.button(
            "Map each period",
            key="map-periods",
            width="stretch",
            disabled=bool(error) or background.running_job() is not None,
            on_click=start,
        )


def _ask_periods(data: HeteroData, by: str, *, is_dates: bool) -> Choice:
    """Ask for a unit, a number of parts, or bounds."""
    units = ["year", "quarter", "month"] if is_dates else ["year"]
    usual = next((unit for unit in units if _is_usual(data, by, unit)), _PARTS)
    kinds = [*units, _PARTS, _BOUNDS]
    titles = _TITLES if is_dates else _TITLES | {"year": "Each whole number, such as a year"}
    kind = st.selectbox(
        "Periods",
        kinds,
        index=kinds.index(usual),
        format_func=titles.__getitem__,
        key=f"period-unit-{by}",
    )
    if kind == _PARTS:
        return int(st.number_input("Number of parts", 2, periods.MAX_MAPS, 4, key="period-parts"))
    if kind == _BOUNDS:
        example = "2015-01-01, 2018-01-01, 2021-01-01" if is_dates else "1960, 1990, 2020"
        text = st.text_input(
            "Bounds, separated by commas", placeholder=example, key=f"period-bounds-{by}"
        )
        return [bound.strip() for bound in text.replace(";", ",").split(",") if bound.strip()]
    return kind


def _is_usual(data: HeteroData, by: str, unit: str) -> bool:
    try:
        return 1 < len(_find_periods(data, by, unit)) <= _MAX_DEFAULT
    except HetvizError:
        return False


def _find_periods(data: HeteroData, by: str, choice: Choice) -> tuple[Period, ...]:
    """Return the periods of a choice, none if there are too many items to read their dates."""
    if choice == []:
        raise ParameterError("Write at least two bounds, in rising order.")
    if data.n_rows > _MAX_READ_ITEMS:
        return ()

    def find() -> tuple[Period, ...] | HetvizError:
        try:
            return find_periods(find_dates(data, by), choice)
        except HetvizError as error:
            return error

    key = ("periods", id(data), by, *(choice if isinstance(choice, list) else (choice,)))
    found = session.get_or_compute(key, data, find)
    if isinstance(found, HetvizError):
        raise found
    if len(found) > periods.MAX_MAPS:
        raise ParameterError(
            f"There would be {len(found)} periods, and the app shows maps of up to "
            f"{periods.MAX_MAPS}. Choose longer ones."
        )
    if len(found) < 2:
        raise ParameterError("All dates are in one period. Choose shorter ones.")
    return found


def _periods_text(found: tuple[Period, ...]) -> str:
    if not found:
        return ""
    names = [period.name for period in found]
    if len(names) > _MAX_NAMED:
        return f"{len(names)} periods: {names[0]}, {names[1]}, …, {names[-1]}."
    return f"{count(len(names), 'period')}: {join_words(names)}."


def _method_of(state: State) -> tuple[str, Mapping[str, object]]:
    """Return the method of the shown map and its parameters, if it can tie maps."""
    from hetviz.algorithms.registry import get_method, is_method

    run = state.run
    if run is None or not is_method(run.method) or "tie" not in get_method(run.method).params:
        return _DEFAULT_METHOD, {}
    params = {name: value for name, value in run.params.items() if name not in _OWN_PARAMS}
    return run.method, params


def periods_spec(state: State, session_id: str) -> PeriodsSpec:
    """Return the maps of periods for the buttons that step through them."""
    series = periods.series_of(state)
    shown = [number for number, run in enumerate(series) if run.id == state.chosen]
    return {
        "offered": bool(series) or _is_offered(state.opened()),
        "shown": shown[0] if shown else None,
        "maps": [
            {
                "id": run.id,
                "name": run.title,
                "geometry": description.map_places(state, run, session_id),
                "count": sum(int(mask.sum()) for mask in run.embedding.placed.values()),
            }
            for run in series
        ],
    }


def _is_offered(data: HeteroData) -> bool:
    return any(
        is_dates or periods.is_named_as_date(name)
        for name, is_dates in periods.date_columns(data).items()
    )


def show_moved(state: State, run: MapResult) -> None:
    """Show what moved most between two periods, if the map is one of a period."""
    series, data = periods.series_of(state), state.data
    if data is None or run not in series or len(series) < 2:
        return
    at = series.index(run)
    names = [each.title for each in series]
    theme.show_section("What moved most")
    with st.container(horizontal=True, gap="small", key="moved-periods"):
        first = st.selectbox(
            "From", range(len(series)), max(at - 1, 0), format_func=names.__getitem__,
            key=f"moved-from-{run.id}",
        )  # fmt: skip
        second = st.selectbox(
            "To", range(len(series)), max(at, 1), format_func=names.__getitem__,
            key=f"moved-to-{run.id}",
        )  # fmt: skip
    if first == second:
        theme.show_note("Choose two different periods.")
        return
    before, after = series[first], series[second]
    moves = _moves(state, before, after)
    if moves is None:
        return
    both = np.flatnonzero(np.isfinite(moves.share))
    if not len(both):
        theme.show_note("No item is in both periods.")
        return
    order = both[np.lexsort((-moves.share[both], ~moves.is_clear[both]))][:_MAX_LISTED]
    largest = float(moves.share[order].max()) or 1.0
    lines = "".join(_line_html(data, moves, int(row), largest) for row in order)
    st.html(f'<ul class="hv-link-list hv-moves">{lines}</ul>')
    for text in _notes(state, moves, both, before, after):
        theme.show_note(text)


def _line_html(data: HeteroData, moves: periods.Moves, row: int, largest: float) -> str:
    item, share, varies = find_item(data, row), moves.share[row], moves.spread[row]
    spread_text = "" if np.isnan(varies) else f" ± {100 * varies:.1f}"
    is_unclear = bool(np.isfinite(varies)) and not moves.is_clear[row]
    mark = " <em>within its spread</em>" if is_unclear else ""
    name = item_chip.button_html(row, theme.escape_html(item.title) + mark)
    return (
        f"<li{' class=not' if is_unclear else ''}>{item_chip.small_face(data, item)}{name}"
        f'<u aria-hidden="true"><i style="width:{100 * share / largest:.0f}%"></i></u>'
        f"<b>{100 * share:.1f}{spread_text} %</b></li>"
    )


def _notes(
    state: State, moves: periods.Moves, both: np.ndarray, before: MapResult, after: MapResult
) -> list[str]:
    notes = ["Distances are shares of the longer side of the later map. ± is the spread of refits."]
    if np.isnan(moves.spread[both]).all():
        notes = [
            "Distances are shares of the longer side of the later map. How much the positions vary "
            "anyway was not measured, so these moves may mean nothing."
        ]
    else:
        n_clear = int(moves.is_clear[both].sum())
        notes.append(
            f"{n_clear:,} of {count(len(both), 'item')} in both periods moved clearly: further "
            "than nearly all others, or by more than twice their spread. The others may have moved "
            "too."
        )
    placed = [
        sum(int(mask.sum()) for mask in run.embedding.placed.values()) for run in (before, after)
    ]
    only = [n - len(both) for n in placed]
    if any(only):
        notes.append(
            f"Only in {before.title}: {count(only[0], 'item')}. "
            f"Only in {after.title}: {count(only[1], 'item')}."
        )
    return notes


def _moves(state: State, before: MapResult, after: MapResult) -> periods.Moves | None:
    """Return how far the rows moved between two maps of periods."""
    maps: list[Embedding] = []
    shares = []
    for run in (before, after):
        embedding, measured = charts.embedding_of(state, run), spread.find(state, run)
        if embedding is None:
            return None
        maps.append(embedding)
        shares.append(None if measured is None else measured.share)

    key = ("moves", id(state.data), id(before), id(after))
    return session.get_or_compute(
        key,
        (state.data, before, after),
        lambda: periods.find_moves(maps[0], maps[1], (shares[0], shares[1])),
    )
