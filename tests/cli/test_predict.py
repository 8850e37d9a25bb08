"""Tests of the command `predict`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hetviz import cli

Run = Callable[..., tuple[int, str, str]]

LINKS = ("predict", "links", "debian", "--source", "programs", "--target", "tags")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = cli.main([str(argument) for argument in arguments])
        seen = capsys.readouterr()
        assert "Traceback" not in seen.err
        return code, seen.out, seen.err

    return call


def test_predict_links_ranks_tests_writes(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "links.csv"
    code, text, _ = run(*LINKS, "--method", "cdmca", "--top", 3, "--hold-out", 0.2, "--out", out)
    assert code == 0
    assert "AUC on held-out links, method" in text
    assert "AUC on held-out links, 1 known link: " in text
    lines = out.read_text(encoding="utf-8").splitlines()
    ranks = "rank,rank_best,rank_worst,known_links"
    assert lines[0] == f"source_id,target_id,score,{ranks},source_title,target_title"
    assert len(lines) == 4
    code, text, _ = run(*LINKS, "--method", "profiles", "--top", 2, "--json")
    assert code == 0
    assert len(json.loads(text)["candidates"]) == 2


def test_predict_labels(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "labels.json"
    inputs = ("predict", "labels", "world", "--label", "countries:life_expectancy")
    settings = ("--repeats", 1, "--set", "n_rounds=20")
    code, text, _ = run(*inputs, *settings, "--out", out)
    assert code == 0
    assert "error on held-out labels, gbc" in text
    table = json.loads(out.read_text(encoding="utf-8"))["table"]
    assert all(value is not None for value in table["label"])
    assert not all(table["known"])


@pytest.mark.parametrize(
    "arguments",
    [
        (*LINKS, "--method", "nope"),
        (*LINKS[:-1], "nope", "--method", "cdmca"),
        (*LINKS, "--method", "cdmca", "--starts", 0),
        (*LINKS, "--method", "cdmca", "--hold-out", 2),
        ("predict", "labels", "world", "--label", "countries:nope"),
    ],
)
def test_bad_input_exits_1(run: Run, arguments: tuple[object, ...]) -> None:
    code, _, errors = run(*arguments)
    assert code == 1
    assert errors.startswith("Error: ")


def test_wrong_usage_exits_2(run: Run) -> None:
    with pytest.raises(SystemExit) as stopped:
        run("predict", "labels", "world", "--label", "countries")
    assert stopped.value.code == 2
