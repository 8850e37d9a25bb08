"""Evidence of statements about links and comparisons."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from hetviz._text import count, round_percent
from hetviz._types import Bools, Floats, Ints
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.statements import statement_positions, statement_rows
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.metrics.fit.guidance import linkable_pairs_of
from hetviz.metrics.fit.nearest import comparison_closeness, link_closeness, satisfied_links
from hetviz.metrics.measure_names import CLOSE_MEANING
from hetviz.metrics.trust.consequences import (
    named_rows,
    pair_distances,
    satisfied_mask,
    true_shares,
)
from hetviz.metrics.trust.neighborhoods import NEAR
from hetviz.runs.evidence.evidence import Evidence, item_table, names_of, pair_table


def link_evidence(
    data: HeteroData,
    m: Embedding,
    *,
    others: HeteroData | None = None,
    sign: int = 1,
    is_hidden: bool = False,
    among: Bools | None = None,
) -> Evidence:
    """Return the links of one sign, the closest first."""
    closeness = link_closeness(data, m, others=others)
    satisfied = satisfied_links(data, closeness, others)
    table = data.link_table()
    mask = np.asarray(table["weight"] * sign > 0, dtype=bool)
    if among is not None:
        mask &= among[table["p"].to_numpy()] | among[table["q"].to_numpy()]
    limit = _close_limits(data, others)
    p, q = (table[end].to_numpy()[mask] for end in ("p", "q"))
    # The share of pairs that are closer, which is how "close" is stated.
    order = np.argsort(1.0 - closeness[mask], kind="stable")
    p, q = p[order], q[order]
    verdict = "close" if sign > 0 else "far"
    frame = pair_table(
        data,
        p,
        q,
        {
            "weight": table["weight"].to_numpy()[mask][order],
            "closer pairs, %": np.round(100.0 * (1.0 - closeness[mask][order]), 2),
            "close up to, %": np.round(100.0 * limit[mask][order], 1),
            verdict: satisfied[mask][order],
        },
    )
    n, n_met = len(p), int(satisfied[mask].sum())
    level = float(limit[mask].mean()) if n else float("nan")
    noun = f"{'hidden ' if is_hidden else ''}{'link' if sign > 0 else 'apart link'}"
    n_unplaced = int(np.isnan(closeness[mask]).sum())
    chance = level if sign > 0 else 1.0 - level
    return Evidence(
        f"{round_percent(n_met / n)} of the {noun}s are {verdict}." if n else f"No {noun}s.",
        CLOSE_MEANING
        if sign > 0
        else f"{CLOSE_MEANING} Apart links are far if they are not close.",
        f"{n_met:,} of {count(n, noun)}"
        + (f", {n_unplaced:,} of which have an end without a position." if n_unplaced else "."),
        f"By chance it would be {round_percent(chance)}: the share of pairs that "
        f"{'count' if sign > 0 else 'do not count'} as close."
        if n
        else "",
        frame,
        np.unique(np.r_[p, q]).astype(np.int64),
    )


def _close_limits(data: HeteroData, others: HeteroData | None) -> Floats:
    """Return the share of pairs that counts as close, for each link."""
    linkable = linkable_pairs_of(data, others)
    limits = [np.zeros(0)]
    for links in data.links:
        names = links.source, links.target
        among = linkable.get(names) or linkable[names[::-1]]
        limits.append(np.full(len(links), among.share))
    return np.concatenate(limits)


def comparison_evidence(data: HeteroData, m: Embedding, *, is_hidden: bool = False) -> Evidence:
    """Return the comparisons, those that the map contradicts most first. O(comparisons)."""
    clearness = comparison_closeness(data, m)
    pairs = np.zeros((0, 4), np.int64) if data.comparisons is None else data.comparisons.pairs
    order = np.argsort(clearness, kind="stable")
    pairs, clearness = pairs[order], clearness[order]
    columns = {
        name: names_of(data, pairs[:, at])[2]
        for at, name in enumerate(("close", "close to", "far", "far from"))
    }
    frame = pd.DataFrame(columns)
    frame["far distance, % of both"] = np.round(100.0 * clearness, 1)
    frame["agrees"] = clearness > 0.5
    is_placed = np.isfinite(clearness)
    n, n_ties = int(is_placed.sum()), int((clearness == 0.5).sum())
    share = (float((clearness > 0.5).sum()) + 0.5 * n_ties) / n if n else float("nan")
    noun = "hidden comparison" if is_hidden else "comparison"
    return Evidence(
        f"The map agrees with {round_percent(share)} of the {noun}s." if n else f"No {noun}s.",
        "The map agrees if the pair called close is closer on the map than the pair called far. "
        "Equal distances count half.",
        f"{int((clearness > 0.5).sum()):,} of {count(n, noun)} whose items have positions.",
        "By chance it would be 50 %." if n else "",
        frame,
        np.unique(pairs),
    )


def changed_evidence(
    data: HeteroData, before: Embedding, after: Embedding, said: Collection[str]
) -> Evidence:
    """Return statements, and the other links that only one of two maps satisfies."""
    followed = {"before": satisfied_mask(data, before), "now": satisfied_mask(data, after)}
    now, earlier = followed["now"], followed["before"]
    own, n_links = statement_positions(data, said), sum(map(len, data.links))
    is_own = np.zeros(len(now), dtype=bool)
    is_own[own] = True
    is_link = np.arange(len(now)) < n_links
    others = np.flatnonzero(~is_own & is_link & (earlier != now))
    others = others[np.argsort(~now[others], kind="stable")]
    listed = np.r_[own, others].astype(np.int64)
    table = _statement_table(data, listed, {"before": before, "now": after}, followed)
    table.insert(6, "statement", np.where(is_own[listed], "yours", "other link"))
    n_won = int(now[others].sum())
    return Evidence(
        f"{_followed_text(now[own])} now, {int(earlier[own].sum()):,} before. Of the other links "
        f"{n_won:,} got closer, {len(others) - n_won:,} drifted apart.",
        _FOLLOWED_RULE,
        f"{count(len(own), 'statement')} and {count(n_links - int(is_own[:n_links].sum()), 'link')}"
        f", of which {len(others):,} changed.",
        "",
        table,
        np.unique(statement_rows(data)[listed, :2]).astype(np.int64),
    )


def item_guidance_evidence(data: HeteroData, m: Embedding, row: int) -> Evidence:
    """Return the guidance of people about an item, what the map does not follow first. O(links)."""
    rows, n_links = statement_rows(data), sum(map(len, data.links))
    is_given = np.concatenate(
        [np.zeros(0, bool), *(np.full(len(one), one.kind in USER_LINK_KINDS) for one in data.links)]
    )
    is_given = np.concatenate([is_given, np.ones(len(rows) - n_links, dtype=bool)])
    listed = np.flatnonzero(is_given & (rows == row).any(axis=1))
    if not len(listed):
        return Evidence("No guidance about this item.", "", "", "", pd.DataFrame())
    followed = satisfied_mask(data, m)
    listed = listed[np.argsort(followed[listed], kind="stable")]
    return Evidence(
        f"{_followed_text(followed[listed])}.",
        _FOLLOWED_RULE,
        f"{count(len(listed), 'statement')} about “{names_of(data, np.array([row]))[2][0]}”.",
        "",
        _statement_table(data, listed, {"": m}, {"": followed}),
        np.unique(rows[listed, :2]).astype(np.int64),
    )


_FOLLOWED_RULE = (
    f"{CLOSE_MEANING} A link that says apart is followed if it is not close. For a comparison the "
    "percentage is the close distance as a share of both, and it is followed below 50 %."
)


def _followed_text(followed: Bools) -> str:
    n = int(followed.sum())
    verb = "is" if 1 in (n, len(followed)) else "are"
    return f"{n:,} of {count(len(followed), 'statement')} {verb} followed"


def _statement_table(
    data: HeteroData,
    listed: Ints,
    maps: Mapping[str, Embedding],
    followed: Mapping[str, Bools],
) -> pd.DataFrame:
    """Return statements with what they say, and what maps of these names make of them."""
    rows, weights = statement_rows(data), [links.weight for links in data.links]
    weight = np.concatenate([np.zeros(0), *weights])
    is_link = listed < len(weight)
    weight = np.concatenate([weight, np.full(len(rows) - len(weight), np.nan)])[listed]
    says = np.where(weight < 0, "apart", "together").astype(object)
    far = [names_of(data, rows[listed[~is_link], at])[2] for at in (2, 3)]
    says[~is_link] = [f"closer than {p} and {q}" for p, q in zip(*far, strict=True)]
    columns = {"says": says, "weight": weight}
    for name, m in maps.items():
        when = f" {name}" if name else ""
        # A comparison is followed if its far pair is more than half of both distances.
        share = 1.0 - np.concatenate([link_closeness(data, m), comparison_closeness(data, m)])
        columns[f"closer pairs{when}, %"] = np.round(100 * share[listed], 2)
        columns[f"followed{when}"] = followed[name][listed]
        distance = pair_distances(data, m, rows[listed, :2])
        columns[f"distance{when}, % of the width"] = np.round(100 * distance, 2)
    return pair_table(data, rows[listed, 0], rows[listed, 1], columns)


def true_neighbor_evidence(
    data: HeteroData, before: Embedding, after: Embedding, said: Collection[str]
) -> Evidence:
    """Return the share of true neighbours of the items of statements, on two maps."""
    named = named_rows(data, said)
    rows, now = true_shares(data, after, named)
    earlier = true_shares(data, before, named)[1]
    order = np.argsort(now, kind="stable")
    rows, now, earlier = rows[order], now[order], earlier[order]
    columns = {"similar before, %": 100 * earlier, "similar now, %": 100 * now}
    has_share = np.isfinite(now)
    mean = [float(values[np.isfinite(values)].mean()) for values in (now, earlier)]
    return Evidence(
        f"{round_percent(mean[0])} of the neighbours of these items are similar in the data now, "
        f"{round_percent(mean[1])} before.",
        "The ten nearest items of the same dataset on the map, without the other items of the "
        f"statements. Similar means among the {round_percent(NEAR)} nearest by features, or the "
        "ten nearest.",
        f"{int(has_share.sum()):,} of {count(len(named), 'item')} of the statements.",
        f"Of random neighbours {round_percent(NEAR)} would be similar, with few items more.",
        item_table(data, rows, {name: np.round(share, 1) for name, share in columns.items()}),
        rows,
    )
