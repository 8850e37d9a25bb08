"""Joint axes against their equations, and the prediction of hidden links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from hetviz.core.graph.joint import JointGraph, LinkBlock
from hetviz.core.spectral import joint_axes as module
from hetviz.core.spectral.evidence import MIN_LINKS, link_evidence
from hetviz.core.spectral.joint_axes import (
    OWN_FEATURE_SHARE,
    PROPAGATION_STEPS,
    damped,
    joint_axes,
    link_graph,
    new_axes,
    propagated_features,
    spectral_axes,
)

GROUPS = 4


def planted(
    n: int = 240, m: int = 80, share: float = 0.15, wrong: float = 0.0, seed: int = 0
) -> tuple[JointGraph, list[Any], Any, Any]:
    """Items with features in groups, and featureless ones linked with those of their group."""
    rng = np.random.default_rng(seed)
    mine, theirs = np.arange(n) % GROUPS, np.arange(m) % GROUPS
    X = 4.0 * rng.normal(size=(GROUPS, 5))[mine] + rng.normal(size=(n, 5))
    X -= X.mean(axis=0)
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    near = np.exp(-D / np.median(D) * 4.0)
    np.fill_diagonal(near, 0.0)
    linked = (mine[:, None] == theirs[None]) & (rng.random((n, m)) < share)
    if wrong:
        linked = rng.random((n, m)) < linked.mean()
    W = sp.csr_array(linked.astype(float))
    none = sp.csr_array((n + m, n + m))
    graph = JointGraph((n, m), (sp.csr_array(near), None), none, none, (LinkBlock(0, 1, W),))
    return graph, [X, None], mine, theirs


def test_damped_links_have_norm_one() -> None:
    rng = np.random.default_rng(0)
    W = sp.csr_array((rng.random((30, 12)) < 0.3) * rng.random((30, 12)))
    dense = W.toarray()
    d, e = dense.sum(axis=1), dense.sum(axis=0)
    expected = dense / np.sqrt(np.where(d > 0, d, 1.0))[:, None] / np.sqrt(np.where(e > 0, e, 1.0))
    assert_allclose(damped(W).toarray(), expected, atol=1e-12)
    assert np.linalg.norm(damped(W).toarray(), 2) == pytest.approx(1.0)
    assert_allclose(damped(sp.csr_array(7.0 * W)).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("solver", ["dense", "arpack", "iteration"])
def test_spectral_axes_are_orthogonal_to_dataset_means(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, _, _, _ = planted()
    A = link_graph(graph)
    assert_allclose(A.toarray(), A.toarray().T)
    d = A.toarray().sum(axis=1)
    tau = module.REGULARIZATION * np.median(d)
    S = A.toarray() / np.sqrt(np.outer(d + tau, d + tau))
    Q = np.zeros((320, 2))
    Q[:240, 0], Q[240:, 1] = np.sqrt(d[:240]), np.sqrt(d[240:])
    Q /= np.linalg.norm(Q, axis=0)
    off = np.eye(320) - Q @ Q.T
    expected = np.sort(np.linalg.eigvalsh(off @ S @ off))[::-1][:3]
    if solver == "dense":
        monkeypatch.setattr(module, "_DENSE_ROWS", 1_000)
    if solver == "iteration":

        def fails(*_: Any, **__: Any) -> None:
            raise module.ArpackError(-1)

        monkeypatch.setattr(module, "largest_iterated", fails)
    Z, values = spectral_axes(A, graph.sizes, 3, power=0.0, unit_rows=False)
    assert_allclose(values, expected, rtol=2e-3)
    # rows are (d + tau)^-1/2 u with u orthogonal to the root of the degrees in each dataset
    U = Z * np.sqrt(d + tau)[:, None]
    assert_allclose(U.T @ U, np.eye(3), atol=1e-6)
    assert_allclose(Q.T @ U, 0.0, atol=1e-6)
    assert (Z[np.abs(Z).argmax(axis=0), np.arange(3)] > 0).all()
    unit, _ = spectral_axes(A, graph.sizes, 3)
    assert_allclose(np.linalg.norm(unit, axis=1), 1.0)


def test_items_of_one_group_are_close_across_datasets() -> None:
    graph, features, mine, theirs = planted()
    axes = joint_axes(graph, features)
    assert axes.known.all()
    nearest = (axes.Z[240:] @ axes.Z[:240].T).argmax(axis=1)
    assert (mine[nearest] == theirs).mean() > 0.95
    assert (np.diff(axes.values) <= 1e-9).all()
    lone = replace(graph, links=(replace(graph.links[0], W=_without_column(graph.links[0].W, 3)),))
    assert np.flatnonzero(~joint_axes(lone, features).known).tolist() == [243]


def _without_column(W: Any, column: int) -> Any:
    dense = W.toarray()
    dense[:, column] = 0.0
    return sp.csr_array(dense)


def test_propagated_features_equal_the_equation() -> None:
    graph, features, _, _ = planted(12, 6, 0.6)
    W = graph.links[0].W
    n = 18
    A = np.zeros((n, n))
    A[:12, 12:] = damped(W).toarray()
    A += A.T
    d = A.sum(axis=1)
    T = A / np.where(d > 0, d, 1.0)[:, None]
    X = np.zeros((n, 5))
    X[:12] = features[0] / np.sqrt((features[0] ** 2).sum() / 12)
    H = X
    for _ in range(PROPAGATION_STEPS):
        H = (1 - OWN_FEATURE_SHARE) * T @ H + OWN_FEATURE_SHARE * X
    length = np.linalg.norm(H, axis=1, keepdims=True)
    expected = np.where(length > 1e-12, H / np.maximum(length, 1e-12), 0.0)
    assert_allclose(propagated_features(graph, features), expected, atol=1e-12)
    alone = propagated_features(replace(graph, links=()), features)
    assert_allclose(np.linalg.norm(alone[:12], axis=1), 1.0)
    assert not alone[12:].any()


def test_negative_links_are_negative_in_the_graph() -> None:
    graph, _, _, _ = planted(12, 6, 0.6)
    signed = graph.links[0].W.copy()
    signed.data[:3] = -1.0
    A = link_graph(replace(graph, links=(LinkBlock(0, 1, signed),)))
    i, j = signed.tocoo().coords
    assert (A.toarray()[i[:3], 12 + j[:3]] < 0).all()
    assert (A.toarray()[i[3:], 12 + j[3:]] > 0).all()


def test_new_axes_are_close_to_similar_and_linked_items() -> None:
    Z = np.eye(4)
    near = sp.csr_array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    linked = sp.csr_array([[0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    result = new_axes(Z, near, linked)
    assert_allclose(result[0], np.array([0.5, 0.5, np.sqrt(0.5), 0.0]))
    assert not result[1].any()


def test_link_evidence_of_structured_and_random_links() -> None:
    graph, features, _, _ = planted()
    (reported,) = link_evidence(graph, features)
    assert reported.n_hidden == round(0.2 * graph.links[0].W.nnz)
    assert reported.auc > 0.85
    at_random, features, _, _ = planted(wrong=1.0)
    (chance,) = link_evidence(at_random, features)
    assert abs(chance.auc - 0.5) < 4 * chance.standard_error
    small = replace(graph, links=(replace(graph.links[0], W=graph.links[0].W[:, :2][:30]),))
    assert small.links[0].W.nnz < MIN_LINKS
    small = replace(small, sizes=(30, 2), own=(None, None))
    assert link_evidence(small, [features[0][:30], None])[0].n_hidden == 0
