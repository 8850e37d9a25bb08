"""Ridge and number of axes chosen by links held out in turn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.spectral.guided import axis_scale, guided_projection
from hetviz.core.spectral.guided_cv import FOLDS, _area, _folds, choose
from hetviz.errors import NotApplicableError


def problem(n=60, width=40, links=60, seed=0):
    """Two datasets of much noise over two shared directions."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    X = [np.hstack([Z + 0.3 * rng.normal(size=Z.shape), rng.normal(size=(n, width))]) for _ in "ab"]
    i = np.arange(links)
    entries = (np.ones(links), (i, n + i))
    W = sp.csr_array(entries, shape=(2 * n, 2 * n))
    return X, sp.csr_array(W + W.T)


def test_area_is_what_refitting_without_each_fold_gives():
    X, W = problem(links=40)
    gammas, axes = (0.1, 5.0), (1, 2, 5)
    found = choose(X, W, gammas=gammas, axes=axes)
    p, q = sp.triu(W, 1).tocoo().coords
    fold = _folds(np.full(len(p), 1), np.ones(len(p), dtype=bool), 0)
    owner = np.repeat([0, 1], 60)
    expected = np.zeros((2, 3))
    for number in range(FOLDS):
        kept = fold != number
        half = sp.csr_array((np.ones(kept.sum()), (p[kept], q[kept])), shape=W.shape)
        for row, gamma in enumerate(gammas):
            fitted = guided_projection(X, half + half.T, gamma=gamma, n_components=5)
            for column, k in enumerate(axes):
                scale = axis_scale(fitted.mu[0, :k], 0.0 if k <= 3 else 1.0)
                Y = np.vstack(fitted.embeddings)[:, :k] * scale
                held = ~kept
                expected[row, column] += _area(Y, p[held], q[held], owner, [60, 60], 0) / FOLDS
    np.testing.assert_allclose(found.areas, expected, atol=1e-6)
    best = np.unravel_index(found.areas.argmax(), found.areas.shape)
    assert (found.gamma, found.n_components) == (gammas[best[0]], axes[best[1]])


def test_few_links_and_many_features_want_more_ridge():
    X, W = problem(links=30)
    found = choose(X, W, gammas=(1e-3, 10.0), axes=(2,))
    assert found.gamma == 10.0
    assert found.areas[1, 0] > found.areas[0, 0] + 0.02


def test_folds_are_even_within_every_kind_of_link_and_seeded():
    rng = np.random.default_rng(1)
    block, positive = rng.integers(0, 4, 203), rng.random(203) < 0.8
    fold = _folds(block, positive, 3)
    assert (fold == _folds(block, positive, 3)).all()
    assert (fold != _folds(block, positive, 4)).any()
    assert np.ptp(np.bincount(fold)) <= 1
    for value in range(4):
        counts = np.bincount(fold[(block == value) & positive], minlength=FOLDS)
        assert np.ptp(counts) <= 1


def test_tags_and_links_that_say_apart_take_part():
    X, W = problem(width=3)
    rng = np.random.default_rng(2)
    tags = np.digitize(X[0][:, 0], [-0.5, 0.5])
    W = sp.lil_array(sp.block_diag([W, sp.csr_array((3, 3))]))
    W[np.arange(60), 120 + tags] = 1.0
    for i, j in rng.integers(0, 60, (5, 2)):
        W[i, 60 + j] = -1.0
    W = sp.csr_array(W.tocsr() + W.tocsr().T)
    heard = []
    found = choose([*X, 3], W, gammas=(0.1,), axes=(1, 2), progress=heard.append)
    assert np.isfinite(found.areas).all()
    assert found.areas.max() > 0.6
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1.0)


def test_too_few_links_are_refused_with_the_remedy():
    X, W = problem(links=9)
    with pytest.raises(NotApplicableError, match=r"at least 10 links.*there are 9.*as numbers"):
        choose(X, W)
