"""Features of a dataset by a recipe that can be edited and applied to new rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._text import count, join_words
from hetviz._types import Array, Floats, Matrix, is_sparse
from hetviz.core.threads import one_thread
from hetviz.data import Dataset
from hetviz.errors import DataError, ParameterError, Problem, check_type
from hetviz.features import table
from hetviz.features.columns import block
from hetviz.features.columns.options import (
    PICTURES,
    TEXT_MODELS,
    VECTORS,
    FeatureRecipe,
    Options,
    Step,
    complete_options,
    merge_options,
    option_problems,
)
from hetviz.features.table import check_columns_exist, transform_leniently

# Reasons to exclude a column that follow from its role, not from its values.
ROLES = ("label", "title", "picture file", "left out")


@one_thread()
def make_features(
    dataset: Dataset,
    columns: Options | None = None,
    text_model: str | None = None,
    *,
    labels: Collection[str] = (),
) -> Dataset:
    """Make the features of a dataset from its columns, pictures and own vectors.

    Parameters
    ----------
    dataset : Dataset
        Dataset with a table, pictures, or given features ("own vectors").
    columns : mapping of str to mapping, optional
        Column -> changed options: ``use`` (bool); ``kind`` ("number", "category", "list",
        "ordered", "date", "latlong", "text"); ``order`` (values of an ordered category, lowest
        first; default: detected from words and numbers); ``scale`` ("standard", "robust", "rank",
        "none"); ``log`` (bool); ``weight`` (above 0; weight 2 doubles the share of the variance);
        ``impute`` ("mean", "median", "most frequent", "own category", "none"); ``cyclic`` (add the
        season of dates); ``model`` ("words", "sentences"; for pictures "edges",
        "encoder"). The name of pictures is
        ``(pictures)``, the name of given features ``(own vectors)``. Earlier options stay.
    text_model : {"words", "sentences"}, optional
        Model of free text: TF-IDF and its leading singular vectors, or a small sentence model
        (extra ``text``), which reads English: columns in another language are compared by words,
        except in Chinese, Japanese and Thai, unless their own ``model`` says otherwise.
    labels : collection of str
        Label columns, which are no features unless `columns` selects them. Labels that were known
        when the dataset was read are included.

    Returns
    -------
    Dataset
        Dataset with `X`, `feature_names`, and the fitted recipe in ``recipe["features"]``.

    Raises
    ------
    hetviz.errors.DataError
        If there is nothing to make features from, a column does not exist, or an option does not
        fit the type of its column.
    hetviz.errors.MissingExtraError
        If the sentence model (extra ``text``) or the picture encoder (extra ``pictures``) is
        requested but not installed.

    Notes
    -----
    The total variance of each column is its weight (default 1); see `hetviz.features.table.fit`
    for each type. Own vectors are one block. Costs O(n) per feature, about 1 ms per picture
    (15 ms with the encoder), and about 5 ms per text with the sentence model.

    Examples
    --------
    >>> import hetviz, pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 6.0], "colour": ["red", "red", "blue"]})
    >>> things = hetviz.Dataset("things", ["a", "b", "c"], table=table)
    >>> made = hetviz.make_features(things, {"size": {"scale": "rank", "weight": 2.0}})
    >>> made.feature_names
    ('size', 'colour=blue', 'colour=red')
    """
    return make_features_with_notes(dataset, columns, text_model, labels)[0]


def make_features_with_notes(
    dataset: Dataset,
    columns: Options | None = None,
    text_model: str | None = None,
    labels: Collection[str] = (),
) -> tuple[Dataset, tuple[Problem, ...]]:
    """Return the result of `make_features`, and notes on excluded and imputed values."""
    check_type(dataset, Dataset, "dataset")
    where = f"dataset {dataset.name!r}"
    current = recipe_of(dataset)
    _check_arguments(where, dataset, columns or {}, text_model)
    requested = merge_options(current["options"], columns or {})
    vectors = _own_vectors(where, dataset, current, requested.get(VECTORS, {}))
    frame = pd.DataFrame(index=range(len(dataset))) if dataset.table is None else dataset.table
    if vectors is None and dataset.media is None and not frame.shape[1]:
        message = "there are no columns, pictures or vectors to make features from"
        raise DataError.of("no-columns", where, message, remedy="Give it a table.")
    reasons = {
        entry["column"]: entry["why"] for entry in current["left_out"] if entry["why"] in ROLES
    }
    if dataset.title_column is not None:
        reasons[dataset.title_column] = "title"
    if (pictured := (dataset.recipe or {}).get("media")) is not None:
        reasons[str(pictured)] = "picture file"
    reasons |= dict.fromkeys(labels, "label")
    fitted = table.fit(
        frame,
        where=where,
        columns=current["chosen"],
        exclude=reasons,
        text=[name for name in (dataset.recipe or {}).get("text", ()) if name in frame.columns],
        decimal=current["decimal"],
        options={name: fields for name, fields in requested.items() if name != VECTORS},
        text_model=text_model or current["text_model"],
        media=dataset.media,
    )
    recipe: FeatureRecipe = {**fitted.recipe, "options": requested}
    X: Matrix | None = fitted.X
    names = fitted.feature_names
    if vectors is not None:
        step, V, titles = vectors
        recipe["columns"] = [step, *recipe["columns"]]
        X, names = _append_features(V, fitted.X), (*titles, *names)
        _update_shares(recipe["columns"], X)
    finished = replace(
        dataset,
        X=X,
        feature_names=names if X is not None else None,
        recipe={**(dataset.recipe or {}), "features": recipe},
    )
    return finished, fitted.notes


@one_thread()
def transform_features(
    dataset: Dataset,
    rows: pd.DataFrame,
    media: Sequence[object] | None = None,
    *,
    vectors: Matrix | Array | None = None,
    problems: list[Problem] | None = None,
) -> Matrix:
    """Apply the feature recipe of a dataset to new rows.

    Parameters
    ----------
    dataset : Dataset
        Dataset with features by `make_features` or by reading a file.
    rows : DataFrame of n rows
        Columns as in the table of the dataset, typed or as text; other columns are ignored.
    media : sequence of n bytes, paths or None, optional
        Pictures of the rows.
    vectors : array or sparse matrix of shape (n, p), optional
        Own vectors of the rows, if the features of the dataset include such vectors.
    problems : list of Problem, optional
        Receives notes on missing columns (``unknown-column``), cells without a number
        (``not-numbers``) and unknown values (``unknown-category``), which all count as missing.

    Returns
    -------
    array or csr of shape (n, p)
        Features in the order of ``dataset.feature_names``.

    Raises
    ------
    hetviz.errors.DataError
        If the features were not made from columns, all columns are missing, or `media` or
        `vectors` have a wrong shape.
    """
    check_type(dataset, Dataset, "dataset")
    where = f"new rows of {dataset.name!r}"
    if "features" not in (dataset.recipe or {}):
        message = "its features were not made from columns, so there is no recipe"
        raise DataError.of(
            "no-recipe", where, message, remedy="Give the features of the new rows as X."
        )
    recipe = recipe_of(dataset)
    used_columns = columns_used(recipe)
    if used_columns and not any(name in rows.columns for name in used_columns) and media is None:
        check_columns_exist(where, rows, used_columns)
    if media is not None and len(media) != len(rows):
        message = f"{len(media)} pictures, but {len(rows)} rows"
        raise DataError.of("row-count", where, message, str(len(media)))
    steps = [step for step in recipe["columns"] if step["kind"] != "vectors"]
    notes: list[Problem] = [] if problems is None else problems
    X = transform_leniently({**recipe, "columns": steps}, rows, media, notes)
    for step in recipe["columns"]:
        if step["kind"] == "vectors":
            shape = (len(rows), len(step["names"]))
            if vectors is None or vectors.shape != shape:
                message = f"own vectors of shape {shape} are needed"
                actual = "none" if vectors is None else str(vectors.shape)
                raise DataError.of("bad-shape", where, message, actual)
            return _append_features(vectors * step["factors"][0], X if X.shape[1] else None)
    return X


def recipe_of(dataset: Dataset) -> FeatureRecipe:
    """Return the feature recipe of a dataset in the current format; an empty one if none."""
    if (recipe := (dataset.recipe or {}).get("features")) is not None:
        return block.upgrade_recipe(recipe)
    return {
        "format": table.RECIPE_FORMAT,
        "decimal": ".",
        "text_model": "words",
        # With own vectors, columns are features only if the user selects them.
        "chosen": None if dataset.is_featureless else [],
        "options": {},
        "columns": [],
        "left_out": [],
    }


def columns_used(recipe: FeatureRecipe | None) -> list[str]:
    """Return the table columns that a recipe uses, in order."""
    return columns_of_steps([] if recipe is None else recipe["columns"])


def columns_of_steps(steps: Iterable[Step]) -> list[str]:
    """Return the table columns that steps of a recipe use, in order."""
    columns = [str(name) for step in steps for name in step.get("columns", [step["column"]])]
    return list(dict.fromkeys(columns))


def describe_sources(recipe: FeatureRecipe | None) -> str:
    """Return a short text about the sources of the features."""
    kinds = [step["kind"] for step in ([] if recipe is None else recipe["columns"])]
    parts = []
    if "vectors" in kinds:
        parts.append("own vectors")
    if n := len(columns_used(recipe)):
        parts.append(count(n, "column"))
    if "picture" in kinds:
        parts.append("the pictures")
    if not parts:
        return "none"
    return f"made from {join_words(parts)}"


def _check_arguments(
    where: str, dataset: Dataset, columns: Options, text_model: str | None
) -> None:
    if text_model is not None and text_model not in TEXT_MODELS:
        raise ParameterError(
            f"text_model = {text_model!r} is unknown. Use one of: {', '.join(TEXT_MODELS)}."
        )
    if problems := option_problems(where, columns):
        raise DataError(problems)
    if PICTURES in columns and dataset.media is None:
        raise DataError.of("bad-option", where, "the dataset has no pictures", PICTURES)


def _own_vectors(
    where: str, dataset: Dataset, recipe: FeatureRecipe, fields: Mapping[str, object]
) -> tuple[Step, Matrix, tuple[str, ...]] | None:
    """Return the step of own vectors, the weighted vectors and their names, or None."""
    old = next((step for step in recipe["columns"] if step["kind"] == "vectors"), None)
    has_recipe = "features" in (dataset.recipe or {})
    if dataset.X is None or (has_recipe and old is None):
        if fields:
            message = "the dataset has no own vectors"
            raise DataError.of("bad-option", where, message, VECTORS)
        return None
    if fields.get("use") is False:
        message = "own vectors cannot be excluded, because they would be lost"
        remedy = "Give them a small weight instead."
        raise DataError.of("own-vectors", where, message, VECTORS, remedy)
    if old is None:
        V: Matrix = dataset.X
        names = dataset.feature_names or tuple(f"vector {k + 1}" for k in range(V.shape[1]))
    else:
        names = tuple(old["names"])
        raw_vectors = dataset.X[:, : len(names)]
        V = (
            sp.csr_array(raw_vectors / old["factors"][0])
            if is_sparse(raw_vectors)
            else raw_vectors / old["factors"][0]
        )
    step: Step = {
        "column": VECTORS,
        "columns": [],
        "kind": "vectors",
        "use": True,
        **complete_options(where, VECTORS, "vectors", fields),
        "share_missing": 0.0,
        "names": list(names),
    }
    size = _total_variance(V)
    spread = float(np.sqrt(size)) if step["scale"] == "standard" and size > 0 else 1.0
    step["factors"] = [float(np.sqrt(step["weight"])) / spread]
    return step, V * step["factors"][0], names


def _append_features(V: Matrix, X: Floats | None) -> Matrix:
    """Return own vectors and the other features side by side; sparse ones stay sparse."""
    if is_sparse(V):
        return sp.csr_array(V if X is None else sp.hstack([V, sp.csr_array(X)], format="csr"))
    return np.asarray(V) if X is None else np.hstack([V, X])


def _update_shares(steps: list[Step], X: Matrix) -> None:
    """Set the share of each step in the total variance."""
    total, at = _total_variance(X), 0
    for step in steps:
        width = len(block.names(step))
        part = _total_variance(X[:, at : at + width])
        step["share"] = part / total if total > 0 else 0.0
        at += width


def _total_variance(X: Matrix) -> float:
    if not X.shape[0]:
        return 0.0
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return float(X.multiply(X).sum() / X.shape[0] - mean @ mean)
    return float(np.asarray(X).var(axis=0).sum())
