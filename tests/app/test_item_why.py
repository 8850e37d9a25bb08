"""Tests of the explanation of an item."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, HeteroData, Links
from hetviz.runs.embed.run import fit_run
from hetviz.runs.place.why import Explainer
from hetviz.ui.item import item_why
from tests.app.conftest import Visit, html_of, workspace_of
from tests.app.test_map_panel import pick


def test_item_why_lists_similar_items(visit: Visit) -> None:
    app = visit("map")
    titles = workspace_of(app).state.opened()["emoji"].titles.tolist()
    text = html_of(pick(app, titles.index("cat face")))
    assert "<span>Why it is here</span>" in text
    shares = re.search(r"ere because of [a-z ]+ \((\d+) %\)", text)
    assert shares is not None and int(shares[1]) > 25
    part = text[text.index("Why it is here") :]
    named = re.findall(r"<li><span>([^<]+)</span><u>", part)[:3]
    assert len(named) == 3 and all("cat" in name for name in named)
    assert {name.split(" · ")[1].split(" to ")[0] for name in named} <= {
        "linked",
        "both linked",
        "similar features",
    }
    # Vectors of names are numbers that nobody knows.
    assert "numbers without names" in part


def test_item_why_of_many_rows_needs_click(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_why, "MAX_ROWS_AT_ONCE", 100)
    app = visit("map")
    assert "ere because of" not in html_of(pick(app, 3))
    app.button("why-find").click().run()
    assert not app.exception
    assert "ere because of" in html_of(app)


def test_item_why_without_fit_uses_positions(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_why, "_is_quick", lambda state, run: False)
    app = visit("map")
    text = html_of(pick(app, 3))
    part = text[text.index("Why it is here") :]
    assert "Closest on the map" in part
    assert "needs a new fit" in part


def test_item_why_names_columns_and_distinguishes_equal_titles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    size = np.where(np.arange(40) < 20, -9.0, 9.0) + rng.normal(size=40)
    table = pd.DataFrame({"wing_size": size, "colour": rng.normal(size=40)})
    X = table.to_numpy()
    ids = [f"t{k}" for k in range(40)]
    things = Dataset("things", ids, X, feature_names=["wing_size", "colour"], table=table)
    tags = Dataset("tags", ["a", "b"])
    data = HeteroData([things, tags], [Links("things", "tags", [0, 30], [0, 1])])
    run = fit_run(data, "mr-sne")
    found = Explainer(data, run.result.embedding, run.result).why(0, 5)
    shown: list[str] = []
    monkeypatch.setattr(item_why.theme, "show_note", lambda text, *_: shown.append(text))
    monkeypatch.setattr(item_why.theme, "show_section", lambda *words: shown.append(words[0]))
    drawn = []
    monkeypatch.setattr(item_why.diagnostics, "draw_bars", lambda one, most: drawn.append(one))
    item_why._show_reasons(found, {"wing_size", "colour"})
    assert "Columns that make it similar" in shown
    assert next(iter(drawn[1].values)) == "Wing size"
    assert len(drawn[0].values) == len(found.holds)
