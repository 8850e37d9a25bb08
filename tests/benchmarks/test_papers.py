"""Tests of the framework of the paper experiments, and one very small experiment."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from benchmarks.papers import p000_guided_projection, projecting, stats
from benchmarks.papers.__main__ import run
from benchmarks.papers.data import Source
from benchmarks.papers.drawing import curve, panels
from benchmarks.papers.out import VERDICTS, Out
from benchmarks.papers.summary import experiments, write_page, write_summary


def opened(folder: Path, *, quick: bool = True, resume: bool = True) -> Out:
    return Out(folder, "An experiment", quick=quick, resume=resume, stream=io.StringIO())


def test_step_is_cached(tmp_path):
    calls = []

    def work():
        calls.append(1)
        table = pd.DataFrame({"x": [1, 2]})
        return {"array": np.arange(3.0), "table": table, "number": np.float64(0.5), "text": "a"}

    first = opened(tmp_path / "p900_a").step("split 1", work)
    again = opened(tmp_path / "p900_a").step("split 1", work)
    assert len(calls) == 1
    for result in (first, again):
        assert isinstance(result["array"], np.ndarray)
        assert result["array"].tolist() == [0.0, 1.0, 2.0]
        assert result["table"]["x"].tolist() == [1, 2]
        assert (result["number"], result["text"]) == (0.5, "a")


@pytest.mark.parametrize(
    "other", [{"resume": False}, {"quick": False}], ids=["anew", "of another size"]
)
def test_changed_step_runs_again(tmp_path, other):
    opened(tmp_path / "p900_a").step("split 1", lambda: 1)
    assert opened(tmp_path / "p900_a", **other).step("split 1", lambda: 2) == 2


def test_steps_have_distinct_files(tmp_path):
    out = opened(tmp_path / "p900_a")
    out.step("split 1", lambda: 1)
    with pytest.raises(ValueError, match="share a file"):
        out.step("split/1", lambda: 2)


def test_verdict_has_four_values(tmp_path):
    with pytest.raises(ValueError, match="holds in part"):
        opened(tmp_path / "p900_a").verdict(
            "A claim", paper="1", ours="1", verdict="maybe", how_chosen="not at all"
        )


def test_summary_lists_all_experiments(tmp_path):
    for name in ("p900_a", "p901_b"):
        out = opened(tmp_path / name)
        figure, axes = panels(1)
        curve(axes[0], [1, 2], [0.1, 0.2], [0.01, 0.01], "ours", 0)
        out.figure("curve", figure, f"A curve of {name}", front=name == "p900_a")
        out.table("numbers", pd.DataFrame({"a": [1]}), "Numbers | of all")
        out.verdict(
            f"Claim of {name}", paper="2", ours="1 ± 1", verdict=VERDICTS[-1], how_chosen="As said."
        )
        out.close()
    assert [entry.folder.name for entry in experiments(tmp_path)] == ["p900_a", "p901_b"]
    write_summary(tmp_path)
    for page in ("summary.md", "summary.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        for statements in (
            "Claim of p900_a",
            "Claim of p901_b",
            "As said.",
            "does not hold here: 2",
        ):
            assert statements in text
    short = write_page(tmp_path, tmp_path / "page").read_text(encoding="utf-8")
    assert "p900-curve.png" in short
    assert "p901-curve.png" not in short
    assert (tmp_path / "page" / "p900-curve.png").stat().st_size > 1_000


def test_page_keeps_earlier_results(tmp_path):
    row = "| Claim | 1 | 2 | holds | (a) |"
    before = f"# Page\n\n## Paper 9\n\nWhole run.\n\n{row}\n\n## Other\n\nText\n"
    (tmp_path / "summary.md").write_text(before, encoding="utf-8")
    for _ in range(2):
        text = write_page(tmp_path, tmp_path).read_text(encoding="utf-8")
        assert "1 claims. holds: 1." in text
        assert text.count("Not run again") == 1
        assert "Whole run." in text
        assert "## Other" not in text


def test_failure_records_missing_package(tmp_path, capsys):
    module = ModuleType("p900_a")
    module.TITLE = "An experiment"
    module.NEEDS = (Source("mfeat", "digits", "from UCI", "mfeat"),)

    def fails(out, quick, data):
        out.step("one", lambda: 1)
        raise RuntimeError("no more")

    module.run = fails
    arguments = argparse.Namespace(quick=True, resume=False, data=None)
    assert not run(module, tmp_path / "p900_a", arguments)
    assert "no more" in capsys.readouterr().err
    (page, _) = write_summary(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "It stopped early: RuntimeError: no more" in text
    assert "Left out: mfeat" in text


def test_difference_needs_two_standard_errors():
    b = np.array([0.1, 0.2, 0.3])
    assert stats.above(b + np.array([0.1, 0.11, 0.09]), b) == 1
    assert stats.above(b - np.array([0.1, 0.11, 0.09]), b) == -1
    assert stats.above(b + np.array([0.1, -0.11, 0.09]), b) == 0
    assert stats.told([1.0, 2.0, 3.0], 2) == "2.00 ± 0.58"
    assert stats.told([1.0], 2) == "1.00 (one run)"


def test_paper_000_distinguishes_methods(tmp_path, monkeypatch):
    smaller = {"QUICK_OBJECTS": 80, "QUICK_SPLITS": 2, "SHARES": (0.2, 0.8)}
    smaller["SOURCES"] = p000_guided_projection.SOURCES[:1]
    for name, value in smaller.items():
        monkeypatch.setattr(p000_guided_projection, name, value)
    monkeypatch.setattr(projecting, "GAMMAS", (1.0,))
    out = opened(tmp_path / "p000_guided_projection")
    p000_guided_projection.run(out, True, None)
    out.close()
    (retained,) = experiments(tmp_path)
    record = retained.record
    assert len(record["verdicts"]) == 13
    assert {figure["stem"] for figure in record["figures"]} == {
        "satisfaction",
        "prediction",
        "rand",
    }
    numbers = pd.read_csv(retained.folder / "numbers.csv").set_index("method")
    ndcg = numbers["NDCG, 80% for training"].str.split(" ").str[0].astype(float)
    assert ndcg["cca"] > ndcg["guess"]
