"""Krippendorff's alpha: published examples and limits."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz._types import Ints
from hetviz.core.measures.agreement import nominal_alpha

# Krippendorff (2011), examples A, B and C; "." is a missing judgement.
BINARY = ("0100000010", "1110010000")
NOMINAL = ("aabbdcccedda", "babbbccceddd")
MISSING = ("123321412...", "1233224125.3", ".33323422 51.", "123324412 51.")


def judgements(*people: str) -> tuple[Ints, Ints]:
    rows = [
        (unit, ord(text))
        for person in people
        for unit, text in enumerate(person.replace(" ", ""))
        if text != "."
    ]
    unit, value = np.array(rows).T
    return unit, value


@pytest.mark.parametrize(
    ("people", "alpha", "n_units", "n_values"),
    [
        (BINARY, 0.095, 10, 20),
        (NOMINAL, 0.692, 12, 24),
        (MISSING, 0.743, 11, 40),
    ],
)
def test_alpha_of_published_examples(
    people: tuple[str, ...], alpha: float, n_units: int, n_values: int
) -> None:
    result = nominal_alpha(*judgements(*people))
    assert result.alpha == pytest.approx(alpha, abs=5e-4)
    assert (result.n_units, result.n_values) == (n_units, n_values)


def test_alpha_of_binary_example_exactly() -> None:
    # Observed: 4 of 10 units differ. Expected: 14 zeros and 6 ones, 2 * 14 * 6 / (20 * 19).
    result = nominal_alpha(*judgements(*BINARY))
    assert result.observed == pytest.approx(0.4)
    assert result.expected == pytest.approx(2 * 14 * 6 / (20 * 19))
    assert result.alpha == pytest.approx(1 - 0.4 * 380 / 168)


def test_alpha_of_full_agreement_is_1() -> None:
    assert nominal_alpha(*judgements("001101", "001101")).alpha == 1.0


def test_alpha_without_variation_or_units_is_undefined() -> None:
    assert nominal_alpha(*judgements("000000", "000000")).alpha is None
    assert nominal_alpha(*judgements("0110", "0110")).alpha is None
    assert nominal_alpha(*judgements("0110", "0110"), min_units=2).alpha == 1.0
    # No unit has two judgements.
    alone = nominal_alpha(*judgements("0101010...", ".......010"))
    assert (alone.alpha, alone.n_units) == (None, 0)
    empty = np.empty(0, dtype=np.int64)
    assert nominal_alpha(empty, empty).alpha is None


def test_exchangeable_values_do_not_depend_on_their_order() -> None:
    unit, value = judgements("00000000", "00000011")
    value = value - ord("0")
    flipped = np.where(unit % 2, 1 - value, value)
    first, second = (nominal_alpha(unit, v, exchangeable=True) for v in (value, flipped))
    assert first.alpha == second.alpha
    # Of 16 judgements half have each value by chance: 16^2 / 2 / (16 * 15).
    assert first.expected == pytest.approx(128 / 240)
    assert nominal_alpha(unit, value).alpha != nominal_alpha(unit, flipped).alpha


def test_interval_contains_alpha_and_needs_units() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 60)
    second = np.where(rng.random(60) < 0.2, rng.integers(0, 3, 60), first)
    unit = np.tile(np.arange(60), 2)
    result = nominal_alpha(unit, np.concatenate([first, second]))
    assert result.alpha is not None
    assert result.low is not None
    assert result.high is not None
    assert result.low < result.alpha < result.high
    assert result == nominal_alpha(unit, np.concatenate([first, second]))
    assert nominal_alpha(*judgements(*NOMINAL)).low is None
    # One unit of 40 differs: in many resamples all values are equal.
    rare = np.zeros(80, dtype=np.int64)
    rare[0] = 1
    assert nominal_alpha(np.tile(np.arange(40), 2), rare).low is None
