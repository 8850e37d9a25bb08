// Canvas renderer of the points of a map for browsers without WebGL2. It draws at most 20,000 points, a
// random sample of larger maps. Picking and lasso use all points.

import { context2d, makeCanvas } from "./canvas.js";
import { HIDDEN, IndexPort } from "./point_index.js";
import { rgb, SHAPES, UNSTABLE } from "./renderer.js";
import { RendererBase } from "./renderer_base.js";

/** @import { LayoutOptions } from "./renderer_base.js" */
/** @import { View } from "./view.js" */

export const MAX_DRAWN = 20000;
const CELL_PX = 9; // pixels per cell of the overlay
const REACH_CELLS = 2; // half width of the blur of trust, in cells, applied three times

/**
 * Trace a shape around the origin. `size` is the diameter of the circle.
 * @param {CanvasRenderingContext2D} ctx @param {number} size
 */
export function outline(ctx, shape, size) {
  const r = size / 2;
  const star = (points, out, inner, turn = 0) => {
    for (let k = 0; k < 2 * points; k++) {
      const radius = k % 2 ? inner : out;
      const a = turn + (k * Math.PI) / points;
      ctx[k ? "lineTo" : "moveTo"](radius * Math.sin(a), -radius * Math.cos(a));
    }
    ctx.closePath();
  };
  const regular = (points, radius, turn = 0) => star(points, radius, radius * Math.cos(Math.PI / points), turn);
  ctx.beginPath();
  if (shape === "diamond") regular(4, r * 1.1);
  else if (shape === "square") ctx.rect(-r * 0.92, -r * 0.92, r * 1.84, r * 1.84);
  else if (shape === "triangle-up") regular(3, r * 1.12);
  else if (shape === "triangle-down") regular(3, r * 1.12, Math.PI);
  else if (shape === "hexagon") regular(6, r * 1.04, Math.PI / 6);
  else if (shape === "star") star(5, r, r * 0.45);
  else if (shape === "cross") {
    const w = r * 0.36;
    ctx.rect(-w, -r, 2 * w, 2 * r);
    ctx.rect(-r, -w, 2 * r, 2 * w);
  } else ctx.arc(0, 0, r, 0, 7);
}

export class FlatRenderer extends RendererBase {
  /** @param {HTMLCanvasElement} canvas @param {{ requestDraw?: () => void }} options */
  constructor(canvas, { requestDraw = () => {} } = {}) {
    super({ requestDraw, port: new IndexPort() });
    this.canvas = canvas;
    this.pos = new Float32Array(0);
    /** @type {Float32Array | null} Start of a transition. */
    this.from = null;
    this.spriteSize = 0;
    this.ctx = context2d(canvas);
    this.sprites = new Map();
    this.whole = true;
    this.slow = true;
  }

  /** @param {Float32Array} pos @param {LayoutOptions} options */
  layout(pos, { from = null, onReady = () => {} } = {}) {
    this.port.request("arrange", pos, (order) => {
      Object.assign(this, { order, pos, from, n: order.n, nPlaced: order.nPlaced });
      this.invalidate();
      onReady();
    });
  }

  endTransition() {
    this.from = null;
    this.invalidate();
  }

  invalidate() {
    this.sprites?.clear();
    super.invalidate();
  }

  get ratio() { return globalThis.devicePixelRatio || 1; }

  /** @param {View} view */
  draw(view, share = 1) {
    if (!this.order) return false;
    const { canvas, ratio, ctx } = this;
    const [w, h] = [Math.round(view.W * ratio), Math.round(view.H * ratio)];
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    const drawnKey = [view.cx, view.cy, view.s, view.k, share, this.size, w, h].join();
    if (drawnKey === this.drawnKey) return false;
    if (this.spriteSize !== this.size) this.sprites.clear();
    Object.assign(this, { drawnKey, spriteSize: this.size });
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, w, h);
    this.render(ctx, view, share, ratio);
    return false;
  }

  /** @param {CanvasRenderingContext2D} ctx @param {View} view @param {number} share @param {number} ratio */
  render(ctx, view, share, ratio) {
    const { order, pos, from, bytes, lines } = this;
    if (!order) return;
    const { rowAt, nPlaced } = order;
    /** @param {number} r */
    const at = (r) => {
      const [x, y] = [pos[2 * r], pos[2 * r + 1]];
      if (!from || share >= 1 || Number.isNaN(from[2 * r])) return [view.x(x), view.y(y)];
      const mixed = (a, b) => a + (b - a) * share;
      return [view.x(mixed(from[2 * r], x)), view.y(mixed(from[2 * r + 1], y))];
    };
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (lines) this.drawLines(ctx, lines, at);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    // Faded points first, so points in focus lie above them.
    const focused = [];
    let drawn = 0;
    /** @param {number} r */
    const put = (r, faded) => {
      const [x, y] = at(r);
      if (!(x > -20 && y > -20 && x < view.W + 20 && y < view.H + 20)) return;
      const sprite = this.sprite(r, faded, ratio);
      ctx.drawImage(sprite, Math.round(x * ratio - sprite.width / 2), Math.round(y * ratio - sprite.height / 2));
      drawn += 1;
    };
    for (let k = 0; k < nPlaced && drawn < MAX_DRAWN; k++) {
      const r = rowAt[k];
      const state = bytes.state ? bytes.state[r] : 0;
      if (state & HIDDEN) continue;
      if (this.hasFocus && state & 3) focused.push(r);
      else put(r, this.hasFocus);
    }
    focused.forEach((r) => put(r, false));
    this.drawn = drawn;
    if (this.trustOverlay) this.drawTrustOverlay(ctx, view, ratio, at);
  }

  /** @param {number} r @param {number} ratio */
  sprite(r, faded, ratio) {
    const { bytes, kinds } = this;
    const state = bytes.state ? bytes.state[r] & 3 : 0;
    const unstable = !faded && !(this.hasFocus && state) && Boolean(bytes.state && bytes.state[r] & UNSTABLE);
    const dataset = bytes.dataset ? bytes.dataset[r] & 7 : 0;
    const colour = this.colours[bytes.colour ? bytes.colour[r] : 0] ?? "#888888";
    const key = `${dataset}|${colour}|${faded ? "f" : unstable ? "u" : this.hasFocus ? state : ""}|${ratio}`;
    if (this.sprites.has(key)) return this.sprites.get(key);
    const kind = kinds[dataset] ?? { shape: SHAPES[0], size: 1 };
    const scale = this.hasFocus && !faded ? (state & 2 ? 1.25 : 1.12) : 1;
    const size = this.size * kind.size * scale;
    const side = Math.ceil((size + 4) * ratio);
    const sprite = makeCanvas(side, side);
    const ctx = context2d(sprite);
    ctx.translate(side / 2, side / 2);
    ctx.scale(ratio, ratio);
    outline(ctx, kind.shape, size);
    const share = faded ? this.faded : 0.3;
    const mixed = (a, b) => `rgb(${rgb(a).map((v, k) => Math.round(255 * (v + (rgb(b)[k] - v) * share)))})`;
    ctx.globalAlpha = this.alpha;
    ctx.fillStyle = faded || unstable ? mixed(this.ground, colour) : colour;
    ctx.fill();
    if (this.size > 3.5) {
      ctx.strokeStyle = this.ground;
      ctx.lineWidth = this.rim;
      ctx.stroke();
    }
    this.sprites.set(key, sprite);
    return sprite;
  }

  drawLines(ctx, { a, b, colour, m }, at) {
    ctx.lineWidth = this.lineWidth;
    ctx.globalAlpha = this.lineAlpha;
    for (let k = 0; k < m; k++) {
      ctx.beginPath();
      ctx.moveTo(...at(a[k]));
      ctx.lineTo(...at(b[k]));
      ctx.strokeStyle = this.colours[colour ? colour[k] : 0];
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  /**
   * Draw a pale, hatched overlay where the mean trust is low.
   * @param {CanvasRenderingContext2D} ctx @param {View} view @param {number} ratio
   */
  drawTrustOverlay(ctx, view, ratio, at) {
    const { order, bytes: { trust, state } } = this;
    if (!trust || !order) return;
    const { rowAt, nPlaced } = order;
    const [columns, lines] = [Math.ceil(view.W / CELL_PX), Math.ceil(view.H / CELL_PX)];
    const sum = new Float32Array(columns * lines);
    const count = new Float32Array(columns * lines);
    for (let k = 0; k < nPlaced; k++) {
      const r = rowAt[k];
      if (trust[r] > 200 || (state && state[r] & HIDDEN)) continue;
      const [x, y] = at(r);
      const [c, l] = [Math.floor(x / CELL_PX), Math.floor(y / CELL_PX)];
      if (c < 0 || l < 0 || c >= columns || l >= lines) continue;
      sum[l * columns + c] += trust[r] / 200;
      count[l * columns + c] += 1;
    }
    for (const grid of [sum, count]) for (let k = 0; k < 3; k++) spread(grid, columns, lines);
    // One item nearby is enough. Without items there is nothing to mark.
    const enough = 1.2 / (2 * REACH_CELLS + 1) ** 2;
    const field = makeCanvas(columns, lines);
    const small = context2d(field);
    const image = small.createImageData(columns, lines);
    const ground = rgb(this.ground).map((v) => 255 * v);
    sum.forEach((total, k) => {
      const share = count[k] ? Math.min(Math.max((0.65 - total / count[k]) / 0.3, 0), 1) : 0;
      image.data.set([...ground, 255 * share * Math.min(count[k] / enough, 1)], 4 * k);
    });
    small.putImageData(image, 0, 0);
    const trustOverlay = makeCanvas(view.W * ratio, view.H * ratio);
    const over = context2d(trustOverlay);
    over.scale(ratio, ratio);
    over.strokeStyle = this.hatch;
    over.globalAlpha = 0.42;
    over.beginPath();
    for (let x = -view.H; x < view.W; x += 8) {
      over.moveTo(x, view.H);
      over.lineTo(x + view.H, 0);
    }
    over.stroke();
    over.globalAlpha = 1;
    over.globalCompositeOperation = "destination-in";
    over.drawImage(field, 0, 0, view.W, view.H);
    over.globalCompositeOperation = "destination-over";
    over.globalAlpha = 0.75;
    over.drawImage(field, 0, 0, view.W, view.H);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(trustOverlay, 0, 0);
  }

  /** @param {View} view */
  picture(view, ratio = 2, share = 1) {
    const out = makeCanvas(view.W * ratio, view.H * ratio);
    if (!this.order) return out;
    this.sprites.clear();
    this.render(context2d(out), view, share, ratio);
    this.invalidate();
    return out;
  }
}

/**
 * Replace each cell by the mean of the cells around it, in both directions.
 * @param {number} columns @param {number} lines
 */
function spread(grid, columns, lines) {
  /** @param {number} step */
  const run = (start, step, length) => {
    const old = new Float32Array(length);
    for (let k = 0; k < length; k++) old[k] = grid[start + k * step];
    let total = 0;
    for (let k = 0; k < Math.min(REACH_CELLS, length); k++) total += old[k];
    for (let k = 0; k < length; k++) {
      if (k + REACH_CELLS < length) total += old[k + REACH_CELLS];
      if (k - REACH_CELLS - 1 >= 0) total -= old[k - REACH_CELLS - 1];
      grid[start + k * step] = Math.max(total, 0) / (2 * REACH_CELLS + 1);
    }
  };
  for (let l = 0; l < lines; l++) run(l * columns, 1, columns);
  for (let c = 0; c < columns; c++) run(c, columns, lines);
}
