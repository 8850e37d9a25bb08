"""Self-contained HTML pages without requests and without unescaped user text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from os import PathLike
from pathlib import Path

_ASSETS = Path(__file__).parent / "assets"
# First bytes of the supported picture formats.
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


@cache
def read_asset(name: str) -> str:
    """Return the text of a packaged asset."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def escape_html(text: object) -> str:
    """Return text escaped for HTML."""
    return html.escape(str(text))


def html_page(title: str, body: str, css: str, script: str = "", data: object = None) -> str:
    """Return a page."""
    policy = f"default-src 'none'; img-src data:; font-src data:; style-src '{_hash(css)}'"
    scripts = ""
    if script:
        policy += f"; script-src '{_hash(script)}'"
        scripts = f'<script type="module">{script}</script>'
    data_script = ""
    if data is not None:
        # A less-than sign could end the script element.
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
        data_script = f'<script type="application/json" id="data">{text}</script>'
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape_html(title)}</title>\n<style>{css}</style>\n</head>\n"
        f"<body>\n{body}\n{data_script}{scripts}\n</body>\n</html>\n"
    )


def picture_data_url(media: bytes | str | PathLike[str] | None) -> str | None:
    """Return a picture as a data URL, or None if it is missing or not a picture."""
    if media is None:
        return None
    try:
        content = media if isinstance(media, bytes) else Path(media).read_bytes()
    except OSError:
        return None
    kind = next((kind for start, kind in _PICTURES if content.startswith(start)), None)
    return None if kind is None else f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
