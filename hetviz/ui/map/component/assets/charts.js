// Recolouring of charts when the theme changes. The server made them in the colours of one theme, and they
// change to the other until the server draws them again.

/** @import { Scene } from "./scene.js" */

const REPEAT_MS = [0, 250, 800]; // ms
const PARTS = ["fill", "stroke"];
const probe = document.createElement("i");

/** A colour in the notation of a style. */
function normalised(colour) {
  probe.style.color = "";
  probe.style.color = colour;
  return probe.style.color;
}

/**
 * Give the charts the colours of the current theme, again after Streamlit redraws them.
 * @param {Scene} scene
 */
export function followCharts(scene, from) {
  const to = scene.scheme;
  for (const ms of REPEAT_MS) setTimeout(() => scene.isClosed || scene.scheme !== to || recolour(scene.data.tokens, from, to), ms);
}

function recolour(tokens, from, to) {
  if (from === to) return;
  const pairs = new Map();
  const addPairs = (value, other) => {
    if (typeof value === "string") pairs.set(normalised(value), other);
    else if (Array.isArray(value)) value.forEach((part, k) => addPairs(part, other[k]));
  };
  for (const [name, value] of Object.entries(tokens[from])) addPairs(value, tokens[to][name]);
  pairs.delete("");
  for (const element of document.querySelectorAll(".js-plotly-plot svg *")) {
    for (const part of PARTS) {
      const other = pairs.get(element.style[part]);
      if (other) element.style[part] = other;
    }
  }
}
