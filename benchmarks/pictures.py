"""Neighbours of pictures of the same class, by edges and colours and by the picture encoder.

``--data FOLDER`` holds one folder per class with its pictures, at any depth. The figures in
pictures.md are of the photographs in ``test`` and ``validation`` of
github.com/alexeygrigorev/clothing-dataset-small, which may be used for any purpose.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

import hetviz
from benchmarks.harness import cpu_seconds, report
from hetviz.data import Dataset

DATA = "needs"
_NEAREST = 10
_SUFFIXES = {".jpg", ".jpeg", ".png", ".webp"}


def same_class(pictures: list[Path], classes: np.ndarray, model: str) -> dict[str, Any]:
    """Return the share of the nearest pictures that are of the same class, and its error."""
    dataset = Dataset("pictures", [str(path) for path in pictures], media=pictures)
    seconds, features = cpu_seconds(
        lambda: hetviz.make_features(dataset, {"(pictures)": {"model": model}}), repeats=1
    )
    X = np.asarray(features.X)
    near = NearestNeighbors(n_neighbors=_NEAREST).fit(X).kneighbors(return_distance=False)
    share = (classes[near] == classes[:, None]).mean(axis=1)
    return {
        "compared by": model,
        "pictures": len(pictures),
        "same class": share.mean(),
        "standard error": share.std() / len(share) ** 0.5,
        "CPU ms a picture": seconds / len(pictures) * 1e3,
    }


def run(out: Path, quick: bool, data: Path) -> None:
    """Print how many of the ten nearest are of the same class, also by chance."""
    pictures = sorted(path for path in data.rglob("*") if path.suffix.lower() in _SUFFIXES)
    if quick:
        pictures = pictures[:: max(1, len(pictures) // 100)]
    names, classes = np.unique([path.parent.name for path in pictures], return_inverse=True)
    counts = np.bincount(classes)
    chance = (counts * (counts - 1)).sum() / (len(classes) * (len(classes) - 1))
    report(
        "pictures",
        [same_class(pictures, classes, model) for model in ("edges", "encoder")],
        out,
        f"{len(names)} classes, {chance:.3f} by chance",
    )
