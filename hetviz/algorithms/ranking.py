"""Ranking of methods by benchmarks on data of the same shape.

``python -m benchmarks joint_maps`` writes ``measured.json``: the distance of each method to the
best one on data of each shape, and the seconds of a fit by the number of rows. Results of
`hetviz.runs.first_map.choose_method` for single data are stored in the folder of
`hetviz.algorithms.cost`.
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
from hetviz.algorithms.cost import store_record, stored_record
from hetviz.data import HeteroData
from hetviz.data.model.views import identity_links

SHAPES = {
    "linked": "several datasets joined by links",
    "network": "one dataset with links within it",
    "compared": "items with comparisons and no links",
    "alone": "items without links",
}
_CHOICES_FILE = "choices.json"
_MAX_STORED = 200


@dataclass(frozen=True)
class Standing:
    """Benchmark result of a method on data of one shape."""

    method: str
    behind: float
    n_sets: int
    params: Mapping[str, Any] = field(default_factory=dict)


def shape_of(data: HeteroData) -> str:
    """Return the shape of the data, a key of `SHAPES`."""
    positive_links = [group for group in data.links if (group.weight > 0).any()]
    if any(not group.within for group in positive_links) or identity_links(data):
        return "linked"
    if positive_links:
        return "network"
    compared = data.comparisons is not None and len(data.comparisons) > 0
    return "compared" if compared else "alone"


def standings(data: HeteroData) -> list[Standing]:
    """Return benchmark results on data of this shape, the best first."""
    results = [Standing(**entry) for entry in _measured_table()["shapes"].get(shape_of(data), [])]
    return sorted(results, key=lambda standing: standing.behind)


def expected_seconds(method: str, n_rows: int) -> float | None:
    """Return the benchmark time of a fit for a number of rows. None for unknown methods."""
    return _power_law(_measured_table()["seconds"].get(method), n_rows)


def measuring_seconds(n_rows: int) -> float:
    """Return the benchmark time of measuring a map with a number of rows."""
    return _power_law(_measured_table()["measuring"], n_rows) or 0.0


def store_choice(data: HeteroData, methods: Sequence[str]) -> None:
    """Store the order of methods for these data, the best first."""
    choices = _stored_choices()
    choices.pop(data.fingerprint(), None)
    recent = dict(list(choices.items())[-_MAX_STORED + 1 :])
    record = {"version": __version__, "choices": recent | {data.fingerprint(): list(methods)}}
    with contextlib.suppress(OSError):
        store_record(_CHOICES_FILE, record)


def stored_choice(data: HeteroData) -> list[str]:
    """Return the stored order of methods for these data. Empty if there is none."""
    choices = _stored_choices()
    methods = choices.get(data.fingerprint(), []) if choices else []
    # Ignore damaged files.
    is_valid = isinstance(methods, list) and all(isinstance(key, str) for key in methods)
    return methods if is_valid else []


def _stored_choices() -> dict[str, Any]:
    choices = stored_record(_CHOICES_FILE).get("choices")
    return dict(choices) if isinstance(choices, Mapping) else {}


@cache
def _measured_table() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("measured.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def _power_law(law: Sequence[float] | None, n_rows: int) -> float | None:
    """Return a n^p for law = (a at 1,000 rows, p)."""
    if law is None:
        return None
    return law[0] * math.pow(max(n_rows, 1) / 1000.0, law[1])
