"""All measures of a map in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pandas as pd

from hetviz._html import html_table
from hetviz._text import join_words
from hetviz.core.measures.neighborhoods import Preservation, measure_preservation
from hetviz.core.measures.resolution import error_of_mean, significant_difference
from hetviz.core.ordinal.comparisons import comparison_outcomes, max_satisfiable_share
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.immutable import Immutable
from hetviz.errors import DataWarning
from hetviz.features.spaces.affinities import space_of
from hetviz.metrics.fit.clustering import cluster_measures, label_codes, variance_ratio
from hetviz.metrics.fit.guidance import BlockScore, apart_auc, weighted_mean, weighted_mean_error
from hetviz.metrics.fit.measured_map import MeasuredMap, MeasureValues
from hetviz.metrics.fit.ranking import (
    label_neighbors,
    labels_across,
    linked_neighbors,
    reconstruction,
    shared_link_neighbors,
    tag_prediction,
)

_COLUMNS = [
    "source",
    "target",
    "sign",
    "n_links",
    "n_unplaced",
    "area",
    "auc",
    "standard_error",
    "degree_auc",
    "kept",
    "chance",
]
_BLOCK_ATTRIBUTES = {"kept": "share_satisfied"}
_LINK_MEASURES = (
    ("guidance_area", "area", 1),
    ("negative_guidance_area", "area", -1),
    ("link_auc", "auc", 1),
    ("degree_auc", "degree_auc", 1),
    ("links_kept", "share_close", 1),
    ("links_kept_chance", "chance", 1),
)


@dataclass(frozen=True, eq=False)
class Scores(Immutable):
    """Measures of one map.

    `values`: Measures that apply, see `evaluate`.
    `blocks`: One row per pair of datasets and sign: source, target, sign, held_out, n_links,
        n_unplaced, area, auc, standard_error, degree_auc, kept (share of close links, or of
        negative links that are not close) and its chance level.
    `ceilings`: Maximum of each value on these data, if it is not 1. An item with a unique label
        has no neighbour with the same label. At most half of contradicting comparisons can hold.
        NaN for values without a maximum. See `ceiling`.
    `resolutions`: Smallest significant difference between two maps of these data, by name: 1.96
        sqrt(2) standard errors over the links, comparisons or items. Links that share an item
        count less than links of different items.
    `note`: A problem of the whole map, such as that it shares no id with the data, else "".
    """

    values: Mapping[str, float]
    standard_errors: Mapping[str, float]
    blocks: pd.DataFrame
    ceilings: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    resolutions: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, float]:
        """Return the values by name, without measures that do not apply."""
        return dict(self.values)

    def ceiling(self, name: str) -> float:
        """Return the maximum of a value on these data. NaN if it has no maximum."""
        return self.ceilings.get(name, 1.0)

    def __repr__(self) -> str:
        lines = [f"{name:<22} {value:.3f}" for name, value in self.values.items()]
        return "\n".join(["Scores", *lines, *([self.note] if self.note else [])])

    def _repr_html_(self) -> str:
        rows = []
        for name, value in self.values.items():
            error = self.standard_errors.get(name)
            error_text = "" if error is None else f"\u00b1 {error:.3f}"
            ceiling, resolution = self.ceiling(name), self.resolutions.get(name, float("nan"))
            limits = ("" if np.isnan(limit) else f"{limit:.3f}" for limit in (ceiling, resolution))
            rows.append((name, f"{value:.3f}", error_text, *limits))
        head = ("measure", "", "standard error", "at most", "resolution")
        return html_table("Scores", rows, head, self.note)


@one_thread()
def evaluate(
    data: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None = None,
    random_state: int = 0,
) -> Scores:
    """Measure how well a map shows links, comparisons, labels and neighbours.

    Parameters
    ----------
    data : HeteroData
        Data of the map.
    embedding : Embedding
        Rows are matched by dataset and id.
    held_out : HeteroData, optional
        Hidden links and comparisons, see `HeteroData.holdout`.
    random_state : int
        Seed for sampling.

    Returns
    -------
    Scores
        These measures, if they apply:

        guidance_area
            Area under the satisfaction curve of positive links: 1 is best, chance level 0.5. Mean
            over blocks of datasets, weighted by links.
        apart_auc
            Probability that a negative pair is farther than a positive pair: 1 is best, chance
            level 0.5. Needs links of both signs between the same two datasets.
        negative_guidance_area
            Area under the curve of negative links, ranked among all pairs. Most unlinked pairs are
            also different, so even a perfect map hardly exceeds 0.55. Prefer apart_auc.
        link_auc
            Probability that a linked pair is closer than an unlinked pair.
        degree_auc
            The same against pairs of ends of two different links, so that popular items have no
            advantage. See `hetviz.core.measures.satisfaction.degree_placements`.
        links_kept
            Share of links that are close: among the closest share of the pairs of items with
            links that `links_kept_chance` gives. Links with an end without a place are not close.
        links_kept_chance
            Chance level of links_kept: the share of pairs within the groups that links form, at
            least 5 %. See `hetviz.core.measures.close_pairs.close_share`.
        comparison_accuracy
            Share of comparisons that the map agrees with, ties half.
        ndcg, ndcg_guess
            Whether the nearest tags of an item are its own, from 0 to 1. The guess always predicts
            the most frequent tags.
        rand_index, rand_index_pairs, nmi
            Clusters of the map (k-means with the number of classes of the first label, or 10)
            against links, against all pairs of linked datasets, and against the classes.
        graph_auc
            Probability that a linked item of another dataset ranks before an unlinked one, among
            all other items.
        metric_1@k, metric_2@k
            Share of items with a linked item among their k nearest of another dataset, and the
            mean number of linked items there, for k = 1, 5, 10, 20, 50.
        metric_1_within@k, metric_2_within@k
            The same among the k nearest of the own dataset, for items with a common linked item.
            See `hetviz.metrics.fit.ranking.shared_link_neighbors`.
        variance_ratio
            How much wider one dataset spreads than another.
        trustworthiness, continuity
            Of the 10 nearest neighbours, mean over datasets with features, weighted by rows.
        label_knn_accuracy
            Share of labelled items whose 5 nearest labelled items mostly have the same label.
        label_across_accuracy
            The same with the 5 nearest labelled items of other datasets, for items whose label
            occurs in another dataset.

        The first eight, ndcg, ndcg_guess and rand_index also have the ending ``_held_out``.

    Warns
    -----
    hetviz.errors.DataWarning
        If no item has a place. Then no measure applies, and the ``note`` of the scores gives the
        reason.

    Notes
    -----
    Exact up to 20,000,000 pairs per block, 20,000 items for tags and linked items, and 2,500 rows
    for graph_auc and neighbourhoods. Larger data are sampled, with a standard error. Memory is
    bounded, without n x n matrices.
    """
    return evaluate_measured(MeasuredMap(data, embedding, held_out, random_state))


def evaluate_measured(measured: MeasuredMap, brief: bool = False) -> Scores:
    """Return the scores of a measured map, see `evaluate`."""
    values: MeasureValues = {}
    note = "" if measured.placed.any() else _no_common_items_note(measured)
    if note:
        warnings.warn(note, DataWarning, stacklevel=3)
    else:
        for measure in _BRIEF_MEASURE_FUNCTIONS if brief else _MEASURE_FUNCTIONS:
            measured.beat()
            values |= measure(measured)
    given_blocks, hidden_blocks = measured.blocks
    tables = [_block_table(given_blocks, False)]
    if measured.held_out is not None:
        tables.append(_block_table(hidden_blocks, True))
    return Scores(
        MappingProxyType({name: value for name, (value, _) in values.items()}),
        MappingProxyType({name: error for name, (_, error) in values.items() if error > 0}),
        pd.concat(tables, ignore_index=True),
        MappingProxyType({k: v for k, v in _ceilings(measured, values).items() if k in values}),
        note,
        MappingProxyType(
            {
                name: significant_difference(error)
                for name, error in measured.errors.items()
                if name in values and np.isfinite(error)
            }
        ),
    )


def _no_common_items_note(measured: MeasuredMap) -> str:
    """Return why a map has no place for any item of the data."""
    data, embedding = measured.data, measured.embedding
    common = [name for name in data.datasets if name in embedding.coordinates]
    if not common:
        return (
            f"Nothing to measure: the map is of {join_words(list(embedding.coordinates))}, the "
            "data of "
            f"{join_words(list(data.datasets))}. Use the same dataset names."
        )
    name = common[0]
    data_ids, map_ids = data[name].ids, embedding.ids[name]
    if not set(data_ids.tolist()) & set(map_ids.tolist()):
        return (
            f"Nothing to measure: the map shares no id with the data. In {name} the data have "
            f"{data_ids[0]!r}, the map {map_ids[0]!r}. Ids are compared as text."
        )
    return "Nothing to measure: no item of the data has a place on the map."


def _ceilings(measured: MeasuredMap, values: MeasureValues) -> dict[str, float]:
    ceilings: dict[str, float] = {}
    for blocks, ending in zip(measured.blocks, ("", "_held_out"), strict=True):
        for name, measure, sign in (
            ("guidance_area", "area_ceiling", 1),
            ("negative_guidance_area", "area_ceiling", -1),
        ):
            ceiling = weighted_mean(blocks, measure, sign)
            if ceiling is not None and ceiling < 1.0:
                ceilings[name + ending] = ceiling
    for dataset, ending in ((measured.data, ""), (measured.held_out, "_held_out")):
        if dataset is not None and dataset.comparisons is not None and len(dataset.comparisons):
            ceiling = max_satisfiable_share(dataset.comparisons.objects)
            if ceiling < 1.0:
                ceilings["comparison_accuracy" + ending] = ceiling
    # Counts are at most k.
    ceilings |= {
        name: float(name.partition("@")[2]) for name in values if name.startswith("metric_2")
    }
    ceilings["variance_ratio"] = float("nan")
    if (labels := label_codes(measured.data)) is not None:
        codes = labels[0][(labels[0] >= 0) & measured.placed]
        is_single = np.bincount(codes, minlength=1)[codes] < 2
        if is_single.any():
            ceilings["label_knn_accuracy"] = float(1.0 - is_single.mean())
    return ceilings


def link_measures(measured: MeasuredMap) -> MeasureValues:
    """Return the first six measures of `evaluate`, those of links."""
    values: MeasureValues = {}
    for blocks, ending in zip(measured.blocks, ("", "_held_out"), strict=True):
        for name, measure, sign in _LINK_MEASURES:
            if (value := weighted_mean(blocks, measure, sign)) is not None:
                error_name = "degree_error" if measure == "degree_auc" else "standard_error"
                error = max(getattr(block, error_name) for block in blocks if block.sign == sign)
                error = 0.0 if measure == "chance" else error
                values[name + ending] = (value, error)
                if measure != "chance":
                    measured.errors[name + ending] = weighted_mean_error(blocks, measure, sign)
        if (apart := apart_auc(blocks)) is not None:
            values["apart_auc" + ending] = (apart[0], 0.0)
            measured.errors["apart_auc" + ending] = apart[1]
    return values


def comparison_measures(measured: MeasuredMap) -> MeasureValues:
    """Return comparison_accuracy."""
    values: MeasureValues = {}
    parts = (
        (measured.data, measured.places, ""),
        (measured.held_out, measured.held_out_places, "_held_out"),
    )
    for data, Y, ending in parts:
        if data is None or data.comparisons is None or not len(data.comparisons):
            continue
        objects = data.comparisons.objects
        outcomes = comparison_outcomes(np.vstack(list(Y.values())), objects)
        if np.isfinite(outcomes).any():
            values["comparison_accuracy" + ending] = (float(np.nanmean(outcomes)), 0.0)
            measured.errors["comparison_accuracy" + ending] = error_of_mean(outcomes, objects[:, 0])
    return values


def neighborhood_measures(measured: MeasuredMap) -> MeasureValues:
    """Return trustworthiness and continuity, weighted by the rows of the datasets."""
    data = measured.data
    preservations: dict[str, Preservation] = {}
    for name, Y in measured.places.items():
        if (space := space_of(data[name])) is not None:
            measured.beat()
            result = measure_preservation(space, Y, random_state=measured.random_state)
            if np.isfinite(result.trustworthiness):
                preservations[name] = result
    values: MeasureValues = {}
    if preservations:
        weights = np.array([len(data[name]) for name in preservations], dtype=np.float64)
        weights /= weights.sum()
        for measure in ("trustworthiness", "continuity"):
            per_dataset = np.array([getattr(item, measure) for item in preservations.values()])
            error = np.array([getattr(item, f"{measure}_error") for item in preservations.values()])
            spread = float(np.sqrt(((weights * error) ** 2).sum()))
            values[measure] = (float(weights @ per_dataset), spread)
            spreads = np.array(
                [getattr(item, f"{measure}_spread") for item in preservations.values()]
            )
            measured.errors[measure] = float(np.sqrt(((weights * spreads) ** 2).sum()))
    return values


_MEASURE_FUNCTIONS: tuple[Callable[[MeasuredMap], MeasureValues], ...] = (
    link_measures,
    comparison_measures,
    tag_prediction,
    linked_neighbors,
    shared_link_neighbors,
    reconstruction,
    neighborhood_measures,
    variance_ratio,
    cluster_measures,
    label_neighbors,
    labels_across,
)
_BRIEF_MEASURE_FUNCTIONS = (
    link_measures,
    comparison_measures,
    neighborhood_measures,
    label_neighbors,
    labels_across,
)


def _block_table(blocks: list[BlockScore], held_out: bool) -> pd.DataFrame:
    attributes = [_BLOCK_ATTRIBUTES.get(column, column) for column in _COLUMNS]
    rows = [[getattr(block, attribute) for attribute in attributes] for block in blocks]
    table = pd.DataFrame(rows, columns=_COLUMNS)
    table.insert(3, "held_out", held_out)
    return table
