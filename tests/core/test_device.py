"""Graphics cards: selection, and errors if there is none."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest

from hetviz.core import device as devices
from hetviz.core.device import (
    ComputeDevice,
    TorchDevice,
    compute_on,
    current_device,
    device_by_name,
    reason_for_no_card,
)
from hetviz.core.graph.device_neighbors import nearest_rows_on
from hetviz.core.layout.sne import ApartPairs, Phase
from hetviz.core.layout.sne_device import DeviceSneLayout
from hetviz.errors import HetvizError, MissingExtraError, ParameterError
from tests.core.devices import DEVICES, HAS_TORCH, device_of
from tests.core.layout.test_sne import START, P


def test_processor_needs_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert device_by_name("cpu") is None
    assert device_by_name("auto") is None
    assert "is not installed (hetviz[gpu])" in reason_for_no_card()
    with pytest.raises(
        MissingExtraError, match=r"\(device = 'cuda'\) needs .*pip install 'hetviz\[gpu\]'"
    ):
        device_by_name("cuda")


def test_missing_card_error_names_available_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mask: list[str] = []
    monkeypatch.setattr(devices, "available_cards", lambda: mask)
    monkeypatch.setattr(devices, "TorchDevice", lambda kind: kind)
    assert device_by_name("auto") is None
    assert "finds no graphics card" in reason_for_no_card()
    with pytest.raises(ParameterError, match=r"'cuda'\): PyTorch finds no graphics card\. Choose"):
        device_by_name("cuda")
    mask.append("mps")
    assert device_by_name("auto") == device_by_name("mps") == "mps"
    with pytest.raises(ParameterError, match="PyTorch finds only 'mps'"):
        device_by_name("cuda")


def test_compute_on_sets_device_and_reports_full_memory() -> None:
    card = ComputeDevice()
    assert current_device() is None
    with compute_on(card):
        assert current_device() is card
        with compute_on(None):
            assert current_device() is None
        assert current_device() is card
    with (
        pytest.raises(
            HetvizError, match=r"The graphics card .* has too little .* choose device = 'cpu'"
        ),
        compute_on(card),
    ):
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
    with pytest.raises(RuntimeError, match="something else"), compute_on(card):
        raise RuntimeError("something else")
    assert current_device() is None


@pytest.mark.parametrize("name", DEVICES)
def test_device_operations(name: str) -> None:
    device = device_of(name)
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    mask = device.array(frozen, device.single)
    mask += 1.0
    np.testing.assert_array_equal(device.host(mask), [1.0, 2.0, 3.0, 4.0])
    assert frozen[0] == 0.0
    D = device.array([[3.0, 1.0, 2.0, 0.5]], device.double)
    values, columns = device.smallest(D, 2)
    assert sorted(device.host(values)[0]) == [0.5, 1.0]
    assert sorted(device.host(columns)[0]) == [1, 3]
    whole = device.xp.int64
    total = device.array(np.zeros(3), whole)
    device.add_at(total, device.array([2, 0, 2], whole), device.array([5, 1 << 50, 7], whole))
    assert device.host(total).tolist() == [1 << 50, 0, 12]
    assert device.has_double
    assert device.keeps_single_precision()
    assert device.available_memory() > 0
    device.free_cached_memory()


# Not skipped without PyTorch, but not there: where nothing may be skipped it is not installed.
if HAS_TORCH:

    def test_device_arrays_do_not_mix_with_host_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
        """PyTorch's device "meta" computes nothing, and refuses arrays of others as cards do."""
        torch = importlib.import_module("torch")
        assert TorchDevice("cpu").title.startswith("cpu, PyTorch ")
        assert set(devices.available_cards()) <= set(devices.CARDS)
        meta = TorchDevice("meta")
        with pytest.raises(RuntimeError, match="device"):
            meta.array(np.ones(2), meta.single) + torch.ones(2)

        def host(values: Any) -> Any:
            assert values.device.type == "meta"
            kind = str(values.dtype).removeprefix("torch.")
            return np.arange(values.numel(), dtype=kind).reshape(values.shape) % 100

        monkeypatch.setattr(meta, "host", host)
        monkeypatch.setattr(meta, "keeps_single_precision", lambda: True)
        monkeypatch.setattr(torch.Tensor, "__float__", lambda self: 1.0)
        apart = ApartPairs(np.array([0, 5]), np.array([30, 40]), np.ones(2))
        for axes, exact in ((2, True), (2, False), (3, True)):
            Y = np.resize(START, (120, axes))
            layout = DeviceSneLayout(meta, P, Y, exact=exact, apart=apart)
            layout.run([Phase(2, 4.0), Phase(2)])
            layout.gradient()
        for double in (meta.double, meta.single):
            meta.double = double
            index, _ = nearest_rows_on(meta, START, 5)
            assert index.shape == (120, 5)
