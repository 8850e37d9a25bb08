"""Label prediction problems: a label column and the sources that describe its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hetviz._types import Floats, Matrix, Sparse, Texts, is_sparse
from hetviz.core.prediction.gbc import CLASSES, NUMBER, GbcSource
from hetviz.data import Dataset, HeteroData
from hetviz.errors import DataError, HetvizError, NotApplicableError, ParameterError
from hetviz.features.columns import block
from hetviz.features.columns.types import Column, infer
from hetviz.features.item_columns import group_values, item_columns
from hetviz.features.spaces.sources import EntitySources, entity_sources


def tree_features(dataset: Dataset, X: Matrix, label: str) -> Matrix:
    """Return features as input for trees."""
    if dataset.X is None or X.shape[1] != dataset.X.shape[1]:
        return X
    if not is_sparse(X):
        X = _with_missing(dataset, np.array(X, dtype=np.float64))
    selected = _features_not_from(dataset, label)
    return X if len(selected) == X.shape[1] else X[:, selected]


def without_column(dataset: Dataset, name: str) -> Dataset:
    """Return the dataset without the features that were made from a column."""
    if dataset.X is None:
        return dataset
    selected = _features_not_from(dataset, name)
    if len(selected) == dataset.X.shape[1]:
        return dataset
    names = tuple((dataset.feature_names or ())[place] for place in selected)
    return replace(
        dataset, X=dataset.X[:, selected] if selected else None, feature_names=names or None
    )


def _features_not_from(dataset: Dataset, name: str) -> list[int]:
    """Return the positions of the features that were not made from a column, by their names."""
    if dataset.X is None or dataset.feature_names is None:
        return list(range(0 if dataset.X is None else dataset.X.shape[1]))
    excluded_names = (name, f"log {name}", f"{name} (missing)")
    starts = (f"{name}=", f"{name}~")
    return [
        place
        for place, text in enumerate(dataset.feature_names)
        if text not in excluded_names and not text.startswith(starts)
    ]


def _with_missing(dataset: Dataset, X: Floats) -> Floats:
    """Return features with NaN where the source cell is missing."""
    recipe = (dataset.recipe or {}).get("features")
    steps = block.upgrade_recipe(recipe)["columns"] if recipe else []
    widths = [len(block.names(step)) for step in steps]
    if dataset.table is None or sum(widths) != X.shape[1]:
        return X
    start = 0
    for step, width in zip(steps, widths, strict=True):
        for name in step["columns"]:
            if name in dataset.table.columns:
                values = infer(name, dataset.table[name], step.get("decimal", ".")).values
                missing = np.array([v is None or v != v for v in values])
                X[missing, start : start + width] = np.nan
        start += width
    return X


MAX_CLASSES = 100
MIN_LABELLED = 4
METHOD_TITLE = "Learning labels"


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """Label of the rows of a dataset."""

    dataset: str
    name: str
    task: str
    classes: tuple[str, ...]
    y: Floats


@dataclass(frozen=True, eq=False)
class LabelProblem:
    """Label of the objects of an entity, with the sources to learn it from."""

    column: LabelColumn
    y: Floats
    names: tuple[str, ...]
    parts: list[GbcSource]
    graphs: Mapping[str, Sparse]
    entity: EntitySources

    def targets(self, y: Floats | None = None) -> Floats:
        """Return target margins, (n_objects, K): 1 and -1 by class, or the number."""
        y = self.y if y is None else y
        if self.column.task == NUMBER:
            return y[:, None]
        count = len(self.column.classes)
        codes = np.array([1]) if count == 2 else np.arange(count)
        Y = np.where(y[:, None] == codes, 1.0, -1.0)
        Y[np.isnan(y)] = np.nan
        return np.asarray(Y)

    def new_features(self, name: str, rows: Dataset) -> Matrix:
        """Return the features of new rows of a source as input for its trees."""
        return tree_features(rows, self.entity.bases[name].matrix_of(rows), self.column.name)


def label_column(data: HeteroData, dataset: str, name: str, task: str = "auto") -> LabelColumn:
    """Return a label, from the label columns or the table of a dataset."""
    columns = item_columns(data, data[dataset].name)
    if name not in columns:
        names = ", ".join(columns) or "none"
        raise DataError.of(
            "unknown-column",
            f"dataset {dataset!r}",
            "this label or column does not exist",
            name,
            f"Available: {names}.",
        )
    column = columns[name]
    where = f"{dataset}:{name}"
    groups = None if task == NUMBER else _groups(column, task)
    if groups is not None:
        present = [value for value in groups if value is not None]
        classes = tuple(sorted(set(present)))
        if len(classes) == 1:
            raise ParameterError(f"{where} has one value only. At least 2 classes are needed.")
        if len(classes) > MAX_CLASSES:
            raise ParameterError(
                f"{where} has {len(classes):,} different values. At most {MAX_CLASSES} classes "
                "can be learned. Choose a column with fewer values, or with numbers."
            )
        place = {value: code for code, value in enumerate(classes)}
        y = np.array([np.nan if v is None else float(place[v]) for v in groups])
        return LabelColumn(dataset, name, CLASSES, classes, y)
    if column.values.dtype == object:
        readable = {"text": "free text", "empty": "nothing", "constant": "one value only"}
        raise ParameterError(
            f"{where} has {readable.get(column.kind, column.kind)}, but "
            f"{'numbers' if task == NUMBER else 'classes or numbers'} are needed to learn it."
        )
    return LabelColumn(dataset, name, NUMBER, (), np.asarray(column.values, dtype=np.float64))


def values_by_class(data: HeteroData, column: LabelColumn) -> dict[str, object]:
    """Return class text -> original label value, so that a number stays a number."""
    return {
        text: value
        for labels in data.labels
        if (labels.dataset, labels.name) == (column.dataset, column.name)
        for value, code in zip(labels.values, column.y, strict=True)
        if not np.isnan(code)
        for text in [column.classes[int(code)] if column.classes else str(value)]
    }


def label_problem(
    data: HeteroData,
    dataset: str,
    label: str,
    *,
    task: str = "auto",
    sources: Sequence[str] | None = None,
    features: str | Mapping[str, str] = "auto",
    random_state: int = 0,
    featureless: bool = False,
    min_classified: int = MIN_LABELLED,
) -> LabelProblem:
    """Return a label with all sources to learn it from.

    Features made from the label column are left out, and imputed cells count as missing again.
    """
    column = label_column(data, dataset, label, task)
    entity = entity_sources(data, data[dataset].entity, features, random_state)
    available = [*entity.bases, *entity.graphs]
    unknown = [name for name in sources or () if name not in available]
    if unknown:
        raise ParameterError(
            f"sources = {unknown} are unknown. The sources of {dataset!r} are: "
            f"{', '.join(available) or 'none'}."
        )
    used = available if sources is None else sources
    names, parts = [], []
    for name, basis in entity.bases.items():
        if name not in used:
            continue
        X = tree_features(data[name], basis.matrix, column.name)
        if X.shape[1]:
            names.append(name)
            parts.append(GbcSource(X, entity.object_of[name]))
    y = _by_object(data, entity, column, task)
    problem = LabelProblem(
        column,
        y,
        tuple(names),
        parts,
        {kind: A for kind, A in entity.graphs.items() if kind in used},
        entity,
    )
    views = set(entity.object_of)
    linked = any({links.source, links.target} & views for links in data.links)
    needed = min_classified if column.task != NUMBER else MIN_LABELLED
    if reasons := _reasons_against(problem, featureless and linked, needed):
        raise NotApplicableError(METHOD_TITLE, reasons)
    return problem


def _groups(column: Column, task: str) -> Texts | None:
    if task == "auto":
        return group_values(column) if column.kind != "unique" else column.values
    if column.values.dtype == object:
        return column.values
    is_present = ~np.isnan(column.values)
    out = np.full(len(is_present), None, dtype=object)
    out[is_present] = [f"{value:g}" for value in column.values[is_present]]
    return out


def _by_object(data: HeteroData, entity: EntitySources, column: LabelColumn, task: str) -> Floats:
    """Return the label of every object; labels of the given dataset take precedence."""
    y = np.full(entity.n_objects, np.nan)
    others = [
        labels.dataset
        for labels in data.labels
        if labels.name == column.name
        and labels.dataset in entity.object_of
        and labels.dataset != column.dataset
    ]
    for name in others:
        other = label_column(data, name, column.name, task)
        if other.task == column.task:
            codes = _recoded(other, column) if column.task == CLASSES else other.y
            is_known = ~np.isnan(codes)
            y[entity.object_of[name][is_known]] = codes[is_known]
    is_known = ~np.isnan(column.y)
    y[entity.object_of[column.dataset][is_known]] = column.y[is_known]
    return y


def _recoded(other: LabelColumn, column: LabelColumn) -> Floats:
    """Return the labels of another view as codes of the classes of this column."""
    place = {value: float(code) for code, value in enumerate(column.classes)}
    table = np.array([place.get(value, np.nan) for value in other.classes])
    out = np.full(len(other.y), np.nan)
    is_known = ~np.isnan(other.y)
    out[is_known] = table[other.y[is_known].astype(np.int64)]
    return out


def _reasons_against(problem: LabelProblem, by_links: bool, min_labelled: int) -> list[str]:
    column = problem.column
    where = f"{column.dataset}:{column.name}"
    reasons = []
    if not problem.parts and not by_links:
        reasons.append(f"It needs features of {column.dataset}, but there are none.")
    is_known = np.isfinite(problem.y)
    is_described = np.full(len(is_known), by_links)
    for part in problem.parts:
        is_described[part.rows] = True
    is_known &= is_described
    if is_known.sum() < min_labelled:
        reasons.append(
            f"{where} has values for {int(is_known.sum())} items with features. "
            f"At least {min_labelled} are needed."
        )
    elif len(np.unique(problem.y[is_known])) < 2:
        reasons.append(f"{where} has the same value for all items that have one.")
    return reasons


def first_learnable_problem(
    data: HeteroData,
    label: str | None,
    *,
    key: str,
    title: str,
    task: str = "auto",
    features: str | Mapping[str, str] = "auto",
    random_state: int = 0,
) -> LabelProblem:
    """Return the problem of a label, or of the first label that can be learned."""
    reasons: list[str] = []
    labels = _labels(data, label, key)
    for dataset, column in labels:
        try:
            return label_problem(
                data, dataset, column, task=task, features=features, random_state=random_state
            )
        except NotApplicableError as error:
            reasons += error.reasons
        except HetvizError as error:
            if label is not None and ":" in label:
                raise
            reasons.append(str(error))
    if not labels:
        reasons = [f"Dataset {label} has no label."]
    raise NotApplicableError(title, dict.fromkeys(reasons))


def _labels(data: HeteroData, label: str | None, key: str) -> list[tuple[str, str]]:
    """Return the requested labels as (dataset, column)."""
    if label is None or label in data.datasets:
        return [(c.dataset, c.name) for c in data.labels if label in (None, c.dataset)]
    named = [name for name in data.datasets if label.startswith(f"{name}:")]
    dataset = max(named, key=len, default="")
    column = label[len(dataset) + 1 :]
    if not dataset or not column:
        raise ParameterError(
            f"{key}: label = {label!r} is unknown. Give dataset:column, or one of the datasets "
            f"{', '.join(data.datasets)}."
        )
    return [(dataset, column)]
