"""Proposals of joins between datasets, with scores and evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from hetviz._text import count, round_percent
from hetviz._types import Ints, JsonObject
from hetviz.data.joins.composite_keys import composite_keys
from hetviz.data.joins.drafts import (
    KEY_FORMS,
    MIN_SCORE,
    MIN_SURE_SHARE,
    MIN_VIEW_SHARE,
    RUNNING_NUMBERS,
    Draft,
    above_chance,
    drafts_by_key,
    drafts_by_place,
    drafts_by_spelling,
    drafts_by_tags,
    drafts_without_zeros,
)
from hetviz.data.joins.join import Join, share_linked
from hetviz.data.joins.judged_links import usable_links
from hetviz.data.joins.key_columns import key_columns
from hetviz.data.joins.keys import column_keys
from hetviz.data.joins.matching import Match
from hetviz.data.joins.similar_rows import SIMILAR, judged_pairs
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.queries.reach import Reach, link_reach
from hetviz.errors import DataError, HetvizError

_N_EXAMPLES = 3
_MAX_LINKED_SHARE = 0.9
_MAX_PER_PAIR = 2
_MAX_UNSURE = 12
# Largest number of drafts tried for two datasets, and the share of common pairs from which a worse
# proposal counts as a repetition.
_MAX_TRIES_PER_PAIR = 6
_MAX_COMMON_PAIRS = 0.5
_MAX_MEAN_PARTNERS = 1.1
# Most rows of two datasets that are compared by words or meaning, and most proposals by words.
MAX_COMPARED_ROWS, _MAX_BY_WORDS = 20_000, 2
# Share of the smaller dataset with a partner from which similar words are offered. Of 34 pairs of
# unrelated public tables the highest was .10, of 13 related ones the lowest .18.
_MIN_WORDS_SHARE = 0.12
_DOUBT = {
    "words": "Similar words can be about different things. Look at some pairs first.",
    "meaning": "Similar meanings can be about different things. Look at some pairs first.",
    "pictures": "Similar pictures can show different things. Look at some pairs first.",
    "place": "Different things can be at one place. Look at some pairs first.",
    "date": "Different things can happen on one day. Look at some pairs first.",
}
_ALIKE = {
    "meaning": "have a similar meaning",
    "pictures": "have pictures that look most like each other",
    "place": "are at places closest to each other",
    "date": "have dates closest to each other",
}
DECLARED_KEYS = "keys"
"""Entry of the recipe of a dataset with the foreign keys that its file declares."""


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
    declared : bool
        Whether the file declares this key, as a database does.
    """

    join: Join
    score: float
    evidence: tuple[str, ...]
    match: Match
    reach: Reach
    doubt: str = ""
    declared: bool = False

    @property
    def sure(self) -> bool:
        """Whether the join is certain: declared, or with a score of at least 0.8 and no doubt."""
        return not self.doubt

    @property
    def ends(self) -> tuple[str, str]:
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
        if join.kind in SIMILAR:
            return f"{join.source} and {join.target} in {SIMILAR[join.kind]}"
        ends = [
            f"{name}: {' + '.join(column or 'id' for column in columns)}"
            for name, columns in (
                (join.source, join.source_columns),
                (join.target, join.target_columns),
            )
        ]
        return f"{ends[0]} lists {ends[1]}" if join.kind == "list" else " = ".join(ends)

    def examples(self, data: HeteroData) -> tuple[tuple[str, str], ...]:
        """Return up to three pairs of names: the first, middle and last pair."""
        target = (
            data[self.match.target] if self.match.new_dataset is None else self.match.new_dataset
        )
        source = data[self.match.source]
        return tuple(
            (
                _example(source, self.match.i[at], self.join.source_columns),
                _example(target, self.match.j[at], self.join.target_columns),
            )
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
        Certain ones (`Proposal.sure`) first, then at most twelve offers. Keys that the file
        declares come first and are never doubted. Ids and columns are compared by
        `hetviz.data.joins.keys.normalise_key`, never by the order of rows. Joins whose pairs are
        linked already, or that repeat a better proposal, are left out. A column refers to one
        dataset, which may be its own (manager_id). A key may combine several columns (team and
        year). Datasets of at most 20,000 rows together that nothing certain connects may be joined
        by similar words (see `hetviz.propose_links`), which is never certain.

        The score of a key weighs the shares of values and rows that are found, the names of
        column and table, whether ids are referred to, and how unlikely the agreement is by chance
        (see `hetviz.data.joins.key_scores.KeyEvidence`); from 0.8 it is certain. A measure, a date
        or a row number is never a key. For views the score is (s - c) / (1 - c) with the mean
        share s of ids in common and the share c expected by chance. The score of a list that
        becomes a dataset is half the share of its entries that occur more than once, times the
        share of rows with entries. The score of places is 1 - d / D for a median distance d to the
        nearest item and D of any two items.

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
    declared = _declared_proposals(data)
    taken = {
        (proposal.join.source, column)
        for proposal in declared
        for column in proposal.join.source_columns
    }
    columns = key_columns(data)
    known_joins = [proposal.join for proposal in declared]
    drafts = [*drafts_by_key(data, columns, known_joins), *drafts_by_place(data)]
    drafts += drafts_by_spelling(data, columns, drafts)
    drafts += drafts_without_zeros(data, columns, drafts)
    # A column that refers to existing items is not turned into a new dataset.
    named = {d.of for d in drafts if d.join.kind == "list" or d.share >= MIN_SURE_SHARE}
    drafts += [d for d in drafts_by_tags(data, columns) if d.of not in named]
    drafts.sort(key=lambda d: (-d.score, d.join.kind, d.of, d.join.target, d.join.target_column))
    proposals: list[Proposal] = []
    tried: Counter[tuple[str, str]] = Counter()
    for draft in drafts:
        ends = min(draft.ends), max(draft.ends)
        if draft.doubt and tried[ends] >= _MAX_TRIES_PER_PAIR:
            continue
        tried[ends] += 1
        proposal = _complete_draft(data, draft)
        if proposal is None:
            continue
        rivals = [other for other in [*declared, *proposals] if _repeats(data, proposal, other)]
        if not rivals:
            proposals.append(proposal)
        elif _is_clearer(data, proposal, rivals[0]):
            at = proposals.index(rivals[0])
            proposals[at] = _confirmed(data, proposal, rivals[0])
    known = [proposal.join for proposal in [*declared, *proposals] if proposal.sure]
    for key in composite_keys(data, columns, known):
        if any((key.join.source, column) in taken for column in key.join.source_columns):
            continue
        if share_linked(data, key.match) < _MAX_LINKED_SHARE:
            reached = link_reach(key.match.add_to(data), [key.match.links()])
            evidence = (key.evidence,)
            proposals.append(Proposal(key.join, key.share, evidence, key.match, reached))
    proposals = _without_second_meanings(proposals)
    # Computing the pairs has changed some scores.
    proposals.sort(key=lambda proposal: (not proposal.sure, -proposal.score))
    used: Counter[tuple[str, str]] = Counter()
    selected: list[Proposal] = declared
    n_unsure = 0
    for proposal in proposals:
        ends = min(proposal.ends), max(proposal.ends)
        used[ends] += 1
        is_offered = used[ends] <= _MAX_PER_PAIR and n_unsure < _MAX_UNSURE
        if proposal.sure or is_offered:
            selected.append(proposal)
            n_unsure += not proposal.sure
    running = [proposal for proposal in selected if proposal.doubt == RUNNING_NUMBERS]
    others = [proposal for proposal in selected if proposal.doubt != RUNNING_NUMBERS]
    return [*others, *_proposals_by_words(data, others), *running]


def _proposals_by_words(data: HeteroData, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return joins by similar words of small datasets that nothing else connects."""
    out = []
    for source, target in unlinked_pairs(data, proposals):
        if len(data[source]) + len(data[target]) > MAX_COMPARED_ROWS:
            continue
        try:
            proposal = similarity_proposal(data, Join("words", source, target))
        except DataError:
            # One of them has no text.
            continue
        if len(proposal.match.i) >= _MIN_WORDS_SHARE * min(len(data[source]), len(data[target])):
            out.append(proposal)
    out.sort(key=lambda proposal: -proposal.score)
    return out[:_MAX_BY_WORDS]


def unlinked_pairs(data: HeteroData, proposals: Sequence[Proposal]) -> list[tuple[str, str]]:
    """Return pairs of datasets that no links or certain proposals connect, directly or not."""
    edges = [proposal.ends for proposal in proposals if proposal.sure]
    edges += [(links.source, links.target) for links in data.links]
    offered = {
        frozenset(proposal.ends)
        for proposal in proposals
        if proposal.join.kind not in {*SIMILAR, "near"} and proposal.doubt != RUNNING_NUMBERS
    }
    component = _components(data, edges)
    return [
        (source, target)
        for source, target in combinations(data.datasets, 2)
        if component[source] != component[target] and frozenset((source, target)) not in offered
    ]


def _components(data: HeteroData, edges: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return one dataset of the connected ones of each dataset; views are connected."""
    component = {name: f"entity {dataset.entity}" for name, dataset in data.datasets.items()}
    for source, target in edges:
        if source in component and target in component:
            old, new = component[source], component[target]
            component = {name: new if of == old else of for name, of in component.items()}
    return component


def similarity_proposal(data: HeteroData, join: Join) -> Proposal:
    """Return a join by similarity, which may have answers, with its evidence."""
    match = join.match(data)
    ends = join.source, join.target
    pairs = judged_pairs(data, *ends, by=join.kind, pairs=join.pairs)
    judged = judged_pairs(data, *ends, join.answers, join.kind, join.pairs)
    n, n_source, n_target = len(match.i), len(data[join.source]), len(data[join.target])
    n_null = float(pairs["chance"].max()) * len(pairs) if pairs["chance"].notna().any() else 0.0
    evidence: tuple[str, ...] = (
        f"{len(pairs):,} of {n_source:,} {join.source} and of {n_target:,} {join.target} are most "
        "similar to each other by their words.",
        f"Rows of scrambled words would have about {n_null:,.0f} such pairs.",
    )
    if join.kind != "words":
        linked = [f"{pairs[f'{end}_id'].nunique():,} of" for end in ("source", "target")]
        evidence = (
            f"{linked[0]} {n_source:,} {join.source} and {linked[1]} {n_target:,} {join.target} "
            f"{_ALIKE[join.kind]}{_limit_text(join)}.",
        )
    doubt = _DOUBT[join.kind]
    if judged["probability"].notna().any():
        n_dropped = len(pairs) - n
        doubt = f"By your {len(join.answers):,} answers, "
        share = usable_links(judged)["probability"].mean()
        doubt += f"about {round_percent(share)} are right." if n else "none is likely right."
        if n_dropped:
            doubt += f" {n_dropped:,} that are probably wrong are left out."
    reach = link_reach(match.add_to(data), [match.links()])
    score = max(0.0, n - n_null) / max(1, min(n_source, n_target))
    return Proposal(join, score, evidence, match, reach, doubt)


def _limit_text(join: Join) -> str:
    if join.kind == "place":
        return f", at most {join.km:g} km apart"
    if join.kind == "date" and join.days:
        return f", at most {count(join.days, 'day')} apart"
    return ", on the same day" if join.kind == "date" else ""


def check_join(data: HeteroData, join: Join) -> Proposal:
    """Return a join of the user's with its pairs and how many rows find a partner."""
    match = join.match(data)
    source = data[join.source]
    what = f"{join.source}: {' + '.join(column or 'id' for column in join.source_columns)}"
    if not len(match.i):
        keys = column_keys(source, join.source_column).distinct[:3].tolist()
        target = "id" if not join.target_column else join.target_column
        raise DataError.of(
            "no-match",
            what,
            f"no value occurs in {target} of {join.target}",
            ", ".join(map(str, keys))[:60],
            "Choose another column.",
        )
    return _counted_proposal(data, join, match)


def _counted_proposal(
    data: HeteroData, join: Join, match: Match, declared: bool = False
) -> Proposal:
    """Return a certain proposal with the counts of rows as evidence."""
    hits, n = len(np.unique(match.i)), len(data[join.source])
    new = match.new_dataset
    n_target = len(data[join.target] if new is None else new)
    of_target = len(np.unique(match.j))
    evidence = [
        f"{hits:,} of {n:,} {join.source} and {of_target:,} of {n_target:,} {join.target} match."
    ]
    evidence += ["The key is declared in the file."] if declared else []
    reach = link_reach(match.add_to(data), [match.links()])
    return Proposal(join, hits / max(1, n), tuple(evidence), match, reach, declared=declared)


def declared_joins(data: HeteroData) -> list[Join]:
    """Return the foreign keys that the files of the datasets declare, as joins."""
    out = []
    for name, dataset in data.datasets.items():
        for key in (dataset.recipe or {}).get(DECLARED_KEYS, ()):
            target = data.datasets.get(key["table"])
            pairs = (
                []
                if target is None
                else list(zip(key["columns"], key["target_columns"], strict=False))
            )
            ends = [
                (_column_or_id(dataset, column), _column_or_id(target, other))
                for column, other in pairs
                if target is not None
            ]
            if ends and all(first is not None and second is not None for first, second in ends):
                (first, second), *others = [(str(x), str(y)) for x, y in ends]
                out.append(Join("key", name, key["table"], first, second, also=tuple(others)))
    return out


def _column_or_id(dataset: Dataset, column: str) -> str | None:
    """Return the column of the table, "" for the ids, None if it does not exist."""
    if str((dataset.recipe or {}).get("id", "")) == column:
        return ""
    return column if dataset.table is not None and column in dataset.table.columns else None


def _declared_proposals(data: HeteroData) -> list[Proposal]:
    out = []
    for join in declared_joins(data):
        try:
            match = join.match(data)
        except HetvizError:
            continue
        if len(match.i):
            out.append(_counted_proposal(data, join, match, declared=True))
    return out


def _example(dataset: Dataset, row: int, columns: Sequence[str]) -> str:
    """Return the name of a row, or the values of these columns if it has only a number."""
    table = dataset.table
    is_named = dataset.title_column is not None or not dataset.has_row_numbers
    if is_named or table is None or not all(columns):
        return str(dataset.display_names[row])
    return ", ".join(str(table[column].iloc[row]) for column in columns)


def _repeats(data: HeteroData, proposal: Proposal, better: Proposal) -> bool:
    """Return whether a better proposal between these datasets has most of the same pairs."""
    if better.ends != proposal.ends or better.join.kind == "near":
        return False
    if proposal.match.new_dataset is not None or better.match.new_dataset is not None:
        return False
    return _share_of_pairs(data, proposal, better) >= _MAX_COMMON_PAIRS


def _share_of_pairs(data: HeteroData, proposal: Proposal, other: Proposal) -> float:
    """Return the share of the pairs of a proposal that another one between these datasets has."""
    n = len(data[proposal.match.target])
    pairs, others = (match.i * n + match.j for match in (proposal.match, other.match))
    return float(np.isin(pairs, others).mean())


def _is_clearer(data: HeteroData, proposal: Proposal, other: Proposal) -> bool:
    """Return whether an id has the pairs of a name of which several rows have the same."""
    return (
        proposal.join.kind == other.join.kind == "key"
        and other.match.crossed > 0
        and not other.declared
        and not proposal.join.target_column
        and len(np.unique(proposal.match.i)) >= len(np.unique(other.match.i))
        and _share_of_pairs(data, proposal, other) >= MIN_SURE_SHARE
    )


def _confirmed(data: HeteroData, proposal: Proposal, names: Proposal) -> Proposal:
    """Return a join by ids that a join by names confirms, so that it is not by chance."""
    counted = _counted_proposal(data, proposal.join, proposal.match)
    n = len(proposal.match.i)
    n_same = round(n * _share_of_pairs(data, proposal, names))
    said = f"{n_same:,} of these {n:,} pairs also agree in {names.join.source_column}."
    score = max(proposal.score, names.score)
    return replace(counted, score=score, evidence=(*counted.evidence, said))


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
        >= MIN_SURE_SHARE * best.get((proposal.join.source, proposal.join.source_column), 0.0)
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


def _complete_draft(data: HeteroData, draft: Draft) -> Proposal | None:
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
    elif join.loose == "zeros":
        evidence += ("Zeros in front of the numbers are ignored.",)
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
        score = score if n_exact or draft.alike else above_chance(draft.share, 2 * draft.chance)
    share = draft.share
    try_spelling = join.kind == "key" and share < 1 and join.loose not in ("spelling", "zeros")
    better = _match_by_spelling(data, join, match) if try_spelling else None
    if better is not None:
        share *= len(np.unique(better.i)) / len(np.unique(match.i))
        more = len(better.i) - len(match.i)
        evidence += (_spelling_evidence(more, len(better.i)),)
        join, match = replace(join, loose="spelling"), better
    if score < min(MIN_SCORE, draft.score) or (
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
    """Return the match without accents and punctuation, if it has more pairs."""
    target = data[join.target]
    n_plain, n_spelled = (
        len(column_keys(target, join.target_column, loose).distinct) for loose in KEY_FORMS
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
    if share < MIN_SURE_SHARE:
        return f"Only {round_percent(share)} of the rows match."
    if score < MIN_VIEW_SHARE:
        return "Nearly as many pairs would match by chance."
    if join.kind == "key" and len(match.i) > _MAX_MEAN_PARTNERS * len(np.unique(match.i)):
        return "Several rows have the same key, so the partner is ambiguous."
    return ""
