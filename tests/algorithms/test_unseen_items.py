"""Links of new items through the public API."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import hetviz
from hetviz.data import Dataset, HeteroData, Links

SHARED = 0.35


def receptors() -> tuple[Any, Any, Any]:
    """Links and two similarity matrices in which no two items are very similar."""
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(54, 4)), rng.normal(size=(26, 4))

    def near(A: Any, B: Any) -> Any:
        return np.exp(-0.25 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    S = near(X, Z)
    Y = (np.sort(S, axis=None)[-90] <= S).astype(float)
    kernels = [SHARED * near(A, A) + (1 - SHARED) * np.eye(len(A)) for A in (X, Z)]
    return Y, *kernels


def fold_of(Y: Any, K: Any, L: Any, fold: Any) -> tuple[HeteroData, Dataset]:
    """The data without some drugs, and these drugs as new items."""
    ids = np.array([f"d{row}" for row in range(len(K))])
    train = np.setdiff1d(np.arange(len(Y)), fold)
    data = HeteroData(
        [
            Dataset("drugs", ids[train], kernel=K[np.ix_(train, train)]),
            Dataset("targets", [f"t{row}" for row in range(len(L))], kernel=L),
        ],
        [Links("drugs", "targets", *np.nonzero(Y[train]))],
    )
    return data, Dataset("drugs", ids[fold], kernel=K[np.ix_(fold, train)])


@pytest.mark.parametrize(
    ("key", "settings", "least"),
    [
        ("mkpe", {"variant": "parametric", "within_weight": 0.1, "n_init": 1}, 0.82),
        ("kbmf2k", {}, 0.7),
    ],
)
def test_links_of_new_items_are_predicted(key: str, settings: dict[str, Any], least: float) -> None:
    Y, K, L = receptors()
    scores = []
    for fold in np.array_split(np.random.default_rng(0).permutation(len(Y)), 5):
        data, new = fold_of(Y, K, L, fold)
        model = hetviz.get_method(key)(n_components=5, **settings).fit(data)
        places = model.transform(new).coordinates["drugs"]
        targets = model.embedding_.coordinates["targets"]
        S = model.link_scores(new, data["targets"], places, targets)
        scores.append(roc_auc_score(Y[fold].ravel(), S.ravel()))
    assert np.mean(scores) > least


def test_place_is_linear_in_new_rows_of_a_normalised_kernel() -> None:
    Y, K, L = receptors()
    data, new = fold_of(Y, K, L, np.arange(6))
    model = hetviz.get_method("mkpe")(variant="parametric", n_init=1).fit(data)
    places = model.transform(new).coordinates["drugs"]
    np.testing.assert_allclose(places, new.kernel @ model.frames_["drugs"], atol=1e-12)
