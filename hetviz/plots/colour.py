"""Colour options of a map and the value of each row under them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from hetviz._pandas import as_texts
from hetviz._text import capital, join_words
from hetviz._types import Bools, Floats, Ints, Reals
from hetviz.data import Dataset, HeteroData
from hetviz.features.columns.levels import (
    complete_order,
    is_cyclic,
    is_increasing,
    is_scale,
    natural_order,
)
from hetviz.features.linked_values import NO_VALUE, borrowed_rows, fill_codes, fill_numbers
from hetviz.memo import cached_while_alive
from hetviz.plots.palette import N_COLOURS, N_SLOTS, Theme, category_colours, in_theme

Kind = Literal["dataset", "categories", "numbers"]

BY_DATASET = "dataset"
OTHER = -2
_MAX_CATEGORIES = 200
# Numbers get a logarithmic scale if they span two powers of ten, most of them near the lower end.
_MIN_LOG_RATIO, _MAX_LINEAR_MEDIAN = 100.0, 0.1
_FIRST_ROWS = 100


@dataclass(frozen=True)
class ColourOption:
    """Column or measure that can colour the map."""

    # ``"dataset"``, ``"cluster"``, one of `LAYERS`, or a JSON list: a dataset and a column, of
    # which the title column stands for the items themselves; and a category for its share.
    key: str
    title: str  # Title in menus.
    kind: Kind  # One of {"dataset", "categories", "numbers"}.


LAYERS = {
    "trust": ColourOption("trust", "Trust", "numbers"),
    "stability": ColourOption("stability", "Stability", "numbers"),
}
"""Options that belong to a map rather than to its data."""

CLUSTER = ColourOption("cluster", "Cluster", "categories")
"""Clusters of the project. Colours repeat if there are more clusters than colours."""


@dataclass(frozen=True, eq=False)
class Colouring:
    """The value of every global row under one option."""

    option: ColourOption
    # In their natural order if they have one, such as ordered categories, else by size, largest
    # first. At most twelve, except for clusters. Empty for numbers.
    categories: tuple[str, ...]
    # Shape (n_rows,). Position in `categories`, -1 without a value, -2 for categories that are not
    # listed.
    code: Ints
    value: Floats  # Shape (n_rows,). Number of each row, NaN without one or for categories.
    n_other: int = 0  # Number of categories pooled as "other".
    # Datasets whose rows take the most frequent value of their linked rows.
    borrowed: tuple[str, ...] = ()
    ordered: bool = False  # Whether the categories form a scale and get a colour ramp.
    # Shape (n_rows,). Rows with a value of linked items; None for none.
    is_borrowed: Bools | None = None
    of_items: bool = False  # Whether the categories are items, and not values of a column.
    of_share: bool = False  # Whether the numbers are shares of a category among linked items.
    swatches: tuple[tuple[str, str], ...] = ()  # Categories with a colour that the user chose.

    def borrowed_note(self, data: HeteroData) -> str:
        """Say which datasets take their colour from another one, empty for none."""
        if not self.borrowed:
            return ""
        source = "what they link to"
        if data.n_objects < data.n_rows:
            source = "the same items in the other dataset"
        start = join_words(list(self.borrowed))
        start = capital(start) if self.is_pale is None else f"Paler: {start}"
        return f"{start} take the colour of {source}."

    def borrows(self, row: int) -> bool:
        """Return whether the value of a row is that of the items it links to."""
        return self.is_borrowed is not None and bool(self.is_borrowed[row])

    @property
    def is_pale(self) -> Bools | None:
        """Which rows are drawn paler, shape (n_rows,): those with a value of linked items."""
        return None if self.of_items or self.of_share else self.is_borrowed

    @property
    def own_code(self) -> Ints:
        """The code of each row, -1 for values of linked items, unless categories are items."""
        if self.is_borrowed is None or self.of_items:
            return self.code
        return np.where(self.is_borrowed, NO_VALUE, self.code)

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the scale of numbers, whole if the numbers of the column are."""
        low, high = number_range(self.value)
        is_own = np.isfinite(self.value)
        if self.is_borrowed is not None:
            is_own &= ~self.is_borrowed
        own = self.value[is_own]
        if len(own) and bool((own == np.rint(own)).all()) and round(low) < round(high):
            return float(round(low)), float(round(high))
        return low, high

    @property
    def end_signs(self) -> tuple[str, str]:
        """What stands before the ends of the scale: a sign where numbers lie beyond."""
        low, high = self.ends
        below, above = bool((self.value < low).any()), bool((self.value > high).any())
        return "≤ " * below, "≥ " * above

    @property
    def is_log(self) -> bool:
        """Whether numbers have a logarithmic scale: else most would have the same colour."""
        low, high = self.ends
        if self.categories or self.of_share or self.option.key in LAYERS:
            return False
        if low <= 0 or high < _MIN_LOG_RATIO * low:
            return False
        return float(np.nanmedian(self.value)) < low + _MAX_LINEAR_MEDIAN * (high - low)

    @property
    def scaled(self) -> tuple[Floats, float, float]:
        """Numbers of the rows and ends of the scale, as decimal logarithms if it is logarithmic."""
        low, high = self.ends
        if not self.is_log:
            return self.value, low, high
        return np.log10(np.maximum(self.value, low)), math.log10(low), math.log10(high)

    @property
    def shares(self) -> Floats:
        """Place of each row on the scale of colours, from 0 to 1, NaN without a number."""
        value, low, high = self.scaled
        return np.clip((value - low) / (high - low), 0.0, 1.0)

    def value_text(self, row: int) -> str:
        """Return the value of a row in words, marked if it is that of linked items; or ""."""
        if not self.categories:
            value = float(self.value[row])
            if np.isnan(value):
                return ""
            return f"{value:.6g}, mean of links" if self.borrows(row) else f"{value:.6g}"
        code = int(self.code[row])
        name = "other" if code < NO_VALUE else display_name(self.categories[code])
        if code == NO_VALUE:
            return ""
        return f"mostly {name}, by links" if self.borrows(row) else name

    def colours(self, theme: Theme) -> tuple[str, ...]:
        usual = category_colours(len(self.categories), theme, ordered=self.ordered)
        chosen = {name: in_theme(colour, theme) for name, colour in self.swatches}
        return tuple(map(chosen.get, self.categories, usual))


def colour_options(data: HeteroData) -> list[ColourOption]:
    """Return the colour options of the data: labels, then columns, then dataset."""
    # O(rows) per column, once per data object.
    return list(_list_options(data))


@cached_while_alive
def _list_options(data: HeteroData) -> list[ColourOption]:
    options: dict[str, ColourOption] = {}
    many = len(data.datasets) > 1

    def add_option(dataset: str, column: str, values: pd.Series) -> None:
        if (kind := _kind(values)) is not None:
            unit = data[dataset].units.get(column) if kind == "numbers" else None
            if kind == "numbers" and pd.api.types.is_datetime64_any_dtype(values):
                unit = "year"
            title = display_name(column) + (f" ({unit})" if unit else "")
            title += f" of {dataset}" if many else ""
            key = json.dumps([dataset, column])
            options.setdefault(key, ColourOption(key, title, kind))

    for label in data.labels:
        add_option(label.dataset, label.name, pd.Series(label.values))
    for name, dataset in data.datasets.items():
        if dataset.table is not None:
            for column in dataset.table.columns:
                if column != dataset.title_column:
                    add_option(name, str(column), dataset.table[column])
    by_dataset = ColourOption(BY_DATASET, "dataset", "dataset")
    return [*options.values(), by_dataset, *_item_options(data)]


def _default_option(data: HeteroData) -> ColourOption:
    """Return the option of the first label, or the dataset: any other column may say nothing."""
    options = colour_options(data)
    by_dataset = next(option for option in options if option.kind == "dataset")
    return options[0] if data.labels and options[0].kind != "dataset" else by_dataset


def _item_options(data: HeteroData) -> list[ColourOption]:
    """Return options to color by the items of small datasets that many items link to."""
    sizes = {name: len(dataset) for name, dataset in data.datasets.items()}
    pairs = [(group.source, group.target) for group in data.links]
    names = dict.fromkeys(
        min(pair, key=lambda name: sizes[name])
        for pair in pairs
        if 2 * min(sizes[pair[0]], sizes[pair[1]]) <= max(sizes[pair[0]], sizes[pair[1]])
    )
    return [
        ColourOption(
            json.dumps([name, data[name].title_column or ""]), f"most linked {name}", "categories"
        )
        for name in names
        if 2 <= sizes[name] <= _MAX_CATEGORIES
    ]


def colouring(data: HeteroData, key: str | None = None) -> Colouring:
    """Return the value of each row under an option; if `key` is unknown, the first label."""
    option = find_option(data, key or "") or _default_option(data)
    none = np.full(data.n_rows, np.nan)
    if option.kind == "dataset":
        code = np.concatenate([np.full(len(d), k) for k, d in enumerate(data.datasets.values())])
        names = tuple(data.datasets)[:N_SLOTS]
        code = np.where(code < N_SLOTS, code, OTHER)
        return Colouring(option, names, code, none, max(len(data.datasets) - N_SLOTS, 0))
    dataset, column, *category = json.loads(option.key)
    column_values = _column(data, data[dataset], column)
    if option.kind == "numbers":
        value = none.copy()
        value[data.offsets[dataset]] = (
            _is_category(column_values, category[0]) if category else _numbers(column_values)
        )
        spread = fill_numbers(data, dataset, value)
        return _with_borrowed(
            data,
            dataset,
            Colouring(option, (), np.zeros(data.n_rows, np.int64), spread, of_share=bool(category)),
        )
    has_value = column_values.notna().to_numpy(dtype=bool)
    texts = as_texts(column_values[has_value])
    sizes = texts.value_counts()
    order = sorted(sizes.index, key=lambda name: (-sizes[name], name))
    code = np.full(data.n_rows, NO_VALUE)
    rows = np.flatnonzero(has_value) + data.offsets[dataset].start
    code[rows] = pd.Index(order).get_indexer(pd.Index(texts))
    code = fill_codes(data, dataset, code, len(order))
    if _is_of_items(data[dataset], column):
        # Items are listed by the number of rows that take their colour.
        n_rows = np.bincount(code[code >= 0], minlength=len(order))
        by_rows = np.argsort(-n_rows, kind="stable")
        code[code >= 0] = np.argsort(by_rows)[code[code >= 0]]
        order = [order[k] for k in by_rows]
    listed = order[:N_COLOURS]
    code[code >= len(listed)] = OTHER
    user_order = data[dataset].orders.get(column)
    position = _natural_order(column_values, listed, user_order)
    if position is None:
        # The order of the legend, which counts items with their own value.
        position = list(range(len(listed)))
    new_code = np.argsort(position)
    code[code >= 0] = new_code[code[code >= 0]]
    names = tuple(listed[k] for k in position)
    ordered = _is_ordered(column_values, names, user_order)
    result = Colouring(
        option,
        names,
        code,
        none,
        len(order) - len(listed),
        ordered=ordered,
        of_items=_is_of_items(data[dataset], column),
    )
    return _with_borrowed(data, dataset, result)


def find_option(data: HeteroData, key: str) -> ColourOption | None:
    """Return the option of a key, also for the share of a category, or None."""
    option = next((option for option in colour_options(data) if option.key == key), None)
    if option is not None or not key.startswith("["):
        return option
    try:
        dataset, column, category = json.loads(key)
    except ValueError:
        return None
    of_column = find_option(data, json.dumps([dataset, column]))
    if of_column is None or of_column.kind != "categories":
        return None
    return _share_option(data, dataset, column, str(category))


def share_options(data: HeteroData, colours: Colouring) -> list[ColourOption]:
    """Return options for the share of each category among linked items."""
    if not (colours.borrowed and colours.option.key.startswith("[")):
        return []
    dataset, column, *category = json.loads(colours.option.key)
    if category:
        return [colours.option]
    return [_share_option(data, dataset, column, name) for name in colours.categories]


def _share_option(data: HeteroData, dataset: str, column: str, category: str) -> ColourOption:
    is_of_items = _is_of_items(data[dataset], column)
    label = category if is_of_items else f"{display_name(column)}: {display_name(category)}"
    key = json.dumps([dataset, column, category])
    return ColourOption(key, f"{label}, share of linked {dataset}", "numbers")


def _numbers(values: pd.Series) -> Floats:
    """Return numbers, dates as years with a fraction, NaN for missing values."""
    if pd.api.types.is_datetime64_any_dtype(values):
        years = values.dt.year + (values.dt.day_of_year - 1) / 365.25
        return np.asarray(years.to_numpy(np.float64, na_value=np.nan))
    return np.asarray(pd.to_numeric(values, errors="coerce").to_numpy(np.float64))


def _is_category(values: pd.Series, category: str) -> Floats:
    """Return 1 for the rows of a category, 0 for others and NaN for missing values."""
    is_category = (as_texts(values) == category).to_numpy(np.float64)
    return np.where(values.isna().to_numpy(dtype=bool), np.nan, is_category)


def _natural_order(
    values: pd.Series, names: Sequence[str], user_order: Sequence[str] | None
) -> list[int] | None:
    """Return the natural order of categories as positions in `names`, or None."""
    if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
        rank = {str(name): k for k, name in enumerate(values.cat.categories)}
        return sorted(range(len(names)), key=lambda k: rank[names[k]])
    order = natural_order(names) if user_order is None else complete_order(user_order, names)
    if order is None:
        return None
    rank_of = {name: place for place, name in enumerate(order)}
    return sorted(range(len(names)), key=lambda k: rank_of[names[k]])


def _is_ordered(values: pd.Series, names: Sequence[str], user_order: Sequence[str] | None) -> bool:
    """Return whether categories form a scale, by a given order, their type or their words."""
    is_ordered_type = isinstance(values.dtype, pd.CategoricalDtype) and bool(values.dtype.ordered)
    return (
        not is_cyclic(names) if is_ordered_type or user_order is not None else is_increasing(names)
    )


def layer_colouring(key: str, value: Floats) -> Colouring:
    """Return the colouring by one of `LAYERS`. `value` has shape (n_rows,)."""
    return Colouring(LAYERS[key], (), np.zeros(len(value), dtype=np.int64), value)


def cluster_colouring(names: Sequence[str], codes: Ints) -> Colouring:
    """Return the colouring by clusters. `codes` has shape (n_rows,), -1 without a cluster."""
    return Colouring(CLUSTER, tuple(names), codes, np.full(len(codes), np.nan))


def number_range(value: Reals) -> tuple[float, float]:
    """Return the ends of the colour scale, the 2 and 98 % quantiles, never equal."""
    finite = value[np.isfinite(value)].astype(np.float64)
    low, high = map(float, np.quantile(finite, [0.02, 0.98])) if len(finite) else (0.0, 1.0)
    return low, high if high > low else low + 1.0


def display_name(text: str) -> str:
    """Return a slug such as ``smileys-emotion`` as words, and other text, such as ``bc``, as is."""
    # A count such as ``n_emoji`` becomes "Number of emoji".
    plain = text.replace("-", "").replace("_", "")
    if plain.isalpha() and text == text.lower():
        words = text.replace("-", " ").replace("_", " ").strip()
        if text.startswith(("n_", "num_")):
            words = f"number of {words.partition(' ')[2]}"
        is_code = words.isascii() and len(words) > 1 and not set("aeiouy") & set(words)
        return words if is_code else capital(words)
    return text


def _with_borrowed(data: HeteroData, owner: str, result: Colouring) -> Colouring:
    has = np.asarray(result.code != NO_VALUE if result.categories else ~np.isnan(result.value))
    is_borrowed = borrowed_rows(data, owner, has)
    borrowed = tuple(name for name, rows in data.offsets.items() if is_borrowed[rows].any())
    return replace(result, borrowed=borrowed, is_borrowed=is_borrowed if borrowed else None)


def _is_of_items(dataset: Dataset, column: str) -> bool:
    """Return whether a column of an option stands for the items themselves."""
    return column == (dataset.title_column or "")


def _column(data: HeteroData, dataset: Dataset, column: str) -> pd.Series:
    for label in data.labels:
        if label.dataset == dataset.name and label.name == column:
            return pd.Series(label.values)
    if _is_of_items(dataset, column):
        return pd.Series(dataset.display_names)
    assert dataset.table is not None  # noqa: S101 - colour_options found the column there
    return dataset.table[column]


def _kind(values: pd.Series) -> Kind | None:
    present = values.dropna()
    real = pd.api.types.is_float_dtype(present) or pd.api.types.is_integer_dtype(present)
    # Distinct numbers are distinct texts, and conversion to text is slow.
    sizes = (present if real else present.astype(str)).value_counts()
    n_distinct = len(sizes)
    if n_distinct < 2:
        return None
    if is_scale(sizes) and (real or _all_numbers(present)):
        return "numbers"
    if n_distinct > _MAX_CATEGORIES or n_distinct > 0.5 * len(present) + 1:
        return None
    return "categories"


def _all_numbers(present: pd.Series) -> bool:
    """Return whether all values are numbers. The first rows settle most columns."""
    if pd.api.types.is_bool_dtype(present):
        return False
    return all(
        bool(pd.to_numeric(part, errors="coerce").notna().all())
        for part in (present.iloc[:_FIRST_ROWS], present.iloc[_FIRST_ROWS:])
    )


def map_alt(data: HeteroData, colouring: Colouring, hidden: Collection[str] = ()) -> str:
    """Return the text alternative of the map."""
    kinds = [f"{len(d):,} {name}" for name, d in data.datasets.items() if name not in hidden]
    words = f"Map of {' and '.join(kinds) or 'nothing'}, coloured by {colouring.option.title}"
    if colouring.categories:
        words += ": " + ", ".join(map(display_name, colouring.categories))
    return words + "."
