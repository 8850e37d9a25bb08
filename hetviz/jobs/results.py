"""Results of jobs: partial layouts, maps, and findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hetviz.data import Embedding


# Partial layouts, small enough to send several times a second.


@dataclass(frozen=True)
class Frame:
    """A partial layout.

    Attributes
    ----------
    seq : int
        Number of the frame in its job, from 1.
    layout : bytes
        Little-endian float32 of shape (n_rows, 2) in global row order; NaN for no position.
    """

    seq: int
    layout: bytes


def pack_frame(layout: Callable[[], object] | object) -> bytes:
    """Return the first two columns of a layout as the bytes of a `Frame`."""
    # Imported here because the server does not need numpy.
    import numpy as np

    Y = np.asarray(layout() if callable(layout) else layout)
    if Y.ndim != 2 or Y.shape[1] < 2:
        raise ValueError(f"A layout of shape (n_rows, k >= 2) is needed, not {Y.shape}.")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(Y[:, :2], dtype="<f4").tobytes()


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
