"""Which reader takes which kind of file; see `hetviz.io.gate.kind_of` for the kinds."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from hetviz.io import gate
from hetviz.io.formats.delimited import read_table
from hetviz.io.formats.network_texts import NAMES, is_address, read_network
from hetviz.io.parsed import Choices, FileReader, Piece, piece_from_table, stem


def read_pieces(name: str, content: bytes, choices: Choices | None = None) -> list[Piece]:
    """Read what is in a file that stands by itself: not a picture, not a zip.

    Raises
    ------
    hetviz.errors.DataError
        If it is of no kind that is read, or damaged, or too large.
    """
    kind = gate.kind_of(name, content)
    reader = READERS.get(kind)
    if reader is None:
        raise gate.refusal(
            "not-a-table",
            name,
            f"a table is needed, and this is {gate.KINDS[kind]}",
            remedy="Give a table, or a zip of tables and pictures.",
        )
    return reader(name, content, choices or Choices())


def _text(name: str, content: bytes, choices: Choices) -> list[Piece]:
    if is_address(content):
        raise gate.refusal(
            "web-address",
            name,
            "the file holds a web address, and nothing is fetched from the web",
            remedy="Save the file at that address on this computer first.",
        )
    if name.lower().endswith(NAMES) and choices.separator is None:
        return read_network(name, content, choices)
    return [piece_from_table(stem(name), read_table(name, content, choices))]


def _later(module: str, function: str) -> FileReader:
    """Return a reader whose module is imported when it is first needed."""

    def read(name: str, content: bytes, choices: Choices) -> list[Piece]:
        reader = cast("Reader", getattr(import_module(f"hetviz.io.formats.{module}"), function))
        return reader(name, content, choices)

    return read


READERS: Mapping[str, FileReader] = {
    "text": _text,
    "json": _later("json_tables", "read_json"),
    "jsonl": _later("json_tables", "read_lines"),
    "parquet": _later("parquet", "read_parquet"),
    **dict.fromkeys(("xlsx", "ods"), _later("workbooks", "read_workbook")),
    **dict.fromkeys(("xls", "xlsb"), _later("isolated", "read_binary_book")),
    "arrow": _later("parquet", "read_arrow"),
    "stata": _later("statistics", "read_stata"),
    "spss": _later("statistics", "read_spss"),
    "sas": _later("statistics", "read_sas"),
    "sas-transport": _later("statistics", "read_transport"),
    "sqlite": _later("databases", "read_sqlite"),
    "duckdb": _later("databases", "read_duckdb"),
    "npy": _later("arrays", "read_npy"),
    "npz": _later("arrays", "read_npz"),
    "graphml": _later("graphml", "read_graphml"),
    "gexf": _later("gexf", "read_gexf"),
    "gml": _later("gml", "read_gml"),
    "hdf5": _later("isolated", "read_hdf5"),
}
