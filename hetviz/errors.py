"""Errors and warnings: plain words that say what was found, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

_SHOWN = 20
MAX_LISTED = 1_000


@dataclass(frozen=True)
class Problem:
    """One thing wrong (or worth knowing) about an input.

    Attributes
    ----------
    code : str
        Stable identifier, such as ``"duplicate-id"``.
    where : str
        The place in the user's own terms: ``"links.csv, row 7, column target_id"``.
    what : str
        What was found there.
    value : str
        The offending value, as text.
    remedy : str
        What the user can do about it.
    severity : {"error", "note"}
        A note is told, an error is refused.
    row : int or None
        Position of the row among the rows of its file or table, from 0, for programs that
        want to act on it.
    count : int
        How many rows it stands for; more than 1 only in the last of a long list (see `listed`).
    """

    code: str
    where: str
    what: str
    value: str = ""
    remedy: str = ""
    severity: str = "error"
    row: int | None = None
    count: int = 1

    def __str__(self) -> str:
        value = f" ({self.value!r})" if self.value else ""
        remedy = f" {self.remedy}" if self.remedy else ""
        return f"{self.where}: {self.what}{value}.{remedy}"

    def to_dict(self) -> dict[str, str | int | None]:
        """Return the fields as a JSON-ready dictionary."""
        return {
            "code": self.code,
            "where": self.where,
            "what": self.what,
            "value": self.value,
            "remedy": self.remedy,
            "severity": self.severity,
            "row": self.row,
            "count": self.count,
        }


def listed(problems: Iterable[Problem], limit: int = MAX_LISTED) -> Iterator[Problem]:
    """Pass on the first problems of one sort; the last of them stands for all the others.

    A file may have a bad value in each of a million rows, and nobody reads so many messages.
    """
    rest = iter(problems)
    yield from islice(rest, limit - 1)
    more = next(rest, None)
    if more is not None:
        count = 1 + sum(1 for _ in rest)
        what = f"{more.what} (one of {count:,} such rows from here on)"
        yield replace(more, what=what, count=count) if count > 1 else more


class HetvizError(Exception):
    """Base of every error that hetviz raises on purpose; a copy of one has all its fields."""

    def __reduce__(self) -> tuple[Callable[..., HetvizError], tuple[object, ...]]:
        # Subclasses make their message of other arguments, so their __init__ cannot take it back.
        return _again, (type(self), self.args, self.__dict__)


def _again(
    kind: type[HetvizError], args: tuple[object, ...], fields: dict[str, object]
) -> HetvizError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class DataError(HetvizError):
    """The data cannot be used as they are; `problems` lists every bad row at once.

    Parameters
    ----------
    problems : Problem or iterable of Problem
        What is wrong, each with place, value and remedy.
    """

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (
            (problems,) if isinstance(problems, Problem) else tuple(problems)
        )
        lines = [str(problem) for problem in self.problems[:_SHOWN]]
        if len(self.problems) > _SHOWN:
            rest = sum(problem.count for problem in self.problems[_SHOWN:])
            lines.append(f"... and {rest:,} more")
        super().__init__("\n".join(lines))


class Account:
    """What came of reading something, with all that was refused and told on the way."""

    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What was refused."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def notes(self) -> tuple[Problem, ...]:
        """What was told and accepted."""
        return tuple(problem for problem in self.problems if problem.severity == "note")

    def strict(self) -> Self:
        """Return this if nothing was refused.

        Raises
        ------
        hetviz.errors.DataError
            Listing all that was refused.
        """
        if self.errors:
            raise DataError(self.errors)
        return self


class RowsError(DataError, ValueError):
    """A table or matrix that is given to a method by itself cannot be used."""


class ParameterError(HetvizError, ValueError):
    """A parameter is unknown, of the wrong kind, or out of its range."""


class NotApplicableError(HetvizError):
    """The method does not suit these data; `reasons` says why, one sentence each."""

    def __init__(self, method: str, reasons: Iterable[str]) -> None:
        self.method = method
        self.reasons = tuple(reasons)
        super().__init__(f"{method} does not suit these data: " + " ".join(self.reasons))


class UnfittedError(HetvizError, ValueError, AttributeError):
    """A method was asked for what only a fitted one has."""


class UnboundedProblemError(HetvizError):
    """The objective has no minimum for this guidance; the message names the remedy."""


class MissingExtraError(HetvizError, ImportError):
    """An optional package is needed; the message says which to install."""

    def __init__(self, feature: str, extra: str = "", package: str = "") -> None:
        self.extra = extra
        # No extra of ours holds a package that would keep others old (anndata wants pandas 2).
        wanted = package or f"'hetviz[{extra}]'"
        super().__init__(f"{feature} needs an optional package: pip install {wanted}.")


class Cancelled(HetvizError):
    """The user stopped the work; raised out of a progress callback.

    Attributes
    ----------
    partial : object
        What there was so far, where that is of use: the embedding, once it leaves
        `hetviz.algorithms.base.BaseEmbedder.fit`. None otherwise.
    """

    partial: Any = None


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit before it converged."""


class DataWarning(UserWarning):
    """The result is valid, but something in the data deserves a look."""
