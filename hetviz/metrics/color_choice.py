"""The column whose groups a map separates best, of all datasets and of what items link to."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints, Rng, Sparse
from hetviz.data import Embedding, HeteroData
from hetviz.features.columns.levels import is_scale
from hetviz.features.columns.names import are_web_addresses, is_named_id, label_reason
from hetviz.features.linked_values import NO_VALUE, most_frequent
from hetviz.features.summaries import HOW_MANY

_MIN_GROUPS, _MAX_GROUPS = 3, 12
# Values with at most this share of the rows are no groups.
_MIN_GROUP_SHARE = 0.01
# The groups together have at least, and the largest at most, these shares of the rows.
_MIN_COVERED_SHARE = 0.9
_MAX_LARGEST_SHARE = 0.75
_MAX_VALUES = 200
_N_NEIGHBORS = 10
_MAX_ROWS = 3_000
_MAX_COLUMNS = 150
_MIN_ROWS = 12
MIN_COLOR_SCORE = 0.05
"""Scores below this are at chance level."""
# Groups with at least this score are preferred to numbers.
_CLEAR_SCORE = 0.2
_N_PERMUTATIONS = 20
_MIN_STANDARD_ERRORS = 4.0
# Reduces the score of columns with many missing values.
_COVERAGE_EXPONENT = 0.25


@dataclass(frozen=True, eq=False)
class _Sample:
    """Placed rows of a dataset, and the nearest of these for each."""

    rows: Ints
    nearest: Ints
    weight: float


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of the sampled rows of a dataset: of a column, of linked items, or these items."""

    key: str
    sample: _Sample
    codes: Ints  # Shape (n_sampled,), -1 without a group.
    permuted: Callable[[np.random.Generator], Ints]  # Codes of a random assignment of groups.
    least: int = _MIN_GROUPS

    @property
    def score(self) -> float:
        """Agreement of neighbours beyond chance, 0 without groups."""
        if not _are_groups(self.codes, self.least):
            return 0.0
        return self.sample.weight * _code_agreement(self.codes, self.sample.nearest)

    def is_above_chance(self) -> bool:
        """Return whether neighbours agree clearly more often than in random assignments."""
        rng = np.random.default_rng(0)
        nearest = self.sample.nearest
        random = [_code_agreement(self.permuted(rng), nearest) for _ in range(_N_PERMUTATIONS)]
        limit = float(np.mean(random) + _MIN_STANDARD_ERRORS * np.std(random))
        return _code_agreement(self.codes, nearest) > limit


def find_best_color(data: HeteroData, embedding: Embedding) -> str | None:
    """Return the key of the column whose groups a map separates best beyond chance.

    Columns with 3 to 12 groups and labels with 2 come first, if neighbours clearly agree in one,
    and labels before others, since the map may be made from a column. Of columns with the same name
    and values, that of most items is taken. Then numbers of more than two values count as well, and
    where neither is above chance, columns of two words. A column with one value in more than three
    quarters of the rows has no groups. Rows of other datasets take the most frequent group of their
    links, and the items of small datasets that many items link to are groups themselves.

    The score of groups is (a - c) / (1 - c), where a is the share of the 10 nearest of the same
    dataset with the same group and c the share for any two items. The score of numbers is the
    correlation of ranks with those of the neighbours. Both are multiplied by the fourth root of the
    share of items with a value, and of the share of items in the dataset. Groups count only if the
    agreement is four standard deviations above that of 20 random assignments of groups. Uses at
    most 3,000 rows per dataset and 150 columns, O(n log n + links).
    """
    samples = {}
    for name, places in embedding.coordinates.items():
        if name in data.datasets and len(places) == len(data[name]):
            rows, nearest = _sampled_neighbors(places, embedding.placed[name])
            weight = (len(data[name]) / data.n_rows) ** _COVERAGE_EXPONENT
            if len(rows):
                samples[name] = _Sample(rows, nearest, weight)
    scored = [(groups.score, groups) for groups in _all_groups(data, samples)]
    labels = {json.dumps([label.dataset, label.name]) for label in data.labels}
    # Equal scores keep the order of the data.
    scored = sorted(
        (pair for pair in scored if pair[0] > MIN_COLOR_SCORE),
        key=lambda pair: (pair[0] < _CLEAR_SCORE or pair[1].key not in labels, -pair[0]),
    )
    best = next(((score, groups.key) for score, groups in scored if groups.is_above_chance()), None)
    if best is not None and best[0] >= _CLEAR_SCORE:
        clear = {groups.key for score, groups in scored if score >= _CLEAR_SCORE}
        return _fullest_column(data, best[1], clear)
    for name, column, values in _usable_columns(data):
        if name in samples:
            sample = samples[name]
            cells = values.iloc[sample.rows].reset_index(drop=True)
            is_pair = cells.nunique() < _MIN_GROUPS
            if is_pair and (best is not None or pd.api.types.is_numeric_dtype(cells)):
                continue
            score = sample.weight * _agreement(cells, sample.nearest)
            if score > (MIN_COLOR_SCORE if best is None else best[0] + 1e-9):
                best = score, json.dumps([name, column])
    return None if best is None else best[1]


def _fullest_column(data: HeteroData, best: str, clear: Container[str]) -> str:
    """Return the column of most items with the name and values of the best one."""
    own_name = json.loads(best)[1].casefold()
    filled = {
        json.dumps([name, column]): values.dropna()
        for name, column, values in _usable_columns(data)
        if column.casefold() == own_name
    }
    wanted = set(filled[best].astype(str)) if best in filled else None
    same = [
        key
        for key, values in filled.items()
        if key in clear and wanted is not None and wanted <= set(values.astype(str))
    ]
    return max(same, key=lambda key: (len(filled[key]), key == best), default=best)


def _all_groups(data: HeteroData, samples: Mapping[str, _Sample]) -> Iterator[_Groups]:
    """Yield the groups of columns, first in their own dataset, and of linked items."""
    blocks = dict(_link_blocks(data, samples))
    labels = {(label.dataset, label.name) for label in data.labels}
    for owner, column, values in _usable_columns(data):
        least = _MIN_GROUPS
        if (owner, column) in labels and not pd.api.types.is_numeric_dtype(values):
            least = 2
        if (codes := _codes_of(values, least)) is None:
            continue
        key = json.dumps([owner, column])
        if owner in samples:
            sample = samples[owner]
            permuted = partial(_permuted_codes, codes, sample.rows)
            yield _Groups(key, sample, codes[sample.rows], permuted, least)
        for (name, other), W in blocks.items():
            if other == owner:
                linked = partial(_linked_codes, W)
                permuted = partial(_permuted_linked, linked, codes)
                yield _Groups(key, samples[name], linked(codes), permuted, least)
    for (name, other), W in blocks.items():
        n_items = len(data[other])
        if _MIN_GROUPS <= n_items <= min(_MAX_VALUES, len(data[name]) // 2):
            codes = _linked_codes(W, np.arange(n_items))
            everyone = np.arange(len(codes))
            key = json.dumps([other, data[other].title_column or ""])
            yield _Groups(key, samples[name], codes, partial(_permuted_codes, codes, everyone))


def _link_blocks(
    data: HeteroData, samples: Mapping[str, _Sample]
) -> Iterator[tuple[tuple[str, str], Sparse]]:
    """Yield the link weights between sampled rows of a dataset and all rows of another."""
    pairs = {(group.source, group.target) for group in data.links if group.source != group.target}
    for name, sample in samples.items():
        others = [other for other in data.datasets if {(name, other), (other, name)} & pairs]
        if others:
            W = data.adjacency("+")[data.offsets[name].start + sample.rows]
            for other in others:
                yield (name, other), W[:, data.offsets[other]]


def _linked_codes(W: Sparse, codes: Ints) -> Ints:
    """Return the code with most link weight of each row of W, -1 without one."""
    known = np.flatnonzero(codes >= 0)
    shape = (len(codes), int(codes.max(initial=0)) + 1)
    votes = W @ sp.csr_array((np.ones(len(known)), (known, codes[known])), shape=shape)
    out = np.full(W.shape[0], NO_VALUE, dtype=np.int64)
    rows, best = most_frequent(votes)
    out[rows] = best
    return out


def _permuted_codes(codes: Ints, rows: Ints, rng: Rng) -> Ints:
    out, is_known = codes.copy(), codes >= 0
    out[is_known] = rng.permutation(codes[is_known])
    return out[rows]


def _permuted_linked(linked: Callable[[Ints], Ints], codes: Ints, rng: Rng) -> Ints:
    return linked(_permuted_codes(codes, np.arange(len(codes)), rng))


def _are_groups(codes: Ints, least: int) -> bool:
    """Return whether codes are `least` to 12 groups, and none has nearly all rows."""
    sizes = np.sort(np.bincount(codes[codes >= 0]))[::-1]
    n = int(sizes.sum())
    if n < _MIN_ROWS:
        return False
    n_groups = int((sizes > max(1, _MIN_GROUP_SHARE * n)).sum())
    return (
        n_groups >= least
        and sizes[:_MAX_GROUPS].sum() >= _MIN_COVERED_SHARE * n
        and sizes[0] <= _MAX_LARGEST_SHARE * n
    )


def _usable_columns(data: HeteroData) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield dataset, name and values of columns that are no ids, titles, counts or phones."""
    for name, dataset in data.datasets.items():
        for column, values in _color_columns(data, name).items():
            numbers = None
            if pd.api.types.is_numeric_dtype(values) and (values.dropna() % 1 == 0).all():
                numbers = values.to_numpy(dtype=np.float64)
            is_label = is_named_id(column) or label_reason(column, numbers) is not None
            is_label |= column.endswith(HOW_MANY)
            is_label |= numbers is None and are_web_addresses(values.dropna().unique())
            if column != dataset.title_column and not is_label:
                yield name, column, values


def _codes_of(values: pd.Series, least: int) -> Ints | None:
    """Return the category of each row, the most frequent first, -1 for none; None for numbers."""
    if pd.api.types.is_numeric_dtype(values) and is_scale(values.value_counts()):
        return None
    texts = values.astype(str).where(values.notna())
    sizes = texts.value_counts()
    if not least <= len(sizes) <= _MAX_VALUES:
        return None
    levels = sorted(sizes.index, key=lambda level: (-sizes[level], level))
    return np.asarray(pd.Index(levels).get_indexer(pd.Index(texts)), dtype=np.int64)


def color_agreement(data: HeteroData, embedding: Embedding, key: str) -> float:
    """Return how well neighbours on a map agree in a column: 0 is chance, 1 is always."""
    try:
        name, column = json.loads(key)
        dataset = data.datasets[name]
    except (ValueError, TypeError, KeyError):
        return 1.0
    values = _color_columns(data, name).get(column)
    if values is None or name not in embedding.coordinates:
        return 1.0
    numbers = pd.to_numeric(values, errors="coerce")
    levels = values.nunique()
    if levels > _MAX_GROUPS and (numbers.isna() & values.notna()).any():
        return 1.0
    placed = embedding.placed[name]
    if len(placed) != len(dataset):
        return 1.0
    rows, nearest = _sampled_neighbors(embedding.coordinates[name], placed)
    if not len(rows):
        return 1.0
    return _agreement(values.iloc[rows].reset_index(drop=True), nearest)


def _color_columns(data: HeteroData, name: str) -> dict[str, pd.Series]:
    """Return the columns of a dataset to color by, labels first."""
    dataset = data[name]
    columns = {
        label.name: pd.Series(label.values) for label in data.labels if label.dataset == name
    }
    if dataset.table is not None:
        for column in map(str, dataset.table.columns[:_MAX_COLUMNS]):
            columns.setdefault(column, dataset.table[column])
    return columns


def _sampled_neighbors(Y: Floats, placed: Bools) -> tuple[Ints, Ints]:
    """Return a sample of placed rows, and the nearest of these for each."""
    from sklearn.neighbors import NearestNeighbors

    rows = np.flatnonzero(placed)
    rows = rows[:: max(1, len(rows) // _MAX_ROWS)]
    k = min(_N_NEIGHBORS, len(rows) - 1)
    if len(rows) < _MIN_ROWS or k < 1:
        return rows[:0], np.zeros((0, 1), dtype=np.int64)
    nearest = NearestNeighbors(n_neighbors=k).fit(Y[rows]).kneighbors(return_distance=False)
    return rows, np.asarray(nearest, dtype=np.int64)


def _agreement(values: pd.Series, nearest: Ints) -> float:
    """Return how often neighbours have the same value: 0 is chance level, 1 is always."""
    is_known = values.notna().to_numpy()
    if is_known.sum() < _MIN_ROWS:
        return 0.0
    pairs = is_known[:, None] & is_known[nearest]
    if not pairs.any():
        return 0.0
    coverage = float(is_known.mean()) ** _COVERAGE_EXPONENT
    numbers = pd.to_numeric(values, errors="coerce")
    if bool(numbers[is_known].notna().all()) and is_scale(numbers.value_counts()):
        x = numbers.rank().to_numpy(np.float64)
        x = x - np.nanmean(x)
        spread = float(np.nanmean(x**2))
        covariance = float((x[:, None] * x[nearest])[pairs].mean())
        return coverage * covariance / spread if spread > 0 else 0.0
    codes, levels = pd.factorize(values.astype(str).where(is_known))
    return _code_agreement(codes, nearest) if 2 <= len(levels) <= _MAX_GROUPS else 0.0


def _code_agreement(codes: Ints, nearest: Ints) -> float:
    """Return how often neighbours have the same group: 0 is chance level, 1 is always."""
    is_known = codes >= 0
    pairs = is_known[:, None] & is_known[nearest]
    if not pairs.any():
        return 0.0
    share_same = float((codes[:, None] == codes[nearest])[pairs].mean())
    chance = float(((np.bincount(codes[is_known]) / is_known.sum()) ** 2).sum())
    coverage = float(is_known.mean()) ** _COVERAGE_EXPONENT
    return coverage * (share_same - chance) / (1 - chance) if chance < 1 else 0.0
