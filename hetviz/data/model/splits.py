"""Splits of links and comparisons for scikit-learn searches."""

from __future__ import annotations

from collections.abc import Iterator
from types import EllipsisType

import numpy as np

from hetviz._types import Array, Bools, Ints
from hetviz.data.model.heterodata import HeteroData, with_statements


class HoldoutSplits:
    """Links and comparisons as samples, with the splits of `HeteroData.holdout`.

    A search uses it both as data and as `cv`::

        splits = hetviz.HoldoutSplits(data, 3)
        search = GridSearchCV(hetviz.get_method("umap")(), grid, cv=splits).fit(splits)

    Parameters
    ----------
    data : HeteroData
    n_splits : int
        Split s is ``data.holdout(links, comparisons, random_state=random_state + s)``.
    links, comparisons : float
        Share to hold out.
    random_state : int

    Notes
    -----
    Sample r is row r of `hetviz.statements`. Indexing by samples gives splits of the data with all
    items and only these statements, so a method is fitted to the training statements and scored
    on the held-out ones.
    """

    def __init__(
        self,
        data: HeteroData,
        n_splits: int = 3,
        *,
        links: float = 0.2,
        comparisons: float = 0.2,
        random_state: int = 0,
    ) -> None:
        self.data, self.n_splits = data, n_splits
        self.links, self.comparisons, self.random_state = links, comparisons, random_state

    def __len__(self) -> int:
        compared = self.data.comparisons
        return sum(map(len, self.data.links)) + (0 if compared is None else len(compared))

    @property
    def shape(self) -> tuple[int]:
        """Number of samples, for scikit-learn."""
        return (len(self),)

    def __getitem__(self, index: Array | tuple[Array, EllipsisType]) -> HoldoutSplits:
        rows = index[0] if isinstance(index, tuple) else index
        mask: Bools = np.zeros(len(self), dtype=bool)
        mask[rows] = True
        return HoldoutSplits(
            with_statements(self.data, mask),
            self.n_splits,
            links=self.links,
            comparisons=self.comparisons,
            random_state=self.random_state,
        )

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of splits."""
        return self.n_splits

    def split(
        self, X: object = None, y: object = None, groups: object = None
    ) -> Iterator[tuple[Ints, Ints]]:
        """Yield training and held-out samples."""
        for seed in range(self.random_state, self.random_state + self.n_splits):
            mask = self.data.held_out_statements(self.links, self.comparisons, seed)
            yield np.flatnonzero(~mask), np.flatnonzero(mask)
