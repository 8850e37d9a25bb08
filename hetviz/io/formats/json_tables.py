"""JSON and JSON lines: records, columns or several named tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hetviz.errors import DataError, Problem, limit_problems
from hetviz.io import gate, limits
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.typed_values import check_cells, table_of_values
from hetviz.io.infer.parsed import Choices, Table, stem

_START = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_BOM = b"\xef\xbb\xbf"
_MAX_DEPTH = 100
_MAX_DIGITS = 300
_SHAPES = "Give a list of records, such as [{\"id\": \"a\", \"size\": 1}, ...]."  # fmt: skip
Record = Mapping[str, Any]


def read_json(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read a list of records, an object of columns, or an object of several of these."""
    value = _parsed(name, content)
    tables = _tables(value)
    if not tables:
        raise gate.refusal("no-tables", name, "no table was found in this JSON", remedy=_SHAPES)
    parsed: list[Table] = []
    problems: list[Problem] = []
    for key, records in tables.items():
        where, dataset_name = (f"{name}, {key}", key) if key else (name, stem(name))
        try:
            rows = range(len(records))
            parsed.append(records_table(dataset_name, where, records, rows, choices))
        except DataError as error:
            problems += error.problems
    if not parsed:
        raise DataError(problems)
    return parsed


def read_lines(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read JSON lines; invalid lines are left out and listed."""
    records: list[Record] = []
    rows: list[int] = []
    bad: list[Problem] = []
    for row, line in enumerate(_text(name, content).split("\n")):
        if not line.strip():
            continue
        if len(records) >= limits.MAX_ROWS:
            check_cells(name, len(records) + 1, 1)
        try:
            value = _loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            records.append(value)
            rows.append(row)
            continue
        message, remedy = "the line is not a JSON record", "The line is left out."
        bad.append(
            Problem("bad-json", f"{name}, line {row + 1}", message, line[:60], remedy, row=row)
        )
    bad_lines = list(limit_problems(bad))
    if not records:
        raise DataError(bad_lines)
    return [records_table(stem(name), name, records, rows, choices, bad_lines)]


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeError:
        raise gate.refusal(
            "bad-encoding", name, "JSON must be UTF-8", remedy="Save it as UTF-8."
        ) from None


def _parsed(name: str, content: bytes) -> object:
    text = _text(name, content)
    try:
        value = _loads(text)
    except RecursionError:
        raise _too_deep(name) from None
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise gate.refusal(
            "bad-json",
            name if line is None else f"{name}, line {line}",
            "the JSON is not valid from here on",
            remedy="Check for a missing comma, quotation mark or bracket.",
        ) from None
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise _too_deep(name)
        inner = (part for part in level if isinstance(part, (dict, list)))
        level = [
            part
            for outer in inner
            for part in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(part, (dict, list))
        ]
    return value


def _loads(text: str) -> object:
    """Parse JSON; numbers too large for a float stay text."""
    return _DECODER.decode(text)


def _number(cell: str) -> float | str:
    return value if math.isfinite(value := float(cell)) else cell


def _whole_number(cell: str) -> int | str:
    return int(cell) if len(cell) <= _MAX_DIGITS else cell


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_whole_number)


def _too_deep(name: str) -> DataError:
    message = f"it is nested more than {_MAX_DEPTH} levels deep"
    return gate.refusal("too-deep", name, message, remedy=_SHAPES)


def _tables(value: object) -> dict[str, list[Record]]:
    """Return the tables in a value by name, "" for a single one."""
    if (records := _records(value)) is not None:
        return {"": records}
    if not isinstance(value, dict):
        return {}
    inside = {str(key): part_records for key, part in value.items() if _is_table(part)
              and (part_records := _records(part)) is not None}  # fmt: skip
    if len(inside) > 1:
        return inside
    if inside:
        return {"": next(iter(inside.values()))}
    flat = not any(isinstance(part, (dict, list)) for part in value.values())
    return {"": [value]} if value and flat else {}


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _records(value: object) -> list[Record] | None:
    """Return the rows of a table however it is written, or None if it is none."""
    if isinstance(value, list):
        if not value:
            return None
        if all(isinstance(row, dict) for row in value):
            return list(value)
        return _of_lists(value[0], value[1:])
    if not isinstance(value, dict) or not value:
        return None
    if isinstance(value.get("columns"), list) and isinstance(value.get("data"), list):
        return _of_lists(value["columns"], value["data"], value.get("index"))
    parts = list(value.values())
    if all(isinstance(part, list) for part in parts):
        lengths = {len(part) for part in parts}
        if len(lengths) != 1 or any(isinstance(cell, dict) for part in parts for cell in part):
            return None
        return [dict(zip(value, row, strict=True)) for row in zip(*parts, strict=True)]
    if all(isinstance(part, dict) for part in parts):
        return _of_objects(value)
    return None


def _of_objects(value: Mapping[str, Record]) -> list[Record]:
    """Return rows from columns by number of row, as pandas writes them, or from rows by id."""
    first = next(iter(value.values()))
    if first and list(first) == [str(row) for row in range(len(first))]:
        return [{name: cells.get(row) for name, cells in value.items()} for row in first]
    return [{"id": key, **row} for key, row in value.items()]


def _of_lists(names: Any, rows: Any, index: object = None) -> list[Record] | None:
    if not isinstance(names, list) or not names or not all(isinstance(row, list) for row in rows):
        return None
    if any(isinstance(name, (dict, list)) for name in names):
        return None
    titles = [str(name) for name in names]
    if len(set(titles)) < len(titles) or any(len(row) != len(titles) for row in rows):
        return None
    records: list[Record] = [dict(zip(titles, row, strict=True)) for row in rows]
    is_counted = index is None or index == list(range(len(records)))
    if is_counted or not isinstance(index, list) or len(index) != len(records):
        return records
    return [{"index": key, **row} for key, row in zip(index, records, strict=True)]


def records_table(
    dataset_name: str,
    where: str,
    records: Sequence[Record],
    rows: Sequence[int],
    choices: Choices,
    problems: Sequence[Problem] = (),
) -> Table:
    """Return records as a table of text."""
    flat = [_flat(record) for record in records]
    names: dict[str, None] = {}
    for record in flat:
        if not record.keys() <= names.keys():
            names.update(dict.fromkeys(record))
            check_cells(where, len(flat), len(names))
    if not names:
        raise gate.refusal("empty-file", where, "the records are empty")
    columns = [(name, [record.get(name) for record in flat]) for name in names]
    return table_of_values(dataset_name, where, columns, rows, choices, problems)


def _flat(record: Record) -> Record:
    """Return a record with nested fields as ``outer.inner``, one level deep."""
    if dict not in map(type, record.values()):
        return record
    out: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            out.update({f"{name}.{inner}": part for inner, part in value.items()})
        else:
            out[name] = value
    return out


def _is_json(content: bytes) -> bool:
    return _START.match(content[:4000].removeprefix(_BOM)) is not None


def _is_lines(content: bytes) -> bool:
    if not _is_json(content):
        return False
    start, _, other_lines = content[: limits.MB].lstrip(_BOM + b" \t\r\n").partition(b"\n")
    if not other_lines.lstrip()[:1] or other_lines.lstrip()[:1] not in b"{[":
        return False
    try:
        json.loads(start)
    except (ValueError, RecursionError):
        return False
    return True


FORMATS = (
    FileFormat(
        "jsonl", "JSON lines", "table", (".jsonl", ".ndjson"), read_lines, detect_text=_is_lines
    ),
    FileFormat("json", "JSON", "table", (".json",), read_json, detect_text=_is_json),
)
