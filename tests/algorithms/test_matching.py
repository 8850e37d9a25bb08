"""CCA and CDMCA compared with their textbook definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import eigh

from hetviz.algorithms.cca import CCA
from hetviz.algorithms.cdmca import CDMCA
from hetviz.algorithms.guided_projection import GuidedProjection
from hetviz.algorithms.kernel_cdmca import KernelCDMCA
from hetviz.algorithms.registry import suggest
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import DataWarning, NotApplicableError

Floats = NDArray[np.float64]
FIXTURES = Path(__file__).parents[1] / "fixtures"


def ids(n: int, letter: str) -> list[str]:
    return [f"{letter}{k}" for k in range(n)]


def hidden_plane(seed: int = 0, n: int = 50, widths: tuple[int, ...] = (5, 4)) -> list[Floats]:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    return [Z @ rng.normal(size=(2, d)) + 0.4 * rng.normal(size=(n, d)) for d in widths]


def correlations(X: Floats, Y: Floats, weight: Floats | None = None) -> Floats:
    """Canonical correlations of rows i of X and Y, each counted weight[i] times."""
    w = np.ones(len(X)) if weight is None else weight
    root = np.sqrt(w)[:, None]
    Qx, Qy = (np.linalg.qr(root * (A - np.average(A, axis=0, weights=w)))[0] for A in (X, Y))
    return np.asarray(np.linalg.svd(Qx.T @ Qy, compute_uv=False))


@pytest.mark.parametrize("method", [CCA, CDMCA])
def test_canonical_correlations_of_digits(method: type[CCA] | type[CDMCA]) -> None:
    with np.load(FIXTURES / "mfeat_fou_zer.npz") as file:
        views = [np.asarray(file[name], dtype=np.float64) for name in ("fou", "zer")]
    data = HeteroData(
        [Dataset(name, ids(2000, "n"), X, entity="n") for name, X in zip("ab", views, strict=True)]
    )
    model = method(n_components=5, gamma=0.0).fit(data)
    expected = [0.949179, 0.885352, 0.838363, 0.810261, 0.765685]
    mu = model.diagnostics_["agreement"]["a"]
    np.testing.assert_allclose(mu, expected, atol=1e-6)


def many_to_many(seed: int = 1) -> tuple[HeteroData, Floats, Floats, Floats]:
    """Return weighted many-to-many links, and the rows of each linked pair with its weight."""
    X, Y = hidden_plane(seed)
    rng = np.random.default_rng(seed)
    pairs = np.unique(rng.integers(0, 50, (120, 2)), axis=0)
    w = rng.uniform(0.2, 1.0, len(pairs))
    data = HeteroData(
        [Dataset("a", ids(50, "a"), X), Dataset("b", ids(50, "b"), Y)],
        [Links("a", "b", pairs[:, 0], pairs[:, 1], w)],
    )
    return data, X[pairs[:, 0]], Y[pairs[:, 1]], w


@pytest.mark.parametrize("method", [CCA, CDMCA])
def test_many_to_many_links_equal_repeated_rows(
    method: type[CCA] | type[CDMCA],
) -> None:
    data, X, Y, w = many_to_many()
    model = method(n_components=4, gamma=0.0).fit(data)
    mu = model.diagnostics_["agreement"]["a"]
    np.testing.assert_allclose(mu, correlations(X, Y, w), atol=1e-12)


def test_ridge_equals_ridge_cca() -> None:
    X, Y = (Z - Z.mean(axis=0) for Z in hidden_plane(2))
    data = HeteroData(
        [Dataset(name, ids(50, "o"), Z, entity="o") for name, Z in (("a", X), ("b", Y))]
    )
    model = CCA(n_components=4, gamma=0.3).fit(data)
    B = [Z.T @ Z + 0.3 * np.trace(Z.T @ Z) / Z.shape[1] * np.eye(Z.shape[1]) for Z in (X, Y)]
    C = np.linalg.solve(B[0], X.T @ Y) @ np.linalg.solve(B[1], Y.T @ X)
    rho = np.sqrt(np.sort(np.linalg.eigvals(C).real)[::-1][:4])
    np.testing.assert_allclose(model.correlations_[0], rho, atol=1e-12)


def test_equals_guided_projection_without_negative_links() -> None:
    data = many_to_many(3)[0]
    maps = [
        method(gamma=0.1).fit(data).embedding_.stacked()
        for method in (CCA, CDMCA, GuidedProjection)
    ]
    np.testing.assert_allclose(maps[1], maps[0], atol=1e-10)
    np.testing.assert_allclose(maps[2], maps[0], atol=1e-10)


def three_datasets(within: float = 1.0) -> HeteroData:
    rng = np.random.default_rng(4)
    parts = [
        Dataset(name, ids(50, name), X)
        for name, X in zip("abc", hidden_plane(4, widths=(5, 4, 3)), strict=True)
    ]
    links = [
        Links("a", "b", rng.integers(0, 50, 80), rng.integers(0, 50, 80)),
        Links("b", "c", rng.integers(0, 50, 60), rng.integers(0, 50, 60)),
        Links("a", "a", range(49), range(1, 50), within),
    ]
    return HeteroData(parts, links)


def test_cdmca_of_three_datasets_solves_its_joint_problem() -> None:
    data = three_datasets()
    model = CDMCA(n_components=3, gamma=0.05).fit(data)
    W = data.adjacency(1).toarray()
    D = W.sum(axis=1)
    blocks, ridge = [], []
    for name, rows in data.offsets.items():
        X = np.asarray(data[name].X)
        Z = X - np.average(X, axis=0, weights=D[rows])
        blocks.append(Z)
        ridge += [0.05 * np.trace(Z.T * D[rows] @ Z) / Z.shape[1]] * Z.shape[1]
    Z = np.zeros((150, 12))
    for rows, columns, part in zip(
        data.offsets.values(), (slice(0, 5), slice(5, 9), slice(9, 12)), blocks, strict=True
    ):
        Z[rows, columns] = part
    mu, P = eigh(Z.T @ W @ Z, Z.T * D @ Z + np.diag(ridge))
    np.testing.assert_allclose(model.agreement_[0], mu[::-1][:3], atol=1e-12)
    Y = Z @ P[:, ::-1][:, :3]
    places = model.embedding_.stacked()
    np.testing.assert_allclose(places * np.sign((places * Y).sum(axis=0)), Y, atol=1e-9)


def test_links_within_and_negative_links_follow_the_cards() -> None:
    data, apart = three_datasets(), three_datasets(within=-1.0)
    without = HeteroData(data.datasets, data.links[:2])
    for method in (CCA, CDMCA):
        plain, said_apart, with_within = (
            method().fit(part).embedding_.stacked() for part in (without, apart, data)
        )
        np.testing.assert_array_equal(said_apart, plain)
        changed = np.abs(with_within - plain).max() > 1e-3
        assert changed == (method is CDMCA)


def test_featureless_datasets_give_correspondence_analysis() -> None:
    rng = np.random.default_rng(5)
    W = rng.uniform(0.1, 1.0, (12, 9)) * (rng.random((12, 9)) < 0.5)
    W[:, 0] = W[0, :] = 0.3
    i, j = np.nonzero(W)
    unlinked = Dataset("rest", ["r"], [[1.0]])
    data = HeteroData(
        [Dataset("rows", ids(12, "r")), Dataset("columns", ids(9, "c")), unlinked],
        [Links("rows", "columns", i, j, W[i, j])],
    )
    with pytest.warns(DataWarning, match=r"rest.*left off"):
        model = CDMCA(n_components=4, gamma=0.0).fit(data)
    rows, columns = W.sum(axis=1), W.sum(axis=0)
    inertia = np.linalg.svd(W / np.sqrt(np.outer(rows, columns)), compute_uv=False)
    np.testing.assert_allclose(model.agreement_[0], inertia[1:5], atol=1e-12)


def test_linear_kernel_gives_the_linear_map() -> None:
    data = three_datasets()
    kernels = HeteroData(
        [
            Dataset(name, part.ids, kernel=np.asarray(part.X) @ np.asarray(part.X).T)
            for name, part in data.datasets.items()
        ],
        data.links,
    )
    # The relative ridge refers to rows for kernels, and to columns for features.
    plain = CDMCA(gamma=1e-9).fit(data)
    curved = KernelCDMCA(gamma=1e-9, kernel="precomputed").fit(kernels)
    np.testing.assert_allclose(curved.agreement_, plain.agreement_, atol=1e-7)
    A, B = plain.embedding_.stacked(), curved.embedding_.stacked()
    np.testing.assert_allclose(B * np.sign((A * B).sum(axis=0)), A, atol=1e-5)


def test_paper_penalty_uses_dual_coefficients() -> None:
    data = three_datasets()
    gamma = 0.2
    model = KernelCDMCA(gamma=gamma, kernel_penalty="paper").fit(data)
    W = data.adjacency(1).toarray()
    D = W.sum(axis=1)
    K = np.zeros((150, 150))
    ridge = np.zeros(150)
    for rows in data.offsets.values():
        X = np.asarray(list(data.datasets.values())[rows.start // 50].X)
        distance = np.linalg.norm(X[:, None] - X[None], axis=2)
        width = np.median(distance[np.triu_indices(50, 1)])
        part = np.exp(-0.5 * (distance / width) ** 2)
        share = D[rows] / D[rows].sum()
        H = np.eye(50) - np.outer(np.ones(50), share)
        K[rows, rows] = H @ part @ H.T
        ridge[rows] = gamma * np.trace(K[rows, rows].T * D[rows] @ K[rows, rows]) / 50
    mu = eigh(K.T @ W @ K, K.T * D @ K + np.diag(ridge), eigvals_only=True)
    np.testing.assert_allclose(model.agreement_[0], mu[::-1][:2], atol=1e-9)
    default_penalty = KernelCDMCA(gamma=gamma).fit(data)
    assert abs(default_penalty.agreement_[0, 0] - model.agreement_[0, 0]) > 1e-3


def test_axes_are_limited_by_features() -> None:
    data = many_to_many()[0]
    with pytest.warns(DataWarning, match="Only 4 of 7 axes"):
        assert CCA(n_components=7, gamma=0.0).fit(data).embedding_.n_components == 4


def test_dataset_weights_need_three_datasets() -> None:
    two, three = many_to_many()[0], three_datasets()
    for data, moved in ((two, False), (three, True)):
        plain = CDMCA().fit(data).embedding_.stacked()
        heavier = CDMCA(weights={"a": 4.0}).fit(data).embedding_.stacked()
        scale = np.linalg.norm(plain) / np.linalg.norm(heavier)
        assert (np.abs(scale * heavier - plain).max() > 1e-3) == moved
    with pytest.warns(DataWarning, match="c"):
        left = CDMCA(weights={"c": 0.0}).fit(three).embedding_
    assert left.placed["a"].all()
    assert not left.placed["c"].any()


def test_cca_refusal_has_a_reason() -> None:
    single = HeteroData([Dataset("a", ids(3, "a"), np.eye(3))])
    apart = HeteroData(
        [Dataset("a", ids(3, "a"), np.eye(3)), Dataset("b", ids(3, "b"), np.eye(3))],
        [Links("a", "b", [0], [0], -1.0), Links("a", "a", [0], [1])],
    )
    for data, reason in ((single, "only one"), (apart, "between items of different datasets")):
        with pytest.raises(NotApplicableError, match=reason):
            CCA().fit(data)
        verdict = next(v for v in suggest(data) if v.card.key == "cca")
        assert not verdict.suits
