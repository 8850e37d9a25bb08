"""Display of embeddings in notebooks, as a widget or a still picture."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError, MissingExtraError
from hetviz.runs.embed.run import EmbeddingOrigin
from hetviz.ui.notebook.still import still_svg

if TYPE_CHECKING:
    from hetviz.ui.notebook.widget import MapWidget

_WIDGET = "application/vnd.jupyter.widget-view+json"
# One widget per embedding, so that its selection stays accessible.
_WIDGETS: WeakKeyDictionary[Embedding, MapWidget] = WeakKeyDictionary()


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
    data = provenance.data if isinstance(provenance, EmbeddingOrigin) else data_of_ids(embedding)
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


def data_of_ids(embedding: Embedding) -> HeteroData:
    """Return data without anything but the ids."""
    return HeteroData(
        [
            Dataset(name, list(ids), entity=embedding.entity[name])
            for name, ids in embedding.ids.items()
        ]
    )
