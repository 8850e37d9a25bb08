"""Tests of join proposals and manual joins on the Data page."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from hetviz.data.joins.join import Join
from hetviz.ui.reading.join_choice import DrawnJoins
from hetviz.workspace import Workspace
from tests.app.conftest import Visit, go, html_of, workspace_of
from tests.app.test_pages import press, upload
from tests.cli.test_join import CITIES, SHOPS

TOWNS = "id,name,lat,lon\n" + "".join(f"t{k},Town {k},{k},{10 + k}\n" for k in range(9))
TREES = "id,name,latitude,longitude\n" + "".join(
    f"q{k},Oak {k},{k}.2,{10 + k}.1\n" for k in range(30)
)


def opened(visit: Visit, **files: str) -> AppTest:
    """Return the Data page after files were opened without joining them."""
    app = upload(visit(), **files)
    for box in app.checkbox:
        box.uncheck()
    app.run()
    return go(press(app, "go-on"), "data")


def kinds(workspace: Workspace) -> list[str]:
    return [group.kind for group in workspace.state.opened().links]


def test_proposal_card_joins_and_undo_reverts(visit: Visit) -> None:
    app = opened(visit, towns_csv=CITIES, shops_csv=SHOPS)
    text = html_of(app)
    assert "<h2>tags of shops as a dataset: 40 links</h2>" in text
    assert "<h2>town of shops = name of towns</h2>" in text
    assert "20 of 20 shops and 5 of 6 towns match" in text
    assert "5 of 6 towns</dt>" in text
    # Pairs are shown by name before linking.
    assert "<em>with</em>" in text
    # The key scores above the list, which would make a dataset.
    press(app, "do-join-1")
    data = workspace_of(app).state.opened()
    assert sorted(data["tags"].ids) == ["books", "food", "late"]
    assert "as a dataset: 40 links" not in html_of(app)
    # Items without links are listed below.
    assert "6 of 6 towns have no links" in html_of(app)
    press(app, "do-join-0")
    assert kinds(workspace_of(app)) == ["tags", "same town"]
    assert "No further links found" in html_of(app)
    press(app, "undo")
    press(app, "undo")
    assert sorted(workspace_of(app).state.opened().datasets) == ["shops", "towns"]


def test_certain_joins_are_ticked_on_upload(visit: Visit) -> None:
    app = upload(visit(), towns_csv=CITIES, shops_csv=SHOPS)
    assert [(box.label.replace("\\", ""), box.value) for box in app.checkbox] == [
        ("town in shops matches towns", True),
        ("The entries of tags in shops become a dataset", False),
    ]
    text = html_of(app)
    assert "This creates a new dataset of the entries. 40 links, such as" in text
    assert "On the map: 6 towns and 20 shops, with 20 links." in text
    press(app, "go-on")
    workspace = workspace_of(app)
    assert kinds(workspace) == ["same town"]
    # The map uses the joined tables, and undo separates them.
    assert workspace.state.run is not None
    assert workspace.state.is_current(workspace.state.run)
    assert "town" not in str(
        (workspace.state.opened()["shops"].recipe or {})["features"]["columns"]
    )
    go(app, "data")
    press(app, "undo")
    assert app.button(key="redo")


def test_linked_datasets_are_drawn_and_can_be_unticked(visit: Visit) -> None:
    app = press(upload(visit(), towns_csv=CITIES, shops_csv=SHOPS), "go-on")
    go(app, "data")
    (tick,) = app.checkbox
    assert tick.label.replace("\\", "") == "shops – towns: same town (20 links)"
    assert "<b>shops<small>20</small></b><i>linked with</i><b>towns" in html_of(app)
    tick.uncheck().run()
    state = workspace_of(app).state
    assert state.guided is not None
    assert not state.guided.links
    assert len(state.opened().links) == 1
    assert "<i>without links</i>" in html_of(app)
    press(app, "undo")
    assert app.checkbox[0].value
    assert "<i>linked with</i>" in html_of(app)


def test_describing_rows_become_links_or_summary(visit: Visit) -> None:
    pairs = [(k % 9, (k * 7) % 11) for k in range(1_000)]
    people = "id,name,age\n" + "".join(f"p{k},Person {k},{20 + k}\n" for k in range(9))
    clubs = "id,name,size\n" + "".join(f"c{k},Club {k},{k}.5\n" for k in range(11))
    games = "player,club,goals,minutes,kind\n" + "".join(
        f"p{i},c{j},{(i + j) % 5},{(7 * i) % 90},{'cup' if i % 2 else 'league'}\n" for i, j in pairs
    )
    app = upload(visit(), people_csv=people, clubs_csv=clubs, games_csv=games)
    box = app.selectbox(key="rows-door-games-2")
    assert (box.label, box.value) == ("The 1,000 games are", "both")
    assert "Games: the strongest link is" in html_of(app)
    assert ". Clubs get the columns “games: how many”, “games: mean goals”" in html_of(app)
    press(app, "go-on")
    data = workspace_of(app).state.opened()
    assert sorted(data.datasets) == ["clubs", "people"]
    assert "games: mean minutes" in (data["people"].feature_names or ())


def test_columns_left_out_of_a_summary_are_listed_and_used_on_click(visit: Visit) -> None:
    people = "id,name,age\n" + "".join(f"p{k},Person {k},{20 + k}\n" for k in range(9))
    games = "game,player,goals,minute,phone\n" + "".join(
        f"{k},p{k % 9},{k % 5}.5,{(7 * k) % 60},{5550000 + k}\n" for k in range(1_200)
    )
    app = upload(visit(), people_csv=people, games_csv=games)
    pills = app.get("button_group")
    (pills,) = [group for group in pills if "Left out of the summary of games" in group.label]
    options = [option.replace("\\", "") for option in pills.options]
    assert options == ["minute: part of a clock time", "phone: a phone number"]
    pills.set_value(["minute"]).run()
    press(app, "go-on")
    table = workspace_of(app).state.opened()["people"].table
    assert table is not None
    assert "games: mean minute" in table.columns
    assert "games: mean phone" not in table.columns


def test_columns_beyond_60_of_a_summary_are_listed_and_used_on_click(visit: Visit) -> None:
    people = "id,name,age\n" + "".join(f"p{k},Person {k},{20 + k}\n" for k in range(9))
    names = [f"m{j}" for j in range(90)]
    games = "game,player," + ",".join(names) + "\n"
    for k in range(1_200):
        games += f"{k},p{k % 9}," + ",".join(f"{(k * (j + 3)) % 97}.5" for j in range(90)) + "\n"
    app = upload(visit(), people_csv=people, games_csv=games)
    (box,) = [box for box in app.multiselect if "Left out of the summary of games" in box.label]
    assert box.options[0] == "m59: the summary already has 60 columns"
    assert len(box.options) == 31
    box.set_value(["m88"]).run()
    press(app, "go-on")
    table = workspace_of(app).state.opened()["people"].table
    assert table is not None
    assert "games: mean m88" in table.columns
    assert "games: mean m87" not in table.columns


def test_two_views_are_recognised(visit: Visit) -> None:
    names = ["rye bread", "barley soup", "oat milk", "corn cake"]
    one = "id,weight\n" + "".join(f"{name},{k}.5\n" for k, name in enumerate(names))
    other = "id,price\n" + "".join(f"{name},{9 - k}.25\n" for k, name in enumerate(names[::-1]))
    app = opened(visit, scales_csv=one, till_csv=other)
    assert "These look like two views of the same items" in html_of(app)
    press(app, "do-join-0")
    assert len(workspace_of(app).state.opened().entities) == 1
    assert "No further links found" in html_of(app)


def test_manual_joins_by_list_key_and_place(visit: Visit) -> None:
    app = opened(visit, towns_csv=TOWNS, trees_csv=TREES, shops_csv=SHOPS)
    app.segmented_control(key="join-way-3").set_value("List").run()
    assert app.selectbox(key="list-source").value == "shops"
    assert app.selectbox(key="list-column-shops").value == "tags"
    app.toggle(key="list-rare").set_value(False).run()
    press(app, "do-list")
    made = workspace_of(app).state.opened()
    assert set(made.links[-1].weight) == {1.0}
    assert "already exist" not in html_of(app)
    assert "a dataset with this name already exists" in app.warning[0].value.replace("\\", "")
    app.segmented_control(key="join-way-3").set_value("Places").run()
    app.selectbox(key="near-source").set_value("trees").run()
    app.number_input(key="near-k").set_value(1).run()
    press(app, "do-near")
    links = workspace_of(app).state.opened().links[-1]
    assert (len(links), links.kind) == (30, "near")
    assert "These links already exist" in html_of(app)
    assert app.button(key="do-near").disabled


def test_normalised_key_shows_gain(visit: Visit) -> None:
    loud = SHOPS.replace("Town ", "TOWN  ")
    app = opened(visit, towns_csv=CITIES, shops_csv=loud)
    app.selectbox(key="key-source").set_value("shops").run()
    app.selectbox(key="key-source-column-shops").set_value("town").run()
    app.selectbox(key="key-target-column-towns").set_value("name").run()
    assert app.button(key="do-link").disabled
    assert "20 more pairs if these are ignored" in html_of(app)
    app.toggle(key="key-loose").set_value(True).run()
    press(app, "do-link")
    assert kinds(workspace_of(app)) == ["same town"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"towns_csv": CITIES}, "A single dataset has nothing to join"),
        (
            {"towns_csv": CITIES, "trees_csv": "id,height\nx,1.5\ny,2.5\nz,2\n"},
            "No ids, columns or places match beyond chance",
        ),
    ],
)
def test_no_proposals_shows_next_step(visit: Visit, files: dict[str, str], words: str) -> None:
    assert words in html_of(opened(visit, **files))


VOTES = "country,matter,vote\n" + "".join(
    f"c{k % 7},m{k % 5},{['yes', 'no', 'abstain'][(k + k // 7) % 3]}\n" for k in range(35)
)
COUNTRIES = "country,people\n" + "".join(f"c{k},{k * 9}\n" for k in range(7))
MATTERS = "matter,title\n" + "".join(f"m{k},On matter {k}\n" for k in range(5))


@pytest.mark.parametrize("signed", [True, False])
def test_votes_ask_whether_no_pushes_apart(visit: Visit, signed: bool) -> None:
    app = upload(visit(), votes_csv=VOTES, countries_csv=COUNTRIES, matters_csv=MATTERS)
    (box,) = [box for box in app.selectbox if box.label == "What counts in votes"]
    assert box.options[0].startswith("vote: “yes” together, “no” apart, “abstain” nothing")
    if not signed:
        box.set_value(1).run()
    press(app, "go-on")
    (votes,) = workspace_of(app).state.opened().links
    assert bool((votes.weight < 0).any()) == signed


def test_join_of_any_two_columns_can_be_added(visit: Visit) -> None:
    parts = "part,label\n" + "".join(f"{k},Part {k}\n" for k in range(1, 31))
    orders = "order,x1\n" + "".join(f"o{k},{1 + k % 30}\n" for k in range(60))
    app = upload(visit(), parts_csv=parts, orders_csv=orders)
    assert not [box for box in app.checkbox if box.value]
    drawn = app.session_state["page-state"].part(DrawnJoins)
    drawn.joins = (Join("key", "orders", "parts", "x1", "", loose=True),)
    app.run()
    assert [box.label for box in app.checkbox if box.value] == ["x1 in orders matches parts"]
    press(app, "go-on")
    assert kinds(workspace_of(app)) == ["same x1"]


def test_answers_about_values_are_undone(visit: Visit) -> None:
    app = upload(visit(), votes_csv=VOTES, countries_csv=COUNTRIES, matters_csv=MATTERS)

    def answer() -> object:
        (box,) = [box for box in app.selectbox if box.label == "What counts in votes"]
        return box.value

    before = answer()
    (box,) = [box for box in app.selectbox if box.label == "What counts in votes"]
    box.set_value(1).run()
    assert answer() != before
    drawn = app.session_state["page-state"].part(DrawnJoins)
    *_, (_, values) = drawn.history
    assert before in values.values()
