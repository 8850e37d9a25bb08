"""CODE: a map on which distance says how often things occur together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints
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
from hetviz.core.prediction.code import MODELS, Block, Result, block_of, maximise, place
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.diagnostics import make_diagnostic, starts_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.features.relations.link_scores import LinkScores, connected_datasets, link_scores
from hetviz.features.spaces.similarity import KINDS, ItemSimilarity, similarities
from hetviz.params import Choice, Integer, PerDataset, Real, value_for
from hetviz.progress import Progress

MOST_PAIRS = 100_000_000
"""Every iteration visits all pairs of linked datasets."""


class CODE(BaseEmbedder):
    """Co-occurrence data embedding of several datasets.

    Attributes
    ----------
    log_likelihood_ : float
        Weighted sum over blocks.
    spread_of_starts_ : list of float
        Final loss of every start.

    Notes
    -----
    Co-occurrences are the scores of links, else their weights; unlisted pairs, links that say
    apart and scores below 0 count 0. Each two datasets that links join, links within a dataset,
    and likeness within one are a block each. See `hetviz.core.prediction.code`. An iteration costs
    O(all pairs of the blocks * k).

    References
    ----------
    Globerson, Chechik, Pereira and Tishby, Euclidean embedding of co-occurrence data, 2007.
    Several datasets and blocks are additions.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="code",
        title="Occurring together (CODE)",
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
        capabilities=frozenset(
            {
                Capability.LINKS,
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
            "Places items so that two lie near each other when they occur together more often "
            "than chance would have it. Made for counts, such as words in documents."
        ),
        caveats=(
            "A pair without a link counts as never seen together, so every item is pushed away "
            "from what it is not linked with.",
            "Different starts give different maps; the best of a few is kept.",
            "Links that say apart, and scores below 0, count as no link.",
        ),
        cost="15 seconds for 1,000 items, a minute and a half for 2,500.",
    )
    memory_estimate = MemoryEstimate(per_pair_within=60.0)
    n_components: NComponents = 2
    model: Annotated[
        str,
        Choice(
            "Distance explains",
            "What nearness is the reason for.",
            options=MODELS,
            details=(
                "See `hetviz.core.prediction.code.MODELS`; of two datasets the first is the one "
                "that comes first in the data."
            ),
        ),
    ] = "MM"
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
            details="Weight of its likelihood; links have 1.",
        ),
    ] = 0.1
    n_init: Annotated[
        int,
        Integer(
            "Starts",
            "How many random starts; the best is kept.",
            low=1,
            high=100,
        ),
    ] = 2
    n_iter: Annotated[
        int,
        Integer(
            "Iterations",
            "Most steps from each start.",
            low=1,
            high=10_000,
            advanced=True,
        ),
    ] = 150
    tie_views: TieViews = True
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _reasons_against(self, data: HeteroData) -> list[str]:
        pairs = max(len(part) for part in data.datasets.values()) ** 2
        if pairs > MOST_PAIRS:
            return [f"Every step looks at all pairs of items; there are {pairs:,} in one dataset."]
        return []

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        linked = with_identity_links(data) if self.tie_views else data
        self._components = connected_datasets(data, linked.adjacency())
        names = list(data.datasets)
        progress(0.0, "Comparing items")
        self._like: dict[str, ItemSimilarity] = {}
        self._blocks: list[Block] = []
        compared = similarities(data.datasets.values(), self.within, self.random_state)
        for d, name in enumerate(names):
            like = compared.get(name)
            weight = float(value_for(self.within_weight, name, 0.1))
            if like is not None and weight > 0 and len(data[name]) > 1:
                i, j, s, share = like.pairs(self.random_state)
                counts = _table(i, j, s * share, (len(data[name]), len(data[name])))
                if counts.nnz:
                    self._like[name] = like
                    self._blocks.append(block_of(d, d, counts, self.model, weight))
        for known in link_scores(linked, "weight"):
            ends = data[known.source], data[known.target]
            counts = _table(known.i, known.j, _counts(known), (len(ends[0]), len(ends[1])))
            if counts.nnz:
                d, e = names.index(known.source), names.index(known.target)
                self._blocks.append(block_of(d, e, counts, self.model, 1.0))
        if not self._blocks:
            raise NotApplicableError(self.card.title, ["No two items occur together."])
        there = self._there(data)

        def spread_out(places: list[Floats]) -> dict[str, Floats]:
            return {
                name: np.where(mask[:, None], Y, np.nan)
                for name, mask, Y in zip(names, there, places, strict=True)
            }

        try:
            found = maximise(
                [len(data[name]) for name in names],
                self._blocks,
                self.n_components,
                rng,
                n_init=self.n_init,
                n_iter=self.n_iter,
                progress=progress,
                layout=lambda places: np.vstack(list(spread_out(places).values())),
            )
        except Cancelled as stopped:
            if isinstance(stopped.partial, Result):
                stopped.partial = self._make_fit(
                    stopped.partial, spread_out(stopped.partial.places)
                )
            raise
        return self._make_fit(found, spread_out(found.places))

    def _there(self, data: HeteroData) -> list[Bools]:
        """Return which items of each dataset occur together with any."""
        there = []
        for d, (name, dataset) in enumerate(data.datasets.items()):
            mass = np.zeros(len(dataset))
            for block in self._blocks:
                mass += block.px if block.d == d else 0.0
                mass += block.py if block.e == d else 0.0
            missing = int((mass == 0).sum())
            if missing:
                warn_about_data(
                    f"{missing:,} of {name} have neither likeness nor a link: left off the map."
                )
            there.append(mass > 0)
        return there

    def _make_fit(self, found: Result, coordinates: dict[str, Floats]) -> Fit:
        self.log_likelihood_ = -found.history[-1]
        self.spread_of_starts_ = list(found.finals)
        names = list(coordinates)
        return Fit(
            coordinates,
            n_iter=len(found.history) - 1,
            loss_history=found.history,
            stopping_reason=found.reason,
            diagnostics={
                "log-likelihood": self.log_likelihood_,
                "starts": list(found.finals),
                "blocks": [
                    {"source": names[block.d], "target": names[block.e], "log-likelihood": value}
                    for block, value in zip(self._blocks, found.values, strict=False)
                ],
            },
            messages=[
                starts_diagnostic(found.finals),
                make_diagnostic(
                    "log-likelihood",
                    "How well pairs are explained",
                    "Mean log-likelihood of the pairs of each two datasets: nearer to 0 is better. "
                    "Compare maps of the same data by it, not kinds of pairs with each other.",
                    [
                        (f"{names[block.d]} - {names[block.e]}", value)
                        for block, value in zip(self._blocks, found.values, strict=False)
                    ],
                ),
            ],
            components=self._components,
        )

    def link_scores(
        self, source: Dataset, target: Dataset, Y_source: Floats, Y_target: Floats
    ) -> Floats:
        """Return exp(-D), how much more often than chance pairs occur together, up to a factor."""
        return np.asarray(np.exp(-squared_distances(Y_source, Y_target)))

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {name: self._place_all(name, rows) for name, rows in new.items()}

    def _place_all(self, name: str, rows: NewRows) -> Floats:
        names = list(self._fitted)
        d = names.index(name)
        like = self._like.get(name)
        found = None if like is None else like.with_twins(rows.dataset)
        out = np.full((len(rows.dataset), self.n_components), np.nan)
        for row in range(len(out)):
            mine = (rows.row == row) & (rows.weight > 0)
            if found is not None and found[1][row] >= 0 and not mine.any():
                out[row] = self.embedding_.coordinates[name][found[1][row]]
                continue
            ends, used = [], False
            for block in self._blocks:
                if d not in (block.d, block.e):
                    continue
                other = block.e if d == block.d else block.d
                p = np.zeros(len(self._fitted[names[other]]))
                if other == d and found is not None and not used:
                    # likeness within comes before links within, and only once
                    p, used = found[0][row], True
                else:
                    here = np.flatnonzero(mine & (rows.to == names[other]))
                    np.add.at(p, rows.to_row[here], rows.weight[here])
                if p.sum() > 0:
                    mass = block.py if d == block.d else block.px
                    prior = mass if "M" in self.model else np.ones_like(mass)
                    F = np.nan_to_num(self.embedding_.coordinates[names[other]])
                    ends.append((F, p / p.sum(), prior, block.weight))
            if ends:
                out[row] = place(ends)
        return out


def _counts(known: LinkScores) -> Floats:
    below = int((known.s < 0).sum())
    if below:
        warn_about_data(
            f"links {known.source} - {known.target}: {below:,} scores below 0 are no "
            "co-occurrences and count as 0."
        )
    return np.maximum(known.s, 0.0)


def _table(i: Ints, j: Ints, s: Floats, shape: tuple[int, int]) -> sp.csr_array:
    table = sp.csr_array((s, (i, j)), shape=shape)
    table.eliminate_zeros()
    return table
