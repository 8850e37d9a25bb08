"""Measures that decide between methods, with their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hetviz._text import join_words
from hetviz.core.measures.satisfaction import NEAR_SHARE
from hetviz.metrics.measure_names import CLOSE_MEANING


@dataclass(frozen=True)
class DecidingMeasure:
    """A measure that can decide, with its texts."""

    key: str  # As in `Scores.to_dict`, or one that `hetviz.compare` adds.
    label: str  # Heading of a column.
    does: str  # What a good method is best at: "finding hidden links again".
    chance: float | None  # Its value for a random map; None where there is none.
    meaning: str  # One sentence.
    chance_key: str = ""  # Key of the value for a random map, if it depends on the data.


_SCORED_BY = "by the method's own scores where it has some, else by closeness on its map."
MEASURES: Mapping[str, DecidingMeasure] = {
    measure.key: measure
    for measure in (
        DecidingMeasure(
            "overall",
            "Overall",
            "showing all that was scored",
            None,
            "The mean over the sorts of measures that apply.",
        ),
        DecidingMeasure(
            "links_kept_held_out",
            "Hidden links found again",
            "finding hidden links again",
            NEAR_SHARE,
            CLOSE_MEANING,
            "links_kept_chance_held_out",
        ),
        DecidingMeasure(
            "links_kept_new_items",
            "Links of new items close",
            "placing new items close to what they link to",
            NEAR_SHARE,
            "Some items were left out and placed afterwards by their features. " + CLOSE_MEANING,
            "links_kept_chance_new_items",
        ),
        DecidingMeasure(
            "link_auc_held_out",
            "Hidden links closer than other pairs",
            "placing hidden links closer than other pairs",
            0.5,
            "The probability that a linked pair is closer than a pair that is not linked.",
        ),
        DecidingMeasure(
            "degree_auc_held_out",
            "Hidden links, regardless of popularity",
            "finding hidden links regardless of popularity",
            0.5,
            "The probability that a linked pair is closer than a pair of ends of two links.",
        ),
        DecidingMeasure(
            "link_score_precision_held_out",
            "Hidden links predicted",
            "predicting hidden links",
            None,
            "Average precision among all pairs not linked yet, " + _SCORED_BY,
        ),
        DecidingMeasure(
            "link_score_auc_held_out",
            "Hidden links scored above other pairs",
            "scoring hidden links above other pairs",
            0.5,
            "The probability that a linked pair scores above one that is not, " + _SCORED_BY,
        ),
        DecidingMeasure(
            "link_score_auc_new_items",
            "Links of new items scored above other pairs",
            "scoring links of new items above other pairs",
            0.5,
            "Some items were left out and placed afterwards by their features. The probability "
            "that one of their linked pairs scores above one that is not, " + _SCORED_BY,
        ),
        DecidingMeasure(
            "comparison_accuracy_held_out",
            "Hidden comparisons satisfied",
            "agreeing with hidden comparisons",
            0.5,
            "The map satisfies a comparison when it agrees which of two distances is shorter.",
        ),
        DecidingMeasure(
            "apart_auc_held_out",
            "Hidden “apart” farther than “together”",
            "separating hidden “apart” pairs",
            0.5,
            "The probability that a hidden “apart” pair is farther than a hidden “together” pair.",
        ),
        DecidingMeasure(
            "links_kept",
            "Links close",
            "placing linked items close",
            NEAR_SHARE,
            CLOSE_MEANING,
            "links_kept_chance",
        ),
        DecidingMeasure(
            "comparison_accuracy",
            "Comparisons satisfied",
            "agreeing with the comparisons",
            0.5,
            "The map satisfies a comparison when it agrees which of two distances is shorter.",
        ),
        DecidingMeasure(
            "trustworthiness",
            "True neighbours",
            "showing true neighbours",
            0.5,
            "Whether the 10 nearest neighbours of an item on the map, within its dataset, are also "
            "similar by features. 100 % is best.",
        ),
        DecidingMeasure(
            "label_knn_accuracy",
            "Labels of neighbours agree",
            "bringing equal labels together",
            None,
            "The share of items with the same label as most of their nearest neighbours.",
        ),
        DecidingMeasure(
            "label_across_accuracy",
            "Labels agree across datasets",
            "bringing equal labels of different datasets together",
            None,
            "The share of items with the same label as most of their nearest neighbours in other "
            "datasets.",
        ),
    )
}
"""The measures that may decide: overall first, then those of held-out data."""

_SORTS = (
    ("hidden links", ("link_auc_held_out", "links_kept_held_out")),
    ("hidden links", ("degree_auc_held_out",)),
    ("other links", ("links_kept",)),
    ("hidden comparisons", ("comparison_accuracy_held_out",)),
    ("neighbours", ("trustworthiness",)),
    ("labels", ("label_knn_accuracy", "label_across_accuracy")),
)


def overall(scores: Mapping[str, float]) -> float | None:
    """Return the mean over sorts of measures; None if at most one sort applies.

    The sorts have equal weight: held-out links (how close they are), the same regardless of
    popularity, the other links, held-out comparisons, neighbours, and labels. Without held-out
    links the others do not count. The mean is multiplied by the share of items with a place.
    """
    means = [sum(values) / len(values) for _, values in _scored_sorts(scores)]
    if len(means) < 2:
        return None
    return scores.get("placed", 1.0) * sum(means) / len(means)


def texts_of_measure(measure: str, fits: Sequence[Mapping[str, float]]) -> DecidingMeasure:
    """Return the texts of a measure; those of `overall` name what these fits were scored on."""
    texts = MEASURES.get(measure)
    if texts is None:
        return DecidingMeasure(measure, measure, f"the measure {measure}", None, "")
    if measure != "overall":
        return texts
    scored = {name for scores in fits if measure in scores for name, _ in _scored_sorts(scores)}
    names = [name for name in dict.fromkeys(name for name, _ in _SORTS) if name in scored]
    if not names:
        return texts
    kinds = dict.fromkeys(name.rpartition(" ")[2] for name in names)
    return replace(
        texts,
        does=f"showing {join_words(list(kinds))}",
        meaning=f"Scores are means over {join_words(names)}.",
    )


def _scored_sorts(scores: Mapping[str, float]) -> list[tuple[str, list[float]]]:
    """Return the name and values of each sort of measures of a map that counts."""
    sorts = [(name, [scores[key] for key in keys if key in scores]) for name, keys in _SORTS]
    return [
        (name, values)
        for name, values in sorts
        if values and (name != "other links" or "link_auc_held_out" in scores)
    ]
