"""Bundle writer: a HeteroData as a folder or zip that reads back exactly."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._samples import MANIFEST
from hetviz._types import Array, JsonObject
from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.errors import check_type
from hetviz.io import gate, limits, toml
from hetviz.io.bundle.manifest import FORMAT
from hetviz.io.datasets.images import checked_picture
from hetviz.io.formats.registry import kind_of
from hetviz.io.infer import cells

_ITEM_NAMES = {3: ("anchor", "near", "far"), 4: ("a", "b", "c", "d")}
_LINK_HEADER = ["source_id", "target_id", "weight", "score"]
# Larger sets of links are saved as arrays instead of a table.
_MAX_TABLE_LINKS = 200_000
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)


def save(data: HeteroData, path: str | Path) -> Path:
    """Save as a bundle that `hetviz.load` reads back exactly."""
    check_type(data, HeteroData, "data")
    target = gate.target_path(path)
    files = bundle_files(data, target.stem or "data")
    with gate.refusing_write(path):
        if target.suffix.lower() == ".zip":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(to_zip(files))
        else:
            _write_folder(target, files)
    return target


def bundle_bytes(data: HeteroData, name: str) -> bytes:
    """Return a bundle as a zip, see `save`."""
    return to_zip(bundle_files(data, name))


def bundle_files(data: HeteroData, name: str) -> dict[str, bytes]:
    """Return the content of each file of a bundle by name, the manifest first."""
    document, files = contents(data, name)
    return {MANIFEST: toml.encode(toml.dumps(document), MANIFEST), **files}


def contents(data: HeteroData, name: str) -> tuple[JsonObject, dict[str, bytes]]:
    """Return the manifest, and the content of each other file by name."""
    files: dict[str, bytes] = {}
    document: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        "dataset": [_dataset(at, d, files) for at, d in enumerate(data.datasets.values())],
        "links": [_links(at, links, data, files) for at, links in enumerate(data.links)],
        "labels": [_labels(at, column, data, files) for at, column in enumerate(data.labels)],
    }
    if data.comparisons is not None:
        document["comparisons"] = [_comparisons(data, data.comparisons, files)]
    return {key: value for key, value in document.items() if value != []}, files


def to_zip(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of named files; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # Highly compressible content (a matrix of zeros) would be refused as a zip bomb.
            is_highly_packed = len(zlib.compress(content, 1)) * limits.MAX_RATIO < 2 * len(content)
            compression = zipfile.ZIP_STORED if is_highly_packed else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, _FIXED_DATE), content, compression)
    return buffer.getvalue()


def _write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    is_bundle = (target / MANIFEST).exists()
    if target.exists() and not is_bundle and (not target.is_dir() or any(target.iterdir())):
        raise gate.refusal(
            "not-empty",
            str(target),
            "the folder contains other files",
            remedy="Give a new folder, or one that contains a bundle.",
        )
    for name, content in files.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _dataset(at: int, dataset: Dataset, files: dict[str, bytes]) -> JsonObject:
    stem = f"{at}_{re.sub('[^A-Za-z0-9_-]+', '_', dataset.name)[:40]}"
    where = f"dataset {dataset.name!r}"
    entry: dict[str, Any] = {
        "name": dataset.name,
        "entity": dataset.entity,
        "table": f"{stem}.csv",
        "id": "id",
        "features": "none",
    }

    def put(suffix: str, content: bytes) -> str:
        files[f"{stem}{suffix}"] = content
        return f"{stem}{suffix}"

    columns: list[dict[str, Any]] = []
    texts: list[list[str]] = []
    if dataset.table is not None:
        columns, entry["missing"], texts = cells.describe_columns(f"{where}, table", dataset.table)
    entry["columns"] = columns
    # Reading uses positions. The column names only have to be unique.
    header = ["id", *(f"{place + 1} {column['name']}" for place, column in enumerate(columns))]
    rows = zip(map(str, dataset.ids), *texts, strict=True)
    put(".csv", cells.csv_bytes(where, [_one_line(title) for title in header], rows))
    if isinstance(dataset.X, sp.csr_array):
        parts = ("data", "indices", "indptr")
        entry["sparse"] = [put(f"_{part}.npy", _npy(getattr(dataset.X, part))) for part in parts]
        entry["n_features"] = int(dataset.X.shape[1])
    elif dataset.X is not None:
        entry["features"] = put("_features.npy", _npy(dataset.X))
    if dataset.feature_names is not None:
        entry["feature_names"] = list(dataset.feature_names)
    for word in ("kernel", "distance"):
        if getattr(dataset, word) is not None:
            entry[word] = put(f"_{word}.npy", _npy(getattr(dataset, word)))
    if dataset.media is not None:
        entry["media"] = f"{stem}_media"
        _media(where, dataset.media, f"{stem}_media/", files)
    if dataset.recipe is not None:
        entry["recipe"] = put("_recipe.json", _json(f"{where}, recipe", dataset.recipe))
    return entry


def _one_line(title: str) -> str:
    return " ".join(title.split())


def _npy(array: object) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _json(where: str, value: object) -> bytes:
    try:
        return toml.encode(json.dumps(value, ensure_ascii=False), where)
    except (TypeError, ValueError):
        raise gate.refusal(
            "bad-value", where, "it contains a value that JSON cannot store", type(value).__name__
        ) from None


def _media(
    where: str,
    media: Sequence[bytes | str | PathLike[str] | None],
    folder: str,
    files: dict[str, bytes],
) -> None:
    for row, item in enumerate(media):
        if item is None:
            continue
        content = item if isinstance(item, bytes) else gate.read_file(Path(item))
        place = f"{where}, media, row {row + 1}"
        files[f"{folder}{row}.{kind_of(place, content)}"] = checked_picture(place, content)


def _links(at: int, links: Links, data: HeteroData, files: dict[str, bytes]) -> JsonObject:
    entry: dict[str, Any] = {
        "source": links.source,
        "target": links.target,
        "kind": links.kind,
        "role": links.role,
        "complete": links.complete,
    }
    if len(links) > _MAX_TABLE_LINKS and links.meta is None:
        arrays = {"ends": np.column_stack([links.i, links.j]).astype("<i4")}
        if links.weight_given:
            arrays["weights"] = links.weight
        if links.score is not None:
            arrays["scores"] = links.score
        for key, array in arrays.items():
            entry[key] = f"links_{at}_{key}.npy"
            files[entry[key]] = _npy(array)
        return entry
    name = entry["file"] = f"links_{at}.csv"
    where = f"links {links.source} - {links.target}"
    n_ends = links.i if not links.within else np.minimum(links.i, links.j)
    m_ends = links.j if not links.within else np.maximum(links.i, links.j)
    if len(set(zip(n_ends.tolist(), m_ends.tolist(), strict=True))) < len(links):
        entry["repeated"] = True
    header = list(_LINK_HEADER)
    texts: list[list[str]] = []
    if links.meta is not None:
        entry["columns"], entry["missing"], texts = cells.describe_columns(
            f"{where}, meta", links.meta
        )
        header += _titles(links.meta)
    empty = [""] * len(links)
    rows = zip(
        map(str, data[links.source].ids[links.i]),
        map(str, data[links.target].ids[links.j]),
        _numbers(links.weight) if links.weight_given else empty,
        empty if links.score is None else _numbers(links.score),
        *texts,
        strict=True,
    )
    files[name] = cells.csv_bytes(where, header, rows)
    return entry


def _numbers(values: Array) -> list[str]:
    return [repr(float(value)) for value in values]


def _comparisons(data: HeteroData, comparisons: Comparisons, files: dict[str, bytes]) -> JsonObject:
    entry: dict[str, Any] = {"file": "comparisons.csv"}
    items = _ITEM_NAMES[comparisons.objects.shape[1]]
    header = [f"{item}_{part}" for item in items for part in ("dataset", "id")] + ["weight"]
    name_of = [(name, str(id)) for name, dataset in data.datasets.items() for id in dataset.ids]
    texts: list[list[str]] = []
    if comparisons.meta is not None:
        where, meta = "comparisons, meta", comparisons.meta
        entry["columns"], entry["missing"], texts = cells.describe_columns(where, meta)
        header += _titles(meta)
    rows = (
        [*(part for place in objects for part in name_of[place]), repr(weight), *more]
        for objects, weight, *more in zip(
            comparisons.objects.tolist(), comparisons.weight.tolist(), *texts, strict=True
        )
    )
    files["comparisons.csv"] = cells.csv_bytes("comparisons", header, rows)
    return entry


def _titles(meta: pd.DataFrame) -> list[str]:
    """Return titles that only must differ: reading goes by position."""
    return [f"{place + 1} {_one_line(str(column))}" for place, column in enumerate(meta.columns)]


def _labels(at: int, labels: Labels, data: HeteroData, files: dict[str, bytes]) -> JsonObject:
    table = data[labels.dataset].table
    entry: dict[str, Any] = {"dataset": labels.dataset, "name": labels.name}
    where = f"labels {labels.name!r}"
    all_ids = data[labels.dataset].ids
    if labels.annotations is not None:
        annotations = labels.annotations
        entry["annotations"] = f"labels_{at}_annotations.csv"
        texts = [_json(where, value).decode() for value in annotations["value"].tolist()]
        columns = (
            map(str, all_ids[annotations["row"].to_numpy()]),
            texts,
            annotations["who"],
            annotations["when"],
        )
        header = ["id", "value", "who", "when"]
        files[entry["annotations"]] = cells.csv_bytes(where, header, zip(*columns, strict=True))
    if table is not None and labels.name in table.columns and table.columns.is_unique:
        same = Labels(labels.dataset, labels.name, table[labels.name].to_numpy(dtype=object))
        if list(map(repr, same.values)) == list(map(repr, labels.values)):
            return {**entry, "column": labels.name}
    name = f"labels_{at}.csv"
    values = [_json(where, value).decode() for value in labels.values]
    ids = map(str, all_ids)
    files[name] = cells.csv_bytes(where, ["id", "value"], zip(ids, values, strict=True))
    return {**entry, "file": name}
