"""Uploaded tables mapped by the app, against plain umap-learn on the largest table.

What nothing speaks against is joined and rows that only name others are taken as proposed, as at
the app's door. A fifth of the links is held out, one split: the first map is chosen and made
without them, umap-learn sees the features of the largest table alone, as it does, and what these
are linked with lies at the mean of them. Where the app would offer another map for its truer
neighbours, that stands beside. Both are judged by the held-out links, and by how true the
neighbours of the largest table are. The samples are taken apart into CSV files. ``--data FOLDER``
holds ``linked/baseball`` (Lahman's tables).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import hetviz
from benchmarks.harness import report
from benchmarks.keys import taken_apart
from hetviz.data import Embedding, HeteroData
from hetviz.data.joins.proposals import propose_joins
from hetviz.features.table_joins import detail_tables, join_tables
from hetviz.io import read_tables
from hetviz.metrics.fit.summary import evaluate
from hetviz.runs.first_map import first_map

DATA = "may"
_STEPS = 3


def joined(files: Mapping[str, bytes]) -> HeteroData:
    """Return files as they are mapped when nothing is unticked."""
    data = read_tables(list(files.items())).data
    joins = [entry.join for entry in propose_joins(data) if entry.sure]
    taken = {lines.dataset: lines.take for lines in detail_tables(data, joins)}
    return join_tables(
        data, joins, {name: method for name, method in taken.items() if method != "items"}
    )


def beside_umap_learn(files: Mapping[str, bytes], random_state: int = 0) -> list[dict[str, Any]]:
    """Return the figures of the first map of some files, and of umap-learn."""
    data = joined(files)
    seen, hidden = data.holdout(0.2, random_state=random_state)
    largest = max(
        (name for name, part in data.datasets.items() if not part.is_featureless),
        key=lambda name: len(data[name]),
    )
    alone = HeteroData([data[largest]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = first_map(seen, random_state=random_state)
        plain = hetviz.embed(alone, "umap", engine="umap-learn", random_state=random_state)
        maps = [(f"hetviz, {first.title}", first.embedding)]
        best = (first.figures or {}).get("best_neighbours")
        if best is not None and best["offered"]:
            # The app's other proposals for the first map.
            other = hetviz.embed(seen, best["method"], random_state=random_state, **best["params"])
            maps.append((f"hetviz, offered beside it: {best['title']}", other))
    maps.append(("umap-learn", _among(seen, plain)))
    result = []
    for title, embedding in maps:
        scores = evaluate(seen, embedding, hidden).to_dict()
        own_values = replace(
            plain,
            coordinates={largest: embedding.coordinates[largest]},
            placed={largest: embedding.placed[largest]},
        )
        result.append(
            {
                "map": title,
                "items": data.n_rows,
                "links": sum(map(len, data.links)),
                "held AUC": scores.get("link_auc_held_out"),
                "held kept": scores.get("links_kept_held_out"),
                f"trust of {largest}": evaluate(alone, own_values).to_dict()["trustworthiness"],
            }
        )
    return result


def _among(data: HeteroData, plain: Embedding) -> Embedding:
    """Return a map of one table with what it is linked with at the mean of that, step by step."""
    Y = np.full((data.n_rows, 2), np.nan)
    for name, places in plain.coordinates.items():
        Y[data.offsets[name]] = places
    W = sp.csr_array(data.adjacency("+"))
    for _ in range(_STEPS):
        expected = np.isfinite(Y).all(axis=1)
        weight = W @ expected.astype(float)
        new = ~expected & (weight > 0)
        Y[new] = (W @ np.where(expected[:, None], Y, 0.0))[new] / weight[new, None]
    return Embedding(
        {name: Y[span] for name, span in data.offsets.items()},
        {name: part.ids for name, part in data.datasets.items()},
        {name: part.entity for name, part in data.datasets.items()},
    )


def run(out: Path, quick: bool, data: Path | None = None) -> None:
    """Map all sets."""
    sets = {name: taken_apart(name)[0] for name in ("emoji", "world", "digits", "debian")}
    if data is not None:
        folder = data / "linked" / "baseball"
        sets["baseball"] = {path.stem: path.read_bytes() for path in folder.glob("*.csv")}
    for name, files in list(sets.items())[: 1 if quick else None]:
        named = {f"{stem}.csv": content for stem, content in sorted(files.items())}
        report(f"dropped_{name}", beside_umap_learn(named), out, f"{name}, one split")
