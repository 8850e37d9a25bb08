"""What the server does for the map: spec, selection, density picture, search, by number of rows."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hetviz.plots.density import Window, category_tints, density_image

from benchmarks.harness import cpu_seconds, peak_memory_mb, report
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.plots.palette import tokens
from hetviz.ui.map import description, links_of_rows, search, selection_codec
from hetviz.ui.map import parts as map_parts
from hetviz.workspace import Run, State, View

SIZES = (2_000, 20_000, 100_000, 1_000_000)
_SESSION = "benchmark"
_WINDOW = (1044, 642)


def run(out: Path, quick: bool) -> None:
    """Time each part the first time and again, as a rerun of the page has it."""
    rows: list[dict[str, Any]] = []
    for n in SIZES[: 3 if quick else 4]:
        state, made = opened(n)
        rows.append({"rows": n, **figures(state, made), "peak MB": peak_memory_mb()})
    note = "8 categories, 5 n links; ms of CPU on one thread, of wall clock for first calls"
    report("map_server", rows, out, note)


def opened(n: int, seed: int = 0) -> tuple[State, Run]:
    """Return a state of n rows in two datasets with a map of eight groups."""
    rng = np.random.default_rng(seed)
    half = n // 2
    group = rng.integers(0, 8, n)
    Y = rng.normal(size=(8, 2))[group] * 3 + rng.normal(size=(n, 2)) * 0.6
    words = rng.choice(["éclair", "river", "stone", "café", "lamp", "violet"], (n, 2))
    titles = [f"{a} {b} {k}" for k, (a, b) in enumerate(words)]
    parts = []
    for place, name in enumerate(("a", "b")):
        mine = slice(place * half, (place + 1) * half)
        table = pd.DataFrame(
            {
                "name": titles[mine],
                "group": [f"group {k}" for k in group[mine]],
                "size": rng.normal(size=half),
            }
        )
        parts.append(Dataset(name, [f"{name}{k}" for k in range(half)], table=table))
    links = Links("a", "b", rng.integers(0, half, 5 * n), rng.integers(0, half, 5 * n))
    data = HeteroData(parts, [links])
    places = {"a": Y[:half], "b": Y[half:]}
    ids = {part.name: part.ids for part in parts}
    made = Run("1", "pca", "Map", Embedding(places, ids), data.fingerprint())
    return State(data=data, runs=(made,), chosen="1", view=View(json.dumps(["a", "group"]))), made


def figures(state: State, made: Run) -> dict[str, float]:
    """Return milliseconds of each part."""
    data = map_parts.data_of(state)
    rng = np.random.default_rng(1)

    def spec() -> Any:
        return description.spec(state, made, session=_SESSION, selection=chosen)

    chosen = np.flatnonzero(rng.random(data.n_rows) < 0.75)
    found = {"spec, first": first(spec), "spec": again(spec)}
    packed = base64.b64encode(selection_codec.pack_rows(chosen, data.n_rows).tobytes()).decode()
    found["bits"] = again(lambda: description.unpack_selection({"packed": packed}, state, made))
    turn = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    lasso = (np.column_stack([np.cos(turn), np.sin(turn)]) * 3).tolist()
    found["lasso"] = again(lambda: description.unpack_selection({"polygon": lasso}, state, made))
    form, frame = map_parts.geometry(state, made), map_parts.frame_of(state, made)
    code = map_parts.colours_of(data, state.view.colour).code.astype(np.int8)
    (x0, y0), (x1, y1) = frame.low.tolist(), frame.high.tolist()
    window = Window((x0, x1), (y0, y1), *_WINDOW)
    token = tokens("light")

    def density() -> bytes:
        tints = category_tints(code, token.categories, token.ghost)
        return density_image(form.points, tints, window)

    found["density"] = again(density)
    found["search, first"] = first(lambda: search.search(data, "zzz"))
    found["search, none"] = again(lambda: search.search(data, "zzz"))
    found["search, many"] = again(lambda: search.search(data, "ECLAIR"))
    some = chosen[:1000]
    found["links, first"] = first(lambda: links_of_rows.strongest(state, made, some))
    found["links"] = again(lambda: links_of_rows.strongest(state, made, some))
    return found


def first(work: Callable[[], Any]) -> float:
    """Return the milliseconds of one call."""
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def again(work: Callable[[], Any]) -> float:
    """Return the median CPU milliseconds of repeated calls."""
    return 1000 * cpu_seconds(work, 5)[0]
