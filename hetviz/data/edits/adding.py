"""Addition of statements: new ones, repeated ones and contradicting ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.data.edits.statement_edits import (
    RowChanges,
    append_links,
    edited_comparisons,
    edited_links,
)
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.data.model.meta import META_COLUMNS, meta_text
from hetviz.data.model.statements import link_keys_at, statement_keys


@dataclass(frozen=True, eq=False)
class AddResult:
    """Data with added statements, and how they relate to the existing ones.

    Attributes
    ----------
    data : HeteroData
    added, updated : tuple of str
        Keys of the new statements, and of existing ones that were changed.
    n_same : int
        Number of statements that existed already, unchanged.
    opposite : tuple of (str, str)
        Keys of an added statement and of an existing one that contradicts it; both stay.
    """

    data: HeteroData
    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    n_same: int = 0
    opposite: tuple[tuple[str, str], ...] = ()


def add_links(data: HeteroData, links: Links) -> AddResult:
    """Add links; a link that repeats an existing one updates it.

    Parameters
    ----------
    data : HeteroData
    links : Links
        Of two equal links, the last one counts.

    Notes
    -----
    Two links are equal if they join the same items, have the same kind and role, and weights of
    the same sign. The direction matters for relations only. The existing link keeps its position
    and gets the new weight, score and notes. New links are appended to the group with the same
    datasets, kind and role. Costs O(links).
    """
    directed = links.role == "relation"
    asked = _pair_signs(data, links, directed)
    latest = {said: row for row, said in asked.items()}
    fresh = {row: asked[row] for row in sorted(latest.values())}
    wanted = np.unique(_pair_codes(data, links, directed))
    contrary = {(pair, -sign): row for row, (pair, sign) in fresh.items() if sign}
    groups = list(data.links)
    opposed: list[tuple[int, int, int]] = []
    updated: list[tuple[int, int]] = []
    n_same = 0
    for number, group in enumerate(data.links):
        if {group.source, group.target} != {links.source, links.target}:
            continue
        here: dict[tuple[int, int], int] = {}
        for at, said in _pair_signs(data, group, directed, wanted).items():
            here.setdefault(said, at)
            if said in contrary:
                opposed.append((contrary[said], number, at))
        if (group.kind, group.role) != (links.kind, links.role):
            continue
        if links.score is not None and group.score is None:
            continue
        found = {here[said]: row for row, said in fresh.items() if said in here}
        changes = _changes_between(group, links, found)
        groups[number] = edited_links(group, changes)
        updated += [(number, at) for at in changes]
        n_same += len(found) - len(changes)
        for row in found.values():
            del fresh[row]
    place = None
    if fresh:
        place = append_links(groups, links.take(np.array(list(fresh), dtype=np.int64)))
    after = HeteroData(data.datasets, groups, data.comparisons, data.labels)
    at_fresh = [] if place is None else [(place[0], place[1] + k) for k in range(len(fresh))]
    opposed = [one for one in opposed if one[0] in fresh]
    at_opposed = [(number, at) for _, number, at in opposed]
    keys = link_keys_at(after, [*at_fresh, *updated, *at_opposed])
    key_of = dict(zip(fresh, keys, strict=False))
    n, m = len(at_fresh), len(updated)
    return AddResult(
        after,
        tuple(key_of.values()),
        tuple(keys[n : n + m]),
        n_same,
        tuple((key_of[row], key) for (row, _, _), key in zip(opposed, keys[n + m :], strict=True)),
    )


def add_statements(data: HeteroData, parts: Iterable[Links | Comparisons]) -> AddResult:
    """Add several links and comparisons in order; see `add_links` and `add_comparisons`."""
    told = AddResult(data)
    for part in parts:
        met = (
            add_links(told.data, part)
            if isinstance(part, Links)
            else add_comparisons(told.data, part)
        )
        told = AddResult(
            met.data,
            told.added + met.added,
            tuple(dict.fromkeys(told.updated + met.updated)),
            told.n_same + met.n_same,
            told.opposite + met.opposite,
        )
    return told


def add_comparisons(data: HeteroData, compared: Comparisons) -> AddResult:
    """Add comparisons; a comparison that repeats an existing one updates it.

    Two comparisons are equal if they have the same near pair and the same far pair, in any
    orientation.
    """
    asked = _sorted_pairs(compared.pairs)
    latest = {said: row for row, said in enumerate(asked)}
    fresh = {row: asked[row] for row in sorted(latest.values())}
    before = data.comparisons or Comparisons([])
    here: dict[tuple[int, ...], int] = {}
    for at, said in enumerate(_sorted_pairs(before.pairs)):
        here.setdefault(said, at)
    found = {here[said]: row for row, said in fresh.items() if said in here}
    changes = _changes_between(before, compared, found)
    for row in found.values():
        del fresh[row]
    turned = {row: (*said[2:], *said[:2]) for row, said in fresh.items()}
    kept = edited_comparisons(before, changes)
    after = HeteroData(data.datasets, data.links, kept if len(kept) else None, data.labels)
    if fresh:
        after = after.edit().add(compared.take(np.array(list(fresh), dtype=np.int64)))
    keys = statement_keys(after)[sum(map(len, data.links)) :]
    key_of = {row: str(keys[len(kept) + at]) for at, row in enumerate(fresh)}
    return AddResult(
        after,
        tuple(key_of.values()),
        tuple(str(keys[at]) for at in changes),
        len(found) - len(changes),
        tuple((key_of[row], str(keys[here[said]])) for row, said in turned.items() if said in here),
    )


def _pair_signs(
    data: HeteroData, links: Links, directed: bool, wanted: Ints | None = None
) -> dict[int, tuple[int, int]]:
    """Return the pair code and the sign of each link, by row; `wanted` limits the pair codes."""
    code = _pair_codes(data, links, directed)
    rows = np.arange(len(links)) if wanted is None else np.flatnonzero(np.isin(code, wanted))
    sign = np.sign(links.weight[rows]).astype(np.int64)
    said = zip(code[rows].tolist(), sign.tolist(), strict=True)
    return dict(zip(rows.tolist(), said, strict=True))


def _pair_codes(data: HeteroData, links: Links, directed: bool) -> Ints:
    p = links.i + data.offsets[data[links.source].name].start
    q = links.j + data.offsets[data[links.target].name].start
    if not directed:
        p, q = np.minimum(p, q), np.maximum(p, q)
    return np.asarray(p * data.n_rows + q)


def _sorted_pairs(pairs: Ints) -> list[tuple[int, ...]]:
    """Return the near and the far pair of each comparison, each sorted."""
    both = np.sort(pairs.reshape(-1, 2, 2), axis=2).reshape(-1, 4)
    return [tuple(row) for row in both.tolist()]


def _changes_between(
    old: Links | Comparisons, new: Links | Comparisons, found: Mapping[int, int]
) -> RowChanges:
    """Return old row -> changed fields when rows of `new` replace rows of `old`.

    A different time (`when`) alone is no change.
    """
    numbers = {"weight": (old.weight, new.weight)}
    before = old.score if isinstance(old, Links) else None
    after = new.score if isinstance(new, Links) else None
    if before is not None and after is not None:
        numbers["score"] = (before, after)
    texts = {
        name: (
            meta_text(old.meta, name, len(old)).tolist(),
            meta_text(new.meta, name, len(new)).tolist(),
        )
        for name in META_COLUMNS
    }
    out: dict[int, dict[str, Any]] = {}
    for at, row in found.items():
        fields: dict[str, Any] = {
            name: float(b[row]) for name, (a, b) in numbers.items() if a[at] != b[row]
        }
        fields |= {name: b[row] for name, (a, b) in texts.items() if a[at] != b[row]}
        if set(fields) - {"when"}:
            out[at] = fields
    return out
