// Exact geometric tests over typed arrays, and the packed form of a selection.

/** @import { View } from "./view.js" */

/**
 * Rows of `shown` inside a polygon in data units (even-odd rule).
 * @param {Float32Array} pos @param {Uint8Array} shown
 */
export function inside(pos, shown, polygon) {
  const m = polygon.length;
  const out = [];
  if (m < 3) return out;
  let x0 = Infinity;
  let x1 = -Infinity;
  let y0 = Infinity;
  let y1 = -Infinity;
  const px = new Float64Array(m);
  const py = new Float64Array(m);
  polygon.forEach(([x, y], k) => {
    px[k] = x;
    py[k] = y;
    x0 = Math.min(x0, x);
    x1 = Math.max(x1, x);
    y0 = Math.min(y0, y);
    y1 = Math.max(y1, y);
  });
  for (let i = 0; i < shown.length; i++) {
    const x = pos[2 * i];
    const y = pos[2 * i + 1];
    if (!shown[i] || !(x >= x0 && x <= x1 && y >= y0 && y <= y1)) continue;
    let odd = false;
    for (let a = 0, b = m - 1; a < m; b = a++) {
      if (py[a] > y !== py[b] > y
        && x < ((px[b] - px[a]) * (y - py[a])) / (py[b] - py[a]) + px[a]) odd = !odd;
    }
    if (odd) out.push(i);
  }
  return out;
}

/** Rows of `shown` in the range of a camera. */
export function within(pos, shown, { x, y }) {
  const rows = [];
  for (let r = 0; r < shown.length; r++) {
    const [a, b] = [pos[2 * r], pos[2 * r + 1]];
    if (shown[r] && a >= x[0] && a <= x[1] && b >= y[0] && b <= y[1]) rows.push(r);
  }
  return rows;
}

/**
 * Row nearest to a pixel, within `reach` pixels, or -1.
 * @param {Float32Array} pos @param {Uint8Array} shown @param {View} view @param {number} px @param {number} py @param {number} reach
 */
export function nearest(pos, shown, view, px, py, reach) {
  const x = view.dataX(px);
  const y = view.dataY(py);
  const { s, k } = view;
  let best = reach * reach;
  let row = -1;
  for (let i = 0; i < shown.length; i++) {
    if (!shown[i]) continue;
    const dx = (pos[2 * i] - x) * s;
    if (dx > reach || dx < -reach) continue;
    const dy = ((pos[2 * i + 1] - y) * s) / k;
    const d = dx * dx + dy * dy;
    // Of points at the same position the last one is on top.
    if (d <= best) {
      best = d;
      row = i;
    }
  }
  return row;
}

/**
 * The `count` rows nearest to a row, nearest first.
 * @param {Float32Array} pos @param {Uint8Array} shown @param {number} row @param {number} count
 */
export function neighbours(pos, shown, row, count) {
  const x = pos[2 * row];
  const y = pos[2 * row + 1];
  const all = [];
  for (let i = 0; i < shown.length; i++) {
    if (shown[i] && i !== row) all.push([(pos[2 * i] - x) ** 2 + (pos[2 * i + 1] - y) ** 2, i]);
  }
  return all.sort((a, b) => a[0] - b[0]).slice(0, count).map((pair) => pair[1]);
}

/** Flags to a base64 bit set, lowest bit first. @param {Uint8Array} flags */
export function pack(flags) {
  const bytes = new Uint8Array(Math.ceil(flags.length / 8));
  for (let i = 0; i < flags.length; i++) if (flags[i]) bytes[i >> 3] |= 1 << (i & 7);
  let text = "";
  for (let k = 0; k < bytes.length; k += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(k, k + 0x8000));
  }
  return btoa(text);
}

/** @param {number} n */
export function unpack(bytes, n) {
  const flags = new Uint8Array(n);
  for (let i = 0; i < n; i++) flags[i] = (bytes[i >> 3] >> (i & 7)) & 1;
  return flags;
}

/** @param {Uint8Array} flags */
export const countOf = (flags) => flags.reduce((a, b) => a + b, 0);

/** @param {Uint8Array} flags */
export const rowsOf = (flags) => {
  const rows = [];
  for (let i = 0; i < flags.length; i++) if (flags[i]) rows.push(i);
  return rows;
};
