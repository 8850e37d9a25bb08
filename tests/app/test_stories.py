"""Tests of the list of saved views and of their presentation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from hetviz.data import Embedding, Filter, SavedView
from hetviz.exports.interactive import interactive_map
from hetviz.plots.colour import colouring
from hetviz.ui.map import stories
from hetviz.ui.map.stories import StoryState
from hetviz.ui.shell import people
from hetviz.workspace import DropRun, SaveView, SetFilters, SetView
from tests.app.conftest import Visit, page_of, unfold, workspace_of
from tests.workspace.helpers import record_map

FOOD = Filter("emoji", "group", values=("food-drink",))


def labels(app: AppTest) -> list[str]:
    return [view.text for view in workspace_of(app).state.saved_views]


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def save(app: AppTest, text: str) -> AppTest:
    app.text_input(key=f"view-text-{len(labels(app))}").set_value(text)
    return press(app, "save-view")


def story_of(app: AppTest) -> StoryState:
    return page_of(app).part(StoryState)


def test_view_is_saved_with_what_the_map_shows(visit: Visit) -> None:
    app = unfold(visit("map"), "stories")
    workspace = workspace_of(app)
    workspace.do(SetView(colour='["emoji", "group"]', hidden=("keywords",)))
    workspace.do(SetFilters([FOOD]))
    workspace.set_view_state(selection=[0, 5])
    camera = {"x": [-1.0, 2.0], "y": [0.0, 1.0]}
    legend = {"hidden": [0], "only": [], "datasets": ["emoji"], "range": None}
    story_of(app).seen = {"camera": camera, "legend": legend, "geography": False}
    app.run()
    save(app, "  Food and\n drink. ")
    [view] = workspace.state.saved_views
    data = workspace.state.opened()
    assert (view.text, view.camera, view.hidden) == ("Food and drink.", camera, ("keywords",))
    assert view.filters == (FOOD,)
    assert view.selection == {"emoji": tuple(data["emoji"].ids[[0, 5]])}
    assert view.legend == {
        "hidden": [colouring(data, view.colour).categories[0]], "datasets": ["emoji"],
    }  # fmt: skip
    assert view.n_shown == 130
    # An empty sentence saves nothing.
    save(app, " ")
    assert len(labels(app)) == 1
    # Geography has another camera.
    story_of(app).seen = {"camera": None, "geography": True}
    app.run()
    assert "save-view" not in {button.key for button in app.button}


def test_list_changes_orders_and_removes_views_with_undo(visit: Visit) -> None:
    app = unfold(visit("map"), "stories")
    for text in ("One.", "Two."):
        save(app, text)
    press(app, "view-up-2")
    assert labels(app) == ["Two.", "One."]
    app.text_input(key="view-text-1-One.").set_value("First.").run()
    assert labels(app) == ["Two.", "First."]
    workspace_of(app).do(SetFilters([FOOD]))
    app.run()
    press(app, "view-update-2")
    assert workspace_of(app).state.saved_views[0].filters == (FOOD,)
    press(app, "view-drop-1")
    assert labels(app) == ["Two."]
    press(app, "undo")
    press(app, "undo")
    assert labels(app) == ["Two.", "First."]
    assert workspace_of(app).state.saved_views[0].filters == ()


def test_number_of_a_view_shows_it_as_one_step(visit: Visit) -> None:
    app = unfold(visit("map"), "stories")
    workspace = workspace_of(app)
    view = SavedView(
        "Food.", colour="dataset", filters=[FOOD], selection={"emoji": ["1f355", "gone"]}
    )
    workspace.do(SaveView(view))
    app.run()
    press(app, "view-go-1")
    state = workspace.state
    assert (state.view.colour, state.filters) == ("dataset", (FOOD,))
    [row] = workspace.view_state.selection
    assert state.opened()["emoji"].ids[row] == "1f355"
    assert [chip.value.replace("\\", "") for chip in app.info] == [
        "1 of 2 selected items were removed."
    ]
    assert workspace.undo_name == "view"
    press(app, "undo")
    assert workspace.state.filters == ()


def test_presentation_changes_nothing_in_the_project(visit: Visit) -> None:
    app = unfold(visit("map"), "stories")
    workspace = workspace_of(app)
    workspace.do(SaveView(SavedView("Food.", filters=[FOOD], hidden=["keywords"])))
    workspace.do(SaveView(SavedView("All.", selection={"emoji": ["1f355"]})))
    app.run()
    version, selection = workspace.version, workspace.selection_version
    press(app, "present")
    story = story_of(app)
    assert story.shown is not None
    assert (story.at, story.shown.view.text, int(story.shown.shown.sum())) == (0, "Food.", 130)
    story.at, story.number = 1, story.number + 1
    app.run()
    assert story.shown.view.text == "All."
    assert len(story.shown.rows) == 1
    assert (workspace.version, workspace.state.filters) == (version, ())
    assert len(workspace.view_state.selection) == 0
    assert workspace.selection_version == selection


def test_view_of_a_removed_map_is_shown_as_a_whole(visit: Visit) -> None:
    app = unfold(visit("map"), "stories")
    workspace = workspace_of(app)
    first = workspace.state.run
    assert first is not None
    places = {name: Y + 1.0 for name, Y in first.embedding.coordinates.items()}
    workspace.do(record_map(workspace, Embedding(places, first.embedding.ids)))
    other = workspace.state.run
    assert other is not None
    story_of(app).seen = {"camera": {"x": [0, 1], "y": [0, 1]}}
    app.run()
    save(app, "Part of a map.")
    press(app, "present")
    shown = story_of(app).shown
    assert shown is not None
    assert (shown.notes, shown.camera) == ((), {"x": [0.0, 1.0], "y": [0.0, 1.0]})
    workspace.do(DropRun(other.id))
    app.run()
    shown = story_of(app).shown
    assert shown is not None
    assert shown.camera is None
    assert shown.notes[0].startswith(f"It was saved on another map, “{other.title}”. All of")


def test_viewer_presents_and_cannot_edit(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = unfold(visit("map"), "stories")
    workspace_of(app).do(SaveView(SavedView("All.")))
    monkeypatch.setattr(people, "get_role", lambda project: "look")
    app.run()
    keys = {str(button.key) for button in app.button}
    assert keys >= {"present", "view-go-1"}
    assert not keys & {"save-view", "view-update-1", "view-drop-1", "view-up-1"}
    press(app, "view-go-1")
    assert story_of(app).at == 0
    assert not app.error


def test_page_of_the_app_has_its_views(visit: Visit) -> None:
    app = unfold(visit("map"), "stories")
    workspace = workspace_of(app)
    workspace.do(SaveView(SavedView("Food.", filters=[FOOD])))
    state = workspace.state
    assert state.run is not None
    views = stories.page_views(state, ("keywords",), "")
    embedding = state.embedding(state.run)
    assert embedding is not None
    data = state.opened()
    page = interactive_map(data, embedding, colouring(data), hidden=("keywords",), views=views)
    content = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    [view] = content["views"]
    assert view["text"] == "Food."
    assert int(np.sum(views[0].shown)) == 130
