"""Editable table of how each column of a dataset becomes features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from hetviz.core import sentence_vectors
from hetviz.data import Dataset
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.errors import HetvizError
from hetviz.features.columns import picture_encoder
from hetviz.features.columns.options import (
    HOLDS,
    IMPUTES,
    MAX_WEIGHT,
    PICTURE_MODELS,
    PICTURES,
    SCALES,
    TEXT_MODELS,
    VECTORS,
    FeatureRecipe,
    LeftOut,
    defaults,
)
from hetviz.features.columns.types import infer
from hetviz.features.recipe import recipe_of
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import background, session, theme
from hetviz.ui.shell.page_state import project_id, state_of
from hetviz.workspace import SetFeatures, State
from hetviz.workspace.commands.features import make_dataset_features
from hetviz.workspace.store.packing import pack_features

MAX_SENTENCE_ROWS = 5_000
_ROW, _HEAD, _MAX_VISIBLE_ROWS = 36, 35, 9
_COLUMN_TITLES = {PICTURES: "pictures", VECTORS: "own vectors"}
_KINDS = {words: kind for kind, words in HOLDS.items()}
_SCALES = {words: key for key, words in SCALES.items()}
_IMPUTES = {words: key for key, words in IMPUTES.items()}
# Option that each editable column sets, and how its cells are parsed.
_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "used": ("use", bool),
    "holds": ("kind", _KINDS.__getitem__),
    "weight": ("weight", float),
    "scale": ("scale", _SCALES.__getitem__),
    "log": ("log", bool),
    "season": ("cyclic", bool),
    "impute": ("impute", _IMPUTES.__getitem__),
}


@dataclass
class FeatureState:
    """Features of slow models to make next, and the dataset with new features."""

    pending: SetFeatures | None = None
    made_for: str | None = None


def show_features(state: State, name: str, number: int) -> None:
    """Show how the features of a dataset are made, for editing."""
    assert state.data is not None  # noqa: S101 - called only with open data
    dataset = state.data[name]
    _make_pending_features(dataset)
    recipe = _recipe_of_features(state, dataset)
    if recipe is None:
        if ITEM_RESULTS.get(dataset, "features") is None and worker_results.is_large(state.data):
            theme.show_note("The columns are being read.")
        return
    _offer_refit(state, name, number)
    n_used = len(recipe["columns"])
    n_columns = n_used + len(recipe["left_out"])
    label = f"How features are made: {n_used:,} of {theme.count(n_columns, 'column')} used"
    with (
        st.expander(label, key=f"how-features-{number}"),
        st.form(f"features-{number}", border=False),
    ):
        frame = table_of(recipe, _agreement_by_column(state, dataset, recipe), dataset.units)
        key = f"features-table-{number}-{id(dataset)}"
        st.data_editor(
            frame,
            key=key,
            hide_index=True,
            column_order=_column_order(frame),
            column_config=_column_config(),
            disabled=[column for column in frame.columns if column not in _FIELDS],
            row_height=_ROW,
            height=_HEAD + _ROW * min(len(frame), _MAX_VISIBLE_ROWS),
            placeholder="–",
            alt=f"Table of the columns of {name} and how each becomes features",
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            text_key = f"text-model-{number}-{id(dataset)}"
            _choose_text_model(recipe, text_key)
            picture_key = f"picture-model-{number}-{id(dataset)}"
            _choose_picture_model(recipe, picture_key)
            st.form_submit_button(
                "Make features again",
                type="primary",
                key=f"make-features-{number}",
                on_click=_make_features,
                args=(name, frame, key, text_key, picture_key),
            )
        theme.show_note(" ".join([*_encoder_notes(recipe), _explanation(state)]))


def _recipe_of_features(state: State, dataset: Dataset) -> FeatureRecipe | None:
    """Return the recipe to show, for features from a file one that would give them."""
    if "features" in (dataset.recipe or {}):
        return _with_all_columns(recipe_of(dataset), dataset)
    recipe: FeatureRecipe | Literal[False] | None = ITEM_RESULTS.get(dataset, "features")
    if recipe is None:
        key, arguments = ("features", dataset.name), {"dataset": dataset.name}
        recipe = worker_results.fetch_from_worker(
            project_id(), state.opened(), key, "propose-features", arguments
        )
        if recipe is not None:
            ITEM_RESULTS.put(dataset, "features", recipe)
    return recipe or None


def _with_all_columns(recipe: FeatureRecipe, dataset: Dataset) -> FeatureRecipe:
    """Return a recipe that lists every column of the table, as recipes in old files may not."""
    steps = [*recipe["columns"], *recipe["left_out"]]
    named = {name for step in steps for name in [step["column"], *step["columns"]]}
    table = pd.DataFrame() if dataset.table is None else dataset.table
    unused: list[LeftOut] = [
        {
            "column": str(name),
            "columns": [str(name)],
            "kind": infer(str(name), table[name]).kind,
            "share_missing": float(table[name].isna().mean()),
            "why": "not chosen",
        }
        for name in table.columns
        if name not in named
    ]
    return {**recipe, "left_out": [*recipe["left_out"], *unused]}


def table_of(
    recipe: FeatureRecipe,
    effects: Mapping[str, float],
    units: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return the table: a row for each column that is used or could be, the used ones first."""
    rows = []
    steps: list[Mapping[str, Any]] = [*recipe["columns"], *recipe["left_out"]]
    for step in steps:
        column, kind = str(step["column"]), str(step["kind"])
        options: dict[str, Any] = {**defaults(kind), **recipe["options"].get(column, {})}
        options |= {
            name: step[name] for name in ("scale", "weight", "impute", "log") if name in step
        }
        is_used = "why" not in step
        share_missing = step["share_missing"]
        rows.append(
            {
                "key": column,
                "used": is_used,
                "column": _COLUMN_TITLES.get(column)
                or ", ".join(_with_unit(name, units) for name in step["columns"]),
                "holds": HOLDS[kind],
                "agrees": 100.0 * effects.get(column, float("nan")),
                "share": 100.0 * step.get("share", float("nan") if is_used else 0.0),
                "weight": float(options["weight"]),
                "scale": SCALES[options["scale"]],
                "log": bool(options.get("log", False)),
                "season": bool(step.get("cyclic", False)),
                "impute": IMPUTES[options["impute"]],
                "missing": 100.0 * (float("nan") if share_missing is None else share_missing),
                "why": str(step.get("why", "")),
            }
        )
    return pd.DataFrame(rows).set_index("key")


def _with_unit(name: str, units: Mapping[str, str]) -> str:
    return f"{name} ({units[name]})" if name in units else name


def changed_options(
    frame: pd.DataFrame, edits: Mapping[int, Mapping[str, object]]
) -> dict[str, dict[str, object]]:
    """Return the edits of the table as options of columns."""
    options: dict[str, dict[str, object]] = {}
    for row, cells in edits.items():
        key = str(frame.index[int(row)])
        for column, value in cells.items():
            if column in _FIELDS and value is not None and value != frame.at[key, column]:
                field, read = _FIELDS[column]
                options.setdefault(key, {})[field] = read(value)
    return options


def _agreement_by_column(state: State, dataset: Dataset, recipe: FeatureRecipe) -> dict[str, float]:
    run = state.run
    embedding = None if run is None else state.embedding(run)
    if run is None or embedding is None:
        return {}
    agreement: dict[str, float] | None = worker_results.fetch_from_worker(
        project_id(),
        state.opened(),
        ("effects", dataset.name, id(run)),
        "column-effects",
        {
            "dataset": dataset.name,
            "recipe": recipe,
            "places": np.asarray(embedding.coordinates[dataset.name]),
        },
        run,
    )
    return agreement or {}


def _column_order(frame: pd.DataFrame) -> list[str]:
    order = ["used", "column", "weight", "agrees", "share", "holds", "scale", "log", "season"]
    order += ["impute", "missing", "why"]
    hidden = set() if (frame["holds"] == HOLDS["date"]).any() else {"season"}
    hidden |= set() if frame["why"].any() else {"why"}
    hidden |= set() if frame["agrees"].notna().any() else {"agrees"}
    hidden |= set() if frame["missing"].any() else {"impute", "missing"}
    return [column for column in order if column not in hidden]


def _column_config() -> dict[str, Any]:
    text_column, number_column = st.column_config.TextColumn, st.column_config.NumberColumn
    select_column, checkbox_column = (
        st.column_config.SelectboxColumn,
        st.column_config.CheckboxColumn,
    )
    return {
        "used": checkbox_column("Used", width=66, help="Whether the column counts for similarity."),
        "column": text_column("Column", width=120),
        "holds": select_column(
            "Holds", options=list(HOLDS.values()), required=True, width=100,
            help="Content of the cells. Numbers can be used as categories, categories as lists or "
            "text, a place on earth as two numbers."
        ),
        "agrees": number_column(
            "On the map", format="%.0f %%", width=88,
            help="How much more similar in this column the 10 nearest items on the map are than "
            "two random items. 100 % is equal, 0 % is chance. A column that the map does not show "
            "is around 0 %."
        ),
        "share": st.column_config.ProgressColumn(
            "Share", min_value=0.0, max_value=100.0, format="%.0f %%", width=88,
            help="This column's share of the variance of all features of this dataset."
        ),
        "weight": number_column(
            "Weight", min_value=0.01, max_value=MAX_WEIGHT, step=0.1, width=80, required=True,
            help="A column of weight 2 has twice the share of one of weight 1."
        ),
        "scale": select_column(
            "Scale", options=list(SCALES.values()), required=True, width=118,
            help="Same spread: no column dominates another. Same middle half: the same, but robust "
            "to "
            "extreme values. Order only: which is larger, not by how much. As it is: not scaled."
        ),
        "log": checkbox_column(
            "Log", width=60,
            help="The logarithm, for numbers of very different sizes, such as populations."
        ),
        "season": checkbox_column("Season", width=72, help="Also use the time of year of dates."),
        "impute": select_column(
            "Where missing", options=list(IMPUTES.values()), required=True, width=130,
            help="What replaces an empty cell. Not filled in: numbers get an extra feature that "
            "marks missing values, and a missing category is none of the others."
        ),
        "missing": number_column(
            "Missing", format="%.0f %%", width=80, help="Share of empty cells."
        ),
        "why": text_column("Why not used", width=170),
    }  # fmt: skip


def _choose_text_model(recipe: FeatureRecipe, key: str) -> None:
    """Ask for the model of free text, if there is text and a choice."""
    steps = [*recipe["columns"], *recipe["left_out"]]
    if not any(step["kind"] == "text" for step in steps) or not sentence_vectors.is_installed():
        return
    st.selectbox(
        "Free text is compared by",
        list(TEXT_MODELS),
        index=list(TEXT_MODELS).index(recipe["text_model"]),
        format_func={"words": "its words", "sentences": "its meaning (sentence model)"}.__getitem__,
        help="Words: texts that share rare words are similar. Meaning: a small language model "
        "reads each text, so that puppy and dog are similar. Made for English, and much slower. "
        "Columns in other languages that separate words are compared by their words.",
        key=key,
        width=250,
    )


def _choose_picture_model(recipe: FeatureRecipe, key: str) -> None:
    """Ask for the model of pictures, if there are pictures and a choice."""
    steps = [*recipe["columns"], *recipe["left_out"]]
    if not any(step["kind"] == "picture" for step in steps) or not picture_encoder.is_installed():
        return
    st.selectbox(
        "Pictures are compared by",
        list(PICTURE_MODELS),
        index=list(PICTURE_MODELS).index(_picture_model(recipe)),
        format_func={
            "edges": "edges and colours",
            "encoder": "what they show (picture encoder)",
        }.__getitem__,
        help="Edges and colours: pictures with similar outlines and colours are similar. What they "
        "show: a small network that was trained to name objects in photographs looks at each "
        "picture, so that two drawings of a dog are similar. About 15 ms per picture.",
        key=key,
        width=250,
    )


def _picture_model(recipe: FeatureRecipe) -> str:
    """Return the model of pictures that a recipe used."""
    models = (step.get("model") for step in recipe["columns"] if step["kind"] == "picture")
    return next(models, None) or "edges"


def _encoder_notes(recipe: FeatureRecipe) -> list[str]:
    """Return sentences on what compares pictures and free text, and whether it fits them."""
    notes = []
    for step in recipe["columns"]:
        if step["kind"] == "picture":
            words = {"edges": "edges and colours", "encoder": "what they show"}
            notes.append(f"Pictures are compared by {words[_picture_model(recipe)]}.")
        if step["kind"] != "text":
            continue
        by_meaning = step.get("model") == "sentences"
        about = f"{step['column']} is compared by its {'meaning' if by_meaning else 'words'}"
        language = step.get("language")
        if language:
            about += f", and seems to be in {language}. The sentence model is made for English"
        notes.append(f"{about}.")
    return notes


def _make_features(
    name: str, frame: pd.DataFrame, key: str, text_key: str, picture_key: str
) -> None:
    """Make features; those of slow models are left to the next run of the page."""
    changes = changed_options(frame, edited_cells(key))
    text_model: str | None = st.session_state.get(text_key)
    workspace = session.workspace()
    data = workspace.state.opened()
    picture_model: str | None = st.session_state.get(picture_key)
    if picture_model not in (None, _picture_model(recipe_of(data[name]))):
        # Who chooses a model wants the pictures to count.
        changes[PICTURES] = {"use": True, **changes.get(PICTURES, {}), "model": picture_model}
    if not changes and text_model in (None, recipe_of(data[name])["text_model"]):
        session.add_message("Nothing changed in the table, so the features stay the same.", "note")
        return
    command = SetFeatures(name, changes, text_model)
    if text_model == "sentences" or picture_model == "encoder":
        if len(data[name]) > MAX_SENTENCE_ROWS:
            slow, simple = (
                ("The sentence model reads", "texts by their words")
                if text_model == "sentences"
                else ("The picture encoder reads", "pictures by edges and colours")
            )
            session.add_message(
                f"{slow} at most {MAX_SENTENCE_ROWS:,} rows here, and {name} has "
                f"{len(data[name]):,}. Compare {simple}, or use the library."
            )
            return
        state_of(FeatureState).pending = command
    elif session.run_command(command):
        state_of(FeatureState).made_for = name


def _make_pending_features(dataset: Dataset) -> None:
    """Make the pending features and rerun the page."""
    pending = state_of(FeatureState).pending
    if pending is None or pending.dataset != dataset.name:
        return
    state_of(FeatureState).pending = None
    workspace = session.workspace()
    with st.spinner(f"Making features of {dataset.name} …", show_time=True):
        try:
            features, _ = make_dataset_features(workspace.state.opened(), pending)
        except HetvizError as error:
            session.add_message(str(error))
        else:
            blob = workspace.blobs.put(pack_features(features))
            if session.run_command(replace(pending, made=blob)):
                state_of(FeatureState).made_for = dataset.name
    st.rerun()


def edited_cells(key: str) -> Mapping[int, Mapping[str, object]]:
    """Return the edited cells: row to column to value."""
    editor = st.session_state.get(key)
    return {} if editor is None else editor["edited_rows"]


def _offer_refit(state: State, name: str, number: int) -> None:
    """Offer to refit the map after features changed."""
    if state_of(FeatureState).made_for != name or state.run is None or state.is_current(state.run):
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"refit-features-{number}"):
        theme.show_note(f"New features of {name} are ready. The map still uses the old ones.")
        st.button(
            "Refit the map",
            key=f"map-again-{number}",
            disabled=background.running_job() is not None,
            on_click=_refit,
        )


def _refit() -> None:
    if not background.refit(session.workspace().state):
        session.add_message(
            "This map cannot be refitted: its method is unknown here. Make a new map on the Map "
            "page.",
            "note",
        )


def _explanation(state: State) -> str:
    words = "Share: part of the variance of all features. "
    if state.run is None:
        return words + "With a map, a further column shows how well the map shows each column."
    return words + (
        "On the map: how much more similar neighbours on the map are in this column than random "
        "items. 100 % is equal, 0 % is chance."
    )
