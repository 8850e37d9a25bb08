"""Evidence behind the statements on the screen, in a dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hetviz.runs.evidence.evidence import Evidence
    from hetviz.workspace import State


def find_evidence(state: State, key: str) -> Evidence:
    """Return the evidence of a key, see `hetviz.ui.evidence.sources.find_evidence`."""
    # Each module registers its kinds.
    from hetviz.ui.evidence import about_findings, about_groups, about_items, about_maps, sources

    del about_findings, about_groups, about_items, about_maps
    return sources.find_evidence(state, key)
