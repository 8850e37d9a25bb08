"""Items most alike to an item in the data, next to its nearest items on the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hetviz._text import count, round_percent
from hetviz._types import Bools, Floats
from hetviz.core.measures.alike import count_closer, most_alike_rows
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.metrics.trust.alike import AlikeItems, is_far
from hetviz.ui.item import blocks, item_chip, item_results
from hetviz.ui.item.blocks import Block
from hetviz.ui.item.item import find_item
from hetviz.ui.map_data import worker_results
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.ui.shell import theme
from hetviz.workspace import MapResult, Workspace

_N_ALIKE = 8
_SCALES = {"links": "100 %: same links", "features": "share of pairs less alike"}
_NOT_SIMILAR = "not similar", "not linked with it, and not similar by links or features"
_NOT_RELATED = (
    "not related",
    "not linked with it or with an item like it, and both share no linked item",
)


@dataclass(frozen=True, eq=False)
class AlikeList:
    """Items most alike to an item in one way.

    `far`: Those of `rows` that are far away on the map.
    `shares`: What is shown: the scores by links; by features the share of random pairs that are
        less alike.
    `n_tied`, `tied_share`: Number of further items with the same score, next to the listed ones.
    """

    way: str
    rows: list[int]
    scores: list[float]
    shares: list[float]
    far: frozenset[int]
    n_tied: int
    tied_share: float


@dataclass(frozen=True)
class AlikeLists:
    """Lists of alike items, and a mark with its reason for each near item without support."""

    lists: tuple[AlikeList, ...]
    unsupported: Mapping[int, tuple[str, str]]


def find_alike(
    workspace: Workspace, run: MapResult, row: int, nearest: list[int], session: str, wait: bool
) -> AlikeLists | None:
    """Return items alike to an item, and which of the `nearest` items the data do not support.

    Without `wait`, None while a thread computes them.
    """
    data = workspace.state.opened()
    embedding = workspace.state.embedding(run)
    if embedding is None:
        return None
    items = item_results.get_or_compute(
        workspace, ("alike items", id(data)), data, lambda: AlikeItems(data)
    )

    def make() -> AlikeLists:
        return _make_lists(items, embedding, row, nearest)

    if not wait:
        return worker_results.compute_in_thread(
            session, data, _key(run, row), make, run, "Looking for similar items"
        )
    cached: object = RESULTS.get_or_compute(data, _key(run, row), make, run)
    # The page shows why a thread failed.
    return cached if isinstance(cached, AlikeLists) else None


def drop(data: HeteroData, run: MapResult, row: int) -> None:
    """Forget the result or the error of an item."""
    RESULTS.drop(data, _key(run, row))


def _key(run: MapResult, row: int) -> tuple[object, ...]:
    return "alike", id(run), row


def _make_lists(
    items: AlikeItems, embedding: Embedding, row: int, nearest: list[int]
) -> AlikeLists:
    item = find_item(items.data, row)
    name, span = item.dataset.name, items.data.offsets[item.dataset.name]
    alike = items.scores(name, item.row)
    closer = count_closer(coordinates_of(items.data, embedding)[name], item.row)
    far = is_far(closer)
    found = (("links", alike.by_links), ("features", alike.by_features))
    supported = items.supported_across(alike)
    supported[span] = alike.supported()
    return AlikeLists(
        tuple(
            _make_list(items, name, way, scores, item.row, span.start, far)
            for way, scores in found
            if scores is not None
        ),
        {
            other: _NOT_SIMILAR if span.start <= other < span.stop else _NOT_RELATED
            for other in nearest
            if not supported[other]
        },
    )


def _make_list(
    items: AlikeItems, dataset: str, way: str, scores: Floats, row: int, start: int, far: Bools
) -> AlikeList:
    rows = most_alike_rows(scores, row, len(scores))
    values = scores[rows]
    last = float(values[:_N_ALIKE].min(initial=1.0))
    n_above, n_last = int((values > last).sum()), int((values == last).sum())
    n_listed = n_above + n_last
    if n_listed > _N_ALIKE:
        # Of equally similar items all are listed or none, unless these are the most similar.
        n_listed = n_above or _N_ALIKE
    listed = rows[:n_listed]
    shown = np.r_[scores[listed], last]
    if way == "features":
        shown = items.share_less_alike(dataset, shown)
    return AlikeList(
        way,
        (listed + start).tolist(),
        scores[listed].tolist(),
        shown[:-1].tolist(),
        frozenset((listed[far[listed]] + start).tolist()),
        n_above + n_last - n_listed,
        float(shown[-1]),
    )


def alike_blocks(data: HeteroData, row: int, alike: AlikeList, session: str) -> list[Block]:
    """Return the items that are most alike in one way, with their similarity."""
    if not alike.rows:
        return []
    key = theme.evidence_key("alike", row, alike.way)
    asides = {
        other: [round_percent(share), *(["far away"] if other in alike.far else [])]
        for other, share in zip(alike.rows, alike.shares, strict=True)
    }
    parts = [
        blocks.section(f"Most alike by {alike.way}", _SCALES[alike.way], key),
        item_chip.items_block(data, alike.rows, session, asides=asides),
    ]
    if alike.n_tied:
        text = f"{count(alike.n_tied, 'more item')} with {round_percent(alike.tied_share)}."
        parts.append(blocks.note(text))
    return parts
