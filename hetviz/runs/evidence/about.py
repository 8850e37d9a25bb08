"""Public function for the evidence behind what a map states."""

from __future__ import annotations

import numpy as np

from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.errors import DataError, ParameterError, Problem
from hetviz.metrics.fit.measured_map import MeasuredMap
from hetviz.metrics.fit.nearest import nearest
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.metrics.measure_names import (
    HELD_OUT,
    HIDDEN_MEASURES,
    MEASURES_WITH_ROWS,
    rows_of_measure,
)
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.regions import find_regions
from hetviz.runs.evidence.evidence import Evidence, same_dataset
from hetviz.runs.evidence.groups import name_evidence
from hetviz.runs.evidence.guidance import comparison_evidence, link_evidence
from hetviz.runs.evidence.measures import measure_evidence
from hetviz.runs.evidence.neighbors import (
    item_link_evidence,
    item_trust_evidence,
    label_neighbor_evidence,
    nearest_evidence,
    trust_evidence,
    unlinked_evidence,
    unplaced_evidence,
)

ABOUT = (
    "links",
    "apart",
    "comparisons",
    "region",
    "item-links",
    "nearest",
    "reliability",
    "neighbours",
    "labels",
    "unplaced",
    "unlinked",
)
"""What evidence can be about."""


@one_thread()
def evidence(
    data: HeteroData,
    m: Embedding,
    about: str = "links",
    *,
    held_out: HeteroData | None = None,
    region: str | None = None,
    item: tuple[str, str] | None = None,
    dataset: str | None = None,
) -> Evidence:
    """Return the rows, the rule, the sample and the chance level behind a statement about a map.

    Parameters
    ----------
    data : HeteroData
    m : Embedding
        Rows are matched by dataset and id.
    about : str
        ``"links"``
            The share of links that are close: every link, the closest first.
        ``"apart"``
            The share of negative links that are not close.
        ``"comparisons"``
            The share of comparisons that the map agrees with.
        ``"region"``
            The name of a region: its members, those that the name is true of first.
        ``"item-links"``
            The links of an item with one dataset, the nearest first.
        ``"nearest"``
            The nearest items of one dataset to an item.
        ``"reliability"``
            The neighbours of an item on the map and in the data, with both ranks.
        ``"neighbours"``
            The false and missing neighbours of every item.
        ``"labels"``
            The labelled items, and whether their neighbours have the same label.
        ``"unplaced"``, ``"unlinked"``
            The items without a position, and those without links.
        a measure of `evaluate`
            ``"rand_index"``, ``"rand_index_pairs"``, ``"nmi"``, ``"graph_auc"``, ``"metric_1@10"``
            and the like, ``"ndcg"``, ``"ndcg_guess"``, ``"variance_ratio"`` or
            ``"label_across_accuracy"``: its links, groups, items or datasets.
    held_out : HeteroData, optional
        Hidden links and comparisons. "links", "apart", "comparisons", "ndcg", "ndcg_guess" and
        "rand_index" are then about these.
    region : str, optional
        Name of a region of `regions`, for "region".
    item : (str, str), optional
        Dataset and id, for "item-links", "nearest" and "reliability".
    dataset : str, optional
        Dataset of the other items, for "item-links" and "nearest"; by default the first with such
        items.

    Returns
    -------
    Evidence

    Raises
    ------
    hetviz.errors.ParameterError
        If `about` is unknown, or `region` or `item` is missing.
    hetviz.errors.DataError
        If the region, the item or the dataset does not exist.

    Notes
    -----
    Costs what the measure itself costs, see `evaluate`, `trust` and `regions`.

    Examples
    --------
    >>> import hetviz
    >>> emoji = hetviz.load("emoji")
    >>> m = hetviz.embed(emoji, "pca")
    >>> found = hetviz.evidence(emoji, m, "links")
    >>> found.statement, len(found.table)  # doctest: +SKIP
    ('43 % of the links are close.', 4130)
    """
    is_measure = rows_of_measure(about) == about and about not in ABOUT
    if about not in ABOUT and not is_measure:
        names = ", ".join((*ABOUT, *MEASURES_WITH_ROWS))
        raise ParameterError(f"evidence: about = {about!r} must be one of {names}.")
    is_hidden = held_out is not None
    if is_measure:
        key = about + HELD_OUT if is_hidden and about in HIDDEN_MEASURES else about
        return measure_evidence(MeasuredMap(data, m, held_out), key)
    if about in ("links", "apart"):
        sign = 1 if about == "links" else -1
        if held_out is None:
            return link_evidence(data, m, sign=sign)
        return link_evidence(held_out, m, others=data, sign=sign, is_hidden=True)
    if about == "comparisons":
        return comparison_evidence(data if held_out is None else held_out, m, is_hidden=is_hidden)
    if about == "region":
        return _region_evidence(data, m, region)
    if about == "neighbours":
        return trust_evidence(data, m)
    if about == "labels":
        return label_neighbor_evidence(data, m)
    if about == "unplaced":
        return unplaced_evidence(data, m)
    if about == "unlinked":
        return unlinked_evidence(data)
    row = _row_of(data, item, about)
    if about == "reliability":
        return item_trust_evidence(data, m, row)
    if dataset is not None and dataset not in data.datasets:
        raise DataError(Problem("unknown-dataset", "evidence", "does not exist", dataset))
    items = nearest(data, m, row)
    own = same_dataset(data, row)[0]
    if about == "nearest":
        return nearest_evidence(data, m, row, dataset or own)
    linked = [name for name, found in items.items() if len(found.ends)]
    chosen = dataset or next(iter(linked), own)
    if chosen not in items:
        raise DataError(Problem("no-place", "evidence", "has no position on the map", str(item)))
    return item_link_evidence(data, row, chosen, items[chosen])


def _region_evidence(data: HeteroData, m: Embedding, region: str | None) -> Evidence:
    Y = np.vstack([places[:, :2] for places in coordinates_of(data, m).values()])
    levels = find_regions(Contrasts(data), Y)
    names = [name for level in levels for name in level.names if name]
    if region is None:
        raise ParameterError("evidence: about = 'region' needs the name of a region.")
    for level in levels:
        for code, name in enumerate(level.details):
            if name.text == region:
                return name_evidence(data, name, np.flatnonzero(level.codes == code))
    raise DataError(
        Problem(
            "unknown-region",
            "evidence",
            "is no region of this map",
            region,
            remedy=f"Choose one of {', '.join(names)}." if names else "The map has none.",
        )
    )


def _row_of(data: HeteroData, item: tuple[str, str] | None, about: str) -> int:
    if item is None:
        raise ParameterError(f"evidence: about = {about!r} needs item = (dataset, id).")
    dataset, id = item
    if dataset not in data.datasets:
        raise DataError(Problem("unknown-dataset", "evidence", "does not exist", dataset))
    at = np.flatnonzero(data[dataset].ids == id)
    if not len(at):
        raise DataError(Problem("unknown-id", f"evidence, {dataset}", "is no id", id))
    return int(data.offsets[dataset].start + at[0])
