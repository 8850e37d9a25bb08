"""What a user can say of items, change and take back, as commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hetviz.workspace.commands.commands import Command


@dataclass(frozen=True)
class AddLinks(Command):
    """Say of pairs of items how near each other they belong.

    Attributes
    ----------
    source, target : str
        Dataset of the first and of the second item of each pair.
    pairs : sequence of (str, str)
        Ids.
    weight : float or sequence of float
        From -1 (apart) to 1 (together), of all or of each.
    kind, note, set, who : str
        Links without a set belong to the one named after their kind.
    """

    op: ClassVar[str] = "add-links"
    does: ClassVar[str] = "links"
    source: str
    target: str
    pairs: Sequence[Sequence[str]]
    weight: float | Sequence[float] = 1.0
    kind: str = "said"
    note: str = ""
    set: str = ""
    who: str = ""


@dataclass(frozen=True)
class AddPairs(Command):
    """Say of pairs of items of any datasets how near each other they belong, in one step.

    Attributes
    ----------
    pairs : sequence of pairs of (dataset, id)
    weight : float or sequence of float
    kind, note, set, who : str
        As of `AddLinks`.
    """

    op: ClassVar[str] = "add-pairs"
    does: ClassVar[str] = "links"
    pairs: Sequence[Sequence[Sequence[str]]]
    weight: float | Sequence[float] = 1.0
    kind: str = "said"
    note: str = ""
    set: str = ""
    who: str = ""


@dataclass(frozen=True)
class AddComparisons(Command):
    """Say that items are nearer to each other than others.

    Attributes
    ----------
    rows : sequence of sequences of (dataset, id)
        Three items: the first is nearer to the second than to the third. Four: the first two are
        nearer than the last two.
    weight : float or sequence of float
        Above 0.
    note, set, who : str
    """

    op: ClassVar[str] = "add-comparisons"
    does: ClassVar[str] = "comparisons"
    rows: Sequence[Sequence[Sequence[str]]]
    weight: float | Sequence[float] = 1.0
    note: str = ""
    set: str = ""
    who: str = ""


@dataclass(frozen=True)
class EditStatements(Command):
    """Change fields of statements.

    Attributes
    ----------
    changes : mapping
        Key of a statement, see `hetviz.statements`, to new values of weight, score, kind, note,
        set or who.
    """

    op: ClassVar[str] = "edit-statements"
    does: ClassVar[str] = "change of guidance"
    changes: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class DropStatements(Command):
    """Remove statements by their keys."""

    op: ClassVar[str] = "drop-statements"
    does: ClassVar[str] = "removal of guidance"
    keys: Sequence[str]


@dataclass(frozen=True)
class ReverseComparisons(Command):
    """Exchange what is near and what is far in comparisons."""

    op: ClassVar[str] = "reverse-comparisons"
    does: ClassVar[str] = "turned comparisons"
    keys: Sequence[str]


@dataclass(frozen=True)
class SwitchSet(Command):
    """Let the map go without a set of statements, or with it again; they are not removed."""

    op: ClassVar[str] = "switch-set"
    does: ClassVar[str] = "switched guidance"
    set: str
    on: bool


@dataclass(frozen=True)
class RenameSet(Command):
    """Call a set of statements something else; one of that name takes them in."""

    op: ClassVar[str] = "rename-set"
    does: ClassVar[str] = "name of guidance"
    set: str
    new: str


@dataclass(frozen=True)
class ImportGuidance(Command):
    """Add the statements of a file kept as a blob; those that are there already stay.

    Attributes
    ----------
    blob, filename : str
    leave_out : bool
        Go on without the rows that are wrong.
    """

    op: ClassVar[str] = "import-guidance"
    does: ClassVar[str] = "import of guidance"
    blob: str
    filename: str
    leave_out: bool = False


@dataclass(frozen=True)
class SetLabels(Command):
    """Give items a label; the column is made where there is none.

    Attributes
    ----------
    dataset, column : str
    values : mapping of str to text, number or None
        Id to label; None takes it away.
    note : str
        Why; kept in the log.
    """

    op: ClassVar[str] = "set-labels"
    does: ClassVar[str] = "labels"
    dataset: str
    column: str
    values: Mapping[str, Any]
    note: str = ""


@dataclass(frozen=True)
class ReplaceDataset(Command):
    """Put a newer version of a dataset's file, kept as a blob, in its place.

    Attributes
    ----------
    name : str
        The dataset; its rows are matched by id, and guidance about rows that stay is kept.
    blob, filename : str
    leave_out : bool
        Go on without the rows that are wrong.
    """

    op: ClassVar[str] = "replace-dataset"
    does: ClassVar[str] = "newer version"
    name: str
    blob: str
    filename: str
    leave_out: bool = False


GuidanceCommand = (
    AddLinks
    | AddPairs
    | AddComparisons
    | EditStatements
    | DropStatements
    | ReverseComparisons
    | SwitchSet
    | RenameSet
    | ImportGuidance
    | SetLabels
    | ReplaceDataset
)
