"""Tests of maps of periods in the app: form, steps and what moved most."""

from __future__ import annotations

import numpy as np
from streamlit.testing.v1 import AppTest

from hetviz.data import Embedding
from hetviz.ui.app.view import _film_strip
from hetviz.ui.map import periods as page
from hetviz.ui.map_data import periods, spread
from hetviz.ui.map_data.parts import frame_of, get_geometry
from hetviz.ui.widgets import charts
from hetviz.workspace import ChooseRun, RenameRun, Workspace
from tests.app.conftest import Visit, go, html_of, sid_of, unfold, workspace_of
from tests.app.test_map_panel import press

YEARS = (2019, 2020, 2021)
TRIPS = "id,name,day,length\n" + "".join(
    f"t{k},Trip {k},{YEARS[k % 3]}-0{1 + k % 9}-11,{k * 7 % 13}\n" for k in range(60)
)
TOWNS = "id,name,height\n" + "".join(f"o{k},Town {k},{k * 5 % 9}\n" for k in range(10))
# Town 9 is visited in the first year only.
LINKS = "source_dataset,source_id,target_dataset,target_id\n" + "".join(
    f"trips,t{k},towns,o{town}\n"
    for k in range(60)
    for town in (k % 9, (k // 3) % 9, *([9] if k % 3 == 0 else []))
)


def travels(visit: Visit) -> AppTest:
    app = visit()
    files = {"trips.csv": TRIPS, "towns.csv": TOWNS, "links.csv": LINKS}
    app.file_uploader[0].set_value([(n, t.encode(), "text/csv") for n, t in files.items()]).run()
    return unfold(go(press(app, "go-on"), "map"), "maker-0")


def titles(workspace: Workspace) -> list[str]:
    return [run.title for run in periods.series_of(workspace.state)]


def test_periods_are_mapped_compared_and_undone(visit: Visit) -> None:
    app = travels(visit)
    workspace = workspace_of(app)
    first, n_maps = workspace.state.run, len(workspace.state.runs)
    assert first is not None
    assert page.periods_spec(workspace.state, sid_of(app))["offered"] is True
    assert app.selectbox(key="period-column").value == "day"
    assert app.selectbox(key="period-unit-day").value == "year"
    assert "3 periods: 2019, 2020 and 2021." in html_of(app)
    app.checkbox(key="period-spread").set_value(True).run()
    app = press(app, "map-periods").run()
    state = workspace.state
    assert titles(workspace) == ["2019", "2020", "2021"]
    assert state.run is not None
    assert state.run.title == "2021"
    assert all(state.is_current(run) for run in periods.series_of(state))
    spec = page.periods_spec(state, sid_of(app))
    assert (spec["shown"], [one["count"] for one in spec["maps"]]) == (2, [30, 29, 29])
    # Items of other periods have no place, one frame holds all maps, and one stands for all.
    data = state.opened()
    placed = get_geometry(state, state.run).placed
    assert placed[data.offsets["towns"]].tolist() == [True] * 9 + [False]
    assert len({frame_of(state, run).low.tobytes() for run in periods.series_of(state)}) == 1
    assert len(_film_strip(state, sid_of(app))) == n_maps + 1
    assert spread.find(state, state.run) is not None
    # Their links differ, so no map of a period is the best of all.
    assert charts.best_close_text(state, state.run) == ""
    text = html_of(app)
    assert "What moved most" in text
    assert "spread of refits" in text
    assert "Only in 2020: 20 items. Only in 2021: 20 items." in text
    run = state.run
    app.selectbox(key=f"moved-from-{run.id}").set_value(0).run()
    assert "Only in 2019: 21 items. Only in 2021: 20 items." in html_of(app)
    app.selectbox(key=f"moved-from-{run.id}").set_value(2).run()
    assert "Choose two different periods." in html_of(app)
    # Steps between periods are not undone one by one.
    workspace.do(ChooseRun(periods.series_of(state)[0].id, is_period=True))
    assert workspace.undo().run is first
    assert titles(workspace) == []


def test_maps_without_spread_claim_nothing(visit: Visit) -> None:
    app = travels(visit)
    app.checkbox(key="period-spread").set_value(False).run()
    app = press(app, "map-periods").run()
    text = html_of(app)
    assert "was not measured, so these moves may mean nothing" in text
    assert "±" not in text
    # A renamed map keeps its period.
    workspace = workspace_of(app)
    workspace.do(RenameRun(str(workspace.state.chosen), "Last year"))
    assert titles(workspace)[-1] == "Last year"


def test_bad_bounds_are_named(visit: Visit) -> None:
    app = travels(visit)
    app.selectbox(key="period-unit-day").set_value("bounds").run()
    assert "Write at least two bounds" in html_of(app)
    assert app.button("map-periods").disabled
    app.text_input(key="period-bounds-day").set_value("2019-01-01, never").run()
    assert "bounds must be at least two rising dates" in html_of(app)
    app.text_input(key="period-bounds-day").set_value("2019-01-01, 2020-01-01, 2022-01-01").run()
    assert "2 periods: 2019-01-01 to 2020-01-01 and 2020-01-01 to 2022-01-01." in html_of(app)
    assert not app.button("map-periods").disabled


def test_moves_are_clear_if_larger_than_twice_their_spread() -> None:
    ids = {"a": list("pqrs")}
    places = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 5.0], [np.nan, np.nan]])
    later = places + np.array([[3.0, 0.0], [0.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    spreads = np.array([0.05, 0.05, 0.2, np.nan])
    before, after = (Embedding({"a": Y}, ids) for Y in (places, later))
    moves = periods.find_moves(before, after, (spreads, spreads))
    # The later map is 8 wide, the one before 10.
    np.testing.assert_allclose(moves.share[:3], [3 / 8, 0.0, 2 / 8])
    np.testing.assert_allclose(moves.spread[0], np.hypot(0.05 * 10 / 8, 0.05))
    assert moves.is_clear.tolist() == [True, False, False, False]
    assert not periods.find_moves(before, after, (None, spreads)).is_clear.any()
