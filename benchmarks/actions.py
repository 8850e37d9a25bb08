"""What the server spends on each action of a visitor, by number of items.

CPU seconds of the server's own process, from a click until the page rests; what a worker does beside
it is told apart. The app is driven in Chromium, as a visitor drives it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

import hetviz
from benchmarks.harness import report
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.workspace import OpenBundle, RecordRun, Sessions
from hetviz.workspace.store.packing import pack_coordinates, pack_json
from hetviz.workspace.store.sessions import new_id
from tests.browser.harness import CHROMIUM_FLAGS, ROOT, serve
from tools.find_chromium import find_chromium

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
    own = group[left]
    right = order[start[own] + (rng.random(m) * size[own]).astype(int)]
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
    sid, sessions = new_id(), Sessions(home / "sessions")
    workspace = sessions.get(sid)
    workspace.do(OpenBundle(workspace.blobs.put(bundle.read_bytes()), bundle.name, leave_out=True))
    workspace.do(
        RecordRun(
            method="pca",
            title="Two columns",
            params={},
            seed=0,
            hold_out=0.0,
            fingerprint=workspace.state.opened().fingerprint(),
            coordinates=workspace.blobs.put(pack_coordinates(embedding)),
            figures=workspace.blobs.put(pack_json({"scores": {}, "curves": {}})),
        )
    )
    sessions.close()
    return sid
