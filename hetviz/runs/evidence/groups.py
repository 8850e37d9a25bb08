"""Evidence of statements about groups of items: regions, clusters, selections."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hetviz._text import count, join_words, round_percent
from hetviz._types import Bools, Ints, Texts
from hetviz.data import HeteroData
from hetviz.features.columns.types import Column
from hetviz.features.item_columns import group_values, item_columns
from hetviz.metrics.contrast import Difference
from hetviz.runs.cluster.names import MIN_SHARE, GroupName
from hetviz.runs.evidence.evidence import Evidence, item_table, pair_table

_TRUE, _LINKED = "name is true", "linked items"


NAME_RULE = (
    "A name is a value, a linked item or a word that is true of at least "
    f"{round_percent(MIN_SHARE)} of the members and of the densest 70 % of them, and clearly less "
    "often of the others. Items that lack the column have it if most of what they link to has it."
)
"""What makes a name of a group."""


def members_evidence(
    data: HeteroData, rows: Ints, title: str, is_borrowed: Bools | None = None
) -> Evidence:
    """Return the items of a group, in the order of the data. O(rows)."""
    counts = _counts(data, rows)
    columns: dict[str, object] = {}
    rule = "Every item of the group."
    if is_borrowed is not None and is_borrowed.any():
        columns["by its links"] = is_borrowed
        rule = (
            f"{int((~is_borrowed).sum()):,} have this value themselves, {int(is_borrowed.sum()):,} "
            "take it from what they link to."
        )
    return Evidence(
        f"{title}: {join_words(counts)}.",
        rule,
        f"{count(len(rows), 'item')} of {data.n_rows:,}.",
        "",
        item_table(data, rows, columns),
        rows,
    )


def _counts(data: HeteroData, rows: Ints) -> list[str]:
    return [
        f"{n:,} of {len(data[name]):,} {name}"
        for name, span in data.offsets.items()
        if (n := int(((rows >= span.start) & (rows < span.stop)).sum()))
    ]


def name_evidence(data: HeteroData, name: GroupName, members: Ints) -> Evidence:
    """Return the members of a named group, those that the name is true of first."""
    if not name.text:
        evidence = members_evidence(data, members, "A region without a name")
        rule = (
            f"Nothing is true of at least {round_percent(MIN_SHARE)} of its members and clearly "
            "less often of the others, so it has no name."
        )
        return Evidence(
            evidence.statement, rule, evidence.sample, "", evidence.table, evidence.rows
        )
    is_true = np.isin(members, name.rows)
    order = np.argsort(~is_true, kind="stable")
    rows = members[order]
    table = item_table(data, rows, {_TRUE: is_true[order], _LINKED: _linked_titles(data, rows)})
    return Evidence(
        f"{name.account or name.text}.",
        NAME_RULE,
        f"{name.n_true:,} of {count(name.n_members, 'member')} ({round_percent(name.share)}).",
        f"It is true of {round_percent(name.share_of_all)} of all items of the map."
        if np.isfinite(name.share_of_all)
        else "",
        table,
        rows,
    )


_MAX_LINKED_TITLES = 5


def _linked_titles(data: HeteroData, rows: Ints) -> list[str]:
    """Return the first linked items of each row as text."""
    A = data.adjacency("+")
    texts = []
    titles: dict[int, str] = {}
    for row in rows.tolist():
        ends = A.indices[A.indptr[row] : A.indptr[row + 1]]
        first = np.sort(ends)[:_MAX_LINKED_TITLES]
        missing = [int(end) for end in first if int(end) not in titles]
        if missing:
            names = item_table(data, np.array(missing, dtype=np.int64), {})["title"]
            titles.update(zip(missing, names, strict=True))
        more = f" and {len(ends) - len(first):,} more" if len(ends) > len(first) else ""
        texts.append(", ".join(titles[int(end)] for end in first) + more)
    return texts


def links_inside_evidence(data: HeteroData, rows: Ints, title: str) -> Evidence:
    """Return the links of a group, those that stay inside first. O(links)."""
    member = np.zeros(data.n_rows, dtype=bool)
    member[rows] = True
    A = data.adjacency("+").astype(bool).tocoo()
    once = A.row < A.col
    p, q = A.row[once].astype(np.int64), A.col[once].astype(np.int64)
    touching = member[p] | member[q]
    p, q = p[touching], q[touching]
    inside = member[p] & member[q]
    order = np.argsort(~inside, kind="stable")
    p, q, inside = p[order], q[order], inside[order]
    # Ends outside come second.
    swap = ~member[p]
    p, q = np.where(swap, q, p), np.where(swap, p, q)
    table = pair_table(data, p, q, {"stays inside": inside})
    # A link inside has two ends here, one to the outside has one.
    n_ends = 2 * int(inside.sum()) + int((~inside).sum())
    share = 2 * int(inside.sum()) / n_ends if n_ends else float("nan")
    return Evidence(
        f"“{title}”: {round_percent(share)} of its links stay inside." if n_ends else
        f"“{title}” has no links.",
        "Of all ends of links at its members, the share whose other end is a member too.",
        f"{2 * int(inside.sum()):,} of {count(n_ends, 'end')} of links.",
        f"With links to random items it would be about "
        f"{round_percent((len(rows) - 1) / max(data.n_rows - 1, 1))}, its share of all items.",
        table,
        np.unique(np.r_[p, q]),
    )  # fmt: skip


def difference_evidence(
    data: HeteroData, dataset: str, chosen: Bools, among: Bools, difference: Difference
) -> Evidence:
    """Return the items of a dataset by the column in which a group differs."""
    column = item_columns(data, dataset)[difference.column]
    counted = among | chosen
    groups = group_values(column)
    is_group = difference.value is not None and groups is not None
    if is_group:
        assert groups is not None  # noqa: S101 - for the type checker
        values: object = groups
        known = np.array([value is not None for value in groups])
        has = np.array([str(value) == difference.value for value in groups]) & known
        order_value = has.astype(float)
    else:
        values, known = _plain_values(column), ~np.isnan(column.values)
        has = known
        order_value = np.where(known, column.values, -np.inf)
    mask = counted & known
    at = np.flatnonzero(mask)
    order = np.lexsort((-order_value[at], ~chosen[at]))
    at = at[order]
    start = data.offsets[dataset].start
    table = item_table(
        data, at + start, {difference.column: np.asarray(values, dtype=object)[at],
                           "in the group": chosen[at]},
    )  # fmt: skip
    n_in, n_out = int((mask & chosen).sum()), int((mask & ~chosen).sum())
    title = difference.column
    if is_group:
        statement = (
            f"{title}: {difference.value} is the value of {round_percent(difference.inside)} "
            f"of these {dataset} and of {round_percent(difference.outside)} of the others."
        )
        rule = "Share of the items with this value among those that have any."
        sample = (
            f"{int((has & mask & chosen).sum()):,} of {n_in:,} here, "
            f"{int((has & mask & ~chosen).sum()):,} of {n_out:,} others."
        )
    else:
        inside, outside = (_number(value, column) for value in (difference.inside,
                                                                difference.outside))  # fmt: skip
        statement = f"The median of {title} is {inside} for these {dataset} and {outside} for the "
        statement += "others."
        rule = "Median of the items that have a value."
        sample = f"{n_in:,} here, {n_out:,} others."
    return Evidence(
        statement,
        rule,
        sample,
        f"The difference is {difference.z:.1f} standard errors. By chance it would be below 3 in "
        "nearly all columns.",
        table,
        at + start,
    )


def _plain_values(column: Column) -> Texts:
    values = column.values
    if column.kind == "date":
        days = pd.to_datetime(values, unit="D", errors="coerce")
        return np.array([str(day)[:10] for day in days], dtype=object)
    return np.asarray(values, dtype=object)


def _number(value: float, column: Column) -> str:
    if column.kind == "date":
        return str(pd.to_datetime(value, unit="D"))[:10]
    return f"{value:,.6g}"


def label_evidence(data: HeteroData, rows: Ints, column: str, values: Texts) -> Evidence:
    """Return the labelled members of a group, those with the most common label first."""
    known = np.array([values[row] is not None for row in rows], dtype=bool)
    labelled = rows[known]
    classes, sizes = np.unique([str(v) for v in values[labelled]], return_counts=True)
    value = str(classes[int(np.argmax(sizes))])
    is_value = np.array([str(values[row]) == value for row in labelled], dtype=bool)
    order = np.argsort(~is_value, kind="stable")
    labelled, is_value = labelled[order], is_value[order]
    everyone = np.array([v is not None for v in values], dtype=bool)
    share_of_all = np.mean([str(v) == value for v in values[everyone]])
    return Evidence(
        f"{round_percent(float(is_value.mean()))} have the {column} “{value}”.",
        f"Share of the members with a {column} that have the most common one.",
        f"{int(is_value.sum()):,} of {count(len(labelled), 'member')} with a {column}.",
        f"Of all items with a {column} it is {round_percent(float(share_of_all))}.",
        item_table(data, labelled, {column: values[labelled]}),
        labelled,
    )
