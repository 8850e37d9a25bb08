"""Reading of files in a separate process that may crash, hang or run out of memory.

``python -m hetviz.io.sandbox.child`` is the child process, see `hetviz.io.sandbox.process`.
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
from hetviz.codec import Buffer
from hetviz.errors import DataError, Problem
from hetviz.io import limits
from hetviz.io.files import Archive
from hetviz.io.formats.registry import format_of, open_archive
from hetviz.io.intake import parse, preview
from hetviz.io.intake.preview import TablePreview
from hetviz.io.parsed import Choices, ParsedFiles, Piece
from hetviz.io.sandbox import isolated, process

if TYPE_CHECKING:
    from hetviz.data import HeteroData
    from hetviz.data.joins.proposals import Proposal
    from hetviz.io.intake.loaded import Loaded

# Text tables up to this size are parsed in this process, by the standard library only.
MAX_TEXT_BYTES_HERE = 5 * limits.MB
MAX_PREVIEW_BYTES_HERE = limits.MB // 4
_MAX_CELL_BYTES = 64 * limits.MB
_MODULE = "hetviz.io.sandbox.child"
# The files are parsed by then; features of long texts take time.
_MAX_LOADING_S = 300
_READ_SHARE = 0.6
# Maximum number of bundle files that may crash the reader; each needs another attempt.
_MAX_FILES_LEFT_OUT = 3
_REJECTED_MARK, _LOADED_MARK = b"-", b"+"


def pack_files(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: process.OnProgress | None = None,
) -> bytes:
    """Return the packed result of `parse_files`; only plain files are parsed in this process."""
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
    """Parse files as `hetviz.io.intake.parse.parse_files` does, in a limited process if needed."""
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
    """Parse files one by one after their common process failed."""
    if len(files) == 1:
        return ParsedFiles((), ((files[0][0], error),))
    # If an HDF5 file may be the cause, keep the other files together.
    suspects = [file for file in files if isolated.can_hang(*file)]
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
    """Previews of files, with parsed content for later use."""

    looks: list[TablePreview]
    packed_files: bytes = b""
    cells: list[bytes] = field(default_factory=list)
    parsed: dict[str, bytes] = field(default_factory=dict)


def preview_tables(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: process.OnProgress | None = None,
    parsed: Sequence[bytes] = (),
) -> PreviewResult:
    """Preview files as `hetviz.io.intake.preview.preview_tables` does, in a limited process."""
    if is_previewed_here(files):
        return PreviewResult(preview.preview_tables(files, choices))
    if all(isolated.can_hang(*file) for file in files):
        # HDF5 files have no tables with reading options.
        return PreviewResult([])
    try:
        output = process.read_parts(
            io.BytesIO(_in_child(files, choices, "look", on_progress, parsed))
        )
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
    """Load files with features and join proposals in a separate process, into a file."""
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
        inputs = (json.dumps(request).encode(), packed_data, *contents)
        process.run(_MODULE, inputs, where, loading_seconds(), on_progress, into)

    # The HDF5 library can hang, so such files are parsed first with their own limit.
    reads_first = packed_files is None and any(
        isolated.can_hang(name, content) for name, content in files
    )
    try:
        run(pack_files(files, choices, on_progress) if reads_first else packed_files)
    except DataError:
        if packed_files is not None or reads_first:
            raise
        # One unreadable file must not stop the others.
        run(pack_files(files, choices, on_progress))
    _raise_rejection(into, where)


def load_bundle(
    name: str, content: bytes, into: IO[bytes], on_progress: process.OnProgress | None = None
) -> None:
    """Load a bundle as `hetviz.io.read_bundle` does, in a separate process."""
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
            # One unreadable file must not stop the others: try again without it.
            member = _member_being_read(name, content, error.last_message)
            if member is None or member in failed or len(failed) == _MAX_FILES_LEFT_OUT:
                raise
            (problem,) = error.problems
            failed[member] = replace(problem, where=f"{name}, {member}")
    _raise_rejection(into, name)


def _member_being_read(name: str, content: bytes, last_message: str) -> str | None:
    """Return the bundle file that a failed process was reading, from its last message."""
    with contextlib.suppress(DataError):
        members = [
            member
            for member in open_archive(name, content).names()
            if _reading_message(member) == last_message
        ]
        if len(members) == 1 and members != [MANIFEST]:
            return members[0]
    return None


def _reading_message(member: str) -> str:
    return f"Reading {member}"[: process.MAX_MESSAGE_CHARS]


def loading_seconds() -> int:
    """Return the allowed processor time for loading files, in seconds."""
    # Set by the server configuration, which checks it at start.
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
    """Return the data and join proposals that `load` wrote, without copying arrays."""
    from hetviz.io.sandbox.pack_loaded import unpack_loaded

    try:
        return unpack_loaded(content[len(_LOADED_MARK) :], base)
    except ValueError:
        raise process.no_result_error("files") from None


def is_previewed_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are plain and small enough to be previewed in this process."""
    return reads_here(files) and sum(len(content) for _, content in files) <= MAX_PREVIEW_BYTES_HERE


def reads_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are plain enough to be parsed in this process."""
    return all(_is_small_text(name, content) for name, content in files)


def _is_small_text(name: str, content: bytes) -> bool:
    try:
        return len(content) <= MAX_TEXT_BYTES_HERE and format_of(name, content).is_plain_text
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
    """Parse or preview files in a separate process and return its output."""
    request = {
        "task": task,
        "names": [name for name, _ in files],
        "choices": _choices_as_dicts(choices),
        "parsed": len(parsed),
    }
    inputs = (json.dumps(request).encode(), *(content for _, content in files), *parsed)
    return process.run(_MODULE, inputs, _joined_names(files), _allowed_seconds(files), on_progress)


def _is_plain_text(name: str, content: bytes) -> bool:
    try:
        return format_of(name, content).is_plain_text
    except DataError:
        return False


def _allowed_seconds(files: Sequence[tuple[str, bytes]]) -> int:
    """Return the allowed processor time for files, in seconds."""
    try:
        return max(isolated.allowed_seconds(*file) for file in files)
    except DataError:
        return process.MAX_PROCESSOR_S


def _read_request(
    stream: IO[bytes],
) -> tuple[list[str], list[bytes], dict[str, Choices], str, dict[str, Problem]]:
    from hetviz.io.formats import workbooks
    from hetviz.io.sandbox.pack_parts import unpack_cells

    parts = list(process.read_parts(stream))
    request = json.loads(parts[0])
    choices = {
        name: isolated.choices_from_json(choice) for name, choice in request["choices"].items()
    }
    end = len(parts) - int(request["parsed"])
    # Cache parsed workbooks in this short-lived process.
    workbooks.keep_parsed(dict(map(unpack_cells, parts[end:])))
    failed = {name: Problem(**fields) for name, fields in request.get("without", {}).items()}
    return request["names"], parts[1:end], choices, request["task"], failed


def _load_tables(
    names: Sequence[str],
    parts: Sequence[bytes],
    choices: Mapping[str, Choices],
    task: str,
    report: process.OnProgress,
    failed: Mapping[str, Problem],
) -> Sequence[Buffer]:
    """Return the output of the child process for `load`; a rejection as JSON."""
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
        # The rest works on parsed data and cannot hang on a damaged file.
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
    report(0.8, "Looking for links between tables")
    proposals = propose_joins(loaded.data)
    report(0.9, "Finishing")
    return [_LOADED_MARK, *pack_loaded(loaded, proposals, base)]


class _BundleFiles(Archive):
    """The files of a bundle, reported before each is read, without failed ones."""

    def __init__(
        self, name: str, content: bytes, report: process.OnProgress, failed: Mapping[str, Problem]
    ) -> None:
        format_of(name, content)
        super().__init__(name, content)
        self._report, self._failed, self._n_read = report, failed, 0

    def read(self, name: str, max_bytes: int = limits.MAX_FILE_BYTES) -> bytes:
        """Return the content of a member, or raise its problem."""
        if name in self._failed:
            raise DataError(self._failed[name])
        self._n_read += 1
        share = min(1.0, self._n_read / max(1, len(self._members)))
        self._report(0.05 + 0.8 * share, _reading_message(name))
        return super().read(name, max_bytes)


def _load_bundle(
    name: str, content: bytes, report: process.OnProgress, failed: Mapping[str, Problem]
) -> Sequence[Buffer]:
    """Return the output of the child process for `load_bundle`."""
    from hetviz.data.joins.proposals import propose_joins
    from hetviz.io.bundle.reading import read_bundle
    from hetviz.io.sandbox.pack_loaded import pack_loaded

    def parse_with_limit(
        files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]
    ) -> ParsedFiles:
        # A damaged file gets no more time than when it is read alone.
        process.allow_seconds(_allowed_seconds(files))
        try:
            return parse.parse_files(files, choices)
        finally:
            process.allow_all_seconds()

    report(0.05, f"Reading {name}")
    process.allow_all_seconds()
    try:
        archive = _BundleFiles(name, content, report, failed)
        loaded = read_bundle(
            archive if MANIFEST in archive.names() else content, name, parse_with_limit
        )
    except DataError as error:
        return [_REJECTED_MARK, json.dumps(list(map(asdict, error.problems))).encode()]
    report(0.9, "Finishing")
    # Data with a map are already joined by their author.
    proposals = propose_joins(loaded.data) if loaded.map is None else ()
    return [_LOADED_MARK, *pack_loaded(loaded, proposals)]


def main() -> int:
    """Read files from standard input and write their parsed content to standard output."""
    process.apply_limits()
    report = process.progress_writer()
    from hetviz.io.formats import workbooks
    from hetviz.io.sandbox.pack_parts import arrow_bytes, pack_cells, pack_parsed

    try:
        names, parts, choices, task, failed = _read_request(sys.stdin.buffer)
        if task in ("load", "make", "bundle"):
            for part in _load_tables(names, parts, choices, task, report, failed):
                sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
            return 0
        files = list(zip(names, parts, strict=True))
        report(0.1, f"Reading {_joined_names(files)}")
        if task == "look":
            looks = preview.preview_with_cells(files, choices)
            report(_READ_SHARE, f"Reading {_joined_names(files)}")
            previews = json.dumps([look.to_dict() for look, _ in looks]).encode()
            cells = [arrow_bytes(frame) for _, frame in looks]
            cells = cells if sum(map(len, cells)) <= _MAX_CELL_BYTES else []
            del looks
            # Parsing text again is faster than transferring it. HDF5 files, which can hang,
            # are parsed in `load` only.
            is_text = all(_is_plain_text(name, content) for name, content in files)
            is_read_later = is_text or any(
                isolated.can_hang(name, content) for name, content in files
            )
            packed_files = b"" if is_read_later else pack_parsed(parse.parse_files(files, choices))
            parsed = pack_cells(workbooks.parsed_workbooks())
            if sum(map(len, parsed.values())) > _MAX_CELL_BYTES:
                parsed = {}
            named_parts = [
                part
                for name, packed_cells_of_file in parsed.items()
                for part in (name.encode(), packed_cells_of_file)
            ]
            number = len(cells).to_bytes(4)
            process.write_parts(
                sys.stdout.buffer, (previews, packed_files, number, *cells, *named_parts)
            )
        else:
            sys.stdout.buffer.write(pack_parsed(parse.parse_files(files, choices)))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return process.TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
