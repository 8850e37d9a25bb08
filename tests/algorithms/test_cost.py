"""Time estimates: small parts, power law and stored times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.algorithms import cost, ranking
from hetviz.data import Comparisons, Dataset, HeteroData, Links
from hetviz.errors import Cancelled


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path))
    return tmp_path


def data(n: int = 900, width: int = 4) -> HeteroData:
    rng = np.random.default_rng(5)
    a = Dataset("a", [f"o{k}" for k in range(n)], rng.normal(size=(n, width)), entity="thing")
    b = Dataset("b", [f"o{k}" for k in range(n)], rng.normal(size=(n, 3)), entity="thing")
    c = Dataset("c", [f"c{k}" for k in range(50)])
    links = Links("a", "c", range(200), np.arange(200) % 50)
    comparisons = Comparisons(rng.permutation(2 * n)[:300].reshape(100, 3))
    return HeteroData([a, b, c], [links], comparisons)


def test_seconds_at_extrapolates_a_power_law() -> None:
    times = {200: 0.02 * 200**1.5, 400: 0.02 * 400**1.5}
    assert cost.seconds_at(times, 6400) == pytest.approx(0.02 * 6400**1.5)
    assert cost.seconds_at({200: 1.0}, 400) == 2.0
    assert cost.seconds_at({200: 1.0, 400: 9.0}, 400) == 9.0
    assert cost.seconds_at({}, 400) is None


def test_seconds_at_limits_the_exponent() -> None:
    assert cost.seconds_at({200: 2.0, 400: 1.0}, 4000) == 1.0
    assert cost.seconds_at({200: 0.001, 400: 1.0}, 4000) == pytest.approx(1000.0)


def test_small_part_keeps_links_comparisons_and_objects() -> None:
    whole = data()
    part = cost.small_part(whole, 200)
    assert 200 <= part.n_rows <= 202
    assert sum(map(len, part.links)) >= 30
    assert part.comparisons is not None
    assert set(part["a"].ids) == set(part["b"].ids)
    assert cost.small_part(whole, whole.n_rows) is whole
    assert cost.small_part(whole, 200).fingerprint() == part.fingerprint()


def test_measured_times_are_stored_by_kind_of_data() -> None:
    kind = hetviz.get_method("pca")
    assert cost.stored_seconds("pca", data()) is None
    seconds = cost.measure_seconds(kind, data())
    assert seconds is not None
    assert seconds > 0
    assert cost.stored_seconds("pca", data()) == pytest.approx(seconds, rel=0.01)
    assert cost.stored_seconds("pca", data(width=9)) is None
    verdicts = {verdict.card.key: verdict for verdict in hetviz.suggest(data())}
    assert verdicts["pca"].seconds == cost.stored_seconds("pca", data())
    # Without local measurements, the benchmark time is used.
    assert verdicts["cca"].seconds == ranking.expected_seconds("cca", data().n_rows)


def test_failing_method_has_no_estimate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = hetviz.get_method("pca")

    def fail(self: Any, *args: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(kind, "_fit", fail)
    assert cost.measure_seconds(kind, data()) is None
    assert cost.stored_seconds("pca", data()) is None


def test_measuring_can_be_cancelled() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        cost.measure_seconds(hetviz.get_method("pca"), data(), stop)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[1]",
        '{"version": "0.0", "seconds": {}}',
        json.dumps({"version": hetviz.__version__, "seconds": {"pca": {"4 3 0 -2 -3": {"x": 1}}}}),
        json.dumps({"version": hetviz.__version__, "seconds": {"pca": 7}}),
    ],
)
def test_damaged_or_old_files_are_ignored(folder: Path, content: str) -> None:
    (folder / "costs.json").write_text(content)
    assert cost.stored_seconds("pca", data()) is None
    cost.store_times("pca", data(), {400: 1.5})
    assert cost.stored_seconds("pca", data()) is not None


def test_read_only_folder_stores_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = folder / "file"
    blocked.touch()
    monkeypatch.setenv("HETVIZ_HOME", str(blocked))
    cost.store_times("pca", data(), {400: 1.5})
    assert cost.stored_seconds("pca", data()) is None
