"""The command ask: questions as lines and as JSON, about items that the data have."""

import json

import pytest

import hetviz
from hetviz import cli


def test_questions_are_printed_and_are_about_items_of_the_data(
    tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = hetviz.load("digits")
    file = tmp_path / "coordinates.csv"
    hetviz.embed(data, "guided-projection").frame().to_csv(file, index=False)
    assert cli.main(["ask", "digits", "--coordinates", str(file), "-n", "4", "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)
    assert len(asked) == 4
    for question in asked:
        for name, text in question["items"]:
            assert data.position(name, text) >= 0
    arguments = ["ask", "digits", "--coordinates", str(file), "--kind", "comparison"]
    assert cli.main(arguments) == 0
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert len(lines) == 10
    # of thousands of links the next sixty would not be felt
    assert "could raise how often a hidden link is found by 0.0" in told.err
    assert all("nearer to" in line for line in lines)
