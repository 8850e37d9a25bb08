"""Tables of a zip that contains only tables."""

from __future__ import annotations

from pathlib import PurePosixPath

from hetviz._samples import MANIFEST
from hetviz.errors import DataError
from hetviz.io import limits
from hetviz.io.files import PROJECT, Archive
from hetviz.io.formats.registry import extensions_of, kind_of
from hetviz.io.infer.parsed import stem
from hetviz.io.intake.parse import is_about_file, is_system_file

_MAX_MEMBERS = 50


def tables_of_zip(name: str, content: bytes) -> dict[str, bytes] | None:
    """Return the tables of a zip that contains only tables, None for any other file."""
    try:
        if kind_of(name, content) != "zip":
            return None
        archive = Archive(name, content)
        members = [PurePosixPath(member) for member in archive.names()]
        if {MANIFEST, PROJECT} & set(archive.names()):
            return None
        members = [path for path in members if not is_system_file(path) and not is_about_file(path)]
        names = {stem(path.name) for path in members}
        folders = {path.parent for path in members}
        extensions = extensions_of("table", "workbook", "database")
        plain = all(path.suffix.lower() in extensions for path in members) and len(folders) == 1
        if not plain or len(names) < len(members) or not 0 < len(members) <= _MAX_MEMBERS:
            return None
        tables: dict[str, bytes] = {}
        for path in members:
            tables[path.name] = archive.read(str(path))
            if sum(map(len, tables.values())) > limits.MAX_FILE_BYTES:
                return None
    except DataError:
        return None
    return tables
