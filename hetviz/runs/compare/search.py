"""Search for the best settings of a method by held-out guidance, on a growing grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from hetviz._text import capital, format_seconds, join_words, per_hundred
from hetviz._types import JsonObject
from hetviz.algorithms.cost import stored_seconds
from hetviz.algorithms.registry import get_method
from hetviz.core.grid_search import GridSearchResult, Point, Span, search_grid
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData
from hetviz.errors import Cancelled, NotApplicableError, ParameterError
from hetviz.params import Choice, Flag, Integer, Param, PerDataset, Real
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.compare.compare import candidate, judge
from hetviz.runs.compare.comparison import Candidate, Comparison
from hetviz.runs.compare.sweep import value_words

SearchSettings = Mapping[str, Sequence[object]] | Sequence[str]
DEFAULT, BEST = "default settings", "settings found"
MAX_SETTINGS = 40
_DEFAULT_MEASURES = ("link_auc_held_out", "comparison_accuracy_held_out")
_LONG_RATIO, _SMALL_RATIO, _WIDE_RANGE, _MIN_HIGH_OF_AXES = 10.0, 3.0, 1_000.0, 50
_TEST_SEED_OFFSET = 7_919


class SearchCost(NamedTuple):
    """Expected cost of a search."""

    n_first: int
    n_most: int
    n_splits: int
    seconds: float | None

    @property
    def sentence(self) -> str:
        text = f"From {self.n_first} to {self.n_most} settings, "
        text += "one fit each" if self.n_splits == 1 else f"{self.n_splits} fits each"
        if self.seconds is None:
            return f"{text}. The time of a fit is not known yet."
        low, high = (self.seconds * self.n_splits * n for n in (self.n_first, self.n_most))
        return f"{text}: {format_seconds(low)} to {format_seconds(high)}."


@dataclass(frozen=True, eq=False)
class SettingsResult:
    """The result of a search of settings.

    `method`, `measure`: Keys of the method and of the measure that decides.
    `params`: The parameters to use, fixed and found ones.
    `tried`: One candidate for each setting, all on the same splits.
    `best`: Key of the best candidate; None if no setting gave a map.
    `confirmed`: Default settings and settings found, judged by guidance that the search never saw.
    `spans`: All values of each setting in the end.
    `at_limit`: Settings whose best value is the last allowed one.
    `cut_off`: Settings whose best value is the last one tried; values beyond might be better.
    """

    method: str
    measure: str
    params: Mapping[str, Any]
    tried: Comparison
    best: str | None
    confirmed: Comparison | None = None
    spans: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    at_limit: tuple[str, ...] = ()
    cut_off: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        does = self.tried.texts(self.measure).does
        if self.best is None:
            return "No setting gave a map that could be measured."
        if not self.tried.complete and self.confirmed is None:
            start = f"Stopped early. So far, {self.best} is best at {does}"
        else:
            start = f"{capital(self.best)} is best at {does}"
        parts = [f"{start} ({per_hundred(self.tried.mean(self.best, self.measure))} %)."]
        if self.confirmed is not None:
            best_score, default_score = (
                self.confirmed.mean(k, self.measure) for k in (BEST, DEFAULT)
            )
            best_percent = per_hundred(best_score)
            if math.isfinite(best_score) and math.isfinite(default_score):
                smallest = self.confirmed.resolution(self.measure)
                text = f" On guidance hidden from the search, it reaches {best_percent} %. "
                text += f"Default settings reach {per_hundred(default_score)} %."
                if math.isfinite(smallest) and abs(best_score - default_score) < smallest:
                    text += f" Differences below {per_hundred(smallest)} % may be chance."
                parts.append(text)
            elif math.isfinite(best_score):
                parts.append(
                    f" On guidance hidden from the search, it reaches {best_percent} %. "
                    "These are the default settings."
                )
        sentence = "".join(parts)
        if self.cut_off:
            sentence += f" The best {self._names(self.cut_off)} is the last value tried. "
            sentence += "A value beyond it may be better."
        if self.at_limit:
            sentence += f" The best {self._names(self.at_limit)} is the last allowed value."
        return sentence

    def _names(self, keys: Sequence[str]) -> str:
        declared = get_method(self.method).params
        return join_words([(declared[key].label or key).lower() for key in keys])

    def to_dict(self) -> JsonObject:
        """Return everything but the embeddings, JSON-ready; `from_dict` reads it."""
        return {
            "method": self.method,
            "measure": self.measure,
            "params": dict(self.params),
            "tried": self.tried.to_dict(),
            "best": self.best,
            "confirmed": None if self.confirmed is None else self.confirmed.to_dict(),
            "spans": {name: list(values) for name, values in self.spans.items()},
            "at_limit": list(self.at_limit),
            "cut_off": list(self.cut_off),
            "sentence": self.sentence,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SettingsResult:
        """Return the result that `to_dict` wrote, without embeddings."""
        confirmed = content["confirmed"]
        return cls(
            content["method"],
            content["measure"],
            dict(content["params"]),
            Comparison.from_dict(content["tried"]),
            content["best"],
            None if confirmed is None else Comparison.from_dict(confirmed),
            {name: tuple(values) for name, values in content["spans"].items()},
            tuple(content["at_limit"]),
            tuple(content["cut_off"]),
        )


@one_thread()
def search_settings(
    data: HeteroData,
    method: str,
    settings: SearchSettings | None = None,
    *,
    seeds: int = 2,
    hold_out: float = 0.2,
    test: float = 0.2,
    measure: str | None = None,
    whole_grid: bool = False,
    most: int = MAX_SETTINGS,
    grows: bool = True,
    params: Mapping[str, object] | None = None,
    progress: Progress | None = None,
    random_state: int = 0,
) -> SettingsResult:
    """Search the settings of a method that find most of the held-out guidance again.

    The default settings come first. Then each setting is tried at its values, with the others at
    their best so far, until none improves. While the best value of a setting is at an end of its
    values, the search extends them.

    Parameters
    ----------
    data : HeteroData
    method : str
    settings : mapping of str to sequence, or sequence of str, optional
        First values, or names alone for those of `search_values`. When absent: the strengths on a
        logarithmic scale, the number of axes, and the exponent of the axes' scale, as far as the
        method has them.
    seeds : int
        Number of splits for each setting.
    hold_out : float
        Share of links and comparisons held out in each split.
    test : float
        Share that the search never sees and that judges the settings found and the default ones in
        the end. With 0 there is no such test, and the score of the best is optimistic.
    measure : str, optional
        The measure that decides; when absent the AUC of held-out links, or the share of held-out
        comparisons if there are no links.
    whole_grid : bool
        Try all combinations.
    most : int
        Maximum number of settings to try.
    grows : bool
        Whether values are extended past the ends.
    params : mapping, optional
        Other parameters, fixed.
    progress : callable, optional
    random_state : int

    Returns
    -------
    SettingsFound
        Use ``hetviz.embed(data, method, **found.params)``.

    Raises
    ------
    hetviz.errors.NotApplicableError
        If there are neither links nor comparisons to hold out.
    hetviz.errors.ParameterError
        For an unknown method, setting, value or measure.
    hetviz.errors.Cancelled
        When `progress` raises it; its ``partial`` is the SettingsFound so far, if there is any.

    Notes
    -----
    Costs `seeds` fits for each setting (see `search_cost`) and two at the end. Seeds differ only in
    the held-out part of the same data, so small differences between settings are chance; see
    `Comparison.resolution`.
    """
    spans = spans_of(method, settings, grows)
    fixed = {key: value for key, value in (params or {}).items() if key not in spans}
    has_comparisons = data.comparisons is not None and len(data.comparisons) > 0
    if not data.links and not has_comparisons:
        raise NotApplicableError(
            get_method(method).card.title,
            ["Settings are judged by hidden links or comparisons, and there are none."],
        )
    deciding = measure or _DEFAULT_MEASURES[0 if data.links else 1]
    state = _SearchState(data, method, fixed, deciding, seeds, hold_out, test, random_state, most)
    state.progress = progress or ignore_progress
    try:
        declared = get_method(method).params
        start = {name: (params or {}).get(name, declared[name].default) for name in spans}
        result = search_grid(
            state.score, spans, start=start, whole_grid=whole_grid, max_points=most
        )
        confirmed = state.confirm(result)
    except Cancelled as cancelled:
        cancelled.partial = state.result(None, None) if state.tried is not None else None
        raise
    state.progress(1.0, "Done")
    return state.result(result, confirmed)


def search_cost(
    data: HeteroData,
    method: str,
    settings: SearchSettings | None = None,
    *,
    seeds: int = 2,
    most: int = MAX_SETTINGS,
    grows: bool = True,
) -> SearchCost:
    """Return the expected cost of a search; arguments as for `search_settings`."""
    spans = spans_of(method, settings, grows)
    n_first = 1 + sum(len(span.values) for span in spans.values())
    if not grows and len(spans) == 1:
        most = min(most, n_first)
    return SearchCost(min(n_first, most), most, seeds, stored_seconds(method, data))


def spans_of(
    method: str, settings: SearchSettings | None = None, grows: bool = True
) -> dict[str, Span]:
    """Return the checked first values of the settings to search."""
    declared = get_method(method).params
    names = searched_names(declared) if settings is None else list(settings)
    if not names:
        raise ParameterError(
            f"{method} has no setting to search by default. Give the settings to search."
        )
    spans = {}
    for name in names:
        if name not in declared:
            raise ParameterError(
                f"{method} has no parameter {name!r}. Available: {', '.join(declared)}."
            )
        first_values = (
            settings[name] if isinstance(settings, Mapping) else search_values(declared[name])
        )
        if not first_values:
            raise ParameterError(f"search: give values of {name}. It has no default values to try.")
        try:
            values = [declared[name].check(value) for value in first_values]
        except ValueError:
            wanted = declared[name].describe_allowed()
            raise ParameterError(
                f"search: {name} = {list(first_values)!r}, but each must be {wanted}."
            ) from None
        spans[name] = _span(declared[name], values, grows)
    return spans


def searched_names(declared: Mapping[str, Param]) -> list[str]:
    """Return the settings that are searched by default."""
    return [
        name
        for name, param in declared.items()
        if param.tries
        or (isinstance(param, Real) and param.log and not param.advanced)
        or (name == "n_components" and isinstance(param, Integer) and _is_unbounded(param))
    ]


def search_values(param: Param) -> list[Any]:
    """Return the first values of a search: three, or all options; may be empty.

    These are the declared values to try, else a tenth, one and ten times the default on a
    logarithmic scale (a third, one and three times on a short one), half, one and two times an
    integer, and steps of the range otherwise.
    """
    inner = param.inner if isinstance(param, PerDataset) else param
    if param.tries or inner.tries:
        return list(param.tries or inner.tries)
    if isinstance(inner, Choice):
        return list(inner.options)
    if isinstance(inner, Flag):
        return [False, True]
    if not isinstance(inner, Real | Integer):
        return []
    default = param.default
    usable = isinstance(default, int | float) and not isinstance(default, bool)
    middle = float(default) if usable else 1.0
    low = -math.inf if inner.low is None else float(inner.low)
    high = math.inf if inner.high is None else float(inner.high)
    if isinstance(inner, Integer):
        return sorted({round(min(max(middle * times, low), high)) for times in (0.5, 1.0, 2.0)})
    if inner.log or (middle > 0 and math.isinf(high)):
        ratio = _LONG_RATIO if low <= 0 or high / low > _WIDE_RANGE else _SMALL_RATIO
        steps = [middle / ratio, middle, middle * ratio]
    elif math.isfinite(low) and math.isfinite(high) and high - low <= 1.0:
        steps = np.linspace(low, high, 5).tolist()
    else:
        steps = [middle / 2, middle, 2 * middle] if middle > 0 else [low, low + 1.0, low + 2.0]
    return sorted({float(f"{min(max(step, low), high):.6g}") for step in steps})


def _is_unbounded(param: Integer) -> bool:
    return param.high is None or param.high >= _MIN_HIGH_OF_AXES


def _span(param: Param, values: Sequence[object], grows: bool) -> Span:
    inner = param.inner if isinstance(param, PerDataset) else param
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if not numbers or not isinstance(inner, Real | Integer):
        return Span(tuple(dict.fromkeys(values)), grows=False)
    low = -math.inf if inner.low is None else float(inner.low)
    high = math.inf if inner.high is None else float(inner.high)
    whole = isinstance(inner, Integer)
    return Span(tuple(sorted(set(values))), grows, low, high, whole)


class _SearchState:
    """State of a running search, with all settings tried on the same splits."""

    def __init__(
        self,
        data: HeteroData,
        method: str,
        fixed: Mapping[str, object],
        measure: str,
        seeds: int,
        hold_out: float,
        test: float,
        random_state: int,
        most: int,
    ) -> None:
        if not 0 <= test < 1 or not 0 < hold_out < 1:
            raise ParameterError(
                f"search: hold_out = {hold_out!r} and test = {test!r}, but hold_out must be above "
                "0 and below 1, and test from 0 to below 1."
            )
        self._data, self._method, self._fixed = data, method, dict(fixed)
        self._measure, self._seeds, self._hold_out = measure, seeds, hold_out
        self._test, self._random_state, self._max_settings = test, random_state, most
        self._search_data = data
        if test:
            compared = data.comparisons is not None and len(data.comparisons) > 0
            self._search_data, _ = data.holdout(
                links=test if data.links else 0.0,
                comparisons=test if compared else 0.0,
                random_state=random_state + _TEST_SEED_OFFSET,
            )
        self.progress: Progress = ignore_progress
        self.tried: Comparison | None = None

    def score(self, points: Sequence[Point]) -> list[float]:
        """Fit and judge settings, and record them."""
        n_done = 0 if self.tried is None else len(self.tried.candidates)
        n_total = self._max_settings + 2 * bool(self._test)
        part = ProgressPart(
            self.progress, min(n_done / n_total, 1.0), min((n_done + len(points)) / n_total, 1.0)
        )

        def report(fraction: float, message: str = "", **figures: object) -> None:
            # Layouts and progress parts of single settings are not shown.
            first, last = n_done + 1, n_done + len(points)
            part(fraction, f"{first} to {last} of at most {self._max_settings}: {message}")

        candidates = {self._point_text(point): self._candidate(point) for point in points}
        try:
            comparison = self._judge(self._search_data, list(candidates.values()), report)
        except Cancelled as stopped:
            if isinstance(stopped.partial, Comparison) and stopped.partial.fits:
                self._record(stopped.partial)
            raise
        self._record(comparison)
        measured = set(comparison.sound(self._measure))
        if not any(self._measure in fit.scores for fit in comparison.fits) and comparison.fits:
            raise ParameterError(
                f"search: measure = {self._measure!r} is not measured on these data. Available: "
                f"{', '.join(comparison.measures)}."
            )
        return [
            comparison.mean(key, self._measure) if key in measured else math.nan
            for key in map(self._point_text, points)
        ]

    def confirm(self, result: GridSearchResult) -> Comparison | None:
        """Judge the settings found and the default ones by guidance that the search never saw."""
        if not self._test or not math.isfinite(result.score):
            return None
        default = self._point_of(result.tried[0][0], DEFAULT)
        best = self._point_of(result.best, BEST)
        contestants = [best] if default.params == best.params else [default, best]
        part = ProgressPart(self.progress, 0.95, 1.0)

        def report(fraction: float, message: str = "", **figures: object) -> None:
            part(fraction, "Judging on unseen guidance")

        return judge(
            self._data,
            contestants,
            seeds=1,
            hold_out=self._test,
            new_items=0.0,
            progress=report,
            random_state=self._random_state + _TEST_SEED_OFFSET,
        )

    def result(
        self, search_result: GridSearchResult | None, confirmed: Comparison | None
    ) -> SettingsResult:
        """Return the result, or the best so far of a search that was stopped."""
        tried = self.tried
        if tried is None:
            raise ValueError("No setting was tried.")
        if search_result is None:
            tried = replace(tried, complete=False)
            best = tried.best(self._measure)
            params = {} if best is None else dict(tried.candidate(best).params)
            return SettingsResult(self._method, self._measure, params, tried, best)
        best = self._point_text(search_result.best) if math.isfinite(search_result.score) else None
        return SettingsResult(
            self._method,
            self._measure,
            {**self._fixed, **search_result.best},
            tried,
            best,
            confirmed,
            {name: span.values for name, span in search_result.spans.items()},
            search_result.at_limit,
            search_result.cut_off,
        )

    def _judge(
        self, data: HeteroData, candidates: Sequence[Candidate], report: Progress
    ) -> Comparison:
        return judge(
            data,
            candidates,
            seeds=self._seeds,
            hold_out=self._hold_out,
            new_items=0.0,
            progress=report,
            random_state=self._random_state,
        )

    def _record(self, comparison: Comparison) -> None:
        self.tried = comparison if self.tried is None else self.tried.joined(comparison)

    def _candidate(self, point: Point) -> Candidate:
        return self._point_of(point, self._point_text(point))

    def _point_of(self, point: Point, title: str) -> Candidate:
        return candidate(self._method, {**self._fixed, **point}, title, title)

    def _point_text(self, point: Point) -> str:
        declared = get_method(self._method).params
        return ", ".join(
            f"{(declared[name].label or name).lower()} {value_words(value)}"
            for name, value in point.items()
        )
