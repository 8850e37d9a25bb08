"""Diagnostics of methods: weights, correlations and gaps with explanations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from hetviz._text import round_percent
from hetviz._types import JsonObject
from hetviz.data.model.immutable import Immutable
from hetviz.errors import DataError

MAX_VALUES = 20
"""Largest number of values of a diagnostic; the largest values stay."""
SHARE = "share"
"""Unit of shares, from 0 to 1."""


@dataclass(frozen=True)
class Diagnostic(Immutable):
    """Diagnostic result of a method.

    Attributes
    ----------
    key : str
        Name in code and files.
    title : str
        Title in plain words.
    says : str
        Explanation of the values, one or two sentences.
    values : mapping of str to float
        Values by name (of a dataset, a feature, a start or an axis).
    unit : str
        Unit of the values: `SHARE`, a word, or empty for plain numbers.
    left_out : int
        Number of omitted smaller values.
    """

    key: str
    title: str
    says: str
    values: Mapping[str, float]
    unit: str = ""
    left_out: int = 0

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Names and formatted values."""
        return [(name, self.format_value(value)) for name, value in self.values.items()]

    def format_value(self, value: float) -> str:
        """Return a value as text with its unit."""
        if self.unit == SHARE:
            return round_percent(value, 1)
        unit = f" {self.unit}" if self.unit else ""
        return f"{value:.4g}{unit}"

    def to_dict(self) -> JsonObject:
        """Return the diagnostic JSON-ready, without its key."""
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
    max_values: int = MAX_VALUES,
) -> Diagnostic:
    """Return a `Diagnostic` of finite values.

    `key`, `title`, `says`, `unit`: see `Diagnostic`. `values`: None and non-finite numbers are
    left out. Of more than `max_values` values the largest absolute ones stay, in decreasing order;
    fewer stay in the given order.
    """
    pairs = values.items() if isinstance(values, Mapping) else values
    finite = [
        (str(name), float(value))
        for name, value in pairs
        if isinstance(value, (int, float)) and math.isfinite(value)
    ]
    if len(finite) > max_values:
        selected = sorted(finite, key=lambda pair: -abs(pair[1]))[:max_values]
    else:
        selected = finite
    return Diagnostic(
        key, title, says, MappingProxyType(dict(selected)), unit, len(finite) - len(selected)
    )


def by_key(diagnostics: Iterable[Diagnostic]) -> Mapping[str, Diagnostic]:
    """Return diagnostics by key, without empty ones."""
    return MappingProxyType({entry.key: entry for entry in diagnostics if entry.values})


def without_repeated_text(diagnostics: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Yield each diagnostic with its explanation, empty if the previous one is the same."""
    previous = ""
    for entry in diagnostics:
        yield entry, "" if entry.says == previous else entry.says
        previous = entry.says


def to_json(diagnostics: Mapping[str, Diagnostic]) -> JsonObject:
    """Return diagnostics JSON-ready, by key."""
    return {key: entry.to_dict() for key, entry in diagnostics.items()}


def from_json(content: object, where: str = "diagnostics") -> Mapping[str, Diagnostic]:
    """Return the diagnostics that `to_json` has written; raise a `DataError` for other content."""
    if content is None:
        return MappingProxyType({})
    if not isinstance(content, Mapping):
        raise _invalid(where)
    try:
        return by_key(_read(str(key), entry) for key, entry in content.items())
    except (KeyError, TypeError, AttributeError, ValueError):
        raise _invalid(where) from None


def _read(key: str, entry: Mapping[str, Any]) -> Diagnostic:
    result = make_diagnostic(
        key, str(entry["title"]), str(entry["says"]), entry["values"], str(entry["unit"])
    )
    return replace(result, left_out=result.left_out + int(entry["left_out"]))


def _invalid(where: str) -> DataError:
    return DataError.of("bad-diagnostics", where, "these are not diagnostics of a method", "")


def number_values(values: Sequence[float], word: str) -> dict[str, float]:
    """Return values by a word and a number from 1, such as ``"axis 1"``."""
    return {f"{word} {place + 1}": float(value) for place, value in enumerate(values)}


def starts_diagnostic(finals: Sequence[float]) -> Diagnostic:
    """Return the diagnostic of the final losses of several starts."""
    return make_diagnostic(
        "starts",
        "Spread over starts",
        "Final loss of each start. The map is from the start with the smallest loss. If the losses "
        "differ a lot, another seed may give another map.",
        number_values(finals, "start"),
    )


def _values_by_pull(shares: object) -> dict[str, object]:
    if not isinstance(shares, Mapping):
        return {}
    return {"not moved" if key == "none" else f"pull {key}": share for key, share in shares.items()}


_OBJECTIVE = {"objective": "objective", "bound": "bound from below"}
_SATISFIED = {"kept_by_the_optimum": "by the optimum", "kept_on_these_axes": "on the axes shown"}


def optimum_diagnostics(figures_by_problem: Mapping[str, Mapping[str, object]]) -> list[Diagnostic]:
    """Return the diagnostics of the optimum of each problem."""
    diagnostics = []
    for name, figures in figures_by_problem.items():
        suffix = f" of {name}" if len(figures_by_problem) > 1 else ""
        diagnostics += [
            make_diagnostic(
                f"kept comparisons of {name}",
                f"Satisfied comparisons{suffix}",
                "Share of the comparisons that hold: on all axes of the optimum, and on the axes "
                "shown.",
                {words: figures.get(key) for key, words in _SATISFIED.items()},
                SHARE,
            ),
            make_diagnostic(
                f"moved in the end of {name}",
                f"Final adjustment of points{suffix}",
                "Share of the held-out comparisons that hold before the points are moved, and "
                "afterwards for each strength of the pull back to their place. The best strength "
                "is used if it is better by more than chance.",
                _values_by_pull(figures.get("held_out_by_pull")),
                SHARE,
            ),
            make_diagnostic(
                f"gap of {name}",
                f"Distance from the optimum{suffix}",
                "Largest possible relative distance of the objective from its minimum (duality "
                "gap). 0 is optimal.",
                {"duality gap": figures.get("gap")},
            ),
            make_diagnostic(
                f"objective of {name}",
                f"Objective{suffix}",
                "Minimised objective and its lower bound. Only their ratio is meaningful.",
                {words: figures.get(key) for key, words in _OBJECTIVE.items()},
            ),
            make_diagnostic(
                f"axes of {name}",
                f"Axes of the optimum{suffix}",
                "Number of axes of the optimal solution. If fewer are shown, some comparisons may "
                "not hold in the picture.",
                {"axes": figures.get("axes_of_the_optimum")},
            ),
            make_diagnostic(
                f"critical strength of {name}",
                f"Critical strength{suffix}",
                "Up to this strength of comparisons, the optimum puts all items at one point.",
                {"strength of comparisons": figures.get("critical_beta")},
            ),
        ]
    return diagnostics
