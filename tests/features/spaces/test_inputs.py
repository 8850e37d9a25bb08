"""What places are computed from: scaled alike for dense and sparse, fitted and new rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.data import Dataset
from hetviz.features.spaces import inputs
from hetviz.features.spaces.basis import fit_basis
from hetviz.features.spaces.inputs import (
    LeadingFeatures,
    SimilarityToFitted,
    UnitFeatures,
    make_inputs,
)
from hetviz.features.spaces.similarity import similarity_of

RNG = np.random.default_rng(0)
X = np.where(RNG.random((30, 6)) < 0.5, RNG.normal(3.0, 2.0, (30, 6)), 0.0)
IDS = [f"i{k}" for k in range(30)]
DENSE, SPARSE = Dataset("a", IDS, X), Dataset("a", IDS, sp.csr_array(X))
NEW = Dataset("a", ["x", "y"], X[[4, 9]])


def test_unit_features_are_centred_and_scaled() -> None:
    result = UnitFeatures.fit(SPARSE)
    Z = result.of(DENSE)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    assert (Z**2).sum(axis=1).mean() == pytest.approx(1.0)
    np.testing.assert_array_equal(result.of(NEW), Z[[4, 9]])


def test_unit_features_of_equal_rows_are_zero() -> None:
    same = Dataset("a", IDS[:3], np.ones((3, 2)))
    np.testing.assert_array_equal(UnitFeatures.fit(same).of(same), np.zeros((3, 2)))


@pytest.mark.parametrize("most", [3, 6, 20])
def test_leading_features_are_few_and_of_mean_variance_one(most: int) -> None:
    result = LeadingFeatures.fit(fit_basis(DENSE), most)
    assert result.features.shape == (30, min(most, 6))
    np.testing.assert_allclose(result.features.mean(axis=0), 0.0, atol=1e-12)
    assert result.features.var(axis=0).mean() == pytest.approx(1.0)
    np.testing.assert_allclose(result.of(NEW), result.features[[4, 9]], atol=1e-12)
    sparse = LeadingFeatures.fit(fit_basis(SPARSE), most).features
    np.testing.assert_allclose(np.abs(sparse), np.abs(result.features), atol=1e-9)


def test_leading_features_keep_the_most_variance() -> None:
    result = LeadingFeatures.fit(fit_basis(DENSE), 2)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    remaining = np.linalg.svd(result.features, compute_uv=False)
    np.testing.assert_allclose(remaining / remaining[0], values[:2] / values[0])


def test_similarity_to_fitted_samples_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    like = similarity_of(DENSE)
    assert like is not None
    S = SimilarityToFitted.fit(like, 0).of(DENSE)
    np.testing.assert_array_equal(S, like.to_fitted(DENSE))
    monkeypatch.setattr(inputs, "MAX_ITEMS_ALL_PAIRS", 20)
    monkeypatch.setattr(inputs, "_N_LANDMARKS", 7)
    small = SimilarityToFitted.fit(like, 0)
    assert len(set(small.columns.tolist())) == 7
    np.testing.assert_array_equal(small.of(DENSE), S[:, small.columns])


def test_make_inputs_by_kind() -> None:
    bare = Dataset("a", IDS, kernel=X @ X.T)
    like = similarity_of(bare)
    assert isinstance(make_inputs(DENSE, "features", None), UnitFeatures)
    assert isinstance(make_inputs(bare, "features", like), SimilarityToFitted)
    assert isinstance(make_inputs(DENSE, "similarities", similarity_of(DENSE)), SimilarityToFitted)
    assert make_inputs(DENSE, "similarities", None) is None
