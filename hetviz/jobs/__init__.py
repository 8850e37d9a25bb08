"""Background jobs: submit a task, follow it, cancel it, fetch its result."""

from hetviz.jobs.frame import Frame
from hetviz.jobs.pool import Pool
from hetviz.jobs.runner import Job, Task
from hetviz.runs.findings import Findings

__all__ = [
    "Findings",
    "Frame",
    "Job",
    "Pool",
    "Task",
]
