"""Description of a join of two datasets as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from hetviz._types import JsonObject
from hetviz.data.joins.keys import LooseKeys
from hetviz.data.joins.lists import match_by_list
from hetviz.data.joins.matching import Match, match_by_key
from hetviz.data.joins.places import match_by_nearness
from hetviz.data.joins.similar_rows import SIMILAR, match_similar
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.errors import DataError


@dataclass(frozen=True)
class Join:
    """Description of a join of two datasets.

    Attributes
    ----------
    kind : {"views", "key", "list", "tags", "near", "words", "meaning", "pictures", "place", "date"}
        "views": both describe the same entities. "key": a shared key. "list": a column that lists
        items of `target`. "tags": a column whose entries become the new dataset `target`. "near":
        geographic distance. "words" to "date": rows that belong together by what they say, show, or
        where or when they are, see `hetviz.propose_links`.
    source, target : str
    source_column, target_column : str
        Empty for the ids.
    also : sequence of (str, str)
        For a shared key: further columns of `source` and `target` that must agree too.
    separator : str
        Separator between the entries of a list.
    loose : bool, "spelling" or "zeros"
        Ignore upper and lower case, blanks and Unicode forms of keys. With "spelling", a shared key
        also ignores accents and punctuation of words, with "zeros" the zeros in front of whole
        numbers.
    weight : {"rare", "same"}
        For links by a list, see `hetviz.links_by_list`.
    k, km : int, float or None
        For links by distance, see `hetviz.links_by_nearness`. By place, `km` is the largest
        distance of the proposed pairs.
    days : int or None
        By date: the largest distance of the proposed pairs.
    answers : sequence of (str, str, bool)
        For "words" to "date": ids of judged pairs, and whether they are right.
    pairs : sequence of (str, str, float)
        For "words" to "date": ids and similarities of the proposed pairs, so that the join can be
        repeated without comparing the rows again. Default: they are computed; by place they must
        be given.
    """

    kind: str
    source: str
    target: str
    source_column: str = ""
    target_column: str = ""
    separator: str = ";"
    loose: LooseKeys = False
    weight: str = "rare"
    k: int | None = None
    km: float | None = None
    also: tuple[tuple[str, str], ...] = ()
    answers: tuple[tuple[str, str, bool], ...] = ()
    pairs: tuple[tuple[str, str, float], ...] = ()
    days: int | None = None

    def __post_init__(self) -> None:
        # JSON gives lists instead of tuples.
        also = tuple((str(first), str(second)) for first, second in self.also)
        object.__setattr__(self, "also", also)
        answers = tuple((str(a), str(b), bool(right)) for a, b, right in self.answers)
        object.__setattr__(self, "answers", answers)
        pairs = tuple((str(a), str(b), float(similarity)) for a, b, similarity in self.pairs)
        object.__setattr__(self, "pairs", pairs)

    @property
    def source_columns(self) -> tuple[str, ...]:
        """All columns of `source` that the join reads; "" stands for the ids."""
        return (self.source_column, *(first for first, _ in self.also))

    @property
    def target_columns(self) -> tuple[str, ...]:
        """All columns of `target` that the join reads; "" stands for the ids."""
        return (self.target_column, *(second for _, second in self.also))

    def match(self, data: HeteroData) -> Match:
        """Return the matching pairs of rows.

        Raises
        ------
        hetviz.errors.DataError, hetviz.errors.ParameterError
            If the join is not possible; see the functions of each kind.
        """
        ends = self.source, self.source_column, self.target
        if self.kind in ("views", "key"):
            return match_by_key(data, *ends, self.target_column, loose=self.loose, also=self.also)
        if self.kind == "near":
            return match_by_nearness(data, self.source, self.target, k=self.k, km=self.km)
        if self.kind in SIMILAR:
            similar = self.kind, self.answers, self.pairs
            return match_similar(data, self.source, self.target, *similar)
        if self.kind in ("list", "tags"):
            return match_by_list(
                data,
                *ends,
                self.target_column,
                self.separator,
                loose=bool(self.loose),
                weight=self.weight,
                make=self.kind == "tags",
            )
        raise DataError.of("bad-join", "join", "unknown kind of join", self.kind)

    def carried_out(self, data: HeteroData) -> HeteroData:
        """Return the data with this join applied.

        Raises
        ------
        hetviz.errors.DataError
            If no pair matches, or the same links exist already.
        """
        if self.kind == "views":
            return data.edit().set_entity(self.source, data[self.target].entity)
        return add_match(data, self.match(data))

    def to_dict(self) -> JsonObject:
        """Return the fields as a JSON-ready dictionary."""
        return asdict(self)


def add_match(data: HeteroData, match: Match, kind: str | None = None) -> HeteroData:
    """Return the data with the pairs of a match added as links."""
    where = f"links {match.source} - {match.target}"
    if not len(match.i):
        message = "no items of these datasets match"
        raise DataError.of("no-match", where, message, remedy="Choose other columns.")
    if match.new_dataset is None:
        links = match.links(kind)
        same = [group for group in data.links if group.kind == links.kind]
        if share_linked(data, match, same) == 1:
            message = "all of these pairs are linked already"
            raise DataError.of("already-linked", where, message, links.kind)
    return match.add_to(data, kind)


def share_linked(data: HeteroData, match: Match, groups: Sequence[Links] | None = None) -> float:
    """Return the share of the pairs of a match that are linked already (by `groups`, if given)."""
    if match.new_dataset is not None or not len(match.i):
        return 0.0
    n = len(data[match.target])
    linked = []
    for group in data.links if groups is None else groups:
        if (group.source, group.target) == (match.source, match.target):
            linked.append(group.i * n + group.j)
        elif (group.target, group.source) == (match.source, match.target):
            linked.append(group.j * n + group.i)
    if not linked:
        return 0.0
    return float(np.isin(match.i * n + match.j, np.concatenate(linked)).mean())
