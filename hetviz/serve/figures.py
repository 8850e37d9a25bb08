"""How the server does, for machines: /healthz for a balancer, /metrics for Prometheus."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

_LEAST_FREE_MB = 200
_BUCKETS = (0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 30.0)


@dataclass(frozen=True)
class Now:
    """What the server does at one moment.

    Attributes
    ----------
    workers : int
        Worker processes that are alive.
    running, waiting : int
        Jobs.
    open_projects : int
        In memory.
    can_work : bool
        Whether a job could start: there is a worker, or none was needed yet.
    reading, to_read : int
        Processes that read files, and those that wait for their turn.
    """

    workers: int
    running: int
    waiting: int
    open_projects: int
    can_work: bool
    reading: int = 0
    to_read: int = 0


class Figures:
    """Counts requests and jobs; says how the server does.

    Parameters
    ----------
    home : callable
        Returns the folder where projects are kept.
    now : callable
        Returns what the server does now.
    """

    def __init__(self, home: Callable[[], Path], now: Callable[[], Now]) -> None:
        self._home, self._now = home, now
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._jobs: Counter[str] = Counter()
        self._job_seconds = 0.0
        self._began = time.time()

    def request(self, kind: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._requests[kind, f"{status // 100}xx"] += 1
            if kind == "websocket":
                # It lasts as long as a tab is open.
                return
            self._seconds[kind] += seconds  # type: ignore[assignment]
            for top in (*_BUCKETS, float("inf")):
                if seconds <= top:
                    self._buckets[kind, top] += 1

    def job(self, state: str, processor_s: float) -> None:
        """Count a job that ended."""
        with self._lock:
            self._jobs[state] += 1
            self._job_seconds += processor_s

    def routes(self, metrics: bool) -> list[BaseRoute]:
        """Return the routes to serve."""
        shown: list[BaseRoute] = [Route("/healthz", self._health)]
        return [*shown, Route("/metrics", self._metrics)] if metrics else shown

    def health(self) -> tuple[bool, dict[str, object]]:
        """Return whether all is well, and of what that is known."""
        now, free = self._now(), self._free_mb()
        writable = os.access(self._home(), os.W_OK)
        found = {
            "worker": now.can_work,
            "disk": writable and free >= _LEAST_FREE_MB,
        }
        return all(found.values()), {"status": "ok" if all(found.values()) else "failing", **found}

    def text(self) -> str:
        """Return the figures in the text format of Prometheus, version 0.0.4."""
        now = self._now()
        with self._lock:
            gauges = {
                "workers": ("Worker processes that are alive.", now.workers),
                "jobs_running": ("Jobs that a worker does now.", now.running),
                "jobs_waiting": ("Jobs in the queue.", now.waiting),
                "readers_running": ("Processes that read files.", now.reading),
                "readers_waiting": ("Files that wait to be read.", now.to_read),
                "projects_open": ("Projects in memory.", now.open_projects),
                "disk_free_bytes": ("Free where projects are kept.", self._free_mb() * 10**6),
                "start_time_seconds": ("When the server started.", round(self._began, 3)),
            }
            lines = []
            for name, (words, value) in gauges.items():
                lines += _head(name, words, "gauge")
                lines.append(f"hetviz_{name} {value}")
            lines += _head("requests_total", "Requests, by what was asked for.", "counter")
            lines += [
                f'hetviz_requests_total{{kind="{kind}",status="{status}"}} {n}'
                for (kind, status), n in sorted(self._requests.items())
            ]
            lines += _head("request_seconds", "Time to answer.", "histogram")
            for kind in sorted(self._seconds):
                for top in (*_BUCKETS, float("inf")):
                    edge = "+Inf" if top == float("inf") else f"{top:g}"
                    label = f'kind="{kind}",le="{edge}"'
                    n = self._buckets[kind, top]
                    lines.append(f"hetviz_request_seconds_bucket{{{label}}} {n}")
                label = f'{{kind="{kind}"}}'
                lines.append(f"hetviz_request_seconds_sum{label} {self._seconds[kind]:.6f}")
                count = self._buckets[kind, float("inf")]
                lines.append(f"hetviz_request_seconds_count{label} {count}")
            lines += _head("jobs_total", "Jobs that ended.", "counter")
            lines += [
                f'hetviz_jobs_total{{state="{state}"}} {n}'
                for state, n in sorted(self._jobs.items())
            ]
            lines += _head("job_processor_seconds_total", "Processor time of jobs.", "counter")
            lines.append(f"hetviz_job_processor_seconds_total {self._job_seconds:.3f}")
        return "\n".join(lines) + "\n"

    def _free_mb(self) -> float:
        try:
            return shutil.disk_usage(self._home()).free / 1e6
        except OSError:
            return 0.0

    def _health(self, request: Request) -> Response:
        well, found = self.health()
        never = {"Cache-Control": "no-store"}
        return JSONResponse(found, status_code=200 if well else 503, headers=never)

    def _metrics(self, request: Request) -> Response:
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(self.text(), media_type=kind, headers={"Cache-Control": "no-store"})


def _head(name: str, words: str, kind: str) -> list[str]:
    return [f"# HELP hetviz_{name} {words}", f"# TYPE hetviz_{name} {kind}"]
