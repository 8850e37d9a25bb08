"""How many examples property tests try."""

from __future__ import annotations

import os

DEPTH = int(os.environ.get("HETVIZ_DEPTH", "1"))


def examples(n: int) -> int:
    """Return how many examples to try where `n` are enough for every day."""
    return n * DEPTH
