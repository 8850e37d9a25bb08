"""Label prediction against simple baselines, with 5, 10, 30 and 70 % known labels.

All predictions of hetviz come from `hetviz.predict_labels`, with the hidden labels taken out of
the data first. The baselines are scikit-learn's, on the plain features: logistic regression with
its strength by cross-validation, the same on own features with those of linked items and which
items these are, a random forest of 300 trees; and labels spread along links. No setting of hetviz
was chosen by these figures.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, normalize

import hetviz
from benchmarks.coca import mfeat as six_views
from benchmarks.harness import report
from benchmarks.joint_data import citeseer, terror_attack
from hetviz import HeteroData, Labels
from hetviz.core.prediction.blend import propagate, row_shares

DATA = "needs"
SHARES = (0.05, 0.1, 0.3, 0.7)
DEFAULT, CONSENSUS = "default", "gbc"
LOGISTIC, LINKED, FOREST, SPREAD = (
    "logistic",
    "logistic, own and linked",
    "random forest",
    "along links",
)
BASELINES = (LOGISTIC, LINKED, FOREST, SPREAD)
_SLOW = 2_500

Problem = tuple[HeteroData, str, str]


def run(out: Path, quick: bool, data: Path) -> None:
    """Hide labels, predict them, and count the wrong ones."""
    problems: dict[str, Callable[[], Problem]] = {
        "world": lambda: (hetviz.load("world"), "countries", "region"),
        "terror_attack": lambda: (terror_attack(data), "attacks", "class"),
        "emoji": lambda: (hetviz.load("emoji"), "emoji", "group"),
        "mfeat": lambda: (six_views(data), "", "class"),
        "citeseer": lambda: (citeseer(data), "papers", "class"),
    }
    rows = []
    for name, load in list(problems.items())[: 1 if quick else None]:
        whole, dataset, label = load()
        dataset = dataset or next(iter(whole.datasets))
        for share in SHARES:
            rows.append(judged(name, whole, dataset, label, share, 1 if quick else 5))
            report("label_prediction", rows, out, "share of hidden labels predicted wrong (error)")


def judged(
    name: str, data: HeteroData, dataset: str, label: str, share: float, seeds: int
) -> dict[str, Any]:
    """Return the errors of each way over the seeds, and the figures that judge the default."""
    errors: dict[str, list[float]] = {}
    messages: list[tuple[float, float, float]] = []
    for seed in range(seeds):
        y, displayed = split(data, dataset, label, share, seed)
        hidden = ~displayed & (y != "")
        seen = with_labels(data, dataset, label, np.where(displayed, y, ""))
        for way in (DEFAULT, CONSENSUS):
            if way == CONSENSUS and (len(y) > _SLOW or seed >= 2):
                continue
            start = time.process_time()
            table = hetviz.predict_labels(
                seen, dataset, label, method=None if way == DEFAULT else way, repeats=0
            ).table
            seconds = time.process_time() - start
            statements = table["label"].to_numpy().astype(str)
            errors.setdefault(way, []).append(float((statements[hidden] != y[hidden]).mean()))
            if way == DEFAULT:
                sure = table["probability"].to_numpy(np.float64)[hidden]
                right = statements[hidden] == y[hidden]
                messages.append((calibration_error(sure, right), seconds, float(displayed.sum())))
        for way, statements in baselines(data, dataset, y, displayed, seed):
            errors.setdefault(way, []).append(float((statements[hidden] != y[hidden]).mean()))
    row: dict[str, Any] = {"data": name, "label": label, "known": f"{share:.0%}"}
    row["labels"] = int(messages[0][2])
    for way in (DEFAULT, *BASELINES, CONSENSUS):
        row[way] = with_error(errors[way]) if way in errors else ""
    best = min((way for way in BASELINES if way in errors), key=lambda way: np.mean(errors[way]))
    gain = np.array(errors[best]) - np.array(errors[DEFAULT])
    row["best baseline less default"] = with_error(gain.tolist())
    row["calibration error"] = f"{np.mean([entry[0] for entry in messages]):.3f}"
    row["CPU s"] = f"{np.mean([entry[1] for entry in messages]):.1f}"
    return row


def split(
    data: HeteroData, dataset: str, label: str, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels as text, "" where there is none, and which of them are shown.

    At least one of each class is.
    """
    column = next(value for value in data.labels if (value.dataset, value.name) == (dataset, label))
    y = np.array(["" if value is None else str(value) for value in column.values])
    y[y == "nan"] = ""
    rng = np.random.default_rng((seed, 41))
    order = rng.permutation(np.flatnonzero(y != ""))
    firsts = [order[y[order] == name][0] for name in np.unique(y[y != ""])]
    others = order[~np.isin(order, firsts)]
    count = max(round(share * len(order)), len(firsts))
    displayed = np.zeros(len(y), dtype=bool)
    displayed[np.concatenate([firsts, others[: count - len(firsts)]]).astype(np.int64)] = True
    return y, displayed


def with_labels(data: HeteroData, dataset: str, label: str, y: np.ndarray) -> HeteroData:
    """Return the data with other values of a label, and without those of the same items elsewhere.

    Columns of the table are gone too: a label hidden in one place must not stand in another.
    """
    entity = data[dataset].entity
    values = [entry or None for entry in y.tolist()]
    others = [entry for entry in data.labels if data[entry.dataset].entity != entity]
    parts = [
        replace(part, table=None) if part.entity == entity else part
        for part in data.datasets.values()
    ]
    return HeteroData(parts, data.links, None, [*others, Labels(dataset, label, values)])


def baselines(
    data: HeteroData, dataset: str, y: np.ndarray, displayed: np.ndarray, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what each baseline says of all items."""
    own_values = [
        data[name].X for name in data.views(data[dataset].entity) if data[name].X is not None
    ]
    X = (
        sp.csr_matrix(sp.hstack(own_values))
        if any(map(sp.issparse, own_values))
        else np.hstack(own_values)
    )
    n = len(y)
    parts, steps = [scaled(X)], []
    for name, other in data.datasets.items():
        A = sp.csr_array((n, len(other)))
        for links in data.links:
            retained = links.weight > 0
            for a, i, b, j in (
                (links.source, links.i, links.target, links.j),
                (links.target, links.j, links.source, links.i),
            ):
                if (a, b) == (dataset, name):
                    A = A + sp.csr_array(
                        (links.weight[retained], (i[retained], j[retained])), shape=A.shape
                    )
        if not A.nnz:
            continue
        T = row_shares(sp.csr_array(A))
        parts.append(T)
        if other.X is not None:
            parts.append(T @ scaled(other.X))
        steps.append((T, None if name == dataset else row_shares(sp.csr_array(A.T))))
    yield LOGISTIC, logistic(X, y, displayed, seed)
    if steps:
        # rows of an array would come with long indices, which scikit-learn's solvers refuse
        both = sp.csr_matrix(sp.hstack([sp.csr_matrix(part) for part in parts]))
        yield LINKED, logistic(both, y, displayed, seed)
    forest = make_pipeline(
        SimpleImputer(), RandomForestClassifier(300, random_state=seed, n_jobs=1)
    )
    yield FOREST, forest.fit(X[displayed], y[displayed]).predict(X)
    if steps:
        classes = np.unique(y[displayed])
        Y = (y[:, None] == classes).astype(np.float64)
        start = np.where(displayed[:, None], Y, Y[displayed].mean(axis=0))
        yield SPREAD, classes[propagate(steps, start, displayed).argmax(axis=1)]


def scaled(X: Any) -> Any:
    """Return columns of mean 0 and variance 1, or rows of length 1 where they are sparse."""
    if sp.issparse(X):
        return normalize(X)
    return StandardScaler().fit_transform(SimpleImputer().fit_transform(X))


def logistic(X: Any, y: np.ndarray, displayed: np.ndarray, seed: int) -> np.ndarray:
    """Return the classes of all items by logistic regression, its strength by cross-validation."""
    scale = MaxAbsScaler() if sp.issparse(X) else make_pipeline(SimpleImputer(), StandardScaler())
    model = make_pipeline(scale, LogisticRegression(max_iter=300, tol=1e-3))
    strengths = {"logisticregression__C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    maximum = int(np.unique(y[displayed], return_counts=True)[1].max())
    folds = (StratifiedKFold if maximum >= 3 else KFold)(3, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(
            GridSearchCV(model, strengths, cv=folds).fit(X[displayed], y[displayed]).predict(X)
        )


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Return the mean over ten bins of |said - right|, weighed by their items."""
    bins = np.minimum((10 * sure).astype(np.int64), 9)
    count = np.bincount(bins, minlength=10)
    gap = np.abs(np.bincount(bins, sure, 10) - np.bincount(bins, right, 10))
    return float(gap.sum() / count.sum())


def with_error(values: list[float]) -> str:
    """Return mean and standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f} ({error:.3f})"
