"""Tests of saved views: commands, undo, renamed and removed parts, project files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hetviz
from hetviz.data import Filter, SavedView
from hetviz.data.queries.saved_views import digest_of_map, present_filters, present_rows
from hetviz.errors import DataError
from hetviz.workspace import (
    DropDataset,
    DropView,
    MoveView,
    RenameDataset,
    SaveView,
    Sessions,
    SetFilters,
    Workspace,
    open_project,
    save_project,
)
from hetviz.workspace.store.blobs import BlobStore
from tests.workspace.helpers import opened

TREES = SavedView(
    "Trees  are\nsmall.",
    camera={"x": (-1, 2), "y": (0, 4)},
    colour='["plants", "size"]',
    filters=[{"dataset": "plants", "column": "size", "kind": "range", "high": 3}],
    hidden=["birds"],
    selection={"plants": ["007", "9"]},
    legend={"datasets": ["plants"], "range": [1, 2]},
    n_shown=3,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(BlobStore(tmp_path / "blobs"))


def texts(workspace: Workspace) -> list[str]:
    return [view.text for view in workspace.state.saved_views]


def test_views_are_saved_changed_moved_and_removed_with_undo(workspace: Workspace) -> None:
    for text in ("One.", "Two.", "Three."):
        workspace.do(SaveView(SavedView(text)))
    assert [view.id for view in workspace.state.saved_views] == ["1", "2", "3"]
    workspace.do(SaveView(SavedView("Second.", id="2")))
    workspace.do(MoveView("3", 0))
    workspace.do(DropView("1"))
    assert texts(workspace) == ["Three.", "Second."]
    assert workspace.undo_name == "remove view"
    for expected in (["Three.", "One.", "Second."], ["One.", "Second.", "Three."]):
        workspace.undo()
        assert texts(workspace) == expected
    workspace.undo()
    assert texts(workspace) == ["One.", "Two.", "Three."]
    workspace.redo()
    assert texts(workspace) == ["One.", "Second.", "Three."]
    # Undo of a filter leaves the views as they are.
    workspace.do(SetFilters([Filter("plants", "size", "range", low=2)]))
    workspace.undo()
    assert texts(workspace) == ["One.", "Second.", "Three."]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": " "},
        {"text": "x" * 201},
        {"camera": {"x": [0, 1]}},
        {"camera": {"x": [1, 0], "y": [0, 1]}},
        {"filters": [{"dataset": "plants", "kind": "values"}]},
        {"legend": {"colour": ["a"]}},
        {"selection": ["a"]},
        {"sentence": "No such field."},
    ],
)
def test_view_refuses_other_forms(fields: dict[str, object]) -> None:
    with pytest.raises(DataError):
        SavedView.from_dict({"text": "A view.", **fields})


def test_commands_refuse_unknown_and_too_many_views(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (SaveView(SavedView("A.", id="7")), MoveView("7", 0), DropView("7")):
        with pytest.raises(DataError, match="unknown view"):
            workspace.do(command)
    monkeypatch.setattr("hetviz.workspace.commands.saved_views.MAX_VIEWS", 1)
    workspace.do(SaveView(TREES))
    with pytest.raises(DataError, match="at most 1"):
        workspace.do(SaveView(TREES))
    assert texts(workspace) == ["Trees are small."]


def test_views_follow_a_renamed_dataset_and_note_a_removed_one(workspace: Workspace) -> None:
    workspace.do(SaveView(TREES))
    workspace.do(RenameDataset("plants", "trees"))
    [view] = workspace.state.saved_views
    data = workspace.state.opened()
    filters, notes = present_filters(data, view)
    assert ([item.dataset for item in filters], notes) == (["trees"], [])
    rows, notes = present_rows(data, view)
    assert (rows - data.offsets["trees"].start).tolist() == [0, 2]
    assert notes == []
    assert view.colour == '["trees", "size"]'
    assert view.legend["datasets"] == ["trees"]
    workspace.do(DropDataset("trees"))
    [view] = workspace.state.saved_views
    filters, notes = present_filters(workspace.state.opened(), view)
    assert filters == ()
    assert notes == ["A filter is left out: the dataset “trees” was removed."]
    rows, notes = present_rows(workspace.state.opened(), view)
    assert (len(rows), notes) == (0, ["2 of 2 selected items were removed."])


def test_project_file_keeps_views(workspace: Workspace, tmp_path: Path) -> None:
    workspace.do(SaveView(TREES))
    workspace.do(SaveView(SavedView("All.")))
    (tmp_path / "trees.hetviz").write_bytes(save_project(workspace))
    views = hetviz.load_views(tmp_path / "trees.hetviz")
    assert views == list(workspace.state.saved_views)
    assert views[0].to_dict() == {**TREES.to_dict(), "id": "1"}
    sessions = Sessions(tmp_path / "sessions")
    content = (tmp_path / "trees.hetviz").read_bytes()
    restored = sessions.get(open_project(content, "trees.hetviz", sessions))
    restored.undo()
    assert texts(restored) == ["Trees are small."]
    sessions.close()


def test_digest_of_map_depends_on_positions_only() -> None:
    places = np.arange(6.0).reshape(3, 2)
    ids = ["a", "b", "c"]
    first, renamed, other = (
        digest_of_map(hetviz.Embedding({name: Y}, {name: ids}))
        for name, Y in (("x", places), ("y", places), ("x", places + 1))
    )
    assert first == renamed != other
