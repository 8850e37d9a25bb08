"""Merging of two guidance files, with their differences and conflicts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hetviz._types import JsonObject
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData
from hetviz.data.edits.adding import add_statements
from hetviz.data.model.statements import statements
from hetviz.errors import ParameterError
from hetviz.io import gate
from hetviz.io.intake.guidance import GuidanceRead, guidance_csv, read_guidance
from hetviz.metrics.conflicts.conflicts import StatementConflict, conflicts_involving

_COMPARED_FIELDS = ("weight", "score", "note", "set")


@dataclass(frozen=True, eq=False)
class MergedGuidance:
    """Merged guidance of two files.

    `data`: Data with the guidance of both files and no other guidance.
    `both`, `only_ours`, `only_theirs`: Number of statements in both files, and in only one of
        them.
    `differ`: Statements in both files with different fields: key, and fields as ``[ours,
        theirs]``. JSON-ready.
    `conflicts`: Contradictions between both files, directly or through chains. Both sides are in
        `data`.
    """

    data: HeteroData
    both: int
    only_ours: int
    only_theirs: int
    differ: tuple[dict[str, Any], ...]
    conflicts: tuple[StatementConflict, ...]

    def csv(self) -> str:
        """Return the merged guidance as a CSV file, see `hetviz.io.guidance_csv`."""
        return guidance_csv(self.data, labels=False)

    def to_dict(self) -> JsonObject:
        """Return counts, differences and conflicts, JSON-ready."""
        return {
            "both": self.both,
            "only_ours": self.only_ours,
            "only_theirs": self.only_theirs,
            "differ": list(self.differ),
            "conflicts": [conflict.to_dict() for conflict in self.conflicts],
        }


@one_thread()
def merge_guidance(
    data: HeteroData, ours: str | Path | bytes, theirs: str | Path | bytes, *, keep: str = "ours"
) -> MergedGuidance:
    """Merge two guidance files for the same data.

    Parameters
    ----------
    data : HeteroData
        Data with the items of the files. Its own guidance is ignored.
    ours, theirs : str, path or bytes
        Files of `hetviz.io.guidance_csv`, or their bytes.
    keep : {"ours", "theirs"}
        Which weights and notes to use for statements in both files.

    Returns
    -------
    Merged

    Raises
    ------
    hetviz.errors.DataError
        Lists all rows of both files that cannot be read.
    hetviz.errors.ParameterError
        If `keep` has another value.
    """
    if keep not in ("ours", "theirs"):
        raise ParameterError(f"merge_guidance: keep = {keep!r} must be 'ours' or 'theirs'.")
    unguided = HeteroData(data.datasets, labels=data.labels)
    our_guidance, their_guidance = (
        _read_side(unguided, name, source) for name, source in (("ours", ours), ("theirs", theirs))
    )
    our_data = add_statements(unguided, our_guidance.parts).data
    combined = add_statements(our_data, their_guidance.parts)
    their_data = add_statements(unguided, their_guidance.parts).data
    n_ours, n_theirs = (len(statements(side)) for side in (our_data, their_data))
    before, after = (statements(side).set_index("key") for side in (our_data, combined.data))
    differ = []
    for key in combined.updated:
        fields: dict[str, Any] = {}
        for field in _COMPARED_FIELDS:
            sides = [_to_json_value(table.loc[key, field]) for table in (before, after)]
            if sides[0] != sides[1]:
                fields[field] = sides
        if fields:
            differ.append({"key": key, "fields": fields})
    merged = (
        combined.data
        if keep == "theirs"
        else add_statements(combined.data, our_guidance.parts).data
    )
    n_both = n_theirs - len(combined.added)
    return MergedGuidance(
        merged,
        n_both,
        n_ours - n_both,
        len(combined.added),
        tuple(differ),
        tuple(conflicts_involving(merged, [*combined.added, *combined.updated], max_conflicts=100)),
    )


def _read_side(data: HeteroData, side: str, source: str | Path | bytes) -> GuidanceRead:
    if isinstance(source, bytes):
        return read_guidance(side, source, data).strict()
    path = Path(source)
    return read_guidance(*gate.unpack_gzip(path.name, gate.read_file(path)), data).strict()


def _to_json_value(value: object) -> Any:
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return str(value)
