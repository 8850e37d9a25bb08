"""New items: words, a picture or a row, with the nearest items on the map."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method, is_method
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import HetvizError
from hetviz.features.relations.words import description_columns
from hetviz.io import gate
from hetviz.io.datasets.images import checked_picture
from hetviz.plots.colour import display_name
from hetviz.plots.predicted_links import proposals_figure
from hetviz.runs.embed.run import fit_run
from hetviz.runs.place.nearest_to import NewItemNeighbors, nearest_to
from hetviz.ui.item import pair_list
from hetviz.ui.item.item import find_item, row_of
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.widgets import charts
from hetviz.workspace import MapResult, State

WORDS_KIND, PICTURE_KIND, ROW_KIND = "Words", "A picture", "A row"
_N_NEAREST, _MAX_LISTED = 10, 7
_MAX_FIELDS = 12
_MAX_REFIT_ROWS = 5_000
_PICTURE_SIDE_PX = 160


@dataclass(frozen=True)
class NewItem:
    """The new item entered last."""

    dataset: str
    text: str | None = None
    picture: bytes | None = None
    row: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        """Its name in a headline."""
        if self.text is not None:
            return f"“{self.text}”"
        if self.picture is not None:
            return "This picture"
        return "This row"


@dataclass
class NewItemState:
    """The new item that is shown, if any."""

    item: NewItem | None = None


def show(state: State) -> None:
    """Show the section."""
    data, run = state.data, state.run
    if data is None:
        return
    if run is None:
        theme.show_headline(
            "No map yet", "New items are placed on a map. Make one on the Map page first."
        )
        return
    new_item = state_of(NewItemState).item
    if new_item is not None and new_item.dataset not in data.datasets:
        new_item = None
    answer, error = (None, "") if new_item is None else _find_nearest(state, run, new_item)
    if new_item is None or (answer is None and not error):
        theme.show_headline(
            "Ask the map about something new",
            "Type words, drop a picture or fill in a row. You see the nearest items of every "
            "dataset. Nothing is added and nothing moves.",
        )
    elif answer is None:
        theme.show_headline(f"{new_item.words} could not be placed", error)
    else:
        _show_headline(data, new_item, answer)
    main_column, form_column = st.columns([1.75, 1], gap="large")
    with form_column:
        _show_form(data)
    with main_column:
        if answer is not None and new_item is not None:
            _show_map(state, run, answer, new_item)
            _show_lists(data, answer)


def _show_headline(data: HeteroData, new_item: NewItem, answer: NewItemNeighbors) -> None:
    first = _nearest_titles(data, answer)
    nearest = theme.join_words([f"“{title}”" for title in first])
    theme.show_headline(f"{new_item.words} is closest to {nearest}", answer.how)


def _nearest_titles(data: HeteroData, answer: NewItemNeighbors) -> list[str]:
    top = answer.nearest[answer.nearest["rank"] == 1]
    pairs = zip(top["dataset"], top["id"], strict=True)
    return [str(data[name].display_names[data[name].position(id)]) for name, id in pairs]


def _show_form(data: HeteroData) -> None:
    theme.show_section("New item")
    names = list(data.datasets)
    name = st.selectbox("Dataset", names, key="new-dataset")
    owner = data[name]
    kinds = [WORDS_KIND]
    if owner.media is not None and any(media is not None for media in owner.media):
        kinds.append(PICTURE_KIND)
    fields = _field_names(owner)
    if fields:
        kinds.append(ROW_KIND)
    kind = st.segmented_control(
        "Input", kinds, default=WORDS_KIND, key=f"new-kind-{name}", required=True
    )
    if kind == PICTURE_KIND:
        st.file_uploader(
            "A picture",
            type=["png", "jpg", "jpeg", "webp"],
            key=f"new-picture-{name}",
            on_change=_ask_picture,
            args=(name,),
        )
        theme.show_note(f"It is compared with the pictures of {name} and not stored.")
        return
    with st.form(f"new-form-{name}-{kind}", border=False):
        if kind == ROW_KIND:
            for field in fields:
                st.text_input(display_name(field), key=f"new-{name}-{field}", max_chars=2_000)
            theme.show_note("Leave unknown fields empty.")
        else:
            columns = description_columns(owner) or ["id"]
            st.text_input(
                "Words",
                key=f"new-text-{name}",
                max_chars=2_000,
                help=f"Searched in {theme.join_words(columns)} of {name}.",
            )
        with st.container(key="primary_ask"):
            st.form_submit_button(
                "Find nearest items",
                type="primary",
                width="stretch",
                on_click=_ask_row if kind == ROW_KIND else _ask_words,
                args=(name, fields) if kind == ROW_KIND else (name,),
            )


def _field_names(owner: Dataset) -> list[str]:
    """Return the columns to fill in: those of the features, else those of the table."""
    steps = ((owner.recipe or {}).get("features") or {}).get("columns", ())
    if steps:
        return [str(step["column"]) for step in steps][:_MAX_FIELDS]
    if owner.table is None:
        return []
    hidden = {owner.title_column, (owner.recipe or {}).get("media")}
    return [str(name) for name in owner.table.columns if name not in hidden][:_MAX_FIELDS]


def _ask_words(name: str) -> None:
    text = str(st.session_state[f"new-text-{name}"]).strip()
    state_of(NewItemState).item = NewItem(name, text) if text else None


def _ask_row(name: str, fields: list[str]) -> None:
    values = [(field, str(st.session_state[f"new-{name}-{field}"]).strip()) for field in fields]
    state_of(NewItemState).item = NewItem(name, row=tuple(pair for pair in values if pair[1]))


def _ask_picture(name: str) -> None:
    upload = st.session_state[f"new-picture-{name}"]
    if upload is None:
        state_of(NewItemState).item = None
        return
    try:
        state_of(NewItemState).item = NewItem(
            name, picture=_thumbnail(upload.name, upload.getvalue())
        )
    except HetvizError as error:
        session.add_message(str(error))


def _thumbnail(name: str, content: bytes) -> bytes:
    """Return a checked picture, scaled down to the size it is compared at."""
    from PIL import Image

    checked_picture(name, content)
    try:
        with Image.open(io.BytesIO(content)) as opened:
            opened.thumbnail((_PICTURE_SIDE_PX, _PICTURE_SIDE_PX))
            out = io.BytesIO()
            opened.convert("RGBA").save(out, "PNG")
    except (OSError, SyntaxError, ValueError, EOFError):
        raise gate.refusal("bad-picture", name, "the picture is damaged") from None
    return out.getvalue()


def _find_nearest(
    state: State, run: MapResult, new_item: NewItem
) -> tuple[NewItemNeighbors | None, str]:
    data = state.data
    if data is None:
        return None, ""

    def make() -> tuple[NewItemNeighbors | None, str]:
        try:
            return nearest_to(
                data,
                _model_or_map(state, run),
                dataset=new_item.dataset,
                text=new_item.text,
                picture=new_item.picture,
                row=dict(new_item.row)
                if new_item.text is None and new_item.picture is None
                else None,
                top=_N_NEAREST,
            ), ""
        except HetvizError as error:
            return None, str(error)

    return session.get_or_compute(("answer", id(data), id(run), new_item), (data, run), make)


def _model_or_map(state: State, run: MapResult) -> BaseEmbedder | Embedding:
    """Return the fitted method of a map if a new fit is quick and equal, else the map."""
    # Neighbour maps place new items between their most similar ones on the map itself.
    embedding = charts.embedding_of(state, run)
    data = state.guided
    assert embedding is not None  # noqa: S101 - called only with an open map
    if data is None or run.only is not None or run.hold_out or not state.is_current(run):
        return embedding
    if not is_method(run.method) or data.n_rows > _MAX_REFIT_ROWS:
        return embedding
    capabilities = get_method(run.method).card.capabilities
    if Capability.OUT_OF_SAMPLE not in capabilities or Capability.ITERATIVE in capabilities:
        return embedding

    def fit() -> BaseEmbedder | Embedding:
        try:
            model = fit_run(data, run.method, run.params, run.seed, weights=run.weights).model
        except HetvizError:
            return embedding
        # Another package version may give the axes another sign or order.
        is_same = np.allclose(
            np.nan_to_num(model.embedding_.stacked()),
            np.nan_to_num(embedding.stacked()),
            rtol=1e-4,
            atol=1e-6,
        )
        return model if is_same else embedding

    return session.get_or_compute(("model", id(data), id(run)), (data, run), fit)


def _show_map(state: State, run: MapResult, answer: NewItemNeighbors, new_item: NewItem) -> None:
    data = state.data
    embedding = charts.embedding_of(state, run)
    if data is None or embedding is None:
        return
    names = _titles_by_row(data, answer.nearest[answer.nearest["rank"] <= 3])
    is_flat = embedding.n_components == len(answer.place) == 2
    figure = session.get_or_compute(
        ("new-item-map", id(data), id(run), new_item, session.theme()),
        (data, run),
        lambda: proposals_figure(
            embedding,
            np.empty((0, 2), dtype=np.int64),
            names,
            answer.place.tolist() if is_flat else None,
            session.theme(),
            290,
        ),
    )
    theme.show_section("Position", f"★ on {run.title}" if is_flat else run.title)
    charts.show_figure(
        figure,
        "new-item-map",
        "Map of all items in grey, with a star for the new item and names of the nearest.",
    )


def _titles_by_row(data: HeteroData, table: Any) -> Mapping[int, str]:
    titles = {}
    for name, id in zip(table["dataset"], table["id"], strict=True):
        row = row_of(data, str(name), str(id))
        if row is not None:
            titles[row] = find_item(data, row).title
    return titles


def _show_lists(data: HeteroData, answer: NewItemNeighbors) -> None:
    parts: list[tuple[str, Any]] = []
    if len(answer.matched):
        similar = answer.matched.assign(dataset=answer.dataset)
        parts.append(("Most similar", similar))
    for name in data.datasets:
        part = answer.nearest[answer.nearest["dataset"] == name]
        if len(part):
            parts.append((f"Nearest {name}", part))
    columns = st.columns(len(parts), gap="medium")
    rows: list[int] = []
    for column, (title, part) in zip(columns, parts, strict=True):
        with column:
            theme.show_section(title)
            lines = []
            for name, id, score in list(
                zip(part["dataset"], part["id"], part["score"], strict=True)
            )[:_MAX_LISTED]:
                row = row_of(data, str(name), str(id))
                if row is not None:
                    rows.append(row)
                    lines.append(pair_list.item_html(data, row, _score_text(float(score))))
            st.html("".join(lines))
    theme.show_note(
        "Nearest: 1 means that nothing is closer, or it is the method's own link score. Most "
        "similar: 1 means equal."
    )
    selection.show_map_button(rows, "new-to-map")


def _score_text(value: float) -> str:
    return f"{value:.3f}"
