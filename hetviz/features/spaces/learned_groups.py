"""Groups of items named by a person, and similar items learned from them, as further axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from hetviz._text import count, join_first, join_words, percent
from hetviz._types import Floats, Ints, JsonObject, Matrix, Sparse, is_sparse
from hetviz.core.graph.joint import JointGraph
from hetviz.core.spectral.group_axes import (
    MIN_MEMBERS,
    LearnedGroup,
    auc_by_distance,
    group_axes,
    learn_groups,
)
from hetviz.core.spectral.group_differences import FEATURE_RIDGE, JOINT_RIDGE, whiten
from hetviz.core.spectral.joint_axes import N_AXES, joint_axes, unit
from hetviz.core.spectral.principal_scores import principal_scores
from hetviz.data import Dataset, HeteroData
from hetviz.features.relations.user_links import USER_LINK_KINDS, items_set_apart, user_groups
from hetviz.features.spaces.affinities import description_of
from hetviz.features.spaces.joint_axes import leading_components, leading_features
from hetviz.features.spaces.result_cache import RESULTS, digest
from hetviz.params import value_for

MAX_FOLLOWERS = 12
"""Largest number of listed followers."""
_MAX_NAMED_STORED = 60
_N_FEATURES = 256
_N_LINKS = 128
_MAX_DETAILED = 20_000
"""Largest number of items that are described in detail to tell groups apart."""
_MIN_BELIEF = 0.5
_MAX_REFUSALS_PER_ITEM = 2
"""Largest number of refusals per named item; then a group without learned axes is not asked about.
"""


@dataclass(frozen=True, eq=False)
class LearnedGroups:
    """Learned groups of items that a person put together."""

    groups: tuple[LearnedGroup, ...] = ()

    @property
    def axes(self) -> Floats:
        """Axes to append to joint axes, or to features of mean length 1: shape (n, g)."""
        return group_axes(self.groups)

    @property
    def followers(self) -> list[tuple[Ints, Ints]]:
        """Global rows of the named items of each group, and of their likely followers."""
        named = np.concatenate([np.empty(0, np.int64), *(group.rows for group in self.groups)])
        return [
            (group.rows, np.setdiff1d(np.flatnonzero(group.membership > _MIN_BELIEF), named))
            for group in self.groups
            if group.learned and group.used
        ]

    def drop_predicted_by_features(
        self, data: HeteroData, kinds: str | Mapping[str, str] = "auto", random_state: int = 0
    ) -> LearnedGroups:
        """Return the groups for a map by features; ignore groups that the features predict better.

        Groups of a dataset are ignored if held-out named items are found again better by distances
        in the features of the dataset than by the learned axes.
        """
        groups = list(self.groups)
        for name, rows in data.offsets.items():
            own_groups = [
                place
                for place, group in enumerate(groups)
                if group.learned and rows.start <= group.rows[0] < rows.stop
            ]
            kind = str(value_for(kinds, name, "auto"))
            F = leading_components(data[name], kind, random_state) if own_groups else None
            if F is None:
                continue
            by_features = [
                auc_by_distance(F, groups[place].rows - rows.start) for place in own_groups
            ]
            if sum(by_features) > sum(groups[place].auc for place in own_groups):
                for place in own_groups:
                    groups[place] = replace(groups[place], used=False)
        return LearnedGroups(tuple(groups))

    def near(
        self,
        data: HeteroData,
        graph: JointGraph,
        near: Callable[[Dataset], Sparse | None],
        kinds: str | Mapping[str, str] = "auto",
        random_state: int = 0,
    ) -> JointGraph:
        """Return a joint graph with affinities by features and these axes."""
        axes, blocks = self.axes, list(graph.own)
        for place, (name, rows) in enumerate(data.offsets.items() if axes.shape[1] else ()):
            kind = str(value_for(kinds, name, "auto"))
            word = description_of(data[name], kind) if axes[rows].any() else None
            if word is None or blocks[place] is None:
                continue
            X = data[name].X if word == "X" else leading_components(data[name], kind, random_state)
            if X is not None:
                blocks[place] = near(Dataset(name, data[name].ids, _append_axes(X, axes[rows])))
        return replace(graph, own=blocks)

    def of_items(self, data: HeteroData, aside: Ints | None = None) -> list[GroupSummary]:
        """Return a summary of each group with ids; the global rows `aside` are no followers."""
        return [_summarise_group(group, data, aside) for group in self.groups]

    def account(self, data: HeteroData) -> str:
        """Return the reasons why some groups have no followers, one sentence each."""
        messages = [str(group) for group in self.of_items(data) if not group.learned]
        ignored = {
            name
            for name, rows in data.offsets.items()
            for group in self.groups
            if not group.used and rows.start <= group.rows[0] < rows.stop
        }
        if ignored:
            messages.append(
                f"What was learned from the named items of {join_words(sorted(ignored))} is not "
                "used, because the features predict such items better. Only the named items move."
            )
        return " ".join(messages)


@dataclass(frozen=True)
class GroupSummary:
    """Summary of a learned group.

    `named`: Ids of the named items.
    `auc`: Probability that a held-out named item ranks before another item of the dataset.
    `needed`: 95th percentile of the AUC of random groups of the same size.
    `followers`: Ids of up to twelve most similar other items, best first; empty if nothing was
        learned.
    `certainty`: Similarity of each follower, from 0 to 1.
    `n_followers`: Number of likely followers, at least the number of listed ones.
    `label` (tuple of (str, str)): Column and label of the named items if they were named by a
        label, else empty.
    `to_ask` (tuple of (str, float)): Up to twelve items to ask about with their similarity, best
        first. Also given if nothing was learned, until most answers are no.
    `apart`, `needed_apart`: As `auc` and `needed`, among the items named in other groups of the
        dataset; 1 and 0 without such groups.
    """

    dataset: str
    named: tuple[str, ...]
    auc: float
    needed: float
    followers: tuple[str, ...]
    certainty: tuple[float, ...]
    n_followers: int
    label: tuple[str, str] = ("", "")
    to_ask: tuple[tuple[str, float], ...] = ()
    apart: float = 1.0
    needed_apart: float = 0.0

    @property
    def learned(self) -> bool:
        """Whether the named items have enough in common, and only they, to have followers."""
        return self.auc >= self.needed and self.apart >= self.needed_apart

    def to_dict(self) -> JsonObject:
        """Return the summary JSON-ready, with at most sixty named items."""
        return {
            "dataset": self.dataset,
            "named": list(self.named[:_MAX_NAMED_STORED]),
            "n_named": len(self.named),
            "learned": self.learned,
            "auc": self.auc,
            "needed": self.needed,
            "followers": list(self.followers),
            "certainty": list(self.certainty),
            "n_followers": self.n_followers,
            "label": list(self.label),
            "to_ask": [list(entry) for entry in self.to_ask],
            "apart": self.apart,
            "needed_apart": self.needed_apart,
        }

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> GroupSummary:
        # Older content has no `to_ask`; the followers are used instead.
        to_ask = content.get("to_ask", zip(content["followers"], content["certainty"], strict=True))
        return GroupSummary(
            str(content["dataset"]),
            tuple(map(str, content["named"])),
            float(content["auc"]),
            float(content["needed"]),
            tuple(map(str, content["followers"])),
            tuple(map(float, content["certainty"])),
            int(content["n_followers"]),
            tuple(content.get("label", ("", ""))),
            tuple((str(id_), float(belief)) for id_, belief in to_ask),
            float(content.get("apart", 1.0)),
            float(content.get("needed_apart", 0.0)),
        )

    def __str__(self) -> str:
        rank_text = (
            f"{join_first(self.named, 3)}: held out one by one, they rank in the first "
            f"{percent(1.0 - self.auc, 2)} of {self.dataset} on average"
        )
        if self.learned:
            return f"{rank_text}. About {count(self.n_followers, 'item')} may be similar."
        if self.auc >= self.needed:
            return (
                f"{rank_text}, but only {percent(self.apart, 2)} are nearer to their group than "
                "items of your other groups are. Groups mixed at random could reach that, so these "
                "groups cannot be distinguished and only the named items move."
            )
        return (
            f"{rank_text}. {count(len(self.named), 'random item')} could rank as well, so these "
            "items have too little in common and only they move."
        )


def find_learned_groups(
    data: HeteroData,
    graph: JointGraph,
    kinds: str | Mapping[str, str] = "auto",
    n_axes: int = N_AXES,
    random_state: int = 0,
    groups: Sequence[Ints] | None = None,
) -> LearnedGroups:
    """Learn what the items of groups that a person named have in common.

    `graph`: Joint graph of the same data. User links are ignored, so that they do not bias the
        test whether named items are found again.
    """
    if groups is None:
        groups = user_groups(data, MIN_MEMBERS)
    if not groups:
        return LearnedGroups()
    Z = axes_without_user_links(data, graph, kinds, n_axes, random_state)
    if not Z.shape[1]:
        return LearnedGroups()
    is_described = (Z != 0).any(axis=1)
    described_groups = [
        items for group in groups if len(items := group[is_described[group]]) >= MIN_MEMBERS
    ]
    apart = items_set_apart(data, described_groups)

    def describe(rows: slice) -> list[Floats]:
        return _descriptions(data, graph, rows, Z[rows], kinds, random_state)

    return LearnedGroups(
        tuple(learn_groups(Z, graph.rows, described_groups, random_state, apart, describe))
    )


def _descriptions(
    data: HeteroData,
    graph: JointGraph,
    rows: slice,
    Z: Floats,
    kinds: str | Mapping[str, str],
    random_state: int,
) -> list[Floats]:
    """Return descriptions of a dataset that keep more detail than its joint axes Z."""
    if len(Z) > _MAX_DETAILED:
        return []
    name = next(name for name, span in data.offsets.items() if span.start == rows.start)
    kind = str(value_for(kinds, name, "auto"))
    F = leading_components(data[name], kind, random_state, _N_FEATURES)
    L = _link_components(graph, rows, random_state)
    parts = [unit(part) for part in (Z, F, L) if part is not None]
    together = whiten(np.hstack(parts), JOINT_RIDGE)
    return [together] if F is None else [together, whiten(F, FEATURE_RIDGE)]


def _link_components(graph: JointGraph, rows: slice, random_state: int) -> Floats | None:
    """Return components of what the items of a dataset link to; links of the user are left out."""
    profiles: list[Sparse] = []
    for link in graph.links:
        if link.kind in USER_LINK_KINDS:
            continue
        ends = (graph.rows[link.source], graph.rows[link.target])
        for end, W in zip(ends, (link.W, link.W.T), strict=True):
            if end == rows:
                block = sp.csr_array(W)
                degree = np.asarray(abs(block).sum(axis=0)).ravel()
                scale = sp.diags_array(1.0 / np.sqrt(np.maximum(degree, 1.0)))
                profiles.append(sp.csr_array(block @ scale))
    if not profiles:
        return None
    P = sp.csr_array(sp.hstack(profiles))
    return RESULTS.get_or_compute(
        None,
        (digest(P), "profile", _N_LINKS, random_state),
        lambda: principal_scores(sp.csr_array(normalize(P)), _N_LINKS, random_state),
    )


def axes_without_user_links(
    data: HeteroData,
    graph: JointGraph,
    kinds: str | Mapping[str, str] = "auto",
    n_axes: int = N_AXES,
    random_state: int = 0,
) -> Floats:
    """Return joint axes (n, k) without user links, 0 where unknown; cached for later statements."""
    table_graph = replace(
        graph,
        own=[
            None if block is None else sp.csr_array((block + block.T) * 0.5) for block in graph.own
        ],
        links=tuple(link for link in graph.links if link.kind not in USER_LINK_KINDS),
    )
    features = leading_features(data, kinds, random_state)
    key = (
        *(digest(link.W) + bytes(repr(link.strength), "ascii") for link in table_graph.links),
        *(b"" if part is None else digest(part) for part in (*table_graph.own, *features)),
        ("axes of what is not said", tuple(table_graph.weights), n_axes, random_state),
    )
    return RESULTS.get_or_compute(
        None, key, lambda: joint_axes(table_graph, features, n_axes, random_state)
    ).Z


def _append_axes(X: Matrix, more: Floats) -> Matrix:
    if is_sparse(X):
        squares = float(X.multiply(X).sum()) / X.shape[0]
        middle = float((np.asarray(X.mean(axis=0)) ** 2).sum())
        size = np.sqrt(max(squares - middle, 0.0)) or 1.0
        return sp.csr_array(sp.hstack([X / size, sp.csr_array(more)]))
    dense = np.asarray(X, dtype=np.float64)
    size = float(np.sqrt(dense.var(axis=0).sum())) or 1.0
    return np.hstack([dense / size, more])


def _summarise_group(group: LearnedGroup, data: HeteroData, excluded: Ints | None) -> GroupSummary:
    name, rows = next(
        (name, rows)
        for name, rows in data.offsets.items()
        if rows.start <= group.rows[0] < rows.stop
    )
    ids, named = data[name].ids, group.rows - rows.start
    belief = group.membership.copy()
    belief[group.rows] = 0.0
    if excluded is not None:
        belief[excluded] = 0.0
    belief = belief[rows]
    n_likely = int((belief > _MIN_BELIEF).sum())
    # A perfectly predicted group has no likely followers, so the most similar items are listed.
    n_followers = max(n_likely, min(len(named), MAX_FOLLOWERS)) if group.learned else 0
    candidates = np.argsort(-belief, kind="stable")[:MAX_FOLLOWERS]
    candidates = candidates[belief[candidates] > 0]
    first = candidates[:n_followers]
    worth_asking = group.learned or len(group.excluded) <= _MAX_REFUSALS_PER_ITEM * len(named)
    return GroupSummary(
        name,
        tuple(str(ids[i]) for i in named),
        float(group.auc),
        float(group.needed),
        tuple(str(ids[i]) for i in first),
        tuple(float(belief[i]) for i in first),
        max(n_likely if group.learned else 0, len(first)),
        to_ask=tuple((str(ids[i]), float(belief[i])) for i in candidates) if worth_asking else (),
        apart=float(group.apart),
        needed_apart=float(group.needed_apart),
    )
