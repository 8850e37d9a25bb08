"""Interactive map as one HTML file with hover, pictures, legend and search."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Real
from typing import cast

import numpy as np
import pandas as pd
from scipy.sparse import triu

from hetviz._text import count, format_number, is_name, is_word, shorten
from hetviz._types import Array, Floats, Ints, JsonObject
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError
from hetviz.exports.page import escape_html, html_page, picture_data_url, read_asset
from hetviz.features.linked_values import NO_VALUE
from hetviz.features.map_columns import number_columns, projection_of
from hetviz.plots.colour import OTHER, Colouring, display_name
from hetviz.plots.geography import earth_map
from hetviz.plots.label_placement import NAME_FONT, Frame, drawn_name, name_anchors
from hetviz.plots.named_regions import category_of_region, named_levels
from hetviz.plots.palette import Theme, number_scale, pale, shape_of, text_colour, tokens
from hetviz.plots.planar import points_to_draw, proposed_text, unconnected_note
from hetviz.plots.points import bundle_script, read_style
from hetviz.plots.saved_views import ResolvedView, in_focus
from hetviz.runs.cluster.regions import RegionLevel

PICTURE_BYTES = 12_000_000
"""Budget of all pictures. The most linked items come first."""
FACT_BYTES = 24_000_000
"""Budget of the table columns shown for an item."""
MAX_ROWS = 1_000_000
MAX_LINKS = 400_000
"""With more links, the page lists no linked items. Each takes 11 bytes."""
CHART_BYTES = 12_000_000
"""Budget of the columns of charts. The first charts come first."""
_MAX_NAMES = 2_000
_MAX_FACTS, _MAX_LETTERS = 6, 120
_STEPS = 64
_HELP = (
    "Drag to move the map, turn the wheel to zoom, and click an item to see its data and the "
    "nearest items. With the keyboard: arrow keys to move, + and - to zoom, 0 for the whole map, "
    "Enter to select the item in the middle, Escape to clear the selection."
)


@dataclass(frozen=True)
class PageChart:
    """A chart of a page: dataset and columns, specs of its columns, and their arrays by key.

    Specs and arrays are those of the app: codes of all rows of a dataset, and links of rows.
    """

    chart: Sequence[str]
    specs: Sequence[Mapping[str, object]]
    arrays: Mapping[str, bytes]


def interactive_map(
    data: HeteroData,
    embedding: Embedding,
    colouring: Colouring,
    *,
    title: str = "",
    subtitle: str = "",
    hidden: Collection[str] = (),
    picture_bytes: int = PICTURE_BYTES,
    names: str = "groups",
    regions: Sequence[RegionLevel] | None = None,
    charts: Sequence[PageChart] = (),
    views: Sequence[ResolvedView] = (),
    pins: Sequence[int] = (),
) -> str:
    """Return a map as one HTML page. `names` and `regions` are those of `paper_map`.

    `pins`: Global rows of pinned items.
    """
    picture = points_to_draw(embedding)
    is_visible = np.zeros(data.n_rows, dtype=bool)
    for name, span in data.offsets.items():
        is_visible[span] = name not in hidden
    rows = np.flatnonzero(is_visible & picture.placed)
    if len(rows) > MAX_ROWS:
        problem = f"{len(rows):,} items, but a page can have at most {MAX_ROWS:,}"
        remedy = "Hide a dataset, or export a picture."
        raise DataError.of("too-many-rows", "interactive map", problem, remedy=remedy)
    frame = Frame.around(picture.points[rows])
    notes = [*picture.notes, *unconnected_note(embedding, hidden)]
    facts, left_out = _facts(data, rows, [name for name in data.datasets if name not in hidden])
    content = _content(data, picture.points, rows, frame, hidden, picture_bytes) | {"facts": facts}
    content |= _charts(data, rows, hidden, charts)
    content["links"] = _links(data, rows)
    if content["links"] is None:
        left_out.append("links")
    if projection_of(embedding) is None:
        content["geography"] = _geography(data, rows, frame)
    content["pins"] = np.flatnonzero(np.isin(rows, pins)).tolist()
    by_region = names.startswith("regions")

    def colour_part(colours: Colouring) -> JsonObject:
        """Return what the page needs to show a colouring."""
        part = _colours(colours, picture.points, rows, frame)
        levels = named_levels(data, picture.points, colours, regions) if by_region else ()
        if levels:
            part["names"] = [
                {**name, "rank": rank}
                for rank, region in enumerate(levels)
                for name in _region_names(region, colours, rows, picture.points, frame)
            ]
            part["named"] = [_text(_true_codes(region)[rows], "<i2") for region in levels]
        return part

    content |= colour_part(colouring)
    content |= _views(data, views, colouring, rows, frame, hidden, colour_part)
    if left_out:
        notes.append(f"Too large for this file: {', '.join(left_out)}.")
    if outside := frame.outside:
        notes.append(
            f"{outside:,} {'item is' if outside == 1 else 'items are'} off screen. "
            "Zoom out to see more."
        )
    heading = title or "Joint map"
    parts = proposed_text(data), subtitle, *notes
    line = " ".join(f"{part.rstrip('.')}." for part in parts if part)
    body = (
        '<header><div class="tools"><label class="hidden" for="search">Search</label>'
        '<input id="search" type="search" placeholder="Search" autocomplete="off">'
        '<span class="gap"></span>'
        '<button id="reset" type="button">Show the whole map</button>'
        '<button id="table" type="button" aria-expanded="false" aria-controls="items">'
        "Show table</button>"
        f"{_present_button(len(views))}"
        '<button id="terrain" type="button" aria-pressed="true">Terrain</button>'
        '<button id="theme" type="button">Dark theme</button></div></header>'
        f"<main><section><h1>{escape_html(heading)}</h1><p>{escape_html(line)}</p>"
        '<div id="legend" role="group" aria-label="Datasets and categories"></div></section>'
        '<div class="map"><canvas id="earth" aria-hidden="true"></canvas>'
        '<canvas id="points" aria-hidden="true"></canvas>'
        f'<canvas id="map" tabindex="0" role="img" aria-label="{escape_html(heading)}" '
        'aria-describedby="help"></canvas><div id="views" role="group" aria-label="View" hidden>'
        '<button type="button">Map</button><button type="button">Geography</button>'
        '<p></p></div><div id="tip" hidden></div></div>'
        '<aside><p id="note" hidden></p><p id="count" role="status"></p>'
        '<div id="matches"></div><div id="item"></div></aside>'
        '</main><section id="charts" class="charts" aria-label="Charts and table" hidden>'
        '<div class="tools"><b id="shown" role="status"></b>'
        '<button id="show-all" type="button" hidden>Show all</button></div>'
        '<div id="chart-row" class="hv-dock-row"></div><div id="items" hidden></div></section>'
        f'<p id="help" class="hidden">{escape_html(_HELP)}</p>'
        '<p id="status" class="hidden" role="status"></p>'
    )
    script = bundle_script(read_asset("interactive.js"))
    style = read_asset("interactive.css") + read_style()
    return html_page(heading, body, style, script, content)


def _content(
    data: HeteroData,
    points: Floats,
    rows: Ints,
    frame: Frame,
    hidden: Collection[str],
    picture_bytes: int,
) -> JsonObject:
    layers = [name for name in data.datasets if name not in hidden]
    place_of = {name: k for k, name in enumerate(data.datasets)}
    starts = np.array([span.start for span in data.offsets.values()])
    owner = np.searchsorted(starts, rows, side="right") - 1
    local = rows - starts[owner]
    parts = list(data.datasets.values())
    # Scaled to the frame, single precision is enough at the highest zoom.
    scale = _page_scale(frame)
    positions = (points[rows] - frame.low) * scale
    degree = data.adjacency("+").astype(bool).sum(axis=1)[rows]
    by_degree = np.argsort(-degree, kind="stable")
    titles = [str(parts[d].display_names[r]) for d, r in zip(owner, local, strict=True)]
    ids = [str(parts[d].ids[r]) for d, r in zip(owner, local, strict=True)]
    counts = np.bincount(owner, minlength=len(parts))
    # File names and running ids are not written on the map.
    nameable = (k for k in by_degree.tolist() if is_name(titles[k], ids[k]) and is_word(titles[k]))
    return {
        "at": _text(positions, "<f4"),
        "frame": ((frame.high - frame.low) * scale).tolist(),
        "ids": [None if _has_id(name, id) else id for id, name in zip(ids, titles, strict=True)],
        "titles": titles,
        "datasets": [
            {
                "name": name,
                "count": len(data[name]),
                "drawn": int(counts[place_of[name]]),
                "shape": shape_of(place_of[name])[0],
                "glyph": shape_of(place_of[name])[1],
                "factor": shape_of(place_of[name])[2],
                "title": display_name(data[name].title_column or "Title"),
                "columns": len(_fact_columns(data[name])),
            }
            for name in layers
        ],
        "pictures": _pictures(parts, owner, local, by_degree, picture_bytes),
        "order": list(islice(nameable, _MAX_NAMES)),
        "help": _HELP,
    }  # fmt: skip


def _links(data: HeteroData, rows: Ints) -> str | None:
    """Return the pairs of linked items on the page, or None if there are too many."""
    pairs = triu(data.adjacency("+")[rows][:, rows], k=1).tocoo()
    if pairs.nnz > MAX_LINKS:
        return None
    return _text(np.column_stack([pairs.row, pairs.col]), "<i4")


def _geography(data: HeteroData, rows: Ints, frame: Frame) -> JsonObject | None:
    """Return the items at their places on the earth, in units of the page, if they have any."""
    earth = earth_map(data, rows, frame, lambda name: number_columns(data[name]))
    if earth is None:
        return None
    scale = _page_scale(frame)
    points = (earth.points[rows] - frame.low) * scale
    around = Frame.around(points[~np.isnan(points[:, 0])])
    return {
        "at": _text(points, "<f4"),
        "frame": {axis: [around.low[k], around.high[k]] for k, axis in enumerate(("x", "y"))},
        "outlines": _text((earth.outlines - frame.low) * scale, "<f4"),
        "perKm": earth.per_km * scale,
        "note": earth.note,
    }


def _colours(colours: Colouring, points: Floats, rows: Ints, frame: Frame) -> JsonObject:
    numbers = colours.option.kind == "numbers"
    code = colours.code[rows]
    return {
        "code": _text(code, "<i2"),
        "pale": "" if colours.is_pale is None else _text(colours.is_pale[rows], "|u1"),
        "borrowed": "" if colours.is_borrowed is None else _text(colours.is_borrowed[rows], "|u1"),
        "value": _text(_steps(colours, rows), "|u1") if numbers else "",
        "numbers": _range(colours) if numbers else "",
        "byDataset": colours.option.kind == "dataset",
        "colour": colours.option.title,
        "categories": [shorten(display_name(name), 40) for name in colours.categories],
        "rest": []
        if numbers
        else [
            [code_of, word]
            for code_of, word in ((OTHER, "Other"), (NO_VALUE, "No value"))
            if (code == code_of).any()
        ],
        "names": []
        if numbers
        else _names(
            [display_name(name) for name in colours.categories],
            colours.own_code,
            rows,
            points,
            frame,
        ),
        # The group of each row, for whose items its name is shown.
        "named": [] if numbers else [_text(colours.own_code[rows], "<i2")],
        "light": _palette(colours, "light"),
        "dark": _palette(colours, "dark"),
    }


def _views(
    data: HeteroData,
    views: Sequence[ResolvedView],
    usual: Colouring,
    rows: Ints,
    frame: Frame,
    hidden: Collection[str],
    colour_part: Callable[[Colouring], JsonObject],
) -> JsonObject:
    """Return the saved views, and the colourings that they need besides the usual one."""
    parts: list[JsonObject] = []
    numbers = {(usual.option.key, usual.swatches): 0}
    layers = [name for name in data.datasets if name not in hidden]
    scale, low = _page_scale(frame), frame.low
    listed: list[JsonObject] = []
    for item in views:
        key = item.colours.option.key, item.colours.swatches
        if key not in numbers:
            parts.append(colour_part(item.colours))
            numbers[key] = len(parts)
        selected = np.isin(rows, item.rows)
        focus = in_focus(data, item)
        lit = selected if focus is None else focus[rows]
        camera = item.camera and {
            axis: [(end - low[k]) * scale for end in item.camera[axis]]
            for k, axis in enumerate(("x", "y"))
        }
        listed.append(
            {
                "text": item.view.text,
                "facts": item.facts,
                "notes": list(item.notes),
                "colours": numbers[key],
                "shown": _text(item.shown[rows], "|u1"),
                "selected": _text(selected, "|u1") if selected.any() else "",
                "lit": _text(lit, "|u1") if focus is not None or selected.any() else "",
                "hidden": [layers.index(name) for name in item.hidden if name in layers],
                "hiddenCodes": item.legend.hidden,
                "camera": camera,
            }
        )
    return {"views": listed, "colourings": parts}


def _charts(
    data: HeteroData, rows: Ints, hidden: Collection[str], charts: Sequence[PageChart]
) -> JsonObject:
    """Return the charts of shown datasets that fit the budget, with the rows on the page."""
    kept: list[JsonObject] = []
    arrays: dict[str, str] = {}
    bytes_left = CHART_BYTES
    for item in charts:
        new = {key: content for key, content in item.arrays.items() if key not in arrays}
        size = 4 * sum(map(len, new.values())) // 3
        if size > bytes_left or {item.chart[0], item.chart[2]} & set(hidden):
            continue
        bytes_left -= size
        arrays |= {key: base64.b64encode(content).decode() for key, content in new.items()}
        kept.append(
            {"chart": list(item.chart), "specs": cast("list[JsonObject]", list(item.specs))}
        )
    if not kept:
        return {"charts": []}
    return {
        "charts": kept,
        "arrays": arrays,
        "rows": _text(rows, "<i4"),
        "offsets": {name: span.start for name, span in data.offsets.items()},
    }


def _has_id(name: str, id: str) -> bool:
    return name == id or name.endswith(f"({id})")


def _text(array: Array, kind: str) -> str:
    """Return the little-endian bytes of an array as base64 text."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=np.dtype(kind)).tobytes()).decode()


def _palette(colours: Colouring, theme: Theme) -> JsonObject:
    is_own = colours.ordered or colours.swatches
    palette = colours.colours(theme) if is_own else tokens(theme).categories
    texts = [text_colour(colour, theme) for colour in palette]
    scale = list(number_scale(_STEPS, theme))
    return {
        "ghost": tokens(theme).ghost, "colours": list(palette), "texts": texts, "scale": scale,
        "pale": [pale(colour, theme) for colour in (scale if not colours.categories else palette)],
    }  # fmt: skip


def _steps(colours: Colouring, rows: Ints) -> Ints:
    """Return the step of each row on the colour scale, from 1, or 0 without a number."""
    share = colours.shares[rows] * (_STEPS - 1)
    return np.where(np.isnan(share), 0, 1 + np.rint(np.nan_to_num(share))).astype(np.int64)


def _range(colours: Colouring) -> str:
    low, high = colours.ends
    scale = ", logarithmic" if colours.is_log else ""
    return f"Colour: {colours.option.title}, from {low:,.3g} (dark) to {high:,.3g} (light){scale}"


def _present_button(n_views: int) -> str:
    if not n_views:
        return ""
    return f'<button id="present" type="button">Present {count(n_views, "view")}</button>'


def _page_scale(frame: Frame) -> float:
    """Return page units per map unit: the wider side of the frame is 1."""
    return 1.0 / float(max(*(frame.high - frame.low), 1e-12))


def _names(
    categories: Sequence[str],
    codes: Ints,
    rows: Ints,
    points: Floats,
    frame: Frame,
    colours: Sequence[int | None] | None = None,
) -> list[JsonObject]:
    """Return the names of groups with their possible places, without those that have none."""
    scale = _page_scale(frame)
    rows = rows[frame.inside(points[rows])]
    positions, code = points[rows], codes[rows]
    names: list[JsonObject] = []
    for k, category in enumerate(categories):
        members = positions[code == k]
        if category and len(members):
            name = drawn_name(category)
            anchors = name_anchors(frame, members, positions, code, k, name, NAME_FONT)
            places = (anchors - frame.low) * scale
            if len(places):
                colour = k if colours is None else colours[k]
                names.append({"text": name, "of": k, "code": colour, "at": places.tolist()})
    return names


def _region_names(
    region: RegionLevel, colouring: Colouring, rows: Ints, points: Floats, frame: Frame
) -> list[JsonObject]:
    numbers = range(len(region.names))
    category: list[int | None] = [None for _ in numbers]
    if colouring.categories:
        category = [category_of_region(region, colouring, rows, k) for k in numbers]
    return _names(region.names, _true_codes(region), rows, points, frame, category)


def _true_codes(region: RegionLevel) -> Ints:
    """Return the region of each row; members that its name is not true of count as others."""
    return np.where(region.is_true, region.codes, OTHER)


def _facts(
    data: HeteroData, rows: Ints, layers: Collection[str]
) -> tuple[list[list[JsonObject]], list[str]]:
    """Return some columns of each dataset, and the names of columns that did not fit."""
    facts: list[list[JsonObject]] = []
    left_out: list[str] = []
    bytes_left = FACT_BYTES
    for layer in layers:
        part, span = data[layer], data.offsets[layer]
        local = rows[(rows >= span.start) & (rows < span.stop)] - span.start
        columns_of_layer: list[JsonObject] = []
        for column in _fact_columns(part)[:_MAX_FACTS]:
            assert part.table is not None  # noqa: S101 - it has columns
            cells = part.table[column].iloc[local].astype(object)
            try:
                word_index, values = pd.factorize(cells)
            except TypeError:  # lists and the like
                word_index, values = pd.factorize(cells.map(str, na_action="ignore"))
            words = list(map(_cell_text, values))
            empty = np.array([not word.strip() for word in words], dtype=bool)
            if empty.any():
                word_index = np.where(empty[word_index] & (word_index >= 0), -1, word_index)
            size = sum(map(len, words)) + 3 * len(words) + 7 * len(word_index)
            name = str(display_name(str(column)))
            if size > bytes_left:
                left_out.append(name)
                continue
            bytes_left -= size
            is_number = all(
                isinstance(value, Real) and not isinstance(value, bool) for value in values
            )
            columns_of_layer.append(
                {"name": name, "words": words, "at": _text(word_index, "<i4"), "number": is_number}
            )
        facts.append(columns_of_layer)
    return facts, left_out


def _fact_columns(part: Dataset) -> list[str]:
    """Return the columns of a dataset except those of its titles and pictures."""
    if part.table is None:
        return []
    media = (part.recipe or {}).get("media")
    return [column for column in part.table.columns if column not in (part.title_column, media)]


def _cell_text(value: object) -> str:
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat()
    return shorten(str(value), _MAX_LETTERS)


def _pictures(
    parts: Sequence[Dataset], owner: Ints, local: Ints, order: Ints, budget: int
) -> JsonObject:
    pictures: JsonObject = {}
    if all(part.media is None for part in parts):
        return pictures
    for k in order.tolist():
        media = parts[owner[k]].media
        address = None if media is None else picture_data_url(media[local[k]])
        if address is None:
            continue
        budget -= len(address)
        if budget < 0:
            break
        pictures[str(k)] = address
    return pictures
