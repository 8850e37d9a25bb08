"""Tables joined as people mean it: keys are no features, codes get names, lines become links."""

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
    "items": "items of their own",
    "links": "links between what they name",
    "summary": "a summary of what they name",
    "both": "links, and a summary",
}
"""What the rows of a table that names others can be taken as."""

_MIN_DETAIL_ROWS = 1_000
_MAX_LEVELS = 8
_MAX_COLUMNS = 60
_MAX_TITLE_PARTS = 3
_MIN_CODE_SHARE = 0.8
_CODE = re.compile(r"\W*[A-Za-z]{0,3}\W*\d[\w.\-]*")
_TITLE_COLUMN = "names of what it names"


@dataclass(frozen=True)
class DetailTable:
    """A table of many rows that only say something of items of other tables.

    Attributes
    ----------
    dataset : str
    named : tuple of str
        The datasets whose items a row names, one for each key, so that one can stand twice.
    take : {"links", "summary", "both"}
        What its rows are best taken as, see `ROWS`.
    weight : str
        The column that weighs the links; empty for the number of rows.
    """

    dataset: str
    named: tuple[str, ...]
    take: str
    weight: str = ""

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        twice = [f"{name} twice" if self.named.count(name) > 1 else name for name in self.named]
        return f"Rows of {self.dataset} only say something of {join_words(list(dict.fromkeys(twice)))}."


def detail_tables(data: HeteroData, joins: Sequence[Join]) -> list[DetailTable]:
    """Return the tables whose rows only describe what they name, by keys.

    Those of at least 1,000 rows that have no name of their own and name items of another dataset
    that has fewer.
    """
    of = {name: [join for join in joins if _refers(join, name)] for name in data.datasets}
    found = [
        name
        for name, refs in of.items()
        if len(data[name]) >= _MIN_DETAIL_ROWS
        and has_only_codes(data[name])
        and any(2 * len(data[join.target]) <= len(data[name]) for join in refs)
    ]
    out = []
    for name in found:
        refs = [join for join in of[name] if join.target not in found]
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
    """Join datasets by keys, lists and places, and make of it what the map is to show.

    Parameters
    ----------
    data : HeteroData
    joins : sequence of Join or Proposal, optional
        What to carry out; the proposals that are sure unless given, see `hetviz.propose_joins`.
    rows : mapping of str to {"items", "links", "summary", "both"}, optional
        What the rows of a dataset that names others are taken as: items, as they are; links between
        the items that they name, weighted by the number of rows, or by the one number that they
        hold; columns of these items, such as means and shares; or the last two. A dataset that is
        not named stays one of items.

    Returns
    -------
    HeteroData
        With the links. Columns that were read as keys are no features any more, and rows whose own
        name is a code are named by what they name. Datasets taken as links or a summary are gone.

    Raises
    ------
    hetviz.errors.DataError
        If a join cannot be carried out, or rows that name nothing are to be links or a summary.
    hetviz.errors.ParameterError
        If rows are to be taken as something else.

    Notes
    -----
    O(rows + links), and the features of the datasets that changed are made again.

    Examples
    --------
    >>> import pandas as pd
    >>> from hetviz import Dataset, HeteroData, join_tables
    >>> people = Dataset("people", ["ann", "bob", "cem"])
    >>> table = pd.DataFrame({"who": ["ann", "bob", "cem", "ann"], "goals": [1.0, 2, 3, 4]})
    >>> games = Dataset("games", ["1", "2", "3", "4"], table=table)
    >>> told = join_tables(HeteroData([people, games]), rows={"games": "summary"})
    >>> told["people"].table["games: mean goals"].tolist()
    [2.5, 2.0, 3.0]
    """
    if joins is None:
        joins = [one for one in propose_joins(data) if one.sure]
    asked = [one.join if isinstance(one, Proposal) else one for one in joins]
    taken = {name: how for name, how in (rows or {}).items() if how != "items"}
    _check_rows(data, asked, rows or {})
    matches = [(join, join.match(data)) for join in asked]
    out = data
    for join, match in matches:
        if join.source in taken or join.target in taken:
            continue
        out = join.carried_out(out) if join.kind == "views" else add_match(out, match)
    for name, how in taken.items():
        refs = [
            (join, match)
            for join, match in matches
            if _refers(join, name) and join.target not in taken
        ]
        if how in ("links", "both"):
            out = out.edit().add(*_rows_as_links(data, name, refs))
        if how in ("summary", "both"):
            out = _add_summaries(out, data, name, refs)
    out = out.edit().drop(*taken) if taken else out
    for name in out.datasets:
        if name in data.datasets:
            mine = [(join, match) for join, match in matches if _refers(join, name)]
            out = _add_titles(out, data, name, mine)
            out = _drop_key_features(out, name, _key_columns([join for join, _ in mine]))
    return out


def has_only_codes(dataset: Dataset) -> bool:
    """Whether the rows have no name but a code or a number."""
    if dataset.title_column is not None:
        return False
    ids = dataset.ids.tolist()
    return sum(_CODE.fullmatch(one) is not None for one in ids) >= _MIN_CODE_SHARE * len(ids)


def _refers(join: Join, name: str) -> bool:
    return join.kind == "key" and join.source == name and bool(join.source_column)


def _key_columns(joins: Sequence[Join]) -> set[str]:
    return {column for join in joins for column in join.source_columns if column}


def _check_rows(data: HeteroData, joins: Sequence[Join], rows: Mapping[str, str]) -> None:
    for name, how in rows.items():
        if how not in ROWS:
            known = ", ".join(ROWS)
            raise ParameterError(f"rows of {name!r}: {how!r} is unknown. Use one of: {known}.")
        others = {other for other, taken in rows.items() if taken != "items"}
        n = sum(_refers(join, name) and join.target not in others for join in joins)
        least = 2 if how in ("links", "both") else 1
        if how != "items" and n < least:
            what = f"its rows can be {ROWS[how]} only where they name {count(least, 'item')}"
            raise DataError(Problem("no-parents", f"dataset {data[name].name!r}", what, str(n)))


def _partners(match: Match, n: int) -> Ints:
    """Return the row that each of n rows names, -1 for none; the first where there are several."""
    out = np.full(n, -1, dtype=np.int64)
    out[match.i[::-1]] = match.j[::-1]
    return out


def _numbers(dataset: Dataset, keys: set[str]) -> list[str]:
    """Return the columns of a table that measure something."""
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
    """Whether the one number of a table can weigh links: none is below 0."""
    table = dataset.table
    return table is not None and len(numbers) == 1 and float(table[numbers[0]].min()) >= 0


def _rows_as_links(data: HeteroData, name: str, refs: Sequence[tuple[Join, Match]]) -> list[Links]:
    """Return links between what rows name, weighted by their share of the greatest weight."""
    dataset = data[name]
    numbers = _numbers(dataset, _key_columns([join for join, _ in refs]))
    weight = np.ones(len(dataset))
    if dataset.table is not None and numbers and _is_summable(dataset, numbers):
        weight = np.nan_to_num(dataset.table[numbers[0]].to_numpy(np.float64))
    out = []
    for (one, first), (other, second) in combinations(refs, 2):
        i, j = _partners(first, len(dataset)), _partners(second, len(dataset))
        known = (i >= 0) & (j >= 0) & (weight > 0)
        if one.target == other.target:
            known &= i != j
        codes, pairs = pd.factorize(i[known] * len(data[other.target]) + j[known])
        if not len(pairs):
            continue
        total = np.bincount(codes, weights=weight[known])
        order = np.argsort(pairs, kind="stable")
        kind = name if len(refs) == 2 else f"{name}: {one.source_column} - {other.source_column}"
        rows, columns = np.divmod(pairs[order], len(data[other.target]))
        share = total[order] / total.max()
        out.append(
            Links(one.target, other.target, rows, columns, share, kind=kind, role="relation")
        )
    return out


def _add_summaries(
    out: HeteroData, data: HeteroData, name: str, refs: Sequence[tuple[Join, Match]]
) -> HeteroData:
    """Add what rows say in the mean of the items that they name, as columns of these."""
    dataset, keys = data[name], _key_columns([join for join, _ in refs])
    for join, match in refs:
        parent = out[join.target]
        # Of several keys to one dataset, each is told apart by its column.
        again = sum(other.target == join.target for other, _ in refs) > 1
        head = f"{name} by {join.source_column}" if again else name
        at = _partners(match, len(dataset))
        new = _summary_columns(dataset, keys, at, len(parent), head)
        before = (
            parent.table if parent.table is not None else pd.DataFrame(index=range(len(parent)))
        )
        fresh = {column: values for column, values in new.items() if column not in before.columns}
        table = pd.concat([before.reset_index(drop=True), pd.DataFrame(fresh)], axis=1)
        # Beside vectors that came with it, nothing is a feature unless it is said so.
        chosen = recipe_of(parent)["chosen"] == []
        use = {column: {"use": True} for column in fresh} if chosen else None
        labels = [column.name for column in out.labels if column.dataset == parent.name]
        told = replace(parent, table=table)
        out = out.edit().replace(make_features_with_notes(told, use, None, labels)[0])
    return out


def _summary_columns(
    dataset: Dataset, keys: set[str], at: Ints, n: int, head: str
) -> dict[str, Floats]:
    known = at >= 0
    rows = np.bincount(at[known], minlength=n).astype(np.float64)
    out = {f"{head}: how many": rows}
    table = dataset.table
    for column in () if table is None else map(str, table.columns):
        if column in keys or len(out) >= _MAX_COLUMNS or table is None:
            continue
        values = table[column]
        if column in _numbers(dataset, keys):
            x = values.to_numpy(np.float64)
            there = known & np.isfinite(x)
            held = np.bincount(at[there], minlength=n)
            total = np.bincount(at[there], weights=x[there], minlength=n)
            with np.errstate(invalid="ignore", divide="ignore"):
                out[f"{head}: mean {column}"] = np.where(held > 0, total / held, np.nan)
        elif not pd.api.types.is_numeric_dtype(values) and not is_named_id(column):
            codes, levels = pd.factorize(values)
            if not 2 <= len(levels) <= _MAX_LEVELS:
                continue
            there = known & (codes >= 0)
            held = np.bincount(at[there], minlength=n)
            for code, level in enumerate(levels):
                mine = np.bincount(at[there & (codes == code)], minlength=n)
                with np.errstate(invalid="ignore", divide="ignore"):
                    share = np.where(held > 0, mine / held, np.nan)
                out[f"{head}: share with {column} {level}"] = share
    return out


def _add_titles(
    out: HeteroData, data: HeteroData, name: str, refs: Sequence[tuple[Join, Match]]
) -> HeteroData:
    """Name rows that have only a code by the items that they name."""
    dataset = out[name]
    spoken = [(join, match) for join, match in refs if not has_only_codes(data[join.target])]
    if not spoken or not has_only_codes(dataset):
        return out
    columns = [] if dataset.table is None else list(map(str, dataset.table.columns))
    spoken.sort(key=lambda ref: columns.index(ref[0].source_column))
    parts = []
    for join, match in spoken[:_MAX_TITLE_PARTS]:
        titles = np.append(data[join.target].titles, "")
        parts.append(titles[_partners(match, len(dataset))].tolist())
    named = [
        " · ".join(dict.fromkeys(part for part in row if part)) or str(dataset.ids[at])
        for at, row in enumerate(zip(*parts, strict=True))
    ]
    before = dataset.table if dataset.table is not None else pd.DataFrame(index=range(len(dataset)))
    column = _TITLE_COLUMN
    while column in before.columns:
        column += "_"
    table = before.assign(**{column: named})
    recipe = {**(dataset.recipe or {}), "title": column}
    return out.edit().replace(replace(dataset, table=table, recipe=recipe))


def _drop_key_features(out: HeteroData, name: str, keys: set[str]) -> HeteroData:
    """Have keys be no features any more: what they say is said by links now."""
    dataset = out[name]
    used = [
        column for column in columns_used((dataset.recipe or {}).get("features")) if column in keys
    ]
    if not used:
        return out
    labels = [column.name for column in out.labels if column.dataset == name]
    without = {column: {"use": False} for column in used}
    return out.edit().replace(make_features_with_notes(dataset, without, None, labels)[0])
