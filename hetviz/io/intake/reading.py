"""Bundles: a folder or zip whose hetviz.toml describes its files.

Optional keys of a dataset (in addition to those in the README): ``log = [..]`` (log-transformed
columns), ``media = "thumbs.zip"`` (zip or folder of thumbnails, named by `media_column` or by row
number), ``encoding``, ``separator``, ``decimal`` and ``text_model``. A section
``[dataset.columns.NAME]`` has the feature options of a column, as `hetviz.make_features`.
Optional keys of links: ``held_out = true`` (for judging a map), and ``source``, ``target``,
``kind``, ``role`` for missing columns. A bundle can have ``title`` and ``description``.
`hetviz.save` also writes ``columns``, ``missing``, ``recipe``, ``sparse``, ``feature_names`` and
``repeated``, for many links the arrays ``ends``, ``weights`` and ``scores``, and for labels the
``annotations`` of each person.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from hetviz._samples import MANIFEST, sample_path, samples
from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.data.joins.proposals import propose_joins
from hetviz.errors import DataError, Problem
from hetviz.features.table_joins import detail_tables, join_tables
from hetviz.io import gate
from hetviz.io.bundle.coordinates import read_coordinates
from hetviz.io.bundle.items import read_dataset
from hetviz.io.bundle.loaded import DatasetInfo, FileInfo, Loaded
from hetviz.io.bundle.manifest import LabelsEntry, LinksEntry, Manifest, parse
from hetviz.io.bundle.statements import links_of_arrays, read_comparisons, read_links
from hetviz.io.files import PROJECT, Archive, Files, Folder
from hetviz.io.formats.registry import kind_of, open_archive
from hetviz.io.infer.parsed import SAVED, Choices, FileParser, Table, TableReader
from hetviz.io.intake.make_data import make_data, read_tables
from hetviz.io.intake.parse import parse_files, parse_folder, table_reader


def load(source: str | Path | Sequence[str | Path]) -> HeteroData:
    """Load a bundle, a sample, or plain tables."""
    if isinstance(source, (str, Path)):
        return read_bundle(source).strict().data
    given: object = source
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise gate.refusal(
            "no-file",
            "load",
            "a file, folder, sample or a list of files is needed",
            type(given).__name__,
            "Tables in memory become data by HeteroData.from_frames({'name': table, ...}).",
        )
    return _with_links(_read_list(source)).strict().data


def read_bundle(
    source: str | Path | bytes | Archive, name: str = "bundle.zip", parse: FileParser = parse_files
) -> Loaded:
    """Read a bundle, a sample or plain files, and leave out invalid rows."""
    files: Files | Loaded
    if isinstance(source, Archive):
        files = source
    else:
        files = open_archive(name, source) if isinstance(source, bytes) else _open_path(source)
    if isinstance(files, Loaded):
        return _with_links(files)
    if MANIFEST in files.names():
        return _read_bundle_files(files, table_reader(parse))
    inside = [name for name in files.names() if name.endswith(f"/{MANIFEST}")]
    if inside:
        message = f"its {MANIFEST} is not in the top folder"
        remedy = "Give the folder of one bundle."
        raise gate.refusal("no-manifest", files.name, message, ", ".join(inside[:5]), remedy)
    if PROJECT in files.names():
        message = "this is a project file, not a bundle of data"
        raise gate.refusal("no-data", files.name, message, remedy="Open it on the Start page.")
    if isinstance(source, bytes):
        return read_tables([(name, source)], parse=parse)
    return _with_links(make_data(parse_folder(files), {}))


def _with_links(loaded: Loaded) -> Loaded:
    """Return data in which declared keys are links, and tables of pure links became links."""
    data = loaded.data
    if len(data.datasets) < 2:
        return loaded
    sure = [proposal for proposal in propose_joins(data) if proposal.sure]
    details = detail_tables(data, [proposal.join for proposal in sure])
    rows = {table.dataset: "links" for table in details if table.kind == "relation"}
    joins = [p.join for p in sure if p.declared or p.join.source in rows]
    return replace(loaded, data=join_tables(data, joins, rows)) if joins else loaded


def _read_list(paths: Sequence[str | Path]) -> Loaded:
    """Read several files at once and join tables that reference each other."""
    files: dict[str, bytes] = {}
    for path in map(Path, paths):
        if not path.is_file():
            message = "each entry of a list must be an existing file"
            raise gate.refusal(
                "no-file", "load", message, path, "Give a folder or a sample by itself."
            )
        name, content = gate.unpack_gzip(path.name, gate.read_file(path))
        if name in files:
            raise gate.refusal("same-name", "load", "two files have this name", name, "Rename one.")
        files[name] = content
    return read_tables(list(files.items()))


def _open_path(source: str | Path) -> Files | Loaded:
    path = Path(source)
    try:
        if path.name == MANIFEST and path.is_file():
            path = path.parent
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, ValueError):
        is_folder = is_file = False
    sample = sample_path(str(source))
    if sample is not None and not is_folder:
        return Folder(sample)
    if is_folder:
        return Folder(path)
    if is_file:
        name, content = gate.unpack_gzip(path.name, gate.read_file(path))
        if kind_of(name, content) == "zip":
            return Archive(name, content)
        return read_tables([(name, content)])
    if sample is not None:
        return Folder(sample)
    near = difflib.get_close_matches(str(source), samples(), n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    sample_names = f"Samples: {', '.join(samples())}."
    raise gate.refusal(
        "no-file", "load", "this file, folder or sample does not exist", source, hint + sample_names
    )


def _read_bundle_files(files: Files, tables: TableReader) -> Loaded:
    manifest = parse(files.read(MANIFEST))
    problems: list[Problem] = []
    datasets: dict[str, Dataset] = {}
    infos: list[DatasetInfo] = []
    for entry in manifest.datasets:
        labels = [x.column for x in manifest.labels if x.dataset == entry.name and x.column]
        try:
            dataset, info = read_dataset(files, entry, labels, problems, tables=tables)
        except DataError as error:
            problems += error.problems
            continue
        if dataset.name in datasets:
            problems += gate.refusal(
                "duplicate-name", MANIFEST, "two datasets have the same name", dataset.name
            ).problems
            continue
        datasets[dataset.name] = dataset
        infos.append(info)
    if not datasets:
        raise DataError(dict.fromkeys(problems))
    links, held_out = _all_links(files, tables, manifest, datasets, problems)
    labels_ = [
        x for entry in manifest.labels for x in _labels(files, tables, entry, datasets, problems)
    ]
    data = HeteroData(datasets, links, None, labels_)
    data = _with_comparisons(files, tables, manifest, data, problems)
    notes = list(dict.fromkeys(problems))
    loaded = Loaded(
        data,
        manifest.name,
        manifest.title,
        manifest.description,
        understood=tuple(infos),
        files=(FileInfo(files.name, "bundle", f"A bundle: {manifest.title}."),),
        held_out=HeteroData(datasets, held_out, None, labels_) if held_out else None,
    )
    loaded = _with_map(files, tables, manifest, loaded, notes)
    return replace(loaded, problems=tuple(notes))


def _all_links(
    files: Files,
    tables: TableReader,
    manifest: Manifest,
    datasets: Mapping[str, Dataset],
    problems: list[Problem],
) -> tuple[list[Links], list[Links]]:
    links: list[Links] = []
    held_out: list[Links] = []
    for entry in manifest.links:
        try:
            if entry.ends is not None:
                entry_links = [links_of_arrays(files, entry, datasets)]
            else:
                read = tables(entry.file, files.read(entry.file), _choices(entry))
                entry_links = read_links(read, entry, datasets, problems)
        except DataError as error:
            problems += error.problems
            continue
        (held_out if entry.held_out else links).extend(entry_links)
    return links, held_out


def _choices(entry: LinksEntry) -> Choices | None:
    return SAVED if entry.source is not None else None


def _with_comparisons(
    files: Files, tables: TableReader, manifest: Manifest, data: HeteroData, problems: list[Problem]
) -> HeteroData:
    for entry in manifest.comparisons:
        try:
            saved = SAVED if entry.columns is not None else None
            read = tables(entry.file, files.read(entry.file), saved)
            comparisons = read_comparisons(read, data.datasets, problems, entry)
        except DataError as error:
            problems += error.problems
            continue
        if comparisons is not None:
            data = data.edit().add(comparisons)
    return data


def _labels(
    files: Files,
    tables: TableReader,
    entry: LabelsEntry,
    datasets: Mapping[str, Dataset],
    problems: list[Problem],
) -> list[Labels]:
    where = f"{MANIFEST}, labels {entry.name or entry.column or ''!r}"
    try:
        if entry.dataset not in datasets:
            remedy = f"Available: {', '.join(datasets)}."
            raise gate.refusal(
                "unknown-dataset", where, "this dataset does not exist", entry.dataset, remedy
            )
        dataset = datasets[entry.dataset]
        if entry.file is not None:
            read = tables(entry.file, files.read(entry.file), SAVED)
            values = _json_values(entry.file, read, dataset)
        elif dataset.table is None or entry.column not in dataset.table.columns:
            columns = [] if dataset.table is None else list(map(str, dataset.table.columns[:20]))
            remedy = f"Available: {', '.join(columns)}." if columns else ""
            raise gate.refusal(
                "unknown-column",
                where,
                "this column does not exist",
                entry.column or "nothing",
                remedy,
            )
        else:
            values = list(dataset.table[entry.column])
        annotations = None
        if entry.annotations is not None:
            read = tables(entry.annotations, files.read(entry.annotations), SAVED)
            annotations = _annotations(entry.annotations, read, dataset)
    except DataError as error:
        problems += error.problems
        return []
    name = entry.name or entry.column or "label"
    return [Labels(entry.dataset, name, values, annotations)]


def _annotations(name: str, table: Table, dataset: Dataset) -> pd.DataFrame:
    columns = ["id", "value", "who", "when"]
    if not set(columns) <= set(table.frame.columns):
        present = ", ".join(map(str, table.frame.columns))
        raise gate.refusal("columns", name, f"the columns {', '.join(columns)} are needed", present)
    rows = dataset.find(table.frame["id"].to_numpy(dtype=object))
    if (rows < 0).any():
        unknown = table.frame["id"].iloc[int(np.argmin(rows))]
        raise gate.refusal("unknown-id", name, f"{dataset.name} has no item with this id", unknown)
    values = pd.Series(_json_cells(name, table), dtype=object)
    return table.frame[["who", "when"]].assign(row=rows, value=values)[["row", *columns[1:]]]


def _json_values(name: str, table: Table, dataset: Dataset) -> list[object]:
    if len(table.frame) != len(dataset) or "value" not in table.frame.columns:
        raise gate.refusal(
            "row-count", name, "one value for each row of the dataset is needed", len(table.frame)
        )
    return _json_cells(name, table)


def _json_cells(name: str, table: Table) -> list[object]:
    try:
        return [json.loads(cell) for cell in table.frame["value"]]
    except (ValueError, RecursionError):
        raise gate.refusal("bad-json", name, "a value is not valid JSON") from None


def _with_map(
    files: Files, tables: TableReader, manifest: Manifest, loaded: Loaded, problems: list[Problem]
) -> Loaded:
    entry = manifest.map
    if entry is None:
        return loaded
    try:
        content = files.read(entry.coordinates)
        embedding: Embedding = read_coordinates(entry.coordinates, content, loaded.data, tables)
    except DataError as error:
        problems += error.problems
        return loaded
    note = entry.note or (f"{entry.method}, shipped with the data" if entry.method else "")
    return replace(
        loaded,
        map=replace(embedding, note=note or embedding.note),
        map_method=entry.method,
        map_params=dict(entry.params),
        map_seed=entry.seed,
    )
