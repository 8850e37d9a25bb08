"""Neighbours found on a device, against those of the processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.device import ComputeDevice, compute_on
from hetviz.core.graph import device_neighbors, neighbors
from hetviz.core.graph.device_neighbors import fits_in_memory, nearest_rows_on
from hetviz.core.graph.distances import FeatureSpace
from hetviz.core.graph.neighbors import (
    collect_recalls,
    cross_neighbors,
    feature_neighbors,
    nearest_neighbors,
)
from hetviz.errors import DataWarning
from tests.core.devices import DEVICES, device_of

RNG = np.random.default_rng(0)
PLAIN = RNG.normal(size=(500, 6))
# Groups so tight that single precision tells nobody in them apart.
TIGHT = 1e-4 * RNG.normal(size=(500, 6)) + 10.0 * RNG.normal(size=(5, 6))[np.arange(500) % 5]


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_neighbors, "BLOCK_ROWS", 64)
    monkeypatch.setattr(device_neighbors, "BLOCK_COLUMNS", 90)
    monkeypatch.setattr(device_neighbors, "_ENTRIES", 1_000)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("X", [PLAIN, TIGHT, 1e90 * PLAIN], ids=["plain", "tight", "huge"])
def test_device_neighbors_equal_processor(name: str, X: Any) -> None:
    shares: list[float] = []
    index, squared = nearest_rows_on(device_of(name), X, 20, progress=shares.append)
    np.testing.assert_array_equal(index, nearest_neighbors(FeatureSpace(X), 20).index)
    apart = ((X[:, None] - X[index]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, apart, rtol=1e-9)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("name", DEVICES)
def test_uncertain_rows_are_compared_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[bool, int]] = []
    fill = device_neighbors._BlockSearch.fill

    def heard(self: Any, rows: Any, single: bool, progress: Any) -> Any:
        calls.append((single, len(rows)))
        return fill(self, rows, single, progress)

    monkeypatch.setattr(device_neighbors._BlockSearch, "fill", heard)
    nearest_rows_on(device_of(name), PLAIN, 20)
    assert calls == [(True, 500)]
    calls.clear()
    nearest_rows_on(device_of(name), TIGHT, 20)
    assert calls == [(True, 500), (False, 500)]
    # A card that is set to multiply in less than single precision multiplies in double.
    calls.clear()
    monkeypatch.setattr(ComputeDevice, "keeps_single_precision", lambda self: False)
    index, _ = nearest_rows_on(device_of(name), PLAIN, 20)
    assert calls == [(False, 500)]
    np.testing.assert_array_equal(index, nearest_neighbors(FeatureSpace(PLAIN), 20).index)


@pytest.mark.parametrize("name", DEVICES)
def test_device_without_double_precision_uses_the_processor(name: str) -> None:
    device = device_of(name)
    device.double = device.single
    index, _ = nearest_rows_on(device, TIGHT, 20)
    np.testing.assert_array_equal(index, nearest_neighbors(FeatureSpace(TIGHT), 20).index)


@pytest.mark.parametrize("name", DEVICES)
def test_ties_are_in_row_order_and_k_may_be_all(name: str) -> None:
    device = device_of(name)
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.0, 0.0]])
    index, squared = nearest_rows_on(device, square, 5)
    assert index[0].tolist() == [5, 1, 2, 3, 4]
    assert squared[0].tolist() == [0.0, 1.0, 1.0, 1.0, 1.0]
    same = np.ones((12, 3))
    index, squared = nearest_rows_on(device, same, 4)
    assert index[[0, 5]].tolist() == [[1, 2, 3, 4], [0, 1, 2, 3]]
    assert not squared.any()
    index, _ = nearest_rows_on(device, square[1:4], 3, square)
    assert np.sort(index, axis=1).tolist() == [[0, 1, 2]] * 6
    assert nearest_rows_on(device, square, 0)[0].shape == (6, 0)


def test_searches_use_the_requested_device(monkeypatch: pytest.MonkeyPatch) -> None:
    A, exact = RNG.normal(size=(70, 6)), nearest_neighbors(FeatureSpace(PLAIN), 7)
    across = cross_neighbors(A, PLAIN, 7)
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 100)
    with collect_recalls() as heard, compute_on(ComputeDevice()):
        result = feature_neighbors(sp.csr_array(PLAIN), 7, name="things")
        other = cross_neighbors(A, PLAIN, 7)
    np.testing.assert_array_equal(result.index, exact.index)
    np.testing.assert_array_equal(other.index, across.index)
    np.testing.assert_allclose(other.squared, across.squared, atol=1e-12)
    assert heard == {"things": 1.0}
    monkeypatch.setattr(device_neighbors, "_MAX_DENSE_ENTRIES", 2_999)
    assert fits_in_memory(ComputeDevice(), PLAIN)
    assert not fits_in_memory(ComputeDevice(), sp.csr_array(PLAIN))
    monkeypatch.setattr(ComputeDevice, "available_memory", lambda self: 1e6)
    with (
        compute_on(ComputeDevice()),
        pytest.warns(DataWarning, match="500 x 6 do not fit .* processor"),
    ):
        feature_neighbors(PLAIN, 7)
