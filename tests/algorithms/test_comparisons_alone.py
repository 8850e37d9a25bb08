"""Methods for comparisons without features: GNMDS and partial order embedding."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.gnmds import GNMDS
from hetviz.algorithms.partial_order import PartialOrderEmbedding
from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.data import Comparisons, Dataset, HeteroData
from hetviz.errors import Cancelled, ConvergenceWarning, DataWarning, NotApplicableError


def make_data(n: int = 30, m: int = 900) -> HeteroData:
    """Two datasets without features, compared across, and one item without comparisons."""
    rng = np.random.default_rng(0)
    Z, C = rng.normal(size=(n, 2)), rng.integers(0, n, (m, 3))
    C = C[(C[:, 0] != C[:, 1]) & (C[:, 0] != C[:, 2]) & (C[:, 1] != C[:, 2])]
    near, far = (((Z[C[:, 0]] - Z[C[:, end]]) ** 2).sum(axis=1) for end in (1, 2))
    C = np.where((near > far)[:, None], C[:, [0, 2, 1]], C)
    half = n // 2
    a = Dataset("a", [f"a{k}" for k in range(half)])
    b = Dataset("b", [*(f"b{k}" for k in range(n - half)), "alone"])
    return HeteroData([a, b], [], Comparisons(C))


def test_gnmds_recovers_a_plane_from_comparisons_across_datasets() -> None:
    train, held_out = make_data().holdout(links=0, comparisons=0.3)
    with pytest.warns(DataWarning, match="1 item without comparisons"):
        model = GNMDS().fit(train)
    scores = hetviz.evaluate(train, model.embedding_, held_out).to_dict()
    assert scores["comparison_accuracy"] > 0.97
    assert scores["comparison_accuracy_held_out"] > 0.85
    assert model.gap_ <= 3e-3
    assert model.embedding_.placed["b"].tolist() == [True] * 15 + [False]
    np.testing.assert_allclose(np.nanmean(model.embedding_.stacked(), axis=0), 0.0, atol=1e-8)
    json.dumps(model.diagnostics_, allow_nan=False)


@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_gnmds_reports_layouts_and_keeps_the_last_on_cancel() -> None:
    data = make_data()
    seen: list[np.ndarray] = []

    def watch(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            seen.append(figures["layout"]())
            if len(seen) == 2:
                raise Cancelled

    with pytest.raises(Cancelled) as caught:
        GNMDS(tol=1e-6).fit(data, progress=watch)
    np.testing.assert_array_equal(caught.value.partial.stacked(), seen[-1])


@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_soft_gnmds_recovers_a_plane_and_keeps_the_last_start_on_cancel() -> None:
    train, held_out = make_data().holdout(links=0, comparisons=0.3)
    model = GNMDS(loss="soft").fit(train)
    scores = hetviz.evaluate(train, model.embedding_, held_out).to_dict()
    assert scores["comparison_accuracy_held_out"] > 0.9
    assert model.embedding_.placed["b"].tolist() == [True] * 15 + [False]
    assert np.isnan(model.gap_)
    json.dumps(model.diagnostics_, allow_nan=False)
    seen: list[np.ndarray] = []

    def watch(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            seen.append(figures["layout"]())
        elif len(seen) == 2:
            raise Cancelled

    with pytest.raises(Cancelled) as caught:
        GNMDS(loss="soft").fit(train, progress=watch)
    np.testing.assert_array_equal(caught.value.partial.stacked(), seen[-1])


@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_gnmds_warns_about_problems() -> None:
    data = make_data()
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        GNMDS(tol=1e-8, beta=1000.0).fit(data)
    with pytest.warns(DataWarning, match="too low"):
        point = GNMDS(beta=0.5).fit(data)
    assert np.nanmax(np.abs(point.embedding_.stacked())) == 0.0


@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_partial_order_embedding_satisfies_all_comparisons() -> None:
    data = make_data()
    model = PartialOrderEmbedding(n_components=28).fit(data)
    assert hetviz.evaluate(data, model.embedding_).to_dict()["comparison_accuracy"] == 1.0
    flat = PartialOrderEmbedding().fit(data)
    assert flat.diagnostics_["kept_by_the_whole"] == 1.0
    assert flat.diagnostics_["kept_on_these_axes"] < 1.0
    assert flat.shift_ < 0
    json.dumps(flat.diagnostics_, allow_nan=False)


@pytest.mark.parametrize("method", [GNMDS, PartialOrderEmbedding])
def test_cancelling_comparisons_are_refused(method: Any) -> None:
    a = Dataset("a", ["x", "y", "z"])
    data = HeteroData([a], [], Comparisons([[0, 1, 2], [0, 2, 1]]))
    with pytest.raises(NotApplicableError, match="contradict"):
        method().fit(data)


def test_too_many_items_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.algorithms.partial_order.MAX_OBJECTS", 10)
    with pytest.raises(NotApplicableError, match="at most 10 items, but 30 are compared"):
        PartialOrderEmbedding().fit(make_data())


def test_polish_improves_held_out_comparisons() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(25, 4))
    triplets = rng.integers(0, 25, (1_200, 3))
    triplets = triplets[[len(set(row)) == 3 for row in triplets.tolist()]]
    a, b, c = triplets.T
    nearer = ((Z[a] - Z[b]) ** 2).sum(axis=1) < ((Z[a] - Z[c]) ** 2).sum(axis=1)
    triplets = np.where(nearer[:, None], triplets, triplets[:, [0, 2, 1]])
    data = HeteroData([Dataset("things", map(str, range(25)))], [], Comparisons(triplets))
    accuracy = {}
    for polish in (False, True):
        model = GNMDS(polish=polish).fit(data)
        diagnostics = model.embedding_.diagnostics
        accuracy[polish] = diagnostics["kept comparisons of comparisons"].values[
            "on the axes shown"
        ]
        assert ("moved in the end of comparisons" in diagnostics) == polish
        assert accuracy[polish] == pytest.approx(
            comparison_accuracy(model.embedding_.coordinates["things"], triplets)
        )
    by_pull = diagnostics["moved in the end of comparisons"].values
    assert max(by_pull.values()) > by_pull["not moved"]
    assert accuracy[True] > accuracy[False]
