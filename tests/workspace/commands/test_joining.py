"""Tests of join commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from hetviz.data import Dataset, HeteroData, Links
from hetviz.data.joins.join import Join
from hetviz.errors import DataError
from hetviz.workspace import (
    AddTables,
    Command,
    JoinTables,
    LeaveLinks,
    LeaveUnlinked,
    OpenSample,
    SetEntity,
    State,
    Workspace,
    from_dict,
)
from hetviz.workspace.commands.joining import LinkByKey, LinkByList, LinkByNearness
from hetviz.workspace.store.blobs import BlobStore
from tests.workspace.helpers import opened


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


def test_set_entity_and_undo(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    workspace.do(OpenSample("digit-views"))
    tied = workspace.state.opened()
    alone = workspace.do(from_dict(SetEntity("fourier", "fourier").to_dict())).opened()
    others = {*tied["pixels"].ids, *tied["shape"].ids}
    assert alone.n_objects == tied.n_objects + sum(text in others for text in tied["fourier"].ids)
    assert alone.n_objects > tied.n_objects
    again = workspace.do(SetEntity("fourier", "digit")).opened()
    assert again.views("digit") == ("pixels", "fourier", "shape")
    assert again.fingerprint() == tied.fingerprint()
    assert workspace.undo().opened().fingerprint() == alone.fingerprint()


def test_set_entity_changes_held_out(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    workspace.do(OpenSample("digits"))
    held_out = workspace.do(SetEntity("fourier", "pixels")).held_out
    assert held_out is not None
    assert held_out.views("pixels") == ("pixels", "fourier")


def test_link_by_key_replay(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    workspace.do(OpenSample("digits"))
    workspace.do(LinkByKey("pixels", "digit", "shape", "digit", "same digit"))
    links = workspace.state.opened().links[-1]
    assert (len(links), links.kind, links.role) == (10 * 70 * 70, "same digit", "relation")
    again = Workspace.replay(workspace.log, blobs)
    assert again.state.opened().fingerprint() == workspace.state.opened().fingerprint()


def test_link_by_list_and_nearness_replay(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    workspace.do(OpenSample("world"))
    before = workspace.state.opened()
    command = LinkByList("films", "main_language", "spoken", "", "spoken", make=True)
    created = workspace.do(from_dict(command.to_dict())).opened()
    assert created["spoken"].is_featureless
    assert (created.links[-1].target, created.links[-1].kind) == ("spoken", "spoken")
    expected = LinkByList("films", "main_language", "languages", "", "by code", weight="same")
    assert len(workspace.do(expected).opened().links[-1]) > 1_000
    again = Workspace.replay(workspace.log, blobs)
    assert again.state.opened().fingerprint() == workspace.state.opened().fingerprint()
    with pytest.raises(DataError, match="linked already"):
        workspace.do(expected)
    workspace.undo()
    assert workspace.undo().opened().fingerprint() == before.fingerprint()


@pytest.mark.parametrize(
    "command",
    [
        LinkByList("plants", "no column", "birds", "", "x"),
        LinkByList("plants", "no column", "tags", "", "x", make=True),
        LinkByNearness("plants", "birds"),
        LinkByKey("plants", "", "birds", "", "same id"),
        LinkByKey("plants", "no column", "birds", "", "x"),
        LinkByKey("plants", "", "plants", "", "x"),
        LinkByKey("plants", "", "birds", "", " "),
        SetEntity("nothing", "plants"),
        SetEntity("plants", " "),
    ],
)
def test_join_error_changes_nothing(blobs: BlobStore, command: Command) -> None:
    workspace = opened(blobs)
    before = workspace.state
    with pytest.raises(DataError):
        workspace.do(command)
    assert workspace.state is before


def test_join_tables_and_undo(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    people = b"id,name,age\n" + b"".join(b"p%d,Person %d,%d\n" % (k, k, 20 + k) for k in range(9))
    games = b"player,goals,kind\n" + b"".join(
        b"p%d,%d,%s\n" % (k % 9, k % 4, b"cup" if k % 2 else b"league") for k in range(90)
    )
    files = {"people.csv": people, "games.csv": games}
    retained = {name: workspace.blobs.put(text) for name, text in files.items()}
    before = workspace.do(AddTables(retained, fresh=True)).opened().fingerprint()
    join = Join("key", "games", "people", "player")
    state = workspace.do(JoinTables([join.to_dict()], {"games": "summary"}))
    assert list(state.opened().datasets) == ["people"]
    assert [info.dataset for info in state.understood] == ["people"]
    assert "games: mean goals" in {column.name for column in state.understood[0].columns}
    workspace.undo()
    assert workspace.state.opened().fingerprint() == before
    titled = workspace.do(JoinTables([join.to_dict()]))
    assert titled.opened()["games"].titles[0] == "Person 0"
    with pytest.raises(DataError, match="join tables"):
        workspace.do(JoinTables([{"kind": "key", "colour": "red"}]))


def test_leave_unlinked_and_undo(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    films, makers = Dataset("films", list("abcde")), Dataset("makers", ["x", "y"])
    data = HeteroData([films, makers], [Links("films", "makers", [0, 2, 4], [0, 1, 1])])
    workspace.state = State(data=data)
    after = workspace.do(LeaveUnlinked("films")).opened()
    assert after["films"].ids.tolist() == ["a", "c", "e"]
    assert after.links[0].i.tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="all of its items are linked"):
        workspace.do(LeaveUnlinked("films"))
    assert len(workspace.undo().opened()["films"]) == 5


def test_leave_links_and_undo(blobs: BlobStore) -> None:
    workspace = Workspace(blobs)
    films, makers = Dataset("films", list("abcde")), Dataset("makers", ["x", "y"])
    links = [
        Links("films", "makers", [0, 2, 4], [0, 1, 1], [1.0, 0.5, 0.2]),
        Links("makers", "makers", [0], [1], kind="same house"),
        Links("films", "films", [1], [0], kind="sequel"),
    ]
    workspace.state = State(data=HeteroData([films, makers], links))
    after = workspace.do(LeaveLinks("makers", "y")).opened()
    assert [(link.kind, link.i.tolist(), link.weight.tolist()) for link in after.links] == [
        ("link", [0], [1.0]),
        ("sequel", [1], [1.0]),
    ]
    # The rows of two datasets are counted each from 0.
    assert after["makers"].ids.tolist() == ["x", "y"]
    for dataset, id in (("makers", "y"), ("makers", "z"), ("books", "y")):
        with pytest.raises(DataError):
            workspace.do(LeaveLinks(dataset, id))
    assert sum(map(len, workspace.undo().opened().links)) == 5
