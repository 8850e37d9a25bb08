"""Description of a map for the component: a small JSON object with hashes of arrays.

Results that depend on the data alone are cached, so that a rerun of the page only looks them up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hetviz._text import capital, count_rows, is_word
from hetviz.data import HeteroData
from hetviz.data.queries.people import names_people
from hetviz.features.linked_values import NO_VALUE
from hetviz.features.spaces.pins import all_pinned_rows
from hetviz.jobs import Job
from hetviz.plots.colour import (
    CLUSTER,
    OTHER,
    Colouring,
    ColourOption,
    colour_options,
    display_name,
    map_alt,
    share_options,
)
from hetviz.plots.label_placement import NAME_FONT, drawn_name, name_anchors
from hetviz.plots.palette import Theme, number_scale, shape_of, tokens
from hetviz.plots.planar import proposed_text, unconnected_note
from hetviz.ui.map.component.messages import (
    CameraSpec,
    ColourSpec,
    DatasetSpec,
    LayoutSpec,
    MapSpec,
    NameSpec,
)
from hetviz.ui.map_data import layers, selection_codec
from hetviz.ui.map_data import parts as map_parts
from hetviz.ui.map_data.array_cache import RESULTS, PackedArray, send_array
from hetviz.ui.map_data.parts import (
    filter_mask,
    frame_of,
    get_geometry,
    hidden_layers,
    visible_mask,
)
from hetviz.workspace import MapResult, State

Mode = Literal["work", "look"]

THEMES: tuple[Theme, ...] = ("light", "dark")
_MAX_TITLES_CHECKED = 200
_MAX_MARKED = 1000
_SCALE_STEPS = 10


def map_spec(
    state: State,
    run: MapResult | None,
    *,
    session: str,
    mode: Mode = "work",
    selection: ArrayLike = (),
    camera: Mapping[str, object] | None = None,
    version: int = 0,
    live: Job | None = None,
) -> MapSpec:
    """Return the description of a map for the component, JSON-ready."""
    data = state.opened()
    colours = layers.colours_of(state, run, session)
    form = get_geometry(state, run)
    frame = frame_of(state, run)
    selected = np.asarray(selection, dtype=np.int64)
    hidden = tuple(name for name in state.view.hidden if name in data.datasets)
    passes = filter_mask(state)
    unplaced = visible_mask(state) & ~form.placed

    def shelf(packed: PackedArray) -> str:
        return send_array(session, packed)

    return {
        "session": session,
        "n": data.n_rows,
        "fingerprint": data.fingerprint(),
        "mode": mode,
        "geometry": {
            **map_places(state, run, session),
            "reach": _link_reach(state, run),
            "enlarged": [list(each) for each in map_parts.get_geometry(state, run).enlarged],
        },
        "title": "" if run is None else run.title,
        "proposed": _proposed_texts(state),
        "alt": map_alt(data, colours, hidden),
        "frame": {
            "x": [float(frame.low[0]), float(frame.high[0])],
            "y": [float(frame.low[1]), float(frame.high[1])],
            "stretch": frame.stretch,
        },
        "outside": frame.outside,
        # A running job reports its positions itself.
        "unplaced": 0 if run is None else int(unplaced.sum()),
        "notes": [
            *_method_note(run),
            *form.notes,
            *_unjoined_datasets(data, run, hidden),
        ],
        "datasets": RESULTS.get_or_compute(data, "datasets", lambda: _dataset_specs(data)),
        "colour": _colour_spec(data, colours, session),
        "mask": None if passes is None else shelf(map_parts.pack_filter_mask(state)),
        "hidden": list(hidden),
        "terrain": state.view.terrain,
        "names": _category_names(state, run, colours),
        "order": shelf(map_parts.naming_order(state, run)),
        "selection": {
            "key": shelf(PackedArray.pack(selection_codec.pack_rows(selected, data.n_rows), "|u1"))
            if len(selected)
            else None,
            "count": len(selected),
            "version": version,
        },
        "camera": _valid_camera(camera),
        # The map was refitted for the last statements.
        "refitted": bool(run is not None and (run.figures or {}).get("consequences")),
        "pins": _pinned_rows(state, run),
        "live": None if live is None else {"job": live.id, "title": live.title},
        "tokens": {name: asdict(tokens(name)) for name in THEMES},
        "colours": [
            {"group": _colour_group(data, option), "key": option.key, "title": option.title}
            for option in (
                *colour_options(data),
                *share_options(data, colours),
                *layers.layer_options(state, run),
            )
        ],
    }


def _colour_group(data: HeteroData, option: ColourOption) -> str:
    """Return the heading above an option: its dataset, or what it is computed from."""
    if not option.key.startswith("["):
        return "Whole map"
    dataset, column, *category = json.loads(option.key)
    return "By links" if category or column == data[dataset].title_column else str(dataset)


def map_places(state: State, run: MapResult | None, session: str) -> LayoutSpec:
    """Return the keys of the position arrays of a map."""
    form = get_geometry(state, run)
    return {
        "id": form.id,
        "pieces": [send_array(session, piece) for piece in form.pieces],
        "extent": list(form.extent),
    }


def _link_reach(state: State, run: MapResult | None) -> list[list[float | None]] | None:
    """Return the largest distance of close links for each pair of datasets."""
    embedding = None if run is None else state.embedding(run)
    # Distances on the screen differ from those of maps with more axes.
    if embedding is None or any(Y.shape[1] != 2 for Y in embedding.coordinates.values()):
        return None
    reach = map_parts.link_reach(state, run)
    if reach is None:
        return None
    return [[length if np.isfinite(length) else None for length in row] for row in reach.tolist()]


def _pinned_rows(state: State, run: MapResult | None) -> list[int]:
    pins = None if run is None else run.params.get("pins")
    rows: list[int] = all_pinned_rows(state.opened(), pins)[:_MAX_MARKED].tolist()
    return rows


def _method_note(run: MapResult | None) -> list[str]:
    """Return the note of the method, which follows its title and a colon."""
    note = "" if run is None else run.embedding.note.partition(": ")[2]
    return [f"{capital(note.rstrip('.'))}."] if note else []


def _proposed_texts(state: State) -> list[str]:
    """Return what the title says of proposed links, long and short; empty without any."""
    data = state.guided or state.opened()
    texts = RESULTS.get_or_compute(
        data, "proposed", lambda: [proposed_text(data), proposed_text(data, is_short=True)]
    )
    return [text for text in texts if text]


def _unjoined_datasets(
    data: HeteroData, run: MapResult | None, hidden: tuple[str, ...]
) -> list[str]:
    """Return notes about datasets without links to the others."""
    if run is None:
        return []
    gone = set(run.embedding.coordinates) - set(data.datasets)
    return unconnected_note(run.embedding, {*hidden, *gone})


def _dataset_specs(data: HeteroData) -> list[DatasetSpec]:
    specs: list[DatasetSpec] = []
    for place, (name, dataset) in enumerate(data.datasets.items()):
        symbol, glyph, factor = shape_of(place)
        rows = data.offsets[name]
        titles = dataset.titles[:: max(1, len(dataset) // _MAX_TITLES_CHECKED)]
        specs.append(
            {
                "name": name,
                "start": rows.start,
                "stop": rows.stop,
                "symbol": symbol,
                "glyph": glyph,
                "factor": factor,
                "count": len(dataset),
                "counted": count_rows(len(dataset), name),
                "media": dataset.media is not None and any(map(bool, dataset.media)),
                "words": sum(map(is_word, map(str, titles))) > len(titles) / 2,
                "people": names_people(dataset),
            }
        )
    return specs


def _colour_spec(data: HeteroData, colours: Colouring, session: str) -> ColourSpec:
    numbers = colours.option.kind == "numbers"
    # Layers of different maps have equal keys.
    colours_id = id(colours)
    values = RESULTS.get_or_compute(
        data, ("colour", colours_id), lambda: _pack_colour(colours), colours
    )
    is_pale = colours.is_pale
    pale = (
        is_pale
        if is_pale is None
        else RESULTS.get_or_compute(
            data, ("pale", colours_id), lambda: PackedArray.pack(is_pale, "|u1"), colours
        )
    )
    is_log, low, high, end_signs = RESULTS.get_or_compute(
        data,
        ("range", colours_id),
        lambda: (colours.is_log, *colours.scaled[1:], colours.end_signs),
        colours,
    )
    palette = {name: list(colours.colours(name)) for name in THEMES}
    scale = {name: list(number_scale(_SCALE_STEPS, name)) for name in THEMES}
    counts = RESULTS.get_or_compute(
        data, ("counts", colours_id), lambda: _category_counts(colours), colours
    )
    return {
        "key": send_array(session, values),
        "kind": "numbers" if numbers else "categories",
        "option": colours.option.key,
        "title": colours.option.title,
        "categories": [display_name(name) for name in colours.categories],
        "borrowed": list(colours.borrowed),
        "pale": None if pale is None else send_array(session, pale),
        "counts": counts,
        "palette": palette,
        "swatches": [
            code for code, name in enumerate(colours.categories) if name in dict(colours.swatches)
        ],
        "choices": {name: list(tokens(name).categories) for name in THEMES},
        "ghost": {name: tokens(name).ghost for name in THEMES},
        "low": low if numbers else None,
        "high": high if numbers else None,
        "endSigns": list(end_signs),
        "log": numbers and is_log,
        "scale": scale if numbers else {},
    }


def _pack_colour(colours: Colouring) -> PackedArray:
    if colours.option.kind == "numbers":
        return PackedArray.pack(colours.scaled[0], "<f4")
    return PackedArray.pack(colours.code, "|i1")


def _category_counts(colours: Colouring) -> dict[str, object]:
    """Return the numbers of rows by category, of other categories and without a value."""
    if colours.option.kind == "numbers":
        none = int(np.isnan(colours.value).sum())
        return {"categories": [], "borrowed": [], "other": 0, "none": none}
    n = 2 + len(colours.categories)
    sizes = np.bincount(colours.code + 2, minlength=n)
    own_sizes = np.bincount(colours.own_code + 2, minlength=n)
    return {
        "categories": own_sizes[2:].tolist(),
        # Rows that take the value of what they link to.
        "borrowed": (sizes - own_sizes)[2:].tolist(),
        "other": int(sizes[OTHER + 2]),
        "none": int(sizes[NO_VALUE + 2]),
    }


def _category_names(state: State, run: MapResult | None, colours: Colouring) -> list[NameSpec]:
    """Return the name of each category with its possible positions, the best first."""
    data = state.opened()

    def make() -> list[tuple[str, int, list[list[float]]]]:
        form, frame = get_geometry(state, run), frame_of(state, run)
        dots = np.flatnonzero(visible_mask(state) & form.placed)
        points = form.points[dots].astype(np.float64)
        code = colours.own_code[dots]
        inside = frame.inside(points)
        points, code = points[inside], code[inside]
        names = []
        for k, category in enumerate(colours.categories):
            members = points[code == k]
            if len(members):
                name = drawn_name(display_name(category))
                at = name_anchors(frame, members, points, code, k, name, NAME_FONT)
                names.append((name, k, at.tolist()))
        return names

    def within() -> list[tuple[str, int, list[list[float]]]]:
        form, frame = get_geometry(state, run), frame_of(state, run)
        mask = visible_mask(state) & form.placed
        points = form.points.astype(np.float64)
        mask[mask] = frame.inside(points[mask])
        names = []
        for part in layers.cluster_part_names(state, run):
            members = points[part.rows[mask[part.rows]]]
            if len(members):
                name = drawn_name(display_name(part.name))
                code = np.full(data.n_rows, OTHER)
                code[part.rows] = 0
                dots = points[mask], code[mask]
                at = name_anchors(frame, members, *dots, 0, name, NAME_FONT)
                names.append((name, part.cluster, at.tolist()))
        return names

    parts: list[tuple[str, int, list[list[float]]]] = []
    if colours.option.key == CLUSTER.key:
        parts = RESULTS.get_or_compute(
            data, ("parts", id(colours), id(run), *_view_key(state)), within, (run, colours)
        )
    key = ("names", id(run), id(colours), *_view_key(state))
    wholes = RESULTS.get_or_compute(data, key, make, (run, colours))
    specs: list[NameSpec] = [{"text": name, "code": k, "at": at} for name, k, at in wholes]
    specs += [{"text": name, "code": k, "at": at, "within": True} for name, k, at in parts]
    return specs


def _view_key(state: State) -> tuple[Hashable, ...]:
    return hidden_layers(state), tuple(state.filters)


def _valid_camera(camera: Mapping[str, Any] | None) -> CameraSpec | None:
    """Return a camera of two finite ranges, or None."""
    try:
        x, y = ([float(end) for end in (camera or {})[axis]] for axis in ("x", "y"))
    except (KeyError, TypeError, ValueError):
        return None
    sound = all(len(r) == 2 and all(map(math.isfinite, r)) and r[0] < r[1] for r in (x, y))
    return {"x": x, "y": y} if sound else None
