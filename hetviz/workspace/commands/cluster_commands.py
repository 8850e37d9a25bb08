"""What a user can do with clusters, as commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hetviz.workspace.commands.commands import Command


@dataclass(frozen=True)
class SetClusters(Command):
    """Put the items in clusters.

    Attributes
    ----------
    codes : str
        Blob of the packed clusters of all rows, see `hetviz.runs.cluster.codes.pack_codes`.
    names : sequence of str
        Of each cluster.
    how : mapping
        How they were found; JSON-ready.
    run : str or None
        The map that they were found on.
    stability : sequence of float or None
        Of each cluster.
    """

    op: ClassVar[str] = "set-clusters"
    does: ClassVar[str] = "clusters"
    codes: str
    names: Sequence[str]
    how: Mapping[str, Any] = field(default_factory=dict)
    run: str | None = None
    stability: Sequence[float | None] = ()


@dataclass(frozen=True)
class RenameCluster(Command):
    """Call a cluster something else; it is given by its number, from 1."""

    op: ClassVar[str] = "rename-cluster"
    does: ClassVar[str] = "name of cluster"
    cluster: int
    name: str


@dataclass(frozen=True)
class MergeClusters(Command):
    """Make one cluster of several, given by their numbers."""

    op: ClassVar[str] = "merge-clusters"
    does: ClassVar[str] = "merged clusters"
    clusters: Sequence[int]
    name: str


@dataclass(frozen=True)
class SplitCluster(Command):
    """Make several clusters of one.

    Attributes
    ----------
    cluster : int
        Its number.
    parts : str
        Blob of packed codes of all rows: the part of each member, -1 elsewhere.
    names : sequence of str
        Of the parts.
    """

    op: ClassVar[str] = "split-cluster"
    does: ClassVar[str] = "split cluster"
    cluster: int
    parts: str
    names: Sequence[str]


ClusterCommand = SetClusters | RenameCluster | MergeClusters | SplitCluster
