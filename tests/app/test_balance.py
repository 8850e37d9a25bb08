"""Slider between features and links of a joint map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hetviz.algorithms.joint_map import NEW_BALANCE, JointMap
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.runs.embed.run import fit_run
from hetviz.ui.map.balance import other_end, slider_position
from hetviz.workspace import MapResult, State
from tests.app.conftest import Visit, go, workspace_of
from tests.app.test_map_warnings import goods


def state_with(data: HeteroData, method: str, params: dict[str, Any]) -> tuple[State, MapResult]:
    places = {name: np.zeros((len(part), 2)) for name, part in data.datasets.items()}
    ids = {name: part.ids for name, part in data.datasets.items()}
    places_of_map = Embedding(places, ids)
    run = MapResult(data.fingerprint(), method, params, 0, title="A map", embedding=places_of_map)
    return State(title="Goods", data=data), run


@pytest.mark.parametrize(
    ("method", "params", "position"),
    [
        ("joint-map", {}, 0.5),
        ("joint-map", {"links_over_features": 0.2}, 0.2),
        ("joint-map", {"links_over_features": None, "own_share": 0.3}, 0.5),
        ("joint-map", {"own_share": 0.0}, None),
        ("umap", {}, None),
    ],
)
def test_slider_position(method: str, params: dict[str, Any], position: float | None) -> None:
    assert slider_position(*state_with(goods(), method, params)) == position


def test_slider_of_tables_without_links_is_about_shared_items() -> None:
    ids = [f"i{k}" for k in range(12)]
    features = np.arange(24.0).reshape(12, 2)
    views = HeteroData([Dataset(name, ids, features, entity="thing") for name in "ab"])
    assert slider_position(*state_with(views, "joint-map", {})) == 0.5
    assert (other_end(views), other_end(goods())) == ("shared items", "links")


def test_data_without_links_have_no_slider() -> None:
    data = HeteroData([goods()["goods"]])
    assert slider_position(*state_with(data, "joint-map", {})) is None


def test_slider_refits_the_map_as_one_step_of_undo(visit: Visit) -> None:
    app = visit()
    workspace, data = workspace_of(app), goods()
    first = fit_run(data, "joint-map", {"n_iter": 60}).result
    run = MapResult(
        data.fingerprint(),
        "joint-map",
        {"n_iter": 60},
        0,
        title="Joint map",
        embedding=first.embedding,
        figures={"scores": {}, "curves": {}},
        id="r1",
    )
    workspace.state = State(title="Goods", data=data, runs=(run,), chosen="r1")
    app.run()
    go(app, "map")
    app.slider(key="balance-r1").set_value(1.0).run()
    assert not app.exception
    moved = workspace.state.run
    assert moved is not None
    assert (moved.params["n_iter"], moved.params["links_over_features"]) == (60, 1.0)
    assert moved.start is not None
    assert moved.start.note == NEW_BALANCE
    # The recorded settings and start make the same map again.
    again = JointMap(n_iter=60, links_over_features=1.0).fit(data, start=moved.start)
    np.testing.assert_array_equal(again.embedding_.stacked(), moved.embedding.stacked())
    assert app.slider(key=f"balance-{moved.id}").value == 1.0
    workspace.undo()
    app.run()
    assert app.slider(key="balance-r1").value == 0.5
