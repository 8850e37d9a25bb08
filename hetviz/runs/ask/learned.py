"""What the groups that a person named have in common, and who would follow them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hetviz._types import Ints, Sparse
from hetviz.core.graph.joint import JointGraph
from hetviz.core.spectral.group_axes import LEAST_NAMED
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData
from hetviz.errors import ParameterError
from hetviz.features.spaces.joint_axes import own_block
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.taught import LearnedGroup, taught_by
from hetviz.progress import Progress, silent

_PERPLEXITY = 30.0


@one_thread()
def learned_from(
    data: HeteroData,
    *,
    label: str | None = None,
    random_state: int = 0,
    progress: Progress = silent,
) -> list[LearnedGroup]:
    """Learn from items said to belong together, or labelled alike, which others are like them.

    Parameters
    ----------
    data : HeteroData
        Three or more items of a dataset that links of kind "said" or "accepted" join are a group.
    label : str, optional
        A label column: three or more items of a dataset with the same label are a group instead,
        and no item that has a label follows another.
    random_state : int
    progress : callable

    Returns
    -------
    list of LearnedGroup
        One for each group; see `hetviz.features.spaces.taught.LearnedGroup`. As text each says in a
        sentence what was found.

    Raises
    ------
    hetviz.errors.ParameterError
        If no dataset has such a label column.

    Notes
    -----
    What methods with ``learn_groups`` make of the same statements, see
    `hetviz.core.spectral.group_axes`. Followers are a proposal: measured, between a third and
    nearly all of the first twelve are right. About half a second for 2,000 items.
    """
    named = None if label is None else _labelled(data, label)
    if named == {}:
        return []
    graph = plain_graph(data, random_state, progress)
    if named is None:
        return taught_by(data, graph, random_state=random_state).of_items(data)
    taught = taught_by(data, graph, random_state=random_state, groups=list(named.values()))
    columns = [one for one in data.labels if one.name == label]
    aside = np.concatenate(
        [np.flatnonzero(one.known) + data.offsets[one.dataset].start for one in columns]
    )
    of_row = {int(row): word for (_, word), rows in named.items() for row in rows}
    return [
        replace(found, label=(str(label), of_row[int(group.rows[0])]))
        for group, found in zip(taught.groups, taught.of_items(data, aside), strict=True)
    ]


def plain_graph(data: HeteroData, random_state: int = 0, progress: Progress = silent) -> JointGraph:
    """Return the joint graph on which asking looks who is like whom, with the usual settings."""

    def near(dataset: Dataset, tell: Progress) -> Sparse | None:
        return own_block(dataset, _PERPLEXITY, "auto", random_state, tell)

    return joint_graph(data, near, progress)


def _labelled(data: HeteroData, label: str) -> dict[tuple[str, str], Ints]:
    """Return the global rows of each label of a column, by dataset and label; of three or more."""
    columns = [one for one in data.labels if one.name == label]
    if not columns:
        there = ", ".join(sorted({one.name for one in data.labels})) or "none"
        raise ParameterError(f"label = {label!r}: no dataset has such a column; there is {there}.")
    found = {}
    for column in columns:
        start = data.offsets[column.dataset].start
        texts = np.array([str(value) for value in column.values], dtype=object)
        for value in column.classes:
            rows = np.flatnonzero(column.known & (texts == str(value))) + start
            if len(rows) >= LEAST_NAMED:
                found[column.dataset, str(value)] = rows
    return found
