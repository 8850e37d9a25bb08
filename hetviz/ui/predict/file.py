"""New items from a file: where they belong on the map, before they are kept or left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import get_method, methods
from hetviz.data import Dataset, HeteroData
from hetviz.errors import Problem
from hetviz.features.recipe import columns_used
from hetviz.io import gate
from hetviz.plots.out_of_sample import newcomers_alt, newcomers_figure
from hetviz.runs.place.place_rows import cannot_place
from hetviz.ui.data.upload import problem_table
from hetviz.ui.shell import background, session
from hetviz.ui.shell import theme as look
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, KeepItems, LeaveItems, Run, State

KIND = "placed"
TASK = "hetviz.jobs.tasks.place:place_items"
_DOUBTFUL = 0.5
_SHOWN = 200
_NAMED = 12


def show(state: State) -> None:
    """Show the section."""
    data, run = state.data, state.run
    if data is None:
        return
    if run is None:
        look.headline("No map yet", "New items are placed on a map: make one on the Map page.")
        return
    kept = state.findings.get(KIND)
    if kept is not None and _fits(kept, data, run):
        _result(state, run, kept)
        return
    look.headline("Add new items to this map", _can_line(state, run))
    if _why_not(state, run):
        return
    wide, _ = st.columns([1.2, 1], gap="large")
    with wide:
        # First those whose columns are enough to place an item by.
        names = sorted(data.datasets, key=lambda name: not _made_of_columns(data[name]))
        name = st.selectbox("They are", names, key="newfile-dataset")
        look.quiet(_columns_line(data[name]))
        key = f"newfile-{st.session_state.get('uploads', 0)}"
        with st.container(key="own-files-new"):
            st.file_uploader(
                "A table with a row for each new item",
                accept_multiple_files=True,
                key=key,
                on_change=_place,
                args=(key, name),
                disabled=background.live() is not None,
            )


def _made_of_columns(dataset: Dataset) -> bool:
    return bool(columns_used((dataset.recipe or {}).get("features")))


def _columns_line(dataset: Dataset) -> str:
    """Say which columns a file of new items needs."""
    given = columns_used((dataset.recipe or {}).get("features"))
    names = given or list(dataset.feature_names or ())
    if dataset.kernel is not None or dataset.distance is not None:
        return (
            f"The {dataset.name} are known only by how alike each two are, so no table can place "
            "new ones here; the library can, from a kernel or distances."
        )
    if not names:
        return (
            f"The {dataset.name} have no columns to be placed by: name a column after another "
            "dataset, and list in it the items that each new one belongs with."
        )
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    shown = look.listed([*names[:_NAMED], *more])
    words = (
        "Needed are an id and, as far as known," if given else "Needed are an id and the numbers"
    )
    return f"{words} {shown}. Other columns are kept or passed over."


def _can_line(state: State, run: Run) -> str:
    return _why_not(state, run) or (
        "Drop a table with the columns of one of the datasets. You see where its items belong and "
        "how sure that is; nothing that is on the map moves, and nothing is kept until you say so."
    )


def _why_not(state: State, run: Run) -> str:
    """Say why nothing can be placed on the map, if so."""
    if run.method not in {card.key for card in methods()}:
        return "This map was read with the data, and no method is known to have made it."
    card = get_method(run.method).card
    if Capability.OUT_OF_SAMPLE not in card.capabilities:
        return cannot_place(card.title, state.opened())
    if not state.is_current(run):
        return "The data have changed since this map was made: make it again on the Map page first."
    return ""


def _fits(kept: Finding, data: HeteroData, run: Run) -> bool:
    content = kept.content
    name = content["dataset"]
    return (
        name in data.datasets
        and content["asked"]["run"] == run.id
        and bool((data[name].find(content["ids"]) < 0).all())
    )


def _place(key: str, name: str) -> None:
    uploads = st.session_state.get(key) or []
    workspace = session.workspace()
    state = workspace.state
    run = state.run
    if not uploads or run is None:
        return
    contents = [gate.ungzipped(upload.name, upload.getvalue()) for upload in uploads]
    files = {filename: workspace.blobs.put(content) for filename, content in contents}
    st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
    info = next((info for info in state.understood if info.dataset == name), None)
    known = None if info is None else info.id_column
    # New rows are read as it was said that the first were.
    like = None if info is None or info.recipe is None else {"like": info.recipe.to_dict()}
    choices = {} if like is None else dict.fromkeys(files, like)
    arguments = {
        "dataset": name,
        "files": files,
        "choices": choices,
        "id_column": known,
        "method": run.method,
        "params": dict(run.params),
        "seed": run.seed,
        "hold_out": run.hold_out,
        "weights": dict(run.weights),
        "asked": {"run": run.id, "files": files, "id_column": known, "choices": choices},
    }
    background.find("New items", TASK, arguments, start=run, only=run.only)


def _result(state: State, run: Run, kept: Finding) -> None:
    content, data = kept.content, state.opened()
    n = len(content["ids"])
    doubtful = [one is not None and one >= _DOUBTFUL for one in content["doubt"]]
    unplaced = sum(place is None for place in content["places"])
    look.headline(
        f"{look.count(n - unplaced, 'new item')} of {content['dataset']} placed on the map",
        _doubt_line(n - unplaced, sum(doubtful), unplaced),
    )
    with st.container(horizontal=True, key="newfile-decide"):
        with st.container(key="primary_keep-items", width="content"):
            st.button(
                "Keep them in the data",
                type="primary",
                key="keep-items",
                on_click=_keep,
                args=(content, run.id),
            )
        st.button("Leave", key="leave-items", on_click=_leave)
    _map(state, run, content, doubtful)
    _table(data, content)
    problems = [Problem(**fields) for fields in content["problems"]]
    if problems:
        look.section("Worth knowing", look.count(len(problems), "note"))
        problem_table(problems)


def _doubt_line(n: int, doubtful: int, unplaced: int) -> str:
    words = "Nothing that was there has moved. "
    if doubtful:
        words += f"{doubtful:,} of them {'is' if doubtful == 1 else 'are'} in doubt: "
        words += "what is most like them lies elsewhere, or nothing is like them."
    elif n:
        words += "None is in much doubt: each lies among the items most like it."
    return words + (f" {look.count(unplaced, 'item')} could not be placed." if unplaced else "")


def _table(data: HeteroData, content: Mapping[str, Any]) -> None:
    look.section("New items", "the nearest of each dataset")
    head = ["Item", "Doubt", "Why", *(f"Nearest {name}" for name in data.datasets)]
    rows = []
    for at, title in enumerate(content["titles"][:_SHOWN]):
        doubt = content["doubt"][at]
        row = [title, "–" if doubt is None else f"{100 * doubt:.0f} %", content["why"][at]]
        for name in data.datasets:
            found = content["near"][at].get(name, [])
            near = [str(data[name].titles[k]) for k in data[name].find(found[:2]) if k >= 0]
            row.append(", ".join(near) or "–")
        rows.append(row)
    look.table(head, rows, words=True)
    look.quiet(
        "Doubt: how many of the items most like it lie elsewhere on the map, or how much farther "
        "than usual the nearest is; the greater of the two."
    )
    if len(content["ids"]) > _SHOWN:
        look.quiet(f"… and {len(content['ids']) - _SHOWN:,} more")


def _map(state: State, run: Run, content: Mapping[str, Any], doubtful: list[bool]) -> None:
    embedding = charts.embedding_of(state, run)
    if embedding is None:
        return
    nowhere = [np.nan] * embedding.n_components
    places = np.array([nowhere if at is None else at for at in content["places"]], dtype=float)
    theme = session.theme()
    figure = session.cached(
        ("newfile-map", id(content), id(embedding), theme),
        (content, embedding),
        lambda: newcomers_figure(embedding, places, content["titles"], doubtful, theme),
    )
    look.section("Their places", "a diamond is in doubt")
    st.plotly_chart(
        figure,
        key="newfile-map",
        theme=None,
        config={"displayModeBar": False},
        alt=newcomers_alt(len(places)),
    )


def _keep(content: Mapping[str, Any], run: str) -> None:
    asked = content["asked"]
    command = KeepItems(
        content["dataset"],
        dict(asked["files"]),
        run,
        dict(zip(content["ids"], content["places"], strict=True)),
        asked.get("choices", {}),
        asked["id_column"],
    )
    if session.do(command):
        n = len(content["ids"])
        session.tell(
            f"{look.count(n, 'new item')} joined {content['dataset']}, at these places. "
            "The map stays; make it again whenever you like.",
            "note",
        )


def _leave() -> None:
    session.do(LeaveItems())
