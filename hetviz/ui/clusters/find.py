"""Search for clusters: method, space and number, with cached trials."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from hetviz.errors import HetvizError
from hetviz.plots import colour_options
from hetviz.plots.cluster_choice import choice_alt, choice_figure
from hetviz.plots.colour import CLUSTER, display_name
from hetviz.runs.cluster.codes import codes_of_text, pack_codes
from hetviz.ui.map_data import layers
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, SetClusters, SetView, State
from hetviz.workspace.commands.clusters import unique_names

KIND = "clusters"
METHODS = {
    "k-means": "k-means",
    "hdbscan": "HDBSCAN",
    "agglomerative": "Agglomerative",
    "label": "By label",
}
SPACES = {"map": "On the map", "full": "In more axes"}
_METHOD_KEY, _SPACE_KEY, _LABEL_KEY = "clusters-by", "clusters-space", "clusters-label"


def show_form(state: State) -> None:
    """Show how clusters are found, and the slider of their number."""
    trials = trials_of(state)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="clusters-where"
    ):
        st.selectbox(
            "How to find clusters",
            list(METHODS),
            format_func=METHODS.__getitem__,
            key=_METHOD_KEY,
            persist_state="session",
            label_visibility="collapsed",
            width=150,
            on_change=_find_again,
        )
        if _chosen_method() == "label":
            _choose_label(state)
            return
        st.segmented_control(
            "Where to look for them",
            list(SPACES),
            format_func=SPACES.__getitem__,
            default="map",
            required=True,
            key=_SPACE_KEY,
            persist_state="session",
            label_visibility="collapsed",
            on_change=_find_again,
        )
        if state.clustering is None or trials is None:
            st.button(
                "Find clusters",
                type="primary",
                key="primary_find-clusters",
                disabled=background.running_job() is not None,
                on_click=find_clusters,
            )
    if trials is not None and state.clustering is not None:
        n_clusters = len(state.clustering.names)
        with st.container(
            horizontal=True, vertical_alignment="bottom", gap="small", key="clusters-number"
        ):
            _number_slider(trials, n_clusters)
            _number_popover(trials, n_clusters)
            colour_button()


def colour_button() -> None:
    """Show the button that colours the map by cluster."""
    st.button(
        "Colour by cluster",
        type="tertiary",
        key="clusters-to-map",
        help="Colour the map by these clusters, with their names.",
        on_click=session.on_command,
        args=(SetView(colour=CLUSTER.key),),
    )


def _chosen_method() -> str:
    return str(st.session_state.get(_METHOD_KEY) or "k-means")


def _chosen_space() -> str:
    return str(st.session_state.get(_SPACE_KEY) or "map")


def trials_of(state: State) -> Mapping[str, Any] | None:
    """Return the trials on this map with the chosen method and space, or None."""
    finding: Finding | None = state.findings.get(KIND)
    clustering = state.clustering
    if finding is None or clustering is None or clustering.run != state.chosen:
        return None
    search = finding.content["how"]
    is_same = search["method"] == _chosen_method() and search["asked"] == _chosen_space()
    return finding.content if is_same and clustering.how.get("method") == search["method"] else None


def _number_slider(trials: Mapping[str, Any], n_clusters: int) -> None:
    numbers = sorted({*(int(row["k"]) for row in trials["choice"]), n_clusters})
    if len(numbers) > 1:
        key = f"clusters-k-{n_clusters}-{len(numbers)}"
        st.select_slider(
            "How many clusters",
            numbers,
            value=n_clusters,
            key=key,
            label_visibility="collapsed",
            on_change=_set_number,
            args=(key, n_clusters),
        )


def _number_popover(trials: Mapping[str, Any], n_clusters: int) -> None:
    with st.popover("Why this number?", type="tertiary"):
        theme.show_note(
            "Found again: how similar the clusters of two halves of the items are. Set apart: "
            "how much closer items are to their own cluster than to the next. Links inside: "
            "together links within one cluster, apart links between two. "
            "In more axes: the method of this map is fitted again with up to ten axes. A joint map "
            "already has more, which combine links and similarity."
        )
        rows = with_hidden_links(session.workspace().state, trials["choice"], trials)
        charts.show_figure(
            choice_figure(rows, n_clusters, session.theme()),
            "clusters-choice",
            choice_alt(rows, n_clusters),
        )


def with_hidden_links(
    state: State, choice: Sequence[Mapping[str, Any]], trials: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the measures of each number, with those of hidden links."""
    from hetviz.metrics.fit.clustering import rand_on_links
    from hetviz.metrics.fit.rows import has_same_rows

    rows = [dict(row) for row in choice]
    data, held_out = state.opened(), state.held_out
    if held_out is None or not has_same_rows(data, held_out):
        return rows
    for row, text in zip(rows, trials["codes"], strict=True):
        if row.get("rand_held_out") is None:
            row["rand_held_out"] = rand_on_links(
                held_out, codes_of_text(text, data.n_rows, int(row["k"]))
            )
    return rows


def _choose_label(state: State) -> None:
    columns = label_columns(state)
    if not columns:
        theme.show_note("No dataset has a categorical column.")
        return
    st.selectbox(
        "Label",
        columns,
        format_func=display_name,
        key=_LABEL_KEY,
        label_visibility="collapsed",
        width=170,
        on_change=find_clusters,
    )
    clustering = state.clustering
    if clustering is None or clustering.how.get("method") != "label":
        st.button(
            "Show as clusters", type="primary", key="primary_label-clusters", on_click=find_clusters
        )
    else:
        colour_button()


def label_columns(state: State) -> list[str]:
    """Return the categorical columns, labels first, each name once."""
    data = state.opened()
    columns = [
        json.loads(option.key) for option in colour_options(data) if option.kind == "categories"
    ]
    titles = {name: dataset.title_column or "" for name, dataset in data.datasets.items()}
    return list(dict.fromkeys(column for name, column in columns if column != titles[name]))


def _find_again() -> None:
    """Find clusters again with the chosen method if there are clusters already."""
    state = session.workspace().state
    if state.clustering is not None and _chosen_method() != "label" and trials_of(state) is None:
        find_clusters()


def find_clusters() -> None:
    """Find clusters with the chosen method."""
    state = session.workspace().state
    run = state.run
    if run is None:
        return
    if _chosen_method() == "label":
        _cluster_by_label(state)
        return
    arguments = {"by": _chosen_method(), "space": _chosen_space(), **run.settings}
    background.start_task("find-clusters", arguments, start=run.id)


def _cluster_by_label(state: State) -> None:
    from hetviz.runs.cluster.search import label_clusters

    columns = label_columns(state)
    label = str(st.session_state.get(_LABEL_KEY) or (columns[0] if columns else ""))
    try:
        codes, names = label_clusters(state.opened(), label)
    except HetvizError as error:
        session.add_message(str(error))
        return
    how = {"method": "label", "label": label, "space": "on the map itself", "asked": "map"}
    set_clusters(codes, list(names), how)


def _set_number(key: str, n_shown: int) -> None:
    """Show another number of clusters, from the trials."""
    state = session.workspace().state
    trials = trials_of(state)
    n_wanted = int(st.session_state[key])
    # A removed slider may send one more event, which would undo the later change.
    if n_wanted == n_shown or state.clustering is None or len(state.clustering.names) != n_shown:
        return
    numbers = [] if trials is None else [int(row["k"]) for row in trials["choice"]]
    if trials is None or n_wanted not in numbers:
        return
    from hetviz.runs.cluster.cards import cluster_names

    position = numbers.index(n_wanted)
    data = state.opened()
    codes = codes_of_text(trials["codes"][position], data.n_rows, n_wanted)
    names = cluster_names(layers.get_contrasts(data), codes, n_wanted)
    set_clusters(codes, names, trials["how"], trials["stability"][position])


def set_clusters(
    codes: object,
    names: Sequence[str],
    how: Mapping[str, object],
    stability: Sequence[float | None] = (),
) -> None:
    """Assign the items to clusters."""
    workspace = session.workspace()
    blob = workspace.blobs.put(pack_codes(np.asarray(codes, dtype=np.int64)))
    bounded = unique_names(names)
    session.run_command(
        SetClusters(blob, bounded, dict(how), workspace.state.chosen, list(stability))
    )
