"""Spread of the position of each item over refits with resampled links."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from hetviz._types import Bools, Rng
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.layout.spread import mean_distances, random_distance
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.heterodata import with_statements
from hetviz.errors import Cancelled, ConvergenceWarning, DataWarning, NotApplicableError
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.metrics.trust.spread import Spread
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.embed.run import Run
from hetviz.runs.embed.scope import scope_of
from hetviz.runs.place.why import run_of_map

_N_FULL_FITS = 3
_NOISE = 0.3
"""Standard deviation of the start around the map, relative to that of the map."""


@one_thread()
def spread(
    data: HeteroData,
    embedding: Embedding,
    *,
    run: Run | None = None,
    method: str | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    **params: Any,
) -> Spread:
    """Return how much the position of each item varies over refits with resampled links.

    Parameters
    ----------
    data : HeteroData
        The data of the map.
    embedding : Embedding
    run : Run, optional
        Record of how the map was made. Embeddings of `hetviz.embed` know it.
    method : str, optional
        Key of the method, where there is no run; with the parameters that differ from the
        defaults.
    random_state : int
        Seed of the resampling and of the starts.
    progress : callable, optional
        See `hetviz.progress.Progress`.
    **params
        Parameters of the method.

    Returns
    -------
    Spread

    Raises
    ------
    hetviz.errors.ParameterError
        If it is unknown how the map was made.
    hetviz.errors.NotApplicableError
        If all refits would be equal.

    Notes
    -----
    Each refit draws as many links as there are, with replacement, so that it sees about 63 % of
    them. Links that a person gave are always used. Neighbour maps make eight short refits,
    graph-axes six, each from the positions of the map with noise of 30 % of their standard
    deviation, which takes two to three times as long as the fit of the map. Joint maps choose
    neighbours in the refits among those of the map. Other methods are fitted three times with other
    seeds. Each refit is aligned to the map by rotation, reflection, scale and shift, for the four
    fifths of the items with the best fit. A small spread says that the position follows from the
    data, not that it is right.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> hetviz.spread(data, hetviz.embed(data, "mr-sne")).n_refits
    8
    """
    report = ignore_progress if progress is None else progress
    record = run_of_map(data, embedding, run, method, params)
    scope = scope_of(data, record.weights, record.only, record.hold_out, record.seed, record.period)
    seen = scope.seen
    kind = get_method(record.method)
    settings = scope.params(record.params)
    if "random_state" in kind.params:
        settings["random_state"] = record.seed
    if "tie" in settings:
        # It would hold items at their noisy start.
        settings["tie"] = 0.0
    # A neighbour map of more axes is drawn, so short refits cannot start from its picture.
    fast = kind.n_short_refits > 0 and embedding.n_components <= 2
    is_table_link = _table_links(seen)
    resampled = bool(is_table_link.any())
    if not resampled and not fast and Capability.ITERATIVE not in kind.card.capabilities:
        reason = "There are no links to resample and no random start, so all refits are equal."
        raise NotApplicableError(kind.card.title, [reason])
    n_refits = kind.n_short_refits if fast else _N_FULL_FITS
    Y = np.vstack(list(coordinates_of(seen, embedding.planar()).values()))
    model = kind(**settings)
    refits = np.empty((n_refits, *Y.shape))
    with warnings.catch_warnings():
        # The fit of the map has shown these warnings.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        if fast:
            report(0.0, "Preparing refits")
            model.prepare_refits(seen)
        for number in range(n_refits):
            rng = np.random.default_rng([random_state, number])
            refit_data = with_statements(seen, _resample(is_table_link, rng))
            start = _start(seen, embedding, kind.card.title, rng) if fast else None
            if not fast and "random_state" in kind.params:
                model = kind(**settings | {"random_state": record.seed + 1 + number})
            part = ProgressPart(report, number / n_refits, (number + 1) / n_refits)
            refit = _fit(model, refit_data, start, part, f"Refit {number + 1} of {n_refits}")
            refits[number] = np.vstack(list(coordinates_of(seen, refit.planar()).values()))
    rows = slice(None) if scope.rows is None else scope.rows
    all_shares, all_errors = np.full((2, data.n_rows), np.nan)
    all_counts = np.zeros(data.n_rows, dtype=np.int64)
    all_shares[rows], all_errors[rows], all_counts[rows] = mean_distances(refits, Y)
    report(1.0, "Done")
    return Spread(
        all_shares,
        all_errors,
        all_counts,
        n_refits,
        random_distance(Y, np.random.default_rng(random_state)),
        resampled,
        {name: dataset.ids for name, dataset in data.datasets.items()},
    )


def _table_links(data: HeteroData) -> Bools:
    """Return which statements are links of the tables: links in order, then comparisons."""
    n_compared = 0 if data.comparisons is None else len(data.comparisons)
    parts = [np.full(len(links), links.kind not in USER_LINK_KINDS) for links in data.links]
    return np.concatenate([*parts, np.zeros(n_compared, dtype=bool)])


def _resample(is_table_link: Bools, rng: Rng) -> Bools:
    """Return the statements of a refit: links of the tables drawn with replacement, all others."""
    rows = np.flatnonzero(is_table_link)
    mask = ~is_table_link
    if len(rows):
        mask[rng.choice(rows, len(rows))] = True
    return mask


def _start(data: HeteroData, embedding: Embedding, title: str, rng: Rng) -> Embedding:
    """Return the map with noise, as a map by the method `title`."""
    places = coordinates_of(data, embedding)
    sizes = np.nanstd(np.vstack(list(places.values())), axis=0)
    noise = _NOISE * float(np.sqrt(np.mean(sizes**2)))
    return Embedding(
        {name: Y + noise * rng.standard_normal(Y.shape) for name, Y in places.items()},
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
        note=title,
    )


def _fit(
    model: BaseEmbedder, data: HeteroData, start: Embedding | None, progress: Progress, title: str
) -> Embedding:
    def report(fraction: float, message: str = "", **figures: object) -> None:
        progress(fraction, title)

    try:
        return model.fit(data, report, start).embedding_
    except Cancelled as stopped:
        # The layout of a refit is of no use.
        stopped.partial = None
        raise
