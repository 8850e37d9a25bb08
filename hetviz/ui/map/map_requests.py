"""Requests of the map component and their responses, for the app and for notebooks.

The app serves them over routes (`hetviz.ui.map.routes`), a notebook over its kernel
(`hetviz.ui.notebook`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.data.queries.search import MAX_QUERY_CHARS, rows_with_value
from hetviz.errors import HetvizError
from hetviz.ui.item import item_cards, item_head, thumbnails
from hetviz.ui.map import links_of_rows
from hetviz.ui.map.search_results import find_results, matching_rows
from hetviz.ui.map_data import layers
from hetviz.ui.map_data import parts as map_parts
from hetviz.ui.map_data.array_cache import ARRAYS, PackedArray, send_array
from hetviz.workspace import MapResult, State

MAX_ITEMS = 400
_MAX_LIST_CHARS = 12 * MAX_ITEMS

# Cache-Control headers. Only browsers may cache, never proxies.
CACHE_FOREVER = "private, max-age=31536000, immutable"
CACHE_BRIEFLY = "private, max-age=600"
REVALIDATE = "private, no-cache"
NO_STORE = "private, no-store"

BINARY = "application/octet-stream"


_MAX_ROW = 2**31


class RequestError(Exception):
    """A request that gets no content.

    Parameters
    ----------
    status : int
        404 if not found, 202 while it is computed, 204 for rows of other data, 400 if invalid,
        413 if too long.
    """

    def __init__(self, status: int = 404) -> None:
        self.status = status


def parse_integer(text: str, low: int, high: int) -> int:
    """Parse an integer of ASCII digits from `low` to `high`."""
    # isdecimal accepts digits of other scripts, which int parses.
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise RequestError(400)
    number = int(text)
    if not low <= number <= high:
        raise RequestError(404 if number > high else 400)
    return number


@dataclass(frozen=True, eq=False)
class OpenProject:
    """Open project of a session."""

    session: str
    state: State
    data: HeteroData

    @property
    def run(self) -> MapResult | None:
        """Chosen map."""
        return self.state.run

    def rows(self, texts: Sequence[str], max_rows: int) -> list[int]:
        """Parse global rows."""
        if not texts or len(texts) > max_rows:
            raise RequestError(400)
        rows = [parse_integer(text, 0, _MAX_ROW) for text in texts]
        if max(rows) >= self.data.n_rows:
            # The page has older data. Not 404, since browsers log these as errors.
            raise RequestError(204)
        return rows


@dataclass(frozen=True, eq=False)
class MapRequest:
    """A request of the map component."""

    part: str = ""  # Rest of the address after the session, may be empty
    query: Mapping[str, str] | None = None
    body: bytes = b""

    def get(self, name: str, default: str = "") -> str:
        """Return a query parameter."""
        return (self.query or {}).get(name, default)

    def get_list(self, name: str) -> list[str]:
        """Return a query parameter that is a list."""
        text = self.get(name)
        if not text or len(text) > _MAX_LIST_CHARS:
            raise RequestError(400)
        return text.split(",")


@dataclass(frozen=True, eq=False)
class MapResponse:
    """A response to a request."""

    content: Any  # Bytes of the media type, an array (`PackedArray`), or an object sent as JSON
    cache_control: str  # Cache-Control header
    media_type: str = "application/json"


def find_array(session: str, key: str) -> PackedArray:
    """Return an array of a session."""
    array: PackedArray | None = ARRAYS.get(session, key)
    if array is None:
        raise RequestError
    return array


def _respond_items(opened: OpenProject, request: MapRequest) -> MapResponse:
    rows = opened.rows(request.get_list("rows"), MAX_ITEMS)
    return MapResponse(item_cards.item_names(opened.data, rows), CACHE_BRIEFLY)


def _respond_item(opened: OpenProject, request: MapRequest) -> MapResponse:
    (row,) = opened.rows([request.part], 1)
    colours = layers.colours_of(opened.state, opened.run)
    card = item_cards.item_card(opened.data, row, colours, opened.session)
    run = opened.run
    first = None if run is None else item_head.item_head(opened.state, run, row, opened.session)
    return MapResponse(card | {"head": first}, REVALIDATE)


def _respond_search(opened: OpenProject, request: MapRequest) -> MapResponse:
    query = request.get("q")[:MAX_QUERY_CHARS]
    row = None
    if request.get("row"):
        (row,) = opened.rows([request.get("row")], 1)
    results = find_results(opened.state, opened.run, query, opened.session, row)
    return MapResponse(results, REVALIDATE)


def _respond_matches(opened: OpenProject, request: MapRequest) -> MapResponse:
    """Return all rows of a group of results, or with a value of a column."""
    if request.get("dataset"):
        place = (request.get(name) for name in ("dataset", "column", "value"))
        rows = rows_with_value(opened.data, *place)
    else:
        rows = matching_rows(opened.data, request.get("q")[:MAX_QUERY_CHARS], request.get("group"))
    return MapResponse(PackedArray.pack(rows, "<i4"), NO_STORE)


def _respond_links(opened: OpenProject, request: MapRequest) -> MapResponse:
    if len(request.body) > 4 * opened.data.n_rows:
        raise RequestError(413)
    if len(request.body) % 4:
        raise RequestError(400)
    rows: Ints = np.frombuffer(request.body, dtype="<i4").astype(np.int64)
    if len(rows) and not (rows.min() >= 0 and rows.max() < opened.data.n_rows):
        raise RequestError(400)
    return MapResponse(links_of_rows.strongest_links(opened.state, opened.run, rows), NO_STORE)


def _respond_thumbnails(opened: OpenProject, request: MapRequest) -> MapResponse:
    rows = opened.rows(request.get_list("rows"), thumbnails.MAX_CELLS)
    size = parse_integer(request.get("size", "48"), *thumbnails.CELL_SIZE_RANGE)
    content, kind = thumbnails.thumbnail_strip(opened.data, rows, size)
    return MapResponse(content, CACHE_FOREVER if request.get("v") else CACHE_BRIEFLY, kind)


def _respond_trust(opened: OpenProject, request: MapRequest) -> MapResponse:
    if opened.run is None:
        raise RequestError
    try:
        overlay = layers.trust_overlay(opened.state, opened.run, opened.session)
    except HetvizError as error:
        # The page shows the error. Not 404, since browsers log these as errors.
        raise RequestError(204) from error
    if overlay is None:
        raise RequestError(202)
    return MapResponse(overlay, REVALIDATE)


def _respond_regions(opened: OpenProject, request: MapRequest) -> MapResponse:
    run = opened.run
    if run is None or map_parts.get_geometry(opened.state, run).id != request.get("of"):
        # Another map was chosen. The browser requests its regions.
        return MapResponse({"levels": []}, REVALIDATE)
    failed = False
    try:
        levels = layers.find_regions(opened.state, run, opened.session, redraw=False)
    except HetvizError:
        # The map works without names. The page shows the error and a button to retry.
        levels, failed = (), True
    specs = [
        {
            "key": send_array(opened.session, PackedArray.pack(level.codes, "|i1")),
            "true": send_array(opened.session, PackedArray.pack(level.is_true, "|u1")),
            "names": list(level.names),
            "accounts": [name.account for name in level.details],
        }
        for level in levels or ()
    ]
    return MapResponse({"levels": specs, "pending": levels is None, "failed": failed}, REVALIDATE)


def _respond_clusters(opened: OpenProject, request: MapRequest) -> MapResponse:
    """Return the cluster number of each item, -1 for none."""
    clustering = opened.state.clustering
    if clustering is None:
        raise RequestError
    codes = PackedArray.pack(clustering.of(opened.data), "<i4")
    return MapResponse({"key": send_array(opened.session, codes)}, REVALIDATE)


HANDLERS: Mapping[str, Callable[[OpenProject, MapRequest], MapResponse]] = {
    "items": _respond_items,
    "item": _respond_item,
    "search": _respond_search,
    "matches": _respond_matches,
    "links": _respond_links,
    "thumbnails": _respond_thumbnails,
    "trust": _respond_trust,
    "regions": _respond_regions,
    "clusters": _respond_clusters,
}
"""Handlers by the first part of the address after ``hv``."""
