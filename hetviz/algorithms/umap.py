"""UMAP of several datasets: one graph of fuzzy neighbourhoods and links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Floats, Ints, Matrix, Sparse, is_sparse
from hetviz.algorithms.base import (
    BaseEmbedder,
    Capability,
    Fit,
    MethodCard,
    Need,
    Reference,
    warn_about_data,
)
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.shared_params import LearnGroups, RandomState, TieViews
from hetviz.core.graph.affinities import MIN_ROWS
from hetviz.core.graph.joint import JointGraph
from hetviz.core.graph.neighbors import Neighbors
from hetviz.core.layout.attraction import (
    LINK,
    NEIGHBOUR,
    STATEMENT,
    AttractionGraph,
    umap_stiffness,
)
from hetviz.core.layout.guidance_boost import (
    guidance_affinities,
    move_linked_together,
    move_similar_along,
)
from hetviz.core.layout.umap import UmapLayout, fuzzy_graph, fuzzy_union, spread_out
from hetviz.core.layout.umap_learn import METRICS, learned_graph, learned_layout, umap_settings
from hetviz.core.spectral.start import complete_layout, spectral_start
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.dataset import features_of
from hetviz.data.model.diagnostics import make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import Cancelled, NotApplicableError, ParameterError
from hetviz.features.relations.user_links import table_links, user_link_weights
from hetviz.features.spaces.affinities import KINDS, dataset_neighbors, description_of
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.learned_groups import GroupSummary, find_learned_groups
from hetviz.features.spaces.neighbor_map import PlacedRows, place_new
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.params import Choice, Flag, Integer, LabelName, PerDataset, Real, value_for
from hetviz.progress import Progress, ProgressPart, ignore_progress

MANY_ROWS = 10_000
"""Above this many items fewer epochs do."""


class UMAP(BaseEmbedder):
    """Uniform manifold approximation and projection of several datasets and their links.

    Notes
    -----
    Minimises the cross entropy of edges in the graph and in the layout, by drawing edges and
    random pairs. The graph of one dataset, or of views, is umap-learn's own; so is that of a
    dataset with links where `metric` or `target` ask for what only umap-learn has, and else the
    same by exact neighbours. Links are further edges, and links that say apart none at all: they
    are a bounded push besides. The layout is written for links, pairs apart, earlier maps and
    live frames; ``engine="umap-learn"`` gives the one of umap-learn, of one dataset or of views
    of the same items, as ``umap.UMAP(...).fit_transform(X)`` does. It starts from the
    slowest modes of the graph. Given an earlier map of its own it goes on from there with short
    steps. O(n^2 d) time for the neighbours, O(edges) per epoch.

    References
    ----------
    McInnes, Healy and Melville, UMAP: uniform manifold approximation and projection for dimension
    reduction, 2018. Several datasets, links and apart are additions.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="umap",
        title="Neighbour map (UMAP)",
        family="Neighbour map",
        papers=(
            Reference(
                "L. McInnes, J. Healy and J. Melville",
                ("UMAP: uniform manifold approximation and projection for dimension reduction"),
                "",
                2018,
                arxiv="1802.03426",
            ),
        ),
        equation=(
            r"\min_Y -\sum_{ij} w_{ij} \log q_{ij} + (1 - w_{ij}) \log(1 - q_{ij}),\quad"
            r" q_{ij} = (1 + a \lVert y_i - y_j \rVert^{2b})^{-1}"
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
            }
        ),
        summary=(
            "Puts each item next to those most like it and next to those it is linked with, in "
            "dense groups with room between them. A well-known method to compare others with."
        ),
        caveats=(
            "Nearness means something, distance between far groups and the size of groups do not.",
            "Datasets that no link joins share the picture without being compared.",
        ),
        cost="A few seconds for 2,000 items, a minute for 20,000.",
    )
    memory_estimate = MemoryEstimate(base=20e6, per_row=13e3)
    n_components: Annotated[int, Integer("Axes", "How many axes to compute.", low=1, high=3)] = 2
    n_neighbors: Annotated[
        int,
        Integer(
            "Neighbours",
            "How many neighbours of each item count; fewer show finer groups.",
            low=2,
            high=500,
            details="Within its dataset, itself counted.",
        ),
    ] = 15
    min_dist: Annotated[
        float, Real("Least distance", "How near items may lie on the map.", low=0.0, high=2.0)
    ] = 0.1
    link_strength: Annotated[
        float,
        Real(
            "Strength of links",
            "How much a link counts beside a nearest neighbour.",
            low=0.0,
            high=100.0,
            log=True,
            details="The membership of a link of weight 1; a nearest neighbour's is 1.",
        ),
    ] = 1.0
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
    cannot_link_strength: Annotated[
        float,
        Real(
            "Strength of apart",
            "How hard links that say apart push.",
            low=0.0,
            high=1.0,
            details="How much each epoch moves such pairs towards being half a radius apart.",
        ),
    ] = 1.0
    learn_groups: LearnGroups = True
    metric: Annotated[
        str,
        Choice(
            "Distance",
            "What makes two items near by their features.",
            options=METRICS,
            advanced=True,
            details="Of features; kernels and distances are compared as they come.",
        ),
    ] = "euclidean"
    target: Annotated[
        str | None,
        LabelName(
            "Label to separate by",
            "A label that pulls items of the same class together (supervised UMAP).",
            also=(None,),
            advanced=True,
            details=(
                '``"dataset:column"``; items whose label is missing count as unknown. A label of '
                "fractions counts as a number."
            ),
        ),
    ] = None
    target_weight: Annotated[
        float,
        Real(
            "Weight of the label",
            "How much the label counts beside the features.",
            low=0.0,
            high=1.0,
            advanced=True,
        ),
    ] = 0.5
    engine: Annotated[
        str,
        Choice(
            "Layout by",
            "Which program places the items.",
            options={
                "hetviz": "hetviz: links, pairs apart, live",
                "umap-learn": "umap-learn, exactly: one dataset, or views of the same items",
            },
            advanced=True,
        ),
    ] = "hetviz"
    densmap: Annotated[
        bool,
        Flag(
            "Keep densities",
            "Whether dense groups stay dense and thin ones thin (densMAP).",
            advanced=True,
            details="With engine = 'umap-learn' only.",
        ),
    ] = False
    tie_views: TieViews = True
    n_epochs: Annotated[
        int | None,
        Integer(
            "Epochs",
            "Rounds of drawing pairs.",
            low=10,
            high=10_000,
            also=(None,),
            advanced=True,
            details="None is 500, or 200 above 10,000 items.",
        ),
    ] = None
    random_state: RandomState = 0

    @classmethod
    def warm_up(cls) -> None:
        """Load the compiled kernels, so that the next fit does not wait for them."""
        rng = np.random.default_rng(0)
        index = np.add.outer(np.arange(8), np.array([1, 2])) % 8
        graph = fuzzy_graph(Neighbors(index.astype(np.int64), rng.random((8, 2))))
        UmapLayout(graph, rng.standard_normal((8, 2)), n_epochs=2).run()

    def _fit_from(
        self,
        data: HeteroData,
        rng: np.random.Generator,
        progress: Progress,
        start: Embedding | None,
    ) -> Fit:
        self._target = self._known_target(data)
        if self.engine == "umap-learn":
            return self._as_umap_learn(data, progress)
        if start is None:
            start = self._landmark_map(data, ProgressPart(progress, 0.0, 0.1))
        part = ProgressPart(progress, 0.1, 0.3)
        self._alone = not data.links
        whole = joint_graph(data, self._near, part, self.tie_views, self.weights)
        whole, followers = self._taught(data, whole)
        placed = PlacedRows.by(self._graph(whole, data), data)
        if not placed.mask.any():
            reason = "No item has features that tell items apart, and no link counts."
            raise NotApplicableError(self.card.title, [reason])
        progress(0.3, "Finding a start")
        n_epochs = self.n_epochs or (500 if len(placed.mask) <= MANY_ROWS else 200)
        speed = 1.0
        earlier = placed.earlier(coordinates_of(data, start), self.n_components) if start else None
        if earlier is None:
            Y = spread_out(spectral_start(placed.graph, self.n_components, rng), rng)
        else:
            Y = complete_layout(placed.graph, earlier, rng)
            if self._is_own_map(start):
                n_epochs, speed = max(n_epochs // 10, 1), 0.05
                # At a distance the pull fades, so what was said to be together starts together.
                said = placed.among(user_link_weights(data))
                bonds = table_links(data).among(placed.mask)
                said = guidance_affinities(placed.graph, said, bonds=bonds.share)
                Y = move_linked_together(said, placed.graph, Y, bonds.links, bonds.share)
                Y = move_similar_along(placed.graph, Y, placed.numbers(followers))
            else:
                Y = spread_out(Y, rng)
        left, right, weight = placed.pairs(whole.negative)
        layout = UmapLayout(
            placed.graph,
            Y,
            n_epochs=n_epochs,
            min_dist=self.min_dist,
            speed=speed,
            apart=(left, right, self.cannot_link_strength * weight),
            random_state=self.random_state,
        )
        try:
            layout.run(ProgressPart(progress, 0.35, 0.95), placed.whole)
        except Cancelled as stopped:
            reason = f"stopped after {layout.n_iter:,} epochs"
            stopped.partial = self._make_fit(layout, placed, reason)
            raise
        return self._make_fit(layout, placed, "all epochs made")

    def _attraction_graph(self, data: HeteroData) -> AttractionGraph | None:
        if self.engine == "umap-learn":
            return None
        self._target = self._known_target(data)
        self._alone = not data.links
        graph, _ = self._taught(
            data, joint_graph(data, self._near, ignore_progress, self.tie_views, self.weights)
        )
        whole = self._graph(graph, data)
        near = whole.minimum(sp.csr_array(graph.near()))
        links = sp.csr_array(whole - near)
        said = sp.csr_array(links.multiply(user_link_weights(data) > 0))
        parts = {NEIGHBOUR: sp.csr_array(near), LINK: sp.csr_array(links - said), STATEMENT: said}
        return AttractionGraph(parts, umap_stiffness(self.min_dist))

    def _near(self, dataset: Dataset, progress: Progress, kind: str | None = None) -> Sparse | None:
        n = len(dataset)
        if n < MIN_ROWS or value_for(self.weights, dataset.name, 1.0) <= 0:
            return None
        word = description_of(dataset, value_for(self.features, dataset.name, "auto"))
        asked = self.metric != "euclidean" or dataset.name in self._target
        learned = kind is None and word is not None and n > self.n_neighbors
        if learned and (self._alone or asked):
            X, metric = self._described(dataset, str(word))
            if _tells_apart(X):
                y = self._target.get(dataset.name)
                return learned_graph(X, y, self._settings(metric, y))
        kind = kind or value_for(self.features, dataset.name, "auto")
        k = min(self.n_neighbors, n) - 1
        found = dataset_neighbors(dataset, k, kind, self.random_state, progress)
        return None if found is None else fuzzy_graph(found)

    def _taught(
        self, data: HeteroData, graph: JointGraph
    ) -> tuple[JointGraph, list[tuple[Ints, Ints]]]:
        """Return the graph with neighbours by what was learned of named groups, and who follows."""
        self._learned: list[GroupSummary] = []
        if not self.learn_groups:
            return graph, []
        taught = find_learned_groups(data, graph, self.features, random_state=self.random_state)
        taught = taught.unless_features_tell(data, self.features, self.random_state)
        if why := taught.account(data):
            warn_about_data(why)
        self._learned = taught.of_items(data)

        def near(dataset: Dataset) -> Sparse | None:
            return self._near(dataset, ignore_progress, "linear")

        graph = taught.near(data, graph, near, self.features, self.random_state)
        return graph, taught.followers

    def _reasons_against(self, data: HeteroData) -> list[str]:
        if self.engine != "umap-learn":
            said = "densMAP is umap-learn's: set engine to 'umap-learn'."
            return [said] if self.densmap else []
        found = []
        if data.links:
            found.append("umap-learn's layout knows no links; engine 'hetviz' does.")
        names = [*data.datasets]
        first = set(data[names[0]].ids)
        if len(data.entities) > 1 or any(set(data[name].ids) != first for name in names):
            found.append("umap-learn's layout is of one dataset, or of views of the same items.")
        found += [
            f"{name} has nothing that items are compared by."
            for name in names
            if description_of(data[name], value_for(self.features, name, "auto")) is None
        ]
        return found

    def _as_umap_learn(self, data: HeteroData, progress: Progress) -> Fit:
        """Fit by umap-learn alone; views are put in the order of the first one's ids."""
        names = [*data.datasets]
        ids = data[names[0]].ids
        parts, given = [], []
        y = next(iter(self._target.values()), None)
        owner = next(iter(self._target), names[0])
        if y is not None:
            y = y[data[owner].find(ids)]
        for name in names:
            word = description_of(data[name], value_for(self.features, name, "auto"))
            assert word is not None  # noqa: S101 - `_reasons_against` has seen to it
            X, metric = self._described(data[name].subset(data[name].find(ids)), word)
            parts.append(X)
            given.append(self._settings(metric, y))
        self._learned = []
        progress(0.1, "umap-learn")
        Y = learned_layout(parts, y, given)
        # What `_transform` asks of a dataset beside its links.
        self._alike = dict.fromkeys(names, float(np.log2(self.n_neighbors)))
        n_epochs = self.n_epochs or (500 if len(ids) <= MANY_ROWS else 200)
        row_of = data[names[0]].find
        coordinates = {name: Y[row_of(data[name].ids)] for name in names}
        return Fit(coordinates, n_iter=n_epochs, stopping_reason="all epochs made by umap-learn")

    def _described(self, dataset: Dataset, word: str) -> tuple[Matrix, str]:
        """Return what umap-learn is to compare, and how."""
        if word == "X":
            return features_of(dataset), self.metric
        matrix = np.asarray(getattr(dataset, word), dtype=np.float64)
        if word == "distance":
            return matrix, "precomputed"
        own = np.diag(matrix)
        return np.sqrt(np.maximum(own[:, None] + own - 2 * matrix, 0.0)), "precomputed"

    def _settings(self, metric: str, y: Array | None) -> dict[str, Any]:
        return umap_settings(
            n_neighbors=self.n_neighbors,
            metric=metric,
            random_state=self.random_state,
            n_components=self.n_components,
            min_dist=self.min_dist,
            n_epochs=self.n_epochs,
            densmap=self.densmap,
            target_metric="categorical" if y is None or y.dtype.kind == "i" else "euclidean",
            target_weight=self.target_weight,
        )

    def _known_target(self, data: HeteroData) -> dict[str, Array]:
        """Return the target of the dataset that has one: classes from 0, -1 unknown, or numbers."""
        if self.target is None:
            return {}
        dataset, _, column = self.target.partition(":")
        label = next(
            (
                one
                for one in data.labels
                if one.dataset == dataset and (one.name == column or not column)
            ),
            None,
        )
        if label is None:
            there = ", ".join(f"{one.dataset}:{one.name}" for one in data.labels) or "none"
            raise ParameterError(
                f"umap: target = {self.target!r} is no label of the data; there are: {there}."
            )
        known = label.known
        values = label.values
        if all(isinstance(value, float) for value in values[known]) and known.all():
            return {dataset: values.astype(np.float64)}
        codes = np.full(len(values), -1, dtype=np.int64)
        place = {value: at for at, value in enumerate(label.classes)}
        codes[known] = [place[value] for value in values[known]]
        return {dataset: codes}

    def _graph(self, graph: JointGraph, data: HeteroData) -> Sparse:
        """Return the graph of all rows: fuzzy neighbourhoods, and links as further edges."""
        own = graph.near()
        self._alike = {
            name: float(own[rows].sum() / own[rows].shape[0]) for name, rows in data.offsets.items()
        }
        scale = sp.diags_array(np.repeat(np.sqrt(graph.weights), graph.sizes))
        links = (scale @ graph.positive @ scale) * self.link_strength
        both = fuzzy_union(own, links) if self.link_strength <= 1 else own + links
        both = sp.csr_array(both - both.multiply(abs(graph.negative) > 0))
        both.eliminate_zeros()
        return both

    def _done(self, layout: UmapLayout, placed: PlacedRows, reason: str) -> Fit:
        return Fit(
            placed.by_dataset(layout.positions),
            n_iter=layout.n_iter,
            stopping_reason=reason,
            diagnostics={
                "apart far enough": layout.share_far_enough(),
                "learned": [group.to_dict() for group in self._learned],
            },
            messages=[
                make_diagnostic(
                    "edges",
                    "Neighbours of an item",
                    "Mean number of neighbours that an item has in its own dataset, in the graph "
                    "that is drawn; weak ones count as part of one.",
                    self._alike,
                )
            ],
            components=placed.components,
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {
            name: place_new(
                rows,
                self._fitted,
                self.embedding_.coordinates,
                value_for(self.features, name, "auto"),
                self._alike[name],
                dict.fromkeys(self._fitted, self.link_strength),
            )
            for name, rows in new.items()
        }


def _tells_apart(X: Matrix) -> bool:
    """Whether items differ at all by what is compared; where none does, nothing is near."""
    return bool(X.nnz) if is_sparse(X) else bool((X[0] != X).any())
