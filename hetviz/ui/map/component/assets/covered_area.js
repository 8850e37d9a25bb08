// Boxes of cards, bars and the panel that cover the map.

import { panelWidth } from "./panel.js";

/** @import { HetMap } from "./map.js" */

const OWN_CARDS = ".hv-bar, .hv-legend";
const ALL_CARDS = ".hv-bar, .hv-legend, .hv-views, .hv-map-strip > *, .st-key-panel, .st-key-new-map, .st-key-statement-bar, .st-key-invitation, .st-key-tools, .st-key-messages, .st-key-start-main, .st-key-start-foot";

/**
 * Boxes of the cards, in pixels of the map.
 * @param {HetMap} map
 */
export function cardBoxes(map) {
  const { left, top } = map.stage.getBoundingClientRect();
  // In a notebook or on Compare only the cards of this map cover it.
  return [...(map.scene.data.stage ? document.querySelectorAll(ALL_CARDS) : map.root.querySelectorAll(OWN_CARDS))].map((card) => card.getBoundingClientRect()).filter((box) => box.width && box.height).map(
    (box) => [box.left - left - 4, box.top - top - 4, box.right - left + 4, box.bottom - top + 4]).map(
    // Of a closed panel only the strip is visible.
    (box) => (box[2] > map.scene.view.W && panelWidth() === 44 ? [Math.max(box[0], map.scene.view.W - 48), ...box.slice(1)] : box));
}
