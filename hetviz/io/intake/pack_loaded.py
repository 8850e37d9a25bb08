"""Loaded data and join proposals as documents of `hetviz.codec`, checked when they are unpacked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hetviz.codec import Buffer, Records, decode, encode, encode_buffers, init_fields
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Labels, Links
from hetviz.data.joins.join import Join
from hetviz.data.joins.matching import Match
from hetviz.data.joins.proposals import Proposal
from hetviz.data.queries.reach import Hub, Reach
from hetviz.errors import HetvizError, Problem
from hetviz.io.bundle.loaded import ColumnInfo, DatasetInfo, FileInfo, Loaded
from hetviz.io.infer.recipe import ColumnRecipe, TableRecipe

_NO_FEATURES = dict.fromkeys(("X", "feature_names", "kernel", "distance", "media"))


class _DataRecords(Records):
    """The classes of loaded data, whose constructors check all values."""

    def __init__(self, *, features: bool = True) -> None:
        super().__init__(
            ColumnInfo, ColumnRecipe, Comparisons, Dataset, DatasetInfo, Embedding, FileInfo, Hub,
            Join, Labels, Links, Match, Problem, Proposal, Reach, TableRecipe,
        )  # fmt: skip
        self._features = features

    def fields_of(self, value: object) -> Mapping[str, object]:
        fields = init_fields(value)
        if isinstance(value, Links) and not value.weight_given:
            fields["weight"] = None
        if isinstance(value, Embedding):
            del fields["diagnostics"]
        if isinstance(value, Dataset):
            _check_pictures(value.media)
            fields |= {} if self._features else _NO_FEATURES
        return fields

    def restore(
        self,
        name: str,
        read_fields: Callable[[], dict[str, Any]],
        register: Callable[[object], None],
    ) -> object:
        value = super().restore(name, read_fields, register)
        if isinstance(value, Dataset):
            _check_pictures(value.media)
        return value


def _check_pictures(media: Sequence[object] | None) -> None:
    # A path would be opened by whoever draws the picture.
    if not all(picture is None or isinstance(picture, bytes) for picture in media or ()):
        raise ValueError("pictures must be bytes")


_RECORDS = _DataRecords()
_RECORDS_WITHOUT_FEATURES = _DataRecords(features=False)


def pack_loaded(
    loaded: Loaded, proposals: Sequence[Proposal] = (), base: HeteroData | None = None
) -> list[Buffer]:
    """Return loaded data and join proposals as buffers, without the data of `base`."""
    data = loaded.data
    base_names = set() if base is None else set(base.datasets)
    # Compared by identity, not by content.
    base_ids = set() if base is None else {*map(id, base.links), *map(id, base.labels)}
    n_before = 0 if base is None or base.comparisons is None else len(base.comparisons)
    comparisons = data.comparisons
    if comparisons is not None and n_before:
        new = range(n_before, len(comparisons))
        comparisons = comparisons.take(np.array(new)) if new else None
    return encode_buffers(
        {
            "datasets": [item for name, item in data.datasets.items() if name not in base_names],
            "links": [group for group in data.links if id(group) not in base_ids],
            "labels": [item for item in data.labels if id(item) not in base_ids],
            "comparisons": comparisons,
            # Sending the fingerprint is faster than hashing the table again.
            "fingerprint": data.fingerprint() if base is None else None,
            "held_out": None if loaded.held_out is None else loaded.held_out.links,
            "about": {
                name: value
                for name, value in init_fields(loaded).items()
                if name not in ("data", "held_out")
            },
            "proposals": list(proposals),
        },
        _RECORDS,
    )


def unpack_loaded(
    content: Buffer, base: HeteroData | None = None
) -> tuple[Loaded, tuple[Proposal, ...]]:
    """Return the data that `pack_loaded` packed, added to `base`."""
    try:
        packed = decode(content, _RECORDS)
        datasets, links, labels = packed["datasets"], packed["links"], packed["labels"]
        compared = packed["comparisons"]
        if base is None:
            data = HeteroData(datasets, links, compared, labels)
            data.__dict__["_fingerprint"] = str(packed["fingerprint"])
        else:
            data = HeteroData(
                [*base.datasets.values(), *datasets],
                [*base.links, *links],
                base.comparisons,
                [*base.labels, *labels],
            )
            data = data if compared is None else data.edit().add(compared)
        held_out = packed["held_out"]
        if held_out is not None:
            held_out = HeteroData(data.datasets, held_out, None, data.labels)
        loaded = Loaded(data, held_out=held_out, **packed["about"])
        proposals = tuple(packed["proposals"])
        for item in proposals:
            _check_rows(data, item.match)
        return loaded, proposals
    except (HetvizError, ValueError, KeyError, TypeError, AttributeError) as error:
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
    datasets = list(data.datasets.values())
    return encode([datasets, data.links], _RECORDS_WITHOUT_FEATURES)


def unpack_base(content: bytes) -> HeteroData:
    """Return the data that `pack_base` packed."""
    return HeteroData(*decode(content, _RECORDS))
