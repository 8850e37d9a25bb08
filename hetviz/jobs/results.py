"""Results of jobs other than a map: partial layouts and findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hetviz.runs.embed.run import MapResult


@dataclass(frozen=True)
class Frame:
    """A partial layout, small enough to send several times a second."""

    seq: int  # Number of the frame in its job, from 1.
    # Little-endian float32 of shape (n_rows, 2) in global row order; NaN for no position.
    layout: bytes


@dataclass(frozen=True, eq=False)
class Findings:
    """Results of a task other than a single map."""

    kind: str  # The app keeps the latest findings of each kind.
    content: dict[str, Any]  # JSON-ready.
    maps: tuple[MapResult, ...] = field(default=())  # Additional maps, which are not shown.
