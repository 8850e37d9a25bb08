"""Two runners: at once in the caller (tests, scripts), and on one thread behind a queue."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hetviz.errors import Cancelled
from hetviz.jobs.book import Book
from hetviz.jobs.failures import is_fault, plain
from hetviz.jobs.frames import packed
from hetviz.jobs.runner import Task, seconds_left

log = logging.getLogger(__name__)


class _Here(Book):
    """Runs tasks in this process."""

    def warm(self) -> None:
        """Do nothing: this process is running already."""

    def _run(self, id: str, task: Task) -> None:
        began = time.monotonic()
        self._change(id, state="running", ahead=0)

        def progress(fraction: float, message: str = "", **figures: Any) -> None:
            if id in self._stopped:
                raise Cancelled("Stopped.")
            left = seconds_left(fraction, time.monotonic() - began)
            self._change(id, fraction=fraction, message=message, seconds_left=left)
            if (layout := figures.get("layout")) is not None:
                self._keep_frame(id, packed(layout))

        try:
            progress(0.0, "Starting")
            result = task.run(progress)
        except Cancelled as stopped:
            self._end(id, state="cancelled", result=stopped.partial)
        except Exception as error:
            if is_fault(error):
                log.exception("A task failed: %s", task.function)
            self._end(id, state="failed", error=plain(error))
        else:
            self._end(id, state="done", fraction=1.0, result=result)


class InlineRunner(_Here):
    """Runs each task inside `submit`; it can be stopped only from within the task."""

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> str:
        """Run the task and return the job's id; the job is over by then."""
        id = self._new(owner, title, note, id)
        self._run(id, task)
        return id


class ThreadRunner(_Here):
    """Runs tasks on one daemon thread, in order; cancel works at the next progress report."""

    def __init__(self) -> None:
        super().__init__()
        self._queue: deque[tuple[str, Task]] = deque()
        self._work = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> str:
        """Queue a task and return the job's id."""
        id = self._new(owner, title, note, id)
        with self._work:
            self._queue.append((id, task))
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="hetviz-jobs", daemon=True)
                self._thread.start()
            self._tell_places()
            self._work.notify()
        return id

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop; a waiting one stops at once."""
        with self._work:
            super().cancel(id, owner)
            job = self.get(id, owner)
            if job is not None and job.state == "waiting":
                self._queue = deque(entry for entry in self._queue if entry[0] != id)
                self._end(id, state="cancelled")
                self._tell_places()

    def _loop(self) -> None:
        while True:
            with self._work:
                while not self._queue:
                    self._work.wait()
                id, task = self._queue.popleft()
                # Under the same lock, so that a cancel finds it either waiting or running.
                self._book[id] = replace(self._book[id], state="running")
                self._tell_places()
            self._run(id, task)

    def _tell_places(self) -> None:
        running = sum(job.state == "running" for job in self._book.values())
        for place, (id, _) in enumerate(self._queue):
            self._book[id] = replace(self._book[id], ahead=place + running)
