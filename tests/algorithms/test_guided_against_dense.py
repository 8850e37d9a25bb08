"""Guided projection compared with its dense matrix formulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import block_diag, eigh

from hetviz.algorithms.guided_projection import GuidedProjection
from hetviz.data import Dataset, HeteroData, Links

Floats = NDArray[np.float64]
GAMMA = 0.1


def signed_data(seed: int, negative: float) -> HeteroData:
    """Three datasets with links of both signs between and within, and rows without links."""
    rng = np.random.default_rng(seed)
    sizes, widths = {"a": 40, "b": 30, "c": 25}, {"a": 6, "b": 4, "c": 5}
    datasets = [
        Dataset(name, [f"{name}{k}" for k in range(n)], 5.0 * rng.normal(size=(n, widths[name])))
        for name, n in sizes.items()
    ]
    links = []
    for source, target, m in (("a", "b", 60), ("b", "c", 50), ("c", "a", 20), ("b", "b", 15)):
        i = rng.integers(0, sizes[source] - 3, m)
        j = rng.integers(0, sizes[target] - 3, m)
        weight = rng.uniform(0.2, 1.0, m) * np.where(rng.random(m) < negative, -1.0, 1.0)
        is_pair = i != j if source == target else np.ones(m, dtype=bool)
        links.append(Links(source, target, i[is_pair], j[is_pair], weight[is_pair]))
    return HeteroData(datasets, links)


def dense(data: HeteroData, form: str) -> tuple[Floats, Floats]:
    """Return (mu, Y) of the two best axes from the generalised eigenproblem."""
    W = np.zeros((data.n_rows, data.n_rows))
    for group in data.links:
        p = data.offsets[group.source].start + group.i
        q = data.offsets[group.target].start + group.j
        np.add.at(W, (p, q), group.weight)
        np.add.at(W, (q, p), group.weight)
    W = np.clip(W, -1.0, 1.0)
    together, apart = np.maximum(W, 0.0), np.maximum(-W, 0.0)
    D_pos, D_neg = np.diag(together.sum(axis=1)), np.diag(apart.sum(axis=1))
    L_pos, L_neg = D_pos - together, D_neg - apart
    mass = np.diag(D_pos + D_neg)
    blocks, ridges, attract, repel = [], [], 0.0, 0.0
    for name, rows in data.offsets.items():
        X = np.asarray(data[name].X)
        Z = X - np.average(X, axis=0, weights=mass[rows])
        size = np.trace(Z.T @ np.diag(mass[rows]) @ Z)
        attract += np.trace(Z.T @ D_pos[rows, rows] @ Z) / size
        repel += np.trace(Z.T @ L_neg[rows, rows] @ Z) / size
        blocks.append(Z)
        ridges.append(np.full(Z.shape[1], GAMMA * size / Z.shape[1]))
    Z, ridge = block_diag(*blocks), np.diag(np.concatenate(ridges))
    if form == "ratio":
        nu = 0.3 * min(1.0, attract / repel)
        bottom = Z.T @ (D_pos + nu * L_neg) @ Z + ridge
        values, P = eigh(Z.T @ L_pos @ Z + ridge, bottom)
        return 1.0 - values[:2], Z @ P[:, :2]
    nu = {"similarity": 0.3, "paper": 1.0}[form]
    S = together - nu * apart + (2 * nu * D_neg if form == "paper" else 0.0)
    values, P = eigh(Z.T @ S @ Z, Z.T @ (D_pos + nu * D_neg) @ Z + ridge)
    return values[::-1][:2], Z @ P[:, ::-1][:, :2]


@pytest.mark.parametrize("form", ["ratio", "similarity", "paper"])
@pytest.mark.parametrize(("seed", "negative"), [(0, 0.1), (1, 0.3), (2, 0.9)])
def test_axes_and_agreement_equal_the_dense_solution(form: str, seed: int, negative: float) -> None:
    data = signed_data(seed, negative)
    model = GuidedProjection(signed=form, gamma=GAMMA, axis_scale=0.0).fit(data)
    mu, Y = dense(data, form)
    np.testing.assert_allclose(model.agreement_, np.tile(mu, (3, 1)), rtol=1e-8)
    places = model.embedding_.stacked()
    signs = np.sign((places * Y).sum(axis=0))
    np.testing.assert_allclose(places * signs, Y, atol=1e-8 * np.abs(Y).max())


def test_cap_applies_if_most_links_are_negative() -> None:
    """The test above covers both sides of the minimum."""
    few_negative, many = signed_data(0, 0.1), signed_data(2, 0.9)
    shares = [(data.adjacency(-1).sum() / data.adjacency(1).sum()) for data in (few_negative, many)]
    assert shares[0] < 0.5 < 2.0 < shares[1]


@pytest.mark.parametrize("variant", ["block", "printed"])
def test_paper_penalty_of_kernels_uses_coefficients(variant: str) -> None:
    rng = np.random.default_rng(3)
    parts = {"a": rng.normal(size=(12, 3)), "b": rng.normal(size=(9, 2))}
    W = np.zeros((21, 21))
    i, j = rng.integers(0, 12, 30), 12 + rng.integers(0, 9, 30)
    W[i, j] = W[j, i] = 1.0
    D = W.sum(axis=1)
    K, ridge = np.zeros((21, 21)), np.zeros(21)
    kernels = []
    for rows, X in zip((slice(0, 12), slice(12, 21)), parts.values(), strict=True):
        part = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
        kernels.append(part)
        H = np.eye(len(X)) - D[rows] / D[rows].sum()
        K[rows, rows] = H @ part @ H.T
        ridge[rows] = GAMMA * np.trace(K[rows, rows] * D[rows] @ K[rows, rows]) / len(X)
    # min theta'KLK theta, with the ridge on both sides except in the printed form
    L = np.diag(D) - W
    bottom = K * D @ K + np.diag(ridge)
    top = K @ L @ K + (np.diag(ridge) if variant == "block" else 0.0)
    values, Q = eigh(top, bottom)
    pairs = np.unique(np.column_stack([i, j - 12]), axis=0).T
    data = HeteroData(
        [
            Dataset(name, [f"{name}{k}" for k in range(len(part))], kernel=part)
            for name, part in zip(parts, kernels, strict=True)
        ],
        [Links("a", "b", *pairs)],
    )
    model = GuidedProjection(
        kernel="precomputed", kernel_penalty="paper", variant=variant, gamma=GAMMA
    ).fit(data)
    np.testing.assert_allclose(model.agreement_[0], 1.0 - values[:2], atol=1e-9)
    if variant == "block":
        places, wanted = model.embedding_.stacked(), (K @ Q)[:, :2]
        signs = np.sign((places * wanted).sum(axis=0))
        np.testing.assert_allclose(places * signs, wanted, atol=1e-8)
        other = GuidedProjection(kernel="precomputed", gamma=GAMMA).fit(data)
        assert np.abs(other.agreement_ - model.agreement_).max() > 1e-3
