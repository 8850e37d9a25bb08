"""Joint map: shared axes of all items from features and links, and a neighbour map of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._text import join_words
from hetviz._types import Floats, Rng, Sparse
from hetviz.algorithms.contract import NEIGHBOR_MAP, Capability, Fit, MethodCard
from hetviz.algorithms.diagnostics import warn_about_data
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.neighbor_map import NO_GRAPH, NeighborMapEmbedder, sne_fit
from hetviz.algorithms.papers import NG_2002, QIN_2013, VAN_DER_MAATEN_2008
from hetviz.algorithms.shared_params import (
    CannotLinkStrength,
    Device,
    Exaggeration,
    GuidanceBoost,
    LayoutIterations,
    LearnGroups,
    LinkStrength,
    Perplexity,
    Pins,
    PinStrength,
    PlaneAxes,
    RandomState,
    SimilarityFeatures,
    SimilarityWeights,
    TieStrength,
    TieViews,
)
from hetviz.core.graph.affinities import MIN_ROWS
from hetviz.core.graph.axes_affinities import AxesBlend, Candidates, axes_affinities, axes_link_part
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
from hetviz.core.spectral.evidence import LinkEvidence, link_evidence
from hetviz.core.spectral.joint_axes import JointAxes, joint_axes, unit
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.diagnostics import make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import NotApplicableError
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.features.spaces.joint_axes import axes_of_new, leading_features, symmetric_affinities
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.learned_groups import LearnedGroups, find_learned_groups
from hetviz.features.spaces.result_cache import RESULTS, digest
from hetviz.features.spaces.sne_map import SneMap, sne_pulls
from hetviz.params import Changed, Flag, Integer, Real, value_for
from hetviz.progress import Progress, ProgressPart, ignore_progress

FULL_WEIGHT_AUC = 0.7
"""Links with at least this AUC on hidden links count in full."""
MIN_LINK_WEIGHT = 0.1
"""Weight of links whose AUC on hidden links is at chance level."""
DEFAULT_OWN_SHARE = 0.3
DEFAULT_LINK_SHARE = 0.15
MAX_LINK_SHARE = 0.3
"""Share of links in the affinities of a map that follows links; more brings no more links close."""
NEW_BALANCE = "new balance of links and features"
"""Note of a start map that is laid out again from its positions, because it was balanced otherwise.

A refit that keeps nearly all positions would hardly change the map."""
NEW_BALANCE_ITERATIONS = 160
_NEW_PERPLEXITY = 10.0
_N_NEIGHBORS_FOR_AXES = 5
_NO_LINKS = (
    np.zeros(0, np.int64),
    np.zeros(0, dtype=object),
    np.zeros(0, np.int64),
    np.zeros(0),
)


@dataclass(frozen=True)
class LinkBalance:
    """Trade-off between features and links."""

    own: float
    links: float
    min_weight: float


def link_balance(position: float) -> LinkBalance:
    """Return the trade-off at a position from 0 (features) to 1 (links); 0.5 is the default."""
    steps = (0.0, 0.5, 1.0)
    own, links, weight = (
        float(np.interp(position, steps, values))
        for values in (
            (1.0, DEFAULT_OWN_SHARE, 0.0),
            (0.0, DEFAULT_LINK_SHARE, MAX_LINK_SHARE),
            (MIN_LINK_WEIGHT, MIN_LINK_WEIGHT, 1.0),
        )
    )
    return LinkBalance(own, links, weight)


class JointMap(NeighborMapEmbedder):
    """Neighbour map of joint axes, which combine features and links of all datasets.

    Attributes
    ----------
    axes_ : Embedding
        The joint axes of all items, rows of unit length. Link prediction uses them, and clustering
        with ``space="full"``.
    link_evidence_ : dict of (str, str, str) to Evidence
        How well hidden links were predicted, by dataset, dataset and kind. See `check_links`.

    Notes
    -----
    Axes: `hetviz.core.spectral.joint_axes`. Affinities: `hetviz.core.graph.axes_affinities`.
    Layout: as in MR-SNE. A kind of links counts in full if its hidden links are predicted with an
    AUC of at least .7 among pairs of their own ends. Below that its weight falls, to one tenth at
    chance level. Without links the method is a plain neighbour map of each dataset. Items without
    comparable features and without links have no place. User links within a dataset act in the
    layout and in the axes. In the axes they count less if the group was learned well. Negative
    links have negative weight in the axes and are a bounded force in the layout, but never enter
    the affinities. From an earlier joint map the method makes 100 iterations. From one whose note
    is `NEW_BALANCE` it forms groups again and makes 160.
    Time: O(n^2) for the neighbours. An iteration is O(n^2) up to 8,000 items and O(n + links)
    above.

    References
    ----------
    A. Y. Ng, M. I. Jordan and Y. Weiss, On spectral clustering, 2002, for unit rows; T. Qin and
    K. Rohe, Regularized spectral clustering under the degree-corrected stochastic blockmodel, 2013,
    for the regularisation; L. van der Maaten and G. Hinton, Visualizing data using t-SNE, 2008.
    The combination is our own.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="joint-map",
        title="Joint map",
        family="Neighbour map",
        papers=(
            NG_2002.with_part("for the axes"),
            QIN_2013.with_part("for the axes"),
            VAN_DER_MAATEN_2008.with_part("for the map"),
        ),
        equation=(
            r"Z = [\mathrm{unit}(D_\tau^{-1/2} U \Lambda^4),\ \mathrm{unit}(H)],\quad"
            r" \min_Y \mathrm{KL}\big((1 - m) P_Z + m R \,\Vert\, Q\big)"
        ),
        needs=(Need.FEATURES_OR_LINKS,),
        capabilities=NEIGHBOR_MAP | {Capability.SHARED_SPACE},
        summary=(
            "Combines features and links of all datasets into shared axes, then draws a neighbour "
            "map of these axes. Items of different datasets are close if they share links, and "
            "items without features find their place too."
        ),
        caveats=(
            "Close items are similar. Gaps between far groups and the size of a group mean "
            "nothing.",
            "Kinds of links that predict no better than chance count little. The notes of the map "
            "name them.",
            "Datasets without links between them share the picture but are not compared.",
            "Where links and features disagree, the map is a compromise. Spectral axes keep more "
            "links close, and other neighbour maps show more true neighbours.",
        ),
        cost="A second or two for 2,000 items, ten for 20,000.",
    )
    memory_estimate = MemoryEstimate(base=50e6, per_row=25e3)
    n_components: PlaneAxes = 2
    link_strength: Annotated[
        LinkStrength,
        Changed(
            help="How hard links pull, from 0 to 1.",
            high=1.0,
            log=False,
            details="The share m of links in the affinities. Links also define neighbours.",
        ),
    ] = DEFAULT_LINK_SHARE
    perplexity: Annotated[
        Perplexity,
        Changed(
            details=("Within its dataset. A third as many in each dataset that it is linked with.")
        ),
    ] = 30.0
    own_share: Annotated[
        float,
        Real(
            "Own features",
            "How much an item's own features count compared with the joint axes, from 0 to 1.",
            low=0.0,
            high=1.0,
            details="In the distances within a dataset.",
        ),
    ] = DEFAULT_OWN_SHARE
    links_over_features: Annotated[
        float | None,
        Real(
            "Links over features",
            "What decides the places, from 0 (features) to 1 (links). Replaces Own features and "
            "Link strength.",
            low=0.0,
            high=1.0,
            also=(None,),
            advanced=True,
            details=(
                "0.5 is the same as the defaults of `own_share` and `link_strength`. Above 0.5, "
                "kinds of links that predict little count more, and in full at 1."
            ),
        ),
    ] = None
    n_axes: Annotated[
        int,
        Integer(
            "Joint axes",
            "How many axes the shared space has. More axes show finer differences.",
            low=2,
            high=200,
            advanced=True,
            details="Spectral axes. Up to 32 features of each dataset are added.",
        ),
    ] = 32
    weights: SimilarityWeights = 1.0
    features: SimilarityFeatures = "auto"
    check_links: Annotated[
        bool,
        Flag(
            "Check links first",
            "Hide some links, and reduce the weight of kinds that are not found again.",
            advanced=True,
            details="A fifth of each kind with at least 20 links. User links are not checked.",
        ),
    ] = True
    guidance_boost: GuidanceBoost = 1.0
    cannot_link_strength: CannotLinkStrength = 0.3
    learn_groups: LearnGroups = True
    tie_views: TieViews = True
    pins: Pins = None
    pin_strength: PinStrength = 0.5
    tie: TieStrength = 0.0
    n_iter: LayoutIterations = 400
    exaggeration: Exaggeration = 12.0
    device: Device = "cpu"
    random_state: RandomState = 0

    @property
    def balance(self) -> LinkBalance:
        """Shares of own features and links by `links_over_features`, or as set one by one."""
        if self.links_over_features is None:
            return LinkBalance(self.own_share, self.link_strength, MIN_LINK_WEIGHT)
        return link_balance(self.links_over_features)

    def prepare_refits(self, data: HeteroData) -> None:
        super().prepare_refits(data)
        # Possible neighbours in refits.
        self._candidates: Candidates = {}
        self.attraction_graph(data)

    def _fit_from(
        self, data: HeteroData, rng: Rng, progress: Progress, start: Embedding | None
    ) -> Fit:
        if start is None:
            # Large data start from a map of landmarks.
            start = self._landmark_map(data, ProgressPart(progress, 0.0, 0.05))
        part = ProgressPart(progress, 0.05, 0.15)
        graph = joint_graph(data, self._neighbor_affinities, part, self.tie_views, self.weights)
        progress(0.15, "Joint axes")
        features = leading_features(data, self.features, self._seed)
        axes = None
        if start is None:
            axes = joint_axes(graph, features, self.n_axes, self._seed)
            if min(axes.Z.shape[1], len(axes.values)) >= self.n_components:
                # A first layout to show until the neighbours are known.
                first_layout = np.where(axes.known[:, None], axes.Z[:, : self.n_components], np.nan)
                progress(0.18, "Checking links", layout=lambda: first_layout)
        checked_graph = self._with_checked_links(graph, features, list(data.datasets))
        learned = self._learn_groups(data, checked_graph)
        axes_graph = _with_weaker_group_links(checked_graph, learned)
        if axes is None or axes_graph is not graph:
            progress(0.2, "Joint axes")
            axes = joint_axes(axes_graph, features, self.n_axes, self._seed)
        graph, axes = self._with_learned_groups(data, axes_graph, axes, learned)
        self._store_axes(data, axes)
        progress(0.25, "Neighbours on the joint axes")
        P = self._affinities(graph, axes, features, ProgressPart(progress, 0.25, 0.4))
        sne_map = SneMap(P, data, graph.negative, self.guidance_boost, self.cannot_link_strength)
        is_rebalanced = start is not None and start.note == NEW_BALANCE
        return self._run(
            sne_map,
            lambda: self._make_fit(sne_map),
            data,
            rng,
            progress,
            start,
            n_iter=min(self.n_iter, NEW_BALANCE_ITERATIONS) if is_rebalanced else self.n_iter,
            exaggeration=self.exaggeration,
            followers=learned.followers,
        )

    def _attraction_graph(self, data: HeteroData) -> AttractionGraph:
        graph = joint_graph(
            data, self._neighbor_affinities, ignore_progress, self.tie_views, self.weights
        )
        features = leading_features(data, self.features, self._seed)
        graph = self._with_checked_links(graph, features, list(data.datasets))
        learned = self._learn_groups(data, graph)
        graph = _with_weaker_group_links(graph, learned)
        axes = joint_axes(graph, features, self.n_axes, self._seed)
        graph, axes = self._with_learned_groups(data, graph, axes, learned)
        P = self._affinities(graph, axes, features, ignore_progress)
        if has_table_links(graph):
            links = axes_link_part(graph, P, AxesBlend(self.balance.links, self.perplexity))
        else:
            joint = joint_affinities(graph, Balance(0.5))
            links = sp.csr_array(P.shape) if joint is None else joint_link_part(graph, joint)
        return sne_pulls(P, links, data, self.guidance_boost, joint=True)

    def _with_learned_groups(
        self, data: HeteroData, graph: JointGraph, axes: JointAxes, learned: LearnedGroups
    ) -> tuple[JointGraph, JointAxes]:
        """Return the graph and axes of the affinities, with learned groups.

        User links within datasets act in the layout. As links of the graph they would reduce the
        weight of table links. They stay in the graph of datasets that are too small to have
        neighbours.
        """
        is_small = [axes.known[rows].sum() < MIN_ROWS for rows in graph.rows]
        if learned.axes.shape[1]:
            axes = replace(axes, Z=np.hstack([axes.Z, learned.axes]))
        if has_table_links(graph):
            links = [
                link
                for link in graph.links
                if is_small[link.source] or not _is_user_link_within(link)
            ]
            return replace(graph, links=tuple(links)), axes
        if learned.axes.shape[1]:
            graph = learned.near(data, graph, self._feature_affinities, self.features, self._seed)
        return graph, axes

    def _neighbor_affinities(self, dataset: Dataset, progress: Progress) -> Sparse | None:
        kind = value_for(self.features, dataset.name, "auto")
        return symmetric_affinities(dataset, self.perplexity, kind, self._seed, progress)

    def _with_checked_links(
        self, graph: JointGraph, features: list[Floats | None], names: list[str]
    ) -> JointGraph:
        """Return the graph with less weight on kinds of links that cannot be predicted."""
        known = self.link_evidence_ if getattr(self, "_candidates", None) else None
        # A refit may lack a rare kind of links that the next one has.
        self.link_evidence_: dict[tuple[str, str, str], LinkEvidence] = dict(known or {})
        if not self.check_links or not graph.links:
            return graph
        evidence_list = (
            self._link_evidence(graph, features)
            if known is None
            else [known[names[link.source], names[link.target], link.kind] for link in graph.links]
        )
        links: list[LinkBlock] = []
        weak_kinds: list[str] = []
        for link, evidence in zip(graph.links, evidence_list, strict=True):
            ends = names[link.source], names[link.target]
            self.link_evidence_[(*ends, link.kind)] = evidence
            weight = self._link_weight(link.kind, evidence)
            links.append(replace(link, strength=link.strength * weight))
            if weight < 1.0:
                weak_kinds.append(
                    f"{ends[0]} – {ends[1]}, {link.kind} (AUC {evidence.auc:.2f}, chance 0.50, "
                    f"weight {weight:.2g})"
                )
        if not weak_kinds:
            return graph
        warn_about_data(
            f"Hidden links of {join_words(weak_kinds)} were found again little better than by "
            "chance, so "
            "these links count less. Switch off Check links first to count them in full."
        )
        return replace(graph, links=tuple(links))

    def _link_weight(self, kind: str, evidence: LinkEvidence) -> float:
        if kind in USER_LINK_KINDS:
            return 1.0
        return max(link_weight(evidence), self.balance.min_weight)

    def _link_evidence(
        self, graph: JointGraph, features: list[Floats | None]
    ) -> list[LinkEvidence]:
        """Return how well hidden links of each kind are predicted. User links are not checked.

        The result is cached until other data change, so that new guidance does not wait for it.
        """
        checked = [link for link in graph.links if link.kind not in USER_LINK_KINDS]
        checked_graph = replace(graph, links=tuple(checked))
        parts = [*graph.own, *features, *(link.W for link in checked)]
        key = (
            "evidence",
            *(None if part is None else digest(part) for part in parts),
            *((link.source, link.target, link.strength) for link in checked),
            *graph.weights,
            self.n_axes,
            self._seed,
        )

        def compute() -> Floats:
            evidence_list = link_evidence(checked_graph, features, self.n_axes, self._seed)
            return np.array(
                [
                    (evidence.auc, evidence.standard_error, evidence.n_hidden)
                    for evidence in evidence_list
                ]
            )

        results = iter(RESULTS.get_or_compute(None, key, compute) if checked else ())
        not_checked = LinkEvidence(float("nan"), 0.0, 0)
        return [
            not_checked if link.kind in USER_LINK_KINDS else _row_to_evidence(next(results))
            for link in graph.links
        ]

    def _feature_affinities(self, dataset: Dataset) -> Sparse | None:
        return symmetric_affinities(dataset, self.perplexity, "linear", self._seed, ignore_progress)

    def _learn_groups(self, data: HeteroData, graph: JointGraph) -> LearnedGroups:
        """Return what can be learned from named groups."""
        learned = LearnedGroups()
        if self.learn_groups:
            learned = find_learned_groups(data, graph, self.features, self.n_axes, self._seed)
            if message := learned.account(data):
                warn_about_data(message)
        self._learned = learned.of_items(data)
        return learned

    def _affinities(
        self, graph: JointGraph, axes: JointAxes, features: list[Floats | None], progress: Progress
    ) -> Sparse:
        if has_table_links(graph):
            balance = self.balance
            blend = AxesBlend(balance.links, self.perplexity, own=balance.own)
            P = axes_affinities(
                graph,
                axes.Z,
                features,
                blend,
                self._seed,
                progress,
                getattr(self, "_candidates", None),
            )
        else:
            joint = joint_affinities(graph, Balance(0.5))
            P = graph.near() if joint is None else joint.P
        if not P.nnz:
            raise NotApplicableError(self.card.title, [NO_GRAPH])
        return P

    def _store_axes(self, data: HeteroData, axes: JointAxes) -> None:
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

    def _make_fit(self, sne_map: SneMap) -> Fit:
        evidence_by_kind = {
            f"{a} - {b}, {kind}": {
                "auc": None if not evidence.n_hidden else evidence.auc,
                "standard_error": evidence.standard_error,
                "hidden": evidence.n_hidden,
                "counts": self._link_weight(kind, evidence),
            }
            for (a, b, kind), evidence in self.link_evidence_.items()
        }
        return sne_fit(
            sne_map,
            {
                "links foretold": evidence_by_kind,
                "eigenvalues": self._values.tolist(),
                "learned": [group.to_dict() for group in self._learned],
            },
            [
                make_diagnostic(
                    "links foretold",
                    "Hidden links found again",
                    "How often a hidden link of this kind ranks before an unlinked pair: 0.5 is "
                    "chance, 1 is always.",
                    {name: entry["auc"] for name, entry in evidence_by_kind.items()},
                ),
                make_diagnostic(
                    "weights of links",
                    "Weight of links",
                    "How much each kind of links counts: 1 is in full. Kinds that are predicted "
                    "little better than by chance count less. User links and apart links count in "
                    "full.",
                    {name: entry["counts"] for name, entry in evidence_by_kind.items()},
                ),
            ],
        )

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return how similar pairs of rows are on the joint axes: (1 + cos) / 2, shape (n, m).

        New rows use their features, or else the items around them on the map.
        """
        Z = self._axes_of_rows(source, Y_source)
        return np.asarray((1.0 + Z @ self._axes_of_rows(target, Y_target).T) / 2.0)

    def _axes_of_rows(self, rows: Dataset, Y: Floats) -> Floats:
        """Return the unit joint axes of rows at places Y. 0 if nothing is known."""
        axes = {name: unit(np.nan_to_num(Z)) for name, Z in self.axes_.coordinates.items()}
        fitted_rows = self._fitted[rows.name].find(rows.ids)
        Z = axes[rows.name][np.maximum(fitted_rows, 0)]
        new_rows = np.flatnonzero(fitted_rows < 0)
        if len(new_rows):
            new = NewRows(rows, *_NO_LINKS)
            kind = value_for(self.features, rows.name, "auto")
            Z[new_rows] = axes_of_new(new, self._fitted, axes, kind)[0][new_rows]
            unknown_rows = new_rows[~Z[new_rows].any(axis=1) & np.isfinite(Y[new_rows]).all(axis=1)]
            if len(unknown_rows):
                stacked = np.vstack(list(axes.values()))
                places = np.vstack([self.embedding_.coordinates[name] for name in axes])
                placed = np.flatnonzero(stacked.any(axis=1) & np.isfinite(places).all(axis=1))
                neighbors = cross_neighbors(
                    Y[unknown_rows], places[placed], min(_N_NEIGHBORS_FOR_AXES, len(placed))
                ).index
                Z[unknown_rows] = unit(stacked[placed][neighbors].mean(axis=1))
        return Z

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        axes = {name: np.nan_to_num(Z) for name, Z in self.axes_.coordinates.items()}
        stacked = unit(np.vstack(list(axes.values())))
        Y = np.vstack([self.embedding_.coordinates[name] for name in axes])
        placed = (stacked != 0).any(axis=1) & np.isfinite(Y).all(axis=1)
        out = {}
        for name, rows in new.items():
            kind = value_for(self.features, name, "auto")
            Z, squared = axes_of_new(rows, self._fitted, axes, kind)
            has_axes = (Z != 0).any(axis=1)
            new_places = np.full((len(Z), Y.shape[1]), np.nan)
            if placed.any() and has_axes.any():
                # 2 - 2 cos: the squared distance of rows of length 1
                D = np.maximum(2.0 - 2.0 * Z[has_axes] @ stacked[placed].T, 0.0)
                new_places[has_axes] = median_places(D + 1e-12, Y[placed], _NEW_PERPLEXITY)
            if squared is not None:
                unlinked = ~np.isin(np.arange(len(Z)), rows.row[rows.weight > 0])
                places = self.embedding_.coordinates[name]
                for i in np.flatnonzero(unlinked & (squared == 0).any(axis=1)):
                    twins = places[squared[i] == 0]
                    twins = twins[np.isfinite(twins).all(axis=1)]
                    if len(twins):
                        new_places[i] = twins.mean(axis=0)
            out[name] = new_places
        return out


def has_table_links(graph: JointGraph) -> bool:
    """Whether the graph has links other than user links within datasets."""
    return not all(_is_user_link_within(link) for link in graph.links)


def _is_user_link_within(link: LinkBlock) -> bool:
    return link.kind in USER_LINK_KINDS and link.source == link.target


def _with_weaker_group_links(graph: JointGraph, learned: LearnedGroups) -> JointGraph:
    """Return the graph for the axes, with less weight on user links of learned groups.

    If an item has k positive user links, each counts k^(-c / 2), where c is the confidence of the
    learned group. The learned group carries the rest. Otherwise a group of nine would outweigh the
    table links.
    """
    confidence = np.zeros(sum(graph.sizes))
    for group in learned.groups:
        confidence[group.rows] = group.confidence
    if not confidence.any():
        return graph
    links = list(graph.links)
    for position, link in enumerate(graph.links):
        if _is_user_link_within(link):
            together = sp.csr_array(link.W > 0)
            n_together = np.diff(sp.csr_array(together + together.T).indptr)
            W = sp.coo_array(link.W)
            ends = [
                (n_together[rows], confidence[graph.rows[link.source]][rows]) for rows in W.coords
            ]
            n_links = np.maximum(ends[0][0], ends[1][0]).astype(np.float64)
            factor = np.maximum(n_links, 1.0) ** (-np.maximum(ends[0][1], ends[1][1]) / 2.0)
            values = W.data * np.where(W.data > 0, factor, 1.0)
            links[position] = replace(link, W=sp.csr_array((values, W.coords), shape=W.shape))
    return replace(graph, links=tuple(links))


def _row_to_evidence(row: Floats) -> LinkEvidence:
    auc, error, hidden = row.tolist()
    return LinkEvidence(auc, error, int(hidden))


def link_weight(evidence: LinkEvidence) -> float:
    """Return the weight of a kind of links by its evidence, from 0.1 to 1.

    The weight grows linearly with AUC plus one standard error and is 1 from .7 on. It is also 1 if
    there were too few links to hide some.
    """
    if not evidence.n_hidden:
        return 1.0
    above = (evidence.auc + evidence.standard_error - 0.5) / (FULL_WEIGHT_AUC - 0.5)
    return float(np.clip(above, MIN_LINK_WEIGHT, 1.0))
