"""The features of one dataset as bytes, with the recipe they were made by; never pickled."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz.data import Dataset
from hetviz.errors import DataError, Problem

_PARTS = ("data", "indices", "indptr")


def pack_features(dataset: Dataset) -> bytes:
    """Return features, their names and their recipe as NPZ."""
    said = {
        "names": None if dataset.feature_names is None else list(dataset.feature_names),
        "recipe": (dataset.recipe or {}).get("features"),
        "shape": None if dataset.X is None else list(dataset.X.shape),
    }
    arrays: dict[str, Any] = {"said": np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)}
    if isinstance(dataset.X, sp.csr_array):
        arrays |= {part: getattr(dataset.X, part) for part in _PARTS}
    elif dataset.X is not None:
        arrays["X"] = dataset.X
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def unpack_features(content: bytes, dataset: Dataset) -> Dataset:
    """Return the dataset with the features that `pack_features` packed.

    Raises
    ------
    hetviz.errors.DataError
        If they are of other rows.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        said = json.loads(stored["said"].tobytes())
        X: Any = stored["X"] if "X" in stored.files else None
        if "indptr" in stored.files:
            parts = tuple(stored[part] for part in _PARTS)
            X = sp.csr_array(parts, shape=tuple(said["shape"]))
    if X is not None and X.shape[0] != len(dataset):
        what = "the features were made of other rows"
        remedy = "Make them again."
        raise DataError(Problem("other-data", f"dataset {dataset.name!r}", what, remedy=remedy))
    recipe = {**(dataset.recipe or {}), "features": said["recipe"]}
    return replace(dataset, X=X, feature_names=said["names"], recipe=recipe)
