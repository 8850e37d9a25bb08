"""Drafts of joins, whose pairs are not made yet: by keys, lists and places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np
import scipy.sparse as sp

from hetviz._text import round_percent
from hetviz._types import Floats
from hetviz.data.joins.join import Join
from hetviz.data.joins.key_columns import (
    KeyColumn,
    SharedKeys,
    chance_share,
    numbers_after_prefix,
    shared_keys,
)
from hetviz.data.joins.key_names import END_WORDS
from hetviz.data.joins.key_scores import MIN_SHARED_SHARE, NAMED, KeyEvidence, KeyJudge
from hetviz.data.joins.keys import ZEROS_IN_FRONT, LooseKeys, column_keys
from hetviz.data.joins.matching import MAX_PAIRS
from hetviz.data.joins.places import (
    DEFAULT_NEAREST,
    km_between,
    nearest_km,
    place_columns,
    places_of,
)
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData

MIN_SCORE = 0.2
"""Smallest score of a proposal of lists and places."""

MIN_OFFERED_SCORE = 0.3
"""Smallest score of a proposed key."""

MIN_SURE_SCORE = 0.8
"""Smallest score of a certain key."""

MIN_SURE_SHARE = 0.8
"""Smallest share of matched rows of a certain key."""

MIN_VIEW_SHARE = 0.5
KEY_FORMS: tuple[LooseKeys, LooseKeys] = (True, "spelling")

_MIN_SHARED_KEYS = 3
_MIN_DISTINCT_SHARE = 0.8
_RUNNING_SCORE = 0.2
_MAX_LINKED_SHARE = 0.9
_MAX_SAMPLED_PLACES = 1_000
# Largest number of keys of a column that are compared by spelling alone.
_MAX_SPELLED_KEYS = 20_000
# A column whose unnamed numbers are among the ids of several tables says nothing by that.
_MAX_RIVALS = 4
_MAX_OFFERED_OWNERS = 3
_SIMILAR_SCORE = 0.15
_ENDS_SCORE = 0.85
_ALL_ROWS = 0.99
# Letters and digits without blanks, such as AK-01.
_CODE = re.compile(r"(?=\D*[0-9])(?=[\d\W_]*[^\W\d_])\S+")
_MAX_FIRST_SHARE, _MIN_USES_OF_FIRST = 0.5, 10


@dataclass(frozen=True)
class Draft:
    """A proposal without its pairs."""

    join: Join
    score: float
    evidence: tuple[str, ...]
    share: float = 0.0
    chance: float = 0.0
    doubt: str = ""
    alike: bool = False  # Whether the names of the columns refer to each other.

    @property
    def of(self) -> tuple[str, str]:
        """The dataset and the column that refers."""
        return self.join.source, self.join.source_column

    @property
    def ends(self) -> tuple[str, str]:
        return self.join.source, self.join.target


def drafts_by_key(
    data: HeteroData, columns: Sequence[KeyColumn], declared: Collection[Join] = ()
) -> list[Draft]:
    """Return drafts of views, lists and keys, besides the declared keys."""
    if not columns:
        return []
    # A declared key is the only one of its columns, and is not reversed.
    taken = {(join.source, column) for join in declared for column in join.source_columns}
    pairs = {
        ((join.target, join.target_column), (join.source, join.source_column)) for join in declared
    }
    counts = shared_keys(columns)
    judge = KeyJudge(data, columns)
    out: list[Draft] = []
    keys: list[_KeyDraft] = []
    shared = sp.triu(counts.keys, k=1).tocoo()
    for a, b, n in zip(shared.row.tolist(), shared.col.tolist(), shared.data.tolist(), strict=True):
        first, second = columns[a], columns[b]
        is_list = first.separator is not None or second.separator is not None
        if first.dataset == second.dataset and is_list:
            continue
        if is_list:
            if first.separator is None:
                a, b = b, a
            out += _list_drafts(data, columns, counts, a, b)
        elif _are_views(judge, columns, counts, a, b):
            out += _view_drafts(data, columns, counts, a, b)
        else:
            keys += [
                draft
                for at, to in _directions(judge, columns, a, b)
                if _column_of(columns[at]) not in taken
                and (_column_of(columns[at]), _column_of(columns[to])) not in pairs
                and (draft := _key_draft(judge, columns, counts, at, to, int(n))) is not None
            ]
    return [*out, *_best_owners(keys)]


def _directions(
    judge: KeyJudge, columns: Sequence[KeyColumn], a: int, b: int
) -> list[tuple[int, int]]:
    """Return which of two columns may refer to the other; of two ids only the clear one."""
    both = [(a, b), (b, a)]
    if not (columns[a].is_id and columns[b].is_id):
        return both
    clear = [(at, to) for at, to in both if judge.is_reference_of_ids(columns[at], columns[to])]
    return clear or both


@dataclass(frozen=True)
class _KeyDraft:
    """A possible key with its evidence."""

    source: KeyColumn
    target: KeyColumn
    evidence: KeyEvidence
    score: float
    n_rows: int
    n_target_rows: int


def _key_draft(
    judge: KeyJudge, columns: Sequence[KeyColumn], counts: SharedKeys, a: int, b: int, n: int
) -> _KeyDraft | None:
    source, target = columns[a], columns[b]
    void = source.no_partner_keys
    if n < min(_MIN_SHARED_KEYS, len(source.keys) - len(void), len(target.keys)):
        return None
    if n < MIN_SHARED_SHARE * (len(source.keys) - len(void)) or counts.pairs[a, b] > MAX_PAIRS:
        return None
    if not judge.may_refer(source, target):
        return None
    n_rows = int(counts.rows[a, b])
    evidence = judge.evidence(source, target, n, n_rows)
    return _KeyDraft(source, target, evidence, evidence.score, n_rows, int(counts.rows[b, a]))


def _best_owners(drafts: list[_KeyDraft]) -> list[Draft]:
    """Return the drafts of keys: one owner of each column, others only as offers."""
    likeliest: dict[tuple[str, str], _KeyDraft] = {}
    for draft in sorted(drafts, key=lambda draft: draft.score):
        likeliest[_column_of(draft.source)] = draft
    n_ids = Counter(
        _column_of(draft.source)
        for draft in drafts
        if draft.evidence.rows_found >= _ALL_ROWS
        and draft.target.is_id
        and not _is_certain(likeliest.get(_column_of(draft.target)))
    )
    scored = []
    for draft in drafts:
        rivals = n_ids[_column_of(draft.source)] - 1
        evidence = draft.evidence
        if rivals > 0 and evidence.name < NAMED and not evidence.is_role:
            score = draft.score * (1 - 0.5 * min(1, rivals / _MAX_RIVALS))
            draft = replace(draft, score=score)
        scored.append(draft)
    scored = _with_pairs_of_ends(scored)
    scored.sort(
        key=lambda d: (-round(d.score, 2), not d.evidence.table_name, -d.score,
                       -d.evidence.name, d.source.dataset, d.source.column,
                       d.target.dataset, d.target.column)
    )  # fmt: skip
    by_column: dict[tuple[str, str], list[_KeyDraft]] = {}
    for draft in scored:
        by_column.setdefault(_column_of(draft.source), []).append(draft)
    best = {column: options[0] for column, options in by_column.items()}
    out = []
    for options in by_column.values():
        owner = _root_owner(options, best)
        back = best.get(_column_of(owner.target))
        if back is not None and back.target is owner.source and _refers_back(owner, back):
            continue
        if owner.score >= MIN_SURE_SCORE:
            out.append(_as_draft(owner, _doubt_about_numbers(owner)))
            continue
        # A key without a certain owner is offered with its likeliest ones.
        is_key = owner.source.is_named_key and owner.evidence.rows_found >= _ALL_ROWS
        out += [
            _as_draft(draft, "" if draft is owner else "Another column fits this one better.")
            for draft in options[:_MAX_OFFERED_OWNERS]
            if draft.score >= MIN_OFFERED_SCORE or is_key
        ]
    return out


def _with_pairs_of_ends(drafts: Sequence[_KeyDraft]) -> list[_KeyDraft]:
    """Return drafts in which the columns of a list of edges are certain.

    All columns of words of such a table have the ids of the same dataset in all rows, or its
    columns are named as ends, such as source and target.
    """
    groups: dict[tuple[str, str], list[_KeyDraft]] = {}
    for draft in drafts:
        is_full = draft.evidence.rows_found >= _ALL_ROWS and draft.target.is_id
        if is_full and draft.source.dataset != draft.target.dataset:
            ends = draft.source.dataset, draft.target.dataset
            groups.setdefault(ends, []).append(draft)
    certain = {
        id(draft)
        for group in groups.values()
        if len({draft.source.column for draft in group}) == 2 and _are_ends(group)
        for draft in group
    }
    return [
        replace(draft, score=max(draft.score, _ENDS_SCORE)) if id(draft) in certain else draft
        for draft in drafts
    ]


def _are_ends(group: Sequence[_KeyDraft]) -> bool:
    columns = [draft.source for draft in group]
    if all(END_WORDS & set(column.words) for column in columns):
        return True
    return all(column.integers is None for column in columns) and columns[0].n_texts == 2


def _is_certain(draft: _KeyDraft | None) -> bool:
    return draft is not None and draft.score >= MIN_SURE_SCORE


def _column_of(column: KeyColumn) -> tuple[str, str]:
    return column.dataset, column.column


def _root_owner(
    options: Sequence[_KeyDraft], best: Mapping[tuple[str, str], _KeyDraft]
) -> _KeyDraft:
    """Return the best draft, or a similar one of the table that its target refers to."""
    owner = options[0]
    further = best.get(_column_of(owner.target)) if owner.target.is_id else None
    back = None if further is None else best.get(_column_of(further.target))
    is_mutual = (
        further is not None
        and back is not None
        and back.target is owner.target
        and _refers_back(further, back)
    )
    if further is not None and further.score >= MIN_SURE_SCORE and not is_mutual:
        for draft in options[1:]:
            if draft.target is further.target and draft.score >= owner.score - _SIMILAR_SCORE:
                return draft
    return owner


def _refers_back(draft: _KeyDraft, back: _KeyDraft) -> bool:
    """Return whether of two columns that refer to each other, the target is the one that refers."""
    a, b = draft.source, draft.target
    mine = draft.evidence.rows_found, -a.n_rows
    others = back.evidence.rows_found, -b.n_rows
    if mine != others:
        return mine < others
    return (a.dataset, a.column) > (b.dataset, b.column)


def _doubt_about_numbers(draft: _KeyDraft) -> str:
    """Return a doubt if many rows have only the first few ids, as if they counted something else.

    The contest types 1 to 5 of many moves are not the first 5 of 20 types.
    """
    source, target, evidence = draft.source, draft.target, draft.evidence
    x, y = source.integers, target.integers
    if x is None or y is None or evidence.same_name or evidence.is_same_table:
        return ""
    are_first = len(x) <= _MAX_FIRST_SHARE * len(y) and np.array_equal(x, y[: len(x)])
    if not are_first or source.rows < _MIN_USES_OF_FIRST * len(x):
        return ""
    return (
        f"Only the first {len(x):,} of {len(y):,} {target.dataset} occur, so these numbers may "
        "count something else."
    )


def _as_draft(draft: _KeyDraft, doubt: str) -> Draft:
    a, b, evidence = draft.source, draft.target, draft.evidence
    share = evidence.rows_found
    chance = chance_share(a, b)
    n_filled = "" if a.rows == a.n_rows else " that have a value"
    sentences = [
        f"{draft.n_rows:,} of {a.rows:,} {a.dataset}{n_filled} and {draft.n_target_rows:,} of "
        f"{b.n_rows:,} {b.dataset} match: {round_percent(share)}. {_chance_words(chance)}"
    ]
    alike = evidence.name >= NAMED
    if alike:
        sentences.append("The columns have similar names.")
    if a.no_partner_keys and share > draft.n_rows / max(1, a.rows):
        sentences.append("0 and -1 are read as no partner.")
    are_running = a.counts_up and b.counts_up
    if are_running:
        sentences.append(RUNNING_NUMBERS)
    if not doubt and draft.score < MIN_SURE_SCORE:
        if are_running and not alike:
            doubt = RUNNING_NUMBERS
        elif a.integers is not None and not alike:
            doubt = "Both are whole numbers, but the columns have different names."
        elif share < MIN_SURE_SHARE:
            doubt = f"Only {round_percent(share)} of the rows match."
        else:
            doubt = "The names of the columns do not say that they belong together."
    join = Join("key", a.dataset, b.dataset, a.column, b.column, ";", loose=True)
    return Draft(join, draft.score, tuple(sentences), share, chance, doubt, alike)


# From this share of matches by chance on, the share is no evidence.
_LIKELY = 0.5
RUNNING_NUMBERS = (
    "Both are running numbers, which unrelated tables have too. Check the pairs first."
)


def drafts_by_spelling(
    data: HeteroData, columns: Sequence[KeyColumn], known_drafts: Collection[Draft]
) -> Iterator[Draft]:
    """Yield drafts of keys that match only without accents."""
    known = {(draft.of, draft.ends) for draft in known_drafts}
    texts = [
        column
        for column in columns
        if column.separator is None and len(column.keys) <= _MAX_SPELLED_KEYS
    ]
    if all(key.isascii() for column in texts for key in column.keys.tolist()):
        # Punctuation is only tested for keys that were found.
        return
    texts = [
        _with_keys(data[column.dataset], column, "spelling")
        for column in texts
        if column.integers is None
    ]
    for draft in drafts_by_key(data, texts) if texts else ():
        join = draft.join
        if join.kind != "key" or (draft.of, draft.ends) in known:
            continue
        target = data[join.target]
        n_plain, n_spelled = (
            len(column_keys(target, join.target_column, form).distinct) for form in KEY_FORMS
        )
        # Skipped if items of the target would get equal keys, such as C and C++.
        if n_spelled == n_plain:
            yield replace(draft, join=replace(join, loose="spelling"))


def drafts_without_zeros(
    data: HeteroData, columns: Sequence[KeyColumn], known_drafts: Collection[Draft]
) -> Iterator[Draft]:
    """Yield drafts of keys that match only without the zeros in front, as offers."""
    known = {draft.of for draft in known_drafts if draft.share >= MIN_SURE_SHARE}
    numbers = [
        column
        for column in columns
        if column.separator is None
        and not column.is_date
        and (column.integers is not None or all(map(_CODE.fullmatch, column.sample)))
    ]
    if not any(map(ZEROS_IN_FRONT.search, chain.from_iterable(one.sample for one in numbers))):
        return
    stripped = [_with_keys(data[column.dataset], column, "zeros") for column in numbers]
    for draft in drafts_by_key(data, stripped):
        if draft.join.kind in ("key", "views") and draft.of not in known:
            # Views have equal ids, so differently written ones are linked.
            join = replace(draft.join, kind="key", loose="zeros")
            doubt = draft.doubt or "Zeros in front of the numbers are ignored."
            yield replace(draft, join=join, doubt=doubt)


def _with_keys(dataset: Dataset, column: KeyColumn, form: LooseKeys) -> KeyColumn:
    """Return a column with its keys in another form."""
    keys = column_keys(dataset, column.column, form)
    return KeyColumn(
        column.dataset, column.column, None, keys.distinct, keys.uses, column.rows, column.called,
        column.n_rows, column.words, column.is_title, column.is_date, column.n_texts,
    )  # fmt: skip


def _is_key(data: HeteroData, column: KeyColumn) -> bool:
    """Return whether a column identifies the items: ids, titles, or distinct values."""
    named = column.column in ("", data[column.dataset].title_column)
    return column.separator is None and column.distinct >= (_MIN_DISTINCT_SHARE if named else 1.0)


def _shares(columns: Sequence[KeyColumn], counts: SharedKeys, a: int, b: int) -> tuple[float, ...]:
    return (
        int(counts.rows[a, b]) / max(1, columns[a].n_rows),
        int(counts.rows[b, a]) / max(1, columns[b].n_rows),
    )


def _are_views(
    judge: KeyJudge, columns: Sequence[KeyColumn], counts: SharedKeys, a: int, b: int
) -> bool:
    """Return whether two datasets have mostly equal ids, and none of them refers to the other."""
    first, second = columns[a], columns[b]
    if not (first.is_id and second.is_id):
        return False
    share = sum(_shares(columns, counts, a, b)) / 2
    return share >= MIN_VIEW_SHARE and not (
        judge.is_reference_of_ids(first, second) or judge.is_reference_of_ids(second, first)
    )


def _view_drafts(
    data: HeteroData, columns: Sequence[KeyColumn], counts: SharedKeys, a: int, b: int
) -> Iterator[Draft]:
    """Yield the draft of two datasets with mostly equal ids."""
    first, second = columns[a], columns[b]
    if data[first.dataset].entity == data[second.dataset].entity:
        return
    share = sum(_shares(columns, counts, a, b)) / 2
    chance = (chance_share(first, second) + chance_share(second, first)) / 2
    are_running = first.counts_up and second.counts_up
    score = above_chance(share, chance)
    if are_running and share >= _MAX_LINKED_SHARE:
        score = max(score, _RUNNING_SCORE)
    if score < MIN_SCORE:
        return
    evidence = [
        f"{int(counts.rows[a, b]):,} of {first.n_rows:,} {first.dataset} and "
        f"{int(counts.rows[b, a]):,} of {second.n_rows:,} {second.dataset} match: "
        f"{round_percent(share)} on average. By chance it would be {round_percent(chance)}."
    ]
    are_numbers = first.integers is not None and second.integers is not None
    is_named = bool(first.entity_words) and first.bare_name == second.bare_name
    doubt = RUNNING_NUMBERS if are_running or (are_numbers and not is_named) else ""
    evidence += [doubt] if doubt else []
    join = Join("views", first.dataset, second.dataset, loose=True)
    yield Draft(join, score, tuple(evidence), share, chance, doubt)


def _list_drafts(
    data: HeteroData, columns: Sequence[KeyColumn], counts: SharedKeys, a: int, b: int
) -> Iterator[Draft]:
    """Yield the draft of a column that lists keys of another dataset."""
    source, target = columns[a], columns[b]
    n_shared = int(counts.keys[a, b])
    if n_shared < min(_MIN_SHARED_KEYS, len(source.keys), len(target.keys)):
        return
    if not _is_key(data, target) or counts.pairs[a, b] > MAX_PAIRS:
        return
    n_entries = int(source.uses.sum())
    n_found, n_target = int(counts.rows[a, b]), int(counts.rows[b, a])
    share, chance = n_found / n_entries, chance_share(source, target)
    alike = bool(set(source.entity_words) & {*target.entity_words, *target.words})
    are_numbers = source.integers is not None and target.integers is not None
    if are_numbers and target.counts_up and not alike:
        # Any count or year matches some row number.
        return
    has_prefix = numbers_after_prefix(source, target) is not None and source.ends[0][0].isalpha()
    by_chance = chance / 2 if alike or has_prefix else chance
    score = above_chance(share, by_chance)
    if score < MIN_SCORE:
        return
    evidence = [
        f"{n_found:,} of {n_entries:,} entries of {source.column} and {n_target:,} of "
        f"{target.n_rows:,} {target.dataset} match: {round_percent(share)}. {_chance_words(chance)}"
    ]
    evidence += ["The columns have similar names."] if alike else []
    doubt = ""
    if are_numbers and not alike:
        doubt = "Both are whole numbers, but the columns have different names."
    join = Join("list", source.dataset, target.dataset, source.column, target.column,
                source.separator or ";", loose=True)  # fmt: skip
    yield Draft(join, score, tuple(evidence), share, by_chance, doubt, alike)


def _chance_words(chance: float) -> str:
    if chance >= _LIKELY:
        return "That says little, because most such values would match by chance."
    return f"By chance it would be {round_percent(chance)}."


def above_chance(share: float, chance: float) -> float:
    """Return how far a share is above chance, from 0 to 1."""
    return 0.0 if chance >= 1 else max(0.0, (share - chance) / (1 - chance))


def drafts_by_tags(data: HeteroData, columns: Sequence[KeyColumn]) -> Iterator[Draft]:
    """Yield drafts of columns whose list entries become a new dataset."""
    for column in columns:
        uses = int(column.uses.sum())
        n_repeated = int(column.uses[column.uses > 1].sum())
        n = len(data[column.dataset])
        if column.separator is None or n_repeated < uses / 2:
            continue
        score = n_repeated / uses * column.rows / n / 2
        if score < MIN_SCORE:
            continue
        name = _unused_name(data, column.column)
        evidence = (
            f"{column.rows:,} of {n:,} {column.dataset} have entries: {len(column.keys):,} "
            f"different ones, {uses / column.rows:.1f} per row. "
            f"{round_percent(n_repeated / uses)} of the entries occur more than once.",
        )
        join = Join("tags", column.dataset, name, column.column, "", column.separator, loose=True)
        yield Draft(join, score, evidence)


def drafts_by_place(data: HeteroData) -> Iterator[Draft]:
    """Yield drafts of datasets with places."""
    placed = {}
    for name, dataset in data.datasets.items():
        if place_columns(dataset) is not None:
            P = places_of(dataset)[0]
            P = P[~np.isnan(P[:, 0])]
            if len(P):
                placed[name] = P
    for first, second in combinations(placed, 2):
        # The dataset with more places is the source: each of its items gets its nearest ones.
        ends = (first, second) if len(placed[first]) >= len(placed[second]) else (second, first)
        S, T = (_sample_places(placed[name]) for name in ends)
        near = float(np.median(nearest_km(S, placed[ends[1]])))
        any_two = float(np.median(km_between(S[:, None], T[None, :])))
        score = 0.0 if any_two <= 0 else max(0.0, 1 - near / any_two)
        share = len(placed[ends[0]]) / len(data[ends[0]])
        if score * share < MIN_SCORE:
            continue
        evidence = (
            f"Both have latitude and longitude. The median distance from {ends[0]} to the nearest "
            f"{ends[1]} is {near:,.0f} km. Between any two it is {any_two:,.0f} km.",
        )
        yield Draft(Join("near", *ends, k=DEFAULT_NEAREST), score * share, evidence)


def _sample_places(P: Floats) -> Floats:
    """Return a sample of places that does not depend on the order of the rows."""
    ordered = P[np.lexsort((P[:, 1], P[:, 0]))]
    step = max(1, len(ordered) // _MAX_SAMPLED_PLACES)
    return ordered[::step]


def _unused_name(data: HeteroData, name: str) -> str:
    while name in data.datasets:
        name += " listed"
    return name
