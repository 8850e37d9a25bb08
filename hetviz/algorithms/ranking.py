"""Which method comes first for some data, by what was measured of other data of their shape.

``measured.json`` is written by ``python -m benchmarks joint_maps``: how far each method was behind
the best one on data sets of each shape, and the seconds of a fit by the number of rows. What
`hetviz.runs.embed.first_map.choose_method` then measured of the very data is kept beside it, in the
folder of `hetviz.algorithms.cost`.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from hetviz._version import __version__
from hetviz.algorithms.cost import keep_record, kept_record
from hetviz.data import HeteroData
from hetviz.data.model.views import identity_links

SHAPES = {
    "linked": "several datasets joined by links",
    "network": "one dataset with links within it",
    "compared": "items with comparisons and no links",
    "alone": "items without links",
}
_CHOSEN = "choices.json"
_MOST_KEPT = 200


@dataclass(frozen=True)
class Standing:
    """How a method did on data sets of one shape.

    Attributes
    ----------
    method : str
        Its key.
    params : mapping
        Parameters other than the defaults.
    behind : float
        How far its overall score was behind that of the best method, from 0 to 1; the mean over
        data sets.
    n_sets : int
        Data sets of this shape that it was measured on.
    """

    method: str
    behind: float
    n_sets: int
    params: Mapping[str, Any] = field(default_factory=dict)


def shape_of(data: HeteroData) -> str:
    """Return which of `SHAPES` data are of."""
    together = [group for group in data.links if (group.weight > 0).any()]
    if any(not group.within for group in together) or identity_links(data):
        return "linked"
    if together:
        return "network"
    compared = data.comparisons is not None and len(data.comparisons) > 0
    return "compared" if compared else "alone"


def standings(data: HeteroData) -> list[Standing]:
    """Return how methods did on other data of this shape, the best first.

    A method may stand there more than once, with other parameters.
    """
    found = [Standing(**entry) for entry in _table()["shapes"].get(shape_of(data), [])]
    return sorted(found, key=lambda standing: standing.behind)


def expected_seconds(method: str, n_rows: int) -> float | None:
    """Return how long a fit took elsewhere on that many rows; None for a method never measured."""
    return _power_law(_table()["seconds"].get(method), n_rows)


def measuring_seconds(n_rows: int) -> float:
    """Return how long it took elsewhere to measure a map of that many rows."""
    return _power_law(_table()["measuring"], n_rows) or 0.0


def keep_choice(data: HeteroData, methods: Sequence[str]) -> None:
    """Keep the order that methods were found in for these data, the best first."""
    known = _choices()
    known.pop(data.fingerprint(), None)
    latest = dict(list(known.items())[-_MOST_KEPT + 1 :])
    record = {"version": __version__, "choices": latest | {data.fingerprint(): list(methods)}}
    with contextlib.suppress(OSError):
        keep_record(_CHOSEN, record)


def known_choice(data: HeteroData) -> list[str]:
    """Return the order that was kept for these data; empty where none was."""
    known = _choices()
    found = known.get(data.fingerprint(), []) if known else []
    # A file that somebody else wrote or broke is no file.
    whole = isinstance(found, list) and all(isinstance(key, str) for key in found)
    return found if whole else []


def _choices() -> dict[str, Any]:
    found = kept_record(_CHOSEN).get("choices")
    return dict(found) if isinstance(found, Mapping) else {}


@cache
def _table() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("measured.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _power_law(law: Sequence[float] | None, n_rows: int) -> float | None:
    """Return a n^p for law = (a at 1,000 rows, p)."""
    if law is None:
        return None
    return law[0] * math.pow(max(n_rows, 1) / 1000.0, law[1])
