"""Something new: words, a picture or a row, and what lies nearest to it, without adding it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from hetviz.algorithms.base import BaseEmbedder, Capability
from hetviz.algorithms.registry import get_method, methods
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import HetvizError
from hetviz.features.relations.words import described_by
from hetviz.io import gate
from hetviz.io.formats.images import checked_picture
from hetviz.plots.colour import spoken
from hetviz.plots.predicted_links import proposed_figure
from hetviz.runs.embed.run import fit_run
from hetviz.runs.place.nearest_to import Answer, nearest_to
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.widgets import charts, pair_list
from hetviz.workspace import Run, State

WORDS, PICTURE, ROW = "Words", "A picture", "A row"
_ASKED = "asked-new"
_TOP, _LISTED = 10, 7
_MOST_FIELDS = 12
_MOST_ROWS = 5_000
_SIDE = 160


@dataclass(frozen=True)
class Question:
    """What was asked last."""

    dataset: str
    text: str | None = None
    picture: bytes | None = None
    row: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        """What to call it in a headline."""
        if self.text is not None:
            return f"“{self.text}”"
        if self.picture is not None:
            return "This picture"
        return "This row"


def show(state: State) -> None:
    """Show the section."""
    data, run = state.data, state.run
    if data is None:
        return
    if run is None:
        theme.headline("No map yet", "Something new is placed on a map: make one on the Map page.")
        return
    asked: Question | None = st.session_state.get(_ASKED)
    if asked is not None and asked.dataset not in data.datasets:
        asked = None
    answer, refused = (None, "") if asked is None else _answer(state, run, asked)
    if asked is None or (answer is None and not refused):
        theme.headline(
            "Ask the map about something new",
            "Type words, drop a picture, or fill in a row. You see what lies nearest in every "
            "dataset; nothing is added and nothing moves.",
        )
    elif answer is None:
        theme.headline(f"{asked.words} could not be placed", refused)
    else:
        _headline(data, asked, answer)
    wide, narrow = st.columns([1.75, 1], gap="large")
    with narrow:
        _form(data)
    with wide:
        if answer is not None and asked is not None:
            _map(state, run, answer, asked)
            _lists(data, answer)


def _headline(data: HeteroData, asked: Question, answer: Answer) -> None:
    first = _best(data, answer)
    near = theme.listed([f"“{title}”" for title in first])
    theme.headline(f"{asked.words} lies nearest {near}", answer.how)


def _best(data: HeteroData, answer: Answer) -> list[str]:
    top = answer.nearest[answer.nearest["rank"] == 1]
    pairs = zip(top["dataset"], top["id"], strict=True)
    return [str(data[name].titles[data[name].position(id)]) for name, id in pairs]


def _form(data: HeteroData) -> None:
    theme.section("New item")
    names = list(data.datasets)
    name = st.selectbox("It would be one of the", names, key="new-dataset")
    owner = data[name]
    kinds = [WORDS]
    if owner.media is not None and any(one is not None for one in owner.media):
        kinds.append(PICTURE)
    fields = _fields(owner)
    if fields:
        kinds.append(ROW)
    kind = st.segmented_control(
        "What you have", kinds, default=WORDS, key=f"new-kind-{name}", required=True
    )
    if kind == PICTURE:
        st.file_uploader(
            "A picture",
            type=["png", "jpg", "jpeg", "webp"],
            key=f"new-picture-{name}",
            on_change=_ask_picture,
            args=(name,),
        )
        theme.quiet(f"It is compared with the pictures of the {name}, and kept nowhere.")
        return
    with st.form(f"new-form-{name}-{kind}", border=False):
        if kind == ROW:
            for field in fields:
                st.text_input(spoken(field), key=f"new-{name}-{field}", max_chars=2_000)
            theme.quiet("Leave open what you do not know.")
        else:
            columns = described_by(owner) or ["id"]
            st.text_input(
                "Words",
                key=f"new-text-{name}",
                max_chars=2_000,
                help=f"Looked for in {theme.listed(columns)} of the {name}.",
            )
        with st.container(key="primary_ask"):
            st.form_submit_button(
                "Find what is near",
                type="primary",
                width="stretch",
                on_click=_ask_row if kind == ROW else _ask_words,
                args=(name, fields) if kind == ROW else (name,),
            )


def _fields(owner: Dataset) -> list[str]:
    """Return columns to ask for: those that make the features, else those of the table."""
    steps = ((owner.recipe or {}).get("features") or {}).get("columns", ())
    if steps:
        return [str(step["column"]) for step in steps][:_MOST_FIELDS]
    if owner.table is None:
        return []
    hidden = {owner.title_column, (owner.recipe or {}).get("media")}
    return [str(name) for name in owner.table.columns if name not in hidden][:_MOST_FIELDS]


def _ask_words(name: str) -> None:
    text = str(st.session_state[f"new-text-{name}"]).strip()
    st.session_state[_ASKED] = Question(name, text) if text else None


def _ask_row(name: str, fields: list[str]) -> None:
    values = [(field, str(st.session_state[f"new-{name}-{field}"]).strip()) for field in fields]
    st.session_state[_ASKED] = Question(name, row=tuple(pair for pair in values if pair[1]))


def _ask_picture(name: str) -> None:
    given = st.session_state[f"new-picture-{name}"]
    if given is None:
        st.session_state[_ASKED] = None
        return
    try:
        st.session_state[_ASKED] = Question(name, picture=_small(given.name, given.getvalue()))
    except HetvizError as error:
        session.tell(str(error))


def _small(name: str, content: bytes) -> bytes:
    """Return a picture that has passed the gate, no larger than it is looked at."""
    from PIL import Image

    checked_picture(name, content)
    try:
        with Image.open(io.BytesIO(content)) as opened:
            opened.thumbnail((_SIDE, _SIDE))
            out = io.BytesIO()
            opened.convert("RGBA").save(out, "PNG")
    except (OSError, SyntaxError, ValueError, EOFError):
        raise gate.refusal("bad-picture", name, "the picture is damaged") from None
    return out.getvalue()


def _answer(state: State, run: Run, asked: Question) -> tuple[Answer | None, str]:
    data = state.data
    if data is None:
        return None, ""

    def make() -> tuple[Answer | None, str]:
        try:
            return nearest_to(
                data,
                _fitted(state, run),
                dataset=asked.dataset,
                text=asked.text,
                picture=asked.picture,
                row=dict(asked.row) if asked.text is None and asked.picture is None else None,
                top=_TOP,
            ), ""
        except HetvizError as error:
            return None, str(error)

    return session.cached(("answer", id(data), id(run), asked), (data, run), make)


def _fitted(state: State, run: Run) -> BaseEmbedder | Embedding:
    """Return the method that made a map where fitting it once more is quick, else the map.

    Neighbour maps place new items where the map itself says: between those most like them.
    """
    embedding = charts.embedding_of(state, run)
    data = state.guided
    assert embedding is not None  # noqa: S101 - asked for only where a map is open
    if data is None or run.only is not None or run.hold_out or not state.is_current(run):
        return embedding
    if run.method not in {card.key for card in methods()} or data.n_rows > _MOST_ROWS:
        return embedding
    can = get_method(run.method).card.capabilities
    if Capability.OUT_OF_SAMPLE not in can or Capability.ITERATIVE in can:
        return embedding

    def fit() -> BaseEmbedder | Embedding:
        try:
            model = fit_run(data, run.method, run.params, run.seed, weights=run.weights).model
        except HetvizError:
            return embedding
        # Another version of a package may have given the axes another sign or order.
        same = np.allclose(
            np.nan_to_num(model.embedding_.stacked()),
            np.nan_to_num(embedding.stacked()),
            rtol=1e-4,
            atol=1e-6,
        )
        return model if same else embedding

    return session.cached(("model", id(data), id(run)), (data, run), fit)


def _map(state: State, run: Run, answer: Answer, asked: Question) -> None:
    data = state.data
    embedding = charts.embedding_of(state, run)
    if data is None or embedding is None:
        return
    names = _named(data, answer.nearest[answer.nearest["rank"] <= 3])
    flat = embedding.n_components == len(answer.place) == 2
    figure = session.cached(
        ("new-item-map", id(data), id(run), asked, session.theme()),
        (data, run),
        lambda: proposed_figure(
            embedding,
            np.empty((0, 2), dtype=np.int64),
            names,
            answer.place.tolist() if flat else None,
            session.theme(),
            290,
        ),
    )
    theme.section("Its place", f"★ on {run.title}" if flat else run.title)
    st.plotly_chart(
        figure,
        key="new-item-map",
        theme=None,
        config={"displayModeBar": False},
        alt="Map of all items in grey; a star where the new one lies, and names of the nearest.",
    )


def _named(data: HeteroData, table: Any) -> Mapping[int, str]:
    out = {}
    for name, id in zip(table["dataset"], table["id"], strict=True):
        row = pair_list.row_of(data, str(name), str(id))
        if row is not None:
            at = row - data.offsets[str(name)].start
            out[row] = str(data[str(name)].titles[at])
    return out


def _lists(data: HeteroData, answer: Answer) -> None:
    parts: list[tuple[str, Any]] = []
    if len(answer.matched):
        alike = answer.matched.assign(dataset=answer.dataset)
        parts.append(("Most like it", alike))
    for name in data.datasets:
        part = answer.nearest[answer.nearest["dataset"] == name]
        if len(part):
            parts.append((f"Nearest {name}", part))
    columns = st.columns(len(parts), gap="medium")
    rows: list[int] = []
    for column, (title, part) in zip(columns, parts, strict=True):
        with column:
            theme.section(title)
            lines = []
            for name, id, score in list(
                zip(part["dataset"], part["id"], part["score"], strict=True)
            )[:_LISTED]:
                row = pair_list.row_of(data, str(name), str(id))
                if row is not None:
                    rows.append(row)
                    lines.append(pair_list.item(data, row, _score(float(score))))
            st.html("".join(lines))
    theme.quiet(
        "Nearest: 1 is nothing lies closer, or what the method itself says of a link. Most like "
        "it: 1 is the same."
    )
    st.button("Show them on the map", key="new-to-map", on_click=_to_map, args=(tuple(rows),))


def _score(value: float) -> str:
    return f"{value:.3f}"


def _to_map(rows: tuple[int, ...]) -> None:
    selection.choose(rows)
    st.session_state["go-to"] = "map"
