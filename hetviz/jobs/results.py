"""What jobs give: partial layouts on the way, then a map, or findings with maps behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hetviz.data import Embedding


# Partial layouts: what a method has so far, small enough to send several times a second.


@dataclass(frozen=True)
class Frame:
    """A partial layout.

    Attributes
    ----------
    seq : int
        1 for the first of a job, then one more for each.
    layout : bytes
        Little-endian float32 of shape (n_rows, 2) in global row order; NaN = no place (yet).
    """

    seq: int
    layout: bytes


def pack_frame(layout: Callable[[], object] | object) -> bytes:
    """Return the first two columns of a layout as the bytes of a `Frame`.

    Parameters
    ----------
    layout : array of shape (n_rows, k), k >= 2, or callable that returns one
        In global row order.

    Raises
    ------
    ValueError
        If the shape is another; that is a fault of the method that reports it.
    """
    # Here, because the server imports this module and need not load numpy for it.
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
        As from `hetviz.jobs.tasks.maps.figures_of`, with ``notes``; where the method weighs views,
        ``views``: name to weight; where it learned from groups, ``learned``, and where it goes on
        from a map that knew less, ``consequences``. None where the map was not measured.
    seed : int or None
        None where the caller knows it.
    hold_out : float
        Share of the links that the method did not see.
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
    """What a task found out, other than one map to show.

    Attributes
    ----------
    kind : str
        The app keeps the latest of each kind.
    content : dict
        JSON-ready.
    maps : tuple of MadeMap
        Maps that were made on the way; kept beside, not shown.
    """

    kind: str
    content: dict[str, Any]
    maps: tuple[MadeMap, ...] = field(default=())
