"""Data that are copied and pickled stay what they are: equal, and read-only."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from types import MappingProxyType
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hetviz
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Labels, Links


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def with_oldest_protocol(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value, protocol=2))


def example() -> HeteroData:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"name": ["a", "b", None], "size": [1.0, np.nan, 3.0]})
    dense = Dataset("dense", ["1", "2", "007"], rng.normal(size=(3, 4)), table=table)
    X = sp.random_array((5, 6), density=0.5, rng=rng, format="csr")
    sparse = Dataset("sparse", list("abcde"), X)
    tags = Dataset("tags", ["NA", "x"])
    links = Links("dense", "sparse", [0, 1], [2, 3], [1.0, -0.5], score=[0.2, 0.3])
    labels = Labels("dense", "kind", ["p", None, "q"])
    return HeteroData([dense, sparse, tags], [links], Comparisons([[0, 1, 2]]), [labels])


DATA = example()
AGAIN = pytest.mark.parametrize("again", [pickled, with_oldest_protocol, copy.deepcopy])


@AGAIN
def test_pickled_data_are_equal_and_read_only(again: Callable[[Any], Any]) -> None:
    data = HeteroData(DATA.datasets, DATA.links, DATA.comparisons, DATA.labels)
    assert data.n_objects == 10
    result = again(data)
    assert result is not data
    assert "object_of" not in vars(result)
    assert result.fingerprint() == data.fingerprint()
    assert result.n_objects == 10
    assert type(result.datasets) is MappingProxyType
    assert list(result.datasets) == list(data.datasets)
    pd.testing.assert_frame_equal(result["dense"].table, data["dense"].table)
    with pytest.raises(FrozenInstanceError):
        result.links = ()
    links = result.links[0]
    X = result["sparse"].X
    assert isinstance(X, sp.csr_array)
    arrays = [result["dense"].X, result["dense"].ids, X.data, X.indices, X.indptr]
    arrays += [links.i, links.j, links.weight, result.labels[0].values, result.comparisons.objects]
    for array in arrays:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


@AGAIN
def test_pickled_parts_are_equal_and_read_only(again: Callable[[Any], Any]) -> None:
    parts = [DATA["dense"], DATA["sparse"], DATA["tags"], *DATA.links, *DATA.labels]
    for part in [*parts, DATA.comparisons]:
        result = again(part)
        assert type(result) is type(part)
        assert repr(result) == repr(part)
    np.testing.assert_array_equal(again(DATA["dense"]).X, DATA["dense"].X)
    assert HeteroData([again(DATA["sparse"])]).fingerprint() == (
        HeteroData([DATA["sparse"]]).fingerprint()
    )


@AGAIN
def test_pickled_embedding_has_equal_scores(again: Callable[[Any], Any]) -> None:
    Y = {"dense": np.array([[0.0, 1.0], [np.nan, np.nan], [2.0, 3.0]])}
    embedding = Embedding(Y, {"dense": DATA["dense"].ids}, note="a map")
    result = again(embedding)
    np.testing.assert_array_equal(result.stacked(), embedding.stacked())
    assert list(result.ids["dense"]) == ["1", "2", "007"]
    assert result.note == "a map"
    assert result.n_unplaced == 1
    for mapping in (
        result.coordinates,
        result.ids,
        result.placed,
        result.entity,
        result.components,
    ):
        assert type(mapping) is MappingProxyType
    assert not result.coordinates["dense"].flags.writeable
    assert not result.placed["dense"].flags.writeable
    assert not result.ids["dense"].flags.writeable
    data = HeteroData([DATA["dense"]])
    scores = hetviz.evaluate(data, embedding)
    assert again(scores).to_dict() == scores.to_dict()


def test_copy_returns_the_same_object() -> None:
    assert copy.copy(DATA) is DATA
    assert copy.copy(DATA["dense"]) is DATA["dense"]


def test_pickle_keeps_shared_arrays() -> None:
    data, part = pickled((DATA, DATA["dense"]))
    assert part is data["dense"]


def test_fits_in_processes_of_joblib() -> None:
    # large enough for joblib to hand it over as a file mapped into memory
    rng = np.random.default_rng(1)
    large = Dataset("large", [str(k) for k in range(300)], rng.normal(size=(300, 500)))
    data = HeteroData([large])
    run = joblib.Parallel(n_jobs=2)
    result = run(joblib.delayed(hetviz.get_method("pca")().fit)(data) for _ in range(2))
    here = hetviz.get_method("pca")().fit(data)
    for method in result:
        np.testing.assert_array_equal(method.embedding_.stacked(), here.embedding_.stacked())
        assert not method.embedding_.coordinates["large"].flags.writeable
        np.testing.assert_array_equal(
            method.transform(Dataset("large", ["new"], large.X[:1] + 1.0)).stacked(),
            here.transform(Dataset("large", ["new"], large.X[:1] + 1.0)).stacked(),
        )
