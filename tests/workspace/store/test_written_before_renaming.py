"""All that hetviz writes, as the commit a320114 wrote it, opens and says what it said."""

from __future__ import annotations

import importlib
import inspect
import json
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz._moved import current_task
from hetviz.io import Choices
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.search import SettingsResult
from hetviz.serve import config
from hetviz.serve.people import People
from hetviz.serve.records import Audit
from hetviz.workspace import Sessions, Workspace, open_project
from hetviz.workspace.commands.command import from_dict
from hetviz.workspace.project_file import FEATURES_DIFFER
from hetviz.workspace.store.files import new_session_id

pytestmark = pytest.mark.usefixtures("reader_here")
FIXTURE = Path(__file__).parents[2] / "fixtures" / "earlier" / "a320114.zip"
N_OPERATIONS = 42


@cache
def read(name: str) -> Any:
    with zipfile.ZipFile(FIXTURE) as archive:
        return json.loads(archive.read(name))


def models() -> list[str]:
    with zipfile.ZipFile(FIXTURE) as archive:
        names = [Path(name) for name in archive.namelist()]
    return sorted(name.stem for name in names if name.parent.name == "models")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("a320114")
    with zipfile.ZipFile(FIXTURE) as archive:
        archive.extractall(target)
    return target


def same_places(result: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert set(result) == set(expected)
    for name, Y in expected.items():
        wanted = np.array(Y, dtype=float)
        size = float(np.max(np.abs(wanted), initial=1.0, where=np.isfinite(wanted)))
        np.testing.assert_allclose(result[name], wanted, rtol=0, atol=1e-6 * size)


def test_there_is_a_model_of_each_method() -> None:
    assert {read("expected.json")["models"][name]["method"] for name in models()} >= {
        card.key for card in hetviz.methods()
    }


@pytest.mark.parametrize("name", models())
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_model_opens_and_places_new_items_where_it_did(name: str, folder: Path) -> None:
    expected = read("expected.json")["models"][name]
    model = hetviz.load_model(folder / "models" / f"{name}.zip")
    assert model.card.key == expected["method"]
    if expected["fitted"] is not None:
        same_places(model.embedding_.coordinates, expected["fitted"])
    if expected["placed"] is not None:
        new_items = hetviz.load(folder / "new_items.zip")
        same_places(model.transform(new_items).coordinates, expected["placed"])
    # What was read can be written again, and is the same then.
    again = hetviz.load_model(hetviz.save_model(model, folder / "again.zip"))
    assert again.get_params() == model.get_params()
    same_places(again.embedding_.coordinates, model.embedding_.coordinates)


def test_there_is_an_entry_of_each_operation() -> None:
    assert len(read("journal.json")) == N_OPERATIONS


@pytest.mark.parametrize("op", sorted(read("journal.json")))
def test_every_entry_of_a_journal_is_read(op: str) -> None:
    for entry in read("journal.json")[op]:
        assert from_dict(entry).op == op


@pytest.mark.parametrize("entry", read("journal.json")["start-job"], ids=str)
def test_every_task_of_a_journal_is_there_and_takes_what_it_was_given(
    entry: dict[str, Any],
) -> None:
    module, _, name = current_task(entry["note"]["task"]).partition(":")
    task = getattr(importlib.import_module(module), name)
    inspect.signature(task).bind_partial(**entry["note"]["arguments"])


@pytest.mark.parametrize("form", ["session", "project"])
def test_a_project_holds_all_that_it_held(form: str, folder: Path, tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    if form == "session":
        id = new_session_id()
        (folder / "session").rename(tmp_path / id)
    else:
        id = open_project((folder / "project.hetviz").read_bytes(), "project.hetviz", sessions)
    workspace = sessions.get(id)
    assert set(workspace.notes) <= {FEATURES_DIFFER}
    as_it_was(workspace)
    state, steps = workspace.state, workspace.steps
    while workspace.steps:
        workspace.undo()
    for _ in range(steps):
        workspace.redo()
    assert workspace.state.data is not None and state.data is not None
    assert workspace.state.data.fingerprint() == state.data.fingerprint()
    sessions.close()


def as_it_was(workspace: Workspace) -> None:
    expected, state = read("expected.json"), workspace.state
    assert state.data is not None
    data = state.data
    assert workspace.steps == expected["steps"]
    links = [[link.source, link.target, link.kind, link.role, len(link)] for link in data.links]
    assert links == expected["kinds"]
    assert data.comparisons is not None
    assert len(data.comparisons) == expected["comparisons"]
    assert sorted(state.off) == expected["off"]
    for run in state.runs:
        assert plain(run.figures) == expected["figures"][run.id]
        assert plain(dict(run.params)) == expected["params"][run.id]
    assert {kind: finding.title for kind, finding in state.findings.items()} == {
        kind: finding["title"] for kind, finding in expected["findings"].items()
    }
    for kind, finding in expected["findings"].items():
        content = plain(state.findings[kind].content)
        assert {name: content[name] for name in finding["content"]} == finding["content"]
        assert len(state.findings[kind].runs) == finding["runs"]
    glance = workspace.view_state
    assert glance.camera == expected["camera"]
    assert {name: rows.tolist() for name, rows in glance.groups.items()} == expected["groups"]
    compared = state.findings["compare"].content
    again = plain(Comparison.from_dict(compared).to_dict())
    # Its sentence is written by the current version.
    again["recommendation"]["sentence"] = compared["recommendation"]["sentence"]
    assert without_close_links(again) == without_close_links({k: compared[k] for k in again})
    searched = state.findings["sweep"].content
    assert SettingsResult.from_dict(searched).best == searched["best"]


def without_close_links(content: dict[str, Any]) -> dict[str, Any]:
    """Leave out the share of close links, whose definition has changed."""

    def kept(values: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in values.items() if not key.startswith("links_kept")}

    parts = {"scores", "ceilings", "resolutions"}
    fits = [
        {key: kept(value) if key in parts else value for key, value in fit.items()}
        for fit in content["fits"]
    ]
    table = [kept(row) for row in content["table"]]
    return content | {"fits": fits, "table": table, "limits": kept(content["limits"])}


def plain(value: object) -> Any:
    """Return a value as JSON has it."""
    return json.loads(json.dumps(value).replace("NaN", "null"))


@pytest.mark.parametrize("name", ["saved.zip", "by_hand"])
def test_a_bundle_that_says_everything_is_read(name: str, folder: Path) -> None:
    data, expected = hetviz.load(folder / name), read("expected.json")["bundles"][name]
    assert {key: list(map(str, part.ids)) for key, part in data.datasets.items()} == expected[
        "datasets"
    ]
    for key, rows in expected["features"].items():
        X: Any = data[key].X
        if rows is None:
            assert X is None
        else:
            dense = X if isinstance(X, np.ndarray) else X.toarray()
            np.testing.assert_allclose(dense, rows, atol=1e-8)
    for links, (*statements, total) in zip(data.links, expected["links"], strict=True):
        assert [links.source, links.target, links.kind, links.role, len(links)] == statements
        assert links.weight.sum() == pytest.approx(total)
    if name == "saved.zip":
        assert data.fingerprint() == expected["fingerprint"]


def test_choices_of_how_a_file_is_read_are_known() -> None:
    statements = read("expected.json")["choices"]
    # Only the preview used it, and no journal has it.
    del statements["raw"]
    recipe = Choices(**statements).recipe_of("a.csv")
    assert recipe is not None
    assert plain(recipe.to_dict()) == statements["recipes"][""]


@pytest.mark.parametrize(("result", "key"), [("result", "result"), ("large/out", "large")])
def test_a_result_is_read(result: str, key: str, folder: Path) -> None:
    _, embedding = hetviz.load_run(folder / result)
    same_places(embedding.coordinates, read("expected.json")[key])


@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
@pytest.mark.parametrize(
    ("recipe", "key", "scores"),
    [("result", "result", "scores"), ("large", "large", "large_scores")],
)
def test_a_recipe_is_run_again(
    recipe: str, key: str, scores: str, folder: Path, tmp_path: Path
) -> None:
    out = hetviz.run_recipe(folder / recipe, tmp_path / "out")
    _, embedding = hetviz.load_run(out)
    same_places(embedding.coordinates, read("expected.json")[key])
    result = json.loads((out / "scores.json").read_text(encoding="utf-8"))["scores"]
    expected = read("expected.json")[scores]
    # Another definition of close came later, with its chance level.
    assert {name for name in result if not name.startswith("links_kept_chance")} == set(expected)
    for name, value in expected.items():
        if name.startswith("links_kept"):
            continue
        assert result[name] == pytest.approx(value, abs=1e-6), name


def test_the_settings_of_a_server_are_known(folder: Path) -> None:
    result = config.read_settings(folder / "server" / "settings.toml", {})
    # One setting was removed, and others came later.
    expected = read("expected.json")["settings"]
    del expected["HETVIZ_OIDC_ADMIN_ROLE"]
    assert expected.items() <= config.as_environment(result).items()


def test_people_and_what_they_share_are_known(folder: Path) -> None:
    expected, people = read("expected.json"), People(folder / "server")
    for person, about in expected["people"].items():
        assert plain(people.export_person(person)) == about
    owner = next(iter(expected["people"]))
    statements = people.comments(owner, "A" * 22)
    assert [entry.text for entry in statements] == [entry["text"] for entry in expected["comments"]]
    assert people.accept_link(owner, expected["share_key"]) == "A" * 22
    people.close()


def test_records_of_a_server_are_read(folder: Path) -> None:
    audit = Audit(folder / "server")
    assert audit.lines() == read("expected.json")["audit"]
    assert audit.costs() == read("expected.json")["costs"]
