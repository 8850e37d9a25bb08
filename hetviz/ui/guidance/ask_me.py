"""Ask me: questions about uncertain items, answered by keys or buttons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from hetviz._text import round_percent, shorten
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method, is_method
from hetviz.data import HeteroData, Labels
from hetviz.data.edits.labelling import LabelValue
from hetviz.data.joins.judged_links import MIN_ANSWERS as LINK_ANSWERS
from hetviz.data.model.statements import set_mask
from hetviz.features.spaces.learned_groups import GroupSummary
from hetviz.jobs.tasks.ask import LIKE
from hetviz.jobs.tasks.predict import LINKS
from hetviz.runs.ask.active_learning import stopping_hint
from hetviz.runs.ask.gain import KINDS, Gain, gains_ahead
from hetviz.runs.ask.labels import columns_to_ask, new_label_name, partly_filled_columns
from hetviz.runs.ask.questions import ASKED, Question, still_open
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.map.component import component
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import background, session, theme
from hetviz.ui.shell.page_state import project_id, state_of
from hetviz.ui.statements import candidate_search, consequences
from hetviz.ui.statements.consequences import MIN_SHIFT
from hetviz.ui.widgets import charts, failure
from hetviz.workspace import MapResult, SetLabels, State
from hetviz.workspace.commands.command import from_dict

BATCH_SIZE = 10
ANSWERS_PER_REFIT = 5
MIN_ANSWERS = 10
"""Answers before questions may stop on their own."""
_SHORTCUTS = {"yes": "left", "no": "right", "skip": "s", "undo": "u"}
_TEXT_CHARS, _NAME_CHARS = 160, 30
_REFRESH_S = 0.7
_QUESTION_TEXTS = {
    "comparison": "Which is it closer to?",
    "member": "Does it belong with these?",
    "label": "Which label fits?",
}
_LOADING = (
    '<p class="hv-question" role="status">Looking for a good question …</p>'
    '<div class="hv-skeleton" aria-hidden="true"><i></i><i></i><i></i></div>'
)
_N_LABEL_BUTTONS = 3
"""Number of labels with a button and a key. The others are in a list."""
_MAX_LABEL_ROWS = 60_000
"""Maximum rows for questions about labels, which take too long to choose for more."""
_MAX_LABEL_OFFERS = 2


@dataclass
class AskSession:
    """Questions and answers of one visitor, stored in the session."""

    context: tuple[object, ...] = ()  # The map and the datasets that the batch is about
    # Computed ahead, so that the next question is ready at once.
    batch: list[Question] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)  # Keys of questions not to ask again
    # The step of the workspace after each answer (for undo), and its question.
    answers: list[tuple[int, Question]] = field(default_factory=list)
    # n_since_refit, n_pending: Answers since the last refit, and those in the map being made.
    n_since_refit: int = 0
    n_pending: int = 0
    # By map: how many answers were new to it, and the share of items that moved.
    moved: dict[str, tuple[int, float]] = field(default_factory=dict)
    # What is known about the groups in question.
    learned: list[GroupSummary] = field(default_factory=list)
    is_continued: bool = False  # Whether to go on although more answers would gain little
    is_waiting: bool = False  # Whether the next batch is being computed
    # Result of `candidate_search` to ask about first, empty without any, None before the search.
    # Answers do not renew it, as a search after each one would keep the worker busy.
    likely_links: Mapping[str, Any] | None = None


@failure.show_failure("ask")
def show_card(state: State) -> None:
    """Show the next question about the open data on the shown map."""
    data, run = state.data, state.run
    ask_session = state_of(AskSession)
    theme.show_section("Ask me", _progress_text(data, state) if data is not None else "")
    if data is None or run is None:
        theme.show_note("Make a map first. Questions are about its doubtful spots.")
        return
    _record_move(state, run, ask_session)
    gains = _gains_ahead(state, data, run, ask_session)
    is_enough = bool(gains) and not any(gain.worth for gain in gains)
    question = None if is_enough else _next_question(state, data, run, ask_session, gains)
    pairs = [] if question is None else _question_pairs(data, question)
    likely_members = [] if question is None else _likely_members(data, ask_session, question)
    component.draw_proposals(
        pairs, "asked", "Guidance", n_asked=len(pairs), candidates=likely_members
    )
    with st.container(border=True, key="ask"):
        if is_enough:
            _show_stop(gains)
        elif question is None:
            if ask_session.is_waiting:
                # Room for a question, so that nothing below it moves.
                with st.container(key="ask-loading"):
                    st.html(_LOADING)
            else:
                theme.show_note("No more questions about this map.")
            if ask_session.is_waiting and ask_session.likely_links is None:
                st.fragment(run_every=_REFRESH_S)(_wait_for_links)(data)
        else:
            _show_question(data, question)
            if likely_members:
                theme.show_note(
                    "Rings on the map mark other likely members. Fuller rings are more certain."
                )
            elif question.statement:
                theme.show_note("A yes keeps this proposed link as yours. A no removes it.")
                theme.show_note(_share_right(state, data, question))
            elif question.kind in KINDS["links"]:
                theme.show_note("An answer moves these items. Labels also help with other items.")
        _show_controls(ask_session, question)
    _offer_labels(data)
    hint = stopping_hint(list(ask_session.moved.values()))
    if hint is not None:
        theme.show_note(hint)
    if ask_session.n_since_refit and background.running_job() is None:
        st.button(
            f"Refit with {theme.count(ask_session.n_since_refit, 'answer')}",
            key="ask-refit",
            on_click=_refit,
            help=f"This happens automatically after every {ANSWERS_PER_REFIT} answers.",
        )


def _gains_ahead(
    state: State, data: HeteroData, run: MapResult, ask_session: AskSession
) -> list[Gain]:
    """Return what more answers could gain, nothing while it is too early to stop."""
    if ask_session.is_continued or len(ask_session.answers) < MIN_ANSWERS:
        return []
    # Includes groups named by labels.
    learned = [
        GroupSummary.from_dict(group)
        for group in [*_similar_groups(state), *consequences.learned_groups(run)]
    ]
    kinds = _askable_kinds(state, run)
    gains = gains_ahead(state.guided or data, learned)
    return [gain for gain in gains if kinds & set(KINDS[gain.what])]


def _askable_kinds(state: State, run: MapResult) -> set[str]:
    """Return the kinds of questions the map can use, and labels."""
    data = state.data
    labels = data is not None and data.n_rows <= _MAX_LABEL_ROWS and bool(columns_to_ask(data))
    return {
        *_kinds_of_method(run),
        *(("member",) if LIKE in state.findings else ()),
        *(("label",) if labels else ()),
    }


def _similar_groups(state: State) -> list[Any]:
    finding = state.findings.get(LIKE)
    return [] if finding is None else list(finding.content["groups"])


def _show_stop(gains: list[Gain]) -> None:
    """Show that more answers would gain little, and why."""
    st.html('<p class="hv-question">Enough answers</p>')
    theme.show_note("More answers would make no noticeable difference:")
    lines = "".join(f"<li>{theme.escape_html(str(gain))}</li>" for gain in gains)
    st.html(f'<ul class="hv-reasons">{lines}</ul>')
    if all(gain.what not in ("groups", "labels") for gain in gains):
        theme.show_note(
            "Link three or more items as together to be asked what else belongs with them. Or give "
            "a few items two or more different labels to be asked which fit the others."
        )
    st.button("Keep asking", key="ask-on", on_click=_continue)


def _continue() -> None:
    state_of(AskSession).is_continued = True


def _offer_labels(data: HeteroData) -> None:
    """Offer to ask for missing labels of columns that came with the data."""
    if data.n_rows > _MAX_LABEL_ROWS or columns_to_ask(data):
        return
    for column in partly_filled_columns(data)[:_MAX_LABEL_OFFERS]:
        own_column = new_label_name(data)
        st.button(
            theme.escape_markdown(f"Ask for missing labels: {shorten(column.name, _NAME_CHARS)}"),
            key=f"ask-for-{column.dataset}-{column.name}",
            type="tertiary",
            on_click=_start_labels,
            args=(column, own_column),
            help=f"“{theme.escape_markdown(column.name)}” is known for {int(column.known.sum()):,} "
            f"of {len(column):,} {theme.escape_markdown(column.dataset)}. It is copied to "
            f"“{own_column}” for your answers. The original is not changed.",
        )


def _start_labels(column: Labels, own_column: str) -> None:
    """Copy a label column to one of the visitor's own and ask for its missing labels."""
    data = session.workspace().state.opened()
    ids = data[column.dataset].ids
    labelled = np.flatnonzero(column.known)
    values = {str(ids[row]): column.values[row] for row in labelled}
    if session.run_command(
        SetLabels(column.dataset, own_column, values, f"begun as {column.name}")
    ):
        ask_session = state_of(AskSession)
        ask_session.batch, ask_session.is_continued = [], True


def _show_question(data: HeteroData, question: Question) -> None:
    if question.kind == "label":
        _show_label_question(data, question)
        return
    text = _QUESTION_TEXTS.get(question.kind, "Do these two belong together?")
    if question.label[0]:
        text = f"Is it “{theme.escape_html(question.label[1])}”, like these?"
    st.html(f'<p class="hv-question">{text}</p>')
    rows, lines = question.rows, [_item_text(data, row) for row in question.rows]
    if question.kind in _QUESTION_TEXTS:
        st.html(item_chip.cards_html(data, rows[:1], lines[:1]))
        # A line equal to the first is not repeated.
        rows, lines = rows[1:], ["" if line == lines[0] else line for line in lines[1:]]
    st.html(item_chip.cards_html(data, rows, lines))
    labels = ("Left", "Right") if question.kind == "comparison" else ("Yes", "No")
    for column, answer, label in zip(
        st.columns(2, gap="small"), ("yes", "no"), labels, strict=True
    ):
        column.button(
            label,
            key=f"ask-{answer}",
            width="stretch",
            shortcut=_SHORTCUTS[answer],
            on_click=_answer,
            args=(question, answer),
        )
    theme.show_note(question.why)


def _show_label_question(data: HeteroData, question: Question) -> None:
    """Show an item with the likeliest labels, and a list of all that accepts new ones."""
    st.html(f'<p class="hv-question">{_QUESTION_TEXTS["label"]}</p>')
    row = question.rows[0]
    st.html(item_chip.cards_html(data, [row], [_item_text(data, row)]))
    with st.container(key="ask-options", gap="small"):
        for number, option in enumerate(question.options[:_N_LABEL_BUTTONS], 1):
            st.button(
                theme.escape_markdown(shorten(str(option), _NAME_CHARS)),
                key=f"ask-option-{number}",
                width="stretch",
                shortcut=str(number),
                on_click=_answer,
                args=(question, option),
            )
        st.selectbox(
            "Another label",
            [str(option) for option in question.options[_N_LABEL_BUTTONS:]],
            index=None,
            placeholder="Another: choose or write",
            key=f"ask-another-{question.rows[0]}",
            accept_new_options=True,
            label_visibility="collapsed",
            on_change=_answer_other_label,
            args=(question,),
        )
    name = question.items[0][0]
    column = next(
        (
            label
            for label in data.labels
            if (label.dataset, label.name) == (name, question.label[0])
        ),
        None,
    )
    n_known = 0 if column is None else int(column.known.sum())
    theme.show_note(
        f"{question.why} “{question.label[0]}” is known for {n_known:,} of {len(data[name]):,} "
        f"{name}."
    )


def _answer_other_label(question: Question) -> None:
    answer = st.session_state.get(f"ask-another-{question.rows[0]}")
    if answer and str(answer).strip():
        _answer(question, str(answer).strip())


def _question_pairs(data: HeteroData, question: Question) -> list[tuple[int, int, str, str]]:
    """Return the pairs of a question for the map: the first item with each other one."""
    first, *others = question.rows
    # For a single item the map shows a ring and its name.
    others = others or [first]
    # Arrow keys that choose each of the two.
    keys = (" ←", " →") if question.kind == "comparison" else ("",) * len(others)
    title = shorten(find_item(data, first).title, _NAME_CHARS)
    return [
        (first, other, title, shorten(find_item(data, other).title, _NAME_CHARS) + key)
        for other, key in zip(others, keys, strict=True)
    ]


def _likely_members(
    data: HeteroData, ask_session: AskSession, question: Question
) -> list[tuple[int, float]]:
    """Return further likely members of the group in question, with their probability."""
    if question.kind != "member":
        return []
    name, named_id = question.items[1]
    answered = {other.rows[0] for _, other in ask_session.answers} | {question.rows[0]}
    members: list[tuple[int, float]] = []
    for group in ask_session.learned:
        if (group.dataset, group.label) == (name, question.label) and named_id in group.named:
            rows = data[name].find([id_ for id_, _ in group.to_ask]) + data.offsets[name].start
            members += zip(
                rows.tolist(), (probability for _, probability in group.to_ask), strict=True
            )
    # Items missing from the data have a row before the first of their dataset.
    first = data.offsets[name].start
    return [
        (row, round(probability, 3))
        for row, probability in members
        if row >= first and row not in answered
    ]


def _item_text(data: HeteroData, row: int) -> str:
    item = find_item(data, row)
    text = (item.dataset.recipe or {}).get("text")
    table = item.dataset.table
    if table is not None and isinstance(text, str) and text in table.columns:
        words = str(table[text].iloc[item.row])
        if words and words != item.title:
            ellipsis = "…" if len(words) > _TEXT_CHARS else ""
            return f"{item.dataset.name}: {words[:_TEXT_CHARS]}{ellipsis}"
    return item.dataset.name


def _show_controls(ask_session: AskSession, question: Question | None) -> None:
    with st.container(horizontal=True, gap="small", key="ask-below"):
        st.button(
            "Not sure",
            key="ask-skip",
            type="tertiary",
            shortcut=_SHORTCUTS["skip"],
            disabled=question is None,
            on_click=ask_session.skipped.add,
            args=("" if question is None else question.key,),
        )
        can_undo = (
            bool(ask_session.answers) and session.workspace().steps == ask_session.answers[-1][0]
        )
        st.button(
            "Undo answer",
            key="ask-undo",
            type="tertiary",
            shortcut=_SHORTCUTS["undo"],
            disabled=not can_undo,
            on_click=_undo,
            args=(session.workspace().steps,),
        )


def _share_right(state: State, data: HeteroData, question: Question) -> str:
    """Return how many of the proposed links like that of a question are right by the answers."""
    (source, first), (target, second) = question.items
    for (kind, *ends), proposed in state.proposed.items():
        if ends != [source, target] or (first, second) not in proposed.similarity:
            continue
        place = [kind, *ends]
        groups = [one for one in data.links if [one.kind, one.source, one.target] == place]
        n_answers = len(proposed.answers.keys() & proposed.similarity.keys())
        missing = LINK_ANSWERS - n_answers
        if missing > 0:
            return f"After {theme.count(missing, 'more answer')}, the others are weighted by them."
        weight = np.concatenate([links.weight for links in groups])
        share = round_percent(float(weight.mean()))
        return f"By your {n_answers:,} answers, about {share} of those left are right."
    return ""


def _progress_text(data: HeteroData, state: State) -> str:
    """Return how many answers there are, and how many of them are yes."""
    is_answer = set_mask(data, ASKED)
    # Links that an answer removed are no longer in the data.
    n_removed = sum(len(proposed.removed) for proposed in state.proposed.values())
    n_answers = int(is_answer.sum()) + n_removed
    if not n_answers:
        return ""
    weight = np.concatenate([np.empty(0), *(links.weight for links in data.links)])
    n_yes = int((is_answer[: len(weight)] & (weight > 0)).sum())
    words = f"{n_answers:,} answered"
    is_any_link = is_answer[: len(weight)].any() or n_removed
    return f"{words}, {n_yes:,} of them yes" if is_any_link else words


def _next_question(
    state: State, data: HeteroData, run: MapResult, ask_session: AskSession, gains: list[Gain]
) -> Question | None:
    """Return the first open question, or request more when none is left."""
    sizes = tuple((name, len(part)) for name, part in data.datasets.items())
    findings = [state.findings.get(kind) for kind in (LIKE, LINKS)]
    context = (sizes, run.id, *("" if finding is None else finding.when for finding in findings))
    if ask_session.context != context:
        # The question on screen stays, as its answer must not go to another one.
        same_items = ask_session.context[:1] == context[:1]
        ask_session.context, ask_session.batch = (
            context,
            ask_session.batch[:1] if same_items else [],
        )
        ask_session.likely_links = None
    skipped = ask_session.skipped | _removed_keys(state)
    ask_session.batch = still_open(data, ask_session.batch, skipped)
    embedding = charts.embedding_of(state, run)
    ask_session.is_waiting = False
    if not ask_session.batch and embedding is not None:
        candidates = _likely_links(state, data, ask_session)
        if candidates is None:
            ask_session.is_waiting = True
            return None
        groups = [*_similar_groups(state), *consequences.learned_groups(run)]
        kinds = _askable_kinds(state, run)
        worth = {kind for gain in gains if gain.worth for kind in KINDS[gain.what]}
        ask_session.learned = [GroupSummary.from_dict(group) for group in groups]
        options: dict[str, Any] = {
            "n": BATCH_SIZE,
            "skip": sorted(skipped),
            "kinds": sorted(kinds & worth or kinds),
            "candidates": candidates,
            "learned": ask_session.learned,
        }
        key = (
            "questions",
            context,
            options["kinds"],
            options["skip"][-1:],
            len(skipped),
        )
        arguments = {"embedding": embedding, **options}
        questions = worker_results.fetch_from_worker(
            project_id(), data, repr(key), "choose-questions", arguments, embedding
        )
        ask_session.is_waiting = questions is None
        ask_session.batch = list(questions or ())
    return ask_session.batch[0] if ask_session.batch else None


def _removed_keys(state: State) -> set[str]:
    """Return the keys of questions whose proposed links an answer removed."""
    return {
        Question("link", (), ((source, first), (target, second)), "", "", 0.0).key
        for (_, source, target), proposed in state.proposed.items()
        for first, second in proposed.removed
    }


def _likely_links(
    state: State, data: HeteroData, ask_session: AskSession
) -> list[tuple[int, int, float]] | None:
    """Return likely links from Predict, else from a search now, or None while it runs."""
    finding = state.findings.get(LINKS)
    if finding is None and ask_session.likely_links is None:
        search = _search_links(data)
        if not search.is_finished:
            return None
        ask_session.likely_links = search.content
    content = ask_session.likely_links if finding is None else finding.content
    if not content:
        return []
    source, target = content["source"], content["target"]
    if source not in data.datasets or target not in data.datasets or source == target:
        return []
    records = content["candidates"]
    p = data[source].find([record["source_id"] for record in records])
    q = data[target].find([record["target_id"] for record in records])
    first, second = data.offsets[source].start, data.offsets[target].start
    return [
        (first + int(i), second + int(j), float(record["score"]))
        for i, j, record in zip(p, q, records, strict=True)
        if i >= 0 and j >= 0
    ]


def _search_links(data: HeteroData) -> candidate_search.CandidateSearch:
    """Return likely links between the two datasets with most links."""
    pairs = candidate_search.linked_pairs(data)
    if not pairs or pairs[0][0] == pairs[0][1] or candidate_search.is_too_large(data, *pairs[0]):
        return candidate_search.CandidateSearch(problem="No search without a request.")
    return candidate_search.search_candidates(data, *pairs[0])


def _wait_for_links(data: HeteroData) -> None:
    """Rerun the page once the likely links are found."""
    if _search_links(data).is_finished:
        st.rerun()


def _kinds_of_method(run: MapResult) -> tuple[str, ...]:
    """Return the kinds of answers that the shown method can use."""
    if not is_method(run.method):
        return ("member", "link", "pair")
    capabilities = get_method(run.method).card.capabilities
    uses = {
        "link": Capability.LINKS,
        "member": Capability.WITHIN_LINKS,
        "pair": Capability.WITHIN_LINKS,
        "comparison": Capability.COMPARISONS,
    }
    return tuple(kind for kind, capability in uses.items() if capability in capabilities) or (
        "member",
        "link",
        "pair",
    )


def _answer(question: Question, answer: LabelValue) -> None:
    ask_session = state_of(AskSession)
    # Old buttons may receive a key while the page is redrawn, which would count it twice.
    if any(question.key == answered.key for _, answered in ask_session.answers):
        return
    if question.kind == "member" and question.label[0] and answer == "no":
        ask_session.skipped.add(question.key)
        return
    if not session.run_command(from_dict(question.answer(answer))):
        return
    ask_session.answers.append((session.workspace().steps, question))
    if question.label[0]:
        # Labels do not move the map.
        return
    ask_session.n_since_refit += 1
    if ask_session.n_since_refit >= ANSWERS_PER_REFIT:
        _refit()


def _refit() -> None:
    ask_session = state_of(AskSession)
    if background.refit(session.workspace().state):
        ask_session.n_pending, ask_session.n_since_refit = ask_session.n_since_refit, 0


def _undo(steps: int) -> None:
    ask_session = state_of(AskSession)
    if (
        not ask_session.answers
        or not steps == ask_session.answers[-1][0] == session.workspace().steps
    ):
        return
    if not session.undo():
        return
    _, question = ask_session.answers.pop()
    ask_session.batch.insert(0, question)
    ask_session.n_since_refit = max(ask_session.n_since_refit - 1, 0)


def _record_move(state: State, run: MapResult, ask_session: AskSession) -> None:
    """Record how much a map made from answers moved."""
    if run.id in ask_session.moved or not ask_session.n_pending:
        return
    distances = consequences.moved_distances(state, run)
    if distances is None:
        return
    present = distances[np.isfinite(distances)]
    if len(present):
        ask_session.moved[run.id] = (ask_session.n_pending, float((present >= MIN_SHIFT).mean()))
        ask_session.n_pending = 0
