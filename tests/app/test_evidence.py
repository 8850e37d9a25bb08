"""Tests of the dialog that shows what a statement was computed from."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hetviz.ui.evidence.dialog import ShownEvidence
from tests.app.conftest import Visit, html_of, page_of, workspace_of
from tests.app.evidence import check_all, open_evidence


def test_map_statements_open_their_rows(visit: Visit) -> None:
    app = visit("map")
    check_all(app, {"links", "measure", "neighbours"})


def test_item_statements_open_their_rows(visit: Visit) -> None:
    app = visit("map")
    workspace_of(app).set_view_state(selection=[5])
    app.run()
    check_all(app, {"item-links", "nearest", "alike", "why"})


def test_group_statements_open_their_rows(visit: Visit) -> None:
    app = visit("map")
    data = workspace_of(app).state.opened()
    codes = np.array(data.label("group").values == "food-drink")
    workspace_of(app).set_view_state(selection=np.flatnonzero(codes).tolist())
    app.run()
    check_all(app, {"selection", "selection-links", "difference"})
    shown = open_evidence(app, "selection/emoji")
    assert f"Selected: {codes.sum():,} of {len(data['emoji']):,} emoji." in shown


@pytest.mark.parametrize(
    ("page", "expected"),
    [("clusters", {"region", "region-links"}), ("guidance", {"links"})],
)
def test_page_statements_open_their_rows(visit: Visit, page: str, expected: set[str]) -> None:
    check_all(visit(page), expected)


def test_legend_and_strip_statements_open_their_rows(visit: Visit) -> None:
    app = visit("map")
    run = workspace_of(app).state.run
    assert run is not None
    for key in ("dataset/emoji", "category/0", f"links/1/given/{run.id}", "unlinked/keywords"):
        assert 'class="hv-evidence"' in open_evidence(app, key), key


def test_share_of_close_links_is_that_of_the_page(visit: Visit) -> None:
    app = visit("guidance")
    stated = re.search(r">(\d+ %) of your links ended up close together", html_of(app))
    assert stated is not None
    shown = open_evidence(app, "links")
    assert f"{stated[1]} of the links are close." in shown


@pytest.mark.parametrize(
    "key", ["nothing", "region/9/9", "item-links/99999999/emoji", "links/1/given/no-map", "spread"]
)
def test_outdated_statement_says_so(visit: Visit, key: str) -> None:
    app = visit("map")
    assert "is about something that has changed since" in open_evidence(app, key)


def test_select_on_the_map_selects_the_rows(visit: Visit) -> None:
    app = visit("map")
    page_of(app).part(ShownEvidence).key = "item-links/5/keywords"
    app.run()
    linked = set(app.dataframe[0].value["title"])
    app.button(key="evidence-select").click().run()
    assert not app.exception
    state = workspace_of(app)
    data = state.state.opened()
    start = data.offsets["keywords"].start
    titles = {str(data["keywords"].titles[row - start]) for row in state.view_state.selection}
    assert titles == linked
    assert page_of(app).part(ShownEvidence).key == ""
