"""Tests of declared parameters: constructor, docstring, checks."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from typing import Annotated

import pytest
from sklearn.base import BaseEstimator, clone

from hetviz import params
from hetviz.errors import ParameterError
from hetviz.params import Changed, Choice, HasParams, Integer, PerDataset, Real

Count = Annotated[int, Integer("Count", "How many.", low=1)]
Width = Annotated[float, Real("Width", "How wide.", low=0.0, high=9.0)]


class Base(HasParams, BaseEstimator):
    """A class of an author.

    Notes
    -----
    As printed.
    """

    count: Count = 2
    width: Annotated[
        float, Real("Width", "How wide.", low=0.0, also=("auto",), formerly=("breadth",))
    ] = 1.0


class Derived(Base):
    """Another."""

    kind: Annotated[
        str | Mapping[str, str],
        PerDataset("Kind", "Which.", details="See the paper.", inner=Choice(options={"a": "an a"})),
    ] = "a"
    not_one: int = 3


def test_constructor_stores_fields() -> None:
    assert list(inspect.signature(Derived).parameters) == ["count", "width", "kind"]
    assert Derived(5, kind="b").get_params() == {"count": 5, "width": 1.0, "kind": "b"}
    assert inspect.signature(Derived).parameters["count"].annotation is int
    with pytest.raises(TypeError, match=r"no parameter 'wdith'. Did you mean width\?"):
        Derived(wdith=3)
    with pytest.raises(TypeError, match="too many"):
        Base(1, 2, 3)


def test_sklearn_params() -> None:
    model = Derived(count=7)
    assert repr(model) == "Derived(count=7)"
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(width="auto").width == "auto"
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    assert copy.deepcopy(model).get_params() == model.get_params()
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(not_one=4)


def test_declarations_have_defaults() -> None:
    assert list(Base.params) == ["count", "width"]
    assert {name: param.default for name, param in Derived.params.items()} == Derived().get_params()
    kind = Derived.params["kind"]
    assert isinstance(kind, PerDataset)
    assert kind.inner.default == "a"
    with pytest.raises(TypeError):
        Derived.params["kind"] = kind  # type: ignore[index]


def test_docstring_lists_params() -> None:
    assert Base.__doc__ is not None
    assert Derived.__doc__ is not None
    before, after = Base.__doc__.split("\nNotes\n-----\n")
    assert after.strip() == "As printed."
    assert before.endswith(
        "Parameters\n----------\n"
        "count : a whole number of 1 or more, default 2\n    Count. How many.\n"
        "width : a number of 0 or more or 'auto', default 1.0\n    Width. How wide.\n"
    )
    assert "    Kind. Which. See the paper.\n\n    - 'a': an a\n" in Derived.__doc__


def test_field_needs_default() -> None:
    with pytest.raises(TypeError, match=r"Wrong\.count needs a default"):

        class Wrong(HasParams):
            count: Count


def test_own_constructor_stays() -> None:
    class Own(Base):
        more: Count = 1

        def __init__(self) -> None:
            super().__init__(count=9)

    assert Own().count == 9


def test_earlier_names_are_accepted() -> None:
    assert Base(breadth=4.0).width == 4.0
    assert params.check("base", Base.params, {"breadth": 4.0}) == {"count": 2, "width": 4.0}
    with pytest.raises(ParameterError, match=r"base: width = -1 must be a number of 0 or more"):
        params.check("base", Base.params, {"breadth": -1})


class Narrow(HasParams):
    width: Annotated[Width, Changed(high=2.0, details="At most two.")] = 1.0


def test_changed_fields_replace_those_of_the_shared_declaration() -> None:
    expected = Real("Width", "How wide.", low=0.0, high=2.0, details="At most two.", default=1.0)
    assert Narrow.params["width"] == expected
    with pytest.raises(ParameterError, match="from 0 to 2"):
        params.check("narrow", Narrow.params, {"width": 3.0})
