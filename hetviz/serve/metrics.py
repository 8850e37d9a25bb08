"""Server health and metrics: /healthz for load balancers, /metrics for Prometheus."""

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

from hetviz.serve.visitors import Visitors

_MIN_FREE_MB = 200
# Visitors with most work that have series of their own.
_MAX_VISITORS = 50
_BUCKETS = (0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 30.0)


@dataclass(frozen=True)
class ServerStatus:
    """Current activity of the server."""

    workers: int  # Number of running worker processes.
    # `running`, `waiting`: number of jobs.
    running: int
    waiting: int
    open_projects: int  # Number of projects in memory.
    can_work: bool  # Whether a job could start.
    # `reading`, `to_read`: number of processes that read files, and that wait to.
    reading: int = 0
    to_read: int = 0


class ServerMetrics:
    """Counts requests and jobs, and reports health and metrics."""

    def __init__(
        self,
        home: Callable[[], Path],
        status: Callable[[], ServerStatus],
        visitors: Visitors | None = None,
    ) -> None:
        self._home, self._status = home, status
        self._visitors = Visitors() if visitors is None else visitors
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._jobs: Counter[str] = Counter()
        self._job_seconds = 0.0
        self._started_at = time.time()

    def count_request(self, kind: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[kind, f"{status // 100}xx"] += 1
            if kind == "websocket":
                # A websocket lasts as long as its tab.
                return
            self._seconds[kind] += seconds  # type: ignore[assignment]
            for top in (*_BUCKETS, float("inf")):
                if seconds <= top:
                    self._buckets[kind, top] += 1

    def count_job(self, state: str, processor_s: float, visitor: str = "") -> None:
        with self._lock:
            self._jobs[state] += 1
            self._job_seconds += processor_s
        self._visitors.count_job(visitor, processor_s)

    def routes(self, metrics: bool) -> list[BaseRoute]:
        routes: list[BaseRoute] = [Route("/healthz", self._health)]
        return [*routes, Route("/metrics", self._metrics)] if metrics else routes

    def health(self) -> tuple[bool, dict[str, object]]:
        """Return whether the server is healthy, and the checks."""
        status, free = self._status(), self._free_mb()
        writable = os.access(self._home(), os.W_OK)
        checks = {"worker": status.can_work, "disk": writable and free >= _MIN_FREE_MB}
        return all(checks.values()), {
            "status": "ok" if all(checks.values()) else "failing",
            **checks,
        }

    def text(self) -> str:
        """Return the metrics in the Prometheus text format, version 0.0.4."""
        current = self._status()
        with self._lock:
            gauges = {
                "workers": ("Running worker processes.", current.workers),
                "jobs_running": ("Running jobs.", current.running),
                "jobs_waiting": ("Waiting jobs.", current.waiting),
                "readers_running": ("Processes that read files.", current.reading),
                "readers_waiting": ("Files waiting to be read.", current.to_read),
                "projects_open": ("Projects in memory.", current.open_projects),
                "disk_free_bytes": ("Free disk space for projects.", self._free_mb() * 10**6),
                "start_time_seconds": ("Start time of the server.", round(self._started_at, 3)),
            }
            lines = []
            for name, (description, value) in gauges.items():
                lines += _metric_header(name, description, "gauge")
                lines.append(f"hetviz_{name} {value}")
            lines += _metric_header("requests_total", "Requests by kind.", "counter")
            lines += [
                f'hetviz_requests_total{{kind="{kind}",status="{status}"}} {n}'
                for (kind, status), n in sorted(self._requests.items())
            ]
            lines += _metric_header("request_seconds", "Time to answer.", "histogram")
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
            lines += _metric_header("jobs_total", "Finished jobs.", "counter")
            lines += [
                f'hetviz_jobs_total{{state="{state}"}} {n}'
                for state, n in sorted(self._jobs.items())
            ]
            lines += _metric_header(
                "job_processor_seconds_total", "Processor time of jobs.", "counter"
            )
            lines.append(f"hetviz_job_processor_seconds_total {self._job_seconds:.3f}")
        lines += self._visitor_lines()
        return "\n".join(lines) + "\n"

    def _visitor_lines(self) -> list[str]:
        """Return the metrics of visitors, of all but `_MAX_VISITORS` together."""
        visits = list(self._visitors.visits().items())
        rest = [visit for _, visit in visits[_MAX_VISITORS:]]
        lines = []
        for name, description, value in (
            ("visitors", "Visitors on the server.", len(visits)),
            ("visitors_max", "Most visitors at once; 0 for any.", self._visitors.max_visitors),
        ):
            lines += [*_metric_header(name, description, "gauge"), f"hetviz_{name} {value}"]
        lines += _metric_header("visitors_refused_total", "Requests without a place.", "counter")
        lines.append(f"hetviz_visitors_refused_total {self._visitors.n_refused}")
        for name, description, field in (
            ("tabs", "Open tabs.", "tabs"),
            ("messages", "Messages of the tabs, most of which run a page.", "messages"),
            ("upload_bytes", "Uploads in memory.", "upload_bytes"),
            ("jobs", "Finished jobs.", "jobs"),
            ("job_processor_seconds", "Processor time of finished jobs.", "job_seconds"),
        ):
            # Gauges, since a visitor who comes again begins at 0.
            lines += _metric_header(f"visitor_{name}", description, "gauge")
            lines += [
                f'hetviz_visitor_{name}{{visitor="{visitor}"}} {getattr(visit, field):.10g}'
                for visitor, visit in visits[:_MAX_VISITORS]
            ]
            if rest:
                total = sum(getattr(visit, field) for visit in rest)
                lines.append(f'hetviz_visitor_{name}{{visitor="others"}} {total:.10g}')
        return lines

    def _free_mb(self) -> float:
        try:
            return shutil.disk_usage(self._home()).free / 1e6
        except OSError:
            return 0.0

    def _health(self, request: Request) -> Response:
        is_healthy, report = self.health()
        headers = {"Cache-Control": "no-store"}
        return JSONResponse(report, status_code=200 if is_healthy else 503, headers=headers)

    def _metrics(self, request: Request) -> Response:
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(self.text(), media_type=kind, headers={"Cache-Control": "no-store"})


def _metric_header(name: str, words: str, kind: str) -> list[str]:
    return [f"# HELP hetviz_{name} {words}", f"# TYPE hetviz_{name} {kind}"]
