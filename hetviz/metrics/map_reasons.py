"""Columns and links that explain which items are near on any map, beyond chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._html import html_table
from hetviz._text import count, format_number, join_words, round_percent
from hetviz._types import Bools, Floats, Ints, JsonObject, Sparse
from hetviz.core.measures.near_pairs import (
    N_SHUFFLES,
    NEAR_SHARES,
    Codes,
    Explained,
    Numbers,
    Scale,
    Similarities,
    Values,
    explain,
    measure_links,
    measure_values,
    near_scales,
    score_limit,
)
from hetviz.data import Embedding, HeteroData
from hetviz.data.joins.lists import separator_of
from hetviz.errors import NotApplicableError, check_type
from hetviz.features.columns.names import are_web_addresses, is_named_id, label_reason
from hetviz.features.columns.types import Column
from hetviz.features.item_columns import group_values, item_columns
from hetviz.features.linked_values import most_frequent
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.metrics.fit.rows import coordinates_of

LINK, SHARED, GIVEN = "link", "shared", "given"
MIN_SHARE = 0.0005
"""Smaller shares are not named."""
_MAX_ROWS, _MIN_ROWS, _MAX_LINKS = 1_500, 12, 3_000
_MAX_COLUMNS, _MAX_WORDS = 150, 5_000
_MIN_SAME_AS_AXIS = 0.9999
_ALIKE, _DIFFERENT, _CLOSE, _FAR = 0.8, 0.5, 0.1, 0.5
_N_NEAREST = 10
_MAX_SHARED_VALUES = 0.5


@dataclass(frozen=True)
class MapReason:
    """A column, or a kind of links, that explains which items are near on a map.

    `kind` {"number", "category", "given", "date", "words", "link", "shared"}: "given" is a column
        with one value, which items have or not, "link" are links from these items to `column`,
        "shared" are links to the same items of `column`.
    `column`: Name of the column, or of the linked dataset.
    `share`: Explained share of the map: 0 is chance level, 1 is a column that tells exactly which
        items are near.
    `near`, `chance`: Share of near pairs, and of random pairs, that have the same value, a word or
        a linked item in common, or a link. For numbers and dates the median difference, or the mean
        one where medians are equal.
    `source`: Linked dataset that has the column, empty for a column of the items. Items take the
        most frequent value of what they link to, or the mean.
    """

    dataset: str
    kind: str
    column: str
    share: float
    near: float
    chance: float
    source: str = ""

    def title(self, with_dataset: bool, title_of: Callable[[str], str] = str) -> str:
        """Return the name of the column or links, perhaps with their dataset."""
        if self.kind == LINK:
            return f"links of {self.dataset} to {self.column}"
        if self.kind == SHARED:
            return f"{self.dataset} linked to the same {self.column}"
        name = title_of(self.column)
        if self.source:
            return f"{name} of linked {self.source}"
        return f"{name} of {self.dataset}" if with_dataset else name

    @property
    def share_text(self) -> str:
        """The share, such as "35 %" or "under 1 %"."""
        return round_percent(self.share) if self.share >= 0.005 else "under 1 %"

    @property
    def sentence(self) -> str:
        """What near items have in common, next to random ones."""
        if self.kind in ("number", "date"):
            unit = " days" if self.kind == "date" else ""
            return (
                f"Close items differ by {format_number(self.near)}{unit} "
                f"(any two: {format_number(self.chance)}{unit})."
            )
        near, chance = round_percent(self.near), round_percent(self.chance)
        if self.kind == LINK:
            return f"{near} of links are close (chance: {chance})."
        if self.kind == GIVEN:
            return f"{near} of close items both have it or both do not (any two: {chance})."
        has = {"category": "the same value", SHARED: f"links to the same {self.column}"}
        return (
            f"{near} of close items have {has.get(self.kind, 'words in common')} "
            f"(any two: {chance})."
        )


@dataclass(frozen=True)
class MapReasons:
    """Columns and links that explain a map, the largest share first.

    `reasons`: Only what is above chance: above all columns and links in 99 shuffles of the rows.
    `n_compared`: Number of columns and kinds of links.
    `axes`: Columns that are left out because they are an axis of the map.
    """

    reasons: tuple[MapReason, ...]
    n_compared: int
    axes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The main reasons in words."""
        if not self.n_compared:
            return "There are no columns or links to compare with this map."
        if not self.reasons:
            compared = count(
                self.n_compared, "column or kind of links", "columns and kinds of links"
            )
            return f"None of {compared} explains more of this map than chance."
        many = len({reason.dataset for reason in self.reasons}) > 1
        named = [f"{one.title(many)} ({one.share_text})" for one in self.reasons[:3]]
        plural = "s" if len(named) == 1 else ""
        return f"{join_words(named)} explain{plural} this map best."

    @property
    def how(self) -> str:
        """The meaning of the shares."""
        return (
            "100 % would tell exactly which items are close, and 0 % is chance: only what is above "
            f"all columns and links in {N_SHUFFLES} shuffles of the rows is named. Columns that go "
            "together explain the same part."
        )

    def columns_of(self, dataset: str) -> list[str]:
        """Return the columns that explain where items of a dataset are, best first."""
        reasons = (one for one in self.reasons if one.kind not in (LINK, SHARED))
        return [one.title(False) for one in reasons if one.dataset == dataset]

    def frame(self) -> pd.DataFrame:
        """Return a row for each reason with the fields of `MapReason`."""
        names = list(MapReason.__dataclass_fields__)
        return pd.DataFrame([vars(reason) for reason in self.reasons], columns=names)

    def to_dict(self) -> JsonObject:
        """Return the fields as JSON-ready values."""
        return {
            "reasons": [{**vars(one), "sentence": one.sentence} for one in self.reasons],
            "compared": self.n_compared,
            "axes": list(self.axes),
            "sentence": self.sentence,
        }

    def _repr_html_(self) -> str:
        rows = [(one.dataset, one.column, one.share_text, one.sentence) for one in self.reasons]
        return html_table("What explains this map", rows, foot=f"{self.sentence} {self.how}")


@dataclass(frozen=True)
class PairValue:
    """Values of two items in a column that explains a map.

    `verdict` {"alike", "between", "different", "unknown"}: "alike" is closer than four of five
        pairs with the first item, or the same category.
    """

    column: str
    first: str
    second: str
    verdict: str


@dataclass(frozen=True)
class PairReasons:
    """Why two items are near or far on a map.

    `closer`: Share of the items of the second dataset that are closer to the first item.
    `values`: Values of the two in columns that explain the map, the largest share first.
    `is_linked`: Whether a link joins them.
    `shared`: Titles of items that both are linked to.
    """

    first: str
    second: str
    closer: float
    values: tuple[PairValue, ...]
    is_linked: bool
    shared: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The distance and its reasons in words."""
        closer = round_percent(self.closer)
        if self.closer == 0:
            parts = ["They are close: no other item is closer."]
        elif self.closer <= _CLOSE:
            parts = [f"They are close: only {closer} of the others are closer."]
        elif self.closer >= _FAR:
            parts = [f"They are far apart: {closer} of the others are closer."]
        else:
            parts = [f"They are neither close nor far: {closer} of the others are closer."]
        for verdict, text in (("alike", "Alike in"), ("different", "Different in")):
            columns = [value.column for value in self.values if value.verdict == verdict]
            parts += [f"{text} {join_words(columns[:3])}."] if columns else []
        if self.is_linked:
            parts.append("They are linked.")
        if self.shared:
            parts.append(f"Both are linked to {join_words(list(self.shared[:3]))}.")
        if len(parts) == 1:
            parts.append("No column or link says why.")
        return " ".join(parts)

    def frame(self) -> pd.DataFrame:
        """Return a row for each column: column, first, second, verdict."""
        names = list(PairValue.__dataclass_fields__)
        return pd.DataFrame([vars(value) for value in self.values], columns=names)

    def to_dict(self) -> JsonObject:
        """Return the fields as JSON-ready values."""
        values = [vars(value) for value in self.values]
        return {**vars(self), "values": values, "shared": list(self.shared)} | {
            "sentence": self.sentence
        }


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Values of sampled rows by one column or by linked items."""

    kind: str
    column: str
    values: Values


@dataclass(frozen=True, eq=False)
class _Result:
    """What a column or a kind of links explains. `describe` returns its `near` and `chance`."""

    found: Explained
    dataset: str
    kind: str
    column: str
    source: str
    describe: Callable[[], tuple[float, float]]


def map_reasons(
    data: HeteroData,
    embedding: Embedding,
    columns_of: Callable[[HeteroData, str], Mapping[str, Column]] = item_columns,
) -> MapReasons:
    """Return the columns and links that explain which items are near on a map.

    A pair is near if one item is among the nearest 1, 3 or 10 % of the other items. Each column is
    judged at the scale where it explains most. Its bits are, for numbers and dates, the mutual
    information of two near items by the correlation of their normal scores, -log2(1 - r^2) / 2; for
    categories the mean divergence of the share of equal neighbours from chance; for words and
    linked items the same for the cosine; for links the divergence of the share of near pairs
    with a link. The share is (bits - bits of shuffled rows) / log2(1 / share of near items).
    Missing values explain nothing. Uses at most 1,500 rows of each dataset and 3,000 links of
    each kind, O(n log n + links).
    """
    places = _places(data, embedding)
    axes: list[str] = []
    results = list(_link_results(data, embedding, places))
    all_found = [result.found for result in results]
    for name, Y in places.items():
        rows = _sample(np.flatnonzero(_is_placed(Y)))
        if len(rows) < _MIN_ROWS:
            continue
        scales, shuffles = near_scales(Y[rows]), _shuffles(len(rows))
        max_bits = [scale.max_bits for scale in scales]
        own = columns_of(data, name)
        own_axes = {column for column in own if _is_axis(own[column], Y)}
        axes += sorted(own_axes)
        linked = _linked_columns(data, name, columns_of)
        columns = {**own, **{title: column for title, (_, column) in linked.items()}}
        best: dict[tuple[bool, str], tuple[_Candidate, Explained]] = {}
        for candidate in _candidates(data, name, columns, rows, own_axes):
            found = explain(measure_values(candidate.values, scales, shuffles), max_bits)
            all_found.append(found)
            key = (candidate.kind == SHARED, candidate.column)
            if key not in best or best[key][1].share < found.share:
                best[key] = candidate, found
        for candidate, found in best.values():
            describe = partial(_describe, columns, rows, candidate, scales[found.scale])
            source, column = linked.get(candidate.column, ("", None))
            column_name = candidate.column if column is None else column.name
            results.append(_Result(found, name, candidate.kind, column_name, source, describe))
    limit = score_limit(all_found)
    reasons = [
        MapReason(one.dataset, one.kind, one.column, one.found.share, *one.describe(), one.source)
        for one in results
        if one.found.score > limit and one.found.share >= MIN_SHARE
    ]
    ranked = sorted(reasons, key=lambda reason: -reason.share)
    return MapReasons(tuple(ranked), len(results), tuple(dict.fromkeys(axes)))


def pair_reasons(
    data: HeteroData,
    embedding: Embedding,
    a: int,
    b: int,
    found: MapReasons | None = None,
    columns_of: Callable[[HeteroData, str], Mapping[str, Column]] = item_columns,
) -> PairReasons:
    """Return why the items of two global rows are near or far; `found` explains the map."""
    places = _places(data, embedding)
    (name, at), (other, to) = (_dataset_at(data, row) for row in (a, b))
    origin, target = places[name][at], places[other][to]
    if not np.isfinite(np.r_[origin, target]).all():
        raise NotApplicableError("Why", ["An item has no place on the map."])
    distance = np.linalg.norm(places[other] - origin, axis=1)
    if name == other:
        distance[at] = np.nan
    known = np.isfinite(distance)
    closer = (distance[known] < distance[to]).sum() / max(known.sum() - 1, 1)
    values: list[PairValue] = []
    if name == other:
        found = map_reasons(data, embedding, columns_of) if found is None else found
        rows = np.unique(np.r_[_sample(np.flatnonzero(known)), at, to])
        named = found.columns_of(name)
        columns = _named_columns(data, name, columns_of, named)
        values = [
            PairValue(
                column,
                _value_text(columns[column], at),
                _value_text(columns[column], to),
                _likeness(columns[column], rows, at, [to]),
            )
            for column in named
        ]
    W = data.adjacency("+")
    both = np.intersect1d(W[[a]].indices, W[[b]].indices)
    titles = [str(data[owner].display_names[row]) for owner, row in
              (_dataset_at(data, int(row)) for row in both[:_MAX_COLUMNS])]  # fmt: skip
    first, second = (str(data[n].display_names[k]) for n, k in ((name, at), (other, to)))
    is_linked = bool((W[[a]].indices == b).any())
    return PairReasons(first, second, float(closer), tuple(values), is_linked, tuple(titles))


def shared_with_nearest(
    data: HeteroData,
    embedding: Embedding,
    row: int,
    found: MapReasons,
    columns_of: Callable[[HeteroData, str], Mapping[str, Column]] = item_columns,
    title_of: Callable[[str], str] = str,
) -> str:
    """Return in words in which columns, that explain a map, an item is like its ten nearest."""
    name, at = _dataset_at(data, row)
    Y = _places(data, embedding)[name]
    distance = np.linalg.norm(Y - Y[at], axis=1)
    distance[at] = np.inf
    known = np.flatnonzero(np.isfinite(distance))
    nearest = known[np.argsort(distance[known], kind="stable")[:_N_NEAREST]]
    named = found.columns_of(name)
    if not named or not len(nearest):
        return ""
    columns = _named_columns(data, name, columns_of, named)
    rows = np.unique(np.r_[_sample(known), at, nearest])
    alike = [c for c in named if _likeness(columns[c], rows, at, nearest.tolist()) == "alike"]
    if not alike:
        return f"The closest {name} are not like it in the columns that explain this map."
    return f"The closest {name} are like it in {join_words([title_of(c) for c in alike[:3]])}."


def _places(data: HeteroData, embedding: Embedding) -> dict[str, Floats]:
    """Return the places of all rows as the map is drawn."""
    check_type(embedding, Embedding, "embedding")
    return coordinates_of(data, embedding.planar())


def _is_placed(Y: Floats) -> Bools:
    return np.asarray(np.isfinite(Y).all(axis=1))


def _sample(rows: Ints, most: int = _MAX_ROWS) -> Ints:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _shuffles(n: int) -> list[Ints]:
    rng = np.random.default_rng(0)
    return [rng.permutation(n) for _ in range(N_SHUFFLES)]


def _dataset_at(data: HeteroData, row: int) -> tuple[str, int]:
    name = next(name for name, span in data.offsets.items() if row < span.stop)
    return name, row - data.offsets[name].start


def _is_axis(column: Column, Y: Floats) -> bool:
    """Return whether a column is an axis of the map, perhaps in other units."""
    if column.kind != "number":
        return False
    known = _is_placed(Y) & np.isfinite(column.values)
    if known.sum() < _MIN_ROWS:
        return False
    x = column.values[known]
    return any(
        np.ptp(x) > 0 and np.ptp(y) > 0 and abs(np.corrcoef(x, y)[0, 1]) > _MIN_SAME_AS_AXIS
        for y in Y[known].T
    )


def _named_columns(
    data: HeteroData,
    name: str,
    columns_of: Callable[[HeteroData, str], Mapping[str, Column]],
    named: Sequence[str],
) -> dict[str, Column]:
    """Return the columns of a dataset and of linked ones that `MapReasons.columns_of` names."""
    columns = dict(columns_of(data, name))
    if not set(named) <= set(columns):
        linked = _linked_columns(data, name, columns_of)
        columns |= {title: column for title, (_, column) in linked.items()}
    return columns


def _linked_columns(
    data: HeteroData, name: str, columns_of: Callable[[HeteroData, str], Mapping[str, Column]]
) -> dict[str, tuple[str, Column]]:
    """Return the columns of linked datasets by title: their dataset, and the values of each row.

    A row takes the most frequent category of what it links to, or the mean.
    """
    columns: dict[str, tuple[str, Column]] = {}
    for other, W in _link_blocks(data, name).items():
        for column in list(columns_of(data, other).values())[:_MAX_COLUMNS]:
            is_title = column.name == data[other].title_column
            if (
                is_title
                or is_named_id(column.name)
                or label_reason(column.name, column.values if column.kind == "number" else None)
                is not None
            ):
                continue
            taken = None
            if column.kind == "category" and column.codes is not None:
                known = np.flatnonzero(column.codes >= 0)
                shape = len(column.codes), len(column.levels)
                V = sp.csr_array((np.ones(len(known)), (known, column.codes[known])), shape=shape)
                codes = np.full(W.shape[0], -1, dtype=np.int64)
                reached, best = most_frequent(W @ V)
                codes[reached] = best
                values = np.array([*column.levels, None], dtype=object)[codes]
                taken = replace(column, values=values, codes=codes)
            elif column.kind in ("number", "date"):
                has_value = np.isfinite(column.values)
                weight = W @ has_value.astype(np.float64)
                total = W @ np.where(has_value, column.values, 0.0)
                values = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
                taken = replace(column, values=values, whole=False)
            if taken is not None:
                columns[f"{column.name} of linked {other}"] = other, taken
    return columns


def _link_blocks(data: HeteroData, name: str) -> dict[str, Sparse]:
    """Return the weights of links between the rows of a dataset and those of each other one."""
    linked = {group.target for group in data.links if group.source == name}
    linked |= {group.source for group in data.links if group.target == name}
    W = data.adjacency("+")[data.offsets[name]] if linked - {name} else None
    others = [other for other in data.datasets if other in linked - {name}]
    return {} if W is None else {other: sp.csr_array(W[:, data.offsets[other]]) for other in others}


def _candidates(
    data: HeteroData, name: str, columns: Mapping[str, Column], rows: Ints, axes: set[str]
) -> Iterator[_Candidate]:
    """Yield the values of the rows by each column, and by the items that they link to."""
    title = data[name].title_column
    for key, column in list(columns.items())[:_MAX_COLUMNS]:
        if key not in axes:
            for kind, values in _values_of(column, rows, key == title):
                yield _Candidate(kind, key, values)
    for other, W in _link_blocks(data, name).items():
        block = sp.csr_array(W[rows])
        yield _Candidate(SHARED, other, _similarities(block, np.diff(block.indptr) > 0))


def _values_of(column: Column, rows: Ints, is_title: bool) -> Iterator[tuple[str, Values]]:
    """Yield the forms in which a column may explain a map."""
    if column.kind in ("number", "date"):
        x = column.values[rows].astype(np.float64)
        is_label = label_reason(column.name, column.values if column.whole else None) is not None
        if not is_label:
            yield column.kind, Numbers.of(x)
        # Numbers that only label, such as those of a shop, are values that rows share or not.
        is_shared = len(np.unique(x)) <= _MAX_SHARED_VALUES * len(x)
        if group_values(column) is not None or (is_label and is_shared):
            yield "category", Codes.of(pd.factorize(pd.Series(x))[0])
    elif column.codes is not None and column.kind in ("category", "text", "unique"):
        if column.kind == "category" and len(column.levels) == 1:
            yield GIVEN, Codes.of((column.codes[rows] >= 0).astype(np.int64))
            return
        if column.kind == "category" and not is_title:
            yield "category", Codes.of(column.codes[rows])
        sign = separator_of(column.levels)
        has_words = sign is not None or column.kind != "category" or is_title
        has_words = has_words and not is_named_id(column.name)
        if has_words and not are_web_addresses(column.levels):
            words = _word_similarities(column, rows, sign)
            if words is not None:
                yield "words", words


def _word_similarities(column: Column, rows: Ints, separator: str | None) -> Similarities | None:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [value or "" for value in cast("list[str | None]", column.values[rows].tolist())]
    split: Mapping[str, object] = {"stop_words": "english"}
    if separator is not None:
        split = {"analyzer": lambda text: {part.strip() for part in text.split(separator)} - {""}}
    try:
        M = CountVectorizer(min_df=2, max_features=_MAX_WORDS, binary=True, **split).fit_transform(
            texts
        )
    except ValueError:
        return None
    return _similarities(
        sp.csr_array(M, dtype=np.float64), np.array([bool(text) for text in texts])
    )


def _similarities(M: Sparse, known: Bools) -> Similarities:
    """Return the cosines of rows by what they contain; rare things count more."""
    M = sp.csr_array(M)
    uses = np.diff(sp.csc_array(M).indptr)
    M.data = M.data * np.log(len(known) / np.maximum(uses, 1))[M.indices]
    norm = np.sqrt(np.asarray(M.multiply(M).sum(axis=1)).ravel())
    M = sp.csr_array(sp.diags_array(1 / np.where(norm > 0, norm, 1.0)) @ M)
    return Similarities.of(np.asarray((M @ M.T).toarray()), known.astype(np.float64))


def _link_results(
    data: HeteroData, embedding: Embedding, places: Mapping[str, Floats]
) -> Iterator[_Result]:
    """Yield what links between placed items explain."""
    from scipy.spatial import cKDTree

    pairs: dict[tuple[str, str], list[tuple[Ints, Ints]]] = {}
    for group in data.links:
        if group.kind not in USER_LINK_KINDS:
            together = group.weight > 0
            pairs.setdefault((group.source, group.target), []).append(
                (group.i[together], group.j[together])
            )
    for (source, target), parts in pairs.items():
        p, q = (np.concatenate(ends) for ends in zip(*parts, strict=True))
        at, to = _is_placed(places[source]), _is_placed(places[target])
        usable = at[p] & to[q] & ((source != target) | (p != q))
        components = {embedding.components.get(name, 0) for name in (source, target)}
        if min(at.sum(), to.sum()) < _MIN_ROWS or not usable.any() or len(components) > 1:
            continue
        Y, Z = places[source][at], places[target][to]
        p, q = (np.cumsum(at) - 1)[p[usable]], (np.cumsum(to) - 1)[q[usable]]
        sample = _sample(np.arange(len(Z)))
        sizes = [max(round(share * len(sample)), 1) for share in NEAR_SHARES]
        is_inside = source == target  # The nearest row is the row itself.
        found_radius = cKDTree(Z[sample]).query(Y, [size + is_inside for size in sizes])[0]
        radius = np.asarray(found_radius, dtype=np.float64)
        chosen = _sample(np.arange(len(p)), _MAX_LINKS)
        shares = [size / len(sample) for size in sizes]
        measure = measure_links(Y, Z, p[chosen], q[chosen], radius, shares, len(p))
        found = explain(measure, [-np.log2(share) for share in shares])
        near = np.linalg.norm(Y[p] - Z[q], axis=1) <= radius[p, found.scale]
        near_share = float(near.mean()), shares[found.scale]
        yield _Result(found, source, LINK, target, "", partial(_same, near_share))


def _same(shares: tuple[float, float]) -> tuple[float, float]:
    return shares


def _describe(
    columns: Mapping[str, Column], rows: Ints, candidate: _Candidate, scale: Scale
) -> tuple[float, float]:
    """Return what near pairs have in common, and what random pairs have."""
    rng = np.random.default_rng(0)
    i, j = (rng.integers(0, len(rows), len(scale.i)) for _ in range(2))
    random = i[i != j], j[i != j]
    values = candidate.values
    if isinstance(values, Numbers):
        x = columns[candidate.column].values[rows].astype(np.float64)
        gaps = [np.abs(x[p] - x[q]) for p, q in ((scale.i, scale.j), random)]
        near, chance = map(np.nanmedian, gaps)
        if near == chance:
            near, chance = map(np.nanmean, gaps)
    else:
        near, chance = (
            np.nanmean(np.where(np.isnan(alike := values.alike(p, q)), np.nan, alike > 0))
            for p, q in ((scale.i, scale.j), random)
        )
    return float(near), float(chance)


def _likeness(column: Column, rows: Ints, a: int, others: Sequence[int]) -> str:
    """Return whether a row is like others in a column: the verdict of `PairValue`."""
    forms = dict(_values_of(column, rows, False))
    values = forms.get("category") or next(iter(forms.values()), None)
    if values is None:
        return "unknown"
    at, to = np.searchsorted(rows, a), np.searchsorted(rows, others)
    all_others = np.delete(np.arange(len(rows)), at)
    known = values.alike(np.full(len(all_others), at), all_others)
    known, own = known[np.isfinite(known)], values.alike(np.full(len(to), at), to)
    own = own[np.isfinite(own)]
    if not len(own):
        return "unknown"
    if isinstance(values, Codes):
        share = float(own.mean())
        return "alike" if share >= _ALIKE else "different" if share <= 1 - _ALIKE else "between"
    below, equal = known[None] < own[:, None], known[None] == own[:, None]
    closer = float(below.mean() + 0.5 * equal.mean())
    return "alike" if closer >= _ALIKE else "different" if closer <= _DIFFERENT else "between"


def _value_text(column: Column, row: int) -> str:
    value = column.values[row]
    if value is None or value != value:
        return ""
    if column.kind == "date":
        return str((pd.Timestamp("1970-01-01") + pd.Timedelta(days=float(value))).date())
    return format_number(value) if column.kind == "number" else str(value)
