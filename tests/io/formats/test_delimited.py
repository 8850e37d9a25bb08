import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetviz.errors import DataError, HetvizError
from hetviz.io import Choices, read_table

PLAIN = "id,name,size\n007,Zoë,1.5\nNA,b,2.5\n1e5, c ,3.5\n"


def cells(read, column):
    return list(read.frame[column])


def test_csv_keeps_ids_as_written():
    read = read_table("t.csv", PLAIN.encode())
    assert cells(read, "id") == ["007", "NA", "1e5"]
    assert cells(read, "name") == ["Zoë", "b", " c "]
    assert not read.problems


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_separator_detection(separator):
    read = read_table("t.csv", PLAIN.replace(",", separator).encode())
    assert read.separator == separator
    assert list(read.frame.columns) == ["id", "name", "size"]


@pytest.mark.parametrize(
    ("codec", "words"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8 with a byte order mark"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("cp1252", "Windows-1252, Western"),
    ],
)
def test_csv_encoding_detection(codec, words):
    read = read_table("t.csv", PLAIN.encode(codec))
    assert read.encoding == words
    assert cells(read, "name")[0] == "Zoë"
    told = [problem.code for problem in read.problems]
    assert told == (["encoding"] if codec == "cp1252" else [])


def test_csv_decimal_comma():
    read = read_table("t.csv", b"id;x\na;1,5\nb;2,25\n")
    assert (read.separator, read.decimal) == (";", ",")


def test_csv_header_detection():
    assert read_table("t.csv", b"a,1\nb,2\n").header is False
    assert read_table("t.csv", b"id,1990,2000\na,1,2\nb,3,4\n").header is True
    assert read_table("t.csv", b"country,1990,2000\na,1,2\nb,3,4\n").header is True
    assert read_table("t.csv", b"source_id,target_id\na,b\n").header is True
    assert len(read_table("t.csv", b"x,y\n1,2\n", Choices(header=False)).frame) == 2


def test_csv_ragged_rows_are_listed():
    read = read_table("t.csv", b"id,x\na,1\nb,2,3\nc\nd,4\n")
    assert cells(read, "id") == ["a", "d"]
    assert tuple(read.row) == (0, 3)
    assert [problem.row for problem in read.errors] == [1, 2]
    assert "row 2" in read.errors[0].where


def test_csv_duplicate_and_empty_column_names():
    read = read_table("t.csv", b"id,x,x,\na,1,2,3\n")
    assert [problem.code for problem in read.problems] == ["duplicate-column", "unnamed-column"]
    assert list(read.frame.columns) == ["id", "x", "x (2)", "column_4"]
    assert list(read_table("t.csv", b"id,x,,\na,1,,\n").frame.columns) == ["id", "x"]


def test_csv_many_columns_with_same_name():
    read = read_table("t.csv", b"x,x (2),x,x\n1,2,3,4\n")
    assert list(read.frame.columns) == ["x", "x (2)", "x (3)", "x (4)"]
    wide = ",".join(["x"] * 500)
    assert len(set(read_table("t.csv", f"{wide}\n{wide}\n".encode()).frame.columns)) == 500


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty-file"),
        (b"\n\n", "empty-file"),
        (b'id,x\na,"never closed\nb,2\n', "bad-quotes"),
        (b"id,x\na,\x00\n", "binary"),
        (b"PAR1\x00\x00", "not-a-table"),
        (b"\x80\x04\x95", "pickle"),
        (b'{"a": 1}', "not-a-table"),
        (b"<?xml version='1.0'?>", "unknown-format"),
        (b"\x93NUMPY", "not-a-table"),
        (b"\x89PNG\r\n\x1a\n", "not-a-table"),
        (b"\xff\xfea\x00\x00\xd8", "bad-encoding"),
    ],
)
def test_csv_refuses_other_files(content, code):
    with pytest.raises(DataError) as caught:
        read_table("t.csv", content)
    assert caught.value.problems[0].code == code


def test_csv_starting_like_binary_format():
    assert list(read_table("t.csv", b"BMI,id\n1,a\n").frame.columns) == ["BMI", "id"]


def test_csv_refuses_unknown_encoding():
    with pytest.raises(DataError, match="encoding is unknown"):
        read_table("t.csv", b"id\na\n", Choices(encoding="klingon"))


@pytest.mark.parametrize("choice", [{"separator": "ab"}, {"separator": ""}, {"decimal": ";"}])
def test_csv_refuses_invalid_choices(choice):
    with pytest.raises(DataError):
        read_table("t.csv", PLAIN.encode(), Choices(**choice))


@given(st.binary(max_size=200))
def test_csv_random_bytes_give_table_or_error(content):
    try:
        read = read_table("t.csv", content)
    except HetvizError:
        return
    assert len(read.frame) == len(read.row)


@given(st.text(max_size=200), st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]))
def test_csv_random_text_gives_table_or_error(text, codec):
    try:
        read_table("t.csv", text.encode(codec, "ignore"))
    except HetvizError:
        return
