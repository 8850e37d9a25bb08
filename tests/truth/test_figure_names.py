"""Names in exported figures and pages, with planted groups of random names and unequal sizes."""

from __future__ import annotations

import base64
import json
import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import hetviz
from hetviz import Embedding, HeteroData
from hetviz.exports.interactive import interactive_map
from hetviz.plots.colour import BY_DATASET, Colouring, colour_options, colouring
from hetviz.plots.label_placement import Frame, drawn_name
from hetviz.plots.palette import pale
from hetviz.plots.paper import figure_bytes
from hetviz.plots.paper_map import paper_map
from tests.truth.test_region_names import N_GROUPS, map_of, planted


def by_genre(data: HeteroData) -> Colouring:
    (option,) = [option for option in colour_options(data) if "genre" in option.key]
    return colouring(data, option.key)


def overlapping(data: HeteroData, group: np.ndarray, seed: int) -> Embedding:
    """Return a map where some groups lie on others, and one is scattered over the whole map."""
    rng = np.random.default_rng(seed)
    centre = rng.uniform(-6, 6, size=(N_GROUPS, 2))
    Y = centre[group] + rng.normal(size=(len(group), 2))
    scattered = group == rng.integers(N_GROUPS)
    Y[scattered] = rng.uniform(-7, 7, size=(int(scattered.sum()), 2))
    places = {name: Y[rows] for name, rows in data.offsets.items()}
    return Embedding(places, {name: part.ids for name, part in data.datasets.items()})


def boxes_of(figure: Figure, names: list[str]) -> dict[str, np.ndarray]:
    """Return the boxes of the names on the map: lowest and highest corner."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    to_points = axes.transData.inverted()
    lowest = dots_of(figure)[0][:, 1].min()
    boxes = {}
    for text in axes.texts:
        corners = text.get_window_extent(canvas.get_renderer()).get_points()
        box = to_points.transform(corners)
        # The legend is below the map.
        if text.get_text() in names and box[1, 1] > lowest:
            boxes[text.get_text()] = box
    return boxes


def dots_of(figure: Figure) -> tuple[np.ndarray, list[str]]:
    """Return positions and colours of the dots of a figure."""
    (axes,) = figure.axes
    parts = [part for part in axes.collections if isinstance(part, PathCollection)]
    # Single dots are those of the legend.
    parts = [part for part in parts if len(part.get_offsets()) > 1]
    places = np.vstack([np.asarray(part.get_offsets()) for part in parts])
    colours = [to_hex(colour) for part in parts for colour in part.get_facecolors()]
    return places, colours


def content_of(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)
    content: dict[str, Any] = json.loads(text)
    return content


def own_share(dots: np.ndarray, is_own: np.ndarray, box: np.ndarray) -> float:
    """Return the share of own dots among those under a box, or among the nearest five."""
    distance = np.hypot(*np.maximum(np.maximum(box[0] - dots, dots - box[1]), 0.0).T)
    judges = np.flatnonzero(distance == 0)
    if len(judges) < 5:
        judges = np.argsort(distance, kind="stable")[:5]
    return float(is_own[judges].mean())


@pytest.mark.parametrize("make", [map_of, overlapping])
@pytest.mark.parametrize("seed", range(6))
def test_names_in_figure_stand_on_their_members(seed: int, make) -> None:  # type: ignore[no-untyped-def]
    data, group, names = planted(seed)
    colours = by_genre(data)
    figure = paper_map(data, make(data, group, seed), colours, width=174, names="groups").figure
    boxes = boxes_of(figure, names)
    dots, drawn = dots_of(figure)
    assert len(drawn) == len(dots)
    palette = colours.colours("light")
    for name, box in boxes.items():
        own = palette[colours.categories.index(name)]
        # Items that take the colour of what they link to have it paler.
        shades = {own, pale(own, "light")}
        share = own_share(dots, np.array([colour in shades for colour in drawn]), box)
        assert share > 0.5, (name, share)
    # Each name is once in the figure: on the map, or in the legend.
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert [texts.count(name) for name in names] == [1] * N_GROUPS
    if make is map_of:
        assert len(boxes) >= N_GROUPS - 1


@pytest.mark.parametrize("make", [map_of, overlapping])
@pytest.mark.parametrize("seed", range(6))
def test_names_in_page_stand_on_their_members(seed: int, make) -> None:  # type: ignore[no-untyped-def]
    data, group, names = planted(seed)
    colours = by_genre(data)
    page = interactive_map(data, make(data, group, seed), colours)
    content = content_of(page)
    dots = np.frombuffer(base64.b64decode(content["at"]), "<f4").reshape(-1, 2)
    code = np.frombuffer(base64.b64decode(content["code"]), "<i2")
    for name in content["names"]:
        for place in name["at"]:
            near = np.argsort(((dots - place) ** 2).sum(axis=1))[:5]
            assert (code[near] == name["code"]).mean() > 0.5
    if make is map_of:
        assert {name["text"] for name in content["names"]} == set(names)


def coordinates_of(m: Embedding) -> np.ndarray:
    return np.vstack(list(m.coordinates.values()))


def test_figure_names_small_regions_in_a_second_rank() -> None:
    data = hetviz.load("debian")
    m = hetviz.embed(data, "pca")
    regions = hetviz.regions(data, m)
    levels = [set(regions.loc[regions["level"] == level, "name"]) - {""} for level in (0, 1)]
    picture = paper_map(data, m, colouring(data, BY_DATASET), width=174, names="regions")
    (axes,) = picture.figure.axes
    sizes: list[set[float]] = []
    for names in levels:
        texts = [text for text in axes.texts if text.get_text() in names]
        assert texts
        sizes.append({text.get_fontsize() for text in texts})
    assert min(sizes[0]) > max(sizes[1])
    assert picture.regions is not None
    assert set(picture.regions.names) - {""} == levels[0]
    page = interactive_map(data, m, colouring(data, BY_DATASET), names="regions")
    for rank, names in enumerate(levels):
        drawn = {name["text"] for name in content_of(page)["names"] if name["rank"] == rank}
        assert drawn
        assert drawn <= set(map(drawn_name, names))
    boxes = boxes_of(picture.figure, sorted(set.union(*levels)))
    for (name, a), (other, b) in combinations(boxes.items(), 2):
        assert (a[1] <= b[0]).any() or (b[1] <= a[0]).any(), (name, other)


@pytest.mark.parametrize("links_only", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_region_names_in_figure_are_those_of_regions(seed: int, links_only: bool) -> None:
    data, group, names = planted(seed, links_only=links_only)
    m = map_of(data, group, seed)
    regions = hetviz.regions(data, m)
    first = set(regions.loc[(regions["level"] == 0) & (regions["name"] != ""), "name"])
    colours = colouring(data, BY_DATASET)
    figure = paper_map(data, m, colours, width=174, names="regions").figure
    boxes = boxes_of(figure, names)
    assert set(boxes) <= first
    assert len(boxes) >= N_GROUPS - 1
    # The same frame as in the figure gives the group of each dot.
    Y = coordinates_of(m)
    dots, _ = dots_of(figure)
    frame = Frame.around(Y)
    inside = frame.inside(Y)
    assert len(dots) == inside.sum()
    scaled = frame.pixels(Y[inside], 1.0, 1.0)
    size = np.ptp(dots, axis=0) / np.ptp(scaled.at, axis=0)
    places = (scaled.at - scaled.at.min(axis=0)) * size + dots.min(axis=0)
    for name, box in boxes.items():
        assert own_share(places, group[inside] == names.index(name), box) > 0.5, name
    page = interactive_map(data, m, colours, names="regions")
    assert {name["text"] for name in content_of(page)["names"]} == first


def test_figure_without_true_names_has_the_names_of_groups() -> None:
    data, group, _ = planted(0)
    m = map_of(data, np.random.default_rng(0).permutation(group), 0)
    assert (hetviz.regions(data, m)["name"] == "").all()
    plain, regional = (
        figure_bytes(paper_map(data, m, by_genre(data), names=choice).figure, "svg")
        for choice in ("groups", "regions")
    )
    assert plain == regional
