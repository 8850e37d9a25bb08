"""Previews of tables in files, and recipes chosen there."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import hetviz
from hetviz.errors import DataError, Problem
from hetviz.io import Choices, read_table, read_tables
from hetviz.io.infer.parsed import unpack_tables
from hetviz.io.infer.raw_rows import RawTable
from hetviz.io.infer.recipe import TYPES
from hetviz.io.infer.rows import mark_row, propose_recipe
from hetviz.io.intake import child, preview
from hetviz.io.intake.parse import parse_files
from tests.io.file_builders import duckdb, previews, sqlite, workbook

WELLS = [
    ["Wells 2023", "", ""],
    ["", "Measured", ""],
    ["Well", "Nitrate", "Owner"],
    ["", "mg/l", ""],
    ["Abbey", "<0,5", "a"],
    ["Brook", "3,25", "b"],
    ["Croft", "n. d.", "a"],
    ["Dale", "12", "c"],
    ["Sum", "15,75", ""],
]
OWNERS = [["No.", "Town"], ["a", "York"], ["b", "Hull"], ["c", "Bath"], ["d", "Leeds"]]


def csv(rows, sign=";"):
    return "\n".join(sign.join(row) for row in rows).encode()


def test_preview_has_rows_recipe_and_profiles():
    (look,) = previews([("wells.csv", csv(WELLS))])
    assert (look.n_rows, look.n_data, look.id_from) == (9, 4, ("Well",))
    assert look.rows[4] == (4, ("Abbey", "<0,5", "a"))
    assert [column.type for column in look.recipe.columns] == [
        "id",
        "number with the rest missing",
        "category",
    ]
    nitrate = look.profiles[1]
    assert (nitrate.n_rows, nitrate.n_missing, nitrate.unit) == (4, 1, "mg/l")
    assert nitrate.examples == ("n. d.",)
    assert dict(look.preview)[4]["Measured / Nitrate"] == "0,5"
    assert preview.unpack_previews(preview.pack_previews([look])) == [look]


def test_preview_shows_chosen_recipe():
    (look,) = previews([("wells.csv", csv(WELLS))])
    recipe = look.recipe.with_type("Owner", "leave out").with_ids()
    said = {"wells.csv": Choices(recipes={"": recipe.to_dict()})}
    (again,) = previews([("wells.csv", csv(WELLS))], said)
    assert again.id_from == ()
    assert "Owner" not in dict(again.preview)[4]
    data = read_tables([("wells.csv", csv(WELLS))], said).data
    assert list(data["wells"].ids) == ["1", "2", "3", "4"]
    assert list(data["wells"].table.columns) == ["Well", "Measured / Nitrate"]


def test_preview_hints_at_key_columns():
    files = [("wells.csv", csv(WELLS)), ("owners.csv", csv(OWNERS))]
    wells, owners = previews(files)
    assert wells.recipe.column("Owner").of == "owners.csv"
    assert wells.recipe.column("Owner").why == "3 of 3 values are ids of owners.csv"
    assert not any(column.of for column in owners.recipe.columns)


def test_preview_hints_at_no_measure_and_needs_no_rows():
    # Each rating is an id of a shop too.
    rated = "id,rating\n" + "".join(f"f{k},{1 + k % 5}\n" for k in range(40))
    visits = "id,shop_id\n" + "".join(f"v{k},{1 + 3 * k % 29}\n" for k in range(40))
    shops = "id,town\n" + "".join(f"{k},town {k}\n" for k in range(1, 30))
    files = {"films": rated, "visits": visits, "shops": shops, "empty": "id,shop_id\n"}
    looks = previews([(f"{name}.csv", text.encode()) for name, text in files.items()])
    of = {look.file: look.recipe.columns[1].of for look in looks}
    assert of["films.csv"] == ""
    assert of["visits.csv"] == "shops.csv"
    assert of["empty.csv"] == ""


def test_preview_of_sheets_in_one_process(monkeypatch):
    files = [("book.xlsx", workbook({"Wells": WELLS, "Owners": OWNERS}))]
    looks, container = child.preview_tables(files, {})
    assert [look.sheet for look in looks] == ["Wells", "Owners"]
    assert looks[0].recipe.header == (1, 2)
    assert unpack_tables(container).frames[0].tables[1].name == "Owners"
    # The container stands for the file, which is not parsed again.
    again, _ = child.preview_tables([("book.xlsx", b"no workbook")], {}, container)
    assert again == looks

    def fail(*_):
        raise DataError(Problem("too-slow", "book.xlsx", "it took too long"))

    monkeypatch.setattr(child, "_in_child", fail)
    assert child.preview_tables(files, {}) == ([], b"")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "notes.txt",
            b"This is a story of two towns.\nIt has sentences and no table, or so they say.\n" * 2,
        ),
        ("data.zip", b"PK\x03\x04 damaged"),
        ("none.csv", b""),
        ("picture.png", b"\x89PNG\r\n\x1a\n"),
    ],
)
def test_preview_skips_files_without_tables(name, content):
    assert previews([(name, content)]) == []


def test_preview_of_typed_tables_has_no_row_marks(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"name": list("abcd"), "x": [1.5, 2.5, None, 4.0]}).to_parquet(path)
    (look,) = previews([("t.parquet", path.read_bytes())])
    assert not look.has_rows
    assert (look.n_data, look.profiles[1].n_missing) == (4, 1)


def test_preview_samples_long_tables(monkeypatch):
    monkeypatch.setattr(preview, "_MAX_SAMPLE_ROWS", 500)
    rows = [["name", "x"], *([f"n{k}", str(k % 7)] for k in range(3_000))]
    (look,) = previews([("long.csv", csv(rows, ","))])
    assert (look.n_rows, look.n_data) == (3_001, 3_000)
    assert look.profiles[1].n_distinct == 7
    assert 500 < look.profiles[1].n_rows < 1_000
    assert look.rows[-1] == (3_000, ("n2999", "3"))


def test_mark_row_toggles():
    raw = RawTable.of(WELLS, decimal=",")
    recipe = propose_recipe(raw)
    assert (recipe.header, recipe.units, recipe.first, recipe.last) == ((1, 2), 3, 4, 7)
    alone = mark_row(raw, recipe, "names", 1)
    assert (alone.header, alone.units, alone.first) == ((2,), 3, 4)
    assert mark_row(raw, alone, "names", 1).header == (1, 2)
    assert mark_row(raw, alone, "names", 0).header == (0,)
    assert mark_row(raw, recipe, "units", 3).units is None
    assert mark_row(raw, recipe, "first", 5).first == 5
    assert mark_row(raw, recipe, "last", 6).last == 6
    assert mark_row(raw, recipe, "last", 7).last is None
    down = mark_row(raw, alone, "units", 4)
    assert (down.units, down.first) == (4, 5)
    with pytest.raises(DataError, match="does not exist"):
        mark_row(raw, recipe, "names", 99)


def test_mark_row_keeps_chosen_columns():
    raw = RawTable.of(WELLS, decimal=",")
    said = propose_recipe(raw).with_type("Measured / Nitrate", "text")
    alone = mark_row(raw, said, "names", 1)
    assert [(column.name, column.type) for column in alone.columns] == [
        ("Well", "id"),
        ("Nitrate", "text"),
    ]


def test_ids_called_na_are_not_missing():
    rows = [["code", "country"], ["NA", "Namibia"], ["FR", "France"], ["DE", "Germany"]]
    votes = [["code", "vote"], ["NA", "yes"], ["FR", "no"], ["DE", "yes"], ["FR", "yes"]]
    look, _ = previews([("countries.csv", csv(rows)), ("votes.csv", csv(votes))])
    profile = next(item for item in look.profiles if item.name == "code")
    assert look.id_from == ("code",)
    assert (profile.n_distinct, profile.n_missing) == (3, 0)


def test_with_ids_replaces_ids():
    recipe = propose_recipe(RawTable.of(WELLS, decimal=","))
    both = recipe.with_ids("Well", "Owner")
    assert both.of_type("id") == ("Well", "Owner")
    assert both.with_ids("Owner").of_type("id") == ("Owner",)


def test_preview_limits_columns(monkeypatch):
    monkeypatch.setattr(preview, "_MAX_COLUMNS", 200)
    names = ["id", *(f"c{k}" for k in range(250))]
    rows = [[f"r{r}", *(str((r * k) % 7) for k in range(250))] for r in range(12)]
    content = "\n".join(",".join(row) for row in [names, *rows]).encode()
    (look,) = previews([("t.csv", content)])
    assert (look.n_columns, len(look.recipe.columns), len(look.profiles)) == (251, 200, 200)
    assert look.id_from == ("id",)
    said = look.recipe.with_type("c3", "category")
    read = read_table("t.csv", content, Choices(recipes={"": said.to_dict()}))
    assert read.frame.shape == (12, 251)
    assert read.recipe.column("c3").type == "category"
    assert read.recipe.column("c240").type == "whole number"


MANY = csv(
    [
        ["Wells 2023", "", "", "", "", "", ""],
        ["well", "nitrate", "owner", "state", "seen", "tags", "n"],
        *(
            [
                f"w{k}",
                "<0,5" if k % 3 == 0 else f"{k},25",
                f"o{k % 4}",
                ["low", "high", "medium"][k % 3],
                f"2024-01-{k + 1:02}",
                "a|b" if k % 2 else "c",
                "n. b." if k == 4 else str(k),
            ]
            for k in range(12)
        ),
        ["Source: own", "", "", "", "", "", ""],
    ],
    ";",
)


MANY_TABLES = parse_files([("t.csv", MANY)], {})


def updated(look, recipe):
    choices = {"t.csv": Choices(recipes={"": recipe.to_dict()})}
    now = preview.updated_previews([look], {}, choices, MANY_TABLES)
    return None if now is None else now[0]


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "id"])
def test_updated_preview_equals_full_preview(kind):
    (look,) = preview.preview_tables(MANY_TABLES)
    for column in [one.name for one in look.recipe.columns if one.type != "id"]:
        recipe = look.recipe.with_type(column, kind)
        said = {"t.csv": Choices(recipes={"": recipe.to_dict()})}
        whole = preview.preview_tables(MANY_TABLES, said)[0]
        # Everything else was proposed when it was not said; both are read alike.
        alone = updated(look, recipe)
        assert alone.recipe == whole.recipe
        assert alone.profiles == whole.profiles
        assert dict(alone.preview) == dict(whole.preview)
        assert (alone.ids, alone.id_from, alone.rows) == (whole.ids, whole.id_from, whole.rows)
        assert set(alone.problems) == set(whole.problems)


def test_updated_preview_with_changed_order():
    (look,) = preview.preview_tables(MANY_TABLES)
    alone = updated(look, look.recipe.with_order("state", "high", "low", "medium"))
    assert alone.recipe.column("state").order == ("high", "low", "medium")


@pytest.mark.parametrize("what", ["row", "ids", "forgotten"])
def test_updated_preview_of_changed_rows_is_none(what):
    (look,) = preview.preview_tables(MANY_TABLES)
    if what == "row":
        recipe = mark_row(look.raw, look.recipe, "last", 8)
    elif what == "ids":
        recipe = look.recipe.with_ids("n")
    else:
        look = updated(look, look.recipe.with_type("n", "text"))
        kept = tuple(one for one in look.recipe.columns if one.name != "n")
        recipe = replace(look.recipe, columns=kept)
    assert updated(look, recipe) is None


@pytest.mark.parametrize(("name", "make"), [("clinic.sqlite", sqlite), ("clinic.duckdb", duckdb)])
def test_preview_shows_declared_keys(name, make):
    content = make(
        "CREATE TABLE wards (code VARCHAR PRIMARY KEY, beds INTEGER)",
        "INSERT INTO wards VALUES ('CAR', 10), ('NEU', 15)",
        "CREATE TABLE stays (stay INTEGER PRIMARY KEY, ward VARCHAR REFERENCES wards(code), "
        "days INTEGER)",
        "INSERT INTO stays VALUES (1, 'CAR', 3), (2, 'NEU', 4), (3, 'CAR', 9), (4, 'NEU', 2)",
    )
    looks = previews([(name, content)])
    (stays,) = (look for look in looks if look.sheet == "stays")
    assert [(one.name, one.type, one.of) for one in stays.recipe.columns] == [
        ("stay", "id", ""),
        ("ward", "key of another table", "wards"),
        ("days", "whole number", ""),
    ]
    # What is said of another column leaves it so.
    recipe = stays.recipe.with_type("days", "category").to_dict()
    for choices in ({}, {name: Choices(recipes={"stays": recipe})}):
        loaded = read_tables([(name, content)], choices)
        assert list(loaded.data["stays"].ids) == ["1", "2", "3", "4"]
        (declared,) = hetviz.propose_joins(loaded.data)
        assert declared.declared
        assert (declared.title, len(declared.match.i)) == ("stays: ward = wards: id", 4)
        assert not loaded.errors
