"""What a person's statements teach of items that nobody named, as further axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

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
from hetviz.core.spectral.joint_axes import N_AXES, joint_axes
from hetviz.data import Dataset, HeteroData
from hetviz.features.relations.user_links import USER_LINK_KINDS, items_set_apart, user_groups
from hetviz.features.spaces.affinities import description_of
from hetviz.features.spaces.joint_axes import leading_components, leading_features
from hetviz.features.spaces.result_cache import cached_result, digest
from hetviz.params import value_for

MAX_FOLLOWERS = 12
"""So many items that would follow first are named."""
_MAX_NAMED_STORED = 60
_MIN_BELIEF = 0.5
_MAX_REFUSALS_PER_ITEM = 2
"""A group of which nothing was learned is given up after so many refusals for each named item."""


@dataclass(frozen=True, eq=False)
class LearnedGroups:
    """What was learned from the groups that a person named.

    Attributes
    ----------
    groups : tuple of TaughtGroup
        One for each three or more items of a dataset that are said to belong together.
    """

    groups: tuple[LearnedGroup, ...] = ()

    @property
    def axes(self) -> Floats:
        """Axes to put beside joint axes, or beside features of mean length 1: shape (n, g)."""
        return group_axes(self.groups)

    @property
    def followers(self) -> list[tuple[Ints, Ints]]:
        """Global rows of the named of each group, and of those that are more like them than not."""
        named = np.concatenate([np.empty(0, np.int64), *(group.rows for group in self.groups)])
        return [
            (group.rows, np.setdiff1d(np.flatnonzero(group.membership > _MIN_BELIEF), named))
            for group in self.groups
            if group.learned and group.used
        ]

    def unless_features_tell(
        self, data: HeteroData, kinds: str | Mapping[str, str] = "auto", random_state: int = 0
    ) -> LearnedGroups:
        """Return the same for a map by own features, which may tell the named better by themselves.

        What was learned comes from joint axes. Where named items, left out, are on average found
        better by nearness in the features of their dataset, nothing is heeded of its groups.
        """
        groups = list(self.groups)
        for name, rows in data.offsets.items():
            mine = [
                place
                for place, group in enumerate(groups)
                if group.learned and rows.start <= group.rows[0] < rows.stop
            ]
            kind = str(value_for(kinds, name, "auto"))
            F = leading_components(data[name], kind, random_state) if mine else None
            if F is None:
                continue
            by_features = [auc_by_distance(F, groups[place].rows - rows.start) for place in mine]
            if sum(by_features) > sum(groups[place].auc for place in mine):
                for place in mine:
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
        """Return a joint graph whose own blocks have these axes beside the features.

        Parameters
        ----------
        data : HeteroData
        graph : JointGraph
            Of the same data; datasets without features, or of which nothing was learned, keep
            their blocks.
        near : callable
            Makes the block of a dataset of features.
        kinds, random_state
            As in `find_learned_groups`. Features are scaled to a mean squared length of 1; the leading axes
            stand for a kernel or distances.
        """
        axes, own = self.axes, list(graph.own)
        for place, (name, rows) in enumerate(data.offsets.items() if axes.shape[1] else ()):
            kind = str(value_for(kinds, name, "auto"))
            word = description_of(data[name], kind) if axes[rows].any() else None
            if word is None or own[place] is None:
                continue
            X = data[name].X if word == "X" else leading_components(data[name], kind, random_state)
            if X is not None:
                own[place] = near(Dataset(name, data[name].ids, _append_axes(X, axes[rows])))
        return replace(graph, own=own)

    def of_items(self, data: HeteroData, aside: Ints | None = None) -> list[GroupSummary]:
        """Return what was learned of each group by the ids of its items.

        The global rows `aside` follow none, such as those of which somebody said where they belong.
        """
        return [_summarise_group(group, data, aside) for group in self.groups]

    def account(self, data: HeteroData) -> str:
        """Return why some groups move none but the named, a sentence each; nothing for others."""
        told = [str(group) for group in self.of_items(data) if not group.learned]
        aside = {
            name
            for name, rows in data.offsets.items()
            for group in self.groups
            if not group.used and rows.start <= group.rows[0] < rows.stop
        }
        if aside:
            told.append(
                f"What was learned of named items of {join_words(sorted(aside))} is left out: their "
                "own features find such items again better, so only the named move."
            )
        return " ".join(told)


@dataclass(frozen=True)
class GroupSummary:
    """What items that are said to belong together have in common.

    Attributes
    ----------
    dataset : str
    named : tuple of str
        Ids of the items that are said to belong together.
    auc : float
        Chance that one of them, left out, is found before another item of the dataset.
    needed : float
        What 95 of 100 groups of as many items named by chance stay below.
    followers : tuple of str
        Ids of up to twelve other items most like them, best first; none where nothing was learned.
    certainty : tuple of float
        How far each follower is like them, from 0 to 1.
    n_followers : int
        How many are more like them than not, or as many as are listed.
    label : tuple of (str, str)
        Column and label that the named share, where they were named so; empty texts otherwise.
    to_ask : tuple of (str, float)
        Up to twelve others to ask about and how far each is like them, best first: also where
        too little was learned for any to follow, until most answers were no.
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

    @property
    def learned(self) -> bool:
        """Whether the named have enough in common for others to follow."""
        return self.auc >= self.needed

    def to_dict(self) -> JsonObject:
        """Return the same, JSON-ready; of very many named the first sixty."""
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
            "to_ask": [list(one) for one in self.to_ask],
        }

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> GroupSummary:
        """Return what `to_dict` was made of, its named as far as they are there."""
        # Written down before others were asked about: those who followed are.
        to_ask = told.get("to_ask", zip(told["followers"], told["certainty"], strict=True))
        return GroupSummary(
            str(told["dataset"]),
            tuple(map(str, told["named"])),
            float(told["auc"]),
            float(told["needed"]),
            tuple(map(str, told["followers"])),
            tuple(map(float, told["certainty"])),
            int(told["n_followers"]),
            tuple(told.get("label", ("", ""))),
            tuple((str(id_), float(sure)) for id_, sure in to_ask),
        )

    def __str__(self) -> str:
        found = (
            f"{join_first(self.named, 3)}: left out in turn, they came within the first "
            f"{percent(1.0 - self.auc, 2)} of {self.dataset} on average"
        )
        if self.learned:
            return f"{found}; about {count(self.n_followers, 'item')} may be like them."
        return (
            f"{found}, which {count(len(self.named), 'item')} taken by chance might. They do not "
            "resemble one another in what is known of them, so only they move."
        )


def find_learned_groups(
    data: HeteroData,
    graph: JointGraph,
    kinds: str | Mapping[str, str] = "auto",
    n_axes: int = N_AXES,
    random_state: int = 0,
    groups: Sequence[Ints] | None = None,
) -> LearnedGroups:
    """Learn from the groups that a person named what their items have in common.

    Parameters
    ----------
    data : HeteroData
    graph : JointGraph
        Of the same data, its own blocks symmetric or not. Links that a person said do not count
        here: whether the named are found again must not follow from what was said of them.
    kinds, n_axes, random_state
        As for the joint axes.
    groups : sequence of array of int, optional
        Global rows of each group, of one dataset and none in two; by default what was said to
        belong together. Groups of fewer than three with features or links are passed over.

    Notes
    -----
    Costs the joint axes once more, see `hetviz.core.spectral.group_axes` for the rest.
    """
    if groups is None:
        groups = user_groups(data, MIN_MEMBERS)
    if not groups:
        return LearnedGroups()
    Z = axes_without_user_links(data, graph, kinds, n_axes, random_state)
    if not Z.shape[1]:
        return LearnedGroups()
    known = (Z != 0).any(axis=1)
    kept = [named for group in groups if len(named := group[known[group]]) >= MIN_MEMBERS]
    apart = items_set_apart(data, kept)
    return LearnedGroups(tuple(learn_groups(Z, graph.rows, kept, random_state, apart)))


def axes_without_user_links(
    data: HeteroData,
    graph: JointGraph,
    kinds: str | Mapping[str, str] = "auto",
    n_axes: int = N_AXES,
    random_state: int = 0,
) -> Floats:
    """Return joint axes (n, k) for which links that a person said do not count; 0 where unknown.

    The next statement finds the same axes again.
    """
    unsaid = replace(
        graph,
        own=[None if own is None else sp.csr_array((own + own.T) * 0.5) for own in graph.own],
        links=tuple(link for link in graph.links if link.kind not in USER_LINK_KINDS),
    )
    features = leading_features(data, kinds, random_state)
    key = (
        *(digest(link.W) + bytes(repr(link.strength), "ascii") for link in unsaid.links),
        *(b"" if part is None else digest(part) for part in (*unsaid.own, *features)),
        ("axes of what is not said", tuple(unsaid.weights), n_axes, random_state),
    )
    return cached_result(key, lambda: joint_axes(unsaid, features, n_axes, random_state)).Z


def _append_axes(X: Matrix, more: Floats) -> Matrix:
    if is_sparse(X):
        squares = float(X.multiply(X).sum()) / X.shape[0]
        middle = float((np.asarray(X.mean(axis=0)) ** 2).sum())
        size = np.sqrt(max(squares - middle, 0.0)) or 1.0
        return sp.csr_array(sp.hstack([X / size, sp.csr_array(more)]))
    dense = np.asarray(X, dtype=np.float64)
    size = float(np.sqrt(dense.var(axis=0).sum())) or 1.0
    return np.hstack([dense / size, more])


def _summarise_group(group: LearnedGroup, data: HeteroData, aside: Ints | None) -> GroupSummary:
    name, rows = next(
        (name, rows)
        for name, rows in data.offsets.items()
        if rows.start <= group.rows[0] < rows.stop
    )
    ids, named = data[name].ids, group.rows - rows.start
    belief = group.membership.copy()
    belief[group.rows] = 0.0
    if aside is not None:
        belief[aside] = 0.0
    belief = belief[rows]
    sure = int((belief > _MIN_BELIEF).sum())
    # A group that is found again at once is believed to end with the named: then others are asked.
    n_followers = max(sure, min(len(named), MAX_FOLLOWERS)) if group.learned else 0
    likely = np.argsort(-belief, kind="stable")[:MAX_FOLLOWERS]
    likely = likely[belief[likely] > 0]
    first = likely[:n_followers]
    worth_asking = group.learned or len(group.excluded) <= _MAX_REFUSALS_PER_ITEM * len(named)
    return GroupSummary(
        name,
        tuple(str(ids[i]) for i in named),
        float(group.auc),
        float(group.needed),
        tuple(str(ids[i]) for i in first),
        tuple(float(belief[i]) for i in first),
        max(sure if group.learned else 0, len(first)),
        to_ask=tuple((str(ids[i]), float(belief[i])) for i in likely) if worth_asking else (),
    )
