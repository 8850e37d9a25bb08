"""Files that were handed in at once: each read as what it is, and joined where they belong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hetviz.errors import DataError, HetvizError, Problem
from hetviz.io import gate
from hetviz.io.files import MANIFEST, Archive, Files
from hetviz.io.formats.delimited import Choices, ReadTable, TableRead, read_table
from hetviz.io.formats.readers import read_pieces
from hetviz.io.formats.texts import PROSE
from hetviz.io.infer import dialect
from hetviz.io.intake.collection import TOGETHER, read_collection
from hetviz.io.matrices.join_by_id import matrices_joined
from hetviz.io.matrices.square import square_table
from hetviz.io.sandbox.piece import Piece, has_matrix, table_of


@dataclass(frozen=True, eq=False)
class Drop:
    """What there is in files that were handed in at once.

    Attributes
    ----------
    pieces : tuple of Piece
    refused : tuple of (file, DataError)
        Files of which nothing can be used; "files" stands for all that are read together.
    """

    pieces: tuple[Piece, ...]
    refused: tuple[tuple[str, DataError], ...] = ()


class Dropped:
    """Files that were dropped, as `hetviz.io.files.Files`."""

    name = TOGETHER

    def __init__(self, files: Sequence[tuple[str, bytes]]) -> None:
        self._files = dict(files)

    def names(self) -> list[str]:
        """Return the names of the files."""
        return list(self._files)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        if name not in self._files:
            raise gate.refusal("no-file", name, "there is no such file")
        return self._files[name]


def read_drop(files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]) -> Drop:
    """Read files that were handed in at once; matrices join the tables whose ids they give.

    Pictures and texts are read together with all other files, as a table among these may name them.
    """
    pieces: list[Piece] = []
    refused: list[tuple[str, DataError]] = []
    kinds: dict[str, str] = {}
    for name, content in files:
        try:
            kinds[name] = gate.kind_of(name, content)
        except DataError as error:
            refused.append((name, error))
    loose = [(name, content) for name, content in files if kinds.get(name, "zip") != "zip"]
    if any(
        kinds[name] in gate.PICTURES
        or (kinds[name] == "text" and _is_text(name, content, choices.get(name, Choices())))
        for name, content in loose
    ):
        try:
            pieces += read_collection(TOGETHER, Dropped(loose), choices)
        except HetvizError as error:
            refused.append((TOGETHER, _as_data_error(TOGETHER, error)))
        loose = []
    alone = dict(loose)
    for name, content in files:
        try:
            if kinds.get(name) == "zip":
                pieces += _archive(name, content, choices)
            elif name in alone:
                choice = choices.get(name, Choices())
                found = read_pieces(name, content, choice)
                if not choice.only_table:
                    found = [square_table(piece, choice.matrix) for piece in found]
                pieces += found
        except HetvizError as error:
            refused.append((name, _as_data_error(name, error)))
    return Drop(tuple(matrices_joined(pieces, choices)), tuple(refused))


Parse = Callable[[Sequence[tuple[str, bytes]], Mapping[str, Choices]], Drop]


def read_one_table(
    name: str, content: bytes, parse: Parse = read_drop, sheet: str = ""
) -> TableRead:
    """Read the one table of a file of any kind that holds tables.

    Parameters
    ----------
    name : str
    content : bytes
    parse : callable
        Reads the bytes.
    sheet : str
        Which table is meant where there are several, by name.

    Raises
    ------
    hetviz.errors.DataError
        If it holds no table, or several of which none is called so.
    """
    if gate.kind_of(name, content) == "text":
        return table_reader(parse)(name, content, None)
    drop = parse([(name, content)], {})
    for _, error in drop.refused:
        raise error
    tables = [piece for piece in drop.pieces if piece.frame is not None]
    meant = [piece for piece in tables if piece.name == sheet] or tables
    if len(meant) != 1 or has_matrix(meant[0]):
        found = ", ".join(piece.name for piece in drop.pieces)
        what = "one table is needed here" if meant else "a table is needed here"
        raise gate.refusal("not-a-table", name, what, found, "Save that one table as CSV.")
    return table_of(meant[0])


def table_reader(parse: Parse) -> ReadTable:
    """Return a reader of text tables that works by `parse`, see `delimited.read_table`."""

    def read(name: str, content: bytes, choices: Choices | None = None) -> TableRead:
        if gate.kind_of(name, content) != "text":
            return read_table(name, content, choices)
        said = replace(choices or Choices(), only_table=True)
        drop = parse([(name, content)], {name: said})
        for _, error in drop.refused:
            raise error
        return table_of(drop.pieces[0])

    return read


def read_folder(files: Files) -> Drop:
    """Read the files of a folder or zip without a manifest.

    Raises
    ------
    hetviz.errors.DataError
        If nothing in it can be read.
    """
    return Drop(tuple(read_collection(files.name, files, {})))


def _as_data_error(name: str, error: HetvizError) -> DataError:
    """Return an error about one file, such as that its format needs a package."""
    if isinstance(error, DataError):
        return error
    return DataError(Problem("not-read", name, str(error).rstrip(".")))


def _archive(name: str, content: bytes, choices: Mapping[str, Choices]) -> list[Piece]:
    archive = Archive(name, content)
    if MANIFEST in archive.names():
        raise gate.refusal(
            "bundle-among-files",
            name,
            "this is a whole project, which other files cannot join",
            remedy="Open it by itself.",
        )
    return read_collection(name, archive, choices)


def _is_text(name: str, content: bytes, choice: Choices) -> bool:
    """Whether a file named as text holds sentences."""
    if choice.only_table:
        return False
    if name.lower().endswith(PROSE):
        return True
    if not name.lower().endswith(".txt"):
        return False
    try:
        return dialect.is_prose(dialect.decode(name, content, None, [])[0])
    except DataError:
        return False
