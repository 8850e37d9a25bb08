"""Declared parameters: a class names each of its parameters once, as an annotated field.

The field carries range, label and help beside type and default::

    class Map(HasParams):
        perplexity: Annotated[float, Real("Neighbours", "How many count.", low=2, high=500)] = 30.0

From it follow the constructor, ``Map.params`` (which forms, command line and documentation read),
the section *Parameters* of the docstring, and what `check` allows. Type checkers and editors know
the constructor as that of a dataclass.
"""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self, dataclass_transform, get_args, get_origin

from hetviz.errors import ParameterError


@dataclass(frozen=True)
class Param:
    """What every declaration has in common.

    Attributes
    ----------
    label, help : str
        For forms: a name in plain words, and one sentence on what it does.
    details : str
        For the reference only: symbols, equations, where to read on.
    also : tuple
        Further values that are allowed besides the range, such as ``"cv"`` or None.
    advanced : bool
        Forms show it only on request.
    tries : tuple
        Values that a search of settings begins with.
    formerly : tuple of str
        Names that the parameter had before: they go on being understood.
    default : object
        The value used when none is given; that of the field.
    """

    label: str = ""
    help: str = ""
    details: str = field(default="", kw_only=True)
    also: tuple[Any, ...] = field(default=(), kw_only=True)
    advanced: bool = field(default=False, kw_only=True)
    tries: tuple[Any, ...] = field(default=(), kw_only=True)
    formerly: tuple[str, ...] = field(default=(), kw_only=True)
    default: Any = field(default=None, kw_only=True)

    def with_default(self, value: object) -> Self:
        """Return the declaration of a field that has this default."""
        return replace(self, default=value)

    def check(self, value: object) -> Any:
        """Return the value in its normal form, or raise ValueError saying what is wanted."""
        for allowed in self.also:
            if value is allowed or (type(value) is type(allowed) and value == allowed):
                return value
        return self._check(value)

    def _check(self, value: object) -> object:
        raise NotImplementedError

    def wanted(self) -> str:
        """Say what is allowed, in words."""
        extra = "".join(f" or {allowed!r}" for allowed in self.also)
        return self._wanted() + extra

    def _wanted(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Real(Param):
    """A finite number in ``[low, high]``; `log` says that its scale is logarithmic."""

    low: float = field(default=-math.inf, kw_only=True)
    high: float = field(default=math.inf, kw_only=True)
    log: bool = field(default=False, kw_only=True)

    def _check(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise ValueError
        number = float(value)
        if not math.isfinite(number) or not self.low <= number <= self.high:
            raise ValueError
        return number

    def _wanted(self) -> str:
        return "a number" + _range_words(self.low, self.high)


@dataclass(frozen=True)
class Multiple(Real):
    """A number that multiplies another; ``"relative:30"`` says the same as 30."""

    def _check(self, value: object) -> float:
        return super()._check(multiple(value))

    def _wanted(self) -> str:
        return f"{super()._wanted()} (also written 'relative:30')"


def multiple(value: object) -> Any:
    """Return the number that ``"relative:30"`` names, and anything else as it is."""
    if isinstance(value, str) and value.startswith("relative:"):
        return float(value.removeprefix("relative:"))
    return value


@dataclass(frozen=True)
class Integer(Param):
    """A whole number in ``[low, high]``."""

    low: int | None = field(default=None, kw_only=True)
    high: int | None = field(default=None, kw_only=True)

    def _check(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise ValueError
        number = int(value)
        if (self.low is not None and number < self.low) or (
            self.high is not None and number > self.high
        ):
            raise ValueError
        return number

    def _wanted(self) -> str:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return "a whole number" + _range_words(low, high)


@dataclass(frozen=True)
class Choice(Param):
    """One of a few named options; `options` maps each to its meaning in plain words."""

    options: Mapping[Any, str] = field(default_factory=dict, kw_only=True)

    def _check(self, value: object) -> object:
        for option in self.options:
            if type(value) is type(option) and value == option:
                return option
        raise ValueError

    def _wanted(self) -> str:
        return "one of " + ", ".join(repr(option) for option in self.options)


@dataclass(frozen=True)
class Flag(Param):
    """Yes or no."""

    def _check(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value

    def _wanted(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class PerDataset(Param):
    """One value for all datasets, or a mapping from dataset name to value."""

    inner: Param = field(default_factory=Flag, kw_only=True)

    def with_default(self, value: object) -> Self:
        inner = self.inner if isinstance(value, Mapping) else self.inner.with_default(value)
        return replace(self, default=value, inner=inner)

    def _check(self, value: object) -> object:
        if isinstance(value, Mapping):
            if not all(isinstance(name, str) for name in value):
                raise ValueError
            return {name: self.inner.check(inner) for name, inner in value.items()}
        return self.inner.check(value)

    def _wanted(self) -> str:
        return f"{self.inner.wanted()}, or a mapping from dataset name to such a value"


def value_for(value: object, name: str, default: object) -> Any:
    """Return the value of a `PerDataset` for one dataset, `default` where a mapping lacks it."""
    return value.get(name, default) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class DatasetName(Param):
    """The name of one dataset; whether the data has it, the method checks."""

    def _check(self, value: object) -> str:
        if not isinstance(value, str) or not value:
            raise ValueError
        return value

    def _wanted(self) -> str:
        return "the name of a dataset"


@dataclass(frozen=True)
class LabelName(DatasetName):
    """A label as ``"dataset:column"``, or a dataset for its first label."""

    def _wanted(self) -> str:
        return "the name of a label as dataset:column, or of a dataset for its first label"


@dataclass_transform()
class HasParams:
    """A class whose annotated fields with a declaration are its parameters, inherited ones first.

    The constructor only stores them, so that scikit-learn's ``get_params``, ``set_params`` and
    ``clone`` work. What a class learns is annotated where it is assigned, not in the class body:
    type checkers take every annotation there for a parameter.
    """

    params: ClassVar[Mapping[str, Param]] = MappingProxyType({})
    _types: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        own = {}
        for name, annotation in inspect.get_annotations(cls, eval_str=True).items():
            if (param := _declaration(cls, name, annotation)) is not None:
                own[name] = param, get_args(annotation)[0]
        cls.params = MappingProxyType({**cls.params, **{name: own[name][0] for name in own}})
        cls._types = MappingProxyType({**cls._types, **{name: own[name][1] for name in own}})
        if own and "__init__" not in vars(cls):
            cls.__init__ = _constructor(cls.params, cls._types)  # type: ignore[method-assign]
        if own and cls.__doc__:
            cls.__doc__ = _with_parameters(cls.__doc__, cls.params)


def _declaration(owner: type, name: str, annotation: object) -> Param | None:
    """Return the declaration in the annotation of a field, its default filled in."""
    if get_origin(annotation) is not Annotated:
        return None
    found = [extra for extra in get_args(annotation)[1:] if isinstance(extra, Param)]
    if not found:
        return None
    if name not in vars(owner):
        raise TypeError(f"{owner.__name__}.{name} needs a default.")
    return found[-1].with_default(vars(owner)[name])


def _constructor(params: Mapping[str, Param], types: Mapping[str, object]) -> Callable[..., None]:
    """Return an ``__init__`` that stores each parameter under its name."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    fields = [
        inspect.Parameter(name, kind, default=param.default, annotation=types[name])
        for name, param in params.items()
    ]
    signature = inspect.Signature([inspect.Parameter("self", kind), *fields])

    def store(self: object, *args: object, **given: object) -> None:
        bound = signature.bind(self, *args, **_renamed(params, given))
        bound.apply_defaults()
        for name in params:
            setattr(self, name, bound.arguments[name])

    store.__name__ = "__init__"
    store.__signature__ = signature  # type: ignore[attr-defined]
    return store


def _renamed(declared: Mapping[str, Param], values: Mapping[str, object]) -> dict[str, object]:
    """Return the values by the names that parameters have today."""
    today = {old: name for name, param in declared.items() for old in param.formerly}
    return {today.get(name, name): value for name, value in values.items()}


def _with_parameters(text: str, params: Mapping[str, Param]) -> str:
    """Return a numpydoc docstring with its section *Parameters* before all others."""
    text = inspect.cleandoc(text)
    lines = ["Parameters", "----------"]
    for name, param in params.items():
        lines.append(f"{name} : {param.wanted()}, default {param.default!r}")
        label = f"{param.label}." if param.label else ""
        told = " ".join(part for part in (label, param.help, param.details) if part)
        lines += textwrap.wrap(told, 96, initial_indent="    ", subsequent_indent="    ")
        inner = param.inner if isinstance(param, PerDataset) else param
        if isinstance(inner, Choice):
            meant = [(option, words) for option, words in inner.options.items() if words]
            lines += ["", *(f"    - {option!r}: {words}" for option, words in meant), ""]
    section = "\n".join(lines)
    first = re.search(r"^\w[\w ]*\n-{3,}$", text, flags=re.MULTILINE)
    if first is None:
        return f"{text}\n\n{section}\n"
    return f"{text[: first.start()]}{section}\n\n{text[first.start() :]}\n"


def check(
    owner: str, declared: Mapping[str, Param], values: Mapping[str, object]
) -> dict[str, Any]:
    """Compare values with their declarations.

    Parameters
    ----------
    owner : str
        What the parameters belong to, for messages.
    declared : mapping of str to Param
        The declarations.
    values : mapping of str to object
        Any subset of the declared parameters.

    Returns
    -------
    dict
        Every declared parameter, given or default, in its normal form.

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown name (with the nearest known ones) or a value out of range; all are
        listed at once.
    """
    wrong: list[str] = []
    checked = {name: param.default for name, param in declared.items()}
    for name, value in _renamed(declared, values).items():
        if name not in declared:
            near = difflib.get_close_matches(name, declared, n=2)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            known = ", ".join(declared)
            wrong.append(f"{owner} has no parameter {name!r}.{hint} It has: {known}.")
            continue
        try:
            checked[name] = declared[name].check(value)
        except ValueError:
            wrong.append(f"{owner}: {name} = {value!r}; it must be {declared[name].wanted()}.")
    if wrong:
        raise ParameterError(" ".join(wrong))
    return checked


def parse(param: Param, text: str) -> object:
    """Turn a command-line word into a value for `param` (``0.1``, ``true``, ``cv``, ``a=1,b=2``).

    The word is only ever read as a number, a truth value, None, or text: nothing is evaluated.
    """
    if isinstance(param, PerDataset) and "=" in text:
        pairs = (piece.partition("=") for piece in text.split(","))
        return {name.strip(): parse(param.inner, value.strip()) for name, _, value in pairs}
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("none", "null"):
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _range_words(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" of {low:g} or more"
    if math.isinf(low):
        return f" of {high:g} or less"
    return f" from {low:g} to {high:g}"
