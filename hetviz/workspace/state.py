"""What a workspace holds at one moment; immutable, so that a snapshot costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from hetviz._types import Ints, Texts
from hetviz.data import Embedding, Filter, HeteroData
from hetviz.data.edits.stating import without_sets
from hetviz.data.model.same_items import of_items
from hetviz.errors import DataError, Problem
from hetviz.io import DatasetInfo
from hetviz.metrics.fit.rows import coordinates_of, drawn_of
from hetviz.runs.cluster.codes import cluster_frame

T = TypeVar("T")

SHIPPED = "shipped"
OUTCOMES = ("interrupted", "failed", "cancelled")


@dataclass(frozen=True, eq=False)
class Run:
    """One map and where it came from.

    Attributes
    ----------
    id, method, title : str
    params : mapping
    seed : int
    hold_out : float
        Share of the links that the method did not see.
    fingerprint : str
        Of the data it was made from; differs from the data's own once those change.
    embedding : Embedding
    figures : mapping or None
        Measures and curves, JSON-ready; None where they were never taken.
    weights : mapping of str to float
        Key of a kind of links to what its weights were multiplied by.
    only : array of int or None
        Rows of `embedding` that the method saw; None if it saw all.
    starred : bool
    when : str
        When it was kept: ISO 8601, UTC; empty for a map that came with the data.
    before : Embedding or None
        Where the items were on the map that this one was made from again.
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
        """Return the run with a dataset renamed.

        `fingerprint` replaces its own if given; `kinds` leads from old keys of kinds to new ones.
        """

        def moved(mapping: Mapping[str, T]) -> dict[str, T]:
            return {(new if name == old else name): value for name, value in mapping.items()}

        embedding = replace(
            self.embedding,
            coordinates=moved(self.embedding.coordinates),
            ids=moved(self.embedding.ids),
            entity=moved(self.embedding.entity),
            placed=moved(self.embedding.placed),
            components=moved(self.embedding.components),
            drawn=None if self.embedding.drawn is None else moved(self.embedding.drawn),
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
    """What was found out about the data.

    Attributes
    ----------
    kind, title : str
    content : mapping
        JSON-ready.
    fingerprint : str
        Of the data that it is about.
    runs : tuple of str
        Ids of the runs of the maps made on the way, in order; those of findings that these go on
        with come first.
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
class View:
    """How the map is shown.

    Attributes
    ----------
    colour : str or None
        Colour key; None takes the first label column.
    hidden : tuple of str
        Datasets not drawn.
    """

    colour: str | None = None
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pending:
    """A job that was started and has not given its map.

    Attributes
    ----------
    job, title : str
    note : mapping
        What is needed to start it again.
    outcome : {"interrupted", "failed", "cancelled", None}
        None while it may still give one.
    message : str
    """

    job: str
    title: str
    note: Mapping[str, Any] = field(default_factory=dict)
    outcome: str | None = None
    message: str = ""


@dataclass(frozen=True, eq=False)
class Clustering:
    """Which cluster each item is in, by id, so that it outlives changes of the data.

    Attributes
    ----------
    codes : mapping of str to array of int
        Of the rows of each dataset; -1 for those in no cluster.
    ids : mapping of str to array of str
        Of the same rows.
    names : tuple of str
        Of the clusters, the largest first.
    stability : tuple of float
        Of each cluster, 0 to 1; NaN where it is not known.
    how : mapping
        How they were found: method, label, space (in words), JSON-ready.
    run : str or None
        The map that they were found on.
    changed : bool
        Whether somebody merged or split them since.
    """

    codes: Mapping[str, Ints]
    ids: Mapping[str, Texts]
    names: tuple[str, ...]
    stability: tuple[float, ...]
    how: Mapping[str, Any] = field(default_factory=dict)
    run: str | None = None
    changed: bool = False

    @classmethod
    def on(cls, data: HeteroData, codes: Ints, names: tuple[str, ...], **more: Any) -> Clustering:
        """Return the clusters of the rows of some data, codes of shape (n_rows,)."""
        parts = {name: codes[span].copy() for name, span in data.offsets.items()}
        ids = {name: dataset.ids for name, dataset in data.datasets.items()}
        stability = more.pop("stability", (float("nan"),) * len(names))
        return cls(parts, ids, names, tuple(stability), **more)

    def of(self, data: HeteroData) -> Ints:
        """Return the cluster of each row of the data as they are now, shape (n_rows,)."""
        out = np.full(data.n_rows, -1)
        for name, dataset in data.datasets.items():
            known = self.ids.get(name)
            if known is None:
                continue
            span = data.offsets[name]
            if known is dataset.ids or np.array_equal(known, dataset.ids):
                out[span] = self.codes[name]
                continue
            row_of = {text: row for row, text in enumerate(known)}
            rows = np.array([row_of.get(text, -1) for text in dataset.ids], dtype=np.int64)
            out[span] = np.where(rows >= 0, self.codes[name][rows], -1)
        return out

    def summary(self, data: HeteroData) -> pd.DataFrame:
        """Return a row for each cluster: its name, its items of each dataset, its stability."""
        codes = self.of(data)
        counts = {
            name: np.bincount(codes[span][codes[span] >= 0], minlength=len(self.names))
            for name, span in data.offsets.items()
        }
        stability = ["" if np.isnan(value) else f"{value:.2f}" for value in self.stability]
        return pd.DataFrame({"cluster": self.names, **counts, "stability": stability})

    def frame(self, data: HeteroData) -> pd.DataFrame:
        """Return a table of all rows: dataset, id, cluster (from 1; missing without), name."""
        ids = {name: dataset.ids for name, dataset in data.datasets.items()}
        return cluster_frame(ids, self.of(data), self.names)

    def renamed(self, old: str, new: str) -> Clustering:
        """Return the clusters with a dataset renamed."""

        def moved(mapping: Mapping[str, T]) -> dict[str, T]:
            return {(new if name == old else name): value for name, value in mapping.items()}

        return replace(self, codes=moved(self.codes), ids=moved(self.ids))


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
        Links that came with the data to judge a map by.
    problems : tuple of Problem
        Notes, and rows left out, told when the data were read.
    understood : tuple of DatasetInfo
        How each dataset was read.
    runs : tuple of Run
    chosen : str or None
        Id of the run on the map.
    view : View
    filters : tuple of Filter
        Rows that do not pass all of them are not drawn.
    pending : Pending or None
        The job last started, until its map is kept.
    findings : mapping of str to Finding
        The latest of each kind.
    off : frozenset of str
        Sets of statements that are switched off.
    clustering : Clustering or None
        Clusters of the items, as they were found and changed since.
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
    view: View = View()
    filters: tuple[Filter, ...] = ()
    pending: Pending | None = None
    findings: Mapping[str, Finding] = field(default_factory=dict)
    off: frozenset[str] = frozenset()
    clustering: Clustering | None = None

    @property
    def run(self) -> Run | None:
        """The run on the map, if any."""
        return next((run for run in self.runs if run.id == self.chosen), None)

    @property
    def guided(self) -> HeteroData | None:
        """The data as methods and measures see them: without what is switched off."""
        return None if self.data is None else without_sets(self.data, self.off)

    def opened(self) -> HeteroData:
        """Return the data.

        Raises
        ------
        hetviz.errors.DataError
            If nothing is open.
        """
        if self.data is None:
            raise DataError(
                Problem("no-data", "project", "nothing is open", remedy="Open data first.")
            )
        return self.data

    def is_current(self, run: Run) -> bool:
        """Whether a run was made from the data as they are now."""
        return self.guided is not None and run.fingerprint == self.guided.fingerprint()

    def embedding(self, run: Run) -> Embedding | None:
        """Return a run's places of the rows that are there now; rows it never saw have none."""
        if self.data is None:
            return None
        data = self.data

        def made() -> Embedding:
            return Embedding(
                coordinates_of(data, run.embedding),
                {name: dataset.ids for name, dataset in data.datasets.items()},
                {name: dataset.entity for name, dataset in data.datasets.items()},
                components=run.embedding.components,
                note=run.embedding.note,
                drawn=drawn_of(data, run.embedding),
            )

        key = ("places", id(run.embedding))
        return of_items(data.datasets.values(), key, made, run.embedding)
