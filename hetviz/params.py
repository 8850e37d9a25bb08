"""Parameters of methods, declared once as annotated fields of a class.

The annotation adds range, label and help to type and default. A declaration that several classes
share is a type of its own, and a class states where it differs::

    Perplexity = Annotated[float, Real("Neighbours", "Number used.", low=2, high=500)]

    class Map(HasParams):
        perplexity: Annotated[Perplexity, Changed(high=50)] = 30.0

The constructor, ``Map.params`` (read by forms, command line and documentation), the section
*Parameters* of the docstring and the checks of `check` all follow from it. Type checkers and
editors see the constructor of a dataclass.
"""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Self,
    TypedDict,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
)

from hetviz.errors import ParameterError

if TYPE_CHECKING:
    from hetviz._types import RandomSeed

T = TypeVar("T")


@dataclass(frozen=True)
class Param:
    """Base of all parameter declarations.

    Attributes
    ----------
    label, help : str
        For forms: a name in plain words and one sentence on the effect.
    details : str
        For the reference only: symbols, equations, further reading.
    also : tuple
        Further allowed values outside the range, such as ``"cv"`` or None.
    advanced : bool
        Whether forms show it only on request.
    tries : tuple
        First values that a search of settings tries.
    formerly : tuple of str
        Earlier names of the parameter, which are still accepted.
    default : object
        The value of the field.
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
        """Return the declaration with this default."""
        return replace(self, default=value)

    def check(self, value: object) -> Any:
        """Return the value in its normal form, or raise ValueError."""
        for allowed in self.also:
            if value is allowed or (type(value) is type(allowed) and value == allowed):
                return value
        return self._check(value)

    def _check(self, value: object) -> object:
        raise NotImplementedError

    def describe_allowed(self) -> str:
        """Describe the allowed values in words."""
        extra = "".join(f" or {allowed!r}" for allowed in self.also)
        return self._describe_range() + extra

    def _describe_range(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Real(Param):
    """A finite number in ``[low, high]``, on a logarithmic scale if `log`."""

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

    def _describe_range(self) -> str:
        return "a number" + _range_text(self.low, self.high)


@dataclass(frozen=True)
class Multiple(Real):
    """A number that multiplies another one; ``"relative:30"`` is another form of 30."""

    def _check(self, value: object) -> float:
        return super()._check(parse_multiple(value))

    def _describe_range(self) -> str:
        return f"{super()._describe_range()} (also written 'relative:30')"


def parse_multiple(value: object) -> Any:
    """Return the number in ``"relative:30"``, and other values unchanged."""
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

    def _describe_range(self) -> str:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return "a whole number" + _range_text(low, high)


@dataclass(frozen=True)
class Seed(Integer):
    """A seed from 0. In Python also None or a generator, which draw one for each fit."""

    def _check(self, value: object) -> Any:
        import numpy as np

        generators = np.random.Generator | np.random.RandomState | None
        return value if isinstance(value, generators) else super()._check(value)


def seed_of(value: RandomSeed) -> int:
    """Return a seed, or draw one from a generator, or at random for None."""
    import numpy as np

    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31))
    if value is None or isinstance(value, np.random.Generator):
        return int(np.random.default_rng(value).integers(2**31))
    return value


@dataclass(frozen=True)
class Choice(Param):
    """One of several named options. `options` maps each to its meaning in plain words."""

    options: Mapping[Any, str] = field(default_factory=dict, kw_only=True)

    def _check(self, value: object) -> object:
        for option in self.options:
            if type(value) is type(option) and value == option:
                return option
        raise ValueError

    def _describe_range(self) -> str:
        return "one of " + ", ".join(repr(option) for option in self.options)


@dataclass(frozen=True)
class Flag(Param):
    """Yes or no."""

    def _check(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value

    def _describe_range(self) -> str:
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

    def _describe_range(self) -> str:
        return f"{self.inner.describe_allowed()}, or a mapping from dataset name to such a value"


def value_for(value: object, name: str, default: object) -> Any:
    """Return the value of a `PerDataset` for one dataset, or `default` if a mapping lacks it."""
    return value.get(name, default) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class DatasetName(Param):
    """The name of one dataset. The method checks that it exists."""

    def _check(self, value: object) -> str:
        if not isinstance(value, str) or not value:
            raise ValueError
        return value

    def _describe_range(self) -> str:
        return "the name of a dataset"


@dataclass(frozen=True)
class LabelName(DatasetName):
    """A label as ``"dataset:column"``, or a dataset for its first label."""

    def _describe_range(self) -> str:
        return "the name of a label as dataset:column, or of a dataset for its first label"


class PinSpec(TypedDict):
    """A place, side or corner of the map, and the ids of the items that are pinned to it."""

    place: str | Sequence[float]
    items: Mapping[str, Sequence[object]]


@dataclass(frozen=True)
class PinList(Param):
    """Pins: mappings with the place of some items and their ids by dataset."""

    def _check(self, value: object) -> list[PinSpec] | None:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ValueError
        return [_checked_pin(pin) for pin in value] or None

    def _describe_range(self) -> str:
        return (
            "a list of {'place': P, 'items': {dataset: [id, ...]}}, where P is (x, y) or one of "
            + ", ".join(map(repr, PIN_SIDES))
        )


PIN_SIDES = (
    "left", "right", "top", "bottom", "top left", "top right", "bottom left", "bottom right"
)  # fmt: skip


def _checked_pin(pin: object) -> PinSpec:
    if not isinstance(pin, Mapping) or set(pin) != {"place", "items"}:
        raise ValueError
    place, items = pin["place"], pin["items"]
    if not isinstance(place, str):
        share = Real(low=-1.0, high=2.0)
        place = [share.check(number) for number in place] if _is_list(place) else []
    if place not in PIN_SIDES and len(place) != 2:
        raise ValueError
    if not isinstance(items, Mapping) or not all(map(_is_list, items.values())):
        raise ValueError
    ids = {str(name): list(map(str, listed)) for name, listed in items.items()}
    return {"place": place, "items": ids}


def _is_list(value: object) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, str | Mapping)


class Changed:
    """Fields in which a parameter differs from the shared declaration before it."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields


def option(*, default: T, kw_only: bool = True) -> T:
    """Declare a setting of the constructor that does not change results and is not recorded."""
    return default


@dataclass_transform(field_specifiers=(option,))
class HasParams:
    """Base of classes whose parameters are annotated fields, inherited ones first.

    The constructor only stores them, so scikit-learn's ``get_params``, ``set_params`` and ``clone``
    work. Learned attributes are annotated where they are assigned, because type checkers read every
    annotation in the class body as a parameter.
    """

    params: ClassVar[Mapping[str, Param]] = MappingProxyType({})
    _types: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    # Description of each field made by `option`.
    _options: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        own_params = {}
        for name, annotation in inspect.get_annotations(cls, eval_str=True).items():
            if (param := _declaration(cls, name, annotation)) is not None:
                own_params[name] = param, get_args(annotation)[0]
        cls.params = MappingProxyType(
            {**cls.params, **{name: own_params[name][0] for name in own_params}}
        )
        cls._types = MappingProxyType(
            {**cls._types, **{name: own_params[name][1] for name in own_params}}
        )
        if own_params and "__init__" not in vars(cls):
            cls.__init__ = _constructor(cls.params, cls._types, cls._options)  # type: ignore[method-assign]
        if own_params and cls.__doc__:
            cls.__doc__ = _with_parameters(cls.__doc__, cls.params, cls._options)


def _declaration(owner: type, name: str, annotation: object) -> Param | None:
    """Return the declaration in the annotation of a field, with its default."""
    if get_origin(annotation) is not Annotated:
        return None
    declarations = [extra for extra in get_args(annotation)[1:] if isinstance(extra, Param)]
    if not declarations:
        return None
    if name not in vars(owner):
        raise TypeError(f"{owner.__name__}.{name} needs a default.")
    declaration = declarations[-1]
    for extra in get_args(annotation)[1:]:
        if isinstance(extra, Changed):
            declaration = replace(declaration, **extra.fields)
    return declaration.with_default(vars(owner)[name])


def _constructor(
    params: Mapping[str, Param], types: Mapping[str, object], options: Iterable[str]
) -> Callable[..., None]:
    """Return an ``__init__`` that stores each parameter and option under its name."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    fields = [
        inspect.Parameter(name, kind, default=param.default, annotation=types[name])
        for name, param in params.items()
    ]
    keyword = inspect.Parameter.KEYWORD_ONLY
    fields += [inspect.Parameter(name, keyword, default=None) for name in options]
    names = (*params, *options)
    signature = inspect.Signature([inspect.Parameter("self", kind), *fields])

    def store(self: object, *args: object, **kwargs: object) -> None:
        values = _renamed(params, kwargs)
        for name in values:
            if name not in names:
                raise TypeError(_unknown(type(self).__name__, params, name))
        try:
            bound = signature.bind(self, *args, **values)
        except TypeError as error:
            known = ", ".join(names)
            raise TypeError(f"{type(self).__name__}: {error}. Parameters: {known}.") from None
        bound.apply_defaults()
        for name in names:
            setattr(self, name, bound.arguments[name])

    store.__name__ = "__init__"
    store.__signature__ = signature  # type: ignore[attr-defined]
    return store


def _renamed(declared: Mapping[str, Param], values: Mapping[str, object]) -> dict[str, object]:
    """Return the values under the current names of the parameters."""
    current_names = {old: name for name, param in declared.items() for old in param.formerly}
    return {current_names.get(name, name): value for name, value in values.items()}


def _with_parameters(text: str, params: Mapping[str, Param], options: Mapping[str, str]) -> str:
    """Return a numpydoc docstring with a section *Parameters* before all others."""
    text = inspect.cleandoc(text)
    lines = ["Parameters", "----------"]
    for name, param in params.items():
        lines.append(f"{name} : {param.describe_allowed()}, default {param.default!r}")
        label = f"{param.label}." if param.label else ""
        description = " ".join(part for part in (label, param.help, param.details) if part)
        lines += textwrap.wrap(description, 96, initial_indent="    ", subsequent_indent="    ")
        inner = param.inner if isinstance(param, PerDataset) else param
        if isinstance(inner, Choice):
            meanings = [(option, words) for option, words in inner.options.items() if words]
            lines += ["", *(f"    - {option!r}: {words}" for option, words in meanings), ""]
    for name, help_text in options.items():
        lines += [
            f"{name} : int, optional",
            *textwrap.wrap(help_text, 96, initial_indent="    ", subsequent_indent="    "),
        ]
    section = "\n".join(lines)
    section_start = re.search(r"^\w[\w ]*\n-{3,}$", text, flags=re.MULTILINE)
    if section_start is None:
        return f"{text}\n\n{section}\n"
    return f"{text[: section_start.start()]}{section}\n\n{text[section_start.start() :]}\n"


def check(
    owner: str, declared: Mapping[str, Param], values: Mapping[str, object]
) -> dict[str, Any]:
    """Check values against their declarations.

    Parameters
    ----------
    owner : str
        Name of the owner of the parameters, for messages.
    declared : mapping of str to Param
        The declarations.
    values : mapping of str to object
        Any subset of the declared parameters.

    Returns
    -------
    dict
        Value or default of every declared parameter, in normal form.

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown name (with similar names) or a value out of range. All are listed at once.
    """
    errors: list[str] = []
    checked = {name: param.default for name, param in declared.items()}
    for name, value in _renamed(declared, values).items():
        if name not in declared:
            errors.append(_unknown(owner, declared, name))
            continue
        try:
            checked[name] = declared[name].check(value)
        except ValueError:
            errors.append(
                f"{owner}: {name} = {value!r} must be {declared[name].describe_allowed()}."
            )
    if errors:
        raise ParameterError(" ".join(errors))
    return checked


def _unknown(owner: str, declared: Mapping[str, Param], name: str) -> str:
    similar = difflib.get_close_matches(name, declared, n=2)
    hint = f" Did you mean {' or '.join(similar)}?" if similar else ""
    return f"{owner} has no parameter {name!r}.{hint} Available: {', '.join(declared)}."


def parse(param: Param, text: str) -> object:
    """Parse a command-line value of `param` (``0.1``, ``true``, ``cv``, ``a=1,b=2``).

    The text is read as a number, a truth value, None, or text. Nothing is evaluated.
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


def _range_text(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" of {low:g} or more"
    if math.isinf(low):
        return f" of {high:g} or less"
    return f" from {low:g} to {high:g}"
