"""Satisfaction curves of a map, one for each kind of guidance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetviz._types import Floats
from hetviz.core.measures.satisfaction import satisfaction_curve
from hetviz.core.ordinal.comparisons import comparison_curve
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.guidance import BlockScore, weighted_mean
from hetviz.metrics.fit.measured_map import MeasuredMap

_SATISFIED = "share_satisfied"
Curves = dict[str, dict[str, list[list[float]]]]

# Evenly spaced on the logarithmic axis of the plot.
_SHARES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 121)])
_LENGTH_RATIOS = np.linspace(0.0, 1.0, 101)


@one_thread()
def curves(
    data: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None = None,
    random_state: int = 0,
) -> Curves:
    """Return the satisfaction curves of a map, one for each kind of guidance.

    Returns points (x, y) by kind, JSON-ready, without empty entries. "links": the share y of the
    positive links of all blocks among the closest x of all pairs of their block; chance level x.
    "apart": the share y of the negative links not among these; chance level 1 - x. These have a
    third entry: chance level and value of the share of links that are (or are not) close, as
    ``links_kept`` of `evaluate`. ``<source>|<target>``: as "links", for one pair of datasets.
    "comparisons": the share y whose near pair is at most x times as long as its far pair. At x = 1
    it is the share that the map agrees with, with chance level 0.5.
    """
    return curves_of_map(MeasuredMap(data, embedding, held_out, random_state))


def curves_of_map(measured: MeasuredMap) -> Curves:
    """Return the `curves` of a measured map."""
    curves_by_kind: Curves = {}
    parts = zip(("given", "held_out"), measured.blocks, strict=True)
    for part, blocks in parts:
        for kind, (sign, chosen) in _blocks_by_kind(blocks).items():
            F = np.concatenate([block.F for block in chosen])
            if np.isfinite(F).any():
                y = satisfaction_curve(F, sign, at=_SHARES)[1]
                points = _rounded_points(_SHARES, y)
                levels = [weighted_mean(chosen, name, sign) for name in ("chance", _SATISFIED)]
                points.append([round(level or 0.0, 6) for level in levels])
                curves_by_kind.setdefault(kind, {})[part] = points
    comparison_parts = (
        ("given", measured.data, measured.places),
        ("held_out", measured.held_out, measured.held_out_places),
    )
    for part, data, Y in comparison_parts:
        if data is None or data.comparisons is None:
            continue
        y = comparison_curve(np.vstack(list(Y.values())), data.comparisons.objects, _LENGTH_RATIOS)
        if np.isfinite(y).all():
            curves_by_kind.setdefault("comparisons", {})[part] = _rounded_points(_LENGTH_RATIOS, y)
    return curves_by_kind


def _blocks_by_kind(blocks: list[BlockScore]) -> Mapping[str, tuple[int, list[BlockScore]]]:
    kinds: dict[str, tuple[int, list[BlockScore]]] = {}
    for sign, name in ((1, "links"), (-1, "apart")):
        chosen = [block for block in blocks if block.sign == sign]
        if chosen:
            kinds[name] = (sign, chosen)
    for block in blocks:
        if block.sign > 0:
            kinds[f"{block.source}|{block.target}"] = (1, [block])
    return kinds


def _rounded_points(x: Floats, y: Floats) -> list[list[float]]:
    return [np.round(x, 6).tolist(), np.round(y, 6).tolist()]
