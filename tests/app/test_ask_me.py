"""The Ask me card: a question with its items, answers as commands, skip, undo, and a refit."""

from __future__ import annotations

import json
import re

from streamlit.testing.v1 import AppTest

from tests.app.conftest import Visit, html_of, workspace_of


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    assert not app.error
    return app


def question(app: AppTest) -> str:
    """Return the names and the text of the question shown."""
    html = html_of(app)
    card = html[html.index('class="hv-ask"') :]
    return "|".join(re.findall(r"<h2>(.*?)</h2>", card)[:3])


def n_links(app: AppTest) -> int:
    return sum(map(len, workspace_of(app).state.opened().links))


def test_answers_are_kept_counted_and_followed_by_the_next_question(visit: Visit) -> None:
    app = visit("guidance")
    before, first = n_links(app), question(app)
    assert "Do these two go together?" in html_of(app)
    press(app, "ask-yes")
    assert n_links(app) == before + 1
    assert question(app) != first
    assert "1 answered, 1 of them yes" in html_of(app)
    last = workspace_of(app).state.opened().links[-1]
    assert last.weight[-1] == 1.0
    press(app, "ask-no")
    assert "2 answered, 1 of them yes" in html_of(app)


def test_what_is_asked_about_is_shown_on_the_map(visit: Visit) -> None:
    app = visit("guidance")
    (drawn,) = (
        json.loads(element.proto.json)
        for element in app.get("bidi_component")
        if element.proto.component_name == "hetviz_proposed"
    )
    assert drawn["tab"] == "Guidance"
    assert drawn["asked"] == len(drawn["pairs"]) == 1
    (pair,) = drawn["pairs"]
    assert "|".join(pair[2:]) == question(app)
    data = workspace_of(app).state.opened()
    titles = [str(title) for part in data.datasets.values() for title in part.titles]
    assert [titles[row] for row in pair[:2]] == pair[2:]


def test_undo_takes_the_answer_back_and_asks_again(visit: Visit) -> None:
    app = visit("guidance")
    before, first = n_links(app), question(app)
    assert app.button(key="ask-undo").disabled
    press(app, "ask-no")
    press(app, "ask-undo")
    assert n_links(app) == before
    assert question(app) == first
    assert app.button(key="ask-undo").disabled


def test_what_cannot_be_said_is_not_asked_again(visit: Visit) -> None:
    app = visit("guidance")
    first, before = question(app), n_links(app)
    seen = {first}
    for _ in range(12):
        press(app, "ask-skip")
        seen.add(question(app))
    assert len(seen) == 13
    assert n_links(app) == before


def test_five_answers_make_the_map_again(visit: Visit) -> None:
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
    assert "hv-ask" in html_of(app)


def test_candidates_that_arrive_do_not_replace_the_question_being_read(visit: Visit) -> None:
    app = visit("guidance")
    first = question(app)
    asking = app.session_state["ask-me"]
    assert len(asking.batch) > 1
    # as when Predict has found something, or a map was made again, since
    asking.of = (*asking.of[:-1], "later")
    app.run()
    assert question(app) == first
    press(app, "ask-no")
    assert question(app) != first
