"""Tests of the panel: a map from columns, and what explains it."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from hetviz.ui.map import map_reasons
from hetviz.ui.map_data.reasons import reasons_of
from hetviz.workspace import SetView
from tests.app.conftest import Visit, go, html_of, sid_of, unfold, workspace_of
from tests.app.test_map_panel import pick, press

N = 60
RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 3, N)
PLACES = RNG.normal(size=(N, 2)) + 9 * np.array([[0, 0], [1, 0], [0, 1]])[KIND]
SHOPS = "name,sells,price,pos x,pos y\n" + "".join(
    f"Shop {k},{['tea', 'coffee', 'juice'][KIND[k]]},{RNG.normal():.3f},{x:.4f},{y:.4f}\n"
    for k, (x, y) in enumerate(PLACES)
)


def taken(visit: Visit) -> AppTest:
    """Open the shops and show their coordinates as the map."""
    app = visit()
    app.file_uploader[0].set_value([("shops.csv", SHOPS.encode(), "text/csv")]).run()
    app = unfold(go(press(app, "go-on"), "map"), "maker-0")
    assert [app.selectbox(f"coordinate-{axis}").value for axis in ("Across", "Up")] == [
        "pos x",
        "pos y",
    ]
    press(app, "take-map")
    state = workspace_of(app).state
    assert state.run is not None and not state.run.method
    assert reasons_of(state, state.run, sid_of(app)) is not None
    return app.run()


def test_map_of_columns_is_shown_with_what_explains_it(visit: Visit) -> None:
    app = taken(visit)
    run = workspace_of(app).state.run
    assert run is not None and run.title == "pos x and pos y"
    np.testing.assert_allclose(run.embedding["shops"], PLACES, atol=1e-3)
    text = html_of(app)
    assert "What explains this map" in text and "Sells" in text
    assert "of close items have the same value" in text
    assert "Left out, as the map itself: pos x and pos y." in text


def test_map_can_be_coloured_by_what_explains_it(visit: Visit) -> None:
    app = taken(visit)
    workspace_of(app).do(SetView(colour='["shops", "price"]'))
    press(app.run(), "colour-by-reason")
    assert workspace_of(app).state.view.colour == '["shops", "sells"]'
    assert "colour-by-reason" not in [button.key for button in app.button]


def test_two_items_are_close_or_far_by_columns_that_explain_the_map(visit: Visit) -> None:
    app = taken(visit)
    tea, coffee = (np.flatnonzero(k == KIND) for k in (0, 1))
    text = html_of(pick(app, int(tea[0]), int(coffee[0])))
    assert "They are far apart" in text and "Different in Sells" in text
    assert ("Tea and Coffee" if tea[0] < coffee[0] else "Coffee and Tea") in text
    text = html_of(pick(app, int(tea[0]), int(tea[1])))
    assert "both Tea" in text


def test_group_and_item_of_a_foreign_map_are_explained_without_its_axes(visit: Visit) -> None:
    app = taken(visit)
    tea = np.flatnonzero(KIND == 0).tolist()
    text = html_of(pick(app, *tea))
    part = text[text.index("What sets them apart") :]
    assert "Sells: Tea" in part
    assert "pos x" not in part.lower()
    text = html_of(pick(app, tea[0]))
    assert "The closest shops are like it in Sells." in text


def test_map_of_a_method_is_explained_on_request(visit: Visit) -> None:
    app = visit("map")
    assert "have the same value (any two" not in html_of(app)
    press(app, "find-reasons")
    state = workspace_of(app).state
    assert state.run is not None
    assert reasons_of(state, state.run, sid_of(app)) is not None
    assert "Subgroup" in html_of(app.run())


def test_reasons_that_fail_can_be_tried_again(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit("map")

    def fail(*_: object) -> None:
        raise map_reasons.worker_results.WorkerError("Comparing", "no memory", lambda: None)

    monkeypatch.setattr(map_reasons, "reasons_of", fail)
    app.button("find-reasons").click().run()
    assert not app.exception
    assert "no memory" in app.error[0].value
