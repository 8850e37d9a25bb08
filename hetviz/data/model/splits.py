"""What is known of the data as samples, so that scikit-learn's searches can split it."""

from __future__ import annotations

from collections.abc import Iterator
from types import EllipsisType

import numpy as np

from hetviz._types import Array, Bools, Ints
from hetviz.data.model.heterodata import HeteroData, with_statements


class HoldoutSplits:
    """The links and comparisons of some data as samples, and the splits of `HeteroData.holdout`.

    Both what a search fits and how it splits it::

        splits = hetviz.HoldoutSplits(data, 3)
        search = GridSearchCV(hetviz.get_method("umap")(), grid, cv=splits).fit(splits)

    Parameters
    ----------
    data : HeteroData
    n_splits : int
        Split s is ``data.holdout(links, comparisons, random_state=random_state + s)``.
    links, comparisons : float
        Share that is held out.
    random_state : int

    Notes
    -----
    Sample r is row r of `hetviz.statements`. Indexed by samples it gives the same of the data with
    all items and only these statements (as `data`), so a method is fitted to what was not held out
    and scored on what was.
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
        """Number of samples, as scikit-learn asks for it."""
        return (len(self),)

    def __getitem__(self, chosen: Array | tuple[Array, EllipsisType]) -> HoldoutSplits:
        rows = chosen[0] if isinstance(chosen, tuple) else chosen
        taken: Bools = np.zeros(len(self), dtype=bool)
        taken[rows] = True
        return HoldoutSplits(
            with_statements(self.data, taken),
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
        """Yield the samples to fit to and those to score on."""
        for seed in range(self.random_state, self.random_state + self.n_splits):
            held = self.data.held_out_statements(self.links, self.comparisons, seed)
            yield np.flatnonzero(~held), np.flatnonzero(held)
