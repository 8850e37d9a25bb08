"""A map for other programs: AnnData (.h5ad), and the TensorBoard projector (.zip)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hetviz._types import Matrix, Texts
from hetviz.data import Embedding, HeteroData
from hetviz.errors import MissingExtraError
from hetviz.exports.tables import coordinates_table
from hetviz.metrics.fit.rows import coordinates_of

if TYPE_CHECKING:
    import h5py

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def anndata_bytes(data: HeteroData, embedding: Embedding) -> bytes:
    """Return all items as one AnnData file: labels in obs, the map in obsm, links in obsp."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("Writing .h5ad", "omics") from None
    names = np.repeat(
        np.array([*data.datasets], dtype=object), [len(part) for part in data.datasets.values()]
    )
    ids = np.concatenate([part.ids for part in data.datasets.values()])
    columns: dict[str, tuple[Texts, bool]] = {
        "dataset": (names, True),
        "id": (ids, False),
        "title": (np.concatenate([part.titles for part in data.datasets.values()]), False),
    }
    for label in data.labels:
        values = np.full(data.n_rows, None, dtype=object)
        values[data.offsets[label.dataset]] = label.values
        columns[label.name.replace("/", "_")] = (values, True)
    only = next(iter(data.datasets.values())) if len(data.datasets) == 1 else None
    Y = np.vstack([*coordinates_of(data, embedding).values()])
    # Without track_order, h5py stores creation times and every file differs.
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", track_order=True) as file:
        _set_encoding(file, "anndata", "0.1.0")
        keys = ids if only is not None else names + "|" + ids
        _write_frame(file, "obs", keys, columns)
        features = () if only is None else _feature_names(only.feature_names, only.X)
        _write_frame(file, "var", np.array(features, dtype=object), {})
        if only is not None and only.X is not None:
            _write_matrix(file, "X", only.X)
        for name in ("layers", "obsm", "obsp", "varm", "varp", "uns"):
            _set_encoding(file.create_group(name), "dict", "0.1.0")
        _write_matrix(file["obsm"], "X_hetviz", Y)
        if data.links:
            _write_matrix(file["obsp"], "links", data.adjacency())
    return buffer.getvalue()


def _feature_names(names: tuple[str, ...] | None, X: Matrix | None) -> tuple[str, ...]:
    width = 0 if X is None else X.shape[1]
    return names or tuple(f"feature {k + 1}" for k in range(width))


def _set_encoding(element: h5py.HLObject, kind: str, version: str) -> None:
    element.attrs["encoding-type"] = kind
    element.attrs["encoding-version"] = version


def _write_frame(
    file: h5py.Group, name: str, index: Texts, columns: Mapping[str, tuple[Texts, bool]]
) -> None:
    group = file.create_group(name)
    _set_encoding(group, "dataframe", "0.2.0")
    group.attrs["_index"] = "_index"
    _write_strings(group, "_index", index)
    group.attrs["column-order"] = np.array([*columns], dtype=object) if columns else np.zeros(0)
    for column, (values, is_category) in columns.items():
        if not is_category:
            _write_strings(group, column, values)
            continue
        categories = pd.Categorical([None if value is None else str(value) for value in values])
        inner = group.create_group(column)
        _set_encoding(inner, "categorical", "0.2.0")
        inner.attrs["ordered"] = False
        _write_strings(inner, "categories", np.array(categories.categories.tolist(), dtype=object))
        inner["codes"] = np.asarray(categories.codes)
        _set_encoding(inner["codes"], "array", "0.2.0")


def _write_strings(group: h5py.Group, name: str, values: Texts) -> None:
    import h5py

    texts = [str(value) for value in values.tolist()]
    group.create_dataset(name, data=texts, dtype=h5py.string_dtype("utf-8"), shape=(len(texts),))
    _set_encoding(group[name], "string-array", "0.2.0")


def _write_matrix(group: h5py.Group, name: str, X: Matrix) -> None:
    if hasattr(X, "indptr"):
        inner = group.create_group(name)
        _set_encoding(inner, "csr_matrix", "0.1.0")
        inner.attrs["shape"] = np.array(X.shape)
        for part in ("data", "indices", "indptr"):
            inner[part] = getattr(X, part)
        return
    group[name] = np.asarray(X)
    _set_encoding(group[name], "array", "0.2.0")


def projector_bytes(data: HeteroData, embedding: Embedding) -> bytes:
    """Return a zip for the TensorBoard embedding projector."""
    table = coordinates_table(data, embedding)
    for label in data.labels:
        values = np.full(data.n_rows, "", dtype=object)
        values[data.offsets[label.dataset]] = ["" if v is None else str(v) for v in label.values]
        table[label.name] = values
    placed = table[table[embedding.axis_names].notna().all(axis=1)]
    others = [name for name in placed.columns if name not in embedding.axis_names]
    vectors = "\n".join("\t".join(map(repr, row)) for row in _rows(placed, embedding.axis_names))
    metadata = "\n".join(
        "\t".join(map(_cell, row)) for row in [list[object](others), *_rows(placed, others)]
    )
    config = (
        'embeddings {\n  tensor_name: "hetviz"\n  tensor_path: "vectors.tsv"\n'
        '  metadata_path: "metadata.tsv"\n}\n'
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (
            ("vectors.tsv", vectors + "\n"),
            ("metadata.tsv", metadata + "\n"),
            ("projector_config.pbtxt", config),
        ):
            archive.writestr(zipfile.ZipInfo(name, _ZIP_TIME), text)
    return buffer.getvalue()


def _rows(table: pd.DataFrame, columns: list[str]) -> list[list[object]]:
    return [list(row) for row in zip(*(table[name].tolist() for name in columns), strict=True)]


def _cell(value: object) -> str:
    return " ".join(str(value).split())
