"""Diagnostics of a fit that do not depend on the method."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from hetviz._text import join_words
from hetviz._types import Floats
from hetviz.core.layout.axes_map import AxesMap
from hetviz.core.layout.out_of_sample import PlacementError
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, Diagnostic, make_diagnostic
from hetviz.errors import DataWarning
from hetviz.features.interpretation import columns_along

_MIN_CORRELATION = 0.1
MAX_DESCRIBED_AXES, N_FEATURES_PER_AXIS = 2, 5
"""Axes that are described by features, and features listed for each axis and dataset."""


def neighbor_search_messages(recall_by_dataset: Mapping[str, float]) -> list[Diagnostic]:
    """Return the recall of an approximate neighbour search."""
    if not recall_by_dataset:
        return []
    return [
        make_diagnostic(
            "neighbours found",
            "Nearest neighbours found",
            "Share of the true nearest neighbours that the search found: 1 is all. Large datasets "
            "use an approximate search, and the share is measured on a sample.",
            dict(recall_by_dataset),
            SHARE,
        )
    ]


def landmark_messages(error: PlacementError | None) -> list[Diagnostic]:
    """Return the placement error of a map that starts from landmarks."""
    if error is None or not error.n:
        return []
    return [
        make_diagnostic(
            "placement error",
            "Placement error of landmarks",
            "The map started from a few thousand items, the landmarks. All other items were placed "
            "by them before all moved together. This is how far landmarks land from their own "
            "place "
            "when placed the same way, as a share of the usual distance between two items.",
            {"half of them, at most": error.median, "nine in ten, at most": error.most},
            SHARE,
        )
    ]


def axes_map_messages(picture: AxesMap, k: int) -> list[Diagnostic]:
    """Return diagnostics of a neighbour map of k axes."""
    return [
        make_diagnostic(
            "picture",
            f"How well the picture shows the {k} axes",
            f"Share of the 10 nearest items on all {k} axes that are also among the 10 nearest in "
            "the picture: 1 is all. Closeness, similarity and clusters are measured on the axes.",
            {"neighbours in both": picture.share_preserved},
        ),
        make_diagnostic(
            "picture divergence",
            "What the picture cannot show",
            "How far distances in the picture differ from distances on the axes "
            "(Kullback-Leibler divergence, in nats): 0 means not at all.",
            {"divergence": picture.divergence},
        ),
    ]


def axis_messages(data: HeteroData, places: Mapping[str, Floats]) -> list[Diagnostic]:
    """Return the features that correlate with each axis, for methods with a closed form."""
    messages = []
    for name, dataset in data.datasets.items():
        if dataset.X is None or not np.isfinite(places[name]).all(axis=1).any():
            continue
        k = places[name].shape[1]
        for axis in range(min(k, MAX_DESCRIBED_AXES)):
            along = columns_along(dataset, places[name], np.eye(k)[axis], N_FEATURES_PER_AXIS)
            messages.append(
                make_diagnostic(
                    f"axis {axis + 1} of {name}",
                    f"Axis {axis + 1} for {name}",
                    "Correlation of features with this axis: 1 means that a feature grows "
                    "along the axis, -1 that it shrinks, 0 that it is unrelated.",
                    [
                        (column, messages)
                        for column, messages in zip(
                            along["column"], along["correlation"].tolist(), strict=True
                        )
                        if abs(messages) >= _MIN_CORRELATION
                    ],
                )
            )
    return messages


def warn_about_data(message: str) -> None:
    """Warn about a problem in the data that the user should check."""
    warnings.warn(message, DataWarning, stacklevel=3)


def warn_unplaced(n_items: int, name: str, lack: str) -> None:
    """Warn that some items of a dataset are left off the map."""
    if n_items:
        warn_about_data(f"{n_items:,} of {name} have {lack}, so they are left off the map.")


def left_off_message(datasets: Sequence[str], lack: str) -> str:
    """Return the warning about datasets that are left off the map."""
    has, is_ = ("has", "is") if len(datasets) == 1 else ("have", "are")
    return f"{join_words(list(datasets))} {has} {lack} and {is_} left off the map."
