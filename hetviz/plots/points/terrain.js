// Terrain of a map, drawn below its points: three soft steps of density in the colour of the category
// that dominates, or lines of equal value for numbers. It is computed in pixels of the window while the
// map rests, and follows the camera as a picture until then.

import { context2d, makeCanvas } from "./canvas.js";
import { rgb } from "./renderer.js";

/** @import { View } from "./view.js" */

/**
 * Positions; `rows` is a sample of which each row stands for `each` rows, null for all rows. `slot`: colour
 * of each row, 0 for none, then `nColours` categories or steps, then paler ones. `keys` change with the rest.
 *
 * @typedef {{ pos: Float32Array, rows: ArrayLike<number> | null, each: number, isShown: ArrayLike<number>,
 *   slot: ArrayLike<number>, nColours: number, isNumeric: boolean, palette: string[], isDark: boolean,
 *   keys: unknown[] }} Ground
 * @typedef {{ columns: number, lines: number }} Grid
 */

const CELL_PX = 6; // pixels per cell of a density
const FINER = 2; // pixels of the picture per cell
const BANDWIDTH_PX = 26; // standard deviation of the kernel
const PAD_PX = 96; // computed beyond the window, for moves of the camera
const RADIUS = Math.round((Math.sqrt((4 * BANDWIDTH_PX ** 2) / CELL_PX ** 2 + 1) - 1) / 2); // of three box filters
const ALPHAS = { light: [0.045, 0.085, 0.135], dark: [0.07, 0.12, 0.18] };
// Steps as shares of the median density at the items, and the items at one place that they take at least.
const STEPS = [0.22, 0.6, 1.05];
const MIN_ITEMS = [1.6, 2.6, 3.6];
const [MIN_PURITY, FULL_PURITY] = [0.32, 0.66];
const N_LINES = 7; // lines of equal value
const PEAK = ((3 * (2 * RADIUS + 1) ** 2 + 1) / (4 * (2 * RADIUS + 1) ** 3)) ** 2; // of the three box filters
const MIN_DENSITY = 0.6 * PEAK; // where lines end: beyond the outermost items
const MIN_EXPLAINED = 0.1; // share of the variance that the places explain
const MIN_LINE_PX = 3 * BANDWIDTH_PX; // shorter pieces are left out
const SAMPLED = 4096;

/** @param {number} from @param {number} to @param {number} x */
const smooth = (from, to, x) => {
  const t = Math.min(Math.max((x - from) / (to - from), 0), 1);
  return t * t * (3 - 2 * t);
};

/**
 * Smooth a grid by three box filters in each direction, which is nearly a Gaussian.
 * @param {Float32Array} grid @param {Grid} size @param {Float32Array} other scratch of the same size
 */
export function smoothen(grid, { columns, lines }, other) {
  const share = 1 / (2 * RADIUS + 1);
  const sums = new Float32Array(columns);
  for (let pass = 0; pass < 3; pass++) {
    for (let l = 0; l < lines; l++) {
      const start = l * columns;
      let sum = 0;
      for (let c = 0; c < Math.min(RADIUS, columns); c++) sum += grid[start + c];
      for (let c = 0; c < columns; c++) {
        if (c + RADIUS < columns) sum += grid[start + c + RADIUS];
        if (c > RADIUS) sum -= grid[start + c - RADIUS - 1];
        other[start + c] = sum * share;
      }
    }
    sums.fill(0);
    for (let l = 0; l < Math.min(RADIUS, lines); l++) for (let c = 0; c < columns; c++) sums[c] += other[l * columns + c];
    for (let l = 0; l < lines; l++) {
      const [start, ahead, behind] = [l * columns, (l + RADIUS) * columns, (l - RADIUS - 1) * columns];
      if (l + RADIUS < lines) for (let c = 0; c < columns; c++) sums[c] += other[ahead + c];
      if (l > RADIUS) for (let c = 0; c < columns; c++) sums[c] -= other[behind + c];
      // Rounding may leave less than nothing.
      for (let c = 0; c < columns; c++) grid[start + c] = Math.max(sums[c] * share, 0);
    }
  }
}

/**
 * Cells and slots of the rows in view.
 * @param {Ground} ground @param {View} view @param {Grid} size
 */
function cellsInView({ pos, rows, isShown, slot }, view, { columns, lines }) {
  const n = rows ? rows.length : pos.length / 2;
  const cells = new Int32Array(n);
  const slots = new Uint8Array(n);
  let count = 0;
  for (let k = 0; k < n; k++) {
    const r = rows ? rows[k] : k;
    if (!isShown[r]) continue;
    const c = Math.floor((view.x(pos[2 * r]) + PAD_PX) / CELL_PX);
    const l = Math.floor((view.y(pos[2 * r + 1]) + PAD_PX) / CELL_PX);
    if (!(c >= 0 && l >= 0 && c < columns && l < lines)) continue;
    cells[count] = l * columns + c;
    slots[count] = slot[r];
    count += 1;
  }
  return { cells: cells.subarray(0, count), slots: slots.subarray(0, count) };
}

/**
 * Density that each step begins at: shares of the median at the items, but at least a few items.
 * @param {Float32Array} total @param {Int32Array} cells @param {number} each
 */
function thresholds(total, cells, each) {
  const step = Math.max(1, Math.floor(cells.length / SAMPLED));
  const at = [];
  for (let k = 0; k < cells.length; k += step) at.push(total[cells[k]]);
  at.sort((a, b) => a - b);
  const median = at[at.length >> 1] ?? 0;
  const one = 1 / (2 * Math.PI * (BANDWIDTH_PX / CELL_PX) ** 2) / each; // density at a single item
  return STEPS.map((share, k) => Math.max(share * median, MIN_ITEMS[k] * one));
}

/**
 * Colour and alpha of each pixel, by the category that dominates there.
 * @param {Ground} ground @param {View} view @param {Grid} size
 */
export function shade(ground, view, size) {
  const { nColours, palette, isDark, each } = ground;
  const { cells, slots } = cellsInView(ground, view, size);
  const nCells = size.columns * size.lines;
  const [total, best, one, scratch] = [0, 0, 0, 0].map(() => new Float32Array(nCells));
  const winner = new Uint8Array(nCells);
  const present = new Set();
  // Paler items count for the category whose colour they take.
  for (let k = 0; k < slots.length; k++) {
    if (slots[k]) slots[k] = 1 + ((slots[k] - 1) % nColours);
    present.add(slots[k]);
  }
  for (const category of present) {
    one.fill(0);
    for (let k = 0; k < cells.length; k++) if (slots[k] === category) one[cells[k]] += 1;
    smoothen(one, size, scratch);
    for (let c = 0; c < nCells; c++) {
      total[c] += one[c];
      // Items without a value have no land, unless none has a value.
      if (one[c] > best[c] && (category || nColours === 0)) {
        best[c] = one[c];
        winner[c] = category;
      }
    }
  }
  const starts = thresholds(total, cells, each);
  const alphas = ALPHAS[isDark ? "dark" : "light"];
  const colours = palette.map((hex) => rgb(hex).map((v) => Math.round(255 * v)));
  const { columns, lines } = size;
  const wide = FINER * columns;
  const pixels = new Uint8ClampedArray(4 * wide * FINER * lines);
  for (let y = 0; y < FINER * lines; y++) {
    const v = Math.min(Math.max((y + 0.5) / FINER - 0.5, 0), lines - 1.001);
    const line = Math.floor(v);
    const down = v - line;
    for (let x = 0; x < wide; x++) {
      const u = Math.min(Math.max((x + 0.5) / FINER - 0.5, 0), columns - 1.001);
      const column = Math.floor(u);
      const c = line * columns + column;
      const below = c + columns;
      if (!total[c] && !total[c + 1] && !total[below] && !total[below + 1]) continue;
      const right = u - column;
      const [a, b, e, f] = [(1 - right) * (1 - down), right * (1 - down), (1 - right) * down, right * down];
      const d = a * total[c] + b * total[c + 1] + e * total[below] + f * total[below + 1];
      if (d < 0.94 * starts[0]) continue;
      const top = a * best[c] + b * best[c + 1] + e * best[below] + f * best[below + 1];
      let alpha = 0;
      for (let k = 0; k < 3 && d > 0.94 * starts[k]; k++) {
        alpha += (alphas[k] - (k ? alphas[k - 1] : 0)) * smooth(0.94 * starts[k], 1.06 * starts[k], d);
      }
      const colour = colours[winner[c + Math.round(right) + columns * Math.round(down)]] ?? colours[0];
      const at = 4 * (y * wide + x);
      pixels[at] = colour[0];
      pixels[at + 1] = colour[1];
      pixels[at + 2] = colour[2];
      pixels[at + 3] = Math.round(255 * alpha * smooth(MIN_PURITY, FULL_PURITY, top / d));
    }
  }
  return pixels;
}

/**
 * Lines of equal mean of the numbers, where there are items. Values are steps of the palette.
 * @param {Ground} ground @param {View} view @param {Grid} size
 * @returns {{ value: number, segments: number[] }[]} ends of segments in cells
 */
export function isolines(ground, view, size) {
  const { cells, slots } = cellsInView(ground, view, size);
  const nCells = size.columns * size.lines;
  const [total, sum, scratch] = [0, 0, 0].map(() => new Float32Array(nCells));
  for (let k = 0; k < cells.length; k++) {
    if (!slots[k]) continue;
    total[cells[k]] += 1;
    sum[cells[k]] += 1 + ((slots[k] - 1) % ground.nColours);
  }
  smoothen(total, size, scratch);
  smoothen(sum, size, scratch);
  if (explained(cells, slots, total, sum, ground.nColours) < MIN_EXPLAINED) return [];
  const mean = sum.map((s, c) => (total[c] >= MIN_DENSITY ? s / total[c] : NaN));
  const values = [];
  const step = Math.max(1, Math.floor(cells.length / SAMPLED));
  for (let k = 0; k < cells.length; k += step) if (mean[cells[k]] >= 0) values.push(mean[cells[k]]);
  values.sort((a, b) => a - b);
  if (values.length < 2) return [];
  const [low, high] = [0.04, 0.96].map((q) => values[Math.round(q * (values.length - 1))]);
  // Without a range there is nothing to tell apart.
  if (high - low < 1) return [];
  return Array.from({ length: N_LINES }, (_, k) => {
    const value = low + ((k + 0.5) / N_LINES) * (high - low);
    return { value, segments: trace(mean, size, value) };
  });
}

/**
 * Share of the variance of the values that the mean of the items around each explains, without itself.
 * @param {Int32Array} cells @param {Uint8Array} slots @param {Float32Array} total @param {Float32Array} sum @param {number} nColours
 */
function explained(cells, slots, total, sum, nColours) {
  const [values, errors] = [[], []].map(() => /** @type {number[]} */ ([]));
  for (let k = 0; k < cells.length; k++) {
    const others = total[cells[k]] - PEAK;
    if (!slots[k] || others < 0.01 * PEAK) continue;
    const value = 1 + ((slots[k] - 1) % nColours);
    values.push(value);
    errors.push(value - (sum[cells[k]] - PEAK * value) / others);
  }
  const middle = values.reduce((all, value) => all + value, 0) / values.length;
  const squares = (/** @type {number[]} */ list) => list.reduce((all, value) => all + value * value, 0);
  return 1 - squares(errors) / squares(values.map((value) => value - middle));
}

/**
 * Segments where a grid crosses a value, by marching squares, without those of short lines.
 * @param {Float32Array} grid @param {Grid} size @param {number} value
 */
function trace(grid, { columns, lines }, value) {
  const segments = [];
  /** @type {number[]} Two sides of cells for each segment. */
  const sides = [];
  for (let l = 0; l + 1 < lines; l++) {
    for (let c = 0; c + 1 < columns; c++) {
      const at = l * columns + c;
      const corners = [grid[at], grid[at + 1], grid[at + columns + 1], grid[at + columns]];
      const [a, b, d, e] = corners;
      if (!(a + b + d + e >= 0)) continue; // a corner without items
      const isAbove = corners.map((v) => v >= value);
      const ends = [];
      for (let k = 0; k < 4; k++) {
        const next = (k + 1) % 4;
        if (isAbove[k] === isAbove[next]) continue;
        const t = (value - corners[k]) / (corners[next] - corners[k]);
        const [x, y] = [[t, 0], [1, t], [1 - t, 1], [0, 1 - t]][k];
        ends.push(c + 0.5 + x, l + 0.5 + y);
        sides.push([2 * at, 2 * (at + 1) + 1, 2 * (at + columns), 2 * at + 1][k]);
      }
      segments.push(...ends);
    }
  }
  return withoutShort(segments, sides);
}

/** Segments of lines that are long enough. @param {number[]} segments @param {number[]} sides that each has in common with the next */
function withoutShort(segments, sides) {
  /** @type {Map<number, number>} */
  const parents = new Map(sides.map((side) => [side, side]));
  const rootOf = (/** @type {number} */ side) => {
    let root = side;
    for (let up; (up = /** @type {number} */ (parents.get(root))) !== root;) root = up;
    parents.set(side, root);
    return root;
  };
  for (let k = 0; k < sides.length; k += 2) parents.set(rootOf(sides[k]), rootOf(sides[k + 1]));
  /** @type {Map<number, number>} */
  const lengths = new Map();
  for (let k = 0; k < sides.length; k += 2) {
    const [x, y, toX, toY] = segments.slice(2 * k, 2 * k + 4);
    lengths.set(rootOf(sides[k]), (lengths.get(rootOf(sides[k])) ?? 0) + Math.hypot(toX - x, toY - y) * CELL_PX);
  }
  return segments.filter((_, k) => (lengths.get(rootOf(sides[2 * (k >> 2)])) ?? 0) >= MIN_LINE_PX);
}

export class Terrain {
  constructor() {
    this.canvas = makeCanvas(1, 1);
    this.canvas.className = "hv-terrain";
    /** @type {unknown[]} */
    this.keys = [];
    /** Milliseconds of the last computation. */
    this.ms = 0;
    /** @type {{ cx: number, cy: number, s: number, k: number, W: number, H: number } | null} Camera of the picture. */
    this.camera = null;
  }

  /** Draw the terrain of this camera, unless it is drawn already. @param {Ground} ground @param {View} view */
  draw(ground, view) {
    const { cx, cy, s, k, W, H } = view;
    const keys = [...ground.keys, ground.isDark, cx, cy, s, k, W, H];
    if (keys.length === this.keys.length && keys.every((key, i) => key === this.keys[i])) return;
    const begun = performance.now();
    this.keys = keys;
    this.camera = { cx, cy, s, k, W, H };
    const size = { columns: Math.ceil((W + 2 * PAD_PX) / CELL_PX), lines: Math.ceil((H + 2 * PAD_PX) / CELL_PX) };
    const { canvas } = this;
    const ratio = ground.isNumeric ? CELL_PX * Math.min(globalThis.devicePixelRatio || 1, 2) : FINER;
    Object.assign(canvas, { width: Math.round(size.columns * ratio), height: Math.round(size.lines * ratio) });
    Object.assign(canvas.style, { width: `${size.columns * CELL_PX}px`, height: `${size.lines * CELL_PX}px` });
    const ctx = context2d(canvas);
    if (ground.isNumeric) drawLines(ctx, isolines(ground, view, size), ground, ratio);
    else ctx.putImageData(new ImageData(shade(ground, view, size), canvas.width, canvas.height), 0, 0);
    canvas.hidden = false;
    this.follow(view);
    this.ms = performance.now() - begun;
  }

  /** The corner and scales of the picture for a camera. @param {View} view */
  placeFor(view) {
    const { cx, cy, s, k, W, H } = /** @type {NonNullable<Terrain["camera"]>} */ (this.camera);
    const [dx, dy] = [(-PAD_PX - W / 2) / s + cx, ((H / 2 + PAD_PX) * k) / s + cy];
    return { x: view.x(dx), y: view.y(dy), sx: view.s / s, sy: view.s / view.k / (s / k) };
  }

  /** Move the picture with the camera. @param {View} view */
  follow(view) {
    if (!this.camera) return;
    const { x, y, sx, sy } = this.placeFor(view);
    this.canvas.style.transform = `translate(${x}px, ${y}px) scale(${sx}, ${sy})`;
  }

  /** Draw the picture into a context of the size of the map. @param {CanvasRenderingContext2D} ctx @param {View} view */
  paint(ctx, view) {
    const { canvas } = this;
    if (!this.camera || canvas.hidden) return;
    const { x, y, sx, sy } = this.placeFor(view);
    ctx.imageSmoothingQuality = "high";
    ctx.drawImage(canvas, x, y, parseFloat(canvas.style.width) * sx, parseFloat(canvas.style.height) * sy);
  }

  /** Hide it, since it is switched off or the points move. */
  hide() {
    this.canvas.hidden = true;
    this.keys = [];
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx @param {{ value: number, segments: number[] }[]} list
 * @param {Ground} ground @param {number} ratio
 */
function drawLines(ctx, list, { palette, isDark }, ratio) {
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.lineWidth = 1.2 / CELL_PX;
  ctx.lineCap = "round";
  ctx.globalAlpha = isDark ? 0.62 : 0.55;
  for (const { value, segments } of list) {
    ctx.beginPath();
    for (let k = 0; k < segments.length; k += 4) {
      ctx.moveTo(segments[k], segments[k + 1]);
      ctx.lineTo(segments[k + 2], segments[k + 3]);
    }
    ctx.strokeStyle = palette[Math.round(value)] ?? palette[0];
    ctx.stroke();
  }
}
