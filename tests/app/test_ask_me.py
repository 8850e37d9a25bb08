"""Tests of the Ask me card: questions, answers, skip, undo and refit."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from hetviz._text import round_percent
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.data.joins.judged_links import MIN_ANSWERS as MIN_LINK_ANSWERS
from hetviz.data.joins.similar_rows import SIMILAR_WORDS
from hetviz.data.model.statements import statement_keys
from hetviz.features.spaces.learned_groups import GroupSummary
from hetviz.plots.planar import proposed_text
from hetviz.runs.ask.questions import Question, suggest_questions
from hetviz.ui.guidance import ask_me
from hetviz.workspace import SetLabels, Workspace
from hetviz.workspace.commands.guidance import EditStatements
from tests.app.conftest import Visit, go, html_of, page_of, workspace_of
from tests.app.test_compare_rows import shop_files
from tests.app.test_pages import upload

pytestmark = pytest.mark.usefixtures("few_emoji")


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    assert not app.error
    return app


def question(app: AppTest) -> str:
    """Return the names and the text of the question shown."""
    html = html_of(app)
    card = html[html.index('class="hv-question"') :]
    return "|".join(re.findall(r"<h2>(.*?)</h2>", card)[:3])


def n_links(app: AppTest) -> int:
    return sum(map(len, workspace_of(app).state.opened().links))


def test_answers_are_saved_counted_and_followed_by_next_question(visit: Visit) -> None:
    app = visit("guidance")
    before, first = n_links(app), question(app)
    assert "Do these two belong together?" in html_of(app)
    press(app, "ask-yes")
    assert n_links(app) == before + 1
    assert question(app) != first
    assert "1 answered, 1 of them yes" in html_of(app)
    last = workspace_of(app).state.opened().links[-1]
    assert last.weight[-1] == 1.0
    press(app, "ask-no")
    assert "2 answered, 1 of them yes" in html_of(app)


def test_card_is_not_empty_while_a_question_is_looked_for(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(*args: object) -> None:
        ask_session = args[3]
        assert isinstance(ask_session, ask_me.AskSession)
        ask_session.is_waiting, ask_session.likely_links = True, {}

    monkeypatch.setattr(ask_me, "_next_question", wait)
    html = html_of(visit("guidance"))
    assert "Looking for a good question" in html
    assert "hv-skeleton" in html


def test_answers_keep_or_remove_proposed_links(visit: Visit) -> None:
    app = visit("guidance")
    data = workspace_of(app).state.opened()
    before = n_links(app)
    keys = statement_keys(data)[:2].tolist()
    fields = {"kind": SIMILAR_WORDS, "weight": 0.5}
    workspace_of(app).do(EditStatements(dict.fromkeys(keys, fields)))
    app.run()
    # The question on screen stays until it is answered.
    press(app, "ask-skip")
    while "A yes keeps this proposed link" not in html_of(app):
        press(app, "ask-skip")
    press(app, "ask-yes")
    assert n_links(app) == before
    while "A yes keeps this proposed link" not in html_of(app):
        press(app, "ask-skip")
    press(app, "ask-no")
    assert n_links(app) == before - 1
    assert "2 answered, 1 of them yes" in html_of(app)
    press(app, "ask-undo")
    assert n_links(app) == before
    assert "1 answered, 1 of them yes" in html_of(app)
    assert "A yes keeps this proposed link" in html_of(app)


def test_answers_weight_the_other_proposed_links(visit: Visit) -> None:
    app = upload(visit(), **shop_files())
    next(box for box in app.checkbox if "similar words" in box.label).check().run()
    press(app, "go-on")
    workspace = workspace_of(app)

    def proposed() -> Links:
        [links] = [one for one in workspace.state.opened().links if one.kind == SIMILAR_WORDS]
        return links

    similarity = proposed().weight.tolist()
    go(app, "guidance")
    assert "After 10 more answers, the others are weighted by them." in html_of(app)
    for k in range(MIN_LINK_ANSWERS - 1):
        press(app, "ask-no" if k % 2 else "ask-yes")
    assert set(proposed().weight) < set(similarity)
    assert f"{MIN_LINK_ANSWERS - 1} answered, 5 of them yes" in html_of(app)
    press(app, "ask-no")
    weight = proposed().weight
    assert not set(weight) & set(similarity)
    [state] = workspace.state.proposed.values()
    assert sorted(weight) == pytest.approx(sorted(state.probabilities().values()))
    share = round_percent(float(weight.mean()))
    assert f"By your 10 answers, about {share} of those left are right." in html_of(app)
    title = proposed_text(workspace.state.opened())
    assert title == f"Made from {len(weight)} links proposed by words, about {share} right"
    # The project has the answers, also after it was closed.
    again = Workspace.replay(workspace.log, workspace.blobs).state
    assert again.opened().fingerprint() == workspace.state.opened().fingerprint()
    asking = page_of(app).part(ask_me.AskSession)
    removed = {question.key for _, question in asking.answers} & ask_me._removed_keys(again)
    assert len(removed) == 5
    asking.answers.clear()
    app.run()
    assert "10 answered, 5 of them yes" in html_of(app)
    workspace.undo()
    assert set(proposed().weight) < set(similarity)


def test_map_shows_items_of_question(visit: Visit) -> None:
    app = visit("guidance")
    (drawn,) = (
        json.loads(element.proto.json)
        for element in app.get("bidi_component")
        if element.proto.component_name == "hetviz_proposed"
    )
    assert drawn["tab"] == "Guidance"
    assert drawn["n_asked"] == len(drawn["pairs"]) == 1
    (pair,) = drawn["pairs"]
    assert "|".join(pair[2:]) == question(app)
    data = workspace_of(app).state.opened()
    titles = [str(title) for part in data.datasets.values() for title in part.titles]
    assert [titles[row] for row in pair[:2]] == pair[2:]


def test_undo_removes_answer_and_repeats_question(visit: Visit) -> None:
    app = visit("guidance")
    before, first = n_links(app), question(app)
    assert app.button(key="ask-undo").disabled
    press(app, "ask-no")
    press(app, "ask-undo")
    assert n_links(app) == before
    assert question(app) == first
    assert app.button(key="ask-undo").disabled


def test_skipped_question_is_not_repeated(visit: Visit) -> None:
    app = visit("guidance")
    first, before = question(app), n_links(app)
    seen = {first}
    for _ in range(12):
        press(app, "ask-skip")
        seen.add(question(app))
    assert len(seen) == 13
    assert n_links(app) == before


def test_five_answers_refit_the_map(visit: Visit) -> None:
    app = visit("guidance")
    run = workspace_of(app).state.run
    for _ in range(4):
        press(app, "ask-no")
    assert workspace_of(app).state.run is run
    assert app.button(key="ask-refit").label == "Refit with 4 answers"
    press(app, "ask-no")
    app.run()
    after = workspace_of(app).state.run
    assert after is not run
    assert after is not None
    assert workspace_of(app).state.is_current(after)
    assert "hv-question" in html_of(app)


def test_new_candidates_do_not_replace_current_question(visit: Visit) -> None:
    app = visit("guidance")
    first = question(app)
    asking = page_of(app).part(ask_me.AskSession)
    assert len(asking.batch) > 1
    # as after a search on Predict or a refit
    asking.context = (*asking.context[:-1], "later")
    app.run()
    assert question(app) == first
    press(app, "ask-no")
    assert question(app) != first


def test_map_gets_likely_members_with_probability() -> None:
    things = Dataset("things", [f"i{k}" for k in range(9)], np.eye(9))
    others = Dataset("others", ["o", "p"], np.eye(2))
    data = HeteroData([others, things])
    alike = (("i5", 0.9), ("i6", 0.62), ("i7", 0.3))
    group = GroupSummary("things", ("i0", "i1", "i2"), 0.95, 0.8, ("i5",), (0.9,), 1, to_ask=alike)
    ids = {name: part.ids for name, part in data.datasets.items()}
    places = Embedding({name: np.zeros((len(one), 2)) for name, one in ids.items()}, ids)
    (first, *_) = suggest_questions(data, places, 1, kinds=("member",), learned=[group])
    asking = ask_me.AskSession(learned=[group, replace(group, named=("i3", "i4", "i8"))])
    assert first.items[0] == ("things", "i5")
    assert ask_me._likely_members(data, asking, first) == [(8, 0.62), (9, 0.3)]
    asking.answers.append((1, replace(first, rows=(8, *first.rows[1:]))))
    assert ask_me._likely_members(data, asking, first) == [(9, 0.3)]


def test_questions_stop_without_gain_and_continue_on_request(visit: Visit) -> None:
    app = visit("guidance")
    asking = page_of(app).part(ask_me.AskSession)
    app.run()
    assert "Enough answers" not in html_of(app)
    asking.answers = [(-1, question) for question in asking.batch[:1] * ask_me.MIN_ANSWERS]
    app.run()
    # There are thousands of links and no named group.
    assert "Enough answers" in html_of(app)
    assert (
        "60 more answers could raise how often a hidden link is found again by at most 0.0"
        in html_of(app)
    )
    press(app, "ask-on")
    assert "Enough answers" not in html_of(app)
    assert question(app)


def test_missing_own_labels_are_asked_with_buttons_and_list(visit: Visit) -> None:
    app = visit("guidance")
    workspace, asking = workspace_of(app), page_of(app).part(ask_me.AskSession)
    data = workspace.state.opened()
    # A label column of the data is copied before questions start.
    name, part = next(iter(data.datasets.items()))
    some = {str(id_): "abcde"[k % 5] for k, id_ in enumerate(part.ids[:20])}
    workspace.do(SetLabels(name, "class", some))
    app.run()
    press(app, f"ask-for-{name}-class")
    labels = {one.name: one for one in workspace.state.opened().labels}
    assert labels["my label 1"].values.tolist() == labels["class"].values.tolist()
    assert f"ask-for-{name}-class" not in {button.key for button in app.button}
    assert "Which label fits?" in html_of(app)
    assert f"“my label 1” is known for 20 of {len(part):,} {name}." in html_of(app)

    def label_of_first() -> tuple[Question, object]:
        question = asking.batch[0]
        assert question.kind == "label"
        return question, question.rows[0] - workspace.state.opened().offsets[name].start

    def said(row: object) -> object:
        now = {one.name: one for one in workspace.state.opened().labels}
        assert now["class"].values.tolist() == labels["class"].values.tolist()
        return now["my label 1"].values[row]

    first, row = label_of_first()
    press(app, "ask-option-2")
    assert said(row) == first.options[1]
    press(app, "ask-undo")
    assert said(row) is None
    assert label_of_first()[0] == first
    (another,) = [box for box in app.selectbox if str(box.key).startswith("ask-another")]
    another.set_value(first.options[4]).run()
    assert said(row) == first.options[4]
    assert asking.n_since_refit == 0
