"""Reasons of maps that were made elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, NotApplicableError, ParameterError

N = 240


def _data(columns: dict[str, Any]) -> HeteroData:
    return HeteroData([Dataset("items", list(map(str, range(N))), table=pd.DataFrame(columns))])


def _map(data: HeteroData, places: np.ndarray) -> Embedding:
    empty = {name: np.full((len(data[name]), 2), np.nan) for name in data.datasets}
    return Embedding(empty | {"items": places}, {name: data[name].ids for name in data.datasets})


@pytest.fixture(scope="module")
def group() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 4, N)


@pytest.fixture(scope="module")
def places(group: np.ndarray) -> np.ndarray:
    centres = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])
    return centres[group] + np.random.default_rng(1).normal(size=(N, 2))


def _columns(group: np.ndarray, places: np.ndarray) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    days = pd.to_timedelta((200 * group + rng.integers(0, 50, N)).astype(int), unit="D")
    return {
        "x": 3 * places[:, 0] + 1,
        "kind": np.array(["ash", "oak", "elm", "fir"])[group],
        "when": pd.Timestamp("2020-01-01") + days,
        "tags": [f"t{g}; {'ab'[k % 2]}" for k, g in enumerate(group)],
        "noise": rng.normal(size=N),
        "shop": rng.integers(0, 20, N).astype(str),
        "item id": np.argsort(np.argsort(group)),
    }


def test_reasons_name_columns_of_all_kinds_and_leave_out_axes_and_ids(
    group: np.ndarray, places: np.ndarray
) -> None:
    data = _data(_columns(group, places))
    found = hetviz.why(data, _map(data, places))
    assert {reason.column: reason.kind for reason in found.reasons} == {
        "kind": "category",
        "when": "date",
        "tags": "words",
    }
    assert found.reasons[0].column in ("kind", "when")
    assert found.axes == ("x",)
    assert found.n_compared == 5
    kind = next(reason for reason in found.reasons if reason.column == "kind")
    assert kind.near > 0.8 and kind.chance < 0.4
    assert kind.sentence in found._repr_html_()
    assert found.frame()["column"].tolist() == [reason.column for reason in found.reasons]


def test_answers_that_are_given_or_not_explain_a_map(group: np.ndarray, places: np.ndarray) -> None:
    coin = np.random.default_rng(3).integers(0, 2, N)
    answers = {"been north": group == 2, "owns a dog": coin == 1}
    data = _data(
        {name: ["yes" if given else None for given in has] for name, has in answers.items()}
    )
    (reason,) = hetviz.why(data, _map(data, places)).reasons
    assert (reason.kind, reason.column) == ("given", "been north")
    assert reason.near > 0.95 and reason.chance == pytest.approx(0.625, abs=0.06)
    assert "both have it or both do not" in reason.sentence


def test_reasons_are_empty_without_a_cause(group: np.ndarray, places: np.ndarray) -> None:
    columns = _columns(group, places)
    data = _data({name: columns[name] for name in ("noise", "shop")})
    found = hetviz.why(data, _map(data, places))
    assert not found.reasons
    assert found.sentence.startswith("None of 2")
    bare = HeteroData([Dataset("items", list(map(str, range(N))))])
    assert hetviz.why(bare, _map(bare, places)).n_compared == 0


def test_reasons_of_few_items_are_empty() -> None:
    data = HeteroData([Dataset("items", list("abc"), table=pd.DataFrame({"kind": list("xyx")}))])
    found = hetviz.why(data, Embedding({"items": np.eye(3)[:, :2]}, {"items": list("abc")}))
    assert found.n_compared == 0


def test_numbers_that_label_explain_as_values_that_items_share(
    group: np.ndarray, places: np.ndarray
) -> None:
    number = 100 * np.array([17, 3, 29, 11])[group] + np.arange(N) % 5
    data = _data({"shop id": number, "order id": np.argsort(np.argsort(group))})
    found = hetviz.why(data, _map(data, places))
    assert [(one.kind, one.column) for one in found.reasons] == [("category", "shop id")]


def test_linked_items_explain_a_map(group: np.ndarray, places: np.ndarray) -> None:
    items = Dataset("items", list(map(str, range(N))))
    tags = Dataset("tags", [f"tag {k}" for k in range(8)])
    own = 2 * group + np.arange(N) % 2
    links = Links("items", "tags", np.arange(N), own, kind="has")
    data = HeteroData([items, tags], [links])
    found = hetviz.why(data, _map(data, places))
    assert [(reason.kind, reason.column) for reason in found.reasons] == [("shared", "tags")]
    # Tags have places, too, each among its items.
    near = np.repeat([places[own == k].mean(axis=0) for k in range(8)], 3, axis=0)
    many = HeteroData(
        [items, Dataset("tags", list(map(str, range(24))))],
        [Links("items", "tags", np.arange(N), 3 * own, kind="has")],
    )
    embedding = Embedding({"items": places, "tags": near}, {n: many[n].ids for n in many.datasets})
    kinds = {reason.kind for reason in hetviz.why(many, embedding).reasons}
    assert kinds == {"link", "shared"}


def test_columns_of_linked_items_explain_a_map(group: np.ndarray, places: np.ndarray) -> None:
    kinds = np.array(["ash", "oak", "elm", "fir"])
    n_goods = 40
    table = pd.DataFrame(
        {"kind": kinds[np.arange(n_goods) % 4], "size": np.arange(n_goods) % 4 * 5.5}
    )
    goods = Dataset("goods", [f"good {k}" for k in range(n_goods)], table=table)
    bought = group + 4 * np.random.default_rng(3).integers(0, 10, N)
    items = Dataset("items", list(map(str, range(N))))
    links = Links("items", "goods", np.arange(1, N), bought[1:], kind="bought")
    data = HeteroData([items, goods], [links])
    embedding = _map(data, places)
    found = hetviz.why(data, embedding)
    best = found.reasons[0]
    assert (best.column, best.source, best.kind) == ("kind", "goods", "category")
    assert "kind of linked goods" in found.sentence
    assert {reason.column for reason in found.reasons} == {"kind", "size", "goods"}
    ash, oak = (str(np.flatnonzero(group[1:] == g)[0] + 1) for g in (0, 1))
    pair = hetviz.why(data, embedding, "items", ash, other=oak)
    values = {value.column: (value.first, value.second) for value in pair.values}
    assert values["kind of linked goods"] == ("ash", "oak")
    # An item without links has no value.
    pair = hetviz.why(data, embedding, "items", "0", other=oak)
    assert {value.verdict for value in pair.values} == {"unknown"}


def test_pair_is_explained_by_columns_that_explain_the_map(
    group: np.ndarray, places: np.ndarray
) -> None:
    data = _data(_columns(group, places))
    embedding = _map(data, places)
    same, different = (np.flatnonzero(group == g) for g in (0, 3))
    near = same[np.argsort(np.linalg.norm(places[same] - places[same[0]], axis=1))[1]]
    close = hetviz.why(data, embedding, "items", str(same[0]), other=str(near))
    assert close.closer < 0.1
    assert {value.column: value.verdict for value in close.values}["kind"] == "alike"
    assert "noise" not in close.frame()["column"].tolist()
    far = hetviz.why(data, embedding, "items", str(same[0]), other=("items", str(different[0])))
    assert far.closer > 0.5 and "far apart" in far.sentence
    assert {value.column: value.verdict for value in far.values}["kind"] == "different"
    assert far.to_dict()["sentence"] == far.sentence


def test_pair_names_links_of_both(places: np.ndarray) -> None:
    tags = Dataset("tags", ["red", "blue"])
    links = [
        Links("items", "tags", [0, 1], [0, 0], kind="has"),
        Links("items", "items", [0], [1], kind="likes"),
    ]
    data = HeteroData([Dataset("items", list(map(str, range(N)))), tags], links)
    pair = hetviz.why(data, _map(data, places), "items", "0", other="1")
    assert pair.is_linked and pair.shared == ("red",)
    with pytest.raises(NotApplicableError, match="no place"):
        hetviz.why(data, _map(data, places), "items", "0", other=("tags", "red"))


def test_item_of_a_foreign_map_is_like_its_nearest(group: np.ndarray, places: np.ndarray) -> None:
    data = _data(_columns(group, places))
    centre = np.argmin(np.linalg.norm(places - places[group == 3].mean(axis=0), axis=1))
    why = hetviz.why(data, _map(data, places), "items", str(centre))
    assert "The closest items are like it in" in why.note and "kind" in why.note
    with pytest.raises(ParameterError, match="dataset and its id"):
        hetviz.why(data, _map(data, places), "items")  # type: ignore[call-overload]


def test_map_from_columns_takes_named_or_recognised_columns() -> None:
    table = pd.DataFrame(
        {"UMAP1": ["1", "", "3"], "UMAP2": [4, 5, 6], "a1": [1, 2, 3], "a2": [7, 8, 9]}
    )
    data = HeteroData([Dataset("rows", list("abc"), table=table), Dataset("bare", list("xy"))])
    embedding = hetviz.map_from_columns(data)
    assert embedding["rows"][[0, 2]].tolist() == [[1, 4], [3, 6]]
    assert embedding.placed["rows"].tolist() == [True, False, True]
    assert not embedding.placed["bare"].any()
    assert hetviz.map_from_columns(data, "a1", "a2")["rows"].tolist() == [[1, 7], [2, 8], [3, 9]]
    with pytest.raises(DataError, match="both columns as numbers"):
        hetviz.map_from_columns(data, "a1", "b")


def test_map_from_columns_recognises_longitude_and_latitude() -> None:
    table = pd.DataFrame(
        {"lat": [47.1, 48.3], "lng": [15.4, 14.3], "score1": [1, 2], "score2": [2, 1]}
    )
    data = HeteroData([Dataset("towns", list("ab"), table=table)])
    assert hetviz.map_from_columns(data)["towns"].tolist() == [[15.4, 47.1], [14.3, 48.3]]
