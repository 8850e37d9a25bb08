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
from hetviz.workspace.store.packing import unpack_arrays

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
    where = f"dataset {dataset.name!r}"
    stored = unpack_arrays(where, content)
    try:
        said = json.loads(stored["said"].tobytes())
        X: Any = stored.get("X")
        if "indptr" in stored:
            X = sp.csr_array(tuple(stored[part] for part in _PARTS), shape=tuple(said["shape"]))
            # An index that leads nowhere would be followed.
            X.check_format(full_check=True)
        recipe = {**(dataset.recipe or {}), "features": said["recipe"]}
        names = said["names"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise DataError(Problem("damaged-content", where, "the features cannot be read")) from None
    if X is not None and X.shape[0] != len(dataset):
        what = "the features were made of other rows"
        remedy = "Make them again."
        raise DataError(Problem("other-data", where, what, remedy=remedy))
    return replace(dataset, X=X, feature_names=names, recipe=recipe)
