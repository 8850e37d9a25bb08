"""Displacements of items between two maps."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Embedding
from hetviz.errors import HetvizError
from hetviz.metrics.fit.displacement import displacements


def embedding(Y: np.ndarray) -> Embedding:
    half = len(Y) // 2
    parts = {"a": Y[:half], "b": Y[half:]}
    return Embedding(parts, {name: [str(k) for k in range(len(y))] for name, y in parts.items()})


def test_displacements_ignore_rotation() -> None:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(60, 2))
    turn = np.array([[0.0, 3.0], [3.0, 0.0]])
    Z = Y @ turn + [5.0, -2.0]
    extent = np.ptp(Z, axis=0).max()
    Z[7] += [0.3 * extent, 0.0]
    Z[50] = np.nan
    extent = (np.nanmax(Z, axis=0) - np.nanmin(Z, axis=0)).max()
    far = displacements(embedding(Y), embedding(Z))
    assert far[7] * extent == pytest.approx(0.3 * np.ptp(Y @ turn, axis=0).max(), rel=1e-9)
    assert np.isnan(far[50])
    assert np.delete(far, [7, 50]).max() < 1e-9


def test_different_rows_are_refused() -> None:
    Y = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(HetvizError, match="same rows"):
        displacements(embedding(Y), embedding(Y[:8]))


def test_maps_without_common_places_give_nan() -> None:
    Y = np.random.default_rng(0).normal(size=(4, 2))
    Z = Y.copy()
    Z[:] = np.nan
    assert np.isnan(displacements(embedding(Y), embedding(Z))).all()
