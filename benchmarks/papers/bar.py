"""A progress bar on the error stream: how many steps are done, and how long the rest may take."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_WIDTH = 24
# Where nobody watches a line that rewrites itself, a new line this often is enough.
_SECONDS_BETWEEN_LINES = 10.0


class Bar:
    """Counts steps.

    Parameters
    ----------
    name : str
        Of the experiment.
    stream : text stream, optional
        The error stream by default.
    """

    def __init__(self, name: str, stream: TextIO | None = None) -> None:
        self.name, self.stream = name, stream or sys.stderr
        self.total = self.done = self.made = 0
        self.started = time.monotonic()
        self._said = 0.0

    def plan(self, steps: int) -> None:
        """Add steps that are to come."""
        self.total += steps

    def tell(self, message: str) -> None:
        """Show what is being worked on."""
        self._write(self._line(message), force=False)

    def step(self, message: str, *, kept: bool) -> None:
        """Count a step; one that was kept from an earlier run tells nothing of the time left."""
        self.done += 1
        self.made += not kept
        self._write(self._line(message), force=self.done >= self.total)

    def close(self, message: str) -> None:
        """End the line."""
        self._write(self._line(message), force=True)
        if self.stream.isatty():
            self.stream.write("\n")

    def _line(self, message: str) -> str:
        total = max(self.total, self.done, 1)
        full = _WIDTH * self.done // total
        spent = time.monotonic() - self.started
        left = ""
        if self.made and self.done < total:
            left = f", about {_clock(spent / self.made * (total - self.done))} left"
        bar = "#" * full + "." * (_WIDTH - full)
        return f"{self.name} [{bar}] {self.done}/{total} {_clock(spent)}{left}  {message}"

    def _write(self, line: str, *, force: bool) -> None:
        if self.stream.isatty():
            self.stream.write("\r" + line[:118].ljust(118))
        elif force or time.monotonic() - self._said > _SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            self.stream.write(line + "\n")
        self.stream.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
