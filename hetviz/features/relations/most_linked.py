"""Items that a set of items links to most, next to what all other items link to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from hetviz._text import join_words
from hetviz.data import HeteroData
from hetviz.data.queries.rows import linked_counts
from hetviz.errors import DataError, ParameterError
from hetviz.features.relations.user_links import USER_LINK_KINDS

_COLUMNS = (
    "dataset", "linked_dataset", "through", "id", "title", "n_links", "share", "share_elsewhere",
)  # fmt: skip


def most_linked(data: HeteroData, rows: Iterable[int], n: int = 4) -> pd.DataFrame:
    """Return what the links of some items lead to most, also through other datasets.

    Parameters
    ----------
    data : HeteroData
    rows : iterable of int
        Global rows, see ``data.position(dataset, id)``. Items of each dataset count on their own.
    n : int
        Largest number of items of each linked dataset.

    Returns
    -------
    DataFrame
        ``dataset`` of the items and ``linked_dataset``, ``through`` which datasets links lead
        there, ``id`` and ``title`` of a linked item, ``n_links``, how many chains of links lead
        to it, ``share`` of all chains from the items to that dataset, and ``share_elsewhere``,
        the same for all other items of `dataset` (NaN if those have none). The pair of datasets
        with the largest difference of both shares comes first, the item with most links first
        in it. Datasets in which no item has two links are left out.

    Raises
    ------
    hetviz.errors.DataError
        For a row that does not exist.
    hetviz.errors.ParameterError
        If `n` is below 1.

    Notes
    -----
    Positive links count, without those that a person gave. The datasets between are those of the
    shortest chain. O(links) for each dataset of the items.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> found = hetviz.most_linked(data, [data.position("emoji", id) for id in ("1f408", "1f415")])
    >>> found[["title", "n_links", "share"]].values.tolist()
    [['animals', 2, 0.5], ['pet', 2, 0.5]]
    """
    if n < 1:
        raise ParameterError(f"most_linked: n = {n} must be 1 or more.")
    try:
        chosen = np.fromiter(rows, np.int64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"most_linked: rows = {rows!r} must be row numbers. data.position(dataset, id) has "
            "that of an item."
        ) from None
    bad = chosen[(chosen < 0) | (chosen >= data.n_rows)]
    if len(bad):
        problem = f"rows are 0 to {data.n_rows - 1:,}"
        raise DataError.of("unknown-row", "most_linked", problem, str(bad[0]))
    member = np.zeros(data.n_rows, dtype=bool)
    member[chosen] = True
    tables: list[tuple[float, pd.DataFrame]] = []
    for name, span in data.offsets.items():
        if not member[span].any():
            continue
        for linked in linked_counts(data, name, member[span], USER_LINK_KINDS):
            # Where each item has one link, none is linked most.
            if linked.counts.max(initial=0.0) < 2:
                continue
            *between, other = linked.path[1:]
            top = np.argsort(-linked.counts, kind="stable")[:n]
            top = top[linked.counts[top] > 0]
            share, total = linked.counts[top] / linked.counts.sum(), linked.others.sum()
            elsewhere = linked.others[top] / total if total else np.full(len(top), np.nan)
            values = (
                name,
                other,
                join_words(between),
                data[other].ids[top],
                data[other].display_names[top],
                linked.counts[top].astype(np.int64),
                share,
                elsewhere,
            )
            gap = np.nan_to_num(share - elsewhere).max()
            tables.append((float(gap), pd.DataFrame(dict(zip(_COLUMNS, values, strict=True)))))
    tables.sort(key=lambda table: -table[0])
    frames = [frame for _, frame in tables]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_COLUMNS)
