"""Background jobs: submit a task, follow it, cancel it, fetch its result."""

from hetviz.jobs.pool import Pool as Pool
from hetviz.jobs.runner import Job as Job
from hetviz.jobs.runner import Task as Task
from hetviz.runs.findings import Findings as Findings
