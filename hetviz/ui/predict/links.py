"""Links that nobody has given yet: what was found, how sure it is, and what to do with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from hetviz.plots.predicted_links import (
    WORDS,
    precision_alt,
    precision_figure,
    proposed_alt,
    proposed_figure,
)
from hetviz.ui.predict import link_form, link_list
from hetviz.ui.predict.link_list import Candidate
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import ChooseRun, Finding, State

KIND = "links"


def show(state: State) -> None:
    """Show the section."""
    kept = state.findings.get(KIND)
    if kept is None or not _about(state, kept):
        _nothing(state)
        return
    left = link_list.candidates(state, kept)
    _headline(state, kept, left)
    wide, narrow = st.columns([1.75, 1], gap="large")
    with wide:
        picked = link_list.show(state, kept, left)
        if not left:
            link_form.show(state)
    with narrow:
        _map(state, kept, picked or left[: link_list.A_PAGE])
        _test(kept.content)


def _about(state: State, kept: Finding) -> bool:
    """Whether the datasets that it is about are still there."""
    names = () if state.data is None else state.data.datasets
    return kept.content["source"] in names and kept.content["target"] in names


def _nothing(state: State) -> None:
    wide, narrow = st.columns([1.75, 1], gap="large")
    with wide:
        if background.live() is not None:
            theme.headline("Looking for links", "They appear here as soon as they are ranked.")
        else:
            theme.headline(
                "No links looked for yet",
                "Choose two datasets at the right. Pairs that look as if they were linked, though "
                "no link says so, come with what speaks for them, to accept or reject.",
            )
    with narrow:
        link_form.show(state)


def _headline(state: State, kept: Finding, left: list[Candidate]) -> None:
    content = kept.content
    between = f"between {content['source']} and {content['target']}"
    if content["source"] == content["target"]:
        between = f"among {content['source']}"
    if left:
        first = left[0]
        title = f"“{first.titles[0]}” and “{first.titles[1]}” look most like a missing link"
    else:
        title = f"Nothing is left to judge {between}"
    theme.headline(title, " ".join([f"By {content['title']}, {between}.", _in_words(content)]))
    if state.guided is None or kept.fingerprint != state.guided.fingerprint():
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
        f"With {hidden} of the links hidden, {10 * mine:.1f} of the best 10 pairs were hidden "
        f"links; by chance {10 * chance:.2f}"
    )
    plain = at_ten.get("profiles")
    if plain is not None:
        words += f", by {WORDS['profiles']} {10 * plain:.1f}"
        if plain > mine:
            words += ": the plain guess did better"
    return f"{words}."


def _map(state: State, kept: Finding, shown: list[Candidate]) -> None:
    run = state.run
    if run is None or state.data is None:
        return
    embedding = charts.embedding_of(state, run)
    if embedding is None:
        return
    theme.section("Where they lie", run.title)
    pairs = [candidate.rows for candidate in shown]
    names = {row: title for one in shown for row, title in zip(one.rows, one.titles, strict=True)}
    figure = session.cached(
        ("proposed", id(state.data), id(run), tuple(pairs), session.theme()),
        (state.data, run),
        lambda: proposed_figure(embedding, pairs, names, theme=session.theme(), height=320),
    )
    st.plotly_chart(
        figure,
        key="links-map",
        theme=None,
        config={"displayModeBar": False},
        alt=proposed_alt(len(pairs)),
    )
    own = next((one for one in state.runs if one.id in kept.runs), None)
    if own is not None and own.id != run.id:
        st.button(
            "Use the map that found them",
            key="links-own-map",
            type="tertiary",
            on_click=_choose,
            args=(own.id,),
        )


def _choose(run: str) -> None:
    session.do(ChooseRun(run))


def _test(content: Mapping[str, Any]) -> None:
    test = content["test"]
    if test is None:
        return
    theme.section("Hidden links found", theme.count(test["n_links"], "hidden link"))
    st.plotly_chart(
        precision_figure(test["precision"], session.theme()),
        key="links-precision",
        theme=None,
        config={"displayModeBar": False},
        alt=precision_alt(test["precision"]),
    )
    rows = [[WORDS[key], _with_error(value)] for key, value in test["auc"].items()]
    theme.table(["Hidden link ranked above another pair", "of 100 times"], rows)
    with st.expander("What these figures say"):
        theme.quiet(
            f"In each of {test['repeats']} tests some links were hidden, the method was fitted "
            f"to the rest, and all {test['n_pairs']:,} pairs that no remaining link tells of were "
            "ranked. Pairs that nobody has linked count as wrong here, though some may be right: "
            "the true shares are higher. “Like links like” guesses from what the items most alike "
            "by their features are linked with. ± is one standard error."
        )


def _with_error(value: list[float | None]) -> str:
    mean, error = value
    words = f"{100 * (mean or 0.0):.1f}"
    return words if not error else f"{words} ± {100 * error:.1f}"
