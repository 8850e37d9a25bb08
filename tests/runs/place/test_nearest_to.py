"""Asking a map about something new."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import hetviz
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, HetvizError, ParameterError
from hetviz.features import table as table_features
from hetviz.features.table import transform
from hetviz.runs.embed.run import fit_run

COLOURS = ("red", "green", "blue")


def picture(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (20, 20), colour).save(out, "PNG")
    return out.getvalue()


def shop() -> tuple[HeteroData, Embedding]:
    """Twelve things in three groups far apart, each with its word, text and picture."""
    rng = np.random.default_rng(0)
    group = np.arange(12) % 3
    table = pd.DataFrame(
        {
            "name": [f"{COLOURS[g]} thing {k}" for k, g in enumerate(group)],
            "size": 10.0 * group + rng.normal(size=12),
            "kind": [COLOURS[g] for g in group],
        }
    )
    made = table_features.fit(table, columns=["size", "kind"])
    things = Dataset(
        "things",
        [f"t{k}" for k in range(12)],
        made.X,
        table=table,
        media=[picture(COLOURS[g]) for g in group],
        recipe={"title": "name", "features": made.recipe},
    )
    words = Dataset("words", COLOURS)
    data = HeteroData([things, words], [Links("things", "words", range(12), group)])
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    places = {"things": centres[group] + 0.1 * rng.normal(size=(12, 2)), "words": centres}
    return data, Embedding(places, {"things": things.ids, "words": words.ids})


@pytest.mark.parametrize(
    "given",
    [
        {"text": "a GREEN one"},
        {"picture": picture("green")},
        {"row": {"size": "10.2", "kind": "green"}},
        {"row": {"kind": "green"}},
    ],
)
def test_words_pictures_and_rows_lie_with_their_like(given: dict[str, object]) -> None:
    data, embedding = shop()
    answer = hetviz.nearest_to(data, embedding, dataset="things", top=4, **given)  # type: ignore[arg-type]
    assert np.linalg.norm(answer.place - [10.0, 0.0]) < 0.5
    near = answer.nearest
    assert set(near.loc[near["dataset"] == "things", "id"]) == {"t1", "t4", "t7", "t10"}
    assert near.loc[near["dataset"] == "words", "id"].tolist()[0] == "green"
    assert near.loc[near["dataset"] == "things", "rank"].tolist() == [1, 2, 3, 4]
    assert answer.matched["id"].tolist()[0] in {"t1", "t4", "t7", "t10"}
    assert json.loads(json.dumps(answer.to_dict()))["dataset"] == "things"


def test_a_method_that_places_new_items_does_so() -> None:
    data, _ = shop()
    run = fit_run(data, "guided-projection")
    answer = hetviz.nearest_to(data, run, dataset="things", row={"size": 0.0, "kind": "red"})
    assert "Guided projection placed it" in answer.how
    assert len(answer.matched) == 0
    recipe = data["things"].recipe
    assert recipe is not None
    frame = pd.DataFrame({"size": ["0.0"], "kind": ["red"]}, dtype=object)
    new = Dataset(
        "things",
        ["n"],
        transform(recipe["features"], frame),
        feature_names=data["things"].feature_names,
    )
    placed = run.model.transform(new).coordinates["things"][0]
    np.testing.assert_allclose(answer.place, placed)
    before = run.embedding.stacked()
    assert np.array_equal(before, run.model.embedding_.stacked())


def test_the_methods_own_scores_are_told_where_it_has_some() -> None:
    data, _ = shop()
    model = hetviz.get_method("mkpe")(n_iter=60).fit(data)
    row = {"size": 20.0, "kind": "blue"}
    answer = hetviz.nearest_to(data, model, dataset="things", row=row)
    words = answer.nearest[answer.nearest["dataset"] == "words"]
    assert words["id"].tolist()[0] == "blue"
    away = ((model.embedding_.coordinates["words"] - answer.place) ** 2).sum(axis=1)
    expected = np.sort(np.exp(-away / model.sigma_**2))[::-1]
    np.testing.assert_allclose(words["score"], expected)


def test_an_item_of_just_these_words_is_meant_wherever_others_lie_that_share_some() -> None:
    data, embedding = shop()
    moved = {name: Y.copy() for name, Y in embedding.coordinates.items()}
    moved["things"][4] = [50.0, 50.0]
    apart = Embedding(moved, embedding.ids)
    answer = hetviz.nearest_to(data, apart, dataset="things", text="Green thing 4", top=1)
    assert answer.place.tolist() == [50.0, 50.0]
    assert answer.matched["id"].tolist()[0] == "t4"


def test_words_of_a_fitted_column_get_its_features() -> None:
    texts = ["loud music player", "music and sound", "spread sheet", "table of sums"] * 6
    table = pd.DataFrame({"about": texts})
    made = table_features.fit(table, columns=["about"], text=["about"])
    ids = [f"p{k}" for k in range(24)]
    data = HeteroData([Dataset("p", ids, made.X, table=table, recipe={"features": made.recipe})])
    Y = np.repeat([[0.0, 0.0], [0.0, 0.0], [5.0, 5.0], [5.0, 5.0]], 1, axis=0)
    embedding = Embedding({"p": np.tile(Y, (6, 1))}, {"p": ids})
    answer = hetviz.nearest_to(data, embedding, dataset="p", text="music")
    assert answer.place.tolist() == [0.0, 0.0]
    assert "music were read as about" in answer.how


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": "zebra"}, "none of these words"),
        ({"picture": b"no picture"}, "not a PNG"),
        ({"row": {"weight": 3}}, "no such column"),
        ({"row": {"size": ""}}, "no value was given"),
        ({"row": {"size": "much"}}, "numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(given: dict[str, object], said: str) -> None:
    data, embedding = shop()
    with pytest.raises(DataError, match=said):
        hetviz.nearest_to(data, embedding, dataset="things", **given)  # type: ignore[arg-type]


def test_a_dataset_without_pictures_says_so() -> None:
    data, embedding = shop()
    with pytest.raises(DataError, match="no pictures"):
        hetviz.nearest_to(data, embedding, dataset="words", picture=picture("red"))


def test_one_question_at_a_time_and_a_place_to_stand() -> None:
    data, embedding = shop()
    with pytest.raises(ParameterError, match="one of"):
        hetviz.nearest_to(data, embedding, dataset="things")
    with pytest.raises(ParameterError, match="one of"):
        hetviz.nearest_to(data, embedding, dataset="things", text="a", row={"size": 1})
    with pytest.raises(ParameterError, match="top"):
        hetviz.nearest_to(data, embedding, dataset="things", text="red", top=0)
    ids = embedding.ids
    nowhere = Embedding(
        {"things": np.full((12, 2), np.nan), "words": embedding.coordinates["words"]}, ids
    )
    with pytest.raises(HetvizError, match="has a place"):
        hetviz.nearest_to(data, nowhere, dataset="things", text="red")
