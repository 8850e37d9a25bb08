"""Names of items on the map and the card shown on hovering."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from hetviz._pandas import is_missing
from hetviz._text import is_name, is_word, shorten
from hetviz._types import Ints
from hetviz.data import Dataset, HeteroData
from hetviz.plots.colour import Colouring, display_name
from hetviz.ui.item import pictures
from hetviz.ui.item.item import MapItem, find_item
from hetviz.ui.map_data.array_cache import RESULTS

MAX_WORD_CHARS = 24
_MAX_TITLE_CHARS, _MAX_FACT_CHARS, _MAX_TEXT_CHARS = 200, 160, 400
_MAX_FACTS = 40


def item_names(data: HeteroData, rows: Iterable[int]) -> list[dict[str, Any]]:
    """Return the titles and datasets of rows, and which titles fit on the map."""
    specs = []
    for row in rows:
        item = find_item(data, row)
        title = shorten(item.title, _MAX_TITLE_CHARS)
        named = is_name(item.title, str(item.dataset.ids[item.row]))
        specs.append(
            {
                "row": row,
                "title": title,
                "dataset": item.dataset.name,
                "named": named,
                "word": named and len(title) <= MAX_WORD_CHARS and is_word(title),
            }
        )
    return specs


def item_card(data: HeteroData, row: int, colours: Colouring, session: str) -> dict[str, Any]:
    """Return the card of a row."""
    item = find_item(data, row)
    name = item.dataset.name
    return {
        "row": row,
        "title": shorten(item.title, _MAX_TITLE_CHARS),
        "dataset": name,
        "facts": list(_iter_facts(data, item))[:_MAX_FACTS],
        "text": _item_text(item),
        "picture": pictures.picture_address(session, data, name, item.row),
        "links": int(RESULTS.get_or_compute(data, "degree", lambda: link_counts(data))[row]),
        "colour": _colour_value(colours, row),
    }


def link_counts(data: HeteroData) -> Ints:
    """Return the number of links of each row, of either sign, shape (n_rows,)."""
    total = np.zeros(data.n_rows, dtype=np.int64)
    for links in data.links:
        for name, ends in ((links.source, links.i), (links.target, links.j)):
            total[data.offsets[name]] += np.bincount(ends, minlength=len(data[name]))
    return total


def _iter_facts(data: HeteroData, item: MapItem) -> Iterator[tuple[str, str]]:
    dataset, row = item.dataset, item.row
    if str(dataset.ids[row]) != item.title:
        yield "id", shorten(str(dataset.ids[row]), _MAX_FACT_CHARS)
    hidden = {dataset.title_column, (dataset.recipe or {}).get("media"), *_text_columns(dataset)}
    values: dict[str, Any] = {}
    if dataset.table is not None:
        for column in dataset.table.columns:
            values[str(column)] = dataset.table[column].iloc[row]
    for label in data.labels:
        if label.dataset == dataset.name:
            values.setdefault(label.name, label.values[row])
    units = dataset.units
    for column, value in values.items():
        text = value_text(value)
        if column not in hidden and text:
            unit = f" {units[column]}" if column in units else ""
            yield display_name(column), f"{shorten(text, _MAX_FACT_CHARS)}{unit}"


def value_text(value: object) -> str:
    """Return a cell as text: at most six digits, yes or no, empty if missing."""
    if is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        number = float(value)
        is_whole = math.isfinite(number) and number.is_integer() and abs(number) < 1e15
        return str(int(number)) if is_whole else f"{number:.6g}"
    if isinstance(value, pd.Timestamp) and value == value.normalize():
        return value.date().isoformat()
    return str(value).strip()


def _text_columns(dataset: Dataset) -> list[str]:
    declared = (dataset.recipe or {}).get("text") or []
    names = [declared] if isinstance(declared, str) else [str(name) for name in declared]
    columns = set() if dataset.table is None else set(map(str, dataset.table.columns))
    return [name for name in names if name in columns and name != dataset.title_column]


def _item_text(item: MapItem) -> str | None:
    table = item.dataset.table
    if table is None:
        return None
    parts = [value_text(table[name].iloc[item.row]) for name in _text_columns(item.dataset)]
    return shorten(" ".join(filter(None, parts)), _MAX_TEXT_CHARS) or None


def _colour_value(colours: Colouring, row: int) -> dict[str, object] | None:
    text = colours.value_text(row)
    if not text:
        return None
    code = int(colours.code[row]) if colours.categories else 0
    return {"title": colours.option.title, "value": text, "code": code}
