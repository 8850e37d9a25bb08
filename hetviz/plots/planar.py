"""Points of a map as they are drawn, on two axes with visible spreads, and notes on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import get_args

import numpy as np

from hetviz._text import capital, count, join_words, round_percent
from hetviz._types import Bools, Floats
from hetviz.data import Embedding, HeteroData
from hetviz.data.joins.matching import PROBABILITY
from hetviz.data.joins.near_rows import PROPOSED_KINDS, By
from hetviz.features.map_columns import projection_of
from hetviz.features.relations.user_links import USER_LINK_KINDS

# Spreads that differ by a smaller ratio are not changed.
_MIN_SPREAD_RATIO = 3.0
# Browsers draw in single precision, which loses larger offsets and finer spans.
_MAX_OFFSET, _MIN_SPAN, _MAX_SPAN = 1e4, 1e-12, 1e12


@dataclass(frozen=True, eq=False)
class DrawnPoints:
    """Points of a map as they are drawn."""

    # Shape (n_rows, 2). Points of all datasets in order, NaN if a row has no place.
    points: Floats
    placed: Bools  # Shape (n_rows,).
    notes: tuple[str, ...]  # Distortions of the drawing, one sentence each.
    # Centre, and how many times larger than to scale, of each dataset. Empty if all are to scale.
    enlarged: tuple[tuple[float, float, float], ...] = ()


def points_to_draw(embedding: Embedding, enlarges: bool = True) -> DrawnPoints:
    """Return the points of an embedding as they are drawn; without `enlarges` to scale."""
    planar = embedding.planar()
    if not enlarges or projection_of(embedding) is not None:
        # On the earth, and on maps of periods, distances are true.
        points = _to_single_precision(planar.stacked())
        return DrawnPoints(points, planar.stacked_placed(), ())
    drawn, times, notes = _enlarge_small_datasets(planar)
    points = _to_single_precision(drawn)
    parts = np.split(points, np.cumsum([len(Y) for Y in planar.coordinates.values()])[:-1])
    enlarged = tuple(
        (*np.nanmedian(part, axis=0).tolist(), number) if number > 1 else (0.0, 0.0, 1.0)
        for part, number in zip(parts, times, strict=True)
    )
    return DrawnPoints(
        points, planar.stacked_placed(), tuple(notes), enlarged if max(times) > 1 else ()
    )


def unconnected_note(embedding: Embedding, hidden: Collection[str] = ()) -> list[str]:
    """Return a note on datasets that are drawn together but not connected."""
    groups: dict[int, list[str]] = {}
    for name, group in embedding.components.items():
        if name not in hidden and name in embedding.placed and embedding.placed[name].any():
            groups.setdefault(group, []).append(name)
    if len(groups) < 2:
        return []
    *others, largest = sorted(groups.values(), key=len)
    unconnected = ", or ".join(map(join_words, others))
    rest = join_words(largest) if len(largest) < 3 else "the other datasets"
    named = f"{unconnected} with {rest}"
    if len(largest) == 1:
        named = join_words([name for (name,) in groups.values()])
    return [f"Nothing connects {named} here. Distances between them mean nothing."]


def proposed_text(data: HeteroData, is_short: bool = False) -> str:
    """Return how many links of a map were proposed, and what answers say of them, or ""."""
    groups = [links for links in data.links if links.kind in PROPOSED_KINDS and len(links)]
    if not groups:
        return ""
    number = count(sum(map(len, groups)), "proposed link" if is_short else "link")
    probability = [
        np.full(len(links), np.nan)
        if links.meta is None or PROBABILITY not in links.meta
        else links.meta[PROBABILITY]
        for links in groups
    ]
    share = np.concatenate(probability).mean()
    judged = "not judged yet" if np.isnan(share) else f"about {round_percent(share)} right"
    if is_short:
        return f"{number}, {judged}"
    kinds = dict(zip(PROPOSED_KINDS, get_args(By), strict=True))
    ways = join_words(list(dict.fromkeys(kinds[links.kind] for links in groups)))
    own = {*PROPOSED_KINDS, *USER_LINK_KINDS}
    is_part = any(links.kind not in own and len(links) for links in data.links)
    return f"Made {'in part ' if is_part else ''}from {number} proposed by {ways}, {judged}"


def _enlarge_small_datasets(embedding: Embedding) -> tuple[Floats, list[float], list[str]]:
    radius: dict[str, float] = {}
    reach: dict[str, float] = {}
    for name, Y in embedding.coordinates.items():
        placed = Y[embedding.placed[name]]
        if len(placed) > 1:
            far = np.linalg.norm(placed - np.median(placed, axis=0), axis=1)
            radius[name], reach[name] = float(np.median(far)), float(far.max())
    widest = max(radius, key=lambda name: radius[name], default="")
    parts, factors, enlarged = [], [], []
    for name, Y in embedding.coordinates.items():
        r = radius.get(name, 0.0)
        times = 1.0
        if r > 0 and radius[widest] / r > _MIN_SPREAD_RATIO:
            # Limited so that none lies far outside, which would shrink all others to a dot.
            times = min(radius[widest] / r, reach[widest] / reach[name])
        if times >= 2:
            centre = np.nanmedian(Y, axis=0)
            parts.append(centre + (Y - centre) * times)
            enlarged.append((name, f"{times:,.0f} times"))
        else:
            times = 1.0
            parts.append(Y)
        factors.append(times)
    if len(enlarged) > 1:
        listed = join_words([f"{name} {times}" for name, times in enlarged])
        return np.vstack(parts), factors, [f"Drawn larger to make them visible: {listed}."]
    return (
        np.vstack(parts),
        factors,
        [
            f"{capital(name)} is drawn {times} larger to make it visible."
            for name, times in enlarged
        ],
    )


def _to_single_precision(points: Floats) -> Floats:
    finite = points[~np.isnan(points).any(axis=1)]
    if not len(finite):
        return points
    low, high = np.quantile(finite, [0.006, 0.994], axis=0)
    span = float((high / 2 - low / 2).max() * 2)
    middle = low / 2 + high / 2
    if span == 0 and not middle.any():
        return points
    if span == 0 or np.abs(middle).max() > _MAX_OFFSET * span:
        points = points - middle
    if span > 0 and not _MIN_SPAN < span < _MAX_SPAN:
        points = np.clip(points / span, -_MAX_SPAN, _MAX_SPAN)
    return points
