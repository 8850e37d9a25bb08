"""Reading files in a process of its own, which may be killed, hang or grow too large in our place.

``python -m hetviz.io.sandbox.child`` is that process, see `hetviz.io.sandbox.process`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any

from hetviz._samples import MANIFEST
from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits
from hetviz.io.files import Archive
from hetviz.io.formats import isolated
from hetviz.io.intake import parse, preview
from hetviz.io.intake.preview import TablePreview
from hetviz.io.parsed import Choices, ParsedFiles, Piece
from hetviz.io.sandbox import process

if TYPE_CHECKING:
    from hetviz.data import HeteroData
    from hetviz.data.joins.proposals import Proposal
    from hetviz.io.intake.loaded import Loaded

# Text tables up to this size are read in this process: nothing but the standard library opens them.
MAX_TEXT_BYTES_HERE = 5 * limits.MB
MAX_PREVIEW_BYTES_HERE = limits.MB // 4
_MAX_CELL_BYTES = 64 * limits.MB
_MODULE = "hetviz.io.sandbox.child"
# What is read is sound by then; texts of very many rows take their time.
_MAX_LOADING_S = 300
_READ_SHARE = 0.6
# Files of a bundle that end the process, each found by another attempt.
_MAX_FILES_LEFT_OUT = 3
_REJECTED_MARK, _LOADED_MARK = b"-", b"+"


def pack_files(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: process.OnProgress | None = None,
) -> bytes:
    """Return what `parse_files` gives, packed; files that are not plain are not unpacked here."""
    from hetviz.io.sandbox.pack_parts import pack_parsed

    if reads_here(files):
        return pack_parsed(parse.parse_files(files, choices))
    try:
        return _in_child(files, choices, "read", on_progress)
    except DataError as error:
        return pack_parsed(_read_each(files, choices, on_progress, error))


def parse_files(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: process.OnProgress | None = None,
) -> ParsedFiles:
    """Read files as `hetviz.io.intake.parse.parse_files` does, in a process with limits where need be.

    Where the process does not come to its end, each file is read by itself, so that one that cannot
    be read does not stop the others.
    """
    if reads_here(files):
        return parse.parse_files(files, choices)
    try:
        return _parse_in_child(files, choices, on_progress)
    except DataError as error:
        return _read_each(files, choices, on_progress, error)


def _read_each(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: process.OnProgress | None,
    error: DataError,
) -> ParsedFiles:
    """Read files whose process did not come to its end, for the reason that is told."""
    if len(files) == 1:
        return ParsedFiles((), ((files[0][0], error),))
    # Where the library for HDF5 may have been it, the others are not taken apart.
    suspects = [file for file in files if _is_kind(*file, "hdf5")]
    others = [file for file in files if file not in suspects] if suspects else []
    groups = [[file] for file in suspects or files]
    pieces: list[Piece] = []
    rejected: list[tuple[str, DataError]] = []
    for group in [others, *groups] if others else groups:
        parsed = parse_files(group, choices, on_progress)
        pieces += parsed.pieces
        rejected += parsed.rejected
    return ParsedFiles(tuple(pieces), tuple(rejected))


@dataclass(frozen=True)
class PreviewResult:
    """What was seen in files, and what the process that looked has at hand for later.

    Attributes
    ----------
    looks : list of Look
        None where the process does not come to its end: the reading then says why.
    packed_files : bytes
        What `parse_files` gives for them, packed; empty where that is no more work than to fetch it.
    cells : list of bytes
        The cells that were looked at, for each look, so that it can be changed without the file;
        none where they would take much room, or the look is made here in no time.
    parsed : dict of str to bytes
        By file what takes long to be parsed and does not hang on what is said of rows and columns:
        the cells of workbooks.
    """

    looks: list[TablePreview]
    packed_files: bytes = b""
    cells: list[bytes] = field(default_factory=list)
    parsed: dict[str, bytes] = field(default_factory=dict)


def preview_tables(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    heard: process.OnProgress | None = None,
    parsed: Sequence[bytes] = (),
) -> PreviewResult:
    """Look at files as `hetviz.io.intake.preview.preview_tables` does, in a process with limits.

    Parameters
    ----------
    files : sequence of (name, bytes)
    choices : mapping of file name to Choices
    heard : callable, optional
        See `hetviz.io.sandbox.process.run`.
    parsed : sequence of bytes
        What was parsed of them before, see `PreviewResult`.
    """
    if is_previewed_here(files):
        return PreviewResult(preview.preview_tables(files, choices))
    if all(_is_kind(*file, "hdf5") for file in files):
        # They hold no tables whose reading can be said.
        return PreviewResult([])
    try:
        output = process.read_parts(io.BytesIO(_in_child(files, choices, "look", heard, parsed)))
        looks = [TablePreview.from_dict(fields) for fields in json.loads(next(output))]
        packed_files, *parts_left = output
        n = int.from_bytes(parts_left.pop(0))
        return PreviewResult(
            looks, packed_files, parts_left[:n], dict(_named_parts(parts_left[n:]))
        )
    except (DataError, ValueError, StopIteration, IndexError):
        return PreviewResult([])


def _named_parts(parts: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    for name, content in zip(parts[::2], parts[1::2], strict=True):
        yield name.decode(), content


def load(
    files: Sequence[tuple[str, bytes]],
    packed_files: bytes | None,
    choices: Mapping[str, Choices],
    into: IO[bytes],
    base: HeteroData | None = None,
    on_progress: process.OnProgress | None = None,
    parsed: Sequence[bytes] = (),
) -> None:
    """Make data of files, with features, and find how they belong together.

    Parameters
    ----------
    files : sequence of (name, bytes)
    packed_files : bytes, optional
        What was read of them before, see `hetviz.io.sandbox.pack_parts.pack_parsed`.
    choices : mapping of file name to Choices
    into : file
        Gets the data, see `loaded_of`.
    base : HeteroData, optional
        What they are added to.
    on_progress : callable, optional
        See `hetviz.io.sandbox.process.run`.
    parsed : sequence of bytes
        See `PreviewResult`.

    Raises
    ------
    hetviz.errors.DataError
        If nothing can be used, or the process does not come to its end.
    """
    from hetviz.io.sandbox.pack_loaded import pack_base

    packed_data = b"" if base is None else pack_base(base)
    where = _joined_names(files)

    def run(packed_files: bytes | None) -> None:
        request = {
            "task": "load" if packed_files is None else "make",
            "names": [name for name, _ in files],
            "choices": _choices_as_dicts(choices),
            "parsed": len(parsed) if packed_files is None else 0,
        }
        contents = [content for _, content in files] if packed_files is None else [packed_files]
        contents += parsed if packed_files is None else ()
        into.seek(0)
        into.truncate()
        given = (json.dumps(request).encode(), packed_data, *contents)
        process.run(_MODULE, given, where, loading_seconds(), on_progress, into)

    # The library for HDF5 may turn for ever, so that such files are read with a limit of their own.
    reads_first = packed_files is None and any(
        _is_kind(name, content, "hdf5") for name, content in files
    )
    try:
        run(pack_files(files, choices, on_progress) if reads_first else packed_files)
    except DataError:
        if packed_files is not None or reads_first:
            raise
        # One file that cannot be read does not stop the others.
        run(pack_files(files, choices, on_progress))
    _raise_rejection(into, where)


def load_bundle(
    name: str, content: bytes, into: IO[bytes], on_progress: process.OnProgress | None = None
) -> None:
    """Make data of a zip as `hetviz.io.read_bundle` does: manifest, tables, features and pictures.

    Parameters
    ----------
    name : str
    content : bytes
    into : file
        Gets the data, see `loaded_of`.
    on_progress : callable, optional
        See `hetviz.io.sandbox.process.run`.

    Raises
    ------
    hetviz.errors.DataError
        If nothing can be used, or the process does not come to its end.
    """
    failed: dict[str, Problem] = {}
    while True:
        left_out = {member: asdict(problem) for member, problem in failed.items()}
        request = {
            "task": "bundle", "names": [name], "choices": {}, "parsed": 0, "without": left_out,
        }  # fmt: skip
        into.seek(0)
        into.truncate()
        try:
            process.run(
                _MODULE,
                (json.dumps(request).encode(), content),
                name,
                loading_seconds(),
                on_progress,
                into,
            )
            break
        except process.ReaderFailed as error:
            # One file that cannot be read does not stop the others: again without it.
            member = _member_being_read(name, content, error.last_message)
            if member is None or member in failed or len(failed) == _MAX_FILES_LEFT_OUT:
                raise
            (problem,) = error.problems
            failed[member] = replace(problem, where=f"{name}, {member}")
    _raise_rejection(into, name)


def _member_being_read(name: str, content: bytes, last_message: str) -> str | None:
    """Return the file of a bundle that a process was reading by what it told last, if it did."""
    with contextlib.suppress(DataError):
        members = [
            member
            for member in Archive(name, content).names()
            if _reading_message(member) == last_message
        ]
        if len(members) == 1 and members != [MANIFEST]:
            return members[0]
    return None


def _reading_message(member: str) -> str:
    return f"Reading {member}"[: process.MAX_MESSAGE_CHARS]


def loading_seconds() -> int:
    """Return the seconds of work that making data of files may take in all."""
    # Set by who runs the server; settings that are none are refused when it starts.
    return max(
        process.MAX_PROCESSOR_S, int(os.environ.get("HETVIZ_WORK_PROCESSOR_S") or _MAX_LOADING_S)
    )


def _raise_rejection(into: IO[bytes], where: str) -> None:
    into.seek(0)
    if into.read(1) == _REJECTED_MARK:
        try:
            problems = [Problem(**fields) for fields in json.loads(into.read())]
        except (ValueError, KeyError, TypeError):
            raise process.no_result_error(where) from None
        raise DataError(problems)


def loaded_of(
    content: memoryview, base: HeteroData | None = None
) -> tuple[Loaded, tuple[Proposal, ...]]:
    """Return the data that `load` made, and how they seem to belong together.

    They hold the content, of which nothing is copied that need not be.

    Raises
    ------
    hetviz.errors.DataError
        If the bytes mean nothing.
    """
    from hetviz.io.sandbox.pack_loaded import unpack_loaded

    try:
        return unpack_loaded(content[len(_LOADED_MARK) :], base)
    except ValueError:
        raise process.no_result_error("files") from None


def is_previewed_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are so plain and small that they are looked at in this process."""
    return reads_here(files) and sum(len(content) for _, content in files) <= MAX_PREVIEW_BYTES_HERE


def reads_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are so plain that they are read in this process."""
    return all(_is_small_text(name, content) for name, content in files)


def _is_small_text(name: str, content: bytes) -> bool:
    try:
        return len(content) <= MAX_TEXT_BYTES_HERE and gate.kind_of(name, content) == "text"
    except DataError:
        return True


def _parse_in_child(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: process.OnProgress | None,
) -> ParsedFiles:
    from hetviz.io.sandbox.pack_parts import unpack_parsed

    try:
        return unpack_parsed(_in_child(files, choices, "read", on_progress))
    except ValueError:
        raise process.no_result_error(_joined_names(files)) from None


def _joined_names(files: Sequence[tuple[str, bytes]]) -> str:
    return ", ".join(name for name, _ in files)[:200]


def _choices_as_dicts(choices: Mapping[str, Choices]) -> dict[str, Any]:
    return {name: asdict(choice) for name, choice in choices.items()}


def _in_child(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    task: str,
    on_progress: process.OnProgress | None = None,
    parsed: Sequence[bytes] = (),
) -> bytes:
    """Read or look at files in a process of their own; return what it wrote.

    Raises
    ------
    hetviz.errors.DataError
        If the process does not come to its end.
    """
    request = {
        "task": task,
        "names": [name for name, _ in files],
        "choices": _choices_as_dicts(choices),
        "parsed": len(parsed),
    }
    inputs = (json.dumps(request).encode(), *(content for _, content in files), *parsed)
    return process.run(_MODULE, inputs, _joined_names(files), _allowed_seconds(files), on_progress)


def _is_kind(name: str, content: bytes, kind: str) -> bool:
    try:
        return gate.kind_of(name, content) == kind
    except DataError:
        return False


def _allowed_seconds(files: Sequence[tuple[str, bytes]]) -> int:
    """Return the seconds of work that files may take."""
    try:
        return max(isolated.allowed_seconds(content) if gate.kind_of(name, content) == "hdf5"
                   else process.MAX_PROCESSOR_S for name, content in files)  # fmt: skip
    except DataError:
        return process.MAX_PROCESSOR_S


def _read_request(
    stream: IO[bytes],
) -> tuple[list[str], list[bytes], dict[str, Choices], str, dict[str, Problem]]:
    from hetviz.io.formats import workbooks
    from hetviz.io.sandbox.pack_parts import unpack_cells

    parts = list(process.read_parts(stream))
    about = json.loads(parts[0])
    choices = {name: isolated.choices_from_json(said) for name, said in about["choices"].items()}
    end = len(parts) - int(about["parsed"])
    # This process ends after its work: what it has parsed once it need not parse again.
    workbooks.keep_parsed(dict(map(unpack_cells, parts[end:])))
    without = {name: Problem(**fields) for name, fields in about.get("without", {}).items()}
    return about["names"], parts[1:end], choices, about["task"], without


def _load_tables(
    names: Sequence[str],
    parts: Sequence[bytes],
    choices: Mapping[str, Choices],
    task: str,
    report: process.OnProgress,
    failed: Mapping[str, Problem],
) -> Sequence[bytes | memoryview]:
    """Return what `load` writes, in the process; a refusal as JSON."""
    from hetviz.data.joins.proposals import propose_joins
    from hetviz.io.infer.dataset import read_tables
    from hetviz.io.sandbox.pack_loaded import pack_loaded, unpack_base
    from hetviz.io.sandbox.pack_parts import unpack_parsed
    from hetviz.progress import ProgressPart

    if task == "bundle":
        return _load_bundle(names[0], parts[0], report, failed)
    packed_data, *contents = parts
    base = unpack_base(packed_data) if packed_data else None
    files = list(zip(names, contents if task == "load" else [b""] * len(names), strict=True))
    if task == "load":
        report(0.05, f"Reading {_joined_names(files)}")
        parsed = parse.parse_files(files, choices)
        # What follows works on what was read, and is not what a damaged file makes hang.
        process.allow_all_seconds()
    else:
        parsed = unpack_parsed(contents[0])

    def on_progress(fraction: float, message: str = "", **_: object) -> None:
        report(fraction, message)

    progress = ProgressPart(on_progress, 0.3, 0.8)
    try:
        loaded = read_tables(files, choices, base, lambda *_: parsed, progress)
    except DataError as error:
        return [_REJECTED_MARK, json.dumps(list(map(asdict, error.problems))).encode()]
    report(0.8, "Looking for what belongs together")
    proposals = propose_joins(loaded.data)
    report(0.9, "Handing it over")
    return [_LOADED_MARK, *pack_loaded(loaded, proposals, base)]


class _BundleFiles(Archive):
    """The files of a bundle, of which each is told before it is read; some are left out."""

    def __init__(
        self, name: str, content: bytes, report: process.OnProgress, failed: Mapping[str, Problem]
    ) -> None:
        super().__init__(name, content)
        self._report, self._failed, self._n_read = report, failed, 0

    def read(self, name: str, most: int = limits.MAX_FILE_BYTES) -> bytes:
        """Return the content of a member, or why it is left out."""
        if name in self._failed:
            raise DataError(self._failed[name])
        self._n_read += 1
        share = min(1.0, self._n_read / max(1, len(self._members)))
        self._report(0.05 + 0.8 * share, _reading_message(name))
        return super().read(name, most)


def _load_bundle(
    name: str, content: bytes, report: process.OnProgress, failed: Mapping[str, Problem]
) -> Sequence[bytes | memoryview]:
    """Return what `load_bundle` writes, in the process."""
    from hetviz.data.joins.proposals import propose_joins
    from hetviz.io.bundle.reading import read_bundle
    from hetviz.io.sandbox.pack_loaded import pack_loaded

    def parse(files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]) -> ParsedFiles:
        # A damaged file has no longer to be read than by itself.
        process.allow_seconds(_allowed_seconds(files))
        try:
            return parse.parse_files(files, choices)
        finally:
            process.allow_all_seconds()

    report(0.05, f"Reading {name}")
    process.allow_all_seconds()
    try:
        archive = _BundleFiles(name, content, report, failed)
        loaded = read_bundle(archive if MANIFEST in archive.names() else content, name, parse)
    except DataError as error:
        return [_REJECTED_MARK, json.dumps(list(map(asdict, error.problems))).encode()]
    report(0.9, "Handing it over")
    # What comes with a map was joined by who made it.
    proposals = propose_joins(loaded.data) if loaded.map is None else ()
    return [_LOADED_MARK, *pack_loaded(loaded, proposals)]


def main() -> int:
    """Read files from standard input, and write what they hold to standard output."""
    process.apply_limits()
    tell = process.progress_writer()
    from hetviz.io.formats import workbooks
    from hetviz.io.sandbox.pack_parts import arrow_bytes, pack_cells, pack_parsed

    try:
        names, parts, choices, task, without = _read_request(sys.stdin.buffer)
        if task in ("load", "make", "bundle"):
            for part in _load_tables(names, parts, choices, task, tell, without):
                sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
            return 0
        files = list(zip(names, parts, strict=True))
        tell(0.1, f"Reading {_joined_names(files)}")
        if task == "look":
            looks = preview.preview_with_cells(files, choices)
            tell(_READ_SHARE, f"Reading {_joined_names(files)}")
            seen = json.dumps([look.to_dict() for look, _ in looks]).encode()
            cells = [arrow_bytes(frame) for _, frame in looks]
            cells = cells if sum(map(len, cells)) <= _MAX_CELL_BYTES else []
            del looks
            # Texts are read again in less time than what was read is carried about, and HDF5
            # files, in which the library may turn for ever, only in `load`.
            is_text = all(_is_kind(name, content, "text") for name, content in files)
            later = is_text or any(_is_kind(name, content, "hdf5") for name, content in files)
            read = b"" if later else pack_parsed(parse.parse_files(files, choices))
            parsed = pack_cells(workbooks.parsed_workbooks())
            if sum(map(len, parsed.values())) > _MAX_CELL_BYTES:
                parsed = {}
            named = [part for name, one in parsed.items() for part in (name.encode(), one)]
            number = len(cells).to_bytes(4)
            process.write_parts(sys.stdout.buffer, (seen, read, number, *cells, *named))
        else:
            sys.stdout.buffer.write(pack_parsed(parse.parse_files(files, choices)))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return process.TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
