"""Tests of statements: groups, adding, refits and requests of the browser."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import hetviz
from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.data.edits.labelling import with_annotations
from hetviz.plots.colour import colour_options, colouring
from hetviz.ui.map_data.selection_codec import pack_rows
from hetviz.ui.shell import background, page_state
from hetviz.ui.statements import commands
from hetviz.ui.statements.statement_draft import StatementDraft, StatementState
from hetviz.workspace import AddLinks
from tests.app.conftest import Visit, html_of, page_of, workspace_of

NEW: list[list[str]] = []
"""Keys of the statements that each refit was told of."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the refits that would start, and start none."""
    found: list[Any] = []

    def refit(state: Any, loose: Any = None, said: Any = ()) -> bool:
        found.append(loose)
        NEW.append(list(said))
        return True

    NEW.clear()

    monkeypatch.setattr(background, "refit", refit)
    return found


def grouped(app: AppTest, **groups: list[int]) -> AppTest:
    workspace_of(app).set_view_state(groups=groups)
    app.run()
    assert not app.exception
    return app


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    assert not app.error
    return app


def test_bar_asks_for_groups_in_order(visit: Visit) -> None:
    app = visit("map")
    assert "begin-together" not in {button.key for button in app.button}
    assert "Something in the wrong place?" in html_of(app)
    workspace_of(app).set_view_state(selection=[3, 4])
    press(app.run(), "begin-together")
    assert workspace_of(app).view_state.groups["A"].tolist() == [3, 4]
    workspace_of(app).set_view_state(selection=[9])
    press(app.run(), "set-B")
    assert list(workspace_of(app).view_state.groups) == ["A", "B"]
    press(app, "drop-A")
    assert list(workspace_of(app).view_state.groups) == ["B"]
    assert app.button(key="add-statement").disabled


def test_next_selections_complete_a_begun_statement(visit: Visit) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    workspace.set_view_state(selection=[3])
    press(app.run(), "begin-closer")
    assert "click an item, or type its name" in html_of(app)
    for row, name in ((9, "B"), (1300, "C")):
        assert app.button(key="add-statement").disabled
        workspace.set_view_state(selection=[row])
        app.run()
        assert workspace.view_state.groups[name].tolist() == [row]
    assert not app.button(key="add-statement").disabled
    # A later selection changes nothing, and what is cleared does not come back by itself.
    workspace.set_view_state(selection=[12])
    press(app.run(), "drop-C")
    assert sorted(workspace.view_state.groups) == ["A", "B"]
    press(app, "set-C")
    assert workspace.view_state.groups["C"].tolist() == [12]


def test_added_statement_is_one_step_and_requests_refit(
    visit: Visit, started: list[Any], emoji: HeteroData
) -> None:
    app = grouped(visit("map"), A=[0, 1, 1300], B=[7])
    press(app, "add-statement")
    workspace = workspace_of(app)
    assert (
        workspace.undo_name
        == f"2 emoji, 1 keywords and {shorten(emoji['emoji'].titles[7], 24)} together"
    )
    said = [links for links in workspace.state.opened().links if links.kind == "said"]
    assert sum(map(len, said)) == 3
    assert not workspace.view_state.groups
    # The named items stay selected, and the refit measures the three pairs.
    assert workspace.view_state.selection.tolist() == [0, 1, 7, 1300]
    assert started[0] is None
    assert len(NEW[0]) == 3
    assert set(NEW[0]) <= set(hetviz.statements(workspace.state.opened())["key"])
    # A contradicting statement shows a warning and can be added anyway.
    page_of(app).part(StatementState).draft = StatementDraft("apart", -1.0)
    grouped(app, A=[0], B=[7])
    assert "These have a link together" in html_of(app)
    assert app.button(key="add-statement").label == "Move the map anyway"
    press(app, "add-statement")
    assert str(workspace.undo_name).endswith("apart")


def test_switched_off_set_frees_its_items(
    visit: Visit, started: list[Any], emoji: HeteroData
) -> None:
    app = visit("guidance")
    next(one for one in app.toggle if "antonym" in one.label).set_value(False).run()
    workspace = workspace_of(app)
    assert workspace.state.off == {"antonym"}
    antonyms = next(links for links in emoji.links if links.kind == "antonym")
    ends = set(antonyms.i + emoji.offsets[antonyms.source].start)
    ends |= set(antonyms.j + emoji.offsets[antonyms.target].start)
    assert set(started[-1].tolist()) == ends
    next(one for one in app.toggle if "antonym" in one.label).set_value(True).run()
    assert not workspace.state.off


def test_manual_refit_waits_for_request(visit: Visit, started: list[Any]) -> None:
    app = visit("guidance")
    app.toggle(key="refit-each").set_value(False).run()
    press(grouped(app, A=[0], B=[7]), "add-statement")
    assert started == []
    press(app, "refit-now")
    assert len(started) >= 1


def test_comparison_warns_of_unsupported_method(
    visit: Visit, started: list[Any], emoji: HeteroData
) -> None:
    app = visit("map")
    page_of(app).part(StatementState).draft = StatementDraft("closer")
    grouped(app, A=[0, 1], B=[5], C=[9, 10])
    assert "does not use comparisons. The map does not move" in html_of(app)
    before = len(emoji.comparisons or ())
    press(app, "add-statement")
    assert len(workspace_of(app).state.opened().comparisons or ()) == before + 4
    assert started == []


def test_group_is_labelled(visit: Visit, started: list[Any], emoji: HeteroData) -> None:
    app = visit("map")
    page_of(app).part(StatementState).draft = StatementDraft("label")
    grouped(app, A=[0, 1, 1300])
    app.text_input(key="label-value").set_value("odd ones").run()
    press(app, "act-label")
    data = workspace_of(app).state.opened()
    told = {
        label.dataset: sum(value == "odd ones" for value in label.values)
        for label in data.labels
        if label.name == "my label 1"
    }
    assert told["emoji"] == 2
    assert told["keywords"] == 1
    # The label has its own column, and the data stay as they are.
    assert {label.name for label in data.labels if "odd ones" in label.values} == {"my label 1"}
    groups = {label.name: label for label in emoji.labels if label.dataset == "emoji"}
    for label in data.labels:
        if label.dataset == "emoji" and label.name in groups:
            assert list(label.values) == list(groups[label.name].values)
    # The colours of the data stay the same.
    state = workspace_of(app).state
    assert state.view.colour is None or "my label" not in str(state.view.colour)
    key = next(one.key for one in colour_options(data) if "group" in one.key.lower())
    assert colouring(data, key).code.tolist() == colouring(emoji, key).code.tolist()
    # A label does not refit a map whose method ignores labels.
    assert started == []


def test_browser_requests_are_handled_or_ignored(visit: Visit, started: list[Any]) -> None:
    from hetviz.ui.shell import session
    from hetviz.ui.statements import messages

    app = visit("map")
    workspace = workspace_of(app)
    data = workspace.state.opened()
    kept: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "workspace", lambda: workspace)
        patch.setattr(page_state, "st", SimpleNamespace(session_state=kept))
        packed = base64.b64encode(pack_rows([4, 5], data.n_rows).tobytes()).decode()
        rows = workspace.view_state.fingerprint

        def request(n: Any, rows: str = rows, **fields: Any) -> dict[str, Any]:
            return {"fingerprint": rows, "requests": [{"number": n, **fields}]}

        messages.handle_requests(request(7, kind="group", group="A", packed=packed))
        assert workspace.view_state.groups["A"].tolist() == [4, 5]
        for bad in (
            None,
            {"fingerprint": rows},
            request(8, kind="statement", statement="sing"),
            request("9", kind="group", group="B", packed=packed),
            request(10, "other", kind="group", group="B", packed=packed),
            # Handled already.
            request(7, kind="group", group="B", packed=packed),
        ):
            messages.handle_requests(bad)
        assert list(workspace.view_state.groups) == ["A"]
        places = workspace.state.run.embedding.coordinates["emoji"]  # type: ignore[union-attr]
        messages.handle_requests(request(11, kind="drop", row=3, x=1e9, y=float("nan")))
        assert list(workspace.view_state.groups) == ["A"]
        x, y = places[8]
        messages.handle_requests(request(12, kind="drop", row=3, x=x, y=y))
        groups = workspace.view_state.groups
        assert groups["A"].tolist() == [3]
        assert len(groups["B"]) == 4
        assert 8 in groups["B"]
        assert kept["page-state"].part(StatementState).draft.dropped[0] == 3
        # Dropped onto another item, it belongs with that one alone.
        for number, onto in enumerate((3, -1, 10**9), 13):
            messages.handle_requests(request(number, kind="drop", row=3, x=x, y=y, onto=onto))
        assert len(workspace.view_state.groups["B"]) == 4
        messages.handle_requests(request(30, kind="drop", row=3, x=x, y=y, onto=8))
        assert {name: rows.tolist() for name, rows in workspace.view_state.groups.items()} == {
            "A": [3],
            "B": [8],
        }
        draft = kept["page-state"].part(StatementState).draft
        assert (draft.kind, draft.dropped) == ("together", None)


def test_comparisons_use_all_items_of_group_equally(emoji: HeteroData) -> None:
    groups = {name: np.arange(start, start + n) for name, start, n in
              (("A", 0, 4), ("B", 10, 3), ("C", 20, 5))}  # fmt: skip
    every = commands.draft_comparisons(emoji, groups, StatementDraft("closer", max_pairs=60))
    assert (every.n, every.n_possible) == (60, 60)
    rows = {tuple(map(tuple, row)) for row in every.commands[0].rows}  # type: ignore[attr-defined]
    assert len(rows) == 60
    few = commands.draft_comparisons(emoji, groups, StatementDraft("closer", max_pairs=8))
    assert [sum(row[0][1] == emoji["emoji"].ids[k] for row in few.commands[0].rows)  # type: ignore[attr-defined]
            for k in range(4)] == [2, 2, 2, 2]  # fmt: skip


def test_cycle_contradiction_is_shown_before_adding(visit: Visit, emoji: HeteroData) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    first, second, third = emoji["emoji"].ids[[200, 500, 800]]
    workspace.do(AddLinks("emoji", "emoji", [[first, second], [second, third]], 1.0))
    grouped(app, A=[200], B=[800])
    assert "as together through" not in html_of(app)
    page_of(app).part(StatementState).draft = StatementDraft("apart", -1.0)
    app.run()
    assert "as together through" in html_of(app)
    assert app.button(key="add-statement").label == "Move the map anyway"
    press(app, "add-statement")
    report = hetviz.guidance_report(workspace.state.data)
    assert any(len(conflict.keys) == 3 for conflict in report.conflicts)


def test_label_column_of_data_is_replaced_only_with_warning(emoji: HeteroData) -> None:
    label = next(one for one in emoji.labels if one.dataset == "emoji")
    rows = np.array([0, 1, 2])
    assert commands.own_label_column(emoji) == "my label 1"
    first = str(emoji["emoji"].ids[0])
    mine = with_annotations(emoji, "emoji", "my label 3", [(first, "x", "", "")])
    assert commands.own_label_column(mine) == "my label 3"
    assert commands.count_overwritten(emoji, rows, label.name, str(label.values[0])) == sum(
        label.values[row] != label.values[0] for row in rows
    )
    assert commands.count_overwritten(emoji, rows, label.name, "none of these") == 3
    assert commands.count_overwritten(emoji, rows, "my label 1", "x") == 0
