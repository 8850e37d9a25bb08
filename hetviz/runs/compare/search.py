"""The best settings of one method, by guidance held out, on a grid that grows where it has to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from hetviz._text import format_seconds, join_words, per_hundred
from hetviz._types import JsonObject
from hetviz.algorithms.cost import known_seconds
from hetviz.algorithms.registry import get_method
from hetviz.core.grid_search import GridSearchResult, Point, Span, search_grid
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData
from hetviz.errors import Cancelled, NotApplicableError, ParameterError
from hetviz.params import Choice, Flag, Integer, Param, PerDataset, Real
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.compare.compare import candidate, judge
from hetviz.runs.compare.comparison import Candidate, Comparison
from hetviz.runs.compare.measures import MEASURES
from hetviz.runs.compare.sweep import value_words

Settings = Mapping[str, Sequence[object]] | Sequence[str]
DEFAULT, BEST = "default settings", "settings found"
MOST = 40
_BY = ("link_auc_held_out", "comparison_accuracy_held_out")
_RATIO, _SMALL_RATIO, _WIDE, _MANY_AXES = 10.0, 3.0, 1_000.0, 50
_LAST_SPLIT = 7_919


class SearchCost(NamedTuple):
    """What a search will take.

    Attributes
    ----------
    n_first : int
        Settings of the first grid, tried one after the other.
    n_most : int
        Settings at most, where the grid grows or several depend on each other.
    n_splits : int
        Fits of each.
    seconds : float or None
        Of one fit, where it was measured before on data of this kind.
    """

    n_first: int
    n_most: int
    n_splits: int
    seconds: float | None

    @property
    def sentence(self) -> str:
        """The cost in words."""
        words = f"From {self.n_first} to {self.n_most} settings, "
        words += "one fit each" if self.n_splits == 1 else f"{self.n_splits} fits each"
        if self.seconds is None:
            return f"{words}; how long a fit takes was not measured yet."
        low, high = (self.seconds * self.n_splits * n for n in (self.n_first, self.n_most))
        return f"{words}: {format_seconds(low)} to {format_seconds(high)}."


@dataclass(frozen=True, eq=False)
class SettingsFound:
    """What a search of settings found.

    Attributes
    ----------
    method, measure : str
        What was searched, and by what.
    params : mapping
        The parameters to use: those fixed and those found.
    tried : Comparison
        One candidate for each setting tried, all on the same splits.
    best : str or None
        Key of the best candidate; None where no setting gave a map.
    confirmed : Comparison or None
        Default settings and settings found, judged by guidance that the search never saw.
    spans : mapping of str to tuple
        All values there were of each setting in the end.
    at_limit : tuple of str
        Settings whose best value is the last that is allowed.
    cut_off : tuple of str
        Settings whose best value is at an end of what was tried: more of them might be better.
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
        """What was found, in words."""
        said = MEASURES.get(self.measure)
        does = "does" if said is None else said.does
        if self.best is None:
            return "No setting gave a map that could be measured."
        if not self.tried.complete and self.confirmed is None:
            start = f"Stopped early; so far {self.best} {does} best"
        else:
            start = f"{self.best[:1].upper()}{self.best[1:]} {does} best"
        parts = [f"{start}, {per_hundred(self.tried.mean(self.best, self.measure))} in 100"]
        if self.confirmed is not None:
            found, plain = (self.confirmed.mean(k, self.measure) for k in (BEST, DEFAULT))
            if math.isfinite(found) and math.isfinite(plain):
                least = self.confirmed.resolution(self.measure)
                told = f"; on statements that the search never saw {per_hundred(found)} against "
                told += f"{per_hundred(plain)} with default settings"
                if math.isfinite(least) and abs(found - plain) < least:
                    told += f", a difference too small to tell ({per_hundred(least)})"
                parts.append(told)
            elif math.isfinite(found):
                parts.append(
                    f"; on statements that the search never saw {per_hundred(found)}, as the "
                    "default settings, which are these"
                )
        words = "".join(parts) + "."
        if self.cut_off:
            words += f" The best {self._names(self.cut_off)} is the last that was tried: "
            words += "there may be a better one beyond."
        if self.at_limit:
            words += f" The best {self._names(self.at_limit)} is the last that is allowed."
        return words

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
    def from_dict(cls, content: Mapping[str, Any]) -> SettingsFound:
        """Return what `to_dict` wrote, without embeddings."""
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
    settings: Settings | None = None,
    *,
    seeds: int = 2,
    hold_out: float = 0.2,
    test: float = 0.2,
    measure: str | None = None,
    whole_grid: bool = False,
    most: int = MOST,
    grows: bool = True,
    params: Mapping[str, object] | None = None,
    progress: Progress | None = None,
    random_state: int = 0,
) -> SettingsFound:
    """Search the settings of a method that keep most of what it was not shown.

    The default settings come first; then each setting is tried at its values, the others at their
    best so far, until none gets better. While the best value of a setting is at an end, the values
    go on past it.

    Parameters
    ----------
    data : HeteroData
    method : str
    settings : mapping of str to sequence, or sequence of str, optional
        Values to begin with, or names alone for those of `search_values`. When absent: the
        strengths on a logarithmic scale, the number of axes, and the exponent of the axes' scale,
        as far as the method has them.
    seeds : int
        Splits on which each setting is judged.
    hold_out : float
        Share of links and comparisons held out in each split.
    test : float
        Share that the search never sees, by which the settings found are judged beside the default
        ones in the end; 0 for none, and the figure of the best then flatters it.
    measure : str, optional
        What decides; the link AUC of held-out links when absent, or the share of held-out
        comparisons where there are no links.
    whole_grid : bool
        Try all combinations.
    most : int
        Settings to try at most.
    grows : bool
        Whether values go on past the ends.
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
        Where there are neither links nor comparisons to hold out.
    hetviz.errors.ParameterError
        For an unknown method, setting, value or measure.
    hetviz.errors.Cancelled
        When `progress` raises it; its ``partial`` is the SettingsFound so far, if there is any.

    Notes
    -----
    Costs `seeds` fits for each setting tried (see `search_cost`) and two at the end. Seeds differ
    only in what is held out of the same data, so small differences between settings are chance:
    see `Comparison.resolution`.
    """
    spans = spans_of(method, settings, grows)
    fixed = {key: value for key, value in (params or {}).items() if key not in spans}
    compared = data.comparisons is not None and len(data.comparisons) > 0
    if not data.links and not compared:
        raise NotApplicableError(
            get_method(method).card.title,
            ["Settings are chosen by links or comparisons held out, and there are none."],
        )
    by = measure or _BY[0 if data.links else 1]
    search = _Search(data, method, fixed, by, seeds, hold_out, test, random_state, most)
    search.progress = progress or ignore_progress
    try:
        declared = get_method(method).params
        start = {name: (params or {}).get(name, declared[name].default) for name in spans}
        found = search_grid(
            search.score, spans, start=start, whole_grid=whole_grid, max_points=most
        )
        confirmed = search.confirm(found)
    except Cancelled as stopped:
        stopped.partial = search.result(None, None) if search.tried is not None else None
        raise
    search.progress(1.0, "Done")
    return search.result(found, confirmed)


def search_cost(
    data: HeteroData,
    method: str,
    settings: Settings | None = None,
    *,
    seeds: int = 2,
    most: int = MOST,
    grows: bool = True,
) -> SearchCost:
    """Return what a search will take, before it begins: arguments as of `search_settings`."""
    spans = spans_of(method, settings, grows)
    first = 1 + sum(len(span.values) for span in spans.values())
    if not grows and len(spans) == 1:
        most = min(most, first)
    return SearchCost(min(first, most), most, seeds, known_seconds(method, data))


def spans_of(method: str, settings: Settings | None = None, grows: bool = True) -> dict[str, Span]:
    """Return the values to begin with of the settings to search; they are checked."""
    declared = get_method(method).params
    names = searched(declared) if settings is None else list(settings)
    if not names:
        raise ParameterError(f"{method} has no setting to search; name some.")
    spans = {}
    for name in names:
        if name not in declared:
            raise ParameterError(
                f"{method} has no parameter {name!r}. It has: {', '.join(declared)}."
            )
        given = settings[name] if isinstance(settings, Mapping) else search_values(declared[name])
        if not given:
            raise ParameterError(f"search: give values of {name}; none follow from its range.")
        try:
            values = [declared[name].check(value) for value in given]
        except ValueError:
            wanted = declared[name].describe_allowed()
            raise ParameterError(f"search: {name} = {list(given)!r}; each is {wanted}.") from None
        spans[name] = _span(declared[name], values, grows)
    return spans


def searched(declared: Mapping[str, Param]) -> list[str]:
    """Return the settings that are searched where none is named."""
    return [
        name
        for name, param in declared.items()
        if param.tries
        or (isinstance(param, Real) and param.log and not param.advanced)
        or (name == "n_components" and isinstance(param, Integer) and _open(param))
    ]


def search_values(param: Param) -> list[Any]:
    """Return few values to begin a search with: three, or all options; empty where none follow.

    What the declaration names as worth trying; else a tenth, once and ten times the default on a
    logarithmic scale (a third, once and three times on a short one), half, once and twice a whole
    number, and steps of the range otherwise.
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
        ratio = _RATIO if low <= 0 or high / low > _WIDE else _SMALL_RATIO
        steps = [middle / ratio, middle, middle * ratio]
    elif math.isfinite(low) and math.isfinite(high) and high - low <= 1.0:
        steps = np.linspace(low, high, 5).tolist()
    else:
        steps = [middle / 2, middle, 2 * middle] if middle > 0 else [low, low + 1.0, low + 2.0]
    return sorted({float(f"{min(max(step, low), high):.6g}") for step in steps})


def _open(param: Integer) -> bool:
    return param.high is None or param.high >= _MANY_AXES


def _span(param: Param, values: Sequence[object], grows: bool) -> Span:
    inner = param.inner if isinstance(param, PerDataset) else param
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if not numbers or not isinstance(inner, Real | Integer):
        return Span(tuple(dict.fromkeys(values)), grows=False)
    low = -math.inf if inner.low is None else float(inner.low)
    high = math.inf if inner.high is None else float(inner.high)
    whole = isinstance(inner, Integer)
    return Span(tuple(sorted(set(values))), grows, low, high, whole)


class _Search:
    """A search under way: what was tried so far, all on the same splits."""

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
                f"search: hold_out = {hold_out!r} and test = {test!r}; shares above 0 (test also "
                "0) and below 1."
            )
        self._data, self._method, self._fixed = data, method, dict(fixed)
        self._measure, self._seeds, self._hold_out = measure, seeds, hold_out
        self._test, self._random_state, self._most = test, random_state, most
        self._seen = data
        if test:
            compared = data.comparisons is not None and len(data.comparisons) > 0
            self._seen, _ = data.holdout(
                links=test if data.links else 0.0,
                comparisons=test if compared else 0.0,
                random_state=random_state + _LAST_SPLIT,
            )
        self.progress: Progress = ignore_progress
        self.tried: Comparison | None = None

    def score(self, points: Sequence[Point]) -> list[float]:
        """Fit and judge some settings, and keep them."""
        done = 0 if self.tried is None else len(self.tried.candidates)
        of = self._most + 2 * bool(self._test)
        part = ProgressPart(self.progress, min(done / of, 1.0), min((done + len(points)) / of, 1.0))

        def report(fraction: float, message: str = "", **figures: object) -> None:
            # Layouts and bars of single settings are not those of the search.
            part(fraction, f"{done + 1} to {done + len(points)} of at most {self._most}: {message}")

        candidates = {self._words(point): self._candidate(point) for point in points}
        try:
            found = self._judge(self._seen, list(candidates.values()), report)
        except Cancelled as stopped:
            if isinstance(stopped.partial, Comparison) and stopped.partial.fits:
                self._keep(stopped.partial)
            raise
        self._keep(found)
        sound = set(found.sound(self._measure))
        if not any(self._measure in fit.scores for fit in found.fits) and found.fits:
            raise ParameterError(
                f"search: measure = {self._measure!r} is not measured on these data; there are "
                f"{', '.join(found.measures)}."
            )
        return [
            found.mean(key, self._measure) if key in sound else math.nan
            for key in map(self._words, points)
        ]

    def confirm(self, found: GridSearchResult) -> Comparison | None:
        """Judge what was found, beside the default settings, by what the search never saw."""
        if not self._test or not math.isfinite(found.score):
            return None
        plain = self._point_of(found.tried[0][0], DEFAULT)
        best = self._point_of(found.best, BEST)
        pair = [best] if plain.params == best.params else [plain, best]
        part = ProgressPart(self.progress, 0.95, 1.0)

        def report(fraction: float, message: str = "", **figures: object) -> None:
            part(fraction, "Judged by what the search never saw")

        return judge(
            self._data,
            pair,
            seeds=1,
            hold_out=self._test,
            new_items=0.0,
            progress=report,
            random_state=self._random_state + _LAST_SPLIT,
        )

    def result(self, found: GridSearchResult | None, confirmed: Comparison | None) -> SettingsFound:
        """Return what there is; of a search that was stopped the best so far."""
        tried = self.tried
        if tried is None:
            raise ValueError("Nothing was tried.")
        if found is None:
            tried = replace(tried, complete=False)
            best = tried.best(self._measure)
            params = {} if best is None else dict(tried.candidate(best).params)
            return SettingsFound(self._method, self._measure, params, tried, best)
        best = self._words(found.best) if math.isfinite(found.score) else None
        return SettingsFound(
            self._method,
            self._measure,
            {**self._fixed, **found.best},
            tried,
            best,
            confirmed,
            {name: span.values for name, span in found.spans.items()},
            found.at_limit,
            found.cut_off,
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

    def _keep(self, found: Comparison) -> None:
        self.tried = found if self.tried is None else self.tried.joined(found)

    def _candidate(self, point: Point) -> Candidate:
        return self._point_of(point, self._words(point))

    def _point_of(self, point: Point, words: str) -> Candidate:
        return candidate(self._method, {**self._fixed, **point}, words, words)

    def _words(self, point: Point) -> str:
        declared = get_method(self._method).params
        return ", ".join(
            f"{(declared[name].label or name).lower()} {value_words(value)}"
            for name, value in point.items()
        )
