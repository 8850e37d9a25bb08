"""What says how far apart the rows of a dataset are."""

from __future__ import annotations

from hetviz.core.graph.distances import DistanceSpace, FeatureSpace, KernelSpace, Space
from hetviz.data import Dataset


def space_of(dataset: Dataset) -> Space | None:
    """Return the distances among the rows of a dataset: by features, else distances, else kernel.

    None without any, and for new rows, which know their distances to fitted rows only.
    """
    square = (len(dataset), len(dataset))
    if dataset.X is not None:
        return FeatureSpace(dataset.X)
    if dataset.distance is not None and dataset.distance.shape == square:
        return DistanceSpace(dataset.distance)
    if dataset.kernel is not None and dataset.kernel.shape == square:
        return KernelSpace(dataset.kernel)
    return None
