"""Task that places new items of a file on a map."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.errors import HetvizError
from hetviz.io import Choices
from hetviz.io.intake import child
from hetviz.io.intake.new_items import NewItems, read_new_items
from hetviz.metrics.fit.rows import match_rows
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.embed.run import FitArguments, fit_run
from hetviz.runs.findings import Findings
from hetviz.runs.place.place_rows import RowPlacement, cannot_place, new_rows_of, place_rows

PLACED = "placed"
_SETTLED = {"n_iter": 20, "n_epochs": 20}


def place_items(
    data: HeteroData,
    dataset: str,
    files: Mapping[str, bytes],
    choices: Mapping[str, Mapping[str, Any]],
    id_column: str | None,
    progress: Progress,
    start: Embedding,
    asked: Mapping[str, object] | None = None,
    **fit: Unpack[FitArguments],
) -> Findings:
    """Place the items of files on a map."""
    card = get_method(fit["method"]).card
    if Capability.OUT_OF_SAMPLE not in card.capabilities:
        raise HetvizError(cannot_place(card.title, data))
    progress(0.0, "Reading the file")
    parsed_choices = {name: Choices(**fields) for name, fields in choices.items()}
    items = read_new_items(
        list(files.items()), data[dataset], parsed_choices, id_column, parse=child.parse_files
    )
    # Report unusable items before the fit.
    new_rows_of(data, data[dataset], items.table, items.media, [])
    with warnings.catch_warnings():
        # Warnings of the fit were reported when the map was made.
        warnings.simplefilter("ignore")
        model = _model(data, ProgressPart(progress, 0.05, 0.85), start, fit)
    progress(0.85, "Placing the new items")
    placed = place_rows(data, model, items.table, dataset, media=items.media)
    progress(1.0, "Done")
    return Findings(PLACED, _content(placed, items, dataset) | {"asked": dict(asked or {})})


def _model(
    data: HeteroData, progress: Progress, start: Embedding, fit: FitArguments
) -> BaseEmbedder:
    """Return the fitted method with the positions of the shown map."""
    method = get_method(fit["method"])
    # These methods place new items between existing ones, so only the map matters, not the fit.
    by_map = Capability.WARM_START in method.card.capabilities
    if by_map:
        few = {name: value for name, value in _SETTLED.items() if name in method.params}
        fit = {**fit, "params": {**fit["params"], **few}}
    fitted = fit_run(data, progress=progress, start=start if by_map else None, **fit)
    model, fitted_embedding = fitted.model, fitted.model.embedding_
    shown_embedding = _rows_of(start, fitted_embedding)
    if by_map:
        model.embedding_ = shown_embedding
        return model
    a, b = fitted_embedding.stacked(), shown_embedding.stacked()
    same = a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)
    if not same:
        raise HetvizError(
            "Fitting this method again gives a different map, so new items cannot be placed on "
            "this one. Make the map again, then add the items."
        )
    return model


def _rows_of(shown: Embedding, fitted: Embedding) -> Embedding:
    """Return the shown positions of the rows used by the method."""
    drawn = None if shown.drawn is None else match_rows(fitted.ids, shown, shown.drawn, 2)
    return Embedding(
        match_rows(fitted.ids, shown, shown.coordinates, shown.n_components),
        fitted.ids,
        fitted.entity,
        components=fitted.components,
        note=fitted.note,
        drawn=drawn,
    )


def _content(placed: RowPlacement, items: NewItems, dataset: str) -> dict[str, object]:
    near: dict[str, dict[str, list[str]]] = {str(text): {} for text in placed.rows.ids}
    for id, name, other in zip(
        placed.neighbours["id"],
        placed.neighbours["dataset"],
        placed.neighbours["neighbour"],
        strict=True,
    ):
        near[str(id)].setdefault(str(name), []).append(str(other))
    places = placed.embedding.coordinates[dataset]
    return {
        "dataset": dataset,
        "ids": [str(text) for text in placed.rows.ids],
        "titles": [str(text) for text in placed.rows.display_names],
        "places": [Y.tolist() if np.isfinite(Y).all() else None for Y in places],
        "doubt": [None if np.isnan(value) else float(value) for value in placed.doubt["doubt"]],
        "why": list(placed.doubt["why"]),
        "near": [near[str(text)] for text in placed.rows.ids],
        "problems": [problem.to_dict() for problem in (*items.problems, *placed.problems)],
    }
