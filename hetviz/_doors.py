"""Methods that belong to a class of a lower layer for those who use it, and are written higher up.

``HeteroData.from_frames`` makes features of columns, and ``Embedding`` shows itself as a picture:
what they call lies in layers that know of more than the class does. They name it here, where the
test of the layers sees every one of them.
"""

from __future__ import annotations

import importlib
from typing import Any

DOORS = {
    "from_frames": "hetviz.io.frames.building:from_frames",
    "to_frames": "hetviz.io.frames.leaving:to_frames",
    "to_links": "hetviz.io.frames.leaving:to_links",
    "to_anndata": "hetviz.io.frames.leaving:to_anndata",
    "to_networkx": "hetviz.io.frames.leaving:to_networkx",
    "widget": "hetviz.ui.notebook.shown:widget",
    "mimebundle": "hetviz.ui.notebook.shown:mimebundle",
}


def opened(door: str, *given: object, **named: object) -> Any:
    """Call the function behind a door."""
    module, _, function = DOORS[door].partition(":")
    return getattr(importlib.import_module(module), function)(*given, **named)
