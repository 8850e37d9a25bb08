"""The one limit of all waits in tests, and waiting for a condition.

A test waits for what it needs and never for a time. The limit only ends a test that hangs: it is
far above what a slow and busy machine takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 300.0
PATIENCE_MS = 1000 * PATIENCE_S


def wait_until(
    condition: Callable[[], object], pause_s: float = 0.02, limit_s: float = PATIENCE_S
) -> bool:
    """Wait until the condition holds; return False if it does not within the limit."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause_s)
    return True
