"""Datasets with links, comparisons and labels, and edits that return changed copies."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._higher_layers import call_implementation
from hetviz._html import html_table
from hetviz._types import Array, Bools, Ints, Rng
from hetviz.data.model import checks
from hetviz.data.model.account import account_of
from hetviz.data.model.checks import ProblemCollector
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.csv_text import csv_of
from hetviz.data.model.dataset import ITEM_RESULTS, Dataset, rows_of
from hetviz.data.model.immutable import Immutable
from hetviz.data.model.labels import Labels
from hetviz.data.model.links import Links, kind_key
from hetviz.data.model.meta import concat_meta
from hetviz.errors import DataError, ParameterError, Problem

if TYPE_CHECKING:
    from _hashlib import HASH
    from typing import TypeAlias

    from hetviz.data.model.embedding import Embedding

    AnnData: TypeAlias = Any
    Graph: TypeAlias = Any


# Random draws of held-out rows and links.


def draw_rows_out(
    parts: Mapping[str, slice], object_of: Ints, shares: Mapping[str, float], rng: Rng
) -> Bools:
    """Return a mask of the global rows of randomly drawn objects, in every view."""
    out = np.zeros(len(object_of), dtype=bool)
    for name, share in shares.items():
        rows = parts[name]
        n = rows.stop - rows.start
        chosen = rng.permutation(n)[: min(max(round(share * n), 1 if share else 0), n - 1)]
        out |= np.isin(object_of, object_of[rows][chosen])
    for name, rows in parts.items():
        if out[rows].all():
            raise ParameterError(f"holdout: no row of {name!r} would be left to fit to.")
    return out


def draw_links_out(
    ends: Ints, stratum: Ints, touched: Bools, bare: Bools, share: float, rng: Rng
) -> Bools:
    """Return a mask of held-out links: a share of the pairs of each stratum, and `touched` links.

    `ends` (m, 2): objects of each link, the smaller one first. A pair with several links is drawn
    once, in the stratum of its first link. `stratum` (m,): links are drawn within each stratum.
    `touched` (m,): links that are held out in any case. `bare` (n_objects,): objects that only
    links can place; each keeps at least one link.
    """
    free = np.flatnonzero(~touched)
    if share == 0 or free.size == 0:
        return touched
    _, pair = np.unique(ends @ [len(bare), 1], return_inverse=True)
    pairs, first = np.unique(pair[free], return_index=True)
    of_pair = stratum[free[first]]
    chosen = np.zeros(pair.max() + 1, dtype=bool)
    for value in np.unique(of_pair):
        drawn = rng.permutation(pairs[of_pair == value])
        chosen[drawn[: round(share * len(drawn))]] = True
    _return_needed_links(ends, pair, chosen, touched, bare.copy())
    return np.asarray(touched | chosen[pair])


def _return_needed_links(
    ends: Ints, pair: Ints, chosen: Bools, touched: Bools, bare: Bools
) -> None:
    """Deselect at least one pair of every bare object, which could not be placed otherwise."""
    is_out = touched | chosen[pair]
    bare[ends[~is_out]] = False
    for row in np.flatnonzero(chosen[pair] & ~touched & bare[ends].any(axis=1)):
        if bare[ends[row]].any():
            chosen[pair[row]] = False
            bare[ends[row]] = False


_SIGNS = {None: None, 1: 1, -1: -1, "+": 1, "-": -1, "positive": 1, "negative": -1}


@dataclass(frozen=True, eq=False, repr=False, init=False)
class HeteroData(Immutable):
    """Datasets with links, comparisons and labels.

    Parameters
    ----------
    datasets : sequence of Dataset
        Datasets with distinct names; ``.datasets`` is a mapping from name to Dataset.
    links : sequence of Links
    comparisons : Comparisons, optional
    labels : sequence of Labels

    Attributes
    ----------
    offsets : mapping of str to slice
        Range of the rows of each dataset among the global rows 0 .. n_rows - 1.
    object_of : array of int, shape (n_rows,)
        ``object_of[r]`` is the object of global row r; views share objects.

    Raises
    ------
    hetviz.errors.DataError
        Listing every link, comparison or label that refers to something unknown.
    """

    datasets: Mapping[str, Dataset]
    links: tuple[Links, ...]
    comparisons: Comparisons | None
    labels: tuple[Labels, ...]

    def __init__(
        self,
        datasets: Iterable[Dataset] | Mapping[str, Dataset],
        links: Iterable[Links] | Links = (),
        comparisons: Comparisons | None = None,
        labels: Iterable[Labels] | Labels = (),
    ) -> None:
        gate = ProblemCollector()
        parts = _datasets(gate, datasets)
        if not parts and not gate.problems:
            gate.refuse("no-datasets", "data", "there is no dataset", remedy="Give at least one.")
        by_name: dict[str, Dataset] = {}
        for dataset in parts:
            if dataset.name in by_name:
                gate.refuse(
                    "duplicate-name",
                    f"dataset {dataset.name!r}",
                    "two datasets have this name",
                    dataset.name,
                    "Rename one.",
                )
            by_name[dataset.name] = dataset
        gate.close()
        link_list = (links,) if isinstance(links, Links) else tuple(links)
        label_list = (labels,) if isinstance(labels, Labels) else tuple(labels)
        for group in link_list:
            _check_links(gate, by_name, group)
        if comparisons is not None:
            total = sum(len(dataset) for dataset in by_name.values())
            checks.check_positions(gate, "comparisons", comparisons.objects, total)
        for column in label_list:
            _check_labels(gate, by_name, column)
        gate.close()
        object.__setattr__(self, "datasets", MappingProxyType(by_name))
        object.__setattr__(self, "links", link_list)
        object.__setattr__(self, "comparisons", comparisons)
        object.__setattr__(self, "labels", label_list)

    @classmethod
    def from_frames(
        cls,
        frames: object,
        links: object = None,
        *,
        ids: Mapping[str, str] | None = None,
        labels: Mapping[str, Any] | None = None,
        columns: Mapping[str, Mapping[str, object]] | None = None,
        titles: Mapping[str, str] | None = None,
        pictures: Mapping[str, str] | None = None,
        features: Mapping[str, str | Sequence[str]] | None = None,
        entities: Mapping[str, str] | None = None,
        comparisons: object = None,
        unknown: str = "raise",
    ) -> HeteroData:
        """Create data from tables, matrices and graphs in memory.

        Parameters
        ----------
        frames : mapping of str to table, list of views, AnnData, MuData or graph
            Dataset name -> rows: a DataFrame (pandas, polars, Arrow), AnnData, MuData (one view
            per modality), a graph of networkx or igraph (nodes as rows, edges as links), a
            dictionary of columns, a list of records or ids, a `Dataset`, or a matrix of shape
            (n, p) (NumPy, SciPy sparse, torch, anything with ``__array__``) with rows named 0, 1,
            ... A list holds tables or matrices of the same items: "view 1", "view 2" and so on.
        links : table, pairs, mapping, Links or "auto", optional
            A table with an id column for each of two datasets, named after them ("dishes" or
            "dish_id"), or with the columns source_id and target_id (and source_dataset,
            target_dataset). The columns weight (-1 to 1), score, kind and role are used, others
            become notes. Pairs of ids, or triples with a weight, between the two datasets. A
            mapping from (source, target), (source, target, kind) or (source, kind, target) to
            such a table, pairs, an array of ids of shape (2, m) or (m, 2), or (m, 3) with
            weights, or a weight matrix with a row for each source and a column for each target. A
            list of any of these. "auto" applies the best join of `propose_joins` to each pair of
            datasets and warns about it.
        ids : mapping of str to str, optional
            Id column. Default: the index unless it only counts, a column "id" or named after the
            dataset, the first text column with distinct values, or the row number.
        labels : mapping of str to str, list of str or array, optional
            Label columns, or labels of the n rows: an array, a Series (with an index: by id), or
            a mapping from the name of the labels to these. Labels are no features. Default: the
            first column of few categories of each dataset; ``{}`` for none.
        columns : mapping of str to mapping, optional
            Dataset -> column -> type ("number", "category", "list", "date", "latlong", "text"),
            False to exclude the column, or options as in `make_features`.
        titles, pictures : mapping of str to str, optional
            Column of titles, and of pictures (bytes or file paths).
        features : mapping of str to str or list of str, optional
            "distance" or "kernel" for a square table or matrix (n, n) between the rows;
            distances also as SciPy's list of n (n - 1) / 2. Parts of an AnnData: "X" (default),
            a layer, a matrix of obsm, and those of obsp that become links (default: all
            connectivities) or, if dense, a distance (diagonal 0) or kernel matrix.
        entities : mapping of str to str, optional
            Entity of each dataset. Datasets of one entity are views: equal ids are the same
            object.
        comparisons : table or list of triples, optional
            Columns anchor, near and far (or anchor_id and anchor_dataset, and so on): the anchor is
            closer to near than to far. In a list each item is an id, or (dataset, id).
        unknown : {"raise", "drop"}
            Treatment of links and comparisons with unknown ids; "drop" warns.

        Returns
        -------
        HeteroData
            Ids are text; `Dataset.keys` are the original ids.

        Raises
        ------
        hetviz.errors.DataError
            Listing all problems, each with a suggested call.

        Examples
        --------
        >>> import hetviz, pandas as pd
        >>> dishes = pd.DataFrame({"salt": [2.0, 0.1], "heat": [3, 1]}, index=["dal", "flan"])
        >>> wines = pd.DataFrame({"sugar": [4.0, 90.0]}, index=[1982, 2001])
        >>> pairs = [("dal", 1982), ("flan", 2001)]
        >>> data = hetviz.HeteroData.from_frames({"dishes": dishes, "wines": wines}, links=pairs)
        >>> data
        HeteroData(dishes 2, wines 2; 2 links, 0 comparisons)
        >>> data["wines"].ids.tolist(), data["wines"].key("2001")
        (['1982', '2001'], 2001)
        """
        data: HeteroData = call_implementation(
            "from_frames",
            frames,
            links,
            ids=ids,
            labels=labels,
            columns=columns,
            titles=titles,
            pictures=pictures,
            features=features,
            entities=entities,
            comparisons=comparisons,
            unknown=unknown,
        )
        return data

    def to_frames(self, embedding: Embedding | None = None) -> dict[str, pd.DataFrame]:
        """Return each dataset as a DataFrame with the original ids as index.

        Parameters
        ----------
        embedding : Embedding, optional
            Adds columns x and y (and so on), matched by id; NaN for rows without coordinates.
        """
        frames: dict[str, pd.DataFrame] = call_implementation("to_frames", self, embedding)
        return frames

    def to_links(self) -> pd.DataFrame:
        """Return all links as a table for `from_frames`, with the original ids."""
        table: pd.DataFrame = call_implementation("to_links", self)
        return table

    def to_anndata(self, name: str | None = None, embedding: Embedding | None = None) -> AnnData:
        """Return a dataset as AnnData: features as X, columns as obs, links within it as obsp.

        Parameters
        ----------
        name : str, optional
            Name of the dataset; optional if there is only one.
        embedding : Embedding, optional
            Stored as ``obsm["X_hetviz"]``.

        Raises
        ------
        hetviz.errors.MissingExtraError
            If anndata is not installed (extra ``omics``).
        """
        return call_implementation("to_anndata", self, name, embedding)

    def to_networkx(self, embedding: Embedding | None = None) -> Graph:
        """Return all items and links as a networkx MultiGraph; nodes are (dataset, key).

        Parameters
        ----------
        embedding : Embedding, optional
            Adds x and y to the nodes.

        Raises
        ------
        hetviz.errors.MissingExtraError
            If networkx is not installed (extra ``omics``).
        """
        return call_implementation("to_networkx", self, embedding)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(dataset):,}" for name, dataset in self.datasets.items())
        links = sum(map(len, self.links))
        compared = 0 if self.comparisons is None else len(self.comparisons)
        parts = [_count_text(links, "link"), _count_text(compared, "comparison")]
        return f"HeteroData({sizes}; {', '.join(parts)})"

    def _repr_html_(self) -> str:
        sets = [
            (
                name,
                f"{len(dataset):,}",
                "" if dataset.X is None else f"{dataset.X.shape[1]:,}",
                "" if dataset.entity == name else f"view of {dataset.entity}",
            )
            for name, dataset in self.datasets.items()
        ]
        kinds = [
            (f"{links.source} \u2013 {links.target}", f"{len(links):,} links", "", links.kind)
            for links in self.links
        ]
        compared = 0 if self.comparisons is None else len(self.comparisons)
        footer = [_count_text(compared, "comparison")] if compared else []
        footer += [f"label {label.name} of {label.dataset}" for label in self.labels]
        head = ("", "items", "features", "")
        return html_table("HeteroData", [*sets, *kinds], head, "; ".join(footer))

    def __getitem__(self, name: str) -> Dataset:
        try:
            return self.datasets[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self.datasets, n=1)
            hint = (
                f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(self.datasets)}."
            )
            raise DataError.of(
                "unknown-dataset", "data", "this dataset does not exist", name, hint
            ) from None

    @property
    def account(self) -> list[str]:
        """What was made of the data: ids, labels, features and what was left out, and links.

        One line for each dataset and each group of links.

        Examples
        --------
        >>> import hetviz, pandas as pd
        >>> wines = pd.DataFrame({"wine_id": [1, 2, 3], "sugar": [4.0, None, 90.0]})
        >>> data = hetviz.HeteroData.from_frames({"wines": wines}, links=[(1, 2), (2, 1)])
        >>> for line in data.account:
        ...     print(line)
        wines: 3 rows. Ids: wine_id. Features: sugar (number). Missing cells filled in: sugar ...
        wines - wines, link: 2 links, 1 of a pair that has one already.
        """
        return account_of(self.datasets.values(), self.labels, self.links)

    @property
    def n_rows(self) -> int:
        """Number of rows of all datasets."""
        return sum(len(dataset) for dataset in self.datasets.values())

    @cached_property
    def offsets(self) -> Mapping[str, slice]:
        """Global rows of each dataset."""
        out: dict[str, slice] = {}
        start = 0
        for name, dataset in self.datasets.items():
            out[name] = slice(start, start + len(dataset))
            start += len(dataset)
        return MappingProxyType(out)

    @cached_property
    def object_of(self) -> Ints:
        """Object of each global row, shape (n_rows,)."""
        if not self.datasets:
            return checks.read_only(np.empty(0, dtype=np.int64))

        def make() -> Ints:
            # Ids within a dataset are distinct, so objects are too unless there are views.
            if len({part.entity for part in self.datasets.values()}) == len(self.datasets):
                return checks.read_only(np.arange(self.n_rows))
            seen: dict[tuple[str, str], int] = {}
            out = np.empty(self.n_rows, dtype=np.int64)
            row = 0
            for dataset in self.datasets.values():
                for text in dataset.ids:
                    out[row] = seen.setdefault((dataset.entity, text), len(seen))
                    row += 1
            return checks.read_only(out)

        return ITEM_RESULTS.get_or_compute(tuple(self.datasets.values()), "object of", make)

    @property
    def n_objects(self) -> int:
        """Number of distinct objects: pairs of entity and id."""
        return int(self.object_of.max()) + 1

    def position(self, name: str, id: str) -> int:
        """Return the global row of an id of a dataset.

        Raises
        ------
        hetviz.errors.DataError
            If the dataset or the id is unknown.
        """
        return int(self.offsets[self[name].name].start) + self[name].position(id)

    def views(self, entity: str) -> tuple[str, ...]:
        """Return the names of the datasets of an entity."""
        return tuple(name for name, dataset in self.datasets.items() if dataset.entity == entity)

    @property
    def entities(self) -> tuple[str, ...]:
        """The distinct entities, in order of their first dataset."""
        return tuple(dict.fromkeys(dataset.entity for dataset in self.datasets.values()))

    def link_table(self) -> pd.DataFrame:
        """Return every link as a row: group, row, p, q (global rows), weight, score.

        ``group`` is the position in `links`, ``row`` the position within that group.
        """
        frames = [
            pd.DataFrame(
                {
                    "group": group,
                    "row": np.arange(len(links)),
                    "p": links.i + self.offsets[links.source].start,
                    "q": links.j + self.offsets[links.target].start,
                    "weight": links.weight,
                    "score": np.nan if links.score is None else links.score,
                }
            )
            for group, links in enumerate(self.links)
        ]
        columns = ["group", "row", "p", "q", "weight", "score"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def adjacency(self, sign: int | str | None = None) -> sp.csr_array:
        """Return the symmetric weight matrix W of all links.

        Parameters
        ----------
        sign : {None, 1, -1, "positive", "negative"}
            None for the signed W = W+ - W-; 1 for W+, -1 for W-, both non-negative.

        Returns
        -------
        csr_array of shape (n_rows, n_rows)
            ``W[p, q]`` is the weight between global rows p and q. Repeated links are summed and
            clipped to [-1, 1].

        Notes
        -----
        Costs O(links).
        """
        if sign not in list(_SIGNS):
            raise DataError.of("bad-sign", "adjacency", "sign must be None, 1 or -1", str(sign))
        n = self.n_rows
        empty: Ints = np.zeros(0, dtype=np.int64)
        p = np.concatenate([empty, *(g.i + self.offsets[g.source].start for g in self.links)])
        q = np.concatenate([empty, *(g.j + self.offsets[g.target].start for g in self.links)])
        weight = np.concatenate([np.zeros(0), *(group.weight for group in self.links)])
        low, high = np.minimum(p, q), np.maximum(p, q)
        upper = sp.coo_array((weight, (low, high)), shape=(n, n)).tocsr()
        upper.sum_duplicates()
        upper.data = np.clip(upper.data, -1.0, 1.0)
        if (wanted_sign := _SIGNS[sign]) is not None:
            upper.data = np.maximum(wanted_sign * upper.data, 0.0)
        upper.eliminate_zeros()
        return sp.csr_array(upper + upper.T)

    def label(self, name: str | None = None) -> Labels | None:
        """Return the label column of that name, or the first, or None."""
        for column in self.labels:
            if name is None or column.name == name:
                return column
        return None

    def edit(self) -> Edit:
        """Return edits that give changed copies: add, drop, rename, subset, reorder."""
        return Edit(self)

    def holdout(
        self,
        links: float = 0.2,
        comparisons: float = 0.0,
        objects: Mapping[str, float] | None = None,
        random_state: int = 0,
    ) -> tuple[HeteroData, HeteroData]:
        """Split links and comparisons into a training part and a held-out part.

        Parameters
        ----------
        links, comparisons : float
            Share to hold out. Links are split by unordered pair of objects, within each
            combination of datasets, kind and sign.
        objects : mapping of str to float, optional
            Share of rows to hold out by dataset, with all their links and comparisons; objects
            leave every view.
        random_state : int

        Returns
        -------
        train, held_out : HeteroData
            Without `objects` both have all rows. With it, the reduced datasets of `held_out` have
            the held-out rows and the rows of held-out links and comparisons (``transform`` skips
            fitted ids), and a kernel has one column per row of `train`.

        Notes
        -----
        The only link of a featureless item is never held out, because the item could not be
        placed.
        """
        shares = dict(objects or {})
        _check_holdout({"links": links, "comparisons": comparisons, **shares}, random_state)
        rng = np.random.default_rng(random_state)
        parts = {self[name].name: share for name, share in shares.items()}
        out = draw_rows_out(self.offsets, self.object_of, parts, rng)
        links_mask = self._links_out(links, out, rng)
        compared = self._compared_out(comparisons, out, rng)
        kept_rows = {name: np.flatnonzero(~out[rows]) for name, rows in self.offsets.items()}
        train = _with_statements(self, ~links_mask, ~compared).edit().subset(kept_rows)
        held_out = _with_statements(self, links_mask, compared)
        if shares:
            held_out = _with_new_rows(held_out, out, kept_rows)
        return train, held_out

    def _links_out(self, share: float, out: Bools, rng: Rng) -> Bools:
        """Return a mask of held-out rows of `link_table`; `out` masks held-out global rows."""
        table = self.link_table()
        if not len(table):
            return np.zeros(0, dtype=bool)
        rows = table[["p", "q"]].to_numpy(np.int64)
        kinds = [f"{links.source}\0{links.target}\0{links.kind}\0" for links in self.links]
        kind = np.unique(kinds, return_inverse=True)[1]
        negative = table["weight"].to_numpy(np.float64) < 0
        bare = np.ones(self.n_objects, dtype=bool)
        for name, place in self.offsets.items():
            if not self[name].is_featureless:
                bare[self.object_of[place]] = False
        return draw_links_out(
            np.sort(self.object_of[rows], axis=1),
            2 * kind[table["group"].to_numpy(np.int64)] + negative,
            out[rows].any(axis=1),
            bare,
            share,
            rng,
        )

    def _compared_out(self, share: float, out: Bools, rng: Rng) -> Bools:
        """Return a mask of held-out comparisons; `out` masks held-out global rows."""
        if self.comparisons is None:
            return np.zeros(0, dtype=bool)
        compared: Bools = np.asarray(out[self.comparisons.objects].any(axis=1))
        free = np.flatnonzero(~compared)
        compared[rng.permutation(free)[: round(share * len(free))]] = True
        return compared

    def held_out_statements(self, links: float, comparisons: float, random_state: int) -> Bools:
        """Return a mask of the statements that `holdout` holds out: links, then comparisons."""
        _check_holdout({"links": links, "comparisons": comparisons}, random_state)
        rng = np.random.default_rng(random_state)
        no_rows = draw_rows_out(self.offsets, self.object_of, {}, rng)
        links_mask = self._links_out(links, no_rows, rng)
        return np.concatenate([links_mask, self._compared_out(comparisons, no_rows, rng)])

    def fingerprint(self) -> str:
        """Return the SHA-256 of the content as hex; equal data have equal fingerprints."""
        return self._fingerprint

    def digest_of_items(self) -> HASH:
        """Return the digest of the datasets, which `fingerprint` extends; cached for the items."""

        def make() -> HASH:
            digest = hashlib.sha256()
            for dataset in self.datasets.values():
                for name in ("dataset", dataset.name, dataset.entity):
                    _update_digest(digest, name)
                _update_digest_each(digest, dataset.ids)
                recipe = json.dumps(_recipe_content(dataset), sort_keys=True, default=str)
                for value in (dataset.X, dataset.kernel, dataset.distance, dataset.feature_names):
                    _update_digest(digest, value)
                _update_digest(digest, dataset.table)
                _update_digest(digest, recipe)
            return digest

        parts = tuple(self.datasets.values())
        return ITEM_RESULTS.get_or_compute(parts or self, "digest", make).copy()

    @cached_property
    def _fingerprint(self) -> str:
        digest = self.digest_of_items()

        def feed(*values: object) -> None:
            for value in values:
                _update_digest(digest, value)

        for links in self.links:
            feed("links", links.source, links.target, links.kind, links.role, links.complete)
            feed(links.i, links.j, links.weight, links.score, links.meta)
        if self.comparisons is not None:
            feed("comparisons", self.comparisons.objects, self.comparisons.weight)
            if self.comparisons.meta is not None:
                feed(self.comparisons.meta)
        for column in self.labels:
            feed("labels", column.dataset, column.name)
            _update_digest_each(digest, column.values)
        return digest.hexdigest()


# Texts whose `repr` is the text between apostrophes.
_PLAIN_TEXT = re.compile(r"[ -&(-\[\]-~]*")
_MIN_BATCH_ROWS = 1_000


@dataclass(frozen=True)
class Edit:
    """Edits of a HeteroData that return changed copies.

    Examples
    --------
    >>> from hetviz import Dataset, HeteroData, Links
    >>> a, b = Dataset("a", ["x", "y"]), Dataset("b", ["u", "v"])
    >>> data = HeteroData([a, b], [Links("a", "b", [0, 1], [1, 0])])
    >>> data.edit().subset({"a": ["y"]}).links[0].i.tolist()
    [0]
    """

    data: HeteroData

    def add(self, *parts: Dataset | Links | Comparisons | Labels | pd.DataFrame) -> HeteroData:
        """Add datasets, links, comparisons or labels; existing rows keep their positions.

        A table adds links, see `links` of `HeteroData.from_frames`.
        """
        data = self.data
        datasets = [*data.datasets.values()]
        links, labels, comparisons = [*data.links], [*data.labels], data.comparisons
        checked_parts: Sequence[object] = parts
        for part in checked_parts:
            if isinstance(part, Dataset):
                datasets.append(part)
            elif isinstance(part, Links):
                links.append(part)
            elif isinstance(part, Labels):
                labels.append(part)
            elif isinstance(part, pd.DataFrame):
                links += call_implementation("read_links", data, part)
            elif not isinstance(part, Comparisons):
                message = "only a Dataset, Links, Comparisons, Labels or a table can be added"
                raise DataError.of("bad-part", "edit", message, repr(part)[:80])
            else:
                comparisons = (
                    part if comparisons is None else _concat_comparisons(comparisons, part)
                )
        return HeteroData(datasets, links, comparisons, labels)

    def drop(self, *names: str) -> HeteroData:
        """Remove datasets with their links, comparisons and labels."""
        dropped = {self.data[name].name for name in names}
        remaining = [dataset for name, dataset in self.data.datasets.items() if name not in dropped]
        rows = {
            name: np.arange(0 if name in dropped else len(dataset))
            for name, dataset in self.data.datasets.items()
        }
        return _rebuild(self.data, remaining, rows)

    def rename(self, old: str, new: str) -> HeteroData:
        """Rename a dataset; an entity named after it is renamed too."""
        dataset = self.data[old]
        if new != old and new in self.data.datasets:
            raise DataError.of(
                "duplicate-name", f"dataset {old!r}", "two datasets would have the same name", new
            )
        entity = new if dataset.entity == old and len(self.data.views(old)) == 1 else dataset.entity
        datasets = [
            replace(part, name=new, entity=entity) if part.name == old else part
            for part in self.data.datasets.values()
        ]
        links = [
            group.between(
                new if group.source == old else group.source,
                new if group.target == old else group.target,
            )
            for group in self.data.links
        ]
        labels = [
            replace(column, dataset=new) if column.dataset == old else column
            for column in self.data.labels
        ]
        return HeteroData(datasets, links, self.data.comparisons, labels)

    def replace(self, dataset: Dataset) -> HeteroData:
        """Replace a dataset by a new version; rows are matched by id.

        Links and comparisons of removed rows are dropped; new rows have no labels.
        """
        old = self.data[dataset.name]
        rows: dict[str, Ints] = {
            name: np.arange(len(part)) for name, part in self.data.datasets.items()
        }
        rows[old.name] = old.find(dataset.ids)
        datasets = [
            dataset if name == old.name else part for name, part in self.data.datasets.items()
        ]
        return _rebuild(self.data, datasets, rows)

    def set_entity(self, name: str, entity: str) -> HeteroData:
        """Set the entity of a dataset; datasets of one entity are views of the same items.

        Ids, links and comparisons do not change.
        """
        self.data[name]
        datasets = [
            replace(part, entity=entity) if part.name == name else part
            for part in self.data.datasets.values()
        ]
        return HeteroData(datasets, self.data.links, self.data.comparisons, self.data.labels)

    def subset(self, rows: Mapping[str, Sequence[object] | Array]) -> HeteroData:
        """Select rows of some datasets by ids, row positions or a mask.

        Links and comparisons of other rows of these datasets are dropped.
        """
        taken = self._rows(rows)
        datasets = [
            dataset.subset(taken[name]) if name in rows else dataset
            for name, dataset in self.data.datasets.items()
        ]
        return _rebuild(self.data, datasets, taken)

    def reorder(self, order: Sequence[str] | Mapping[str, Sequence[object] | Array]) -> HeteroData:
        """Change the order of the datasets (a list of names), or of rows (name to ids or rows).

        Raises
        ------
        hetviz.errors.DataError
            If not every dataset, or every row of a given dataset, occurs exactly once.
        """
        if isinstance(order, Mapping):
            taken = self._rows(order)
            for name in order:
                if not np.array_equal(np.sort(taken[name]), np.arange(len(self.data[name]))):
                    raise DataError.of("bad-order", f"dataset {name!r}", "each row must occur once")
            return self.subset(order)
        if Counter(list(order)) != Counter(list(self.data.datasets)):
            raise DataError.of("bad-order", "datasets", "each must occur once", str(order))
        everything = {name: np.arange(len(self.data[name])) for name in self.data.datasets}
        return _rebuild(self.data, [self.data[name] for name in order], everything)

    def weigh(self, factors: Mapping[str, float]) -> HeteroData:
        """Scale the weights of kinds of links; scores stay as they are.

        Parameters
        ----------
        factors : mapping of str to float
            Key of a kind (see `hetviz.data.model.links.kind_key`) -> factor from 0 to 1; 0 removes
            the links. Other kinds do not change.

        Raises
        ------
        hetviz.errors.DataError
            Listing all unknown keys and invalid factors.
        """
        kinds = dict.fromkeys(kind_key(group) for group in self.data.links)
        problems = []
        for key, factor in factors.items():
            checked: Any = factor
            if key not in kinds:
                near = difflib.get_close_matches(str(key), kinds, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(kinds)}."
                message = "links of this kind do not exist"
                problems.append(
                    Problem("unknown-links", "weights of links", message, str(key), hint)
                )
            elif isinstance(checked, bool) or not isinstance(checked, (int, float, np.number)):
                problems.append(
                    Problem("bad-factor", f"weight of {key}", "a number is needed", repr(checked))
                )
            elif not 0 <= checked <= 1:
                message = "the weight must be between 0 and 1"
                problems.append(Problem("bad-factor", f"weight of {key}", message, f"{checked:g}"))
        if problems:
            raise DataError(problems)
        links = []
        for group in self.data.links:
            factor = factors.get(kind_key(group), 1)
            if factor > 0:
                links.append(group if factor == 1 else group.weighed(float(factor)))
        return HeteroData(self.data.datasets, links, self.data.comparisons, self.data.labels)

    def unlink(self, name: str, id: str) -> HeteroData:
        """Remove the links of one item; the item stays.

        Raises
        ------
        hetviz.errors.DataError
            If the item is unknown or has no links.
        """
        row, chosen = self.data[name].position(id), []
        for group in self.data.links:
            is_source = (group.i == row) & (group.source == name)
            chosen.append(~(is_source | (group.j == row) & (group.target == name)))
        mask = np.concatenate([*chosen, np.zeros(0, dtype=bool)])
        if mask.all():
            raise DataError.of("nothing-to-leave", f"{id!r} of {name!r}", "it has no links")
        compared = self.data.comparisons
        return _with_statements(
            self.data, mask, np.ones(0 if compared is None else len(compared), dtype=bool)
        )

    def _rows(self, rows: Mapping[str, Sequence[object] | Array]) -> dict[str, Ints]:
        out = {name: np.arange(len(dataset)) for name, dataset in self.data.datasets.items()}
        for name, chosen in rows.items():
            dataset = self.data[name]
            out[name] = rows_of(dataset, chosen)
        return out


def _recipe_content(dataset: Dataset) -> dict[str, object] | None:
    """Return the recipe with its title column and without the id column, for the fingerprint.

    An explicit default title gives the same content, and so do old data without an id column.
    """
    title = {} if dataset.title_column is None else {"title": dataset.title_column}
    recipe = {name: value for name, value in (dataset.recipe or {}).items() if name != "id"}
    return {**recipe, **title} or None


def _update_digest(digest: HASH, value: object) -> None:
    if isinstance(value, sp.csr_array):
        for part in (value.indptr, value.indices, value.data):
            _update_digest(digest, part)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, pd.DataFrame):
        digest.update(csv_of(value))
    else:
        _update_digest_each(digest, [value])


def _update_digest_each(digest: HASH, values: Iterable[object]) -> None:
    if isinstance(values, np.ndarray) and len(values) > _MIN_BATCH_ROWS:
        plain = values.tolist()
        # Fast path with the same bytes as below.
        if all(type(text) is str for text in plain) and _PLAIN_TEXT.fullmatch("".join(plain)):
            whole = "".join([f"{len(text) + 2}:'{text}'" for text in plain])
            digest.update(whole.encode())
            return
    texts = [repr(value).encode() for value in values]
    digest.update(b"".join([b"%d:%b" % (len(text), text) for text in texts]))


def _count_text(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _datasets(gate: ProblemCollector, source: object) -> list[Dataset]:
    """Return the datasets; report other objects with the call that converts them."""
    if isinstance(source, Dataset):
        return [source]
    parts = list(source.values() if isinstance(source, Mapping) else source)  # type: ignore[call-overload]
    for part in parts:
        if not isinstance(part, Dataset):
            gate.refuse(
                "not-a-dataset",
                "data",
                "a Dataset is needed",
                type(part).__name__,
                "Call HeteroData.from_frames({'name': table, ...}) to make datasets of tables, "
                "matrices and graphs.",
            )
    return [part for part in parts if isinstance(part, Dataset)]


def _check_links(gate: ProblemCollector, by_name: Mapping[str, Dataset], links: Links) -> None:
    where = f"links {links.source} - {links.target}"
    for end, name, rows in (("source", links.source, links.i), ("target", links.target, links.j)):
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1)
            gate.refuse(
                "unknown-dataset",
                where,
                f"the {end} dataset is unknown",
                name,
                f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(by_name)}.",
            )
        else:
            checks.check_positions(gate, f"{where}, {end}", rows, len(by_name[name]))


def _check_labels(gate: ProblemCollector, by_name: Mapping[str, Dataset], column: Labels) -> None:
    where = f"labels {column.name!r}"
    if column.dataset not in by_name:
        gate.refuse("unknown-dataset", where, "the dataset is unknown", column.dataset)
    elif len(column) != len(by_name[column.dataset]):
        gate.refuse(
            "row-count",
            where,
            f"{len(column)} labels, but dataset {column.dataset!r} has "
            f"{len(by_name[column.dataset])} rows",
            len(column),
        )


def _concat_comparisons(first: Comparisons, second: Comparisons) -> Comparisons:
    if first.objects.shape[1] == second.objects.shape[1]:
        objects = np.vstack([first.objects, second.objects])
    else:
        objects = np.vstack([first.pairs, second.pairs])
    meta = concat_meta(first.meta, len(first), second.meta, len(second))
    return Comparisons(objects, np.concatenate([first.weight, second.weight]), meta=meta)


def _rebuild(data: HeteroData, datasets: Sequence[Dataset], rows: Mapping[str, Ints]) -> HeteroData:
    """Rebuild `data` from `datasets`; new row r is old row ``rows[name][r]``, -1 if it is new."""
    new_row_of: dict[str, Ints] = {}
    for name, dataset in data.datasets.items():
        new_row_of[name] = np.full(len(dataset), -1, dtype=np.int64)
        old_rows = np.flatnonzero(rows[name] >= 0)
        new_row_of[name][rows[name][old_rows]] = old_rows
    names = {dataset.name for dataset in datasets}
    links = []
    for group in data.links:
        if group.source not in names or group.target not in names:
            continue
        i, j = new_row_of[group.source][group.i], new_row_of[group.target][group.j]
        old_rows = np.flatnonzero((i >= 0) & (j >= 0))
        links.append(group.moved(i[old_rows], j[old_rows], old_rows))
    labels = []
    for column in data.labels:
        if column.dataset in names:
            labels.append(column.take(rows[column.dataset]))
    return HeteroData(datasets, links, _moved_comparisons(data, datasets, new_row_of), labels)


def _moved_comparisons(
    data: HeteroData, datasets: Sequence[Dataset], new_row_of: Mapping[str, Ints]
) -> Comparisons | None:
    if data.comparisons is None:
        return None
    globally = np.full(data.n_rows, -1, dtype=np.int64)
    start = 0
    for dataset in datasets:
        old = new_row_of[dataset.name]
        globally[data.offsets[dataset.name]] = np.where(old >= 0, old + start, -1)
        start += len(dataset)
    objects = globally[data.comparisons.objects]
    complete = np.flatnonzero((objects >= 0).all(axis=1))
    if not len(complete):
        return None
    remaining = data.comparisons.take(complete)
    return Comparisons(objects[complete], remaining.weight, meta=remaining.meta)


def _check_holdout(shares: Mapping[str, object], random_state: object) -> None:
    for name, share in shares.items():
        if not isinstance(share, int | float | np.number) or not 0 <= share < 1:
            raise ParameterError(f"holdout: {name} = {share!r} must be a share from 0 to below 1.")
    if not isinstance(random_state, int | np.integer) or random_state < 0:
        raise ParameterError(
            f"holdout: random_state = {random_state!r} must be a whole number of 0 or more."
        )


def _with_statements(data: HeteroData, chosen: Bools, compared: Bools) -> HeteroData:
    """Return `data` with the masked links and comparisons only."""
    groups = data.link_table()["group"].to_numpy(np.int64)
    links: list[Links] = []
    for group, all_of in enumerate(data.links):
        taken = all_of.take(chosen[groups == group])
        if len(taken):
            links.append(taken)
    comparisons = data.comparisons.take(compared) if data.comparisons is not None else None
    if comparisons is not None and len(comparisons) == 0:
        comparisons = None
    return HeteroData(data.datasets, links, comparisons, data.labels)


def with_statements(data: HeteroData, chosen: Bools) -> HeteroData:
    """Return `data` with the masked statements only: links in order, then comparisons."""
    n_links = sum(map(len, data.links))
    return _with_statements(data, chosen[:n_links], chosen[n_links:])


def _with_new_rows(held_out: HeteroData, out: Bools, kept_rows: Mapping[str, Ints]) -> HeteroData:
    """Reduce datasets with held-out rows to these rows and the rows of held-out statements."""
    named = out.copy()
    table = held_out.link_table()
    named[table[["p", "q"]].to_numpy(np.int64).ravel()] = True
    if held_out.comparisons is not None:
        named[held_out.comparisons.objects.ravel()] = True
    rows = {
        name: np.flatnonzero(named[place])
        for name, place in held_out.offsets.items()
        if out[place].any()
    }
    smaller = held_out.edit().subset(rows)
    datasets: list[Dataset] = [
        held_out[name].as_new(rows[name], kept_rows[name]) if name in rows else dataset
        for name, dataset in smaller.datasets.items()
    ]
    labels: tuple[Labels, ...] = smaller.labels
    compared: Comparisons | None = smaller.comparisons
    return HeteroData(datasets, smaller.links, compared, labels)
