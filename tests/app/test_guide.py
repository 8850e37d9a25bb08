"""Tests of the guided review of a first project."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from hetviz.ui.reading import guide, join_choice
from tests.app.conftest import Visit, go, html_of, page_of, workspace_of
from tests.app.test_pages import BIRDS, LINKS, PLANTS, press, upload

OWNERS = "owner,name,plant\n" + "".join(f"o{k},Owner {k},{k % 20:03d}\n" for k in range(30))


def first_visit(visit: Visit) -> AppTest:
    """Open the start page for a visitor whose browser lists no projects."""
    app = visit()
    page_of(app).part(guide.Guide).is_new = True
    return app


def buttons_of(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.button}


def browser_spec(app: AppTest) -> dict[str, Any]:
    """Return what the browser is sent to decide whether a project is the first."""
    elements = [element.proto for element in app.get("bidi_component")]
    lists = [json.loads(e.json) for e in elements if e.component_name == "hetviz_recent"]
    found: dict[str, Any] = next(spec["first"] for spec in lists if "first" in spec)
    return found


def test_first_project_is_reviewed_in_three_steps(visit: Visit) -> None:
    app = upload(first_visit(visit), plants_csv=PLANTS, owners_csv=OWNERS)
    assert "Is this what your columns mean?" in html_of(app)
    assert "20 plants and 30 owners." in html_of(app)
    assert '<i class="hv-guide hv-guide-columns"' in html_of(app)
    assert "go-on" not in buttons_of(app)
    press(app, "guide-next-links")
    assert "Do these link your tables?" in html_of(app)
    assert "1 match found." in html_of(app)
    assert "30 links, such as" in html_of(app)
    press(app, "guide-next-map")
    assert "Is this what you want to map?" in html_of(app)
    assert "<b>30 links</b><span>between owners and plants</span>" in html_of(app)
    assert "Placed by Size and Weight." in html_of(app)
    press(app, "go-on")
    data = workspace_of(app).state.data
    assert data is not None
    assert sum(map(len, data.links)) == 30


def test_items_that_nothing_places_are_named_before_the_map(visit: Visit) -> None:
    # Blocks of lines, each with a name and what is said of it: nothing that places a line.
    keys = ["", "Offense:", "District:", "Sentence:", "", "Terms:"]
    rows = "".join(f"{key},{key} {k} of a case\n" for k in range(20) for key in keys)
    app = upload(first_visit(visit), cases_csv=f"key,info\n{rows}")
    press(app, "guide-next-map")
    assert "Nothing places them: no column can be used, and they have no links." in html_of(app)
    assert "Placed by" not in html_of(app) and "Each table is placed" not in html_of(app)


def test_tables_of_the_same_items_are_counted_as_such(visit: Visit) -> None:
    kinds, forms = ("oak", "ash", "rose", "sage", "fern"), ("dwarf", "wild", "red", "tall")
    names = [f"{form} {kind}" for kind in kinds for form in forms]
    rows = [(names[k], k % 7 + 0.5, k * k % 11 + 0.25) for k in range(20)]
    sizes = "plant,size\n" + "".join(f"{name},{size}\n" for name, size, _ in rows)
    leaves = "plant,leaves\n" + "".join(f"{name},{leaf}\n" for name, _, leaf in rows[:15])
    app = upload(first_visit(visit), sizes_csv=sizes, leaves_csv=leaves)
    press(app, "guide-next-links")
    assert "with 0 links. 15 items are in both " in html_of(app)
    press(app, "guide-next-map")
    assert "<b>15 items</b><span>in both " in html_of(app)
    assert "None. Each table is placed by its own columns." not in html_of(app)


def test_large_tables_that_are_summarised_are_no_points(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join_choice, "_MAX_PREVIEW_ROWS", 0)
    visits = "visit,plant,minutes\n" + "".join(
        f"v{k:04},{k % 20:03d},{k * 7 % 61 + k % 20}.5\n" for k in range(1_200)
    )
    app = upload(first_visit(visit), plants_csv=PLANTS, visits_csv=visits)
    press(app, "guide-next-links")
    press(app, "guide-next-map")
    assert "<b>20 plants</b><span>Such as" in html_of(app)
    assert "<b>1,200 visits</b>" not in html_of(app)
    assert "The 1,200 visits become summary columns of the items they refer to." in html_of(app)
    # The summary columns will place the plants, too.
    assert "Placed by" not in html_of(app)


def test_choices_survive_steps(visit: Visit) -> None:
    app = upload(first_visit(visit), plants_csv=PLANTS, owners_csv=OWNERS)
    press(app, "guide-next-links")
    next(box for box in app.checkbox if str(box.key).startswith("tick-")).uncheck().run()
    press(app, "guide-next-map")
    assert "None. Each table is placed by its own columns." in html_of(app)
    press(app, "guide-back")
    assert not next(box for box in app.checkbox if str(box.key).startswith("tick-")).value


def test_single_table_has_no_links_step(visit: Visit) -> None:
    app = upload(first_visit(visit), plants_csv=PLANTS)
    assert "</b> Links" not in html_of(app)
    press(app, "guide-next-map")
    assert "go-on" in buttons_of(app)


def test_links_of_a_file_are_counted(visit: Visit) -> None:
    app = upload(first_visit(visit), plants_csv=PLANTS, birds_csv=BIRDS, links_csv=LINKS)
    press(app, "guide-next-links")
    assert "Your files name 20 links." in html_of(app)
    press(app, "guide-next-map")
    assert "<b>20 links</b><span>between plants and birds</span>" in html_of(app)


def test_skipped_steps_stay_away(visit: Visit) -> None:
    app = upload(first_visit(visit), plants_csv=PLANTS, owners_csv=OWNERS)
    press(app, "guide-skip")
    assert "plants and owners belong together" in html_of(app)
    assert "guide-skip" not in buttons_of(app)
    assert browser_spec(app) == {"is_new": True, "is_over": True}
    press(app, "leave")
    upload(app, plants_csv=PLANTS)
    assert "guide-skip" not in buttons_of(app)
    assert "go-on" in buttons_of(app)


@pytest.mark.parametrize("place", ["start", "data"])
def test_visitor_with_projects_is_not_guided(visit: Visit, place: str) -> None:
    app = upload(visit(place), plants_csv=PLANTS, owners_csv=OWNERS)
    assert "go-on" in buttons_of(app)
    assert '<i class="hv-guide' not in html_of(app)


def test_added_files_are_not_guided(visit: Visit) -> None:
    app = upload(go(first_visit(visit), "data"), plants_csv=PLANTS)
    assert '<i class="hv-guide' not in html_of(app)


def test_unreadable_files_are_not_guided(visit: Visit) -> None:
    app = upload(first_visit(visit), plants_csv=b"\0\0\0")
    assert "could not be read" in html_of(app)
    assert '<i class="hv-guide' not in html_of(app)
    assert "leave" in buttons_of(app)


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((0, 0, 0), "No columns match. Drag a column onto another, or go on without."),
        ((2, 0, 0), "2 matches found. Untick what is wrong."),
        ((0, 1, 0), "1 match is uncertain. Look at some pairs, then tick what is right."),
        (
            (1, 2, 0),
            "1 match found. Untick what is wrong. 2 more are uncertain. Look at some pairs, then "
            "tick what is right.",
        ),
        ((0, 0, 9), "Your files name 9 links."),
    ],
)
def test_links_text_states_what_was_found(counts: tuple[int, int, int], text: str) -> None:
    assert guide.links_text(*counts) == text


def test_links_text_offers_comparison_of_rows() -> None:
    text = guide.links_text(0, 0, 0, "meaning or place")
    assert (
        "Compare the rows by meaning or place, drag a column onto another, or go on without."
        in text
    )
