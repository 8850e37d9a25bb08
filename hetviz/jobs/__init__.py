"""Long work outside the request: submit a task, watch it, stop it, fetch its result."""

from hetviz.jobs.frames import Frame
from hetviz.jobs.process import ProcessRunner
from hetviz.jobs.results import Findings, MadeMap
from hetviz.jobs.runner import Job, Runner, Task
from hetviz.jobs.runners import InlineRunner

__all__ = [
    "Findings",
    "Frame",
    "InlineRunner",
    "Job",
    "MadeMap",
    "ProcessRunner",
    "Runner",
    "Task",
]
