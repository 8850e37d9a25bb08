"""Requirements of methods on the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

import numpy as np

from hetviz._text import join_words
from hetviz.data import HeteroData
from hetviz.data.model.views import identity_links
from hetviz.errors import DataError, Problem


class Need(StrEnum):
    """Requirements of methods on the data."""

    FEATURES = "features"
    SOME_FEATURES = "some features"
    FEATURES_OR_LINKS = "features or links"
    JOINED_DATASETS = "joined datasets"
    POSITIVE_LINKS = "positive links"
    LINKED_DATASETS = "positive links between datasets"
    SEVERAL_SOURCES = "several descriptions of the same items"
    TWO_WITH_FEATURES = "two datasets with features"
    DESCRIBED = "features, or links within a dataset"
    COMPARISONS = "comparisons"
    LABELS = "labels"


def unmet_reason(need: Need, data: HeteroData) -> str | None:
    """Return why the data do not meet a need, or None if they do."""
    return _UNMET_REASONS[need](data)


def _missing_features_reason(data: HeteroData) -> str | None:
    featureless = [name for name, dataset in data.datasets.items() if dataset.is_featureless]
    if featureless:
        has = "has" if len(featureless) == 1 else "have"
        return f"It needs features in every dataset, but {join_words(featureless)} {has} none."
    return None


def _no_features_reason(data: HeteroData) -> str | None:
    if all(dataset.is_featureless for dataset in data.datasets.values()):
        return "It needs features in at least one dataset, but no dataset has any."
    return None


def _no_features_or_links_reason(data: HeteroData) -> str | None:
    if _no_features_reason(data) is None:
        return None
    if any((group.weight > 0).any() for group in data.links) or identity_links(data):
        return None
    return "It needs features in at least one dataset, or links between items that belong together."


def _not_joined_reason(data: HeteroData) -> str | None:
    if len(data.datasets) == 1 or any(not group.within for group in data.links):
        return None
    if identity_links(data):
        return None
    return "The datasets are not connected. Link some of their items."


def _no_positive_links_reason(data: HeteroData) -> str | None:
    if any((group.weight > 0).any() for group in data.links) or identity_links(data):
        return None
    if any((group.weight < 0).any() for group in data.links):
        return (
            "All links keep items apart, so every direction is equally good. "
            "Link some pairs that belong together."
        )
    return "It needs links between items that belong together, but there are none."


def _not_linked_reason(data: HeteroData) -> str | None:
    if len(data.datasets) == 1:
        return "It relates datasets to each other, but there is only one dataset."
    if any((group.weight > 0).any() for group in data.links if not group.within):
        return None
    if identity_links(data):
        return None
    return "It needs links between items of different datasets."


def _single_source_reason(data: HeteroData) -> str | None:
    for entity in data.entities:
        names = data.views(entity)
        graphs = {
            group.kind
            for group in data.links
            if group.source in names and group.target in names and (group.weight > 0).any()
        }
        if sum(not data[name].is_featureless for name in names) + len(graphs) > 1:
            return None
    return (
        "It combines several descriptions of the same items, such as two sets of features with "
        "the same ids, or features and links within one dataset. Here each item has only one "
        "description."
    )


def _fewer_than_two_featured_reason(data: HeteroData) -> str | None:
    featured = [name for name, dataset in data.datasets.items() if not dataset.is_featureless]
    if len(featured) > 1:
        return None
    if featured:
        return f"It compares two datasets by their features, but only {featured[0]} has any."
    return "It compares two datasets by their features, but no dataset has any."


def _undescribed_reason(data: HeteroData) -> str | None:
    within = any(group.within and (group.weight > 0).any() for group in data.links)
    return None if within else _no_features_reason(data)


def _no_comparisons_reason(data: HeteroData) -> str | None:
    if data.comparisons is not None and len(data.comparisons):
        return None
    return 'It needs comparisons such as "a is closer to b than to c", but there are none.'


def _no_labels_reason(data: HeteroData) -> str | None:
    if any(bool(column.known.any()) for column in data.labels):
        return None
    return "It needs a label with known values for some items, but there is none."


_UNMET_REASONS: Mapping[Need, Callable[[HeteroData], str | None]] = {
    Need.FEATURES: _missing_features_reason,
    Need.SOME_FEATURES: _no_features_reason,
    Need.FEATURES_OR_LINKS: _no_features_or_links_reason,
    Need.JOINED_DATASETS: _not_joined_reason,
    Need.POSITIVE_LINKS: _no_positive_links_reason,
    Need.LINKED_DATASETS: _not_linked_reason,
    Need.SEVERAL_SOURCES: _single_source_reason,
    Need.TWO_WITH_FEATURES: _fewer_than_two_featured_reason,
    Need.DESCRIBED: _undescribed_reason,
    Need.COMPARISONS: _no_comparisons_reason,
    Need.LABELS: _no_labels_reason,
}


def check_square(data: HeteroData) -> None:
    """Check that kernels and distances have one row and column per item and are symmetric."""
    problems = []
    for name, dataset in data.datasets.items():
        for kind in ("kernel", "distance"):
            matrix = getattr(dataset, kind)
            if matrix is None:
                continue
            where = f"dataset {name!r}, {kind}"
            if matrix.shape != (len(dataset), len(dataset)):
                problems.append(
                    Problem(
                        "bad-shape",
                        where,
                        f"shape ({len(dataset)}, {len(dataset)}) is needed",
                        str(matrix.shape),
                        "Give one row and one column for each item.",
                    )
                )
                continue
            largest = float(np.abs(matrix).max()) or 1.0
            asymmetry = float(np.abs(matrix - matrix.T).max())
            if asymmetry > 1e-6 * largest:
                row, column = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
                problems.append(
                    Problem(
                        "not-symmetric",
                        f"{where}, rows {row + 1} and {column + 1}",
                        "the matrix is not symmetric",
                        f"{matrix[row, column]:g} and {matrix[column, row]:g}",
                        "Use the mean of the matrix and its transpose.",
                    )
                )
    if problems:
        raise DataError(problems)
