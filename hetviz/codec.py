"""The binary format of everything that hetviz stores or sends: JSON, then array and Arrow parts.

A document is a prefix (magic bytes, version, compression, sizes), a JSON header, and parts at
multiples of 8 bytes. The header describes a value, where arrays and tables stand as numbers of
parts. Arrays are the values of an NPY file, whose dtype, shape and order the header holds. Texts
and tables are Arrow streams. Decoding runs no code of the document and checks every size.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from hetviz._types import Array

Buffer: TypeAlias = bytes | bytearray | memoryview

MAGIC = b"HETVIZ"
VERSION = 1
# Magic bytes, version, whether the body is compressed, size of the header and of the raw body.
_PREFIX = struct.Struct("<6sBBQQ")
PREFIX_BYTES = _PREFIX.size
_ALIGNMENT = 8
_SCALARS = frozenset({str, int, float, bool, type(None)})
_DTYPE = re.compile(r"[<|][biufcSUmM][1-9]\d{0,8}(\[(\d{0,6})(Y|M|W|D|h|m|s|ms|us|ns)\])?")
_MAX_DIMENSIONS = 32
_MAX_CODE_POINT = 0x10FFFF
_INCOMPLETE = object()


class CodecError(ValueError):
    """A value that cannot be encoded, or bytes that are no document or damaged."""


@dataclass(frozen=True)
class Limits:
    """Limits of a document to decode."""

    body_bytes: int = 4_000_000_000  # Header and parts, unpacked.
    # `header_bytes`, `parts`, `depth`: size of the JSON header, number of parts, and nesting of
    # values.
    header_bytes: int = 500_000_000
    parts: int = 100_000
    depth: int = 100


DEFAULT_LIMITS = Limits()


class Records:
    """Classes whose instances a document may contain, restored by their constructors.

    `*classes`: dataclasses. Their names are stored.
    """

    def __init__(self, *classes: type) -> None:
        self._classes = {kind.__name__: kind for kind in classes}

    def name_of(self, value: object) -> str | None:
        """Return the stored name of the class of a value, None if it may not be stored."""
        name = type(value).__name__
        return name if self._classes.get(name) is type(value) else None

    def fields_of(self, value: object) -> Mapping[str, object]:
        """Return the values to store."""
        return init_fields(value)

    def restore(
        self,
        name: str,
        read_fields: Callable[[], dict[str, Any]],
        register: Callable[[object], None],
    ) -> object:
        """Return an instance; `register` it first if its fields may refer back to it."""
        return self._classes[name](**read_fields())


def init_fields(value: object) -> dict[str, object]:
    """Return the fields of a dataclass that its constructor takes and that are saved."""
    return {
        field.name: getattr(value, field.name)
        for field in fields(value)  # type: ignore[arg-type]
        if field.init and field.metadata.get("saved", True)
    }


NO_RECORDS = Records()


def encode(value: object, records: Records = NO_RECORDS, *, compress: bool = False) -> bytes:
    """Return a value as a document.

    Values are JSON values, tuples, sets, mappings, bytes, dates, paths, NumPy arrays and scalars,
    CSR matrices, data frames, Arrow tables, and instances of the classes in `records`. What stands
    in several places is stored once.
    """
    prefix, *body = encode_buffers(value, records)
    if not compress:
        return b"".join((prefix, *body))
    packed = zlib.compress(b"".join(body))
    magic, version, _, header_bytes, body_bytes = _PREFIX.unpack(prefix)
    return _PREFIX.pack(magic, version, 1, header_bytes, body_bytes) + packed


def encode_buffers(value: object, records: Records = NO_RECORDS) -> list[Buffer]:
    """Return the buffers of a document, which share the memory of large arrays."""
    encoder = _Encoder(records)
    tree = encoder.encode(value, DEFAULT_LIMITS.depth)
    sizes = [memoryview(part).nbytes for part in encoder.parts]
    header = json.dumps({"value": tree, "sizes": sizes}, separators=(",", ":")).encode()
    body: list[Buffer] = []
    total = 0
    for part, size in zip((header, *encoder.parts), (len(header), *sizes), strict=True):
        padding = bytes(-size % _ALIGNMENT)
        body += [part, padding]
        total += size + len(padding)
    prefix = _PREFIX.pack(MAGIC, VERSION, 0, len(header), total)
    return [prefix, *(buffer for buffer in body if len(buffer))]


def is_document(content: Buffer) -> bool:
    """Whether bytes begin as a document."""
    return bytes(content[: len(MAGIC)]) == MAGIC


def body_bytes(prefix: Buffer, limits: Limits = DEFAULT_LIMITS) -> int:
    """Return the size of the body that follows a prefix without compression."""
    return _read_prefix(prefix, limits)[2]


def decode(
    content: Buffer,
    records: Records = NO_RECORDS,
    limits: Limits = DEFAULT_LIMITS,
    *,
    writable: bool = False,
) -> Any:
    """Return the value of a document, with arrays that share its memory.

    Arrays of a document in `bytes` are read-only. With `writable`, the document is copied, and only
    arrays that were read-only are.
    """
    try:
        body, header_bytes = _read_body(memoryview(content), limits)
        body = memoryview(bytearray(body)) if writable else body
        header = json.loads(bytes(body[:header_bytes]))
        parts = list(_split(body, header_bytes, header["sizes"], limits))
        return _Decoder(parts, records).decode(header["value"], limits.depth)
    except CodecError:
        raise
    # Libraries raise errors of many kinds for damaged bytes.
    except Exception as error:
        raise CodecError(f"damaged ({type(error).__name__})") from error


def _read_prefix(prefix: Buffer, limits: Limits) -> tuple[int, int, int]:
    """Return whether a body is compressed, the size of its header and its own."""
    if len(prefix) < PREFIX_BYTES or not is_document(prefix):
        raise CodecError("not a hetviz document")
    _, version, compressed, header_bytes, total = _PREFIX.unpack(prefix[:PREFIX_BYTES])
    if version != VERSION or compressed > 1:
        raise CodecError(f"format {version} is not supported")
    if total > limits.body_bytes or header_bytes > min(total, limits.header_bytes):
        raise CodecError("larger than allowed")
    return compressed, header_bytes, total


def _read_body(content: memoryview, limits: Limits) -> tuple[memoryview, int]:
    compressed, header_bytes, total = _read_prefix(content, limits)
    body = content[PREFIX_BYTES:]
    if compressed:
        unpacker = zlib.decompressobj()
        body = memoryview(unpacker.decompress(body, total + 1))
        if not unpacker.eof or unpacker.unused_data:
            raise CodecError("the declared size is wrong")
    if len(body) != total:
        raise CodecError("the declared size is wrong")
    return body, header_bytes


def _split(body: memoryview, at: int, sizes: Sequence[int], limits: Limits) -> Iterator[memoryview]:
    if len(sizes) > limits.parts:
        raise CodecError("too many parts")
    for size in sizes:
        at += -at % _ALIGNMENT
        if type(size) is not int or not 0 <= size <= len(body) - at:
            raise CodecError("a part is larger than the document")
        yield body[at : at + size]
        at += size
    if at + -at % _ALIGNMENT != len(body):
        raise CodecError("unused bytes after the parts")


class _Encoder:
    """Conversion of a value to JSON and parts."""

    def __init__(self, records: Records) -> None:
        self.parts: list[Buffer] = []
        self._records = records
        # Numbers of values by identity. The values are kept, because an identity can be reused.
        self._numbers: dict[int, tuple[int, object]] = {}

    def encode(self, value: object, depth: int) -> object:
        """Return the JSON of a value."""
        kind = type(value)
        if kind in _SCALARS:
            return value
        if depth < 0:
            raise CodecError("values are nested too deeply")
        if id(value) in self._numbers:
            return {"$same": self._numbers[id(value)][0]}
        self._numbers[id(value)] = len(self._numbers), value
        if kind is dict and all(type(key) is str and key[:1] != "$" for key in value):  # type: ignore[attr-defined]
            return {key: self.encode(item, depth - 1) for key, item in value.items()}  # type: ignore[attr-defined]
        if kind is list:
            return self._items(value, depth - 1)  # type: ignore[arg-type]
        mark, content = self._marked(value, kind, depth - 1)
        return {mark: content}

    def _marked(self, value: Any, kind: type, depth: int) -> tuple[str, object]:
        if kind in (bytes, bytearray, memoryview):
            return "$bytes", self._add(value)
        if kind in (tuple, set, frozenset):
            items = value if kind is tuple else sorted(value, key=repr)
            return f"${kind.__name__}", self._items(items, depth)
        if kind in (dict, MappingProxyType):
            items = [[self.encode(part, depth) for part in item] for item in value.items()]
            return "$dict" if kind is dict else "$mapping", items
        if kind is range:
            return "$range", [value.start, value.stop, value.step]
        if isinstance(value, Path):
            return "$path", str(value)
        for library, marked in (
            ("numpy", self._numpy), ("pandas", self._pandas), ("pyarrow", self._arrow),
            ("scipy.sparse", self._sparse),
        ):  # fmt: skip
            # A library that is not loaded has made no value.
            if library in sys.modules and (tree := marked(value, kind, depth)) is not None:
                return tree
        if kind in (dt.date, dt.datetime):
            return f"${kind.__name__}", value.isoformat()
        name = self._records.name_of(value)
        if name is None:
            raise CodecError(f"a {kind.__module__}.{kind.__qualname__} cannot be stored")
        stored = self._records.fields_of(value)
        return "$record", [name, {key: self.encode(item, depth) for key, item in stored.items()}]

    def _add(self, part: Buffer) -> int:
        self.parts.append(part)
        return len(self.parts) - 1

    def _items(self, items: Sequence[object], depth: int) -> object:
        kinds = set(map(type, items))
        if kinds <= _SCALARS:
            return list(items)
        if kinds <= {bytes, type(None)}:
            # Many small pictures are one part.
            pieces = [item for item in items if isinstance(item, bytes)]
            sizes = [len(item) if isinstance(item, bytes) else -1 for item in items]
            return {"$pieces": [self._add(b"".join(pieces)), sizes]}
        return [self.encode(item, depth) for item in items]

    def _numpy(self, value: Any, kind: type, depth: int) -> tuple[str, object] | None:
        import numpy as np

        if isinstance(value, np.generic):
            return "$scalar", self.encode(np.asarray(value), depth)
        if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
            return None
        shape, frozen = list(value.shape), not value.flags.writeable
        if value.dtype == object:
            items = value.reshape(-1).tolist()
            texts = _text_stream(items)
            cells = self._items(items, depth) if texts is None else self._add(texts)
            return "$objects", [cells, shape, frozen]
        array = value.astype(value.dtype.newbyteorder("="), copy=False)
        if _DTYPE.fullmatch(array.dtype.str) is None:
            raise CodecError(f"an array of {array.dtype} cannot be stored")
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        flat = np.ascontiguousarray(array.T if order == "F" else array).reshape(-1)
        part = self._add(flat.view(np.uint8).data)
        return "$array", [part, array.dtype.str, shape, order, frozen]

    def _arrow(self, value: Any, kind: type, depth: int) -> tuple[str, object] | None:
        import pyarrow as pa

        return ("$table", self._add(_stream(value))) if kind is pa.Table else None

    def _sparse(self, value: Any, kind: type, depth: int) -> tuple[str, object] | None:
        import scipy.sparse as sp

        if kind not in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix):
            return None
        parts = [self.encode(part, depth) for part in (value.data, value.indices, value.indptr)]
        return "$csr", [kind.__name__, list(value.shape), *parts]

    def _pandas(self, value: Any, kind: type, depth: int) -> tuple[str, object] | None:
        import pandas as pd

        if value is pd.NA or value is pd.NaT:
            return "$missing", "NA" if value is pd.NA else "NaT"
        if kind is pd.Timestamp:
            return "$time", value.isoformat()
        if kind is not pd.DataFrame:
            return None
        index = value.index
        is_range = isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1)
        return "$frame", [
            [self.encode(name, depth) for name in value.columns.tolist()],
            [self._column(value.iloc[:, at], depth) for at in range(value.shape[1])],
            len(value) if is_range else self._column(index.to_series(), depth),
        ]

    def _column(self, cells: pd.Series, depth: int) -> object:
        import numpy as np
        import pandas as pd
        import pyarrow as pa

        dtype = cells.dtype
        if isinstance(dtype, np.dtype):
            return self.encode(cells.to_numpy(), depth)
        if isinstance(dtype, pd.StringDtype):
            texts = pa.chunked_array(cells.array.__arrow_array__())
            texts = texts if texts.type == pa.large_string() else texts.cast(pa.large_string())
            part = self._add(_stream(pa.Table.from_arrays([texts], names=["0"])))
            return ["text" if dtype == _text_dtype() else "string", part]
        if isinstance(dtype, pd.CategoricalDtype):
            categories = self._column(dtype.categories.to_series(), depth)
            codes = self.encode(np.asarray(cells.cat.codes), depth)
            return ["category", bool(dtype.ordered), categories, codes]
        return [str(dtype), self.encode(cells.astype(object).to_numpy(), depth)]


class _Decoder:
    """Conversion of JSON and parts back to a value."""

    def __init__(self, parts: Sequence[memoryview], records: Records) -> None:
        self._parts, self._records = parts, records
        # In the order in which the encoder numbered them.
        self._values: list[object] = []

    def decode(self, tree: Any, depth: int) -> Any:
        """Return the value of JSON."""
        kind = type(tree)
        if kind in _SCALARS:
            return tree
        if depth < 0:
            raise CodecError("values are nested too deeply")
        mark = next(iter(tree), "") if kind is dict else ""
        if mark == "$same":
            return self._same(tree[mark])
        number = len(self._values)
        self._values.append(_INCOMPLETE)

        def register(value: object) -> None:
            self._values[number] = value

        if mark == "$record":
            name, stored = tree[mark]

            def read_fields() -> dict[str, Any]:
                return {key: self.decode(item, depth - 1) for key, item in stored.items()}

            value = self._records.restore(name, read_fields, register)
        elif kind is list or mark == "$pieces":
            value = self._items(tree, depth - 1)
        elif mark[:1] == "$":
            value = _READERS[mark](self, tree[mark], depth - 1)
        else:
            value = {key: self.decode(item, depth - 1) for key, item in tree.items()}
        register(value)
        return value

    def _same(self, number: int) -> object:
        value = self._values[number] if number >= 0 else _INCOMPLETE
        if value is _INCOMPLETE:
            raise CodecError("a reference to an incomplete value")
        return value

    def _part(self, number: int) -> memoryview:
        if type(number) is not int or number < 0:
            raise CodecError("no part of this number")
        return self._parts[number]

    def _items(self, tree: Any, depth: int) -> list[Any]:
        if type(tree) is list:
            return [self.decode(item, depth) for item in tree]
        number, sizes = tree["$pieces"]
        whole, at = self._part(number), 0
        items: list[bytes | None] = []
        for size in sizes:
            items.append(None if size < 0 else bytes(whole[at : at + size]))
            at += max(size, 0)
        if at != len(whole):
            raise CodecError("the declared size is wrong")
        return items

    def _mapping(self, items: Sequence[Sequence[Any]], depth: int) -> dict[Any, Any]:
        return dict([self.decode(part, depth) for part in item] for item in items)

    def _array(self, about: Sequence[Any], depth: int) -> Array:
        import numpy as np

        number, dtype, shape, order, frozen = about
        part = self._part(number)
        if _DTYPE.fullmatch(dtype) is None:
            raise CodecError(f"arrays of {dtype[:20]!r} are not allowed")
        kind = np.dtype(dtype)
        _check_shape(shape, len(part), kind.itemsize)
        array: Array = np.frombuffer(part, kind)
        if kind.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise CodecError("invalid truth values")
        if kind.kind == "U" and array.view(np.uint32).max(initial=0) > _MAX_CODE_POINT:
            raise CodecError("invalid characters")
        array = array.reshape(shape, order=order)
        array.flags.writeable = array.flags.writeable and not frozen
        return array

    def _objects(self, about: Sequence[Any], depth: int) -> Array:
        import numpy as np

        cells, shape, frozen = about
        is_text = type(cells) is int
        items = self._table(cells).column(0).to_pylist() if is_text else self._items(cells, depth)
        _check_shape(shape, len(items), 1)
        array = np.fromiter(items, object, len(items)).reshape(shape)
        array.flags.writeable = not frozen
        return array

    def _table(self, number: int) -> pa.Table:
        import pyarrow as pa

        part = self._part(number)
        table = pa.ipc.open_stream(pa.BufferReader(pa.py_buffer(part))).read_all()
        for field in table.schema:
            if pa.types.is_nested(field.type) or isinstance(field.type, pa.BaseExtensionType):
                raise CodecError(f"columns of {field.type} are not allowed")
        # Parts are written without compression.
        if table.get_total_buffer_size() > 2 * len(part):
            raise CodecError("a table is larger than its part")
        table.validate(full=True)
        return table

    def _csr(self, about: Sequence[Any], depth: int) -> object:
        import scipy.sparse as sp

        kind, shape, *trees = about
        make = {
            "csr_array": sp.csr_array,
            "csr_matrix": sp.csr_matrix,
            "csc_array": sp.csc_array,
            "csc_matrix": sp.csc_matrix,
        }[kind]
        X = make(tuple(self.decode(tree, depth) for tree in trees), shape=tuple(shape))
        # SciPy does not check indices by itself.
        X.check_format(full_check=True)
        return X

    def _frame(self, about: Sequence[Any], depth: int) -> pd.DataFrame:
        import pandas as pd

        names, columns, index = about
        names = [self.decode(name, depth) for name in names]
        cells = [self._column(column, depth) for column in columns]
        rows = pd.RangeIndex(index) if type(index) is int else pd.Index(self._column(index, depth))
        if len(names) != len(cells) or any(len(column) != len(rows) for column in cells):
            raise CodecError("columns of unequal lengths")
        frame = pd.DataFrame(dict(enumerate(cells)), index=range(len(rows)), copy=False)
        return frame.set_axis(rows, axis=0).set_axis(names, axis=1)

    def _column(self, about: Any, depth: int) -> Any:
        import pandas as pd

        if type(about) is dict:
            values = self.decode(about, depth)
            # pandas would turn texts into its own type.
            return pd.Series(values, dtype=object) if values.dtype == object else values
        kind, *parts = about
        if kind in ("text", "string"):
            texts = self._table(parts[0]).column(0)
            column = texts.to_pandas(types_mapper=lambda _: _text_dtype())
            return column.array if kind == "text" else column.astype("string").array
        if kind == "category":
            ordered, categories, codes = parts
            values = pd.Index(self._column(categories, depth))
            return pd.Categorical.from_codes(self.decode(codes, depth), values, ordered=ordered)
        return pd.Series(self.decode(parts[0], depth), dtype=object).astype(kind).array

    def _missing(self, name: str, depth: int) -> object:
        import pandas as pd

        return {"NA": pd.NA, "NaT": pd.NaT}[name]

    def _time(self, text: str, depth: int) -> object:
        import pandas as pd

        return pd.Timestamp(text)


_READERS: dict[str, Callable[[_Decoder, Any, int], object]] = {
    "$bytes": lambda decoder, number, _: bytes(decoder._part(number)),
    "$tuple": lambda decoder, items, depth: tuple(decoder._items(items, depth)),
    "$set": lambda decoder, items, depth: set(decoder._items(items, depth)),
    "$frozenset": lambda decoder, items, depth: frozenset(decoder._items(items, depth)),
    "$dict": _Decoder._mapping,
    "$mapping": lambda decoder, items, depth: MappingProxyType(decoder._mapping(items, depth)),
    "$range": lambda _decoder, ends, _: range(*ends),
    "$path": lambda _decoder, text, _: Path(text),
    "$date": lambda _decoder, text, _: dt.date.fromisoformat(text),
    "$datetime": lambda _decoder, text, _: dt.datetime.fromisoformat(text),
    "$scalar": lambda decoder, tree, depth: decoder.decode(tree, depth)[()],
    "$array": _Decoder._array,
    "$objects": _Decoder._objects,
    "$table": lambda decoder, number, _: decoder._table(number),
    "$csr": _Decoder._csr,
    "$frame": _Decoder._frame,
    "$missing": _Decoder._missing,
    "$time": _Decoder._time,
}


def _check_shape(shape: Sequence[int], n_bytes: int, itemsize: int) -> None:
    if len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise CodecError("an array has no valid shape")
    if math.prod(shape) * itemsize != n_bytes:
        raise CodecError("the shape of an array does not match its size")


def _stream(table: pa.Table) -> memoryview:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return memoryview(sink.getvalue())


def _text_stream(items: Sequence[object]) -> memoryview | None:
    """Return texts as an Arrow stream, None if some items are no texts."""
    import pyarrow as pa

    if not items or not set(map(type, items)) <= {str, type(None)}:
        return None
    try:
        column = pa.array(items, pa.large_string())
    except (UnicodeError, pa.ArrowInvalid):
        # Half a surrogate pair is not UTF-8.
        return None
    return _stream(pa.Table.from_arrays([column], names=["0"]))


def _text_dtype() -> pd.StringDtype:
    from hetviz._pandas import TEXT

    return TEXT
