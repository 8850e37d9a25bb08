"""Server time of each user action, by number of items."""

from __future__ import annotations

import importlib
import logging
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hetviz
from benchmarks.harness import report
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.workspace import (
    SESSIONS,
    AddPairs,
    MapResult,
    OpenBundle,
    RecordMap,
    Sessions,
    SetView,
    Workspace,
)
from hetviz.workspace.sessions import new_session_id
from hetviz.workspace.store.maps import pack_map

SIZES = (20_000, 100_000, 300_000)
LINKS = 10 / 3
"""Links to an item: a million at 300,000."""
_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty")
_GROUPS = 8


def made(n: int, seed: int = 0) -> tuple[HeteroData, Embedding]:
    """Return n items in two datasets with 10/3 n links, and a map by two columns."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(_GROUPS, 6)) * 3
    group = rng.integers(0, _GROUPS, n)
    X = centre[group] + rng.normal(size=(n, 6))
    split = 3 * n // 5
    parts = []
    for name, mine in (("readers", slice(0, split)), ("books", slice(split, n))):
        of, rows = group[mine], n - split if mine.start else split
        word = rng.choice(_WORDS, (rows, 2))
        table = pd.DataFrame(
            {
                "name": [f"{a} {b} {k}" for k, (a, b) in enumerate(word)],
                "group": [f"group {k + 1}" for k in of],
                "year": rng.integers(1950, 2026, rows),
                "score": rng.normal(size=rows).round(3),
                "tags": [f"{a}; {b}" for a, b in word],
            }
        )
        ids = [f"{name[0]}{k}" for k in range(rows)]
        parts.append(Dataset(name, ids, X[mine], table=table))
    m = round(LINKS * n)
    left = rng.integers(0, split, m)
    # Three links of four stay within a group.
    order = np.argsort(group[split:], kind="stable")
    start = np.searchsorted(group[split:][order], np.arange(_GROUPS))
    size = np.bincount(group[split:], minlength=_GROUPS)
    own_values = group[left]
    right = order[start[own_values] + (rng.random(m) * size[own_values]).astype(int)]
    right = np.where(rng.random(m) < 0.75, right, rng.integers(0, n - split, m))
    links = Links("readers", "books", left, right, rng.choice([0.5, 1.0], m))
    data = HeteroData(parts, [links])
    places = {name: X[rows, :2] for name, rows in data.offsets.items()}
    return data, Embedding(places, {name: part.ids for name, part in data.datasets.items()})


def prepared(n: int, home: Path) -> str:
    """Save a project of n items with a map; return its session id."""
    data, embedding = made(n)
    bundle = home / f"{n}.zip"
    hetviz.save(data, bundle)
    sid, sessions = new_session_id(), Sessions(home / "sessions")
    workspace = sessions.get(sid)
    workspace.do(OpenBundle(workspace.blobs.put(bundle.read_bytes()), bundle.name, leave_out=True))
    result = MapResult(
        workspace.state.opened().fingerprint(),
        "pca",
        {},
        0,
        title="Two columns",
        embedding=embedding,
        figures={"scores": {}, "curves": {}},
    )
    workspace.do(RecordMap(workspace.blobs.put(pack_map(result))))
    sessions.close()
    return sid


def run(out: Path, quick: bool) -> None:
    """Measure and write ``actions.json``."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as home:
        # Read when the app's modules are loaded.
        os.environ["HETVIZ_HOME"] = home
        ids = {n: prepared(n, Path(home)) for n in (SIZES[:1] if quick else SIZES)}
        rows = [entry for n, sid in ids.items() for entry in actions(n, sid)]
        for n in ids:
            # In projects of their own, of which nothing is known yet.
            for first in ("guidance", "say"):
                rows += at_once(n, prepared(n, Path(home)), first)
    report("actions", rows, out, "CPU seconds of the page's script, the worker's not counted")


def at_once(n: int, sid: str, first: str) -> list[dict[str, Any]]:
    """Return the CPU seconds of who acts before anything was made ready beside the page."""
    return actions(n, sid, first)


def actions(n: int, sid: str, first: str = "") -> list[dict[str, Any]]:
    """Return the CPU seconds of each action on a project of n items, first and again.

    With `first` only those of one who goes to Guidance ("guidance") or makes a statement ("say")
    as soon as the map is there.
    """
    from streamlit.testing.v1 import AppTest

    from hetviz.ui.app.lifespan import LATE_MODULES
    from hetviz.ui.map_data import worker_results
    from hetviz.ui.shell.paths import PAGES, ROUTER

    # What a worker would find out comes later.
    worker_results._send_task = lambda *_: True
    waiting: list[Callable[[], None]] = []
    worker_results.start_thread = waiting.append
    # As a server does when it starts.
    for name in LATE_MODULES:
        importlib.import_module(name)
    app = AppTest.from_file(ROUTER, default_timeout=600)
    app.query_params["s"] = sid
    rows: list[dict[str, Any]] = []

    def timed(message: str, work: Callable[[], object]) -> None:
        taken = []
        for turn in (work, app.run):
            start = time.process_time()
            turn()
            taken.append(time.process_time() - start)
        told(message, *taken)
        # The app runs this in a thread while the map is open.
        while waiting and not first:
            start = time.process_time()
            waiting.pop()()
            told("made ready meanwhile", time.process_time() - start, 0.0)

    def told(message: str, first: float, again: float) -> None:
        rows.append({"items": n, "action": message, "first": first, "again": again})
        print(rows[-1], flush=True)

    def go(page: str) -> None:
        app.switch_page(str(PAGES / f"{page}.py")).run()

    def does(message: str, act: Callable[[Workspace], object]) -> None:
        project = SESSIONS.get(sid)

        def work() -> None:
            act(project)
            app.run()

        timed(message, work)

    timed("open the project", app.run)
    pair = [["readers", "r1"], ["books", "b2"]]
    say = AddPairs([pair], 1.0, "said", "", "a", "")
    if first:
        go("map")
        if first == "guidance":
            timed("Guidance at once", lambda: go("guidance"))
        else:
            does("say at once that two belong together", lambda entry: entry.do(say))
        return rows
    for page in ("map", "guidance", "data", "compare", "clusters", "predict", "export", "map"):
        timed(f"go to {page}", lambda page=page: go(page))
    does("select an item", lambda entry: entry.set_view_state(selection=np.array([5])))
    does(
        "select 20,000 or all",
        lambda entry: entry.set_view_state(selection=np.arange(min(n, 20_000))),
    )
    does("colour by a column", lambda entry: entry.do(SetView(colour='["readers", "year"]')))
    timed("go back to guidance", lambda: go("guidance"))
    does("say two belong together", lambda entry: entry.do(say))
    does("undo", lambda entry: entry.undo())
    does("redo", lambda entry: entry.redo())
    field = "find-link"
    timed("find links by name", lambda: app.text_input(key=field).set_value("amber birch 7").run())
    return rows
