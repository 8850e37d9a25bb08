"""Export of data as tables, AnnData and networkx graphs under their original ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._json import records
from hetviz._types import Floats, Texts, is_sparse
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    import networkx as nx
    from anndata import AnnData


def keys_of(dataset: Dataset) -> Texts:
    """Return the original keys of the rows."""
    return dataset.ids if dataset.keys is None else dataset.keys


def to_frames(data: HeteroData, embedding: Embedding | None = None) -> dict[str, pd.DataFrame]:
    """See `hetviz.data.HeteroData.to_frames`."""
    frames = {}
    for name, dataset in data.datasets.items():
        index = pd.Index(keys_of(dataset).tolist(), name="id", tupleize_cols=False)
        n = range(len(dataset))
        table = pd.DataFrame(index=n) if dataset.table is None else dataset.table.copy()
        for label in data.labels:
            if label.dataset == name and label.name not in table.columns:
                table[label.name] = label.values
        if embedding is not None and name in embedding.coordinates:
            for axis, values in zip(embedding.axis_names, _places(dataset, embedding).T,
                                    strict=True):  # fmt: skip
                table[axis] = values
        frames[name] = table.set_index(index)
    return frames


def _places(dataset: Dataset, embedding: Embedding) -> Floats:
    """Return the coordinates of each row by id, (n, k); NaN if it has none."""
    at = {text: row for row, text in enumerate(embedding.ids[dataset.name].tolist())}
    Y = np.full((len(dataset), embedding.n_components), np.nan)
    for row, text in enumerate(dataset.ids.tolist()):
        if text in at:
            Y[row] = embedding.coordinates[dataset.name][at[text]]
    return Y


def to_links(data: HeteroData) -> pd.DataFrame:
    """See `hetviz.data.HeteroData.to_links`."""
    parts = []
    for links in data.links:
        source, target = keys_of(data[links.source]), keys_of(data[links.target])
        frame = pd.DataFrame(
            {
                "source_dataset": links.source,
                "source_id": pd.Series(source[links.i], dtype=object),
                "target_dataset": links.target,
                "target_id": pd.Series(target[links.j], dtype=object),
                "weight": links.weight,
                "score": np.nan if links.score is None else links.score,
                "kind": links.kind,
                "role": links.role,
            },
            index=range(len(links)),
        )
        if links.meta is not None:
            frame = frame.join(links.meta, rsuffix=" (note)")
        parts.append(frame)
    columns = ["source_dataset", "source_id", "target_dataset", "target_id", "weight", "score"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def to_anndata(data: HeteroData, name: str | None, embedding: Embedding | None) -> AnnData:
    """See `hetviz.data.HeteroData.to_anndata`."""
    try:
        import anndata
    except ImportError:
        raise MissingExtraError("to_anndata", package="anndata") from None
    if name is None and len(data.datasets) > 1:
        message = "AnnData holds one dataset, but there are several"
        call = f"Call data.to_anndata({next(iter(data.datasets))!r})."
        raise DataError.of("which-dataset", "to_anndata", message, "", call)
    dataset = data[name or next(iter(data.datasets))]
    obs = pd.DataFrame(index=range(len(dataset))) if dataset.table is None else dataset.table.copy()
    for column in obs.columns:
        if obs[column].dtype == object:
            obs[column] = [None if _is_missing(v) else str(v) for v in obs[column].tolist()]
            obs[column] = obs[column].astype("category")
    for label in data.labels:
        if label.dataset == dataset.name:
            cells = [None if value is None else str(value) for value in label.values]
            obs[label.name] = pd.Categorical(cells)
    obs.columns = pd.Index([str(column).replace("/", "_") for column in obs.columns])
    obs.index = pd.Index(dataset.ids.tolist(), dtype=object)
    X = dataset.X
    var = pd.DataFrame(index=pd.Index([], dtype=object))
    if X is not None:
        names = dataset.feature_names or [f"feature {k + 1}" for k in range(X.shape[1])]
        var = pd.DataFrame(index=pd.Index(list(names), dtype=object))
    matrix: Any = sp.csr_matrix(X) if X is not None and is_sparse(X) else X
    adata = anndata.AnnData(None if matrix is None else matrix.copy(), obs=obs, var=var)
    for word in ("kernel", "distance"):
        square = getattr(dataset, word)
        if square is not None and square.shape[0] == square.shape[1]:
            adata.obsp[word] = square.copy()
    n = len(dataset)
    for links in data.links:
        if links.source == links.target == dataset.name:
            W = sp.coo_matrix((links.weight, (links.i, links.j)), shape=(n, n))
            key = f"{links.kind}_connectivities".replace("/", "_")
            adata.obsp[key.removesuffix("_connectivities_connectivities") or key] = sp.csr_matrix(
                W + W.T
            )
    if embedding is not None:
        adata.obsm["X_hetviz"] = _places(dataset, embedding)
    return adata


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value != value


def to_networkx(data: HeteroData, embedding: Embedding | None) -> nx.Graph:
    """See `hetviz.data.HeteroData.to_networkx`."""
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("to_networkx", package="networkx") from None
    graph = networkx.MultiGraph()
    for name, frame in to_frames(data, embedding).items():
        titles = data[name].titles.tolist()
        for key, title, facts in zip(frame.index, titles, records(frame), strict=True):
            graph.add_node((name, key), **{"dataset": name, "title": title} | facts)
    for links in data.links:
        source, target = keys_of(data[links.source]), keys_of(data[links.target])
        for i, j, weight in zip(links.i, links.j, links.weight.tolist(), strict=True):
            graph.add_edge(
                (links.source, source[i]), (links.target, target[j]), weight=weight, kind=links.kind
            )
    return graph
