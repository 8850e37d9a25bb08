"""Tests of messages: fragments, shared arrays, errors."""

from __future__ import annotations

import copy
import re
import socket
import threading
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hetviz import codec, errors
from hetviz.algorithms.base import Capability
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Labels, Links
from hetviz.errors import (
    Cancelled,
    DataError,
    HetvizError,
    MissingExtraError,
    NotApplicableError,
    ParameterError,
    Problem,
    RowsError,
    UnboundedProblemError,
    UnfittedError,
)
from hetviz.runs.compare.search import SearchCost
from hetviz.workers.array_cache import ArrayNumbers, WorkerData
from hetviz.workers.protocol import Message, MessageReader, Outbox, encode_message, encode_value


def through(value: Any) -> Any:
    return Message("task", {}, bytearray(b"".join(encode_value(value)))).value()


class Drip(socket.socket):
    """A socket that gives away a few bytes at a time."""

    def recv_into(self, buffer: Any, *_: Any) -> int:
        return super().recv_into(memoryview(buffer)[:3])


def test_messages_in_pieces() -> None:
    ours, theirs = socket.socketpair()
    drip = Drip(fileno=theirs.detach())
    reader = MessageReader()
    with ours, drip:
        drip.setblocking(False)
        assert reader.read_available(drip) == ([], True)
        value = encode_value([1, b"", "2"])
        for part in [*encode_message("a", value, id="x", layout=b"12"), *encode_message("b")]:
            ours.sendall(part)
        received, alive = reader.read_available(drip)
        assert alive
        assert [(entry.kind, entry.fields) for entry in received] == [
            ("a", {"id": "x", "layout": b"12"}),
            ("b", {}),
        ]
        assert [entry.value() for entry in received] == [[1, b"", "2"], None]
        ours.sendall(encode_message("c")[0][:-1])
        ours.close()
        assert reader.read_available(drip) == ([], False)


@pytest.mark.parametrize(
    "content",
    [
        b"no message" * 10,
        b"".join(encode_message("a"))[:-8] + b"nonsense",
        b"".join(codec.encode_buffers(["a", {}])),
        b"".join(codec.encode_buffers("text")),
        b"".join(encode_message("a", text="x" * 5_000)),
    ],
)
def test_other_bytes_end_the_conversation(content: bytes) -> None:
    ours, theirs = socket.socketpair()
    reader = MessageReader(codec.Limits(body_bytes=4_096))
    with ours, theirs:
        theirs.setblocking(False)
        ours.sendall(content)
        assert reader.read_available(theirs) == ([], False)


@pytest.mark.parametrize(
    "value",
    [lambda: None, socket.socket, re.compile("a"), threading.Event()],
    ids=["function", "class", "pattern", "event"],
)
def test_other_values_are_not_sent(value: object) -> None:
    with pytest.raises(codec.CodecError, match="cannot be stored"):
        encode_value([value])


@pytest.mark.parametrize(
    "name",
    ["os:system", "hetviz.cli:main", "hetviz.errors:islice", "hetviz.workers.launch:subprocess"],
)
def test_other_classes_are_not_made(name: str) -> None:
    content = codec.encode(["$record", [name, {}]])
    content = content.replace(b'["$record",', b'{"$record":').replace(b"]],", b"]},")
    with pytest.raises(codec.CodecError):
        Message("task", {}, content).value()


def test_outbox_never_blocks() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    sent, got, reader = np.arange(1_000_000), [], MessageReader()
    outbox = Outbox()
    with ours, theirs:
        outbox.put(encode_message("large", encode_value(sent)))
        outbox.flush(ours)
        assert outbox
        while not got:
            got, _ = reader.read_available(theirs)
            outbox.flush(ours)
        assert not outbox
        assert np.array_equal(got[0].value(), sent)
        theirs.close()
        outbox.put(encode_message("late"))
        outbox.flush(ours)
        assert not outbox


def test_arrays_are_not_copied() -> None:
    X = np.zeros(1000)
    parts = encode_value({"X": X})
    X[7] = 3.0
    assert np.frombuffer(parts[-1])[7] == 3.0


def test_data_round_trip_read_only() -> None:
    X = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    table = pd.DataFrame({"name": ["a", None, "c"], "size": [1.0, np.nan, 3.0]})
    a = Dataset("a", ["x", "y", "z"], X, table=table, media=[b"1", b"2", None])
    data = HeteroData(
        [a, Dataset("b", ["u", "v"])],
        [Links("a", "b", [0, 1], [1, 0], [1.0, -0.5])],
        Comparisons([[0, 1, 2]]),
        [Labels("a", "kind", ["p", "q", None])],
    )
    # Cached values, which are made again at the other end.
    fingerprint, _ = data.fingerprint(), data.offsets
    back = through(data)
    assert "_fingerprint" not in vars(back)
    assert back.fingerprint() == fingerprint
    assert type(back.datasets) is MappingProxyType
    assert list(back.datasets) == ["a", "b"]
    assert back["a"].media == a.media
    for array in (back["a"].X, back["a"].ids, back.links[0].weight, back.comparisons.objects):
        assert not array.flags.writeable


def test_strided_array_stays_read_only() -> None:
    X = np.arange(12.0).reshape(3, 4)
    X.flags.writeable = False
    back = through(X[:, ::2])
    assert np.array_equal(back, X[:, ::2])
    assert not back.flags.writeable


def test_embedding_round_trip() -> None:
    embedding = Embedding({"a": [[0.0, 1.0], [np.nan, np.nan]]}, {"a": ["x", "y"]}, note="made")
    back = through(embedding)
    assert np.array_equal(back.stacked(), embedding.stacked(), equal_nan=True)
    assert back.ids["a"].tolist() == ["x", "y"]
    assert (back.note, back.placed["a"].tolist()) == ("made", [True, False])


PROBLEM = Problem("code", "a.csv, row 1", "bad", "7", "Mend it.", row=0)


ERRORS = [
    HetvizError("plain"),
    DataError([PROBLEM, PROBLEM]),
    RowsError([PROBLEM]),
    ParameterError("gamma"),
    UnfittedError("fit first"),
    NotApplicableError("PCA", ["One.", "Two."]),
    UnboundedProblemError("no minimum"),
    MissingExtraError("UMAP", "umap"),
    Cancelled("Stopped."),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_error_round_trip(error: HetvizError) -> None:
    for back in (through(error), copy.copy(error)):
        assert type(back) is type(error)
        assert str(back) == str(error)
        assert (back.args, vars(back)) == (error.args, vars(error))


def test_all_errors_are_covered() -> None:
    classes = [item for item in vars(errors).values() if isinstance(item, type)]
    ours = {item for item in classes if issubclass(item, HetvizError)}
    assert {type(error) for error in ERRORS} == ours


def test_worker_data_hold_last_two() -> None:
    numbers, shelf = ArrayNumbers(), WorkerData()
    data = [HeteroData([Dataset(name, ["x"])]) for name in "abc"]

    def send(one: HeteroData) -> tuple[bool, Any]:
        arguments = numbers.wrap({"data": one, "seed": 3}, shelf.numbers)
        got = shelf.unwrap(through(arguments))
        assert got["seed"] == 3
        return arguments["data"].value is not None, got["data"]

    sent, first = send(data[0])
    assert sent
    assert list(first.datasets) == ["a"]
    assert send(data[0]) == (False, first)
    assert send(data[1])[0]
    # Used again, so the other one is the oldest now.
    assert send(data[0]) == (False, first)
    assert send(data[2])[0]
    assert send(data[0]) == (False, first)
    assert send(data[1])[0]
    shelf.clear()
    assert send(data[1])[0]


def test_numbers_are_weak_references() -> None:
    numbers = ArrayNumbers()
    numbers.wrap({"data": HeteroData([Dataset("a", ["x"])])}, [])
    assert len(numbers._numbers) == 0


def test_random_generator_goes_on() -> None:
    generator = np.random.default_rng(3)
    generator.random()
    assert through([generator])[0].random() == generator.random()


def test_enum_and_named_tuple_round_trip() -> None:
    value = [Capability.OUT_OF_SAMPLE, SearchCost(*range(len(SearchCost._fields)))]
    assert through(value) == value
    assert type(through(value)[1]) is SearchCost
