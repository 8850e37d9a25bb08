"""Serialisation of parsed files as JSON, Arrow and NPY parts, without pickle."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike

from hetviz._pandas import TEXT
from hetviz._types import Array, Json, JsonObject, Matrix, is_sparse
from hetviz.errors import DataError, Problem
from hetviz.features.columns.types import arrow_texts
from hetviz.io.formats.column_rows import ColumnRows
from hetviz.io.formats.workbooks import SheetCells, StoredCells
from hetviz.io.infer.raw_rows import FrameRows
from hetviz.io.infer.recipe import TableRecipe
from hetviz.io.parsed import ParsedFiles, Piece

if TYPE_CHECKING:
    import pyarrow as pa

_LENGTH = struct.Struct("<Q")
_PLAIN_FIELDS = ("name", "where", "role", "decimal", "feature_names", "id_column", "title_column",
          "media_column", "text_columns", "label_columns", "key_columns", "entity")  # fmt: skip


def pack_parsed(parsed: ParsedFiles) -> bytes:
    """Return parsed files as bytes."""
    parts: list[bytes] = []

    def keep(content: bytes) -> int:
        parts.append(content)
        return len(parts) - 1

    header = {
        "pieces": [_header_of(piece, keep) for piece in parsed.pieces],
        "refused": [[name, [asdict(p) for p in error.problems]] for name, error in parsed.rejected],
    }
    return b"".join(
        _LENGTH.pack(len(part)) + part for part in (json.dumps(header).encode(), *parts)
    )


def unpack_parsed(content: bytes) -> ParsedFiles:
    """Return the parsed files that `pack_parsed` packed."""
    with _damage_as_value_error():
        head, *parts = _split(content)
        header = json.loads(head)
        return ParsedFiles(
            tuple(_piece_of(fields, parts) for fields in header["pieces"]),
            tuple(
                (name, DataError(map(_problem, problems))) for name, problems in header["refused"]
            ),
        )


def has_refused(content: bytes) -> bool:
    """Whether packed files contain rejected files or are damaged."""
    try:
        (length,) = _LENGTH.unpack_from(content)
        return bool(json.loads(content[_LENGTH.size : _LENGTH.size + length])["refused"])
    except (ValueError, KeyError, TypeError, struct.error):
        return True


def _split(content: bytes) -> list[bytes]:
    view, at, parts = memoryview(content), 0, []
    while at < len(view):
        (length,) = _LENGTH.unpack_from(view, at)
        at += _LENGTH.size + length
        if at > len(view):
            raise ValueError
        parts.append(bytes(view[at - length : at]))
    return parts


def _header_of(piece: Piece, keep: Callable[[bytes], int]) -> JsonObject:
    about: dict[str, Any] = {field: getattr(piece, field) for field in _PLAIN_FIELDS}
    about["facts"] = dict(piece.facts)
    about["problems"] = [asdict(problem) for problem in piece.problems]
    about["recipe"] = None if piece.recipe is None else piece.recipe.to_dict()
    row = piece.row
    if isinstance(row, range):
        about["row"] = [row.start, row.stop, row.step]
    else:
        about["row"] = keep(_npy(np.array(row, dtype=np.int64)))
    about["frame"] = None if piece.frame is None else keep(arrow_bytes(piece.frame))
    for word in ("X", "kernel", "distance"):
        about[word] = _matrix(getattr(piece, word), keep)
    if piece.media is not None:
        lengths = [-1 if picture is None else len(picture) for picture in piece.media]
        about["media"] = [lengths, keep(b"".join(filter(None, piece.media)))]
    return about


def _matrix(X: Matrix | None, keep: Callable[[bytes], int]) -> Json:
    if X is None:
        return None
    if is_sparse(X):
        return [list(X.shape), *(keep(_npy(part)) for part in (X.data, X.indices, X.indptr))]
    return keep(_npy(np.asarray(X)))


def _piece_of(about: Mapping[str, Any], parts: list[bytes]) -> Piece:
    fields: dict[str, Any] = {field: about[field] for field in _PLAIN_FIELDS}
    for field in ("feature_names", "text_columns", "label_columns", "key_columns"):
        fields[field] = tuple(fields[field])
    for word in ("X", "kernel", "distance"):
        fields[word] = _matrix_of(about[word], parts)
    if about.get("media") is not None:
        lengths, place = about["media"]
        fields["media"] = _pictures(lengths, parts[place])
    return Piece(
        **fields,
        row=_row_of(about["row"], parts),
        frame=None if about["frame"] is None else frame_of(parts[about["frame"]]),
        recipe=None if about.get("recipe") is None else TableRecipe.from_dict(about["recipe"]),
        facts=about["facts"],
        problems=tuple(map(_problem, about["problems"])),
    )


def _row_of(about: Any, parts: list[bytes]) -> Sequence[int]:
    return range(*about) if isinstance(about, list) else tuple(_array(parts[about]).tolist())


def _matrix_of(about: Any, parts: list[bytes]) -> Matrix | None:
    if about is None:
        return None
    if isinstance(about, int):
        return _array(parts[about])
    shape, *places = about
    X = sp.csr_array(tuple(_array(parts[place]) for place in places), shape=tuple(shape))
    X.check_format(full_check=True)
    return X


def _pictures(lengths: list[int], content: bytes) -> tuple[bytes | None, ...]:
    at, pictures = 0, []
    for length in lengths:
        pictures.append(None if length < 0 else content[at : at + length])
        at += max(length, 0)
    return tuple(pictures)


def _problem(fields: Mapping[str, Any]) -> Problem:
    return Problem(**fields)


def _npy(array: ArrayLike) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _array(content: bytes) -> Array:
    array: Array = np.load(io.BytesIO(content), allow_pickle=False)
    return array


def pack_cells(cells_by_file: Mapping[tuple[str, str, str], StoredCells]) -> dict[str, bytes]:
    """Return the cells of workbooks as bytes by file name."""
    out = {}
    for key, stored in cells_by_file.items():
        parts: list[bytes] = []
        sheets = []
        for sheet in stored.sheets:
            in_columns = isinstance(sheet.rows, ColumnRows)
            if isinstance(sheet.rows, ColumnRows):
                frame, lines = sheet.rows.to_frame()
            else:
                width = max((len(cells) for _, cells in sheet.rows), default=0)
                filled = [[*cells, *[None] * (width - len(cells))] for _, cells in sheet.rows]
                frame = pd.DataFrame(filled, columns=[str(at) for at in range(width)], dtype=TEXT)
                lines = np.array([line for line, _ in sheet.rows], dtype=np.int64)
            sheets.append([sheet.title, sheet.decimal, in_columns, len(parts), len(parts) + 1])
            parts += [arrow_bytes(frame), _npy(lines)]
        header = {
            "key": list(key),
            "sheets": sheets,
            "notes": [asdict(note) for note in stored.notes],
            "counts": [stored.n_unstored, stored.n_failed],
        }
        all_parts = (json.dumps(header).encode(), *parts)
        out[key[0]] = b"".join(_LENGTH.pack(len(part)) + part for part in all_parts)
    return out


def unpack_cells(content: bytes) -> tuple[tuple[str, str, str], StoredCells]:
    """Return the workbook cells that `pack_cells` packed."""
    with _damage_as_value_error():
        head, *parts = _split(content)
        header = json.loads(head)
        sheets = []
        for title, decimal, in_columns, cells, lines in header["sheets"]:
            at = _array(parts[lines])
            content = parts[cells]
            rows = (
                ColumnRows([], at, arrow_table_of(content), [])
                if in_columns
                else FrameRows(frame_of(content), at)[:]
            )
            sheets.append(SheetCells(title, decimal, rows))
        notes = tuple(map(_problem, header["notes"]))
        name, sheet, decimal = header["key"]
        return (name, sheet, decimal), StoredCells(tuple(sheets), notes, *header["counts"])


@contextmanager
def _damage_as_value_error() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, IndexError, struct.error, OSError) as error:
        raise ValueError("damaged") from error


def arrow_bytes(frame: pd.DataFrame) -> bytes:
    """Return a text table as an Arrow stream."""
    import pyarrow as pa

    columns = [arrow_texts(frame.iloc[:, at]) for at in range(frame.shape[1])]
    table = pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def frame_of(content: bytes, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a table that `arrow_bytes` wrote, or some of its columns."""
    import pyarrow as pa

    table = arrow_table_of(content)
    table = table if columns is None else table.select(columns)
    texts = {pa.large_string(): TEXT}
    frame: pd.DataFrame = table.to_pandas(types_mapper=texts.get, ignore_metadata=True)
    return frame


def arrow_table_of(content: bytes) -> pa.Table:
    """Return the Arrow table that `arrow_bytes` wrote."""
    import pyarrow as pa

    return pa.ipc.open_stream(pa.BufferReader(content)).read_all()
