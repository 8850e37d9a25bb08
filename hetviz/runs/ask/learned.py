"""Groups learned from guidance or labels, with the items that would follow them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hetviz._types import Ints, Sparse
from hetviz.core.graph.joint import JointGraph
from hetviz.core.spectral.group_axes import MIN_MEMBERS
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData
from hetviz.errors import ParameterError
from hetviz.features.spaces.joint_axes import symmetric_affinities
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.learned_groups import GroupSummary, find_learned_groups
from hetviz.progress import Progress, ignore_progress

_PERPLEXITY = 30.0


@one_thread()
def learned_from(
    data: HeteroData,
    *,
    label: str | None = None,
    random_state: int = 0,
    progress: Progress = ignore_progress,
) -> list[GroupSummary]:
    """Learn from linked or equally labelled items which other items are like them.

    Parameters
    ----------
    data : HeteroData
        Three or more items of a dataset that links of kind "said" or "accepted" connect are a
        group.
    label : str, optional
        A label column: three or more items of a dataset with the same label are a group instead,
        and labelled items follow no group.
    random_state : int
    progress : callable

    Returns
    -------
    list of LearnedGroup
        One for each group, see `hetviz.features.spaces.learned_groups.GroupSummary`; as text it is
        a sentence.

    Raises
    ------
    hetviz.errors.ParameterError
        If no dataset has such a label column.

    Notes
    -----
    Methods with ``learn_groups`` learn the same from the same guidance, see
    `hetviz.core.spectral.group_axes`. Followers are suggestions: between a third and nearly all of
    the first twelve were right in benchmarks. Takes about half a second for 2,000 items.
    """
    rows_by_label = None if label is None else _rows_by_label(data, label)
    if rows_by_label == {}:
        return []
    graph = plain_graph(data, random_state, progress)
    if rows_by_label is None:
        return find_learned_groups(data, graph, random_state=random_state).of_items(data)
    group_search = find_learned_groups(
        data, graph, random_state=random_state, groups=list(rows_by_label.values())
    )
    columns = [labels for labels in data.labels if labels.name == label]
    labelled_rows = np.concatenate(
        [np.flatnonzero(labels.known) + data.offsets[labels.dataset].start for labels in columns]
    )
    of_row = {int(row): word for (_, word), rows in rows_by_label.items() for row in rows}
    return [
        replace(learned, label=(str(label), of_row[int(group.rows[0])]))
        for group, learned in zip(
            group_search.groups, group_search.of_items(data, labelled_rows), strict=True
        )
    ]


def plain_graph(
    data: HeteroData, random_state: int = 0, progress: Progress = ignore_progress
) -> JointGraph:
    """Return the joint graph, with default settings, that tells which items are similar."""

    def similarity(dataset: Dataset, report: Progress) -> Sparse | None:
        return symmetric_affinities(dataset, _PERPLEXITY, "auto", random_state, report)

    return joint_graph(data, similarity, progress)


def _rows_by_label(data: HeteroData, label: str) -> dict[tuple[str, str], Ints]:
    """Return the global rows of each label with three or more items, by dataset and label."""
    columns = [labels for labels in data.labels if labels.name == label]
    if not columns:
        names = ", ".join(sorted({labels.name for labels in data.labels})) or "none"
        raise ParameterError(
            f"label = {label!r}: no dataset has this label column. Available: {names}."
        )
    rows_by_label = {}
    for column in columns:
        start = data.offsets[column.dataset].start
        texts = np.array([str(value) for value in column.values], dtype=object)
        for value in column.classes:
            rows = np.flatnonzero(column.known & (texts == str(value))) + start
            if len(rows) >= MIN_MEMBERS:
                rows_by_label[column.dataset, str(value)] = rows
    return rows_by_label
