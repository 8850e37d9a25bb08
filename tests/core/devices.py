"""Devices for tests of code for graphics cards: numpy, and PyTorch if it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from hetviz.core.device import ComputeDevice, TorchDevice

HAS_TORCH = find_spec("torch") is not None
DEVICES = ["numpy", "torch"] if HAS_TORCH else ["numpy"]


def device_of(name: str) -> ComputeDevice:
    return ComputeDevice() if name == "numpy" else TorchDevice("cpu")
