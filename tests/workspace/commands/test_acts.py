"""Tests of combined steps, and of refits that are undone with their edit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hetviz.errors import DataError
from hetviz.workspace import Act, AddLinks, OpenSample, RecordMap, SetLabels, Workspace
from hetviz.workspace.store.blobs import BlobStore
from tests.workspace.helpers import record_map


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    result = Workspace(BlobStore(tmp_path))
    result.do(OpenSample("digits"))
    return result


def run_act(workspace: Workspace) -> Act:
    data = workspace.state.opened()
    a, b = data["pixels"].ids[0], data["fourier"].ids[1]
    steps = [
        AddLinks("pixels", "fourier", [[a, b]], set="mine").to_dict(),
        SetLabels("pixels", "shape", {a: "round"}).to_dict(),
    ]
    return Act(steps, "two things")


def record_refit(workspace: Workspace) -> RecordMap:
    state = workspace.state
    run = state.run
    assert run is not None
    return record_map(
        workspace, run.embedding, replaces=run.id, method=run.method, title="Made again"
    )


def test_act_is_one_step(workspace: Workspace) -> None:
    before = workspace.state
    workspace.do(run_act(workspace))
    assert workspace.undo_name == "two things"
    data = workspace.state.opened()
    assert sum(map(len, data.links)) == sum(map(len, before.opened().links)) + 1
    assert "shape" in [label.name for label in data.labels]
    workspace.undo()
    assert workspace.state.data is before.data
    assert workspace.redo_name == "two things"
    replayed = Workspace.replay(workspace.log, workspace.blobs)
    replayed.redo()
    assert replayed.state.opened().fingerprint() == data.fingerprint()


def test_failed_act_changes_nothing(workspace: Workspace) -> None:
    good = run_act(workspace)
    bad = AddLinks("pixels", "fourier", [["nobody", "nothing"]]).to_dict()
    before = workspace.state
    with pytest.raises(DataError):
        workspace.do(Act([*good.steps, bad], "three"))
    assert workspace.state is before
    assert workspace.undo_name != "three"


def test_refit_is_undone_with_edit(workspace: Workspace) -> None:
    shipped = workspace.state.run
    assert shipped is not None
    workspace.do(run_act(workspace))
    workspace.do(record_refit(workspace))
    created = workspace.state.run
    assert created is not None
    assert created.title == "Made again"
    assert workspace.undo_name == "two things"
    np.testing.assert_array_equal(
        created.before.coordinates["pixels"] if created.before else None,
        shipped.embedding.coordinates["pixels"],
    )
    # What came with the data stays; a map made again takes the place of the one before.
    assert [run.id for run in workspace.state.runs] == [shipped.id, created.id]
    workspace.do(record_refit(workspace))
    assert [run.title for run in workspace.state.runs] == [shipped.title, "Made again"]
    workspace.undo()
    assert workspace.state.run is shipped
    workspace.redo()
    assert workspace.state.run is not None
    assert workspace.state.run.title == "Made again"
