"""Put the map on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from hetviz.ui.map.component.assets import asset_version, plotly_address

# The page's own copy of the code is this loader; the rest comes from the asset route, once.
# What could not be fetched (the server was restarting) is asked for again: under a folder of
# another name, since some browsers never ask again for an address that a module once failed from.
_LOADER = """
const load = (folder, tries, again = "") => import(`${folder}${again}/FILE.js`).catch((error) => {
  if (!tries) throw error;
  return new Promise((done) => setTimeout(done, 1500))
    .then(() => load(folder, tries - 1, `-${tries}`));
});
export default function (component) {
  const root = component.parentElement.querySelector(".hv-FILE");
  const folder = new URL(component.data.assets, document.baseURI).href;
  let close = null;
  let closed = false;
  load(folder, 3).then((part) => {
    if (!closed) close = part.mount(root, component);
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
_FINDER = "hetviz_finder"


def _nothing() -> None:
    """Stand in for a callback: Streamlit keeps a state only where there is one."""


def draw_map(
    spec: Mapping[str, object],
    key: str,
    *,
    height: str = "max(420px, calc(100vh - 200px))",
    on_selection: Callable[[], None] | None = None,
    on_camera: Callable[[], None] | None = None,
    on_hidden: Callable[[], None] | None = None,
    on_missing: Callable[[], None] | None = None,
    on_act: Callable[[], None] | None = None,
    on_colour: Callable[[], None] | None = None,
    on_run: Callable[[], None] | None = None,
) -> object:
    """Draw the map and return what the browser last said.

    Parameters
    ----------
    spec : mapping
        What to draw, as `hetviz.ui.map.description.map_spec` gives it; small, with keys of arrays.
    key : str
        Identity of this map on the page. While it stays, selection and camera stay.
    height : str
        Height of the whole component, tools and legend included, in CSS.
    on_selection, on_camera, on_hidden, on_missing, on_act, on_colour, on_run : callable, optional
        Called before the page runs again, when the browser selected, moved, hid a dataset, asked
        for an array the server no longer has, wished something of groups, chose what the colours
        mean, or chose another map.

    Returns
    -------
    result
        With attributes `selection`, `camera`, `hidden` (states; None until set) and
        `missing` (the key of an array), `act` (a wish), `colour` (a key), `run` (the id of a
        map), each for one run.
    """
    # Registered at each run: the registry belongs to the server that runs, not to the process.
    component = st.components.v2.component(
        _NAME,
        html='<div class="hv-map"></div>',
        js=_LOADER.replace("FILE", "map"),
        isolate_styles=False,
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
        on_colour_change=on_colour or _nothing,
        on_run_change=on_run or _nothing,
    )


def show_tabs(data: Mapping[str, object], key: str, on_view: Callable[[], None]) -> None:
    """Show the tabs of the panel.

    Parameters
    ----------
    data : mapping
        ``tab``; ``wide``, whether the panel is as wide as a table needs; ``turn``, the number of
        what the server changed last, which the browser follows once; ``open``, whether that opens
        the panel; ``chosen``, whether something is selected.
    key : str
    on_view : callable
        Called when the reader turned to another tab or widened the panel; the component's state
        `view` has both.
    """
    component = st.components.v2.component(
        _TABS,
        html='<div class="hv-panel"></div>',
        js=_LOADER.replace("FILE", "panel"),
        isolate_styles=False,
    )
    component(
        key=key,
        data={**data, "assets": f"hv/asset/{asset_version()}"},
        on_view_change=on_view,
    )


def show_finder(key: str, within: str) -> None:
    """Show a box that leaves only those rows of a container in sight that hold what is written.

    Parameters
    ----------
    key : str
    within : str
        Key of the container, which the box is in; its rows have the class ``hv-found-row``.
    """
    component = st.components.v2.component(
        _FINDER,
        html='<div class="hv-finder"></div>',
        js=_LOADER.replace("FILE", "finder"),
        isolate_styles=False,
    )
    component(key=key, data={"within": within, "assets": f"hv/asset/{asset_version()}"})


def draw_proposals(
    pairs: Sequence[tuple[int, int, str, str]],
    key: str,
    tab: str,
    n_asked: int = 1,
    candidates: Sequence[tuple[int, float]] = (),
) -> None:
    """Draw pairs on the map by dashed lines, while a tab of the panel is looked at.

    Parameters
    ----------
    pairs : sequence of (row, row, title, title)
        Global rows.
    key : str
    tab : str
    n_asked : int
        So many, the first, are asked about: their ends are ringed and named.
    candidates : sequence of (row, certainty)
        Others that may be asked about: each has a ring as far round as it is sure, from 0 to 1.
    """
    component = st.components.v2.component(
        _PROPOSED,
        html='<div class="hv-proposed" hidden></div>',
        js=_LOADER.replace("FILE", "proposed"),
        isolate_styles=False,
    )
    component(
        key=key,
        data={
            "pairs": [list(pair) for pair in pairs],
            "asked": n_asked,
            "sure": [list(row_and_certainty) for row_and_certainty in candidates],
            "tab": tab,
            "assets": f"hv/asset/{asset_version()}",
        },
    )
