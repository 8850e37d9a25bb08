"""Map for print, with shape for the dataset, colour for a column, and names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from hetviz._text import format_number, is_name, is_word, shorten
from hetviz._types import Floats, Ints
from hetviz.core.geography import Projection
from hetviz.data import Embedding, HeteroData
from hetviz.features.map_columns import projection_of
from hetviz.plots import terrain
from hetviz.plots.colour import OTHER, Colouring, display_name
from hetviz.plots.label_placement import Board, Frame, drawn_name, name_places, place_items
from hetviz.plots.named_regions import category_of_region, named_levels
from hetviz.plots.palette import N_SLOTS, mix, number_colour, pale, shape_of, text_colour
from hetviz.plots.paper import (
    PAPER,
    SANS,
    SERIF,
    Page,
    blank_figure,
    check_size,
    figure_bytes,
    has_all_letters,
    marker,
    put_marker,
    put_text,
    text_size,
)
from hetviz.plots.planar import points_to_draw, proposed_text, unconnected_note
from hetviz.progress import Progress
from hetviz.runs.cluster.regions import RegionLevel

# Above this number, points become one picture inside a PDF or SVG. As separate shapes they would
# take minutes to open.
_MAX_SHAPES = 20_000
_EDGE, _GAP = 3.0, 4.0
_MAX_SIDE = 0.3  # Share of the width for a legend beside the map
_LINE, _MIN_LINE = 1.7, 1.3  # Distance of lines of the legend in font sizes
_WORD_AREA, _WORD_TRIES = 2_600.0, 20
_HALO = 1.1
_MIN_LAND_KM = 1000.0
_LAND_INK = 0.38
_PALE_TEXT = "paler: colour of what they link to"


@dataclass(frozen=True, eq=False)
class PaperMap:
    """Map drawn for print, with its caption."""

    figure: Figure
    caption: str  # One paragraph on content and distortions of the figure.
    regions: RegionLevel | None = None  # Regions that it names


def paper_map(
    data: HeteroData,
    embedding: Embedding,
    colouring: Colouring,
    *,
    width: float = 85.0,
    height: float | None = None,
    names: str = "groups",
    hidden: Collection[str] = (),
    title: str = "",
    caption: bool = False,
    has_terrain: bool = True,
    regions: Sequence[RegionLevel] | None = None,
    font_size: float | None = None,
) -> PaperMap:
    """Draw a map for print."""
    width = check_size("width", width)
    picture = points_to_draw(embedding)
    is_visible = np.zeros(data.n_rows, dtype=bool)
    for name, rows in data.offsets.items():
        is_visible[rows] = name not in hidden
    visible = np.flatnonzero(is_visible & picture.placed)
    frame = Frame.around(picture.points[visible])
    projection = projection_of(embedding)
    if projection is not None:
        frame = replace(frame, stretch=1.0)
    inside = visible[frame.inside(picture.points[visible])]
    caption_text = _caption(
        data, colouring, frame, hidden, int((is_visible & ~picture.placed).sum()), title
    )
    caption_text = " ".join([caption_text, *picture.notes, *unconnected_note(embedding, hidden)])
    levels: Sequence[RegionLevel] = ()
    if names.startswith("regions"):
        levels = named_levels(data, picture.points, colouring, regions)
    map_drawing = _MapDrawing(
        data, colouring, picture.points, inside, frame, width, names, hidden, levels, font_size
    )
    map_drawing.projection = projection
    # A figure says so without its caption, too.
    text = caption_text if caption else _proposed_sentence(data)
    figure = map_drawing.draw(height, text, has_terrain=has_terrain)
    return PaperMap(figure, caption_text, levels[0] if levels else None)


def _caption(
    data: HeteroData,
    colouring: Colouring,
    frame: Frame,
    hidden: Collection[str],
    unplaced: int,
    title: str,
) -> str:
    kinds = [f"{len(part):,} {name}" for name, part in data.datasets.items() if name not in hidden]
    first, last = kinds[:-1], kinds[-1:]
    listed = " and ".join([", ".join(first), *last] if first else last) or "nothing"
    method = f" by {title}" if title else ""
    sentences = [f"Joint map of {listed}{method}."]
    if proposed := _proposed_sentence(data):
        sentences.append(proposed)
    by_dataset = colouring.option.kind == "dataset"
    if len(kinds) > 1:
        sentences.append(f"Shape{' and colour' if by_dataset else ''}: dataset.")
    if not by_dataset:
        sentences.append(f"Colour: {colouring.option.title}.")
        if colouring.borrowed:
            sentences.append(colouring.borrowed_note(data))
    if frame.outside:
        sentences.append(f"{_count_items(frame.outside)} outside the figure.")
    if unplaced:
        sentences.append(f"{_count_items(unplaced)} not placed.")
    return " ".join(sentences)


def _proposed_sentence(data: HeteroData) -> str:
    proposed = proposed_text(data)
    return f"{proposed}." if proposed else ""


def _count_items(number: int) -> str:
    return f"{number:,} {'item is' if number == 1 else 'items are'}"


class _MapDrawing:
    """Drawing of one map, in points from the lower left."""

    def __init__(
        self,
        data: HeteroData,
        colouring: Colouring,
        points: Floats,
        rows: Ints,
        frame: Frame,
        width: float,
        names: str,
        hidden: Collection[str],
        levels: Sequence[RegionLevel] = (),
        font_size: float | None = None,
    ) -> None:
        self.projection: Projection | None = None
        self.region, self.quarters = (*levels, None, None)[:2]
        self.data, self.colouring, self.rows, self.frame = data, colouring, rows, frame
        self.palette = colouring.colours("light")
        self.points, self.names = points[rows], names
        self.layers = [name for name in data.datasets if name not in hidden]
        self.width = width
        # Fonts and dots grow more slowly than the width of the figure.
        self.scale = float(np.sqrt(width / 85.0)) if font_size is None else font_size / 7.0
        self.font = min(7.0 * self.scale, 11.0) if font_size is None else font_size
        self.line = _LINE * self.font
        self.edge = _EDGE if font_size is None else font_size
        self.written: set[int] = set()

    def draw(self, height: float | None, caption: str, *, has_terrain: bool) -> Figure:
        W = Page(self.width, 1).points[0]
        inner = W - 2 * self.edge
        lines = _wrap_text(caption, self.font, inner)
        caption_height = len(lines) * self.font * 1.35 + (_GAP if lines else 0)
        side = 0.0
        if height is None:
            span = np.maximum(self.frame.high - self.frame.low, 1e-12)
            natural = inner * float(span[1] / (span[0] * self.frame.stretch))
            body = float(np.clip(natural, 0.45 * W, 1.1 * W))
        else:
            whole = Page(1, check_size("height", height)).points[1] - 2 * self.edge - caption_height
            side, body = self._fit_legend(inner, whole)
        map_width = inner - side
        local = self.frame.pixels(self.points, map_width, body).at
        board = Board(W - side, body)
        has_names = self.names.startswith(("groups", "regions"))
        size, small = 1.12 * self.font, 0.86 * self.font
        placed_names = self._place_names(board, local, self.region, size) if has_names else {}
        quarters: dict[int, tuple[str, float, float]] = {}
        if self.quarters is not None:
            quarters = self._place_names(board, local, self.quarters, small)
        self.written = set(placed_names) if self.region is None else set()
        legend = self._legend_column(side) if side else self._legend_rows(inner)
        footer_height = len(legend) * self.line + _GAP + caption_height
        total_height = (body + footer_height + 2 * self.edge) / Page(1, 1).points[1]
        page = Page(self.width, total_height if height is None else height)
        figure, axes = blank_figure(page)
        H = page.points[1]
        middle = np.array([W - self.edge - map_width / 2, H - self.edge - body / 2])
        dot = self._dot_size()
        self._draw_land(axes, middle, np.array([map_width, body]))
        if has_terrain:
            reach = 2 * (self.edge - _EDGE)
            self._draw_terrain(axes, local, middle, np.array([map_width, body]) + reach)
        self._draw_dots(axes, local + middle, dot)
        for k, (text, left, base) in placed_names.items():
            colour = self._name_colour(k)
            x, y = left + middle[0], base + middle[1]
            put_text(axes, x, y, text, size, colour, family=SERIF, halo=_HALO)
        for text, left, base in quarters.values():
            x, y = left + middle[0], base + middle[1]
            put_text(axes, x, y, text, small, PAPER.mute, halo=_HALO)
        if self.names.endswith("items"):
            self._write_titles(axes, board, local, middle)
        foot = H - self.edge - _EDGE - body - self.font
        y = H - self.edge - self.font if side else foot
        pitch = min(self.line, body / len(legend)) if side else self.line
        for row in legend:
            # Lines of one text are closer.
            y += 0 if row[0].symbol else pitch - _MIN_LINE * self.font
            self._draw_legend_row(axes, row, y, dot)
            y -= pitch
        y = foot if side else y
        for line in lines:
            put_text(axes, self.edge, y, line, self.font, PAPER.mute)
            y -= self.font * 1.35
        return figure

    def _name_colour(self, k: int) -> str:
        """Return the colour of a name: of a region, that of most items that it is true of."""
        if self.region is None:
            return text_colour(self._colour(k), "light")
        code = category_of_region(self.region, self.colouring, self.rows, k)
        if code is None or not self.palette:
            return PAPER.ink
        return mix(self.palette[code], PAPER.ink, _LAND_INK)

    def _draw_land(self, axes: Axes, middle: Floats, size: Floats) -> None:
        # For smaller areas the outline is too coarse.
        if self.projection is None or (self.frame.high - self.frame.low).max() < _MIN_LAND_KM:
            return
        rings = [self.frame.pixels(ring, *size).at + middle for ring in self.projection.outlines()]
        left, low = middle - size / 2
        edge = Rectangle((left, low), *size, transform=axes.transData)
        for k, shown in enumerate((rings[1:], rings[:1])):
            path = Path.make_compound_path(*(Path(ring, closed=True) for ring in shown))
            patch = PathPatch(path, lw=0.4, fc="none" if k else PAPER.soft, ec=PAPER.line, zorder=0)
            # add_patch would change the limits of the axes.
            axes.add_artist(patch)
            patch.set_clip_path(edge)

    def _draw_terrain(self, axes: Axes, local: Floats, middle: Floats, size: Floats) -> None:
        ends = np.concatenate([middle - size / 2, middle + size / 2])
        extent = (ends[0], ends[2], ends[1], ends[3])
        if self.colouring.option.kind != "numbers":
            codes = self.colouring.code[self.rows]
            picture = terrain.shade(local, codes, self.palette, size)
            axes.imshow(picture, extent=extent, aspect="auto", interpolation="bilinear", zorder=1)
            return
        mean, values = terrain.levels(local, self.colouring.shares[self.rows], size)
        cell = size / mean.shape[::-1]
        for value in values.tolist():
            drawn = [
                middle - size / 2 + (line + 0.5) * cell for line in terrain.pieces(mean, value)
            ]
            colour = _number_colour(value)
            lines = LineCollection(drawn, colors=colour, linewidths=0.6, alpha=0.55, zorder=1)
            axes.add_collection(lines, autolim=False)

    def _dot_size(self) -> float:
        factor = float(np.clip((1000 / max(len(self.rows), 1)) ** 0.25, 0.55, 1.6))
        return 2.7 * factor * self.scale

    def _colours(self) -> list[str]:
        if self.colouring.option.kind == "numbers":
            colours = [_number_colour(value) for value in self.colouring.shares[self.rows].tolist()]
        else:
            colours = [self._colour(int(code)) for code in self.colouring.code[self.rows]]
        if self.colouring.is_pale is None:
            return colours
        is_pale = self.colouring.is_pale[self.rows].tolist()
        return [
            pale(colour, "light") if faded and colour != PAPER.ghost else colour
            for colour, faded in zip(colours, is_pale, strict=True)
        ]

    def _colour(self, code: int) -> str:
        return PAPER.ghost if code < 0 else self.palette[code]

    def _draw_dots(self, axes: Axes, positions: Floats, dot: float) -> None:
        colours = np.array(self._colours(), dtype=object)
        rasterize = len(self.rows) > _MAX_SHAPES
        for place, name in enumerate(self.data.datasets):
            span = self.data.offsets[name]
            own_rows = np.flatnonzero((self.rows >= span.start) & (self.rows < span.stop))
            if name not in self.layers or not len(own_rows):
                continue
            # Grey points first, so that they cover no coloured ones.
            own_rows = own_rows[np.argsort(colours[own_rows] != PAPER.ghost, kind="stable")]
            axes.scatter(
                positions[own_rows, 0],
                positions[own_rows, 1],
                **marker(shape_of(place)[0], dot),
                c=colours[own_rows].tolist(),
                linewidths=0.25,
                edgecolors="white",
                alpha=0.88,
                rasterized=rasterize,
                zorder=2,
            )

    def _place_names(
        self, board: Board, positions: Floats, region: RegionLevel | None, size: float
    ) -> dict[int, tuple[str, float, float]]:
        """Return the names that fit: text, left end and baseline, relative to the middle."""
        family = SERIF if region is self.region else SANS
        reach = 0.06 * max(board.width, board.height)
        names = {}
        for k, text, members, code in self._named_groups(positions, region):
            if not len(members) or not has_all_letters(text):
                continue
            wide = text_size(text, size, family)
            box = (wide + 4.0, size * 1.3)
            for x, y in name_places(members, positions, code, k, box, reach).tolist():
                if board.put(x, y, *box):
                    names[k] = (text, x - wide / 2, y - 0.36 * size)
                    break
        return names

    def _named_groups(
        self, positions: Floats, region: RegionLevel | None
    ) -> Iterator[tuple[int, str, Floats, Ints]]:
        """Yield number, name, the members that it is true of, and the groups of all dots."""
        if region is not None:
            # Members that a name is not true of count as others.
            code = np.where(region.is_true, region.codes, OTHER)[self.rows]
            for k, name in enumerate(region.names):
                if name:
                    yield k, drawn_name(name), positions[code == k], code
            return
        code = self.colouring.own_code[self.rows]
        for k, name in enumerate(self.colouring.categories):
            yield k, drawn_name(display_name(name)), positions[code == k], code

    def _write_titles(self, axes: Axes, board: Board, positions: Floats, middle: Floats) -> None:
        degree = self.data.adjacency("+").astype(bool).sum(axis=1)[self.rows]
        titles = np.concatenate([part.display_names for part in self.data.datasets.values()])[
            self.rows
        ]
        ids = np.concatenate([part.ids for part in self.data.datasets.values()])[self.rows]
        size = 0.86 * self.font
        max_words = int(board.width * board.height / (_WORD_AREA * self.scale**2))
        order, texts = [], {}
        for k in np.argsort(-degree, kind="stable").tolist():
            text = shorten(str(titles[k]), 20)
            if is_name(str(titles[k]), str(ids[k])) and is_word(text) and has_all_letters(text):
                order.append(k)
                texts[k] = text
            if len(order) == _WORD_TRIES * max_words:
                break
        widths = {k: text_size(text, size) for k, text in texts.items()}
        gap = 0.5 * self._dot_size() + 0.8
        shifted = positions.copy()
        for k in order:
            shifted[k, 0] += widths[k] / 2 + gap
        sizes = {k: (widths[k] + 2.0, 1.25 * size) for k in order}
        for k in place_items(board, shifted, order, sizes, max_words):
            x, y = positions[k, 0] + gap + middle[0], positions[k, 1] - 0.34 * size + middle[1]
            put_text(axes, x, y, texts[k], size, PAPER.mute, halo=0.8)

    def _fit_legend(self, width: float, height: float) -> tuple[float, float]:
        """Return the width of a legend beside the map, or 0 for below it, and the map's height."""
        # All names have space, as the written ones are not known yet.
        n_rows = len(self._legend_rows(width))
        body = max(height - n_rows * self.line - _GAP, 0.3 * height)
        widest = max((entry.width(self.font) for entry in self._legend_entries()), default=0.0)
        side = min(widest, _MAX_SIDE * width)
        scales = [
            float(self.frame.pixels(self.points, *size).scale[1])
            for size in ((width, body), (width - side, height))
        ]
        has_space = len(self._legend_column(side)) * _MIN_LINE * self.font <= height
        return (side, height) if has_space and scales[1] > scales[0] else (0.0, body)

    def _legend_column(self, width: float) -> list[list[_LegendEntry]]:
        return [
            [row] for entry in self._legend_entries() for row in entry.wrapped(self.font, width)
        ]

    def _legend_rows(self, width: float) -> list[list[_LegendEntry]]:
        lines: list[list[_LegendEntry]] = [[]]
        used = 0.0
        for entry in self._legend_entries():
            wide = entry.width(self.font)
            if lines[-1] and used + wide > width:
                lines.append([])
                used = 0.0
            lines[-1].append(entry)
            used += wide
        return lines

    def _legend_entries(self) -> list[_LegendEntry]:
        """Return the legend: shapes, then colours whose name is not on the map."""
        by_dataset = self.colouring.option.kind == "dataset"
        entries = []
        for place, name in enumerate(self.data.datasets):
            if name in self.layers:
                colour = PAPER.categories[min(place, N_SLOTS)] if by_dataset else PAPER.mute
                text = f"{shorten(name, 24)} {len(self.data[name]):,}"
                entries.append(_LegendEntry(text, colour, shape_of(place)[0]))
        if self.colouring.option.kind == "numbers":
            entries.append(_LegendEntry(self._numbers_title(), PAPER.mute, "scale"))
        elif not by_dataset:
            for k, name in enumerate(self.colouring.categories):
                if k not in self.written:
                    entries.append(
                        _LegendEntry(shorten(display_name(name), 28), self._colour(k), "circle")
                    )
            if self.colouring.n_other:
                words = f"{self.colouring.n_other:,} other"
                entries.append(_LegendEntry(words, PAPER.ghost, "circle"))
        if self.colouring.is_pale is not None and self.colouring.is_pale[self.rows].any():
            entries.append(_LegendEntry(_PALE_TEXT, pale(PAPER.ink, "light"), "circle"))
        return entries

    def _numbers_title(self) -> str:
        ends = zip(self.colouring.end_signs, self.colouring.ends, strict=True)
        low, high = (f"{sign}{format_number(value)}" for sign, value in ends)
        title = shorten(self.colouring.option.title, 30)
        scale = ", logarithmic" if self.colouring.is_log else ""
        return f"{title}, {low} to {high}{scale}"

    def _draw_legend_row(self, axes: Axes, row: list[_LegendEntry], y: float, dot: float) -> None:
        x = self.edge
        size = float(np.clip(1.3 * dot, 0.5 * self.font, 0.86 * self.font))
        scale_width = _SCALE_EMS * self.font
        for entry in row:
            start = x
            if entry.symbol == "scale":
                steps = np.linspace(0, 1, 24)
                for k, share in enumerate(steps.tolist()):
                    axes.bar(
                        x + (k + 0.5) * scale_width / 24,
                        0.7 * self.font,
                        width=1.05 * scale_width / 24,
                        bottom=y - 0.05 * self.font,
                        color=_number_colour(share),
                        linewidth=0,
                    )
            elif entry.symbol:
                middle = x + 0.5 * self.font
                put_marker(axes, middle, y + 0.36 * self.font, entry.symbol, size, entry.colour)
            put_text(axes, x + entry.lead(self.font), y, entry.text, self.font, PAPER.ink)
            x = start + entry.width(self.font)


_SCALE_EMS, _ENTRY_GAP = 6.0, 1.1


@dataclass(frozen=True)
class _LegendEntry:
    text: str
    colour: str
    symbol: str  # Of a marker, "scale", or empty on a continued line

    def lead(self, font: float) -> float:
        return _SCALE_EMS * font + 3.0 if self.symbol == "scale" else 1.15 * font

    def width(self, font: float) -> float:
        return self.lead(font) + text_size(self.text, font) + _ENTRY_GAP * font

    def wrapped(self, font: float, width: float) -> list[_LegendEntry]:
        """Return the lines of the entry within a width in points."""
        lines = _wrap_text(self.text, font, width - self.lead(font) - _ENTRY_GAP * font)
        return [
            replace(self, text=line, symbol="" if k else self.symbol)
            for k, line in enumerate(lines)
        ]


def _number_colour(share: float) -> str:
    """Return the colour of a share of the scale from 0 to 1, or grey for NaN."""
    if not np.isfinite(share):
        return PAPER.ghost
    return number_colour(share, "light")


def _wrap_text(text: str, font: float, width: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and text_size(f"{lines[-1]} {word}", font) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def preview(
    data: HeteroData,
    embedding: Embedding,
    colours: Colouring,
    dpi: int,
    progress: Progress,
    **settings: Any,
) -> tuple[bytes, str]:
    """Return the figure as PNG and its caption. `settings` are those of `paper_map`."""
    progress(0.0, "Drawing the figure")
    picture = paper_map(data, embedding, colours, **settings)
    return figure_bytes(picture.figure, "png", dpi), picture.caption
