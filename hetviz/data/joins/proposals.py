"""Proposals of joins between datasets, with scores and evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from string import ascii_letters, digits

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from hetviz._text import round_percent
from hetviz._types import Floats, Ints, JsonObject, Texts
from hetviz.data.joins.join import Join, share_linked
from hetviz.data.joins.keys import (
    LooseKeys,
    column_keys,
    combined_codes,
    normalise_key,
    translate_texts,
)
from hetviz.data.joins.lists import entries_of, separator_of
from hetviz.data.joins.matching import MAX_PAIRS, Match
from hetviz.data.joins.places import (
    DEFAULT_NEAREST,
    km_between,
    nearest_km,
    place_columns,
    places_of,
)
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.queries.reach import Reach, link_reach
from hetviz.errors import HetvizError
from hetviz.memo import cached_while_alive

_MAX_COLUMNS = 40
_MAX_MEAN_KEY_LENGTH = 100
_MAX_SAMPLED_KEYS = 2_000
# Words that mark a column as a key without naming the entity.
_GENERIC = frozenset({"id", "ids", "key", "code", "name", "title", "label", "no", "nr", "ref"})
_LETTERS = re.compile(r"[^\W\d_]")
_ASCII = str.maketrans(ascii_letters + digits, "a" * 52 + "9" * 10)

MAX_PROPOSALS = 12
_MIN_SCORE = 0.2
_MIN_SHARED_KEYS = 3
_MIN_DISTINCT_SHARE = 0.8
_MIN_VIEW_SHARE = 0.5
_RUNNING_SCORE = 0.2
_N_EXAMPLES = 3
_MAX_SAMPLED_PLACES = 1_000
_MAX_LINKED_SHARE = 0.9
_MAX_PER_PAIR = 2
# Largest number of drafts tried for two datasets, and the share of common pairs from which a worse
# proposal counts as a repetition.
_MAX_TRIES_PER_PAIR = 6
_MAX_COMMON_PAIRS = 0.5
# Smallest share of matched rows of a certain key, and the largest mean number of partners.
_MIN_SURE_SHARE = 0.8
_MAX_MEAN_PARTNERS = 1.1
# Largest number of keys of a column that are compared by spelling alone.
_MAX_SPELLED_KEYS = 20_000
_KEY_FORMS: tuple[LooseKeys, LooseKeys] = (True, "spelling")


@dataclass(frozen=True, eq=False)
class KeyColumn:
    """Keys of a column or of the ids."""

    # `dataset`, `column`: an empty column stands for the ids.
    dataset: str
    column: str
    separator: str | None  # Separator of cells that list several keys.
    keys: Texts  # Distinct normalised keys.
    uses: Ints  # Number of rows of each key.
    rows: int  # Number of rows with any key.
    called: str  # Name of the column; for ids the name in the file, empty if unknown.
    _numbers: dict[int, Ints | None] = field(default_factory=dict, repr=False)

    @cached_property
    def distinct(self) -> float:
        """Number of distinct keys per use."""
        return len(self.keys) / max(1, int(self.uses.sum()))

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Hash of each key."""
        return pd.util.hash_array(self.keys, categorize=False)

    @cached_property
    def ends(self) -> tuple[str, str]:
        """The alphabetically first and last key."""
        return min(self.keys), max(self.keys)

    @cached_property
    def patterns(self) -> Counter[str]:
        """Number of keys of each pattern."""
        return Counter(_patterns(self.keys.tolist()))

    @cached_property
    def some_patterns(self) -> list[str]:
        """Patterns of a sample of keys that does not depend on the order of the rows."""
        step = max(1, len(self.keys) // _MAX_SAMPLED_KEYS)
        return _patterns(sorted(self.keys.tolist())[::step])

    @cached_property
    def counts_up(self) -> bool:
        """Whether the keys are running numbers, which unrelated tables have too."""
        numbers = _numbers(self, self)
        if numbers is None:
            return False
        x = numbers[0]
        return len(x) >= 0.9 * (int(x.max()) - int(x.min()) + 1)

    def numbers(self, skip: int) -> Ints | None:
        """Return the keys without their first `skip` letters as whole numbers, or None."""
        if skip not in self._numbers:
            suffixes = [key[skip:] for key in self.keys.tolist()]
            is_numeric = all(
                text.isascii() and text.isdigit() and len(text) < 16 for text in suffixes
            )
            self._numbers[skip] = (
                np.array(list(map(int, suffixes)), dtype=np.int64) if is_numeric else None
            )
        return self._numbers[skip]


@dataclass(frozen=True, eq=False)
class SharedKeys:
    """Counts of shared keys; entry [a, b] is for columns a and b."""

    # `keys`, `rows`, `pairs`: shape (columns, columns). Number of shared distinct keys; of uses in
    # a of keys of b; of resulting pairs.
    keys: sp.csr_array
    rows: sp.csr_array
    pairs: sp.csr_array


def key_columns(data: HeteroData) -> list[KeyColumn]:
    """Return the possible key columns of all datasets, the ids first; cached for each dataset.

    Columns of fractions, places, one value or long text are no keys. At most 40 columns of a table
    are used.
    """
    return [column for dataset in data.datasets.values() for column in _columns_of_dataset(dataset)]


def shared_keys(columns: Sequence[KeyColumn]) -> SharedKeys:
    """Count the shared keys of all pairs of columns by one sparse product over key hashes.

    O(K) for K distinct keys of all columns, plus one step for each pair of columns with a common
    key.
    """
    at, distinct = pd.factorize(np.concatenate([column.hashes for column in columns]))
    column_of_key = np.repeat(np.arange(len(columns)), [len(column.keys) for column in columns])
    uses = np.concatenate([column.uses for column in columns]).astype(np.int64)
    # Most keys occur in one column only.
    is_shared = np.bincount(at, minlength=len(distinct))[at] > 1
    at, column_of_key, uses = at[is_shared], column_of_key[is_shared], uses[is_shared]
    shape = (len(distinct), len(columns))
    R = sp.csr_array((uses, (at, column_of_key)), shape=shape)
    B = sp.csr_array((np.ones(len(uses), dtype=np.int64), (at, column_of_key)), shape=shape)
    return SharedKeys((B.T @ B).tocsr(), (R.T @ B).tocsr(), (R.T @ R).tocsr())


def chance_share(a: KeyColumn, b: KeyColumn) -> float:
    """Return the expected share of keys of `a` that occur in `b` by chance.

    Whole numbers, also after a common prefix (item_001): the share of the numbers between the
    smallest and the largest number of `a` that `b` has. Other keys: the share of all texts of the
    same pattern (26 letters, 10 digits, other characters fixed) that `b` has, for at most 2,000
    keys of `a`.
    """
    numbers = _numbers(a, b)
    if numbers is not None:
        x, y = numbers
        inside = int(((y >= x.min()) & (y <= x.max())).sum())
        return min(1.0, inside / (int(x.max()) - int(x.min()) + 1))
    shares = [min(1.0, b.patterns[p] / _possible(p)) for p in a.some_patterns]
    return float(np.mean(shares)) if shares else 0.0


def is_named_alike(a: KeyColumn, b: KeyColumn) -> bool:
    """Return whether the name of one column refers to the other, or to its dataset."""
    if not a.column and not b.column:
        return False
    words_a, words_b = name_words(a.called), name_words(b.called)
    return bool(
        words_a & words_b
        or (words_a & name_words(b.dataset) and a.column)
        or (words_b & name_words(a.dataset) and b.column)
    )


@cached_while_alive
def _columns_of_dataset(dataset: Dataset) -> list[KeyColumn]:
    key_columns = [_key_column(dataset, "")]
    ids = set(dataset.ids.tolist())
    table = dataset.table if dataset.table is not None else pd.DataFrame()
    places = place_columns(dataset) or ()
    # A join names columns as text, so columns with numbers as names are skipped.
    columns: Sequence[object] = table.columns.tolist()
    for column in (name for name in columns if isinstance(name, str)):
        if len(key_columns) > _MAX_COLUMNS:
            break
        if places == (column,):
            continue
        values = table[column]
        if pd.api.types.is_bool_dtype(values.dtype) or _has_fractions(values):
            continue
        keys_of_column = column_keys(dataset, column)
        texts = keys_of_column.distinct.tolist()
        repeats_ids = len(texts) == len(ids) and ids.issuperset(texts)
        if (
            len(texts) < 2
            or sum(map(len, texts)) > _MAX_MEAN_KEY_LENGTH * len(texts)
            or repeats_ids
        ):
            continue
        # A cell that looks like a list can still be one name, such as "Doe, Jane".
        key_columns.append(_key_column(dataset, column))
        sign = separator_of(texts)
        if sign is not None:
            at, keys = pd.factorize(entries_of(dataset, column, sign, loose=True)["key"])
            uses = np.bincount(at, minlength=len(keys)).astype(np.int64)
            distinct = np.asarray(keys, dtype=object)
            rows = int(keys_of_column.uses.sum())
            key_columns.append(KeyColumn(dataset.name, column, sign, distinct, uses, rows, column))
    return key_columns


def _key_column(dataset: Dataset, column: str) -> KeyColumn:
    keys = column_keys(dataset, column, loose=True)
    rows = int(keys.uses.sum())
    called = column or str((dataset.recipe or {}).get("id", ""))
    return KeyColumn(dataset.name, column, None, keys.distinct, keys.uses, rows, called)


def _has_fractions(values: pd.Series) -> bool:
    if not pd.api.types.is_float_dtype(values.dtype):
        return False
    finite = values.to_numpy(np.float64)
    finite = finite[np.isfinite(finite)]
    return not len(finite) or bool((finite != np.round(finite)).any())


def _numbers(a: KeyColumn, b: KeyColumn) -> tuple[Ints, Ints] | None:
    """Return the keys of both columns as whole numbers after a common prefix, or None."""
    if not len(a.keys) or not len(b.keys):
        return None
    # The alphabetically first and last key have the shortest common prefix.
    ends = [*a.ends, *b.ends]
    first, last = min(ends), max(ends)
    prefix_end = next(
        (at for at, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), None
    )
    skip = len(first[:prefix_end].rstrip("0123456789"))
    if not all(end[skip:].isdigit() for end in ends):
        return None
    x, y = a.numbers(skip), b.numbers(skip)
    return None if x is None or y is None else (x, y)


def _patterns(keys: list[str]) -> list[str]:
    """Return each key with "a" for a letter and "9" for a digit."""
    translated = translate_texts(keys, _ASCII)
    return translated or [re.sub(r"\d", "9", _LETTERS.sub("a", key)) for key in keys]


def _possible(pattern: str) -> float:
    return float(10.0 ** min(300, pattern.count("9") + 1.415 * pattern.count("a")))


def name_words(name: str) -> set[str]:
    """Return the words of the name of a column or dataset in the singular, without generic ones."""
    words = {word for word in re.split(r"[\W\d_]+", name.casefold()) if word}
    singular = {
        word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") for word in words
    }
    return singular - _GENERIC


@dataclass(frozen=True, eq=False)
class Proposal:
    """A proposed join of two datasets.

    Attributes
    ----------
    join : Join
        The join; `Join.carried_out` applies it.
    score : float
        From 0 (chance level) to 1 (every row of both has a partner).
    evidence : tuple of str
        Evidence for and against the join, in sentences.
    match : Match
        The pairs.
    reach : Reach
        Coverage of the items by the pairs.
    doubt : str
        Reason to ask before joining; empty if the join is certain.
    """

    join: Join
    score: float
    evidence: tuple[str, ...]
    match: Match
    reach: Reach
    doubt: str = ""

    @property
    def sure(self) -> bool:
        """Whether the join is certain: nearly all rows find a partner."""
        return not self.doubt

    @property
    def ends(self) -> tuple[str, str]:
        """The two datasets."""
        return self.join.source, self.join.target

    @property
    def title(self) -> str:
        """Short description."""
        join = self.join
        if join.kind == "views":
            return f"{join.source} and {join.target} look like two views of the same items"
        if join.kind == "tags":
            return f"New dataset of the entries of {join.source_column} in {join.source}"
        if join.kind == "near":
            return f"{join.source} near {join.target}"
        ends = [
            f"{name}: {' + '.join(column or 'id' for column in columns)}"
            for name, columns in (
                (join.source, join.source_columns),
                (join.target, join.target_columns),
            )
        ]
        return f"{ends[0]} lists {ends[1]}" if join.kind == "list" else " = ".join(ends)

    def examples(self, data: HeteroData) -> tuple[tuple[str, str], ...]:
        """Return up to three pairs of titles: the first, middle and last pair."""
        target = (
            data[self.match.target] if self.match.new_dataset is None else self.match.new_dataset
        )
        source = data[self.match.source]
        return tuple(
            (str(source.titles[self.match.i[at]]), str(target.titles[self.match.j[at]]))
            for at in spread_positions(len(self.match.i), _N_EXAMPLES)
        )

    def to_dict(self, data: HeteroData) -> JsonObject:
        """Return the proposal as a JSON-ready dictionary."""
        return {
            "title": self.title,
            "join": self.join.to_dict(),
            "score": self.score,
            "sure": self.sure,
            "doubt": self.doubt,
            "evidence": list(self.evidence),
            "examples": [list(pair) for pair in self.examples(data)],
            "pairs": len(self.match.i),
            "linked": self.reach.linked,
            "items": self.reach.items,
            "warnings": [*self.match.messages, *self.reach.warnings],
        }


def propose_joins(data: HeteroData) -> list[Proposal]:
    """Propose joins between the datasets, the best first.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    list of Proposal
        At most twelve, certain ones (`Proposal.sure`) first. Ids and columns are compared by
        `hetviz.data.joins.keys.normalise_key`, never by the order of rows. Joins whose pairs are
        linked already, or that repeat a better proposal, are left out. A key may combine several
        columns (team and year).

        The score of a key is (s - c) / (1 - c). s is the share of the rows with a value that find
        a partner, and c the share expected by chance (see
        `hetviz.data.joins.proposals.chance_share`), halved if the columns have similar names,
        doubled if no pair is spelled the same. For views s is the mean of both sides. The score of
        a list that becomes a dataset is half the share of its entries that occur more than once,
        times the share of rows with entries. The score of places is 1 - d / D for a median
        distance d to the nearest item and D of any two items.

    Notes
    -----
    O(N + K log K) for N cells of at most 40 columns per dataset and K distinct keys, plus the pairs
    of the remaining proposals. Chance and distances are estimated from samples. Each column is read
    once for each dataset and cached, see `hetviz.data.joins.keys`.

    Examples
    --------
    >>> from hetviz import Dataset, HeteroData, propose_joins
    >>> names = ["Oslo", "Riga", "Wien", "Bern"]
    >>> found = propose_joins(HeteroData([Dataset("a", names), Dataset("b", names[::-1])]))
    >>> found[0].title
    'a and b look like two views of the same items'
    """
    columns = key_columns(data)
    drafts = [*_drafts_by_key(data, columns), *_drafts_by_place(data)]
    drafts += _drafts_by_spelling(data, columns, {(draft.of, draft.ends) for draft in drafts})
    # A column that refers to existing items is not turned into a new dataset.
    named = {d.of for d in drafts if d.join.kind == "list" or d.share >= _MIN_SURE_SHARE}
    drafts += [d for d in _drafts_by_tags(data, columns) if d.of not in named]
    drafts.sort(key=lambda d: (-d.score, d.join.kind, d.of, d.join.target, d.join.target_column))
    proposals: list[Proposal] = []
    tried: Counter[tuple[str, str]] = Counter()
    for draft in drafts:
        ends = min(draft.ends), max(draft.ends)
        if tried[ends] == _MAX_TRIES_PER_PAIR:
            continue
        tried[ends] += 1
        proposal = _complete_draft(data, draft)
        if proposal is not None and not _repeats(data, proposal, proposals):
            proposals.append(proposal)
    proposals += _proposals_by_several_columns(data, columns, proposals)
    proposals = _without_second_meanings(proposals)
    # Computing the pairs has changed some scores.
    proposals.sort(key=lambda proposal: (not proposal.sure, -proposal.score))
    used: Counter[tuple[str, str]] = Counter()
    selected: list[Proposal] = []
    for proposal in proposals:
        ends = min(proposal.ends), max(proposal.ends)
        used[ends] += 1
        if used[ends] <= _MAX_PER_PAIR or proposal.sure:
            selected.append(proposal)
    return selected[:MAX_PROPOSALS]


def _repeats(data: HeteroData, proposal: Proposal, better: Sequence[Proposal]) -> bool:
    """Return whether a better proposal between these datasets has most of the same pairs."""
    matches = [
        other.match for other in better if other.ends == proposal.ends and other.join.kind != "near"
    ]
    if proposal.match.new_dataset is not None or not matches:
        return False
    n = len(data[proposal.match.target])
    pairs = proposal.match.i * n + proposal.match.j
    return any(
        float(np.isin(pairs, match.i * n + match.j).mean()) >= _MAX_COMMON_PAIRS
        for match in matches
        if match.new_dataset is None
    )


def _without_second_meanings(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals without those that use a column as the key of a worse partner.

    A column refers to items of one dataset. If nearly all of its rows match there, a smaller share
    of matches with another dataset is accidental.
    """
    best: dict[tuple[str, str], float] = {}
    for proposal in proposals:
        if proposal.sure and proposal.join.kind in ("key", "list"):
            for column in proposal.join.source_columns:
                of = proposal.join.source, column
                best[of] = max(best.get(of, 0.0), proposal.score)
    return [
        proposal
        for proposal in proposals
        if proposal.sure
        or proposal.join.kind not in ("key", "list")
        or proposal.score
        >= _MIN_SURE_SHARE * best.get((proposal.join.source, proposal.join.source_column), 0.0)
    ]


def recognise_views(data: HeteroData) -> list[Proposal]:
    """Find pairs of datasets that look like two views of the same items.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    list of Proposal
        The proposals of `propose_joins` with mostly equal ids; `Join.carried_out` makes them views.

    Notes
    -----
    See `propose_joins`.
    """
    return [proposal for proposal in propose_joins(data) if proposal.join.kind == "views"]


def spread_positions(n: int, max_positions: int) -> Ints:
    """Return up to `max_positions` positions from the first to the last of n, evenly."""
    return np.unique(np.linspace(0, n - 1, min(n, max_positions)).round().astype(np.int64))


@dataclass(frozen=True)
class _Draft:
    """A proposal without its pairs."""

    join: Join
    score: float
    evidence: tuple[str, ...]
    share: float = 0.0
    chance: float = 0.0
    doubt: str = ""
    alike: bool = False

    @property
    def of(self) -> tuple[str, str]:
        return self.join.source, self.join.source_column

    @property
    def ends(self) -> tuple[str, str]:
        return self.join.source, self.join.target


def _complete_draft(data: HeteroData, draft: _Draft) -> Proposal | None:
    """Return the proposal with its pairs, or None if there are no pairs to add."""
    join, score, evidence = draft.join, draft.score, draft.evidence
    try:
        match = join.match(data)
        exact = replace(join, loose=False)
        exact_match = exact.match(data) if join.loose and join.kind != "tags" else match
    except HetvizError:
        # Too many pairs, or entries that cannot be ids.
        return None
    if not len(match.i):
        return None
    if join.loose == "spelling":
        evidence += (_spelling_evidence(len(match.i) - len(exact_match.i), len(match.i)),)
    elif join.loose and len(exact_match.i) >= len(match.i):
        join, match = exact, exact_match
    elif join.loose and join.kind != "tags":
        n_exact = len(exact_match.i)
        evidence += (
            f"{n_exact:,} of these {len(match.i):,} pairs are spelled the same. Case, blanks and "
            "Unicode forms are ignored."
            if n_exact
            else "No pair is spelled the same. Case, blanks and Unicode forms are ignored.",
        )
        # Codes that never agree in case are probably codes of different things, unless the columns
        # have similar names.
        score = score if n_exact or draft.alike else _above_chance(draft.share, 2 * draft.chance)
    share = draft.share
    try_spelling = join.kind == "key" and share < 1 and join.loose != "spelling"
    better = _match_by_spelling(data, join, match) if try_spelling else None
    if better is not None:
        share *= len(np.unique(better.i)) / len(np.unique(match.i))
        more = len(better.i) - len(match.i)
        evidence += (_spelling_evidence(more, len(better.i)),)
        join, match = replace(join, loose="spelling"), better
        score = _above_chance(min(1.0, share), draft.chance)
    if score < _MIN_SCORE or (
        join.kind != "views" and share_linked(data, match) >= _MAX_LINKED_SHARE
    ):
        return None
    coverage = link_reach(match.add_to(data), [match.links()])
    doubt = draft.doubt or _doubt_about(join, match, share, score)
    return Proposal(join, score, evidence, match, coverage, doubt)


def _spelling_evidence(n: int, of: int) -> str:
    return (
        f"{n:,} of these {of:,} pairs are spelled slightly differently. Accents and punctuation "
        "are ignored."
    )


def _match_by_spelling(data: HeteroData, join: Join, match: Match) -> Match | None:
    """Return the match without accents and punctuation, if it has more pairs.

    None also if items of the target would get equal keys, such as C and C++.
    """
    target = data[join.target]
    n_plain, n_spelled = (
        len(column_keys(target, join.target_column, loose).distinct) for loose in _KEY_FORMS
    )
    if n_spelled < n_plain:
        return None
    try:
        spelling_match = replace(join, loose="spelling").match(data)
    except HetvizError:
        return None
    return spelling_match if len(spelling_match.i) > len(match.i) else None


def _doubt_about(join: Join, match: Match, share: float, score: float) -> str:
    """Return the reason to ask before joining, or an empty text."""
    if join.kind == "tags":
        return "This creates a new dataset of the entries."
    if join.kind == "near":
        return "You decide up to which distance items belong together."
    if share < _MIN_SURE_SHARE:
        return f"Only {round_percent(share)} of the rows match."
    if score < _MIN_VIEW_SHARE:
        return "Nearly as many pairs would match by chance."
    if join.kind == "key" and len(match.i) > _MAX_MEAN_PARTNERS * len(np.unique(match.i)):
        return "Several rows have the same key, so the partner is ambiguous."
    return ""


def _drafts_by_key(data: HeteroData, columns: list[KeyColumn]) -> Iterator[_Draft]:
    counts = shared_keys(columns)
    keys = sp.triu(counts.keys, k=1).tocoo()
    for a, b, n in zip(keys.row.tolist(), keys.col.tolist(), keys.data.tolist(), strict=True):
        if columns[a].dataset == columns[b].dataset:
            continue
        is_reversed = _refers_to(columns[b], columns[a])
        ids = not columns[a].column and not columns[b].column
        if not ids and not is_reversed and not _refers_to(columns[a], columns[b]):
            # Both identify their rows: the one with more matches refers to the other.
            rows = counts.rows
            is_reversed = rows[b, a] * columns[a].rows > rows[a, b] * columns[b].rows
        if is_reversed:
            a, b = b, a
        left, right = columns[a], columns[b]
        min_keys = min(_MIN_SHARED_KEYS, len(left.keys), len(right.keys))
        if n < min_keys or not _is_key(data, right):
            continue
        if counts.pairs[a, b] <= MAX_PAIRS:
            yield from _drafts_of_pair(
                data, left, right, int(counts.rows[a, b]), int(counts.rows[b, a])
            )


def _drafts_by_spelling(
    data: HeteroData,
    columns: Sequence[KeyColumn],
    known_drafts: Collection[tuple[tuple[str, str], tuple[str, str]]],
) -> Iterator[_Draft]:
    """Yield drafts of keys that match only without accents."""
    texts = [
        column
        for column in columns
        if column.separator is None and len(column.keys) <= _MAX_SPELLED_KEYS
    ]
    if all(key.isascii() for column in texts for key in column.keys.tolist()):
        # Punctuation is only tested for keys that were found.
        return
    texts = [
        _with_spelling_keys(data[column.dataset], column)
        for column in texts
        if not _all_numbers(column)
    ]
    for draft in _drafts_by_key(data, texts):
        join = draft.join
        if join.kind != "key" or (draft.of, draft.ends) in known_drafts:
            continue
        target = data[join.target]
        n_plain, n_spelled = (
            len(column_keys(target, join.target_column, form).distinct) for form in _KEY_FORMS
        )
        # Skipped if items of the target would get equal keys, such as C and C++.
        if n_spelled == n_plain:
            yield replace(draft, join=replace(join, loose="spelling"))


def _with_spelling_keys(dataset: Dataset, column: KeyColumn) -> KeyColumn:
    """Return a column with keys without accents and punctuation."""
    keys = column_keys(dataset, column.column, "spelling")
    return replace(column, keys=keys.distinct, uses=keys.uses, _numbers={})


def _refers_to(a: KeyColumn, b: KeyColumn) -> bool:
    """Return whether `a` refers to items of `b` rather than the reverse."""
    lists = a.separator is not None, b.separator is not None
    return lists[0] if lists[0] != lists[1] else a.distinct < b.distinct


def _is_key(data: HeteroData, column: KeyColumn) -> bool:
    """Return whether a column identifies the items: ids, titles, or distinct values."""
    named = column.column in ("", data[column.dataset].title_column)
    return column.separator is None and column.distinct >= (_MIN_DISTINCT_SHARE if named else 1.0)


def _drafts_of_pair(
    data: HeteroData, a: KeyColumn, b: KeyColumn, hits_a: int, hits_b: int
) -> Iterator[_Draft]:
    n_a, n_b = int(a.uses.sum()) if a.separator is not None else a.rows, len(data[b.dataset])
    ids = not a.column and not b.column
    kind = "list" if a.separator is not None else "key"
    are_running = a.counts_up and b.counts_up
    share, chance = hits_a / n_a, chance_share(a, b)
    mean_share = (share + hits_b / n_b) / 2
    if ids and mean_share >= _MIN_VIEW_SHARE:
        if data[a.dataset].entity == data[b.dataset].entity:
            return
        kind, share, chance = "views", mean_share, (chance + chance_share(b, a)) / 2
    by_chance, is_alike = chance, is_named_alike(a, b)
    numbered = _all_numbers(a) and _all_numbers(b)
    if kind == "key" and numbered and b.counts_up and not is_alike:
        # Any count or year matches some row number.
        return
    # A common prefix of the keys is evidence too, except for two lists of ids.
    chance = chance / 2 if is_alike or (kind != "views" and _has_common_prefix(a, b)) else chance
    score = _above_chance(share, chance)
    if kind == "views" and are_running and share >= _MAX_LINKED_SHARE:
        score = max(score, _RUNNING_SCORE)
    if score < _MIN_SCORE:
        return
    rows = f"entries of {a.column}" if kind == "list" else a.dataset
    restriction = "" if n_a == len(data[a.dataset]) or kind == "list" else " that have a value"
    evidence = [
        f"{hits_a:,} of {n_a:,} {rows}{restriction} and {hits_b:,} of {n_b:,} {b.dataset} match: "
        f"{round_percent(share)}{' on average' if kind == 'views' else ''}. By chance it would be "
        f"{round_percent(by_chance)}."
    ]
    doubt = ""
    if is_alike:
        evidence.append("The columns have similar names.")
    if are_running:
        doubt = "Both are running numbers, which unrelated tables have too. Check the pairs first."
        evidence.append(doubt)
        doubt = "" if kind != "views" and (is_alike or _has_common_prefix(a, b)) else doubt
    elif numbered and not is_alike:
        doubt = "Both are whole numbers, but the columns have different names."
    sign = a.separator or ";"
    join = Join(kind, a.dataset, b.dataset, a.column, b.column, sign, loose=True)
    yield _Draft(join, score, tuple(evidence), share, chance, doubt, is_alike)


def _proposals_by_several_columns(
    data: HeteroData, columns: list[KeyColumn], proposals: Sequence[Proposal]
) -> list[Proposal]:
    """Return joins by several columns with the same names in both datasets."""
    columns_of: dict[str, dict[str, KeyColumn]] = {}
    for column in columns:
        if column.column and column.separator is None:
            columns_of.setdefault(column.dataset, {}).setdefault(
                normalise_key(column.column), column
            )
    referred = {
        (proposal.join.source, proposal.join.target) for proposal in proposals if proposal.sure
    }
    # Known references of columns: two tables that refer to the same third table by the same columns
    # do not refer to each other.
    references = {
        (proposal.join.source, normalise_key(column), proposal.join.target)
        for proposal in proposals
        if proposal.sure and proposal.join.kind == "key"
        for column in proposal.join.source_columns
    }
    drafts: list[Proposal] = []
    for target, keys in columns_of.items():
        for source, refers in columns_of.items():
            if source == target or (source, target) in referred:
                continue
            common = {
                name: (refers[name].column, keys[name].column)
                for name in refers
                if name in keys and _share_found(refers[name], keys[name]) >= _MIN_SURE_SHARE
            }
            key = _smallest_key(data[target], {name: pair[1] for name, pair in common.items()})
            if not key:
                continue
            join = _join_by_several(source, target, [common[name] for name in key])
            match = join.match(data)
            n = int((combined_codes(data[source], join.source_columns, True) >= 0).sum())
            hits = len(np.unique(match.i))
            if (
                not n
                or hits / n < _MIN_SURE_SHARE
                or share_linked(data, match) >= _MAX_LINKED_SHARE
            ):
                continue
            words = " and ".join(pair[0] for pair in (common[name] for name in key))
            named_by = len(np.unique(match.j))
            evidence = (
                f"{hits:,} of {n:,} {source} and {named_by:,} of {len(data[target]):,} {target} "
                f"match by {words} together. No two {target} share these values.",
            )
            reached = link_reach(match.add_to(data), [match.links()])
            drafts.append(Proposal(join, hits / n, evidence, match, reached))
    references |= {
        (proposal.join.source, normalise_key(column), proposal.join.target)
        for proposal in drafts
        for column in proposal.join.source_columns
    }
    return [proposal for proposal in drafts if not _named_elsewhere(proposal, references)]


def _join_by_several(source: str, target: str, pairs: Sequence[tuple[str, str]]) -> Join:
    first, *others = pairs
    return Join("key", source, target, first[0], first[1], also=tuple(others))


def _named_elsewhere(proposal: Proposal, references: Collection[tuple[str, str, str]]) -> bool:
    """Return whether each column of a key refers to the same third dataset in both datasets."""
    source, target = proposal.ends
    thirds = {third for of, _, third in references if of == target} - {source, target}
    return all(
        any(
            (source, normalise_key(column), third) in references
            and (target, normalise_key(column), third) in references
            for third in thirds
        )
        for column in proposal.join.source_columns
    )


def _share_found(a: KeyColumn, b: KeyColumn) -> float:
    """Return the share of the rows of `a` with a key of `b`."""
    is_shared = np.isin(a.hashes, b.hashes)
    return float(a.uses[is_shared].sum()) / max(1, a.rows)


def _smallest_key(dataset: Dataset, columns: Mapping[str, str]) -> list[str]:
    """Return a minimal subset of these columns that identifies all rows, or an empty list."""
    left = dict(columns)
    if len(left) < 2 or not _identifies_rows(dataset, list(left.values())):
        return []
    # Columns with the fewest values are dropped first.
    order = sorted(left, key=lambda name: len(column_keys(dataset, left[name], True).distinct))
    for name in order:
        fewer = {other: column for other, column in left.items() if other != name}
        if len(fewer) > 1 and _identifies_rows(dataset, list(fewer.values())):
            left = fewer
    return list(left)


def _identifies_rows(dataset: Dataset, columns: Sequence[str]) -> bool:
    row_codes = combined_codes(dataset, columns, True)
    codes = row_codes[row_codes >= 0]
    return (
        len(codes) >= _MIN_SURE_SHARE * len(row_codes)
        and int(np.bincount(codes).max(initial=0)) == 1
    )


def _all_numbers(column: KeyColumn) -> bool:
    """Return whether most keys are whole numbers, signed or not."""
    sample: list[str] = column.keys[:_MAX_SAMPLED_KEYS].tolist()
    return sum(key.removeprefix("-").isdigit() for key in sample) > len(sample) / 2


def _has_common_prefix(a: KeyColumn, b: KeyColumn) -> bool:
    """Return whether all keys of both are numbers after a common prefix of letters."""
    return _numbers(a, b) is not None and a.ends[0][0].isalpha()


def _above_chance(share: float, chance: float) -> float:
    """Return how far a share is above chance, from 0 to 1."""
    return 0.0 if chance >= 1 else max(0.0, (share - chance) / (1 - chance))


def _drafts_by_tags(data: HeteroData, columns: list[KeyColumn]) -> Iterator[_Draft]:
    for column in columns:
        uses = int(column.uses.sum())
        n_repeated = int(column.uses[column.uses > 1].sum())
        n = len(data[column.dataset])
        if column.separator is None or n_repeated < uses / 2:
            continue
        score = n_repeated / uses * column.rows / n / 2
        if score < _MIN_SCORE:
            continue
        name = _unused_name(data, column.column)
        evidence = (
            f"{column.rows:,} of {n:,} {column.dataset} have entries: {len(column.keys):,} "
            f"different ones, {uses / column.rows:.1f} per row. "
            f"{round_percent(n_repeated / uses)} of the entries occur more than once.",
        )
        join = Join("tags", column.dataset, name, column.column, "", column.separator, loose=True)
        yield _Draft(join, score, evidence)


def _drafts_by_place(data: HeteroData) -> Iterator[_Draft]:
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
        if score * share < _MIN_SCORE:
            continue
        evidence = (
            f"Both have latitude and longitude. The median distance from {ends[0]} to the nearest "
            f"{ends[1]} is {near:,.0f} km. Between any two it is {any_two:,.0f} km.",
        )
        yield _Draft(Join("near", *ends, k=DEFAULT_NEAREST), score * share, evidence)


def _sample_places(P: Floats) -> Floats:
    """Return a sample of places that does not depend on the order of the rows."""
    ordered = P[np.lexsort((P[:, 1], P[:, 0]))]
    return ordered[spread_positions(len(ordered), _MAX_SAMPLED_PLACES)]


def _unused_name(data: HeteroData, name: str) -> str:
    while name in data.datasets:
        name += " listed"
    return name
