"""Tables as text: what Arrow writes is what pandas writes, byte by byte."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetviz._pandas import TEXT
from hetviz.data.model import csv_text

AWKWARD = [
    *(0.0, -0.0, 1.0, -3.0, 1e-5, 1.5e-5, 1e-4, 9.999e-5, 0.00012345, 1e10, 12345678901.5),
    *(1e15, 1e16, 1.2345e17, 2.0**53, 2.0**53 + 2, 1e22, 1e-300, 5e-324, 1.7976931348623157e308),
    *(np.inf, -np.inf, np.nan, 0.1, 1 / 3, 999999999999999.9, 12345678901234.5, -2.5e-7),
]


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_text, "_MIN_ARROW_CELLS", 0)


def told(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False).encode()


def test_csv_text_matches_pandas_for_special_values() -> None:
    texts = ["", "a,b", 'say "so"', "line\nline", "line\r", " a ", "ä", "'", "\u2028", None]
    table = pd.DataFrame(
        {
            "real": AWKWARD,
            "whole, named": np.arange(len(AWKWARD)) * 10**15,
            "text": pd.array((texts * 3)[: len(AWKWARD)], dtype=TEXT),
        }
    )
    written = csv_text._by_arrow(table)
    assert written == told(table)
    # Of some rows of another table, as after leaving rows out.
    assert csv_text.csv_of(table.iloc[5:20:2]) == told(table.iloc[5:20:2])
    assert csv_text.csv_of(table.iloc[:0]) == told(table.iloc[:0])


def test_csv_text_matches_pandas_for_random_numbers() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=50_000) * 10.0 ** rng.integers(-20, 25, size=50_000)
    table = pd.DataFrame({"a": values, "b": np.round(values, 2), "c": np.rint(values)})
    assert csv_text._by_arrow(table) == told(table)


def test_csv_text_uses_pandas_for_other_types() -> None:
    for column in ([True, False], pd.to_datetime(["2020-01-01", None]), pd.Categorical(["a", "b"])):
        table = pd.DataFrame({"n": [1.5, 2.0], "other": column})
        assert csv_text._by_arrow(table) is None
        assert csv_text.csv_of(table) == told(table)
    alone = pd.DataFrame({"text": pd.array(["", "a"], dtype=TEXT)})
    assert csv_text.csv_of(alone) == told(alone)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(),
            st.integers(-(2**63), 2**63 - 1),
            st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        ),
        min_size=1,
    )
)
def test_csv_text_matches_pandas_for_any_table(rows: list[tuple[float, int, str | None]]) -> None:
    reals, wholes, texts = zip(*rows, strict=True)
    table = pd.DataFrame(
        {
            "r": np.array(reals, dtype=np.float64),
            "w": np.array(wholes, dtype=np.int64),
            "t": pd.array(list(texts), dtype=TEXT),
        }
    )
    assert csv_text._by_arrow(table) == told(table)
