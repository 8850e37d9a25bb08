"""Search for a working Chromium or Chrome.

Looked for, in this order: the one that HETVIZ_CHROMIUM names, those installed on this machine,
the one that Playwright fetched. The exit code is 1 where there is none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


class NoBrowserError(Exception):
    """There is no browser that the tests can drive; the message says why."""


def find_chromium() -> str:
    """Return the path of a browser that starts.

    Raises
    ------
    NoBrowserError
        When there is none, or Playwright itself does not start.
    FileNotFoundError
        When HETVIZ_CHROMIUM names something that does not start: a wish is not passed over.
    """
    fault = _fault([sys.executable, "-m", "playwright", "--version"])
    if fault:
        raise NoBrowserError(f"Playwright does not start: {fault}")
    wish = os.environ.get("HETVIZ_CHROMIUM")
    if wish:
        fault = _fault([wish, "--version"])
        if fault:
            raise FileNotFoundError(f"HETVIZ_CHROMIUM is {wish!r}, which does not start: {fault}")
        return shutil.which(wish) or wish
    for path in _candidates():
        if not _fault([path, "--version"]):
            return path
    raise NoBrowserError("no Chromium or Chrome that starts was found")


def _candidates() -> Iterator[str]:
    yield from filter(None, map(shutil.which, (*NAMES, MAC)))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.executable_path


def _fault(command: list[str]) -> str:
    """Say why a command does not run, missing libraries included; empty when it does."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else ""


if __name__ == "__main__":
    try:
        print(find_chromium())
    except (NoBrowserError, FileNotFoundError) as error:
        sys.exit(str(error))
