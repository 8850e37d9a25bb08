"""Columns of a wide table are looked at many at once, and found to hold what each holds alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetviz._pandas import TEXT
from hetviz.features.columns import types
from hetviz.io import read_table, read_tables
from tests.depth import examples

cell = st.one_of(
    st.sampled_from(
        [
            "",
            "0",
            "1",
            "-1",
            "007",
            "20240131",
            "1e5",
            "1.",
            ".5",
            "-0",
            "+2",
            " 3",
            "NA",
            "x",
            "inf",
        ]
    ),
    st.integers(-(10**20), 10**20).map(str),
    st.floats(-1e6, 1e6).map(repr),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.2f}".replace(".", ",")),
)


@pytest.fixture(autouse=True)
def _put_back():
    wide = types._MIN_WIDE_COLUMNS
    yield
    types._MIN_WIDE_COLUMNS = wide


@settings(max_examples=examples(60))
@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(cell, min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    st.sampled_from([".", ","]),
)
def test_plain_columns_match_infer(columns, decimal):
    frame = pd.DataFrame({f"c{k}": cells for k, cells in enumerate(columns)}, dtype=TEXT)
    types._MIN_WIDE_COLUMNS = 1
    together = types.infer_all(frame, decimal)
    for name, column in together.items():
        alone = types.infer(name, frame[name], decimal)
        assert (column.kind, column.whole, column.n_missing, column.markers) == (
            alone.kind,
            alone.whole,
            alone.n_missing,
            alone.markers,
        )
        if column.values.dtype == object:
            assert column.values.tolist() == alone.values.tolist()
        else:
            np.testing.assert_array_equal(column.values, alone.values)


def table(rng, n=30):
    """Return a table with columns of every sort that numbers come in."""
    return pd.DataFrame(
        {
            "row": [f"r{k}" for k in range(n)],
            "share": rng.random(n).round(3),
            "count": rng.integers(0, 50, n),
            "flag": rng.integers(0, 2, n),
            "wholes": [f"{k % 3}.0" for k in range(n)],
            "latitude": rng.uniform(-80, 80, n).round(2),
            "day": [f"202401{k % 28 + 1:02}" for k in range(n)],
            "code": [f"{k:03}" for k in range(n)],
            "gaps": ["" if k % 4 else str(k) for k in range(n)],
            "constant": ["7"] * n,
            "zeros": ["0"] * n,
            "limits": ["<0.5" if k % 5 == 0 else str(k) for k in range(n)],
            "kind": rng.choice(["a", "b"], n),
            "empty": [""] * n,
        }
    )


def test_wide_table_features_match_narrow_table():
    content = table(np.random.default_rng(0)).to_csv(index=False).encode()
    narrow, narrow_data = read_table("t.csv", content), read_tables([("t.csv", content)])
    types._MIN_WIDE_COLUMNS = 1
    wide, wide_data = read_table("t.csv", content), read_tables([("t.csv", content)])
    assert wide.recipe == narrow.recipe
    assert wide.problems == narrow.problems
    pd.testing.assert_frame_equal(wide.frame, narrow.frame)
    first, other = wide_data.data["t"], narrow_data.data["t"]
    assert first.feature_names == other.feature_names
    np.testing.assert_array_equal(first.X, other.X)
    pd.testing.assert_frame_equal(first.table, other.table)


def test_plain_columns_skip_other_tables():
    types._MIN_WIDE_COLUMNS = 1
    assert types.plain_columns(pd.DataFrame({"a": ["1"], "b": [2]})) == {}
    assert types.plain_columns(pd.DataFrame({"a": []}, dtype=TEXT)) == {}
    assert list(types.plain_columns(pd.DataFrame({"a": ["1"], "b": ["x"]}, dtype=TEXT))) == ["a"]
