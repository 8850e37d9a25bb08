"""What a statement did to a map: for what it names, for other links, and for all other items."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hetviz._text import count, round_percent
from hetviz._types import Bools, Floats, Ints, JsonObject
from hetviz.core.measures.satisfaction import NEAR
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.statements import statement_positions, statement_rows
from hetviz.errors import ParameterError
from hetviz.features.relations.user_links import table_links, user_link_weights
from hetviz.metrics.fit.displacement import moved
from hetviz.metrics.fit.nearest import comparison_nearness, link_nearness
from hetviz.metrics.trust.trust import trust

NOTICED = 0.05
"""Share of the map's extent from which on an item counts as having moved."""
_FALSER = 0.15
_NEIGHBOURS = 10
_MOST_ROWS = 20


@dataclass(frozen=True)
class Consequences:
    """What statements did to a map.

    Attributes
    ----------
    n_items, n_said : int
        Items that the statements name, and how many statements there are.
    kept_before, kept_after : int
        How many of them each map keeps: pairs said to be together among the nearest 5 % of all
        pairs, pairs said to be apart not, comparisons agreed with.
    apart_before, apart_after : float
        Mean distance of the named pairs as a share of the map's extent; NaN where no pair was
        named.
    true_before, true_after : float
        Share of the ten nearest of each named item on the map, in its own dataset and but for the
        other named ones, that are near in the data as well; NaN for datasets without features. Of
        more than 20 named items, 20.
    links_won, links_lost : int
        Other links that only the later map keeps, and only the earlier one.
    n_moved, n_others : int
        How many of the other items moved by 5 % of the map's extent or more.
    n_hubs : int
        How many of the pairs said to be together the later map does not keep because both items
        have more than twice the links that are usual, for each that is said of them, and stay.
    """

    n_items: int
    n_said: int
    kept_before: int
    kept_after: int
    apart_before: float
    apart_after: float
    true_before: float
    true_after: float
    links_won: int
    links_lost: int
    n_moved: int
    n_others: int
    n_hubs: int = 0

    @property
    def falser(self) -> bool:
        """Whether many more neighbours of the named items are false than were."""
        return bool(self.true_after < self.true_before - _FALSER)

    def sentences(self) -> list[str]:
        """Return what happened, the statement itself first."""
        said = "statement" if np.isnan(self.apart_after) else "pair"
        told = [
            f"The map keeps {self.kept_after:,} of {count(self.n_said, said)} "
            f"({self.kept_before:,} before)."
        ]
        if self.n_hubs:
            which = "They are" if self.n_hubs == self.n_said else f"{self.n_hubs:,} of them are"
            told.append(f"{which} of two items that each hold many others, and stay with these.")
        if np.isfinite([self.apart_before, self.apart_after]).all():
            told.append(
                f"They lie {_share(self.apart_after)} of the map's width apart "
                f"({_share(self.apart_before)} before)."
            )
        if np.isfinite([self.true_before, self.true_after]).all():
            told.append(
                f"Of their ten nearest, {_of_ten(self.true_after)} are near in the data "
                f"({_of_ten(self.true_before)} before)."
            )
        if self.links_won or self.links_lost:
            won, lost = (count(n, "other link") for n in (self.links_won, self.links_lost))
            told.append(f"{won} newly kept, {lost} no longer.")
        told.append(f"{self.n_moved:,} of {count(self.n_others, 'other item')} moved.")
        return told

    def to_dict(self) -> JsonObject:
        """Return the same, JSON-ready; what cannot be said is null."""
        return {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in asdict(self).items()
        }


def consequences_from(told: Mapping[str, object]) -> Consequences:
    """Return what `Consequences.to_dict` was made of."""
    fields: dict[str, Any] = {
        name: float("nan") if value is None else value for name, value in told.items()
    }
    return Consequences(**fields)


@one_thread()
def consequences(
    data: HeteroData, before: Embedding, after: Embedding, said: Collection[str]
) -> Consequences:
    """Return what statements did to a map.

    Parameters
    ----------
    data : HeteroData
        With the statements.
    before, after : Embedding
        The map without and with them.
    said : collection of str
        Their keys, see `hetviz.statements`.

    Returns
    -------
    Consequences

    Raises
    ------
    hetviz.errors.ParameterError
        If there is none.
    hetviz.errors.DataError
        Listing those that are not in the data.
    hetviz.errors.HetvizError
        If the maps are not of the items of the data.

    Notes
    -----
    O(n) for the maps, O(m) for m links and O(n d) for each named item; see `hetviz.trust` for what
    is near in the data.
    """
    places = statement_positions(data, said)
    if not len(places):
        raise ParameterError("consequences: said names no statement; see hetviz.statements.")
    ends = statement_rows(data)
    named = np.unique(ends[places])
    named = named[named >= 0]
    far = moved(before, after)
    mine = np.zeros(len(ends), dtype=bool)
    mine[places] = True
    was, now = _kept(data, before), _kept(data, after)
    n_links = sum(map(len, data.links))
    is_link = np.arange(len(ends)) < n_links
    others = is_link & ~mine
    pairs = ends[is_link & mine][:, :2]
    apart = [_apart(data, one, pairs) for one in (before, after)]
    looked = np.random.default_rng(0).permutation(named)[:_MOST_ROWS]
    true = [_true(data, one, named, looked) for one in (before, after)]
    torn = np.flatnonzero(mine & is_link & ~now)
    together = np.concatenate([np.empty(0), *(links.weight for links in data.links)])
    torn = torn[together[torn] > 0]
    hubs = table_links(data).both_hold(ends[torn, 0], ends[torn, 1], user_link_weights(data))
    rest = np.isfinite(far)
    rest[named] = False
    return Consequences(
        n_items=len(named),
        n_said=len(places),
        kept_before=int(was[mine].sum()),
        kept_after=int(now[mine].sum()),
        apart_before=apart[0],
        apart_after=apart[1],
        true_before=true[0],
        true_after=true[1],
        links_won=int((now & ~was & others).sum()),
        links_lost=int((was & ~now & others).sum()),
        n_moved=int((far[rest] >= NOTICED).sum()),
        n_others=int(rest.sum()),
        n_hubs=int(hubs.sum()),
    )


def _kept(data: HeteroData, embedding: Embedding) -> Bools:
    """Say of each statement whether a map keeps it."""
    together = np.concatenate([np.empty(0), *(links.weight for links in data.links)]) > 0
    links: Floats = link_nearness(data, embedding)
    kept = np.isfinite(links) & (together == (links >= 1.0 - NEAR))
    return np.concatenate([kept, comparison_nearness(data, embedding) > 0.5])


def _apart(data: HeteroData, embedding: Embedding, pairs: Ints) -> float:
    Y = np.vstack([embedding.coordinates[name] for name in data.datasets])
    extent = float(np.max(np.nanmax(Y, axis=0) - np.nanmin(Y, axis=0))) or 1.0
    distance = np.linalg.norm(Y[pairs[:, 0]] - Y[pairs[:, 1]], axis=1)
    there = distance[np.isfinite(distance)]
    return float(there.mean() / extent) if len(there) else float("nan")


def _true(data: HeteroData, embedding: Embedding, named: Ints, looked: Ints) -> float:
    """Return the share of true neighbours of some of the named, who do not count for each other."""
    shares = []
    for row in looked.tolist():
        found = trust(data, _without(data, embedding, named[named != row]), _NEIGHBOURS, rows=[row])
        shares.append(1.0 - found.false_within[row] / found.of_within[row])
    there = np.array(shares)[np.isfinite(shares)]
    return float(there.mean()) if len(there) else float("nan")


def _without(data: HeteroData, embedding: Embedding, rows: Ints) -> Embedding:
    """Return a map without the places of some global rows."""
    Y = {name: embedding.coordinates[name].copy() for name in data.datasets}
    for name, span in data.offsets.items():
        Y[name][rows[(rows >= span.start) & (rows < span.stop)] - span.start] = np.nan
    return Embedding(Y, embedding.ids, embedding.entity)


def _share(value: float) -> str:
    return "under 1 %" if value < 0.01 else round_percent(value)


def _of_ten(share: float) -> str:
    return f"{10 * share:.1f}".removesuffix(".0")
