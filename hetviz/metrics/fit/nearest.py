"""The items that lie nearest to one item on a map, and whether its links are among them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from hetviz._types import Bools, Floats, Ints
from hetviz.core.measures.satisfaction import NEAR_SHARE, distance_percentiles
from hetviz.core.measures.satisfaction import near_distance as reach_of
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.data.queries.rows import TouchingLinks, links_touching
from hetviz.metrics.fit.rows import coordinates_of

# A group of links lies as near as before while neither it nor its items nor the map change.
_Ends = tuple[ReferenceType[Dataset], ReferenceType[Dataset]]
_NEAR: WeakKeyDictionary[Embedding, WeakKeyDictionary[Links, tuple[_Ends, int, Floats]]] = (
    WeakKeyDictionary()
)
_MANY = 10_000


@dataclass(frozen=True, eq=False)
class Nearest:
    """The rows of one dataset, seen from one item.

    Attributes
    ----------
    rows : array of int, shape (m,)
        Global rows, the nearest first.
    linked : array of bool, shape (m,)
        Whether a link says that the row belongs together with the item.
    n_others : int
        Rows of the dataset that have a place, without the item itself.
    n_near : int
        How many of them count as near: as links are kept, by the distance up to which a pair is
        among the closest 5 % of all pairs of the two datasets.
    n_links, n_links_near : int
        Rows of the dataset that are linked to the item (together) and have a place, and how many
        of these are near.
    ends : array of int, shape (e,)
        Global rows of the dataset that any link joins with the item, the nearest first.
    nearer : array of int, shape (e,)
        How many rows of the dataset lie nearer to the item than each of `ends`.
    weight : array of shape (e,)
        Of the heaviest link to each of `ends`; negative where that says apart.
    """

    rows: Ints
    linked: Bools
    n_others: int
    n_near: int
    n_links: int
    n_links_near: int
    ends: Ints
    nearer: Ints
    weight: Floats

    def met(self) -> Bools:
        """Say of each link in `ends` whether the map keeps it: near, or far where said apart."""
        near = self.nearer < self.n_near
        return np.asarray(near == (self.weight > 0))


def nearest(
    data: HeteroData,
    embedding: Embedding,
    row: int,
    n: int = 10,
    near: float = NEAR_SHARE,
    links: TouchingLinks | None = None,
    *,
    reach: Floats | None = None,
) -> dict[str, Nearest]:
    """Return the nearest items of each dataset on a map.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Of rows of `data`; its own axes measure the distance.
    row : int
        Global row of the item.
    n : int
        How many of each dataset.
    near : float
        Share of all pairs of two datasets that counts as near.
    links : Touching, optional
        Links of the item, where others than those of `data` are asked for.
    reach : array of shape (n_datasets, n_datasets), optional
        What `reaches` returns for that share, where it is known already.

    Returns
    -------
    dict of str to Nearest
        Datasets without another row that has a place are absent; all are where the item has none.

    Notes
    -----
    Costs O(n_rows log n_rows), and `reaches` where that is not given. Rows at the same distance
    come in the order of the data.
    """
    found = links_touching(data, [row]) if links is None else links
    linked = np.zeros(data.n_rows, dtype=bool)
    linked[found.outer[found.weight > 0]] = True
    weight = np.zeros(data.n_rows)
    lightest_first = np.argsort(np.abs(found.weight), kind="stable")
    weight[found.outer[lightest_first]] = found.weight[lightest_first]
    places = coordinates_of(data, embedding)
    here = np.vstack(list(places.values()))[row]
    out: dict[str, Nearest] = {}
    if not np.isfinite(here).all():
        return out
    every = reaches(data, embedding, near) if reach is None else reach
    near_to = every[_part_of(data, row)]
    for (name, Y), far_off in zip(places.items(), near_to.tolist(), strict=True):
        start = data.offsets[name].start
        placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
        placed = placed[placed + start != row]
        if not len(placed):
            continue
        distance = ((Y[placed] - here) ** 2).sum(axis=1)
        by_distance = np.argsort(distance, kind="stable")
        order = placed[by_distance] + start
        away = distance[by_distance]
        n_close = int(np.searchsorted(np.sqrt(away), far_off, side="right"))
        ends = np.flatnonzero(weight[order])
        out[name] = Nearest(
            order[:n],
            linked[order[:n]],
            len(order),
            n_close,
            int(linked[order].sum()),
            int(linked[order[:n_close]].sum()),
            order[ends],
            np.searchsorted(away, away[ends], side="left"),
            weight[order[ends]],
        )
    return out


def reaches(
    data: HeteroData,
    embedding: Embedding,
    near: float = NEAR_SHARE,
    random_state: int = 0,
    joined: Collection[tuple[str, str]] | None = None,
) -> Floats:
    """Return the distance up to which pairs of two datasets are near, by which links are kept.

    Parameters
    ----------
    data, embedding
    near : float
        Share of all pairs of two datasets that counts as near.
    random_state : int
    joined : collection of (str, str), optional
        Pairs of datasets to look at, either way round, where not at all of them.

    Returns
    -------
    array of shape (n_datasets, n_datasets)
        See `hetviz.core.measures.satisfaction.near_distance`; NaN where there is no pair with places, and
        of datasets that were not asked for.

    Notes
    -----
    As `link_nearness`, for every pair of datasets.
    """
    places = coordinates_of(data, embedding)
    wanted = None if joined is None else {frozenset(pair) for pair in joined}
    found = np.full((len(places), len(places)), np.nan)
    for b, (name, B) in enumerate(places.items()):
        for a, (first, A) in enumerate(islice(places.items(), b + 1)):
            if wanted is None or frozenset((first, name)) in wanted:
                other = None if a == b else B
                length = reach_of(A, other, near, random_state=random_state)
                found[a, b] = found[b, a] = length
    return found


def _part_of(data: HeteroData, row: int) -> int:
    return next(k for k, rows in enumerate(data.offsets.values()) if row < rows.stop)


# How far a map keeps each single thing that was said, row by row.


def link_nearness(data: HeteroData, embedding: Embedding, random_state: int = 0) -> Floats:
    """Return how near the ends of each link lie, among all pairs that could be linked.

    Returns
    -------
    array of shape (m,)
        In the order of ``data.link_table()``: the share of candidate pairs of the two datasets
        that lie farther apart, equally far pairs counted half. 1 is nearest; NaN where an end has
        no place.

    Raises
    ------
    hetviz.errors.DataError
        If the embedding lacks a dataset or row of the data.

    Notes
    -----
    One ranking for each pair of datasets that links join: exact to 20,000,000 candidate pairs,
    sampled above.
    """
    Y = coordinates_of(data, embedding)
    starts = np.cumsum([0, *(len(links) for links in data.links)])
    out = np.full(int(starts[-1]), np.nan)
    blocks: dict[tuple[str, str], list[tuple[Ints, Ints, int]]] = {}
    order = {name: position for position, name in enumerate(data.datasets)}
    known = _NEAR.setdefault(embedding, WeakKeyDictionary())
    for links, start in zip(data.links, starts, strict=False):
        kept = known.get(links)
        if kept is not None and kept[1] == random_state and _are(kept[0], data, links):
            out[start : start + len(links)] = kept[2]
            continue
        if order[links.source] <= order[links.target]:
            blocks.setdefault((links.source, links.target), []).append(
                (links.i, links.j, int(start))
            )
        else:
            blocks.setdefault((links.target, links.source), []).append(
                (links.j, links.i, int(start))
            )
    for (source, target), parts in blocks.items():
        ranked = distance_percentiles(
            Y[source],
            np.concatenate([i for i, _, _ in parts]),
            np.concatenate([j for _, j, _ in parts]),
            None if source == target else Y[target],
            random_state=random_state,
        ).values
        at = 0
        for i, _, start in parts:
            out[start : start + len(i)] = 1.0 - ranked[at : at + len(i)]
            at += len(i)
    for links, start in zip(data.links, starts, strict=False):
        if len(links) > _MANY:
            both = ref(data[links.source]), ref(data[links.target])
            known[links] = (both, random_state, out[start : start + len(links)].copy())
    return out


def _are(kept: _Ends, data: HeteroData, links: Links) -> bool:
    return kept[0]() is data[links.source] and kept[1]() is data[links.target]


def comparison_nearness(data: HeteroData, embedding: Embedding) -> Floats:
    """Return how clearly the map agrees with each comparison.

    Returns
    -------
    array of shape (t,)
        d(far) / (d(near) + d(far)): above one half the map agrees, 1 is clearest; one half where
        both distances are 0; NaN where an item has no place.

    Raises
    ------
    hetviz.errors.DataError
        If the embedding lacks a dataset or row of the data.
    """
    if data.comparisons is None or not len(data.comparisons):
        return np.zeros(0)
    Y = np.vstack(list(coordinates_of(data, embedding).values()))
    a, b, c, d = data.comparisons.pairs.T
    near = np.linalg.norm(Y[a] - Y[b], axis=1)
    far = np.linalg.norm(Y[c] - Y[d], axis=1)
    both = near + far
    return np.where(both == 0, 0.5, far / np.where(both == 0, 1.0, both))
