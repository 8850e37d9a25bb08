// Items named in the panel. A click selects one and brings it into view, Shift + click adds it. A button
// searches for items like the one of the panel.

import { closest } from "./dom.js";

/** @import { HetMap } from "./map.js" */

/** Watch clicks on items in the panel; returns a function that stops. @param {HetMap} map */
export function watchPanelItems(map) {
  const stop = new AbortController();
  document.addEventListener("click", (event) => {
    const like = /** @type {HTMLElement | null} */ (closest(event, "[data-hv-like]"));
    if (like && map.scene.data?.stage) map.toolbar.search.findLike(Number(like.dataset.hvLike), like.dataset.hvTitle ?? "");
    const button = /** @type {HTMLElement | null | undefined} */ (closest(event, ':is(.st-key-panel, .hv-item-preview) [data-hv-row]'));
    if (button && map.scene.data?.stage) map.visit(Number(button.dataset.hvRow), event.shiftKey ? "add" : "replace");
  }, { signal: stop.signal });
  return () => stop.abort();
}
