"""Builder of HeteroData from tables, links, labels and comparisons (`HeteroData.from_frames`)."""

from __future__ import annotations

import datetime as dt
import difflib
import enum
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._text import count, join_words
from hetviz._types import Floats, Ints, Texts, is_sparse
from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.data.joins.proposals import propose_joins
from hetviz.data.model.dataset import MADE_IDS, REPEATED_ID
from hetviz.errors import DataError, DataWarning, ParameterError, Problem
from hetviz.errors import limit_problems as first_of
from hetviz.features.columns.types import Column, infer
from hetviz.features.recipe import make_features_with_notes
from hetviz.io import gate
from hetviz.io.datasets.images import thumbnail
from hetviz.io.frames.edge_arrays import edges_of_array
from hetviz.io.frames.graphs import Foreign, edges_of_graph, graph_of, is_graph
from hetviz.io.frames.tables import VIEWED, Parts, Rows, as_frame, detached, rows_of_all
from hetviz.io.infer.roles import guess_labels, guess_title, named_title

_NUMBERS = ("weight", "score")
_WORDS = ("kind", "role")
_ENDS = (("source_id", "target_id"), ("source", "target"))
_ITEMS = (("anchor", "near", "far"), ("a", "b", "c", "d"), ("a", "b", "c"))
_JOIN_SCORE = 0.5


LabelInput: TypeAlias = str | Sequence[Any] | Mapping[str, Any] | Any
"""Names of label columns, labels of all rows, or labels by name."""


def from_frames(
    frames: object,
    links: object = None,
    *,
    ids: Mapping[str, str] | None,
    labels: Mapping[str, LabelInput] | None,
    columns: Mapping[str, Mapping[str, object]] | None,
    titles: Mapping[str, str] | None,
    pictures: Mapping[str, str] | None,
    features: Mapping[str, Parts] | None,
    entities: Mapping[str, str] | None,
    comparisons: object,
    unknown: str,
) -> HeteroData:
    """See `hetviz.data.HeteroData.from_frames`."""
    if unknown not in ("raise", "drop"):
        raise ParameterError(f"from_frames: unknown = {unknown!r}; 'raise' or 'drop'.")
    all_rows = rows_of_all(frames, features or {})
    names = [rows.name for rows in all_rows]
    for word, argument in (
        ("ids", ids), ("labels", labels), ("columns", columns), ("titles", titles),
        ("pictures", pictures), ("features", features), ("entities", entities),
    ):  # fmt: skip
        _check_names(word, argument, names)
    datasets: list[Dataset] = []
    all_labels: list[Labels] = []
    for rows in all_rows:
        if rows.dataset is not None:
            datasets.append(rows.dataset)
            continue
        name = rows.name
        dataset, dataset_labels = _dataset(
            rows,
            (ids or {}).get(name),
            None if labels is None else labels.get(name, ()),
            (columns or {}).get(name, {}),
            (titles or {}).get(name),
            (pictures or {}).get(name),
            (entities or {}).get(name),
        )
        datasets.append(dataset)
        all_labels += dataset_labels
    _check_views([dataset for dataset in datasets if dataset.entity == VIEWED])
    data = HeteroData(datasets, (), None, all_labels)
    collector = _LinkCollector(data, unknown)
    for rows in all_rows:
        for kind, edges in rows.edges:
            collector.add_table(edges, rows.name, rows.name, kind, role="relation")
    if isinstance(links, str):
        if links != "auto":
            raise ParameterError(
                f"from_frames: links = {links!r} must be 'auto', a table or pairs."
            )
        return _join_automatically(data.edit().add(*collector.links))
    collector.add(links)
    compared = _read_comparisons(data, comparisons, collector)
    return HeteroData(data.datasets, collector.links, compared, all_labels)


def read_links(data: HeteroData, links: object) -> list[Links]:
    """Return links given in any form that `from_frames` accepts."""
    collector = _LinkCollector(data, "raise")
    collector.add(links)
    return collector.links


def _check_names(word: str, argument: object, names: Sequence[str]) -> None:
    if argument is None:
        return
    if not isinstance(argument, Mapping):
        remedy = f"Write {word}={{'{names[0]}': ...}}."
        message = "a dictionary by dataset is needed"
        raise DataError.of("not-by-dataset", word, message, repr(argument)[:60], remedy)
    unknown = [name for name in argument if name not in names]
    if unknown:
        raise DataError(
            Problem(
                "unknown-dataset",
                word,
                "this dataset does not exist",
                str(n),
                _suggestion(n, names),
            )
            for n in unknown
        )


def _suggestion(name: object, names: Iterable[object]) -> str:
    texts = list(map(str, names))
    if near := difflib.get_close_matches(str(name), texts, n=1):
        return f"Did you mean {near[0]!r}?"
    return f"Available: {', '.join(texts[:20])}." if texts else "None are available."


def _check_views(views: list[Dataset]) -> None:
    """Refuse views of the same items, given as a list, that have no item in common."""
    for view in views[1:]:
        first = views[0]
        numbered = first.has_row_numbers and view.has_row_numbers
        if len(first) == len(view) if numbered else (first.find(view.ids) >= 0).any():
            continue
        message = f"a list holds views of the same items, but this is not so for {first.name!r}"
        remedy = "Name datasets of different items: from_frames({'dishes': dishes, ...})."
        size = f"{len(first):,} and {len(view):,} rows"
        raise DataError.of("not-views", f"dataset {view.name!r}", message, size, remedy)


def _dataset(
    rows: Rows,
    id_column: str | None,
    given_labels: LabelInput | None,
    columns: Mapping[str, object],
    title: str | None,
    picture: str | None,
    entity: str | None,
) -> tuple[Dataset, list[Labels]]:
    where = f"dataset {rows.name!r}"
    if not len(rows):
        message = "the table has no rows"
        raise DataError.of("no-rows", where, message, remedy="Give at least one row.")
    table = pd.DataFrame(index=range(len(rows))) if rows.table is None else rows.table
    labels, label_values = _own_labels(given_labels, table)
    named_columns = [
        name for name in (id_column, title, picture, *(labels or ()), *columns) if name
    ]
    missing = [name for name in named_columns if name not in table.columns]
    if missing:
        raise DataError(
            Problem(
                "unknown-column",
                where,
                "this column does not exist",
                n,
                _suggestion(n, table.columns),
            )
            for n in missing
        )
    keys, used, repeated = _row_keys(rows, table, id_column)
    if used is not None:
        table = table.drop(columns=used)
    column_info = {str(name): infer(str(name), table[name]) for name in table.columns}
    named = title or named_title(table.columns)
    if named is None and rows.is_table:
        named = guess_title(column_info)
    if labels is None:
        labels = guess_labels(column_info, {named, picture}) if rows.is_table else []
    recipe: dict[str, Any] = {} if used is None else {"id": used}
    if keys is None:
        recipe[MADE_IDS] = True
        keys = _cells(pd.Series(range(len(rows))))
    if repeated is not None:
        recipe[REPEATED_ID] = repeated
    if named is not None:
        recipe["title"] = named
    if picture is not None:
        recipe["media"] = picture
    orders = {column: order for column, order in rows.orders.items() if column in table.columns}
    if orders:
        recipe["orders"] = orders
    texts = texts_of_keys(keys)
    as_text = all(isinstance(key, str) for key in keys)
    dataset = Dataset(
        rows.name,
        texts.tolist(),
        rows.X,
        kernel=rows.squares.get("kernel"),
        distance=rows.squares.get("distance"),
        feature_names=None if rows.feature_names is None else list(rows.feature_names),
        table=table if table.shape[1] else None,
        media=None if picture is None else _pictures(where, table[picture], texts),
        entity=entity or rows.entity,
        recipe=recipe or None,
        keys=None if as_text else keys.tolist(),
    )
    in_order = {
        column: {"kind": "ordered", "order": order}
        for column, order in orders.items()
        if column not in {named, picture, *labels}
    }
    options = in_order | {name: _options(option) for name, option in columns.items()}
    has_table = rows.is_table and (table.shape[1] or picture)
    excluded = [*labels, *label_values]
    if (options or has_table) and not _has_no_features(
        column_info, excluded, named, options, picture
    ):
        own = [name for name in excluded if name in table.columns]
        dataset, notes = make_features_with_notes(dataset, options, labels=own)
        errors = [note for note in notes if note.severity == "error"]
        if errors:
            raise DataError(errors)
    columns_of = {name: table[name].tolist() for name in labels}
    columns_of |= {
        name: _label_values(f"labels {name!r} of {rows.name!r}", values, dataset)
        for name, values in label_values.items()
    }
    return dataset, [Labels(rows.name, name, values) for name, values in columns_of.items()]


def _own_labels(
    given: LabelInput | None, table: pd.DataFrame
) -> tuple[list[str] | None, dict[str, Foreign]]:
    """Return the label columns of the table, and labels that are given as values, by name."""
    if given is None or isinstance(given, str):
        return None if given is None else [given], {}
    if isinstance(given, Mapping):
        return [], {str(name): values for name, values in given.items()}
    cells = list(detached(given))
    # Names of columns differ, labels repeat.
    are_names = isinstance(given, list | tuple) and len({*map(str, cells)}) == len(cells)
    if are_names or {*map(str, cells)} <= {*table.columns}:
        return [str(cell) for cell in cells], {}
    name = getattr(given, "name", None)
    return [], {"label" if name is None else str(name): given}


def _label_values(where: str, values: Foreign, dataset: Dataset) -> list[object]:
    """Return one label for each row; a Series with an index is matched by id."""
    if isinstance(values, pd.Series) and not isinstance(values.index, pd.RangeIndex):
        rows = dataset.find(texts_of_keys(values.index))
        lost = values.index[rows < 0]
        if len(lost):
            message = f"dataset {dataset.name!r} has no item with this id"
            remedy = "Give series.to_numpy() if the labels are in the order of the rows."
            raise DataError.of("unknown-id", where, message, str(lost[0]), remedy)
        by_row = dict(zip(rows.tolist(), values.tolist(), strict=True))
        return [by_row.get(row) for row in range(len(dataset))]
    array = detached(values)
    if np.ndim(array) == 2 and np.shape(array)[1] == 1:
        array = np.ravel(array)
    cells = list(array)
    if len(cells) != len(dataset) or np.ndim(array) > 1:
        message = f"one label for each of the {count(len(dataset), 'row')} is needed"
        raise DataError.of(
            "row-count", where, message, str(np.shape(array)), "Give None where it is unknown."
        )
    return cells


def _has_no_features(
    column_info: Mapping[str, Column],
    labels: Sequence[str],
    title: str | None,
    options: Mapping[str, Mapping[str, object]],
    picture: str | None,
) -> bool:
    excluded = {*labels, title, picture}
    usable = [
        name
        for name, column in column_info.items()
        if name not in excluded and column.kind not in ("constant", "empty", "unique")
    ]
    return not usable and not options and picture is None


def _options(value: object) -> dict[str, object]:
    if isinstance(value, Mapping):
        return dict(value)
    return {"use": bool(value)} if isinstance(value, bool) else {"use": True, "kind": value}


def _row_keys(
    rows: Rows, table: pd.DataFrame, id_column: str | None
) -> tuple[Texts | None, str | None, str | None]:
    """Return the keys of the rows, their column, and a named id that cannot be used."""
    if id_column is not None:
        return _cells(table[id_column]), id_column, None
    if rows.keys is not None:
        return rows.keys, None, None
    named = [name for name in _named_ids(rows.name, table) if not _has_fractions(table[name])]
    for name in named:
        if table[name].notna().all() and table[name].is_unique:
            return _cells(table[name]), name, None
    # A name may repeat, but whole numbers could be taken for row numbers.
    repeated = next(
        (
            name
            for name in named
            if name.casefold().endswith("id") or pd.api.types.is_integer_dtype(table[name])
        ),
        None,
    )
    if repeated is not None:
        _warn_of_repeats(rows.name, table[repeated])
    elif rows.X is None:
        for name in table.columns:
            texts = [cell for cell in table[name].tolist() if isinstance(cell, str)]
            if len(texts) == len(table) and len({*texts, ""}) > len(texts):
                return _cells(table[name]), str(name), None
    return None, None, repeated


def _warn_of_repeats(name: str, column: pd.Series) -> None:
    """Warn that a column named as an id has empty or repeated cells."""
    cells = column.reset_index(drop=True)
    bad = cells.isna()
    problem = "is empty"
    if not bad.any():
        first = cells[cells.duplicated()].iloc[0]
        bad, problem = cells == first, f"has {str(first)!r} more than once"
    places = np.flatnonzero(bad.to_numpy(bool)).tolist()
    where = count(len(places), "row")
    shown = f"at {places[0]}" if len(places) == 1 else f"the first at {places[0]}"
    message = (
        f"dataset {name!r}: column {column.name!r} {problem} ({where}, {shown}), so it cannot "
        f"identify rows, and rows are numbered from 0. Correct it, name another column by "
        f"ids={{{name!r}: ...}}, or set the index of the table."
    )
    warnings.warn(message, DataWarning, stacklevel=2)


def _has_fractions(column: pd.Series) -> bool:
    return pd.api.types.is_float_dtype(column) and bool((column.dropna() % 1 != 0).any())


def _named_ids(name: str, table: pd.DataFrame) -> list[str]:
    singular = _singular(name)
    candidates = ("id", f"{singular}_id", f"{name}_id", f"{singular}id", singular, name)
    folded = {str(column).casefold(): str(column) for column in table.columns}
    return [folded[word.casefold()] for word in candidates if word.casefold() in folded]


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return name[:-3] + "y"
    if name.endswith(("ches", "shes", "sses", "xes")):
        return name[:-2]
    return name.removesuffix("s")


def _cells(column: pd.Series) -> Texts:
    out = np.empty(len(column), dtype=object)
    out[:] = column.tolist()
    return out


def _pictures(where: str, column: pd.Series, ids: Texts) -> list[bytes | None]:
    """Return thumbnails from cells with bytes or file names."""
    pictures: list[bytes | None] = []
    problems: list[Problem] = []
    for cell, text in zip(column.tolist(), ids.tolist(), strict=True):
        if cell is None or cell != cell or cell in ("", b""):
            pictures.append(None)
            continue
        try:
            content = bytes(cell) if isinstance(cell, bytes) else gate.read_file(Path(str(cell)))
            pictures.append(thumbnail(f"{where}, picture of {text}", content))
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    return pictures


class _LinkCollector:
    """Collects links between rows named by id, one `Links` per pair of datasets and kind."""

    def __init__(self, data: HeteroData, unknown: str) -> None:
        self.data, self.unknown = data, unknown
        self.links: list[Links] = []

    def add(self, links: object) -> None:
        """Add links given in any supported form."""
        if links is None:
            return
        if isinstance(links, Links):
            self.links.append(links)
        elif isinstance(links, Mapping) and not _is_columns(links):
            for ends, group in links.items():
                self._between(ends, group)
        elif is_graph(links):
            self._graph(links)
        else:
            if (frame := as_frame("links", links)) is not None:
                self._add_table_by_columns(frame)
            elif is_sparse(links) or hasattr(links, "__array__"):
                source, target = self._only_two("an array of links")
                self._array(source, target, "link", links)
            elif isinstance(links, Iterable):
                self._list(list(links))
            else:
                message = "a table, pairs of ids, or a mapping from (source, target) to these"
                kind = type(links).__name__
                raise DataError.of("bad-links", "links", f"{message} is needed", kind)

    def _list(self, parts: list[object]) -> None:
        if all(isinstance(part, tuple | list) and len(part) in (2, 3) for part in parts):
            if parts:
                source, target = self._only_two("a list of pairs")
                self._pairs(source, target, "link", parts)
            return
        for part in parts:
            if isinstance(part, tuple | list | str):
                message = "each link is a pair of ids, or a pair and a weight"
                remedy = "Give two rows of ids as an array."
                raise DataError.of("bad-pair", "links", message, repr(part)[:80], remedy)
            self.add(part)

    def _between(self, ends: object, group: Any) -> None:
        first, *_, last = [*self.data.datasets] * 2
        remedy = f"Write links={{({first!r}, {last!r}): pairs}}, or ({first!r}, {last!r}, 'kind')."
        if isinstance(ends, str) and ends not in self.data.datasets:
            # a kind of links whose table names the datasets
            frame = as_frame("links", group)
            if frame is None:
                source, target = self._only_two(f"links {ends!r}")
                self._pairs(source, target, ends, list(group))
            else:
                self._add_table_by_columns(frame, ends)
            return
        if not (isinstance(ends, tuple) and len(ends) in (2, 3)):
            message = "links are named by the two datasets that they join"
            raise DataError.of("bad-links", "links", message, str(ends), remedy)
        source, target, called = self._names_of(tuple(map(str, ends)))
        for name in (source, target):
            self.data[name]  # refuses an unknown one
        if isinstance(group, Links):
            self.links.append(group)
        elif is_graph(group):
            for _, edges in edges_of_graph(graph_of(group)):
                self.add_table(edges, source, target, called)
        elif is_sparse(group) or (hasattr(group, "__array__") and not hasattr(group, "columns")):
            self._array(source, target, called, group)
        else:
            frame = as_frame(f"links {source} - {target}", group)
            if frame is None:
                self._pairs(source, target, called, list(group))
            else:
                self.add_table(frame, source, target, called)

    def _names_of(self, ends: tuple[str, ...]) -> tuple[str, str, str]:
        """Return source, target and kind; PyTorch Geometric has the kind in the middle."""
        if len(ends) == 2:
            return ends[0], ends[1], "link"
        first, second, third = ends
        known = [name in self.data.datasets for name in ends[1:]]
        if all(known) and second != third:
            message = "this could be (source, target, kind) or (source, kind, target)"
            remedy = "Give the kind of links another name than the datasets."
            raise DataError.of("which-datasets", "links", message, str(ends), remedy)
        return (first, third, second) if known == [False, True] else (first, second, third)

    def _only_two(self, subject: str) -> tuple[str, str]:
        names = [*self.data.datasets]
        if len(names) > 2:
            message = f"{subject} does not name the two datasets that it links, out of {len(names)}"
            remedy = f"Write links={{({names[0]!r}, {names[1]!r}): ...}}."
            raise DataError.of("which-datasets", "links", message, "", remedy)
        return names[0], names[-1]

    def _graph(self, graph: object) -> None:
        """Add the edges of a graph whose nodes are ids or (dataset, id)."""
        for kind, edges in edges_of_graph(graph_of(graph)):
            named = [_item(node, self.data) for node in [*edges["source"], *edges["target"]]]
            m = len(edges)
            frame = edges.assign(
                source_dataset=[name for name, _ in named[:m]],
                target_dataset=[name for name, _ in named[m:]],
                source_id=pd.Series([key for _, key in named[:m]], dtype=object),
                target_id=pd.Series([key for _, key in named[m:]], dtype=object),
            ).drop(columns=["source", "target"])
            self._add_table_by_columns(frame, kind)

    def _array(self, source: str, target: str, kind: str, array: Foreign) -> None:
        """Add edges listed by an array, or a matrix of weights."""
        where = f"links {source} - {target}"
        shape = len(self.data[source]), len(self.data[target])
        matrix: Any = array if is_sparse(array) else np.asarray(detached(array))
        edges = None if is_sparse(matrix) else edges_of_array(where, matrix, shape)
        if edges is not None:
            for end, name in (("source", source), ("target", target)):
                self._check_not_positions(where, name, edges[end], (source, target))
            self.add_table(edges, source, target, kind)
        elif matrix.shape != shape:
            message = (
                "a matrix of links has a row for each source and a column for each target, and "
                "an array of edges two rows or columns of ids (a third one has weights up to 1)"
            )
            raise DataError.of("bad-shape", where, message, f"{matrix.shape}, not {shape}")
        else:
            self._matrix(source, target, kind, matrix)

    def _check_not_positions(
        self, where: str, name: str, cells: pd.Series, ends: tuple[str, str]
    ) -> None:
        """Refuse an array of row positions for a dataset whose ids are others."""
        if cells.dtype.kind != "i" or (self._rows(self.data[name], cells.tolist()) >= 0).any():
            return
        message = f"the array names rows by id, and {name!r} has none of these ids"
        remedy = f"Give hetviz.Links({ends[0]!r}, {ends[1]!r}, i, j) for row positions from 0."
        raise DataError.of("unknown-id", where, message, str(cells.iloc[0]), remedy)

    def _matrix(self, source: str, target: str, kind: str, matrix: Any) -> None:
        entries = sp.coo_array(matrix)
        i, j = (axis.astype(np.int64) for axis in entries.coords)
        weight = entries.data.astype(np.float64)
        if source == target:
            i, j, weight = _each_pair_once(f"links {source} - {target}", i, j, weight)
        mask = weight != 0
        i, j, weight = i[mask], j[mask], weight[mask]
        within = bool((np.abs(weight) <= 1).all())
        strength: dict[str, Any] = {"weight": weight} if within else {"score": weight}
        self.links.append(Links(source, target, i, j, kind=kind, **strength))

    def _pairs(self, source: str, target: str, kind: str, pairs: list[Any]) -> None:
        where = f"links {source} - {target}"
        bad = [
            Problem("bad-pair", f"{where}, {row + 1}", "a pair of ids is needed", repr(pair)[:60])
            for row, pair in enumerate(pairs)
            if not isinstance(pair, tuple | list) or len(pair) not in (2, 3)
        ]
        if bad:
            raise DataError(first_of(bad))
        frame = pd.DataFrame(
            {name: pd.Series([pair[at] for pair in pairs], dtype=object) for at, name in
             enumerate(("source", "target"))}
        )  # fmt: skip
        if any(len(pair) == 3 for pair in pairs):
            frame["weight"] = [pair[2] if len(pair) == 3 else 1.0 for pair in pairs]
        self.add_table(frame, source, target, kind)

    def _add_table_by_columns(self, frame: pd.DataFrame, kind: str = "link") -> None:
        """Add a table whose columns determine the datasets."""
        names = [*self.data.datasets]
        if {"source_dataset", "target_dataset"} <= set(frame.columns):
            if not {"source_id", "target_id"} <= set(frame.columns):
                remedy = "Name them source_id and target_id."
                message = "the columns of ids are missing"
                columns_present = ", ".join(map(str, frame.columns))
                raise DataError.of("columns", "links", message, columns_present, remedy)
            groups = frame.groupby(["source_dataset", "target_dataset"], sort=False, dropna=False)
            for (source, target), part in groups:
                others = part.drop(columns=["source_dataset", "target_dataset"])
                for name in (source, target):
                    self.data[str(name)]
                self.add_table(others, str(source), str(target), kind)
            return
        ends = next((pair for pair in _ENDS if set(pair) <= set(frame.columns)), None)
        if ends is not None:
            source, target = self._only_two(f"a table with columns {ends[0]} and {ends[1]}")
            self.add_table(frame, source, target, kind)
            return
        column_of = {
            name: column
            for name in names
            if (column := next(iter(_named_ids_of_links(name, frame)), None)) is not None
        }
        if len(column_of) == 2:
            source, target = column_of
            renamed = frame.rename(columns=dict(zip(column_of.values(), _ENDS[1], strict=True)))
            self.add_table(renamed, source, target, kind)
            return
        guessed = self._by_content(frame)
        if guessed is None:
            message = "no two columns contain ids of the datasets"
            columns_present = ", ".join(map(str, frame.columns[:10]))
            remedy = (
                f"Name two columns after the datasets ({names[0]}, {names[-1]}), or write "
                f"links={{({names[0]!r}, {names[-1]!r}): pairs}}."
            )
            raise DataError.of("columns", "links", message, columns_present, remedy)
        (source, first), (target, second) = guessed
        renamed = frame.rename(columns={first: "source", second: "target"})
        self.add_table(renamed, source, target, kind)

    def _by_content(self, frame: pd.DataFrame) -> list[tuple[str, str]] | None:
        """Return the first two columns whose cells are mostly ids, with their datasets."""
        end_columns: list[tuple[str, str]] = []
        for column in frame.columns:
            if column in (*_NUMBERS, *_WORDS):
                continue
            cells = list(dict.fromkeys(frame[column].tolist()))[:1_000]
            shares = {
                name: float((self._rows(dataset, cells) >= 0).mean()) if cells else 0.0
                for name, dataset in self.data.datasets.items()
                if name not in [of for of, _ in end_columns] or len(self.data.datasets) == 1
                if REPEATED_ID not in (dataset.recipe or {})
            }
            best = max(shares, key=lambda name: shares[name], default=None)
            if best is not None and shares[best] > 0.5:
                end_columns.append((best, str(column)))
        return end_columns[:2] if len(end_columns) >= 2 else None

    def add_table(
        self, frame: pd.DataFrame, source: str, target: str, kind: str, role: str = "guidance"
    ) -> None:
        """Add links between two datasets from a table with two id columns."""
        where = f"links {source} - {target}"
        frame = frame.reset_index(drop=True)
        first, second = self._columns(where, frame, source, target)
        i = self._look_up_rows(where, self.data[source], frame[first], target)
        j = self._look_up_rows(where, self.data[target], frame[second], source)
        good = (i >= 0) & (j >= 0)
        if not good.all():
            frame, i, j = frame[good].reset_index(drop=True), i[good], j[good]
        numbers = {name: _numbers(where, frame, name) for name in _NUMBERS}
        kinds = _texts(frame, "kind", kind)
        roles = _texts(frame, "role", role)
        other_columns = [c for c in frame.columns if c not in (first, second, *_NUMBERS, *_WORDS)]
        if not len(frame):
            self.links.append(Links(source, target, [], [], kind=kind, role=role))
        for each, each_role in dict.fromkeys(zip(kinds, roles, strict=True)):
            rows = np.flatnonzero((kinds == each) & (roles == each_role))
            self.links.append(
                Links(
                    source,
                    target,
                    i[rows],
                    j[rows],
                    _take_rows(numbers["weight"], rows),
                    score=_take_rows(numbers["score"], rows),
                    kind=each,
                    role=each_role,
                    meta=frame[other_columns].iloc[rows] if other_columns else None,
                )
            )

    def _columns(
        self, where: str, frame: pd.DataFrame, source: str, target: str
    ) -> tuple[str, str]:
        for pair in _ENDS:
            if set(pair) <= set(frame.columns):
                return pair
        id_columns = [
            next(iter(_named_ids_of_links(name, frame)), None) for name in (source, target)
        ]
        if None not in id_columns and id_columns[0] != id_columns[1]:
            return str(id_columns[0]), str(id_columns[1])
        others = [str(c) for c in frame.columns if c not in (*_NUMBERS, *_WORDS)]
        if len(others) < 2:
            message = "two columns of ids are needed"
            columns_present = ", ".join(map(str, frame.columns))
            raise DataError.of(
                "columns", where, message, columns_present, "Name them source and target."
            )
        return others[0], others[1]

    def _look_up_rows(self, where: str, dataset: Dataset, cells: pd.Series, other: str) -> Ints:
        keys = cells.tolist()
        rows = self._rows(dataset, keys)
        missing = np.flatnonzero(rows < 0)
        if not len(missing):
            return rows
        if self.unknown == "drop":
            examples = join_words([repr(keys[row]) for row in missing[:3]])
            n_rows = count(len(missing), "row")
            message = f"{where}: {n_rows} left out, because {dataset.name!r} has no {examples}."
            warnings.warn(message, DataWarning, stacklevel=2)
            return rows
        swapped = self._rows(self.data[other], [keys[row] for row in missing]) >= 0
        ids = dataset.ids.tolist() if len(dataset) <= 20_000 else []

        def remedy(place: int, key: object) -> str:
            if swapped[place] and other != dataset.name:
                return f"Dataset {other!r} has this id. Check whether the two columns are swapped."
            near = difflib.get_close_matches(str(key), ids, n=1) if place < 20 else []
            hint = f"Did you mean {near[0]!r}? " if near else ""
            return f"{hint}Correct it, or leave such rows out with unknown='drop'."

        raise DataError(
            first_of(
                Problem(
                    "unknown-id",
                    f"{where}, row {row + 1}",
                    f"dataset {dataset.name!r} has no item with this id",
                    str(keys[row]),
                    remedy(place, keys[row]),
                    row=int(row),
                )
                for place, row in enumerate(missing.tolist())
            )
        )

    def _rows(self, dataset: Dataset, keys: Sequence[object]) -> Ints:
        """Return the row of each key, matched by value or else by its text."""
        if (repeated := (dataset.recipe or {}).get(REPEATED_ID)) is not None:
            where = f"dataset {dataset.name!r}, column {repeated!r}"
            message = "links name rows by their id, and this column cannot identify rows"
            remedy = (
                "Give each row its own id, or name another column by "
                f"ids={{{dataset.name!r}: ...}}."
            )
            raise DataError.of("repeated-id", where, message, remedy=remedy)
        rows = dataset.find(keys)
        if dataset.keys is not None or any(not isinstance(key, str) for key in keys):
            lost = np.flatnonzero(rows < 0)
            rows[lost] = dataset.find(texts_of_keys(keys[row] for row in lost.tolist()))
        return rows


def _each_pair_once(where: str, i: Ints, j: Ints, weight: Floats) -> tuple[Ints, Ints, Floats]:
    """Return the links of a square matrix, a pair with equal weights in both places once."""
    if loops := int(((i == j) & (weight != 0)).sum()):
        message = f"{where}: {count(loops, 'link')} of an item with itself left out."
        warnings.warn(message, DataWarning, stacklevel=2)
    pairs = pd.DataFrame(
        {"i": np.minimum(i, j), "j": np.maximum(i, j), "weight": weight}
    )[i != j].drop_duplicates()  # fmt: skip
    return pairs["i"].to_numpy(), pairs["j"].to_numpy(), pairs["weight"].to_numpy()


def _is_columns(links: Mapping[object, object]) -> bool:
    return all(isinstance(name, str) for name in links) and all(
        isinstance(values, list | tuple | np.ndarray | pd.Series)
        and not (len(values) and isinstance(values[0], tuple | list))
        for values in links.values()
    )


def _named_ids_of_links(name: str, frame: pd.DataFrame) -> list[str]:
    singular = _singular(name)
    candidates = (name, singular, f"{singular}_id", f"{name}_id", f"{singular}id", f"{name}id")
    folded = {str(column).casefold(): str(column) for column in frame.columns}
    return [folded[word.casefold()] for word in candidates if word.casefold() in folded]


def _numbers(where: str, frame: pd.DataFrame, name: str) -> Floats | None:
    if name not in frame.columns or frame[name].isna().all():
        return None
    try:
        values = pd.to_numeric(frame[name]).to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        message = f"the column {name} does not contain numbers"
        raise DataError.of("not-numbers", where, message) from None
    missing = np.isnan(values)
    default = 1.0 if name == "weight" else 0.0
    if missing.any():
        first = int(np.flatnonzero(missing)[0]) + 1
        message = (
            f"{where}: {count(int(missing.sum()), 'link')} without a {name} (the first in row "
            f"{first}) have the {name} {default:g}."
        )
        warnings.warn(message, DataWarning, stacklevel=2)
    return np.where(missing, default, values)


def _take_rows(values: Floats | None, rows: Ints) -> Floats | None:
    return None if values is None else values[rows]


def _texts(frame: pd.DataFrame, name: str, default: str) -> Texts:
    out = np.full(len(frame), default, dtype=object)
    if name in frame.columns:
        is_filled = frame[name].notna().to_numpy()
        out[is_filled] = [str(cell) for cell in frame[name][is_filled]]
    return out


def _item(item: object, data: HeteroData) -> tuple[str, object]:
    """Return dataset and key of an item given as (dataset, key) or as a unique key."""
    if isinstance(item, tuple | list) and len(item) == 2 and item[0] in data.datasets:
        return str(item[0]), item[1]
    key = tuple(item) if isinstance(item, list) else item
    owners = [name for name, dataset in data.datasets.items() if dataset.find([key])[0] >= 0]
    if len(owners) == 1:
        return owners[0], key
    message = "no dataset has this id" if not owners else f"{join_words(owners)} have this id"
    remedy = "Write it as (dataset, id)." if owners else "Correct the id, or leave it out."
    raise DataError.of("unknown-id", "items", message, str(key), remedy)


def _read_comparisons(
    data: HeteroData, comparisons: Any, reading: _LinkCollector
) -> Comparisons | None:
    if comparisons is None or isinstance(comparisons, Comparisons):
        return comparisons
    frame = as_frame("comparisons", comparisons)
    if frame is None:
        rows = [[_item(item, data) for item in row] for row in comparisons]
    else:
        rows = _items(frame, data)
    bad = [row for row in rows if len(row) not in (3, 4)]
    if bad:
        message = "a comparison has 3 items (a is closer to b than to c) or 4"
        raise DataError.of("bad-row", "comparisons", message, repr(bad[0])[:80])
    objects = [
        [data.offsets[name].start + reading._rows(data[name], [key])[0] for name, key in row]
        for row in rows
    ]
    if not objects:
        return None
    if len({len(row) for row in objects}) > 1:
        objects = [row if len(row) == 4 else [row[0], row[1], row[0], row[2]] for row in objects]
    weight = None if frame is None else _numbers("comparisons", frame, "weight")
    return Comparisons(objects, weight)


def _items(frame: pd.DataFrame, data: HeteroData) -> list[list[tuple[str, object]]]:
    for form in _ITEMS:
        for ending in ("_id", ""):
            if all(f"{item}{ending}" in frame.columns for item in form):
                cells = [frame[f"{item}{ending}"].tolist() for item in form]
                dataset_columns = [
                    frame[f"{item}_dataset"].tolist() if f"{item}_dataset" in frame.columns else []
                    for item in form
                ]
                return [
                    [
                        (data[str(dataset_columns[at][row])].name, cells[at][row])
                        if dataset_columns[at]
                        else _item(cells[at][row], data)
                        for at in range(len(form))
                    ]
                    for row in range(len(frame))
                ]
    columns_present = ", ".join(map(str, frame.columns))
    message = "comparisons need columns anchor, near and far (or a, b, c and d)"
    raise DataError.of("columns", "comparisons", message, columns_present)


def _join_automatically(data: HeteroData) -> HeteroData:
    """Carry out certain joins, else the best proposal per pair of datasets, with warnings."""
    joined_pairs: set[frozenset[str]] = set()
    joined = data
    for proposal in propose_joins(data):
        ends = frozenset((proposal.join.source, proposal.join.target))
        if proposal.join.kind == "tags" or proposal.score < _JOIN_SCORE:
            continue
        if ends in joined_pairs and not proposal.sure:
            continue
        joined_pairs.add(ends)
        joined = proposal.join.carried_out(joined)
        message = f"Joined: {proposal.title} (score {proposal.score:.2f})."
        warnings.warn(message, DataWarning, stacklevel=4)
    unjoined = [
        pair for pair in combinations(data.datasets, 2) if frozenset(pair) not in joined_pairs
    ]
    if unjoined and not joined_pairs:
        note_text = "no links between these datasets were found: no ids, columns or places match"
        remedy = "Give links= as pairs of ids. hetviz.propose_joins(data) lists all proposals."
        raise DataError.of("no-join", "links", note_text, "", remedy)
    return joined


def text_of_key(key: object) -> str:
    """Return an id as text: whole numbers without a point, times as ISO 8601, parts of a tuple."""
    if isinstance(key, str):
        return str(key)
    if isinstance(key, bytes):
        return key.decode("utf-8", "backslashreplace")
    if isinstance(key, bool | np.bool_):
        return str(bool(key))
    if isinstance(key, float | np.floating) and float(key).is_integer():
        return str(int(key))
    if isinstance(key, dt.datetime | dt.date):
        return key.isoformat()
    if isinstance(key, enum.Enum):
        return key.name
    if isinstance(key, tuple):
        return " / ".join(map(text_of_key, key))
    return str(key)


def texts_of_keys(keys: Iterable[object]) -> Texts:
    """Return ids as text; missing ones are empty."""
    texts = [
        "" if key is None or (isinstance(key, float) and key != key) else text_of_key(key)
        for key in keys
    ]
    out = np.empty(len(texts), dtype=object)
    out[:] = texts
    return out
