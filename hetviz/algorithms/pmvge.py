"""PMvGE: one small network per dataset, whose outputs predict links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from hetviz._types import Bools, Floats, Rng, Sparse
from hetviz.algorithms.base import LinearEmbedder
from hetviz.algorithms.contract import LINKED_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import warn_unplaced
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import (
    DrawnBy,
    FeatureKinds,
    NComponents,
    NIter,
    Perplexity,
    RandomState,
    TieViews,
)
from hetviz.core.graph.affinities import symmetric_affinities
from hetviz.core.prediction.pmvge import (
    SIMILARITIES,
    LinkSampling,
    Net,
    Objective,
    TrainingResult,
    make_link_block,
    train,
)
from hetviz.core.spectral.blocks import LinearMap
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.diagnostics import SHARE, Diagnostic, make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.errors import NotApplicableError
from hetviz.features.interpretation import deviations, feature_names
from hetviz.features.relations.pairing import connected_datasets
from hetviz.features.spaces.affinities import own_affinities
from hetviz.features.spaces.basis import chosen_kind, fit_basis
from hetviz.features.spaces.inputs import LeadingFeatures
from hetviz.params import Changed, Choice, Flag, Integer, Real
from hetviz.progress import Progress, ProgressPart, keep_partial

MAX_INPUTS = 256
WITHIN_OPTIONS = {
    "sn_graph": "link nearest neighbours by features",
    "second_order": "link items with a common linked item",
    "ignored": "add nothing",
}
_ADDED_LINK_TITLES = {"sn_graph": "similar features", "second_order": "common linked items"}


class PMvGE(LinearEmbedder):
    """Probabilistic multi-view graph embedding.

    Attributes
    ----------
    biases_ : dict of (str, str) to float
        Logit of a pair of two datasets at distance 0.
    explained_ : dict of str to float
        By kind of links: how much better places separate links from other pairs than their number
        does. See `hetviz.core.prediction.pmvge.Objective.explained`.

    Notes
    -----
    See `hetviz.core.prediction.pmvge`. Up to 8 million pairs the loss is exact and minimised by
    L-BFGS. Above that, links and other pairs are sampled. Negative links are not used. Items of a
    featureless dataset without links have no place. Exact: O(pairs k) per iteration.

    References
    ----------
    A. Okuno, T. Hada and H. Shimodaira, A probabilistic framework for multi-view feature learning
    with many-to-many associations via neural networks, 2018; with the graphs within datasets of
    Stochastic neighbor embedding of multimodal relational data.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="pmvge",
        title="Probabilistic multi-view graph embedding (PMvGE)",
        family="Links and scores",
        papers=(
            Reference(
                "A. Okuno, T. Hada and H. Shimodaira",
                (
                    "A probabilistic framework for multi-view feature learning with "
                    "many-to-many associations via neural networks"
                ),
                "International Conference on Machine Learning (ICML)",
                2018,
                arxiv="1802.04630",
            ),
        ),
        equation=(
            r"P(w_{ij} = 1) = \sigma\left(b_{de} - \lVert f_d(x_i) - f_e(x_j) \rVert^2\right)"
        ),
        needs=(Need.POSITIVE_LINKS,),
        capabilities=LINKED_FEATURES | {Capability.WITHIN_LINKS, Capability.ITERATIVE},
        summary=(
            "Trains a small network for each dataset that turns features into places, so that "
            "linked items are close. New items get their place from features alone."
        ),
        caveats=(
            "If links mean the same direction, datasets end up in separate parts of the picture.",
            "A network can fit links that its features cannot predict. Check with hidden links.",
            "Apart links are not used.",
        ),
        cost="15 seconds for 1,000 items, half a minute for 2,500.",
        former_titles=("Networks that predict links (PMvGE)",),
    )
    memory_estimate = MemoryEstimate(per_row=25e3)
    n_components: NComponents = 2
    similarity: Annotated[
        str,
        Choice("Linked items are", "The meaning of a link on the map.", options=SIMILARITIES),
    ] = "distance"
    within: Annotated[
        str,
        Choice(
            "Within a dataset",
            "Which links are added within each dataset.",
            options=WITHIN_OPTIONS,
            details="In addition to the given links.",
        ),
    ] = "sn_graph"
    within_weight: Annotated[
        float,
        Real(
            "Weight within a dataset",
            "How much added links count compared with links between datasets.",
            low=0.0,
            high=100.0,
        ),
    ] = 1.0
    hidden: Annotated[
        int,
        Integer(
            "Hidden units",
            "How nonlinear the maps may be. 0 is linear.",
            low=0,
            high=2_000,
            details="Units between features and places.",
        ),
    ] = 64
    perplexity: Annotated[
        Perplexity, Changed(help="How many neighbours of each item count.", advanced=True)
    ] = 30.0
    features: Annotated[
        FeatureKinds,
        Changed(
            help="The input of the network of a dataset.",
            details="Its 256 leading principal components. Items of datasets without features have "
            "free places.",
        ),
    ] = "auto"
    bias: Annotated[
        bool,
        Flag(
            "Learn the frequency of links",
            "Switched off, it is as in the paper, and items crowd together.",
            advanced=True,
            details=(
                "For each two datasets. Without it, no distance makes a link more likely than not."
            ),
        ),
    ] = True
    negatives: Annotated[
        int,
        Integer(
            "Pairs without a link",
            "How many unlinked pairs count for each link. More push items farther from each other.",
            low=1,
            high=100,
            advanced=True,
        ),
    ] = 5
    decay: Annotated[
        float,
        Real(
            "Weight decay",
            "How strongly weights are reduced. More makes smoother maps.",
            low=0.0,
            high=1.0,
            advanced=True,
        ),
    ] = 1e-4
    n_iter: NIter = 150
    tie_views: TieViews = True
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        names = list(data.datasets)
        linked = with_identity_links(data) if self.tie_views else data
        W = linked.adjacency(1)
        self._components = connected_datasets(data, W)
        self._inputs: dict[str, LeadingFeatures] = {}
        nets = []
        for name, dataset in data.datasets.items():
            progress(0.0, f"Reading features of {name}")
            kind = chosen_kind(dataset, self.features)
            X = None
            if kind != "featureless" and not (kind == "auto" and dataset.is_featureless):
                basis = fit_basis(dataset, kind, self._seed)
                self._inputs[name] = LeadingFeatures.fit(basis, MAX_INPUTS)
                X = self._inputs[name].features
            nets.append(Net(X, len(dataset), self.hidden, self.n_components))
        blocks = self._blocks(data, W, progress)
        if not blocks:
            raise NotApplicableError(self.card.title, ["There are no links that count."])
        masks = self._placed_masks(data, blocks)
        model = Objective(
            nets,
            blocks,
            self.similarity,
            bias=self.bias,
            negatives=self.negatives,
            decay=self.decay,
        )

        def places(flat: Floats) -> dict[str, Floats]:
            return {
                name: np.where(mask[:, None], Y, np.nan)
                for name, mask, Y in zip(names, masks, model.outputs(flat), strict=True)
            }

        def make_fit(result: TrainingResult) -> Fit:
            return self._make_fit(data, model, result, places)

        with keep_partial(lambda result: result and make_fit(result)):
            result = train(
                model,
                rng,
                self.n_iter,
                progress=ProgressPart(progress, 0.05, 1.0),
                layout=lambda flat: np.vstack(list(places(flat).values())),
            )
        return make_fit(result)

    def _blocks(self, data: HeteroData, W: Sparse, progress: Progress) -> list[LinkSampling]:
        blocks, self._kinds = [], []
        spans = list(data.offsets.items())
        for d, (name, rows) in enumerate(spans):
            progress(0.0, f"Neighbours in {name}")
            added = self._added_links(data, name, rows, W)
            if added is not None and added.nnz and self.within_weight > 0:
                blocks.append(make_link_block(d, d, added, self.within_weight))
                self._kinds.append(f"{name}, {_ADDED_LINK_TITLES[self.within]}")
            for e in range(d, len(spans)):
                part = sp.csr_array(W[rows][:, spans[e][1]])
                if part.nnz:
                    blocks.append(make_link_block(d, e, part))
                    self._kinds.append(f"{name} - {spans[e][0]}")
        return blocks

    def _added_links(self, data: HeteroData, name: str, rows: slice, W: Sparse) -> Sparse | None:
        """Return the links added within a dataset, or None."""
        if self.within == "ignored":
            return None
        if self.within == "sn_graph":
            affinities = own_affinities(data[name], self.perplexity, random_state=self._seed)
            return None if affinities is None else symmetric_affinities(affinities)
        others = np.ones(data.n_rows)
        others[rows] = 0.0
        across = sp.csr_array(W[rows] @ sp.diags_array(others))
        shared = sp.csr_array(across @ across.T)
        shared.setdiag(0.0)
        shared.eliminate_zeros()
        return shared

    def _placed_masks(self, data: HeteroData, blocks: list[LinkSampling]) -> list[Bools]:
        masks = []
        for d, (name, dataset) in enumerate(data.datasets.items()):
            mask = np.full(len(dataset), name in self._inputs)
            for block in blocks:
                if name not in self._inputs:
                    mask |= (block.u > 0) if block.d == d else False
                    mask |= (block.v > 0) if block.e == d else False
            warn_unplaced(int((~mask).sum()), name, "no features and no links")
            masks.append(mask)
        return masks

    def _make_fit(
        self,
        data: HeteroData,
        model: Objective,
        result: TrainingResult,
        places: Callable[[Floats], Mapping[str, Floats]],
    ) -> Fit:
        names = list(data.datasets)
        weights, bias = model.split(result.flat)
        self._model, self._weights = model, dict(zip(names, weights, strict=True))
        self.biases_ = {}
        for block, value in zip(model.blocks, bias.tolist(), strict=True):
            # Within a dataset, given links come last and set the bias.
            self.biases_[names[block.d], names[block.e]] = value
        Y = places(result.flat)
        kinds = self._kinds
        parts = model.explained(result.flat, np.random.default_rng(self._seed))
        self.explained_ = {kind: share for kind, (_, share) in zip(kinds, parts, strict=True)}
        total_loss = sum(loss for loss, _ in parts) or 1.0
        centre = {
            name: np.nanmean(coordinates, axis=0)
            for name, coordinates in Y.items()
            if np.isfinite(coordinates).any()
        }
        return Fit(
            Y,
            n_iter=max(len(result.history) - 1, 0),
            loss_history=result.history,
            stopping_reason=result.reason,
            diagnostics={
                "bias": {" - ".join(ends): b for ends, b in self.biases_.items()},
                "explained": self.explained_,
            },
            messages=[
                make_diagnostic(
                    "explained",
                    "How well places predict links",
                    "How much better places tell links from other pairs than the overall share of "
                    "links does: 0 is no better, 1 is perfect. These are training links. Hide "
                    "links to test others.",
                    self.explained_,
                ),
                make_diagnostic(
                    "loss by kind",
                    "Remaining error",
                    "Share of each kind of links in the remaining error. The kind with the largest "
                    "share is shown worst and pulls hardest.",
                    {kind: loss / total_loss for kind, (loss, _) in zip(kinds, parts, strict=True)},
                    SHARE,
                ),
                make_diagnostic(
                    "bias",
                    "Frequency of links",
                    "Log odds that a pair at the same place is a link and not a random pair. Below "
                    "0 such a pair is more likely not linked.",
                    {" - ".join(ends): b for ends, b in self.biases_.items()},
                )
                if self.bias
                else make_diagnostic("bias", "", "", {}),
                make_diagnostic(
                    "spread",
                    "Spread of each dataset",
                    "Root mean square distance of its items from their centre, in map units. A "
                    "dataset with much less spread than the others hardly separates its items.",
                    {
                        name: float(np.sqrt(np.nanmean(((Y[name] - middle) ** 2).sum(axis=1))))
                        for name, middle in centre.items()
                    },
                ),
                *self._importances(data),
            ],
            components=self._components,
        )

    def _importances(self, data: HeteroData) -> list[Diagnostic]:
        """Return how far each feature moves items, for each dataset with plain features."""
        messages = []
        for net, (name, weights) in zip(self._model.nets, self._weights.items(), strict=True):
            inputs = self._inputs.get(name)
            if inputs is None or inputs.basis.kind != "linear":
                continue
            movement = net.reach(weights, inputs.axes) * deviations(data[name])
            names = feature_names(data[name])
            messages.append(
                make_diagnostic(
                    f"importances of {name}",
                    f"Importance of the features of {name}",
                    "How far an item moves when a feature changes by one standard deviation: the "
                    "slope at its place, in map units, as a root mean square over items.",
                    zip(names, movement.tolist(), strict=True),
                )
            )
        return messages

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return sigmoid(l): the probability of a link against a random pair, shape (n, m)."""
        ends = source.name, target.name
        bias = self.biases_.get(ends, self.biases_.get(ends[::-1], 0.0))
        return np.asarray(expit(self._model.logits(Y_source, Y_target, bias)))

    def _linear_maps(self) -> Mapping[str, LinearMap]:
        maps = {}
        for net, (name, weights) in zip(self._model.nets, self._weights.items(), strict=True):
            inputs = self._inputs.get(name)
            if inputs is not None and inputs.basis.kind == "linear" and not net.hidden:
                W, offset = net.split(weights)
                centred = LinearMap(inputs.axes @ W, inputs.centre, 0.0)
                # The features that the offset places at 0.
                maps[name] = replace(centred, centre=centred.inverse(-offset))
        return maps

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {name: self._place(name, rows.dataset) for name, rows in new.items()}

    def _place(self, name: str, rows: Dataset) -> Floats:
        inputs = self._inputs.get(name)
        if inputs is None:
            return np.full((len(rows), self.n_components), np.nan)
        net = self._model.nets[list(self._fitted).index(name)]
        return net.forward(self._weights[name], inputs.of(rows))[0]
