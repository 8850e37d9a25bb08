"""What takes long on large data is worked out elsewhere, kept, and shown once it is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import HetvizError
from hetviz.jobs import Job, Task
from hetviz.ui.map import answers, away, layers, parts
from hetviz.ui.map.array_cache import forget_unused
from hetviz.ui.shell import theme
from tests.app.conftest import Visit, html_of, workspace_of

REPORT = "hetviz.jobs.tasks.look:report"


def some_data() -> HeteroData:
    parts = [Dataset("a", ["x", "y"]), Dataset("b", ["u", "v"])]
    return HeteroData(parts, [Links("a", "b", [0, 1], [1, 0], np.ones(2))])


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Task]]:
    out: list[tuple[str, Task]] = []
    # Tests before this one looked at the same samples.
    forget_unused(-1.0)

    def send(session: str, id: str, task: Task) -> bool:
        out.append((id, task))
        return session != "busy"

    monkeypatch.setattr(away, "SEND", [send])
    monkeypatch.setattr(away, "LARGE", 1)
    monkeypatch.setattr(away, "START", [lambda work: work()])
    return out


def over(id: str, **how: object) -> Job:
    return replace(Job(id, "s:away", "Looking"), **how)


def test_a_page_is_told_once_it_is_there(sent: list[tuple[str, Task]]) -> None:
    data = some_data()
    ask = lambda: away.found("s", data, "report", REPORT, {})  # noqa: E731
    before = away.arrived("s")
    assert ask() is None
    assert ask() is None, "it is asked for once only"
    ((id, task),) = sent
    assert away.at_work("s") and not away.at_work("t")
    made = task.run(lambda *_, **__: None)
    away.ended(over(id, state="done", result=made))
    assert ask() is made
    assert away.arrived("s") == before + 1 and not away.at_work("s")


def test_what_failed_is_told_and_what_was_stopped_is_asked_for_again(
    sent: list[tuple[str, Task]],
) -> None:
    data = some_data()
    ask = lambda: away.found("s", data, "report", REPORT, {})  # noqa: E731
    ask()
    away.ended(over(sent[0][0], state="cancelled"))
    assert ask() is None and len(sent) == 2
    away.ended(over(sent[1][0], state="failed", error=HetvizError("no room")))
    with pytest.raises(away.Failed, match="Looking through what was said failed: no room") as told:
        ask()
    told.value.again()
    assert ask() is None and len(sent) == 3
    # Where no worker takes it on it is not waited for.
    assert away.found("busy", data, "other", REPORT, {}) is None
    assert not away.at_work("busy")


def test_small_data_keep_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(away, "SEND", [lambda *_: pytest.fail("nothing is sent")])
    assert away.found("s", some_data(), "report", REPORT, {}).n_conflicts == 0


def test_what_failed_is_said_in_its_place_and_can_be_tried_again(
    sent: list[tuple[str, Task]], visit: Visit
) -> None:
    app = visit("guidance")
    failing = [id for id, task in sent if task.function == REPORT]
    away.ended(over(failing[0], state="failed", error=HetvizError("The worker was stopped.")))
    app.run()
    assert not app.exception
    words = "Looking through what was said failed: The worker was stopped."
    assert [one.value for one in app.error] == [theme.plain(words)]
    app.button(key="again-conflicts").click().run()
    assert not app.error
    assert sum(task.function == REPORT for _, task in sent) == 2


def test_what_a_page_holds_itself_is_made_beside_it(
    sent: list[tuple[str, Task]], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, waiting = some_data(), []
    monkeypatch.setattr(away, "START", [waiting.append])
    monkeypatch.setattr(away, "_PATIENCE", 0.0)
    worth = [HetvizError("no room"), np.ones(2)]

    def make() -> np.ndarray:
        found = worth.pop(0)
        if isinstance(found, HetvizError):
            raise found
        return found

    ask = lambda: away.made("beside", data, "part", make, None)  # noqa: E731
    before = away.arrived("beside")
    assert ask() is None and ask() is None and away.at_work("beside")
    (work,) = waiting
    work()
    assert away.arrived("beside") == before + 1 and not away.at_work("beside")
    with pytest.raises(away.Failed, match="no room") as told:
        ask()
    told.value.again()
    assert ask() is None
    waiting.pop()()
    assert ask().tolist() == [1.0, 1.0]
    # Where it is there at once the page need not be drawn again.
    monkeypatch.setattr(away, "START", [lambda work: work()])
    seen = away.arrived("beside")
    assert away.made("beside", data, "other", lambda: 3, None) == 3
    assert away.arrived("beside") == seen and not sent


def test_guidance_stands_without_its_tables_until_they_are_made(
    sent: list[tuple[str, Task]], monkeypatch: pytest.MonkeyPatch, visit: Visit
) -> None:
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(away, "START", [waiting.append])
    monkeypatch.setattr(away, "_PATIENCE", 0.0)
    app = visit("guidance")
    assert "4,130 links, 399 comparisons" in html_of(app)
    assert "The links are being put in order" in html_of(app) and not app.data_editor
    while waiting:
        waiting.pop()()
    app.run()
    assert not app.exception and len(app.data_editor[0].value) == 200


def test_names_and_trust_that_failed_are_told_on_the_map_and_asked_for_again(
    sent: list[tuple[str, Task]], visit: Visit
) -> None:
    app = visit("map")
    state, sid = workspace_of(app).state, str(app.session_state["sid"])
    of = parts.geometry(state, state.run).id

    def asks() -> object:
        opened = answers.Open(sid, state, state.opened())
        return answers.ANSWERS["regions"](opened, answers.Asked(query={"of": of})).content

    assert asks() == {"levels": [], "later": True, "failed": False} and not app.error
    assert layers.fog_of(state, state.run, sid) is None
    before = away.arrived(sid)
    for name in ("regions_of_map", "trust_of_rows"):
        id = next(id for id, task in sent if task.function.endswith(f":{name}"))
        away.ended(over(id, state="failed", error=HetvizError("The worker was stopped.")))
    assert away.arrived(sid) == before + 2
    assert asks() == {"levels": [], "later": False, "failed": True}
    app.run()
    told = [one.value for one in app.error]
    assert told[0] == theme.plain("Reading the regions of the map failed: The worker was stopped.")
    assert len(told) == 2 and "trusted" in told[1]
    app.button(key="again-regions").click().run()
    assert len(app.error) == 1 and asks() == {"levels": [], "later": True, "failed": False}
    app.button(key="again-trust").click().run()
    assert not app.error and layers.fog_of(state, state.run, sid) is None
