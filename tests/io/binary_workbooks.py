"""Workbooks in the binary forms of Excel, XLS and XLSB, which no library here writes.

No more than what a reader needs: texts in place and in the shared table, numbers in the long and
the short form, true and false, and errors of formulas.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tests.io.file_builders import packed

# Bytes that a record of XLS holds at most; what is longer goes on in another.
MOST = 8224
_SECTOR, _AT_LEAST = 512, 4096
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


@dataclass(frozen=True)
class Failed:
    """What a formula left that failed."""

    code: int


def xls(sheets, *, shared=True, most=MOST):
    """A workbook of Excel 97 of {title: rows}; of shared texts `most` bytes stand in a record."""
    return _compound(_workbook(sheets, shared, most))


def xlsb(sheets, *, shared=True):
    """A binary workbook of {title: rows}."""
    texts = _shared_of(sheets) if shared else {}
    book = [_part(0x83), _part(0x8F)]
    links, parts = [], []
    for number, (title, rows) in enumerate(sheets.items(), start=1):
        book.append(
            _part(0x9C, struct.pack("<2I", 0, number) + _wide(f"rId{number}") + _wide(title))
        )
        links.append((f"rId{number}", "worksheet", f"worksheets/sheet{number}.bin"))
        parts.append((f"xl/worksheets/sheet{number}.bin", _sheet_parts(rows, texts)))
    book += [_part(0x90), _part(0x84)]
    if shared:
        links.append(("rIdT", "sharedStrings", "sharedStrings.bin"))
        items = b"".join(_part(0x13, b"\0" + _wide(text)) for text in texts)
        counts = struct.pack("<2I", len(texts), len(texts))
        parts.append(("xl/sharedStrings.bin", _part(0x9F, counts) + items + _part(0xA0)))
    types = (
        '<?xml version="1.0" encoding="UTF-8"?><Types '
        'xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.'
        'main"/><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>'
    )
    return packed(
        [
            ("[Content_Types].xml", types),
            ("_rels/.rels", _relations([("rId1", "officeDocument", "xl/workbook.bin")])),
            ("xl/workbook.bin", b"".join(book)),
            ("xl/_rels/workbook.bin.rels", _relations(links)),
            *parts,
        ]
    )


def _shared_of(sheets):
    """Each text with its place."""
    texts = (v for rows in sheets.values() for row in rows for v in row if isinstance(v, str))
    return {text: place for place, text in enumerate(dict.fromkeys(texts))}


def _short(value):
    """A whole number as four bytes (RK), or None where it does not fit."""
    fits = isinstance(value, int) and -(2**29) <= value < 2**29
    return struct.pack("<i", value << 2 | 2) if fits else None


# XLS


def _record(kind, content=b""):
    return struct.pack("<2H", kind, len(content)) + content


def _letters(text):
    """Whether letters take two bytes, their number, and they themselves."""
    wide = any(ord(letter) > 255 for letter in text)
    content = text.encode("utf-16-le" if wide else "latin-1")
    return bytes([wide]), len(content) // (1 + wide), content


def _workbook(sheets, shared, most):
    """The stream: what holds for the book, then one sheet after the other."""
    texts = _shared_of(sheets) if shared else {}
    bodies = [_sheet_records(rows, texts) for rows in sheets.values()]
    table = _text_table(texts, most) if shared else b""

    def globals_at(places):
        out = _begin(5) + _record(0x42, struct.pack("<H", 1200))
        for title, place in zip(sheets, places, strict=True):
            wide, n, content = _letters(title)
            out += _record(0x85, struct.pack("<I2BB", place, 0, 0, n) + wide + content)
        return out + table + _record(0x0A)

    at, places = len(globals_at([0] * len(bodies))), []
    for body in bodies:
        places.append(at)
        at += len(body)
    return globals_at(places) + b"".join(bodies)


def _begin(kind):
    return _record(0x809, struct.pack("<4H2I", 0x600, kind, 0x0DBB, 0x07CC, 0, 6))


def _text_table(texts, most):
    """The shared texts (SST), which go on in other records, also within a text."""
    blocks = [bytearray(struct.pack("<2I", len(texts), len(texts)))]
    for text in texts:
        wide, n, _ = _letters(text)
        head = struct.pack("<H", n) + wide
        if len(blocks[-1]) + len(head) > most:
            blocks.append(bytearray())
        blocks[-1] += head
        for letter in text:
            content = letter.encode("utf-16-le" if wide[0] else "latin-1")
            if len(blocks[-1]) + len(content) > most:
                blocks.append(bytearray(wide))
            blocks[-1] += content
    return b"".join(
        _record(0x3C if place else 0xFC, bytes(block)) for place, block in enumerate(blocks)
    )


def _sheet_records(rows, texts):
    width = max(map(len, rows))
    out = _begin(0x10) + _record(0x200, struct.pack("<2I3H", 0, len(rows), 0, width, 0))
    for at, row in enumerate(rows):
        for column, value in enumerate(row):
            place, short = struct.pack("<3H", at, column, 0), _short(value)
            if value is None:
                continue
            if isinstance(value, Failed):
                out += _record(0x205, place + bytes([value.code, 1]))
            elif isinstance(value, bool):
                out += _record(0x205, place + bytes([value, 0]))
            elif isinstance(value, str) and value in texts:
                out += _record(0xFD, place + struct.pack("<I", texts[value]))
            elif isinstance(value, str):
                wide, n, content = _letters(value)
                out += _record(0x204, place + struct.pack("<H", n) + wide + content)
            elif short is not None:
                out += _record(0x27E, place + short)
            else:
                out += _record(0x203, place + struct.pack("<d", value))
    return out + _record(0x0A)


def _compound(stream):
    """A compound file (OLE2) with one stream, long enough to be kept in whole sectors."""
    stream = stream.ljust(_AT_LEAST, b"\0")
    stream += bytes(-len(stream) % _SECTOR)
    n, n_fat = len(stream) // _SECTOR, 1
    while (n_fat + 1 + n) * 4 > n_fat * _SECTOR:
        n_fat += 1
    first = n_fat + 1
    table = [*[_FAT] * n_fat, _END, *range(first + 1, first + n), _END]
    table += [_FREE] * (n_fat * _SECTOR // 4 - len(table))
    kept = [*range(n_fat), *[_FREE] * (109 - n_fat)]
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16)
    header += struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, n_fat, n_fat, 0, _AT_LEAST, _END, 0, _END, 0)
    folder = _entry("Root Entry", 5, 1, _END, 0) + _entry("Workbook", 2, _FREE, first, len(stream))
    folder += (bytes(68) + struct.pack("<3I", _FREE, _FREE, _FREE) + bytes(48)) * 2
    return (
        header
        + struct.pack("<109I", *kept)
        + struct.pack(f"<{len(table)}I", *table)
        + folder
        + stream
    )


def _entry(name, kind, child, start, size):
    content = f"{name}\0".encode("utf-16-le")
    head = content.ljust(64, b"\0") + struct.pack("<H2B", len(content), kind, 1)
    return (
        head + struct.pack("<3I", _FREE, _FREE, child) + bytes(36) + struct.pack("<IQ", start, size)
    )


# XLSB


def _part(kind, content=b""):
    """A record: its kind in one byte or two, its length in sevens of bits."""
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    length, left = b"", len(content)
    while left > 127:
        length, left = length + bytes([left & 0x7F | 0x80]), left >> 7
    return head + length + bytes([left]) + content


def _wide(text):
    content = text.encode("utf-16-le")
    return struct.pack("<I", len(content) // 2) + content


def _sheet_parts(rows, texts):
    width = max(map(len, rows))
    size = struct.pack("<4I", 0, len(rows) - 1, 0, width - 1)
    out = _part(0x81) + _part(0x94, size) + _part(0x91)
    for at, row in enumerate(rows):
        out += _part(0x00, struct.pack("<2IH3BI", at, 0, 300, 0, 0, 0, 0))
        for column, value in enumerate(row):
            place, short = struct.pack("<2I", column, 0), _short(value)
            if value is None:
                continue
            if isinstance(value, Failed):
                out += _part(0x03, place + bytes([value.code]))
            elif isinstance(value, bool):
                out += _part(0x04, place + bytes([value]))
            elif isinstance(value, str) and value in texts:
                out += _part(0x07, place + struct.pack("<I", texts[value]))
            elif isinstance(value, str):
                out += _part(0x06, place + _wide(value))
            elif short is not None:
                out += _part(0x02, place + short)
            else:
                out += _part(0x05, place + struct.pack("<d", value))
    return out + _part(0x92) + _part(0x82)


def _relations(links):
    space = "http://schemas.openxmlformats.org"
    body = "".join(
        f'<Relationship Id="{name}" Type="{space}/officeDocument/2006/relationships/{kind}" '
        f'Target="{target}"/>'
        for name, kind, target in links
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f'{head}<Relationships xmlns="{space}/package/2006/relationships">{body}</Relationships>'
