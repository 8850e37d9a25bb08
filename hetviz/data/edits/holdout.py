"""Splitting what is known: links, comparisons and whole objects to judge a map by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hetviz._types import Bools, Ints
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.labels import Labels
from hetviz.data.model.links import Links
from hetviz.errors import ParameterError


def split(
    data: HeteroData,
    links: float,
    comparisons: float,
    objects: Mapping[str, float],
    random_state: int,
) -> tuple[HeteroData, HeteroData]:
    """Carry out `HeteroData.holdout`."""
    shares: dict[str, Any] = {"links": links, "comparisons": comparisons, **objects}
    for name, share in shares.items():
        if not isinstance(share, int | float | np.number) or not 0 <= share < 1:
            raise ParameterError(f"holdout: {name} = {share!r}; a share from 0 to below 1.")
    seed: Any = random_state
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(f"holdout: random_state = {seed!r}; a whole number from 0.")
    rng = np.random.default_rng(random_state)
    out = _rows_out(data, objects, rng)
    touched = _touched(data, out)
    held = _links_out(data, links, touched, rng)
    t = 0 if data.comparisons is None else len(data.comparisons)
    compared = np.zeros(t, dtype=bool)
    if data.comparisons is not None:
        names_out = out[data.comparisons.objects].any(axis=1)
        free = np.flatnonzero(~names_out)
        compared[rng.permutation(free)[: round(comparisons * len(free))]] = True
        compared |= names_out
    kept_rows = {name: np.flatnonzero(~out[rows]) for name, rows in data.offsets.items()}
    train = _part(data, ~held, ~compared).edit().subset(kept_rows)
    held_out = _part(data, held, compared)
    if objects:
        held_out = _with_new_rows(held_out, out, kept_rows)
    return train, held_out


def _rows_out(data: HeteroData, objects: Mapping[str, float], rng: np.random.Generator) -> Bools:
    """Return which global rows leave: those of the drawn objects, in every view."""
    out = np.zeros(data.n_rows, dtype=bool)
    for name, share in objects.items():
        rows = data.offsets[data[name].name]
        n = rows.stop - rows.start
        chosen = rng.permutation(n)[: min(max(round(share * n), 1 if share else 0), n - 1)]
        out |= np.isin(data.object_of, data.object_of[rows][chosen])
    for name, rows in data.offsets.items():
        if out[rows].all():
            raise ParameterError(f"holdout: no row of {name!r} would be left to learn from.")
    return out


def _touched(data: HeteroData, out: Bools) -> Bools:
    table = data.link_table()
    p, q = table["p"].to_numpy(np.int64), table["q"].to_numpy(np.int64)
    return np.asarray(out[p] | out[q], dtype=bool)


def _links_out(data: HeteroData, share: float, touched: Bools, rng: np.random.Generator) -> Bools:
    """Return which rows of ``data.link_table()`` are held out."""
    free = np.flatnonzero(~touched)
    if share == 0 or free.size == 0:
        return touched
    table = data.link_table()
    ends = np.sort(data.object_of[table[["p", "q"]].to_numpy(np.int64)], axis=1)
    _, pair = np.unique(ends @ [data.n_objects, 1], return_inverse=True)
    kinds = [f"{links.source}\0{links.target}\0{links.kind}\0" for links in data.links]
    _, kind = np.unique(kinds, return_inverse=True)
    negative = table["weight"].to_numpy(np.float64) < 0
    stratum = 2 * kind[table["group"].to_numpy(np.int64)] + negative
    # a pair that is linked twice counts once, in the stratum of its first link
    pairs, first = np.unique(pair[free], return_index=True)
    stratum = stratum[free[first]]
    chosen = np.zeros(pair.max() + 1, dtype=bool)
    for value in np.unique(stratum):
        drawn = rng.permutation(pairs[stratum == value])
        chosen[drawn[: round(share * len(drawn))]] = True
    _give_back(data, ends, pair, chosen, touched)
    return np.asarray(touched | chosen[pair])


def _give_back(
    data: HeteroData,
    ends: Ints,
    pair: Ints,
    chosen: Bools,
    touched: Bools,
) -> None:
    """Unchoose at least one pair of every featureless object, or it could not be placed."""
    bare = np.ones(data.n_objects, dtype=bool)
    for name, rows in data.offsets.items():
        if not data[name].is_featureless:
            bare[data.object_of[rows]] = False
    held = touched | chosen[pair]
    bare[ends[~held]] = False
    for row in np.flatnonzero(chosen[pair] & ~touched & bare[ends].any(axis=1)):
        if bare[ends[row]].any():
            chosen[pair[row]] = False
            bare[ends[row]] = False


def _part(data: HeteroData, chosen: Bools, compared: Bools) -> HeteroData:
    """Return `data` with only the chosen links and comparisons."""
    groups = data.link_table()["group"].to_numpy(np.int64)
    links: list[Links] = []
    for group, all_of in enumerate(data.links):
        taken = all_of.take(chosen[groups == group])
        if len(taken):
            links.append(taken)
    comparisons = data.comparisons.take(compared) if data.comparisons is not None else None
    if comparisons is not None and len(comparisons) == 0:
        comparisons = None
    return HeteroData(data.datasets, links, comparisons, data.labels)


def _with_new_rows(
    held_out: HeteroData,
    out: Bools,
    kept_rows: Mapping[str, Ints],
) -> HeteroData:
    """Shrink the datasets that lost rows to those rows and the ones that something names."""
    named = out.copy()
    table = held_out.link_table()
    named[table[["p", "q"]].to_numpy(np.int64).ravel()] = True
    if held_out.comparisons is not None:
        named[held_out.comparisons.objects.ravel()] = True
    rows = {
        name: np.flatnonzero(named[place])
        for name, place in held_out.offsets.items()
        if out[place].any()
    }
    smaller = held_out.edit().subset(rows)
    datasets: list[Dataset] = [
        held_out[name].as_new(rows[name], kept_rows[name]) if name in rows else dataset
        for name, dataset in smaller.datasets.items()
    ]
    labels: tuple[Labels, ...] = smaller.labels
    compared: Comparisons | None = smaller.comparisons
    return HeteroData(datasets, smaller.links, compared, labels)
