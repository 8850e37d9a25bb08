"""Results of a task other than a single map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hetviz.runs.embed.run import MapResult


@dataclass(frozen=True, eq=False)
class Findings:
    """Results of a task other than a single map."""

    kind: str  # The app keeps the latest findings of each kind.
    content: dict[str, Any]  # JSON-ready.
    maps: tuple[MapResult, ...] = field(default=())  # Additional maps, which are not shown.
