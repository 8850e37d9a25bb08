"""Names and meanings of the measures of a map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MeasureText:
    """A measure in words.

    Attributes
    ----------
    name, meaning : str
    percent : bool
        Whether it is a share of items, better read in per cent.
    """

    name: str
    meaning: str
    percent: bool = False


MEASURE_TEXTS = {
    "guidance_area": MeasureText(
        "Together, kept together",
        "How much nearer linked items lie than other pairs: the area under the curve above. "
        "It is the mean share of all pairs that lie farther apart than a linked one. 0.5 is "
        "chance.",
    ),
    "apart_auc": MeasureText(
        "Apart, farther than together",
        "How often a pair said to be apart lies farther than a pair said to be together. 0.5 is "
        "chance, 1 can be reached.",
    ),
    "negative_guidance_area": MeasureText(
        "Apart, kept apart",
        "The mean share of all pairs that lie closer than a pair said to be apart. 0.5 is chance; "
        "since most pairs are of different sorts, even a perfect map stays little above.",
    ),
    "comparison_accuracy": MeasureText(
        "Comparisons kept",
        "The share of the statements “a is nearer to b than to c” that the map agrees with. 0.5 "
        "is chance.",
    ),
    "link_auc": MeasureText(
        "Linked before not linked",
        "How often a linked pair lies closer than a pair that is not linked. 0.5 is chance.",
    ),
    "degree_auc": MeasureText(
        "Linked before equally popular",
        "How often a linked pair lies closer than a pair of items with as many links each that are "
        "not linked. Popular items in the middle gain nothing here. 0.5 is chance.",
    ),
    "links_kept": MeasureText(
        "Links kept",
        "Share of links whose pair is among the closest 5 % of all pairs that could be linked.",
        True,
    ),
    "rand_index": MeasureText(
        "Links that fit groups",
        "The map is split into groups of near items. The share of links that fit: together in one "
        "group, apart in two.",
        True,
    ),
    "rand_index_pairs": MeasureText(
        "Pairs that fit groups",
        "The same over all pairs of linked datasets: linked ones in one group, all others in two. "
        "Most pairs are not linked, so it is high where groups are many.",
        True,
    ),
    "trustworthiness": MeasureText(
        "Neighbours that are true",
        "Whether an item's 10 nearest neighbours on the map, within its dataset, are near by its "
        "features too. 0.5 is about chance.",
    ),
    "continuity": MeasureText(
        "Neighbours not torn apart",
        "Whether the 10 nearest by features stay near on the map. 0.5 is about chance.",
    ),
    "graph_auc": MeasureText(
        "Linked items come first",
        "All other items in order of nearness, seen from each item: how often a linked one of "
        "another dataset comes before one that is not linked. 0.5 is chance.",
    ),
    "metric_1@1": MeasureText(
        "Nearest one is linked",
        "Share of linked items whose nearest in the other dataset is a linked one.",
        True,
    ),
    "metric_1@10": MeasureText(
        "A linked one in 10",
        "Share of linked items with at least one linked one among their 10 "
        "nearest in the other dataset.",
        True,
    ),
    "metric_2@10": MeasureText(
        "Linked ones in 10",
        "How many of the 10 nearest in the other dataset are linked, on average.",
    ),
    "metric_1_within@10": MeasureText(
        "One sharing a link in 10",
        "Share of linked items with at least one among their 10 nearest of their own dataset "
        "that is linked with the same item of another.",
        True,
    ),
    "metric_2_within@10": MeasureText(
        "Ones sharing a link in 10",
        "How many of the 10 nearest of their own dataset are linked with the same item of "
        "another, on average.",
    ),
    "ndcg": MeasureText(
        "Tags found",
        "Each item gets as many of its nearest tags as it has. 1: all are its own, and in front. "
        "Held out: tags that the method was not shown.",
    ),
    "ndcg_guess": MeasureText(
        "Tags guessed",
        "The same for a guess that names the most frequent tags and looks at no "
        "map: what “Tags found” has to beat.",
    ),
    "variance_ratio": MeasureText(
        "Spread of the datasets",
        "How many times wider one dataset is spread over the map than the other (or than all "
        "together), as variances. 1 is alike; far from 1 the datasets share the picture badly.",
    ),
    "label_knn_accuracy": MeasureText(
        "Label of the neighbours",
        "Share of items for which most of the 5 nearest with a label have the same label.",
        True,
    ),
    "label_across_accuracy": MeasureText(
        "Label across datasets",
        "The same with neighbours from other datasets only, for items whose label another dataset "
        "has too.",
        True,
    ),
    "nmi": MeasureText(
        "Groups like the labels",
        "How far groups of near items and the classes of the label tell each other: 0 not at all, "
        "1 fully.",
    ),
}

MAIN_MEASURES = ("guidance_area", "apart_auc", "comparison_accuracy", "trustworthiness")
"""Shown at once; of all these 0.5 is chance."""

GROUPS = {
    "Keeps what was said": (
        "guidance_area",
        "apart_auc",
        "negative_guidance_area",
        "comparison_accuracy",
        "link_auc",
        "degree_auc",
        "links_kept",
        "rand_index",
        "rand_index_pairs",
    ),
    "Keeps neighbours": (
        "trustworthiness",
        "continuity",
        "graph_auc",
        "metric_1@1",
        "metric_1@10",
        "metric_2@10",
        "metric_1_within@10",
        "metric_2_within@10",
        "ndcg",
        "ndcg_guess",
        "variance_ratio",
    ),
    "Fits the labels": ("label_knn_accuracy", "label_across_accuracy", "nmi"),
}

COLUMNS = {
    "given": "Links that the method was shown.",
    "held out": "Links kept from the method. Only these tell whether the map would be right about "
    "links that nobody has given yet.",
}


def score_text(key: str, scores: Mapping[str, Any], errors: Mapping[str, Any], name: str) -> str:
    """Return a score as text, with its standard error if known, empty without a score."""
    if name not in scores:
        return ""
    percent = MEASURE_TEXTS[key].percent
    value = f"{100 * scores[name]:.0f} %" if percent else f"{scores[name]:.2f}"
    error = errors.get(name)
    if error is None or error < 0.0005:
        return value
    return f"{value} ± {100 * error:.1f}" if percent else f"{value} ± {error:.3f}"
