"""People who gave guidance: their names, how far they agree, and what they disagree about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from hetviz.data import HeteroData
from hetviz.metrics.conflicts.agreement import Disagreement, PeopleAgreement, agreement
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import people, selection, session, theme
from hetviz.ui.shell.page_state import page_state, project_id
from hetviz.ui.statements import actions
from hetviz.ui.widgets import failure, set_switches
from hetviz.workspace import Act, Command, DropStatements, SetLabels, State

_HEIGHT_PX = 260
_N_SHOWN = 5
_CHANGED = "own-name-changed"
_MEANING = (
    "Alpha is 1 if all agree and 0 if they agree as by chance, given how often each judgement "
    "occurs."
)


@failure.show_failure("people")
def show_people(state: State) -> None:
    """Show the people folded, with a field for the visitor's name if there is no login."""
    data = state.opened()
    result = _load_agreement(data)
    n_people = 0 if result is None else len(result.people)
    n_open = 0 if result is None else int(result.alpha["disagreements"].sum())
    label = "People" + (f": {n_people:,}" if n_people else "")
    label += f", {theme.count(n_open, 'disagreement')}" if n_open else ""
    with st.expander(label, key="guidance-people"):
        if not people.has_login():
            _show_name_field()
        if result is None:
            theme.show_note("Comparing what people stated.")
        elif n_people:
            _show_result(state, data, result)
        else:
            theme.show_note("No statement has a name yet.")


def _load_agreement(data: HeteroData) -> PeopleAgreement | None:
    return worker_results.compute_in_thread(
        project_id(), data, "agreement", partial(agreement, data), None
    )


def _show_name_field() -> None:
    name = page_state().name or ""
    st.text_input(
        "Your name",
        value=name,
        max_chars=people.MAX_AUTHOR_LENGTH,
        # The browser may send a name later.
        key=f"own-name-{name}",
        placeholder="No name",
        help="What you state from now on is recorded under this name. This browser remembers it. "
        "Others who open the project see it.",
        on_change=_set_name,
        args=(f"own-name-{name}",),
    )
    if st.session_state.pop(_CHANGED, False):
        # The page stores the name in the browser, and the panel runs without the page.
        st.rerun()


def _set_name(key: str) -> None:
    page_state().name = str(st.session_state[key]).strip()
    st.session_state[_CHANGED] = True


def _show_result(state: State, data: HeteroData, result: PeopleAgreement) -> None:
    rows = [
        (str(name), int(sum(numbers)), name not in state.off_people)
        for name, *numbers in result.people.itertuples(index=False)
    ]
    theme.show_note("Switch a person off to make the map without their statements.")
    set_switches.show_switches(rows, actions.switch_person, "persons", _HEIGHT_PX)
    if len(rows) > 1:
        for sentence in result.sentences():
            theme.show_note(sentence)
        alone = "No two people judged the same pair, comparison or item."
        theme.show_note(alone if result.alpha.empty else _MEANING)
    if state.off_people:
        off = theme.join_words(sorted(state.off_people))
        theme.show_note(f"The map leaves out what {off} stated.")
    own_name = people.author_name()
    shown = sorted(result.disagreements, key=lambda item: own_name not in item.judgements)
    for number, item in enumerate(shown[:_N_SHOWN]):
        _show_disagreement(data, item, own_name, f"differ-{number}")
    n_more = int(result.alpha["disagreements"].sum()) - _N_SHOWN
    if n_more > 0:
        theme.show_note(f"{n_more:,} more appear here once these are resolved.")


def _show_disagreement(data: HeteroData, item: Disagreement, own_name: str, key: str) -> None:
    sides: dict[str, list[str]] = {}
    for name, judgement in item.judgements.items():
        sides.setdefault(judgement, []).append(name)
    # The visitor's own side comes first.
    sides = dict(sorted(sides.items(), key=lambda side: own_name not in side[1]))
    lines = "".join(
        f"<p><b>{theme.escape_html(theme.join_words(names))}</b>: {theme.escape_html(text)}</p>"
        for text, names in sides.items()
    )
    with st.container(key=key, gap="xsmall"):
        st.html(
            f'<div class="hv-conflict"><p>{theme.escape_html(item.about)}</p>{lines}'
            f"<small>{theme.escape_html(item.effect)}</small></div>"
        )
        with st.container(horizontal=True, gap="small"):
            for number, names in enumerate(sides.values()):
                others = [name for name in item.judgements if name not in names]
                label = (
                    "Keep mine"
                    if own_name in names
                    else f"Keep {theme.join_words([_possessive(name) for name in names])}"
                )
                st.button(
                    theme.escape_markdown(label),
                    key=f"{key}-keep-{number}",
                    help=theme.escape_markdown(f"Remove what {theme.join_words(others)} stated."),
                    on_click=session.on_command,
                    args=(_removal(item, others),),
                )
            selection.show_map_button(item.rows, f"{key}-show")


def _possessive(name: str) -> str:
    return f"{name}’" if name.endswith("s") else f"{name}’s"


def _removal(item: Disagreement, names: Sequence[str]) -> Command:
    """Return the command that removes what these people stated."""
    if item.label is None:
        return DropStatements([key for name in names for key in item.keys[name]])
    dataset, column, id_ = item.label
    return Act(
        [SetLabels(dataset, column, {id_: None}, who=name) for name in names], "remove labels"
    )
