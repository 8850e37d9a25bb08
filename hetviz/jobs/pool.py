"""Job runner of the app: worker processes behind one queue that is fair to every visitor.

One thread of the server, the manager, owns the processes, their sockets and all changes of jobs.
Pages only add requests and wake the manager. They never wait for a worker.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import math
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hetviz.errors import HetvizError
from hetviz.jobs.job_table import JobTable
from hetviz.jobs.runner import Job, Task, TimeLeft
from hetviz.workers.array_cache import ArrayNumbers
from hetviz.workers.failures import (
    CANNOT_START,
    describe_exit,
    is_unexpected,
    user_error,
    worker_ended_error,
)
from hetviz.workers.process import WorkerProcess
from hetviz.workers.protocol import Message, encode_message, encode_value
from hetviz.workers.queue import FairQueue

log = logging.getLogger(__name__)

_MIN_WORKERS, _MAX_WORKERS = 2, 8
_WARM_UP = "hetviz.jobs.warm_up:warm_up_steps"
# Time for a job to stop before its process is killed.
GRACE_S = 2.0
# Time for a worker to get ready.
_START_S = 120.0
_MAX_STARTS = 3
_MAX_PAUSE_S = 30.0
# A worker that ran this long resets the count of failures.
_STABLE_S = 60.0


def n_workers(requested: int = 0) -> int:
    """Return the number of workers: as requested, or half of the processors, 2 to 8."""
    return requested or max(_MIN_WORKERS, min(_MAX_WORKERS, (os.cpu_count() or 1) // 2))


@dataclass(eq=False)
class _Slot:
    """A place for a worker process and its job."""

    job: str | None = None
    unsent: Task | None = None
    unstarted: Task | None = None
    worker: WorkerProcess | None = None
    is_needed: bool = False
    deadline: float = math.inf
    failures: int = 0
    not_before: float = 0.0
    worker_started_at: float = 0.0
    time_left: TimeLeft = field(default_factory=TimeLeft)
    idle_since: float = 0.0


class Pool(JobTable):
    """Runs tasks in worker processes.

    The first worker starts with the first task, or earlier with `warm`, and stays ready. Others
    start when needed, and `end_idle_workers` ends them. It needs Linux or macOS.

    `on_end`: Called on the manager's thread with each job that ends, before its owner sees the end.
        It is not called for jobs that are active when the server ends.
    """

    def __init__(self, on_end: Callable[[Job], None] | None = None, workers: int = 0) -> None:
        super().__init__(on_end)
        self._queue = FairQueue()
        self._waiting: dict[str, Task] = {}
        self._slots = [_Slot() for _ in range(n_workers(workers))]
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_sender.setblocking(False)
        # All attributes below belong to the manager's thread, as do the workers.
        self._numbers = ArrayNumbers()
        self._resent: set[str] = set()

    @property
    def worker_pids(self) -> list[int]:
        """Process ids of the running workers."""
        workers = [slot.worker for slot in self._slots]
        return [worker.pid for worker in workers if worker is not None]

    def load(self) -> tuple[int, int]:
        with self._lock:
            return self._queue.load()

    def warm(self) -> None:
        """Prepare the first worker, without waiting."""
        with self._lock:
            self._slots[0].is_needed = True
            if self._thread is None and not self._is_closing:
                # A worker ends with the thread that started it, so a page's thread cannot be used.
                self._thread = threading.Thread(target=self._run_manager, name="hetviz-jobs")
                self._thread.daemon = True
                self._thread.start()
                atexit.register(self.close)
        self._wake()

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> str:
        """Queue a task and return the job's id."""
        with self._lock:
            id = self._add_job(owner, title, task, note, id)
            self._waiting[id] = task
            self._queue.add(id, owner)
            self._assign_jobs()
        self.warm()
        return id

    def get(self, id: str, owner: str) -> Job | None:
        with self._lock:
            job = super().get(id, owner)
            return None if job is None else self._with_place([job])[0]

    def jobs(self, owner: str) -> list[Job]:
        with self._lock:
            return self._with_place(super().jobs(owner))

    def _with_place(self, jobs: list[Job]) -> list[Job]:
        """Return the jobs with the number of jobs before each that waits."""
        waiting = [job.id for job in jobs if job.id in self._waiting]
        order = self._queue.order() if waiting else []
        return [
            replace(job, ahead=order.index(job.id) + 1) if job.id in waiting else job
            for job in jobs
        ]

    def cancel(self, id: str, owner: str) -> None:
        super().cancel(id, owner)
        self._wake()

    def end_idle_workers(self, after: float) -> int:
        """End the workers, except the first, that were idle for `after` seconds."""
        now = time.monotonic()
        with self._lock:
            idle = [
                slot
                for slot in self._slots[1:]
                if slot.worker and slot.job is None and now - slot.idle_since > after
            ]
            for slot in idle:
                slot.is_needed = False
        self._wake()
        return len(idle)

    def close(self) -> None:
        """End the workers and the manager."""
        with self._lock:
            self._is_closing = True
            thread, self._thread = self._thread, None
        if thread is not None:
            atexit.unregister(self.close)
            self._wake()
            thread.join()
            self._wake_receiver.close()
            self._wake_sender.close()

    def _wake(self) -> None:
        # A full buffer means a pending wake-up, a closed socket a finished manager.
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"!")

    def _assign_jobs(self) -> None:
        """Give waiting jobs to free workers, running ones first."""
        while self._waiting and (free := [slot for slot in self._slots if slot.job is None]):
            slot = min(free, key=lambda slot: slot.worker is None)
            slot.job = self._queue.order()[0]
            slot.unsent = self._waiting.pop(slot.job)
            slot.is_needed = True
            self._queue.start(slot.job)

    # The methods below run on the manager's thread.

    def _run_manager(self) -> None:
        while not self._is_closing:
            try:
                self._run_once()
            except Exception as error:
                log.exception("The manager of background jobs failed")
                for slot in self._slots:
                    self._end_worker(slot)
                    self._end(slot, state="failed", error=user_error(error))
                    self._delay_restart(slot)
                # Avoid a busy loop if the error repeats.
                time.sleep(1.0)
        for slot in self._slots:
            self._end_worker(slot)

    def _run_once(self) -> None:
        self._end_cancelled()
        for slot in self._slots:
            if slot.worker is not None and not slot.is_needed and slot.job is None:
                self._end_worker(slot)
            if slot.worker is None and slot.is_needed and time.monotonic() >= slot.not_before:
                self._start_worker(slot)
            if slot.worker is not None and slot.worker.is_ready and slot.unsent is not None:
                self._send_task(slot, slot.worker, slot.unsent)
            if slot.worker is not None:
                self._forward_cancel(slot, slot.worker)
        self._wait()
        for slot in self._slots:
            if slot.worker is not None:
                self._exchange(slot, slot.worker)

    def _wait(self) -> None:
        """Wait for messages, a wake-up, a deadline, or the time of the next start."""
        times = [slot.deadline for slot in self._slots]
        times += [s.not_before for s in self._slots if s.worker is None and s.is_needed]
        timeout = max(0.0, min(times) - time.monotonic())
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_receiver, selectors.EVENT_READ)
            for slot in self._slots:
                if slot.worker is not None:
                    selector.register(slot.worker.socket, slot.worker.events)
            selector.select(None if timeout == math.inf else timeout)
        with contextlib.suppress(BlockingIOError):
            self._wake_receiver.recv(4096)

    def _exchange(self, slot: _Slot, worker: WorkerProcess) -> None:
        messages, is_alive = worker.exchange()
        for message in messages:
            self._handle(slot, worker, message)
        if not is_alive:
            self._on_worker_exit(slot, worker)
        elif time.monotonic() >= slot.deadline:
            self._on_timeout(slot)

    def _end_cancelled(self) -> None:
        """End the cancelled jobs that no worker has got."""
        with self._lock:
            cancelled = [id for id in self._waiting if id in self._cancelled]
            for id in cancelled:
                del self._waiting[id]
                self._queue.remove(id)
        for id in cancelled:
            self._end_job(id, state="cancelled")
        for slot in self._slots:
            if slot.unsent is not None and slot.job in self._cancelled:
                self._end(slot, state="cancelled")

    def _start_worker(self, slot: _Slot) -> None:
        try:
            slot.worker = WorkerProcess(_WARM_UP)
        except (OSError, ValueError):
            log.exception("The worker cannot be started")
            self._start_failed(slot)
            return
        slot.worker_started_at = time.monotonic()
        slot.deadline = slot.worker_started_at + _START_S
        if slot.job is not None:
            self._change(slot.job, message="Getting ready")

    def _send_task(self, slot: _Slot, worker: WorkerProcess, task: Task) -> None:
        id = str(slot.job)
        slot.unsent = None
        self._change(id, state="running", message="Starting")
        slot.time_left = TimeLeft()
        try:
            value = encode_value(self._numbers.wrap(task.arguments, worker.cached))
        except Exception as error:
            if is_unexpected(error):
                log.exception("A task cannot be sent: %s", task.function)
            self._end(slot, state="failed", error=user_error(error))
            return
        slot.unstarted = task
        worker.post(encode_message("task", value, id=id, function=task.function))

    def _forward_cancel(self, slot: _Slot, worker: WorkerProcess) -> None:
        if slot.job in self._cancelled and slot.deadline == math.inf:
            slot.deadline = time.monotonic() + GRACE_S
            worker.post(encode_message("cancel", id=slot.job))

    def _handle(self, slot: _Slot, worker: WorkerProcess, message: Message) -> None:
        if message.kind == "ready":
            worker.is_ready = True
            slot.deadline = math.inf
            return
        fields = message.fields
        id = fields["id"]
        if id != slot.job:
            return
        slot.unstarted = None
        if message.kind == "begun":
            return
        if message.kind == "progress":
            self._change(
                id,
                fraction=fields["fraction"],
                message=fields["text"],
                seconds_left=slot.time_left.update(fields["fraction"]),
                parts=fields["parts"],
            )
            if fields["layout"] is not None:
                self._keep_frame(id, fields["layout"])
            return
        worker.cached = fields["held"]
        self._change(id, processor_s=fields["processor_s"])
        slot.failures = 0
        if message.kind == "cancelled":
            self._end_with_result(slot, message, state="cancelled")
        elif id in self._cancelled:
            # A stopped job counts as cancelled even if its result arrives.
            self._end(slot, state="cancelled")
        elif message.kind == "done":
            self._end_with_result(slot, message, state="done", fraction=1.0)
        else:
            self._end_failed(slot, message)

    def _end_with_result(self, slot: _Slot, message: Message, **changes: object) -> None:
        try:
            result = message.value()
        except Exception as error:
            log.exception("The result of a task cannot be read")
            self._end(slot, state="failed", error=user_error(error))
            return
        self._end(slot, result=result, **changes)

    def _end_failed(self, slot: _Slot, message: Message) -> None:
        if message.fields["trace"]:
            log.error("A task failed in the worker:\n%s", message.fields["trace"])
        try:
            error = message.value()
        except Exception as fault:
            log.exception("The error of a task cannot be read")
            error = user_error(fault)
        self._end(slot, state="failed", error=error)

    def _end(self, slot: _Slot, **changes: object) -> None:
        """End the job of a worker, and give it another."""
        id = slot.job
        slot.deadline = math.inf
        slot.unsent = slot.unstarted = None
        if id is None:
            return
        self._resent.discard(id)
        self._end_job(id, **changes)
        with self._lock:
            slot.job = None
            slot.idle_since = time.monotonic()
            self._queue.remove(id)
            self._assign_jobs()

    def _end_worker(self, slot: _Slot) -> None:
        worker, slot.worker = slot.worker, None
        slot.deadline = math.inf
        if worker is not None:
            worker.kill()

    def _on_timeout(self, slot: _Slot) -> None:
        """Kill a worker that does not stop its job or does not get ready."""
        is_ready = slot.worker is not None and slot.worker.is_ready
        self._end_worker(slot)
        if is_ready:
            self._end(slot, state="cancelled")
        else:
            log.error("The worker did not get ready within %g s", _START_S)
            self._start_failed(slot)

    def _on_worker_exit(self, slot: _Slot, worker: WorkerProcess) -> None:
        """Handle the unexpected end of a worker."""
        slot.worker, slot.deadline = None, math.inf
        returncode = worker.wait_for_exit()
        log.error("The worker ended: %s", describe_exit(returncode))
        if not worker.is_ready:
            self._start_failed(slot)
        elif slot.job is None or slot.unsent is not None:
            if time.monotonic() - slot.worker_started_at > _STABLE_S:
                slot.failures = 0
            self._delay_restart(slot)
        elif slot.job in self._cancelled:
            # The job ends with its worker, so it cannot crash workers repeatedly.
            self._end(slot, state="cancelled")
        elif slot.unstarted is not None and slot.job not in self._resent:
            # Send a job again that the worker had not started, at most once.
            self._resent.add(slot.job)
            slot.unsent, slot.unstarted = slot.unstarted, None
            self._change(slot.job, state="waiting", message="Getting ready")
        else:
            self._end(slot, state="failed", error=worker_ended_error(returncode))

    def _delay_restart(self, slot: _Slot) -> None:
        """Delay the next start, longer after each failure."""
        slot.failures += 1
        pause = 0.0 if slot.failures == 1 else min(_MAX_PAUSE_S, 2.0 ** (slot.failures - 2))
        slot.not_before = time.monotonic() + pause

    def _start_failed(self, slot: _Slot) -> None:
        self._delay_restart(slot)
        if slot.failures >= _MAX_STARTS:
            # The next task tries again.
            slot.is_needed = False
            self._end(slot, state="failed", error=HetvizError(CANNOT_START))
