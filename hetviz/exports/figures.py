"""Figures as files, with settings that a recipe can store."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from hetviz._types import JsonObject
from hetviz.data import Embedding, HeteroData
from hetviz.errors import ParameterError
from hetviz.metrics.color_choice import find_best_color
from hetviz.plots.colour import (
    Colouring,
    colour_options,
    colouring,
    display_name,
    find_option,
)
from hetviz.plots.curve import Curve
from hetviz.plots.figure_choices import FIGURE_FORMATS, NAME_CHOICES
from hetviz.runs.cluster.regions import RegionLevel

SIZES: Mapping[str, Mapping[str, Any]] = {
    # 1920 x 1080 pixels, with text that can be read from the last row.
    "slide": {"width": 254.0, "height": 142.875, "dpi": 192, "font_size": 15.0},
    "one column": {"width": 85.0},
    "two columns": {"width": 174.0},
}
"""Settings of a figure by its use."""


@dataclass(frozen=True)
class FigureSettings:
    """Settings of a figure.

    `colour`: Key or title of an option of `hetviz.plots.colour.colour_options`, or a column name.
        If empty, the column whose groups the map separates best.
    `width`: In millimetres.
    `height`: In millimetres. By default it follows from the plot.
    `names`: One of `hetviz.plots.figure_choices.NAME_CHOICES`.
    `hidden`: Datasets that are not drawn.
    `caption`: Whether the caption is written below the map.
    `terrain`: Whether densities, or lines of equal numbers, are drawn below the items.
    `palette`: Colours of some categories, such as ``{"Food": "#e46e1b"}``.
    `font_size`: Of the legend of a map, in points. Dots follow it. By default it follows from the
        width.
    """

    colour: str = ""
    width: float = 85.0
    height: float | None = None
    dpi: int = 300
    names: str = "groups"
    hidden: tuple[str, ...] = ()
    caption: bool = False
    terrain: bool = True
    palette: Mapping[str, str] = field(default_factory=dict)
    font_size: float | None = None

    def __post_init__(self) -> None:
        if self.names not in NAME_CHOICES:
            allowed = ", ".join(map(repr, NAME_CHOICES))
            raise ParameterError(f"names = {self.names!r} must be one of {allowed}.")
        for name, colour in self.palette.items():
            if not re.fullmatch("#[0-9a-fA-F]{6}", str(colour)):
                raise ParameterError(f"palette: {name} = {colour!r} must look like #1d5c63.")

    def to_dict(self) -> JsonObject:
        """Return the settings that are neither None nor an empty palette as JSON."""
        settings = {key: value for key, value in asdict(self).items() if value not in (None, {})}
        return settings | {"hidden": list(self.hidden)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> FigureSettings:
        kinds: dict[str, tuple[type, ...]] = {
            "colour": (str,),
            "width": (int, float),
            "height": (int, float),
            "dpi": (int,),
            "names": (str,),
            "hidden": (list, tuple),
            "caption": (bool,),
            "terrain": (bool,),
            "palette": (dict,),
            "font_size": (int, float),
        }
        for key, value in fields.items():
            if key not in kinds or not isinstance(value, kinds[key]):
                raise ParameterError(f"figure: {key} = {value!r} is not a setting of a figure.")
        return cls(**{**fields, "hidden": tuple(map(str, fields.get("hidden", ())))})


DEFAULT_SETTINGS = FigureSettings()


def settings_for(size: str | None, **changes: Any) -> FigureSettings:
    """Return the settings of a use in `SIZES`, with the changes that are not None."""
    if size is not None and size not in SIZES:
        raise ParameterError(f"size = {size!r} must be one of {', '.join(map(repr, SIZES))}.")
    changed = {key: value for key, value in changes.items() if value is not None}
    return FigureSettings(**{**SIZES.get(size or "", {}), **changed})


def colouring_of(
    data: HeteroData,
    embedding: Embedding,
    name: str = "",
    palette: Mapping[str, str] = MappingProxyType({}),
) -> Colouring:
    """Return the colouring of a key, title or column; without a name that the map separates."""
    colours = _colouring_of(data, embedding, name)
    if not palette:
        return colours
    names = {shown: own for own in colours.categories for shown in (display_name(own), own)}
    unknown = next((name for name in palette if name not in names), None)
    if unknown is not None:
        allowed = ", ".join(map(display_name, colours.categories)) or "none, since it is a number"
        raise ParameterError(f"palette: {unknown!r} must be one of the categories: {allowed}.")
    chosen = tuple((names[name], colour.lower()) for name, colour in palette.items())
    return replace(colours, swatches=chosen)


def _colouring_of(data: HeteroData, embedding: Embedding, name: str) -> Colouring:
    options = colour_options(data)
    if not name:
        return colouring(data, find_best_color(data, embedding))
    if (option_of_key := find_option(data, name)) is not None:
        return colouring(data, option_of_key.key)
    for option in options:
        # A key is a JSON list that ends in the name of the column.
        column = json.loads(option.key)[1] if option.key.startswith("[") else option.key
        if name.lower() in (option.key.lower(), option.title.lower(), str(column).lower()):
            return colouring(data, option.key)
    titles = "; ".join(option.title for option in options)
    raise ParameterError(f"colour = {name!r} must be one of: {titles}.")


def map_bytes(
    data: HeteroData,
    embedding: Embedding,
    settings: FigureSettings = DEFAULT_SETTINGS,
    form: str = "pdf",
    *,
    title: str = "",
    colours: Colouring | None = None,
    name: str = "",
    regions: Sequence[RegionLevel] | None = None,
) -> bytes:
    """Return the map as a PNG, SVG or PDF. Equal maps give equal bytes."""
    from hetviz.plots.paper import figure_bytes
    from hetviz.plots.paper_map import paper_map

    picture = paper_map(
        data,
        embedding,
        colouring_of(data, embedding, settings.colour, settings.palette)
        if colours is None
        else colours,
        width=settings.width,
        height=settings.height,
        names=settings.names,
        hidden=settings.hidden,
        title=title,
        caption=settings.caption,
        has_terrain=settings.terrain,
        regions=regions,
        font_size=settings.font_size,
    )
    return figure_bytes(picture.figure, form, settings.dpi, name)


def curve_bytes(
    curves: Mapping[str, Curve],
    kind: str = "links",
    settings: FigureSettings = DEFAULT_SETTINGS,
    form: str = "pdf",
    name: str = "",
) -> bytes:
    """Return satisfaction curves as a PNG, SVG or PDF with `name` as its title."""
    from hetviz.plots.paper import figure_bytes
    from hetviz.plots.paper_charts import paper_curve

    figure = paper_curve(curves, kind, **_chart_size(settings))
    return figure_bytes(figure, form, settings.dpi, name)


def bars_bytes(
    names: Sequence[str],
    means: Sequence[float],
    errors: Sequence[float],
    label: str,
    chance: float | None = None,
    settings: FigureSettings = DEFAULT_SETTINGS,
    form: str = "pdf",
    name: str = "",
) -> bytes:
    """Return a leaderboard as a PNG, SVG or PDF with `name` as its title."""
    from hetviz.plots.paper import figure_bytes
    from hetviz.plots.paper_charts import paper_bars

    figure = paper_bars(names, means, errors, label=label, chance=chance, **_chart_size(settings))
    return figure_bytes(figure, form, settings.dpi, name)


def _chart_size(settings: FigureSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in ("width", "height", "font_size")}


__all__ = [
    "FIGURE_FORMATS",
    "SIZES",
    "FigureSettings",
    "bars_bytes",
    "curve_bytes",
    "map_bytes",
    "settings_for",
]
