"""Stored maps: one document of `hetviz.codec` per map."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hetviz import codec
from hetviz.data import Embedding, HeteroData
from hetviz.errors import DataError
from hetviz.runs.embed.run import STOPPED, MapResult
from hetviz.workspace.store.packing import (
    LIMITS,
    check_rows,
    damaged,
    earlier_arrays,
    unpack_json,
    unpack_rows,
)

_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "fingerprint": str,
    "method": str,
    "params": Mapping,
    "seed": int,
    "versions": Mapping,
    "seconds": (int, float),
    "weights": Mapping,
    "hold_out": (int, float),
    "title": str,
}


def pack_map(result: MapResult) -> bytes:
    """Return a map as bytes. Ids are not stored: `unpack_map` gets the data."""
    embedding, figures = result.embedding, result.figures
    stored = {name: getattr(result, name) for name in _FIELDS} | {
        "only": result.only,
        "figures": None if figures is None else json.dumps(figures).encode(),
        "unrepeatable": result.unrepeatable,
        "period": None if result.period is None else dict(result.period),
        "start": None if result.start is None else _arrays_of(result.start),
        **_arrays_of(embedding),
    }
    return codec.encode(stored, compress=True)


def unpack_map(content: bytes, data: HeteroData, depends_on_more: bool = False) -> MapResult:
    """Return the map of `data` that `pack_map` packed."""
    try:
        stored = codec.decode(content, limits=LIMITS)
        fields = {name: stored[name] for name in _FIELDS}
        only, figures, start = stored["only"], stored["figures"], stored.get("start")
        period = stored.get("period")
        reason = _reason_of_earlier(fields["title"], depends_on_more)
        unrepeatable = stored.get("unrepeatable", reason)
        embedding = _embedding_of(data, stored)
        start_map = None if start is None else _embedding_of(data, start)
    except (codec.CodecError, KeyError, TypeError, IndexError, AttributeError):
        raise damaged("map") from None
    rows_are_sound = only is None or (_is_array(only, "iu") and only.ndim == 1)
    if not (
        all(isinstance(fields[name], kind) for name, kind in _FIELDS.items())
        and isinstance(figures, bytes | None)
        and isinstance(unrepeatable, str)
        and (period is None or _is_period(period))
        and rows_are_sound
    ):
        raise damaged("map")
    return MapResult(
        **fields,
        only=None if only is None else check_rows(only.astype(np.int64), data.n_rows),
        start=start_map,
        unrepeatable=unrepeatable,
        period=period,
        figures=None if figures is None else unpack_json(figures),
        embedding=embedding if embedding.note else replace(embedding, note=fields["title"]),
    )


def _is_period(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and {"by", "name", "start", "stop"} == set(value)
        and isinstance(value["by"], str | Mapping)
        and isinstance(value["name"], str)
        and all(isinstance(value[end], int | float) for end in ("start", "stop"))
    )


def _reason_of_earlier(title: str, depends_on_more: bool) -> str:
    """Return why a map that an earlier version stored cannot be repeated; empty if it can."""
    if title.endswith(", stopped early"):
        return STOPPED
    return "An earlier version made the map and did not store all that it needs." * depends_on_more


def _arrays_of(embedding: Embedding) -> dict[str, object]:
    return {
        "coordinates": list(embedding.coordinates.values()),
        "drawn": None if embedding.drawn is None else list(embedding.drawn.values()),
        "components": np.array(list(embedding.components.values()), dtype=np.int64),
        "note": embedding.note,
    }


def earlier_map(
    fields: Mapping[str, Any], data: HeteroData, get: Callable[[str], bytes]
) -> MapResult:
    """Return a map as journals of earlier versions hold it: settings, and keys of blobs."""
    arrays = earlier_arrays("map", get(fields["coordinates"]))
    drawn = [arrays.pop(name) for name in [f"d{k}" for k in range(len(arrays))] if name in arrays]
    parts = [arrays[f"c{k}"] for k in range(len(arrays) - 1) if f"c{k}" in arrays]
    if "components" not in arrays or len(parts) != len(arrays) - 1:
        raise damaged("map")
    figures, only = fields["figures"], fields["only"]
    stored = {
        "coordinates": parts,
        "drawn": drawn or None,
        "components": arrays["components"],
        "note": fields["note"] or fields["title"],
    }
    return MapResult(
        fields["fingerprint"],
        fields["method"],
        dict(fields["params"]),
        fields["seed"],
        weights=dict(fields["weights"]),
        only=None if only is None else unpack_rows(get(only), data.n_rows),
        hold_out=fields["hold_out"],
        title=fields["title"],
        unrepeatable=_reason_of_earlier(fields["title"], fields["replaces"] is not None),
        embedding=_embedding_of(data, stored),
        figures=None if figures is None else unpack_json(get(figures)),
    )


def _embedding_of(data: HeteroData, stored: Mapping[str, Any]) -> Embedding:
    """Return the result of `_arrays_of` as an embedding with the ids and entities of `data`."""
    parts, drawn, components = stored["coordinates"], stored["drawn"], stored["components"]
    if not (
        isinstance(stored["note"], str)
        and _are_arrays(parts)
        and (drawn is None or (_are_arrays(drawn) and len(drawn) == len(parts)))
        and _is_array(components, "iu")
        and components.shape == (len(parts),)
    ):
        raise damaged("map")
    sizes = [len(Y) for Y in parts if Y.ndim == 2]
    if sizes != [len(dataset) for dataset in data.datasets.values()]:
        raise DataError.of(
            "other-data", "map", "the map was made from other data", remedy="Run it again."
        )
    return Embedding(
        dict(zip(data.datasets, parts, strict=True)),
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
        components=dict(zip(data.datasets, components.tolist(), strict=True)),
        note=stored["note"],
        drawn=None if drawn is None else dict(zip(data.datasets, drawn, strict=True)),
    )


def _is_array(value: object, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds


def _are_arrays(values: object) -> bool:
    return isinstance(values, list) and all(_is_array(value, "fiub") for value in values)
