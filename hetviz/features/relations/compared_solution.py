"""The solution of one problem of comparisons, on its way and at its end: where everything lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.ordinal.fixed_rank import Flat
from hetviz.core.ordinal.partial_order import PartialOrder
from hetviz.data import Dataset
from hetviz.data.model.out_of_sample import NewRows
from hetviz.features.relations.compared import Part, column_weights, part_of
from hetviz.features.relations.compared_problems import JOINED, Problem


@dataclass(eq=False)
class Solution:
    """One problem, and what is known of its solution so far.

    Attributes
    ----------
    problem : Problem
    order : PartialOrder or None
        What became of its comparisons.
    objects : ndarray of shape (n_objects,)
        Objects in comparisons that remain.
    parts : list of Part
        Each view as the solver sees it.
    maps : list of ndarray of shape (r_p, k)
        Of each view's own features; empty before the first pass.
    flat : Flat or None
        None before the end, and where no comparison remains.
    tried : dict of float to float
        Share of comparisons kept while held out, by strength.
    """

    problem: Problem
    order: PartialOrder | None = None
    objects: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    parts: list[Part] = field(default_factory=list)
    maps: list[Floats] = field(default_factory=list)
    flat: Flat | None = None
    tried: dict[float, float] = field(default_factory=dict)

    def begin(self, order: PartialOrder, diagonal: bool) -> Ints:
        """Prepare the views of the objects compared; return the comparisons among these."""
        self.order = order
        if not len(order.pairs):
            return order.pairs
        self.objects, local = np.unique(order.pairs, return_inverse=True)
        views = self.problem.views
        self.parts = [part_of(view, self.objects, diagonal=diagonal) for view in views]
        return np.asarray(local.reshape(-1, 4))

    def keep(self, parts: list[Floats]) -> None:
        """Keep maps of the solver's features as maps of the views' own."""
        self.maps = [part.back(A) for part, A in zip(self.parts, self._by_view(parts), strict=True)]

    def _by_view(self, parts: list[Floats]) -> list[Floats]:
        stacked = np.vstack(parts)
        return np.split(stacked, np.cumsum([p.features.shape[1] for p in self.parts])[:-1])

    def places(self, k: int) -> dict[str, Floats]:
        """Return the places of all rows, by dataset; NaN for objects that no view has."""
        problem = self.problem
        size = 1 + max(int(at.max(initial=0)) for at in problem.numbers.values())
        Y = np.full((size, k), np.nan)
        Y[problem.described()] = 0.0
        for view, B in zip(problem.views, self.maps, strict=True):
            Y[view.at] += view.places(view.raw, B)
        return {name: Y[at] for name, at in problem.numbers.items()}

    def of_new(
        self, new: Mapping[str, NewRows], k: int, fitted: Mapping[str, Dataset]
    ) -> dict[str, Floats]:
        """Return the places of new rows: by all views that the new rows or fitted ones show."""
        shown: dict[str, Floats] = {}
        joint = self.problem.name == JOINED
        for view, B in zip(self.problem.views, self.maps, strict=True):
            for name, rows in new.items():
                if not joint and view.name != name:
                    continue
                Y = view.places(view.of_new(rows), B)
                for id, place in zip(rows.dataset.ids, Y, strict=True):
                    key = f"{name}\0{id}" if joint else id
                    shown[key] = shown.get(key, 0.0) + place
            if not joint:
                ids = list(dict.fromkeys(id for rows in new.values() for id in rows.dataset.ids))
                row = fitted[view.name].find(ids)
                there = np.flatnonzero(row >= 0)
                Y = view.places(view.raw[row[there]], B)
                for at, place in zip(there.tolist(), Y, strict=True):
                    shown[ids[at]] = shown.get(ids[at], 0.0) + place
        nowhere = np.full(k, np.nan)
        return {
            name: np.array(
                [shown.get(f"{name}\0{id}" if joint else id, nowhere) for id in rows.dataset.ids]
            ).reshape(-1, k)
            for name, rows in new.items()
        }

    def figures(self) -> dict[str, Any]:
        """Return what is known of the optimum, JSON-ready."""
        if self.flat is None:
            return {}
        tried = {"held_out_by_beta": self.tried} if self.tried else {}
        return {**self.flat.figures(self.kept), **tried}

    def weights(self) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
        """Return the share of each view in the optimum, and the weight of each of its columns."""
        if self.flat is None:
            return {}, {}
        by_view = self._by_view(self.flat.optimal)
        sizes = np.array([float((A**2).sum()) for A in by_view])
        shares = sizes / (sizes.sum() or 1.0)
        names = [view.name for view in self.problem.views]
        columns = {
            view.name: dict(column_weights(view, part, A, self.objects))
            for view, part, A in zip(self.problem.views, self.parts, by_view, strict=True)
        }
        return dict(zip(names, shares.tolist(), strict=True)), columns

    def kept(self, parts: list[Floats]) -> float:
        """Return the share of the comparisons in the problem that a map of its objects keeps."""
        if self.order is None:
            return float("nan")
        features = [part.features for part in self.parts]
        Y = sum(Phi @ A for Phi, A in zip(features, self._by_view(parts), strict=True))
        local = np.searchsorted(self.objects, self.order.pairs)
        return comparison_accuracy(np.asarray(Y), local, self.order.weight)
