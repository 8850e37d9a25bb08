"""Progress reports of workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, cast

from hetviz.codec import Buffer
from hetviz.errors import Cancelled
from hetviz.workers.protocol import encode_message

_FRAME_S = 1 / 8
# Maximum number of progress reports in a burst, and per second.
_BURST = 10.0
Part: TypeAlias = tuple[str, float, str]


def progress_message(fraction: float, text: str, **fields: object) -> list[Buffer]:
    """Return the message with the share of work done and the current step."""
    share = min(max(float(fraction), 0.0), 1.0)
    return encode_message("progress", fraction=share, text=text, **fields)


def normalise_parts(parts: object) -> tuple[Part, ...]:
    """Return reported parts as (title, fraction, state) with plain types."""
    return tuple(
        (str(title), min(max(float(fraction), 0.0), 1.0), str(state))
        for title, fraction, state in cast("Iterable[Part]", parts)
    )


def pack_frame(layout: Callable[[], object] | object) -> bytes:
    """Return the first two columns of a layout as the bytes of a `Frame`."""
    # Imported here because the server does not need numpy.
    import numpy as np

    Y = np.asarray(layout() if callable(layout) else layout)
    if Y.ndim != 2 or Y.shape[1] < 2:
        raise ValueError(f"A layout of shape (n_rows, k >= 2) is needed, not {Y.shape}.")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(Y[:, :2], dtype="<f4").tobytes()


class ProgressReporter:
    """Progress callback of a task, which limits the rate of messages."""

    def __init__(
        self, id: str, stop: threading.Event, send: Callable[[Sequence[Buffer]], None]
    ) -> None:
        self._id, self._stop, self._send = id, stop, send
        self._allowance = _BURST
        self._last_look = time.monotonic()
        self._last_frame = -_FRAME_S
        self._last_message: str | None = None
        self._last_report = 0.0
        # Reports without parts keep the last ones.
        self._parts: tuple[Part, ...] = ()

    def __call__(self, fraction: float, message: str = "", **figures: object) -> None:
        if self._stop.is_set():
            raise Cancelled("Stopped.")
        now = time.monotonic()
        if (parts := figures.get("parts")) is not None:
            self._parts = normalise_parts(parts)
        layout = figures.get("layout")
        if layout is not None and now - self._last_frame >= _FRAME_S:
            self._last_frame = now
            self._send_progress(fraction, message, pack_frame(layout))
        elif self._is_due(now, message):
            self._send_progress(fraction, message, None)
            self._last_report, self._last_message = now, message

    def _is_due(self, now: float, message: str) -> bool:
        # New messages are sent immediately, within the rate limit.
        self._allowance = min(_BURST, self._allowance + _BURST * (now - self._last_look))
        self._last_look = now
        due = message != self._last_message or now - self._last_report >= 1 / _BURST
        if not due or self._allowance < 1.0:
            return False
        self._allowance -= 1.0
        return True

    def _send_progress(self, fraction: float, text: str, layout: bytes | None) -> None:
        self._send(progress_message(fraction, text, id=self._id, parts=self._parts, layout=layout))
