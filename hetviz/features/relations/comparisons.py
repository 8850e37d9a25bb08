"""Comparisons from a hierarchy, a label or a rating of the items."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from hetviz._types import Ints, Rng
from hetviz.data import Comparisons, Dataset, HeteroData
from hetviz.errors import DataError, ParameterError
from hetviz.features.columns.types import infer

N_COMPARISONS = 1_000
_MAX_DRAWS = 20


def comparisons_from_hierarchy(
    data: HeteroData,
    dataset: str,
    column: str | Sequence[str],
    *,
    separator: str = ">",
    n_comparisons: int = N_COMPARISONS,
    random_state: int = 0,
) -> Comparisons:
    """Draw comparisons from a tree: items with a lower common ancestor are closer.

    Parameters
    ----------
    data : HeteroData
    dataset : str
    column : str or sequence of str
        A label or table column of paths from the root, such as ``"animal > mammal > cat"``; or
        several columns, coarsest first. Paths may have different lengths; items without a path
        are ignored.
    separator : str
        Separator between the steps of a path.
    n_comparisons : int
        Number of comparisons to draw; fewer if there are not enough.
    random_state : int

    Returns
    -------
    Comparisons
        Distinct rows (a, b, c): a and b share a group without c, and c is in the next larger
        group. `comparison_table` shows them in words; ``data.edit().add`` adds them.

    Raises
    ------
    hetviz.errors.DataError
        If the dataset or column is unknown, or the tree gives no comparison.

    Notes
    -----
    Items a and their levels are drawn uniformly. Comparisons implied by an intermediate level are
    not drawn (McFee and Lanckriet 2011, section 5.1). They do not contradict each other.
    O(n log n + n_comparisons).
    """
    _check_count(n_comparisons)
    items = data[dataset]
    names = [column] if isinstance(column, str) else list(column)
    if not names:
        raise ParameterError("column = [] must name at least one column.")
    texts = [_texts(data, items, name) for name in names]
    paths = list(zip(*texts, strict=True))
    if isinstance(column, str):
        paths = [tuple(_steps(text, separator)) for (text,) in paths]
    codes = _codes(paths)
    rows = np.flatnonzero(codes[:, 0] >= 0) if codes.shape[1] else np.zeros(0, np.int64)
    order = rows[np.lexsort(codes[rows].T[::-1])]
    tree = _Tree(codes[order])
    message = "no two items share a group that excludes a third"
    leaves = _distinct(tree.draw, n_comparisons, random_state)
    return _as_comparisons(data, items, names[0], order[leaves], message)


def comparisons_from_label(
    data: HeteroData,
    dataset: str,
    column: str,
    *,
    n_comparisons: int = N_COMPARISONS,
    random_state: int = 0,
) -> Comparisons:
    """Draw comparisons from a label: items of the same label are closer than others.

    See `comparisons_from_hierarchy`; a label is a tree of one level.
    """
    return comparisons_from_hierarchy(
        data, dataset, [column], n_comparisons=n_comparisons, random_state=random_state
    )


def comparisons_from_rating(
    data: HeteroData,
    dataset: str,
    column: str,
    *,
    clear: float = 0.5,
    n_comparisons: int = N_COMPARISONS,
    random_state: int = 0,
) -> Comparisons:
    """Draw comparisons from numbers: items with similar numbers are closer.

    Parameters
    ----------
    data, dataset, n_comparisons, random_state
        See `comparisons_from_hierarchy`.
    column : str
        A label or table column of numbers or dates.
    clear : float
        |r_a - r_c| must exceed |r_a - r_b| by this many standard deviations, so that small
        differences are ignored.

    Returns
    -------
    Comparisons

    Raises
    ------
    hetviz.errors.DataError
        If the column is unknown, has no numbers, or gives no comparison.
    hetviz.errors.ParameterError
        If `clear` is below 0.
    """
    _check_count(n_comparisons)
    if not (np.isfinite(clear) and clear >= 0):
        raise ParameterError(f"clear = {clear!r} must be a number of 0 or more.")
    items = data[dataset]
    typed = infer(column, _cells(data, items, column))
    if typed.kind not in ("number", "date"):
        raise _problem(
            items, column, f"numbers are needed, but the type of this column is {typed.kind}"
        )
    rating = np.asarray(typed.values, dtype=np.float64)
    rows = np.flatnonzero(np.isfinite(rating))
    r = rating[rows]
    step = max(clear * float(r.std()), np.finfo(np.float64).tiny) if len(r) else 1.0

    def draw(rng: Rng, size: int) -> Ints:
        a, b, c = rng.integers(0, len(r), (3, size))
        is_clear = (a != b) & (np.abs(r[a] - r[c]) - np.abs(r[a] - r[b]) >= step)
        return np.asarray(np.column_stack([a, b, c])[is_clear])

    triples = np.zeros((0, 3), np.int64)
    if len(r) > 2:
        triples = _distinct(draw, n_comparisons, random_state)
    return _as_comparisons(data, items, column, rows[triples], "its numbers do not differ clearly")


def comparison_table(data: HeteroData, comparisons: Comparisons) -> pd.DataFrame:
    """Return comparisons as a table with the names of the items, for inspection.

    Returns
    -------
    DataFrame
        Columns row, near_a, near_b, far_a, far_b (as ``dataset: id``) and weight.
    """
    names = np.array(
        [f"{name}: {id}" for name, part in data.datasets.items() for id in part.ids], dtype=object
    )
    ends = names[comparisons.pairs].reshape(-1, 4).T
    columns = dict(zip(("near_a", "near_b", "far_a", "far_b"), ends, strict=True))
    return pd.DataFrame(
        {"row": np.arange(len(comparisons)), **columns, "weight": comparisons.weight}
    )


class _Tree:
    """Sorted leaves, so that each group of each level is a contiguous range."""

    def __init__(self, codes: Ints) -> None:
        n, depth = codes.shape
        self.start = np.zeros((depth + 1, n), dtype=np.int64)
        self.stop = np.full((depth + 1, n), n, dtype=np.int64)
        for level in range(depth):
            code = codes[:, level]
            # An item whose path has ended is a group of its own.
            new = np.ones(n, dtype=bool)
            new[1:] = (code[1:] != code[:-1]) | (code[1:] < 0)
            cuts = np.flatnonzero(new)
            run = np.cumsum(new) - 1
            self.start[level + 1] = cuts[run]
            self.stop[level + 1] = np.append(cuts[1:], n)[run]
        inner = self.stop - self.start
        # A level gives comparisons if the group has other members and the parent has more.
        self.speaks = (inner[1:] > 1) & (inner[:-1] > inner[1:])

    def draw(self, rng: Rng, size: int) -> Ints:
        """Draw leaves a, b, c."""
        anchors = np.flatnonzero(self.speaks.any(axis=0))
        if not len(anchors):
            return np.zeros((0, 3), dtype=np.int64)
        a = rng.choice(anchors, size)
        levels = self.speaks[:, a]
        which = np.floor(rng.random(size) * levels.sum(axis=0))
        level = (np.cumsum(levels, axis=0) <= which).sum(axis=0)
        low, high = self.start[level + 1, a], self.stop[level + 1, a]
        b = low + np.floor(rng.random(size) * (high - low - 1)).astype(np.int64)
        b += b >= a
        below, above = self.start[level, a], self.stop[level, a]
        outside = (above - below) - (high - low)
        c = below + np.floor(rng.random(size) * outside).astype(np.int64)
        c = np.where(c >= low, c + (high - low), c)
        return np.column_stack([a, b, c])


def _distinct(draw: Callable[[np.random.Generator, int], Ints], n: int, seed: int) -> Ints:
    rng = np.random.default_rng(seed)
    triples = np.zeros((0, 3), dtype=np.int64)
    for _ in range(_MAX_DRAWS):
        both = np.vstack([triples, draw(rng, 2 * n)])
        _, first = np.unique(both, axis=0, return_index=True)
        triples = both[np.sort(first)]
        if len(triples) >= n:
            return triples[:n]
    return triples


def _codes(paths: list[tuple[str | None, ...]]) -> Ints:
    """Return group codes by level, (n, depth); -1 after the end of a path."""
    depth = max(map(len, paths), default=0)
    codes = np.full((len(paths), depth), -1, dtype=np.int64)
    for level in range(depth):
        seen: dict[tuple[str | None, ...], int] = {}
        for row, path in enumerate(paths):
            head = path[: level + 1]
            if len(head) > level and all(step is not None for step in head):
                codes[row, level] = seen.setdefault(head, len(seen))
    return codes


def _steps(text: str | None, separator: str) -> list[str]:
    if text is None:
        return []
    if not separator:
        return [text]
    return [step.strip() for step in text.split(separator) if step.strip()]


def _texts(data: HeteroData, part: Dataset, column: str) -> list[str | None]:
    understood = infer(column, _cells(data, part, column))
    if understood.kind in ("number", "date"):
        return [None if np.isnan(value) else f"{value:g}" for value in understood.values]
    return [None if value is None else str(value) for value in understood.values]


def _cells(data: HeteroData, items: Dataset, column: str) -> pd.Series:
    for label in data.labels:
        if (label.dataset, label.name) == (items.name, column):
            return pd.Series(label.values)
    if items.table is None or column not in items.table.columns:
        names = [label.name for label in data.labels if label.dataset == items.name]
        names += [] if items.table is None else [str(name) for name in items.table.columns]
        raise DataError.of(
            "unknown-column",
            f"dataset {items.name!r}",
            "this label or column does not exist",
            column,
            f"Available: {', '.join(dict.fromkeys(names)) or 'none'}.",
        )
    return items.table[column]


def _as_comparisons(
    data: HeteroData, part: Dataset, column: str, rows: Ints, nothing: str
) -> Comparisons:
    if not len(rows):
        raise _problem(part, column, nothing)
    return Comparisons(rows + data.offsets[part.name].start)


def _problem(part: Dataset, column: str, message: str) -> DataError:
    return DataError.of(
        "no-comparisons",
        f"dataset {part.name!r}, column {column!r}",
        message,
        remedy="Choose another column.",
    )


def _check_count(n: object) -> None:
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise ParameterError(f"n_comparisons = {n!r} must be a whole number of 1 or more.")
