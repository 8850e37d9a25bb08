"""Groups of results of the search field: items, values, similar items, and what to try."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from hetviz._text import count, round_percent, shorten
from hetviz._types import Ints, JsonObject
from hetviz.core import sentence_vectors
from hetviz.core.measures.alike import most_alike_rows
from hetviz.data import HeteroData
from hetviz.data.queries.filters import column_of, fold_text
from hetviz.data.queries.search import (
    ValueMatch,
    example_value,
    search_cells,
    search_names,
)
from hetviz.features.item_search import can_search
from hetviz.memo import Memo
from hetviz.metrics.trust.alike import AlikeItems
from hetviz.plots.colour import display_name
from hetviz.ui.item import item_cards, item_head
from hetviz.ui.item.item import find_item
from hetviz.ui.map import meaning
from hetviz.ui.map_data import parts as map_parts
from hetviz.workspace import MapResult, State

Group = JsonObject
"""Results of one kind, JSON-ready."""

_MAX_LISTED = {"names": 8, "texts": 5, "values": 5, "alike": 6, "near": 4}
_LIKE = re.compile(r"\s*(?:(?:rows|items)\s+)?(?:like|similar\s+to)\s+(.+)", re.IGNORECASE)
_BASIS = {"kernel": "by the kernel of {}", "distance": "by the distances of {}"}
_NOTHING_LIKE = "This item has no links and no features to compare."
_MAX_SNIPPET, _BEFORE_CHARS = 160, 24
# Similarities of the items of a state, which the state also refers to.
_ALIKE = Memo(max_entries=1)


def find_results(
    state: State, run: MapResult | None, query: str, session: str, row: int | None = None
) -> JsonObject:
    """Return the groups of results of a query.

    `row`: The item of a query "like NAME"; else the item that fits the name best.
    """
    data = state.opened()
    if not query.strip():
        return {"groups": [], "pending": False, "note": "", "examples": _examples(data)}
    like = _LIKE.fullmatch(query)
    groups: list[Group] = []
    like_rows = None
    if like is not None:
        like_rows = [row] if row is not None else search_names(data, like[1], 1).best
        groups = _like_groups(state, run, like_rows[0]) if like_rows else []
    names, cells = search_names(data, query), search_cells(data, "" if groups else query)
    named = names.best[: _MAX_LISTED["names"]]
    named_items = _items(state, run, named, {row: _id_text(data, row, query) for row in named})
    groups.append(_group("names", "Items", named_items, len(names.rows), names.is_complete))
    values = [
        _value(value, len(data.datasets) > 1) for value in cells.values[: _MAX_LISTED["values"]]
    ]
    groups.append(_group("values", "Values", values, len(cells.values), cells.has_all_values))
    named_rows = set(names.rows.tolist())
    columns = {row: name for row, name in cells.columns.items() if row not in named_rows}
    listed = [*columns][: _MAX_LISTED["texts"]]
    texts = _items(
        state, run, listed, {row: _snippet(data, row, columns[row], query) for row in listed}
    )
    groups.append(
        _group("texts", "By words of their columns", texts, len(columns), cells.has_all_texts)
    )
    similar = meaning.find_by_meaning(data, query, session) if like is None else []
    new = [row for row in similar or () if row not in set(listed) | set(names.best)]
    note = "texts compared by a sentence model"
    groups.append(_group("meaning", "By meaning", _items(state, run, new), note=note))
    return {
        "groups": [group for group in groups if group["options"]],
        "pending": similar is None,
        "note": _nothing_text(data, query, like_rows),
        "examples": _examples(data),
    }


def matching_rows(data: HeteroData, query: str, group: str) -> Ints:
    """Return all rows of a group of results: "names" or "texts"."""
    named = search_names(data, query, count_all=True).rows
    if group == "names":
        return named
    cells = search_cells(data, query, count_all=True)
    return np.setdiff1d(np.fromiter(cells.columns, dtype=np.int64), named)


def _like_groups(state: State, run: MapResult | None, row: int) -> list[Group]:
    """Return the items most alike to an item by links and features, and the closest others."""
    data = state.opened()
    item = find_item(data, row)
    name, start = item.dataset.name, data.offsets[item.dataset.name].start
    items: AlikeItems = _ALIKE.get_or_compute(state, "alike", lambda: AlikeItems(data))
    alike = items.scores(name, item.row)
    title = shorten(item.title, 30)
    groups: list[Group] = []
    for scores, basis, by_features in (
        (alike.by_links, "by shared links", False),
        (
            alike.by_features,
            _BASIS.get(items.kind(name), "by all features of {}").format(name),
            True,
        ),
    ):
        if scores is None:
            continue
        rows = most_alike_rows(scores, item.row, _MAX_LISTED["alike"])
        shares = items.share_less_alike(name, scores[rows]) if by_features else scores[rows]
        asides = {
            int(other) + start: round_percent(float(share))
            for other, share in zip(rows, shares, strict=True)
        }
        note = "share of random pairs that are less alike" if by_features else "100 %: same links"
        options = _items(state, run, [*asides], asides=asides)
        groups.append(_group(f"alike-{by_features}", f"Like {title}, {basis}", options, note=note))
    # The place of an item without links says nothing of the items of other datasets.
    if run is not None and alike.by_links is not None:
        for other, nearest in item_head.nearest_items(state, run, row).items():
            if other != name:
                options = _items(state, run, nearest.rows[: _MAX_LISTED["near"]].tolist())
                groups.append(
                    _group(f"near-{other}", f"{other} closest to {title}, on this map", options)
                )
    return groups


def _group(
    key: str,
    title: str,
    options: list[JsonObject],
    total: int | None = None,
    is_complete: bool = True,
    note: str = "",
) -> Group:
    total = len(options) if total is None else total
    return {
        "key": key,
        "title": title,
        "options": options,
        "total": total,
        "is_complete": is_complete,
        "note": note,
    }


def _items(
    state: State,
    run: MapResult | None,
    rows: Iterable[int],
    details: Mapping[int, str] | None = None,
    asides: Mapping[int, str] | None = None,
) -> list[JsonObject]:
    placed = map_parts.get_geometry(state, run).placed
    return [
        {
            "kind": "item",
            "row": item["row"],
            "title": item["title"],
            "dataset": item["dataset"],
            "placed": bool(placed[item["row"]]),
            "detail": (details or {}).get(item["row"], ""),
            "aside": (asides or {}).get(item["row"], ""),
        }
        for item in item_cards.item_names(state.opened(), rows)
    ]


def _value(match: ValueMatch, has_many: bool) -> JsonObject:
    return {
        "kind": "value",
        "title": f"{display_name(match.column)}: {display_name(match.value)}",
        "dataset": match.dataset,
        "column": match.column,
        "value": match.value,
        "aside": f"{match.n_items:,} {match.dataset}" if has_many else count(match.n_items, "item"),
    }


def _id_text(data: HeteroData, row: int, query: str) -> str:
    """Return the id of an item whose title does not have the words of a query."""
    item = find_item(data, row)
    title = fold_text(item.title)
    is_in_title = all(word in title for word in fold_text(query).split())
    return "" if is_in_title else f"Id: {item.dataset.ids[item.row]}"


def _snippet(data: HeteroData, row: int, column: str, query: str) -> str:
    """Return a column and its text around the first word that matches."""
    item = find_item(data, row)
    text = " ".join(str(column_of(data, item.dataset.name, column).iloc[item.row]).split())
    word = fold_text(query.partition(":")[2] or query).split()[:1]
    at = max(fold_text(text).find(word[0]) - _BEFORE_CHARS, 0) if word else 0
    begin = text.rfind(" ", 0, at) + 1
    return f"{display_name(column)}: {'… ' if begin else ''}{text[begin : begin + _MAX_SNIPPET]}"


def _examples(data: HeteroData) -> list[str]:
    """Return queries that find something."""
    value = example_value(data)
    first = next((d for d in data.datasets.values() if not d.has_row_numbers), None)
    return [
        *([f"{value.column}: {value.value}"] if value is not None else []),
        *([f"like {first.titles[0]}"] if first is not None and len(first) > 1 else []),
    ]


def _nothing_text(data: HeteroData, query: str, like_rows: list[int] | None) -> str:
    """Return what was searched without success; `like_rows`: the item of a query "like NAME"."""
    if like_rows is not None:
        return _NOTHING_LIKE if like_rows else "No item has this name."
    places = "Names, ids, values and texts were searched for these words"
    by_meaning = can_search(data) and sentence_vectors.has_words(query)
    return f"{places}, and texts of items by meaning." if by_meaning else f"{places}."
