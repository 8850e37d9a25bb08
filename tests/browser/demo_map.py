"""App with only the map component and synthetic data, for browser tests."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

import demo_data as demo  # noqa: E402

from hetviz.ui.map.component import asset_response  # noqa: E402
from hetviz.ui.map.routes import send_content  # noqa: E402
from hetviz.ui.map_data.array_cache import PackedArray  # noqa: E402


def rows_of(request: Request) -> list[int]:
    return [int(r) for r in request.query_params["rows"].split(",")]


def world_of(session: str) -> demo.World:
    """The size of the made-up data is the end of the session's id."""
    return demo.world(int(session.rsplit("-", 1)[1]))


def asset(request: Request) -> Response:
    found = asset_response(request.path_params["name"])
    return Response(found[0], media_type=found[1]) if found else Response(status_code=404)


def array(request: Request) -> Response:
    content = demo.ARRAYS.get(request.path_params["key"])
    if content is None:
        return Response(status_code=404)
    packed = PackedArray(request.path_params["key"], "|u1", content)
    return send_content(request, content, packed.gzipped, "application/octet-stream", "private")


async def frame(request: Request) -> Response:
    seq, state, content = await run_in_threadpool(
        demo.frame, request.path_params["job"], int(request.query_params["after"])
    )
    headers = {"X-Seq": str(seq), "X-State": state}
    if content is None:
        return Response(status_code=204, headers=headers)
    return Response(content, media_type="application/octet-stream", headers=headers)


def items(request: Request) -> Response:
    w = world_of(request.path_params["session"])
    return JSONResponse([
        {"row": r, "title": w.title(r), "dataset": "Pictures" if r < w.edge else "Words",
         "word": r >= w.edge} for r in rows_of(request)
    ])  # fmt: skip


def item(request: Request) -> Response:
    w = world_of(request.path_params["session"])
    row = int(request.path_params["row"])
    picture = f"/hv/one/{row}" if row < w.edge else None
    return JSONResponse({
        "row": row, "title": w.title(row), "dataset": "Pictures" if row < w.edge else "Words",
        "facts": [["Group", demo.GROUPS[w.group[row]]], ["Shelf", str(row % 17)]],
        "text": "<b>not markup</b>" if row % 3 == 0 else None, "picture": picture, "links": row % 5,
    })  # fmt: skip


def one(request: Request) -> Response:
    row = int(request.path_params["row"])
    return Response(demo.strip(demo.world(2000), [row], 96), media_type="image/png")


def search(request: Request) -> Response:
    w = world_of(request.path_params["session"])
    text = request.query_params["q"].lower()
    rows = [r for r in range(min(w.n, 20000)) if text in w.title(r).lower()][:12]
    items = [
        {"kind": "item", "row": r, "title": w.title(r), "placed": True,
         "dataset": "Pictures" if r < w.edge else "Words"} for r in rows
    ]  # fmt: skip
    names = {"key": "names", "title": "Items", "options": items}
    return JSONResponse({"groups": [names], "pending": False, "note": "", "examples": []})


async def links(request: Request) -> Response:
    import numpy as np

    w = world_of(request.path_params["session"])
    rows = np.frombuffer(await request.body(), "<i4")[:50]
    kinds = [("given", 1.0), ("hidden", 0.6), ("given", -0.5)]
    made = []
    for r in rows.tolist():
        for k, (kind, weight) in enumerate(kinds):
            other = w.edge + (r * 7 + k * 131) % (w.n - w.edge)
            made.append([r, other, weight, kind])
    return JSONResponse({"links": made, "total": len(made) + (5 if len(made) > 90 else 0)})


def thumbnails(request: Request) -> Response:
    w = world_of(request.path_params["session"])
    size = int(request.query_params["size"])
    return Response(demo.strip(w, rows_of(request), size), media_type="image/png")


app = st.App(
    HERE / "demo_map_page.py",
    routes=[
        Route("/hv/asset/{version}/{name}", asset),
        Route("/hv/array/{session}/{key}", array),
        Route("/hv/frame/{session}/{job}", frame),
        Route("/hv/items/{session}", items),
        Route("/hv/item/{session}/{row}", item),
        Route("/hv/one/{row}", one),
        Route("/hv/search/{session}", search),
        Route("/hv/links/{session}", links, methods=["POST"]),
        Route("/hv/thumbnails/{session}", thumbnails),
    ],
)
