"""Reading requests and writing answers: nothing goes in unchecked or out unguarded."""

from __future__ import annotations

import gzip
import json

from starlette.requests import Request
from starlette.responses import Response

from hetviz.ui.map.answers import BINARY, NEVER, Refused
from hetviz.ui.map.array_cache import WORTH_PACKING


def refusal(refused: Refused) -> Response:
    """Return the answer to a request that was refused."""
    return Response(status_code=refused.status, headers=guards(NEVER))


def json_answer(request: Request, value: object, keep: str) -> Response:
    """Return a value as JSON, packed where it is long and the browser takes it."""
    # ASCII, so that half a surrogate pair in somebody's data cannot fail here.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    large = len(text) > WORTH_PACKING and accepts_gzip(request)
    zipped = gzip.compress(text, 4, mtime=0) if large else None
    return answer(request, text, zipped, "application/json", keep)


def answer(request: Request, plain: bytes, zipped: bytes | None, kind: str, keep: str) -> Response:
    """Return content of a media type, in its packed form if there is one and it is accepted."""
    headers = guards(keep) | {"Vary": "Accept-Encoding"}
    if zipped is not None and accepts_gzip(request):
        return Response(zipped, media_type=kind, headers=headers | {"Content-Encoding": "gzip"})
    if len(plain) > WORTH_PACKING and kind == BINARY:
        # It was tried and not worth it; said so that nobody tries again.
        headers["Content-Encoding"] = "identity"
    return Response(plain, media_type=kind, headers=headers)


def accepts_gzip(request: Request) -> bool:
    """Whether the browser takes packed answers."""
    return "gzip" in request.headers.get("Accept-Encoding", "")


def guards(keep: str) -> dict[str, str]:
    """Return the headers of every answer: who may keep it, and that it is only what it says."""
    return {
        "Cache-Control": keep,
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
