"""Where data come from: samples, bundles and tables, all through `hetviz.io`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from hetviz._samples import sample_path
from hetviz._version import __version__
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.proposals import Proposal, propose_joins
from hetviz.errors import DataError, ParameterError, Problem
from hetviz.io import Choices, Loaded, read_bundle, read_tables
from hetviz.io.formats.workbooks import parsed_by
from hetviz.io.intake.drop import Parse
from hetviz.io.intake.looking import Look, changed
from hetviz.io.intake.new_items import NewItems, read_new_items
from hetviz.io.piece import Drop
from hetviz.io.sandbox import child
from hetviz.io.sandbox.pieces_as_bytes import frame_of, has_refused, packed, unpacked
from hetviz.io.sandbox.process import Heard
from hetviz.workspace.store.blobs import BlobStore, ReadCache, viewed

Hashes = Sequence[tuple[str, str]]

_READING = Lock()
# What was read and is still looked at: who opens what they were shown need not wait for it again.
_SHOWN: WeakValueDictionary[str, Loaded] = WeakValueDictionary()
_ADDED: WeakKeyDictionary[HeteroData, WeakValueDictionary[str, Loaded]] = WeakKeyDictionary()
_PROPOSED: WeakKeyDictionary[Loaded, tuple[Proposal, ...]] = WeakKeyDictionary()


class StoredFiles(dict[str, bytes]):
    """Files by name out of a store of blobs, whose hashes are known and need not be made again.

    Parameters
    ----------
    blobs : BlobStore
    keys : mapping of str to str
        File name to blob.

    Raises
    ------
    hetviz.errors.DataError
        If one is not there, or damaged.
    """

    def __init__(self, blobs: BlobStore, keys: Mapping[str, str]) -> None:
        super().__init__((name, blobs.get(key)) for name, key in keys.items())
        self.hashes = dict(keys)


def read_sample(name: str) -> Loaded:
    """Read a sample; everybody shares one copy, which nobody can change.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such sample.
    """
    path = sample_path(name)
    if path is None:
        raise DataError(Problem("unknown-sample", "samples", "there is no such sample", name))
    # Two that ask at once wait for one reading.
    with _READING:
        return _read(path)


@lru_cache(maxsize=8)
def _read(path: Path) -> Loaded:
    return read_bundle(path)


def read_zip(
    content: bytes, filename: str, cache: ReadCache | None = None, heard: Heard | None = None
) -> Loaded:
    """Read an uploaded bundle, or a zip of files that are none; see `read_files`.

    All of it is read in a process of its own: the manifest, tables and pictures.

    Raises
    ------
    hetviz.errors.DataError
        If nothing can be used.
    """
    key = "zip " + _key(_hashed([(filename, content)]), {})
    return _once(key, lambda: _bundle_apart(content, filename, key, cache, heard))


def _bundle_apart(
    content: bytes, filename: str, key: str, cache: ReadCache | None, heard: Heard | None
) -> Loaded:
    key = hashlib.sha256(key.encode()).hexdigest()
    kept = None if cache is None else cache.view(key)
    if kept is not None:
        with contextlib.suppress(DataError):
            return _with_proposals(kept, None)
    with cache.new_file() if cache is not None else tempfile.TemporaryFile() as file:
        child.load_bundle(filename, content, file, heard)
        loaded = _with_proposals(viewed(file), None)
        if cache is not None:
            cache.take(file, key)
    return loaded


def read_files(
    files: Mapping[str, bytes],
    choices: Mapping[str, Mapping[str, object]] | None = None,
    base: HeteroData | None = None,
    cache: ReadCache | None = None,
    heard: Heard | None = None,
) -> Loaded:
    """Read uploaded files, as additions to `base` where it is given.

    Anything but small text is read in a process of its own, which makes the features and finds how
    the tables belong together as well. What that found is kept in `cache`, of one session, so that
    a log is replayed without reading its files again. `heard` is told how far it has come.

    Raises
    ------
    hetviz.errors.DataError
        If nothing can be used, or a choice is no choice.
    """
    given, chosen, hashes = list(files.items()), _chosen(choices), _hashes(files)

    def read() -> Loaded:
        if cache is None or child.is_looked_at_here(given):
            return read_tables(given, chosen, base, keeping(cache))
        return _made_apart(given, hashes, chosen, base, cache, heard)

    return _once(_key(hashes, chosen), read, base)


def proposals_of(loaded: Loaded) -> tuple[Proposal, ...]:
    """Return how what was read seems to belong together, found when it was read if it was apart."""
    found = _PROPOSED.get(loaded)
    if found is None:
        found = _PROPOSED[loaded] = tuple(propose_joins(loaded.data))
    return found


def _made_apart(
    given: Sequence[tuple[str, bytes]],
    hashes: Hashes,
    chosen: Mapping[str, Choices],
    base: HeteroData | None,
    cache: ReadCache,
    heard: Heard | None,
) -> Loaded:
    """Return the data of files, made in a process of its own; what was made before is kept."""
    key = _key(hashes, chosen, ["data"])
    content = cache.view(key) if base is None else None
    if content is not None:
        with contextlib.suppress(DataError):
            return _with_proposals(content, None)
    drop = cache.get(_key(hashes, chosen))
    with cache.new_file() as file:
        parsed = () if drop is not None else _parsed(hashes, chosen, cache)
        child.load(given, drop, chosen, file, base, heard, parsed)
        loaded = _with_proposals(viewed(file), base)
        if base is None:
            cache.take(file, key)
    return loaded


def _with_proposals(content: memoryview, base: HeteroData | None) -> Loaded:
    loaded, proposals = child.loaded_of(content, base)
    _PROPOSED[loaded] = proposals
    return loaded


def _once(key: str, read: Callable[[], Loaded], base: HeteroData | None = None) -> Loaded:
    """Return what was read under a key, as long as somebody holds it; nobody can change it."""
    shown = _SHOWN if base is None else _ADDED.setdefault(base, WeakValueDictionary())
    found = shown.get(key)
    if found is None:
        found = shown[key] = read()
    return found


def look_at_files(
    files: Mapping[str, bytes],
    choices: Mapping[str, Mapping[str, object]] | None = None,
    cache: ReadCache | None = None,
    before: tuple[Sequence[Look], Mapping[str, Mapping[str, object]]] | None = None,
    heard: Heard | None = None,
) -> tuple[Look, ...]:
    """Return what stands in the tables of uploaded files, and how they are read.

    Anything but small text is looked at in a process of its own, which reads it as well: `cache`
    keeps that for `read_files`, and the cells, so that no file is parsed again where only some
    columns are read otherwise than `before`: looks at the same files, and what was said then.

    Raises
    ------
    hetviz.errors.HetvizError
        If a choice is no choice.
    """
    given, chosen = list(files.items()), _chosen(choices)
    if cache is None or child.is_looked_at_here(given):
        return tuple(child.look_at(given, chosen).looks)
    hashes = _hashes(files)
    key = _key(hashes, chosen, ["looks"])
    kept = cache.get(key)
    if kept is not None:
        with contextlib.suppress(ValueError, DataError):
            return tuple(Look.from_dict(fields) for fields in json.loads(kept))
    looks = None if before is None else _changed(dict(hashes), chosen, cache, before)
    if looks is None:
        seen = child.look_at(given, chosen, heard, _parsed(hashes, chosen, cache))
        looks = seen.looks
        if seen.drop and not has_refused(seen.drop):
            cache.put(_key(hashes, chosen), seen.drop)
        known = dict(hashes)
        for look, content in zip(looks, seen.cells, strict=False):
            cache.put(_cells_key(look, known[look.file], chosen), content)
        for name, content in seen.parsed.items():
            if name in known:
                cache.put(_parsed_key(name, known[name], chosen), content)
    if looks:
        cache.put(key, json.dumps([look.to_dict() for look in looks]).encode())
    return tuple(looks)


def _changed(
    hashes: Mapping[str, str],
    chosen: Mapping[str, Choices],
    cache: ReadCache,
    before: tuple[Sequence[Look], Mapping[str, Mapping[str, object]]],
) -> list[Look] | None:
    """Return earlier looks with what was said since; None where the files are to be parsed."""
    out, old = [], _chosen(before[1])
    for look in before[0]:
        now, then = chosen.get(look.file, Choices()), old.get(look.file, Choices())
        said = now.recipe_of(look.name)
        if replace(now, recipes={}) != replace(then, recipes={}):
            return None
        found: Look | None = look
        if said != then.recipe_of(look.name):
            content = cache.get(_cells_key(look, hashes[look.file], chosen))
            if said is None or content is None:
                return None
            found = changed(look, frame_of(content), said)
        if found is None:
            return None
        out.append(found)
    return out or None


def _cells_key(look: Look, hashed: str, chosen: Mapping[str, Choices]) -> str:
    """Return what the cells of a look are kept under: they do not hang on what columns are."""
    recipe = look.recipe
    rows = [list(recipe.header), recipe.units, recipe.first, recipe.last]
    plain = {look.file: replace(chosen.get(look.file, Choices()), recipes={})}
    return _key([(look.name, hashed)], plain, ["cells", look.sheet, rows])


def _parsed(hashes: Hashes, chosen: Mapping[str, Choices], cache: ReadCache) -> list[bytes]:
    """Return what was parsed of files before, see `hetviz.io.sandbox.child.Looked`."""
    found = [cache.get(_parsed_key(name, hashed, chosen)) for name, hashed in hashes]
    return [content for content in found if content is not None]


def _parsed_key(name: str, hashed: str, chosen: Mapping[str, Choices]) -> str:
    return _key([(name, hashed)], {}, ["parsed", *parsed_by(name, chosen.get(name, Choices()))])


def _chosen(choices: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Choices]:
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
    """Read uploaded files of new items of a dataset; see `read_files` for `cache`.

    Raises
    ------
    hetviz.errors.DataError
        If nothing can be used.
    """
    chosen = {name: Choices(**fields) for name, fields in (choices or {}).items()}
    return read_new_items(list(files.items()), dataset, chosen, id_column, keeping(cache))


def keeping(cache: ReadCache | None, heard: Heard | None = None) -> Parse:
    """Return what reads files, and finds again in `cache` what it has read before."""

    def read(files: Sequence[tuple[str, bytes]], choices: Mapping[str, Choices]) -> Drop:
        if cache is None or child.reads_here(files):
            return child.read_drop(files, choices, heard)
        key = _key(_hashed(files), choices)
        found = cache.get(key)
        if found is not None:
            with contextlib.suppress(ValueError):
                return unpacked(found)
        drop = child.read_drop(files, choices, heard)
        if not drop.refused:
            cache.put(key, packed(drop))
        return drop

    return read


def _hashes(files: Mapping[str, bytes]) -> Hashes:
    if isinstance(files, StoredFiles):
        return list(files.hashes.items())
    return _hashed(list(files.items()))


def _hashed(files: Sequence[tuple[str, bytes]]) -> Hashes:
    return [(name, hashlib.sha256(content).hexdigest()) for name, content in files]


def _key(hashes: Hashes, choices: Mapping[str, Choices], of: Sequence[object] = ()) -> str:
    about = [__version__, list(map(list, hashes))]
    said = {name: asdict(choice) for name, choice in sorted(choices.items())}
    return hashlib.sha256(json.dumps([about, said, list(of)]).encode()).hexdigest()
