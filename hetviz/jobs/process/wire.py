"""Messages between the server and its worker, over a private socket.

A message is the length of its head (4 bytes), the head (JSON: kind, fields, sizes of the parts),
and the parts. Values are pickled with arrays out of band, so that arrays are not copied.
Unpickling trusts the sender. It is safe here because the server started the worker and gave it the
socket. No other module may pickle.
"""

from __future__ import annotations

import io
import json
import pickle
import socket
import struct
import sys
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hetviz._types import Array

MessageBuffer = bytes | bytearray | memoryview

_LENGTH = struct.Struct("<I")
# Maximum number of reads or writes in a row, so that a fast sender cannot block the reader.
_MAX_STEPS = 1_000


@dataclass(frozen=True)
class Message:
    """A received message."""

    kind: str
    fields: dict[str, Any]
    parts: Sequence[MessageBuffer]

    def value(self) -> Any:
        """Return the value that `pickle_value` made the parts of."""
        head, *buffers = self.parts
        return pickle.loads(head, buffers=buffers)  # noqa: S301 - see above


def encode_message(
    kind: str, parts: Sequence[MessageBuffer] = (), /, **fields: object
) -> list[MessageBuffer]:
    """Return the buffers of a message."""
    head = {"kind": kind, "fields": fields, "sizes": [len(part) for part in parts]}
    text = json.dumps(head).encode()
    return [_LENGTH.pack(len(text)) + text, *parts]


def pickle_value(value: object) -> list[MessageBuffer]:
    """Return a value as parts of a message, sharing its arrays."""
    file = io.BytesIO()
    arrays: list[pickle.PickleBuffer] = []
    _Pickler(file, protocol=5, buffer_callback=arrays.append).dump(value)
    return [file.getvalue(), *(array.raw() for array in arrays)]


class _Pickler(pickle.Pickler):
    """Pickles read-only mappings, skips cached properties, and keeps arrays read-only."""

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if kind is MappingProxyType:
            return _read_only, (dict(obj),)
        if (numpy := sys.modules.get("numpy")) is not None and kind is numpy.ndarray:
            flags = obj.flags
            # Out-of-band buffers stay read-only by themselves.
            out_of_band = (flags.c_contiguous or flags.f_contiguous) and not obj.dtype.hasobject
            return NotImplemented if flags.writeable or out_of_band else (_freeze, (obj.copy(),))
        is_own = kind.__module__.startswith("hetviz.") and is_dataclass(obj)
        if is_own and hasattr(obj, "__dict__"):
            # A copy, because another thread may add a cached value.
            state = {
                name: value
                for name, value in dict(vars(obj)).items()
                if not isinstance(getattr(kind, name, None), cached_property)
            }
            return _new_instance, (kind,), state
        return NotImplemented


def _read_only(mapping: dict[Hashable, object]) -> MappingProxyType[Hashable, object]:
    return MappingProxyType(mapping)


def _new_instance(kind: type) -> object:
    return object.__new__(kind)


def _freeze(array: Array) -> Array:
    array.setflags(write=False)
    return array


class MessageReader:
    """Reassembles messages from the received pieces."""

    def __init__(self) -> None:
        self._expect_length()

    def read(self, sock: socket.socket) -> Message:
        """Wait for a message and return it."""
        while (arrived := self._step(sock)) is None:
            pass
        return arrived

    def read_available(self, sock: socket.socket) -> tuple[list[Message], bool]:
        """Return the messages that have arrived, and whether the other end is open."""
        messages = []
        try:
            for _ in range(_MAX_STEPS):
                if (message := self._step(sock)) is not None:
                    messages.append(message)
        except BlockingIOError:
            pass
        except (EOFError, OSError):
            return messages, False
        return messages, True

    def _step(self, sock: socket.socket) -> Message | None:
        got = sock.recv_into(self._open[self._filled :])
        if not got:
            raise EOFError
        self._filled += got
        while self._filled == len(self._open):
            if (whole := self._advance()) is not None:
                return whole
        return None

    def _expect(self, target: bytearray) -> None:
        self._open, self._filled = memoryview(target), 0

    def _expect_length(self) -> None:
        self._head: dict[str, Any] | None = None
        self._parts: deque[bytearray] = deque()
        self._done: list[MessageBuffer] = []
        self._length = True
        self._expect(bytearray(_LENGTH.size))

    def _advance(self) -> Message | None:
        """Start the piece after a complete one."""
        if self._length:
            self._length = False
            self._expect(bytearray(_LENGTH.unpack(self._open)[0]))
            return None
        if self._head is None:
            self._head = json.loads(bytes(self._open))
            self._parts.extend(bytearray(size) for size in self._head["sizes"])
        else:
            self._done.append(self._open)
        if self._parts:
            self._expect(self._parts.popleft())
            return None
        whole = Message(self._head["kind"], self._head["fields"], self._done)
        self._expect_length()
        return whole


class Outbox:
    """Sends messages without blocking."""

    def __init__(self) -> None:
        self._waiting: deque[memoryview] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, buffers: Sequence[MessageBuffer]) -> None:
        """Add a message from `encode_message`."""
        self._waiting.extend(memoryview(buffer) for buffer in buffers if len(buffer))

    def flush(self, sock: socket.socket) -> None:
        """Send as much as the socket accepts. Drop everything if the other end is closed."""
        try:
            for _ in range(_MAX_STEPS):
                if not self._waiting:
                    return
                first = self._waiting[0]
                sent = sock.send(first)
                self._waiting.popleft()
                if sent < len(first):
                    self._waiting.appendleft(first[sent:])
        except BlockingIOError:
            return
        except OSError:
            self._waiting.clear()
