"""Reasons for the place of an item, and what all ways to find them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from hetviz._html import html_table
from hetviz._text import join_words, round_percent
from hetviz._types import Floats, Ints, JsonObject, Matrix, is_sparse
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.registry import get_method
from hetviz.core.layout.attraction import LINK, NEIGHBOUR, STATEMENT
from hetviz.data import Dataset, HeteroData
from hetviz.data.queries.rows import TouchingLinks
from hetviz.features.columns import block
from hetviz.features.interpretation import feature_names
from hetviz.features.recipe import recipe_of
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.runs.embed.run import Run
from hetviz.runs.embed.scope import Scope

FEATURE, COMPARISON = "feature", "comparison"
LINKED, SHARED, ALIKE, OTHERWISE = "linked", "shared", "alike", "otherwise"
"""Causes of closeness on joint axes: a link, links to the same items, similar features, or an
indirect connection through other items."""
LESS_ALIKE, UNCONNECTED = "less alike", "unconnected"
"""The same without any links of the dataset: less similar features, and none at all."""
SAME_ITEM, INDIRECT, SIMILAR = "the same item", "indirect", "similar features"
LESS_SIMILAR, NOT_CONNECTED = "less similar features", "not connected"
"""Values of `Reason.by`, besides "linked" and "both linked to" an item."""
_PARTS = ("holds", "features", "elsewhere", "would_move")
_MAX_ELSEWHERE = 3
FAR_SHARE = 0.25
"""An item farther away than this share of the map's extent pulls elsewhere."""


@dataclass(frozen=True)
class Reason:
    """One reason that holds an item in its place or pulls it elsewhere.

    `kind` {"neighbour", "link", "statement", "feature", "comparison"}: "link" is a link of the
        data, "statement" guidance from a person.
    `dataset`, `id`, `title`: The other item. For a feature, its dataset and the name of the
        feature twice.
    `share`: Share of all forces on the item, measured as `Why.how` says.
    `moves`: Distance that the item would move without it, as a share of the map's extent; NaN if
        unknown.
    `distance`: Distance to the other item, as a share of the map's extent; NaN for features.
    `by`: For a neighbour on joint axes the cause of closeness, in words; else empty.
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

    `how`: A sentence about the meaning of the shares.
    `parts`: Share of each kind of reason; they sum to 1. Empty where not all kinds were counted.
    `holds`: Reasons that hold it in its place, the largest share first.
    `features`: Features in which it is more similar to the items that hold it than to other items
        of its dataset, with their shares of that similarity.
    `elsewhere`: Reasons that pull it elsewhere: items that are far away but should be close.
    `would_move`: Reasons without which it would move farthest.
    `note`: Further remarks; may be empty.
    `near`: For methods with neighbours on joint axes: share of each cause of closeness, "linked",
        "shared" (links to the same items), "alike" (similar features), "otherwise" (through other
        items) and, for datasets without links, "less alike" and "unconnected". With guidance they
        sum to 1. Else empty.
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
        for name in _PARTS:
            content[name] = [reason.to_dict() for reason in getattr(self, name)]
        return {**content, "note": self.note, "near": dict(self.near)}

    @property
    def n_reasons(self) -> int:
        return sum(len(getattr(self, part)) for part in _PARTS)

    def frame(self) -> pd.DataFrame:
        """Return a row for each reason: part (holds, features, ...) and the fields of `Reason`."""
        rows = [{"part": part, **vars(reason)} for part in _PARTS for reason in getattr(self, part)]
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
            LESS_ALIKE: "less similar features",
            UNCONNECTED: "items that nothing connects with it",
        }
        same = {reason.by == SAME_ITEM for reason in self.holds if reason.kind == LINK}
        if True in same:
            others = "its links and " if False in same else ""
            words[LINKED] = words[LINK] = f"{others}the same item in another dataset"
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

    @property
    def sentences_elsewhere(self) -> list[str]:
        """What pulls it elsewhere, a sentence for each kind."""
        # Two tables may show the same item.
        titles: dict[str, dict[str, None]] = {}
        for reason in self.elsewhere[:_MAX_ELSEWHERE]:
            if reason.by in (LESS_SIMILAR, NOT_CONNECTED):
                continue
            verb = "linked to"
            if reason.kind == NEIGHBOUR:
                is_alike = reason.by in ("", SIMILAR)
                verb = "similar to" if is_alike else "indirectly connected with"
            elif reason.by == SAME_ITEM:
                verb = "the same item as"
            titles.setdefault(verb, {})[reason.title] = None
        return [
            f"It is also {verb} {join_words(list(named))}, which "
            f"{'is' if len(named) == 1 else 'are'} far away."
            for verb, named in titles.items()
        ]

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


@dataclass(frozen=True, eq=False)
class ExplainedMap:
    """Items on a map, and how the map was made."""

    data: HeteroData
    Y: Floats  # Shape (n_rows, d).
    run: Run
    extent: float  # Width or height of the map, whichever is larger.

    @property
    def method(self) -> type[BaseEmbedder]:
        return get_method(self.run.method)

    @property
    def title(self) -> str:
        return self.method.card.title if self.run.method else "Original map"

    def unfitted_method(self, scope: Scope) -> BaseEmbedder:
        """Return the method with the parameters of the run."""
        settings = scope.params(self.run.params)
        if "random_state" in self.method.params:
            settings["random_state"] = self.run.seed
        return self.method(**settings)


def dataset_at(data: HeteroData, row: int) -> tuple[Dataset, int]:
    """Return the dataset of a global row, and the row within it."""
    name = next(n for n, rows in data.offsets.items() if rows.start <= row < rows.stop)
    return data[name], row - data.offsets[name].start


def item_of(data: HeteroData, row: int) -> tuple[str, str, str]:
    """Return dataset, id and title of a global row."""
    dataset, at = dataset_at(data, row)
    return dataset.name, str(dataset.ids[at]), str(dataset.display_names[at])


def link_sort(data: HeteroData, links: TouchingLinks, k: int) -> str:
    """Return whether a link is a link of the data or guidance."""
    return STATEMENT if data.links[int(links.group[k])].kind in USER_LINK_KINDS else LINK


def feature_groups(dataset: Dataset) -> list[tuple[str, Ints]]:
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


def dense_row(X: Matrix, at: int) -> Floats:
    """Return a row of features."""
    row = X[[at]]
    dense: Floats = np.asarray(row.toarray() if is_sparse(row) else row, dtype=np.float64)
    return dense.ravel()


def column_means(X: Matrix) -> Floats:
    """Return the mean of each feature."""
    return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()


def _json_value(value: object) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
