from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Embedding
from hetviz.errors import DataError, ParameterError


def test_embedding_counts_unplaced_rows() -> None:
    Y = np.array([[0.0, 1.0], [np.nan, 2.0], [3.0, 4.0]])
    embedding = Embedding({"a": Y}, placed={"a": [True, False, False]})
    assert embedding.placed["a"].tolist() == [True, False, False]
    assert np.isnan(embedding.coordinates["a"][1:]).all()
    assert embedding.n_unplaced == 2
    assert Embedding({"a": Y}).n_unplaced == 1
    with pytest.raises(DataError, match="not finite"):
        Embedding({"a": Y}, placed={"a": [True, True, True]})
    with pytest.raises(DataError, match="shape"):
        Embedding({"a": np.zeros((2, 2)), "b": np.zeros((2, 3))})
    with pytest.raises(DataError, match="shape"):
        Embedding({"a": np.zeros((2, 0))})
    with pytest.raises(DataError, match="not all numbers"):
        Embedding({"a": [["left", "up"]]})


def test_embedding_frame_columns() -> None:
    embedding = Embedding({"a": np.zeros((2, 2)), "b": np.ones((1, 2))}, {"a": ["007", "NA"]})
    frame = embedding.frame()
    assert frame.columns.tolist() == ["dataset", "id", "x", "y", "placed"]
    assert frame["id"].tolist() == ["007", "NA", "0"]
    assert Embedding({"a": np.zeros((1, 5))}).frame().columns[2] == "c1"


def test_planar_notes_the_projection() -> None:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(40, 5)) * [1, 1, 9, 1, 5]
    Y[3] = np.nan
    embedding = Embedding({"a": Y})
    flat = embedding.planar()
    assert "principal" in flat.note
    assert np.isnan(flat.coordinates["a"][3]).all()
    placed = embedding.placed["a"]
    variance = flat.coordinates["a"][placed].var(axis=0)
    total = np.sort(np.linalg.eigvalsh(np.cov(Y[placed].T, bias=True)))[::-1]
    np.testing.assert_allclose(variance, total[:2])
    axes = embedding.planar("axes")
    np.testing.assert_array_equal(axes.coordinates["a"][placed], Y[placed][:, :2])
    line = Embedding({"a": Y[placed][:, :1]}).planar()
    assert np.ptp(line.coordinates["a"][:, 1]) == 0.0
    with pytest.raises(ParameterError, match="planar"):
        embedding.planar("magic")


def test_tsne_keeps_unplaced_rows_and_separates_clusters() -> None:
    rng = np.random.default_rng(0)
    Y = np.vstack([rng.normal(size=(20, 4)), rng.normal(size=(20, 4)) + 20])
    Y[0] = np.nan
    flat = Embedding({"a": Y}).planar("tsne").coordinates["a"]
    assert np.isnan(flat[0]).all()
    gap = np.linalg.norm(np.nanmean(flat[:20], axis=0) - flat[20:].mean(axis=0))
    assert gap > flat[20:].std()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("how", ["auto", "axes", "pca", "tsne"])
def test_planar_accepts_few_points(n: int, k: int, how: str) -> None:
    Y = np.full((6, k), np.nan)
    Y[:n] = np.random.default_rng(n).normal(size=(n, k))
    flat = Embedding({"a": Y}).planar(how)
    assert flat.coordinates["a"].shape == (6, 2)
    assert flat.placed["a"].sum() == n
    assert flat.note


def test_planar_keeps_notes_and_diagnostics() -> None:
    embedding = Embedding({"a": np.eye(4)}, note="HeMap: paired at random")
    for method, words in (("axes", "first two axes"), ("pca", "principal"), ("tsne", "t-SNE")):
        note = embedding.planar(method).note
        assert note.startswith("HeMap: paired at random; ")
        assert words in note


def test_joined_appends_new_rows() -> None:
    old = Embedding({"a": np.zeros((2, 2))}, {"a": ["x", "y"]})
    new = Embedding({"a": np.ones((1, 2)), "b": np.ones((1, 2))}, {"a": ["z"], "b": ["w"]})
    both = old.joined(new)
    assert list(both.ids["a"]) == ["x", "y", "z"]
    assert both.n_rows == 4
