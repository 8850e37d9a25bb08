"""Looking for clusters: how, where, and how many; what was tried is kept, so a slider is quick."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from hetviz.errors import HetvizError
from hetviz.plots import colour_options
from hetviz.plots.cluster_choice import choice_alt, choice_figure
from hetviz.plots.colour import CLUSTER, spoken
from hetviz.runs.cluster.codes import codes_of_text, pack_codes
from hetviz.ui.map import layers
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import Finding, SetClusters, SetView, State
from hetviz.workspace.commands.clusters import bounded_names

KIND = "clusters"
TASK = "hetviz.jobs.tasks.cluster:find_clusters"
METHODS = {
    "k-means": "k-means",
    "hdbscan": "HDBSCAN",
    "agglomerative": "Agglomerative",
    "label": "By label",
}
SPACES = {"map": "On the map", "full": "In more axes"}
_BY, _SPACE, _LABEL = "clusters-by", "clusters-space", "clusters-label"


def show(state: State) -> None:
    """Show how clusters are looked for, and the slider of their number."""
    tried = tried_of(state)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="clusters-where"
    ):
        st.selectbox(
            "How to find clusters",
            list(METHODS),
            format_func=METHODS.__getitem__,
            key=_BY,
            persist_state="session",
            label_visibility="collapsed",
            width=150,
            on_change=_ask_if_found,
        )
        if _by() == "label":
            _labels(state)
            return
        st.segmented_control(
            "Where to look for them",
            list(SPACES),
            format_func=SPACES.__getitem__,
            default="map",
            required=True,
            key=_SPACE,
            persist_state="session",
            label_visibility="collapsed",
            on_change=_ask_if_found,
        )
        if state.clustering is None or tried is None:
            st.button(
                "Find clusters",
                type="primary",
                key="primary_find-clusters",
                disabled=background.live() is not None,
                on_click=ask,
            )
    if tried is not None and state.clustering is not None:
        now = len(state.clustering.names)
        with st.container(
            horizontal=True, vertical_alignment="bottom", gap="small", key="clusters-number"
        ):
            _number(tried, now)
            _why(tried, now)
            to_map()


def to_map() -> None:
    """Offer the map in the colours of the clusters."""
    st.button(
        "Colour by cluster",
        type="tertiary",
        key="clusters-to-map",
        help="Colour the map by these clusters, with their names.",
        on_click=_to_map,
    )


def _to_map() -> None:
    session.do(SetView(colour=CLUSTER.key))


def _by() -> str:
    return str(st.session_state.get(_BY) or "k-means")


def _space() -> str:
    return str(st.session_state.get(_SPACE) or "map")


def tried_of(state: State) -> Mapping[str, Any] | None:
    """Return what was tried on this map in the way that is chosen now, if anything."""
    kept: Finding | None = state.findings.get(KIND)
    found = state.clustering
    if kept is None or found is None or found.run != state.chosen:
        return None
    how = kept.content["how"]
    same = how["method"] == _by() and how["asked"] == _space()
    return kept.content if same and found.how.get("method") == how["method"] else None


def _number(tried: Mapping[str, Any], now: int) -> None:
    numbers = sorted({*(int(row["k"]) for row in tried["choice"]), now})
    if len(numbers) > 1:
        key = f"clusters-k-{now}-{len(numbers)}"
        st.select_slider(
            "How many clusters",
            numbers,
            value=now,
            key=key,
            label_visibility="collapsed",
            on_change=_take,
            args=(key, now),
        )


def _why(tried: Mapping[str, Any], now: int) -> None:
    with st.popover("Why so many?", type="tertiary"):
        theme.quiet(
            "Found again: how alike the clusters of two halves of the items are. Set apart: "
            "how much nearer items are to their own cluster than to the next. Links kept: "
            "links that say together inside one cluster, links that say apart between two. "
            "In more axes: the method of this map is fitted once more, with up to ten; a joint map "
            "has more, on which links and likeness are joined."
        )
        rows = with_unseen(session.workspace().state, tried["choice"], tried)
        st.plotly_chart(
            choice_figure(rows, now, session.theme()),
            key="clusters-choice",
            theme=None,
            config={"displayModeBar": False},
            alt=choice_alt(rows, now),
        )


def with_unseen(
    state: State, choice: Sequence[Mapping[str, Any]], tried: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the measures of each number, links that came to judge maps by among them."""
    from hetviz.metrics.fit.clustering import rand_on_links
    from hetviz.metrics.fit.measured import same_rows

    rows = [dict(row) for row in choice]
    data, held = state.opened(), state.held_out
    if held is None or not same_rows(data, held):
        return rows
    for row, text in zip(rows, tried["codes"], strict=True):
        if row.get("rand_held_out") is None:
            row["rand_held_out"] = rand_on_links(
                held, codes_of_text(text, data.n_rows, int(row["k"]))
            )
    return rows


def _labels(state: State) -> None:
    columns = label_columns(state)
    if not columns:
        theme.quiet("No dataset has a column of a few different values.")
        return
    st.selectbox(
        "Label",
        columns,
        format_func=spoken,
        key=_LABEL,
        label_visibility="collapsed",
        width=170,
        on_change=ask,
    )
    found = state.clustering
    if found is None or found.how.get("method") != "label":
        st.button("Show as clusters", type="primary", key="primary_label-clusters", on_click=ask)
    else:
        to_map()


def label_columns(state: State) -> list[str]:
    """Return the columns of categories, labels first, each name once."""
    found = [
        str(json.loads(option.key)[1])
        for option in colour_options(state.opened())
        if option.kind == "categories"
    ]
    return list(dict.fromkeys(found))


def _ask_if_found() -> None:
    """Look again in the way chosen now, where there are clusters already."""
    state = session.workspace().state
    if state.clustering is not None and _by() != "label" and tried_of(state) is None:
        ask()


def ask() -> None:
    """Look for clusters in the way that is chosen."""
    state = session.workspace().state
    run = state.run
    if run is None:
        return
    if _by() == "label":
        _by_label(state)
        return
    arguments = {
        "by": _by(),
        "space": _space(),
        "method": run.method,
        "params": dict(run.params),
        "seed": run.seed,
        "hold_out": run.hold_out,
        "weights": dict(run.weights),
    }
    background.find("Clusters", TASK, arguments, start=run)


def _by_label(state: State) -> None:
    from hetviz.runs.cluster.search import label_clusters

    columns = label_columns(state)
    label = str(st.session_state.get(_LABEL) or (columns[0] if columns else ""))
    try:
        codes, names = label_clusters(state.opened(), label)
    except HetvizError as error:
        session.tell(str(error))
        return
    how = {"method": "label", "label": label, "space": "on the map itself", "asked": "map"}
    put(codes, list(names), how)


def _take(key: str, shown: int) -> None:
    """Show another number of clusters, of those tried."""
    state = session.workspace().state
    tried = tried_of(state)
    wanted = int(st.session_state[key])
    # A slider that is gone may be heard once more: it would undo what came after it.
    if wanted == shown or state.clustering is None or len(state.clustering.names) != shown:
        return
    numbers = [] if tried is None else [int(row["k"]) for row in tried["choice"]]
    if tried is None or wanted not in numbers:
        return
    from hetviz.runs.cluster.cards import cluster_names

    place = numbers.index(wanted)
    data = state.opened()
    codes = codes_of_text(tried["codes"][place], data.n_rows, wanted)
    names = cluster_names(layers.contrasts_of(data), codes, wanted)
    put(codes, names, tried["how"], tried["stability"][place])


def put(
    codes: object,
    names: Sequence[str],
    how: Mapping[str, object],
    stability: Sequence[float | None] = (),
) -> None:
    """Put the items in clusters, and let the map show them."""
    workspace = session.workspace()
    blob = workspace.blobs.put(pack_codes(np.asarray(codes, dtype=np.int64)))
    told = bounded_names(names)
    session.do(SetClusters(blob, told, dict(how), workspace.state.chosen, list(stability)))
