"""Collective component analysis (CoCA): components that several sources agree on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats, Ints, Rng, Sparse
from hetviz.algorithms.base import LinearEmbedder
from hetviz.algorithms.contract import ANY_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import left_off_message, warn_about_data
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import SHI_2013
from hetviz.algorithms.shared_params import DrawnBy, FeatureKinds, NComponents, RandomState
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.spectral.coca import coca, learned_weights, relation
from hetviz.core.spectral.sources import FeatureSource, prepare_source
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import ParameterError
from hetviz.features.spaces.basis import Basis
from hetviz.features.spaces.sources import (
    EntitySources,
    entity_sources,
    guidance_pairs,
    labelled_pairs,
)
from hetviz.params import Choice, PerDataset, Real
from hetviz.progress import Progress

# The thesis samples pairs from 30 % of the items. More than 300 items cost time without benefit.
_LABELLED_SHARE, _MAX_LABELLED = 0.3, 300


class CoCA(LinearEmbedder):
    r"""Collective component analysis of each entity from its views and its links.

    Attributes
    ----------
    weights_ : dict of str to dict of str to float
        By entity: the weight of each dataset and of each kind of link.

    Notes
    -----
    max u'(X + M)u, see `hetviz.core.spectral.coca`. Items are matched by id, so views may lack some
    items. An entity with one source gets its principal components. `agreement` chooses between
    equations 4.3 and 4.8 of the thesis, which are not equal, unlike its lemma 1 says:

    .. math::

        \sum_j \omega_j \lVert X_j u_j \rVert^2
        - \alpha \sum_{j, h} \lVert X_j u_j - X_h u_h \rVert^2
        = \sum_j (\omega_j - 2 \alpha (p - 1)) \lVert X_j u_j \rVert^2
        + 2 \alpha \sum_{j \ne h} u_j^\top X_j^\top X_h u_h

    for p sources. Cost: O(n d^2 + d^3) for d features in all.

    References
    ----------
    X. Shi, Heterogeneous learning and its applications, PhD thesis, University of Illinois at
    Chicago, 2013, chapter 4 (collective component analysis): equations 4.2, 4.3, 4.8, 4.14, 4.19.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="coca",
        title="Collective component analysis (CoCA)",
        family="Projection",
        papers=(
            SHI_2013.with_part("chapter 4"),
            Reference(
                "X. Shi and P. S. Yu",
                "Dimensionality reduction on heterogeneous feature space",
                "IEEE International Conference on Data Mining (ICDM)",
                2012,
            ),
        ),
        equation=(
            r"\max_u\ \sum_j \omega_j \lVert X_j u_j \rVert^2"
            r" + \alpha \sum_{j \ne h} u_j^\top X_j^\top X_h u_h"
            r" + \sum_j u_j^\top X_j^\top \bar{M} X_j u_j"
        ),
        needs=(Need.SEVERAL_SOURCES,),
        capabilities=ANY_FEATURES
        | {
            Capability.WITHIN_LINKS,
            Capability.LABELS,
            Capability.FEATURELESS,
            Capability.OUT_OF_SAMPLE,
        },
        summary=(
            "Finds axes that several descriptions of the same items agree on, such as views with "
            "the same ids or links within a dataset. All views of an item share one place."
        ),
        caveats=(
            "If all sources have the same scale, plain principal components are as good with many "
            "axes, and slightly worse with two.",
            "Datasets of different kinds of items share the picture, but their axes mean "
            "different things. Links between them are not used.",
            "Learned weights depend on the given links. They do not rank the sources.",
            "The thesis treats two forms of agreement as equal, but they differ. Agreement by "
            "places shows less of each single source and needs an agreement of about 0.01.",
        ),
        cost="Seconds to 100,000 items of 500 features in all.",
        former_titles=("Collective components",),
    )
    n_components: NComponents = 2
    alpha: Annotated[
        float,
        Real(
            "Agreement",
            "How much sources must agree, compared with showing their own differences.",
            low=0.0,
            high=1e6,
            log=True,
            details="The thesis uses 60.",
        ),
    ] = 1.0
    agreement: Annotated[
        str,
        Choice(
            "Sources agree by",
            "The kind of agreement between sources.",
            options={
                "product": "varying together",
                "difference": "putting an item in the same place",
            },
            advanced=True,
            details=(
                "Equations 4.8 and 4.3 of the thesis. The second also reduces the spread of each "
                "source. An agreement above 1 / (2 p (p - 1)) for p sources then leaves only what "
                "sources share, and few axes or none."
            ),
        ),
    ] = "product"
    weights: Annotated[
        str | float | Mapping[str, float],
        PerDataset(
            "Weight of sources",
            "Equal, learned from known pairs, or set by hand.",
            inner=Real(low=0.0, high=100.0, also=("equal", "learned")),
            details="By hand: a mapping from dataset name to weight. The default weight is 1.",
        ),
    ] = "equal"
    learn_from: Annotated[
        str,
        Choice(
            "Learn weights from",
            "Which items belong together. Used only for learned weights.",
            options={"links": "user links", "labels": "the first label column"},
            details=(
                "User links within the entity, which then are not a source, or pairs among 30 % of "
                "the labelled items."
            ),
        ),
    ] = "links"
    scale: Annotated[
        str,
        Choice(
            "Scale of sources",
            "How sources of different size and units are made comparable.",
            options={
                "block": "equal features and equal sources",
                "norm": "equal sources",
                "zscore": "equal features",
                "none": "no scaling",
            },
            advanced=True,
            details="See `hetviz.core.spectral.sources.prepare_source`. The thesis only centres.",
        ),
    ] = "block"
    weights_in: Annotated[
        str,
        Choice(
            "Weights act on",
            "What the weights of sources change.",
            options={
                "all": "everything",
                "diagonal": "the spread of each source, as in the thesis",
            },
            advanced=True,
            details="Whether weights also change the agreement.",
        ),
    ] = "all"
    constraint: Annotated[
        str,
        Choice(
            "Size of axes fixed",
            "Which axes get a fixed length.",
            options={
                "joint": "over all sources together",
                "rescaled": "over all together, then for each source",
                "block": "for each source",
            },
            advanced=True,
            details="See `hetviz.core.spectral.coca.coca`.",
        ),
    ] = "joint"
    graph_scale: Annotated[
        str,
        Choice(
            "Scale of links",
            "Whether items with many links count more.",
            options={"sym": "all items count the same", "none": "items with many links count more"},
            advanced=True,
            details="See `hetviz.core.spectral.coca.relation`.",
        ),
    ] = "sym"
    output: Annotated[
        str,
        Choice(
            "Place of an item",
            "Whether links also move items after the axes are found.",
            options={
                "mean": "by its features",
                "smoothed": "by its features and those of items linked with it",
            },
            advanced=True,
            details="Only for fitted items.",
        ),
    ] = "mean"
    features: FeatureKinds = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        if isinstance(self.weights, Mapping) and any(
            isinstance(value, str) for value in self.weights.values()
        ):
            raise ParameterError(
                "coca: weights by dataset must be numbers. 'equal' and 'learned' apply to all "
                "datasets."
            )
        self._maps: dict[str, tuple[Basis, LinearMap]] = {}
        self.weights_: dict[str, dict[str, float]] = {}
        coordinates: dict[str, Floats] = {}
        components: dict[str, int] = {}
        for number, entity in enumerate(data.entities):
            progress(number / len(data.entities), f"Components of {entity}")
            sources = entity_sources(data, entity, self.features, self._seed)
            Y = np.full((sources.n_objects, self.n_components), np.nan)
            if sources.bases or sources.graphs:
                Y = self._fit_entity(data, sources)
            else:
                names = list(sources.object_of)
                warn_about_data(left_off_message(names, "no features or links among the items"))
            for name, objects in sources.object_of.items():
                coordinates[name], components[name] = Y[objects], number
        messages = [
            make_diagnostic(
                f"weights of {entity}",
                f"Weight of sources of {entity}",
                "How much each set of features and each kind of links counts in the map.",
                weights,
            )
            for entity, weights in self.weights_.items()
        ]
        return Fit(
            coordinates,
            diagnostics={"weights": self.weights_},
            messages=messages,
            components=components,
        )

    def _fit_entity(self, data: HeteroData, sources: EntitySources) -> Floats:
        prepared = {}
        for name, basis in sources.bases.items():
            # Coordinates of a kernel are not features that could be scaled one by one.
            kernel_scale = {"block": "norm", "zscore": "none"}.get(self.scale, self.scale)
            scale = self.scale if basis.kind == "linear" else kernel_scale
            prepared[name] = prepare_source(*sources.aligned(name), scale)
        pairs = self._pairs(data, sources) if self.weights == "learned" else None
        graphs = dict(sources.graphs)
        if pairs is not None and self.learn_from == "links":
            user_kinds = {group.kind for group in data.links if group.role == "guidance"}
            other_graphs = {kind: A for kind, A in graphs.items() if kind not in user_kinds}
            graphs = other_graphs if other_graphs or prepared else graphs
        relations = {kind: relation(A, self.graph_scale) for kind, A in graphs.items()}
        source_weights, graph_weights = self._weights(prepared, relations, pairs)
        solution = coca(
            list(prepared.values()),
            list(relations.values()),
            self.n_components,
            alpha=self.alpha,
            agreement=self.agreement,
            source_weights=source_weights,
            graph_weights=graph_weights,
            weights_in=self.weights_in,
            constraint=self.constraint,
            output=self.output,
            random_state=self._seed,
        )
        self.weights_[sources.entity] = dict(
            zip([*prepared, *relations], np.r_[source_weights, graph_weights].tolist(), strict=True)
        )
        n_missing_axes = self.n_components - len(solution.values)
        for (name, source), U in zip(prepared.items(), solution.directions, strict=True):
            if U.any():
                wide = np.hstack([U, np.zeros((len(U), n_missing_axes))])
                self._maps[name] = (sources.bases[name], source.map(wide))
        unplaced = np.isnan(solution.scores).any(axis=1, keepdims=True)
        filler = np.repeat(np.where(unplaced, np.nan, 0.0), n_missing_axes, axis=1)
        return np.hstack([solution.scores, filler])

    def _pairs(
        self, data: HeteroData, sources: EntitySources
    ) -> tuple[tuple[Ints, Ints], Floats] | None:
        """Return pairs and signs to learn weights from, or None with a warning."""
        if self.learn_from == "links":
            pairs, signs = guidance_pairs(data, sources)
        else:
            column = next((c for c in data.labels if c.dataset in sources.object_of), None)
            if column is None:
                warn_about_data(
                    f"{sources.entity} has no labels to learn weights from. All sources count the "
                    "same."
                )
                return None
            pairs, signs = labelled_pairs(
                column, sources, _LABELLED_SHARE, _MAX_LABELLED, self._seed
            )
        if not len(signs):
            warn_about_data(
                f"There are no known pairs within {sources.entity}. All sources count the same."
            )
            return None
        return pairs, signs

    def _weights(
        self,
        prepared: Mapping[str, FeatureSource],
        relations: Mapping[str, Sparse],
        pairs: tuple[tuple[Ints, Ints], Floats] | None,
    ) -> tuple[Floats, Floats]:
        if pairs is not None:
            return learned_weights(
                list(prepared.values()),
                list(relations.values()),
                pairs[0],
                pairs[1],
                self.n_components,
            )
        weight_by_dataset = self.weights if isinstance(self.weights, Mapping) else {}
        source_weights = np.array([float(weight_by_dataset.get(name, 1.0)) for name in prepared])
        if len(source_weights) and not source_weights.any():
            raise ParameterError(
                f"coca: weights are 0 for all of {', '.join(prepared)}. Set one weight above 0."
            )
        n_graphs = max(len(relations), 1)
        return source_weights / max(source_weights.sum(), 1e-300), np.full(
            len(relations), 1.0 / n_graphs
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        total: dict[tuple[str, str], Floats] = {}
        count: dict[tuple[str, str], int] = {}
        for name, rows in new.items():
            if name not in self._maps:
                continue
            basis, fitted = self._maps[name]
            places = fitted(basis.matrix_of(rows.dataset))
            for text, y in zip(rows.dataset.ids, places, strict=True):
                key = (rows.dataset.entity, text)
                total[key] = total.get(key, 0.0) + y
                count[key] = count.get(key, 0) + 1
        no_place = np.full(self.n_components, np.nan)
        out = {}
        for name, rows in new.items():
            keys = [(rows.dataset.entity, text) for text in rows.dataset.ids]
            out[name] = np.array(
                [total[key] / count[key] if key in count else no_place for key in keys]
            )
        return out

    def _linear_maps(self) -> Mapping[str, LinearMap]:
        return {
            name: fitted for name, (basis, fitted) in self._maps.items() if basis.kind == "linear"
        }
