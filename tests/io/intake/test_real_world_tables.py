"""Tables as laboratories, surveys and offices export them: read right with nothing said."""

import pandas as pd
import pytest

from hetviz.errors import DataError
from hetviz.io import Choices, read_table, read_tables
from tests.io.file_builders import parquet, previews, sqlite, statistics, workbook

LAB = [
    ["Leaching test, batch 7"],
    ["Exported 12.02.2024"],
    [],
    ["Sample", "", "", "Before", "", "After 24 h", "", "Remarks"],
    ["Lab no.", "Site", "Taken on", "Cu [µg/L]", "Zn [µg/L]", "Cu [µg/L]", "Temp.", ""],
    *(
        [
            f"24-{1000 + 3 * k}",
            ("NORD", "SÜD", "OST")[k % 3],
            f"{k % 28 + 1:02}.01.2024",
            "<0,5" if k % 7 == 0 else f"{k},2",
            "1.204,5" if k % 9 == 5 else f"{3 * k},4",
            "n.n." if k % 6 == 4 else f"{2 * k},1",
            f"{8 + k % 9},5 °C",
            "filter clogged" if k == 6 else "",
        ]
        for k in range(30)
    ),
    ["Mean", "", "", "14,2", "40,1", "22,8", "12,1", ""],
    [],
    ["LOQ Cu 0,5 µg/L; n.n. = not detected"],
    ["Analyst: K. Brandt"],
]


def test_laboratory_table_with_groups_and_remarks():
    (look,) = previews([("lab.xlsx", workbook({"Leachate": LAB}))])
    recipe = look.recipe
    assert (recipe.header, recipe.units, recipe.first, recipe.last) == ((3, 4), None, 5, 34)
    assert [(column.name, column.type, column.unit) for column in recipe.columns] == [
        ("Sample / Lab no.", "id", ""),
        ("Sample / Site", "category", ""),
        ("Sample / Taken on", "date", ""),
        ("Before / Cu [µg/L]", "number", "µg/L"),
        ("Before / Zn [µg/L]", "number", "µg/L"),
        ("After 24 h / Cu [µg/L]", "number with the rest missing", "µg/L"),
        ("After 24 h / Temp.", "number", "°C"),
        ("Remarks", "category", ""),
    ]
    assert len(read_tables([("lab.xlsx", workbook({"Leachate": LAB}))]).data["lab"]) == 30


AGES = ["18-24", "25-34", "35-64", "65 or older"]
MOODS = ["Very dissatisfied", "Dissatisfied", "Satisfied", "Very satisfied"]
CHANNELS = ["Chat", "Email", "Phone"]


def survey():
    rows = [
        ["StartDate", "ResponseId", "Duration", "Q1", "Q2", "Q3", "Q4"],
        ["Start Date", "Response ID", "Duration (in seconds)", "How satisfied are you?",
         "Which channels, if any?", "What is your age?", "How likely, 0 to 10?"],
        ['{""ImportId"":""startDate""}', *(f'{{""ImportId"":""Q{k}""}}' for k in range(6))],
        *(
            [
                f"{k % 12 + 1:02}/{k % 28 + 1:02}/2024 0{k % 9 + 1}:1{k % 6}:00 {'AP'[k % 2]}M",
                f"R_{k * 7919 % 100_003:05}",
                str(30 + k),
                MOODS[k % 4],
                ",".join(one for at, one in enumerate(CHANNELS) if (k % 7 + 1) >> at & 1),
                AGES[k % 4],
                str(k % 11),
            ]
            for k in range(80)
        ),
    ]  # fmt: skip
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows).encode()


def test_survey_question_row_is_skipped():
    read = read_table("survey.csv", survey())
    assert len(read.frame) == 80
    assert [(column.name, column.type) for column in read.recipe.columns] == [
        ("StartDate", "date"),
        ("ResponseId", "id"),
        ("Duration", "whole number"),
        ("Q1", "ordered category"),
        ("Q2", "list"),
        ("Q3", "ordered category"),
        ("Q4", "whole number"),
    ]
    assert read.frame["StartDate"].tolist()[:2] == ["2024-01-01 01:10:00", "2024-02-02 14:11:00"]
    assert "Very dissatisfied < Dissatisfied" in read.recipe.column("Q1").why
    assert "18-24 < 25-34" in read.recipe.column("Q3").why
    told = next(one for one in read.problems if one.code == "rows-between")
    assert told.what.startswith("the 2 rows below the column names are skipped")


@pytest.mark.parametrize("first", ["a,n.d.,-", "a,,", "a,<0.5,>3", "a,1.5,2", "a,2024-01-01,NA"])
def test_first_row_without_values_is_data(first):
    rows = "\n".join(f"r{k},{k},{k / 2}" for k in range(20))
    read = read_table("t.csv", f"name,x,y\n{first}\n{rows}\n".encode())
    assert len(read.frame) == 21


def test_rows_of_words_are_data():
    words = "\n".join(f"w{k},none,none" for k in range(4))
    rows = "\n".join(f"r{k},{k},{k / 2}" for k in range(20))
    assert len(read_table("t.csv", f"name,x,y\n{words}\n{rows}\n".encode()).frame) == 24


@pytest.mark.parametrize(
    "cells",
    [
        ["Oslo, Norway", "Bergen, Norway", "Lund, Sweden"],
        ["Doe, Jane", "Doe, John", "Roe, Jane"],
        ["1,5", "2,5", "1"],
        ["59.91, 10.75", "60.1, 5.3", "59.91, 10.75"],
        ["America/New_York", "Europe/Oslo", "Asia/Tokyo"],
    ],
)
def test_comma_in_other_cells_does_not_separate(cells):
    rows = "\n".join(f'r{k};"{cells[k % 3]}";{k}' for k in range(60))
    read = read_table("t.csv", f"name;what;n\n{rows}\n".encode(), Choices(separator=";"))
    assert read.recipe.column("what").type != "list"


def test_form_choices_are_separate_features():
    data = read_tables([("survey.csv", survey())]).data["survey"]
    assert {"Q2=Chat", "Q2=Email", "Q2=Phone"} <= set(data.feature_names)


def test_preview_ignores_rows_of_other_width():
    rows = [f"p{k},{k / 4},oval" for k in range(40)]
    rows[10], rows[20] = "p10,2,5,oval", "p20,5.0"
    content = "\n".join(["plant,height,leaf", *rows]).encode()
    (look,) = previews([("t.csv", content)])
    assert [column.name for column in look.recipe.columns] == ["plant", "height", "leaf"]
    assert len(read_table("t.csv", content).frame) == 38


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (
            'p7,1.5,"oval',
            "a quoted cell continues after its closing quotation mark or is never closed",
        ),
        (
            'p7,1.5,"ov"al"',
            "a quoted cell continues after its closing quotation mark or is never closed",
        ),
    ],
)
def test_open_quotation_mark_names_line(row, what):
    rows = [f'p{k},{k / 4},"oval"' for k in range(30)]
    rows[7] = row
    with pytest.raises(DataError) as caught:
        read_table("t.csv", "\n".join(["plant,height,leaf", *rows]).encode())
    (problem,) = caught.value.problems
    assert (problem.where, problem.what, problem.value) == ("t.csv, line 9", what, row)
    assert problem.remedy


def test_unclosed_quotation_mark_names_first_line():
    with pytest.raises(DataError) as caught:
        read_table("t.csv", b'a,b\n1,2\n3,"4\n5,6\n')
    (problem,) = caught.value.problems
    assert (problem.where, problem.value) == ("t.csv, line 3", '3,"4')
    assert problem.what == "a cell begins with a quotation mark that is never closed"


PEOPLE = [
    ("Ann", "Ash"), ("Bob", "Ash"), ("Cem", "Ash"), ("Ann", "Bay"), ("Bob", "Bay"), ("Cem", "Cox"),
]  # fmt: skip


def test_database_people_use_full_name():
    rows = ", ".join(f"({k}, '{b}', '{a}', {160 + k})" for k, (a, b) in enumerate(PEOPLE))
    content = sqlite(
        "CREATE TABLE people (no INTEGER PRIMARY KEY, surname TEXT, first_name TEXT, cm REAL)",
        f"INSERT INTO people VALUES {rows}",
    )
    people = read_tables([("clinic.sqlite", content)]).data["people"]
    assert people.titles.tolist()[:2] == ["Ann Ash", "Bob Ash"]


def test_first_name_is_not_id():
    rows = "\n".join(f"{a}{k},Family {k % 5},{k}" for k, (a, _) in enumerate(PEOPLE * 3))
    read = read_tables([("t.csv", f"first_name,last_name,cm\n{rows}\n".encode())])
    assert read.data["t"].ids[0] == "1"
    assert read.data["t"].titles[0] == "Ann0 Family 0"


def test_chosen_order_of_typed_column_reaches_legend():
    import pandas as pd

    frame = pd.DataFrame(
        {"name": list("abcdef"), "size": ["low", "high", "low"] * 2, "x": range(6)}
    )
    content = parquet(frame)
    (look,) = previews([("t.parquet", content)])
    recipe = look.recipe.with_order("size", "high", "low")
    said = {"t.parquet": Choices(recipes={"": recipe.to_dict()})}
    data = read_tables([("t.parquet", content)], said).data["t"]
    assert data.orders == {"size": ("high", "low")}


def test_counts_are_not_keys():
    stays = "\n".join(f"{k},{k % 25},s{k}" for k in range(1, 60))
    wards = "\n".join(f"w{k},{5 + k},{k + 1}" for k in range(8))
    looks = previews(
        [("stays.csv", f"id,days,note\n{stays}\n".encode()),
         ("wards.csv", f"code,beds,stay\n{wards}\n".encode())]
    )  # fmt: skip
    columns = {column.name: column.of for column in looks[1].recipe.columns}
    assert columns["beds"] == ""
    assert columns["stay"] == "stays.csv"


def test_account_amounts_are_numbers():
    amounts = ["12'345.60", "(1'234.50)", "250.00-", "1'200.-", "0.05", "(17.20)"]
    rows = [f"B{k};{k % 28 + 1}.2.2024;{amounts[k % 6]};({k % 3})" for k in range(60)]
    content = "\n".join(["Beleg;Datum;Betrag;Anm.", *rows]).encode()
    read = read_table("konto.csv", content)
    assert read.recipe.column("Betrag").type == "number"
    assert read.frame["Betrag"].tolist()[:6] == [
        "12345.60", "-1234.5", "-250", "1200", "0.05", "-17.2",
    ]  # fmt: skip
    assert read.frame["Datum"].tolist()[0] == "2024-02-01"
    # Marks of remarks are no negative numbers.
    assert read.recipe.column("Anm.").type == "category"
    told = next(one for one in read.problems if one.code == "negative-numbers")
    assert told.what.startswith("30 cells in brackets or with a trailing minus")


def test_sensor_log_is_table():
    rows = [f"S{k % 4},2024-05-{k % 28 + 1:02}T0{k % 9}:30:00+02:00,{k / 8}" for k in range(40)]
    content = "\n".join(["# logger 7, UTC+2", "# T in degC", "station,time,T", *rows]).encode()
    read = read_table("log.csv", content)
    assert list(read.frame.columns) == ["station", "time", "T"]
    assert len(read.frame) == 40
    assert read.recipe.column("time").type == "date"
    assert read.frame["time"].tolist()[1] == "2024-05-02T01:30:00"
    assert "times are in UTC+02:00" in [one.what for one in read.problems]
    # In different zones they are all told in UTC.
    mixed = content.replace(b"01:30:00+02:00", b"01:30:00-01:00")
    assert read_table("log.csv", mixed).frame["time"].tolist()[:2] == [
        "2024-04-30 22:30:00", "2024-05-02 02:30:00",
    ]  # fmt: skip
    # Where the row of names begins with # it is no remark.
    named = content.replace(b"station,time", b"#station,time")
    assert list(read_table("log.csv", named).frame.columns) == ["#station", "time", "T"]


def test_survey_scale_labels_are_one_feature():
    labels = {"trust": {1: "disagree", 2: "neutral", 3: "agree"}}
    frame = pd.DataFrame({"trust": [k % 3 + 1.0 for k in range(40)], "age": range(20, 60)})
    content = statistics("dta", frame, variable_value_labels=labels)
    (look,) = previews([("panel.dta", content)])
    column = next(one for one in look.recipe.columns if one.name == "trust")
    assert (column.type, column.order) == ("ordered category", ("disagree", "neutral", "agree"))
    data = read_tables([("panel.dta", content)], {"panel.dta": Choices(labels=())}).data
    assert data["panel"].feature_names == ("trust", "age")
