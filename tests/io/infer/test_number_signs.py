import pytest

from hetviz.io import Choices, read_table


def cells(text, column, **choices):
    read = read_table("t.csv", text.encode(), Choices(**choices))
    return list(read.frame[column]), [problem.code for problem in read.problems]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("1,234.50;999;1,000,000", ["1234.50", "999", "1000000"]),
        ("1.234,5;9,25;-2.000", ["1234,5", "9,25", "-2000"]),
        ("1 234,5;9,25;2\u202f000", ["1234,5", "9,25", "2000"]),
        ("1'234.5;9.25;2'000", ["1234.5", "9.25", "2000"]),
        ("12.5%;7 %;n/a", ["12.5", "7", "n/a"]),
        ("€ 12,5;€7,1;€1.000", ["12,5", "7,1", "1000"]),
    ],
)
def test_number_signs_are_removed_with_note(given, read):
    rows = "".join(f"{k};{cell}\n" for k, cell in enumerate(given.split(";")))
    assert cells("id;x\n" + rows, "x") == (read, ["written-numbers"])


def test_numbers_among_many_missing_values_are_numbers():
    given = ["N/A"] * 9 + ["5,239", "48138", "9,152"]
    text = "id,votes\n" + "".join(f'r{k},"{cell}"\n' for k, cell in enumerate(given))
    assert cells(text, "votes") == (["N/A"] * 9 + ["5239", "48138", "9152"], ["written-numbers"])


@pytest.mark.parametrize("given", ["12%;7", "1,23;4,567", "007;1", "$1;€2", "a;1,000", "1.5;2.5"])
def test_other_columns_are_unchanged(given):
    rows = "".join(f"{k};{cell}\n" for k, cell in enumerate(given.split(";")))
    assert cells("id;x\n" + rows, "x") == (given.split(";"), [])


def test_id_cells_are_unchanged():
    text = "id;code_id;x\n1,234;1,000;1,000,000\n2,500;2,000;2,000,000\n"
    read = read_table("t.csv", text.encode())
    assert list(read.frame["id"]) == ["1,234", "2,500"]
    assert list(read.frame["code_id"]) == ["1,000", "2,000"]
    assert list(read.frame["x"]) == ["1000000", "2000000"]
    assert cells("when;x\n1,000;1\n2,000;1\n", "when")[0] == ["1,000", "2,000"]


TABLE = "id;x;y;z\na;1;2;3\nb;4;5;6\n"


@pytest.mark.parametrize(
    ("above", "skipped"),
    [
        ("Sales 2024;;;\n", 1),
        ("Sales 2024\n", 1),
        ("Sales, 2024\n\n;;;\nas of;;;\n", 3),
        ("", 0),
    ],
)
def test_rows_above_header_are_skipped_with_note(above, skipped):
    read = read_table("t.csv", (above + TABLE).encode())
    assert list(read.frame.columns) == ["id", "x", "y", "z"]
    assert list(read.frame["id"]) == ["a", "b"]
    assert [problem.code for problem in read.problems] == ["rows-above"] * bool(skipped)
    assert read.facts.get("rows above the names of columns", "0") == str(skipped)
    assert tuple(read.row) == (0, 1)


def test_title_row_above_two_columns():
    read = read_table("t.csv", b"Weights;\nid;kg\na;1\nb;2\n")
    assert list(read.frame.columns) == ["id", "kg"]
    assert list(read_table("t.csv", b"id;\na;b\nc;d\n").frame.columns) == ["id", "column_2"]


def test_header_row_can_be_chosen():
    text = b"what;is;it\nid;x;y\na;1;2\n"
    assert list(read_table("t.csv", text).frame.columns) == ["what", "is", "it"]
    read = read_table("t.csv", text, Choices(skip=1))
    assert list(read.frame.columns) == ["id", "x", "y"]
    assert not read.problems
