"""KBMF2K: link probabilities from inner products of kernel projections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from hetviz._text import join_words
from hetviz._types import Floats, Rng
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import LINKED_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import left_off_message, warn_about_data
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import (
    DrawnBy,
    NComponents,
    NIter,
    RandomState,
    TieViews,
    Within,
)
from hetviz.core.kernels.regression import MAX_FULL_RANK_ROWS, RANK, Design
from hetviz.core.prediction.kbmf2k import (
    DomainLinks,
    Factorisation,
    InferenceResult,
    Priors,
    infer,
    probability,
    product_variance,
)
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.diagnostics import make_diagnostic, number_values
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.errors import NotApplicableError
from hetviz.features.problems.link_scores import LinkScores, link_scores
from hetviz.features.relations.pairing import connected_datasets
from hetviz.features.spaces.similarity import similarities
from hetviz.params import Changed, Choice, Integer, Real
from hetviz.progress import Progress, keep_partial

MAX_PAIRS = 30_000_000
"""Maximum number of pairs of two datasets, which are kept in memory."""
MAX_ROWS = 10_000


class KBMF2K(BaseEmbedder):
    """Kernelised Bayesian matrix factorisation with a kernel for each dataset.

    Attributes
    ----------
    evidence_ : float
        Lower bound of the log evidence.

    Notes
    -----
    See `hetviz.core.prediction.kbmf2k`. With two datasets it is the published model. Places are the
    kernel projections K A, also for new rows. Only links between different datasets count. A sweep
    costs r regressions of O(n rank^2) for each dataset and O(pairs r^2).

    References
    ----------
    M. Gönen, Predicting drug-target interactions from chemical and genomic kernels using Bayesian
    matrix factorization, Bioinformatics 2012. doi:10.1093/bioinformatics/bts360.
    The evidence bound, missing pairs, more datasets, the probability and the kernels of low rank
    are additions.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="kbmf2k",
        title="Kernelised Bayesian matrix factorisation (KBMF2K)",
        family="Links and scores",
        papers=(
            Reference(
                "M. Gönen",
                (
                    "Predicting drug-target interactions from chemical and genomic "
                    "kernels using Bayesian matrix factorization"
                ),
                "Bioinformatics 28, 2304-2310",
                2012,
                doi="10.1093/bioinformatics/bts360",
            ),
        ),
        equation=(
            r"y_{ij} = \operatorname{sign} f_{ij},\quad f_{ij} \sim N(g_i^\top h_j, 1),\quad"
            r" G \sim N(K_x A_x, \sigma_g^2),\quad H \sim N(K_z A_z, \sigma_g^2)"
        ),
        needs=(Need.LINKED_DATASETS,),
        capabilities=LINKED_FEATURES
        | {Capability.CANNOT_LINKS, Capability.SCORES, Capability.ITERATIVE},
        summary=(
            "Learns from similarities within datasets which items of different datasets are "
            "linked, and predicts the probability of each missing link, also for new items."
        ),
        caveats=(
            "Linked items are in the same direction from the centre, not at the same place. Close "
            "items need not be linked. The main result is the predicted links, not the map.",
            "Pairs without a link count as not linked, unless you set them to unknown.",
            "Links within a dataset are not used.",
        ),
        cost="Ten seconds for 1,000 items, half a minute for 3,000. More axes take longer.",
        former_titles=("Link probabilities (KBMF2K)",),
    )
    memory_estimate = MemoryEstimate(per_pair_within=60.0)
    n_components: Annotated[
        NComponents,
        Changed(
            help="How many components. 5 to 25 predict better than 2.",
            details="Components that the links do not need fade out.",
        ),
    ] = 2
    likelihood: Annotated[
        str,
        Choice(
            "Links are",
            "Whether links are yes or no, or strengths.",
            options={"probit": "yes or no", "gaussian": "strengths"},
            details="Strengths are the scores of links, or else their weights.",
        ),
    ] = "probit"
    unlisted: Annotated[
        str,
        Choice(
            "Pairs without a link",
            "The meaning of a pair without a link.",
            options={"apart": "they do not belong together", "unknown": "unknown"},
            details=(
                "Unless links are complete. 'apart' is the case of the paper: -1 (probit) or 0 "
                "(gaussian). 'unknown' needs some apart links."
            ),
        ),
    ] = "apart"
    within: Annotated[
        Within, Changed(details="Items without any description are similar only to themselves.")
    ] = "auto"
    margin: Annotated[
        float,
        Real(
            "Margin",
            "Distance between the scores of yes and no.",
            low=0.0,
            high=10.0,
            advanced=True,
            details="For the probit: how far from 0 a score must be to count.",
        ),
    ] = 1.0
    sigma_g: Annotated[
        float,
        Real(
            "Freedom of items",
            "How far items may be from the place given by their similarities.",
            low=1e-3,
            high=10.0,
            log=True,
            advanced=True,
        ),
    ] = 0.1
    sigma_y: Annotated[
        float,
        Real(
            "Noise of strengths",
            "How far strengths may be from their prediction.",
            low=1e-3,
            high=100.0,
            log=True,
            advanced=True,
        ),
    ] = 1.0
    rank: Annotated[
        int | str | None,
        Integer(
            "Rank of similarities",
            "How precisely similarities of large datasets are represented.",
            low=1,
            high=5_000,
            also=("auto", None),
            advanced=True,
            details=(
                'Number of eigenvalues of each kernel: "auto" is 200 for more than 400 items, None '
                "is all."
            ),
        ),
    ] = "auto"
    n_iter: Annotated[
        NIter,
        Changed(
            label="Sweeps",
            help="Maximum number of rounds.",
            details="Stops when the relative gain of the evidence is below 1e-6.",
        ),
    ] = 200
    tie_views: Annotated[
        TieViews, Changed(help="Link the rows of one object in different datasets.")
    ] = True
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _reasons_against(self, data: HeteroData) -> list[str]:
        pairs = max(
            (
                len(data[scores.source]) * len(data[scores.target])
                for scores in self._known_scores(data)
                if not scores.within
            ),
            default=0,
        )
        reasons = []
        if pairs > MAX_PAIRS:
            reasons.append(f"It keeps all pairs in memory, and two datasets have {pairs:,} pairs.")
        too_large = [name for name, part in data.datasets.items() if len(part) > MAX_ROWS]
        if too_large:
            has = "has" if len(too_large) == 1 else "have"
            reasons.append(
                "It needs the similarities of all items, and "
                f"{join_words(too_large)} {has} too many items (at most {MAX_ROWS:,})."
            )
        return reasons

    def _known_scores(self, data: HeteroData) -> list[LinkScores]:
        positive: float | str = 1.0 if self.likelihood == "probit" else "weight"
        return link_scores(
            with_identity_links(data) if self.tie_views else data, positive, apart=-1.0
        )

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        scores = [part for part in self._known_scores(data) if not part.within and len(part.i)]
        ends = {end for part in scores for end in (part.source, part.target)}
        self._names = [name for name in data.datasets if name in ends]
        if not self._names:
            raise NotApplicableError(self.card.title, ["There are no links between two datasets."])
        left_out = [name for name in data.datasets if name not in ends]
        if left_out:
            warn_about_data(left_off_message(left_out, "no links to other datasets"))
        progress(0.0, "Comparing items")
        compared = [data[name] for name in self._names]
        self._like = similarities(compared, self.within, self._seed)
        designs = []
        for name in self._names:
            n, K = len(data[name]), None
            if name in self._like:
                K = self._like[name].to_fitted(data[name])
                K = (K + K.T) / 2
            rank = self.rank
            if isinstance(rank, str):
                rank = RANK if n > MAX_FULL_RANK_ROWS else None
            designs.append(Design(K, n, rank))
        blocks = [self._block(data, part) for part in scores]
        self._model = Factorisation(
            designs,
            blocks,
            self.n_components,
            rng,
            self.likelihood,
            Priors(sigma_g=self.sigma_g, sigma_y=self.sigma_y, margin=self.margin),
        )

        def stack_places(model: Factorisation) -> Floats:
            return np.vstack(list(self._places(data, model).values()))

        def make_fit(result: InferenceResult) -> Fit:
            return self._make_fit(data, result)

        with keep_partial(lambda result: result and make_fit(result)):
            result = infer(self._model, self.n_iter, progress=progress, layout=stack_places)
        return make_fit(result)

    def _block(self, data: HeteroData, scores: LinkScores) -> DomainLinks:
        shape = len(data[scores.source]), len(data[scores.target])
        unlisted = np.nan
        if self.unlisted == "apart":
            unlisted = -1.0 if self.likelihood == "probit" else 0.0
        Y = np.full(shape, unlisted)
        Y[scores.i, scores.j] = scores.s
        if self.likelihood == "probit":
            Y = np.where(np.isnan(Y), np.nan, np.where(Y > 0, 1.0, -1.0))
            known = Y[np.isfinite(Y)]
            if (known == known[0]).all():
                warn_about_data(
                    f"{scores.source} - {scores.target}: all known pairs are equal, so nothing "
                    "can be learned. Treat pairs without a link as apart."
                )
        return DomainLinks(self._names.index(scores.source), self._names.index(scores.target), Y)

    def _places(self, data: HeteroData, model: Factorisation) -> dict[str, Floats]:
        projections = {name: model.projections(d) for d, name in enumerate(self._names)}
        return self._no_places(data.datasets) | projections

    def _make_fit(self, data: HeteroData, result: InferenceResult) -> Fit:
        self.evidence_ = result.history[-1] if result.history else float("-inf")
        self._variances = {name: result.model.variances(d) for d, name in enumerate(self._names)}
        sizes = np.mean(
            [np.square(result.model.projections(d)).mean(axis=0) for d in range(len(self._names))],
            axis=0,
        )
        linked = with_identity_links(data) if self.tie_views else data
        return Fit(
            self._places(data, result.model),
            n_iter=len(result.history),
            loss_history=[-bound for bound in result.history],
            stopping_reason=result.reason,
            diagnostics={
                "evidence": result.history[-1] if result.history else None,
                "size of components": sizes.tolist(),
            },
            messages=[
                make_diagnostic(
                    "evidence",
                    "Evidence bound",
                    "Lower bound of the log probability of the known pairs. Of two settings on the "
                    "same data, the one with the higher bound is better supported. The value alone "
                    "has no meaning.",
                    {"bound": result.history[-1] if result.history else None},
                ),
                make_diagnostic(
                    "components",
                    "Size of components",
                    "Mean square of the places along each axis. Axes near 0 are not needed.",
                    number_values(sizes.tolist(), "axis"),
                ),
            ],
            components=connected_datasets(data, linked.adjacency()),
        )

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return link probabilities (probit) or strengths (gaussian), shape (n, m)."""
        score = np.asarray(Y_source @ Y_target.T)
        if self.likelihood != "probit":
            return score
        spreads = [self._spread(rows) for rows in (source, target)]
        variance = product_variance(Y_source, spreads[0], Y_target, spreads[1])
        return probability(score, variance, self.margin)

    def _spread(self, rows: Dataset) -> Floats:
        d = self._names.index(rows.name)
        fitted_rows = self._fitted[rows.name].find(rows.ids)
        out = np.full((len(rows), self.n_components), self.sigma_g**2)
        out[fitted_rows >= 0] = self._variances[rows.name][fitted_rows[fitted_rows >= 0]]
        new_rows = np.flatnonzero(fitted_rows < 0)
        similarity = self._like.get(rows.name)
        if len(new_rows) and similarity is not None:
            K = similarity.to_fitted(rows)[new_rows]
            out[new_rows] = self._model.variances(d, K)
        return out

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {name: self._place(name, rows.dataset) for name, rows in new.items()}

    def _place(self, name: str, rows: Dataset) -> Floats:
        similarity = self._like.get(name)
        if similarity is None:
            return np.full((len(rows), self.n_components), np.nan)
        d = self._names.index(name)
        K = self._model.designs[d].of_new(similarity.to_fitted(rows))
        return np.asarray(K @ self._model.sides[d].A)
