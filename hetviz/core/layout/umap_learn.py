"""Graph and layout of the umap-learn package, imported only when used.

Importing it takes seconds, so it is imported during a fit.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from hetviz._types import Array, Floats, Matrix, Sparse, is_sparse
from hetviz.core.threads import one_thread

if TYPE_CHECKING:
    import umap

METRICS = {
    "euclidean": "straight distances",
    "cosine": "angles: sizes do not count",
    "correlation": "angles after subtracting the mean",
    "manhattan": "sums of differences",
    "chebyshev": "the largest difference",
    "canberra": "differences as shares of the sizes",
    "braycurtis": "differences as shares of the total, for counts",
    "hamming": "shares of columns that differ",
    "jaccard": "share of the set columns that only one of the two has",
    "hellinger": "for counts and shares of a whole",
}


def umap_settings(
    *,
    n_neighbors: int,
    metric: str,
    random_state: int,
    n_components: int = 2,
    min_dist: float = 0.1,
    n_epochs: int | None = None,
    densmap: bool = False,
    target_metric: str = "categorical",
    target_weight: float = 0.5,
) -> dict[str, Any]:
    """Return the arguments of ``umap.UMAP`` for one description of the items."""
    return {
        "n_neighbors": n_neighbors,
        "metric": metric,
        "random_state": random_state,
        "n_components": n_components,
        "min_dist": min_dist,
        "n_epochs": n_epochs,
        "densmap": densmap,
        "target_metric": target_metric,
        "target_weight": target_weight,
        "n_jobs": 1,
    }


@one_thread()
def learned_graph(X: Matrix, y: Array | None, settings: dict[str, object]) -> Sparse:
    """Return umap-learn's graph of features or distances."""
    import scipy.sparse as sp

    fitted = _fitted(X, y, settings | {"transform_mode": "graph", "densmap": False})
    return sp.csr_array(fitted.graph_)


@one_thread()
def learned_layout(
    parts: Sequence[Matrix], y: Array | None, all_settings: Sequence[dict[str, object]]
) -> Floats:
    """Return umap-learn's layout of items with one or several descriptions, shape (n, k).

    Several models of the same rows are combined as in umap-learn, by the intersection ``a * b`` of
    their graphs.
    """
    models = [_fitted(X, y, settings) for X, settings in zip(parts, all_settings, strict=True)]
    combined = models[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models[1:]:
            combined = combined * model
    return np.asarray(combined.embedding_, dtype=np.float64)


def _fitted(X: Matrix, y: Array | None, settings: dict[str, object]) -> umap.UMAP:
    with warnings.catch_warnings():
        # It warns about missing optional packages, seeds and few rows.
        warnings.simplefilter("ignore")
        return _umap_learn().UMAP(**settings).fit(_plain(X), y)


@cache
def _umap_learn() -> ModuleType:
    """Import umap-learn and cache its compiled loops on disk, which it does for few of them."""
    import umap
    from numba.core.dispatcher import Dispatcher

    # Not of umap.layouts: it compiles a loop with and without threads, and these would share an
    # entry of the cache.
    for part in (umap.distances, umap.sparse, umap.utils, umap.umap_):
        for loop in vars(part).values():
            # Those with a signature are already compiled.
            if (
                isinstance(loop, Dispatcher)
                and loop.py_func.__module__ == part.__name__
                and not loop.signatures
            ):
                # No folder to write to: compile in each process.
                with contextlib.suppress(RuntimeError):
                    loop.enable_caching()
    module: ModuleType = umap
    return module


def _plain(X: Matrix) -> Any:
    import scipy.sparse as sp

    return sp.csr_matrix(X) if is_sparse(X) else np.asarray(X)
