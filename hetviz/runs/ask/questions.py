"""The next questions worth asking a person: what the map leaves in doubt, and what nobody said."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hetviz._text import percent, some
from hetviz._types import JsonObject
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.edits.labelling import LabelValue
from hetviz.errors import ParameterError
from hetviz.features.spaces.taught import LearnedGroup
from hetviz.runs.ask.active_learning import Doubts, Implied
from hetviz.runs.ask.labels import columns_to_ask, label_doubts
from hetviz.runs.ask.learned import learned_from

KINDS = ("label", "member", "pair", "comparison", "link")
ASKED = "asked"
"""The set that answers belong to."""
_SHARES = {"label": 1.2, "member": 1.2, "link": 0.6, "pair": 0.2, "comparison": 0.2}
_ANSWERS = ("yes", "no")
_NAMED_WITH = 3
_LABELS_NAMED = 3
_LOOK = {"pair": Doubts.pairs, "comparison": Doubts.comparisons, "link": Doubts.between}


@dataclass(frozen=True)
class Question:
    """One question, with two answers or, of a label, as many as there are labels.

    Attributes
    ----------
    kind : {"label", "member", "pair", "comparison", "link"}
        Which label an item has; whether an item belongs to a group that somebody named; whether
        two items of a dataset belong together; whether the first of three is nearer to the second
        (yes) or to the third (no); whether items of two datasets belong together.
    rows : tuple of int
        Global rows: two, or three for a comparison; for a label the item; for a group the item,
        then up to three of those that were named.
    items : tuple of (str, str)
        Dataset and id of each.
    text, why : str
        The question, and why it is asked, in plain words.
    gain : float
        What an answer is worth beside other questions of its kind; comparable only within a call.
    label : tuple of (str, str)
        Column and label that the item would get, where that is asked; of the kind "label" the
        label is empty.
    options : tuple of text or number
        Of the kind "label": the labels known so far, the likeliest first.
    """

    kind: str
    rows: tuple[int, ...]
    items: tuple[tuple[str, str], ...]
    text: str
    why: str
    gain: float
    label: tuple[str, str] = ("", "")
    options: tuple[LabelValue, ...] = ()

    @property
    def key(self) -> str:
        """The question as text that outlives changes of row numbers; see `skip`."""
        items = [list(item) for item in self.items]
        return json.dumps([*items, [*self.label]] if self.label[0] else items, ensure_ascii=False)

    def answer(self, said: LabelValue) -> JsonObject:
        """Return the command that keeps an answer, as a JSON-ready dictionary.

        The answer is "yes" or "no"; of the kind "label" one of `options`, or another label. That an
        item lacks a label is no label: who asks must remember it, see `skip`.
        """
        if self.kind == "label":
            word = next((one for one in self.options if str(one) == str(said)), said)
            if not str(word).strip():
                raise ParameterError("answer: '' is no label.")
            dataset, id_ = self.items[0]
            column = self.label[0]
            return {"op": "set-labels", "dataset": dataset, "column": column, "values": {id_: word}}
        if said not in _ANSWERS:
            raise ParameterError(f"answer: {said!r}; one of yes, no.")
        if self.kind == "comparison":
            a, b, c = (list(item) for item in self.items)
            rows = [[a, b, c] if said == "yes" else [a, c, b]]
            return {"op": "add-comparisons", "rows": rows, "set": ASKED}
        if self.label[0]:
            column, word = self.label
            dataset, id_ = self.items[0]
            values = {id_: word if said == "yes" else None}
            return {"op": "set-labels", "dataset": dataset, "column": column, "values": values}
        (source, source_id), (target, _), *_ = self.items
        return {
            "op": "add-links",
            "source": source,
            "target": target,
            "pairs": [[source_id, other] for _, other in self.items[1:]],
            "weight": 1.0 if said == "yes" else -1.0,
            "set": ASKED,
        }

    def to_dict(self) -> JsonObject:
        """Return the question, JSON-ready."""
        told: JsonObject = {
            "kind": self.kind,
            "items": [list(item) for item in self.items],
            "text": self.text,
            "why": self.why,
            "gain": self.gain,
        }
        if self.label[0]:
            told["label"] = list(self.label)
        if self.options:
            told["options"] = list(self.options)
        return told


@one_thread()
def suggest_questions(
    data: HeteroData,
    embedding: Embedding,
    n: int = 10,
    *,
    skip: Collection[str] = (),
    random_state: int = 0,
    kinds: Sequence[str] = KINDS,
    only: ArrayLike | None = None,
    learned: Sequence[LearnedGroup] | None = None,
    candidates: Sequence[tuple[int, int, float]] = (),
    labels: Sequence[tuple[str, str]] | None = None,
) -> list[Question]:
    """Return the questions whose answers would tell the map most.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        The map as it is; rows without a place are asked about only across datasets.
    n : int
        Most questions to return; fewer where there is nothing left to ask.
    skip : collection of str
        Keys of questions not to ask again, see `Question.key`.
    random_state : int
        Seeds which of equally unguided items are looked at; the same seed, the same questions.
    kinds : sequence of {"label", "member", "pair", "comparison", "link"}
    only : array of int, optional
        Global rows to ask about; all by default.
    learned : sequence of LearnedGroup, optional
        What was learned from groups that somebody named, as a map with ``learn_groups`` has it in
        ``diagnostics_["learned"]``; by default it is found anew.
    candidates : sequence of (int, int, float)
        Global rows of two datasets that may be linked and how likely that is, the likeliest first,
        as by `hetviz.predict_links`: they are asked about in place of what the map leaves in
        doubt, first each item once.
    labels : sequence of (dataset, label), optional
        Label columns known in part whose missing labels are asked for; by default those that are
        called as a person's own are, "my label 1" and so on.

    Returns
    -------
    list of Question
        The kinds mixed, each with the most valuable first: about half are of labels and half about
        members of groups that somebody named, where there are such; of the others 6 in 10 across
        datasets where that can be asked. No two questions of a kind name the same item or items
        next to each other in the data, but for labels and likely links. Never asked: what a
        statement says, what follows from items said to be the same or to belong together, labels
        that are known, and rows of one object.

    Raises
    ------
    hetviz.errors.ParameterError

    Notes
    -----
    How likely two items belong together is taken from statements about items like them, not from
    the map; see `hetviz.runs.ask.active_learning`. At most 600 items are looked at a call, so that
    the cost is O(n d) for n rows of d features.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("digits")
    >>> asked = hetviz.suggest_questions(data, hetviz.embed(data, "guided-projection"), 5)
    >>> len(asked)
    5
    """
    if n < 1:
        raise ParameterError(f"suggest_questions: n = {n!r}; a whole number of 1 or more.")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ParameterError(
            f"suggest_questions: kinds = {list(kinds)!r}; some of {', '.join(KINDS)}."
        )
    found = {}
    asked_before = _rows_of(data, skip)
    if "label" in kinds:
        found["label"] = _labels(data, labels, n, only, asked_before, random_state)
    if "member" in kinds:
        groups = learned_from(data, random_state=random_state) if learned is None else learned
        found["member"] = still_open(data, _members(data, groups, only), skip)
    looked = [kind for kind in _LOOK if kind in kinds]
    if looked and len(found.get("member", ())) < n:
        doubts = Doubts(data, embedding, random_state, only, asked_before)
        found |= {
            kind: [_question(data, kind, *row) for row in _LOOK[kind](doubts, n)] for kind in looked
        }
    if "link" in kinds and candidates:
        likely = still_open(data, _likely(data, candidates, only), skip)
        # After these nothing else is asked across: what is only in doubt seems odd to a person.
        found["link"] = likely or found.get("link", [])
    return _mixed(found, n)


def _likely(
    data: HeteroData, candidates: Sequence[tuple[int, int, float]], only: ArrayLike | None
) -> list[Question]:
    wanted = None if only is None else set(np.asarray(only).tolist())
    asked: list[Question] = []
    later: list[Question] = []
    seen: set[int] = set()
    for one, other, score in candidates:
        pair = (int(one), int(other))
        if wanted is not None and not wanted >= set(pair):
            continue
        why = f"The known links and what the two are like make it likely: {percent(score, 2)}."
        into = later if seen & set(pair) else asked
        seen |= set(pair)
        into.append(_question(data, "link", pair, why, float(score)))
    return asked + later


def _labels(
    data: HeteroData,
    wanted: Sequence[tuple[str, str]] | None,
    n: int,
    only: ArrayLike | None,
    asked_before: Sequence[tuple[int, ...]],
    random_state: int,
) -> list[Question]:
    """Return the questions for missing labels, the columns in turn."""
    passed = {rows[0] for rows in asked_before if len(rows) == 1}
    allowed = None
    if only is not None:
        allowed = np.zeros(data.n_rows, dtype=bool)
        allowed[np.asarray(only, dtype=np.int64)] = True
    asked: list[tuple[int, Question]] = []
    for column in columns_to_ask(data, wanted):
        doubts = label_doubts(
            data, column, n, allowed=allowed, passed=passed, random_state=random_state
        )
        for rank, doubt in enumerate(doubts):
            row = doubt.row - data.offsets[column.dataset].start
            item = (column.dataset, str(data[column.dataset].ids[row]))
            first = doubt.labels[:_LABELS_NAMED]
            words = ", ".join(f"“{word}”" for word, _ in first)
            why = "Its label is open: what is known does not settle it."
            if round(doubt.gain) > 1:
                why = f"Its label is open, and would tell of about {doubt.gain:.0f} items in doubt."
            asked.append(
                (
                    rank,
                    Question(
                        "label",
                        (doubt.row,),
                        (item,),
                        f"Which label fits “{_title(data, item)}”: {words}, or another?",
                        why,
                        doubt.gain,
                        (column.name, ""),
                        tuple(word for word, _ in doubt.labels),
                    ),
                )
            )
    return [question for _, question in sorted(asked, key=lambda pair: pair[0])]


def _members(
    data: HeteroData, groups: Sequence[LearnedGroup], only: ArrayLike | None
) -> list[Question]:
    """Return a question for each item that may follow a group, the groups in turn."""
    asked: list[tuple[int, Question]] = []
    wanted = None if only is None else set(np.asarray(only).tolist())
    for group in groups:
        if group.dataset not in data.datasets:
            continue
        every = [(group.dataset, name) for name in group.named]
        named = every[:_NAMED_WITH]
        words = some([f"“{_title(data, item)}”" for item in every], _NAMED_WITH)
        for rank, (id_, certainty) in enumerate(group.to_ask):
            items = ((group.dataset, id_), *named)
            rows = tuple(data.position(*item) for item in items)
            if wanted is not None and rows[0] not in wanted:
                continue
            text = f"Does “{_title(data, items[0])}” belong with {words}?"
            if group.label[0]:
                text = f"Is “{_title(data, items[0])}” also “{group.label[1]}”, like {words}?"
            why = f"It is like them in what is known of it: {percent(certainty, 2)} sure."
            if not group.learned:
                why = f"Of all others it is most like them; {len(every)} named leave it open."
            asked.append((rank, Question("member", rows, items, text, why, certainty, group.label)))
    return [question for _, question in sorted(asked, key=lambda pair: pair[0])]


def _title(data: HeteroData, item: tuple[str, str]) -> str:
    dataset = data[item[0]]
    return str(dataset.titles[int(dataset.find([item[1]])[0])])


def still_open(
    data: HeteroData, questions: Sequence[Question], skip: Collection[str] = ()
) -> list[Question]:
    """Return those of some earlier questions that the data do not answer by now.

    The rows must be those of the data that they were asked about.
    """
    if not questions:
        # What is implied takes a while to find out where there are many links.
        return []
    implied = Implied.of(data)
    out = []
    for question in questions:
        rows = np.array([question.rows])
        if question.label[0]:
            if question.key not in skip and not _has_label(data, question):
                out.append(question)
            continue
        by_pair = question.kind != "comparison"
        known = implied.known(rows[:, 0], rows[:, 1]) if by_pair else implied.compared(rows)
        if question.key not in skip and not known[0]:
            out.append(question)
    return out


def _has_label(data: HeteroData, question: Question) -> bool:
    dataset, id_ = question.items[0]
    row = data[dataset].position(id_)
    return any(
        bool(one.known[row])
        for one in data.labels
        if (one.dataset, one.name) == (dataset, question.label[0])
    )


def _rows_of(data: HeteroData, keys: Collection[str]) -> list[tuple[int, ...]]:
    """Return the global rows of questions; those that name an item that is gone are left out."""
    out = []
    for key in keys:
        items = [item for item in json.loads(key) if item[0] in data.datasets]
        if all(name in data.datasets and data[name].find([id_])[0] >= 0 for name, id_ in items):
            out.append(tuple(data.position(name, id_) for name, id_ in items))
    return out


def _mixed(found: dict[str, list[Question]], n: int) -> list[Question]:
    """Deal the kinds out by their shares; where one has run out the others fill up."""
    taken = dict.fromkeys(found, 0)
    out: list[Question] = []
    while len(out) < n:
        open_ = [kind for kind in found if taken[kind] < len(found[kind])]
        if not open_:
            break
        kind = min(open_, key=lambda kind: ((taken[kind] + 1) / _SHARES[kind], -_SHARES[kind]))
        out.append(found[kind][taken[kind]])
        taken[kind] += 1
    return out


def _question(
    data: HeteroData, kind: str, rows: tuple[int, ...], why: str, gain: float
) -> Question:
    items, names = [], []
    for row in rows:
        for name, span in data.offsets.items():
            if span.start <= row < span.stop:
                items.append((name, str(data[name].ids[row - span.start])))
                names.append(f"“{data[name].titles[row - span.start]}”")
    if kind == "comparison":
        text = f"Is {names[0]} nearer to {names[1]} than to {names[2]}?"
    else:
        text = f"Do {names[0]} and {names[1]} belong together?"
    return Question(kind, rows, tuple(items), text, why, gain)
