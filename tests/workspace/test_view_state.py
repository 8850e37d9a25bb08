"""Tests of the view state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hetviz.errors import DataError
from hetviz.workspace import (
    AddTables,
    DropDataset,
    OpenSample,
    RenameDataset,
    Sessions,
    SetTitle,
    Workspace,
)
from hetviz.workspace.sessions import new_session_id
from tests.workspace.helpers import add_all

CAMERA = {"x": [0.0, 1.5], "y": [-1.0, 2.0]}


@pytest.fixture
def sid() -> str:
    return new_session_id()


@pytest.fixture
def workspace(tmp_path: Path, sid: str) -> Workspace:
    result = Sessions(tmp_path).get(sid)
    result.do(add_all(result.blobs, fresh=True))
    return result


def test_view_state_survives_restart_and_rename(
    workspace: Workspace, tmp_path: Path, sid: str
) -> None:
    workspace.set_view_state(selection=[5, 0, 5], camera=CAMERA)
    workspace.do(RenameDataset("plants", "trees"))
    assert workspace.view_state.selection.tolist() == [0, 5]
    workspace.close()
    again = Sessions(tmp_path).get(sid)
    assert again.view_state.selection.tolist() == [0, 5]
    assert again.view_state.camera == CAMERA
    assert again.selection_version > workspace.selection_version
    assert [entry["op"] for entry in again.log] == ["add-tables", "rename-dataset"]


def test_view_state_is_empty_for_other_rows(workspace: Workspace) -> None:
    workspace.set_view_state(selection=[0, 5], camera=CAMERA)
    version = workspace.selection_version
    workspace.do(DropDataset("birds"))
    assert workspace.view_state.selection.tolist() == []
    assert workspace.view_state.camera is None
    assert workspace.selection_version > version
    workspace.undo()
    assert workspace.view_state.selection.tolist() == [0, 5]
    bees = workspace.blobs.put(b"id,name,a,b\nx,Bee,1,2\ny,Wasp,2,1\n")
    workspace.do(AddTables({"bees.csv": bees}))
    assert workspace.view_state.selection.tolist() == []
    workspace.do(OpenSample("emoji"))
    assert workspace.view_state.selection.tolist() == []


def test_selection_version_is_maximum(
    workspace: Workspace,
) -> None:
    version = workspace.selection_version
    workspace.set_view_state(selection=[1], browser_version=version + 3)
    workspace.set_view_state(camera=CAMERA)
    workspace.do(SetTitle("Woods"))
    assert workspace.selection_version == version + 3
    # Higher than what the browser has, or it would not take it over.
    workspace.set_view_state(selection=[2])
    assert workspace.selection_version == version + 4
    assert workspace.view_state.camera == CAMERA
    workspace.set_view_state(selection=[], camera={}, browser_version=version)
    assert workspace.view_state.selection.size == 0
    assert workspace.view_state.camera is None
    assert workspace.selection_version == version + 4


def test_bad_view_state_is_error(workspace: Workspace) -> None:
    for rows in ([7], [-1], np.array([0.5])):
        with pytest.raises(DataError):
            workspace.set_view_state(selection=rows)
    for camera in ({"x": [0, 1]}, {"x": [0, 1], "y": [0, np.nan]}, {"x": [0], "y": [0, 1]}):
        with pytest.raises(DataError, match="camera"):
            workspace.set_view_state(camera=camera)
    assert workspace.view_state.selection.size == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": 1}', b"\x00" * 40])
def test_damaged_file_is_ignored(
    workspace: Workspace, tmp_path: Path, sid: str, content: bytes
) -> None:
    workspace.close()
    (tmp_path / sid / "glance.json").write_bytes(content)
    assert Sessions(tmp_path).get(sid).view_state.selection.size == 0


def test_write_failure_is_logged_without_session(
    workspace: Workspace, tmp_path: Path, sid: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / sid / "glance.json").mkdir()
    workspace.set_view_state(selection=[1])
    assert workspace.view_state.selection.tolist() == [1]
    assert "could not be saved" in caplog.text
    assert sid not in caplog.text
    assert sorted(path.name for path in (tmp_path / sid).iterdir()) == [
        "blobs",
        "glance.json",
        "journal.jsonl",
        "read",
    ]


def test_groups_are_merged_and_removed(workspace: Workspace, tmp_path: Path, sid: str) -> None:
    workspace.set_view_state(groups={"B": [4, 2], "A": [1]})
    workspace.set_view_state(selection=[3])
    workspace.close()
    again = Sessions(tmp_path).get(sid)
    assert {name: rows.tolist() for name, rows in again.view_state.groups.items()} == {
        "A": [1],
        "B": [2, 4],
    }
    again.set_view_state(groups={"A": [], "C": [0]})
    assert {name: rows.tolist() for name, rows in again.view_state.groups.items()} == {
        "B": [2, 4],
        "C": [0],
    }
    again.close()


@pytest.mark.parametrize("groups", [{"D": [1]}, {"A": [10**6]}, {"A": [0.5]}])
def test_bad_groups_are_errors(workspace: Workspace, groups: dict[str, list[float]]) -> None:
    with pytest.raises(DataError):
        workspace.set_view_state(groups=groups)
    assert workspace.view_state.groups == {}
