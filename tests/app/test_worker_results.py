"""Tests of results that are computed in a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import HetvizError
from hetviz.jobs import Job, Task
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.map import map_requests
from hetviz.ui.map_data import layers, parts, worker_results
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.ui.shell import theme
from tests.app.conftest import Visit, html_of, sid_of, workspace_of
from tests.inline_runner import InlineRunner

REPORT = "check-guidance"


def some_data() -> HeteroData:
    parts = [Dataset("a", ["x", "y"]), Dataset("b", ["u", "v"])]
    return HeteroData(parts, [Links("a", "b", [0, 1], [1, 0], np.ones(2))])


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Task]]:
    out: list[tuple[str, Task]] = []
    # Other tests use the same cached samples.
    RESULTS.drop_unused(-1.0)

    def send(session: str, id: str, task: Task) -> bool:
        out.append((id, task))
        return session != "busy"

    monkeypatch.setattr(worker_results, "_send_task", send)
    monkeypatch.setattr(JOBS, "runner", InlineRunner())
    monkeypatch.setattr(worker_results, "LARGE_SIZE", 1)
    monkeypatch.setattr(worker_results, "start_thread", lambda work: work())
    return out


def over(id: str, **how: object) -> Job:
    return replace(Job(id, "s", "Looking"), **how)


def test_page_runs_again_when_result_arrives(sent: list[tuple[str, Task]]) -> None:
    data = some_data()
    ask = lambda: worker_results.fetch_from_worker("s", data, "report", REPORT, {})  # noqa: E731
    before = worker_results.n_arrived("s")
    assert ask() is None
    assert ask() is None, "it is asked for once only"
    ((id, task),) = sent
    assert worker_results.is_working("s") and not worker_results.is_working("t")
    made = task.run(lambda *_, **__: None)
    worker_results.on_job_end(over(id, state="done", result=made))
    assert ask() is made
    assert worker_results.n_arrived("s") == before + 1 and not worker_results.is_working("s")


def test_failed_result_is_raised_and_cancelled_one_repeated(
    sent: list[tuple[str, Task]],
) -> None:
    data = some_data()
    ask = lambda: worker_results.fetch_from_worker("s", data, "report", REPORT, {})  # noqa: E731
    ask()
    worker_results.on_job_end(over(sent[0][0], state="cancelled"))
    assert ask() is None and len(sent) == 2
    worker_results.on_job_end(over(sent[1][0], state="failed", error=HetvizError("no room")))
    with pytest.raises(
        worker_results.WorkerError, match="Checking the guidance failed: no room"
    ) as told:
        ask()
    told.value.retry()
    assert ask() is None and len(sent) == 3
    # A rejected task is not pending.
    assert worker_results.fetch_from_worker("busy", data, "other", REPORT, {}) is None
    assert not worker_results.is_working("busy")


def test_small_data_are_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_results, "_send_task", lambda *_: pytest.fail("nothing is sent"))
    assert worker_results.fetch_from_worker("s", some_data(), "report", REPORT, {}).n_conflicts == 0


def test_failure_is_shown_and_can_be_retried(sent: list[tuple[str, Task]], visit: Visit) -> None:
    app = visit("guidance")
    failing = [id for id, task in sent if task.task == REPORT]
    worker_results.on_job_end(
        over(failing[0], state="failed", error=HetvizError("The worker was stopped."))
    )
    app.run()
    assert not app.exception
    words = "Checking the guidance failed: The worker was stopped."
    assert [one.value for one in app.error] == [theme.escape_markdown(words)]
    app.button(key="again-conflicts").click().run()
    assert not app.error
    assert sum(task.task == REPORT for _, task in sent) == 2


def test_thread_result_is_computed_once(
    sent: list[tuple[str, Task]], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, waiting = some_data(), []
    monkeypatch.setattr(worker_results, "start_thread", waiting.append)
    monkeypatch.setattr(worker_results, "_WAIT_S", 0.0)
    worth = [HetvizError("no room"), np.ones(2)]

    def make() -> np.ndarray:
        found = worth.pop(0)
        if isinstance(found, HetvizError):
            raise found
        return found

    ask = lambda: worker_results.compute_in_thread("beside", data, "part", make, None)  # noqa: E731
    before = worker_results.n_arrived("beside")
    assert ask() is None and ask() is None and worker_results.is_working("beside")
    (work,) = waiting
    work()
    assert worker_results.n_arrived("beside") == before + 1 and not worker_results.is_working(
        "beside"
    )
    with pytest.raises(worker_results.WorkerError, match="no room") as told:
        ask()
    told.value.retry()
    assert ask() is None
    waiting.pop()()
    assert ask().tolist() == [1.0, 1.0]
    # A result within the wait time needs no second run of the page.
    monkeypatch.setattr(worker_results, "start_thread", lambda work: work())
    seen = worker_results.n_arrived("beside")
    assert worker_results.compute_in_thread("beside", data, "other", lambda: 3, None) == 3
    assert worker_results.n_arrived("beside") == seen and not sent


def test_guidance_tab_works_before_its_tables(
    sent: list[tuple[str, Task]], monkeypatch: pytest.MonkeyPatch, visit: Visit
) -> None:
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(worker_results, "start_thread", waiting.append)
    monkeypatch.setattr(worker_results, "_WAIT_S", 0.0)
    app = visit("guidance")
    assert "of your links ended up close together" in html_of(app)
    assert "Preparing the table of links" in html_of(app) and not app.data_editor
    while waiting:
        waiting.pop()()
    app.run()
    assert not app.exception and len(app.data_editor[0].value) == 200


def test_region_and_trust_failures_are_shown_and_retried(
    sent: list[tuple[str, Task]], visit: Visit
) -> None:
    app = visit("map")
    state, sid = workspace_of(app).state, sid_of(app)
    of = parts.get_geometry(state, state.run).id

    def asks() -> object:
        opened = map_requests.OpenProject(sid, state, state.opened())
        return map_requests.HANDLERS["regions"](
            opened, map_requests.MapRequest(query={"of": of})
        ).content

    assert asks() == {"levels": [], "pending": True, "failed": False} and not app.error
    assert layers.trust_overlay(state, state.run, sid) is None
    before = worker_results.n_arrived(sid)
    for name in ("find-regions", "map-trust"):
        id = next(id for id, task in sent if task.task == name)
        worker_results.on_job_end(
            over(id, state="failed", error=HetvizError("The worker was stopped."))
        )
    assert worker_results.n_arrived(sid) == before + 2
    assert asks() == {"levels": [], "pending": False, "failed": True}
    app.run()
    told = [one.value for one in app.error]
    assert told[0] == theme.escape_markdown(
        "Finding the regions of the map failed: The worker was stopped."
    )
    assert len(told) == 2 and "reliable" in told[1]
    app.button(key="again-regions").click().run()
    assert len(app.error) == 1 and asks() == {"levels": [], "pending": True, "failed": False}
    app.button(key="again-trust").click().run()
    assert not app.error and layers.trust_overlay(state, state.run, sid) is None
