"""Parts of a drawn map: positions, frame, colours, visible rows and naming order.

Each part depends only on data, run and view, and is cached while the data live.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hetviz._types import Bools, Floats, Ints
from hetviz.data import HeteroData
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.data.queries.filters import passing
from hetviz.metrics.fit.nearest import close_distances
from hetviz.plots.colour import Colouring, colouring
from hetviz.plots.label_placement import Frame
from hetviz.plots.planar import DrawnPoints, points_to_draw
from hetviz.ui.map_data import priority
from hetviz.ui.map_data.array_cache import RESULTS, PackedArray
from hetviz.ui.map_data.periods import maps_with_one_frame
from hetviz.workspace import MapResult, State

T = TypeVar("T")

# With more rows, only a sample of them can get a picture or a name.
MAX_ROWS_ALL_NAMED = 100_000
# Rows per piece of the positions, so that a large map appears step by step.
PIECE_ROWS = 250_000
# Positions are integers of 20 bits. The largest one means no position.
GRID_STEPS = 2**20 - 2


@dataclass(frozen=True, eq=False)
class Geometry:
    """Positions of a map as drawn and as sent to the browser."""

    # Positions that the browser draws, on a grid of 2^20 lines each way.
    points: NDArray[np.float32]
    placed: Bools
    notes: tuple[str, ...]
    # Piece k of m holds the rows k, k + m, ...: the upper 16 bits of x, of y, and the lower 4 of
    # both, 5 bytes a row.
    pieces: tuple[PackedArray, ...]
    extent: tuple[float, float, float, float]  # Left, low, right and high edge of the grid
    enlarged: tuple[tuple[float, float, float], ...]  # As in `DrawnPoints`

    @property
    def id(self) -> str:
        """Identity of the layout."""
        return self.pieces[0].key


def get_geometry(state: State, run: MapResult | None) -> Geometry:
    """Return the positions of a run as drawn; without a run no row has one."""
    data = state.opened()

    def make() -> Geometry:
        embedding = None if run is None else state.embedding(run)
        if embedding is None:
            nowhere = np.full((data.n_rows, 2), np.nan)
            form = DrawnPoints(nowhere, np.zeros(data.n_rows, dtype=bool), ())
        else:
            form = points_to_draw(embedding, enlarges=run is None or run.period is None)
        return round_to_grid(form)

    return _compute_for_items(data, ("geometry", id(run)), make, run)


def link_reach(state: State, run: MapResult | None) -> Floats | None:
    """Return the largest distance of close links, shape (n_datasets, n_datasets)."""
    # NaN for datasets without links; None without a map.
    data, held_out = state.opened(), state.held_out
    embedding = None if run is None else state.embedding(run)
    if embedding is None:
        return None
    links = [*data.links, *(() if held_out is None else held_out.links)]
    joined = frozenset((group.source, group.target) for group in links)
    key = ("reach", id(run), joined)
    return _compute_for_items(
        data, key, lambda: close_distances(data, embedding, pairs=joined, others=held_out), run
    )


def round_to_grid(form: DrawnPoints) -> Geometry:
    """Return points as they are sent to the browser."""
    points_placed = form.points[form.placed]
    low = points_placed.min(axis=0) if len(points_placed) else np.zeros(2)
    high = points_placed.max(axis=0) if len(points_placed) else np.ones(2)
    high = np.where(high > low, high, low + 1.0)
    steps = np.full(form.points.shape, GRID_STEPS + 1, dtype=np.int64)
    steps[form.placed] = np.rint((points_placed - low) / (high - low) * GRID_STEPS)
    # The browser uses the same formula, so that both have the same numbers.
    points = np.where(form.placed[:, None], low + steps * (high - low) / GRID_STEPS, np.nan)
    number = max(1, -(-len(steps) // PIECE_ROWS))
    pieces = tuple(PackedArray.pack(_byte_planes(steps[k::number]), "|u1") for k in range(number))
    extent = (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
    return Geometry(
        points.astype(np.float32), form.placed, form.notes, pieces, extent, form.enlarged
    )


def _byte_planes(steps: Ints) -> NDArray[np.uint8]:
    high = (steps.T >> 4).astype("<u2")
    low = ((steps[:, 0] & 15) | ((steps[:, 1] & 15) << 4)).astype(np.uint8)
    return np.concatenate([np.frombuffer(high.tobytes(), dtype=np.uint8), low])


def frame_of(state: State, run: MapResult | None) -> Frame:
    """Return the initial frame around the positions of the shown datasets, on all periods."""
    data = state.opened()
    maps = maps_with_one_frame(state, run)

    def make() -> Frame:
        forms = [get_geometry(state, each) for each in maps]
        mask = layer_mask(state)
        points = [form.points[mask & form.placed].astype(np.float64) for form in forms]
        return Frame.around(np.concatenate([*points, np.empty((0, 2))]))

    key = ("frame", *map(id, maps), hidden_layers(state))
    return _compute_for_items(data, key, make, maps)


def get_colouring(data: HeteroData, key: str | None) -> Colouring:
    """Return a cached colouring of the data."""
    return RESULTS.get_or_compute(data, ("colouring", key), lambda: colouring(data, key))


def filter_mask(state: State) -> Bools | None:
    """Return which rows pass the filters, shape (n_rows,), or None without any filter."""
    data, filters = state.opened(), tuple(state.filters)
    if not filters:
        return None
    return RESULTS.get_or_compute(data, ("passing", filters), lambda: passing(data, filters))


def named_sample(state: State, run: MapResult | None) -> Ints:
    """Return the sampled rows of a large map that may get a picture or a name, in order."""
    data = state.opened()
    form = get_geometry(state, run)

    def make() -> Ints:
        return priority.sample_rows(form.points, visible_mask(state) & form.placed)

    key = ("sample", id(run), hidden_layers(state), tuple(state.filters))
    # Filters may use guidance. Without filters only the positions matter.
    if state.filters:
        return RESULTS.get_or_compute(data, key, make, run)
    return _compute_for_items(data, key, make, run)


def _compute_for_items(
    data: HeteroData, key: Hashable, make: Callable[[], T], keep_alive: object
) -> T:
    """Return a result of items and map alone, cached for all data with the same items."""
    owner = tuple(data.datasets.values()) or data
    return ITEM_RESULTS.get_or_compute(owner, key, make, keep_alive)


def hidden_layers(state: State) -> frozenset[str]:
    """Return the datasets that are not drawn."""
    return frozenset(state.view.hidden)


def layer_mask(state: State) -> Bools:
    """Return which rows belong to datasets that are shown."""
    data = state.opened()
    mask = np.zeros(data.n_rows, dtype=bool)
    for name, rows in data.offsets.items():
        mask[rows] = name not in state.view.hidden
    return mask


def visible_mask(state: State) -> Bools:
    """Return which rows are on shown layers and pass the filters."""
    passes = filter_mask(state)
    mask = layer_mask(state)
    return mask if passes is None else mask & passes


def pack_filter_mask(state: State) -> PackedArray:
    """Return the filter mask for the browser; only called with filters."""
    passes = filter_mask(state)
    assert passes is not None  # noqa: S101 - as the caller promised
    return RESULTS.get_or_compute(
        state.opened(), ("mask", tuple(state.filters)), lambda: PackedArray.pack(passes, "|u1")
    )


def naming_order(state: State, run: MapResult | None) -> PackedArray:
    """Return the rows in the order in which they get a picture or a name."""
    data = state.opened()
    form = get_geometry(state, run)
    if data.n_rows > MAX_ROWS_ALL_NAMED:
        key: tuple[Any, ...] = ("order", id(run), hidden_layers(state), tuple(state.filters))
    else:
        key = ("order", id(run))

    def make() -> PackedArray:
        many = data.n_rows > MAX_ROWS_ALL_NAMED
        rows = named_sample(state, run) if many else np.flatnonzero(form.placed)
        weight = RESULTS.get_or_compute(
            data, "linked weight", lambda: priority.sum_link_weights(data)
        )
        return PackedArray.pack(priority.sort_by_importance(rows, form.points, weight), "<i4")

    return RESULTS.get_or_compute(data, key, make, run)
