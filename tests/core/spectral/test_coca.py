"""Collective component analysis: exact small cases, known special cases, invariances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from hetviz.core.spectral.coca import coca, learned_weights, relation, simplex_qp
from hetviz.core.spectral.sources import prepare_source
from hetviz.errors import DataWarning, NotApplicableError


def all_rows(n):
    return np.ones(n, dtype=bool)


def views(seed=0, n=40, widths=(5, 4, 3), scale="none"):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    X = [Z @ rng.normal(size=(2, d)) + 0.5 * rng.normal(size=(n, d)) for d in widths]
    return X, [prepare_source(x, all_rows(n), scale) for x in X]


def random_graph(seed=1, n=40, edges=90):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, edges))
    A = sp.csr_array((np.ones(edges), (i, j)), shape=(n, n))
    A = A + A.T
    A.setdiag(0)
    A.eliminate_zeros()
    return sp.csr_array(A.minimum(1.0))


def pca(X, k):
    Z = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return U[:, :k] * s[:k]


def same_up_to_sign(A, B, **tolerance):
    assert_allclose(A * np.sign((A * B).sum(axis=0)), B, **tolerance)


def test_two_rows_two_sources():
    X = np.array([[1.0], [-1.0]])
    result = coca([prepare_source(s * X, all_rows(2), "none") for s in (1.0, 2.0)], [], 1)
    assert_allclose(result.values, [(5 + np.sqrt(73)) / 2])
    assert_allclose([U[0, 0] for U in result.directions], [0.5695948, 0.8219256], atol=1e-7)
    assert_allclose(result.scores[:, 0], [1.1067230, -1.1067230], atol=1e-7)


def test_two_rows_two_sources_by_difference():
    X = np.array([[1.0], [-1.0]])
    sources = [prepare_source(s * X, all_rows(2), "none") for s in (1.0, 2.0)]
    result = coca(sources, [], 1, alpha=0.1, agreement="difference")
    # (w - 2 alpha) x'x and 2 alpha x'z: [[.6, .8], [.8, 2.4]]
    assert_allclose(result.values, [1.5 + np.sqrt(0.81 + 0.64)])


@pytest.mark.parametrize("weights", [None, np.array([0.6, 0.3, 0.1])])
@pytest.mark.parametrize("weights_in", ["all", "diagonal"])
def test_agreement_by_difference_is_the_printed_objective(weights, weights_in):
    _, sources = views()
    alpha, w = 0.02, np.full(3, 1 / 3) if weights is None else weights
    result = coca(
        sources,
        [],
        2,
        alpha=alpha,
        agreement="difference",
        source_weights=weights,
        weights_in=weights_in,
    )
    size = np.sqrt(3 * w) if weights_in == "all" else np.ones(3)

    def printed(u):
        parts = np.split(u, np.cumsum([source.r for source in sources])[:-1])
        Y = [source.dot(part[:, None]) for source, part in zip(sources, parts, strict=True)]
        apart = sum(
            ((size[j] * Y[j] - size[h] * Y[h]) ** 2).sum() for j in range(3) for h in range(3)
        )
        return sum(w[j] * (Y[j] ** 2).sum() for j in range(3)) - alpha * apart

    U = np.vstack(result.directions)
    assert_allclose([printed(u) for u in U.T], result.values)
    # (4.3) is stationary on |u| = 1 there: its gradient points along u
    h = 1e-5
    slope = [
        (printed(U[:, 0] + h * e) - printed(U[:, 0] - h * e)) / (2 * h) for e in np.eye(len(U))
    ]
    assert_allclose(slope, 2 * result.values[0] * U[:, 0], atol=1e-6)
    assert result.values[0] == max(result.values)


def test_without_agreement_both_forms_are_one():
    _, sources = views()
    first, second = (
        coca(sources, [], 2, alpha=0.0, agreement=a) for a in ("product", "difference")
    )
    assert_allclose(first.scores, second.scores)


def test_one_source_is_pca_and_equal_factors_are_pca_of_all():
    X, sources = views()
    same_up_to_sign(coca(sources[:1], [], 2).scores, pca(X[0], 2), atol=1e-12)
    joined = coca(sources, [], 2, alpha=1 / 3)
    same_up_to_sign(joined.scores, pca(np.hstack(X), 2) / 3, atol=1e-12)


def test_without_agreement_the_strongest_source_dominates():
    X, sources = views()
    result = coca(sources, [], 1, alpha=0.0)
    strength = [np.linalg.svd(x - x.mean(0), compute_uv=False)[0] for x in X]
    lengths = [np.linalg.norm(U) for U in result.directions]
    assert_allclose(lengths, np.eye(3)[np.argmax(strength)], atol=1e-12)


def joint(sources, C, M):
    n = len(sources[0].present)
    parts = [s.dot(np.eye(s.r)) for s in sources]
    assert parts[0].shape[0] == n
    rows = []
    for j, left in enumerate(parts):
        row = [C[j, h] * left.T @ right for h, right in enumerate(parts)]
        row[j] = row[j] + left.T @ M @ left
        rows.append(row)
    return np.block(rows)


@pytest.mark.parametrize("weights_in", ["all", "diagonal"])
def test_axes_are_eigenvectors_of_the_joint_matrix(weights_in):
    _, sources = views()
    graphs = [relation(random_graph(seed)) for seed in (1, 2)]
    w, v = np.array([0.5, 0.3, 0.2]), np.array([0.8, 0.2])
    result = coca(
        sources, graphs, 2, alpha=2.0, source_weights=w, graph_weights=v, weights_in=weights_in
    )
    C = np.full((3, 3), 2.0) if weights_in == "diagonal" else 6.0 * np.sqrt(np.outer(w, w))
    np.fill_diagonal(C, w)
    A = joint(sources, C, (v[0] * graphs[0] + v[1] * graphs[1]).toarray())
    U = np.vstack(result.directions)
    assert_allclose(A @ U, U * result.values, atol=1e-10)
    assert_allclose(result.values, np.linalg.eigvalsh(A)[::-1][:2])
    mean = sum(s.dot(u) for s, u in zip(sources, result.directions, strict=True)) / 3
    assert_allclose(result.scores, mean, atol=1e-12)
    assert_allclose(result.scores.mean(axis=0), 0.0, atol=1e-12)
    M = v[0] * graphs[0] + v[1] * graphs[1]
    smooth = coca(
        sources,
        graphs,
        2,
        alpha=2.0,
        source_weights=w,
        graph_weights=v,
        weights_in=weights_in,
        output="smoothed",
    )
    assert_allclose(smooth.scores, mean + M @ mean, atol=1e-12)


def test_equal_weights_in_all_and_diagonal_agree():
    _, sources = views()
    everywhere, diagonal = (coca(sources, [], 2, weights_in=w) for w in ("all", "diagonal"))
    assert_allclose(everywhere.scores, diagonal.scores, atol=1e-12)


@pytest.mark.parametrize("widths", [(5, 4, 3), (5, 2, 6)])
def test_block_constraint_is_kept_monotone_and_bounded(widths):
    _, sources = views(widths=widths)
    graph = relation(random_graph())
    result = coca(sources, [graph], 3, constraint="block")
    history = np.array(result.history)
    assert (np.diff(history) >= -1e-10 * abs(history[-1])).all()
    assert history[-1] > history[0]
    assert history[-1] <= result.bound
    assert_allclose(result.values.sum(), history[-1])
    for U in result.directions:
        inner = U.T @ U if len(U) >= 3 else U @ U.T
        assert_allclose(inner, np.eye(len(inner)), atol=1e-10)


def test_rescaled_sources_have_unit_axes():
    _, sources = views()
    for U in coca(sources, [], 2, constraint="rescaled").directions:
        assert_allclose(np.linalg.norm(U, axis=0), 1.0)


def test_relations_alone_are_the_centred_eigenvectors():
    A = random_graph(n=60)
    result = coca([], [relation(A)], 3)
    root = np.sqrt(np.maximum(A.sum(axis=1), 1e-300))
    M = A.toarray() / np.outer(root, root)
    H = np.eye(60) - 1 / 60
    values, Y = np.linalg.eigh(H @ M @ H)
    assert_allclose(result.values, values[::-1][:3], atol=1e-12)
    linked = A.sum(axis=1) > 0
    assert np.isnan(result.scores[~linked]).all()
    same_up_to_sign(result.scores[linked], Y[:, ::-1][linked, :3], atol=1e-8)
    plain = coca([], [relation(A, "none")], 1)
    assert plain.values[0] > result.values[0]


def test_empty_relation_changes_nothing():
    _, sources = views()
    nothing = relation(sp.csr_array((40, 40)))
    assert_allclose(coca(sources, [nothing], 2).scores, coca(sources, [], 2).scores)


@pytest.mark.parametrize("scale", ["block", "norm", "zscore", "none"])
def test_order_of_sources_and_rows_does_not_matter(scale):
    X, sources = views(scale=scale)
    before = coca(sources, [], 2)
    turned = coca(sources[::-1], [], 2)
    assert_allclose(turned.scores, before.scores, atol=1e-10)
    assert_allclose(turned.directions[0], before.directions[2], atol=1e-10)
    order = np.random.default_rng(0).permutation(40)
    again = [prepare_source(x[order], all_rows(40), scale) for x in X]
    assert_allclose(coca(again, [], 2).scores, before.scores[order], atol=1e-10)


@pytest.mark.parametrize("scale", ["norm", "none"])
def test_rotating_a_source_does_not_matter(scale):
    X, sources = views(scale=scale)
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    turned = [prepare_source(X[0] @ Q, all_rows(40), scale), *sources[1:]]
    same_up_to_sign(coca(turned, [], 2).scores, coca(sources, [], 2).scores, atol=1e-10)


@pytest.mark.parametrize("scale", ["block", "norm"])
def test_units_do_not_matter_once_scaled(scale):
    X, sources = views(scale=scale)
    scaled = [prepare_source(1e4 * X[0] + 3.0, all_rows(40), scale), *sources[1:]]
    assert_allclose(coca(scaled, [], 2).scores, coca(sources, [], 2).scores, atol=1e-9)


def test_sparse_rows_and_more_features_than_rows_give_the_same_map():
    rng = np.random.default_rng(3)
    wide = rng.random((30, 90)) * (rng.random((30, 90)) < 0.2)
    narrow = rng.normal(size=(30, 4))
    mask = all_rows(30)
    mask[4] = False
    wide[4] = 0.0
    sources = [
        [prepare_source(x, mask, "block"), prepare_source(narrow, all_rows(30), "block")]
        for x in (wide, sp.csr_array(wide))
    ]
    assert sources[0][0].r <= 29
    dense, sparse = (coca(pair, [relation(random_graph(n=30))], 2) for pair in sources)
    assert_allclose(sparse.values, dense.values, atol=1e-10)
    same_up_to_sign(sparse.scores, dense.scores, atol=1e-9)
    for x, pair, result in zip((wide, sp.csr_array(wide)), sources, (dense, sparse), strict=True):
        placed = pair[0].map(result.directions[0])(x)[mask]
        assert_allclose(placed, pair[0].dot(result.directions[0])[mask], atol=1e-10)


def test_products_equal_the_formed_matrix(monkeypatch):
    _, sources = views()
    graph = relation(random_graph())
    formed = coca(sources, [graph], 2)
    monkeypatch.setattr("hetviz.core.spectral.coca.DENSE_LIMIT", 3)
    iterated = coca(sources, [graph], 2)
    assert_allclose(iterated.values, formed.values, rtol=1e-10)
    assert_allclose(iterated.scores, formed.scores, atol=1e-8)
    with pytest.raises(NotApplicableError, match="constraint='joint'"):
        coca(sources, [graph], 2, constraint="block")


def test_missing_rows_are_placed_by_other_sources():
    X, _ = views(n=60)
    rng = np.random.default_rng(5)
    mask = rng.random(60) < 0.7
    first = np.where(mask[:, None], X[0], 0.0)
    sources = [prepare_source(first, mask, "norm"), prepare_source(X[1], all_rows(60), "norm")]
    result = coca(sources, [], 2)
    alone = sources[1].dot(result.directions[1])
    assert_allclose(result.scores[~mask], alone[~mask])
    both = (sources[0].dot(result.directions[0]) + alone) / 2
    assert_allclose(result.scores[mask], both[mask])
    nobody = coca([prepare_source(first, mask, "norm")], [], 2)
    assert np.isnan(nobody.scores[~mask]).all()


def test_constant_sources_raise():
    X, sources = views()
    flat = prepare_source(np.full((40, 3), 7.0), all_rows(40), "block")
    assert flat.r == 0
    same = coca([sources[0], flat], [], 2)
    same_up_to_sign(same.scores, pca(X[0], 2), atol=1e-12)
    with pytest.raises(NotApplicableError, match="no axis"):
        coca([flat], [], 2)
    with pytest.warns(DataWarning, match="only 1 of 2 axes"):
        coca([prepare_source(X[0][:, :1], all_rows(40), "none")], [], 2)


# Weights ----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), p=st.integers(1, 8))
def test_weights_are_optimal_on_the_simplex(seed, p):
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(15, p))
    K, v = E.T @ E, E.T @ rng.normal(size=15)
    w = simplex_qp(K, v)
    assert_allclose(w.sum(), 1.0)
    assert (w >= 0).all()
    gradient, used = K @ w - v, w > 1e-9
    size = np.abs(K).max() + np.abs(v).max()
    assert np.ptp(gradient[used]) <= 1e-7 * size
    assert (gradient[~used] >= gradient[used].mean() - 1e-7 * size).all()


def test_weights_against_a_general_solver():
    rng = np.random.default_rng(7)
    for _ in range(5):
        E = rng.normal(size=(12, 5))
        K, v = E.T @ E, E.T @ rng.normal(size=12)
        other = minimize(
            lambda w, K=K, v=v: w @ K @ w - 2 * v @ w,
            np.full(5, 0.2),
            jac=lambda w, K=K, v=v: 2 * (K @ w - v),
            bounds=[(0, None)] * 5,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            method="SLSQP",
        )
        w = simplex_qp(K, v)
        assert w @ K @ w - 2 * v @ w <= other.fun + 1e-9


def labelled(seed=0, n=60):
    """Two sources that hold the classes, one of noise; and pairs that say the classes."""
    rng = np.random.default_rng(seed)
    classes = np.repeat([0, 1, 2], n // 3)
    centres = 4.0 * np.eye(3)
    good = centres[classes] + rng.normal(size=(n, 3))
    noise = rng.normal(size=(n, 4))
    i, j = np.triu_indices(n, 1)
    signs = np.where(classes[i] == classes[j], 1.0, -1.0)
    sources = [prepare_source(x, all_rows(n), "block") for x in (good, good.copy(), noise)]
    return sources, (i, j), signs, classes


def test_learned_weights_split_equal_sources_and_drop_noise():
    sources, pairs, signs, _ = labelled()
    w, none = learned_weights(sources, [], pairs, signs, 2)
    assert_allclose(w[0], w[1], atol=1e-6)
    assert w[2] < 1e-9
    assert none.shape == (0,)
    assert_allclose(learned_weights(sources[:1], [], pairs, signs, 2)[0], [1.0])


def test_relations_are_weighted_separately():
    sources, pairs, signs, classes = labelled()
    reported = sp.csr_array((classes[:, None] == classes[None]).astype(float))
    reported.setdiag(0)
    reported.eliminate_zeros()
    w, v = learned_weights(sources, [relation(reported), random_graph(n=60)], pairs, signs, 2)
    assert_allclose([w.sum(), v.sum()], 1.0)
    assert v[0] > 0.99
