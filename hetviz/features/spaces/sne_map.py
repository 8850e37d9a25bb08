"""Stochastic neighbour embedding of a graph over the rows of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, JsonObject, Rng, Sparse
from hetviz.core.layout.attraction import LINK, NEIGHBOUR, STATEMENT, AttractionGraph, sne_stiffness
from hetviz.core.layout.guidance_boost import (
    guidance_affinities,
    move_linked_together,
    move_similar_along,
    without_moved,
)
from hetviz.core.layout.pins import Pins, tie_to
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
    """Load the compiled kernels of layout and placement by running them on a tiny input."""
    rng = np.random.default_rng(0)
    P = sp.csr_array(np.full((8, 8), 1 / 56) - np.eye(8) / 56)
    for exact in (True, False):
        layout = SneLayout(P, rng.standard_normal((8, 2)), exact=exact, threads=2)
        layout.run([Phase(1)])
    SneLayout(P, layout.positions).run([Phase(1)])
    median_places(rng.random((2, 8)), layout.positions)


def divergence_diagnostic(kl: float | None) -> Diagnostic:
    """Return the diagnostic of the final divergence."""
    return make_diagnostic(
        "divergence",
        "Distortion of the map",
        "How much the neighbours on the map differ from those in the data (Kullback-Leibler "
        "divergence, in nats). 0 is no distortion. Only maps of the same data and settings can be "
        "compared.",
        {"divergence": kl},
    )


def sne_pulls(
    P: Sparse, links: Sparse, data: HeteroData, guidance_boost: float = 1.0, *, joint: bool = False
) -> AttractionGraph:
    """Return the graph of a map of P, by the reason of each edge."""
    user_links = user_link_weights(data)
    boosted = guidance_affinities(P, user_links, guidance_boost, table_links(data).share)
    # User links are contained in the links too.
    repeated = links.multiply(user_links > 0)
    near = sp.csr_array(P - links)
    near.data = np.maximum(near.data, 0.0)
    parts = {
        NEIGHBOUR: near,
        LINK: sp.csr_array(links - repeated),
        STATEMENT: sp.csr_array(boosted + repeated),
    }
    return AttractionGraph(parts, sne_stiffness, joint)


class SneMap:
    """Fit of a neighbour map."""

    layout: SneLayout
    reason: str

    def __init__(
        self,
        P: Sparse,
        data: HeteroData,
        negative: Sparse,
        guidance_boost: float = 1.0,
        cannot_link_strength: float = 0.3,
        connections: Sparse | None = None,
    ) -> None:
        bonds = table_links(data)
        self._strength = guidance_boost
        self._boosted_links = guidance_affinities(
            P, user_link_weights(data), guidance_boost, bonds.share
        )
        total = 1.0
        if self._boosted_links.nnz:
            whole = sp.csr_array(P + self._boosted_links)
            total = float(whole.sum())
            P = sp.csr_array(whole / total)
        self.placed = PlacedRows.by(P, data, connections)
        self._table_links = bonds.among(self.placed.mask)
        left, right, part = self.placed.pairs(self._boosted_links)
        # Linked items are placed next to each other instead of on top of each other.
        self._loose = CappedPairs(left, right, part / total)
        self._apart = ApartPairs(*self.placed.pairs(negative), cannot_link_strength)

    def run(
        self,
        n_components: int,
        rng: Rng,
        progress: Progress,
        earlier: Mapping[str, Floats] | None = None,
        *,
        again: bool = False,
        refit_schedule: Sequence[Phase] = REFIT_SCHEDULE,
        n_iter: int = 400,
        exaggeration: float = 12.0,
        paper: bool = False,
        degree_weight: float = 0.0,
        followers: Sequence[tuple[Ints, Ints]] = (),
        pins: Pins | None = None,
        tie: float = 0.0,
    ) -> None:
        """Fit the map.

        `again`: The previous map is by this method, so that few items move: of two far items with
            a user link, the one with fewer links moves to the other one, unless both have many
            links, and 100 iterations follow.
        `degree_weight`: Items repel by this power of their share of all affinities. With 1, q_ij
            is proportional to both shares, so that hubs can have many neighbours.
        `pins`: Of placed rows. On a previous map of this method they start at their targets, as
            attraction fades with distance. A new map is turned so that they are close to them.
        `tie`: Strength of the pull of items to their place on a previous map of this method.
        """
        placed = self.placed
        progress(0.0, "Finding a start")
        previous = None if earlier is None else placed.earlier(earlier, n_components)
        again = again and previous is not None
        is_tied = bool(again and tie and pins is None)
        if previous is not None and is_tied:
            previous = without_moved(placed.graph, previous)
            pins = tie_to(previous, tie)
        Y, phases = self._start(previous, again, n_components, rng, n_iter, exaggeration, paper)
        if again:
            phases = tuple(refit_schedule)
            bonds, boosted = self._table_links, placed.among(self._boosted_links)
            Y = move_linked_together(
                boosted, placed.graph, Y, bonds.links, bonds.share, self._strength
            )
            Y = move_similar_along(placed.graph, Y, placed.numbers(followers))
        if pins is not None:
            if previous is None:
                Y = pins.turned(Y)
            elif again and not is_tied:
                Y = pins.moved(Y)
        mass = None
        if degree_weight > 0:
            degree = np.asarray(placed.graph.sum(axis=1)).ravel() ** degree_weight
            mass = degree / degree.mean()
        self.layout = make_layout(
            placed.graph, Y, apart=self._apart, capped=self._loose, mass=mass, pins=pins
        )
        self.reason = "all iterations done"
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
        """Final divergence, and share of negative links that are far enough."""
        history = self.layout.history
        return {
            "kl": history[-1] if history else None,
            "apart far enough": self.layout.share_far_enough(),
        }

    @property
    def message(self) -> Diagnostic:
        """Diagnostic of the final divergence."""
        history = self.layout.history
        return divergence_diagnostic(history[-1] if history else None)

    def _start(
        self,
        previous: Floats | None,
        again: bool,
        k: int,
        rng: Rng,
        n_iter: int,
        exaggeration: float,
        paper: bool,
    ) -> tuple[Floats, tuple[Phase, ...]]:
        P = self.placed.graph
        if previous is not None and again:
            return complete_layout(P, previous, rng), REFIT_SCHEDULE
        if paper:
            return random_start(P.shape[0], k, rng), PAPER_SCHEDULE
        exaggerated, relaxed, final = QUICK_SCHEDULE
        early = n_iter // 8
        phases = (
            replace(exaggerated, n_iter=early, exaggeration=exaggeration),
            replace(relaxed, n_iter=early),
            replace(final, n_iter=n_iter - 2 * early),
        )
        if previous is not None:
            Y = complete_layout(P, previous, rng)
            return SPREAD * (Y - Y.mean(axis=0)) / (Y.std() or 1.0), phases
        return spectral_start(P, k, rng), phases
