// WebGL2 renderer of the points of a map, for up to about ten million points.
//
// A small map is drawn completely in every frame. While a large map moves, only as many levels are
// drawn as the graphics card can handle in one frame (see point_index.js: the first levels are a
// random sample of all points). When the map rests, the complete picture is drawn in the background.
// Data of size n are sent to the card only when they change, 12 bytes per point:
//
//   now  2 x uint16  upper 16 of 20 bits of x and y      old  2 x uint16  start of a transition
//   meta 4 x uint8   state | dataset << 4, colour, trust, lower 4 bits of x and y
//
// The camera is an object {cx, cy, s, k, W, H} (view.js). The caller of `draw` draws pictures and names
// on a canvas above with the same camera.

import { ADDRESS, HIDDEN, IndexPort, STEPS, extentOf } from "./point_index.js";
import { context2d, makeCanvas } from "./canvas.js";
import { RendererBase } from "./renderer_base.js";
import {
  TRUST_FRAGMENT, TRUST_VERTEX, LINK_FRAGMENT, LINK_VERTEX, POINT_FRAGMENT, POINT_VERTEX,
} from "./shaders.js";

export const FOCUS = 1;
export const SELECTED = 2;
export const UNSTABLE = 8; // 4 is HIDDEN
export { HIDDEN };
export const SHAPES = [
  "circle", "diamond", "square", "triangle-up", "cross", "star", "hexagon", "triangle-down",
];

const CELL_PX = 8; // pixels of the window per cell of the field
const CONTEXT_TIMEOUT_MS = 3000; // ms to wait for a lost graphics card
const REST_MS = 60; // ms without movement before all points are drawn
const MAX_FIELD_POINTS = 131072; // points in the field of a complete picture
const CROWDED_ROWS = 20000; // rows from which dots become transparent where they overlap

/** @param {string} hex */
export const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);

/**
 * A value that is there; WebGL types most results as possibly null.
 * @template T
 * @param {T | null | undefined} value
 * @returns {T}
 */
const some = (value) => /** @type {T} */ (value);

/** Diameter of a dot: smaller on crowded maps, a little larger when zoomed in. @param {number} n @param {number} zoom */
export function dotSize(n, zoom, scale = 1) {
  const crowd = Math.min(Math.max((2500 / Math.max(n, 1)) ** 0.2, 0.26), 1.4);
  return Math.max(1.4, 5.5 * crowd * scale * Math.min(Math.max(zoom ** 0.25, 1), 1.7));
}

/** @type {{ webgl2: boolean, name: string, slow: boolean } | null} */
let cachedAbilities = null;

/** Whether the browser offers WebGL2, and whether it runs on the processor. */
export function abilities() {
  if (cachedAbilities === null) {
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = gl && info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
    cachedAbilities = {
      webgl2: Boolean(gl), name, slow: /swiftshader|llvmpipe|software|basic render/i.test(name),
    };
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return cachedAbilities;
}

/** @import { Extent, Level, Order } from "./point_index.js" */
/** @import { LayoutOptions, RowBytes } from "./renderer_base.js" */
/** @import { View } from "./view.js" */

/**
 * @typedef {[firsts: number[], counts: number[], total: number]} Run
 * @typedef {{ w: number, h: number, frame: WebGLFramebuffer | null }} Screen
 * @typedef {Screen & { texture: WebGLTexture, depth: WebGLRenderbuffer | null }} Target
 * @typedef {Record<string, WebGLUniformLocation>} Uniforms
 * @typedef {{ program: WebGLProgram, at: Uniforms }} Program
 */

export class Renderer extends RendererBase {
  /**
   * `requestDraw` is called when a frame should be drawn, `onContextLost` if the WebGL context is
   * lost for good and another renderer must take over.
   * @param {HTMLCanvasElement} canvas
   * @param {{ requestDraw?: () => void, onContextLost?: () => void, worker?: string | null }} options
   */
  constructor(canvas, { requestDraw = () => {}, onContextLost = () => {}, worker = ADDRESS } = {}) {
    super({ requestDraw, port: new IndexPort(worker) });
    this.canvas = canvas;
    this.slow = abilities().slow;
    /** @type {Level[]} */
    this.levels = [];
    /** @type {Extent} */
    this.extent = [0, 0, 1, 1];
    /** @type {Extent} Rectangle of the start of a transition. */
    this.around = [0, 0, 1, 1];
    /** @type {Run[]} Points in view by level; null after a new layout. */
    this.plan = /** @type {any} */ (null);
    this.total = 0;
    this.nFocused = 0;
    this.inField = 0;
    this.ticket = 0;
    this.closed = false;
    this.sentAt = 0;
    this.movedAt = 0;
    this.usedBudget = false;
    this.lostTimer = 0;
    /** @type {WebGL2RenderingContext} Null while the context is lost. */
    this.gl = /** @type {any} */ (null);
    this.inTransition = false;
    this.kindValues = new Float32Array(16).fill(1);
    this.budget = abilities().slow ? 5e4 : 1e6;
    // Made by initContext.
    this.pointProgram = this.linkProgram = this.trustProgram = /** @type {Program} */ (/** @type {any} */ (null));
    this.pointArray = this.linkArray = this.noArray = /** @type {WebGLVertexArrayObject | null} */ (null);
    this.palette = /** @type {WebGLTexture | null} */ (null);
    // Registered first, since the context may be lost while the programs are compiled.
    canvas.addEventListener("webglcontextlost", (event) => {
      if (this.closed) return;
      event.preventDefault();
      this.gl = /** @type {any} */ (null);
      this.lostTimer = setTimeout(onContextLost, CONTEXT_TIMEOUT_MS);
    });
    canvas.addEventListener("webglcontextrestored", () => {
      clearTimeout(this.lostTimer);
      if (this.closed) return;
      this.initContext();
      this.uploadAll();
    });
    this.initContext();
  }

  /** Whether points can be drawn: there are some, and the context is not lost. */
  get ready() { return Boolean(super.ready && this.gl && !this.gl.isContextLost()); }

  // ------------------------------------------------------------------------------ WebGL context

  initContext() {
    const gl = this.canvas.getContext("webgl2", {
      antialias: false, alpha: true, depth: true, premultipliedAlpha: true,
      powerPreference: "high-performance",
    });
    if (!gl) throw new Error("WebGL2 is not available");
    this.gl = gl;
    /** @type {Target | null} */
    this.front = null;
    /** @type {Target | null} */
    this.back = null;
    /** @type {Target | null} */
    this.field = null;
    /** @type {WebGLSync | null} */
    this.fence = null;
    /** @type {{ link: number, level: number, run: number, at: number } | null} */
    this.cursor = null;
    this.whole = false;
    this.floats = gl.getExtension("EXT_color_buffer_float") || gl.getExtension("EXT_color_buffer_half_float");
    this.multi = gl.getExtension("WEBGL_multi_draw");
    this.pointProgram = this.program(POINT_VERTEX, POINT_FRAGMENT);
    this.linkProgram = this.program(LINK_VERTEX, LINK_FRAGMENT);
    this.trustProgram = this.program(TRUST_VERTEX, TRUST_FRAGMENT);
    /** @type {Record<string, WebGLBuffer>} */
    this.buffers = {};
    for (const name of ["now", "old", "meta", "focused", "linkNow", "linkOld", "linkFour"]) {
      this.buffers[name] = gl.createBuffer();
    }
    this.pointArray = gl.createVertexArray();
    this.linkArray = gl.createVertexArray();
    this.noArray = gl.createVertexArray();
    this.palette = this.texture(gl.RGBA8, 256, 1, gl.NEAREST);
  }

  program(vertex, fragment) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]])) {
      const shader = some(gl.createShader(kind));
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      const logs = some(gl.getAttachedShaders(program)).map((shader) => gl.getShaderInfoLog(shader));
      throw new Error(logs.join("") + gl.getProgramInfoLog(program));
    }
    /** @type {Uniforms} */
    const at = {};
    for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
      const { name } = some(gl.getActiveUniform(program, k));
      at[name.replace("[0]", "")] = some(gl.getUniformLocation(program, name));
    }
    return { program, at };
  }

  /** @param {number} width */
  texture(format, width, height, filter) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
    for (const [key, value] of [
      [gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ]) gl.texParameteri(gl.TEXTURE_2D, key, value);
    return texture;
  }

  /** Framebuffer: a picture with depth, or the field without. @param {number} w @param {number} h */
  target(w, h, deep) {
    const { gl } = this;
    const format = deep ? gl.RGBA8 : this.floats ? gl.RGBA16F : gl.RGBA8;
    const frame = gl.createFramebuffer();
    const texture = this.texture(format, w, h, deep ? gl.NEAREST : gl.LINEAR);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    const depth = deep ? gl.createRenderbuffer() : null;
    if (depth) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, w, h);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    }
    return { w, h, frame, texture, depth };
  }

  deleteTarget(target) {
    if (!target) return;
    const { gl } = this;
    gl.deleteFramebuffer(target.frame);
    gl.deleteTexture(target.texture);
    gl.deleteRenderbuffer(target.depth);
  }

  /** @param {string} name */
  upload(name, data) {
    const { gl } = this;
    if (!gl) return;
    gl.bindVertexArray(null);
    // The kind of a buffer cannot change.
    const kind = name === "focused" ? gl.ELEMENT_ARRAY_BUFFER : gl.ARRAY_BUFFER;
    gl.bindBuffer(kind, this.buffers[name]);
    gl.bufferData(kind, data, gl.DYNAMIC_DRAW);
    this.uploaded[name] = data.byteLength;
  }

  attribute(slot, name, size, kind, { each = 0, from = 0 } = {}) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.enableVertexAttribArray(slot);
    gl.vertexAttribIPointer(slot, size, kind, 0, from);
    gl.vertexAttribDivisor(slot, each);
  }

  bindPointArrays() {
    const { gl } = this;
    gl.bindVertexArray(this.pointArray);
    this.attribute(0, "now", 2, gl.UNSIGNED_SHORT);
    this.attribute(1, this.inTransition ? "old" : "now", 2, gl.UNSIGNED_SHORT);
    this.attribute(2, "meta", 4, gl.UNSIGNED_BYTE);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.focused);
  }

  /** Upload all data again after a lost context. */
  uploadAll() {
    if (this.order) this.setOrder(this.order);
    this.setColors(this.colours);
    if (this.lines) this.setLines(this.lines.a, this.lines.b, this.lines.colour);
  }

  // ------------------------------------------------------------------------------- data to draw

  /**
   * Set positions, two numbers per row (NaN: none). With `from`, the start positions, `draw` shows a
   * transition. `onReady` is called when the index is built, at once on small maps.
   * @param {Float32Array} pos @param {LayoutOptions} options
   */
  layout(pos, { from = null, onReady = () => {} } = {}) {
    this.ticket += 1;
    const { ticket } = this;
    this.port.request("arrange", pos, (order) => {
      if (ticket !== this.ticket) return;
      this.setOrder({ ...order, from: from && this.startPlaces(order, pos, from) });
      onReady();
    });
  }

  /** Start positions in 16 bits, over a rectangle that contains both layouts. */
  startPlaces({ rowAt, nPlaced, n, extent }, pos, from) {
    const around = extentOf(from, extent);
    const [a, b, c, d] = around;
    const [fx, fy] = [65535 / (c - a), 65535 / (d - b)];
    const old = new Uint16Array(2 * n);
    for (let k = 0; k < nPlaced; k++) {
      const r = rowAt[k];
      const x = from[2 * r];
      const y = from[2 * r + 1];
      const hadPlace = x === x && y === y; // new points appear at their position
      old[2 * k] = ((hadPlace ? x : pos[2 * r]) - a) * fx;
      old[2 * k + 1] = ((hadPlace ? y : pos[2 * r + 1]) - b) * fy;
    }
    return { old, around };
  }

  /** @param {Order} order */
  setOrder(order) {
    const { n, nPlaced, levels, extent, high, from } = order;
    Object.assign(this, {
      order, n, nPlaced, levels, extent, inTransition: Boolean(from), around: from?.around ?? extent,
      cursor: null, plan: null,
    });
    if (!this.gl) return;
    this.upload("now", high);
    if (from) this.upload("old", from.old);
    this.uploadMeta();
    this.bindPointArrays();
    if (this.lines) this.setLines(this.lines.a, this.lines.b, this.lines.colour);
  }

  /** End the transition and free the start positions. */
  endTransition() {
    if (!this.inTransition) return;
    this.inTransition = false;
    some(this.order).from = null;
    if (this.gl) {
      this.upload("old", new Uint16Array(2));
      this.bindPointArrays();
    }
    this.invalidate();
  }

  /** @param {RowBytes} bytes */
  setBytes(bytes) {
    super.setBytes(bytes);
    if (this.order) this.uploadMeta();
  }

  /** Upload the bytes of the rows in draw order. */
  uploadMeta() {
    const { state, colour, trust, dataset } = this.bytes;
    const { rowAt, low, nPlaced, n } = some(this.order);
    const meta = new Uint8Array(4 * n);
    const focusedAt = [];
    let hasFocus = false;
    for (let k = 0; k < nPlaced; k++) {
      const r = rowAt[k];
      const s = state ? state[r] : 0;
      meta[4 * k] = s | (dataset ? (dataset[r] & 7) << 4 : 0);
      meta[4 * k + 1] = colour ? colour[r] : 0;
      meta[4 * k + 2] = trust ? trust[r] : 255;
      meta[4 * k + 3] = low[k];
      if (s & 3 && !(s & HIDDEN)) {
        hasFocus = true;
        if (focusedAt.length <= 65536) focusedAt.push(k);
      }
    }
    // Drawn again on top while a large map moves, since the sample may not contain them.
    this.nFocused = focusedAt.length > 65536 ? 0 : focusedAt.length;
    this.hasFocus = hasFocus;
    this.upload("meta", meta);
    this.upload("focused", Uint32Array.from(this.nFocused ? focusedAt : []));
    this.invalidate();
  }

  /** @param {string[]} colours */
  setColors(colours) {
    super.setColors(colours);
    const { gl } = this;
    if (!gl) return;
    const data = new Uint8Array(1024).fill(255);
    colours.slice(0, 256).forEach((colour, k) => data.set(rgb(colour).map((v) => 255 * v + 0.5), 4 * k));
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, data);
  }

  setShapes(list) {
    list.slice(0, 8).forEach(({ shape, size }, k) => {
      this.kindValues.set([Math.max(SHAPES.indexOf(shape), 0), size], 2 * k);
    });
    this.invalidate();
  }

  /** @param {ArrayLike<number>} a @param {ArrayLike<number>} b @param {ArrayLike<number> | null} colour */
  setLines(a, b, colour = null) {
    super.setLines(a, b, colour);
    const m = a.length;
    if (!m || !this.order || !this.gl) return;
    const { n, nPlaced, rowAt, high, low, from } = this.order;
    const slot = new Uint32Array(n);
    for (let k = 0; k < n; k++) slot[rowAt[k]] = k;
    const now = new Uint16Array(4 * m);
    const old = from ? new Uint16Array(4 * m) : now;
    const four = new Uint8Array(4 * m);
    for (let k = 0; k < m; k++) {
      const [p, q] = [slot[a[k]], slot[b[k]]];
      now.set([high[2 * p], high[2 * p + 1], high[2 * q], high[2 * q + 1]], 4 * k);
      if (from) old.set([from.old[2 * p], from.old[2 * p + 1], from.old[2 * q], from.old[2 * q + 1]], 4 * k);
      four.set([colour ? colour[k] : 0, p < nPlaced && q < nPlaced ? 255 : 0, low[p], low[q]], 4 * k);
    }
    this.upload("linkNow", now);
    this.upload("linkOld", old);
    this.upload("linkFour", four);
  }

  // ------------------------------------------------------------------------------------ drawing

  get ratio() {
    const deviceRatio = globalThis.devicePixelRatio || 1;
    return this.slow ? Math.min(deviceRatio, 1.5) : Math.min(Math.max(deviceRatio, 1.5), 3);
  }

  /** Whether every frame draws all points, directly to the window. */
  get direct() { return !this.trustOverlay && this.nPlaced <= (this.slow ? CROWDED_ROWS : 4e5); }

  /**
   * Runs of points of one level in view.
   * @param {Level} level @param {View} view @param {boolean} all
   * @returns {Run}
   */
  runsInView({ bits, starts }, view, all) {
    const g = 1 << bits;
    /** @type {(first: number, end: number) => Run} */
    const between = (first, end) => [[first], [end - first], end - first];
    if (all) return between(starts[0], starts[g * g]);
    const [x0, y0, x1, y1] = this.extent;
    const pad = (2 * this.size + 4) / view.s;
    const cell = (value, low, high) => (
      Math.min(Math.max(Math.floor(((value - low) / (high - low)) * g), 0), g - 1));
    const [c0, c1] = [cell(view.dataX(0) - pad, x0, x1), cell(view.dataX(view.W) + pad, x0, x1)];
    const l0 = cell(view.dataY(view.H) - pad * view.k, y0, y1);
    const l1 = cell(view.dataY(0) + pad * view.k, y0, y1);
    if (c1 - c0 > 0.8 * g) return between(starts[l0 * g], starts[(l1 + 1) * g]);
    /** @type {[number[], number[]]} */
    const [firsts, counts] = [[], []];
    let total = 0;
    for (let l = l0; l <= l1; l++) {
      const first = starts[l * g + c0];
      const count = starts[l * g + c1 + 1] - first;
      if (count) {
        firsts.push(first);
        counts.push(count);
        total += count;
      }
    }
    return [firsts, counts, total];
  }

  /** Find the points in view, level by level. @param {View} view @param {number} share */
  planRuns(view, share) {
    this.plan = this.levels.map((level) => this.runsInView(level, view, share < 1));
    this.total = this.plan.reduce((sum, run) => sum + run[2], 0);
  }

  sampleInView() {
    const { order, plan } = this;
    const { rows: sample, each } = super.sampleInView();
    if (!sample || !order || !plan) return { rows: sample, each };
    const parts = [];
    let [nRows, all] = [0, 0];
    for (const [firsts, counts, total] of plan) {
      all += total;
      if (nRows >= sample.length) continue;
      firsts.forEach((first, k) => parts.push(order.rowAt.subarray(first, first + counts[k])));
      nRows += total;
    }
    const rows = new Uint32Array(nRows);
    let at = 0;
    for (const part of parts) {
      rows.set(part, at);
      at += part.length;
    }
    return { rows, each: nRows ? all / nRows : 1 };
  }

  /** @param {[number[], number[], ...any]} run */
  drawRuns([firsts, counts]) {
    const { gl, multi } = this;
    // WebGL warns of empty lists.
    if (multi && firsts.length) multi.multiDrawArraysWEBGL(gl.POINTS, firsts, 0, counts, 0, firsts.length);
    else firsts.forEach((first, k) => gl.drawArrays(gl.POINTS, first, counts[k]));
  }

  /** @param {View} view @param {number} share */
  setCamera(at, view, share) {
    const { gl } = this;
    const [sx, sy] = [(2 * view.s) / view.W, (2 * view.s) / view.k / view.H];
    const across = ([x0, y0, x1, y1], steps) => [
      ((x1 - x0) / steps) * sx, ((y1 - y0) / steps) * sy, (x0 - view.cx) * sx, (y0 - view.cy) * sy,
    ];
    gl.uniform4fv(at.uNow, across(this.extent, STEPS));
    gl.uniform4fv(at.uOld, across(this.around, 65535));
    gl.uniform1f(at.uShare, this.inTransition ? share : 1);
  }

  bind(at, unit, texture) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.uniform1i(at, unit);
    gl.activeTexture(gl.TEXTURE0);
  }

  /**
   * Prepare to draw points to `to`. `drawn`: number in view. `splat`: draw into the field.
   * @param {View} view @param {number} share
   */
  preparePoints(to, view, share, drawn, splat = false) {
    const { gl } = this;
    const { program, at } = this.pointProgram;
    const ratio = to.w / view.W;
    gl.bindFramebuffer(gl.FRAMEBUFFER, to.frame);
    gl.viewport(0, 0, to.w, to.h);
    gl.useProgram(program);
    gl.bindVertexArray(this.pointArray);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, splat ? gl.ONE : gl.ONE_MINUS_SRC_ALPHA);
    gl[this.hasFocus && !splat ? "enable" : "disable"](gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    this.setCamera(at, view, share);
    gl.uniform2fv(at.uKind, this.kindValues);
    gl.uniform3fv(at.uGround, rgb(this.ground));
    const size = this.size * ratio;
    const crowded = this.inField ? (drawn / this.inField / (CELL_PX * ratio) ** 2) * 0.785 : 0;
    for (const [name, value] of Object.entries({
      uSize: size, uAlpha: this.alpha, uAny: Number(this.hasFocus), uFaded: this.faded,
      uSplat: Number(splat), uPer: splat ? 0 : crowded, uRim: size > 3.5 ? this.rim * ratio : 0,
    })) gl.uniform1f(at[name], value);
    this.bind(at.uPalette, 0, this.palette);
    this.bind(at.uField, 1, splat || !this.inField ? this.palette : some(this.field).texture);
  }

  /**
   * Begin a picture: draw its field of density and trust, and clear the target.
   * @param {View} view @param {number} share
   */
  beginPicture(to, view, share, maxPoints = MAX_FIELD_POINTS) {
    const { gl } = this;
    this.inField = 0;
    if (this.nPlaced > CROWDED_ROWS || this.trustOverlay) {
      gl.clearColor(0, 0, 0, 0);
      this.field ??= this.target(Math.ceil(view.W / CELL_PX), Math.ceil(view.H / CELL_PX), false);
      this.preparePoints(this.field, view, share, 0, true);
      gl.clear(gl.COLOR_BUFFER_BIT);
      for (const [l, run] of this.plan.entries()) {
        if (l && this.inField + run[2] > maxPoints) break;
        this.drawRuns(run);
        this.inField += run[2];
      }
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, to.frame);
    gl.viewport(0, 0, to.w, to.h);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  /**
   * Draw lines `first` to `end`. Their order is random, so a part is a sample of all.
   * @param {View} view @param {number} share @param {number} first @param {number} end
   */
  drawLines(to, view, share, first, end) {
    if (end <= first) return;
    const { gl } = this;
    const { program, at } = this.linkProgram;
    gl.bindFramebuffer(gl.FRAMEBUFFER, to.frame);
    gl.viewport(0, 0, to.w, to.h);
    gl.useProgram(program);
    gl.bindVertexArray(this.linkArray);
    // WebGL has no first instance, so the buffers are bound with an offset.
    this.attribute(0, "linkNow", 4, gl.UNSIGNED_SHORT, { each: 1, from: 8 * first });
    this.attribute(1, "linkOld", 4, gl.UNSIGNED_SHORT, { each: 1, from: 8 * first });
    this.attribute(2, "linkFour", 4, gl.UNSIGNED_BYTE, { each: 1, from: 4 * first });
    gl.enable(gl.BLEND);
    gl.disable(gl.DEPTH_TEST);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.setCamera(at, view, share);
    gl.uniform2f(at.uPixels, to.w / 2, to.h / 2);
    gl.uniform1f(at.uWide, (this.lineWidth * to.w) / view.W);
    gl.uniform1f(at.uAlpha, this.lineAlpha);
    this.bind(at.uPalette, 0, this.palette);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, end - first);
  }

  /**
   * Draw one frame; `share` is the progress of the transition. Returns whether another is needed.
   * `isLate` is set if the card was still busy, then the overlay waits as well.
   * @param {View} view
   */
  draw(view, share = 1, now = performance.now()) {
    const { gl, canvas } = this;
    this.isLate = false;
    if (!gl || gl.isContextLost() || !this.order) return false;
    const { ratio } = this;
    const [w, h] = [Math.max(Math.round(view.W * ratio), 1), Math.max(Math.round(view.H * ratio), 1)];
    if (canvas.width !== w || canvas.height !== h) {
      Object.assign(canvas, { width: w, height: h });
      for (const name of ["front", "back", "field"]) {
        this.deleteTarget(this[name]);
        this[name] = null;
      }
      this.drawnKey = "";
    }
    return this.direct ? this.drawWhole(view, share, w, h) : this.drawByLevels(view, share, now, w, h);
  }

  /** @param {View} view @param {number} share @param {number} w @param {number} h */
  drawWhole(view, share, w, h) {
    const drawnKey = [view.cx, view.cy, view.s, view.k, share, this.size].join();
    if (drawnKey === this.drawnKey) return false;
    this.drawnKey = drawnKey;
    const to = { frame: null, w, h };
    this.planRuns(view, share);
    this.beginPicture(to, view, share);
    this.drawLines(to, view, share, 0, this.lines?.m ?? 0);
    this.preparePoints(to, view, share, this.total);
    this.plan.forEach((run) => this.drawRuns(run));
    Object.assign(this, { drawn: this.total, whole: true });
    return false;
  }

  /** @param {View} view @param {number} share @param {number} now @param {number} w @param {number} h */
  drawByLevels(view, share, now, w, h) {
    const { gl } = this;
    if (this.fence) { // the card still draws the last frame: wait instead of queueing another
      if (gl.clientWaitSync(this.fence, 0, 0) === gl.TIMEOUT_EXPIRED) {
        this.isLate = true;
        return true;
      }
      gl.deleteSync(this.fence);
      this.fence = null;
      const frameMs = now - this.sentAt;
      const change = frameMs > 40 ? 0.7 : frameMs < 24 ? 1.15 : 1;
      if (this.usedBudget) this.budget = Math.min(Math.max(this.budget * change, 3e4), 2e7);
    }
    this.front ??= this.target(w, h, true);
    this.back ??= this.target(w, h, true);
    const drawnKey = [view.cx, view.cy, view.s, view.k, share, this.size].join();
    Object.assign(this, { sentAt: now, usedBudget: false });
    if (drawnKey !== this.drawnKey) this.drawMoving(view, share, now, drawnKey);
    else if (this.whole) return false;
    else if (now - this.movedAt <= REST_MS) return true;
    else if (!this.drawMore(view, share)) {
      this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
      gl.flush();
      return true;
    }
    this.present({ frame: null, w, h }, this.front);
    this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    return !this.whole;
  }

  /**
   * Draw as many whole levels as the budget allows, while the map moves.
   * @param {View} view @param {number} share @param {number} now
   */
  drawMoving(view, share, now, drawnKey) {
    const { gl, front } = this;
    Object.assign(this, { drawnKey, movedAt: now, usedBudget: true, cursor: null });
    this.planRuns(view, share);
    let [drawn, levels] = [0, 0];
    while (levels < this.plan.length && (!levels || drawn + this.plan[levels][2] <= this.budget)) {
      drawn += this.plan[levels][2];
      levels += 1;
    }
    this.beginPicture(front, view, share, this.slow ? 16384 : 65536);
    // Long lines fill many pixels, which is slow on a processor.
    const all = this.lines?.m ?? 0;
    const nLines = Math.min(all, Math.round(this.budget / (this.slow ? 100 : 20)));
    this.drawLines(front, view, share, 0, nLines);
    this.preparePoints(front, view, share, drawn);
    this.plan.slice(0, levels).forEach((run) => this.drawRuns(run));
    if (this.hasFocus && this.nFocused && levels < this.plan.length) {
      gl.drawElements(gl.POINTS, this.nFocused, gl.UNSIGNED_INT, 0);
    }
    Object.assign(this, { drawn, whole: levels === this.plan.length && nLines === all });
  }

  /**
   * Continue the complete picture in the background, while the map rests. Returns whether it is done.
   * @param {View} view @param {number} share
   */
  drawMore(view, share) {
    const { back } = this;
    if (!this.cursor) {
      this.beginPicture(back, view, share);
      this.cursor = { link: 0, level: 0, run: 0, at: 0 };
    }
    this.usedBudget = true;
    const { cursor } = this;
    const all = this.lines?.m ?? 0;
    if (cursor.link < all) {
      const end = Math.min(cursor.link + Math.round(this.budget / (this.slow ? 50 : 10)), all);
      this.drawLines(back, view, share, cursor.link, end);
      cursor.link = end;
    } else {
      this.preparePoints(back, view, share, this.total);
      this.refine(2 * this.budget);
    }
    if (cursor.level < this.plan.length) return false;
    Object.assign(this, { front: back, back: this.front, whole: true, drawn: this.total, cursor: null });
    return true;
  }

  /** Draw at most `maxPoints` further points of the plan. */
  refine(maxPoints) {
    const c = some(this.cursor);
    for (let left = maxPoints; left > 0 && c.level < this.plan.length;) {
      const [firsts, counts] = this.plan[c.level];
      /** @type {[number[], number[]]} */
      const [from, number] = [[], []];
      while (c.run < firsts.length && left > 0) {
        const count = Math.min(counts[c.run] - c.at, left);
        from.push(firsts[c.run] + c.at);
        number.push(count);
        left -= count;
        c.at += count;
        if (c.at === counts[c.run]) Object.assign(c, { run: c.run + 1, at: 0 });
      }
      if (from.length) this.drawRuns([from, number]);
      if (c.run === firsts.length) Object.assign(c, { level: c.level + 1, run: 0, at: 0 });
    }
  }

  /** Show a finished picture, with the trust overlay if it is on. */
  present(to, from) {
    const { gl } = this;
    if (!this.trustOverlay) {
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, from.frame);
      gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, to.frame);
      gl.blitFramebuffer(0, 0, from.w, from.h, 0, 0, to.w, to.h, gl.COLOR_BUFFER_BIT, gl.NEAREST);
      gl.bindFramebuffer(gl.FRAMEBUFFER, to.frame);
      return;
    }
    const { program, at } = this.trustProgram;
    gl.bindFramebuffer(gl.FRAMEBUFFER, to.frame);
    gl.viewport(0, 0, to.w, to.h);
    gl.disable(gl.BLEND);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(program);
    gl.bindVertexArray(this.noArray);
    this.bind(at.uPicture, 0, from.texture);
    this.bind(at.uField, 1, some(this.field).texture);
    gl.uniform3fv(at.uGround, rgb(this.ground));
    gl.uniform3fv(at.uHatch, rgb(this.hatch));
    gl.uniform1f(at.uRatio, this.ratio);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /**
   * Return everything in view as a transparent canvas, with `ratio` pixels per pixel of the page.
   * @param {View} view
   */
  picture(view, ratio = 2, share = 1) {
    const { gl } = this;
    const [w, h] = [Math.round(view.W * ratio), Math.round(view.H * ratio)];
    const out = makeCanvas(w, h);
    if (!gl || !this.order) return out;
    const [drawn, shown] = [this.target(w, h, true), this.target(w, h, true)];
    this.planRuns(view, share);
    this.beginPicture(drawn, view, share);
    this.drawLines(drawn, view, share, 0, this.lines?.m ?? 0);
    this.preparePoints(drawn, view, share, this.total);
    this.plan.forEach((run) => this.drawRuns(run));
    this.present(shown, drawn);
    const data = new Uint8Array(4 * w * h);
    gl.bindFramebuffer(gl.FRAMEBUFFER, shown.frame);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, data);
    this.deleteTarget(drawn);
    this.deleteTarget(shown);
    const ctx = context2d(out);
    const image = ctx.createImageData(w, h);
    for (let line = 0; line < h; line++) {
      for (let k = 4 * w * line, to = 4 * w * (h - 1 - line), end = k + 4 * w; k < end; k += 4, to += 4) {
        const alpha = data[k + 3];
        if (!alpha) continue;
        for (let c = 0; c < 3; c++) image.data[to + c] = (255 * data[k + c]) / alpha;
        image.data[to + 3] = alpha;
      }
    }
    ctx.putImageData(image, 0, 0);
    this.cursor = null;
    this.invalidate();
    return out;
  }

  close() {
    this.closed = true;
    clearTimeout(this.lostTimer);
    super.close();
    this.gl?.getExtension("WEBGL_lose_context")?.loseContext();
    this.gl = /** @type {any} */ (null);
  }
}
