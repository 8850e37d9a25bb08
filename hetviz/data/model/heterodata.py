"""Several datasets and all that is known of how their items relate."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Ints
from hetviz.data.model import checks
from hetviz.data.model.checks import Gate
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.frozen import Frozen
from hetviz.data.model.labels import Labels
from hetviz.data.model.links import Links
from hetviz.errors import DataError, Problem

if TYPE_CHECKING:
    from hetviz.data.edits.edit import Edit

_SIGNS = {None: None, 1: 1, -1: -1, "+": 1, "-": -1, "positive": 1, "negative": -1}


@dataclass(frozen=True, eq=False, repr=False, init=False)
class HeteroData(Frozen):
    """Datasets with links, comparisons and labels.

    Parameters
    ----------
    datasets : sequence of Dataset
        Names must differ; ``.datasets`` is then a mapping from name to Dataset.
    links : sequence of Links
    comparisons : Comparisons, optional
    labels : sequence of Labels

    Attributes
    ----------
    offsets : mapping of str to slice
        Where each dataset's rows lie among the global rows 0 .. n_rows - 1.
    object_of : array of int, shape (n_rows,)
        ``object_of[r]`` is the object that global row r shows; rows of views share it.

    Raises
    ------
    hetviz.errors.DataError
        Listing every link, comparison or label that names something unknown.
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
        gate = Gate()
        parts = list(datasets.values() if isinstance(datasets, Mapping) else datasets)
        if not parts:
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
        link_list = (links,) if isinstance(links, Links) else tuple(links)
        label_list = (labels,) if isinstance(labels, Labels) else tuple(labels)
        for group in link_list:
            _check_links(gate, by_name, group)
        if comparisons is not None:
            total = sum(len(dataset) for dataset in by_name.values())
            checks.positions_of(gate, "comparisons", comparisons.objects, total)
        for column in label_list:
            _check_labels(gate, by_name, column)
        gate.close()
        object.__setattr__(self, "datasets", MappingProxyType(by_name))
        object.__setattr__(self, "links", link_list)
        object.__setattr__(self, "comparisons", comparisons)
        object.__setattr__(self, "labels", label_list)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(dataset):,}" for name, dataset in self.datasets.items())
        links = sum(map(len, self.links))
        compared = 0 if self.comparisons is None else len(self.comparisons)
        parts = [_counted(links, "link"), _counted(compared, "comparison")]
        return f"HeteroData({sizes}; {', '.join(parts)})"

    def __getitem__(self, name: str) -> Dataset:
        try:
            return self.datasets[name]
        except KeyError:
            near = difflib.get_close_matches(name, self.datasets, n=1)
            hint = (
                f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(self.datasets)}."
            )
            raise DataError(
                Problem("unknown-dataset", "data", "there is no such dataset", name, hint)
            ) from None

    @property
    def n_rows(self) -> int:
        """Rows of all datasets together."""
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
        seen: dict[tuple[str, str], int] = {}
        out = np.empty(self.n_rows, dtype=np.int64)
        row = 0
        for dataset in self.datasets.values():
            for text in dataset.ids:
                out[row] = seen.setdefault((dataset.entity, text), len(seen))
                row += 1
        return checks.frozen(out)

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
        """Return the names of the datasets that show objects of an entity."""
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
            raise DataError(
                Problem("bad-sign", "adjacency", "sign must be None, 1 or -1", str(sign))
            )
        n = self.n_rows
        table = self.link_table()
        p, q = table["p"].to_numpy(np.int64), table["q"].to_numpy(np.int64)
        weight = table["weight"].to_numpy(np.float64)
        low, high = np.minimum(p, q), np.maximum(p, q)
        upper = sp.coo_array((weight, (low, high)), shape=(n, n)).tocsr()
        upper.sum_duplicates()
        upper.data = np.clip(upper.data, -1.0, 1.0)
        wanted = _SIGNS[sign]
        if wanted is not None:
            upper.data = np.maximum(wanted * upper.data, 0.0)
        upper.eliminate_zeros()
        return sp.csr_array(upper + upper.T)

    def label(self, name: str | None = None) -> Labels | None:
        """Return the label column of that name, or the first, or None."""
        for column in self.labels:
            if name is None or column.name == name:
                return column
        return None

    def edit(self) -> Edit:
        """Return the edits that give a changed copy: add, drop, rename, subset, reorder."""
        from hetviz.data.edits.edit import Edit

        return Edit(self)

    def holdout(
        self,
        links: float = 0.2,
        comparisons: float = 0.0,
        objects: Mapping[str, float] | None = None,
        random_state: int = 0,
    ) -> tuple[HeteroData, HeteroData]:
        """Split what is known into a part to learn from and a part to judge by.

        Parameters
        ----------
        links, comparisons : float
            Share to hold out. Links are split by unordered pair of objects, within each block of
            datasets, kind and sign.
        objects : mapping of str to float, optional
            Share of whole rows to take out, per dataset, with all that names them; the same
            objects leave every view.
        random_state : int

        Returns
        -------
        train, held_out : HeteroData
            Without `objects` both have all rows. With it, `held_out` has, of the datasets that lost
            rows, those rows and the rows that a held-out link or comparison names (``transform``
            skips fitted ids); a kernel then has one column for each row of `train`.

        Notes
        -----
        A link that is the only one of a featureless item is never held out: the item would have
        no position.
        """
        from hetviz.data.edits.holdout import split

        return split(self, links, comparisons, dict(objects or {}), random_state)

    def fingerprint(self) -> str:
        """Return a SHA-256 of the content, as hex: equal data have equal fingerprints."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256()

        def feed(*values: Any) -> None:
            for value in values:
                _feed(digest, value)

        for dataset in self.datasets.values():
            feed("dataset", dataset.name, dataset.entity, *dataset.ids)
            feed(dataset.X, dataset.kernel, dataset.distance, dataset.feature_names)
            feed(dataset.table, json.dumps(_said_of(dataset), sort_keys=True, default=str))
        for links in self.links:
            feed("links", links.source, links.target, links.kind, links.role, links.complete)
            feed(links.i, links.j, links.weight, links.score, links.meta)
        if self.comparisons is not None:
            feed("comparisons", self.comparisons.objects, self.comparisons.weight)
            if self.comparisons.meta is not None:
                feed(self.comparisons.meta)
        for column in self.labels:
            feed("labels", column.dataset, column.name, *column.values)
        return digest.hexdigest()


def _said_of(dataset: Dataset) -> dict[str, Any] | None:
    """Return the recipe with its title column, so that to name the default changes nothing."""
    title = {} if dataset.title_column is None else {"title": dataset.title_column}
    return {**(dataset.recipe or {}), **title} or None


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, sp.csr_array):
        for part in (value.indptr, value.indices, value.data):
            _feed(digest, part)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, pd.DataFrame):
        digest.update(value.to_csv(index=False).encode())
    else:
        text = repr(value).encode()
        digest.update(f"{len(text)}:".encode() + text)


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _check_links(gate: Gate, by_name: Mapping[str, Dataset], links: Links) -> None:
    where = f"links {links.source} - {links.target}"
    for end, name, rows in (("source", links.source, links.i), ("target", links.target, links.j)):
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1)
            gate.refuse(
                "unknown-dataset",
                where,
                f"the {end} dataset is unknown",
                name,
                f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(by_name)}.",
            )
        else:
            checks.positions_of(gate, f"{where}, {end}", rows, len(by_name[name]))


def _check_labels(gate: Gate, by_name: Mapping[str, Dataset], column: Labels) -> None:
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
