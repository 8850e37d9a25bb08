"""Types of arrays that all of hetviz shares.

They say what an array holds; its shape, and what each index means, stand in the docstrings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Floats: TypeAlias = NDArray[np.float64]
Real: TypeAlias = np.floating[Any]
Reals: TypeAlias = NDArray[Real]  # of any precision, as features are kept
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Texts: TypeAlias = NDArray[np.object_]
Array: TypeAlias = NDArray[Any]

LARGEST = 1e100
"""Larger numbers overflow when squared and summed."""

Scalar: TypeAlias = bool | int | float | str | None
Json: TypeAlias = "Scalar | Sequence[Json] | Mapping[str, Json]"
JsonObject: TypeAlias = dict[str, Json]

if TYPE_CHECKING:
    Sparse: TypeAlias = sp.csr_array[Any, tuple[int, int]]
    Matrix: TypeAlias = Reals | Sparse
else:
    Sparse, Matrix = sp.csr_array, np.ndarray | sp.csr_array


def is_sparse(X: object) -> TypeIs[Sparse]:
    """Tell a sparse matrix from a dense one."""
    return bool(sp.issparse(X))
