"""Files as people and programs write them, each kind with two cases of its own."""

from __future__ import annotations

import io

import numpy as np
import openpyxl
import pandas as pd
import pytest

import hetviz
from hetviz.data import Dataset
from hetviz.data.joins.join import Join
from hetviz.errors import DataError
from hetviz.features.columns.types import infer
from hetviz.io import Loaded, read_tables
from tests.io.file_builders import sqlite


def load(name: str, content: bytes | str) -> Loaded:
    return read_tables([(name, content.encode() if isinstance(content, str) else content)])


def only(loaded: Loaded) -> Dataset:
    (dataset,) = loaded.data.datasets.values()
    return dataset


def column(cells: list[str], name: str = "at", file: str = "t.csv") -> tuple[pd.Series, Loaded]:
    rows = "".join(f"x{at},{cell},{at % 7}\n" for at, cell in enumerate(cells))
    loaded = load(file, f"id,{name},v\n{rows}")
    table = only(loaded).table
    assert table is not None
    return table[name], loaded


def codes(loaded: Loaded) -> set[str]:
    return {problem.code for problem in loaded.problems}


def workbook(rows: list[list[object]], merged: tuple[str, ...] = ()) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@pytest.mark.parametrize("days", [3, 6])
def test_few_days_of_a_database_are_dates(days: int) -> None:
    values = ", ".join(f"({k}, '2024-03-{1 + k % days:02}', {k % 5})" for k in range(30))
    content = sqlite(
        "CREATE TABLE lent (id INTEGER PRIMARY KEY, day DATE, n INTEGER)",
        f"INSERT INTO lent VALUES {values}",
    )
    loaded = load("t.sqlite", content)
    assert not loaded.errors
    steps = only(loaded).recipe["features"]["columns"]
    assert {step["column"]: step["kind"] for step in steps}["day"] == "date"


@pytest.mark.parametrize(
    ("odd", "n_missing"),
    [("2023-02-29", 1), ("0000-00-00", 1), ("31.4.2024", 1), ("20240000", 1), ("20240100", 1)],
)
def test_impossible_day_counts_as_missing(odd: str, n_missing: int) -> None:
    form = "{k}.4.2024" if "." in odd else "2024-04-{k:02}" if "-" in odd else "202404{k:02}"
    cells, loaded = column([form.format(k=k) for k in range(1, 21)] + [odd])
    assert cells.isna().sum() == n_missing
    assert cells.iloc[0] == "2024-04-01"
    (note,) = [p for p in loaded.problems if p.code == "words-for-missing"]
    assert note.value == odd


@pytest.mark.parametrize(
    ("cell", "first"),
    [
        ("2024-03-{k:02} 08:00:00+02", "2024-03-01 08:00:00"),
        ("2024-03-{k:02} 08:00 UTC", "2024-03-01 08:00Z"),
        ("{k}-Mar-2024", "2024-03-01"),
        ("March {k}, 2024", "2024-03-01"),
        ("{k}. März 2024", "2024-03-01"),
    ],
)
def test_dates_with_zone_or_named_month(cell: str, first: str) -> None:
    file = "t.tsv" if "," in cell else "t.csv"
    texts = [cell.format(k=k) for k in range(1, 21)]
    rows = "".join(f"x{at}\t{text}\t{at % 7}\n" for at, text in enumerate(texts))
    table = only(load(file, f"id\tat\tv\n{rows}")).table
    assert table is not None
    assert table["at"].iloc[0] == first


def test_day_and_month_have_one_order() -> None:
    cells, loaded = column(["3/4/2024", "13/4/2024", "5/4/2024", "4/13/2024"] + ["7/4/2024"] * 16)
    assert cells.iloc[0] == "2024-04-03"
    assert cells.isna().tolist()[:4] == [False, False, False, True]
    assert "day-or-month" not in codes(loaded)
    _, unclear = column([f"{1 + k % 9}/4/2024" for k in range(20)])
    assert "day-or-month" in codes(unclear)


def test_few_cells_of_another_form_leave_a_date_column() -> None:
    days = [f"{1 + k % 12}/{1 + k % 28}/19{10 + k % 80}" for k in range(99)]
    cells, loaded = column([*days, "1930"])
    assert cells.iloc[0] == "1910-01-01" and cells.isna().tolist() == [False] * 99 + [True]
    assert {"words-for-missing"} == codes(loaded) & {"words-for-missing", "short-years"}
    words, _ = column([*days, "1930", "spring", "or later"])
    assert words.iloc[0] == days[0]


@pytest.mark.parametrize("cell", ["{}/13/06", "{}-Mar-06"])
def test_years_of_two_digits_are_noted(cell: str) -> None:
    cells, loaded = column([cell.format(1 + k % 12) for k in range(20)])
    assert cells.str.startswith("2006-").all() and "short-years" in codes(loaded)


def test_years_of_two_digits_are_completed_by_a_column_of_years() -> None:
    rows = [f"x{k},{1 + k % 12}/13/{k % 90:02},{1900 + k % 90}" for k in range(100)]
    rows[3] = "x3,4/13/03,"

    def dates(rows: list[str]) -> pd.Series:
        loaded = load("t.csv", "id,at,year\n" + "\n".join(rows))
        assert "short-years" in codes(loaded)
        table = only(loaded).table
        assert table is not None
        return table["at"]

    read = dates(rows)
    assert read.iloc[:5].tolist() == [
        "1900-01-13", "1901-02-13", "1902-03-13", "2003-04-13", "1904-05-13"
    ]  # fmt: skip
    other_years = [row[:-2] + f"{k % 80:02}" for k, row in enumerate(rows)]
    assert dates(other_years).iloc[0] == "2000-01-13"


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("file", ["t.parquet", "t.feather"])
def test_times_with_zone_are_read(zone: str, file: str) -> None:
    times = pd.date_range("2024-06-01 00:30", periods=10, freq="31h", tz=zone)
    frame = pd.DataFrame({"id": [f"e{k}" for k in range(10)], "t": times, "v": range(10)})
    content = io.BytesIO()
    frame.to_parquet(content) if file.endswith("parquet") else frame.to_feather(content)
    table = only(load(file, content.getvalue())).table
    assert table is not None
    assert table["t"].iloc[0] == str(times[0].tz_convert("UTC").tz_localize(None)) + "Z"


def test_long_integers_stay_different() -> None:
    ids = [str(2**60 + k) for k in range(12)]
    posts = "id,likes\n" + "".join(f"{text},{k * 3}\n" for k, text in enumerate(ids))
    replies = "id,post_id\n" + "".join(f"r{k},{ids[k % 12]}\n" for k in range(24))
    loaded = read_tables([("posts.csv", posts.encode()), ("replies.csv", replies.encode())])
    table = loaded.data["replies"].table
    assert table is not None
    assert table["post_id"].nunique() == 12
    (proposal,) = hetviz.propose_joins(loaded.data)
    assert proposal.sure
    numbers, _ = column([str(10**16 + k) for k in range(20)], "n")
    assert numbers.tolist()[0] == "10000000000000000"


def test_join_without_zeros_in_front_is_offered() -> None:
    areas = "zip,people\n" + "".join(f"{501 + 5 * k:05},{k * 7}\n" for k in range(20))
    orders = "id,zip\n" + "".join(f"o{k},{501 + 5 * (k % 20)}\n" for k in range(40))
    data = read_tables([("areas.csv", areas.encode()), ("orders.csv", orders.encode())]).data
    (proposal,) = hetviz.propose_joins(data)
    assert (proposal.title, len(proposal.match.i)) == ("orders: zip = areas: id", 40)
    assert proposal.doubt == "Zeros in front of the numbers are ignored."
    assert len(proposal.join.carried_out(data).links[0]) == 40


def test_codes_that_differ_by_zeros_are_offered() -> None:
    states = ["AK", "AL", "TX", "NY", "CA"]
    leans = "district,lean\n" + "".join(
        f"{s}-{k},{k * 7}.5\n" for s in states for k in range(1, 13)
    )
    people = "district,people\n" + "".join(
        f"{s}-{k:02},{k * 11}\n" for s in states for k in range(1, 13)
    )
    data = read_tables([("leans.csv", leans.encode()), ("people.csv", people.encode())]).data
    (proposal,) = hetviz.propose_joins(data)
    assert (proposal.title, len(proposal.match.i)) == ("leans: id = people: id", 60)
    assert proposal.doubt == "Zeros in front of the numbers are ignored."
    assert len(proposal.join.carried_out(data).links[0]) == 60


@pytest.mark.parametrize(
    ("text", "other", "are_equal"),
    [("AK-01", "ak-1", True), ("007", "7", True), ("00", "0", True), ("v1.05", "v1.5", False),
     ("A10", "A1", False), ("1,05", "1,5", False)],
)  # fmt: skip
def test_zeros_in_front_of_whole_numbers(text: str, other: str, are_equal: bool) -> None:
    data = hetviz.HeteroData.from_frames(
        {"a": pd.DataFrame({"id": [text, "x"]}), "b": pd.DataFrame({"id": [other, "y"]})}
    )
    match = Join("key", "a", "b", loose="zeros").match(data)
    assert len(match.i) == are_equal


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["-$1,200.50", "$2,200.50", "$3.00"], [-1200.5, 2200.5, 3.0]),
        (["($1,200.50)", "$2,200.50", "-$7"], [-1200.5, 2200.5, -7.0]),
        (["-€12.50", "€3.25", "€1,000.00"], [-12.5, 3.25, 1000.0]),
    ],
)
def test_money_with_a_minus(cells: list[str], values: list[float]) -> None:
    rows = "".join(f"x{at}\t{cell}\n" for at, cell in enumerate(cells * 7))
    table = only(load("t.tsv", f"id\tamount\n{rows}")).table
    assert table is not None
    assert table["amount"].tolist()[:3] == values


def test_rows_of_withheld_numbers_explain_no_columns() -> None:
    rows = "".join(f"Town {at},{at * 7},{at / 4}\n" for at in range(40))
    loaded = load("t.csv", f"area,workers,share\nSpringfield,**,**\nAnacortes,**,**\n{rows}")
    assert len(only(loaded)) == 42


def test_thousands_and_millions_are_read_in_full() -> None:
    rows = "".join(f"x{at}\t${at}.5{'KM'[at % 2]}\n" for at in range(20))
    loaded = load("t.tsv", f"id\tamount\n{rows}")
    table = only(loaded).table
    assert table is not None
    assert table["amount"].tolist()[:4] == [500, 1_500_000, 2_500, 3_500_000]
    [note] = [one for one in loaded.problems if one.code == "magnitudes"]
    assert note.what == "numbers with K and M are read in full"


@pytest.mark.parametrize("cells", [["2.037", "1.000", "12.500"], ["1.037.000", "2.000", "3.500"]])
def test_one_decimal_sign_per_file(cells: list[str]) -> None:
    rows = "".join(f"k{at};{cell};{at},5\n" for at, cell in enumerate(cells * 5))
    loaded = load("t.csv", f"id;umsatz;quote\n{rows}")
    table = only(loaded).table
    assert table is not None
    assert table["umsatz"].iloc[0] == float(cells[0].replace(".", ""))
    assert table["quote"].iloc[1] == 1.5
    assert "written-numbers" in codes(loaded)


@pytest.mark.parametrize("cells", [["<=50K", ">50K"], ["<65", "≥65"]])
def test_limits_on_both_sides_are_classes(cells: list[str]) -> None:
    values, _ = column(cells * 10, "class")
    assert values.tolist()[:2] == cells
    # One side alone is below what can be measured.
    lead, _ = column(["<5", "<2"] * 10, "lead")
    assert lead.tolist()[:2] == [5, 2]


def test_plus_and_minus_are_values() -> None:
    strand, _ = column(["+", "-"] * 10, "strand")
    assert strand.tolist()[:2] == ["+", "-"]
    change, _ = column(["1.5", "-", "2.5"] * 7, "change")
    assert change.isna().sum() == 7


@pytest.mark.parametrize(
    "cells",
    [
        ["None", "Peanut", "Milk"],
        ["none", "mild", "severe"],
        ["NONE", "LOW", "HIGH"],
        ["Nan", "Udon Thani", "Escaldes-Engordany"],
    ],
)
def test_none_among_words_is_a_value(cells: list[str]) -> None:
    values, loaded = column(cells * 10, "kind")
    assert values.tolist()[:3] == cells
    (note,) = [problem for problem in loaded.problems if problem.code == "marker-value"]
    assert note.what.startswith(f"10 cells with “{cells[0]}” read as a value")
    # The titles of rows too: Null is a surname.
    people = "".join(f"p{k},{['Meyer', 'Null', 'Smith', 'Kovacs'][k % 4]},{k}\n" for k in range(12))
    table = only(load("people.csv", f"id,surname,age\n{people}")).table
    assert table is not None
    assert table["surname"].tolist()[1] == "Null"


@pytest.mark.parametrize(
    "cells",
    [
        ["None", "peanut", "milk"],
        ["null", "mild", "severe"],
        ["None", "R2", "R3"],
        ["nan", "Udon Thani", "Trat"],
        ["NaN", "Udon Thani", "Trat"],
        ["Nan", "peanut", "milk"],
    ],
)
def test_none_written_by_programs_is_missing(cells: list[str]) -> None:
    values, loaded = column(cells * 10, "kind")
    assert values.isna().tolist()[:3] == [True, False, False]
    assert "marker-value" not in codes(loaded)
    numbers, _ = column(["None", "1.5", "2.5"] * 10, "size")
    assert numbers.isna().sum() == 10


def test_empty_cells_are_not_said_to_be_written() -> None:
    cells = [*["Meyer", "Smith", "Kovacs", "Novak"] * 5, "", "NaN"]
    _, loaded = column(cells, "kind")
    (note,) = [problem for problem in loaded.problems if problem.code == "markers"]
    assert note.what == "2 cells, empty or with “NaN”, count as missing"
    _, loaded = column([*["1.5", "2.5", "3.5", "7"] * 5, "", "NaN"], "size")
    (note,) = [problem for problem in loaded.problems if problem.code == "missing"]
    assert note.what.startswith("2 of 22 cells are empty or written NaN")


def test_blanks_make_no_category() -> None:
    for cells in (["Bern", "Bern ", "Bern\u00a0", "Basel"], ["a\u200b", "a", " b", "b"]):
        values, _ = column(cells * 5, "city")
        assert values.nunique() == 2


@pytest.mark.parametrize(
    ("codec", "names"),
    [
        ("cp1252", ["Hélène", "Noël", "Zoé"]),
        ("cp1252", ["Muñoz", "Peña", "José"]),
        ("cp850", ["Hélène", "Noël", "François"]),
        ("cp850", ["Müller", "Größe", "Jörg"]),
        ("mac_roman", ["Hélène", "Zoé", "Noël"]),
        ("cp1250", ["Dvořák", "Plzeň", "Čáslav"]),
        ("cp1250", ["Łódź", "Gdańsk", "Świdnica"]),
    ],
)
def test_names_in_older_encodings(codec: str, names: list[str]) -> None:
    text = "id,nom\n" + "".join(f"x{k},{names[k % 3]}\n" for k in range(12))
    table = only(load("t.csv", text.encode(codec))).table
    assert table is not None
    assert table["nom"].tolist()[:3] == names


def test_lines_in_two_encodings() -> None:
    lines = [f"x{k},Zoé {k}".encode("utf-8" if k % 4 else "cp1252") for k in range(12)]
    loaded = load("t.csv", b"id,nom\n" + b"\n".join(lines) + b"\n")
    table = only(loaded).table
    assert table is not None
    assert table["nom"].tolist() == [f"Zoé {k}" for k in range(12)]
    assert "encoding" in codes(loaded)


@pytest.mark.parametrize("head", ["# Fields: query, subject, score", "#query\tsubject\t\tscore"])
def test_comments_among_rows(head: str) -> None:
    rows = [f"q{k}\ts{k}\t{k * 1.5}" for k in range(12)]
    text = "\n".join(["# BLASTP", head, *rows[:6], "# BLASTP", "# Query: q1", *rows[6:]])
    loaded = load("hits.tsv", text)
    assert len(only(loaded)) == 12
    assert not loaded.errors
    assert "score" in (only(loaded).table if only(loaded).table is not None else [])
    assert "comments" in codes(loaded)


@pytest.mark.parametrize("remark", ["", "# exported\n"])
def test_lines_of_quoted_cells_are_no_comments(remark: str) -> None:
    cells = ["Great poll\n#ahead of all\n\n#thanks", "no line", 'a "quoted" word\n# heading'] * 3
    rows = "".join(f'{k},"{cell.replace(chr(34), 2 * chr(34))}"\n' for k, cell in enumerate(cells))
    loaded = load("tweets.csv", f"id,text\n{remark}{rows}")
    table = only(loaded).table
    assert table is not None and table["text"].tolist() == cells
    assert ("comments" in codes(loaded)) == bool(remark)


def test_ids_beginning_with_a_number_sign_stay() -> None:
    text = "topic\tn\n" + "".join(f"#{word}\t{k}\n" for k, word in enumerate(["a", "b", "c", "d"]))
    assert only(load("tags.tsv", text)).ids.tolist() == ["#a", "#b", "#c", "#d"]


@pytest.mark.parametrize("track", ["track name=peaks", "browser position chr1"])
def test_genome_tracks_in_text_files_are_tables(track: str) -> None:
    rows = "".join(f"chr1\t{100 * k}\t{100 * k + 50}\tpeak{k}\n" for k in range(12))
    loaded = load("peaks.txt", f'{track} description="made of peaks"\n{rows}')
    assert len(only(loaded)) == 12


@pytest.mark.parametrize(
    "head",
    [
        [["Sales of a firm"], ["made on", "2024-03-01"], ["by", "the office"]],
        [["Report"], [], ["Period", "2024"]],
    ],
)
def test_head_of_a_report_is_skipped(head: list[list[object]]) -> None:
    rows: list[list[object]] = [[f"Shop {k}", f"R{k % 3}", 100 + k, k % 5] for k in range(12)]
    content = workbook([*head, [], ["Shop", "Region", "Sales", "Staff"], *rows])
    dataset = only(load("report.xlsx", content))
    assert (len(dataset), dataset.ids[0]) == (12, "Shop 0")


@pytest.mark.parametrize("roles", [["meta", "", "class"], ["", "", ""]])
def test_rows_of_types_and_roles_are_skipped(roles: list[str]) -> None:
    rows = [f"animal {k}\t{k % 3}\t{['bird', 'fish'][k % 2]}" for k in range(15)]
    text = "\n".join(["name\tlegs\ttype", "string\tcontinuous\td", "\t".join(roles), *rows])
    assert only(load("animals.tab", text)).ids.tolist()[0] == "animal 0"


def test_table_below_another_is_left_out_with_a_note() -> None:
    plants: list[list[object]] = [[f"x{k}", k % 5] for k in range(8)]
    pupils: list[list[object]] = [[f"z{k}", k % 3] for k in range(6)]
    content = workbook([["plant", "height"], *plants, [], ["pupil", "mark"], *pupils])
    loaded = load("sheet.xlsx", content)
    assert len(only(loaded)) == 8
    assert any("another table" in problem.what for problem in loaded.problems)
    # An empty row within one table ends nothing.
    whole = workbook([["plant", "height"], *plants[:4], [], *plants[4:]])
    assert len(only(load("whole.xlsx", whole))) == 8


def test_surplus_cell_of_rows_with_ids_is_the_last() -> None:
    rows = "".join(f"{k},{k * 1.5},{['sell', 'buy'][k % 2]},0\n" for k in range(1, 15))
    table = only(load("trades.csv", f"id,price,side\n{rows}")).table
    assert table is not None
    assert set(table["side"]) == {"sell", "buy"}
    named = "".join(f"car {k},{k * 1.5},{k % 3}\n" for k in range(14))
    assert only(load("cars.csv", f"price,seats\n{named}")).ids[0] == "car 0"


def test_edges_without_a_header() -> None:
    loaded = load("people.csv", "alice,bob\nbob,carol\ncarol,dave\ndave,alice\nalice,carol\n")
    assert len(only(loaded)) == 4
    assert len(loaded.data.links[0]) == 5
    weighted = load("w.csv", "anna,ben,0.5\nben,cora,1\ncora,anna,0.25\nben,dora,1\ndora,anna,1\n")
    assert len(weighted.data.links[0]) == 5
    # Names of columns that no cell repeats are names.
    assert len(only(load("pets.csv", "owner,pet\nann,rex\nbob,tom\ncem,rex\ndan,kit\n"))) == 4


@pytest.mark.parametrize("kind", ["distance", "kernel"])
def test_square_table_without_names(kind: str) -> None:
    X = np.random.default_rng(0).normal(size=(9, 3))
    far = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    M = far if kind == "distance" else X @ X.T + np.eye(9)
    rows = "\n".join(",".join(f"{value:.6f}" for value in row) for row in M)
    loaded = load("m.csv", rows)
    assert getattr(only(loaded), kind).shape == (9, 9)
    assert "square" in codes(loaded)


FAR = np.array(
    [[0, 3, 5, 4, 7], [3, 0, 4, 5, 6], [5, 4, 0, 2, 5], [4, 5, 2, 0, 6], [7, 6, 5, 6, 0]], float
)
ANIMALS = ["Turkey", "Salmo gair", "H. sapiens", "Chimp", "Gorilla"]


def phylip(layout: str) -> str:
    width = {
        "square": lambda at: slice(0, 5),
        "lower": lambda at: slice(0, at),
        "upper": lambda at: slice(at + 1, 5),
    }[layout]
    rows = [
        f"{name:<10}" + " ".join(f"{far:.4f}" for far in FAR[at, width(at)])
        for at, name in enumerate(ANIMALS)
    ]
    return "    5\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("layout", ["square", "lower", "upper"])
def test_phylip_distances(layout: str) -> None:
    loaded = load("tree.phy", phylip(layout))
    dataset = only(loaded)
    assert not loaded.errors
    assert dataset.ids.tolist() == ANIMALS
    assert np.array_equal(dataset.distance, FAR)
    assert "square" in codes(loaded)


def test_phylip_rows_may_go_on_in_the_next_line() -> None:
    lines = phylip("square").splitlines()
    wrapped = [part for line in lines[1:] for part in (line[:24], "  " + line[24:])]
    assert np.array_equal(only(load("t.txt", "\n".join([lines[0], *wrapped]))).distance, FAR)
    with pytest.raises(DataError, match="not symmetric"):
        load("t.phy", phylip("square").replace("3.0000", "9.0000", 1))


@pytest.mark.parametrize("separator", [",", "\t", " ", ";"])
@pytest.mark.parametrize("half", ["lower", "upper", "lower padded", "lower without diagonal"])
def test_triangle_without_names(separator: str, half: str) -> None:
    n_blank = 4 if separator != " " else 0
    cells = {
        "lower": [FAR[at, : at + 1] for at in range(5)],
        "upper": [FAR[at, at:] for at in range(5)],
        "lower padded": [FAR[at, : at + 1] for at in range(5)],
        "lower without diagonal": [FAR[at, :at] for at in range(1, 5)],
    }[half]
    rows = [separator.join(f"{far:.2f}" for far in row) for row in cells]
    if half == "lower padded":
        rows = [row + separator * (n_blank - at) for at, row in enumerate(rows)]
    dataset = only(load("far.csv", "\n".join(rows)))
    assert np.array_equal(dataset.distance, FAR)
    assert dataset.ids.tolist() == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("half", ["lower", "upper"])
def test_triangle_with_names(half: str) -> None:
    blank = np.triu(np.ones((5, 5), bool), 1) if half == "lower" else np.tri(5, k=-1, dtype=bool)
    rows = [
        ",".join([name, *("" if out else f"{far:g}" for far, out in zip(*row, strict=True))])
        for name, row in zip(ANIMALS, zip(FAR, blank, strict=True), strict=True)
    ]
    loaded = load("far.csv", "\n".join([",".join(["", *ANIMALS]), *rows]))
    assert np.array_equal(only(loaded).distance, FAR)
    assert only(loaded).ids.tolist() == ANIMALS


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize("half", ["lower", "lower without diagonal", "upper without diagonal"])
def test_triangle_with_names_and_rows_of_different_length(separator: str, half: str) -> None:
    names = [name.replace(" ", "_") for name in ANIMALS]
    first, last = {
        "lower": (lambda at: 0, lambda at: at + 1),
        "lower without diagonal": (lambda at: 0, lambda at: at),
        "upper without diagonal": (lambda at: at + 1, lambda at: 5),
    }[half]
    rows = [
        separator.join([name, *(f"{far:.2f}" for far in FAR[at, first(at) : last(at)])])
        for at, name in enumerate(names)
    ]
    for text in ("\n".join(rows), "    5\n" + "\n".join(rows).replace(separator, "  ")):
        dataset = only(load("far.txt", text))
        assert np.array_equal(dataset.distance, FAR)
        assert dataset.ids.tolist() == names


def test_triangle_with_decimal_commas_and_as_r_prints_it() -> None:
    rows = [";".join(f"{far:.2f}" for far in FAR[at, : at + 1]) for at in range(5)]
    assert np.array_equal(only(load("far.csv", "\n".join(rows).replace(".", ","))).distance, FAR)
    names = [name.split()[-1] for name in ANIMALS]
    # The first row and the last column are left out.
    rows = [" ".join([names[at], *map(str, FAR[at, :at])]) for at in range(1, 5)]
    dataset = only(load("far.txt", "\n".join([f"      {' '.join(names[:-1])}", *rows])))
    assert np.array_equal(dataset.distance, FAR)
    assert dataset.ids.tolist() == names


@pytest.mark.parametrize("seed", [0, 1])
def test_triangle_of_covariances(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(6, 40)) * np.arange(1, 7)[:, None]
    rows = [",".join(f"{value:.4f}" for value in row[: at + 1]) for at, row in enumerate(np.cov(X))]
    assert only(load("cov.csv", "\n".join(rows))).kernel == pytest.approx(np.cov(X), abs=1e-4)


def test_triangle_of_similarities_and_what_is_none() -> None:
    rng = np.random.default_rng(0)
    alike = np.corrcoef(rng.normal(size=(6, 40))).round(6)
    text = "\n".join(" ".join(map(repr, alike[at, : at + 1].tolist())) for at in range(6))
    assert only(load("alike.txt", text)).kernel == pytest.approx(alike)
    # One column of counts, and rows of other lengths, are no triangle.
    assert only(load("n.csv", "count\n3\n1\n2\n5\n4\n")).distance is None
    named = "".join(f"{k},{k * 3 % 7},{k * 2 % 5}\n" for k in range(9))
    assert only(load("t.csv", f"a,b,c\n{named}")).distance is None


@pytest.mark.parametrize("start", ["A2:A4", "A2:A5"])
def test_cell_merged_over_rows_stands_in_each(start: str) -> None:
    n = int(start[-1]) - 1
    rows: list[list[object]] = [
        ["North" if k == 0 else None if k < n else f"R{k}", f"Shop {k}", k * 2] for k in range(10)
    ]
    dataset = only(load("shops.xlsx", workbook([["Region", "Shop", "Sales"], *rows], (start,))))
    assert dataset.table is not None
    assert dataset.table["Region"].tolist()[: n + 1] == ["North"] * n + [f"R{n}"]


def test_hdf5_after_a_user_block() -> None:
    h5py = pytest.importorskip("h5py")
    for block in (512, 1024):
        content = io.BytesIO()
        with h5py.File(content, "w", userblock_size=block) as file:
            file.attrs["encoding-type"] = "anndata"
            file["X"] = np.arange(36.0).reshape(12, 3)
            for name, n in (("obs", 12), ("var", 3)):
                group = file.create_group(name)
                group.attrs["_index"] = "_index"
                group["_index"] = np.array([f"{name}{k}" for k in range(n)], dtype="S")
        assert len(only(load("cells.h5ad", content.getvalue()))) == 12


@pytest.mark.parametrize(("mark", "blank"), [("x", ""), ("Yes", ""), ("✓", "-")])
def test_blank_or_marked_is_yes_or_no(mark: str, blank: str) -> None:
    cells, loaded = column([mark if at % 3 else blank for at in range(30)], "member")
    assert cells.tolist() == ["yes" if at % 3 else "no" for at in range(30)]
    (note,) = [problem for problem in loaded.problems if problem.code == "marks"]
    assert "10 blank cells" in note.what and note.value == mark


@pytest.mark.parametrize("cells", [["yes", "no", ""], ["x", "y", ""], ["x"] * 3, ["Anna", ""]])
def test_other_words_and_blanks_are_no_marks(cells: list[str]) -> None:
    read, loaded = column(cells * 10, "member")
    assert "marks" not in codes(loaded)
    assert set(read.fillna("")) == set(cells)


@pytest.mark.parametrize("word", ["not yet", "Open"])
def test_dates_with_not_yet(word: str) -> None:
    cells, loaded = column([f"2024-04-{k:02}" if k % 4 else word for k in range(1, 29)])
    assert cells.iloc[0] == "2024-04-01"
    assert cells.isna().sum() == 7
    (note,) = [problem for problem in loaded.problems if problem.code == "not-yet"]
    assert note.value == word and note.what.startswith("7 cells")


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["1 days 02:00:00", "0 days 00:00:30", "-1 days +23:00:00"], [93_600, 30, -3_600]),
        (["37:15:00", "00:00:09.5", "102:00:01"], [134_100, 9.5, 367_201]),
        (["PT1H30M", "P2D", "PT5S"], [5_400, 172_800, 5]),
    ],
)
def test_durations_are_seconds(texts: list[str], seconds: list[float]) -> None:
    cells, loaded = column(texts * 8, "took")
    assert [float(cell) for cell in cells[:3]] == seconds
    assert "durations" in codes(loaded)


@pytest.mark.parametrize("form", ["parquet", "frames"])
def test_durations_with_a_type_are_seconds(form: str) -> None:
    frame = pd.DataFrame(
        {
            "id": [f"x{k}" for k in range(12)],
            "took": pd.to_timedelta([60 * k + 0.5 for k in range(12)], unit="s"),
        }
    )
    if form == "frames":
        dataset = next(iter(hetviz.HeteroData.from_frames({"t": frame}).datasets.values()))
    else:
        content = io.BytesIO()
        frame.to_parquet(content, index=False)
        dataset = only(load("t.parquet", content.getvalue()))
    assert dataset.table is not None
    read = infer("took", dataset.table["took"])
    assert read.kind == "number"
    assert read.values.tolist() == [60 * k + 0.5 for k in range(12)]


def test_times_of_day_are_no_durations() -> None:
    cells, loaded = column([f"{k % 24:02}:30:00" for k in range(30)])
    assert "durations" not in codes(loaded)
    assert cells.iloc[3] == "03:30:00"


def placeholders(loaded: Loaded) -> list[str]:
    return [problem.value for problem in loaded.problems if problem.code == "placeholder"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["3.5", "4", "-999", "7"], ["-999"]),
        (["1", "12", "9999", "37"], ["9999"]),
        (["2024-03-01", "2024-03-02", "2023-01-05", "9999-12-31"], ["9999-12-31"]),
        (["5", "-99", "40", "12", "-9"], ["-9", "-99"]),
    ],
)
def test_values_that_may_mean_missing_are_questioned(cells: list[str], values: list[str]) -> None:
    read, loaded = column(cells * 8)
    assert placeholders(loaded) == values
    (note, *_) = [problem for problem in loaded.problems if problem.code == "placeholder"]
    assert note.what.startswith("8 cells with") and "leave these cells empty" in note.remedy
    assert not read.isna().any()


@pytest.mark.parametrize(
    "cells",
    [
        ["-900", "-999", "-850", "-700"],
        ["900", "999", "1020", "1100"],
        ["2024-03-01", "2031-12-31", "2099-12-31", "2020-01-01"],
        ["A9", "-999", "B7", "C1"],
        ["0", "999", "0", "999"],
    ],
)
def test_true_values_are_not_questioned(cells: list[str]) -> None:
    assert not placeholders(column(cells * 8)[1])


def test_placeholders_in_typed_columns_are_questioned() -> None:
    frame = pd.DataFrame({"id": [f"x{k}" for k in range(20)], "v": [k % 7 for k in range(20)]})
    frame.loc[[3, 8], "v"] = -999
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    assert placeholders(load("t.parquet", content.getvalue())) == ["-999"]


@pytest.mark.parametrize("filtered", [True, False])
def test_filtered_rows_of_a_workbook_are_reported(filtered: bool) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "city", "n"])
    for k in range(9):
        book.active.append([f"r{k}", "Graz" if k % 2 else "Linz", k])
    if filtered:
        book.active.auto_filter.ref = "A1:C10"
        for at in range(3, 11, 2):
            book.active.row_dimensions[at].hidden = True
    # Unused rows below the table are often hidden.
    book.active.row_dimensions[40].hidden = True
    content = io.BytesIO()
    book.save(content)
    loaded = load("t.xlsx", content.getvalue())
    assert len(only(loaded)) == 9
    assert ("hidden-rows" in codes(loaded)) == filtered


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_infinite_numbers_are_reported(form: str) -> None:
    frame = pd.DataFrame({"id": [f"x{k}" for k in range(20)], "v": np.arange(20.0)})
    frame.loc[3, "v"] = np.inf
    content = io.BytesIO()
    frame.to_csv(content, index=False) if form == "csv" else frame.to_parquet(content, index=False)
    (note,) = [p for p in load(f"t.{form}", content.getvalue()).problems if "infinite" in p.what]
    assert note.where == f"t.{form}, row 4, column v"


def test_html_codes_of_texts_are_read_as_characters() -> None:
    titles = ["Over &amp; out", "Ender&#39;s game", "AT&T; yes", "Caf&#xe9;", "Plain", "&lt;b&gt;"]
    rows = "".join(f"f&amp;{k},{title},{k}.5\n" for k, title in enumerate(titles))
    loaded = read_tables([("films.csv", f"id,title,score\n{rows}".encode())])
    films = loaded.data["films"]
    assert films.display_names.tolist() == [
        "Over & out", "Ender's game", "AT&T; yes", "Café", "Plain", "<b>",
    ]  # fmt: skip
    # Ids stay as they are written.
    assert films.ids[0] == "f&amp;0"
    (note,) = [note for note in loaded.notes if note.code == "html-codes"]
    assert (note.where, note.value) == ("films.csv, column title", "Over &amp; out")
    assert note.what.startswith("4 texts with HTML codes")


def test_web_addresses_are_no_label_and_no_features() -> None:
    rows = "".join(f"x{k},https://x.org/?year={k % 5},{k % 7}\n" for k in range(40))
    data = load("t.csv", f"id,page,v\n{rows}").data
    assert data.labels == () and data["t"].feature_names == ("v",)


@pytest.mark.parametrize(("n_columns", "labels"), [(1, ["c0"]), (2, ["c0"]), (3, ["kind"])])
def test_one_of_several_columns_of_yes_and_no_is_no_label(
    n_columns: int, labels: list[str]
) -> None:
    names = [f"c{at}" for at in range(n_columns)]
    rows = ""
    for k in range(40):
        cells = [["yes", "no"][k % (at + 2) > 0] for at in range(n_columns)]
        rows += f"x{k},{','.join(cells)},{'abc'[k % 3]}\n"
    data = load("t.csv", f"id,{','.join(names)},kind\n{rows}").data
    assert [label.name for label in data.labels] == labels
