"""Random kills of a server or its worker, with a check of the acknowledged steps."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hetviz.workspace import Sessions, State
from tests.browser.harness import ROOT, Server, serve, session_members
from tests.lasting.visitor import ServerGone, Visitor
from tests.waits import PATIENCE_S, wait_until

KILLED = ("save", "fit", "upload", "project")
SURVIVED = ("worker", "reload", "tabs")
KINDS = (*KILLED, *SURVIVED)
_NUMBERED = re.compile(r"(.*?)(\d+)")
# Seconds after its beginning in which something is killed.
_WITHIN = {
    "save": 1.2,
    "fit": 1.5,
    "upload": 3.0,
    "project": 6.0,
    "worker": 1.0,
    "reload": 0.5,
    "tabs": 1.0,
}


@dataclass
class Tally:
    """Faults and what became of what was acknowledged before them."""

    faults: int = 0
    acts: int = 0
    lost: int = 0

    def __str__(self) -> str:
        return f"{self.faults} faults, {self.acts} acknowledged acts, {self.lost} lost"


def table(n: int, seed: int, canary: str = "item") -> bytes:
    """Two columns of numbers for `n` items."""
    X = np.random.default_rng(seed).normal(size=(n, 2)).round(3)
    lines = [f"{canary}{k},{canary} {k},{a},{b}" for k, (a, b) in enumerate(X)]
    return ("id,name,size,weight\n" + "\n".join(lines) + "\n").encode()


@contextmanager
def running(home: Path, **env: str) -> Iterator[Server]:
    """Serve the app on what it kept in `home`."""
    log = home / "server.log"
    with serve(ROOT / "app.py", log, env={"HETVIZ_HOME": str(home), **env}) as server:
        yield server


def moments(home: Path, kind: str, n: int, seed: int = 0, standing: Server | None = None) -> Tally:
    """Do what `kind` says `n` times, each cut short at a random moment, in one project.

    Each time on a server of its own, or all on one that stands on `home`, which outlives `kind`.
    """
    rng, tally, sid = np.random.default_rng(seed), Tally(), ""
    for k in range(n):
        with running(home) if standing is None else nullcontext(standing) as server:
            wait = float(rng.uniform(0.0, _WITHIN[kind]))
            visitor = Visitor(server.url, sid=sid).come()
            sid = visitor.sid
            if kind == "project":
                # It loads what draws figures.
                visitor.go("export")
            if kind in SURVIVED:
                messages = _OUTLIVED[kind](server, visitor, wait, k)
            else:
                messages = _until_killed(kind, server, visitor, wait, k)
        # A project that was opened from a file is another one.
        sid = visitor.sid
        tally.faults += 1
        tally.acts += len(messages)
        state = acknowledged(home, sid) if standing is None else _acknowledged_so_far(home, sid)
        tally.lost += sum(not _has_steps(state, act) for act in messages[-1:])
        if kind == "project":
            # Whatever was opened is whole; what was on its way is no project.
            for journal in sorted((home / "sessions").glob("*/journal.jsonl")):
                acknowledged(home, journal.parent.name)
    return tally


def acknowledged(home: Path, sid: str) -> State:
    """Return the project as it is on the disk."""
    sessions = Sessions(home / "sessions")
    try:
        workspace = sessions.get(sid)
        assert workspace.notes == [], workspace.notes
        return workspace.state
    finally:
        sessions.close()


def _acknowledged_so_far(home: Path, sid: str) -> State:
    """Return the project as it would be found if its server ended now."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(home / "sessions" / sid, copy / "sessions" / sid)
        return acknowledged(copy, sid)


def _has_steps(state: State, act: str) -> bool:
    message, _, name = act.partition(" ")
    # The one after it may have been on its way.
    present = (name, _next_edit(name))
    if message == "title":
        return state.title in present
    return state.data is not None and any(entry in state.data.datasets for entry in present)


def _next_edit(name: str) -> str:
    head, number = _NUMBERED.fullmatch(name).groups()  # type: ignore[union-attr]
    return f"{head}{int(number) + 1}"


def _until_killed(kind: str, server: Server, visitor: Visitor, wait: float, k: int) -> list[str]:
    """Work until the server is killed; return what it had acknowledged."""
    messages: list[str] = []
    if kind == "fit":
        _map_upload(visitor, k)
        messages.append(f"data things{k}")
    killer = threading.Timer(wait, os.kill, (server.pid, signal.SIGKILL))
    killer.start()
    try:
        if kind == "fit":
            visitor.make_map()
        for number in range(10_000):
            if kind == "project":
                _as_a_file(visitor, f"round {k} edit {number}", messages)
            elif kind == "upload":
                _upload(visitor, f"up{k}x{number}", seed=number)
                messages.append(f"data up{k}x{number}")
            else:
                title = f"round {k} edit {number}"
                visitor.say("Project name", title)
                assert visitor.has(title)
                messages.append(f"title {title}")
    except (ServerGone, OSError):
        pass
    killer.join()
    assert wait_until(lambda: not session_members(server.pid)), "the worker outlived its server"
    return messages


def _map_upload(visitor: Visitor, k: int) -> None:
    visitor.go("home")
    visitor.upload({f"things{k}.csv": table(400, k)})
    visitor.press("Create map")
    visitor.wait("Undo new map")


def _upload(visitor: Visitor, name: str, seed: int) -> None:
    visitor.go("home")
    visitor.upload({f"{name}.csv": table(200, seed)})
    visitor.press("Create map")
    assert visitor.has(name)


def _as_a_file(visitor: Visitor, title: str, messages: list[str]) -> None:
    """Name the project, save it as a file, and go on in the one that the file opens as."""
    visitor.go("export")
    visitor.say("Project name", title)
    assert visitor.has(title)
    messages.append(f"title {title}")
    content = visitor.download("Project")
    visitor.go("home")
    visitor.upload({"saved.hetviz": content})
    visitor.wait("Opened ")
    assert visitor.has(title)


def _worker_killed(server: Server, visitor: Visitor, wait: float, k: int) -> list[str]:
    """Kill the worker in the middle of a fit: it is told, and another makes the next map."""
    _map_upload(visitor, k)
    visitor.make_map()
    time.sleep(wait)
    for pid in session_members(server.pid):
        if pid != server.pid:
            os.kill(pid, signal.SIGKILL)
    # By then it may have been ready.
    visitor.run()
    visitor.wait_until(lambda: not visitor.has("Cancel"), "no job", PATIENCE_S)
    visitor.say("Project name", f"after {k}")
    assert visitor.has(f"after {k}")
    visitor.make_map()
    visitor.wait("Undo new map")
    return [f"data things{k}", f"title after {k}"]


def _reloaded(server: Server, visitor: Visitor, wait: float, k: int) -> list[str]:
    """Leave in the middle of a fit; the map is there for who comes back."""
    _map_upload(visitor, k)
    visitor.make_map()
    time.sleep(wait)
    visitor.leave()
    again = Visitor(server.url, sid=visitor.sid).come()
    assert again.has(f"things{k}")
    again.wait("Undo new map")
    again.leave()
    return [f"data things{k}"]


def _two_tabs(server: Server, visitor: Visitor, wait: float, k: int) -> list[str]:
    """Two tabs of one project say things in turn; each sees what the other said."""
    other, messages = Visitor(server.url, sid=visitor.sid).come(), []
    end = time.monotonic() + wait
    number = 0
    while time.monotonic() < end or number < 2:
        tab = (visitor, other)[number % 2]
        tab.run()
        title = f"tabs {k} edit {number}"
        tab.say("Project name", title)
        messages.append(f"title {title}")
        number += 1
    for tab in (visitor, other):
        tab.run()
        assert tab.has(messages[-1].removeprefix("title "))
        tab.leave()
    return messages


_OUTLIVED = {"worker": _worker_killed, "reload": _reloaded, "tabs": _two_tabs}
