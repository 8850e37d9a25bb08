"""Interactive map component with WebGL points and one canvas.

`component.draw_map` puts it on a page of the app, `hetviz.ui.notebook` into a notebook. Routes
serve the files in ``assets`` and all large arrays, so that a rerun sends a few kilobytes.
"""

from hetviz.ui.map.component.assets import asset_response, asset_version

__all__ = ["asset_response", "asset_version"]
