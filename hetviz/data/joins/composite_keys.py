"""Keys of several columns that identify rows only together, such as team and year."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetviz.data.joins.drafts import MIN_SURE_SHARE
from hetviz.data.joins.join import Join
from hetviz.data.joins.key_columns import KeyColumn
from hetviz.data.joins.key_names import TIME_WORDS
from hetviz.data.joins.keys import column_keys, combined_codes
from hetviz.data.joins.matching import Match
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData

_MAX_KEY_COLUMNS = 8
# Real tables have a few rows twice; of fewer than 1,000 rows all must differ.
_MAX_REPEATED_SHARE = 0.001


@dataclass(frozen=True)
class CompositeKey:
    """A key of several columns with its pairs, and the share of rows that find a partner."""

    join: Join
    share: float
    evidence: str
    match: Match


def composite_keys(
    data: HeteroData, columns: Sequence[KeyColumn], known_joins: Sequence[Join]
) -> list[CompositeKey]:
    """Return joins by several columns with the same names in both datasets."""
    columns_of: dict[str, dict[str, KeyColumn]] = {}
    for column in columns:
        if column.column and column.separator is None and not column.has_fractions:
            columns_of.setdefault(column.dataset, {}).setdefault(column.bare_name, column)
    # Ids that are names, such as "Club of 2019", may have a key of several columns, too.
    has_id = {column.dataset for column in columns if column.is_id and column.is_named_key}
    referred = {(join.source, join.target) for join in known_joins}
    # Known references of columns: two tables that refer to the same third table by the same columns
    # do not refer to each other.
    references = _references(columns_of, known_joins)
    found: list[CompositeKey] = []
    for target, keys in columns_of.items():
        for source, refers in columns_of.items():
            if source == target or (source, target) in referred or target in has_id:
                continue
            common = {
                name: (refers[name].column, keys[name].column)
                for name in refers
                if name in keys and _share_found(refers[name], keys[name]) >= MIN_SURE_SHARE
            }
            common = dict(list(common.items())[:_MAX_KEY_COLUMNS])
            weak = [name for name in common if _is_plain_number(keys[name])]
            key = _smallest_key(data[target], {name: common[name][1] for name in common}, weak)
            if not key:
                continue
            first, *others = [common[name] for name in key]
            join = Join("key", source, target, first[0], first[1], also=tuple(others))
            match = join.match(data)
            n = int((combined_codes(data[source], join.source_columns, True) >= 0).sum())
            hits = len(np.unique(match.i))
            if not n or hits / n < MIN_SURE_SHARE:
                continue
            words = " and ".join(join.source_columns)
            evidence = (
                f"{hits:,} of {n:,} {source} and {len(np.unique(match.j)):,} of "
                f"{len(data[target]):,} {target} match by {words} together. "
            )
            n_repeated = _repeated_rows(data[target], join.target_columns)
            evidence += (
                f"{n_repeated:,} of {len(data[target]):,} {target} have the values of an earlier "
                "row. Both rows are linked."
                if n_repeated
                else f"No two {target} share these values."
            )
            found.append(CompositeKey(join, hits / n, evidence, match))
    found = [key for key in found if not _is_worse(data, key, found)]
    references |= _references(columns_of, [key.join for key in found])
    titled = {name for name, dataset in data.datasets.items() if dataset.title_column is not None}
    return [
        key
        for key in found
        if not _is_named_elsewhere(key.join, references, columns_of, key.join.target in titled)
    ]


def _references(
    columns_of: Mapping[str, Mapping[str, KeyColumn]], joins: Sequence[Join]
) -> set[tuple[str, str, str]]:
    """Return (dataset, name of a column, dataset that it refers to) of joins by key."""
    return {
        (join.source, _name_in(columns_of, join.source, column), join.target)
        for join in joins
        if join.kind == "key"
        for column in join.source_columns
    }


def _name_in(columns_of: Mapping[str, Mapping[str, KeyColumn]], dataset: str, column: str) -> str:
    names = columns_of.get(dataset, {})
    return next((name for name, of in names.items() if of.column == column), column)


def _is_worse(data: HeteroData, key: CompositeKey, others: Sequence[CompositeKey]) -> bool:
    """Return whether the same columns refer to a better target, or the same key is reversed."""
    join = key.join
    for other in others:
        ends = other.join.source, other.join.target
        is_reversed = ends == (join.target, join.source)
        is_rival = (
            other is not key
            and other.join.source == join.source
            and (set(other.join.source_columns) == set(join.source_columns))
        )
        if (is_reversed or is_rival) and _merit(data, other) > _merit(data, key):
            return True
    return False


def _merit(data: HeteroData, key: CompositeKey) -> tuple[float, int, str]:
    """Return what speaks for a target: rows found, and columns that say more than the key."""
    table = data[key.join.target].table
    n_columns = 0 if table is None else table.shape[1]
    return round(key.share, 3), n_columns, key.join.target


def _is_named_elsewhere(
    join: Join,
    references: Collection[tuple[str, str, str]],
    columns_of: Mapping[str, Mapping[str, KeyColumn]],
    has_title: bool,
) -> bool:
    """Return whether a key only agrees because both datasets refer to a third one.

    Each column refers to the same third dataset in both, or is a plain number such as a slot of
    rows without names.
    """
    source, target = join.source, join.target
    thirds = {third for of, _, third in references if of == target} - {source, target}
    names = [_name_in(columns_of, source, column) for column in join.source_columns]
    is_shared = [
        any(
            (source, name, third) in references and (target, name, third) in references
            for third in thirds
        )
        for name in names
    ]
    others = [name for name, shared in zip(names, is_shared, strict=True) if not shared]
    keys = columns_of.get(target, {})
    if has_title and others:
        return False
    return any(is_shared) and all(name in keys and _is_plain_number(keys[name]) for name in others)


def _share_found(a: KeyColumn, b: KeyColumn) -> float:
    """Return the share of the rows of `a` with a key of `b`."""
    is_shared = np.isin(a.hashes, b.hashes)
    return float(a.uses[is_shared].sum()) / max(1, a.rows)


def _is_plain_number(column: KeyColumn) -> bool:
    """Return whether a column has numbers that neither its name nor a time makes part of a key."""
    return (
        column.integers is not None
        and not column.is_named_key
        and not TIME_WORDS & set(column.words)
    )


def _smallest_key(dataset: Dataset, columns: Mapping[str, str], weak: Collection[str]) -> list[str]:
    """Return a minimal subset of these columns that identifies the rows, or an empty list."""
    left = dict(columns)
    if len(left) < 2:
        return []
    n_repeated = _repeated_rows(dataset, list(left.values()))
    if n_repeated > _MAX_REPEATED_SHARE * len(dataset):
        return []
    # Weak columns are dropped first, then those with the fewest values.
    order = sorted(
        left,
        key=lambda name: (
            name not in weak, len(column_keys(dataset, left[name], True).distinct)
        ),
    )  # fmt: skip
    for name in order:
        fewer = {other: column for other, column in left.items() if other != name}
        if len(fewer) > 1 and _repeated_rows(dataset, list(fewer.values())) <= n_repeated:
            left = fewer
    return list(left)


def _repeated_rows(dataset: Dataset, columns: Sequence[str]) -> int:
    """Return the number of rows with the key of an earlier row, all rows if keys are missing."""
    row_codes = combined_codes(dataset, columns, True)
    codes = row_codes[row_codes >= 0]
    if len(codes) < MIN_SURE_SHARE * len(row_codes):
        return len(row_codes)
    return len(codes) - len(np.unique(codes))
