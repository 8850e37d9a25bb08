"""Which links are somebody's word, and how loudly they are heard."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz.core.layout.guidance_boost import LOUDER, louder, met, spoken_part
from hetviz.data import Dataset, HeteroData, Links
from hetviz.features.relations.user_links import spoken_weights


def test_only_what_was_said_counts_and_by_its_strongest_weight() -> None:
    a, b = Dataset("a", ["x", "y", "z"]), Dataset("b", ["u", "v"])
    data = HeteroData(
        [a, b],
        [
            Links("a", "b", [0, 1, 2], [0, 0, 1], [0.5, -1.0, 1.0], kind="said"),
            Links("b", "a", [0], [0], [0.8], kind="accepted"),
            Links("a", "b", [1], [1]),
        ],
    )
    W = spoken_weights(data).toarray()
    expected = np.zeros((5, 5))
    expected[0, 3] = expected[3, 0] = 0.8
    expected[2, 4] = expected[4, 2] = 1.0
    np.testing.assert_array_equal(W, expected)
    assert spoken_weights(HeteroData([a])).nnz == 0


def test_an_item_hears_all_that_is_said_of_it_as_loudly_as_the_rest() -> None:
    P = sp.csr_array(np.array([[0, 0.2, 0, 0], [0.2, 0, 0.1, 0], [0, 0.1, 0, 0.2], [0, 0, 0.2, 0]]))
    W = np.zeros((4, 4))
    W[0, 3] = W[3, 0] = 1.0
    W[0, 2] = W[2, 0] = 0.5
    S = spoken_part(P, sp.csr_array(W), 2.0).toarray()
    assert S[0, 3] == S[3, 0] == 2.0 * min(0.2 / 2, 0.2)
    assert S[0, 2] == S[2, 0] == 2.0 * 0.5 * min(0.2 / 2, 0.3)


def test_only_far_pairs_are_made_louder() -> None:
    S = sp.csr_array(np.array([[0, 0.1, 0.2], [0.1, 0, 0], [0.2, 0, 0]]))
    more = louder(S, np.array([[0.0, 0.0], [0.05, 0.0], [1.0, 0.0]]))
    assert more is not None
    np.testing.assert_allclose(more.toarray()[0], [0.0, 0.0, 0.2 * (LOUDER - 1)])
    assert louder(sp.csr_array((3, 3)), np.eye(3)) is None


def test_far_pairs_meet_where_they_are_heard_alike_and_the_rest_stays() -> None:
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0], [0.52, 1.0]])
    W = sp.csr_array(([1.0, 1.0, 1.0, 1.0], ([0, 1, 2, 3], [1, 0, 3, 2])), shape=(4, 4))
    np.testing.assert_allclose(met(W, Y), [[0.5, 0.0], [0.5, 0.0], *Y[2:].tolist()])
    assert met(sp.csr_array((4, 4)), Y) is Y
    # One that hears three others goes to them rather than they to it.
    star = sp.csr_array(([1.0] * 6, ([0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0])), shape=(4, 4))
    places = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(met(star, places)[0], [0.75, 0.0])
    np.testing.assert_allclose(met(star, places)[1], [0.75, 0.0])
