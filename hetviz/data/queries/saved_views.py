"""Saved views of a map: camera, colour, filters, legend, selection and one sentence."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.data.model.embedding import Embedding
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.queries.filters import Filter, column_of
from hetviz.errors import DataError

MAX_SENTENCE = 200
_LISTS = ("hidden", "only", "datasets")


@dataclass(frozen=True)
class SavedView:
    """A view of a map with one sentence, for a story that is presented view by view.

    Parameters
    ----------
    text : str
        One sentence about what the view shows, of at most 200 characters.
    map : Embedding or str, optional
        The map that the camera belongs to. On another map all of it is shown, with a note. By
        default the view belongs to every map.
    camera : mapping, optional
        Part of the map that is shown, ``{"x": (low, high), "y": (low, high)}`` in units of the
        map as it is drawn. By default all of it.
    colour : str
        Column that colours the map: ``"dataset"``, the title of an option such as
        ``"Group of emoji"``, or its key. If empty, the colour of the page.
    filters : sequence of Filter or dict
        Items that fail one of them are hidden, such as
        ``{"dataset": "emoji", "column": "group", "values": ["Food drink"]}``, or with
        ``"kind": "range"``, ``"low"`` and ``"high"``.
    hidden : sequence of str
        Hidden datasets.
    selection : mapping of str to sequence
        Ids of the selected items by dataset.
    legend : mapping
        State of the legend: ``"hidden"`` categories, and the categories (``"only"``),
        ``"datasets"`` and ``"range"`` of numbers that stay in colour.
    map_title : str
        Title of the map.
    n_shown : int, optional
        Number of items that the view showed when it was saved.
    colours : str
        Digest of the colours when it was saved.
    id : str
        Id in its project, given by the project.

    Raises
    ------
    hetviz.errors.DataError
        If the sentence is missing or too long, or a part has another form.

    Examples
    --------
    >>> import hetviz
    >>> view = hetviz.SavedView(
    ...     "Zeros lie apart from all others.", selection={"pixels": ["d0004"]})
    >>> view.to_dict()["selection"]
    {'pixels': ['d0004']}
    """

    text: str
    map: Embedding | str = ""
    camera: Mapping[str, Sequence[float]] | None = None
    colour: str = ""
    filters: Sequence[Filter | Mapping[str, Any]] = ()
    hidden: Sequence[str] = ()
    selection: Mapping[str, Sequence[str]] = field(default_factory=dict)
    legend: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    map_title: str = ""
    n_shown: int | None = None
    colours: str = ""
    id: str = ""

    def __post_init__(self) -> None:
        text = " ".join(str(self.text).split())
        if not 0 < len(text) <= MAX_SENTENCE:
            message = f"a view needs a sentence of 1 to {MAX_SENTENCE} characters"
            raise DataError.of("bad-view", "saved view", message, text[:MAX_SENTENCE])
        try:
            checked = {
                "text": text,
                "map": digest_of_map(self.map) if isinstance(self.map, Embedding) else self.map,
                "camera": _check_camera(self.camera),
                "filters": tuple(
                    entry if isinstance(entry, Filter) else Filter.from_dict(dict(entry))
                    for entry in self.filters
                ),
                "hidden": tuple(map(str, self.hidden)),
                "selection": {
                    str(name): tuple(map(str, ids)) for name, ids in self.selection.items() if ids
                },
                "legend": _check_legend(self.legend),
            }
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            message = "its camera, filters, selection or legend has another form"
            raise DataError.of("bad-view", f"saved view {text!r}", message, str(error)) from None
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, object]:
        """Return the view as a JSON-ready dictionary."""
        return {
            **{part.name: getattr(self, part.name) for part in fields(self)},
            "filters": [item.to_dict() for item in self.filters if isinstance(item, Filter)],
            "hidden": list(self.hidden),
            "selection": {name: list(ids) for name, ids in self.selection.items()},
        }

    @classmethod
    def from_dict(cls, entry: Mapping[str, object]) -> SavedView:
        """Return the view of `to_dict`; raise a `DataError` for unknown fields."""
        try:
            return cls(**entry)  # type: ignore[arg-type]
        except TypeError as error:
            message = "its fields are invalid"
            raise DataError.of("bad-view", "saved view", message, str(error)) from None


def digest_of_map(embedding: Embedding) -> str:
    """Return a digest of the positions, which names of datasets do not change."""
    digest = hashlib.sha256()
    for Y in embedding.coordinates.values():
        digest.update(np.ascontiguousarray(Y, dtype="<f8").tobytes())
    return digest.hexdigest()[:24]


def present_filters(data: HeteroData, view: SavedView) -> tuple[tuple[Filter, ...], list[str]]:
    """Return the filters that the data still allow, and a note for each other one."""
    present: list[Filter] = []
    notes: list[str] = []
    for item in view.filters:
        if not isinstance(item, Filter):
            continue
        if item.dataset not in data.datasets:
            notes.append(f"A filter is left out: the dataset “{item.dataset}” was removed.")
            continue
        if item.kind != "rows":
            try:
                column_of(data, item.dataset, item.column)
            except DataError:
                where = f"“{item.column}” of {item.dataset}"
                notes.append(f"A filter is left out: the column {where} was removed.")
                continue
        present.append(item)
    return tuple(present), notes


def present_rows(data: HeteroData, view: SavedView) -> tuple[Ints, list[str]]:
    """Return the selected global rows that are still there, and a note about the others."""
    rows: list[int] = []
    total = sum(map(len, view.selection.values()))
    for name, ids in view.selection.items():
        if name in data.datasets:
            start = data.offsets[name].start
            row_of = {text: start + row for row, text in enumerate(data[name].ids)}
            rows += [row_of[text] for text in ids if text in row_of]
    gone = total - len(rows)
    notes = [f"{gone:,} of {total:,} selected items were removed."] if gone else []
    return np.array(sorted(rows), dtype=np.int64), notes


def _check_camera(
    camera: Mapping[str, Sequence[float]] | None,
) -> dict[str, list[float]] | None:
    if not camera:
        return None
    ranges = {axis: [float(end) for end in camera[axis]] for axis in ("x", "y")}
    for ends in ranges.values():
        low, high = ends
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError("a camera needs two finite ranges")
    return ranges


def _check_legend(legend: Mapping[str, Sequence[object]]) -> dict[str, list[object]]:
    unknown = set(legend) - {*_LISTS, "range"}
    if unknown:
        raise ValueError(f"unknown part of a legend: {', '.join(sorted(unknown))}")
    checked: dict[str, list[object]] = {
        part: list(map(str, legend[part])) for part in _LISTS if legend.get(part)
    }
    if legend.get("range"):
        low, high = (float(str(end)) for end in legend["range"])
        checked["range"] = [low, high]
    return checked
