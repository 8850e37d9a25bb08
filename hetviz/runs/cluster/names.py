"""Names of groups of items: what is true of most of their members."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from hetviz._text import capital, is_word, join_words
from hetviz._types import Bools, Floats, Ints, Sparse, Texts
from hetviz.data import HeteroData

MIN_SHARE = 0.5
"""A name is true of more than this share of the members and of the core of a group."""

_MIN_TRUE, _MIN_Z, _MIN_RATIO = 3, 3.0, 1.5
_MIN_OTHERS_SHARE = 0.2
_MIN_BORROWED_SHARE, _MIN_BORROWED_LINKS = 0.5, 2
_MIN_ACCOUNT_SHARE = 0.1
_MAX_LINKED_NAMES = 4_000
_MAX_LENGTH = 28
_STEM_LENGTH = 4
_MIN_CHOICE, _MAX_CHOICE = 3, 12
# Names from columns with few values are understood best, those from words least.
_CHOICE, _CATEGORY, _LINKED, _WORD, _CODE = 1.0, 0.9, 0.85, 0.75, 0.7
_MIN_ROWS_OF_CODE = 10  # Average number of rows with the same one
_YES, _NO = frozenset({"yes", "true", "y"}), frozenset({"no", "false", "n"})
_NOTHING = frozenset(
    {"unknown", "other", "others", "none", "misc", "miscellaneous", "various", "n/a", "unbekannt",
     "sonstige", "sonstiges", "andere"}
)  # fmt: skip
_MIN_LETTERS, _CODE_LETTERS = 4, 2
# Minimum size of a dataset relative to the one whose items describe it.
_MIN_RELATIVE_SIZE = 0.6
_DIGIT = re.compile(r"\d")
_DECADE = re.compile(r"[12]\d\d0s")
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")
# File names, machine names, codes and running ids such as shop-07 are no names.
_BAD_NAME = re.compile(
    r"[^\W\d]\d|\(\d+\)$|(?:^|\s)[^\W\d_]+[-#.]\d+(?=$|[\s,])|_|/|\\|::|\.\w{1,4}$"
)


@dataclass(frozen=True, eq=False)
class Facts:
    """What may be true of items: values of categories, linked items and words.

    `texts` (m): Each as it is written.
    `weight` (m,): Preference for each as a name.
    `known` bool (m, n_datasets): Datasets whose items say it themselves; others borrow it from
        what they link to.
    `item_of` (m,): Number of the dataset of a linked item; -1 for other facts.
    `of_rows` csr (n_rows, m): 1 where it is true.
    `columns` (m): Dataset and name of the columns with this value, () for other facts.
    """

    texts: tuple[str, ...]
    weight: Floats
    known: Bools
    item_of: Ints
    of_rows: sp.csr_array
    columns: tuple[tuple[tuple[str, str], ...], ...]

    @classmethod
    def of(
        cls,
        data: HeteroData,
        columns: Sequence[tuple[str, str, Texts, bool]],
        words: tuple[Sequence[str], Sparse],
    ) -> Facts:
        """Collect the facts of data.

        `columns`: dataset, name, values of its rows, and whether it is a label. `words`: words,
            and the csr matrix of the rows that have them.
        """
        found = [*_category_facts(data, columns), *_linked_facts(data), *_word_facts(data, *words)]
        merged: dict[str, _Fact] = {}
        for fact in found:
            earlier = merged.setdefault(fact.text.casefold(), fact)
            if earlier is not fact and earlier.weight == fact.weight:
                earlier.rows = np.union1d(earlier.rows, fact.rows)
                earlier.datasets |= fact.datasets
                earlier.columns = tuple(dict.fromkeys((*earlier.columns, *fact.columns)))
        facts = list(merged.values())
        names = list(data.datasets)
        sizes = np.fromiter((len(fact.rows) for fact in facts), np.int64, len(facts))
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(fact.rows for fact in facts)])
        at = np.repeat(np.arange(len(facts)), sizes)
        matrix = sp.csr_array((np.ones(len(rows)), (rows, at)), shape=(data.n_rows, len(facts)))
        known = np.array([[name in fact.datasets for name in names] for fact in facts], dtype=bool)
        return cls(
            tuple(fact.text for fact in facts),
            np.array([fact.weight for fact in facts], dtype=np.float64),
            known.reshape(len(facts), len(names)),
            np.array([fact.item_of for fact in facts], dtype=np.int64),
            matrix,
            tuple(fact.columns for fact in facts),
        )


@dataclass
class _Fact:
    text: str
    weight: float
    rows: Ints
    datasets: set[str]
    item_of: int = -1
    columns: tuple[tuple[str, str], ...] = ()


def _category_facts(
    data: HeteroData, columns: Sequence[tuple[str, str, Texts, bool]]
) -> Iterator[_Fact]:
    for dataset, column, values, is_label in columns:
        if column == data[dataset].title_column:
            continue
        is_known = np.array([value is not None for value in values], dtype=bool)
        distinct, at = np.unique(values[is_known].astype(str), return_inverse=True)
        are_codes = _are_codes(distinct.tolist(), is_label)
        if are_codes and (
            not _are_shared_codes(distinct.tolist(), len(at))
            # Keys of another table are ids, whose items have names.
            or any(
                2 * np.isin(distinct, part.ids).sum() > len(distinct)
                for part in data.datasets.values()
            )
            or any(_is_same(values, others) for of, _, others, _ in columns if of == dataset)
        ):
            continue
        rows = np.flatnonzero(is_known) + data.offsets[dataset].start
        is_choice = _MIN_CHOICE <= len(distinct) <= _MAX_CHOICE
        for number, value in enumerate(distinct.tolist()):
            text = (_code_text if are_codes else _value_text)(column, value, is_label)
            if text and is_plain_name(text):
                weight = _CODE if are_codes else _CHOICE if is_choice else _CATEGORY
                of_column = ((dataset, column),)
                yield _Fact(text, weight, rows[at == number], {dataset}, columns=of_column)


def _are_shared_codes(values: Sequence[str], n_rows: int) -> bool:
    """Whether texts are short codes in upper case that many rows share, such as states (AL, AK)."""
    are_codes = all(
        len(value) < _MIN_LETTERS and value.isalpha() and value.isupper() for value in values
    )
    return are_codes and _MIN_CHOICE <= len(values) <= n_rows / _MIN_ROWS_OF_CODE


def _is_same(codes: Texts, others: Texts) -> bool:
    """Whether another column has one longer value for each code: Alaska for AK."""
    pairs = {(a, b) for a, b in zip(codes, others, strict=True) if a is not None and b is not None}
    names = {name for _, name in pairs}
    is_longer = all(len(str(name)) >= _MIN_LETTERS for name in names)
    return is_longer and len({code for code, _ in pairs}) == len(names) == len(pairs) > 0


def _are_codes(values: Sequence[str], is_label: bool) -> bool:
    """Whether texts are codes such as FR or Cyrl: all short, or all equally short.

    Values of a label may be short words, or single digits or letters, but not pairs of letters.
    """
    if {*map(str.casefold, values)} <= _YES | _NO:
        return False
    if is_label:
        return all(value.isalpha() and len(value) == _CODE_LETTERS for value in values)
    lengths = {len(value) for value in values}
    longest = max(lengths, default=0)
    is_equal = len(lengths) == 1 and longest <= _MIN_LETTERS and len(values) > _MIN_CHOICE
    return longest < _MIN_LETTERS or is_equal


def _code_text(column: str, value: str, _is_label: bool) -> str:
    """Return a code, a single letter after the name of its column: "Grade A"."""
    return value if _LETTERS.search(value) else capital(f"{plain_value(column)} {value}")


def _value_text(column: str, value: str, is_label: bool) -> str:
    """Return a value as a name, "" if it is none."""
    text = plain_value(value)
    is_code = len(text) < _MIN_LETTERS and text.isupper() and not is_label
    if text.casefold() in _NO | _NOTHING or is_code:
        return ""
    if text.casefold() in _YES:
        is_loud = column.isupper() and len(column) >= _MIN_LETTERS
        return capital(plain_value(column.lower() if is_loud else column))
    if _LETTERS.search(text):
        return capital(text)
    if _DECADE.fullmatch(text) and column.casefold() == "decade":
        return text
    return capital(f"{plain_value(column)} {text}") if is_label else ""


def _linked_facts(data: HeteroData) -> Iterator[_Fact]:
    """Yield the items with most links, true of what they are linked with and of themselves."""
    A = data.adjacency("+").astype(bool)
    degree = np.asarray(A.sum(axis=1)).ravel()
    starts = np.array([rows.start for rows in data.offsets.values()])
    datasets = list(data.datasets)
    sizes = np.array([len(part) for part in data.datasets.values()])
    best = np.argsort(-degree, kind="stable")[:_MAX_LINKED_NAMES]
    for row in best[degree[best] >= _MIN_TRUE].tolist():
        own = int(np.searchsorted(starts, row, side="right")) - 1
        title = str(data[datasets[own]].titles[row - starts[own]])
        if not is_word(title) or not _is_good_word(title):
            continue
        linked = A[[row]].indices.astype(np.int64)
        owner = np.searchsorted(starts, linked, side="right") - 1
        # Of two linked datasets, the items with more links each describe the others.
        is_described = sizes[owner] >= _MIN_RELATIVE_SIZE * sizes[own]
        linked, owner = linked[is_described], owner[is_described]
        if len(linked) >= _MIN_TRUE:
            owners = {datasets[at] for at in np.unique(owner)}
            yield _Fact(capital(title), _LINKED, np.union1d(linked, [row]), owners, own)


def _word_facts(data: HeteroData, words: Sequence[str], M: Sparse) -> Iterator[_Fact]:
    columns = sp.csc_array(M)
    counts = np.diff(columns.indptr)
    starts = np.array([rows.start for rows in data.offsets.values()])
    datasets = list(data.datasets)
    for at in np.flatnonzero(counts >= _MIN_TRUE).tolist():
        # Several words are the title of an item.
        if " " not in words[at] and _is_good_word(words[at]):
            rows = columns.indices[columns.indptr[at] : columns.indptr[at + 1]].astype(np.int64)
            owners = np.unique(np.searchsorted(starts, rows, side="right") - 1)
            yield _Fact(
                capital(str(words[at])), _WORD, np.sort(rows), {datasets[k] for k in owners}
            )


def _is_good_word(text: str) -> bool:
    """Whether a title or word may be a name; short ones are often codes."""
    is_long = len(text) >= _MIN_LETTERS or not text.isascii()
    return (
        is_long
        and _DIGIT.search(text) is None
        and text.casefold() not in _NOTHING
        and is_plain_name(text)
    )


def is_plain_name(text: str) -> bool:
    """Whether a text may be a name: short, with letters, no file name, code or running id."""
    return (
        len(text) <= _MAX_LENGTH
        and (_LETTERS.search(text) or _DECADE.fullmatch(text)) is not None
        and _BAD_NAME.search(text) is None
    )


def plain_value(text: str) -> str:
    """Return "food-drink" as "food drink"; other texts unchanged."""
    is_slug = text == text.lower() and re.fullmatch(r"[^\W\d_]+(?:[-_][^\W\d_]+)*", text)
    return text.replace("-", " ").replace("_", " ") if is_slug else text


@dataclass(frozen=True, eq=False)
class GroupName:
    """A name of a group of items, with what it rests on.

    `text`: The name; "" if nothing is true of enough members.
    `share`: Share of all members that it is true of; NaN without a name.
    `n_true`, `n_members`: The same as numbers.
    `account`: In words, "JetBlue Airways: 130 of 186 planes".
    `rows`: Global rows of the members that it is true of.
    `share_of_all`: Share of all compared rows that it is true of; NaN without a name.
    """

    text: str = ""
    share: float = float("nan")
    n_true: int = 0
    n_members: int = 0
    account: str = ""
    rows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    share_of_all: float = float("nan")


def name_groups(
    data: HeteroData,
    facts: Facts,
    codes: Ints,
    n_groups: int,
    *,
    core: Bools | None = None,
    among: Bools | None = None,
    taken: Collection[str] = (),
    kept: Sequence[str] = (),
    parts: int = 1,
) -> list[GroupName]:
    """Name groups by what is true of more than half of their members, and of their core.

    A name is also at least 1.5 times as frequent as outside among items of the same datasets, by at
    least three standard errors.
    Of such facts the one that tells the group best from the others is taken, each for one group.
    Items of a dataset that does not know a fact have it if half of what they link to has it, and
    for words and linked items at least two. A linked item is true of a fifth of the members without
    those of its own dataset: drivers are not named by a driver that they share races with.

    `codes` (n_rows,): group of each row, -1 without one. `core`: mask of the typical members.
    `among`: rows to compare with; default: those with a group. `taken`: names that are not used,
    nor words of them.
    `kept`: an earlier name of each group, or "", which stays if it still holds. `parts`: number of
    facts that a name may have, joined by a dot.

    O(nonzeros of the facts of the rows and of what they link to).
    """
    rows = np.flatnonzero(codes >= 0 if among is None else among | (codes >= 0))
    if not len(rows) or not facts.texts:
        sizes = np.bincount(codes[codes >= 0], minlength=n_groups)
        return [GroupName(n_members=int(size)) for size in sizes]
    true = _true_of(data, facts, rows)
    code = codes[rows]
    member = _membership(code, code >= 0, n_groups)
    sizes = np.asarray(member.sum(axis=1)).ravel()
    counts = np.asarray((member @ true).todense(), dtype=np.float64)
    total = np.asarray(true.sum(axis=0), dtype=np.float64).ravel()
    n_out = np.maximum(len(rows) - sizes, 1.0)[:, None]
    inside = counts / np.maximum(sizes, 1.0)[:, None]
    outside = _outside_shares(data, rows, member, true)
    pooled = total / len(rows)
    error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / np.maximum(sizes, 1.0)[:, None] + 1.0 / n_out))
    holds = (inside > MIN_SHARE) & (counts >= _MIN_TRUE)
    if core is not None:
        central = _membership(code, (code >= 0) & core[rows], n_groups)
        n_core = np.maximum(np.asarray(central.sum(axis=1)).ravel(), 1.0)
        holds &= np.asarray((central @ true).todense()) / n_core[:, None] > MIN_SHARE
    without_own = member @ _without_own(data, facts, rows, true)
    holds &= np.asarray(without_own.todense()) >= _MIN_OTHERS_SHARE * sizes[:, None]
    differs = (inside >= _MIN_RATIO * outside) & (inside - outside >= _MIN_Z * error)
    score = np.where(holds & differs, facts.weight * (inside - outside), 0.0)
    banned = [f" {name.casefold()} " for name in taken]
    is_said = [any(f" {text.casefold()} " in name for name in banned) for text in facts.texts]
    score[:, is_said] = 0.0
    chosen: list[list[int]] = [[] for _ in range(n_groups)]
    at_of = {text: at for at, text in enumerate(facts.texts)}
    used: set[int] = set()
    for group, name in enumerate(kept[:n_groups]):
        at_kept = [at_of[part] for part in name.split(_DOT) if part in at_of] if name else []
        if at_kept and holds[group, at_kept].all() and not used & set(at_kept):
            chosen[group] = at_kept
            used |= set(at_kept)
    is_kept = [bool(own) for own in chosen]
    order = np.argsort(-score, axis=None, kind="stable")
    for place in order[: int((score > 0).sum())].tolist():
        group, at = divmod(place, len(facts.texts))
        if at in used or is_kept[group] or len(chosen[group]) >= parts:
            continue
        if chosen[group] and not _goes_with(facts, true, code == group, chosen[group][0], at):
            continue
        chosen[group].append(at)
        used.add(at)
    return [
        _group_name(data, facts, rows, true, code == group, chosen[group], int(sizes[group]))
        for group in range(n_groups)
    ]


_DOT = " · "


def _outside_shares(
    data: HeteroData, rows: Ints, member: sp.csr_array, true: sp.csr_array
) -> Floats:
    """Return what share of the items outside has each fact, for the datasets of a group's members.

    What is true of nearly all tracks does not set a group of tracks apart, however few of the other
    items it is true of.

    `member` (n_groups, n_rows), `true` (n_rows, n_facts). Returns (n_groups, n_facts).
    """
    expected = np.zeros((member.shape[0], true.shape[1]))
    sizes = np.maximum(np.asarray(member.sum(axis=1)), 1.0).reshape(-1, 1)
    for span in data.offsets.values():
        of_dataset = np.flatnonzero((rows >= span.start) & (rows < span.stop))
        own, facts = member[:, of_dataset], true[of_dataset]
        n_own = np.asarray(own.sum(axis=1)).reshape(-1, 1)
        total = np.asarray(facts.sum(axis=0)).reshape(1, -1)
        n_outside = np.maximum(len(of_dataset) - n_own, 1.0)
        expected += n_own / sizes * (total - np.asarray((own @ facts).todense())) / n_outside
    return expected


def _without_own(data: HeteroData, facts: Facts, rows: Ints, true: sp.csr_array) -> sp.csr_array:
    """Return `true` without facts about an item that items of its dataset have by their links."""
    starts = np.array([span.start for span in data.offsets.values()])
    entries = true.tocoo()
    own = np.searchsorted(starts, rows[entries.row], side="right") - 1
    is_borrowed = (facts.item_of[entries.col] == own) & ~facts.known[entries.col, own]
    kept = entries.row[~is_borrowed], entries.col[~is_borrowed]
    return sp.csr_array((entries.data[~is_borrowed], kept), shape=true.shape)


def _membership(code: Ints, mask: Bools, n_groups: int) -> sp.csr_array:
    at = np.flatnonzero(mask)
    return sp.csr_array((np.ones(len(at)), (code[at], at)), shape=(n_groups, len(code)))


def _true_of(data: HeteroData, facts: Facts, rows: Ints) -> sp.csr_array:
    """Return which facts are true of rows, themselves or by what they link to."""
    starts = np.array([span.start for span in data.offsets.values()])
    dataset_of = np.searchsorted(starts, rows, side="right") - 1
    true = sp.csr_array(facts.of_rows[rows])
    A = sp.csr_array(data.adjacency("+").astype(bool).astype(np.float64))[rows]
    parts = [true]
    for number, span in enumerate(data.offsets.values()):
        # Facts that this dataset knows, for items of datasets that do not know them.
        own = np.flatnonzero(facts.known[:, number])
        linked = sp.csr_array(A[:, span.start : span.stop])
        n_linked = np.asarray(linked.sum(axis=1)).ravel()
        if not len(own) or not linked.nnz:
            continue
        shares = sp.coo_array(linked @ facts.of_rows[span.start : span.stop][:, own])
        at = own[shares.col]
        # One link to a hub says little: English is linked with many countries.
        n_needed = np.where(facts.weight[at] > _LINKED, 1, _MIN_BORROWED_LINKS)
        mask = shares.data >= np.maximum(_MIN_BORROWED_SHARE * n_linked[shares.row], n_needed)
        mask &= ~facts.known[at, dataset_of[shares.row]]
        ends = shares.row[mask], at[mask]
        parts.append(sp.csr_array((np.ones(mask.sum()), ends), shape=true.shape))
    out = sp.csr_array(sum(parts[1:], parts[0]))
    out.data[:] = 1.0
    return out


def _goes_with(facts: Facts, true: sp.csr_array, members: Bools, first: int, other: int) -> bool:
    """Whether a second fact adds to a name: another word, true of common members."""
    texts = facts.texts[first], facts.texts[other]
    if facts.weight[first] != facts.weight[other] or facts.weight[first] >= _CHOICE:
        return False
    if texts[0][:_STEM_LENGTH].casefold() == texts[1][:_STEM_LENGTH].casefold():
        return False
    both = np.asarray(true[members][:, [first, other]].sum(axis=1)).ravel() == 2
    return bool(both.sum() >= MIN_SHARE * members.sum())


def _by_text(facts: Facts, at: int, number: int, dataset: str) -> str:
    """Return how items of a dataset have a fact, if not by one column."""
    if not facts.known[at, number]:
        return " by their links"
    # A ride may begin or end in Queens.
    columns = [plain_value(column) for of, column in facts.columns[at] if of == dataset]
    return f" by {' or '.join(columns)}" if len(columns) > 1 else ""


def _group_name(
    data: HeteroData,
    facts: Facts,
    rows: Ints,
    true: sp.csr_array,
    members: Bools,
    chosen: Sequence[int],
    size: int,
) -> GroupName:
    if not chosen:
        return GroupName(n_members=size)
    is_true_of_all = np.asarray(true[:, list(chosen)].sum(axis=1)).ravel() == len(chosen)
    is_true = is_true_of_all[members]
    true_rows = rows[members][is_true]
    counts = []
    for number, (name, span) in enumerate(data.offsets.items()):
        inside = (rows[members] >= span.start) & (rows[members] < span.stop)
        if n := int(inside.sum()):
            n_true = int((inside & is_true).sum())
            if n < _MIN_ACCOUNT_SHARE * members.sum():
                continue
            by = _by_text(facts, chosen[0], number, name)
            counts.append((n, f"{n_true:,} of {n:,} {name}{by}"))
    text = _DOT.join(facts.texts[at] for at in chosen)
    said = [words for _, words in sorted(counts, key=lambda item: -item[0])]
    return GroupName(
        text,
        len(true_rows) / max(size, 1),
        len(true_rows),
        size,
        f"{text}: {join_words(said)}",
        true_rows,
        float(is_true_of_all.mean()),
    )
