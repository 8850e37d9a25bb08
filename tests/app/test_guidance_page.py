"""Tests of the Guidance page without a browser: content and commands."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from hetviz.data.model.statements import statements
from hetviz.data.queries import search
from hetviz.data.queries.groups import NamedGroup, named_groups
from hetviz.io import guidance_csv
from hetviz.ui.guidance import editor
from hetviz.ui.guidance.curves import CurvePoint, is_unmet
from hetviz.ui.guidance.group_table import change_commands
from hetviz.ui.guidance.table import in_earlier_order, positions_in
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.widgets import set_switches
from hetviz.workspace import Act, AddPairs, EditStatements, SetLabels, SwitchSet
from tests.app.conftest import Visit, html_of, workspace_of
from tests.app.test_pages import ops, press
from tests.workspace.helpers import record_map

pytestmark = pytest.mark.usefixtures("few_emoji")

MANY = 4_130


def shown(app: AppTest, form: str) -> AppTest:
    """Choose links, comparisons or labels."""
    app.segmented_control(key="guidance-form").set_value(form).run()
    assert not app.exception
    return app


def table(app: AppTest, name: str = "table-link") -> pd.DataFrame:
    return next(t for t in app.data_editor if (t.key or "").startswith(name)).value


@pytest.mark.usefixtures("whole_emoji")
def test_headline_shows_counts_and_share_of_close_links(visit: Visit) -> None:
    app = visit("guidance")
    page = html_of(app)
    assert re.search(r"\d+ % of your links ended up close together", page)
    assert "4,130 links, 399 comparisons and 1,894 labels." in page
    assert "By chance it would be 50 %." in page
    rows = table(app)
    assert len(rows) == 200
    together = rows[rows["weight"] > 0]
    assert list(together["near"]) == sorted(together["near"])
    assert set(rows["fate"]) == {"not met"}
    # The second page by its button, the last one by its number.
    app.session_state["page-link-21"] = 2
    app.run()
    field = app.number_input(key="page-link-21-to")
    assert (field.value, field.min, field.max) == (2, 1, 21)
    field.set_value(21).run()
    assert len(table(app)) == MANY % 200
    assert app.session_state["page-link-21"] == app.number_input(key="page-link-21-to").value == 21


def test_headline_and_curve_show_same_share(visit: Visit) -> None:
    page = html_of(visit("guidance"))
    share = re.search(r"(\d+) % of your links ended up close together", page)
    chance = re.search(r"By chance it would be (\d+) %", page)
    best = re.search(r"Best map so far: (\d+) %", page)
    assert share is not None and chance is not None and best is not None
    words = f"{share[1]} % of the links are close, among the closest {chance[1]} % of all pairs."
    assert words in page
    assert int(best[1]) >= int(share[1])


@pytest.mark.usefixtures("whole_emoji")
def test_unmet_statements_follow_point_of_curve(
    visit: Visit,
) -> None:
    app = visit("guidance")
    count = re.compile(r"<[^>]*>Links still far[^<]*</[^>]*>\s*<[^>]*>([\d,]+) of 4,111")
    lost = []
    field = next(one for one in app.number_input if (one.key or "").startswith("look-at-links"))
    for share in (1.0, 4.0, 25.0):
        app.number_input(key=field.key).set_value(share).run()
        assert not app.exception
        page = html_of(app)
        found = count.search(page)
        assert found is not None
        lost.append(int(found[1].replace(",", "")))
        assert f"are among the closest {share:.3g} % of all pairs." in page
    assert lost[0] > lost[1] > lost[2] > 0
    app.number_input(key=field.key).set_value(100.0).run()
    assert "The map fits all 4,111." in html_of(app)


def test_is_unmet_depends_on_share() -> None:
    rows = pd.DataFrame({"near": [0.97, 0.90, 0.97, 0.90], "weight": [1.0, 1.0, -1.0, -1.0]})
    assert is_unmet(rows, CurvePoint("links", 0.05)).tolist() == [False, True, True, False]
    assert is_unmet(rows, CurvePoint("links", 0.2)).tolist() == [False, False, True, True]
    # Close pairs that are half, equally and twice as long as the far ones.
    rows = pd.DataFrame({"near": [2 / 3, 0.5, 1 / 3], "weight": 1.0})
    assert is_unmet(rows, CurvePoint("comparisons", 1.0)).tolist() == [False, True, True]
    assert is_unmet(rows, CurvePoint("comparisons", 0.4)).tolist() == [True, True, True]


def test_filters_select_rows(visit: Visit) -> None:
    app = visit("guidance")
    app.selectbox(key="which-link").set_value("those met").run()
    assert set(table(app)["fate"]) == {"met"}
    app.selectbox(key="which-set-link").set_value("antonym").run()
    assert (table(app)["weight"] < 0).all()
    app.selectbox(key="which-link").set_value("all of them").run()
    app.selectbox(key="which-set-link").set_value("in all sets").run()
    pair = app.selectbox(key="which-pair-link")
    assert pair.options == ["of all datasets", "emoji – keywords", "within keywords"]
    pair.set_value("within keywords").run()
    assert len(table(app)) == 192
    app.selectbox(key="which-pair-link").set_value("of all datasets").run()
    app.text_input(key="find-link").set_value("BLACK cat").run()
    assert set(table(app)["p"]) == {"black cat"}


def test_bulk_edit_is_one_step(visit: Visit) -> None:
    app = visit("guidance")
    app.selectbox(key="which-set-link").set_value("antonym").run()
    app.slider(key="bulk-weight-link").set_value(-0.25).run()
    press(app, "bulk-set-link")
    workspace = workspace_of(app)
    said = statements(workspace.state.opened())
    assert set(said[said["set"] == "antonym"]["weight"]) == {-0.25}
    assert (said["weight"] == -0.25).sum() == 19
    assert set(table(app)["weight"]) == {-0.25}
    press(app, "bulk-remove-link")
    assert len(statements(workspace.state.opened())) == len(said) - 19
    workspace.undo()
    assert len(statements(workspace.state.opened())) == len(said)


def test_edit_and_undo_show_in_table(visit: Visit) -> None:
    app = visit("guidance")
    before = table(app)
    workspace = workspace_of(app)
    key = str(before.index[3])
    workspace.do(EditStatements({key: {"weight": 0.125, "note": "seen twice"}}))
    app.run()
    assert table(app).loc[key, "weight"] == 0.125
    assert table(app).loc[key, "note"] == "seen twice"
    assert list(table(app).index) == list(before.index)
    workspace.undo()
    app.run()
    assert table(app).loc[key, "weight"] == before.loc[key, "weight"]


def test_switching_set_off_offers_refit(visit: Visit) -> None:
    app = visit("guidance")
    assert not any(button.key == "refit" for button in app.button)
    # No refit without a request.
    app.toggle(key="refit-each").set_value(False).run()
    app.toggle(key="set-synonym-True").set_value(False).run()
    workspace = workspace_of(app)
    assert workspace.state.off == {"synonym"}
    assert any(button.key == "refit" for button in app.button)
    workspace.undo()
    app.run()
    assert app.toggle(key="set-synonym-True").value is True


def test_switched_off_set_can_be_listed(visit: Visit) -> None:
    app = visit("guidance")
    workspace_of(app).do(SwitchSet("synonym", False))
    app.run()
    app.selectbox(key="which-link").set_value("switched off").run()
    assert len(table(app)) == 173


def test_refit_uses_current_guidance(visit: Visit) -> None:
    app = visit("guidance")
    app.selectbox(key="which-set-link").set_value("antonym").run()
    press(app, "bulk-remove-link")
    press(app, "refit")
    state = workspace_of(app).state
    assert state.run is not None
    assert state.is_current(state.run)


@pytest.mark.usefixtures("whole_emoji")
def test_link_is_added(visit: Visit) -> None:
    app = visit("guidance")
    data = workspace_of(app).state.opened()
    assert app.button(key="add-link").disabled
    app.selectbox(key="add-p-row").set_value(0).run()
    app.selectbox(key="add-q-row").set_value(0).run()
    assert app.button(key="add-link").disabled
    assert "Choose two different items." in html_of(app)
    app.selectbox(key="add-q-row").set_value(data.n_rows - 1)
    app.slider(key="add-weight").set_value(-0.5)
    app.text_input(key="add-note").set_value("not alike").run()
    press(app, "add-link")
    said = statements(workspace_of(app).state.opened())
    row = said[(said["form"] == "link") & (said["note"] == "not alike")]
    assert list(row["weight"]) == [-0.5]
    assert len(said) == MANY + 399 + 1


def test_comparison_is_added(visit: Visit) -> None:
    app = shown(visit("guidance"), "comparison")
    app.segmented_control(key="add-way").set_value("Closer to").run()
    for key, row in (("add-a-row", 0), ("add-b-row", 1), ("add-c-row", 2)):
        app.selectbox(key=key).set_value(row)
    app.run()
    press(app, "add-comparison")
    compared = workspace_of(app).state.opened().comparisons
    assert compared is not None
    assert compared.objects[-1].tolist() == [0, 1, 2]
    # The newest set is first.
    assert table(app, "table-comparison").index[0] == statements_key(app)


def statements_key(app: AppTest) -> str:
    return str(statements(workspace_of(app).state.opened())["key"].iloc[-1])


def test_column_gives_links_of_typical_items(visit: Visit) -> None:
    app = visit("guidance")
    app.segmented_control(key="add-way").set_value("From a column").run()
    label = next(button.label for button in app.button if button.key == "do-derive")
    press(app, "do-derive")
    assert ops(workspace_of(app))[-1] == "add-pairs"
    said = statements(workspace_of(app).state.opened())
    made = said[said["set"].str.startswith("from ")]
    assert label == f"Add {len(made):,} links"
    assert (made["weight"] == 1).all()


@pytest.mark.parametrize(
    "way", ["same value: closer than another", "same branch of a tree: closer"]
)
def test_column_gives_comparisons(way: str, visit: Visit) -> None:
    app = visit("guidance")
    app.segmented_control(key="add-way").set_value("From a column").run()
    chosen = next(box for box in app.selectbox if (box.key or "").startswith("derive-way"))
    chosen.set_value(way).run()
    if not any(button.key == "do-derive" for button in app.button):
        # A tree of one level without shared branches gives nothing and a message.
        assert "Choose another column" in html_of(app)
        return
    press(app, "do-derive")
    said = statements(workspace_of(app).state.opened())
    assert (said["set"].str.startswith("from ")).sum() == 200


def test_label_is_set_in_table(visit: Visit) -> None:
    app = shown(visit("guidance"), "label")
    assert {"item", "label"} <= set(table(app, "table-label").columns)
    app.segmented_control(key="add-way").set_value("Label").run()
    app.selectbox(key="add-labelled-row").set_value(2)
    app.text_input(key="add-label-column").set_value("my group")
    app.text_input(key="add-label-value").set_value("first").run()
    press(app, "add-label")
    label = workspace_of(app).state.opened().label("my group")
    assert label is not None
    assert label.values[2] == "first"


def test_comparisons_are_sentences_that_open_the_map(visit: Visit) -> None:
    app = shown(visit("guidance"), "comparison")
    page = html_of(app)
    assert "Comparisons not met" in page
    assert "How comparisons are used" in page
    press(app, "broken-comparison-show-0")
    assert len(workspace_of(app).view_state.selection) == 3
    assert any(
        element.proto.component_name == "hetviz_map" for element in app.get("bidi_component")
    )


def test_browser_edits_apply_to_base_table() -> None:
    base = pd.DataFrame(
        {"weight": [1.0, 0.5], "note": ["", "old"], "score": [float("nan"), 2.0]}, index=["a", "b"]
    )
    wanted = editor.with_edits(
        base, {0: {"weight": -1, "score": 3}, 1: {"note": None, "score": None}, 7: {"weight": 1}}
    )
    assert editor.changed_cells(base, wanted) == {
        "a": {"weight": -1.0, "score": 3.0},
        "b": {"note": "", "score": pytest.approx(float("nan"), nan_ok=True)},
    }
    assert editor.changed_cells(base, base) == {}
    assert base.loc["a", "weight"] == 1.0


FILE = """source_dataset,source_id,target_dataset,target_id,weight,note
emoji,1f408-200d-2b1b,keywords,k_dog,-1,not a dog
emoji,nobody,keywords,k_dog,1,
emoji,1f408-200d-2b1b,keywords,k_cat,seven,
"""


def hand_in(app: AppTest, text: str) -> AppTest:
    uploader = next(u for u in app.file_uploader if (u.key or "").startswith("guidance-upload"))
    uploader.set_value([("said.csv", text.encode(), "text/csv")]).run()
    assert not app.exception
    return app


@pytest.mark.usefixtures("whole_emoji")
def test_guidance_file_is_reviewed_row_by_row(visit: Visit) -> None:
    app = hand_in(visit("guidance"), FILE)
    page = html_of(app)
    assert "said.csv: 1 of 3 rows can be added" in page
    assert "1 new" in page
    assert "nobody" in page
    assert "seven" in page
    assert len(statements(workspace_of(app).state.opened())) == MANY + 399
    press(app, "import-guidance")
    said = statements(workspace_of(app).state.opened())
    assert list(said[said["note"] == "not a dog"]["weight"]) == [-1.0]
    assert len(said) == MANY + 399 + 1
    assert "4,131 links" in html_of(app)


def test_guidance_file_without_news_adds_nothing(visit: Visit) -> None:
    app = visit("guidance")
    workspace = workspace_of(app)
    ids = workspace.state.opened()["emoji"].ids
    workspace.do(SetLabels("emoji", "my label 1", {str(ids[0]): "odd"}))
    text = guidance_csv(workspace.state.opened())
    app = hand_in(app.run(), text)
    n = len(text.splitlines()) - 1
    assert f"said.csv: nothing new in {n:,} rows" in html_of(app)
    assert f"{n:,} already present. Nothing is added." in html_of(app)
    assert not any(button.key == "import-guidance" for button in app.button)
    press(app, "leave-guidance")
    # A file with one changed label.
    app = hand_in(app, text.replace(",odd", ",even"))
    assert "1 label replaced and" in html_of(app)
    press(app, "import-guidance")
    mine = next(one for one in workspace.state.opened().labels if one.name == "my label 1")
    assert [str(value) for value in mine.values if value] == ["even"]


@pytest.mark.usefixtures("whole_emoji")
@pytest.mark.parametrize("text", ["no,guidance\n1,2\n", "", "source_id,target_id\n"])
def test_broken_guidance_file_changes_nothing(text: str, visit: Visit) -> None:
    app = hand_in(visit("guidance"), text)
    assert not any(button.key == "import-guidance" for button in app.button)
    press(app, "leave-guidance")
    assert "4,130 links" in html_of(app)
    assert ops(workspace_of(app)) == ["open-sample"]


def test_group_is_one_editable_row(visit: Visit) -> None:
    app = visit("guidance")
    workspace = workspace_of(app)
    data = workspace.state.opened()
    n_before = len(statements(data))
    items = [["emoji", str(id)] for id in data["emoji"].ids[:5]]
    pairs = [list(pair) for pair in combinations(items[:4], 2)]
    workspace.do(AddPairs(pairs, set="faces", note="mine"))
    app = shown(app, "group")
    row = table(app, "table-groups").loc["faces"]
    assert list(row["items"]) == ["0", "1", "2", "3"]
    assert (row["weight"], row["note"]) == (1.0, "mine")
    links = table(shown(app, "link"))
    assert "faces" not in set(links.get("set", []))

    def change(**cells: Any) -> NamedGroup:
        (group,) = named_groups(workspace.state.opened())
        steps = change_commands(data, group, cells)
        workspace.do(Act(steps, "change of a group"))
        (group,) = named_groups(workspace.state.opened())
        return group

    more = change(items=["0", "1", "3", "4"], weight=0.5)
    assert more.rows.tolist() == [0, 1, 3, 4]
    assert (more.name, more.weight, more.note, len(more.keys)) == ("faces", 0.5, "mine", 6)
    assert change(weight=-1.0, name="not faces").name == "not faces"
    workspace.undo()
    workspace.undo()
    (back,) = named_groups(workspace.state.opened())
    assert (back.rows.tolist(), back.weight) == ([0, 1, 2, 3], 1.0)
    workspace.do(Act(change_commands(data, back, {"items": ["2"]}), "less"))
    assert len(statements(workspace.state.opened())) == n_before
    assert not app.exception


@pytest.mark.parametrize(("value", "switched"), [(True, []), (False, [("antonym", False)])])
def test_unchanged_switch_is_ignored(
    value: bool, switched: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Streamlit reports a change when it forgot the switch of a hidden tab.
    monkeypatch.setattr(set_switches.st, "session_state", {"set-antonym-True": value})
    calls: list[tuple[str, bool]] = []
    set_switches.on_toggle(
        "set-antonym-True", "antonym", True, lambda name, on: calls.append((name, on))
    )
    assert calls == switched


def test_positions_in_finds_moved_rows() -> None:
    old = np.array(["a", "b", "c", "d", "e"], dtype=object)
    for new in ("abcde", "abXcde", "Xabcde", "abcdeX", "acde", "abde", "aYbXe", "", "edcba", "Z"):
        found = positions_in(old, np.array(list(new), dtype=object))
        assert found.tolist() == ["abcde".find(key) for key in new]
    assert positions_in(old[:0], old).tolist() == [-1] * 5


def test_earlier_order_is_stable_with_new_rows_first() -> None:
    # Of five rows, 3, 1, 4 were listed. Now row 1 is gone, 2 is new, and 0 also passes.
    places, first = np.array([0, 3, -1, 2, 4]), np.array([3, 1, 4])
    found = in_earlier_order(np.array([4, 1, 0, 2]), places, first, 5)
    assert found.tolist() == [0, 2, 1, 4]


def test_search_ignores_extra_spaces() -> None:
    for texts in (["a  b", "c"], [" a b", "c"], ["a b ", "c"], ["a\nb", "c"], ["a\tb", "c"]):
        found = search.TextIndex.build(texts)
        assert found.text == "\na b\nc\n"
        assert found.find_all_rows("c").tolist() == [1]
    assert search.TextIndex.build(["a b", "c"]).text == "\na b\nc\n"
    assert search.TextIndex.build([]).find_all_rows("a").tolist() == []


def test_map_stopped_during_measuring_shows_choice(visit: Visit) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    state, known = workspace.state, {"choice": "It keeps most of what is alike."}
    assert state.run is not None
    places = state.embedding(state.run)
    assert places is not None
    workspace.do(
        record_map(
            workspace,
            places,
            fingerprint=state.opened().fingerprint(),
            title="First",
            figures=known,
        )
    )
    run = workspace.state.run
    assert run is not None and run.figures == known
    app.run()
    assert not app.exception
    assert known["choice"] in html_of(app)
    app.switch_page(str(PAGES / "guidance.py")).run()
    assert not app.exception
    assert re.search(r"By chance it would be \d+ %\.", html_of(app))
