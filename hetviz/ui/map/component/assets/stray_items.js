// Camera of the whole map for stray items: those outside the frame of the map, which may lie where cards are.

/** @import { Camera } from "./camera.js" */
/** @import { Place } from "./scene.js" */

const [SMALLEST, STEP] = [0.55, 0.03]; // shares of the scale that fits the frame
const SHIFTS = [0, -0.5, 0.5, -1, 1]; // shares of the free space beside the frame

/**
 * @typedef {object} Cards Space that cards take while the panel is open, in pixels.
 * @property {number} legend at the left
 * @property {number[]} top width and height at the upper left
 * @property {number} panel at the right
 * @property {number} foot
 * @property {number[]} views width and height in the middle above, beside the panel
 * @property {number} shift of the view while the panel is closed, 0 while it is open
 * @property {number} maxShift
 */

/**
 * The nearest camera, a little smaller or shifted, at which no stray item lies under a card. Items beyond
 * the window are not under one. Without such a camera, the one with the fewest.
 * @param {Camera} camera @param {Cards} cards @param {Place} place
 */
export function clearOfStrays(camera, cards, place) {
  const rows = camera.strayRows;
  if (!rows.length) return place;
  const { view, data } = camera.scene;
  const { left, top, right, bottom } = view.clear;
  const { x, y } = data.frame;
  let best = place;
  let fewest = Infinity;
  for (let share = 1; share >= SMALLEST; share -= STEP) {
    const s = place.s * share;
    const slackX = Math.max(view.W - left - right - (x[1] - x[0]) * s, 0) / 2;
    const slackY = Math.max(view.H - top - bottom - ((y[1] - y[0]) * s) / place.k, 0) / 2;
    const centred = view.around({ x, y, stretch: place.k, maxScale: s });
    for (const sy of SHIFTS) {
      for (const sx of SHIFTS) {
        const at = { ...centred, cx: centred.cx - (sx * slackX) / s, cy: centred.cy + (sy * slackY * place.k) / s };
        const count = countCovered(camera, cards, rows, at, fewest);
        if (count < fewest) [best, fewest] = [at, count];
        if (!count) return at;
      }
    }
  }
  return best;
}

/** Rows of shown datasets outside the frame. @param {Camera} camera */
export function strays({ scene: { data, geometry, hidden } }) {
  const { x, y } = data.frame;
  const rows = [];
  for (const { name, start, stop } of data.datasets) {
    if (hidden.includes(name)) continue;
    for (let r = start; r < stop; r++) {
      const [px, py] = [geometry[2 * r], geometry[2 * r + 1]];
      if (px < x[0] || px > x[1] || py < y[0] || py > y[1]) rows.push(r);
    }
  }
  return rows;
}

/** Count the rows under a card, up to a maximum. @param {Camera} camera @param {Cards} cards @param {number[]} rows @param {Place} at @param {number} max */
function countCovered({ scene: { view, geometry } }, cards, rows, at, max) {
  const { W, H } = view;
  const { legend, top: [topWidth, topHeight], views: [viewsWidth, viewsHeight], panel, foot, shift, maxShift } = cards;
  let count = 0;
  for (const r of rows) {
    const px = (geometry[2 * r] - at.cx) * at.s + W / 2 - shift;
    const py = H / 2 - ((geometry[2 * r + 1] - at.cy) * at.s) / at.k;
    // What lies left of the window enters it when the panel closes.
    if (py < 0 || py > H || px > W || px < -maxShift) continue;
    const isCovered = py > H - foot || px > W - panel || px < legend || (py < topHeight && px < topWidth)
      || (py < viewsHeight && 2 * Math.abs(px - (W - panel) / 2) < viewsWidth);
    if (isCovered && ++count >= max) break;
  }
  return count;
}
