"""Pins in the app: places with prices, the list of pins, undo and marks on the map."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from hetviz.data import HeteroData
from hetviz.metrics.conflicts.pin_prices import price_pins
from hetviz.runs.embed.run import FittedRun, fit_again, fit_run
from hetviz.ui.map.description import map_spec
from hetviz.ui.statements.statement_draft import StatementDraft, StatementState
from hetviz.workspace import State, Workspace
from tests.app.conftest import Visit, go, html_of, page_of, unfold, workspace_of
from tests.app.test_map_warnings import goods


def open_map(workspace: Workspace, data: HeteroData, method: str = "mr-sne") -> FittedRun:
    """Put a map into a workspace and return it."""
    params = {"n_iter": 60} if method == "mr-sne" else {}
    result = fit_run(data, method, params).result
    figures = {"scores": {}, "curves": {}}
    run = replace(result, id="r1", figures=figures)
    workspace.state = State(title="Goods", data=data, runs=(run,), chosen="r1")
    return run


def test_group_is_pinned_to_a_side_and_back(visit: Visit) -> None:
    app = visit()
    workspace, data = workspace_of(app), goods()
    open_map(workspace, data)
    rows = np.arange(4)
    workspace.set_view_state(selection=rows)
    app.run()
    go(app, "map")
    unfold(app, "pin-r1")
    labels = {button.key: button.label for button in app.button}
    name = next(iter(data.datasets))
    pins = [{"place": "left", "items": {name: data[name].ids[:4].tolist()}}]
    first = workspace.state.run
    assert first is not None
    price = price_pins(data, first.embedding, pins).iloc[0]
    assert labels["pin-left"] == f"Left · {price['broken']}"
    assert f"{price['links']} close link" in html_of(app)
    assert labels["pin-here"].endswith(" · 0")
    app.button(key="pin-left").click().run()
    run = workspace.state.run
    assert run is not None
    assert run.params["pins"] == pins
    assert run.start is not None
    assert price_pins(data, run.embedding, pins)["distance"].iloc[0] < 0.05
    again = fit_again(data, run).result.embedding
    np.testing.assert_array_equal(again.stacked(), run.embedding.stacked())
    assert map_spec(workspace.state, run, session="pins")["pins"] == [0, 1, 2, 3]
    # An item of the group gets a pin of its own, and leaves the group's.
    workspace.set_view_state(selection=rows[:1])
    app.run()
    unfold(app, f"pin-{run.id}")
    app.button(key="pin-top-right").click().run()
    run = workspace.state.run
    assert run is not None
    assert [pin["place"] for pin in run.params["pins"]] == ["left", "top right"]
    assert [len(pin["items"][name]) for pin in run.params["pins"]] == [3, 1]
    assert "It is pinned to the top right." in html_of(app)
    app.button(key="pin-remove-0").click().run()
    run = workspace.state.run
    assert run is not None
    assert [pin["place"] for pin in run.params["pins"]] == ["top right"]
    app.button(key="pin-select-0").click().run()
    assert workspace.view_state.selection.tolist() == [0]
    for _ in range(3):
        workspace.undo()
    assert workspace.state.run is first


def test_dropped_item_is_pinned_where_it_was_dropped(visit: Visit) -> None:
    app = visit()
    workspace, data = workspace_of(app), goods()
    run = open_map(workspace, data)
    Y = run.embedding.stacked()
    others = np.delete(Y, 0, axis=0)
    low, high = others.min(axis=0), others.max(axis=0)
    at = low + [0.8, 0.3] * (high - low)
    workspace.set_view_state(groups={"A": np.array([0]), "B": np.array([1])})
    app.run()
    go(app, "map")
    page_of(app).part(StatementState).draft = StatementDraft(
        dropped=(0, float(at[0]), float(at[1])), proposed=(1,)
    )
    app.run()
    [button] = [button for button in app.button if button.key == "pin-dropped"]
    assert button.label.startswith("Pin here")
    button.click().run()
    pinned = workspace.state.run
    assert pinned is not None
    [pin] = pinned.params["pins"]
    assert pin["place"] == pytest.approx([0.8, 0.3], abs=0.01)
    # The sentence is over.
    assert not any(button.key == "pin-dropped" for button in app.button)


def test_method_without_pins_says_so(visit: Visit) -> None:
    app = visit()
    workspace = workspace_of(app)
    open_map(workspace, goods(), "guided-projection")
    workspace.set_view_state(selection=np.arange(2))
    app.run()
    unfold(go(app, "map"), "pin-r1")
    assert "cannot pin items. Methods that can: " in html_of(app)
    assert not any(button.key == "pin-left" for button in app.button)


def test_all_items_can_be_pinned(visit: Visit) -> None:
    app = visit()
    workspace, data = workspace_of(app), goods()
    open_map(workspace, data)
    workspace.set_view_state(selection=np.arange(data.n_rows))
    app.run()
    unfold(go(app, "map"), "pin-r1")
    app.button(key="pin-here").click().run()
    assert not app.exception
    run = workspace.state.run
    assert run is not None
    assert len(map_spec(workspace.state, run, session="pins")["pins"]) == data.n_rows


def test_new_map_keeps_pins_of_methods_that_can_pin(visit: Visit) -> None:
    app = visit()
    workspace, data = workspace_of(app), goods()
    open_map(workspace, data)
    workspace.set_view_state(selection=np.arange(3))
    app.run()
    unfold(go(app, "map"), "pin-r1")
    app.button(key="pin-right").click().run()
    run = workspace.state.run
    assert run is not None
    pins = run.params["pins"]
    unfold(app, "maker-0")
    app.selectbox(key="method").set_value("pca").run()
    assert "cannot pin items" in html_of(app)
    app.selectbox(key="method").set_value("umap").run()
    assert "Keeps 1 pin." in html_of(app)
    app.button(key="run").click().run()
    app.run()
    new = workspace.state.run
    assert new is not None
    assert (new.method, new.params["pins"]) == ("umap", pins)


def test_pins_of_missing_items_can_be_removed(visit: Visit) -> None:
    app = visit()
    workspace, data = workspace_of(app), goods()
    run = open_map(workspace, data)
    pins = [
        {"place": "left", "items": {"gone": ["x"]}},
        {"place": [0.9, 0.9], "items": {"goods": [str(data["goods"].ids[0])]}},
    ]
    run = replace(run, params={**run.params, "pins": pins})
    workspace.state = replace(workspace.state, runs=(run,))
    app.run()
    go(app, "map")
    assert not app.exception
    assert "Not on this map" in html_of(app)
    # This map was not made with the pin, so its item is far from the target.
    assert re.search(r"Where you put it, \d+ % of the width away", html_of(app))
    app.button(key="pin-remove-0").click().run()
    assert workspace.state.run is not None
    assert workspace.state.run.params["pins"] == pins[1:]
