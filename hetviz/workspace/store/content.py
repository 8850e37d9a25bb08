"""Data of a project: samples, bundles and tables, read by `hetviz.io` and cached."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from hetviz._samples import sample_path
from hetviz._version import __version__
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.proposals import Proposal, propose_joins
from hetviz.errors import DataError, ParameterError
from hetviz.io import Choices, Loaded, read_bundle, read_tables
from hetviz.io.infer.parsed import FileParser, Tables, pack_tables, unpack_tables
from hetviz.io.intake import child
from hetviz.io.intake.new_items import NewItems, read_new_items
from hetviz.io.intake.preview import (
    TablePreview,
    pack_previews,
    preview_tables,
    unpack_previews,
    updated_previews,
)
from hetviz.memo import Memo
from hetviz.workers.reader import OnProgress
from hetviz.workspace.store.blobs import BlobStore, ReadCache, is_key, map_file

Hashes = Sequence[tuple[str, str]]

_SAMPLES = Memo(max_entries=8)
# Loaded data in use, so that opening a preview does not read the files again.
_LOADED: WeakValueDictionary[str, Loaded] = WeakValueDictionary()
_LOADED_WITH_BASE: WeakKeyDictionary[HeteroData, WeakValueDictionary[str, Loaded]] = (
    WeakKeyDictionary()
)
_PROPOSALS = Memo()


class StoredFiles(dict[str, bytes]):
    """Files by name from a blob store, with their known hashes."""

    def __init__(self, blobs: BlobStore, keys: Mapping[str, str]) -> None:
        super().__init__((name, blobs.get(key)) for name, key in keys.items())
        self.hashes = dict(keys)


def read_sample(name: str) -> Loaded:
    """Read a sample. All users share one immutable copy."""
    path = sample_path(name)
    if path is None:
        raise DataError.of("unknown-sample", "samples", "there is no such sample", name)
    return _SAMPLES.get_or_compute(None, path, lambda: read_bundle(path))


def read_zip(
    content: bytes,
    filename: str,
    cache: ReadCache | None = None,
    on_progress: OnProgress | None = None,
) -> Loaded:
    """Read an uploaded bundle or a zip of other files in an isolated process; see `read_files`."""
    key = "zip " + _key(_hash_files([(filename, content)]), {})
    return _read_once(
        key, lambda: _read_isolated_bundle(content, filename, key, cache, on_progress)
    )


def _read_isolated_bundle(
    content: bytes, filename: str, key: str, cache: ReadCache | None, on_progress: OnProgress | None
) -> Loaded:
    key = hashlib.sha256(key.encode()).hexdigest()
    cached = None if cache is None else cache.view(key)
    if cached is not None:
        with contextlib.suppress(DataError):
            return _with_proposals(cached, None)
    with cache.new_file() if cache is not None else tempfile.TemporaryFile() as file:
        child.load_bundle(filename, content, file, on_progress)
        loaded = _with_proposals(map_file(file), None)
        if cache is not None:
            cache.adopt_file(file, key)
    return loaded


def read_files(
    files: Mapping[str, bytes],
    choices: Mapping[str, Mapping[str, object]] | None = None,
    base: HeteroData | None = None,
    cache: ReadCache | None = None,
    on_progress: OnProgress | None = None,
    container: str = "",
) -> Loaded:
    """Read uploaded files, as additions to `base` if given."""
    # Files other than small text are read in an isolated process, which also makes features and
    # proposes joins. `cache` stores the result, so that replaying a log does not read the files
    # again. `container` is the key of their cells there, see `container_key`.
    uploads, parsed_choices, hashes = (
        list(files.items()),
        _validate_choices(choices),
        _hashes(files),
    )

    def read() -> Loaded:
        if cache is None or child.is_previewed_here(uploads):
            return read_tables(uploads, parsed_choices, base, cached_parser(cache))
        return _read_isolated(uploads, hashes, parsed_choices, base, cache, on_progress, container)

    return _read_once(_key(hashes, parsed_choices), read, base)


def proposals_of(loaded: Loaded) -> tuple[Proposal, ...]:
    """Return proposed joins of loaded data, which an isolated read has already found."""
    return _PROPOSALS.get_or_compute(loaded, "", lambda: tuple(propose_joins(loaded.data)))


def _read_isolated(
    uploads: Sequence[tuple[str, bytes]],
    hashes: Hashes,
    chosen: Mapping[str, Choices],
    base: HeteroData | None,
    cache: ReadCache,
    on_progress: OnProgress | None,
    container: str,
) -> Loaded:
    """Return the data of files, read in an isolated process or from the cache."""
    key = _key(hashes, chosen, ["data"])
    content = cache.view(key) if base is None else None
    if content is not None:
        with contextlib.suppress(DataError):
            return _with_proposals(content, None)
    # A journal knows the cells by the key of an earlier version.
    cells = cache.view(container) if is_key(container) else None
    cells = cells or cache.view(_container_key(hashes, chosen))
    with cache.new_file() as file:
        child.load(uploads, cells, chosen, file, base, on_progress)
        loaded = _with_proposals(map_file(file), base)
        if base is None:
            cache.adopt_file(file, key)
    return loaded


def _with_proposals(content: memoryview, base: HeteroData | None) -> Loaded:
    loaded, proposals = child.loaded_of(content, base)
    _PROPOSALS.put(loaded, "", proposals)
    return loaded


def _read_once(key: str, read: Callable[[], Loaded], base: HeteroData | None = None) -> Loaded:
    """Return the loaded data of a key, shared while they are in use."""
    cache = _LOADED if base is None else _LOADED_WITH_BASE.setdefault(base, WeakValueDictionary())
    loaded = cache.get(key)
    if loaded is None:
        loaded = cache[key] = read()
    return loaded


def look_at_files(
    files: Mapping[str, bytes],
    choices: Mapping[str, Mapping[str, object]] | None = None,
    cache: ReadCache | None = None,
    previous: tuple[Sequence[TablePreview], Mapping[str, Mapping[str, object]]] | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[TablePreview, ...]:
    """Return previews of the tables in uploaded files, and how they are read."""
    # Files other than small text are read in an isolated process. `cache` stores their cells, so
    # that files are parsed once, and previews change quickly since `previous` (earlier looks at the
    # same files, and the choices then).
    uploads, chosen = list(files.items()), _validate_choices(choices)
    if cache is None or child.is_previewed_here(uploads):
        return tuple(preview_tables(cached_parser(cache)(uploads, chosen), chosen))
    hashes = _hashes(files)
    key = _key(hashes, chosen, ["looks"])
    if (cached := cache.get(key)) is not None:
        with contextlib.suppress(ValueError):
            return tuple(unpack_previews(cached))
    container = cache.view(_container_key(hashes, chosen))
    looks = None
    if container is not None and previous is not None:
        with contextlib.suppress(ValueError):
            before = _validate_choices(previous[1])
            looks = updated_previews(previous[0], before, chosen, unpack_tables(container))
    if looks is None:
        looks, parsed = child.preview_tables(uploads, chosen, container, on_progress)
        if parsed and not unpack_tables(parsed).problems:
            cache.put(_container_key(hashes, chosen), parsed)
    if looks:
        cache.put(key, pack_previews(looks))
    return tuple(looks)


def container_key(
    files: Mapping[str, str], choices: Mapping[str, Mapping[str, object]] | None = None
) -> str:
    """Return the key of the parsed cells of blobs by file name in the read cache."""
    return _container_key(list(files.items()), _validate_choices(choices))


def _container_key(hashes: Hashes, chosen: Mapping[str, Choices]) -> str:
    """Return the key of the parsed cells of files, which later choices do not change."""
    parsing = {name: choice.for_parsing for name, choice in chosen.items()}
    return _key(hashes, {name: choice for name, choice in parsing.items() if choice != Choices()})


def _validate_choices(choices: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Choices]:
    try:
        return {name: Choices(**fields) for name, fields in (choices or {}).items()}
    except TypeError as error:
        raise ParameterError(f"How to read a file: {error}.") from None


def read_items(
    files: Mapping[str, bytes],
    dataset: Dataset,
    choices: Mapping[str, Mapping[str, Any]] | None = None,
    id_column: str | None = None,
    cache: ReadCache | None = None,
) -> NewItems:
    """Read uploaded files of new items of a dataset; see `read_files` for `cache`."""
    chosen = {name: Choices(**fields) for name, fields in (choices or {}).items()}
    return read_new_items(list(files.items()), dataset, chosen, id_column, cached_parser(cache))


def cached_parser(cache: ReadCache | None, on_progress: OnProgress | None = None) -> FileParser:
    """Return a parser of files that uses `cache`."""

    def read(files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]) -> Tables:
        if cache is None:
            return child.parse_files(files, choices, on_progress)
        key = _container_key(_hash_files(files), choices)
        if (cached := cache.view(key)) is not None:
            with contextlib.suppress(ValueError):
                return unpack_tables(cached)
        tables = child.parse_files(files, choices, on_progress)
        if not tables.problems:
            cache.put(key, pack_tables(tables))
        return tables

    return read


def _hashes(files: Mapping[str, bytes]) -> Hashes:
    if isinstance(files, StoredFiles):
        return list(files.hashes.items())
    return _hash_files(list(files.items()))


def _hash_files(files: Sequence[tuple[str, bytes]]) -> Hashes:
    return [(name, hashlib.sha256(content).hexdigest()) for name, content in files]


def _key(hashes: Hashes, choices: Mapping[str, Choices], parts: Sequence[object] = ()) -> str:
    source = [__version__, list(map(list, hashes))]
    settings = {name: asdict(choice) for name, choice in sorted(choices.items())}
    return hashlib.sha256(json.dumps([source, settings, list(parts)]).encode()).hexdigest()
