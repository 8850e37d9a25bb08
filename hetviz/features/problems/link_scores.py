"""Scores of pairs of items, from links and from similarity within datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.kernels.mkpe import ScoreBlock, score_block
from hetviz.data import HeteroData, Links
from hetviz.features.spaces.similarity import MAX_ITEMS_ALL_PAIRS, ItemSimilarity


@dataclass(frozen=True, eq=False)
class LinkScores:
    """Scores of linked pairs between two datasets, or within one."""

    source: str
    target: str
    i: Ints
    j: Ints
    s: Floats
    complete: bool

    @property
    def within(self) -> bool:
        return self.source == self.target


def link_scores(
    data: HeteroData, together: float | str = "weight", apart: float = 0.0
) -> list[LinkScores]:
    """Return the scores of linked pairs, one entry per pair of datasets.

    The scores of several links of one pair are averaged. Costs O(links), and O(n m) for complete
    links.
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
            positive_scores = links.weight if isinstance(together, str) else together
            scores.append(np.where(links.weight > 0, positive_scores, apart))
        complete |= links.complete
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    s = np.bincount(place, np.concatenate(scores)) / np.bincount(place)
    if complete:
        all_pairs = np.arange(shape[0] * shape[1])
        if source == target:
            all_pairs = all_pairs[all_pairs // shape[1] < all_pairs % shape[1]]
        zeros = np.setdiff1d(all_pairs, key, assume_unique=True)
        key, s = np.concatenate([key, zeros]), np.concatenate([s, np.zeros(len(zeros))])
    return LinkScores(source, target, key // shape[1], key % shape[1], s, complete)


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Scores of pairs of items from similarity and links, see `scored_pairs`."""

    like: Mapping[str, ItemSimilarity]
    weights: Mapping[str, float]
    links: Sequence[LinkScores]
    rows: Mapping[str, Ints]

    def blocks(
        self, random_state: int = 0, max_items: int = MAX_ITEMS_ALL_PAIRS
    ) -> list[ScoreBlock]:
        """Return the scores as blocks, similarity first; domain d is the d-th dataset of `rows`.

        `max_items`: See `ItemSimilarity.pairs`.
        """
        names = list(self.rows)
        blocks = []
        for d, name in enumerate(names):
            if name in self.like and self.weights[name] > 0:
                i, j, s, share = self.like[name].pairs(random_state, max_items)
                shape = len(self.rows[name]), len(self.rows[name])
                blocks.append(score_block(d, d, shape, i, j, s, self.weights[name], share))
        for links in self.links:
            source_rows, target_rows = self.rows[links.source], self.rows[links.target]
            blocks.append(
                score_block(
                    names.index(links.source),
                    names.index(links.target),
                    (len(source_rows), len(target_rows)),
                    np.searchsorted(source_rows, links.i),
                    np.searchsorted(target_rows, links.j),
                    links.s,
                    1.0,
                )
            )
        return blocks

    def has_similarity_of_more_than(self, n_items: int) -> bool:
        """Return whether a dataset with similarities that count has more items."""
        return any(
            len(self.rows[name]) > n_items and self.weights[name] > 0
            for name in self.like
            if name in self.rows
        )

    def n_linked(self, first: str, second: str) -> int:
        ends = {first, second}
        return sum(len(scores.i) for scores in self.links if {scores.source, scores.target} == ends)


def scored_pairs(
    data: HeteroData,
    similarity: Mapping[str, ItemSimilarity],
    weights: Mapping[str, float],
    links: Sequence[LinkScores],
) -> ScoredPairs:
    """Return `ScoredPairs` with the rows that have a similarity of positive weight or a link."""
    rows: dict[str, Ints] = {}
    for name, dataset in data.datasets.items():
        reached = np.arange(len(dataset))
        if name not in similarity or weights[name] == 0:
            ends = [scores.i for scores in links if scores.source == name]
            ends += [scores.j for scores in links if scores.target == name]
            reached = np.unique(np.concatenate([np.empty(0, np.int64), *ends]))
        if len(reached):
            rows[name] = reached
    return ScoredPairs(similarity, weights, links, rows)
