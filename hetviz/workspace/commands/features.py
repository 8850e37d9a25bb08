"""Command that changes the features of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hetviz.data import Dataset, HeteroData
from hetviz.errors import Problem
from hetviz.features.recipe import (
    columns_used,
    describe_sources,
    make_features_with_notes,
    recipe_of,
)
from hetviz.io import ColumnInfo, DatasetInfo
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import State
from hetviz.workspace.store.packing import unpack_features

_FEATURE_NOTES = frozenset(
    {"missing", "constant-column", "empty-column", "unique-column", "mixed-column"}
    | {"many-categories", "range", "log-negative", "no-features"}
)


@dataclass(frozen=True)
class SetFeatures(Command, op="set-features", label="features"):
    """Make the features of a dataset with changed options."""

    dataset: str
    # Changed options by column, see `hetviz.make_features`. Earlier changes stay.
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # One of {"words", "sentences", None}. None keeps the current one.
    text_model: str | None = None
    # Blob of features made beforehand, see `hetviz.workspace.store.packing`: a sentence model is
    # too slow for every replay.
    made: str | None = None

    def apply(self, state: State, context: Context) -> State:
        data, name = state.opened(), self.dataset
        notes: tuple[Problem, ...] = ()
        if self.made is None:
            dataset, notes = make_dataset_features(data, self)
        else:
            dataset = unpack_features(context.blobs.get(self.made), data[name])
        held_out = state.held_out
        if held_out is not None and name in held_out.datasets:
            held_out = held_out.edit().replace(dataset)
        file = next((info.file for info in state.understood if info.dataset == name), None)
        other_problems = tuple(
            problem
            for problem in state.problems
            if problem.code not in _FEATURE_NOTES or not _is_about(problem, name, file)
        )
        return replace(
            state,
            data=data.edit().replace(dataset),
            held_out=held_out,
            understood=tuple(
                updated_info(info, dataset) if info.dataset == name else info
                for info in state.understood
            ),
            problems=(*other_problems, *notes),
        )


def make_dataset_features(
    data: HeteroData, command: SetFeatures
) -> tuple[Dataset, tuple[Problem, ...]]:
    """Return the dataset with the features of a command, and notes about them."""
    name = command.dataset
    labels = [column.name for column in data.labels if column.dataset == name]
    return make_features_with_notes(data[name], command.columns, command.text_model, labels)


def _is_about(problem: Problem, name: str, file: str | None) -> bool:
    return problem.where.startswith(f"dataset {name!r}") or (
        file is not None and problem.where.startswith(file)
    )


def updated_info(info: DatasetInfo, dataset: Dataset) -> DatasetInfo:
    """Return the dataset info with current features and title column."""
    recipe = recipe_of(dataset)
    feature_columns = columns_used(recipe)
    columns = tuple(
        replace(column, role="feature")
        if column.name in feature_columns
        else replace(column, role="shown")
        if column.role == "feature"
        else column
        for column in info.columns
    )
    column_names = {column.name for column in info.columns}
    columns += tuple(
        ColumnInfo(name, "feature", "number")
        for name in feature_columns
        if name not in column_names
    )
    n_features = 0 if dataset.X is None else int(dataset.X.shape[1])
    return replace(
        info,
        columns=columns,
        n_features=n_features,
        features=describe_sources(recipe),
        title_column=dataset.title_column,
    )
