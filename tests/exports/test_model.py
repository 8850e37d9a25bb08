"""Saved and loaded models of every method."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.predictor import BasePredictor
from hetviz.algorithms.registry import get_method, methods
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import DataError, HetvizError
from hetviz.exports.model import model_bytes
from hetviz.io.bundle.saving import to_zip
from tests.algorithms.test_contract import DATA
from tests.documents import header_of, with_header

KEYS = [card.key for card in methods()]
_PREFIX = struct.Struct("<6sBBQQ")
PLACES_NEW = [card.key for card in methods() if Capability.OUT_OF_SAMPLE in card.capabilities]


@pytest.fixture(autouse=True)
def _notes_are_expected() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UserWarning)
        yield


@cache
def fitted(key: str) -> BaseEmbedder:
    return get_method(key)().fit(DATA)


def new_rows() -> HeteroData:
    parts = [
        Dataset(name, [f"new {k}" for k in range(6)], part.X[:6] * 1.01 + 0.1, entity=part.entity)
        for name, part in DATA.datasets.items()
        if part.X is not None
    ]
    return HeteroData(parts)


def save_and_load(model: BaseEmbedder) -> BaseEmbedder:
    return hetviz.load_model(model_bytes(model))


@pytest.mark.parametrize("key", KEYS)
def test_saved_model_round_trip(key: str, tmp_path: Path) -> None:
    model = fitted(key)
    file = hetviz.save_model(model, tmp_path / "model.hetviz-model")
    loaded = hetviz.load_model(file)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.embedding_.stacked(), model.embedding_.stacked())
    assert loaded.stopping_reason_ == model.stopping_reason_
    assert model_bytes(loaded) == file.read_bytes()


@pytest.mark.parametrize("key", PLACES_NEW)
def test_loaded_model_transforms_like_the_fitted_one(key: str) -> None:
    model = fitted(key)
    loaded = save_and_load(model)
    placed, expected = loaded.transform(new_rows()), model.transform(new_rows())
    assert np.isfinite(expected.stacked()).any()
    np.testing.assert_array_equal(placed.stacked(), expected.stacked())
    # An item without features finds its place by its links.
    if key in ("guided-projection", "mr-sne"):
        tag = HeteroData([Dataset("tags", ["green"])])
        links = [("tags", "green", "first", "i3"), ("tags", "green", "first", "i4")]
        by_links, wanted = loaded.transform(tag, links), model.transform(tag, links)
        np.testing.assert_array_equal(by_links.stacked(), wanted.stacked())
    if isinstance(model, BasePredictor) and isinstance(loaded, BasePredictor):
        for rows in (new_rows(), DATA):
            assert loaded.predict(rows).equals(model.predict(rows))


@pytest.mark.parametrize(
    "features",
    [{"a": "precomputed", "b": "rbf"}, {"a": "rbf", "b": "precomputed"}],
)
def test_saved_model_keeps_kernels_and_distances(features: dict[str, str]) -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(12, 2))
    D = np.linalg.norm(Y[:, None] - Y[None], axis=2)
    K = X @ X.T
    ids = [f"{k}" for k in range(12)]
    data = HeteroData(
        [Dataset("a", ids, X if features["a"] == "rbf" else None, kernel=K),
         Dataset("b", ids, distance=D)],
        [Links("a", "b", np.arange(12), np.arange(12))],
    )  # fmt: skip
    model = get_method("guided-projection")(features=features).fit(data)
    features_of_new = X[:1] + 0.1 if features["a"] == "rbf" else None
    new = HeteroData(
        [
            Dataset("a", ["n"], features_of_new, kernel=K[:1] + 0.1),
            Dataset("b", ["n"], distance=D[:1] + 0.1),
        ]
    )
    expected = model.transform(new).stacked()
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(save_and_load(model).transform(new).stacked(), expected)


def test_saved_model_omits_tables_and_pictures() -> None:
    data = hetviz.load("emoji")
    model = get_method("pca")().fit(data)
    assert data["emoji"].table is not None
    assert data["emoji"].media is not None
    loaded: Any = save_and_load(model)
    assert loaded._fitted["emoji"].table is None
    assert loaded._fitted["emoji"].media is None


def test_save_model_rejects_unfitted() -> None:
    with pytest.raises(HetvizError, match="call fit before saving"):
        model_bytes(get_method("pca")())


def changed_model(change: Any) -> bytes:
    packed = model_bytes(fitted("pca"))
    fields = _PREFIX.unpack_from(packed)
    content = _PREFIX.pack(*fields[:2], 0, *fields[3:]) + zlib.decompress(packed[_PREFIX.size :])
    header = header_of(content)
    change(header["value"])
    return with_header(content, header)


def first_instance(document: dict[str, Any]) -> list[Any]:
    entry: list[Any] = next(
        value["$record"]
        for value in document["fields"].values()
        if isinstance(value, dict) and "$record" in value
    )
    return entry


def set_class(document: dict[str, Any], name: str) -> None:
    first_instance(document)[0] = name


@pytest.mark.parametrize(
    "change",
    [
        lambda d: set_class(d, "os.system"),
        lambda d: set_class(d, "hetviz.cli.arguments.print_result"),
        lambda d: set_class(d, "hetviz.errors.HetvizError"),
        lambda d: set_class(d, "hetviz.features.spaces.basis.fit_basis"),
        lambda d: set_class(d, "hetviz.features.spaces.basis.Mapping"),
        lambda d: first_instance(d)[1].update({"__class__": None}),
        lambda d: first_instance(d)[1].update({"else": None}),
        lambda d: d["fields"].update({"__dict__": {"$same": 0}}),
        lambda d: d["fields"].update({"embedding_": {"$same": 10**6}}),
        lambda d: d["fields"].pop("embedding_"),
        lambda d: d.update({"method": "no-such"}),
        lambda d: d.update({"fields": 3}),
    ],
)
def test_load_model_rejects_changed_file(change: Any) -> None:
    assert hetviz.load_model(changed_model(lambda _: None))
    with pytest.raises(DataError, match=r"saved model"):
        hetviz.load_model(changed_model(change))


def test_load_model_rejects_later_format() -> None:
    content = bytearray(model_bytes(fitted("pca")))
    content[6] = 99
    with pytest.raises(DataError, match="format 99 is not supported"):
        hetviz.load_model(bytes(content))


def test_load_model_rejects_other_files() -> None:
    with pytest.raises(DataError):
        hetviz.load_model(b"not a model")
    with pytest.raises(DataError, match=r"no model\.json"):
        hetviz.load_model(to_zip({"a.txt": b"a"}))
