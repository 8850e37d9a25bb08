"""Tests of the panel with the consequences of statements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz import Embedding
from hetviz.features.recipe import recipe_of
from hetviz.runs.ask.questions import ASKED
from hetviz.ui.guidance import ask_me
from hetviz.ui.statements import actions, preview
from hetviz.ui.statements.statement_draft import StatementDraft, StatementState
from hetviz.workspace import AddLinks, MapResult, OpenSample
from tests.app.conftest import Visit, go, html_of, page_of, sid_of, workspace_of
from tests.app.test_pages import press
from tests.workspace.helpers import record_map

FIGURES: dict[str, Any] = {
    "scores": {"guidance_area": 0.8},
    "curves": {},
    "consequences": {
        "n_items": 3, "n_said": 3, "kept_before": 0, "kept_after": 3, "apart_before": 0.5,
        "apart_after": 0.04, "true_before": 0.9, "true_after": 0.5, "links_won": 1,
        "links_lost": 4, "n_moved": 7, "n_others": 900,
    },
}  # fmt: skip


def after_statement(visit: Visit, monkeypatch: Any) -> Any:
    """Say that three emoji belong together; the map that follows tells what that did."""
    from hetviz.ui.shell import background

    def refit(state: Any, loose: Any = None, said: Any = ()) -> bool:
        workspace = workspace_of(app)
        data = workspace.state.opened()
        named = [str(data["emoji"].ids[row]) for row in (0, 1, 2)]
        group = {
            "dataset": "emoji", "named": named, "n_named": 3, "learned": True, "auc": 0.97,
            "needed": 0.89, "followers": [str(data["emoji"].ids[9])], "certainty": [0.8],
            "n_followers": 11,
        }  # fmt: skip
        run = workspace.state.run
        workspace.do(
            record_map(
                workspace,
                run.embedding,  # type: ignore[union-attr]
                replaces=run.id,  # type: ignore[union-attr]
                method="joint-map",
                title="Joint map",
                figures={**FIGURES, "learned": [group]},
            )
        )
        return True

    monkeypatch.setattr(background, "refit", refit)
    app = visit("map")
    workspace_of(app).set_view_state(groups={"A": np.array([0, 1, 2])})
    app.run()
    app.button(key="add-statement").click().run()
    assert not app.exception
    return app


@pytest.mark.usefixtures("few_emoji")
def test_consequences_are_shown_and_can_be_undone(visit: Visit, monkeypatch: Any) -> None:
    app = after_statement(visit, monkeypatch)
    text = html_of(app)
    assert "All 3 pairs follow your guidance now (0 before)." in text
    assert "The map got less reliable here" in text
    assert "about 11 more" in text
    steps = workspace_of(app).steps
    app.button(key="outcome-back").click().run()
    assert workspace_of(app).steps == steps - 1
    assert not [one for one in workspace_of(app).state.opened().links if one.kind == "said"]
    assert "outcome-keep" not in {button.key for button in app.button}


@pytest.mark.usefixtures("few_emoji")
def test_moved_items_are_shown_for_last_refit_only(visit: Visit, monkeypatch: Any) -> None:
    app = after_statement(visit, monkeypatch)
    workspace = workspace_of(app)
    run = workspace.state.run
    assert run is not None and run.embedding is not None
    Y = {name: part.copy() for name, part in run.embedding.coordinates.items()}
    Y["emoji"][5] += np.ptp(Y["emoji"], axis=0)
    object.__setattr__(run, "before", Embedding(Y, run.embedding.ids))
    workspace.set_view_state(selection=[])
    app.run()
    text = html_of(app)
    n = sum(map(len, Y.values()))
    assert f"<span>What moved most</span><small>1 of {n:,}</small>" in text
    assert "Half of the items moved less than" in text
    press(app, "pick-moved")
    assert workspace.view_state.selection.tolist() == [5]
    # Moved items are hidden after another statement that the map does not follow.
    monkeypatch.setattr(actions, "is_auto_refit", lambda: False)
    pair = list(map(str, workspace.state.opened()["emoji"].ids[[20, 30]]))
    workspace.do(AddLinks("emoji", "emoji", [pair], 1.0))
    app.run()
    assert not app.exception
    assert "What moved most" not in html_of(app)


def test_moved_items_are_not_listed_if_all_move_alike(visit: Visit, monkeypatch: Any) -> None:
    app = after_statement(visit, monkeypatch)
    workspace = workspace_of(app)
    run = workspace.state.run
    assert run is not None and run.embedding is not None
    rng = np.random.default_rng(0)
    Y = {
        name: part + rng.choice([-0.3, 0.3], part.shape) * np.ptp(part, axis=0)
        for name, part in run.embedding.coordinates.items()
    }
    object.__setattr__(run, "before", Embedding(Y, run.embedding.ids))
    workspace.set_view_state(selection=[])
    app.run()
    text = html_of(app)
    assert "<span>What moved most</span><small>0 of" in text
    assert "No item moved clearly more than the others." in text
    assert "pick-moved" not in {button.key for button in app.button}


def test_dismissed_consequences_are_hidden(visit: Visit, monkeypatch: Any) -> None:
    app = after_statement(visit, monkeypatch)
    app.button(key="outcome-keep").click().run()
    assert "outcome-keep" not in {button.key for button in app.button}
    assert [one for one in workspace_of(app).state.opened().links if one.kind == "said"]


def test_ask_me_starts_with_similar_items(visit: Visit, monkeypatch: Any) -> None:
    app = after_statement(visit, monkeypatch)
    monkeypatch.setattr(ask_me, "ANSWERS_PER_REFIT", 50)
    go(app, "guidance")
    assert "Does it belong with these?" in html_of(app)
    app.button(key="ask-yes").click().run()
    data = workspace_of(app).state.opened()
    said = hetviz.statements(data)
    asked = said[said["set"] == ASKED]
    ids = data["emoji"].ids
    assert set(asked["source_id"]) == {ids[9]}
    assert asked["target_id"].tolist() == ids[:3].tolist()


def test_preview_is_shown_before_adding(visit: Visit, monkeypatch: Any) -> None:
    from hetviz.ui.shell import background

    app = visit("map")
    workspace = workspace_of(app)
    state = workspace.state
    run = state.run
    assert run is not None and run.embedding is not None
    asked: list[tuple[Any, ...]] = []

    def foresee(state: Any, data: Any, said: Any, mark: str) -> None:
        asked.append((data, said))
        Y = {name: part.copy() for name, part in run.embedding.coordinates.items()}
        Y["emoji"][0] = Y["emoji"][1] + 0.001
        ids = run.embedding.ids["emoji"]
        learned = [
            {"dataset": "emoji", "named": [ids[0]], "n_followers": 40, "followers": ["x"]},
            # A group of an earlier statement is not counted.
            {"dataset": "emoji", "named": [ids[9]], "n_followers": 2, "followers": ["y"]},
        ]
        figures = {"consequences": FIGURES["consequences"], "learned": learned}
        embedding = Embedding(Y, run.embedding.ids)
        made = MapResult("", "mr-sne", {}, 0, title="x", embedding=embedding, figures=figures)
        background._PREVIEWS[sid_of(app)] = (mark, made)

    monkeypatch.setattr(background, "start_preview", foresee)
    monkeypatch.setattr(preview, "MAX_ROWS", 5_000)
    workspace.set_view_state(groups={"A": np.array([0]), "B": np.array([1])})
    app.run()
    app.run()
    assert not app.exception
    text = html_of(app)
    (data, said), *_ = asked
    assert len(said) == 1 and said[0] in set(hetviz.statements(data)["key"])
    assert (
        "3 of 3 pairs would be close (0 now). 1 other link would get closer, 4 would drift apart."
        in text
    )
    assert (
        "5 of their 10 neighbours would be similar in the data (9 now). 7 other items would move."
        in text
    )
    assert "About 40 more may be similar." in text
    # The preview adds no statement.
    assert workspace.state is state


def test_labels_start_search_for_similar_items(visit: Visit) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    data = workspace.state.opened()
    table = data["emoji"].table
    assert table is not None
    rows = np.flatnonzero((table["group"] == "food-drink").to_numpy())[:40:4]
    page_of(app).part(StatementState).draft = StatementDraft("label")
    workspace.set_view_state(groups={"A": rows})
    app.run()
    app.text_input(key="label-value").set_value("food").run()
    app.button(key="act-label").click().run()
    assert not app.exception
    (group,) = workspace.state.findings["more like these"].content["groups"]
    assert group["label"] == ["my label 1", "food"]
    assert group["followers"]
    go(app, "guidance")
    assert "Is it “food”, like these?" in html_of(app)
    app.button(key="ask-no").click().run()
    app.button(key="ask-yes").click().run()
    mine = next(one for one in workspace.state.opened().labels if one.name == "my label 1")
    assert mine.known.sum() == len(rows) + 1
    named = {str(data["emoji"].ids[row]) for row in np.flatnonzero(mine.known)}
    assert group["followers"][0] not in named
    assert group["followers"][1] in named


def test_shared_column_weight_is_raised_and_undone(visit: Visit, monkeypatch: Any) -> None:
    from hetviz.ui.shell import background

    refitted: list[Any] = []
    monkeypatch.setattr(background, "refit", lambda state, *_: refitted.append(state) or True)
    app = visit("map")
    workspace = workspace_of(app)
    workspace.do(OpenSample("world"))
    countries = workspace.state.opened()["countries"]
    titles = list(map(str, countries.titles))
    rows = np.array([titles.index("Brazil"), titles.index("India")])
    workspace.set_view_state(groups={"A": rows})
    app.run()
    assert not app.exception
    first, *others = (
        slider for slider in app.slider if (slider.key or "").startswith("because-countries-")
    )
    assert first.key == "because-countries-area_km2-1"
    assert others
    for slider in others:
        slider.set_value(1.0)
    first.set_value(4.0).run()
    press(app, "because-do")

    def weights() -> dict[str, float]:
        steps = recipe_of(workspace.state.opened()["countries"])["columns"]
        return {step["column"]: step["weight"] for step in steps if step["weight"] != 1.0}

    assert weights() == {"area_km2": 4.0}
    assert len(refitted) == 1
    # The slider starts at the current weight.
    assert app.slider(key="because-countries-area_km2-4").value == 4.0
    workspace.undo()
    assert weights() == {}
    # A dropped item offers the columns shared with the nearest items.
    workspace.set_view_state(groups={"A": rows[:1], "B": rows[1:]})
    dropped = (int(rows[0]), 0.0, 0.0)
    page_of(app).part(StatementState).draft = StatementDraft(
        dropped=dropped, proposed=(int(rows[1]),)
    )
    app.run()
    assert not app.exception
    assert app.slider(key="because-countries-area_km2-1").value == 3.0
