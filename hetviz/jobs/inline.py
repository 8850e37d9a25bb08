"""A runner without a process of its own: at once, in the caller; for tests and scripts."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from hetviz.errors import Cancelled
from hetviz.jobs.process.failures import is_fault, plain
from hetviz.jobs.process.job_table import Book
from hetviz.jobs.results import packed
from hetviz.jobs.runner import Task, as_parts, seconds_left

log = logging.getLogger(__name__)


class InlineRunner(Book):
    """Runs each task inside `submit`; it can be stopped only from within the task."""

    def warm(self) -> None:
        """Do nothing: this process is running already."""

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> str:
        """Run the task and return the job's id; the job is over by then."""
        id = self._new(owner, title, task, note, id)
        self._run(id, task)
        return id

    def _run(self, id: str, task: Task) -> None:
        began = time.monotonic()
        self._change(id, state="running", ahead=0)

        def progress(fraction: float, message: str = "", **figures: object) -> None:
            if id in self._stopped:
                raise Cancelled("Stopped.")
            left = seconds_left(fraction, time.monotonic() - began)
            self._change(id, fraction=fraction, message=message, seconds_left=left)
            if (parts := figures.get("parts")) is not None:
                self._change(id, parts=as_parts(parts))
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
