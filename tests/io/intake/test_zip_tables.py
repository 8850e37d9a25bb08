"""Zips of tables, and databases, as tables to look at."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

import hetviz
from hetviz.io import Choices, read_tables
from hetviz.io.infer.recipe import TableRecipe
from hetviz.io.intake.preview import pack_previews, unpack_previews
from hetviz.io.intake.zip_tables import tables_of_zip
from tests.io.file_builders import packed, previews, workbook

TABLE = b"id,x\n" + b"\n".join(b"i%d,%d" % (k, k * k % 7) for k in range(9))


def test_tables_of_zip():
    book = workbook({"S": [["id", "x"], ["a", 1.5]]})
    inside = [("all/t.csv", TABLE), ("all/b.xlsx", book), ("all/README.txt", b"About these.")]
    result = tables_of_zip("all.zip", packed([*inside, ("__MACOSX/x", b"")]))
    assert result == {"t.csv": TABLE, "b.xlsx": book}
    assert [look.name for look in previews(list(result.items()))] == ["t.csv", "b.xlsx"]


@pytest.mark.parametrize(
    "members",
    [
        [("hetviz.toml", b""), ("t.csv", TABLE)],
        [("t.csv", TABLE), ("p.png", b"")],
        [("a/t.csv", TABLE), ("b/t.csv", TABLE)],
        [("t.csv", TABLE), ("results/u.csv", TABLE)],
        [("t.csv", TABLE), ("t.tsv", TABLE)],
        [("X.npy", b"")],
        [("../t.csv", TABLE)],
        [],
    ],
)
def test_tables_of_zip_other_zip_is_none(members):
    assert tables_of_zip("all.zip", packed(members)) is None


def test_tables_of_zip_other_file_is_none():
    assert tables_of_zip("t.csv", TABLE) is None
    assert tables_of_zip("t.zip", b"PK\x03\x04 damaged") is None
    assert tables_of_zip("t.zip", b"") is None


@pytest.fixture
def shop():
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript(
            "CREATE TABLE town (code TEXT PRIMARY KEY, size TEXT, people INTEGER);"
            "CREATE TABLE visit (town TEXT REFERENCES town, day TEXT, spent TEXT);"
        )
        towns = [(f"t{k}", ["small", "large"][k % 2], k * 37 % 11) for k in range(8)]
        database.executemany("INSERT INTO town VALUES (?, ?, ?)", towns)
        visits = [(f"t{k % 8}", f"2024-01-{k + 1:02}", f"{k * 7 % 13} kg") for k in range(20)]
        database.executemany("INSERT INTO visit VALUES (?, ?, ?)", visits)
        database.commit()
        return database.serialize()


def test_preview_of_database_tables(shop):
    towns, visits = previews([("shop.db", shop)])
    assert [(look.sheet, look.has_id, look.id_from) for look in (towns, visits)] == [
        ("town", True, ("code",)),
        ("visit", False, ()),
    ]
    assert unpack_previews(pack_previews([towns]))[0].has_id
    recipe = towns.recipe.with_type("size", "ordered category").with_type("people", "leave out")
    said = {"shop.db": Choices(recipes={"town": recipe.to_dict()})}
    again, _ = previews([("shop.db", shop)], said)
    assert again.recipe.column("size").order == ("small", "large")
    data = read_tables([("shop.db", shop)], said).data
    assert list(data["town"].table.columns) == ["size"]
    assert data["town"].recipe["features"]["columns"][0]["kind"] == "ordered"
    assert sum(map(len, hetviz.join_tables(data).links)) == 20
    assert isinstance(TableRecipe.from_dict(visits.recipe.to_dict()), TableRecipe)
