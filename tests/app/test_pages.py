"""Tests of each page without a browser: content and commands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from hetviz.errors import HetvizError
from hetviz.jobs import Task
from hetviz.jobs.tasks import maps
from hetviz.ui.jobs.jobs import JOBS, Kind
from hetviz.ui.shell import background
from hetviz.workspace import SESSIONS, EndJob, RenameDataset, SetView, StartJob, Workspace
from hetviz.workspace.sessions import new_session_id
from tests.app.conftest import Visit, go, html_of, page_of, sid_of, unfold, workspace_of

PLANTS = "id,name,size,weight\n" + "".join(
    f"{k:03d},Oak {k},{k * 7 % 11},{k * 5 % 13}\n" for k in range(20)
)
BIRDS = "id,name,span,mass\n" + "".join(
    f"b{k},<b>Kite</b> ${k}$,{k * 3 % 7},{k * 4 % 9}\n" for k in range(15)
)
LINKS = "source_dataset,source_id,target_dataset,target_id,weight\n" + "".join(
    f"plants,{k:03d},birds,b{k % 15},1\n" for k in range(20)
)


def upload(app: AppTest, **files: str | bytes) -> AppTest:
    given = [
        (
            name.replace("_", "."),
            text if isinstance(text, bytes) else text.encode(),
            "text/csv",
        )
        for name, text in files.items()
    ]
    # Each dataset on the Data page has its own uploader for a newer version.
    drop = next(one for one in app.file_uploader if not str(one.key).startswith("newer-"))
    return drop.set_value(given).run()


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def map_of(app: AppTest, component: str = "hetviz_map") -> dict[str, Any]:
    """Return what the map in the browser is told, or another component."""
    elements = [e.proto for e in app.get("bidi_component")]
    told: dict[str, Any] = json.loads(
        next(e.json for e in elements if e.component_name == component)
    )
    return told


def ops(workspace: Workspace) -> list[str]:
    return [entry["op"] for entry in workspace.log]


def test_first_visit_shows_map(visit: Visit) -> None:
    app = visit()
    assert "<h1>1,273 emoji and 621 keywords on one map</h1>" in html_of(app)
    spec = map_of(app)
    assert [dataset["symbol"] for dataset in spec["datasets"]] == ["circle", "diamond"]
    assert (spec["mode"], spec["place"]) == ("look", "start")
    assert ops(workspace_of(app)) == ["open-sample"]


def test_map_accepts_any_session_id(visit: Visit) -> None:
    sid = "__--__" + new_session_id()[6:]
    SESSIONS.get(sid)
    assert map_of(visit("map", sid))["session"] == sid


def test_sample_opens_and_undo_restores_first(visit: Visit) -> None:
    app = press(visit(), "open-world")
    # Its map opens at once.
    assert "hv-at-map" in html_of(app)
    assert workspace_of(app).state.source == "sample:world"
    assert app.button(key="undo").label == "Undo open sample"
    press(app, "undo")
    assert workspace_of(app).state.source == "sample:emoji"
    assert app.button(key="redo").label == "Redo open sample"


def test_same_id_finds_same_workspace(visit: Visit) -> None:
    first = press(visit(), "open-world")
    again = visit("data", sid_of(first))
    assert "countries" in html_of(again)


def test_own_files_are_read_and_mapped(visit: Visit) -> None:
    app = upload(visit(), plants_csv=PLANTS, birds_csv=BIRDS, links_csv=LINKS)
    assert "20 plants and 15 birds with 20 links" in html_of(app)
    assert app.button(key="go-on").label == "Create map"
    assert ops(workspace_of(app)) == ["open-sample"]
    press(app, "go-on")
    state = workspace_of(app).state
    assert state.data is not None
    assert state.run is not None
    assert state.is_current(state.run)
    assert ops(workspace_of(app)) == ["open-sample", "add-tables", "start-job", "record-map"]


def test_invalid_rows_are_listed_and_can_be_skipped(visit: Visit) -> None:
    app = upload(
        visit(), plants_csv=PLANTS, birds_csv=BIRDS, links_csv=LINKS + "plants,x,birds,b1,1\n"
    )
    table = html_of(app)
    assert "<td>links.csv, row 21" in table
    assert "<td>x</td>" in table
    assert "What to do</th>" in table
    press(app, "go-on")
    data = workspace_of(app).state.data
    assert data is not None
    assert sum(map(len, data.links)) == 20


@pytest.mark.parametrize(
    ("files", "words", "label"),
    [
        ({"page_html": "<html></html>"}, "1 file cannot be used.", "this file"),
        (
            {"page_html": "<html></html>", "none_csv": ""},
            "2 files cannot be used.",
            "these files",
        ),
        (
            {"page_html": "<html></html>", "links_csv": LINKS + "plants,x,birds,b1,1\n"},
            "2 rows or files cannot be used.",
            "these rows and files",
        ),
        ({"links_csv": LINKS + "plants,x,birds,b1,1\n"}, "1 row cannot", "this row"),
    ],
)
def test_button_names_skipped_rows_or_files(
    visit: Visit, files: dict[str, str], words: str, label: str
) -> None:
    app = upload(visit(), plants_csv=PLANTS, birds_csv=BIRDS, **files)
    assert words in html_of(app)
    assert app.button(key="go-on").label == f"Continue without {label}"
    press(app, "go-on")
    assert workspace_of(app).state.data is not None


def test_cancelled_upload_changes_nothing(visit: Visit) -> None:
    app = upload(visit(), plants_csv=PLANTS, links_csv=LINKS)
    press(app, "leave")
    assert ops(workspace_of(app)) == ["open-sample"]
    assert "1,273 emoji" in html_of(app)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 no zip", b"\x00\x01\x02\xff\xfe", b"%PDF-1.7"]
)
def test_broken_file_is_reported_and_nothing_lost(visit: Visit, content: bytes) -> None:
    app = upload(visit(), broken_csv=content)
    assert not app.exception
    assert "could not be read" in html_of(app)
    assert "<td>broken.csv" in html_of(app)
    press(app, "leave")
    assert "1,273 emoji" in html_of(app)


def test_names_from_files_are_escaped(visit: Visit) -> None:
    app = upload(visit(), **{"<img src=x>_csv": PLANTS, "birds_csv": BIRDS})
    assert "<img src=x>" not in html_of(app)
    assert "&lt;img src=x&gt;" in html_of(app)


def test_data_page_has_card_per_dataset(visit: Visit) -> None:
    app = visit("data")
    text = html_of(app)
    assert "1,273 rows, 48 features" in text
    assert "emoji – keywords: tagged" in text
    emoji, keywords = map_of(app, "hetviz_sheets")["sheets"]
    assert (emoji["size"], emoji["note"]) == ("1,273 × 8", "named by Name")
    assert len(emoji["above"]) + emoji["between"] + len(emoji["below"]) == 1273
    assert all(face.startswith("/hv/picture/") for _, _, face in emoji["above"])
    count = next(one for one in keywords["columns"] if one["raw"] == "n_emoji")
    assert (count["name"], count["short"]) == ("Number of emoji", "whole number")
    assert sum(count["counts"]) == 621


def test_dataset_is_renamed_and_removed(visit: Visit) -> None:
    app = visit("data")
    app.text_input(key="new-name-0-emoji").set_value("pictograms")
    press(app, "do-rename-0")
    assert "pictograms" in html_of(app)
    press(app, "do-remove-1")
    state = workspace_of(app).state
    assert state.data is not None
    assert list(state.data.datasets) == ["pictograms"]
    press(press(app, "undo"), "undo")
    assert "1,273 emoji and 621 keywords" in html_of(app)


def test_name_in_use_is_refused(visit: Visit) -> None:
    app = visit("data")
    app.text_input(key="new-name-0-emoji").set_value("keywords")
    press(app, "do-rename-0")
    assert len(app.error) == 1
    assert "keywords" in app.error[0].value
    assert ops(workspace_of(app)) == ["open-sample"]


def test_files_are_added_on_data_page(visit: Visit) -> None:
    app = upload(visit("data"), plants_csv=PLANTS)
    press(app, "go-on")
    state = workspace_of(app).state
    assert state.data is not None
    assert list(state.data.datasets) == ["emoji", "keywords", "plants"]
    assert "Data changed since this map" in html_of(app)


def test_map_page_shows_curve_measures_and_reasons(visit: Visit) -> None:
    app = unfold(visit("map"), "maker-0", "map-settings")
    text = html_of(app)
    assert len(app.get("plotly_chart")) == 1
    assert map_of(app)["mode"] == "work"
    assert "Link closeness" in text
    assert "Does not use 399 comparisons." in text
    assert "Paler: keywords take the colour of what they link to." in map_of(app)["notes"]


def test_colour_is_a_command(visit: Visit) -> None:
    app = visit("map")
    offered = [option["key"] for option in map_of(app)["colours"]]
    assert "dataset" in offered
    assert len(set(offered)) == len(offered) > 3
    workspace_of(app).do(SetView(colour="dataset"))
    app.run()
    assert map_of(app)["colour"]["categories"] == ["Emoji", "Keywords"]


@pytest.mark.usefixtures("few_emoji")
def test_method_runs_with_held_out_links(visit: Visit) -> None:
    app = press(visit(), "open-digits")
    go(app, "map")
    unfold(app, "maker-0")
    app.toggle(key="hold").set_value(True).run()
    press(app, "run")
    app.run()
    state = workspace_of(app).state
    run = state.run
    assert run is not None
    assert run.hold_out == 0.2
    assert run.figures is not None
    assert set(run.figures["curves"]) == {"given", "held_out"}
    assert "hidden</th>" in html_of(app)
    press(app, "show-shipped")
    assert workspace_of(app).state.chosen == "shipped"


@pytest.mark.usefixtures("few_emoji")
def test_notes_of_method_are_shown_below_map(visit: Visit) -> None:
    app = press(visit(), "open-digit-views")
    JOBS.start(
        sid_of(app),
        Kind.REQUESTED,
        "Heterogeneous spectral mapping (HeMap)",
        Task(
            "make-map",
            {
                "data": workspace_of(app).state.data,
                "method": "hemap",
                "params": {"pairing": "random"},
                "seed": 0,
                "hold_out": 0.0,
            },
        ),
        background.on_job_end,
        {"arguments": {}, "only": None, "fingerprint": ""},
    )
    go(app, "map")
    assert any("Items were paired at random" in said for said in map_of(app)["notes"])


def test_unsuitable_method_shows_reason_and_is_disabled(visit: Visit) -> None:
    app = upload(visit(), plants_csv=PLANTS)
    press(app, "go-on")
    unfold(go(app, "map"), "maker-0")
    app.selectbox(key="method").set_value("guided-projection").run()
    assert app.button(key="run").disabled
    assert 'class="hv-reasons no"' in html_of(app)


def test_failed_run_shows_message(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise HetvizError("The links contradict each other.")

    monkeypatch.setattr(maps, "fit_run", fail)
    app = press(unfold(visit("map"), "maker-0"), "run")
    assert "contradict" in app.error[0].value
    assert ops(workspace_of(app)) == ["open-sample", "start-job", "end-job"]
    assert len(workspace_of(app).state.runs) == 1
    press(app, "dismiss")
    assert not app.error
    press(app, "run")
    monkeypatch.undo()
    assert not app.button(key="again").disabled


def test_job_lost_by_server_can_be_restarted(
    visit: Visit,
) -> None:
    app = visit("map")
    note = {
        "task": "hetviz.jobs.tasks.maps:make_map",
        "arguments": {"method": "pca", "params": {}, "seed": 0, "hold_out": 0.0},
        "only": None,
        "fingerprint": "",
    }
    workspace_of(app).do(StartJob("j1", "Block-scaled PCA", note))
    SESSIONS.close()
    app.run()
    assert "was interrupted" in app.info[0].value
    press(app, "again")
    assert not app.info
    run = workspace_of(app).state.run
    assert run is not None
    assert run.method == "pca"


def test_bar_shows_up_to_date_only_without_job(visit: Visit) -> None:
    app = visit("map")
    assert "Map up to date" in html_of(app)
    # Noted, but not with the runner yet, as a first map may be made in between.
    workspace_of(app).do(StartJob("j1", "First map"))
    app.run()
    assert "Map up to date" not in html_of(app)
    assert "Working …" in html_of(app)
    workspace_of(app).do(EndJob("j1", "cancelled", "Nothing was changed."))
    app.run()
    assert "Map up to date" in html_of(app)


def test_selected_items_are_shown_with_name_and_picture(visit: Visit) -> None:
    app = visit("map")
    workspace_of(app).set_view_state(selection=[0, 1300])
    app.run()
    text = html_of(app)
    assert "2 selected" in text
    assert "grinning face</button></div>" in text
    press(app, "clear")
    assert "2 selected" not in html_of(app)


def test_change_in_other_tab_is_shown(visit: Visit) -> None:
    app = visit("data")
    workspace_of(app).do(RenameDataset("emoji", "pictograms"))
    app.run()
    assert "1,273 pictograms" in html_of(app)


def test_file_is_read_again_with_options(visit: Visit) -> None:
    text = "code;key\n" + "".join(f"{k};x{k}\n" for k in range(20))
    app = upload(visit(), things_csv=text)
    app.text_input(key="reading-0-id").set_value("key")
    app.selectbox(key="reading-0-separator").set_value(";")
    next(button for button in app.button if button.label == "Read again").click().run()
    assert "ids from column &#x27;key&#x27;" in html_of(app)
    press(app, "go-on")
    data = workspace_of(app).state.data
    assert data is not None
    assert data["things"].ids[3] == "x3"


def test_data_without_suitable_method_show_message(visit: Visit) -> None:
    app = press(upload(visit(), one_csv="id,x\n1,2\n"), "go-on")
    go(app, "map")
    assert "These data cannot be mapped yet" in html_of(app)
    assert not app.error


def test_message_leaves_map_in_its_place(visit: Visit) -> None:
    app = visit("map")
    # The browser draws a map again that comes at another place of the page.
    n_before = len(app.main.children)
    page_of(app).messages.append(("error", "Nothing was saved"))
    app.run()
    assert [error.value for error in app.error] == ["Nothing was saved"]
    assert len(app.main.children) == n_before
