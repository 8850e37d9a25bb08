"""Tests of health and metrics of the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.applications import Starlette

from hetviz.serve.config import ServerSettings
from hetviz.serve.guard import RequestGuard
from hetviz.serve.metrics import ServerMetrics, ServerStatus
from hetviz.serve.visitors import Visitors
from tests.serve.asgi import ask


def made(
    home: Path, can_work: bool = True, metrics: bool = True
) -> tuple[ServerMetrics, RequestGuard]:
    figures = ServerMetrics(lambda: home, lambda: ServerStatus(2, 1, 3, 4, can_work))
    app = Starlette(routes=figures.routes(metrics))
    return figures, RequestGuard(app, ServerSettings(base_path="maps"), figures)


def test_health_for_any_host(tmp_path: Path) -> None:
    _, app = made(tmp_path)
    result = ask(app, "/maps/healthz", {"Host": "10.0.0.7"})
    assert result.status == 200
    assert json.loads(result.body) == {"status": "ok", "worker": True, "disk": True}
    _, app = made(tmp_path, can_work=False)
    assert ask(app, "/healthz").status == 503


def test_read_only_folder_is_unhealthy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.serve.metrics.os.access", lambda *_: False)
    _, app = made(tmp_path)
    assert json.loads(ask(app, "/healthz").body)["disk"] is False


def test_metrics_of_visitors_have_few_series(tmp_path: Path) -> None:
    visitors = Visitors(200)
    figures = ServerMetrics(lambda: tmp_path, lambda: ServerStatus(2, 1, 3, 4, True), visitors)
    for k in range(120):
        assert visitors.enter(f"visitor{k}")
    figures.count_job("done", 2.5, "visitor99")
    figures.count_job("done", 1.5, "visitor99")
    figures.count_job("done", 4.0, "visitor7")
    figures.count_job("done", 9.0, "who has left")
    lines = figures.text().splitlines()
    for line in (
        "hetviz_visitors 120",
        "hetviz_visitors_max 200",
        "hetviz_visitors_refused_total 0",
        'hetviz_visitor_tabs{visitor="others"} 70',
        'hetviz_visitor_jobs{visitor="visitor99"} 2',
        'hetviz_visitor_job_processor_seconds{visitor="visitor7"} 4',
        'hetviz_visitor_job_processor_seconds{visitor="others"} 0',
    ):
        assert line in lines
    assert sum(line.startswith("hetviz_visitor_tabs{") for line in lines) == 51
    assert "who has left" not in "".join(lines)


def test_metrics_are_optional(tmp_path: Path) -> None:
    _, app = made(tmp_path, metrics=False)
    assert ask(app, "/metrics").status == 404
    figures, app = made(tmp_path)
    ask(app, "/healthz")
    ask(app, "/nothing")
    figures.count_job("done", 1.25)
    text = ask(app, "/metrics").body.decode()
    for line in (
        "hetviz_workers 2",
        "hetviz_jobs_waiting 3",
        "hetviz_projects_open 4",
        'hetviz_requests_total{kind="own",status="2xx"} 1',
        'hetviz_requests_total{kind="http",status="4xx"} 1',
        'hetviz_request_seconds_bucket{kind="own",le="+Inf"} 1',
        'hetviz_jobs_total{state="done"} 1',
        "hetviz_job_processor_seconds_total 1.250",
    ):
        assert line in text.splitlines()
    # Prometheus needs exactly one HELP and TYPE per metric.
    heads = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads))
