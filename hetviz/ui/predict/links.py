"""Link prediction: candidates with evidence, questions about them, and tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.plots.predicted_links import (
    MODEL_NAMES,
    known_links_table,
    percent_with_error,
    precision_alt,
    precision_figure,
)
from hetviz.runs.predict.link_settings import STACK
from hetviz.ui.item import item_chip, pair_list
from hetviz.ui.item.item import rows_of_ids
from hetviz.ui.map.component import component
from hetviz.ui.predict import link_form, link_list
from hetviz.ui.predict.link_list import LinkCandidate
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.statements import candidate_search
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, State

KIND = "links"
_ANSWERS_PER_SEARCH, _MIN_ANSWERS = 5, 10
_REFRESH_S = 0.7
_NAME_CHARS = 60
_CODE_NAME = re.compile(r"[a-z]{0,2}_?\d+\Z")


@dataclass
class _AnswerSession:
    """Answers of one visitor about two datasets, stored in the session."""

    finding: Finding | None = None  # Candidates found without a request
    n_answers: int = 0  # Number of answers at that time
    skipped: set[tuple[str, str]] = field(default_factory=set)  # Ids of skipped pairs
    # Predicted probability of pairs answered here.
    expected: dict[tuple[str, str], float] = field(default_factory=dict)
    # Step of the workspace after each answer, for undo.
    steps: list[int] = field(default_factory=list)


@dataclass
class _AnswerSessions:
    """Answers by pair of datasets."""

    by_pair: dict[tuple[str, str], _AnswerSession] = field(default_factory=dict)


def show(state: State) -> None:
    """Show the section, candidates first and the form below."""
    data = state.guided
    if data is None or state.data is None:
        return
    source, target = link_form.chosen_datasets(state.data)
    answer_session = _answer_session(source, target)
    finding = _requested_finding(state, source, target)
    is_tested = finding is not None
    if finding is None:
        finding = _search_unasked(data, source, target, answer_session)
    candidates = (
        []
        if finding is None
        else _skipped_last(link_list.open_candidates(state, finding), answer_session)
    )
    main_column, side_column = st.columns([1.75, 1], gap="large")
    with main_column:
        if finding is None:
            component.draw_proposals([], "proposed", "Predict")
        else:
            _show_headline(state, finding, candidates, is_tested)
            _show_question(state, finding, candidates, answer_session)
            if candidates:
                with st.expander(f"All {theme.count(len(candidates), 'candidate')}"):
                    link_list.show_list(state, finding, candidates)
    with side_column:
        if finding is not None:
            _show_test(finding.content)
        if candidates or (
            (source, target) in _linked_pairs(data)
            and not candidate_search.is_too_large(data, source, target)
        ):
            with st.popover("Options and tests", type="tertiary", key="links-other"):
                link_form.show_form(state)
        else:
            link_form.show_form(state)


def _answer_session(source: str, target: str) -> _AnswerSession:
    sessions = state_of(_AnswerSessions).by_pair
    return sessions.setdefault((source, target), _AnswerSession())


def _skipped_last(
    candidates: list[LinkCandidate], answer_session: _AnswerSession
) -> list[LinkCandidate]:
    return sorted(candidates, key=lambda candidate: candidate.ids in answer_session.skipped)


def shown_finding(state: State) -> Finding | None:
    """Return the candidates of the chosen datasets, requested or not."""
    if state.data is None:
        return None
    source, target = link_form.chosen_datasets(state.data)
    requested = _requested_finding(state, source, target)
    return requested or _answer_session(source, target).finding


def _requested_finding(state: State, source: str, target: str) -> Finding | None:
    finding = state.findings.get(KIND)
    if finding is None or (finding.content["source"], finding.content["target"]) != (
        source,
        target,
    ):
        return None
    return finding


def _search_unasked(
    data: HeteroData, source: str, target: str, answer_session: _AnswerSession
) -> Finding | None:
    """Return candidates found without a request, or show why there are none."""
    # The search runs again after every few answers and after other changes. The previous candidates
    # stay until then.
    previous, n_answers = answer_session.finding, sum(_count_answers(data, source, target))
    is_outdated = previous is None or previous.fingerprint != data.fingerprint()
    if previous is not None and is_outdated:
        is_outdated = (
            n_answers - answer_session.n_answers >= _ANSWERS_PER_SEARCH
            or n_answers == answer_session.n_answers
        )
    if not is_outdated:
        return previous
    if (source, target) not in _linked_pairs(data):
        theme.show_headline(
            "No link to learn from",
            f"No link between {source} and {target} is known. Choose other datasets, or a method "
            "that needs no links.",
        )
        return None
    if candidate_search.is_too_large(data, source, target):
        theme.show_headline(
            "Links that may be missing",
            "The data are large, so the search starts only when you press Find links.",
        )
        return None
    search = candidate_search.search_candidates(data, source, target)
    if search.content:
        title = str(search.content["title"])
        answer_session.finding = Finding(
            KIND, title, search.content, data.fingerprint(), (), "unasked"
        )
        answer_session.n_answers = n_answers
        return answer_session.finding
    if search.problem:
        theme.show_headline("No candidates", search.problem)
        return previous
    if previous is None:
        theme.show_headline("Looking for links", "They appear here as soon as they are ranked.")
    st.fragment(run_every=_REFRESH_S)(_wait_for_candidates)(data, source, target, previous is None)
    return previous


def _wait_for_candidates(data: HeteroData, source: str, target: str, show_bar: bool) -> None:
    """Rerun the page once the candidates are ready."""
    search = candidate_search.search_candidates(data, source, target)
    if search.is_finished:
        st.rerun()
    if show_bar:
        st.progress(min(search.fraction, 1.0))


def _linked_pairs(data: HeteroData) -> set[tuple[str, str]]:
    pairs = candidate_search.linked_pairs(data)
    return {*pairs, *((q, p) for p, q in pairs)}


def _count_answers(data: HeteroData, source: str, target: str) -> tuple[int, int]:
    """Return how many candidates of two datasets were accepted, and how many rejected."""
    count = {link_list.ACCEPTED: 0, link_list.REJECTED: 0}
    for links in data.links:
        if links.kind in count and {links.source, links.target} == {source, target}:
            count[links.kind] += len(links)
    return count[link_list.ACCEPTED], count[link_list.REJECTED]


def _show_question(
    state: State, finding: Finding, candidates: list[LinkCandidate], answer_session: _AnswerSession
) -> None:
    """Ask about the first candidate, with the evidence for and against it."""
    data = state.data
    if data is None or not candidates:
        component.draw_proposals([], "proposed", "Predict")
        return
    first = candidates[0]
    pairs = [
        (*candidate.rows, *candidate.titles) for candidate in candidates[: link_list.PAGE_SIZE]
    ]
    component.draw_proposals(pairs, "proposed", "Predict")
    with st.container(border=True, key="ask-pair"):
        st.html(item_chip.cards_html(data, first.rows))
        answers = (("Accept", "accept", "y", True), ("Reject", "reject", "n", False))
        for column, (label, key, letter, together) in zip(
            st.columns(2, gap="small"), answers, strict=True
        ):
            column.button(
                label,
                key=f"{key}-pair",
                width="stretch",
                shortcut=letter,
                on_click=_answer,
                args=(finding, first, together, answer_session),
            )
        with st.container(horizontal=True, gap="small", key="ask-pair-below"):
            st.button(
                "Skip",
                key="later-pair",
                type="tertiary",
                shortcut="s",
                on_click=answer_session.skipped.add,
                args=(first.ids,),
            )
            can_undo = (
                bool(answer_session.steps) and session.workspace().steps == answer_session.steps[-1]
            )
            st.button(
                "Undo answer",
                key="undo-pair",
                type="tertiary",
                shortcut="u",
                disabled=not can_undo,
                on_click=_undo,
                args=(answer_session,),
            )
    st.html(evidence_html(data, finding.content, first))
    theme.show_note(_precision_text(data, finding.content, candidates, answer_session))


def _answer(
    finding: Finding, candidate: LinkCandidate, together: bool, answer_session: _AnswerSession
) -> None:
    # Old buttons may receive a key while the page is redrawn, which would count it twice.
    candidates = link_list.open_candidates(session.workspace().state, finding)
    if candidate.ids not in {other.ids for other in candidates}:
        return
    if link_list.add_links(finding, [candidate], together):
        answer_session.expected[candidate.ids] = float(candidate.record["score"])
        answer_session.steps.append(session.workspace().steps)


def _undo(answer_session: _AnswerSession) -> None:
    if not answer_session.steps or session.workspace().steps != answer_session.steps[-1]:
        return
    if session.undo():
        answer_session.steps.pop()
        answer_session.expected.popitem()


def _precision_text(
    data: HeteroData,
    content: Mapping[str, Any],
    candidates: list[LinkCandidate],
    answer_session: _AnswerSession,
) -> str:
    """Return how often the candidates were right, once there are enough answers."""
    n_right, n_wrong = _count_answers(data, content["source"], content["target"])
    n_answers = n_right + n_wrong
    if not n_answers:
        return "Answers are saved right away. You can undo them."
    if n_answers < _MIN_ANSWERS:
        missing = theme.count(_MIN_ANSWERS - n_answers, "more answer")
        return f"{n_right} of {n_answers} candidates were right. {missing} show the precision."
    text = (
        f"Precision so far: {100 * n_right / n_answers:.0f} % "
        f"({n_right} of {n_answers} candidates were right)."
    )
    if not content["by_map"] and len(answer_session.expected) == n_answers:
        text += f" The expected number was {sum(answer_session.expected.values()):.1f}."
    return text


def _show_headline(
    state: State, finding: Finding, candidates: list[LinkCandidate], is_tested: bool
) -> None:
    content = finding.content
    datasets = f"between {content['source']} and {content['target']}"
    if content["source"] == content["target"]:
        datasets = f"among {content['source']}"
    if candidates:
        first = candidates[0]
        ends = (
            f"{content['source']} “{first.titles[0]}”",
            f"{content['target']} “{first.titles[1]}”",
        )
        title = f"Should {ends[0]} be linked to {ends[1]}?"
    elif any(content["once"]) and not content["candidates"]:
        linked_once, other = content["source"], content["target"]
        if not content["once"][0]:
            linked_once, other = other, linked_once
        title = f"Every item of {linked_once} already has its link"
        theme.show_headline(
            title, f"In the known links, each item has only one partner in {other}."
        )
        return
    else:
        title = f"No candidates left {datasets}"
    method = "known links and similarity" if content["method"] == STACK else content["title"]
    text = f"From {method}, {datasets}."
    if candidates and not content["by_map"] and content["method"] == STACK:
        text = f"{100 * candidates[0].record['score']:.0f} % of such pairs are linked. {text}"
    theme.show_headline(
        title,
        " ".join([text, _test_text(content)]) if is_tested else text,
        theme.evidence_key("link-candidates") if content["candidates"] else "",
    )
    if is_tested and (state.guided is None or finding.fingerprint != state.guided.fingerprint()):
        theme.show_note("Found before the data changed. Find links again to use the new data.")


def _test_text(content: Mapping[str, Any]) -> str:
    """Return how far to trust the ranking."""
    test = content["test"]
    if test is None:
        if content["hold_out"]:
            return "No link between them is known, so this is not tested."
        return "Not tested."
    at_ten = {
        key: next((row[1] for row in rows if row[0] == 10), None)
        for key, rows in test["precision"].items()
    }
    own_precision, chance = at_ten.get("method"), at_ten.get("chance")
    if own_precision is None or chance is None:
        return ""
    share_hidden = f"{content['hold_out']:.0%}".replace("%", " %")
    text = (
        f"With {share_hidden} of the links hidden, {10 * own_precision:.1f} of the best 10 pairs "
        f"were hidden links. By chance it would be {10 * chance:.2f}."
    )
    baseline = at_ten.get("profiles")
    if baseline is not None:
        text += f" By {MODEL_NAMES['profiles']} it would be {10 * baseline:.1f}."
        if baseline > own_precision:
            text += " The plain guess is better."
    return text


def _show_test(content: Mapping[str, Any]) -> None:
    test = content["test"]
    if test is None:
        return
    theme.show_section(
        "Hidden links found again",
        theme.count(test["n_links"], "hidden link"),
        theme.evidence_key("link-test"),
    )
    charts.show_figure(
        precision_figure(test["precision"], session.theme()),
        "links-precision",
        precision_alt(test["precision"]),
    )
    unseen = (test.get("unseen") or {}).get("auc", {})
    rows = [
        [
            MODEL_NAMES[key],
            percent_with_error(value),
            percent_with_error(unseen[key]) if key in unseen else "–",
        ]
        for key, value in test["auc"].items()
    ]
    theme.show_table(
        ["Hidden link ranked above another pair, %", "hidden links", "hidden items"], rows
    )
    _show_by_known_links(test)
    basis = "its own scores" if test.get("own_scores", True) else "how close pairs are on its map"
    theme.show_note(
        f"Ranked by {basis}. Hidden links: single links were hidden. Hidden items: all links of "
        f"some {content['source']} were hidden."
    )
    with st.expander("About these numbers"):
        theme.show_note(
            f"In each of {test['repeats']} tests some links were hidden, the method was fitted "
            f"to the others, and all {test['n_pairs']:,} pairs without a remaining link were "
            "ranked. Pairs without a link count as wrong here, though some may be right, so "
            "the true shares are higher. “Links of similar items” guesses from the links of items "
            "with the most similar features. ± is one standard error."
        )


def _show_by_known_links(test: Mapping[str, Any]) -> None:
    """Show the test by the number of known links of an item, if its finding has it."""
    table = known_links_table(test)
    if len(table):
        theme.show_table(list(table.columns), table.to_numpy().tolist())
        theme.show_note(
            "Last two columns: hidden link ranked above another pair of the same row, %. "
            "The fewer links are known, the less sure is a candidate."
        )


def evidence_html(data: HeteroData, content: Mapping[str, Any], candidate: LinkCandidate) -> str:
    """Return HTML of the evidence for and against a candidate of a finding."""
    source, target = content["source"], content["target"]
    a, b = (theme.escape_html(shorten(title, _NAME_CHARS)) for title in candidate.titles)
    record = candidate.record

    similar_linked = rows_of_ids(data, source, record.get("alike_linked", ()))
    similar_unlinked = rows_of_ids(data, source, record.get("alike_not_linked", ()))
    pros, cons = [], []
    if similar_linked:
        features = [
            name for name in record.get("shared_features", ()) if not _CODE_NAME.match(name)
        ]
        by_features = f", by {theme.escape_html(theme.join_words(features))}" if features else ""
        items = pair_list.inline_html(data, similar_linked)
        pros.append(
            f"{items} {pair_list.verb_be(similar_linked)} linked with {b} and similar to {a}"
            f"{by_features}."
        )
    known_links = []
    for k, other in record.get("carried_by", ()):
        ends = rows_of_ids(data, source, [k]), rows_of_ids(data, target, [other])
        if all(ends):
            known_links.append(" with ".join(pair_list.inline_html(data, rows) for rows in ends))
    if known_links:
        pros.append(f"Known links that count most: {', '.join(known_links)}.")
    if not similar_linked and not known_links:
        if candidate.evidence[1]:
            pros.append(
                f"{pair_list.inline_html(data, candidate.evidence[1])} "
                f"{pair_list.verb_be(candidate.evidence[1])} linked with {b}."
            )
        if candidate.evidence[0]:
            pros.append(f"{a} is linked with {pair_list.inline_html(data, candidate.evidence[0])}.")
    if similar_unlinked:
        items = pair_list.inline_html(data, similar_unlinked)
        cons.append(
            f"{items} {pair_list.verb_be(similar_unlinked)} also similar to {a}, but linked with "
            "others only."
        )
    for title, linked in ((a, candidate.evidence[0]), (b, candidate.evidence[1])):
        if not linked:
            cons.append(f"{title} has no link yet, so this relies on similarity alone.")
    parts = [
        f"<dt>{heading}</dt><dd>{'</dd><dd>'.join(lines)}</dd>"
        for heading, lines in (("For", pros), ("Against", cons))
        if lines
    ]
    return f'<dl class="hv-reason">{"".join(parts)}</dl>'
