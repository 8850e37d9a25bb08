"""All that was said, one row a statement, each with how far the map keeps it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints, Texts
from hetviz.data import Comparisons, HeteroData, Links
from hetviz.data.model.meta import NOTED, text_of
from hetviz.data.model.same_items import of_items
from hetviz.data.model.statements import COMPARED as COMPARED_SET
from hetviz.data.model.statements import statement_keys, statements
from hetviz.data.queries.filters import folded
from hetviz.data.queries.groups import NamedGroup, named_groups
from hetviz.plots.curve import LOOK_AT
from hetviz.ui.map import away, search
from hetviz.ui.map.array_cache import kept
from hetviz.ui.map.links_of_rows import hidden_from
from hetviz.ui.shell import background
from hetviz.workspace import State

KEPT, BROKEN, NO_PLACE, UNSEEN = "kept", "not kept", "no place", ""
LINK_ENDS = ("p", "q")
COMPARED = ("a", "b", "c", "d")


@dataclass(frozen=True, eq=False)
class Listed:
    """The statements of one form as a table offers them, with what there is to choose among them.

    Attributes
    ----------
    rows : DataFrame
        Of a ledger, without those that stand in its list of groups.
    order : array of int
        Positions in `rows`, the worst kept first.
    fates, sets, pairs : tuple of str
        Those that occur; sets as they were first said, the datasets that are joined sorted.
    held, off, own, observed : bool
        Whether any is held out, any is switched off, all can be edited, any was observed.
    """

    rows: pd.DataFrame
    order: Ints
    fates: tuple[str, ...]
    sets: tuple[str, ...]
    pairs: tuple[str, ...]
    held: bool
    off: bool
    own: bool
    observed: bool

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Listed:
        """Return them; O(n log n)."""
        return cls(
            rows,
            np.argsort(goodness(rows), kind="stable"),
            _levels(rows["fate"]),
            _levels(rows["set"]),
            tuple(sorted(_levels(rows["joins"]))),
            bool(rows["held"].any()),
            bool((~rows["on"]).any()),
            bool(rows["own"].all()),
            "relation" in _levels(rows["role"]),
        )


@dataclass(frozen=True, eq=False)
class Ledger:
    """What was said.

    Attributes
    ----------
    links, comparisons : DataFrame
        The rows of `hetviz.statements` of that form, with the global rows of their items (p, q or
        a, b, c, d), ``own`` (it can be edited), ``on`` (its set is switched on), ``held`` (the
        method of the map did not see it), ``near`` (how far the map keeps it, 0 to 1) and ``fate``
        (kept, not kept, no place, or empty where there is no map).
    aside : DataFrame
        Links that came with the data to judge maps by, the same columns; they cannot be edited.
    groups : tuple of NamedGroup
        Whose links are shown as the one statement that each group is.
    """

    links: pd.DataFrame
    comparisons: pd.DataFrame
    aside: pd.DataFrame
    groups: tuple[NamedGroup, ...]

    def of(self, form: str) -> pd.DataFrame:
        """Return the links or the comparisons."""
        return self.comparisons if form == "comparison" else self.links

    def listed(self, form: str) -> Listed:
        """Return the links or the comparisons as their table offers them."""
        return self.listed_comparisons if form == "comparison" else self.listed_links

    @cached_property
    def listed_links(self) -> Listed:
        """The links without those of groups."""
        grouped = [key for group in self.groups for key in group.keys]
        if not grouped:
            return Listed.of(self.links)
        return Listed.of(self.links[~self.links["key"].isin(grouped)])

    @cached_property
    def listed_comparisons(self) -> Listed:
        """The comparisons."""
        return Listed.of(self.comparisons)

    @cached_property
    def sets(self) -> pd.DataFrame:
        """One row a set: set, number, on; in the order in which they were first said."""
        found: dict[str, tuple[int, bool]] = {}
        for part in (self.links, self.comparisons):
            said = part["set"].cat
            code, m = said.codes.to_numpy(), len(said.categories)
            numbers = np.bincount(code, minlength=m).tolist()
            off = np.bincount(code, weights=~part["on"].to_numpy(), minlength=m).tolist()
            for name, more, without in zip(said.categories, numbers, off, strict=True):
                if more:
                    number, on = found.get(str(name), (0, True))
                    found[str(name)] = (number + more, on and not without)
        rows = [(name, number, on) for name, (number, on) in found.items()]
        return pd.DataFrame(rows, columns=["set", "number", "on"])


def ledger_of(state: State) -> Ledger | None:
    """Return what was said, with how far the shown map keeps it; kept until either changes.

    Of large data it is made beside the page; None until then.
    """
    data, run = _data(state), state.run
    return away.made(
        background.owner(),
        data,
        ("ledger", id(run), state.off, id(state.held_out)),
        partial(_read, state),
        (run, state.held_out),
    )


def groups_of(data: HeteroData) -> list[NamedGroup]:
    """Return the groups that were named; found once for each object of data."""
    return kept(data, "named-groups", lambda: named_groups(data))


def _levels(cells: pd.Series) -> tuple[str, ...]:
    """Return the texts that occur in a column of categories, in the order of these."""
    said = cells.astype("category").cat
    number = np.bincount(said.codes.to_numpy() + 1, minlength=len(said.categories) + 1)[1:]
    return tuple(str(said.categories[k]) for k in np.flatnonzero(number).tolist())


def _read(state: State) -> Ledger:
    data, run = _data(state), state.run
    links, compared = _links(data), _comparisons(data)
    for said in (links, compared):
        said["on"] = ~said["set"].isin(list(state.off))
    near_links, near_compared = np.full(len(links), np.nan), np.full(len(compared), np.nan)
    embedding = None if run is None else state.embedding(run)
    if run is not None and embedding is not None:
        from hetviz.metrics.fit.nearest import comparison_nearness, link_nearness

        near_links = link_nearness(data, embedding)
        near_compared = comparison_nearness(data, embedding)
        hidden = hidden_from(state.guided or data, run)
        if hidden is not None:
            links["held"] = links["key"].isin(statement_keys(hidden))
            compared["held"] = compared["key"].isin(statement_keys(hidden))
    seen = embedding is not None
    links = _judged(links, near_links, seen)
    compared["near"] = near_compared
    compared["fate"] = _fates(near_compared > 0.5, near_compared, seen)
    found = Ledger(links, compared, _aside(state, data, links), tuple(groups_of(data)))
    # What a page would wait for otherwise.
    for form in ("link", "comparison"):
        found.listed(form)
    return found


def _judged(links: pd.DataFrame, near: Floats, seen: bool) -> pd.DataFrame:
    together, close = links["weight"].to_numpy() > 0, near >= 1.0 - LOOK_AT
    return links.assign(near=near, fate=_fates(together == close, near, seen))


def _fates(kept: Bools, near: Floats, seen: bool) -> pd.Categorical:
    code = np.where(kept, 0, 1)
    code[np.isnan(near)] = 2 if seen else 3
    return pd.Categorical.from_codes(code, pd.Index([KEPT, BROKEN, NO_PLACE, UNSEEN], dtype=object))


def _links(data: HeteroData) -> pd.DataFrame:
    """Return the links as `hetviz.statements` has them, without the ids of their items.

    Texts are categories: a million links come from few sets, and each cell is four bytes.
    """
    groups = data.links
    joined = [np.empty(0, dtype=np.int64)]
    ends = {
        "p": joined + [links.i + data.offsets[links.source].start for links in groups],
        "q": joined + [links.j + data.offsets[links.target].start for links in groups],
    }
    weight = [np.empty(0), *(links.weight for links in groups)]
    score = [np.full(len(one), np.nan) if one.score is None else one.score for one in groups]
    m = sum(map(len, groups))
    found = {
        "key": _objects(statement_keys(data)[:m]),
        "form": _said([("link", m)]),
        "source": _said([(links.source, len(links)) for links in groups]),
        "target": _said([(links.target, len(links)) for links in groups]),
        "joins": _said([(joins([one.source, one.target]), len(one)) for one in groups]),
        **{name: np.concatenate(parts) for name, parts in ends.items()},
        "weight": np.concatenate(weight),
        "score": np.concatenate([np.empty(0), *score]),
        "kind": _said([(links.kind, len(links)) for links in groups]),
        "role": _said([(links.role, len(links)) for links in groups]),
        **_noted(groups, [links.kind for links in groups]),
        "held": False,
        "own": True,
    }
    return pd.DataFrame(found, index=range(m))


def _objects(texts: Texts) -> pd.Series:
    """Return a column as it is: another form of a million texts takes a third of a second."""
    return pd.Series(texts, dtype=object)


def _comparisons(data: HeteroData) -> pd.DataFrame:
    compared = data.comparisons
    pairs = np.empty((0, 4), dtype=np.int64) if compared is None else compared.pairs
    several = [] if compared is None else [compared]
    t = len(pairs)
    names = list(data.datasets)
    part = np.searchsorted([rows.stop for rows in data.offsets.values()], pairs, side="right")
    code, which = np.unique(part, axis=0, return_inverse=True)
    words = [joins(names[k] for k in row) for row in code.tolist()]
    found = {
        "key": _objects(statement_keys(data)[sum(map(len, data.links)) :]),
        "form": _said([("comparison", t)]),
        "joins": pd.Categorical(np.array(words, dtype=object)[which.ravel()] if t else []),
        **dict(zip(COMPARED, pairs.T, strict=True)),
        "weight": np.empty(0) if compared is None else compared.weight,
        "score": np.nan,
        "kind": _said([("", t)]),
        "role": _said([("guidance", t)]),
        **_noted(several, [COMPARED_SET] * len(several)),
        "held": False,
        "own": True,
    }
    return pd.DataFrame(found, index=range(t))


def joins(names: Iterable[str]) -> str:
    """Return the datasets that a statement joins, in words; which stands first is no matter."""
    several = sorted(set(names))
    return " – ".join(several) if len(several) > 1 else f"within {several[0]}"


def _said(parts: Sequence[tuple[str | Texts, int]]) -> pd.Categorical:
    """Return texts below each other: of each part one for all of its rows, or one a row."""
    place: dict[str, int] = {}
    codes = [np.empty(0, dtype=np.int64)]
    for text, m in parts:
        if isinstance(text, str):
            codes.append(np.full(m, place.setdefault(text, len(place))))
        else:
            code, levels = pd.factorize(text)
            at = np.array([place.setdefault(str(level), len(place)) for level in levels], dtype=int)
            codes.append(at[code])
    return pd.Categorical.from_codes(np.concatenate(codes), pd.Index([*place], dtype=object))


def _noted(
    several: Sequence[Links | Comparisons], named: Sequence[str]
) -> dict[str, pd.Categorical]:
    """Return what is noted beside statements; a set without a name is called `named`."""
    found = {}
    for column in NOTED:
        parts: list[tuple[str | Texts, int]] = []
        for said, name in zip(several, named, strict=True):
            empty = name if column == "set" else ""
            if said.meta is None or column not in said.meta.columns:
                parts.append((empty, len(said)))
            else:
                cells = text_of(said.meta, column, len(said)).to_numpy(dtype=object)
                parts.append((np.where(cells == "", empty, cells), len(said)))
        found[column] = _said(parts)
    return found


def _aside(state: State, data: HeteroData, links: pd.DataFrame) -> pd.DataFrame:
    """Return the links that came to judge maps by, as far as their items are still there."""
    held = state.held_out
    if held is None or not len(held.links):
        return links.iloc[:0]
    said = statements(held)
    said = said[said["form"] == "link"].reset_index(drop=True)
    ends = []
    for end in ("source", "target"):
        rows = np.full(len(said), -1, dtype=np.int64)
        for name in said[end].unique():
            mine = (said[end] == name).to_numpy()
            if name in data.datasets:
                found = data[name].find(said.loc[mine, f"{end}_id"].to_numpy(dtype=object))
                rows[mine] = np.where(found >= 0, found + data.offsets[name].start, -1)
        ends.append(rows)
    words = {pair: joins(pair) for pair in set(zip(said["source"], said["target"], strict=True))}
    said = said.assign(on=True, held=True, own=False, p=ends[0], q=ends[1]).assign(
        joins=[words[pair] for pair in zip(said["source"], said["target"], strict=True)]
    )
    there = (ends[0] >= 0) & (ends[1] >= 0)
    run = state.run
    embedding = None if run is None else state.embedding(run)
    near = np.full(len(said), np.nan)
    if embedding is not None:
        from hetviz.metrics.fit.nearest import link_nearness

        near = link_nearness(held, embedding)
    return _judged(said, near, embedding is not None)[there].reset_index(drop=True)


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def goodness(rows: pd.DataFrame) -> Floats:
    """Return how well each statement is kept: the broken below 1, then the kept, then the others.

    Pairs said to be apart are the better kept the farther apart they lie.
    """
    near = rows["near"].to_numpy(dtype=np.float64)
    good = np.where(rows["weight"] > 0, near, 1.0 - near) + (rows["fate"] == KEPT).to_numpy()
    return np.asarray(np.nan_to_num(good, nan=3.0), dtype=np.float64)


def by_key(ledger: Ledger, keys: Collection[str]) -> dict[str, dict[str, object]]:
    """Return the rows of those keys."""
    parts = (ledger.links, ledger.comparisons)
    found = [row for part in parts for row in records(part[part["key"].isin(keys)])]
    return {str(row["key"]): row for row in found}


def titles(data: HeteroData) -> Texts:
    """Return what each global row is called."""
    return of_items(
        data.datasets.values(),
        "titles",
        lambda: np.array(
            [str(title) for part in data.datasets.values() for title in part.titles], dtype=object
        ),
    )


def naming(data: HeteroData, rows: pd.DataFrame, text: str) -> Bools:
    """Say which statements hold a text in the name of an item, their kind, set or note."""
    wanted = " ".join(folded(text).split())
    hit_rows = _names_holding(data, wanted)
    hit = np.zeros(len(rows), dtype=bool)
    for end in ends_of(rows):
        hit |= hit_rows[rows[end].to_numpy()]
    for column in ("kind", "set", "note"):
        if column in rows:
            cells = rows[column].astype("category").cat
            level = np.array([wanted in folded(str(cell)) for cell in cells.categories], dtype=bool)
            code = cells.codes.to_numpy()
            hit |= np.append(level, False)[code]
    return hit


def _names_holding(data: HeteroData, wanted: str) -> Bools:
    """Say of each global row whether its name holds a text."""
    found = np.zeros(data.n_rows, dtype=bool)
    found[search.named(data, wanted)] = True
    return found


def ends_of(rows: pd.DataFrame) -> Iterable[str]:
    """Return the columns that hold the items of statements."""
    return LINK_ENDS if "p" in rows else COMPARED


def _data(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - asked for only where data are open
    return state.data
