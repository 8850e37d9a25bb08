"""Where a map may be trusted: what each item's surroundings get right and wrong."""

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
    """What the surroundings of each row get right and wrong; arrays of shape (n_rows,).

    NaN where something does not apply: a row without a place, or not asked for; a dataset without
    features (`false_within`, `missing_within`); a row from which no link leads on, nor from what
    is near it in the data (`false_across`, `missing_across`).

    Attributes
    ----------
    k : int
    false_within : array
        How many of the row's k nearest in its dataset on the map are not near in the data.
    missing_within : array
        How many of its k nearest in the data are far on the map.
    of_within : array
        k, or fewer where the dataset has no 2 k other rows.
    false_across : array
        How many of its nearest of another dataset on the map nothing speaks for: neither a link
        from the row or something near it in the data, nor one to something near the neighbour.
    missing_across : array
        How many of what links lead to, from the row or what is near it in the data, are far on the
        map.
    of_across : array
        What the two are counts of: k, where their shares are means over datasets.
    violated : array
        How many statements about the row the map breaks: links that say together and are not among
        the nearest 5 % of all pairs of the two datasets, links that say apart and are, and
        comparisons whose near pair is not the nearer one.
    said : array
        How many statements about the row there are whose items all have places.
    score : array
        From 0 (bad) to 1 (good): the mean of the shares that are right within the dataset, across
        datasets, and of what was said.
    standard_error : float
        Near means among the nearest 5 % (at least k); this is the standard error of that share, 0
        where all rows were looked at.
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
        """Return the k rows of its own dataset nearest to a row on the map, as global rows."""
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
    """Say of each row what the map gets right and wrong around it.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Rows are matched by dataset and id; its own axes measure nearness.
    k : int
        How many neighbours are looked at.
    random_state : int
        Seeds what is sampled.
    rows : iterable of int, optional
        Global rows to ask for; all when absent.

    Returns
    -------
    Trust

    Raises
    ------
    hetviz.errors.ParameterError
        If `k` is not a whole number from 1.

    Notes
    -----
    Near is among the nearest 5 % of a dataset, but at least k (and at most half). Up to 16,000,000
    pairs of a dataset all rows are looked at; above that a sample of 2,000 of them stands for all,
    the k nearest included. O(n c d) time for c rows looked at, in blocks of bounded memory. The
    counts of false and missing neighbours follow Venna and Kaski (2001) with a fixed threshold in
    place of ranks; those across datasets are our own.
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
