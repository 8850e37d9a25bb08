"""Files of many kinds as bytes, made for the tests."""

from __future__ import annotations

import io
import sqlite3
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from openpyxl import Workbook
from PIL import Image

from hetviz.io.infer.parsed import Choices
from hetviz.io.infer.typed import typed_table
from hetviz.io.intake import preview
from hetviz.io.intake.isolated import parse_file
from hetviz.io.intake.parse import parse_files


def packed(members, method=zipfile.ZIP_DEFLATED):
    """A zip of (name, content)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def unpacked(content):
    """The members of a zip as {name: content}."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def picture(size=(8, 6), kind="PNG", mode="RGB"):
    buffer = io.BytesIO()
    Image.new("RGB", (1, 1), (200, 30, 30)).convert(mode).resize(size).save(buffer, kind)
    return buffer.getvalue()


def parquet(frame, **options):
    buffer = io.BytesIO()
    pd.DataFrame(frame).to_parquet(buffer, **options)
    return buffer.getvalue()


def workbook(sheets, then=None):
    """A workbook of {title: rows}; `then` may change it before it is saved."""
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    if then is not None:
        then(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def arrow(frame, *, stream=False):
    table = pa.Table.from_pandas(pd.DataFrame(frame), preserve_index=False)
    buffer = io.BytesIO()
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def sqlite(*statements):
    """An SQLite database made by statements."""
    database = sqlite3.connect(":memory:")
    for statement in statements:
        database.execute(statement)
    database.commit()
    content = database.serialize()
    database.close()
    return content


def duckdb(*statements):
    """A DuckDB database made by statements."""
    duckdb = pytest.importorskip("duckdb")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.duckdb")
        with duckdb.connect(str(path)) as database:
            for statement in statements:
                database.execute(statement)
        return path.read_bytes()


def statistics(kind, frame, **options):
    """A file of Stata (dta), SPSS (sav) or SAS (xport)."""
    pyreadstat = pytest.importorskip("pyreadstat")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t")
        getattr(pyreadstat, f"write_{kind}")(pd.DataFrame(frame), str(path), **options)
        return path.read_bytes()


def spreadsheet(sheets):
    """An OpenDocument spreadsheet of {title: rows}."""
    space = "urn:oasis:names:tc:opendocument:xmlns"
    body = ""
    for title, rows in sheets.items():
        cells = ""
        for row in rows:
            cells += "<table:table-row>"
            for value in row:
                if isinstance(value, (int, float)):
                    cells += f'<table:table-cell office:value-type="float" office:value="{value}"/>'
                else:
                    kind = 'office:value-type="string"'
                    cells += f"<table:table-cell {kind}><text:p>{value}</text:p></table:table-cell>"
            cells += "</table:table-row>"
        body += f'<table:table table:name="{title}">{cells}</table:table>'
    content = (
        f'<?xml version="1.0"?><office:document-content xmlns:office="{space}:office:1.0" '
        f'xmlns:table="{space}:table:1.0" xmlns:text="{space}:text:1.0"><office:body>'
        f"<office:spreadsheet>{body}</office:spreadsheet></office:body></office:document-content>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    return buffer.getvalue()


def file_tables(name, content, choices=None):
    """The tables of one file, each with its column types."""
    choices = choices or Choices()
    return [typed_table(table, choices) for table in parse_file(name, content, choices)]


def previews(files, choices=None):
    """What is shown of the tables of files before they are opened."""
    return preview.preview_tables(parse_files(files, choices or {}), choices)


def raw_tables(files, choices=None, parse=parse_files):
    """The raw rows of the tables of files by file and sheet."""
    tables = preview._raw_tables(parse(files, choices or {}))
    return {key: raw for key, (_, raw, _) in tables.items()}
