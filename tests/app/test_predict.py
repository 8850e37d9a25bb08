"""Tests of the Predict page: links, labels and new items."""

from __future__ import annotations

import io
import json

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from hetviz.runs.predict import label_models
from hetviz.ui.map.panel_view import PanelView
from hetviz.workspace import SESSIONS, Workspace
from tests.app.conftest import Visit, go, html_of, page_of, sid_of, workspace_of
from tests.app.evidence import check_all
from tests.app.test_pages import BIRDS, LINKS, PLANTS, press, upload


def own_data(visit: Visit) -> AppTest:
    """Open 20 plants and 15 birds, each plant linked with a bird, and their first map."""
    app = upload(visit(), plants_csv=PLANTS, birds_csv=BIRDS, links_csv=LINKS)
    return go(press(app, "go-on"), "predict")


def with_candidates(visit: Visit) -> AppTest:
    """Open the same with three links for each plant, so that another may be missing."""
    rows = "".join(
        f"plants,{k:03d},birds,b{(k * step + step) % 15},1\n"
        for k in range(20)
        for step in (1, 2, 4)
    )
    links = LINKS.splitlines()[0] + "\n" + rows
    app = upload(visit(), plants_csv=PLANTS, birds_csv=BIRDS, links_csv=links)
    return go(press(app, "go-on"), "predict")


def found(visit: Visit) -> AppTest:
    app = own_data(visit)
    app.selectbox(key="links-method").set_value("profiles").run()
    return press(app, "find-links")


def said(workspace: Workspace) -> list[tuple[str, str, float, str]]:
    data = workspace.state.data
    assert data is not None
    return [
        (data[g.source].ids[i], data[g.target].ids[j], float(w), g.kind)
        for g in data.links
        if g.kind in ("accepted", "rejected")
        for i, j, w in zip(g.i, g.j, g.weight, strict=True)
    ]


def test_page_opens_with_candidates_and_question(visit: Visit) -> None:
    app = with_candidates(visit)
    text = html_of(app)
    assert "<h1>Should " in text
    assert "<dt>For</dt>" in text
    assert app.button(key="find-links").label == "Find links"
    drawn = next(
        json.loads(element.proto.json)["pairs"]
        for element in app.get("bidi_component")
        if element.proto.component_name == "hetviz_proposed"
    )
    assert len(drawn) == 8
    app.segmented_control(key="predict-section").set_value("Labels").run()
    assert "No label predicted yet" in html_of(app)
    app.segmented_control(key="predict-section").set_value("New item").run()
    assert "Ask the map about something new" in html_of(app)


def test_found_links_have_test_and_evidence(visit: Visit) -> None:
    app = found(visit)
    text = html_of(app)
    assert "<h1>Should " in text
    assert "of the best 10 pairs were hidden links" in text
    assert text.count("hv-pair") >= 8
    assert "<b>Kite</b>" not in text
    kept = workspace_of(app).state.findings["links"]
    assert kept.content["test"]["repeats"] == 3
    assert [chart.proto.spec is not None for chart in app.get("plotly_chart")] == [True]


def test_checked_pairs_become_links_or_apart_and_undo(
    visit: Visit,
) -> None:
    app = found(visit)
    workspace = workspace_of(app)
    best = workspace.state.findings["links"].content["candidates"]
    assert app.button(key="accept-links").disabled
    app.checkbox[0].check().run()
    assert app.button(key="accept-links").label == "Accept 1 as links"
    press(app, "accept-links")
    first = (best[0]["source_id"], best[0]["target_id"])
    assert said(workspace) == [(*first, 1.0, "accepted")]
    assert "Found before the data changed" in html_of(app)
    app.checkbox[0].check().run()
    press(app, "reject-links")
    second = (best[1]["source_id"], best[1]["target_id"])
    assert (*second, -1.0, "rejected") in said(workspace)
    press(press(app, "undo"), "undo")
    assert said(workspace) == []
    assert app.button(key="undo").label == "Undo result"


def test_no_candidates_if_every_item_is_linked(visit: Visit) -> None:
    assert "Every item of plants already has its link" in html_of(own_data(visit))


def test_answer_is_saved_and_next_pair_asked(visit: Visit) -> None:
    app = with_candidates(visit)
    workspace = workspace_of(app)
    press(app, "later-pair")
    press(app, "accept-pair")
    press(app, "reject-pair")
    assert [(weight, kind) for _, _, weight, kind in said(workspace)] == [
        (1.0, "accepted"),
        (-1.0, "rejected"),
    ]
    assert "1 of 2 candidates were right" in html_of(app)
    press(app, "undo-pair")
    assert [kind for *_, kind in said(workspace)] == ["accepted"]
    for _ in range(9):
        press(app, "accept-pair")
    assert "100 % (10 of 10 candidates were right). The expected number was" in html_of(app)


def test_all_shown_pairs_are_checked_and_shown_on_map(visit: Visit) -> None:
    app = press(found(visit), "check-links")
    assert all(box.value for box in app.checkbox)
    assert app.button(key="accept-links").label == "Accept 8 as links"
    assert "<h1>Should " in html_of(app)
    # Predict is also drawn behind another tab, so its text does not show the open tab.
    assert page_of(app).part(PanelView).tab == "Predict"
    press(app, "links-to-map")
    assert len(workspace_of(app).view_state.selection) > 8
    assert page_of(app).part(PanelView).tab == "Item"


def test_links_by_shown_map(visit: Visit) -> None:
    app = own_data(visit)
    app.selectbox(key="links-method").set_value("map").run()
    press(app, "find-links")
    content = workspace_of(app).state.findings["links"].content
    assert content["by_map"]
    assert "no. 1" in html_of(app)
    run = workspace_of(app).state.run
    assert run is not None
    assert content["method"] == run.method


def test_default_is_tested_on_hidden_links_and_items(visit: Visit) -> None:
    app = own_data(visit)
    app.button(key="find-links").click().run()
    content = workspace_of(app).state.findings["links"].content
    assert content["method"] == "stack"
    assert content["test"]["unseen"]["own_scores"]
    groups = content["test"]["by_known_links"]
    assert sum(group["n_links"] for group in groups) == content["test"]["n_links"]
    assert "Known links of the item with fewer" in html_of(app)
    assert all(0.0 <= one["score"] <= 1.0 for one in content["candidates"])


def test_unsuitable_methods_are_listed_with_reason(visit: Visit) -> None:
    app = own_data(visit)
    offered = app.selectbox(key="links-method").options
    assert any("Links of similar items" in name for name in offered)
    assert not any("GNMDS" in name for name in offered)
    assert "It needs comparisons" in html_of(app)


def ask(app: AppTest) -> AppTest:
    next(button for button in app.button if button.label == "Find nearest items").click().run()
    assert not app.exception
    return app


def test_words_are_placed_without_adding_items(visit: Visit) -> None:
    app = own_data(visit)
    workspace = workspace_of(app)
    before = len(workspace.log)
    app.segmented_control(key="predict-section").set_value("New item").run()
    app.text_input(key="new-text-plants").set_value("oak 7")
    text = html_of(ask(app))
    assert "“oak 7” is closest to" in text
    assert "The words were searched in name of the plants" in text
    assert "Nearest birds" in text
    app.text_input(key="new-text-plants").set_value("<i>zebra</i>")
    text = html_of(ask(app))
    assert "could not be placed" in text
    assert "no item has any of these words" in text
    assert "<i>zebra</i>" not in text
    assert len(workspace.log) == before


def test_row_is_placed_by_known_columns(visit: Visit) -> None:
    app = own_data(visit)
    app.segmented_control(key="predict-section").set_value("New item").run()
    app.segmented_control(key="new-kind-plants").set_value("A row").run()
    app.text_input(key="new-plants-size").set_value("3")
    assert "This row is closest to" in html_of(ask(app))
    app.text_input(key="new-plants-size").set_value("heavy")
    assert "could not be placed" in html_of(ask(app))


def test_picture_is_compared_with_pictures(visit: Visit) -> None:
    app = visit()
    # The default would search links among all emoji.
    app.session_state["predict-section"] = "New item"
    go(app, "predict")
    app.segmented_control(key="new-kind-emoji").set_value("A picture").run()
    out = io.BytesIO()
    Image.new("RGB", (40, 40), "red").save(out, "PNG")
    app.file_uploader[0].set_value([("red.png", out.getvalue(), "image/png")]).run()
    assert "This picture is closest to" in html_of(app)
    app.file_uploader[0].set_value([("red.png", b"no picture", "image/png")]).run()
    assert "not a PNG" in app.error[0].value


@pytest.fixture
def with_labels(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    # Smaller forests: the page is tested, not the predictions.
    monkeypatch.setattr(label_models, "_TREES", 20)
    app = press(visit(), "open-world")
    go(app, "predict")
    app.segmented_control(key="predict-section").set_value("Labels").run()
    app.selectbox(key="labels-label-countries").set_value("life_expectancy").run()
    return press(app, "predict-labels")


def test_labels_are_predicted_accepted_and_undone(with_labels: AppTest) -> None:
    app = with_labels
    text = html_of(app)
    assert "predictions of hidden numbers are off by about" in text
    assert "Least certain" in text
    workspace = SESSIONS.find(sid_of(app))
    assert workspace is not None
    n = int(app.button(key="accept-labels").label.split()[1])
    assert n > 5
    key = next(str(box.key) for box in app.number_input if str(box.key).startswith("label-"))
    app.number_input(key=key).set_value(70.0).run()
    assert app.button(key="accept-labels").label == f"Accept {n - 1} labels"
    press(app, "accept-labels")
    assert "nothing to accept" in html_of(app)
    assert [entry["op"] for entry in workspace.log][-2:] == ["set-labels", "set-labels"]
    press(press(app, "undo"), "undo")
    assert app.button(key="accept-labels").label == f"Accept {n} labels"


def test_predicted_links_open_their_rows(visit: Visit) -> None:
    check_all(found(visit), {"link-candidates", "link-test"})


def test_predicted_labels_open_their_rows(with_labels: AppTest) -> None:
    check_all(with_labels, {"predicted-labels", "label-test"})
