"""Test that every promise of SECURITY.md names a test that exists, and has numbers of the code."""

from __future__ import annotations

import re
from pathlib import Path

from streamlit.web.server.starlette.starlette_app_utils import AUTH_COOKIE_MAX_AGE_SECONDS

from hetviz.io.intake import child
from hetviz.io.limits import MB
from hetviz.serve import front
from hetviz.serve.config import WorkSettings
from hetviz.ui.app.upload_limits import MAX_TAB_BYTES, MAX_VISITOR_BYTES
from hetviz.workers import reader
from hetviz.workspace import project_file
from hetviz.workspace.store import blobs

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


def test_numbers_are_those_of_the_code() -> None:
    minutes, gb = project_file.MAX_REPLAY_S / 60, 10**9
    expected = (
        f"above {MAX_TAB_BYTES // MB} MB for a tab, {MAX_VISITOR_BYTES // MB} MB for a browser",
        f"at most {front.MAX_HEAD_BYTES // 1_000} kB",
        f"text tables under {child.MAX_PREVIEW_BYTES_HERE // 1_000} kB",
        f"text tables up to {child.MAX_TEXT_BYTES_HERE // MB} MB",
        f"at most {reader.MAX_MEMORY_BYTES // gb} GB of address space",
        f"{reader.MAX_RESIDENT_BYTES / gb} GB resident",
        f"{reader.MAX_PROCESSOR_S} s of processor time for reading",
        f"{WorkSettings().processor_s} s in all",
        f"{reader._MAX_OPEN_FILES} open files",
        f"up to {minutes:.0f} minutes of the server's time",
        f"the {blobs.MAX_BYTES // MB} MB that a project may hold",
        f"{blobs.MAX_CACHE_BYTES // MB} MB at most",
        f"a log-in lasts {AUTH_COOKIE_MAX_AGE_SECONDS // 86_400} days",
    )
    text = " ".join(promises())
    assert [words for words in expected if words not in text] == []


def test_named_tests_exist() -> None:
    named = {name for line in promises() for name in _TEST.findall(line)}
    missing = [name for name in sorted(named) if not (ROOT / "tests" / name).is_file()]
    assert missing == []
