"""Quality of methods on the samples: held-out links, mean and standard error over seeds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.harness import report
from hetviz.errors import DataWarning

VARIANTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("pca", {}),
    ("guided-projection", {}),
    ("guided-projection", {"kernel": "rbf"}),
    ("mr-sne", {}),
    ("umap", {}),
)
MEASURES = ("guidance_area", "guidance_area_held_out", "trustworthiness")


def run(out: Path, quick: bool) -> None:
    """Hold out a fifth of the links, fit on the rest."""
    rows: list[dict[str, Any]] = []
    for sample in ("emoji", "digits", "world", "debian"):
        data = hetviz.load(sample)
        for key, parameters in VARIANTS:
            scores = []
            for seed in range(2 if quick else 5):
                train, content = data.holdout(links=0.2, random_state=seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DataWarning)
                    embedding = hetviz.embed(train, key, **parameters)
                scores.append(hetviz.evaluate(train, embedding, content).to_dict())
            row: dict[str, Any] = {"sample": sample, "method": key, **{"kernel": "-"} | parameters}
            for measure in MEASURES:
                values = np.array([score.get(measure, np.nan) for score in scores])
                row[measure] = float(values.mean())
                row[f"{measure} s.e."] = float(values.std(ddof=1) / np.sqrt(len(values)))
            rows.append(row)
    report("sample_maps", rows, out, "two dimensions, default parameters, a fifth held out")
