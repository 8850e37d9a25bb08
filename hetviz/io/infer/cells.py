"""Conversion of text cells to typed columns and back without loss."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz.features.columns.types import Column, infer_all
from hetviz.io import gate, toml

_EXACT = re.compile(r"u?int(8|16|32|64)|float(32|64)|bool|datetime64\[(s|ms|us|ns)\]")
_TO_QUOTE = re.compile(r'[",;|\t\r\n]|^\s|\s$')
_HTML_CODE = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
_MISSING_MARKS = ("", "NA", "\\N", "<missing>")


def infer_types(frame: pd.DataFrame, decimal: str) -> tuple[pd.DataFrame, dict[str, Column]]:
    """Convert text columns to numbers where possible; dates and other text stay text."""
    columns = infer_all(frame, decimal)
    out: dict[str, Any] = {}
    for name, column in columns.items():
        if column.values.dtype != object and column.kind in ("number", "constant"):
            whole = column.whole and column.n_missing == 0
            out[name] = column.values.astype(np.int64) if whole else column.values
        elif column.values.dtype != object:
            out[name] = frame[name].where(~np.isnan(column.values))
        else:
            out[name] = frame[name].where(~pd.isna(column.values))
    return pd.DataFrame(out, index=range(len(frame))), columns


def html_cells(columns: Mapping[str, Column]) -> dict[str, dict[str, str]]:
    """Return the cells of each text column that contain HTML codes such as &amp;, as characters."""
    found = {
        name: {
            text: _HTML_CODE.sub(lambda code: html.unescape(code[0]), text)
            for text in column.levels
            if "&" in text and _HTML_CODE.search(text)
        }
        for name, column in columns.items()
    }
    return {name: plain for name, plain in found.items() if plain}


def restore_types(
    where: str, frame: pd.DataFrame, columns: Sequence[Mapping[str, object]], missing: str
) -> pd.DataFrame:
    """Convert text columns to the types that `describe_columns` returned."""
    if frame.shape[1] != len(columns):
        raise gate.refusal(
            "columns",
            where,
            f"{len(columns)} columns are declared but the file has a different number",
            frame.shape[1],
        )
    series = []
    for at, column in enumerate(columns):
        kind = column.get("type", "str")
        try:
            series.append(_restore(frame.iloc[:, at], kind, missing))
        except (ValueError, TypeError, OverflowError, RecursionError):
            place = f"{where}, column {column.get('name')}"
            raise gate.refusal("bad-cell", place, f"a cell is not of type {kind}") from None
    out = pd.concat(series, axis=1) if series else pd.DataFrame(index=frame.index)
    out.columns = pd.Index([column.get("name") for column in columns])
    return out


def describe_columns(
    where: str, frame: pd.DataFrame
) -> tuple[list[dict[str, str]], str, list[list[str]]]:
    """Return (name, type) of each column, the missing mark, and the columns as text."""
    if not all(type(name) in (str, int) for name in frame.columns):
        raise gate.refusal(
            "bad-column",
            where,
            "column names must be text",
            list(frame.columns)[:5],
            "Rename them.",
        )
    kinds = [_type_name(frame.iloc[:, at]) for at in range(frame.shape[1])]
    texts = {
        str(value)
        for at, kind in enumerate(kinds)
        if kind == "str"
        for value in frame.iloc[:, at].dropna()
    }
    marks = [*_MISSING_MARKS, *(f"<missing {n}>" for n in range(len(texts)))]
    missing = next(mark for mark in marks if mark not in texts)
    columns = [{"name": n, "type": k} for n, k in zip(frame.columns, kinds, strict=True)]
    cells = [
        _to_texts(f"{where}, column {name}", frame.iloc[:, at], kinds[at], missing)
        for at, name in enumerate(frame.columns)
    ]
    return columns, missing, cells


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write CSV that `hetviz.io.formats.delimited` reads back cell by cell."""
    lines = [",".join(map(_quoted, row)) for row in (header, *rows)]
    return "\n".join(lines) + "\n"


def csv_bytes(where: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Write CSV as UTF-8."""
    text = csv_text(header, rows)
    if "\0" in text:
        raise gate.refusal("bad-text", where, "a text contains a NUL character")
    return toml.encode(text, where)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE.search(cell) else cell


def _type_name(series: pd.Series) -> str:
    name = str(series.dtype)
    if _EXACT.fullmatch(name):
        return name
    if isinstance(series.dtype, pd.StringDtype) and series.dtype == TEXT:
        return "str"
    return "object"


def _to_texts(where: str, series: pd.Series, kind: str, missing: str) -> list[str]:
    if kind == "str":
        return [missing if pd.isna(value) else str(value) for value in series]
    if kind == "object":
        try:
            return [json.dumps(_plain(value), ensure_ascii=False) for value in series]
        except TypeError:
            raise gate.refusal(
                "bad-cell",
                where,
                "a cell contains a value that is neither text nor number",
                remedy="Turn the column into text.",
            ) from None
    if kind.startswith("datetime"):
        return ["" if pd.isna(value) else value.isoformat() for value in series]
    if kind == "float32":
        return [repr(float(value)) for value in series]
    return [str(value) for value in series.tolist()]


def _plain(value: object) -> Any:
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _restore(series: pd.Series, kind: object, missing: str) -> pd.Series:
    if kind == "str":
        return pd.Series(series.where(series != missing), dtype=TEXT)
    if kind == "object":
        values = np.empty(len(series), dtype=object)
        values[:] = [json.loads(cell) for cell in series.tolist()]
        return pd.Series(values, dtype=object)
    if not isinstance(kind, str) or not _EXACT.fullmatch(kind):
        raise ValueError
    if kind == "bool":
        if not series.isin(["True", "False"]).all():
            raise ValueError
        return series == "True"
    if kind.startswith("datetime"):
        dates = pd.Series(pd.to_datetime(series.where(series != ""), format="ISO8601"))
        return dates.dt.as_unit(kind[len("datetime64[") : -1])  # type: ignore[arg-type]
    read = float if kind.startswith("float") else int
    return pd.Series(np.array([read(cell) for cell in series.tolist()], dtype=kind))


def json_object(where: str, content: bytes) -> dict[str, Any]:
    """Read JSON that must be an object."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise gate.refusal("bad-json", where, "this is not valid JSON") from None
    if not isinstance(value, dict):
        raise gate.refusal("bad-json", where, "a JSON object is needed")
    return value
