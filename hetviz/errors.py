"""Errors and warnings in plain words: what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, Self

_MAX_SHOWN = 20
MAX_LISTED = 1_000


@dataclass(frozen=True)
class Problem:
    """An error or a note about an input.

    Attributes
    ----------
    code : str
        Stable identifier, such as ``"duplicate-id"``.
    where : str
        Place in the input, such as ``"links.csv, row 7, column target_id"``.
    what : str
        What is wrong there.
    value : str
        The offending value, as text.
    remedy : str
        What the user can do.
    severity : {"error", "note"}
        An error stops the work, a note does not.
    row : int or None
        Position of the row in its file or table, from 0.
    count : int
        Number of rows it stands for; above 1 only for the last of a long list
        (see `limit_problems`).
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
        return asdict(self)


def limit_problems(problems: Iterable[Problem], limit: int = MAX_LISTED) -> Iterator[Problem]:
    """Yield at most `limit` problems, the last of which stands for all others."""
    others = iter(problems)
    yield from islice(others, limit - 1)
    if (last := next(others, None)) is not None:
        count = 1 + sum(1 for _ in others)
        text = f"{last.what} (one of {count:,} such rows)"
        yield replace(last, what=text, count=count) if count > 1 else last


class HetvizError(Exception):
    """Base of all errors that hetviz raises on purpose. Copies and pickles keep all fields."""

    def __reduce__(self) -> tuple[Callable[..., HetvizError], tuple[object, ...]]:
        # Subclasses build their message from other arguments, so __init__ cannot take it back.
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(
    kind: type[HetvizError], args: tuple[object, ...], fields: dict[str, object]
) -> HetvizError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class DataError(HetvizError):
    """The data cannot be used. `problems` lists every bad row at once.

    Parameters
    ----------
    problems : Problem or iterable of Problem
        Problems, each with place, value and remedy.
    """

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (
            (problems,) if isinstance(problems, Problem) else tuple(problems)
        )
        lines = [str(problem) for problem in self.problems[:_MAX_SHOWN]]
        if len(self.problems) > _MAX_SHOWN:
            n_others = sum(problem.count for problem in self.problems[_MAX_SHOWN:])
            lines.append(f"... and {n_others:,} more")
        super().__init__("\n".join(lines))

    @classmethod
    def of(
        cls, code: str, where: str, what: str, value: object = "", remedy: str = ""
    ) -> DataError:
        """Return an error with one problem, see `Problem`."""
        return cls(Problem(code, where, what, str(value), remedy))


class ProblemReport:
    """Base of results that carry errors and notes."""

    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Problems that stop the data from being used."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def notes(self) -> tuple[Problem, ...]:
        """Problems that were accepted."""
        return tuple(problem for problem in self.problems if problem.severity == "note")

    def strict(self) -> Self:
        """Return this object if there are no errors.

        Raises
        ------
        hetviz.errors.DataError
            Listing all errors.
        """
        if self.errors:
            raise DataError(self.errors)
        return self


class RowsError(DataError, ValueError):
    """A table or matrix passed to a method directly cannot be used."""


_REMEDIES = {
    "HeteroData": "Make it with HeteroData.from_frames({'name': table, ...}) or hetviz.load(path).",
    "Embedding": "Make it with hetviz.embed(data).",
    "Dataset": "Take it from the data, as in data['name'].",
    "BaseEmbedder": "Fit a method, as in hetviz.UMAP().fit(data).",
}


def check_type(value: object, kind: type, argument: str) -> None:
    """Raise a DataError with a remedy if an argument of a call has another type."""
    if not isinstance(value, kind):
        found = value.__name__ if isinstance(value, type) else type(value).__name__
        remedy = _REMEDIES.get(kind.__name__, "")
        article = "an" if kind.__name__[0] in "AEIO" else "a"
        raise DataError.of(
            "wrong-type", argument, f"{article} {kind.__name__} is needed", found, remedy
        )


class ParameterError(HetvizError, ValueError):
    """A parameter is unknown, of the wrong type, or out of range."""


class NotApplicableError(HetvizError):
    """The method does not suit these data. `reasons` explains why, one sentence each."""

    def __init__(self, method: str, reasons: Iterable[str]) -> None:
        self.method = method
        self.reasons = tuple(reasons)
        super().__init__(f"{method} does not suit these data: " + " ".join(self.reasons))


class UnfittedError(HetvizError, ValueError, AttributeError):
    """A fitted model is needed."""


class UnboundedProblemError(HetvizError):
    """The objective has no minimum for this guidance. The message names the remedy."""


class MissingExtraError(HetvizError, ImportError):
    """An optional package is needed. The message names it."""

    def __init__(self, feature: str, extra: str = "", package: str = "") -> None:
        self.extra = extra
        # Packages that would hold back others (anndata needs pandas 2) are in no extra of hetviz.
        wanted = package or f"'hetviz[{extra}]'"
        super().__init__(f"{feature} needs an optional package: pip install {wanted}.")


class Cancelled(HetvizError):
    """The user stopped the work. Progress callbacks raise it.

    Attributes
    ----------
    partial : object
        The result so far, such as the embedding of a stopped
        `hetviz.algorithms.base.BaseEmbedder.fit`; None if there is none.
    """

    partial: Any = None


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit before it converged."""


class DataWarning(UserWarning):
    """The result is valid, but something in the data should be checked."""
