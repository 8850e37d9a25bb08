"""Ranked list of link candidates, with buttons to accept, reject, show and download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from hetviz.data import HeteroData
from hetviz.io.infer import cells
from hetviz.runs.predict.pair_scores import pair_numbers_of_links
from hetviz.ui.item import pair_list
from hetviz.ui.item.item import row_of, rows_of_ids
from hetviz.ui.shell import selection, session, theme
from hetviz.workspace import AddLinks, Finding, State

PAGE_SIZE = 8
ACCEPTED, REJECTED = "accepted", "rejected"


@dataclass(frozen=True, eq=False)
class LinkCandidate:
    """A pair that might be linked.

    `record` is as `hetviz.jobs.tasks.predict.find_links` writes it, `rows` are global, and
    `evidence` has the rows that each of the two items is linked with.
    """

    record: dict[str, Any]
    rows: tuple[int, int]
    titles: tuple[str, str]
    evidence: tuple[list[int], list[int]]

    @property
    def ids(self) -> tuple[str, str]:
        return self.record["source_id"], self.record["target_id"]


def open_candidates(state: State, finding: Finding) -> list[LinkCandidate]:
    """Return the pairs without a link, the likeliest first."""
    data = state.data
    if data is None:
        return []
    return session.get_or_compute(
        ("candidates", id(data), id(finding)),
        (data, finding),
        lambda: _open_candidates(data, finding),
    )


def _open_candidates(data: HeteroData, finding: Finding) -> list[LinkCandidate]:
    source, target = finding.content["source"], finding.content["target"]
    linked_keys = pair_numbers_of_links(data, source, target)
    n_target = len(data[target])
    candidates = []
    for record in finding.content["candidates"]:
        p = row_of(data, source, record["source_id"])
        q = row_of(data, target, record["target_id"])
        if p is None or q is None:
            continue
        pair = (p - data.offsets[source].start) * n_target + q - data.offsets[target].start
        if (
            np.searchsorted(linked_keys, pair) < len(linked_keys)
            and linked_keys[np.searchsorted(linked_keys, pair)] == pair
        ):
            continue
        titles = (
            str(data[source].display_names[p - data.offsets[source].start]),
            str(data[target].display_names[q - data.offsets[target].start]),
        )
        evidence = (
            rows_of_ids(data, target, record["source_evidence"]),
            rows_of_ids(data, source, record["target_evidence"]),
        )
        candidates.append(LinkCandidate(record, (p, q), titles, evidence))
    return candidates


def show_list(state: State, finding: Finding, candidates: list[LinkCandidate]) -> None:
    """Show the list with its buttons."""
    data = state.data
    if data is None or not candidates:
        return
    pages = -(-len(candidates) // PAGE_SIZE)
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small", key="links-bar")
    page = min(int(st.session_state.get("links-page") or 1), pages)
    page_candidates = candidates[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    for candidate in page_candidates:
        box, words = st.columns([0.05, 1], vertical_alignment="top", gap="small")
        with box:
            st.checkbox(
                theme.escape_markdown(" and ".join(candidate.titles)),
                key=_checkbox_key(finding, candidate),
                label_visibility="collapsed",
            )
        with words:
            st.html(
                pair_list.pair_html(
                    data,
                    *candidate.rows,
                    _score_text(candidate.record, finding),
                    *candidate.evidence,
                )
            )
    if pages > 1:
        st.pagination(pages, key="links-page")
    picked = [
        listed for listed in candidates if st.session_state.get(_checkbox_key(finding, listed))
    ]
    with bar:
        _show_buttons(finding, candidates, page_candidates, picked)


def _show_buttons(
    finding: Finding,
    candidates: list[LinkCandidate],
    page_candidates: list[LinkCandidate],
    checked: list[LinkCandidate],
) -> None:
    n_checked = len(checked)
    with st.container(key="primary_accept", width="content"):
        st.button(
            f"Accept {n_checked:,} as links" if n_checked else "Accept as links",
            type="primary",
            key="accept-links",
            disabled=not n_checked,
            on_click=_add_and_uncheck,
            args=(finding, checked, True),
        )
    st.button(
        f"Reject {n_checked:,} as apart" if n_checked else "Reject as apart",
        key="reject-links",
        disabled=not n_checked,
        help="Adds them as apart, which methods can use. You can undo it.",
        on_click=_add_and_uncheck,
        args=(finding, checked, False),
    )
    st.button(
        "Show on the map",
        key="links-to-map",
        disabled=not n_checked,
        on_click=_show_on_map,
        args=(checked,),
    )
    all_checked = all(candidate in checked for candidate in page_candidates)
    st.button(
        "Uncheck these" if all_checked else f"Check these {len(page_candidates):,}",
        key="check-links",
        type="tertiary",
        on_click=_set_checked,
        args=(finding, page_candidates, not all_checked),
    )
    st.download_button(
        "Download CSV",
        data=lambda: _csv_text(finding, candidates),
        file_name="links.csv",
        mime="text/csv",
        key="links-csv",
        type="tertiary",
        on_click="ignore",
    )


def _score_text(record: dict[str, object], finding: Finding) -> str:
    if finding.content["by_map"]:
        return f"no. {record['rank']:,}"
    text = f"{record['score']:.2f}"
    best, worst = record["rank_best"], record["rank_worst"]
    if len(finding.content["seeds"]) > 1 and finding.runs:
        text += " · rank " + (f"{best:,}" if best == worst else f"{best:,} to {worst:,}")
    return text


def _checkbox_key(finding: Finding, candidate: LinkCandidate) -> str:
    return f"link-{finding.when}-{candidate.record['rank']}"


def _set_checked(finding: Finding, candidates: list[LinkCandidate], value: bool) -> None:
    for candidate in candidates:
        st.session_state[_checkbox_key(finding, candidate)] = value


def _add_and_uncheck(finding: Finding, checked: list[LinkCandidate], together: bool) -> None:
    add_links(finding, checked, together)
    _set_checked(finding, checked, False)


def add_links(finding: Finding, checked: list[LinkCandidate], together: bool) -> bool:
    """Add pairs as links, or as apart, and return whether that succeeded."""
    content = finding.content
    kind = ACCEPTED if together else REJECTED
    return session.run_command(
        AddLinks(
            content["source"],
            content["target"],
            [list(candidate.ids) for candidate in checked],
            weight=1.0 if together else -1.0,
            kind=kind,
            set=f"{kind} from {content['title']}",
        )
    )


def _show_on_map(checked: list[LinkCandidate]) -> None:
    selection.show_on_map(row for candidate in checked for row in candidate.rows)


def _csv_text(finding: Finding, candidates: list[LinkCandidate]) -> str:
    source, target = finding.content["source"], finding.content["target"]
    head = ["source_dataset", "source_id", "target_dataset", "target_id", "score", "rank"]
    head += ["rank_best", "rank_worst", "known_links", "source_title", "target_title"]
    lines = [
        [source, candidate.ids[0], target, candidate.ids[1]]
        + [f"{candidate.record['score']:.6g}"]
        + [str(candidate.record[key]) for key in ("rank", "rank_best", "rank_worst")]
        # Candidates of earlier versions lack it.
        + [str(candidate.record.get("known_links", ""))]
        + list(candidate.titles)
        for candidate in candidates
    ]
    return cells.csv_text(head, lines)
