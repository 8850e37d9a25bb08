"""Landmark maps with and without refinement: quality, time and memory.

Made data: two tables that share a hidden spiral under noise (`benchmarks.large`), and two tables of
curved sheets in a hundred groups. Real data: words and meanings of WordNet 3.0, linked where a word
has a meaning; words by their letters, meanings by the words of their definitions, 32 leading
directions each. Programs and libraries of Debian by their descriptions, linked where one depends on
the other. ``--data DIR`` is a folder with ``data.noun`` and the like (of the Debian package
wordnet-base), and with ``available``, what ``apt-cache dumpavail`` prints; either will do.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import large
from benchmarks.harness import report

DATA = "may"
Tables = tuple[list[Any], tuple[Any, Any]]
# Rows, landmarks.
SIZES = ((20_000, 2_000), (200_000, 20_000), (1_000_000, 4_000))
_RECIPE = """format = 1
method = "{method}"
{tables}[blocks]
landmarks = {landmarks}
refine = {refine}
"""


def run(out: Path, quick: bool, data: Path | None) -> None:
    """Each map in a process of its own; each result is written at once."""
    rows: list[dict[str, Any]] = []
    for n, landmarks in SIZES[: 1 if quick else len(SIZES)]:
        folder = out / "refinement" / f"spiral-{n}"
        large.made(folder, n, 20, 5 * n)
        sheets = out / "refinement" / f"sheets-{n}"
        if not sheets.exists():
            write(sheets, *sheets_in_groups(n))
        ways = [(folder, "joint-map"), (sheets, "joint-map"), (sheets, "mr-sne")]
        for where, method in ways[: 1 if n > 200_000 else 3]:
            _both(rows, out, where, method, landmarks)
    real = (("wordnet", "data.noun", wordnet, 20_000), ("debian", "available", debian, 6_000))
    for name, file, read, landmarks in real:
        if data is None or not (data / file).exists():
            continue
        folder = out / "refinement" / name
        if not folder.exists():
            write(folder, *read(data))
        for method in ("joint-map", "mr-sne", "umap"):
            _both(rows, out, folder, method, landmarks)


def _both(rows: list[dict[str, Any]], out: Path, data: Path, method: str, landmarks: int) -> None:
    for refine in (0, 50):
        rows.append(measured(data, method, landmarks, refine))
        report("refinement", rows, out, "before and after 50 iterations, one thread")


def measured(data: Path, method: str, landmarks: int, refine: int) -> dict[str, Any]:
    """Make one map, and return what it took and keeps."""
    recipe = data / f"{method}-{refine}.toml"
    text = _RECIPE.format(method=method, tables=large.TABLES, landmarks=landmarks, refine=refine)
    recipe.write_text(text, encoding="utf-8")
    target = data / f"{method}-{refine}"
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "hetviz", "run", str(recipe), "--out", str(target)]
    started = subprocess.Popen(words, env=env)
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit("hetviz run failed")
    record = json.loads((target / "scores.json").read_text(encoding="utf-8"))
    scores, errors = record["scores"], record["standard_errors"]
    refined = record.get("refinement", {})
    lands = refined.get("placement_error") or record["placement_error"]
    return {
        "data": data.name,
        "rows": sum(record["rows"].values()),
        "method": method,
        "landmarks": landmarks,
        "iterations": refine,
        "CPU s": used.ru_utime + used.ru_stime,
        "peak MB": used.ru_maxrss / 1000,
        "forecast MB": record["forecast_mb"],
        "kept": scores["neighbors_kept"],
        "its error": errors["neighbors_kept"],
        "guidance area": scores["guidance_area"],
        "distance correlation": scores["distance_correlation"],
        "lands off": lands["median"],
        "nearest found": " ".join(f"{share:.2f}" for share in refined.get("recall", {}).values()),
        "moved": refined.get("moved", 0.0),
    }


def write(folder: Path, X: list[Any], links: tuple[Any, Any]) -> None:
    """Write tables with their rows in no order, and links between them."""
    for t, name in enumerate("ab"):
        (folder / name).mkdir(parents=True)
        order = np.random.default_rng(5 + t).permutation(len(X[t]))
        values = pa.array(X[t][order].astype(np.float32).ravel())
        x = pa.FixedSizeListArray.from_arrays(values, X[t].shape[1])
        pq.write_table(pa.table({"id": order, "x": x}), folder / name / "0.parquet")
    (folder / "links").mkdir()
    i, j = links
    pq.write_table(pa.table({"i": i, "j": j}), folder / "links" / "0.parquet")


def sheets_in_groups(n: int, seed: int = 0) -> Tables:
    """Return two tables of a hundred groups in ten, each a sheet of three directions in noise."""
    rng, half = np.random.default_rng(seed), n // 2
    group = [rng.integers(0, 100, half) for _ in range(2)]
    X = []
    for of, d in zip(group, (16, 12), strict=True):
        top = 6.0 * rng.normal(size=(10, d))
        centres = top[np.arange(100) // 10] + 2.0 * rng.normal(size=(100, d))
        place, ways = rng.normal(size=(half, 3)), rng.normal(size=(100, 3, d)) / np.sqrt(3)
        sheet = 1.5 * np.einsum("nk,nkd->nd", place, ways[of])
        X.append(centres[of] + sheet + 0.3 * rng.normal(size=(half, d)))
    order = np.argsort(group[1], kind="stable")
    starts = np.searchsorted(group[1][order], np.arange(101))
    i = np.repeat(np.arange(half), 3)
    width = starts[group[0][i] + 1] - starts[group[0][i]]
    return X, (i, order[starts[group[0][i]] + (rng.random(len(i)) * width).astype(np.int64)])


def wordnet(folder: Path) -> Tables:
    """Return features of the words and the meanings of WordNet, and which word has which."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    meanings, words, i, j = [], dict[str, int](), [], []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").open(encoding="latin-1"):
            if line.startswith("  "):
                continue
            head, _, statements = line.partition(" | ")
            fields = head.split()
            for k in range(int(fields[3], 16)):
                word = re.sub(r"\(.*\)$", "", fields[4 + 2 * k]).lower().replace("_", " ")
                i.append(words.setdefault(word, len(words)))
                j.append(len(meanings))
            meanings.append(statements.strip())
    of_words = TfidfVectorizer(min_df=20, analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    of_meanings = TfidfVectorizer(min_df=5, stop_words="english", sublinear_tf=True)
    X = [_leading(of_words, list(words), 4), _leading(of_meanings, meanings, 4)]
    return X, (np.array(i), np.array(j))


def debian(folder: Path) -> Tables:
    """Return features of programs and of libraries, and which program depends on which library."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    result: dict[str, dict[str, str]] = {}
    for entry in (folder / "available").read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in entry.splitlines() if line[:1] != " " and ": " in line]
        fields = dict(line.split(": ", 1) for line in lines)
        if "Package" in fields:
            result[fields["Package"]] = fields
    libraries = [name for name in result if name.startswith("lib")]
    programs = [name for name in result if not name.startswith("lib")]
    number, i, j = {name: row for row, name in enumerate(libraries)}, [], []
    for row, name in enumerate(programs):
        asked = ",".join(result[name].get(key, "") for key in ("Depends", "Recommends"))
        for entry_list in re.split(r"[,|]", asked):
            wanted = entry_list.strip().split(" ")[0].split(":")[0]
            if wanted in number:
                i.append(row)
                j.append(number[wanted])
    X = []
    for names in (programs, libraries):
        keys = ("Description", "Section", "Tag")
        texts = [
            " ".join([*(result[name].get(key, "") for key in keys), name.replace("-", " ")])
            for name in names
        ]
        X.append(
            _leading(TfidfVectorizer(min_df=4, stop_words="english", sublinear_tf=True), texts)
        )
    return X, (np.array(i), np.array(j))


def _leading(vectors: Any, texts: list[str], n_iter: int) -> Any:
    """Return 32 leading directions of texts, rows of unit length."""
    from sklearn.decomposition import TruncatedSVD

    counts = vectors.fit_transform(texts)
    result = TruncatedSVD(32, random_state=0, n_iter=n_iter).fit_transform(counts)
    size = np.linalg.norm(result, axis=1, keepdims=True)
    return result / np.where(size > 0, size, 1.0)
