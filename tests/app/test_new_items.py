"""Tests of new items from a file on the Predict page."""

from __future__ import annotations

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.app.conftest import Visit, go, html_of, workspace_of
from tests.app.test_pages import BIRDS, LINKS, PLANTS, press, upload

NEW = "id,name,size,weight,shop\n000,Oak,1,1,a\nn1,Elm,3,4,b\nn2,=Yew,9,,c\n"


def section(visit: Visit) -> AppTest:
    app = upload(visit(), plants_csv=PLANTS, birds_csv=BIRDS, links_csv=LINKS)
    app = go(press(app, "go-on"), "predict")
    return app.segmented_control(key="predict-section").set_value("File").run()


def test_new_items_are_placed_added_and_undone(visit: Visit) -> None:
    app = section(visit)
    workspace = workspace_of(app)
    assert "Add new items to this map" in html_of(app)
    app = upload(app, new_csv=NEW)
    assert not app.exception
    assert "2 new items of plants placed on the map" in html_of(app)
    assert "shop" in html_of(app)
    assert "<td>Elm</td>" in html_of(app) and "<td>=Yew</td>" in html_of(app)
    assert "Nearest birds" in html_of(app)
    state = workspace.state
    run = state.run
    assert run is not None and state.data is not None
    assert len(state.data["plants"]) == 20
    press(app, "keep-items")
    after = workspace.state
    assert after.data is not None and after.run is not None
    assert list(after.data["plants"].ids[-2:]) == ["n1", "n2"]
    assert after.data["plants"].table is not None
    assert pd.isna(after.data["plants"].table["weight"].iloc[-1])
    assert sum(map(len, after.data.links)) == sum(map(len, state.data.links))
    kept = after.embedding(after.run)
    assert kept is not None
    for name, Y in run.embedding.coordinates.items():
        np.testing.assert_array_equal(kept.coordinates[name][: len(Y)], Y)
    assert kept.n_unplaced == 0
    # Another file needs a map of the present data.
    assert "Refit it on the Map page first" in html_of(app)
    assert app.button(key="undo").label == "Undo new items"
    press(app, "undo")
    assert len(workspace.state.data["plants"]) == 20  # type: ignore[index]
    assert "2 new items" in html_of(app)
    press(app, "leave-items")
    assert "Add new items to this map" in html_of(app)
    # Everything survives a restart.
    again = type(workspace).replay(workspace.log, workspace.blobs)
    assert again.state.data is not None
    assert again.state.data.fingerprint() == workspace.state.data.fingerprint()  # type: ignore[union-attr]


def test_file_without_new_items_changes_nothing(visit: Visit) -> None:
    app = upload(section(visit), new_csv="id,name,size,weight\n000,Oak,1,1\n")
    assert not app.exception
    assert "all ids already exist" in "\n".join(
        str(e.value) for e in [*app.error, *app.warning]
    ) + html_of(app)
    assert "placed" not in workspace_of(app).state.findings
