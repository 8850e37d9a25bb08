"""Preview of the map with the statement in the bar."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats
from hetviz.algorithms.contract import Capability
from hetviz.core.layout.procrustes import align
from hetviz.data import HeteroData
from hetviz.data.edits.adding import add_statements
from hetviz.errors import HetvizError
from hetviz.metrics.trust.consequences import MOVED_THRESHOLD, Consequences, consequences_from_dict
from hetviz.ui.item.item import rows_of_ids
from hetviz.ui.map_data.parts import get_geometry
from hetviz.ui.shell import background, session
from hetviz.ui.statements import actions
from hetviz.ui.statements.commands import DraftCommands
from hetviz.workspace import MapResult, State

MAX_ROWS = 3_000
"""Largest number of rows for which a preview map is computed."""
_MAX_GHOSTS = 30


@dataclass(frozen=True, eq=False)
class Preview:
    """Expected effects of a statement."""

    consequences: Consequences
    moves: list[list[float]]  # New positions of the items that move, the farthest first
    n_followers: int  # Number of other items similar to the named ones


def find_preview(state: State, draft: DraftCommands) -> Preview | None:
    """Return the preview of a statement, or start computing it and return None."""
    data, run = state.guided, state.run
    if data is None or run is None or data.n_rows > MAX_ROWS or not actions.is_auto_refit():
        return None
    can = actions.method_capabilities(state)
    if can is None or Capability.WARM_START not in can or not state.is_current(run):
        return None
    identity = json.dumps([run.id, data.fingerprint(), draft.lines])
    mark = hashlib.sha256(identity.encode()).hexdigest()
    mark_ready, new_map = background.last_preview()
    if mark_ready != mark:
        after = _add_to_data(data, draft)
        if after is not None:
            keys = actions.new_statements(data, after)
            if actions.uses_new_statements(can, keys):
                background.start_preview(state, after, keys, mark)
        return None
    if new_map is None or not (new_map.figures or {}).get("consequences"):
        return None
    return session.get_or_compute(
        ("preview", mark), new_map, lambda: _read_preview(state, new_map, draft)
    )


def _add_to_data(data: HeteroData, draft: DraftCommands) -> HeteroData | None:
    try:
        return add_statements(data, draft.parts).data
    except HetvizError:
        # The error is shown when the statement is added.
        return None


def _read_preview(state: State, new_map: MapResult, draft: DraftCommands) -> Preview:
    figures = new_map.figures or {}
    here = np.asarray(get_geometry(state, state.run).points, dtype=np.float64)
    new_points = np.vstack(
        [new_map.embedding.coordinates[name] for name in state.opened().datasets]
    )
    new: Floats = align(new_points[:, :2], here)(new_points[:, :2])
    shift = np.linalg.norm(new - here, axis=1)
    extent = float(np.max(np.nanmax(here, axis=0) - np.nanmin(here, axis=0))) or 1.0
    rows = np.argsort(-np.nan_to_num(shift), kind="stable")[:_MAX_GHOSTS]
    rows = rows[np.nan_to_num(shift[rows]) >= MOVED_THRESHOLD * extent]
    data = state.opened()
    spoken_of = {int(row) for pair in draft.lines for row in pair[:2]}
    learned = [
        group
        for group in figures.get("learned") or []
        if group["followers"]
        and not spoken_of.isdisjoint(rows_of_ids(data, group["dataset"], group["named"]))
    ]
    return Preview(
        consequences_from_dict(figures["consequences"]),
        [[int(row), float(new[row, 0]), float(new[row, 1])] for row in rows],
        sum(int(group["n_followers"]) for group in learned),
    )
