"""Whom links reach: items in no link, and items that hold very many of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hetviz._text import round_percent
from hetviz._types import Bools
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.data.model.views import identity_links
from hetviz.errors import DataError, Problem

_MAX_HUBS = 3
_MIN_HUB_SHARE = 0.2
_MIN_HUB_RATIO = 1.5
_MIN_HUB_LINKS = 20


@dataclass(frozen=True)
class Hub:
    """An item with many links.

    Attributes
    ----------
    dataset, id, title : str
    links : int
    share : float
        Of the weight of all links, 0 to 1.
    """

    dataset: str
    id: str
    title: str
    links: int
    share: float


@dataclass(frozen=True)
class LinkWarning:
    """Something amiss with links.

    Attributes
    ----------
    kind : {"unlinked", "crowded"}
        Many items of a dataset are in no link, or one item is in very many.
    words : str
        What, and what to do.
    dataset : str
    id : str
        Of the item that is in very many; empty otherwise.
    """

    kind: Literal["unlinked", "crowded"]
    words: str
    dataset: str
    id: str = ""


@dataclass(frozen=True)
class Reach:
    """How far links reach.

    Attributes
    ----------
    linked, items : mapping of str to int
        By dataset: items with a link, and all.
    hubs : tuple of Hub
        The three items with the most links, the first first.
    n_links : int
    featureless : frozenset of str
        Datasets whose items have nothing but links.
    """

    linked: dict[str, int]
    items: dict[str, int]
    hubs: tuple[Hub, ...]
    n_links: int

    featureless: frozenset[str] = frozenset()

    def free(self, name: str) -> int:
        """Return how many items of a dataset are in no link."""
        return self.items[name] - self.linked[name]

    @property
    def lonely(self) -> tuple[LinkWarning, ...]:
        """Which datasets have many items in no link, and what to do."""
        found = []
        for name, n in self.items.items():
            free = self.free(name)
            if free and free >= n / 5:
                hold = "nothing places" if name in self.featureless else "only features place"
                words = (
                    f"{free:,} of {n:,} {name} are in no link: {hold} them. Link them in another "
                    "way too, or leave them out."
                )
                found.append(LinkWarning("unlinked", words, name))
        return tuple(found)

    @property
    def crowded(self) -> tuple[LinkWarning, ...]:
        """Which item holds very many of the links, and what to do."""
        if not self.hubs:
            return ()
        hub = self.hubs[0]
        # Of few items each holds a good part anyway.
        fair = _MIN_HUB_RATIO / max(1, self.linked[hub.dataset])
        if hub.links < _MIN_HUB_LINKS or hub.share < max(_MIN_HUB_SHARE, fair):
            return ()
        words = (
            f"{hub.title} ({hub.dataset}) alone holds {hub.links:,} of {self.n_links:,} links, "
            f"{round_percent(hub.share)} of their weight, and draws all it is linked with to one spot. "
            "Weigh these links less when you make the map, or leave those of it out."
        )
        return (LinkWarning("crowded", words, hub.dataset, hub.id),)

    @property
    def cautions(self) -> tuple[LinkWarning, ...]:
        """What is amiss, of what, and what to do."""
        return self.lonely + self.crowded

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is amiss, each with what to do, in words alone."""
        return tuple(caution.words for caution in self.cautions)


def drop_unlinked(data: HeteroData, name: str) -> HeteroData:
    """Return data without those items of a dataset that no link reaches.

    Raises
    ------
    hetviz.errors.DataError
        If links reach all of it, or none.
    """
    rows = linked_rows(data)[data.offsets[data[name].name]]
    if rows.all() or not rows.any():
        what = "links reach all of it" if rows.all() else "no link reaches any of it"
        raise DataError(Problem("nothing-to-leave", f"dataset {name!r}", what))
    return data.edit().subset({name: rows})


def linked_rows(data: HeteroData, links: Iterable[Links] | None = None) -> Bools:
    """Return which rows are in a link, shape (n_rows,); of all links unless given, and by views."""
    out = np.zeros(data.n_rows, dtype=bool)
    for group in [*data.links, *identity_links(data)] if links is None else links:
        for name, rows in ((group.source, group.i), (group.target, group.j)):
            out[data.offsets[name].start + rows] = True
    return out


def link_reach(data: HeteroData, links: Iterable[Links] | None = None) -> Reach:
    """Say how far links reach.

    Parameters
    ----------
    data : HeteroData
    links : iterable of Links, optional
        All of the data unless given, and that two views show one item counts as a link then.

    Returns
    -------
    Reach
        Of the datasets that the links name, or of all.

    Notes
    -----
    O(rows + links).
    """
    known = list(data.links) if links is None else list(links)
    tied = identity_links(data) if links is None else []
    names = [
        name
        for name in data.datasets
        if links is None or any(name in (group.source, group.target) for group in known)
    ]
    counts = np.zeros(data.n_rows, dtype=np.int64)
    held = np.zeros(data.n_rows)
    held_by_any = linked_rows(data, [*known, *tied])
    for group in known:
        for name, rows in ((group.source, group.i), (group.target, group.j)):
            np.add.at(counts, data.offsets[name].start + rows, 1)
            np.add.at(held, data.offsets[name].start + rows, np.abs(group.weight))
    total = sum(map(len, known))
    weight = sum(float(np.abs(group.weight).sum()) for group in known)
    hubs = []
    held_by = np.flatnonzero(counts)
    for row in held_by[np.argsort(-counts[held_by], kind="stable")][:_MAX_HUBS]:
        name = next(name for name, span in data.offsets.items() if span.start <= row < span.stop)
        dataset, at = data[name], int(row) - data.offsets[name].start
        hubs.append(
            Hub(
                name,
                str(dataset.ids[at]),
                str(dataset.titles[at]),
                int(counts[row]),
                float(held[row]) / weight if weight else 0.0,
            )
        )
    return Reach(
        {name: int(held_by_any[data.offsets[name]].sum()) for name in names},
        {name: len(data[name]) for name in names},
        tuple(hubs),
        total,
        frozenset(name for name in names if data[name].is_featureless),
    )
