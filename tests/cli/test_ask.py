"""Tests of the command `ask`."""

import json

import pytest

import hetviz
from hetviz import cli
from hetviz.runs.ask.gain import Gain


def test_ask_prints_questions_about_items(
    tmp_path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
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
    messages = capsys.readouterr()
    lines = messages.out.splitlines()
    assert len(lines) == 10
    assert messages.err == ""
    # All digits have a label: there is nothing to ask for.
    assert cli.main(["ask", "digits", "--coordinates", str(file), "--label", "pixels:digit"]) == 1
    assert "'pixels:digit' cannot be asked for" in capsys.readouterr().err
    monkeypatch.setattr(hetviz, "gains_ahead", lambda *_: [Gain("links", 60, 0.003, 0.02)])
    assert cli.main(arguments) == 0
    assert "found again by at most 0.003" in capsys.readouterr().err
    assert all("closer to" in line for line in lines)
