"""Contradicting statements, with explanations and fixes."""

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
from hetviz.features.relations.user_links import USER_LINK_KINDS

Fix = tuple[str, dict[str, Any]]

_REDUCED_WEIGHT_FACTOR = 0.25
_MAX_NAMED = 4


@dataclass(frozen=True, eq=False)
class StatementConflict:
    """A minimal set of contradicting statements: without any one of them the rest is consistent."""

    kind: str
    keys: tuple[str, ...]
    sentence: str
    fixes: tuple[Fix, ...]
    rows: tuple[int, ...]

    def to_dict(self) -> JsonObject:
        return {
            "kind": self.kind,
            "keys": list(self.keys),
            "sentence": self.sentence,
            "fixes": [[words, command] for words, command in self.fixes],
            "rows": list(self.rows),
        }


class StatementArrays:
    """The statements of some data as arrays: rows, objects, weights and keys."""

    def __init__(self, data: HeteroData) -> None:
        self.data = data
        self.keys = statement_keys(data)
        self.rows = statement_rows(data)
        self.n_links = sum(map(len, data.links))
        comparison_weights = [] if data.comparisons is None else [data.comparisons.weight]
        self.weight = np.concatenate(
            [np.empty(0), *(g.weight for g in data.links), *comparison_weights]
        )
        self.ends = data.object_of[self.rows[: self.n_links, :2]].reshape(-1, 2)
        self.can_chain = np.concatenate(
            [np.zeros(0, dtype=bool), *(np.full(len(g), _can_chain(data, g)) for g in data.links)]
        )
        low, high = np.sort(self.ends, axis=1).T
        self.pair_code = low * data.n_objects + high

    @cached_property
    def position_of(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self.keys)}

    def title_of(self, row: int) -> str:
        for name, span in self.data.offsets.items():
            if span.start <= row < span.stop:
                return str(self.data[name].display_names[row - span.start])
        raise IndexError(row)

    def quoted_title_of(self, row: int) -> str:
        """Return the title of a row in quotation marks."""
        return f"“{self.title_of(row)}”"

    def same_link_keys(self, row: int) -> list[str]:
        """Return the keys of all links with the same objects and sign as link `row`."""
        is_same = (self.pair_code == self.pair_code[row]) & (
            np.sign(self.weight[: self.n_links]) == np.sign(self.weight[row])
        )
        return [str(key) for key in self.keys[: self.n_links][is_same]]

    def pair_text(self, row: int) -> str:
        """Return the titles of the two items of a link."""
        p, q = self.rows[row, :2].tolist()
        return f"{self.quoted_title_of(p)} and {self.quoted_title_of(q)}"

    def link_text(self, row: int, *, positive: bool) -> str:
        """Return a link in words, in quotation marks."""
        p, q = self.rows[row, :2].tolist()
        verb = "is like" if positive else "is not like"
        return f"“{self.title_of(p)} {verb} {self.title_of(q)}”"

    def comparison_text(self, row: int) -> str:
        """Return a comparison in words. `row` counts comparisons only."""
        a, b, c, d = map(self.quoted_title_of, self.rows[self.n_links + row].tolist())
        if a == c:
            return f"{a} is closer to {b} than to {d}"
        return f"{a} and {b} are closer than {c} and {d}"


def _can_chain(data: HeteroData, links: Links) -> bool:
    """Whether links of equal items imply others: the user's own, or given within a dataset."""
    is_within = data[links.source].entity == data[links.target].entity
    return links.role == "guidance" and (is_within or links.kind in USER_LINK_KINDS)


def find_link_conflicts(
    arrays: StatementArrays, max_conflicts: int, is_new: Bools | None = None
) -> tuple[int, list[StatementConflict]]:
    """Find links that contradict each other, directly or through other links.

    Views of one object count as one. Only statements of the user and given links within a dataset
    form chains: two items with a common link to a third one of another dataset, such as two voters
    that agree once, may still be apart. Other links contradict a link of opposite sign between the
    same two objects. For weights below 1 see
    `hetviz.core.ordinal.must_cannot.find_contradictions`.
    """
    weight = arrays.weight[: arrays.n_links]
    is_negative = weight < 0
    used_links = np.flatnonzero((weight != 0) & arrays.can_chain)
    n_pairs, chains = find_contradictions(
        arrays.ends[used_links],
        is_negative[used_links],
        arrays.data.n_objects,
        np.abs(weight[used_links]),
        new=None if is_new is None else is_new[used_links],
        max_chains=max_conflicts,
    )
    indexed_chains = [
        ContradictionChain(
            int(used_links[chain.apart]), tuple(int(used_links[row]) for row in chain.together)
        )
        for chain in chains
    ]
    opposites = _direct_opposites(arrays, is_new)
    sorted_chains = sorted([*opposites, *indexed_chains], key=len)[:max_conflicts]
    return n_pairs + len(opposites), [_chain_conflict(arrays, chain) for chain in sorted_chains]


def _direct_opposites(arrays: StatementArrays, is_new: Bools | None) -> list[ContradictionChain]:
    """Return pairs with links of opposite sign, at least one of which is not part of chains."""
    weight = arrays.weight[: arrays.n_links]
    chains = []
    common_pairs = np.intersect1d(arrays.pair_code[weight < 0], arrays.pair_code[weight > 0])
    candidates = np.flatnonzero(np.isin(arrays.pair_code, common_pairs) & (weight != 0))
    candidates = candidates[np.argsort(arrays.pair_code[candidates], kind="stable")]
    boundaries = np.flatnonzero(np.diff(arrays.pair_code[candidates])) + 1
    for rows in np.split(candidates, boundaries) if len(candidates) else []:
        negative, positive = rows[weight[rows] < 0], rows[weight[rows] > 0]
        # Chains include these.
        is_chain = arrays.can_chain[negative].any() and arrays.can_chain[positive].any()
        is_same_object = arrays.ends[rows[0], 0] == arrays.ends[rows[0], 1]
        contradicts = weight[positive].max() - weight[negative].min() > 1.0
        if (
            contradicts
            and not (is_chain or is_same_object)
            and (is_new is None or is_new[rows].any())
        ):
            chains.append(ContradictionChain(int(negative[0]), (int(positive[0]),)))
    return chains


def _chain_conflict(arrays: StatementArrays, chain: ContradictionChain) -> StatementConflict:
    negative, positive = chain.apart, chain.together
    pair = arrays.pair_text(negative)
    fixes: list[Fix] = [
        (
            f"Remove {arrays.link_text(negative, positive=False)}",
            _drop_command(arrays.same_link_keys(negative)),
        )
    ]
    if not positive:
        sentence = f"{pair} are the same item, but are linked as apart."
    else:
        by_weight = sorted(positive, key=lambda row: abs(arrays.weight[row]))
        fixes += [
            (
                f"Remove {arrays.link_text(row, positive=True)}",
                _drop_command(arrays.same_link_keys(row)),
            )
            for row in by_weight[:3]
        ]
        fixes.append(
            (
                f"Change to {arrays.link_text(negative, positive=True)}",
                _reweight_command(arrays, arrays.same_link_keys(negative), -1.0),
            )
        )
        lightest = min((negative, *positive), key=lambda row: abs(arrays.weight[row]))
        text = arrays.link_text(lightest, positive=lightest != negative)
        fixes.append(
            (
                f"Reduce the weight of {text} to a quarter",
                _reweight_command(arrays, arrays.same_link_keys(lightest), _REDUCED_WEIGHT_FACTOR),
            )
        )
        names_between = _names_between(arrays, chain)
        sentence = (
            f"{pair} are linked as apart, but also as together through {names_between}."
            if names_between
            else f"{pair} are linked both as apart and as together."
        )
    rows = arrays.rows[[negative, *positive], :2].ravel().tolist()
    keys = tuple(str(arrays.keys[row]) for row in (negative, *positive))
    return StatementConflict("links", keys, sentence, tuple(fixes), tuple(dict.fromkeys(rows)))


def _names_between(arrays: StatementArrays, chain: ContradictionChain) -> str:
    """Return the titles of the objects between the two ends of a chain."""
    object_of = arrays.data.object_of
    ends = set(arrays.ends[chain.apart].tolist())
    rows: dict[int, int] = {}
    for link in chain.together:
        for row in arrays.rows[link, :2].tolist():
            if object_of[row] not in ends:
                rows.setdefault(int(object_of[row]), row)
    names = [arrays.quoted_title_of(row) for row in rows.values()]
    if len(names) > _MAX_NAMED:
        names = [*names[: _MAX_NAMED - 1], f"{len(names) - _MAX_NAMED + 1:,} others"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def make_comparison_conflicts(
    arrays: StatementArrays, statements: Iterable[Sequence[Sequence[int]]]
) -> list[StatementConflict]:
    """Return conflicts of comparisons. Each consists of statements, given by their rows."""
    conflicts = []
    for rows in statements:
        first_rows = [equal_rows[0] for equal_rows in rows]
        texts = [arrays.comparison_text(row) for row in first_rows]
        if len(texts) > _MAX_NAMED:
            texts = [
                *texts[: _MAX_NAMED - 1],
                f"{len(texts) - _MAX_NAMED + 1:,} more comparisons lead back to the first",
            ]
        sentence = f"{'. '.join(texts)}. These contradict each other."
        lightest = sorted(
            rows,
            key=lambda equal_rows: arrays.weight[[arrays.n_links + r for r in equal_rows]].sum(),
        )
        fixes: list[Fix] = []
        for equal_rows in lightest[:3]:
            keys = [str(arrays.keys[arrays.n_links + row]) for row in equal_rows]
            text = arrays.comparison_text(equal_rows[0])
            fixes.append((f"Remove: {text}", _drop_command(keys)))
            reversal = {"op": "reverse-comparisons", "keys": keys}
            fixes.append((f"Reverse: {text}", reversal))
        keys = [str(arrays.keys[arrays.n_links + row]) for row in lightest[0]]
        text = f"Reduce the weight to a quarter: {arrays.comparison_text(lightest[0][0])}"
        fixes.append((text, _reweight_command(arrays, keys, _REDUCED_WEIGHT_FACTOR)))
        item_rows = arrays.rows[[arrays.n_links + row for row in first_rows]].ravel().tolist()
        conflicts.append(
            StatementConflict(
                "comparisons",
                tuple(str(arrays.keys[arrays.n_links + row]) for row in first_rows),
                sentence,
                tuple(fixes),
                tuple(dict.fromkeys(item_rows)),
            )
        )
    return conflicts


def order_conflicts(arrays: StatementArrays, order: PartialOrder) -> list[StatementConflict]:
    """Return the conflicts of all comparisons, from their partial order."""
    return make_comparison_conflicts(arrays, [conflict.rows for conflict in order.conflicts])


def find_new_conflicts(
    data: HeteroData, statements: Links | Comparisons | Iterable[Links | Comparisons]
) -> list[StatementConflict]:
    """Return the conflicts that new statements would cause."""
    new_statements = (
        [statements] if isinstance(statements, Links | Comparisons) else list(statements)
    )
    result = add_statements(data, new_statements)
    return conflicts_involving(result.data, [*result.added, *result.updated])


def conflicts_involving(
    data: HeteroData, keys: Sequence[str], *, max_conflicts: int = 20
) -> list[StatementConflict]:
    """Return the conflicts that involve the given statements of the data."""
    arrays = StatementArrays(data)
    is_new = np.isin(arrays.keys.astype(str), list(keys))
    _, conflicts = find_link_conflicts(arrays, max_conflicts, is_new[: arrays.n_links])
    comparisons = data.comparisons
    if comparisons is not None and is_new[arrays.n_links :].any():
        pairs = data.object_of[comparisons.pairs]
        cycles = cycles_through(pairs, np.flatnonzero(is_new[arrays.n_links :])[:max_conflicts])
        conflicts += make_comparison_conflicts(arrays, cycles)
    return sorted(conflicts, key=lambda conflict: len(conflict.keys))


def _drop_command(keys: list[str]) -> JsonObject:
    return {"op": "drop-statements", "keys": keys}


def _reweight_command(arrays: StatementArrays, keys: list[str], factor: float) -> JsonObject:
    changes = {
        key: {"weight": float(arrays.weight[arrays.position_of[key]]) * factor} for key in keys
    }
    return {"op": "edit-statements", "changes": changes}
