"""Results of comparing methods: table, curves, ranking and recommendation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from hetviz._html import html_table
from hetviz._text import format_seconds, join_words, per_hundred
from hetviz._types import Floats, Json, JsonObject
from hetviz.core.measures.resolution import least_significant_difference
from hetviz.data import Embedding
from hetviz.runs.compare.measures import MEASURES, DecidingMeasure, texts_of_measure
from hetviz.runs.compare.predicted_links import prediction_sentence

LinkCurve = list[list[float]]


@dataclass(frozen=True)
class Candidate:
    """A method with parameters that is compared.

    `key`: Its name in the comparison: the key of the method, or a value of a parameter.
    `steps`: 0 for methods that are solved in one step, 1 for iterative ones.
    `settings`: Number of parameters of the method; with `steps` it measures complexity.
    """

    key: str
    method: str
    title: str
    params: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 0
    settings: int = 0

    @property
    def complexity(self) -> tuple[int, int]:
        """Sort key of simplicity: solved in one step first, then fewer parameters."""
        return self.steps, self.settings


@dataclass(frozen=True)
class FitScores:
    """One fit and its scores.

    `ceilings`: The largest possible score on this split, where it is below 1.
    `resolutions`: The smallest difference between two maps on this split that is not chance, if
        known; see `hetviz.evaluate`.
    """

    key: str
    seed: int
    seconds: float
    scores: Mapping[str, float]
    curves: Mapping[str, LinkCurve]
    ceilings: Mapping[str, float] = field(default_factory=dict)
    resolutions: Mapping[str, float] = field(default_factory=dict)


class Recommendation(NamedTuple):
    """The recommended candidate.

    `method`: Its key; None without a recommendation.
    """

    method: str | None
    sentence: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """Candidates and their fits on the same splits.

    `failures`: Key of a candidate to the reason why fits are missing.
    `refused`: Keys of `failures` whose method rejected the data or its settings; others had an
        error.
    `seeds`: One per split.
    `hold_out`: Share of links and comparisons that no candidate saw.
    `embeddings`: Embedding of each candidate on the first split.
    `notes`: Key of a candidate to the warnings of its method on the first split.
    `complete`: False if the comparison was stopped early.
    `judged_by` (mapping of str to {"own scores", "nearness on the map"}): Key of a candidate to
        the scores that predict its held-out links.
    `yardsticks`: Scores of simple baselines (nearest profiles, popularity and chance), by measure.
    """

    candidates: tuple[Candidate, ...]
    fits: tuple[FitScores, ...]
    failures: Mapping[str, str]
    seeds: tuple[int, ...]
    hold_out: float
    embeddings: Mapping[str, Embedding] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    complete: bool = True
    judged_by: Mapping[str, str] = field(default_factory=dict)
    yardsticks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    refused: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        decides = self.decides
        rows = []
        for key, row in self.table.iterrows():
            cells = ["", ""]
            if decides is not None and row[decides] == row[decides]:
                error = row.get(f"{decides}_se", float("nan"))
                cells = [f"{row[decides]:.3f}", f"\u00b1 {error:.3f}" if error == error else ""]
            rows.append((row["title"], key, *cells, f"{row['seconds']:.1f}", row["failed"]))
        head = ("", "method", decides or "", "standard error", "seconds", "failed")
        return html_table("Comparison", rows, head, self.recommendation.sentence)

    @property
    def refusals(self) -> dict[str, str]:
        """Reasons why methods rejected these data or their settings, by candidate."""
        return {key: why for key, why in self.failures.items() if key in self.refused}

    @property
    def errors(self) -> dict[str, str]:
        """Errors inside methods, by candidate."""
        return {key: why for key, why in self.failures.items() if key not in self.refused}

    def ceiling(self, measure: str) -> float:
        """Return the largest value that any map could reach, the mean over the splits.

        A map that leaves items out ranks its links among fewer pairs. So the highest ceiling of
        all candidates is that of the data.
        """
        by_seed: dict[int, float] = {}
        for fit in self.fits:
            ceiling = fit.ceilings.get(measure, 1.0)
            by_seed[fit.seed] = max(ceiling, by_seed.get(fit.seed, 0.0))
        return float(np.mean(list(by_seed.values()))) if by_seed else 1.0

    def resolution(self, measure: str) -> float:
        """Return the smallest difference between two candidates that is not chance.

        With two or more splits and candidates it is the least significant difference of paired
        splits, see `hetviz.core.measures.resolution.least_significant_difference`. Otherwise it
        follows from the number of links, comparisons or items; NaN if unknown.
        """
        values = [self.values(key, measure) for key in self.sound(measure)]
        resolution = least_significant_difference(values) if values else math.nan
        if math.isfinite(resolution):
            return resolution
        by_fit = [fit.resolutions[measure] for fit in self.fits if measure in fit.resolutions]
        return float(np.mean(by_fit)) if by_fit else math.nan

    def texts(self, measure: str) -> DecidingMeasure:
        """Return the texts of a measure, which name what was scored."""
        return texts_of_measure(measure, [fit.scores for fit in self.fits])

    def limits(self, measure: str) -> str:
        """Return sentences about the largest value and the smallest visible difference."""
        ceiling, resolution = self.ceiling(measure), self.resolution(measure)
        text = f"The best possible value here is {per_hundred(ceiling)} %."
        if math.isfinite(resolution):
            n = len(self.seeds)
            splits = f"{n} splits" if n > 1 else "one split"
            smallest = per_hundred(resolution) if resolution >= 0.0005 else "0.1"
            text += f" With {splits}, differences below {smallest} % may be chance."
        return text

    @property
    def link_prediction_note(self) -> str:
        """Sentences about how links were predicted and what simple guesses reach, or ""."""
        titles = {c.key: c.title for c in self.candidates if any(self._fits(c.key))}
        return prediction_sentence(titles, self.judged_by, self.yardsticks) if titles else ""

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per candidate, the best first: title, n_fits, seconds, measures, failed.

        Each measure has its mean over the splits, and its standard error in the column ending in
        ``_se`` (NaN for a single split). `failed` is empty without a failure.
        """
        rows = [self._row(candidate) for candidate in self.candidates]
        table = pd.DataFrame(rows, index=pd.Index([c.key for c in self.candidates], name="method"))
        if self.decides is None:
            return table
        # Unmeasured candidates come last; the stable sort keeps the order of equal ones.
        return table.sort_values(self.decides, ascending=False, kind="stable", na_position="last")

    @property
    def measures(self) -> list[str]:
        """Keys of all measures of any fit, those that can decide first."""
        keys = {name for fit in self.fits for name in fit.scores}
        return [key for key in MEASURES if key in keys] + sorted(keys - set(MEASURES))

    @property
    def decides(self) -> str | None:
        """The measure that decides, on held-out links and comparisons if there are any."""
        return next((key for key in self.measures if key in MEASURES), None)

    @property
    def curves(self) -> dict[str, dict[str, LinkCurve]]:
        """Curves of each candidate, the mean over the splits."""
        by_candidate: dict[str, dict[str, LinkCurve]] = {}
        for candidate in self.candidates:
            fits = list(self._fits(candidate.key))
            kinds = [kind for kind in ("given", "held_out") if fits and kind in fits[0].curves]
            by_candidate[candidate.key] = {
                kind: [
                    list(fits[0].curves[kind][0]),
                    *(
                        np.mean([fit.curves[kind][part] for fit in fits], axis=0).tolist()
                        for part in range(1, min(len(fit.curves[kind]) for fit in fits))
                    ),
                ]
                for kind in kinds
            }
        return {key: curves for key, curves in by_candidate.items() if curves}

    @property
    def recommendation(self) -> Recommendation:
        """The recommended candidate by the measure that decides."""
        return self.recommend()

    def best(self, measure: str | None = None) -> str | None:
        """Return the key of the candidate with the highest mean among those without a failure."""
        measure = measure or self.decides
        sound = self.sound(measure)
        if measure is None or not sound:
            return None
        return max(sound, key=lambda key: float(np.mean(self._values(key, measure))))

    def tied(self, measure: str | None = None) -> list[str]:
        """Return the best candidate and those less than one standard error behind it.

        The standard error is that of the paired difference over the splits. After a single split
        only equal values tie. All share the first rank of `places`, which may hold more.
        """
        measure = measure or self.decides
        best = self.best(measure)
        if best is None or measure is None:
            return []
        top = self._values(best, measure)
        tied = [best]
        for key in next(iter(self.places(measure)), []):
            behind = top - self._values(key, measure)
            error = _standard_error(behind)
            if key != best and behind.mean() <= (0.0 if math.isnan(error) else error) + 1e-12:
                tied.append(key)
        return tied

    def places(self, measure: str | None = None) -> list[list[str]]:
        """Return the candidates in order, grouped by shared rank.

        The best one shares its rank with all that follow it without a gap and whose paired
        difference to it over the splits is within Student's t at 95 %. The next one takes the next
        rank, and so on. After a single split only equal values share a rank. Candidates measured
        on fewer splits than others, or never, have no rank.
        """
        measure = measure or self.decides
        if measure is None:
            return []
        order = sorted(self.sound(measure), key=lambda key: -self.mean(key, measure))
        ranks: list[list[str]] = []
        for key in order:
            if ranks and self._is_tied(ranks[-1][0], key, measure):
                ranks[-1].append(key)
            else:
                ranks.append([key])
        return ranks

    def interval(self, key: str, measure: str) -> tuple[float, float]:
        """Return the 95 % interval of a mean over the splits (Student's t); NaN after one split."""
        values = self._values(key, measure)
        half = _t_quantile(len(values)) * _standard_error(values)
        return self.mean(key, measure) - half, self.mean(key, measure) + half

    def values(self, key: str, measure: str) -> list[float]:
        """Return a measure of a candidate on each split."""
        values: list[float] = self._values(key, measure).tolist()
        return values

    def joined(self, later: Comparison) -> Comparison | None:
        """Return both comparisons as one; None where their splits are not the same.

        A candidate of both is taken from the later one. The caller must ensure equal data.
        """
        if (self.seeds, self.hold_out) != (later.seeds, later.hold_out):
            return None
        later_keys = {candidate.key for candidate in later.candidates}
        earlier = self.only([c.key for c in self.candidates if c.key not in later_keys])
        notes = {key: texts for key, texts in self.notes.items() if key not in later_keys}
        return replace(
            later,
            candidates=(*earlier.candidates, *later.candidates),
            fits=(*earlier.fits, *later.fits),
            failures={**earlier.failures, **later.failures},
            refused=(*earlier.refused, *later.refused),
            embeddings={**earlier.embeddings, **later.embeddings},
            notes={**notes, **later.notes},
            complete=self.complete and later.complete,
        )

    def with_splits(self, later: Comparison) -> Comparison:
        """Return the comparison with the fits of further splits, of some of its candidates."""
        return replace(
            self,
            fits=(*self.fits, *later.fits),
            seeds=(*self.seeds, *later.seeds),
            failures={**self.failures, **later.failures},
            refused=(*self.refused, *later.refused),
        )

    def lead(self, key: str, other: str, measure: str) -> tuple[float, float]:
        """Return how far a candidate is ahead of another one, with the standard error.

        The mean of the paired difference over the splits that both have; the error is NaN after
        one split.
        """
        own, others = (
            {fit.seed: fit.scores[measure] for fit in self._fits(k) if measure in fit.scores}
            for k in (key, other)
        )
        leads = [own[seed] - others[seed] for seed in own if seed in others]
        return (float(np.mean(leads)) if leads else math.nan), _standard_error(leads)

    def _is_tied(self, first: str, second: str, measure: str) -> bool:
        behind = self._values(first, measure) - self._values(second, measure)
        error = _standard_error(behind)
        margin = 0.0 if math.isnan(error) else _t_quantile(len(behind)) * error
        return bool(behind.mean() <= margin + 1e-12)

    def recommend(self, measure: str | None = None) -> Recommendation:
        """Return the recommended candidate by a measure, with the reason.

        Among `tied` candidates it is the simplest: solved in one step before iterative, then fewer
        parameters, then the higher mean. The reason names all that share the first rank.
        """
        measure = measure or self.decides
        tied = self.tied(measure)
        if measure is None or not tied:
            return Recommendation(None, "No method could be measured.")
        return recommend_tied(self, measure, tied)

    def mean(self, key: str, measure: str) -> float:
        """Return the mean of a measure over the splits; NaN if it was never measured."""
        values = self._values(key, measure)
        return float(values.mean()) if len(values) else math.nan

    def chance(self, measure: str) -> float | None:
        """Return the value of a measure for a random map; None where there is none."""
        texts = MEASURES[measure]
        key = texts.chance_key
        values = [fit.scores[key] for fit in self.fits if key and key in fit.scores]
        return float(np.mean(values)) if values else texts.chance

    def seconds(self, key: str) -> float:
        """Return the mean seconds of a fit; NaN without any."""
        seconds = [fit.seconds for fit in self._fits(key)]
        return float(np.mean(seconds)) if seconds else math.nan

    def candidate(self, key: str) -> Candidate:
        return next(candidate for candidate in self.candidates if candidate.key == key)

    def only(self, keys: Sequence[str]) -> Comparison:
        """Return the comparison restricted to some candidates."""
        wanted = set(keys)
        return replace(
            self,
            candidates=tuple(c for c in self.candidates if c.key in wanted),
            fits=tuple(fit for fit in self.fits if fit.key in wanted),
            failures={key: reason for key, reason in self.failures.items() if key in wanted},
            refused=tuple(key for key in self.refused if key in wanted),
            embeddings={
                key: embedding for key, embedding in self.embeddings.items() if key in wanted
            },
            judged_by={key: kind for key, kind in self.judged_by.items() if key in wanted},
        )

    def to_dict(self) -> JsonObject:
        """Return everything but the embeddings, JSON-ready; `from_dict` reads it."""
        recommended = self.recommendation
        return {
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "fits": [asdict(fit) for fit in self.fits],
            "failures": dict(self.failures),
            "refused": list(self.refused),
            "limits": {
                key: {"at_most": self.ceiling(key), "can_tell": _json_value(self.resolution(key))}
                for key in self.measures
            },
            "seeds": list(self.seeds),
            "hold_out": self.hold_out,
            "notes": {key: list(texts) for key, texts in self.notes.items()},
            "complete": self.complete,
            "judged_by": dict(self.judged_by),
            "yardsticks": {name: dict(values) for name, values in self.yardsticks.items()},
            "recommendation": {"method": recommended.method, "sentence": recommended.sentence},
            "table": [
                {
                    "method": str(key),
                    **{str(name): _json_value(value) for name, value in row.items()},
                }
                for key, row in self.table.to_dict("index").items()
            ],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Comparison:
        """Return the comparison that `to_dict` wrote, without embeddings."""
        return cls(
            tuple(Candidate(**candidate) for candidate in content["candidates"]),
            tuple(
                FitScores(**{**fit, "scores": _current_scores(fit["scores"])})
                for fit in content["fits"]
            ),
            dict(content["failures"]),
            tuple(content["seeds"]),
            float(content["hold_out"]),
            notes={key: tuple(texts) for key, texts in content["notes"].items()},
            complete=bool(content["complete"]),
            # Older files lack these keys.
            judged_by=dict(content.get("judged_by", {})),
            yardsticks={name: dict(v) for name, v in content.get("yardsticks", {}).items()},
            refused=tuple(content.get("refused", ())),
        )

    def _fits(self, key: str) -> Iterator[FitScores]:
        return (fit for fit in self.fits if fit.key == key)

    def _values(self, key: str, measure: str) -> Floats:
        return np.array([f.scores[measure] for f in self._fits(key) if measure in f.scores])

    def sound(self, measure: str | None) -> list[str]:
        """Return the candidates without a failure that were measured on the most splits."""
        if measure is None:
            return []
        sizes = {
            candidate.key: len(self._values(candidate.key, measure))
            for candidate in self.candidates
            if candidate.key not in self.failures
        }
        n_splits = max(sizes.values(), default=0)
        return [key for key, size in sizes.items() if size == n_splits and n_splits > 0]

    def _row(self, candidate: Candidate) -> dict[str, object]:
        fits = list(self._fits(candidate.key))
        row: dict[str, Any] = {"title": candidate.title, "n_fits": len(fits)}
        row["seconds"] = self.seconds(candidate.key)
        row["seconds_se"] = _standard_error([fit.seconds for fit in fits])
        for measure in self.measures:
            values = self._values(candidate.key, measure)
            row[measure] = self.mean(candidate.key, measure)
            row[f"{measure}_se"] = _standard_error(values)
        row["failed"] = self.failures.get(candidate.key, "")
        return row


def _t_quantile(n: int) -> float:
    """Return the number of standard errors from the mean of n values to a 95 % bound."""
    return float(stdtrit(n - 1, 0.975)) if n > 1 else math.nan


def _standard_error(values: object) -> float:
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2:
        return math.nan
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _json_value(value: Json) -> Json:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def maps_by_candidate(content: Mapping[str, Any], runs: Sequence[str]) -> dict[str, str]:
    """Return the map id of each candidate of a stored comparison, including earlier ones."""
    keys = content.get("maps", ())
    # Maps of the earlier comparisons that this one extends come first.
    own_runs = runs[max(len(runs) - len(keys), 0) :]
    return {**content.get("earlier", {}), **dict(zip(keys, own_runs, strict=False))}


def _current_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """Return scores without those whose definition has changed since they were stored."""
    # Close links have a chance level since their definition follows the data. 0: no places.
    return {
        key: value
        for key, value in scores.items()
        if not value
        or not (chance_key := MEASURES[key].chance_key if key in MEASURES else "")
        or chance_key in scores
    }


def join_contents(
    before: Mapping[str, Any], runs: Sequence[str], content: Mapping[str, Any]
) -> Mapping[str, object]:
    """Return the contents of two stored comparisons of the same data as one."""
    joined = Comparison.from_dict(before).joined(Comparison.from_dict(content))
    if joined is None:
        return content
    later_keys = {candidate["key"] for candidate in content["candidates"]}
    earlier_maps = maps_by_candidate(before, runs)
    earlier = {key: id for key, id in earlier_maps.items() if key not in later_keys}
    return {**joined.to_dict(), "maps": content.get("maps", []), "earlier": earlier}


def recommend_tied(comparison: Comparison, measure: str, tied: Sequence[str]) -> Recommendation:
    """Return the recommended one of tied candidates, the best first, with the reason."""
    best = tied[0]
    texts = comparison.texts(measure)
    order = {key: place for place, key in enumerate(tied)}
    key = min(tied, key=lambda k: (*comparison.candidate(k).complexity, order[k]))
    title = comparison.candidate(key).title
    splits = f"{len(comparison.seeds)} splits" if len(comparison.seeds) > 1 else "one split"
    value = per_hundred(comparison.mean(best, measure))
    leaders = next(iter(comparison.places(measure)), [best])
    if len(leaders) > 1:
        names = join_words(_shorten_names([comparison.candidate(k).title for k in leaders]))
        shares = {per_hundred(comparison.mean(k, measure)) for k in leaders}
        low, high = min(shares, key=float), max(shares, key=float)
        values = high if low == high else f"{low} to {high}"
        apart = " Their differences may be chance." if len(comparison.seeds) > 1 else ""
        sentence = f"{names} tie at {values} % over {splits}.{apart} Take {title}"
        if len(tied) > 1:
            sentence += f"{_simplicity_reason(comparison, key, tied)}."
        else:
            sentence += ", which has the highest mean."
    else:
        sentence = f"Take {title}. It is best at {texts.does} ({value} %)."
        others = [k for k in comparison.sound(measure) if k != best]
        if others:
            second = max(others, key=lambda k: comparison.mean(k, measure))
            after = per_hundred(comparison.mean(second, measure))
            sentence += f" Next is {comparison.candidate(second).title} ({after} %)."
        if len(comparison.seeds) > 1 and others:
            sentence += f" The difference over {splits} is larger than chance (95 %)."
    chance = comparison.chance(measure)
    if chance is not None and comparison.mean(best, measure) <= chance:
        sentence += f" That is no better than chance ({per_hundred(chance)} %)."
    if len(comparison.seeds) == 1:
        sentence += " One split gives no error. More splits show whether the difference is real."
    return Recommendation(key, sentence)


def _shorten_names(names: list[str]) -> list[str]:
    """Return all of up to three names, or the first two and the number of others."""
    return names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} others"]


def _simplicity_reason(comparison: Comparison, key: str, tied: Sequence[str]) -> str:
    """Return the reason for one of several tied candidates, or ""."""
    chosen = comparison.candidate(key)
    others = [comparison.candidate(k) for k in tied if k != key]
    more_complex = [
        other_time for other_time in others if chosen.complexity < other_time.complexity
    ]
    if not more_complex:
        return ""
    one_step = chosen.steps == 0 and all(other_time.steps for other_time in more_complex)
    reason = ", which is solved in one step" if one_step else ", which is the simpler method"
    own_seconds, other_seconds = (
        comparison.seconds(key),
        max(comparison.seconds(other_time.key) for other_time in more_complex),
    )
    if other_seconds >= 2 * own_seconds:
        own_time, other_time = format_seconds(own_seconds), format_seconds(other_seconds)
        reason += f" and faster ({own_time} instead of {other_time})"
    return reason
