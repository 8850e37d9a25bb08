"""Devices to test what runs on a graphics card with: numpy, and PyTorch where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from hetviz.core.device import Device, TorchDevice

HAS_TORCH = find_spec("torch") is not None
DEVICES = ["numpy", "torch"] if HAS_TORCH else ["numpy"]


def device_of(name: str) -> Device:
    return Device() if name == "numpy" else TorchDevice("cpu")
