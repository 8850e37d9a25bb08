"""Joins of tables: keys are excluded from features, codes get titles, detail rows become links."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import count, join_words
from hetviz._types import Floats, Ints
from hetviz.data import Dataset, HeteroData, Links
from hetviz.data.joins.join import Join, add_match, share_linked
from hetviz.data.joins.key_names import NAME_WORDS, is_named_key, words_of_name
from hetviz.data.joins.matching import Match
from hetviz.data.joins.proposals import Proposal, propose_joins
from hetviz.errors import DataError, ParameterError, Problem, check_type
from hetviz.features.link_values import LinkValue, default_link_value, link_values
from hetviz.features.recipe import columns_used, make_features_with_notes, recipe_of
from hetviz.features.summaries import SummaryColumn, summarise_rows, summary_columns

ROWS: Mapping[str, str] = {
    "items": "items",
    "links": "links between the items they refer to",
    "summary": "summary columns of the items they refer to",
    "both": "links and summary columns",
    "none": "left out",
}
"""Possible uses of the rows of a table with references to other tables."""

_FEATURE_NOTES = frozenset(
    {"missing", "constant-column", "empty-column", "unique-column", "mixed-column"}
    | {"many-categories", "log-negative", "no-features", "row-numbers"}
)
_MIN_SUMMARY_ROWS = 1_000
_MAX_TITLE_PARTS = 3
_MIN_DISTINCT_TITLES = 0.1
_MIN_CODE_SHARE = 0.8
_CODE = re.compile(r"\W*[A-Za-z]{0,3}\W*\d[\w.\-]*")
_TITLE_COLUMN = "names of what it names"
# Columns of a table of pure links that only number or mark the links.
_MARK_WORDS = frozenset({"slot", "position", "order", "seq", "sequence", "is", "hidden", "room"})
_MAX_MARKS = 2


@dataclass(frozen=True)
class DetailTable:
    """Table whose rows refer to items of other tables.

    `kind` {"entity", "event", "relation"}: "relation": keys and nothing else that varies. "event":
        keys with a date or value. "entity": rows with a name, or that other tables refer to.
    """

    dataset: str
    named: tuple[str, ...]
    take: str
    kind: str = "event"
    values: tuple[LinkValue, ...] = ()
    value: LinkValue | None = None
    columns: tuple[SummaryColumn, ...] = field(default=(), compare=False)

    @property
    def weight(self) -> str:
        """Column with the weights of the links; empty for the number of rows."""
        return "" if self.value is None else self.value.column

    @property
    def uses(self) -> tuple[str, ...]:
        """The possible uses of its rows, see `ROWS`."""
        return tuple(use for use in ROWS if len(self.named) > 1 or use not in ("links", "both"))

    @property
    def sentence(self) -> str:
        """Description in words."""
        twice = [f"{name} twice" if self.named.count(name) > 1 else name for name in self.named]
        return f"Rows of {self.dataset} refer to {join_words(list(dict.fromkeys(twice)))}."


def notes_after_joining(
    notes: Sequence[Problem],
    places: Mapping[str, str],
    joins: Sequence[Join],
    rows: Mapping[str, str] | None = None,
) -> list[Problem]:
    """Return the notes that hold once tables are joined."""
    keys = set()
    for join in joins:
        ends = ((join.source, join.source_columns), (join.target, join.target_columns))
        for name, columns in ends if join.kind in ("key", "list") else ():
            keys |= {f"{places[name]}, column {column}" for column in columns if name in places}
    details = [name for name, use in (rows or {}).items() if use != "items" and name in places]
    tables = {place for name in details for place in (places[name], f"dataset {name!r}")}
    columns_of = tuple(f"{places[name]}, column " for name in details)
    return [
        note
        for note in notes
        if note.code not in _FEATURE_NOTES
        or not (note.where in keys | tables or note.where.startswith(columns_of))
    ]


def detail_tables(data: HeteroData, joins: Sequence[Join]) -> list[DetailTable]:
    """Return the tables whose rows refer to items of other tables, with the suggested use.

    Rows of pure links become links, at any size. Rows with a date or value become links and a
    summary. Rows with a name, or that other tables refer to, stay items.
    """
    references = {name: [join for join in joins if _refers(join, name)] for name in data.datasets}
    kinds = {name: _kind_of(data[name], refs, joins) for name, refs in references.items() if refs}
    out = []
    for name, kind in kinds.items():
        refs = [
            join
            for join in references[name]
            if join.target == name or kinds.get(join.target) in (None, "entity")
        ]
        outer = [join for join in refs if join.target != name]
        keys = _key_columns(references[name])
        values = link_values(data[name], keys)
        columns = () if kind == "entity" else summary_columns(data[name], keys)
        named = tuple(join.target for join in outer)
        take = "items"
        if kind != "entity" and len(outer) >= 2:
            has_summary = any(not column.reason for column in columns)
            take = "both" if kind == "event" and has_summary else "links"
        elif kind == "event" and outer and _is_large_detail(data, name, outer):
            take = "summary"
        if named:
            value = default_link_value(data[name], keys)
            out.append(DetailTable(name, named, take, kind, values, value, columns))
    return out


def _is_large_detail(data: HeteroData, name: str, refs: Sequence[Join]) -> bool:
    """Return whether a table has many rows without names for each item that it refers to."""
    return (
        len(data[name]) >= _MIN_SUMMARY_ROWS
        and has_only_codes(data[name])
        and any(2 * len(data[join.target]) <= len(data[name]) for join in refs)
    )


def _kind_of(dataset: Dataset, refs: Sequence[Join], joins: Sequence[Join]) -> str:
    """Return whether rows are an "entity", an "event" or a "relation"."""
    name, title = dataset.name, dataset.title_column
    is_referred = any(join.target == name and join.source != name for join in joins)
    outer = [join for join in refs if join.target != name]
    if not outer or is_referred:
        return "entity"
    if title is not None and set(words_of_name(title)) & NAME_WORDS:
        return "entity"
    if title is not None and len(outer) < 2:
        return "entity"
    keys = _key_columns(refs)
    table = dataset.table if dataset.table is not None else pd.DataFrame()
    others = [
        str(column)
        for column in table.columns
        if str(column) not in keys and table[column].nunique() > 1
    ]
    dates = [column for column in others if pd.api.types.is_datetime64_any_dtype(table[column])]
    has_values = bool(link_values(dataset, keys))
    rest = [column for column in others if column not in dates]
    are_marks = len(rest) <= _MAX_MARKS and all(
        is_named_key(words_of_name(column))
        or _MARK_WORDS & set(words_of_name(column))
        or table[column].nunique() <= 2
        for column in rest
    )
    if len(outer) >= 2 and not has_values and not dates and are_marks:
        return "relation"
    has_only_numbers = has_only_codes(dataset)
    return "event" if dates or has_values or len(outer) >= 2 or has_only_numbers else "entity"


def join_tables(
    data: HeteroData,
    joins: Sequence[Join | Proposal] | None = None,
    rows: Mapping[str, str] | None = None,
    values: Mapping[str, LinkValue | Mapping[str, Any] | None] | None = None,
    include: Mapping[str, Collection[str]] | None = None,
) -> HeteroData:
    """Join datasets by keys, lists and places, and prepare them for a map.

    Parameters
    ----------
    data : HeteroData
    joins : sequence of Join or Proposal, optional
        Joins to apply; default: the certain proposals of `hetviz.propose_joins`.
    rows : mapping of str to {"items", "links", "summary", "both", "none"}, optional
        Use of the rows of a dataset with references: "items"; "links" between the items they refer
        to, weighted by `values`; "summary" columns of these items: counts, means, shares, first
        and last dates; "both" links and summary; "none": the dataset is left out. Default: items,
        and the rows of tables of pure links become links if `joins` is not given.
    values : mapping of str to LinkValue, dict or None, optional
        The column that weighs the links of a dataset, and its meaning; None for the number of
        rows. Default: the first of `hetviz.features.link_values.link_values`
        that is not 0 in more than 5 % of the rows. Signs and ratings
        are averaged over the rows of a pair, counts and amounts are added, then all are divided by
        the largest.
    include : mapping of str to collection of str, optional
        Columns of a dataset that its summary uses although they are left out by default: clock
        times, parts of dates, codes, counters, categories of more than 8 values, and columns after
        the first 60 of a summary.

    Returns
    -------
    HeteroData
        Joined data. Key columns are excluded from the features, and rows with only a code get the
        titles of the items they refer to. Datasets used as links or summary are removed. Rows from
        which no link or summary can be made stay items.

    Raises
    ------
    hetviz.errors.DataError
        If a join is not possible, rows used as links or summary have no references, or an included
        column cannot be summarised.
    hetviz.errors.ParameterError
        If the use of rows is unknown.

    Notes
    -----
    O(rows + links), plus new features of changed datasets.

    Examples
    --------
    >>> import pandas as pd
    >>> from hetviz import Dataset, HeteroData, join_tables
    >>> people = Dataset("people", ["ann", "bob", "cem"])
    >>> table = pd.DataFrame({"who": ["ann", "bob", "cem", "ann"], "goals": [2.0, 0, 3, 5]})
    >>> games = Dataset("games", ["1", "2", "3", "4"], table=table)
    >>> joined = join_tables(HeteroData([people, games]), rows={"games": "summary"})
    >>> joined["people"].table["games: mean goals"].tolist()
    [3.5, 0.0, 3.0]
    """
    check_type(data, HeteroData, "data")
    if joins is None:
        joins = [proposal for proposal in propose_joins(data) if proposal.sure]
        if rows is None:
            plain = [join.join if isinstance(join, Proposal) else join for join in joins]
            details = detail_tables(data, plain)
            rows = {table.dataset: "links" for table in details if table.kind == "relation"}
    join_list = [
        proposal.join if isinstance(proposal, Proposal) else proposal for proposal in joins
    ]
    use_of = {name: use for name, use in (rows or {}).items() if use != "items"}
    _check_rows(data, join_list, rows or {})
    matches = [(join, join.match(data)) for join in join_list]
    refs_of = {
        name: _in_column_order(
            data[name],
            [
                (join, match)
                for join, match in matches
                if _refers(join, name) and join.target not in use_of
            ],
        )
        for name in use_of
    }
    links_of = {
        name: _rows_as_links(data, name, refs_of[name], _value_for(data, name, refs, values))
        for name, use in use_of.items()
        if use in ("links", "both") and (refs := refs_of[name])
    }
    # Rows that give no link are not lost.
    use_of = {name: use for name, use in use_of.items() if use != "links" or links_of.get(name)}
    out = data
    for join, match in matches:
        if join.source in use_of or join.target in use_of:
            continue
        if join.kind == "views":
            out = join.carried_out(out)
        elif not len(match.i) or share_linked(out, match) < 1:
            out = add_match(out, match)
    for name, use in use_of.items():
        if links_of.get(name):
            out = out.edit().add(*links_of[name])
        if use in ("summary", "both"):
            included = (include or {}).get(name, ())
            out = _add_summaries(out, data, name, refs_of[name], included)
    out = out.edit().drop(*use_of) if use_of else out
    for name in out.datasets:
        if name in data.datasets:
            own_refs = [(join, match) for join, match in matches if _refers(join, name)]
            out = _add_titles(out, data, name, own_refs)
            out = _drop_key_features(out, name, _key_columns([join for join, _ in own_refs]))
    return out


def _in_column_order(
    dataset: Dataset, refs: Sequence[tuple[Join, Match]]
) -> list[tuple[Join, Match]]:
    columns = ["", *([] if dataset.table is None else map(str, dataset.table.columns))]
    return sorted(refs, key=lambda ref: columns.index(ref[0].source_column))


def _value_for(
    data: HeteroData,
    name: str,
    refs: Sequence[tuple[Join, Match]],
    values: Mapping[str, LinkValue | Mapping[str, Any] | None] | None,
) -> LinkValue | None:
    if values is not None and name in values:
        value = values[name]
        return (
            value if value is None or isinstance(value, LinkValue) else LinkValue.from_dict(value)
        )
    return default_link_value(data[name], _key_columns([join for join, _ in refs]))


def has_only_codes(dataset: Dataset) -> bool:
    """Return whether the rows have no titles, and most ids are codes or numbers."""
    if dataset.title_column is not None:
        return False
    ids = dataset.ids.tolist()
    return sum(_CODE.fullmatch(id_text) is not None for id_text in ids) >= _MIN_CODE_SHARE * len(
        ids
    )


def _refers(join: Join, name: str) -> bool:
    return join.kind == "key" and join.source == name


def _key_columns(joins: Sequence[Join]) -> set[str]:
    return {column for join in joins for column in join.source_columns if column}


def _check_rows(data: HeteroData, joins: Sequence[Join], rows: Mapping[str, str]) -> None:
    for name, use in rows.items():
        if use not in ROWS:
            uses = ", ".join(ROWS)
            raise ParameterError(f"rows of {name!r}: {use!r} is unknown. Use one of: {uses}.")
        removed = {other for other, use_of_other in rows.items() if use_of_other != "items"}
        n = sum(_refers(join, name) and join.target not in removed for join in joins)
        min_items = 2 if use in ("links", "both") else 1
        if use not in ("items", "none") and n < min_items:
            message = f"rows used as {ROWS[use]} must refer to {count(min_items, 'item')} or more"
            raise DataError.of("no-parents", f"dataset {data[name].name!r}", message, str(n))


def _partners(match: Match, n: int) -> Ints:
    """Return the first matching row of each of n rows, -1 for none."""
    out = np.full(n, -1, dtype=np.int64)
    out[match.i[::-1]] = match.j[::-1]
    return out


def _rows_as_links(
    data: HeteroData, name: str, refs: Sequence[tuple[Join, Match]], value: LinkValue | None
) -> list[Links]:
    """Return links between the items that rows refer to, with weights relative to the largest."""
    dataset = data[name]
    weight = np.ones(len(dataset)) if value is None else value.weights(dataset)
    is_usable = np.isfinite(weight)
    out = []
    for (first_join, first), (second_join, second) in combinations(refs, 2):
        i, j = _partners(first, len(dataset)), _partners(second, len(dataset))
        mask = (i >= 0) & (j >= 0) & is_usable
        if first_join.target == second_join.target:
            mask &= i != j
            i, j = np.minimum(i, j), np.maximum(i, j)
        codes, pairs = pd.factorize(i[mask] * len(data[second_join.target]) + j[mask])
        total: Floats = np.bincount(codes, weights=weight[mask], minlength=len(pairs)).astype(float)
        if value is not None and not value.adds_up:
            total = total / np.bincount(codes, minlength=len(pairs))
        # A weight of 0 says nothing.
        order = np.argsort(pairs, kind="stable")
        order = order[total[order] != 0]
        if not len(order):
            continue
        kind = (
            name
            if len(refs) == 2
            else f"{name}: {first_join.source_column or 'id'} - {second_join.source_column or 'id'}"
        )
        starts, ends = np.divmod(pairs[order], len(data[second_join.target]))
        share = total[order] / np.abs(total).max()
        out.append(
            Links(
                first_join.target, second_join.target, starts, ends, share, kind=kind,
                role="relation"
            )
        )  # fmt: skip
    return out


def _add_summaries(
    out: HeteroData,
    data: HeteroData,
    name: str,
    refs: Sequence[tuple[Join, Match]],
    include: Collection[str],
) -> HeteroData:
    """Add summaries of rows as columns of the items that they refer to."""
    dataset, keys = data[name], _key_columns([join for join, _ in refs])
    for join, match in refs:
        parent = out[join.target]
        # Several keys to one dataset are distinguished by their columns.
        is_repeated = sum(other.target == join.target for other, _ in refs) > 1
        head = f"{name} by {join.source_column or 'id'}" if is_repeated else name
        at = _partners(match, len(dataset))
        new = summarise_rows(dataset, keys, at, len(parent), head, include)
        table_before = (
            parent.table if parent.table is not None else pd.DataFrame(index=range(len(parent)))
        )
        new_columns = {
            column: values for column, values in new.items() if column not in table_before.columns
        }
        table = pd.concat([table_before.reset_index(drop=True), pd.DataFrame(new_columns)], axis=1)
        # With own vectors, new columns must be selected explicitly as features.
        chosen = recipe_of(parent)["chosen"] == []
        use = {column: {"use": True} for column in new_columns} if chosen else None
        labels = [column.name for column in out.labels if column.dataset == parent.name]
        extended = replace(parent, table=table)
        out = out.edit().replace(make_features_with_notes(extended, use, None, labels)[0])
    return out


def _add_titles(
    out: HeteroData, data: HeteroData, name: str, refs: Sequence[tuple[Join, Match]]
) -> HeteroData:
    """Add titles to rows that have only codes, from the items that they refer to."""
    dataset = out[name]
    titled = [(join, match) for join, match in refs if not has_only_codes(data[join.target])]
    if not titled or not has_only_codes(dataset):
        return out
    parts = []
    for join, match in _in_column_order(dataset, titled)[:_MAX_TITLE_PARTS]:
        titles = np.append(data[join.target].titles, "")
        parts.append(titles[_partners(match, len(dataset))].tolist())
    titles_of_rows = [
        " · ".join(dict.fromkeys(part for part in row if part)) or str(dataset.ids[at])
        for at, row in enumerate(zip(*parts, strict=True))
    ]
    if len(parts) == 1 and len(set(parts[0])) < _MIN_DISTINCT_TITLES * len(dataset):
        # Three hundred penguins are not all called by one of three islands.
        return out
    table_before = (
        dataset.table if dataset.table is not None else pd.DataFrame(index=range(len(dataset)))
    )
    column = _TITLE_COLUMN
    while column in table_before.columns:
        column += "_"
    table = table_before.assign(**{column: titles_of_rows})
    recipe = {**(dataset.recipe or {}), "title": column}
    return out.edit().replace(replace(dataset, table=table, recipe=recipe))


def _drop_key_features(out: HeteroData, name: str, keys: set[str]) -> HeteroData:
    """Exclude keys from the features, because links replace them."""
    dataset = out[name]
    used = [
        column for column in columns_used((dataset.recipe or {}).get("features")) if column in keys
    ]
    if not used:
        return out
    labels = [column.name for column in out.labels if column.dataset == name]
    without = {column: {"use": False} for column in used}
    return out.edit().replace(make_features_with_notes(dataset, without, None, labels)[0])
