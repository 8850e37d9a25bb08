"""Searching a grid of settings that goes on past its ends while the best value is at one."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

Point = dict[str, Any]
"""A value of each setting."""

_SAME = 1e-12


@dataclass(frozen=True)
class Span:
    """Values of one setting to try, and how to go on past their ends.

    Attributes
    ----------
    values : tuple
        In order; not empty.
    grows : bool
        Whether more values follow from the first ones. Those of a choice do not.
    low, high : float
        No value lies beyond these.
    whole : bool
        Values are whole numbers.
    """

    values: tuple[Any, ...]
    grows: bool = True
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False

    def beyond(self, upward: bool) -> Any | None:
        """Return the next value past an end, None where there is none.

        The last two values set the step: a ratio where both are above 0, else a difference.
        """
        if not self.grows or len(self.values) < 2:
            return None
        near, end = self.values[-2:] if upward else self.values[1::-1]
        new = end * (end / near) if end > 0 and near > 0 else end + (end - near)
        new = float(f"{min(max(new, self.low), self.high):.6g}")
        if self.whole:
            new = round(new)
        return new if (new > end if upward else new < end) else None

    def with_one(self, value: object, upward: bool) -> Span:
        """Return the span with one more value at an end."""
        values = (*self.values, value) if upward else (value, *self.values)
        return Span(values, self.grows, self.low, self.high, self.whole)


@dataclass(frozen=True)
class Searched:
    """What a search found.

    Attributes
    ----------
    best : dict
        The value of each setting.
    score : float
    tried : tuple of (dict, float)
        Every point with its score, in the order in which they were tried.
    spans : mapping of str to Span
        All values there were in the end.
    at_limit : tuple of str
        Settings whose best value is the last that is allowed: there is nothing beyond it.
    cut_off : tuple of str
        Settings whose best value is at an end that could have gone on, had `most` allowed it.
    """

    best: Point
    score: float
    tried: tuple[tuple[Point, float], ...]
    spans: Mapping[str, Span]
    at_limit: tuple[str, ...]
    cut_off: tuple[str, ...]


def grow(
    score: Callable[[Sequence[Point]], Sequence[float]],
    spans: Mapping[str, Span],
    *,
    start: Point | None = None,
    whole_grid: bool = False,
    most: int = 200,
) -> Searched:
    """Find the best values of some settings, going on past the ends of the grid while it pays.

    Parameters
    ----------
    score : callable
        Returns how good each of several points is, higher is better; NaN for one that failed.
        Never asked twice about a point.
    spans : mapping of str to Span
    start : dict, optional
        Where the search begins, which is tried first; the middle of each span when absent. Its
        values need not be of the spans.
    whole_grid : bool
        Try all combinations, instead of one setting after the other, the others at their best so
        far, until none of them gets better.
    most : int
        Points to try at most, at least 1.

    Returns
    -------
    Searched
        Of equal points the first that was tried.

    Raises
    ------
    ValueError
        Without a setting or a value.

    Notes
    -----
    Hill climbing by coordinates where `whole_grid` is false: it finds the best combination only
    where settings do not depend on each other too much.
    """
    if not spans or not all(span.values for span in spans.values()):
        raise ValueError("grow: give at least one setting, with values.")
    search = _Search(score, dict(spans), max(most, 1))
    middle = {name: span.values[(len(span.values) - 1) // 2] for name, span in spans.items()}
    search.ask([{**middle, **(start or {})}])
    if whole_grid:
        search.all_combinations()
    else:
        search.one_by_one()
    return search.found()


class _Search:
    def __init__(
        self,
        score: Callable[[Sequence[Point]], Sequence[float]],
        spans: dict[str, Span],
        most: int,
    ) -> None:
        self._score, self._spans, self._most = score, spans, most
        self._tried: dict[Hashable, tuple[Point, float]] = {}

    def ask(self, points: Sequence[Point]) -> None:
        """Try those that were not tried, as far as there is room."""
        new = {self._key(point): point for point in points if self._key(point) not in self._tried}
        taken = list(new.items())[: self._most - len(self._tried)]
        if taken:
            scores = self._score([dict(point) for _, point in taken])
            for (key, point), value in zip(taken, scores, strict=True):
                self._tried[key] = (point, float(value))

    def all_combinations(self) -> None:
        self.ask(self._combinations(self._spans))
        while grown := self._ends():
            for name, (value, upward) in grown.items():
                self.ask(self._combinations({**self._spans, name: Span((value,))}))
                self._spans[name] = self._spans[name].with_one(value, upward)
            if self._full():
                return

    def one_by_one(self) -> None:
        while True:
            before = self._best()
            for name in self._spans:
                self._along(name)
            if self._full() or self._best() == before:
                return

    def found(self) -> Searched:
        best, score = self._best()
        ends = self._ends()
        limits = [
            name
            for name, span in self._spans.items()
            if span.grows and len(span.values) > 1 and name not in ends
            and best[name] in (span.values[0], span.values[-1])
        ]  # fmt: skip
        return Searched(
            dict(best),
            score,
            tuple(self._tried.values()),
            dict(self._spans),
            tuple(limits),
            tuple(ends),
        )

    def _along(self, name: str) -> None:
        """Try all values of one setting, the others at their best, and go on past the ends."""
        others = self._best()[0]
        self.ask([{**others, name: value} for value in self._spans[name].values])
        while not self._full() and name in (ends := self._ends()):
            value, upward = ends[name]
            self._spans[name] = self._spans[name].with_one(value, upward)
            self.ask([{**self._best()[0], name: value}])

    def _ends(self) -> dict[str, tuple[Any, bool]]:
        """Return of each setting whose best value is at an end the value beyond, and which end."""
        best, score = self._best()
        found: dict[str, tuple[Any, bool]] = {}
        if math.isnan(score):
            return found
        for name, span in self._spans.items():
            for upward in (True, False):
                if best[name] == span.values[-1 if upward else 0] and name not in found:
                    value = span.beyond(upward)
                    if value is not None:
                        found[name] = (value, upward)
        return found

    def _best(self) -> tuple[Point, float]:
        tried = list(self._tried.values())
        top = tried[0]
        for point, score in tried[1:]:
            if score > top[1] + _SAME or (math.isnan(top[1]) and not math.isnan(score)):
                top = (point, score)
        return top

    def _full(self) -> bool:
        return len(self._tried) >= self._most

    def _key(self, point: Point) -> Hashable:
        return tuple((name, repr(point[name])) for name in sorted(point))

    @staticmethod
    def _combinations(spans: Mapping[str, Span]) -> list[Point]:
        return [
            dict(zip(spans, values, strict=True))
            for values in product(*(span.values for span in spans.values()))
        ]
