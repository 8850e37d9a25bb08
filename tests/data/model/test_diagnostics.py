"""What a method found out, as it is kept and written."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from hetviz.data import Embedding
from hetviz.data.model.diagnostics import (
    SHARE,
    by_key,
    from_json,
    make_diagnostic,
    number_values,
    optimum_diagnostics,
    to_json,
    without_repeated_text,
)
from hetviz.errors import DataError


def test_diagnostic_drops_nonfinite_values() -> None:
    result = make_diagnostic(
        "a", "A", "says", {"x": 1, "none": None, "nan": float("nan"), "word": "w"}
    )
    assert dict(result.values) == {"x": 1.0}


def test_diagnostic_keeps_largest_values() -> None:
    values = {f"f{k}": (-1) ** k * float(k) for k in range(30)}
    result = make_diagnostic("a", "A", "says", values, max_values=3)
    assert list(result.values.items()) == [("f29", -29.0), ("f28", 28.0), ("f27", -27.0)]
    assert result.left_out == 27


def test_diagnostic_keeps_order_of_few_values() -> None:
    assert list(make_diagnostic("a", "A", "", number_values([3.0, 9.0], "axis")).values) == [
        "axis 1",
        "axis 2",
    ]


def test_values_are_written_with_their_unit() -> None:
    assert make_diagnostic("a", "A", "", {"x": 0.25}, SHARE).lines == [("x", "25.0 %")]
    assert make_diagnostic("a", "A", "", {"x": 2.0}, "nats").lines == [("x", "2 nats")]


def test_diagnostics_round_trip_json() -> None:
    many = make_diagnostic("b", "B", "more", {f"f{k}": float(k) for k in range(50)})
    result = by_key([make_diagnostic("a", "A", "says", {"x": 1.5}, SHARE), many])
    assert from_json(to_json(result)) == result
    assert from_json(None) == {}


@pytest.mark.parametrize(
    "content", [[], "x", {"a": 1}, {"a": {"title": "A"}}, {"a": {**dict.fromkeys(("title",), "")}}]
)
def test_diagnostics_refuse_other_json(content: object) -> None:
    with pytest.raises(DataError, match="not diagnostics of a method"):
        from_json(content)


def test_embedding_copies_keep_diagnostics() -> None:
    result = by_key([make_diagnostic("a", "A", "says", {"x": 1.5})])
    embedding = Embedding({"a": np.eye(2)}, diagnostics=result)
    again = pickle.loads(pickle.dumps(embedding))
    for other in (again, embedding.planar()):
        assert other.diagnostics == result
    assert Embedding({"a": np.eye(2)}).diagnostics == {}


def test_empty_diagnostics_are_dropped() -> None:
    assert by_key([make_diagnostic("a", "A", "", {})]) == {}


def test_repeated_explanations_are_shown_once() -> None:
    messages = [
        make_diagnostic(key, "", says, {"x": 1})
        for key, says in (("a", "A."), ("b", "A."), ("c", "C."))
    ]
    assert [(first.key, says) for first, says in without_repeated_text(messages)] == [
        ("a", "A."),
        ("b", ""),
        ("c", "C."),
    ]


def test_optimum_diagnostics_skip_unknown_values() -> None:
    figures = {"gap": 0.01, "critical_beta": None, "kept_on_these_axes": 0.5, "bound": 2.0}
    result = by_key(optimum_diagnostics({"all": figures}))
    assert {key: dict(first.values) for key, first in result.items()} == {
        "kept comparisons of all": {"on the axes shown": 0.5},
        "gap of all": {"duality gap": 0.01},
        "objective of all": {"bound from below": 2.0},
    }
    assert result["gap of all"].title == "Distance from the optimum"
    assert optimum_diagnostics({"a": figures, "b": figures})[0].title.endswith("comparisons of a")
