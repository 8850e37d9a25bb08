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
from hetviz.ui.map import atlas, item_cards, item_head, layers, links_of_rows, search
from hetviz.ui.map import parts as map_parts
from hetviz.ui.map.array_cache import SHELVES, Packed
from hetviz.workspace import Run, State

MOST_ITEMS = 400
_LONGEST_LIST = 12 * MOST_ITEMS

# How long a browser may keep an answer; never anybody between.
FOREVER = "private, max-age=31536000, immutable"
AWHILE = "private, max-age=600"
ASK_AGAIN = "private, no-cache"
NEVER = "private, no-store"

BINARY = "application/octet-stream"


_LAST_ROW = 2**31


class Refused(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status : int
        404 for what is not there, 202 for what is still being found out, 204 for rows that are not
        there any more, 400 for what means nothing, 413 for what is too long.
    """

    def __init__(self, status: int = 404) -> None:
        self.status = status


def whole_number(text: str, low: int, high: int) -> int:
    """Read a whole number from `low` to `high`, in plain digits."""
    # isdecimal holds for digits of other scripts too, which int reads.
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise Refused(400)
    number = int(text)
    if not low <= number <= high:
        raise Refused(404 if number > high else 400)
    return number


@dataclass(frozen=True, eq=False)
class Open:
    """What a session has open."""

    session: str
    state: State
    data: HeteroData

    @property
    def run(self) -> Run | None:
        """The map that is chosen."""
        return self.state.run

    def rows(self, texts: Sequence[str], most: int) -> list[int]:
        """Return global rows, given as text."""
        if not texts or len(texts) > most:
            raise Refused(400)
        rows = [whole_number(text, 0, _LAST_ROW) for text in texts]
        if max(rows) >= self.data.n_rows:
            # The page asked before it heard of other data; a browser logs every 404 as an error.
            raise Refused(204)
        return rows


@dataclass(frozen=True, eq=False)
class Asked:
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

    def named(self, name: str, default: str = "") -> str:
        """Return a value of the query."""
        return (self.query or {}).get(name, default)

    def texts(self, name: str) -> list[str]:
        """Return a value of the query that is a list."""
        text = self.named(name)
        if not text or len(text) > _LONGEST_LIST:
            raise Refused(400)
        return text.split(",")


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer.

    Attributes
    ----------
    content : object
        Bytes of the media type `kind`; an array (`Packed`); else what is sent as JSON.
    keep : str
        How long a browser may keep it.
    kind : str
    """

    content: Any
    keep: str
    kind: str = "application/json"


def array(session: str, key: str) -> Packed:
    """Return an array that a session may have."""
    found = SHELVES.get(session, key)
    if found is None:
        raise Refused
    return found


def _items(opened: Open, asked: Asked) -> Answer:
    rows = opened.rows(asked.texts("rows"), MOST_ITEMS)
    return Answer(item_cards.items(opened.data, rows), AWHILE)


def _item(opened: Open, asked: Asked) -> Answer:
    (row,) = opened.rows([asked.part], 1)
    colours = layers.colours_of(opened.state, opened.run)
    card = item_cards.card(opened.data, row, colours, opened.session)
    run = opened.run
    first = None if run is None else item_head.head(opened.state, run, row, opened.session)
    return Answer(card | {"head": first}, ASK_AGAIN)


def _search(opened: Open, asked: Asked) -> Answer:
    rows = search.search(opened.data, asked.named("q"))
    placed = map_parts.geometry(opened.state, opened.run).placed
    found = [
        {key: item[key] for key in ("row", "title", "dataset")} | {"placed": bool(placed[row])}
        for row, item in zip(rows, item_cards.items(opened.data, rows), strict=True)
    ]
    return Answer(found, ASK_AGAIN)


def _links(opened: Open, asked: Asked) -> Answer:
    if len(asked.body) > 4 * opened.data.n_rows:
        raise Refused(413)
    if len(asked.body) % 4:
        raise Refused(400)
    rows: Ints = np.frombuffer(asked.body, dtype="<i4").astype(np.int64)
    if len(rows) and not (rows.min() >= 0 and rows.max() < opened.data.n_rows):
        raise Refused(400)
    return Answer(links_of_rows.strongest(opened.state, opened.run, rows), NEVER)


def _atlas(opened: Open, asked: Asked) -> Answer:
    rows = opened.rows(asked.texts("rows"), atlas.MOST_CELLS)
    size = whole_number(asked.named("size", "48"), *atlas.SIZES)
    content, kind = atlas.strip(opened.data, rows, size)
    return Answer(content, FOREVER if asked.named("v") else AWHILE, kind)


def _fog(opened: Open, asked: Asked) -> Answer:
    if opened.run is None:
        raise Refused
    try:
        fog = layers.fog_of(opened.state, opened.run, opened.session)
    except HetvizError as error:
        # The page says why; a browser logs every 404 as an error.
        raise Refused(204) from error
    if fog is None:
        raise Refused(202)
    return Answer(fog, ASK_AGAIN)


def _regions(opened: Open, asked: Asked) -> Answer:
    """Answer with the regions of the chosen map, if that is the one that is asked for."""
    run = opened.run
    if run is None or map_parts.geometry(opened.state, run).id != asked.named("of"):
        # Another map was chosen meanwhile; the browser hears of it and asks again.
        return Answer({"levels": []}, ASK_AGAIN)
    failed = False
    try:
        levels = layers.regions_of(opened.state, run, opened.session, seen=False)
    except HetvizError:
        # A map is seen without names too; the page says why, and the browser asks again with it.
        levels, failed = (), True
    found = [
        {
            "key": SHELVES.put(opened.session, Packed.of(level.codes, "|i1")),
            "names": list(level.names),
        }
        for level in levels or ()
    ]
    return Answer({"levels": found, "later": levels is None, "failed": failed}, ASK_AGAIN)


def _clusters(opened: Open, asked: Asked) -> Answer:
    """Answer with the number of the cluster of each item, -1 for none."""
    found = opened.state.clustering
    if found is None:
        raise Refused
    codes = Packed.of(found.of(opened.data), "<i4")
    return Answer({"key": SHELVES.put(opened.session, codes)}, ASK_AGAIN)


ANSWERS: Mapping[str, Callable[[Open, Asked], Answer]] = {
    "items": _items,
    "item": _item,
    "search": _search,
    "links": _links,
    "atlas": _atlas,
    "fog": _fog,
    "regions": _regions,
    "clusters": _clusters,
}
"""What is asked of an open project, by the first word of its address after ``hv``."""
