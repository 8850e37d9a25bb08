"""State of a project, as immutable objects that can be shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Ints, Texts
from hetviz.data import Embedding, Filter, HeteroData, SavedView
from hetviz.data.edits.statement_edits import without_sets
from hetviz.data.joins.judged_links import judge_links
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.data.queries.changes import share_changed
from hetviz.errors import DataError, Problem
from hetviz.io import DatasetInfo
from hetviz.metrics.fit.rows import coordinates_of, drawn_of
from hetviz.runs.embed.run import MapResult
from hetviz.runs.embed.scope import rows_of_map

ORIGINAL_MAP = "shipped"
OUTCOMES = ("interrupted", "failed", "cancelled")


@dataclass(frozen=True, eq=False)
class Finding:
    """A result about the data other than a single map."""

    kind: str
    title: str
    content: Mapping[str, Any]  # JSON-ready.
    fingerprint: str  # Fingerprint of the data.
    # Ids of the runs of its maps, in order; those of continued findings come first.
    runs: tuple[str, ...] = ()
    when: str = ""  # ISO 8601, UTC.


@dataclass(frozen=True)
class DisplaySettings:
    """Display settings of the map."""

    colour: str | None = None  # Colour key; None takes the first label column.
    hidden: tuple[str, ...] = ()  # Hidden datasets.
    terrain: bool = True  # Whether the map shows density below its points.
    # Colours chosen by the user: colour key, category and ``#rrggbb``.
    swatches: tuple[tuple[str, str, str], ...] = ()
    # Charts below the map: dataset, column, and the dataset whose links the chart follows or "".
    # A scatter also has the column of its y axis. None before any was chosen.
    charts: tuple[tuple[str, ...], ...] | None = None
    has_charts: bool = False  # Whether the charts are open.
    has_table: bool = False  # Whether the table is in their place.
    has_time: bool = True  # Whether a chart of dates is shown while the charts are closed.

    def swatches_of(self, colour: str) -> tuple[tuple[str, str], ...]:
        """Return the categories of a colour key with the colours chosen for them."""
        return tuple((name, chosen) for key, name, chosen in self.swatches if key == colour)


@dataclass(frozen=True)
class PendingJob:
    """A job that was started and has no result yet."""

    job: str
    title: str
    # The arguments needed to start it again.
    note: Mapping[str, Any] = field(default_factory=dict)
    # One of {"interrupted", "failed", "cancelled", None}. None while it may still succeed.
    outcome: str | None = None
    message: str = ""
    data: HeteroData | None = field(default=None, compare=False)  # The data that it is about.


@dataclass(frozen=True, eq=False)
class ClusterAssignment:
    """Cluster of each item, by id so that it survives changes of the data."""

    codes: Mapping[str, Ints]  # Cluster of the rows of each dataset; -1 for none.
    ids: Mapping[str, Texts]  # Ids of the same rows.
    names: tuple[str, ...]  # Names of the clusters, the largest first.
    stability: tuple[float, ...]  # Stability of each cluster, 0 to 1; NaN if unknown.
    # Method, label and space (in words), JSON-ready.
    how: Mapping[str, Any] = field(default_factory=dict)
    run: str | None = None  # The map used.
    changed: bool = False  # Whether a user merged or split clusters.

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


@dataclass(frozen=True, eq=False)
class ProposedLinks:
    """Proposed links of one kind between two datasets, and the answers about them."""

    similarity: Mapping[tuple[str, str], float] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    removed: tuple[tuple[str, str], ...] = ()  # Links that Ask me removed.

    def probabilities(self) -> dict[tuple[str, str], float]:
        """Return the probability of each unjudged pair, empty with too few answers."""
        ends = ["source_id", "target_id"]
        proposed = pd.DataFrame(list(self.similarity), columns=ends)
        proposed = proposed.assign(similarity=list(self.similarity.values()), probability=np.nan)
        answers = pd.DataFrame(list(self.answers), columns=ends)
        judged = judge_links(proposed, answers.assign(right=list(self.answers.values())))
        pairs = zip(judged["source_id"], judged["target_id"], strict=True)
        known = zip(pairs, judged["probability"].tolist(), strict=True)
        return {pair: p for pair, p in known if pair not in self.answers and not np.isnan(p)}


@dataclass(frozen=True, eq=False)
class State:
    """Title, data, runs and view."""

    title: str = ""
    # ``"sample:<name>"``, ``"file:<file name>"`` or ``"files"``; empty when nothing is open.
    source: str = ""
    description: str = ""
    data: HeteroData | None = None
    held_out: HeteroData | None = None  # Links of the data reserved for evaluating maps.
    problems: tuple[Problem, ...] = ()  # Notes and skipped rows from reading the data.
    understood: tuple[DatasetInfo, ...] = ()  # Description of each dataset as read.
    runs: tuple[MapResult, ...] = ()
    chosen: str | None = None  # Id of the run on the map.
    view: DisplaySettings = DisplaySettings()
    filters: tuple[Filter, ...] = ()  # Rows that fail one of them are hidden.
    pending: PendingJob | None = None  # The last job started, until its result is recorded.
    # The latest finding of each kind.
    findings: Mapping[str, Finding] = field(default_factory=dict)
    off: frozenset[str] = frozenset()  # Inactive sets of statements.
    off_people: frozenset[str] = frozenset()  # People whose statements are inactive.
    clustering: ClusterAssignment | None = None  # Clusters of the items.
    saved_views: tuple[SavedView, ...] = ()  # Views of the story, in order.
    # Links proposed by similarity, by their kind and both datasets.
    proposed: Mapping[tuple[str, str, str], ProposedLinks] = field(default_factory=dict)

    @property
    def run(self) -> MapResult | None:
        """The run shown on the map, if any."""
        return next((run for run in self.runs if run.id == self.chosen), None)

    @property
    def guided(self) -> HeteroData | None:
        """The data with only the active statements, as methods use them."""
        return None if self.data is None else without_sets(self.data, *self.excluded)

    @property
    def excluded(self) -> tuple[frozenset[str], frozenset[str]]:
        """Inactive sets of statements, and people whose statements are inactive."""
        return self.off, self.off_people

    def opened(self) -> HeteroData:
        if self.data is None:
            raise DataError.of("no-data", "project", "nothing is open", remedy="Open data first.")
        return self.data

    def is_current(self, run: MapResult) -> bool:
        return self.guided is not None and run.fingerprint == self.guided.fingerprint()

    def share_changed_since(self, run: MapResult) -> float | None:
        """Return the share of the data that changed since a map was made, None if unknown."""
        if run.origin is None or self.guided is None:
            return None
        data = run.origin.data
        for old, new in zip(
            run.origin.result.embedding.coordinates, run.embedding.coordinates, strict=True
        ):
            if old != new and new not in data.datasets:
                data = data.edit().rename(old, new)
        return share_changed(data, self.guided)

    def rows_of(self, run: MapResult) -> Ints | None:
        """Return the current global rows that a run used, None for all."""
        return None if run.only is None else rows_of_map(self.opened(), run.embedding, run.only)

    def embedding(self, run: MapResult) -> Embedding | None:
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
