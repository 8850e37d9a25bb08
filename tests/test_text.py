"""Tests of number and name formatting."""

from __future__ import annotations

import pytest

from hetviz._text import (
    count_rows,
    finish_sentence,
    format_number,
    format_score,
    is_name,
    per_hundred,
    round_percent,
    shorten,
)


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
def test_format_number_digits(value: float, words: str) -> None:
    assert format_number(value) == words


@pytest.mark.parametrize(
    ("title", "own_id", "is_one"),
    [
        ("France", "France", True),
        ("p1402.png", "p1402", False),
        ("birthday.JPG", "k1", False),
        ("s1402", "s1402", False),
        ("shop-07", "shop-07", False),
        ("Boeing 747", "Boeing 747", True),
        ("1984", "m-7", True),
        ("東京", "東京", True),
        ("17", "17", False),
    ],
)
def test_is_name_rejects_files_and_ids(title: str, own_id: str, is_one: bool) -> None:
    assert is_name(title, own_id) == is_one


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100"), (0.9996, "99.9"), (0.996, "99.6"), (0.994, "99"), (0.5, "50")]
)
def test_only_all_is_a_hundred_percent(share: float, text: str) -> None:
    assert per_hundred(share) == text
    assert round_percent(share) == f"{text} %"


def test_only_the_best_score_is_one() -> None:
    scores = (0.874, 0.994, 0.9961, 0.99999, 1.0)
    assert list(map(format_score, scores)) == ["0.87", "0.99", "0.996", "0.999", "1.00"]


def test_small_share_is_not_zero_percent() -> None:
    assert round_percent(0.004) == "0.4 %"
    assert round_percent(0.0) == "0 %"
    assert round_percent(0.0004) == "under 0.1 %"


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("short", "short"),
        ("a title of many letters", "a title of…"),
        # The id of items with equal titles stays.
        ("a title of many letters (r53)", "a tit… (r53)"),
        # An ending that takes more than half does not.
        ("a title (of many letters)", "a title (of…"),
    ],
)
def test_shortened_text_keeps_a_short_ending_in_parentheses(text: str, short: str) -> None:
    assert shorten(text, 12) == short
    assert len(short) <= 12


def test_sentence_is_finished_once() -> None:
    assert [finish_sentence(text) for text in ("Two", "Two.", "Tw…")] == ["Two.", "Two.", "Tw…"]


@pytest.mark.parametrize(
    ("number", "table", "text"),
    [
        (1273, "emoji", "1,273 emoji"),
        (344, "penguins", "344 penguins"),
        (12, "film_series", "12 film_series"),
        (398, "mpg", "398 rows of mpg"),
        (3503, "Track", "3,503 rows of Track"),
        (9, "address", "9 rows of address"),
        (5, "sales_2021", "5 rows of sales_2021"),
        (1, "one", "1 row of one"),
        (7, "städte", "7 städte"),
    ],
)
def test_rows_are_counted_by_plurals_only(number: int, table: str, text: str) -> None:
    assert count_rows(number, table) == text
