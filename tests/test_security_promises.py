"""Test that every promise of SECURITY.md names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_TEST = re.compile(r"`((?:[a-z_]+/)*test_[a-z_0-9]+\.py)`")
# What is stated is no promise: advice, or what hetviz does not do.
_UNTESTED = (
    "With `none`, treat the address of a project like a password.",
    "The command line reads the files you name with your own rights.",
)


def promises() -> list[str]:
    """Return the entries under "What holds today", each as one line."""
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    section = text.partition("## What holds today")[2].partition("\n## ")[0]
    return [" ".join(entry.split()) for entry in re.split(r"\n- ", section)[1:]]


def test_every_promise_names_a_test() -> None:
    assert len(promises()) > 20
    without = [line[:80] for line in promises() if not _TEST.search(line)]
    assert [line for line in without if not line.startswith(tuple(u[:60] for u in _UNTESTED))] == []


def test_named_tests_exist() -> None:
    named = {name for line in promises() for name in _TEST.findall(line)}
    missing = [name for name in sorted(named) if not (ROOT / "tests" / name).is_file()]
    assert missing == []
