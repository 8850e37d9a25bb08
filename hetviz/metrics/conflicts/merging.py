"""Guidance of two people brought together, with what they disagree about."""

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
from hetviz.io.bundle.guidance import GuidanceRead, guidance_csv, read_guidance
from hetviz.metrics.conflicts.conflicts import StatementConflict, conflicts_involving

_COMPARED_FIELDS = ("weight", "score", "note", "set")


@dataclass(frozen=True, eq=False)
class MergedGuidance:
    """The guidance of two files as one.

    Attributes
    ----------
    data : HeteroData
        The data with the guidance of both, and no other.
    both, only_ours, only_theirs : int
        Statements that both make, and those that one of them makes.
    differ : tuple of dict
        Statements that both make in other words: key, and fields, each as ``[ours, theirs]``;
        JSON-ready.
    conflicts : tuple of Conflict
        What theirs contradicts in ours, directly or through chains; both sides are kept.
    """

    data: HeteroData
    both: int
    only_ours: int
    only_theirs: int
    differ: tuple[dict[str, Any], ...]
    conflicts: tuple[StatementConflict, ...]

    def csv(self) -> str:
        """Return all of it as one file, see `hetviz.io.guidance_csv`."""
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
    data: HeteroData,
    ours: str | Path | bytes,
    theirs: str | Path | bytes,
    *,
    keep: str = "ours",
) -> MergedGuidance:
    """Bring two files of guidance about the same data together.

    Parameters
    ----------
    data : HeteroData
        Whose items the files name; its own guidance plays no part.
    ours, theirs : str, path or bytes
        Files as `hetviz.io.guidance_csv` writes them, or their bytes.
    keep : {"ours", "theirs"}
        Whose weight and notes a statement has that both make.

    Returns
    -------
    Merged

    Raises
    ------
    hetviz.errors.DataError
        Listing every row of either file that cannot be read.
    hetviz.errors.ParameterError
        For another word.
    """
    if keep not in ("ours", "theirs"):
        raise ParameterError(f"keep = {keep!r}; it must be 'ours' or 'theirs'.")
    unguided = HeteroData(data.datasets, labels=data.labels)
    our_guidance, their_guidance = (
        _read_side(unguided, *given) for given in (("ours", ours), ("theirs", theirs))
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
