"""Files of many kinds as bytes, made for the tests."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pandas as pd
from openpyxl import Workbook
from PIL import Image


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


def picture(size=(8, 6), kind="PNG"):
    buffer = io.BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(buffer, kind)
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
