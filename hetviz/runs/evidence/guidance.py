"""Evidence of statements about links and comparisons."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from hetviz._text import count, round_percent
from hetviz._types import Bools, Floats
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.statements import statement_positions, statement_rows
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
    """Return the links of one sign, the closest first.

    `others`: Other links of the same items, held out or given. `among` bool (n_rows,): only links
    with an end in these rows.

    O(pairs of items with links), as `hetviz.metrics.fit.nearest.link_closeness`.
    """
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
    """Return statements, and the other links that only one of two maps satisfies.

    `said`: Keys of the statements, listed first. O(links).
    """
    followed = [satisfied_mask(data, m) for m in (before, after)]
    closer = [1.0 - link_closeness(data, m) for m in (before, after)]
    distance = [comparison_closeness(data, m) for m in (before, after)]
    rows, n_links = statement_rows(data), len(closer[0])
    own = statement_positions(data, said)
    is_own = np.zeros(len(rows), dtype=bool)
    is_own[own] = True
    is_link = np.arange(len(rows)) < n_links
    others = np.flatnonzero(~is_own & is_link & (followed[0] != followed[1]))
    others = others[np.argsort(~followed[1][others], kind="stable")]
    listed = np.r_[own, others].astype(np.int64)
    weight = np.concatenate([np.zeros(0), *(links.weight for links in data.links)])
    weight = np.concatenate([weight, np.full(len(rows) - n_links, np.nan)])
    forms = np.where(weight < 0, "apart", "together").astype(object)
    compared = listed[~is_link[listed]]
    far = [names_of(data, rows[compared, at])[2] for at in (2, 3)]
    forms[compared] = [f"closer than {p} and {q}" for p, q in zip(*far, strict=True)]
    columns = {
        "statement": np.where(is_own[listed], "yours", "other link"),
        "says": forms[listed],
        "weight": weight[listed],
    }
    for k, when in enumerate(("before", "now")):
        # A comparison is followed if its far pair is more than half of both distances.
        share = np.concatenate([closer[k], 1.0 - distance[k]])[listed]
        columns[f"closer pairs {when}, %"] = np.round(100 * share, 2)
        columns[f"followed {when}"] = followed[k][listed]
        apart = pair_distances(data, (before, after)[k], rows[listed, :2])
        columns[f"distance {when}, % of the width"] = np.round(100 * apart, 2)
    n_own, n_won = len(own), int(followed[1][others].sum())
    return Evidence(
        f"{int(followed[1][own].sum()):,} of {count(n_own, 'statement')} "
        f"{'is' if followed[1][own].sum() == 1 else 'are'} followed now, "
        f"{int(followed[0][own].sum()):,} before. Of the other links {n_won:,} got closer, "
        f"{len(others) - n_won:,} drifted apart.",
        f"{CLOSE_MEANING} A link that says apart is followed if it is not close. For a comparison "
        "the percentage is the close distance as a share of both, and it is followed below 50 %.",
        f"{count(n_own, 'statement')} and {count(n_links - int(is_own[:n_links].sum()), 'link')}, "
        f"of which {len(others):,} changed.",
        "",
        pair_table(data, rows[listed, 0], rows[listed, 1], columns),
        np.unique(rows[listed, :2]).astype(np.int64),
    )


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
