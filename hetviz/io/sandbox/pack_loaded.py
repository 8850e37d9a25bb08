"""Serialisation of loaded data and join proposals as JSON, Arrow and NPY parts, without pickle.

Unpacked data pass the usual checks of `hetviz.data.Dataset` and the other classes.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._pandas import TEXT
from hetviz._types import Array, Json, JsonObject, Matrix, is_sparse
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Labels, Links
from hetviz.data.joins.join import Join
from hetviz.data.joins.matching import Match
from hetviz.data.joins.proposals import Proposal
from hetviz.data.queries.reach import Hub, Reach
from hetviz.errors import HetvizError, Problem
from hetviz.features.columns.types import arrow_texts
from hetviz.io.infer.recipe import TableRecipe
from hetviz.io.intake.loaded import ColumnInfo, DatasetInfo, FileInfo, Loaded

BytesLike = bytes | memoryview

_LENGTH = struct.Struct("<Q")
# Saved tables may contain lists and objects; json.dumps checks their content.
_JSON_TYPES = (str, int, float, bool, type(None), list, dict)
_HEADER_BYTES = 10_000


def pack_loaded(
    loaded: Loaded, proposals: Sequence[Proposal] = (), base: HeteroData | None = None
) -> list[BytesLike]:
    """Return loaded data and join proposals as a list of byte parts, without those of `base`."""
    parts = _Parts()
    data = loaded.data
    base_names = set() if base is None else set(base.datasets)
    # Compared by identity, not by content.
    base_ids = set() if base is None else {*map(id, base.links), *map(id, base.labels)}
    base_comparisons = None if base is None else base.comparisons
    n_before = 0 if base_comparisons is None else len(base_comparisons)
    header = {
        "datasets": [
            _dataset(item, parts) for name, item in data.datasets.items() if name not in base_names
        ],
        "links": [_links(group, parts) for group in data.links if id(group) not in base_ids],
        "labels": [_labels(item, parts) for item in data.labels if id(item) not in base_ids],
        "comparisons": _comparisons(data.comparisons, n_before, parts),
        # Sending the fingerprint is faster than hashing the table again.
        "fingerprint": data.fingerprint() if base is None else None,
        "name": loaded.name,
        "title": loaded.title,
        "description": loaded.description,
        "problems": list(map(asdict, loaded.problems)),
        "understood": [
            {**asdict(info), "recipe": None if info.recipe is None else info.recipe.to_dict()}
            for info in loaded.understood
        ],
        "files": list(map(asdict, loaded.files)),
        "proposals": [_proposal(item, parts) for item in proposals],
        "map": None if loaded.map is None else _map(loaded.map, parts),
        "map_method": loaded.map_method,
        "map_params": dict(loaded.map_params),
        "map_seed": loaded.map_seed,
        "held_out": None if loaded.held_out is None else [
            _links(group, parts) for group in loaded.held_out.links
        ],
    }  # fmt: skip
    return parts.joined(header)


def unpack_loaded(
    content: BytesLike, base: HeteroData | None = None
) -> tuple[Loaded, tuple[Proposal, ...]]:
    """Return the data that `pack_loaded` packed, added to `base`."""
    try:
        header, parts = _split_parts(content)
        datasets = [_dataset_of(item, parts) for item in header["datasets"]]
        links = [_links_of(item, parts) for item in header["links"]]
        labels = [_labels_of(item, parts) for item in header["labels"]]
        compared = _comparisons_of(header["comparisons"], parts)
        if base is None:
            data = HeteroData(datasets, links, compared, labels)
            if header["fingerprint"] is not None:
                data.__dict__["_fingerprint"] = str(header["fingerprint"])
        else:
            data = HeteroData(
                [*base.datasets.values(), *datasets],
                [*base.links, *links],
                base.comparisons,
                [*base.labels, *labels],
            )
            data = data if compared is None else data.edit().add(compared)
        loaded = Loaded(
            data,
            str(header["name"]),
            str(header["title"]),
            str(header["description"]),
            tuple(Problem(**item) for item in header["problems"]),
            tuple(map(_info_of, header["understood"])),
            tuple(FileInfo(**item) for item in header["files"]),
            None if header["map"] is None else _map_of(header["map"], parts),
            header["map_method"],
            header["map_params"],
            header["map_seed"],
            _held_out_of(header["held_out"], data, parts),
        )
        proposals = tuple(_proposal_of(item, parts) for item in header["proposals"])
        for item in proposals:
            _check_rows(data, item.match)
        return loaded, proposals
    except (
        HetvizError, ValueError, KeyError, TypeError, IndexError, AttributeError, struct.error,
        OSError, OverflowError,
    ) as error:  # fmt: skip
        raise ValueError("damaged") from error


def _check_rows(data: HeteroData, match: Match) -> None:
    sizes = len(data[match.source]), len(match.new_dataset or data[match.target])
    for rows, size in zip((match.i, match.j), sizes, strict=True):
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < size:
            raise ValueError("row index out of range")
    if len(match.i) != len(match.j):
        raise ValueError("unequal lengths")


def pack_base(data: HeteroData) -> bytes:
    """Return existing data as bytes without features, which reading does not need."""
    parts = _Parts()
    header = {
        "datasets": [
            _dataset(dataset, parts, features=False) for dataset in data.datasets.values()
        ],
        "links": [_links(group, parts) for group in data.links],
    }
    return b"".join(parts.joined(header))


def unpack_base(content: bytes) -> HeteroData:
    """Return the data that `pack_base` packed."""
    header, parts = _split_parts(content)
    datasets = [_dataset_of(fields, parts) for fields in header["datasets"]]
    return HeteroData(datasets, [_links_of(fields, parts) for fields in header["links"]])


class _Parts:
    """Byte parts, referenced by index."""

    def __init__(self) -> None:
        self._parts: list[BytesLike] = []

    def keep(self, content: BytesLike) -> int:
        self._parts.append(content)
        return len(self._parts) - 1

    def array(self, array: Array | None) -> int | None:
        if array is None:
            return None
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        return self.keep(buffer.getbuffer())

    def matrix(self, X: Matrix | None) -> Json:
        if X is None:
            return None
        if is_sparse(X):
            places = [self.array(part) for part in (X.data, X.indices, X.indptr)]
            return [list(X.shape), *places]
        return self.array(np.asarray(X))

    def frame(self, frame: pd.DataFrame | None) -> Json:
        """Add a table: typed columns as one Arrow stream, other columns as JSON."""
        if frame is None:
            return None
        import pyarrow as pa

        kinds: list[Json] = []
        columns: list[Any] = []
        for at in range(frame.shape[1]):
            cells = frame.iloc[:, at]
            if isinstance(cells.dtype, pd.StringDtype):
                kinds.append("text")
                columns.append(arrow_texts(cells))
            elif isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "iufbM":
                kinds.append(cells.dtype.str)
                columns.append(pa.array(cells.to_numpy()))
            else:
                kinds.append(_json_values(cells.tolist()))
        place = None
        if columns:
            table = pa.Table.from_arrays(columns, names=[str(at) for at in range(len(columns))])
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
            place = self.keep(memoryview(sink.getvalue()))
        # Tables saved by hetviz.save may have numbers as column names.
        columns_of: Sequence[object] = frame.columns.tolist()
        names = [name if isinstance(name, int) else str(name) for name in columns_of]
        return {"names": names, "kinds": kinds, "rows": len(frame), "columns": place}

    def joined(self, about: Mapping[str, object]) -> list[BytesLike]:
        """Return the header and all parts with their lengths."""
        head = json.dumps(about, default=_json_value).encode()
        return [
            piece
            for part in (head, *self._parts)
            for piece in (_LENGTH.pack(memoryview(part).nbytes), part)
        ]


def _json_value(value: object) -> Any:
    """Return a NumPy value as a JSON value."""
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError("unsupported value type")


def _split_parts(content: BytesLike) -> tuple[dict[str, Any], list[memoryview]]:
    view, at, parts = memoryview(content), 0, []
    while at < len(view):
        (length,) = _LENGTH.unpack_from(view, at)
        at += _LENGTH.size + length
        if at > len(view):
            raise ValueError("truncated")
        # No copy: the views keep the content alive.
        parts.append(view[at - length : at])
    return json.loads(bytes(parts[0])), parts[1:]


def _array_of(place: Any, parts: Sequence[memoryview]) -> Any:
    """Return an array that shares memory with the content."""
    if place is None:
        return None
    part = parts[place]
    head = io.BytesIO(bytes(part[:_HEADER_BYTES]))
    if np.lib.format.read_magic(head) != (1, 0):
        raise ValueError("unknown array version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(head)
    if dtype.hasobject:
        raise ValueError("array of objects")
    count = int(np.prod(shape, dtype=np.int64))
    array = np.frombuffer(part, dtype, count, head.tell())
    return array.reshape(shape, order="F" if by_columns else "C")


def _matrix_of(place: object, parts: Sequence[memoryview]) -> Any:
    if not isinstance(place, list):
        return _array_of(place, parts)
    shape, *places = place
    X = sp.csr_array(tuple(_array_of(part, parts).copy() for part in places), shape=tuple(shape))
    X.check_format(full_check=True)
    return X


def _frame_of(about: Any, parts: Sequence[memoryview]) -> pd.DataFrame | None:
    if about is None:
        return None
    import pyarrow as pa

    columns = iter(())
    if about["columns"] is not None:
        source = pa.BufferReader(pa.py_buffer(parts[about["columns"]]))
        table = pa.ipc.open_stream(source).read_all()
        table.validate(full=True)
        columns = iter(table.columns)
    text = TEXT
    out: dict[int, Any] = {}
    for at, kind in enumerate(about["kinds"]):
        if isinstance(kind, list):
            out[at] = pd.Series(kind, dtype=object)
        elif kind == "text":
            out[at] = next(columns).to_pandas(types_mapper={pa.large_string(): text}.get)
        else:
            out[at] = next(columns).to_numpy().astype(np.dtype(kind), copy=False)
    frame = pd.DataFrame(out, index=range(about["rows"]))
    return frame.set_axis(about["names"], axis=1)


def _json_values(values: Sequence[Any]) -> list[Any]:
    """Return values of an array of objects, JSON-ready."""
    plain = [_json_value(value) if isinstance(value, np.generic) else value for value in values]
    if not all(isinstance(value, _JSON_TYPES) for value in plain):
        raise ValueError("unsupported value types")
    return plain


def _texts(values: Array, parts: _Parts) -> Json:
    """Add an object array, as Arrow if all values are text or missing."""
    import pyarrow as pa

    texts = values.tolist()
    if set(map(type, texts)) <= {str, type(None)}:
        column = pa.array(texts, pa.large_string())
        sink = pa.BufferOutputStream()
        table = pa.Table.from_arrays([column], names=["0"])
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return parts.keep(memoryview(sink.getvalue()))
    return _json_values(texts)


def _texts_of(about: Any, parts: Sequence[memoryview]) -> list[Any]:
    import pyarrow as pa

    if isinstance(about, list):
        return about
    table = pa.ipc.open_stream(pa.BufferReader(pa.py_buffer(parts[about]))).read_all()
    table.validate(full=True)
    texts: list[Any] = table.column(0).to_pylist()
    return texts


def _dataset(dataset: Dataset, parts: _Parts, *, features: bool = True) -> JsonObject:
    media = dataset.media if features else None
    pictures: Json = None
    if media is not None:
        if not all(picture is None or isinstance(picture, bytes) for picture in media):
            raise ValueError("pictures must be bytes")
        lengths = [-1 if picture is None else len(picture) for picture in media]
        pictures = [lengths, parts.keep(b"".join(picture for picture in media if picture))]
    return {
        "name": dataset.name,
        "entity": dataset.entity,
        "ids": _texts(dataset.ids, parts),
        "X": parts.matrix(dataset.X) if features else None,
        "feature_names": list(dataset.feature_names or ()) if features else None,
        "kernel": parts.matrix(dataset.kernel) if features else None,
        "distance": parts.matrix(dataset.distance) if features else None,
        "table": parts.frame(dataset.table),
        "media": pictures,
        "recipe": dataset.recipe,
    }


def _dataset_of(about: Mapping[str, Any], parts: Sequence[memoryview]) -> Dataset:
    media = None
    if about["media"] is not None:
        lengths, place = about["media"]
        at, media = 0, []
        for length in lengths:
            media.append(None if length < 0 else bytes(parts[place][at : at + length]))
            at += max(length, 0)
    return Dataset(
        about["name"],
        _texts_of(about["ids"], parts),
        _matrix_of(about["X"], parts),
        feature_names=about["feature_names"] or None,
        kernel=_array_of(about["kernel"], parts),
        distance=_array_of(about["distance"], parts),
        table=_frame_of(about["table"], parts),
        media=media,
        entity=about["entity"],
        recipe=about["recipe"],
    )


def _links(links: Links, parts: _Parts) -> JsonObject:
    return {
        "source": links.source,
        "target": links.target,
        "i": parts.array(links.i),
        "j": parts.array(links.j),
        "weight": parts.array(links.weight) if links.weight_given else None,
        "score": parts.array(links.score),
        "complete": links.complete,
        "kind": links.kind,
        "role": links.role,
        "meta": parts.frame(links.meta),
    }


def _links_of(about: Mapping[str, Any], parts: Sequence[memoryview]) -> Links:
    return Links(
        about["source"],
        about["target"],
        _array_of(about["i"], parts),
        _array_of(about["j"], parts),
        _array_of(about["weight"], parts),
        score=_array_of(about["score"], parts),
        complete=about["complete"],
        kind=about["kind"],
        role=about["role"],
        meta=_frame_of(about["meta"], parts),
    )


def _labels(labels: Labels, parts: _Parts) -> JsonObject:
    return {
        "dataset": labels.dataset,
        "name": labels.name,
        "values": _texts(labels.values, parts),
    }


def _labels_of(about: Mapping[str, Any], parts: Sequence[memoryview]) -> Labels:
    return Labels(about["dataset"], about["name"], _texts_of(about["values"], parts))


def _comparisons(comparisons: Comparisons | None, n_before: int, parts: _Parts) -> Json:
    """Add the comparisons that are not in the base."""
    if comparisons is None or len(comparisons) == n_before:
        return None
    rows = np.arange(n_before, len(comparisons))
    new = comparisons if n_before == 0 else comparisons.take(rows)
    return [parts.array(new.objects), parts.array(new.weight), parts.frame(new.meta)]


def _comparisons_of(about: Any, parts: Sequence[memoryview]) -> Comparisons | None:
    if about is None:
        return None
    objects, weight, meta = about
    return Comparisons(
        _array_of(objects, parts), _array_of(weight, parts), meta=_frame_of(meta, parts)
    )


def _held_out_of(about: Any, data: HeteroData, parts: Sequence[memoryview]) -> HeteroData | None:
    if about is None:
        return None
    links = [_links_of(fields, parts) for fields in about]
    return HeteroData(data.datasets, links, None, data.labels)


def _map(embedding: Embedding, parts: _Parts) -> JsonObject:
    return {
        "coordinates": {name: parts.array(Y) for name, Y in embedding.coordinates.items()},
        "ids": {name: _texts(ids, parts) for name, ids in embedding.ids.items()},
        "entity": dict(embedding.entity),
        "placed": {name: parts.array(mask) for name, mask in embedding.placed.items()},
        "components": dict(embedding.components),
        "note": embedding.note,
        "drawn": None
        if embedding.drawn is None
        else {name: parts.array(Z) for name, Z in embedding.drawn.items()},
    }


def _map_of(about: Mapping[str, Any], parts: Sequence[memoryview]) -> Embedding:
    return Embedding(
        {name: _array_of(place, parts) for name, place in about["coordinates"].items()},
        {name: _texts_of(ids, parts) for name, ids in about["ids"].items()},
        about["entity"],
        {name: _array_of(place, parts) for name, place in about["placed"].items()},
        about["components"],
        note=about["note"],
        drawn=None
        if about["drawn"] is None
        else {name: _array_of(place, parts) for name, place in about["drawn"].items()},
    )


def _info_of(about: Mapping[str, Any]) -> DatasetInfo:
    return DatasetInfo(
        **{
            **about,
            "columns": tuple(ColumnInfo(**column) for column in about["columns"]),
            "id_from": tuple(about["id_from"]),
            "recipe": None if about["recipe"] is None else TableRecipe.from_dict(about["recipe"]),
        }
    )


# Packed key -> field of `Match`.
_MATCH_ARRAYS = {
    "i": "i",
    "j": "j",
    "source_alone": "unmatched_source",
    "target_alone": "unmatched_target",
    "weight": "weight",
}


def _proposal(proposal: Proposal, parts: _Parts) -> JsonObject:
    match, reach = proposal.match, proposal.reach
    return {
        "join": proposal.join.to_dict(),
        "score": float(proposal.score),
        "evidence": list(proposal.evidence),
        "doubt": proposal.doubt,
        "match": {
            "source": match.source,
            "target": match.target,
            "kind": match.kind,
            "told": list(match.messages),
            "crossed": int(match.crossed),
            "made": None if match.new_dataset is None else _dataset(match.new_dataset, parts),
            **{key: parts.array(getattr(match, field)) for key, field in _MATCH_ARRAYS.items()},
        },
        "reach": {
            "linked": dict(reach.linked),
            "items": dict(reach.items),
            "hubs": [asdict(hub) for hub in reach.hubs],
            "n_links": int(reach.n_links),
            "featureless": sorted(reach.featureless),
        },
    }


def _proposal_of(about: Mapping[str, Any], parts: Sequence[memoryview]) -> Proposal:
    match, reach = dict(about["match"]), about["reach"]
    match |= {field: _array_of(match.pop(key), parts) for key, field in _MATCH_ARRAYS.items()}
    match["messages"] = tuple(match.pop("told"))
    new_dataset = match.pop("made")
    match["new_dataset"] = None if new_dataset is None else _dataset_of(new_dataset, parts)
    hubs = tuple(Hub(**hub) for hub in reach["hubs"])
    return Proposal(
        Join(**about["join"]),
        about["score"],
        tuple(about["evidence"]),
        Match(**match),
        Reach(**{**reach, "hubs": hubs, "featureless": frozenset(reach["featureless"])}),
        about["doubt"],
    )
