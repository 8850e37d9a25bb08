"""Joint map: one space for all items from features and links, and a neighbour map of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._text import join_words
from hetviz._types import Floats, Sparse
from hetviz.algorithms.base import BaseEmbedder, Capability, Fit, MethodCard, Need, note
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.papers import NG_2002, QIN_2013, VAN_DER_MAATEN_2008
from hetviz.algorithms.shared_params import Device, LearnGroups, RandomState, TieViews
from hetviz.core.graph.affinities import MIN_ROWS
from hetviz.core.graph.axes_affinities import AxesBlend, axes_affinities, axes_link_part
from hetviz.core.graph.joint import (
    Balance,
    JointGraph,
    LinkBlock,
    joint_affinities,
    joint_link_part,
)
from hetviz.core.graph.neighbors import cross_neighbors
from hetviz.core.layout.attraction import AttractionGraph
from hetviz.core.layout.placement import median_places
from hetviz.core.spectral.evidence import Evidence, link_evidence
from hetviz.core.spectral.joint_axes import JointAxes, joint_axes, unit
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.diagnostics import make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.features.spaces.affinities import KINDS
from hetviz.features.spaces.joint_axes import axes_of_new, leading_features, symmetric_affinities
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.learned_groups import LearnedGroups, find_learned_groups
from hetviz.features.spaces.result_cache import cached_result, digest
from hetviz.features.spaces.sne_map import SneMap, sne_pulls, warm_up
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.params import Choice, Flag, Integer, PerDataset, Real, value_for
from hetviz.progress import Progress, ProgressPart, ignore_progress

SURE = 0.7
"""Links that are foretold this well, or better, count in full."""
LEAST = 0.1
"""What links count that are foretold no better than chance."""
_NEW_PERPLEXITY = 10.0
_AROUND = 5
_NO_LINKS = (
    np.zeros(0, np.int64),
    np.zeros(0, dtype=object),
    np.zeros(0, np.int64),
    np.zeros(0),
)


class JointMap(BaseEmbedder):
    """Neighbour map of joint axes: features and links of all datasets in one space first.

    Attributes
    ----------
    axes_ : Embedding
        The joint axes of every item: rows of unit length, to be used wherever an embedding is.
        Links are predicted by them, clusters found in them with ``space="full"``.
    link_evidence_ : dict of (str, str, str) to Evidence
        By dataset, dataset and kind: how well hidden links were foretold; see `check_links`.

    Notes
    -----
    The axes are those of `hetviz.core.spectral.joint_axes`, the affinities of
    `hetviz.core.graph.axes_affinities`, the layout that of MR-SNE. Links of a kind that, hidden,
    are foretold with an AUC of .7 or more among pairs of their own ends count in full; less is
    foretold, the less they count, down to a tenth at chance. Without links it is a plain
    neighbour map of each dataset. An item has no place when it has neither comparable features nor
    a link. What is said within a dataset is heard in the layout and in the axes; there the better a
    group is known by what was learned of it, the less it counts. Links that say apart count below 0
    in the axes, never in the affinities, and are a bounded force besides. Given an earlier map of
    its own it makes 100 iterations from there.
    Time O(n^2) for the neighbours; an iteration is O(n^2) to 8,000 items and O(n + links) above.

    References
    ----------
    A. Y. Ng, M. I. Jordan and Y. Weiss, On spectral clustering, 2002, for unit rows; T. Qin and
    K. Rohe, Regularized spectral clustering under the degree-corrected stochastic blockmodel, 2013,
    for the regularisation; L. van der Maaten and G. Hinton, Visualizing data using t-SNE, 2008.
    The blend is our own.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="joint-map",
        title="Joint map",
        family="Neighbour map",
        papers=(
            NG_2002.cited("for the axes"),
            QIN_2013.cited("for the axes"),
            VAN_DER_MAATEN_2008.cited("for the map"),
        ),
        equation=(
            r"Z = [\mathrm{unit}(D_\tau^{-1/2} U \Lambda^4),\ \mathrm{unit}(H)],\quad"
            r" \min_Y \mathrm{KL}\big((1 - m) P_Z + m R \,\Vert\, Q\big)"
        ),
        needs=(Need.FEATURES_OR_LINKS,),
        capabilities=frozenset(
            {
                Capability.LINKS,
                Capability.CANNOT_LINKS,
                Capability.WITHIN_LINKS,
                Capability.VIEWS,
                Capability.KERNELS,
                Capability.DISTANCES,
                Capability.FEATURELESS,
                Capability.SPARSE,
                Capability.OUT_OF_SAMPLE,
                Capability.ITERATIVE,
                Capability.WARM_START,
                Capability.SHARED_SPACE,
            }
        ),
        summary=(
            "First puts all items into one space, by what they are like and by what they are "
            "linked with, then draws near ones together. Items of different datasets lie together "
            "that share links or kinds of links, and items without features find their place too."
        ),
        caveats=(
            "Nearness means something, distance between far groups and the size of groups do not.",
            "Kinds of links that say no more than chance count little: the notes of the map say "
            "which.",
            "Datasets that no link joins share the picture without being compared.",
            "Where links and features disagree it lies between the two: graph axes keep more "
            "links, neighbour maps more neighbours.",
        ),
        cost="A second or two for 2,000 items, ten for 20,000.",
    )
    memory_estimate = MemoryEstimate(base=50e6, per_row=25e3)
    n_components: Annotated[int, Integer("Axes", "How many axes to compute.", low=1, high=2)] = 2
    link_strength: Annotated[
        float,
        Real(
            "Strength of links",
            "How hard links themselves pull, beside the neighbours that they give; 0 to 1.",
            low=0.0,
            high=1.0,
            details="The share m of the links in the affinities.",
        ),
    ] = 0.15
    perplexity: Annotated[
        float,
        Real(
            "Neighbours",
            "About how many neighbours of each item count; fewer show finer groups.",
            low=2.0,
            high=500.0,
            log=True,
            details="Within its dataset; a third as many in each dataset that it is linked with.",
        ),
    ] = 30.0
    own_share: Annotated[
        float,
        Real(
            "Own features",
            "How much an item's own features count beside what it shares with others; 0 to 1.",
            low=0.0,
            high=1.0,
            details="In the distances within a dataset; joint axes are the rest.",
        ),
    ] = 0.3
    n_axes: Annotated[
        int,
        Integer(
            "Joint axes",
            "How many axes the shared space has; more tell finer things apart.",
            low=2,
            high=200,
            advanced=True,
            details="Spectral ones; up to 32 features of each dataset come besides.",
        ),
    ] = 32
    weights: Annotated[
        float | Mapping[str, float],
        PerDataset(
            "Weight of datasets",
            "How much the likeness of a dataset's items counts, and its links with it.",
            inner=Real(low=0.0, high=100.0),
            advanced=True,
            details="Links count by the geometric mean of two.",
        ),
    ] = 1.0
    features: Annotated[
        str | Mapping[str, str],
        PerDataset(
            "Features",
            "What makes items of a dataset alike.",
            inner=Choice(options=KINDS),
            advanced=True,
        ),
    ] = "auto"
    check_links: Annotated[
        bool,
        Flag(
            "Check links first",
            "Hold out some links, and let kinds that are not found by the rest count less.",
            advanced=True,
            details="A fifth of each kind of 20 links or more; what a person said is not checked.",
        ),
    ] = True
    guidance_boost: Annotated[
        float,
        Real(
            "Strength of your word",
            "How much what you say of an item counts beside all else that is known of it.",
            low=0.0,
            high=100.0,
            log=True,
            details="See `hetviz.features.relations.user_links`; 1 is as much.",
        ),
    ] = 1.0
    cannot_link_strength: Annotated[
        float,
        Real(
            "Strength of apart",
            "How hard links that say apart push.",
            low=0.0,
            high=1.0,
            details="Until they are half a radius apart.",
        ),
    ] = 0.3
    learn_groups: LearnGroups = True
    tie_views: TieViews = True
    n_iter: Annotated[
        int,
        Integer(
            "Iterations",
            "Steps taken.",
            low=10,
            high=10_000,
            advanced=True,
            details="From the start; an eighth of them with exaggeration.",
        ),
    ] = 400
    exaggeration: Annotated[
        float,
        Real(
            "Exaggeration",
            "How tightly groups form in the first steps.",
            low=1.0,
            high=100.0,
            advanced=True,
        ),
    ] = 12.0
    device: Device = "cpu"
    random_state: RandomState = 0

    @classmethod
    def warm_up(cls) -> None:
        """Load the compiled kernels, so that the next fit does not wait for them."""
        warm_up()

    def _fit_from(
        self,
        data: HeteroData,
        rng: np.random.Generator,
        progress: Progress,
        start: Embedding | None,
    ) -> Fit:
        if start is None:
            # Of many items the first ones to look at are landmarks; all go on from there.
            start = self._landmark_map(data, ProgressPart(progress, 0.0, 0.05))
        part = ProgressPart(progress, 0.05, 0.15)
        graph = joint_graph(data, self._near, part, self.tie_views, self.weights)
        progress(0.15, "Joint axes")
        features = leading_features(data, self.features, self.random_state)
        axes = None
        if start is None:
            axes = joint_axes(graph, features, self.n_axes, self.random_state)
            if min(axes.Z.shape[1], len(axes.values)) >= self.n_components:
                # Something to look at until the neighbours are known.
                rough = np.where(axes.known[:, None], axes.Z[:, : self.n_components], np.nan)
                progress(0.18, "Checking links", layout=lambda: rough)
        checked = self._checked(graph, features, list(data.datasets))
        taught = self._learned_from(data, checked)
        heard = _heard(checked, taught)
        if axes is None or heard is not graph:
            progress(0.2, "Joint axes")
            axes = joint_axes(heard, features, self.n_axes, self.random_state)
        graph, axes = self._with_taught(data, heard, axes, taught)
        self._keep_axes(data, axes)
        progress(0.25, "Neighbours on the joint axes")
        P = self._affinities(graph, axes, features, ProgressPart(progress, 0.25, 0.4))
        drawn = SneMap(P, data, graph.negative, self.guidance_boost, self.cannot_link_strength)
        try:
            drawn.run(
                self.n_components,
                rng,
                ProgressPart(progress, 0.4, 0.95),
                coordinates_of(data, start) if start else None,
                again=start is not None and start.note == self.card.title,
                n_iter=self.n_iter,
                exaggeration=self.exaggeration,
                followers=taught.followers,
            )
        except Cancelled as stopped:
            stopped.partial = self._done(drawn)
            raise
        return self._done(drawn)

    def _pulls(self, data: HeteroData) -> AttractionGraph:
        graph = joint_graph(data, self._near, ignore_progress, self.tie_views, self.weights)
        features = leading_features(data, self.features, self.random_state)
        graph = self._checked(graph, features, list(data.datasets))
        taught = self._learned_from(data, graph)
        graph = _heard(graph, taught)
        axes = joint_axes(graph, features, self.n_axes, self.random_state)
        graph, axes = self._with_taught(data, graph, axes, taught)
        P = self._affinities(graph, axes, features, ignore_progress)
        if across(graph):
            links = axes_link_part(graph, P, AxesBlend(self.link_strength, self.perplexity))
        else:
            joint = joint_affinities(graph, Balance(0.5))
            links = sp.csr_array(P.shape) if joint is None else joint_link_part(graph, joint)
        return sne_pulls(P, links, data, self.guidance_boost, joint=True)

    def _with_taught(
        self, data: HeteroData, graph: JointGraph, axes: JointAxes, taught: LearnedGroups
    ) -> tuple[JointGraph, JointAxes]:
        """Return graph and axes of which affinities are made, with what was learned of groups.

        The map hears what was said within datasets besides: among the links it would only take
        from the weight of those that came with the data. Where items are too few to have
        neighbours it holds them, and stays.
        """
        few = [axes.known[rows].sum() < MIN_ROWS for rows in graph.rows]
        if taught.axes.shape[1]:
            axes = replace(axes, Z=np.hstack([axes.Z, taught.axes]))
        if across(graph):
            links = [link for link in graph.links if few[link.source] or not _word(link)]
            return replace(graph, links=tuple(links)), axes
        if taught.axes.shape[1]:
            graph = taught.near(data, graph, self._near_features, self.features, self.random_state)
        return graph, axes

    def _near(self, dataset: Dataset, progress: Progress) -> Sparse | None:
        kind = value_for(self.features, dataset.name, "auto")
        return symmetric_affinities(dataset, self.perplexity, kind, self.random_state, progress)

    def _checked(
        self, graph: JointGraph, features: list[Floats | None], names: list[str]
    ) -> JointGraph:
        """Return the graph with links that cannot be foretold counting less."""
        self.link_evidence_: dict[tuple[str, str, str], Evidence] = {}
        if not self.check_links or not graph.links:
            return graph
        found = self._evidence(graph, features)
        links: list[LinkBlock] = []
        weak: list[str] = []
        for link, evidence in zip(graph.links, found, strict=True):
            ends = names[link.source], names[link.target]
            self.link_evidence_[(*ends, link.kind)] = evidence
            share = 1.0 if link.kind in USER_LINK_KINDS else trusted(evidence)
            links.append(replace(link, strength=link.strength * share))
            if share < 1.0:
                weak.append(
                    f"{ends[0]} – {ends[1]}, {link.kind} (found {evidence.auc:.2f}, chance "
                    f"0.50; counts {share:.2g})"
                )
        if not weak:
            return graph
        note(
            f"Held-out links of {join_words(weak)} were found little better than by chance, so "
            "these links count less. Switch off Check links first to count them in full."
        )
        return replace(graph, links=tuple(links))

    def _evidence(self, graph: JointGraph, features: list[Floats | None]) -> list[Evidence]:
        """Return what is foretold of each kind of links but those of a person, which count anyway.

        So that a statement does not wait for it, it is remembered until other things change.
        """
        checked = [link for link in graph.links if link.kind not in USER_LINK_KINDS]
        rest = replace(graph, links=tuple(checked))
        parts = [*graph.own, *features, *(link.W for link in checked)]
        key = (
            "evidence",
            *(None if part is None else digest(part) for part in parts),
            *((link.source, link.target, link.strength) for link in checked),
            *graph.weights,
            self.n_axes,
            self.random_state,
        )

        def compute() -> Floats:
            found = link_evidence(rest, features, self.n_axes, self.random_state)
            return np.array([(one.auc, one.standard_error, one.n_hidden) for one in found])

        known = iter(cached_result(key, compute) if checked else ())
        unknown = Evidence(float("nan"), 0.0, 0)
        return [
            unknown if link.kind in USER_LINK_KINDS else _evidence_of(next(known))
            for link in graph.links
        ]

    def _near_features(self, dataset: Dataset) -> Sparse | None:
        return symmetric_affinities(
            dataset, self.perplexity, "linear", self.random_state, ignore_progress
        )

    def _learned_from(self, data: HeteroData, graph: JointGraph) -> LearnedGroups:
        """Return what is to be learned from groups that a person named."""
        taught = LearnedGroups()
        if self.learn_groups:
            taught = find_learned_groups(data, graph, self.features, self.n_axes, self.random_state)
            if why := taught.account(data):
                note(why)
        self._learned = taught.of_items(data)
        return taught

    def _affinities(
        self,
        graph: JointGraph,
        axes: JointAxes,
        features: list[Floats | None],
        progress: Progress,
    ) -> Sparse:
        if across(graph):
            blend = AxesBlend(self.link_strength, self.perplexity, own=self.own_share)
            P = axes_affinities(graph, axes.Z, features, blend, self.random_state, progress)
        else:
            joint = joint_affinities(graph, Balance(0.5))
            P = graph.near() if joint is None else joint.P
        if not P.nnz:
            reason = "No item has features that tell items apart, and no link counts."
            raise NotApplicableError(self.card.title, [reason])
        return P

    def _keep_axes(self, data: HeteroData, axes: JointAxes) -> None:
        Z = np.where(axes.known[:, None], axes.Z, np.nan)
        if not axes.Z.shape[1]:
            Z = np.full((data.n_rows, 1), np.nan)
        self.axes_ = Embedding(
            {name: Z[rows] for name, rows in data.offsets.items()},
            {name: dataset.ids for name, dataset in data.datasets.items()},
            {name: dataset.entity for name, dataset in data.datasets.items()},
            note="joint axes",
        )
        self._values = axes.values

    def _done(self, drawn: SneMap) -> Fit:
        foretold = {
            f"{a} - {b}, {kind}": {
                "auc": None if not evidence.n_hidden else evidence.auc,
                "standard_error": evidence.standard_error,
                "hidden": evidence.n_hidden,
                "counts": 1.0 if kind in USER_LINK_KINDS else trusted(evidence),
            }
            for (a, b, kind), evidence in self.link_evidence_.items()
        }
        return Fit(
            drawn.placed.by_dataset(drawn.layout.positions),
            n_iter=drawn.layout.n_iter,
            loss_history=drawn.layout.history,
            stopping_reason=drawn.reason,
            diagnostics={
                **drawn.diagnostics,
                "links foretold": foretold,
                "eigenvalues": self._values.tolist(),
                "learned": [group.to_dict() for group in self._learned],
            },
            told=[
                make_diagnostic(
                    "links foretold",
                    "Links foretold",
                    "How often a hidden link of this kind was ranked before a pair that is not "
                    "linked: 0.5 is chance, 1 is always.",
                    {name: one["auc"] for name, one in foretold.items()},
                ),
                make_diagnostic(
                    "weights of links",
                    "Weight of links",
                    "How much each kind of links counts: 1 is in full, less where it was foretold "
                    "little better than by chance. What was said by a person, or says apart, "
                    "counts in full.",
                    {name: one["counts"] for name, one in foretold.items()},
                ),
                drawn.told,
            ],
            components=drawn.placed.components,
        )

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return how near pairs of rows lie on the joint axes: (1 + cos) / 2, shape (n, m).

        New rows are taken by their features, or else by what lies around them on the map.
        """
        Z = self._axes_of(source, Y_source)
        return np.asarray((1.0 + Z @ self._axes_of(target, Y_target).T) / 2.0)

    def _axes_of(self, rows: Dataset, Y: Floats) -> Floats:
        """Return the joint axes of rows that lie at Y, of length 1, or 0 where nothing is known."""
        axes = {name: unit(np.nan_to_num(Z)) for name, Z in self.axes_.coordinates.items()}
        at = self._fitted[rows.name].find(rows.ids)
        Z = axes[rows.name][np.maximum(at, 0)]
        fresh = np.flatnonzero(at < 0)
        if len(fresh):
            new = NewRows(rows, *_NO_LINKS)
            kind = value_for(self.features, rows.name, "auto")
            Z[fresh] = axes_of_new(new, self._fitted, axes, kind)[0][fresh]
            lost = fresh[~Z[fresh].any(axis=1) & np.isfinite(Y[fresh]).all(axis=1)]
            if len(lost):
                stacked = np.vstack(list(axes.values()))
                places = np.vstack([self.embedding_.coordinates[name] for name in axes])
                there = np.flatnonzero(stacked.any(axis=1) & np.isfinite(places).all(axis=1))
                near = cross_neighbors(Y[lost], places[there], min(_AROUND, len(there))).index
                Z[lost] = unit(stacked[there][near].mean(axis=1))
        return Z

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        axes = {name: np.nan_to_num(Z) for name, Z in self.axes_.coordinates.items()}
        stacked = unit(np.vstack(list(axes.values())))
        Y = np.vstack([self.embedding_.coordinates[name] for name in axes])
        there = (stacked != 0).any(axis=1) & np.isfinite(Y).all(axis=1)
        out = {}
        for name, rows in new.items():
            kind = value_for(self.features, name, "auto")
            Z, squared = axes_of_new(rows, self._fitted, axes, kind)
            known = (Z != 0).any(axis=1)
            found = np.full((len(Z), Y.shape[1]), np.nan)
            if there.any() and known.any():
                # 2 - 2 cos: the squared distance of rows of length 1
                D = np.maximum(2.0 - 2.0 * Z[known] @ stacked[there].T, 0.0)
                found[known] = median_places(D + 1e-12, Y[there], _NEW_PERPLEXITY)
            if squared is not None:
                alone = ~np.isin(np.arange(len(Z)), rows.per_row[rows.weight > 0])
                places = self.embedding_.coordinates[name]
                for i in np.flatnonzero(alone & (squared == 0).any(axis=1)):
                    twins = places[squared[i] == 0]
                    twins = twins[np.isfinite(twins).all(axis=1)]
                    if len(twins):
                        found[i] = twins.mean(axis=0)
            out[name] = found
        return out


def across(graph: JointGraph) -> bool:
    """Return whether links tell more of items than what a person said within datasets."""
    return not all(_word(link) for link in graph.links)


def _word(link: LinkBlock) -> bool:
    """Return whether links are what a person said of items of one dataset."""
    return link.kind in USER_LINK_KINDS and link.source == link.target


def _heard(graph: JointGraph, taught: LearnedGroups) -> JointGraph:
    """Return the graph with groups of which something was learned counting less, for the axes.

    Of k statements that put an item together with others each counts k^(-c / 2), c how far its
    group was found again: the rest of it is carried by what was learned, and a group of nine would
    drown the links that came with the data.
    """
    confidence = np.zeros(sum(graph.sizes))
    for group in taught.groups:
        confidence[group.rows] = group.confidence
    if not confidence.any():
        return graph
    links = list(graph.links)
    for place, link in enumerate(graph.links):
        if _word(link):
            together = sp.csr_array(link.W > 0)
            number = np.diff(sp.csr_array(together + together.T).indptr)
            W = sp.coo_array(link.W)
            ends = [(number[at], confidence[graph.rows[link.source]][at]) for at in W.coords]
            most = np.maximum(ends[0][0], ends[1][0]).astype(np.float64)
            share = np.maximum(most, 1.0) ** (-np.maximum(ends[0][1], ends[1][1]) / 2.0)
            values = W.data * np.where(W.data > 0, share, 1.0)
            links[place] = replace(link, W=sp.csr_array((values, W.coords), shape=W.shape))
    return replace(graph, links=tuple(links))


def _evidence_of(row: Floats) -> Evidence:
    auc, error, hidden = row.tolist()
    return Evidence(auc, error, int(hidden))


def trusted(evidence: Evidence) -> float:
    """Return how much a kind of links counts by what was foretold of it, from a tenth to 1.

    In proportion to how far the AUC, with the benefit of one standard error, lies above chance,
    and 1 from .7 on or where too few links were there to hide some.
    """
    if not evidence.n_hidden:
        return 1.0
    above = (evidence.auc + evidence.standard_error - 0.5) / (SURE - 0.5)
    return float(np.clip(above, LEAST, 1.0))
