"""SQLite and DuckDB files: tables become datasets, foreign keys become links.

Code in the file is never run: views, triggers and virtual tables are skipped, and the database is
opened read-only without access to other files.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.io import gate, limits
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.parquet import arrow_table
from hetviz.io.formats.typed_values import check_cells
from hetviz.io.infer.parsed import Choices, Table

if TYPE_CHECKING:
    import duckdb

_CHUNK_ROWS = 10_000
_MAX_MEMORY = "2GB"
_ROW_COLUMN = "row"


@dataclass(frozen=True)
class _ForeignKey:
    """A foreign key: columns of a table that name rows of another."""

    columns: tuple[str, ...]
    table: str
    others: tuple[str, ...]


@dataclass
class _Table:
    """A table of a database with its keys and cells."""

    name: str
    primary: tuple[str, ...]
    keys: list[_ForeignKey]
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
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return _pieces(name, list(_sqlite_tables(name, database, choices, notes)), notes)


def read_duckdb(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read the tables of a DuckDB database, as `read_sqlite` does."""
    import duckdb

    notes: list[Problem] = []
    safe: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "threads": 1,
        "memory_limit": _MAX_MEMORY,
        "lock_configuration": True,
    }
    with _as_file(content) as path, duckdb.connect(path, read_only=True, config=safe) as opened:
        return _pieces(name, list(_duckdb_tables(name, opened, choices, notes)), notes)


@contextlib.contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Provide a path to the bytes, in memory where the system supports it."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").exists():
        with os.fdopen(os.memfd_create("database"), "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "database")
        path.write_bytes(content)
        yield str(path)


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


def _sqlite_keys(database: sqlite3.Connection, table: str) -> list[_ForeignKey]:
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
            _ForeignKey(tuple(column for _, _, column, _ in parts), parts[0][1], others)
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
        keys: list[_ForeignKey] = []
        for of, owner, kind, columns, other, others in constraints:
            if (of, owner) != (schema, title):
                continue
            if kind == "PRIMARY KEY":
                primary = tuple(columns)
            else:
                referred = f"{schema}.{other}" if several else other
                keys.append(_ForeignKey(tuple(columns), referred, tuple(others or ())))
        arrow = database.sql(f"FROM {_quoted(schema)}.{_quoted(title)}").to_arrow_table()
        if not arrow.num_rows:
            notes.append(_empty_table_note(where))
            continue
        table = arrow_table(name, arrow, choices, where, full_name)
        yield _Table(full_name, primary, keys, table)


def _empty_table_note(where: str) -> Problem:
    return Problem("empty-table", where, "the table has no rows", severity="note")


def _pieces(name: str, tables: list[_Table], notes: list[Problem]) -> list[Table]:
    """Return the tables as datasets, and the foreign keys among them as links."""
    if not tables:
        problem = Problem("no-tables", name, "no table of the database has rows")
        raise DataError([problem, *notes])
    by_name = {table.name.casefold(): table for table in tables}
    referred = {key.table.casefold() for table in tables for key in table.keys}
    out: list[Table] = []
    links: list[Table] = []
    for table in tables:
        keys = [key for key in table.keys if key.table.casefold() in by_name]
        cells = _with_ids(table, by_own_rows=bool(keys) or table.name.casefold() in referred)
        table.cells = cells
        out.append(
            replace(cells, key_columns=tuple({c: None for key in keys for c in key.columns}))
        )
    for table in tables:
        for key in table.keys:
            parent = by_name.get(key.table.casefold())
            key_links = None if parent is None else _links(table, parent, key)
            links += [] if key_links is None else [key_links]
    first = out[0]
    return [replace(first, problems=(*first.problems, *notes)), *out[1:], *links]


def _with_ids(table: _Table, *, by_own_rows: bool) -> Table:
    """Return a table with its primary key as id, or the numbers of its rows if links need ids."""
    cells = table.cells
    if len(table.primary) == 1 and table.primary[0] in cells.frame.columns:
        return replace(cells, id_column=table.primary[0])
    if not by_own_rows:
        return cells
    id_column = _ROW_COLUMN
    while id_column in cells.frame.columns:
        id_column += "_"
    numbers = pd.Series([str(at + 1) for at in range(len(cells.frame))], dtype=TEXT)
    frame = pd.concat([numbers.rename(id_column), cells.frame], axis=1)
    return replace(cells, frame=frame, id_column=id_column)


def _links(table: _Table, parent: _Table, key: _ForeignKey) -> Table | None:
    """Return the links that a foreign key declares, or None where nothing refers to anything."""
    child, other = table.cells, parent.cells
    columns, others = list(key.columns), list(key.others or parent.primary)
    has_columns = set(columns) <= set(child.frame.columns) and set(others) <= set(
        other.frame.columns
    )
    if not has_columns or len(columns) != len(others) or other.id_column is None:
        return None
    parent_rows = other.frame[[other.id_column, *(c for c in others if c != other.id_column)]]
    parent_rows = parent_rows.assign(**{"_id": parent_rows[other.id_column]}).drop_duplicates(
        others
    )
    references = child.frame[columns]
    references.columns = pd.Index(others)
    is_filled = (references != "").all(axis=1).to_numpy()
    matches = references.merge(
        parent_rows[[*others, "_id"]].drop_duplicates(others), on=others, how="left"
    )
    is_found = matches["_id"].notna().to_numpy()
    is_unknown = is_filled & ~is_found
    problems = tuple(
        limit_problems(
            Problem(
                "unknown-id",
                f"{child.where}, row {at + 1}, column {', '.join(columns)}",
                f"no row of {parent.name} has this key",
                ", ".join(references.iloc[at].tolist())[:60],
                severity="note",
                row=at,
            )
            for at in is_unknown.nonzero()[0].tolist()
        )
    )
    is_used = is_filled & is_found
    if not is_used.any():
        return None
    rows = is_used.nonzero()[0]
    frame = pd.DataFrame(
        {
            "source_dataset": child.name,
            "source_id": child.frame[child.id_column].to_numpy(dtype=object)[rows],
            "target_dataset": other.name,
            "target_id": matches["_id"].to_numpy(dtype=object)[rows],
            "kind": ", ".join(columns),
            "role": "relation",
        }
    ).astype(TEXT)
    where = f"{child.where}, key {', '.join(columns)}"
    facts = {"foreign key": f"{table.name} ({', '.join(columns)}) to {parent.name}"}
    name = f"{child.name} {parent.name}"
    row = tuple(rows.tolist())
    return Table(name, where, "links", frame, row, facts=facts, problems=problems)


def _damage(program: str) -> tuple[str, str, str]:
    message = f"the {program} database is damaged, encrypted or its version is not supported"
    return "bad-database", message, "Export its tables as CSV or Parquet."


FORMATS = (
    FileFormat(
        "sqlite", "an SQLite database", "database", (".sqlite", ".sqlite3", ".db"), read_sqlite,
        magic=(b"SQLite format 3\0",), damage=_damage("SQLite"),
    ),
    FileFormat(
        "duckdb", "a DuckDB database", "database", (".duckdb",), read_duckdb,
        magic=(b"DUCK",), offset=8, may_be_text=True, damage=_damage("DuckDB"),
    ),
)  # fmt: skip
