"""Map of landmarks of a large dataset, from which a fit starts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from sklearn.base import clone

from hetviz._types import Floats
from hetviz.algorithms.contract import Fit
from hetviz.algorithms.sklearn_interface import SklearnInterface
from hetviz.core.layout.out_of_sample import PlacementError, placement_error
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.rows import select_rows
from hetviz.errors import Cancelled, DataWarning, NotApplicableError
from hetviz.features.spaces.joint_axes import leading_features
from hetviz.features.spaces.landmarks import MIN_ROWS, landmarks, place_by_landmarks
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.progress import Progress


def landmark_start(
    method: SklearnInterface, data: HeteroData, progress: Progress
) -> tuple[Embedding | None, PlacementError | None]:
    """Return a map of a few thousand landmarks of a large dataset, and its error of placement.

    `progress` gets partial layouts of the landmarks, then a layout of all items that places
    each by its landmarks. None for small data. The ``note`` is not the title of a method, so
    the method makes all its iterations. If `progress` raises Cancelled, its ``partial`` is a
    Fit of the landmarks.
    """
    if data.n_rows <= MIN_ROWS:
        return None, None
    rows = landmarks(data)
    part = select_rows(data, rows)
    params = {
        name: {key: inner for key, inner in value.items() if key in part.datasets}
        for name, value in method.get_params(deep=False).items()
        if isinstance(value, Mapping)
    }

    def all_rows(Y: Floats) -> Floats:
        out = np.full((data.n_rows, Y.shape[1]), np.nan)
        out[rows] = Y
        return out

    def report(fraction: float, message: str = "", **figures: object) -> None:
        if (layout := figures.get("layout")) is not None:
            figures["layout"] = lambda: all_rows(
                np.asarray(layout() if callable(layout) else layout)
            )
        progress(0.8 * fraction, f"Landmarks, {len(rows):,} of {data.n_rows:,} items", **figures)

    try:
        with warnings.catch_warnings():
            # The fit of all items shows these warnings.
            warnings.simplefilter("ignore", DataWarning)
            embedding = clone(method).set_params(**params).fit(part, report).embedding_
    except NotApplicableError:
        return None, None
    except Cancelled as stopped:
        if isinstance(stopped.partial, Embedding):
            Y = coordinates_of(data, stopped.partial)
            reason = "stopped while landmarks were placed"
            stopped.partial = Fit(Y, stopping_reason=reason)
        raise
    places = np.vstack([embedding.coordinates[name] for name in part.datasets])
    seed = int(getattr(method, "random_state", 0))
    placement = placement_error(
        [dataset.X for dataset in part.datasets.values()],
        [embedding.coordinates[name] for name in part.datasets],
        random_state=seed,
    )
    progress(
        0.8,
        "Placing all items by their landmarks",
        layout=lambda: place_by_landmarks(
            data,
            rows,
            places,
            leading_features(data, getattr(method, "features", "auto"), seed),
            seed,
        ),
    )
    start = Embedding(
        coordinates_of(data, embedding),
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
        note="landmarks",
    )
    return start, placement
