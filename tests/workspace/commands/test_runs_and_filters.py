"""Tests of runs, filters and pending jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hetviz.data import Filter
from hetviz.errors import DataError
from hetviz.workspace import (
    DropDataset,
    DropRun,
    EndJob,
    RenameDataset,
    RenameRun,
    SetFilters,
    SetTitle,
    SetView,
    StarRun,
    StartJob,
    Workspace,
)
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.packing import unpack_rows
from tests.workspace.helpers import add_all, opened, record


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(BlobStore(tmp_path / "blobs"))


def ids(workspace: Workspace) -> list[str]:
    return [run.id for run in workspace.state.runs]


def test_rename_and_star_run_undo(workspace: Workspace) -> None:
    workspace.do(record(workspace))
    workspace.do(RenameRun("1", "  My   map "))
    workspace.do(StarRun("1", True))
    run = workspace.state.run
    assert run is not None
    assert (run.title, run.starred) == ("My map", True)
    assert workspace.undo_name == "star"
    workspace.undo()
    workspace.undo()
    run = workspace.state.run
    assert run is not None
    assert (run.title, run.starred) == ("PCA", False)


def test_drop_run_shows_newest_other(workspace: Workspace) -> None:
    for seed in range(3):
        workspace.do(record(workspace, seed))
    workspace.do(DropRun("1"))
    assert workspace.state.chosen == "3"
    workspace.do(DropRun("3"))
    assert (ids(workspace), workspace.state.chosen) == (["2"], "2")
    workspace.do(DropRun("2"))
    assert (ids(workspace), workspace.state.chosen) == ([], None)
    for _ in range(3):
        workspace.undo()
    assert (ids(workspace), workspace.state.chosen) == (["1", "2", "3"], "3")


def test_run_ids_are_unique(workspace: Workspace) -> None:
    workspace.do(record(workspace))
    workspace.undo()
    workspace.do(record(workspace))
    workspace.do(DropRun("2"))
    workspace.do(record(workspace))
    assert ids(workspace) == ["3"]


def test_run_keeps_rows_weights_time(workspace: Workspace) -> None:
    only = np.array([0, 5])
    workspace.do(record(workspace, only=only, weights={"plants|birds|link": 0.5}))
    workspace.do(RenameDataset("plants", "trees"))
    run = workspace.state.run
    assert run is not None
    assert run.only is not None
    assert run.only.tolist() == [0, 5]
    assert run.weights == {"trees|birds|link": 0.5}
    assert run.when == workspace.log[1]["at"]
    far = np.array([7])
    with pytest.raises(DataError, match="other data"):
        workspace.do(record(workspace, only=far))
    with pytest.raises(DataError, match="cannot be read"):
        unpack_rows(b"junk", 10)


@pytest.mark.parametrize("command", [RenameRun("9", "x"), StarRun("9", True), DropRun("9")])
def test_unknown_run_is_error(workspace: Workspace, command: DropRun) -> None:
    with pytest.raises(DataError, match="unknown map"):
        workspace.do(command)


def test_bad_title_is_error(workspace: Workspace) -> None:
    workspace.do(record(workspace))
    for title in ("  ", "x" * 81):
        with pytest.raises(DataError, match="name of the map"):
            workspace.do(RenameRun("1", title))


def test_filters_follow_dataset(workspace: Workspace) -> None:
    size = Filter("plants", "size", "range", low=2)
    rows = Filter("birds", kind="rows", values=("b1",))
    workspace.do(SetFilters([size, rows.to_dict()]))
    assert workspace.state.filters == (size, rows)
    assert workspace.undo_name == "filter"
    workspace.do(RenameDataset("plants", "trees"))
    assert [filter.dataset for filter in workspace.state.filters] == ["trees", "birds"]
    workspace.do(DropDataset("birds"))
    assert [filter.dataset for filter in workspace.state.filters] == ["trees"]
    workspace.do(add_all(workspace.blobs, fresh=True))
    assert workspace.state.filters == ()
    workspace.undo()
    assert [filter.dataset for filter in workspace.state.filters] == ["trees"]


def test_bad_filter_is_error(workspace: Workspace) -> None:
    for wrong in (Filter("fish", "x"), Filter("plants", "colour")):
        with pytest.raises(DataError, match="does not exist"):
            workspace.do(SetFilters([wrong]))
    with pytest.raises(DataError, match="fields"):
        workspace.do(SetFilters([{"dataset": "plants", "colour": "red"}]))
    assert workspace.state.filters == ()


def test_job_is_pending_until_recorded(workspace: Workspace) -> None:
    workspace.do(StartJob("j1", "PCA", {"method": "pca"}))
    workspace.do(record(workspace, job="j0"))
    pending = workspace.state.pending
    assert pending is not None
    assert (pending.job, pending.outcome, pending.note) == ("j1", None, {"method": "pca"})
    workspace.do(record(workspace, job="j1"))
    assert workspace.state.pending is None


def test_job_outcome_stays_until_cleared(workspace: Workspace) -> None:
    workspace.do(StartJob("j1", "PCA"))
    workspace.do(EndJob("j2", "failed", "not mine"))
    workspace.do(EndJob("j1", "failed", "no links"))
    pending = workspace.state.pending
    assert pending is not None
    assert (pending.outcome, pending.message) == ("failed", "no links")
    with pytest.raises(DataError, match="unknown outcome"):
        workspace.do(EndJob("j1", "exploded"))
    workspace.do(EndJob("j1"))
    assert workspace.state.pending is None


def test_jobs_and_view_are_not_undone(workspace: Workspace) -> None:
    workspace.do(SetTitle("Woods"))
    workspace.do(StartJob("j1", "PCA"))
    workspace.do(SetView(colour="dataset"))
    assert workspace.undo_name == "project name"
    workspace.undo()
    state = workspace.state
    assert state.pending is not None
    assert state.view.colour == "dataset"
    workspace.do(add_all(workspace.blobs, fresh=True))
    assert workspace.state.pending is not None
