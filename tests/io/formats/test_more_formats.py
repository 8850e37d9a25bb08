"""Spreadsheets, files of statistics programs, Arrow, databases and graphs of other programs."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetviz
from hetviz.errors import DataError
from hetviz.io import Choices, gate, limits, read_tables
from hetviz.io.formats.registry import kind_of
from hetviz.io.intake import child
from tests.depth import examples
from tests.io.file_builders import (
    arrow,
    duckdb,
    file_tables,
    parquet,
    spreadsheet,
    sqlite,
    statistics,
    workbook,
)

nx = pytest.importorskip("networkx")

FRAME = pd.DataFrame(
    {
        "id": ["007", "b", "ü"],
        "size": [1.5, np.nan, -2.0],
        "n": [1, 2, 30],
        "group": pd.Categorical(["u", None, "u"]),
        "when": pd.to_datetime(["2020-01-01", None, "2020-02-02 03:04:05"], format="ISO8601"),
        "yes": [True, False, True],
    }
)
CELLS = {
    "id": ["007", "b", "ü"],
    "size": ["1.5", "", "-2"],
    "n": ["1", "2", "30"],
    "group": ["u", "", "u"],
    "when": ["2020-01-01", "", "2020-02-02 03:04:05"],
    "yes": ["true", "false", "true"],
}


def frame_of(name, content, **choices):
    (piece,) = file_tables(name, content, Choices(**choices))
    return piece.frame


def codes(name, content):
    with pytest.raises(DataError) as caught:
        file_tables(name, content)
    return [problem.code for problem in caught.value.problems]


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrows"])
def test_arrow_types_become_text_without_loss(name):
    made = {"t.parquet": parquet, "t.feather": arrow, "t.arrows": lambda f: arrow(f, stream=True)}
    frame = frame_of(name, made[name](FRAME))
    assert {column: frame[column].tolist() for column in frame.columns} == CELLS


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@settings(max_examples=examples(15))
@given(
    st.lists(
        st.tuples(
            names,
            st.one_of(st.none(), st.floats(allow_nan=False)),
            st.one_of(st.none(), st.integers(-(2**62), 2**62)),
            st.one_of(st.none(), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_arrow_random_tables_keep_values(rows):
    frame = pd.DataFrame(rows, columns=["word", "x", "n", "when"])
    frame["n"] = frame["n"].astype("Int64")
    frame["x"] = frame["x"].astype(float)
    frame["when"] = pd.to_datetime(frame["when"]).astype("datetime64[us]")
    cells = frame_of("t.arrow", arrow(frame))
    assert cells["word"].tolist() == frame["word"].tolist()
    for cell, value in zip(cells["x"], frame["x"], strict=True):
        assert (cell == "") == bool(np.isnan(value))
        assert cell == "" or float(cell) == value
    assert cells["n"].tolist() == ["" if n is pd.NA else str(n) for n in frame["n"]]
    for cell, value in zip(cells["when"], frame["when"], strict=True):
        assert (cell == "") == (value is pd.NaT)
        assert cell == "" or pd.Timestamp(cell) == value


def test_arrow_numbers_use_decimal_comma():
    frame = pd.DataFrame({"id": ["a", "b", "c"], "x": ["1,5", "2,5", "3,25"], "y": [0.5, 1.0, 2.0]})
    assert frame_of("t.arrow", arrow(frame))["y"].tolist() == ["0,5", "1", "2"]


def test_arrow_refuses_invalid_unicode():
    content = bytearray(arrow({"id": ["abcdefgh", "b"], "x": [1, 2]}))
    at = content.index(b"abcdefgh")
    content[at : at + 2] = b"\xff\xfe"
    assert codes("t.arrow", bytes(content)) == ["bad-arrow"]


SHEETS = {"Drugs": [["id", "dose"], ["a", 1.5], ["b", 2]], "Cells": [["id", "size"], ["q", 1]]}


@pytest.mark.parametrize(("name", "make"), [("t.ods", spreadsheet), ("t.xlsx", workbook)])
def test_spreadsheet_sheets_are_datasets(name, make):
    pieces = file_tables(name, make(SHEETS))
    assert [piece.name for piece in pieces] == ["Drugs", "Cells"]
    assert pieces[0].frame.to_numpy().tolist() == [["a", "1.5"], ["b", "2"]]
    (only,) = file_tables(name, make(SHEETS), Choices(sheet="Cells"))
    assert only.frame["id"].tolist() == ["q"]


def test_spreadsheet_with_offset_table():
    def moved(book):
        book["S"].move_range("A1:B3", rows=4, cols=2)

    (piece,) = file_tables("t.xlsx", workbook({"S": [["id", "x"], ["a", 1], ["b", 2]]}, moved))
    assert piece.frame.to_numpy().tolist() == [["a", "1"], ["b", "2"]]
    assert tuple(piece.row) == (5, 6)


def test_spreadsheet_scattered_cells_need_little_memory():
    def far(book):
        book["S"].cell(1_048_576, 16_384, 1)

    (piece,) = file_tables("t.xlsx", workbook({"S": [["id", "x"], ["a", 1], ["b", 2]]}, far))
    assert len(piece.frame) == 2
    assert "far-cells" in [problem.code for problem in piece.problems]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600),
        ("t.ods", spreadsheet({"S": [["id"]]})[:-40]),
        ("t.dta", b"<stata_dta><header>"),
        ("t.sav", b"$FL2@(#) SPSS DATA FILE"),
        ("t.sqlite", b"SQLite format 3\0" + b"\x10" * 200),
        ("t.duckdb", b"\0" * 8 + b"DUCK" + b"\0" * 200),
        ("t.arrow", b"ARROW1\0\0" + b"\1" * 90),
        ("t.gml", b"graph [ node [ id 1 "),
        ("t.gexf", b"<?xml version='1.0'?><gexf><graph><nodes><node id='1'>"),
        ("t.sif", b"A B\nC D\n"),
        ("t.gmt", b"a,b,c\n"),
    ],
)
def test_damaged_files_of_all_formats_are_refused(name, content):
    with pytest.raises(DataError) as caught:
        file_tables(name, content)
    assert caught.value.problems[0].what


# Survey: 1 and 2 are the answers, 9 is no answer.
SURVEY = pd.DataFrame({"id": ["a", "b", "c"], "sex": [1.0, 2.0, np.nan], "score": [1.0, 5.0, 3.0]})
LABELS = {"sex": {1: "male", 2: "female"}, "score": {1: "never", 5: "always"}}


@pytest.mark.parametrize("kind", ["dta", "sav"])
def test_statistics_value_labels(kind):
    content = statistics(
        kind, SURVEY, variable_value_labels=LABELS, column_labels=["", "Sex of person", ""]
    )
    (piece,) = file_tables(f"t.{kind}", content)
    assert piece.frame["sex"].tolist() == ["male", "female", ""]
    assert piece.frame["score"].tolist() == ["1", "5", "3"]
    assert "some-labels" in [problem.code for problem in piece.problems]
    assert "sex: Sex of person" in piece.facts["column labels"]


def test_statistics_no_answer_codes_are_missing():
    labels = {
        "trust": {-9: "no answer", 1: "disagree", 2: "neutral", 3: "agree"},
        "income": {-8: "Refused"},
        "kind": {1: "new", 2: "refused", 3: "old"},
    }
    frame = pd.DataFrame(
        {"trust": [1.0, 2, 3, -9, 1], "income": [10.0, -8, 30, -8, 5], "kind": [1.0, 2, 3, 2, 1]}
    )
    (piece,) = file_tables("t.dta", statistics("dta", frame, variable_value_labels=labels))
    assert piece.frame["trust"].tolist() == ["disagree", "neutral", "agree", "", "disagree"]
    assert piece.frame["income"].tolist() == ["10", "", "30", "", "5"]
    assert [one.where for one in piece.problems if one.code == "some-labels"] == []
    # Among the answers it is one.
    assert piece.frame["kind"].tolist() == ["new", "refused", "old", "refused", "new"]
    told = [(one.what, one.value) for one in piece.problems if one.code == "no-answer"]
    assert told == [
        ("1 cell with a code for no answer counts as missing", "-9 = no answer"),
        ("2 cells with a code for no answer count as missing", "-8 = Refused"),
    ]


def test_sas_transport_file():
    assert frame_of("t.xpt", statistics("xport", SURVEY))["score"].tolist() == ["1", "5", "3"]


@pytest.mark.parametrize("kind", ["dta", "sav", "xport"])
def test_statistics_random_files_keep_cells(kind):
    word = st.text("abcÄß1-_", min_size=1, max_size=5) if kind != "xport" else st.text("abc1-_")

    @settings(max_examples=examples(8), deadline=None)
    @given(
        st.lists(
            st.tuples(st.integers(0, 99), st.one_of(st.none(), st.integers(-99, 99)), word),
            min_size=1,
            max_size=6,
        )
    )
    def keeps(rows):
        frame = pd.DataFrame(rows, columns=["n", "x", "word"])
        frame["x"] = [None if x is None else x / 4 for _, x, _ in rows]
        frame["x"] = frame["x"].astype(float)
        cells = frame_of(f"t.{'xpt' if kind == 'xport' else kind}", statistics(kind, frame))
        assert cells["n"].tolist() == [str(n) for n, _, _ in rows]
        result = [None if not cell else float(cell) for cell in cells["x"]]
        assert result == [None if x is None else x / 4 for _, x, _ in rows]
        assert cells["word"].tolist() == [text for _, _, text in rows]

    keeps()


SCHEMA = (
    "CREATE TABLE team (code TEXT, year INT, city TEXT, PRIMARY KEY (code, year))",
    "CREATE TABLE person (id TEXT PRIMARY KEY, name TEXT, height DOUBLE)",
    "CREATE TABLE batting (no INTEGER PRIMARY KEY, who TEXT REFERENCES person(id), team TEXT, "
    "year INT, runs INT, FOREIGN KEY (team, year) REFERENCES team(code, year))",
    "INSERT INTO team VALUES ('A', 2000, 'x'), ('A', 2001, 'y'), ('B', 2000, 'z')",
    "INSERT INTO person VALUES ('007', 'Ann', 1.5), ('p2', 'Bob', 1.75), ('p3', 'Cy', 2)",
    "INSERT INTO batting VALUES (1, '007', 'A', 2000, 5), (2, '007', 'A', 2001, 7), "
    "(3, 'p2', 'B', 2000, 0), (4, 'p3', NULL, NULL, 1)",
)


@pytest.mark.parametrize(("name", "make"), [("t.sqlite", sqlite), ("t.duckdb", duckdb)])
def test_database_tables_and_foreign_keys(name, make):
    loaded = read_tables([(name, make(*SCHEMA))], parse=child.parse_files)
    assert {key: len(dataset) for key, dataset in loaded.data.datasets.items()} == {
        "team": 3,
        "person": 3,
        "batting": 4,
    }
    assert list(loaded.data["team"].ids) == ["A · 2000", "A · 2001", "B · 2000"]
    proposals = hetviz.propose_joins(loaded.data)
    assert all(proposal.declared and proposal.sure for proposal in proposals)
    data = hetviz.join_tables(loaded.data, proposals)
    pairs = {
        (group.source, group.target): sorted(
            zip(data[group.source].ids[group.i], data[group.target].ids[group.j], strict=True)
        )
        for group in data.links
    }
    assert pairs["batting", "person"] == [("1", "007"), ("2", "007"), ("3", "p2"), ("4", "p3")]
    assert pairs["batting", "team"] == [
        ("1", "A · 2000"), ("2", "A · 2001"), ("3", "B · 2000")
    ]  # fmt: skip
    (info,) = [info for info in loaded.understood if info.dataset == "batting"]
    assert [column.name for column in info.columns if column.role == "feature"] == ["runs"]


def test_database_code_is_not_run(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("id,x\nSECRET,1\n")
    content = duckdb(
        "CREATE TABLE t (id INT, x INT)",
        "INSERT INTO t VALUES (1, 2), (2, 3)",
        f"CREATE VIEW v AS SELECT * FROM read_csv('{secret}')",
    )
    (piece,) = file_tables("t.duckdb", content)
    assert (piece.name, len(piece.frame)) == ("t", 2)
    assert "passed-over" in [problem.code for problem in piece.problems]
    content = sqlite(
        "CREATE TABLE t (id INT, x INT, twice AS (2 * x))",
        "INSERT INTO t VALUES (1, 2)",
        "CREATE VIEW v AS SELECT load_extension('x')",
        "CREATE VIRTUAL TABLE f USING fts5(words)",
    )
    pieces = file_tables("t.sqlite", content)
    assert list(pieces[0].frame.columns) == ["id", "x"]
    assert "v, f" in [p.value for p in pieces[0].problems if p.code == "passed-over"]


@settings(max_examples=examples(10))
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False), names),
            names,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_sqlite_random_tables_keep_cells(rows):
    import sqlite3

    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE "a ""table""" (x, word)')
    database.executemany('INSERT INTO "a ""table""" VALUES (?, ?)', rows)
    database.commit()
    (piece,) = file_tables("t.sqlite", database.serialize())
    assert piece.name == 'a "table"'
    assert piece.frame["word"].tolist() == [word for _, word in rows]
    for cell, (value, _) in zip(piece.frame["x"], rows, strict=True):
        if isinstance(value, int) and all(not isinstance(x, float) for x, _ in rows):
            assert cell == str(value)
        if value is None:
            assert cell == ""


def test_sqlite_write_ahead_log_note():
    content = bytearray(sqlite("CREATE TABLE t (id INT, x INT)", "INSERT INTO t VALUES (1, 2)"))
    content[18:20] = b"\x02\x02"
    (piece,) = file_tables("t.sqlite", bytes(content))
    assert "written-ahead" in [problem.code for problem in piece.problems]


def graph():
    made = nx.Graph()
    made.add_node("a", label="Ann", age=30)
    made.add_node("b", label='Bob "the & big"', age=40)
    made.add_node("c", label="Cy", age=50)
    made.add_edge("a", "b", weight=0.5, kind="knows")
    made.add_edge("b", "c", weight=0.25, kind="likes")
    return made


def check_graph(nodes, links):
    assert nodes.frame["id"].tolist() == ["a", "b", "c"] or nodes.frame["id"].tolist() == list(
        "012"
    )
    assert nodes.frame["label"].tolist() == ["Ann", 'Bob "the & big"', "Cy"]
    assert [float(age) for age in nodes.frame["age"]] == [30, 40, 50]
    assert links.frame["weight"].astype(float).tolist() == [0.5, 0.25]
    assert links.frame["kind"].tolist() == ["knows", "likes"]
    assert nodes.title_column == "label"


def test_gexf_of_networkx():
    text = "\n".join(nx.generate_gexf(graph()))
    check_graph(*file_tables("t.gexf", text.encode()))


def test_gml_with_values_and_graphics():
    lines = ["# a remark", 'Creator "x"', "graph [", "  directed 1"]
    for at, (_, values) in enumerate(graph().nodes(data=True)):
        label = values["label"].replace("&", "&amp;").replace('"', "&quot;")
        drawn = 'graphics [ x 1.0 y 2.0 fill "#ff0000" ]'
        lines.append(f'node [ id {at} label "{label}" age {values["age"]} {drawn} ]')
    lines += ['edge [ source 0 target 1 weight 0.5 kind "knows" ]',
              'edge [ source 1 target 2 weight 0.25 kind "likes" ]', "]"]  # fmt: skip
    nodes, links = file_tables("t.gml", "\n".join(lines).encode())
    check_graph(nodes, links)
    assert {"directed", "passed-over"} <= {problem.code for problem in nodes.problems}
    assert kind_of("t.txt", "\n".join(lines).encode()) == "gml"


@settings(max_examples=examples(10))
@given(st.integers(2, 6), st.integers(0, 999))
def test_random_graphs_keep_nodes_and_edges(n, seed):
    made = nx.gnp_random_graph(n, 0.5, seed=seed)
    for name, text in (
        ("t.gml", "\n".join(nx.generate_gml(made))),
        ("t.gexf", "\n".join(nx.generate_gexf(made))),
    ):
        nodes, *links = file_tables(name, text.encode())
        assert nodes.frame["id"].tolist() == [str(node) for node in made]
        result = {
            frozenset(pair)
            for piece in links
            for pair in piece.frame[["source_id", "target_id"]].itertuples(index=False)
        }
        assert result == {frozenset(map(str, edge)) for edge in made.edges}


words = st.text("abcÄß1-_.", min_size=1, max_size=5).filter(lambda word: word.strip(".-_"))


@settings(max_examples=examples(15))
@given(
    st.lists(
        st.tuples(words, st.integers(-(2**40), 2**40), st.floats(-1e9, 1e9)),
        min_size=1,
        max_size=8,
        unique_by=lambda row: row[0],
    ),
    st.sampled_from(["t.xlsx", "t.ods"]),
)
def test_spreadsheet_random_cells(rows, name):
    rows = [(f"x{word}", whole, number) for word, whole, number in rows]
    make = workbook if name == "t.xlsx" else spreadsheet
    # Said, as what is a name or a title is guessed otherwise.
    result = frame_of(name, make({"S": [["id", "n", "x"], *rows]}), header=True, skip=0)
    assert result["id"].tolist() == [word for word, _, _ in rows]
    assert result["n"].tolist() == [str(whole) for _, whole, _ in rows]
    for cell, (_, _, number) in zip(result["x"], rows, strict=True):
        assert float(cell) == pytest.approx(number, rel=1e-12, abs=1e-12)


@settings(max_examples=examples(8))
@given(
    st.lists(
        st.tuples(
            words,
            st.one_of(st.none(), st.integers(-(2**62), 2**62)),
            st.one_of(st.none(), st.booleans()),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_duckdb_random_tables_keep_cells(rows):
    def sql(value):
        return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)

    values = ", ".join(f"({', '.join(map(sql, row))})" for row in rows)
    content = duckdb(
        "CREATE TABLE t (word VARCHAR, n BIGINT, yes BOOLEAN)", f"INSERT INTO t VALUES {values}"
    )
    (piece,) = file_tables("t.duckdb", content)
    assert piece.frame["word"].tolist() == [word for word, _, _ in rows]
    assert piece.frame["n"].tolist() == ["" if n is None else str(n) for _, n, _ in rows]
    said = {True: "true", False: "false", None: ""}
    assert piece.frame["yes"].tolist() == [said[yes] for _, _, yes in rows]


@settings(max_examples=examples(15))
@given(st.integers(2, 6), st.integers(0, 999), st.booleans())
def test_graphml_random_graphs(n, seed, directed):
    made = nx.gnp_random_graph(n, 0.5, seed=seed, directed=directed)
    for node in made:
        made.nodes[node]["size"] = node / 4
    nodes, *links = file_tables("t.graphml", "\n".join(nx.generate_graphml(made)).encode())
    assert nodes.frame["id"].tolist() == [str(node) for node in made]
    assert [float(cell) for cell in nodes.frame["size"]] == [node / 4 for node in made]
    result = {
        frozenset(pair)
        for piece in links
        for pair in piece.frame[["source_id", "target_id"]].itertuples(index=False)
    }
    assert result == {frozenset(map(str, edge)) for edge in made.edges}


@settings(max_examples=examples(15))
@given(
    st.lists(
        st.tuples(words, words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=6
    )
)
def test_sif_random_relations(lines):
    text = "".join("\t".join([a, kind, *others]) + "\n" for a, kind, others in lines)
    nodes, *links = file_tables("t.sif", text.encode())
    there = dict.fromkeys(name for a, _, others in lines for name in (a, *others))
    assert set(nodes.frame["id"]) == set(there)
    wanted = {
        (frozenset((a, other)), kind) for a, kind, others in lines for other in others if a != other
    }
    result = {
        (frozenset((row.source_id, row.target_id)), row.kind)
        for piece in links
        for row in piece.frame.itertuples(index=False)
    }
    assert {pair for pair, _ in result} == {pair for pair, _ in wanted}
    assert result <= wanted


@settings(max_examples=examples(15))
@given(
    st.lists(
        st.tuples(words, st.lists(words, min_size=1, max_size=4, unique=True)),
        min_size=1,
        max_size=5,
        unique_by=lambda one: one[0],
    )
)
def test_gmt_random_sets(sets):
    text = "".join("\t".join([name, "na", *members]) + "\n" for name, members in sets)
    data = read_tables([("t.gmt", text.encode())]).data
    assert list(data["t"].ids) == [name for name, _ in sets]
    members = data["t members"]
    result = {
        (data["t"].ids[a], members.ids[b])
        for link in data.links
        for a, b in zip(link.i, link.j, strict=True)
    }
    assert result == {(name, member) for name, both in sets for member in both}


@pytest.mark.parametrize("separator", ["\t", " "])
def test_sif_nodes_and_relations(separator):
    text = "A pp B\nA pp C D\nB pd C\nE\n".replace(" ", separator)
    nodes, links = file_tables("t.sif", text.encode())
    assert nodes.frame["id"].tolist() == ["A", "B", "C", "D", "E"]
    assert links.frame[["source_id", "target_id", "kind"]].to_numpy().tolist() == [
        ["A", "B", "pp"], ["A", "C", "pp"], ["A", "D", "pp"], ["B", "C", "pd"],
    ]  # fmt: skip


def test_gmt_sets_and_members():
    text = "S1\thttp://example.org/S1\tg1\tg2\nS2\tna\tg2\tg3\nbad line\n"
    loaded = read_tables([("t.gmt", text.encode())])
    assert list(loaded.data["t"].ids) == ["S1", "S2"]
    assert list(loaded.data["t members"].ids) == ["g1", "g2", "g3"]
    assert sum(map(len, loaded.data.links)) == 4
    assert [problem.code for problem in loaded.errors] == ["bad-gmt"]


def test_sif_file_with_separator_is_table():
    assert len(frame_of("t.sif", b"id,x\na,1\nb,2\n", separator=",")) == 2


@pytest.mark.parametrize("content", [b"https://example.org/t.csv\n", b"[InternetShortcut]\nURL=x"])
def test_web_address_is_refused(content):
    assert codes("t.txt", content) == ["web-address"]
    with pytest.raises(DataError, match="only reads files"):
        gate.read_file(gate.Path("https://example.org/t.csv"))


def test_too_large_sheet_names_size_and_remedy(monkeypatch):
    rows = [[f"i{k}", k] for k in range(20_000)]
    book = workbook({"Items": [["id", "x"], *rows]})
    monkeypatch.setattr(limits, "MAX_SHEET_BYTES", limits.MB)
    assert len(book) < limits.MB
    with pytest.raises(
        DataError, match=r"sheet1\.xml unpacked: 2 MB, at most 1 MB are allowed"
    ) as caught:
        read_tables([("book.xlsx", book)])
    assert "CSV or Parquet" in caught.value.problems[0].remedy
