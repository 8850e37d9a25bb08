"""Partial layout of a running job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """A partial layout, small enough to send several times a second."""

    seq: int  # Number of the frame in its job, from 1.
    # Little-endian float32 of shape (n_rows, 2) in global row order; NaN for no position.
    layout: bytes
