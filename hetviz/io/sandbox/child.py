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
SMALL = 5 * limits.MB
LOOKED_AT_HERE = limits.MB // 4
_MOST_CELLS = 64 * limits.MB
_MODULE = "hetviz.io.sandbox.child"
# What is read is sound by then; texts of very many rows take their time.
_MAKING_S = 300
_READ = 0.6
# Files of a bundle that end the process, each found by another attempt.
_MOST_LEFT_OUT = 3
_REFUSED, _MADE = b"-", b"+"


def packed_drop(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    heard: process.Heard | None = None,
) -> bytes:
    """Return what `parse_files` gives, packed; files that are not plain are not unpacked here."""
    from hetviz.io.sandbox.pack_parts import packed

    if reads_here(files):
        return packed(parse.parse_files(files, choices))
    try:
        return _in_child(files, choices, "read", heard)
    except DataError as error:
        return packed(_one_by_one(files, choices, heard, error))


def read_drop(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    heard: process.Heard | None = None,
) -> ParsedFiles:
    """Read files as `hetviz.io.intake.parse.parse_files` does, in a process with limits where need be.

    Where the process does not come to its end, each file is read by itself, so that one that cannot
    be read does not stop the others.
    """
    if reads_here(files):
        return parse.parse_files(files, choices)
    try:
        return _drop_in_child(files, choices, heard)
    except DataError as error:
        return _one_by_one(files, choices, heard, error)


def _one_by_one(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    heard: process.Heard | None,
    error: DataError,
) -> ParsedFiles:
    """Read files whose process did not come to its end, for the reason that is told."""
    if len(files) == 1:
        return ParsedFiles((), ((files[0][0], error),))
    # Where the library for HDF5 may have been it, the others are not taken apart.
    suspects = [file for file in files if _is_kind(*file, "hdf5")]
    others = [file for file in files if file not in suspects] if suspects else []
    each = [[file] for file in suspects or files]
    pieces: list[Piece] = []
    refused: list[tuple[str, DataError]] = []
    for some in [others, *each] if others else each:
        alone = read_drop(some, choices, heard)
        pieces += alone.pieces
        refused += alone.rejected
    return ParsedFiles(tuple(pieces), tuple(refused))


@dataclass(frozen=True)
class Looked:
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


def look_at(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    heard: process.Heard | None = None,
    parsed: Sequence[bytes] = (),
) -> Looked:
    """Look at files as `hetviz.io.intake.preview.preview_tables` does, in a process with limits.

    Parameters
    ----------
    files : sequence of (name, bytes)
    choices : mapping of file name to Choices
    heard : callable, optional
        See `hetviz.io.sandbox.process.run`.
    parsed : sequence of bytes
        What was parsed of them before, see `Looked`.
    """
    if is_looked_at_here(files):
        return Looked(preview.preview_tables(files, choices))
    if all(_is_kind(*file, "hdf5") for file in files):
        # They hold no tables whose reading can be said.
        return Looked([])
    try:
        output = process.parts(io.BytesIO(_in_child(files, choices, "look", heard, parsed)))
        looks = [TablePreview.from_dict(fields) for fields in json.loads(next(output))]
        packed_files, *parts_left = output
        n = int.from_bytes(parts_left.pop(0))
        return Looked(looks, packed_files, parts_left[:n], dict(_named_parts(parts_left[n:])))
    except (DataError, ValueError, StopIteration, IndexError):
        return Looked([])


def _named_parts(parts: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    for name, content in zip(parts[::2], parts[1::2], strict=True):
        yield name.decode(), content


def load(
    files: Sequence[tuple[str, bytes]],
    packed_files: bytes | None,
    choices: Mapping[str, Choices],
    into: IO[bytes],
    base: HeteroData | None = None,
    heard: process.Heard | None = None,
    parsed: Sequence[bytes] = (),
) -> None:
    """Make data of files, with features, and find how they belong together.

    Parameters
    ----------
    files : sequence of (name, bytes)
    packed_files : bytes, optional
        What was read of them before, see `hetviz.io.sandbox.pack_parts.packed`.
    choices : mapping of file name to Choices
    into : file
        Gets the data, see `loaded_of`.
    base : HeteroData, optional
        What they are added to.
    heard : callable, optional
        See `hetviz.io.sandbox.process.run`.
    parsed : sequence of bytes
        See `Looked`.

    Raises
    ------
    hetviz.errors.DataError
        If nothing can be used, or the process does not come to its end.
    """
    from hetviz.io.sandbox.pack_loaded import packed_base

    packed_data = b"" if base is None else packed_base(base)
    where = _named(files)

    def run(packed_files: bytes | None) -> None:
        about = {
            "task": "load" if packed_files is None else "make",
            "names": [name for name, _ in files],
            "choices": _given(choices),
            "parsed": len(parsed) if packed_files is None else 0,
        }
        contents = [content for _, content in files] if packed_files is None else [packed_files]
        contents += parsed if packed_files is None else ()
        into.seek(0)
        into.truncate()
        given = (json.dumps(about).encode(), packed_data, *contents)
        process.run(_MODULE, given, where, making_s(), heard, into)

    # The library for HDF5 may turn for ever, so that such files are read with a limit of their own.
    reads_first = packed_files is None and any(
        _is_kind(name, content, "hdf5") for name, content in files
    )
    try:
        run(packed_drop(files, choices, heard) if reads_first else packed_files)
    except DataError:
        if packed_files is not None or reads_first:
            raise
        # One file that cannot be read does not stop the others.
        run(packed_drop(files, choices, heard))
    _raise_refusal(into, where)


def load_bundle(
    name: str, content: bytes, into: IO[bytes], heard: process.Heard | None = None
) -> None:
    """Make data of a zip as `hetviz.io.read_bundle` does: manifest, tables, features and pictures.

    Parameters
    ----------
    name : str
    content : bytes
    into : file
        Gets the data, see `loaded_of`.
    heard : callable, optional
        See `hetviz.io.sandbox.process.run`.

    Raises
    ------
    hetviz.errors.DataError
        If nothing can be used, or the process does not come to its end.
    """
    without: dict[str, Problem] = {}
    while True:
        left_out = {member: asdict(problem) for member, problem in without.items()}
        about = {
            "task": "bundle", "names": [name], "choices": {}, "parsed": 0, "without": left_out,
        }  # fmt: skip
        into.seek(0)
        into.truncate()
        try:
            process.run(
                _MODULE, (json.dumps(about).encode(), content), name, making_s(), heard, into
            )
            break
        except process.Ended as error:
            # One file that cannot be read does not stop the others: again without it.
            member = _being_read(name, content, error.told)
            if member is None or member in without or len(without) == _MOST_LEFT_OUT:
                raise
            (problem,) = error.problems
            without[member] = replace(problem, where=f"{name}, {member}")
    _raise_refusal(into, name)


def _being_read(name: str, content: bytes, told: str) -> str | None:
    """Return the file of a bundle that a process was reading by what it told last, if it did."""
    with contextlib.suppress(DataError):
        named = [one for one in Archive(name, content).names() if _reading(one) == told]
        if len(named) == 1 and named != [MANIFEST]:
            return named[0]
    return None


def _reading(member: str) -> str:
    return f"Reading {member}"[: process.LONGEST_TOLD]


def making_s() -> int:
    """Return the seconds of work that making data of files may take in all."""
    # Set by who runs the server; settings that are none are refused when it starts.
    return max(process.PROCESSOR_S, int(os.environ.get("HETVIZ_WORK_PROCESSOR_S") or _MAKING_S))


def _raise_refusal(into: IO[bytes], where: str) -> None:
    into.seek(0)
    if into.read(1) == _REFUSED:
        try:
            problems = [Problem(**one) for one in json.loads(into.read())]
        except (ValueError, KeyError, TypeError):
            raise process.without_result(where) from None
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
    from hetviz.io.sandbox.pack_loaded import unpacked_loaded

    try:
        return unpacked_loaded(content[len(_MADE) :], base)
    except ValueError:
        raise process.without_result("files") from None


def is_looked_at_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are so plain and small that they are looked at in this process."""
    return reads_here(files) and sum(len(content) for _, content in files) <= LOOKED_AT_HERE


def reads_here(files: Sequence[tuple[str, bytes]]) -> bool:
    """Whether files are so plain that they are read in this process."""
    return all(_is_small_text(name, content) for name, content in files)


def _is_small_text(name: str, content: bytes) -> bool:
    try:
        return len(content) <= SMALL and gate.kind_of(name, content) == "text"
    except DataError:
        return True


def _drop_in_child(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    heard: process.Heard | None,
) -> ParsedFiles:
    from hetviz.io.sandbox.pack_parts import unpacked

    try:
        return unpacked(_in_child(files, choices, "read", heard))
    except ValueError:
        raise process.without_result(_named(files)) from None


def _named(files: Sequence[tuple[str, bytes]]) -> str:
    return ", ".join(name for name, _ in files)[:200]


def _given(choices: Mapping[str, Choices]) -> dict[str, Any]:
    return {name: asdict(said) for name, said in choices.items()}


def _in_child(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices],
    task: str,
    heard: process.Heard | None = None,
    parsed: Sequence[bytes] = (),
) -> bytes:
    """Read or look at files in a process of their own; return what it wrote.

    Raises
    ------
    hetviz.errors.DataError
        If the process does not come to its end.
    """
    about = {
        "task": task,
        "names": [name for name, _ in files],
        "choices": _given(choices),
        "parsed": len(parsed),
    }
    given = (json.dumps(about).encode(), *(content for _, content in files), *parsed)
    return process.run(_MODULE, given, _named(files), _work_s(files), heard)


def _is_kind(name: str, content: bytes, kind: str) -> bool:
    try:
        return gate.kind_of(name, content) == kind
    except DataError:
        return False


def _work_s(files: Sequence[tuple[str, bytes]]) -> int:
    """Return the seconds of work that files may take."""
    try:
        return max(isolated.work_s(content) if gate.kind_of(name, content) == "hdf5"
                   else process.PROCESSOR_S for name, content in files)  # fmt: skip
    except DataError:
        return process.PROCESSOR_S


def _read(
    stream: IO[bytes],
) -> tuple[list[str], list[bytes], dict[str, Choices], str, dict[str, Problem]]:
    from hetviz.io.formats import workbooks
    from hetviz.io.sandbox.pack_parts import unpacked_cells

    parts = list(process.parts(stream))
    about = json.loads(parts[0])
    choices = {name: isolated.choices_of(said) for name, said in about["choices"].items()}
    end = len(parts) - int(about["parsed"])
    # This process ends after its work: what it has parsed once it need not parse again.
    workbooks.keep_parsed(dict(map(unpacked_cells, parts[end:])))
    without = {name: Problem(**fields) for name, fields in about.get("without", {}).items()}
    return about["names"], parts[1:end], choices, about["task"], without


def _loaded(
    names: Sequence[str],
    parts: Sequence[bytes],
    choices: Mapping[str, Choices],
    task: str,
    tell: process.Heard,
    without: Mapping[str, Problem],
) -> Sequence[bytes | memoryview]:
    """Return what `load` writes, in the process; a refusal as JSON."""
    from hetviz.data.joins.proposals import propose_joins
    from hetviz.io.infer.dataset import read_tables
    from hetviz.io.sandbox.pack_loaded import packed_loaded, unpacked_base
    from hetviz.io.sandbox.pack_parts import unpacked
    from hetviz.progress import ProgressPart

    if task == "bundle":
        return _bundle(names[0], parts[0], tell, without)
    before, *contents = parts
    base = unpacked_base(before) if before else None
    files = list(zip(names, contents if task == "load" else [b""] * len(names), strict=True))
    if task == "load":
        tell(0.05, f"Reading {_named(files)}")
        found = parse.parse_files(files, choices)
        # What follows works on what was read, and is not what a damaged file makes hang.
        process.allow_all()
    else:
        found = unpacked(contents[0])

    def told(fraction: float, message: str = "", **_: object) -> None:
        tell(fraction, message)

    making = ProgressPart(told, 0.3, 0.8)
    try:
        loaded = read_tables(files, choices, base, lambda *_: found, making)
    except DataError as error:
        return [_REFUSED, json.dumps(list(map(asdict, error.problems))).encode()]
    tell(0.8, "Looking for what belongs together")
    proposals = propose_joins(loaded.data)
    tell(0.9, "Handing it over")
    return [_MADE, *packed_loaded(loaded, proposals, base)]


class _Members(Archive):
    """The files of a bundle, of which each is told before it is read; some are left out."""

    def __init__(
        self, name: str, content: bytes, tell: process.Heard, without: Mapping[str, Problem]
    ) -> None:
        super().__init__(name, content)
        self._tell, self._without, self._n_read = tell, without, 0

    def read(self, name: str, most: int = limits.MAX_FILE_BYTES) -> bytes:
        """Return the content of a member, or why it is left out."""
        if name in self._without:
            raise DataError(self._without[name])
        self._n_read += 1
        share = min(1.0, self._n_read / max(1, len(self._members)))
        self._tell(0.05 + 0.8 * share, _reading(name))
        return super().read(name, most)


def _bundle(
    name: str, content: bytes, tell: process.Heard, without: Mapping[str, Problem]
) -> Sequence[bytes | memoryview]:
    """Return what `load_bundle` writes, in the process."""
    from hetviz.data.joins.proposals import propose_joins
    from hetviz.io.bundle.reading import read_bundle
    from hetviz.io.sandbox.pack_loaded import packed_loaded

    def parse(files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]) -> ParsedFiles:
        # A damaged file has no longer to be read than by itself.
        process.allow(_work_s(files))
        try:
            return parse.parse_files(files, choices)
        finally:
            process.allow_all()

    tell(0.05, f"Reading {name}")
    process.allow_all()
    try:
        archive = _Members(name, content, tell, without)
        loaded = read_bundle(archive if MANIFEST in archive.names() else content, name, parse)
    except DataError as error:
        return [_REFUSED, json.dumps(list(map(asdict, error.problems))).encode()]
    tell(0.9, "Handing it over")
    # What comes with a map was joined by who made it.
    proposals = propose_joins(loaded.data) if loaded.map is None else ()
    return [_MADE, *packed_loaded(loaded, proposals)]


def main() -> int:
    """Read files from standard input, and write what they hold to standard output."""
    process.confine()
    tell = process.teller()
    from hetviz.io.formats import workbooks
    from hetviz.io.sandbox.pack_parts import arrow_bytes, packed, packed_cells

    try:
        names, parts, choices, task, without = _read(sys.stdin.buffer)
        if task in ("load", "make", "bundle"):
            for part in _loaded(names, parts, choices, task, tell, without):
                sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
            return 0
        files = list(zip(names, parts, strict=True))
        tell(0.1, f"Reading {_named(files)}")
        if task == "look":
            looks = preview.preview_with_cells(files, choices)
            tell(_READ, f"Reading {_named(files)}")
            seen = json.dumps([look.to_dict() for look, _ in looks]).encode()
            cells = [arrow_bytes(frame) for _, frame in looks]
            cells = cells if sum(map(len, cells)) <= _MOST_CELLS else []
            del looks
            # Texts are read again in less time than what was read is carried about, and HDF5
            # files, in which the library may turn for ever, only in `load`.
            is_text = all(_is_kind(name, content, "text") for name, content in files)
            later = is_text or any(_is_kind(name, content, "hdf5") for name, content in files)
            read = b"" if later else packed(parse.parse_files(files, choices))
            parsed = packed_cells(workbooks.kept_parsed())
            if sum(map(len, parsed.values())) > _MOST_CELLS:
                parsed = {}
            named = [part for name, one in parsed.items() for part in (name.encode(), one)]
            number = len(cells).to_bytes(4)
            process.write_parts(sys.stdout.buffer, (seen, read, number, *cells, *named))
        else:
            sys.stdout.buffer.write(packed(parse.parse_files(files, choices)))
        sys.stdout.buffer.flush()
    except (MemoryError, OSError):
        return process.TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main())
