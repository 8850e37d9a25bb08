"""Label prediction next to simple rivals on data sets that no setting was chosen on.

With 1, 2, 4 and 8 known labels of each class, and with 10 and 30 % of all labels, on three splits.
Predictions of hetviz come from `hetviz.predict_labels`; the rivals see the same labels in the same
run: logistic regression (strength by cross-validation where classes have three labels, else 1), the
same with 32 leading directions of the links as features, and both with propagation of their
probabilities along links. Needs ``--data DIR``, a folder with these files as their authors publish
them:

- ``cora.npz`` of gnn-benchmark;
- ``cornell`` and ``wisconsin`` of Geom-GCN (``out1_*.txt``; its ``texas`` has the pages of
  ``cornell``);
- ``acm``, ``dblp`` and ``freebase`` of HeCo (``labels.npy``, ``p_feat.npz``, ``a_feat.npz``, and
  the pairs ``pa.txt``, ``ps.txt``, ``ma.txt``, ``md.txt``, ``mw.txt``);
- ``wiki`` of OpenNE (``Wiki_edgelist.txt``, ``wiki_labels.txt``);
- ``streams`` of MUSAE (``PTBR_edges.csv``, ``PTBR.json``, ``PTBR_target.csv``).

Each figure is written to ``unseen_labels.jsonl`` as soon as it is there; a run goes on where the
last one ended. ``python -m benchmarks.unseen_labels FILE`` prints the tables.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import hetviz
from benchmarks.label_prediction import calibration_error, scaled, with_labels
from hetviz import Dataset, HeteroData, Labels, Links
from hetviz.core.prediction.blend import propagate, row_shares

DATA = "needs"
SEEDS = 3
KNOWN = (1, 2, 4, 8, 0.1, 0.3)
DEFAULT, LOGISTIC, AXES = "hetviz", "logistic", "logistic with axes"
SPREAD, SPREAD_AXES = "logistic, then links", "logistic with axes, then links"
WAYS = (DEFAULT, LOGISTIC, SPREAD, AXES, SPREAD_AXES)


def _data(
    y: np.ndarray, X: Any, links: dict[str, np.ndarray], within: np.ndarray | None = None
) -> HeteroData:
    """Return items with labels, featureless others by name, and the pairs that link them."""
    parts = [Dataset("items", [str(k) for k in range(len(y))], X)]
    groups = []
    if within is not None:
        pairs = np.unique(np.sort(within[within[:, 0] != within[:, 1]], axis=1), axis=0)
        groups.append(Links("items", "items", pairs[:, 0], pairs[:, 1], role="relation"))
    for name, pairs in links.items():
        others, j = np.unique(pairs[:, 1], return_inverse=True)
        parts.append(Dataset(name, [str(k) for k in others]))
        groups.append(Links("items", name, pairs[:, 0], j))
    return HeteroData(parts, groups, None, [Labels("items", "class", [f"class {v}" for v in y])])


def _pairs(file: Path, *, flip: bool = False) -> np.ndarray:
    pairs = np.loadtxt(file, dtype=np.int64)
    return pairs[:, ::-1] if flip else pairs


def cora(folder: Path) -> HeteroData:
    """Papers by their words, and citations."""
    with np.load(folder / "cora.npz") as file:
        shapes = {name: tuple(file[f"{name}_shape"]) for name in ("adj", "attr")}
        A, X = (
            sp.csr_array(
                tuple(file[f"{name}_{part}"] for part in ("data", "indices", "indptr")),
                shape=shapes[name],
                dtype=np.float64,
            )
            for name in ("adj", "attr")
        )
        return _data(file["labels"], X, {}, np.column_stack(A.nonzero()))


def pages(name: str, folder: Path) -> HeteroData:
    """Pages of a university by their words, and their hyperlinks."""
    table = pd.read_csv(folder / name / "out1_node_feature_label.txt", sep="\t")
    table = table.sort_values("node_id")
    X = np.array([row.split(",") for row in table["feature"]], dtype=np.float64)
    edges = np.loadtxt(folder / name / "out1_graph_edges.txt", dtype=np.int64, skiprows=1)
    return _data(table["label"].to_numpy(), sp.csr_array(X), {}, edges)


def papers(folder: Path) -> HeteroData:
    """Papers by their words, their authors and their subjects."""
    base = folder / "acm"
    links = {"authors": _pairs(base / "pa.txt"), "subjects": _pairs(base / "ps.txt")}
    X = sp.csr_array(sp.load_npz(base / "p_feat.npz"), dtype=np.float64)
    return _data(np.load(base / "labels.npy").astype(int), X, links)


def authors(folder: Path) -> HeteroData:
    """Authors by their words, and their papers."""
    base = folder / "dblp"
    X = sp.csr_array(sp.load_npz(base / "a_feat.npz"), dtype=np.float64)
    links = {"papers": _pairs(base / "pa.txt", flip=True)}
    return _data(np.load(base / "labels.npy"), X, links)


def films(folder: Path) -> HeteroData:
    """Films without features, their actors, directors and writers."""
    base = folder / "freebase"
    links = {name: _pairs(base / f"m{name[0]}.txt") for name in ("actors", "directors", "writers")}
    return _data(np.load(base / "labels.npy"), None, links)


def wiki(folder: Path) -> HeteroData:
    """Pages without features, and their hyperlinks."""
    table = _pairs(folder / "wiki" / "wiki_labels.txt")
    y = np.empty(len(table), dtype=np.int64)
    y[table[:, 0]] = table[:, 1]
    return _data(y, None, {}, _pairs(folder / "wiki" / "Wiki_edgelist.txt"))


def streams(folder: Path) -> HeteroData:
    """Streamers by the games that they play, their friends, and whether the content is mature."""
    base = folder / "streams"
    table = pd.read_csv(base / "PTBR_target.csv").sort_values("new_id")
    games = json.loads((base / "PTBR.json").read_text())
    ends = np.array([(int(row), word) for row, words in games.items() for word in words])
    X = sp.csr_array((np.ones(len(ends)), ends.T), shape=(len(table), ends[:, 1].max() + 1))
    edges = pd.read_csv(base / "PTBR_edges.csv").to_numpy()
    return _data(table["mature"].to_numpy(), X, {}, edges)


SETS: dict[str, Callable[[Path], HeteroData]] = {
    "cited papers": cora,
    "papers": papers,
    "authors": authors,
    "films": films,
    "wiki": wiki,
    "streams": streams,
    "cornell": partial(pages, "cornell"),
    "wisconsin": partial(pages, "wisconsin"),
}


def shown(y: np.ndarray, known: float, seed: int) -> np.ndarray:
    """Return which labels are shown: a number of each class, or a share with one of each class.

    A class with fewer items keeps one hidden, if it has two.
    """
    order = np.random.default_rng((seed, 41)).permutation(len(y))
    is_shown = np.zeros(len(y), dtype=bool)
    for name in np.unique(y):
        members = order[y[order] == name]
        count = 1 if known < 1 else int(known)
        is_shown[members[: max(1, min(count, len(members) - 1))]] = True
    if known < 1:
        others = order[~is_shown[order]]
        is_shown[others[: max(round(known * len(y)) - int(is_shown.sum()), 0)]] = True
    return is_shown


def rivals(
    data: HeteroData, y: np.ndarray, is_shown: np.ndarray, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the classes of all items by each rival."""
    n = len(y)
    steps, patterns = [], []
    for name, other in data.datasets.items():
        A = sp.csr_array((n, len(other)))
        for links in data.links:
            if links.target == name:
                B = sp.csr_array((np.ones(len(links.i)), (links.i, links.j)), shape=A.shape)
                A = A + (B + B.T if name == "items" else B)
        if A.nnz:
            A = sp.csr_array(A)
            T = row_shares(A)
            steps.append((T, None if name == "items" else row_shares(sp.csr_array(A.T))))
            patterns.append(A)
    A = sp.csr_array(sp.hstack(patterns))
    rows, columns = (np.maximum(np.asarray(A.sum(axis=k)).ravel(), 1.0) ** -0.5 for k in (1, 0))
    normal = sp.csr_matrix(sp.diags_array(rows) @ A @ sp.diags_array(columns))
    axes = scaled(TruncatedSVD(32, random_state=seed).fit_transform(normal))
    X = data["items"].X
    own = None if X is None else sp.csr_matrix(scaled(X))
    classes, Y = np.unique(y), (y[:, None] == np.unique(y)).astype(np.float64)
    for way, spread_way, features in (
        (LOGISTIC, SPREAD, own),
        (AXES, SPREAD_AXES, axes if own is None else sp.csr_matrix(sp.hstack([own, axes / 32]))),
    ):
        if features is None:
            continue
        P = _logistic(features, y, is_shown, seed)
        yield way, classes[P.argmax(axis=1)]
        start = np.where(is_shown[:, None], Y, P)
        yield spread_way, classes[propagate(steps, start, is_shown).argmax(axis=1)]


def _logistic(X: Any, y: np.ndarray, is_shown: np.ndarray, seed: int) -> np.ndarray:
    model: Any = LogisticRegression(max_iter=300, tol=1e-3)
    if np.unique(y[is_shown], return_counts=True)[1].max() >= 3:
        folds = StratifiedKFold(3, shuffle=True, random_state=seed)
        model = GridSearchCV(model, {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}, cv=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(model.fit(X[is_shown], y[is_shown]).predict_proba(X))


def measure(data: HeteroData, known: float, seed: int) -> dict[str, Any]:
    """Return the errors of all ways on one split, and calibration and CPU seconds of hetviz."""
    y = data.labels[0].values.astype(str)
    is_shown = shown(y, known, seed)
    seen = with_labels(data, "items", "class", np.where(is_shown, y, ""))
    start = time.process_time()
    table = hetviz.predict_labels(seen, "items", "class").table
    cpu = time.process_time() - start
    by_way = {DEFAULT: table["label"].to_numpy().astype(str)}
    by_way |= dict(rivals(data, y, is_shown, seed))
    probability = table["probability"].to_numpy(np.float64)[~is_shown]
    is_right = (by_way[DEFAULT] == y)[~is_shown]
    return {
        "error": {way: float((names != y)[~is_shown].mean()) for way, names in by_way.items()},
        "calibration": calibration_error(probability, is_right),
        "cpu": cpu,
        "labels": int(is_shown.sum()),
        "rows": len(y),
    }


def run(out: Path, quick: bool, folder: Path) -> None:
    """Measure all sets; `quick` takes one split."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "unseen_labels.jsonl"
    done = {(row["data"], row["known"], row["seed"]) for row in _rows_of(file)}
    loaded = {name: load(folder) for name, load in SETS.items()}
    for seed in range(1 if quick else SEEDS):
        for name, data in loaded.items():
            for known in KNOWN:
                if (name, known, seed) not in done:
                    row = {"data": name, "known": known, "seed": seed}
                    row |= measure(data, known, seed)
                    with file.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(row) + "\n")
    show(file)


def _rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def show(file: Path) -> None:
    """Print each set with standard errors, and the means over the sets."""
    rows = _rows_of(file)
    print("| data | known | labels | " + " | ".join(WAYS) + " | gain | calibration | CPU s |")
    print("|" + " --- |" * (len(WAYS) + 6))
    for known in KNOWN:
        title = f"{known} per class" if known >= 1 else f"{known:.0%}"
        means: dict[str, list[float]] = {}
        for name in SETS:
            own = [row for row in rows if (row["data"], row["known"]) == (name, known)]
            if not own:
                continue
            errors = {
                way: [row["error"][way] for row in own] for way in WAYS if way in own[0]["error"]
            }
            spread = SPREAD if SPREAD in errors else SPREAD_AXES
            gain = np.subtract(errors[spread], errors[DEFAULT])
            cells = [_with_error(errors[way]) if way in errors else "" for way in WAYS]
            others = {"gain": gain, **{k: [row[k] for row in own] for k in ("calibration", "cpu")}}
            cells += [_with_error(others["gain"])]
            cells += [f"{np.mean(others['calibration']):.3f}", f"{np.mean(others['cpu']):.1f}"]
            print(f"| {name} | {title} | {own[0]['labels']:,} | " + " | ".join(cells) + " |")
            for key, values in {**errors, **others}.items():
                means.setdefault(key, []).append(float(np.mean(values)))
        cells = [
            f"{np.mean(means[key]):.3f}"
            + (f" ({len(means[key])} sets)" if key in WAYS[1:3] else "")
            for key in (*WAYS, "gain", "calibration", "cpu")
            if key in means
        ]
        print(f"| **mean** | {title} | | " + " | ".join(cells) + " |")


def _with_error(values: Any) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f} ± {error:.3f}"


if __name__ == "__main__":
    show(Path(sys.argv[1]))
