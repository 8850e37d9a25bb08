"""Tests of the command `clusters`."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from hetviz.cli import main


def test_clusters_prints_and_writes_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "clusters.csv"
    assert main(["clusters", "digits", "--number", "4", "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("  1  ")
    frame = pd.read_csv(out)
    assert len(frame) == 2100
    assert set(frame["cluster"]) == {1, 2, 3, 4}
    assert frame.loc[0, ["id", "title"]].tolist() == ["p0004", "p0004.png"]


def test_clusters_json_and_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clusters", "digits", "--by", "label", "--label", "digit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["names"][0] == "Digit 0"
    assert main(["clusters", "digits", "--by", "spectral"]) == 1
    assert "one of k-means" in capsys.readouterr().err
