"""Comparison of methods on the same splits, judged by held-out links and comparisons.

Links and comparisons are held out before any method sees the data. Every method gets the same
split for the same seed, so that differences do not come from the splits.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hetviz import params as parameters
from hetviz._types import Bools
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method, simplicity, suggest
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.errors import Cancelled, HetvizError, ParameterError
from hetviz.metrics.fit.curves import curves_of_map
from hetviz.metrics.fit.guidance import block_scores_of_parts, weighted_mean
from hetviz.metrics.fit.measured_map import MeasuredMap
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.metrics.fit.summary import evaluate_measured
from hetviz.progress import Progress, ignore_progress
from hetviz.runs.compare.comparison import Candidate, Comparison, FitScores, LinkCurve
from hetviz.runs.compare.measures import overall
from hetviz.runs.compare.predicted_links import (
    held_out_scores,
    new_item_scores,
    score_kind,
    yardsticks,
)
from hetviz.runs.embed.run import fit_run, notes_of

log = logging.getLogger(__name__)

MAX_SEEDS = 100
_BUG_MESSAGE = "This method failed because of a bug in hetviz, not because of your data."
_MEMORY_MESSAGE = "There is not enough memory for this method with this many items."


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
        Keys of methods; all that suit the data when absent. The result lists the reasons for
        methods that do not suit.
    seeds : int
        Number of splits; each uses a seed for the methods: `random_state`, `random_state` + 1, ...
    hold_out : float
        Share of the links and of the comparisons that no method sees, from 0 to below 1.
    params : mapping of str to mapping, optional
        Key of a method to parameters other than its defaults.
    new_items : float
        Share of the items with features that an extra fit for each split leaves out. Methods that
        can place new items place them afterwards; measured as ``links_kept_new_items``.
    progress : callable, optional
        Also gets ``parts``: title, share done and state of each method.
    random_state : int

    Returns
    -------
    Comparison
        Measures with mean and standard error over the splits, curves, seconds, failures with
        reasons, the embeddings of the first split, simple baselines, and a recommendation. Held-out
        links are predicted by a method's own scores for pairs or else by closeness on its map.
        Everything but the seconds is the same for the same arguments.

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown method, parameter, or share.
    hetviz.errors.Cancelled
        When `progress` raises it; its ``partial`` is the Comparison of all complete fits.

    Notes
    -----
    Costs one fit and one `evaluate` for each method and split. Memory is that of one fit plus one
    embedding for each method.
    """
    params_by_method = {key: dict(values) for key, values in (params or {}).items()}
    if isinstance(methods, str):
        methods = [methods]
    if methods is None:
        keys = [verdict.card.key for verdict in suggest(data) if verdict.suits]
    else:
        keys = list(dict.fromkeys(methods))
    unknown = [key for key in params_by_method if key not in keys]
    if unknown:
        raise ParameterError(
            f"compare: params names methods that are not compared: {', '.join(unknown)}."
        )
    candidates = [candidate(key, params_by_method.get(key, {})) for key in keys]
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
    """Return a method with checked parameters as a candidate."""
    kind = get_method(method)
    parameters.check(method, kind.params, dict(params))
    return Candidate(
        key or method, method, title or kind.card.title, dict(params), *simplicity(kind)
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
    brief: bool = False,
) -> Comparison:
    """Fit candidates on the same splits and measure them; see `compare`."""
    if not candidates:
        raise ParameterError("compare: there is no method to compare. None suits these data.")
    if not 1 <= seeds <= MAX_SEEDS:
        raise ParameterError(f"compare: seeds = {seeds!r} must be from 1 to {MAX_SEEDS}.")
    for name, share in (("hold_out", hold_out), ("new_items", new_items)):
        if not 0 <= share < 1:
            raise ParameterError(f"compare: {name} = {share!r} must be a share from 0 to below 1.")
    split_seeds = tuple(range(random_state, random_state + seeds))
    state = _ComparisonState(data, candidates, split_seeds, hold_out, progress or ignore_progress)
    state.brief = brief
    try:
        for seed in split_seeds:
            train, held_out = state.split(seed)
            for contestant in candidates:
                state.fit(contestant, seed, train, held_out, new_items)
        state.report(1.0, "Done")
    except Cancelled as cancelled:
        cancelled.partial = state.result(complete=False)
        raise
    return state.result(complete=True)


class _ComparisonState:
    brief = False

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
        self._fits: list[FitScores] = []
        self._failures: dict[str, str] = {}
        self._refused: list[str] = []
        self._embeddings: dict[str, Embedding] = {}
        self._notes: dict[str, list[str]] = {}
        self._judged_by: dict[str, str] = {}
        self._yardsticks: dict[str, dict[str, list[float]]] = {}
        self._share_done = dict.fromkeys((c.key for c in candidates), 0.0)
        self._running: str | None = None

    def split(self, seed: int) -> tuple[HeteroData, HeteroData | None]:
        """Return the training data of a split and the held-out data."""
        has_comparisons = self._data.comparisons is not None and len(self._data.comparisons) > 0
        if not self._hold_out or not (self._data.links or has_comparisons):
            return self._data, None
        train, held_out = self._data.holdout(
            links=self._hold_out if self._data.links else 0.0,
            comparisons=self._hold_out if has_comparisons else 0.0,
            random_state=seed,
        )
        baselines = {} if self.brief else yardsticks(train, held_out, seed)
        for name, values in baselines.items():
            collected = self._yardsticks.setdefault(name, {})
            for key, value in values.items():
                collected.setdefault(key, []).append(value)
        return train, held_out

    def fit(
        self,
        contestant: Candidate,
        seed: int,
        train: HeteroData,
        held_out: HeteroData | None,
        new_items: float,
    ) -> None:
        """Fit one candidate on one split and record its scores or failure."""
        key, share_before = contestant.key, self._share_done[contestant.key]
        self._running = key

        def report(fraction: float, message: str = "", **figures: object) -> None:
            # Partial layouts of a comparison are not shown.
            self._share_done[key] = max(
                self._share_done[key], share_before + 0.9 * fraction / len(self._seeds)
            )
            self.report(None, f"{contestant.title}: {message}" if message else contestant.title)

        try:
            report(0.0)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                started = time.perf_counter()
                fitted = fit_run(train, contestant.method, contestant.params, seed, report)
                seconds = time.perf_counter() - started
                report(1.0, "Measuring the map")
                embedding = fitted.result.embedding
                scores, curves, limits = measure_map_with_limits(
                    train,
                    embedding,
                    held_out,
                    lambda: report(1.0, "Measuring the map"),
                    brief=self.brief,
                )
                if not self.brief:
                    scores |= held_out_scores(train, fitted.model, held_out, seed)
                if Capability.LABELS in get_method(contestant.method).card.capabilities:
                    # This method saw labels that the overall score of others is based on.
                    scores.pop("overall", None)
                if new_items:
                    scores |= placing_scores(
                        self._data, contestant.method, contestant.params, seed, new_items, report
                    )
        except Cancelled:
            raise
        except HetvizError as error:
            self._refused.append(key)
            self._fail(key, seed, str(error))
        except MemoryError:
            self._fail(key, seed, _MEMORY_MESSAGE)
        except Exception:
            log.exception("A method failed in a comparison: %s", contestant.method)
            self._fail(key, seed, _BUG_MESSAGE)
        else:
            self._fits.append(FitScores(key, seed, seconds, scores, curves, *limits))
            self._embeddings.setdefault(key, embedding)
            self._judged_by[key] = score_kind(fitted.model)
            self._notes.setdefault(key, notes_of(caught)["notes"])
        self._running = None
        self._share_done[key] = share_before + 1.0 / len(self._seeds)
        self.report(None, contestant.title)

    def report(self, fraction: float | None, message: str) -> None:
        """Report the progress of the whole and of each candidate."""
        share = (
            sum(self._share_done.values()) / len(self._share_done) if fraction is None else fraction
        )
        self._progress(min(share, 1.0), message, parts=self._parts())

    def result(self, complete: bool) -> Comparison:
        """Return the comparison of all fits so far."""
        return Comparison(
            self._candidates,
            tuple(self._fits),
            dict(self._failures),
            self._seeds,
            self._hold_out,
            dict(self._embeddings),
            {key: tuple(notes) for key, notes in self._notes.items() if notes},
            complete,
            dict(self._judged_by),
            {
                name: {key: float(np.mean(numbers)) for key, numbers in values.items()}
                for name, values in self._yardsticks.items()
            },
            tuple(dict.fromkeys(self._refused)),
        )

    def _parts(self) -> list[tuple[str, float, str]]:
        return [
            (c.title, min(self._share_done[c.key], 1.0), self._state(c.key))
            for c in self._candidates
        ]

    def _state(self, key: str) -> str:
        if key == self._running:
            return "running"
        if key in self._failures:
            return "failed"
        return "done" if self._share_done[key] >= 1 - 1e-9 else "waiting"

    def _fail(self, key: str, seed: int, reason: str) -> None:
        has_fit = any(fit.key == key for fit in self._fits)
        self._failures.setdefault(key, f"With seed {seed}: {reason}" if has_fit else reason)


def measure_map(
    train: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None,
    beat: Callable[[], None] = lambda: None,
) -> tuple[dict[str, float], dict[str, LinkCurve]]:
    """Return every measure that applies to a map, and its curves."""
    scores, curves, _ = measure_map_with_limits(train, embedding, held_out, beat)
    return scores, curves


def measure_map_with_limits(
    train: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None,
    beat: Callable[[], None] = lambda: None,
    *,
    brief: bool = False,
) -> tuple[dict[str, float], dict[str, LinkCurve], tuple[dict[str, float], dict[str, float]]]:
    """Return `measure_map` with the ceilings and the smallest visible differences of measures."""
    measured = MeasuredMap(train, embedding, held_out, beat=beat)
    measures = evaluate_measured(measured, brief)
    scores = measures.to_dict()
    ceilings = {key: ceiling for key, ceiling in measures.ceilings.items() if np.isfinite(ceiling)}
    scores["placed"] = float(embedding.stacked_placed().mean())
    curves: dict[str, LinkCurve] = {}
    link_curves = {} if brief else curves_of_map(measured).get("links", {})
    for kind, ending, links_data in (("given", "", train), ("held_out", "_held_out", held_out)):
        if links_data is None or not any((group.weight > 0).any() for group in links_data.links):
            continue
        if not brief:
            x, y, *level = link_curves.get(kind, ([0.0, 1.0], [0.0, 0.0]))
            close = np.asarray(y) * _share_of_placed_links(links_data, embedding)
            curves[kind] = [np.round(x, 7).tolist(), np.round(close, 6).tolist(), *level]
        # No link of the map has a place.
        scores.setdefault(f"links_kept{ending}", 0.0)
    if (overall_score := overall(scores)) is not None:
        scores["overall"] = overall_score
        overall_ceiling = overall({key: measures.ceiling(key) for key in scores} | {"placed": 1.0})
        ceilings["overall"] = 1.0 if overall_ceiling is None else overall_ceiling
    return scores, curves, (ceilings, dict(measures.resolutions))


def _share_of_placed_links(data: HeteroData, embedding: Embedding) -> float:
    """Return the share of positive links whose ends both have a place."""
    placed = embedding.stacked_placed()
    table = data.link_table()
    ends = table.loc[table["weight"] > 0, ["p", "q"]].to_numpy(np.int64)
    return float(placed[ends].all(axis=1).mean())


# New items: placed by their features alone, judged by their links.


def placing_scores(
    data: HeteroData,
    method: str,
    params: Mapping[str, object],
    seed: int,
    share: float,
    progress: Progress,
) -> dict[str, float]:
    """Fit a method without some items, place them afterwards, and measure their links.

    Returns: ``links_kept_new_items``: share of the links of new items that are close, and its
        chance level ``links_kept_chance_new_items``. ``link_score_auc_new_items``: AUC of these
        links among all pairs of the items by the method's own scores, or else by closeness. Empty
        for methods that cannot place new items, and where no new item has links.
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
    fitted_embedding = fitted.model.embedding_
    full = fitted_embedding.joined(fitted.model.transform(bare))
    embedding = Embedding(
        coordinates_of(data, full),
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
    )
    is_new = ~_rows_in(data, train)
    links = [
        group.take(mask)
        for group in data.links
        if (
            mask := (group.weight > 0)
            & (
                is_new[data.offsets[group.source].start + group.i]
                | is_new[data.offsets[group.target].start + group.j]
            )
        ).any()
    ]
    blocks, _ = block_scores_of_parts(coordinates_of(data, embedding), [links, data.links], seed)
    scores = {
        f"{name}_new_items": value
        for name, measure in (("links_kept", "share_close"), ("links_kept_chance", "chance"))
        if (value := weighted_mean(blocks, measure, 1)) is not None
    }
    return scores | new_item_scores(data, fitted.model, embedding, is_new)


def _one_of_each_entity(data: HeteroData) -> list[str]:
    """Return one dataset with features for each entity; its other views lose the same objects."""
    names: dict[str, str] = {}
    for name, dataset in data.datasets.items():
        if not dataset.is_featureless and len(dataset) > 1:
            names.setdefault(dataset.entity, name)
    return list(names.values())


def _rows_in(data: HeteroData, part: HeteroData) -> Bools:
    """Return a mask of the rows of `data` that are in `part`."""
    masks = [
        np.isin(dataset.ids.astype(str), part[name].ids.astype(str))
        if name in part.datasets
        else np.zeros(len(dataset), dtype=bool)
        for name, dataset in data.datasets.items()
    ]
    return np.concatenate(masks)
