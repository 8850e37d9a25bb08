"""Questions worth asking a person next: uncertain pairs, comparisons, links and labels."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from hetviz._text import join_first, percent
from hetviz._types import JsonObject
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.data.edits.labelling import LabelValue
from hetviz.data.joins.near_rows import PROPOSED_KINDS, SIMILAR_MEANING
from hetviz.data.model.statements import link_keys_at
from hetviz.errors import ParameterError
from hetviz.features.spaces.learned_groups import GroupSummary
from hetviz.runs.ask.active_learning import QuestionFinder, settled_pairs_of
from hetviz.runs.ask.labels import columns_to_ask, label_candidates
from hetviz.runs.ask.learned import learned_from

KINDS = ("label", "member", "pair", "comparison", "link")
ASKED = "asked"
"""Name of the guidance set that answers go to."""
_SHARES = {"label": 1.2, "member": 1.2, "link": 0.6, "pair": 0.2, "comparison": 0.2}
_ANSWERS = ("yes", "no")
_PROPOSED = {kind: f"{kind.capitalize()} suggest" for kind in PROPOSED_KINDS}
_PROPOSED[SIMILAR_MEANING] = "Similar meanings suggest"
_MAX_NAMED = 3
_MAX_LABELS_NAMED = 3
_FINDERS = {
    "pair": QuestionFinder.find_pairs,
    "comparison": QuestionFinder.find_comparisons,
    "link": QuestionFinder.find_links,
}


@dataclass(frozen=True)
class Question:
    """One question, with the answers yes and no or, for a label, any of its labels.

    `kind` {"label", "member", "pair", "comparison", "link"}: "label": which label an item has.
        "member": whether an item belongs to a named group. "pair": whether two items of a dataset
        belong together. "comparison": whether the first of three items is closer to the second
        (yes) or to the third (no). "link": whether items of two datasets belong together.
    `rows`: Global rows: two, or three for a comparison. For a label the item. For a group the
        item, then up to three of the named items.
    `items` (tuple of (str, str)): Dataset and id of each row.
    `text`, `why`: The question and the reason for it, as sentences.
    `gain`: Value of an answer; comparable only with questions of the same kind and call.
    `label` (tuple of (str, str)): Column and label that a yes would give to the item; ("", "") for
        other questions. For the kind "label" the label is empty.
    `options` (tuple of text or number): For the kind "label": the labels known so far, the
        likeliest first.
    `statement`: Key of the proposed link that the question is about (see `hetviz.statements`),
        else "". A yes makes it a link of the user, a no removes it.
    """

    kind: str
    rows: tuple[int, ...]
    items: tuple[tuple[str, str], ...]
    text: str
    why: str
    gain: float
    label: tuple[str, str] = ("", "")
    options: tuple[LabelValue, ...] = ()
    statement: str = ""

    @property
    def key(self) -> str:
        """The question as text that stays the same when row numbers change; see `skip`."""
        items = [list(item) for item in self.items]
        return json.dumps([*items, [*self.label]] if self.label[0] else items, ensure_ascii=False)

    def answer(self, answer: LabelValue) -> JsonObject:
        """Return the command that records an answer, as a JSON-ready dictionary.

        The answer is "yes" or "no"; for the kind "label" one of `options`, or another label. "This
        item has no label" cannot be recorded: the caller must remember it, see `skip`.
        """
        if self.kind == "label":
            label = next((option for option in self.options if str(option) == str(answer)), answer)
            if not str(label).strip():
                raise ParameterError("answer: an empty text is no label. Give a label.")
            dataset, id_ = self.items[0]
            column = self.label[0]
            return {
                "op": "set-labels",
                "dataset": dataset,
                "column": column,
                "values": {id_: label},
            }
        if answer not in _ANSWERS:
            raise ParameterError(f"answer: {answer!r} is not allowed. Use yes or no.")
        if self.statement:
            right = answer == "yes"
            return {"op": "judge-link", "statement": self.statement, "right": right, "set": ASKED}
        if self.kind == "comparison":
            a, b, c = (list(item) for item in self.items)
            rows = [[a, b, c] if answer == "yes" else [a, c, b]]
            return {"op": "add-comparisons", "rows": rows, "set": ASKED}
        if self.label[0]:
            column, label = self.label
            dataset, id_ = self.items[0]
            values = {id_: label if answer == "yes" else None}
            return {"op": "set-labels", "dataset": dataset, "column": column, "values": values}
        (source, source_id), (target, _), *_ = self.items
        return {
            "op": "add-links",
            "source": source,
            "target": target,
            "pairs": [[source_id, other] for _, other in self.items[1:]],
            "weight": 1.0 if answer == "yes" else -1.0,
            "set": ASKED,
        }

    def to_dict(self) -> JsonObject:
        content: JsonObject = {
            "kind": self.kind,
            "items": [list(item) for item in self.items],
            "text": self.text,
            "why": self.why,
            "gain": self.gain,
        }
        if self.label[0]:
            content["label"] = list(self.label)
        if self.options:
            content["options"] = list(self.options)
        if self.statement:
            content["statement"] = self.statement
        return content


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
    learned: Sequence[GroupSummary] | None = None,
    candidates: Sequence[tuple[int, int, float]] = (),
    labels: Sequence[tuple[str, str]] | None = None,
) -> list[Question]:
    """Return the questions whose answers would inform the map most.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        The current map. Questions within a dataset are only about rows with a place on it.
    n : int
        Maximum number of questions.
    skip : collection of str
        Keys of questions not to ask again, see `Question.key`.
    random_state : int
        Seed for the sampled items; the same seed gives the same questions.
    kinds : sequence of {"label", "member", "pair", "comparison", "link"}
    only : array of int, optional
        Global rows to ask about; all by default.
    learned : sequence of LearnedGroup, optional
        Learned groups, as in ``diagnostics_["learned"]`` of a map with ``learn_groups``; computed
        when absent.
    candidates : sequence of (int, int, float)
        Global rows of two datasets and the probability of a link, the likeliest first, as from
        `hetviz.predict_links`. They replace the uncertain links of the map. Each item comes once
        before any comes twice.
        Proposed links (`hetviz.propose_links`) come before both, the most uncertain first.
    labels : sequence of (dataset, label), optional
        Partly filled label columns whose missing labels are asked for; by default those of the
        user, named "my label 1" and so on.

    Returns
    -------
    list of Question
        All kinds mixed, the most valuable of each first. About half are about labels and half
        about members of named groups, where these exist. Of the others, 6 in 10 are across
        datasets where that is possible. No two questions of a kind name the same item or similar
        items, except for labels and likely links. Known links and comparisons, conclusions from
        them, known labels and rows of one object are never asked.

    Raises
    ------
    hetviz.errors.ParameterError

    Notes
    -----
    The probability that two items belong together comes from links of similar items, not from the
    map; see `hetviz.runs.ask.active_learning`. A call considers at most 600 items, so the cost is
    O(n d) for n rows of d features.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("digits")
    >>> asked = hetviz.suggest_questions(data, hetviz.embed(data, "guided-projection"), 5)
    >>> len(asked)
    5
    """
    if n < 1:
        raise ParameterError(f"suggest_questions: n = {n!r} must be 1 or more.")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ParameterError(
            f"suggest_questions: kinds = {list(kinds)!r}. Use one of: {', '.join(KINDS)}."
        )
    questions = {}
    skipped = _rows_of_keys(data, skip)
    if "label" in kinds:
        questions["label"] = _label_questions(data, labels, n, only, skipped, random_state)
    if "member" in kinds:
        groups = learned_from(data, random_state=random_state) if learned is None else learned
        questions["member"] = still_open(data, _member_questions(data, groups, only), skip)
    searched = [kind for kind in _FINDERS if kind in kinds]
    if searched and len(questions.get("member", ())) < n:
        finder = QuestionFinder(data, embedding, random_state, only, skipped)
        questions |= {
            kind: [_question(data, kind, *row) for row in _FINDERS[kind](finder, n)]
            for kind in searched
        }
    if "link" in kinds and candidates:
        likely_links = still_open(data, _link_questions(data, candidates, only), skip)
        # Likely links replace the uncertain ones, which seem odd to a person next to them.
        questions["link"] = likely_links or questions.get("link", [])
    if "link" in kinds:
        proposed = still_open(data, _proposed_link_questions(data, n + len(skip), only), skip)
        questions["link"] = proposed or questions.get("link", [])
    return _mix_kinds(questions, n)


def _proposed_link_questions(data: HeteroData, n: int, only: ArrayLike | None) -> list[Question]:
    """Return questions about proposed links, the most uncertain first."""
    allowed = np.ones(data.n_rows, dtype=bool)
    if only is not None:
        allowed[:] = False
        allowed[np.asarray(only, dtype=np.int64)] = True
    found = [(np.empty(0), np.empty((0, 4), dtype=np.int64))]
    for number, links in enumerate(data.links):
        if links.kind not in _PROPOSED:
            continue
        p = links.i + data.offsets[links.source].start
        q = links.j + data.offsets[links.target].start
        at = np.flatnonzero(allowed[p] & allowed[q])
        group = np.full(len(at), number)
        found.append((np.asarray(links.weight)[at], np.column_stack([group, at, p[at], q[at]])))
    weight, places = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(np.abs(weight - 0.5), kind="stable")[:n]
    keys = link_keys_at(data, [(int(group), int(row)) for group, row, *_ in places[order]])
    questions = []
    for at, key in zip(order.tolist(), keys, strict=True):
        reason = _PROPOSED[data.links[int(places[at, 0])].kind]
        why = f"{reason} it, with weight {weight[at]:.2f}."
        gain = 1.0 - abs(2.0 * float(weight[at]) - 1.0)
        rows = int(places[at, 2]), int(places[at, 3])
        questions.append(replace(_question(data, "link", rows, why, gain), statement=key))
    return questions


def _link_questions(
    data: HeteroData, candidates: Sequence[tuple[int, int, float]], only: ArrayLike | None
) -> list[Question]:
    allowed = None if only is None else set(np.asarray(only).tolist())
    first: list[Question] = []
    later: list[Question] = []
    seen: set[int] = set()
    for left, right, score in candidates:
        pair = (int(left), int(right))
        if allowed is not None and not allowed >= set(pair):
            continue
        why = f"Other links and similar items suggest it ({percent(score, 2)})."
        target = later if seen & set(pair) else first
        seen |= set(pair)
        target.append(_question(data, "link", pair, why, float(score)))
    return first + later


def _label_questions(
    data: HeteroData,
    requested: Sequence[tuple[str, str]] | None,
    n: int,
    only: ArrayLike | None,
    skipped_rows: Sequence[tuple[int, ...]],
    random_state: int,
) -> list[Question]:
    """Return questions about missing labels, alternating between columns."""
    skipped = {rows[0] for rows in skipped_rows if len(rows) == 1}
    allowed = None
    if only is not None:
        allowed = np.zeros(data.n_rows, dtype=bool)
        allowed[np.asarray(only, dtype=np.int64)] = True
    ranked: list[tuple[int, Question]] = []
    for column in columns_to_ask(data, requested):
        candidates = label_candidates(
            data, column, n, allowed=allowed, skipped=skipped, random_state=random_state
        )
        for rank, candidate in enumerate(candidates):
            row = candidate.row - data.offsets[column.dataset].start
            item = (column.dataset, str(data[column.dataset].ids[row]))
            likeliest = candidate.labels[:_MAX_LABELS_NAMED]
            words = ", ".join(f"“{label}”" for label, _ in likeliest)
            why = "Its label is uncertain: links and features do not settle it."
            if round(candidate.gain) > 1:
                why = f"Its label would help with about {candidate.gain:.0f} other uncertain items."
            ranked.append(
                (
                    rank,
                    Question(
                        "label",
                        (candidate.row,),
                        (item,),
                        f"Which label fits “{_title_of(data, item)}”: {words}, or another?",
                        why,
                        candidate.gain,
                        (column.name, ""),
                        tuple(label for label, _ in candidate.labels),
                    ),
                )
            )
    return [question for _, question in sorted(ranked, key=lambda pair: pair[0])]


def _member_questions(
    data: HeteroData, groups: Sequence[GroupSummary], only: ArrayLike | None
) -> list[Question]:
    """Return a question for each item that may follow a group, alternating between groups."""
    ranked: list[tuple[int, Question]] = []
    allowed = None if only is None else set(np.asarray(only).tolist())
    for group in groups:
        if group.dataset not in data.datasets:
            continue
        named_items = [(group.dataset, name) for name in group.named]
        named = named_items[:_MAX_NAMED]
        words = join_first([f"“{_title_of(data, item)}”" for item in named_items], _MAX_NAMED)
        for rank, (id_, certainty) in enumerate(group.to_ask):
            items = ((group.dataset, id_), *named)
            rows = tuple(data.position(*item) for item in items)
            if allowed is not None and rows[0] not in allowed:
                continue
            text = f"Does “{_title_of(data, items[0])}” belong with {words}?"
            if group.label[0]:
                text = f"Is “{_title_of(data, items[0])}” also “{group.label[1]}”, like {words}?"
            why = f"It is similar to them ({percent(certainty, 2)} sure)."
            if not group.learned:
                why = f"It is the most similar to the {len(named_items)} items, but uncertain."
            ranked.append(
                (rank, Question("member", rows, items, text, why, certainty, group.label))
            )
    return [question for _, question in sorted(ranked, key=lambda pair: pair[0])]


def _title_of(data: HeteroData, item: tuple[str, str]) -> str:
    dataset = data[item[0]]
    return str(dataset.display_names[int(dataset.find([item[1]])[0])])


def still_open(
    data: HeteroData, questions: Sequence[Question], skip: Collection[str] = ()
) -> list[Question]:
    """Return the earlier questions that the data do not answer yet; rows must not have changed."""
    if not questions:
        # Finding settled pairs takes a while with many links.
        return []
    settled = settled_pairs_of(data)
    open_questions = []
    for question in questions:
        rows = np.array([question.rows])
        if question.label[0] or question.statement:
            is_open = _is_proposed if question.statement else _lacks_label
            if question.key not in skip and is_open(data, question):
                open_questions.append(question)
            continue
        by_pair = question.kind != "comparison"
        is_known = (
            settled.is_known(rows[:, 0], rows[:, 1]) if by_pair else settled.is_compared(rows)
        )
        if question.key not in skip and not is_known[0]:
            open_questions.append(question)
    return open_questions


def _is_proposed(data: HeteroData, question: Question) -> bool:
    (source, first), (target, second) = question.items
    i, j = data[source].position(first), data[target].position(second)
    return any(
        bool(((links.i == i) & (links.j == j)).any())
        for links in data.links
        if links.kind in _PROPOSED and (links.source, links.target) == (source, target)
    )


def _lacks_label(data: HeteroData, question: Question) -> bool:
    dataset, id_ = question.items[0]
    row = data[dataset].position(id_)
    return not any(
        bool(labels.known[row])
        for labels in data.labels
        if (labels.dataset, labels.name) == (dataset, question.label[0])
    )


def _rows_of_keys(data: HeteroData, keys: Collection[str]) -> list[tuple[int, ...]]:
    """Return the global rows of questions whose items all exist."""
    rows = []
    for key in keys:
        items = [item for item in json.loads(key) if item[0] in data.datasets]
        if all(name in data.datasets and data[name].find([id_])[0] >= 0 for name, id_ in items):
            rows.append(tuple(data.position(name, id_) for name, id_ in items))
    return rows


def _mix_kinds(questions: dict[str, list[Question]], n: int) -> list[Question]:
    """Mix the kinds by their shares; the others fill up when one is empty."""
    n_taken = dict.fromkeys(questions, 0)
    mixed: list[Question] = []
    while len(mixed) < n:
        open_ = [kind for kind in questions if n_taken[kind] < len(questions[kind])]
        if not open_:
            break
        kind = min(open_, key=lambda kind: ((n_taken[kind] + 1) / _SHARES[kind], -_SHARES[kind]))
        mixed.append(questions[kind][n_taken[kind]])
        n_taken[kind] += 1
    return mixed


def _question(
    data: HeteroData, kind: str, rows: tuple[int, ...], why: str, gain: float
) -> Question:
    items, names = [], []
    for row in rows:
        for name, span in data.offsets.items():
            if span.start <= row < span.stop:
                items.append((name, str(data[name].ids[row - span.start])))
                names.append(f"“{data[name].display_names[row - span.start]}”")
    if kind == "comparison":
        text = f"Is {names[0]} closer to {names[1]} than to {names[2]}?"
    else:
        text = f"Do {names[0]} and {names[1]} belong together?"
    return Question(kind, rows, tuple(items), text, why, gain)
