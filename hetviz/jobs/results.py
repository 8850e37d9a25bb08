"""Results of jobs: partial layouts, maps, and findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hetviz.data import Embedding


@dataclass(frozen=True)
class Frame:
    """A partial layout, small enough to send several times a second.

    Attributes
    ----------
    seq : int
        Number of the frame in its job, from 1.
    layout : bytes
        Little-endian float32 of shape (n_rows, 2) in global row order; NaN for no position.
    """

    seq: int
    layout: bytes


@dataclass(frozen=True, eq=False)
class MadeMap:
    """A fitted map.

    Attributes
    ----------
    method, title : str
    params : dict
    embedding : Embedding
    figures : dict or None
        As from `hetviz.jobs.tasks.maps.figures_of`, with ``notes``, ``views`` (weights of views),
        ``learned`` (learned groups) and ``consequences`` (changes since the start map) where
        available. None for maps that were not measured.
    seed : int or None
        None if the caller knows it.
    hold_out : float
        Share of the links hidden from the method.
    """

    method: str
    title: str
    params: dict[str, Any]
    embedding: Embedding
    figures: dict[str, Any] | None
    seed: int | None = None
    hold_out: float = 0.0


@dataclass(frozen=True, eq=False)
class Findings:
    """Results of a task other than a single map.

    Attributes
    ----------
    kind : str
        The app keeps the latest findings of each kind.
    content : dict
        JSON-ready.
    maps : tuple of MadeMap
        Additional maps, which are not shown.
    """

    kind: str
    content: dict[str, Any]
    maps: tuple[MadeMap, ...] = field(default=())
