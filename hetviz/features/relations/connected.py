"""Which datasets hang together."""

from __future__ import annotations

from hetviz._types import Sparse
from hetviz.core.graph.laplacian import dataset_components
from hetviz.data import HeteroData


def joined_parts(data: HeteroData, W: Sparse) -> dict[str, int]:
    """Return the part of the data that each dataset belongs to, by number.

    Parameters
    ----------
    data : HeteroData
    W : sparse array of shape (n_rows, n_rows)
        What joins items; only which entries exist matters. Datasets that it joins, directly or
        through others, are one part, see `hetviz.core.graph.laplacian.dataset_components`.
    """
    label = dataset_components(W, [len(dataset) for dataset in data.datasets.values()])
    return dict(zip(data.datasets, label.tolist(), strict=True))
