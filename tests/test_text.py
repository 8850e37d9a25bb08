"""Numbers as people read them."""

from __future__ import annotations

import pytest

from hetviz._text import in_digits


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1974.0, "1974"),
        (9_999.0, "9999"),
        (10_000.0, "10,000"),
        (-1_234_567.0, "-1,234,567"),
        (0.0, "0"),
        (0.125, "0.125"),
        (0.00321, "0.00321"),
        (73.456, "73.46"),
        (123_456.78, "123,456.8"),
        (3e-7, "3e-07"),
        (4.2e17, "4.2e+17"),
    ],
)
def test_a_number_has_as_many_digits_as_are_read(value: float, words: str) -> None:
    assert in_digits(value) == words
