"""Joins of tables: keys are excluded from features, codes get titles, detail rows become links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from hetviz._text import count, join_words
from hetviz._types import Floats, Ints
from hetviz.data import Dataset, HeteroData, Links
from hetviz.data.joins.join import Join, add_match
from hetviz.data.joins.matching import Match
from hetviz.data.joins.proposals import Proposal, propose_joins
from hetviz.errors import DataError, ParameterError, Problem
from hetviz.features.columns.names import is_named_id
from hetviz.features.recipe import columns_used, make_features_with_notes, recipe_of

ROWS: Mapping[str, str] = {
    "items": "items",
    "links": "links between the items they refer to",
    "summary": "summary columns of the items they refer to",
    "both": "links and summary columns",
}
"""Possible uses of the rows of a table with references to other tables."""

_MIN_DETAIL_ROWS = 1_000
_MAX_LEVELS = 8
_MAX_COLUMNS = 60
_MAX_TITLE_PARTS = 3
_MIN_CODE_SHARE = 0.8
_CODE = re.compile(r"\W*[A-Za-z]{0,3}\W*\d[\w.\-]*")
_TITLE_COLUMN = "names of what it names"


@dataclass(frozen=True)
class DetailTable:
    """Table of many rows that describe items of other tables.

    `named`: Referenced datasets, one for each key, possibly repeated.
    `take` {"links", "summary", "both"}: Suggested use of its rows, see `ROWS`.
    `weight`: Column with the weights of the links; empty for the number of rows.
    """

    dataset: str
    named: tuple[str, ...]
    take: str
    weight: str = ""

    @property
    def sentence(self) -> str:
        """Description in words."""
        twice = [f"{name} twice" if self.named.count(name) > 1 else name for name in self.named]
        return f"Rows of {self.dataset} only describe {join_words(list(dict.fromkeys(twice)))}."


def detail_tables(data: HeteroData, joins: Sequence[Join]) -> list[DetailTable]:
    """Return the tables whose rows only describe items of other tables.

    These have at least 1,000 rows without titles and refer to a smaller dataset.
    """
    references = {name: [join for join in joins if _refers(join, name)] for name in data.datasets}
    details = [
        name
        for name, refs in references.items()
        if len(data[name]) >= _MIN_DETAIL_ROWS
        and has_only_codes(data[name])
        and any(2 * len(data[join.target]) <= len(data[name]) for join in refs)
    ]
    out = []
    for name in details:
        refs = [join for join in references[name] if join.target not in details]
        if refs:
            numbers = _numbers(data[name], _key_columns(refs))
            take = "summary" if len(refs) == 1 else "both" if len(numbers) > 1 else "links"
            weight = (
                numbers[0]
                if take == "links" and numbers and _is_summable(data[name], numbers)
                else ""
            )
            out.append(DetailTable(name, tuple(join.target for join in refs), take, weight))
    return out


def join_tables(
    data: HeteroData,
    joins: Sequence[Join | Proposal] | None = None,
    rows: Mapping[str, str] | None = None,
) -> HeteroData:
    """Join datasets by keys, lists and places, and prepare them for a map.

    Parameters
    ----------
    data : HeteroData
    joins : sequence of Join or Proposal, optional
        Joins to apply; default: the certain proposals of `hetviz.propose_joins`.
    rows : mapping of str to {"items", "links", "summary", "both"}, optional
        Use of the rows of a dataset with references: "items"; "links" between the items they refer
        to, weighted by the number of rows or by their only number; "summary" columns of these
        items, such as means and shares; or "both" links and summary. Default: items.

    Returns
    -------
    HeteroData
        Joined data. Key columns are excluded from the features, and rows with only a code get the
        titles of the items they refer to. Datasets used as links or summary are removed.

    Raises
    ------
    hetviz.errors.DataError
        If a join is not possible, or rows used as links or summary have no references.
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
    >>> table = pd.DataFrame({"who": ["ann", "bob", "cem", "ann"], "goals": [1.0, 2, 3, 4]})
    >>> games = Dataset("games", ["1", "2", "3", "4"], table=table)
    >>> joined = join_tables(HeteroData([people, games]), rows={"games": "summary"})
    >>> joined["people"].table["games: mean goals"].tolist()
    [2.5, 2.0, 3.0]
    """
    if joins is None:
        joins = [proposal for proposal in propose_joins(data) if proposal.sure]
    join_list = [
        proposal.join if isinstance(proposal, Proposal) else proposal for proposal in joins
    ]
    use_of = {name: use for name, use in (rows or {}).items() if use != "items"}
    _check_rows(data, join_list, rows or {})
    matches = [(join, join.match(data)) for join in join_list]
    out = data
    for join, match in matches:
        if join.source in use_of or join.target in use_of:
            continue
        out = join.carried_out(out) if join.kind == "views" else add_match(out, match)
    for name, use in use_of.items():
        refs = [
            (join, match)
            for join, match in matches
            if _refers(join, name) and join.target not in use_of
        ]
        if use in ("links", "both"):
            out = out.edit().add(*_rows_as_links(data, name, refs))
        if use in ("summary", "both"):
            out = _add_summaries(out, data, name, refs)
    out = out.edit().drop(*use_of) if use_of else out
    for name in out.datasets:
        if name in data.datasets:
            own_refs = [(join, match) for join, match in matches if _refers(join, name)]
            out = _add_titles(out, data, name, own_refs)
            out = _drop_key_features(out, name, _key_columns([join for join, _ in own_refs]))
    return out


def has_only_codes(dataset: Dataset) -> bool:
    """Return whether the rows have no titles, and most ids are codes or numbers."""
    if dataset.title_column is not None:
        return False
    ids = dataset.ids.tolist()
    return sum(_CODE.fullmatch(id_text) is not None for id_text in ids) >= _MIN_CODE_SHARE * len(
        ids
    )


def _refers(join: Join, name: str) -> bool:
    return join.kind == "key" and join.source == name and bool(join.source_column)


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
        if use != "items" and n < min_items:
            message = f"rows used as {ROWS[use]} must refer to {count(min_items, 'item')} or more"
            raise DataError(Problem("no-parents", f"dataset {data[name].name!r}", message, str(n)))


def _partners(match: Match, n: int) -> Ints:
    """Return the first matching row of each of n rows, -1 for none."""
    out = np.full(n, -1, dtype=np.int64)
    out[match.i[::-1]] = match.j[::-1]
    return out


def _numbers(dataset: Dataset, keys: set[str]) -> list[str]:
    """Return the numeric columns of a table with measurements."""
    if dataset.table is None:
        return []
    return [
        str(column)
        for column in dataset.table.columns
        if str(column) not in keys
        and pd.api.types.is_numeric_dtype(dataset.table[column])
        and not pd.api.types.is_bool_dtype(dataset.table[column])
        and not is_named_id(str(column))
        and dataset.table[column].nunique() > 1
    ]


def _is_summable(dataset: Dataset, numbers: Sequence[str]) -> bool:
    """Return whether the table has one number column without negative values, for weights."""
    table = dataset.table
    return table is not None and len(numbers) == 1 and float(table[numbers[0]].min()) >= 0


def _rows_as_links(data: HeteroData, name: str, refs: Sequence[tuple[Join, Match]]) -> list[Links]:
    """Return links between the items that rows refer to, with weights relative to the largest."""
    dataset = data[name]
    numbers = _numbers(dataset, _key_columns([join for join, _ in refs]))
    weight = np.ones(len(dataset))
    if dataset.table is not None and numbers and _is_summable(dataset, numbers):
        weight = np.nan_to_num(dataset.table[numbers[0]].to_numpy(np.float64))
    out = []
    for (first_join, first), (second_join, second) in combinations(refs, 2):
        i, j = _partners(first, len(dataset)), _partners(second, len(dataset))
        mask = (i >= 0) & (j >= 0) & (weight > 0)
        if first_join.target == second_join.target:
            mask &= i != j
        codes, pairs = pd.factorize(i[mask] * len(data[second_join.target]) + j[mask])
        if not len(pairs):
            continue
        total = np.bincount(codes, weights=weight[mask])
        order = np.argsort(pairs, kind="stable")
        kind = (
            name
            if len(refs) == 2
            else f"{name}: {first_join.source_column} - {second_join.source_column}"
        )
        rows, columns = np.divmod(pairs[order], len(data[second_join.target]))
        share = total[order] / total.max()
        out.append(
            Links(
                first_join.target,
                second_join.target,
                rows,
                columns,
                share,
                kind=kind,
                role="relation",
            )
        )
    return out


def _add_summaries(
    out: HeteroData, data: HeteroData, name: str, refs: Sequence[tuple[Join, Match]]
) -> HeteroData:
    """Add means and shares of rows as columns of the items that they refer to."""
    dataset, keys = data[name], _key_columns([join for join, _ in refs])
    for join, match in refs:
        parent = out[join.target]
        # Several keys to one dataset are distinguished by their columns.
        is_repeated = sum(other.target == join.target for other, _ in refs) > 1
        head = f"{name} by {join.source_column}" if is_repeated else name
        at = _partners(match, len(dataset))
        new = _summary_columns(dataset, keys, at, len(parent), head)
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


def _summary_columns(
    dataset: Dataset, keys: set[str], at: Ints, n: int, head: str
) -> dict[str, Floats]:
    is_matched = at >= 0
    rows = np.bincount(at[is_matched], minlength=n).astype(np.float64)
    out = {f"{head}: how many": rows}
    table = dataset.table
    for column in () if table is None else map(str, table.columns):
        if column in keys or len(out) >= _MAX_COLUMNS or table is None:
            continue
        values = table[column]
        if column in _numbers(dataset, keys):
            x = values.to_numpy(np.float64)
            mask = is_matched & np.isfinite(x)
            n_values = np.bincount(at[mask], minlength=n)
            total = np.bincount(at[mask], weights=x[mask], minlength=n)
            with np.errstate(invalid="ignore", divide="ignore"):
                out[f"{head}: mean {column}"] = np.where(n_values > 0, total / n_values, np.nan)
        elif not pd.api.types.is_numeric_dtype(values) and not is_named_id(column):
            codes, levels = pd.factorize(values)
            if not 2 <= len(levels) <= _MAX_LEVELS:
                continue
            mask = is_matched & (codes >= 0)
            n_values = np.bincount(at[mask], minlength=n)
            for code, level in enumerate(levels):
                n_level = np.bincount(at[mask & (codes == code)], minlength=n)
                with np.errstate(invalid="ignore", divide="ignore"):
                    share = np.where(n_values > 0, n_level / n_values, np.nan)
                out[f"{head}: share with {column} {level}"] = share
    return out


def _add_titles(
    out: HeteroData, data: HeteroData, name: str, refs: Sequence[tuple[Join, Match]]
) -> HeteroData:
    """Add titles to rows that have only codes, from the items that they refer to."""
    dataset = out[name]
    titled = [(join, match) for join, match in refs if not has_only_codes(data[join.target])]
    if not titled or not has_only_codes(dataset):
        return out
    columns = [] if dataset.table is None else list(map(str, dataset.table.columns))
    titled.sort(key=lambda ref: columns.index(ref[0].source_column))
    parts = []
    for join, match in titled[:_MAX_TITLE_PARTS]:
        titles = np.append(data[join.target].titles, "")
        parts.append(titles[_partners(match, len(dataset))].tolist())
    titles_of_rows = [
        " · ".join(dict.fromkeys(part for part in row if part)) or str(dataset.ids[at])
        for at, row in enumerate(zip(*parts, strict=True))
    ]
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
