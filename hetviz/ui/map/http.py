"""Reading requests and writing answers: nothing goes in unchecked or out unguarded."""

from __future__ import annotations

import gzip
import json

from starlette.requests import Request
from starlette.responses import Response

from hetviz.ui.map.array_cache import WORTH_PACKING

# How long a browser may keep an answer; never anybody between.
FOREVER = "private, max-age=31536000, immutable"
AWHILE = "private, max-age=600"
ASK_AGAIN = "private, no-cache"
NEVER = "private, no-store"

BINARY = "application/octet-stream"
_FARTHEST = 1e30


class Refused(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status : int
        404 for what is not there, 400 for what means nothing, 413 for what is too long.
    """

    def __init__(self, status: int = 404) -> None:
        self.status = status


def refusal(refused: Refused) -> Response:
    """Return the answer to a request that was refused."""
    return Response(status_code=refused.status, headers=guards(NEVER))


def whole_number(text: str, low: int, high: int) -> int:
    """Read a whole number from `low` to `high`, in plain digits."""
    # isdecimal holds for digits of other scripts too, which int reads.
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise Refused(400)
    number = int(text)
    if not low <= number <= high:
        raise Refused(404 if number > high else 400)
    return number


def finite_number(text: str) -> float:
    """Read a number whose sums and products stay finite."""
    try:
        number = float(text)
    except ValueError:
        raise Refused(400) from None
    if not abs(number) < _FARTHEST:
        raise Refused(400)
    return number


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
