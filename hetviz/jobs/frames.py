"""Partial layouts: what a method has so far, small enough to send several times a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


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


def packed(layout: Callable[[], object] | object) -> bytes:
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
