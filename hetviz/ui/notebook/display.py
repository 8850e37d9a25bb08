"""Display of embeddings in notebooks, as a widget or a still picture."""

from __future__ import annotations

from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError, MissingExtraError
from hetviz.metrics.color_choice import find_best_color
from hetviz.plots.colour import Colouring, colouring
from hetviz.plots.palette import tokens
from hetviz.plots.still import still_map
from hetviz.runs.embed.run import EmbeddingOrigin

if TYPE_CHECKING:
    from hetviz.ui.notebook.widget import MapWidget

_WIDGET = "application/vnd.jupyter.widget-view+json"
_WIDTH, _HEIGHT, _FOOT_PX, _MAX_NAMES = 720, 440, 30, 8
# One widget per embedding, so that its selection stays accessible.
_WIDGETS: WeakKeyDictionary[Embedding, MapWidget] = WeakKeyDictionary()
# Approximate width of a letter of the legend, in pixels.
_LETTER_PX = 6.4


def map_widget(embedding: Embedding, data: HeteroData | None = None, **options: Any) -> MapWidget:
    """Return the widget of a map, as `Embedding.widget` does."""
    if find_spec("anywidget") is None:
        raise MissingExtraError("The map as a widget", "notebook")
    is_default = data is None and not options
    if is_default and embedding in _WIDGETS:
        return _WIDGETS[embedding]
    provenance = embedding.made
    own_data = provenance.data if isinstance(provenance, EmbeddingOrigin) and data is None else data
    if own_data is None:
        problem = "the data of this map are unknown"
        raise DataError.of("no-data", "widget", problem, "", "Call embedding.widget(data).")
    from hetviz.ui.notebook.widget import MapWidget

    if isinstance(provenance, EmbeddingOrigin):
        run = provenance.run
        options = {"method": run.method, "params": run.params, "seed": run.seed, **options}
    map_view = MapWidget(own_data, embedding, **options)
    if is_default:
        _WIDGETS[embedding] = map_view
    return map_view


def mimebundle(embedding: Embedding) -> dict[str, object]:
    """Return an embedding for a notebook, by media type."""
    # The picture is for programs without widgets and notebooks without a kernel.
    provenance = embedding.made
    data = provenance.data if isinstance(provenance, EmbeddingOrigin) else _data_of_ids(embedding)
    bundle: dict[str, Any] = {
        "text/plain": repr(embedding),
        "image/svg+xml": still_svg(data, embedding),
    }
    if isinstance(provenance, EmbeddingOrigin) and find_spec("anywidget") is not None:
        bundle[_WIDGET] = {
            "version_major": 2,
            "version_minor": 0,
            "model_id": map_widget(embedding).model_id,
        }
    return bundle


def still_svg(data: HeteroData, embedding: Embedding) -> str:
    """Return a still picture of a map as SVG, with a legend of its colours."""
    colours = colouring(data, find_best_color(data, embedding))
    token = tokens("light")
    inner = still_map(data, embedding, colours, width=_WIDTH, height=_HEIGHT, dot=4.0)
    size = f'width="{_WIDTH}" height="{_HEIGHT + _FOOT_PX}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT + _FOOT_PX}">'
        f'<rect {size} fill="{token.bg}"/>'
        f"{inner.replace('<svg ', f'<svg {_size_attributes(_HEIGHT)} ', 1)}"
        f'<g font-family="system-ui, sans-serif" font-size="12" fill="{token.ink}">'
        f"{_legend_svg(colours)}</g></svg>"
    )


def _size_attributes(height: int) -> str:
    return f'width="{_WIDTH}" height="{height}"'


def _legend_svg(colours: Colouring) -> str:
    palette = colours.colours("light")
    left, y, parts = 12.0, _HEIGHT + 18, []
    for code, name in enumerate(colours.categories[:_MAX_NAMES]):
        text = str(name)[:24]
        right = left + 14 + _LETTER_PX * len(text)
        if right > _WIDTH - 12:
            break
        parts.append(
            f'<circle cx="{left + 4:.0f}" cy="{y - 4}" r="4" fill="{palette[code]}"/>'
            f'<text x="{left + 12:.0f}" y="{y}">{escape(text)}</text>'
        )
        left = right + 14
    return "".join(parts)


def _data_of_ids(embedding: Embedding) -> HeteroData:
    """Return data without anything but the ids."""
    return HeteroData(
        [
            Dataset(name, list(ids), entity=embedding.entity[name])
            for name, ids in embedding.ids.items()
        ]
    )
