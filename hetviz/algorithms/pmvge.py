"""PMvGE: small networks, one for each dataset, whose outputs predict links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from hetviz._types import Bools, Floats, Sparse
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
from hetviz.algorithms.shared_params import DrawnBy, NComponents, RandomState, TieViews
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
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.diagnostics import SHARE, Diagnostic, make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.features.interpretation import deviations, feature_names
from hetviz.features.relations.link_scores import connected_datasets
from hetviz.features.spaces.affinities import own_affinities
from hetviz.features.spaces.basis import KINDS, chosen_kind, fit_basis
from hetviz.features.spaces.inputs import LeadingFeatures
from hetviz.params import Choice, Flag, Integer, PerDataset, Real
from hetviz.progress import Progress, ProgressPart

MOST_INPUTS = 256
WITHIN = {
    "sn_graph": "its nearest neighbours by features are linked too",
    "second_order": "items linked with the same others are linked too",
    "ignored": "nothing is added",
}
_ADDED = {"sn_graph": "alike by features", "second_order": "linked with the same"}


class PMvGE(BaseEmbedder):
    """Probabilistic multi-view graph embedding.

    Attributes
    ----------
    biases_ : dict of (str, str) to float
        How likely links of two datasets are: the logit of a pair at distance 0.
    explained_ : dict of str to float
        By kind of links: how much better places tell them from other pairs than their number does,
        see `hetviz.core.prediction.pmvge.Objective.explained`.

    Notes
    -----
    See `hetviz.core.prediction.pmvge`: up to 8 million pairs the loss is exact and minimised by
    L-BFGS; above, links and other pairs are drawn. Links that say apart are not used. An item of a
    featureless dataset without links has no place. Exact: O(pairs k) per iteration.

    References
    ----------
    A. Okuno, T. Hada and H. Shimodaira, A probabilistic framework for multi-view feature learning
    with many-to-many associations via neural networks, 2018; with the graphs within datasets of
    Stochastic neighbor embedding of multimodal relational data.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="pmvge",
        title="Networks that predict links (PMvGE)",
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
        capabilities=frozenset(
            {
                Capability.LINKS,
                Capability.WITHIN_LINKS,
                Capability.VIEWS,
                Capability.KERNELS,
                Capability.DISTANCES,
                Capability.FEATURELESS,
                Capability.SPARSE,
                Capability.OUT_OF_SAMPLE,
                Capability.ITERATIVE,
            }
        ),
        summary=(
            "Learns for each dataset how features turn into places, so that linked items come "
            "near each other. New items get their places from features alone."
        ),
        caveats=(
            "With the similarity of directions, datasets end in separate parts of the picture.",
            "A network can fit links that its features cannot predict; judge it by held-out links.",
            "Links that say apart are not used.",
        ),
        cost="15 seconds for 1,000 items, half a minute for 2,500.",
    )
    memory_estimate = MemoryEstimate(per_row=25e3)
    n_components: NComponents = 2
    similarity: Annotated[
        str,
        Choice(
            "Linked items lie",
            "What a link means on the map.",
            options=SIMILARITIES,
        ),
    ] = "distance"
    within: Annotated[
        str,
        Choice(
            "Within a dataset",
            "What is added to the links within each dataset.",
            options=WITHIN,
            details="Besides the links that there are.",
        ),
    ] = "sn_graph"
    within_weight: Annotated[
        float,
        Real(
            "Weight within a dataset",
            "How much that counts beside links between datasets.",
            low=0.0,
            high=100.0,
        ),
    ] = 1.0
    hidden: Annotated[
        int,
        Integer(
            "Hidden units",
            "How bent the maps may be; 0 is straight.",
            low=0,
            high=2_000,
            details="Units between features and places.",
        ),
    ] = 64
    perplexity: Annotated[
        float,
        Real(
            "Neighbours",
            "About how many neighbours of each item count.",
            low=2.0,
            high=500.0,
            log=True,
            advanced=True,
        ),
    ] = 30.0
    features: Annotated[
        str | Mapping[str, str],
        PerDataset(
            "Features",
            "What the networks see of a dataset.",
            inner=Choice(options=KINDS),
            advanced=True,
            details=(
                "Their 256 leading principal components. Items of datasets without features have "
                "free places."
            ),
        ),
    ] = "auto"
    bias: Annotated[
        bool,
        Flag(
            "Learn how common links are",
            "Off is as in the paper, where items then crowd together.",
            advanced=True,
            details=(
                "For each two datasets; without it a distance never makes a link likelier than not."
            ),
        ),
    ] = True
    negatives: Annotated[
        int,
        Integer(
            "Pairs without a link",
            "How many count for each link; more push items farther apart.",
            low=1,
            high=100,
            advanced=True,
        ),
    ] = 5
    decay: Annotated[
        float,
        Real(
            "Decay",
            "How strongly weights are held down; more makes smoother maps.",
            low=0.0,
            high=1.0,
            advanced=True,
        ),
    ] = 1e-4
    n_iter: Annotated[
        int,
        Integer(
            "Iterations",
            "Most steps taken.",
            low=1,
            high=10_000,
            advanced=True,
        ),
    ] = 150
    tie_views: TieViews = True
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
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
                basis = fit_basis(dataset, kind, self.random_state)
                self._inputs[name] = LeadingFeatures.fit(basis, MOST_INPUTS)
                X = self._inputs[name].features
            nets.append(Net(X, len(dataset), self.hidden, self.n_components))
        blocks = self._blocks(data, W, progress)
        if not blocks:
            raise NotApplicableError(self.card.title, ["No link counts."])
        there = self._there(data, blocks)
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
                for name, mask, Y in zip(names, there, model.outputs(flat), strict=True)
            }

        try:
            found = train(
                model,
                rng,
                self.n_iter,
                progress=ProgressPart(progress, 0.05, 1.0),
                layout=lambda flat: np.vstack(list(places(flat).values())),
            )
        except Cancelled as stopped:
            if isinstance(stopped.partial, TrainingResult):
                stopped.partial = self._make_fit(data, model, stopped.partial, places)
            raise
        return self._make_fit(data, model, found, places)

    def _blocks(self, data: HeteroData, W: Sparse, progress: Progress) -> list[LinkSampling]:
        blocks, self._kinds = [], []
        spans = list(data.offsets.items())
        for d, (name, rows) in enumerate(spans):
            progress(0.0, f"Neighbours in {name}")
            extra = self._added(data, name, rows, W)
            if extra is not None and extra.nnz and self.within_weight > 0:
                blocks.append(make_link_block(d, d, extra, self.within_weight))
                self._kinds.append(f"{name}, {_ADDED[self.within]}")
            for e in range(d, len(spans)):
                part = sp.csr_array(W[rows][:, spans[e][1]])
                if part.nnz:
                    blocks.append(make_link_block(d, e, part))
                    self._kinds.append(f"{name} - {spans[e][0]}")
        return blocks

    def _added(self, data: HeteroData, name: str, rows: slice, W: Sparse) -> Sparse | None:
        """Return what stands for links within a dataset, or None."""
        if self.within == "ignored":
            return None
        if self.within == "sn_graph":
            near = own_affinities(data[name], self.perplexity, random_state=self.random_state)
            return None if near is None else symmetric_affinities(near)
        others = np.ones(data.n_rows)
        others[rows] = 0.0
        across = sp.csr_array(W[rows] @ sp.diags_array(others))
        product = sp.csr_array(across @ across.T)
        product.setdiag(0.0)
        product.eliminate_zeros()
        return product

    def _there(self, data: HeteroData, blocks: list[LinkSampling]) -> list[Bools]:
        there = []
        for d, (name, dataset) in enumerate(data.datasets.items()):
            mask = np.full(len(dataset), name in self._inputs)
            for block in blocks:
                if name not in self._inputs:
                    mask |= (block.u > 0) if block.d == d else False
                    mask |= (block.v > 0) if block.e == d else False
            missing = int((~mask).sum())
            if missing:
                warn_about_data(
                    f"{missing:,} of {name} have neither features nor a link: left off the map."
                )
            there.append(mask)
        return there

    def _make_fit(
        self,
        data: HeteroData,
        model: Objective,
        found: TrainingResult,
        places: Callable[[Floats], Mapping[str, Floats]],
    ) -> Fit:
        names = list(data.datasets)
        weights, bias = model.split(found.flat)
        self._model, self._weights = model, dict(zip(names, weights, strict=True))
        self.biases_ = {}
        for block, value in zip(model.blocks, bias.tolist(), strict=True):
            # of a dataset with itself the links that there are come last
            self.biases_[names[block.d], names[block.e]] = value
        Y = places(found.flat)
        kinds = self._kinds
        parts = model.explained(found.flat, np.random.default_rng(self.random_state))
        self.explained_ = {kind: share for kind, (_, share) in zip(kinds, parts, strict=True)}
        whole = sum(loss for loss, _ in parts) or 1.0
        centre = {
            name: np.nanmean(own, axis=0) for name, own in Y.items() if np.isfinite(own).any()
        }
        return Fit(
            Y,
            n_iter=max(len(found.history) - 1, 0),
            loss_history=found.history,
            stopping_reason=found.reason,
            diagnostics={
                "bias": {" - ".join(ends): b for ends, b in self.biases_.items()},
                "explained": self.explained_,
            },
            messages=[
                make_diagnostic(
                    "explained",
                    "How well the places tell links",
                    "How much better links are told from other pairs by where items lie than by "
                    "their number alone: 0 is no better, 1 as well as any places could. These "
                    "links were seen; hold links out to know how it does on others.",
                    self.explained_,
                ),
                make_diagnostic(
                    "loss by kind",
                    "What is left unexplained",
                    "Share of each kind of links in what the places leave unexplained: the kind "
                    "with most of it is kept worst, and pulls hardest.",
                    {kind: loss / whole for kind, (loss, _) in zip(kinds, parts, strict=True)},
                    SHARE,
                ),
                make_diagnostic(
                    "bias",
                    "How common links are",
                    "Odds, as a logarithm, that a pair at one spot is linked and not drawn at "
                    "random: below 0 such a pair is more likely not linked.",
                    {" - ".join(ends): b for ends, b in self.biases_.items()},
                )
                if self.bias
                else make_diagnostic("bias", "", "", {}),
                make_diagnostic(
                    "spread",
                    "Spread of each dataset",
                    "Root mean square distance of its items from their middle, in units of the "
                    "map. One that spreads much less than the others tells its items apart by "
                    "little.",
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
        """Return by how much each feature moves items, of each dataset with plain features."""
        found = []
        for net, (name, weights) in zip(self._model.nets, self._weights.items(), strict=True):
            inputs = self._inputs.get(name)
            if inputs is None or inputs.basis.kind != "linear":
                continue
            moved = net.reach(weights, inputs.axes) * deviations(data[name])
            names = feature_names(data[name])
            found.append(
                make_diagnostic(
                    f"importances of {name}",
                    f"Importance of the features of {name}",
                    "How far an item moves when a feature changes by one standard deviation, by "
                    "the slope at its place; in units of the map, a root mean square over items.",
                    zip(names, moved.tolist(), strict=True),
                )
            )
        return found

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return sigmoid(l): how pairs look against drawn ones, from 0 to 1, shape (n, m)."""
        ends = source.name, target.name
        bias = self.biases_.get(ends, self.biases_.get(ends[::-1], 0.0))
        return np.asarray(expit(self._model.logits(Y_source, Y_target, bias)))

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {name: self._place(name, rows.dataset) for name, rows in new.items()}

    def _place(self, name: str, rows: Dataset) -> Floats:
        inputs = self._inputs.get(name)
        if inputs is None:
            return np.full((len(rows), self.n_components), np.nan)
        net = self._model.nets[list(self._fitted).index(name)]
        return net.forward(self._weights[name], inputs.of(rows))[0]
