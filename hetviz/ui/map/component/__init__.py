"""The interactive map: a component of our own over WebGL points and one canvas.

`component.draw` puts it on a page of the app, `hetviz.ui.notebook` into a notebook. The browser's
files are in ``assets``; a route serves them through `asset_response`, and everything bulky (places,
colours, masks, pictures) comes over routes too, so that a rerun of a page sends a few kilobytes.
"""

from hetviz.ui.map.component.assets import asset_response, asset_version, plotly_address

__all__ = ["asset_response", "asset_version", "plotly_address"]
