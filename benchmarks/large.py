"""Data in Parquet files fitted by blocks: time, peak memory, reproducibility."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import report

# Rows in all, features, links.
SIZES = ((1_000_000, 64, 5_000_000), (2_000_000, 64, 10_000_000), (10_000_000, 64, 50_000_000))
TABLES = """[data.a]
path = "a/*.parquet"
id = "id"
features = "x"
[data.b]
path = "b/*.parquet"
id = "id"
features = "x"
[guidance.links]
path = "links/*.parquet"
from = "a"
to = "b"
i = "i"
j = "j"
"""
"""What a recipe says of the files that `made` writes."""
_RECIPE = f"""format = 1
method = "guided-projection"
{TABLES}"""


def run(out: Path, quick: bool) -> None:
    """Fit guided projection in one process and on two workers; each result is written at once."""
    rows: list[dict[str, Any]] = []
    for size in SIZES[: 1 if quick else len(SIZES)]:
        folder = out / "large" / str(size[0])
        made(folder, *size)
        hashes = []
        for scheduler in ("sync", "local:2"):
            rows.append(measured(folder, scheduler))
            hashes.append(rows[-1].pop("sha256"))
            rows[-1]["same bytes"] = "" if len(hashes) == 1 else str(hashes[0] == hashes[1])
            report("large", rows, out, "guided projection from Parquet, random links, one thread")

    joint_map(out, quick)


def joint_map(out: Path, quick: bool) -> None:
    """Make a joint map of 1,000,000 rows of 20 columns with 5,000,000 links, by landmarks."""
    folder = out / "large" / "joint"
    made(folder, *((100_000, 20, 500_000) if quick else (1_000_000, 20, 5_000_000)))
    recipe = folder / "recipe.toml"
    text = _RECIPE.replace("guided-projection", "joint-map")
    recipe.write_text(text + "[blocks]\nlandmarks = 4000\n", encoding="utf-8")
    report("large_joint_map", [measured(folder, "sync")], out, "4,000 landmarks, one thread")
    rows = [as_project(folder / "sync", rows) for rows in (None, 300_000)]
    report("large_project", rows, out, "that result as a project file of the app")


def as_project(result: Path, rows: int | None) -> dict[str, Any]:
    """Make a project file of a result, or of a sample of it, in a process of its own."""
    file = result / f"{rows or 'all'}.hetviz"
    words = [] if rows is None else ["--rows", str(rows)]
    used, peak = in_a_process(["export", str(result), str(file), *words])
    size = file.stat().st_size / 1e6
    return {"rows": str(rows or "all"), "CPU s": used, "peak MB": peak, "file MB": size}


def in_a_process(words: list[str]) -> tuple[float, float]:
    """Run a command; return its CPU seconds and its largest resident size in MB."""
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    started = subprocess.Popen([sys.executable, "-m", "hetviz", *words], env=env)
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"hetviz {words[0]} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def made(folder: Path, n: int, d: int, m: int, seed: int = 0) -> None:
    """Write two tables of n / 2 rows that share a hidden plane, and links by chance near on it."""
    if (folder / "recipe.toml").exists():
        return
    half, rng = n // 2, np.random.default_rng(seed)
    mixing = rng.normal(size=(2, 2, d)).astype(np.float32)
    step = 250_000
    for t, name in enumerate("ab"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for k, start in enumerate(range(0, half, step)):
            rows = np.arange(start, min(start + step, half))
            # A spiral over row numbers, so that linked rows are close.
            turn = rows / half * 40.0
            hidden = np.column_stack([np.cos(turn), np.sin(turn)]).astype(np.float32)
            X = hidden @ mixing[t] + rng.standard_normal((len(rows), d), dtype=np.float32)
            x = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), d)
            path = folder / name / f"{k:04d}.parquet"
            pq.write_table(pa.table({"id": rows * 7 + t, "x": x}), path, compression="none")
    (folder / "links").mkdir(exist_ok=True)
    for k, start in enumerate(range(0, m, 1_000_000)):
        count = min(1_000_000, m - start)
        i = rng.integers(0, half, count)
        j = (i + rng.integers(-half // 200, half // 200 + 1, count)) % half
        links = pa.table({"i": i * 7, "j": j * 7 + 1})
        pq.write_table(links, folder / "links" / f"{k:04d}.parquet", compression="none")
    (folder / "recipe.toml").write_text(_RECIPE, encoding="utf-8")


def measured(folder: Path, scheduler: str) -> dict[str, Any]:
    """Run the recipe in a process of its own."""
    target = folder / scheduler.replace(":", "-")
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = ["run", str(folder / "recipe.toml"), "--out", str(target), "--scheduler", scheduler]
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "hetviz", *words], check=True, env=env)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    record = json.loads((target / "scores.json").read_text(encoding="utf-8"))
    return {
        "rows": sum(record["rows"].values()),
        "links": record["links"],
        "scheduler": scheduler,
        "CPU s": cpu,
        "wall s": wall,
        "peak MB": " ".join(f"{size:.0f}" for size in record["peak_mb"].values()),
        "forecast MB": record["forecast_mb"],
        "guidance area": record["scores"]["guidance_area"],
        "its error": record["standard_errors"]["guidance_area"],
        **(
            {"placement error": record["placement_error"]["median"]}
            if "landmarks" in record
            else {}
        ),
        "sha256": record["coordinates_sha256"],
        "seconds of": record["seconds_of"],
    }
