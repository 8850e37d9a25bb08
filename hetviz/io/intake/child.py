"""Reading of files in a separate process that may crash, hang or run out of memory.

``python -m hetviz.io.intake.child`` is the child process, see `hetviz.workers.reader`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from hetviz._samples import MANIFEST
from hetviz.codec import Buffer, decode, encode_buffers
from hetviz.errors import DataError, Problem
from hetviz.io import limits
from hetviz.io.files import Archive
from hetviz.io.formats import registry
from hetviz.io.formats.registry import format_of, open_archive
from hetviz.io.infer.parsed import Choices, Collection, Tables, pack_tables, unpack_tables
from hetviz.io.intake import isolated, parse, preview
from hetviz.io.intake.isolated import REQUEST_RECORDS, Request, joined_names, tables_of
from hetviz.io.intake.preview import TablePreview, pack_previews, unpack_previews
from hetviz.workers import reader

if TYPE_CHECKING:
    from hetviz.data import HeteroData
    from hetviz.data.joins.proposals import Proposal
    from hetviz.io.bundle.loaded import Loaded

# Text tables up to this size are parsed in this process, by the standard library only.
MAX_TEXT_BYTES_HERE = 5 * limits.MB
MAX_PREVIEW_BYTES_HERE = limits.MB // 4
# The files are parsed by then; features of long texts take time.
_MAX_LOADING_S = 300
_READ_SHARE = 0.6
# Maximum number of bundle files that may crash the reader; each needs another attempt.
_MAX_FILES_LEFT_OUT = 3


def pack_files(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: reader.OnProgress | None = None,
) -> bytes:
    """Return the container of parsed files, read in a limited process if needed."""
    if reads_here(files):
        return pack_tables(parse.parse_files(files, choices))
    try:
        return _in_child(files, choices, "parse", on_progress)
    except DataError as error:
        return pack_tables(_parse_each(files, choices, on_progress, error))


def parse_files(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: reader.OnProgress | None = None,
) -> Tables:
    """Parse files as `hetviz.io.intake.parse.parse_files` does, in a limited process if needed."""
    if reads_here(files):
        return parse.parse_files(files, choices)
    try:
        return tables_of(_in_child(files, choices, "parse", on_progress), joined_names(files))
    except DataError as error:
        return _parse_each(files, choices, on_progress, error)


def _parse_each(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    on_progress: reader.OnProgress | None,
    error: DataError,
) -> Tables:
    """Parse files one by one after their common process failed."""
    if len(files) == 1:
        ((name, _),) = files
        return Tables({name: Choices()}, (), ((name, error.problems),))
    # If an HDF5 file may be the cause, keep the other files together.
    suspects = [file for file in files if isolated.can_hang(*file)]
    others = [file for file in files if file not in suspects] if suspects else []
    groups = [[file] for file in suspects or files]
    parts = [
        parse_files(group, choices, on_progress)
        for group in ([others, *groups] if others else groups)
    ]
    return Tables(
        {name: choice for part in parts for name, choice in part.recipe.items()},
        tuple(collection for part in parts for collection in part.frames),
        tuple(problems for part in parts for problems in part.problems),
    )


def preview_tables(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    container: Buffer | None = None,
    on_progress: reader.OnProgress | None = None,
) -> tuple[list[TablePreview], bytes]:
    """Preview files in a limited process; also return their container if they are parsed here."""
    # HDF5 files, which can hang, have no tables with reading options.
    tables = [file for file in files if not isolated.can_hang(*file)]
    if not tables:
        return [], b""
    try:
        previews, parsed = decode(_in_child(tables, choices, "look", on_progress, container))
        return unpack_previews(previews), parsed if len(tables) == len(files) else b""
    except (DataError, ValueError):
        return [], b""


def load(
    files: Sequence[tuple[str, bytes]],
    container: Buffer | None,
    choices: Mapping[str, Choices],
    into: IO[bytes],
    base: HeteroData | None = None,
    on_progress: reader.OnProgress | None = None,
) -> None:
    """Load files with features and join proposals in a separate process, into a file."""
    from hetviz.io.intake.pack_loaded import pack_base

    packed_data = None if base is None else pack_base(base)

    def run(container: Buffer | None) -> None:
        into.seek(0)
        into.truncate()
        request = _request(files, choices, "load", container, packed_data)
        request.run(loading_seconds(), on_progress, into)

    # The HDF5 library can hang, so such files are parsed first with their own limit.
    reads_first = container is None and any(
        isolated.can_hang(name, content) for name, content in files
    )
    try:
        run(pack_files(files, choices, on_progress) if reads_first else container)
    except reader.ReaderFailed as error:
        is_damaged = container is not None and error.problems[0].code == "reader-ended"
        if reads_first or (container is not None and not is_damaged):
            raise
        # One unreadable file must not stop the others, nor cells of an earlier version.
        run(pack_files(files, choices, on_progress))


def load_bundle(
    name: str, content: bytes, into: IO[bytes], on_progress: reader.OnProgress | None = None
) -> None:
    """Load a bundle as `hetviz.io.read_bundle` does, in a separate reader."""
    failed: dict[str, Problem] = {}
    while True:
        request = Request("bundle", ((name, content),), {}, without=failed)
        into.seek(0)
        into.truncate()
        try:
            request.run(loading_seconds(), on_progress, into)
            break
        except reader.ReaderFailed as error:
            # One unreadable file must not stop the others: try again without it.
            member = _member_being_read(name, content, error.last_message)
            if member is None or member in failed or len(failed) == _MAX_FILES_LEFT_OUT:
                raise
            (problem,) = error.problems
            failed[member] = replace(problem, where=f"{name}, {member}")


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
    return f"Reading {member}"[: reader.MAX_MESSAGE_CHARS]


def loading_seconds() -> int:
    """Return the allowed processor time for loading files, in seconds."""
    # Set by the server configuration, which checks it at start.
    return max(
        reader.MAX_PROCESSOR_S, int(os.environ.get("HETVIZ_WORK_PROCESSOR_S") or _MAX_LOADING_S)
    )


def loaded_of(
    content: memoryview, base: HeteroData | None = None
) -> tuple[Loaded, tuple[Proposal, ...]]:
    """Return the data and join proposals that `load` wrote, without copying arrays."""
    from hetviz.io.intake.pack_loaded import unpack_loaded

    try:
        return unpack_loaded(content, base)
    except ValueError:
        raise reader.no_result_error("files") from None


def is_previewed_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are plain and small enough to be previewed in this reader."""
    return reads_here(files) and sum(len(content) for _, content in files) <= MAX_PREVIEW_BYTES_HERE


def reads_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are plain enough to be parsed in this reader."""
    return all(_is_small_text(name, content) for name, content in files)


def _is_small_text(name: str, content: bytes) -> bool:
    try:
        return len(content) <= MAX_TEXT_BYTES_HERE and format_of(name, content).is_plain_text
    except DataError:
        return True


def _request(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    task: str,
    container: Buffer | None = None,
    packed_data: bytes | None = None,
) -> Request:
    """Return a request for files, without their content if they are parsed."""
    if container is not None:
        files = [(name, b"") for name, _ in files]
    return Request(task, tuple(files), choices, container, packed_data)


def _in_child(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    task: str,
    on_progress: reader.OnProgress | None = None,
    container: Buffer | None = None,
) -> bytes:
    """Parse or preview files in a separate process and return its answer."""
    request = _request(files, choices, task, container)
    return request.run(_allowed_seconds(files), on_progress)


def _allowed_seconds(files: Sequence[tuple[str, bytes]]) -> int:
    """Return the allowed processor time for files, in seconds."""
    try:
        return max(isolated.allowed_seconds(*file) for file in files)
    except DataError:
        return reader.MAX_PROCESSOR_S


def _tables(request: Request, report: reader.OnProgress, share: float) -> Tables:
    """Return the tables of the files, which are parsed only once."""
    if request.container is not None:
        return unpack_tables(request.container)
    report(share, f"Reading {request.names}")
    return parse.parse_files(request.files, request.choices)


def _load_tables(request: Request, report: reader.OnProgress) -> Sequence[Buffer]:
    from hetviz.data.joins.proposals import propose_joins
    from hetviz.io.intake.make_data import make_data
    from hetviz.io.intake.pack_loaded import pack_loaded, unpack_base
    from hetviz.progress import ProgressPart

    base = None if request.base is None else unpack_base(request.base)
    tables = _tables(request, report, 0.05)
    # The rest works on parsed data and cannot hang on a damaged file.
    reader.allow_all_seconds()

    def on_progress(fraction: float, message: str = "", **_: object) -> None:
        report(fraction, message)

    progress = ProgressPart(on_progress, 0.3, 0.8)
    loaded = make_data(tables, request.choices, base, progress)
    report(0.8, "Looking for links between tables")
    proposals = propose_joins(loaded.data)
    report(0.9, "Finishing")
    return pack_loaded(loaded, proposals, base)


class _BundleFiles(Archive):
    """The files of a bundle, reported before each is read, without failed ones."""

    def __init__(
        self, name: str, content: bytes, report: reader.OnProgress, failed: Mapping[str, Problem]
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


def _load_bundle(request: Request, report: reader.OnProgress) -> Sequence[Buffer]:
    from hetviz.data.joins.proposals import propose_joins
    from hetviz.io.intake.pack_loaded import pack_loaded
    from hetviz.io.intake.reading import read_bundle

    def parse_with_limit(
        files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]
    ) -> Tables:
        # A damaged file gets no more time than when it is read alone.
        reader.allow_seconds(_allowed_seconds(files))
        try:
            return parse.parse_files(files, choices)
        finally:
            reader.allow_all_seconds()

    ((name, content),) = request.files
    report(0.05, f"Reading {name}")
    reader.allow_all_seconds()
    archive = _BundleFiles(name, content, report, request.without)
    is_bundle = MANIFEST in archive.names()
    loaded = read_bundle(archive if is_bundle else content, name, parse_with_limit)
    report(0.9, "Finishing")
    # Data with a map are already joined by their author.
    proposals = propose_joins(loaded.data) if loaded.map is None else ()
    return pack_loaded(loaded, proposals)


def _answer(content: bytes, report: reader.OnProgress) -> Sequence[Buffer]:
    request: Request = decode(content, REQUEST_RECORDS)
    if request.task == "load":
        return _load_tables(request, report)
    if request.task == "bundle":
        return _load_bundle(request, report)
    if request.task == "file":
        ((name, file_content),) = request.files
        tables = registry.parse_file(name, file_content, request.choices[name])
        return [pack_tables(Tables({}, (Collection(name, tuple(tables)),)))]
    parsed = _tables(request, report, 0.1)
    if request.task == "parse":
        return [pack_tables(parsed)]
    report(_READ_SHARE, f"Reading {request.names}")
    looks = pack_previews(preview.preview_tables(parsed, request.choices))
    return encode_buffers([looks, b"" if request.container else pack_tables(parsed)])


def main() -> int:
    """Answer a request on standard input within the limits."""
    return reader.serve(_answer)


if __name__ == "__main__":
    sys.exit(main())
