"""Readers of link and comparison tables that list every invalid row."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Set

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz._types import Floats, Ints
from hetviz.data import Comparisons, Dataset, Links
from hetviz.data.model.links import ROLES
from hetviz.errors import DataError, Problem
from hetviz.io import gate
from hetviz.io.bundle.lookup import Lookup
from hetviz.io.bundle.manifest import ComparisonsEntry, LinksEntry
from hetviz.io.files import Files
from hetviz.io.formats import npy
from hetviz.io.infer import cells
from hetviz.io.infer.parsed import Table

_LINK_COLUMNS = (
    "source_dataset", "source_id", "target_dataset", "target_id", "weight", "score", "kind", "role",
)  # fmt: skip
_FORMS = (("anchor", "near", "far"), ("a", "b", "c", "d"), ("a", "b", "c"))
_GROUP = ["source", "target", "kind", "role"]


def statement_form(columns: Iterable[str]) -> str | None:
    """Return whether these columns are those of "links" or "comparisons"; None for neither."""
    present = set(columns)
    if {"source_id", "target_id"} <= present:
        return "links"
    return None if _comparison_columns(present) is None else "comparisons"


def is_links(table: Table) -> bool:
    """Whether a table has the columns of links."""
    return statement_form(table.frame.columns) == "links"


def comparison_form(table: Table) -> tuple[str, ...] | None:
    """Return the names of the items of a comparison, if the table has such columns."""
    return _comparison_columns(set(table.frame.columns))


def _comparison_columns(present: Set[str]) -> tuple[str, ...] | None:
    return next((f for f in _FORMS if {f"{item}_id" for item in f} <= present), None)


def read_links(
    table: Table, entry: LinksEntry, datasets: Mapping[str, Dataset], problems: list[Problem]
) -> list[Links]:
    """Turn the rows of a table into Links, one for each source, target, kind and role."""
    if not is_links(table):
        raise _missing_columns_error(table, "links need the columns source_id and target_id")
    lookup = Lookup(table, datasets, problems)
    rows = _check_rows(lookup, entry)
    if not entry.repeated:
        rows = _merge_repeats(lookup, rows)
    groups = rows[lookup.good].groupby(_GROUP, sort=False)
    links = [_build_links(lookup, entry, key, group) for key, group in groups]
    if entry.source is not None and entry.target is not None and table.frame.empty:
        ends = (entry.source, entry.target, entry.kind, entry.role)
        links = [_build_links(lookup, entry, ends, rows)]
    lookup.close()
    return links


def links_of_arrays(files: Files, entry: LinksEntry, datasets: Mapping[str, Dataset]) -> Links:
    """Read links that were saved as arrays: rows of both ends, weights and scores."""
    assert entry.ends is not None  # noqa: S101 - who calls has looked
    source, target = entry.source or "", entry.target or ""
    for name in (source, target):
        if name not in datasets:
            remedy = f"Available: {', '.join(datasets)}."
            message = "this dataset does not exist"
            raise gate.refusal("unknown-dataset", entry.ends, message, name, remedy)
    ends = npy.vector(entry.ends, files.read(entry.ends))
    if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
        message = "each link needs two row numbers"
        raise gate.refusal("bad-shape", entry.ends, message, f"{ends.dtype} of shape {ends.shape}")
    sizes = np.array([len(datasets[source]), len(datasets[target])])
    wrong = np.flatnonzero(((ends < 0) | (ends >= sizes)).any(axis=1))
    if len(wrong):
        first = f"link {wrong[0] + 1:,}: {ends[wrong[0]].tolist()}"
        message = f"{count(len(wrong), 'link')} with row numbers outside {source} or {target}"
        raise gate.refusal("unknown-row", entry.ends, message, first)
    weights, scores = (
        None if file is None else npy.vector(file, files.read(file))
        for file in (entry.weights, entry.scores)
    )
    return Links(
        source, target, ends[:, 0], ends[:, 1], weights,
        score=scores, complete=entry.complete, kind=entry.kind, role=entry.role,
    )  # fmt: skip


def _missing_columns_error(table: Table, message: str) -> DataError:
    present = ", ".join(table.frame.columns[:10])
    return gate.refusal(
        "columns", table.where, message, present, "Use these names in the first row."
    )


def _check_rows(lookup: Lookup, entry: LinksEntry) -> pd.DataFrame:
    """Return source, target, kind, role, i, j, weight and score of each row, good or bad."""
    source = lookup.column("source_dataset", entry.source or "")
    target = lookup.column("target_dataset", entry.target or "")
    i = lookup.find(source, lookup.column("source_id"), "source")
    j = lookup.find(target, lookup.column("target_id"), "target")
    role = lookup.column("role", entry.role)
    wrong = ~np.isin(role.astype(str), ROLES)
    message = "this role is unknown"
    lookup.refuse("bad-role", wrong, "role", message, role, "Write guidance or relation.")
    weight, score = lookup.numbers("weight"), lookup.numbers("score")
    lookup.refuse(
        "zero-weight",
        weight == 0,
        "weight",
        "a weight of 0 has no effect",
        lookup.column("weight"),
        "Leave the row out. Write a weight above 0 for together, below 0 for apart.",
    )
    lookup.refuse(
        "weight-range",
        np.abs(weight) > 1,
        "weight",
        "weights must be between -1 (apart) and 1 (together)",
        lookup.column("weight"),
        "Divide by the largest, or name the column score.",
    )
    lookup.refuse(
        "self-link",
        (source == target) & (i == j) & (i >= 0),
        "target_id",
        "the link connects an item with itself",
        lookup.column("target_id"),
        "Leave it out.",
    )
    kind = lookup.column("kind", entry.kind)
    columns = (source, target, kind, role, i, j, weight, score)
    names = (*_GROUP, "i", "j", "weight", "score")
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _merge_repeats(lookup: Lookup, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with one link per pair of items, kind and role."""
    pairs = rows[lookup.good]
    within = pairs["source"] == pairs["target"]
    i, j = pairs["i"], pairs["j"]
    pairs = pairs.assign(
        i=np.where(within, np.minimum(i, j), i),
        j=np.where(within, np.maximum(i, j), j),
        backwards=within & (i > j),
        row=pairs.index,
    )
    keys = [*_GROUP, "i", "j"]
    if not pairs.duplicated(keys).any():
        return rows
    first = np.arange(len(rows))
    first[pairs.index] = pairs.groupby(keys, sort=False)["row"].transform("first")
    in_direction = [*keys, "backwards"]
    once_more = np.zeros(len(rows), dtype=bool)
    once_more[pairs.index] = pairs.duplicated(in_direction)
    weight = rows["weight"].fillna(1.0).to_numpy()
    is_repeat = first < np.arange(len(rows))
    is_opposite = is_repeat & (weight * weight[first] < 0)
    is_copy = once_more.copy()
    all_columns = [*in_direction, "weight", "score"]
    is_copy[pairs.index] = pairs.fillna({"weight": 1.0, "score": 0.0}).duplicated(all_columns)
    ends = lookup.column("source_id") + " - " + lookup.column("target_id")
    for code, wrong, clause in (
        (
            "duplicate-link",
            once_more & ~is_opposite & ~is_copy,
            "links the same two items with another weight",
        ),
        ("contradiction", is_opposite, "says the opposite"),
    ):

        def what(row: int, clause: str = clause) -> str:
            return f"row {lookup.read.row[first[row]] + 1} {clause}"

        lookup.refuse(code, wrong, "target_id", what, ends, "Keep one of the two rows.")
    if copies := int((is_copy & lookup.good).sum()):
        lookup.good[is_copy] = False
        lookup.note(
            "repeated-link",
            f"{count(copies, 'row')} {'repeats' if copies == 1 else 'repeat'} an earlier row, "
            "and each link counts once",
        )
    back = np.flatnonzero(is_repeat & lookup.good)
    if not len(back):
        return rows
    rows = rows.copy()
    for column in ("weight", "score"):
        values = rows[column].to_numpy(copy=True)
        forward, backward = values[first[back]], values[back]
        has_both = ~np.isnan(forward) & ~np.isnan(backward)
        mean = np.where(
            has_both, (forward + backward) / 2, np.where(np.isnan(forward), backward, forward)
        )
        values[first[back]] = mean
        rows[column] = values
    lookup.good[back] = False
    what_of = "1 row joins" if len(back) == 1 else f"{len(back):,} rows join"
    lookup.note(
        "both-directions",
        f"{what_of} two items that an earlier row links in the other direction, so both rows "
        "are merged with their mean weight",
    )
    return rows


def _build_links(
    lookup: Lookup, entry: LinksEntry, key: tuple[Hashable, ...], group: pd.DataFrame
) -> Links:
    source, target, kind, role = map(str, key)
    return Links(
        source,
        target,
        group["i"].to_numpy(),
        group["j"].to_numpy(),
        _filled_numbers(lookup, "weight", group, 1.0),
        score=_filled_numbers(lookup, "score", group, 0.0),
        complete=entry.complete,
        kind=kind,
        role=role,
        meta=_meta(lookup, entry, _LINK_COLUMNS, group.index.to_numpy()),
    )


def _meta(
    lookup: Lookup,
    entry: LinksEntry | ComparisonsEntry,
    expected_columns: Collection[str],
    rows: Ints,
) -> pd.DataFrame | None:
    """Return the additional columns of some rows, or None."""
    frame = lookup.read.frame
    others = [name for name in frame.columns if name not in expected_columns]
    if not others and entry.columns is None:
        return None
    meta = frame[others].iloc[rows].reset_index(drop=True)
    if entry.columns is None:
        return meta
    return cells.restore_types(lookup.read.where, meta, entry.columns, entry.missing)


def _filled_numbers(
    lookup: Lookup, column: str, group: pd.DataFrame, default: float
) -> Floats | None:
    """Return the numbers of a column with a default for empty cells, None if all are empty."""
    values = group[column].to_numpy()
    is_missing = np.isnan(values)
    if is_missing.all():
        return None
    if is_missing.any():
        is_single = is_missing.sum() == 1
        subject = "1 row has" if is_single else f"{is_missing.sum():,} rows have"
        message = f"{subject} no {column} and {'counts' if is_single else 'count'} as {default:g}"
        lookup.note(f"no-{column}", message)
    return np.where(is_missing, default, values)


def read_comparisons(
    table: Table,
    datasets: Mapping[str, Dataset],
    problems: list[Problem],
    entry: ComparisonsEntry | None = None,
) -> Comparisons | None:
    """Turn the rows of a table into Comparisons."""
    form = comparison_form(table)
    if form is None:
        raise _missing_columns_error(
            table,
            "comparisons need the columns anchor_id, near_id, far_id (or a_id, b_id, c_id, d_id)",
        )
    lookup = Lookup(table, datasets, problems)
    starts = dict(zip(datasets, np.cumsum([0, *map(len, datasets.values())]), strict=False))
    only = next(iter(datasets)) if len(datasets) == 1 else ""
    objects = np.zeros((len(table.frame), len(form)), dtype=np.int64)
    for at, item in enumerate(form):
        names = lookup.column(f"{item}_dataset", only)
        item_rows = lookup.find(names, lookup.column(f"{item}_id"), item)
        objects[:, at] = item_rows + np.array(
            [starts.get(name, 0) for name in names], dtype=np.int64
        )
    weight = lookup.numbers("weight")
    remedy = "To state the opposite, swap the two pairs."
    message = "the weight must be above 0"
    lookup.refuse("weight-range", weight <= 0, "weight", message, lookup.column("weight"), remedy)
    lookup.close()
    good = lookup.good
    if not good.any():
        return None
    expected_columns = {
        "weight",
        *(f"{item}_{part}" for item in form for part in ("dataset", "id")),
    }
    meta = _meta(
        lookup, entry or ComparisonsEntry(table.where), expected_columns, np.flatnonzero(good)
    )
    return Comparisons(objects[good], np.where(np.isnan(weight), 1.0, weight)[good], meta=meta)
