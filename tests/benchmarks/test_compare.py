"""Comparison of two checkouts: the least of several runs, and files of a revision."""

from __future__ import annotations

from pathlib import Path

from benchmarks.compare import ROOT, _row, _with_these_benchmarks


def _run(seconds: float) -> dict[str, object]:
    return {"CPU s": seconds, "MB": 0.0, "quality": {"error": 0.25, "method": "Joint map"}}


def test_row_compares_least_times_and_shows_quality() -> None:
    row = _row([_run(4.0), _run(5.0)], [_run(3.0), _run(2.0)])
    assert (row["CPU s before"], row["CPU s"], row["CPU s ratio"]) == (4.0, 2.0, 0.5)
    assert row["quality"] == "error 0.25, method Joint map"


def test_other_checkout_is_measured_by_these_benchmarks(tmp_path: Path) -> None:
    other = tmp_path / "other"
    for name in ("benchmarks", "hetviz"):
        (other / name).mkdir(parents=True)
    side = _with_these_benchmarks(other, tmp_path / "side")
    assert (side / "benchmarks").resolve() == (ROOT / "benchmarks").resolve()
    assert (side / "hetviz").resolve() == (other / "hetviz").resolve()
