// Draw order and spatial index of the points.
//
// The *level* of a row is random (a hash of its number): the last level has half of all rows, the one
// before a quarter, and so on, so the first levels are a random sample of all rows. Within a level,
// rows are ordered by the cells of a grid. This order serves to draw fewer points while the map moves
// (the first levels), to draw only what is in view (runs of cells), to find the nearest point and to
// test a lasso. It takes O(n) time to build.
//
// This file imports nothing: for up to about 50,000 rows the page uses the class directly, above that
// the file runs as a worker (see the end).

export const HIDDEN = 4;

/** Address of this file, to start a worker. */
export const ADDRESS = import.meta.url;

export const STEPS = (1 << 20) - 1; // coordinates are whole numbers from 0 to this
const FIRST_LEVEL_ROWS = 16384; // expected rows in the first level

/** Hash of a row number with random bits. @param {number} row */
function hash(row) {
  let h = Math.imul(row ^ (row >>> 16), 0x45d9f3b) + 0x9e3779b9;
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** The rectangle [left, low, right, high] of all positions and of `included`. @param {Float32Array} pos */
export function extentOf(pos, included = null) {
  let [x0, y0, x1, y1] = included ?? [Infinity, Infinity, -Infinity, -Infinity];
  for (let k = 0; k < pos.length; k += 2) {
    const x = pos[k];
    const y = pos[k + 1];
    if (x < x0) x0 = x;
    if (x > x1) x1 = x;
    if (y < y0) y0 = y;
    if (y > y1) y1 = y;
  }
  return x0 <= x1 ? [x0, y0, x1 > x0 ? x1 : x0 + 1, y1 > y0 ? y1 : y0 + 1] : [0, 0, 1, 1];
}

/**
 * @typedef {[left: number, low: number, right: number, high: number]} Extent
 * @typedef {{ bits: number, starts: Uint32Array }} Level
 * @typedef {{ old: Uint16Array, around: Extent }} Start
 * @typedef {{ n: number, nPlaced: number, extent: Extent, levels: Level[], high: Uint16Array, low: Uint8Array,
 *   rowAt: Uint32Array, from?: Start | null }} Order
 */

export class PointIndex {
  constructor() {
    this.n = 0;
    this.nPlaced = 0;
    /** @type {Extent} */
    this.extent = [0, 0, 1, 1];
    /** @type {Level[]} */
    this.levels = [];
    this.high = new Uint16Array(0);
    this.low = new Uint8Array(0);
    this.rowAt = new Uint32Array(0);
    /** @type {Uint8Array | null} */
    this.hidden = null;
  }

  /**
   * Sort the rows of a layout: two numbers per row, NaN for none.
   *
   * Returns `rowAt` (row by position in the order), `high` (upper 16 of 20 bits of x and y), `low`
   * (lower 4 bits of both), `extent`, `nPlaced` (rows with a position), and `levels`: the bits of the
   * grid and the start of each cell.
   * @param {Float32Array} pos
   * @returns {Order}
   */
  arrange(pos) {
    const n = pos.length / 2;
    const extent = /** @type {Extent} */ (extentOf(pos));
    const [x0, y0, x1, y1] = extent;
    const fx = STEPS / (x1 - x0);
    const fy = STEPS / (y1 - y0);
    const depth = Math.max(1, Math.ceil(Math.log2(Math.max(n, 1) / FIRST_LEVEL_ROWS)) + 1);
    const plan = [];
    let cells = 0;
    for (let l = 0; l < depth; l++) { // a grid with about 16 points per cell
      const size = n / 2 ** (l ? depth - l : depth - 1);
      const bits = Math.min(Math.max(Math.floor(Math.log2(Math.max(size / 16, 1)) / 2), 2), 7);
      plan.push({ bits, first: cells });
      cells += 4 ** bits;
    }
    const cellOf = new Uint32Array(n);
    const starts = new Uint32Array(cells + 2);
    for (let r = 0; r < n; r++) {
      const x = pos[2 * r];
      const y = pos[2 * r + 1];
      if (!(x === x && y === y)) cellOf[r] = cells; // at the end, never drawn
      else {
        const { bits, first } = plan[Math.max(0, depth - 1 - Math.clz32(hash(r)))];
        const shift = 20 - bits;
        cellOf[r] = first + ((((y - y0) * fy) >> shift) << bits) + (((x - x0) * fx) >> shift);
      }
      starts[cellOf[r] + 1] += 1;
    }
    for (let k = 0; k <= cells; k++) starts[k + 1] += starts[k];
    const next = starts.slice();
    const high = new Uint16Array(2 * n);
    const low = new Uint8Array(n);
    const rowAt = new Uint32Array(n);
    for (let r = 0; r < n; r++) {
      const at = next[cellOf[r]]++;
      rowAt[at] = r;
      const x = Math.round((pos[2 * r] - x0) * fx);
      const y = Math.round((pos[2 * r + 1] - y0) * fy);
      high[2 * at] = x >> 4;
      high[2 * at + 1] = y >> 4;
      low[at] = (x & 15) | ((y & 15) << 4);
    }
    const levels = plan.map(({ bits, first }) => (
      { bits, starts: starts.slice(first, first + 4 ** bits + 1) }));
    Object.assign(this, { n, nPlaced: starts[cells], extent, levels, high, low, rowAt });
    return { n, nPlaced: this.nPlaced, extent, levels, high, low, rowAt };
  }

  /** Set the rows that must not be found: one byte per row, or null for none. */
  hide(hidden) { this.hidden = hidden; }

  x(at) { return this.high[2 * at] * 16 + (this.low[at] & 15); }

  y(at) { return this.high[2 * at + 1] * 16 + (this.low[at] >> 4); }

  isFindable(at) { return !this.hidden || !this.hidden[this.rowAt[at]]; }

  inSteps([x, y]) {
    const [x0, y0, x1, y1] = this.extent;
    return [((x - x0) * STEPS) / (x1 - x0), ((y - y0) * STEPS) / (y1 - y0)];
  }

  /** The row nearest to a position within `reach` pixels, or -1. `perX`, `perY`: pixels per unit. */
  pick({ at, perX, perY, reach }) {
    if (!this.nPlaced) return -1;
    const [x, y] = this.inSteps(at);
    const [x0, y0, x1, y1] = this.extent;
    const sx = (perX * (x1 - x0)) / STEPS;
    const sy = (perY * (y1 - y0)) / STEPS;
    let nearestAt = -1;
    // Small radii first, since a large radius on a dense map contains many points.
    for (const r of [Math.min(3, reach), Math.min(8, reach), Math.min(40, reach), reach]) {
      let best = r * r;
      for (const { bits, starts } of this.levels) {
        const shift = 20 - bits;
        const last = (1 << bits) - 1;
        const cell = (value) => Math.min(Math.max(Math.floor(value / 2 ** shift), 0), last);
        const [c0, c1] = [cell(x - r / sx), cell(x + r / sx)];
        const [l0, l1] = [cell(y - r / sy), cell(y + r / sy)];
        for (let l = l0; l <= l1; l++) {
          const end = starts[(l << bits) + c1 + 1];
          for (let k = starts[(l << bits) + c0]; k < end; k++) {
            const dx = (this.x(k) - x) * sx;
            const dy = (this.y(k) - y) * sy;
            const d = dx * dx + dy * dy;
            if (d <= best && this.isFindable(k)) {
              best = d;
              nearestAt = k;
            }
          }
        }
      }
      if (nearestAt >= 0) return this.rowAt[nearestAt];
    }
    return -1;
  }

  /** The rows in a polygon (even-odd rule), sorted. */
  inside(polygon) {
    const rows = [];
    if (polygon.length > 2) {
      this.runs(polygon.map((p) => this.inSteps(p)), (first, end) => {
        for (let k = first; k < end; k++) if (this.isFindable(k)) rows.push(this.rowAt[k]);
      });
    }
    return Uint32Array.from(rows).sort();
  }

  /** Call `onRun(first, end)` for runs of the order that lie in a polygon. */
  runs(p, onRun) {
    const m = p.length;
    for (const { bits, starts } of this.levels) {
      const size = 2 ** (20 - bits);
      const g = 1 << bits;
      const edge = new Uint8Array(g);
      for (let l = 0; l < g; l++) {
        const [y0, y1, mid] = [l * size, (l + 1) * size, (l + 0.5) * size];
        const crossing = []; // edges that cross this line of cells: low, high, slope, offset
        const cuts = []; // where edges cross the middle of the line
        edge.fill(0);
        for (let a = 0, b = m - 1; a < m; b = a++) {
          const [ax, ay] = p[a];
          const [bx, by] = p[b];
          if (Math.max(ay, by) < y0 || Math.min(ay, by) > y1) continue;
          const slope = (bx - ax) / (by - ay);
          if (ay !== by) crossing.push(Math.min(ay, by), Math.max(ay, by), slope, ax - ay * slope);
          if (ay > mid !== by > mid) cuts.push(ax + (mid - ay) * slope);
          // Only cells that the edge crosses need a test of each point.
          /** @param {number} y */
          const on = (y) => ax + (Math.min(Math.max(y, Math.min(ay, by)), Math.max(ay, by)) - ay) * slope;
          const [u, v] = ay === by ? [ax, bx] : [on(y0), on(y1)];
          edge.fill(
            1, Math.max(Math.floor(Math.min(u, v) / size - 0.01), 0),
            Math.max(Math.floor(Math.max(u, v) / size + 0.01) + 1, 0),
          );
        }
        if (!crossing.length) continue;
        for (let c = 0; c < g; c++) {
          const first = starts[l * g + c];
          const end = starts[l * g + c + 1];
          if (first === end) continue;
          if (edge[c]) this.testEach(crossing, first, end, onRun);
          else if (cuts.filter((x) => (c + 0.5) * size < x).length % 2) onRun(first, end);
        }
      }
    }
  }

  /** @param {number} first @param {number} end */
  testEach(edges, first, end, onRun) {
    for (let k = first; k < end; k++) {
      const x = this.x(k);
      const y = this.y(k);
      let odd = false;
      for (let e = 0; e < edges.length; e += 4) {
        if (y >= edges[e] && y < edges[e + 1] && x < edges[e + 2] * y + edges[e + 3]) odd = !odd;
      }
      if (odd) onRun(k, k + 1);
    }
  }
}

const MAX_LOCAL_ROWS = 50000; // rows up to which the page itself is fast enough

/** Requests to an index in the page or in a worker. `callback` gets each result. */
export class IndexPort {
  /** `address` of this file for a worker; null for no worker. */
  constructor(address = /** @type {string | null} */ (null)) {
    this.address = address;
    this.localIndex = new PointIndex();
    /** @type {Worker | null} */
    this.worker = null;
    this.pending = new Map();
    this.next = 0;
    this.usesWorker = false;
  }

  /** @param {"arrange" | "hide" | "pick" | "inside"} method @param {any} args @param {(result: any) => void} callback */
  request(method, args, callback = () => {}) {
    if (method === "arrange") this.usesWorker = args.length / 2 > MAX_LOCAL_ROWS && this.start();
    if (!this.usesWorker) {
      callback(/** @type {any} */ (this.localIndex)[method](args));
      return;
    }
    this.next += 1;
    this.pending.set(this.next, { method, args, callback });
    this.worker?.postMessage({ id: this.next, method, args });
  }

  start() {
    if (this.worker || !this.address || typeof Worker === "undefined") return Boolean(this.worker);
    try {
      this.worker = new Worker(this.address, { type: "module" });
    } catch {
      this.address = null;
      return false;
    }
    this.worker.onmessage = ({ data: { id, out } }) => {
      const { callback } = this.pending.get(id);
      this.pending.delete(id);
      callback(out);
    };
    // If the worker does not start (strict policy, old browser), the page answers its requests.
    this.worker.onerror = (event) => {
      event.preventDefault?.();
      Object.assign(this, { worker: null, address: null, usesWorker: false });
      for (const { method, args, callback } of this.pending.values()) callback(/** @type {any} */ (this.localIndex)[method](args));
      this.pending.clear();
    };
    return true;
  }

  close() {
    this.worker?.terminate();
    this.worker = null;
    this.pending.clear();
  }
}

if (typeof WorkerGlobalScope !== "undefined" && globalThis instanceof WorkerGlobalScope) {
  /** @type {any} */
  const index = new PointIndex();
  /** @type {any} */
  const worker = globalThis;
  worker.onmessage = ({ data: { id, method, args } }) => {
    worker.postMessage({ id, out: index[method](args) ?? null });
  };
}
