"""What is written on a map: group names, then words, then pictures, each where it still fits.

Text keeps its size in pixels while a map grows with its window, so what fits a large window may
overlap in a small one. The window's size is not known here: things are placed for each of a few
sizes, smallest first, and each size only adds to the ones before. `Written` says how many things
belong to each size, and `hide_rules` hides the rest where the window is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from hetviz._types import Floats, Ints
from hetviz.data import HeteroData
from hetviz.plots.colour import Colouring, spoken
from hetviz.plots.label_placement import (
    Board,
    Frame,
    Pixels,
    name_size,
    place_items,
    place_names,
    text_width,
)
from hetviz.plots.palette import N_SLOTS, Theme, text_colour, tokens
from hetviz.plots.text import escape, is_word, short

NAME_FONT, WORD_FONT = 16, 12.5
# In a picture of the smallest size; pictures grow with the map.
PICTURE = 18.0
WORD_AREA, PICTURE_AREA = 14_000.0, 7_000.0
_PICTURE_GAP = 1.5
_LONGEST_WORD, LONGEST_NAME = 18, 28
_TRIES, _PICTURE_TRIES = 20, 2000

PictureOf = Callable[[str, int], str | None]
Pair = tuple[float, float]


@dataclass(frozen=True)
class Size:
    """A size of the map, and the window from which on the app shows the map at least so large."""

    map: Pair
    window: Pair


SIZES = (
    Size((580, 400), (0, 0)),
    Size((820, 520), (1280, 800)),
    Size((900, 620), (1395, 895)),
    Size((1200, 780), (1880, 1056)),
)


@dataclass
class Written:
    """How many texts and pictures the map holds for each of `SIZES`, the smaller sizes included."""

    texts: list[int] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)


def hide_rules(within: str, written: Written) -> str:
    """Return CSS that hides, inside `within`, what does not fit the window."""
    rules = ""
    for k, size in enumerate(SIZES[1:]):
        width, height = size.window
        smaller = f"(max-width:{width - 0.1:g}px),(max-height:{height - 0.1:g}px)"
        if written.texts:
            rules += (
                f"@media {smaller}{{"
                f"{within} :nth-child(n+{written.texts[k] + 1} of .annotation),"
                f"{within} .imagelayer image:nth-of-type(n+{written.pictures[k] + 1})"
                "{display:none}}"
            )
    return rules


@dataclass(frozen=True)
class _Box:
    """Something written: its place in the plane, its extent in pixels, moved right by `shift`."""

    at: Floats
    size: Pair
    shift: float = 0.0
    grows: bool = False


def write(
    figure: go.Figure,
    data: HeteroData,
    points: Floats,
    drawn: Ints,
    frame: Frame,
    colouring: Colouring,
    theme: Theme,
    picture_of: PictureOf | None,
) -> Written:
    """Write onto `figure`, which must hold no annotations and no pictures.

    Parameters
    ----------
    figure : Figure
    data : HeteroData
    points : array of shape (n, 2)
        Places of the rows of all datasets.
    drawn : int array
        Global rows that are seen.
    frame : Frame
    colouring : Colouring
    theme : {"light", "dark"}
    picture_of : callable or None
        See `hetviz.plots.map.map_figure`.

    Returns
    -------
    Written
    """
    writer = _Writer(data, points[drawn], drawn, frame, colouring, theme, picture_of)
    return writer.write(figure) if len(drawn) else Written()


class _Writer:
    def __init__(
        self,
        data: HeteroData,
        at: Floats,
        drawn: Ints,
        frame: Frame,
        colouring: Colouring,
        theme: Theme,
        picture_of: PictureOf | None,
    ) -> None:
        self.data, self.at, self.drawn, self.frame = data, at, drawn, frame
        self.picture_of = picture_of
        token = tokens(theme)
        self.ink = token.mute
        self.halo = ", ".join(f"0 0 {blur}px {token.bg}" for blur in (1, 2, 3, 3, 4, 4))
        self.smallest = float(frame.pixels(at, *SIZES[0].map).scale[1])
        self.boxes: list[_Box] = []
        self.texts: list[dict[str, object]] = []
        self.pictures: list[dict[str, object]] = []
        self.names: dict[str, tuple[Ints, str]] = {}
        for k, name in enumerate(colouring.categories):
            members = np.flatnonzero(colouring.code[drawn] == k)
            if len(members):
                colour = text_colour(token.categories[k % N_SLOTS], theme)
                self.names[short(spoken(name), LONGEST_NAME)] = (members, colour)
        self._rank()

    def _rank(self) -> None:
        """Find the words and the rows with pictures, those of most links first."""
        degree = self.data.adjacency("+").astype(bool).sum(axis=1)[self.drawn]
        starts = np.array([rows.start for rows in self.data.offsets.values()])
        self.owner = np.searchsorted(starts, self.drawn, side="right") - 1
        self.row = self.drawn - starts[self.owner]
        datasets = list(self.data.datasets.values())
        most = _TRIES * _budget(SIZES[-1], WORD_AREA)
        self.words: dict[int, str] = {}
        self.faces: list[int] = []
        for k in map(int, np.argsort(-degree, kind="stable")):
            dataset = datasets[self.owner[k]]
            if self.picture_of is not None and dataset.media is not None:
                self.faces.append(k)
            elif len(self.words) < most and is_word(str(dataset.titles[self.row[k]])):
                self.words[k] = short(str(dataset.titles[self.row[k]]), _LONGEST_WORD)

    def write(self, figure: go.Figure) -> Written:
        written = Written()
        for size in SIZES:
            board, pixels = Board(*size.map), self.frame.pixels(self.at, *size.map)
            growth = float(pixels.scale[1] / self.smallest)
            for box in self.boxes:
                x, y = (box.at - self._middle) * pixels.scale
                width, height = (extent * (growth if box.grows else 1.0) for extent in box.size)
                board.take(x + box.shift, y, width, height)
            self._write_names(board, pixels)
            self._write_words(board, pixels, _budget(size, WORD_AREA))
            self._write_pictures(board, pixels, growth, _budget(size, PICTURE_AREA))
            written.texts.append(len(self.texts))
            written.pictures.append(len(self.pictures))
        figure.update_layout(annotations=self.texts, images=self.pictures)
        return written

    @property
    def _middle(self) -> Floats:
        middle: Floats = (self.frame.low + self.frame.high) / 2
        return middle

    def _text(self, at: Floats, text: str, font: dict[str, object]) -> None:
        self.texts.append(
            {
                "x": float(at[0]),
                "y": float(at[1]),
                "text": escape(text),
                "showarrow": False,
                "captureevents": False,
                "font": {"shadow": self.halo, **font},
            }
        )

    def _write_names(self, board: Board, pixels: Pixels) -> None:
        groups = [(name, pixels.at[members]) for name, (members, _) in self.names.items()]
        for name, (x, y) in place_names(board, groups, pixels.at, NAME_FONT).items():
            at = self._middle + np.array([x, y]) / pixels.scale
            self.boxes.append(_Box(at, name_size(name, NAME_FONT)))
            _, colour = self.names.pop(name)
            self._text(at, name, {"size": NAME_FONT, "color": colour, "weight": 600})

    def _write_words(self, board: Board, pixels: Pixels, most: int) -> None:
        sizes = {
            k: (text_width(text, WORD_FONT), WORD_FONT * 1.5) for k, text in self.words.items()
        }
        shifted = pixels.at.copy()
        for k, (width, _) in sizes.items():
            shifted[k, 0] += width / 2
        room = max(0, most - sum(box.shift > 0 for box in self.boxes))
        order = list(self.words)[: _TRIES * most]
        for k in place_items(board, shifted, order, sizes, room):
            self.boxes.append(_Box(self.at[k], sizes[k], sizes[k][0] / 2))
            self._text(self.at[k], self.words.pop(k), {"size": WORD_FONT, "color": self.ink})
            self.texts[-1] |= {"xanchor": "left", "xshift": 3}

    def _write_pictures(self, board: Board, pixels: Pixels, growth: float, most: int) -> None:
        gap = _PICTURE_GAP * PICTURE
        sizes = dict.fromkeys(self.faces, (gap * growth, gap * growth))
        room = max(0, most - len(self.pictures))
        for k in place_items(board, pixels.at, self.faces[:_PICTURE_TRIES], sizes, room):
            self.faces.remove(k)
            self.boxes.append(_Box(self.at[k], (gap, gap), grows=True))
            self._picture(k, pixels.scale / growth)

    def _picture(self, k: int, scale: Floats) -> None:
        name = list(self.data.datasets)[self.owner[k]]
        source = None if self.picture_of is None else self.picture_of(name, int(self.row[k]))
        if source is not None:
            self.pictures.append(
                {
                    "source": source,
                    "xref": "x",
                    "yref": "y",
                    "x": float(self.at[k, 0]),
                    "y": float(self.at[k, 1]),
                    "sizex": float(PICTURE / scale[0]),
                    "sizey": float(PICTURE / scale[1]),
                    "xanchor": "center",
                    "yanchor": "middle",
                    "layer": "above",
                }
            )


def _budget(size: Size, area: float) -> int:
    return int(size.map[0] * size.map[1] / area)
