"""Measures that decide between methods, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hetviz.core.measures.satisfaction import NEAR


@dataclass(frozen=True)
class Measure:
    """A measure that can decide, in words.

    Attributes
    ----------
    key : str
        As in `Scores.to_dict`, or one of those that `hetviz.compare` adds.
    label : str
        For the head of a column.
    does : str
        What the best method does best: "keeps held-out links".
    chance : float or None
        Its value for a map that knows nothing; None where there is no such value.
    meaning : str
        One sentence.
    """

    key: str
    label: str
    does: str
    chance: float | None
    meaning: str


LOOK_AT = NEAR
"""A link counts as kept when its pair is among this share of all pairs, the closest ones."""

_KEPT = (
    "A link counts as kept when its pair is among the closest 5 % of all pairs that could be "
    "linked."
)
_BY = "by the method's own scores for pairs where it has such, else by nearness on its map."
MEASURES: Mapping[str, Measure] = {
    measure.key: measure
    for measure in (
        Measure(
            "overall",
            "Overall",
            "keeps links, neighbours and labels",
            None,
            "The mean of held-out links and comparisons, neighbours and labels, of those that "
            "apply.",
        ),
        Measure(
            "links_kept_held_out", "Held-out links kept", "keeps held-out links", LOOK_AT, _KEPT
        ),
        Measure(
            "links_kept_new_items",
            "Links of new items kept",
            "keeps the links of new items",
            LOOK_AT,
            "Some items were left out altogether and placed afterwards by their features. " + _KEPT,
        ),
        Measure(
            "link_auc_held_out",
            "Held-out links nearer than other pairs",
            "draws held-out links near",
            0.5,
            "The chance that a linked pair lies closer than a pair that is not linked.",
        ),
        Measure(
            "degree_auc_held_out",
            "Held-out links, popularity aside",
            "finds held-out links, popularity aside,",
            0.5,
            "The chance that a linked pair lies closer than a pair made of the ends of two links.",
        ),
        Measure(
            "link_score_precision_held_out",
            "Held-out links found",
            "finds held-out links",
            None,
            "Average precision among all pairs not linked yet, " + _BY,
        ),
        Measure(
            "link_score_auc_held_out",
            "Held-out links scored above other pairs",
            "scores held-out links above other pairs",
            0.5,
            "The chance that a linked pair scores above one that is not, " + _BY,
        ),
        Measure(
            "link_score_auc_new_items",
            "Links of new items scored above other pairs",
            "scores the links of new items above other pairs",
            0.5,
            "Some items were left out altogether and placed afterwards by their features. The "
            "chance that a linked pair of theirs scores above one that is not, " + _BY,
        ),
        Measure(
            "comparison_accuracy_held_out",
            "Held-out comparisons kept",
            "agrees with held-out comparisons",
            0.5,
            "A comparison is kept when the map agrees which of two distances is the shorter one.",
        ),
        Measure(
            "apart_auc_held_out",
            "Held-out “apart” farther than “together”",
            "keeps apart what it was not told is apart",
            0.5,
            "The chance that a pair said to be apart lies farther than a pair said to be together, "
            "of pairs that no method was told of.",
        ),
        Measure("links_kept", "Given links kept", "keeps the given links", LOOK_AT, _KEPT),
        Measure(
            "comparison_accuracy",
            "Given comparisons kept",
            "agrees with the given comparisons",
            0.5,
            "A comparison is kept when the map agrees which of two distances is the shorter one.",
        ),
        Measure(
            "trustworthiness",
            "True neighbours",
            "shows true neighbours",
            0.5,
            "Whether an item's 10 nearest neighbours on the map, within its dataset, are near by "
            "its features too; 100 is best.",
        ),
        Measure(
            "label_knn_accuracy",
            "Labels found by neighbours",
            "brings equal labels together",
            None,
            "How many items have the label that most of their nearest neighbours have.",
        ),
        Measure(
            "label_across_accuracy",
            "Labels found across datasets",
            "brings equal labels of different datasets together",
            None,
            "How many items have the label that most of their nearest neighbours in other datasets "
            "have.",
        ),
    )
}
"""The measures that may decide: all together first, then those of what no method saw."""

_TOGETHER = (
    ("link_auc_held_out", "links_kept_held_out"),
    ("degree_auc_held_out",),
    ("comparison_accuracy_held_out",),
    ("trustworthiness",),
    ("label_knn_accuracy", "label_across_accuracy"),
)


def overall(scores: Mapping[str, float]) -> float | None:
    """Return the mean of what a map is judged by; None where one sort of measure applies at most.

    Parameters
    ----------
    scores : mapping of str to float
        Of one map, with ``placed``, the share of items that have a place.

    Notes
    -----
    Each sort counts as much, however many measures it has: links held out (how near they lie and
    how many are kept), the same where popularity earns nothing, comparisons held out, neighbours,
    labels. The mean counts by the share of items that have a place.
    """
    sorts = [[scores[key] for key in keys if key in scores] for keys in _TOGETHER]
    means = [sum(values) / len(values) for values in sorts if values]
    if len(means) < 2:
        return None
    return scores.get("placed", 1.0) * sum(means) / len(means)
