"""Progress callbacks, through which a caller can also cancel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from hetviz.errors import Cancelled, ParameterError


class Progress(Protocol):
    """Called at least twice a second by anything that takes longer than a second.

    Parameters
    ----------
    fraction : float
        Share of the work done, 0 to 1; never decreases.
    message : str
        Current step, in plain words.
    **figures
        Numbers a caller may show, or a partial layout (``layout=``). ``parts=`` lists the parts of
        the work: title, fraction, and "waiting", "running", "done" or "failed".

    Raises
    ------
    hetviz.errors.Cancelled
        When the user stops the work. Do not catch it.
    """

    def __call__(self, fraction: float, message: str = "", **figures: object) -> None: ...


def ignore_progress(fraction: float, message: str = "", **figures: object) -> None:
    """Do nothing."""


def as_progress(progress: object) -> Progress:
    """Return a callback: the given one, a bar for True, and none for other values."""
    if isinstance(progress, str):
        raise ParameterError(f"progress = {progress!r} must be True, a function, or None.")
    if progress is True:
        return _progress_bar()
    return progress if callable(progress) else ignore_progress


def _progress_bar() -> Progress:
    from tqdm.auto import tqdm

    bar = tqdm(total=100, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}")

    def report(fraction: float, message: str = "", **figures: object) -> None:
        bar.set_description_str(message, refresh=False)
        bar.update(round(100 * fraction) - bar.n)
        if fraction >= 1.0:
            bar.close()

    return report


class ProgressPart:
    """A step that covers the share ``[low, high]`` of a larger job; `name` precedes messages."""

    def __init__(self, progress: Progress, low: float, high: float, name: str = "") -> None:
        self._progress, self._low, self._high, self._name = progress, low, high, name

    def __call__(self, fraction: float, message: str = "", **figures: object) -> None:
        scaled = self._low + min(max(fraction, 0.0), 1.0) * (self._high - self._low)
        named = ": ".join(filter(None, (self._name, message)))
        self._progress(scaled, named, **figures)


@contextmanager
def keep_partial(make: Callable[[Any], object]) -> Iterator[None]:
    """Give a Cancelled raised inside the partial result of this call, made from that of a step."""
    try:
        yield
    except Cancelled as stopped:
        stopped.partial = make(stopped.partial)
        raise
