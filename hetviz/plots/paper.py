"""Shared parts of figures for print, in millimetres and points, with embedded fonts.

Figures avoid matplotlib's global state because a server draws several at once.
"""

from __future__ import annotations

import base64
import io
import threading
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hetviz._version import __version__
from hetviz.errors import MissingExtraError, ParameterError
from hetviz.plots.figure_choices import FIGURE_FORMATS
from hetviz.plots.palette import tokens

try:
    import matplotlib as mpl
except ImportError:
    raise MissingExtraError("A figure for print", "figures") from None
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.text import Text
from matplotlib.textpath import TextPath

MM = 72.0 / 25.4
PAPER = tokens("light")
# Fonts of the app, for texts and for the names of regions, and one for letters that they lack. All
# are bundled, so figures are the same on every machine.
SANS, SERIF, FALLBACK = "Hetviz Sans", "Hetviz Serif", "DejaVu Sans"
_OWN_FONTS = Path(__file__).parent / "fonts"
_MPL_FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"
_FONT_FILES = {
    SANS: _OWN_FONTS / "HetvizSans-Regular.ttf",
    SERIF: _OWN_FONTS / "HetvizSerif-Semibold.ttf",
    FALLBACK: _MPL_FONTS / "DejaVuSans.ttf",
}
_SETTINGS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "hetviz",
    "path.simplify": False,
}
# matplotlib reads format settings from state shared by all threads while saving.
_SAVE_LOCK = threading.Lock()
MARKERS = {
    "circle": "o",
    "diamond": "D",
    "square": "s",
    "triangle-up": "^",
    "cross": "P",
    "star": "*",
    "hexagon": "H",
    "triangle-down": "v",
}
# Widths at which the shapes look as large as a circle.
MARKER_SCALE = {"diamond": 0.82, "square": 0.9, "star": 1.35, "cross": 1.1, "hexagon": 1.08}
_MAX_MM, _MIN_MM = 1000.0, 20.0
_MAX_DPI, _MIN_DPI = 1200, 50
_MAX_PIXELS = 120_000_000


@dataclass(frozen=True)
class Page:
    """Size of a figure."""

    # `width`, `height`: in millimetres.
    width: float
    height: float

    @property
    def points(self) -> tuple[float, float]:
        """Width and height in points."""
        return self.width * MM, self.height * MM


def check_size(name: str, value: float) -> float:
    """Return a length in millimetres."""
    if not _MIN_MM <= value <= _MAX_MM:
        raise ParameterError(f"{name} = {value:g} mm must be from {_MIN_MM:g} to {_MAX_MM:g} mm.")
    return float(value)


def blank_figure(page: Page) -> tuple[Figure, Axes]:
    """Return a figure with axes over all of it, in points from the lower left."""
    width, height = page.points
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    return figure, axes


def font(size: float, text: str = "", family: str = SANS) -> FontProperties:
    """Return the font for a text at a size in points."""
    family = _family(text, family)
    return FontProperties(family=family, size=size, fname=str(_FONT_FILES[family]))


def _family(text: str, family: str) -> str:
    return family if all(ord(sign) in _advances(family) for sign in text) else FALLBACK


def text_size(text: str, size: float, family: str = SANS) -> float:
    """Return the width of a text in points, the sum of its letter advances."""
    advances = _advances(_family(text, family))
    return size * sum(advances.get(ord(sign), 0.6) for sign in text)


@cache
def _advances(family: str) -> dict[int, float]:
    """Return the advance of each letter in units of the font size."""
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    with TTFont(_FONT_FILES[family], lazy=True) as face:
        per_size = face["head"].unitsPerEm
        widths = face["hmtx"].metrics
        return {code: widths[name][0] / per_size for code, name in face.getBestCmap().items()}


def has_all_letters(text: str) -> bool:
    """Return whether one of the fonts has all letters of a text."""
    return all(ord(sign) in _advances(_family(text, SANS)) for sign in text)


def put_text(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    size: float,
    colour: str,
    *,
    family: str = SANS,
    halo: float = 0.0,
) -> None:
    """Write text with its left end at (x, y), with a white rim of `halo` points."""
    # The rim is drawn as a separate outline, because path effects would turn the text into
    # outlines.
    if halo:
        outline = TextPath((x, y), text, size=size, prop=font(size, text, family), usetex=False)
        rim = PathPatch(
            outline,
            facecolor="white",
            edgecolor="white",
            linewidth=2 * halo,
            joinstyle="round",
            zorder=9,
            alpha=0.85,
        )
        # add_patch would include the rim in the limits of the axes.
        axes.add_artist(rim)
    axes.text(
        x,
        y,
        text,
        fontproperties=font(size, text, family),
        color=colour,
        ha="left",
        va="baseline",
        zorder=10,
        parse_math=False,
    )


def put_marker(axes: Axes, x: float, y: float, symbol: str, size: float, colour: str) -> None:
    """Draw one marker of `size` points."""
    axes.scatter([x], [y], **marker(symbol, size), c=[colour], linewidths=0, zorder=8)


def marker(symbol: str, size: float) -> dict[str, Any]:
    """Return scatter arguments for a shape that looks `size` points wide."""
    return {"marker": MARKERS[symbol], "s": (size * MARKER_SCALE.get(symbol, 1.0)) ** 2}


def figure_bytes(figure: Figure, form: str, dpi: int = 300, title: str = "") -> bytes:
    """Return a figure as a file. Equal figures give equal bytes."""
    if form not in FIGURE_FORMATS:
        raise ParameterError(f"form = {form!r} must be one of {', '.join(FIGURE_FORMATS)}.")
    if not _MIN_DPI <= dpi <= _MAX_DPI:
        raise ParameterError(f"dpi = {dpi} must be from {_MIN_DPI} to {_MAX_DPI}.")
    width, height = figure.get_size_inches()
    if width * height * dpi**2 > _MAX_PIXELS:
        raise ParameterError(
            f"{width * dpi:,.0f} x {height * dpi:,.0f} pixels are too many for one picture. "
            "Choose a smaller size or fewer dots per inch."
        )
    creator = f"hetviz {__version__}"
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": creator},
        "svg": {"Date": None, "Creator": creator},
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": creator, "Producer": creator},
    }
    if title:
        metadata[form]["Title"] = title
    buffer = io.BytesIO()
    with _SAVE_LOCK, mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # A letter missing in all fonts is drawn as a box, without a warning.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(buffer, format=form, dpi=dpi, metadata=metadata[form])
    content = buffer.getvalue()
    return _with_fonts(content.decode(), _texts(figure)).encode() if form == "svg" else content


def _texts(figure: Figure) -> list[tuple[str, str]]:
    """Return the texts of a figure, each with the file of its font."""
    texts = figure.findobj(Text)
    return [(text.get_text(), str(text.get_fontproperties().get_file())) for text in texts]


def _with_fonts(svg: str, texts: Iterable[tuple[str, str]]) -> str:
    """Put the letters of the fonts that the texts need into an SVG."""
    used: dict[str, set[str]] = {}
    for text, file in texts:
        used.setdefault(file, set()).update(text)
    rules = ""
    for family, path in _FONT_FILES.items():
        if letters := used.get(str(path)):
            content = base64.b64encode(_subset(path, "".join(sorted(letters)))).decode()
            rules += f"@font-face{{font-family:'{family}';src:url(data:font/ttf;base64,{content})}}"
    head, defs, tail = svg.partition("<defs>")
    return f"{head}<defs><style>{rules}</style></defs>{defs}{tail}" if rules else svg


@cache
def _subset(path: Path, letters: str) -> bytes:
    from fontTools import subset  # type: ignore[import-untyped]
    from fontTools.ttLib import TTFont

    # Hinting and kerning make no visible difference at these sizes.
    options = subset.Options(hinting=False, layout_features=[], notdef_outline=True)
    options.recalc_timestamp = False
    # A table of the font editor that subsetting would warn about.
    options.drop_tables += ["FFTM"]
    with TTFont(path, recalcTimestamp=False) as whole:
        cut = subset.Subsetter(options)
        cut.populate(text=letters)
        cut.subset(whole)
        buffer = io.BytesIO()
        whole.save(buffer)
    return buffer.getvalue()
