"""Graph edges as links: repeated edges, both directions, self-loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import Problem, limit_problems
from hetviz.features.columns.types import numbers
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.parsed import Table

_ENDS = (
    ("source_id", "target_id"), ("source", "target"), ("from", "to"), ("src", "dst"),
    ("node1", "node2"), ("node_1", "node_2"), ("fromnodeid", "tonodeid"),
)  # fmt: skip
_STRENGTH_NAMES = ("weight", "score", "value", "strength", "sign")
_KIND_NAMES = ("kind", "type", "relation", "interaction")
_MAX_KINDS = 20
_HUB_RATIO = 10.0
_MIN_HUB_LINKS = 20
_MAX_NAMES_SHOWN = 5
_MIN_MATCHING_SHARE = 0.5
_MIN_UNNAMED_EDGES = 4
_MIN_OVERLAP = 0.5
_NODES_TO_EDGES = 1.5
_MAX_ID_CHARS = 80


def links_table(
    dataset: str,
    where: str,
    ends: pd.DataFrame,
    others: Mapping[str, Sequence[str]],
    row: Sequence[int],
    decimal: str = ".",
) -> Table:
    """Return the edges of a graph as links within one dataset."""
    original_name = {name.lower(): name for name in reversed(list(others))}
    strength_name = next(
        (original_name[name] for name in _STRENGTH_NAMES if name in original_name), None
    )
    kind_name = next((original_name[name] for name in _KIND_NAMES if name in original_name), None)
    if kind_name is not None and len(set(others[kind_name])) > _MAX_KINDS:
        kind_name = None
    frame = pd.DataFrame(
        {
            "source_id": ends["source"].to_numpy(dtype=object),
            "target_id": ends["target"].to_numpy(dtype=object),
        }
    )
    frame["at"] = np.asarray(row, dtype=np.int64)
    frame["kind"] = "" if kind_name is None else list(others[kind_name])
    notes: list[Problem] = []
    frame["strength"] = np.nan
    if strength_name is not None:
        cells = list(others[strength_name])
        frame["strength"] = numbers(cells, decimal)
        notes += _bad_strength_notes(where, strength_name, frame, cells)
    used_names = {strength_name, kind_name, "role", "source_id", "target_id", "at", "strength"}
    note_names = [name for name in others if name not in used_names]
    for name in note_names:
        frame[f"note {name}"] = list(others[name])
    frame = _without_loops(where, frame, notes)
    frame = _merged(where, frame, notes)
    return _links_table(dataset, where, frame, note_names, strength_name, notes)


def _bad_strength_notes(
    where: str, name: str, frame: pd.DataFrame, cells: Sequence[str]
) -> list[Problem]:
    bad = np.flatnonzero(
        frame["strength"].isna().to_numpy() & np.array([bool(cell.strip()) for cell in cells])
    )
    return list(
        limit_problems(
            Problem(
                "not-a-number",
                f"{where}, edge {frame['at'][at] + 1}, {name}",
                "this is not a number, so the edge has no weight",
                cells[at][:80],
                severity="note",
                row=int(frame["at"][at]),
            )
            for at in bad.tolist()
        )
    )


def _without_loops(where: str, frame: pd.DataFrame, notes: list[Problem]) -> pd.DataFrame:
    loops = frame["source_id"] == frame["target_id"]
    if n := int(loops.sum()):
        many = (
            "1 edge connects a node with itself and is"
            if n == 1
            else f"{n:,} edges connect a node with itself and are"
        )
        notes.append(Problem("self-link", where, f"{many} left out", severity="note"))
    return frame[~loops].reset_index(drop=True)


def _merged(where: str, frame: pd.DataFrame, notes: list[Problem]) -> pd.DataFrame:
    """Return one row per pair of nodes and kind, and all contradicting rows."""
    swap = (frame["source_id"] > frame["target_id"]).to_numpy()
    first = np.where(swap, frame["target_id"], frame["source_id"])
    second = np.where(swap, frame["source_id"], frame["target_id"])
    pair = pd.DataFrame({"first": first, "second": second, "kind": frame["kind"]})
    if not pair.duplicated().any():
        return frame
    group = pair.groupby(["first", "second", "kind"], sort=False).ngroup().to_numpy()
    strength = frame["strength"].fillna(1.0).to_numpy()
    signs = pd.DataFrame({"low": strength, "high": strength}).groupby(group)
    low, high = signs["low"].transform("min"), signs["high"].transform("max")
    opposed = ((low < 0) & (high > 0)).to_numpy()
    mean = frame.groupby(group)["strength"].transform("mean")
    again = pd.Series(group).duplicated().to_numpy()
    frame = frame.assign(strength=np.where(opposed, frame["strength"], mean))
    if n := int((again & ~opposed).sum()):
        many = "1 edge repeats" if n == 1 else f"{n:,} edges repeat"
        message = f"{many} two nodes that are already linked in either direction, "
        message += "so they are merged with their mean strength"
        notes.append(Problem("repeated-edges", where, message, severity="note"))
    return frame[~again | opposed].reset_index(drop=True)


def _links_table(
    dataset: str,
    where: str,
    frame: pd.DataFrame,
    note_names: Sequence[str],
    strength_name: str | None,
    notes: list[Problem],
) -> Table:
    out: dict[str, object] = {
        "source_dataset": dataset,
        "source_id": frame["source_id"],
        "target_dataset": dataset,
        "target_id": frame["target_id"],
    }
    facts = {"edges": f"{len(frame):,}"}
    strength = frame["strength"].to_numpy()
    finite = strength[np.isfinite(strength)]
    if strength_name is not None and len(finite):
        is_weight = bool((np.abs(finite) <= 1).all() and (finite != 0).all())
        word = "weight" if is_weight else "score"
        out[word] = ["" if np.isnan(value) else repr(float(value)) for value in strength]
        says = (
            "a weight from -1 to 1" if is_weight else "a score, because values are outside -1 to 1"
        )
        if not is_weight and (np.abs(finite) <= 1).all():
            says = "a score, because some values are 0"
        facts["strength"] = f"{strength_name}: {says}"
    if frame["kind"].ne("").any():
        out["kind"] = frame["kind"]
    out["role"] = "relation"
    for name in note_names:
        out[name if name not in out else f"{name} (note)"] = frame[f"note {name}"]
    notes += _hub_notes(where, frame, facts)
    links = pd.DataFrame(out, index=frame.index).astype(TEXT)
    return Table(
        f"{dataset} links",
        where,
        "links",
        links,
        tuple(frame["at"].tolist()),
        facts=facts,
        problems=tuple(notes),
    )


def _hub_notes(where: str, frame: pd.DataFrame, facts: dict[str, str]) -> list[Problem]:
    """Return a note about hubs, which can dominate a map."""
    if frame.empty:
        return []
    degree = pd.concat([frame["source_id"], frame["target_id"]]).value_counts()
    facts["most links of one node"] = f"{degree.iloc[0]:,} ({degree.index[0]})"
    hubs = degree[degree >= max(_HUB_RATIO * degree.median(), _MIN_HUB_LINKS)]
    if hubs.empty:
        return []
    names = ", ".join(f"{name} ({n:,})" for name, n in hubs.head(_MAX_NAMES_SHOWN).items())
    names += " ..." if len(hubs) > _MAX_NAMES_SHOWN else ""
    subject = "1 node has" if len(hubs) == 1 else f"{len(hubs):,} nodes have"
    message = f"{subject} more than {_HUB_RATIO:g} times as many links as a typical node"
    message += " and can dominate the map"
    return [Problem("hubs", where, message, names, severity="note")]


def join_graphs(tables: Sequence[Table]) -> list[Table]:
    """Recognise edge tables as links within another table, or as a graph."""
    edge_tables = {
        at: edges_of_piece
        for at, table in enumerate(tables)
        if (edges_of_piece := _edges_of(table)) is not None
    }
    if not edge_tables:
        return list(tables)
    nodes = [
        p for at, p in enumerate(tables) if at not in edge_tables and p.role in (None, "dataset")
    ]
    ids_of = {table.name: _ids(table) for table in nodes}
    out: list[Table] = []
    for at, table in enumerate(tables):
        edges = edge_tables.get(at)
        if edges is None:
            out.append(table)
        elif nodes:
            owner = next(
                (n for n, ids in ids_of.items() if edges.share_in(ids) > _MIN_MATCHING_SHARE), None
            )
            out.append(table if owner is None else edges.links(owner))
        elif edges.repeats:
            out += [edges.nodes(), edges.links(table.name)]
        else:
            out.append(table)
    return out


def _ids(table: Table) -> set[str]:
    column = table.id_column
    if column is None:
        column = guess_id_column(table.frame)
    return set() if column is None else set(table.frame[column])


@dataclass(frozen=True, eq=False)
class _Edges:
    """An edge table: ends, other columns and row numbers."""

    table: Table
    ends: pd.DataFrame
    others: dict[str, list[str]]
    row: list[int]

    @property
    def ids(self) -> list[str]:
        """All node ids in order of first appearance."""
        return list(dict.fromkeys(self.ends[["source", "target"]].to_numpy(dtype=object).ravel()))

    @property
    def repeats(self) -> bool:
        """Whether nodes have several edges, unlike pairs such as texts and translations."""
        ids = self.ids
        return len(ids) <= _NODES_TO_EDGES * len(self.ends) and max(map(len, ids)) <= _MAX_ID_CHARS

    def share_in(self, ids: set[str]) -> float:
        """Return the share of nodes that are among the ids."""
        mine = self.ids
        return sum(text in ids for text in mine) / len(mine)

    def links(self, dataset: str) -> Table:
        table = self.table
        links = links_table(dataset, table.where, self.ends, self.others, self.row, table.decimal)
        return replace(links, facts={**table.facts, **links.facts})

    def nodes(self) -> Table:
        table, ids = self.table, self.ids
        return Table(
            table.name,
            table.where,
            "dataset",
            pd.DataFrame({"id": ids}, dtype=TEXT),
            tuple(range(len(ids))),
            id_column="id",
            facts={**table.facts, "nodes": f"{len(ids):,}, the ends of the edges"},
            problems=table.problems,
        )


def _edges_of(table: Table) -> _Edges | None:
    if table.role not in (None, "links") or not len(table.frame):
        return None
    if "source_dataset" in table.frame.columns:
        return None
    frame, row = _with_first_edge(*_split_words(table.frame, table.row), table.header)
    lower = {str(name).strip().lstrip("# ").lower(): str(name) for name in frame.columns}
    end_names = next((pair for pair in _ENDS if set(pair) <= set(lower)), None)
    if end_names is None:
        return None
    source, target = (lower[end] for end in end_names)
    ends = pd.DataFrame({"source": frame[source].str.strip(), "target": frame[target].str.strip()})
    good = (ends["source"].ne("") & ends["target"].ne("")).to_numpy()
    if not good.any():
        return None
    others = {
        str(name): frame.loc[good, name].tolist()
        for name in frame.columns
        if name not in (source, target)
    }
    good_rows = [place for place, keep in zip(row, good, strict=True) if keep]
    return _Edges(table, ends[good].reset_index(drop=True), others, good_rows)


def _with_first_edge(
    frame: pd.DataFrame, row: list[int], has_header: bool
) -> tuple[pd.DataFrame, list[int]]:
    """Return edges of words without names of columns as source, target and weight.

    The first line is an edge too if both its words occur below.
    """
    names = list(map(str, frame.columns))
    if len(names) not in (2, 3) or len(frame) < _MIN_UNNAMED_EDGES or not all(names):
        return frame, row
    first, second = (set(frame[name].str.strip()) for name in names[:2])
    overlap = len(first & second)
    if not all(any(map(str.isalpha, text)) for text in first | second):
        return frame, row
    ends = ["source", "target", "weight"][: len(names)]
    below = frame.set_axis(ends, axis=1)
    if not has_header:
        is_weight = len(names) == 2 or not np.isnan(numbers(below["weight"].tolist())).any()
        is_graph = overlap >= _MIN_OVERLAP * min(len(first), len(second))
        return (below, row) if is_graph and is_weight else (frame, row)
    has_weight = len(names) == 2 or not np.isnan(numbers([names[2]])).any()
    nodes = first | second
    is_graph = overlap > 0 and {*names[:2]} <= nodes
    # A node of the first edge may have no other edge, or its group may only be linked to another.
    is_graph |= overlap >= _MIN_OVERLAP * min(len(first), len(second)) and names[1] in first
    is_graph |= names[0] in first and names[1] in second
    if not is_graph or not has_weight:
        return frame, row
    top = pd.DataFrame([names], columns=ends, dtype=TEXT)
    return pd.concat([top, below], ignore_index=True), [0, *(place + 1 for place in row)]


def _split_words(frame: pd.DataFrame, row: Sequence[int]) -> tuple[pd.DataFrame, list[int]]:
    """Split a column of several words per cell, including the first line if it is no header."""
    if frame.shape[1] != 1:
        return frame, list(row)
    title = str(frame.columns[0])
    lines = [cell.split() for cell in frame.iloc[:, 0].tolist()]
    width = len(lines[0])
    if width not in (2, 3) or any(len(line) != width for line in lines):
        return frame, list(row)
    names = title.lstrip("# ").split()
    places = list(row)
    if len(names) == width and {names[0].lower(), names[1].lower()} in map(set, _ENDS):
        return pd.DataFrame(lines, columns=names, dtype=TEXT), places
    # Names of people have two words too, so edges without a header need numbers or weights.
    is_numbered = all(line[0].isdigit() and line[1].isdigit() for line in lines)
    if not is_numbered and (width == 2 or np.isnan(numbers([line[2] for line in lines])).any()):
        return frame, list(row)
    if len(names) == width and not title.startswith("#"):
        lines, places = [names, *lines], [0, *(place + 1 for place in places)]
    names = ["source", "target", "weight"][:width]
    return pd.DataFrame(lines, columns=names, dtype=TEXT), places
