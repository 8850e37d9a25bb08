"""Streamlit components: map, tabs, search box and dashed proposals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from hetviz.ui.map.component.assets import asset_version
from hetviz.ui.map.component.messages import MapSpec, PanelSpec, ProposalSpec

# The page contains only this loader. It imports the rest from the asset route, and retries under
# another folder name, since some browsers never repeat a failed module import.
_LOADER = """
const load = (folder, tries, again = "") =>
  import(`${folder}${again}/component.js`).catch((error) => {
    if (!tries) throw error;
    return new Promise((done) => setTimeout(done, 1500))
      .then(() => load(folder, tries - 1, `-${tries}`));
  });
export default function (component) {
  const root = component.parentElement.querySelector(".ROOT");
  const folder = new URL(component.data.assets, document.baseURI).href;
  let close = null;
  let closed = false;
  load(folder, 3).then((parts) => {
    if (!closed) close = parts.PART(root, component);
  }, (error) => {
    root.textContent = "This part could not be loaded. Reload the page.";
    console.warn(error);
  });
  return () => {
    closed = true;
    if (close) close();
  };
}
"""

_NAME, _TABS, _PROPOSED = "hetviz_map", "hetviz_tabs", "hetviz_proposed"
_FINDER, _SHOW_ME = "hetviz_finder", "hetviz_show_me"


def _loader(part: str, root_class: str) -> str:
    return _LOADER.replace("PART", part).replace("ROOT", root_class)


def _assets_address() -> str:
    return f"hv/asset/{asset_version()}"


def _nothing() -> None:
    """Do nothing: Streamlit stores a component state only if it has a callback."""


def draw_map(
    spec: MapSpec,
    key: str,
    *,
    height: str = "max(420px, calc(100vh - 200px))",
    on_selection: Callable[[], None] | None = None,
    on_camera: Callable[[], None] | None = None,
    on_hidden: Callable[[], None] | None = None,
    on_terrain: Callable[[], None] | None = None,
    on_missing: Callable[[], None] | None = None,
    on_requests: Callable[[], None] | None = None,
    on_colour: Callable[[], None] | None = None,
    on_swatch: Callable[[], None] | None = None,
    on_run: Callable[[], None] | None = None,
    on_charts: Callable[[], None] | None = None,
    on_filter: Callable[[], None] | None = None,
    on_seen: Callable[[], None] | None = None,
    on_present: Callable[[], None] | None = None,
) -> object:
    """Draw the map and return the states of the component."""
    # Registered at each run, since the registry belongs to the running server.
    component = st.components.v2.component(
        _NAME,
        html='<div class="hv-map"></div>',
        js=_loader("map", "hv-map"),
        isolate_styles=False,
    )
    return component(
        key=key,
        data=spec | {"name": key, "assets": _assets_address(), "height": height},
        on_selection_change=on_selection or _nothing,
        on_camera_change=on_camera or _nothing,
        on_hidden_change=on_hidden or _nothing,
        on_terrain_change=on_terrain or _nothing,
        on_missing_change=on_missing or _nothing,
        on_requests_change=on_requests or _nothing,
        on_colour_change=on_colour or _nothing,
        on_swatch_change=on_swatch or _nothing,
        on_run_change=on_run or _nothing,
        on_charts_change=on_charts or _nothing,
        on_filter_change=on_filter or _nothing,
        on_seen_change=on_seen or _nothing,
        on_present_change=on_present or _nothing,
    )


def show_tabs(data: PanelSpec, key: str, on_view: Callable[[], None]) -> None:
    """Show the tabs of the panel."""
    component = st.components.v2.component(
        _TABS,
        html='<div class="hv-panel"></div>',
        js=_loader("panel", "hv-panel"),
        isolate_styles=False,
    )
    component(
        key=key,
        data=data | {"assets": _assets_address()},
        on_view_change=on_view,
    )


def show_finder(key: str, within: str) -> None:
    """Show a search box that filters the rows of a container."""
    component = st.components.v2.component(
        _FINDER,
        html='<div class="hv-help-search"></div>',
        js=_loader("help_search", "hv-help-search"),
        isolate_styles=False,
    )
    component(key=key, data={"within": within, "assets": _assets_address()})


def draw_proposals(
    pairs: Sequence[tuple[int, int, str, str]],
    key: str,
    tab: str,
    n_asked: int = 1,
    candidates: Sequence[tuple[int, float]] = (),
) -> None:
    """Draw pairs as dashed lines on the map while a tab of the panel is open."""
    component = st.components.v2.component(
        _PROPOSED,
        html='<div class="hv-proposed-pairs" hidden></div>',
        js=_loader("proposed_pairs", "hv-proposed-pairs"),
        isolate_styles=False,
    )
    spec: ProposalSpec = {
        "pairs": [list(pair) for pair in pairs],
        "n_asked": n_asked,
        "candidates": [list(row_and_certainty) for row_and_certainty in candidates],
        "tab": tab,
        "assets": _assets_address(),
    }
    component(key=key, data=spec)


def listen_for_evidence(key: str, on_show: Callable[[], None]) -> None:
    """Report clicks on statements as the trigger "show", with the key of their evidence."""
    component = st.components.v2.component(
        _SHOW_ME,
        html='<div class="hv-show-me" hidden></div>',
        js=_loader("show_me", "hv-show-me"),
        isolate_styles=False,
    )
    component(key=key, data={"assets": _assets_address()}, on_show_change=on_show)
