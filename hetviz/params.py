"""Declared parameters: range, label and help, checked in one place and drawn as forms.

A method lists its parameters once, as a mapping from name to one of the classes below; `check`
is the only code that compares a value with its declaration.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hetviz.errors import ParameterError


@dataclass(frozen=True)
class Param:
    """What every declaration has in common.

    Attributes
    ----------
    default : object
        The value used when none is given.
    label, help : str
        For forms: a name in plain words, and one sentence on what it does.
    also : tuple
        Further values that are allowed besides the range, such as ``"cv"`` or None.
    advanced : bool
        Forms show it only on request.
    """

    default: Any
    label: str = ""
    help: str = ""
    also: tuple[Any, ...] = field(default=(), kw_only=True)
    advanced: bool = field(default=False, kw_only=True)

    def check(self, value: Any) -> Any:
        """Return the value in its normal form, or raise ValueError saying what is wanted."""
        for allowed in self.also:
            if value is allowed or (type(value) is type(allowed) and value == allowed):
                return value
        return self._check(value)

    def _check(self, value: Any) -> Any:
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

    def _check(self, value: Any) -> float:
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

    def _check(self, value: Any) -> float:
        return super()._check(multiple(value))

    def _wanted(self) -> str:
        return f"{super()._wanted()} (also written 'relative:30')"


def multiple(value: Any) -> Any:
    """Return the number that ``"relative:30"`` names, and anything else as it is."""
    if isinstance(value, str) and value.startswith("relative:"):
        return float(value.removeprefix("relative:"))
    return value


@dataclass(frozen=True)
class Integer(Param):
    """A whole number in ``[low, high]``."""

    low: int | None = field(default=None, kw_only=True)
    high: int | None = field(default=None, kw_only=True)

    def _check(self, value: Any) -> int:
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

    def _check(self, value: Any) -> Any:
        for option in self.options:
            if type(value) is type(option) and value == option:
                return option
        raise ValueError

    def _wanted(self) -> str:
        return "one of " + ", ".join(repr(option) for option in self.options)


@dataclass(frozen=True)
class Flag(Param):
    """Yes or no."""

    def _check(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value

    def _wanted(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class PerDataset(Param):
    """One value for all datasets, or a mapping from dataset name to value."""

    inner: Param = field(default_factory=lambda: Flag(True), kw_only=True)

    def _check(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            if not all(isinstance(name, str) for name in value):
                raise ValueError
            return {name: self.inner.check(inner) for name, inner in value.items()}
        return self.inner.check(value)

    def _wanted(self) -> str:
        return f"{self.inner.wanted()}, or a mapping from dataset name to such a value"


def value_for(value: Any, name: str, default: Any) -> Any:
    """Return the value of a `PerDataset` for one dataset, `default` where a mapping lacks it."""
    return value.get(name, default) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class DatasetName(Param):
    """The name of one dataset; whether the data has it, the method checks."""

    def _check(self, value: Any) -> str:
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


def check(owner: str, declared: Mapping[str, Param], values: Mapping[str, Any]) -> dict[str, Any]:
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
    for name, value in values.items():
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


def parse(param: Param, text: str) -> Any:
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
