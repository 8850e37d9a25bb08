"""The map of data for which no method was named: which method, and why."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from hetviz._text import join_words, per_hundred
from hetviz._types import Ints, JsonObject
from hetviz.algorithms.ranking import (
    Standing,
    expected_seconds,
    keep_choice,
    measuring_seconds,
    standings,
)
from hetviz.algorithms.registry import get_method, suggest
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.rows import select_rows
from hetviz.errors import (
    Cancelled,
    DataError,
    NotApplicableError,
    ParameterError,
    Problem,
)
from hetviz.features.spaces.joint_axes import leading_features, quick_sketch
from hetviz.features.spaces.landmarks import MIN_ROWS, N_LANDMARKS, landmarks, place_by_landmarks
from hetviz.progress import Progress, ProgressPart, ignore_progress
from hetviz.runs.compare.compare import candidate, judge
from hetviz.runs.compare.comparison import Candidate, Comparison
from hetviz.runs.embed.run import Made, fit_run, notes_of

SECONDS = 12.0
"""What trying methods on some data may take, by the times of `expected_seconds`."""
SPLITS = 2
MOST = 5
"""Methods that are tried, at most."""
LONGEST = 3.0
"""Times that the first method would take on all of very many rows, above which none is tried."""
TRADED = 0.03
"""How much truer the neighbours of another map must be for that map to be offered."""
LEGIBLE = 3.0
"""A dataset drawn this many times smaller than another is a blot, however good its links look."""
CROWDED = 0.125
"""Half of the items within this share of the map's reach are a blot beside a few distant groups."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Which of the maps tried has the truest neighbours, and what the chosen one has beside it.

    Attributes
    ----------
    method, title : str
    params : dict
        ``embed(data, method, **params)`` makes it.
    score, chosen : float
        Trustworthiness of that map and of the chosen one, the mean over the same splits.
    kept, chosen_kept : float
        Share of the hidden links that either keeps; NaN where none was hidden.
    """

    method: str
    title: str
    params: Mapping[str, Any]
    score: float
    chosen: float
    kept: float
    chosen_kept: float

    @property
    def offered(self) -> bool:
        """Whether that map is so much truer that it is worth a look beside the chosen one."""
        return self.score - self.chosen > TRADED

    def to_dict(self) -> JsonObject:
        """Return the fields and `offered`, JSON-ready: what is not known is None."""
        fields = {field.name: getattr(self, field.name) for field in dataclass_fields(self)}
        known = {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in fields.items()
        }
        return {**known, "params": dict(self.params), "offered": self.offered}


@dataclass(frozen=True, eq=False)
class Choice:
    """Which method to take for some data, and why.

    Attributes
    ----------
    method, title : str
    params : dict
        ``embed(data, method, **params)`` makes the map.
    sentence : str
        Why this one, with the margin to the next, in plain words.
    seconds : float or None
        What a fit is expected to take.
    comparison : Comparison or None
        What was tried on the data; None where there was no time to.
    """

    method: str
    title: str
    params: Mapping[str, Any]
    sentence: str
    seconds: float | None = None
    comparison: Comparison | None = None

    @property
    def best_neighbours(self) -> Neighbours | None:
        """The map, of those tried that are legible, whose neighbours are truest."""
        found = self.comparison
        if found is None:
            return None
        drawn = found.embeddings
        sound = found.sound("trustworthiness")
        keys = [key for key in sound if key not in drawn or _is_legible(drawn[key])]
        if not keys:
            return None
        best = max(keys, key=lambda key: found.mean(key, "trustworthiness"))
        mine = [one.key for one in found.candidates if one.method == self.method]
        kept = [found.mean(key, "links_kept_held_out") for key in (best, *mine[:1])]
        return Neighbours(
            found.candidate(best).method,
            found.candidate(best).title,
            found.candidate(best).params,
            found.mean(best, "trustworthiness"),
            found.mean(mine[0], "trustworthiness") if mine else math.nan,
            *(kept if len(kept) == 2 else (math.nan, math.nan)),
        )


@dataclass(frozen=True, eq=False)
class FirstMap:
    """The chosen map.

    Attributes
    ----------
    choice : Choice
    embedding : Embedding
    notes : tuple of str
        What the method warned of.
    unsettled : tuple of str
        Those of the notes that say that it had not come to its end.
    """

    choice: Choice
    embedding: Embedding
    notes: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """Key of the method."""
        return self.choice.method

    @property
    def title(self) -> str:
        """What people call it."""
        return self.choice.title

    @property
    def params(self) -> Mapping[str, Any]:
        """``embed(data, method, **params)`` gives the same map."""
        return self.choice.params


@one_thread()
def choose(
    data: HeteroData,
    progress: Progress | None = None,
    *,
    seconds: float = SECONDS,
    random_state: int = 0,
) -> Choice:
    """Return which method to take: the best of a few on links, neighbours and labels.

    Parameters
    ----------
    data : HeteroData
    progress : callable, optional
    seconds : float
        What trying may take, by what fits took elsewhere, so that the choice does not depend on
        the machine; 0 tries nothing.
    random_state : int
        Of the splits.

    Returns
    -------
    Choice
        Of the methods that `hetviz.suggest` puts first, as many as there is time for are fitted on
        two splits of the links and comparisons and judged by
        `hetviz.runs.compare.measures.overall`; those less than one standard error behind the best
        tie, and the simplest of them is taken. A map on which one dataset is more than three times
        as spread out as another comes last. Without the time for two methods it is the first one
        that `suggest` names. Of more than 20,000 rows, or where there is time for no two methods on
        all rows, it is landmarks that they are tried on, see
        `hetviz.features.spaces.landmarks`. The order is kept, for `suggest`.

    Raises
    ------
    hetviz.errors.NotApplicableError
        If no method suits the data; the reasons are given.
    hetviz.errors.Cancelled
        When `progress` raises it.
    """
    report = ignore_progress if progress is None else progress
    ordered = _in_order(data)
    if not ordered:
        reasons = [reason for verdict in suggest(data) for reason in verdict.reasons]
        raise NotApplicableError("A first map", dict.fromkeys(reasons))
    # Of very many items, methods are tried on landmarks: what is best there can be afforded then.
    part = data if data.n_rows <= MIN_ROWS else select_rows(data, landmarks(data))
    tried = _affordable(data, part.n_rows, ordered, seconds)
    if len(tried) < 2 and part is data and data.n_rows > N_LANDMARKS:
        # So they are where there is time for no two of them on all items, but on these.
        few = select_rows(data, landmarks(data))
        on_few = _affordable(data, few.n_rows, ordered, seconds)
        part, tried = (few, on_few) if len(on_few) > 1 else (part, tried)
    if len(tried) > 1:
        words = "Trying methods on held-out links" if data.links else "Trying"
        if part is not data:
            words += f" of {part.n_rows:,} items"
        quiet = _words_alone(report, words)
        found = judge(
            part,
            tried,
            seeds=SPLITS,
            hold_out=0.2,
            new_items=0.0,
            progress=quiet,
            random_state=random_state,
        )
        chosen = _best(found)
        if chosen is not None:
            order = [
                chosen.method,
                *(found.candidate(str(key)).method for key in found.table.index),
            ]
            keep_choice(data, list(dict.fromkeys(order)))
            return Choice(
                chosen.method,
                get_method(chosen.method).card.title,
                chosen.params,
                _why(found, chosen, 0 if part is data else part.n_rows),
                expected_seconds(chosen.method, data.n_rows),
                found,
            )
    first = ordered[0]
    title = get_method(first.method).card.title
    sentence = f"{title} is the first that suits these data; none was tried on them."
    if first.n_sets:
        sets = "one other data set" if first.n_sets == 1 else f"{first.n_sets} other data sets"
        margin = (
            "was best"
            if first.behind < 0.005
            else f"was {100 * first.behind:.0f} in 100 off the best"
        )
        sentence = (
            f"{title} {margin} on {sets} of this kind; there was no time to try several on these."
        )
    when = expected_seconds(first.method, data.n_rows)
    return Choice(first.method, title, first.params, sentence, when)


def first_map(
    data: HeteroData,
    progress: Progress | None = None,
    *,
    seconds: float = SECONDS,
    random_state: int = 0,
) -> FirstMap:
    """Return the map of data for which no method was named.

    Parameters
    ----------
    data : HeteroData
    progress : callable, optional
        Gets a first glance, see `hetviz.features.spaces.joint_axes.quick_sketch`, then partial layouts of
        the method that `hetviz.suggest` names first, which is drawn before others are tried; of
        more than 20,000 rows, of a few thousand landmarks before, and of all rows after that.
    seconds, random_state
        See `choose`.

    Raises
    ------
    hetviz.errors.NotApplicableError
        If no method suits the data; the reasons are given.
    hetviz.errors.Cancelled
        When `progress` raises it; its ``partial`` is a FirstMap of what there was, if anything was.
    """
    report = ignore_progress if progress is None else progress
    if not all(dataset.is_featureless for dataset in data.datasets.values()):
        report(0.0, "A first glance", layout=lambda: quick_sketch(data, random_state))
    if data.n_rows > MIN_ROWS:
        return _of_many(data, report, seconds, random_state)
    made = _drawn(data, choose(data, seconds=0.0), random_state, ProgressPart(report, 0.0, 0.4))
    try:
        choice = choose(
            data, ProgressPart(report, 0.4, 0.8), seconds=seconds, random_state=random_state
        )
    except Cancelled as stopped:
        stopped.partial = made
        raise
    if (choice.method, choice.params) == (made.method, made.params):
        made = replace(made, choice=choice)
    else:
        try:
            made = _drawn(data, choice, random_state, ProgressPart(report, 0.8, 1.0))
        except Cancelled as stopped:
            # What was drawn first is better than nothing.
            if not isinstance(stopped.partial, FirstMap):
                stopped.partial = made
            raise
    return _told(made, report)


def _of_many(data: HeteroData, report: Progress, seconds: float, random_state: int) -> FirstMap:
    """Draw landmarks, choose by them, and draw all with what was chosen."""
    rows = landmarks(data)
    drawn = _drawn(
        data, choose(data, seconds=0.0), random_state, ProgressPart(report, 0.0, 0.05), rows
    )
    everywhere = _by_landmarks(
        data, rows, drawn, random_state, lambda: report(0.05, "Placing all items")
    )
    try:
        report(0.05, "All items by their landmarks", layout=everywhere.embedding.stacked)
        choice = choose(
            data, ProgressPart(report, 0.05, 0.2), seconds=seconds, random_state=random_state
        )
        if (choice.method, choice.params) != (drawn.method, drawn.params):
            quiet = _words_alone(ProgressPart(report, 0.2, 0.25), "Landmarks by what was chosen")
            drawn = _drawn(data, choice, random_state, quiet, rows)
        # What the method itself would begin with, which is on the screen already.
        start = replace(drawn.embedding, note="landmarks")
        made = _drawn(data, choice, random_state, ProgressPart(report, 0.25, 1.0), start=start)
    except Cancelled as stopped:
        if not isinstance(stopped.partial, FirstMap):
            stopped.partial = everywhere
        raise
    return _told(made, report)


def _told(made: FirstMap, report: Progress) -> FirstMap:
    try:
        report(1.0, "Done")
    except Cancelled as stopped:
        stopped.partial = made
        raise
    return made


def _by_landmarks(
    data: HeteroData,
    rows: Ints,
    drawn: FirstMap,
    random_state: int,
    beat: Callable[[], None],
) -> FirstMap:
    features = leading_features(data, random_state=random_state)
    Y = place_by_landmarks(
        data, rows, drawn.embedding.stacked()[rows], features, random_state, beat
    )
    places = {name: Y[span] for name, span in data.offsets.items()}
    return replace(drawn, embedding=drawn.embedding.moved(places))


def embed(
    data: HeteroData,
    key: str | None = None,
    *,
    random_state: int = 0,
    progress: Progress | None = None,
    start: Embedding | None = None,
    **params: object,
) -> Embedding:
    """Place all items of the data.

    Parameters
    ----------
    data : HeteroData
    key : str, optional
        Of the method; see `hetviz.methods`. When absent, the best of a few on hidden links,
        neighbours and labels of these data, see `hetviz.runs.embed.first_map.choose`; the
        ``note`` of the embedding names it.
    random_state : int
        Seed; used by the methods that draw random numbers.
    progress : callable, optional
        See `hetviz.progress.Progress`.
    start : Embedding, optional
        An earlier map to go on from, for methods that can.
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
        If the method does not suit the data; it says why.
    hetviz.errors.DataError
        If it is given something else than `HeteroData`; the message names the call to make.

    Examples
    --------
    >>> import hetviz
    >>> hetviz.embed(hetviz.load("digit-views"), "pca")
    Embedding(2-D: pixels 700, fourier 700, shape 700)
    """
    given: object = data
    if not isinstance(given, HeteroData):
        kind = type(given).__name__
        what = "data of the type HeteroData are needed"
        call = "Call hetviz.embed(HeteroData.from_frames({'name': table, ...}, links=pairs))."
        raise DataError(Problem("not-data", "embed", what, kind, call))
    report = ignore_progress if progress is None else progress
    if key is None:
        if params:
            said = ", ".join(params)
            raise ParameterError(f"embed: {said} belong to a method; name it: embed(data, 'umap').")
        choice = choose(data, ProgressPart(report, 0.0, 0.6), random_state=random_state)
        key, params = choice.method, dict(choice.params)
        report = ProgressPart(report, 0.6, 1.0)
    fitted = fit_run(data, key, params, random_state, report, start=start)
    return fitted.embedding.with_made(Made(data, fitted.run))


def spreads(embedding: Embedding) -> dict[str, float]:
    """Return the root mean square distance from their mean of each dataset's placed rows."""
    found = {}
    for name, Y in embedding.coordinates.items():
        there = Y[embedding.placed[name]]
        if len(there) > 1:
            found[name] = float(np.sqrt(((there - there.mean(axis=0)) ** 2).sum(axis=1).mean()))
    return found


def _in_order(data: HeteroData) -> list[Standing]:
    """Return the methods that suit, in the order of `suggest`, each as it was measured best."""
    best: dict[str, Standing] = {}
    for standing in standings(data):
        best.setdefault(standing.method, standing)
    keys = [verdict.card.key for verdict in suggest(data) if verdict.suits]
    return [best.get(key, Standing(key, 1.0, 0)) for key in keys]


def _affordable(
    data: HeteroData, n_rows: int, ordered: list[Standing], seconds: float
) -> list[Candidate]:
    """Return what there is time to try on some rows, only what was measured before.

    What would take far longer than the first on all rows is not tried.
    """
    left = seconds
    found: list[Candidate] = []
    longest = None
    for standing in ordered[:MOST]:
        fit = expected_seconds(standing.method, n_rows)
        whole = expected_seconds(standing.method, data.n_rows)
        if fit is None or whole is None:
            continue
        longest = LONGEST * whole if longest is None else longest
        if n_rows < data.n_rows and whole > longest:
            continue
        left -= SPLITS * (fit + measuring_seconds(n_rows))
        if left < 0:
            break
        found.append(candidate(standing.method, standing.params))
    return found


def _best(found: Comparison) -> Candidate | None:
    """Return what was found best: legible, and the simplest of those that tie."""
    legible = [key for key, embedding in found.embeddings.items() if _is_legible(embedding)]
    among = found.only(legible) if legible else found
    advice = among.recommendation
    return None if advice.method is None else found.candidate(advice.method)


def _is_legible(embedding: Embedding) -> bool:
    sizes = list(spreads(embedding).values())
    if not sizes:
        return True
    return max(sizes) <= LEGIBLE * min(sizes) and crowding(embedding) >= CROWDED


def crowding(embedding: Embedding) -> float:
    """Return how far half of the placed items lie from the middle, as a share of the farthest.

    The middle is the median on each axis. 1 where all items lie on one spot, or none is placed.
    """
    placed = [Y[embedding.placed[name]] for name, Y in embedding.coordinates.items()]
    Y = np.vstack(placed) if placed else np.empty((0, 2))
    if not len(Y):
        return 1.0
    reach = np.linalg.norm(Y - np.median(Y, axis=0), axis=1)
    farthest = float(reach.max())
    return float(np.median(reach)) / farthest if farthest > 0 else 1.0


def _why(found: Comparison, chosen: Candidate, n_rows: int = 0) -> str:
    """Say in what the chosen method was better than the next one, on so many rows if not all."""
    measure = found.decides
    if measure is None:
        return f"{chosen.title} is the first that suits these data."
    mine = found.mean(chosen.key, measure)
    others = [key for key in found.sound(measure) if key != chosen.key]
    words = f"{chosen.title}: {per_hundred(mine)} in 100 over {len(found.seeds)} splits"
    words += f" of {n_rows:,} items" if n_rows else ""
    if not others:
        return f"{words}."
    second = max(others, key=lambda key: found.mean(key, measure))
    after = found.mean(second, measure)
    rest = [found.candidate(key).title for key in others if key != second]
    words += f", {found.candidate(second).title} {per_hundred(after)}"
    words += f"; tried too: {join_words(rest)}" if rest else ""
    if mine < after:
        words += ". They tie, and the simpler one was taken"
    return f"{words}. Judged by held-out links, neighbours and labels, of those that apply."


def _drawn(
    data: HeteroData,
    choice: Choice,
    seed: int,
    progress: Progress,
    only: Ints | None = None,
    start: Embedding | None = None,
) -> FirstMap:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            run = fit_run(
                data, choice.method, choice.params, seed, progress, only=only, start=start
            )
        except Cancelled as stopped:
            if stopped.partial is not None:
                stopped.partial = FirstMap(choice, stopped.partial)
            raise
    said = notes_of(told)
    return FirstMap(choice, run.embedding, tuple(said["notes"]), tuple(said["unsettled"]))


def _words_alone(progress: Progress, words: str) -> Progress:
    """Return a progress that tells of the share alone: half a comparison is nobody's map."""

    def report(fraction: float, message: str = "", **figures: object) -> None:
        progress(fraction, words)

    return report
