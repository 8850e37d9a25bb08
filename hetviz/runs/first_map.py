"""The first map of data that came without one: the best of a few that are made in one step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetviz.data import Embedding, HeteroData
from hetviz.data.views import tied
from hetviz.errors import Cancelled, HetvizError, NotApplicableError
from hetviz.metrics import evaluate
from hetviz.progress import Part, Progress, silent
from hetviz.registry import get_method

# A kernel on more rows than this takes too long for a first look.
KERNEL_ROWS = 4000


@dataclass(frozen=True, eq=False)
class FirstMap:
    """The chosen map.

    Attributes
    ----------
    method, title : str
    params : dict
    embedding : Embedding
        Each dataset scaled to the same spread.
    area : float or None
        Guidance area of the map; None where nothing is linked.
    """

    method: str
    title: str
    params: dict[str, Any]
    embedding: Embedding
    area: float | None


def first_map(data: HeteroData, progress: Progress | None = None) -> FirstMap:
    """Return the best first map by guidance area: PCA, guided linear or guided kernel projection.

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
    Ties go to the earlier one. Kernels are tried to 4,000 rows. Costs three closed-form fits.
    """
    report = silent if progress is None else progress
    candidates = list(_candidates(data))
    # Rows of one object in several views ought to lie together, whether or not that was said.
    judged = tied(data)
    best: FirstMap | None = None
    reasons: list[str] = []
    for place, (method, params) in enumerate(candidates):
        low, high = place / len(candidates), (place + 1) / len(candidates)
        kind = get_method(method)
        try:
            fitted = kind(**params).fit(data, Part(report, low, high))
        except Cancelled:
            raise
        except NotApplicableError as error:
            reasons.extend(error.reasons)
            continue
        except HetvizError as error:
            reasons.append(str(error))
            continue
        embedding = comparable(fitted.embedding_)
        area = evaluate(judged, embedding).to_dict().get("guidance_area")
        if best is None or (area or 0.0) > (best.area or 0.0):
            best = FirstMap(method, kind.card.title, params, embedding, area)
    report(1.0, "Done")
    if best is None:
        raise NotApplicableError("A first map", dict.fromkeys(reasons))
    return best


def comparable(embedding: Embedding) -> Embedding:
    """Return the embedding with each dataset scaled about the origin to the same spread.

    The spread is the root mean square distance from the origin, where the methods that join
    datasets put their centre.
    """
    sizes = {
        name: float(np.sqrt(np.mean((Y[embedding.placed[name]] ** 2).sum(axis=1))))
        for name, Y in embedding.coordinates.items()
        if embedding.placed[name].any()
    }
    largest = max(sizes.values(), default=0.0)
    coordinates = {
        name: Y * (largest / sizes[name]) if sizes.get(name, 0.0) > 0 else Y
        for name, Y in embedding.coordinates.items()
    }
    return replace(embedding, coordinates=coordinates)


def _candidates(data: HeteroData) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "pca", {}
    yield "guided-projection", {"kernel": "linear"}
    if data.n_rows <= KERNEL_ROWS:
        yield "guided-projection", {"kernel": "rbf"}
