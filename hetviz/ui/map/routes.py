"""HTTP routes of the map component: arrays, frames, cards and pictures.

Every address contains the session id, which is the access key. No route runs the script of a page.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import time
from collections.abc import Callable

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hetviz.jobs import Job
from hetviz.jobs.frame import Frame
from hetviz.ui.item import item_panel, item_text, pictures
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.map import item_table, linked_charts, map_requests, panel_view, shared_selections
from hetviz.ui.map.component.assets import asset_response, asset_version
from hetviz.ui.map.component.messages import GeographySpec
from hetviz.ui.map.map_requests import (
    BINARY,
    CACHE_FOREVER,
    HANDLERS,
    NO_STORE,
    REVALIDATE,
    MapRequest,
    MapResponse,
    OpenProject,
    RequestError,
    parse_integer,
)
from hetviz.ui.map_data.array_cache import MIN_GZIP_BYTES, PackedArray, send_array
from hetviz.ui.map_data.geography import find_geography
from hetviz.ui.map_data.parts import get_geometry
from hetviz.ui.shell import people
from hetviz.workspace import SESSIONS

_MAX_POLL_S, _TICK_S = 5.0, 0.05
_CACHE_ONE_DAY = "private, max-age=86400"


def map_routes() -> list[BaseRoute]:
    """Return the routes of the map component."""
    simple_names = [name for name in HANDLERS if name not in ("item", "links")]
    return [
        Route("/hv/asset/{version}/{file}", _guarded(_asset)),
        Route("/hv/array/{session}/{key}", _guarded(_array)),
        Route("/hv/frame/{session}/{job}", _frame),
        *(
            Route(f"/hv/{name}/{{session}}", _guarded(_project_handler(name)))
            for name in simple_names
        ),
        Route("/hv/item/{session}/{part}", _guarded(_project_handler("item"))),
        Route("/hv/panel/{session}/{row}", _guarded(_panel)),
        Route("/hv/geography/{session}", _guarded(_geography)),
        Route("/hv/columns/{session}", _guarded(_columns)),
        Route("/hv/chart/{session}", _guarded(_chart)),
        Route("/hv/cells/{session}", _guarded(_cells)),
        Route("/hv/sorted/{session}", _guarded(_sorted)),
        Route("/hv/rows/{session}", _rows, methods=["POST"]),
        Route("/hv/links/{session}", _links, methods=["POST"]),
        Route("/hv/people/{session}", _people, methods=["POST"]),
        Route("/hv/tab/{view}/{tab}", _guarded(_tab), methods=["POST"]),
        Route("/hv/picture/{session}/{row:int}/{dataset:path}", _guarded(_picture)),
    ]


def _guarded(handler: Callable[[Request], Response]) -> Callable[[Request], Response]:
    def guarded(request: Request) -> Response:
        try:
            return handler(request)
        except RequestError as error:
            return error_response(error)

    return guarded


def _project_handler(name: str) -> Callable[[Request], Response]:
    """Return the handler of a request about the open project of a session."""

    def handler(request: Request) -> Response:
        part = str(request.path_params.get("part", ""))
        response = HANDLERS[name](_open_project(request), MapRequest(part, request.query_params))
        return _send_response(request, response)

    return handler


def _send_response(request: Request, response: MapResponse) -> Response:
    content = response.content
    if isinstance(content, PackedArray):
        zipped = content.gzipped if accepts_gzip(request) else None
        return send_content(request, content.content, zipped, BINARY, response.cache_control)
    if isinstance(content, bytes):
        return Response(
            content,
            media_type=response.media_type,
            headers=response_headers(response.cache_control),
        )
    return json_response(request, content, response.cache_control)


def _asset(request: Request) -> Response:
    name = request.path_params["file"]
    asset = asset_response(name)
    if asset is None:
        raise RequestError
    # A page of an older version gets the newer file, but must not cache it under that address.
    is_current = request.path_params["version"] == asset_version()
    caching = CACHE_FOREVER if is_current else REVALIDATE
    return send_content(request, asset[0], _gzip_asset(name), asset[1], caching)


@functools.cache
def _gzip_asset(name: str) -> bytes:
    return gzip.compress((asset_response(name) or (b"", ""))[0], 6, mtime=0)


def _array(request: Request) -> Response:
    session, key = request.path_params["session"], request.path_params["key"]
    return _send_response(
        request, MapResponse(map_requests.find_array(session, key), CACHE_FOREVER)
    )


async def _frame(request: Request) -> Response:
    """Respond when a partial map after `after` is ready, the job ended, or 5 s passed."""
    session, job = request.path_params["session"], request.path_params["job"]
    try:
        after = parse_integer(request.query_params.get("after", "0"), 0, 2**53)
    except RequestError as error:
        return error_response(error)
    until = time.monotonic() + _MAX_POLL_S
    while True:
        result = _find_frame(job, session, after)
        if result is None:
            # The job ended or is of another session. Browsers log 404 as errors.
            return Response(
                status_code=204, headers=response_headers(NO_STORE) | {"X-State": "gone"}
            )
        snapshot, frame = result
        if frame is not None or not snapshot.is_active or time.monotonic() >= until:
            break
        if await request.is_disconnected():
            break
        await asyncio.sleep(_TICK_S)
    headers = response_headers(NO_STORE) | {
        "X-Seq": str(after if frame is None else frame.seq),
        "X-State": snapshot.state,
    }
    if frame is None:
        return Response(status_code=204, headers=headers)
    # Coordinates hardly compress. The header keeps middleware from trying.
    headers["Content-Encoding"] = "identity"
    return Response(frame.layout, media_type=BINARY, headers=headers)


def _find_frame(job: str, session: str, after: int) -> tuple[Job, Frame | None] | None:
    snapshot = JOBS.get(job, session)
    return None if snapshot is None else (snapshot, JOBS.frame(job, session, after))


async def _links(request: Request) -> Response:
    try:
        # Opening a session may read from disk.
        opened = await run_in_threadpool(_open_project, request)
        body = await _read_body(request, 4 * opened.data.n_rows)
        response = await run_in_threadpool(HANDLERS["links"], opened, MapRequest(body=body))
        return await run_in_threadpool(_send_response, request, response)
    except RequestError as error:
        return error_response(error)


async def _people(request: Request) -> Response:
    """Record the selection that a page shows to others, and return those of others."""
    try:
        opened = await run_in_threadpool(_open_project, request)
        body = await _read_body(request, shared_selections.MAX_BODY_BYTES)
        report = shared_selections.PageReport.parse(body)
    except RequestError as error:
        return error_response(error)
    except (ValueError, RecursionError):
        return error_response(RequestError(400))

    def exchange() -> list[shared_selections.SharedSelection]:
        author = people.author_of_request(request.cookies, report.name)
        project = opened.session
        return shared_selections.SHARED.exchange(
            project,
            report,
            author,
            opened.data.n_rows,
            lambda person: people.may_look(person, project),
        )

    content = {"others": await run_in_threadpool(exchange)}
    return json_response(request, content, NO_STORE)


def _tab(request: Request) -> Response:
    """Record the current tab of the panel."""
    if not panel_view.note_tab(request.path_params["view"], request.path_params["tab"]):
        raise RequestError
    return Response(status_code=204, headers=response_headers(NO_STORE))


def _panel(request: Request) -> Response:
    """Return what the panel shows of an item, so that a click shows it before the page runs.

    With the parameter `prepare` the first explanation on the map is made, and nothing returned:
    an answer that is not read would stay open in the browser.
    """
    opened = _open_project(request)
    workspace = SESSIONS.find(opened.session)
    (row,) = opened.rows([request.path_params["row"]], 1)
    content = None
    if workspace is not None:
        content = item_panel.panel_content(workspace, row, opened.session)
        if content is not None and "prepare" in request.query_params:
            item_panel.explain(workspace, row)
    if "prepare" in request.query_params:
        return Response(status_code=204, headers=response_headers(NO_STORE))
    return json_response(request, content, NO_STORE)


def _geography(request: Request) -> Response:
    """Return the items at their places on the earth, in the frame of the map."""
    opened = _open_project(request)
    data, run = opened.data, opened.run
    spec: GeographySpec | None = None
    # Otherwise another map was chosen, whose geography the browser requests.
    is_current = run is not None and get_geometry(opened.state, run).id == request.query_params.get(
        "of"
    )
    pending = is_current and any(item_text.is_loading(data, name) for name in data.datasets)
    places = None
    if run is not None and is_current and not pending:
        places = find_geography(
            opened.state, run, lambda name: item_text.columns_of(data, name).values()
        )
    if places is not None:
        geometry, frame = places.geometry, places.frame
        spec = {
            "geometry": {
                "id": geometry.id,
                "pieces": [send_array(opened.session, piece) for piece in geometry.pieces],
                "extent": list(geometry.extent),
            },
            "frame": {
                "x": [float(frame.low[0]), float(frame.high[0])],
                "y": [float(frame.low[1]), float(frame.high[1])],
                "stretch": 1.0,
            },
            "outside": frame.outside,
            "outlines": send_array(opened.session, places.outlines),
            "per_km": places.per_km,
            "note": places.note,
        }
    return json_response(request, {"pending": pending, "geography": spec}, NO_STORE)


def _columns(request: Request) -> Response:
    """Return the columns that a chart can show."""
    choices = linked_charts.chart_choices(_open_project(request).data)
    return json_response(request, {"columns": choices}, NO_STORE)


def _chart(request: Request) -> Response:
    """Return the chart of a column."""
    opened, name = _open_dataset(request)
    column, of = (request.query_params.get(key, "") for key in ("column", "of"))
    has_places = "places" in request.query_params
    spec = linked_charts.chart_spec(
        opened.data,
        name,
        column,
        functools.partial(send_array, opened.session),
        of,
        has_places=has_places,
    )
    if spec is None:
        # Not 404, since browsers log these as errors: the column may have been removed.
        raise RequestError(204)
    return json_response(request, spec, NO_STORE)


def _cells(request: Request) -> Response:
    """Return the texts of some rows of the table of a dataset, by their place in it."""
    opened, name = _open_dataset(request)
    rows = [
        parse_integer(text, 0, 2**31) for text in request.query_params.get("rows", "").split(",")
    ]
    if len(rows) > map_requests.MAX_ITEMS or max(rows) >= len(opened.data[name]):
        raise RequestError(204)
    return json_response(request, item_table.table_cells(opened.data, name, rows), NO_STORE)


def _sorted(request: Request) -> Response:
    """Return the key of the rows of a dataset sorted by a column."""
    opened, name = _open_dataset(request)
    found = item_table.sorted_rows(opened.data, name, request.query_params.get("column", ""))
    if found is None:
        raise RequestError(204)
    content = {"key": send_array(opened.session, found[0]), "present": found[1]}
    return json_response(request, content, NO_STORE)


async def _rows(request: Request) -> Response:
    """Return rows of a dataset as CSV, or separated by tabs."""
    try:
        opened, name = await run_in_threadpool(_open_dataset, request)
        n_rows = len(opened.data[name])
        body = await _read_body(request, 4 * n_rows)
        rows = np.frombuffer(body[: len(body) // 4 * 4], dtype="<i4").astype(np.int64)
        if len(body) % 4 or (len(rows) and not (rows.min() >= 0 and rows.max() < n_rows)):
            raise RequestError(400)
        tabs = "tabs" in request.query_params
        text = await run_in_threadpool(
            item_table.rows_text, opened.data, name, rows.tolist(), tabs=tabs
        )
    except RequestError as error:
        return error_response(error)
    return send_content(request, text.encode(), None, "text/csv; charset=utf-8", NO_STORE)


def _open_dataset(request: Request) -> tuple[OpenProject, str]:
    """Return the open project and a dataset of it whose columns are read."""
    opened = _open_project(request)
    name = request.query_params.get("dataset", "")
    if name not in opened.data.datasets:
        raise RequestError
    if item_text.is_loading(opened.data, name):
        raise RequestError(202)
    return opened, name


def _picture(request: Request) -> Response:
    opened = _open_project(request)
    dataset = opened.data.datasets.get(request.path_params["dataset"])
    row = request.path_params["row"]
    if dataset is None or dataset.media is None or row >= len(dataset):
        raise RequestError
    picture = pictures.read_picture(dataset.media[row])
    if picture is None:
        raise RequestError
    return Response(picture[0], media_type=picture[1], headers=response_headers(_CACHE_ONE_DAY))


def _open_project(request: Request) -> OpenProject:
    session = request.path_params["session"]
    workspace = SESSIONS.find(session)
    state = None if workspace is None else workspace.state
    if state is None or state.data is None:
        raise RequestError
    return OpenProject(session, state, state.data)


async def _read_body(request: Request, max_bytes: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            raise RequestError(413)
        parts.append(part)
    return b"".join(parts)


def error_response(error: RequestError) -> Response:
    """Return the response to a request that failed."""
    return Response(status_code=error.status, headers=response_headers(NO_STORE))


def json_response(request: Request, value: object, cache_control: str) -> Response:
    """Return a value as JSON, compressed if it is long and the browser accepts it."""
    # ASCII, since data may contain unpaired surrogates.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    large = len(text) > MIN_GZIP_BYTES and accepts_gzip(request)
    zipped = gzip.compress(text, 4, mtime=0) if large else None
    return send_content(request, text, zipped, "application/json", cache_control)


def send_content(
    request: Request, plain: bytes, zipped: bytes | None, media_type: str, cache_control: str
) -> Response:
    """Return content of a media type, compressed if possible and accepted."""
    headers = response_headers(cache_control) | {"Vary": "Accept-Encoding"}
    if zipped is not None and accepts_gzip(request):
        return Response(
            zipped, media_type=media_type, headers=headers | {"Content-Encoding": "gzip"}
        )
    if len(plain) > MIN_GZIP_BYTES and media_type == BINARY:
        # Compression saves too little. The header keeps middleware from trying.
        headers["Content-Encoding"] = "identity"
    return Response(plain, media_type=media_type, headers=headers)


def accepts_gzip(request: Request) -> bool:
    """Return whether the browser accepts gzip."""
    return "gzip" in request.headers.get("Accept-Encoding", "")


def response_headers(cache_control: str) -> dict[str, str]:
    """Return the caching and security headers of a response."""
    return {
        "Cache-Control": cache_control,
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
