"""The map in Streamlit apps of others."""

from __future__ import annotations

from importlib.util import find_spec

from hetviz.data import Embedding, HeteroData
from hetviz.errors import MissingExtraError
from hetviz.ui.host.component import map_input, module_text, style_sheet

_NAME = "hetviz_streamlit_map"
# Streamlit calls it at each change of the data, with the same element.
_HOST = """
export default function (component) {
  const root = component.parentElement.querySelector(".hv-map");
  if (!root.hosted) {
    root.hosted = new HostedMap(root, root);
    root.addEventListener("hetviz-selection", ({ detail }) =>
      root.component.setStateValue("selection", detail));
  }
  root.component = component;
  const shown = JSON.stringify(component.data);
  if (shown !== root.shown) root.hosted.update(component.data);
  root.shown = shown;
  return () => setTimeout(() => root.isConnected || root.hosted.close());
}
"""


def streamlit_map(
    embedding: Embedding,
    data: HeteroData | None = None,
    *,
    colour: str | None = None,
    height: int = 520,
    key: str | None = None,
) -> dict[str, list[object]]:
    """Show a map in your own Streamlit app and return the selected items.

    Parameters
    ----------
    embedding : Embedding
    data : HeteroData, optional
        By default the data that the map was made from.
    colour : str, optional
        Column of the points, or "dataset". By default the one that the map shows best.
    height : int
        Height in pixels.
    key : str, optional
        Key of the element, needed if an app shows several maps of the same data.

    Returns
    -------
    dict of str to list
        Ids of the selected items by dataset. The app runs again when the selection changes.

    Raises
    ------
    hetviz.errors.MissingExtraError
        Without Streamlit: ``pip install "hetviz[app]"``.
    hetviz.errors.ParameterError
        If there is no column `colour`.

    Notes
    -----
    The browser gets all points, columns and links as JSON, about 100 bytes for each item with three
    columns (5 MB for 50,000 items). Fit the map outside of the script that runs again, with
    ``st.cache_resource``.
    """
    if find_spec("streamlit") is None:
        raise MissingExtraError("streamlit_map", "app")
    import streamlit as st

    component = st.components.v2.component(
        _NAME,
        html='<div class="hv-map"></div>',
        css=style_sheet(),
        js=module_text() + _HOST,
        isolate_styles=False,
    )
    shown = component(
        key=key,
        data={**map_input(embedding, data, colour=colour), "height": height},
        height=height,
        on_selection_change=_nothing,
    )
    return dict(getattr(shown, "selection", None) or {})


def _nothing() -> None:
    """Do nothing: Streamlit stores a state only if it has a callback."""
