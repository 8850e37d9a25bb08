"""Edges as an array: two rows or columns of ids, as in PyTorch Geometric and edge lists."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hetviz._types import Array
from hetviz.errors import DataError

_NAMES = ("source", "target", "weight")


def edges_of_array(where: str, array: Array, shape: tuple[int, int]) -> pd.DataFrame | None:
    """Return the edges that an array lists, None for a matrix of weights."""
    if array.ndim != 2 or not (array.shape[0] == 2 or array.shape[1] in (2, 3)):
        return None
    are_numbers = array.dtype.kind in "fiub"
    could_be_matrix = are_numbers and (array.shape == shape or 2 not in array.shape)
    if could_be_matrix and _can_only_be_weights(array):
        return None
    could_be_matrix &= array.shape == shape
    if could_be_matrix or array.shape == (2, 2):
        raise DataError.of(
            "which-array",
            where,
            "this could be a list of pairs, two rows of ids or a matrix of weights",
            str(array.shape),
            "Give array.tolist() for pairs, array.T.tolist() for two rows of ids, or "
            "scipy.sparse.coo_array(array) for weights.",
        )
    columns = array if array.shape[0] == 2 else array.T
    return pd.DataFrame(
        {name: column.tolist() for name, column in zip(_NAMES, columns, strict=False)}
    )


def _can_only_be_weights(array: Array) -> bool:
    """Whether the numbers are no ids: all from -1 to 1, or not whole, or no weights beside ids."""
    ids, beside = (array, array[:0]) if 2 in array.shape else (array[:, :2], array[:, 2])
    no_ids = (np.abs(array) <= 1).all() or (ids != np.floor(ids)).any()
    return bool(no_ids or (np.abs(beside) > 1).any())
