"""Figures of two checkouts in one run: ``python -m benchmarks compare BASE [--only NAME,...]``.

BASE is a folder or a git revision. Each figure is measured by the code of this checkout, three
times in turns, each time in a process of its own: CPU seconds of the process and its children, the
least of three; memory is what the measured call adds to the largest size. What is compiled or
loaded first is done before, except for `embed`, which is measured as in a new session.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import REPEATS, report

ROOT = Path(__file__).parents[1]
Work = Callable[[], Any]
Quality = Callable[[Any], dict[str, Any]]
Figure = tuple[Work, Quality]
"""What is measured, and the quality of its result."""


def embed() -> Figure:
    """Emoji by default, in a new session."""
    import hetviz

    data = hetviz.load("emoji")

    def quality(Y: Any) -> dict[str, Any]:
        from hetviz.runs.compare.compare import measure_map

        train, held_out = data.holdout(links=0.2, random_state=7)
        scores, _ = measure_map(train, hetviz.embed(train), held_out)
        return {"method": Y.note, "held-out AUC": scores["link_auc_held_out"]}

    return lambda: hetviz.embed(data), quality


def labels() -> Figure:
    """2,000 numerals in two views linked by half, 300 labels; the error of the other 1,700."""
    import hetviz
    from hetviz import Dataset, HeteroData, Labels, Links

    with np.load(ROOT / "tests" / "fixtures" / "mfeat_fou_zer.npz") as file:
        views = {name: np.asarray(file[name], np.float64) for name in ("fou", "zer")}
    # The file has 200 of each numeral, one after another.
    y = np.repeat(np.arange(10), 200).astype(str)

    def hidden(n_labels: int, rows: Any) -> HeteroData:
        ids = [str(row) for row in rows]
        shown = np.random.default_rng(3).permutation(len(rows))[:n_labels]
        values = np.full(len(rows), None, dtype=object)
        values[shown] = y[rows][shown]
        parts = [Dataset(name, ids, X[rows], entity=name) for name, X in views.items()]
        joined = np.arange(0, len(rows), 2)
        links = [Links("fou", "zer", joined, joined)]
        return HeteroData(parts, links, None, [Labels("fou", "class", values.tolist())])

    data = hidden(300, np.arange(2_000))
    hetviz.predict_labels(hidden(60, np.arange(0, 2_000, 10)), "fou", "class")

    def quality(result: Any) -> dict[str, Any]:
        unknown = ~result.table["known"].to_numpy(bool)
        stated = result.table["label"].to_numpy().astype(str)
        return {"error": float((stated != y)[unknown].mean())}

    return lambda: hetviz.predict_labels(data, "fou", "class"), quality


def _read(rows: int, columns: int, form: str) -> Figure:
    from hetviz.io import read_tables

    rng = np.random.default_rng(0)
    kinds = (
        lambda: rng.normal(size=rows).round(4),
        lambda: rng.integers(0, 500, rows),
        lambda: rng.choice(["red", "green", "blue", "black", "white"], rows),
    )
    frame = pd.DataFrame(
        {"name": [f"item {k}" for k in range(rows)]}
        | {f"column {k}": kinds[k % 3]() for k in range(columns - 1)}
    )

    def written(part: pd.DataFrame) -> tuple[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"items.{form}"
            if form == "csv":
                part.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL)
            elif form == "parquet":
                part.to_parquet(path, index=False)
            elif form == "jsonl":
                part.to_json(path, orient="records", lines=True)
            else:
                import sqlite3

                with sqlite3.connect(path) as connection:
                    part.to_sql("items", connection, index=False)
            return path.name, path.read_bytes()

    read_tables([written(frame.head(50))])
    file = written(frame)
    return lambda: read_tables([file]), lambda loaded: {"rows": loaded.data.n_rows}


def csv_small() -> Figure:
    """CSV of 100,000 rows and 20 columns to data with features."""
    return _read(100_000, 20, "csv")


def csv_million() -> Figure:
    """CSV of 1,000,000 rows and 10 columns."""
    return _read(1_000_000, 10, "csv")


def parquet_million() -> Figure:
    """Parquet of 1,000,000 rows and 10 columns."""
    return _read(1_000_000, 10, "parquet")


def jsonl() -> Figure:
    """Lines of JSON, 200,000 rows and 10 columns."""
    return _read(200_000, 10, "jsonl")


def sqlite() -> Figure:
    """SQLite, 500,000 rows and 10 columns."""
    return _read(500_000, 10, "sqlite")


def _clusters(n: int) -> Figure:
    import hetviz
    from benchmarks.actions import made

    hetviz.clusters(*made(400))
    data, embedding = made(n)

    def quality(result: Any) -> dict[str, Any]:
        k = len(result.names)
        row = result.choice.set_index("k").loc[k]
        return {
            "k": k,
            "silhouette": float(row["silhouette"]),
            "stability": float(row["stability"]),
            "links inside": float(row["rand_given"]),
        }

    return lambda: hetviz.clusters(data, embedding), quality


def clusters_small() -> Figure:
    """Clusters of 2,000 items with names and cards."""
    return _clusters(2_000)


def clusters() -> Figure:
    """Clusters of 30,000 items with names and cards."""
    return _clusters(30_000)


def _neighbour_map(n: int) -> Figure:
    from benchmarks.peers import made, recall, ways

    work = ways()["mr-sne"]
    work(made(300))
    X = made(n)
    return lambda: work(X), lambda Y: {"neighbours kept": recall(X, Y)}


def mr_sne_small() -> Figure:
    """mr-sne of 2,000 items."""
    return _neighbour_map(2_000)


def mr_sne() -> Figure:
    """mr-sne of 10,000 items."""
    return _neighbour_map(10_000)


def mr_sne_large() -> Figure:
    """mr-sne of 50,000 items."""
    return _neighbour_map(50_000)


def mkpe() -> Figure:
    """mkpe of 2,400 items in two tables."""
    import hetviz
    from benchmarks.growth import made
    from hetviz.runs.compare.compare import measure_map

    hetviz.embed(made(200), "mkpe")
    train, held_out = made(2_400).holdout(links=0.2, random_state=0)

    def quality(Y: Any) -> dict[str, Any]:
        scores, _ = measure_map(train, Y, held_out)
        return {key: scores[f"{key}_held_out"] for key in ("link_auc", "links_kept")}

    return lambda: hetviz.embed(train, "mkpe"), quality


def gnmds() -> Figure:
    """gnmds of 400 items by 16,000 comparisons, judged by 4,000 others."""
    import hetviz
    from hetviz import Comparisons, Dataset, HeteroData
    from hetviz.core.ordinal.comparisons import comparison_accuracy

    def made(n: int, m: int) -> tuple[HeteroData, Any]:
        rng = np.random.default_rng(0)
        Z = rng.normal(size=(n, 2))
        triplets = np.array([rng.choice(n, 3, replace=False) for _ in range(m + m // 4)])
        near, far = (((Z[triplets[:, 0]] - Z[triplets[:, e]]) ** 2).sum(axis=1) for e in (1, 2))
        # One in ten is turned round.
        turned = (near > far) != (rng.random(len(near)) < 0.1)
        triplets[turned] = triplets[turned][:, [0, 2, 1]]
        ids = [str(k) for k in range(n)]
        return HeteroData([Dataset("items", ids)], [], Comparisons(triplets[:m])), triplets[m:]

    hetviz.embed(made(30, 200)[0], "gnmds")
    data, others = made(400, 16_000)
    return lambda: hetviz.embed(data, "gnmds"), lambda Y: {
        "agrees": float(comparison_accuracy(Y.stacked(), others))
    }


def neighbours() -> Figure:
    """The 90 nearest of 50,000 items with 50 columns."""
    from benchmarks.peers import made
    from hetviz.core.graph.neighbors import feature_neighbors, measure_recall

    mix = np.random.default_rng(1).normal(size=(16, 50))
    X = made(50_000) @ mix + np.random.default_rng(2).normal(size=(50_000, 50))
    feature_neighbors(X[:300], 90)
    return lambda: feature_neighbors(X, 90), lambda found: {"recall": measure_recall(X, found)}


def rerun() -> Figure:
    """The page Map of 2,000 items, run again."""
    import importlib
    import logging

    from benchmarks.actions import prepared

    logging.disable(logging.WARNING)
    home = Path(tempfile.mkdtemp())
    # Read when the modules of the app are loaded.
    os.environ["HETVIZ_HOME"] = str(home)
    sid = prepared(2_000, home)
    from streamlit.testing.v1 import AppTest

    from hetviz.ui.app.lifespan import LATE_MODULES
    from hetviz.ui.map_data import worker_results
    from hetviz.ui.shell.paths import PAGES, ROUTER

    worker_results._send_task = lambda *_: True
    for name in LATE_MODULES:
        importlib.import_module(name)
    app = AppTest.from_file(ROUTER, default_timeout=600)
    app.query_params["s"] = sid
    app.run()
    app.switch_page(str(PAGES / "map.py")).run()
    app.run()
    return app.run, lambda _: {}


FIGURES = {
    figure.__name__: figure
    for figure in (
        *(embed, labels, csv_small, csv_million, parquet_million, jsonl, sqlite),
        *(clusters_small, clusters, mr_sne_small, mr_sne, mr_sne_large),
        *(mkpe, gnmds, neighbours, rerun),
    )
}


def measured(name: str) -> dict[str, Any]:
    """Measure one figure in this process."""
    from benchmarks.growth import forget_peak, peak
    from hetviz.core.threads import one_thread

    warnings.simplefilter("ignore")
    work, quality = FIGURES[name]()
    before, start = forget_peak(), sum(os.times()[:4])
    result = work()
    seconds = sum(os.times()[:4]) - start
    row = {"CPU s": seconds, "MB": peak() - before}
    with one_thread():
        return {**row, "quality": quality(result)}


def main(words: list[str]) -> None:
    """Measure both checkouts and print ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare", description=__doc__)
    parser.add_argument("base", help="folder or git revision to compare with")
    parser.add_argument("--only", default=",".join(FIGURES), help="figures, joined by commas")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"), help="where JSON goes")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    arguments = parser.parse_args(words)
    names = arguments.only.split(",")
    if unknown := set(names) - set(FIGURES):
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(FIGURES)}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        base = Path(arguments.base)
        if not base.is_dir():
            base = _exported(arguments.base, Path(folder) / "base")
        sides = [_with_these_benchmarks(root, Path(folder) / f"side {n}")
                 for n, root in enumerate((base, ROOT))]  # fmt: skip
        for name in names:
            runs: list[list[dict[str, Any]]] = [[], []]
            for _ in range(arguments.repeats):
                for side, results in zip(sides, runs, strict=True):
                    results.append(_in_a_process(name, side))
            rows.append({"figure": name, **_row(*runs)})
            report("compare", rows, arguments.out, f"this checkout against {arguments.base}")


def _row(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key in ("CPU s", "MB"):
        first, second = (min(run[key] for run in runs) for runs in (before, after))
        row |= {f"{key} before": first, key: second}
        row[f"{key} ratio"] = second / first if first > 0 else float("nan")
    for title, runs in (("quality before", before), ("quality", after)):
        row[title] = ", ".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in runs[-1]["quality"].items()
        )
    return row


def _exported(revision: str, folder: Path) -> Path:
    """Write the files of a revision to a folder."""
    archive = subprocess.run(
        ["git", "archive", revision], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def _with_these_benchmarks(root: Path, folder: Path) -> Path:
    """Return a folder with a checkout, but with the benchmarks of this one."""
    folder.mkdir()
    for path in root.resolve().iterdir():
        (folder / path.name).symlink_to((ROOT if path.name == "benchmarks" else root.resolve())
                                        / path.name)  # fmt: skip
    return folder


def _in_a_process(name: str, folder: Path) -> dict[str, Any]:
    threads = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    done = subprocess.run(
        [sys.executable, "-c", f"import json; from benchmarks.compare import measured; "
         f"print(json.dumps(measured({name!r}), default=float))"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **dict.fromkeys(threads, "1")},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
