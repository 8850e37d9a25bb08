"""Time and memory of reading a file, against pandas and polars.

Each reading is a process of its own that reads a small table first, so that everything is imported,
then the one that is measured; it tells the CPU seconds of that (of all its threads) and the largest
resident size of the whole process, of which the imports are some 190 MB. pandas and polars
give a table; hetviz is measured twice: to the table of cells, with what each column holds
(``hetviz cells``), and to the data with features, ids, titles and the account (``hetviz data``).
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import harness

SIZES = (10_000, 100_000, 1_000_000)
WARM = 50
NOTE = "one id, three decimal numbers, three whole numbers, three categories; CPU s and MB"


def _hetviz(path: Path, whole: bool) -> object:
    from hetviz.io import read_tables
    from hetviz.io.intake.parse import parse_files

    files = [(path.name, path.read_bytes())]
    return read_tables(files) if whole else parse_files(files, {})


def _pandas(path: Path) -> object:
    readers: dict[str, Callable[[Path], object]] = {
        ".csv": pd.read_csv,
        ".parquet": pd.read_parquet,
        ".xlsx": pd.read_excel,
    }
    return readers[path.suffix](path)


def _polars(path: Path) -> object:
    import polars

    name = {".csv": "read_csv", ".parquet": "read_parquet", ".xlsx": "read_excel"}[path.suffix]
    return getattr(polars, name)(path)


READERS: dict[str, Callable[[Path], object]] = {
    "pandas": _pandas,
    "polars": _polars,
    "hetviz cells": lambda path: _hetviz(path, False),
    "hetviz data": lambda path: _hetviz(path, True),
}


def table(n: int) -> pd.DataFrame:
    """Return a table of n rows and ten columns."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"name": [f"item {k}" for k in range(n)]}
    for k in range(3):
        columns[f"size_{k}"] = rng.normal(size=n).round(4)
        columns[f"grade_{k}"] = rng.integers(0, 500, n)
        columns[f"kind_{k}"] = rng.choice(["red", "green", "blue", "black", "white"], n)
    return pd.DataFrame(columns)


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the form that the name of the file says."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        from openpyxl import Workbook

        book = Workbook(write_only=True)
        sheet = book.create_sheet("Items")
        sheet.append(list(frame.columns))
        rows: Iterable[Any] = frame.itertuples(index=False)
        for row in rows:
            sheet.append(list(row))
        book.save(path)


def measured(reader: str, path: Path) -> dict[str, Any]:
    """Return what one reading took, in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.intake", reader, str(path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        return {"cpu_s": float("nan"), "mb": float("nan"), "why": _last_line(done.stderr)}
    result: dict[str, Any] = json.loads(done.stdout)
    return {**result, "why": ""}


def _peak_mb() -> float:
    """Return the largest resident size of this process; what it was started from does not count."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return harness.peak_memory_mb()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


def _last_line(text: str) -> str:
    return next((line[:60] for line in reversed(text.splitlines()) if "Error" in line), "")


def run(out: Path, quick: bool) -> None:
    """Read tables of each size and form with each reader."""
    rows = []
    readers = [name for name in READERS if name != "polars" or importlib.util.find_spec("polars")]
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES[:1] if quick else SIZES:
            frame = table(n)
            for form in ("csv", "parquet", "xlsx"):
                path = Path(folder) / f"items.{form}"
                write(frame, path)
                write(frame.head(WARM), path.with_name(f"warm.{form}"))
                for reader in readers:
                    about = {"rows": n, "form": form, "reader": reader}
                    rows.append({**about, **measured(reader, path)})
    missing = "" if len(readers) == len(READERS) else "; polars is not installed"
    harness.report("intake", rows, out, NOTE + missing)


if __name__ == "__main__":
    given = Path(sys.argv[2])
    READERS[sys.argv[1]](given.with_name(f"warm{given.suffix}"))
    start = time.process_time()
    READERS[sys.argv[1]](given)
    taken = time.process_time() - start
    sys.stdout.write(json.dumps({"cpu_s": taken, "mb": _peak_mb()}))
