"""Two people in one project: names of their statements, and what they disagree about."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

import hetviz
from hetviz.serve.people import Person
from hetviz.ui.shell import people
from hetviz.workspace import AddPairs, SetLabels
from tests.app.conftest import Visit, go, html_of, page_of, sid_of, workspace_of
from tests.app.test_guidance_page import shown, table
from tests.app.test_pages import press

pytestmark = pytest.mark.usefixtures("few_emoji")


def visit_as(visit: Visit, name: str, sid: str | None = None) -> AppTest:
    """Open the guidance of a project, under a name."""
    app = visit("guidance", sid)
    app.text_input(key="own-name-").set_value(name).run()
    assert not app.exception
    return app


def authors(app: AppTest) -> list[tuple[str, float]]:
    rows = hetviz.statements(workspace_of(app).state.opened())
    rows = rows[rows["who"] != ""]
    return list(zip(rows["who"], rows["weight"], strict=True))


def test_two_people_disagree_and_one_keeps_own_statement(visit: Visit) -> None:
    ada = visit_as(visit, "Ada")
    bob = visit_as(visit, "Bob <b>Hall</b>", sid_of(ada))
    first, second = map(str, workspace_of(ada).state.opened()["emoji"].ids[:2])
    pair = [[["emoji", first], ["emoji", second]]]
    for app, weight in ((ada, 1.0), (bob, -1.0)):
        page_state = page_of(app)
        workspace_of(app).do(AddPairs(pair, weight), page_state.name or "")
    bob.run()
    assert authors(bob) == [("Ada", 1.0), ("Bob <b>Hall</b>", -1.0)]
    page = html_of(bob)
    assert "<b>Ada</b>: together" in page
    assert "<b>Bob &lt;b&gt;Hall&lt;/b&gt;</b>: apart" in page
    assert "All weights add up to 0: neither together nor apart." in page
    assert "Pairs: no alpha for 1 pair judged by both people" in page
    assert [button.label for button in bob.button if "differ-0-keep" in str(button.key)] == [
        "Keep mine",
        "Keep Ada’s",
    ]
    bob.selectbox(key="which-person-link").set_value("Ada").run()
    assert list(table(bob)["who"]) == ["Ada"]
    press(bob, "differ-0-keep-0")
    assert authors(bob) == [("Bob <b>Hall</b>", -1.0)]
    press(bob, "undo")
    assert authors(bob)[0] == ("Ada", 1.0)
    press(bob, "differ-0-show")
    assert len(workspace_of(bob).view_state.selection) == 2


def test_page_records_name_of_who_states(visit: Visit) -> None:
    app = visit_as(visit, "  Ada   Lovelace ")
    app.selectbox(key="which-set-link").set_value("antonym").run()
    app.text_input(key="bulk-note-link").set_value("seen").run()
    press(app, "bulk-note-do-link")
    assert workspace_of(app).log[-1]["by"] == "Ada Lovelace"


def test_label_table_shows_people_and_keeps_both_labels(visit: Visit) -> None:
    app = visit_as(visit, "Ada")
    first = str(workspace_of(app).state.opened()["emoji"].ids[0])
    for name, value in (("Ada", "warm"), ("Bob", "cold")):
        workspace_of(app).do(SetLabels("emoji", "feel", {first: value}), name)
    app.run()
    shown(app, "label")
    n_columns = len(workspace_of(app).state.opened().labels)
    app.selectbox(key="label-table-column").set_value(n_columns - 1).run()
    app.selectbox(key="label-person").set_value("Bob").run()
    rows = table(app, "table-label")
    assert rows[["label", "who"]].to_numpy().tolist() == [["cold", "Ada: warm, Bob: cold"]]
    press(app, "differ-0-keep-0")
    assert workspace_of(app).state.opened().labels[-1].values[0] == "warm"
    assert workspace_of(app).undo_name == "remove labels"


def test_switched_off_person_is_left_out_of_maps(visit: Visit) -> None:
    app = visit_as(visit, "Ada")
    ids = workspace_of(app).state.opened()["emoji"].ids[:2]
    pair = [[["emoji", str(id_)] for id_ in ids]]
    workspace_of(app).do(AddPairs(pair), "Bob")
    app.run()
    app.toggle(key="refit-each").set_value(False).run()
    app.toggle(key="person-Bob-True").set_value(False).run()
    state = workspace_of(app).state
    assert state.off_people == {"Bob"}
    assert state.guided is not state.data
    app.selectbox(key="which-link").set_value("switched off").run()
    assert list(table(app)["who"]) == ["Bob"]
    assert "The map leaves out what Bob stated." in html_of(app)


def test_author_is_never_an_address(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit("guidance")
    named = Person("issuer|1", "ada@example.org")
    monkeypatch.setattr(people, "current_person", lambda: named)
    monkeypatch.setattr(people, "has_login", lambda: True)
    assert people.author_name() == "ada"
    named = Person("issuer|1", "Ada " + "L" * 100)
    assert people.author_name() == ("Ada " + "L" * 100)[:60]
    app.run()
    assert not [field for field in app.text_input if str(field.key).startswith("own-name")]


def test_editor_has_own_selection_and_changes_the_project(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit_as(visit, "Bob")
    project = workspace_of(app)
    project.set_view_state(selection=[0, 1])
    ids = project.state.opened()["emoji"].ids[:2]
    project.do(AddPairs([[["emoji", str(id_)] for id_ in ids]], -1), "Ada")
    project.do(AddPairs([[["emoji", str(id_)] for id_ in ids]]), "Bob")
    monkeypatch.setattr(people, "get_role", lambda project: "edit")
    app.run()
    assert not app.exception
    press(app, "differ-0-show")
    own_view = page_of(app).own_view
    assert own_view is not None
    assert len(own_view.view_state.selection) == 2
    assert project.view_state.selection.tolist() == [0, 1]
    go(app, "guidance")
    n_steps = project.version
    press(app, "differ-0-keep-0")
    assert not app.exception
    assert (project.version, project.log[-1]["by"]) == (n_steps + 1, "Bob")
    assert authors(app) == [("Bob", 1.0)]
    press(app, "undo")
    assert sorted(who for who, _ in authors(app)) == ["Ada", "Bob"]
    assert project.view_state.selection.tolist() == [0, 1]
