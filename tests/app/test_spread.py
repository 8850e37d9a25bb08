"""Spread of positions in the app: job, item panel and faded items."""

from __future__ import annotations

import io
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Embedding, HeteroData
from hetviz.jobs.tasks import spread as task
from hetviz.metrics.trust.spread import SPREAD, Spread
from hetviz.runs.place.spread import spread as measure_spread
from hetviz.serve.config import settings
from hetviz.ui.app.view import _spread_spec
from hetviz.ui.export import files as export_files
from hetviz.ui.map_data import spread
from hetviz.ui.shell import background
from hetviz.ui.shell.visitors import VISITORS
from hetviz.workspace import ChooseRun
from tests.app.conftest import Visit, html_of, sid_of, workspace_of
from tests.app.test_map_panel import pick
from tests.samples import mark_of

_measured: dict[tuple[str, str], Spread] = {}


@pytest.fixture(autouse=True)
def spread_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the spread of a map once for all tests here: they read that of the same map."""

    def measure(data: HeteroData, embedding: Embedding, **settings: Any) -> Spread:
        key = data.fingerprint(), mark_of(embedding)
        if key not in _measured:
            _measured[key] = measure_spread(data, embedding, **settings)
        return _measured[key]

    monkeypatch.setattr(task, "spread", measure)


def test_spread_is_measured_from_the_item_panel(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "current_visitor", lambda: "ada")
    monkeypatch.setattr(VISITORS, "_visits", {})
    # The server of an earlier test may have set what asks Streamlit.
    monkeypatch.setattr(VISITORS, "upload_bytes", dict)
    assert VISITORS.enter("ada")
    app = visit("map")
    state = workspace_of(app).state
    row = state.opened()["emoji"].titles.tolist().index("fishing pole")
    assert spread.find(state, state.run) is None
    assert _spread_spec(state, sid_of(app)) == {"key": None, "text": ""}
    app = pick(app, row)
    assert "refits" not in html_of(app)
    app.button("measure-spread").click().run()
    assert not app.exception
    # In the metrics of who pressed the button.
    assert VISITORS.visits()["ada"].jobs == 1
    state = workspace_of(app).state
    measured = spread.find(state, state.run)
    assert measured is not None and measured.n_refits == 8
    assert measured.sentence_of(row) in unescape(html_of(app))
    assert "In 8 refits with resampled links, it was on average" in html_of(app)
    n_unstable = int(measured.is_unstable.sum())
    spec = _spread_spec(state, sid_of(app))
    assert spec is not None and spec["key"]
    assert spec["text"].startswith(f"Faded: {n_unstable} items without a stable place")
    assert 0 < n_unstable < 400
    still = replace(measured, share=np.zeros_like(measured.share))
    assert not still.is_unstable.any() and spread.faded_text(still) == ""
    # It belongs to this map.
    run = state.run
    assert run is not None
    assert all(spread.find(state, one) is None for one in state.runs if one is not run)
    # A filtered or reordered table has other items.
    finding = state.findings[SPREAD]
    assert finding.content["items"] == state.opened().digest_of_items().hexdigest()
    workspace = workspace_of(app)
    workspace.do(ChooseRun(run.id))
    assert spread.find(workspace.state, workspace.state.run) is not None


def test_spread_is_measured_automatically_and_is_no_step(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HETVIZ_WORK_SPREAD_ITEMS", "50000")
    settings.cache_clear()
    app = visit("map")
    workspace = workspace_of(app)
    undo, steps = workspace.undo_name, len(workspace.state.runs)
    measured = spread.find(workspace.state, workspace.state.run)
    assert measured is not None and measured.n_refits == 8
    assert (workspace.undo_name, len(workspace.state.runs)) == (undo, steps)
    app.run()
    assert not app.exception
    # Larger maps are measured on request.
    monkeypatch.setenv("HETVIZ_WORK_SPREAD_ITEMS", "1893")
    settings.cache_clear()
    workspace = workspace_of(visit("map"))
    assert spread.find(workspace.state, workspace.state.run) is None
    monkeypatch.undo()
    settings.cache_clear()


def test_export_has_the_spread(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    makers: dict[str, Any] = {}
    monkeypatch.setattr(
        export_files,
        "download_button",
        lambda label, name, make, *_, **__: makers.update({name: make}),
    )
    app = visit("export")
    app.button("export-spread").click().run()
    assert not app.exception
    state = workspace_of(app).state
    measured = spread.find(state, state.run)
    assert measured is not None
    assert "export-spread" not in [button.key for button in app.button]
    table, report = (
        next(make for name, make in makers.items() if name.endswith(end))()
        for end in ("-coordinates.csv", "-report.html")
    )
    written = pd.read_csv(io.BytesIO(table))["spread"].tolist()
    assert written == pytest.approx(measured.share.tolist(), nan_ok=True)
    assert b"Spread of positions" in report


def test_spread_survives_a_round_trip() -> None:
    ids = {"a": np.array(["x", "y", "z"], dtype=object)}
    measured = Spread(
        np.array([0.1, np.nan, 0.3]),
        np.array([0.01, np.nan, 0.04]),
        np.array([8, 0, 5]),
        8,
        0.5,
        resampled=True,
        ids=ids,
    )
    again = Spread.from_dict(measured.rows_to_dict(), ids)
    assert again.frame().equals(measured.frame())
    assert again.to_dict() == measured.to_dict()
    assert measured.is_unstable.tolist() == [False, False, True]
    assert measured.sentence_of(1) == ""
    assert measured.sentence_of(2) == (
        "In 8 refits with resampled links, it was on average 30.0 ± 4.0 % of the map's longer side "
        "away from here. 100 % of the other items vary less. In 3 of them it had no position."
    )
