"""Share of the nearness on a map that values explain: exact values in limit cases."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.core.measures.near_pairs import (
    N_SHUFFLES,
    Codes,
    Numbers,
    Similarities,
    divergence,
    explain,
    measure_links,
    measure_values,
    near_scales,
    score_limit,
)

N = 200


def clusters(n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places of rows in clusters that are far apart, and the clusters."""
    code = np.arange(N) % n_groups
    angle = 2 * np.pi * code / n_groups
    noise = np.random.default_rng(0).normal(size=(N, 2))
    return np.column_stack([np.cos(angle), np.sin(angle)]) * 100 + noise, code


def shuffles(n: int = N) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.permutation(n) for _ in range(N_SHUFFLES)]


def test_near_scales_list_other_rows_also_where_all_are_at_one_place() -> None:
    for Y in (np.random.default_rng(0).normal(size=(50, 2)), np.zeros((50, 2))):
        for scale in near_scales(Y):
            assert (scale.i != scale.j).all()
            pairs = set(zip(scale.i.tolist(), scale.j.tolist(), strict=True))
            assert len(pairs) == len(scale.i)
    # Neighbours of rows at one place are not those with the next numbers.
    assert np.abs(scale.i - scale.j).mean() > 10


@pytest.mark.parametrize("n_groups", [2, 4, 20])
def test_codes_of_separate_clusters_have_the_bits_of_their_entropy(n_groups: int) -> None:
    Y, code = clusters(n_groups)
    scale = near_scales(Y)[0]
    bits = Codes.of(code).bits(scale.i, scale.j)
    chance = (N / n_groups - 1) / (N - 1)
    assert bits == pytest.approx(-np.log2(chance))


def test_numbers_of_few_values_have_at_most_the_bits_of_their_entropy() -> None:
    Y, code = clusters(4)
    scale = near_scales(Y)[0]
    bits = Numbers.of(code.astype(float)).bits(scale.i, scale.j)
    assert bits == pytest.approx(2)


def test_values_with_gaps_explain_the_known_pairs_only() -> None:
    Y, code = clusters(4)
    scale = near_scales(Y)[0]
    holes = np.where(np.random.default_rng(2).random(N) < 0.5, -1, code)
    known = (holes[scale.i] >= 0) & (holes[scale.j] >= 0)
    bits = Codes.of(holes).bits(scale.i, scale.j)
    assert bits == pytest.approx(2 * known.mean(), rel=0.1)
    number = Numbers.of(np.where(holes < 0, np.nan, Y[:, 0]))
    assert 0 < number.bits(scale.i, scale.j) < Numbers.of(Y[:, 0]).bits(scale.i, scale.j)
    assert Numbers.of(np.full(N, np.nan)).bits(scale.i, scale.j) == 0


def test_similarities_of_equal_codes_are_those_of_codes_in_equal_groups() -> None:
    Y, code = clusters(4)
    scale = near_scales(Y)[1]
    S = (code[:, None] == code).astype(float)
    similar = Similarities.of(S, np.ones(N)).bits(scale.i, scale.j)
    assert similar == pytest.approx(Codes.of(code).bits(scale.i, scale.j))


def test_divergence_is_zero_at_and_below_chance() -> None:
    p = np.array([0.2, 0.1, 0.0, 1.0])
    np.testing.assert_allclose(divergence(p, np.array([0.2, 0.2, 0.2, 0.25])), [0, 0, 0, 2])


def test_explain_is_nearly_one_for_groups_of_near_rows_and_zero_for_shuffled_ones() -> None:
    Y, code = clusters(10)
    scales = near_scales(Y)
    max_bits = [scale.max_bits for scale in scales]
    order = np.random.default_rng(3).permutation(N)
    cause, noise = (
        explain(measure_values(Codes.of(values), scales, shuffles()), max_bits)
        for values in (code, code[order])
    )
    assert 0.8 < cause.share <= 1
    assert noise.share < 0.05
    limit = score_limit([cause, noise])
    assert cause.score > limit > noise.score
    assert score_limit([]) == np.inf


def test_finer_groups_explain_more_than_coarse_ones() -> None:
    Y, code = clusters(10)
    scales = near_scales(Y)
    shares = [
        explain(
            measure_values(Codes.of(values), scales, shuffles()), [s.max_bits for s in scales]
        ).share
        for values in (code, code // 5)
    ]
    assert shares[0] > 1.5 * shares[1] > 0


def test_links_between_near_rows_explain_and_random_links_do_not() -> None:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(N, 2))
    distance = np.linalg.norm(Y[:, None] - Y, axis=2)
    radius = np.sort(distance, axis=1)[:, [2, 20]]
    p = np.arange(N)
    nearest = np.argsort(distance, axis=1)[:, 1]
    shares = [2 / (N - 1), 20 / (N - 1)]
    bits = [-np.log2(share) for share in shares]
    near, random = (
        explain(measure_links(Y, Y, p, q, radius, shares, N), bits)
        for q in (nearest, rng.permutation(N))
    )
    assert near.scale == 0
    assert near.share > 10 * random.share
    assert near.score > near.shuffled.max()
