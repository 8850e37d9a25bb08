"""Tests of claims, verdicts and measures of the paper experiments."""

import numpy as np
import pytest

from benchmarks.papers.judging import apart, judged, told_by
from benchmarks.papers.ordering import divided
from benchmarks.papers.p004_drugs_and_receptors import crossings, likeness


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([True, True], "holds"),
        ([True, False, False, False], "holds in part"),
        ([True, False, False, False, False], "does not hold here"),
        ([False], "does not hold here"),
    ],
)
def test_verdict_needs_quarter_of_parts(parts, verdict):
    assert judged(parts) == verdict


def test_unpaired_difference_uses_both_errors():
    low, high = [1.0, 1.2, 0.8, 1.1], [2.0, 2.2, 1.9, 2.1, 2.0]
    assert (apart(high, low), apart(low, high), apart(low, low)) == (1, -1, 0)
    assert apart([1.0, 3.0], [1.5, 3.5]) == 0
    assert apart([float("nan")], low) == 0


def test_figures_include_standard_errors():
    assert told_by("error", [("2 axes", [1.0, 3.0])], 1) == "error: 2 axes 2.0 ± 1.0"


def test_crossing_links_share_no_end():
    drugs = np.array([[0.0, 0.0], [1.0, 0.0]])
    targets = np.array([[0.0, 1.0], [1.0, 1.0]])
    assert crossings(drugs, targets, np.array([[0.0, 1.0], [1.0, 0.0]])) == 1
    assert crossings(drugs, targets, np.eye(2)) == 0
    assert crossings(drugs, targets, np.array([[1.0, 1.0], [0.0, 0.0]])) == 0


def test_link_similarity_uses_most_similar_known_link():
    K, L = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0]])
    links = np.array([[1.0, 0.0], [0.0, 0.0]])
    assert likeness(links, K, L) == pytest.approx(np.array([[1.0, 0.2], [0.5, 0.1]]))


def test_test_objects_not_in_training():
    train, test = divided(np.arange(10, 30), 0.25, 0)
    assert len(test) == 5
    assert sorted([*train, *test]) == list(range(10, 30))
