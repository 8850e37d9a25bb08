"""Evidence of statements about one item and its neighbours, and about neighbours of all items."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hetviz._text import count, round_percent
from hetviz._types import Floats, Ints
from hetviz.core.graph.distances import CrossSpace
from hetviz.core.layout.spread import stands_out
from hetviz.core.measures.neighborhoods import count_near
from hetviz.core.measures.ranking import label_agreement
from hetviz.data import Embedding, HeteroData
from hetviz.errors import DataError, Problem
from hetviz.metrics.fit.clustering import label_codes
from hetviz.metrics.fit.nearest import NearestItems, nearest
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.metrics.trust.alike import AlikeItems, most_alike
from hetviz.metrics.trust.consequences import MOVED_THRESHOLD
from hetviz.metrics.trust.neighborhoods import NEAR, Neighborhoods
from hetviz.runs.evidence.evidence import Evidence, item_table, same_dataset
from hetviz.runs.place.reasons import FEATURE, Why

_N_NEIGHBORS, _N_LABEL_NEIGHBORS = 10, 5
_MAX_ROWS = 20_000
"""Largest number of items whose neighbours are compared."""


def title_of(data: HeteroData, row: int) -> str:
    """Return the display name of a global row."""
    return str(item_table(data, np.array([row]), {})["title"].iloc[0])


def item_link_evidence(data: HeteroData, row: int, dataset: str, items: NearestItems) -> Evidence:
    """Return the items of a dataset that an item is linked with, the nearest first."""
    met = items.is_satisfied()
    has_apart = bool((items.weight < 0).any())
    verdict = "as linked" if has_apart else "close"
    table = item_table(
        data,
        items.ends,
        {f"closer {dataset}": items.n_closer, "weight": items.weight, verdict: met},
    )
    rule = f"A link is close if fewer than {items.n_close:,} {dataset} are closer to the item."
    if has_apart:
        rule += " A link apart is as linked if it is not close."
    share = items.n_close / max(items.n_others, 1)
    return Evidence(
        f"{int(met.sum()):,} of {count(len(items.ends), 'link')} of “{title_of(data, row)}” with "
        f"{dataset} {'is' if met.sum() == 1 else 'are'} {verdict}.",
        rule,
        f"{count(len(items.ends), 'link')}, ranked among {items.n_others:,} {dataset}.",
        f"By chance {round_percent(share)} of the {dataset} would be that close.",
        table,
        items.ends,
    )


def nearest_evidence(data: HeteroData, m: Embedding, row: int, dataset: str) -> Evidence:
    """Return all items of a dataset by their distance from an item on the map."""
    span = data.offsets[dataset]
    items = nearest(data, m, row, span.stop - span.start).get(dataset)
    if items is None:
        raise DataError(Problem("no-place", dataset, "has no other item with a position", str(row)))
    places = coordinates_of(data, m)
    own_name, own_span = same_dataset(data, row)
    place = places[own_name][row - own_span.start]
    distance = np.linalg.norm(places[dataset][items.rows - span.start] - place, axis=1)
    alike = AlikeItems(data)
    scores = alike.scores(own_name, row - own_span.start)
    is_own = dataset == own_name
    related = scores.supported() if is_own else alike.supported_across(scores)[span]
    table = item_table(
        data,
        items.rows,
        {
            "rank": np.arange(1, len(items.rows) + 1),
            "distance": np.round(distance, 4),
            "linked": items.linked,
            "supported by the data" if is_own else "related": related[items.rows - span.start],
        },
    )
    n_linked = int(items.linked[:_N_NEIGHBORS].sum())
    return Evidence(
        f"The nearest {dataset} of “{title_of(data, row)}” on the map, of which {n_linked:,} of "
        f"the first {min(_N_NEIGHBORS, len(items.rows)):,} "
        f"{'is' if n_linked == 1 else 'are'} linked with it.",
        f"Sorted by the distance on the map. {_SUPPORT_RULE if is_own else _RELATED_RULE}",
        f"{items.n_others:,} {dataset} with a position, {items.n_links:,} of them linked.",
        f"Of {_N_NEIGHBORS} random {dataset}, "
        f"{_N_NEIGHBORS * items.n_links / max(items.n_others, 1):.1f} would be linked.",
        table,
        items.rows,
    )


_SUPPORT_RULE = (
    "The data support a neighbour that is linked, or clearly more alike than a typical item by "
    "links or by features."
)
_RELATED_RULE = (
    "An item is related if it is linked with it or with an item like it, or if both share a linked "
    "item. Items without links count as related."
)
_ALIKE_RULES = {
    "links": "Cosine of the signed link weights: 1 with the same links, 0 with no common link.",
    "features": "Similarity by features, from 0 to 1. An item at half the median distance has .61.",
    "map": f"Sorted by the distance on the map. {_SUPPORT_RULE}",
}


def alike_evidence(data: HeteroData, m: Embedding, row: int, by: str) -> Evidence:
    """Return the items of the same dataset that are most alike to an item."""
    name, span = same_dataset(data, row)
    n_others = span.stop - span.start - 1
    id = str(data[name].ids[row - span.start])
    found = most_alike(data, id, by, max(n_others, 1), name, embedding=m)
    rows = data[name].find(found["id"]) + span.start
    n_supported = int(found["supported"][:_N_NEIGHBORS].sum())
    n_first = min(_N_NEIGHBORS, len(found))
    if by == "features" and len(found):
        share = AlikeItems(data).share_less_alike(name, found["score"].to_numpy())
        found.insert(4, "less alike random pairs, %", np.round(100 * share, 2))
    start = {"map": "nearest on the map", "links": "most alike by links"}.get(
        by, "most alike by features"
    )
    return Evidence(
        f"The {name} {start} to “{title_of(data, row)}”. The data support {n_supported:,} of the "
        f"first {n_first:,}.",
        _ALIKE_RULES[by],
        f"{len(found):,} of {n_others:,} other {name} have a score above 0."
        if by != "map"
        else f"{n_others:,} other {name}.",
        f"The median score is {_score_text(float(found['score'].median()))}."
        if len(found) and by != "map"
        else "",
        found.rename(columns={"closer": "closer on the map"}),
        rows,
    )


def _score_text(score: float) -> str:
    return f"{score:.3f}" if score >= 0.0005 else "below 0.001"


def item_trust_evidence(data: HeteroData, m: Embedding, row: int) -> Evidence:
    """Return the nearest items of an item on the map and in the data, with both ranks."""
    name, span = same_dataset(data, row)
    found = Neighborhoods(data, m, _N_NEIGHBORS, 0, [row])
    space, placed = found.spaces[name], found.placed[name]
    local = row - span.start
    others = placed[placed != local]
    if space is None or local not in placed or not len(others):
        raise DataError(
            Problem(
                "no-features",
                name,
                "similarity needs features of the item and a position on the map",
                title_of(data, row),
            )
        )
    Y = found.places[name]
    on_map = CrossSpace(Y, Y).between(np.array([local]), others)[0]
    in_data = space.between(np.array([local]), others)[0]
    n_near = count_near(len(others), NEAR, _N_NEIGHBORS)
    k = min(_N_NEIGHBORS, len(others) // 2)
    map_rank, data_rank = _ranks(on_map), _ranks(in_data)
    is_false = (map_rank <= k) & (in_data > np.partition(in_data, n_near - 1)[n_near - 1])
    is_missing = (data_rank <= k) & (on_map > np.partition(on_map, n_near - 1)[n_near - 1])
    listed = np.flatnonzero((map_rank <= k) | (data_rank <= k))
    listed = listed[np.argsort(map_rank[listed], kind="stable")]
    problem = np.where(
        is_false, "not similar in the data", np.where(is_missing, "similar but far away", "")
    )
    rows = others[listed] + span.start
    table = item_table(
        data,
        rows,
        {
            "rank on the map": map_rank[listed],
            "rank in the data": data_rank[listed],
            "problem": problem[listed],
        },
    )
    n_false, n_missing = int(is_false.sum()), int(is_missing.sum())
    return Evidence(
        f"Of the {k:,} neighbours of “{title_of(data, row)}”, {n_false:,} "
        f"{'is' if n_false == 1 else 'are'} not similar in the data. Of its {k:,} most similar "
        f"{name}, {n_missing:,} {'is' if n_missing == 1 else 'are'} far away.",
        f"Similar means among the {n_near:,} nearest by features, close means among the "
        f"{n_near:,} nearest on the map, which is {round_percent(NEAR)} of the {name} or at least "
        f"{_N_NEIGHBORS}.",
        f"{len(others):,} other {name}.",
        f"Of {k:,} random {name}, {k * (1 - n_near / len(others)):.1f} would not be similar.",
        table,
        rows,
    )


def _ranks(distances: Floats) -> Ints:
    ranks = np.empty(len(distances), dtype=np.int64)
    ranks[np.argsort(distances, kind="stable")] = np.arange(1, len(distances) + 1)
    return ranks


def trust_evidence(data: HeteroData, m: Embedding) -> Evidence:
    """Return items with their false and missing neighbours, the worst first."""
    sampled = np.arange(data.n_rows)
    if len(sampled) > _MAX_ROWS:
        sampled = np.sort(np.random.default_rng(0).choice(sampled, _MAX_ROWS, replace=False))
    found = Neighborhoods(data, m, _N_NEIGHBORS, 0, sampled.tolist())
    n_not_similar, n_missing, of_within = found.own_dataset_errors()
    rows = np.flatnonzero(np.isfinite(of_within))
    rows = rows[np.argsort(-(n_not_similar + n_missing)[rows], kind="stable")]
    table = item_table(
        data,
        rows,
        {
            "neighbours not similar": n_not_similar[rows].astype(np.int64),
            "similar items far away": n_missing[rows].astype(np.int64),
            "of": of_within[rows].astype(np.int64),
        },
    )
    n_false, n_all = float(n_not_similar[rows].sum()), float(of_within[rows].sum())
    share = n_false / n_all if n_all else float("nan")
    return Evidence(
        f"{round_percent(share)} of the neighbours on the map are not similar in the data."
        if n_all
        else "No dataset has features to compare neighbours by.",
        f"Similar means among the {round_percent(NEAR)} of its dataset that are nearest by "
        f"features, or the nearest {_N_NEIGHBORS}. The measure “True neighbours” also counts how "
        "far down the false ones are.",
        f"{n_false:,.0f} of {n_all:,.0f} neighbours of {count(len(rows), 'item')}"
        + (", a sample." if len(sampled) < data.n_rows else "."),
        f"Of random neighbours {round_percent(1 - NEAR)} would not be similar, with few items "
        "fewer.",
        table,
        rows,
    )


def label_neighbor_evidence(data: HeteroData, m: Embedding) -> Evidence:
    """Return the labelled items and whether their neighbours have the same label. O(n log n)."""
    labels = label_codes(data)
    places = np.vstack(list(coordinates_of(data, m).values()))
    if labels is None:
        raise DataError(Problem("no-labels", "labels", "the data have no labels"))
    codes, names = labels
    rows = np.flatnonzero((codes >= 0) & np.isfinite(places).all(axis=1))
    same = label_agreement(places[rows], codes[rows], _N_LABEL_NEIGHBORS)
    order = np.argsort(same, kind="stable")
    rows, same = rows[order], same[order]
    top = np.bincount(codes[rows]).max() / len(rows)
    table = item_table(
        data,
        rows,
        {"label": [names[code] for code in codes[rows]], "neighbours have the same label": same},
    )
    return Evidence(
        f"{round_percent(float(same.mean()))} of the items have the label of most of their "
        f"{_N_LABEL_NEIGHBORS} nearest labelled items.",
        f"The most common label of the {_N_LABEL_NEIGHBORS} nearest labelled items on the map is "
        "compared with its own.",
        f"{int(same.sum()):,} of {count(len(rows), 'labelled item')}.",
        f"The most common label is that of {round_percent(top)} of the items.",
        table,
        rows,
    )


def unplaced_evidence(data: HeteroData, m: Embedding) -> Evidence:
    """Return the items without a position. O(rows)."""
    places = np.vstack(list(coordinates_of(data, m).values()))
    rows = np.flatnonzero(~np.isfinite(places).all(axis=1))
    degree = np.diff(data.adjacency().indptr)[rows]
    return Evidence(
        f"{count(len(rows), 'item')} {'has' if len(rows) == 1 else 'have'} no position on the map.",
        "An item gets a position from features or links.",
        f"{len(rows):,} of {count(data.n_rows, 'item')}.",
        "",
        item_table(data, rows, {"links": degree}),
        rows,
    )


def unlinked_evidence(data: HeteroData, dataset: str | None = None) -> Evidence:
    """Return the items without links, of all datasets or one. O(links)."""
    rows = np.flatnonzero(np.diff(data.adjacency().indptr) == 0)
    n_items = data.n_rows
    if dataset is not None:
        span = data.offsets[dataset]
        rows, n_items = rows[(rows >= span.start) & (rows < span.stop)], span.stop - span.start
    return Evidence(
        f"{count(len(rows), 'item')} {'has' if len(rows) == 1 else 'have'} no link.",
        "An item has a link if it stands in any table of links.",
        f"{len(rows):,} of {n_items:,} {dataset or 'items'}.",
        "",
        item_table(data, rows, {}),
        rows,
    )


def moved_evidence(data: HeteroData, shift: Floats) -> Evidence:
    """Return the items by how far they moved from the earlier map."""
    rows = np.flatnonzero(np.isfinite(shift))
    rows = rows[np.argsort(-shift[rows], kind="stable")]
    half = round_percent(float(np.median(shift[rows])), 1) if len(rows) else "0 %"
    has_moved = shift[rows] >= MOVED_THRESHOLD
    is_clear = has_moved & stands_out(shift)[rows]
    return Evidence(
        f"{int(has_moved.sum()):,} of {count(len(rows), 'item')} moved, {int(is_clear.sum()):,} "
        f"clearly more than the others. Half moved less than {half} of the width of the map.",
        "Distance between the positions on both maps, after turning and scaling the new map to "
        f"fit the earlier one. From {round_percent(MOVED_THRESHOLD)} of the width of the map an "
        "item counts as moved.",
        f"{count(len(rows), 'item')} that both maps show.",
        "",
        item_table(
            data,
            rows,
            {
                "moved, % of the width": np.round(100 * shift[rows], 2),
                "counts as moved": has_moved,
                "clearly more than others": is_clear,
            },
        ),
        rows,
    )


_PART_TEXTS = {
    "holds": "holds it here",
    "features": "column that makes it similar",
    "elsewhere": "pulls it elsewhere",
    "would_move": "would move it if absent",
}


def why_evidence(data: HeteroData, why: Why) -> Evidence:
    """Return the reasons for the position of an item, by kind, the largest share first."""
    frame = why.frame()
    table = pd.DataFrame({"reason": frame["part"].map(_PART_TEXTS)})
    for name in ("kind", "dataset", "id", "title"):
        table[name] = frame[name]
    for name, text in (("share", "share"), ("moves", "would move"), ("distance", "distance")):
        table[f"{text}, %"] = np.round(100.0 * frame[name].to_numpy(dtype=float), 2)
    table["cause"] = frame["by"]
    is_item = (frame["kind"] != FEATURE).to_numpy()
    rows = [
        data.offsets[dataset].start + data[dataset].position(id)
        for dataset, id in frame.loc[is_item, ["dataset", "id"]].itertuples(index=False)
    ]
    return Evidence(
        f"“{why.title}”: {why.sentence}",
        f"{why.how} What it would move and distances are relative to the width of the map.",
        f"The {len(table):,} largest reasons of {why.title}, by {why.method}.",
        "",
        table.dropna(axis=1, how="all"),
        np.unique(np.asarray(rows, dtype=np.int64)),
    )
