"""Links, comparisons and rows given by ids, and ids of rows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._types import Array, Ints
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.errors import DataError, Problem, limit_problems

_MAX_HINTS = 20
_MAX_IDS_FOR_HINTS = 20_000


def links_by_id(
    data: HeteroData,
    source: str,
    target: str,
    pairs: Sequence[Sequence[str]],
    weight: ArrayLike = 1.0,
    *,
    kind: str = "said",
    meta: pd.DataFrame | None = None,
) -> Links:
    """Return links between pairs of ids."""
    where = f"links {source} - {target}"
    _check_lengths(where, "pair", pairs, (2,))
    ids = np.array([tuple(pair) for pair in pairs], dtype=object).reshape(-1, 2)
    i = _find_rows(data, data[source], ids[:, 0], where)
    j = _find_rows(data, data[target], ids[:, 1], where)
    return Links(source, target, i, j, weight, kind=kind, meta=meta)


def pairs_by_id(
    data: HeteroData,
    pairs: Sequence[Sequence[Sequence[str]]],
    weight: float | Sequence[float] = 1.0,
    *,
    kind: str = "said",
    meta: pd.DataFrame | None = None,
) -> list[Links]:
    """Return links between pairs of (dataset, id), one `Links` per pair of datasets."""
    _check_lengths("links", "pair", pairs, (2,))
    _check_lengths("links", "item", [item for pair in pairs for item in pair], (2,))
    weights = [float(weight)] * len(pairs) if isinstance(weight, int | float) else list(weight)
    if len(weights) != len(pairs):
        message = f"{len(pairs):,} weights are needed"
        raise DataError.of("bad-shape", "links, weight", message, str(len(weights)))
    blocks: dict[tuple[str, str], list[int]] = {}
    for row, (first, second) in enumerate(pairs):
        blocks.setdefault((first[0], second[0]), []).append(row)
    return [
        links_by_id(
            data,
            source,
            target,
            [(pairs[row][0][1], pairs[row][1][1]) for row in rows],
            [weights[row] for row in rows],
            kind=kind,
            meta=None if meta is None else meta.iloc[rows],
        )
        for (source, target), rows in blocks.items()
    ]


def comparisons_by_id(
    data: HeteroData, rows: Sequence[Sequence[Sequence[str]]], weight: ArrayLike = 1.0
) -> Comparisons:
    """Return comparisons of three or four items, each given as (dataset, id)."""
    _check_lengths("comparisons", "row", rows, (3, 4))
    items = [item for row in rows for item in row]
    _check_lengths("comparisons", "item", items, (2,))
    names = np.array([name for name, _ in items], dtype=object)
    ids = np.array([id for _, id in items], dtype=object)
    positions = np.zeros(len(items), dtype=np.int64)
    for name in dict.fromkeys(names):
        mask = names == name
        start = data.offsets[data[name].name].start
        positions[mask] = start + _find_rows(data, data[name], ids[mask], "comparisons")
    if all(len(row) == 3 for row in rows):
        return Comparisons(positions.reshape(-1, 3), weight)
    ends = np.cumsum([0, *map(len, rows)])
    objects = [
        # "a is closer to b than to c" means d(a, b) < d(a, c).
        row if len(row) == 4 else [row[0], row[1], row[0], row[2]]
        for row in (positions[a:b].tolist() for a, b in pairwise(ends))
    ]
    return Comparisons(np.array(objects), weight)


def rows_by_id(data: HeteroData, dataset: str, ids: Iterable[str], where: str) -> Ints:
    """Return the rows of ids within a dataset."""
    return _find_rows(data, data[dataset], list(ids), where)


def items_of_rows(data: HeteroData, rows: Ints) -> list[list[str]]:
    """Return dataset and id of global rows."""
    names, starts = list(data.datasets), [span.start for span in data.offsets.values()]
    places = np.searchsorted(starts, rows, side="right") - 1
    return [
        [names[place], str(data[names[place]].ids[row - starts[place]])]
        for place, row in zip(places.tolist(), rows.tolist(), strict=True)
    ]


def _find_rows(
    data: HeteroData, dataset: Dataset, ids: Sequence[object] | Array, where: str
) -> Ints:
    rows = dataset.find(ids)
    unknown = list(dict.fromkeys(text for text, row in zip(ids, rows, strict=True) if row < 0))
    if unknown:
        message = f"dataset {dataset.name!r} has no such id"
        raise DataError(
            limit_problems(
                Problem(
                    "unknown-id", where, message, str(text), _hint(data, dataset, text, position)
                )
                for position, text in enumerate(unknown)
            )
        )
    return rows


def _hint(data: HeteroData, dataset: Dataset, text: object, position: int) -> str:
    for name, other in data.datasets.items():
        if other.find([text])[0] >= 0:
            return f"Dataset {name!r} has this id. Are source and target swapped?"
    if position < _MAX_HINTS and len(dataset) <= _MAX_IDS_FOR_HINTS:
        matches = difflib.get_close_matches(str(text), dataset.ids.tolist(), n=1)
        if matches:
            return f"Did you mean {matches[0]!r}?"
    return "Correct the id or remove it."


def _check_lengths(
    where: str, word: str, entries: Sequence[object], lengths: tuple[int, ...]
) -> None:
    wrong = [
        (position, entry)
        for position, entry in enumerate(entries)
        if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) not in lengths
    ]
    if wrong:
        message = f"{' or '.join(map(str, lengths))} entries are needed"
        raise DataError(
            limit_problems(
                Problem(f"bad-{word}", f"{where}, {word} {position + 1}", message, repr(entry)[:80])
                for position, entry in wrong
            )
        )
