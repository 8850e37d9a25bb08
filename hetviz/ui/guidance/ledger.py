"""Table of all statements, with how well the map meets each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints, Texts
from hetviz.data import Comparisons, HeteroData, Links
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.data.model.meta import META_COLUMNS, meta_text
from hetviz.data.model.statements import COMPARISON_SET as COMPARED_SET
from hetviz.data.model.statements import statement_keys, statements
from hetviz.data.queries import search
from hetviz.data.queries.filters import fold_text
from hetviz.data.queries.groups import NamedGroup, named_groups
from hetviz.ui.map.links_of_rows import links_hidden_from
from hetviz.ui.map_data import worker_results
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.ui.shell.page_state import project_id
from hetviz.workspace import State

MET, UNMET, UNPLACED, UNKNOWN = "met", "not met", "not on map", ""
LINK_ENDS = ("p", "q")
COMPARISON_ENDS = ("a", "b", "c", "d")


@dataclass(frozen=True, eq=False)
class StatementTable:
    """Statements of one form, with the values of their filters.

    `rows` are those of a ledger without links of groups, and `order` has their positions, worst
    first. `fates`, `sets` (oldest first), `pairs` of datasets and `people` (empty: unknown) are the
    values that occur.
    """

    rows: pd.DataFrame
    order: Ints
    fates: tuple[str, ...]
    sets: tuple[str, ...]
    pairs: tuple[str, ...]
    people: tuple[str, ...]
    has_held_out: bool
    has_off: bool
    is_editable: bool
    has_observed: bool

    @classmethod
    def of(cls, rows: pd.DataFrame) -> StatementTable:
        """Return the table of these rows; O(n log n)."""
        return cls(
            rows,
            np.argsort(goodness(rows), kind="stable"),
            _occurring(rows["fate"]),
            _occurring(rows["set"]),
            tuple(sorted(_occurring(rows["joins"]))),
            tuple(sorted(_occurring(rows["who"]))),
            bool(rows["held"].any()),
            bool((~rows["on"]).any()),
            bool(rows["own"].all()),
            "relation" in _occurring(rows["role"]),
        )


@dataclass(frozen=True, eq=False)
class Ledger:
    """All statements of a project."""

    # links, comparisons: The rows of `hetviz.statements` of that form, with the global rows of
    # their items (p, q or a, b, c, d), ``own`` (can be edited), ``on`` (its set is switched on),
    # ``held`` (hidden from the method of the map), ``near`` (how well the map meets it, 0 to 1)
    # and ``fate`` (met, not met, not on map, or empty without a map).
    links: pd.DataFrame
    comparisons: pd.DataFrame
    # Links that came with the data to judge maps by, with the same columns, not editable.
    hidden: pd.DataFrame
    groups: tuple[NamedGroup, ...]  # Groups whose links are shown as one statement each

    def statements(self, form: str) -> pd.DataFrame:
        """Return the links or the comparisons."""
        return self.comparisons if form == "comparison" else self.links

    def listed(self, form: str) -> StatementTable:
        """Return the links or the comparisons as their table shows them."""
        return self.listed_comparisons if form == "comparison" else self.listed_links

    @cached_property
    def listed_links(self) -> StatementTable:
        """Links that do not belong to groups."""
        grouped = [key for group in self.groups for key in group.keys]
        if not grouped:
            return StatementTable.of(self.links)
        return StatementTable.of(self.links[~self.links["key"].isin(grouped)])

    @cached_property
    def listed_comparisons(self) -> StatementTable:
        """All comparisons."""
        return StatementTable.of(self.comparisons)

    @cached_property
    def sets(self) -> pd.DataFrame:
        """Set, number of statements and whether it is on, one row a set, oldest first."""
        sets: dict[str, tuple[int, bool]] = {}
        for part in (self.links, self.comparisons):
            categories = part["set"].cat
            code, m = categories.codes.to_numpy(), len(categories.categories)
            numbers = np.bincount(code, minlength=m).tolist()
            off_counts = np.bincount(code, weights=~part["on"].to_numpy(), minlength=m).tolist()
            for name, n_added, n_off in zip(
                categories.categories, numbers, off_counts, strict=True
            ):
                if n_added:
                    number, is_on = sets.get(str(name), (0, True))
                    sets[str(name)] = (number + n_added, is_on and not n_off)
        rows = [(name, number, is_on) for name, (number, is_on) in sets.items()]
        return pd.DataFrame(rows, columns=["set", "number", "on"])


def ledger_of(state: State) -> Ledger | None:
    """Return the cached ledger of the open data and shown map, or None until it is ready."""
    data, run = _opened(state), state.run
    return worker_results.compute_in_thread(
        project_id(),
        data,
        ("ledger", id(run), state.excluded, id(state.held_out)),
        partial(_make_ledger, state),
        (run, state.held_out),
    )


def groups_of(data: HeteroData) -> list[NamedGroup]:
    """Return the cached named groups of these data."""
    return RESULTS.get_or_compute(data, "named-groups", lambda: named_groups(data))


def _occurring(cells: pd.Series) -> tuple[str, ...]:
    """Return the categories that occur in a column, in their order."""
    categories = cells.astype("category").cat
    counts = np.bincount(categories.codes.to_numpy() + 1, minlength=len(categories.categories) + 1)[
        1:
    ]
    return tuple(str(categories.categories[k]) for k in np.flatnonzero(counts).tolist())


def _make_ledger(state: State) -> Ledger:
    data, run = _opened(state), state.run
    links, comparisons = _link_frame(data), _comparison_frame(data)
    for frame in (links, comparisons):
        frame["on"] = ~(
            frame["set"].isin(list(state.off)) | frame["who"].isin(list(state.off_people))
        )
    link_values, links_met = np.full(len(links), np.nan), np.zeros(len(links), dtype=bool)
    comparison_values = np.full(len(comparisons), np.nan)
    embedding = None if run is None else state.embedding(run)
    if run is not None and embedding is not None:
        from hetviz.metrics.fit.nearest import comparison_closeness, link_closeness, satisfied_links

        link_values = link_closeness(data, embedding)
        links_met = satisfied_links(data, link_values)
        comparison_values = comparison_closeness(data, embedding)
        hidden = links_hidden_from(state.guided or data, run)
        if hidden is not None:
            links["held"] = links["key"].isin(statement_keys(hidden))
            comparisons["held"] = comparisons["key"].isin(statement_keys(hidden))
    has_map = embedding is not None
    links = _with_fate(links, link_values, links_met, has_map)
    comparisons["near"] = comparison_values
    comparisons["fate"] = _fate_column(comparison_values > 0.5, comparison_values, has_map)
    ledger = Ledger(links, comparisons, _hidden_links(state, data, links), tuple(groups_of(data)))
    # Computed here so that the page does not wait for it.
    for form in ("link", "comparison"):
        ledger.listed(form)
    return ledger


def _with_fate(
    links: pd.DataFrame, closeness: Floats, are_met: Bools, has_map: bool
) -> pd.DataFrame:
    return links.assign(near=closeness, fate=_fate_column(are_met, closeness, has_map))


def _fate_column(is_met: Bools, closeness: Floats, has_map: bool) -> pd.Categorical:
    code = np.where(is_met, 0, 1)
    code[np.isnan(closeness)] = 2 if has_map else 3
    return pd.Categorical.from_codes(code, pd.Index([MET, UNMET, UNPLACED, UNKNOWN], dtype=object))


def _link_frame(data: HeteroData) -> pd.DataFrame:
    """Return the links as `hetviz.statements` does, without the ids of their items."""
    # Texts are categories, which take four bytes a cell for a million links.
    groups = data.links
    joined = [np.empty(0, dtype=np.int64)]
    ends = {
        "p": joined + [links.i + data.offsets[links.source].start for links in groups],
        "q": joined + [links.j + data.offsets[links.target].start for links in groups],
    }
    weight = [np.empty(0), *(links.weight for links in groups)]
    score = [
        np.full(len(group), np.nan) if group.score is None else group.score for group in groups
    ]
    m = sum(map(len, groups))
    columns = {
        "key": _text_series(statement_keys(data)[:m]),
        "form": _text_categories([("link", m)]),
        "source": _text_categories([(links.source, len(links)) for links in groups]),
        "target": _text_categories([(links.target, len(links)) for links in groups]),
        "joins": _text_categories(
            [(datasets_text([group.source, group.target]), len(group)) for group in groups]
        ),
        **{name: np.concatenate(parts) for name, parts in ends.items()},
        "weight": np.concatenate(weight),
        "score": np.concatenate([np.empty(0), *score]),
        "kind": _text_categories([(links.kind, len(links)) for links in groups]),
        "role": _text_categories([(links.role, len(links)) for links in groups]),
        **_note_columns(groups, [links.kind for links in groups]),
        "held": False,
        "own": True,
    }
    return pd.DataFrame(columns, index=range(m))


def _text_series(texts: Texts) -> pd.Series:
    """Return a column of objects, as converting a million texts takes a third of a second."""
    return pd.Series(texts, dtype=object)


def _comparison_frame(data: HeteroData) -> pd.DataFrame:
    comparisons = data.comparisons
    pairs = np.empty((0, 4), dtype=np.int64) if comparisons is None else comparisons.pairs
    groups = [] if comparisons is None else [comparisons]
    n_comparisons = len(pairs)
    names = list(data.datasets)
    part = np.searchsorted([rows.stop for rows in data.offsets.values()], pairs, side="right")
    code, code_of_row = np.unique(part, axis=0, return_inverse=True)
    texts = [datasets_text(names[k] for k in row) for row in code.tolist()]
    columns = {
        "key": _text_series(statement_keys(data)[sum(map(len, data.links)) :]),
        "form": _text_categories([("comparison", n_comparisons)]),
        "joins": pd.Categorical(
            np.array(texts, dtype=object)[code_of_row.ravel()] if n_comparisons else []
        ),
        **dict(zip(COMPARISON_ENDS, pairs.T, strict=True)),
        "weight": np.empty(0) if comparisons is None else comparisons.weight,
        "score": np.nan,
        "kind": _text_categories([("", n_comparisons)]),
        "role": _text_categories([("guidance", n_comparisons)]),
        **_note_columns(groups, [COMPARED_SET] * len(groups)),
        "held": False,
        "own": True,
    }
    return pd.DataFrame(columns, index=range(n_comparisons))


def datasets_text(names: Iterable[str]) -> str:
    """Return the datasets of a statement in words, whatever their order."""
    ordered = sorted(set(names))
    return " – ".join(ordered) if len(ordered) > 1 else f"within {ordered[0]}"


def _text_categories(parts: Sequence[tuple[str | Texts, int]]) -> pd.Categorical:
    """Return a categorical column of parts: one text for all rows of a part, or one per row."""
    code_of_text: dict[str, int] = {}
    codes = [np.empty(0, dtype=np.int64)]
    for text, n_rows in parts:
        if isinstance(text, str):
            codes.append(np.full(n_rows, code_of_text.setdefault(text, len(code_of_text))))
        else:
            code, levels = pd.factorize(text)
            new_codes = np.array(
                [code_of_text.setdefault(str(level), len(code_of_text)) for level in levels],
                dtype=int,
            )
            codes.append(new_codes[code])
    return pd.Categorical.from_codes(np.concatenate(codes), pd.Index([*code_of_text], dtype=object))


def _note_columns(
    groups: Sequence[Links | Comparisons], default_sets: Sequence[str]
) -> dict[str, pd.Categorical]:
    """Return the notes on statements, with default names for sets without one."""
    columns = {}
    for column in META_COLUMNS:
        parts: list[tuple[str | Texts, int]] = []
        for group, name in zip(groups, default_sets, strict=True):
            empty = name if column == "set" else ""
            if group.meta is None or column not in group.meta.columns:
                parts.append((empty, len(group)))
            else:
                cells = meta_text(group.meta, column, len(group)).to_numpy(dtype=object)
                parts.append((np.where(cells == "", empty, cells), len(group)))
        columns[column] = _text_categories(parts)
    return columns


def _hidden_links(state: State, data: HeteroData, links: pd.DataFrame) -> pd.DataFrame:
    """Return the links hidden for judging maps whose items are in the open data."""
    held_out = state.held_out
    if held_out is None or not len(held_out.links):
        return links.iloc[:0]
    frame = statements(held_out)
    frame = frame[frame["form"] == "link"].reset_index(drop=True)
    ends = []
    for end in ("source", "target"):
        rows = np.full(len(frame), -1, dtype=np.int64)
        for name in frame[end].unique():
            mask = (frame[end] == name).to_numpy()
            if name in data.datasets:
                rows_found = data[name].find(frame.loc[mask, f"{end}_id"].to_numpy(dtype=object))
                rows[mask] = np.where(rows_found >= 0, rows_found + data.offsets[name].start, -1)
        ends.append(rows)
    texts = {
        pair: datasets_text(pair)
        for pair in set(zip(frame["source"], frame["target"], strict=True))
    }
    frame = frame.assign(on=True, held=True, own=False, p=ends[0], q=ends[1]).assign(
        joins=[texts[pair] for pair in zip(frame["source"], frame["target"], strict=True)]
    )
    is_present = (ends[0] >= 0) & (ends[1] >= 0)
    run = state.run
    embedding = None if run is None else state.embedding(run)
    closeness, are_met = np.full(len(frame), np.nan), np.zeros(len(frame), dtype=bool)
    if embedding is not None:
        from hetviz.metrics.fit.nearest import link_closeness, satisfied_links

        closeness = link_closeness(held_out, embedding, others=data)
        are_met = satisfied_links(held_out, closeness, others=data)
    return _with_fate(frame, closeness, are_met, embedding is not None)[is_present].reset_index(
        drop=True
    )


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def goodness(rows: pd.DataFrame) -> Floats:
    """Return how well each statement is met: below 1 if not met, above 1 if met, 3 if unknown."""
    # Apart links are better the farther apart they are.
    closeness = rows["near"].to_numpy(dtype=np.float64)
    values = (
        np.where(rows["weight"] > 0, closeness, 1.0 - closeness) + (rows["fate"] == MET).to_numpy()
    )
    return np.asarray(np.nan_to_num(values, nan=3.0), dtype=np.float64)


def by_key(ledger: Ledger, keys: Collection[str]) -> dict[str, dict[str, object]]:
    """Return the rows of those keys."""
    parts = (ledger.links, ledger.comparisons)
    matching = [row for part in parts for row in records(part[part["key"].isin(keys)])]
    return {str(row["key"]): row for row in matching}


def titles(data: HeteroData) -> Texts:
    """Return the name of each global row."""
    return ITEM_RESULTS.get_or_compute(
        tuple(data.datasets.values()),
        "titles",
        lambda: np.array(
            [str(title) for part in data.datasets.values() for title in part.display_names],
            dtype=object,
        ),
    )


def matches_text(data: HeteroData, rows: pd.DataFrame, text: str) -> Bools:
    """Return which statements contain a text in an item's name, their kind, set or note."""
    needle = " ".join(fold_text(text).split())
    is_named = _rows_named(data, needle)
    mask = np.zeros(len(rows), dtype=bool)
    for end in ends_of(rows):
        mask |= is_named[rows[end].to_numpy()]
    for column in ("kind", "set", "note"):
        if column in rows:
            cells = rows[column].astype("category").cat
            is_match = np.array(
                [needle in fold_text(str(cell)) for cell in cells.categories], dtype=bool
            )
            code = cells.codes.to_numpy()
            mask |= np.append(is_match, False)[code]
    return mask


def _rows_named(data: HeteroData, needle: str) -> Bools:
    """Return which global rows have a name that contains a text."""
    mask = np.zeros(data.n_rows, dtype=bool)
    mask[search.rows_with_title(data, needle)] = True
    return mask


def ends_of(rows: pd.DataFrame) -> Iterable[str]:
    """Return the columns that hold the items of statements."""
    return LINK_ENDS if "p" in rows else COMPARISON_ENDS


def _opened(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - called only with open data
    return state.data
