"""Tests of the head of the item panel."""

from __future__ import annotations

import html
import json

import numpy as np
import pandas as pd

from hetviz.data import Dataset, HeteroData, Links
from hetviz.plots import colouring
from hetviz.ui.item import item_head, item_panel
from hetviz.ui.item.item import find_item
from hetviz.ui.item.item_head import item_line
from hetviz.ui.reading import join_choice
from tests.app.conftest import Visit, html_of, workspace_of


def test_item_head_equals_panel(visit: Visit) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    state = workspace.state
    data, run = state.opened(), state.run
    assert run is not None
    row = int(data.offsets[data.links[0].source].start + data.links[0].i[0])
    first = item_panel.panel_content(workspace, row, "s")
    workspace.set_view_state(selection=np.array([row], dtype=np.int64))
    app.run()
    head = item_panel.panel_content(workspace, row, "s")
    assert first is not None
    assert head is not None
    # The first explanation on a map takes long, so that it is left out.
    assert head["blocks"][: len(first["blocks"])] == first["blocks"]
    json.dumps(head)
    text = html_of(app)
    assert f'data-of="{row}"' in text
    assert head["line"] in text
    kinds = [block["kind"] for block in head["blocks"]]
    assert {"section", "note", "links", "items"} <= set(kinds)
    sections = [block["title"] for block in head["blocks"] if block["kind"] == "section"]
    assert sections[0].startswith("Linked")
    assert {"Nearest emoji", "Why it is here"} <= set(sections)
    places = [text.index(f"<span>{title}<") for title in sections if f"<span>{title}<" in text]
    assert len(places) > 1 and places == sorted(places)
    for block in head["blocks"]:
        for key in ("title", "aside", "text"):
            if block["kind"] != "button":
                assert html.escape(block.get(key, "")).replace("\xa0", " ") in text
        for end in block.get("ends", ()):
            assert html.escape(end["title"]) in text
            assert f"width:{end['share']}%" in text
        for cell in block.get("cells", ()):
            assert f'title="{html.escape(cell["tip"])}"' in text


def test_item_head_names_dataset_linked_within_once(visit: Visit) -> None:
    data = workspace_of(visit("map")).state.opened()
    first, second = list(data.datasets)[:2]
    html = join_choice.boxes_html(data, [(first, first), (first, second)], "linked with", "alone")
    assert "each other" in html
    assert html.count(f"<b>{first}<") == 1
    assert html.count(f"<b>{second}<") == 1


def test_item_line_marks_the_value_of_linked_items() -> None:
    planes = Dataset("planes", list("uvw"), table=pd.DataFrame({"engine": ["fan", "fan", "jet"]}))
    airlines = Dataset("airlines", ["B6"])
    data = HeteroData([planes, airlines], [Links("planes", "airlines", range(3), [0] * 3)])
    colours = colouring(data, json.dumps(["planes", "engine"]))
    lines = [item_line(data, find_item(data, row), row, colours) for row in (0, 3)]
    assert lines == ["planes · Fan", "airlines · mostly Fan, by links"]


def test_item_line_says_to_what_the_answer_is_yes() -> None:
    films = Dataset("films", list("uvw"), table=pd.DataFrame({"snow": ["yes", "No", "yes"]}))
    data = HeteroData([films])
    colours = colouring(data, json.dumps(["films", "snow"]))
    lines = [item_line(data, find_item(data, row), row, colours) for row in (0, 1)]
    assert lines == ["films · Snow: Yes", "films · Snow: No"]


def test_item_line_names_the_other_tables_of_the_same_item() -> None:
    data = HeteroData([Dataset("drinks", ["Chad", "Peru"]),
                       Dataset("teams", ["Peru", "Guam"], entity="drinks")])  # fmt: skip
    colours = colouring(data, "")
    lines = [item_line(data, find_item(data, row), row, colours) for row in range(4)]
    assert lines == ["drinks", "drinks, also in teams", "teams, also in drinks", "teams"]


def test_far_linked_items_begin_a_sentence(visit: Visit) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    data, run = workspace.state.opened(), workspace.state.run
    assert run is not None
    row = data["emoji"].position("1f408")
    workspace.set_view_state(selection=[row])
    app.run()
    near = item_head.nearest_items(workspace.state, run, row)["keywords"]
    far = near.ends[~near.is_satisfied()]
    assert len(far)
    app.button(key="bring-closer").click().run()
    assert not app.exception
    groups = workspace.view_state.groups
    assert groups["A"].tolist() == [row]
    assert sorted(groups["B"]) == sorted(far)
    assert not app.button(key="add-statement").disabled
