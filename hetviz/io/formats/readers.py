"""The reader of each kind of file (kinds: see `hetviz.io.gate.kind_of`)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from hetviz.io import gate
from hetviz.io.formats.delimited import read_table
from hetviz.io.formats.network_texts import NETWORK_EXTENSIONS, is_address, read_network
from hetviz.io.parsed import Choices, FileReader, Piece, piece_from_table, stem


def read_pieces(name: str, content: bytes, choices: Choices | None = None) -> list[Piece]:
    """Read the datasets, links and comparisons in a file that is neither a picture nor a zip."""
    kind = gate.kind_of(name, content)
    reader = READERS.get(kind)
    if reader is None:
        raise gate.refusal(
            "not-a-table",
            name,
            f"a table is needed, but this is {gate.KINDS[kind]}",
            remedy="Give a table, or a zip of tables and pictures.",
        )
    return reader(name, content, choices or Choices())


def _read_text(name: str, content: bytes, choices: Choices) -> list[Piece]:
    if is_address(content):
        raise gate.refusal(
            "web-address",
            name,
            "the file only contains a web address, but hetviz only reads files on this computer",
            remedy="Save the file at that address on this computer first.",
        )
    if name.lower().endswith(NETWORK_EXTENSIONS) and choices.separator is None:
        return read_network(name, content, choices)
    return [piece_from_table(stem(name), read_table(name, content, choices))]


def _lazy_reader(module: str, function: str) -> FileReader:
    """Return a reader that imports its module on first use."""

    def read(name: str, content: bytes, choices: Choices) -> list[Piece]:
        reader = cast("FileReader", getattr(import_module(f"hetviz.io.formats.{module}"), function))
        return reader(name, content, choices)

    return read


READERS: Mapping[str, FileReader] = {
    "text": _read_text,
    "json": _lazy_reader("json_tables", "read_json"),
    "jsonl": _lazy_reader("json_tables", "read_lines"),
    "parquet": _lazy_reader("parquet", "read_parquet"),
    **dict.fromkeys(("xlsx", "ods"), _lazy_reader("workbooks", "read_workbook")),
    **dict.fromkeys(("xls", "xlsb"), _lazy_reader("isolated", "read_binary_workbook")),
    "arrow": _lazy_reader("parquet", "read_arrow"),
    "stata": _lazy_reader("statistics", "read_stata"),
    "spss": _lazy_reader("statistics", "read_spss"),
    "sas": _lazy_reader("statistics", "read_sas"),
    "sas-transport": _lazy_reader("statistics", "read_transport"),
    "sqlite": _lazy_reader("databases", "read_sqlite"),
    "duckdb": _lazy_reader("databases", "read_duckdb"),
    "npy": _lazy_reader("arrays", "read_npy"),
    "npz": _lazy_reader("arrays", "read_npz"),
    "graphml": _lazy_reader("graphml", "read_graphml"),
    "gexf": _lazy_reader("gexf", "read_gexf"),
    "gml": _lazy_reader("gml", "read_gml"),
    "hdf5": _lazy_reader("isolated", "read_hdf5"),
}
