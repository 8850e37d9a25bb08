"""Adding statements to those that are there: what is new, what is said again, what is opposed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.data.edits.stating import Changes, edited_comparisons, edited_links, put
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.data.model.meta import NOTED, text_of
from hetviz.data.model.statements import link_keys_at, statement_keys


@dataclass(frozen=True, eq=False)
class Stated:
    """Data with statements added, and how those meet the ones that were there.

    Attributes
    ----------
    data : HeteroData
    added, updated : tuple of str
        Keys of statements that are new, and of those that say something else now.
    n_same : int
        How many were there already, word for word.
    opposite : tuple of (str, str)
        Keys of an added statement and of one that says the opposite; both are kept.
    """

    data: HeteroData
    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    n_same: int = 0
    opposite: tuple[tuple[str, str], ...] = ()


def add_links(data: HeteroData, links: Links) -> Stated:
    """Add links; one that says what an earlier one says takes its place.

    Parameters
    ----------
    data : HeteroData
    links : Links
        Of two that say the same, the later counts.

    Notes
    -----
    The same: the same two items, kind and role, on the same side of 0. Which end is the source
    counts for relations only. The earlier one keeps its position and gets the new weight, score
    and notes. What is new joins the links of its sort. Costs O(links).
    """
    directed = links.role == "relation"
    asked = _said(data, links, directed)
    latest = {said: row for row, said in asked.items()}
    fresh = {row: asked[row] for row in sorted(latest.values())}
    wanted = np.unique(_codes(data, links, directed))
    contrary = {(pair, -sign): row for row, (pair, sign) in fresh.items() if sign}
    groups = list(data.links)
    opposed: list[tuple[int, int, int]] = []
    updated: list[tuple[int, int]] = []
    n_same = 0
    for number, group in enumerate(data.links):
        if {group.source, group.target} != {links.source, links.target}:
            continue
        here: dict[tuple[int, int], int] = {}
        for at, said in _said(data, group, directed, wanted).items():
            here.setdefault(said, at)
            if said in contrary:
                opposed.append((contrary[said], number, at))
        if (group.kind, group.role) != (links.kind, links.role):
            continue
        if links.score is not None and group.score is None:
            continue
        found = {here[said]: row for row, said in fresh.items() if said in here}
        changes = _changes(group, links, found)
        groups[number] = edited_links(group, changes)
        updated += [(number, at) for at in changes]
        n_same += len(found) - len(changes)
        for row in found.values():
            del fresh[row]
    place = None
    if fresh:
        place = put(groups, links.take(np.array(list(fresh), dtype=np.int64)))
    after = HeteroData(data.datasets, groups, data.comparisons, data.labels)
    at_fresh = [] if place is None else [(place[0], place[1] + k) for k in range(len(fresh))]
    opposed = [one for one in opposed if one[0] in fresh]
    at_opposed = [(number, at) for _, number, at in opposed]
    keys = link_keys_at(after, [*at_fresh, *updated, *at_opposed])
    key_of = dict(zip(fresh, keys, strict=False))
    n, m = len(at_fresh), len(updated)
    return Stated(
        after,
        tuple(key_of.values()),
        tuple(keys[n : n + m]),
        n_same,
        tuple((key_of[row], key) for (row, _, _), key in zip(opposed, keys[n + m :], strict=True)),
    )


def add_all(data: HeteroData, parts: Iterable[Links | Comparisons]) -> Stated:
    """Add links and comparisons one after the other; see `add_links` and `add_comparisons`."""
    told = Stated(data)
    for part in parts:
        met = (
            add_links(told.data, part)
            if isinstance(part, Links)
            else add_comparisons(told.data, part)
        )
        told = Stated(
            met.data,
            told.added + met.added,
            tuple(dict.fromkeys(told.updated + met.updated)),
            told.n_same + met.n_same,
            told.opposite + met.opposite,
        )
    return told


def add_comparisons(data: HeteroData, compared: Comparisons) -> Stated:
    """Add comparisons; one that says what an earlier one says takes its place.

    The same: the same near and the same far pair, whichever end of a pair comes first.
    """
    asked = _ordered(compared.pairs)
    latest = {said: row for row, said in enumerate(asked)}
    fresh = {row: asked[row] for row in sorted(latest.values())}
    before = data.comparisons or Comparisons([])
    here: dict[tuple[int, ...], int] = {}
    for at, said in enumerate(_ordered(before.pairs)):
        here.setdefault(said, at)
    found = {here[said]: row for row, said in fresh.items() if said in here}
    changes = _changes(before, compared, found)
    for row in found.values():
        del fresh[row]
    turned = {row: (*said[2:], *said[:2]) for row, said in fresh.items()}
    kept = edited_comparisons(before, changes)
    after = HeteroData(data.datasets, data.links, kept if len(kept) else None, data.labels)
    if fresh:
        after = after.edit().add(compared.take(np.array(list(fresh), dtype=np.int64)))
    keys = statement_keys(after)[sum(map(len, data.links)) :]
    key_of = {row: str(keys[len(kept) + at]) for at, row in enumerate(fresh)}
    return Stated(
        after,
        tuple(key_of.values()),
        tuple(str(keys[at]) for at in changes),
        len(found) - len(changes),
        tuple((key_of[row], str(keys[here[said]])) for row, said in turned.items() if said in here),
    )


def _said(
    data: HeteroData, links: Links, directed: bool, wanted: Ints | None = None
) -> dict[int, tuple[int, int]]:
    """Return the pair, as a number, and the sign of each link (of wanted pairs only)."""
    code = _codes(data, links, directed)
    rows = np.arange(len(links)) if wanted is None else np.flatnonzero(np.isin(code, wanted))
    sign = np.sign(links.weight[rows]).astype(np.int64)
    said = zip(code[rows].tolist(), sign.tolist(), strict=True)
    return dict(zip(rows.tolist(), said, strict=True))


def _codes(data: HeteroData, links: Links, directed: bool) -> Ints:
    p = links.i + data.offsets[data[links.source].name].start
    q = links.j + data.offsets[data[links.target].name].start
    if not directed:
        p, q = np.minimum(p, q), np.maximum(p, q)
    return np.asarray(p * data.n_rows + q)


def _ordered(pairs: Ints) -> list[tuple[int, ...]]:
    """Return the near and the far pair of each comparison, each with its smaller end first."""
    both = np.sort(pairs.reshape(-1, 2, 2), axis=2).reshape(-1, 4)
    return [tuple(row) for row in both.tolist()]


def _changes(
    old: Links | Comparisons, new: Links | Comparisons, found: Mapping[int, int]
) -> Changes:
    """Return what changes when rows of `new` take the place of rows of `old`: old row to fields.

    When it was said alone is no change.
    """
    numbers = {"weight": (old.weight, new.weight)}
    before = old.score if isinstance(old, Links) else None
    after = new.score if isinstance(new, Links) else None
    if before is not None and after is not None:
        numbers["score"] = (before, after)
    texts = {
        name: (
            text_of(old.meta, name, len(old)).tolist(),
            text_of(new.meta, name, len(new)).tolist(),
        )
        for name in NOTED
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
