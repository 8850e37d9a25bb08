"""The interactive map: a component of our own over Plotly's WebGL points and one canvas.

`draw` puts it on a page. The browser's files are in ``assets``; a route serves them through
`asset_response`, and everything bulky (places, colours, masks, pictures) comes over routes too, so
that a rerun of a page sends a few kilobytes.
"""

from hetviz.ui.map.component.assets import asset_response, asset_version, plotly_address
from hetviz.ui.map.component.component import draw, finder, proposals, tabs

__all__ = [
    "asset_response",
    "asset_version",
    "draw",
    "finder",
    "plotly_address",
    "proposals",
    "tabs",
]
