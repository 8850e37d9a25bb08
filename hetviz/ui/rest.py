"""What the server does when visitors have left: it lets go of their projects in memory."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import os
import sys

from hetviz.workspace import SESSIONS
from hetviz.workspace.sessions import REST_AFTER_S


async def keep_resting() -> None:
    """Give memory back from time to time, until cancelled.

    HETVIZ_REST_AFTER_S says after how many seconds without a visitor.
    """
    after = float(os.environ.get("HETVIZ_REST_AFTER_S", REST_AFTER_S))
    while True:
        await asyncio.sleep(after / 10)
        await asyncio.to_thread(rest, after)


def rest(after: float) -> int:
    """Let go of projects that nobody looks at; return how many."""
    n = SESSIONS.rest(after)
    if n:
        gc.collect()
        # The C library keeps what was freed unless it is told not to.
        if sys.platform == "linux":
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL("libc.so.6").malloc_trim(0)
    return n
