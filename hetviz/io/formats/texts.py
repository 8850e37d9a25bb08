"""Text files as rows of a dataset, with the first line as title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import Problem
from hetviz.io import gate
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.delimited import TEXT_FORMAT, read_text
from hetviz.io.infer import dialect, encodings, text_tables
from hetviz.io.infer.parsed import Choices, Table

FILE, FOLDER = "file", "folder"
"""Columns of datasets with one row for each file."""
_MARKUP_EXTENSIONS = (".md", ".markdown", ".rst")
MAX_CHARACTERS = 1_000_000
_MAX_TITLE_CHARS = 120
_MAX_SHORT_LINES = 3


@dataclass(frozen=True)
class Text:
    """A text of a collection and its file."""

    file: str
    words: str


def text_of(where: str, name: str, content: bytes, choices: Choices, notes: list[Problem]) -> Text:
    """Decode a text file in the chosen or detected encoding."""
    words, _ = encodings.decode(where, content, choices.encoding, notes)
    words = words.strip()
    if not words:
        raise gate.refusal("empty-file", where, "the file contains no text")
    if len(words) > MAX_CHARACTERS:
        message = f"{len(words):,} characters, at most {MAX_CHARACTERS:,} are allowed in one text"
        raise gate.refusal("too-large", where, message, remedy="Cut it into chapters.")
    return Text(name, words)


def is_prose(name: str, words: str) -> bool:
    """Whether a text file is prose rather than a table."""
    if text_tables.is_drawn(words) or text_tables.is_pairs(words):
        return False
    return PurePosixPath(name).suffix.lower() in _MARKUP_EXTENSIONS or dialect.is_prose(words)


def may_be_prose(words: str) -> bool:
    """Whether a text is too short to tell prose from a table."""
    lines = [line for line in words.splitlines() if line.strip()]
    return len(lines) <= _MAX_SHORT_LINES and len(words.split()) > 2 * len(lines)


def text_rows(dataset_name: str, where: str, texts: Sequence[Text]) -> Table:
    """Return a dataset with one row per text: id, title, text, file and folder."""
    names = [text.file for text in texts]
    columns = {
        "id": ids_of_files(names),
        "title": [_title(text.words) for text in texts],
        "text": [text.words for text in texts],
    }
    folders = [PurePosixPath(name).parent.as_posix() for name in names]
    if len(set(folders)) > 1:
        columns[FOLDER] = ["" if folder == "." else folder for folder in folders]
    if columns["id"] != [PurePosixPath(name).stem for name in names]:
        columns[FILE] = names
    return Table(
        dataset_name,
        where,
        "dataset",
        pd.DataFrame(columns, dtype=TEXT),
        tuple(range(len(texts))),
        id_column="id",
        title_column="title",
        text_columns=("text",),
        facts={"texts": f"{len(texts):,}, one row each"},
    )


def _title(words: str) -> str:
    first = next(line for line in words.splitlines() if line.strip())
    title = " ".join(first.strip().lstrip("#=").split())
    return (
        title
        if len(title) <= _MAX_TITLE_CHARS
        else title[: _MAX_TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
    )


def ids_of_files(names: Sequence[str]) -> list[str]:
    """Return unique ids for files: stems, else names, else paths."""
    paths = [PurePosixPath(name) for name in names]
    for ids in ([path.stem for path in paths], [path.name for path in paths]):
        if len(set(ids)) == len(ids):
            return ids
    return list(names)


FORMATS = (
    FileFormat(
        "prose", "a text", "prose", (".txt", ".text", *_MARKUP_EXTENSIONS), read_text,
        is_plain_text=True, is_typed=False, own_options=TEXT_FORMAT.options
    ),
)  # fmt: skip
