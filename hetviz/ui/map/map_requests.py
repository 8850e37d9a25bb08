"""What the map in the browser asks for, and the answer, however they travel.

The app answers over routes (`hetviz.ui.map.routes`), a notebook over its kernel
(`hetviz.ui.notebook`); both ask here, so that neither can say what the other does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.errors import HetvizError
from hetviz.ui.map import item_cards, item_head, layers, links_of_rows, search, thumbnails
from hetviz.ui.map import parts as map_parts
from hetviz.ui.map.array_cache import ARRAY_CACHE, PackedArray
from hetviz.workspace import Run, State

MAX_ITEMS = 400
_MAX_LIST_CHARS = 12 * MAX_ITEMS

# How long a browser may keep an answer; never anybody between.
CACHE_FOREVER = "private, max-age=31536000, immutable"
CACHE_BRIEFLY = "private, max-age=600"
REVALIDATE = "private, no-cache"
NO_STORE = "private, no-store"

BINARY = "application/octet-stream"


_MAX_ROW = 2**31


class RequestError(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status : int
        404 for what is not there, 202 for what is still being found out, 204 for rows that are not
        there any more, 400 for what means nothing, 413 for what is too long.
    """

    def __init__(self, status: int = 404) -> None:
        self.status = status


def parse_integer(text: str, low: int, high: int) -> int:
    """Read a whole number from `low` to `high`, in plain digits."""
    # isdecimal holds for digits of other scripts too, which int reads.
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise RequestError(400)
    number = int(text)
    if not low <= number <= high:
        raise RequestError(404 if number > high else 400)
    return number


@dataclass(frozen=True, eq=False)
class OpenProject:
    """What a session has open."""

    session: str
    state: State
    data: HeteroData

    @property
    def run(self) -> Run | None:
        """The map that is chosen."""
        return self.state.run

    def rows(self, texts: Sequence[str], max_rows: int) -> list[int]:
        """Return global rows, given as text."""
        if not texts or len(texts) > max_rows:
            raise RequestError(400)
        rows = [parse_integer(text, 0, _MAX_ROW) for text in texts]
        if max(rows) >= self.data.n_rows:
            # The page asked before it heard of other data; a browser logs every 404 as an error.
            raise RequestError(204)
        return rows


@dataclass(frozen=True, eq=False)
class MapRequest:
    """A question.

    Attributes
    ----------
    part : str
        What stands after the session in the address; empty where nothing does.
    query : mapping of str to str
    body : bytes
    """

    part: str = ""
    query: Mapping[str, str] | None = None
    body: bytes = b""

    def get(self, name: str, default: str = "") -> str:
        """Return a value of the query."""
        return (self.query or {}).get(name, default)

    def get_list(self, name: str) -> list[str]:
        """Return a value of the query that is a list."""
        text = self.get(name)
        if not text or len(text) > _MAX_LIST_CHARS:
            raise RequestError(400)
        return text.split(",")


@dataclass(frozen=True, eq=False)
class MapResponse:
    """An answer.

    Attributes
    ----------
    content : object
        Bytes of the media type `media_type`; an array (`PackedArray`); else what is sent as JSON.
    cache_control : str
        How long a browser may keep it.
    media_type : str
    """

    content: Any
    cache_control: str
    media_type: str = "application/json"


def find_array(session: str, key: str) -> PackedArray:
    """Return an array that a session may have."""
    array = ARRAY_CACHE.get(session, key)
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
    rows = search.search_items(opened.data, request.get("q"))
    placed = map_parts.get_geometry(opened.state, opened.run).placed
    hits = [
        {key: item[key] for key in ("row", "title", "dataset")} | {"placed": bool(placed[row])}
        for row, item in zip(rows, item_cards.item_names(opened.data, rows), strict=True)
    ]
    return MapResponse(hits, REVALIDATE)


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
        # The page says why; a browser logs every 404 as an error.
        raise RequestError(204) from error
    if overlay is None:
        raise RequestError(202)
    return MapResponse(overlay, REVALIDATE)


def _respond_regions(opened: OpenProject, request: MapRequest) -> MapResponse:
    """Answer with the regions of the chosen map, if that is the one that is asked for."""
    run = opened.run
    if run is None or map_parts.get_geometry(opened.state, run).id != request.get("of"):
        # Another map was chosen meanwhile; the browser hears of it and asks again.
        return MapResponse({"levels": []}, REVALIDATE)
    failed = False
    try:
        levels = layers.find_regions(opened.state, run, opened.session, redraw=False)
    except HetvizError:
        # A map is seen without names too; the page says why, and the browser asks again with it.
        levels, failed = (), True
    specs = [
        {
            "key": ARRAY_CACHE.put(opened.session, PackedArray.pack(level.codes, "|i1")),
            "names": list(level.names),
        }
        for level in levels or ()
    ]
    return MapResponse({"levels": specs, "later": levels is None, "failed": failed}, REVALIDATE)


def _respond_clusters(opened: OpenProject, request: MapRequest) -> MapResponse:
    """Answer with the number of the cluster of each item, -1 for none."""
    clustering = opened.state.clustering
    if clustering is None:
        raise RequestError
    codes = PackedArray.pack(clustering.of(opened.data), "<i4")
    return MapResponse({"key": ARRAY_CACHE.put(opened.session, codes)}, REVALIDATE)


HANDLERS: Mapping[str, Callable[[OpenProject, MapRequest], MapResponse]] = {
    "items": _respond_items,
    "item": _respond_item,
    "search": _respond_search,
    "links": _respond_links,
    "atlas": _respond_thumbnails,
    "fog": _respond_trust,
    "regions": _respond_regions,
    "clusters": _respond_clusters,
}
"""What is asked of an open project, by the first word of its address after ``hv``."""
