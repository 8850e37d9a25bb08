"""Scores of maps of very many rows from sampled pairs, with standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.stats import rankdata

from hetviz._types import Array, Floats, Ints, Rng
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.runs.large import steps
from hetviz.runs.large.placers import LandmarkPlacer
from hetviz.runs.large.steps import Pairs, Placer

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from hetviz.runs.large.plan import Plan
    from hetviz.runs.large.schedulers import StepResult

N_LINKS = 20_000
"""Number of sampled links."""
N_ROWS = 20_000
"""Number of sampled rows of each table, the ends of random pairs."""
N_QUERIES, N_NEAREST = 250, 10
"""Number of query rows of each table, and of their nearest rows among all."""

SampledLinks = list[tuple[Ints, Ints, Floats]]


class BlockWork(Protocol):
    """Interface to run a step for all blocks."""

    plan: Plan

    def each(
        self,
        function: Callable[..., StepResult],
        words: str,
        *more: object,
        count: int | None = None,
        share: float = 0.25,
    ) -> list[StepResult]:
        """Run a step for every block and return the results."""
        ...

    def step(self, words: str, share: float) -> AbstractContextManager[Callable[[float], object]]:
        """Report the progress of a step that runs in this context."""
        ...


def score_map(
    work: BlockWork,
    placer: Placer,
    pairs: Pairs,
    counts: Sequence[tuple[int, int, int, int]],
    seed: int,
) -> tuple[dict[str, float], dict[str, float]]:
    """Measure a map by sampled pairs.

    Returns scores and standard errors: ``guidance_area``: the probability that a link is closer
    than a random pair of the same tables. ``negative_guidance_area``: the probability that an
    “apart” link is farther. Both are means over the sampled links. ``distance_correlation``: the
    rank correlation of distances by features and on the map over random pairs within each table,
    weighted by rows. ``neighbors_kept``, for maps by landmarks: the share of the ten nearest by
    features, among all rows of the table, that are among the ten nearest on the map, for 250 rows
    of each table, weighted by rows.
    """
    rng = np.random.default_rng([seed, 1])
    plan = work.plan
    rows = _sample_rows(plan, rng)
    features = work.each(steps.read_rows_of_block, "Judging by sampled pairs", rows, share=0.1)
    places = _places(work, placer, rows, features)
    X_of, Y_of = _by_table(plan, features), _by_table(plan, places)
    scores: dict[str, float] = {}
    errors: dict[str, float] = {}
    if pairs:
        sampled = _sample_links(work, pairs, counts, rng)
        areas = _guidance_areas(work, placer, pairs, sampled, Y_of, rng)
        for name, (value, error) in areas.items():
            scores[name], errors[name] = value, error
    correlations = [
        (plan.tables[t].n, *_correlation(X_of[t], Y_of[t], rng)) for t in range(len(plan.tables))
    ]
    finite = [(n, value, error) for n, value, error in correlations if np.isfinite(value)]
    if finite:
        scores["distance_correlation"], errors["distance_correlation"] = _pooled(finite)
    if steps.has_stored_places(plan) and isinstance(placer, LandmarkPlacer):
        scores["neighbors_kept"], errors["neighbors_kept"] = _neighbor_preservation(
            work, X_of, Y_of, rows, rng
        )
    return scores, errors


def _neighbor_preservation(
    work: BlockWork, X_of: Sequence[Floats], Y_of: Sequence[Floats], rows: Sequence[Ints], rng: Rng
) -> tuple[float, float]:
    """Return the share of nearest rows by features that are nearest on the map, with its error."""
    plan = work.plan
    features, places, row_numbers = [], [], []
    for t, table in enumerate(plan.tables):
        numbers = np.concatenate([rows[b] + plan.blocks[b].start for b in plan.of_table(t)])
        placed = np.flatnonzero(np.isfinite(Y_of[t]).all(axis=1))
        queries = np.sort(rng.choice(placed, min(N_QUERIES, len(placed), table.n), replace=False))
        features.append(X_of[t][queries])
        places.append(Y_of[t][queries])
        row_numbers.append(numbers[queries])
    words = "Judging by sampled pairs"
    nearest = work.each(
        steps.nearest_in_block, words, features, places, row_numbers, N_NEAREST, share=0.5
    )
    parts = []
    for t, table in enumerate(plan.tables):
        of_table = [nearest[b] for b in plan.of_table(t)]
        if not len(row_numbers[t]) or table.n <= N_NEAREST:
            continue
        names = []
        for space in range(2):
            D, N = (
                np.hstack([block_nearest[space, part] for block_nearest in of_table])
                for part in range(2)
            )
            names.append(np.take_along_axis(N, nearest_columns(D, N_NEAREST), axis=1))
        is_common = (names[0][:, :, None] == names[1][:, None, :]).any(axis=2).mean(axis=1)
        error = (
            float(is_common.std(ddof=1) / np.sqrt(len(is_common))) if len(is_common) > 1 else 0.0
        )
        parts.append((table.n, float(is_common.mean()), error))
    return _pooled(parts) if parts else (float("nan"), float("nan"))


def _places(
    work: BlockWork, placer: Placer, rows: Sequence[Ints], features: Sequence[Array]
) -> list[Floats | None]:
    """Return the stored places of some rows of each block, or places by features."""
    plan = work.plan
    if steps.has_stored_places(plan):
        return list(
            work.each(steps.read_places_of_block, "Judging by sampled pairs", rows, share=0.1)
        )
    return [
        placer.place(plan.tables[plan.blocks[number].table].name, X) if len(X) else None
        for number, X in enumerate(features)
    ]


def _sample_rows(plan: Plan, rng: Rng) -> list[Ints]:
    rows: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(plan.blocks)
    for t, table in enumerate(plan.tables):
        sampled = np.sort(rng.choice(table.n, min(table.n, N_ROWS), replace=False))
        for number in plan.of_table(t):
            block = plan.blocks[number]
            in_block = sampled[(sampled >= block.start) & (sampled < block.stop)]
            rows[number] = in_block - block.start
    return rows


def _by_table(plan: Plan, parts: Sequence[Array | None]) -> list[Floats]:
    return [
        np.vstack(
            [
                part
                for number in plan.of_table(t)
                if (part := parts[number]) is not None and len(part)
            ]
        ).astype(np.float64)
        for t in range(len(plan.tables))
    ]


def _sample_links(
    work: BlockWork, pairs: Pairs, counts: Sequence[tuple[int, int, int, int]], rng: Rng
) -> SampledLinks:
    """Sample links, from every two blocks in proportion to their links."""
    sizes = np.array([together + apart for _, _, together, apart in counts])
    n = min(int(sizes.sum()), N_LINKS)
    n_by_pair = rng.multivariate_hypergeometric(sizes, n, method="marginals")
    positions = [
        np.sort(rng.choice(size, share, replace=False))
        for size, share in zip(sizes, n_by_pair, strict=True)
    ]
    return work.each(
        steps.read_links_of_pair,
        "Judging by sampled pairs",
        positions,
        pairs,
        count=len(pairs),
        share=0.1,
    )


def _guidance_areas(
    work: BlockWork,
    placer: Placer,
    pairs: Pairs,
    sampled: SampledLinks,
    Y_of: Sequence[Floats],
    rng: Rng,
) -> dict[str, tuple[float, float]]:
    plan = work.plan
    rows_of_blocks: list[list[Ints]] = [[] for _ in plan.blocks]
    for (owner, other), (p, q, _) in zip(pairs, sampled, strict=True):
        rows_of_blocks[owner].append(p)
        rows_of_blocks[other].append(q)
    ends = [
        np.unique(np.concatenate(rows)) if rows else np.zeros(0, np.int64)
        for rows in rows_of_blocks
    ]
    features = work.each(steps.read_rows_of_block, "Judging by sampled pairs", ends, share=0.1)
    places = _places(work, placer, ends, features)
    groups: dict[tuple[int, int, int], list[Floats]] = {}
    for (owner, other), (p, q, w) in zip(pairs, sampled, strict=True):
        Y_p, Y_q = places[owner], places[other]
        if not len(p) or Y_p is None or Y_q is None:
            continue
        offset = Y_p[np.searchsorted(ends[owner], p)] - Y_q[np.searchsorted(ends[other], q)]
        u, v = plan.blocks[owner].table, plan.blocks[other].table
        for sign in (1, -1):
            length = (offset[sign * w > 0] ** 2).sum(axis=1)
            groups.setdefault((sign, min(u, v), max(u, v)), []).append(length)
    areas: dict[str, tuple[float, float]] = {}
    for sign, name in ((1, "guidance_area"), (-1, "negative_guidance_area")):
        parts = []
        for (group_sign, u, v), lengths in groups.items():
            links = np.concatenate(lengths)
            links = links[np.isfinite(links)]
            if group_sign != sign or not len(links):
                continue
            a, b = (Y_of[t][np.isfinite(Y_of[t]).all(axis=1)] for t in (u, v))
            if len(a) < 2 or len(b) < 2:
                continue
            n = max(N_LINKS, len(links))
            left = rng.integers(0, len(a), n)
            right = rng.integers(0, len(b), n)
            if u == v:
                right = (left + rng.integers(1, len(a), n)) % len(a)
            random_pairs = ((a[left] - b[right]) ** 2).sum(axis=1)
            parts.append((len(links), *mann_whitney_area(links, random_pairs, sign)))
        if parts:
            areas[name] = _pooled(parts)
    return areas


def _pooled(parts: Sequence[tuple[int, float, float]]) -> tuple[float, float]:
    """Return the weighted mean of values and its standard error."""
    n, value, error = (np.array(column) for column in zip(*parts, strict=True))
    share = n / n.sum()
    return float(share @ value), float(np.sqrt((share**2) @ (error**2)))


def mann_whitney_area(links: Floats, random_pairs: Floats, sign: int = 1) -> tuple[float, float]:
    """Return the probability that a link is shorter than a random pair, and its standard error.

    The statistic of Mann and Whitney, with the variance of DeLong, DeLong and Clarke-Pearson
    (1988) for two independent samples.
    """
    m, n = len(links), len(random_pairs)
    ranks = rankdata(np.concatenate([links, random_pairs]))
    shorter = 1.0 - (ranks[:m] - rankdata(links)) / n
    longer = (ranks[m:] - rankdata(random_pairs)) / m
    value = float(shorter.mean())
    spread = [part.var(ddof=1) / len(part) if len(part) > 1 else 0.0 for part in (shorter, longer)]
    return (value if sign > 0 else 1.0 - value), float(np.sqrt(sum(spread)))


def _correlation(X: Floats, Y: Floats, rng: Rng) -> tuple[float, float]:
    """Return the rank correlation of distances of sampled rows, and its standard error."""
    placed = np.isfinite(Y).all(axis=1)
    X, Y = X[placed], Y[placed]
    if len(X) < 40:
        return float("nan"), float("nan")
    # Every row is in one pair only, so the pairs are independent.
    order = rng.permutation(len(X))[: len(X) // 2 * 2].reshape(2, -1)
    before, after = (((Z[order[0]] - Z[order[1]]) ** 2).sum(axis=1) for Z in (X, Y))
    if not (np.ptp(before) > 0 and np.ptp(after) > 0):
        return float("nan"), float("nan")
    r = float(np.corrcoef(rankdata(before), rankdata(after))[0, 1])
    return r, (1.0 - r * r) / float(np.sqrt(order.shape[1] - 1))
