"""What the map in the browser asks for beside the page: arrays, frames, cards, pictures.

Every address carries the session's id, which is what allows it; what belongs to no session, or to
another, is not found. Nothing here runs a page's script.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.jobs import Job
from hetviz.jobs.results import Frame
from hetviz.ui.map import atlas, item_cards, layers, links_of_rows, search
from hetviz.ui.map import parts as map_parts
from hetviz.ui.map.array_cache import SHELVES, Packed
from hetviz.ui.map.component.assets import asset_response, asset_version
from hetviz.ui.map.http import (
    ASK_AGAIN,
    AWHILE,
    BINARY,
    FOREVER,
    NEVER,
    Refused,
    accepts_gzip,
    answer,
    guards,
    json_answer,
    refusal,
    whole_number,
)
from hetviz.workspace import SESSIONS, Run, State

MOST_ITEMS = 400
MOST_PIXELS = 2_500_000
_LONGEST_SIDE = 4096
_LONGEST_LIST = 12 * MOST_ITEMS
_POLL_S, _TICK_S = 5.0, 0.05


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
        return [whole_number(text, 0, self.data.n_rows - 1) for text in texts]


def routes() -> list[BaseRoute]:
    """Return the routes to serve beside the pages."""
    return [
        Route("/hv/plotly.js", _answering(_plotly)),
        Route("/hv/asset/{version}/{file}", _answering(_asset)),
        Route("/hv/array/{session}/{key}", _answering(_array)),
        Route("/hv/frame/{session}/{job}", _frame),
        Route("/hv/items/{session}", _answering(_items)),
        Route("/hv/item/{session}/{row}", _answering(_item)),
        Route("/hv/search/{session}", _answering(_search)),
        Route("/hv/links/{session}", _links, methods=["POST"]),
        Route("/hv/atlas/{session}", _answering(_atlas)),
        Route("/hv/fog/{session}", _answering(_fog)),
        Route("/hv/regions/{session}", _answering(_regions)),
    ]


def _answering(handler: Callable[[Request], Response]) -> Callable[[Request], Response]:
    def guarded(request: Request) -> Response:
        try:
            return handler(request)
        except Refused as refused:
            return refusal(refused)

    return guarded


def _plotly(request: Request) -> Response:
    known = request.query_params.get("v") == metadata.version("plotly")
    plain, zipped = _plotly_script()
    return answer(request, plain, zipped, "text/javascript", FOREVER if known else ASK_AGAIN)


@cache
def _plotly_script() -> tuple[bytes, bytes]:
    script = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    # The first visitor waits for this.
    return script, gzip.compress(script, 1, mtime=0)


def _asset(request: Request) -> Response:
    found = asset_response(request.path_params["file"])
    if found is None:
        raise Refused
    # A page of an older version gets the newer file, but may not keep it under that name.
    known = request.path_params["version"] == asset_version()
    return answer(request, found[0], None, found[1], FOREVER if known else ASK_AGAIN)


def _array(request: Request) -> Response:
    session, key = request.path_params["session"], request.path_params["key"]
    array = SHELVES.get(session, key)
    if array is None:
        raise Refused
    accepted = accepts_gzip(request)
    return answer(request, array.content, array.zipped if accepted else None, BINARY, FOREVER)


async def _frame(request: Request) -> Response:
    """Answer when there is a partial map later than `after`, when the job is over, or after 5 s."""
    session, job = request.path_params["session"], request.path_params["job"]
    try:
        after = whole_number(request.query_params.get("after", "0"), 0, 2**53)
    except Refused as refused:
        return refusal(refused)
    until = time.monotonic() + _POLL_S
    while True:
        found = _frame_of(job, session, after)
        if found is None:
            # Over and taken, or of another session. A browser logs every 404 as an error.
            return Response(status_code=204, headers=guards(NEVER) | {"X-State": "gone"})
        snapshot, frame = found
        if frame is not None or not snapshot.live or time.monotonic() >= until:
            break
        if await request.is_disconnected():
            break
        await asyncio.sleep(_TICK_S)
    headers = guards(NEVER) | {
        "X-Seq": str(after if frame is None else frame.seq),
        "X-State": snapshot.state,
    }
    if frame is None:
        return Response(status_code=204, headers=headers)
    # Coordinates hardly get smaller; said so that nobody else tries.
    headers["Content-Encoding"] = "identity"
    return Response(frame.layout, media_type=BINARY, headers=headers)


def _frame_of(job: str, session: str, after: int) -> tuple[Job, Frame | None] | None:
    from hetviz.ui.shell import background

    snapshot = background.RUNNER.get(job, session)
    return None if snapshot is None else (snapshot, background.RUNNER.frame(job, session, after))


def _items(request: Request) -> Response:
    opened = _opened(request)
    rows = opened.rows(_texts(request, "rows"), MOST_ITEMS)
    return json_answer(request, item_cards.items(opened.data, rows), AWHILE)


def _item(request: Request) -> Response:
    opened = _opened(request)
    (row,) = opened.rows([request.path_params["row"]], 1)
    colours = layers.colours_of(opened.state, opened.run)
    card = item_cards.card(opened.data, row, colours, opened.session)
    return json_answer(request, card, ASK_AGAIN)


def _search(request: Request) -> Response:
    opened = _opened(request)
    rows = search.search(opened.data, request.query_params.get("q", ""))
    placed = map_parts.geometry(opened.state, opened.run).placed
    found = [
        {key: item[key] for key in ("row", "title", "dataset")} | {"placed": bool(placed[row])}
        for row, item in zip(rows, item_cards.items(opened.data, rows), strict=True)
    ]
    return json_answer(request, found, ASK_AGAIN)


async def _links(request: Request) -> Response:
    try:
        # Finding a session may read it from disk.
        opened = await run_in_threadpool(_opened, request)
        body = await _body(request, 4 * opened.data.n_rows)
        found = await run_in_threadpool(_links_of, opened, body)
        return await run_in_threadpool(json_answer, request, found, NEVER)
    except Refused as refused:
        return refusal(refused)


def _links_of(opened: Open, body: bytes) -> dict[str, Any]:
    if len(body) % 4:
        raise Refused(400)
    rows: Ints = np.frombuffer(body, dtype="<i4").astype(np.int64)
    if len(rows) and not (rows.min() >= 0 and rows.max() < opened.data.n_rows):
        raise Refused(400)
    return links_of_rows.strongest(opened.state, opened.run, rows)


def _atlas(request: Request) -> Response:
    opened = _opened(request)
    rows = opened.rows(_texts(request, "rows"), atlas.MOST_CELLS)
    size = whole_number(request.query_params.get("size", "48"), *atlas.SIZES)
    content, kind = atlas.strip(opened.data, rows, size)
    keep = FOREVER if request.query_params.get("v") else AWHILE
    return Response(content, media_type=kind, headers=guards(keep))


def _fog(request: Request) -> Response:
    opened = _opened(request)
    if opened.run is None:
        raise Refused
    return answer(request, layers.fog_of(opened.state, opened.run).content, None, BINARY, ASK_AGAIN)


def _regions(request: Request) -> Response:
    """Answer with the regions of the chosen map, if that is the one that is asked for."""
    opened = _opened(request)
    run = opened.run
    if run is None or map_parts.geometry(opened.state, run).id != request.query_params.get("of"):
        raise Refused
    levels = layers.regions_of(opened.state, run)
    found = [
        {
            "key": SHELVES.put(opened.session, Packed.of(level.codes, "|i1")),
            "names": list(level.names),
        }
        for level in levels
    ]
    return json_answer(request, {"levels": found}, ASK_AGAIN)


def _opened(request: Request) -> Open:
    session = request.path_params["session"]
    workspace = SESSIONS.find(session)
    state = None if workspace is None else workspace.state
    if state is None or state.data is None:
        raise Refused
    return Open(session, state, state.data)


async def _body(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise Refused(413)
        parts.append(part)
    return b"".join(parts)


def _texts(request: Request, name: str) -> list[str]:
    text = request.query_params.get(name, "")
    if not text or len(text) > _LONGEST_LIST:
        raise Refused(400)
    return text.split(",")
