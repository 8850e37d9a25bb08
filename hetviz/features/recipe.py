"""Features of a dataset by a recipe that can be seen, changed, and applied to new rows."""

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
from hetviz.errors import DataError, ParameterError, Problem
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

# Why a column is no feature that has to do with what it is, not with what it holds.
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
        With a table, pictures, or features that came with it ("own vectors").
    columns : mapping of str to mapping, optional
        Column to what is to be different: ``use`` (bool); ``kind`` ("number", "category", "list",
        "ordered", "date", "latlong", "text"); ``order`` (the values of an ordered category, the
        lowest first; found by their words and numbers where it is not said); ``scale``
        ("standard", "robust", "rank", "none"); ``log`` (bool); ``weight`` (above 0; a column of
        weight 2 has twice the share of the variance);
        ``impute`` ("mean", "median", "most frequent", "own category", "none"); ``cyclic`` (dates
        by the season too); ``model`` ("words", "sentences"). Pictures go by the name
        ``(pictures)``, features that came with the dataset by ``(own vectors)``. What was said
        before stays.
    text_model : {"words", "sentences"}, optional
        What free text goes through: TF-IDF and its leading singular vectors, or a small sentence
        model (the extra ``text``).
    labels : collection of str
        Columns that are labels: never features unless `columns` say so. Those known to be labels
        when the dataset was read need not be named.

    Returns
    -------
    Dataset
        With `X`, `feature_names`, and the fitted recipe under ``recipe["features"]``.

    Raises
    ------
    hetviz.errors.DataError
        If there is nothing to make features of, a column does not exist, or what is said does not
        suit what it holds.
    hetviz.errors.MissingExtraError
        If the sentence model is asked for and not installed.

    Notes
    -----
    Each column gets the total variance of its weight (1 unless said otherwise); see
    `hetviz.features.table.fit` for each kind. Own vectors are used whole. Costs O(n) for each
    feature; pictures about 1 ms each, the sentence model about 5 ms a text.

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
    """Return what `make_features` does, and what was left out or filled in."""
    where = f"dataset {dataset.name!r}"
    before = recipe_of(dataset)
    _check_arguments(where, dataset, columns or {}, text_model)
    asked = merge_options(before["options"], columns or {})
    own = _own_vectors(where, dataset, before, asked.get(VECTORS, {}))
    frame = pd.DataFrame(index=range(len(dataset))) if dataset.table is None else dataset.table
    if own is None and dataset.media is None and not frame.shape[1]:
        what = "there are no columns, pictures or vectors to make features of"
        raise DataError(Problem("no-columns", where, what, remedy="Give it a table."))
    reasons = {one["column"]: one["why"] for one in before["left_out"] if one["why"] in ROLES}
    if dataset.title_column is not None:
        reasons[dataset.title_column] = "title"
    if (pictured := (dataset.recipe or {}).get("media")) is not None:
        reasons[str(pictured)] = "picture file"
    reasons |= dict.fromkeys(labels, "label")
    made = table.fit(
        frame,
        where=where,
        columns=before["chosen"],
        exclude=reasons,
        text=[name for name in (dataset.recipe or {}).get("text", ()) if name in frame.columns],
        decimal=before["decimal"],
        options={name: fields for name, fields in asked.items() if name != VECTORS},
        text_model=text_model or before["text_model"],
        media=dataset.media,
    )
    recipe: FeatureRecipe = {**made.recipe, "options": asked}
    X: Matrix | None = made.X
    names = made.feature_names
    if own is not None:
        step, V, titles = own
        recipe["columns"] = [step, *recipe["columns"]]
        X, names = _append_features(V, made.X), (*titles, *names)
        _update_shares(recipe["columns"], X)
    finished = replace(
        dataset,
        X=X,
        feature_names=names if X is not None else None,
        recipe={**(dataset.recipe or {}), "features": recipe},
    )
    return finished, made.notes


@one_thread()
def transform_features(
    dataset: Dataset,
    rows: pd.DataFrame,
    media: Sequence[object] | None = None,
    *,
    vectors: Matrix | Array | None = None,
    problems: list[Problem] | None = None,
) -> Matrix:
    """Make of new rows the features that a dataset has.

    Parameters
    ----------
    dataset : Dataset
        Its features were made by `make_features` or when it was read.
    rows : DataFrame of n rows
        Columns as in the table of the dataset, typed or as text; other columns are passed over.
    media : sequence of n bytes, paths or None, optional
        Pictures of the rows.
    vectors : array or sparse matrix of shape (n, p), optional
        Where the features of the dataset include vectors that came with it.
    problems : list of Problem, optional
        Is added to: a missing column (``unknown-column``), cells that hold no number
        (``not-numbers``) and values never seen (``unknown-category``). All of these count as
        missing cells do.

    Returns
    -------
    array or csr of shape (n, p)
        In the order of ``dataset.feature_names``.

    Raises
    ------
    hetviz.errors.DataError
        If the features were not made of columns, none of the columns is there, or `media` or
        `vectors` have another number of rows or columns.
    """
    where = f"new rows of {dataset.name!r}"
    if "features" not in (dataset.recipe or {}):
        what = "its features were not made of columns, so there is no recipe to apply"
        raise DataError(
            Problem("no-recipe", where, what, remedy="Give the features of the new rows as X.")
        )
    recipe = recipe_of(dataset)
    wanted = columns_used(recipe)
    if wanted and not any(name in rows.columns for name in wanted) and media is None:
        check_columns_exist(where, rows, wanted)
    if media is not None and len(media) != len(rows):
        what = f"{len(media)} pictures, but {len(rows)} rows"
        raise DataError(Problem("row-count", where, what, str(len(media))))
    steps = [step for step in recipe["columns"] if step["kind"] != "vectors"]
    found: list[Problem] = [] if problems is None else problems
    X = transform_leniently({**recipe, "columns": steps}, rows, media, found)
    for step in recipe["columns"]:
        if step["kind"] == "vectors":
            shape = (len(rows), len(step["names"]))
            if vectors is None or vectors.shape != shape:
                what = f"vectors of shape {shape} are needed, as the dataset came with"
                given = "none" if vectors is None else str(vectors.shape)
                raise DataError(Problem("bad-shape", where, what, given))
            return _append_features(vectors * step["factors"][0], X if X.shape[1] else None)
    return X


def recipe_of(dataset: Dataset) -> FeatureRecipe:
    """Return the recipe of a dataset's features, of the present format; an empty one if none."""
    found = (dataset.recipe or {}).get("features")
    if found is not None:
        return block.upgrade_recipe(found)
    return {
        "format": table.RECIPE_FORMAT,
        "decimal": ".",
        "text_model": "words",
        # Beside vectors that came with it, nothing is a feature until somebody says so.
        "chosen": None if dataset.is_featureless else [],
        "options": {},
        "columns": [],
        "left_out": [],
    }


def columns_used(recipe: FeatureRecipe | None) -> list[str]:
    """Return the columns of the table that a recipe makes features of, in order."""
    return columns_of_steps([] if recipe is None else recipe["columns"])


def columns_of_steps(steps: Iterable[Step]) -> list[str]:
    """Return the columns of the table that some steps make features of, in order."""
    found = [str(name) for step in steps for name in step.get("columns", [step["column"]])]
    return list(dict.fromkeys(found))


def describe_sources(recipe: FeatureRecipe | None) -> str:
    """Say what features are made of, for people."""
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
    return f"made from {join_words(parts)}, by what they hold"


def _check_arguments(
    where: str, dataset: Dataset, columns: Options, text_model: str | None
) -> None:
    if text_model is not None and text_model not in TEXT_MODELS:
        raise ParameterError(
            f"text_model = {text_model!r} is unknown. Use one of: {', '.join(TEXT_MODELS)}."
        )
    problems = option_problems(where, columns)
    if problems:
        raise DataError(problems)
    if PICTURES in columns and dataset.media is None:
        raise DataError(Problem("bad-option", where, "the dataset has no pictures", PICTURES))


def _own_vectors(
    where: str, dataset: Dataset, recipe: FeatureRecipe, fields: Mapping[str, object]
) -> tuple[Step, Matrix, tuple[str, ...]] | None:
    """Return the step of the vectors that came with a dataset, the vectors as weighed, names."""
    old = next((step for step in recipe["columns"] if step["kind"] == "vectors"), None)
    made = "features" in (dataset.recipe or {})
    if dataset.X is None or (made and old is None):
        if fields:
            what = "the dataset came without vectors"
            raise DataError(Problem("bad-option", where, what, VECTORS))
        return None
    if fields.get("use") is False:
        what = "vectors that came with a dataset cannot be left out: they would be lost"
        remedy = "Give them a small weight."
        raise DataError(Problem("own-vectors", where, what, VECTORS, remedy))
    if old is None:
        V: Matrix = dataset.X
        names = dataset.feature_names or tuple(f"vector {k + 1}" for k in range(V.shape[1]))
    else:
        names = tuple(old["names"])
        own = dataset.X[:, : len(names)]
        V = sp.csr_array(own / old["factors"][0]) if is_sparse(own) else own / old["factors"][0]
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
    """Return own vectors with the other features behind them; sparse ones stay sparse."""
    if is_sparse(V):
        return sp.csr_array(V if X is None else sp.hstack([V, sp.csr_array(X)], format="csr"))
    return np.asarray(V) if X is None else np.hstack([V, X])


def _update_shares(steps: list[Step], X: Matrix) -> None:
    """Set each step's share of the variance of all features."""
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
