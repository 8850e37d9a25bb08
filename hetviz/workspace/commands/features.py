"""How the features of a dataset are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from hetviz.data import Dataset, HeteroData
from hetviz.errors import Problem
from hetviz.features.recipe import columns_used, made_features, recipe_of, source_words
from hetviz.io import ColumnInfo, DatasetInfo
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.state import State
from hetviz.workspace.store.packing import unpack_features

_TOLD_OF_FEATURES = frozenset(
    {"missing", "constant-column", "empty-column", "unique-column", "mixed-column"}
    | {"many-categories", "range", "log-negative", "no-features"}
)


@dataclass(frozen=True)
class SetFeatures(Command):
    """Make the features of a dataset again, in another way.

    Attributes
    ----------
    dataset : str
    columns : mapping of str to mapping
        Column to what is different, see `hetviz.make_features`; what was said before stays.
    text_model : {"words", "sentences", None}
        None leaves it as it was.
    made : str or None
        Blob of the features where they were made before the command was given, see
        `hetviz.workspace.store.packing`: a sentence model takes too long to run at each
        replay.
    """

    op: ClassVar[str] = "set-features"
    does: ClassVar[str] = "features"
    dataset: str
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    text_model: str | None = None
    made: str | None = None

    def apply(self, state: State, context: Context) -> State:
        data, name = state.opened(), self.dataset
        notes: tuple[Problem, ...] = ()
        if self.made is None:
            dataset, notes = features_made(data, self)
        else:
            dataset = unpack_features(context.blobs.get(self.made), data[name])
        held_out = state.held_out
        if held_out is not None and name in held_out.datasets:
            held_out = held_out.edit().replace(dataset)
        file = next((info.file for info in state.understood if info.dataset == name), None)
        kept = tuple(
            problem
            for problem in state.problems
            if problem.code not in _TOLD_OF_FEATURES or not _is_about(problem, name, file)
        )
        return replace(
            state,
            data=data.edit().replace(dataset),
            held_out=held_out,
            understood=tuple(
                understood(info, dataset) if info.dataset == name else info
                for info in state.understood
            ),
            problems=(*kept, *notes),
        )


def features_made(data: HeteroData, command: SetFeatures) -> tuple[Dataset, tuple[Problem, ...]]:
    """Return the dataset with the features a command asks for, and what is told of them.

    Raises
    ------
    hetviz.errors.HetvizError
        If they cannot be made so.
    """
    name = command.dataset
    labels = [column.name for column in data.labels if column.dataset == name]
    return made_features(data[name], command.columns, command.text_model, labels)


def _is_about(problem: Problem, name: str, file: str | None) -> bool:
    return problem.where.startswith(f"dataset {name!r}") or (
        file is not None and problem.where.startswith(file)
    )


def understood(info: DatasetInfo, dataset: Dataset) -> DatasetInfo:
    """Return how a dataset was read, with the features and the title column that it has now."""
    recipe = recipe_of(dataset)
    used = columns_used(recipe)
    columns = tuple(
        replace(column, role="feature")
        if column.name in used
        else replace(column, role="shown")
        if column.role == "feature"
        else column
        for column in info.columns
    )
    known = {column.name for column in info.columns}
    columns += tuple(ColumnInfo(name, "feature", "number") for name in used if name not in known)
    n_features = 0 if dataset.X is None else int(dataset.X.shape[1])
    return replace(
        info,
        columns=columns,
        n_features=n_features,
        features=source_words(recipe),
        title_column=dataset.title_column,
    )
