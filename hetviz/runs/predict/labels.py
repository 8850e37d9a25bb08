"""Prediction of missing labels by blended models, consensus of sources, or transfer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz import params as parameters
from hetviz.algorithms.registry import get_method
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData, Labels
from hetviz.errors import ParameterError
from hetviz.features.problems.label_problems import LabelColumn, label_column, values_by_class
from hetviz.features.spaces.sources import entity_sources
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.predict.label_blend import BLEND, predict_by_blend
from hetviz.runs.predict.label_result import LabelPrediction, labelled_table
from hetviz.runs.predict.label_scores import error_table, held_out_errors
from hetviz.runs.predict.label_transfer import predict_by_transfer

METHODS = (BLEND, "gbc", "hemap")
_TRAINING_SHARE = 0.8
_REPEATS = 3


@one_thread()
def predict_labels(
    data: HeteroData,
    dataset: str,
    label: str,
    *,
    method: str | None = None,
    sources: Sequence[str] | None = None,
    training_share: float | None = None,
    repeats: int = _REPEATS,
    source: tuple[str, str] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    **params: object,
) -> LabelPrediction:
    """Predict missing labels, with errors on held-out labels.

    Parameters
    ----------
    data : HeteroData
    dataset, label : str
        A label column, or a column of the dataset's table; features made from it are not used.
    method : {"blend", "gbc", "hemap"}, optional
        "blend", the default without parameters, learns from the items' own features, from features
        of linked items in any dataset, and from labels along links, weighted by cross-validation;
        see `hetviz.runs.predict.label_blend`. "gbc", the default with parameters, learns from all
        features and links of the items (datasets with the same ids, links within them), see
        `hetviz.algorithms.gbc`. "hemap" learns from another dataset with its own label.
    sources : sequence of str, optional
        For "blend" and "gbc": datasets and kinds of links to learn from; all when absent.
    training_share : float, optional
        Share of the known labels for training when errors are measured. When absent, 0.8, and
        "blend" measures errors in the cross-validation that it needs anyway. The predictions come
        from a fit to all labels.
    repeats : int
        Number of splits to measure errors; 0 skips that. In cross-validation, each fold is a split.
    source : (dataset, label), optional
        Required for "hemap": the label to learn from.
    random_state : int
    progress : callable, optional
    **params
        Parameters of the method.

    Returns
    -------
    LabelPrediction

    Raises
    ------
    hetviz.errors.DataError
        For an unknown dataset or label.
    hetviz.errors.ParameterError
        For an unknown method, source or parameter, or a value out of range.
    hetviz.errors.NotApplicableError
        If there is nothing to learn from, or too much data, with the reasons.

    Notes
    -----
    Costs about 1 + 3 `repeats` fits, because simple models are fitted as often as the method, and
    one fit for "blend" without `training_share`.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("world")
    >>> mine = data.edit().drop("languages").edit().drop("films")
    >>> found = hetviz.predict_labels(mine, "countries", "region", repeats=1, n_rounds=20)
    >>> int((~found.table["known"]).sum())
    0
    >>> found.held_out["model"].tolist()
    ['gbc', 'countries alone', 'guess']
    """
    report = ignore_progress if progress is None else progress
    if method is None:
        method = "gbc" if params else BLEND
    if method not in METHODS:
        raise ParameterError(
            f"predict_labels: method = {method!r}. Use one of: {', '.join(METHODS)}."
        )
    share = _TRAINING_SHARE if training_share is None else training_share
    if not 0.0 < share < 1.0:
        raise ParameterError(
            f"predict_labels: training_share = {share!r} must be above 0 and below 1."
        )
    if not 0 <= repeats <= 100:
        raise ParameterError(f"predict_labels: repeats = {repeats!r} must be from 0 to 100.")
    if method == "hemap":
        if source is None or sources is not None:
            raise ParameterError(
                "predict_labels: method 'hemap' learns from one other label. Give "
                "source=(dataset, label) and no sources."
            )
        return predict_by_transfer(
            data, dataset, label, source, share, repeats, random_state, report, params
        )
    if method == BLEND:
        if params:
            names = ", ".join(params)
            raise ParameterError(f"predict_labels: method {BLEND!r} has no parameter {names}.")
        column = label_column(data, dataset, label)
        restricted = with_label(with_sources(data, dataset, sources), column)
        return predict_by_blend(
            restricted, dataset, label, training_share, repeats, random_state, report
        )
    return _predict_by_consensus(
        data, dataset, label, sources, share, repeats, random_state, report, params
    )


def _predict_by_consensus(
    data: HeteroData,
    dataset: str,
    label: str,
    sources: Sequence[str] | None,
    share: float,
    repeats: int,
    random_state: int,
    progress: Progress,
    params: Mapping[str, object],
) -> LabelPrediction:
    kind = get_method("gbc")
    gbc_params = {**params, "label": f"{dataset}:{label}", "random_state": random_state}
    column = label_column(data, dataset, label, str(params.get("task", "auto")))
    model: Any = kind(**parameters.check("gbc", kind.params, gbc_params))
    restricted = with_label(with_sources(data, dataset, sources), column)
    model.fit(restricted, ProgressPart(progress, 0.0, 0.3 if repeats else 1.0))
    held_out = error_table({}, {})
    if repeats:
        part = ProgressPart(progress, 0.3, 1.0)
        held_out = held_out_errors(
            model.problem_, model, model.settings_, share, repeats, random_state, part
        )
    weights = pd.DataFrame(model.weight_table(), columns=["round", "source", "weight"])
    frame = model.predictions_[dataset].frame(dataset, data[dataset].ids, model.classes_)
    table = labelled_table(frame, column, values_by_class(data, column))
    progress(1.0, "Done")
    return LabelPrediction(
        dataset,
        label,
        "gbc",
        column.task,
        column.classes,
        table,
        held_out,
        weights,
        model.embedding_,
        reasons=_sentences(held_out, column),
        figures=model.diagnostics_,
        diagnostics=model.embedding_.diagnostics,
    )


def with_label(data: HeteroData, column: LabelColumn) -> HeteroData:
    """Return the data with a table column as a label column, unless it is one already."""
    if any((c.dataset, c.name) == (column.dataset, column.name) for c in data.labels):
        return data
    values = [
        None if np.isnan(y) else column.classes[int(y)] if column.classes else float(y)
        for y in column.y
    ]
    return data.edit().add(Labels(column.dataset, column.name, values))


def with_sources(data: HeteroData, dataset: str, sources: Sequence[str] | None) -> HeteroData:
    """Return the data in which only some sources describe the items of a dataset."""
    if sources is None:
        return data
    entity = data[dataset].entity
    views = data.views(entity)
    kinds = entity_sources(data, entity, "featureless").graphs
    offered = [*(name for name in views if not data[name].is_featureless), *kinds]
    unknown = [name for name in sources if name not in offered]
    if unknown or not sources:
        raise ParameterError(
            f"predict_labels: sources = {list(sources)}. Use one of: {', '.join(offered)}."
        )
    datasets = [
        replace(part_of_data, X=None, feature_names=None, kernel=None, distance=None)
        if name in views and name not in sources
        else part_of_data
        for name, part_of_data in data.datasets.items()
    ]
    links = [
        group
        for group in data.links
        if not {group.source, group.target} <= set(views) or group.kind in sources
    ]
    return HeteroData(datasets, links, data.comparisons, data.labels)


def _sentences(held_out: pd.DataFrame, column: LabelColumn) -> list[str]:
    """Return sentences about the held-out errors."""
    if not len(held_out):
        return []
    errors = dict(zip(held_out["model"], held_out["error"], strict=True))
    own_error = errors["gbc"]
    error_text = (
        f"{100 * own_error:.1f} % wrong"
        if column.classes
        else f"off by {own_error:.3g} (root mean square)"
    )
    sentence = f"On hidden labels, the consensus of the sources is {error_text}."
    shown_models = [name for name in ("vote", "joined features", "guess") if name in errors]
    others = ", ".join(
        f"{name} {100 * errors[name]:.1f} %" if column.classes else f"{name} {errors[name]:.3g}"
        for name in shown_models
    )
    sentences = [f"{sentence} Others: {others}." if others else sentence]
    best = min(errors, key=lambda name: errors[name])
    if best == "guess":
        sentences.append("A guess is as good. The data do not predict this label.")
    elif best != "gbc" and errors[best] < own_error:
        sentences.append(f"The lowest error is that of {best}.")
    return sentences
