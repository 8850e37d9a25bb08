"""Evidence of measures: the items, links, groups or datasets that each was computed from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from hetviz._text import count, round_percent
from hetviz._types import Floats, Ints
from hetviz.errors import DataError, Problem
from hetviz.metrics.fit.clustering import (
    cluster_map,
    cluster_measures,
    label_codes,
    variance_by_dataset,
    variance_ratio,
)
from hetviz.metrics.fit.measured_map import MeasuredMap, cross_dataset_links
from hetviz.metrics.fit.ranking import (
    NEIGHBOR_COUNTS,
    NeighborHits,
    labels_across_rows,
    linked_hits,
    rank_linked,
    shared_hits,
    tag_gains,
)
from hetviz.metrics.fit.rows import has_same_rows
from hetviz.metrics.measure_names import HELD_OUT, measure_text
from hetviz.runs.evidence.evidence import Evidence, item_table, pair_table


def measure_evidence(measured: MeasuredMap, key: str) -> Evidence:
    """Return what a measure without a subject of its own was computed from."""
    base, is_hidden = key.removesuffix(HELD_OUT), key.endswith(HELD_OUT)
    name, _, k = base.partition("@")
    if name in _NEIGHBOR_HITS:
        return _neighbor_evidence(measured, base, int(k))
    return _FINDERS[name](measured, key, is_hidden)


def _statement(key: str, value: float) -> str:
    text = measure_text(key)
    assert text is not None  # noqa: S101 - only measures with a text have evidence
    return f"{text.name}: {round_percent(value) if text.percent else f'{value:.2f}'}."


def _meaning(key: str) -> str:
    text = measure_text(key)
    return "" if text is None else text.meaning


def _nothing(key: str) -> DataError:
    text = measure_text(key)
    return DataError(
        Problem("no-rows", key if text is None else text.name, "nothing on this map to measure")
    )


def _groups(measured: MeasuredMap, key: str, is_hidden: bool) -> Evidence:
    """Return links with the groups of both ends, those that do not fit first."""
    clusters = cluster_map(measured)
    data = measured.held_out if is_hidden and measured.held_out is not None else measured.data
    if clusters is None:
        raise _nothing(key)
    code = clusters.code
    if is_hidden:
        code = clusters.nearest_cluster(np.vstack(list(measured.held_out_places.values())))
    table = data.link_table()
    p, q = (table[end].to_numpy(np.int64) for end in ("p", "q"))
    weight = table["weight"].to_numpy(np.float64)
    counted = np.flatnonzero((code[p] >= 0) & (code[q] >= 0) & (weight != 0))
    if not len(counted):
        raise _nothing(key)
    fits = (code[p] == code[q])[counted] == (weight > 0)[counted]
    counted = counted[np.argsort(fits, kind="stable")]
    sizes = np.bincount(code[code >= 0])
    same = float((sizes.astype(float) ** 2).sum() / sizes.sum() ** 2)
    positive = float((weight[counted] > 0).mean())
    chance = positive * same + (1.0 - positive) * (1.0 - same)
    return Evidence(
        _statement(key, float(fits.mean())),
        f"{_meaning(key)} Groups are found by k-means, with as many groups as the first label has "
        "classes, else 10.",
        f"{int(fits.sum()):,} of {count(len(fits), 'link')}, {len(sizes):,} groups of "
        f"{int(sizes.min()):,} to {int(sizes.max()):,} items.",
        f"With random groups of these sizes {round_percent(chance)} would fit.",
        pair_table(
            data,
            p[counted],
            q[counted],
            {
                "weight": weight[counted],
                "group": code[p[counted]] + 1,
                "linked group": code[q[counted]] + 1,
                "fits": np.sort(fits, kind="stable"),
            },
        ),
        np.unique(np.r_[p[counted], q[counted]]),
    )


def _pairs_of_groups(measured: MeasuredMap, key: str, is_hidden: bool) -> Evidence:
    """Return the number of pairs of each group, for each pair of linked datasets."""
    clusters, value = cluster_map(measured), cluster_measures(measured).get(key)
    if clusters is None or value is None:
        raise _nothing(key)
    offsets, k = measured.data.offsets, len(clusters.centres)
    rows = []
    for (source, target), W in cross_dataset_links(measured.data).items():
        if offsets[source].start > offsets[target].start:
            continue
        codes = [clusters.code[offsets[name]] for name in (source, target)]
        sizes = [np.bincount(code[code >= 0], minlength=k) for code in codes]
        pairs = W.tocoo()
        first, second = codes[0][pairs.row], codes[1][pairs.col]
        together = np.bincount(first[(first >= 0) & (first == second)], minlength=k)
        leaving = np.bincount(first[(first >= 0) & (second >= 0) & (first != second)], minlength=k)
        for group in range(k):
            rows.append(
                {
                    "dataset": source,
                    "linked dataset": target,
                    "group": group + 1,
                    "items": int(sizes[0][group]),
                    "linked items": int(sizes[1][group]),
                    "linked pairs inside": int(together[group]),
                    "unlinked pairs inside": int(
                        sizes[0][group] * sizes[1][group] - together[group]
                    ),
                    "linked pairs to other groups": int(leaving[group]),
                }
            )
    table = pd.DataFrame(rows)
    wrong = int(table[["unlinked pairs inside", "linked pairs to other groups"]].to_numpy().sum())
    n_all = round(wrong / (1 - value[0])) if value[0] < 1 else 0
    return Evidence(
        _statement(key, value[0]),
        f"{_meaning(key)} Wrong are the pairs inside a group without a link, and linked pairs to "
        "other groups.",
        f"{wrong:,} wrong pairs" + (f" of {n_all:,}." if n_all else "."),
        "",
        table,
    )


def _labels_of_groups(measured: MeasuredMap, key: str, is_hidden: bool) -> Evidence:
    clusters, labels = cluster_map(measured), label_codes(measured.data)
    value = cluster_measures(measured).get(key)
    if clusters is None or labels is None or value is None:
        raise _nothing(key)
    codes, classes = labels
    both = np.flatnonzero((codes >= 0) & measured.placed)
    table = pd.DataFrame(
        {"group": clusters.code[both] + 1, "label": [classes[c] for c in codes[both]]}
    )
    table = table.value_counts(["group", "label"]).rename("items").reset_index()
    table = table.sort_values(["group", "items"], ascending=[True, False], kind="stable")
    table["share of the group, %"] = (
        100 * table["items"] / table.groupby("group")["items"].transform("sum")
    ).round(1)
    return Evidence(
        _statement(key, value[0]),
        f"{_meaning(key)} Their mutual information, divided by the mean of their entropies.",
        f"{count(len(both), 'item')} with a label and a position, {len(classes):,} classes.",
        "By chance it would be near 0, with many small groups more.",
        table.reset_index(drop=True),
        both,
    )


def _linked_first(measured: MeasuredMap, key: str, is_hidden: bool) -> Evidence:
    """Return the links with the rank of the linked item, the worst first."""
    ranked = rank_linked(measured)
    if ranked is None or not np.isfinite(ranked.auc):
        raise _nothing(key)
    order = np.argsort(-ranked.rank, kind="stable")
    p, q = ranked.pairs[order].T
    return Evidence(
        _statement(key, ranked.auc),
        _meaning(key),
        f"{len(p):,} linked items of {_sampled(ranked.n_queries, ranked.n_all)}, each ranked among "
        f"{ranked.n_others:,} others.",
        "By chance it would be 0.5.",
        pair_table(measured.data, p, q, {"rank of the linked item": ranked.rank[order]}),
        np.unique(ranked.pairs),
    )


def _tags(measured: MeasuredMap, key: str, is_hidden: bool) -> Evidence:
    """Return the items with the gain of their nearest tags, the lowest first."""
    data = measured.held_out if is_hidden and measured.held_out is not None else measured.data
    found = list(tag_gains(measured, is_hidden))
    if not found:
        raise _nothing(key)
    mean = [
        _weighted([(getattr(one, part), one.n_all) for one in found])
        for part in ("mapped", "guessed")
    ]
    is_guess = key.startswith("ndcg_guess")
    rows = np.concatenate([data.offsets[one.source].start + one.rows for one in found])
    columns = {
        "tags are": np.repeat([one.target for one in found], [len(one.rows) for one in found]),
        "tags": np.concatenate([one.n_tags for one in found]),
        "gain": np.concatenate([one.mapped for one in found]).round(3),
        "gain of the guess": np.concatenate([one.guessed for one in found]).round(3),
    }
    table = item_table(data, rows, columns)
    order = np.argsort(table["gain of the guess" if is_guess else "gain"], kind="stable")
    other = f"With the most frequent tags it would be {mean[1]:.2f}, without using the map."
    return Evidence(
        _statement(key, mean[1 if is_guess else 0]),
        f"{_meaning(key)} The gain of an item counts its own tags among as many nearest tags as it "
        "has, those in front more.",
        _sampled(len(rows), sum(one.n_all for one in found)) + " with tags.",
        "" if is_guess else other,
        table.iloc[order].reset_index(drop=True),
        rows[order] if has_same_rows(measured.data, data) else np.zeros(0, dtype=np.int64),
    )


def _spread_of_datasets(measured: MeasuredMap, key: str, is_hidden: bool) -> Evidence:
    """Return the variance of the positions of each dataset and of all."""
    value = variance_ratio(measured).get(key)
    if value is None:
        raise _nothing(key)
    spreads = variance_by_dataset({**measured.places, "all datasets": measured.stacked})
    whole = spreads["all datasets"]
    table = pd.DataFrame(
        {
            "dataset": list(spreads),
            "variance": list(spreads.values()),
            "of that of all": [spread / whole for spread in spreads.values()],
        }
    )
    return Evidence(
        _statement(key, value[0]),
        _meaning(key),
        f"{count(int(measured.placed.sum()), 'item')} with a position.",
        "If the datasets were mixed at random it would be near 1.",
        table,
    )


def _labels_across(measured: MeasuredMap, key: str, is_hidden: bool) -> Evidence:
    """Return the items with their label and that of their neighbours, the wrong ones first."""
    found = labels_across_rows(measured)
    if found is None:
        raise _nothing(key)
    same = (found["label"] == found["neighbours"]).to_numpy()
    order = np.argsort(same, kind="stable")
    rows = found["row"].to_numpy()[order]
    columns = {
        "label": found["label"].to_numpy()[order],
        "label of the neighbours": found["neighbours"].to_numpy()[order],
        "same": same[order],
    }
    top = found["label"].value_counts(normalize=True)
    return Evidence(
        _statement(key, float(same.mean())),
        _meaning(key),
        f"{int(same.sum()):,} of {count(len(rows), 'item')}.",
        f"The most common label, {top.index[0]}, is that of {round_percent(float(top.iloc[0]))}.",
        item_table(measured.data, rows, columns),
        rows,
    )


_FINDERS: dict[str, Callable[[MeasuredMap, str, bool], Evidence]] = {
    "rand_index": _groups,
    "rand_index_pairs": _pairs_of_groups,
    "nmi": _labels_of_groups,
    "graph_auc": _linked_first,
    "ndcg": _tags,
    "ndcg_guess": _tags,
    "variance_ratio": _spread_of_datasets,
    "label_across_accuracy": _labels_across,
}
_NEIGHBOR_HITS: dict[str, Callable[[MeasuredMap], list[NeighborHits]]] = {
    "metric_1": linked_hits,
    "metric_2": linked_hits,
    "metric_1_within": shared_hits,
    "metric_2_within": shared_hits,
}


def _neighbor_evidence(measured: MeasuredMap, key: str, k: int) -> Evidence:
    """Return the items with the number of linked items among their k nearest, the fewest first."""
    name = key.partition("@")[0]
    data, found = measured.data, _NEIGHBOR_HITS[name](measured)
    if not found:
        raise _nothing(key)
    is_share, is_within = name.startswith("metric_1"), name.endswith("within")
    n_hits = [one.hits[:, :k].sum(axis=1) for one in found]
    value = _weighted(
        [
            ((hits > 0 if is_share else hits).astype(float), one.n_all)
            for hits, one in zip(n_hits, found, strict=True)
        ]
    )
    rows = np.concatenate([data.offsets[one.source].start + one.rows for one in found])
    hits = np.concatenate(n_hits)
    word = "sharing a link" if is_within else "linked"
    columns = {"with": np.repeat([one.target for one in found], [len(one.rows) for one in found])}
    widest = max(one.hits.shape[1] for one in found)
    for size in sorted({k, *(n for n in NEIGHBOR_COUNTS if n <= widest)}):
        columns[f"{word} among {size:,} nearest"] = np.concatenate(
            [one.hits[:, :size].sum(axis=1) for one in found]
        )
    chance = ""
    if not is_within:
        random = [_by_chance(measured, one, k, is_share) for one in found]
        mean = _weighted([(part, one.n_all) for part, one in zip(random, found, strict=True)])
        chance = f"With {k:,} random items it would be " + (
            f"{round_percent(mean)}." if is_share else f"{mean:.2f}."
        )
        columns[f"by chance among {k:,}"] = np.concatenate(random).round(3)
    order = np.argsort(hits, kind="stable")
    return Evidence(
        _statement(key, value),
        _meaning(key),
        _sampled(len(rows), sum(one.n_all for one in found))
        + " with links, once for each linked dataset.",
        chance,
        item_table(data, rows, columns).iloc[order].reset_index(drop=True),
        np.unique(rows),
    )


def _by_chance(measured: MeasuredMap, one: NeighborHits, k: int, is_share: bool) -> Floats:
    """Return the expected value of each item if its nearest items were random ones."""
    is_placed = np.isfinite(measured.places[one.target]).all(axis=1)
    W = measured.cross_links[one.source, one.target][one.rows].astype(bool).astype(float)
    degree: Ints = np.asarray(W @ is_placed.astype(float)).astype(np.int64)
    n, drawn = int(is_placed.sum()), min(k, int(is_placed.sum()))
    if is_share:
        return np.asarray(1.0 - hypergeom.pmf(0, n, degree, drawn))
    return np.asarray(drawn * degree / n)


def _weighted(samples: list[tuple[Floats, int]]) -> float:
    total = sum(n for _, n in samples)
    return sum(n * float(values.mean()) for values, n in samples) / total


def _sampled(n: int, n_all: int) -> str:
    return count(n, "item") if n == n_all else f"a sample of {n:,} of {count(n_all, 'item')}"
