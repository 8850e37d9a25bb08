"""Effects of new guidance on a map: on its own items, other links and all other items."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hetviz._text import count, round_percent
from hetviz._types import Bools, Floats, Ints, JsonObject
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.statements import statement_positions, statement_rows
from hetviz.errors import ParameterError
from hetviz.features.relations.user_links import table_links, user_link_weights
from hetviz.metrics.fit.displacement import displacements
from hetviz.metrics.fit.nearest import comparison_closeness, link_closeness, satisfied_links
from hetviz.metrics.trust.trust import trust

MOVED_THRESHOLD = 0.05
"""Minimum displacement of a moved item, as a share of the extent of the map."""
_MAX_TRUST_LOSS = 0.15
_N_NEIGHBORS = 10
_MAX_ROWS = 20


@dataclass(frozen=True)
class Consequences:
    """Effects of statements on a map.

    `n_items`, `n_said`: Number of items of the statements, and number of statements.
    `kept_before`, `kept_after`: How many statements each map satisfies: positive links that are
        close, negative links that are not, comparisons that hold.
    `apart_before`, `apart_after`: Mean distance of the linked pairs as a share of the extent of
        the map. NaN without pairs.
    `true_before`, `true_after`: Share of the ten nearest items of each named item, in its own
        dataset and without other named items, that are also near in the data. NaN for datasets
        without features. At most 20 named items are sampled.
    `links_won`, `links_lost`: Other links that are satisfied only by the later map, and only by
        the earlier map.
    `n_moved`, `n_others`: How many of the other items moved by at least 5 % of the extent of the
        map.
    `n_hubs`: How many positive pairs are not close because both items have more than twice the
        usual number of links per statement, and did not move.
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
    def has_more_false_neighbors(self) -> bool:
        """Whether the named items have many more false neighbours on the later map."""
        return bool(self.true_after < self.true_before - _MAX_TRUST_LOSS)

    def sentences(self) -> list[str]:
        """Return the effects in words, those on the statements first."""
        return [text for texts in self.sentences_by_topic().values() for text in texts]

    def sentences_by_topic(self) -> dict[str, list[str]]:
        """Return the sentences about "statements", "neighbours", "links" and "moved" items."""
        unit = "statement" if np.isnan(self.apart_after) else "pair"
        total = count(self.n_said, unit)
        if self.n_said > 1 and self.kept_after == self.n_said:
            subject, verb = f"All {total}", "follow"
        else:
            subject = f"{self.kept_after:,} of {total}"
            verb = "follows" if self.kept_after == 1 else "follow"
        own = [f"{subject} {verb} your guidance now ({self.kept_before:,} before)."]
        topics = {"statements": own, "neighbours": [], "links": [], "moved": []}
        if self.n_hubs:
            pairs = count(self.n_hubs, "pair")
            own.append(f"{pairs} did not get close, because both items have many other links.")
        if np.isfinite([self.apart_before, self.apart_after]).all():
            own.append(
                f"Their distance is {_percent_text(self.apart_after)} of the width of the map "
                f"({_percent_text(self.apart_before)} before)."
            )
        if np.isfinite([self.true_before, self.true_after]).all():
            topics["neighbours"].append(
                f"{_of_ten_text(self.true_after)} of their 10 neighbours are similar in the data "
                f"({_of_ten_text(self.true_before)} before)."
            )
        if self.links_won or self.links_lost:
            closer = count(self.links_won, "other link")
            topics["links"].append(f"{closer} got closer, {self.links_lost:,} drifted apart.")
        others = count(self.n_others, "other item")
        topics["moved"].append(f"{self.n_moved:,} of {others} moved.")
        return topics

    def to_dict(self) -> JsonObject:
        """Return the fields, JSON-ready. NaN becomes null."""
        return {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in asdict(self).items()
        }


def consequences_from_dict(values: Mapping[str, object]) -> Consequences:
    """Return the object of a `Consequences.to_dict`."""
    fields: dict[str, Any] = {
        name: float("nan") if value is None else value for name, value in values.items()
    }
    return Consequences(**fields)


@one_thread()
def consequences(
    data: HeteroData, before: Embedding, after: Embedding, said: Collection[str]
) -> Consequences:
    """Return the effects of statements on a map.

    Parameters
    ----------
    data : HeteroData
        Data with the statements.
    before, after : Embedding
        Map without and with the statements.
    said : collection of str
        Keys of the statements, see `hetviz.statements`.

    Returns
    -------
    Consequences

    Raises
    ------
    hetviz.errors.ParameterError
        If there is no key.
    hetviz.errors.DataError
        If keys are not in the data.
    hetviz.errors.HetvizError
        If the maps have other items than the data.

    Notes
    -----
    O(n) for the maps, O(m) for m links and O(n d) for each named item. See `hetviz.trust` for
    neighbours in the data.
    """
    positions = statement_positions(data, said)
    if not len(positions):
        raise ParameterError(
            "consequences: said = [] must have at least one statement key. See hetviz.statements."
        )
    rows = statement_rows(data)
    named = named_rows(data, said)
    displacement = displacements(before, after)
    is_named = np.zeros(len(rows), dtype=bool)
    is_named[positions] = True
    satisfied_before, satisfied_after = satisfied_mask(data, before), satisfied_mask(data, after)
    n_links = sum(map(len, data.links))
    is_link = np.arange(len(rows)) < n_links
    others = is_link & ~is_named
    pairs = rows[is_link & is_named][:, :2]
    pair_distance = [_finite_mean(pair_distances(data, one, pairs)) for one in (before, after)]
    share_true = [_finite_mean(true_shares(data, one, named)[1]) for one in (before, after)]
    unsatisfied = np.flatnonzero(is_named & is_link & ~satisfied_after)
    link_weight = np.concatenate([np.empty(0), *(links.weight for links in data.links)])
    unsatisfied = unsatisfied[link_weight[unsatisfied] > 0]
    hubs = table_links(data).both_hold(
        rows[unsatisfied, 0], rows[unsatisfied, 1], user_link_weights(data)
    )
    is_other = np.isfinite(displacement)
    is_other[named] = False
    return Consequences(
        n_items=len(named),
        n_said=len(positions),
        kept_before=int(satisfied_before[is_named].sum()),
        kept_after=int(satisfied_after[is_named].sum()),
        apart_before=pair_distance[0],
        apart_after=pair_distance[1],
        true_before=share_true[0],
        true_after=share_true[1],
        links_won=int((satisfied_after & ~satisfied_before & others).sum()),
        links_lost=int((satisfied_before & ~satisfied_after & others).sum()),
        n_moved=int((displacement[is_other] >= MOVED_THRESHOLD).sum()),
        n_others=int(is_other.sum()),
        n_hubs=int(hubs.sum()),
    )


def named_rows(data: HeteroData, said: Collection[str]) -> Ints:
    """Return the sorted global rows of the items of statements."""
    named = np.unique(statement_rows(data)[statement_positions(data, said)])
    return named[named >= 0]


def satisfied_mask(data: HeteroData, embedding: Embedding) -> Bools:
    """Return a mask of the statements that a map satisfies."""
    satisfied = satisfied_links(data, link_closeness(data, embedding))
    return np.concatenate([satisfied, comparison_closeness(data, embedding) > 0.5])


def pair_distances(data: HeteroData, embedding: Embedding, pairs: Ints) -> Floats:
    """Return the distance of pairs of global rows (m, 2), as a share of the map's extent."""
    Y = np.vstack([embedding.coordinates[name] for name in data.datasets])
    extent = float(np.max(np.nanmax(Y, axis=0) - np.nanmin(Y, axis=0))) or 1.0
    return np.asarray(np.linalg.norm(Y[pairs[:, 0]] - Y[pairs[:, 1]], axis=1) / extent)


def true_shares(data: HeteroData, embedding: Embedding, named: Ints) -> tuple[Ints, Floats]:
    """Return at most 20 named rows, and the share of true neighbours of each."""
    sampled = np.random.default_rng(0).permutation(named)[:_MAX_ROWS]
    shares = np.full(len(sampled), np.nan)
    for k, row in enumerate(sampled.tolist()):
        result = trust(
            data, _without_rows(data, embedding, named[named != row]), _N_NEIGHBORS, rows=[row]
        )
        shares[k] = 1.0 - result.false_within[row] / result.of_within[row]
    return sampled, shares


def _finite_mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")


def _without_rows(data: HeteroData, embedding: Embedding, rows: Ints) -> Embedding:
    """Return a map without the places of the given global rows."""
    Y = {name: embedding.coordinates[name].copy() for name in data.datasets}
    for name, span in data.offsets.items():
        Y[name][rows[(rows >= span.start) & (rows < span.stop)] - span.start] = np.nan
    return Embedding(Y, embedding.ids, embedding.entity)


def _percent_text(value: float) -> str:
    return "under 1 %" if value < 0.01 else round_percent(value)


def _of_ten_text(share: float) -> str:
    return f"{10 * share:.1f}".removesuffix(".0")
