"""Runner that runs tasks immediately in the calling process."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from hetviz.errors import Cancelled
from hetviz.jobs.job_table import JobTable
from hetviz.jobs.runner import Task, TimeLeft
from hetviz.workers.failures import is_unexpected, user_error
from hetviz.workers.progress import normalise_parts, pack_frame

log = logging.getLogger(__name__)


class InlineRunner(JobTable):
    """Runs each task inside `submit`. Only the task itself can stop it."""

    def warm(self) -> None:
        """Do nothing: the process is already running."""

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> str:
        """Run the task to its end and return the job's id."""
        id = self._add_job(owner, title, task, note, id)
        self._run(id, task)
        return id

    def _run(self, id: str, task: Task) -> None:
        time_left = TimeLeft()
        self._change(id, state="running", ahead=0)

        def progress(fraction: float, message: str = "", **figures: object) -> None:
            if id in self._cancelled:
                raise Cancelled("Stopped.")
            remaining = time_left.update(fraction)
            self._change(id, fraction=fraction, message=message, seconds_left=remaining)
            if (parts := figures.get("parts")) is not None:
                self._change(id, parts=normalise_parts(parts))
            if (layout := figures.get("layout")) is not None:
                self._keep_frame(id, pack_frame(layout))

        try:
            progress(0.0, "Starting")
            result = task.run(progress)
        except Cancelled as stopped:
            self._end_job(id, state="cancelled", result=stopped.partial)
        except Exception as error:
            if is_unexpected(error):
                log.exception("A task failed: %s", task.function)
            self._end_job(id, state="failed", error=user_error(error))
        else:
            self._end_job(id, state="done", fraction=1.0, result=result)
