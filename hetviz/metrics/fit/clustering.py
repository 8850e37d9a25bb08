"""K-means clusters of a map, compared with links and labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData
from hetviz.metrics.fit.measured_map import MeasuredMap, MeasureValues

DEFAULT_N_CLUSTERS = 10
_MAX_FITTED_ROWS = 20_000
_N_STARTS = 10


@dataclass(frozen=True, eq=False)
class MapClusters:
    """Clusters of the rows of a map."""

    code: Ints
    centres: Floats

    def nearest_cluster(self, Y: Floats) -> Ints:
        """Return the cluster with the nearest centre for each row, -1 without a place."""
        code = np.full(len(Y), -1)
        is_placed = np.isfinite(Y).all(axis=1)
        D = ((Y[is_placed][:, None, :] - self.centres) ** 2).sum(axis=2)
        code[is_placed] = D.argmin(axis=1)
        return code


def cluster_map(measured: MeasuredMap) -> MapClusters | None:
    """Cluster the rows of a map by k-means with k classes of the first label, or k = 10."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    placed = np.flatnonzero(measured.placed)
    if not len(placed):
        return None
    labels = label_codes(measured.data)
    rng = np.random.default_rng(measured.random_state)
    sampled = placed
    if len(placed) > _MAX_FITTED_ROWS:
        sampled = np.sort(rng.choice(placed, _MAX_FITTED_ROWS, replace=False))
    Y = measured.stacked[sampled]
    k = min(DEFAULT_N_CLUSTERS if labels is None else len(labels[1]), len(np.unique(Y, axis=0)))
    with one_thread(), warnings.catch_warnings():
        # Points that differ only by rounding leave clusters empty, which does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(n_clusters=k, n_init=_N_STARTS, random_state=measured.random_state).fit(Y)
    clusters = MapClusters(np.zeros(0, np.int64), np.asarray(model.cluster_centers_))
    return MapClusters(clusters.nearest_cluster(measured.stacked), clusters.centres)


def label_codes(data: HeteroData) -> tuple[Ints, list[str]] | None:
    """Return the classes of the first label column, from all datasets with this column."""
    first = data.label()
    if first is None:
        return None
    values = np.full(data.n_rows, None, dtype=object)
    for column in data.labels:
        if column.name == first.name:
            values[data.offsets[column.dataset]] = column.values
    labelled_rows = np.flatnonzero([value is not None for value in values])
    present = values[labelled_rows]
    if any(isinstance(value, float) and not value.is_integer() for value in present):
        return None
    classes, code = np.unique([str(value) for value in present], return_inverse=True)
    if not 2 <= len(classes) <= max(len(labelled_rows) // 2, 2):
        return None
    codes = np.full(data.n_rows, -1)
    codes[labelled_rows] = code
    return codes, classes.tolist()


def cluster_measures(measured: MeasuredMap) -> MeasureValues:
    """Return rand_index, rand_index_pairs and nmi: k-means clusters against links and labels.

    rand_index is the share of links that agree with the clusters: positive links in one cluster,
    negative links in two. For held-out links, new items get the cluster with the nearest centre.
    rand_index_pairs uses all pairs of two linked datasets. nmi is the mutual information of
    clusters and classes, divided by the mean of their entropies.
    """
    clusters = cluster_map(measured)
    if clusters is None:
        return {}
    values: MeasureValues = {}
    shares = [("rand_index", rand_on_links(measured.data, clusters.code))]
    if (held_out := measured.held_out) is not None:
        code = clusters.nearest_cluster(np.vstack(list(measured.held_out_places.values())))
        shares.append(("rand_index_held_out", rand_on_links(held_out, code)))
    shares += [("rand_index_pairs", rand_on_pairs(measured, clusters.code))]
    values |= {name: (share, 0.0) for name, share in shares if share is not None}
    if (labels := label_codes(measured.data)) is not None:
        from sklearn.metrics import normalized_mutual_info_score

        both = (labels[0] >= 0) & measured.placed
        if both.any():
            nmi = normalized_mutual_info_score(labels[0][both], clusters.code[both])
            values["nmi"] = (float(nmi), 0.0)
    return values


def rand_on_links(data: HeteroData, code: Ints) -> float | None:
    """Return the share of links that agree with clusters. None without links in clusters."""
    table = data.link_table()
    p, q = (table[end].to_numpy(np.int64) for end in ("p", "q"))
    weight = table["weight"].to_numpy(np.float64)
    counted = (code[p] >= 0) & (code[q] >= 0) & (weight != 0)
    if not counted.any():
        return None
    same = code[p] == code[q]
    return float((same == (weight > 0))[counted].mean())


def rand_on_pairs(measured: MeasuredMap, code: Ints) -> float | None:
    """Return the Rand index over all pairs of rows of two linked datasets, None without links.

    A pair is correct if it is linked and in one cluster, or not linked and in two. O(rows + links):
    pairs in one cluster are counted from the cluster sizes.
    """
    offsets = measured.data.offsets
    right = total = 0.0
    for (source, target), W in measured.cross_links.items():
        if offsets[source].start > offsets[target].start:
            continue
        a, b = code[offsets[source]], code[offsets[target]]
        k = int(code.max()) + 1
        sizes = [np.bincount(part[part >= 0], minlength=k).astype(np.float64) for part in (a, b)]
        n_pairs = float(sizes[0].sum() * sizes[1].sum())
        same = float(sizes[0] @ sizes[1])
        pairs = W.tocoo()
        ends = a[pairs.row], b[pairs.col]
        counted = (ends[0] >= 0) & (ends[1] >= 0)
        n_linked = int(counted.sum())
        together = int((ends[0] == ends[1])[counted].sum())
        right += n_pairs - same - n_linked + 2 * together
        total += n_pairs
    return right / total if total else None


def variance_ratio(measured: MeasuredMap) -> MeasureValues:
    """Return variance_ratio: how much wider one dataset spreads than another. 1 is equal.

    The variance of the first dataset over that of the second. For three and more datasets, the
    variance of the dataset that differs most over the variance of all.
    """
    spreads = variance_by_dataset(measured.places)
    if len(spreads) < 2:
        return {}
    if len(spreads) == 2:
        first, second = spreads.values()
        return {"variance_ratio": (first / second, 0.0)}
    pooled = variance_by_dataset({"all": measured.stacked})["all"]
    ratios = [spread / pooled for spread in spreads.values()]
    return {"variance_ratio": (max(ratios, key=lambda ratio: abs(np.log(ratio))), 0.0)}


def variance_by_dataset(Y: Mapping[str, Floats]) -> dict[str, float]:
    """Return the variance of each dataset, summed over axes, without datasets at one point."""
    variances = {}
    for name, places in Y.items():
        placed = places[np.isfinite(places).all(axis=1)]
        if len(placed) > 1:
            variance = float(placed.var(axis=0, ddof=1).sum())
            if variance > 0:
                variances[name] = variance
    return variances
