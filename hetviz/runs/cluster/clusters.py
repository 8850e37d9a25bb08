"""Clusters of the items of a map, with descriptions."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from hetviz._html import html_table
from hetviz._json import records
from hetviz._types import Ints, JsonObject, Texts
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.cluster.cards import ClusterCard, cluster_cards
from hetviz.runs.cluster.codes import cluster_frame
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.search import search_clusters
from hetviz.runs.embed.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class Clustering:
    """Clusters of all rows of some data.

    Attributes
    ----------
    codes : array of int, shape (n_rows,)
        Cluster of each global row, 0 for the largest; -1 for rows in no cluster (without a place,
        without the label, or left out by HDBSCAN).
    names : tuple of str
    cards : tuple of ClusterCard
    choice : DataFrame
        A row for each number of clusters tried: k, silhouette, stability, rand_given and
        rand_held_out (the share of “together” links within one cluster and of “apart” links
        between two).
    method, space : str
        The method and the space, in words.
    ids : dict of str to array of str
        Ids of the rows of each dataset.
    """

    codes: Ints
    names: tuple[str, ...]
    cards: tuple[ClusterCard, ...]
    choice: pd.DataFrame
    method: str
    space: str
    ids: dict[str, Texts]

    def __repr__(self) -> str:
        return f"Clustering({len(self.names)} clusters by {self.method} {self.space})"

    def _repr_html_(self) -> str:
        rows = [(card.name, f"{sum(card.counts.values()):,}", card.sentence) for card in self.cards]
        return html_table(repr(self), rows, ("cluster", "items", ""))

    def frame(self) -> pd.DataFrame:
        """Return a table of all rows: dataset, id, cluster (from 1, or missing), name."""
        return cluster_frame(self.ids, self.codes, self.names)

    def to_dict(self) -> JsonObject:
        """Return the clustering as JSON-ready values, with None for NaN."""
        choice = self.choice.astype(object).where(self.choice.notna(), None)
        return {
            "method": self.method,
            "space": self.space,
            "names": list(self.names),
            "codes": self.codes.tolist(),
            "choice": records(choice),
            "cards": [card.to_dict() for card in self.cards],
        }


@one_thread()
def clusters(
    data: HeteroData,
    embedding: Embedding,
    *,
    method: str = "k-means",
    n_clusters: int | None = None,
    label: str | None = None,
    space: str = "map",
    run: Run | None = None,
    held_out: HeteroData | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Clustering:
    """Find and describe clusters of the items of all datasets on a map.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Rows are matched by dataset and id.
    method : {"k-means", "hdbscan", "agglomerative", "label"}
        "label" takes the values of a column as clusters.
    n_clusters : int, optional
        When absent, the largest number from 2 to 60 at a peak of silhouette times stability with
        at least 0.7 of the highest peak. HDBSCAN finds its own number; given one, it takes the
        closest number over all minimum cluster sizes.
    label : str, optional
        Label column or table column, with method "label"; items without a value have no cluster.
    space : {"map", "full"}
        The 2-D map, or all axes of the embedding. If it has only two, the method of `run` is fitted
        again with 10 (else 5, else 3) axes, if possible; a joint map gives its joint axes.
    run : Run, optional
        Record of the run that made the map, ``hetviz.runs.embed.run.fit_run(...).result``.
    held_out : HeteroData, optional
        Links that judge the clusters; its items join the cluster of the nearest item on the map.
    random_state : int
    progress : callable, optional

    Returns
    -------
    Clustering

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown method, space or label, or a number out of range.
    hetviz.errors.Cancelled
        When `progress` raises it.

    Notes
    -----
    For algorithms and costs see `hetviz.core.clustering.partition.partition` and
    `hetviz.core.clustering.partition_choice.try_sizes`. No step compares all pairs of more than
    8,000 items.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("digits")
    >>> hetviz.clusters(data, hetviz.embed(data, "guided-projection"), n_clusters=10)
    Clustering(10 clusters by k-means on the map itself)
    """
    report = ignore_progress if progress is None else progress
    result = search_clusters(
        data,
        embedding,
        method=method,
        n_clusters=n_clusters,
        label=label,
        space=space,
        run=run,
        held_out=held_out,
        random_state=random_state,
        progress=ProgressPart(report, 0.0, 0.9),
    )
    report(0.9, "Describing the clusters")
    chosen = result.tried[result.chosen]
    cards = cluster_cards(
        Contrasts(data), result.Y, chosen.code, chosen.k, result.names, chosen.of_groups
    )
    report(1.0, "Done")
    return Clustering(
        chosen.code,
        tuple(card.name for card in cards),
        cards,
        result.choice,
        method if label is None else f"label {label}",
        result.space,
        {name: dataset.ids for name, dataset in data.datasets.items()},
    )
