"""Clusters as a project holds them: bound to ids, so that they outlive changes of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Ints, Texts
from hetviz.data import HeteroData
from hetviz.runs.cluster.codes import cluster_frame


@dataclass(frozen=True, eq=False)
class Clustered:
    """Which cluster each item is in.

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
    def on(cls, data: HeteroData, codes: Ints, names: tuple[str, ...], **more: Any) -> Clustered:
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

    def renamed(self, old: str, new: str) -> Clustered:
        """Return the clusters with a dataset renamed."""

        def moved(mapping: Mapping[str, Any]) -> dict[str, Any]:
            return {(new if name == old else name): value for name, value in mapping.items()}

        return replace(self, codes=moved(self.codes), ids=moved(self.ids))
