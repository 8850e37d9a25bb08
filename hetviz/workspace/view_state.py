"""View state: selection, groups and camera, which change too often for the log."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetviz._types import Ints
from hetviz.data.model.checks import check_global_rows, read_only
from hetviz.errors import DataError
from hetviz.workspace.commands.state import State
from hetviz.workspace.store.files import replace_file
from hetviz.workspace.store.packing import pack_rows, unpack_rows

log = logging.getLogger(__name__)

GROUPS = ("A", "B", "C")
"""Names of the groups for statements."""

_MAX_ROWS = 2**31


@dataclass(frozen=True, eq=False)
class ViewState:
    """Selection, groups and camera for one set of rows."""

    # Global rows, ascending.
    selection: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    # ``{"x": [low, high], "y": [low, high]}`` in map coordinates; None shows all.
    camera: dict[str, Any] | None = None
    fingerprint: str = ""  # Fingerprint of the rows, see `fingerprint_of`.
    # Global rows, ascending, of the non-empty groups.
    groups: Mapping[str, Ints] = field(default_factory=dict)


def fingerprint_of(state: State) -> str:
    """Return a hash of the source and the ids of each dataset, without dataset names."""
    if state.data is None:
        return ""
    digest = hashlib.sha256(repr(state.source).encode())
    for dataset in state.data.datasets.values():
        digest.update(repr((len(dataset), *dataset.ids)).encode())
    return digest.hexdigest()


def validate_camera(camera: Mapping[str, Any]) -> dict[str, list[float]] | None:
    """Return a camera in its plain form; None, which shows all, for an empty mapping."""
    if not camera:
        return None
    try:
        ranges = {axis: [float(end) for end in camera[axis]] for axis in ("x", "y")}
        is_valid = all(len(ends) == 2 and all(map(math.isfinite, ends)) for ends in ranges.values())
    except (KeyError, TypeError, ValueError):
        is_valid = False
    if not is_valid:
        message = "x and y must each be a range of two numbers"
        raise DataError.of("bad-camera", "camera", message, repr(camera)[:80])
    return ranges


def validate_groups(groups: Mapping[str, ArrayLike], n_rows: int) -> dict[str, Ints]:
    """Return the non-empty groups, in the order of `GROUPS`."""
    for name in groups:
        if name not in GROUPS:
            message = f"a group must be one of {', '.join(GROUPS)}"
            raise DataError.of("bad-group", "groups", message, str(name)[:40])
    rows_of = {name: check_global_rows(groups[name], n_rows) for name in GROUPS if name in groups}
    return {name: read_only(rows) for name, rows in rows_of.items() if len(rows)}


def write_view_state(path: Path, view_state: ViewState, version: int) -> None:
    """Write the view state. A failure is only logged."""
    try:
        replace_file(path, pack_view_state(view_state, version))
    except OSError as error:
        log.warning("A selection could not be saved: %s", error.strerror)


def read_view_state(path: Path) -> tuple[ViewState, int]:
    """Return the view state in a file and its version; empty if the file cannot be read."""
    try:
        return unpack_view_state(path.read_bytes())
    except (OSError, DataError):
        return ViewState(), 0


def pack_view_state(view_state: ViewState, version: int) -> bytes:
    """Return a view state and its version as JSON."""
    record = {
        "fingerprint": view_state.fingerprint,
        "selection": _encode_rows(view_state.selection),
        "camera": view_state.camera,
        "version": version,
        "groups": {name: _encode_rows(rows) for name, rows in view_state.groups.items()},
    }
    return json.dumps(record).encode()


def unpack_view_state(content: bytes) -> tuple[ViewState, int]:
    """Return what `pack_view_state` packed. The number of rows is not checked."""
    try:
        record = json.loads(content)
        rows = read_only(check_global_rows(_decode_rows(record["selection"]), _MAX_ROWS))
        camera = validate_camera(record["camera"] or {})
        named = {name: _decode_rows(text) for name, text in record.get("groups", {}).items()}
        groups = validate_groups(named, _MAX_ROWS)
        return ViewState(rows, camera, str(record["fingerprint"]), groups), int(record["version"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        message = "the selection cannot be read"
        raise DataError.of("damaged-content", "selection", message) from None


def _encode_rows(rows: Ints) -> str:
    return base64.b64encode(pack_rows(rows)).decode()


def _decode_rows(text: str) -> Ints:
    return unpack_rows(base64.b64decode(text), _MAX_ROWS)
