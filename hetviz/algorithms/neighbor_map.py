"""Template of methods whose map is a stochastic neighbour embedding of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hetviz._types import Rng
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Fit
from hetviz.core.layout.sne import REFIT_SCHEDULE, SHORT_SCHEDULE, Phase
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.diagnostics import Diagnostic
from hetviz.features.spaces.pins import find_pins
from hetviz.features.spaces.sne_map import SneMap, warm_up
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.progress import Progress, ProgressPart, keep_partial

NO_GRAPH = "All items have equal or no features, and no link counts."


class NeighborMapEmbedder(BaseEmbedder):
    """Base class of methods that end with a `SneMap`."""

    n_short_refits = 8

    def prepare_refits(self, data: HeteroData) -> None:
        self._refit_schedule: Sequence[Phase] = SHORT_SCHEDULE

    @classmethod
    def warm_up(cls) -> None:
        """Load the compiled kernels, so that the next fit starts faster."""
        warm_up()

    def _run(
        self,
        sne_map: SneMap,
        make_fit: Callable[[], Fit],
        data: HeteroData,
        rng: Rng,
        progress: Progress,
        start: Embedding | None,
        **options: Any,
    ) -> Fit:
        """Lay out the map from `start`; a cancelled layout is a fit too."""
        params = self.get_params(deep=False)
        if params.get("pins"):
            mask = sne_map.placed.mask
            options["pins"] = find_pins(data, params["pins"], params["pin_strength"], mask)
        # Before the layout has a start, there is nothing to keep.
        with keep_partial(lambda _: make_fit() if hasattr(sne_map, "layout") else None):
            sne_map.run(
                params["n_components"],
                rng,
                ProgressPart(progress, 0.4, 0.95),
                coordinates_of(data, start) if start else None,
                again=self._is_own_map(start),
                refit_schedule=getattr(self, "_refit_schedule", REFIT_SCHEDULE),
                tie=params.get("tie", 0.0),
                **options,
            )
        return make_fit()


def sne_fit(
    sne_map: SneMap,
    diagnostics: Mapping[str, object] | None = None,
    messages: Sequence[Diagnostic] = (),
) -> Fit:
    """Return the result of a layout, with diagnostics of the method before those of the layout."""
    return Fit(
        sne_map.placed.by_dataset(sne_map.layout.positions),
        n_iter=sne_map.layout.n_iter,
        loss_history=sne_map.layout.history,
        stopping_reason=sne_map.reason,
        diagnostics={**sne_map.diagnostics, **(diagnostics or {})},
        messages=[*messages, sne_map.message],
        components=sne_map.placed.components,
    )
