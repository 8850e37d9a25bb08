"""The default color of a new map."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.metrics.color_choice import find_best_color


def test_find_best_color_skips_ids_and_random_columns() -> None:
    rng = np.random.default_rng(0)
    Y = rng.random((300, 2))
    group = (Y[:, 0] * 3).astype(int)
    table = pd.DataFrame(
        {
            "name": [f"item {k}" for k in range(300)],
            "side_id": [f"s{k}" for k in group],
            "by chance": rng.permutation(["a", "b", "c"] * 100),
            "kind": [["red", "green", "blue"][k] for k in group],
            "size": rng.random(300),
        }
    )
    few_rows = pd.DataFrame({"half": ["left"] * 10 + ["right"] * 10})
    ids = {"many": [f"m{k}" for k in range(300)], "few": [f"f{k}" for k in range(20)]}
    many = Dataset("many", ids["many"], table=table)
    data = HeteroData([many, Dataset("few", ids["few"], table=few_rows)])
    line = np.column_stack([np.arange(20.0), np.zeros(20)])
    places = {"many": Y, "few": line}

    def found(data: HeteroData) -> str | None:
        names = {name: part.ids for name, part in data.datasets.items()}
        kinds = {name: name for name in data.datasets}
        return find_best_color(data, Embedding(places, names, kinds))

    assert found(data) == json.dumps(["many", "kind"])
    # Numbers that grow along the map count as well.
    data = data.edit().replace(
        Dataset("many", ids["many"], table=table.drop(columns="kind").assign(size=Y[:, 1]))
    )
    assert found(data) == json.dumps(["many", "size"])
    data = data.edit().replace(Dataset("many", ids["many"], table=table[["by chance"]]))
    assert found(data) == json.dumps(["few", "half"])
    assert found(data.edit().replace(Dataset("few", ids["few"]))) is None


def test_web_addresses_are_no_first_color() -> None:
    rng = np.random.default_rng(0)
    Y = rng.random((300, 2))
    group = (Y[:, 0] * 4).astype(int)
    table = pd.DataFrame(
        {
            "url": [f"https://x.org/?year={k}" for k in group],
            "side": rng.permutation(["a", "b", "c"] * 100),
        }
    )
    data = HeteroData([Dataset("many", [f"m{k}" for k in range(300)], table=table)])
    m = Embedding({"many": Y}, {"many": data["many"].ids})
    assert find_best_color(data, m) != json.dumps(["many", "url"])
    renamed = table.drop(columns="url").assign(page=[f"year {k}" for k in group])
    other = HeteroData([Dataset("many", data["many"].ids, table=renamed)])
    assert find_best_color(other, m) == json.dumps(["many", "page"])


def test_column_that_several_tables_have_is_that_of_most_items() -> None:
    rng = np.random.default_rng(0)
    Y = rng.random((300, 2))
    kind = np.array(["red", "green", "blue"])[(Y[:, 0] * 3).astype(int)]
    # The smaller table separates better.
    many_kinds = np.where(rng.random(300) < 0.2, rng.permutation(kind), kind)
    ids = [f"m{k}" for k in range(300)]
    few = Dataset("few", ids[:60], table=pd.DataFrame({"kind": kind[:60]}))
    places = {"few": Y[:60], "many": Y}

    def found(column: str) -> str | None:
        many = Dataset("many", ids, table=pd.DataFrame({column: many_kinds}))
        links = Links("few", "many", np.arange(60), np.arange(60), np.ones(60))
        data = HeteroData([few, many], links=[links])
        names = {name: part.ids for name, part in data.datasets.items()}
        return find_best_color(data, Embedding(places, names, {name: name for name in names}))

    assert found("Kind") == json.dumps(["many", "Kind"])
    assert found("paint") == json.dumps(["few", "kind"])


def test_label_of_two_values_comes_before_other_columns() -> None:
    Y = np.random.default_rng(0).random((300, 2))
    table = pd.DataFrame({"third": [f"part {k}" for k in (Y[:, 0] * 3).astype(int)]})
    many = Dataset("many", [f"m{k}" for k in range(300)], table=table)
    label = Labels("many", "side", ["left" if x < 0.5 else "right" for x in Y[:, 0]])
    data = HeteroData([many], labels=[label])
    embedding = Embedding({"many": Y}, {"many": many.ids}, {"many": "many"})
    assert find_best_color(data, embedding) == json.dumps(["many", "side"])
