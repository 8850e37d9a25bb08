"""Statements that cannot all be true: which they are, in words, and what would end it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hetviz._types import Bools, JsonObject
from hetviz.core.ordinal.must_cannot import ContradictionChain, find_contradictions
from hetviz.core.ordinal.partial_order import PartialOrder, cycles_through
from hetviz.data import Comparisons, HeteroData, Links
from hetviz.data.edits.adding import add_statements
from hetviz.data.model.statements import statement_keys, statement_rows

Fix = tuple[str, dict[str, Any]]

_LESS = 0.25
_TOLD = 4


@dataclass(frozen=True, eq=False)
class Conflict:
    """Statements that cannot all be true, while any of them left out leaves the others possible.

    Attributes
    ----------
    kind : {"links", "comparisons"}
    keys : tuple of str
        One for each statement, see `hetviz.statements`.
    sentence : str
        What contradicts what.
    fixes : tuple of (str, dict)
        What would end or weaken it, in words and as the JSON-ready dictionary of a command.
    rows : tuple of int
        Global rows that the statements name, each once.
    """

    kind: str
    keys: tuple[str, ...]
    sentence: str
    fixes: tuple[Fix, ...]
    rows: tuple[int, ...]

    def to_dict(self) -> JsonObject:
        """Return the conflict, JSON-ready."""
        return {
            "kind": self.kind,
            "keys": list(self.keys),
            "sentence": self.sentence,
            "fixes": [[words, command] for words, command in self.fixes],
            "rows": list(self.rows),
        }


class Said:
    """The statements of some data, side by side: rows, objects, weights and keys."""

    def __init__(self, data: HeteroData) -> None:
        self.data = data
        self.keys = statement_keys(data)
        self.rows = statement_rows(data)
        self.n_links = sum(map(len, data.links))
        compared = [] if data.comparisons is None else [data.comparisons.weight]
        self.weight = np.concatenate([np.empty(0), *(g.weight for g in data.links), *compared])
        self.ends = data.object_of[self.rows[: self.n_links, :2]].reshape(-1, 2)
        self.guides = np.concatenate(
            [np.zeros(0, dtype=bool), *(np.full(len(g), g.role == "guidance") for g in data.links)]
        )
        low, high = np.sort(self.ends, axis=1).T
        self.code = low * data.n_objects + high

    @cached_property
    def place(self) -> dict[str, int]:
        """The position of each key."""
        return {key: row for row, key in enumerate(self.keys)}

    def name(self, row: int) -> str:
        """Return what a row is called, in quotation marks."""
        for part, span in self.data.offsets.items():
            if span.start <= row < span.stop:
                return f"“{self.data[part].titles[row - span.start]}”"
        raise IndexError(row)

    def alike(self, row: int) -> list[str]:
        """Return the keys of all links that say of two objects what link `row` says."""
        same = (self.code == self.code[row]) & (
            np.sign(self.weight[: self.n_links]) == np.sign(self.weight[row])
        )
        return [str(key) for key in self.keys[: self.n_links][same]]

    def pair(self, row: int) -> str:
        """Return the two items of a link."""
        p, q = self.rows[row, :2].tolist()
        return f"{self.name(p)} and {self.name(q)}"

    def comparison(self, row: int) -> str:
        """Return what a comparison says; `row` counts comparisons alone."""
        a, b, c, d = self.rows[self.n_links + row].tolist()
        if a == c:
            return f"{self.name(a)} is nearer to {self.name(b)} than to {self.name(d)}"
        names = [self.name(item) for item in (a, b, c, d)]
        return f"{names[0]} and {names[1]} are nearer than {names[2]} and {names[3]}"


def link_conflicts(said: Said, most: int, new: Bools | None = None) -> tuple[int, list[Conflict]]:
    """Find links that contradict each other, directly or by way of others.

    Rows of views that show one object are one. What was observed (role "relation") is no link of
    a chain, but contradicts where it says the opposite of one pair. Weights below 1 contradict
    only beyond what they say, see `hetviz.core.ordinal.must_cannot.find_contradictions`.

    Returns
    -------
    n_pairs : int
        Pairs said to be apart that are put together.
    conflicts : list of Conflict
        The smallest first, at most `most`.
    """
    weight = said.weight[: said.n_links]
    apart = weight < 0
    used = np.flatnonzero((weight != 0) & said.guides)
    count, chains = find_contradictions(
        said.ends[used],
        apart[used],
        said.data.n_objects,
        np.abs(weight[used]),
        new=None if new is None else new[used],
        max_chains=most,
    )
    moved = [
        ContradictionChain(int(used[chain.apart]), tuple(int(used[row]) for row in chain.together))
        for chain in chains
    ]
    opposed = _observed_opposites(said, new)
    found = sorted([*opposed, *moved], key=len)[:most]
    return count + len(opposed), [_of_chain(said, chain) for chain in found]


def _observed_opposites(said: Said, new: Bools | None) -> list[ContradictionChain]:
    """Return pairs of which something observed and something else say the opposite."""
    weight = said.weight[: said.n_links]
    out = []
    both = np.intersect1d(said.code[weight < 0], said.code[weight > 0])
    here = np.flatnonzero(np.isin(said.code, both) & (weight != 0))
    here = here[np.argsort(said.code[here], kind="stable")]
    cuts = np.flatnonzero(np.diff(said.code[here])) + 1
    for rows in np.split(here, cuts) if len(here) else []:
        apart, together = rows[weight[rows] < 0], rows[weight[rows] > 0]
        is_known = said.guides[apart].any() and said.guides[together].any()
        same = said.ends[rows[0], 0] == said.ends[rows[0], 1]
        beyond = weight[together].max() - weight[apart].min() > 1.0
        if beyond and not (is_known or same) and (new is None or new[rows].any()):
            out.append(ContradictionChain(int(apart[0]), (int(together[0]),)))
    return out


def _of_chain(said: Said, chain: ContradictionChain) -> Conflict:
    apart, together = chain.apart, chain.together
    pair = said.pair(apart)
    fixes: list[Fix] = [(f"Leave out that {pair} are apart", _drop(said.alike(apart)))]
    if not together:
        sentence = f"{pair} show one and the same thing, and are said to be apart."
    else:
        weakest = sorted(together, key=lambda row: abs(said.weight[row]))
        fixes += [
            (f"Leave out that {said.pair(row)} belong together", _drop(said.alike(row)))
            for row in weakest[:3]
        ]
        fixes.append((f"Say that {pair} belong together", _weigh(said, said.alike(apart), -1.0)))
        least = min((apart, *together), key=lambda row: abs(said.weight[row]))
        words = "are apart" if least == apart else "belong together"
        fixes.append(
            (
                f"Let it count a quarter that {said.pair(least)} {words}",
                _weigh(said, said.alike(least), _LESS),
            )
        )
        sentence = f"{pair} are said to be apart, and also to belong together"
        between = _between(said, chain)
        sentence += f", by way of {between}." if between else "."
    rows = said.rows[[apart, *together], :2].ravel().tolist()
    keys = tuple(str(said.keys[row]) for row in (apart, *together))
    return Conflict("links", keys, sentence, tuple(fixes), tuple(dict.fromkeys(rows)))


def _between(said: Said, chain: ContradictionChain) -> str:
    """Name the objects on the way from one end of a chain to the other."""
    object_of = said.data.object_of
    ends = set(said.ends[chain.apart].tolist())
    rows: dict[int, int] = {}
    for step in chain.together:
        for row in said.rows[step, :2].tolist():
            if object_of[row] not in ends:
                rows.setdefault(int(object_of[row]), row)
    names = [said.name(row) for row in rows.values()]
    if len(names) > _TOLD:
        names = [*names[: _TOLD - 1], f"{len(names) - _TOLD + 1:,} others"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def comparison_conflicts(
    said: Said, statements: Iterable[Sequence[Sequence[int]]]
) -> list[Conflict]:
    """Return conflicts of comparisons, each given as the rows that make each of its statements."""
    out = []
    for rows in statements:
        first = [same[0] for same in rows]
        told = [said.comparison(row) for row in first]
        if len(told) > _TOLD:
            told = [*told[: _TOLD - 1], f"{len(told) - _TOLD + 1:,} more that lead back to it"]
        sentence = f"{'; '.join(told)}: these cannot all be true."
        lightest = sorted(
            rows, key=lambda same: said.weight[[said.n_links + r for r in same]].sum()
        )
        fixes: list[Fix] = []
        for same in lightest[:3]:
            keys = [str(said.keys[said.n_links + row]) for row in same]
            words = said.comparison(same[0])
            fixes.append((f"Leave out that {words}", _drop(keys)))
            turned = {"op": "reverse-comparisons", "keys": keys}
            fixes.append((f"Turn round that {words}", turned))
        keys = [str(said.keys[said.n_links + row]) for row in lightest[0]]
        words = f"Let it count a quarter that {said.comparison(lightest[0][0])}"
        fixes.append((words, _weigh(said, keys, _LESS)))
        places = said.rows[[said.n_links + row for row in first]].ravel().tolist()
        out.append(
            Conflict(
                "comparisons",
                tuple(str(said.keys[said.n_links + row]) for row in first),
                sentence,
                tuple(fixes),
                tuple(dict.fromkeys(places)),
            )
        )
    return out


def conflicts_of_order(said: Said, order: PartialOrder) -> list[Conflict]:
    """Return the conflicts that a look at all comparisons found."""
    return comparison_conflicts(said, [conflict.rows for conflict in order.conflicts])


def would_contradict(
    data: HeteroData,
    statements: Links | Comparisons | Iterable[Links | Comparisons],
    *,
    most: int = 20,
) -> list[Conflict]:
    """Say what would contradict if statements were added.

    Parameters
    ----------
    data : HeteroData
    statements : Links, Comparisons, or several
        Not yet part of the data.
    most : int
        How many conflicts of links, and of comparisons, to name.

    Returns
    -------
    list of Conflict
        Those that the new statements bring about, the smallest first; keys are what the statements
        would be called once added. Empty where nothing new contradicts.

    Notes
    -----
    Linear in statements, and one walk a conflict through its own connected part.
    """
    given = [statements] if isinstance(statements, Links | Comparisons) else list(statements)
    met = add_statements(data, given)
    return brought_about(met.data, [*met.added, *met.updated], most=most)


def brought_about(data: HeteroData, keys: Sequence[str], *, most: int = 20) -> list[Conflict]:
    """Return the conflicts that some statements of the data bring about, as `would_contradict`."""
    said = Said(data)
    new = np.isin(said.keys.astype(str), list(keys))
    _, found = link_conflicts(said, most, new[: said.n_links])
    compared = data.comparisons
    if compared is not None and new[said.n_links :].any():
        pairs = data.object_of[compared.pairs]
        circles = cycles_through(pairs, np.flatnonzero(new[said.n_links :])[:most])
        found += comparison_conflicts(said, circles)
    return sorted(found, key=lambda conflict: len(conflict.keys))


def _drop(keys: list[str]) -> JsonObject:
    return {"op": "drop-statements", "keys": keys}


def _weigh(said: Said, keys: list[str], factor: float) -> JsonObject:
    changes = {key: {"weight": float(said.weight[said.place[key]]) * factor} for key in keys}
    return {"op": "edit-statements", "changes": changes}
