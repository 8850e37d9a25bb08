"""What a picture does to a map before it is drawn: two axes, and spreads that can be seen."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from hetviz._types import Bools, Floats
from hetviz.data import Embedding

# Spreads that differ by less than this are drawn as they are.
_MIN_SPREAD_RATIO = 3.0
# Browsers draw in single precision: what is further off, or finer, than this would be lost.
_MAX_OFFSET, _MIN_SPAN, _MAX_SPAN = 1e4, 1e-12, 1e12


@dataclass(frozen=True, eq=False)
class DrawnPoints:
    """A map as it is drawn.

    Attributes
    ----------
    points : array of shape (n_rows, 2)
        Of all datasets in order; NaN where a row has no place.
    placed : array of bool, shape (n_rows,)
    notes : tuple of str
        What the picture does to the map, one sentence each.
    """

    points: Floats
    placed: Bools
    notes: tuple[str, ...]


def points_to_draw(embedding: Embedding) -> DrawnPoints:
    """Return how an embedding is drawn.

    Notes
    -----
    Its `planar` form, a dataset of far smaller spread than the widest enlarged about its own
    middle, as far as none of it lies further out than the widest reaches; moved to the origin, or
    scaled, where single precision could not tell its points apart.
    """
    planar = embedding.planar()
    points, notes = _enlarge_small_datasets(planar)
    return DrawnPoints(_to_single_precision(points), planar.stacked_placed(), tuple(notes))


def unconnected_note(embedding: Embedding, hidden: Collection[str] = ()) -> list[str]:
    """Say which datasets share the picture only."""
    groups: dict[int, list[str]] = {}
    for name, group in embedding.components.items():
        if name not in hidden and name in embedding.placed and embedding.placed[name].any():
            groups.setdefault(group, []).append(name)
    if len(groups) < 2:
        return []
    parts = [" with ".join(names) for names in groups.values()]
    return [f"Nothing joins {' and '.join(parts)} here: nearness between them means nothing."]


def _enlarge_small_datasets(embedding: Embedding) -> tuple[Floats, list[str]]:
    """Return the points, a dataset of far smaller spread than the widest enlarged, and notes."""
    radius: dict[str, float] = {}
    reach: dict[str, float] = {}
    for name, Y in embedding.coordinates.items():
        placed = Y[embedding.placed[name]]
        if len(placed) > 1:
            far = np.linalg.norm(placed - np.median(placed, axis=0), axis=1)
            radius[name], reach[name] = float(np.median(far)), float(far.max())
    widest = max(radius, key=lambda name: radius[name], default="")
    parts, notes = [], []
    for name, Y in embedding.coordinates.items():
        r = radius.get(name, 0.0)
        times = 1.0
        if r > 0 and radius[widest] / r > _MIN_SPREAD_RATIO:
            # None of them may end up beyond all others, where the rest would be a dot.
            times = min(radius[widest] / r, reach[widest] / reach[name])
        if times >= 2:
            centre = np.nanmedian(Y, axis=0)
            parts.append(centre + (Y - centre) * times)
            notes.append(f"{name} is drawn {times:,.0f} times larger, to be seen at all.")
        else:
            parts.append(Y)
    return np.vstack(parts), notes


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
