"""Explanations of maps that were made elsewhere, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hetviz import cli

N = 60
PLACES = np.random.default_rng(0).normal(size=(N, 2)) + 9 * (np.arange(N) % 2)[:, None]
SHOPS = "id,sells,x,y,a,b\n" + "".join(
    f"s{k},{'tea' if k % 2 else 'coffee'},{x},{y},{k % 7},{k % 5}\n"
    for k, (x, y) in enumerate(PLACES)
)


@pytest.fixture
def shops(tmp_path: Path) -> str:
    path = tmp_path / "shops.csv"
    path.write_text(SHOPS, encoding="utf-8")
    return str(path)


def test_why_explains_the_columns_of_a_file(shops: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["why", shops]) == 0
    assert "sells (" in capsys.readouterr().out
    assert cli.main(["why", shops, "--columns", "a,b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["axes"] == ["a", "b"]
    assert cli.main(["why", shops, "--columns", "x"]) == 1
    assert "not of the form X,Y" in capsys.readouterr().err


def test_why_explains_two_items_and_one(shops: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["why", shops, "shops", "s1", "s2"]) == 0
    out = capsys.readouterr().out
    assert "Different in sells" in out
    assert ["tea", "coffee", "different"] in [line.split()[1:] for line in out.splitlines()]
    assert cli.main(["why", shops, "shops", "s1"]) == 0
    assert "The closest shops are like it in sells." in capsys.readouterr().out
    assert cli.main(["why", shops, "shops"]) == 1
    assert "its dataset and its id" in capsys.readouterr().err


def test_why_reads_coordinates_of_a_file(
    shops: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "places.csv"
    rows = "".join(f"s{k},{x},{y}\n" for k, (x, y) in enumerate(PLACES))
    path.write_text(f"id,c1,c2\n{rows}", encoding="utf-8")
    assert cli.main(["why", shops, "--coordinates", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reasons"][0]["column"] == "sells"
    assert found["axes"] == ["x", "y"]
