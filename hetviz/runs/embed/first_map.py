"""The first map of data that came without one: the best of a few that are made in one step."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.views import tied
from hetviz.errors import Cancelled, HetvizError, NotApplicableError
from hetviz.metrics.fit.summary import evaluate
from hetviz.progress import Part, Progress, silent

# A kernel on more rows than this takes too long for a first look.
KERNEL_ROWS = 4000
# A dataset drawn this many times smaller than another is a blot, however good its links look.
LEGIBLE = 3.0
# A neighbour map of more rows than this is not made in a few seconds.
NEIGHBOUR_ROWS = 1000
# Below this guidance area the features say next to nothing of the links.
WEAK = 0.65


@dataclass(frozen=True, eq=False)
class FirstMap:
    """The chosen map.

    Attributes
    ----------
    method, title : str
    params : dict
        ``embed(data, method, **params)`` gives the same map.
    embedding : Embedding
    area : float or None
        Guidance area of the map; None where nothing is linked.
    """

    method: str
    title: str
    params: dict[str, Any]
    embedding: Embedding
    area: float | None

    @property
    def rank(self) -> tuple[bool, float]:
        """What the choice goes by: legible first, then the guidance area."""
        sizes = list(spreads(self.embedding).values())
        legible = not sizes or max(sizes) <= LEGIBLE * min(sizes)
        return legible, self.area or 0.0


def first_map(data: HeteroData, progress: Progress | None = None) -> FirstMap:
    """Return the best first map by guidance area: PCA, guided linear or guided kernel projection.

    Where there are no features, as in a graph, the neighbour map of the links is taken instead, or
    else that of the comparisons. To 1,000 rows a neighbour map is also made of a single dataset
    without links, and where the others keep next to nothing of the links.

    Parameters
    ----------
    data : HeteroData
    progress : callable, optional

    Raises
    ------
    hetviz.errors.NotApplicableError
        If none of them suits the data; the reasons of each are given.

    Notes
    -----
    Maps on which one dataset is more than three times as spread out as another come last. A
    dataset that shrinks so has features that say nothing about its links: where each of its items
    is linked, placing it by its links alone is tried too. Ties go to the earlier one. Kernels are
    tried to 4,000 rows. Costs three to five closed-form fits,
    and a neighbour map of 1,000 rows at most.
    """
    report = silent if progress is None else progress
    # Rows of one object in several views ought to lie together, whether or not that was said.
    judged = tied(data)
    tries: list[tuple[str, dict[str, Any]]] = [
        ("pca", {}),
        ("guided-projection", {"kernel": "linear"}),
    ]
    if data.n_rows <= KERNEL_ROWS:
        tries.append(("guided-projection", {"kernel": "rbf"}))
    if all(dataset.is_featureless for dataset in data.datasets.values()):
        tries = [("mr-sne", {})] if data.links else [("gnmds", {})]
    small = data.n_rows <= NEIGHBOUR_ROWS
    if small and len(data.datasets) == 1 and not data.links and data.comparisons is None:
        # One far item makes a blot of all others on a linear map; neighbours are seen on this one.
        tries = [("mr-sne", {}), ("pca", {})]
    found: list[FirstMap] = []
    reasons: list[str] = []
    for place, (method, params) in enumerate(tries):
        start, width = place / len(tries), 1 / len(tries)
        try:
            made = _made(data, judged, method, params, Part(report, start, start + 0.6 * width))
            found.append(made)
            shrunken = _shrunken(judged, made) if method != "pca" else []
            if shrunken:
                by_links = {**params, "features": dict.fromkeys(shrunken, "featureless")}
                rest = Part(report, start + 0.6 * width, start + width)
                found.append(_made(data, judged, method, by_links, rest))
        except Cancelled:
            raise
        except NotApplicableError as error:
            reasons.extend(error.reasons)
        except HetvizError as error:
            reasons.append(str(error))
    best = max((candidate.area or 0.0 for candidate in found), default=1.0)
    if small and data.links and best < WEAK:
        with contextlib.suppress(NotApplicableError):
            found.append(_made(data, judged, "mr-sne", {}, Part(report, 0.9, 1.0)))
    report(1.0, "Done")
    if not found:
        raise NotApplicableError("A first map", dict.fromkeys(reasons))
    return max(found, key=lambda candidate: candidate.rank)


def spreads(embedding: Embedding) -> dict[str, float]:
    """Return the root mean square distance from their mean of each dataset's placed rows."""
    found = {}
    for name, Y in embedding.coordinates.items():
        there = Y[embedding.placed[name]]
        if len(there) > 1:
            found[name] = float(np.sqrt(((there - there.mean(axis=0)) ** 2).sum(axis=1).mean()))
    return found


def _made(
    data: HeteroData, judged: HeteroData, method: str, params: dict[str, object], progress: Progress
) -> FirstMap:
    kind = get_method(method)
    embedding = kind(**params).fit(data, progress).embedding_
    area = evaluate(judged, embedding).to_dict().get("guidance_area")
    return FirstMap(method, kind.card.title, params, embedding, area)


def _shrunken(judged: HeteroData, made: FirstMap) -> list[str]:
    """Return the datasets drawn too small to see that could be placed by links alone."""
    sizes = spreads(made.embedding)
    linked = judged.adjacency(1).sum(axis=1) > 0
    return [
        name
        for name, size in sizes.items()
        if size * LEGIBLE < max(sizes.values())
        and not judged[name].is_featureless
        and linked[judged.offsets[name]].all()
    ]
