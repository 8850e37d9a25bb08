"""CODE: a map on which distances model how often items occur together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints, Rng
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import LINKED_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import warn_about_data, warn_unplaced
from hetviz.algorithms.memory import MemoryEstimate
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import (
    DrawnBy,
    NComponents,
    NInit,
    NIter,
    RandomState,
    TieViews,
    Within,
    WithinWeight,
)
from hetviz.core.kernels.kernels import squared_distances
from hetviz.core.prediction.code import (
    MODELS,
    CodeResult,
    CooccurrenceBlock,
    fit_code,
    make_cooccurrence_block,
    place_item,
)
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.diagnostics import make_diagnostic, starts_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.errors import NotApplicableError
from hetviz.features.problems.link_scores import LinkScores, link_scores
from hetviz.features.relations.pairing import connected_datasets
from hetviz.features.spaces.similarity import ItemSimilarity, similarities
from hetviz.params import Changed, Choice, value_for
from hetviz.progress import Progress, keep_partial

MAX_PAIRS = 100_000_000
"""Maximum number of pairs. Each iteration visits all pairs of linked datasets."""


class CODE(BaseEmbedder):
    """Co-occurrence data embedding of several datasets.

    Attributes
    ----------
    log_likelihood_ : float
        Weighted sum over blocks.
    spread_of_starts_ : list of float
        Final loss of each start.

    Notes
    -----
    Co-occurrences are the scores of links, or else their weights. Unlisted pairs, negative links
    and scores below 0 count as 0. Links between two datasets, links within a dataset, and
    similarities within a dataset are one block each. See `hetviz.core.prediction.code`. An
    iteration costs O(all pairs of the blocks * k).

    References
    ----------
    Globerson, Chechik, Pereira and Tishby, Euclidean embedding of co-occurrence data, 2007.
    Several datasets and blocks are additions.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="code",
        title="Co-occurrence data embedding (CODE)",
        family="Links and scores",
        papers=(
            Reference(
                "A. Globerson, G. Chechik, F. Pereira and N. Tishby",
                "Euclidean embedding of co-occurrence data",
                "Journal of Machine Learning Research 8, 2265-2295",
                2007,
            ),
        ),
        equation=(
            r"\max_{A, B} \sum_{ij} \bar p_{ij} \log p_{ij},\quad"
            r" p_{ij} \propto \bar p_i \bar p_j\, e^{-\lVert a_i - b_j \rVert^2}"
        ),
        needs=(Need.POSITIVE_LINKS,),
        capabilities=LINKED_FEATURES
        | {Capability.WITHIN_LINKS, Capability.SCORES, Capability.ITERATIVE},
        summary=(
            "Places items that occur together close to each other, compared with chance. Made for "
            "counts, such as words in documents."
        ),
        caveats=(
            "A pair without a link counts as never seen together, so each item is pushed away from "
            "all items without a link to it.",
            "Different starts give different maps. The best of a few is used.",
            "Apart links and scores below 0 count as no link.",
        ),
        cost="15 seconds for 1,000 items, a minute and a half for 2,500.",
        former_titles=("Occurring together (CODE)",),
    )
    memory_estimate = MemoryEstimate(per_pair_within=60.0)
    n_components: NComponents = 2
    model: Annotated[
        str,
        Choice(
            "Distances explain",
            "Which probabilities the distances model.",
            options=MODELS,
            details=(
                "See `hetviz.core.prediction.code.MODELS`. The first dataset is the one that comes "
                "first in the data."
            ),
        ),
    ] = "MM"
    within: Within = "auto"
    within_weight: Annotated[
        WithinWeight, Changed(details="Weight of the likelihood. Links have weight 1.")
    ] = 0.1
    n_init: NInit = 2
    n_iter: Annotated[NIter, Changed(help="Maximum number of steps from each start.")] = 150
    tie_views: TieViews = True
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _reasons_against(self, data: HeteroData) -> list[str]:
        pairs = max(len(part) for part in data.datasets.values()) ** 2
        if pairs > MAX_PAIRS:
            return [f"Each step uses all pairs of items, and one dataset has {pairs:,} pairs."]
        return []

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        linked = with_identity_links(data) if self.tie_views else data
        self._components = connected_datasets(data, linked.adjacency())
        names = list(data.datasets)
        progress(0.0, "Comparing items")
        self._like: dict[str, ItemSimilarity] = {}
        self._blocks: list[CooccurrenceBlock] = []
        similarity_by_dataset = similarities(data.datasets.values(), self.within, self._seed)
        for d, name in enumerate(names):
            similarity = similarity_by_dataset.get(name)
            weight = float(value_for(self.within_weight, name, 0.1))
            if similarity is not None and weight > 0 and len(data[name]) > 1:
                i, j, s, share = similarity.pairs(self._seed)
                counts = _sparse_counts(i, j, s * share, (len(data[name]), len(data[name])))
                if counts.nnz:
                    self._like[name] = similarity
                    self._blocks.append(make_cooccurrence_block(d, d, counts, self.model, weight))
        for scores in link_scores(linked, "weight"):
            ends = data[scores.source], data[scores.target]
            counts = _sparse_counts(
                scores.i, scores.j, _nonnegative_scores(scores), (len(ends[0]), len(ends[1]))
            )
            if counts.nnz:
                d, e = names.index(scores.source), names.index(scores.target)
                self._blocks.append(make_cooccurrence_block(d, e, counts, self.model, 1.0))
        if not self._blocks:
            raise NotApplicableError(self.card.title, ["No two items occur together."])
        masks = self._placed_masks(data)

        def by_dataset(places: list[Floats]) -> dict[str, Floats]:
            return {
                name: np.where(mask[:, None], Y, np.nan)
                for name, mask, Y in zip(names, masks, places, strict=True)
            }

        def make_fit(result: CodeResult) -> Fit:
            return self._make_fit(result, by_dataset(result.places))

        with keep_partial(lambda result: result and make_fit(result)):
            result = fit_code(
                [len(data[name]) for name in names],
                self._blocks,
                self.n_components,
                rng,
                n_init=self.n_init,
                n_iter=self.n_iter,
                progress=progress,
                layout=lambda places: np.vstack(list(by_dataset(places).values())),
            )
        return make_fit(result)

    def _placed_masks(self, data: HeteroData) -> list[Bools]:
        """Return which items of each dataset have a co-occurrence."""
        masks = []
        for d, (name, dataset) in enumerate(data.datasets.items()):
            mass = np.zeros(len(dataset))
            for block in self._blocks:
                mass += block.px if block.d == d else 0.0
                mass += block.py if block.e == d else 0.0
            warn_unplaced(int((mass == 0).sum()), name, "no similarities and no links")
            masks.append(mass > 0)
        return masks

    def _make_fit(self, result: CodeResult, coordinates: dict[str, Floats]) -> Fit:
        self.log_likelihood_ = -result.history[-1]
        self.spread_of_starts_ = list(result.finals)
        names = list(coordinates)
        return Fit(
            coordinates,
            n_iter=len(result.history) - 1,
            loss_history=result.history,
            stopping_reason=result.reason,
            diagnostics={
                "log-likelihood": self.log_likelihood_,
                "starts": list(result.finals),
                "blocks": [
                    {"source": names[block.d], "target": names[block.e], "log-likelihood": value}
                    for block, value in zip(self._blocks, result.values, strict=False)
                ],
            },
            messages=[
                starts_diagnostic(result.finals),
                make_diagnostic(
                    "log-likelihood",
                    "How well pairs are explained",
                    "Mean log-likelihood of the pairs of each two datasets: closer to 0 is better. "
                    "Compare different maps of the same data, not kinds of pairs with each other.",
                    [
                        (f"{names[block.d]} - {names[block.e]}", value)
                        for block, value in zip(self._blocks, result.values, strict=False)
                    ],
                ),
            ],
            components=self._components,
        )

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return exp(-D): the co-occurrence relative to chance, up to a factor."""
        return np.asarray(np.exp(-squared_distances(Y_source, Y_target)))

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {name: self._place_all(name, rows) for name, rows in new.items()}

    def _place_all(self, name: str, rows: NewRows) -> Floats:
        names = list(self._fitted)
        d = names.index(name)
        similarity = self._like.get(name)
        scores_and_twins = None if similarity is None else similarity.with_twins(rows.dataset)
        out = np.full((len(rows.dataset), self.n_components), np.nan)
        for row in range(len(out)):
            links = (rows.row == row) & (rows.weight > 0)
            if scores_and_twins is not None and scores_and_twins[1][row] >= 0 and not links.any():
                out[row] = self.embedding_.coordinates[name][scores_and_twins[1][row]]
                continue
            ends, has_similarity = [], False
            for block in self._blocks:
                if d not in (block.d, block.e):
                    continue
                other = block.e if d == block.d else block.d
                p = np.zeros(len(self._fitted[names[other]]))
                if other == d and scores_and_twins is not None and not has_similarity:
                    # The block of similarities comes before that of links within, and only once.
                    p, has_similarity = scores_and_twins[0][row], True
                else:
                    block_links = np.flatnonzero(links & (rows.to == names[other]))
                    np.add.at(p, rows.to_row[block_links], rows.weight[block_links])
                if p.sum() > 0:
                    mass = block.py if d == block.d else block.px
                    prior = mass if "M" in self.model else np.ones_like(mass)
                    F = np.nan_to_num(self.embedding_.coordinates[names[other]])
                    ends.append((F, p / p.sum(), prior, block.weight))
            if ends:
                out[row] = place_item(ends)
        return out


def _nonnegative_scores(scores: LinkScores) -> Floats:
    if n_negative := int((scores.s < 0).sum()):
        warn_about_data(
            f"links {scores.source} - {scores.target}: scores below 0 ({n_negative:,}) count as 0, "
            "because co-occurrences cannot be negative."
        )
    return np.maximum(scores.s, 0.0)


def _sparse_counts(i: Ints, j: Ints, s: Floats, shape: tuple[int, int]) -> sp.csr_array:
    table = sp.csr_array((s, (i, j)), shape=shape)
    table.eliminate_zeros()
    return table
