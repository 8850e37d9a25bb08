"""The optimiser of stochastic neighbour embedding, against formulas, openTSNE and itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.graph.affinities import (
    conditional_affinities,
    neighbors_needed,
    symmetric_affinities,
)
from hetviz.core.graph.distances import FeatureSpace
from hetviz.core.graph.joint import Balance, JointGraph, joint_affinities
from hetviz.core.graph.neighbors import nearest_neighbors
from hetviz.core.layout import sne
from hetviz.core.layout.sne import (
    QUICK_SCHEDULE,
    STANDARD_SCHEDULE,
    ApartPairs,
    CappedPairs,
    Phase,
    SneLayout,
    WideSneLayout,
)
from hetviz.core.spectral.start import complete_layout, random_start, spectral_start
from hetviz.errors import Cancelled, HetvizError


def affinities(n: int = 120, groups: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) + 6.0 * rng.normal(size=(groups, 5))[np.arange(n) % groups]
    k, perplexity = neighbors_needed(n, 10.0)
    result = nearest_neighbors(FeatureSpace(X), k)
    return symmetric_affinities(conditional_affinities(result, perplexity))


P = affinities()
START = np.random.default_rng(1).normal(size=(120, 2))


def kl_of(P: Any, Y: Any) -> float:
    """The definition, with all pairs."""
    D = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    Q = 1.0 / (1.0 + D)
    np.fill_diagonal(Q, 0.0)
    Q /= Q.sum()
    dense = P.toarray()
    retained = dense > 0
    return float((dense[retained] * np.log(dense[retained] / Q[retained])).sum())


def hinge_of(apart: ApartPairs, Y: Any, reach: float) -> float:
    d = ((Y[apart.left] - Y[apart.right]) ** 2).sum(axis=1)
    energy = np.maximum(np.log1p(reach) - np.log1p(d), 0.0)
    return float(apart.strength * apart.shares(len(Y)) @ energy)


def test_golden_unit_square() -> None:
    links = sp.csr_array(np.kron([[0.0, 1.0], [1.0, 0.0]], np.eye(2)))
    joint = joint_affinities(
        JointGraph((2, 2), (None, None), links, sp.csr_array((4, 4))), Balance(1.0)
    )
    assert joint is not None
    square = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert SneLayout(joint.P, square, double=True).kl(exact=True) == pytest.approx(np.log(8 / 3))


def test_kl_equals_definition_and_is_invariant_to_shift() -> None:
    kl = SneLayout(P, START, double=True).kl(exact=True)
    assert kl == pytest.approx(kl_of(P, START), rel=1e-12)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    moved = SneLayout(P, START @ turn + [3.0, -1.0], double=True).kl(exact=True)
    assert moved == pytest.approx(kl, rel=1e-12)


def test_kl_is_a_sum_over_blocks() -> None:
    rng = np.random.default_rng(3)
    parts = [affinities(30, 2, 1), affinities(20, 2, 2)]
    W = sp.csr_array((rng.random((30, 20)) < 0.2).astype(float))
    both = sp.csr_array(sp.block_array([[None, W], [W.T, None]]))
    joint = joint_affinities(
        JointGraph((30, 20), parts, both, sp.csr_array((50, 50))), Balance(0.3)
    )
    assert joint is not None
    Y = rng.normal(size=(50, 2))
    Q = 1.0 / (1.0 + ((Y[:, None] - Y[None]) ** 2).sum(axis=2))
    np.fill_diagonal(Q, 0.0)
    Q /= Q.sum()
    rows = (slice(0, 30), slice(30, 50))
    total = 0.0
    blocks = {(0, 0): joint.within[0], (1, 1): joint.within[1], (0, 1): joint.across[0, 1]}
    for (d, e), block in blocks.items():
        p, q = block.toarray(), Q[rows[d], rows[e]]
        retained = p > 0
        beta = joint.beta[d, e]
        total += beta * float((p[retained] * np.log(p[retained] / q[retained])).sum())
        total += beta * np.log(beta / (1 if d == e else 2))
    assert SneLayout(joint.P, Y, double=True).kl(exact=True) == pytest.approx(total, rel=1e-10)


def test_gradient_equals_finite_differences() -> None:
    Y = 0.3 * START
    nearest = ((Y[:, None] - Y[None]) ** 2).sum(axis=2) + 9.0 * np.eye(120)
    left = np.array([0, 5, 9])
    apart = ApartPairs(left, nearest[left].argmin(axis=1), np.array([1.0, 0.5, 0.2]), 0.7)
    layout = SneLayout(P, Y, apart=apart, double=True)
    gradient, reach = layout.gradient(), layout.reach()
    np.testing.assert_allclose(gradient.sum(axis=0), 0.0, atol=1e-14)

    def objective(Y: Any) -> float:
        return kl_of(P, Y) + hinge_of(apart, Y, reach)

    assert hinge_of(apart, Y, reach) > 0
    for row in (0, 5, 9, *apart.right, 77):
        for axis in (0, 1):
            step = np.zeros_like(Y)
            step[row, axis] = 1e-5
            slope = (objective(Y + step) - objective(Y - step)) / 2e-5
            assert gradient[row, axis] == pytest.approx(slope, abs=1e-9)


def test_attraction_of_capped_pairs_ends_at_neighbor_distance() -> None:
    Y = 0.3 * START
    i, j = np.array([0, 5]), np.array([7, 11])
    Y[j] = Y[i] + np.array([[0.4, 0.3], [1.5, 0.0]])
    part = np.array([2e-4, 3e-4])
    plain, capped = (
        SneLayout(P, Y, double=True),
        SneLayout(P, Y, capped=CappedPairs(i, j, part), double=True),
    )
    difference = capped.gradient() - plain.gradient()
    # 2 p log(1 + max(d, 1)^2) for 2 p log(1 + d^2): the near pair is let go, the far one is not
    pull = 4.0 * part[0] / 1.25 * np.array([0.4, 0.3])
    np.testing.assert_allclose(difference[[0, 7]], [pull, -pull], atol=1e-15)
    assert not difference[[5, 11]].any()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("exaggeration", [1.0, 12.0])
def test_single_dataset_equals_opentsne(exaggeration: float) -> None:
    openTSNE = pytest.importorskip("openTSNE")
    options = openTSNE.affinity.PrecomputedAffinities(P.copy(), normalize=False)
    theirs = openTSNE.TSNEEmbedding(
        START.copy(), options, negative_gradient_method="bh", theta=0.0, n_jobs=1
    ).optimize(30, exaggeration=exaggeration, momentum=0.8, learning_rate=120 / exaggeration)
    layout = SneLayout(P, START, double=True)
    layout.run([Phase(30, exaggeration, 0.8)])
    assert np.abs(np.asarray(theirs) - layout.positions).max() < 1e-8


def test_layout_follows_the_order_of_rows() -> None:
    order = np.random.default_rng(2).permutation(120)
    plain, mixed = (
        SneLayout(P, START, double=True),
        SneLayout(P[order][:, order], START[order], double=1),
    )
    for layout in (plain, mixed):
        layout.run([Phase(30, 4.0)])
    np.testing.assert_allclose(mixed.positions, plain.positions[order], atol=1e-9)


@pytest.mark.parametrize("exact", [True, False])
def test_layout_does_not_depend_on_threads(exact: bool) -> None:
    layouts = [SneLayout(P, START, exact=exact, threads=threads) for threads in (1, 2, 3)]
    for layout in layouts:
        layout.run([Phase(40, 2.0)])
    for layout in layouts[1:]:
        np.testing.assert_array_equal(layout.positions, layouts[0].positions)


@pytest.mark.parametrize("extent", [0.5, 5.0, 60.0])
def test_grid_forces_are_close_to_exact(extent: float) -> None:
    rng = np.random.default_rng(0)
    n = 3000
    Y = extent * rng.uniform(-1, 1, size=(n, 2)) * [1.0, 0.3]
    empty = sp.csr_array((n, n))
    near, exact = SneLayout(empty, Y, exact=False), SneLayout(empty, Y, exact=True)
    a, b = near.gradient(), exact.gradient()
    assert np.linalg.norm(a - b) < 0.05 * np.linalg.norm(b)
    assert near._kernels.total(near._push[2]) == pytest.approx(
        exact._kernels.total(exact._push[2]), rel=2e-3
    )


def test_grid_layout_is_as_good_as_exact() -> None:
    whole = affinities(600, 6)
    start = spectral_start(whole, 2, np.random.default_rng(0))
    exact, grid = SneLayout(whole, start, exact=True), SneLayout(whole, start, exact=False)
    for layout in (exact, grid):
        layout.run(QUICK_SCHEDULE)
    assert grid.kl(exact=True) < 1.03 * exact.kl(exact=True)


def test_starting_on_the_grid_ends_as_low(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SneLayout(P, START)
    whole.run(QUICK_SCHEDULE)
    # so that these few points begin as thousands do
    monkeypatch.setattr(sne, "ONE_THREAD_ROWS", 50)
    monkeypatch.setattr(sne, "SMALL_EXTENT", 5.0)
    begun = SneLayout(P, START, threads=2)
    begun.run(QUICK_SCHEDULE)
    assert not np.array_equal(begun.positions, whole.positions)
    assert np.ptp(begun.positions) > 5.0
    assert begun.kl(exact=True) < 1.05 * whole.kl(exact=True)


def test_quick_schedule_ends_as_low_as_standard() -> None:
    # Single runs end some percent apart, in whichever low place they fall: a matter of last bits.
    ends = []
    for seed in range(10):
        whole = affinities(400, 4, seed)
        start = spectral_start(whole, 2, np.random.default_rng(0))
        quick, usual = SneLayout(whole, start), SneLayout(whole, start)
        quick.run(QUICK_SCHEDULE)
        usual.run(STANDARD_SCHEDULE)
        ends.append((quick.kl(exact=True), usual.kl(exact=True)))
        assert quick.history[-1] == pytest.approx(ends[-1][0], rel=0.01)
    low, lowest = np.mean(ends, axis=0)
    assert low < 1.03 * lowest


@pytest.mark.parametrize("rows", [1, 127, 128, 129, 300])
def test_repulsion_does_not_depend_on_chunks(rows: int) -> None:
    from hetviz.core.layout.sne_loops import repulsion

    x, y = np.random.default_rng(2).normal(size=(2, 300)).astype(np.float32)
    whole, parts = np.empty((2, 3, 300), np.float32)
    repulsion(0, 300, x, y, np.float32(1), whole)
    for start in range(0, 300, rows):
        repulsion(start, min(start + rows, 300), x, y, np.float32(1), parts)
    np.testing.assert_array_equal(parts, whole)


def test_layout_does_not_depend_on_compiled_code(tmp_path: Path) -> None:
    """Each process compiles anew, one of them the parts before the whole."""
    code = """
import sys
import numpy as np
import scipy.sparse as sp
from hetviz.core.layout.sne import Phase, SneLayout
order, P, START = sys.argv[1], sp.load_npz(sys.argv[2]), np.load(sys.argv[3])
layout = SneLayout(P, START)
if order == "parts":
    layout.kl(exact=True)
    layout.gradient()
layout = SneLayout(P, START)
layout.run([Phase(100)])
print(layout.positions.tobytes().hex())
"""
    files = [str(tmp_path / name) for name in ("P.npz", "start.npy")]
    sp.save_npz(files[0], P)
    np.save(files[1], START)
    result = []
    for order in ("whole", "parts", "parts"):
        # the third process finds the parts compiled
        env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / order)}
        done = subprocess.run(
            [sys.executable, "-c", code, order, *files],
            env=env,
            stdout=subprocess.PIPE,
            check=True,
        )
        result.append(done.stdout)
    assert result[0] == result[1] == result[2]


def test_layout_on_one_axis() -> None:
    layout = SneLayout(P, START[:, :1])
    layout.run([Phase(50, 2.0)])
    assert layout.positions.shape == (120, 1)
    assert np.isfinite(layout.positions).all()
    assert layout.gradient().shape == (120, 1)


def test_no_apart_pairs_change_nothing() -> None:
    with_none = ApartPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 0.9)
    plain, other = SneLayout(P, START), SneLayout(P, START, apart=with_none)
    for layout in (plain, other):
        layout.run([Phase(30)])
    np.testing.assert_array_equal(other.positions, plain.positions)
    assert plain.share_far_enough() == 1.0


def test_far_apart_pairs_have_no_force() -> None:
    far = np.flatnonzero(((START - START[0]) ** 2).sum(axis=1) > 1.0)[:5]
    apart = ApartPairs(np.zeros(5, np.int64), far, np.ones(5))
    plain, pushed = SneLayout(P, START, double=True), SneLayout(P, START, apart=apart, double=True)
    d = ((START[0] - START[far]) ** 2).sum(axis=1)
    beyond = d >= pushed.reach()
    difference = pushed.gradient() - plain.gradient()
    assert beyond.any()
    assert not difference[far[beyond]].any()
    inside = far[~beyond]
    assert (difference[inside] != 0).all(axis=None)


def test_pairs_are_kept_apart_and_the_layout_stays_bounded() -> None:
    # neighbours of one group, which affinities alone would put side by side
    left, right = np.array([0, 3, 6, 9]), np.array([30, 33, 36, 39])
    apart = ApartPairs(left, right, np.ones(4), 0.3)
    start = spectral_start(P, 2, np.random.default_rng(0))
    plain, pushed = SneLayout(P, start), SneLayout(P, start, apart=apart)
    for layout in (plain, pushed):
        layout.run(QUICK_SCHEDULE)

    def distances(layout: SneLayout) -> Any:
        Y = layout.positions
        return np.linalg.norm(Y[left] - Y[right], axis=1)

    assert distances(pushed).min() > 2 * distances(plain).min()
    assert np.ptp(pushed.positions) < 2 * np.ptp(plain.positions)
    before = pushed.share_far_enough()
    pushed.strengthen_apart(4.0)
    pushed.run([Phase(100)])
    assert pushed.share_far_enough() >= before


def test_layouts_are_reported_and_cancel_keeps_the_last() -> None:
    frames: list[Any] = []

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        frames.append(figures["layout"]())
        if fraction > 0.4:
            raise Cancelled

    layout = SneLayout(P, START)
    with pytest.raises(Cancelled):
        layout.run([Phase(200)], progress, layout=lambda Y: -Y)
    assert 2 <= len(frames) <= 8
    assert layout.n_iter == 100
    np.testing.assert_array_equal(frames[-1], -layout.positions)


def test_diverging_layout_raises() -> None:
    runaway = Phase(200, 1.0, 0.99, 1e30, gains=False, longest_step=1e18)
    with pytest.raises(HetvizError, match="layout diverged"):
        SneLayout(P, START).run([runaway])


def test_spectral_start_shows_the_groups_and_is_small() -> None:
    Y = spectral_start(P, 2, np.random.default_rng(0))
    np.testing.assert_allclose(Y.std(axis=0), 1e-4)
    centres = np.array([Y[g::3].mean(axis=0) for g in range(3)])
    within = np.mean([Y[g::3].std() for g in range(3)])
    between = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    assert between[np.triu_indices(3, 1)].min() > 2 * within
    np.testing.assert_array_equal(Y, spectral_start(P, 2, np.random.default_rng(0)))


def test_spectral_start_of_many_components() -> None:
    pairs = sp.csr_array(
        sp.block_diag([affinities(60, 1), affinities(300, 2), *[1 - np.eye(2)] * 9])
    )
    Y = spectral_start(pairs, 2, np.random.default_rng(0))
    assert Y.shape == (378, 2)
    assert np.isfinite(Y).all()
    assert len(np.unique(Y, axis=0)) == 378


def test_random_start_has_the_papers_variance() -> None:
    Y = random_start(5000, 2, np.random.default_rng(0))
    assert Y.var() == pytest.approx(1e-4, rel=0.1)


def test_complete_layout_places_new_rows_among_neighbors() -> None:
    graph = np.zeros((6, 6))
    graph[0, 3] = graph[3, 0] = 1.0
    graph[1, 3] = graph[3, 1] = 3.0
    graph[3, 4] = graph[4, 3] = 1.0
    Y = np.array([[0.0, 0.0], [4.0, 8.0], [9.0, 9.0], *[[np.nan, np.nan]] * 3])
    filled = complete_layout(sp.csr_array(graph), Y, np.random.default_rng(0))
    np.testing.assert_array_equal(filled[:3], Y[:3])
    np.testing.assert_allclose(filled[3], [3.0, 6.0], atol=0.3)
    np.testing.assert_allclose(filled[4], filled[3], atol=0.3)
    assert np.isfinite(filled[5]).all()


def test_gradient_with_unequal_masses() -> None:
    rng = np.random.default_rng(8)
    mass = rng.uniform(0.2, 3.0, len(START))
    mass /= mass.mean()
    layout = SneLayout(P, START, mass=mass, double=True)
    Q = np.outer(mass, mass) / (1.0 + ((START[:, None] - START[None]) ** 2).sum(axis=2))
    np.fill_diagonal(Q, 0.0)
    Q /= Q.sum()
    dense = P.toarray()
    mask = dense > 0
    expected = float((dense[mask] * np.log(dense[mask] / Q[mask])).sum())
    assert layout.kl(exact=True) == pytest.approx(expected, rel=1e-10)
    gradient = layout.gradient()
    for i, axis in ((0, 0), (17, 1), (101, 0)):
        step = np.zeros_like(START)
        step[i, axis] = 1e-5
        up, down = (SneLayout(P, START + s * step, mass=mass, double=True) for s in (1, -1))
        slope = (up.kl(exact=True) - down.kl(exact=True)) / 2e-5
        assert gradient[i, axis] == pytest.approx(slope, rel=1e-4, abs=1e-9)


def test_equal_masses_change_nothing_and_the_grid_agrees_with_exact_forces() -> None:
    same = SneLayout(P, START, mass=np.ones(len(START)))
    np.testing.assert_allclose(
        same.gradient(), SneLayout(P, START).gradient(), rtol=1e-4, atol=1e-8
    )
    rng = np.random.default_rng(9)
    Y = 12.0 * rng.normal(size=(3_000, 2))
    mass = rng.uniform(0.3, 2.0, 3_000)
    chain = sp.csr_array(
        (np.ones(2_999), (np.arange(2_999), np.arange(1, 3_000))), shape=(3_000, 3_000)
    )
    graph = sp.csr_array((chain + chain.T) / (2 * chain.sum()))
    exact, grid = (SneLayout(graph, Y, mass=mass, exact=way).gradient() for way in (True, False))
    wrong = np.linalg.norm(exact - grid) / np.linalg.norm(exact)
    assert wrong < 0.03


def test_gradient_on_three_axes_equals_finite_differences() -> None:
    Y = 0.3 * np.random.default_rng(4).normal(size=(120, 3))
    left = np.array([0, 5])
    nearest = ((Y[:, None] - Y[None]) ** 2).sum(axis=2) + 9.0 * np.eye(120)
    apart = ApartPairs(left, nearest[left].argmin(axis=1), np.array([1.0, 0.5]), 0.7)
    mass = np.random.default_rng(5).uniform(0.5, 1.5, 120)
    mass /= mass.mean()
    for weights in (None, mass):
        layout = WideSneLayout(P, Y, apart=apart, mass=weights, double=True)
        gradient, reach = layout.gradient(), layout.reach()

        def objective(Z: Any, m: Any = weights, r: float = reach) -> float:
            kl = WideSneLayout(P, Z, mass=m, double=True).kl(exact=True)
            return kl + hinge_of(apart, Z, r)

        assert hinge_of(apart, Y, reach) > 0
        for row, axis in ((0, 0), (5, 1), (9, 2), (77, 2)):
            step = np.zeros_like(Y)
            step[row, axis] = 1e-5
            slope = (objective(Y + step) - objective(Y - step)) / 2e-5
            assert gradient[row, axis] == pytest.approx(slope, abs=1e-8)
    assert WideSneLayout(P, Y, double=True).kl(exact=True) == pytest.approx(kl_of(P, Y), rel=1e-12)


def test_flat_third_axis_equals_two_axes() -> None:
    flat = np.column_stack([START, np.zeros(120)])
    plane, wide = SneLayout(P, START, double=True), WideSneLayout(P, flat, double=True)
    for layout in (plane, wide):
        layout.run([Phase(20, 4.0), Phase(20)])
    np.testing.assert_allclose(wide.positions[:, :2], plane.positions, rtol=1e-9)
    np.testing.assert_array_equal(wide.positions[:, 2], 0.0)
    assert wide.history == pytest.approx(plane.history, rel=1e-9)


def test_three_axes_do_not_depend_on_threads() -> None:
    Y = np.column_stack([START, START[::-1, 0]])
    result = []
    for threads in (1, 2):
        layout = WideSneLayout(P, Y, threads=threads)
        layout.run([Phase(30)])
        result.append(layout.positions)
    np.testing.assert_array_equal(*result)
    assert kl_of(P, result[0]) < kl_of(P, START)


def test_golden_tetrahedron() -> None:
    # equal distances make all twelve q the same, and the two linked pairs have four p of 1/4
    pairs = sp.csr_array(np.kron(np.eye(2), [[0.0, 0.25], [0.25, 0.0]]))
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    layout = WideSneLayout(pairs, corners, double=True)
    assert layout.kl(exact=True) == pytest.approx(np.log(3.0))
    # each is drawn to its partner as hard as it is pushed by all: 4 (1/4 - 1/12) q (y_i - y_j) ...
    q, partner, others = 1 / 9, corners[[1, 0, 3, 2]], corners.sum(axis=0)
    away = 4.0 * corners - others
    wanted = 4 * q * ((corners - partner) / 4 - away / 12)
    np.testing.assert_allclose(layout.gradient(), wanted, atol=1e-15)
