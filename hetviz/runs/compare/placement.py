"""How well a method places items it never saw: by their features alone, judged by their links."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetviz._types import Bools
from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.guidance import guidance_curve
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.progress import Progress
from hetviz.runs.compare.measures import LOOK_AT
from hetviz.runs.embed.run import fit_run


def placing_scores(
    data: HeteroData,
    method: str,
    params: Mapping[str, object],
    seed: int,
    share: float,
    progress: Progress,
) -> dict[str, float]:
    """Fit a method without some items, place these afterwards, and see which links they keep.

    Parameters
    ----------
    data : HeteroData
    method : str
    params : mapping
    seed : int
        Of the method and of which items leave.
    share : float
        Of the items of each dataset with features; an item leaves in all its views.
    progress : callable

    Returns
    -------
    dict
        ``links_kept_new_items``: share of the links of new items whose pair is among the closest
        5 % of all pairs. Empty for methods that cannot place new items, and where no new item has
        links.

    Notes
    -----
    The links of the new items are shown to nobody: neither to the fit nor to the placing.
    """
    if Capability.OUT_OF_SAMPLE not in get_method(method).card.capabilities:
        return {}
    names = _one_of_each_entity(data)
    if not names:
        return {}
    train, held_out = data.holdout(
        links=0.0, objects=dict.fromkeys(names, share), random_state=seed
    )
    if not any((group.weight > 0).any() for group in held_out.links):
        return {}
    fitted = fit_run(train, method, params, seed, progress)
    bare = HeteroData(list(held_out.datasets.values()))
    known = fitted.model.embedding_
    everything = known.joined(fitted.model.transform(bare))
    where = Embedding(
        coordinates_of(data, everything),
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
    )
    new = ~_rows_of(data, train)
    links = [
        group.take(mask)
        for group in data.links
        if (
            mask := (group.weight > 0)
            & (
                new[data.offsets[group.source].start + group.i]
                | new[data.offsets[group.target].start + group.j]
            )
        ).any()
    ]
    x, y = guidance_curve(where, links)
    return {"links_kept_new_items": float(np.interp(LOOK_AT, x, y))}


def _one_of_each_entity(data: HeteroData) -> list[str]:
    """Return a dataset with features of each entity; the views of it lose the same objects."""
    found: dict[str, str] = {}
    for name, dataset in data.datasets.items():
        if not dataset.is_featureless and len(dataset) > 1:
            found.setdefault(dataset.entity, name)
    return list(found.values())


def _rows_of(data: HeteroData, part: HeteroData) -> Bools:
    """Return which rows of `data` are in `part`."""
    found = [
        np.isin(dataset.ids.astype(str), part[name].ids.astype(str))
        if name in part.datasets
        else np.zeros(len(dataset), dtype=bool)
        for name, dataset in data.datasets.items()
    ]
    return np.concatenate(found)
