"""Put the map on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from hetviz.ui.map.component.assets import asset_version, plotly_address

# The page's own copy of the code is this loader; the rest comes from the asset route, once.
# What could not be fetched (the server was restarting) is asked for again: under a folder of
# another name, since some browsers never ask again for an address that a module once failed from.
_LOADER = """
const load = (folder, tries, again = "") => import(`${folder}${again}/map.js`).catch((error) => {
  if (!tries) throw error;
  return new Promise((done) => setTimeout(done, 1500))
    .then(() => load(folder, tries - 1, `-${tries}`));
});
export default function (component) {
  const root = component.parentElement.querySelector(".hv-map");
  const folder = new URL(component.data.assets, document.baseURI).href;
  let close = null;
  let closed = false;
  load(folder, 3).then((map) => {
    if (!closed) close = map.mount(root, component);
  }, (error) => {
    root.textContent = "The map could not be loaded. Reload the page.";
    console.warn(error);
  });
  return () => {
    closed = true;
    if (close) close();
  };
}
"""

_NAME = "hetviz_map"


def _nothing() -> None:
    """Stand in for a callback: Streamlit keeps a state only where there is one."""


def draw(
    spec: Mapping[str, object],
    key: str,
    *,
    height: str = "max(420px, calc(100vh - 200px))",
    on_selection: Callable[[], None] | None = None,
    on_camera: Callable[[], None] | None = None,
    on_hidden: Callable[[], None] | None = None,
    on_missing: Callable[[], None] | None = None,
    on_act: Callable[[], None] | None = None,
) -> Any:
    """Draw the map and return what the browser last said.

    Parameters
    ----------
    spec : mapping
        What to draw, as `hetviz.ui.map.description.spec` gives it; small, with keys of arrays.
    key : str
        Identity of this map on the page. While it stays, selection and camera stay.
    height : str
        Height of the whole component, tools and legend included, in CSS.
    on_selection, on_camera, on_hidden, on_missing, on_act : callable, optional
        Called before the page runs again, when the browser selected, moved, hid a dataset, asked
        for an array the server no longer has, or wished something of groups.

    Returns
    -------
    result
        With attributes `selection`, `camera`, `hidden` (states; None until set) and
        `missing` (the key of an array), `act` (a wish), both for one run.
    """
    # Registered at each run: the registry belongs to the server that runs, not to the process.
    component = st.components.v2.component(
        _NAME, html='<div class="hv-map"></div>', js=_LOADER, isolate_styles=False
    )
    return component(
        key=key,
        data={
            **spec,
            "name": key,
            "assets": f"hv/asset/{asset_version()}",
            "plotly": plotly_address(),
            "height": height,
        },
        on_selection_change=on_selection or _nothing,
        on_camera_change=on_camera or _nothing,
        on_hidden_change=on_hidden or _nothing,
        on_missing_change=on_missing or _nothing,
        on_act_change=on_act or _nothing,
    )
