"""Candidate questions about uncertain parts of a map, with the value of an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from hetviz._text import shorten
from hetviz._types import Bools, Floats, Ints, Sparse
from hetviz.core.graph.distances import Space
from hetviz.core.measures.uncertainty import (
    choose_diverse,
    link_probability,
    neighbor_similarity,
    tie_closeness,
)
from hetviz.data import Embedding, HeteroData, Links
from hetviz.features.spaces.affinities import space_of
from hetviz.memo import cached_while_alive
from hetviz.metrics.fit.rows import coordinates_of

RankedQuestion = tuple[tuple[int, ...], str, float]

MAX_FOCAL_ROWS = 600
"""Items considered in one call, those with the least guidance first."""
_MAX_REACHED_ROWS = 2_000
_N_SIMILAR = 10
_N_CANDIDATES = 4
_N_NEIGHBORS = 15
_MIN_SHARE_LINKED = 0.5
_MAX_SPECIFIC_LINKS = 10
_MIN_COMMON_LINKS = 2
_MAX_NAMED = 2
_MAX_TITLE_LENGTH = 40
PRIOR_YES = 0.1
_N_SAMPLED_PAIRS = 4_000
DISTANCE_WEIGHT = 0.7
GUIDANCE_PENALTY = 0.2

REASON_LIKELY = (
    "Items similar to them are linked, but on the map these two are far from each other."
)
REASON_AGREES = "Items similar to them are linked, and these two are close on the map."
REASON_MIXED = "The links of similar items do not settle it."
REASON_CLOSE = "They are close on the map, but no link tells whether they belong together."
REASON_NO_GUIDANCE = "No link tells whether they or similar items belong together."
REASON_TIE = "On the map, both are about equally far from it."


class QuestionFinder:
    """Candidate questions about a dataset and its map.

    A pair (a, b) is likely to belong together when rows similar to a are linked with rows similar
    to b: with S the similarity of features and W+, W- the links, the votes are (S W+ S')_ab for
    and (S W- S')_ab against. The map has no vote because it was made from the same links. It only
    tells how much a yes would change.
    """

    def __init__(
        self,
        data: HeteroData,
        embedding: Embedding,
        seed: int,
        only: ArrayLike | None,
        skip: Collection[tuple[int, ...]] = (),
    ) -> None:
        self.data = data
        self.Y = np.vstack(list(coordinates_of(data, embedding).values()))
        self.placed: Bools = np.asarray(np.isfinite(self.Y).all(axis=1))
        n_links = sum(map(len, data.links))
        # New guidance or a skipped question changes the seed, so that other items are sampled.
        self.rng = np.random.default_rng([seed, n_links, len(skip)])
        self.skip = set(skip)
        self.dataset_of_row = np.repeat(
            np.arange(len(data.datasets)), [len(d) for d in data.datasets.values()]
        )
        self.spans = list(data.offsets.values())
        self.settled = settled_pairs_of(data)
        self.allowed = np.ones(data.n_rows, dtype=bool)
        if only is not None:
            self.allowed[:] = False
            self.allowed[np.asarray(only, dtype=np.int64)] = True

    @cached_property
    def links(self) -> tuple[Sparse, Sparse]:
        """W+ and W-, each (n_rows, n_rows), 1 for each link."""
        together, apart = self.data.adjacency(1), self.data.adjacency(-1)
        together.data[:], apart.data[:] = 1.0, 1.0
        return together, apart

    @cached_property
    def _is_specific(self) -> Floats:
        """1 where few rows of a dataset link to a row, else 0; shape (n_datasets, n_rows)."""
        counts = [np.asarray(self.links[0][span].sum(axis=0)).ravel() for span in self.spans]
        limits = [max(_MAX_SPECIFIC_LINKS, np.sqrt(span.stop - span.start)) for span in self.spans]
        return np.stack([mine <= limit for mine, limit in zip(counts, limits, strict=True)]).astype(
            float
        )

    @cached_property
    def n_links(self) -> Floats:
        together, apart = self.links
        return np.asarray(together.sum(axis=1) + apart.sum(axis=1)).ravel()

    @cached_property
    def focal(self) -> Ints:
        """The rows considered: half with the least guidance, half sampled."""
        rows = self.rng.permutation(np.flatnonzero(self.allowed))
        sampled, others = np.split(rows, [MAX_FOCAL_ROWS // 2])
        least_linked = others[
            np.argsort(self.n_links[others], kind="stable")[: MAX_FOCAL_ROWS // 2]
        ]
        return np.concatenate([sampled, least_linked])

    @cached_property
    def _spaces(self) -> list[Space | None]:
        return [space_of(dataset) for dataset in self.data.datasets.values()]

    def similar_rows(self, rows: Ints) -> Sparse:
        """Return the similarity S of rows to all of their dataset, shape (len(rows), n_rows)."""
        order, parts = [], []
        for number, span in enumerate(self.spans):
            at = np.flatnonzero(self.dataset_of_row[rows] == number)
            if not len(at):
                continue
            local_rows, n = rows[at] - span.start, span.stop - span.start
            space = self._spaces[number]
            if space is None:
                similarity = sp.csr_array(
                    (np.ones(len(at)), (np.arange(len(at)), local_rows)), (len(at), n)
                )
            else:
                similarity = neighbor_similarity(space, local_rows, _N_SIMILAR)
            entries = similarity.tocoo()
            i, j = entries.coords
            parts.append((entries.data, at[i], j + span.start))
            order.append(at)
        if not parts:
            return sp.csr_array((0, self.data.n_rows))
        values, i, j = (np.concatenate(part) for part in zip(*parts, strict=True))
        return sp.csr_array((values, (i, j)), shape=(len(rows), self.data.n_rows))

    @cached_property
    def _focal_similarity(self) -> Sparse:
        return self.similar_rows(self.focal)

    @cached_property
    def votes(self) -> tuple[Sparse, Sparse]:
        """Votes for and against each focal row with all rows, (n_focal, n_rows)."""
        focal_similarity = _without_self(self._focal_similarity, self.focal)
        direct = [W[self.focal] for W in self.links]
        similar_first = [focal_similarity @ W for W in self.links]
        mass = np.sum(
            [np.asarray(R.sum(axis=0)).ravel() for R in (*direct, *similar_first)], axis=0
        )
        reached = np.argsort(-mass, kind="stable")[:_MAX_REACHED_ROWS]
        reached = np.sort(reached[mass[reached] > 0])
        similarity = _without_self(self.similar_rows(reached), reached)
        paths: list[list[Sparse]] = [
            [R[:, reached] @ similarity for R in direct],
            similar_first,
            [R[:, reached] @ similarity for R in similar_first],
        ]
        lifts = [self._lift(for_) for for_, _ in paths]
        lifts = [share / max(lifts) for share in lifts]
        votes = []
        for sign in (0, 1):
            first, *others = (share * path[sign] for share, path in zip(lifts, paths, strict=True))
            votes.append(sp.csr_array(sum(others, first)))
        for_, against = votes
        return for_, against

    def _lift(self, path: Sparse) -> float:
        """Return how much more often pairs with such votes are linked than random pairs.

        One pair is added to both counts because one-to-one links give no evidence.
        """
        together = self.links[0][self.focal]
        total = float(path.sum())
        hits = float(path.multiply(together).sum())
        share = float(together.nnz) / (len(self.focal) * self.data.n_rows)
        return (hits + 1.0) / (total * share + 1.0)

    def _common_links_sentence(self, a: int, b: int) -> str:
        """Return a sentence that names the rarest items that link to both rows, or ""."""
        together = self.links[0]
        common = np.intersect1d(together[[a]].indices, together[[b]].indices)
        if not len(common):
            return ""
        rarest = common[np.argsort(np.diff(together.indptr)[common], kind="stable")][:_MAX_NAMED]
        parts, quoted = list(self.data.datasets.values()), []
        for row in rarest.tolist():
            number = int(self.dataset_of_row[row])
            title = str(parts[number].display_names[row - self.spans[number].start])
            quoted.append(f"“{shorten(title, _MAX_TITLE_LENGTH)}”")
        return f"Both are linked to {' and '.join(dict.fromkeys(quoted))}."

    def is_sensible(self, a: Ints, b: Ints) -> Bools:
        """Return which pairs of rows of one dataset a person can judge.

        Both rows link to at least two common items, one of which at most ten rows of the dataset,
        or the square root of their number, link to. Two films in English are no sensible question,
        nor are two words of one picture. In a dataset with links for less than half of its rows,
        it is enough that one row is among the most similar to the other. Similarity alone, as of
        pictures, seems odd to a person. In a dataset without features and links any pair will do.
        """
        if not len(a):
            return np.zeros(0, dtype=bool)
        together = self.links[0]
        sensible = np.zeros(len(a), dtype=bool)
        for number in np.unique(self.dataset_of_row[a]):
            at = np.flatnonzero(self.dataset_of_row[a] == number)
            both = together[a[at]].multiply(together[b[at]])
            enough = np.asarray(both.sum(axis=1)).ravel() >= _MIN_COMMON_LINKS
            sensible[at] = enough & (np.asarray(both @ self._is_specific[number]).ravel() > 0)
        linked = np.diff(together.indptr) > 0
        share_linked = np.bincount(self.dataset_of_row, linked) / np.maximum(
            np.bincount(self.dataset_of_row), 1
        )
        unlinked = np.flatnonzero(share_linked[self.dataset_of_row[a]] < _MIN_SHARE_LINKED)
        if len(unlinked):
            rows, at = np.unique(np.concatenate([a[unlinked], b[unlinked]]), return_inverse=True)
            S = self.similar_rows(rows)
            left, right = at[: len(unlinked)], at[len(unlinked) :]
            sensible[unlinked] |= (_entries_at(S, left, b[unlinked]) > 0) | (
                _entries_at(S, right, a[unlinked]) > 0
            )
        undescribed = np.array([space is None for space in self._spaces]) & (share_linked == 0.0)
        sensible |= undescribed[self.dataset_of_row[a]]
        return np.asarray(sensible)

    @cached_property
    def _trees(self) -> list[tuple[cKDTree | None, Ints]]:
        trees: list[tuple[cKDTree | None, Ints]] = []
        for span in self.spans:
            rows = np.flatnonzero(self.placed[span]) + span.start
            trees.append((cKDTree(self.Y[rows]) if len(rows) else None, rows))
        return trees

    def find_pairs(self, n: int) -> list[RankedQuestion]:
        questions = self._best_questions(*self._candidate_pairs(within=True), n)
        return [
            (rows, self._common_links_sentence(*rows) or why, gain) for rows, why, gain in questions
        ]

    def find_links(self, n: int) -> list[RankedQuestion]:
        """Return questions about pairs of rows of different datasets."""
        return self._best_questions(*self._candidate_pairs(within=False), n)

    def _candidate_pairs(self, within: bool) -> tuple[Ints, Ints]:
        """Return candidate pairs by votes, by the map, and at random."""
        no_pairs = np.empty((0, 2), dtype=np.int64)
        proposals = [no_pairs, *(np.column_stack(two) for two in self._propose_pairs(within))]
        left, right = np.concatenate(proposals).T
        low, high = np.minimum(left, right), np.maximum(left, right)
        is_open = (low != high) & self.allowed[low] & self.allowed[high]
        is_open &= ~self.settled.is_known(low, high)
        if within:
            is_open &= self.is_sensible(low, high)
        skipped = [low_ * self.data.n_rows + high_ for low_, high_ in self._skipped_rows(2)]
        is_open &= ~np.isin(low * self.data.n_rows + high, skipped)
        # Keep the first of equal pairs, in the order of the focal rows.
        _, first = np.unique(low * self.data.n_rows + high, return_index=True)
        retained = np.zeros(len(low), dtype=bool)
        retained[first] = True
        retained &= is_open
        return left[retained], right[retained]

    def _skipped_rows(self, n_items: int) -> list[tuple[int, ...]]:
        return [rows for rows in self.skip if len(rows) == n_items]

    def _propose_pairs(self, within: bool) -> Iterator[tuple[Ints, Ints]]:
        """Yield focal rows with rows that are likely by votes, close on the map, and sampled."""
        part = self.dataset_of_row[self.focal]
        for number, span in enumerate(self.spans):
            at = np.flatnonzero((part == number) == within)
            if not len(at):
                continue
            rows = self.focal[at]
            votes = self.votes[0][at][:, span.start : span.stop]
            counts = np.diff(votes.indptr)
            positions = np.repeat(np.arange(len(at)), counts)
            # Sort by row, then by votes, the highest first.
            order = np.lexsort((-votes.data, positions))
            rank = np.arange(len(order)) - np.repeat(votes.indptr[:-1], counts)
            best = order[rank < _N_CANDIDATES]
            yield rows[positions[best]], votes.indices[best].astype(np.int64) + span.start
            tree, placed = self._trees[number]
            focal_placed = rows[self.placed[rows]]
            if tree is not None and len(focal_placed):
                k = min(_N_CANDIDATES, len(placed))
                _, neighbors = tree.query(self.Y[focal_placed], k=list(range(1, k + 1)))
                yield np.repeat(focal_placed, k), placed[neighbors.ravel()]
            sampled = self.rng.integers(span.start, span.stop, (len(rows), _N_CANDIDATES))
            yield np.repeat(rows, _N_CANDIDATES), sampled.ravel()

    def _best_questions(self, a: Ints, b: Ints, n: int) -> list[RankedQuestion]:
        if not len(a):
            return []
        at = np.full(self.data.n_rows, -1)
        at[self.focal] = np.arange(len(self.focal))
        votes_for, votes_against = (_entries_at(V, at[a], b) for V in self.votes)
        probability = link_probability(votes_for, votes_against, PRIOR_YES)
        distance = self._distance_rank(a, b)
        gain = answer_value(probability, distance, self.n_links[a], self.n_links[b])
        top = np.argsort(-gain, kind="stable")[: 12 * n]
        groups = self._groups(a[top], b[top])
        items = self.data.object_of[np.column_stack([a, b])[top]]
        chosen = top[choose_diverse(gain[top], items, groups, n)]
        low, high = np.minimum(a, b), np.maximum(a, b)
        return [
            (
                (int(low[c]), int(high[c])),
                _reason(float(votes_for[c]), float(votes_against[c]), float(distance[c])),
                float(gain[c]),
            )
            for c in chosen
        ]

    def _distance_rank(self, a: Ints, b: Ints) -> Floats:
        """Return the share of pairs of the same datasets that are closer; 1/2 without a place."""
        distance = np.sqrt(((self.Y[a] - self.Y[b]) ** 2).sum(axis=1))
        rank = np.full(len(a), 0.5)
        block = self.dataset_of_row[a] * len(self.spans) + self.dataset_of_row[b]
        for code in np.unique(block):
            members = np.flatnonzero((block == code) & np.isfinite(distance))
            left, right = (self._trees[number][1] for number in divmod(int(code), len(self.spans)))
            if not len(members) or not len(left) or not len(right):
                continue
            i, j = self.rng.choice(left, _N_SAMPLED_PAIRS), self.rng.choice(right, _N_SAMPLED_PAIRS)
            sampled = np.sort(np.sqrt(((self.Y[i] - self.Y[j]) ** 2).sum(axis=1)))
            rank[members] = np.searchsorted(sampled, distance[members]) / _N_SAMPLED_PAIRS
        return rank

    def _groups(self, a: Ints, b: Ints) -> list[Ints]:
        """Return the objects of each pair and of the items most similar to them."""
        rows, at = np.unique(np.concatenate([a, b]), return_inverse=True)
        S = self.similar_rows(rows)
        groups = [
            self.data.object_of[S.indices[s:e]]
            for s, e in zip(S.indptr, S.indptr[1:], strict=False)
        ]
        return [
            np.concatenate([groups[i], groups[j]])
            for i, j in zip(at[: len(a)], at[len(a) :], strict=True)
        ]

    def find_comparisons(self, n: int) -> list[RankedQuestion]:
        """Return questions about an item and two others of its dataset, about equally far away."""
        ties: list[tuple[Ints, Floats]] = []
        for number, (tree, placed) in enumerate(self._trees):
            rows = self.focal[(self.dataset_of_row[self.focal] == number) & self.placed[self.focal]]
            if tree is None or len(placed) < 3 or not len(rows):
                continue
            k = min(_N_NEIGHBORS, len(placed) - 1)
            distances, neighbors = map(np.asarray, tree.query(self.Y[rows], k=k + 1))
            others = placed[neighbors]
            # Neighbours that follow each other in distance are the nearest ties.
            for step in (1, 2):
                if k + 1 - step < 2:
                    continue
                for rank in range(1, k + 1 - step):
                    b, c = others[:, rank], others[:, rank + step]
                    gap = np.sqrt(((self.Y[b] - self.Y[c]) ** 2).sum(axis=1))
                    tie = tie_closeness(distances[:, [rank, rank + step]], gap)
                    ties.append((np.column_stack([rows, b, c]), tie))
        if not ties:
            return []
        triples = np.concatenate([triple for triple, _ in ties])
        tie = np.concatenate([worth for _, worth in ties])
        objects = self.data.object_of[triples]
        is_open = self.allowed[triples].all(axis=1) & ~self.settled.is_compared(triples)
        is_open &= (
            (objects[:, 0] != objects[:, 1])
            & (objects[:, 0] != objects[:, 2])
            & (objects[:, 1] != objects[:, 2])
        )
        a, b, c = triples.T
        at = np.flatnonzero(is_open)
        sensible = self.is_sensible(a[at], b[at])
        for other in (a, b):
            sensible[sensible] = self.is_sensible(other[at[sensible]], c[at[sensible]])
        is_open[at[~sensible]] = False
        gain = np.where(is_open, tie / (1.0 + self.n_links[triples[:, 0]]), 0.0)
        for rows in self._skipped_rows(3):
            gain[(triples[:, 0] == rows[0]) & np.isin(triples[:, 1:], rows[1:]).all(axis=1)] = 0.0
        chosen = choose_diverse(gain, objects, objects, n)
        return [(tuple(map(int, triples[c])), REASON_TIE, float(gain[c])) for c in chosen]


def answer_value(
    probability: Floats, distance: Floats, n_links_a: Floats, n_links_b: Floats
) -> Floats:
    """Return the value of an answer, 0 to 1.

    It is the uncertainty p (1 - p), raised where a yes would move the map and for items with
    little guidance.
    """
    penalty = (1.0 + GUIDANCE_PENALTY * n_links_a) * (1.0 + GUIDANCE_PENALTY * n_links_b)
    return np.asarray(
        4.0
        * probability
        * (1.0 - probability)
        * (1.0 - DISTANCE_WEIGHT + DISTANCE_WEIGHT * distance)
        / penalty
    )


def _entries_at(V: Sparse, i: Ints, j: Ints) -> Floats:
    return np.asarray(V[i, j]).ravel() if V.nnz and len(i) else np.zeros(len(i))


def _reason(votes_for: float, votes_against: float, distance: float) -> str:
    if votes_for + votes_against < 0.05:
        return REASON_CLOSE if distance < 0.05 else REASON_NO_GUIDANCE
    if votes_for > 2 * votes_against:
        return REASON_LIKELY if distance > 0.1 else REASON_AGREES
    return REASON_MIXED


def _without_self(S: Sparse, rows: Ints) -> Sparse:
    """Return the similarity of rows to other rows."""
    i, j = S.tocoo().coords
    is_other = j != rows[i]
    return sp.csr_array((S.tocoo().data[is_other], (i[is_other], j[is_other])), shape=S.shape)


# When to stop asking: by how much the next answers would still move the map.


ANSWERS_AHEAD = 20
MIN_ANSWERS = 10


def stopping_hint(history: Sequence[tuple[int, float]]) -> str | None:
    """Return a sentence that estimates how much of the map more answers would move.

    Parameters
    ----------
    history : sequence of (int, float)
        For each refit, oldest first: the number of new answers, and the share of items that moved
        noticeably (`hetviz.metrics.fit.displacement`, more than 5 % of the width).

    Returns
    -------
    str or None
        A sentence; None before maps were refitted with 10 answers.

    Notes
    -----
    The estimate is the rate of the latest refits with together 10 answers or more, times twenty.
    It assumes that later answers move as much as these did. They usually move less, so the hint
    to stop comes late rather than early.

    Examples
    --------
    >>> stopping_hint([(5, 0.2), (5, 0.004), (5, 0.0)])
    'Judging by the last 10 answers, 20 more would move under 1 % of the items.'
    """
    answers, share = 0, 0.0
    for number, moved in reversed(history):
        answers += number
        share += moved
        if answers >= MIN_ANSWERS:
            break
    if answers < MIN_ANSWERS:
        return None
    ahead = min(1.0, share * ANSWERS_AHEAD / answers)
    much = "under 1 %" if ahead < 0.01 else f"about {ahead:.0%}".replace("%", " %")
    return f"Judging by the last {answers} answers, 20 more would move {much} of the items."


# Pairs that need no question: those with guidance, and those that follow from it.


USER_LINK_KIND = "said"


class SettledPairs:
    """Pairs and comparisons that the links and comparisons of a dataset settle.

    Rows of one object are the same. Items of one dataset that a person linked (kind "said"), and
    items that a kind of links pairs one to one, count as the same here. Knowledge about one of
    them holds for all: if a and b belong together and b and c do, then so do a and c. If b and c
    do not, a and c do not. Other links, such as pictures tagged with words, settle nothing about
    two items that share a third.
    """

    def __init__(self, data: HeteroData) -> None:
        self._objects = data.n_objects
        merged = [np.empty((0, 2), dtype=np.int64)]
        all_ends = [np.empty((0, 2), dtype=np.int64)]
        for links in data.links:
            p = data.object_of[data.offsets[links.source]][links.i]
            q = data.object_of[data.offsets[links.target]][links.j]
            ends = np.column_stack([p, q])
            all_ends.append(ends)
            if _means_same(links):
                merged.append(ends[links.weight > 0])
        p, q = np.concatenate(merged).T
        n = self._objects
        graph = sp.csr_array((np.ones(len(p)), (p, q)), shape=(n, n))
        _, label = connected_components(graph, directed=False)
        self._group = label.astype(np.int64)[data.object_of]
        of_object = label.astype(np.int64)
        p, q = np.concatenate(all_ends).T
        # np.unique is ten times slower on a million codes.
        code = np.sort(self._code(of_object[p], of_object[q]))
        self._candidate_pairs = code[np.diff(code, prepend=-1) > 0]
        self._object_of = data.object_of
        self._compared: set[tuple[int, int]] = set()
        if data.comparisons is not None and len(data.comparisons):
            near_a, near_b, far_a, far_b = data.object_of[data.comparisons.pairs].T
            self._compared = _unordered_pairs(self._code(near_a, near_b), self._code(far_a, far_b))

    def is_known(self, a: Ints, b: Ints) -> Bools:
        """Return which pairs of global rows are settled as together or apart."""
        left, right = self._group[a], self._group[b]
        code = self._code(left, right)
        at = np.searchsorted(self._candidate_pairs, code)
        is_listed = np.append(self._candidate_pairs, -1)[at] == code
        return np.asarray((left == right) | is_listed)

    def is_compared(self, rows: Ints) -> Bools:
        """Return for which rows (m, 3) a comparison tells which of two is closer to the first."""
        if not self._compared:
            return np.zeros(len(rows), dtype=bool)
        a, b, c = self._object_of[rows].T
        near, far = self._code(a, b), self._code(a, c)
        low, high = np.minimum(near, far), np.maximum(near, far)
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return np.array([pair in self._compared for pair in pairs], dtype=bool)

    def _code(self, a: Ints, b: Ints) -> Ints:
        return np.minimum(a, b) * self._objects + np.maximum(a, b)


settled_pairs_of = cached_while_alive(SettledPairs)


def _unordered_pairs(near: Ints, far: Ints) -> set[tuple[int, int]]:
    low, high = np.minimum(near, far), np.maximum(near, far)
    return set(zip(low.tolist(), high.tolist(), strict=True))


def _means_same(links: Links) -> bool:
    if links.source == links.target:
        return links.kind == USER_LINK_KIND
    together = links.weight > 0
    i, j = links.i[together], links.j[together]
    return len(i) > 1 and _all_differ(i) and _all_differ(j)


def _all_differ(rows: Ints) -> bool:
    return int(np.bincount(rows).max()) == 1
