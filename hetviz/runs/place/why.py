"""Reasons for a map, for the place of an item on it, and for the distance of two items."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from hetviz._text import join_words
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.core.layout.attraction import AttractionGraph
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.links import kind_key
from hetviz.data.queries.rows import select_rows
from hetviz.errors import DataError, HetvizError, NotApplicableError, ParameterError
from hetviz.features.spaces.pins import pin_note
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.metrics.map_reasons import (
    MapReasons,
    PairReasons,
    map_reasons,
    pair_reasons,
    shared_with_nearest,
)
from hetviz.runs.embed.run import EmbeddingOrigin, FittedRun, MapResult, Run, fit_again
from hetviz.runs.embed.scope import part_of, scope_of
from hetviz.runs.place.reasons import ExplainedMap, Why
from hetviz.runs.place.why_by_comparisons import explain_by_comparisons
from hetviz.runs.place.why_by_graph import explain_by_graph, surrounding_rows
from hetviz.runs.place.why_by_leaving_out import explain_by_leaving_out
from hetviz.runs.place.why_by_positions import explain_from_positions

UNKNOWN_RUN = Run("", "", {}, 0)
"""Run of a map that was made elsewhere."""
MAX_ROWS = 8_000
"""With more rows, only the surroundings of the item are considered."""


@overload
def why(data: HeteroData, fitted: Embedding | FittedRun | BaseEmbedder) -> MapReasons: ...


@overload
def why(
    data: HeteroData,
    fitted: Embedding | FittedRun | BaseEmbedder,
    dataset: str,
    id: str,
    *,
    other: str | tuple[str, str],
) -> PairReasons: ...


@overload
def why(
    data: HeteroData,
    fitted: Embedding | FittedRun | BaseEmbedder,
    dataset: str,
    id: str,
    *,
    run: Run | None = None,
    method: str | None = None,
    most: int = 8,
    fit: bool = True,
    **params: Any,
) -> Why: ...


def why(
    data: HeteroData,
    fitted: Embedding | FittedRun | BaseEmbedder,
    dataset: str | None = None,
    id: str | None = None,
    *,
    other: str | tuple[str, str] | None = None,
    run: Run | None = None,
    method: str | None = None,
    most: int = 8,
    fit: bool = True,
    **params: Any,
) -> MapReasons | PairReasons | Why:
    """Explain a map, the place of an item on it, or the distance of two items.

    Works for any map, also for coordinates that were made elsewhere, see `map_from_columns`.

    Parameters
    ----------
    data : HeteroData
        The data of the map.
    fitted : Embedding, FittedRun or fitted method
        The map. A fitted method, with the data of its fit, is not fitted again.
    dataset, id : str, optional
        The item. Without it, the whole map is explained: which columns and links say which
        items are near.
    other : str or tuple of str, optional
        The id of a second item of the dataset, or its dataset and id: explain why the two are near
        or far.
    run : Run, optional
        Record of how the map was made. Embeddings of `hetviz.embed` and fitted methods know it.
    method : str, optional
        Key of the method, where there is no run; with the parameters that differ from the
        defaults.
    most : int
        Maximum number of reasons of each sort.
    fit : bool
        False uses the coordinates alone, without a fit: which links are close, which are far, and
        which items are closest. For methods that would have to be fitted again, such as `mkpe`.
        So are maps whose method is unknown.
    **params
        Parameters of the method.

    Returns
    -------
    MapReasons, Why or PairReasons
        Of the map, of an item, of two items.

    Raises
    ------
    hetviz.errors.DataError
        If the item does not exist, or the method was fitted on other items.
    hetviz.errors.ParameterError
        If only one of dataset and id is given.
    hetviz.errors.HetvizError
        If the method has not been fitted.
    hetviz.errors.NotApplicableError
        If the method has no graph, does not place new items and uses no comparisons; or if the
        item has no place.

    Notes
    -----
    Neighbour maps: the share of each attraction in the graph of the method, at the coordinates of
    the map (`hetviz.core.layout.attraction.attraction_of`). Other methods: leave-one-out. The item
    is placed like a new one, without one feature or link at a time, and a larger move counts more.
    Methods that do neither: the share of each comparison in the gradient of the hinge loss.
    Costs a fit without its layout, or a fit. Above 8,000 rows only the surroundings of the item are
    considered, and no matrix of all pairs is made.

    A map: `hetviz.metrics.map_reasons.map_reasons` states the measure. It uses at most 1,500 items
    of each dataset, and compares with 99 shuffles of the rows.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> found = hetviz.why(data, hetviz.embed(data, "mr-sne"), "emoji", data["emoji"].ids[0])
    >>> found.parts.keys() <= {"neighbour", "link", "statement"}
    True
    >>> hetviz.why(data, hetviz.embed(data, "mr-sne")).reasons[0].column
    'subgroup'
    """
    if isinstance(fitted, BaseEmbedder):
        fitted = _as_run(data, fitted)
    embedding = fitted.result.embedding if isinstance(fitted, FittedRun) else fitted
    if dataset is None and id is None and other is None:
        return map_reasons(data, embedding)
    if dataset is None or id is None:
        raise ParameterError("why: an item needs its dataset and its id.")
    row = row_of(data, dataset, id)
    if other is not None:
        pair = (dataset, other) if isinstance(other, str) else other
        return pair_reasons(data, embedding, row, row_of(data, *pair))
    if isinstance(fitted, FittedRun):
        explainer = Explainer(data, fitted.result.embedding, fitted.result, fitted)
    else:
        is_known = bool(run or method or isinstance(fitted.made, EmbeddingOrigin))
        record = run_of_map(data, fitted, run, method, params) if is_known else UNKNOWN_RUN
        fit = fit and bool(record.method)
        explainer = Explainer(data, fitted, record)
    if fit:
        return explainer.why(row, most)
    explanation = explainer.explain_from_positions(row, most)
    shared = shared_with_nearest(data, embedding, row, map_reasons(data, embedding))
    return replace(explanation, note=f"{explanation.note} {shared}".strip())


def _as_run(data: HeteroData, model: BaseEmbedder) -> FittedRun:
    """Return a fitted method as a run of these data."""
    title = model.card.title
    if not hasattr(model, "embedding_"):
        raise HetvizError(f"{title}: call fit before why.")
    fitted_ids = model.embedding_.ids
    different = [name for name in data.datasets if name not in fitted_ids]
    different += [name for name in fitted_ids if name not in data.datasets]
    different += [
        name
        for name, ids in fitted_ids.items()
        if name not in different and not np.array_equal(ids, data[name].ids)
    ]
    if different:
        raise DataError.of(
            "other-data",
            "why",
            f"{title} was fitted on other items",
            join_words(different),
            "Give the data that it was fitted on.",
        )
    params: dict[str, Any] = {name: getattr(model, name) for name in model.params}
    seed = int(params.pop("random_state", 0))
    result = MapResult(
        data.fingerprint(), model.card.key, params, seed, title=title, embedding=model.embedding_
    )
    return FittedRun(result, model, scope_of(data))


def run_of_map(
    data: HeteroData,
    embedding: Embedding,
    run: Run | None,
    method: str | None,
    params: Mapping[str, Any],
) -> Run:
    """Return the run of a map from the run, the method or the embedding."""
    if run is not None:
        return run
    if method is not None:
        return Run(data.fingerprint(), method, dict(params), int(params.get("random_state", 0)))
    if isinstance(embedding.made, EmbeddingOrigin):
        return embedding.made.run
    raise ParameterError(
        "It is unknown how this map was made. Give the run, or method = its key and the "
        "parameters that differ from the defaults."
    )


def row_of(data: HeteroData, dataset: str, id: str) -> int:
    """Return the global row of an item."""
    if dataset not in data.datasets:
        names = ", ".join(data.datasets)
        raise DataError.of(
            "unknown-dataset", "why", "there is no such dataset", dataset, f"Available: {names}."
        )
    position = int(data[dataset].find([id])[0])
    if position < 0:
        raise DataError.of("unknown-id", f"dataset {dataset!r}", "there is no such item", id)
    return int(data.offsets[dataset].start) + position


class Explainer:
    """Explanations for items of one map, with the common parts cached."""

    def __init__(
        self, data: HeteroData, embedding: Embedding, run: Run, fitted: FittedRun | None = None
    ) -> None:
        # Rows that took no part have no place and hold no item.
        self._rows = np.arange(data.n_rows) if run.only is None else np.asarray(run.only)
        data = part_of(data, run.only, run.period)
        Y = np.vstack(list(coordinates_of(data, embedding).values()))
        placed = Y[np.isfinite(Y).all(axis=1)]
        extent = (float(np.ptp(placed, axis=0).max()) if len(placed) else 0.0) or 1.0
        self._map = ExplainedMap(data, Y, replace(run, only=None, period=None), extent)
        self._fitted = fitted if run.only is None else None

    @one_thread()
    def why(self, row: int, max_reasons: int = 8) -> Why:
        """Explain the place of the item of a global row; see `why`."""
        explanation = self._explain(self._place_of(row), max_reasons)
        pinned = pin_note(self._map.data, self._map.run.params, self._place_of(row))
        return replace(explanation, note=f"{pinned} {explanation.note}".strip())

    def _explain(self, at: int, max_reasons: int) -> Why:
        placed = self._map
        if placed.method.has_attraction_graph():
            near, near_at, note = placed, at, ""
            if placed.data.n_rows > MAX_ROWS:
                rows = surrounding_rows(placed, at)
                near = replace(placed, data=select_rows(placed.data, rows), Y=placed.Y[rows])
                near_at = int(np.searchsorted(rows, at))
                note = f"Only the {len(rows):,} items around it were counted."
            pulls = self._whole_pulls if near is placed else _pulls_of(near, 0.0)
            if pulls is not None:
                return explain_by_graph(near, near_at, pulls, max_reasons, note)
        if Capability.OUT_OF_SAMPLE in placed.method.card.capabilities:
            return explain_by_leaving_out(placed, self._fit(), at, max_reasons)
        return explain_by_comparisons(placed, at, max_reasons)

    def explain_from_positions(self, row: int, max_reasons: int = 8) -> Why:
        """Explain the place of the item of a global row from coordinates alone; see `why`."""
        return explain_from_positions(self._map, self._place_of(row), max_reasons)

    def _place_of(self, row: int) -> int:
        """Return the row of an item on the map."""
        at = int(np.searchsorted(self._rows, row))
        took_part = at < len(self._rows) and self._rows[at] == row
        if not took_part or not np.isfinite(self._map.Y[at]).all():
            raise NotApplicableError(self._map.title, ["This item has no place on the map."])
        return at

    @cached_property
    def _whole_pulls(self) -> AttractionGraph | None:
        return _pulls_of(self._map, self._map.run.hold_out)

    def _fit(self) -> FittedRun:
        if self._fitted is None:
            with warnings.catch_warnings():
                # These warnings were shown when the map was made.
                warnings.simplefilter("ignore")
                self._fitted = fit_again(self._map.data, self._map.run)
        return self._fitted


def _pulls_of(placed: ExplainedMap, hold_out: float) -> AttractionGraph | None:
    """Return the graph of a method, None if it has none."""
    run, kinds = placed.run, set(map(kind_key, placed.data.links))
    weights = {key: factor for key, factor in run.weights.items() if key in kinds}
    scope = scope_of(placed.data, weights, None, hold_out, run.seed)
    return placed.unfitted_method(scope).attraction_graph(scope.seen)
