"""MKPE: a map whose Gaussian kernel reproduces link scores and similarities."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats, Rng
from hetviz.algorithms.base import LinearEmbedder
from hetviz.algorithms.contract import LINKED_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import warn_about_data, warn_unplaced
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import (
    STEPS,
    DrawnBy,
    NComponents,
    NInit,
    RandomState,
    TieViews,
    Within,
    WithinWeight,
)
from hetviz.core.kernels.kernels import squared_distances
from hetviz.core.kernels.mkpe import (
    MAX_SWEEPS,
    Domain,
    MkpeResult,
    ScoreBlock,
    fit_mkpe,
    place_item,
)
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.spectral.stiefel import RETRACTIONS
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.diagnostics import make_diagnostic, starts_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.errors import NotApplicableError, ParameterError
from hetviz.features.problems.link_scores import ScoredPairs, link_scores, scored_pairs
from hetviz.features.relations.pairing import connected_datasets
from hetviz.features.spaces.inputs import PlaceInputs, UnitFeatures, make_inputs
from hetviz.features.spaces.similarity import similarities
from hetviz.params import Changed, Choice, Flag, Real, value_for
from hetviz.progress import Progress, ProgressPart, keep_partial

_N_STARTS_FOR_NEW_ROWS = 5
_MAX_ITEMS_OF_STARTS = 500
"""With more items in a dataset, starts are compared on a sample of the pairs."""
_FINAL_SWEEPS = 60
"""Sweeps over all pairs, from the best start on a sample."""
PAPER_WITHIN_WEIGHT = 0.1
"""Weight of similarities in the paper. Links have weight 1."""


class MKPE(LinearEmbedder):
    """Multiple kernel preserving embedding.

    Attributes
    ----------
    sigma_ : float
        Width of the kernel.
    frames_ : dict of str to ndarray
        Orthonormal, of shape (n, k), or (d, k) for the parametric variant with d directions of
        features.
    importances_ : dict of str to ndarray of shape (d,)
        Importance of each feature (or of each item whose similarity is an input) in the parametric
        variant: the length of its row of the frame.
    spread_of_starts_ : list of float
        Final loss of each start.

    Notes
    -----
    Minimises the weighted mean squared difference of exp(-|e_i - f_j|^2 / sigma^2) and the scores,
    see `hetviz.core.kernels.mkpe`. The loss never rises, but it has many minima. Items without
    similarities and without scored links have no place. A sweep costs about 6 evaluations of
    O(known pairs * k).

    References
    ----------
    M. Gönen, Embedding heterogeneous data by preserving multiple kernels, ECAI 2014.
    doi:10.3233/978-1-61499-419-0-381
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="mkpe",
        title="Multiple kernel preserving embedding (MKPE)",
        family="Links and scores",
        papers=(
            Reference(
                "M. Gönen",
                "Embedding heterogeneous data by preserving multiple kernels",
                "European Conference on Artificial Intelligence (ECAI)",
                2014,
                doi="10.3233/978-1-61499-419-0-381",
            ),
        ),
        equation=(
            r"\min_{E_d^\top E_d = I,\,\sigma} \sum_{d \le e} \frac{\lambda_{de}}{|I_{de}|}"
            r" \sum_{I_{de}} \left(e^{-\lVert e_i - f_j \rVert^2 / \sigma^2} - s_{ij}\right)^2"
        ),
        needs=(Need.FEATURES_OR_LINKS,),
        capabilities=LINKED_FEATURES
        | {
            Capability.CANNOT_LINKS,
            Capability.WITHIN_LINKS,
            Capability.SCORES,
            Capability.ITERATIVE,
        },
        summary=(
            "Keeps similarities within datasets and links across datasets: similar and linked "
            "items are close. Pairs without a known score that end up close are predicted links."
        ),
        caveats=(
            "Different starts give different maps. The best of a few is used, and the difference "
            "between them is reported.",
            "Large distances say little: they all mean not similar.",
            "Only similarities and apart links push items away from each other. Links alone pull "
            "everything together.",
            "By default similarities count as much as links, all datasets spread equally, and the "
            "best of three starts is used. The setting As in the paper gives similarities a tenth "
            "of the weight of links, lets small datasets spread more and starts once. It finds "
            "more hidden links, but shows fewer true neighbours.",
        ),
        cost="A second for 1,500 items, four seconds for 5,000.",
        former_titles=("Preserved scores (MKPE)",),
    )
    memory_estimate = MemoryEstimate(per_pair=40.0)
    n_components: NComponents = 2
    variant: Annotated[
        str,
        Choice(
            "Places",
            "Whether each item moves freely.",
            options={
                "coordinates": "free, which reproduces scores best",
                "parametric": "computed from similarities or features, best for new items",
            },
            details="Parametric places are linear in the `inputs`.",
        ),
    ] = "coordinates"
    link_score: Annotated[
        float | str,
        Real(
            "Score of a link",
            "How close linked items should be. 1 means the same place.",
            low=0.0,
            high=1.0,
            also=("weight",),
            details=(
                "Apart links score 0, and links with scores keep them. Pairs without links are "
                "unknown unless the links are complete."
            ),
        ),
    ] = 0.9
    within: Within = "auto"
    within_weight: Annotated[
        WithinWeight,
        Changed(
            details=(
                "lambda, where links have 1. The paper uses 0.1, with which the maps of "
                "data with many links show little else. See `paper`."
            )
        ),
    ] = 1.0
    inputs: Annotated[
        str,
        Choice(
            "Places computed from",
            "The input of the place of an item, if it is not free.",
            options={
                "similarities": "its similarities to other items",
                "features": "its features",
            },
            advanced=True,
            details=(
                "For the parametric variant: the similarities of an item to its dataset (the "
                "empirical kernel map, to 1,000 items if there are more than 3,000), or its "
                "features, centred and of mean squared length 1. Items without either are free."
            ),
        ),
    ] = "similarities"
    directions: Annotated[
        float | str | None,
        Real(
            "Directions of features",
            "Share of the variance of features that the leading directions must explain.",
            low=0.01,
            high=1.0,
            also=("auto", None),
            advanced=True,
            details=(
                'With `inputs = "features"`. None uses all directions. "auto" is 0.95 if there are '
                "at least as many features as items, and all otherwise."
            ),
        ),
    ] = "auto"
    sigma0: Annotated[
        float | str | None,
        Real(
            "Initial width",
            "Width of the kernel at the start. It is learned.",
            low=1e-6,
            high=1e6,
            also=("auto", None),
            advanced=True,
            details=(
                '"auto" is the root mean squared distance within a dataset, None the square root '
                "of `n_components`, as in the paper."
            ),
        ),
    ] = "auto"
    equal_spread: Annotated[
        bool,
        Flag(
            "Equal spread",
            "Let all datasets spread equally, whatever their size.",
            advanced=True,
            details=(
                "Multiplies places by the square root of the number of items. In the paper a small "
                "dataset spreads more than a large one."
            ),
        ),
    ] = True
    n_init: NInit = 3
    n_iter: Annotated[
        int | None,
        STEPS,
        Changed(
            label="Sweeps",
            help="Number of rounds.",
            also=(None,),
            details=(
                "None means at most 100, and fewer if 5 in a row gain less than 1e-5 of the loss. "
                "With more than 500 items in a dataset these compare starts on a sample of the "
                "pairs, and 60 rounds over all pairs follow."
            ),
        ),
    ] = None
    retraction: Annotated[
        str,
        Choice(
            "Axes at right angles by",
            "How each step restores axes at right angles.",
            options=RETRACTIONS,
            advanced=True,
        ),
    ] = "polar"
    tie_views: TieViews = True
    paper: Annotated[
        bool,
        Flag(
            "As in the paper",
            "Weights, start and spread of the paper.",
            advanced=True,
            details=(
                "Similarities of weight 0.1, spread by the size of a dataset, one start from a "
                "width of the root of `n_components`, 100 sweeps, all directions of features. "
                "Other settings of these are ignored."
            ),
        ),
    ] = False
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        self._scored = self._known_scores(data)
        names = list(self._scored.rows)
        domains = self._domains(data)
        blocks = self._scored.blocks(self._seed)
        use_paper_width = self.paper or self.sigma0 is None
        sigma0 = float(np.sqrt(self.n_components)) if use_paper_width else self.sigma0
        used_domains = {end for block in blocks for end in (block.d, block.e)}
        self._check_sizes(domains, len(used_domains))

        def stack_places(places: list[Floats]) -> Floats:
            return np.vstack(list(self._places_by_dataset(data, places).values()))

        def make_fit(result: MkpeResult) -> Fit:
            return self._make_fit(data, names, blocks, result)

        fit = partial(
            fit_mkpe,
            domains,
            r=self.n_components,
            rng=rng,
            sigma0=None if isinstance(sigma0, str) else sigma0,
            retraction=self.retraction,
            layout=stack_places,
        )
        n_iter = MAX_SWEEPS if self.paper else self.n_iter
        n_init = 1 if self.paper else self.n_init
        with keep_partial(lambda result: result and make_fit(result)):
            if n_iter is None and self._scored.has_similarity_of_more_than(_MAX_ITEMS_OF_STARTS):
                # Starts on a sample of the pairs end near where starts on all of them do.
                sample = self._scored.blocks(self._seed, _MAX_ITEMS_OF_STARTS)
                part = ProgressPart(progress, 0.0, 0.4)
                starts = fit(sample, n_init=n_init, progress=part)
                part = ProgressPart(progress, 0.4, 1.0)
                best = starts.descent.state
                result = fit(blocks, start_at=best, n_iter=_FINAL_SWEEPS, progress=part)
                result.finals = starts.finals
            else:
                result = fit(blocks, n_iter=n_iter, n_init=n_init, progress=progress)
        return make_fit(result)

    def _known_scores(self, data: HeteroData) -> ScoredPairs:
        """Return the known scores, and warn about scores out of range and items without any."""
        linked = with_identity_links(data) if self.tie_views else data
        links = [link for link in link_scores(linked, self.link_score) if len(link.i)]
        out_of_range = [link for link in links if ((link.s < 0) | (link.s > 1)).any()]
        if out_of_range:
            warn_about_data(
                f"Scores of {', '.join(f'{link.source} - {link.target}' for link in out_of_range)} "
                "are below 0 or above 1. Scale them to the range from 0 to 1."
            )
        similarity_by_dataset = similarities(data.datasets.values(), self.within, self._seed)
        within_weight = PAPER_WITHIN_WEIGHT if self.paper else self.within_weight
        weights = {name: float(value_for(within_weight, name, 1.0)) for name in data.datasets}
        scored = scored_pairs(data, similarity_by_dataset, weights, links)
        for name, dataset in data.datasets.items():
            warn_unplaced(
                len(dataset) - len(scored.rows.get(name, ())), name, "no similarities and no links"
            )
        if not scored.rows:
            raise NotApplicableError(
                self.card.title, ["No item has similarities or a link that counts."]
            )
        return scored

    def _domains(self, data: HeteroData) -> list[Domain]:
        """Return the domains of the items with scores: free or linear in their inputs."""
        self._inputs: dict[str, PlaceInputs] = {}
        domains = []
        for name, rows in self._scored.rows.items():
            inputs = None
            if self.variant == "parametric":
                similarity = self._scored.like.get(name)
                inputs = make_inputs(
                    data[name],
                    self.inputs,
                    similarity,
                    self._seed,
                    share=None if self.paper else self.directions,
                    min_axes=self.n_components,
                )
            if inputs is None:
                scale_by_size = self.equal_spread and not self.paper
                scale = float(np.sqrt(len(rows))) if scale_by_size else 1.0
                domains.append(Domain(len(rows), scale=scale))
            else:
                self._inputs[name] = inputs
                domains.append(Domain(len(rows), X=inputs.of(data[name])[rows]))
        return domains

    def _check_sizes(self, domains: list[Domain], n_used: int) -> None:
        name, smallest = min(
            zip(self._scored.rows, domains, strict=True), key=lambda entry: entry[1].size
        )
        if smallest.size < self.n_components:
            unit = "items" if smallest.X is None else "features or items to compare with"
            raise NotApplicableError(
                self.card.title,
                [
                    f"{name} has only {smallest.size} {unit}. Use at most {smallest.size} axes, or "
                    "leave "
                    "the dataset out."
                ],
            )
        if n_used < len(domains):
            raise ParameterError("mkpe: a dataset has no similarities and no links that count.")

    def _places_by_dataset(self, data: HeteroData, places: list[Floats]) -> dict[str, Floats]:
        out = self._no_places(data.datasets)
        for (name, rows), E in zip(self._scored.rows.items(), places, strict=True):
            out[name][rows] = E
        return out

    def _make_fit(
        self, data: HeteroData, names: list[str], blocks: list[ScoreBlock], result: MkpeResult
    ) -> Fit:
        state = result.descent.state
        self.sigma_ = state.sigma
        self.frames_ = dict(zip(names, state.frames, strict=True))
        self.importances_ = {
            name: np.linalg.norm(inputs.of_names(self.frames_[name]), axis=1)
            for name, inputs in self._inputs.items()
        }
        self.spread_of_starts_ = list(result.finals)
        linked = with_identity_links(data) if self.tie_views else data
        n_similarity_blocks = len(blocks) - len(self._scored.links)
        parts = {}
        for b, (block, loss) in enumerate(zip(blocks, state.losses.tolist(), strict=True)):
            kind = "similarities" if b < n_similarity_blocks else "links"
            parts[f"{names[block.d]} - {names[block.e]} {kind}"] = loss
        return Fit(
            self._places_by_dataset(data, result.descent.places),
            n_iter=len(result.history) - 1,
            loss_history=result.history,
            stopping_reason=result.reason,
            diagnostics={"sigma": state.sigma, "starts": list(result.finals), "loss": parts},
            messages=[
                starts_diagnostic(result.finals),
                make_diagnostic(
                    "loss",
                    "Remaining error",
                    "Share of the loss of each kind of similarities and links. The kind with the "
                    "largest value is shown worst.",
                    parts,
                ),
                make_diagnostic(
                    "sigma",
                    "Width of the kernel",
                    "At this distance on the map, in map units, the score of a pair falls from 1 "
                    "to 0.37.",
                    {"distance": state.sigma},
                ),
                *(
                    make_diagnostic(
                        f"importances of {name}",
                        f"Importance of the inputs of {name}",
                        "How far each feature, or each item that others are compared with, moves "
                        "an item of this dataset, in map units.",
                        zip(
                            self._inputs[name].names(data[name]), importances.tolist(), strict=True
                        ),
                    )
                    for name, importances in self.importances_.items()
                ),
            ],
            components=connected_datasets(data, linked.adjacency()),
        )

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return the kernel between places (n, k) and (m, k): scores from 0 to 1, shape (n, m)."""
        return np.asarray(np.exp(-squared_distances(Y_source, Y_target) / self.sigma_**2))

    def _linear_maps(self) -> Mapping[str, LinearMap]:
        return {
            name: inputs.linear_map(self.frames_[name])
            for name, inputs in self._inputs.items()
            if isinstance(inputs, UnitFeatures)
        }

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {name: self._place_all(name, rows) for name, rows in new.items()}

    def _place_all(self, name: str, rows: NewRows) -> Floats:
        if name in self._inputs and name in self.frames_:
            return np.asarray(self._inputs[name].of(rows.dataset) @ self.frames_[name])
        out = np.full((len(rows.dataset), self.n_components), np.nan)
        similarity = self._scored.like.get(name) if name in self._scored.rows else None
        scores_and_twins = None if similarity is None else similarity.with_twins(rows.dataset)
        Y = self.embedding_.coordinates
        for row in range(len(out)):
            ends, starts = self._linked_ends(name, rows, row)
            if scores_and_twins is not None:
                s, twin = scores_and_twins[0][row], scores_and_twins[1][row]
                nearest = np.argsort(-s, kind="stable")[:_N_STARTS_FOR_NEW_ROWS]
                if not ends and twin >= 0:
                    out[row] = Y[name][twin]
                    continue
                weight = 2.0 * self._scored.weights[name] / len(s) ** 2
                ends.append((Y[name], s, np.full(len(s), weight)))
                starts = np.vstack([Y[name][nearest], starts])
            if ends:
                out[row] = place_item(ends, self.sigma_**-2, starts[:_N_STARTS_FOR_NEW_ROWS])
        return out

    def _linked_ends(
        self, name: str, rows: NewRows, row: int
    ) -> tuple[list[tuple[Floats, Floats, Floats]], Floats]:
        """Return places, scores and weights of the links of a new row, and their places."""
        ends = []
        for other, Y in self.embedding_.coordinates.items():
            links = np.flatnonzero((rows.row == row) & (rows.to == other))
            links = links[np.isfinite(Y[rows.to_row[links]]).all(axis=1)]
            if len(links):
                weight = rows.weight[links]
                score = weight if isinstance(self.link_score, str) else self.link_score
                link_weight = 1.0 / (self._scored.n_linked(name, other) or 1)
                s = np.where(weight > 0, score, 0.0)
                ends.append((Y[rows.to_row[links]], s, np.full(len(links), link_weight)))
        starts = [F for F, _, _ in ends]
        return ends, np.vstack([np.empty((0, self.n_components)), *starts])
