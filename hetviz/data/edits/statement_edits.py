"""Edits of statements: change, remove and reverse them, rename and exclude sets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.data.model.meta import META_COLUMNS, concat_meta, meta_text
from hetviz.data.model.statements import (
    author_names,
    set_mask,
    set_names,
    set_statement_keys,
    statement_keys,
    statement_positions,
)
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.memo import Memo

RowChanges = Mapping[int, Mapping[str, Any]]

_EDITABLE_FIELDS = ("weight", "score", "kind", *META_COLUMNS)
_REDUCED = Memo()


def drop_statements(data: HeteroData, keys: Iterable[str]) -> HeteroData:
    """Remove statements."""
    mask = np.ones(len(statement_keys(data)), dtype=bool)
    mask[statement_positions(data, keys)] = False
    return _with_statements(data, mask)


def reverse_comparisons(data: HeteroData, keys: Iterable[str]) -> HeteroData:
    """Swap the near and the far pair of comparisons."""
    key_list = list(keys)
    rows = statement_positions(data, key_list) - sum(map(len, data.links))
    links = [key for key, row in zip(key_list, rows, strict=True) if row < 0]
    if links:
        message, remedy = "a link cannot be reversed", "Change the sign of its weight."
        raise DataError(
            limit_problems(
                Problem("not-a-comparison", "guidance", message, key, remedy) for key in links
            )
        )
    compared = data.comparisons
    if compared is None:
        return data
    objects = compared.objects.copy()
    objects[rows] = objects[rows][:, [0, 2, 1] if objects.shape[1] == 3 else [2, 3, 0, 1]]
    swapped = Comparisons(objects, compared.weight, meta=compared.meta)
    return HeteroData(data.datasets, data.links, swapped, data.labels)


def edit_statements(data: HeteroData, changes: Mapping[str, Mapping[str, object]]) -> HeteroData:
    """Change fields of statements."""
    rows = statement_positions(data, changes).tolist()
    n_links = sum(map(len, data.links))
    problems = [
        problem
        for (key, fields), row in zip(changes.items(), rows, strict=True)
        for problem in _field_problems(key, fields, row < n_links)
    ]
    if problems:
        raise DataError(limit_problems(problems))
    by_group: dict[int, dict[int, Mapping[str, Any]]] = {}
    starts = np.cumsum([0, *map(len, data.links)])
    groups = np.searchsorted(starts, rows, side="right") - 1
    for group, row, fields in zip(groups.tolist(), rows, changes.values(), strict=True):
        by_group.setdefault(group, {})[row - int(starts[group])] = fields
    compared = data.comparisons
    if compared is not None and len(data.links) in by_group:
        compared = edited_comparisons(compared, by_group[len(data.links)])
    links: list[Links] = []
    regrouped: list[Links] = []
    for number, group_links in enumerate(data.links):
        row_changes = by_group.get(number, {})
        edited = edited_links(group_links, row_changes)
        kinds = {row: fields.get("kind", edited.kind) for row, fields in row_changes.items()}
        leaving = [row for row, kind in kinds.items() if kind != edited.kind]
        for kind in dict.fromkeys(kinds[row] for row in leaving):
            chosen = np.array([row for row in leaving if kinds[row] == kind])
            regrouped.append(edited.take(chosen).replaced(kind=kind))
        if leaving:
            edited = edited.take(np.setdiff1d(np.arange(len(edited)), leaving))
        links.append(edited)
    for group_links in regrouped:
        append_links(links, group_links)
    return HeteroData(data.datasets, filter(_is_informative, links), compared, data.labels)


def edited_links(links: Links, changes: RowChanges) -> Links:
    """Return links with changed fields of some rows; the kind stays."""
    if not changes:
        return links
    weight = _edited_numbers(links.weight, changes, "weight")
    has_weight = links.weight_given or any("weight" in fields for fields in changes.values())
    return links.replaced(
        weight=weight if has_weight else None,
        score=None if links.score is None else _edited_numbers(links.score, changes, "score"),
        meta=_edited_meta(links, changes),
    )


def edited_comparisons(compared: Comparisons, changes: RowChanges) -> Comparisons:
    """Return comparisons with changed fields of some rows."""
    if not changes:
        return compared
    weight = _edited_numbers(compared.weight, changes, "weight")
    return Comparisons(compared.objects, weight, meta=_edited_meta(compared, changes))


def append_links(groups: list[Links], links: Links) -> tuple[int, int]:
    """Append links to the first matching group, or as a new group; return group and first row."""
    for number, group in enumerate(groups):
        if _group_key(group) == _group_key(links):
            if len(links):
                groups[number] = _concatenated(group, links)
            return number, len(group)
    groups.append(links)
    return len(groups) - 1, 0


def rename_set(data: HeteroData, old: str, new: str) -> HeteroData:
    """Rename a set of statements; an existing set of the new name absorbs it."""
    name = new.strip()
    if not name:
        raise DataError.of("bad-name", f"set {old!r}", "the new name is empty")
    keys = statement_keys(data)[set_mask(data, check_set(data, old))]
    return edit_statements(data, {key: {"set": name} for key in keys})


def check_set(data: HeteroData, name: str) -> str:
    """Return the name of a set if it exists."""
    names = list(dict.fromkeys(set_names(data)))
    if name not in names:
        hint = f"Available: {', '.join(names) or 'none'}."
        raise DataError.of("unknown-set", "guidance", "this set does not exist", name, hint)
    return name


def without_sets(
    data: HeteroData, sets: Collection[str], people: Collection[str] = ()
) -> HeteroData:
    """Return the data without the statements of some sets and people; cached by data object."""
    if not sets and not people:
        return data
    excluded = frozenset(sets), frozenset(people)
    reduced = _REDUCED.get_or_compute(data, excluded, lambda: _without_sets(data, *excluded))
    return data if reduced is None else reduced


def _without_sets(
    data: HeteroData, sets: Collection[str], people: Collection[str]
) -> HeteroData | None:
    """Return the data without statements of some sets and people, None if there are none."""
    mask = ~pd.Series(set_names(data), dtype=object).isin(sets).to_numpy()
    labels = [label.without_people(people) for label in data.labels]
    if people:
        mask &= ~pd.Series(author_names(data), dtype=object).isin(people).to_numpy()
    if mask.all() and all(new is old for new, old in zip(labels, data.labels, strict=True)):
        return None
    reduced = _with_statements(data, mask)
    reduced = HeteroData(reduced.datasets, reduced.links, reduced.comparisons, labels)
    set_statement_keys(reduced, statement_keys(data)[mask])
    return reduced


def _with_statements(data: HeteroData, mask: Bools) -> HeteroData:
    links: list[Links] = []
    start = 0
    for group in data.links:
        group_mask = mask[start : start + len(group)]
        links.append(group if group_mask.all() else group.take(group_mask))
        start += len(group)
    compared = data.comparisons
    if compared is not None and not mask[start:].all():
        compared = compared.take(mask[start:]) if mask[start:].any() else None
    return HeteroData(data.datasets, filter(_is_informative, links), compared, data.labels)


def _is_informative(links: Links) -> bool:
    """Return whether links carry information; an empty complete list does."""
    return bool(len(links)) or links.complete


def _group_key(links: Links) -> tuple[str, str, str, str, bool, bool]:
    scored = links.score is not None
    return links.source, links.target, links.kind, links.role, links.complete, scored


def _concatenated(first: Links, second: Links) -> Links:
    """Return two groups of links as one; given and derived weights stay."""
    score = None
    if first.score is not None and second.score is not None:
        score = np.concatenate([first.score, second.score])
    return first.replaced(
        i=np.concatenate([first.i, second.i]),
        j=np.concatenate([first.j, second.j]),
        weight=np.concatenate([first.weight, second.weight]),
        score=score,
        meta=concat_meta(first.meta, len(first), second.meta, len(second)),
    )


def _edited_numbers(values: Floats, changes: RowChanges, field: str) -> Floats:
    out = values.copy()
    for row, fields in changes.items():
        if field in fields:
            out[row] = fields[field]
    return out


def _edited_meta(statements: Links | Comparisons, changes: RowChanges) -> pd.DataFrame | None:
    """Return the meta table with new texts; a column is added if a text is not empty."""
    meta = statements.meta
    for name in META_COLUMNS:
        new = {row: fields[name] for row, fields in changes.items() if name in fields}
        is_present = meta is not None and name in meta.columns
        if is_present or any(new.values()):
            cells = meta_text(meta, name, len(statements))
            cells.iloc[list(new)] = list(new.values())
            meta = (pd.DataFrame(index=range(len(statements))) if meta is None else meta).assign(
                **{name: cells}
            )
    return meta


def _field_problems(key: str, fields: Mapping[str, object], is_link: bool) -> Iterator[Problem]:
    for field, value in fields.items():
        where = f"statement {key}, {field}"
        checked: Any = value
        if field not in _EDITABLE_FIELDS:
            hint = f"Available: {', '.join(_EDITABLE_FIELDS)}."
            yield Problem("unknown-field", where, "this field does not exist", field, hint)
        elif field in ("kind", "score") and not is_link:
            yield Problem("unknown-field", where, f"a comparison has no {field}", str(checked))
        elif field not in ("weight", "score"):
            if not isinstance(checked, str) or (field == "kind" and not checked.strip()):
                yield Problem("not-text", where, "text is needed", repr(checked))
        elif isinstance(checked, bool) or not isinstance(checked, int | float | np.number):
            yield Problem("not-a-number", where, "a number is needed", repr(checked))
        else:
            yield from _number_problems(where, float(checked), field, is_link)


def _number_problems(where: str, number: float, field: str, is_link: bool) -> Iterator[Problem]:
    if not np.isfinite(number):
        yield Problem("not-finite", where, "the number is missing or infinite", str(number))
    elif field == "weight" and number == 0:
        remedy = "Remove the statement, or use above 0 for together and below 0 for apart."
        yield Problem("zero-weight", where, "a weight of 0 has no effect", "0", remedy)
    elif field == "weight" and is_link and abs(number) > 1:
        message = "weights must be between -1 (apart) and 1 (together)"
        yield Problem("weight-range", where, message, f"{number:g}")
    elif field == "weight" and not is_link and number < 0:
        message, remedy = (
            "the weight of a comparison must be above 0",
            "To state the opposite, swap the two pairs.",
        )
        yield Problem("weight-range", where, message, f"{number:g}", remedy)
