"""Tests of finding items by words and by meaning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import Dataset, HeteroData, Labels
from hetviz.core import sentence_vectors
from hetviz.features import item_search

THINGS = ["hot beverage", "glass of wine", "tractor", "thunderstorm", "drink", "sofa"]


def things() -> HeteroData:
    table = pd.DataFrame({"name": THINGS, "price": np.arange(6.0)})
    return HeteroData(
        [Dataset("numbers", ["1", "2"]), Dataset("things", list("abcdef"), table=table)]
    )


def test_items_are_found_by_words_then_by_meaning() -> None:
    pytest.importorskip("onnxruntime")
    found = hetviz.find_items(things(), "drink")
    assert found["title"].tolist()[0] == "drink" and found["by"].tolist()[0] == "words"
    similar = found[found["by"] == "meaning"]
    assert set(similar["title"]) == {"hot beverage", "glass of wine"}
    assert similar["similarity"].between(item_search.MIN_SIMILARITY, 1).all()
    assert set(found["dataset"]) == {"things"} and set(similar["id"]) == {"a", "b"}
    assert hetviz.find_items(things(), "drink", by_meaning=False)["title"].tolist() == ["drink"]


@pytest.mark.parametrize("query", ["xqvwz", "12", "", "mitochondrial sequencing"])
def test_unrelated_query_finds_nothing(query: str) -> None:
    assert hetviz.find_items(things(), query).query("by == 'meaning'").empty


def test_without_model_or_with_many_items_only_words_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_search, "MAX_ITEMS", 7)
    assert hetviz.find_items(things(), "beverage to drink").empty
    monkeypatch.setattr(item_search, "MAX_ITEMS", 8)
    monkeypatch.setattr(sentence_vectors, "_PACKAGES", ("no_such_package",))
    assert hetviz.find_items(things(), "beverage to drink").empty


def test_texts_of_items_are_titles_and_free_text() -> None:
    about = ["A long text about the first thing, " * 20, None]
    table = pd.DataFrame({"name": ["one", "two"], "about": about, "kind": ["x", "y"]})
    first, second = item_search.item_texts(
        Dataset("d", ["a", "b"], table=table, recipe={"text": ["about"]})
    )
    assert first.startswith("one. A long text") and len(first) == 200
    assert second == "two"
    assert item_search.item_texts(Dataset("d", ["1", "2"])) == ["", ""]


def test_items_are_found_by_words_of_their_columns() -> None:
    table = pd.DataFrame(
        {
            "name": ["Lear", "Miranda", "Viola", "Titus"],
            "plot": [
                "A king ♚ divides his land",
                "An island and a storm",
                "A storm, and a twin",
                "He wins",
            ],
            "genre": ["tragedy", "comedy", "comedy", "tragedy"],
        }
    )
    data = HeteroData([Dataset("plays", list("abcd"), table=table)])
    found = hetviz.find_items(data, "storm a", by_meaning=False)
    assert found[["title", "column"]].values.tolist() == [["Miranda", "plot"], ["Viola", "plot"]]
    assert len(hetviz.find_items(data, "storm", n=1, by_meaning=False)) == 1
    assert hetviz.find_items(data, "storm", n=1, by_meaning=False).attrs["n_found"] == 2
    # Words that begin with the query come before those that only contain it.
    assert hetviz.find_items(data, "win", by_meaning=False)["title"].tolist() == ["Titus", "Viola"]
    # A single letter is not looked up in columns, a single sign of another kind is.
    assert hetviz.find_items(data, "k", by_meaning=False).empty
    assert hetviz.find_items(data, "♚", by_meaning=False)["title"].tolist() == ["Lear"]
    # A query may name the column, and a colon alone names none.
    assert hetviz.find_items(data, "PLOT: king", by_meaning=False)["id"].tolist() == ["a"]
    assert hetviz.find_items(data, "genre: king", by_meaning=False).empty
    assert hetviz.find_values(data, "com").values.tolist() == [["plays", "genre", "comedy", 2]]
    assert hetviz.find_values(data, "genre:")["value"].tolist() == ["tragedy", "comedy"]
    assert hetviz.find_values(data, "plot: comedy").empty


def test_values_of_labels_replace_those_of_their_column() -> None:
    table = pd.DataFrame({"kind": ["red", "red", "blue", "blue"]})
    things = Dataset("things", list("abcd"), table=table)
    data = HeteroData([things], labels=[Labels("things", "kind", ["red", "red", "red", None])])
    assert hetviz.find_values(data, "kind:").values.tolist() == [["things", "kind", "red", 3]]
