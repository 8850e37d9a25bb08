"""Tests of findings and their maps."""

from __future__ import annotations

from pathlib import Path

import pytest

from hetviz.workspace import ChooseRun, KeepFindings, StarRun, StartJob, Workspace
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.packing import pack_json
from tests.workspace.helpers import opened, record


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(BlobStore(tmp_path / "blobs"))


def findings(workspace: Workspace, kind: str, result: int, n_maps: int) -> KeepFindings:
    maps = [record(workspace, seed).map for seed in range(n_maps)]
    content = workspace.blobs.put(pack_json({"found": result}))
    return KeepFindings(kind, "Comparison", "f", content, maps, "job")


def test_latest_findings_replace_earlier(
    workspace: Workspace,
) -> None:
    workspace.do(record(workspace))
    workspace.do(StartJob("job", "Comparison"))
    workspace.do(findings(workspace, "compare", 1, 2))
    workspace.do(findings(workspace, "links", 2, 0))
    state = workspace.do(findings(workspace, "compare", 3, 1))
    assert {kind: retained.content for kind, retained in state.findings.items()} == {
        "compare": {"found": 3},
        "links": {"found": 2},
    }
    assert state.findings["compare"].runs == ("4.1",)
    assert [run.id for run in state.runs] == ["1", "4.1"]
    assert state.chosen == "1"
    assert state.pending is None


def test_starred_and_shown_maps_of_findings_stay(workspace: Workspace) -> None:
    workspace.do(findings(workspace, "compare", 1, 3))
    workspace.do(StarRun("1.1", True))
    workspace.do(ChooseRun("1.2"))
    state = workspace.do(findings(workspace, "compare", 2, 1))
    assert [run.id for run in state.runs] == ["1.1", "1.2", "2.1"]


def test_maps_of_periods_are_shown_and_steps_between_them_are_skipped_by_undo(
    workspace: Workspace,
) -> None:
    workspace.do(record(workspace))
    state = workspace.do(findings(workspace, "periods", 1, 2))
    assert (state.chosen, workspace.undo_name) == ("2.2", "maps of periods")
    workspace.do(ChooseRun("2.1", is_period=True))
    again = Workspace.replay(workspace.log, workspace.blobs).state
    assert again.chosen == "2.1"
    # The shown map of earlier periods does not stay.
    state = workspace.do(findings(workspace, "periods", 2, 2))
    assert [run.id for run in state.runs] == ["1", "3.1", "3.2"]
    workspace.undo()
    assert (workspace.state.chosen, workspace.undo_name) == ("2.1", "maps of periods")
    assert workspace.undo().chosen == "1"


def test_findings_undo_and_replay(workspace: Workspace) -> None:
    workspace.do(findings(workspace, "compare", 1, 1))
    again = Workspace.replay(workspace.log, workspace.blobs).state
    assert again.findings["compare"].content == {"found": 1}
    assert [run.id for run in again.runs] == ["1.1"]
    assert workspace.undo().findings == {}
    assert workspace.state.runs == ()
    workspace.redo()
    workspace.do(record(workspace))
    assert [run.id for run in workspace.state.runs] == ["1.1", "2"]


def test_refit_replaces_unstarred_map(
    workspace: Workspace,
) -> None:
    workspace.do(record(workspace))
    state = workspace.do(record(workspace, 1, replaces="1"))
    assert ([run.id for run in state.runs], state.chosen) == (["2"], "2")
    workspace.do(StarRun("2", True))
    state = workspace.do(record(workspace, 2, replaces="2"))
    assert ([run.id for run in state.runs], state.chosen) == (["2", "3"], "3")
