"""Recipes of the maps of a project give the same maps again, bit for bit."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import runpy
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import hetviz
from hetviz import codec
from hetviz.cli import main
from hetviz.errors import Cancelled, DataError, HetvizError, ParameterError
from hetviz.exports.model import MODEL
from hetviz.exports.reproduce import map_recipe, reason_against_recipe
from hetviz.io import coordinates_csv
from hetviz.runs import first_map
from hetviz.runs.embed.run import STOPPED, MapResult, fit_run
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.map import map_warnings
from hetviz.ui.shell import background, session
from hetviz.workspace import (
    AddLinks,
    AddTables,
    ChooseRun,
    DropStatements,
    KeepItems,
    LeaveUnlinked,
    RecordMap,
    RenameDataset,
    SetFeatures,
    SetLabels,
    StartJob,
    State,
    SwitchSet,
    Workspace,
)
from hetviz.workspace.commands.guidance import AddComparisons
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.maps import pack_map
from tests.inline_runner import InlineRunner
from tests.waits import PATIENCE_S

ROOT = Path(hetviz.__file__).parents[1]
N_ACTIONS = 30
METHODS: dict[str, dict[str, object]] = {
    "mr-sne": {"n_iter": 30, "perplexity": 6.0},
    "joint-map": {"n_iter": 20, "n_axes": 6, "perplexity": 6.0},
    "umap": {"n_epochs": 20, "n_neighbors": 6},
    "guided-projection": {"n_components": 4, "drawn_by": "neighbors"},
}


def tables() -> dict[str, bytes]:
    rng = np.random.default_rng(4)
    plants = [f"p{k},Plant {k},{rng.normal():.3f},{rng.normal():.3f}" for k in range(34)]
    birds = [f"{k:03d},{rng.normal():.3f},{rng.normal():.3f}" for k in range(28)]
    # The last birds have no links.
    pairs = sorted({(int(rng.integers(34)), int(rng.integers(24))) for _ in range(70)})
    links = [f"plants,p{i},birds,{j:03d},{1 if i % 5 else -1}" for i, j in pairs]
    lines = {
        "plants.csv": ["id,name,size,weight", *plants],
        "birds.csv": ["id,span,mass", *birds],
        "links.csv": ["source_dataset,source_id,target_dataset,target_id,weight", *links],
    }
    return {name: ("\n".join(rows) + "\n").encode() for name, rows in lines.items()}


class Project:
    """A project with the random actions of a user. Its jobs run at once, by the app's functions."""

    def __init__(self, workspace: Workspace, seed: int) -> None:
        self.workspace, self.rng = workspace, np.random.default_rng(seed)
        self.done: list[str] = []

    @property
    def state(self) -> State:
        return self.workspace.state

    @property
    def run(self) -> MapResult:
        assert self.state.run is not None
        return self.state.run

    def actions(self) -> list[Callable[[], object]]:
        return [
            self.add_links,
            self.add_comparison,
            self.drop_statement,
            self.switch_set,
            self.label,
            self.leave_out,
            self.rename,
            self.choose_features,
            self.choose_map,
            self.refit,
            self.refit_some_freely,
            self.make_map,
            self.make_map_of_some,
            self.undo,
            self.redo,
        ]

    def act(self, action: Callable[[], object]) -> None:
        """Do something, or refit if it is not possible at present."""
        try:
            action()
        except HetvizError:
            action = self.refit
            action()
        assert self.state.pending is None, self.state.pending
        self.done.append(action.__name__)

    def names(self) -> list[str]:
        return list(self.state.opened().datasets)

    def items(self, name: str, n: int) -> list[str]:
        return [str(id) for id in self.rng.choice(self.state.opened()[name].ids, n, replace=False)]

    def rows(self, n: int) -> Any:
        return np.sort(self.rng.choice(self.state.opened().n_rows, n, replace=False))

    def add_links(self) -> None:
        first, second = self.names()
        pairs = list(zip(self.items(first, 3), self.items(second, 3), strict=True))
        weight = float(self.rng.choice([1.0, -1.0, 0.3]))
        self.workspace.do(AddLinks(first, second, pairs, weight, set="mine"))

    def add_comparison(self) -> None:
        name = str(self.rng.choice(self.names()))
        self.workspace.do(AddComparisons([[[name, id] for id in self.items(name, 3)]]))

    def drop_statement(self) -> None:
        keys = hetviz.statements(self.state.opened())["key"]
        self.workspace.do(DropStatements([str(self.rng.choice(keys))]))

    def switch_set(self) -> None:
        self.workspace.do(SwitchSet("mine", "mine" in self.state.off))

    def label(self) -> None:
        name = self.names()[0]
        self.workspace.do(SetLabels(name, "colour", dict.fromkeys(self.items(name, 4), "red")))

    def leave_out(self) -> None:
        self.workspace.do(LeaveUnlinked(self.names()[1]))

    def rename(self) -> None:
        self.workspace.do(RenameDataset(self.names()[1], f"birds {len(self.done)}"))

    def choose_features(self) -> None:
        self.workspace.do(SetFeatures(self.names()[1], {"mass": {"use": self.rng.random() < 0.5}}))

    def choose_map(self) -> None:
        self.workspace.do(ChooseRun(str(self.rng.choice([run.id for run in self.state.runs]))))

    def refit(self) -> None:
        assert background.refit(self.state)

    def refit_some_freely(self) -> None:
        assert background.refit(self.state, self.rows(9))

    def make_map(self) -> None:
        self._make(str(self.rng.choice(list(METHODS))))

    def make_map_of_some(self) -> None:
        self._make("mr-sne", only=self.rows(self.state.opened().n_rows - 8))

    def undo(self) -> None:
        self.workspace.undo()

    def redo(self) -> None:
        self.workspace.redo()

    def _make(self, method: str, only: Any = None) -> None:
        seed, hold_out = int(self.rng.integers(9)), float(self.rng.choice([0.0, 0.2]))
        background.make_map(method, "A map", METHODS[method], seed, hold_out, only=only)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    workspace = Workspace(BlobStore(tmp_path / "blobs"))
    monkeypatch.setattr(JOBS, "runner", InlineRunner(JOBS.on_end))
    monkeypatch.setattr(session, "workspace", lambda: workspace)
    monkeypatch.setattr(background, "project_id", lambda: "project")
    monkeypatch.setattr(background.people, "name_in_records", lambda: "")
    monkeypatch.setattr(background.SESSIONS, "find", lambda _: workspace)
    blobs = {name: workspace.blobs.put(content) for name, content in tables().items()}
    workspace.do(AddTables(blobs, fresh=True))
    return Project(workspace, seed=3)


def recipe_of(run: MapResult) -> bytes:
    assert run.origin is not None
    assert reason_against_recipe(run.origin) == ""
    return map_recipe(run.origin)


def reproduce(content: bytes, folder: Path, by: str = "here") -> str:
    """Run the script of a recipe, here or in a process, or a command; return the CSV."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    out = folder / "run"
    if by == "process":
        # The number of threads does not matter.
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "2")
        env = {**os.environ, **threads, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "reproduce.py"]
        subprocess.run(command, cwd=folder, env=env, check=True, timeout=PATIENCE_S)
    elif by == "command":
        with threadpool_limits(2):
            assert main(["run", str(folder / "recipe.toml"), "--out", str(out)]) == 0
    else:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            runpy.run_path(str(folder / "reproduce.py"))
            if not out.exists():
                hetviz.run_recipe(folder)
        assert not [str(w.message) for w in caught if re.search("changed|equal", str(w.message))]
    assert json.loads((out / "scores.json").read_text("utf-8"))["same_coordinates"] is True
    return (out / "coordinates.csv").read_text("utf-8")


def test_maps_after_random_actions_are_reproduced(project: Project, tmp_path: Path) -> None:
    actions = [*project.actions(), *project.actions()]
    seen: dict[str, bytes] = {}
    warm_maps, ways = 0, ["process", "command"]
    order = project.rng.permutation(len(actions))[: N_ACTIONS - 1]
    for action in [project.make_map, *(actions[at] for at in order)]:
        project.act(action)
        run = project.run
        content = recipe_of(run)
        if run.id in seen:
            # Another change of the project leaves the recipe alone.
            assert content == seen[run.id], project.done
            continue
        seen[run.id] = content
        is_warm = run.start is not None
        warm_maps += is_warm
        way = ways.pop() if ways and is_warm else "here"
        text = reproduce(content, tmp_path / run.id, way)
        # The map was made from the present data, and is what the page shows.
        shown = project.state.embedding(run)
        assert shown is not None
        assert text == coordinates_csv(shown), project.done
        assert (tmp_path / run.id / "start.csv").exists() == is_warm
        assert (tmp_path / run.id / "only.csv").exists() == (run.only is not None)
    assert not ways
    assert warm_maps >= 4
    assert {"undo", "leave_out", "rename", "refit_some_freely"} <= set(project.done)
    # A project that is opened again has the same recipes.
    again = Workspace.replay(project.workspace.log, project.workspace.blobs)
    assert [recipe_of(run) for run in again.state.runs] == [seen[r.id] for r in project.state.runs]


def test_map_of_earlier_data_is_reproduced(project: Project, tmp_path: Path) -> None:
    """The data change while a map is made, and before it is exported."""
    data = project.state.opened()
    workspace = project.workspace
    start = StartJob("job", "Map", {})
    workspace.do(start)
    project.leave_out()
    result = fit_run(data, "pca").result
    with pytest.raises(DataError, match="made from other data"):
        workspace.do(RecordMap(workspace.blobs.put(pack_map(result)), "job"))
    workspace.undo()
    workspace.do(start)
    project.add_links()
    workspace.do(RecordMap(workspace.blobs.put(pack_map(result)), "job"))
    assert not project.state.is_current(project.run)
    text = reproduce(recipe_of(project.run), tmp_path)
    assert text == coordinates_csv(result.embedding)


def test_fitted_method_has_the_map_of_a_refit(project: Project) -> None:
    project.make_map_of_some()
    project.add_links()
    project.refit_some_freely()
    project.rename()
    run = project.run
    assert project.state.is_current(run)
    background.start_task("fit-model", run.settings, repeats=run.id, only=run.only)
    assert project.state.pending is None
    model = hetviz.load_model(base64.b64decode(project.state.findings[MODEL].content["zip"]))
    expected = run.embedding.stacked()[run.only]
    np.testing.assert_array_equal(model.embedding_.stacked(), expected)


@pytest.mark.parametrize("min_rows", [100, 40])
def test_first_map_is_reproduced(
    min_rows: int, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first map of many rows starts from a map of landmarks."""
    monkeypatch.setattr(first_map, "MIN_ROWS", min_rows)
    monkeypatch.setattr(first_map, "landmarks", lambda data: np.arange(0, data.n_rows, 2))
    choice = first_map.MethodChoice("mr-sne", "Map", METHODS["mr-sne"], "It was chosen.")
    monkeypatch.setattr(first_map, "choose_method", lambda *_, **__: choice)
    background.make_first_map()
    assert project.state.pending is None
    assert (project.run.start is not None) == (min_rows == 40)
    text = reproduce(recipe_of(project.run), tmp_path)
    assert text == coordinates_csv(project.run.embedding)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_make_it_again_is_one_step(
    share: float, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A map is refitted, or after larger changes its method is chosen again."""
    messages: list[str] = []
    monkeypatch.setattr(session, "add_message", lambda text, *_: messages.append(text))
    workspace = project.workspace
    background.make_map("pca", "A map", {}, 0, 0.0)
    data = project.state.opened()
    pairs = [[i, j] for i in data["plants"].ids[:20] for j in data["birds"].ids[24:27]]
    workspace.do(AddLinks("plants", "birds", pairs[: int(share * 120)]))
    before, n_steps = project.state, workspace.steps
    assert before.run is not None
    assert before.share_changed_since(before.run) == pytest.approx(
        int(share * 120) / (sum(map(len, data.links)) + int(share * 120) + 62)
    )
    map_warnings.make_map_again()
    assert project.state.pending is None
    assert workspace.steps == n_steps + 1
    assert project.state.is_current(project.run)
    assert (project.run.method == "pca") == (share < 0.2)
    assert bool(messages) == (share > 0.2)
    workspace.undo()
    assert project.state.run is before.run
    assert project.state.data is before.data


def test_share_changed_follows_renames(project: Project) -> None:
    project.make_map()
    project.rename()
    assert project.state.share_changed_since(project.run) == 0.0
    project.leave_out()
    share = project.state.share_changed_since(project.run)
    assert share is not None
    assert 0.0 < share < 0.1


def test_recipe_is_of_the_map_before_items_were_placed(project: Project, tmp_path: Path) -> None:
    project.make_map_of_some()
    before = recipe_of(project.run)
    file = project.workspace.blobs.put(b"id,name,size,weight\nnew,New,1,2\n")
    places = {"new": [0.5, 0.5]}
    project.workspace.do(KeepItems("plants", {"new.csv": file}, project.run.id, places))
    assert project.run.embedding.n_rows == 63
    assert recipe_of(project.run) == before
    # The scope stays the same items, and the new one has no part in it.
    rows, only = project.state.rows_of(project.run), project.run.only
    assert rows is not None and only is not None
    assert len(rows) == 54
    assert 34 not in rows


def test_stopped_map_has_no_recipe(project: Project) -> None:
    def stop(fraction: float, message: str = "", **figures: object) -> None:
        if figures.get("layout") is not None:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as stopped:
        fit_run(project.state.opened(), "mr-sne", {}, progress=stop)
    workspace = project.workspace
    workspace.do(RecordMap(workspace.blobs.put(pack_map(stopped.value.partial))))
    assert reason_against_recipe(project.run.origin) == STOPPED
    # A map that goes on from it has one.
    project.refit()
    assert reason_against_recipe(project.run.origin) == ""


def test_map_of_unknown_start_has_no_recipe(project: Project) -> None:
    """Earlier versions stored neither starts nor reasons."""
    project.make_map()
    project.refit()
    blobs = project.workspace.blobs
    entry = project.workspace.log[-1]
    stored = codec.decode(blobs.get(entry["map"]))
    content = {key: value for key, value in stored.items() if key not in ("start", "unrepeatable")}
    project.workspace.do(RecordMap(blobs.put(codec.encode(content)), None, project.run.id))
    assert "earlier version" in reason_against_recipe(project.run.origin)
    project.workspace.do(RecordMap(blobs.put(codec.encode(content))))
    assert reason_against_recipe(project.run.origin) == ""


def test_library_writes_recipe_of_a_start(project: Project, tmp_path: Path) -> None:
    data = project.state.opened()
    first = hetviz.embed(data, "mr-sne", **METHODS["mr-sne"])
    second = hetviz.embed(data, "mr-sne", start=first, random_state=2, **METHODS["mr-sne"])
    file = hetviz.export(data, second, tmp_path / "recipe.zip", "recipe", title="Birds")
    assert reproduce(file.read_bytes(), tmp_path / "again") == coordinates_csv(second)
    loaded_data, loaded = hetviz.load_run(tmp_path / "again" / "run")
    again = hetviz.export(loaded_data, loaded, tmp_path / "again.zip", "recipe")
    assert reproduce(again.read_bytes(), tmp_path / "third") == coordinates_csv(second)
    with pytest.raises(ParameterError, match="as it was returned"):
        hetviz.export(data, second.planar("pca"), tmp_path / "x.zip", "recipe")
