"""Why an item lies where it lies: what holds it there, and what would move it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._html import html_table
from hetviz._text import listed, rounded, short
from hetviz._types import Bools, Floats, Ints, JsonObject, Matrix, is_sparse
from hetviz.algorithms.base import BaseEmbedder, Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.holding import LINK, NEIGHBOUR, STATEMENT, Held, Pulls, held
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.links import kind_key
from hetviz.data.queries.rows import Touching, part_of, touching
from hetviz.errors import DataError, HetvizError, NotApplicableError, ParameterError, Problem
from hetviz.features.columns import block
from hetviz.features.meaning import feature_names
from hetviz.features.recipe import recipe_of
from hetviz.features.relations.user_links import SPOKEN
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.runs.embed.run import FittedRun, Made, Run, fit_again
from hetviz.runs.embed.scope import Scope, scope_of

MOST_ROWS = 8_000
"""Above, only what is around the item is looked at."""
SURROUNDINGS = 400
"""How many of the nearest by features, and on the map, are then looked at."""
FEATURE, COMPARISON = "feature", "comparison"
LINKED, SHARED, ALIKE, OTHERWISE = "linked", "shared", "alike", "otherwise"
"""What makes two items neighbours on joint axes: a link, links with the same items, features, or
none of these but what those are near to in turn."""
ALIKE_SHARE = 0.05
"""Alike by features is what is among this share of the items of its dataset."""
FAR = 0.25
"""What lies further away than this share of the map's extent pulls elsewhere."""
LEAST_WANTED = 0.01
"""Of less of what an item is near to in the graph, nobody need be told that it lies far away."""
MOST_REFITTED = 3_000
"""Up to so many rows a closed form is made anew without the links of the item."""
_MOST_FEATURES = 200
_MOST_LINKS = 50
_MANY_LINKS = 200
_NAME = 32


@dataclass(frozen=True)
class Reason:
    """One thing that holds an item where it lies, or pulls it elsewhere.

    Attributes
    ----------
    kind : {"neighbour", "link", "statement", "feature", "comparison"}
        "link" is of the data, "statement" what a person said.
    dataset, id, title : str
        The item that it is about; of a feature, the dataset and the name of the feature twice.
    share : float
        Of all that acts on the item, by the measure that `Why.how` names.
    moves : float
        How far the item would go without it, as a share of the map's extent; NaN where unknown.
    distance : float
        How far away that item lies, as a share of the map's extent; NaN for features.
    by : str
        Of a neighbour on joint axes what makes it one, in words; else empty.
    """

    kind: str
    dataset: str
    id: str
    title: str
    share: float
    moves: float = float("nan")
    distance: float = float("nan")
    by: str = ""

    def to_dict(self) -> JsonObject:
        """Return it JSON-ready."""
        return {name: _plain(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Why:
    """Why an item lies where it lies.

    Attributes
    ----------
    dataset, id, title : str
        The item.
    method : str
        What the method is called.
    how : str
        What the shares are of, a sentence.
    parts : mapping of str to float
        Share of each kind of reason; they sum to 1. Empty where not all kinds were counted.
    holds : tuple of Reason
        What holds it, the largest share first.
    features : tuple of Reason
        Features in which it is more like the items of its dataset that hold it than like others,
        by their share of that.
    elsewhere : tuple of Reason
        What pulls it to somewhere else: items far from it that it would have to lie near.
    would_move : tuple of Reason
        Without which of these it would go furthest.
    note : str
        What else has to be said; empty when nothing.
    near : mapping of str to float
        Of methods whose neighbours are those on joint axes: share of what holds it by what makes
        it near, "linked", "shared" (links with the same items), "alike" (by features) and
        "otherwise" (through others); with what was said they sum to 1. Else empty.
    """

    dataset: str
    id: str
    title: str
    method: str
    how: str
    parts: Mapping[str, float]
    holds: tuple[Reason, ...]
    features: tuple[Reason, ...] = ()
    elsewhere: tuple[Reason, ...] = ()
    would_move: tuple[Reason, ...] = ()
    note: str = ""
    near: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> JsonObject:
        """Return it JSON-ready."""
        found: JsonObject = {
            "dataset": self.dataset,
            "id": self.id,
            "title": self.title,
            "method": self.method,
            "how": self.how,
            "parts": dict(self.parts),
        }
        for name in ("holds", "features", "elsewhere", "would_move"):
            found[name] = [one.to_dict() for one in getattr(self, name)]
        return {**found, "note": self.note, "near": dict(self.near)}

    def frame(self) -> pd.DataFrame:
        """Return a row for each reason: part (holds, features, ...), and what `Reason` has."""
        rows = [
            {"part": part, **vars(one)}
            for part in ("holds", "features", "elsewhere", "would_move")
            for one in getattr(self, part)
        ]
        names = ["part", *Reason.__dataclass_fields__]
        return pd.DataFrame(rows, columns=names)

    @property
    def sentence(self) -> str:
        """What holds the item, by kind, in words."""
        words = {
            NEIGHBOUR: "neighbours",
            LINK: "links",
            STATEMENT: "what was said",
            FEATURE: "its features",
            COMPARISON: "comparisons",
            LINKED: "what it is linked with",
            SHARED: "what shares a link with it",
            ALIKE: "what has features like its own",
            OTHERWISE: "what is near it through others",
        }
        parts = self.parts
        if self.near:
            parts = {kind: share for kind, share in parts.items() if kind == STATEMENT}
            parts |= self.near
        told = [
            f"{words[kind]} {rounded(share)}"
            for kind, share in sorted(parts.items(), key=lambda pair: -pair[1])
            if share >= 0.005
        ]
        if not told and self.holds:
            return "Links that it keeps, the nearest first; what else holds it is not counted."
        return f"Held by {listed(told)}." if told else "Nothing that is known holds it here."

    def _repr_html_(self) -> str:
        rows = [(f"{one.title} ({one.kind})", rounded(one.share, 1)) for one in self.holds]
        rows += [(f"{one.title} (feature)", rounded(one.share, 1)) for one in self.features]
        return html_table(f"Why {self.title} is here", rows, foot=f"{self.sentence} {self.how}")


def why(
    data: HeteroData,
    fitted: Embedding | FittedRun | BaseEmbedder,
    dataset: str,
    id: str,
    *,
    run: Run | None = None,
    method: str | None = None,
    most: int = 8,
    fit: bool = True,
    **params: Any,
) -> Why:
    """Say why an item lies where it lies: what holds it there, and what would move it.

    Parameters
    ----------
    data : HeteroData
        What the map was made from.
    fitted : Embedding, FittedRun or fitted method
        The map. A method that is given fitted, with the data that it was fitted on, is not fitted
        again.
    dataset, id : str
        The item.
    run : Run, optional
        How the map was made; known of an embedding that `hetviz.embed` has just made, and of a
        fitted method.
    method : str, optional
        Key of the method, where there is no run; with the parameters that were not the defaults.
    most : int
        Reasons of each sort.
    fit : bool
        False tells what the axes alone say, at once: which links are kept, which lead far, and what
        lies nearest. For methods that would have to be fitted anew, such as `mkpe`.
    **params
        Of the method.

    Returns
    -------
    Why

    Raises
    ------
    hetviz.errors.DataError
        If there is no such item, or the method was fitted on other items.
    hetviz.errors.ParameterError
        If nobody knows how the map was made.
    hetviz.errors.HetvizError
        If the method has not been fitted.
    hetviz.errors.NotApplicableError
        If the method neither draws a graph nor places new items, and uses no comparisons; or if
        the item has no place.

    Notes
    -----
    Neighbour maps: the share of each attraction in the graph that the method draws, at the places
    of the map (`hetviz.core.layout.holding.held`). Other methods: leave-one-out; the item is
    placed as if it were new, without one feature or link at a time, and what moves it more counts
    more. Methods that do neither: the share of each comparison in the gradient of the hinge.
    Costs a fit without its layout, or a fit; above 8,000 rows only a part of the data around the
    item is looked at, and no matrix of all pairs is made.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> found = hetviz.why(data, hetviz.embed(data, "mr-sne"), "emoji", data["emoji"].ids[0])
    >>> found.parts.keys() <= {"neighbour", "link", "statement"}
    True
    """
    if isinstance(fitted, BaseEmbedder):
        fitted = _as_run(data, fitted)
    if isinstance(fitted, FittedRun):
        explainer = Explainer(data, fitted.embedding, fitted.run, fitted)
    else:
        explainer = Explainer(data, fitted, known_run(data, fitted, run, method, params))
    ask = explainer.why if fit else explainer.at_a_glance
    return ask(row_of(data, dataset, id), most)


def _as_run(data: HeteroData, model: BaseEmbedder) -> FittedRun:
    """Return a method that was fitted by hand as a run of these data.

    Raises
    ------
    hetviz.errors.DataError
        If it was fitted on other items.
    hetviz.errors.HetvizError
        If it was not fitted.
    """
    title = model.card.title
    if not hasattr(model, "embedding_"):
        raise HetvizError(f"{title}: call fit before why.")
    known = model.embedding_.ids
    others = [name for name in data.datasets if name not in known]
    others += [name for name in known if name not in data.datasets]
    others += [
        name
        for name, ids in known.items()
        if name not in others and not np.array_equal(ids, data[name].ids)
    ]
    if others:
        raise DataError(
            Problem(
                "other-data",
                "why",
                f"{title} was fitted on other items",
                listed(others),
                "Give the data that it was fitted on.",
            )
        )
    params = model.get_params(deep=False)
    seed = int(params.pop("random_state", 0))
    run = Run(data.fingerprint(), model.card.key, params, seed)
    return FittedRun(run, model, model.embedding_, scope_of(data))


def known_run(
    data: HeteroData,
    embedding: Embedding,
    run: Run | None,
    method: str | None,
    params: Mapping[str, Any],
) -> Run:
    """Return how a map was made, by whoever knows it.

    Raises
    ------
    hetviz.errors.ParameterError
        If nobody does.
    """
    if run is not None:
        return run
    if method is not None:
        return Run(data.fingerprint(), method, dict(params), int(params.get("random_state", 0)))
    if isinstance(embedding.made, Made):
        return embedding.made.run
    raise ParameterError(
        "why: nobody knows how this map was made. Give the run, or method = its key and the "
        "parameters that were not the defaults."
    )


def row_of(data: HeteroData, dataset: str, id: str) -> int:
    """Return the global row of an item.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such item.
    """
    if dataset not in data.datasets:
        known = listed([*data.datasets])
        raise DataError(
            Problem(
                "unknown-dataset", "why", "there is no such dataset", dataset, f"There are {known}."
            )
        )
    found = int(data[dataset].find([id])[0])
    if found < 0:
        raise DataError(Problem("unknown-id", f"dataset {dataset!r}", "there is no such item", id))
    return int(data.offsets[dataset].start) + found


class Explainer:
    """Answers why items of one map lie where they lie; what it needs for all is made once.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
    run : Run
        How the map was made.
    fitted : FittedRun, optional
        The run itself where it is at hand, so that nothing has to be fitted again.
    """

    def __init__(
        self, data: HeteroData, embedding: Embedding, run: Run, fitted: FittedRun | None = None
    ) -> None:
        # What took no part has no place, and holds nobody.
        self._rows = np.arange(data.n_rows) if run.only is None else np.asarray(run.only)
        self.data = data if run.only is None else part_of(data, run.only)
        self.run = replace(run, only=None)
        self._Y = np.vstack(list(coordinates_of(self.data, embedding).values()))
        there = self._Y[np.isfinite(self._Y).all(axis=1)]
        self.extent = (float(np.ptp(there, axis=0).max()) if len(there) else 0.0) or 1.0
        self._pulls: Pulls | None = None
        self._fitted = fitted if run.only is None else None

    @property
    def title(self) -> str:
        """What the method is called."""
        return get_method(self.run.method).card.title

    @one_thread()
    def why(self, row: int, most: int = 8) -> Why:
        """Return why the item of a global row lies where it lies; see `why`."""
        at = int(np.searchsorted(self._rows, row))
        seen = at < len(self._rows) and self._rows[at] == row
        if not seen or not np.isfinite(self._Y[at]).all():
            raise NotApplicableError(self.title, ["This item has no place on the map."])
        data, Y, note = self.data, self._Y, ""
        if data.n_rows > MOST_ROWS and self.draws_graph(self.run.method):
            rows = self._around(at)
            data, Y = part_of(data, rows), Y[rows]
            at = int(np.searchsorted(rows, at))
            note = f"Counted among the {len(rows):,} items around it, not among all."
        pulls = self._graph(data)
        if pulls is not None:
            return self._of_graph(data, Y, at, pulls, most, note)
        if Capability.OUT_OF_SAMPLE in get_method(self.run.method).card.capabilities:
            return self._left_out(at, most)
        return self._compared(at, most)

    def at_a_glance(self, row: int, most: int = 8) -> Why:
        """Return what the axes alone tell of the item of a global row, without any fit; see `why`.

        A link counts by its weight and by the share of all items that lie farther away than what it
        leads to: one that is kept holds, one that leads far pulls elsewhere.
        """
        at = int(np.searchsorted(self._rows, row))
        seen = at < len(self._rows) and self._rows[at] == row
        if not seen or not np.isfinite(self._Y[at]).all():
            raise NotApplicableError(self.title, ["This item has no place on the map."])
        data, item = self.data, _item(self.data, at)
        away = np.linalg.norm(self._Y - self._Y[at], axis=1)
        away[at] = np.nan
        others = np.sort(away[np.isfinite(away)])
        nearest = np.argsort(np.where(np.isfinite(away), away, np.inf), kind="stable")
        nearest = nearest[: min(3, len(others))]
        links = touching(data, [at])
        told: dict[int, Reason] = {}
        for k in range(len(links)):
            outer, weight = int(links.outer[k]), float(links.weight[k])
            if weight <= 0 or not np.isfinite(away[outer]):
                continue
            farther = 1.0 - np.searchsorted(others, away[outer]) / max(len(others), 1)
            kind = data.links[int(links.group[k])].kind
            one = Reason(
                STATEMENT if kind in SPOKEN else LINK,
                *_item(data, outer),
                weight * float(farther),
                distance=float(away[outer]) / self.extent,
            )
            if outer not in told or told[outer].share < one.share:
                told[outer] = one
        whole = sum(one.share for one in told.values())
        found = sorted(
            (replace(one, share=one.share / whole) for one in told.values() if whole > 0),
            key=lambda one: -one.share,
        )
        named = listed([_item(data, int(other))[2] for other in nearest])
        notes = [] if found else ["No link of it leads to anything on the map."]
        notes += [f"Nearest to it on the axes: {named}."] if named else []
        far = sorted((one for one in found if one.distance > FAR), key=lambda one: -one.distance)
        return Why(
            *item,
            self.title,
            "Told by the axes alone, without fitting the method anew: a link counts the more, the "
            "fewer items lie nearer than what it leads to.",
            # not of all that holds it, so no shares of kinds
            {},
            tuple(one for one in found if one.distance <= FAR)[:most],
            elsewhere=tuple(far[:most]),
            note=" ".join(notes),
        )

    @staticmethod
    def draws_graph(method: str) -> bool:
        """Whether a method draws a graph, so that the answer needs no fit."""
        return get_method(method).pulls_known()

    def _method(self, scope: Scope) -> BaseEmbedder:
        kind = get_method(self.run.method)
        settings = scope.params(self.run.params)
        if "random_state" in kind.params:
            settings["random_state"] = self.run.seed
        return kind(**settings)

    def _graph(self, data: HeteroData) -> Pulls | None:
        whole = data is self.data
        if whole and self._pulls is not None:
            return self._pulls
        kinds = set(map(kind_key, data.links))
        weights = {key: factor for key, factor in self.run.weights.items() if key in kinds}
        hold_out = self.run.hold_out if whole else 0.0
        scope = scope_of(data, weights, None, hold_out, self.run.seed)
        pulls = self._method(scope).pulls(scope.seen)
        if whole:
            self._pulls = pulls
        return pulls

    def _around(self, row: int) -> Ints:
        """Return the rows that are near by features or on the map, or linked, in order."""
        name = self._name(row)
        span = self.data.offsets[name]
        squared = ((self._Y - self._Y[row]) ** 2).sum(axis=1)
        squared[~np.isfinite(squared)] = np.inf
        near = np.argpartition(squared, SURROUNDINGS)[:SURROUNDINGS]
        parts = [near[np.isfinite(squared[near])]]
        X = self.data[name].X
        if X is not None:
            parts.append(_nearest(X, row - span.start, SURROUNDINGS) + span.start)
        linked = touching(self.data, [row]).outer[:_MANY_LINKS]
        second = touching(self.data, linked).outer if len(linked) else linked
        parts += [linked, second[:SURROUNDINGS]]
        return np.unique(np.concatenate([[row], *parts]).astype(np.int64))

    def _name(self, row: int) -> str:
        return next(n for n, rows in self.data.offsets.items() if rows.start <= row < rows.stop)

    # Neighbour maps

    def _of_graph(
        self, data: HeteroData, Y: Floats, row: int, pulls: Pulls, most: int, note: str
    ) -> Why:
        found = held(row, Y, pulls)
        item = _item(data, row)
        how = (
            f"Shares of the pull on it at its place, in the graph that {self.title} draws; "
            "everything else pushes it away."
        )
        if found is None:
            lone = "Nothing that lies on this map attracts it."
            return Why(*item, self.title, how, {}, (), note=f"{note} {lone}".strip())
        reasons = [self._reason(data, found, k) for k in range(len(found.to))]
        near: dict[str, float] = {}
        if pulls.joint:
            near, why = _what_makes_near(data, row, found, most)
            reasons = [replace(one, by=why.get(k, "")) for k, one in enumerate(reasons)]
        by = {kind: float(share.sum()) for kind, share in found.by.items() if share.any()}
        # Far ones pull with little force, so what counts is how near they ought to lie.
        away = [
            replace(one, share=wanted)
            for one, wanted in zip(reasons, found.wanted.tolist(), strict=True)
            if one.distance > FAR and wanted > LEAST_WANTED
        ]
        elsewhere = sorted(away, key=lambda one: -one.share)[:most]
        return Why(
            *item,
            self.title,
            how,
            by,
            tuple(reasons[:most]),
            self._alike(data, row, found, most),
            tuple(elsewhere),
            tuple(sorted(reasons, key=lambda one: -one.moves)[:most]),
            note,
            near,
        )

    def _reason(self, data: HeteroData, found: Held, k: int) -> Reason:
        kind = max(found.by, key=lambda name: float(found.by[name][k]))
        return Reason(
            kind,
            *_item(data, int(found.to[k])),
            float(found.share[k]),
            float(found.moves[k]) / self.extent,
            float(found.distance[k]) / self.extent,
        )

    def _alike(self, data: HeteroData, row: int, found: Held, most: int) -> tuple[Reason, ...]:
        """Return in which features the item is more like its holders than like others.

        A squared distance is a sum over features, so what a feature adds to the nearness is its
        mean squared difference to all items, less that to the holders, weighted by their share.
        """
        name = next(n for n, rows in data.offsets.items() if rows.start <= row < rows.stop)
        span, dataset = data.offsets[name], data[name]
        own = (found.to >= span.start) & (found.to < span.stop)
        weight = found.by.get(NEIGHBOUR, np.zeros(len(own)))[own]
        if dataset.X is None or not weight.any():
            return ()
        X, at = dataset.X, row - span.start
        x = _row(X, at)
        all_mean, all_square = _mean(X), _mean(_squared(X))
        to = found.to[own] - span.start
        w = weight / weight.sum()
        near = X[to]
        mean, square = np.asarray(w @ near).ravel(), np.asarray(w @ _squared(near)).ravel()
        others = x**2 - 2 * x * all_mean + all_square
        holders = x**2 - 2 * x * mean + square
        names, gain = _by_column(dataset, others - holders)
        gain = np.maximum(gain, 0.0)
        if not gain.sum() > 0:
            return ()
        order = np.argsort(-gain, kind="stable")[:most]
        return tuple(
            Reason(FEATURE, name, names[k], names[k], float(gain[k] / gain.sum()))
            for k in order
            if gain[k] > 0
        )

    # Methods that place new items: what moves the item when it is left out

    def _left_out(self, row: int, most: int) -> Why:
        fitted = self._fit()
        seen = fitted.scope.seen
        name = next(n for n, rows in seen.offsets.items() if rows.start <= row < rows.stop)
        span, dataset = seen.offsets[name], seen[name]
        links = touching(seen, [row])
        trials: list[Reason] = []
        rows: list[Floats] = []
        x = None if dataset.X is None else _row(dataset.X, row - span.start)
        if x is not None and dataset.X is not None:
            mean = _mean(dataset.X)
            groups = _columns(dataset)
            away = [float(np.linalg.norm((x - mean)[columns])) for _, columns in groups]
            for k in np.argsort(-np.array(away), kind="stable")[:_MOST_FEATURES]:
                label, columns = groups[k]
                changed = x.copy()
                changed[columns] = mean[columns]
                trials.append(Reason(FEATURE, name, label, label, 0.0))
                rows.append(changed)
        told = range(min(len(links), _MOST_LINKS))
        for k in told:
            kind = seen.links[int(links.group[k])].kind
            sort = STATEMENT if kind in SPOKEN else LINK
            trials.append(Reason(sort, *_item(seen, int(links.outer[k])), 0.0))
            if x is not None:
                rows.append(x)
        Y = self._placed_as_new(fitted, row, x, rows, links, len(trials) - len(told))
        moved = np.linalg.norm(Y[1:] - Y[0], axis=1) / self.extent
        # What only the last digits say is nothing.
        moved = np.where(np.isfinite(moved) & (moved > 1e-9), moved, 0.0)
        whole = float(moved.sum())
        how = (
            "Shares of how far it would move, placed anew, without each: a feature at its mean, or "
            "a link left out."
        )
        item = _item(seen, row)
        found = [
            replace(one, share=float(far) / whole, moves=float(far))
            for one, far in zip(trials, moved, strict=True)
            if whole > 0 and far > 0
        ]
        found.sort(key=lambda one: -one.share)
        parts: dict[str, float] = {}
        for one in found:
            parts[one.kind] = parts.get(one.kind, 0.0) + one.share
        notes = []
        gap = float(np.linalg.norm(Y[0] - self._Y[row])) / self.extent
        if not found:
            notes.append("Nothing that can be left out one by one moves it.")
        elif gap > 0.1:
            notes.append(
                f"Placed by these alone it would lie {rounded(gap)} of the map's width from its "
                "place: the other items hold it there."
            )
        together = self._without_links(fitted, row, len(links)) if len(links) else None
        would_move = [*found, *([together] if together else [])]
        would_move.sort(key=lambda one: -one.moves)
        return Why(
            *item,
            self.title,
            how,
            parts,
            tuple(one for one in found if one.kind != FEATURE)[:most],
            tuple(one for one in found if one.kind == FEATURE)[:most],
            would_move=tuple(would_move[:most]),
            note=" ".join(notes),
        )

    def _fit(self) -> FittedRun:
        if self._fitted is None:
            with warnings.catch_warnings():
                # They were told when the map was made.
                warnings.simplefilter("ignore")
                self._fitted = fit_again(self.data, self.run)
        return self._fitted

    def _placed_as_new(
        self,
        fitted: FittedRun,
        row: int,
        x: Floats | None,
        rows: Sequence[Floats],
        links: Touching,
        n_features: int,
    ) -> Floats:
        """Return the places of the item as a new one: as it is, and as each trial has it."""
        seen = fitted.scope.seen
        name = next(n for n, span in seen.offsets.items() if span.start <= row < span.stop)
        dataset, at = seen[name], row - seen.offsets[name].start
        told = min(len(links), _MOST_LINKS)
        count = 1 + n_features + told
        ids = [f"~{k}~{dataset.ids[at]}" for k in range(count)]
        given: dict[str, Any] = {}
        if x is not None and dataset.X is not None:
            X = np.vstack([x, *rows]) if rows else x[None]
            given["X"] = sp.csr_array(X) if is_sparse(dataset.X) else X
            given["feature_names"] = dataset.feature_names
        for matrix in ("kernel", "distance"):
            M = getattr(dataset, matrix)
            if M is not None:
                given[matrix] = np.repeat(np.asarray(M[[at]]), count, axis=0)
        new = Dataset(name, ids, entity=dataset.entity, **given)
        said = [
            (name, ids[trial], *_item(seen, int(links.outer[k]))[:2], float(links.weight[k]))
            for trial in range(count)
            for k in range(len(links))
            if trial != 1 + n_features + k
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            placed = fitted.model.transform(new, said)
        return np.asarray(placed.coordinates[name])

    def _without_links(self, fitted: FittedRun, row: int, count: int) -> Reason | None:
        """Return how far the item goes when the method does not see its links; closed forms only.

        The other items are laid over where they were first, since axes may turn.
        """
        card = get_method(self.run.method).card
        seen = fitted.scope.seen
        if Capability.ITERATIVE in card.capabilities or seen.n_rows > MOST_REFITTED:
            return None
        kept = []
        for group in seen.links:
            p = group.i + seen.offsets[group.source].start
            q = group.j + seen.offsets[group.target].start
            kept.append(group.take(np.flatnonzero((p != row) & (q != row))))
        fewer = HeteroData(
            list(seen.datasets.values()),
            [group for group in kept if len(group)],
            seen.comparisons,
            seen.labels,
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = self._method(fitted.scope).fit(fewer)
        except NotApplicableError:
            return None
        Y, Z = self._Y, model.embedding_.stacked()
        there: Bools = np.asarray(np.isfinite(Y).all(axis=1) & np.isfinite(Z).all(axis=1))
        if not there[row] or there.sum() < 3:
            return None
        centre, other = Y[there].mean(axis=0), Z[there].mean(axis=0)
        U, _, V = np.linalg.svd((Z[there] - other).T @ (Y[there] - centre))
        moved = float(np.linalg.norm((Z[row] - other) @ (U @ V) + centre - Y[row])) / self.extent
        words = "its link" if count == 1 else f"its {count:,} links together"
        dataset, id, _ = _item(seen, row)
        return Reason(LINK, dataset, id, words, float("nan"), moved)

    # Orders: what comparisons pull

    def _compared(self, row: int, most: int) -> Why:
        data, item = self.data, _item(self.data, row)
        said = data.comparisons
        if said is None:
            raise NotApplicableError(
                self.title,
                ["It draws no graph, places no new items and knows no comparisons: why an item is "
                 "where it is cannot be told."],
            )  # fmt: skip
        objects = data.object_of
        pairs, weight = said.pairs, np.asarray(said.weight, dtype=np.float64)
        mine = np.flatnonzero((objects[pairs] == objects[row]).any(axis=1))
        P = pairs[mine]
        Y = self._Y
        near, far = Y[P[:, 0]] - Y[P[:, 1]], Y[P[:, 2]] - Y[P[:, 3]]
        short = 1.0 + (near**2).sum(axis=1) - (far**2).sum(axis=1)
        gradient = np.zeros_like(near)
        for column, vector, sign in ((0, near, 1), (1, near, -1), (2, far, -1), (3, far, 1)):
            touched = (objects[P[:, column]] == objects[row])[:, None]
            gradient += np.where(touched, 2.0 * sign * vector, 0.0)
        pull = weight[mine] * np.linalg.norm(gradient, axis=1) * np.asarray(short > 0)
        pull = np.where(np.isfinite(pull), pull, 0.0)
        how = "Shares of the comparisons about it in the force on it: those not kept by a margin."
        whole = float(pull.sum())
        order = np.argsort(-pull, kind="stable")
        reasons = tuple(
            Reason(
                COMPARISON,
                item[0],
                item[1],
                _in_words(data, P[k]),
                float(pull[k]) / whole,
            )
            for k in order[:most]
            if pull[k] > 0
        )
        note = ""
        if not len(mine):
            note = "No comparison is about it."
        elif not reasons:
            note = f"All {len(mine):,} comparisons about it are kept by a margin: none pulls it."
        parts = {COMPARISON: 1.0} if reasons else {}
        return Why(*item, self.title, how, parts, reasons, note=note)


def _what_makes_near(
    data: HeteroData, row: int, found: Held, most: int
) -> tuple[dict[str, float], dict[int, str]]:
    """Return what makes neighbours on joint axes near: the share of each sort, and words by number.

    Words are only of the first, of those that would move it most, and of those wanted most.
    """
    W = sp.csr_array(data.adjacency(1))
    mine = W[[row]]
    own = set(mine.indices[mine.data > 0].tolist())
    shared = sp.csr_array(mine @ W)
    met = set(shared.indices[shared.data > 0].tolist())
    objects = data.object_of
    name = next(n for n, rows in data.offsets.items() if rows.start <= row < rows.stop)
    span, X = data.offsets[name], data[name].X
    alike: set[int] = set()
    if X is not None and len(data[name]) > 1:
        count = max(1, round(ALIKE_SHARE * len(data[name])))
        alike = set((_nearest(X, row - span.start, count) + span.start).tolist())
    said = found.by.get(STATEMENT, np.zeros(len(found.to)))
    near = dict.fromkeys((LINKED, SHARED, ALIKE, OTHERWISE), 0.0)
    asked = {
        *range(most),
        *np.argsort(-found.moves, kind="stable")[:most].tolist(),
        *np.argsort(-found.wanted, kind="stable")[:most].tolist(),
    }
    words: dict[int, str] = {}
    for k, other in enumerate(found.to.tolist()):
        twin = objects[other] == objects[row]
        sort = ALIKE if other in alike else OTHERWISE
        if twin or other in own:
            sort = LINKED
        elif other in met:
            sort = SHARED
        near[sort] += float(found.share[k] - said[k])
        if k not in asked:
            continue
        if twin:
            words[k] = "the same item"
        elif sort == SHARED:
            theirs = W[[other]]
            both = sorted(own & set(theirs.indices[theirs.data > 0].tolist()))
            degree = np.diff(W.indptr)[both]
            # What few share says most.
            through = _item(data, both[int(np.argmin(degree))])[2]
            words[k] = f"both linked with {short(through, _NAME)}"
        elif sort == OTHERWISE:
            words[k] = "through others"
        else:
            words[k] = "linked" if sort == LINKED else "alike by features"
    return {sort: share for sort, share in near.items() if share > 0}, words


def _in_words(data: HeteroData, pair: Ints) -> str:
    a, b, c, d = (_item(data, int(row))[2] for row in pair)
    if a == c:
        return f"{a} nearer to {b} than to {d}"
    return f"{a} and {b} nearer than {c} and {d}"


def _item(data: HeteroData, row: int) -> tuple[str, str, str]:
    """Return dataset, id and title of a global row."""
    name = next(n for n, rows in data.offsets.items() if rows.start <= row < rows.stop)
    at = row - data.offsets[name].start
    return name, str(data[name].ids[at]), str(data[name].titles[at])


def _columns(dataset: Dataset) -> list[tuple[str, Ints]]:
    """Return the features of each column of the table, or each feature where there is no recipe."""
    assert dataset.X is not None  # noqa: S101 - callers have looked
    p = dataset.X.shape[1]
    groups: list[tuple[str, Ints]] = []
    at = 0
    for step in recipe_of(dataset)["columns"]:
        width = len(block.names(step))
        groups.append((str(step["column"]), np.arange(at, at + width)))
        at += width
    if len(groups) < 2 or at != p:
        groups = [(label, np.array([k])) for k, label in enumerate(feature_names(dataset))]
    return groups


def _by_column(dataset: Dataset, values: Floats) -> tuple[list[str], Floats]:
    """Return names and sums of a value of each feature, by column of the table."""
    groups = _columns(dataset)
    return [label for label, _ in groups], np.array([values[c].sum() for _, c in groups])


def _row(X: Matrix, at: int) -> Floats:
    row = X[[at]]
    dense: Floats = np.asarray(row.toarray() if is_sparse(row) else row, dtype=np.float64)
    return dense.ravel()


def _squared(X: Matrix) -> Matrix:
    return sp.csr_array(X.multiply(X)) if is_sparse(X) else np.asarray(X, dtype=np.float64) ** 2


def _mean(X: Matrix) -> Floats:
    return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()


def _nearest(X: Matrix, at: int, count: int) -> Ints:
    """Return the rows nearest to one of them, itself among them."""
    squared = cross_squared_distances(X[[at]], X)[0]
    count = min(count, len(squared) - 1)
    return np.asarray(np.argpartition(squared, count)[: count + 1], dtype=np.int64)


def _plain(value: object) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
