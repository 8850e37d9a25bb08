"""Finding labels that are missing, with errors on labels held out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from hetviz.algorithms.registry import get_method
from hetviz.data import HeteroData
from hetviz.errors import ConvergenceWarning, DataWarning
from hetviz.jobs.results import Findings, MadeMap
from hetviz.progress import Progress
from hetviz.runs.predict.labels import predict_labels

LABELS = "labels"


def find_labels(
    data: HeteroData,
    dataset: str,
    label: str,
    progress: Progress,
    method: str = "gbc",
    sources: Sequence[str] | None = None,
    training_share: float | None = None,
    repeats: int = 3,
    source: Sequence[str] | None = None,
    seed: int = 0,
    **params: object,
) -> Findings:
    """Predict a label where it is missing.

    Parameters
    ----------
    data : HeteroData
    dataset, label : str
    progress : callable
    method, sources, training_share, repeats, source
        See `hetviz.predict_labels`.
    seed : int
    **params
        Of the method.

    Returns
    -------
    Findings
        Of kind "labels": `hetviz.runs.predict.label_result.LabelPrediction.to_dict`, with ``title``
        of the method, ``params``, ``seed``, ``training_share``, ``repeats`` and ``notes``; and the
        map of what is predicted.

    Raises
    ------
    hetviz.errors.HetvizError
    hetviz.errors.Cancelled
        When `progress` raises it.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = predict_labels(
            data,
            dataset,
            label,
            method=method,
            sources=sources,
            training_share=training_share,
            repeats=repeats,
            source=None if source is None else (source[0], source[1]),
            random_state=seed,
            progress=progress,
            **params,
        )
    ours = (DataWarning, ConvergenceWarning)
    content = found.to_dict() | {
        "title": get_method(method).card.title,
        "params": dict(params),
        "seed": seed,
        "training_share": training_share,
        "repeats": repeats,
        "notes": sorted({str(one.message) for one in told if issubclass(one.category, ours)}),
    }
    maps: tuple[MadeMap, ...] = ()
    if found.embedding is not None:
        title = f"{get_method(method).card.title}, {label}"
        maps = (
            MadeMap(method, title, _of_map(found.method, content), found.embedding, None, seed),
        )
    return Findings(LABELS, content, maps)


def _of_map(method: str, content: Mapping[str, Any]) -> dict[str, object]:
    """Return the parameters that make the map again."""
    where = {"label": f"{content['dataset']}:{content['label']}"} if method == "gbc" else {}
    return {**content["params"], **where}
