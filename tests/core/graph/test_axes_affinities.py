"""Affinities of items on joint axes: their sum, their parts, and the limits of the blend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from hetviz.core.graph.axes_affinities import AxesBlend, axes_affinities, links_by_reach
from hetviz.core.graph.joint import JointGraph, LinkBlock
from hetviz.core.spectral.joint_axes import unit

SIZES = (60, 30)
N = sum(SIZES)


def graph(apart: tuple[int, int] | None = None, strength: float = 1.0) -> tuple[JointGraph, Any]:
    rng = np.random.default_rng(0)
    Z = unit(rng.normal(size=(N, 4)))
    W = sp.csr_array((rng.random(SIZES) < 0.05).astype(float))
    positive = sp.csr_array((N, N))
    negative = sp.csr_array((N, N))
    if apart is not None:
        i, j = apart
        negative = sp.csr_array(([1.0, 1.0], ([i, j], [j, i])), shape=(N, N))
    link = LinkBlock(0, 1, W, strength=strength)
    return JointGraph(SIZES, (None, None), positive, negative, (link,)), Z


def dense(P: Any) -> Any:
    return P.toarray()


@pytest.mark.parametrize("m", [0.0, 0.3, 1.0])
def test_axes_affinities_are_symmetric_with_given_link_share(m: float) -> None:
    joint, Z = graph()
    P = dense(axes_affinities(joint, Z, [None, None], AxesBlend(m, 8.0)))
    assert_allclose(P, P.T, atol=1e-15)
    assert P.sum() == pytest.approx(1.0)
    assert (P >= 0).all()
    assert not P.diagonal().any()
    R = dense(links_by_reach(joint))
    near = dense(axes_affinities(joint, Z, [None, None], AxesBlend(0.0, 8.0)))
    mixed = (1 - m) * near + m * R
    assert_allclose(P, mixed / mixed.sum(), atol=1e-12)


def test_links_count_by_share_of_items_and_strength() -> None:
    joint, _ = graph()
    W = joint.links[0].W.toarray()
    touched = max((W.sum(axis=1) > 0).mean(), (W.sum(axis=0) > 0).mean())
    R = dense(links_by_reach(joint))
    assert_allclose(R[:60, 60:], W / W.sum() * touched / 2)
    assert_allclose(R.sum(), touched)
    weak, _ = graph(strength=0.25)
    assert_allclose(dense(links_by_reach(weak)), R / 4)


def test_apart_pair_has_no_affinity() -> None:
    joint, Z = graph()
    P = dense(axes_affinities(joint, Z, [None, None], AxesBlend(0.3, 8.0)))
    i, j = map(int, np.unravel_index(P.argmax(), P.shape))
    joint, Z = graph(apart=(i, j))
    after = dense(axes_affinities(joint, Z, [None, None], AxesBlend(0.3, 8.0)))
    assert after[i, j] == 0.0
    assert after.sum() == pytest.approx(1.0)


def test_own_features_with_full_weight_decide_within_a_dataset() -> None:
    joint, Z = graph()
    rng = np.random.default_rng(1)
    F = unit(rng.normal(size=(60, 4)))
    only = dense(axes_affinities(joint, Z, [F, None], AxesBlend(0.0, 8.0, own=1.0)))[:60, :60]
    other = np.vstack([F, Z[60:]])
    same = dense(axes_affinities(joint, other, [None, None], AxesBlend(0.0, 8.0)))[:60, :60]
    assert_allclose(only / only.sum(), same / same.sum(), atol=1e-12)


def test_unknown_items_have_no_neighbors() -> None:
    joint, Z = graph()
    Z[[5, 70]] = 0.0
    P = dense(axes_affinities(joint, Z, [None, None], AxesBlend(0.0, 8.0)))
    assert not P[[5, 70]].any()
    assert not axes_affinities(joint, np.zeros_like(Z), [None, None], AxesBlend(0.0, 8.0)).nnz


def test_candidates_of_the_same_data_give_the_same_affinities() -> None:
    joint, Z = graph()
    blend, candidates = AxesBlend(0.3, 8.0), {}
    first = dense(axes_affinities(joint, Z, [None, None], blend, candidates=candidates))
    assert set(candidates) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    again = dense(axes_affinities(joint, Z, [None, None], blend, candidates=candidates))
    assert_allclose(first, dense(axes_affinities(joint, Z, [None, None], blend)), atol=0)
    assert_allclose(again, first, atol=1e-12)


def test_candidates_without_axes_are_no_neighbours() -> None:
    joint, Z = graph()
    blend, candidates = AxesBlend(0.0, 8.0), {}
    axes_affinities(joint, Z, [None, None], blend, candidates=candidates)
    Z = Z.copy()
    Z[[3, 65]] = 0.0
    P = dense(axes_affinities(joint, Z, [None, None], blend, candidates=candidates))
    assert P[[3, 65]].max() < 1e-12
    assert (np.delete(P, [3, 65], axis=0).sum(axis=1) > 0).all()
    # New places have other distances, so the same candidates get other weights.
    Z[:60] = unit(np.random.default_rng(1).normal(size=(60, 4)))
    assert (
        abs(dense(axes_affinities(joint, Z, [None, None], blend, candidates=candidates)) - P)[
            :60, :60
        ].max()
        > 1e-4
    )
