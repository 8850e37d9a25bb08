"""Names and meanings of the measures of a map."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hetviz._text import format_score, round_percent


@dataclass(frozen=True)
class MeasureText:
    """Name and meaning of a measure, and whether it is shown in percent."""

    name: str
    meaning: str
    percent: bool = False


CLOSE_MEANING = (
    "A link is close if its pair is among the closest pairs of items with links. The closest 5 % "
    "count, or more where the links form larger groups or are more."
)
"""Meaning of "close", for all texts."""

MEASURE_TEXTS = {
    "guidance_area": MeasureText(
        "Link closeness",
        "How much closer linked items are than other pairs: the area under the curve above. "
        "It is the mean share of all pairs that are farther apart than a linked one. 0.5 is "
        "chance.",
    ),
    "apart_auc": MeasureText(
        "Apart farther than together",
        "How often an apart link is farther than a together link. 0.5 is chance, 1 is possible.",
    ),
    "negative_guidance_area": MeasureText(
        "Apart links far",
        "The mean share of all pairs that are closer than an apart link. 0.5 is chance. Most "
        "pairs are far apart anyway, so even a perfect map is only a little above.",
    ),
    "comparison_accuracy": MeasureText(
        "Comparisons satisfied",
        "The share of the comparisons “a is closer to b than to c” that the map agrees with. "
        "0.5 is chance.",
    ),
    "link_auc": MeasureText(
        "Linked closer than not linked",
        "How often a linked pair is closer than a pair that is not linked. 0.5 is chance.",
    ),
    "degree_auc": MeasureText(
        "Linked closer than equally popular",
        "How often a linked pair is closer than an unlinked pair of items with as many links. "
        "Popular items in the middle gain nothing here. 0.5 is chance.",
    ),
    "links_kept": MeasureText(
        "Links close", f"Share of links that are close. {CLOSE_MEANING}", True
    ),
    "links_kept_chance": MeasureText(
        "Links close by chance",
        "Share of pairs that count as close: what “Links close” would be on a random map.",
        True,
    ),
    "rand_index": MeasureText(
        "Links that fit groups",
        "The map is split into groups of close items. The share of links that fit: together in "
        "one group, apart in two.",
        True,
    ),
    "rand_index_pairs": MeasureText(
        "Pairs that fit groups",
        "The same over all pairs of linked datasets: linked ones in one group, all others in two. "
        "Most pairs are not linked, so many groups give a high value.",
        True,
    ),
    "trustworthiness": MeasureText(
        "True neighbours",
        "Whether an item's 10 nearest neighbours on the map, within its dataset, also have similar "
        "features. 0.5 is about chance.",
    ),
    "continuity": MeasureText(
        "Neighbours preserved",
        "Whether the 10 items with the most similar features stay close on the map. 0.5 is about "
        "chance.",
    ),
    "graph_auc": MeasureText(
        "Linked items first",
        "With all other items sorted by distance from an item: how often a linked one of another "
        "dataset comes before one that is not linked. 0.5 is chance.",
    ),
    "metric_1@1": MeasureText(
        "Nearest is linked",
        "Share of linked items whose nearest item in the other dataset is linked with them.",
        True,
    ),
    "metric_1@10": MeasureText(
        "A link among 10 nearest",
        "Share of linked items with at least one link to their 10 nearest in the other dataset.",
        True,
    ),
    "metric_2@10": MeasureText(
        "Links among 10 nearest",
        "How many of the 10 nearest in the other dataset are linked, on average.",
    ),
    "metric_1_within@1": MeasureText(
        "Nearest shares a link",
        "Share of linked items whose nearest item of their own dataset is linked with the same "
        "item of another.",
        True,
    ),
    "metric_1_within@10": MeasureText(
        "A shared link among 10 nearest",
        "Share of linked items with at least one of the 10 nearest of their own dataset linked "
        "with the same item of another.",
        True,
    ),
    "metric_2_within@10": MeasureText(
        "Shared links among 10 nearest",
        "How many of the 10 nearest of their own dataset are linked with the same item of "
        "another, on average.",
    ),
    "ndcg": MeasureText(
        "Tags found",
        "Each item gets as many of its nearest tags as it has. 1 means that all are its own, in "
        "front. Hidden: tags hidden from the method.",
    ),
    "ndcg_guess": MeasureText(
        "Tags guessed",
        "The same for a guess of the most frequent tags without a map: what “Tags found” has to "
        "beat.",
    ),
    "variance_ratio": MeasureText(
        "Spread of the datasets",
        "How many times wider one dataset is spread over the map than the other (or than all "
        "together), as variances. 1 is equal. Far from 1, the datasets share the map badly.",
    ),
    "label_knn_accuracy": MeasureText(
        "Label of the neighbours",
        "Share of items with the same label as most of their 5 nearest labelled items.",
        True,
    ),
    "label_across_accuracy": MeasureText(
        "Label across datasets",
        "The same with neighbours from other datasets only, for items whose label also occurs in "
        "another dataset.",
        True,
    ),
    "nmi": MeasureText(
        "Groups match labels",
        "How well groups of close items and the classes of the label predict each other: 0 not at "
        "all, 1 fully.",
    ),
}

HELD_OUT = "_held_out"
"""Ending of the measures of hidden links."""
REPEATED = frozenset({"metric_2@1", "metric_2_within@1"})
"""Measures of one neighbour that equal ``metric_1@1`` and ``metric_1_within@1``."""

_AMONG = re.compile(r"(?P<name>.+)@(?P<k>\d+)")


def measure_text(key: str) -> MeasureText | None:
    """Return the text of a measure, also of hidden links and of other numbers of neighbours."""
    if key in MEASURE_TEXTS:
        return MEASURE_TEXTS[key]
    if key.endswith(HELD_OUT):
        text = measure_text(key.removesuffix(HELD_OUT))
        return None if text is None else replace(text, name=f"{text.name}, hidden")
    match = _AMONG.fullmatch(key)
    among_10 = MEASURE_TEXTS.get(f"{match['name']}@10") if match else None
    if match is None or among_10 is None:
        return None
    name, meaning = (
        text.replace("10 nearest", f"{match['k']} nearest")
        for text in (among_10.name, among_10.meaning)
    )
    return replace(among_10, name=name, meaning=meaning)


MAIN_MEASURES = ("guidance_area", "apart_auc", "comparison_accuracy", "trustworthiness")
"""Measures shown first, all with 0.5 as chance level."""

_ROWS_OF_MEASURES = {
    **dict.fromkeys(
        ("guidance_area", "link_auc", "degree_auc", "links_kept", "links_kept_chance"), "links"
    ),
    **dict.fromkeys(("apart_auc", "negative_guidance_area"), "apart"),
    **dict.fromkeys(("trustworthiness", "continuity"), "neighbours"),
    "comparison_accuracy": "comparisons",
    "label_knn_accuracy": "labels",
}


def rows_of_measure(key: str) -> str:
    """Return what `hetviz.evidence` is asked about for the rows of a measure, "" for no measure."""
    base = key.removesuffix(HELD_OUT)
    return _ROWS_OF_MEASURES.get(base, "" if measure_text(base) is None else base)


MEASURES_WITH_ROWS = tuple(key for key in MEASURE_TEXTS if rows_of_measure(key) == key)
"""Measures that `hetviz.evidence` knows by their own name, also for other numbers of neighbours."""
HIDDEN_MEASURES = ("ndcg", "ndcg_guess", "rand_index")
"""Those of them that also measure hidden links."""

GROUPS = {
    "Guidance": (
        "guidance_area",
        "apart_auc",
        "negative_guidance_area",
        "comparison_accuracy",
        "link_auc",
        "degree_auc",
        "links_kept",
        "links_kept_chance",
        "rand_index",
        "rand_index_pairs",
    ),
    "Neighbours": (
        "trustworthiness",
        "continuity",
        "graph_auc",
        "metric_1@1",
        "metric_1@10",
        "metric_2@10",
        "metric_1_within@1",
        "metric_1_within@10",
        "metric_2_within@10",
        "ndcg",
        "ndcg_guess",
        "variance_ratio",
    ),
    "Labels": ("label_knn_accuracy", "label_across_accuracy", "nmi"),
}

COLUMNS = {
    "given": "Links that the method used.",
    "hidden": "Links hidden from the method. Only these show whether the map is right about new "
    "links.",
}


def score_text(key: str, scores: Mapping[str, Any], errors: Mapping[str, Any], name: str) -> str:
    """Return a score as text, with its standard error if known, empty without a score."""
    if name not in scores:
        return ""
    percent = MEASURE_TEXTS[key].percent
    value = round_percent(scores[name]) if percent else format_score(scores[name])
    error = errors.get(name)
    if error is None or error < 0.0005:
        return value
    return f"{value} ± {100 * error:.1f}" if percent else f"{value} ± {error:.3f}"
