"""Methods on a graphics card, with numpy as a substitute."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from hetviz.core import device as devices
from hetviz.core.device import ComputeDevice
from hetviz.data import HeteroData
from hetviz.errors import DataWarning, ParameterError
from hetviz.runs.embed.run import FittedRun, fit_run
from tests.algorithms.test_mr_sne import world

WORLD = world(90, 10)
METHODS = ["mr-sne", "joint-map", "graph-axes"]


@pytest.fixture
def _card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "available_cards", lambda: ["cuda"])
    monkeypatch.setattr(devices, "TorchDevice", lambda kind: ComputeDevice())


@pytest.fixture
def _no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "available_cards", list)


def fitted(key: str, device: str, data: HeteroData = WORLD) -> FittedRun:
    params = {"n_iter": 60} if key != "graph-axes" else {}
    return fit_run(data, key, {"device": device, **params})


@pytest.mark.usefixtures("_card")
@pytest.mark.parametrize("key", METHODS)
def test_device_map_is_as_good_and_names_the_device(key: str) -> None:
    plain, on_device = (fitted(key, device) for device in ("cpu", "auto"))
    ends = [run.model.loss_history_[-1] for run in (plain, on_device)]
    assert ends[1] == pytest.approx(ends[0], rel=0.1)
    assert not np.array_equal(
        on_device.result.embedding.stacked(), plain.result.embedding.stacked()
    )
    again = fitted(key, "cuda")
    np.testing.assert_array_equal(
        again.result.embedding.stacked(), on_device.result.embedding.stacked()
    )
    assert on_device.result.params["device"] == "auto"
    assert on_device.result.versions["device"] == on_device.model.diagnostics_["device"] == "numpy"
    assert "device" not in plain.result.versions and "device" not in plain.model.diagnostics_
    assert pickle.loads(pickle.dumps(on_device.model)).device == "auto"


@pytest.mark.usefixtures("_no_card")
def test_missing_device_is_refused_or_replaced_with_a_warning() -> None:
    with pytest.raises(ParameterError, match=r"device = 'cuda'\): PyTorch finds no graphics card"):
        fitted("mr-sne", "cuda")
    with pytest.warns(DataWarning, match="so the map is computed on the processor"):
        model = fitted("mr-sne", "auto")
    plain = fitted("mr-sne", "cpu")
    np.testing.assert_array_equal(
        model.result.embedding.stacked(), plain.result.embedding.stacked()
    )
    with pytest.raises(ParameterError, match="device = 'gpu' must be one of 'cpu', 'auto'"):
        fitted("mr-sne", "gpu")


@pytest.mark.usefixtures("_card")
def test_attraction_graph_works_without_the_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = fitted("mr-sne", "cuda").model
    here = model.attraction_graph(WORLD)
    monkeypatch.setattr(devices, "available_cards", list)
    elsewhere = model.attraction_graph(WORLD)
    for kind, pull in here.parts.items():
        np.testing.assert_allclose(elsewhere.parts[kind].toarray(), pull.toarray(), atol=1e-12)
