"""SQLite and DuckDB files: tables become datasets with their declared keys.

Code in the file is never run: views, triggers and virtual tables are skipped, and the database is
opened read-only without access to other files.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hetviz.errors import DataError, MissingExtraError, Problem
from hetviz.io import gate, limits
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.parquet import arrow_table
from hetviz.io.formats.typed_values import check_cells
from hetviz.io.infer.parsed import Choices, ForeignKey, Table

if TYPE_CHECKING:
    import duckdb

_CHUNK_ROWS = 10_000
_MAX_MEMORY = "2GB"


@dataclass(frozen=True)
class _Table:
    """A table of a database with its keys and cells."""

    name: str
    primary: tuple[str, ...]
    keys: Sequence[ForeignKey]
    cells: Table


def read_sqlite(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read the tables of an SQLite database, or the one chosen as sheet."""
    notes: list[Problem] = []
    if 2 in content[18:20]:
        # Write-ahead mode: the newest changes are in a separate file that is not needed.
        content = content[:18] + b"\x01\x01" + content[20:]
        message = "changes in the separate -wal file are not included"
        notes.append(Problem("written-ahead", name, message, severity="note"))
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(content)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            database.execute(f"PRAGMA {pragma}")
        database.text_factory = partial(str, encoding="utf-8", errors="replace")
        return _pieces(name, list(_sqlite_tables(name, database, choices, notes)), notes)


def read_duckdb(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read the tables of a DuckDB database, as `read_sqlite` does."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("Reading DuckDB databases", "files") from None

    notes: list[Problem] = []
    safe: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "threads": 1,
        "memory_limit": _MAX_MEMORY,
        "lock_configuration": True,
    }
    # DuckDB 2.0.1 opens no file in memory (memfd).
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "database")
        path.write_bytes(content)
        with duckdb.connect(path, read_only=True, config=safe) as opened:
            # What is left after a reader that is killed has no name.
            with contextlib.suppress(OSError):
                path.unlink()
            return _pieces(name, list(_duckdb_tables(name, opened, choices, notes)), notes)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _tables_to_read(
    name: str, tables: Sequence[str], choices: Choices, skipped: Sequence[str], notes: list[Problem]
) -> list[str]:
    """Return the tables to read, and add a note about skipped ones."""
    if choices.sheet is not None and choices.sheet not in tables:
        names = f"Available: {', '.join(tables[:20])}."
        raise gate.refusal("unknown-sheet", name, "this table does not exist", choices.sheet, names)
    if skipped:
        message = "views and virtual tables skipped"
        notes.append(
            Problem("passed-over", name, message, ", ".join(skipped[:10]), severity="note")
        )
    return [table for table in tables if choices.sheet in (None, table)]


def _sqlite_tables(
    name: str, database: sqlite3.Connection, choices: Choices, notes: list[Problem]
) -> Iterator[_Table]:
    import pyarrow as pa

    master = database.execute(
        "SELECT type, name, sql FROM sqlite_master "
        "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchmany(limits.MAX_MEMBERS)
    stored = [
        table
        for kind, table, sql in master
        if kind == "table" and not str(sql or "").upper().startswith("CREATE VIRTUAL")
    ]
    skipped = [table for _, table, _ in master if table not in stored]
    n_cells = 0
    for title in _tables_to_read(name, stored, choices, skipped, notes):
        where = f"{name}, table {title}"
        columns_info = database.execute(f"PRAGMA table_xinfo({_quoted(title)})").fetchall()
        # Generated columns (hidden 2 or 3) contain code.
        names = [column for _, column, _, _, _, _, hidden in columns_info if not hidden]
        place = sorted(
            (at, column) for _, column, _, _, _, at, hidden in columns_info if at and not hidden
        )
        selected = ", ".join(map(_quoted, names))
        cursor = database.execute(f"SELECT {selected} FROM {_quoted(title)}")  # noqa: S608
        rows: list[tuple[object, ...]] = []
        while chunk := cursor.fetchmany(_CHUNK_ROWS):
            rows += chunk
            n_cells += len(chunk) * len(names)
            check_cells(where, len(rows), len(names), n_cells)
        if not rows:
            notes.append(_empty_table_note(where))
            continue
        columns = [_to_one_type(cells) for cells in zip(*rows, strict=True)]
        arrow = pa.Table.from_arrays(columns, names=names)
        cells = arrow_table(name, arrow, choices, where, title)
        primary = tuple(column for _, column in place)
        yield _Table(title, primary, _sqlite_keys(database, title), cells)


def _sqlite_keys(database: sqlite3.Connection, table: str) -> list[ForeignKey]:
    keys: dict[int, list[tuple[int, str, str, str | None]]] = {}
    for at, order, other, column, other_column, *_ in database.execute(
        f"PRAGMA foreign_key_list({_quoted(table)})"
    ).fetchall():
        keys.setdefault(at, []).append((order, other, column, other_column))
    foreign_keys = []
    for parts in keys.values():
        parts.sort()
        others = tuple(other for _, _, _, other in parts if other is not None)
        foreign_keys.append(
            ForeignKey(tuple(column for _, _, column, _ in parts), parts[0][1], others)
        )
    return foreign_keys


def _to_one_type(cells: Sequence[object]) -> object:
    """Return cells as an Arrow column; text where they are of several types, as SQLite allows."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds == {int, float}:
        # Integers beyond float precision must keep all digits.
        exact = all(abs(cell) < 2**53 for cell in cells if isinstance(cell, int))
        cells = [float(c) if isinstance(c, int) else c for c in cells] if exact else cells
        kinds = {float} if exact else kinds
    if len(kinds) > 1:
        return pa.array(
            [None if c is None or isinstance(c, bytes) else str(c) for c in cells],
            pa.large_string(),
        )
    return pa.array(cells)


def _duckdb_tables(
    name: str, database: duckdb.DuckDBPyConnection, choices: Choices, notes: list[Problem]
) -> Iterator[_Table]:
    listed = database.sql(
        "SELECT schema_name, table_name, estimated_size, column_count FROM duckdb_tables() "
        "WHERE NOT internal AND NOT temporary ORDER BY table_oid"
    ).fetchall()
    views = database.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    several = len({schema for schema, *_ in listed}) > 1
    titles = {
        (f"{schema}.{title}" if several else title): (schema, title, rows, columns)
        for schema, title, rows, columns in listed
    }
    constraints = database.sql(
        "SELECT schema_name, table_name, constraint_type, constraint_column_names, "
        "referenced_table, referenced_column_names FROM duckdb_constraints() "
        "WHERE constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')"
    ).fetchall()
    n_cells = 0
    for full_name in _tables_to_read(
        name, list(titles), choices, [view for (view,) in views], notes
    ):
        schema, title, n_rows, n_columns = titles[full_name]
        where = f"{name}, table {full_name}"
        n_cells += n_rows * n_columns
        check_cells(where, n_rows, n_columns, n_cells)
        primary: tuple[str, ...] = ()
        keys: list[ForeignKey] = []
        for of, owner, kind, columns, other, others in constraints:
            if (of, owner) != (schema, title):
                continue
            if kind == "PRIMARY KEY":
                primary = tuple(columns)
            else:
                referred = f"{schema}.{other}" if several else other
                keys.append(ForeignKey(tuple(columns), referred, tuple(others or ())))
        arrow = database.sql(f"FROM {_quoted(schema)}.{_quoted(title)}").to_arrow_table()
        if not arrow.num_rows:
            notes.append(_empty_table_note(where))
            continue
        table = arrow_table(name, arrow, choices, where, full_name)
        yield _Table(full_name, primary, keys, table)


def _empty_table_note(where: str) -> Problem:
    return Problem("empty-table", where, "the table has no rows", severity="note")


def _pieces(name: str, tables: list[_Table], notes: list[Problem]) -> list[Table]:
    """Return the tables with their ids and the foreign keys among them."""
    if not tables:
        problem = Problem("no-tables", name, "no table of the database has rows")
        raise DataError([problem, *notes])
    by_name = {table.name.casefold(): table for table in tables}
    keys_of = {
        table.name: tuple(filter(None, (_complete_key(table, key, by_name) for key in table.keys)))
        for table in tables
    }
    out = []
    for table in tables:
        referred = [
            key.target_columns
            for keys in keys_of.values()
            for key in keys
            if key.table == table.name
        ]
        ids = next(
            (columns for columns in (table.primary, *referred) if _are_ids(table.cells, columns)),
            (),
        )
        out.append(
            replace(
                table.cells,
                id_column=ids[0] if len(ids) == 1 else None,
                id_columns=ids if len(ids) > 1 else (),
                foreign_keys=keys_of[table.name],
            )
        )
    return [replace(out[0], problems=(*out[0].problems, *notes)), *out[1:]]


def _complete_key(
    table: _Table, key: ForeignKey, by_name: Mapping[str, _Table]
) -> ForeignKey | None:
    """Return a key with the name and columns of its target, or None if they were not read."""
    target = by_name.get(key.table.casefold())
    columns = None if target is None else key.target_columns or target.primary
    if target is None or not columns or len(columns) != len(key.columns):
        return None
    own, others = _named(table.cells, key.columns), _named(target.cells, columns)
    return ForeignKey(own, target.name, others) if own and others else None


def _named(table: Table, columns: Sequence[str]) -> tuple[str, ...]:
    """Return columns as the table spells them, () if one is missing; SQL ignores case."""
    spelled = {name.casefold(): name for name in table.columns}
    found = [spelled.get(column.casefold()) for column in columns]
    return () if None in found else tuple(map(str, found))


def _are_ids(table: Table, columns: Sequence[str]) -> bool:
    """Return whether columns exist, are filled and identify the rows."""
    columns = _named(table, columns)
    if not columns or (table.frame[list(columns)] == "").any(axis=None):
        return False
    return not table.frame.duplicated(list(columns)).any()


def _damage(program: str) -> tuple[str, str, str]:
    message = f"the {program} database is damaged, encrypted or its version is not supported"
    return "bad-database", message, "Export its tables as CSV or Parquet."


FORMATS = (
    FileFormat(
        "sqlite", "an SQLite database", "database", (".sqlite", ".sqlite3", ".db"), read_sqlite,
        magic=(b"SQLite format 3\0",), damage=_damage("SQLite")
    ),
    FileFormat(
        "duckdb", "a DuckDB database", "database", (".duckdb",), read_duckdb,
        magic=(b"DUCK",), offset=8, may_be_text=True, damage=_damage("DuckDB")
    ),
)  # fmt: skip
