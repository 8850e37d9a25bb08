"""Running several methods on the same splits of what is known, judged by what is held out.

Links and comparisons are held out of the data before any method sees them; every method gets the
same split for the same seed, so that their differences are not those of the splits.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hetviz import params as parameters
from hetviz._types import Bools
from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import get_method, simplicity, suggest
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.errors import Cancelled, HetvizError, ParameterError
from hetviz.metrics.fit.curves import measured_curves
from hetviz.metrics.fit.guidance import guidance_curve
from hetviz.metrics.fit.measured import Measured
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.metrics.fit.summary import scores_of
from hetviz.progress import Progress, ignore_progress
from hetviz.runs.compare.comparison import Candidate, Comparison, Curve, Fitted
from hetviz.runs.compare.measures import LOOK_AT, overall
from hetviz.runs.compare.predicted_links import (
    held_out_scores,
    judged_by,
    new_item_scores,
    yardsticks,
)
from hetviz.runs.embed.run import fit_run, notes_of

log = logging.getLogger(__name__)

_MOST_SEEDS = 100
_FAULT = "Something went wrong inside this method, which is a fault of hetviz and not of your data."
_NO_MEMORY = "There is not enough memory for this method with as many items."


@one_thread()
def compare(
    data: HeteroData,
    methods: Sequence[str] | None = None,
    *,
    seeds: int = 3,
    hold_out: float = 0.2,
    params: Mapping[str, Mapping[str, object]] | None = None,
    new_items: float = 0.0,
    progress: Progress | None = None,
    random_state: int = 0,
) -> Comparison:
    """Fit methods on the same held-out splits and measure them.

    Parameters
    ----------
    data : HeteroData
    methods : sequence of str, optional
        Keys; all methods that suit the data when absent. One that does not suit is told in the
        result with its reasons.
    seeds : int
        Splits, and with each a seed of the methods: `random_state`, `random_state` + 1, ...
    hold_out : float
        Share of the links and of the comparisons that no method sees, from 0 to below 1.
    params : mapping of str to mapping, optional
        Key of a method to parameters other than its defaults.
    new_items : float
        Share of the items with features to leave out altogether once more for each split, to be
        placed afterwards by the methods that can; measured as ``links_kept_new_items``.
    progress : callable, optional
        Also told of ``parts``: title, share done and state of each method.
    random_state : int

    Returns
    -------
    Comparison
        Measures with mean and standard error over the splits (unseen links by a method's own scores
        for pairs where it has such and else by nearness on its map, beside plain guesses), curves,
        seconds, what failed and why, the embeddings of the first split, and a recommendation.
        Everything but the seconds is the same for the same arguments.

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown method, parameter, or share.
    hetviz.errors.Cancelled
        When `progress` raises it; its ``partial`` is the Comparison of all fits that were complete.

    Notes
    -----
    Costs one fit and one `evaluate` for each method and split; memory is that of one fit and of one
    embedding for each method.
    """
    given = {key: dict(values) for key, values in (params or {}).items()}
    if methods is None:
        keys = [verdict.card.key for verdict in suggest(data) if verdict.suits]
    else:
        keys = list(dict.fromkeys(methods))
    strangers = [key for key in given if key not in keys]
    if strangers:
        raise ParameterError(f"compare: params names methods not compared: {', '.join(strangers)}.")
    candidates = [candidate(key, given.get(key, {})) for key in keys]
    return judge(
        data,
        candidates,
        seeds=seeds,
        hold_out=hold_out,
        new_items=new_items,
        progress=progress,
        random_state=random_state,
    )


def candidate(
    method: str, params: Mapping[str, object], key: str | None = None, title: str | None = None
) -> Candidate:
    """Return a method with parameters as a candidate; they are checked."""
    kind = get_method(method)
    parameters.check(method, kind.params, dict(params))
    return Candidate(
        key or method,
        method,
        title or kind.card.title,
        dict(params),
        *simplicity(kind),
    )


def judge(
    data: HeteroData,
    candidates: Sequence[Candidate],
    *,
    seeds: int,
    hold_out: float,
    new_items: float,
    progress: Progress | None,
    random_state: int,
) -> Comparison:
    """Fit candidates on the same splits and measure them, as `compare` says."""
    if not candidates:
        raise ParameterError("compare: there is no method to compare; none suits these data.")
    if not 1 <= seeds <= _MOST_SEEDS:
        raise ParameterError(f"compare: seeds = {seeds!r}; a whole number from 1 to {_MOST_SEEDS}.")
    for name, share in (("hold_out", hold_out), ("new_items", new_items)):
        if not 0 <= share < 1:
            raise ParameterError(f"compare: {name} = {share!r}; a share from 0 to below 1.")
    rounds = tuple(range(random_state, random_state + seeds))
    work = _Work(data, candidates, rounds, hold_out, progress or ignore_progress)
    try:
        for seed in rounds:
            train, held_out = work.split(seed)
            for chosen in candidates:
                work.fit(chosen, seed, train, held_out, new_items)
        work.tell(1.0, "Done")
    except Cancelled as stopped:
        stopped.partial = work.result(complete=False)
        raise
    return work.result(complete=True)


class _Work:
    """A comparison under way."""

    def __init__(
        self,
        data: HeteroData,
        candidates: Sequence[Candidate],
        seeds: Sequence[int],
        hold_out: float,
        progress: Progress,
    ) -> None:
        self._data, self._candidates, self._seeds = data, tuple(candidates), tuple(seeds)
        self._hold_out, self._progress = hold_out, progress
        self._fits: list[Fitted] = []
        self._failures: dict[str, str] = {}
        self._refused: list[str] = []
        self._embeddings: dict[str, Embedding] = {}
        self._notes: dict[str, list[str]] = {}
        self._judged_by: dict[str, str] = {}
        self._yardsticks: dict[str, dict[str, list[float]]] = {}
        self._done = dict.fromkeys((c.key for c in candidates), 0.0)
        self._running: str | None = None

    def split(self, seed: int) -> tuple[HeteroData, HeteroData | None]:
        """Return what the candidates see, and what they are judged by."""
        compared = self._data.comparisons is not None and len(self._data.comparisons) > 0
        if not self._hold_out or not (self._data.links or compared):
            return self._data, None
        train, held_out = self._data.holdout(
            links=self._hold_out if self._data.links else 0.0,
            comparisons=self._hold_out if compared else 0.0,
            random_state=seed,
        )
        for name, values in yardsticks(train, held_out, seed).items():
            kept = self._yardsticks.setdefault(name, {})
            for key, value in values.items():
                kept.setdefault(key, []).append(value)
        return train, held_out

    def fit(
        self,
        chosen: Candidate,
        seed: int,
        train: HeteroData,
        held_out: HeteroData | None,
        new_items: float,
    ) -> None:
        """Fit one candidate on one split, and keep what it came to."""
        key, before = chosen.key, self._done[chosen.key]
        self._running = key

        def report(fraction: float, message: str = "", **figures: object) -> None:
            # Layouts of half a comparison are nobody's map.
            self._done[key] = max(self._done[key], before + 0.9 * fraction / len(self._seeds))
            self.tell(None, f"{chosen.title}: {message}" if message else chosen.title)

        try:
            report(0.0)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                started = time.perf_counter()
                fitted = fit_run(train, chosen.method, chosen.params, seed, report)
                seconds = time.perf_counter() - started
                report(1.0, "Measuring the map")
                scores, curves, limits = judged_with_limits(
                    train, fitted.embedding, held_out, lambda: report(1.0, "Measuring the map")
                )
                scores |= held_out_scores(train, fitted.model, held_out, seed)
                if Capability.LABELS in get_method(chosen.method).card.capabilities:
                    # It was shown the labels by which, in part, the others are judged.
                    scores.pop("overall", None)
                if new_items:
                    scores |= placing_scores(
                        self._data, chosen.method, chosen.params, seed, new_items, report
                    )
        except Cancelled:
            raise
        except HetvizError as error:
            self._refused.append(key)
            self._fail(key, seed, str(error))
        except MemoryError:
            self._fail(key, seed, _NO_MEMORY)
        except Exception:
            log.exception("A method failed in a comparison: %s", chosen.method)
            self._fail(key, seed, _FAULT)
        else:
            self._fits.append(Fitted(key, seed, seconds, scores, curves, *limits))
            self._embeddings.setdefault(key, fitted.embedding)
            self._judged_by[key] = judged_by(fitted.model)
            self._notes.setdefault(key, notes_of(told)["notes"])
        self._running = None
        self._done[key] = before + 1.0 / len(self._seeds)
        self.tell(None, chosen.title)

    def tell(self, fraction: float | None, message: str) -> None:
        """Tell how far the whole and each part is."""
        share = sum(self._done.values()) / len(self._done) if fraction is None else fraction
        self._progress(min(share, 1.0), message, parts=self._parts())

    def result(self, complete: bool) -> Comparison:
        """Return what there is so far."""
        return Comparison(
            self._candidates,
            tuple(self._fits),
            dict(self._failures),
            self._seeds,
            self._hold_out,
            dict(self._embeddings),
            {key: tuple(said) for key, said in self._notes.items() if said},
            complete,
            dict(self._judged_by),
            {
                name: {key: float(np.mean(each)) for key, each in values.items()}
                for name, values in self._yardsticks.items()
            },
            tuple(dict.fromkeys(self._refused)),
        )

    def _parts(self) -> list[tuple[str, float, str]]:
        return [
            (c.title, min(self._done[c.key], 1.0), self._state(c.key)) for c in self._candidates
        ]

    def _state(self, key: str) -> str:
        if key == self._running:
            return "running"
        if key in self._failures:
            return "failed"
        return "done" if self._done[key] >= 1 - 1e-9 else "waiting"

    def _fail(self, key: str, seed: int, reason: str) -> None:
        worked = any(fit.key == key for fit in self._fits)
        self._failures.setdefault(key, f"With seed {seed}: {reason}" if worked else reason)


def judged(
    train: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None,
    beat: Callable[[], None] = lambda: None,
) -> tuple[dict[str, float], dict[str, Curve]]:
    """Return every measure that applies to a map, and its satisfaction curves.

    ``links_kept`` (and ``links_kept_held_out``) is what the curve shows at 5 % of the pairs; links
    of items without a place count as not kept. ``placed`` is the share of rows with a place, and
    ``overall`` as `hetviz.runs.compare.measures.overall` says. `beat` is called in between.
    """
    scores, curves, _ = judged_with_limits(train, embedding, held_out, beat)
    return scores, curves


def judged_with_limits(
    train: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None,
    beat: Callable[[], None] = lambda: None,
) -> tuple[dict[str, float], dict[str, Curve], tuple[dict[str, float], dict[str, float]]]:
    """Return `judged`, with the ceilings and the smallest visible differences of the measures."""
    measured = Measured(train, embedding, held_out, beat=beat)
    found = scores_of(measured)
    scores = found.to_dict()
    ceilings = {key: most for key, most in found.ceilings.items() if np.isfinite(most)}
    scores["placed"] = float(embedding.stacked_placed().mean())
    curves: dict[str, Curve] = {}
    drawn = measured_curves(measured).get("links", {})
    for kind, ending, part in (("given", "", train), ("held_out", "_held_out", held_out)):
        if part is None or not any((group.weight > 0).any() for group in part.links):
            continue
        x, y = drawn.get(kind, ([0.0, 1.0], [0.0, 0.0]))
        kept = np.asarray(y) * _with_places(part, embedding)
        curves[kind] = np.round(x, 7).tolist(), np.round(kept, 6).tolist()
        scores[f"links_kept{ending}"] = float(np.interp(LOOK_AT, *curves[kind]))
    total = overall(scores)
    if total is not None:
        scores["overall"] = total
        best = overall({key: found.ceiling(key) for key in scores} | {"placed": 1.0})
        ceilings["overall"] = 1.0 if best is None else best
    return scores, curves, (ceilings, dict(found.resolutions))


def _with_places(data: HeteroData, embedding: Embedding) -> float:
    """Return the share of the links that say together whose ends both have a place."""
    placed = embedding.stacked_placed()
    table = data.link_table()
    ends = table.loc[table["weight"] > 0, ["p", "q"]].to_numpy(np.int64)
    return float(placed[ends].all(axis=1).mean())


# How well a method places items it never saw: by their features alone, judged by their links.


def placing_scores(
    data: HeteroData,
    method: str,
    params: Mapping[str, object],
    seed: int,
    share: float,
    progress: Progress,
) -> dict[str, float]:
    """Fit a method without some items, place these afterwards, and see which links they keep.

    Parameters
    ----------
    data : HeteroData
    method : str
    params : mapping
    seed : int
        Of the method and of which items leave.
    share : float
        Of the items of each dataset with features; an item leaves in all its views.
    progress : callable

    Returns
    -------
    dict
        ``links_kept_new_items``: share of the links of new items whose pair is among the closest
        5 % of all pairs; ``link_score_auc_new_items``, how they rank among all pairs of these
        items by the method's own scores, or by nearness where it has none.
        Empty for methods that cannot place new items, and where no new item has links.

    Notes
    -----
    The links of the new items are shown to nobody: neither to the fit nor to the placing.
    """
    if Capability.OUT_OF_SAMPLE not in get_method(method).card.capabilities:
        return {}
    names = _one_of_each_entity(data)
    if not names:
        return {}
    train, held_out = data.holdout(
        links=0.0, objects=dict.fromkeys(names, share), random_state=seed
    )
    if not any((group.weight > 0).any() for group in held_out.links):
        return {}
    fitted = fit_run(train, method, params, seed, progress)
    bare = HeteroData(list(held_out.datasets.values()))
    known = fitted.model.embedding_
    everything = known.joined(fitted.model.transform(bare))
    where = Embedding(
        coordinates_of(data, everything),
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
    )
    new = ~_rows_of(data, train)
    links = [
        group.take(mask)
        for group in data.links
        if (
            mask := (group.weight > 0)
            & (
                new[data.offsets[group.source].start + group.i]
                | new[data.offsets[group.target].start + group.j]
            )
        ).any()
    ]
    x, y = guidance_curve(where, links)
    kept = {"links_kept_new_items": float(np.interp(LOOK_AT, x, y))}
    return kept | new_item_scores(data, fitted.model, where, new)


def _one_of_each_entity(data: HeteroData) -> list[str]:
    """Return a dataset with features of each entity; the views of it lose the same objects."""
    found: dict[str, str] = {}
    for name, dataset in data.datasets.items():
        if not dataset.is_featureless and len(dataset) > 1:
            found.setdefault(dataset.entity, name)
    return list(found.values())


def _rows_of(data: HeteroData, part: HeteroData) -> Bools:
    """Return which rows of `data` are in `part`."""
    found = [
        np.isin(dataset.ids.astype(str), part[name].ids.astype(str))
        if name in part.datasets
        else np.zeros(len(dataset), dtype=bool)
        for name, dataset in data.datasets.items()
    ]
    return np.concatenate(found)
