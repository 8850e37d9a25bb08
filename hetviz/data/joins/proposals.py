"""Ways in which datasets seem to belong together, each with a score and what speaks for it."""

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

from hetviz._text import rounded
from hetviz._types import Floats, Ints, JsonObject, Texts
from hetviz.data.joins.join import Join, share_linked
from hetviz.data.joins.keys import Loose, column_keys, folded, kept, together, translated
from hetviz.data.joins.lists import entries_of, separator_of
from hetviz.data.joins.matching import MOST_PAIRS, Match
from hetviz.data.joins.places import NEAREST, km_between, nearest_km, place_columns, places_of
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.queries.reach import Reach, reach
from hetviz.errors import HetvizError

_MOST_COLUMNS = 40
_LONGEST = 100
_SAMPLED = 2_000
# Words that say that a column is a key, and not of what.
_GENERIC = frozenset({"id", "ids", "key", "code", "name", "title", "label", "no", "nr", "ref"})
_LETTERS = re.compile(r"[^\W\d_]")
_ASCII = str.maketrans(ascii_letters + digits, "a" * 52 + "9" * 10)

MOST_PROPOSALS = 12
_LEAST_SCORE = 0.2
_LEAST_KEYS = 3
_KEYLIKE = 0.8
_VIEW_SHARE = 0.5
_RUNNING_SCORE = 0.2
_EXAMPLES = 3
_WEIGHED = 1_000
_LINKED = 0.9
_PER_PAIR = 2
# Between the same datasets, how many are tried, and from which share of the same pairs on the
# worse of two says nothing of its own.
_TRIES = 6
_SAME_PAIRS = 0.5
# Share of the rows that refer, from which on a key is believed without asking, and how many
# partners each may have in the mean.
_SURE = 0.8
_TWICE = 1.1
# Keys of a column, above which they are not spelled anew to see whether it is a key at all.
_SPELLED = 20_000
_WAYS: tuple[Loose, Loose] = (True, "spelling")


@dataclass(frozen=True, eq=False)
class KeyColumn:
    """A column, or the ids, as keys.

    Attributes
    ----------
    dataset, column : str
        An empty column is the ids.
    separator : str or None
        Where cells list several keys.
    keys : array of str
        The distinct ones, folded.
    uses : array of int
        Rows that have each.
    rows : int
        Rows that have any.
    called : str
        What the column is called; of ids what it was in the file, empty where that is not known.
    """

    dataset: str
    column: str
    separator: str | None
    keys: Texts
    uses: Ints
    rows: int
    called: str
    _numbers: dict[int, Ints | None] = field(default_factory=dict, repr=False)

    @cached_property
    def distinct(self) -> float:
        """How many different keys there are for each use."""
        return len(self.keys) / max(1, int(self.uses.sum()))

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """One number for each key."""
        return pd.util.hash_array(self.keys, categorize=False)

    @cached_property
    def ends(self) -> tuple[str, str]:
        """The first and the last key in the alphabet."""
        return min(self.keys), max(self.keys)

    @cached_property
    def patterns(self) -> Counter[str]:
        """How many keys there are of each pattern."""
        return Counter(_patterns(self.keys.tolist()))

    @cached_property
    def some_patterns(self) -> list[str]:
        """The patterns of some keys, the same ones whatever the order of the rows."""
        step = max(1, len(self.keys) // _SAMPLED)
        return _patterns(sorted(self.keys.tolist())[::step])

    @cached_property
    def counts_up(self) -> bool:
        """Whether the keys are running numbers, as unrelated tables have them too."""
        numbers = _numbers(self, self)
        if numbers is None:
            return False
        x = numbers[0]
        return len(x) >= 0.9 * (int(x.max()) - int(x.min()) + 1)

    def numbers(self, skip: int) -> Ints | None:
        """Return the keys without so many first letters as whole numbers, or None."""
        if skip not in self._numbers:
            rest = [key[skip:] for key in self.keys.tolist()]
            whole = all(text.isascii() and text.isdigit() and len(text) < 16 for text in rest)
            self._numbers[skip] = np.array(list(map(int, rest)), dtype=np.int64) if whole else None
        return self._numbers[skip]


@dataclass(frozen=True, eq=False)
class Shared:
    """What columns share; entry [a, b] is of columns a and b.

    Attributes
    ----------
    keys, rows, pairs : sparse array of shape (columns, columns)
        Distinct keys of both; uses in a of keys that b has; pairs that they would make.
    """

    keys: sp.csr_array
    rows: sp.csr_array
    pairs: sp.csr_array


def key_columns(data: HeteroData) -> list[KeyColumn]:
    """Return the columns of all datasets that may hold keys, the ids first.

    Columns of fractions, of places, of one value, and of long text hold none; of a table, the first
    40 that may are looked at. They are read once a dataset.
    """
    return [column for dataset in data.datasets.values() for column in _kept(dataset)]


def shared(columns: Sequence[KeyColumn]) -> Shared:
    """Count what each two columns share, by one sparse product over the hashes of their keys.

    Notes
    -----
    O(K) for K distinct keys of all columns together, and one step for each two columns that share a
    key; never a comparison of two columns key by key.
    """
    at, different = pd.factorize(np.concatenate([column.hashes for column in columns]))
    place = np.repeat(np.arange(len(columns)), [len(column.keys) for column in columns])
    uses = np.concatenate([column.uses for column in columns]).astype(np.int64)
    # Most keys stand in one column only.
    several = np.bincount(at, minlength=len(different))[at] > 1
    at, place, uses = at[several], place[several], uses[several]
    shape = (len(different), len(columns))
    R = sp.csr_array((uses, (at, place)), shape=shape)
    B = sp.csr_array((np.ones(len(uses), dtype=np.int64), (at, place)), shape=shape)
    return Shared((B.T @ B).tocsr(), (R.T @ B).tocsr(), (R.T @ R).tocsr())


def chance(a: KeyColumn, b: KeyColumn) -> float:
    """Return the share of a's keys that would be among b's if both were made up blindly.

    Whole numbers, also after a beginning that all keys have (item_001): the share of the numbers
    from a's least to its greatest that b has. Other keys: of all texts of the same pattern (26
    letters, 10 digits, other signs as they are), the share that b has. Of at most 2,000 keys of a.
    """
    numbers = _numbers(a, b)
    if numbers is not None:
        x, y = numbers
        inside = int(((y >= x.min()) & (y <= x.max())).sum())
        return min(1.0, inside / (int(x.max()) - int(x.min()) + 1))
    shares = [min(1.0, b.patterns[p] / _possible(p)) for p in a.some_patterns]
    return float(np.mean(shares)) if shares else 0.0


def called_alike(a: KeyColumn, b: KeyColumn) -> bool:
    """Say whether the name of one column points to the other, or to its dataset."""
    if not a.column and not b.column:
        return False
    words_a, words_b = name_words(a.called), name_words(b.called)
    return bool(
        words_a & words_b
        or (words_a & name_words(b.dataset) and a.column)
        or (words_b & name_words(a.dataset) and b.column)
    )


def _kept(dataset: Dataset) -> list[KeyColumn]:
    # Their texts are those of `column_keys` and `entries_of`, which are counted there.
    return kept(dataset, "key columns", lambda: _of_dataset(dataset), lambda _: 0)


def _of_dataset(dataset: Dataset) -> list[KeyColumn]:
    found = [_key_column(dataset, "")]
    ids = set(dataset.ids.tolist())
    table = dataset.table if dataset.table is not None else pd.DataFrame()
    places = place_columns(dataset) or ()
    # Names that are numbers, as a saved table may have, cannot be said in a join.
    columns: Sequence[object] = table.columns.tolist()
    for column in (name for name in columns if isinstance(name, str)):
        if len(found) > _MOST_COLUMNS:
            break
        if places == (column,):
            continue
        values = table[column]
        if pd.api.types.is_bool_dtype(values.dtype) or _fractions(values):
            continue
        held = column_keys(dataset, column)
        texts = held.different.tolist()
        again = len(texts) == len(ids) and ids.issuperset(texts)
        if len(texts) < 2 or sum(map(len, texts)) > _LONGEST * len(texts) or again:
            continue
        # A cell that could be a list may be one name all the same: a path, "Doe, Jane".
        found.append(_key_column(dataset, column))
        sign = separator_of(texts)
        if sign is not None:
            at, keys = pd.factorize(entries_of(dataset, column, sign, loose=True)["key"])
            uses = np.bincount(at, minlength=len(keys)).astype(np.int64)
            different = np.asarray(keys, dtype=object)
            rows = int(held.uses.sum())
            found.append(KeyColumn(dataset.name, column, sign, different, uses, rows, column))
    return found


def _key_column(dataset: Dataset, column: str) -> KeyColumn:
    keys = column_keys(dataset, column, loose=True)
    rows = int(keys.uses.sum())
    called = column or str((dataset.recipe or {}).get("id", ""))
    return KeyColumn(dataset.name, column, None, keys.different, keys.uses, rows, called)


def _fractions(values: pd.Series) -> bool:
    if not pd.api.types.is_float_dtype(values.dtype):
        return False
    known = values.to_numpy(np.float64)
    known = known[np.isfinite(known)]
    return not len(known) or bool((known != np.round(known)).any())


def _numbers(a: KeyColumn, b: KeyColumn) -> tuple[Ints, Ints] | None:
    """Return both columns' keys as whole numbers, after a beginning that all share, or None."""
    if not len(a.keys) or not len(b.keys):
        return None
    # No two keys have fewer first letters in common than the first and the last in the alphabet.
    ends = [*a.ends, *b.ends]
    first, last = min(ends), max(ends)
    same = next((at for at, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), None)
    skip = len(first[:same].rstrip("0123456789"))
    if not all(end[skip:].isdigit() for end in ends):
        return None
    x, y = a.numbers(skip), b.numbers(skip)
    return None if x is None or y is None else (x, y)


def _patterns(keys: list[str]) -> list[str]:
    """Return each key with "a" for a letter and "9" for a digit."""
    found = translated(keys, _ASCII)
    return found or [re.sub(r"\d", "9", _LETTERS.sub("a", key)) for key in keys]


def _possible(pattern: str) -> float:
    return float(10.0 ** min(300, pattern.count("9") + 1.415 * pattern.count("a")))


def name_words(name: str) -> set[str]:
    """Return the words of the name of a column or dataset, in the singular, by which they agree."""
    words = {word for word in re.split(r"[\W\d_]+", name.casefold()) if word}
    singular = {
        word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") for word in words
    }
    return singular - _GENERIC


@dataclass(frozen=True, eq=False)
class Proposal:
    """A way to join two datasets.

    Attributes
    ----------
    join : Join
        What to do; `Join.carried_out` does it.
    score : float
        From 0, as chance would have it, to 1, every row of both has a partner.
    evidence : tuple of str
        What speaks for it and against it, in sentences.
    match : Match
        The pairs.
    reach : Reach
        Whom the pairs reach.
    doubt : str
        Why it is not to be done without asking; empty where it is sure.
    """

    join: Join
    score: float
    evidence: tuple[str, ...]
    match: Match
    reach: Reach
    doubt: str = ""

    @property
    def sure(self) -> bool:
        """Whether nothing speaks against it: nearly all that refers finds the one it names."""
        return not self.doubt

    @property
    def ends(self) -> tuple[str, str]:
        """The two datasets."""
        return self.join.source, self.join.target

    @property
    def title(self) -> str:
        """What it says, in a few words."""
        join = self.join
        if join.kind == "views":
            return f"{join.source} and {join.target} look like two views of the same things"
        if join.kind == "tags":
            return f"What {join.source} list in {join.source_column}, as a dataset of its own"
        if join.kind == "near":
            return f"{join.source} near {join.target}"
        ends = [
            f"{name}: {' + '.join(column or 'id' for column in columns)}"
            for name, columns in (
                (join.source, join.source_columns),
                (join.target, join.target_columns),
            )
        ]
        return f"{ends[0]} names {ends[1]}" if join.kind == "list" else " = ".join(ends)

    def examples(self, data: HeteroData) -> tuple[tuple[str, str], ...]:
        """Return three pairs by name, from the beginning, the middle and the end."""
        target = data[self.match.target] if self.match.made is None else self.match.made
        source = data[self.match.source]
        return tuple(
            (str(source.titles[self.match.i[at]]), str(target.titles[self.match.j[at]]))
            for at in spread(len(self.match.i), _EXAMPLES)
        )

    def to_dict(self, data: HeteroData) -> JsonObject:
        """Return it as a JSON-ready dictionary."""
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
            "warnings": [*self.match.told, *self.reach.warnings],
        }


def propose_joins(data: HeteroData) -> list[Proposal]:
    """Return ways in which the datasets seem to belong together, the best first.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    list of Proposal
        At most twelve, those that are `Proposal.sure` first. Ids and columns are compared as
        `hetviz.data.joins.keys.folded` does, never by the order of rows; what links hold already is
        left out, and so is what says the same as a better one. A key may be of several columns
        (team and year). The score of a key is (s - c) / (1 - c), where s is the share of the rows
        that refer, by having a value, which find a partner, and c what chance would give (see
        `hetviz.data.joins.proposals.chance`), halved where the columns are called alike, doubled
        where no pair is written alike; of two views s is the mean of both sides. The score of a
        list that becomes a dataset is half the share of its entries that occur again, times the
        share of rows that list something; of places, 1 - d / D, with d the median distance to the
        nearest and D that of any two.

    Notes
    -----
    O(N + K log K) for N cells of at most 40 columns a dataset and K different keys, and the pairs
    of the few proposals that are left; chance and distances are estimated from samples. Each column
    is read once a dataset, however often its links change, see `hetviz.data.joins.keys`.

    Examples
    --------
    >>> from hetviz import Dataset, HeteroData, propose_joins
    >>> names = ["Oslo", "Riga", "Wien", "Bern"]
    >>> found = propose_joins(HeteroData([Dataset("a", names), Dataset("b", names[::-1])]))
    >>> found[0].title
    'a and b look like two views of the same things'
    """
    columns = key_columns(data)
    drafts = [*_by_keys(data, columns), *_by_places(data)]
    drafts += _by_spelling_alone(data, columns, {(draft.of, draft.ends) for draft in drafts})
    # What a column lists becomes no dataset where it names items that there are.
    named = {d.of for d in drafts if d.join.kind == "list" or d.share >= _SURE}
    drafts += [d for d in _by_tags(data, columns) if d.of not in named]
    drafts.sort(key=lambda d: (-d.score, d.join.kind, d.of, d.join.target, d.join.target_column))
    found: list[Proposal] = []
    tried: Counter[tuple[str, str]] = Counter()
    for draft in drafts:
        ends = min(draft.ends), max(draft.ends)
        if tried[ends] == _TRIES:
            continue
        tried[ends] += 1
        proposal = _whole(data, draft)
        if proposal is not None and not _says_the_same(data, proposal, found):
            found.append(proposal)
    found += _by_several(data, columns, found)
    found = _one_meaning(found)
    # Some lost of their score when their pairs were made.
    found.sort(key=lambda proposal: (not proposal.sure, -proposal.score))
    used: Counter[tuple[str, str]] = Counter()
    kept: list[Proposal] = []
    for proposal in found:
        ends = min(proposal.ends), max(proposal.ends)
        used[ends] += 1
        if used[ends] <= _PER_PAIR or proposal.sure:
            kept.append(proposal)
    return kept[:MOST_PROPOSALS]


def _says_the_same(data: HeteroData, one: Proposal, better: Sequence[Proposal]) -> bool:
    """Say whether a better one between these datasets makes most of the same pairs."""
    alike = [
        other.match for other in better if other.ends == one.ends and other.join.kind != "near"
    ]
    if one.match.made is not None or not alike:
        return False
    n = len(data[one.match.target])
    mine = one.match.i * n + one.match.j
    return any(
        float(np.isin(mine, match.i * n + match.j).mean()) >= _SAME_PAIRS
        for match in alike
        if match.made is None
    )


def _one_meaning(found: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals without those that read a column as the key of a worse partner.

    A column names items of one dataset: where nearly all its rows find theirs there, the third
    that happens to be in another one means nothing.
    """
    best: dict[tuple[str, str], float] = {}
    for one in found:
        if one.sure and one.join.kind in ("key", "list"):
            for column in one.join.source_columns:
                of = one.join.source, column
                best[of] = max(best.get(of, 0.0), one.score)
    return [
        one
        for one in found
        if one.sure
        or one.join.kind not in ("key", "list")
        or one.score >= _SURE * best.get((one.join.source, one.join.source_column), 0.0)
    ]


def recognise_views(data: HeteroData) -> list[Proposal]:
    """Return the pairs of datasets that look like two views of the same things.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    list of Proposal
        Those of `propose_joins` whose ids are mostly the same; `Join.carried_out` makes them views.

    Notes
    -----
    As `propose_joins`.
    """
    return [proposal for proposal in propose_joins(data) if proposal.join.kind == "views"]


def spread(n: int, most: int) -> Ints:
    """Return up to `most` positions from the first to the last of n, evenly."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


@dataclass(frozen=True)
class _Draft:
    """A proposal whose pairs are not made yet."""

    join: Join
    score: float
    evidence: tuple[str, ...]
    share: float = 0.0
    luck: float = 0.0
    doubt: str = ""
    alike: bool = False

    @property
    def of(self) -> tuple[str, str]:
        return self.join.source, self.join.source_column

    @property
    def ends(self) -> tuple[str, str]:
        return self.join.source, self.join.target


def _whole(data: HeteroData, draft: _Draft) -> Proposal | None:
    """Return the proposal with its pairs, or None where there are none to add."""
    join, score, evidence = draft.join, draft.score, draft.evidence
    try:
        match = join.match(data)
        exact = replace(join, loose=False)
        as_it_stands = exact.match(data) if join.loose and join.kind != "tags" else match
    except HetvizError:
        # Too many pairs, or entries that cannot be ids: nothing to offer.
        return None
    if not len(match.i):
        return None
    if join.loose == "spelling":
        evidence += (_spelt(len(match.i) - len(as_it_stands.i), len(match.i)),)
    elif join.loose and len(as_it_stands.i) >= len(match.i):
        join, match = exact, as_it_stands
    elif join.loose and join.kind != "tags":
        found = len(as_it_stands.i)
        evidence += (
            f"{found:,} of these {len(match.i):,} pairs are written alike: upper and "
            "lower case, blanks or Unicode forms do not count."
            if found
            else "No pair is written alike: upper and lower case, blanks or Unicode forms do not "
            "count.",
        )
        # Codes of two tables that never agree in case are more likely codes of other things, but
        # for a column that is called like them.
        score = score if found or draft.alike else _above(draft.share, 2 * draft.luck)
    share = draft.share
    nearer = join.kind == "key" and share < 1 and join.loose != "spelling"
    better = _by_spelling(data, join, match) if nearer else None
    if better is not None:
        share *= len(np.unique(better.i)) / len(np.unique(match.i))
        more = len(better.i) - len(match.i)
        evidence += (_spelt(more, len(better.i)),)
        join, match = replace(join, loose="spelling"), better
        score = _above(min(1.0, share), draft.luck)
    if score < _LEAST_SCORE or (join.kind != "views" and share_linked(data, match) >= _LINKED):
        return None
    reached = reach(match.added_to(data), [match.links()])
    doubt = draft.doubt or _doubt(join, match, share, score)
    return Proposal(join, score, evidence, match, reached, doubt)


def _spelt(n: int, of: int) -> str:
    return (
        f"{n:,} of these {of:,} pairs are spelled a little differently: accents and punctuation do "
        "not count."
    )


def _by_spelling(data: HeteroData, join: Join, match: Match) -> Match | None:
    """Return the match in which accents and punctuation do not count, if it finds more.

    None also where items of the target would no longer be told apart, as C and C++.
    """
    target = data[join.target]
    plain, near = (len(column_keys(target, join.target_column, loose).different) for loose in _WAYS)
    if near < plain:
        return None
    try:
        found = replace(join, loose="spelling").match(data)
    except HetvizError:
        return None
    return found if len(found.i) > len(match.i) else None


def _doubt(join: Join, match: Match, share: float, score: float) -> str:
    """Say why a join is not to be done without asking, or nothing."""
    if join.kind == "tags":
        return "It would make a dataset of its own of the entries."
    if join.kind == "near":
        return "How near belongs together is for you to say."
    if share < _SURE:
        return f"Only {rounded(share)} of the rows find a partner."
    if score < _VIEW_SHARE:
        return "Chance would give nearly as many pairs."
    if join.kind == "key" and len(match.i) > _TWICE * len(np.unique(match.i)):
        return "Several rows have the same key, so it does not say which one is meant."
    return ""


def _by_keys(data: HeteroData, columns: list[KeyColumn]) -> Iterator[_Draft]:
    counts = shared(columns)
    keys = sp.triu(counts.keys, k=1).tocoo()
    for a, b, n in zip(keys.row.tolist(), keys.col.tolist(), keys.data.tolist(), strict=True):
        if columns[a].dataset == columns[b].dataset:
            continue
        back = _names(columns[b], columns[a])
        ids = not columns[a].column and not columns[b].column
        if not ids and not back and not _names(columns[a], columns[b]):
            # Both tell their rows apart: the one refers of which more find a partner.
            rows = counts.rows
            back = rows[b, a] * columns[a].rows > rows[a, b] * columns[b].rows
        if back:
            a, b = b, a
        left, right = columns[a], columns[b]
        fewest = min(_LEAST_KEYS, len(left.keys), len(right.keys))
        if n < fewest or not _is_key(data, right):
            continue
        if counts.pairs[a, b] <= MOST_PAIRS:
            yield from _keyed(data, left, right, int(counts.rows[a, b]), int(counts.rows[b, a]))


def _by_spelling_alone(
    data: HeteroData,
    columns: Sequence[KeyColumn],
    found: Collection[tuple[tuple[str, str], tuple[str, str]]],
) -> Iterator[_Draft]:
    """Return keys that share too little to be looked at unless accents do not count."""
    texts = [one for one in columns if one.separator is None and len(one.keys) <= _SPELLED]
    if all(key.isascii() for one in texts for key in one.keys.tolist()):
        # Punctuation alone is looked at where a key is found already.
        return
    texts = [_spelled(data[one.dataset], one) for one in texts if not _all_numbers(one)]
    for draft in _by_keys(data, texts):
        join = draft.join
        if join.kind != "key" or (draft.of, draft.ends) in found:
            continue
        target = data[join.target]
        plain, same = (len(column_keys(target, join.target_column, way).different) for way in _WAYS)
        # Where items of the target would no longer be told apart, as C and C++, it says nothing.
        if same == plain:
            yield replace(draft, join=replace(join, loose="spelling"))


def _spelled(dataset: Dataset, column: KeyColumn) -> KeyColumn:
    """Return a column with keys in which accents and punctuation do not count."""
    keys = column_keys(dataset, column.column, "spelling")
    return replace(column, keys=keys.different, uses=keys.uses, _numbers={})


def _names(a: KeyColumn, b: KeyColumn) -> bool:
    """Say whether a rather names the items of b than b those of a."""
    lists = a.separator is not None, b.separator is not None
    return lists[0] if lists[0] != lists[1] else a.distinct < b.distinct


def _is_key(data: HeteroData, column: KeyColumn) -> bool:
    """Say whether a column tells the items apart: ids, titles, or a value of its own for each."""
    named = column.column in ("", data[column.dataset].title_column)
    return column.separator is None and column.distinct >= (_KEYLIKE if named else 1.0)


def _keyed(
    data: HeteroData, a: KeyColumn, b: KeyColumn, hits_a: int, hits_b: int
) -> Iterator[_Draft]:
    n_a, n_b = int(a.uses.sum()) if a.separator is not None else a.rows, len(data[b.dataset])
    ids = not a.column and not b.column
    kind = "list" if a.separator is not None else "key"
    running = a.counts_up and b.counts_up
    share, luck = hits_a / n_a, chance(a, b)
    both = (share + hits_b / n_b) / 2
    if ids and both >= _VIEW_SHARE:
        if data[a.dataset].entity == data[b.dataset].entity:
            return
        kind, share, luck = "views", both, (luck + chance(b, a)) / 2
    by_chance, alike = luck, called_alike(a, b)
    numbered = _all_numbers(a) and _all_numbers(b)
    if kind == "key" and numbered and b.counts_up and not alike:
        # Any count or year is among the numbers of rows.
        return
    # That keys begin with the same letters is a sign too, other than of two lists of ids.
    luck = luck / 2 if alike or (kind != "views" and _begin_alike(a, b)) else luck
    score = _above(share, luck)
    if kind == "views" and running and share >= _LINKED:
        score = max(score, _RUNNING_SCORE)
    if score < _LEAST_SCORE:
        return
    what = f"entries of {a.column}" if kind == "list" else a.dataset
    some = "" if n_a == len(data[a.dataset]) or kind == "list" else " that have a value"
    evidence = [
        f"{hits_a:,} of {n_a:,} {what}{some} and {hits_b:,} of {n_b:,} {b.dataset} find each "
        f"other: {rounded(share)}{' in the mean' if kind == 'views' else ''}, where chance would "
        f"give {rounded(by_chance)}."
    ]
    doubt = ""
    if alike:
        evidence.append("The names of the columns point to each other.")
    if running:
        doubt = (
            "Both are running numbers, as unrelated tables have them too: look at the pairs first."
        )
        evidence.append(doubt)
        doubt = "" if kind != "views" and (alike or _begin_alike(a, b)) else doubt
    elif numbered and not alike:
        doubt = "Both are whole numbers, and the columns are not called alike."
    sign = a.separator or ";"
    join = Join(kind, a.dataset, b.dataset, a.column, b.column, sign, loose=True)
    yield _Draft(join, score, tuple(evidence), share, luck, doubt, alike)


def _by_several(
    data: HeteroData, columns: list[KeyColumn], found: Sequence[Proposal]
) -> list[Proposal]:
    """Return keys of several columns that are called the same in both datasets."""
    named: dict[str, dict[str, KeyColumn]] = {}
    for column in columns:
        if column.column and column.separator is None:
            named.setdefault(column.dataset, {}).setdefault(folded(column.column), column)
    referred = {(one.join.source, one.join.target) for one in found if one.sure}
    # What a column names already: where two tables name the same third ones, by the same columns,
    # neither is named by the other.
    known = {
        (one.join.source, folded(column), one.join.target)
        for one in found
        if one.sure and one.join.kind == "key"
        for column in one.join.source_columns
    }
    drafts: list[Proposal] = []
    for target, keys in named.items():
        for source, refers in named.items():
            if source == target or (source, target) in referred:
                continue
            both = {
                name: (refers[name].column, keys[name].column)
                for name in refers
                if name in keys and _found_in(refers[name], keys[name]) >= _SURE
            }
            least = _least_key(data[target], {name: pair[1] for name, pair in both.items()})
            if not least:
                continue
            join = _several(source, target, [both[name] for name in least])
            match = join.match(data)
            n = int((together(data[source], join.source_columns, True) >= 0).sum())
            hits = len(np.unique(match.i))
            if not n or hits / n < _SURE or share_linked(data, match) >= _LINKED:
                continue
            words = " and ".join(pair[0] for pair in (both[name] for name in least))
            named_by = len(np.unique(match.j))
            evidence = (
                f"{hits:,} of {n:,} {source} and {named_by:,} of {len(data[target]):,} {target} "
                f"find each other by {words} together, which no two {target} share.",
            )
            reached = reach(match.added_to(data), [match.links()])
            drafts.append(Proposal(join, hits / n, evidence, match, reached))
    known |= {
        (one.join.source, folded(column), one.join.target)
        for one in drafts
        for column in one.join.source_columns
    }
    return [one for one in drafts if not _named_elsewhere(one, known)]


def _several(source: str, target: str, pairs: Sequence[tuple[str, str]]) -> Join:
    first, *rest = pairs
    return Join("key", source, target, first[0], first[1], also=tuple(rest))


def _named_elsewhere(one: Proposal, known: Collection[tuple[str, str, str]]) -> bool:
    """Say whether each column of a key names, in both datasets, the same third one."""
    source, target = one.ends
    thirds = {third for of, _, third in known if of == target} - {source, target}
    return all(
        any(
            (source, folded(column), third) in known and (target, folded(column), third) in known
            for third in thirds
        )
        for column in one.join.source_columns
    )


def _found_in(a: KeyColumn, b: KeyColumn) -> float:
    """Return the share of the rows of a that have a key of b."""
    known = np.isin(a.hashes, b.hashes)
    return float(a.uses[known].sum()) / max(1, a.rows)


def _least_key(dataset: Dataset, columns: Mapping[str, str]) -> list[str]:
    """Return the fewest of these columns that together tell all rows apart, or none."""
    left = dict(columns)
    if len(left) < 2 or not _tell_apart(dataset, list(left.values())):
        return []
    # Those of the fewest values go first: they tell least.
    order = sorted(left, key=lambda name: len(column_keys(dataset, left[name], True).different))
    for name in order:
        fewer = {other: column for other, column in left.items() if other != name}
        if len(fewer) > 1 and _tell_apart(dataset, list(fewer.values())):
            left = fewer
    return list(left)


def _tell_apart(dataset: Dataset, columns: Sequence[str]) -> bool:
    at = together(dataset, columns, True)
    known = at[at >= 0]
    return len(known) >= _SURE * len(at) and int(np.bincount(known).max(initial=0)) == 1


def _all_numbers(column: KeyColumn) -> bool:
    """Say whether most keys are whole numbers, with a sign or without."""
    some: list[str] = column.keys[:_SAMPLED].tolist()
    return sum(key.removeprefix("-").isdigit() for key in some) > len(some) / 2


def _begin_alike(a: KeyColumn, b: KeyColumn) -> bool:
    """Say whether all keys of both have their first letter in common, and are numbers after it."""
    return _numbers(a, b) is not None and a.ends[0][0].isalpha()


def _above(share: float, luck: float) -> float:
    """Return how far a share lies above chance, from 0 to 1."""
    return 0.0 if luck >= 1 else max(0.0, (share - luck) / (1 - luck))


def _by_tags(data: HeteroData, columns: list[KeyColumn]) -> Iterator[_Draft]:
    for column in columns:
        uses = int(column.uses.sum())
        again = int(column.uses[column.uses > 1].sum())
        n = len(data[column.dataset])
        if column.separator is None or again < uses / 2:
            continue
        score = again / uses * column.rows / n / 2
        if score < _LEAST_SCORE:
            continue
        name = _free_name(data, column.column)
        evidence = (
            f"{column.rows:,} of {n:,} {column.dataset} list something: {len(column.keys):,} "
            f"different entries, {uses / column.rows:.1f} each; {rounded(again / uses)} of the "
            "entries occur again.",
        )
        join = Join("tags", column.dataset, name, column.column, "", column.separator, loose=True)
        yield _Draft(join, score, evidence)


def _by_places(data: HeteroData) -> Iterator[_Draft]:
    placed = {}
    for name, dataset in data.datasets.items():
        if place_columns(dataset) is not None:
            P = places_of(dataset)[0]
            P = P[~np.isnan(P[:, 0])]
            if len(P):
                placed[name] = P
    for first, second in combinations(placed, 2):
        # From the one with more places: each of its items gets its nearest.
        ends = (first, second) if len(placed[first]) >= len(placed[second]) else (second, first)
        S, T = (_some(placed[name]) for name in ends)
        near = float(np.median(nearest_km(S, placed[ends[1]])))
        any_two = float(np.median(km_between(S[:, None], T[None, :])))
        score = 0.0 if any_two <= 0 else max(0.0, 1 - near / any_two)
        share = len(placed[ends[0]]) / len(data[ends[0]])
        if score * share < _LEAST_SCORE:
            continue
        evidence = (
            f"Both have latitude and longitude. In the median {near:,.0f} km lie between one of "
            f"{ends[0]} and the nearest of {ends[1]}, and {any_two:,.0f} km between any two.",
        )
        yield _Draft(Join("near", *ends, k=NEAREST), score * share, evidence)


def _some(P: Floats) -> Floats:
    """Return up to so many places, the same ones whatever the order of the rows."""
    ordered = P[np.lexsort((P[:, 1], P[:, 0]))]
    return ordered[spread(len(ordered), _WEIGHED)]


def _free_name(data: HeteroData, name: str) -> str:
    while name in data.datasets:
        name += " listed"
    return name
