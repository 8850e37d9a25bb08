"""Tests of the workspace: commands, undo, redo, replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from hetviz.data import Filter
from hetviz.errors import DataError, HetvizError
from hetviz.workspace import (
    ORIGINAL_MAP,
    AddTables,
    ChooseRun,
    Command,
    DropDataset,
    DropRun,
    EndJob,
    OpenBundle,
    OpenSample,
    RecordMap,
    RenameDataset,
    RenameRun,
    Sessions,
    SetFilters,
    SetSwatch,
    SetTitle,
    SetView,
    StarRun,
    StartJob,
    Workspace,
    from_dict,
)
from hetviz.workspace.commands.runs import RecordRun
from hetviz.workspace.sessions import is_session_id, new_session_id
from hetviz.workspace.store.blobs import BlobStore
from tests.depth import examples
from tests.workspace.helpers import (
    BAD_LINKS,
    STEPS,
    add_all,
    opened,
    record,
    run_random_steps,
    state_essence,
    try_command,
    workspace_essence,
)


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


def test_files_keep_ids(blobs: BlobStore) -> None:
    data = opened(blobs).state.data
    assert data is not None
    assert data["plants"].ids.tolist() == ["007", "NA", "9", "10"]
    assert [links.weight.tolist() for links in data.links] == [[1.0, -0.5]]


def test_bad_rows_are_error(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    before, log = workspace_essence(workspace.state), list(workspace.log)
    with pytest.raises(DataError, match="nobody"):
        workspace.do(add_all(blobs, BAD_LINKS, fresh=True))
    assert (workspace_essence(workspace.state), workspace.log) == (before, log)


def test_bad_rows_are_skipped_on_request(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    state = workspace.do(add_all(blobs, BAD_LINKS, fresh=True, leave_out=True))
    assert state.data is not None
    assert sum(map(len, state.data.links)) == 2
    assert [problem.value for problem in state.problems] == ["nobody"]


def test_add_tables_to_open_data(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    bees = blobs.put(b"id,name,a,b\nx,Bee,1,2\ny,Wasp,2,1\n")
    state = workspace.do(AddTables({"bees.csv": bees}))
    assert state.data is not None
    assert list(state.data.datasets) == ["plants", "birds", "bees"]
    assert sum(map(len, state.data.links)) == 2


def test_rename_dataset_keeps_map_and_colour(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    workspace.do(record(workspace))
    workspace.do(SetView(colour=json.dumps(["plants", "size"]), hidden=("plants",), terrain=False))
    state = workspace.do(RenameDataset("plants", "trees"))
    run = state.run
    assert run is not None
    assert state.is_current(run)
    assert list(run.embedding.coordinates) == ["trees", "birds"]
    assert state.view.colour == json.dumps(["trees", "size"])
    assert state.view.hidden == ("trees",)
    assert not state.view.terrain


def test_pins_follow_renamed_datasets(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    pins = [{"place": [0.2, 0.5], "items": {"plants": ["oak"], "birds": ["owl"]}}]
    workspace.do(record(workspace, params={"pins": pins, "weights": {"plants": 0.5}}))
    run = workspace.do(RenameDataset("plants", "trees")).run
    assert run is not None
    renamed = {"trees": ["oak"], "birds": ["owl"]}
    assert run.params["pins"] == [{"place": [0.2, 0.5], "items": renamed}]
    assert run.params["weights"] == {"trees": 0.5}


def test_swatches_are_set_reset_and_follow_renamed_datasets(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    kind = json.dumps(["plants", "kind"])
    workspace.do(SetView(swatch=(kind, "tree", "#112233")))
    workspace.do(SetView(swatch=(kind, "tree", "#445566")))
    workspace.do(SetView(swatch=("dataset", "plants", "#778899")))
    assert workspace.state.view.swatches_of(kind) == (("tree", "#445566"),)
    with pytest.raises(DataError, match="must look like"):
        workspace.do(SetView(swatch=(kind, "tree", "red")))
    view = workspace.do(RenameDataset("plants", "trees")).view
    renamed = json.dumps(["trees", "kind"])
    assert view.swatches_of(renamed) == (("tree", "#445566"),)
    assert view.swatches_of("dataset") == (("trees", "#778899"),)
    workspace.do(SetView(swatch=(renamed, "tree", "")))
    assert workspace.state.view.swatches_of(renamed) == ()
    workspace.do(SetView(swatch=("dataset", "", "")))
    assert workspace.state.view.swatches == ()


def test_charts_are_kept_and_follow_renamed_datasets(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    assert workspace.state.view.charts is None
    charts = [["plants", "size", ""], ["birds", "name", "plants"], ["plants", "size", ""]]
    charts.append(["plants", "size", "", "age"])
    assert not workspace.state.view.has_table
    workspace.do(SetView(charts=charts, has_charts=True, has_table=True))
    workspace.do(RenameDataset("plants", "trees"))
    view = workspace.state.view
    assert view.charts == (
        ("trees", "size", ""),
        ("birds", "name", "trees"),
        ("trees", "size", "", "age"),
    )
    assert view.has_charts
    assert view.has_table
    with pytest.raises(DataError, match="at most"):
        workspace.do(SetView(charts=[["plants", "size"]]))
    assert not workspace.do(SetView(charts=[], has_charts=False)).view.charts


def test_chosen_colours_are_undone_and_redone(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    kind = json.dumps(["plants", "kind"])
    workspace.do(SetSwatch(kind, "tree", "#112233"))
    workspace.do(SetSwatch(kind, "herb", "#445566"))
    # Other display settings are no steps, and undo leaves them.
    workspace.do(SetView(terrain=False))
    assert workspace.undo_name == "colour"
    view = workspace.undo().view
    assert view.swatches_of(kind) == (("tree", "#112233"),)
    assert not view.terrain
    assert dict(workspace.redo().view.swatches_of(kind)) == {"tree": "#112233", "herb": "#445566"}
    workspace.do(SetSwatch(kind, "", ""))
    assert workspace.state.view.swatches == ()
    assert len(workspace.undo().view.swatches) == 2
    replayed = Workspace.replay(workspace.log, blobs)
    assert replayed.state.view.swatches == workspace.state.view.swatches


def test_map_of_changed_data_is_not_current(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    workspace.do(record(workspace))
    bees = blobs.put(b"id,name,a,b\nx,Bee,1,2\ny,Wasp,2,1\n")
    state = workspace.do(AddTables({"bees.csv": bees}))
    run = state.run
    assert run is not None
    assert not state.is_current(run)
    embedding = state.embedding(run)
    assert embedding is not None
    assert embedding.n_unplaced == 2 + 1
    assert not embedding.placed["bees"].any()


def test_last_dataset_cannot_be_dropped(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    workspace.do(DropDataset("plants"))
    with pytest.raises(DataError, match="only dataset"):
        workspace.do(DropDataset("birds"))


def test_map_of_other_data_is_error(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    command = record(workspace)
    workspace.do(DropDataset("plants"))
    with pytest.raises(DataError, match="other data"):
        workspace.do(command)


def test_undo_redo_labels(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    workspace.do(RenameDataset("plants", "trees"))
    assert workspace.undo_name == "rename"
    assert workspace.redo_name is None
    workspace.undo()
    assert workspace.redo_name == "rename"
    assert workspace.undo_name == "add files"
    workspace.do(SetTitle("Woods"))
    assert workspace.redo_name is None
    with pytest.raises(HetvizError, match="nothing to redo"):
        workspace.redo()


def test_set_view_is_no_step(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    workspace.do(SetTitle("Woods"))
    workspace.do(SetView(colour="dataset"))
    assert workspace.undo_name == "project name"
    state = workspace.undo()
    assert state.title != "Woods"
    assert state.view.colour == "dataset"
    assert [entry["op"] for entry in workspace.log][-2:] == ["set-view", "undo"]


def test_automatic_title_is_no_step(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    workspace.do(SetTitle("Woods"))
    workspace.do(SetTitle("Woods (2)", automatic=True))
    assert (workspace.state.title, workspace.steps) == ("Woods (2)", 2)
    again = Workspace.replay(workspace.log, blobs)
    assert (again.state.title, again.steps) == ("Woods (2)", 2)
    assert workspace.undo().title != "Woods"


def test_sample_has_original_map(blobs: BlobStore) -> None:
    state = Workspace(blobs).do(OpenSample("emoji"))
    assert state.chosen == ORIGINAL_MAP
    assert state.run is not None
    assert state.is_current(state.run)


def test_projects_share_the_original_map_of_a_sample(blobs: BlobStore) -> None:
    # So are the results about it, which are cached by map.
    [one], [other] = (Workspace(blobs).do(OpenSample("emoji")).runs for _ in range(2))
    assert one is other
    [changed] = Workspace(blobs).do(OpenSample("digits")).runs
    assert changed is not one


def test_unknown_names_are_errors(blobs: BlobStore) -> None:
    workspace = opened(blobs)
    for command in (OpenSample("atlantis"), ChooseRun("77"), RenameDataset("fish", "x")):
        with pytest.raises(DataError):
            workspace.do(command)
    with pytest.raises(DataError, match="unknown operation"):
        from_dict({"op": "format-disk"})
    with pytest.raises(DataError, match="do not fit"):
        from_dict({"op": "set-title", "colour": "red"})


@pytest.mark.parametrize(
    "command",
    [
        OpenSample("emoji"),
        OpenBundle("0" * 64, "a.zip", leave_out=True),
        AddTables({"a.csv": "1" * 64}, {"a.csv": {"separator": ";"}}, fresh=True),
        RenameDataset("a", "ä $x$ <b>"),
        DropDataset("a"),
        SetTitle("T"),
        RecordMap("1" * 64, "j1", "2"),
        RecordRun("pca", "PCA", {"k": [1, None]}, 3, 0.2, "f", "c", "g"),
        RecordRun("pca", "PCA", {}, 3, 0, "f", "c", "g", {"a|b|link": 0.5}, "1" * 64, "j1"),
        ChooseRun("2"),
        RenameRun("2", "Second"),
        StarRun("2", True),
        DropRun("2"),
        SetFilters([Filter("a", "b", values=("x",)), Filter("a", kind="rows", values=("007",))]),
        StartJob("j1", "PCA", {"method": "pca"}),
        EndJob("j1", "failed", "no"),
        EndJob("j1"),
    ],
)
def test_commands_json_round_trip(command: Command) -> None:
    assert from_dict(json.loads(json.dumps(command.to_dict()))) == command


@given(steps=STEPS)
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_replay_gives_same_state(steps: list[Any], blobs: BlobStore) -> None:
    workspace = opened(blobs)
    for number, step in enumerate(steps):
        before = workspace_essence(workspace.state), list(workspace.log)
        try:
            run_random_steps(workspace, step, number)
        except HetvizError:
            assert (workspace_essence(workspace.state), workspace.log) == before
    again = Workspace.replay(json.loads(json.dumps(workspace.log)), blobs)
    assert state_essence(again) == state_essence(workspace)


@given(steps=STEPS.filter(lambda steps: all(step not in ("undo", "redo") for step in steps)))
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_undo_all_redo_all(steps: list[Any], blobs: BlobStore) -> None:
    workspace = opened(blobs)
    for number, step in enumerate(steps):
        if not isinstance(step, (SetView, StartJob, EndJob)):
            try_command(workspace, step, number)
    end = workspace_essence(workspace.state)
    n = workspace.steps
    for _ in range(n):
        workspace.undo()
    assert workspace.state.data is None
    for _ in range(n):
        workspace.redo()
    assert workspace_essence(workspace.state) == end


def test_blob_keys_are_hashes(blobs: BlobStore) -> None:
    key = blobs.put(b"oak")
    assert blobs.put(b"oak") == key
    assert blobs.get(key) == b"oak"
    (blobs.folder / key).write_bytes(b"ash")
    with pytest.raises(DataError, match="damaged"):
        blobs.get(key)
    for bad in ("../" + key, "0" * 64, ""):
        with pytest.raises(DataError, match="missing"):
            blobs.get(bad)


def test_sessions_are_separate(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    mine, yours = new_session_id(), new_session_id()
    assert is_session_id(mine)
    assert sessions.find(mine) is None
    assert sessions.get(mine) is sessions.get(mine)
    assert sessions.get(mine) is not sessions.get(yours)
    for bad in ("", "../../etc/passwd", mine + "x", None, mine + "\n"):
        assert not is_session_id(bad)
        with pytest.raises(ValueError, match="session id"):
            sessions.get(bad)  # type: ignore[arg-type]
