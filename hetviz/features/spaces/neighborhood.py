"""The graph of near rows within each dataset, from features, links, or both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import scipy.sparse as sp

from hetviz._types import Sparse
from hetviz.core.graph.knn_graph import neighbor_graph
from hetviz.data import HeteroData
from hetviz.features.spaces.basis import Basis
from hetviz.features.spaces.projection import guidance_of
from hetviz.progress import Progress

GRAPHS = {
    "both": "items with similar features, and linked items",
    "neighbors": "items with similar features",
    "links": "linked items",
}


def neighborhood(
    data: HeteroData,
    bases: Mapping[str, Basis],
    graph: str,
    n_neighbors: int,
    heat: bool,
    random_state: int,
    progress: Progress,
) -> Sparse:
    """Return who is near whom within each dataset.

    Parameters
    ----------
    data : HeteroData
        Links within a dataset that say together are edges.
    bases : mapping of str to Basis
        Rows are near by these features; featureless datasets have links alone.
    graph : {"both", "neighbors", "links"}
        See `GRAPHS`.
    n_neighbors : int
    heat, random_state
        See `hetviz.core.graph.knn_graph.neighbor_graph`.
    progress : callable
        Told from 0.6 to 0.8.

    Returns
    -------
    csr_array of shape (n_rows, n_rows)
        Non-negative, symmetric; an edge of both kinds counts the sum, at most 1.
    """
    A = sp.csr_array((data.n_rows, data.n_rows))
    if graph != "neighbors":
        A = guidance_of(data, sign=1, tie_views=False, between=False)
    if graph == "links":
        return A
    parts = []
    for step, (name, basis) in enumerate(bases.items()):
        tell = partial(_tell, progress, step / len(bases), 1 / len(bases), name)
        if isinstance(basis.features, int):
            parts.append(sp.csr_array((basis.features, basis.features)))
        else:
            near = neighbor_graph(
                basis.features, n_neighbors, heat=heat, random_state=random_state, progress=tell
            )
            parts.append(near)
    A = sp.csr_array(A + sp.block_diag(parts, format="csr"))
    A.data = np.minimum(A.data, 1.0)
    return A


def _tell(progress: Progress, start: float, width: float, name: str, share: float) -> None:
    progress(0.6 + 0.2 * (start + width * share), f"Neighbours in {name}")
