"""Number of examples for property tests, larger in `make soak`."""

from __future__ import annotations

import os

DEPTH = int(os.environ.get("HETVIZ_DEPTH", "1"))


def examples(n: int) -> int:
    """Return how many examples to try of `n`, which a run in depth tries that many times."""
    return n * DEPTH if DEPTH > 1 else max(1, n // 2)
