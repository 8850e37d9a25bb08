"""Find a Chromium or Chrome that starts; `python tools/find_chromium.py` prints its path.

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


def find_chromium() -> str | None:
    """Return the path of a browser that starts, or None.

    Raises
    ------
    FileNotFoundError
        When HETVIZ_CHROMIUM names something that does not start: a wish is not passed over.
    """
    wish = os.environ.get("HETVIZ_CHROMIUM")
    if wish:
        path = shutil.which(wish)
        if path is None or not _starts(path):
            raise FileNotFoundError(f"HETVIZ_CHROMIUM is {wish!r}, which is no browser that starts")
        return path
    return next((path for path in _candidates() if _starts(path)), None)


def _candidates() -> Iterator[str]:
    for name in (*NAMES, MAC):
        path = shutil.which(name)
        if path is not None:
            yield path
    yield _fetched_by_playwright()


def _fetched_by_playwright() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _starts(path: str) -> bool:
    """Tell whether the browser and the libraries it needs are all there."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    found = find_chromium()
    if found is None:
        sys.exit(1)
    print(found)
