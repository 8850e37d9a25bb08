"""Tests that files of earlier versions open and those of newer ones give errors."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.data import Dataset, HeteroData
from hetviz.errors import HetvizError
from hetviz.runs.embed.run import fit_run
from hetviz.runs.recipe import read_recipe
from hetviz.serve import upkeep
from hetviz.workspace import Sessions, SetTitle, State, Workspace, open_project
from hetviz.workspace.project_file import FEATURES_DIFFER
from hetviz.workspace.store.files import JOURNAL, new_session_id
from tests.algorithms.test_contract import DATA
from tests.io.file_builders import packed

pytestmark = pytest.mark.usefixtures("reader_here")
FIXTURES = Path(__file__).parents[2] / "fixtures" / "earlier"
COMMITS = ("2400fbd", "f9dac23", "a320114")


@pytest.fixture(params=COMMITS)
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with what one commit wrote."""
    folder = tmp_path / str(request.param)
    with zipfile.ZipFile(FIXTURES / f"{request.param}.zip") as archive:
        archive.extractall(folder)
    return folder


def said(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "said.json").read_text())
    return result


def known(workspace: Workspace) -> dict[str, Any]:
    """What the earlier code told of its project, of this one."""
    state: State = workspace.state
    assert state.data is not None
    runs = []
    for run in state.runs:
        places = np.ascontiguousarray(run.embedding.stacked())
        messages = hashlib.sha256(places.tobytes()).hexdigest()
        runs.append([run.id, run.title, bool(run.starred), messages])
    return {
        "title": state.title,
        "datasets": {
            name: list(map(str, item_filter.ids))
            for name, item_filter in state.data.datasets.items()
        },
        "links": sum(map(len, state.data.links)),
        "runs": runs,
        "chosen": state.chosen,
        "colour": state.view.colour,
        "hidden": list(state.view.hidden),
        "filters": [item_filter.column for item_filter in state.filters],
        "undo": workspace.undo_name,
        "redo": workspace.redo_name,
        "selection": workspace.view_state.selection.tolist(),
        "clusters": None if state.clustering is None else list(state.clustering.names),
    }


def agreed(workspace: Workspace, folder: Path) -> None:
    assert set(workspace.notes) <= {FEATURES_DIFFER}
    expected = said(folder)
    result = known(workspace)
    # Messages may have changed.
    assert (result.pop("undo") is None) == (expected["undo"] is None)
    assert (result.pop("redo") is None) == (expected["redo"] is None)
    assert result == {name: expected[name] for name in result}


def test_earlier_session_opens(earlier: Path, tmp_path: Path) -> None:
    home, sid = tmp_path / "sessions", new_session_id()
    home.mkdir()
    (earlier / "session").rename(home / sid)
    sessions = Sessions(home)
    agreed(sessions.get(sid), earlier)
    before = (home / sid / JOURNAL).read_bytes()
    sessions.get(sid).do(SetTitle("Later"))
    sessions.close()
    # Lines are added, and none is changed.
    assert (home / sid / JOURNAL).read_bytes().startswith(before)
    again = Sessions(home)
    assert again.get(sid).state.title == "Later"
    again.get(sid).undo()
    assert again.get(sid).state.title == said(earlier)["title"]
    again.close()


# There were no such files before.
def test_earlier_session_outlives_maintenance(earlier: Path, tmp_path: Path) -> None:
    home, other, sid = tmp_path / "home", tmp_path / "other", new_session_id()
    (home / "sessions").mkdir(parents=True)
    (earlier / "session").rename(home / "sessions" / sid)
    assert upkeep.verify(home) == ([], 1)
    upkeep.back_up(home, tmp_path / "backup")
    assert upkeep.restore(tmp_path / "backup", other)["restored"] == 1
    files = list((other / "sessions" / sid / "blobs").iterdir())
    for file in files:
        os.utime(file, (0, 0))
    # Each is named by a step.
    assert upkeep.prune(other) == [] and all(file.exists() for file in files)
    sessions = Sessions(other / "sessions")
    agreed(sessions.get(sid), earlier)
    sessions.close()


@pytest.mark.parametrize("earlier", COMMITS[1:], indirect=True)
def test_earlier_project_file_opens(earlier: Path, tmp_path: Path) -> None:
    file = earlier / "project.hetviz"
    sessions = Sessions(tmp_path / "sessions")
    agreed(sessions.get(open_project(file.read_bytes(), file.name, sessions)), earlier)
    sessions.close()


def test_earlier_bundle_features(earlier: Path) -> None:
    data = hetviz.load(earlier / "bundle.zip")
    for name, rows in said(earlier)["features"].items():
        X = data[name].X
        assert isinstance(X, np.ndarray)
        np.testing.assert_allclose(X, rows, atol=1e-9)
    assert [list(map(str, value.ids)) for value in data.datasets.values()] == list(
        said(earlier)["datasets"].values()
    )


@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_earlier_recipe_map(earlier: Path) -> None:
    recipe = read_recipe(earlier / "recipe.toml")
    run = recipe.run
    result = fit_run(recipe.load().data, run.method, run.params, run.seed).result.embedding
    for name, places in said(earlier)["recipe"].items():
        np.testing.assert_allclose(result.coordinates[name], places, atol=1e-6)


@pytest.mark.parametrize("method", ["cdmca", "lpp"])
def test_earlier_model_placement(earlier: Path, method: str) -> None:
    model = hetviz.load_model(earlier / "models" / f"{method}.zip")
    parts = [
        Dataset(name, [f"new {k}" for k in range(6)], part.X[:6] * 1.01 + 0.1, entity=part.entity)
        for name, part in DATA.datasets.items()
        if part.X is not None
    ]
    result = model.transform(HeteroData(parts))
    for name, places in said(earlier)["models"][method].items():
        np.testing.assert_allclose(result.coordinates[name], places, atol=1e-6)


def later_journal(folder: Path) -> object:
    sid = new_session_id()
    (folder / sid).mkdir()
    (folder / sid / JOURNAL).write_bytes(b'{"format": 2}\n')
    return Sessions(folder).get(sid)


def later_project(folder: Path) -> object:
    content = packed([("hetviz-project.json", b'{"format": 2, "hetviz": "9.0"}')])
    return open_project(content, "later.hetviz", Sessions(folder))


def later_bundle(folder: Path) -> object:
    (folder / "hetviz.toml").write_text("format = 2\nnew_key = 1\n")
    return hetviz.load(folder)


def later_features(folder: Path) -> object:
    data = HeteroData([Dataset("a", ["x", "y"], np.eye(2), recipe={"features": {"format": 3}})])
    hetviz.save(data, folder / "b.zip")
    return hetviz.load(folder / "b.zip")


def later_recipe(folder: Path) -> object:
    (folder / "recipe.toml").write_text('format = 2\nnew_key = 1\ndata = "emoji"\n')
    return read_recipe(folder / "recipe.toml")


def later_model(folder: Path) -> object:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("model.json", '{"format": 2}')
    return hetviz.load_model(content.getvalue())


@pytest.mark.parametrize(
    "opened",
    [later_journal, later_project, later_bundle, later_features, later_recipe, later_model],
)
def test_newer_files_are_errors(opened: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(HetvizError, match=r"(later|newer) version of hetviz") as refused:
        opened(tmp_path)
    assert "pen it with that version" in str(refused.value)
