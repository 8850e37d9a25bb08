"""Tests of saved views in pages, projects and on the command line."""

from __future__ import annotations

import base64
import json
import re
import runpy
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz import SavedView
from hetviz.cli import main
from hetviz.errors import DataError
from hetviz.workspace import Sessions, open_project
from tests.exports.test_exports import flock, sheep


def content_of(file: Path) -> Any:
    found = re.search(r'id="data">(.*?)</script>', file.read_text(encoding="utf-8"), re.S)
    assert found is not None
    return json.loads(found[1])


def flags(text: str) -> list[bool]:
    return np.frombuffer(base64.b64decode(text), "|u1").astype(bool).tolist()


HEAVY = SavedView(
    "The <b>heavy</b> ones.",
    map=flock(),
    camera={"x": (-1, 1), "y": (-2, 2)},
    colour="weight of sheep",
    filters=[{"dataset": "sheep", "column": "weight", "kind": "range", "low": 20}],
    hidden=["farms"],
    selection={"sheep": ["s20", "s24"]},
    n_shown=10,
)


def test_page_has_views_with_their_colours_items_and_camera(tmp_path: Path) -> None:
    views = [SavedView("All sheep."), HEAVY, SavedView("Only one breed.", colour="breed")]
    file = hetviz.export(sheep(), flock(), tmp_path / "m.html", colour="breed", views=views)
    assert "Present 3 views" in file.read_text(encoding="utf-8")
    content = content_of(file)
    first, heavy, last = content["views"]
    assert (first["colours"], heavy["colours"], last["colours"]) == (0, 1, 0)
    [weight] = content["colourings"]
    assert "weight" in weight["numbers"].lower()
    assert content["categories"] == ["Merino", "Soay", "Texel"]
    assert all(flags(first["shown"]))
    assert (first["lit"], first["selected"], first["camera"], first["notes"]) == ("", "", None, [])
    titles = np.array(content["titles"])
    # Item 7 has no position, and the farms are hidden.
    assert titles[flags(heavy["shown"])].tolist() == [f"sheep {k}" for k in range(20, 30)]
    assert titles[flags(heavy["selected"])].tolist() == ["sheep 25", "sheep 29"]
    assert heavy["lit"] == heavy["selected"]
    assert (heavy["text"], heavy["notes"], heavy["hidden"]) == (HEAVY.text, [], [1])
    assert (first["facts"], heavy["facts"]) == ("", "10 of 33 items · sheep: weight at least 20")
    # The camera is in the units of the positions on the page.
    at = np.frombuffer(base64.b64decode(content["at"]), "<f4").reshape(-1, 2)
    Y = np.delete(flock().stacked(), 7, axis=0)
    scale = (at[1, 0] - at[0, 0]) / (Y[1, 0] - Y[0, 0])
    expected = at[0, 0] + scale * (np.array([-1, 1]) - Y[0, 0])
    np.testing.assert_allclose(heavy["camera"]["x"], expected, rtol=1e-4, atol=1e-5)
    assert "Present" not in hetviz.export(
        sheep(), flock(), tmp_path / "plain.html"
    ).read_text(encoding="utf-8").partition("<main>")[0]  # fmt: skip


def test_page_states_what_of_a_view_is_gone(tmp_path: Path) -> None:
    gone = SavedView(
        "A view of other data.",
        map="of another map",
        map_title="Old map",
        camera={"x": (0, 1), "y": (0, 1)},
        colour='["sheep", "wool"]',
        filters=[
            {"dataset": "goats", "column": "age", "values": ["1"]},
            {"dataset": "sheep", "column": "wool", "values": ["1"]},
        ],
        hidden=["goats"],
        selection={"sheep": ["s1", "gone"], "goats": ["a"]},
        legend={"only": ["merino", "cheviot"]},
        n_shown=5,
    )
    file = hetviz.export(sheep(), flock(), tmp_path / "m.html", colour="breed", views=[gone])
    [view] = content_of(file)["views"]
    assert view["notes"] == [
        "It was saved on another map, “Old map”. All of this map is shown instead.",
        "A filter is left out: the dataset “goats” was removed.",
        "A filter is left out: the column “wool” of sheep was removed.",
        "The colour “Wool of sheep” was removed. “Breed of sheep” is shown instead.",
        "2 of 3 selected items were removed.",
        "Not in the legend any more: “Cheviot”.",
        "It showed 5 items when it was saved, and shows 32 now.",
    ]
    assert view["camera"] is None
    assert all(flags(view["shown"]))
    assert sum(flags(view["selected"])) == 1
    # Only merinos and what takes their colour stay in colour.
    assert 10 <= sum(flags(view["lit"])) < 15


def test_page_notes_changed_colours(tmp_path: Path) -> None:
    saved = SavedView("Breeds.", colour="breed", colours="as they were")
    file = hetviz.export(sheep(), flock(), tmp_path / "m.html", views=[saved])
    [view] = content_of(file)["views"]
    assert view["notes"] == ["The values of the colour “Breed of sheep” have changed."]


def test_views_go_through_project_and_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = str(tmp_path / "result")
    assert main(["embed", "digit-views", "--method", "pca", "--out", result]) == 0
    views = [SavedView("All digits."), SavedView("One digit.", selection={"pixels": ["d0004"]})]
    (tmp_path / "views.json").write_text(json.dumps([view.to_dict() for view in views]))
    project, page = tmp_path / "p.hetviz", tmp_path / "m.html"
    arguments = ["export", result, str(project), "--views", str(tmp_path / "views.json")]
    assert main(arguments) == 0
    assert [view.text for view in hetviz.load_views(project)] == [view.text for view in views]
    capsys.readouterr()
    assert main(["project", str(project)]) == 0
    assert "Saved views:  2" in capsys.readouterr().out
    assert main(["export", result, str(page), "--views", str(project)]) == 0
    assert [view["text"] for view in content_of(page)["views"]] == [view.text for view in views]
    assert sum(flags(content_of(page)["views"][1]["selected"])) == 1
    sessions = Sessions(tmp_path / "sessions")
    opened = sessions.get(open_project(project.read_bytes(), project.name, sessions))
    assert len(opened.state.saved_views) == 2
    sessions.close()


def test_load_views_refuses_other_files(tmp_path: Path) -> None:
    for text in ("no views", "[1]", '{"text": "A."}', '[{"text": ""}]'):
        (tmp_path / "views.json").write_text(text, encoding="utf-8")
        with pytest.raises(DataError):
            hetviz.load_views(tmp_path / "views.json")


def test_recipe_has_views_that_belong_to_its_map(tmp_path: Path) -> None:
    data = hetviz.load("digit-views")
    embedding = hetviz.embed(data, "pca")
    view = SavedView("A part.", map=embedding, camera={"x": (0, 1), "y": (0, 1)})
    file = hetviz.export(data, embedding, tmp_path / "r.zip", "recipe", views=[view])
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path)
    assert hetviz.load_views(tmp_path / "views.json") == [view]
    script = tmp_path / "reproduce.py"
    # The figure takes longer than all else.
    text = re.sub(r"^hetviz.export.*map.pdf.*\n", "", script.read_text("utf-8"), flags=re.M)
    script.write_text(text, encoding="utf-8")
    runpy.run_path(str(script))
    [part] = content_of(tmp_path / "map.html")["views"]
    assert part["notes"] == []
    assert part["camera"] is not None
