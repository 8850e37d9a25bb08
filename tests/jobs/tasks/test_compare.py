"""Tests of the tasks of the Compare page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.cost import stored_seconds
from hetviz.data import Comparisons, Dataset, HeteroData, Links
from hetviz.errors import Cancelled
from hetviz.jobs.tasks import compare
from hetviz.progress import ignore_progress
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.embed.run import fit_run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path))


def data(n: int = 30) -> HeteroData:
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(n, 3))
    a = Dataset("a", [f"a{k}" for k in range(n)], Z @ rng.normal(size=(3, 4)))
    b = Dataset("b", [f"b{k}" for k in range(n)], Z @ rng.normal(size=(3, 5)))
    return HeteroData([a, b], [Links("a", "b", range(n), range(n))])


def test_findings_have_comparison_and_maps() -> None:
    created = compare.compare_methods(data(), ["pca", "cdmca", "gnmds"], 2, 0.2, ignore_progress)
    assert created.kind == "compare"
    content = json.loads(json.dumps(created.content, allow_nan=False))
    assert content["maps"] == ["pca", "cdmca"]
    assert Comparison.from_dict(content).recommendation.method == "cdmca"
    assert [each_map.method for each_map in created.maps] == ["pca", "cdmca"]
    chosen = created.maps[1]
    assert chosen.figures is not None
    assert set(chosen.figures["curves"]) == {"given", "held_out"}
    # The map is the one that its record makes again.
    again = fit_run(data(), "cdmca", chosen.params, chosen.seed, hold_out=chosen.hold_out)
    assert np.array_equal(again.result.embedding.stacked(), chosen.embedding.stacked())


def test_maps_of_data_with_comparisons_only_are_repeatable() -> None:
    whole = data()
    rng = np.random.default_rng(1)
    triplets = [rng.choice(30, 3, replace=False) for _ in range(80)]
    compared = HeteroData([whole["a"]], comparisons=Comparisons(triplets))
    created = compare.compare_methods(compared, ["pca", "gnmds"], 1, 0.2, ignore_progress)
    assert [made.hold_out for made in created.maps] == [0.2, 0.2]
    for made in created.maps:
        again = fit_run(compared, made.method, made.params, made.seed, hold_out=made.hold_out)
        assert np.array_equal(again.result.embedding.stacked(), made.embedding.stacked())


def test_measured_times_are_stored() -> None:
    before = {v.card.key: v.seconds for v in hetviz.suggest(data())}
    compare.compare_methods(data(), ["pca"], 1, 0.2, ignore_progress)
    seconds = {v.card.key: v.seconds for v in hetviz.suggest(data())}
    assert seconds["pca"] == stored_seconds("pca", data())
    assert seconds["pca"] != before["pca"]
    assert seconds["cdmca"] == before["cdmca"]


def test_cancelled_comparison_keeps_complete_fits() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if fraction > 0.55:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as stopped:
        compare.compare_methods(data(), ["pca", "cdmca"], 2, 0.2, stop)
    created = stopped.value.partial
    assert created.content["complete"] is False
    assert len(created.maps) == 2


def test_early_cancelled_comparison_has_no_partial() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as stopped:
        compare.compare_methods(data(), ["pca", "cdmca"], 2, 0.2, stop)
    assert stopped.value.partial is None


def test_search_has_stills_instead_of_maps() -> None:
    values = {"kernel": [None, "linear"]}
    created = compare.search(data(), "guided-projection", values, 1, True, 10, ignore_progress)
    assert created.kind == "sweep"
    assert created.maps == ()
    content = json.loads(json.dumps(created.content, allow_nan=False))
    assert (content["method"], content["settings"]) == ("guided-projection", ["kernel"])
    assert content["still_rows"] == list(range(60))
    kinds = ["compare items by None", "compare items by linear"]
    assert list(content["stills"]) == kinds
    x, y = content["stills"][kinds[1]]
    assert (len(x), len(y)) == (60, 60)
    assert max(map(abs, x + y)) == 1.0


def test_costs_report_parts() -> None:
    messages: list[Any] = []
    created = compare.measure_costs(
        data(), ["pca", "cdmca"], lambda fraction, message="", **figures: messages.append(figures)
    )
    seconds = created.content["seconds"]
    assert set(seconds) == {"pca", "cdmca"}
    assert all(value > 0 for value in seconds.values())
    states = [[part[2] for part in figures["parts"]] for figures in messages if "parts" in figures]
    assert states == [["running", "waiting"], ["done", "running"]]
