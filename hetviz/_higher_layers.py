"""Implementations, in higher layers, of methods of the data classes and their joins.

``HeteroData.from_frames`` makes features, ``Embedding`` draws itself and links are proposed by
descriptions of pictures, which needs higher layers.
All such exceptions to the layer order are listed here, and a test checks them.
"""

from __future__ import annotations

import importlib
from typing import Any

IMPLEMENTATIONS = {
    "read_links": "hetviz.io.frames.building:read_links",
    "describe": "hetviz.features.columns.images:describe_all",
    "from_frames": "hetviz.io.frames.building:from_frames",
    "to_frames": "hetviz.io.frames.to_frames:to_frames",
    "to_links": "hetviz.io.frames.to_frames:to_links",
    "to_anndata": "hetviz.io.frames.to_frames:to_anndata",
    "to_networkx": "hetviz.io.frames.to_frames:to_networkx",
    "widget": "hetviz.ui.notebook.display:map_widget",
    "mimebundle": "hetviz.ui.notebook.display:mimebundle",
}


def call_implementation(name: str, *args: object, **kwargs: object) -> Any:
    """Call the function that implements a method."""
    module, _, function = IMPLEMENTATIONS[name].partition(":")
    return getattr(importlib.import_module(module), function)(*args, **kwargs)
