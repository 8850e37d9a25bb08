"""Refinement of placed rows by a few iterations of the neighbour map.

Placement by landmarks does not bring a row closer to its most similar rows than to others around
the same landmarks. Iterations of the neighbour map correct that. Of very large tables only a sample
is refined, and the other rows are placed by this sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Floats, Ints, JsonObject, Sparse
from hetviz.algorithms.registry import get_method
from hetviz.core.graph.affinities import MIN_ROWS, conditional_affinities, neighbors_needed
from hetviz.core.graph.joint import Balance, JointGraph, balance_exponent, joint_affinities
from hetviz.core.graph.neighbors import NeighborCells, Neighbors, affordable_neighbors
from hetviz.core.layout.out_of_sample import placement_error
from hetviz.core.layout.sne import ApartPairs, Phase, SneLayout
from hetviz.core.layout.umap import UmapLayout, fuzzy_graph, fuzzy_union
from hetviz.params import value_for
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.large import steps
from hetviz.runs.large.placers import RefinedPlacer
from hetviz.runs.large.plan import LargeRecipe, Plan

if TYPE_CHECKING:
    from hetviz.runs.large.judging import BlockWork

FAMILY, MAX_AXES = "Neighbour map", 2
PERPLEXITY = 5.0
_N_TRIED = 100
_SPEED = 0.1
_STEP_NAME = "Refining places"


def refines(recipe: LargeRecipe) -> bool:
    """Return whether rows are refined: for neighbour maps of one or two axes."""
    axes = recipe.params.get("n_components", 2)
    family = get_method(recipe.method).card.family
    return recipe.refine > 0 and family == FAMILY and axes <= MAX_AXES


def refine_places(
    recipe: LargeRecipe, work: BlockWork, pairs: steps.Pairs, landmarks: Sequence[Ints]
) -> JsonObject:
    """Refine stored places of sampled rows, and place the other rows by them.

    All blocks must have been placed (`hetviz.runs.large.steps.place_rows`). The `landmarks` of each
    block are always refined. Returns numbers of rows, iterations and neighbours, the recall of
    neighbours, the median move of rows relative to the usual distance of two rows, and the
    placement error.
    """
    plan = work.plan
    rows = _rows_to_refine(recipe, plan, landmarks)
    with work.step(_STEP_NAME, 0.8) as beat:

        def report(fraction: float, message: str = "", **figures: object) -> None:
            beat(fraction)

        X = _by_table(
            plan, [steps.read_rows_of_block(plan, rows, b) for b in range(len(plan.blocks))]
        )
        before = _by_table(
            plan, [steps.read_places_of_block(plan, rows, b) for b in range(len(rows))]
        )
        recall: dict[str, float] = {}
        neighbors: list[Neighbors | None] = []
        for t, table in enumerate(plan.tables):
            part = ProgressPart(
                report, 0.4 * t / len(plan.tables), 0.4 * (t + 1) / len(plan.tables)
            )
            table_neighbors = _neighbors(X[t], before[t], recipe.seed, part)
            neighbors.append(table_neighbors)
            if table_neighbors is not None:
                recall[table.name] = table_neighbors.recall
        P, negative = _affinities(recipe, plan, neighbors, rows, pairs)
        after = list(before)
        if P is not None:
            after = _optimise(recipe, P, negative, before, ProgressPart(report, 0.4, 1.0))
        del P, negative
        steps.store_refined(plan, rows, _by_block(plan, rows, after))
        if sum(map(len, rows)) < sum(block.n for block in plan.blocks):
            for t in range(len(plan.tables)):
                _store_for_placement(plan, t, X[t], after[t], recipe.seed)
    placer = RefinedPlacer(plan.scratch, tuple(table.name for table in plan.tables))
    work.each(steps.place_by_refined, "Placing all rows", placer, share=0.5)
    error = placement_error(X, after, _N_TRIED, recipe.seed, between=True)
    return {
        "rows": {table.name: len(X[t]) for t, table in enumerate(plan.tables)},
        "iterations": recipe.refine,
        "neighbors": neighbors_needed(10**9, PERPLEXITY)[0],
        "recall": recall,
        "moved": _median_move(np.vstack(before), np.vstack(after), recipe.seed),
        "placement_error": error.to_dict(),
    }


def _rows_to_refine(recipe: LargeRecipe, plan: Plan, landmarks: Sequence[Ints]) -> list[Ints]:
    """Return all rows of each block, or the landmarks and a sample if there are too many."""
    n_rows = sum(block.n for block in plan.blocks)
    if n_rows <= recipe.refined_rows:
        return [np.arange(block.n) for block in plan.blocks]
    rng = np.random.default_rng([recipe.seed, 2])
    rows = []
    for block, required in zip(plan.blocks, landmarks, strict=True):
        n_more = max(0, recipe.refined_rows * block.n // n_rows - len(required))
        others = np.setdiff1d(np.arange(block.n), required, assume_unique=True)
        chosen = rng.choice(others, min(n_more, len(others)), replace=False)
        rows.append(np.sort(np.concatenate([required, chosen])))
    return rows


def _by_table(plan: Plan, parts: Sequence[Array]) -> list[Array]:
    return [
        np.concatenate([parts[number] for number in plan.of_table(t)])
        for t in range(len(plan.tables))
    ]


def _by_block(plan: Plan, rows: Sequence[Ints], Y: Sequence[Floats]) -> list[Floats]:
    places_of_blocks: list[Floats] = [np.empty((0, 2))] * len(rows)
    for t, places in enumerate(Y):
        block_numbers = plan.of_table(t)
        ends = np.cumsum([len(rows[number]) for number in block_numbers])[:-1]
        for number, part in zip(block_numbers, np.split(places, ends), strict=True):
            places_of_blocks[number] = part
    return places_of_blocks


def _neighbors(X: Array, Y: Floats, seed: int, progress: Progress) -> Neighbors | None:
    """Return the nearest rows of each row; None for few or identical rows."""
    n = len(X)
    if n < MIN_ROWS or not np.isfinite(Y).all() or not np.ptp(X, axis=0).any():
        return None
    return affordable_neighbors(X, neighbors_needed(n, PERPLEXITY)[0], seed, progress)


def _links(plan: Plan, rows: Sequence[Ints], pairs: steps.Pairs) -> tuple[Sparse, Sparse]:
    """Return positive and negative link weights among rows, with all tables stacked."""
    sizes = [sum(len(rows[number]) for number in plan.of_table(t)) for t in range(len(plan.tables))]
    first = np.zeros(len(plan.blocks), dtype=np.int64)
    for t in range(len(plan.tables)):
        block_numbers = plan.of_table(t)
        before = np.cumsum([0, *(len(rows[number]) for number in block_numbers)])[:-1]
        first[block_numbers] = sum(sizes[:t]) + before
    n = sum(sizes)
    total = sp.csr_array((n, n))
    for position, (owner, other) in enumerate(pairs):
        p, q, w = steps.links_among(plan, rows, pairs, position)
        p, q = (p + first[owner]).astype(np.int32), (q + first[other]).astype(np.int32)
        total = total + sp.csr_array((w, (p, q)), shape=(n, n))
    total = sp.csr_array(total + total.T)
    is_apart = total.data < 0
    negative = sp.csr_array((n, n))
    if is_apart.any():
        negative = sp.csr_array(-total)
        negative.data = np.clip(negative.data, 0.0, 1.0)
        negative.eliminate_zeros()
    total.data = np.clip(total.data, 0.0, 1.0)
    total.eliminate_zeros()
    return total, negative


def _affinities(
    recipe: LargeRecipe,
    plan: Plan,
    neighbors: list[Neighbors | None],
    rows: Sequence[Ints],
    pairs: steps.Pairs,
) -> tuple[Sparse | None, Sparse]:
    """Return the affinities of rows, with all tables stacked, and the negative links."""
    params, by_umap = recipe.params, recipe.method == "umap"
    affinities = []
    while neighbors:
        table_neighbors = neighbors.pop(0)
        affinities.append(
            None if table_neighbors is None else _neighbor_affinities(table_neighbors, by_umap)
        )
    sizes = [sum(len(rows[number]) for number in plan.of_table(t)) for t in range(len(plan.tables))]
    weights = [float(value_for(params["weights"], table.name, 1.0)) for table in plan.tables]
    positive, negative = _links(plan, rows, pairs)
    graph = JointGraph(sizes, affinities, positive, negative, weights=weights)
    P = (
        _fuzzy_graph_of(graph, float(params["link_strength"]))
        if by_umap
        else _joint_distribution(graph, params)
    )
    return P, negative


def _optimise(
    recipe: LargeRecipe, P: Sparse, negative: Sparse, before: Sequence[Floats], progress: Progress
) -> list[Floats]:
    """Return places by table after the iterations; rows without affinities do not move."""
    params, places = recipe.params, np.vstack(before)
    is_held = (np.asarray(P.sum(axis=1)).ravel() > 0) & np.isfinite(places).all(axis=1)
    P = P if is_held.all() else sp.csr_array(P[is_held][:, is_held])
    number = np.cumsum(is_held) - 1
    entries = sp.triu(negative).tocoo()
    is_kept = is_held[entries.coords[0]] & is_held[entries.coords[1]]
    left, right = (np.asarray(number[end[is_kept]], dtype=np.int64) for end in entries.coords)
    apart = np.asarray(entries.data[is_kept], dtype=np.float64)
    strength = float(params["cannot_link_strength"])
    start = places[is_held]
    if recipe.method == "umap":
        umap_layout = UmapLayout(
            P,
            start,
            n_epochs=recipe.refine,
            min_dist=params["min_dist"],
            speed=_SPEED,
            apart=(left, right, strength * apart),
            random_state=recipe.seed,
        )
        umap_layout.run(progress)
        places[is_held] = umap_layout.positions
    else:
        layout = SneLayout(P, start, apart=ApartPairs(left, right, apart, strength))
        layout.run([Phase(recipe.refine)], progress)
        places[is_held] = layout.positions
    return np.split(places, np.cumsum([len(Y) for Y in before])[:-1])


def _neighbor_affinities(neighbors: Neighbors, by_umap: bool) -> Sparse:
    if by_umap:
        return fuzzy_graph(neighbors)
    P = conditional_affinities(neighbors, neighbors_needed(len(neighbors.index), PERPLEXITY)[1])
    # 32-bit indices save a third of the memory.
    P.indices, P.indptr = P.indices.astype(np.int32), P.indptr.astype(np.int32)
    return P


def _joint_distribution(graph: JointGraph, params: Mapping[str, Any]) -> Sparse | None:
    """Return the joint distribution of MR-SNE with the balance of the recipe."""
    exponent = balance_exponent(params.get("balance", "auto"), graph.sizes)
    joint = joint_affinities(graph, Balance(exponent))
    return None if joint is None else joint.P


def _fuzzy_graph_of(graph: JointGraph, strength: float) -> Sparse:
    scale = sp.diags_array(np.repeat(np.sqrt(graph.weights), graph.sizes))
    union = fuzzy_union(graph.near(), (scale @ graph.positive @ scale) * min(strength, 1.0))
    union = sp.csr_array(union - union.multiply(graph.negative > 0))
    union.eliminate_zeros()
    return union


def _store_for_placement(plan: Plan, t: int, X: Array, Y: Floats, seed: int) -> None:
    """Store the refined rows that place other rows, with contiguous cells."""
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    cells = NeighborCells.around_sample(X[placed], seed)
    order = placed[np.concatenate(cells.members)]
    ends = np.cumsum([0, *map(len, cells.members)])
    arrays = {"features": X[order], "places": Y[order], "ends": ends, "centres": cells.centres}
    for name, array in arrays.items():
        steps.store_array(plan, f"by-{t}-{name}", array)


def _median_move(before: Floats, after: Floats, seed: int) -> float:
    rng = np.random.default_rng([seed, 3])
    placed = np.flatnonzero(np.isfinite(before).all(axis=1))
    a, b = rng.choice(placed, (2, 2_000))
    usual = float(np.median(np.sqrt(((before[a] - before[b]) ** 2).sum(axis=1)))) or 1.0
    moves = np.sqrt(((after[placed] - before[placed]) ** 2).sum(axis=1))
    return float(np.median(moves)) / usual
