"""Cached samples, or their first rows, for tests."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hetviz._samples import sample_path, sample_root
from hetviz.data import Embedding, HeteroData
from hetviz.data.edits.labelling import LabelValue, with_annotations
from hetviz.io.bundle.loaded import Loaded
from hetviz.io.files import Files, Folder
from hetviz.io.infer.parsed import TableReader
from hetviz.io.intake import reading
from hetviz.io.intake.parse import parse_files, table_reader
from hetviz.jobs.tasks import maps
from hetviz.progress import Progress
from hetviz.runs import first_map
from hetviz.runs.compare.comparison import Candidate, Comparison
from hetviz.workspace.commands import opening
from tests.depth import DEPTH

_read = reading._read_bundle_files
_figures_of = maps.figures_of
_try_methods = first_map._tried
_measured: dict[tuple[str, ...], dict[str, object]] = {}
_tried: dict[tuple[str, str, int], tuple[Comparison, Candidate | None]] = {}
_LARGE = ("digits", "digit-views")
_FEW = 80


@cache
def whole(root: Path) -> Loaded:
    return _read(Folder(root), table_reader(parse_files))


def sample(name: str) -> HeteroData:
    """Return the data of a sample, read once per process."""
    folder = sample_path(name)
    assert folder is not None
    return whole(folder).data


@cache
def first_rows(root: Path) -> Loaded:
    """Return a sample, of one whose rows have no names of their own only the first few."""
    loaded = whole(root)
    if root.name not in _LARGE:
        return loaded
    subset = {name: entry.ids[:_FEW] for name, entry in loaded.data.datasets.items()}
    return replace(loaded, data=loaded.data.edit().subset(subset))


@cache
def few_emoji() -> Loaded:
    """Return a quarter of the emoji, the keywords of these, and their places on the map."""
    root = sample_path("emoji")
    assert root is not None
    loaded = whole(root)
    data, embedding = loaded.data, loaded.map
    assert embedding is not None
    rows = {"emoji": np.arange(0, len(data["emoji"]), 4)}
    keywords = [
        np.concatenate([links.i, links.j])
        if links.source == "keywords"
        else links.j[np.isin(links.i, rows["emoji"])]
        for links in data.links
    ]
    rows["keywords"] = np.unique(np.concatenate(keywords))
    ids = {name: data[name].ids[keep] for name, keep in rows.items()}
    places = {name: embedding.coordinates[name][keep] for name, keep in rows.items()}
    subset = data.edit().subset(ids)
    return replace(loaded, data=subset, map=Embedding(places, ids, note=embedding.note))


def read_few_emoji(patch: pytest.MonkeyPatch) -> None:
    """Open a quarter of the emoji wherever the sample is opened."""
    patch.setattr(opening, "read_sample", lambda name: few_emoji())


def read_once(patch: pytest.MonkeyPatch, *, subset: bool = False) -> None:
    """Let what comes with hetviz be read once for all tests; whoever reads, data never change.

    With `subset`, the large samples have only their first rows, but not where tests go into depth.
    """
    expected = first_rows if subset and DEPTH == 1 else whole

    def read(files: Files, tables: TableReader) -> Loaded:
        root = sample_root()
        if isinstance(files, Folder) and root is not None and files.root.parent == root:
            return expected(files.root)
        return _read(files, tables)

    patch.setattr(reading, "_read_bundle_files", read)


def measure_once(patch: pytest.MonkeyPatch) -> None:
    """Let what one test has measured of a map be known to the others: most show the same one."""

    def figures_of(
        data: HeteroData,
        embedding: Embedding,
        held_out: HeteroData | None = None,
        beat: Callable[[], None] = lambda: None,
    ) -> dict[str, object]:
        key = (data.fingerprint(), held_out.fingerprint() if held_out else "", mark_of(embedding))
        if key not in _measured:
            _measured[key] = _figures_of(data, embedding, held_out, beat)
        # Whoever asks adds to what is found.
        return copy.deepcopy(_measured[key])

    patch.setattr(maps, "figures_of", figures_of)


def try_once(patch: pytest.MonkeyPatch) -> None:
    """Compare the methods of a first map once for all tests with the same data."""

    def tried(
        data: HeteroData, candidates: list[Candidate], random_state: int, progress: Progress
    ) -> tuple[Comparison, Candidate | None]:
        key = (data.fingerprint(), repr(candidates), random_state)
        if key not in _tried:
            _tried[key] = _try_methods(data, candidates, random_state, progress)
        return _tried[key]

    patch.setattr(first_map, "_tried", tried)


def mark_of(embedding: Embedding) -> str:
    """Return a hash of the items and coordinates of a map."""
    mark = hashlib.sha256()
    for name, places in embedding.coordinates.items():
        mark.update(f"{name} {places.shape} {places.dtype}".encode())
        mark.update("\0".join(embedding.ids[name]).encode())
        mark.update(places.tobytes())
    return mark.hexdigest()


def with_labels(
    data: HeteroData, dataset: str, column: str, values: Mapping[str, LabelValue | None]
) -> HeteroData:
    """Return the data with labels of some items, by id, of no author."""
    entries = [(id_, value, "", "") for id_, value in values.items()]
    return with_annotations(data, dataset, column, entries)
