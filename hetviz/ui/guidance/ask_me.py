"""Ask me: the most informative next question, with its items in their own form and a key each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from hetviz._text import short
from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import get_method, methods
from hetviz.data import HeteroData, Labels
from hetviz.data.edits.labelling import LabelValue
from hetviz.data.model.statements import in_set
from hetviz.errors import HetvizError
from hetviz.features.spaces.taught import LearnedGroup
from hetviz.jobs.tasks.ask import LIKE
from hetviz.jobs.tasks.predict import LINKS
from hetviz.runs.ask.active_learning import stopping_hint
from hetviz.runs.ask.gain import KINDS, Gain, gains_ahead
from hetviz.runs.ask.labels import beside, columns_known_in_part, columns_to_ask
from hetviz.runs.ask.questions import ASKED, Question, still_open
from hetviz.ui.map import away
from hetviz.ui.map.component import component
from hetviz.ui.predict import quick
from hetviz.ui.shell import background, session, theme
from hetviz.ui.statements import outcome
from hetviz.ui.statements.outcome import NOTICED
from hetviz.ui.widgets import charts, failed, item_chip
from hetviz.workspace import Run, SetLabels, State
from hetviz.workspace.commands.command import from_dict

BATCH = 10
TASK = "hetviz.jobs.tasks.look:questions"
EVERY = 5
LEAST = 10
"""Before so many answers it does not stop by itself: who asks to be asked wants to be."""
_KEYS = {"yes": "left", "no": "right", "skip": "s", "undo": "u"}
_TEXT, _NAME = 160, 30
_BEAT = 0.7
_TEXTS = {
    "comparison": "Which is it nearer to?",
    "member": "Does it belong with these?",
    "label": "Which label fits?",
}
_OPTIONS = 3
"""So many labels have a button and a key each; the others are chosen from a list or written."""
_MOST_ROWS = 60_000
"""Of more rows it takes longer than anybody waits to find whose label would tell most."""
_OFFERED = 2


@dataclass
class _Asking:
    """What this visitor was asked; kept in the session.

    Attributes
    ----------
    of : tuple
        The map and the datasets that the batch is about.
    batch : list of Question
        Worked out ahead, so that the next one is there at once.
    skipped : set of str
        Keys of questions not to ask again.
    given : list of (int, Question)
        Steps of the workspace after each answer, by which undo knows its own, and what was asked.
    since, pending : int
        Answers since the map was made again, and those that the map being made will know.
    moved : dict of str to (int, float)
        By map: how many answers were new to it, and the share of items that it moved.
    learned : list of LearnedGroup
        What is known of the groups that the batch asks about.
    on : bool
        Whether to go on though nothing is left to gain.
    waits : bool
        The next batch is being worked out.
    likely : mapping, or None
        The likely links to ask about first, as `quick.candidates` has them, empty where there are
        none; None as long as nobody has looked. Answers leave it as it is: to look again after each
        would keep the worker busy.
    """

    of: tuple[object, ...] = ()
    batch: list[Question] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)
    given: list[tuple[int, Question]] = field(default_factory=list)
    since: int = 0
    pending: int = 0
    moved: dict[str, tuple[int, float]] = field(default_factory=dict)
    learned: list[LearnedGroup] = field(default_factory=list)
    on: bool = False
    waits: bool = False
    likely: Mapping[str, Any] | None = None


def card(state: State) -> None:
    """Show the next question about the open data on the shown map."""
    with failed.told("ask"):
        _card(state)


def _card(state: State) -> None:
    data, run = state.data, state.run
    theme.section("Ask me", _progress(data) if data is not None else "")
    if data is None or run is None:
        theme.quiet("Make a map first: questions come from what it leaves in doubt.")
        return
    asking = _asking()
    _note_moves(state, run, asking)
    gains = _gains(state, data, run, asking)
    stops = bool(gains) and not any(gain.worth for gain in gains)
    question = None if stops else _next(state, data, run, asking, gains)
    pairs = [] if question is None else _pairs(data, question)
    sure = [] if question is None else _sure(data, asking, question)
    component.proposals(pairs, "asked", "Guidance", asked=len(pairs), sure=sure)
    with st.container(border=True, key="ask"):
        if stops:
            _stop(gains)
        elif question is None:
            waits = "The next questions are being worked out."
            theme.quiet(waits if asking.waits else "Nothing is left to ask about this map.")
            if asking.waits and asking.likely is None:
                st.fragment(run_every=_BEAT)(_wait)(data)
        else:
            _show(data, question)
            if sure:
                theme.quiet("Rings on the map: who else may belong with them, fuller where surer.")
        _below(asking, question)
    _offer(data)
    hint = stopping_hint(list(asking.moved.values()))
    if hint is not None:
        theme.quiet(hint)
    if asking.since and background.live() is None:
        st.button(
            f"Refit with {theme.count(asking.since, 'answer')}",
            key="ask-refit",
            on_click=_refit,
            help=f"This happens by itself after every {EVERY} answers.",
        )


def _gains(state: State, data: HeteroData, run: Run, asking: _Asking) -> list[Gain]:
    """Return what more answers could gain; nothing as long as it is too early to stop."""
    if asking.on or len(asking.given) < LEAST:
        return []
    # Also of groups that were named by labels.
    learned = [LearnedGroup.from_dict(group) for group in [*_alike(state), *outcome.learned(run)]]
    kinds = _asked_kinds(state, run)
    found = gains_ahead(state.guided or data, learned)
    return [gain for gain in found if kinds & set(KINDS[gain.what])]


def _asked_kinds(state: State, run: Run) -> set[str]:
    """Return what can be asked about: what the map makes use of, and labels."""
    data = state.data
    labels = data is not None and data.n_rows <= _MOST_ROWS and bool(columns_to_ask(data))
    return {
        *_kinds(run),
        *(("member",) if LIKE in state.findings else ()),
        *(("label",) if labels else ()),
    }


def _alike(state: State) -> list[Any]:
    found = state.findings.get(LIKE)
    return [] if found is None else list(found.content["groups"])


def _stop(gains: list[Gain]) -> None:
    """Say that more answers would not be felt, and why."""
    st.html('<p class="hv-ask">Enough asked</p>')
    theme.quiet("More answers could not gain what can be told from nothing:")
    lines = "".join(f"<li>{theme.esc(str(gain))}</li>" for gain in gains)
    st.html(f'<ul class="hv-reasons">{lines}</ul>')
    if all(gain.what not in ("groups", "labels") for gain in gains):
        theme.quiet(
            "Say of three items or more that they belong together: then it asks who else does. Or "
            "give a few items labels of your own, two or more: then it asks which fit the others."
        )
    st.button("Ask all the same", key="ask-on", on_click=_go_on)


def _go_on() -> None:
    _asking().on = True


def _offer(data: HeteroData) -> None:
    """Offer to ask for labels that came with the data and are known in part."""
    if data.n_rows > _MOST_ROWS or columns_to_ask(data):
        return
    for column in columns_known_in_part(data)[:_OFFERED]:
        own = beside(data)
        st.button(
            theme.plain(f"Ask for missing labels: {short(column.name, _NAME)}"),
            key=f"ask-for-{column.dataset}-{column.name}",
            type="tertiary",
            on_click=_begin_labels,
            args=(column, own),
            help=f"“{theme.plain(column.name)}” is known of {int(column.known.sum()):,} of "
            f"{len(column):,} {theme.plain(column.dataset)}. It is copied to “{own}”, where your "
            "answers go: nothing that came with the data is overwritten.",
        )


def _begin_labels(column: Labels, own: str) -> None:
    """Copy a label column to one of the visitor's own, and ask for the rest."""
    data = session.workspace().state.opened()
    ids = data[column.dataset].ids
    known = np.flatnonzero(column.known)
    values = {str(ids[row]): column.values[row] for row in known}
    if session.do(SetLabels(column.dataset, own, values, f"begun as {column.name}")):
        asking = _asking()
        asking.batch, asking.on = [], True


def _show(data: HeteroData, question: Question) -> None:
    if question.kind == "label":
        _show_label(data, question)
        return
    text = _TEXTS.get(question.kind, "Do these two go together?")
    if question.label[0]:
        text = f"Is it “{theme.esc(question.label[1])}”, as these are?"
    st.html(f'<p class="hv-ask">{text}</p>')
    rows, lines = question.rows, [_line(data, row) for row in question.rows]
    if question.kind in _TEXTS:
        st.html(item_chip.faces(data, rows[:1], lines[:1]))
        # What is told of the first already need not be told of each other one.
        rows, lines = rows[1:], ["" if line == lines[0] else line for line in lines[1:]]
    st.html(item_chip.faces(data, rows, lines))
    labels = ("Left", "Right") if question.kind == "comparison" else ("Yes", "No")
    for column, said, label in zip(st.columns(2, gap="small"), ("yes", "no"), labels, strict=True):
        column.button(
            label,
            key=f"ask-{said}",
            width="stretch",
            shortcut=_KEYS[said],
            on_click=_answer,
            args=(question, said),
        )
    theme.quiet(question.why)


def _show_label(data: HeteroData, question: Question) -> None:
    """Show an item with the likeliest labels, and a list of all, which takes new ones too."""
    st.html(f'<p class="hv-ask">{_TEXTS["label"]}</p>')
    row = question.rows[0]
    st.html(item_chip.faces(data, [row], [_line(data, row)]))
    with st.container(key="ask-options", gap="small"):
        for number, option in enumerate(question.options[:_OPTIONS], 1):
            st.button(
                theme.plain(short(str(option), _NAME)),
                key=f"ask-option-{number}",
                width="stretch",
                shortcut=str(number),
                on_click=_answer,
                args=(question, option),
            )
        st.selectbox(
            "Another label",
            [str(option) for option in question.options[_OPTIONS:]],
            index=None,
            placeholder="Another: choose or write",
            key=f"ask-another-{question.rows[0]}",
            accept_new_options=True,
            label_visibility="collapsed",
            on_change=_answer_another,
            args=(question,),
        )
    name = question.items[0][0]
    column = next(
        (one for one in data.labels if (one.dataset, one.name) == (name, question.label[0])), None
    )
    known = 0 if column is None else int(column.known.sum())
    theme.quiet(
        f"{question.why} “{question.label[0]}” is known of {known:,} of {len(data[name]):,} {name}."
    )


def _answer_another(question: Question) -> None:
    said = st.session_state.get(f"ask-another-{question.rows[0]}")
    if said and str(said).strip():
        _answer(question, str(said).strip())


def _pairs(data: HeteroData, question: Question) -> list[tuple[int, int, str, str]]:
    """Return what the question is about, for the map: the first item with each other one."""
    first, *others = question.rows
    # Of one item alone the map rings it and writes its name.
    others = others or [first]
    # Which key says which of the two.
    keys = (" ←", " →") if question.kind == "comparison" else ("",) * len(others)
    title = short(item_chip.item_at(data, first).title, _NAME)
    return [
        (first, other, title, short(item_chip.item_at(data, other).title, _NAME) + key)
        for other, key in zip(others, keys, strict=True)
    ]


def _sure(data: HeteroData, asking: _Asking, question: Question) -> list[tuple[int, float]]:
    """Return who else may belong with the group that is asked about, and how surely."""
    if question.kind != "member":
        return []
    name, named = question.items[1]
    answered = {other.rows[0] for _, other in asking.given} | {question.rows[0]}
    found: list[tuple[int, float]] = []
    for group in asking.learned:
        if (group.dataset, group.label) == (name, question.label) and named in group.named:
            rows = data[name].find([id_ for id_, _ in group.to_ask]) + data.offsets[name].start
            found += zip(rows.tolist(), (sure for _, sure in group.to_ask), strict=True)
    # Who is gone since is found before the first of its dataset.
    first = data.offsets[name].start
    return [(row, round(sure, 3)) for row, sure in found if row >= first and row not in answered]


def _line(data: HeteroData, row: int) -> str:
    """Return what a row is, and the first text that tells more of it."""
    item = item_chip.item_at(data, row)
    text = (item.dataset.recipe or {}).get("text")
    table = item.dataset.table
    if table is not None and isinstance(text, str) and text in table.columns:
        words = str(table[text].iloc[item.row])
        if words and words != item.title:
            return f"{item.dataset.name}: {words[:_TEXT]}{'…' if len(words) > _TEXT else ''}"
    return item.dataset.name


def _below(asking: _Asking, question: Question | None) -> None:
    with st.container(horizontal=True, gap="small", key="ask-below"):
        st.button(
            "Cannot say",
            key="ask-skip",
            type="tertiary",
            shortcut=_KEYS["skip"],
            disabled=question is None,
            on_click=_skip,
            args=(question,),
        )
        mine = bool(asking.given) and session.workspace().steps == asking.given[-1][0]
        st.button(
            "Undo answer",
            key="ask-undo",
            type="tertiary",
            shortcut=_KEYS["undo"],
            disabled=not mine,
            on_click=_undo,
            args=(session.workspace().steps,),
        )


def _progress(data: HeteroData) -> str:
    """Say how many answers there are, and how many of them say together."""
    asked = in_set(data, ASKED)
    if not asked.any():
        return ""
    weight = np.concatenate([np.empty(0), *(links.weight for links in data.links)])
    yes = int((asked[: len(weight)] & (weight > 0)).sum())
    words = f"{int(asked.sum()):,} answered"
    return f"{words}, {yes:,} of them yes" if asked[: len(weight)].any() else words


def _asking() -> _Asking:
    kept = st.session_state.get("ask-me")
    if not isinstance(kept, _Asking):
        kept = st.session_state["ask-me"] = _Asking()
    return kept


def _next(
    state: State, data: HeteroData, run: Run, asking: _Asking, gains: list[Gain]
) -> Question | None:
    """Return the first question that is still open; work out more when the last was used."""
    sizes = tuple((name, len(part)) for name, part in data.datasets.items())
    found = [state.findings.get(kind) for kind in (LIKE, LINKS)]
    of = (sizes, run.id, *("" if one is None else one.when for one in found))
    if asking.of != of:
        # What somebody is reading stays: another question in its place would take their answer.
        same_items = asking.of[:1] == of[:1]
        asking.of, asking.batch = of, asking.batch[:1] if same_items else []
        asking.likely = None
    asking.batch = still_open(data, asking.batch, asking.skipped)
    embedding = charts.embedding_of(state, run)
    asking.waits = False
    if not asking.batch and embedding is not None:
        candidates = _candidates(state, data, asking)
        if candidates is None:
            asking.waits = True
            return None
        told = [*_alike(state), *outcome.learned(run)]
        kinds = _asked_kinds(state, run)
        worth = {kind for gain in gains if gain.worth for kind in KINDS[gain.what]}
        asking.learned = [LearnedGroup.from_dict(group) for group in told]
        choice: dict[str, Any] = {
            "n": BATCH,
            "skip": sorted(asking.skipped),
            "kinds": sorted(kinds & worth or kinds),
            "candidates": candidates,
            "learned": asking.learned,
        }
        key = ("questions", of, choice["kinds"], choice["skip"][-1:], len(asking.skipped))
        given = {"embedding": embedding, **choice}
        more = away.found(background.owner(), data, repr(key), TASK, given, embedding)
        asking.waits = more is None
        asking.batch = list(more or ())
    return asking.batch[0] if asking.batch else None


def _candidates(
    state: State, data: HeteroData, asking: _Asking
) -> list[tuple[int, int, float]] | None:
    """Return likely links: those on Predict, or else those looked for now; None until found."""
    kept = state.findings.get(LINKS)
    if kept is None and asking.likely is None:
        found = _looked_for(data)
        if not found.over:
            return None
        asking.likely = found.content
    content = asking.likely if kept is None else kept.content
    if not content:
        return []
    source, target = content["source"], content["target"]
    if source not in data.datasets or target not in data.datasets or source == target:
        return []
    told = content["candidates"]
    p = data[source].find([record["source_id"] for record in told])
    q = data[target].find([record["target_id"] for record in told])
    first, second = data.offsets[source].start, data.offsets[target].start
    return [
        (first + int(i), second + int(j), float(record["score"]))
        for i, j, record in zip(p, q, told, strict=True)
        if i >= 0 and j >= 0
    ]


def _looked_for(data: HeteroData) -> quick.Quick:
    """Return the candidates between the two datasets with most links, as *Predict* opens with."""
    pairs = quick.linked_pairs(data)
    if not pairs or pairs[0][0] == pairs[0][1] or quick.too_large(data, *pairs[0]):
        return quick.Quick(problem="Nothing to look for unasked.")
    return quick.candidates(data, *pairs[0])


def _wait(data: HeteroData) -> None:
    """Look whether the likely links are there."""
    if _looked_for(data).over:
        st.rerun()


def _kinds(run: Run) -> tuple[str, ...]:
    """Return what the shown method can make use of."""
    if run.method not in {card.key for card in methods()}:
        return ("member", "link", "pair")
    can = get_method(run.method).card.capabilities
    uses = {
        "link": Capability.LINKS,
        "member": Capability.WITHIN_LINKS,
        "pair": Capability.WITHIN_LINKS,
        "comparison": Capability.COMPARISONS,
    }
    return tuple(kind for kind, use in uses.items() if use in can) or ("member", "link", "pair")


def _answer(question: Question, said: LabelValue) -> None:
    asking = _asking()
    # While a page is drawn anew its old buttons may still hear a key, and it would count twice.
    if any(question.key == answered.key for _, answered in asking.given):
        return
    if question.kind == "member" and question.label[0] and said == "no":
        asking.skipped.add(question.key)
        return
    if not session.do(from_dict(question.answer(said))):
        return
    asking.given.append((session.workspace().steps, question))
    if question.label[0]:
        # No map moves for a label.
        return
    asking.since += 1
    if asking.since >= EVERY:
        _refit()


def _refit() -> None:
    asking = _asking()
    if background.refit(session.workspace().state):
        asking.pending, asking.since = asking.since, 0


def _skip(question: Question) -> None:
    _asking().skipped.add(question.key)


def _undo(steps: int) -> None:
    asking = _asking()
    if not asking.given or not steps == asking.given[-1][0] == session.workspace().steps:
        return
    try:
        session.workspace().undo()
    except HetvizError as error:
        session.tell(str(error))
        return
    _, question = asking.given.pop()
    asking.batch.insert(0, question)
    asking.since = max(asking.since - 1, 0)


def _note_moves(state: State, run: Run, asking: _Asking) -> None:
    """Keep how much a map that was made for answers moved."""
    if run.id in asking.moved or not asking.pending:
        return
    far = outcome.distances(state, run)
    if far is None:
        return
    there = far[np.isfinite(far)]
    if len(there):
        asking.moved[run.id] = (asking.pending, float((there >= NOTICED).mean()))
        asking.pending = 0
