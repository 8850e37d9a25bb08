"""Area under the curve and precision of a ranking of pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hetviz.metrics.fit.ranking import link_ranking


def test_the_area_is_that_of_scikit_learn_with_ties() -> None:
    rng = np.random.default_rng(0)
    scores, links = rng.integers(0, 6, 200).astype(float), rng.random(200) < 0.2
    auc, _ = link_ranking(scores, links, ())
    assert auc == pytest.approx(roc_auc_score(links, scores))


def test_precision_among_equals_is_the_mean_over_their_orders() -> None:
    scores, links = [3.0, 2.0, 2.0, 2.0, 1.0], [False, True, False, True, False]
    _, precision = link_ranking(scores, links, (1, 2, 3, 5, 9))
    orders = [(0, *order, 4) for order in itertools.permutations((1, 2, 3))]
    for k in (1, 2, 3, 5):
        expected = np.mean([np.mean([links[row] for row in order[:k]]) for order in orders])
        assert precision[k] == pytest.approx(expected)
    assert 9 not in precision


def test_pairs_without_a_score_come_last() -> None:
    auc, precision = link_ranking([0.5, -np.inf, -np.inf], [True, False, False], (1,))
    assert (auc, precision[1]) == (1.0, 1.0)
