"""Messages between a process and its worker over a private socket, as documents of `hetviz.codec`.

A message is a document with its kind and fields. A second document follows if it carries a value,
which is decoded on request: numbers, arrays, and instances of classes of hetviz.
"""

from __future__ import annotations

import importlib
import socket
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property
from typing import Any

from hetviz import codec
from hetviz.codec import Buffer
from hetviz.errors import HetvizError

# Maximum number of reads or writes in a row, so that a fast sender cannot block the reader.
_MAX_STEPS = 1_000
# Jobs may have data of any size.
_LIMITS = codec.Limits(body_bytes=2**40, header_bytes=2**32, parts=10_000_000)


_GENERATOR = "numpy.random:Generator"


class _OwnRecords(codec.Records):
    """All classes of hetviz, restored without their constructors, and random generators."""

    def name_of(self, value: object) -> str | None:
        kind = type(value)
        if kind.__module__ == "numpy.random._generator":
            return _GENERATOR
        is_ours = kind.__module__.startswith("hetviz.") and "<" not in kind.__qualname__
        return f"{kind.__module__}:{kind.__qualname__}" if is_ours else None

    def fields_of(self, value: object) -> Mapping[str, object]:
        if isinstance(value, tuple):
            return {"items": tuple(value)}
        if isinstance(value, Enum):
            return {"value": value.value}
        if self.name_of(value) == _GENERATOR:
            return {"state": value.bit_generator.state}  # type: ignore[attr-defined]
        if not hasattr(value, "__dict__"):
            return {field.name: getattr(value, field.name) for field in fields(value)}  # type: ignore[arg-type]
        kind = type(value)
        # A copy, because another thread may add a cached value.
        state = {
            name: part
            for name, part in dict(vars(value)).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }
        return {**state, "args": value.args} if isinstance(value, HetvizError) else state

    def restore(
        self,
        name: str,
        read_fields: Callable[[], dict[str, Any]],
        register: Callable[[object], None],
    ) -> object:
        if name == _GENERATOR:
            import numpy as np

            generator = np.random.default_rng(0)
            generator.bit_generator.state = read_fields()["state"]
            return generator
        module, _, path = name.partition(":")
        kind: Any = importlib.import_module(module) if module.startswith("hetviz.") else None
        for part in path.split("."):
            kind = getattr(kind, part)
        if not isinstance(kind, type) or kind.__module__ != module:
            raise codec.CodecError(f"there is no class {name}")
        if issubclass(kind, tuple):
            return kind(*read_fields()["items"])
        if issubclass(kind, Enum):
            return kind(read_fields()["value"])
        instance: Any = kind.__new__(kind)
        register(instance)
        for field, value in read_fields().items():
            if field == "args" and isinstance(instance, HetvizError):
                instance.args = value
            else:
                object.__setattr__(instance, field, value)
        return instance


_RECORDS = _OwnRecords()


@dataclass(frozen=True)
class Message:
    """A received message."""

    kind: str
    fields: dict[str, Any]
    content: Buffer | None = None

    def value(self) -> Any:
        return None if self.content is None else codec.decode(self.content, _RECORDS, _LIMITS)


def encode_value(value: object) -> list[Buffer]:
    """Return a value for a message, sharing its arrays."""
    return codec.encode_buffers(value, _RECORDS)


def encode_message(kind: str, value: Sequence[Buffer] = (), /, **fields: object) -> list[Buffer]:
    """Return the buffers of a message."""
    return [*codec.encode_buffers([kind, fields, bool(value)]), *value]


class MessageReader:
    """Reassembles messages from the received pieces."""

    def __init__(self, limits: codec.Limits = _LIMITS) -> None:
        self._limits = limits
        self._head: tuple[str, dict[str, Any]] | None = None
        self._expect(bytearray(codec.PREFIX_BYTES), 0)

    def read(self, sock: socket.socket) -> Message:
        while (arrived := self._step(sock)) is None:
            pass
        return arrived

    def read_available(self, sock: socket.socket) -> tuple[list[Message], bool]:
        """Return the messages that have arrived, and whether the other end is open and sound."""
        messages = []
        try:
            for _ in range(_MAX_STEPS):
                if (message := self._step(sock)) is not None:
                    messages.append(message)
        except BlockingIOError:
            pass
        except (EOFError, OSError, ValueError):
            return messages, False
        return messages, True

    def _expect(self, content: bytearray, n_read: int) -> None:
        self._content, self._n_read = content, n_read

    def _step(self, sock: socket.socket) -> Message | None:
        received = sock.recv_into(memoryview(self._content)[self._n_read :])
        if not received:
            raise EOFError
        self._n_read += received
        return self._advance() if self._n_read == len(self._content) else None

    def _advance(self) -> Message | None:
        """Take a complete prefix or document."""
        content = self._content
        if len(content) == codec.PREFIX_BYTES:
            n_bytes = codec.body_bytes(content, self._limits)
            self._expect(content + bytes(n_bytes), codec.PREFIX_BYTES)
            return None
        self._expect(bytearray(codec.PREFIX_BYTES), 0)
        if self._head is not None:
            head, self._head = self._head, None
            return Message(*head, content)
        kind, fields, has_value = codec.decode(content, limits=self._limits)
        if has_value:
            self._head = kind, fields
            return None
        return Message(kind, fields)


class Outbox:
    """Sends messages without blocking."""

    def __init__(self) -> None:
        self._waiting: deque[memoryview] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, buffers: Sequence[Buffer]) -> None:
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
