"""Background jobs: submit a task, follow it, cancel it, fetch its result."""

from hetviz.jobs.inline import InlineRunner
from hetviz.jobs.process.pool import Pool
from hetviz.jobs.process.runner import ProcessRunner
from hetviz.jobs.results import Findings, Frame, MadeMap
from hetviz.jobs.runner import Job, Runner, Task

__all__ = [
    "Findings",
    "Frame",
    "InlineRunner",
    "Job",
    "MadeMap",
    "Pool",
    "ProcessRunner",
    "Runner",
    "Task",
]
