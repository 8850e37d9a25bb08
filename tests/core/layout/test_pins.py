"""Pins: targets, forces and limits in both layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hetviz.core.layout.pins import Box, Pin, Pins
from hetviz.core.layout.sne import QUICK_SCHEDULE, REFIT_SCHEDULE, Phase, SneLayout, WideSneLayout
from hetviz.core.layout.umap import UmapLayout
from hetviz.core.spectral.start import spectral_start
from tests.core.layout import test_umap as umap_case
from tests.core.layout.test_sne import START, P, kl_of
from tests.gradcheck import gradient_error

GROUP, ITEM, SIDE = np.array([0, 3, 6, 9]), np.array([40]), np.array([1, 2, 4, 5])
PLACES: list[Pin] = [
    Pin.at(GROUP, (0.1, 0.8)),
    Pin.at(ITEM, (1.2, 0.5)),
    Pin.at(SIDE, "left"),
    Pin.at(np.array([70, 71]), "top right"),
]


def pins(strength: float, *chosen: Pin) -> Pins:
    return Pins(chosen or tuple(PLACES), strength)


def test_offsets_of_places_sides_and_corners() -> None:
    Y = np.array([[0.0, 0.0], [10.0, 20.0], [2.0, 2.0], [4.0, 6.0]])
    rows = np.array([2, 3])

    def offsets(place: Any) -> Any:
        one = Pins((Pin.at(rows, place),), 1.0)
        return one.offsets(Y, one.box(Y))[rows].tolist()

    # The mean of a group is (3, 4), and the box of the others is 10 by 20.
    assert offsets((0.5, 0.5)) == [[-2, -6], [-2, -6]]
    assert offsets("left") == [[0, 0], [1.5, 0]]
    assert offsets("right") == [[-5.5, 0], [-3.5, 0]]
    assert offsets("bottom") == [[0, 0], [0, 1]]
    assert offsets("top left") == [[0, -13], [1.5, -9]]


def test_points_are_folded_onto_a_side() -> None:
    box = Box(np.zeros(2), np.array([10.0, 20.0]))
    left, corner = (Pin.at(np.arange(4), place) for place in ("left", "top right"))
    Y = np.array([[1.0, 2.0], [2.5, 3.0], [10.0, 5.0], [12.0, 16.0]])
    np.testing.assert_allclose(left.moved(Y, box), [[1, 2], [2.5, 3], [0, 5], [0, 16]])
    Z = np.array([[8.0, 16.0], [7.5, 0.0], [0.0, 15.0], [3.0, 6.0]])
    np.testing.assert_allclose(corner.moved(Z, box), [[8, 16], [7.5, 20], [10, 15], [9, 18]])
    assert not corner.offsets(corner.moved(Z, box), box).any()


def test_group_keeps_its_shape_when_moved() -> None:
    moved = pins(1.0, PLACES[0]).moved(START)
    np.testing.assert_allclose(
        moved[GROUP] - moved[GROUP].mean(axis=0), START[GROUP] - START[GROUP].mean(axis=0)
    )
    box = pins(1.0, PLACES[0]).box(START)
    np.testing.assert_allclose(moved[GROUP].mean(axis=0), box.low + box.size * [0.1, 0.8])
    others = np.setdiff1d(np.arange(120), GROUP)
    np.testing.assert_array_equal(moved[others], START[others])


@pytest.mark.parametrize("side", ["left", "right", "top", "bottom"])
def test_turned_start_has_pinned_points_on_their_side(side: str) -> None:
    Y = START * [3.0, 1.0]
    rows = np.argsort(Y[:, 0])[:12]
    turned = pins(1.0, Pin.at(rows, side)).turned(Y)
    np.testing.assert_allclose(
        np.linalg.norm(turned - turned[0], axis=1), np.linalg.norm(Y - Y[0], axis=1)
    )
    axis = int(side in ("top", "bottom"))
    sign = -1 if side in ("left", "bottom") else 1
    assert sign * (turned[rows, axis].mean() - turned[:, axis].mean()) > 1.0


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_gradient_with_pins_equals_finite_differences(axes: int) -> None:
    Y = np.random.default_rng(3).normal(size=(120, axes))
    pinned = pins(0.7)
    layout = (SneLayout if axes <= 2 else WideSneLayout)(P, Y, pins=pinned, double=True)
    box = pinned.box(Y)

    def objective(Y: Any) -> float:
        return kl_of(P, Y) + 0.7 / 240 * float((pinned.offsets(Y, box) ** 2).sum())

    assert objective(Y) > kl_of(P, Y)
    assert gradient_error(objective, layout.gradient(), Y) < 1e-7


def test_no_strength_equals_no_pins() -> None:
    plain, other = (SneLayout(P, START, threads=2, pins=some) for some in (None, pins(0.0)))
    for layout in (plain, other):
        layout.run([Phase(60)])
    np.testing.assert_array_equal(other.positions, plain.positions)
    graph, start = umap_case.GRAPH, umap_case.START
    first = UmapLayout(graph, start, n_epochs=50)
    second = UmapLayout(graph, start, n_epochs=50, pins=pins(0.0))
    for umap in (first, second):
        umap.run()
    np.testing.assert_array_equal(second.positions, first.positions)


def largest_offset(pinned: Pins, Y: Any) -> float:
    box = pinned.box(Y)
    return float(np.abs(pinned.offsets(Y, box)).max() / box.size.max())


def test_strong_pins_are_met() -> None:
    start = spectral_start(P, 2, np.random.default_rng(0))
    plain = SneLayout(P, start)
    plain.run(QUICK_SCHEDULE)
    reached = []
    for strength in (0.01, 0.1, 1.0):
        layout = SneLayout(P, plain.positions, pins=pins(strength))
        layout.run(REFIT_SCHEDULE)
        reached.append(largest_offset(pins(strength), layout.positions))
    assert largest_offset(pins(1.0), plain.positions) > 0.3
    assert reached[0] > reached[1] > reached[2]
    assert reached[2] < 0.03
    umap = UmapLayout(umap_case.GRAPH, umap_case.START, n_epochs=100, pins=pins(1.0))
    umap.run()
    assert largest_offset(pins(1.0), umap.positions) < 1e-6


def test_pinned_layout_is_the_same_on_any_number_of_threads() -> None:
    layouts = [SneLayout(P, START, pins=pins(1.0), threads=threads) for threads in (1, 2, 3)]
    for layout in layouts:
        layout.run([Phase(20, 4.0), Phase(30)])
        np.testing.assert_array_equal(layout.positions, layouts[0].positions)
