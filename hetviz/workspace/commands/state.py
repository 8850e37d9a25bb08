"""State of a project, as immutable objects that can be shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from hetviz._types import Ints, Texts
from hetviz.data import Embedding, Filter, HeteroData
from hetviz.data.edits.statement_edits import without_sets
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.errors import DataError, Problem
from hetviz.io import DatasetInfo
from hetviz.metrics.fit.rows import coordinates_of, drawn_of
from hetviz.runs.cluster.codes import cluster_frame

T = TypeVar("T")

ORIGINAL_MAP = "shipped"
OUTCOMES = ("interrupted", "failed", "cancelled")


@dataclass(frozen=True, eq=False)
class Run:
    """A map with the settings that produced it.

    Attributes
    ----------
    id, method, title : str
    params : mapping
    seed : int
    hold_out : float
        Share of the links hidden from the method.
    fingerprint : str
        Fingerprint of the data it was made from.
    embedding : Embedding
    figures : mapping or None
        Measures and curves, JSON-ready; None for maps that were not measured.
    weights : mapping of str to float
        Factor of the link weights by key of the kind.
    only : array of int or None
        Rows of `embedding` used by the method; None for all.
    starred : bool
    when : str
        Time of the run: ISO 8601, UTC; empty for the original map of the data.
    before : Embedding or None
        The map that this one replaced when it was refitted.
    """

    id: str
    method: str
    title: str
    embedding: Embedding
    fingerprint: str
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    hold_out: float = 0.0
    figures: Mapping[str, Any] | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    only: Ints | None = None
    starred: bool = False
    when: str = ""
    before: Embedding | None = None

    def renamed(self, old: str, new: str, fingerprint: str | None, kinds: Mapping[str, str]) -> Run:
        """Return the run with a dataset renamed; `kinds` maps old keys of kinds to new ones."""

        def rename_key(mapping: Mapping[str, T]) -> dict[str, T]:
            return {(new if name == old else name): value for name, value in mapping.items()}

        embedding = replace(
            self.embedding,
            coordinates=rename_key(self.embedding.coordinates),
            ids=rename_key(self.embedding.ids),
            entity=rename_key(self.embedding.entity),
            placed=rename_key(self.embedding.placed),
            components=rename_key(self.embedding.components),
            drawn=None if self.embedding.drawn is None else rename_key(self.embedding.drawn),
        )
        return replace(
            self,
            embedding=embedding,
            fingerprint=fingerprint or self.fingerprint,
            before=None,
            weights={kinds.get(key, key): factor for key, factor in self.weights.items()},
        )


@dataclass(frozen=True, eq=False)
class Finding:
    """A result about the data other than a single map.

    Attributes
    ----------
    kind, title : str
    content : mapping
        JSON-ready.
    fingerprint : str
        Fingerprint of the data.
    runs : tuple of str
        Ids of the runs of its maps, in order; those of continued findings come first.
    when : str
        ISO 8601, UTC.
    """

    kind: str
    title: str
    content: Mapping[str, Any]
    fingerprint: str
    runs: tuple[str, ...] = ()
    when: str = ""


@dataclass(frozen=True)
class DisplaySettings:
    """Display settings of the map.

    Attributes
    ----------
    colour : str or None
        Colour key; None takes the first label column.
    hidden : tuple of str
        Hidden datasets.
    """

    colour: str | None = None
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class PendingJob:
    """A job that was started and has no result yet.

    Attributes
    ----------
    job, title : str
    note : mapping
        The arguments needed to start it again.
    outcome : {"interrupted", "failed", "cancelled", None}
        None while it may still succeed.
    message : str
    """

    job: str
    title: str
    note: Mapping[str, Any] = field(default_factory=dict)
    outcome: str | None = None
    message: str = ""


@dataclass(frozen=True, eq=False)
class ClusterAssignment:
    """Cluster of each item, by id so that it survives changes of the data.

    Attributes
    ----------
    codes : mapping of str to array of int
        Cluster of the rows of each dataset; -1 for none.
    ids : mapping of str to array of str
        Ids of the same rows.
    names : tuple of str
        Names of the clusters, the largest first.
    stability : tuple of float
        Stability of each cluster, 0 to 1; NaN if unknown.
    how : mapping
        Method, label and space (in words), JSON-ready.
    run : str or None
        The map used.
    changed : bool
        Whether a user merged or split clusters.
    """

    codes: Mapping[str, Ints]
    ids: Mapping[str, Texts]
    names: tuple[str, ...]
    stability: tuple[float, ...]
    how: Mapping[str, Any] = field(default_factory=dict)
    run: str | None = None
    changed: bool = False

    @classmethod
    def on(
        cls, data: HeteroData, codes: Ints, names: tuple[str, ...], **fields: Any
    ) -> ClusterAssignment:
        """Return clusters of the rows of `data`, with codes of shape (n_rows,)."""
        parts = {name: codes[span].copy() for name, span in data.offsets.items()}
        ids = {name: dataset.ids for name, dataset in data.datasets.items()}
        stability = fields.pop("stability", (float("nan"),) * len(names))
        return cls(parts, ids, names, tuple(stability), **fields)

    def of(self, data: HeteroData) -> Ints:
        """Return the cluster of each current row, shape (n_rows,)."""
        out = np.full(data.n_rows, -1)
        for name, dataset in data.datasets.items():
            ids = self.ids.get(name)
            if ids is None:
                continue
            span = data.offsets[name]
            if ids is dataset.ids or np.array_equal(ids, dataset.ids):
                out[span] = self.codes[name]
                continue
            row_of = {text: row for row, text in enumerate(ids)}
            rows = np.array([row_of.get(text, -1) for text in dataset.ids], dtype=np.int64)
            out[span] = np.where(rows >= 0, self.codes[name][rows], -1)
        return out

    def summary(self, data: HeteroData) -> pd.DataFrame:
        """Return name, size per dataset and stability of each cluster."""
        codes = self.of(data)
        counts = {
            name: np.bincount(codes[span][codes[span] >= 0], minlength=len(self.names))
            for name, span in data.offsets.items()
        }
        stability = ["" if np.isnan(value) else f"{value:.2f}" for value in self.stability]
        return pd.DataFrame({"cluster": self.names, **counts, "stability": stability})

    def frame(self, data: HeteroData) -> pd.DataFrame:
        """Return dataset, id, cluster (from 1, missing without) and name of all rows."""
        ids = {name: dataset.ids for name, dataset in data.datasets.items()}
        return cluster_frame(ids, self.of(data), self.names)

    def renamed(self, old: str, new: str) -> ClusterAssignment:
        """Return the clusters with a dataset renamed."""

        def rename_key(mapping: Mapping[str, T]) -> dict[str, T]:
            return {(new if name == old else name): value for name, value in mapping.items()}

        return replace(self, codes=rename_key(self.codes), ids=rename_key(self.ids))


@dataclass(frozen=True, eq=False)
class State:
    """Title, data, runs and view.

    Attributes
    ----------
    title, description : str
    source : str
        ``"sample:<name>"``, ``"file:<file name>"`` or ``"files"``; empty when nothing is open.
    data : HeteroData or None
    held_out : HeteroData or None
        Links of the data reserved for evaluating maps.
    problems : tuple of Problem
        Notes and skipped rows from reading the data.
    understood : tuple of DatasetInfo
        Description of each dataset as read.
    runs : tuple of Run
    chosen : str or None
        Id of the run on the map.
    view : View
    filters : tuple of Filter
        Rows that fail one of them are hidden.
    pending : Pending or None
        The last job started, until its result is recorded.
    findings : mapping of str to Finding
        The latest finding of each kind.
    off : frozenset of str
        Inactive sets of statements.
    clustering : Clustering or None
        Clusters of the items.
    """

    title: str = ""
    source: str = ""
    description: str = ""
    data: HeteroData | None = None
    held_out: HeteroData | None = None
    problems: tuple[Problem, ...] = ()
    understood: tuple[DatasetInfo, ...] = ()
    runs: tuple[Run, ...] = ()
    chosen: str | None = None
    view: DisplaySettings = DisplaySettings()
    filters: tuple[Filter, ...] = ()
    pending: PendingJob | None = None
    findings: Mapping[str, Finding] = field(default_factory=dict)
    off: frozenset[str] = frozenset()
    clustering: ClusterAssignment | None = None

    @property
    def run(self) -> Run | None:
        """The run shown on the map, if any."""
        return next((run for run in self.runs if run.id == self.chosen), None)

    @property
    def guided(self) -> HeteroData | None:
        """The data with only the active sets of statements, as methods use them."""
        return None if self.data is None else without_sets(self.data, self.off)

    def opened(self) -> HeteroData:
        """Return the data."""
        if self.data is None:
            raise DataError(
                Problem("no-data", "project", "nothing is open", remedy="Open data first.")
            )
        return self.data

    def is_current(self, run: Run) -> bool:
        """Whether a run was made from the current data."""
        return self.guided is not None and run.fingerprint == self.guided.fingerprint()

    def embedding(self, run: Run) -> Embedding | None:
        """Return the positions of the current rows in a run. Rows unknown to it have none."""
        if self.data is None:
            return None
        data = self.data

        def build() -> Embedding:
            return Embedding(
                coordinates_of(data, run.embedding),
                {name: dataset.ids for name, dataset in data.datasets.items()},
                {name: dataset.entity for name, dataset in data.datasets.items()},
                components=run.embedding.components,
                note=run.embedding.note,
                drawn=drawn_of(data, run.embedding),
            )

        key = ("places", id(run.embedding))
        return ITEM_RESULTS.get_or_compute(tuple(data.datasets.values()), key, build, run.embedding)
