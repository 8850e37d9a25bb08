"""Tests of the Export page."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import hetviz
from hetviz.exports.model import MODEL
from hetviz.ui.export import files as export_files
from hetviz.workspace import OpenSample
from tests.app.conftest import Visit, go, html_of, workspace_of
from tests.waits import wait_until


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path))


def opened(visit: Visit, sample: str = "digit-views") -> AppTest:
    app = visit()
    workspace_of(app).do(OpenSample(sample))
    go(app, "export")
    assert not app.exception
    return app


def _fail_if_called(*_: object, **__: object) -> None:
    pytest.fail("a file was made before anybody asked for it")


def test_page_offers_files_without_making_them(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("map_bytes", "interactive_map", "report_page", "map_recipe", "table_bytes"):
        monkeypatch.setattr(export_files, name, _fail_if_called)
    app = opened(visit)
    labels = [one.proto.label for one in app.get("download_button")]
    for label in ("PDF of the map", "Interactive page", "Report", "Reproduce this", "Project"):
        assert label in labels
    assert "ready for slides and print" in html_of(app)


def test_slide_is_the_first_choice(visit: Visit) -> None:
    app = opened(visit)
    for size, label in (("slide", "PNG for a slide"), ("one column", "PDF for a paper")):
        choice = app.selectbox(key="export-size")
        if choice.value != size:
            choice.set_value(size).run()
        assert not app.exception
        main = [
            one.proto.label for one in app.get("download_button") if one.proto.type == "primary"
        ]
        assert main == [label]


def test_fitted_method_is_saved_and_loaded(visit: Visit) -> None:
    app = opened(visit)
    app.button(key="export-model").click().run()
    assert not app.exception
    kept = workspace_of(app).state.findings[MODEL]
    model = hetviz.load_model(base64.b64decode(kept.content["zip"]))
    run = workspace_of(app).state.run
    assert run is not None
    assert model.card.key == run.method
    labels = [one.proto.label for one in app.get("download_button")]
    assert any(label.startswith("Fitted method") for label in labels)


def test_dataset_can_be_hidden_in_figure(visit: Visit) -> None:
    app = opened(visit)
    pills = next(one for one in app.get("button_group") if one.label == "Datasets")
    pills.set_value(["pixels"]).run()
    # A worker or thread draws the figure, and the page runs again when it is there.
    assert wait_until(lambda: "Joint map of 700 pixels" in html_of(app.run()))
    assert not app.exception


def test_colours_have_names_of_columns(visit: Visit) -> None:
    name = "Chloride (mg/l) [mean]"
    rows = "".join(f"w{k},{k}.5,{k % 5}.25\n" for k in range(30))
    app = visit()
    table = f"well,{name},depth\n{rows}".encode()
    app.file_uploader[0].set_value([("wells.csv", table, "text/csv")]).run()
    app.button(key="go-on").click().run()
    go(app, "export")
    assert not app.exception
    offered = next(one for one in app.selectbox if one.label == "Colour").options
    assert any(name in title for title in offered)
