"""Links that nobody has given yet: what was found, how sure it is, and what to do with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.errors import HetvizError
from hetviz.plots.predicted_links import WORDS, precision_alt, precision_figure
from hetviz.runs.predict.link_predictor import STACK
from hetviz.ui.map.component import component
from hetviz.ui.predict import link_form, link_list, quick
from hetviz.ui.predict.link_list import Candidate
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import item_chip, pair_list
from hetviz.workspace import Finding, State

KIND = "links"
_EVERY, _ENOUGH = 5, 10
_BEAT = 0.7
_NAME = 60
_CODE = re.compile(r"[a-z]{0,2}_?\d+\Z")


@dataclass
class _Asked:
    """What this visitor was asked about two datasets; kept in the session.

    Attributes
    ----------
    finding : Finding, optional
        Candidates worked out unasked.
    answers : int
        How many answers there were when they were.
    later : set of (str, str)
        Ids of pairs put off.
    expected : dict of (str, str) to float
        Of pairs answered here, the probability that they were linked.
    steps : list of int
        Steps of the workspace after each answer, by which undo knows its own.
    """

    finding: Finding | None = None
    answers: int = 0
    later: set[tuple[str, str]] = field(default_factory=set)
    expected: dict[tuple[str, str], float] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)


def show(state: State) -> None:
    """Show the section: candidates first, the choices below them."""
    data = state.guided
    if data is None or state.data is None:
        return
    source, target = link_form.chosen(state.data)
    asked = _asked(source, target)
    kept = state.findings.get(KIND)
    if kept is not None and (kept.content["source"], kept.content["target"]) != (source, target):
        kept = None
    tested = kept is not None
    if kept is None:
        kept = _unasked(data, source, target, asked)
    left = [] if kept is None else _in_order(link_list.candidates(state, kept), asked)
    wide, narrow = st.columns([1.75, 1], gap="large")
    with wide:
        if kept is None:
            component.proposals([], "proposed", "Predict")
        else:
            _headline(state, kept, left, tested)
            _question(state, kept, left, asked)
            if left:
                with st.expander(f"All {theme.count(len(left), 'candidate')}"):
                    link_list.show(state, kept, left)
    with narrow:
        if kept is not None:
            _test(kept.content)
        if left or (
            (source, target) in _joined(data) and not quick.too_large(data, source, target)
        ):
            with st.popover(_between(source, target), type="tertiary", key="links-other"):
                link_form.show(state)
        else:
            link_form.show(state)


def _between(source: str, target: str) -> str:
    words = f"among {source}" if source == target else f"between {source} and {target}"
    return theme.plain(f"Links {words}: choose, and test")


def _asked(source: str, target: str) -> _Asked:
    every = st.session_state.setdefault("predict-asked", {})
    found: _Asked = every.setdefault((st.session_state["sid"], source, target), _Asked())
    return found


def _in_order(left: list[Candidate], asked: _Asked) -> list[Candidate]:
    """Return candidates, those put off behind the others."""
    return sorted(left, key=lambda one: one.ids in asked.later)


def _unasked(data: HeteroData, source: str, target: str, asked: _Asked) -> Finding | None:
    """Return what was found unasked; until there is something, say why.

    After every few answers, and whenever something else was changed, they are looked for anew;
    those from before stay until then.
    """
    before, now = asked.finding, sum(_answers(data, source, target))
    changed = before is None or before.fingerprint != data.fingerprint()
    if before is not None and changed:
        changed = now - asked.answers >= _EVERY or now == asked.answers
    if not changed:
        return before
    if (source, target) not in _joined(data):
        theme.headline(
            "No link to learn from",
            f"No link between {source} and {target} is known. Choose other datasets, or a method "
            "that needs none.",
        )
        return None
    if quick.too_large(data, source, target):
        theme.headline(
            "Links that may be missing",
            "There are many items, so the search starts when you ask for it.",
        )
        return None
    found = quick.candidates(data, source, target)
    if found.content:
        title = str(found.content["title"])
        asked.finding = Finding(KIND, title, found.content, data.fingerprint(), (), "unasked")
        asked.answers = now
        return asked.finding
    if found.problem:
        theme.headline("No candidates", found.problem)
        return before
    if before is None:
        theme.headline("Looking for links", "They appear here as soon as they are ranked.")
    st.fragment(run_every=_BEAT)(_wait)(data, source, target, before is None)
    return before


def _wait(data: HeteroData, source: str, target: str, shown: bool) -> None:
    """Look whether the candidates are there."""
    found = quick.candidates(data, source, target)
    if found.over:
        st.rerun()
    if shown:
        st.progress(min(found.fraction, 1.0))


def _joined(data: HeteroData) -> set[tuple[str, str]]:
    pairs = quick.linked_pairs(data)
    return {*pairs, *((q, p) for p, q in pairs)}


def _answers(data: HeteroData, source: str, target: str) -> tuple[int, int]:
    """Return how many candidates between two datasets were accepted, and how many rejected."""
    count = {link_list.ACCEPTED: 0, link_list.REJECTED: 0}
    for links in data.links:
        if links.kind in count and {links.source, links.target} == {source, target}:
            count[links.kind] += len(links)
    return count[link_list.ACCEPTED], count[link_list.REJECTED]


def _question(state: State, kept: Finding, left: list[Candidate], asked: _Asked) -> None:
    """Ask about the first candidate, with what speaks for it and against it."""
    data = state.data
    if data is None or not left:
        component.proposals([], "proposed", "Predict")
        return
    first = left[0]
    shown = [(*one.rows, *one.titles) for one in left[: link_list.A_PAGE]]
    component.proposals(shown, "proposed", "Predict")
    with st.container(border=True, key="ask-pair"):
        st.html(item_chip.faces(data, first.rows))
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
                args=(kept, first, together, asked),
            )
        with st.container(horizontal=True, gap="small", key="ask-pair-below"):
            st.button(
                "Later",
                key="later-pair",
                type="tertiary",
                shortcut="s",
                on_click=asked.later.add,
                args=(first.ids,),
            )
            mine = bool(asked.steps) and session.workspace().steps == asked.steps[-1]
            st.button(
                "Undo answer",
                key="undo-pair",
                type="tertiary",
                shortcut="u",
                disabled=not mine,
                on_click=_undo,
                args=(asked,),
            )
    st.html(reasons(data, kept.content, first))
    theme.quiet(_precision(data, kept.content, left, asked))


def _answer(kept: Finding, one: Candidate, together: bool, asked: _Asked) -> None:
    # While a page is drawn anew its old buttons may still hear a key, and it would count twice.
    open_ = link_list.candidates(session.workspace().state, kept)
    if one.ids not in {other.ids for other in open_}:
        return
    if link_list.say(kept, [one], together):
        asked.expected[one.ids] = float(one.record["score"])
        asked.steps.append(session.workspace().steps)


def _undo(asked: _Asked) -> None:
    if not asked.steps or session.workspace().steps != asked.steps[-1]:
        return
    try:
        session.workspace().undo()
    except HetvizError as error:
        session.tell(str(error))
        return
    asked.steps.pop()
    asked.expected.popitem()


def _precision(
    data: HeteroData, content: Mapping[str, Any], left: list[Candidate], asked: _Asked
) -> str:
    """Say how often the candidates were right, once there is something to say."""
    yes, no = _answers(data, content["source"], content["target"])
    judged = yes + no
    if not judged:
        return "Nothing is asked of you: what you answer is kept at once, and can be undone."
    if judged < _ENOUGH:
        more = theme.count(_ENOUGH - judged, "answer")
        return f"{judged} judged, {yes} of them right. After {more} more it says how far to trust."
    words = (
        f"Precision so far: {yes} of {judged} candidates were right, {100 * yes / judged:.0f} %."
    )
    if not content["by_map"] and len(asked.expected) == judged:
        words += f" It had expected {sum(asked.expected.values()):.1f}."
    return words


def _headline(state: State, kept: Finding, left: list[Candidate], tested: bool) -> None:
    content = kept.content
    between = f"between {content['source']} and {content['target']}"
    if content["source"] == content["target"]:
        between = f"among {content['source']}"
    if left:
        first = left[0]
        title = f"“{first.titles[0]}” and “{first.titles[1]}” look most like a missing link"
    elif any(content["once"]) and not content["candidates"]:
        one, other = content["source"], content["target"]
        if not content["once"][0]:
            one, other = other, one
        title = f"Every item of {one} has its one link"
        theme.headline(title, f"The known links say that each goes with one of {other} only.")
        return
    else:
        title = f"Nothing is left to judge {between}"
    by = "known links and likeness" if content["method"] == STACK else content["title"]
    words = f"By {by}, {between}."
    if left and not content["by_map"] and content["method"] == STACK:
        words = f"{100 * left[0].record['score']:.0f} in 100 such pairs are linked. {words}"
    theme.headline(title, " ".join([words, _in_words(content)]) if tested else words)
    if tested and (state.guided is None or kept.fingerprint != state.guided.fingerprint()):
        theme.quiet("Found before the data changed. Find links again to use what you said since.")


def _in_words(content: Mapping[str, Any]) -> str:
    """Say how far to trust the ranking."""
    test = content["test"]
    if test is None:
        if content["hold_out"]:
            return "No link between them is known, so nothing tells how far to trust this."
        return "Not tested, so nothing tells how far to trust this."
    at_ten = {
        key: next((row[1] for row in rows if row[0] == 10), None)
        for key, rows in test["precision"].items()
    }
    mine, chance = at_ten.get("method"), at_ten.get("chance")
    if mine is None or chance is None:
        return ""
    hidden = f"{content['hold_out']:.0%}".replace("%", " %")
    words = (
        f"With {hidden} of the links held out, {10 * mine:.1f} of the best 10 pairs were "
        f"held-out links; by chance {10 * chance:.2f}"
    )
    plain = at_ten.get("profiles")
    if plain is not None:
        words += f", by {WORDS['profiles']} {10 * plain:.1f}"
        if plain > mine:
            words += ": the plain guess did better"
    return f"{words}."


def _test(content: Mapping[str, Any]) -> None:
    test = content["test"]
    if test is None:
        return
    theme.section("Held-out links found", theme.count(test["n_links"], "held-out link"))
    st.plotly_chart(
        precision_figure(test["precision"], session.theme()),
        key="links-precision",
        theme=None,
        config={"displayModeBar": False},
        alt=precision_alt(test["precision"]),
    )
    unseen = (test.get("unseen") or {}).get("auc", {})
    rows = [
        [WORDS[key], _with_error(value), _with_error(unseen[key]) if key in unseen else "–"]
        for key, value in test["auc"].items()
    ]
    theme.table(["Held-out link above another pair, of 100 times", "held-out links", "items"], rows)
    by = "scores of its own" if test.get("own_scores", True) else "how near pairs lie on its map"
    theme.quiet(
        f"Judged by {by}. Held-out links: single links were held out. Items: all links of some "
        f"{content['source']} were."
    )
    with st.expander("What these figures say"):
        theme.quiet(
            f"In each of {test['repeats']} tests some links were held out, the method was fitted "
            f"to the rest, and all {test['n_pairs']:,} pairs that no remaining link tells of were "
            "ranked. Pairs that nobody has linked count as wrong here, though some may be right: "
            "the true shares are higher. “Like links like” guesses from what the items most alike "
            "by their features are linked with. ± is one standard error."
        )


def _with_error(value: list[float | None]) -> str:
    mean, error = value
    words = f"{100 * (mean or 0.0):.1f}"
    return words if not error else f"{words} ± {100 * error:.1f}"


def reasons(data: HeteroData, content: Mapping[str, Any], one: Candidate) -> str:
    """Return HTML of what speaks for a candidate and against it.

    Parameters
    ----------
    data : HeteroData
    content : mapping
        Of the findings that it is of.
    one : Candidate
    """
    source, target = content["source"], content["target"]
    a, b = (theme.esc(short(title, _NAME)) for title in one.titles)
    record = one.record

    def rows(key: str, dataset: str) -> list[int]:
        found = (pair_list.row_of(data, dataset, id) for id in record.get(key, ()))
        return [row for row in found if row is not None]

    like, unlike = rows("alike_linked", source), rows("alike_not_linked", source)
    speaks, against = [], []
    if like:
        shared = [name for name in record.get("shared_features", ()) if not _CODE.match(name)]
        by = f", by {theme.esc(theme.listed(shared))}" if shared else ""
        some = pair_list.small(data, like)
        speaks.append(f"{some} {_go(like)} with {b} and {_are(like)} like {a}{by}.")
    carried = []
    for k, other in record.get("carried_by", ()):
        p, q = pair_list.row_of(data, source, k), pair_list.row_of(data, target, other)
        if p is not None and q is not None:
            carried.append(f"{pair_list.small(data, [p])} with {pair_list.small(data, [q])}")
    if carried:
        speaks.append(f"Known links that count most: {', '.join(carried)}.")
    if not like and not carried:
        if one.why[1]:
            speaks.append(f"{pair_list.small(data, one.why[1])} {_go(one.why[1])} with {b}.")
        if one.why[0]:
            speaks.append(f"{a} goes with {pair_list.small(data, one.why[0])}.")
    if unlike:
        some = pair_list.small(data, unlike)
        against.append(f"{some} {_are(unlike)} like {a} too, and {_go(unlike)} with others only.")
    for title, known in ((a, one.why[0]), (b, one.why[1])):
        if not known:
            against.append(f"{title} has no link yet: this rests on likeness alone.")
    parts = [
        f"<dt>{word}</dt><dd>{'</dd><dd>'.join(lines)}</dd>"
        for word, lines in (("For it", speaks), ("Against it", against))
        if lines
    ]
    return f'<dl class="hv-why">{"".join(parts)}</dl>'


def _go(rows: Sequence[int]) -> str:
    return "goes" if len(rows) == 1 else "go"


def _are(rows: Sequence[int]) -> str:
    return "is" if len(rows) == 1 else "are"
