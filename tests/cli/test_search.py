"""Tests of the command `search`."""

import json

import pytest

from hetviz.cli import main
from tests.samples import read_once


@pytest.fixture(autouse=True)
def few_digits(monkeypatch):
    read_once(monkeypatch, subset=True)


def test_search_prints_cost_and_result(capsys, tmp_path):
    words = ["search", "digits", "--method", "cca", "--try", "gamma=0.01,0.1", "--seeds", "1"]
    assert main([*words, "--cost"]) == 0
    assert "From 3 to 40 settings" in capsys.readouterr().out
    file = tmp_path / "found.json"
    assert main([*words, "--most", "4", "--out", str(file)]) == 0
    statements = capsys.readouterr().out
    assert "Use: --set gamma=" in statements
    assert "hidden from the search" in statements
    record = json.loads(file.read_text(encoding="utf-8"))
    assert len(record["tried"]["candidates"]) <= 4


def test_search_rejects_unknown_setting(capsys):
    assert main(["search", "digits", "--method", "cca", "--try", "gama"]) == 1
    assert "no parameter 'gama'" in capsys.readouterr().err


def test_search_accepts_names_without_values(capsys):
    words = ["search", "digits", "--method", "cca", "--try", "axis_scale", "--cost", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["n_first"] == pytest.approx(5)
