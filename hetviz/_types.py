"""Array types shared by all of hetviz. Shapes and indices are described in docstrings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Floats: TypeAlias = NDArray[np.float64]
AnyFloat: TypeAlias = np.floating[Any]
Reals: TypeAlias = NDArray[AnyFloat]  # any precision, like features
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Texts: TypeAlias = NDArray[np.object_]
Array: TypeAlias = NDArray[Any]
Rng: TypeAlias = np.random.Generator

MAX_MAGNITUDE = 1e100
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
    """Whether a matrix is sparse."""
    return bool(sp.issparse(X))


RandomSeed: TypeAlias = int | np.random.Generator | np.random.RandomState | None
"""A seed, None for another one each time, or a generator that draws one."""
