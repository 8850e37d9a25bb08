"""Measures that decide between methods, in words, and which method to take and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hetviz._text import listed

if TYPE_CHECKING:
    from hetviz.runs.compare.comparison import Comparison


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
        What the best method does best: "keeps unseen links".
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


LOOK_AT = 0.05
"""A link counts as kept when its pair is among this share of all pairs, the closest ones."""

_KEPT = (
    "A link counts as kept when its pair is among the closest 5 % of all pairs that could be "
    "linked."
)
MEASURES: Mapping[str, Measure] = {
    measure.key: measure
    for measure in (
        Measure("links_kept_held_out", "Unseen links kept", "keeps unseen links", LOOK_AT, _KEPT),
        Measure(
            "links_kept_new_items",
            "Links of new items kept",
            "keeps the links of new items",
            LOOK_AT,
            "Some items were left out altogether and placed afterwards by their features. " + _KEPT,
        ),
        Measure(
            "comparison_accuracy_held_out",
            "Unseen comparisons kept",
            "agrees with unseen comparisons",
            0.5,
            "A comparison is kept when the map agrees which of two distances is the shorter one.",
        ),
        Measure(
            "negative_guidance_area_held_out",
            "Unseen “apart” kept apart",
            "keeps apart what it was not told is apart",
            0.5,
            "The mean share of all pairs that lie closer than a pair said to be apart.",
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
    )
}
"""The measures that may decide, those of what no method saw first."""


class Recommendation(NamedTuple):
    """Which candidate to take.

    Attributes
    ----------
    method : str or None
        Its key; None where none can be recommended.
    sentence : str
        Why, in plain words.
    """

    method: str | None
    sentence: str


def per_hundred(value: float) -> str:
    """Return a share as a number out of 100: "47", or "0.4" below one."""
    return f"{100 * value:.0f}" if value >= 0.0095 or value <= 0 else f"{100 * value:.1f}"


def in_seconds(seconds: float) -> str:
    """Return a time in words: "0.03 s", "2.4 s", "28 s", "3 min"."""
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    if seconds >= 9.95:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 0.095 else f"{max(seconds, 0.01):.2f} s"


def recommended(found: Comparison, measure: str, tied: Sequence[str]) -> Recommendation:
    """Return which of the best to take by a measure, and why; `tied` are those, best first."""
    best = tied[0]
    said = MEASURES.get(measure) or Measure(measure, measure, f"has the best {measure}", None, "")
    order = {key: place for place, key in enumerate(tied)}
    key = min(tied, key=lambda k: (*found.candidate(k).complexity, order[k]))
    title = found.candidate(key).title
    splits = f"{len(found.seeds)} splits" if len(found.seeds) > 1 else "one split"
    value = per_hundred(found.mean(best, measure))
    if len(tied) > 1:
        names = listed(_few([found.candidate(k).title for k in tied]))
        shares = {per_hundred(found.mean(k, measure)) for k in tied}
        low, high = min(shares, key=float), max(shares, key=float)
        values = high if low == high else f"{low} to {high}"
        apart = ", less than one standard error apart" if len(found.seeds) > 1 else ""
        sentence = f"{names} tie: {values} in 100 over {splits}{apart}. Take {title}"
        sentence += f"{_simpler(found, key, tied)}."
    else:
        sentence = f"Take {title}: it {said.does} best, {value} in 100"
        rest = [k for k in found.sound(measure) if k != best]
        if rest:
            second = max(rest, key=lambda k: found.mean(k, measure))
            after = per_hundred(found.mean(second, measure))
            sentence += f", against {after} for {found.candidate(second).title}, the next best"
        sentence += (
            f"; more than one standard error over {splits}."
            if len(found.seeds) > 1 and rest
            else "."
        )
    if said.chance is not None and found.mean(best, measure) <= said.chance:
        sentence += f" But chance alone gives {per_hundred(said.chance)}."
    if len(found.seeds) == 1:
        sentence += " One split shows no error; more splits tell whether the difference is real."
    return Recommendation(key, sentence)


def _few(names: list[str]) -> list[str]:
    """Return the first two names and how many others there are, or all of three."""
    return names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} others"]


def _simpler(found: Comparison, key: str, tied: Sequence[str]) -> str:
    """Say why this one of several that tie."""
    chosen = found.candidate(key)
    others = [found.candidate(k) for k in tied if k != key]
    beaten = [other for other in others if chosen.complexity < other.complexity]
    if not beaten:
        return ""
    one_step = chosen.steps == 0 and all(other.steps for other in beaten)
    why = ", which is solved in one step" if one_step else ", which is the simpler method"
    mine, theirs = found.seconds(key), max(found.seconds(other.key) for other in beaten)
    if theirs >= 2 * mine:
        why += f" and quicker ({in_seconds(mine)} against {in_seconds(theirs)})"
    return why
