"""Clearing away sessions that nobody worked in.

That is a visit that only saw the first sample, and a project file whose opening broke off.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from pathlib import Path

from hetviz.errors import HetvizError
from hetviz.workspace.commands.commands import OpenSample
from hetviz.workspace.store.journal import Journal
from hetviz.workspace.store.paths import JOURNAL, is_id

DAYS = 30
DAYS_UNBORN = 1


def prune(folder: Path, now: float | None = None) -> int:
    """Remove sessions untouched for 30 days in which nothing was done; return how many.

    Those without a journal go after one day: nobody was ever told of them.

    Parameters
    ----------
    folder : Path
        Of the sessions' folders.
    now : float, optional
        Seconds since 1970; the clock's when absent.
    """
    clock = time.time() if now is None else now
    n = 0
    for session in folder.iterdir():
        # One that cannot be looked into, or is open elsewhere, stays.
        with contextlib.suppress(OSError, HetvizError):
            known = is_id(session.name) and session.is_dir() and not session.is_symlink()
            days = DAYS if (session / JOURNAL).exists() else DAYS_UNBORN
            if known and _touched(session) < clock - days * 86_400:
                n += _removed(session)
    return n


def _touched(session: Path) -> float:
    return max(path.stat().st_mtime for path in (session, *session.iterdir()))


def _removed(session: Path) -> bool:
    journal = Journal(session / JOURNAL)
    try:
        if not _idle(journal.lines):
            return False
        # Still locked, so that nobody begins to work in it now.
        shutil.rmtree(session)
        return True
    finally:
        journal.close()


def _idle(lines: list[bytes]) -> bool:
    """Whether a log holds nothing but the sample that every visit opens."""
    if len(lines) > 1:
        return False
    try:
        return all(json.loads(line).get("op") == OpenSample.op for line in lines)
    except (ValueError, AttributeError):
        return False
