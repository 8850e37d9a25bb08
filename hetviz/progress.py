"""Progress: one callable that a long computation calls, and through which a caller may cancel."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called at least twice a second by anything that takes longer than a second.

    Parameters
    ----------
    fraction : float
        Share of the work done, 0 to 1; never falls.
    message : str
        What is being done, in plain words.
    **figures
        Numbers (or a partial layout, ``layout=``) a caller may show. ``parts=`` lists the parts of
        work that has several: title, fraction, and "waiting", "running", "done" or "failed".

    Raises
    ------
    hetviz.errors.Cancelled
        When the user asked to stop; let it pass through.
    """

    def __call__(self, fraction: float, message: str = "", **figures: object) -> None: ...


def silent(fraction: float, message: str = "", **figures: object) -> None:
    """Report to nobody."""


class Part:
    """The share ``[low, high]`` of a larger job, seen by a step as 0 to 1."""

    def __init__(self, progress: Progress, low: float, high: float) -> None:
        self._progress, self._low, self._high = progress, low, high

    def __call__(self, fraction: float, message: str = "", **figures: object) -> None:
        scaled = self._low + min(max(fraction, 0.0), 1.0) * (self._high - self._low)
        self._progress(scaled, message, **figures)
