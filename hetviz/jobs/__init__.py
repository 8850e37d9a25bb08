"""Long work outside the request: submit a task, watch it, stop it, fetch its result."""

from hetviz.jobs.runner import Job, Runner, Task
from hetviz.jobs.runners import InlineRunner, ThreadRunner

__all__ = ["InlineRunner", "Job", "Runner", "Task", "ThreadRunner"]
