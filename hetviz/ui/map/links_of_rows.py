"""Links of given rows, the strongest first, with those that were held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz._types import Bools, Floats, Ints
from hetviz.data import HeteroData
from hetviz.errors import HetvizError
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.workspace import MapResult, State

MAX_DRAWN_LINKS = 300
MAX_COUNTED_LINKS = 5_000
_MAX_ROWS_DRAWN = 12
_HASH_FACTOR = 2654435761


@dataclass(frozen=True, eq=False)
class LinkEnds:
    """Links between global rows."""

    p: Ints
    q: Ints
    weight: Floats
    is_held_out: Bools  # Whether the link was hidden from the method


def strongest_links(
    state: State, run: MapResult | None, rows: Ints, max_links: int | None = None
) -> dict[str, object]:
    """Return the links with an end in `rows`, JSON-ready."""
    data = state.data
    assert data is not None  # noqa: S101 - the caller has looked
    if max_links is None:
        max_links = MAX_DRAWN_LINKS if len(rows) <= _MAX_ROWS_DRAWN else MAX_COUNTED_LINKS
    ends = _link_ends(state, run)
    member = np.zeros(data.n_rows, dtype=bool)
    member[rows] = True
    touched = np.flatnonzero(member[ends.p] | member[ends.q])
    # Weights are mostly 1. Without hashed ties only the first rows of the file would be drawn.
    tie = (touched * _HASH_FACTOR % 2**32) / 2**32
    strength = np.abs(ends.weight[touched]) + 1e-9 * tie
    if len(touched) > max_links:
        top = np.argpartition(-strength, max_links)[:max_links]
        touched, strength = touched[top], strength[top]
    chosen = touched[np.argsort(-strength)]
    return {
        "links": [
            [
                int(ends.p[k]),
                int(ends.q[k]),
                float(ends.weight[k]),
                _KIND_NAMES[bool(ends.is_held_out[k])],
            ]
            for k in chosen
        ],
        "total": int((member[ends.p] | member[ends.q]).sum()),
    }


_KIND_NAMES = {False: "given", True: "hidden"}


def _link_ends(state: State, run: MapResult | None) -> LinkEnds:
    data = state.data
    assert data is not None  # noqa: S101 - the caller has looked
    held_out = state.held_out

    def make() -> LinkEnds:
        p, q, weight = _global_links(data, data)
        is_held_out = np.zeros(len(p), dtype=bool)
        hidden = None if run is None else links_hidden_from(data, run)
        if hidden is not None:
            first, second, _ = _global_links(data, hidden)
            keys = _pair_keys(p, q, data.n_rows)
            is_held_out = np.isin(keys, _pair_keys(first, second, data.n_rows))
        if held_out is not None:
            more = _global_links(data, held_out)
            p, q, weight = (np.concatenate(both) for both in zip((p, q, weight), more, strict=True))
            is_held_out = np.concatenate([is_held_out, np.ones(len(more[0]), dtype=bool)])
        return LinkEnds(p, q, weight, is_held_out)

    key = ("ends", id(held_out), id(run) if run is not None and run.hold_out else None)
    return RESULTS.get_or_compute(data, key, make, (held_out, run))


def links_hidden_from(data: HeteroData, run: MapResult) -> HeteroData | None:
    """Return the links that were hidden from the method of a run, drawn with its seed."""
    if not run.hold_out or run.fingerprint != data.fingerprint():
        return None
    from hetviz.runs.embed.scope import scope_of

    try:
        return scope_of(data, run.weights, run.only, run.hold_out, run.seed).held_out
    except HetvizError:
        # If the draw cannot be repeated, the links are shown without marks.
        return None


def _global_links(data: HeteroData, other: HeteroData) -> tuple[Ints, Ints, Floats]:
    """Return the links of `other` as global rows of `data`, matched by dataset and id."""
    row_of: dict[str, Ints] = {}
    for name, part in other.datasets.items():
        if name not in data.datasets:
            row_of[name] = np.full(len(part), -1)
        elif part is data.datasets[name]:
            row_of[name] = np.arange(len(part)) + data.offsets[name].start
        else:
            rows = data[name].find(part.ids)
            row_of[name] = np.where(rows >= 0, rows + data.offsets[name].start, -1)
    none = np.empty(0, dtype=np.int64)
    p = np.concatenate([none, *(row_of[g.source][g.i] for g in other.links)])
    q = np.concatenate([none, *(row_of[g.target][g.j] for g in other.links)])
    weight = np.concatenate([np.empty(0), *(g.weight for g in other.links)])
    is_known = (p >= 0) & (q >= 0)
    return p[is_known], q[is_known], weight[is_known]


def _pair_keys(p: Ints, q: Ints, n: int) -> Ints:
    pair: Ints = np.minimum(p, q) * n + np.maximum(p, q)
    return pair
