"""The map as an ES module for pages of others, and its input."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TypedDict

import numpy as np
import pandas as pd

import hetviz.ui.notebook
from hetviz._types import Floats
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import ParameterError, check_type
from hetviz.io.gate import refusing_write, target_path
from hetviz.metrics.color_choice import find_best_color
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.plots.palette import N_SLOTS, Theme, number_scale, shape_of, tokens
from hetviz.plots.points import inline_modules, link_imports
from hetviz.runs.embed.run import EmbeddingOrigin
from hetviz.ui.map.component.assets import text_assets
from hetviz.ui.notebook.display import data_of_ids

_FOLDER = Path(__file__).parent
_MODULE = "hetviz_map.js"
_N_SCALE = 10
_THEMES: tuple[Theme, ...] = ("light", "dark")
# Columns of points with a meaning of their own.
_OWN_COLUMNS = ("id", "x", "y", "dataset", "title", "text", "picture")


class MapInput(TypedDict):
    """Input of ``showMap``, see the README of this folder."""

    points: dict[str, list[object]]
    links: dict[str, list[object]]
    colour: str
    title: str


@cache
def module_text() -> str:
    """Return the ES module with all modules of the map inside."""
    # The modules have no addresses of their own, as in a notebook.
    modules = {
        name: text.replace("import.meta.url", '"blob:hetviz"')
        for name, text in text_assets().items()
    }
    script = (_FOLDER / _MODULE).read_text(encoding="utf-8")
    sheet = json.dumps(style_sheet())
    return "".join(
        [
            f"const STYLE = {json.dumps(_style())};\nconst SHEET = {sheet};\n",
            *inline_modules(script, modules).values(),
            link_imports(script),
        ]
    )


@cache
def style_sheet() -> str:
    """Return the style sheet of the map outside the app, as in a notebook."""
    folder = Path(hetviz.ui.notebook.__file__).parent
    return text_assets()["map.css"] + (folder / "widget.css").read_text(encoding="utf-8")


def _style() -> dict[str, object]:
    """Return colours and marks, JSON-ready."""
    themes = {name: tokens(name) for name in _THEMES}
    return {
        "tokens": {name: asdict(theme) for name, theme in themes.items()},
        "choices": {name: list(theme.categories) for name, theme in themes.items()},
        "ghost": {name: theme.ghost for name, theme in themes.items()},
        "scale": {name: list(number_scale(_N_SCALE, name)) for name in _THEMES},
        "shapes": [shape_of(place) for place in range(N_SLOTS)],
    }


def save_map_component(folder: str | Path, embedding: Embedding | None = None) -> Path:
    """Write the map as an ES module for a page of your own.

    Parameters
    ----------
    folder : str or Path
        Folder of the files, created where it is missing: ``hetviz_map.js``, ``example.html`` and
        ``README.md`` with inputs and events. Existing files of these names are replaced.
    embedding : Embedding, optional
        Written as ``map.json``, the input of the module, see `map_input`.

    Returns
    -------
    Path
        The module.

    Examples
    --------
    >>> import tempfile
    >>> import hetviz
    >>> m = hetviz.embed(hetviz.load("digit-views"), "pca")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     module = hetviz.save_map_component(folder, m)
    ...     print(sorted(path.name for path in module.parent.iterdir()))
    ['README.md', 'example.html', 'hetviz_map.js', 'map.json']
    """
    target = target_path(folder)
    with refusing_write(target):
        target.mkdir(parents=True, exist_ok=True)
    for name in ("example.html", "README.md"):
        (target / name).write_bytes((_FOLDER / name).read_bytes())
    if embedding is not None:
        content = json.dumps(map_input(embedding), allow_nan=False)
        (target / "map.json").write_text(content, encoding="utf-8")
    (target / _MODULE).write_text(module_text(), encoding="utf-8")
    return target / _MODULE


def map_input(
    embedding: Embedding, data: HeteroData | None = None, *, colour: str | None = None
) -> MapInput:
    """Return the input of the map component: points with all their columns, and links.

    Parameters
    ----------
    embedding : Embedding
    data : HeteroData, optional
        By default the data that the map was made from; without them there are only ids.
    colour : str, optional
        Column of the points, or "dataset". By default the one that the map shows best.

    Returns
    -------
    dict
        JSON-ready: ``points`` and ``links`` by column, ``colour`` and ``title``.

    Raises
    ------
    hetviz.errors.ParameterError
        If there is no such column.

    Notes
    -----
    Labels and columns of the tables are columns of the points. Items of other datasets have None
    there.
    """
    check_type(embedding, Embedding, "embedding")
    origin = embedding.made
    if data is None:
        data = origin.data if isinstance(origin, EmbeddingOrigin) else data_of_ids(embedding)
    places = coordinates_of(data, embedding.planar())
    parts = [_points_of(data, data[name], Y) for name, Y in places.items()]
    points = pd.concat(parts, ignore_index=True)
    choices = ["dataset", *[name for name in points.columns if name not in _OWN_COLUMNS]]
    if colour is None:
        key = find_best_color(data, embedding)
        colour = json.loads(key)[1] if key is not None and key.startswith("[") else "dataset"
        colour = colour if colour in choices else "dataset"
    elif colour not in choices:
        raise ParameterError(f"colour = {colour!r} must be one of {', '.join(choices)}.")
    return {
        "points": {str(name): _values(points, name) for name in points.columns},
        "links": _link_columns(data),
        "colour": colour,
        "title": embedding.note,
    }


def _points_of(data: HeteroData, dataset: Dataset, Y: Floats) -> pd.DataFrame:
    """Return the points of a dataset, with its labels and the columns of its table."""
    columns: dict[str, object] = {
        "id": [dataset.key(str(text)) for text in dataset.ids],
        "dataset": dataset.name,
        "title": list(dataset.display_names),
    }
    columns |= {"x": Y[:, 0], "y": Y[:, 1]}
    for labels in data.labels:
        if labels.dataset == dataset.name:
            columns[_free_name(labels.name)] = list(labels.values)
    table = dataset.table
    for name, values in () if table is None else table.items():
        columns.setdefault(_free_name(str(name)), list(values))
    return pd.DataFrame(columns)


def _free_name(name: str) -> str:
    return f"{name} of the table" if name in _OWN_COLUMNS else name


def _values(points: pd.DataFrame, name: str) -> list[object]:
    column = points[name]
    missing = column.isna().tolist()
    return [
        None if is_missing else _json_value(value)
        for value, is_missing in zip(column.tolist(), missing, strict=True)
    ]


def _json_value(value: object) -> object:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return str(value)


def _link_columns(data: HeteroData) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {
        name: [] for name in ("source", "source_dataset", "target", "target_dataset", "weight")
    }
    for group in data.links:
        for end, name, rows in (
            ("source", group.source, group.i),
            ("target", group.target, group.j),
        ):
            dataset = data[name]
            columns[end] += [dataset.key(str(text)) for text in dataset.ids[rows]]
            columns[f"{end}_dataset"] += [name] * len(rows)
        columns["weight"] += np.asarray(group.weight, dtype=np.float64).tolist()
    return columns
