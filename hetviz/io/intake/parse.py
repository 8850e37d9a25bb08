"""Reading of several files at once, with matrices and pictures joined to their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from hetviz._samples import MANIFEST
from hetviz._text import count
from hetviz.errors import DataError, HetvizError, MissingExtraError, Problem
from hetviz.io import gate, limits
from hetviz.io.datasets import images
from hetviz.io.datasets.matrices import join_matrices, square_table
from hetviz.io.files import Archive, Files
from hetviz.io.formats import texts
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.registry import (
    extensions_of,
    format_by_extension,
    format_of,
    open_archive,
    read_table,
)
from hetviz.io.infer import encodings
from hetviz.io.infer.parsed import Choices, Collection, FileParser, Table, TableReader, Tables, stem
from hetviz.io.infer.typed import typed_table
from hetviz.io.intake.isolated import parse_file

_SYSTEM_FILES = {"thumbs.db", "desktop.ini", "ehthumbs.db"}
_ABOUT_NAMES = {"readme", "license", "licence", "copying", "changelog", "notice"}
_MAX_NAMES_SHOWN = 5

FILE_SET_NAME = "files"
"""Name of a set of files uploaded together."""


def _parse_collection(name: str, files: Files, choices: Mapping[str, Choices]) -> Collection:
    """Parse files that belong together: members of a zip or folder, or uploaded together."""
    reading = _CollectionReader(name, files, choices)
    paths = {member: PurePosixPath(member) for member in files.names()}
    at_the_top = any(_is_table(path) and len(path.parts) == 1 for path in paths.values())
    for member, path in paths.items():
        # Tables in subfolders are usually results or drafts.
        below = len(path.parts) > 1 and name != FILE_SET_NAME and not is_system_file(path)
        if at_the_top and below and _is_table(path):
            reading.skipped.append(member)
        else:
            reading.add(member)
    return reading.result()


def _is_table(path: PurePosixPath) -> bool:
    file_format = _named_format(path)
    return file_format is not None and file_format.read is not None and file_format.kind != "prose"


def _named_format(path: PurePosixPath) -> FileFormat | None:
    """Return the format of the extension before .gz."""
    return format_by_extension(path.stem if path.suffix.lower() == ".gz" else path.name)


class _CollectionReader:
    def __init__(self, name: str, files: Files, choices: Mapping[str, Choices]) -> None:
        self.name, self.files, self.choices = name, files, choices
        self.problems: list[Problem] = []
        self.tables: list[Table] = []
        self.pictures: list[tuple[str, bytes]] = []
        self.texts: list[texts.Text] = []
        self.possible_texts: list[tuple[texts.Text, bytes]] = []
        self.about: list[str] = []
        self.skipped: list[str] = []
        self.n_junk = files.n_system_files if isinstance(files, Archive) else 0
        self.bytes_left = limits.MAX_UNPACKED_BYTES

    def add(self, member: str) -> None:
        path = PurePosixPath(member)
        named_format = _named_format(path)
        if is_system_file(path):
            self.n_junk += 1
        elif self.name != FILE_SET_NAME and (
            named_format is None or named_format.kind == "archive"
        ):
            self.skipped.append(member)
        elif is_about_file(path):
            self.about.append(member)
        else:
            try:
                self._read(member, named_format)
            except DataError as error:
                self.problems += error.problems
            except MissingExtraError as error:
                self.problems.append(Problem("missing-extra", member, str(error).rstrip(".")))

    def result(self) -> Collection:
        self._add_texts()
        pictures = None
        if self.pictures:
            called = "pictures" if self.name == FILE_SET_NAME else stem(self.name)
            pictures = images.picture_rows(called, self.name, self.pictures)
        self._note_skipped_files()
        if not self.tables and pictures is None:
            raise DataError(self.problems or [self._nothing_to_read()])
        return Collection(
            self.name, tuple(self.tables), pictures, tuple(self.problems), is_single_file=False
        )

    def _choice(self, member: str) -> Choices:
        return self.choices.get(member) or self.choices.get(self.name) or Choices()

    def _read(self, member: str, named_format: FileFormat | None) -> None:
        member, content = gate.unpack_gzip(member, self.files.read(member))
        self.bytes_left -= len(content)
        if self.bytes_left < 0:
            limit = f"{limits.MAX_UNPACKED_BYTES / limits.MB:,.0f} MB"
            raise gate.refusal(
                "too-large",
                f"{self.name}, {member}",
                f"the unpacked files are too large, at most {limit} are allowed in all",
            )
        file_format = format_of(member, content)
        is_prose = named_format is not None and named_format.kind == "prose"
        if file_format.kind == "picture":
            self.pictures.append((member, images.thumbnail(member, content)))
        elif file_format.is_plain_text and is_prose:
            self._text(member, content)
        elif file_format.kind == "archive":
            message = "a zip inside another zip is not opened"
            raise gate.refusal("nested-zip", member, message, remedy="Unpack it first.")
        else:
            self._table(member, content)

    def _text(self, member: str, content: bytes) -> None:
        choice = self._choice(member)
        text = texts.text_of(member, member, content, choice, self.problems)
        if choice.role is None and texts.is_prose(member, text.words):
            self.texts.append(text)
        elif choice.role is None and texts.may_be_prose(text.words):
            self.possible_texts.append((text, content))
        else:
            self._table(member, content)

    def _table(self, member: str, content: bytes) -> None:
        tables = parse_file(member, content, self._choice(member))
        self.tables += [replace(table, file=member) for table in tables]

    def _add_texts(self) -> None:
        """Add the texts as one dataset; a single text next to other files is documentation."""
        # A short text is prose if the other files are.
        for text, content in self.possible_texts:
            if self.texts:
                self.texts.append(text)
            else:
                self._table(text.file, content)
        if len(self.texts) == 1 and (self.tables or self.pictures):
            self.about.append(self.texts[0].file)
        elif self.texts:
            called = f"{stem(self.name)} texts" if self.pictures else stem(self.name)
            called = "texts" if self.name == FILE_SET_NAME else called
            self.tables.append(texts.text_rows(called, self.name, self.texts))
        if not (self.texts or self.tables or self.pictures) and self.about:
            message = "only files such as README were found, no data"
            self.problems.append(
                Problem("no-tables", self.name, message, ", ".join(self.about[:5]))
            )

    def _note_skipped_files(self) -> None:
        notes = (
            ("about-files", self.about, "such as README and LICENSE skipped"),
            ("passed-over", self.skipped, "of other kinds skipped"),
        )
        for code, members, message in notes:
            if members:
                names = ", ".join(members[:_MAX_NAMES_SHOWN]) + (
                    " ..." if len(members) > _MAX_NAMES_SHOWN else ""
                )
                many = count(len(members), "file")
                self.problems.append(
                    Problem(code, self.name, f"{many} {message}", names, severity="note")
                )
        if self.n_junk:
            message = f"{count(self.n_junk, 'system file')} skipped"
            self.problems.append(Problem("hidden-files", self.name, message, severity="note"))

    def _nothing_to_read(self) -> Problem:
        return Problem(
            "no-tables",
            self.name,
            "no table, picture or text was found",
            remedy="Give a zip or folder of CSV files, pictures or texts.",
        )


def is_about_file(path: PurePosixPath) -> bool:
    """Whether a file is documentation such as README."""
    return path.stem.lower() in _ABOUT_NAMES and path.suffix.lower() in extensions_of("prose")


def is_system_file(path: PurePosixPath) -> bool:
    """Whether a file is a system or hidden file."""
    hidden = any(part.startswith((".", "~$")) or part == "__MACOSX" for part in path.parts)
    return hidden or path.name.lower() in _SYSTEM_FILES


def _with_distinct_names(tables: Sequence[Table]) -> list[Table]:
    """Add the folder to the names of tables with the same name."""
    named: dict[str, set[str]] = {}
    for table in tables:
        named.setdefault(table.name, set()).add(PurePosixPath(table.where).parent.as_posix())
    out = []
    for table in tables:
        folder = PurePosixPath(table.where).parent.as_posix()
        again = len(named[table.name]) > 1 and folder != "."
        out.append(replace(table, name=f"{folder}/{table.name}") if again else table)
    return out


class FileSet:
    """Uploaded files, as `hetviz.io.files.Files`."""

    name = FILE_SET_NAME

    def __init__(self, files: Sequence[tuple[str, bytes]] = ()) -> None:
        self._files = dict(files)

    def names(self) -> list[str]:
        return list(self._files)

    def read(self, name: str) -> bytes:
        if name not in self._files:
            raise gate.refusal("no-file", name, "the file does not exist")
        return self._files[name]


def parse_files(files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]) -> Tables:
    """Parse several files to cells of text."""
    frames: list[Collection] = []
    refused: list[tuple[str, DataError]] = []
    formats: dict[str, FileFormat] = {}
    for name, content in files:
        try:
            formats[name] = format_of(name, content)
        except DataError as error:
            refused.append((name, error))
    separate = [
        (name, content)
        for name, content in files
        if name in formats and formats[name].kind != "archive"
    ]

    def is_row(name: str, content: bytes) -> bool:
        """Whether a whole file becomes one row."""
        file_format = formats[name]
        if file_format.kind == "picture":
            return True
        choice = choices.get(name, Choices())
        return file_format.is_plain_text and _is_prose_file(name, content, choice)

    if any(is_row(*file) for file in separate):
        try:
            frames.append(_parse_collection(FILE_SET_NAME, FileSet(separate), choices))
        except HetvizError as error:
            refused.append((FILE_SET_NAME, _as_data_error(FILE_SET_NAME, error)))
        separate = []
    content_of = dict(separate)
    for name, content in files:
        try:
            if name in formats and formats[name].kind == "archive":
                frames.append(_parse_archive(name, content, choices))
            elif name in content_of:
                tables = parse_file(name, content, choices.get(name))
                frames.append(Collection(name, tuple(replace(t, file=name) for t in tables)))
        except HetvizError as error:
            refused.append((name, _as_data_error(name, error)))
    recipe = _parsing_of(choices, [name for name, _ in files])
    return Tables(recipe, tuple(frames), tuple((name, e.problems) for name, e in refused))


def _parsing_of(choices: Mapping[str, Choices], names: Sequence[str]) -> dict[str, Choices]:
    return {name: choices.get(name, Choices()).for_parsing for name in names}


def parse_folder(files: Files, choices: Mapping[str, Choices] | None = None) -> Tables:
    """Parse the files of a folder or zip without a manifest."""
    collection = _parse_collection(files.name, files, choices or {})
    return Tables(_parsing_of(choices or {}, files.names()), (collection,))


def typed_tables(
    tables: Tables, choices: Mapping[str, Choices]
) -> tuple[list[Table], list[tuple[str, DataError]]]:
    """Return tables with column types, matrices joined to tables, and files left out."""
    out: list[Table] = []
    refused = [(name, DataError(problems)) for name, problems in tables.problems]
    for collection in tables.frames:
        try:
            out += _typed_collection(collection, choices)
        except DataError as error:
            refused.append((collection.name, error))
    return join_matrices(out, choices), refused


def _typed_collection(collection: Collection, choices: Mapping[str, Choices]) -> list[Table]:
    tables: list[Table] = []
    problems = list(collection.problems)
    for table in collection.tables:
        choice = choices.get(table.file) or choices.get(collection.name) or Choices()
        try:
            table = typed_table(table, choice)
            tables.append(table if choice.only_table else square_table(table, choice.matrix))
        except DataError as error:
            problems += error.problems
    if not collection.is_single_file:
        tables = join_matrices(_with_distinct_names(tables), choices)
    if collection.pictures is not None:
        tables = images.join_pictures(tables, collection.pictures)
        if len(tables) == 1 and collection.name != FILE_SET_NAME:
            # The name of the zip says more than the name of its list of pictures.
            tables = [replace(tables[0], name=stem(collection.name))]
    if not tables:
        raise DataError(problems)
    first = tables[0]
    return [replace(first, problems=(*first.problems, *problems)), *tables[1:]]


def read_one_table(
    name: str,
    content: bytes,
    parse: FileParser = parse_files,
    sheet: str = "",
    choices: Choices | None = None,
) -> Table:
    """Read the only table of a file of any kind."""
    if format_of(name, content).is_plain_text:
        return table_reader(parse)(name, content, choices)
    choices_of = {} if choices is None else {name: choices}
    tables, refused = typed_tables(parse([(name, content)], choices_of), choices_of)
    for _, error in refused:
        raise error
    candidates = [table for table in tables if table.name == sheet] or tables
    if len(candidates) != 1 or candidates[0].has_matrix or candidates[0].media is not None:
        names = ", ".join(table.name for table in tables)
        message = "exactly one table is needed here" if candidates else "a table is needed here"
        raise gate.refusal("not-a-table", name, message, names, "Save that one table as CSV.")
    return candidates[0]


def table_reader(parse: FileParser) -> TableReader:
    """Return a reader of text tables that uses `parse`."""

    def read(name: str, content: bytes, choices: Choices | None = None) -> Table:
        if not format_of(name, content).is_plain_text:
            return read_table(name, content, choices)
        choices_of = {name: replace(choices or Choices(), only_table=True)}
        tables, refused = typed_tables(parse([(name, content)], choices_of), choices_of)
        for _, error in refused:
            raise error
        return tables[0]

    return read


def _as_data_error(name: str, error: HetvizError) -> DataError:
    """Return any error of a file as a DataError."""
    if isinstance(error, DataError):
        return error
    return DataError.of("not-read", name, str(error).rstrip("."))


def _parse_archive(name: str, content: bytes, choices: Mapping[str, Choices]) -> Collection:
    archive = open_archive(name, content)
    if MANIFEST in archive.names():
        raise gate.refusal(
            "bundle-among-files",
            name,
            "this is a whole project, which cannot be opened together with other files",
            remedy="Open it by itself.",
        )
    return _parse_collection(name, archive, choices)


def _is_prose_file(name: str, content: bytes, choice: Choices) -> bool:
    """Whether a text file contains prose."""
    if choice.only_table:
        return False
    if PurePosixPath(name).suffix.lower() not in extensions_of("prose"):
        return False
    try:
        return texts.is_prose(name, encodings.decode(name, content, None, [])[0])
    except DataError:
        return False
