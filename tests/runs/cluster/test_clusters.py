"""Clusters of a map and their cards: names, sentences, link agreement, labels, odd data."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.errors import ParameterError
from hetviz.runs.embed.run import fit_run

FRUIT = ["juice", "sweet", "summer"]
TOOLS = ["iron", "hard", "work"]


def fruit_and_tools() -> tuple[HeteroData, Embedding]:
    """Twelve fruit and twelve tools with three words each, in two distant groups."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(["fruit", "tool"], 12)
    things = Dataset(
        "things",
        [f"t{k}" for k in range(24)],
        table=pd.DataFrame({"kind": kinds, "weight": np.arange(24.0)}),
    )
    words = Dataset("words", FRUIT + TOOLS)
    i = np.repeat(np.arange(24), 3)
    j = np.concatenate([np.tile([0, 1, 2], 12), np.tile([3, 4, 5], 12)])
    links = Links("things", "words", i, j, np.ones(72))
    data = HeteroData([things, words], [links], labels=[Labels("things", "kind", kinds)])
    side = np.repeat([0.0, 10.0], 12)
    Y = {
        "things": np.c_[side, np.zeros(24)] + 0.1 * rng.normal(size=(24, 2)),
        "words": np.c_[np.repeat([0.0, 10.0], 3), np.zeros(6)] + 0.1 * rng.normal(size=(6, 2)),
    }
    return data, Embedding(Y, {name: d.ids for name, d in data.datasets.items()})


def test_cluster_card_describes_the_cluster() -> None:
    data, embedding = fruit_and_tools()
    clustering = hetviz.clusters(data, embedding, n_clusters=2)
    fruit = next(card for card in clustering.cards if "juice" in card.sentence)
    assert fruit.sentence == (
        "12 things and 3 words, all of the things fruit, with the words juice, summer, sweet."
    )
    assert fruit.name == "Fruit"
    assert (fruit.purity, fruit.label) == (1.0, "fruit")
    assert fruit.counts == {"things": 12, "words": 3}
    assert set(fruit.words["thing"]) == set(FRUIT)
    # All fruit, and the word itself among the three words.
    assert fruit.words["inside"].tolist() == pytest.approx([13 / 15] * 3)
    assert fruit.categories["thing"].tolist() == ["kind: fruit"]
    weight = fruit.features.iloc[0]
    assert (weight.thing, weight.effect) == ("weight", -1.0)
    assert (fruit.words["q"] >= fruit.words["p"]).all()
    assert clustering.choice.loc[0, "rand_given"] == 1.0
    assert np.isnan(clustering.choice.loc[0, "rand_held_out"])
    frame = clustering.frame()
    assert list(frame.columns) == ["dataset", "id", "cluster", "name"]
    assert frame["cluster"].between(1, 2).all()
    assert json.loads(json.dumps(clustering.to_dict()))["cards"][0]["number"] == 1


def test_clusters_do_not_depend_on_row_order() -> None:
    data, embedding = fruit_and_tools()
    mixed = np.random.default_rng(5).permutation(24)
    other = data.edit().reorder({"things": mixed})
    a = hetviz.clusters(data, embedding, n_clusters=3).frame().set_index(["dataset", "id"])
    b = hetviz.clusters(other, embedding, n_clusters=3).frame().set_index(["dataset", "id"])
    assert b.loc[a.index].equals(a)


def test_clusters_assign_held_out_items_to_the_nearest() -> None:
    data, embedding = fruit_and_tools()
    held = HeteroData(
        [Dataset("things", ["n1", "n2"]), Dataset("words", FRUIT + TOOLS)],
        [Links("things", "words", [0, 1], [0, 0], [1.0, 1.0])],
    )
    places = embedding.joined(
        Embedding({"things": [[0.0, 0.0], [10.0, 0.0]]}, {"things": ["n1", "n2"]})
    )
    clustering = hetviz.clusters(data, places, n_clusters=2, held_out=held)
    # One is close to the word that it is linked to, the other is not.
    assert clustering.choice.loc[0, "rand_held_out"] == 0.5


def test_clusters_by_label_skip_unlabelled_items() -> None:
    data, embedding = fruit_and_tools()
    values = [None, *data.label("kind").values[1:]]  # type: ignore[union-attr]
    data = HeteroData(
        [Dataset("things", data["things"].ids), data["words"]],
        data.links,
        labels=[Labels("things", "kind", values)],
    )
    clustering = hetviz.clusters(data, embedding, method="label", label="kind")
    assert clustering.names == ("Tool", "Fruit")
    assert [card.counts for card in clustering.cards] == [{"things": 12}, {"things": 11}]
    assert clustering.codes[0] == -1
    assert (clustering.codes[24:] == -1).all()
    juice = clustering.cards[1].linked
    assert juice["title"].tolist() == FRUIT
    assert juice["links"].tolist() == [11, 11, 11]


def test_clusters_handle_unplaced_rows_and_a_single_spot() -> None:
    data, embedding = fruit_and_tools()
    Y = {name: np.array(part) for name, part in embedding.coordinates.items()}
    Y["things"][0] = np.nan
    clustering = hetviz.clusters(data, Embedding(Y, embedding.ids), n_clusters=2)
    assert clustering.codes[0] == -1
    assert (clustering.codes[1:] >= 0).all()
    same = Embedding({name: np.ones_like(part) for name, part in Y.items()}, embedding.ids)
    one = hetviz.clusters(data, same)
    assert one.codes.tolist() == [0] * 30
    nowhere = Embedding({name: np.full_like(part, np.nan) for name, part in Y.items()})
    assert hetviz.clusters(data, nowhere).names == ()


def test_clusters_of_one_item() -> None:
    data = HeteroData([Dataset("things", ["a"])])
    clustering = hetviz.clusters(data, Embedding({"things": [[1.0, 2.0]]}, {"things": ["a"]}))
    assert clustering.names == ("Cluster 1",)
    assert clustering.cards[0].sentence == "1 things."


def test_clusters_in_full_space_use_more_axes() -> None:
    data = (
        hetviz.load("digits")
        .edit()
        .drop("shape")
        .edit()
        .subset({"pixels": range(80), "fourier": range(80)})
    )
    run = fit_run(data, "guided-projection")
    full = hetviz.clusters(data, run.result.embedding, n_clusters=3, space="full", run=run.result)
    assert full.space == "in 10 axes of Guided projection, fitted again"
    unknown = hetviz.clusters(data, run.result.embedding, n_clusters=3, space="full")
    assert unknown.space.startswith("on the map itself, which has no more axes")
    joint = fit_run(data, "joint-map", {"n_iter": 10, "n_axes": 8, "perplexity": 10.0})
    full = hetviz.clusters(
        data, joint.result.embedding, n_clusters=3, space="full", run=joint.result
    )
    assert full.space.endswith("joint axes of Joint map")
    wide = hetviz.embed(data, "guided-projection", n_components=4)
    assert hetviz.clusters(data, wide, n_clusters=3, space="full").space == (
        "in all 4 axes of the embedding"
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "spectral"}, "one of k-means"),
        ({"n_clusters": 0}, "from 1 to"),
        ({"n_clusters": 2.5}, "whole number"),
        ({"space": "moon"}, "map or full"),
        ({"method": "label"}, "give a label"),
        ({"label": "kind"}, "give a label"),
        ({"method": "label", "label": "colour"}, "no dataset has"),
    ],
)
def test_clusters_reject_bad_arguments(wrong: dict[str, object], words: str) -> None:
    data, embedding = fruit_and_tools()
    with pytest.raises(ParameterError, match=words):
        hetviz.clusters(data, embedding, **wrong)  # type: ignore[arg-type]
