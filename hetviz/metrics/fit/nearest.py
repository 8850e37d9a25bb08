"""Nearest items of one item on a map, and closeness of links and comparisons."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

import numpy as np

from hetviz._types import Bools, Floats, Ints
from hetviz.core.measures.satisfaction import NEAR_SHARE, distance_percentiles
from hetviz.core.measures.satisfaction import near_distance as reach_of
from hetviz.data import Embedding, HeteroData, Links
from hetviz.data.queries.rows import TouchingLinks, links_touching
from hetviz.memo import Memo
from hetviz.metrics.fit.guidance import linkable_pairs_of
from hetviz.metrics.fit.rows import coordinates_of

# Closeness of a group of links is cached while the links, their datasets and the map are the same.
_CLOSENESS = Memo(max_entries=64)
_MIN_CACHED_LINKS = 10_000


@dataclass(frozen=True, eq=False)
class NearestItems:
    """Nearest items of one item in one dataset.

    `n_closer` int (e,): How many rows of the dataset are closer to the item than each of `ends`.
    `weight` (e,): Weight of the strongest link to each of `ends`. Negative for apart.
    """

    rows: Ints
    linked: Bools
    n_others: int
    n_close: int
    n_links: int
    n_links_close: int
    ends: Ints
    n_closer: Ints
    weight: Floats

    def is_satisfied(self) -> Bools:
        """Return which links of `ends` the map satisfies: close, or far for negative links."""
        is_close = self.n_closer < self.n_close
        return np.asarray(is_close == (self.weight > 0))


def nearest(
    data: HeteroData,
    embedding: Embedding,
    row: int,
    n: int = 10,
    links: TouchingLinks | None = None,
    *,
    max_distances: Floats | None = None,
) -> dict[str, NearestItems]:
    """Return the nearest items of each dataset on a map.

    Returns: Without datasets that have no other placed row. Empty if the item has no place. `rows`
        is empty for a dataset that nothing connects with the item's on this map.
    """
    touching = links_touching(data, [row]) if links is None else links
    linked = np.zeros(data.n_rows, dtype=bool)
    linked[touching.outer[touching.weight > 0]] = True
    weight = np.zeros(data.n_rows)
    lightest_first = np.argsort(np.abs(touching.weight), kind="stable")
    weight[touching.outer[lightest_first]] = touching.weight[lightest_first]
    places = coordinates_of(data, embedding)
    place = np.vstack(list(places.values()))[row]
    out: dict[str, NearestItems] = {}
    if not np.isfinite(place).all():
        return out
    distance_limits = close_distances(data, embedding) if max_distances is None else max_distances
    own = next((k for k, rows in enumerate(data.offsets.values()) if row < rows.stop))
    row_limits = distance_limits[own]
    component = embedding.components.get(list(places)[own])
    for (name, Y), limit in zip(places.items(), row_limits.tolist(), strict=True):
        start = data.offsets[name].start
        placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
        placed = placed[placed + start != row]
        if not len(placed):
            continue
        distance = np.sqrt(((Y[placed] - place) ** 2).sum(axis=1))
        rows = placed + start
        # Sorting values is several times faster than sorting rows by them.
        sorted_distance = np.sort(distance)
        candidates = np.flatnonzero(distance <= sorted_distance[min(n, len(rows)) - 1])
        first = candidates[np.argsort(distance[candidates], kind="stable")][:n]
        if embedding.components.get(name) != component:
            first = first[:0]
        ends = np.flatnonzero(weight[rows])
        ends = ends[np.argsort(distance[ends], kind="stable")]
        n_within = int(np.searchsorted(sorted_distance, limit, side="right"))
        n_closer = np.searchsorted(sorted_distance, distance[ends], side="left")
        is_linked = linked[rows]
        out[name] = NearestItems(
            rows[first],
            is_linked[first],
            len(rows),
            n_within,
            int(is_linked.sum()),
            int((n_closer[is_linked[ends]] < n_within).sum()),
            rows[ends],
            n_closer,
            weight[rows[ends]],
        )
    return out


def close_distances(
    data: HeteroData,
    embedding: Embedding,
    close_share: float | None = None,
    random_state: int = 0,
    pairs: Collection[tuple[str, str]] | None = None,
    others: HeteroData | None = None,
) -> Floats:
    """Return the distance up to which pairs of two datasets are close.

    Returns (n_datasets, n_datasets): See `hetviz.core.measures.satisfaction.near_distance`. NaN
        for pairs of datasets that are not computed or have no placed pair.
    """
    places = coordinates_of(data, embedding)
    dataset_pairs = None if pairs is None else {frozenset(pair) for pair in pairs}
    distances = np.full((len(places), len(places)), np.nan)
    linkable = linkable_pairs_of(data, others)
    for b, (name, B) in enumerate(places.items()):
        for a, (first, A) in enumerate(islice(places.items(), b + 1)):
            if dataset_pairs is None or frozenset((first, name)) in dataset_pairs:
                among = linkable.get((first, name))
                share = close_share or (NEAR_SHARE if among is None else among.share)
                here, there = (A, B) if among is None else (A[among.rows], B[among.other_rows])
                other = None if a == b else there
                length = reach_of(here, other, share, random_state=random_state)
                distances[a, b] = distances[b, a] = length
    return distances


def link_closeness(
    data: HeteroData, embedding: Embedding, others: HeteroData | None = None
) -> Floats:
    """Return how close the ends of each link are, among all pairs of items with links.

    Returns (m,): In the order of ``data.link_table()``: the share of candidate pairs of the two
        datasets that are farther, ties half. 1 is closest. NaN if an end has no place.
    """
    Y = coordinates_of(data, embedding)
    starts = np.cumsum([0, *(len(links) for links in data.links)])
    out = np.full(int(starts[-1]), np.nan)
    blocks: dict[tuple[str, str], list[tuple[Ints, Ints, int]]] = {}
    order = {name: position for position, name in enumerate(data.datasets)}

    def place(links: Links) -> tuple[object, object]:
        owner = (embedding, links, data[links.source], data[links.target])
        # All links decide which pairs are candidates.
        return owner, (id(links), tuple(map(id, data.links)), id(others))

    for links, start in zip(data.links, starts, strict=False):
        if (cached := _CLOSENESS.get(*place(links))) is not None:
            out[start : start + len(links)] = cached
            continue
        if order[links.source] <= order[links.target]:
            blocks.setdefault((links.source, links.target), []).append(
                (links.i, links.j, int(start))
            )
        else:
            blocks.setdefault((links.target, links.source), []).append(
                (links.j, links.i, int(start))
            )
    linkable = linkable_pairs_of(data, others) if blocks else {}
    for (source, target), parts in blocks.items():
        ranked = distance_percentiles(
            Y[source],
            np.concatenate([i for i, _, _ in parts]),
            np.concatenate([j for _, j, _ in parts]),
            None if source == target else Y[target],
            candidates=linkable[source, target].masks,
        ).values
        at = 0
        for i, _, start in parts:
            out[start : start + len(i)] = 1.0 - ranked[at : at + len(i)]
            at += len(i)
    for links, start in zip(data.links, starts, strict=False):
        if len(links) > _MIN_CACHED_LINKS:
            _CLOSENESS.put(*place(links), out[start : start + len(links)].copy())
    return out


def satisfied_links(data: HeteroData, closeness: Floats, others: HeteroData | None = None) -> Bools:
    """Return which links a map satisfies: close ones, and negative ones that are not close."""
    linkable = linkable_pairs_of(data, others)
    satisfied = [np.zeros(0, dtype=bool)]
    start = 0
    for links in data.links:
        own = closeness[start : start + len(links)]
        start += len(links)
        names = links.source, links.target
        share = (linkable.get(names) or linkable[names[::-1]]).share
        satisfied.append(np.isfinite(own) & ((own >= 1.0 - share) == (links.weight > 0)))
    return np.concatenate(satisfied)


def comparison_closeness(data: HeteroData, embedding: Embedding) -> Floats:
    """Return how clearly the map agrees with each comparison.

    Returns (t,): d(far) / (d(near) + d(far)): above one half the map agrees, 1 is clearest. One
        half if both distances are 0. NaN if an item has no place.
    """
    if data.comparisons is None or not len(data.comparisons):
        return np.zeros(0)
    Y = np.vstack(list(coordinates_of(data, embedding).values()))
    a, b, c, d = data.comparisons.pairs.T
    near_distance = np.linalg.norm(Y[a] - Y[b], axis=1)
    far_distance = np.linalg.norm(Y[c] - Y[d], axis=1)
    total = near_distance + far_distance
    return np.where(total == 0, 0.5, far_distance / np.where(total == 0, 1.0, total))
