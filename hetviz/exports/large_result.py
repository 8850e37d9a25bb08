"""Results of recipes over large files, loaded into memory in full or as a sample."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hetviz._text import round_percent
from hetviz._types import Array, Ints, Rng
from hetviz.algorithms.registry import get_method
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, ParameterError
from hetviz.io import gate
from hetviz.io.frames.row_files import RowFiles
from hetviz.runs.embed.run import EmbeddingOrigin, Run
from hetviz.runs.large.plan import LargeRecipe, LinkTable, Plan, Table
from hetviz.runs.large.run import COORDINATES, SCORES
from hetviz.runs.large.steps import read_features
from hetviz.runs.recipe import large_recipe_at

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_ROWS = 1_000_000
_TABLE_TYPES = (
    *("string", "large_string", "bool", "date", "timestamp", "int", "uint", "float", "double"),
    *("half", "dictionary", "decimal"),
)


@dataclass(frozen=True, eq=False)
class LargeResult:
    """Result folder of a recipe over files."""

    recipe: LargeRecipe
    data: HeteroData  # All rows and links, or a sample of the rows with the links among them.
    embedding: Embedding  # Map of the same rows. `made` holds its run.
    # Content of scores.json, which covers all rows even if the data are a sample.
    scores: Mapping[str, Any]

    @property
    def title(self) -> str:
        return get_method(self.recipe.method).card.title


def read_large(folder: str | Path, rows: int | None = None, seed: int = 0) -> LargeResult:
    """Read the result of a recipe over files into memory."""
    recipe = large_recipe_at(folder)
    if recipe is None:
        raise ParameterError(f"{folder} is not a result of a recipe over files.")
    plan, root = recipe.plan, Path(folder)
    total = sum(table.n for table in plan.tables)
    rng = np.random.default_rng(seed)
    datasets, places, lookups = [], {}, []
    for t, table in enumerate(plan.tables):
        sampled = _sample_rows(table, None if rows is None or rows >= total else rows / total, rng)
        dataset, ids = _read_dataset(table, sampled, plan.as_text[t])
        datasets.append(dataset)
        lookups.append(ids)
        places[table.name] = _read_places(root / COORDINATES / table.name, table, sampled)
    links = _read_links(plan, lookups)
    data = HeteroData(datasets, links)
    try:
        scores = json.loads(gate.read_file(root / SCORES))
    except ValueError:
        raise gate.refusal("bad-json", SCORES, "this is not JSON") from None
    embedding = Embedding(
        places,
        {part.name: part.ids for part in datasets},
        {part.name: part.entity for part in datasets},
        note=_describe_fit(recipe, scores, total, data.n_rows),
    )
    params = {key: value for key, value in recipe.params.items() if key != "random_state"}
    run = Run(data.fingerprint(), recipe.method, params, recipe.seed)
    return LargeResult(recipe, data, embedding.with_made(EmbeddingOrigin(data, run)), scores)


def _sample_rows(table: Table, share: float | None, rng: Rng) -> Ints | None:
    """Return a sorted random sample of the rows, or None for all."""
    if share is None:
        return None
    count = int(table.n * share)
    if count < 2:
        problem = f"{count} of {table.n:,} rows of {table.name} would be left"
        raise ParameterError(f"rows: {problem}, and two are needed. Ask for more rows.")
    return np.sort(rng.choice(table.n, count, replace=False)).astype(np.int64)


def _read_dataset(table: Table, rows: Ints | None, as_text: bool) -> tuple[Dataset, pd.Index]:
    other_columns = [
        name
        for name, kind in table.files.columns
        if name != table.id and name not in table.features and kind.startswith(_TABLE_TYPES)
    ]
    features, parts, ids = [], [], []
    for start in range(0, table.n, _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, table.n)
        local_rows = _rows_in_block(rows, start, stop)
        X = read_features(table, start, stop)
        read = table.files.read(start, stop, [table.id, *other_columns])
        features.append(X if local_rows is None else X[local_rows])
        if local_rows is not None:
            read = read.take(local_rows)
        ids.append(_id_array(read.column(0), as_text))
        parts.append(read.select(other_columns).to_pandas())
    index = pd.Index(np.concatenate(ids))
    text = index if as_text else index.astype(str)
    frame = pd.concat(parts, ignore_index=True) if other_columns else None
    names = table.features if len(table.features) == table.d else None
    dataset = Dataset(
        table.name,
        text.to_numpy(dtype=object),
        np.concatenate(features),
        feature_names=names,
        table=frame,
        entity=table.entity,
    )
    return dataset, index


def _rows_in_block(rows: Ints | None, start: int, stop: int) -> Ints | None:
    if rows is None:
        return None
    low, high = np.searchsorted(rows, [start, stop])
    return rows[low:high] - start


def _id_array(column: pa.ChunkedArray, as_text: bool) -> Array:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    wanted = column.cast(pa.large_string() if as_text else pa.int64())
    return np.asarray(wanted.to_numpy(zero_copy_only=False))


def _read_places(folder: Path, table: Table, rows: Ints | None) -> Array:
    """Return the coordinates of the rows, shape (n, n_axes)."""
    files = RowFiles.find_files("part-*.parquet", folder.resolve())
    if files.n_rows != table.n:
        raise DataError.of(
            "row-count",
            f"coordinates of {table.name}",
            f"the map has {files.n_rows:,} rows, but the files have {table.n:,}",
            remedy="The files changed after the run. Run the recipe again.",
        )
    axes = [name for name, _ in files.columns if name.startswith("axis_")]
    read = files.read(0, files.n_rows, axes)
    if rows is not None:
        read = read.take(rows)
    return np.column_stack([read.column(axis).to_numpy(zero_copy_only=False) for axis in axes])


def _read_links(plan: Plan, ids: list[pd.Index]) -> list[Links]:
    """Return the links among the loaded rows, one kind per table of links."""
    out = []
    for links in plan.links:
        u, v = links.source, links.target
        parts = []
        for start in range(0, links.files.n_rows, _BLOCK_ROWS):
            stop = min(start + _BLOCK_ROWS, links.files.n_rows)
            parts.append(_read_link_block(plan, links, start, stop, ids))
        i, j, weight = map(np.concatenate, zip(*parts, strict=True))
        if u == v:
            i, j = np.minimum(i, j), np.maximum(i, j)
            i, j, weight = i[i != j], j[i != j], weight[i != j]
        key = i * len(ids[v]) + j
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        if not len(first):
            continue
        total = np.clip(np.add.reduceat(weight[order], first), -1.0, 1.0)
        rows, total = order[first][total != 0], total[total != 0]
        names = plan.tables[u].name, plan.tables[v].name
        weights = None if (total == 1).all() else total
        if len(rows):
            out.append(Links(*names, i[rows], j[rows], weights, kind=links.name))
    return out


def _read_link_block(
    plan: Plan, links: LinkTable, start: int, stop: int, ids: list[pd.Index]
) -> tuple[Ints, Ints, Array]:
    weighted = isinstance(links.weight, str)
    columns = [links.i, links.j, *([links.weight] if weighted else [])]
    read = links.files.read(start, stop, list(dict.fromkeys(map(str, columns))))
    ends = [
        ids[t].get_indexer(pd.Index(_id_array(read.column(column), plan.as_text[t])))
        for t, column in ((links.source, links.i), (links.target, links.j))
    ]
    is_present = (ends[0] >= 0) & (ends[1] >= 0)
    if weighted:
        weight = read.column(str(links.weight)).to_numpy(zero_copy_only=False).astype(np.float64)
    else:
        weight = np.full(len(is_present), float(links.weight))
    return (
        ends[0][is_present].astype(np.int64),
        ends[1][is_present].astype(np.int64),
        weight[is_present],
    )


def _describe_fit(recipe: LargeRecipe, scores: Mapping[str, Any], total: int, n_rows: int) -> str:
    """Return how the map was fitted, with its limits after a colon."""
    title, parts = get_method(recipe.method).card.title, []
    if "landmarks" in scores:
        count = sum(scores["landmarks"].values())
        parts.append(
            f"fitted to {count:,} rows, and the other {total - count:,} were placed by these"
        )
        refined = scores.get("refinement")
        if refined is not None:
            rows = sum(refined["rows"].values())
            drawn = "all" if rows == total else f"{rows:,}"
            parts.append(f"{drawn} were then moved towards similar and linked rows")
        error = (refined or scores).get("placement_error", {}).get("median")
        if error is not None:
            parts.append(
                f"the median error of the placed rows is {round_percent(error, 1)} of the typical "
                "distance between two rows"
            )
    if n_rows < total:
        parts.append(f"this is a random sample of {n_rows:,} of {total:,} rows")
    return title + (": " + "; ".join(parts) if parts else "")
