"""Proposals to join datasets on the Data page, and the ways to join by hand."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from hetviz.workspace import Workspace
from tests.app.conftest import Visit, go, html_of, workspace_of
from tests.app.test_pages import press, upload
from tests.cli.test_join import CITIES, SHOPS

TOWNS = "id,name,lat,lon\n" + "".join(f"t{k},Town {k},{k},{10 + k}\n" for k in range(9))
TREES = "id,name,latitude,longitude\n" + "".join(
    f"q{k},Oak {k},{k}.2,{10 + k}.1\n" for k in range(30)
)


def opened(visit: Visit, **files: str) -> AppTest:
    return go(press(upload(visit(), **files), "go-on"), "data")


def kinds(workspace: Workspace) -> list[str]:
    return [group.kind for group in workspace.state.opened().links]


def test_proposals_are_cards_that_join_with_one_click_and_undo_parts_again(visit: Visit) -> None:
    app = opened(visit, towns_csv=CITIES, shops_csv=SHOPS)
    text = html_of(app)
    assert "<h3>tags of shops as a dataset: 40 links</h3>" in text
    assert "<h3>town of shops = name of towns</h3>" in text
    assert "20 of 20 shops and 5 of 6 towns find each other" in text
    assert "5 of 6 towns</dt>" in text
    # The pairs, by name, before anything is linked.
    assert "<em>with</em>" in text
    press(app, "do-join-0")
    data = workspace_of(app).state.opened()
    assert sorted(data["tags"].ids) == ["books", "food", "late"]
    assert "as a dataset: 40 links" not in html_of(app)
    # Beneath: whom no link reaches.
    assert "6 of 6 towns are in no link" in html_of(app)
    press(app, "do-join-0")
    assert kinds(workspace_of(app)) == ["tags", "same town"]
    assert "Nothing more seems to join them" in html_of(app)
    press(app, "undo")
    press(app, "undo")
    assert list(workspace_of(app).state.opened().datasets) == ["shops", "towns"]


def test_two_views_are_recognised_and_become_views(visit: Visit) -> None:
    names = ["rye bread", "barley soup", "oat milk", "corn cake"]
    one = "id,weight\n" + "".join(f"{name},{k}.5\n" for k, name in enumerate(names))
    other = "id,price\n" + "".join(f"{name},{9 - k}.25\n" for k, name in enumerate(names[::-1]))
    app = opened(visit, scales_csv=one, till_csv=other)
    assert "These look like two views of the same things" in html_of(app)
    press(app, "do-join-0")
    assert len(workspace_of(app).state.opened().entities) == 1
    assert "Nothing more seems to join them" in html_of(app)


def test_lists_keys_and_places_are_linked_by_hand(visit: Visit) -> None:
    app = opened(visit, towns_csv=TOWNS, trees_csv=TREES, shops_csv=SHOPS)
    app.segmented_control(key="join-way-3").set_value("List").run()
    assert app.selectbox(key="list-source").value == "shops"
    assert app.selectbox(key="list-column-shops").value == "tags"
    app.toggle(key="list-rare").set_value(False).run()
    press(app, "do-list")
    made = workspace_of(app).state.opened()
    assert set(made.links[-1].weight) == {1.0}
    assert "there are already" not in html_of(app)
    assert "a dataset has this name already" in app.warning[0].value.replace("\\", "")
    app.segmented_control(key="join-way-3").set_value("Places").run()
    app.selectbox(key="near-source").set_value("trees").run()
    app.number_input(key="near-k").set_value(1).run()
    press(app, "do-near")
    links = workspace_of(app).state.opened().links[-1]
    assert (len(links), links.kind) == (30, "near")
    assert "These links are there already" in html_of(app)
    assert app.button(key="do-near").disabled


def test_a_key_is_compared_loosely_on_request_and_what_that_gains_is_said(visit: Visit) -> None:
    loud = SHOPS.replace("Town ", "TOWN  ")
    app = opened(visit, towns_csv=CITIES, shops_csv=loud)
    app.selectbox(key="key-source").set_value("shops").run()
    app.selectbox(key="key-source-column-shops").set_value("town").run()
    app.selectbox(key="key-target-column-towns").set_value("name").run()
    assert app.button(key="do-link").disabled
    assert "20 more pairs where they do not count" in html_of(app)
    app.toggle(key="key-loose").set_value(True).run()
    press(app, "do-link")
    assert kinds(workspace_of(app)) == ["same town"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"towns_csv": CITIES}, "One dataset has nothing to be joined with"),
        (
            {"towns_csv": CITIES, "trees_csv": "id,height\nx,1.5\ny,2.5\nz,2\n"},
            "No ids, columns or places agree beyond chance",
        ),
    ],
)
def test_where_nothing_is_proposed_the_next_step_is_said(
    visit: Visit, files: dict[str, str], words: str
) -> None:
    assert words in html_of(opened(visit, **files))
