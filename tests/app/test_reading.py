"""Tests of the tables of dropped files: data for the browser, and its actions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from hetviz.io.infer.recipe import TableRecipe
from hetviz.ui.reading import sheets, upload
from tests.app.conftest import Visit, go, html_of, page_of, workspace_of
from tests.app.test_pages import BIRDS, LINKS, PLANTS, press
from tests.app.test_pages import upload as drop

WELLS = "Wells 2023;;\n;Measured;\nWell;Nitrate;Owner\n;mg/l;\n" + "".join(
    f"Well {k};{'n. d.' if k == 4 else k * 7 % 11},{k % 10};{'abc'[k % 3]}\n" for k in range(12)
)
OWNERS = "No.;Town\na;York\nb;Hull\nc;Bath\n"


def review_spec(app: AppTest) -> dict[str, Any]:
    elements = [element.proto for element in app.get("bidi_component")]
    found: dict[str, Any] = json.loads(
        next(e.json for e in elements if e.component_name == "hetviz_sheets")
    )
    return found


def staged(app: AppTest) -> upload.StagedFiles:
    files = page_of(app).part(upload.Uploads).staged
    assert files is not None
    return files


def say(app: AppTest, monkeypatch: pytest.MonkeyPatch, **act: object) -> AppTest:
    """Do what the browser asks for, as the page's own callback does it."""
    looks = staged(app).looks
    assert looks is not None
    with monkeypatch.context() as patch:
        patch.setattr(upload, "state_of", page_of(app).part)
        sheets.apply_action(looks, act, upload._apply_edit, upload._undo_edit)
    app.run()
    assert not app.exception
    return app


def test_dropped_tables_show_raw_and_read_rows(visit: Visit) -> None:
    app = drop(visit("data"), wells_csv=WELLS, owners_csv=OWNERS)
    wells, owners = review_spec(app)["sheets"]
    assert (wells["header"], wells["units"], wells["first"]) == ([1, 2], 3, 4)
    assert wells["above"][0] == [0, ["Wells 2023", "", ""]]
    assert wells["note"] == "ids from Well"
    nitrate, owner = wells["columns"][1:]
    assert (nitrate["name"], nitrate["unit"]) == ("Measured / Nitrate", "mg/l")
    assert (nitrate["n"], nitrate["missing"], sum(nitrate["counts"])) == (12, 1, 11)
    assert owner["why"] == "3 of 3 values are ids of owners.csv"
    assert owner["top"] == ["a", "b", "c"]
    assert [row for row, _ in wells["preview"]] == [4, 5, 6]
    assert wells["ids"][0]["words"] == "Well: different in all 12 rows"
    assert owners["size"] == "3 × 2"
    assert app.button(key="go-on").label == "Add to project"


def test_top_bar_is_about_the_new_files(visit: Visit) -> None:
    app = drop(visit("data"), wells_csv=WELLS)
    assert "Map up to date" in html_of(app)
    page_of(app).part(upload.Uploads).staged = upload.StagedFiles(staged(app).files, True)
    app.run()
    assert "No map of these files yet" in html_of(app)
    assert "Map up to date" not in html_of(app)
    go(app, "map")
    assert "No map of these files yet" not in html_of(app)


def test_tab_of_links_table_names_its_role(visit: Visit) -> None:
    app = drop(visit(), plants_csv=PLANTS, birds_csv=BIRDS, links_csv=LINKS)
    plants, birds, links = review_spec(app)["sheets"]
    assert (links["note"], links["items"]) == ("becomes links", False)
    assert (plants["note"], plants["items"]) == ("ids from id", True)
    # A table chosen as a dataset gets ids.
    page_of(app).part(upload.Uploads).staged = upload.StagedFiles(
        staged(app).files, True, {"links.csv": {"role": "dataset"}}
    )
    app.run()
    assert review_spec(app)["sheets"][2]["items"]
    assert birds["size"] == "15 × 4"


def test_table_choices_apply_and_can_be_undone(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = drop(visit(), wells_csv=WELLS)
    say(app, monkeypatch, do="type", key="wells.csv", column="Owner", type="leave out")
    say(app, monkeypatch, do="mark", key="wells.csv", mark="names", line=1)
    say(app, monkeypatch, do="mark", key="wells.csv", mark="last", line=13)
    (sheet,) = review_spec(app)["sheets"]
    assert [column["name"] for column in sheet["columns"]] == ["Well", "Nitrate", "Owner"]
    assert [cells[2] for _, cells in sheet["preview"]] == [None] * 3
    assert (sheet["n_data"], sheet["changed"]) == (10, True)
    assert "10 wells" in html_of(app)
    say(app, monkeypatch, do="undo")
    assert review_spec(app)["sheets"][0]["n_data"] == 12
    say(app, monkeypatch, do="ids", key="wells.csv", columns=[])
    assert review_spec(app)["sheets"][0]["note"] == "row numbers are the ids"
    press(app, "go-on")
    data = workspace_of(app).state.opened()
    assert list(data["wells"].ids[:2]) == ["1", "2"]
    assert list(data["wells"].table.columns) == ["Well", "Nitrate"]


def test_quick_edits_are_all_applied(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = drop(visit(), wells_csv=WELLS)
    looks = staged(app).looks
    assert looks is not None
    monkeypatch.setattr(upload, "state_of", page_of(app).part)
    for act in (
        {"do": "mark", "mark": "names", "line": 1},
        {"do": "type", "column": "Owner", "type": "text"},
        {"do": "ids", "columns": ["Owner", "Well"]},
    ):
        # Later edits arrive before the page is redrawn.
        sheets.apply_action(
            looks, {**act, "key": "wells.csv"}, upload._apply_edit, upload._undo_edit
        )
    monkeypatch.undo()
    recipe = TableRecipe.from_dict(staged(app).choices["wells.csv"]["recipes"][""])
    assert recipe.header == (2,)
    assert set(recipe.of_type("id")) == {"Owner", "Well"}
    assert len(staged(app).history) == 3


def test_reset_discards_choices(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = drop(visit(), wells_csv=WELLS)
    before = review_spec(app)["sheets"]
    say(app, monkeypatch, do="type", key="wells.csv", column="Owner", type="text")
    say(app, monkeypatch, do="reset", key="wells.csv")
    assert review_spec(app)["sheets"] == before
    assert "recipes" not in staged(app).choices["wells.csv"]


def test_ordered_category_values_are_moved(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    grades = "id,grade,x\n" + "".join(
        f"i{k},{['low', 'high', 'odd'][k % 3]},{k}\n" for k in range(9)
    )
    app = drop(visit(), grades_csv=grades.encode())
    say(app, monkeypatch, do="type", key="grades.csv", column="grade", type="ordered category")
    column = review_spec(app)["sheets"][0]["columns"][1]
    assert column["order"] == ["low", "high", "odd"]
    order = ["odd", "low", "high"]
    say(app, monkeypatch, do="order", key="grades.csv", column="grade", order=order)
    assert review_spec(app)["sheets"][0]["columns"][1]["order"] == order
    step = staged(app).loaded.data["grades"].recipe["features"]["columns"][0]
    assert (step["kind"], step["order"]) == ("ordered", order)


@pytest.mark.parametrize(
    "act",
    [
        None,
        "type",
        {"do": "type", "key": "other.csv", "column": "Owner", "type": "text"},
        {"do": "type", "key": "wells.csv", "column": "Owner", "type": "poem"},
        {"do": "type", "key": "wells.csv", "column": "No such", "type": "text"},
        {"do": "mark", "key": "wells.csv", "mark": "names", "line": 999},
        {"do": "mark", "key": "wells.csv", "mark": "poem", "line": 1},
        {"do": "ids", "key": "wells.csv", "columns": ["No such"]},
        {"do": "ids", "key": "wells.csv", "columns": "Owner"},
        {"do": "order", "key": "wells.csv", "column": "Owner", "order": ["poem"]},
    ],
)
def test_invalid_actions_are_ignored(visit: Visit, act: Any) -> None:
    app = drop(visit(), wells_csv=WELLS)
    looks = staged(app).looks
    assert looks is not None

    def never(*_: object) -> None:
        raise AssertionError

    sheets.apply_action(looks, act, never, never)


def test_new_separator_discards_row_choices(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = drop(visit(), wells_csv=WELLS)
    say(app, monkeypatch, do="type", key="wells.csv", column="Owner", type="text")
    app.text_input(key="reading-0-id").set_value("Well")
    again = next(button for button in app.button if button.label == "Read again")
    again.click().run()
    assert "recipes" in staged(app).choices["wells.csv"]
    app.selectbox(key="reading-0-separator").set_value(",")
    next(button for button in app.button if button.label == "Read again").click().run()
    assert "recipes" not in staged(app).choices["wells.csv"]
