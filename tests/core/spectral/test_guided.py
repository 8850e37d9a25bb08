"""The eigenproblem behind the spectral methods: exact small cases, identities, invariances."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse.linalg import ArpackError

from hetviz.core.graph.laplacian import SignedGraph
from hetviz.core.spectral.eigen import leading_eigenvectors, solve
from hetviz.core.spectral.guided import axis_scale, guided_projection, signed_form
from hetviz.core.spectral.guided_cv import FOLDS, _area, _assign_folds, choose_projection
from hetviz.core.spectral.prepare import make_block
from hetviz.errors import (
    DataError,
    DataWarning,
    NotApplicableError,
    ParameterError,
    UnboundedProblemError,
)

MFEAT = Path(__file__).parents[2] / "fixtures" / "mfeat_fou_zer.npz"
COLUMN = np.array([[1.0], [-1.0]])
FORMS = ("ratio", "similarity", "paper")


def across(n: int, n_other: int, i, j, w) -> sp.csr_array:
    """Guidance between row i of the first and row j of the second of two datasets."""
    j = np.asarray(j) + n
    w = np.broadcast_to(np.asarray(w, dtype=float), j.shape)
    entries = (np.r_[w, w], (np.r_[i, j], np.r_[j, i]))
    return sp.csr_array(entries, shape=(n + n_other, n + n_other))


def random_problem(seed=0, n=(60, 50), d=(6, 4), links=120, negative=0.0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(a, b)) @ rng.normal(size=(b, b)) for a, b in zip(n, d, strict=True)]
    X = [x + rng.normal(size=x.shape[1]) for x in X]
    total = sum(n)
    i, j = rng.integers(0, total, (2, links))
    w = rng.uniform(0.1, 1.0, links) * np.where(rng.random(links) < negative, -1, 1)
    W = sp.csr_array((w, (i, j)), shape=(total, total))
    return X, ((W + W.T) / 2).tocsr()


def identity_links(n: int) -> sp.csr_array:
    return across(n, n, np.arange(n), np.arange(n), 1.0)


def standardised(X):
    return (X - X.mean(0)) / X.std(0)


def same_up_to_sign(A, B, **tolerance):
    sign = np.sign((np.nan_to_num(A) * np.nan_to_num(B)).sum(axis=0))
    assert_allclose(A * sign, B, **tolerance)


# Small exact cases ------------------------------------------------------------------------------


def test_two_rows_two_datasets():
    W = across(2, 2, [0, 1], [0, 1], 1.0)
    fitted = guided_projection([COLUMN, 2 * COLUMN], W, gamma=0.0, keep=None)
    assert_allclose(fitted.mu[0], [1, -1], atol=1e-12)
    assert_allclose(fitted.maps[0].coefficients, [[0.5, 0.5]], atol=1e-12)
    assert_allclose(fitted.maps[1].coefficients, [[0.25, -0.25]], atol=1e-12)
    for Y in fitted.embeddings:
        assert_allclose(Y[:, 0], [0.5, -0.5], atol=1e-12)


@pytest.mark.parametrize(
    ("signed", "mu", "a"),
    [
        ("paper", (2.0, 0.0), 1 / np.sqrt(8)),
        ("ratio", (1.0, -1.0), 1 / np.sqrt(6.4)),
        ("similarity", (1.0, -1.0), 1 / np.sqrt(5.2)),
    ],
)
@pytest.mark.parametrize("path", ["dense", "operator"])
def test_matching_together_crossed_apart(signed, mu, a, path):
    W = across(2, 2, [0, 1, 0, 1], [0, 1, 1, 0], [1, 1, -1, -1])
    fitted = guided_projection(
        [COLUMN, COLUMN], W, gamma=0.0, signed=signed, center=False, keep=None, path=path
    )
    assert_allclose(fitted.mu[0], mu, atol=1e-12)
    for fitted_map in fitted.maps:
        assert_allclose(fitted_map.coefficients[0, 0], a, atol=1e-12)


# Identities with other methods ------------------------------------------------------------------


def canonical_correlations(X, Y):
    Qx, Qy = (np.linalg.qr(Z - Z.mean(0))[0] for Z in (X, Y))
    return np.linalg.svd(Qx.T @ Qy, compute_uv=False)


def test_links_between_equal_rows_give_canonical_correlations():
    with np.load(MFEAT) as stored:
        X, Y = (standardised(stored[name].astype(float)) for name in ("fou", "zer"))
    fitted = guided_projection([X, Y], identity_links(len(X)), n_components=5, gamma=0.0)
    assert_allclose(fitted.mu[0], [0.949179, 0.885352, 0.838363, 0.810261, 0.765685], atol=1e-6)
    assert_allclose(fitted.mu[0], canonical_correlations(X, Y)[:5], atol=1e-10)


def test_repeated_and_missing_rows_equal_cca_of_the_linked_pairs():
    (X, Y), _ = random_problem(1)
    rng = np.random.default_rng(1)
    pairs = np.unique(rng.integers(0, [len(X), len(Y)], (200, 2)), axis=0)
    W = across(len(X), len(Y), pairs[:, 0], pairs[:, 1], 1.0)
    fitted = guided_projection([X, Y], W, n_components=4, gamma=0.0)
    assert_allclose(
        fitted.mu[0], canonical_correlations(X[pairs[:, 0]], Y[pairs[:, 1]]), atol=1e-12
    )


def test_ridge_equals_ridge_cca():
    (X, Y), _ = random_problem(2, n=(50, 50))
    fitted = guided_projection([X, Y], identity_links(50), n_components=4, gamma=0.3)
    X, Y = X - X.mean(0), Y - Y.mean(0)
    Cx, Cy = (Z.T @ Z for Z in (X, Y))
    Cx += 0.3 * np.trace(Cx) / len(Cx) * np.eye(len(Cx))
    Cy += 0.3 * np.trace(Cy) / len(Cy) * np.eye(len(Cy))
    Kx, Ky = (np.linalg.inv(np.linalg.cholesky(C)) for C in (Cx, Cy))
    expected = np.linalg.svd(Kx @ X.T @ Y @ Ky.T, compute_uv=False)
    assert_allclose(fitted.mu[0], expected, atol=1e-12)


def test_one_dataset_is_a_locality_preserving_projection():
    (X,), W = random_problem(3, n=(40,), d=(5,), links=200)
    fitted = guided_projection([X], W, n_components=5, gamma=0.0, center=False, keep=None)
    W = SignedGraph.split(W).positive.toarray()
    D = np.diag(W.sum(axis=0))
    lam, A = eigh(X.T @ (D - W) @ X, X.T @ D @ X)
    assert_allclose(1 - fitted.mu[0], lam, atol=1e-12)
    assert subspace_angles(fitted.maps[0].coefficients[:, :2], A[:, :2]).max() < 1e-7


def test_two_featureless_sides_are_correspondence_analysis():
    rng = np.random.default_rng(4)
    C = rng.random((12, 9)) * (rng.random((12, 9)) < 0.6) + 0.01
    W = across(12, 9, *np.nonzero(C), C.ravel())
    fitted = guided_projection([12, 9], W, n_components=4, gamma=0.0)
    values = np.linalg.svd(C / np.sqrt(np.outer(C.sum(1), C.sum(0))), compute_uv=False)
    assert_allclose(values[0], 1.0)
    assert_allclose(fitted.mu[0], values[1:5], atol=1e-12)


@pytest.mark.parametrize("negative", [0.0, 0.3])
@pytest.mark.parametrize("signed", FORMS)
def test_featureless_equals_the_identity_matrix(signed, negative):
    X, W = random_problem(5, negative=negative, links=400)
    options = {"signed": signed, "gamma": 0.1, "n_components": 3}
    mass = SignedGraph.split(W).absolute_degrees[:60]
    implicit = guided_projection([X[0], 50], W, **options)
    explicit = guided_projection(
        [X[0] - np.average(X[0], axis=0, weights=mass), sp.eye_array(50).tocsr()],
        W,
        center=False,
        **options,
    )
    assert_allclose(implicit.mu, explicit.mu, atol=1e-12)
    same_up_to_sign(implicit.embeddings[1], explicit.embeddings[1], atol=1e-9)


def test_groups_of_featureless_rows_do_not_take_the_axes():
    # two groups without a link between them: two trivial solutions with mu = 1
    block = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8) + np.eye(8, k=1)
    block[3, 4] = 0.0
    block = block + block.T
    fitted = guided_projection(
        [8], sp.csr_array(np.abs(block)), gamma=0.0, n_components=2, keep=None
    )
    assert fitted.mu[0, 0] < 0.9


# Optimality and spectrum ------------------------------------------------------------------------


@pytest.mark.parametrize("signed", FORMS)
@pytest.mark.parametrize("path", ["dense", "operator"])
def test_solution_satisfies_its_optimality_conditions(signed, path):
    X, W = random_problem(6, negative=0.3, links=300)
    graph = SignedGraph.split(W)
    weights = graph.absolute_degrees
    blocks = [make_block(X[0], weights[:60]), make_block(X[1], weights[60:])]
    S, mass, coupling = signed_form(blocks, graph, signed, 0.3)
    result = solve(blocks, S, mass, 3, coupling=coupling, keep=None, path=path)
    Z = np.zeros((110, 10))
    Z[:60, :6], Z[60:, 6:] = (x - m.centre for x, m in zip(X, result.maps, strict=True))
    T = np.diag(mass) + (0 if coupling is None else coupling.toarray())
    ridge = np.diag(np.repeat([m.ridge for m in result.maps], (6, 4)))
    G, B = Z.T @ S @ Z, Z.T @ T @ Z + ridge
    P = np.vstack([m.coefficients for m in result.maps])
    assert np.abs(G @ P - B @ P * result.mu).max() < 1e-11 * np.abs(G @ P).max()
    assert_allclose(P.T @ B @ P, np.eye(3), atol=1e-11)
    assert_allclose(result.mu, eigh(G, B, eigvals_only=True)[::-1][:3], atol=1e-12)
    assert_allclose(np.vstack(result.embeddings), Z @ P, atol=1e-12)
    largest = P[np.abs(P).argmax(axis=0), range(3)]
    assert (largest > 0).all()


def test_ratio_is_the_ratio():
    X, W = random_problem(7, negative=0.4, links=300)
    fitted = guided_projection(X, W, n_components=2, gamma=0.0, nu=0.3)
    graph = SignedGraph.split(W)
    centres = [m.centre for m in fitted.maps]
    Z = sp.block_diag([x - c for x, c in zip(X, centres, strict=True)]).toarray()
    D = np.diag(graph.positive_degrees)
    A, N = Z.T @ graph.positive_laplacian() @ Z, Z.T @ graph.negative_laplacian() @ Z
    sizes = [slice(0, 6), slice(6, 10)]
    mass = graph.absolute_degrees
    size = [np.trace((Z.T * mass @ Z)[s, s]) for s in sizes]
    attract, repel = (
        sum(np.trace(M[s, s]) / t for s, t in zip(sizes, size, strict=True))
        for M in (Z.T @ D @ Z, N)
    )
    lam = eigh(A, Z.T @ D @ Z + 0.3 * min(1.0, attract / repel) * N, eigvals_only=True)
    assert_allclose(1 - fitted.mu[0], lam[:2], atol=1e-12)


@given(seed=st.integers(0, 10_000), gamma=st.sampled_from([0.0, 0.1, 2.0]))
def test_spectrum_bounds(seed, gamma):
    for negative, signed, low, high in (
        (0.0, "ratio", -1, 1),
        (0.4, "similarity", -1, 1),
        (0.4, "paper", -1, 3),
        (0.4, "ratio", -1, 1),
    ):
        X, W = random_problem(seed, n=(30, 25), d=(4, 3), links=150, negative=negative)
        fitted = guided_projection(X, W, n_components=7, gamma=gamma, signed=signed, keep=None)
        assert fitted.mu.max() <= high + 1e-10
        assert fitted.mu.min() >= low - 1e-10


def test_signed_laplacians_add_up():
    _, W = random_problem(8, negative=0.4)
    graph = SignedGraph.split(W)
    total = graph.positive_laplacian() - graph.negative_laplacian()
    off = W.toarray() - np.diag(W.diagonal())
    assert_allclose(total.toarray(), np.diag(off.sum(axis=1)) - off, atol=1e-14)
    for L in (graph.positive_laplacian(), graph.negative_laplacian()):
        assert np.linalg.eigvalsh(L.toarray()).min() > -1e-12


# Invariances ------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10_000),
    scale=st.floats(1e-3, 1e3),
    signed=st.sampled_from(FORMS),
)
def test_units_of_measurement_do_not_matter(seed, scale, signed):
    X, W = random_problem(seed, negative=0.3)
    before = guided_projection(X, W, signed=signed, keep=None)
    after = guided_projection([scale * X[0], X[1]], W, signed=signed, keep=None)
    assert_allclose(after.mu, before.mu, atol=1e-9)
    for Y, Z in zip(after.embeddings, before.embeddings, strict=True):
        for axis in range(2):
            same_up_to_sign(Y[:, [axis]], Z[:, [axis]], atol=1e-6)


def test_without_ridge_any_linear_recoding_gives_the_same_map():
    X, W = random_problem(9)
    T = np.random.default_rng(9).normal(size=(6, 6)) + 3 * np.eye(6)
    before = guided_projection(X, W, gamma=0.0)
    after = guided_projection([X[0] @ T, X[1]], W, gamma=0.0)
    same_up_to_sign(after.embeddings[0], before.embeddings[0], atol=1e-8)
    same_up_to_sign(after.embeddings[1], before.embeddings[1], atol=1e-8)


@pytest.mark.parametrize("signed", FORMS)
def test_scaling_all_weights_only_scales_the_map(signed):
    X, W = random_problem(10, negative=0.2)
    before = guided_projection(X, W, signed=signed)
    after = guided_projection(X, 0.25 * W, signed=signed)
    assert_allclose(after.mu, before.mu, atol=1e-12)
    assert_allclose(after.embeddings[0], 2 * before.embeddings[0], atol=1e-9)


def test_row_order_and_dataset_order_do_not_matter():
    X, W = random_problem(11, negative=0.2)
    before = guided_projection(X, W)
    rng = np.random.default_rng(11)
    p, q = rng.permutation(60), rng.permutation(50)
    order = np.r_[p, 60 + q]
    after = guided_projection([X[0][p], X[1][q]], W[order][:, order])
    assert_allclose(after.embeddings[0], before.embeddings[0][p], atol=1e-12)
    swap = np.r_[60:110, 0:60]
    swapped = guided_projection(X[::-1], W[swap][:, swap])
    assert_allclose(swapped.embeddings[1], before.embeddings[0], atol=1e-12)
    assert_allclose(swapped.embeddings[0], before.embeddings[1], atol=1e-12)


def test_map_of_a_training_row_is_its_position():
    X, W = random_problem(12, negative=0.2)
    fitted = guided_projection([X[0], sp.csr_array(X[1])], W)
    assert_allclose(fitted.maps[0](X[0]), fitted.embeddings[0], atol=1e-12)
    assert_allclose(fitted.maps[1](sp.csr_array(X[1])), fitted.embeddings[1], atol=1e-12)


# Routes that must agree -------------------------------------------------------------------------


@pytest.mark.parametrize("signed", FORMS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "featureless"])
def test_dense_and_operator_path_agree(signed, kind):
    X, W = random_problem(13, negative=0.3, links=400)
    second = {"dense": X[1], "sparse": sp.csr_array(X[1]), "featureless": 50}[kind]
    formed, iterated = (
        guided_projection([X[0], second], W, signed=signed, path=path, n_components=3)
        for path in ("dense", "operator")
    )
    assert_allclose(iterated.mu, formed.mu, atol=1e-10)
    for Y, Z in zip(iterated.embeddings, formed.embeddings, strict=True):
        assert_allclose(Y, Z, atol=1e-6)


def test_larger_problems_are_iterated_to_the_same_answer():
    X, W = random_problem(14, n=(700, 60), d=(420, 20), links=3000, negative=0.1)
    fitted = guided_projection(X, W, n_components=3)
    exact = guided_projection(X, W, n_components=60)
    assert_allclose(fitted.mu[0], exact.mu[0, :3], atol=1e-11)
    assert_allclose(fitted.embeddings[0], exact.embeddings[0][:, :3], atol=1e-7)


def test_sparse_features_equal_dense_ones():
    rng = np.random.default_rng(15)
    X = [rng.random((60, 8)) * (rng.random((60, 8)) < 0.4), rng.normal(size=(50, 4))]
    X[0][:, 3] = 0.0
    X[0][:, 4] = 1.5
    _, W = random_problem(15, negative=0.2)
    dense = guided_projection(X, W)
    sparse = guided_projection([sp.csr_array(X[0]), X[1]], W)
    assert_allclose(sparse.mu, dense.mu, atol=1e-12)
    assert_allclose(sparse.embeddings[0], dense.embeddings[0], atol=1e-9)
    assert_allclose(dense.maps[0].coefficients[3:5], 0.0)


@pytest.mark.parametrize("sparse", [False, True])
def test_fewer_rows_than_features_is_solved_exactly(sparse):
    X, W = random_problem(16, n=(20, 50), d=(90, 4), links=150)
    given_rows = sp.csr_array(X[0]) if sparse else X[0]
    reduced = guided_projection([given_rows, X[1]], W)
    mass = SignedGraph.split(W).absolute_degrees
    Z, Y = (
        x - np.average(x, axis=0, weights=m) for x, m in zip(X, (mass[:20], mass[20:]), strict=True)
    )
    W = SignedGraph.split(W).positive.toarray()
    whole = sp.block_diag([Z, Y]).toarray()
    ridge = np.diag(np.repeat([m.ridge for m in reduced.maps], (90, 4)))
    mu, P = eigh(whole.T @ W @ whole, whole.T * mass @ whole + ridge)
    assert_allclose(reduced.mu[0], mu[::-1][:2], atol=1e-12)
    same_up_to_sign(np.vstack([m.coefficients for m in reduced.maps]), P[:, ::-1][:, :2], atol=1e-9)


def test_very_wide_sparse_features_are_reduced_with_a_warning():
    rng = np.random.default_rng(17)
    wide = sp.random_array((600, 50_000), density=0.002, rng=rng).tocsr()
    narrow = rng.normal(size=(600, 3))
    with pytest.warns(DataWarning, match=r"\d\d,\d{3} sparse features are reduced to their 300"):
        fitted = guided_projection([wide, narrow], identity_links(600))
    assert_allclose(fitted.maps[0](wide), fitted.embeddings[0], atol=1e-9)


# The paper's own constraint ---------------------------------------------------------------------


def test_anchor_has_the_axes_of_cca_with_the_second_set_shrunk():
    (X, Y), _ = random_problem(18, n=(50, 50))
    rho = canonical_correlations(X, Y)
    fitted = guided_projection(
        [X, Y], identity_links(50), n_components=3, gamma=0.0, variant="anchor"
    )
    assert_allclose(1 - fitted.mu[0], 1 - rho[:3] ** 2, atol=1e-12)
    spread = [Z.std(axis=0) for Z in fitted.embeddings]
    assert_allclose(spread[1] / spread[0], rho[:3], atol=1e-9)


def test_anchor_raises_without_a_minimum():
    (X, Y), W = random_problem(19, n=(50, 50))
    strong = across(50, 50, np.arange(50), np.arange(50)[::-1], -1.0)
    with pytest.raises(UnboundedProblemError, match=r"negative links on words.*variant='block'"):
        guided_projection([X, Y], W / 50 + strong, variant="anchor", names=["pictures", "words"])
    weak = guided_projection([X, Y], W + 0.01 * strong, variant="anchor")
    assert np.isfinite(weak.embeddings[1]).all()


def test_printed_form_collapses_where_the_default_does_not():
    X, W = random_problem(20, n=(20, 30), d=(60, 40), links=400)
    printed = guided_projection(X, W, variant="printed")
    block = guided_projection(X, W)
    assert_allclose(1 - printed.mu[0], 0.0, atol=1e-9)
    pulled = [np.linalg.norm(np.vstack(f.embeddings)) for f in (printed, block)]
    assert pulled[0] < 0.2 * pulled[1]


def test_printed_and_block_agree_without_a_ridge():
    X, W = random_problem(21, negative=0.2)
    printed = guided_projection(X, W, variant="printed", gamma=0.0)
    block = guided_projection(X, W, signed="paper", gamma=0.0)
    assert_allclose(printed.embeddings[0], block.embeddings[0], atol=1e-10)


# Degenerate data --------------------------------------------------------------------------------


def test_few_negative_links_cost_little():
    rng = np.random.default_rng(22)
    latent = rng.normal(size=(300, 2))
    X = [latent @ rng.normal(size=(2, 8)) + 0.5 * rng.normal(size=(300, 8)) for _ in range(2)]
    W = identity_links(300).tolil()
    far = rng.integers(0, 300, (4, 2))
    signs = W.copy()
    for i, j in far:
        signs[i, 300 + j] = signs[300 + j, i] = -1.0
    plain, signed = (guided_projection(X, V.tocsr()) for V in (W, signs))
    gap = [np.linalg.norm(f.embeddings[0] - f.embeddings[1]) for f in (plain, signed)]
    assert gap[1] < 1.05 * gap[0]


def test_ratio_raises_for_only_negative_guidance():
    X, W = random_problem(23, negative=1.0)
    with pytest.raises(NotApplicableError, match="All links push apart"):
        guided_projection(X, W)
    assert guided_projection(X, W, signed="similarity").placed.all()


def test_no_guidance_raises():
    X, _ = random_problem(23)
    with pytest.raises(NotApplicableError, match="It needs links between rows"):
        guided_projection(X, sp.csr_array((110, 110)))


def test_unguided_dataset_stays_at_zero():
    X, W = random_problem(24, n=(40, 30, 20), d=(5, 4, 3))
    W = W.tolil()
    W[70:, :] = 0.0
    W[:, 70:] = 0.0
    fitted = guided_projection(X, W.tocsr())
    assert fitted.placed.tolist() == [True, True, False]
    assert not fitted.embeddings[2].any()
    assert not fitted.maps[2].coefficients.any()


def test_unconnected_groups_of_datasets_each_get_their_axes():
    X, W = random_problem(25, n=(40, 30, 40, 30), d=(5, 4, 5, 1), links=600)
    W = W.tolil()
    W[:70, 70:] = 0.0
    W[70:, :70] = 0.0
    W = W.tocsr()
    joint = guided_projection(X, W)
    assert joint.component.tolist() == [0, 0, 1, 1]
    alone = guided_projection(X[:2], W[:70][:, :70])
    assert_allclose(joint.embeddings[1], alone.embeddings[1], atol=1e-12)
    assert (joint.mu[2:, 0] > 0).all()
    assert joint.embeddings[2].std(axis=0).min() > 0


def test_rows_without_guidance():
    X, W = random_problem(26)
    W = W.tolil()
    W[[3, 62], :] = 0.0
    W[:, [3, 62]] = 0.0
    fitted = guided_projection([X[0], 50], W.tocsr())
    assert np.isfinite(fitted.embeddings[0]).all()
    unplaced = np.isnan(fitted.embeddings[1]).all(axis=1)
    assert unplaced[2]
    isolated = SignedGraph.split(W.tocsr()).absolute_degrees[60:] == 0
    assert (unplaced == isolated).all()


def test_only_axes_with_agreement_are_returned():
    X, W = random_problem(27, d=(3, 2))
    with pytest.warns(DataWarning, match=r"Only \d of 10 axes show agreement"):
        fitted = guided_projection(X, W, n_components=10)
    assert 0 < fitted.mu.shape[1] < 5
    assert (fitted.mu > 0).all()


def test_links_of_equal_rows_raise():
    W = np.zeros((4, 4))
    W[0, 2] = W[2, 0] = 1.0
    with pytest.raises(NotApplicableError, match=r"The linked rows do not differ.*differ"):
        guided_projection([np.eye(2), np.eye(2)], W)


def test_constant_features_and_dependent_features():
    X, W = random_problem(28)
    plain = guided_projection(X, W, gamma=0.0)
    constant = np.hstack([X[0], np.full((60, 1), 7.0)])
    fitted = guided_projection([constant, X[1]], W, gamma=0.0)
    assert_allclose(fitted.embeddings[0], plain.embeddings[0], atol=1e-10)
    assert fitted.maps[0].coefficients[6].tolist() == [0.0, 0.0]
    doubled = np.hstack([X[0], X[0][:, :2]])
    with pytest.warns(DataWarning, match="linearly dependent"):
        fitted = guided_projection([doubled, X[1]], W, gamma=0.0)
    assert_allclose(fitted.mu, plain.mu, atol=1e-4)


def test_dataset_of_one_point():
    X, W = random_problem(29, n=(60, 1), d=(6, 2), links=200)
    fitted = guided_projection(X, W)
    assert np.isfinite(np.vstack(fitted.embeddings)).all()
    assert not fitted.embeddings[1].any()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"signed": "both"}, ParameterError, "signed = 'both'"),
        ({"variant": "best"}, ParameterError, "variant = 'best'"),
        ({"nu": -1.0}, ParameterError, r"nu = -1\.0"),
        ({"gamma": -0.1}, ParameterError, r"gamma = -0\.1"),
        ({"gamma": float("nan")}, ParameterError, "gamma = nan"),
        ({"path": "fast"}, ParameterError, "path = 'fast'"),
        ({"n_components": 0}, ParameterError, "n_components = 0"),
    ],
)
def test_unknown_options_raise(change, error, words):
    X, W = random_problem(30)
    with pytest.raises(error, match=words):
        guided_projection(X, W, **change)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("sparse", [False, True])
def test_not_finite_features_raise(value, sparse):
    X, W = random_problem(31)
    X[1][7, 2] = value
    if sparse:
        X[1] = sp.csr_array(X[1])
    with pytest.raises(DataError, match="words, row 8, feature 3") as caught:
        guided_projection(X, W, names=["pictures", "words"])
    assert caught.value.problems[0].code == "not-finite"


def test_guidance_must_be_finite_and_fit():
    X, W = random_problem(32)
    with pytest.raises(DataError, match="110 in all"):
        guided_projection(X, W[:100][:, :100])
    W.data[0] = np.nan
    with pytest.raises(DataError, match="guidance between rows"):
        guided_projection(X, W)


def test_axis_scale():
    mu = np.array([0.9, 0.25, -0.1])
    assert_allclose(axis_scale(mu, 0.0), [1, 1, 1])
    assert_allclose(axis_scale(mu, 0.5), [np.sqrt(0.9), 0.5, 0.0])


def test_projection_is_deterministic():
    X, W = random_problem(33, n=(700, 60), d=(420, 20), links=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (guided_projection(X, W) for _ in range(2))
    assert (first.embeddings[0] == second.embeddings[0]).all()


def test_arpack_failure_falls_back_to_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(420, 420))
    G, B = A + A.T, np.eye(420) + A @ A.T / 420
    v0 = rng.normal(size=420)
    mu, P = leading_eigenvectors(G, B, 3, v0)

    def gives_up(*_: object, **__: object) -> None:
        raise ArpackError(3)

    monkeypatch.setattr("hetviz.core.spectral.eigen.eigsh", gives_up)
    dense_mu, dense_P = leading_eigenvectors(G, B, 3, v0)
    assert_allclose(dense_mu, mu, rtol=1e-8)
    assert_allclose(np.abs(P.T @ B @ dense_P), np.eye(3), atol=1e-7)


def problem(n=60, width=40, links=60, seed=0):
    """Two datasets of much noise over two shared directions."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    X = [np.hstack([Z + 0.3 * rng.normal(size=Z.shape), rng.normal(size=(n, width))]) for _ in "ab"]
    i = np.arange(links)
    entries = (np.ones(links), (i, n + i))
    W = sp.csr_array(entries, shape=(2 * n, 2 * n))
    return X, sp.csr_array(W + W.T)


def test_choose_projection_area_equals_refits():
    X, W = problem(links=40)
    gammas, axes = (0.1, 5.0), (1, 2, 5)
    result = choose_projection(X, W, gammas=gammas, axes=axes)
    p, q = sp.triu(W, 1).tocoo().coords
    fold = _assign_folds(np.full(len(p), 1), np.ones(len(p), dtype=bool), 0)
    owner = np.repeat([0, 1], 60)
    expected = np.zeros((2, 3))
    for number in range(FOLDS):
        retained = fold != number
        half = sp.csr_array((np.ones(retained.sum()), (p[retained], q[retained])), shape=W.shape)
        for row, gamma in enumerate(gammas):
            fitted = guided_projection(X, half + half.T, gamma=gamma, n_components=5)
            for column, k in enumerate(axes):
                scale = axis_scale(fitted.mu[0, :k], 0.0 if k <= 3 else 1.0)
                Y = np.vstack(fitted.embeddings)[:, :k] * scale
                held_out = ~retained
                expected[row, column] += (
                    _area(Y, p[held_out], q[held_out], owner, [60, 60], 0) / FOLDS
                )
    rows, columns = (
        [had.index(first) for first in calls]
        for had, calls in ((result.gammas, gammas), (result.axes, axes))
    )
    np.testing.assert_allclose(result.areas[np.ix_(rows, columns)], expected, atol=1e-6)
    best = np.unravel_index(np.nanargmax(result.areas), result.areas.shape)
    assert (result.gamma, result.n_components) == (result.gammas[best[0]], result.axes[best[1]])


def test_choose_projection_takes_more_ridge_for_few_links():
    X, W = problem(links=30)
    result = choose_projection(X, W, gammas=(1e-3, 10.0), axes=(2,))
    assert result.gamma >= 10.0
    assert result.areas[1, 0] > result.areas[0, 0] + 0.02


def test_choose_projection_extends_the_grid():
    X, W = problem(links=60, width=10)
    result = choose_projection(X, W, gammas=(1e-4, 1e-3), axes=(1,))
    assert result.axes == (1,) and result.gammas[:2] == (1e-4, 1e-3)
    assert result.gamma > 1e-3 and not result.cut_off
    assert result.gamma == result.gammas[-2] or result.at_limit
    # All the shared directions are two: further axes are noise, so the grid of them ends by itself.
    result = choose_projection(X, W, gammas=(result.gamma,), axes=(1, 2))
    assert 2 in result.axes and result.axes[-1] <= 8 and not result.cut_off


def test_folds_are_even_within_every_kind_of_link_and_seeded():
    rng = np.random.default_rng(1)
    block, positive = rng.integers(0, 4, 203), rng.random(203) < 0.8
    fold = _assign_folds(block, positive, 3)
    assert (fold == _assign_folds(block, positive, 3)).all()
    assert (fold != _assign_folds(block, positive, 4)).any()
    assert np.ptp(np.bincount(fold)) <= 1
    for value in range(4):
        counts = np.bincount(fold[(block == value) & positive], minlength=FOLDS)
        assert np.ptp(counts) <= 1


def test_choose_projection_uses_tags_and_negative_links():
    X, W = problem(width=3)
    rng = np.random.default_rng(2)
    tags = np.digitize(X[0][:, 0], [-0.5, 0.5])
    W = sp.lil_array(sp.block_diag([W, sp.csr_array((3, 3))]))
    W[np.arange(60), 120 + tags] = 1.0
    for i, j in rng.integers(0, 60, (5, 2)):
        W[i, 60 + j] = -1.0
    W = sp.csr_array(W.tocsr() + W.tocsr().T)
    heard = []
    result = choose_projection([*X, 3], W, gammas=(0.1,), axes=(1, 2), progress=heard.append)
    assert np.isfinite(result.areas).all()
    assert result.areas.max() > 0.6
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1.0)


def test_choose_projection_raises_for_few_links():
    X, W = problem(links=9)
    with pytest.raises(NotApplicableError, match=r"at least 10 links.*There are 9.*to numbers"):
        choose_projection(X, W)
