"""Items closest to new items."""

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


def colour_shop() -> tuple[HeteroData, Embedding]:
    """Twelve things in three distant groups, each with its word, text and picture."""
    rng = np.random.default_rng(0)
    group = np.arange(12) % 3
    table = pd.DataFrame(
        {
            "name": [f"{COLOURS[g]} thing {k}" for k, g in enumerate(group)],
            "size": 10.0 * group + rng.normal(size=12),
            "kind": [COLOURS[g] for g in group],
        }
    )
    features = table_features.fit(table, columns=["size", "kind"])
    things = Dataset(
        "things",
        [f"t{k}" for k in range(12)],
        features.X,
        table=table,
        media=[picture(COLOURS[g]) for g in group],
        recipe={"title": "name", "features": features.recipe},
    )
    words = Dataset("words", COLOURS)
    data = HeteroData([things, words], [Links("things", "words", range(12), group)])
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    places = {"things": centres[group] + 0.1 * rng.normal(size=(12, 2)), "words": centres}
    return data, Embedding(places, {"things": things.ids, "words": words.ids})


@pytest.mark.parametrize(
    "args",
    [
        {"text": "a GREEN one"},
        {"picture": picture("green")},
        {"row": {"size": "10.2", "kind": "green"}},
        {"row": {"kind": "green"}},
    ],
)
def test_nearest_to_places_new_items_with_similar_ones(args: dict[str, object]) -> None:
    data, embedding = colour_shop()
    answer = hetviz.nearest_to(data, embedding, dataset="things", top=4, **args)  # type: ignore[arg-type]
    assert np.linalg.norm(answer.place - [10.0, 0.0]) < 0.5
    nearest = answer.nearest
    assert set(nearest.loc[nearest["dataset"] == "things", "id"]) == {"t1", "t4", "t7", "t10"}
    assert nearest.loc[nearest["dataset"] == "words", "id"].tolist()[0] == "green"
    assert nearest.loc[nearest["dataset"] == "things", "rank"].tolist() == [1, 2, 3, 4]
    assert answer.matched["id"].tolist()[0] in {"t1", "t4", "t7", "t10"}
    assert json.loads(json.dumps(answer.to_dict()))["dataset"] == "things"


def test_nearest_to_uses_transform_of_the_method() -> None:
    data, _ = colour_shop()
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
    before = run.result.embedding.stacked()
    assert np.array_equal(before, run.model.embedding_.stacked())


def test_nearest_to_uses_own_link_scores() -> None:
    data, _ = colour_shop()
    model = hetviz.get_method("mkpe")(n_iter=60).fit(data)
    row = {"size": 20.0, "kind": "blue"}
    answer = hetviz.nearest_to(data, model, dataset="things", row=row)
    words = answer.nearest[answer.nearest["dataset"] == "words"]
    assert words["id"].tolist()[0] == "blue"
    away = ((model.embedding_.coordinates["words"] - answer.place) ** 2).sum(axis=1)
    expected = np.sort(np.exp(-away / model.sigma_**2))[::-1]
    np.testing.assert_allclose(words["score"], expected)


def test_nearest_to_prefers_an_exact_word_match() -> None:
    data, embedding = colour_shop()
    moved = {name: Y.copy() for name, Y in embedding.coordinates.items()}
    moved["things"][4] = [50.0, 50.0]
    apart = Embedding(moved, embedding.ids)
    answer = hetviz.nearest_to(data, apart, dataset="things", text="Green thing 4", top=1)
    assert answer.place.tolist() == [50.0, 50.0]
    assert answer.matched["id"].tolist()[0] == "t4"


def test_nearest_to_turns_words_into_features_of_a_text_column() -> None:
    texts = ["loud music player", "music and sound", "spread sheet", "table of sums"] * 6
    table = pd.DataFrame({"about": texts})
    features = table_features.fit(table, columns=["about"], text=["about"])
    ids = [f"p{k}" for k in range(24)]
    data = HeteroData(
        [Dataset("p", ids, features.X, table=table, recipe={"features": features.recipe})]
    )
    Y = np.repeat([[0.0, 0.0], [0.0, 0.0], [5.0, 5.0], [5.0, 5.0]], 1, axis=0)
    embedding = Embedding({"p": np.tile(Y, (6, 1))}, {"p": ids})
    answer = hetviz.nearest_to(data, embedding, dataset="p", text="music")
    assert answer.place.tolist() == [0.0, 0.0]
    assert "music were read as about" in answer.how


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"text": "zebra"}, "no item has any of these words"),
        ({"picture": b"no picture"}, "not a PNG"),
        ({"row": {"weight": 3}}, "no such column"),
        ({"row": {"size": ""}}, "no value was given"),
        ({"row": {"size": "much"}}, "numbers"),
    ],
)
def test_nearest_to_rejects_incomparable_input(args: dict[str, object], message: str) -> None:
    data, embedding = colour_shop()
    with pytest.raises(DataError, match=message):
        hetviz.nearest_to(data, embedding, dataset="things", **args)  # type: ignore[arg-type]


def test_nearest_to_rejects_pictures_without_pictures() -> None:
    data, embedding = colour_shop()
    with pytest.raises(DataError, match="no pictures"):
        hetviz.nearest_to(data, embedding, dataset="words", picture=picture("red"))


def test_nearest_to_rejects_bad_arguments() -> None:
    data, embedding = colour_shop()
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
