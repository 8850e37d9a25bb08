"""Commands that set, rename, merge and split clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hetviz._text import shorten
from hetviz._types import Ints
from hetviz.errors import DataError
from hetviz.runs.cluster.codes import codes_of_text, unpack_codes
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import ClusterAssignment, State

CLUSTERS = "clusters"
"""Kind of the findings that hold clusterings of several sizes."""

MAX_NAME_LENGTH = 60


@dataclass(frozen=True)
class SetClusters(Command, op="set-clusters", label="clusters"):
    """Assign the items to clusters."""

    codes: str  # Blob of the packed codes of all rows, see `hetviz.runs.cluster.codes.pack_codes`.
    names: Sequence[str]  # Of each cluster.
    how: Mapping[str, Any] = field(default_factory=dict)  # Method, label and space; JSON-ready.
    run: str | None = None  # The map used.
    stability: Sequence[float | None] = ()  # Of each cluster.

    def apply(self, state: State, context: Context) -> State:
        n_rows = state.opened().n_rows
        codes = unpack_codes(context.blobs.get(self.codes), n_rows, len(self.names))
        return _with_clusters(state, codes, self.names, self.how, self.run, self.stability)


@dataclass(frozen=True)
class RenameCluster(Command, op="rename-cluster", label="rename cluster"):
    """Rename a cluster, given by its number from 1."""

    cluster: int
    name: str

    def apply(self, state: State, context: Context) -> State:
        clustering = _clustering(state)
        index = _index(clustering, self.cluster)
        names = list(clustering.names)
        names[index] = validate_name(self.name)
        return replace(state, clustering=replace(clustering, names=tuple(names)))


@dataclass(frozen=True)
class MergeClusters(Command, op="merge-clusters", label="merge clusters"):
    """Merge several clusters, given by their numbers."""

    clusters: Sequence[int]
    name: str

    def apply(self, state: State, context: Context) -> State:
        clustering = _clustering(state)
        indices = sorted({_index(clustering, number) for number in self.clusters})
        if len(indices) < 2:
            raise _cluster_error("merging needs at least two clusters", "")
        codes = clustering.of(state.opened())
        codes[np.isin(codes, indices)] = len(clustering.names)
        return _with_codes(state, clustering, codes, [validate_name(self.name)])


@dataclass(frozen=True)
class SplitCluster(Command, op="split-cluster", label="split cluster"):
    """Split a cluster."""

    cluster: int  # Number of the cluster.
    parts: str  # Blob of packed codes of all rows: the part of each member, -1 for other rows.
    names: Sequence[str]  # Of the parts.

    def apply(self, state: State, context: Context) -> State:
        clustering, data = _clustering(state), state.opened()
        index = _index(clustering, self.cluster)
        parts = unpack_codes(context.blobs.get(self.parts), data.n_rows, len(self.names))
        codes = clustering.of(data)
        members = codes == index
        if not np.array_equal(parts >= 0, members):
            raise _cluster_error("the parts do not cover this cluster", str(self.cluster))
        codes[members] = len(clustering.names) + parts[members]
        return _with_codes(state, clustering, codes, [validate_name(name) for name in self.names])


def with_found_clusters(state: State, content: Mapping[str, Any], run: str | None) -> State:
    """Return the state with the clusters of a finding, see `hetviz.jobs.tasks.cluster`."""
    data = state.opened()
    names = content["names"]
    chosen = int(content["chosen"])
    codes = codes_of_text(content["codes"][chosen], data.n_rows, len(names))
    return _with_clusters(
        state, codes, unique_names(names), content["how"], run, content["stability"][chosen]
    )


def _with_codes(
    state: State, previous: ClusterAssignment, codes: Ints, new_names: Sequence[str]
) -> State:
    """Return the state with new codes. Codes above the existing ones take `new_names`."""
    names = [*previous.names, *new_names]
    stability = [*previous.stability, *[float("nan")] * len(new_names)]
    codes, old_codes = sort_by_size(codes, len(names))
    updated = ClusterAssignment.on(
        state.opened(),
        codes,
        tuple(names[code] for code in old_codes),
        stability=[stability[code] for code in old_codes],
        how=previous.how,
        run=previous.run,
        changed=True,
    )
    return replace(state, clustering=updated)


def _with_clusters(
    state: State,
    codes: Ints,
    names: Sequence[str],
    origin: Mapping[str, object],
    run: str | None,
    stability: Sequence[float | None],
) -> State:
    stabilities = [float("nan") if value is None else float(value) for value in stability]
    clustering = ClusterAssignment.on(
        state.opened(),
        codes,
        tuple(map(validate_name, names)),
        stability=stabilities if len(stabilities) == len(names) else [float("nan")] * len(names),
        how=dict(origin),
        run=run,
    )
    return replace(state, clustering=clustering)


def sort_by_size(codes: Ints, n: int) -> tuple[Ints, list[int]]:
    """Return codes sorted by cluster size, and the old code of each new one."""
    sizes = np.bincount(codes[codes >= 0], minlength=n)
    old_codes = [int(code) for code in np.argsort(-sizes, kind="stable") if sizes[code]]
    new = np.full(n + 1, -1)
    new[old_codes] = np.arange(len(old_codes))
    return np.asarray(new[codes], dtype=np.int64), old_codes


def unique_names(names: Sequence[str]) -> list[str]:
    """Return generated names on one line, within the length limit and without repeats."""
    unique: list[str] = []
    for number, name in enumerate(names, start=1):
        text = " ".join(str(name).split()) or f"Cluster {number}"
        candidate, repeat = shorten(text, MAX_NAME_LENGTH), 1
        while candidate in unique:
            repeat += 1
            ending = f" ({repeat})"
            candidate = shorten(text, MAX_NAME_LENGTH - len(ending)) + ending
        unique.append(candidate)
    return unique


def validate_name(text: str) -> str:
    """Return the name of a cluster on one line, 1 to 60 characters."""
    name = " ".join(str(text).split())
    if not 0 < len(name) <= MAX_NAME_LENGTH:
        raise _cluster_error(
            f"a name needs 1 to {MAX_NAME_LENGTH} characters", name[:MAX_NAME_LENGTH]
        )
    return name


def _clustering(state: State) -> ClusterAssignment:
    if state.clustering is None:
        raise _cluster_error("there are no clusters", "", "Find clusters first.")
    return state.clustering


def _index(clustering: ClusterAssignment, number: int) -> int:
    if isinstance(number, bool) or not 1 <= int(number) <= len(clustering.names):
        raise _cluster_error("unknown cluster", str(number))
    return int(number) - 1


def _cluster_error(message: str, value: str, remedy: str = "") -> DataError:
    return DataError.of("bad-cluster", "clusters", message, value, remedy)
