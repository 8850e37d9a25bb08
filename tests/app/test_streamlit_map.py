"""The map in Streamlit apps of others, and its input."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import hetviz
from hetviz import HeteroData
from hetviz.errors import ParameterError
from hetviz.ui.host import component

WINES = pd.DataFrame(
    {"x": [1.0, 2.0, np.nan], "kind": ["red", None, "white"], "year": [2001, 2002, 2003]},
    index=[7, 8, 9],
)
FOODS = pd.DataFrame({"heat": [0.1, 0.4]}, index=["chili", "pie"])


@pytest.fixture
def made() -> Any:
    links = pd.DataFrame({"wines": [7, 9], "foods": ["pie", "chili"]})
    data = HeteroData.from_frames({"wines": WINES, "foods": FOODS}, links=links)
    return hetviz.embed(data, "joint-spectral")


def app() -> None:
    import streamlit as st

    import hetviz

    data = hetviz.HeteroData.from_frames({"a": {"u": [1.0, 2.0, 4.0], "v": [3.0, 1.0, 1.0]}})
    st.write(hetviz.streamlit_map(hetviz.embed(data, "pca"), key="map"))


def test_map_in_an_app_of_others_returns_the_selection() -> None:
    page = AppTest.from_function(app, default_timeout=20).run()
    assert not page.exception
    assert page.json[0].value == "{}"
    (shown,) = page.get("bidi_component")
    assert "HostedMap" in shown.proto.js_content


def test_input_has_points_with_columns_and_links(made: Any) -> None:
    shown = hetviz.map_input(made, colour="kind")
    json.dumps(shown, allow_nan=False)
    points = shown["points"]
    assert points["id"] == [7, 8, 9, "chili", "pie"]
    assert points["dataset"] == ["wines"] * 3 + ["foods"] * 2
    placed = np.array(points["x"], dtype=float)
    np.testing.assert_allclose(placed, np.vstack(list(made.coordinates.values()))[:, 0])
    assert points["kind"] == ["red", None, "white", None, None]
    assert points["x of the table"] == [1.0, 2.0, None, None, None]
    assert points["heat"] == [None, None, None, 0.1, 0.4]
    assert points["year"][0] == 2001
    assert shown["links"]["source"] == [7, 9]
    assert shown["links"]["target"] == ["pie", "chili"]
    assert (shown["colour"], shown["links"]["weight"]) == ("kind", [1.0, 1.0])
    with pytest.raises(ParameterError, match=r"colour = 'size' must be one of dataset, .*kind"):
        hetviz.map_input(made, colour="size")


def test_module_needs_nothing_else() -> None:
    text = component.module_text()
    assert "import.meta" not in text
    assert not [line for line in text.splitlines() if line.startswith("import ")]
    assert "export function showMap" in text
