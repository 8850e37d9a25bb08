"""The map as one HTML file that opens from a disk: hover, pictures, legend, search; no server."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from hetviz._text import is_name, is_word, short
from hetviz._types import Floats, Ints, JsonObject
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError, Problem
from hetviz.exports.page import asset, esc, page, picture_address
from hetviz.plots.colour import Colouring, number_range, spoken
from hetviz.plots.label_placement import LONGEST_NAME, NAME_FONT, Frame, name_anchors
from hetviz.plots.palette import Theme, number_scale, shape_of, text_colour, tokens
from hetviz.plots.planar import drawn, unjoined

PICTURE_BYTES = 12_000_000
"""Pictures are taken while they fit, those of the most linked items first."""
MOST_ROWS = 100_000
_FACTS, _LONGEST = 6, 120
_STEPS = 64
_SPAN = 10_000
_HELP = (
    "Drag to move the map, turn the wheel to zoom, and click an item to see what is known of it "
    "and which items are nearest. With the keyboard: arrow keys to move, + and - to zoom, 0 for "
    "the whole map, Enter to select the item in the middle, Escape to select nothing."
)


def interactive_map(
    data: HeteroData,
    embedding: Embedding,
    colouring: Colouring,
    *,
    title: str = "",
    subtitle: str = "",
    hidden: Collection[str] = (),
    picture_bytes: int = PICTURE_BYTES,
) -> str:
    """Return a map as one HTML page.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Of the same rows; its `planar` form is shown.
    colouring : Colouring
    title, subtitle : str
        Plain text above the map.
    hidden : collection of str
        Datasets to leave out.
    picture_bytes : int
        Budget of all pictures together.

    Raises
    ------
    hetviz.errors.DataError
        Above 100,000 items, which a browser would not move smoothly.

    Notes
    -----
    About 150 bytes an item and the pictures. Our own script of 13 kB draws it; a chart library
    would add 4.8 MB to every file.
    """
    form = drawn(embedding)
    shown = np.zeros(data.n_rows, dtype=bool)
    for name, span in data.offsets.items():
        shown[span] = name not in hidden
    rows = np.flatnonzero(shown & form.placed)
    if len(rows) > MOST_ROWS:
        what = f"{len(rows):,} items; {MOST_ROWS:,} can be moved in a browser"
        remedy = "Leave a dataset out, or choose a picture."
        raise DataError(Problem("too-many-rows", "interactive map", what, remedy=remedy))
    frame = Frame.around(form.points[rows])
    notes = [*form.notes, *unjoined(embedding, hidden)]
    content = _content(data, colouring, form.points, rows, frame, hidden, picture_bytes)
    outside = frame.outside
    if outside:
        notes.append(
            f"{outside:,} {'item lies' if outside == 1 else 'items lie'} beyond the edge: zoom out."
        )
    heading = title or "Joint map"
    line = " ".join(f"{part.rstrip('.')}." for part in (subtitle, *notes) if part)
    body = (
        f"<header><h1>{esc(heading)}</h1><p>{esc(line)}</p>"
        '<div class="tools"><label class="hidden" for="search">Search</label>'
        '<input id="search" type="search" placeholder="Search" autocomplete="off">'
        '<span id="legend" class="tools" role="group" aria-label="What is shown"></span>'
        '<span class="gap"></span>'
        '<button id="reset" type="button">Show the whole map</button>'
        '<button id="theme" type="button">Dark theme</button></div></header>'
        '<main><div class="map">'
        f'<canvas id="map" tabindex="0" role="img" aria-label="{esc(heading)}" '
        'aria-describedby="help"></canvas><div id="tip" hidden></div></div>'
        '<aside><p id="count" role="status"></p><ul id="matches"></ul><div id="item"></div></aside>'
        f'</main><p id="help" class="hidden">{esc(_HELP)}</p>'
        '<p id="said" class="hidden" role="status"></p>'
    )
    return page(heading, body, asset("interactive.css"), asset("interactive.js"), content)


def _content(
    data: HeteroData,
    colours: Colouring,
    points: Floats,
    rows: Ints,
    frame: Frame,
    hidden: Collection[str],
    picture_bytes: int,
) -> JsonObject:
    layers = [name for name in data.datasets if name not in hidden]
    place = {name: k for k, name in enumerate(data.datasets)}
    starts = np.array([span.start for span in data.offsets.values()])
    owner = np.searchsorted(starts, rows, side="right") - 1
    local = rows - starts[owner]
    parts = list(data.datasets.values())
    scale = _SPAN / float(max(*(frame.high - frame.low), 1e-12))
    at = np.rint((points[rows] - frame.low) * scale).astype(int)
    width, height = np.rint((frame.high - frame.low) * scale).astype(int).tolist()
    degree = data.adjacency("+").astype(bool).sum(axis=1)[rows]
    order = np.argsort(-degree, kind="stable")
    titles = [str(parts[d].titles[r]) for d, r in zip(owner, local, strict=True)]
    ids = [str(parts[d].ids[r]) for d, r in zip(owner, local, strict=True)]
    numbers = colours.option.kind == "numbers"
    layer = {place[name]: k for k, name in enumerate(layers)}
    facts = _facts(data, layers)
    return {
        "x": at[:, 0].tolist(),
        "y": at[:, 1].tolist(),
        "width": width,
        "height": height,
        "of": [layer[d] for d in owner.tolist()],
        "ids": ids,
        "titles": titles,
        "search": [f"{title} {id}".lower() for title, id in zip(titles, ids, strict=True)],
        "code": colours.code[rows].tolist(),
        "value": _steps(colours, rows) if numbers else [],
        "numbers": _range(colours) if numbers else "",
        "byDataset": colours.option.kind == "dataset",
        "categories": [short(spoken(name), 40) for name in colours.categories],
        "datasets": [
            {
                "name": name,
                "count": len(data[name]),
                "shape": shape_of(place[name])[0],
                "glyph": shape_of(place[name])[1],
            }
            for name in layers
        ],
        "facts": [facts[parts[d].name][r] for d, r in zip(owner, local, strict=True)],
        "pictures": _pictures(parts, owner, local, order, picture_bytes),
        "names": [] if numbers else _names(colours, rows, points, frame, scale),
        # What may be written on the map: neither files nor running ids.
        "order": [k for k in order.tolist() if is_name(titles[k], ids[k]) and is_word(titles[k])][
            :2_000
        ],
        "light": _palette(colours, "light"),
        "dark": _palette(colours, "dark"),
        "help": _HELP,
    }


def _palette(colours: Colouring, theme: Theme) -> JsonObject:
    palette = colours.colours(theme) if colours.ordered else tokens(theme).categories
    texts = [text_colour(colour, theme) for colour in palette]
    scale = list(number_scale(_STEPS, theme))
    return {
        "ghost": tokens(theme).ghost, "colours": list(palette), "texts": texts, "scale": scale,
    }  # fmt: skip


def _steps(colours: Colouring, rows: Ints) -> list[int | None]:
    low, high = number_range(colours.value)
    share = np.clip((colours.value[rows] - low) / (high - low), 0, 1) * (_STEPS - 1)
    return [None if np.isnan(one) else round(one) for one in share.tolist()]


def _range(colours: Colouring) -> str:
    low, high = number_range(colours.value)
    return f"Colour: {colours.option.title}, from {low:,.3g} (dark) to {high:,.3g} (light)"


def _names(
    colours: Colouring,
    rows: Ints,
    points: Floats,
    frame: Frame,
    scale: float,
) -> list[JsonObject]:
    found = []
    rows = rows[frame.inside(points[rows])]
    at, code = points[rows], colours.code[rows]
    for k, category in enumerate(colours.categories):
        members = at[code == k]
        if len(members):
            name = short(spoken(category), LONGEST_NAME)
            best = (name_anchors(frame, members, at, name, NAME_FONT)[0] - frame.low) * scale
            found.append({"text": name, "code": k, "at": np.rint(best).astype(int).tolist()})
    return found


def _facts(data: HeteroData, layers: Collection[str]) -> dict[str, list[list[list[str]]]]:
    """Return a few names and values of each row, by dataset."""
    found = {}
    for name in layers:
        part = data[name]
        rows: list[list[list[str]]] = [[] for _ in range(len(part))]
        columns = [] if part.table is None else [
            column for column in part.table.columns
            if column != part.title_column and column != (part.recipe or {}).get("media")
        ]  # fmt: skip
        for column in columns[:_FACTS]:
            assert part.table is not None  # noqa: S101 - it has columns
            values = part.table[column]
            for row, (value, missing) in enumerate(
                zip(values.tolist(), values.isna(), strict=True)
            ):
                if not missing and str(value).strip():
                    rows[row].append([str(spoken(str(column))), _said(value)])
        found[name] = rows
    return found


def _said(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat()
    return short(str(value), _LONGEST)


def _pictures(
    parts: Sequence[Dataset],
    owner: Ints,
    local: Ints,
    order: Ints,
    budget: int,
) -> list[str | None]:
    found: list[str | None] = [None] * len(owner)
    for k in order.tolist():
        media = parts[owner[k]].media
        address = None if media is None else picture_address(media[local[k]])
        if address is None:
            continue
        budget -= len(address)
        if budget < 0:
            break
        found[k] = address
    return found
