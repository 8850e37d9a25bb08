"""Tables of text whose names do not fit their columns, or whose cells stand between spaces."""

import gzip
import io

import numpy as np
import pytest

from hetviz.errors import DataError
from hetviz.io import gate, limits, read_bundle, read_table, read_tables
from tests.io.file_builders import packed

CELLS = [[f"{(at * 7 + row * 13) % 50 / 10}" for at in range(8)] for row in range(40)]
NAMES = [f"m{at}" for at in range(8)]


def text(*rows, sign=","):
    return "".join(sign.join(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("words", ["", "red", "blue"])
def test_size_row_is_not_header(n, words):
    above = ["40", "8", *(f"{words or 'kind'}{at}" for at in range(n - 1))]
    read = read_table("t.csv", text(above, *CELLS))
    assert read.frame.to_numpy().tolist() == CELLS
    assert not read.header
    assert [problem.code for problem in read.problems] == ["rows-above", "no-header"]


def test_size_row_of_full_width():
    above = ["40", "7", "one", "two", "three", "", "", ""]
    read = read_table("t.csv", text(above, *CELLS))
    assert read.frame.to_numpy().tolist() == CELLS
    # With words first it names columns, and so do years and numbers in turn.
    for names in (["gene", *map(str, range(1, 8))], ["place", *map(str, range(1990, 1997))]):
        rows = [[f"g{at}", *cells[1:]] for at, cells in enumerate(CELLS)]
        assert list(read_table("t.csv", text(names, *rows)).frame.columns) == names


def test_missing_first_name_is_row_names():
    rows = [[f"Car {at}", *cells] for at, cells in enumerate(CELLS)]
    read = read_table("t.csv", text(NAMES, *rows))
    assert list(read.frame.columns) == ["row", *NAMES]
    assert read.frame.to_numpy().tolist() == rows
    (note,) = read.problems
    assert note.code == "names-of-rows"
    assert read_tables([("t.csv", text(NAMES, *rows))]).data["t"].ids[:2].tolist() == [
        "Car 0",
        "Car 1",
    ]


@pytest.mark.parametrize("n", [5, 6, 7])
def test_missing_names_are_last_columns(n):
    read = read_table("t.csv", text(NAMES[:n], *CELLS))
    assert list(read.frame.columns) == [*NAMES[:n], *(f"column_{at + 1}" for at in range(n, 8))]
    assert read.frame.to_numpy().tolist() == CELLS
    assert read.problems[0].code == "names-lacking"
    assert {problem.severity for problem in read.problems} == {"note"}


def test_surplus_names_are_left_out():
    read = read_table("t.csv", text([*NAMES, "x", "y"], *CELLS))
    assert list(read.frame.columns) == NAMES
    (note,) = read.problems
    assert (note.code, note.value) == ("unfilled-column", "x, y")


def test_unquoted_comma_is_reported_by_row():
    rows = [[f"i{at}", "Smith", f" {'Ann' if at % 2 else 'Bo'}", "3"] for at in range(30)]
    read = read_table("t.csv", text(["id", "name", "n"], *rows))
    assert read.frame.empty
    assert {problem.code for problem in read.problems} == {"ragged-row"}


def test_short_rows_are_filled():
    rows = [cells[: 8 - at % 3] for at, cells in enumerate(CELLS)]
    read = read_table("t.csv", text(NAMES, *rows))
    assert read.frame.to_numpy().tolist() == [[*row, *[""] * (8 - len(row))] for row in rows]
    assert list(read.row) == list(range(40))
    (note,) = read.problems
    assert (note.code, note.what[:12]) == ("short-rows", "26 rows of 4")
    # A single one may lack a cell in its middle.
    alone = [*CELLS[:9], CELLS[9][:7], *CELLS[10:]]
    read = read_table("t.csv", text(NAMES, *alone))
    assert len(read.frame) == 39
    assert [problem.code for problem in read.problems] == ["ragged-row"]


def test_short_rows_in_long_table():
    rows = [
        [str(at), "some text that makes it long", *([] if at % 9 == 0 else ["3"])]
        for at in range(8_000)
    ]
    read = read_table("t.csv", text(["id", "text", "n"], *rows))
    assert read.frame["id"].tolist() == [str(at) for at in range(8_000)]
    assert read.frame["n"].tolist() == ["" if at % 9 == 0 else "3" for at in range(8_000)]


def test_last_remark_row_is_header():
    rows = [["AD", "1.5", "x"], *([f"A{at}", f"{at}.5", "y", "why"] for at in range(3))]
    rows += [[f"B{at}", f"{at}.25", "z"] for at in range(9)]
    read = read_table("t.tab", text(["# A table"], ["#code", "n", "z", "note"], *rows, sign="\t"))
    assert list(read.frame.columns) == ["#code", "n", "z", "note"]
    assert len(read.frame) == 13


def test_quotation_marks_in_tab_separated_text():
    rows = [["a", '"AGENT" K is one', "1"], ["b", 'a 5" disk', "2"], ["c", "plain", "3"]]
    read = read_table("t.tsv", text(["id", "text", "n"], *rows, sign="\t"))
    assert read.frame.to_numpy().tolist() == rows
    # Where they match they hold cells together, as in any table.
    held = b'id\ttext\na\t"one\ttwo"\nb\t"th""ree"\n'
    assert read_table("t.tsv", held).frame["text"].tolist() == ["one\ttwo", 'th"ree']


def savetxt(**more):
    out = io.StringIO()
    np.savetxt(out, np.array(CELLS, dtype=float), **more)
    return out.getvalue().encode()


R = b'"mpg" "cyl"\n' + b"".join(b'"Car %d of us" %d.5 %d\n' % (k, k, k % 4) for k in range(30))
ALIGNED = b"".join(
    b"  " + b"   ".join(b"%8s" % cell.encode() for cell in row) + b"  \n" for row in CELLS
)


def test_space_separated_cells():
    assert read_table("a.txt", savetxt()).frame.astype(float).to_numpy().tolist() == [
        [float(cell) for cell in row] for row in CELLS
    ]
    named = read_table("a.txt", savetxt(header=" ".join(NAMES), fmt="%.1f"))
    assert list(named.frame.columns)[1:] == NAMES[1:]
    assert named.separator == " "
    assert named.frame.to_numpy().tolist() == CELLS
    assert read_table("a.data", ALIGNED).frame.to_numpy().tolist() == CELLS
    cars = read_table("cars.txt", R).frame
    assert list(cars.columns) == ["row", "mpg", "cyl"]
    assert cars.iloc[3].tolist() == ["Car 3 of us", "3.5", "3"]
    small = b"Chins Situps Jumps\n" + b"".join(b"%d %d %d\n" % (k, k * 3, k % 5) for k in range(9))
    assert list(read_table("s.csv", small).frame.columns) == ["Chins", "Situps", "Jumps"]
    # A text file is not taken for prose either.
    assert len(read_tables([("a.txt", ALIGNED)]).data["a"]) == 40


def test_space_separated_column_limit():
    line = b" ".join([b"1"] * (limits.MAX_COLUMNS + 9)) + b"\n"
    with pytest.raises(DataError, match="20,001 columns, at most 20,000 are allowed"):
        read_table("a.txt", line * 4)
    with pytest.raises(DataError, match=r"a\.csv: 20,009 columns, at most 20,000 are allowed"):
        read_table("a.csv", line.replace(b" ", b",") * 4)


def test_spaces_in_other_text_do_not_separate():
    lines = b"id;name\n" + b"".join(b"%d;Ann %d of 7 in 3 rows\n" % (k, k) for k in range(9))
    assert list(read_table("a.csv", lines).frame.columns) == ["id", "name"]
    words = b"".join(b"one of %d words here\n" % k for k in range(9))
    assert read_table("a.csv", words).frame.shape[1] == 1
    # Edges without names of columns stay edges.
    edges = b"".join(b"%d %d\n" % (k % 5, k % 7 + 5) for k in range(40))
    assert read_tables([("e.txt", edges)]).data.links


@pytest.mark.parametrize("parts", [1, 2])
def test_gzip_file_is_unpacked(parts, tmp_path):
    whole = text(NAMES, *CELLS)
    half = len(whole) // parts
    content = gzip.compress(whole[:half]) + (gzip.compress(whole[half:]) if parts > 1 else b"")
    (tmp_path / "t.csv.gz").write_bytes(content)
    loaded = read_bundle(tmp_path / "t.csv.gz")
    assert list(loaded.data.datasets) == ["t"]
    assert len(loaded.data["t"]) == 40
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "t.csv.GZ").write_bytes(content)
    assert len(read_bundle(tmp_path / "more").data["t"]) == 40
    inside = read_bundle(packed([("t.csv.gz", content)]), "all.zip")
    assert len(inside.data["t"]) == 40


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(b"id,x\na,1\n")[:-9],
        gzip.compress(b"id,x\na,1\n") + b"more",
        gzip.compress(bytes(3 * limits.MB)),
        gzip.compress(gzip.compress(b"id,x\na,1\n")),
        b"\x1f\x8b\x08" + bytes(40),
    ],
    ids=["short", "garbage", "bomb", "twice", "nothing"],
)
def test_damaged_gzip_is_refused(content, tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(content)
    with pytest.raises(DataError, match="gzip archive that is nested, damaged or too large"):
        read_bundle(tmp_path / "t.csv.gz")
    assert gate.unpack_gzip("t.csv", b"id\n") == ("t.csv", b"id\n")


THINGS = [[f"thing {at}", f"{at / 2}", str(at % 7)] for at in range(9)]
MARKDOWN = "| name | x | y |\n|:--|--:|---|\n" + "".join(
    f"| {' | '.join(row)} |\n" for row in THINGS
)
PSQL = (
    "  name   |  x  | y\n---------+-----+---\n"
    + "".join(f" {' | '.join(row)}\n" for row in THINGS)
    + "(9 rows)\n\n"
)
MYSQL = "+---+---+---+\n| name | x | y |\n+---+---+---+\n" + "".join(
    f"| {' | '.join(row)} |\n" for row in THINGS
)


@pytest.mark.parametrize("name", ["t.md", "t.txt", "t.csv"])
@pytest.mark.parametrize("drawn", [MARKDOWN, PSQL, MYSQL + "+---+---+---+\n"])
def test_drawn_table(name, drawn):
    data = read_tables([(name, drawn.encode())]).data["t"]
    assert data.ids.tolist() == [row[0] for row in THINGS]
    assert data.table["x"].astype(float).tolist() == [float(row[1]) for row in THINGS]


def test_prose_with_drawn_table_stays_text():
    read = read_table("t.csv", b"id|x\na|1\nb|--\nc|3\n")
    assert read.frame["x"].tolist() == ["1", "", "3"]
    words = "# About\n\nSome words about it.\n\n" + MARKDOWN
    assert list(read_tables([("t.md", words.encode())]).data.datasets) == ["texts"]


ARFF = b"""% Title
@RELATION plants

@attribute 'leaf width' NUMERIC
@ATTRIBUTE height real
@attribute kind {big, 'very big'}
@data
% rows
1.5,2,big
?,3.5,'very big'
2.5, 4,big
"""


def test_arff_names_and_rows():
    read = read_table("plants.arff", ARFF)
    assert list(read.frame.columns) == ["leaf width", "height", "kind"]
    assert read.frame.to_numpy().tolist() == [
        ["1.5", "2", "big"],
        ["", "3.5", "very big"],
        ["2.5", "4", "big"],
    ]
    with pytest.raises(DataError, match="sparse ARFF"):
        read_table("plants.arff", ARFF.split(b"% rows")[0] + b"{0 1, 2 big}\n")


def test_sparse_arff_and_svmlight_are_refused():
    pairs = b"".join(b"%d 1:0.%d 7:1.5 # row\n" % (2 * (k % 2) - 1, k) for k in range(9))
    with pytest.raises(DataError, match="svmlight and LIBSVM"):
        read_tables([("a.txt", pairs)])
    page = b'<table border="1" class="dataframe">\n<tr><td>1</td><td>2</td></tr>\n</table>\n'
    with pytest.raises(DataError, match="this is XML or HTML"):
        read_tables([("export.xls", page)])
    # Names in angle brackets are names.
    quotes = b"<date>,<open>\n" + b"".join(b"2024-01-%02d,%d\n" % (k, k) for k in range(1, 9))
    assert list(read_table("q.csv", quotes).frame.columns) == ["<date>", "<open>"]


def test_tab_separated_names_of_two_words():
    rows = [[f"thing {at}", "1.5", str(at)] for at in range(9)]
    read = read_table("t.txt", text(["name", "x", "y"], *rows, sign="\t"))
    assert read.frame.to_numpy().tolist() == rows


def survey(n: int = 40) -> str:
    """Return answers as survey tools export them: each offered answer is a column."""
    answers = ["North", "South", "East"]
    head = "person,Where have you been? Select all,,,Age\n,North,South,East,Response\n"
    body = [
        ",".join([f"p{k}", *(a if k % (2 + at) == 0 else "" for at, a in enumerate(answers))])
        + f",{20 + k}"
        for k in range(n)
    ]
    return head + "\n".join(body) + "\n"


def test_answers_of_a_survey_are_features() -> None:
    loaded = read_tables([("survey.csv", survey().encode())])
    dataset = loaded.data["survey"]
    question = "Where have you been? Select all"
    assert len(dataset) == 40
    names = dataset.feature_names
    assert names is not None and [name.partition("=")[0] for name in names] == [
        *(f"{question} / {answer}" for answer in ("North", "South", "East")),
        "Age",
    ]
    # Whoever left an answer out differs from whoever gave it.
    assert dataset.X is not None and (dataset.X[:, :3].std(axis=0) > 0).all()
    assert len(loaded.data.labels) == 0
    assert not any("same value" in problem.what for problem in loaded.problems)


def test_row_below_the_names_that_no_cell_repeats_is_data() -> None:
    text = "id,a,,\nx,North,South,East\n" + "".join(f"r{k},South,East,North\n" for k in range(9))
    loaded = read_tables([("t.csv", text.encode())])
    assert len(loaded.data["t"]) == 10


def test_column_with_one_value_and_few_gaps_is_reported_as_it_is() -> None:
    text = "id,year,size\n" + "".join(f"r{k},{2015 if k else ''},{k}\n" for k in range(9))
    loaded = read_tables([("t.csv", text.encode())])
    found = [problem.what for problem in loaded.problems if "same value" in problem.what]
    assert found == ["all cells that are not empty have the same value, so it is not used"]


def test_row_that_says_response_below_each_question_is_no_person() -> None:
    head = "person,Smoke?,Gamble?,Age\n,Response,Response,Open-Ended Response\n"
    rows = "".join(
        f"p{k},{'yes' if k % 3 else 'no'},{'no' if k % 2 else 'yes'},{k + 20}\n" for k in range(9)
    )
    dataset = read_tables([("survey.csv", (head + rows).encode())]).data["survey"]
    assert dataset.ids.tolist() == [f"p{k}" for k in range(9)]
    assert dataset.table is not None and list(dataset.table) == ["Smoke?", "Gamble?", "Age"]


def test_numbers_below_names_are_no_answers() -> None:
    rows = "".join(f"r{k},{k},NA,NA,NA\n" for k in range(9))
    loaded = read_tables([("t.csv", f"id,a,b,c,d\n{rows}".encode())])
    assert len(loaded.data["t"]) == 9


def test_question_that_is_too_long_for_a_label_is_read() -> None:
    question = "Would you rather " + "have a large chance of a small win, or " * 6 + "not?"
    rows = "".join(f"r{k},{'yes' if k % 2 else 'no'},{k}\n" for k in range(12))
    loaded = read_tables([("t.csv", f'id,"{question}",n\n{rows}'.encode())])
    assert len(loaded.data.labels) == 0 and loaded.data["t"].X is not None
