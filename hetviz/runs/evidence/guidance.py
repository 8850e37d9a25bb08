"""Evidence of statements about links and comparisons."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hetviz._text import count, round_percent
from hetviz._types import Bools, Floats
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.guidance import linkable_pairs_of
from hetviz.metrics.fit.nearest import comparison_closeness, link_closeness, satisfied_links
from hetviz.metrics.measure_names import CLOSE_MEANING
from hetviz.runs.evidence.evidence import Evidence, names_of, pair_table


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
