"""Tests of the binary format: round trips, shared values, damaged and hostile bytes."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import DTypeLike

from hetviz import codec
from hetviz._pandas import TEXT
from hetviz.codec import CodecError, Limits, Records
from tests.documents import header_of, with_header


def through(value: object, records: Records = codec.NO_RECORDS) -> Any:
    plain = codec.decode(codec.encode(value, records), records)
    packed = codec.decode(codec.encode(value, records, compress=True), records)
    assert type(plain) is type(packed)
    return plain


DTYPES = [
    "?", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16",
    "S3", "<U5", "<M8[ns]", "<M8[D]", "<m8[s]", ">f8", ">i4",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 4), (2, 3), (2, 3, 4)])
def test_array_round_trip(dtype: DTypeLike, shape: tuple[int, ...]) -> None:
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    array = (numbers % 2 if dtype == "?" else numbers).astype(dtype)
    for value in (array, np.asfortranarray(array), array[..., ::2] if shape else array):
        back = through(value)
        assert back.dtype == value.dtype.newbyteorder("=")
        assert back.shape == value.shape
        assert np.array_equal(back, value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -7,
        2**70,
        0.1,
        float("inf"),
        "a\x00\ud800ü",
        b"",
        b"\x00\xff",
        [],
        [1, "a", None, [2.5]],
        (1, (b"a", b"")),
        [b"a", None, b""],
        (None, b"x"),
        {1, 2},
        frozenset({"a"}),
        {"a": {"b": (1,)}, "": [True]},
        {"$array": [1]},
        {1: "a", ("x", 2): None},
        range(1, 9, 2),
        Path("folder/picture.png"),
        dt.date(2024, 2, 29),
        dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.UTC),
        MappingProxyType({"a": 1}),
    ],
    ids=repr,
)
def test_plain_round_trip(value: object) -> None:
    back = through(value)
    assert type(back) is type(value)
    assert back == value


@pytest.mark.parametrize(
    "scalar",
    [np.float32(1.5), np.int64(7), np.bool_(True), np.datetime64("2024-01-01"), np.str_("a")],
)
def test_scalar_round_trip(scalar: np.generic) -> None:
    back = through(scalar)
    assert (type(back), back) == (type(scalar), scalar)


@pytest.mark.parametrize(
    "items",
    [
        [],
        ["a", "", "ü\x00"],
        ["a", None],
        ["\ud800"],
        [1, "a", None, 2.5, [1, 2]],
        [[1, 2], [3, 4]],
    ],
)
def test_object_array_round_trip(items: list[object]) -> None:
    array = np.fromiter(items, object, len(items))
    array.flags.writeable = False
    back = through({"ids": array, "again": array})
    assert back["ids"].tolist() == items
    assert back["ids"] is back["again"]
    assert not back["ids"].flags.writeable


def test_matrix_round_trip() -> None:
    X = sp.csr_array(np.array([[0, 1.5], [2, 0], [0, 0]]))
    for value in (X, sp.csr_matrix(X), sp.csr_array((0, 3)), X.tocsc()):
        back = through(value)
        assert (type(back), back.shape) == (type(value), value.shape)
        assert (back != value).nnz == 0


FRAME = pd.DataFrame(
    {
        "text": pd.array(["a", None, "ü"], dtype=TEXT),
        "text with NA": pd.array(["a", None, "b"], dtype="string"),
        "numbers": [1.5, np.nan, 3.0],
        "bools": [True, False, True],
        "dates": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
        "zones": pd.to_datetime(["2024-01-01", None, "2024-01-03"]).tz_localize("Europe/Berlin"),
        "masked": pd.array([1, None, 3], dtype="Int64"),
        "categories": pd.Categorical(["x", None, "y"], categories=["y", "x"], ordered=True),
        "objects": pd.Series([1, "a", None], dtype=object),
        "texts as objects": pd.Series(["a", "b", "c"], dtype=object),
        7: [1, 2, 3],
    }
)


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME[[]],
        FRAME.iloc[:0],
        FRAME.iloc[[2, 0]],
        FRAME.set_axis(["x", "y", "z"], axis=0),
        FRAME.set_axis(["same"] * FRAME.shape[1], axis=1),
    ],
)
def test_frame_round_trip(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(through(frame), frame)


def test_table_round_trip() -> None:
    table = pa.table(
        {"a": ["x", None], "b": [1, 2], "c": pa.array([b"1", None], pa.large_binary())}
    )
    assert through(table).equals(table)


def test_shared_values_stay_shared() -> None:
    X, names = np.arange(1000.0), ["a", "b"]
    content = codec.encode([X, {"X": X, "names": names}, names])
    assert len(content) < 9_000
    first, fields, second = codec.decode(content)
    assert fields["X"] is first
    assert fields["names"] is second


def test_arrays_share_memory() -> None:
    X = np.zeros(1000)
    buffers = codec.encode_buffers({"X": X})
    X[7] = 3.0
    content = bytearray(b"".join(buffers))
    back = codec.decode(content)["X"]
    assert back[7] == 3.0
    assert back.flags.writeable
    assert back.flags.aligned
    back[8] = 4.0
    assert codec.decode(content)["X"][8] == 4.0
    assert not codec.decode(bytes(content))["X"].flags.writeable
    X.flags.writeable = False
    assert not codec.decode(bytearray(codec.encode(X))).flags.writeable


@dataclass(frozen=True)
class Point:
    x: int
    label: str = "a"
    hidden: int = field(default=0, metadata={"saved": False})
    double: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("negative")


def test_records_are_checked_by_their_constructors() -> None:
    records = Records(Point)
    assert through([Point(3, "b", 5)], records) == [Point(3, "b")]
    content = codec.encode(Point(3), records)
    with pytest.raises(CodecError):
        codec.decode(content)
    with pytest.raises(CodecError):
        codec.decode(content.replace(b'"x":3', b'"y":3'), records)
    with pytest.raises(CodecError):
        codec.decode(content.replace(b'"Point"', b'"Other"'), records)
    wrong = header_of(content)
    wrong["value"]["$record"][1]["x"] = -1
    with pytest.raises(CodecError):
        codec.decode(with_header(content, wrong), records)


@pytest.mark.parametrize(
    "value",
    [object(), Point(1), np.zeros(2, dtype="i4,i4"), sp.coo_array((2, 2)), len, 1j],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(CodecError, match="cannot be stored"):
        codec.encode([value])


def test_deep_values_are_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(CodecError):
        codec.decode(codec.encode(value))
    for _ in range(200):
        value = [value]
    with pytest.raises(CodecError, match="nested"):
        codec.encode(value)


def changed_array(change: Callable[[list[Any]], object]) -> bytes:
    content = codec.encode(np.arange(6.0))
    header = header_of(content)
    change(header["value"]["$array"])
    return with_header(content, header)


def set_at(place: int, value: object) -> Callable[[list[Any]], object]:
    return lambda about: about.__setitem__(place, value)


@pytest.mark.parametrize(
    "change",
    [
        set_at(0, 1),
        set_at(0, -1),
        set_at(0, True),
        set_at(0, None),
        set_at(1, "|O"),
        set_at(1, "<f4"),
        set_at(1, "|V8"),
        set_at(1, "<f8,<f8"),
        set_at(1, "<U12"),
        set_at(1, 8),
        set_at(2, [7]),
        set_at(2, [-6, -1]),
        set_at(2, [2**62, 3]),
        set_at(2, [6.0]),
        set_at(2, [True, 6]),
        set_at(2, [1] * 40 + [6]),
        set_at(3, "X"),
        lambda about: about.pop(),
    ],
)
def test_bad_array_is_refused(change: Callable[[list[Any]], object]) -> None:
    with pytest.raises(CodecError):
        codec.decode(changed_array(change))


def test_invalid_cells_are_refused() -> None:
    for array, dtype in ((np.array([2], np.uint8), "|b1"), (np.array([2**31]), "<U2")):
        content = codec.encode(array)
        header = header_of(content)
        header["value"]["$array"][1:3] = [dtype, [1]]
        with pytest.raises(CodecError, match="invalid"):
            codec.decode(with_header(content, header))


@pytest.mark.parametrize(
    "value",
    [
        {"$same": 0},
        {"$same": -1},
        {"$same": 5},
        [{"$same": 0}],
        {"$record": ["Point", {}]},
        {"$other": 1},
        {"$csr": ["csr_array", [2, 2], [1.0], [9], [0, 1, 1]]},
        {"$csr": ["dia_array", [2, 2]]},
        {"$frame": [["a"], [], 3]},
        {"$tuple": 3},
        {"$dict": [[[], 1]]},
        {"$date": "today"},
        {"$missing": "x"},
        {"$pieces": [0, [1]]},
        {"$table": 0},
    ],
    ids=str,
)
def test_bad_value_is_refused(value: object) -> None:
    header = json.dumps({"value": value, "sizes": [0]}).encode()
    header += b" " * (-len(header) % 8)
    content = struct.pack("<6sBBQQ", b"HETVIZ", 1, 0, len(header), len(header)) + header
    with pytest.raises(CodecError):
        codec.decode(content)


def test_nested_json_is_refused() -> None:
    for n in (150, 100_000):
        header = b'{"sizes":[],"value":' + b"[" * n + b"]" * n + b"}"
        header += b" " * (-len(header) % 8)
        content = struct.pack("<6sBBQQ", b"HETVIZ", 1, 0, len(header), len(header)) + header
        with pytest.raises(CodecError):
            codec.decode(content)


def test_limits_hold() -> None:
    content = codec.encode([np.zeros(100), b"a" * 100])
    assert len(codec.decode(content, limits=Limits(body_bytes=len(content) - 24))) == 2
    for limits in (Limits(body_bytes=900), Limits(header_bytes=50), Limits(parts=1)):
        with pytest.raises(CodecError):
            codec.decode(content, limits=limits)
    with pytest.raises(CodecError):
        codec.body_bytes(content[:24], Limits(body_bytes=900))
    assert codec.body_bytes(content[:24]) == len(content) - 24


def test_unpacked_size_is_limited() -> None:
    content = codec.encode(b"\0" * 10_000_000, compress=True)
    assert len(content) < 20_000
    magic, version, packed, header_bytes, total = struct.unpack_from("<6sBBQQ", content)
    with pytest.raises(CodecError, match="larger"):
        codec.decode(content, limits=Limits(body_bytes=total - 1))
    for size in (total - 8, total + 8, header_bytes):
        prefix = struct.pack("<6sBBQQ", magic, version, packed, header_bytes, size)
        with pytest.raises(CodecError, match="size"):
            codec.decode(prefix + content[24:])
    with pytest.raises(CodecError):
        codec.decode(content[:24] + zlib.decompress(content[24:]))


def test_arrow_columns_are_limited() -> None:
    sink = pa.BufferOutputStream()
    table = pa.table({"a": pa.array([0] * 1_000_000)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    content = codec.encode(sink.getvalue().to_pybytes())
    with pytest.raises(CodecError, match="larger"):
        codec.decode(content.replace(b"$bytes", b"$table"))
    nested = codec.encode(pa.table({"a": [[1], [2]]}))
    with pytest.raises(CodecError, match="not allowed"):
        codec.decode(nested)


WHOLE = codec.encode(
    {
        "X": np.arange(6.0).reshape(2, 3),
        "ids": np.array(["a", "b", None], dtype=object),
        "frame": FRAME,
        "csr": sp.csr_array(np.eye(3)),
        "media": (b"1", None, b"22"),
        "point": Point(1),
    },
    Records(Point),
)


@given(st.data())
def test_damaged_bytes_raise_one_error(data: st.DataObject) -> None:
    content = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(0, len(content)))
    with contextlib.suppress(CodecError):
        codec.decode(bytes(content[:cut]), Records(Point))


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(content: bytes) -> None:
    for start in (b"", WHOLE[:8], WHOLE[:24]):
        with pytest.raises(CodecError):
            codec.decode(start + content)
