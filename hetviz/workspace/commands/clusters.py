"""Clusters of the items: set, rename, merge, split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from hetviz._text import short
from hetviz._types import Ints
from hetviz.errors import DataError, Problem
from hetviz.runs.cluster.codes import codes_of_text, unpack_codes
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.state import Clustering, State

CLUSTERS = "clusters"
"""Kind of the findings that are clusters of several numbers; the chosen ones are set."""

MOST_NAME = 60


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

    def apply(self, state: State, context: Context) -> State:
        n_rows = state.opened().n_rows
        codes = unpack_codes(context.blobs.get(self.codes), n_rows, len(self.names))
        return _set(state, codes, self.names, self.how, self.run, self.stability)


@dataclass(frozen=True)
class RenameCluster(Command):
    """Call a cluster something else; it is given by its number, from 1."""

    op: ClassVar[str] = "rename-cluster"
    does: ClassVar[str] = "name of cluster"
    cluster: int
    name: str

    def apply(self, state: State, context: Context) -> State:
        now = _clustering(state)
        at = _place(now, self.cluster)
        names = list(now.names)
        names[at] = checked_name(self.name)
        return replace(state, clustering=replace(now, names=tuple(names)))


@dataclass(frozen=True)
class MergeClusters(Command):
    """Make one cluster of several, given by their numbers."""

    op: ClassVar[str] = "merge-clusters"
    does: ClassVar[str] = "merged clusters"
    clusters: Sequence[int]
    name: str

    def apply(self, state: State, context: Context) -> State:
        now = _clustering(state)
        places = sorted({_place(now, number) for number in self.clusters})
        if len(places) < 2:
            raise _refused("at least two clusters are needed to merge", "")
        codes = now.of(state.opened())
        codes[np.isin(codes, places)] = len(now.names)
        return _changed(state, now, codes, [checked_name(self.name)])


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

    def apply(self, state: State, context: Context) -> State:
        now, data = _clustering(state), state.opened()
        at = _place(now, self.cluster)
        parts = unpack_codes(context.blobs.get(self.parts), data.n_rows, len(self.names))
        codes = now.of(data)
        mine = codes == at
        if not np.array_equal(parts >= 0, mine):
            raise _refused("the parts are not those of this cluster", str(self.cluster))
        codes[mine] = len(now.names) + parts[mine]
        return _changed(state, now, codes, [checked_name(name) for name in self.names])


def found_clusters(state: State, content: Mapping[str, Any], run: str | None) -> State:
    """Return the state with the clusters that a search chose, see `hetviz.jobs.tasks.cluster`."""
    data = state.opened()
    names = content["names"]
    place = int(content["chosen"])
    codes = codes_of_text(content["codes"][place], data.n_rows, len(names))
    return _set(
        state, codes, bounded_names(names), content["how"], run, content["stability"][place]
    )


def _changed(state: State, now: Clustering, codes: Ints, new: Sequence[str]) -> State:
    """Return the state with other codes; those above what there was are of the `new` names."""
    names = [*now.names, *new]
    stability = [*now.stability, *[float("nan")] * len(new)]
    codes, kept = by_size(codes, len(names))
    clustering = Clustering.on(
        state.opened(),
        codes,
        tuple(names[code] for code in kept),
        stability=[stability[code] for code in kept],
        how=now.how,
        run=now.run,
        changed=True,
    )
    return replace(state, clustering=clustering)


def _set(
    state: State,
    codes: Ints,
    names: Sequence[str],
    how: Mapping[str, object],
    run: str | None,
    stability: Sequence[float | None],
) -> State:
    known = [float("nan") if value is None else float(value) for value in stability]
    clustering = Clustering.on(
        state.opened(),
        codes,
        tuple(map(checked_name, names)),
        stability=known if len(known) == len(names) else [float("nan")] * len(names),
        how=dict(how),
        run=run,
    )
    return replace(state, clustering=clustering)


def by_size(codes: Ints, n: int) -> tuple[Ints, list[int]]:
    """Return codes with the largest cluster first, and which old code each new one was."""
    sizes = np.bincount(codes[codes >= 0], minlength=n)
    kept = [int(code) for code in np.argsort(-sizes, kind="stable") if sizes[code]]
    new = np.full(n + 1, -1)
    new[kept] = np.arange(len(kept))
    return np.asarray(new[codes], dtype=np.int64), kept


def bounded_names(names: Sequence[str]) -> list[str]:
    """Return names that were made of the data so that clusters can have them.

    On one line, cut where they are too long, and each different from those before it.
    """
    found: list[str] = []
    for number, name in enumerate(names, start=1):
        text = " ".join(str(name).split()) or f"Cluster {number}"
        told, again = short(text, MOST_NAME), 1
        while told in found:
            again += 1
            ending = f" ({again})"
            told = short(text, MOST_NAME - len(ending)) + ending
        found.append(told)
    return found


def checked_name(text: str) -> str:
    """Return the name of a cluster on one line; 1 to 60 characters."""
    name = " ".join(str(text).split())
    if not 0 < len(name) <= MOST_NAME:
        raise _refused(f"its name needs 1 to {MOST_NAME} characters", name[:MOST_NAME])
    return name


def _clustering(state: State) -> Clustering:
    if state.clustering is None:
        raise _refused("there are no clusters", "", "Find clusters first.")
    return state.clustering


def _place(now: Clustering, number: int) -> int:
    if isinstance(number, bool) or not 1 <= int(number) <= len(now.names):
        raise _refused("there is no such cluster", str(number))
    return int(number) - 1


def _refused(what: str, value: str, remedy: str = "") -> DataError:
    return DataError(Problem("bad-cluster", "clusters", what, value, remedy))
