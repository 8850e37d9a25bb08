"""What data must have before a method applies, and in plain words why it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from hetviz.data import HeteroData
from hetviz.data.model.views import identity_links


class Need(StrEnum):
    """What data must have before a method applies."""

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


def unmet(need: Need, data: HeteroData) -> str | None:
    """Return why data do not meet a need, or None where they do."""
    return _UNMET[need](data)


def _no_features(data: HeteroData) -> str | None:
    bare = [name for name, dataset in data.datasets.items() if dataset.is_featureless]
    if bare:
        return f"It needs features in every dataset; {', '.join(bare)} has none."
    return None


def _no_features_at_all(data: HeteroData) -> str | None:
    if all(dataset.is_featureless for dataset in data.datasets.values()):
        return "It needs features in at least one dataset; none has any."
    return None


def _no_features_or_links(data: HeteroData) -> str | None:
    if _no_features_at_all(data) is None:
        return None
    if any((group.weight > 0).any() for group in data.links) or identity_links(data):
        return None
    return "It needs features in some dataset, or links that say what belongs together."


def _not_joined(data: HeteroData) -> str | None:
    if len(data.datasets) == 1 or any(not group.within for group in data.links):
        return None
    return None if identity_links(data) else "Nothing joins the datasets: link some of their items."


def _no_positive_links(data: HeteroData) -> str | None:
    if any((group.weight > 0).any() for group in data.links) or identity_links(data):
        return None
    if any((group.weight < 0).any() for group in data.links):
        return (
            "All guidance says apart, which leaves every direction equally good; "
            "say of some pairs that they belong together."
        )
    return "It needs links that say what belongs together; there are none."


def _not_linked(data: HeteroData) -> str | None:
    if len(data.datasets) == 1:
        return "It relates datasets to each other; there is only one."
    if any((group.weight > 0).any() for group in data.links if not group.within):
        return None
    if identity_links(data):
        return None
    return "It needs links that say which items of different datasets belong together."


def _one_source(data: HeteroData) -> str | None:
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
        "the same ids, or features and links within one dataset; here each item has only one."
    )


def _fewer_than_two_featured(data: HeteroData) -> str | None:
    featured = [name for name, dataset in data.datasets.items() if not dataset.is_featureless]
    if len(featured) > 1:
        return None
    return f"It compares two datasets by their features; {len(featured) or 'none'} has any."


def _undescribed(data: HeteroData) -> str | None:
    within = any(group.within and (group.weight > 0).any() for group in data.links)
    return None if within else _no_features_at_all(data)


def _no_comparisons(data: HeteroData) -> str | None:
    if data.comparisons is not None and len(data.comparisons):
        return None
    return 'It needs comparisons, such as "a is nearer to b than to c"; there are none.'


def _no_labels(data: HeteroData) -> str | None:
    if any(bool(column.known.any()) for column in data.labels):
        return None
    return "It needs a label that is known of some items; there is none."


_UNMET: Mapping[Need, Callable[[HeteroData], str | None]] = {
    Need.FEATURES: _no_features,
    Need.SOME_FEATURES: _no_features_at_all,
    Need.FEATURES_OR_LINKS: _no_features_or_links,
    Need.JOINED_DATASETS: _not_joined,
    Need.POSITIVE_LINKS: _no_positive_links,
    Need.LINKED_DATASETS: _not_linked,
    Need.SEVERAL_SOURCES: _one_source,
    Need.TWO_WITH_FEATURES: _fewer_than_two_featured,
    Need.DESCRIBED: _undescribed,
    Need.COMPARISONS: _no_comparisons,
    Need.LABELS: _no_labels,
}
