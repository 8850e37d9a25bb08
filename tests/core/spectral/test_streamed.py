"""Features read in blocks from memory or a file, against features in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from hetviz.core.spectral import prepare
from hetviz.core.spectral.blocks import BLOCK_ROWS, FeatureBlock, StreamedBlock
from hetviz.core.spectral.guided import guided_projection
from hetviz.core.spectral.prepare import make_block
from hetviz.errors import DataError


def problem(n=(2 * BLOCK_ROWS + 37, 900), widths=(7, 5), links=4000, negative=0.1):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(m, d)) * 10.0 + 50.0 for m, d in zip(n, widths, strict=True)]
    i, j = rng.integers(0, sum(n), (2, links))
    w = rng.uniform(0.1, 1.0, links) * np.where(rng.random(links) < negative, -1, 1)
    W = sp.csr_array((w, (i, j)), shape=(sum(n), sum(n)))
    return X, ((W + W.T) / 2).tocsr()


def on_disk(X, path: Path, dtype) -> np.memmap:
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=X.shape)
    mapped[:] = X
    mapped.flush()
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("signed", ["ratio", "similarity"])
@pytest.mark.parametrize("path", ["dense", "operator"])
def test_streamed_blocks_equal_memory_and_files(signed, path, tmp_path, monkeypatch):
    X, W = problem()
    whole = guided_projection(X, W, signed=signed)
    mapped = [on_disk(x, tmp_path / f"{v}.npy", np.float64) for v, x in enumerate(X)]
    from_file = guided_projection(mapped, W, signed=signed, path=path)
    monkeypatch.setattr(prepare, "STREAM_ENTRIES", 100)
    in_pieces = guided_projection(X, W, signed=signed, path=path)
    for result in (from_file, in_pieces):
        assert_allclose(result.mu, whole.mu, atol=1e-11)
        for Y, Z in zip(result.embeddings, whole.embeddings, strict=True):
            assert_allclose(Y, Z, atol=1e-8)
        assert_allclose(result.maps[0](X[0]), whole.embeddings[0], atol=1e-8)


def test_single_precision_is_summed_in_double(tmp_path):
    X, W = problem()
    rounded = [x.astype(np.float32).astype(np.float64) for x in X]
    whole = guided_projection(rounded, W)
    mapped = [on_disk(x, tmp_path / f"{v}.npy", np.float32) for v, x in enumerate(X)]
    result = guided_projection(mapped, W)
    assert_allclose(result.mu, whole.mu, atol=1e-11)
    assert_allclose(result.embeddings[0], whole.embeddings[0], atol=1e-8)


def test_streamed_block_products(tmp_path):
    X, W = problem()
    weights = abs(W).sum(axis=1)[: len(X[0])]
    block = make_block(on_disk(X[0], tmp_path / "x.npy", np.float64), weights)
    other = make_block(X[0], weights)
    assert isinstance(block, StreamedBlock)
    assert isinstance(other, FeatureBlock)
    assert block.ridge == pytest.approx(other.ridge)
    rng = np.random.default_rng(1)
    P, Y = rng.normal(size=(7, 3)), rng.normal(size=(len(X[0]), 3))
    S = W[: len(X[0])][:, : len(X[0])]
    mass = rng.random(len(X[0])) * (rng.random(len(X[0])) < 0.5)
    scattered, whole = np.array([3, 9, 4000]), np.arange(5, 3000)
    for ours, theirs in (
        (block.dot(P), other.dot(P)),
        (block.tdot(Y), other.tdot(Y)),
        (block.spread(S), other.spread(S)),
        (block.gather(scattered, Y[:3]), other.gather(scattered, Y[:3])),
        (block.gather(whole, Y[whole]), other.gather(whole, Y[whole])),
        (block.gram(mass), other.gram(mass)),
        (block.gram(weights), other.gram(weights)),
        (block.cross(S, other), other.cross(S, block)),
    ):
        assert_allclose(ours, theirs, atol=1e-8 * np.abs(theirs).max())


def test_bad_value_in_a_file_is_named(tmp_path):
    X, W = problem()
    X[0][3000, 2] = np.inf
    mapped = on_disk(X[0], tmp_path / "x.npy", np.float32)
    with pytest.raises(DataError, match="words, row 3001, feature 3"):
        guided_projection([mapped, X[1]], W, names=["words", "others"])


def test_constant_features_have_zero_coefficients(tmp_path):
    X, W = problem()
    wider = np.hstack([X[0], np.full((len(X[0]), 1), 7.0)])
    result = guided_projection([on_disk(wider, tmp_path / "x.npy", np.float64), X[1]], W)
    assert_allclose(result.maps[0].coefficients[7], 0.0, atol=1e-12)
