"""What was read of files, with how it belongs together, as bytes and back.

JSON, Arrow and NPY parts one after another; never a pickle. What comes back goes through the same
checks as all data do: `hetviz.data.Dataset` and its like refuse what is damaged.
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

Buffer = bytes | memoryview

_LENGTH = struct.Struct("<Q")
# Lists and objects are what a saved table has in JSON; what else is in them is refused there.
_PLAIN = (str, int, float, bool, type(None), list, dict)
_HEADER = 10_000


def packed_loaded(
    loaded: Loaded, proposals: Sequence[Proposal] = (), base: HeteroData | None = None
) -> list[Buffer]:
    """Return what was read, and how it may be joined, as bytes to be written one after another.

    Parameters
    ----------
    loaded : Loaded
    proposals : sequence of Proposal
    base : HeteroData, optional
        What was added to; none of it is packed.

    Raises
    ------
    ValueError
        If a table holds what is neither text nor a number nor a date.
    """
    parts = _Parts()
    data = loaded.data
    old = set() if base is None else set(base.datasets)
    # Told apart by what they are, not by what they say.
    held = set() if base is None else {*map(id, base.links), *map(id, base.labels)}
    before = None if base is None else base.comparisons
    n_before = 0 if before is None else len(before)
    about = {
        "datasets": [
            _dataset(one, parts) for name, one in data.datasets.items() if name not in old
        ],
        "links": [_links(group, parts) for group in data.links if id(group) not in held],
        "labels": [_labels(one, parts) for one in data.labels if id(one) not in held],
        "comparisons": _comparisons(data.comparisons, n_before, parts),
        # Hashing all of a table takes longer than handing it over.
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
        "proposals": [_proposal(one, parts) for one in proposals],
        "map": None if loaded.map is None else _map(loaded.map, parts),
        "map_method": loaded.map_method,
        "map_params": dict(loaded.map_params),
        "map_seed": loaded.map_seed,
        "held_out": None if loaded.held_out is None else [
            _links(group, parts) for group in loaded.held_out.links
        ],
    }  # fmt: skip
    return parts.joined(about)


def unpacked_loaded(
    content: Buffer, base: HeteroData | None = None
) -> tuple[Loaded, tuple[Proposal, ...]]:
    """Return what `packed_loaded` made bytes of, added to `base`.

    Raises
    ------
    ValueError
        If the bytes are damaged.
    """
    try:
        about, parts = _opened(content)
        datasets = [_dataset_of(one, parts) for one in about["datasets"]]
        links = [_links_of(one, parts) for one in about["links"]]
        labels = [_labels_of(one, parts) for one in about["labels"]]
        compared = _comparisons_of(about["comparisons"], parts)
        if base is None:
            data = HeteroData(datasets, links, compared, labels)
            if about["fingerprint"] is not None:
                data.__dict__["_fingerprint"] = str(about["fingerprint"])
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
            str(about["name"]),
            str(about["title"]),
            str(about["description"]),
            tuple(Problem(**one) for one in about["problems"]),
            tuple(map(_info_of, about["understood"])),
            tuple(FileInfo(**one) for one in about["files"]),
            None if about["map"] is None else _map_of(about["map"], parts),
            about["map_method"],
            about["map_params"],
            about["map_seed"],
            _held_out_of(about["held_out"], data, parts),
        )
        proposals = tuple(_proposal_of(one, parts) for one in about["proposals"])
        for one in proposals:
            _check_rows(data, one.match)
        return loaded, proposals
    except (
        HetvizError, ValueError, KeyError, TypeError, IndexError, AttributeError, struct.error,
        OSError, OverflowError,
    ) as error:  # fmt: skip
        raise ValueError("damaged") from error


def _check_rows(data: HeteroData, match: Match) -> None:
    sizes = len(data[match.source]), len(match.made or data[match.target])
    for rows, size in zip((match.i, match.j), sizes, strict=True):
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < size:
            raise ValueError("rows that there are not")
    if len(match.i) != len(match.j):
        raise ValueError("pairs of one")


def packed_base(data: HeteroData) -> bytes:
    """Return what files are added to as bytes: without features, which nothing is read by."""
    parts = _Parts()
    about = {
        "datasets": [_dataset(one, parts, features=False) for one in data.datasets.values()],
        "links": [_links(group, parts) for group in data.links],
    }
    return b"".join(parts.joined(about))


def unpacked_base(content: bytes) -> HeteroData:
    """Return what `packed_base` made bytes of."""
    about, parts = _opened(content)
    datasets = [_dataset_of(one, parts) for one in about["datasets"]]
    return HeteroData(datasets, [_links_of(one, parts) for one in about["links"]])


class _Parts:
    """Parts of bytes, each of which is known by its place."""

    def __init__(self) -> None:
        self._parts: list[Buffer] = []

    def keep(self, content: Buffer) -> int:
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
        """Keep a table: columns that are alike as one stream of Arrow, the rest as JSON."""
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
                kinds.append(_values(cells.tolist()))
        place = None
        if columns:
            table = pa.Table.from_arrays(columns, names=[str(at) for at in range(len(columns))])
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
            place = self.keep(memoryview(sink.getvalue()))
        # What hetviz.save wrote may have numbers for names.
        columns_of: Sequence[object] = frame.columns.tolist()
        names = [name if isinstance(name, int) else str(name) for name in columns_of]
        return {"names": names, "kinds": kinds, "rows": len(frame), "columns": place}

    def joined(self, about: Mapping[str, object]) -> list[Buffer]:
        """Return all parts with their lengths, what they are about first."""
        head = json.dumps(about, default=_plain).encode()
        return [
            piece
            for part in (head, *self._parts)
            for piece in (_LENGTH.pack(memoryview(part).nbytes), part)
        ]


def _plain(value: object) -> Any:
    """Return a value of an array as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError("a value of a kind that is not handed over")


def _opened(content: Buffer) -> tuple[dict[str, Any], list[memoryview]]:
    view, at, parts = memoryview(content), 0, []
    while at < len(view):
        (length,) = _LENGTH.unpack_from(view, at)
        at += _LENGTH.size + length
        if at > len(view):
            raise ValueError("cut off")
        # Without a copy: what is read of them holds the content as long as it is needed.
        parts.append(view[at - length : at])
    return json.loads(bytes(parts[0])), parts[1:]


def _array_of(place: Any, parts: Sequence[memoryview]) -> Any:
    """Return an array, which shares its memory with the content."""
    if place is None:
        return None
    part = parts[place]
    head = io.BytesIO(bytes(part[:_HEADER]))
    if np.lib.format.read_magic(head) != (1, 0):
        raise ValueError("no array")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(head)
    if dtype.hasobject:
        raise ValueError("no plain array")
    count = int(np.prod(shape, dtype=np.int64))
    found = np.frombuffer(part, dtype, count, head.tell())
    return found.reshape(shape, order="F" if by_columns else "C")


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


def _values(values: Sequence[Any]) -> list[Any]:
    """Return values of an array of objects, JSON-ready."""
    plain = [_plain(value) if isinstance(value, np.generic) else value for value in values]
    if not all(isinstance(value, _PLAIN) for value in plain):
        raise ValueError("values of a kind that is not handed over")
    return plain


def _texts(values: Array, parts: _Parts) -> Json:
    """Keep an array of objects: as Arrow where all are text or missing."""
    import pyarrow as pa

    found = values.tolist()
    if set(map(type, found)) <= {str, type(None)}:
        column = pa.array(found, pa.large_string())
        sink = pa.BufferOutputStream()
        table = pa.Table.from_arrays([column], names=["0"])
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return parts.keep(memoryview(sink.getvalue()))
    return _values(found)


def _texts_of(about: Any, parts: Sequence[memoryview]) -> list[Any]:
    import pyarrow as pa

    if isinstance(about, list):
        return about
    table = pa.ipc.open_stream(pa.BufferReader(pa.py_buffer(parts[about]))).read_all()
    table.validate(full=True)
    found: list[Any] = table.column(0).to_pylist()
    return found


def _dataset(dataset: Dataset, parts: _Parts, *, features: bool = True) -> JsonObject:
    media = dataset.media if features else None
    pictures: Json = None
    if media is not None:
        if not all(one is None or isinstance(one, bytes) for one in media):
            raise ValueError("pictures that are no bytes")
        lengths = [-1 if one is None else len(one) for one in media]
        pictures = [lengths, parts.keep(b"".join(one for one in media if one))]
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


def _comparisons(found: Comparisons | None, n_before: int, parts: _Parts) -> Json:
    """Keep the comparisons below those that were there before."""
    if found is None or len(found) == n_before:
        return None
    rows = np.arange(n_before, len(found))
    new = found if n_before == 0 else found.take(rows)
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
    links = [_links_of(one, parts) for one in about]
    return HeteroData(data.datasets, links, None, data.labels)


def _map(found: Embedding, parts: _Parts) -> JsonObject:
    return {
        "coordinates": {name: parts.array(Y) for name, Y in found.coordinates.items()},
        "ids": {name: _texts(ids, parts) for name, ids in found.ids.items()},
        "entity": dict(found.entity),
        "placed": {name: parts.array(mask) for name, mask in found.placed.items()},
        "components": dict(found.components),
        "note": found.note,
        "drawn": None
        if found.drawn is None
        else {name: parts.array(Z) for name, Z in found.drawn.items()},
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
            "columns": tuple(ColumnInfo(**one) for one in about["columns"]),
            "id_from": tuple(about["id_from"]),
            "recipe": None if about["recipe"] is None else TableRecipe.from_dict(about["recipe"]),
        }
    )


_ROWS = ("i", "j", "source_alone", "target_alone", "weight")


def _proposal(one: Proposal, parts: _Parts) -> JsonObject:
    match, reach = one.match, one.reach
    return {
        "join": one.join.to_dict(),
        "score": float(one.score),
        "evidence": list(one.evidence),
        "doubt": one.doubt,
        "match": {
            "source": match.source,
            "target": match.target,
            "kind": match.kind,
            "told": list(match.told),
            "crossed": int(match.crossed),
            "made": None if match.made is None else _dataset(match.made, parts),
            **{field: parts.array(getattr(match, field)) for field in _ROWS},
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
    match |= {field: _array_of(match[field], parts) for field in _ROWS}
    match["told"] = tuple(match["told"])
    match["made"] = None if match["made"] is None else _dataset_of(match["made"], parts)
    hubs = tuple(Hub(**hub) for hub in reach["hubs"])
    return Proposal(
        Join(**about["join"]),
        about["score"],
        tuple(about["evidence"]),
        Match(**match),
        Reach(**{**reach, "hubs": hubs, "featureless": frozenset(reach["featureless"])}),
        about["doubt"],
    )
