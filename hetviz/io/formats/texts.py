"""Texts to rows: each file is one row, with its first line as title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import Problem
from hetviz.io import gate
from hetviz.io.formats.images import FILE, FOLDER, ids_of_files
from hetviz.io.infer import dialect, encodings, text_tables
from hetviz.io.parsed import Choices, Piece

PROSE_EXTENSIONS = (".md", ".markdown", ".rst")
MAX_CHARACTERS = 1_000_000
_MAX_TITLE_CHARS = 120
_MAX_SHORT_LINES = 3
_MAX_NAMES_SHOWN = 5


@dataclass(frozen=True)
class Text:
    """One text of a collection: the file it was, and its words."""

    file: str
    words: str


def text_of(where: str, name: str, content: bytes, choices: Choices, notes: list[Problem]) -> Text:
    """Decode a file; the encoding is detected where the user does not say.

    Raises
    ------
    hetviz.errors.DataError
        If it is no text, has no words, or is too long for one cell.
    """
    words, _ = encodings.decode(where, content, choices.encoding, notes)
    words = words.strip()
    if not words:
        raise gate.refusal("empty-file", where, "there are no words in it")
    if len(words) > MAX_CHARACTERS:
        message = f"{len(words):,} characters; {MAX_CHARACTERS:,} are allowed in one text"
        raise gate.refusal("too-large", where, message, remedy="Cut it into chapters.")
    return Text(name, words)


def is_prose(name: str, words: str) -> bool:
    """Whether a text file is to be read, not to be looked up in as a table."""
    if text_tables.is_drawn(words) or text_tables.is_pairs(words):
        return False
    return PurePosixPath(name).suffix.lower() in PROSE_EXTENSIONS or dialect.is_prose(words)


def may_be_prose(words: str) -> bool:
    """Whether a file is too short to say if it is a table: a line or two, with several words."""
    lines = [line for line in words.splitlines() if line.strip()]
    return len(lines) <= _MAX_SHORT_LINES and len(words.split()) > 2 * len(lines)


def text_rows(called: str, where: str, texts: Sequence[Text], problems: Sequence[Problem]) -> Piece:
    """Return a dataset of one row for each text: columns id, title, text, file and folder.

    The id is the name without ending where all of these differ, else the path.
    """
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
    return Piece(
        called,
        where,
        "dataset",
        pd.DataFrame(columns, dtype=TEXT),
        tuple(range(len(texts))),
        id_column="id",
        title_column="title",
        text_columns=("text",),
        facts={"texts": f"{len(texts):,}, one row each"},
        problems=_merge_encoding_notes(where, problems),
    )


def _title(words: str) -> str:
    first = next(line for line in words.splitlines() if line.strip())
    title = " ".join(first.strip().lstrip("#=").split())
    return (
        title
        if len(title) <= _MAX_TITLE_CHARS
        else title[: _MAX_TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
    )


def _merge_encoding_notes(where: str, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Say once of all files in which encoding they were read; nobody reads a note a file."""
    encoding_notes = [problem for problem in problems if problem.code == "encoding"]
    others = [problem for problem in problems if problem.code != "encoding"]
    if not encoding_notes:
        return tuple(others)
    names = ", ".join(problem.where for problem in encoding_notes[:_MAX_NAMES_SHOWN])
    message = f"{len(encoding_notes):,} of the texts are not UTF-8; their encoding was guessed"
    remedy = "Look at accented letters; save as UTF-8 if they are wrong."
    return (*others, Problem("encoding", where, message, names, remedy, severity="note"))
