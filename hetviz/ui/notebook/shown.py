"""How embeddings show themselves in a notebook: a widget where there can be one, else a picture."""

from __future__ import annotations

from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError, MissingExtraError, Problem
from hetviz.plots.colour import Colouring, colouring
from hetviz.plots.palette import tokens
from hetviz.plots.still import still_map
from hetviz.runs.embed.run import Made

if TYPE_CHECKING:
    from hetviz.ui.notebook.widget import MapWidget

_WIDGET = "application/vnd.jupyter.widget-view+json"
_WIDTH, _HEIGHT, _FOOT, _NAMES = 720, 440, 30, 8
# Asked for again, an embedding shows the same widget, so that what it says can be had.
_SHOWN: WeakKeyDictionary[Embedding, MapWidget] = WeakKeyDictionary()
# Rough width of a letter of the line of names, in pixels.
_LETTER = 6.4


def widget(embedding: Embedding, data: HeteroData | None = None, **options: Any) -> MapWidget:
    """Return the widget of a map; see `Embedding.widget`."""
    if find_spec("anywidget") is None:
        raise MissingExtraError("The map as a widget", "notebook")
    plain = data is None and not options
    if plain and embedding in _SHOWN:
        return _SHOWN[embedding]
    made = embedding.made
    known = made.data if isinstance(made, Made) and data is None else data
    if known is None:
        what = "what this map is made of is not known any more"
        raise DataError(Problem("no-data", "widget", what, "", "Call embedding.widget(data)."))
    from hetviz.ui.notebook.widget import MapWidget

    if isinstance(made, Made):
        run = made.run
        options = {"method": run.method, "params": run.params, "seed": run.seed, **options}
    shown = MapWidget(known, embedding, **options)
    if plain:
        _SHOWN[embedding] = shown
    return shown


def mimebundle(embedding: Embedding) -> dict[str, object]:
    """Return an embedding for a notebook, by media type.

    Programs that show no widgets, and notebooks that are looked at without a kernel, take the
    picture.
    """
    made = embedding.made
    data = made.data if isinstance(made, Made) else _bare(embedding)
    found: dict[str, Any] = {
        "text/plain": repr(embedding),
        "image/svg+xml": picture(data, embedding),
    }
    if isinstance(made, Made) and find_spec("anywidget") is not None:
        found[_WIDGET] = {
            "version_major": 2,
            "version_minor": 0,
            "model_id": widget(embedding).model_id,
        }
    return found


def picture(data: HeteroData, embedding: Embedding) -> str:
    """Return a still picture of a map as SVG, with what its colours mean."""
    colours = colouring(data, None)
    token = tokens("light")
    inner = still_map(data, embedding, colours, width=_WIDTH, height=_HEIGHT, dot=4.0)
    size = f'width="{_WIDTH}" height="{_HEIGHT + _FOOT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT + _FOOT}">'
        f'<rect {size} fill="{token.bg}"/>'
        f"{inner.replace('<svg ', f'<svg {_size(_HEIGHT)} ', 1)}"
        f'<g font-family="system-ui, sans-serif" font-size="12" fill="{token.ink}">'
        f"{_legend(colours)}</g></svg>"
    )


def _size(height: int) -> str:
    return f'width="{_WIDTH}" height="{height}"'


def _legend(colours: Colouring) -> str:
    palette = colours.colours("light")
    at, y, parts = 12.0, _HEIGHT + 18, []
    for code, name in enumerate(colours.categories[:_NAMES]):
        words = str(name)[:24]
        right = at + 14 + _LETTER * len(words)
        if right > _WIDTH - 12:
            break
        parts.append(
            f'<circle cx="{at + 4:.0f}" cy="{y - 4}" r="4" fill="{palette[code]}"/>'
            f'<text x="{at + 12:.0f}" y="{y}">{escape(words)}</text>'
        )
        at = right + 14
    return "".join(parts)


def _bare(embedding: Embedding) -> HeteroData:
    """Return data that know of nothing but the ids."""
    return HeteroData(
        [
            Dataset(name, list(ids), entity=embedding.entity[name])
            for name, ids in embedding.ids.items()
        ]
    )
