"""Newer versions of a dataset's file, matched by id, with the differences."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz._types import Ints, Texts
from hetviz.data import Dataset, HeteroData, Labels
from hetviz.data.model.statements import statement_keys, statement_rows
from hetviz.errors import DataError, Problem, ProblemReport
from hetviz.features.columns.options import FeatureRecipe
from hetviz.features.recipe import columns_used, make_features, recipe_of
from hetviz.io import gate
from hetviz.io.bundle.items import read_dataset
from hetviz.io.bundle.loaded import DatasetInfo
from hetviz.io.bundle.manifest import DatasetEntry
from hetviz.io.infer.parsed import Choices, FileParser, Table
from hetviz.io.intake.parse import FileSet, parse_files, read_one_table


@dataclass(frozen=True, eq=False)
class NewVersion(ProblemReport):
    """Data with a newer version of one dataset, and the differences."""

    data: HeteroData
    dataset: str
    # `added`, `gone`: new ids and missing ids.
    added: tuple[str, ...]
    gone: tuple[str, ...]
    changed: pd.DataFrame  # One row per changed cell: id, column, before, after (as text).
    columns_added: tuple[str, ...]
    columns_gone: tuple[str, ...]
    statements_gone: tuple[str, ...]  # Keys of links and comparisons with missing items.
    problems: tuple[Problem, ...]  # Rows that are left out, and notes.
    info: DatasetInfo  # How the file was read.

    @property
    def sentence(self) -> str:
        rows = self.changed["id"].nunique()
        matching = ""
        if not self.info.id_from:
            matching = "Rows are matched by row number. "
        parts = [f"{len(self.added):,} new", f"{len(self.gone):,} gone", f"{rows:,} changed"]
        lost = len(self.statements_gone)
        consequence = f" {count(lost, 'statement')} about them would be removed." if lost else ""
        return f"{matching}Items of {self.dataset}: {', '.join(parts)}.{consequence}"


def read_new_version(
    data: HeteroData,
    name: str,
    content: bytes,
    filename: str,
    info: DatasetInfo | None = None,
    parse: FileParser = parse_files,
) -> NewVersion:
    """Read a newer version of a dataset's file."""
    old = data[name]
    recipe = None if info is None or info.recipe is None else info.recipe.to_dict()
    table = read_one_table(filename, content, parse, name, Choices(like=recipe))
    problems: list[Problem] = []
    labels = {column.name: column for column in data.labels if column.dataset == name}
    entry = _entry(old, table, info, labels)
    label_names = [column for column in labels if column in table.frame.columns]
    new_dataset, understood = read_dataset(FileSet(), entry, label_names, problems, table)
    rows = old.find(new_dataset.ids)
    if (rows < 0).all():
        message = f"no id of the file matches an item of {name!r}"
        remedy = f"Check that column {understood.id_column!r} contains the ids."
        raise gate.refusal("no-match", filename, message, str(new_dataset.ids[0]), remedy)
    dataset = _with_other_parts(old, new_dataset, rows, filename)
    after = _relabelled(data, data.edit().replace(dataset), labels, label_names)
    gone = old.ids[np.setdiff1d(np.arange(len(old)), rows)]
    before_columns = [] if old.table is None else list(map(str, old.table.columns))
    after_columns = [] if dataset.table is None else list(map(str, dataset.table.columns))
    return NewVersion(
        after,
        name,
        tuple(map(str, new_dataset.ids[rows < 0])),
        tuple(map(str, gone)),
        _changes(old, dataset, rows),
        tuple(column for column in after_columns if column not in before_columns),
        tuple(column for column in before_columns if column not in after_columns),
        _statements_of(data, name, gone),
        tuple(dict.fromkeys(problems)),
        understood,
    )


def _entry(
    old: Dataset, table: Table, info: DatasetInfo | None, labels: Collection[str]
) -> DatasetEntry:
    columns = table.columns
    recipe = recipe_of(old)
    used = columns_used(recipe)
    missing = [column for column in used if column not in columns]
    if missing:
        remedy = f"Available: {', '.join(columns[:20])}."
        raise DataError(
            Problem(
                "unknown-column",
                table.where,
                "this column is used as a feature but is missing",
                name,
                remedy,
            )
            for name in missing
        )
    text = (old.recipe or {}).get("text", ())
    title = old.title_column
    left_out = [step["column"] for step in recipe["left_out"] if step["why"] == "left out"]
    id_from = None if info is None or not set(info.id_from) <= set(columns) else info.id_from
    old_columns = [] if old.table is None else list(old.table.columns)
    return DatasetEntry(
        old.name,
        table.where,
        entity=old.entity,
        id=id_from,
        title=title if title in columns else None,
        text=tuple(column for column in text if column in columns),
        features=_feature_columns(old, recipe),
        # New columns are not features until the user adds them.
        exclude=tuple(
            column for column in columns if column in left_out or column not in old_columns
        ),
        options={name: fields for name, fields in recipe["options"].items() if name in columns},
        text_model=recipe["text_model"],
    )


def _feature_columns(old: Dataset, recipe: FeatureRecipe) -> str | tuple[str, ...] | None:
    if "features" not in (old.recipe or {}) or recipe["chosen"] == []:
        return "none"
    return None if recipe["chosen"] is None else tuple(recipe["chosen"])


def _with_other_parts(old: Dataset, new_dataset: Dataset, rows: Ints, filename: str) -> Dataset:
    """Return the dataset with the features, matrices and pictures of the old version."""
    old_recipe = recipe_of(old)
    kinds = {step["kind"] for step in old_recipe["columns"]}
    is_from_columns = "features" in (old.recipe or {}) and "vectors" not in kinds
    parts: dict[str, Any] = {}
    if old.X is not None and not is_from_columns:
        parts["X"] = old.X
    for word in ("kernel", "distance"):
        if getattr(old, word) is not None:
            parts[word] = getattr(old, word)
    new = np.flatnonzero(rows < 0)
    if parts and len(new):
        words = " and ".join("features" if word == "X" else word for word in parts)
        new_items = count(len(new), "new item")
        message = f"no {words} for {new_items}, because the {words} came from another file"
        ids = ", ".join(map(str, new_dataset.ids[new[:5]]))
        remedy = "Leave them out, or open the new data as a separate project."
        raise gate.refusal("no-features", filename, message, ids, remedy)
    fields: dict[str, Any] = {
        word: matrix[rows] if word == "X" else matrix[np.ix_(rows, rows)]
        for word, matrix in parts.items()
    }
    if "X" in fields:
        fields["feature_names"] = old.feature_names
    if old.media is not None:
        fields["media"] = tuple(None if row < 0 else old.media[row] for row in rows)
    recipe = {**(old.recipe or {}), **(new_dataset.recipe or {})}
    if not kinds & {"vectors", "picture"}:
        return replace(new_dataset, **fields, recipe=recipe or None)
    # The features were made from parts that are not in the table.
    recipe["features"] = old_recipe
    return make_features(replace(new_dataset, **fields, recipe=recipe))


def _relabelled(
    before: HeteroData, after: HeteroData, labels: dict[str, Labels], label_names: Collection[str]
) -> HeteroData:
    """Return the data with the labels of the new file, except those changed by hand."""
    out = []
    for column in after.labels:
        old = before[column.dataset]
        new = after[column.dataset]
        old_label = labels.get(column.name)
        if (
            column.dataset != (old_label.dataset if old_label else None)
            or column.name not in label_names
        ):
            out.append(column)
            continue
        old_cells = None if old.table is None else old.table.get(column.name)
        rows = old.find(new.ids)
        fresh = Labels(new.name, column.name, [] if new.table is None else new.table[column.name])
        values = fresh.values.copy()
        if old_cells is not None:
            filed = Labels(old.name, column.name, old_cells).values
            by_hand = [row >= 0 and filed[row] != column.values[at] for at, row in enumerate(rows)]
            values[by_hand] = column.values[by_hand]
        out.append(Labels(new.name, column.name, values, column.annotations))
    return HeteroData(after.datasets, after.links, after.comparisons, out)


def _changes(old: Dataset, new: Dataset, rows: Ints) -> pd.DataFrame:
    matched = np.flatnonzero(rows >= 0)
    changes = [pd.DataFrame({"id": [], "column": [], "before": [], "after": []}, dtype=TEXT)]
    if old.table is not None and new.table is not None:
        for name in old.table.columns.intersection(new.table.columns):
            before = _cells(old.table[name].iloc[rows[matched]])
            after = _cells(new.table[name].iloc[matched])
            at = np.flatnonzero(before != after)
            changes.append(
                pd.DataFrame(
                    {
                        "id": new.ids[matched[at]],
                        "column": str(name),
                        "before": before[at],
                        "after": after[at],
                    }
                )
            )
    return pd.concat([part for part in changes if len(part)] or changes, ignore_index=True)


def _cells(column: pd.Series) -> Texts:
    """Return cells as text, equal for equal numbers of any type, "" if missing."""
    plain = [
        "" if pd.isna(value) else f"{value:.15g}" if _is_number(value) else str(value)
        for value in column.tolist()
    ]
    return np.array(plain, dtype=object)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _statements_of(data: HeteroData, name: str, gone: Texts) -> tuple[str, ...]:
    rows = data.offsets[name].start + data[name].find(gone)
    named = np.isin(statement_rows(data), rows).any(axis=1)
    return tuple(map(str, statement_keys(data)[named]))
