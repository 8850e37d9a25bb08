"""Reasons for the place of an item on a map, and for where it would move."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._html import html_table
from hetviz._text import join_words, round_percent, shorten
from hetviz._types import Bools, Floats, Ints, JsonObject, Matrix, is_sparse
from hetviz.algorithms.base import BaseEmbedder, Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.attraction import (
    LINK,
    NEIGHBOUR,
    STATEMENT,
    Attraction,
    AttractionGraph,
    attraction_of,
)
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.links import kind_key
from hetviz.data.queries.rows import TouchingLinks, links_touching, select_rows
from hetviz.errors import DataError, HetvizError, NotApplicableError, ParameterError, Problem
from hetviz.features.columns import block
from hetviz.features.interpretation import feature_names
from hetviz.features.recipe import recipe_of
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.runs.embed.run import EmbeddingOrigin, FittedRun, Run, fit_again
from hetviz.runs.embed.scope import Scope, scope_of

MAX_ROWS = 8_000
"""With more rows, only the surroundings of the item are considered."""
N_SURROUNDING_ROWS = 400
"""Number of closest rows, by features and on the map, that are then considered."""
FEATURE, COMPARISON = "feature", "comparison"
LINKED, SHARED, ALIKE, OTHERWISE = "linked", "shared", "alike", "otherwise"
"""Causes of closeness on joint axes: a link, links to the same items, similar features, or an
indirect connection through other items."""
SIMILAR_SHARE = 0.05
"""Items count as similar by features within this share of their dataset, the closest ones."""
FAR_SHARE = 0.25
"""An item farther away than this share of the map's extent pulls elsewhere."""
MIN_GRAPH_SHARE = 0.01
"""Ignore distant neighbours below this share of the attraction."""
MAX_REFIT_ROWS = 3_000
"""Up to this number of rows, a closed-form method is refitted without the links of the item."""
_MAX_FEATURES = 200
_MAX_LINKS = 50
_MAX_LINKED_ROWS = 200
_MAX_NAME_LENGTH = 32


@dataclass(frozen=True)
class Reason:
    """One reason that holds an item in its place or pulls it elsewhere.

    Attributes
    ----------
    kind : {"neighbour", "link", "statement", "feature", "comparison"}
        "link" is a link of the data, "statement" guidance from a person.
    dataset, id, title : str
        The other item. For a feature, its dataset and the name of the feature twice.
    share : float
        Share of all forces on the item, measured as `Why.how` says.
    moves : float
        Distance that the item would move without it, as a share of the map's extent; NaN if
        unknown.
    distance : float
        Distance to the other item, as a share of the map's extent; NaN for features.
    by : str
        For a neighbour on joint axes the cause of closeness, in words; else empty.
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
        """Return the fields as JSON-ready values."""
        return {name: _json_value(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Why:
    """Reasons for the place of an item.

    Attributes
    ----------
    dataset, id, title : str
        The item.
    method : str
        Title of the method.
    how : str
        A sentence about the meaning of the shares.
    parts : mapping of str to float
        Share of each kind of reason; they sum to 1. Empty where not all kinds were counted.
    holds : tuple of Reason
        Reasons that hold it in its place, the largest share first.
    features : tuple of Reason
        Features in which it is more similar to the items that hold it than to other items of its
        dataset, with their shares of that similarity.
    elsewhere : tuple of Reason
        Reasons that pull it elsewhere: items that are far away but should be close.
    would_move : tuple of Reason
        Reasons without which it would move farthest.
    note : str
        Further remarks; may be empty.
    near : mapping of str to float
        For methods with neighbours on joint axes: share of each cause of closeness, "linked",
        "shared" (links to the same items), "alike" (similar features) and "otherwise" (through
        other items). With guidance they sum to 1. Else empty.
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
        """Return the fields as JSON-ready values."""
        content: JsonObject = {
            "dataset": self.dataset,
            "id": self.id,
            "title": self.title,
            "method": self.method,
            "how": self.how,
            "parts": dict(self.parts),
        }
        for name in ("holds", "features", "elsewhere", "would_move"):
            content[name] = [reason.to_dict() for reason in getattr(self, name)]
        return {**content, "note": self.note, "near": dict(self.near)}

    def frame(self) -> pd.DataFrame:
        """Return a row for each reason: part (holds, features, ...) and the fields of `Reason`."""
        rows = [
            {"part": part, **vars(reason)}
            for part in ("holds", "features", "elsewhere", "would_move")
            for reason in getattr(self, part)
        ]
        names = ["part", *Reason.__dataclass_fields__]
        return pd.DataFrame(rows, columns=names)

    @property
    def sentence(self) -> str:
        """The reasons by kind, the largest share first."""
        words = {
            NEIGHBOUR: "similar items",
            LINK: "its links",
            STATEMENT: "guidance",
            FEATURE: "its features",
            COMPARISON: "comparisons",
            LINKED: "its links",
            SHARED: "links to the same items",
            ALIKE: "similar features",
            OTHERWISE: "indirect connections",
        }
        parts = self.parts
        if self.near:
            parts = {kind: share for kind, share in parts.items() if kind == STATEMENT}
            parts |= self.near
        ranked = sorted(parts.items(), key=lambda part: -part[1])
        causes = [
            f"{words[kind]} ({round_percent(share)})" for kind, share in ranked if share >= 0.005
        ]
        if not causes and self.holds:
            return "Its close links, the closest first. Other reasons are not counted."
        if not causes:
            return "No reason is known why it is here."
        if ranked[0][1] <= 0.5:
            return f"Here because of {join_words(causes)}."
        others = f" Also because of {join_words(causes[1:])}." if len(causes) > 1 else ""
        return f"Mostly here because of {causes[0]}.{others}"

    def _repr_html_(self) -> str:
        rows = [
            (f"{reason.title} ({reason.kind})", round_percent(reason.share, 1))
            for reason in self.holds
        ]
        rows += [
            (f"{reason.title} (feature)", round_percent(reason.share, 1))
            for reason in self.features
        ]
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
    """Explain the place of an item on a map: what holds it there, and what would move it.

    Parameters
    ----------
    data : HeteroData
        The data of the map.
    fitted : Embedding, FittedRun or fitted method
        The map. A fitted method, with the data of its fit, is not fitted again.
    dataset, id : str
        The item.
    run : Run, optional
        Record of how the map was made. Embeddings of `hetviz.embed` and fitted methods know it.
    method : str, optional
        Key of the method, where there is no run; with the parameters that differ from the
        defaults.
    most : int
        Maximum number of reasons of each sort.
    fit : bool
        False uses the coordinates alone, without a fit: which links are close, which are far, and
        which items are closest. For methods that would have to be fitted again, such as `mkpe`.
    **params
        Parameters of the method.

    Returns
    -------
    Why

    Raises
    ------
    hetviz.errors.DataError
        If the item does not exist, or the method was fitted on other items.
    hetviz.errors.ParameterError
        If it is unknown how the map was made.
    hetviz.errors.HetvizError
        If the method has not been fitted.
    hetviz.errors.NotApplicableError
        If the method has no graph, does not place new items and uses no comparisons; or if the
        item has no place.

    Notes
    -----
    Neighbour maps: the share of each attraction in the graph of the method, at the coordinates of
    the map (`hetviz.core.layout.attraction.attraction_of`). Other methods: leave-one-out. The item
    is placed like a new one, without one feature or link at a time, and a larger move counts more.
    Methods that do neither: the share of each comparison in the gradient of the hinge loss.
    Costs a fit without its layout, or a fit. Above 8,000 rows only the surroundings of the item are
    considered, and no matrix of all pairs is made.

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
        explainer = Explainer(data, fitted, run_of_map(data, fitted, run, method, params))
    explain = explainer.why if fit else explainer.explain_from_positions
    return explain(row_of(data, dataset, id), most)


def _as_run(data: HeteroData, model: BaseEmbedder) -> FittedRun:
    """Return a fitted method as a run of these data."""
    title = model.card.title
    if not hasattr(model, "embedding_"):
        raise HetvizError(f"{title}: call fit before why.")
    fitted_ids = model.embedding_.ids
    different = [name for name in data.datasets if name not in fitted_ids]
    different += [name for name in fitted_ids if name not in data.datasets]
    different += [
        name
        for name, ids in fitted_ids.items()
        if name not in different and not np.array_equal(ids, data[name].ids)
    ]
    if different:
        raise DataError(
            Problem(
                "other-data",
                "why",
                f"{title} was fitted on other items",
                join_words(different),
                "Give the data that it was fitted on.",
            )
        )
    params = model.get_params(deep=False)
    seed = int(params.pop("random_state", 0))
    run = Run(data.fingerprint(), model.card.key, params, seed)
    return FittedRun(run, model, model.embedding_, scope_of(data))


def run_of_map(
    data: HeteroData,
    embedding: Embedding,
    run: Run | None,
    method: str | None,
    params: Mapping[str, Any],
) -> Run:
    """Return the run of a map from the run, the method or the embedding."""
    if run is not None:
        return run
    if method is not None:
        return Run(data.fingerprint(), method, dict(params), int(params.get("random_state", 0)))
    if isinstance(embedding.made, EmbeddingOrigin):
        return embedding.made.run
    raise ParameterError(
        "why: it is unknown how this map was made. Give the run, or method = its key and the "
        "parameters that differ from the defaults."
    )


def row_of(data: HeteroData, dataset: str, id: str) -> int:
    """Return the global row of an item."""
    if dataset not in data.datasets:
        names = ", ".join(data.datasets)
        raise DataError(
            Problem(
                "unknown-dataset",
                "why",
                "there is no such dataset",
                dataset,
                f"Available: {names}.",
            )
        )
    position = int(data[dataset].find([id])[0])
    if position < 0:
        raise DataError(Problem("unknown-id", f"dataset {dataset!r}", "there is no such item", id))
    return int(data.offsets[dataset].start) + position


class Explainer:
    """Explanations for items of one map, with the common parts cached.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
    run : Run
        How the map was made.
    fitted : FittedRun, optional
        The fitted run; avoids another fit.
    """

    def __init__(
        self, data: HeteroData, embedding: Embedding, run: Run, fitted: FittedRun | None = None
    ) -> None:
        # Rows that took no part have no place and hold no item.
        self._rows = np.arange(data.n_rows) if run.only is None else np.asarray(run.only)
        self.data = data if run.only is None else select_rows(data, run.only)
        self.run = replace(run, only=None)
        self._Y = np.vstack(list(coordinates_of(self.data, embedding).values()))
        placed = self._Y[np.isfinite(self._Y).all(axis=1)]
        self.extent = (float(np.ptp(placed, axis=0).max()) if len(placed) else 0.0) or 1.0
        self._pulls: AttractionGraph | None = None
        self._fitted = fitted if run.only is None else None

    @property
    def title(self) -> str:
        """Title of the method."""
        return get_method(self.run.method).card.title

    @one_thread()
    def why(self, row: int, most: int = 8) -> Why:
        """Explain the place of the item of a global row; see `why`."""
        at = int(np.searchsorted(self._rows, row))
        took_part = at < len(self._rows) and self._rows[at] == row
        if not took_part or not np.isfinite(self._Y[at]).all():
            raise NotApplicableError(self.title, ["This item has no place on the map."])
        data, Y, note = self.data, self._Y, ""
        if data.n_rows > MAX_ROWS and self.draws_graph(self.run.method):
            rows = self._surrounding_rows(at)
            data, Y = select_rows(data, rows), Y[rows]
            at = int(np.searchsorted(rows, at))
            note = f"Only the {len(rows):,} items around it were counted."
        pulls = self._pulls_of(data)
        if pulls is not None:
            return self._explain_by_graph(data, Y, at, pulls, most, note)
        if Capability.OUT_OF_SAMPLE in get_method(self.run.method).card.capabilities:
            return self._explain_by_leaving_out(at, most)
        return self._explain_by_comparisons(at, most)

    def explain_from_positions(self, row: int, most: int = 8) -> Why:
        """Explain the place of the item of a global row from coordinates alone; see `why`.

        A link counts by its weight and by the share of all items that are farther away than its
        other end. A close link holds the item, a far one pulls it elsewhere.
        """
        at = int(np.searchsorted(self._rows, row))
        took_part = at < len(self._rows) and self._rows[at] == row
        if not took_part or not np.isfinite(self._Y[at]).all():
            raise NotApplicableError(self.title, ["This item has no place on the map."])
        data, item = self.data, _item_of(self.data, at)
        distances = np.linalg.norm(self._Y - self._Y[at], axis=1)
        distances[at] = np.nan
        ordered = np.sort(distances[np.isfinite(distances)])
        nearest = np.argsort(np.where(np.isfinite(distances), distances, np.inf), kind="stable")
        nearest = nearest[: min(3, len(ordered))]
        links = links_touching(data, [at])
        reasons: dict[int, Reason] = {}
        for k in range(len(links)):
            other_row, weight = int(links.outer[k]), float(links.weight[k])
            if weight <= 0 or not np.isfinite(distances[other_row]):
                continue
            farther = 1.0 - np.searchsorted(ordered, distances[other_row]) / max(len(ordered), 1)
            kind = data.links[int(links.group[k])].kind
            reason = Reason(
                STATEMENT if kind in USER_LINK_KINDS else LINK,
                *_item_of(data, other_row),
                weight * float(farther),
                distance=float(distances[other_row]) / self.extent,
            )
            if other_row not in reasons or reasons[other_row].share < reason.share:
                reasons[other_row] = reason
        total = sum(reason.share for reason in reasons.values())
        ranked = sorted(
            (
                replace(reason, share=reason.share / total)
                for reason in reasons.values()
                if total > 0
            ),
            key=lambda reason: -reason.share,
        )
        named = join_words([_item_of(data, int(other))[2] for other in nearest])
        notes = [] if ranked else ["None of its links leads to an item on the map."]
        notes += [f"Closest on the map: {named}."] if named else []
        far = sorted(
            (reason for reason in ranked if reason.distance > FAR_SHARE),
            key=lambda reason: -reason.distance,
        )
        return Why(
            *item,
            self.title,
            "From the positions alone, without a new fit. A link counts more when fewer items are "
            "closer than its other end.",
            # Not all reasons are counted, so there are no shares of kinds.
            {},
            tuple(reason for reason in ranked if reason.distance <= FAR_SHARE)[:most],
            elsewhere=tuple(far[:most]),
            note=" ".join(notes),
        )

    @staticmethod
    def draws_graph(method: str) -> bool:
        """Return whether a method has a graph, so that explaining needs no fit."""
        return get_method(method).has_attraction_graph()

    def _unfitted_method(self, scope: Scope) -> BaseEmbedder:
        kind = get_method(self.run.method)
        settings = scope.params(self.run.params)
        if "random_state" in kind.params:
            settings["random_state"] = self.run.seed
        return kind(**settings)

    def _pulls_of(self, data: HeteroData) -> AttractionGraph | None:
        is_whole = data is self.data
        if is_whole and self._pulls is not None:
            return self._pulls
        kinds = set(map(kind_key, data.links))
        weights = {key: factor for key, factor in self.run.weights.items() if key in kinds}
        hold_out = self.run.hold_out if is_whole else 0.0
        scope = scope_of(data, weights, None, hold_out, self.run.seed)
        pulls = self._unfitted_method(scope).attraction_graph(scope.seen)
        if is_whole:
            self._pulls = pulls
        return pulls

    def _surrounding_rows(self, row: int) -> Ints:
        """Return the rows that are close by features or on the map, or linked, in order."""
        name = self._name(row)
        span = self.data.offsets[name]
        squared = ((self._Y - self._Y[row]) ** 2).sum(axis=1)
        squared[~np.isfinite(squared)] = np.inf
        nearest = np.argpartition(squared, N_SURROUNDING_ROWS)[:N_SURROUNDING_ROWS]
        parts = [nearest[np.isfinite(squared[nearest])]]
        X = self.data[name].X
        if X is not None:
            parts.append(_nearest_rows(X, row - span.start, N_SURROUNDING_ROWS) + span.start)
        linked = links_touching(self.data, [row]).outer[:_MAX_LINKED_ROWS]
        second = links_touching(self.data, linked).outer if len(linked) else linked
        parts += [linked, second[:N_SURROUNDING_ROWS]]
        return np.unique(np.concatenate([[row], *parts]).astype(np.int64))

    def _name(self, row: int) -> str:
        return next(n for n, rows in self.data.offsets.items() if rows.start <= row < rows.stop)

    # Neighbour maps

    def _explain_by_graph(
        self,
        data: HeteroData,
        Y: Floats,
        row: int,
        pulls: AttractionGraph,
        max_reasons: int,
        note: str,
    ) -> Why:
        attraction = attraction_of(row, Y, pulls)
        item = _item_of(data, row)
        how = (
            f"Shares of the attraction on it, in the graph of {self.title}. "
            "All other items push it away."
        )
        if attraction is None:
            no_attraction = "No item on this map attracts it."
            return Why(*item, self.title, how, {}, (), note=f"{note} {no_attraction}".strip())
        reasons = [self._reason(data, attraction, k) for k in range(len(attraction.rows))]
        closeness: dict[str, float] = {}
        if pulls.joint:
            closeness, causes = _neighbor_causes(data, row, attraction, max_reasons)
            reasons = [replace(reason, by=causes.get(k, "")) for k, reason in enumerate(reasons)]
        parts = {kind: float(share.sum()) for kind, share in attraction.by.items() if share.any()}
        # Distant items pull with little force, so their share of the graph counts instead.
        distant = [
            replace(reason, share=graph_share)
            for reason, graph_share in zip(reasons, attraction.graph_share.tolist(), strict=True)
            if reason.distance > FAR_SHARE and graph_share > MIN_GRAPH_SHARE
        ]
        elsewhere = sorted(distant, key=lambda reason: -reason.share)[:max_reasons]
        return Why(
            *item,
            self.title,
            how,
            parts,
            tuple(reasons[:max_reasons]),
            self._similar_features(data, row, attraction, max_reasons),
            tuple(elsewhere),
            tuple(sorted(reasons, key=lambda reason: -reason.moves)[:max_reasons]),
            note,
            closeness,
        )

    def _reason(self, data: HeteroData, attraction: Attraction, k: int) -> Reason:
        kind = max(attraction.by, key=lambda name: float(attraction.by[name][k]))
        return Reason(
            kind,
            *_item_of(data, int(attraction.rows[k])),
            float(attraction.share[k]),
            float(attraction.moves[k]) / self.extent,
            float(attraction.distance[k]) / self.extent,
        )

    def _similar_features(
        self, data: HeteroData, row: int, attraction: Attraction, max_reasons: int
    ) -> tuple[Reason, ...]:
        """Return the features in which the item is more similar to its holders than to others.

        A squared distance is a sum over features. So a feature adds to closeness its mean squared
        difference to all items, minus that to the holders, weighted by their share.
        """
        name = next(n for n, rows in data.offsets.items() if rows.start <= row < rows.stop)
        span, dataset = data.offsets[name], data[name]
        in_dataset = (attraction.rows >= span.start) & (attraction.rows < span.stop)
        weight = attraction.by.get(NEIGHBOUR, np.zeros(len(in_dataset)))[in_dataset]
        if dataset.X is None or not weight.any():
            return ()
        X, at = dataset.X, row - span.start
        x = _dense_row(X, at)
        all_mean, all_square = _column_means(X), _column_means(_squared_values(X))
        to = attraction.rows[in_dataset] - span.start
        w = weight / weight.sum()
        holder_rows = X[to]
        mean, square = (
            np.asarray(w @ holder_rows).ravel(),
            np.asarray(w @ _squared_values(holder_rows)).ravel(),
        )
        others = x**2 - 2 * x * all_mean + all_square
        holders = x**2 - 2 * x * mean + square
        names, gain = _sums_by_column(dataset, others - holders)
        gain = np.maximum(gain, 0.0)
        if not gain.sum() > 0:
            return ()
        order = np.argsort(-gain, kind="stable")[:max_reasons]
        return tuple(
            Reason(FEATURE, name, names[k], names[k], float(gain[k] / gain.sum()))
            for k in order
            if gain[k] > 0
        )

    # Methods that place new items: what moves the item when it is left out

    def _explain_by_leaving_out(self, row: int, max_reasons: int) -> Why:
        fitted = self._fit()
        seen = fitted.scope.seen
        name = next(n for n, rows in seen.offsets.items() if rows.start <= row < rows.stop)
        span, dataset = seen.offsets[name], seen[name]
        links = links_touching(seen, [row])
        trials: list[Reason] = []
        rows: list[Floats] = []
        x = None if dataset.X is None else _dense_row(dataset.X, row - span.start)
        if x is not None and dataset.X is not None:
            mean = _column_means(dataset.X)
            groups = _feature_groups(dataset)
            deviation = [float(np.linalg.norm((x - mean)[columns])) for _, columns in groups]
            for k in np.argsort(-np.array(deviation), kind="stable")[:_MAX_FEATURES]:
                label, columns = groups[k]
                changed = x.copy()
                changed[columns] = mean[columns]
                trials.append(Reason(FEATURE, name, label, label, 0.0))
                rows.append(changed)
        link_trials = range(min(len(links), _MAX_LINKS))
        for k in link_trials:
            kind = seen.links[int(links.group[k])].kind
            sort = STATEMENT if kind in USER_LINK_KINDS else LINK
            trials.append(Reason(sort, *_item_of(seen, int(links.outer[k])), 0.0))
            if x is not None:
                rows.append(x)
        Y = self._places_as_new(fitted, row, x, rows, links, len(trials) - len(link_trials))
        moved = np.linalg.norm(Y[1:] - Y[0], axis=1) / self.extent
        # Moves at rounding error count as none.
        moved = np.where(np.isfinite(moved) & (moved > 1e-9), moved, 0.0)
        total = float(moved.sum())
        how = (
            "Shares of how far it would move if placed again, with one feature at its mean or "
            "without one link."
        )
        item = _item_of(seen, row)
        reasons = [
            replace(reason, share=float(move) / total, moves=float(move))
            for reason, move in zip(trials, moved, strict=True)
            if total > 0 and move > 0
        ]
        reasons.sort(key=lambda reason: -reason.share)
        parts: dict[str, float] = {}
        for reason in reasons:
            parts[reason.kind] = parts.get(reason.kind, 0.0) + reason.share
        notes = []
        gap = float(np.linalg.norm(Y[0] - self._Y[row])) / self.extent
        if not reasons:
            notes.append("Leaving out a single feature or link does not move it.")
        elif gap > 0.1:
            notes.append(
                f"Placed by these alone, it would be {round_percent(gap)} of the map's width away. "
                "The other items hold it in place."
            )
        without_links = self._without_links(fitted, row, len(links)) if len(links) else None
        would_move = [*reasons, *([without_links] if without_links else [])]
        would_move.sort(key=lambda reason: -reason.moves)
        return Why(
            *item,
            self.title,
            how,
            parts,
            tuple(reason for reason in reasons if reason.kind != FEATURE)[:max_reasons],
            tuple(reason for reason in reasons if reason.kind == FEATURE)[:max_reasons],
            would_move=tuple(would_move[:max_reasons]),
            note=" ".join(notes),
        )

    def _fit(self) -> FittedRun:
        if self._fitted is None:
            with warnings.catch_warnings():
                # These warnings were shown when the map was made.
                warnings.simplefilter("ignore")
                self._fitted = fit_again(self.data, self.run)
        return self._fitted

    def _places_as_new(
        self,
        fitted: FittedRun,
        row: int,
        x: Floats | None,
        rows: Sequence[Floats],
        links: TouchingLinks,
        n_features: int,
    ) -> Floats:
        """Return the places of the item as a new one, unchanged and for each trial."""
        seen = fitted.scope.seen
        name = next(n for n, span in seen.offsets.items() if span.start <= row < span.stop)
        dataset, at = seen[name], row - seen.offsets[name].start
        n_link_trials = min(len(links), _MAX_LINKS)
        count = 1 + n_features + n_link_trials
        ids = [f"~{k}~{dataset.ids[at]}" for k in range(count)]
        matrices: dict[str, Any] = {}
        if x is not None and dataset.X is not None:
            X = np.vstack([x, *rows]) if rows else x[None]
            matrices["X"] = sp.csr_array(X) if is_sparse(dataset.X) else X
            matrices["feature_names"] = dataset.feature_names
        for matrix in ("kernel", "distance"):
            M = getattr(dataset, matrix)
            if M is not None:
                matrices[matrix] = np.repeat(np.asarray(M[[at]]), count, axis=0)
        new = Dataset(name, ids, entity=dataset.entity, **matrices)
        new_links = [
            (name, ids[trial], *_item_of(seen, int(links.outer[k]))[:2], float(links.weight[k]))
            for trial in range(count)
            for k in range(len(links))
            if trial != 1 + n_features + k
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            placed = fitted.model.transform(new, new_links)
        return np.asarray(placed.coordinates[name])

    def _without_links(self, fitted: FittedRun, row: int, count: int) -> Reason | None:
        """Return the move of the item without all its links; closed-form methods only.

        The other items are aligned with their first places because axes may rotate.
        """
        card = get_method(self.run.method).card
        seen = fitted.scope.seen
        if Capability.ITERATIVE in card.capabilities or seen.n_rows > MAX_REFIT_ROWS:
            return None
        other_links = []
        for group in seen.links:
            p = group.i + seen.offsets[group.source].start
            q = group.j + seen.offsets[group.target].start
            other_links.append(group.take(np.flatnonzero((p != row) & (q != row))))
        without = HeteroData(
            list(seen.datasets.values()),
            [group for group in other_links if len(group)],
            seen.comparisons,
            seen.labels,
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = self._unfitted_method(fitted.scope).fit(without)
        except NotApplicableError:
            return None
        Y, Z = self._Y, model.embedding_.stacked()
        placed: Bools = np.asarray(np.isfinite(Y).all(axis=1) & np.isfinite(Z).all(axis=1))
        if not placed[row] or placed.sum() < 3:
            return None
        centre, other = Y[placed].mean(axis=0), Z[placed].mean(axis=0)
        U, _, V = np.linalg.svd((Z[placed] - other).T @ (Y[placed] - centre))
        moved = float(np.linalg.norm((Z[row] - other) @ (U @ V) + centre - Y[row])) / self.extent
        title = "its link" if count == 1 else f"its {count:,} links together"
        dataset, id, _ = _item_of(seen, row)
        return Reason(LINK, dataset, id, title, float("nan"), moved)

    # Methods of comparisons: the force of each comparison

    def _explain_by_comparisons(self, row: int, max_reasons: int) -> Why:
        data, item = self.data, _item_of(self.data, row)
        comparisons = data.comparisons
        if comparisons is None:
            raise NotApplicableError(
                self.title,
                ["It has no graph, places no new items and uses no comparisons, so the place of an "
                 "item cannot be explained."],
            )  # fmt: skip
        objects = data.object_of
        pairs, weight = comparisons.pairs, np.asarray(comparisons.weight, dtype=np.float64)
        of_item = np.flatnonzero((objects[pairs] == objects[row]).any(axis=1))
        P = pairs[of_item]
        Y = self._Y
        near_vector, far_vector = Y[P[:, 0]] - Y[P[:, 1]], Y[P[:, 2]] - Y[P[:, 3]]
        shortfall = 1.0 + (near_vector**2).sum(axis=1) - (far_vector**2).sum(axis=1)
        gradient = np.zeros_like(near_vector)
        for column, vector, sign in (
            (0, near_vector, 1),
            (1, near_vector, -1),
            (2, far_vector, -1),
            (3, far_vector, 1),
        ):
            touched = (objects[P[:, column]] == objects[row])[:, None]
            gradient += np.where(touched, 2.0 * sign * vector, 0.0)
        pull = weight[of_item] * np.linalg.norm(gradient, axis=1) * np.asarray(shortfall > 0)
        pull = np.where(np.isfinite(pull), pull, 0.0)
        how = (
            "Shares of the force on it from comparisons that the map does not satisfy by a margin."
        )
        total = float(pull.sum())
        order = np.argsort(-pull, kind="stable")
        reasons = tuple(
            Reason(
                COMPARISON,
                item[0],
                item[1],
                _comparison_words(data, P[k]),
                float(pull[k]) / total,
            )
            for k in order[:max_reasons]
            if pull[k] > 0
        )
        note = ""
        if not len(of_item):
            note = "No comparison mentions it."
        elif not reasons:
            note = (
                f"All {len(of_item):,} comparisons about it hold on the map by a margin."
                if len(of_item) > 1
                else "The only comparison about it holds on the map by a margin."
            )
        parts = {COMPARISON: 1.0} if reasons else {}
        return Why(*item, self.title, how, parts, reasons, note=note)


def _neighbor_causes(
    data: HeteroData, row: int, attraction: Attraction, max_reasons: int
) -> tuple[dict[str, float], dict[int, str]]:
    """Return the share of each cause of closeness on joint axes, and words by number of neighbour.

    Words are given for the largest shares, the largest moves and the largest shares of the graph.
    """
    W = sp.csr_array(data.adjacency(1))
    item_links = W[[row]]
    linked = set(item_links.indices[item_links.data > 0].tolist())
    shared = sp.csr_array(item_links @ W)
    shared_rows = set(shared.indices[shared.data > 0].tolist())
    objects = data.object_of
    name = next(n for n, rows in data.offsets.items() if rows.start <= row < rows.stop)
    span, X = data.offsets[name], data[name].X
    similar: set[int] = set()
    if X is not None and len(data[name]) > 1:
        count = max(1, round(SIMILAR_SHARE * len(data[name])))
        similar = set((_nearest_rows(X, row - span.start, count) + span.start).tolist())
    guidance_share = attraction.by.get(STATEMENT, np.zeros(len(attraction.rows)))
    closeness = dict.fromkeys((LINKED, SHARED, ALIKE, OTHERWISE), 0.0)
    described = {
        *range(max_reasons),
        *np.argsort(-attraction.moves, kind="stable")[:max_reasons].tolist(),
        *np.argsort(-attraction.graph_share, kind="stable")[:max_reasons].tolist(),
    }
    words: dict[int, str] = {}
    for k, other in enumerate(attraction.rows.tolist()):
        is_same_item = objects[other] == objects[row]
        cause = ALIKE if other in similar else OTHERWISE
        if is_same_item or other in linked:
            cause = LINKED
        elif other in shared_rows:
            cause = SHARED
        closeness[cause] += float(attraction.share[k] - guidance_share[k])
        if k not in described:
            continue
        if is_same_item:
            words[k] = "the same item"
        elif cause == SHARED:
            other_links = W[[other]]
            common = sorted(linked & set(other_links.indices[other_links.data > 0].tolist()))
            degree = np.diff(W.indptr)[common]
            # A rarely linked item is the most informative.
            through = _item_of(data, common[int(np.argmin(degree))])[2]
            words[k] = f"both linked to {shorten(through, _MAX_NAME_LENGTH)}"
        elif cause == OTHERWISE:
            words[k] = "indirect"
        else:
            words[k] = "linked" if cause == LINKED else "similar features"
    return {cause: share for cause, share in closeness.items() if share > 0}, words


def _comparison_words(data: HeteroData, pair: Ints) -> str:
    a, b, c, d = (_item_of(data, int(row))[2] for row in pair)
    if a == c:
        return f"{a} closer to {b} than to {d}"
    return f"{a} and {b} closer than {c} and {d}"


def _item_of(data: HeteroData, row: int) -> tuple[str, str, str]:
    """Return dataset, id and title of a global row."""
    name = next(n for n, rows in data.offsets.items() if rows.start <= row < rows.stop)
    at = row - data.offsets[name].start
    return name, str(data[name].ids[at]), str(data[name].titles[at])


def _feature_groups(dataset: Dataset) -> list[tuple[str, Ints]]:
    """Return the features of each table column, or each feature without a recipe."""
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


def _sums_by_column(dataset: Dataset, values: Floats) -> tuple[list[str], Floats]:
    """Return names of table columns and sums of feature values by column."""
    groups = _feature_groups(dataset)
    return [label for label, _ in groups], np.array([values[c].sum() for _, c in groups])


def _dense_row(X: Matrix, at: int) -> Floats:
    row = X[[at]]
    dense: Floats = np.asarray(row.toarray() if is_sparse(row) else row, dtype=np.float64)
    return dense.ravel()


def _squared_values(X: Matrix) -> Matrix:
    return sp.csr_array(X.multiply(X)) if is_sparse(X) else np.asarray(X, dtype=np.float64) ** 2


def _column_means(X: Matrix) -> Floats:
    return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()


def _nearest_rows(X: Matrix, at: int, count: int) -> Ints:
    """Return the rows closest to a row, including itself."""
    squared = cross_squared_distances(X[[at]], X)[0]
    count = min(count, len(squared) - 1)
    return np.asarray(np.argpartition(squared, count)[: count + 1], dtype=np.int64)


def _json_value(value: object) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
