"""What the map says of single items: names to write, and the card that hovering shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from hetviz._pandas import is_missing
from hetviz._text import is_name, is_word, short
from hetviz._types import Ints
from hetviz.data import Dataset, HeteroData
from hetviz.plots.colour import Colouring, spoken
from hetviz.ui.map import pictures
from hetviz.ui.map.array_cache import kept
from hetviz.ui.map.item import Item, item_at

LONGEST_WORD = 24
_LONGEST_TITLE, _LONGEST_FACT, _LONGEST_TEXT = 200, 160, 400
_MOST_FACTS = 40


def items(data: HeteroData, rows: Iterable[int]) -> list[dict[str, Any]]:
    """Return name and dataset of rows, whether the name is one, and whether it fits on the map."""
    found = []
    for row in rows:
        item = item_at(data, row)
        title = short(item.title, _LONGEST_TITLE)
        named = is_name(item.title, str(item.dataset.ids[item.row]))
        found.append(
            {
                "row": row,
                "title": title,
                "dataset": item.dataset.name,
                "named": named,
                "word": named and len(title) <= LONGEST_WORD and is_word(title),
            }
        )
    return found


def card(data: HeteroData, row: int, colours: Colouring, session: str) -> dict[str, Any]:
    """Return what is known of one row, for its card.

    Parameters
    ----------
    data : HeteroData
    row : int
        Global.
    colours : Colouring
        Of these data; its value of the row is told.
    session : str
        For the address of the picture.
    """
    item = item_at(data, row)
    name = item.dataset.name
    return {
        "row": row,
        "title": short(item.title, _LONGEST_TITLE),
        "dataset": name,
        "facts": list(_facts(data, item))[:_MOST_FACTS],
        "text": _text(item),
        "picture": pictures.address(session, data, name, item.row),
        "links": int(kept(data, "degree", lambda: degree(data))[row]),
        "colour": _colour(colours, row),
    }


def degree(data: HeteroData) -> Ints:
    """Return how many links each row has, of either sign, shape (n_rows,)."""
    total = np.zeros(data.n_rows, dtype=np.int64)
    for links in data.links:
        for name, ends in ((links.source, links.i), (links.target, links.j)):
            total[data.offsets[name]] += np.bincount(ends, minlength=len(data[name]))
    return total


def _facts(data: HeteroData, item: Item) -> Iterator[tuple[str, str]]:
    dataset, row = item.dataset, item.row
    if str(dataset.ids[row]) != item.title:
        yield "id", short(str(dataset.ids[row]), _LONGEST_FACT)
    told = {dataset.title_column, (dataset.recipe or {}).get("media"), *_text_columns(dataset)}
    values: dict[str, Any] = {}
    if dataset.table is not None:
        for column in dataset.table.columns:
            values[str(column)] = dataset.table[column].iloc[row]
    for label in data.labels:
        if label.dataset == dataset.name:
            values.setdefault(label.name, label.values[row])
    units = dataset.units
    for column, value in values.items():
        words = value_words(value)
        if column not in told and words:
            unit = f" {units[column]}" if column in units else ""
            yield spoken(column), f"{short(words, _LONGEST_FACT)}{unit}"


def value_words(value: object) -> str:
    """Return a cell in words: six digits at most, yes and no, empty where it is missing."""
    if is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        number = float(value)
        whole = math.isfinite(number) and number.is_integer() and abs(number) < 1e15
        return str(int(number)) if whole else f"{number:.6g}"
    if isinstance(value, pd.Timestamp) and value == value.normalize():
        return value.date().isoformat()
    return str(value).strip()


def _text_columns(dataset: Dataset) -> list[str]:
    given = (dataset.recipe or {}).get("text") or []
    names = [given] if isinstance(given, str) else [str(name) for name in given]
    there = set() if dataset.table is None else set(map(str, dataset.table.columns))
    return [name for name in names if name in there and name != dataset.title_column]


def _text(item: Item) -> str | None:
    table = item.dataset.table
    if table is None:
        return None
    parts = [value_words(table[name].iloc[item.row]) for name in _text_columns(item.dataset)]
    return short(" ".join(filter(None, parts)), _LONGEST_TEXT) or None


def _colour(colours: Colouring, row: int) -> dict[str, object] | None:
    """Return what the colour of a row says, or None where it has no value."""
    title = colours.option.title
    if colours.option.kind == "numbers":
        value = float(colours.value[row])
        return None if math.isnan(value) else {"title": title, "value": f"{value:.6g}", "code": 0}
    code = int(colours.code[row])
    if code < -1:
        return {"title": title, "value": "other", "code": code}
    if code < 0:
        return None
    return {"title": title, "value": spoken(colours.categories[code]), "code": code}
