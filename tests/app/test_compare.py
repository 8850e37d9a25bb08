"""Tests of the Compare page: choice, run, results, maps side by side and settings."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from hetviz.data import Comparisons, Dataset, HeteroData, Links
from hetviz.jobs import Job
from hetviz.jobs.tasks import compare as tasks
from hetviz.progress import Progress
from hetviz.runs.findings import Findings
from hetviz.ui.compare import method_table, side_by_side
from hetviz.ui.shell import background
from hetviz.workspace import AddLinks, State
from tests.app.conftest import Visit, go, html_of, unfold, workspace_of
from tests.app.evidence import check_all

# Cached results of the worker, by data and settings.
COMPARED: dict[tuple[str, str], bytes] = {}
compare_methods = tasks.compare_methods
PICKED = {"compare-pca", "compare-guided-projection", "compare-cdmca"}

pytestmark = pytest.mark.usefixtures("few_emoji")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path))


@pytest.fixture(autouse=True)
def cached_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the same methods on the same data once; most tests are about what is shown of it."""

    def remembered(data: HeteroData, progress: Progress, **given: Any) -> Findings:
        key = (data.fingerprint(), repr(sorted(given.items())))
        if key not in COMPARED:
            COMPARED[key] = pickle.dumps(compare_methods(data, progress=progress, **given))
        found: Findings = pickle.loads(COMPARED[key])
        return found

    monkeypatch.setattr(tasks, "compare_methods", remembered)


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    assert not app.error
    return app


def compared(visit: Visit, picked: set[str] = PICKED) -> AppTest:
    """Compare three methods on one split."""
    app = visit("compare")
    for box in app.checkbox:
        box.set_value(box.key in picked)
    app.button_group(key="compare-splits").set_value(1)
    return press(app.run(), "compare-run")


def view(app: AppTest, name: str) -> AppTest:
    app.button_group(key="compare-view").set_value(name).run()
    assert not app.exception
    return app


def test_empty_page_shows_next_step(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.ui.shell.session.FIRST_SAMPLE", "no such sample")
    assert "Nothing to compare yet" in html_of(visit("compare"))


@pytest.mark.usefixtures("whole_emoji")
def test_every_method_has_a_row_with_reasons_and_cost(visit: Visit) -> None:
    app = visit("compare")
    text = html_of(app)
    assert "Is there a better map for these data?" in text
    assert "Uses 3,938 links between datasets." in text
    assert re.search(r"About [\d.]+ m?s per fit", text)
    ticked = {box.key for box in app.checkbox if box.value}
    assert {"compare-joint-map", "compare-pca"} <= ticked
    assert "without a fifth of the links and comparisons" in text
    n_methods = sum(1 for key in ticked if str(key).startswith("compare-") and key != "compare-new")
    assert app.button(key="compare-run").label == f"Compare {n_methods} methods"
    # The methods that will run are listed in plain words.
    listed = re.search(r'aria-label="Methods to compare">(.*?)</ul>', text)
    assert listed is not None
    assert listed[1].count("<li>") == n_methods


def test_question_names_only_what_is_hidden() -> None:
    items, link = Dataset("x", list("abcde")), Links("x", "x", [0], [1])
    comparisons = Comparisons([[0, 1, 0, 2]])
    questions = [
        method_table.question_text(State(data=data))
        for data in (
            HeteroData([items]),
            HeteroData([items], [link]),
            HeteroData([items], comparisons=comparisons),
            HeteroData([items], [link], comparisons=comparisons),
        )
    ]
    hidden = [re.findall(r"without a fifth of the (.*?)\.", question) for question in questions]
    assert hidden == [[], ["links"], ["comparisons"], ["links and comparisons"]]


def test_comparison_shows_words_and_numbers(visit: Visit) -> None:
    app = compared(visit)
    kept = workspace_of(app).state.findings["compare"]
    text = html_of(app)
    head = re.search(r"<h1>(.*?)</h1>", text)
    assert head is not None
    assert re.fullmatch(
        r"Guided projection is best at showing links, comparisons, neighbours and labels: \d+ %",
        head[1],
    )
    rows = re.findall(r'<tr><th scope="row">([^<]*).*?</tr>', text)
    assert set(rows) == {
        "Guided projection",
        "Cross-domain matching correlation analysis",
        "Principal components",
    }
    assert kept.content["recommendation"]["sentence"].split(".")[0] in text
    assert len(kept.runs) == 3
    # The working map stays until another is chosen.
    before = workspace_of(app).state.chosen
    assert before not in kept.runs
    press(app, "use-advised")
    assert workspace_of(app).state.chosen in kept.runs
    assert app.button(key="use-advised").disabled


def test_ticked_methods_are_added_to_table(visit: Visit) -> None:
    app = compared(visit, {"compare-pca", "compare-cdmca"})
    before = workspace_of(app).state.findings["compare"]
    assert {box.key for box in app.checkbox}.isdisjoint({"compare-pca", "compare-cdmca"})
    app.checkbox(key="compare-guided-projection").check().run()
    press(app, "compare-run")
    kept = workspace_of(app).state.findings["compare"]
    text = html_of(app)
    places = re.findall(r'hv-rank-place">([^<]*)<', text)
    assert len(places) == 3
    assert places[0].startswith("1")
    # Earlier maps still belong to their rows.
    assert set(kept.content["earlier"]) == {"pca", "cdmca"}
    assert set(kept.content["earlier"].values()) == set(before.runs)
    assert re.findall("The same items on [a-z]* maps", text) == ["The same items on three maps"]
    # All three maps are listed, earlier ones first.
    assert [run.id for run in workspace_of(app).state.runs][1:] == list(kept.runs)
    # Other splits start a new table with all methods to tick.
    app.button_group(key="compare-splits").set_value(3).run()
    assert "compare-pca" in {box.key for box in app.checkbox}


def test_measure_choice_changes_table_and_headline(visit: Visit) -> None:
    app = compared(visit)
    app.selectbox(key="compare-measure").set_value("trustworthiness").run()
    text = html_of(app)
    assert "Principal components is best at showing true neighbours" in text
    first = re.search(r'<tr><th scope="row">([^<]*)', text)
    assert first is not None
    assert first[1] == "Principal components"


def test_moved_items_are_listed_and_selected_on_click(visit: Visit) -> None:
    app = compared(visit)
    buttons = [b for b in app.button if str(b.key).startswith("moved-")]
    assert len(buttons) == 12
    row = int(str(buttons[0].key).removeprefix("moved-"))
    press(app, str(buttons[0].key))
    assert workspace_of(app).view_state.selection.tolist() == [row]


def test_maps_are_aligned_with_first_and_keep_shape(visit: Visit) -> None:
    app = compared(visit)
    state = workspace_of(app).state
    runs = [run for run in state.runs if run.id in state.findings["compare"].runs]
    first, *others = side_by_side.aligned_runs(state, runs)
    assert others
    for one in others:
        for name, Y in first.embedding.coordinates.items():
            Z = one.embedding.coordinates[name]
            assert Z.shape == Y.shape


def test_two_maps_are_side_by_side_without_comparison(visit: Visit) -> None:
    app = visit("compare")
    assert "The map you have" in html_of(app)
    unfold(go(app, "map"), "maker-0")
    press(app, "run")
    app = go(app, "compare")
    assert "The same items on two maps" in html_of(app)


def test_outdated_comparison_is_marked(visit: Visit) -> None:
    app = compared(visit)
    data = workspace_of(app).state.opened()
    pair = [[str(data["emoji"].ids[0]), str(data["keywords"].ids[0])]]
    workspace_of(app).do(AddLinks("emoji", "keywords", pair, 1.0))
    app.run()
    assert "Found before the data changed." in html_of(app)


def test_settings_search_extends_beyond_ends(visit: Visit) -> None:
    app = view(visit("compare"), "Settings")
    app.selectbox(key="sweep-method").set_value("guided-projection").run()
    app.multiselect(key="sweep-settings-guided-projection").set_value(["n_components"]).run()
    app.segmented_control(key="sweep-splits").set_value(1).run()
    app.toggle(key="sweep-grows").set_value(False).run()
    values = app.text_input(key="sweep-values-guided-projection-n_components")
    values.set_value("2, nine").run()
    assert "must be" in app.error[0].value
    values.set_value("2, 4").run()
    assert "3 settings" in html_of(app)
    press(app, "sweep-run")
    state = workspace_of(app).state
    assert list(state.findings["sweep"].content["stills"]) == ["axes 2", "axes 4"]
    assert "On guidance hidden from the search" in html_of(app)
    assert "The best possible value here is" in html_of(app)
    n_maps = len(state.runs)
    press(app, "sweep-make-1")
    run = workspace_of(app).state.run
    assert run is not None
    assert (len(workspace_of(app).state.runs), run.params["n_components"]) == (n_maps + 1, 4)


def test_progress_of_each_method_is_shown(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit("compare")
    parts = (("PCA <b>", 1.0, "done"), ("Other", 0.25, "running"), ("Third", 0.0, "waiting"))
    job = Job("j", "me", "Comparison", state="running", fraction=0.4, parts=parts)
    monkeypatch.setattr(background, "running_job", lambda: job)
    app.run()
    text = html_of(app)
    assert "PCA &lt;b&gt;" in text
    assert "25 %" in text
    assert text.count("waiting") == 1
    assert app.button(key="compare-run").disabled


def test_times_are_measured_on_request(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def quick(kind: Any, data: Any, progress: Any = None) -> float:
        from hetviz.algorithms.cost import store_times

        store_times(kind.card.key, data, {data.n_rows: 7.0})
        return 7.0

    monkeypatch.setattr("hetviz.jobs.tasks.compare.measure_seconds", quick)
    app = press(visit("compare"), "compare-times")
    assert "About 7.0 s per fit" in html_of(app)


def test_headline_opens_the_compared_scores(visit: Visit) -> None:
    app = compared(visit)
    check_all(app, {"compared"})
