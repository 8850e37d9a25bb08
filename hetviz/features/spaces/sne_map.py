"""Stochastic neighbour embedding of a graph over the rows of some data, from a start or further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, JsonObject, Sparse
from hetviz.core.layout.attraction import LINK, NEIGHBOUR, STATEMENT, AttractionGraph, sne_stiffness
from hetviz.core.layout.guidance_boost import (
    guidance_affinities,
    move_linked_together,
    move_similar_along,
)
from hetviz.core.layout.placement import median_places
from hetviz.core.layout.sne import (
    PAPER_SCHEDULE,
    QUICK_SCHEDULE,
    REFIT_SCHEDULE,
    ApartPairs,
    CappedPairs,
    Phase,
    SneLayout,
)
from hetviz.core.layout.sne_device import make_layout
from hetviz.core.spectral.start import SPREAD, complete_layout, random_start, spectral_start
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import Diagnostic, make_diagnostic
from hetviz.errors import Cancelled
from hetviz.features.relations.user_links import table_links, user_link_weights
from hetviz.features.spaces.neighbor_map import PlacedRows
from hetviz.progress import Progress, ProgressPart

_MIN_FAR_SHARE = 0.95
_MAX_DOUBLINGS = 3
_EXTRA_PHASE = Phase(50)


def warm_up() -> None:
    """Load the compiled kernels of layout and placement by running them on next to nothing."""
    rng = np.random.default_rng(0)
    P = sp.csr_array(np.full((8, 8), 1 / 56) - np.eye(8) / 56)
    for exact in (True, False):
        layout = SneLayout(P, rng.standard_normal((8, 2)), exact=exact, threads=2)
        layout.run([Phase(1)])
    SneLayout(P, layout.positions).run([Phase(1)])
    median_places(rng.random((2, 8)), layout.positions)


def divergence_diagnostic(kl: float | None) -> Diagnostic:
    """Return the final divergence as people are shown it."""
    return make_diagnostic(
        "divergence",
        "What the map cannot show",
        "How far the nearness of items on the map differs from their nearness in the data "
        "(Kullback-Leibler divergence, in nats): 0 is not at all. Less is better between maps of "
        "the same data and settings; maps of other data cannot be compared by it.",
        {"divergence": kl},
    )


def sne_pulls(
    P: Sparse,
    links: Sparse,
    data: HeteroData,
    guidance_boost: float = 1.0,
    *,
    joint: bool = False,
) -> AttractionGraph:
    """Return the graph that a map of P draws, by why there is an edge.

    Parameters
    ----------
    P : csr_array of shape (n_rows, n_rows)
        As of `SneMap`.
    links : csr_array of shape (n_rows, n_rows)
        The part of P that is due to links.
    data, guidance_boost
        As of `SneMap`.
    joint : bool
        See `AttractionGraph`.
    """
    spoken = user_link_weights(data)
    said = guidance_affinities(P, spoken, guidance_boost, table_links(data).share)
    # What was said stands among the links as well.
    doubled = links.multiply(spoken > 0)
    near = sp.csr_array(P - links)
    near.data = np.maximum(near.data, 0.0)
    parts = {
        NEIGHBOUR: near,
        LINK: sp.csr_array(links - doubled),
        STATEMENT: sp.csr_array(said + doubled),
    }
    return AttractionGraph(parts, sne_stiffness, joint)


class SneMap:
    """A neighbour map on its way.

    Parameters
    ----------
    P : csr_array of shape (n_rows, n_rows)
        Affinities of all rows: symmetric, of sum 1. Rows without any get no place.
    data : HeteroData
        What a person said of its items is heard besides.
    negative : csr_array of shape (n_rows, n_rows)
        Pairs that links say are apart.
    guidance_boost : float
        Weight of what a person said beside all else, see
        `hetviz.core.layout.guidance_boost.guidance_affinities`.
    cannot_link_strength : float
        How hard pairs said to be apart are pushed.

    Attributes
    ----------
    placed : Placed
    layout : Layout
        From `run` on.
    reason : str
        Why it stopped, a sentence.
    """

    layout: SneLayout
    reason: str

    def __init__(
        self,
        P: Sparse,
        data: HeteroData,
        negative: Sparse,
        guidance_boost: float = 1.0,
        cannot_link_strength: float = 0.3,
    ) -> None:
        bonds = table_links(data)
        self._strength = guidance_boost
        self._said = guidance_affinities(P, user_link_weights(data), guidance_boost, bonds.share)
        total = 1.0
        if self._said.nnz:
            whole = sp.csr_array(P + self._said)
            total = float(whole.sum())
            P = sp.csr_array(whole / total)
        self.placed = PlacedRows.by(P, data)
        self._bonds = bonds.among(self.placed.mask)
        left, right, part = self.placed.pairs(self._said)
        # Named items lie beside each other, so that each can be seen.
        self._loose = CappedPairs(left, right, part / total)
        self._apart = ApartPairs(*self.placed.pairs(negative), cannot_link_strength)

    def run(
        self,
        n_components: int,
        rng: np.random.Generator,
        progress: Progress,
        earlier: Mapping[str, Floats] | None = None,
        *,
        again: bool = False,
        n_iter: int = 400,
        exaggeration: float = 12.0,
        paper: bool = False,
        degree_weight: float = 0.0,
        followers: Sequence[tuple[Ints, Ints]] = (),
    ) -> None:
        """Make the map.

        Parameters
        ----------
        n_components : int
        rng : numpy.random.Generator
        progress : callable
        earlier : mapping of str to array of shape (n, k), optional
            Places of each row on an earlier map.
        again : bool
            The earlier map is of this method: only what must move does. Of those that were said to
            be together and lie far apart the less held goes to the better held, unless both hold
            many others, and 100 iterations follow.
        n_iter : int
            Iterations from the start; an eighth of them with exaggeration.
        exaggeration : float
        paper : bool
            The printed start and schedule of MR-SNE.
        degree_weight : float
            Items repel by this power of their share of all affinities: at 1 a pair's q_ij is in
            proportion to both shares, so that a hub may have many near it.
        followers : sequence of (array of int, array of int)
            Rows of the named of groups, and of those that may follow them on an earlier map.

        Raises
        ------
        hetviz.errors.Cancelled
            When `progress` raises it; the layout is as far as it got.
        """
        placed = self.placed
        progress(0.0, "Finding a start")
        there = None if earlier is None else placed.earlier(earlier, n_components)
        again = again and there is not None
        Y, phases = self._start(there, again, n_components, rng, n_iter, exaggeration, paper)
        if again:
            bonds, said = self._bonds, placed.among(self._said)
            Y = move_linked_together(
                said, placed.graph, Y, bonds.links, bonds.share, self._strength
            )
            Y = move_similar_along(placed.graph, Y, placed.numbers(followers))
        mass = None
        if degree_weight > 0:
            degree = np.asarray(placed.graph.sum(axis=1)).ravel() ** degree_weight
            mass = degree / degree.mean()
        self.layout = make_layout(placed.graph, Y, apart=self._apart, capped=self._loose, mass=mass)
        self.reason = "all iterations made"
        try:
            self.layout.run(phases, ProgressPart(progress, 0.1, 0.9), placed.whole)
            for _ in range(_MAX_DOUBLINGS):
                if self._apart.strength == 0 or self.layout.share_far_enough() >= _MIN_FAR_SHARE:
                    break
                self.layout.strengthen_apart(2.0)
                self.layout.run([_EXTRA_PHASE], ProgressPart(progress, 0.9, 0.9), placed.whole)
        except Cancelled:
            self.reason = f"stopped after {self.layout.n_iter:,} iterations"
            raise

    @property
    def diagnostics(self) -> JsonObject:
        """The final divergence, and the share of pairs said to be apart that are."""
        history = self.layout.history
        return {
            "kl": history[-1] if history else None,
            "apart far enough": self.layout.share_far_enough(),
        }

    @property
    def message(self) -> Diagnostic:
        """What people are shown of it."""
        history = self.layout.history
        return divergence_diagnostic(history[-1] if history else None)

    def _start(
        self,
        there: Floats | None,
        again: bool,
        k: int,
        rng: np.random.Generator,
        n_iter: int,
        exaggeration: float,
        paper: bool,
    ) -> tuple[Floats, tuple[Phase, ...]]:
        """Return where to start, and the iterations to make from there."""
        P = self.placed.graph
        if there is not None and again:
            return complete_layout(P, there, rng), REFIT_SCHEDULE
        if paper:
            return random_start(P.shape[0], k, rng), PAPER_SCHEDULE
        tight, loose, rest = QUICK_SCHEDULE
        early = n_iter // 8
        phases = (
            replace(tight, n_iter=early, exaggeration=exaggeration),
            replace(loose, n_iter=early),
            replace(rest, n_iter=n_iter - 2 * early),
        )
        if there is not None:
            Y = complete_layout(P, there, rng)
            return SPREAD * (Y - Y.mean(axis=0)) / (Y.std() or 1.0), phases
        return spectral_start(P, k, rng), phases
