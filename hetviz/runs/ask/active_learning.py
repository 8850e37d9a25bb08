"""Where a map is in doubt: candidates for questions, with what an answer would be worth."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from hetviz._text import short
from hetviz._types import Bools, Floats, Ints, Sparse
from hetviz.core.graph.distances import Space
from hetviz.core.measures.uncertainty import chance_of_yes, likeness, near_ties, spread_out
from hetviz.data import Embedding, HeteroData, Links
from hetviz.features.spaces.affinities import space_of
from hetviz.metrics.fit.rows import coordinates_of

Found = tuple[tuple[int, ...], str, float]

LOOKED_AT = 600
"""Items looked at in one call, the least guided first."""
_REACHED = 2_000
_ALIKE = 10
_CANDIDATES = 4
_NEAR = 15
_MOSTLY = 0.5
_FEW = 10
_IN_COMMON = 2
_NAMED = 2
_TITLE = 40
BASE = 0.1
_DRAWN = 4_000
FAR = 0.7
COVER = 0.2

LIKELY = "Items like them were said to belong together, but the map holds these two apart."
AGREES = "Items like them were said to belong together, and the map puts them near each other."
UNSURE = "What was said of items like them does not settle it."
NEAR = "They lie next to each other on the map, and nothing that was said bears on it."
UNGUIDED = "Nothing was said about either of them or about items like them."
TIE = "On the map both are about equally far."


class Doubts:
    """Candidates for questions about some data on a map.

    A pair (a, b) is likely to belong together when rows like a were said to belong with rows like
    b: with S the likeness of features and W+, W- the links, the votes are (S W+ S')_ab for and
    (S W- S')_ab against. The map has no say in that, for it was drawn from the same links; it
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
        n_said = sum(map(len, data.links))
        # with what was said and passed over, other items are drawn: those before are used up
        self.rng = np.random.default_rng([seed, n_said, len(skip)])
        self.skip = set(skip)
        self.part = np.repeat(
            np.arange(len(data.datasets)), [len(d) for d in data.datasets.values()]
        )
        self.spans = list(data.offsets.values())
        self.implied = Implied.of(data)
        self.allowed = np.ones(data.n_rows, dtype=bool)
        if only is not None:
            self.allowed[:] = False
            self.allowed[np.asarray(only, dtype=np.int64)] = True

    @cached_property
    def links(self) -> tuple[Sparse, Sparse]:
        """W+ and W-, each (n_rows, n_rows), 1 where somebody said so."""
        together, apart = self.data.adjacency(1), self.data.adjacency(-1)
        together.data[:], apart.data[:] = 1.0, 1.0
        return together, apart

    @cached_property
    def _special(self) -> Floats:
        """Whether few rows of a dataset are linked with a row: (n_datasets, n_rows), 1 or 0."""
        count = [np.asarray(self.links[0][span].sum(axis=0)).ravel() for span in self.spans]
        most = [max(_FEW, np.sqrt(span.stop - span.start)) for span in self.spans]
        return np.stack([mine <= limit for mine, limit in zip(count, most, strict=True)]).astype(
            float
        )

    @cached_property
    def said(self) -> Floats:
        """How many statements name each row."""
        together, apart = self.links
        return np.asarray(together.sum(axis=1) + apart.sum(axis=1)).ravel()

    @cached_property
    def focal(self) -> Ints:
        """The rows looked at: half of them the least guided, half drawn."""
        rows = self.rng.permutation(np.flatnonzero(self.allowed))
        drawn, rest = np.split(rows, [LOOKED_AT // 2])
        least = rest[np.argsort(self.said[rest], kind="stable")[: LOOKED_AT // 2]]
        return np.concatenate([drawn, least])

    @cached_property
    def _distances(self) -> list[Space | None]:
        return [space_of(dataset) for dataset in self.data.datasets.values()]

    def alike(self, rows: Ints) -> Sparse:
        """Return the likeness S of some rows to all of their dataset, shape (len(rows), n_rows)."""
        order, parts = [], []
        for number, span in enumerate(self.spans):
            at = np.flatnonzero(self.part[rows] == number)
            if not len(at):
                continue
            mine, n = rows[at] - span.start, span.stop - span.start
            space = self._distances[number]
            if space is None:
                found = sp.csr_array((np.ones(len(at)), (np.arange(len(at)), mine)), (len(at), n))
            else:
                found = likeness(space, mine, _ALIKE)
            entries = found.tocoo()
            i, j = entries.coords
            parts.append((entries.data, at[i], j + span.start))
            order.append(at)
        if not parts:
            return sp.csr_array((0, self.data.n_rows))
        values, i, j = (np.concatenate(part) for part in zip(*parts, strict=True))
        return sp.csr_array((values, (i, j)), shape=(len(rows), self.data.n_rows))

    @cached_property
    def _focal_alike(self) -> Sparse:
        return self.alike(self.focal)

    @cached_property
    def votes(self) -> tuple[Sparse, Sparse]:
        """Votes for and against of each looked at row with all rows, (n_focal, n_rows)."""
        near_focal = _without_self(self._focal_alike, self.focal)
        one = [W[self.focal] for W in self.links]
        two = [near_focal @ W for W in self.links]
        mass = np.sum([np.asarray(R.sum(axis=0)).ravel() for R in (*one, *two)], axis=0)
        reached = np.argsort(-mass, kind="stable")[:_REACHED]
        reached = np.sort(reached[mass[reached] > 0])
        near = _without_self(self.alike(reached), reached)
        paths: list[list[Sparse]] = [
            [R[:, reached] @ near for R in one],
            two,
            [R[:, reached] @ near for R in two],
        ]
        trust = [self._trust(for_) for for_, _ in paths]
        trust = [share / max(trust) for share in trust]
        votes = []
        for sign in (0, 1):
            first, *others = (share * path[sign] for share, path in zip(trust, paths, strict=True))
            votes.append(sp.csr_array(sum(others, first)))
        for_, against = votes
        return for_, against

    def _trust(self, path: Sparse) -> float:
        """Return how much oftener pairs with such votes are linked than pairs drawn at random.

        With one pair added to both counts: links that pair items one to one tell nothing of it.
        """
        together = self.links[0][self.focal]
        total = float(path.sum())
        hits = float(path.multiply(together).sum())
        share = float(together.nnz) / (len(self.focal) * self.data.n_rows)
        return (hits + 1.0) / (total * share + 1.0)

    def _common(self, a: int, b: int) -> str:
        """Say what two rows are both linked with, the rarest first; nothing where that is none."""
        together = self.links[0]
        both = np.intersect1d(together[[a]].indices, together[[b]].indices)
        if not len(both):
            return ""
        rarest = both[np.argsort(np.diff(together.indptr)[both], kind="stable")][:_NAMED]
        parts, words = list(self.data.datasets.values()), []
        for row in rarest.tolist():
            number = int(self.part[row])
            title = str(parts[number].titles[row - self.spans[number].start])
            words.append(f"“{short(title, _TITLE)}”")
        return f"Both are linked with {' and '.join(dict.fromkeys(words))}."

    def plausible(self, a: Ints, b: Ints) -> Bools:
        """Say of pairs of rows of one dataset whether anybody would think of the two together.

        They are linked with two things in common, one of which at most ten of the dataset, or the
        square root of their number, are linked with: two films in English are nothing to ask about,
        nor are two words that one picture has. In a dataset of which less than half is linked, one
        is among those most like the other. What is only alike, as pictures are, seems odd. Where
        nothing describes or links the items of a dataset, any two may be asked about.
        """
        if not len(a):
            return np.zeros(0, dtype=bool)
        together = self.links[0]
        shared = np.zeros(len(a), dtype=bool)
        for number in np.unique(self.part[a]):
            at = np.flatnonzero(self.part[a] == number)
            both = together[a[at]].multiply(together[b[at]])
            enough = np.asarray(both.sum(axis=1)).ravel() >= _IN_COMMON
            shared[at] = enough & (np.asarray(both @ self._special[number]).ravel() > 0)
        linked = np.diff(together.indptr) > 0
        share = np.bincount(self.part, linked) / np.maximum(np.bincount(self.part), 1)
        bare = np.flatnonzero(share[self.part[a]] < _MOSTLY)
        if len(bare):
            rows, at = np.unique(np.concatenate([a[bare], b[bare]]), return_inverse=True)
            S = self.alike(rows)
            left, right = at[: len(bare)], at[len(bare) :]
            shared[bare] |= (_entries(S, left, b[bare]) > 0) | (_entries(S, right, a[bare]) > 0)
        blank = np.array([space is None for space in self._distances]) & (share == 0.0)
        shared |= blank[self.part[a]]
        return np.asarray(shared)

    @cached_property
    def _trees(self) -> list[tuple[cKDTree | None, Ints]]:
        out: list[tuple[cKDTree | None, Ints]] = []
        for span in self.spans:
            rows = np.flatnonzero(self.placed[span]) + span.start
            out.append((cKDTree(self.Y[rows]) if len(rows) else None, rows))
        return out

    def pairs(self, n: int) -> list[Found]:
        """Return pairs of rows of one dataset."""
        found = self._best(*self._pairs(within=True), n)
        return [(rows, self._common(*rows) or why, gain) for rows, why, gain in found]

    def between(self, n: int) -> list[Found]:
        """Return pairs of rows of different datasets."""
        return self._best(*self._pairs(within=False), n)

    def _pairs(self, within: bool) -> tuple[Ints, Ints]:
        """Return candidate pairs: by votes, by the map, and at random."""
        none = np.empty((0, 2), dtype=np.int64)
        found = [none, *(np.column_stack(two) for two in self._candidates(within))]
        left, right = np.concatenate(found).T
        low, high = np.minimum(left, right), np.maximum(left, right)
        fine = (low != high) & self.allowed[low] & self.allowed[high]
        fine &= ~self.implied.known(low, high)
        if within:
            fine &= self.plausible(low, high)
        passed = [low_ * self.data.n_rows + high_ for low_, high_ in self._passed(2)]
        fine &= ~np.isin(low * self.data.n_rows + high, passed)
        # in the order of the looked at rows; the first of equals stays
        _, first = np.unique(low * self.data.n_rows + high, return_index=True)
        kept = np.zeros(len(low), dtype=bool)
        kept[first] = True
        kept &= fine
        return left[kept], right[kept]

    def _passed(self, n_items: int) -> list[tuple[int, ...]]:
        return [rows for rows in self.skip if len(rows) == n_items]

    def _candidates(self, within: bool) -> Iterator[tuple[Ints, Ints]]:
        """Yield looked at rows with others: likely by votes, near on the map, and drawn."""
        part = self.part[self.focal]
        for number, span in enumerate(self.spans):
            at = np.flatnonzero((part == number) == within)
            if not len(at):
                continue
            rows = self.focal[at]
            votes = self.votes[0][at][:, span.start : span.stop]
            counts = np.diff(votes.indptr)
            own = np.repeat(np.arange(len(at)), counts)
            # by row, the most votes first
            order = np.lexsort((-votes.data, own))
            place = np.arange(len(order)) - np.repeat(votes.indptr[:-1], counts)
            best = order[place < _CANDIDATES]
            yield rows[own[best]], votes.indices[best].astype(np.int64) + span.start
            tree, there = self._trees[number]
            here = rows[self.placed[rows]]
            if tree is not None and len(here):
                k = min(_CANDIDATES, len(there))
                _, near = tree.query(self.Y[here], k=list(range(1, k + 1)))
                yield np.repeat(here, k), there[near.ravel()]
            drawn = self.rng.integers(span.start, span.stop, (len(rows), _CANDIDATES))
            yield np.repeat(rows, _CANDIDATES), drawn.ravel()

    def _best(self, a: Ints, b: Ints, n: int) -> list[Found]:
        if not len(a):
            return []
        at = np.full(self.data.n_rows, -1)
        at[self.focal] = np.arange(len(self.focal))
        for_, against = (_entries(V, at[a], b) for V in self.votes)
        chance = chance_of_yes(for_, against, BASE)
        far = self._far(a, b)
        gain = value(chance, far, self.said[a], self.said[b])
        first = np.argsort(-gain, kind="stable")[: 12 * n]
        groups = self._groups(a[first], b[first])
        items = self.data.object_of[np.column_stack([a, b])[first]]
        chosen = first[spread_out(gain[first], items, groups, n)]
        low, high = np.minimum(a, b), np.maximum(a, b)
        return [
            (
                (int(low[c]), int(high[c])),
                _why(float(for_[c]), float(against[c]), float(far[c])),
                float(gain[c]),
            )
            for c in chosen
        ]

    def _far(self, a: Ints, b: Ints) -> Floats:
        """Return the share of pairs of the same datasets that lie nearer; 1/2 without a place."""
        away = np.sqrt(((self.Y[a] - self.Y[b]) ** 2).sum(axis=1))
        out = np.full(len(a), 0.5)
        block = self.part[a] * len(self.spans) + self.part[b]
        for code in np.unique(block):
            mine = np.flatnonzero((block == code) & np.isfinite(away))
            left, right = (self._trees[number][1] for number in divmod(int(code), len(self.spans)))
            if not len(mine) or not len(left) or not len(right):
                continue
            i, j = self.rng.choice(left, _DRAWN), self.rng.choice(right, _DRAWN)
            drawn = np.sort(np.sqrt(((self.Y[i] - self.Y[j]) ** 2).sum(axis=1)))
            out[mine] = np.searchsorted(drawn, away[mine]) / _DRAWN
        return out

    def _groups(self, a: Ints, b: Ints) -> list[Ints]:
        """Return each pair's objects and the items most like them."""
        rows, at = np.unique(np.concatenate([a, b]), return_inverse=True)
        S = self.alike(rows)
        groups = [
            self.data.object_of[S.indices[s:e]]
            for s, e in zip(S.indptr, S.indptr[1:], strict=False)
        ]
        return [
            np.concatenate([groups[i], groups[j]])
            for i, j in zip(at[: len(a)], at[len(a) :], strict=True)
        ]

    def comparisons(self, n: int) -> list[Found]:
        """Return near ties: an item and two others of one dataset, about equally far on the map."""
        found: list[tuple[Ints, Floats]] = []
        for number, (tree, there) in enumerate(self._trees):
            rows = self.focal[(self.part[self.focal] == number) & self.placed[self.focal]]
            if tree is None or len(there) < 3 or not len(rows):
                continue
            k = min(_NEAR, len(there) - 1)
            away, near = map(np.asarray, tree.query(self.Y[rows], k=k + 1))
            others = there[near]
            # neighbours in turn: those next to each other by distance are the nearest ties
            for step in (1, 2):
                if k + 1 - step < 2:
                    continue
                for place in range(1, k + 1 - step):
                    b, c = others[:, place], others[:, place + step]
                    gap = np.sqrt(((self.Y[b] - self.Y[c]) ** 2).sum(axis=1))
                    tie = near_ties(away[:, [place, place + step]], gap)
                    found.append((np.column_stack([rows, b, c]), tie))
        if not found:
            return []
        triples = np.concatenate([triple for triple, _ in found])
        tie = np.concatenate([worth for _, worth in found])
        objects = self.data.object_of[triples]
        fine = self.allowed[triples].all(axis=1) & ~self.implied.compared(triples)
        fine &= (
            (objects[:, 0] != objects[:, 1])
            & (objects[:, 0] != objects[:, 2])
            & (objects[:, 1] != objects[:, 2])
        )
        a, b, c = triples.T
        at = np.flatnonzero(fine)
        sensible = self.plausible(a[at], b[at])
        for other in (a, b):
            sensible[sensible] = self.plausible(other[at[sensible]], c[at[sensible]])
        fine[at[~sensible]] = False
        gain = np.where(fine, tie / (1.0 + self.said[triples[:, 0]]), 0.0)
        for rows in self._passed(3):
            gain[(triples[:, 0] == rows[0]) & np.isin(triples[:, 1:], rows[1:]).all(axis=1)] = 0.0
        chosen = spread_out(gain, objects, objects, n)
        return [(tuple(map(int, triples[c])), TIE, float(gain[c])) for c in chosen]


def value(chance: Floats, far: Floats, said_a: Floats, said_b: Floats) -> Floats:
    """Return what an answer is worth, 0 to 1.

    How open the answer is, p (1 - p); more where a yes would move the map, and for items that
    little was said of.
    """
    said = (1.0 + COVER * said_a) * (1.0 + COVER * said_b)
    return np.asarray(4.0 * chance * (1.0 - chance) * (1.0 - FAR + FAR * far) / said)


def _entries(V: Sparse, i: Ints, j: Ints) -> Floats:
    return np.asarray(V[i, j]).ravel() if V.nnz and len(i) else np.zeros(len(i))


def _why(for_: float, against: float, far: float) -> str:
    if for_ + against < 0.05:
        return NEAR if far < 0.05 else UNGUIDED
    if for_ > 2 * against:
        return LIKELY if far > 0.1 else AGREES
    return UNSURE


def _without_self(S: Sparse, rows: Ints) -> Sparse:
    """Return the likeness of rows to others than themselves."""
    i, j = S.tocoo().coords
    kept = j != rows[i]
    return sp.csr_array((S.tocoo().data[kept], (i[kept], j[kept])), shape=S.shape)


# When to stop asking: how far the next answers would still move the map.


AHEAD = 20
LEAST = 10


def stopping_hint(history: Sequence[tuple[int, float]]) -> str | None:
    """Say how much of the map more answers would move, going by what the last ones moved.

    Parameters
    ----------
    history : sequence of (int, float)
        For each map made again, the oldest first: how many answers were new to it, and the share
        of items that it moved noticeably (`hetviz.metrics.fit.moved`, more than 5 % of the width).

    Returns
    -------
    str or None
        A sentence; None before 10 answers have gone into maps: there is nothing to go by.

    Notes
    -----
    The rate of the latest maps that together took in 10 answers or more, times twenty. It takes
    later answers to move as much as these did, which is more than they mostly do: a hint to stop
    comes late rather than early.

    Examples
    --------
    >>> stopping_hint([(5, 0.2), (5, 0.004), (5, 0.0)])
    'Going by the last 10, twenty more answers would move under 1 % of the items.'
    """
    answers, share = 0, 0.0
    for number, moved in reversed(history):
        answers += number
        share += moved
        if answers >= LEAST:
            break
    if answers < LEAST:
        return None
    ahead = min(1.0, share * AHEAD / answers)
    much = "under 1 %" if ahead < 0.01 else f"about {ahead:.0%}".replace("%", " %")
    return f"Going by the last {answers}, twenty more answers would move {much} of the items."


# What need not be asked: what was said, and what follows from it.


SAID = "said"


class Implied:
    """What the statements of some data settle.

    Rows of one object are the same; so are, for this purpose, items of one dataset that a person
    said belong together (kind "said"), and items that a kind of links pairs one to one. What is
    known of one of them is known of all: if a and b belong together, and b and c do, then so do a
    and c; if b and c do not, a and c do not. Other links, such as pictures tagged with words, say
    nothing about two items that share a third.
    """

    def __init__(self, data: HeteroData) -> None:
        self._objects = data.n_objects
        merged = [np.empty((0, 2), dtype=np.int64)]
        every = [np.empty((0, 2), dtype=np.int64)]
        for links in data.links:
            p = data.object_of[data.offsets[links.source]][links.i]
            q = data.object_of[data.offsets[links.target]][links.j]
            ends = np.column_stack([p, q])
            every.append(ends)
            if _same(links):
                merged.append(ends[links.weight > 0])
        p, q = np.concatenate(merged).T
        n = self._objects
        graph = sp.csr_array((np.ones(len(p)), (p, q)), shape=(n, n))
        _, label = connected_components(graph, directed=False)
        self._group = label.astype(np.int64)[data.object_of]
        of_object = label.astype(np.int64)
        p, q = np.concatenate(every).T
        # numpy's own way to find what differs is ten times slower on a million codes.
        code = np.sort(self._code(of_object[p], of_object[q]))
        self._pairs = code[np.diff(code, prepend=-1) > 0]
        self._object_of = data.object_of
        self._compared: set[tuple[int, int]] = set()
        if data.comparisons is not None and len(data.comparisons):
            near_a, near_b, far_a, far_b = data.object_of[data.comparisons.pairs].T
            self._compared = _unordered(self._code(near_a, near_b), self._code(far_a, far_b))

    def known(self, a: Ints, b: Ints) -> Bools:
        """Return which pairs of global rows are settled, together or apart."""
        left, right = self._group[a], self._group[b]
        code = self._code(left, right)
        at = np.searchsorted(self._pairs, code)
        said = np.append(self._pairs, -1)[at] == code
        return np.asarray((left == right) | said)

    @classmethod
    def of(cls, data: HeteroData) -> Implied:
        """Return what the statements of `data` settle, found once for each object of data."""
        found = _IMPLIED.get(data)
        if found is None:
            found = _IMPLIED[data] = cls(data)
        return found

    def compared(self, rows: Ints) -> Bools:
        """Return for which rows (m, 3) it was said which of the last two is nearer the first."""
        if not self._compared:
            return np.zeros(len(rows), dtype=bool)
        a, b, c = self._object_of[rows].T
        near, far = self._code(a, b), self._code(a, c)
        low, high = np.minimum(near, far), np.maximum(near, far)
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return np.array([pair in self._compared for pair in pairs], dtype=bool)

    def _code(self, a: Ints, b: Ints) -> Ints:
        return np.minimum(a, b) * self._objects + np.maximum(a, b)


_IMPLIED: WeakKeyDictionary[HeteroData, Implied] = WeakKeyDictionary()


def _unordered(near: Ints, far: Ints) -> set[tuple[int, int]]:
    low, high = np.minimum(near, far), np.maximum(near, far)
    return set(zip(low.tolist(), high.tolist(), strict=True))


def _same(links: Links) -> bool:
    if links.source == links.target:
        return links.kind == SAID
    together = links.weight > 0
    i, j = links.i[together], links.j[together]
    return len(i) > 1 and _all_differ(i) and _all_differ(j)


def _all_differ(rows: Ints) -> bool:
    return int(np.bincount(rows).max()) == 1
