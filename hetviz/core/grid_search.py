"""Grid search that extends the grid while the best value is at one of its ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

Point = dict[str, Any]
"""A value of each setting."""

_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Span:
    """Values to try for one setting, and how to continue past their ends."""

    values: tuple[Any, ...]
    grows: bool = True
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False

    def next_value(self, upward: bool) -> Any | None:
        """Return the next value past an end, or None."""
        if not self.grows or len(self.values) < 2:
            return None
        near, end = self.values[-2:] if upward else self.values[1::-1]
        new = end * (end / near) if end > 0 and near > 0 else end + (end - near)
        new = float(f"{min(max(new, self.low), self.high):.6g}")
        if self.whole:
            new = round(new)
        return new if (new > end if upward else new < end) else None

    def extended(self, value: object, upward: bool) -> Span:
        """Return the span with one more value at an end."""
        values = (*self.values, value) if upward else (value, *self.values)
        return Span(values, self.grows, self.low, self.high, self.whole)


@dataclass(frozen=True)
class GridSearchResult:
    """Result of a grid search."""

    best: Point
    score: float
    tried: tuple[tuple[Point, float], ...]
    spans: Mapping[str, Span]
    at_limit: tuple[str, ...]
    cut_off: tuple[str, ...]


def search_grid(
    score: Callable[[Sequence[Point]], Sequence[float]],
    spans: Mapping[str, Span],
    *,
    start: Point | None = None,
    whole_grid: bool = False,
    max_points: int = 200,
) -> GridSearchResult:
    """Find the best values of some settings, extending the grid while the best is at an end.

    `score`: Returns the score of each of several points, higher is better; NaN for a failed one.
        Each point is evaluated once.
    `whole_grid`: Try all combinations. Otherwise vary one setting at a time, with the others at
        their best values so far, until none improves.
    """
    if not spans or not all(span.values for span in spans.values()):
        raise ValueError("grow: give at least one setting, with values.")
    search = _GridSearch(score, dict(spans), max(max_points, 1))
    middle = {name: span.values[(len(span.values) - 1) // 2] for name, span in spans.items()}
    search.evaluate([{**middle, **(start or {})}])
    if whole_grid:
        search.try_all_combinations()
    else:
        search.climb_by_coordinate()
    return search.result()


class _GridSearch:
    def __init__(
        self,
        score: Callable[[Sequence[Point]], Sequence[float]],
        spans: dict[str, Span],
        max_points: int,
    ) -> None:
        self._score, self._spans, self._max_points = score, spans, max_points
        self._tried: dict[Hashable, tuple[Point, float]] = {}

    def evaluate(self, points: Sequence[Point]) -> None:
        """Evaluate new points, up to the maximum."""
        new = {self._key(point): point for point in points if self._key(point) not in self._tried}
        if batch := list(new.items())[: self._max_points - len(self._tried)]:
            scores = self._score([dict(point) for _, point in batch])
            for (key, point), value in zip(batch, scores, strict=True):
                self._tried[key] = (point, float(value))

    def try_all_combinations(self) -> None:
        self.evaluate(self._combinations(self._spans))
        while grown := self._extensions():
            for name, (value, upward) in grown.items():
                self.evaluate(self._combinations({**self._spans, name: Span((value,))}))
                self._spans[name] = self._spans[name].extended(value, upward)
            if self._is_full():
                return

    def climb_by_coordinate(self) -> None:
        while True:
            before = self._best()
            for name in self._spans:
                self._try_values(name)
            if self._is_full() or self._best() == before:
                return

    def result(self) -> GridSearchResult:
        best, score = self._best()
        extensions = self._extensions()
        limits = [
            name
            for name, span in self._spans.items()
            if span.grows and len(span.values) > 1 and name not in extensions
            and best[name] in (span.values[0], span.values[-1])
        ]  # fmt: skip
        return GridSearchResult(
            dict(best),
            score,
            tuple(self._tried.values()),
            dict(self._spans),
            tuple(limits),
            tuple(extensions),
        )

    def _try_values(self, name: str) -> None:
        """Try all values of one setting, with the others at their best, and extend its ends."""
        others = self._best()[0]
        self.evaluate([{**others, name: value} for value in self._spans[name].values])
        while not self._is_full() and name in (extensions := self._extensions()):
            value, upward = extensions[name]
            self._spans[name] = self._spans[name].extended(value, upward)
            self.evaluate([{**self._best()[0], name: value}])

    def _extensions(self) -> dict[str, tuple[Any, bool]]:
        """Return the next value and the end, for each setting whose best value is at an end."""
        best, score = self._best()
        extensions: dict[str, tuple[Any, bool]] = {}
        if math.isnan(score):
            return extensions
        for name, span in self._spans.items():
            for upward in (True, False):
                if best[name] == span.values[-1 if upward else 0] and name not in extensions:
                    value = span.next_value(upward)
                    if value is not None:
                        extensions[name] = (value, upward)
        return extensions

    def _best(self) -> tuple[Point, float]:
        tried = list(self._tried.values())
        top = tried[0]
        for point, score in tried[1:]:
            if score > top[1] + _TOLERANCE or (math.isnan(top[1]) and not math.isnan(score)):
                top = (point, score)
        return top

    def _is_full(self) -> bool:
        return len(self._tried) >= self._max_points

    def _key(self, point: Point) -> Hashable:
        return tuple((name, repr(point[name])) for name in sorted(point))

    @staticmethod
    def _combinations(spans: Mapping[str, Span]) -> list[Point]:
        return [
            dict(zip(spans, values, strict=True))
            for values in product(*(span.values for span in spans.values()))
        ]
