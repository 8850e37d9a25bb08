"""Reasons for the place of an item from the positions on the map alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hetviz._text import join_words
from hetviz.data.queries.rows import links_touching
from hetviz.runs.place.reasons import FAR_SHARE, ExplainedMap, Reason, Why, item_of, link_sort


def explain_from_positions(placed: ExplainedMap, row: int, max_reasons: int) -> Why:
    """Explain the place of the item of a row from coordinates alone.

    A link counts by its weight and by the share of all items that are farther away than its
    other end. A close link holds the item, a far one pulls it elsewhere.
    """
    data, Y = placed.data, placed.Y
    distances = np.linalg.norm(Y - Y[row], axis=1)
    distances[row] = np.nan
    ordered = np.sort(distances[np.isfinite(distances)])
    nearest = np.argsort(np.where(np.isfinite(distances), distances, np.inf), kind="stable")
    nearest = nearest[: min(3, len(ordered))]
    links = links_touching(data, [row])
    reasons: dict[int, Reason] = {}
    for k in range(len(links)):
        other_row, weight = int(links.outer[k]), float(links.weight[k])
        if weight <= 0 or not np.isfinite(distances[other_row]):
            continue
        farther = 1.0 - np.searchsorted(ordered, distances[other_row]) / max(len(ordered), 1)
        reason = Reason(
            link_sort(data, links, k),
            *item_of(data, other_row),
            weight * float(farther),
            distance=float(distances[other_row]) / placed.extent,
        )
        if other_row not in reasons or reasons[other_row].share < reason.share:
            reasons[other_row] = reason
    total = sum(reason.share for reason in reasons.values())
    ranked = sorted(
        (replace(reason, share=reason.share / total) for reason in reasons.values() if total > 0),
        key=lambda reason: -reason.share,
    )
    named = join_words([item_of(data, int(other))[2] for other in nearest])
    notes = [] if ranked or not data.links else ["None of its links leads to an item on the map."]
    notes += [f"Closest on the map: {named}."] if named else []
    far = sorted(
        (reason for reason in ranked if reason.distance > FAR_SHARE),
        key=lambda reason: -reason.distance,
    )
    return Why(
        *item_of(data, row),
        placed.title,
        "From the positions alone, without a new fit. A link counts more when fewer items are "
        "closer than its other end.",
        # Not all reasons are counted, so there are no shares of kinds.
        {},
        tuple(reason for reason in ranked if reason.distance <= FAR_SHARE)[:max_reasons],
        elsewhere=tuple(far[:max_reasons]),
        note=" ".join(notes),
    )
