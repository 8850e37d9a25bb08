"""Cost of pins: how far items are from their targets, and which links a move would break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.rows import TouchingLinks, links_touching
from hetviz.errors import ParameterError
from hetviz.features.spaces.pins import pins_on_map
from hetviz.metrics.fit.nearest import close_distances
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.params import PinList, PinSpec


@one_thread()
def price_pins(
    data: HeteroData, embedding: Embedding, pins: Sequence[Mapping[str, object]]
) -> pd.DataFrame:
    """Return how far the items of each pin are from their target, and what moving them breaks.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        A map made with or without these pins. Rows are matched by dataset and id.
    pins : list of mappings
        As the parameter ``pins`` of `hetviz.JointMap`: ``place`` and ``items``.

    Returns
    -------
    DataFrame
        One row per pin:

        place
            As given.
        items
            Number of its items on the map.
        distance
            Mean distance of the items from the target, as a share of the width of the map without
            pinned items. For a place it is the distance of the centre of the items. NaN without
            items.
        links
            Number of positive links of the items that are close, as for ``links_kept`` of
            `hetviz.evaluate`.
        broken
            How many of these would not be close if only the items of the pin moved to their target.
            A new map may break fewer, where linked items follow.

    Raises
    ------
    hetviz.errors.ParameterError
        If pins are malformed.

    Notes
    -----
    O(links) for each pin.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> embedding = hetviz.embed(data, "mr-sne")
    >>> pins = [{"place": "left", "items": {"emoji": ["1f355", "1f354"]}}]
    >>> [*hetviz.price_pins(data, embedding, pins).columns]
    ['place', 'items', 'distance', 'links', 'broken']
    """
    try:
        checked = PinList().check(pins) or []
    except ValueError:
        allowed = PinList().describe_allowed()
        raise ParameterError(f"price_pins: pins = {pins!r} must be {allowed}.") from None
    Y = np.vstack(list(coordinates_of(data, embedding).values()))
    joined = {(links.source, links.target) for links in data.links}
    return pin_prices(data, Y, checked, close_distances(data, embedding, pairs=joined))


def pin_prices(
    data: HeteroData, Y: Floats, pins: Sequence[PinSpec], limits: Floats
) -> pd.DataFrame:
    """Return `price_pins` of a map (n_rows, k) whose close distances are `limits`."""
    dataset_of = np.repeat(np.arange(len(data.datasets)), [*map(len, data.datasets.values())])
    touching: dict[bytes, TouchingLinks] = {}
    table = []
    pins_of_map, width = pins_on_map(data, Y, pins)
    for pin, (rows, offsets, places) in zip(pins, pins_of_map, strict=True):
        key = rows.tobytes()
        links = touching[key] = touching.get(key) or links_touching(data, rows)
        moved = Y.copy()
        moved[rows] = places
        limit = limits[dataset_of[links.inner], dataset_of[links.outer]]
        before, after = (
            (links.weight > 0) & (np.linalg.norm(Z[links.inner] - Z[links.outer], axis=1) <= limit)
            for Z in (Y, moved)
        )
        distance = float(np.linalg.norm(offsets, axis=1).mean() / width) if len(rows) else np.nan
        broken = int((before & ~after).sum())
        table.append((pin["place"], len(rows), distance, int(before.sum()), broken))
    return pd.DataFrame(table, columns=["place", "items", "distance", "links", "broken"])
