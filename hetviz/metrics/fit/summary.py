"""Every measure that applies to a map, in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.frozen import Frozen
from hetviz.metrics.fit.clustering import group_measures, spread_ratio
from hetviz.metrics.fit.guidance import BlockScore, pooled
from hetviz.metrics.fit.measured import Measured, Values
from hetviz.metrics.fit.neighborhood import neighborhoods
from hetviz.metrics.fit.ranking import (
    label_neighbors,
    linked_nearby,
    reconstruction,
    tag_prediction,
)

_COLUMNS = [
    "source",
    "target",
    "sign",
    "n_links",
    "n_unplaced",
    "area",
    "auc",
    "standard_error",
]
_OF_LINKS = (
    ("guidance_area", "area", 1),
    ("negative_guidance_area", "area", -1),
    ("link_auc", "auc", 1),
)


@dataclass(frozen=True, eq=False)
class Scores(Frozen):
    """Measures of one map.

    Attributes
    ----------
    values : mapping of str to float
        Only what applies; see `evaluate`.
    standard_errors : mapping of str to float
        Of the values that were sampled.
    blocks : DataFrame
        One row per pair of datasets and sign: source, target, sign, held_out, n_links,
        n_unplaced, area, auc, standard_error.
    """

    values: Mapping[str, float]
    standard_errors: Mapping[str, float]
    blocks: pd.DataFrame

    def to_dict(self) -> dict[str, float]:
        """Return the values by name; what does not apply is absent."""
        return dict(self.values)


@one_thread()
def evaluate(
    data: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None = None,
    random_state: int = 0,
) -> Scores:
    """Measure a map against what is known.

    Parameters
    ----------
    data : HeteroData
        What the map was made from.
    embedding : Embedding
        Rows are matched by dataset and id.
    held_out : HeteroData, optional
        What the map was not shown: `HeteroData.holdout`.
    random_state : int
        Seeds what is sampled.

    Returns
    -------
    Scores
        With, where they apply:

        guidance_area
            Area under the satisfaction curve of links that say together: 1 is best, 0.5 chance;
            the mean over blocks of datasets, weighted by links.
        negative_guidance_area
            The same for links that say apart.
        link_auc
            Chance that a linked pair lies closer than a pair that is not linked.
        comparison_accuracy
            Share of comparisons that the map agrees with, ties half.
        ndcg, ndcg_guess
            Whether an item's nearest tags are its own, from 0 to 1; the guess always names the
            tags most often given.
        rand_index, rand_index_pairs, nmi
            Groups of the map (k-means, as many as the first label has classes, else 10) against
            links, against all pairs of linked datasets, and against the classes.
        graph_auc
            Chance that a linked item of another dataset ranks before one not linked, among all
            other items, see `hetviz.metrics.fit.ranking.roc_curve`.
        metric_1@k, metric_2@k
            Share of items with a linked one among their k nearest of another dataset, and how many
            are there on average; k = 1, 5, 10, 20, 50.
        variance_ratio
            How much wider one dataset lies than another.
        trustworthiness, continuity
            Of the 10 nearest neighbours, mean over datasets with features, weighted by rows.
        label_knn_accuracy
            Share of labelled items whose 5 nearest labelled items mostly have their label.

        The first four, ndcg, ndcg_guess and rand_index also with the ending ``_held_out``.

    Notes
    -----
    Exact to 20,000,000 pairs per block, 20,000 items asked for tags and linked ones, and 2,500
    rows for graph_auc and neighbourhoods; sampled above with a standard error. Memory stays
    bounded: no n x n matrix.
    """
    return scores_of(Measured(data, embedding, held_out, random_state))


def scores_of(measured: Measured) -> Scores:
    """Return all that applies, as `evaluate`, of a map that other measures are taken of too."""
    found: Values = {}
    for measure in _MEASURES:
        found |= measure(measured)
    given, held = measured.blocks
    tables = [_table(given, False)]
    if measured.held_out is not None:
        tables.append(_table(held, True))
    return Scores(
        MappingProxyType({name: value for name, (value, _) in found.items()}),
        MappingProxyType({name: error for name, (_, error) in found.items() if error > 0}),
        pd.concat(tables, ignore_index=True),
    )


def links_kept(measured: Measured) -> Values:
    """Return guidance_area, negative_guidance_area and link_auc."""
    found: Values = {}
    for blocks, ending in zip(measured.blocks, ("", "_held_out"), strict=True):
        for name, measure, sign in _OF_LINKS:
            value = pooled(blocks, measure, sign)
            if value is not None:
                error = max(block.standard_error for block in blocks if block.sign == sign)
                found[name + ending] = (value, error)
    return found


def comparisons_kept(measured: Measured) -> Values:
    """Return comparison_accuracy."""
    found: Values = {}
    parts = (
        (measured.data, measured.places, ""),
        (measured.held_out, measured.places_held, "_held_out"),
    )
    for data, Y, ending in parts:
        if data is None or data.comparisons is None or not len(data.comparisons):
            continue
        share = comparison_accuracy(np.vstack(list(Y.values())), data.comparisons.objects)
        if np.isfinite(share):
            found["comparison_accuracy" + ending] = (float(share), 0.0)
    return found


def neighbors_kept(measured: Measured) -> Values:
    """Return trustworthiness and continuity."""
    data = measured.data
    kept = neighborhoods(data, measured.embedding, random_state=measured.random_state)
    found: Values = {}
    if kept:
        weights = np.array([len(data[name]) for name in kept], dtype=np.float64)
        weights /= weights.sum()
        for measure in ("trustworthiness", "continuity"):
            each = np.array([getattr(part, measure) for part in kept.values()])
            error = np.array([getattr(part, f"{measure}_error") for part in kept.values()])
            spread = float(np.sqrt(((weights * error) ** 2).sum()))
            found[measure] = (float(weights @ each), spread)
    return found


_MEASURES: tuple[Callable[[Measured], Values], ...] = (
    links_kept,
    comparisons_kept,
    tag_prediction,
    linked_nearby,
    reconstruction,
    neighbors_kept,
    spread_ratio,
    group_measures,
    label_neighbors,
)


def _table(blocks: list[BlockScore], held_out: bool) -> pd.DataFrame:
    rows = [[getattr(block, column) for column in _COLUMNS] for block in blocks]
    table = pd.DataFrame(rows, columns=_COLUMNS)
    table.insert(3, "held_out", held_out)
    return table
