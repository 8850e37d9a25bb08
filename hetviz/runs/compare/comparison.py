"""What came out of comparing methods: a table, curves, and which are the best."""

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
from hetviz.core.measures.resolution import least_significant
from hetviz.data import Embedding
from hetviz.runs.compare.measures import MEASURES, Measure
from hetviz.runs.compare.predicted_links import sentence

Curve = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Candidate:
    """One thing that is compared: a method with parameters.

    Attributes
    ----------
    key : str
        Its name in the comparison: the method's key, or a value of a parameter.
    method : str
        Key of the method.
    title : str
        What people call it.
    params : mapping
    steps : int
        0 for methods that are solved in one step, 1 for those that go on step by step.
    settings : int
        How many parameters the method has; with `steps` it says which of two is the simpler.
    """

    key: str
    method: str
    title: str
    params: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 0
    settings: int = 0

    @property
    def complexity(self) -> tuple[int, int]:
        """What simpler is told by: solved in one step first, then fewer parameters."""
        return self.steps, self.settings


@dataclass(frozen=True)
class Fitted:
    """One fit and how well it did.

    Attributes
    ----------
    key : str
        Of the candidate.
    seed : int
        Of the split and the method.
    seconds : float
    scores : mapping of str to float
    curves : mapping of {"given", "held_out"} to (share of pairs, share of links kept)
    ceilings : mapping of str to float
        The most that a score could be on this split, where it is below 1.
    resolutions : mapping of str to float
        The smallest difference between two maps on this split that is not chance, as far as known:
        see `hetviz.evaluate`.
    """

    key: str
    seed: int
    seconds: float
    scores: Mapping[str, float]
    curves: Mapping[str, Curve]
    ceilings: Mapping[str, float] = field(default_factory=dict)
    resolutions: Mapping[str, float] = field(default_factory=dict)


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


@dataclass(frozen=True, eq=False)
class Comparison:
    """Candidates, judged on the same splits of what is known.

    Attributes
    ----------
    candidates : tuple of Candidate
    fits : tuple of Fitted
    failures : mapping of str to str
        Key of a candidate to why it has no fit, or not one for every split.
    refused : tuple of str
        Those of `failures` whose method refused the data or its settings, for the reason given; the
        others went wrong.
    seeds : tuple of int
        One per split.
    hold_out : float
        Share of links and comparisons that no candidate saw.
    embeddings : mapping of str to Embedding
        Of each candidate, fitted without what the first split holds out.
    notes : mapping of str to tuple of str
        Key of a candidate to what its method warned of, on the first split.
    complete : bool
        False where the work was stopped early.
    judged_by : mapping of str to {"own scores", "nearness on the map"}
        Key of a candidate to what said which unseen links are likely.
    yardsticks : mapping of str to mapping of str to float
        What nearest profiles, popularity and chance reach, by measure.
    """

    candidates: tuple[Candidate, ...]
    fits: tuple[Fitted, ...]
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
            told = ["", ""]
            if decides is not None and row[decides] == row[decides]:
                error = row.get(f"{decides}_se", float("nan"))
                told = [f"{row[decides]:.3f}", f"\u00b1 {error:.3f}" if error == error else ""]
            rows.append((row["title"], key, *told, f"{row['seconds']:.1f}", row["failed"]))
        head = ("", "method", decides or "", "standard error", "seconds", "failed")
        return html_table("Comparison", rows, head, self.recommendation.sentence)

    @property
    def refusals(self) -> dict[str, str]:
        """Why methods refused these data or their settings, by candidate."""
        return {key: why for key, why in self.failures.items() if key in self.refused}

    @property
    def errors(self) -> dict[str, str]:
        """What went wrong inside methods, by candidate."""
        return {key: why for key, why in self.failures.items() if key not in self.refused}

    def ceiling(self, measure: str) -> float:
        """Return the most that any map could reach on these data, the mean over the splits.

        A map that leaves items out ranks its links among fewer pairs, so that of all candidates
        the highest ceiling is that of the data.
        """
        found: dict[int, float] = {}
        for fit in self.fits:
            most = fit.ceilings.get(measure, 1.0)
            found[fit.seed] = max(most, found.get(fit.seed, 0.0))
        return float(np.mean(list(found.values()))) if found else 1.0

    def resolution(self, measure: str) -> float:
        """Return the smallest difference between two candidates that is not chance.

        From two splits and candidates on, the least significant difference of paired splits (see
        `hetviz.core.measures.resolution.least_significant`); else what the number of links,
        comparisons or items allows, NaN where that is not known.
        """
        values = [self.values(key, measure) for key in self.sound(measure)]
        found = least_significant(values) if values else math.nan
        if math.isfinite(found):
            return found
        known = [fit.resolutions[measure] for fit in self.fits if measure in fit.resolutions]
        return float(np.mean(known)) if known else math.nan

    def limits(self, measure: str) -> str:
        """Say in words what a measure can reach here, and the smallest difference it can tell."""
        most, least = self.ceiling(measure), self.resolution(measure)
        words = f"At most {per_hundred(most)} in 100 can be reached here"
        if math.isfinite(least):
            n = len(self.seeds)
            by = f"these {n} splits" if n > 1 else "one split"
            shown = per_hundred(least) if least >= 0.0005 else "0.1"
            words += f"; differences below {shown} are too small for {by} to tell"
        return f"{words}."

    @property
    def told_of_links(self) -> str:
        """By what the candidates were judged, and what plain guesses reach; "" where no links."""
        titles = {c.key: c.title for c in self.candidates if any(self._fits(c.key))}
        return sentence(titles, self.judged_by, self.yardsticks) if titles else ""

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per candidate, the best first: title, n_fits, seconds, measures, failed.

        Each measure has its mean over the splits, and its standard error in the column ending in
        ``_se`` (NaN for a single split). `failed` is empty where nothing did.
        """
        rows = [self._row(candidate) for candidate in self.candidates]
        table = pd.DataFrame(rows, index=pd.Index([c.key for c in self.candidates], name="method"))
        if self.decides is None:
            return table
        # Those that were measured first; equal ones stay in the order in which they were given.
        return table.sort_values(self.decides, ascending=False, kind="stable", na_position="last")

    @property
    def measures(self) -> list[str]:
        """Keys of all measures that any fit has, those that can decide first."""
        found = {name for fit in self.fits for name in fit.scores}
        return [key for key in MEASURES if key in found] + sorted(found - set(MEASURES))

    @property
    def decides(self) -> str | None:
        """The measure that decides: of what no method saw, as far as there is any."""
        return next((key for key in self.measures if key in MEASURES), None)

    @property
    def curves(self) -> dict[str, dict[str, Curve]]:
        """Satisfaction curves of each candidate, the mean over the splits."""
        found: dict[str, dict[str, Curve]] = {}
        for candidate in self.candidates:
            fits = list(self._fits(candidate.key))
            kinds = [kind for kind in ("given", "held_out") if fits and kind in fits[0].curves]
            found[candidate.key] = {
                kind: (
                    list(fits[0].curves[kind][0]),
                    np.mean([fit.curves[kind][1] for fit in fits], axis=0).tolist(),
                )
                for kind in kinds
            }
        return {key: curves for key, curves in found.items() if curves}

    @property
    def recommendation(self) -> Recommendation:
        """Which candidate to take, by the measure that decides."""
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

        The standard error is that of the difference over the splits, which both share; after a
        single split only equal values tie.
        """
        measure = measure or self.decides
        best = self.best(measure)
        if best is None or measure is None:
            return []
        top = self._values(best, measure)
        found = [best]
        for key in self.sound(measure):
            behind = top - self._values(key, measure)
            error = _standard_error(behind)
            if key != best and behind.mean() <= (0.0 if math.isnan(error) else error) + 1e-12:
                found.append(key)
        return found

    def places(self, measure: str | None = None) -> list[list[str]]:
        """Return the candidates in order, those that share a place together.

        The best one takes a place together with all that follow it without a gap whose paired
        difference to it over the splits is not beyond Student's t at 95 %; the next one takes the
        next place, and so on. After a single split only equal values share a place. Those
        measured on fewer splits than others, or never, have no place.
        """
        measure = measure or self.decides
        if measure is None:
            return []
        order = sorted(self.sound(measure), key=lambda key: -self.mean(key, measure))
        found: list[list[str]] = []
        for key in order:
            if found and self._same(found[-1][0], key, measure):
                found[-1].append(key)
            else:
                found.append([key])
        return found

    def interval(self, key: str, measure: str) -> tuple[float, float]:
        """Return the 95 % interval of a mean over the splits (Student's t); NaN after one split."""
        values = self._values(key, measure)
        half = _t_of(len(values)) * _standard_error(values)
        return self.mean(key, measure) - half, self.mean(key, measure) + half

    def values(self, key: str, measure: str) -> list[float]:
        """Return a measure of a candidate on each split."""
        found: list[float] = self._values(key, measure).tolist()
        return found

    def joined(self, later: Comparison) -> Comparison | None:
        """Return both comparisons as one; None where their splits are not the same.

        A candidate of both is that of the later one. Whether the data are the same, the caller
        must know.
        """
        if (self.seeds, self.hold_out) != (later.seeds, later.hold_out):
            return None
        taken = {candidate.key for candidate in later.candidates}
        mine = self.only([c.key for c in self.candidates if c.key not in taken])
        notes = {key: said for key, said in self.notes.items() if key not in taken}
        return replace(
            later,
            candidates=(*mine.candidates, *later.candidates),
            fits=(*mine.fits, *later.fits),
            failures={**mine.failures, **later.failures},
            refused=(*mine.refused, *later.refused),
            embeddings={**mine.embeddings, **later.embeddings},
            notes={**notes, **later.notes},
            complete=self.complete and later.complete,
        )

    def _same(self, first: str, second: str, measure: str) -> bool:
        behind = self._values(first, measure) - self._values(second, measure)
        error = _standard_error(behind)
        room = 0.0 if math.isnan(error) else _t_of(len(behind)) * error
        return bool(behind.mean() <= room + 1e-12)

    def recommend(self, measure: str | None = None) -> Recommendation:
        """Return which candidate to take by a measure, and why.

        Among candidates that tie it is the simpler one: solved in one step rather than step by
        step, then the one with fewer parameters, then the one with the higher mean.
        """
        measure = measure or self.decides
        tied = self.tied(measure)
        if measure is None or not tied:
            return Recommendation(None, "Nothing could be measured, so none is recommended.")
        return recommended(self, measure, tied)

    def mean(self, key: str, measure: str) -> float:
        """Return the mean of a measure over the splits; NaN where it was never taken."""
        values = self._values(key, measure)
        return float(values.mean()) if len(values) else math.nan

    def seconds(self, key: str) -> float:
        """Return the mean seconds of a fit; NaN without any."""
        taken = [fit.seconds for fit in self._fits(key)]
        return float(np.mean(taken)) if taken else math.nan

    def candidate(self, key: str) -> Candidate:
        """Return the candidate of that key."""
        return next(candidate for candidate in self.candidates if candidate.key == key)

    def only(self, keys: Sequence[str]) -> Comparison:
        """Return the comparison of some of the candidates."""
        among = set(keys)
        return replace(
            self,
            candidates=tuple(c for c in self.candidates if c.key in among),
            fits=tuple(fit for fit in self.fits if fit.key in among),
            failures={key: reason for key, reason in self.failures.items() if key in among},
            refused=tuple(key for key in self.refused if key in among),
            embeddings={key: one for key, one in self.embeddings.items() if key in among},
            judged_by={key: how for key, how in self.judged_by.items() if key in among},
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
                key: {"at_most": self.ceiling(key), "can_tell": _plain(self.resolution(key))}
                for key in self.measures
            },
            "seeds": list(self.seeds),
            "hold_out": self.hold_out,
            "notes": {key: list(said) for key, said in self.notes.items()},
            "complete": self.complete,
            "judged_by": dict(self.judged_by),
            "yardsticks": {name: dict(values) for name, values in self.yardsticks.items()},
            "recommendation": {"method": recommended.method, "sentence": recommended.sentence},
            "table": [
                {"method": str(key), **{str(name): _plain(value) for name, value in row.items()}}
                for key, row in self.table.to_dict("index").items()
            ],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Comparison:
        """Return the comparison that `to_dict` wrote, without embeddings."""
        return cls(
            tuple(Candidate(**candidate) for candidate in content["candidates"]),
            tuple(Fitted(**fit) for fit in content["fits"]),
            dict(content["failures"]),
            tuple(content["seeds"]),
            float(content["hold_out"]),
            notes={key: tuple(said) for key, said in content["notes"].items()},
            complete=bool(content["complete"]),
            # comparisons kept before these were there have none
            judged_by=dict(content.get("judged_by", {})),
            yardsticks={name: dict(v) for name, v in content.get("yardsticks", {}).items()},
            refused=tuple(content.get("refused", ())),
        )

    def _fits(self, key: str) -> Iterator[Fitted]:
        return (fit for fit in self.fits if fit.key == key)

    def _values(self, key: str, measure: str) -> Floats:
        return np.array([f.scores[measure] for f in self._fits(key) if measure in f.scores])

    def sound(self, measure: str | None) -> list[str]:
        """Return the candidates that were measured on as many splits as any, without a failure."""
        if measure is None:
            return []
        sizes = {
            candidate.key: len(self._values(candidate.key, measure))
            for candidate in self.candidates
            if candidate.key not in self.failures
        }
        most = max(sizes.values(), default=0)
        return [key for key, size in sizes.items() if size == most and most > 0]

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


def _t_of(n: int) -> float:
    """Return how many standard errors of n values reach the ends of a 95 % interval."""
    return float(stdtrit(n - 1, 0.975)) if n > 1 else math.nan


def _standard_error(values: object) -> float:
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2:
        return math.nan
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _plain(value: Json) -> Json:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def maps_by_candidate(content: Mapping[str, Any], runs: Sequence[str]) -> dict[str, str]:
    """Return the id of the map of each candidate of a kept comparison, earlier ones included."""
    keys = content.get("maps", ())
    # The maps of earlier comparisons that this one goes on with come first.
    made = runs[max(len(runs) - len(keys), 0) :]
    return {**content.get("earlier", {}), **dict(zip(keys, made, strict=False))}


def joined_content(
    before: Mapping[str, Any], runs: Sequence[str], content: Mapping[str, Any]
) -> Mapping[str, object]:
    """Return what is kept of a comparison together with what was kept of an earlier one.

    Parameters
    ----------
    before : mapping
        What was kept of the earlier one, about the same data.
    runs : sequence of str
        Ids of its maps.
    content : mapping
        `Comparison.to_dict` of the later one, with its ``maps``.

    Returns
    -------
    mapping
        Both, with the ids of the earlier maps in ``earlier``; `content` alone where the splits of
        both are not the same.
    """
    both = Comparison.from_dict(before).joined(Comparison.from_dict(content))
    if both is None:
        return content
    new = {candidate["key"] for candidate in content["candidates"]}
    known = maps_by_candidate(before, runs)
    earlier = {key: id for key, id in known.items() if key not in new}
    return {**both.to_dict(), "maps": content.get("maps", []), "earlier": earlier}


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
        names = join_words(_few([found.candidate(k).title for k in tied]))
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
        why += f" and quicker ({format_seconds(mine)} against {format_seconds(theirs)})"
    return why
