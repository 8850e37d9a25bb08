"""Proposals to join datasets, as cards: what speaks for each, whom it reaches, one click."""

from __future__ import annotations

import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.joins.proposals import Proposal, propose_joins
from hetviz.plots.text import short
from hetviz.ui.data import joining_preview as preview
from hetviz.ui.map.array_cache import kept
from hetviz.ui.shell import session, theme
from hetviz.workspace.commands.joining import command_for

_SHOWN = 3
_STRONG, _FAIR = 0.7, 0.4


def cards(data: HeteroData) -> None:
    """Show the proposals, the best first."""
    found = proposals(data)
    if not found:
        words = (
            "One dataset has nothing to be joined with. Add a second file, or links that join its "
            "own items."
            if len(data.datasets) < 2
            else "Nothing more seems to join them: no ids, columns or places agree beyond what is "
            "linked and beyond chance."
            if data.links or len(data.entities) < len(data.datasets)
            else "No ids, columns or places agree beyond chance. Link them by hand below, or add a "
            "CSV with source_id and target_id."
        )
        theme.quiet(words)
        return
    for place, proposal in enumerate(found[:_SHOWN]):
        _card(data, proposal, place)
    if len(found) > _SHOWN:
        with st.expander(theme.count(len(found) - _SHOWN, "weaker proposal")):
            for place, proposal in enumerate(found[_SHOWN:], start=_SHOWN):
                _card(data, proposal, place)


def proposals(data: HeteroData) -> list[Proposal]:
    """Return the proposals for these data, worked out once."""
    names = theme.listed([theme.plain(name) for name in data.datasets])
    with st.spinner(f"Comparing the ids, columns and places of {names}", show_time=True):
        return kept(data, "proposals", lambda: propose_joins(data))


def _card(data: HeteroData, proposal: Proposal, place: int) -> None:
    join = proposal.join
    with st.container(border=True, gap="xsmall", key=f"join-{place}"):
        st.html(
            f'<div class="hv-card"><h3>{theme.esc(_title(proposal))}</h3>'
            f"<p>{theme.esc(_belief(proposal.score))}</p></div>"
        )
        preview.coverage(proposal.reach)
        pairs = proposal.examples(data)
        named = "; ".join(f"{short(a, 30)} with {short(b, 30)}" for a, b in pairs)
        theme.quiet(f"For example {named}.")
        preview.told(proposal.evidence)
        preview.warned(proposal.reach.crowded)
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(key=f"primary_join_{place}", width="content"):
                st.button(
                    "Make them views" if join.kind == "views" else "Link them",
                    type="primary",
                    key=f"do-join-{place}",
                    on_click=_accept,
                    args=(proposal, data[join.target].entity if join.kind == "views" else ""),
                )
            preview.popover(data, proposal.match, f"join-{place}")


def _title(proposal: Proposal) -> str:
    join = proposal.join
    number = theme.count(len(proposal.match.i), "link")
    if join.kind == "views":
        return "These look like two views of the same things"
    if join.kind == "tags":
        return f"{join.source_column} of {join.source} as a dataset: {number}"
    if join.kind == "near":
        return f"{join.source} with the nearest {join.target}: {number}"
    return f"{_end(join.source, join.source_column)} = {_end(join.target, join.target_column)}"


def _end(name: str, column: str) -> str:
    return f"{column} of {name}" if column else f"id of {name}"


def _belief(score: float) -> str:
    words = "Strong" if score >= _STRONG else "Fair" if score >= _FAIR else "Weak"
    return f"{words}: score {score * 100:.0f} of 100"


def _accept(proposal: Proposal, entity: str) -> None:
    session.do(command_for(proposal.join, proposal.match.kind, entity))
