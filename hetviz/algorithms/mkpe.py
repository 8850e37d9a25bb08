"""MKPE: a map whose Gaussian kernel reproduces scores of links and of likeness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from hetviz._types import Floats
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
from hetviz.core.kernels.kernels import squared_distances
from hetviz.core.kernels.mkpe import SWEEPS, Domain, Result, Scores, minimise, place
from hetviz.core.spectral.stiefel import RETRACTIONS
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.diagnostics import make_diagnostic, starts_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.errors import Cancelled, NotApplicableError, ParameterError
from hetviz.features.relations.link_scores import (
    ScoredPairs,
    connected_datasets,
    link_scores,
    scored_pairs,
)
from hetviz.features.spaces.inputs import PlaceInputs, make_inputs
from hetviz.features.spaces.similarity import KINDS, similarities
from hetviz.params import Choice, Flag, Integer, PerDataset, Real, value_for
from hetviz.progress import Progress

_STARTS = 5
PAPER_WITHIN = 0.1
"""Weight of likeness beside links in the paper."""


class MKPE(BaseEmbedder):
    """Multiple kernel preserving embedding.

    Attributes
    ----------
    sigma_ : float
        Width of the kernel.
    frames_ : dict of str to ndarray
        Orthonormal; (n, k), or (d, k) for the parametric variant, d of features the directions
        kept.
    importances_ : dict of str to ndarray of shape (d,)
        Of features (or of items whose likeness is the input), for the parametric variant: lengths
        of the rows of the frame, 0 for what does not matter.
    spread_of_starts_ : list of float
        Final loss of every start.

    Notes
    -----
    Minimises the weighted mean squared difference of exp(-|e_i - f_j|^2 / sigma^2) and the scores,
    see `hetviz.core.kernels.mkpe`. The loss never rises; it has many minima. Items with neither
    likeness nor a scored link have no place. A sweep costs about 6 evaluations of O(known pairs *
    k).

    References
    ----------
    M. Gönen, Embedding heterogeneous data by preserving multiple kernels, ECAI 2014.
    doi:10.3233/978-1-61499-419-0-381
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="mkpe",
        title="Preserved scores (MKPE)",
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
        capabilities=frozenset(
            {
                Capability.LINKS,
                Capability.CANNOT_LINKS,
                Capability.WITHIN_LINKS,
                Capability.SCORES,
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
            "Places items so that nearness stands for the strength of links and for likeness, "
            "both at once. Pairs that nothing is known of may end near each other: these are the "
            "links it predicts."
        ),
        caveats=(
            "Different starts give different maps; the best of a few is kept, and how far they "
            "differ is reported.",
            "Far apart says little: all large distances count as not alike.",
            "Only likeness and links that say apart push items away from each other; links alone "
            "pull everything together.",
            "The paper weighs likeness a tenth of links, lets a small dataset spread more widely "
            "and starts once: the setting as in the paper. Here likeness counts as much as links, "
            "all spread alike and the best of three starts is kept: neighbours are kept better, "
            "and hidden links are found somewhat less well.",
        ),
        cost="A second for 300 items, ten seconds for 2,000.",
    )
    memory_estimate = MemoryEstimate(per_pair=40.0)
    n_components: NComponents = 2
    variant: Annotated[
        str,
        Choice(
            "Places",
            "Whether every item moves freely.",
            options={
                "coordinates": "free, which keeps scores best",
                "parametric": "computed from likeness or features, which is best for new items",
            },
            details="Parametric places are linear in what `inputs` says.",
        ),
    ] = "coordinates"
    link_score: Annotated[
        float | str,
        Real(
            "Score of a link",
            "How near linked items should lie; 1 wants them in one place.",
            low=0.0,
            high=1.0,
            also=("weight",),
            details=(
                "Links that say apart score 0, links with scores of their own keep them, and pairs "
                "without links are unknown, unless the links are complete."
            ),
        ),
    ] = 0.9
    within: Annotated[
        str | Mapping[str, str],
        PerDataset(
            "Likeness",
            "How items of one dataset are alike.",
            inner=Choice(options=KINDS),
        ),
    ] = "auto"
    within_weight: Annotated[
        float | Mapping[str, float],
        PerDataset(
            "Weight of likeness",
            "How much likeness within a dataset counts beside links.",
            inner=Real(low=0.0, high=1_000.0),
            details=(
                "lambda; links have 1. The paper has 0.1, at which the maps of data with many "
                "links show little else; see `paper`."
            ),
        ),
    ] = 1.0
    inputs: Annotated[
        str,
        Choice(
            "Places computed from",
            "What an item's place is computed from, when it is not free.",
            options={
                "similarities": "its likeness with the others",
                "features": "its features",
            },
            advanced=True,
            details=(
                "Of the parametric variant: each item's likeness with all of its dataset (the "
                "empirical kernel map; above 3,000 items with 1,000 of them), or features, centred "
                "and of mean squared length 1. Items without either have free places."
            ),
        ),
    ] = "similarities"
    directions: Annotated[
        float | str | None,
        Real(
            "Directions of features",
            "How much of the variance of features the leading directions must hold that places "
            "are computed from.",
            low=0.01,
            high=1.0,
            also=("auto", None),
            advanced=True,
            details=(
                'With `inputs = "features"`. None is all; "auto" is 0.95 where there are at least '
                "as many features as items, and all otherwise."
            ),
        ),
    ] = "auto"
    sigma0: Annotated[
        float | str | None,
        Real(
            "First width",
            "Width of nearness at the start; it is learned.",
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
            "Let all datasets spread as widely, whatever their size.",
            advanced=True,
            details=(
                "Multiplies places by the square root of the number of items; in the paper a small "
                "dataset spreads more widely than a large one."
            ),
        ),
    ] = True
    n_init: Annotated[
        int,
        Integer(
            "Starts",
            "How many random starts; the best is kept.",
            low=1,
            high=100,
        ),
    ] = 3
    n_iter: Annotated[
        int | None,
        Integer(
            "Sweeps",
            "Rounds of moves.",
            low=1,
            high=10_000,
            also=(None,),
            advanced=True,
            details=(
                "None is at most 100, and fewer when 5 in a row gain less than 1e-5 of the loss."
            ),
        ),
    ] = None
    retraction: Annotated[
        str,
        Choice(
            "Axes kept at right angles by",
            "How a step is brought back to axes at right angles.",
            options=RETRACTIONS,
            advanced=True,
        ),
    ] = "polar"
    tie_views: TieViews = True
    paper: Annotated[
        bool,
        Flag(
            "As in the paper",
            "The paper's own weights, start and spread.",
            advanced=True,
            details=(
                "Likeness of weight 0.1, datasets that spread as their size has it, one start from "
                "a width of the root of `n_components`, 100 sweeps, all directions of features; "
                "the settings of these do not count."
            ),
        ),
    ] = False
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        self._scored = self._known(data)
        names = list(self._scored.rows)
        domains = self._domains(data)
        blocks = self._scored.blocks(self.random_state)
        as_printed = self.paper or self.sigma0 is None
        sigma0 = float(np.sqrt(self.n_components)) if as_printed else self.sigma0
        reached = {end for block in blocks for end in (block.d, block.e)}
        self._check_sizes(domains, len(reached))

        def whole(places: list[Floats]) -> Floats:
            return np.vstack(list(self._spread_out(data, places).values()))

        try:
            result = minimise(
                domains,
                blocks,
                self.n_components,
                rng,
                sigma0=None if isinstance(sigma0, str) else sigma0,
                n_iter=SWEEPS if self.paper else self.n_iter,
                n_init=1 if self.paper else self.n_init,
                retraction=self.retraction,
                progress=progress,
                layout=whole,
            )
        except Cancelled as stopped:
            if isinstance(stopped.partial, Result):
                stopped.partial = self._make_fit(data, names, blocks, stopped.partial)
            raise
        return self._make_fit(data, names, blocks, result)

    def _known(self, data: HeteroData) -> ScoredPairs:
        """Return what scores there are, and say which are out of reach and who has none."""
        linked = with_identity_links(data) if self.tie_views else data
        links = [one for one in link_scores(linked, self.link_score) if len(one.i)]
        beyond = [one for one in links if ((one.s < 0) | (one.s > 1)).any()]
        if beyond:
            warn_about_data(
                f"Scores of {', '.join(f'{one.source} - {one.target}' for one in beyond)} are "
                "below 0 or above 1, which nearness cannot reach; divide them first."
            )
        like = similarities(data.datasets.values(), self.within, self.random_state)
        given = PAPER_WITHIN if self.paper else self.within_weight
        weights = {name: float(value_for(given, name, 1.0)) for name in data.datasets}
        scored = scored_pairs(data, like, weights, links)
        for name, dataset in data.datasets.items():
            missing = len(dataset) - len(scored.rows.get(name, ()))
            if missing:
                warn_about_data(
                    f"{missing:,} of {name} have neither likeness nor a link: left off the map."
                )
        if not scored.rows:
            raise NotApplicableError(
                self.card.title, ["No item has likeness or a link that counts."]
            )
        return scored

    def _domains(self, data: HeteroData) -> list[Domain]:
        """Return how frames give the places of the items that scores reach."""
        self._inputs: dict[str, PlaceInputs] = {}
        domains = []
        for name, rows in self._scored.rows.items():
            inputs = None
            if self.variant == "parametric":
                like = self._scored.like.get(name)
                inputs = make_inputs(
                    data[name],
                    self.inputs,
                    like,
                    self.random_state,
                    share=None if self.paper else self.directions,
                    least=self.n_components,
                )
            if inputs is None:
                equal = self.equal_spread and not self.paper
                scale = float(np.sqrt(len(rows))) if equal else 1.0
                domains.append(Domain(len(rows), scale=scale))
            else:
                self._inputs[name] = inputs
                domains.append(Domain(len(rows), X=inputs.of(data[name])[rows]))
        return domains

    def _check_sizes(self, domains: list[Domain], reached: int) -> None:
        name, least = min(
            zip(self._scored.rows, domains, strict=True), key=lambda entry: entry[1].size
        )
        if least.size < self.n_components:
            what = "items" if least.X is None else "features or items to compare with"
            raise NotApplicableError(
                self.card.title,
                [
                    f"{name} has only {least.size} {what}; ask for at most {least.size} axes, or "
                    "leave it out."
                ],
            )
        if reached < len(domains):
            raise ParameterError("mkpe: a dataset has neither likeness nor links that count.")

    def _spread_out(self, data: HeteroData, places: list[Floats]) -> dict[str, Floats]:
        out = {
            name: np.full((len(part), self.n_components), np.nan)
            for name, part in data.datasets.items()
        }
        for (name, rows), E in zip(self._scored.rows.items(), places, strict=True):
            out[name][rows] = E
        return out

    def _make_fit(
        self, data: HeteroData, names: list[str], blocks: list[Scores], result: Result
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
        n_likeness = len(blocks) - len(self._scored.links)
        parts = {
            f"{names[block.d]} - {names[block.e]} {'likeness' if b < n_likeness else 'links'}": loss
            for b, (block, loss) in enumerate(zip(blocks, state.losses.tolist(), strict=True))
        }
        return Fit(
            self._spread_out(data, result.descent.places),
            n_iter=len(result.history) - 1,
            loss_history=result.history,
            stopping_reason=result.reason,
            diagnostics={"sigma": state.sigma, "starts": list(result.finals), "loss": parts},
            messages=[
                starts_diagnostic(result.finals),
                make_diagnostic(
                    "loss",
                    "What is not kept",
                    "How far nearness on the map is from what each likeness and each kind of links "
                    "asks for: its part of the loss. The one with most is kept worst.",
                    parts,
                ),
                make_diagnostic(
                    "sigma",
                    "Reach of nearness",
                    "At this distance on the map, in its own units, the score of a pair has fallen "
                    "from 1 to 0.37.",
                    {"distance": state.sigma},
                ),
                *(
                    make_diagnostic(
                        f"importances of {name}",
                        f"Importance of what describes {name}",
                        "How far each feature, or each item that others are compared with, moves "
                        "an item of this dataset; in units of the map.",
                        zip(self._inputs[name].names(data[name]), found.tolist(), strict=True),
                    )
                    for name, found in self.importances_.items()
                ),
            ],
            components=connected_datasets(data, linked.adjacency()),
        )

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return the kernel between places (n, k) and (m, k): scores from 0 to 1, shape (n, m)."""
        return np.asarray(np.exp(-squared_distances(Y_source, Y_target) / self.sigma_**2))

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {name: self._place_all(name, rows) for name, rows in new.items()}

    def _place_all(self, name: str, rows: NewRows) -> Floats:
        if name in self._inputs and name in self.frames_:
            return np.asarray(self._inputs[name].of(rows.dataset) @ self.frames_[name])
        out = np.full((len(rows.dataset), self.n_components), np.nan)
        like = self._scored.like.get(name) if name in self._scored.rows else None
        found = None if like is None else like.with_twins(rows.dataset)
        Y = self.embedding_.coordinates
        for row in range(len(out)):
            ends, starts = self._linked_ends(name, rows, row)
            if found is not None:
                s, twin = found[0][row], found[1][row]
                nearest = np.argsort(-s, kind="stable")[:_STARTS]
                if not ends and twin >= 0:
                    out[row] = Y[name][twin]
                    continue
                weight = 2.0 * self._scored.weights[name] / len(s) ** 2
                ends.append((Y[name], s, np.full(len(s), weight)))
                starts = np.vstack([Y[name][nearest], starts])
            if ends:
                out[row] = place(ends, self.sigma_**-2, starts[:_STARTS])
        return out

    def _linked_ends(
        self, name: str, rows: NewRows, row: int
    ) -> tuple[list[tuple[Floats, Floats, Floats]], Floats]:
        """Return places, scores and weights of what a new row is linked with, and the places."""
        ends = []
        for other, Y in self.embedding_.coordinates.items():
            mine = np.flatnonzero((rows.row == row) & (rows.to == other))
            mine = mine[np.isfinite(Y[rows.to_row[mine]]).all(axis=1)]
            if len(mine):
                weight = rows.weight[mine]
                said = weight if isinstance(self.link_score, str) else self.link_score
                share = 1.0 / (self._scored.n_linked(name, other) or 1)
                s = np.where(weight > 0, said, 0.0)
                ends.append((Y[rows.to_row[mine]], s, np.full(len(mine), share)))
        starts = [F for F, _, _ in ends]
        return ends, np.vstack([np.empty((0, self.n_components)), *starts])
