"""Tables read as columns hold what the same tables hold that are read row by row."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetviz.errors import DataError
from hetviz.io import limits, read_table
from hetviz.io.infer import column_rows, dialect
from tests.depth import examples

cell = st.text(st.sampled_from('ab1 ,;"\n\r\tü'), max_size=4)


def everything(lines):
    return np.ones(len(lines), dtype=bool)


@pytest.fixture(autouse=True)
def _all_tables(monkeypatch):
    monkeypatch.setattr(column_rows, "MAX_ROW_WISE_CHARS", 0)


@settings(max_examples=examples(60))
@given(
    st.lists(st.lists(cell, min_size=1, max_size=4), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_column_rows_equal_row_wise_reading(rows, separator, end, quoted):
    column_rows.MAX_ROW_WISE_CHARS = 0
    buffer = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    text = buffer.getvalue()
    result = column_rows.column_rows("t", text, separator)
    wanted = dialect.rows_of("t", text, separator)
    if result is not None:
        assert list(result) == wanted
        assert len(result) == len(wanted)
        assert set(map(str, result.sample())) <= set(map(str, wanted))


@settings(max_examples=examples(60))
@given(st.text(st.sampled_from('ab,"\n\r'), max_size=40))
def test_column_rows_random_texts(text):
    column_rows.MAX_ROW_WISE_CHARS = 0
    result = column_rows.column_rows("t", text, ",")
    if result is not None:
        assert list(result) == dialect.rows_of("t", text, ",")


def table(n=50, end="\n"):
    return end.join(["id,x,t", *(f"r{at},{at / 4},w{at % 3}" for at in range(n))]) + end


ODD = (
    "Title\n\nid,x,t\na,1,u\n,,\nb,2\nc,3,w,\nd,4,w,5\n\ne,5,\"x,\ny\"\n" + "f,6,z\n" * 40
)  # fmt: skip


@pytest.mark.parametrize("text", [table(), table(end="\r\n"), ODD, table() + "\n,,\n"])
def test_read_table_same_by_rows_and_columns(text, monkeypatch):
    column_rows.MAX_ROW_WISE_CHARS = 0
    quick = read_table("t.csv", text.encode())
    monkeypatch.setattr(column_rows, "MAX_ROW_WISE_CHARS", 10**9)
    slow = read_table("t.csv", text.encode())
    assert quick.frame.to_dict("list") == slow.frame.to_dict("list")
    assert list(quick.frame.columns) == list(slow.frame.columns)
    assert tuple(quick.row) == tuple(slow.row)
    assert quick.problems == slow.problems
    assert quick.facts == slow.facts


def test_unnamed_column_cell_far_below_is_kept():
    text = "id,x,\n" + "a,1,\n" * 3_000 + "b,2,seen\n" + "a,1,\n" * 3_000
    quick = read_table("t.csv", text.encode())
    assert quick.frame.shape == (6_001, 3)


@pytest.mark.parametrize("text", ['id,x\na,"1\n' * 30, 'id,x\n"a"b,1\n' * 30])
def test_bad_quotes_same_error_by_columns(text):
    with pytest.raises(DataError):
        read_table("t.csv", text.encode())


@pytest.mark.parametrize("n", [49, 50, 51, 52])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("small", [0, 10**9])
def test_row_limit_same_error_by_columns(monkeypatch, n, quoted, small):
    monkeypatch.setattr(column_rows, "MAX_ROW_WISE_CHARS", small)
    monkeypatch.setattr(limits, "MAX_ROWS", 50)
    text = table(n).replace(",w0", ',"w0"') if quoted else table(n)
    if n <= 50:
        assert len(read_table("t.csv", text.encode()).frame) == n
        return
    with pytest.raises(DataError) as caught:
        read_table("t.csv", text.encode())
    assert caught.value.problems[0].code == "too-large"
