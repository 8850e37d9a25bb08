"""New items from a file, placed on the map before they are added to the data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from hetviz._text import capital
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method, is_method
from hetviz.data import Dataset, HeteroData
from hetviz.errors import Problem
from hetviz.features.recipe import columns_used
from hetviz.plots.out_of_sample import new_items_alt, new_items_figure
from hetviz.runs.place.place_rows import cannot_place
from hetviz.ui.shell import background, session
from hetviz.ui.shell import theme as look
from hetviz.ui.widgets import charts, failure, uploads
from hetviz.workspace import Finding, KeepItems, LeaveItems, MapResult, State

KIND = "placed"
_DOUBT_THRESHOLD = 0.5
_MAX_ROWS = 200
_MAX_COLUMNS = 12


def show(state: State) -> None:
    """Show the section."""
    data, run = state.data, state.run
    if data is None:
        return
    if run is None:
        look.show_headline(
            "No map yet", "New items are placed on a map. Make one on the Map page first."
        )
        return
    finding = state.findings.get(KIND)
    if finding is not None and _is_current(finding, data, run):
        _show_result(state, run, finding)
        return
    look.show_headline("Add new items to this map", _subtitle(state, run))
    if _refusal_reason(state, run):
        return
    form_column, _ = st.columns([1.2, 1], gap="large")
    with form_column:
        # Datasets with feature columns come first.
        names = sorted(data.datasets, key=lambda name: not _has_column_features(data[name]))
        name = st.selectbox("Dataset", names, key="newfile-dataset")
        look.show_note(_columns_text(data[name]))
        with st.container(key="own-files-new"):
            uploads.show_field(
                "A table with a row for each new item",
                "newfile",
                partial(_place_files, name),
                multiple=True,
                has_label=True,
                disabled=background.running_job() is not None,
            )


def _has_column_features(dataset: Dataset) -> bool:
    return bool(columns_used((dataset.recipe or {}).get("features")))


def _columns_text(dataset: Dataset) -> str:
    """Return which columns a file of new items needs."""
    used = columns_used((dataset.recipe or {}).get("features"))
    names = used or list(dataset.feature_names or ())
    if dataset.kernel is not None or dataset.distance is not None:
        return (
            f"{capital(dataset.name)} have only pairwise similarities, so a table cannot place new "
            "ones here. The library can, from a kernel or distances."
        )
    if not names:
        return (
            f"{capital(dataset.name)} have no feature columns. Name a column after another dataset "
            "and list in it the items that each new one is linked with."
        )
    others = [f"{len(names) - _MAX_COLUMNS} more"] if len(names) > _MAX_COLUMNS else []
    listed = look.join_words([*names[:_MAX_COLUMNS], *others])
    start = "Needed: an id and, where known," if used else "Needed: an id and the numbers"
    return f"{start} {listed}. Other columns are optional."


def _subtitle(state: State, run: MapResult) -> str:
    return _refusal_reason(state, run) or (
        "Drop a table with the columns of one of the datasets. You see where its items belong and "
        "how certain that is. Nothing on the map moves, and nothing is added until you confirm."
    )


def _refusal_reason(state: State, run: MapResult) -> str:
    """Return why nothing can be placed on the map, or an empty text."""
    if not is_method(run.method):
        return "This map came with the data, and its method is unknown."
    card = get_method(run.method).card
    if Capability.OUT_OF_SAMPLE not in card.capabilities:
        return cannot_place(card.title, state.opened())
    if not state.is_current(run):
        return "The data changed since this map was made. Refit it on the Map page first."
    return ""


def _is_current(finding: Finding, data: HeteroData, run: MapResult) -> bool:
    content = finding.content
    name = content["dataset"]
    return (
        name in data.datasets
        and content["asked"]["run"] == run.id
        and bool((data[name].find(content["ids"]) < 0).all())
    )


def _place_files(name: str, contents: Mapping[str, bytes]) -> None:
    workspace = session.workspace()
    state = workspace.state
    run = state.run
    if run is None:
        return
    files = {filename: workspace.blobs.put(content) for filename, content in contents.items()}
    info = next((info for info in state.understood if info.dataset == name), None)
    id_column = None if info is None else info.id_column
    # New rows are read with the choices made for the first file.
    like = None if info is None or info.recipe is None else {"like": info.recipe.to_dict()}
    choices = {} if like is None else dict.fromkeys(files, like)
    arguments = {
        "dataset": name,
        "files": files,
        "choices": choices,
        "id_column": id_column,
        **run.settings,
        "asked": {"run": run.id, "files": files, "id_column": id_column, "choices": choices},
    }
    background.start_task("place-items", arguments, start=run.id, only=state.rows_of(run))


def _show_result(state: State, run: MapResult, finding: Finding) -> None:
    content, data = finding.content, state.opened()
    n = len(content["ids"])
    is_doubtful = [doubt is not None and doubt >= _DOUBT_THRESHOLD for doubt in content["doubt"]]
    n_unplaced = sum(coordinates is None for coordinates in content["places"])
    look.show_headline(
        f"{look.count(n - n_unplaced, 'new item')} of {content['dataset']} placed on the map",
        _doubt_text(n - n_unplaced, sum(is_doubtful), n_unplaced),
    )
    with st.container(horizontal=True, key="newfile-decide"):
        with st.container(key="primary_keep-items", width="content"):
            st.button(
                "Add to the data",
                type="primary",
                key="keep-items",
                on_click=_keep_items,
                args=(content, run.id),
            )
        st.button("Discard", key="leave-items", on_click=session.on_command, args=(LeaveItems(),))
    _show_map(state, run, content, is_doubtful)
    _show_table(data, content)
    problems = [Problem(**fields) for fields in content["problems"]]
    if problems:
        look.show_section("Notes", look.count(len(problems), "note"))
        failure.show_problems(problems)


def _doubt_text(n: int, n_doubtful: int, n_unplaced: int) -> str:
    text = "Existing items have not moved. "
    if n_doubtful:
        text += f"{n_doubtful:,} of them {'is' if n_doubtful == 1 else 'are'} doubtful: "
        text += "the most similar items are elsewhere, or nothing is similar."
    elif n:
        text += "None is doubtful: each is among its most similar items."
    return text + (f" {look.count(n_unplaced, 'item')} could not be placed." if n_unplaced else "")


def _show_table(data: HeteroData, content: Mapping[str, Any]) -> None:
    look.show_section("New items", "the nearest of each dataset")
    head = ["Item", "Doubt", "Why", *(f"Nearest {name}" for name in data.datasets)]
    rows = []
    for number, title in enumerate(content["titles"][:_MAX_ROWS]):
        doubt = content["doubt"][number]
        row = [title, "–" if doubt is None else f"{100 * doubt:.0f} %", content["why"][number]]
        for name in data.datasets:
            near_ids = content["near"][number].get(name, [])
            near_titles = [
                str(data[name].display_names[k]) for k in data[name].find(near_ids[:2]) if k >= 0
            ]
            row.append(", ".join(near_titles) or "–")
        rows.append(row)
    look.show_table(head, rows, is_text=True)
    look.show_note(
        "Doubt: the share of the most similar items that are elsewhere on the map, or how much "
        "farther than usual the nearest one is, whichever is greater."
    )
    if len(content["ids"]) > _MAX_ROWS:
        look.show_note(f"… and {len(content['ids']) - _MAX_ROWS:,} more")


def _show_map(
    state: State, run: MapResult, content: Mapping[str, Any], is_doubtful: list[bool]
) -> None:
    embedding = charts.embedding_of(state, run)
    if embedding is None:
        return
    no_place = [np.nan] * embedding.n_components
    places = np.array(
        [no_place if coordinates is None else coordinates for coordinates in content["places"]],
        dtype=float,
    )
    theme = session.theme()
    figure = session.get_or_compute(
        ("newfile-map", id(content), id(embedding), theme),
        (content, embedding),
        lambda: new_items_figure(embedding, places, content["titles"], is_doubtful, theme),
    )
    look.show_section("Positions", "diamonds are doubtful")
    charts.show_figure(figure, "newfile-map", new_items_alt(len(places)))


def _keep_items(content: Mapping[str, Any], run: str) -> None:
    request = content["asked"]
    command = KeepItems(
        content["dataset"],
        dict(request["files"]),
        run,
        dict(zip(content["ids"], content["places"], strict=True)),
        request.get("choices", {}),
        request["id_column"],
    )
    if session.run_command(command):
        n = len(content["ids"])
        session.add_message(
            f"{look.count(n, 'new item')} added to {content['dataset']} at these positions. "
            "The map stays the same until you refit it.",
            "note",
        )
