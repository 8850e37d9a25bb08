"""Tests of the feature table on a dataset card."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from hetviz.features.columns import picture_encoder
from hetviz.ui.data import feature_table
from tests.app.conftest import Visit, go, html_of, workspace_of
from tests.app.test_map_panel import press
from tests.app.test_pages import ops


def table(app: AppTest, place: int) -> pd.DataFrame:
    name = f"features-table-{place}-"
    found = next(t for t in app.data_editor if (t.key or "").startswith(name)).value
    return pd.DataFrame(found)


def test_table_edits_become_one_command(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = go(press(visit(), "open-world"), "data")
    rows = table(app, 0)
    assert rows.loc["population", "holds"] == "numbers"
    assert rows.loc["population", "log"] and rows.loc["population", "used"]
    assert rows.loc["region", "why"] == "label"
    assert rows.loc["population", "agrees"] > rows["agrees"].min()
    # A label is no feature, but the map shows it.
    assert rows.loc["region", "agrees"] > 30
    assert rows["share"].sum() == pytest.approx(100.0)
    row = list(rows.index).index("population")
    region = list(rows.index).index("region")
    edits: dict[int, dict[str, Any]] = {
        row: {"weight": 3.0, "scale": "order only", "log": False},
        region: {"used": True, "impute": "its own category"},
    }
    monkeypatch.setattr(
        feature_table, "edited_cells", lambda key: edits if "table-0-" in key else {}
    )
    press(app, "make-features-0")
    assert ops(workspace_of(app))[-1] == "set-features"
    assert workspace_of(app).log[-1]["columns"] == {
        "population": {"scale": "rank", "log": False, "weight": 3.0},
        "region": {"use": True, "impute": "own category"},
    }
    monkeypatch.setattr(feature_table, "edited_cells", lambda key: {})
    names = workspace_of(app).state.opened()["countries"].feature_names
    assert names is not None and "population" in names
    assert any(name.startswith("region=") for name in names)
    text = html_of(app)
    assert "made from 12 columns" in text
    assert "New features of countries are ready." in text
    press(app, "map-again-0")
    assert ops(workspace_of(app))[-1] == "record-map"
    state = workspace_of(app).state
    assert state.run is not None and state.is_current(state.run)
    assert "New features of countries are ready." not in html_of(app.run())


def test_pictures_are_compared_by_what_they_show(visit: Visit) -> None:
    if not picture_encoder.is_installed():
        pytest.skip("the extra pictures is not installed")
    app = go(press(visit(), "open-world"), "data")
    key = next(b.key for b in app.selectbox if (b.key or "").startswith("picture-model-0-"))
    assert key is not None and app.selectbox(key).value == "edges"
    app.selectbox(key).set_value("encoder")
    press(app, "make-features-0")
    entry = workspace_of(app).log[-1]
    assert entry["columns"]["(pictures)"] == {"use": True, "model": "encoder"}
    # A replay of the journal does not encode the pictures again.
    assert entry["made"]
    assert "Pictures are compared by what they show." in html_of(app)


def test_invalid_edit_is_reported_and_ignored(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = go(press(visit(), "open-world"), "data")
    row = list(table(app, 0).index).index("week_starts")
    before = workspace_of(app).state
    monkeypatch.setattr(feature_table, "edited_cells", lambda key: {row: {"scale": "order only"}})
    app.button(key="make-features-0").click().run()
    assert not app.exception
    assert "cannot be used for categories" in app.error[0].value
    assert workspace_of(app).state is before
    monkeypatch.setattr(feature_table, "edited_cells", lambda key: {})
    press(app, "make-features-0")
    assert workspace_of(app).state is before


def test_file_features_can_be_combined_with_columns(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit("data")
    rows = table(app, 0)
    assert rows.loc["(own vectors)", "column"] == "own vectors"
    assert rows.loc["(pictures)", "why"] == "not chosen"
    row = list(rows.index).index("(pictures)")
    monkeypatch.setattr(
        feature_table,
        "edited_cells",
        lambda key: {row: {"used": True}} if "table-0-" in key else {},
    )
    press(app, "make-features-0")
    rows = table(app, 0)
    assert rows.loc["(pictures)", "share"] == pytest.approx(50.0)
