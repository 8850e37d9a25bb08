"""What is selected on the map, and changing it from the page."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hetviz._types import Ints
from hetviz.errors import HetvizError
from hetviz.ui.shell import session
from hetviz.workspace import State


def chosen(state: State) -> Ints:
    """Return the selected global rows, in order."""
    return session.workspace().glance.selection


def choose(rows: Iterable[int]) -> None:
    """Select these global rows of the open data instead of what was selected."""
    try:
        session.workspace().set_glance(selection=np.array(sorted(set(rows)), dtype=np.int64))
    except HetvizError as error:
        session.tell(str(error))


def clear() -> None:
    """Select nothing."""
    choose(())
