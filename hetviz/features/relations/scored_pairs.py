"""Scores of pairs within datasets by likeness and across them by links, and whom they reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._types import Ints
from hetviz.core.kernels.mkpe_scores import Scores, known_scores
from hetviz.data import HeteroData
from hetviz.features.relations.link_scores import LinkScores
from hetviz.features.spaces.similarity import Similarity


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """What is known of pairs of items; make it with `scored_pairs`.

    Attributes
    ----------
    like : mapping of str to Similarity
        Of the datasets whose items are compared.
    weights : mapping of str to float
        Of likeness within each dataset, beside links, which have 1.
    links : sequence of LinkScores
    rows : mapping of str to array of int, shape (n_reached,)
        Items of each dataset that have likeness or a link, in order; without datasets of none.
    """

    like: Mapping[str, Similarity]
    weights: Mapping[str, float]
    links: Sequence[LinkScores]
    rows: Mapping[str, Ints]

    def blocks(self, random_state: int = 0) -> list[Scores]:
        """Return the scores as blocks, likeness first, one block for each of `links` at the end.

        Domain d is the d-th dataset of `rows`, its items those rows.
        """
        names = list(self.rows)
        blocks = []
        for d, name in enumerate(names):
            if name in self.like and self.weights[name] > 0:
                i, j, s, share = self.like[name].pairs(random_state)
                shape = len(self.rows[name]), len(self.rows[name])
                blocks.append(known_scores(d, d, shape, i, j, s, self.weights[name], share))
        for links in self.links:
            mine, theirs = self.rows[links.source], self.rows[links.target]
            blocks.append(
                known_scores(
                    names.index(links.source),
                    names.index(links.target),
                    (len(mine), len(theirs)),
                    np.searchsorted(mine, links.i),
                    np.searchsorted(theirs, links.j),
                    links.s,
                    1.0,
                )
            )
        return blocks

    def n_linked(self, first: str, second: str) -> int:
        """Return how many pairs of two datasets links tell of."""
        ends = {first, second}
        return sum(len(one.i) for one in self.links if {one.source, one.target} == ends)


def scored_pairs(
    data: HeteroData,
    like: Mapping[str, Similarity],
    weights: Mapping[str, float],
    links: Sequence[LinkScores],
) -> ScoredPairs:
    """Return what is known of pairs, with the items that this reaches.

    Parameters
    ----------
    data : HeteroData
    like, weights, links
        See `ScoredPairs`. Likeness of weight 0 reaches nobody.
    """
    rows: dict[str, Ints] = {}
    for name, dataset in data.datasets.items():
        there = np.arange(len(dataset))
        if name not in like or weights[name] == 0:
            ends = [one.i for one in links if one.source == name]
            ends += [one.j for one in links if one.target == name]
            there = np.unique(np.concatenate([np.empty(0, np.int64), *ends]))
        if len(there):
            rows[name] = there
    return ScoredPairs(like, weights, links, rows)
