"""Stored maps: one document of `hetviz.codec` per map."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hetviz import codec
from hetviz._types import Array, Ints
from hetviz.data import Embedding, HeteroData
from hetviz.errors import DataError, Problem
from hetviz.runs.embed.run import MapResult
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
        "coordinates": list(embedding.coordinates.values()),
        "drawn": None if embedding.drawn is None else list(embedding.drawn.values()),
        "components": np.array(list(embedding.components.values()), dtype=np.int64),
        "note": embedding.note,
    }
    return codec.encode(stored, compress=True)


def unpack_map(content: bytes, data: HeteroData) -> MapResult:
    """Return the map of `data` that `pack_map` packed."""
    try:
        stored = codec.decode(content, limits=LIMITS)
        fields = {name: stored[name] for name in _FIELDS}
        only, figures, note = stored["only"], stored["figures"], stored["note"]
        parts, drawn, components = stored["coordinates"], stored["drawn"], stored["components"]
    except (codec.CodecError, KeyError, TypeError, IndexError):
        raise damaged("map") from None
    rows_are_sound = only is None or (_is_array(only, "iu") and only.ndim == 1)
    if not (
        all(isinstance(fields[name], kind) for name, kind in _FIELDS.items())
        and isinstance(figures, bytes | None)
        and isinstance(note, str)
        and rows_are_sound
        and _are_arrays(parts)
        and (drawn is None or _are_arrays(drawn))
        and _is_array(components, "iu")
    ):
        raise damaged("map")
    return MapResult(
        **fields,
        only=None if only is None else check_rows(only.astype(np.int64), data.n_rows),
        figures=None if figures is None else unpack_json(figures),
        embedding=_embedding_of(data, parts, drawn, components, note or fields["title"]),
    )


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
    note = fields["note"] or fields["title"]
    return MapResult(
        fields["fingerprint"],
        fields["method"],
        dict(fields["params"]),
        fields["seed"],
        weights=dict(fields["weights"]),
        only=None if only is None else unpack_rows(get(only), data.n_rows),
        hold_out=fields["hold_out"],
        title=fields["title"],
        embedding=_embedding_of(data, parts, drawn or None, arrays["components"], note),
        figures=None if figures is None else unpack_json(get(figures)),
    )


def _embedding_of(
    data: HeteroData,
    parts: Sequence[Array],
    drawn: Sequence[Array] | None,
    components: Ints,
    note: str,
) -> Embedding:
    """Return coordinates as an embedding with the ids and entities of `data`."""
    if components.shape != (len(parts),) or (drawn is not None and len(drawn) != len(parts)):
        raise damaged("map")
    sizes = [len(Y) for Y in parts if Y.ndim == 2]
    if sizes != [len(dataset) for dataset in data.datasets.values()]:
        raise DataError(
            Problem("other-data", "map", "the map was made from other data", remedy="Run it again.")
        )
    return Embedding(
        dict(zip(data.datasets, parts, strict=True)),
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
        components=dict(zip(data.datasets, components.tolist(), strict=True)),
        note=note,
        drawn=None if drawn is None else dict(zip(data.datasets, drawn, strict=True)),
    )


def _is_array(value: object, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds


def _are_arrays(values: object) -> bool:
    return isinstance(values, list) and all(_is_array(value, "fiub") for value in values)
