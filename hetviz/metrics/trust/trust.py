"""Reliability of each place on a map: false and missing neighbours, and broken guidance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.trust.cross_dataset import count_broken_statements, cross_dataset_errors
from hetviz.metrics.trust.neighborhoods import NEAR, Neighborhoods


@dataclass(frozen=True, eq=False, repr=False)
class Trust:
    """Errors of the map around each row, as arrays of shape (n_rows,).

    NaN if a value does not apply: rows without a place or not requested, datasets without features
    (`false_within`, `missing_within`), and rows without links of their own or of close rows
    (`false_across`, `missing_across`).

    `false_within` (array): How many of the k nearest rows of the same dataset on the map are not
        close in the data.
    `missing_within` (array): How many of the k nearest rows in the data are far on the map.
    `of_within` (array): k, or less if the dataset has fewer than 2 k other rows.
    `false_across` (array): How many of the nearest rows of other datasets on the map have no
        support: no link from the row or rows close to it in the data, and no link to rows close to
        the neighbour.
    `missing_across` (array): How many of the rows linked to the row, or to rows close to it in the
        data, are far on the map.
    `of_across` (array): Total of the two counts above: k, as shares are means over datasets.
    `violated` (array): How many statements about the row the map does not satisfy: positive links
        that are not close, negative links that are, and comparisons that do not hold.
    `said` (array): Number of statements about the row whose items all have places.
    `score` (array): From 0 (bad) to 1 (good): mean of the correct shares within the dataset,
        across datasets, and of the statements.
    `standard_error`: Close means among the nearest 5 % (at least k). This is the standard error of
        that share, 0 if all rows were used.
    """

    k: int
    false_within: Floats
    missing_within: Floats
    of_within: Floats
    false_across: Floats
    missing_across: Floats
    of_across: Floats
    violated: Floats
    said: Floats
    score: Floats
    standard_error: float
    _neighborhoods: Neighborhoods

    def near(self, row: int) -> Ints:
        """Return the k nearest rows of the same dataset on the map, as global rows."""
        return self._neighborhoods.nearest_in_own_dataset(row)


@one_thread()
def trust(
    data: HeteroData,
    embedding: Embedding,
    k: int = 10,
    random_state: int = 0,
    *,
    rows: Iterable[int] | None = None,
) -> Trust:
    """Return the errors of the map around each row.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Rows are matched by dataset and id. The axes of the embedding measure distances.
    k : int
        Number of neighbours.
    random_state : int
        Seed for sampling.
    rows : iterable of int, optional
        Global rows. All by default.

    Returns
    -------
    Trust

    Raises
    ------
    hetviz.errors.ParameterError
        If `k` is not a whole number from 1.

    Notes
    -----
    Close means among the nearest 5 % of a dataset, but at least k (and at most half). Uses all rows
    up to 16,000,000 pairs of a dataset, and a sample of 2,000 rows above, also for the k nearest.
    O(n c d) time for c rows used, in blocks of bounded memory. The counts of false and missing
    neighbours follow Venna and Kaski (2001) with a fixed threshold instead of ranks. Those across
    datasets are our own.
    """
    neighborhoods = Neighborhoods(data, embedding, k, random_state, rows)
    n_false, n_missing, of_within = neighborhoods.own_dataset_errors()
    false_across, missing_across = cross_dataset_errors(neighborhoods)
    is_query = np.zeros(data.n_rows, dtype=bool)
    for name, place in data.offsets.items():
        is_query[neighborhoods.query_rows[name] + place.start] = True
    n_broken, n_statements = count_broken_statements(data, embedding, is_query)
    of_across = np.where(np.isfinite(missing_across), float(k), np.nan)
    parts = [
        1.0 - (n_false + n_missing) / (2.0 * of_within),
        1.0 - np.where(np.isfinite(false_across), (false_across + missing_across) / 2, np.nan),
        1.0 - n_broken / np.where(n_statements > 0, n_statements, np.nan),
    ]
    is_known = np.isfinite(parts)
    total = np.where(is_known, parts, 0.0).sum(axis=0)
    score = np.divide(
        total, is_known.sum(axis=0), out=np.full(data.n_rows, np.nan), where=is_known.any(0)
    )
    return Trust(
        k,
        n_false,
        n_missing,
        of_within,
        k * false_across,
        k * missing_across,
        of_across,
        n_broken,
        n_statements,
        score,
        neighborhoods.standard_error,
        neighborhoods,
    )


__all__ = ["NEAR", "Trust", "trust"]
