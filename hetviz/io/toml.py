"""TOML reader with clear errors, and writer (the standard library only reads)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from hetviz.errors import DataError
from hetviz.io import gate, limits

# A text of one or several lines, or a comment; unclosed ones extend to the end of the file.
_TEXTS = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\n]++|\\.)*+"?|\'[^\'\n]*+\'?|\#[^\n]*+',
    re.DOTALL,
)
_BETWEEN = re.compile(r"[=,\n{}\[\]]")
_BRACKETS = re.compile(r"[\[\]{}]")


def loads(name: str, content: bytes) -> dict[str, Any]:
    """Read TOML."""
    gate.check_size(name, len(content), limits.MAX_MANIFEST_BYTES)
    try:
        text = content.decode("utf-8-sig")
        _check_depth(name, text)
        return tomllib.loads(text)
    except UnicodeError:
        raise gate.refusal("bad-toml", name, "the file is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise gate.refusal("bad-toml", name, f"this is not valid TOML: {error}") from None


def _check_depth(name: str, text: str) -> None:
    """Raise an error for deep nesting, which needs quadratic memory."""
    bare = _TEXTS.sub('""', text)
    parts = max((part.count(".") for part in _BETWEEN.split(bare)), default=0)
    depth = max(accumulate(1 if b in "[{" else -1 for b in _BRACKETS.findall(bare)), default=0)
    deepest = max(parts, depth)
    if deepest > limits.MAX_MANIFEST_DEPTH:
        limit = limits.MAX_MANIFEST_DEPTH
        message = f"the keys are nested {deepest:,} levels deep, at most {limit} are allowed"
        raise gate.refusal("too-deep", name, message)


def dumps(document: Mapping[str, object]) -> str:
    """Write plain values first, then tables, then lists of tables; None is left out."""
    plain: list[str] = []
    tables: list[str] = []
    for key, value in document.items():
        if isinstance(value, Mapping):
            tables.append(f"[{_key(key)}]\n{_lines(value)}")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            tables += [f"[[{_key(key)}]]\n{_lines(item)}" for item in value]
        elif value is not None:
            plain.append(f"{_key(key)} = {_value(value)}\n")
    return "\n".join(["".join(plain), *tables])


def encode(text: str, where: str) -> bytes:
    """Encode as UTF-8, or raise DataError for text that has no encoding."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise gate.refusal(
            "bad-text",
            where,
            "the text contains an incomplete character, which cannot be written",
            ascii(bad),
        ) from None


def _lines(table: Mapping[str, object]) -> str:
    return "".join(
        f"{_key(key)} = {_value(value)}\n" for key, value in table.items() if value is not None
    )


def _key(key: str) -> str:
    bare = key and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in key)
    return key if bare else _value(key)


def _value(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    raise DataError(
        gate.refusal("bad-value", "toml", "this cannot be written as TOML", repr(value)).problems
    )
