"""Every measure that applies to a map, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from hetviz.data import Embedding, HeteroData
from hetviz.metrics.guidance import BlockScore, block_scores, comparisons_kept, pooled
from hetviz.metrics.neighborhood import neighborhoods

_COLUMNS = [
    "source",
    "target",
    "sign",
    "n_links",
    "n_unplaced",
    "area",
    "auc",
    "standard_error",
]


@dataclass(frozen=True, eq=False)
class Scores:
    """Measures of one map.

    Attributes
    ----------
    values : mapping of str to float
        Only what applies; see `evaluate`.
    standard_errors : mapping of str to float
        Of the values that were sampled.
    blocks : DataFrame
        One row per pair of datasets and sign: source, target, sign, held_out, n_links,
        n_unplaced, area, auc, standard_error.
    """

    values: Mapping[str, float]
    standard_errors: Mapping[str, float]
    blocks: pd.DataFrame

    def to_dict(self) -> dict[str, float]:
        """Return the values by name; what does not apply is absent."""
        return dict(self.values)


def evaluate(
    data: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None = None,
    random_state: int = 0,
) -> Scores:
    """Measure a map against what is known.

    Parameters
    ----------
    data : HeteroData
        What the map was made from.
    embedding : Embedding
        Rows are matched by dataset and id.
    held_out : HeteroData, optional
        What the map was not shown: `HeteroData.holdout`.
    random_state : int
        Seeds what is sampled.

    Returns
    -------
    Scores
        With, where they apply:

        guidance_area
            Area under the satisfaction curve of links that say together: 1 is best, 0.5 chance;
            the mean over blocks of datasets, weighted by links.
        negative_guidance_area
            The same for links that say apart.
        link_auc
            Chance that a linked pair lies closer than a pair that is not linked.
        comparison_accuracy
            Share of comparisons that the map agrees with.
        trustworthiness, continuity
            Of the 10 nearest neighbours, mean over datasets with features, weighted by rows.

        The first four also with the ending ``_held_out``.

    Notes
    -----
    Exact to 20,000,000 pairs per block and 2,500 rows per dataset, sampled above with a
    standard error. Memory stays bounded: no n x n matrix.
    """
    values: dict[str, float] = {}
    errors: dict[str, float] = {}
    tables = []
    for part, ending in ((data, ""), (held_out, "_held_out")):
        if part is None:
            continue
        blocks = block_scores(part, embedding, random_state)
        tables.append(_table(blocks, bool(ending)))
        measured = {
            "guidance_area": pooled(blocks, "area", 1),
            "negative_guidance_area": pooled(blocks, "area", -1),
            "link_auc": pooled(blocks, "auc", 1),
            "comparison_accuracy": comparisons_kept(part, embedding),
        }
        values |= {name + ending: value for name, value in measured.items() if value is not None}
        worst = float(max((block.standard_error for block in blocks), default=0.0))
        if worst:
            errors |= {
                name + ending: worst
                for name in ("guidance_area", "negative_guidance_area", "link_auc")
                if name + ending in values
            }
    kept = neighborhoods(data, embedding, random_state=random_state)
    if kept:
        weights = np.array([len(data[name]) for name in kept], dtype=np.float64)
        weights /= weights.sum()
        for measure in ("trustworthiness", "continuity"):
            each = np.array([getattr(part, measure) for part in kept.values()])
            error = np.array([getattr(part, f"{measure}_error") for part in kept.values()])
            values[measure] = float(weights @ each)
            if error.any():
                errors[measure] = float(np.sqrt(((weights * error) ** 2).sum()))
    return Scores(
        MappingProxyType(values), MappingProxyType(errors), pd.concat(tables, ignore_index=True)
    )


def _table(blocks: list[BlockScore], held_out: bool) -> pd.DataFrame:
    rows = [[getattr(block, column) for column in _COLUMNS] for block in blocks]
    table = pd.DataFrame(rows, columns=_COLUMNS)
    table.insert(3, "held_out", held_out)
    return table
