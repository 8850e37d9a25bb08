"""Automatic choice of a method for the first map of a dataset."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from hetviz._text import count, join_words, per_hundred
from hetviz._types import Ints, JsonObject, RandomSeed
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.ranking import (
    Standing,
    expected_seconds,
    measuring_seconds,
    standings,
    store_choice,
)
from hetviz.algorithms.registry import get_method, suggest
from hetviz.core.threads import limit_threads, one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.rows import select_rows
from hetviz.errors import (
    Cancelled,
    DataError,
    DataWarning,
    NotApplicableError,
    ParameterError,
)
from hetviz.features.spaces.joint_axes import leading_features, quick_sketch
from hetviz.features.spaces.landmarks import MIN_ROWS, N_LANDMARKS, landmarks, place_by_landmarks
from hetviz.params import seed_of
from hetviz.progress import Progress, ProgressPart, as_progress, ignore_progress
from hetviz.runs.compare.compare import candidate, judge
from hetviz.runs.compare.comparison import Candidate, Comparison
from hetviz.runs.embed.run import STOPPED, EmbeddingOrigin, MapResult, fit_run, notes_of

MAX_SECONDS = 16.0
"""Maximum time to try methods, by the times of `expected_seconds`."""
N_SPLITS = 3
"""Number of splits of the links; only `MAX_FINALISTS` candidates see more than the first."""
MAX_FINALISTS = 2
MIN_LEAD = 0.01
MIN_LEAD_ERRORS = 2.0
"""Minimum lead over the first candidate, also in standard errors, for another to replace it."""
MAX_METHODS = 5
"""Maximum number of methods that are tried."""
JOINT_MAP = "joint-map"
SETTINGS = {"Joint map, more by links": 0.75, "Joint map by links": 1.0}
"""Values of `links_over_features` that are tried next to the default, by title."""
MAX_BEHIND = 0.03
"""Maximum distance to the best method on similar data, for a method that is likely the best."""
MAX_TIME_RATIO = 3.0
"""Maximum expected time of a tried method, as a multiple of the first method's time."""
MIN_TRUST_GAIN = 0.03
"""Minimum gain of trustworthiness for another map to be offered."""
MAX_SPREAD_RATIO = 3.0
"""Maximum ratio of the spreads of two datasets; beyond it the smaller one is hard to read."""
MIN_CROWDING_SHARE = 0.125
"""Minimum share of the map's radius that half of the items need; below it they are too dense."""
_COUNT_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven")


@dataclass(frozen=True, eq=False)
class BestNeighbours:
    """The tried map with the truest neighbours, compared with the chosen one."""

    method: str
    title: str
    params: Mapping[str, Any]  # ``embed(data, method, **params)`` makes it.
    # `score`, `chosen`: trustworthiness of that map and of the chosen one on the first split.
    score: float
    chosen: float
    # `kept`, `chosen_kept`: share of the hidden links that either map finds again; NaN without
    # hidden links.
    kept: float
    chosen_kept: float

    @property
    def offered(self) -> bool:
        """Whether the gain is large enough to offer that map."""
        return self.score - self.chosen > MIN_TRUST_GAIN

    def to_dict(self) -> JsonObject:
        """Return the fields and `offered`, JSON-ready, with None for unknown values."""
        fields = {field.name: getattr(self, field.name) for field in dataclass_fields(self)}
        values = {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in fields.items()
        }
        return {**values, "params": dict(self.params), "offered": self.offered}


@dataclass(frozen=True, eq=False)
class MethodChoice:
    """The chosen method for a dataset, with the reason."""

    method: str
    title: str
    params: Mapping[str, Any]  # ``embed(data, method, **params)`` makes the map.
    sentence: str  # The reason in plain words, with the score of the next method.
    seconds: float | None = None  # Expected time of a fit.
    # The methods tried on the data; None if there was no time.
    comparison: Comparison | None = None

    @property
    def figures(self) -> JsonObject:
        """The reason and the map with the truest neighbours, JSON-ready."""
        best = self.best_neighbours
        return {"choice": self.sentence} | (
            {} if best is None else {"best_neighbours": best.to_dict()}
        )

    @property
    def best_neighbours(self) -> BestNeighbours | None:
        """The readable tried map with the truest neighbours."""
        if self.comparison is None:
            return None
        # All candidates have the first split.
        comparison = _first_split(self.comparison)
        embeddings = comparison.embeddings
        sound = comparison.sound("trustworthiness")
        keys = [key for key in sound if key not in embeddings or _is_readable(embeddings[key])]
        if not keys:
            return None
        best = max(keys, key=lambda key: comparison.mean(key, "trustworthiness"))
        own_keys = [
            tried.key
            for tried in comparison.candidates
            if (tried.method, tried.params) == (self.method, self.params)
        ]
        close = [comparison.mean(key, "links_kept_held_out") for key in (best, *own_keys[:1])]
        return BestNeighbours(
            comparison.candidate(best).method,
            comparison.candidate(best).title,
            comparison.candidate(best).params,
            comparison.mean(best, "trustworthiness"),
            comparison.mean(own_keys[0], "trustworthiness") if own_keys else math.nan,
            *(close if len(close) == 2 else (math.nan, math.nan)),
        )


@one_thread()
def choose_method(
    data: HeteroData,
    progress: Progress | None = None,
    *,
    seconds: float = MAX_SECONDS,
    random_state: int = 0,
    likely: bool = False,
) -> MethodChoice:
    """Choose the best of a few methods on links, neighbours and labels.

    `seconds`: maximum time for trying methods, by times of earlier fits, so that the choice does
    not depend on the machine; 0 tries none. `random_state`: seed of the splits. `likely`: only try
    methods that were nearly the best on similar data (`MAX_BEHIND`), and one setting.

    The first methods of `hetviz.suggest`, as many as there is time for, and for linked data also
    `joint-map` with more weight on links (`SETTINGS`), are fitted on a split of the links and
    comparisons and judged by `hetviz.runs.compare.measures.overall`. Methods that prepare much
    longer than they fit are left out. If another method is ahead of the first one and something can
    be hidden, both are fitted on two more splits. The first one is chosen unless the other one is
    ahead by more than .01 and more than two standard errors of their difference. Maps that are hard
    to read come last: one dataset is more than three times as spread out as another, or the items
    are too dense. Without time for two methods it is the first method of `suggest`. With more than
    20,000 rows, or without time for two methods on all rows, landmarks are used, see
    `hetviz.features.spaces.landmarks`. The order is stored for `suggest`.
    """
    report = ignore_progress if progress is None else progress
    ordered = _ordered_methods(data)
    if likely:
        limit = min((standing.behind for standing in ordered), default=0.0) + MAX_BEHIND
        ordered = [*ordered[:1], *(other for other in ordered[1:] if other.behind <= limit)]
    if not ordered:
        reasons = [reason for verdict in suggest(data) for reason in verdict.reasons]
        raise NotApplicableError("A first map", dict.fromkeys(reasons))
    # With very many items, methods are tried on landmarks and the best is fitted on all.
    part = data if data.n_rows <= MIN_ROWS else select_rows(data, landmarks(data))
    settings = dict(list(SETTINGS.items())[-1:]) if likely else SETTINGS
    candidates = _affordable_candidates(data, part.n_rows, ordered, seconds, settings)
    if len(candidates) < 2 and part is data and data.n_rows > N_LANDMARKS:
        # Landmarks also allow trying two methods when there is no time for it on all items.
        landmark_data = select_rows(data, landmarks(data))
        landmark_candidates = _affordable_candidates(
            data, landmark_data.n_rows, ordered, seconds, settings
        )
        part, candidates = (
            (landmark_data, landmark_candidates)
            if len(landmark_candidates) > 1
            else (part, candidates)
        )
    if len(candidates) > 1:
        message = "Comparing methods on hidden links" if data.links else "Comparing methods"
        if part is not data:
            message += f" of {part.n_rows:,} items"
        quiet = _fixed_message_progress(report, message)
        comparison, chosen = _tried(part, candidates, random_state, quiet)
        if chosen is not None:
            order = [
                chosen.method,
                *(comparison.candidate(str(key)).method for key in comparison.table.index),
            ]
            store_choice(data, list(dict.fromkeys(order)))
            return MethodChoice(
                chosen.method,
                get_method(chosen.method).card.title,
                chosen.params,
                _reason_of_choice(comparison, chosen, 0 if part is data else part.n_rows),
                expected_seconds(chosen.method, data.n_rows),
                comparison,
            )
    first = ordered[0]
    title = get_method(first.method).card.title
    sentence = f"{title} is the first method that suits these data. No methods were compared."
    if first.n_sets:
        sets = "one similar dataset" if first.n_sets == 1 else f"{first.n_sets} similar datasets"
        behind = f"It suits these data and was {100 * first.behind:.0f} % below the best on {sets}."
        reason = f"Chosen because it was best on {sets}." if first.behind < 0.005 else behind
        rest = "There was no time to compare methods on these data."
        if likely and len(ordered) == 1:
            rest = "No other method came near it there, so that none was compared on these data."
        sentence = f"{reason} {rest}"
    expected = expected_seconds(first.method, data.n_rows)
    return MethodChoice(first.method, title, first.params, sentence, expected)


def first_map(
    data: HeteroData,
    progress: Progress | None = None,
    *,
    seconds: float = MAX_SECONDS,
    random_state: int = 0,
) -> MapResult:
    """Return the map of a dataset with an automatically chosen method.

    `progress`: gets a quick sketch, see `hetviz.features.spaces.joint_axes.quick_sketch`, then
    partial layouts of the first method of `hetviz.suggest`, which is fitted before others are
    tried. With more than 20,000 rows a few thousand landmarks come first, then all rows.
    `seconds`, `random_state`: see `choose_method`.
    """
    report = ignore_progress if progress is None else progress
    if not all(dataset.is_featureless for dataset in data.datasets.values()):
        report(0.0, "A quick first sketch", layout=lambda: quick_sketch(data, random_state))
    if data.n_rows > MIN_ROWS:
        return _first_map_of_many_rows(data, report, seconds, random_state)
    first = choose_method(data, seconds=0.0)
    result = _fit_choice(data, first, random_state, ProgressPart(report, 0.0, 0.4))
    try:
        choice = choose_method(
            data, ProgressPart(report, 0.4, 0.8), seconds=seconds, random_state=random_state
        )
    except Cancelled as cancelled:
        cancelled.partial = result
        raise
    if (choice.method, choice.params) == (first.method, first.params):
        result = replace(result, figures={**(result.figures or {}), **choice.figures})
    else:
        try:
            result = _fit_choice(data, choice, random_state, ProgressPart(report, 0.8, 1.0))
        except Cancelled as cancelled:
            # Keep the earlier map.
            if not isinstance(cancelled.partial, MapResult):
                cancelled.partial = result
            raise
    return _report_done(result, report)


def _first_map_of_many_rows(
    data: HeteroData, report: Progress, seconds: float, random_state: int
) -> MapResult:
    """Fit landmarks, choose a method on them, and fit all rows with it."""
    rows = landmarks(data)
    first = choose_method(data, seconds=0.0)
    landmark_map = _fit_choice(data, first, random_state, ProgressPart(report, 0.0, 0.05), rows)
    all_placed = _place_all_by_landmarks(
        data, rows, landmark_map, random_state, lambda: report(0.05, "Placing all items")
    )
    try:
        report(0.05, "A first sketch of all items", layout=all_placed.embedding.stacked)
        choice = choose_method(
            data, ProgressPart(report, 0.05, 0.2), seconds=seconds, random_state=random_state
        )
        if (choice.method, choice.params) != (first.method, first.params):
            quiet = _fixed_message_progress(
                ProgressPart(report, 0.2, 0.25), "Fitting landmarks with the chosen method"
            )
            landmark_map = _fit_choice(data, choice, random_state, quiet, rows)
        # The method would compute the same start, which is on the screen already.
        start = replace(landmark_map.embedding, note="landmarks")
        result = _fit_choice(
            data, choice, random_state, ProgressPart(report, 0.25, 1.0), start=start
        )
    except Cancelled as cancelled:
        if not isinstance(cancelled.partial, MapResult):
            cancelled.partial = all_placed
        raise
    return _report_done(result, report)


def _report_done(result: MapResult, report: Progress) -> MapResult:
    try:
        report(1.0, "Done")
    except Cancelled as cancelled:
        cancelled.partial = result
        raise
    return result


def _place_all_by_landmarks(
    data: HeteroData,
    rows: Ints,
    landmark_map: MapResult,
    random_state: int,
    beat: Callable[[], None],
) -> MapResult:
    features = leading_features(data, random_state=random_state)
    Y = place_by_landmarks(
        data, rows, landmark_map.embedding.stacked()[rows], features, random_state, beat
    )
    places = {name: Y[span] for name, span in data.offsets.items()}
    return replace(
        landmark_map,
        only=None,
        embedding=landmark_map.embedding.moved(places),
        unrepeatable=STOPPED,
    )


def embed(
    data: HeteroData,
    method: str | None = None,
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    **params: object,
) -> Embedding:
    """Place all items of the data.

    Parameters
    ----------
    data : HeteroData
    method : str, optional
        Key of the method; see `hetviz.methods`. When absent, the best of a few on hidden links,
        neighbours and labels of these data, see `hetviz.runs.first_map.choose_method`; the
        ``note`` of the embedding names it.
    random_state : int, optional
        Seed of methods that use random numbers. None or a generator draw one.
    progress : callable or True, optional
        See `hetviz.progress.Progress`. True shows a bar.
    start : Embedding, optional
        An earlier map to start from, for methods that can.
    n_jobs : int, optional
        Number of threads of layouts; -1 for all cores. By default the cores of the process, at
        most ``OMP_NUM_THREADS`` and 8. The map is the same for any number.
    **params
        Parameters of the method.

    Returns
    -------
    Embedding

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown method or parameter, or a value out of range.
    hetviz.errors.NotApplicableError
        If the method does not suit the data, with the reasons.
    hetviz.errors.DataError
        If `data` is not a `HeteroData`; the message names the right call.

    Examples
    --------
    >>> import hetviz
    >>> hetviz.embed(hetviz.load("digit-views"), "pca")
    Embedding(2-D: pixels 700, fourier 700, shape 700)
    """
    value: object = data
    if not isinstance(value, HeteroData):
        kind = type(value).__name__
        message = "data of the type HeteroData are needed"
        call = "Call hetviz.embed(HeteroData.from_frames({'name': table, ...}, links=pairs))."
        raise DataError.of("not-data", "embed", message, kind, call)
    report, seed = as_progress(progress), seed_of(random_state)
    with limit_threads(n_jobs):
        if method is None:
            if params:
                names = ", ".join(params)
                raise ParameterError(
                    f"embed: {names} needs a method. Name one: embed(data, 'umap')."
                )
            part = ProgressPart(report, 0.0, 0.6)
            choice = choose_method(data, part, random_state=seed, likely=True)
            method, params = choice.method, dict(choice.params)
            report = ProgressPart(report, 0.6, 1.0)
        try:
            fitted = fit_run(data, method, params, seed, report, start=start)
        except Cancelled as cancelled:
            if isinstance(cancelled.partial, MapResult):
                cancelled.partial = cancelled.partial.embedding
            raise
    for sentence in _unused_links(data, method):
        warnings.warn(sentence, DataWarning, stacklevel=2)
    return fitted.result.embedding.with_made(EmbeddingOrigin(data, fitted.result))


def _unused_links(data: HeteroData, method: str) -> list[str]:
    """Return which links a method leaves out that uses other links."""
    card = get_method(method).card
    if Capability.LINKS not in card.capabilities:
        return []
    n_negative = sum(int((links.weight < 0).sum()) for links in data.links)
    n_within = sum(len(links) for links in data.links if links.within)
    return [
        f"{card.title}: {count(n, 'link')} left out, as this method uses no {kind}."
        for capability, kind, n in (
            (Capability.CANNOT_LINKS, "negative links", n_negative),
            (Capability.WITHIN_LINKS, "links within a dataset", n_within),
        )
        if n and capability not in card.capabilities
    ]


def dataset_spreads(embedding: Embedding) -> dict[str, float]:
    """Return the root mean square distance to their mean of placed rows, by dataset."""
    spreads = {}
    for name, Y in embedding.coordinates.items():
        placed = Y[embedding.placed[name]]
        if len(placed) > 1:
            spreads[name] = float(np.sqrt(((placed - placed.mean(axis=0)) ** 2).sum(axis=1).mean()))
    return spreads


def _ordered_methods(data: HeteroData) -> list[Standing]:
    """Return the suitable methods in the order of `suggest`, with their best parameters."""
    best: dict[str, Standing] = {}
    for standing in standings(data):
        best.setdefault(standing.method, standing)
    keys = [verdict.card.key for verdict in suggest(data) if verdict.suits]
    quick = [key for key in keys if not _starts_slowly(key, data)]
    return [best.get(key, Standing(key, 1.0, 0)) for key in quick or keys]


def _starts_slowly(method: str, data: HeteroData) -> bool:
    """Return whether a new process prepares much longer for a method than it then fits it."""
    seconds = expected_seconds(method, data.n_rows)
    start = get_method(method).start_seconds(data)
    return seconds is not None and start > MAX_TIME_RATIO * seconds


def _affordable_candidates(
    data: HeteroData,
    n_rows: int,
    ordered: list[Standing],
    seconds: float,
    positions: Mapping[str, float] = SETTINGS,
) -> list[Candidate]:
    """Return the candidates that fit into the time, without very slow ones on all rows."""
    methods: list[Candidate] = []
    costs: dict[str, float] = {}
    max_seconds = None
    for standing in ordered[:MAX_METHODS]:
        fit = expected_seconds(standing.method, n_rows)
        seconds_on_all = expected_seconds(standing.method, data.n_rows)
        if fit is None or seconds_on_all is None:
            continue
        max_seconds = MAX_TIME_RATIO * seconds_on_all if max_seconds is None else max_seconds
        if n_rows < data.n_rows and seconds_on_all > max_seconds:
            continue
        methods.append(candidate(standing.method, standing.params))
        costs[standing.method] = fit + measuring_seconds(n_rows)
    candidates: list[Candidate] = []
    for tried in _with_settings(data, methods, positions):
        first_split = sum(costs[other.method] for other in (*candidates, tried))
        finalists = sorted(costs[other.method] for other in (*candidates, tried))[-MAX_FINALISTS:]
        if first_split + (N_SPLITS - 1) * sum(finalists) > seconds:
            break
        candidates.append(tried)
    return candidates


def _with_settings(
    data: HeteroData, methods: list[Candidate], positions: Mapping[str, float]
) -> list[Candidate]:
    """Return the methods with further settings of the joint map in between, the best first."""
    settings = []
    if data.links and any(tried.method == JOINT_MAP and not tried.params for tried in methods):
        settings = [
            candidate(
                JOINT_MAP, {"links_over_features": position}, f"{JOINT_MAP}-{position:g}", title
            )
            for title, position in reversed([*positions.items()])
        ]
    return [*methods[:2], *settings[:1], *methods[2:3], *settings[1:], *methods[3:]]


def _tried(
    data: HeteroData, candidates: list[Candidate], random_state: int, progress: Progress
) -> tuple[Comparison, Candidate | None]:
    """Return the candidates compared on one split, the finalists on all, and the chosen one."""

    def judged(part: list[Candidate], seeds: int, seed: int, progress: Progress) -> Comparison:
        return judge(
            data,
            part,
            seeds=seeds,
            hold_out=0.2,
            new_items=0.0,
            progress=progress,
            random_state=seed,
            brief=True,
        )

    n_fits = len(candidates) + (N_SPLITS - 1) * MAX_FINALISTS
    share = len(candidates) / n_fits
    comparison = judged(candidates, 1, random_state, ProgressPart(progress, 0.0, share))
    finalists = _finalists(comparison)
    hides = bool(data.links) or data.comparisons is not None
    if len(finalists) > 1 and hides and _may_be_ahead(comparison, finalists):
        further = ProgressPart(progress, share, 1.0)
        comparison = comparison.with_splits(
            judged(finalists, N_SPLITS - 1, random_state + 1, further)
        )
    return comparison, _best_candidate(comparison)


def _may_be_ahead(comparison: Comparison, finalists: list[Candidate]) -> bool:
    """Return whether further splits may replace the first candidate, after one split."""
    measure = comparison.decides
    first, best = finalists[:2]
    return measure is not None and comparison.lead(best.key, first.key, measure)[0] > 0


def _readable(comparison: Comparison) -> Comparison:
    """Return the comparison of the readable maps, or of all if none is."""
    keys = [key for key, embedding in comparison.embeddings.items() if _is_readable(embedding)]
    return comparison.only(keys) if keys else comparison


def _finalists(comparison: Comparison) -> list[Candidate]:
    """Return the first readable candidate, and the best ones of the others."""
    readable = _readable(comparison)
    keys = readable.sound(readable.decides)
    if readable.decides is None or not keys:
        return []
    measure = readable.decides
    others = sorted(keys[1:], key=lambda key: -readable.mean(key, measure))
    return [readable.candidate(key) for key in (keys[0], *others[: MAX_FINALISTS - 1])]


def _best_candidate(comparison: Comparison) -> Candidate | None:
    """Return the first readable candidate, or the best one if it is clearly ahead."""
    readable = _readable(comparison)
    measure = readable.decides
    keys = readable.sound(measure)
    if measure is None or not keys:
        return None
    first, best = keys[0], max(keys, key=lambda key: readable.mean(key, measure))
    return readable.candidate(best if _is_ahead(readable, best, first, measure) else first)


def _is_ahead(comparison: Comparison, best: str, first: str, measure: str) -> bool:
    """Return whether a candidate is ahead by the margin that replaces the first one."""
    lead, error = comparison.lead(best, first, measure)
    return lead > max(MIN_LEAD, 0.0 if math.isnan(error) else MIN_LEAD_ERRORS * error)


def _first_split(comparison: Comparison) -> Comparison:
    first = comparison.seeds[:1]
    fits = tuple(fit for fit in comparison.fits if fit.seed in first)
    return replace(comparison, fits=fits, seeds=first)


def _is_readable(embedding: Embedding) -> bool:
    sizes = list(dataset_spreads(embedding).values())
    if not sizes:
        return True
    return max(sizes) <= MAX_SPREAD_RATIO * min(sizes) and crowding(embedding) >= MIN_CROWDING_SHARE


def crowding(embedding: Embedding) -> float:
    """Return the median distance of placed items from the middle, as a share of the farthest.

    The middle is the median on each axis. 1 if all items are on one spot, or none is placed.
    """
    placed = [Y[embedding.placed[name]] for name, Y in embedding.coordinates.items()]
    Y = np.vstack(placed) if placed else np.empty((0, 2))
    if not len(Y):
        return 1.0
    reach = np.linalg.norm(Y - np.median(Y, axis=0), axis=1)
    farthest = float(reach.max())
    return float(np.median(reach)) / farthest if farthest > 0 else 1.0


def _reason_of_choice(comparison: Comparison, chosen: Candidate, n_rows: int = 0) -> str:
    """Return the reason for the choice; `n_rows` is the number of rows, 0 for all."""
    measure = comparison.decides
    if measure is None:
        return f"{chosen.title} is the first method that suits these data."
    own_score = comparison.mean(chosen.key, measure)
    others = [key for key in comparison.sound(measure) if key != chosen.key]
    tried = _first_split(comparison).sound(measure)
    splits = count(len(comparison.seeds), "split") + (f" of {n_rows:,} items" if n_rows else "")
    score = f"It scored {per_hundred(own_score)} % over {splits}."
    if not others:
        return f"Chosen because no other method could be scored. {score}"
    second = max(others, key=lambda key: comparison.mean(key, measure))
    second_score = comparison.mean(second, measure)
    lead, _ = comparison.lead(second, chosen.key, measure)
    at_first = [comparison.values(key, measure)[0] for key in tried]
    if lead <= 0:
        is_best = comparison.values(chosen.key, measure)[0] >= max(at_first, default=np.inf)
        which = f"{_COUNT_WORDS[len(tried)]} maps" if is_best else "the maps tried on all splits"
        looks_equal = per_hundred(own_score) == per_hundred(second_score)
        lead_text = ", by less than one point" if looks_equal else ""
        reason = f"Chosen because it scored best of {which}{lead_text}."
    elif not _is_ahead(comparison, second, chosen.key, measure):
        reason = (
            "Chosen because it is the first method that suits these data, and no other map scored "
            "clearly better."
        )
    else:
        reason = "Chosen as one of the best maps that are easy to read."
    rank = "Highest" if lead > 0 else "Next"
    text = f"{reason} {score} {rank}: {comparison.candidate(second).title}"
    text += f" ({per_hundred(second_score)} %)."
    others = [key for key in tried if key != chosen.key]
    further_titles = [comparison.candidate(key).title for key in others if key != second]
    where = ", on one split" if len(comparison.seeds) > 1 else ""
    text += f" Also tried{where}: {join_words(further_titles)}." if further_titles else ""
    texts = comparison.texts(measure)
    return (
        f"{text} {texts.meaning}"
        if measure == "overall"
        else f"{text} Scores are for {texts.does}."
    )


def _fit_choice(
    data: HeteroData,
    choice: MethodChoice,
    seed: int,
    progress: Progress,
    only: Ints | None = None,
    start: Embedding | None = None,
) -> MapResult:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = fit_run(data, choice.method, choice.params, seed, progress, only=only, start=start)
    figures = {**choice.figures, **notes_of(caught)}
    return replace(fitted.result, figures=figures)


def _fixed_message_progress(progress: Progress, words: str) -> Progress:
    """Return a progress that reports the share and fixed words, without partial layouts."""

    def report(fraction: float, message: str = "", **figures: object) -> None:
        progress(fraction, words)

    return report
