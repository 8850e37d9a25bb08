"""Tests of the demonstration on the start page."""

from __future__ import annotations

import numpy as np

from hetviz.io.bundle.samples import sample_demo
from hetviz.ui.map_data.array_cache import ARRAYS
from hetviz.ui.start.demo import demo_spec
from hetviz.workspace import OpenSample
from tests.app.conftest import Visit, workspace_of
from tools.make_demo import SAMPLE, make


def test_demo_is_the_refit_with_its_statement() -> None:
    demo = sample_demo(SAMPLE)
    assert demo is not None
    text, item, other = make()
    lines = [line.split(",") for line in text.splitlines()[1:]]
    assert (demo.item, demo.other) == (item, other)
    assert [tuple(line[:2]) for line in lines] == list(demo.positions)
    made = np.array([line[2:] for line in lines], dtype=float)
    np.testing.assert_allclose(made, list(demo.positions.values()), atol=0.01)


def test_demo_moves_its_item_to_the_other_and_hardly_anything_else(visit: Visit) -> None:
    state = workspace_of(visit("start")).state
    spec = demo_spec(state, "s")
    assert spec is not None
    assert spec["text"] == "Example: coconut belongs with cherries."
    packed = ARRAYS.get("s", spec["key"])
    after = np.frombuffer(packed.content, dtype="<f4").reshape(-1, 2)
    assert state.run is not None
    before = np.vstack(list(state.run.embedding.coordinates.values()))
    width = np.ptp(before, axis=0).max()
    moved = np.linalg.norm(after - before, axis=1) / width
    gap = np.linalg.norm(after[spec["item"]] - after[spec["other"]]) / width
    assert gap < 0.02
    assert moved[spec["item"]] > 0.4
    assert np.median(moved) < 0.01


def test_demo_is_left_out_of_other_data_and_after_a_new_map(visit: Visit) -> None:
    workspace = workspace_of(visit("start"))
    assert demo_spec(workspace.state, "s") is not None
    workspace.do(OpenSample("digits"))
    assert demo_spec(workspace.state, "s") is None
