"""Demonstration on the start page that the map can be moved."""

from __future__ import annotations

import numpy as np

from hetviz.io.bundle.samples import sample_demo
from hetviz.ui.item.item import find_item, row_of
from hetviz.ui.map.component.messages import DemoSpec
from hetviz.ui.map_data.array_cache import PackedArray, send_array
from hetviz.workspace import State


def demo_spec(state: State, session: str) -> DemoSpec | None:
    """Return the demonstration of the open sample; None after a change of its items or map."""
    data, kind, name = state.data, *(state.source or "").partition(":")[::2]
    demo = sample_demo(name) if kind == "sample" else None
    if data is None or demo is None or len(state.runs) != 1 or state.run is not state.runs[0]:
        return None
    item, other = (row_of(data, *end) for end in (demo.item, demo.other))
    keys = [(set_name, str(id)) for set_name, part in data.datasets.items() for id in part.ids]
    if item is None or other is None or any(key not in demo.positions for key in keys):
        return None
    positions = np.array([demo.positions[key] for key in keys])
    return {
        "key": send_array(session, PackedArray.pack(positions, "<f4")),
        "item": item,
        "other": other,
        "text": f"Example: {find_item(data, item).title} belongs with "
        f"{find_item(data, other).title}.",
    }
