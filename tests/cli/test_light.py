"""Tests that listing commands import no heavy libraries."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import hetviz
from hetviz.cli.catalogue import read_cards
from hetviz.io.bundle.samples import sample_card

HEAVY = {"numpy", "scipy", "pandas", "sklearn", "numba", "pyarrow", "matplotlib", "streamlit"}
SCRIPT = """
import sys
from hetviz.cli import main
try:
    main({words!r})
except SystemExit:
    pass
print("\\n", *sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


@pytest.mark.parametrize("words", [["--version"], ["methods"], ["samples", "--json"]])
def test_listing_imports_no_numerics(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(words=words)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) >= 2
    assert HEAVY.isdisjoint(done.stdout.splitlines()[-1].split())


def test_read_cards_equal_cards() -> None:
    real = [
        {"key": card.key, "title": card.title, "family": card.family, "summary": card.summary}
        for card in hetviz.methods()
    ]
    assert read_cards() == real


def test_samples_have_titles(capsys: pytest.CaptureFixture[str]) -> None:
    from hetviz.cli import main

    assert main(["samples", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == {name: sample_card(name).title for name in hetviz.samples()}
