"""Results of steps as JSON files: numbers, text, lists, mappings, arrays and tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

_ARRAY, _TABLE = "__array__", "__table__"


def write(path: Path, value: Any) -> None:
    """Write a value, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(_plain(value), indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)


def read(path: Path) -> Any:
    """Read what `write` wrote; arrays and tables come back as such."""
    return _made(json.loads(path.read_text(encoding="utf-8")))


def file_name(key: str) -> str:
    """Return a file name for a key."""
    return re.sub(r"[^A-Za-z0-9.=_-]+", "-", key).strip("-.") or "step"


def _plain(value: Any) -> Any:
    if isinstance(value, pd.DataFrame):
        return {_TABLE: [_plain(row) for row in value.to_dict("records")]}
    if isinstance(value, np.ndarray):
        return {_ARRAY: value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def _made(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {_TABLE}:
            return pd.DataFrame([_made(row) for row in value[_TABLE]])
        if set(value) == {_ARRAY}:
            return np.array(value[_ARRAY])
        return {key: _made(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_made(entry) for entry in value]
    return value
