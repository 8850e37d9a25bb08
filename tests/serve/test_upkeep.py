"""Tests of the maintenance of stored projects while the server runs."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from pathlib import Path

import pytest

from hetviz import cli
from hetviz.errors import HetvizError
from hetviz.serve import upkeep
from hetviz.serve.people import People
from hetviz.serve.records import Audit, project_hash
from hetviz.workspace import OpenSample, Sessions, SetTitle
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.files import JOURNAL, new_session_id
from hetviz.workspace.store.journal import Journal
from tests.browser.harness import ROOT
from tests.workspace.helpers import add_all, run_random_steps

Made = tuple[Path, Sessions, str]


@pytest.fixture
def stored_project(tmp_path: Path) -> Made:
    """Give a home with one open project of three titles."""
    home = tmp_path / "home"
    sessions, sid = Sessions(home / "sessions"), new_session_id()
    for k in range(3):
        sessions.get(sid).do(SetTitle(f"Title {k}"))
    sessions.get(sid).blobs.put(b"unnamed")
    return home, sessions, sid


def test_list_hides_keys(stored_project: Made, capsys: pytest.CaptureFixture[str]) -> None:
    home, _, sid = stored_project
    (result,) = upkeep.list_projects(home)
    assert (result.title, result.steps, result.format, result.id) == ("Title 2", 3, 1, sid)
    assert cli.main(["admin", "list", "--home", str(home), "--json"]) == 0
    messages = capsys.readouterr().out
    assert sid not in messages and project_hash(sid) in messages
    assert cli.main(["admin", "list", "--home", str(home), "--keys"]) == 0
    assert sid in capsys.readouterr().out
    assert (
        upkeep.find_project(home, project_hash(sid)).name
        == upkeep.find_project(home, sid).name
        == sid
    )
    with pytest.raises(HetvizError, match="no project"):
        upkeep.find_project(home, "nothing")


def test_backup_of_running_server_is_complete(stored_project: Made, tmp_path: Path) -> None:
    home, sessions, sid = stored_project
    done: list[int] = []
    stop = threading.Event()

    def work() -> None:
        k = 0
        while not stop.is_set():
            sessions.get(sid).do(SetTitle(f"While {k}"))
            done.append(k)
            k += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for n in range(3):
            while len(done) < 5 * (n + 1):
                time.sleep(0.01)
            before = len(done)
            about = upkeep.back_up(home, tmp_path / f"backup-{n}")
            assert about["projects"] == 1 and about["steps"] >= 3 + before
            other = tmp_path / f"other-{n}"
            assert upkeep.restore(tmp_path / f"backup-{n}", other)["restored"] == 1
            restored = Sessions(other / "sessions")
            assert len(restored.get(sid).log) >= 3 + before
            assert not restored.get(sid).pop_notes()
            restored.close()
    finally:
        stop.set()
        thread.join()
        sessions.close()


def test_backup_has_people_and_audit_log(stored_project: Made, tmp_path: Path) -> None:
    home, _, sid = stored_project
    people = People(home)
    people.set_owner("ada", sid)
    Audit(home).note("begin", "ada", sid)
    upkeep.back_up(home, tmp_path / "backup")
    upkeep.restore(tmp_path / "backup", tmp_path / "other")
    assert People(tmp_path / "other").permission("ada", sid) == "own"
    people.close()
    for folder in ("backup", "other"):
        assert Audit(tmp_path / folder).lines()[0]["event"] == "begin"


def test_backup_names_a_damaged_project_and_keeps_it(
    stored_project: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, sessions, sid = stored_project
    sessions.close()
    journal = home / "sessions" / sid / JOURNAL
    journal.write_bytes(b"\0" * 500)
    backup = tmp_path / "backup"
    assert cli.main(["admin", "back-up", str(backup), "--home", str(home)]) == 1
    printed = capsys.readouterr()
    assert f"with damage: {project_hash(sid)}" in printed.out
    assert f"verify --home {backup}" in printed.err
    assert (backup / "sessions" / sid / JOURNAL).read_bytes() == b"\0" * 500
    assert upkeep.list_projects(home)[0].format is None


def test_list_has_headings_and_owners(
    stored_project: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    home, _, sid = stored_project
    assert upkeep.list_projects(home)[0].owner == ""
    people = People(home)
    people.set_owner("https://provider|ada", sid)
    people.close()
    assert cli.main(["admin", "list", "--home", str(home)]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == [
        *("project", "title", "steps", "megabytes", "touched", "format", "owner"),
    ]
    assert line.startswith(project_hash(sid)) and line.endswith("https://provider|ada")
    assert line.index("Title 2") == head.index("title")


def test_verify_finds_damage(stored_project: Made, capsys: pytest.CaptureFixture[str]) -> None:
    home, sessions, sid = stored_project
    command = ["admin", "verify", "--home", str(home)]
    # While the project is open, and with a file that is being written.
    folder = home / "sessions" / sid
    (folder / "blobs" / "tmpq1").write_bytes(b"half")
    assert cli.main(command) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == "none" and printed.err == "Read 1 project, 0 with damage.\n"
    key = sessions.get(sid).blobs.put(b"content of a file")
    sessions.close()
    (folder / "blobs" / key).write_bytes(b"something else")
    with (folder / JOURNAL).open("ab") as file:
        file.write(b"no entry\n")
    assert cli.main(command) == 1
    printed = capsys.readouterr().out
    assert project_hash(sid) in printed and sid not in printed
    assert f"the file {key[:12]} is damaged" in printed and "line 5 of the log" in printed
    (folder / JOURNAL).write_bytes(b"\0" * 100)
    assert "damaged" in str(upkeep.verify(home)[0][0]["damage"])


def test_verify_finds_missing_files(tmp_path: Path) -> None:
    sessions, sid = Sessions(tmp_path / "sessions"), new_session_id()
    workspace = sessions.get(sid)
    workspace.do(add_all(workspace.blobs, fresh=True))
    run_random_steps(workspace, "record", 1)
    sessions.close()
    assert upkeep.verify(tmp_path) == ([], 1)
    blobs = list((tmp_path / "sessions" / sid / "blobs").iterdir())
    for path in blobs:
        path.unlink()
    (problem,) = upkeep.verify(tmp_path)[0]
    assert str(problem["damage"]).count("is missing") == len(blobs) >= 3


def test_fields_that_name_files_are_known() -> None:
    sources = (ROOT / "hetviz" / "workspace" / "commands").glob("*.py")
    text = " ".join(path.read_text("utf-8") for path in sources)
    used = set(re.findall(r"blobs\.get\(self\.(\w+)\)", text))
    assert {"blob", "map", "content"} <= used <= set(upkeep._FILE_FIELDS)
    earlier = ROOT / "tests" / "fixtures" / "before_rooms" / "journal.json"
    for entries in json.loads(earlier.read_text("utf-8")).values():
        for entry in entries:
            keys = set(re.findall(r'"(\w+)": "[0-9a-f]{64}"', json.dumps(entry)))
            assert keys <= {*upkeep._FILE_FIELDS, "fingerprint", "container", "only"}, entry


def test_restore_rejects_damaged_backup(stored_project: Made, tmp_path: Path) -> None:
    home, sessions, sid = stored_project
    backup = tmp_path / "backup"
    key = sessions.get(sid).blobs.put(b"content of a file")
    whole = new_session_id()
    sessions.get(whole).do(SetTitle("Whole"))
    # A line that names it, as uploads do.
    journal = home / "sessions" / sid / JOURNAL
    sessions.close()
    with journal.open("ab") as file:
        file.write(json.dumps({"op": "open-bundle", "blob": key}).encode() + b"\n")
    upkeep.back_up(home, backup)
    with pytest.raises(HetvizError, match="not empty"):
        upkeep.back_up(home, backup)
    (backup / "sessions" / sid / "blobs" / key).write_bytes(b"something else")
    with pytest.raises(HetvizError, match=r"is damaged: [0-9a-f]{12}\. 1 project restored"):
        upkeep.restore(backup, tmp_path / "other")
    assert [project.id for project in upkeep.list_projects(tmp_path / "other")] == [whole]
    assert not list((tmp_path / "other" / "sessions").glob(".*"))
    (backup / "backup.json").unlink()
    with pytest.raises(HetvizError, match="not a complete backup"):
        upkeep.restore(backup, tmp_path / "other")
    # What is there is never put back over.
    upkeep.back_up(home, tmp_path / "second")
    assert upkeep.restore(tmp_path / "second", home) == {"restored": 0, "already there": 2}


def age(folder: Path, days: int) -> None:
    """Set the time of all files of a project."""
    then = time.time() - days * 86_400 - 60
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (then, then))


def test_prune_asks_and_leaves_open_projects(
    stored_project: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    home, sessions, sid = stored_project
    folder, command = home / "sessions" / sid, ["admin", "prune", "--home", str(home)]
    people = People(home)
    people.set_owner("ada", sid)
    age(folder, 90)
    assert upkeep.prune(home, days=30) == []
    assert not upkeep.remove_project(folder)
    sessions.close()
    assert cli.main([*command, "--days", "-1", "--yes"]) == 1
    assert "at least 0" in capsys.readouterr().err
    assert cli.main([*command, "--days", "91"]) == 0
    assert "not opened" not in capsys.readouterr().out
    # Without --yes it only lists.
    assert cli.main([*command, "--days", "30"]) == 0
    printed = capsys.readouterr()
    head, line = printed.out.splitlines()
    assert head.split() == ["project", "title", "reason", "days", "megabytes"]
    assert line.split()[:1] == [project_hash(sid)] and "not opened for 30 days" in line
    assert (
        "90" in line.split() and "Nothing was removed" in printed.err and "1 line (" in printed.err
    )
    assert folder.is_dir() and people.owners() == {sid: "ada"}
    # Reading it was no use of it.
    assert [removal.days for removal in upkeep.prune(home, 30, dry_run=True)] == [90]
    assert cli.main([*command, "--days", "30", "--yes"]) == 0
    assert not folder.exists() and people.owners() == {}
    assert [event["event"] for event in Audit(home).lines()] == ["delete-project"]
    people.close()


def test_prune_removes_files_without_a_step(stored_project: Made) -> None:
    home, sessions, sid = stored_project
    folder, workspace = home / "sessions" / sid, sessions.get(sid)
    named, cut = (workspace.blobs.put(content) for content in (b"named", b"cut"))
    workspace.do(SetTitle(named))
    sessions.close()
    (folder / f"{JOURNAL}.1.cut").write_text(f'{{"blob": "{cut}')
    age(folder, 3)
    new = BlobStore(folder / "blobs").put(b"of an upload that goes on")
    (removal,) = upkeep.prune(home, dry_run=True)
    assert removal.reason == "1 file without a step"
    assert len(list((folder / "blobs").iterdir())) == 4
    assert upkeep.prune(home) == [removal]
    assert {path.name for path in (folder / "blobs").iterdir()} == {named, cut, new}
    assert upkeep.prune(home) == []


def test_prune_removes_empty_projects_and_unfinished_restores(stored_project: Made) -> None:
    home, sessions, sid = stored_project
    opened, begun = new_session_id(), new_session_id()
    sessions.get(opened).do(OpenSample("emoji"))
    sessions.close()
    root = home / "sessions"
    for folder, days in ((root / opened, 31), (root / begun, 2), (root / ".restoring-a", 2)):
        folder.mkdir(exist_ok=True)
        age(folder, days)
    (root / "a folder of the operator").mkdir()
    age(root / "a folder of the operator", 99)
    reasons = {removal.reason for removal in upkeep.prune(home)}
    assert reasons == {"only opened a sample", "empty", "unfinished restore"}
    assert {path.name for path in root.iterdir()} == {sid, "a folder of the operator"}


def test_restore_keeps_times_and_refuses_unknown_names(
    stored_project: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, sessions, sid = stored_project
    sessions.close()
    age(home / "sessions" / sid, 50)
    backup, other = tmp_path / "backup", tmp_path / "other"
    upkeep.back_up(home, backup)
    assert cli.main(["admin", "restore", str(backup), "nothing", "--home", str(other)]) == 1
    assert "no project 'nothing'" in capsys.readouterr().err
    command = ["admin", "restore", str(backup), project_hash(sid), "--home", str(other)]
    assert cli.main(command) == 0
    assert capsys.readouterr().out == "restored: 1\nalready there: 0\n"
    assert upkeep.list_projects(other)[0].touched == upkeep.list_projects(home)[0].touched


def test_admin_refuses_a_missing_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing, backup = tmp_path / "missing", tmp_path / "backup"
    assert cli.main(["admin", "back-up", str(backup), "--home", str(missing)]) == 1
    assert "There is no folder" in capsys.readouterr().err
    assert not backup.exists()
    monkeypatch.setattr("hetviz.cli.operate.os.geteuid", lambda: -1)
    assert cli.main(["admin", "list", "--home", str(tmp_path)]) == 0
    assert "belongs to another user" in capsys.readouterr().err


def test_list_shows_titles_without_terminal_escapes(
    stored_project: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    home, sessions, sid = stored_project
    sessions.get(sid).do(SetTitle("Müll\x1b[31m"))
    assert cli.main(["admin", "list", "--home", str(home)]) == 0
    assert "Müll\\x1b[31m" in capsys.readouterr().out


def test_migrate_counts_states(stored_project: Made) -> None:
    home, _, _ = stored_project
    later = home / "sessions" / new_session_id()
    later.mkdir()
    (later / JOURNAL).write_bytes(b'{"format": 99}\n')
    messages = upkeep.migrate(home)
    assert messages["current"] == 1 and messages["unreadable"] == 1
    assert Journal(later / JOURNAL.replace("journal", "new")).lines == []


def test_admin_revoke_and_give(stored_project: Made, capsys: pytest.CaptureFixture[str]) -> None:
    home, _, sid = stored_project
    people = People(home)
    people.set_owner("ada", sid)
    people.accept_link("bob", people.create_link("ada", sid, "edit"))
    here = ["--home", str(home)]
    assert cli.main(["admin", "revoke", project_hash(sid), *here]) == 0
    assert people.permission("bob", sid) is None
    assert cli.main(["admin", "give", project_hash(sid), "bob", *here]) == 0
    assert (people.permission("bob", sid), people.permission("ada", sid)) == ("own", None)
    people.close()
    assert [line["event"] for line in Audit(home).lines()] == ["revoke", "give"]
    assert cli.main(["admin", "revoke", *here]) == 1
    assert "takes 1 to 1 names" in capsys.readouterr().err


def test_admin_delete_needs_closed_project(
    stored_project: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    home, sessions, sid = stored_project
    people = People(home)
    people.set_owner("ada", sid)
    command = ["admin", "delete", project_hash(sid), "--home", str(home)]
    assert cli.main(command) == 1
    assert "open in a running app" in capsys.readouterr().err
    assert people.permission("ada", sid) == "own"
    sessions.close()
    assert cli.main(command) == 0
    assert not (home / "sessions" / sid).exists()
    assert people.permission("ada", sid) is None
    people.close()
    assert [line["event"] for line in Audit(home).lines()] == ["delete-project"]
    assert cli.main(command) == 1
    assert "no project" in capsys.readouterr().err


def test_admin_delete_creates_no_people_file(stored_project: Made) -> None:
    home, sessions, sid = stored_project
    sessions.close()
    assert cli.main(["admin", "delete", sid, "--home", str(home)]) == 0
    assert {path.name for path in home.iterdir()} == {"sessions", "audit.jsonl"}


def test_costs_by_person(stored_project: Made, capsys: pytest.CaptureFixture[str]) -> None:
    home, _, sid = stored_project
    audit = Audit(home)
    for person, seconds in (("ada", 2.0), ("bob", 5.0), ("ada", 1.5), ("", 0.5)):
        audit.note("job", person, sid, processor_s=seconds)
    assert cli.main(["admin", "costs", "--home", str(home), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [(entry["who"], entry["jobs"], entry["processor_s"]) for entry in record] == [
        ("bob", 1, 5.0),
        ("ada", 2, 3.5),
        (f"project {project_hash(sid)}", 1, 0.5),
    ]
