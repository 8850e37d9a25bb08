"""Scores of likeness within datasets and of links between items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import ParameterError
from hetviz.features.problems.link_scores import link_scores
from hetviz.features.spaces.similarity import similarities, similarity_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 4))
IDS = [f"i{k}" for k in range(12)]


def dense(like: Any) -> Any:
    return like.to_fitted(like.dataset)


@pytest.mark.parametrize("kind", ["auto", "rbf", "cosine"])
@pytest.mark.parametrize("sparse", [False, True])
def test_similarity_range(kind: str, sparse: bool) -> None:
    like = similarity_of(Dataset("a", IDS, sp.csr_array(X) if sparse else X), kind)
    S = dense(like)
    np.testing.assert_allclose(S.diagonal(), 1.0, atol=1e-7)
    assert (S >= 0).all()
    assert (S <= 1).all()
    np.testing.assert_allclose(S, S.T, atol=1e-12)
    new = like.to_fitted(Dataset("a", ["x"], sp.csr_array(X[[4]]) if sparse else X[[4]]))
    np.testing.assert_allclose(new[0], S[4], atol=1e-7)
    np.testing.assert_allclose(like.of_row(4), S[4], atol=1e-12)


def test_similarity_normalises_kernels() -> None:
    K = X @ X.T
    like = similarity_of(Dataset("a", IDS, kernel=K), "kernel")
    S = dense(like)
    size = np.sqrt(K.diagonal())
    np.testing.assert_allclose(S, np.clip(K / np.outer(size, size), 0, 1), atol=1e-12)
    new = like.to_fitted(Dataset("a", ["x"], kernel=K[[4]]))
    np.testing.assert_allclose(new[0], S[4], atol=1e-12)
    np.testing.assert_allclose(like.of_row(4), S[4], atol=1e-12)


def test_similarity_of_new_kernel_rows() -> None:
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    fitted, others = np.arange(8), np.arange(8, len(X))
    like = similarity_of(Dataset("a", IDS[:8], kernel=K[np.ix_(fitted, fitted)]))
    new = Dataset("a", IDS[8:], kernel=K[np.ix_(others, fitted)])
    np.testing.assert_allclose(like.to_fitted(new), K[np.ix_(others, fitted)], atol=1e-12)
    S, twin = like.with_twins(new)
    np.testing.assert_allclose(S.max(axis=1), 1.0)
    assert (twin < 0).all()
    # a row longer than usual cannot have the usual length
    long = Dataset("a", ["long"], kernel=3.0 * K[[0]][:, fitted])
    np.testing.assert_allclose(like.to_fitted(long), K[[0]][:, fitted], atol=1e-12)
    # the twin of a short item stays short
    size = np.linspace(0.5, 2.0, 8)
    uneven = similarity_of(Dataset("a", IDS[:8], kernel=np.outer(size, size) * K[:8, :8]))
    twin_row = Dataset("a", ["x"], kernel=uneven.dataset.kernel[[0]])
    np.testing.assert_allclose(uneven.to_fitted(twin_row)[0], K[0, :8], atol=1e-12)


def test_similarity_of_distances() -> None:
    D = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    like = similarity_of(Dataset("a", IDS, distance=D))
    median = np.median(D[np.triu_indices(12, 1)])
    np.testing.assert_allclose(dense(like), np.exp(-2.0 * (D / median) ** 2), atol=1e-12)


def test_similarity_refuses_missing_input() -> None:
    bare = Dataset("bare", IDS)
    assert similarity_of(bare) is None
    assert similarity_of(Dataset("a", IDS, X), "none") is None
    with pytest.raises(ParameterError, match="'bare' has none"):
        similarity_of(bare, "rbf")
    with pytest.raises(ParameterError, match="needs a kernel"):
        similarity_of(Dataset("a", IDS, X), "kernel")


def test_similarities_by_dataset() -> None:
    datasets = [Dataset("a", IDS, X), Dataset("b", IDS, X), Dataset("bare", IDS)]
    kinds = {name: like.kind for name, like in similarities(datasets, {"b": "cosine"}).items()}
    assert kinds == {"a": "rbf", "b": "cosine"}
    assert not similarities(datasets, "none")


def test_similarity_finds_equal_fitted_item() -> None:
    like = similarity_of(Dataset("a", IDS, X))
    new = Dataset("a", ["x", "y"], np.vstack([X[7], X[7] + 0.01]))
    S, twin = like.with_twins(new)
    np.testing.assert_array_equal(S, like.to_fitted(new))
    assert twin.tolist() == [7, -1]


def test_similarity_pairs_of_large_datasets() -> None:
    rows = RNG.normal(size=(300, 3))
    ids = [str(k) for k in range(300)]
    every = similarity_of(Dataset("a", ids, rows)).pairs()
    for dataset, kind in (
        (Dataset("a", ids, rows), "auto"),
        (Dataset("a", ids, sp.csr_array(rows)), "cosine"),
        (Dataset("a", ids, kernel=rows @ rows.T + 1.0), "kernel"),
    ):
        like = similarity_of(dataset, kind)
        i, j, s, share = like.pairs(max_items=100)
        assert len(i) <= 300 * 60
        np.testing.assert_allclose(s, dense(like)[i, j], atol=1e-7)
        assert share.sum() == pytest.approx(300**2, rel=1e-9)
    i, j, s, share = similarity_of(Dataset("a", ids, rows)).pairs(max_items=100)
    assert share @ s == pytest.approx(every[2].sum(), rel=0.1)


def linked() -> HeteroData:
    a, b = Dataset("a", IDS, X), Dataset("b", ["x", "y", "z"])
    return HeteroData(
        [a, b],
        [
            Links("a", "b", [0, 1, 2], [0, 1, 2], [0.5, -1.0, 1.0]),
            Links("b", "a", [0], [0], [1.0], kind="again"),
            Links("b", "b", [2], [0], score=[7.0]),
        ],
    )


def test_link_scores_follow_dataset_order() -> None:
    across, inside = link_scores(linked(), 0.9)
    assert (across.source, across.target) == ("a", "b")
    assert dict(
        zip(zip(across.i.tolist(), across.j.tolist(), strict=True), across.s, strict=True)
    ) == {
        (0, 0): pytest.approx(0.9),
        (1, 1): 0.0,
        (2, 2): pytest.approx(0.9),
    }
    assert inside.within
    assert (inside.i.tolist(), inside.j.tolist(), inside.s.tolist()) == ([0], [2], [7.0])
    weighed = link_scores(linked(), "weight", apart=-1.0)[0]
    assert weighed.s.tolist() == [0.75, -1.0, 1.0]


def test_link_scores_of_complete_links() -> None:
    data = HeteroData([Dataset("b", ["x", "y", "z"])], [Links("b", "b", [2], [0], complete=True)])
    expected = link_scores(data)[0]
    assert expected.complete
    pairs = dict(
        zip(zip(expected.i.tolist(), expected.j.tolist(), strict=True), expected.s, strict=True)
    )
    assert pairs == {(0, 2): 1.0, (0, 1): 0.0, (1, 2): 0.0}
