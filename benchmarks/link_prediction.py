"""Hidden links and items without links: the default predictor against Kronecker ridge.

Data to report on; the settings of the predictor were chosen on `estimators`, `imports`, `zones`,
`digits` and `terror_attack` of `benchmarks.joint_data`.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

import hetviz
from benchmarks.harness import report
from benchmarks.joint_data import FROM_FOLDER, LOADERS
from hetviz import HeteroData
from hetviz.features.problems.profiles import NearestProfiles
from hetviz.runs.predict.link_fitting import signed_links
from hetviz.runs.predict.link_settings import MIXED

DATA = "needs"
PAIRS = (
    ("yamanishi_nr", "drugs", "targets"),
    ("debian", "programs", "tags"),
    ("debian", "programs", "libraries"),
    ("world", "countries", "languages"),
    ("world", "films", "countries"),
    ("emoji", "emoji", "keywords"),
    ("citeseer", "papers", "papers"),
)
MOST_ROWS = 600


def run(out: Path, quick: bool, data: Path) -> None:
    """Hide a fifth of the links, and rank all pairs that no remaining link tells of."""
    rows = []
    for name, source, target in PAIRS[:2] if quick else PAIRS:
        loader = LOADERS[name]
        whole = loader(data) if name in FROM_FOLDER else loader()
        rows.append(judged(name, whole, source, target, 1 if quick else 3))
        report("link_prediction", rows, out, "hidden links: AUC and average precision (error)")


def judged(name: str, data: HeteroData, source: str, target: str, seeds: int) -> dict[str, Any]:
    """Return AUC and average precision of each way, over the seeds."""
    result: dict[str, list[tuple[float, float]]] = {}
    seconds = []
    for seed in range(seeds):
        train, content = data.holdout(0.2, random_state=seed)
        rows = np.arange(len(data[source]))
        if len(rows) * len(data[target]) > 4_000_000:
            drawn = np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False)
            rows = np.sort(drawn)
        expected = signed_links(train, source, target)[rows].toarray() != 0
        truth = (signed_links(content, source, target)[rows] > 0).toarray() & ~expected
        asked = ~expected
        if source == target:
            asked[np.arange(len(rows)), rows] = False
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predictor = hetviz.fit_link_predictor(train, source, target, random_state=seed)
        seconds.append(time.process_time() - start)
        # the ridge as it is usually set: half likeness and half profiles, ridge 1
        plain = predictor._fit.ridges[MIXED][1.0]
        profiles = NearestProfiles(train, source, target)
        degrees = [
            np.log1p(np.asarray((signed_links(train, *ends) > 0).sum(axis=1)).ravel())
            for ends in ((source, target), (target, source))
        ]
        ways = {
            "default": predictor.scores(rows),
            "Kronecker ridge": plain.rows(rows),
            "nearest profiles": profiles.scores(rows),
            "popularity": np.add.outer(degrees[0][rows], degrees[1]),
        }
        for title, S in ways.items():
            pair = (
                float(roc_auc_score(truth[asked], S[asked])),
                float(average_precision_score(truth[asked], S[asked])),
            )
            result.setdefault(title, []).append(pair)
    row: dict[str, Any] = {"data": name, "links": f"{source} - {target}"}
    for title, values in result.items():
        for place, measure in enumerate(("AUC", "precision")):
            figures = np.array(values)[:, place]
            error = figures.std(ddof=1) / np.sqrt(len(figures)) if len(figures) > 1 else np.nan
            row[f"{title}, {measure}"] = f"{figures.mean():.3f} ({error:.3f})"
    row["CPU s of a fit"] = float(np.mean(seconds))
    return row
