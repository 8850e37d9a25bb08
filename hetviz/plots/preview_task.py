"""The figure on paper as a picture to look at first; a worker draws that of large data."""

from __future__ import annotations

from typing import Any

from hetviz.data import Embedding, HeteroData
from hetviz.plots.colour import Colouring
from hetviz.plots.paper import written
from hetviz.plots.paper_map import paper_map
from hetviz.progress import Progress


def preview(
    data: HeteroData,
    embedding: Embedding,
    colours: Colouring,
    dpi: int,
    progress: Progress,
    **settings: Any,
) -> tuple[bytes, str]:
    """Return the figure as PNG, and its caption; `settings` as of `paper_map`."""
    progress(0.0, "Drawing the figure")
    picture = paper_map(data, embedding, colours, **settings)
    return written(picture.figure, "png", dpi), picture.caption
