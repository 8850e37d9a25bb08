"""Projects for the browser tests to find, made without a server in the folder that it looks in."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from hetviz.jobs import Job, Task
from hetviz.progress import ignore_progress
from hetviz.ui.shell.background import outcome_command
from hetviz.ui.shell.paths import FIRST_SAMPLE
from hetviz.workspace import Command, OpenSample, Sessions, StartJob, Workspace
from hetviz.workspace.store.files import new_session_id


class Projects:
    """Makes projects, each for one test alone.

    Parameters
    ----------
    home : Path
        The server's HETVIZ_HOME.
    """

    def __init__(self, home: Path) -> None:
        self.folder = home / "sessions"

    def make(self, *commands: Command, sample: str = FIRST_SAMPLE) -> str:
        """Return the id of a project in which a sample was opened and something was done."""
        return self._made(lambda workspace: [workspace.do(one) for one in commands], sample)

    def compared(self) -> str:
        """Return the id of a project in which three quick methods were compared on one split."""
        return self._copy(self._compared)

    def clustered(self) -> str:
        """Return the id of a project in which clusters of the first map were found."""
        return self._copy(self._clustered)

    def with_periods(self) -> str:
        """Return the id of a project with rough maps of three periods of the world sample."""
        arguments = {
            "by": "year",
            "periods": [1900, 1990, 2010, 2025],
            "method": "mr-sne",
            "params": {"n_iter": 60},
            "seed": 0,
            "measure": False,
        }
        return self._made(
            lambda workspace: found(workspace, "Maps of periods", "find-periods", arguments),
            "world",
        )

    @cached_property
    def _compared(self) -> str:
        methods = ["guided-projection", "cdmca", "pca"]
        arguments = {"methods": methods, "seeds": 1, "hold_out": 0.2, "new_items": 0.0}
        task = "compare-methods"
        return self._made(lambda workspace: found(workspace, "Comparison", task, arguments))

    @cached_property
    def _clustered(self) -> str:
        def find(workspace: Workspace) -> None:
            run = workspace.state.run
            assert run is not None
            arguments = {
                "by": "k-means",
                "space": "map",
                "method": run.method,
                "params": dict(run.params),
                "seed": run.seed,
                "hold_out": run.hold_out,
                "weights": dict(run.weights),
            }
            places = workspace.state.embedding(run)
            task = "find-clusters"
            found(workspace, "Clusters", task, arguments, start=places)

        return self._made(find)

    def _made(self, do: Any, sample: str = FIRST_SAMPLE) -> str:
        sessions, id = Sessions(self.folder), new_session_id()
        try:
            workspace = sessions.get(id)
            workspace.do(OpenSample(sample))
            do(workspace)
        finally:
            # The server opens it now.
            sessions.close()
        return id

    def _copy(self, id: str) -> str:
        copy = new_session_id()
        shutil.copytree(self.folder / id, self.folder / copy)
        return copy


def found(
    workspace: Workspace, title: str, task: str, arguments: Mapping[str, Any], **more: Any
) -> None:
    """Run a task to its end, and keep what it found as the app does."""
    data = workspace.state.guided
    assert data is not None
    note = {"task": task, "arguments": dict(arguments), "only": None, "start": None}
    note["fingerprint"] = data.fingerprint()
    job = Job(new_session_id(), "", title, "done", note=note)
    workspace.do(StartJob(job.id, title, note))
    result = Task(task, {"data": data, **arguments, **more}).run(ignore_progress)
    workspace.do(
        outcome_command(Job(job.id, "", title, "done", result=result, note=note), workspace)
    )
