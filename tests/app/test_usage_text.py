"""The sentence on the reading screen about what is used."""

from __future__ import annotations

import pytest

import hetviz
from hetviz.io import read_tables
from hetviz.ui.reading.upload import usage_text
from tests.io.file_builders import sqlite

ALL_USED = "Everything in these files can be used."


def usage_of(name: str, content: bytes | str) -> str:
    loaded = read_tables([(name, content if isinstance(content, bytes) else content.encode())])
    return usage_text(loaded, hetviz.propose_joins(loaded.data))


def rows(cells: str, columns: str = "id,name,size,kind") -> str:
    lines = [cells.format(k=k, kind="ab"[k % 2], size=k * 7 % 23) for k in range(24)]
    return "\n".join([columns, *lines])


def test_all_used() -> None:
    assert usage_of("t.csv", rows("x{k},name {k},{size},{kind}")) == ALL_USED


def test_unused_columns_are_named() -> None:
    text = rows("x{k},name {k},{size},{kind},Q{k}Z", "id,name,size,kind,code")
    assert usage_of("t.csv", text) == (
        "No row was refused. Column code is shown but not used for the map."
    )
    many = rows("x{k},name {k},{size},{kind},Q{k}Z,R{k}Z,S{k}Z,T{k}Z", "id,name,size,kind,c,d,e,f")
    assert "Columns c, d, e and 1 more are shown" in usage_of("t.csv", many)


@pytest.mark.parametrize(
    "text",
    [
        # Missing cells, the order of day and month, a heading, no id, and an encoding.
        rows("x{k},name {k},{size},{kind}").replace("x3,name 3,21,", "x3,name 3,,"),
        "id,at\n" + "".join(f"x{k},{1 + k % 9}/4/2024\n" for k in range(24)),
        "A list of things\n\n" + rows("x{k},name {k},{size},{kind}"),
        rows("{size},{kind}", "size,kind"),
        rows("x{k},café {k},{size},{kind}").encode("cp1252"),
    ],
)
def test_guesses_are_stated(text: str | bytes) -> None:
    sentence = usage_of("t.csv", text)
    assert sentence.startswith("No row was refused.")
    assert sentence.endswith("Check what was guessed below.")


def test_keys_are_used_and_only_declared_ones_are_certain() -> None:
    makers = "name,size\n" + "".join(f"maker {k},{k * 3 % 7}\n" for k in range(9))
    cars = "id,maker,speed\n" + "".join(f"c{k},maker {k % 9},{k * 7 % 23}\n" for k in range(40))
    loaded = read_tables([("makers.csv", makers.encode()), ("cars.csv", cars.encode())])
    proposals = hetviz.propose_joins(loaded.data)
    assert proposals
    sentence = usage_text(loaded, proposals)
    assert sentence == "No row was refused. Check what was guessed below."
    maker_rows = ", ".join(f"({k}, 'maker {k}', {k * 3 % 7})" for k in range(9))
    car_rows = ", ".join(f"({k}, {k % 9}, {k * 7 % 23})" for k in range(40))
    content = sqlite(
        "CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT, size INTEGER)",
        "CREATE TABLE car (id INTEGER PRIMARY KEY, maker_id INTEGER REFERENCES maker(id), "
        "speed INTEGER)",
        f"INSERT INTO maker VALUES {maker_rows}",
        f"INSERT INTO car VALUES {car_rows}",
    )
    assert usage_of("cars.sqlite", content) == ALL_USED
