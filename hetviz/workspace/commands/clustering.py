"""Carrying out what is done with clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.errors import DataError, Problem
from hetviz.runs.cluster.codes import codes_of_text, unpack_codes
from hetviz.workspace.clusters import Clustered
from hetviz.workspace.commands.cluster_commands import (
    ClusterCommand,
    MergeClusters,
    RenameCluster,
    SetClusters,
    SplitCluster,
)
from hetviz.workspace.state import State
from hetviz.workspace.store.blobs import BlobStore

CLUSTERS = "clusters"
"""Kind of the findings that are clusters of several numbers; the chosen ones are set."""

MOST_NAME = 60


def cluster(state: State, command: ClusterCommand, blobs: BlobStore) -> State:
    """Return the state after a command about clusters.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such cluster, or the codes belong to other data.
    """
    data = state.opened()
    if isinstance(command, SetClusters):
        codes = unpack_codes(blobs.get(command.codes), data.n_rows, len(command.names))
        return _set(state, codes, command.names, command.how, command.run, command.stability)
    now = state.clustering
    if now is None:
        raise _refused("there are no clusters", "", "Find clusters first.")
    match command:
        case RenameCluster():
            at = _place(now, command.cluster)
            names = list(now.names)
            names[at] = checked_name(command.name)
            return replace(state, clustering=replace(now, names=tuple(names)))
        case MergeClusters():
            places = sorted({_place(now, number) for number in command.clusters})
            if len(places) < 2:
                raise _refused("at least two clusters are needed to merge", "")
            codes = now.of(data)
            codes[np.isin(codes, places)] = len(now.names)
            names = [*now.names, checked_name(command.name)]
        case SplitCluster():
            at = _place(now, command.cluster)
            parts = unpack_codes(blobs.get(command.parts), data.n_rows, len(command.names))
            codes = now.of(data)
            mine = codes == at
            if not np.array_equal(parts >= 0, mine):
                raise _refused("the parts are not those of this cluster", str(command.cluster))
            codes[mine] = len(now.names) + parts[mine]
            names = [*now.names, *map(checked_name, command.names)]
    stability = [*now.stability, *[float("nan")] * (len(names) - len(now.names))]
    codes, kept = by_size(codes, len(names))
    clustering = Clustered.on(
        data,
        codes,
        tuple(names[code] for code in kept),
        stability=[stability[code] for code in kept],
        how=now.how,
        run=now.run,
        changed=True,
    )
    return replace(state, clustering=clustering)


def found_clusters(state: State, content: Mapping[str, Any], run: str | None) -> State:
    """Return the state with the clusters that a search chose, see `hetviz.jobs.tasks.cluster`."""
    data = state.opened()
    names = content["names"]
    place = int(content["chosen"])
    codes = codes_of_text(content["codes"][place], data.n_rows, len(names))
    return _set(state, codes, names, content["how"], run, content["stability"][place])


def _set(
    state: State,
    codes: Ints,
    names: Sequence[str],
    how: Mapping[str, Any],
    run: str | None,
    stability: Sequence[float | None],
) -> State:
    known = [float("nan") if value is None else float(value) for value in stability]
    clustering = Clustered.on(
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


def checked_name(text: str) -> str:
    """Return the name of a cluster on one line; 1 to 60 characters."""
    name = " ".join(str(text).split())
    if not 0 < len(name) <= MOST_NAME:
        raise _refused(f"its name needs 1 to {MOST_NAME} characters", name[:MOST_NAME])
    return name


def _place(now: Clustered, number: int) -> int:
    if isinstance(number, bool) or not 1 <= int(number) <= len(now.names):
        raise _refused("there is no such cluster", str(number))
    return int(number) - 1


def _refused(what: str, value: str, remedy: str = "") -> DataError:
    return DataError(Problem("bad-cluster", "clusters", what, value, remedy))
