"""Guidance satisfaction: ranks of linked pairs among all pairs of their datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._types import Bools, Floats, Ints
from hetviz.core.measures.close_pairs import MIN_LINKED_ROWS, close_share
from hetviz.core.measures.resolution import error_of_mean
from hetviz.core.measures.satisfaction import (
    NEAR_SHARE,
    degree_placements,
    distance_percentiles,
    link_auc,
    satisfaction_area,
    satisfaction_curve,
)
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData, Links
from hetviz.data.model.checks import ProblemCollector, check_positions
from hetviz.errors import DataError
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.memo import Memo
from hetviz.metrics.fit.rows import coordinates_of, has_same_rows


@dataclass(frozen=True, eq=False)
class LinkablePairs:
    """The pairs of two datasets that links are ranked among.

    `rows`, `other_rows` (n_a,), (n_b,): Rows with links. Other rows are no candidates, so that
        leaving them out changes nothing. All rows if fewer than 20 of either dataset have links
        other than statements of a user, who may link any items.
    """

    rows: Bools
    other_rows: Bools
    share: float

    @property
    def masks(self) -> tuple[Bools, Bools]:
        return self.rows, self.other_rows


_LINKABLE = Memo(max_entries=8)


def linkable_pairs(
    sizes: Mapping[str, int], links: Sequence[Links]
) -> dict[tuple[str, str], LinkablePairs]:
    """Return the linkable pairs of each two linked datasets, in the order of `sizes`."""
    if not links:
        return {}

    def find() -> dict[tuple[str, str], LinkablePairs]:
        return _find_linkable_pairs(sizes, links)

    return _LINKABLE.get_or_compute(tuple(links), tuple(sizes.items()), find)


def _find_linkable_pairs(
    sizes: Mapping[str, int], links: Sequence[Links]
) -> dict[tuple[str, str], LinkablePairs]:
    order = {name: position for position, name in enumerate(sizes)}
    parts: dict[tuple[str, str], list[tuple[Ints, Ints, Floats, Bools]]] = {}
    for group in links:
        forward = order[group.source] <= order[group.target]
        names = (group.source, group.target) if forward else (group.target, group.source)
        ends = (group.i, group.j) if forward else (group.j, group.i)
        is_user = np.full(len(group), group.kind in USER_LINK_KINDS)
        parts.setdefault(names, []).append((*ends, group.weight, is_user))
    found = {}
    for (source, target), entries in parts.items():
        i, j, weight, is_user = (np.concatenate(side) for side in zip(*entries, strict=True))
        within = source == target
        if within:
            i, j = np.minimum(i, j), np.maximum(i, j)
        rows, other_rows = (np.zeros(sizes[name], dtype=bool) for name in (source, target))
        rows[i[~is_user]], other_rows[j[~is_user]] = True, True
        if within:
            rows = other_rows = rows | other_rows
        if min(rows.sum(), other_rows.sum()) < MIN_LINKED_ROWS:
            rows[:], other_rows[:] = True, True
        rows[i], other_rows[j] = True, True
        if within:
            rows[j] = True
        pairs = np.unique(np.column_stack([i, j])[weight > 0], axis=0)
        share = close_share(
            (np.cumsum(rows) - 1)[pairs[:, 0]],
            (np.cumsum(other_rows) - 1)[pairs[:, 1]],
            int(rows.sum()),
            None if within else int(other_rows.sum()),
        )
        found[source, target] = LinkablePairs(rows, other_rows, share)
    return found


def linkable_pairs_of(
    data: HeteroData, others: HeteroData | None = None
) -> dict[tuple[str, str], LinkablePairs]:
    """Return the `linkable_pairs` of data, and of `others` if they have the same rows."""
    sizes = {name: len(dataset) for name, dataset in data.datasets.items()}
    if others is None or not has_same_rows(data, others):
        return linkable_pairs(sizes, data.links)
    return linkable_pairs(sizes, [*data.links, *others.links])


@dataclass(frozen=True, eq=False)
class BlockScore:
    """Scores of the links of two datasets with one sign.

    `F` (m,): Share of candidate pairs that are closer than each link, ties half. NaN for links
        with an end without a place.
    `close_limit`: Share of the candidate pairs that are close; chance level of `share_close`.
    """

    source: str
    target: str
    sign: int
    F: Floats
    candidates: int
    standard_error: float
    distinct: Floats
    degree_auc: float = float("nan")
    degree_error: float = 0.0
    ends: tuple[Ints, Ints] | None = None
    degree_spread: float = float("nan")
    close_limit: float = NEAR_SHARE

    @property
    def n_links(self) -> int:
        """Number of links with places for both ends."""
        return int(np.isfinite(self.F).sum())

    @property
    def n_unplaced(self) -> int:
        """Number of links with an end without a place."""
        return len(self.F) - self.n_links

    @property
    def area(self) -> float:
        """Area under the satisfaction curve. Chance level 0.5."""
        return satisfaction_area(self.F, self.sign)

    @property
    def auc(self) -> float:
        """Probability that a linked pair is closer than an unlinked pair, ties half."""
        return link_auc(self.distinct, self.candidates)

    def standard_error_of(self, measure: str) -> float:
        """Return the standard error of "area", "auc", "degree_auc" or "share_close" over links."""
        ends = self.ends or ()
        if measure == "degree_auc":
            return self.degree_spread
        if measure == "share_close":
            return error_of_mean((self.close_limit >= self.F).astype(np.float64), *ends)
        error = error_of_mean(self.F, *ends)
        if measure == "auc":
            error /= max(1.0 - np.isfinite(self.distinct).sum() / self.candidates, 1e-12)
        return error

    @property
    def area_ceiling(self) -> float:
        """Maximum of `area`, below 1 because linked pairs are among the ranked pairs."""
        linked = int(np.isfinite(self.distinct).sum())
        return 1.0 - 0.5 * min(linked / max(self.candidates, 1), 1.0)

    @property
    def share_close(self) -> float:
        """Share of all links that are close: among the closest `close_limit` of the candidates."""
        n_links = len(self.F)
        return float((self.close_limit >= self.F).sum() / n_links) if n_links else float("nan")

    @property
    def share_satisfied(self) -> float:
        """Share of all links that the map satisfies: close, or not close for negative links."""
        if self.sign > 0 or not len(self.F):
            return self.share_close
        return float((self.close_limit < self.F).sum() / len(self.F))

    @property
    def chance(self) -> float:
        """Chance level of `share_satisfied`."""
        return self.close_limit if self.sign > 0 else 1.0 - self.close_limit


def block_scores(data: HeteroData, embedding: Embedding, random_state: int = 0) -> list[BlockScore]:
    """Rank the links of each pair of datasets among all pairs that could be linked.

    Links of all kinds and both directions between two datasets form one block. Exact up to
    20,000,000 candidate pairs, sampled above. O(candidates) time, bounded memory.
    """
    Y = coordinates_of(data, embedding)
    (scores,) = block_scores_of_parts(Y, [data.links], random_state)
    return scores


def block_scores_of_parts(
    Y: Mapping[str, Floats],
    link_groups: Sequence[Sequence[Links]],
    seed: int,
    beat: Callable[[], None] = lambda: None,
) -> list[list[BlockScore]]:
    """Return the blocks of several groups of links, such as given and held-out links."""
    order = {name: position for position, name in enumerate(Y)}
    sizes = {name: len(A) for name, A in Y.items()}
    linkable = linkable_pairs(sizes, [group for links in link_groups for group in links])
    pairs: dict[tuple[str, str], list[tuple[int, int, Ints, Ints]]] = {}
    for part, links in enumerate(link_groups):
        for group in links:
            forward = order[group.source] <= order[group.target]
            source, target = sorted((group.source, group.target), key=order.__getitem__)
            i, j = (group.i, group.j) if forward else (group.j, group.i)
            for sign in (1, -1):
                mask = group.weight * sign > 0
                if mask.any():
                    pairs.setdefault((source, target), []).append((part, sign, i[mask], j[mask]))
    scores: list[list[BlockScore]] = [[] for _ in link_groups]
    for (source, target), entries in pairs.items():
        i, j = (np.concatenate([entry[end] for entry in entries]) for end in (2, 3))
        if source == target:
            i, j = np.minimum(i, j), np.maximum(i, j)
        other = None if source == target else Y[target]
        beat()
        among = linkable[source, target]
        ranked = distance_percentiles(
            Y[source], i, j, other, candidates=among.masks, random_state=seed
        )
        block_code = np.concatenate(
            [np.full(len(entry[2]), 2 * entry[0] + (entry[1] < 0)) for entry in entries]
        )
        is_positive = block_code % 2 == 0
        for code in np.unique(block_code):
            in_block = block_code == code
            F = ranked.values[in_block]
            _, first_index = np.unique(
                np.column_stack([i[in_block], j[in_block]]), axis=0, return_index=True
            )
            part, sign = int(code) // 2, -1 if code % 2 else 1
            degree: tuple[float, float] = (float("nan"), 0.0)
            degree_spread = float("nan")
            if sign > 0:
                positive_pairs = (i[is_positive], j[is_positive])
                ends = (i[in_block][first_index], j[in_block][first_index])
                beat()
                closer, error = degree_placements(
                    Y[source], *ends, other, positive_pairs, random_state=seed
                )
                if np.isfinite(closer).any():
                    degree = (float(np.nanmean(closer)), error)
                    degree_spread = error_of_mean(closer, *ends)
            scores[part].append(
                BlockScore(
                    source,
                    target,
                    sign,
                    F,
                    ranked.candidates,
                    ranked.standard_error,
                    F[first_index],
                    *degree,
                    (i[in_block], j[in_block]),
                    degree_spread,
                    among.share,
                )
            )
    return scores


def weighted_mean(blocks: Iterable[BlockScore], measure: str, sign: int) -> float | None:
    """Return the mean of a measure over blocks of one sign, weighted by links, or None."""
    counts_unplaced = measure in ("share_close", "share_satisfied", "chance")
    rows = [
        (getattr(block, measure), len(block.F) if counts_unplaced else block.n_links)
        for block in blocks
        if block.sign == sign
        and (counts_unplaced or block.n_links)
        and np.isfinite(getattr(block, measure))
    ]
    if not rows:
        return None
    values, weights = zip(*rows, strict=True)
    return float(np.average(values, weights=weights))


def weighted_mean_error(blocks: Iterable[BlockScore], measure: str, sign: int) -> float:
    """Return the standard error of `weighted_mean` over the links. NaN if unknown."""
    rows = [
        (
            block.standard_error_of(measure),
            len(block.F) if measure == "share_close" else block.n_links,
        )
        for block in blocks
        if block.sign == sign and block.n_links and np.isfinite(getattr(block, measure))
    ]
    rows = [(error, weight) for error, weight in rows if np.isfinite(error)]
    if not rows:
        return float("nan")
    errors, weights = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    return float(np.sqrt(((weights * errors) ** 2).sum()) / weights.sum())


def apart_auc(blocks: Sequence[BlockScore]) -> tuple[float, float] | None:
    """Return how often a negative pair is farther than a positive pair.

    Returns: auc : float Ties count half, chance level 0.5, maximum 1. Mean over pairs of datasets
        with links of both signs, weighted by negative pairs. standard_error : float Over the links
        of both signs. None if no pair of datasets has both.
    """
    results: list[tuple[float, float, int]] = []
    for apart in blocks:
        positive_blocks = [
            block
            for block in blocks
            if block.sign > 0 > apart.sign
            and (block.source, block.target) == (apart.source, apart.target)
            and block.n_links
        ]
        if apart.sign > 0 or not positive_blocks or not apart.n_links:
            continue
        positive = positive_blocks[0]
        farther = _share_smaller(apart.F, positive.F)
        nearer = 1.0 - _share_smaller(positive.F, apart.F)
        errors = [
            error_of_mean(farther, *(apart.ends or ())),
            error_of_mean(nearer, *(positive.ends or ())),
        ]
        error = float(np.sqrt(np.square(np.nan_to_num(errors, nan=0.5)).sum()))
        results.append((float(np.nanmean(farther)), error, apart.n_links))
    if not results:
        return None
    values, errors_array, weights = (
        np.array(column, dtype=np.float64) for column in zip(*results, strict=True)
    )
    error = float(np.sqrt(((weights * errors_array) ** 2).sum()) / weights.sum())
    return float(np.average(values, weights=weights)), error


def _share_smaller(F: Floats, others: Floats) -> Floats:
    """Return the share of other values below each entry, ties half. NaN stays NaN."""
    sorted_others = np.sort(others[np.isfinite(others)])
    double_count = np.searchsorted(sorted_others, F, side="left") + np.searchsorted(
        sorted_others, F, side="right"
    )
    return np.where(np.isfinite(F), double_count / (2 * len(sorted_others)), np.nan)


@one_thread()
def guidance_curve(
    embedding: Embedding,
    data_or_links: HeteroData | Links | Iterable[Links],
    sign: int = 1,
    n_points: int = 1001,
) -> tuple[Floats, Floats]:
    """Return the share of satisfied links against the share of pairs that count as close.

    Parameters
    ----------
    embedding : Embedding
    data_or_links : HeteroData, Links or sequence of Links
        Links without data refer to the rows of the embedding by position.
    sign : {1, -1}
        1: positive links, satisfied if their pair is close. -1: negative links, satisfied if it
        is not.
    n_points : int
        Number of points from 0 to 1.

    Returns
    -------
    fraction_of_pairs, fraction_satisfied : array of shape (n_points,)
        At f, the share of satisfied links of all blocks if the closest f of the pairs of each
        block count as close. Chance level: f for positive links, 1 - f for negative links.

    Raises
    ------
    hetviz.errors.DataError
        If there are no such links, or a dataset or row is missing in the embedding.
    """
    if isinstance(data_or_links, HeteroData):
        blocks = block_scores(data_or_links, embedding)
    else:
        links = [data_or_links] if isinstance(data_or_links, Links) else list(data_or_links)
        collector = ProblemCollector()
        for group in links:
            for name in (group.source, group.target):
                if name not in embedding.coordinates:
                    raise DataError.of(
                        "unknown-dataset", "links", "the map has no dataset of this name", name
                    )
            check_positions(collector, "links, source", group.i, len(embedding.ids[group.source]))
            check_positions(collector, "links, target", group.j, len(embedding.ids[group.target]))
        collector.close()
        (blocks,) = block_scores_of_parts(embedding.coordinates, [links], 0)
    percentiles = [block.F for block in blocks if block.sign == sign and block.n_links]
    if not percentiles:
        kind = "together" if sign > 0 else "apart"
        raise DataError.of(
            "no-links",
            "guidance curve",
            f"there are no {kind} links between items on the map",
            remedy="Add links, or place more items.",
        )
    return satisfaction_curve(np.concatenate(percentiles), sign, n_points=n_points)
