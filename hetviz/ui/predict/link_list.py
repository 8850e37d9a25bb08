"""The ranked pairs: check, accept as links, reject as apart, show on the map, download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from hetviz.data import HeteroData
from hetviz.io.infer import cells
from hetviz.runs.predict.pair_scores import known_pairs
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.widgets import pair_list
from hetviz.workspace import AddLinks, Finding, State

A_PAGE = 8
ACCEPTED, REJECTED = "accepted", "rejected"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pair that might be linked.

    Attributes
    ----------
    record : dict
        As `hetviz.jobs.tasks.predict.find_links` wrote it.
    rows : tuple of int
        Global rows of both items.
    titles : tuple of str
    why : tuple of two lists of int
        Global rows that the first and the second item are linked with.
    """

    record: dict[str, Any]
    rows: tuple[int, int]
    titles: tuple[str, str]
    why: tuple[list[int], list[int]]

    @property
    def ids(self) -> tuple[str, str]:
        """Ids of both items."""
        return self.record["source_id"], self.record["target_id"]


def candidates(state: State, kept: Finding) -> list[Candidate]:
    """Return the pairs that no link tells of by now, the likeliest first."""
    data = state.data
    if data is None:
        return []
    return session.cached(
        ("candidates", id(data), id(kept)), (data, kept), lambda: _left(data, kept)
    )


def _left(data: HeteroData, kept: Finding) -> list[Candidate]:
    source, target = kept.content["source"], kept.content["target"]
    known = known_pairs(data, source, target)
    m = len(data[target])
    found = []
    for record in kept.content["candidates"]:
        p = pair_list.row_of(data, source, record["source_id"])
        q = pair_list.row_of(data, target, record["target_id"])
        if p is None or q is None:
            continue
        pair = (p - data.offsets[source].start) * m + q - data.offsets[target].start
        if (
            np.searchsorted(known, pair) < len(known)
            and known[np.searchsorted(known, pair)] == pair
        ):
            continue
        titles = (
            str(data[source].titles[p - data.offsets[source].start]),
            str(data[target].titles[q - data.offsets[target].start]),
        )
        why = (
            _rows(data, target, record["source_evidence"]),
            _rows(data, source, record["target_evidence"]),
        )
        found.append(Candidate(record, (p, q), titles, why))
    return found


def _rows(data: HeteroData, dataset: str, ids: list[str]) -> list[int]:
    rows = (pair_list.row_of(data, dataset, id) for id in ids)
    return [row for row in rows if row is not None]


def show(state: State, kept: Finding, left: list[Candidate]) -> None:
    """Show the list with its buttons."""
    data = state.data
    if data is None or not left:
        return
    pages = -(-len(left) // A_PAGE)
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small", key="links-bar")
    page = min(int(st.session_state.get("links-page") or 1), pages)
    shown = left[(page - 1) * A_PAGE : page * A_PAGE]
    for candidate in shown:
        box, words = st.columns([0.05, 1], vertical_alignment="top", gap="small")
        with box:
            st.checkbox(
                theme.plain(" and ".join(candidate.titles)),
                key=_key(kept, candidate),
                label_visibility="collapsed",
            )
        with words:
            st.html(
                pair_list.pair(
                    data, *candidate.rows, _aside(candidate.record, kept), *candidate.why
                )
            )
    if pages > 1:
        st.pagination(pages, key="links-page")
    picked = [one for one in left if st.session_state.get(_key(kept, one))]
    with bar:
        _buttons(kept, left, shown, picked)


def _buttons(
    kept: Finding,
    left: list[Candidate],
    shown: list[Candidate],
    picked: list[Candidate],
) -> None:
    n = len(picked)
    with st.container(key="primary_accept", width="content"):
        st.button(
            f"Accept {n:,} as links" if n else "Accept as links",
            type="primary",
            key="accept-links",
            disabled=not n,
            on_click=_say,
            args=(kept, picked, True),
        )
    st.button(
        f"Reject {n:,} as apart" if n else "Reject as apart",
        key="reject-links",
        disabled=not n,
        help="Says that they are apart, which methods may use. Undo takes it back.",
        on_click=_say,
        args=(kept, picked, False),
    )
    st.button(
        "Show on the map",
        key="links-to-map",
        disabled=not n,
        on_click=_to_map,
        args=(picked,),
    )
    every = all(one in picked for one in shown)
    st.button(
        "Uncheck these" if every else f"Check these {len(shown):,}",
        key="check-links",
        type="tertiary",
        on_click=_check,
        args=(kept, shown, not every),
    )
    st.download_button(
        "Download CSV",
        data=lambda: _csv(kept, left),
        file_name="links.csv",
        mime="text/csv",
        key="links-csv",
        type="tertiary",
        on_click="ignore",
    )


def _aside(record: dict[str, object], kept: Finding) -> str:
    if kept.content["by_map"]:
        return f"no. {record['rank']:,}"
    words = f"{record['score']:.2f}"
    best, worst = record["rank_best"], record["rank_worst"]
    if len(kept.content["seeds"]) > 1 and kept.runs:
        words += " · rank " + (f"{best:,}" if best == worst else f"{best:,} to {worst:,}")
    return words


def _key(kept: Finding, candidate: Candidate) -> str:
    return f"link-{kept.when}-{candidate.record['rank']}"


def _check(kept: Finding, shown: list[Candidate], value: bool) -> None:
    for candidate in shown:
        st.session_state[_key(kept, candidate)] = value


def _say(kept: Finding, picked: list[Candidate], together: bool) -> None:
    say(kept, picked, together)
    _check(kept, picked, False)


def say(kept: Finding, picked: list[Candidate], together: bool) -> bool:
    """Say that pairs are links, or apart; return whether it was done."""
    content = kept.content
    word = ACCEPTED if together else REJECTED
    return session.do(
        AddLinks(
            content["source"],
            content["target"],
            [list(one.ids) for one in picked],
            weight=1.0 if together else -1.0,
            kind=word,
            set=f"{word} from {content['title']}",
        )
    )


def _to_map(picked: list[Candidate]) -> None:
    selection.choose(row for one in picked for row in one.rows)
    st.session_state["go-to"] = "map"


def _csv(kept: Finding, left: list[Candidate]) -> str:
    source, target = kept.content["source"], kept.content["target"]
    head = ["source_dataset", "source_id", "target_dataset", "target_id", "score", "rank"]
    head += ["rank_best", "rank_worst", "source_title", "target_title"]
    lines = [
        [source, one.ids[0], target, one.ids[1]]
        + [f"{one.record['score']:.6g}"]
        + [str(one.record[key]) for key in ("rank", "rank_best", "rank_worst")]
        + list(one.titles)
        for one in left
    ]
    return cells.csv_text(head, lines)
