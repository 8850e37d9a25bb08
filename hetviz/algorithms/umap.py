"""UMAP of several datasets: one graph of fuzzy neighbourhoods and links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Floats, Ints, Matrix, Rng, Sparse, is_sparse
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import NEIGHBOR_MAP, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import warn_about_data
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import (
    STEPS,
    CannotLinkStrength,
    LearnGroups,
    LinkStrength,
    NComponents,
    NearestItems,
    Pins,
    PinStrength,
    RandomState,
    SimilarityFeatures,
    SimilarityWeights,
    TieStrength,
    TieViews,
)
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
    without_moved,
)
from hetviz.core.layout.pins import tie_to
from hetviz.core.layout.umap import UmapLayout, fuzzy_graph, fuzzy_union, spread_out
from hetviz.core.layout.umap_learn import METRICS, learned_graph, learned_layout, umap_settings
from hetviz.core.spectral.start import complete_layout, spectral_start
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.dataset import features_of
from hetviz.data.model.diagnostics import make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import NotApplicableError, ParameterError
from hetviz.features.relations.user_links import table_links, user_link_weights
from hetviz.features.spaces.affinities import dataset_neighbors, description_of
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.learned_groups import GroupSummary, find_learned_groups
from hetviz.features.spaces.neighbor_map import PlacedRows, place_new
from hetviz.features.spaces.pins import find_pins
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.params import Changed, Choice, Flag, LabelName, Real, value_for
from hetviz.progress import Progress, ProgressPart, ignore_progress, keep_partial

MAX_ROWS_FOR_MANY_EPOCHS = 10_000
"""Maps of more items use fewer epochs."""
_UMAP_LEARN_START_SECONDS = 15.0
"""Time in which umap-learn compiles its loops, in each process."""


class UMAP(BaseEmbedder):
    """Uniform manifold approximation and projection of several datasets and their links.

    Notes
    -----
    Minimises the cross entropy of edges in the graph and in the layout, by sampling edges and
    random pairs. The graph of one dataset, or of views, is that of umap-learn. So is the graph of
    a dataset with links if `metric` or `target` need umap-learn. Otherwise the graph is the same
    with exact neighbours. Links are additional edges. Negative links are no edges but a bounded
    push. The layout supports links, negative links, earlier maps and live frames.
    ``engine="umap-learn"`` uses the layout of umap-learn for one dataset or views of the same
    items, as ``umap.UMAP(...).fit_transform(X)`` does. The layout starts from the slowest modes of
    the graph, or continues from an earlier UMAP with short steps. Time: O(n^2 d) for the
    neighbours, O(edges) per epoch.

    References
    ----------
    McInnes, Healy and Melville, UMAP: uniform manifold approximation and projection for dimension
    reduction, 2018. Several datasets, links and negative links are additions.
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
        capabilities=NEIGHBOR_MAP,
        summary=(
            "Puts each item close to similar items and to linked items, in dense groups with gaps "
            "between them. A well-known method to compare others with."
        ),
        caveats=(
            "Close items are similar. Gaps between far groups and the size of a group mean "
            "nothing.",
            "Datasets without links between them share the picture but are not compared.",
        ),
        cost="A few seconds for 2,000 items, a minute for 20,000.",
    )
    memory_estimate = MemoryEstimate(base=20e6, per_row=13e3)

    @classmethod
    def start_seconds(cls, data: HeteroData) -> float:
        return 0.0 if data.links else _UMAP_LEARN_START_SECONDS

    n_components: Annotated[NComponents, Changed(high=3)] = 2
    n_neighbors: Annotated[
        NearestItems,
        Changed(
            help="How many neighbours of each item count. Fewer show finer groups.",
            low=2,
            high=500,
            details="Within its dataset, including the item itself.",
        ),
    ] = 15
    min_dist: Annotated[
        float, Real("Minimum distance", "How close items may be on the map.", low=0.0, high=2.0)
    ] = 0.1
    link_strength: Annotated[
        LinkStrength,
        Changed(
            help="How much a link counts compared with a nearest neighbour.",
            details="The membership of a link of weight 1. That of a nearest neighbour is 1.",
        ),
    ] = 1.0
    weights: SimilarityWeights = 1.0
    features: SimilarityFeatures = "auto"
    cannot_link_strength: Annotated[
        CannotLinkStrength,
        Changed(details="How far each epoch moves such pairs towards a distance of half a radius."),
    ] = 1.0
    learn_groups: LearnGroups = True
    pins: Pins = None
    pin_strength: Annotated[
        PinStrength,
        Changed(details="The share of the missing distance that each epoch moves pinned items."),
    ] = 0.5
    tie: Annotated[
        TieStrength,
        Changed(
            details=(
                "The share of the way back that each epoch moves tied items. It acts if the "
                "earlier map is by the same method, and not together with pins. See "
                "`hetviz.embed_periods`."
            )
        ),
    ] = 0.0
    metric: Annotated[
        str,
        Choice(
            "Distance",
            "How the distance between two items is computed from their features.",
            options=METRICS,
            advanced=True,
            details="Kernels and distances of a dataset are used as given.",
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
                '``"dataset:column"``. Missing labels count as unknown. A label with fractions is '
                "a number."
            ),
        ),
    ] = None
    target_weight: Annotated[
        float,
        Real(
            "Weight of the label",
            "How much the label counts compared with the features.",
            low=0.0,
            high=1.0,
            advanced=True,
        ),
    ] = 0.5
    engine: Annotated[
        str,
        Choice(
            "Layout program",
            "The program that computes the layout.",
            options={
                "hetviz": "hetviz: links, apart links, live layout",
                "umap-learn": "umap-learn: one dataset, or views of the same items",
            },
            advanced=True,
        ),
    ] = "hetviz"
    densmap: Annotated[
        bool,
        Flag(
            "Keep densities",
            "Dense groups stay dense, and sparse groups stay sparse (densMAP).",
            advanced=True,
            details="Only with engine = 'umap-learn'.",
        ),
    ] = False
    tie_views: TieViews = True
    n_epochs: Annotated[
        int | None,
        STEPS,
        Changed(
            label="Epochs",
            help="Number of rounds of the layout.",
            low=10,
            also=(None,),
            details="None means 500, or 200 above 10,000 items.",
        ),
    ] = None
    random_state: RandomState = 0

    @classmethod
    def warm_up(cls) -> None:
        """Load the compiled kernels, so that the next fit starts faster."""
        rng = np.random.default_rng(0)
        index = np.add.outer(np.arange(8), np.array([1, 2])) % 8
        graph = fuzzy_graph(Neighbors(index.astype(np.int64), rng.random((8, 2))))
        UmapLayout(graph, rng.standard_normal((8, 2)), n_epochs=2).run()

    def _fit_from(
        self, data: HeteroData, rng: Rng, progress: Progress, start: Embedding | None
    ) -> Fit:
        self._target = self._known_target(data)
        if self.engine == "umap-learn":
            return self._fit_umap_learn(data, progress)
        if start is None:
            start = self._landmark_map(data, ProgressPart(progress, 0.0, 0.1))
        part = ProgressPart(progress, 0.1, 0.3)
        self._alone = not data.links
        graph = joint_graph(data, self._fuzzy_neighbors, part, self.tie_views, self.weights)
        graph, followers = self._with_learned_groups(data, graph)
        placed = PlacedRows.by(self._graph(graph, data), data)
        if not placed.mask.any():
            reason = "All items have equal or no features, and no link counts."
            raise NotApplicableError(self.card.title, [reason])
        progress(0.3, "Finding a start")
        n_epochs = self.n_epochs or (500 if len(placed.mask) <= MAX_ROWS_FOR_MANY_EPOCHS else 200)
        speed = 1.0
        start_places = (
            placed.earlier(coordinates_of(data, start), self.n_components) if start else None
        )
        pins = find_pins(data, self.pins, self.pin_strength, placed.mask)
        is_tied = bool(self.tie) and pins is None and self._is_own_map(start)
        if start_places is not None and is_tied:
            start_places = without_moved(placed.graph, start_places)
            pins = tie_to(start_places, self.tie)
        if start_places is None:
            Y = spread_out(spectral_start(placed.graph, self.n_components, rng), rng)
        else:
            Y = complete_layout(placed.graph, start_places, rng)
            if self._is_own_map(start):
                n_epochs, speed = max(n_epochs // 10, 1), 0.05
                # Attraction fades with distance, so linked items start together.
                user_affinities = placed.among(user_link_weights(data))
                strong_links = table_links(data).among(placed.mask)
                user_affinities = guidance_affinities(
                    placed.graph, user_affinities, bonds=strong_links.share
                )
                Y = move_linked_together(
                    user_affinities, placed.graph, Y, strong_links.links, strong_links.share
                )
                Y = move_similar_along(placed.graph, Y, placed.numbers(followers))
            else:
                Y = spread_out(Y, rng)
        if pins is not None:
            if start_places is None:
                Y = pins.turned(Y)
            elif self._is_own_map(start) and not is_tied:
                Y = pins.moved(Y)
        rows_a, rows_b, weight = placed.pairs(graph.negative)
        layout = UmapLayout(
            placed.graph,
            Y,
            n_epochs=n_epochs,
            min_dist=self.min_dist,
            speed=speed,
            apart=(rows_a, rows_b, self.cannot_link_strength * weight),
            pins=pins,
            random_state=self._seed,
        )

        def stopped_fit(_: object) -> Fit:
            return self._make_fit(layout, placed, f"stopped after {layout.n_iter:,} epochs")

        with keep_partial(stopped_fit):
            layout.run(ProgressPart(progress, 0.35, 0.95), placed.whole)
        return self._make_fit(layout, placed, "all epochs finished")

    def _attraction_graph(self, data: HeteroData) -> AttractionGraph | None:
        if self.engine == "umap-learn":
            return None
        self._target = self._known_target(data)
        self._alone = not data.links
        graph, _ = self._with_learned_groups(
            data,
            joint_graph(data, self._fuzzy_neighbors, ignore_progress, self.tie_views, self.weights),
        )
        edges = self._graph(graph, data)
        neighbor_edges = edges.minimum(sp.csr_array(graph.near()))
        link_edges = sp.csr_array(edges - neighbor_edges)
        user_edges = sp.csr_array(link_edges.multiply(user_link_weights(data) > 0))
        parts = {
            NEIGHBOUR: sp.csr_array(neighbor_edges),
            LINK: sp.csr_array(link_edges - user_edges),
            STATEMENT: user_edges,
        }
        return AttractionGraph(parts, umap_stiffness(self.min_dist))

    def _fuzzy_neighbors(
        self, dataset: Dataset, progress: Progress, kind: str | None = None
    ) -> Sparse | None:
        n = len(dataset)
        if n < MIN_ROWS or value_for(self.weights, dataset.name, 1.0) <= 0:
            return None
        matrix_name = description_of(dataset, value_for(self.features, dataset.name, "auto"))
        needs_umap_learn = self.metric != "euclidean" or dataset.name in self._target
        use_umap_learn = kind is None and matrix_name is not None and n > self.n_neighbors
        if use_umap_learn and (self._alone or needs_umap_learn):
            X, metric = self._matrix_and_metric(dataset, str(matrix_name))
            if _has_distinct_rows(X):
                y = self._target.get(dataset.name)
                return learned_graph(X, y, self._settings(metric, y))
        kind = kind or value_for(self.features, dataset.name, "auto")
        k = min(self.n_neighbors, n) - 1
        neighbors = dataset_neighbors(dataset, k, kind, self._seed, progress)
        return None if neighbors is None else fuzzy_graph(neighbors)

    def _with_learned_groups(
        self, data: HeteroData, graph: JointGraph
    ) -> tuple[JointGraph, list[tuple[Ints, Ints]]]:
        """Return the graph with neighbours by learned groups, and the pairs of followers."""
        self._learned: list[GroupSummary] = []
        if not self.learn_groups:
            return graph, []
        learned = find_learned_groups(data, graph, self.features, random_state=self._seed)
        learned = learned.drop_predicted_by_features(data, self.features, self._seed)
        if message := learned.account(data):
            warn_about_data(message)
        self._learned = learned.of_items(data)

        def linear_neighbors(dataset: Dataset) -> Sparse | None:
            return self._fuzzy_neighbors(dataset, ignore_progress, "linear")

        graph = learned.near(data, graph, linear_neighbors, self.features, self._seed)
        return graph, learned.followers

    def _reasons_against(self, data: HeteroData) -> list[str]:
        if self.engine != "umap-learn":
            reason = "densMAP needs umap-learn. Set engine to 'umap-learn'."
            return [reason] if self.densmap else []
        reasons = []
        if self.pins:
            reasons.append("The layout of umap-learn cannot pin items. Set engine to 'hetviz'.")
        if data.links:
            reasons.append("The layout of umap-learn cannot use links. Set engine to 'hetviz'.")
        names = [*data.datasets]
        first_ids = set(data[names[0]].ids)
        if len(data.entities) > 1 or any(set(data[name].ids) != first_ids for name in names):
            reasons.append(
                "The layout of umap-learn needs one dataset, or views of the same items."
            )
        reasons += [
            f"{name} has no features, kernel or distances to compare items by."
            for name in names
            if description_of(data[name], value_for(self.features, name, "auto")) is None
        ]
        return reasons

    def _fit_umap_learn(self, data: HeteroData, progress: Progress) -> Fit:
        """Fit with the layout of umap-learn. Views are sorted by the ids of the first one."""
        names = [*data.datasets]
        ids = data[names[0]].ids
        matrices, settings = [], []
        y = next(iter(self._target.values()), None)
        target_dataset = next(iter(self._target), names[0])
        if y is not None:
            y = y[data[target_dataset].find(ids)]
        for name in names:
            matrix_name = description_of(data[name], value_for(self.features, name, "auto"))
            assert matrix_name is not None  # noqa: S101 - checked by `_reasons_against`
            X, metric = self._matrix_and_metric(
                data[name].subset(data[name].find(ids)), matrix_name
            )
            matrices.append(X)
            settings.append(self._settings(metric, y))
        self._learned = []
        progress(0.1, "umap-learn")
        Y = learned_layout(matrices, y, settings)
        # `_transform` uses this weight of a dataset.
        self._alike = dict.fromkeys(names, float(np.log2(self.n_neighbors)))
        n_epochs = self.n_epochs or (500 if len(ids) <= MAX_ROWS_FOR_MANY_EPOCHS else 200)
        row_of = data[names[0]].find
        coordinates = {name: Y[row_of(data[name].ids)] for name in names}
        return Fit(
            coordinates, n_iter=n_epochs, stopping_reason="all epochs finished by umap-learn"
        )

    def _matrix_and_metric(self, dataset: Dataset, matrix_name: str) -> tuple[Matrix, str]:
        """Return the matrix and the metric for umap-learn."""
        if matrix_name == "X":
            return features_of(dataset), self.metric
        matrix = np.asarray(getattr(dataset, matrix_name), dtype=np.float64)
        if matrix_name == "distance":
            return matrix, "precomputed"
        diagonal = np.diag(matrix)
        return np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2 * matrix, 0.0)), "precomputed"

    def _settings(self, metric: str, y: Array | None) -> dict[str, Any]:
        return umap_settings(
            n_neighbors=self.n_neighbors,
            metric=metric,
            random_state=self._seed,
            n_components=self.n_components,
            min_dist=self.min_dist,
            n_epochs=self.n_epochs,
            densmap=self.densmap,
            target_metric="categorical" if y is None or y.dtype.kind == "i" else "euclidean",
            target_weight=self.target_weight,
        )

    def _known_target(self, data: HeteroData) -> dict[str, Array]:
        """Return the target by dataset: classes from 0, -1 for unknown, or numbers."""
        if self.target is None:
            return {}
        dataset, _, column = self.target.partition(":")
        label = next(
            (
                candidate
                for candidate in data.labels
                if candidate.dataset == dataset and (candidate.name == column or not column)
            ),
            None,
        )
        if label is None:
            available = (
                ", ".join(f"{candidate.dataset}:{candidate.name}" for candidate in data.labels)
                or "none"
            )
            raise ParameterError(
                f"umap: target = {self.target!r} is not a label of the data. "
                f"Available: {available}."
            )
        is_known = label.known
        values = label.values
        if all(isinstance(value, float) for value in values[is_known]) and is_known.all():
            return {dataset: values.astype(np.float64)}
        codes = np.full(len(values), -1, dtype=np.int64)
        code_of = {value: code for code, value in enumerate(label.classes)}
        codes[is_known] = [code_of[value] for value in values[is_known]]
        return {dataset: codes}

    def _graph(self, graph: JointGraph, data: HeteroData) -> Sparse:
        """Return the graph of all rows: fuzzy neighbourhoods, with links as additional edges."""
        neighbor_edges = graph.near()
        self._alike = {
            name: float(neighbor_edges[rows].sum() / neighbor_edges[rows].shape[0])
            for name, rows in data.offsets.items()
        }
        scale = sp.diags_array(np.repeat(np.sqrt(graph.weights), graph.sizes))
        links = (scale @ graph.positive @ scale) * self.link_strength
        edges = (
            fuzzy_union(neighbor_edges, links)
            if self.link_strength <= 1
            else neighbor_edges + links
        )
        edges = sp.csr_array(edges - edges.multiply(abs(graph.negative) > 0))
        edges.eliminate_zeros()
        return edges

    def _make_fit(self, layout: UmapLayout, placed: PlacedRows, reason: str) -> Fit:
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
                    "Mean number of neighbours of an item in its own dataset, in the graph of the "
                    "map. Weak neighbours count in part.",
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


def _has_distinct_rows(X: Matrix) -> bool:
    """Whether items differ. Equal items have no neighbours."""
    return bool(X.nnz) if is_sparse(X) else bool((X[0] != X).any())
