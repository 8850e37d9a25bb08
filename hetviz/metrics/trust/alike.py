"""Items most alike to an item in the data, by links and by features, and on a map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._text import join_words
from hetviz._types import Bools, Floats, Sparse
from hetviz.core.measures.alike import cosines_with, count_closer, is_alike, most_alike_rows
from hetviz.core.measures.neighborhoods import count_near
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.rows import links_touching
from hetviz.errors import ParameterError
from hetviz.features.spaces.similarity import ItemSimilarity, similarity_of
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.metrics.trust.neighborhoods import NEAR

WAYS = ("links", "features", "map")
_MIN_NEAR = 10
_N_PAIRS, _TOLERANCE = 20_000, 1e-9


@dataclass(frozen=True, eq=False)
class AlikeScores:
    """Similarity of one item to the items of its dataset."""

    dataset: str
    row: int
    by_links: Floats | None
    by_features: Floats | None
    is_linked: Bools

    def supported(self) -> Bools:
        """Return which items are linked to it or alike by links or by features, (n,)."""
        out = self.is_linked.copy()
        n_others = len(out) - 1
        for scores in (self.by_links, self.by_features):
            if scores is not None and n_others:
                out |= is_alike(scores, self.row, count_near(n_others, NEAR, _MIN_NEAR))
        return out


class AlikeItems:
    """Similarity scores of items, with what is shared by the items of a dataset computed once."""

    def __init__(self, data: HeteroData) -> None:
        self.data = data
        self._links_of: dict[str, Sparse] = {}
        self._similarity_of: dict[str, ItemSimilarity | None] = {}
        self._pair_scores_of: dict[str, Floats] = {}
        self._adjacency: Sparse | None = None
        self._positive_links: Sparse | None = None

    def scores(self, dataset: str, row: int) -> AlikeScores:
        """Return the similarity of an item, by its row in its dataset. O(links + features)."""
        data = self.data
        start = data.offsets[dataset].start
        touching = links_touching(data, [start + row])
        is_linked = np.zeros(data.n_rows, dtype=bool)
        is_linked[touching.outer[touching.weight > 0]] = True
        by_links = None
        if len(touching):
            by_links = cosines_with(self._links(dataset), row)
        return AlikeScores(
            dataset,
            row,
            by_links,
            self._by_features(dataset, row),
            is_linked[data.offsets[dataset]],
        )

    def kind(self, dataset: str) -> str:
        """Return the kind of similarity of a dataset, see `ItemSimilarity`; "" without any."""
        similarity = self._similarity(dataset)
        return "" if similarity is None else similarity.kind

    def share_less_alike(self, dataset: str, scores: Floats) -> Floats:
        """Return the share of random pairs of a dataset with lower scores by features."""
        if dataset not in self._pair_scores_of:
            similarity = self._similarity(dataset)
            self._pair_scores_of[dataset] = (
                np.zeros(0) if similarity is None else similarity.of_random_pairs(_N_PAIRS)
            )
        pairs = self._pair_scores_of[dataset]
        # Equal features give scores that differ by rounding.
        return np.asarray(np.searchsorted(pairs, scores - _TOLERANCE) / max(len(pairs), 1))

    def supported_across(self, alike: AlikeScores) -> Bools:
        """Return which rows of other datasets the data support near an item, (n_rows,).

        Those linked with the item or an item that supports it in its own dataset, and those that
        share a linked item with it. Rows without links, and all rows if nothing is known of the
        item, count as supported. O(links).
        """
        span = self.data.offsets[alike.dataset]
        positive = self._positive()
        like = np.zeros(self.data.n_rows)
        like[span] = alike.supported()
        like[span.start + alike.row] = 1.0
        linked = positive[[span.start + alike.row]].toarray().ravel()
        reached = positive @ (like + linked)
        is_unknown = np.asarray(positive.sum(axis=1)).ravel() == 0
        has_basis = bool(linked.any()) or float(like.sum()) > 1.0
        return np.asarray((reached > 0) | (linked > 0) | is_unknown | (not has_basis))

    def _positive(self) -> Sparse:
        if self._positive_links is None:
            self._positive_links = self.data.adjacency("+").astype(bool).astype(np.float64)
        return self._positive_links

    def _links(self, dataset: str) -> Sparse:
        if self._adjacency is None:
            self._adjacency = self.data.adjacency()
        if dataset not in self._links_of:
            span = self.data.offsets[dataset]
            self._links_of[dataset] = self._adjacency[span.start : span.stop]
        return self._links_of[dataset]

    def _by_features(self, dataset: str, row: int) -> Floats | None:
        similarity = self._similarity(dataset)
        if similarity is None:
            return None
        scores = similarity.of_row(row)
        others = np.delete(scores, row)
        # Features in which all items differ alike, such as one column per item, compare nothing.
        is_constant = len(others) > 1 and others.max() == others.min()
        return None if is_constant else scores

    def _similarity(self, dataset: str) -> ItemSimilarity | None:
        if dataset not in self._similarity_of:
            self._similarity_of[dataset] = similarity_of(self.data[dataset])
        return self._similarity_of[dataset]


def is_far(closer: Floats) -> Bools:
    """Return which items are far on a map: not among the nearest 5 % (at least ten)."""
    n_others = int(np.isfinite(closer).sum())
    return np.asarray(closer >= count_near(max(n_others, 1), NEAR, _MIN_NEAR))


@one_thread()
def most_alike(
    data: HeteroData,
    item: str,
    by: str = "links",
    k: int = 8,
    dataset: str | None = None,
    *,
    embedding: Embedding | None = None,
) -> pd.DataFrame:
    """Return the items of the same dataset that are most alike to an item.

    Parameters
    ----------
    data : HeteroData
    item : str
        Its id.
    by : {"links", "features", "map"}
        "links": cosine of the signed link weights of two items: 1 if both link to the same items
        with the same signs, 0 if they share none, below 0 if their signs differ. "features":
        similarity by kernel, distances or features, from 0 to 1. An item at half the median
        distance has .61, at the median distance .14. "map": the nearest on a map, with the share
        of the other items that are not closer.
    k : int
        Largest number of items.
    dataset : str, optional
        Its dataset, needed if several have this id.
    embedding : Embedding, optional
        A map to compare with, needed for ``by="map"``.

    Returns
    -------
    DataFrame
        Columns dataset, id, title and score, the most alike first. Only scores above 0; ties are
        in the order of the data. Empty if the item has no links, its dataset no features that
        tell items apart, or it has no place on the map. With `embedding` also `closer`, how many
        items of the dataset are closer on the map, and `supported`, whether the data support that
        an item is near: it is linked to the item, or its score by links or by features is at
        least midway between a typical item (the median, at least 0) and the last of the most
        similar 5 % (at least ten).

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown `by`, a `k` below 1, an id of several datasets, or "map" without a map.
    hetviz.errors.DataError
        For an unknown item or dataset.

    Notes
    -----
    O(links + n d) for n items with d features; no pair of other items is compared.
    `hetviz.alike_by` lists the columns in which items are alike.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> hetviz.most_alike(data, "1f408", k=3)["title"].tolist()
    ['dog', 'mouse', 'hamster']
    """
    if by not in WAYS:
        raise ParameterError(f"most_alike: by = {by!r} must be one of {', '.join(WAYS)}.")
    value: object = k
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ParameterError(f"most_alike: k = {k!r} must be a whole number of 1 or more.")
    if by == "map" and embedding is None:
        raise ParameterError('most_alike: by = "map" needs an embedding.')
    name, row = _find_item(data, item, dataset)
    alike = AlikeItems(data).scores(name, row)
    scores = alike.by_links if by == "links" else alike.by_features
    closer = None
    if embedding is not None:
        closer = count_closer(coordinates_of(data, embedding)[name], row)
        if by == "map":
            scores = 1.0 - np.nan_to_num(closer, nan=np.inf) / max(np.isfinite(closer).sum(), 1)
    rows = np.zeros(0, dtype=np.int64) if scores is None else most_alike_rows(scores, row, k)
    frame = pd.DataFrame(
        {
            "dataset": name,
            "id": data[name].ids[rows],
            "title": data[name].titles[rows],
            "score": np.zeros(0) if scores is None else scores[rows],
        }
    )
    if closer is None:
        return frame
    return frame.assign(closer=closer[rows], supported=alike.supported()[rows])


def _find_item(data: HeteroData, item: str, dataset: str | None) -> tuple[str, int]:
    names = list(data.datasets) if dataset is None else [dataset]
    having = [name for name in names if data[name].find([item])[0] >= 0]
    if len(having) > 1:
        raise ParameterError(
            f"most_alike: {join_words(having)} have an item {item!r}. Name one as `dataset`."
        )
    name = having[0] if having else names[0]
    return name, data[name].position(item)
