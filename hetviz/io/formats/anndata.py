"""AnnData (.h5ad) and MuData (.h5mu): observations with features, columns and neighbours.

Read with h5py by the published layout (AnnData documentation, "On-disk format").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._pandas import TEXT
from hetviz._types import Array, Matrix, Sparse, is_sparse
from hetviz.errors import DataError, Problem
from hetviz.io import gate
from hetviz.io.formats.arrays import check_shape, finite_rows, sparse_of
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.edges import links_table
from hetviz.io.formats.hdf5 import Hdf5Group, open_hdf5, require_h5py
from hetviz.io.infer.parsed import Choices, Table, stem

MAX_LINKS = 300_000
_MIN_RAW_COUNT = 50
_MAX_GROUPS = 100

OTHER_PARTS = "could be the features"
"""Fact about the other matrices that could be used as features."""
_SPARSE = {"csr_matrix": "csr", "csc_matrix": "csc"}
_FALLBACK_PART = "X_pca"
_HOLDERS = ("obsm", "layers")


def read_hdf5(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read an AnnData file as a dataset, or a MuData file as one dataset for each modality."""
    with open_hdf5(name, content) as root:
        modalities = root.box("mod")
        if modalities is None:
            return _read_annotated(root, choices.name or stem(name), choices)
        tables: list[Table] = []
        problems: list[Problem] = []
        for modality in modalities.words("mod-order") or modalities.names():
            box = modalities.box(modality)
            if box is None:
                continue
            try:
                tables += _read_annotated(box, modality, choices, choices.name or stem(name))
            except DataError as error:
                problems += error.problems
        if not tables:
            raise DataError(problems or [Problem("no-rows", name, "the file has no modalities")])
    first = tables[0]
    return [replace(first, problems=(*first.problems, *problems)), *tables[1:]]


def _read_annotated(
    box: Hdf5Group, name: str, choices: Choices, entity: str | None = None
) -> list[Table]:
    if "obs" not in box:
        raise gate.refusal(
            "unknown-format",
            box.where,
            "this is not an AnnData (.h5ad) or MuData (.h5mu) file: it has no obs",
            remedy="Save the table as CSV or Parquet, or the matrix as NPY.",
        )
    problems: list[Problem] = []
    ids, columns = _obs_or_var(box, "obs", problems)
    if not ids:
        raise gate.refusal("no-rows", box.where, "the file has no observations")
    part, parts = _feature_part(box, choices.part, len(ids))
    if part != "X" and choices.part is None and ("X" in box or box.is_external_link("X")):
        problems.append(_unreadable_x_problem(box, part, len(ids)))
    facts = {"observations": f"{len(ids):,}"}
    X: Any = None
    names: tuple[str, ...] = ()
    row = np.arange(len(ids))
    if part is not None:
        X = _matrix(box, part, len(ids))
        if _holder(box, part) != "obsm":
            names = _feature_names(box, X.shape[1], problems)
        if part == "X":
            problems += _raw_count_notes(box, X)
        X, row, row_problems = finite_rows(box.where, X)
        problems += row_problems
        facts["features"] = f"{part}, {X.shape[1]:,} columns"
    other_parts = [word for word in parts if word.partition(" ")[0] != part]
    if other_parts:
        facts[OTHER_PARTS] = ", ".join(other_parts)
    links = _neighbours(box, name, ids, problems)
    frame = pd.DataFrame({"id": ids, **columns}, dtype=TEXT)
    observations = Table(
        name,
        box.where,
        "dataset",
        frame.iloc[row].reset_index(drop=True),
        tuple(row.tolist()),
        X=X,
        feature_names=names,
        id_column="id",
        label_columns=_category_columns(box, columns),
        entity=entity,
        facts=facts,
        problems=tuple(problems),
    )
    return [observations, *links]


def _category_columns(box: Hdf5Group, columns: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the columns of obs that are stored as categories, as clusters named 0, 1, ... are."""
    obs = box.box("obs")
    if obs is None:
        return ()
    old_categories = obs.box("__categories")
    categories = []
    for column, cells in columns.items():
        inner = obs.box(column) if column in obs else None
        is_stored = inner is not None and {"codes", "categories"} <= set(inner.names())
        if not is_stored and (old_categories is None or column not in old_categories):
            continue
        if 2 <= len(set(cells) - {""}) <= min(_MAX_GROUPS, len(cells) / 2):
            categories.append(column)
    return tuple(categories)


def _obs_or_var(
    box: Hdf5Group, name: str, problems: list[Problem]
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the index and the columns of obs or var as text."""
    group = box.box(name)
    if group is None:
        raise gate.refusal(
            "old-format",
            box.place(name),
            "the file was written by AnnData before version 0.7",
            remedy="Open it with a new version of anndata and save it again.",
        )
    index = group.word("_index") or ("_index" if "_index" in group else "index")
    ids = _column(group, index)
    columns: dict[str, list[str]] = {}
    listed = group.words("column-order") or group.names()
    for column in listed:
        if column in (index, "__categories"):
            continue
        try:
            cells = _column(group, column)
        except DataError as error:
            message = f"the column cannot be read and is skipped: {error.problems[0].what}"
            problems.append(Problem("bad-column", group.place(column), message, severity="note"))
            continue
        if len(cells) != len(ids):
            message = f"{len(cells):,} values for {len(ids):,} rows, so the column is skipped"
            problems.append(Problem("bad-column", group.place(column), message, severity="note"))
            continue
        columns[f"{column} (column)" if column == "id" else column] = cells
    return ids, columns


def _column(group: Hdf5Group, name: str) -> list[str]:
    inner = group.box(name)
    if inner is None:
        values = group.array(name)
        old_categories = group.box("__categories")
        if old_categories is not None and name in old_categories and values.dtype.kind in "iu":
            return _decode_categories(values, _texts(old_categories.array(name)))
        return _texts(values)
    if {"codes", "categories"} <= set(inner.names()):
        return _decode_categories(inner.array("codes"), _texts(inner.array("categories")))
    if {"values", "mask"} <= set(inner.names()):
        cells, mask = _texts(inner.array("values")), inner.array("mask")
        if mask.shape != (len(cells),):
            raise gate.refusal("bad-column", group.place(name), "its values and mask do not match")
        return ["" if lacks else cell for cell, lacks in zip(cells, mask.tolist(), strict=True)]
    raise gate.refusal("bad-column", group.place(name), "this kind of column is not supported")


def _decode_categories(codes: Array, categories: list[str]) -> list[str]:
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise gate.refusal("bad-column", "codes", "codes of categories must be a list of numbers")
    if (codes >= len(categories)).any():
        raise gate.refusal("bad-column", "codes", "a code has no category")
    return [categories[code] if code >= 0 else "" for code in codes.tolist()]


def _texts(values: Array) -> list[str]:
    if values.ndim != 1:
        raise gate.refusal("bad-column", "column", "a column must be a list", values.shape)
    if values.dtype.kind == "f":
        return ["" if np.isnan(value) else repr(value) for value in values.tolist()]
    return [str(value) for value in values.tolist()]


def _feature_part(box: Hdf5Group, chosen: str | None, n: int) -> tuple[str | None, list[str]]:
    """Return the matrix used as features, and all candidates."""
    shapes = {"X": _shape(box, "X")}
    for holder in map(box.box, _HOLDERS):
        for name in [] if holder is None else holder.names():
            shapes.setdefault(name, _shape(holder, name))
    usable = {name: shape for name, shape in shapes.items() if len(shape) == 2 and shape[0] == n}
    titles = [f"{name} ({shape[1]:,} columns)" for name, shape in usable.items()]
    if chosen is not None and chosen not in usable:
        remedy = f"Available: {', '.join(titles)}." if titles else "None are available."
        raise gate.refusal("unknown-part", box.where, "these features do not exist", chosen, remedy)
    best = next((name for name in ("X", _FALLBACK_PART) if name in usable), None)
    return chosen or best or next(iter(usable), None), titles


def _unreadable_x_problem(box: Hdf5Group, part: str | None, n: int) -> Problem:
    """Return the problem for a file whose X cannot be used."""
    shape = _shape(box, "X")
    size = " x ".join(f"{side:,}" for side in shape)
    if box.is_external_link("X"):
        why = "an external link, which is not followed"
    elif shape:
        why = f"{size}, but there are {n:,} rows"
    else:
        why = "of an unsupported kind"
    instead = "there are no features" if part is None else f"the features are {part}"
    message = f"X cannot be read because it is {why}, so {instead} instead"
    message = message if part is not None else message.removesuffix(" instead")
    remedy = "Open it with anndata, and save X as an array or a sparse matrix."
    return Problem("unreadable-x", box.place("X"), message, "", remedy)


def _shape(box: Hdf5Group | None, name: str) -> tuple[int, ...]:
    if box is None:
        return ()
    group = box.box(name)
    if group is None:
        return box.shape(name) or ()
    return tuple(group.integers("shape") or group.integers("h5sparse_shape"))


def _holder(box: Hdf5Group, part: str) -> str | None:
    """Return the group with a matrix, None for X."""
    groups = {name: box.box(name) for name in _HOLDERS}
    holders = [name for name, group in groups.items() if group is not None and part in group]
    return None if part == "X" else holders[0]


def _matrix(box: Hdf5Group, part: str, n: int) -> Matrix:
    """Return X, a layer or a matrix of obsm, as features of all rows."""
    name = _holder(box, part)
    holder = box if name is None else box.box(name)
    assert holder is not None  # noqa: S101
    where = holder.place(part)
    group = holder.box(part)
    if group is None:
        shape = holder.shape(part) or ()
        check_shape(where, shape)
        X = holder.array(part)
        if X.dtype.kind not in "fiub":
            raise gate.refusal("not-numbers", where, "the matrix does not contain numbers", X.dtype)
        return X.astype(np.float32 if X.dtype.kind == "f" and X.dtype.itemsize <= 4 else np.float64)
    return _sparse(group)


def _sparse(group: Hdf5Group) -> Sparse:
    word = group.word("encoding-type") or f"{group.word('h5sparse_format')}_matrix"
    if word not in _SPARSE:
        raise gate.refusal(
            "bad-sparse", group.where, "this kind of matrix is not supported", word[:40]
        )
    shape = group.integers("shape") or group.integers("h5sparse_shape")
    parts = {name: group.array(name) for name in ("data", "indices", "indptr")}
    return sparse_of(group.where, _SPARSE[word], shape, parts)


def _feature_names(box: Hdf5Group, p: int, problems: list[Problem]) -> tuple[str, ...]:
    try:
        names, _ = _obs_or_var(box, "var", []) if "var" in box else ([], {})
    except DataError as error:
        problems.append(
            Problem("bad-column", box.place("var"), error.problems[0].what, severity="note")
        )
        return ()
    return tuple(names) if len(names) == p else ()


def _raw_count_notes(box: Hdf5Group, X: Matrix) -> list[Problem]:
    values: Array = X.data[:100_000] if is_sparse(X) else X[:200]
    if not values.size or values.max() < _MIN_RAW_COUNT or (values != np.floor(values)).any():
        return []
    message = "the features look like raw counts, but normalised logarithms give clearer maps"
    remedy = "Normalise first, or use X_pca if the file has it."
    return [Problem("raw-counts", box.place("X"), message, "", remedy, severity="note")]


def _neighbours(
    box: Hdf5Group, dataset_name: str, ids: list[str], problems: list[Problem]
) -> list[Table]:
    """Return the neighbour graphs in obsp as links."""
    obsp = box.box("obsp")
    if obsp is None:
        return []
    names = [name for name in obsp.names() if name.endswith(("connectivities", "distances"))]
    # Connectivities are weights for the same neighbours as distances.
    names = [name for name in names if not name.endswith("distances")] or names
    tables = [_links(obsp, name, dataset_name, ids, problems) for name in names]
    return [table for table in tables if table is not None]


def _links(
    obsp: Hdf5Group, name: str, dataset_name: str, ids: list[str], problems: list[Problem]
) -> Table | None:
    where = obsp.place(name)

    def without(code: str, message: str) -> None:
        message = f"{message}, so they are not used as links"
        problems.append(Problem(code, where, message, severity="note"))

    group = obsp.box(name)
    shape = _shape(obsp, name)
    if group is None or shape != (len(ids), len(ids)):
        without("bad-sparse", "the neighbours are not stored as a sparse matrix of all rows")
        return None
    count = group.shape("data")
    if count is None or count[0] > 2 * MAX_LINKS:
        n = 0 if count is None else count[0]
        without("too-many", f"{n:,} neighbours, at most {2 * MAX_LINKS:,} are allowed")
        return None
    try:
        K = _sparse(group)
    except DataError as error:
        without("bad-sparse", error.problems[0].what)
        return None
    # Neighbour lists can be one-sided: link two rows if either lists the other.
    pairs = sp.triu(abs(K).maximum(abs(K).T), 1).tocoo()
    is_used = (pairs.data != 0) & np.isfinite(pairs.data)
    if not is_used.any():
        return None
    id_array = np.array(ids, dtype=object)
    ends = pd.DataFrame(
        {"source": id_array[pairs.row[is_used]], "target": id_array[pairs.col[is_used]]}
    )
    others = {"kind": [name] * len(ends)}
    if not name.endswith("distances"):
        others["weight"] = [repr(float(value)) for value in pairs.data[is_used]]
    return links_table(dataset_name, where, ends, others, range(len(ends)))


def _begins_later(content: bytes) -> bool:
    """Whether an HDF5 file begins after a block of its program, as MuData writes."""
    return any(content.startswith(_SIGNATURE, at) for at in (512, 1024, 2048))


_SIGNATURE = b"\x89HDF\r\n\x1a\n"
FORMATS = (
    FileFormat(
        "hdf5", "an HDF5 file", "matrix", (".h5ad", ".h5mu", ".h5", ".hdf5"), read_hdf5,
        magic=(_SIGNATURE,), detect=_begins_later, own_options=("part",), require=require_h5py,
        own_process=True, can_hang=True
    ),
)  # fmt: skip
