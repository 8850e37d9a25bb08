"""Layouts on a device, against the processor and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.device import ComputeDevice, compute_on
from hetviz.core.layout import sne_device
from hetviz.core.layout.pins import Pin, Pins
from hetviz.core.layout.sne import ApartPairs, CappedPairs, Phase, SneLayout, WideSneLayout
from hetviz.core.layout.sne_device import DeviceSneLayout, make_layout
from hetviz.core.spectral.start import spectral_start
from hetviz.errors import Cancelled
from tests.core.devices import DEVICES, device_of
from tests.core.layout.test_sne import START, P, affinities, kl_of
from tests.gradcheck import gradient_error

RNG = np.random.default_rng(7)
MASS = RNG.uniform(0.3, 2.0, 120)
MASS /= MASS.mean()
GUIDED = {
    # One pair twice, and an item in several pairs.
    "apart": ApartPairs(
        np.array([0, 5, 9, 0]), np.array([30, 40, 5, 30]), np.array([1, 0.5, 0.2, 1])
    ),
    "capped": CappedPairs(np.array([0, 5]), np.array([7, 11]), np.array([2e-4, 3e-4])),
    "pins": Pins((Pin.at(np.array([3, 4]), (0.2, 1.1)), Pin.at(np.array([4, 8]), "left")), 0.5),
}
PLACES = {1: START[:, :1], 2: START, 3: RNG.normal(size=(120, 3))}


def processor(P: Any, Y: Any, **more: Any) -> SneLayout:
    return (SneLayout if Y.shape[1] <= 2 else WideSneLayout)(P, Y, **more)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("more", [{}, GUIDED, {"mass": MASS, **GUIDED}])
def test_device_forces_equal_processor(
    name: str, axes: int, more: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sne_device, "_BLOCK_ENTRIES", 2_000)
    for double, off in ((True, 1e-14), (False, 1e-6)):
        Y = PLACES[axes]
        first = DeviceSneLayout(device_of(name), P, Y, double=double, **more)
        other = processor(P, Y, double=double, **more)
        wanted = other.gradient(2.0)
        assert np.abs(first.gradient(2.0) - wanted).max() < off * np.abs(wanted).max()
        assert first.kl(exact=True) == pytest.approx(other.kl(exact=True), rel=max(off, 1e-12))
        np.testing.assert_allclose(first.positions, Y, rtol=1e-6)


@pytest.mark.parametrize("name", DEVICES)
def test_device_gradient_equals_finite_differences(name: str) -> None:
    layout = DeviceSneLayout(device_of(name), P, START, double=True)
    error = gradient_error(lambda Y: kl_of(P, Y), layout.gradient(), START, n_entries=20)
    assert error < 1e-8


@pytest.mark.parametrize("name", DEVICES)
def test_device_steps_equal_processor(name: str) -> None:
    for axes in (1, 2, 3):
        Y = PLACES[axes]
        first = DeviceSneLayout(device_of(name), P, Y, double=True, **GUIDED)
        other = processor(P, Y, double=True, **GUIDED)
        for layout in (first, other):
            layout.run([Phase(20, 4.0), Phase(10)])
        np.testing.assert_allclose(first.positions, other.positions, atol=1e-10)
        assert first.history == pytest.approx(other.history, rel=1e-10)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("extent", [0.5, 60.0])
def test_device_grid_forces_equal_processor(name: str, extent: float) -> None:
    Y = extent * RNG.uniform(-1, 1, size=(800, 2)) * [1.0, 0.3]
    mass = RNG.uniform(0.5, 1.5, 800)
    empty = sp.csr_array((800, 800))
    first = DeviceSneLayout(device_of(name), empty, Y, exact=False, mass=mass).gradient()
    other = SneLayout(empty, Y, exact=False, mass=mass).gradient()
    assert np.abs(first - other).max() < 2e-6 * np.abs(other).max()


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("exact", [True, False])
def test_device_layout_is_deterministic_and_as_good(name: str, exact: bool) -> None:
    start = spectral_start(P, 2, np.random.default_rng(0))
    first, again = (DeviceSneLayout(device_of(name), P, start, exact=exact) for _ in range(2))
    for layout in (first, again):
        layout.run([Phase(20, 12.0)])
    np.testing.assert_array_equal(first.positions, again.positions)
    other = SneLayout(P, start, exact=exact)
    other.run([Phase(20, 12.0)])
    for layout in (first, other):
        layout.run([Phase(80)])
    assert first.kl(exact=True) == pytest.approx(other.kl(exact=True), rel=0.05)
    assert first.history[-1] == pytest.approx(first.kl(exact=True), rel=0.02)


def test_padded_blocks_of_long_and_empty_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sne_device, "_BLOCK_ENTRIES", 64)
    W = affinities(60, 2).toarray()
    W[0, 1:40] = W[1:40, 0] = 0.01
    W[50] = W[:, 50] = 0.0
    graph = sp.csr_array(W / W.sum())
    apart = ApartPairs(np.array([50]), np.array([51]), np.ones(1))
    Y = 0.1 * START[:60]
    first, other = (make(graph, Y, apart=apart, double=True) for make in (on_numpy, SneLayout))
    np.testing.assert_allclose(first.gradient(), other.gradient(), atol=1e-14)


def on_numpy(*options: Any, **more: Any) -> DeviceSneLayout:
    return DeviceSneLayout(ComputeDevice(), *options, **more)


def test_make_layout_uses_the_device_and_can_be_cancelled() -> None:
    assert type(make_layout(P, START)) is SneLayout
    assert type(make_layout(P, PLACES[3])) is WideSneLayout
    with compute_on(ComputeDevice()):
        layout = make_layout(P, START, **GUIDED)
    assert isinstance(layout, DeviceSneLayout)
    before = layout.share_far_enough()
    layout.strengthen_apart(4.0)

    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        assert figures["layout"]().shape == (120, 2)
        if fraction > 0.4:
            raise Cancelled

    with pytest.raises(Cancelled):
        layout.run([Phase(100)], stop)
    assert layout.n_iter == 50
    assert layout.share_far_enough() >= before
