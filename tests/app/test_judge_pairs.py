"""Tests of judging pairs of similar words while new files are reviewed."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from hetviz.data.joins.judged_links import MIN_ANSWERS
from hetviz.ui.reading.judge_pairs import PairAnswers
from tests.app.conftest import Visit, html_of, page_of
from tests.app.test_pages import press, upload
from tests.data.joins.test_similar_rows import shops


def reviewed(visit: Visit) -> AppTest:
    """Drop the tables of two shops, whose rows are linked by their words only."""
    frames = {name: dataset.table for name, dataset in shops().datasets.items()}
    files = {
        f"{name}_csv": frame.rename_axis("code").to_csv()
        for name, frame in frames.items()
        if frame is not None
    }
    return upload(visit(), **files)


def key_of(app: AppTest, start: str) -> str:
    [key] = [str(one.key) for one in app.button if str(one.key).startswith(start)]
    return key


def answer(app: AppTest, *answers: bool) -> AppTest:
    for is_right in answers:
        press(app, key_of(app, "judge-right-" if is_right else "judge-wrong-"))
    return app


def test_answers_decide_which_pairs_are_used(visit: Visit) -> None:
    app = reviewed(visit)
    press(app, key_of(app, "judge-tick-"))
    assert "Are these two the same?" in html_of(app)
    assert "1 of 10" in html_of(app)
    answer(app, *[k % 5 < 3 for k in range(MIN_ANSWERS)])
    assert "By your 10 answers, about" in html_of(app)
    assert "that are probably wrong are left out." in html_of(app)
    assert "Are these two the same?" not in html_of(app)
    # They can be judged further, and the last answer can be taken back.
    press(app, key_of(app, "judge-tick-"))
    press(app, key_of(app, "judge-back-"))
    [given] = page_of(app).part(PairAnswers).answers.values()
    assert len(given) == MIN_ANSWERS - 1
    assert "10 of 10" in html_of(app)


def test_answers_of_other_files_do_not_count(visit: Visit) -> None:
    app = reviewed(visit)
    press(app, key_of(app, "judge-tick-"))
    answer(app, True)
    assert "2 of 10" in html_of(app)
    judging = page_of(app).part(PairAnswers)
    [(ends, answers)] = judging.answers.items()
    judging.answers[ends] = (("from another file", "too", True), *answers)
    app.run()
    assert "2 of 10" in html_of(app)
