"""Reasons for the place of an item by methods that place new items: what moves it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._text import round_percent
from hetviz._types import Bools, Floats, is_sparse
from hetviz.algorithms.contract import Capability
from hetviz.core.layout.attraction import LINK
from hetviz.data import Dataset, HeteroData
from hetviz.data.queries.rows import TouchingLinks, links_touching
from hetviz.errors import NotApplicableError
from hetviz.runs.embed.run import FittedRun
from hetviz.runs.embed.scope import Scope
from hetviz.runs.place.reasons import (
    FEATURE,
    ExplainedMap,
    Reason,
    Why,
    column_means,
    dataset_at,
    dense_row,
    feature_groups,
    item_of,
    link_sort,
)

_MAX_REFIT_ROWS = 3_000
"""Up to this number of rows, a closed-form method is refitted without the links of the item."""
_MAX_FEATURES = 200
_MAX_LINKS = 50


def explain_by_leaving_out(
    placed: ExplainedMap, fitted: FittedRun, row: int, max_reasons: int
) -> Why:
    """Explain the place of an item by how far it moves without one feature or link."""
    seen = fitted.scope.seen
    dataset, at = dataset_at(seen, row)
    links = links_touching(seen, [row])
    trials: list[Reason] = []
    rows: list[Floats] = []
    x = None if dataset.X is None else dense_row(dataset.X, at)
    if x is not None and dataset.X is not None:
        mean = column_means(dataset.X)
        groups = feature_groups(dataset)
        deviation = [float(np.linalg.norm((x - mean)[columns])) for _, columns in groups]
        for k in np.argsort(-np.array(deviation), kind="stable")[:_MAX_FEATURES]:
            label, columns = groups[k]
            changed = x.copy()
            changed[columns] = mean[columns]
            trials.append(Reason(FEATURE, dataset.name, label, label, 0.0))
            rows.append(changed)
    link_trials = range(min(len(links), _MAX_LINKS))
    for k in link_trials:
        trials.append(Reason(link_sort(seen, links, k), *item_of(seen, int(links.outer[k])), 0.0))
        if x is not None:
            rows.append(x)
    Y = _places_as_new(fitted, row, x, rows, links, len(trials) - len(link_trials))
    moved = np.linalg.norm(Y[1:] - Y[0], axis=1) / placed.extent
    # Moves at rounding error count as none.
    moved = np.where(np.isfinite(moved) & (moved > 1e-9), moved, 0.0)
    total = float(moved.sum())
    how = (
        "Shares of how far it would move if placed again, with one feature at its mean or "
        "without one link."
    )
    reasons = [
        replace(reason, share=float(move) / total, moves=float(move))
        for reason, move in zip(trials, moved, strict=True)
        if total > 0 and move > 0
    ]
    reasons.sort(key=lambda reason: -reason.share)
    parts: dict[str, float] = {}
    for reason in reasons:
        parts[reason.kind] = parts.get(reason.kind, 0.0) + reason.share
    notes = []
    gap = float(np.linalg.norm(Y[0] - placed.Y[row])) / placed.extent
    if not reasons:
        notes.append("Leaving out a single feature or link does not move it.")
    elif gap > 0.1:
        notes.append(
            f"Placed by these alone, it would be {round_percent(gap)} of the map's width away. "
            "The other items hold it in place."
        )
    without_links = _without_links(placed, fitted.scope, row, len(links)) if len(links) else None
    would_move = [*reasons, *([without_links] if without_links else [])]
    would_move.sort(key=lambda reason: -reason.moves)
    return Why(
        *item_of(seen, row),
        placed.title,
        how,
        parts,
        tuple(reason for reason in reasons if reason.kind != FEATURE)[:max_reasons],
        tuple(reason for reason in reasons if reason.kind == FEATURE)[:max_reasons],
        would_move=tuple(would_move[:max_reasons]),
        note=" ".join(notes),
    )


def _places_as_new(
    fitted: FittedRun,
    row: int,
    x: Floats | None,
    rows: Sequence[Floats],
    links: TouchingLinks,
    n_features: int,
) -> Floats:
    """Return the places of the item as a new one, unchanged and for each trial."""
    seen = fitted.scope.seen
    dataset, at = dataset_at(seen, row)
    name = dataset.name
    n_link_trials = min(len(links), _MAX_LINKS)
    count = 1 + n_features + n_link_trials
    ids = [f"~{k}~{dataset.ids[at]}" for k in range(count)]
    matrices: dict[str, Any] = {}
    if x is not None and dataset.X is not None:
        X = np.vstack([x, *rows]) if rows else x[None]
        matrices["X"] = sp.csr_array(X) if is_sparse(dataset.X) else X
        matrices["feature_names"] = dataset.feature_names
    for matrix in ("kernel", "distance"):
        if (M := getattr(dataset, matrix)) is not None:
            matrices[matrix] = np.repeat(np.asarray(M[[at]]), count, axis=0)
    new = Dataset(name, ids, entity=dataset.entity, **matrices)
    new_links = [
        (name, ids[trial], *item_of(seen, int(links.outer[k]))[:2], float(links.weight[k]))
        for trial in range(count)
        for k in range(len(links))
        if trial != 1 + n_features + k
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        placed = fitted.model.transform(new, new_links)
    return np.asarray(placed.coordinates[name])


def _without_links(placed: ExplainedMap, scope: Scope, row: int, count: int) -> Reason | None:
    """Return the move of the item without all its links; closed-form methods only."""
    seen = scope.seen
    if Capability.ITERATIVE in placed.method.card.capabilities or seen.n_rows > _MAX_REFIT_ROWS:
        return None
    other_links = []
    for group in seen.links:
        p = group.i + seen.offsets[group.source].start
        q = group.j + seen.offsets[group.target].start
        other_links.append(group.take(np.flatnonzero((p != row) & (q != row))))
    without = HeteroData(
        list(seen.datasets.values()),
        [group for group in other_links if len(group)],
        seen.comparisons,
        seen.labels,
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = placed.unfitted_method(scope).fit(without)
    except NotApplicableError:
        return None
    Y, Z = placed.Y, model.embedding_.stacked()
    both: Bools = np.asarray(np.isfinite(Y).all(axis=1) & np.isfinite(Z).all(axis=1))
    if not both[row] or both.sum() < 3:
        return None
    centre, other = Y[both].mean(axis=0), Z[both].mean(axis=0)
    U, _, V = np.linalg.svd((Z[both] - other).T @ (Y[both] - centre))
    moved = float(np.linalg.norm((Z[row] - other) @ (U @ V) + centre - Y[row])) / placed.extent
    title = "its link" if count == 1 else f"its {count:,} links together"
    dataset, id, _ = item_of(seen, row)
    return Reason(LINK, dataset, id, title, float("nan"), moved)
