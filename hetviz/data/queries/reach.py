"""Coverage of the items by links: items without links, and hubs."""

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
from hetviz.errors import DataError

_MAX_HUBS = 3
_MIN_HUB_SHARE = 0.2
_MIN_HUB_RATIO = 1.5
_MIN_HUB_LINKS = 20


@dataclass(frozen=True)
class Hub:
    """An item with many links."""

    dataset: str
    id: str
    title: str
    links: int
    share: float


@dataclass(frozen=True)
class LinkWarning:
    """Warning about the coverage of links.

    `kind` {"unlinked", "crowded"}: Many items of a dataset have no link, or one item has very many.
    """

    kind: Literal["unlinked", "crowded"]
    words: str
    dataset: str
    id: str = ""


@dataclass(frozen=True)
class Reach:
    """Coverage of the items by links.

    `linked`, `items`: Number of linked items and of all items, by dataset.
    `hubs`: The three items with the most links, in decreasing order.
    `featureless`: Datasets that are described by links only.
    """

    linked: dict[str, int]
    items: dict[str, int]
    hubs: tuple[Hub, ...]
    n_links: int

    featureless: frozenset[str] = frozenset()

    def n_unlinked(self, name: str) -> int:
        """Return the number of items of a dataset without a link."""
        return self.items[name] - self.linked[name]

    @property
    def unlinked_warnings(self) -> tuple[LinkWarning, ...]:
        """Warnings about datasets with many unlinked items."""
        warnings = []
        for name, n in self.items.items():
            n_free = self.n_unlinked(name)
            if n_free and n_free >= n / 5:
                effect = (
                    "cannot be placed" if name in self.featureless else "are placed by features"
                )
                words = (
                    f"{n_free:,} of {n:,} {name} have no links and {effect}. Add links, or remove "
                    "these items."
                )
                warnings.append(LinkWarning("unlinked", words, name))
        return tuple(warnings)

    @property
    def hub_warnings(self) -> tuple[LinkWarning, ...]:
        """Warning about an item with very many of the links."""
        if not self.hubs:
            return ()
        hub = self.hubs[0]
        # Among few items each one has a large share anyway.
        fair = _MIN_HUB_RATIO / max(1, self.linked[hub.dataset])
        if hub.links < _MIN_HUB_LINKS or hub.share < max(_MIN_HUB_SHARE, fair):
            return ()
        words = (
            f"{hub.title} ({hub.dataset}) alone has {hub.links:,} of {self.n_links:,} links, "
            f"{round_percent(hub.share)} of their weight, and pulls its linked items to one "
            "spot. Give these links less weight when you make the map, or remove them."
        )
        return (LinkWarning("crowded", words, hub.dataset, hub.id),)

    @property
    def link_warnings(self) -> tuple[LinkWarning, ...]:
        return self.unlinked_warnings + self.hub_warnings

    @property
    def warnings(self) -> tuple[str, ...]:
        """Messages of all warnings."""
        return tuple(caution.words for caution in self.link_warnings)


def drop_unlinked(data: HeteroData, name: str) -> HeteroData:
    """Return the data without the unlinked items of a dataset."""
    rows = linked_rows(data)[data.offsets[data[name].name]]
    if rows.all() or not rows.any():
        message = "all of its items are linked" if rows.all() else "none of its items is linked"
        raise DataError.of("nothing-to-leave", f"dataset {name!r}", message)
    return data.edit().subset({name: rows})


def linked_rows(data: HeteroData, links: Iterable[Links] | None = None) -> Bools:
    """Return a mask of the linked rows, shape (n_rows,); default: all links and identity links."""
    out = np.zeros(data.n_rows, dtype=bool)
    for group in [*data.links, *identity_links(data)] if links is None else links:
        for name, rows in ((group.source, group.i), (group.target, group.j)):
            out[data.offsets[name].start + rows] = True
    return out


def link_reach(data: HeteroData, links: Iterable[Links] | None = None) -> Reach:
    """Return the coverage of the items by links, in O(rows + links).

    By default all links and identity links count, and all datasets are reported. Given `links`,
    only the datasets of these links are reported.
    """
    groups = list(data.links) if links is None else list(links)
    identity = identity_links(data) if links is None else []
    names = [
        name
        for name in data.datasets
        if links is None or any(name in (group.source, group.target) for group in groups)
    ]
    counts = np.zeros(data.n_rows, dtype=np.int64)
    weight_of = np.zeros(data.n_rows)
    is_linked = linked_rows(data, [*groups, *identity])
    for group in groups:
        for name, rows in ((group.source, group.i), (group.target, group.j)):
            np.add.at(counts, data.offsets[name].start + rows, 1)
            np.add.at(weight_of, data.offsets[name].start + rows, np.abs(group.weight))
    total = sum(map(len, groups))
    weight = sum(float(np.abs(group.weight).sum()) for group in groups)
    hubs = []
    linked = np.flatnonzero(counts)
    for row in linked[np.argsort(-counts[linked], kind="stable")][:_MAX_HUBS]:
        name = next(name for name, span in data.offsets.items() if span.start <= row < span.stop)
        dataset, at = data[name], int(row) - data.offsets[name].start
        hubs.append(
            Hub(
                name,
                str(dataset.ids[at]),
                str(dataset.display_names[at]),
                int(counts[row]),
                float(weight_of[row]) / weight if weight else 0.0,
            )
        )
    return Reach(
        {name: int(is_linked[data.offsets[name]].sum()) for name in names},
        {name: len(data[name]) for name in names},
        tuple(hubs),
        total,
        frozenset(name for name in names if data[name].is_featureless),
    )
