"""Tests of map layers: trust, stability, curves and measures."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.data.joins.similar_rows import SIMILAR_WORDS
from hetviz.jobs.tasks.maps import figures_of
from hetviz.metrics.measure_names import GROUPS, MAIN_MEASURES, MEASURE_TEXTS
from hetviz.metrics.trust.stability import stability
from hetviz.metrics.trust.trust import trust
from hetviz.plots.curve import curve_alt, curve_figure
from hetviz.ui.map import description
from hetviz.ui.map_data import layers
from hetviz.ui.map_data.array_cache import ARRAYS
from hetviz.workspace import SESSIONS, AddLinks, MapResult, State
from hetviz.workspace.commands.state import DisplaySettings
from hetviz.workspace.sessions import new_session_id
from tests.app.asking import ask
from tests.app.conftest import Visit, html_of, workspace_of
from tests.app.evidence import open_evidence

rng = np.random.default_rng(6)
N = 40
X = rng.normal(size=(N, 3))


def example(n_runs: int = 2) -> State:
    names = [f"t{k}" for k in range(N)]
    data = HeteroData(
        [Dataset("a", names, X), Dataset("b", names, X[:, ::-1])],
        Links("a", "b", np.arange(N), np.arange(N)),
    )
    runs = []
    for number in range(n_runs):
        places = {"a": X[:, :2], "b": X[:, :2] + 0.5 * number * rng.normal(size=(N, 2))}
        places["b"][3] = np.nan
        embedding = Embedding(places, {"a": names, "b": names})
        runs.append(
            MapResult(
                data.fingerprint(),
                "pca",
                {},
                number,
                title="Map",
                embedding=embedding,
                id=str(number),
            )
        )
    return State(data=data, runs=tuple(runs), chosen="0", view=DisplaySettings("trust"))


def test_map_is_coloured_by_trust_of_its_run() -> None:
    state = example()
    shown = []
    for chosen in ("0", "1"):
        now = replace(state, chosen=chosen)
        spec = description.map_spec(now, now.run, session="layers")
        assert spec["colour"]["title"] == "Trust"
        packed = ARRAYS.get("layers", spec["colour"]["key"])
        assert packed is not None
        values = np.frombuffer(packed.content, "<f4")
        expected = trust(state.opened(), now.run.embedding).score
        np.testing.assert_array_equal(values, expected.astype(np.float32))
        shown.append(values)
    assert np.nanmean(shown[0]) > np.nanmean(shown[1])
    assert np.isnan(shown[0][N + 3])


def test_stability_needs_two_maps_of_the_same_data() -> None:
    state = replace(example(), view=DisplaySettings("stability"))
    assert [option.key for option in layers.layer_options(state, state.run)] == [
        "trust",
        "stability",
    ]
    found = layers.colours_of(state, state.run).value
    np.testing.assert_array_equal(found, stability([run.embedding for run in state.runs]))
    alone = replace(state, runs=state.runs[:1])
    assert [option.key for option in layers.layer_options(alone, alone.run)] == ["trust"]
    assert layers.colours_of(alone, alone.run).option.key == "dataset"
    old = replace(state, runs=(state.runs[0], replace(state.runs[1], fingerprint="other")))
    assert len(layers.layer_options(old, old.run)) == 1
    assert layers.layer_options(state, None) == []


def test_trust_overlay_has_trust_in_steps() -> None:
    state = example()
    sid = new_session_id()
    SESSIONS.get(sid).state = state
    answer = ask(f"/hv/trust/{sid}?of=anything")
    assert answer.status == 200
    steps = np.frombuffer(answer.body, np.uint8)
    score = trust(state.opened(), state.runs[0].embedding).score
    assert steps[N + 3] == layers.UNKNOWN_TRUST
    known = np.isfinite(score)
    np.testing.assert_allclose(steps[known] / layers.TRUST_STEPS, score[known], atol=0.003)
    assert ask("/hv/trust/nobody").status == 404
    SESSIONS.get(sid).state = replace(state, runs=(), chosen=None)
    assert ask(f"/hv/trust/{sid}").status == 404


def test_item_panel_counts_own_guidance_only(visit: Visit) -> None:
    app = visit("map")
    data = workspace_of(app).state.opened()
    row = 700
    workspace_of(app).set_view_state(selection=[row])
    app.run()
    assert not app.exception
    # The links of tables are listed with their ranks.
    assert "Your guidance about it" not in html_of(app)
    pair = [str(data["emoji"].ids[k]) for k in (row, row + 1)]
    workspace_of(app).do(AddLinks("emoji", "emoji", [pair], 1.0))
    app.run()
    shown = open_evidence(app, f"item-guidance/{row}")
    stated = re.search(r"Your guidance about it: (\d of 1 statement is followed\.)", html_of(app))
    assert stated is not None
    assert stated[1] in shown


def test_all_curves_and_measures_are_shown(visit: Visit) -> None:
    app = visit("map")
    box = app.selectbox(key="curve-of")
    sorts = ["Links (together)", "Links (apart)", "Comparisons"]
    assert box.options[:4] == [*sorts, "emoji – keywords"]
    for kind, words in (
        ("comparisons", "The map agrees with"),
        ("apart", "of the apart links are outside"),
        ("links", "of the links are close, among the closest"),
    ):
        app.selectbox(key="curve-of").set_value(kind).run()
        assert not app.exception
        assert words in html_of(app)
    text = html_of(app)
    for title in ("Guidance", "Neighbours", "Labels"):
        assert f"<th>{title}</th>" in text or title in text
    assert "<dt>Neighbours preserved</dt>" in text


def test_all_measures_have_text_and_group() -> None:
    assert set(MEASURE_TEXTS) == {key for keys in GROUPS.values() for key in keys}
    assert set(MAIN_MEASURES) <= set(MEASURE_TEXTS)
    state = example()
    scores = figures_of(state.opened(), state.runs[1].embedding)["scores"]
    told = {key.split("@")[0] for key in MEASURE_TEXTS}
    assert {key.split("@")[0] for key in scores} <= told


@pytest.mark.parametrize("sort", ["links", "apart", "comparisons"])
def test_each_curve_has_its_chance_level(sort: str) -> None:
    x = np.linspace(0, 1, 101)
    y = {"links": x**0.4, "apart": 1 - x**2, "comparisons": 0.8 * x}[sort]
    figure = curve_figure({"given": (x, y)}, kind=sort)
    assert figure.data[2].y[0] == pytest.approx(
        np.interp(1.0 if sort == "comparisons" else 0.05, x, y)
    )
    drawn = figure.data[1]
    np.testing.assert_allclose(drawn.y, np.interp(drawn.customdata, x, y))
    assert drawn.customdata[-1] == pytest.approx(1.0)
    assert "Chance is" in curve_alt({"given": (x, y)}, sort)


def test_map_says_which_links_were_proposed() -> None:
    state = example()
    assert state.data is not None
    assert description.map_spec(state, state.run, session="layers")["proposed"] == []
    some = Links("a", "b", np.arange(10), np.arange(10)[::-1], kind=SIMILAR_WORDS)
    more = replace(state, data=state.data.edit().add(some))
    assert description.map_spec(more, more.run, session="layers")["proposed"] == [
        "Made in part from 10 links proposed by words, not judged yet",
        "10 proposed links, not judged yet",
    ]
