"""What links say of pairs of items, as scores: which pairs are known, and how strong they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.data import HeteroData, Links


@dataclass(frozen=True, eq=False)
class LinkScores:
    """Scores of the pairs of two datasets, or of one, that links tell of.

    Attributes
    ----------
    source, target : str
        Datasets, in the order of the data.
    i, j : array of int, shape (m,)
        Rows; each pair once, within a dataset with i < j.
    s : array of shape (m,)
    complete : bool
        Whether the links list every pair that is not 0; the zeros are then among the pairs.
    """

    source: str
    target: str
    i: Ints
    j: Ints
    s: Floats
    complete: bool

    @property
    def within(self) -> bool:
        """Whether both ends lie in one dataset."""
        return self.source == self.target


def link_scores(
    data: HeteroData, together: float | str = "weight", apart: float = 0.0
) -> list[LinkScores]:
    """Return what is known of pairs, one entry for each two datasets that links join.

    Parameters
    ----------
    data : HeteroData
    together : float or "weight"
        Score of links that say together and have no score of their own; "weight" is their weight.
    apart : float
        Score of links that say apart and have no score of their own.

    Notes
    -----
    A pair that several links tell of has the mean of their scores. Links that have scores keep
    them as they are. Costs O(links), and O(n m) where links are complete.
    """
    order = {name: place for place, name in enumerate(data.datasets)}
    groups: dict[tuple[str, str], list[Links]] = {}
    for links in data.links:
        first, second = sorted((links.source, links.target), key=order.__getitem__)
        groups.setdefault((first, second), []).append(links)
    return [
        _merged(data, source, target, group, together, apart)
        for (source, target), group in groups.items()
        if sum(map(len, group))
    ]


def _merged(
    data: HeteroData,
    source: str,
    target: str,
    group: Iterable[Links],
    together: float | str,
    apart: float,
) -> LinkScores:
    shape = len(data[source]), len(data[target])
    keys, scores, complete = [], [], False
    for links in group:
        i, j = (links.i, links.j) if links.source == source else (links.j, links.i)
        if source == target:
            i, j = np.minimum(i, j), np.maximum(i, j)
        keys.append(i * shape[1] + j)
        if links.score is not None:
            scores.append(links.score)
        else:
            said = links.weight if isinstance(together, str) else together
            scores.append(np.where(links.weight > 0, said, apart))
        complete |= links.complete
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    s = np.bincount(place, np.concatenate(scores)) / np.bincount(place)
    if complete:
        everything = np.arange(shape[0] * shape[1])
        if source == target:
            everything = everything[everything // shape[1] < everything % shape[1]]
        zeros = np.setdiff1d(everything, key, assume_unique=True)
        key, s = np.concatenate([key, zeros]), np.concatenate([s, np.zeros(len(zeros))])
    return LinkScores(source, target, key // shape[1], key % shape[1], s, complete)
