"""Steps that make a worker ready for its first task."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any


def warm_up_steps() -> Iterator[Callable[[], object]]:
    """Yield warm-up steps: imports, then the classmethod ``warm_up()`` of methods that have one."""
    # A task that arrives meanwhile waits for one step at most.
    for name in ("hetviz.algorithms.registry", "hetviz.jobs.tasks.maps"):
        yield partial(importlib.import_module, name)
    registry = sys.modules.get("hetviz.algorithms.registry")
    if registry is None:
        return
    cards: list[Any] = []
    yield lambda: cards.extend(registry.methods())
    for card in cards:
        warm_up = getattr(registry.get_method(card.key), "warm_up", None)
        if warm_up is not None:
            yield warm_up
