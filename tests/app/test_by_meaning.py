"""Tests of comparing tables by meaning while new files are reviewed."""

from __future__ import annotations

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from hetviz.core import sentence_vectors
from hetviz.data import HeteroData
from hetviz.data.joins.near_rows import SIMILAR_MEANING, SIMILAR_WORDS
from hetviz.data.joins.similar_rows import MIN_ANSWERS
from hetviz.ui.map.description import _proposed_links
from hetviz.ui.reading import by_meaning
from hetviz.workspace import Workspace
from tests.app.conftest import Visit, html_of, workspace_of
from tests.app.test_guide import first_visit
from tests.app.test_judge_pairs import answer, key_of
from tests.app.test_pages import press, upload
from tests.data.joins.test_similar_rows import SAME_MEANING, shops

pytestmark = pytest.mark.skipif(
    not sentence_vectors.is_installed(), reason="The sentence model is an extra."
)
WORDS = pd.DataFrame({"word": list(SAME_MEANING)}).to_csv(index=False)
MEANT = pd.DataFrame({"meant": [*SAME_MEANING.values()][::-1]}).to_csv(index=False)


@pytest.fixture(autouse=True)
def forget_results() -> None:
    by_meaning._RESULTS.clear(None)


def ticks_of(app: AppTest) -> dict[str, bool]:
    return {box.label: bool(box.value) for box in app.checkbox if str(box.key).startswith("tick-")}


def shop_files() -> dict[str, str]:
    return {
        f"{name}_csv": dataset.table.rename_axis("code").to_csv()
        for name, dataset in shops().datasets.items()
        if dataset.table is not None
    }


def similar_ticks(app: AppTest) -> list[str]:
    return [label for label in ticks_of(app) if "similar" in label]


def compared(visit: Visit) -> AppTest:
    app = upload(visit(), words_csv=WORDS, said_csv=MEANT)
    return press(app, key_of(app, "meant-"))


def test_tables_without_common_words_are_compared_on_request(visit: Visit) -> None:
    app = upload(first_visit(visit), words_csv=WORDS, said_csv=MEANT)
    press(app, "guide-next-links")
    assert "No columns match. Compare the rows by meaning, drag" in html_of(app)
    assert "No column links words with said, and few of their words are the same." in html_of(app)
    assert "A small language model reads 40 texts in about 2 s." in html_of(app)
    assert ticks_of(app) == {}
    press(app, key_of(app, "meant-"))
    assert ticks_of(app) == {"Rows of words and said have similar meanings": False}
    assert "Do these link your tables?" in html_of(app)
    assert "Similar meanings can be about different things." in html_of(app)


def test_pairs_by_meaning_are_judged_and_used_only_if_ticked(visit: Visit) -> None:
    app = compared(visit)
    press(app, key_of(app, "judge-tick-"))
    assert "Do these two belong together?" in html_of(app)
    answer(app, *[k % 5 < 3 for k in range(MIN_ANSWERS)])
    assert "By your 10 answers, about" in html_of(app)
    [box] = [box for box in app.checkbox if str(box.key).startswith("tick-")]
    box.check().run()
    press(app, "go-on")
    workspace = workspace_of(app)
    [links] = workspace.state.opened().links
    assert links.kind == SIMILAR_MEANING
    assert 0 < links.weight.min() < links.weight.max() <= 1
    notes = _proposed_links(workspace.state.opened())
    assert notes == [f"All {len(links)} links were proposed by similar meaning."]


def test_joined_project_opens_without_the_sentence_model(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = compared(visit)
    next(box for box in app.checkbox if str(box.key).startswith("tick-")).check().run()
    press(app, "go-on")
    workspace = workspace_of(app)
    data = workspace.state.opened()

    def refuse(*_: object) -> None:
        raise AssertionError("The sentence model is used.")

    monkeypatch.setattr("hetviz.data.joins.similar_rows.text_vectors", refuse)
    again = Workspace.replay(workspace.log, workspace.blobs).state.opened()
    assert again.fingerprint() == data.fingerprint()


def test_unrelated_tables_have_no_proposals_by_meaning(visit: Visit) -> None:
    towns = ["Ulm", "Gent", "Porto", "Lviv", "Oslo", "Riga", "Bern", "Graz"]
    stations = pd.DataFrame({"town": [f"{town} railway station" for town in towns]})
    app = upload(visit(), said_csv=MEANT, towns_csv=stations.to_csv(index=False))
    press(app, key_of(app, "meant-"))
    assert "said and towns are no closer in meaning than by chance." in html_of(app)
    assert ticks_of(app) == {}
    assert not [one for one in app.button if str(one.key).startswith("meant-")]


def test_tables_with_similar_words_are_compared_in_both_ways(
    visit: Visit,
) -> None:
    app = upload(visit(), **shop_files())
    assert similar_ticks(app) == ["Rows of shop and store have similar words"]
    press(app, key_of(app, "meant-"))
    assert similar_ticks(app) == ["Rows of shop and store have similar meanings"]
    [way] = app.get("button_group")
    assert way.options == ["By meaning", "By words"]
    way.set_value("words").run()
    assert similar_ticks(app) == ["Rows of shop and store have similar words"]
    next(box for box in app.checkbox if "similar" in box.label).check().run()
    press(app, "go-on")
    assert {links.kind for links in workspace_of(app).state.opened().links} == {SIMILAR_WORDS}


def test_failed_comparison_is_offered_again(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no model")

    with monkeypatch.context() as patch:
        patch.setattr("hetviz.jobs.tasks.look.text_vectors", fail)
        app = compared(visit)
        assert "The comparison failed:" in html_of(app)
    press(app, key_of(app, "meant-"))
    assert ticks_of(app) == {"Rows of words and said have similar meanings": False}


def test_large_tables_are_not_compared(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_meaning, "MAX_COMPARED_ROWS", 10)
    app = upload(visit(), **shop_files())
    assert "By meaning, tables of up to 10 rows together can be compared." in html_of(app)
    assert "Use fewer rows, or hetviz.propose_links in Python." in html_of(app)
    assert not [one for one in app.button if str(one.key).startswith("meant-")]


def test_price_grows_with_texts_and_pairs_of_rows() -> None:
    def price(n: int, text: str) -> float:
        texts = {"text": [f"{text} {k} of a long story" for k in range(n)]}
        data = HeteroData.from_frames({"a": texts, "b": texts}, labels={})
        return by_meaning.seconds_to_compare(data, ("a", "b"))

    assert price(5, "word") == 2
    assert price(600, "word") < price(600, "word " * 9) < price(1_200, "word " * 9)
