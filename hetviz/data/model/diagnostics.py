"""What a method found out on its way: weights, correlations, gaps, each with what it says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from hetviz._text import round_percent
from hetviz._types import JsonObject
from hetviz.data.model.immutable import Immutable
from hetviz.errors import DataError, Problem

MAX_VALUES = 20
"""Values kept of one finding: those of the largest size."""
SHARE = "share"
"""Unit of values from 0 to 1 that are parts of a whole."""


@dataclass(frozen=True)
class Diagnostic(Immutable):
    """One thing that a method found out, besides the map.

    Attributes
    ----------
    key : str
        Its name in code and files.
    title : str
        In plain words.
    says : str
        What a value says, a sentence or two.
    values : mapping of str to float
        By the name of what each belongs to (a dataset, a feature, a start, an axis).
    unit : str
        Of the values: `SHARE`, a word, or empty for plain numbers.
    left_out : int
        Further values, of smaller size, that are not kept.
    """

    key: str
    title: str
    says: str
    values: Mapping[str, float]
    unit: str = ""
    left_out: int = 0

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Names and values as they are written for people."""
        return [(name, self.written(value)) for name, value in self.values.items()]

    def written(self, value: float) -> str:
        """Return a value as text, with its unit."""
        if self.unit == SHARE:
            return round_percent(value, 1)
        unit = f" {self.unit}" if self.unit else ""
        return f"{value:.4g}{unit}"

    def to_dict(self) -> JsonObject:
        """Return it JSON-ready; its key is left to the mapping that it is in."""
        return {
            "title": self.title,
            "says": self.says,
            "values": dict(self.values),
            "unit": self.unit,
            "left_out": self.left_out,
        }


def make_diagnostic(
    key: str,
    title: str,
    says: str,
    values: Mapping[str, object] | Iterable[tuple[str, object]],
    unit: str = "",
    *,
    most: int = MAX_VALUES,
) -> Diagnostic:
    """Make a `Diagnostic` of what a method has: finite numbers only, and not too many.

    Parameters
    ----------
    key, title, says, unit : str
        See `Diagnostic`.
    values : mapping or pairs of str to number
        None and numbers that are not finite are left out. Of more than `most` the largest by size
        are kept, in falling order; fewer stay in the order given.
    most : int
    """
    pairs = values.items() if isinstance(values, Mapping) else values
    known = [
        (str(name), float(value))
        for name, value in pairs
        if isinstance(value, (int, float)) and math.isfinite(value)
    ]
    if len(known) > most:
        kept = sorted(known, key=lambda pair: -abs(pair[1]))[:most]
    else:
        kept = known
    return Diagnostic(key, title, says, MappingProxyType(dict(kept)), unit, len(known) - len(kept))


def by_key(found: Iterable[Diagnostic]) -> Mapping[str, Diagnostic]:
    """Return findings by key, without those that hold nothing."""
    return MappingProxyType({one.key: one for one in found if one.values})


def without_repeated_text(found: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Yield each finding with what it says; with nothing where the one before says the same."""
    before = ""
    for one in found:
        yield one, "" if one.says == before else one.says
        before = one.says


def to_json(found: Mapping[str, Diagnostic]) -> JsonObject:
    """Return findings as they are written to files."""
    return {key: one.to_dict() for key, one in found.items()}


def from_json(content: object, where: str = "diagnostics") -> Mapping[str, Diagnostic]:
    """Read what `to_json` gave.

    Raises
    ------
    hetviz.errors.DataError
        If it is something else.
    """
    if content is None:
        return MappingProxyType({})
    if not isinstance(content, Mapping):
        raise _invalid(where)
    try:
        return by_key(_read(str(key), one) for key, one in content.items())
    except (KeyError, TypeError, AttributeError, ValueError):
        raise _invalid(where) from None


def _read(key: str, one: Mapping[str, Any]) -> Diagnostic:
    made = make_diagnostic(
        key, str(one["title"]), str(one["says"]), one["values"], str(one["unit"])
    )
    return replace(made, left_out=made.left_out + int(one["left_out"]))


def _invalid(where: str) -> DataError:
    return DataError(Problem("bad-diagnostics", where, "this is not what a method found out", ""))


def number_values(values: Sequence[float], word: str) -> dict[str, float]:
    """Return values by a word and their number from 1: ``"axis 1"``."""
    return {f"{word} {place + 1}": float(value) for place, value in enumerate(values)}


def starts_diagnostic(finals: Sequence[float]) -> Diagnostic:
    """Return the losses that several starts ended with, as people are shown them."""
    return make_diagnostic(
        "starts",
        "Spread over starts",
        "The loss that each start ended with; the map is of the least. Where they differ much, "
        "other random numbers may give another map.",
        number_values(finals, "start"),
    )


def _values_by_pull(kept: object) -> dict[str, object]:
    if not isinstance(kept, Mapping):
        return {}
    return {"not moved" if key == "none" else f"pull {key}": one for key, one in kept.items()}


_OBJECTIVE = {"objective": "objective", "bound": "bound from below"}
_SATISFIED = {"kept_by_the_optimum": "by the optimum", "kept_on_these_axes": "on the axes shown"}


def optimum_diagnostics(known: Mapping[str, Mapping[str, object]]) -> list[Diagnostic]:
    """Return what is known of the optimum of each problem, as people are shown it.

    Parameters
    ----------
    known : mapping of str to mapping
        By problem, as from `hetviz.core.ordinal.fixed_rank.Flat.figures`.
    """
    told = []
    for name, figures in known.items():
        of = f" of {name}" if len(known) > 1 else ""
        told += [
            make_diagnostic(
                f"kept comparisons of {name}",
                f"Comparisons that are kept{of}",
                "Share of the comparisons given that hold: on all axes that the optimum needs, and "
                "on the axes shown.",
                {words: figures.get(key) for key, words in _SATISFIED.items()},
                SHARE,
            ),
            make_diagnostic(
                f"moved in the end of {name}",
                f"Moving points in the end{of}",
                "Share of the comparisons that were held out and kept, with points as the method "
                "puts them, and moved from there with this pull back. The best was taken, if it "
                "is better by more than chance.",
                _values_by_pull(figures.get("held_out_by_pull")),
                SHARE,
            ),
            make_diagnostic(
                f"gap of {name}",
                f"How near to the best{of}",
                "By how much the objective can at most be above the least that there is, as a part "
                "of it (the duality gap): 0 is the best there can be.",
                {"duality gap": figures.get("gap")},
            ),
            make_diagnostic(
                f"objective of {name}",
                f"Objective{of}",
                "What was made small, and a bound that it cannot get below. Only how they compare "
                "says anything.",
                {words: figures.get(key) for key, words in _OBJECTIVE.items()},
            ),
            make_diagnostic(
                f"axes of {name}",
                f"Axes of the optimum{of}",
                "How many axes the best solution has. With fewer shown, some comparisons may be "
                "lost in the picture.",
                {"axes": figures.get("axes_of_the_optimum")},
            ),
            make_diagnostic(
                f"critical strength of {name}",
                f"Critical strength{of}",
                "Where comparisons count for no more than this, all items in one point would be "
                "best, so that there would be nothing to see.",
                {"strength of comparisons": figures.get("critical_beta")},
            ),
        ]
    return told
