"""Tests of project files: round trip, damaged and hostile files."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import stat
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hetviz
from hetviz.cli import main
from hetviz.errors import DataError, HetvizError
from hetviz.io import limits
from hetviz.io.intake import child, parse
from hetviz.runs.cluster.codes import pack_codes
from hetviz.workspace import (
    AddTables,
    RenameCluster,
    Sessions,
    SetClusters,
    SetTitle,
    StartJob,
    Workspace,
    is_project,
    open_project,
    project_file,
    save_project,
    summarize,
)
from hetviz.workspace.project_file import BLOBS, JOURNAL, MANIFEST, VIEW_STATE
from hetviz.workspace.sessions import new_session_id, remove_unused_sessions
from hetviz.workspace.store import content as content_of_projects
from tests.depth import examples
from tests.io.file_builders import npz, packed, unpacked, workbook
from tests.workspace.helpers import STEPS, add_all, run_random_steps, state_essence, try_command

NUMBER = itertools.count()
ROOT = Path(__file__).resolve().parents[2]
Members = dict[str, bytes]


def example_project(sessions: Sessions) -> tuple[str, Workspace]:
    """A project with files, two maps, clusters, a step undone, and a selection."""
    sid = new_session_id()
    workspace = sessions.get(sid)
    workspace.do(add_all(workspace.blobs, fresh=True))
    run_random_steps(workspace, "record", 1)
    run_random_steps(workspace, "record a part", 2)
    codes = workspace.blobs.put(pack_codes(np.array([0, 0, 1, 1, 0, 1, -1])))
    workspace.do(SetClusters(codes, ["large", "small"], run="1"))
    workspace.do(RenameCluster(1, "</script><script>alert(1)</script>"))
    workspace.do(SetTitle("<b>Woods</b> ☃"))
    workspace.do(SetTitle("Gone again"))
    workspace.undo()
    workspace.set_view_state(
        selection=[0, 3], groups={"A": [1], "B": [4, 5]}, camera={"x": [0, 1], "y": [-1, 2]}
    )
    return sid, workspace


def everything(workspace: Workspace) -> tuple[Any, ...]:
    """What must come back."""
    result, glance = workspace.state.clustering, workspace.view_state
    return (
        state_essence(workspace),
        None if result is None else (result.names, result.of(workspace.state.opened()).tolist()),
        glance.selection.tolist(),
        glance.camera,
        {name: rows.tolist() for name, rows in glance.groups.items()},
        json.loads(json.dumps(workspace.log)),
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    sessions = Sessions(tmp_path_factory.mktemp("saved"))
    _, workspace = example_project(sessions)
    content = save_project(workspace)
    sessions.close()
    return content


def with_members(members: Members, **about: Any) -> bytes:
    """Members as a project file whose manifest fits them, as only somebody on purpose makes it."""
    record = {**json.loads(members[MANIFEST]), **about}
    record["members"] = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in members.items()
        if name != MANIFEST
    }
    del record["check"]
    plain = json.dumps(record, sort_keys=True).encode()
    record["check"] = hashlib.sha256(plain).hexdigest()
    return packed([*{**members, MANIFEST: json.dumps(record).encode()}.items()])


def with_log(saved: bytes, *entries: Any) -> bytes:
    """The file with more lines in its journal."""
    members = unpacked(saved)
    lines = b"".join(
        (entry if isinstance(entry, bytes) else json.dumps(entry).encode()) + b"\n"
        for entry in entries
    )
    return with_members({**members, JOURNAL: members[JOURNAL] + lines})


def assert_refused(content: bytes, folder: Path, name: str = "mine.hetviz") -> set[str]:
    """Try to open; nothing may be left. Return the codes."""
    sessions = Sessions(folder)
    with pytest.raises(DataError) as messages:
        open_project(content, name, sessions)
    assert not folder.exists() or list(folder.iterdir()) == []
    assert all(name in problem.where for problem in messages.value.problems)
    return {problem.code for problem in messages.value.problems}


def test_project_round_trip(tmp_path: Path) -> None:
    here, present = Sessions(tmp_path / "here"), Sessions(tmp_path / "there")
    sid, workspace = example_project(here)
    content = save_project(workspace)
    assert sid.encode() not in b"".join(unpacked(content).values()), "an id gives access"
    again = present.get(open_project(content, "mine.hetviz", present))
    assert again.notes == []
    assert everything(again) == everything(workspace)
    # All of the history is there, one step after the other, back and forth.
    while workspace.steps:
        assert workspace.undo_name == again.undo_name
        workspace.undo()
        again.undo()
        assert state_essence(again) == state_essence(workspace)
    while workspace.redo_name is not None:
        workspace.redo()
        again.redo()
    assert everything(again)[:2] == everything(workspace)[:2]
    # New steps are saved as usual.
    again.do(SetTitle("Onwards"))
    before = everything(again)
    present.close()
    (folder,) = (tmp_path / "there").iterdir()
    assert everything(Sessions(tmp_path / "there").get(folder.name)) == before


@given(steps=STEPS)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_project_round_trip(steps: list[Any], tmp_path: Path) -> None:
    folder = tmp_path / str(next(NUMBER))
    sessions = Sessions(folder)
    workspace = sessions.get(new_session_id())
    workspace.do(add_all(workspace.blobs, fresh=True))
    for number, step in enumerate(steps):
        try_command(workspace, step, number)
    again = sessions.get(open_project(save_project(workspace), "a.hetviz", sessions))
    expected, result = state_essence(workspace), state_essence(again)
    pending = workspace.state.pending
    if pending is not None and pending.outcome is None:
        now = again.state.pending
        assert now is not None
        assert (now.job, now.outcome) == (pending.job, "interrupted")
        assert "saved as a file" in now.message
        at = expected.index(pending)
        expected, result = (entry[:at] + entry[at + 1 :] for entry in (expected, result))
    assert result == expected
    sessions.close()


def test_project_opens_next_to_original(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    sid, workspace = example_project(sessions)
    other = open_project(save_project(workspace), "a.hetviz", sessions)
    third = open_project(save_project(workspace), "a.hetviz", sessions)
    assert len({sid, other, third}) == 3
    sessions.get(other).do(SetTitle("Elsewhere"))
    assert workspace.state.title == sessions.get(third).state.title == "<b>Woods</b> ☃"
    sessions.close()
    assert Sessions(tmp_path).get(other).state.title == "Elsewhere"


def test_load_reads_project_file(saved: bytes, tmp_path: Path) -> None:
    path = tmp_path / "mine.hetviz"
    path.write_bytes(saved)
    data = hetviz.load(path)
    assert {name: len(part) for name, part in data.datasets.items()} == {"plants": 4, "birds": 3}
    assert sum(map(len, data.links)) == 2


def test_unused_blobs_are_left_out(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    _, workspace = example_project(sessions)
    stray = workspace.blobs.put(b"uploaded and never opened")
    names = unpacked(save_project(workspace)).keys()
    assert f"{BLOBS}{stray}" not in names
    assert sum(name.startswith(BLOBS) for name in names) == 3 + 2 + 1


def test_lost_step_stays_lost(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    sid, workspace = example_project(sessions)
    entry = next(entry_list for entry_list in workspace.log if entry_list["op"] == "set-clusters")
    sessions.close()
    (tmp_path / sid / "blobs" / entry["codes"]).write_bytes(b"damaged")
    workspace = sessions.get(sid)
    assert len(workspace.pop_notes()) == 2, "the clusters, and their new name"
    again = sessions.get(open_project(save_project(workspace), "a.hetviz", sessions))
    assert everything(again) == everything(workspace)
    # A damaged blob is reported when the project is saved.
    key = next(entry_list for entry_list in workspace.log if entry_list["op"] == "record-map")[
        "map"
    ]
    (tmp_path / sid / "blobs" / key).write_bytes(b"damaged")
    with pytest.raises(DataError, match="damaged"):
        save_project(workspace)


def test_cut_file_is_error(saved: bytes, tmp_path: Path) -> None:
    rng = random.Random(0)
    cuts = {0, 1, 29, 30, len(saved) - 1, len(saved) - 22}
    for cut in sorted(cuts | {rng.randrange(len(saved)) for _ in range(150)}):
        codes = assert_refused(saved[:cut], tmp_path / "sessions")
        if cut > 60:
            # It is known for what it was meant to be.
            assert is_project("mine.hetviz", saved[:cut])
            assert codes == {"damaged-project"}


def test_changed_member_is_error(saved: bytes, tmp_path: Path) -> None:
    members = unpacked(saved)
    rng = random.Random(1)
    for name, content in members.items():
        at = rng.randrange(len(content))
        changed = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        codes = assert_refused(packed({**members, name: changed}.items()), tmp_path / "sessions")
        expected = {"damaged-project", "later-format"} if name == MANIFEST else {"changed-member"}
        assert codes <= expected, name
        gone = packed((other, members[other]) for other in members if other != name)
        expected = {"not-a-project"} if name == MANIFEST else {"missing-member"}
        assert assert_refused(gone, tmp_path / "sessions") == expected


@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_flipped_bit_is_error_or_harmless(
    saved: bytes, share: float, bit: int, tmp_path: Path
) -> None:
    at = int(share * len(saved))
    changed = saved[:at] + bytes([saved[at] ^ (1 << bit)]) + saved[at + 1 :]
    folder = tmp_path / str(next(NUMBER))
    sessions = Sessions(folder)
    try:
        sid = open_project(changed, "a.hetviz", sessions)
    except HetvizError:
        assert not folder.exists() or list(folder.iterdir()) == []
        return
    log = [json.loads(line) for line in unpacked(saved)[JOURNAL].splitlines()[1:]]
    assert sessions.get(sid).log == log
    sessions.close()


def _later(members: Members) -> bytes:
    about = json.loads(members[MANIFEST]) | {"format": 2, "hetviz": "9.1"}
    return packed({**members, MANIFEST: json.dumps(about).encode()}.items())


def _linked(members: Members) -> bytes:
    link = zipfile.ZipInfo("project/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    return packed([*members.items(), (link, b"/etc/passwd")])


def _first_blob(members: Members) -> str:
    return next(name for name in members if name.startswith(BLOBS))


def _other_name(members: Members) -> bytes:
    old = _first_blob(members)
    moved = {(BLOBS + "0" * 64 if name == old else name): x for name, x in members.items()}
    return with_members(moved)


def _without_blob(members: Members) -> bytes:
    return with_members({name: x for name, x in members.items() if name != _first_blob(members)})


FORGED: dict[str, tuple[Callable[[Members], bytes], str]] = {
    "later": (_later, "later-format"),
    "upwards": (lambda m: packed([*m.items(), ("../../x", b"x")]), "bad-name"),
    "absolute": (lambda m: packed([*m.items(), ("/etc/x", b"x")]), "bad-name"),
    "link": (_linked, "link"),
    "bomb": (lambda m: packed([*m.items(), ("zeros", bytes(60_000_000))]), "zip-bomb"),
    "blob by another name": (_other_name, "changed-member"),
    "blob that is not there": (_without_blob, "bad-step"),
    "journal of another format": (
        lambda m: with_members(
            {**m, JOURNAL: m[JOURNAL].replace(b'"format": 1', b'"format": 7', 1)}
        ),
        "later-format",
    ),
    "journal cut": (lambda m: with_members({**m, JOURNAL: m[JOURNAL][:-1]}), "bad-journal"),
    "empty journal": (lambda m: with_members({**m, JOURNAL: b""}), "bad-journal"),
    "no selection": (lambda m: with_members({**m, VIEW_STATE: b"[" * 100_000}), "damaged-content"),
    "no list": (lambda m: packed({**m, MANIFEST: b"[]"}.items()), "damaged-project"),
    "deep list": (lambda m: packed({**m, MANIFEST: b"[" * 99_999}.items()), "damaged-project"),
}


@pytest.mark.parametrize("kind", FORGED)
def test_hostile_files_are_errors(kind: str, saved: bytes, tmp_path: Path) -> None:
    make, code = FORGED[kind]
    folder = tmp_path / "sessions"
    sessions = Sessions(folder)
    with pytest.raises(DataError) as messages:
        open_project(make(unpacked(saved)), "mine.hetviz", sessions)
    assert code in {problem.code for problem in messages.value.problems}
    assert not folder.exists() or list(folder.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] in ([], ["sessions"])


STEPS_TO_HARM: list[tuple[Any, str]] = [
    (b"no JSON", "bad-journal"),
    (b"[1]", "bad-journal"),
    (b"[" * 100_000, "bad-journal"),
    ({"op": ["set-title"]}, "bad-journal"),
    ({"op": "from-the-future", "at": ""}, "unknown-operation"),
    ({"op": "lost"}, "bad-step"),
    ({"op": "set-title", "name": "x"}, "unknown-operation"),
    ({"op": "set-title", "title": 5}, "bad-step"),
    ({"op": "redo"}, "bad-step"),
    ({"op": "open-sample", "name": "../../etc"}, "bad-step"),
    ({"op": "open-bundle", "blob": "../" * 20, "filename": "x.zip"}, "bad-step"),
    ({"op": "open-bundle", "blob": "0" * 64, "filename": "x.zip"}, "bad-step"),
    ({"op": "add-tables", "files": ["x"]}, "bad-step"),
    ({"op": "add-tables", "files": {"x": "y"}, "choices": {"x": {"eval": 1}}}, "bad-step"),
    ({"op": "act", "steps": [{"op": "act", "steps": [5]}]}, "bad-step"),
]


@pytest.mark.parametrize(("entry", "code"), STEPS_TO_HARM)
def test_bad_steps_are_errors(entry: Any, code: str, saved: bytes, tmp_path: Path) -> None:
    content = with_log(saved, entry, {"op": "set-title", "title": "after", "at": ""})
    if entry == {"op": "redo"}:
        content = with_log(saved, entry, entry)
    assert assert_refused(content, tmp_path / "sessions") == {code}


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"PK",
        # Made by the test, because it takes a second.
        lambda: zlib.compress(bytes(50_000_000)),
        npz(c0=np.zeros((4, 2)), c1=np.zeros((3, 2))),
        npz(c0=np.zeros((4, 2)), c1=np.zeros((3, 3)), components=np.zeros(2, dtype=int)),
        npz(c0=np.zeros((4, 0)), c1=np.zeros((3, 0)), components=np.zeros(2, dtype=int)),
        npz(c0=np.full((4, 2), "x"), c1=np.zeros((3, 2)), components=np.zeros(2, dtype=int)),
        npz(c0=np.zeros((4, 2), dtype=complex), c1=np.zeros((3, 2)), components=np.zeros(2)),
        lambda: npz(c0=np.zeros((200_000, 200)), c1=np.zeros((3, 2)), components=np.zeros(2, int)),
        packed([("c0.npy", b"\x93NUMPY\x01\x00\xff\xff{"), ("components.npy", b"")]),
    ],
)
def test_bad_maps_are_errors(
    blob: bytes | Callable[[], bytes], saved: bytes, tmp_path: Path
) -> None:
    blob = blob() if callable(blob) else blob
    members = unpacked(saved)
    key = hashlib.sha256(blob).hexdigest()
    places = npz(c0=np.zeros((4, 2)), c1=np.zeros((3, 2)), components=np.zeros(2, dtype=int))
    good = hashlib.sha256(places).hexdigest()
    blobs = {f"{BLOBS}{key}": blob, f"{BLOBS}{good}": places}
    # As earlier versions recorded a map.
    earlier = {
        **{"op": "record-run", "method": "pca", "title": "PCA", "params": {}, "seed": 0},
        **{"hold_out": 0.0, "fingerprint": "", "coordinates": good, "figures": None},
    }
    assert open_project(
        with_members(
            {**members, **blobs, JOURNAL: members[JOURNAL] + json.dumps(earlier).encode() + b"\n"}
        ),
        "a.hetviz",
        Sessions(tmp_path / "earlier"),
    )
    entries = [{"op": "record-map", "map": key}]
    entries += [{**earlier, field: key} for field in ("coordinates", "figures", "only")]
    for entry in entries:
        line = json.dumps(entry).encode() + b"\n"
        content = with_members({**members, **blobs, JOURNAL: members[JOURNAL] + line})
        assert assert_refused(content, tmp_path / "sessions") == {"bad-step"}, entry


def test_bad_selection_is_error(saved: bytes, tmp_path: Path) -> None:
    members = unpacked(saved)
    other = Sessions(tmp_path / "other")
    workspace = other.get(new_session_id())
    many = "id,x\n" + "".join(f"{k},{k}\n" for k in range(50))
    workspace.do(AddTables({"many.csv": workspace.blobs.put(many.encode())}, fresh=True))
    workspace.set_view_state(selection=[49])
    theirs = json.loads(unpacked(save_project(workspace))[VIEW_STATE])
    ours = json.loads(members[VIEW_STATE])
    bad = json.dumps({**theirs, "fingerprint": ours["fingerprint"]}).encode()
    with pytest.raises(DataError):
        open_project(
            with_members({**members, VIEW_STATE: bad}), "a.hetviz", Sessions(tmp_path / "s")
        )
    assert list((tmp_path / "s").iterdir()) == []


def test_project_over_limit_is_error(
    saved: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_file, "MAX_BYTES", 300)
    assert assert_refused(saved, tmp_path / "sessions") == {"project-full"}


def test_slow_replay_is_error(
    saved: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_file, "MAX_REPLAY_S", -1.0)
    assert assert_refused(saved, tmp_path / "sessions") == {"too-slow"}


def test_too_large_project_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions(tmp_path)
    _, workspace = example_project(sessions)
    project = sum(name.startswith("project/") for name in unpacked(save_project(workspace)))
    # The data as a bundle are the first to stay behind.
    monkeypatch.setattr(limits, "MAX_MEMBERS", project + 1)
    content = save_project(workspace)
    assert "hetviz.toml" not in unpacked(content)
    assert everything(sessions.get(open_project(content, "a.hetviz", sessions))) == everything(
        workspace
    )
    path = tmp_path / "a.hetviz"
    path.write_bytes(content)
    with pytest.raises(DataError, match="Start page"):
        hetviz.load(path)
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 500)
    with pytest.raises(DataError, match="data with guidance"):
        save_project(workspace)


def test_files_are_read_in_isolation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, present = Sessions(tmp_path / "here"), Sessions(tmp_path / "there")
    workspace = here.get(new_session_id())
    book = workbook({"Trees": [["id", "x"], ["a", 1.5], ["b", 2]]})
    workspace.do(AddTables({"trees.xlsx": workspace.blobs.put(book)}, fresh=True))
    asked: list[str] = []
    real = child.load

    def counted(files: Any, *others: Any) -> None:
        asked.extend(name for name, _ in files)
        real(files, *others)

    # Who still held what was read would be given the same again.
    monkeypatch.setattr(content_of_projects, "_LOADED", WeakValueDictionary())
    monkeypatch.setattr(child, "load", counted)
    monkeypatch.setattr(parse, "parse_files", lambda *_: pytest.fail("read in this process"))
    again = present.get(open_project(save_project(workspace), "a.hetviz", present))
    assert asked == ["trees.xlsx"]
    assert state_essence(again) == state_essence(workspace)


@pytest.mark.usefixtures("reader_here")
def test_reopened_project_uses_read_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, rows = new_session_id(), range(20_000)
    table = "\n".join(["id,height,town", *(f"T{k},{k * 7 % 997}.5,{'abc'[k % 3]}" for k in rows)])
    assert len(table) > child.MAX_PREVIEW_BYTES_HERE
    sessions = Sessions(tmp_path)
    workspace = sessions.get(session)
    workspace.do(AddTables({"trees.csv": workspace.blobs.put(table.encode())}, fresh=True))
    before = state_essence(workspace)
    sessions.close()

    monkeypatch.setattr(content_of_projects, "_LOADED", WeakValueDictionary())
    monkeypatch.setattr(
        content_of_projects, "read_tables", lambda *_: pytest.fail("made in this process")
    )
    monkeypatch.setattr(child, "load", lambda *_: pytest.fail("made again"))
    again = Sessions(tmp_path).get(session)
    assert again is not workspace
    assert state_essence(again) == before
    assert again.state.data is not None and again.state.data["trees"].X is not None


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such limit")
@pytest.mark.parametrize("n_bytes", [10, 200, 1000])
def test_full_disk_leaves_no_session(n_bytes: int, saved: bytes, tmp_path: Path) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        with pytest.raises(HetvizError, match="This could not be saved: ") as refused:
            open_project(saved, "mine.hetviz", Sessions(tmp_path / "s"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [(one.code, one.where) for one in refused.value.problems] == [("no-room", "mine.hetviz")]
    assert list((tmp_path / "s").iterdir()) == []


def test_killed_opening_is_removed_after_day(saved: bytes, tmp_path: Path) -> None:
    begun = tmp_path / new_session_id()
    (begun / "blobs").mkdir(parents=True)
    (begun / "blobs" / "x").write_bytes(b"x")
    sessions = Sessions(tmp_path)
    sid = open_project(saved, "a.hetviz", sessions)
    sessions.close()
    now = time.time()
    assert remove_unused_sessions(tmp_path, now + 3_600) == 0
    assert remove_unused_sessions(tmp_path, now + 2 * 86_400) == 1
    assert [path.name for path in tmp_path.iterdir()] == [sid]


def test_different_features_are_reported(saved: bytes, tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    content = with_members(unpacked(saved), fingerprint="0" * 64)
    (note,) = sessions.get(open_project(content, "a.hetviz", sessions)).pop_notes()
    assert "slightly differently" in note


def test_is_project_uses_content(saved: bytes) -> None:
    assert is_project("holiday.png", saved)
    others = [(name, content) for name, content in unpacked(saved).items() if name != MANIFEST]
    again = packed([*others, (MANIFEST, unpacked(saved)[MANIFEST])])
    assert is_project("packed again", again)
    folder = packed((f"mine/{name}", content) for name, content in unpacked(saved).items())
    assert is_project("a folder of it, packed again", folder)
    for other in (b"", b"id,x\n1,2\n", packed([("hetviz.toml", b"")]), packed([])):
        assert not is_project("mine.hetviz", other)


def test_project_command_prints_summary(
    saved: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path / "home"))
    path = tmp_path / "mine.hetviz"
    path.write_bytes(saved)
    assert main(["project", str(path)]) == 0
    text = capsys.readouterr().out
    assert "4 plants, 3 birds" in text
    assert "Maps:         2" in text
    assert not (tmp_path / "home").exists()
    assert main(["project", str(path), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["title"], record["maps"], record["clusters"]) == ("<b>Woods</b> ☃", 2, 2)
    path.write_bytes(saved[:-100])
    assert main(["project", str(path)]) == 1
    assert "cut short or damaged" in capsys.readouterr().err
    path.unlink()
    assert main(["project", str(path)]) == 1


def test_project_command_opens(
    saved: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, home = tmp_path / "mine.hetviz", tmp_path / "home"
    path.write_bytes(saved)
    monkeypatch.setattr("hetviz.workspace.SESSIONS", Sessions(home / "sessions"))
    assert main(["project", str(path), "--open", "--json"]) == 0
    sid = json.loads(capsys.readouterr().out)["address"].removeprefix("/?s=")
    workspace = Sessions(home / "sessions").get(sid)
    assert summarize(workspace).maps == 2
    workspace.do(StartJob("j", "PCA"))
    workspace.close()
