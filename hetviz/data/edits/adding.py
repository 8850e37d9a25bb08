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
from hetviz.data.model.statements import authors_of, link_keys_at, statement_keys


@dataclass(frozen=True, eq=False)
class AddResult:
    """Data with added statements, and how they relate to the existing ones."""

    data: HeteroData
    # `added`, `updated`: keys of the new statements, and of existing ones that were changed.
    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    n_same: int = 0  # Number of statements that existed already, unchanged.
    # Keys of an added statement and of an existing one that contradicts it; both stay.
    opposite: tuple[tuple[str, str], ...] = ()


def add_links(data: HeteroData, links: Links) -> AddResult:
    """Add links; a link that repeats an existing one updates it.

    Two links are equal if they join the same items, have the same kind, role and author, and
    weights of the same sign. The direction matters for relations only. The existing link keeps its
    position and gets the new weight, score and notes. New links are appended to the group with the
    same datasets, kind and role. Costs O(links).
    """
    directed = links.role == "relation"
    pair_signs = _pair_signs(data, links, directed)
    latest = {pair_sign: row for row, pair_sign in pair_signs.items()}
    new_rows = {row: pair_signs[row] for row in sorted(latest.values())}
    pair_codes = np.unique(_pair_codes(data, links, directed))
    opposite_rows: dict[tuple[int, int], list[int]] = {}
    for row, (pair, sign, _) in new_rows.items():
        if sign:
            opposite_rows.setdefault((pair, -sign), []).append(row)
    groups = list(data.links)
    opposites: list[tuple[int, int, int]] = []
    updated: list[tuple[int, int]] = []
    n_same = 0
    for number, group in enumerate(data.links):
        if {group.source, group.target} != {links.source, links.target}:
            continue
        first_at: dict[tuple[int, int, str], int] = {}
        for at, pair_sign in _pair_signs(data, group, directed, pair_codes).items():
            first_at.setdefault(pair_sign, at)
            opposites += [(row, number, at) for row in opposite_rows.get(pair_sign[:2], [])]
        if (group.kind, group.role) != (links.kind, links.role):
            continue
        if links.score is not None and group.score is None:
            continue
        repeated = {
            first_at[pair_sign]: row for row, pair_sign in new_rows.items() if pair_sign in first_at
        }
        changes = _changes_between(group, links, repeated)
        groups[number] = edited_links(group, changes)
        updated += [(number, at) for at in changes]
        n_same += len(repeated) - len(changes)
        for row in repeated.values():
            del new_rows[row]
    position = None
    if new_rows:
        position = append_links(groups, links.take(np.array(list(new_rows), dtype=np.int64)))
    after = HeteroData(data.datasets, groups, data.comparisons, data.labels)
    at_fresh = (
        [] if position is None else [(position[0], position[1] + k) for k in range(len(new_rows))]
    )
    opposites = [entry for entry in opposites if entry[0] in new_rows]
    at_opposed = [(number, at) for _, number, at in opposites]
    keys = link_keys_at(after, [*at_fresh, *updated, *at_opposed])
    key_of = dict(zip(new_rows, keys, strict=False))
    n, m = len(at_fresh), len(updated)
    return AddResult(
        after,
        tuple(key_of.values()),
        tuple(keys[n : n + m]),
        n_same,
        tuple(
            (key_of[row], key) for (row, _, _), key in zip(opposites, keys[n + m :], strict=True)
        ),
    )


def add_statements(data: HeteroData, parts: Iterable[Links | Comparisons]) -> AddResult:
    """Add several links and comparisons in order; see `add_links` and `add_comparisons`."""
    total = AddResult(data)
    for part in parts:
        result = (
            add_links(total.data, part)
            if isinstance(part, Links)
            else add_comparisons(total.data, part)
        )
        total = AddResult(
            result.data,
            total.added + result.added,
            tuple(dict.fromkeys(total.updated + result.updated)),
            total.n_same + result.n_same,
            total.opposite + result.opposite,
        )
    return total


def add_comparisons(data: HeteroData, compared: Comparisons) -> AddResult:
    """Add comparisons; a comparison that repeats an existing one of its author updates it."""
    new_pairs = _authored_pairs(compared)
    last_row = {pair: row for row, pair in enumerate(new_pairs)}
    new_rows = {row: new_pairs[row] for row in sorted(last_row.values())}
    before = data.comparisons or Comparisons([])
    first_at: dict[tuple[tuple[int, ...], str], int] = {}
    at_of: dict[tuple[int, ...], list[int]] = {}
    for at, pair in enumerate(_authored_pairs(before)):
        first_at.setdefault(pair, at)
        at_of.setdefault(pair[0], []).append(at)
    repeated = {first_at[pair]: row for row, pair in new_rows.items() if pair in first_at}
    changes = _changes_between(before, compared, repeated)
    for row in repeated.values():
        del new_rows[row]
    reversed_pairs = {row: (*pair[2:], *pair[:2]) for row, (pair, _) in new_rows.items()}
    edited = edited_comparisons(before, changes)
    after = HeteroData(data.datasets, data.links, edited if len(edited) else None, data.labels)
    if new_rows:
        after = after.edit().add(compared.take(np.array(list(new_rows), dtype=np.int64)))
    keys = statement_keys(after)[sum(map(len, data.links)) :]
    key_of = {row: str(keys[len(edited) + at]) for at, row in enumerate(new_rows)}
    return AddResult(
        after,
        tuple(key_of.values()),
        tuple(str(keys[at]) for at in changes),
        len(repeated) - len(changes),
        tuple(
            (key_of[row], str(keys[at]))
            for row, pair in reversed_pairs.items()
            for at in at_of.get(pair, [])
        ),
    )


def _pair_signs(
    data: HeteroData, links: Links, directed: bool, wanted: Ints | None = None
) -> dict[int, tuple[int, int, str]]:
    """Return pair code, sign and author of each link, by row; `wanted` limits the pair codes."""
    code = _pair_codes(data, links, directed)
    rows = np.arange(len(links)) if wanted is None else np.flatnonzero(np.isin(code, wanted))
    sign = np.sign(links.weight[rows]).astype(np.int64)
    authors = authors_of(links, rows)
    pair_signs = zip(code[rows].tolist(), sign.tolist(), authors, strict=True)
    return dict(zip(rows.tolist(), pair_signs, strict=True))


def _pair_codes(data: HeteroData, links: Links, directed: bool) -> Ints:
    p = links.i + data.offsets[data[links.source].name].start
    q = links.j + data.offsets[data[links.target].name].start
    if not directed:
        p, q = np.minimum(p, q), np.maximum(p, q)
    return np.asarray(p * data.n_rows + q)


def _authored_pairs(compared: Comparisons) -> list[tuple[tuple[int, ...], str]]:
    """Return the near and the far pair of each comparison, each sorted, and its author."""
    both = np.sort(compared.pairs.reshape(-1, 2, 2), axis=2).reshape(-1, 4)
    authors = authors_of(compared, np.arange(len(compared)))
    return [(tuple(row), author) for row, author in zip(both.tolist(), authors, strict=True)]


def _changes_between(
    old: Links | Comparisons, new: Links | Comparisons, new_row_of: Mapping[int, int]
) -> RowChanges:
    """Return old row -> changed fields when rows of `new` replace rows of `old`."""
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
    for at, row in new_row_of.items():
        fields: dict[str, Any] = {
            name: float(b[row]) for name, (a, b) in numbers.items() if a[at] != b[row]
        }
        fields |= {name: b[row] for name, (a, b) in texts.items() if a[at] != b[row]}
        if set(fields) - {"when"}:
            out[at] = fields
    return out
