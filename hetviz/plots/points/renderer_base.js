// Base class of all renderers of points: their settings (colours, shapes, states, links) and questions
// (which row lies at a pixel, which rows lie in a lasso). Subclasses draw.

import { HIDDEN } from "./point_index.js";

/** @import { IndexPort, Order } from "./point_index.js" */
/** @import { View } from "./view.js" */

/**
 * @typedef {{ state?: Uint8Array, colour?: Uint8Array, trust?: Uint8Array | null, dataset?: Uint8Array }} RowBytes
 * @typedef {{ a: ArrayLike<number>, b: ArrayLike<number>, colour: ArrayLike<number> | null, m: number }} Lines
 * @typedef {{ from?: Float32Array | null, onReady?: () => void }} LayoutOptions
 */

export const FADED = 0.16; // share of its colour that an item beside a selection keeps
const MIN_SAMPLED = 30000; // rows in the sample that finds room for names and draws the terrain

export class RendererBase {
  /**
   * `port` is the spatial index (see point_index.js).
   * @param {{ requestDraw?: () => void, port: IndexPort }} options
   */
  constructor({ requestDraw = () => {}, port }) {
    this.requestDraw = requestDraw;
    this.port = port;
    this.n = 0;
    this.nPlaced = 0;
    /** @type {Order | null} */
    this.order = null;
    /** @type {RowBytes} */
    this.bytes = {};
    this.colours = ["#888888"];
    this.ground = "#ffffff";
    this.hatch = "#888888";
    /** @type {{ shape: string, size: number }[]} */
    this.kinds = [];
    this.size = 5.5;
    this.alpha = 0.85;
    this.faded = FADED;
    this.rim = 0.6;
    this.trustOverlay = false;
    this.hasFocus = false;
    /** @type {Lines | null} */
    this.lines = null;
    this.lineWidth = 1;
    this.lineAlpha = 0.35;
    this.drawnKey = "";
    this.drawn = 0;
    this.isLate = false;
    /** @type {Record<string, number>} */
    this.uploaded = {};
  }

  /** Whether points can be drawn. */
  get ready() { return Boolean(this.order); }

  /** Redraw, because something changed. */
  invalidate() {
    this.drawnKey = "";
    this.requestDraw();
  }

  /** Set bytes per row; those not given stay. @param {RowBytes} bytes */
  setBytes(bytes) {
    Object.assign(this.bytes, bytes);
    const { state } = bytes;
    if (state) {
      this.port.request("hide", state.map((s) => s & HIDDEN));
      this.hasFocus = state.some((s) => s & 3 && !(s & HIDDEN));
    }
    this.invalidate();
  }

  /** Set the colours of codes 0 to 255 as #rrggbb: categories, or steps of a scale. @param {string[]} colours */
  setColors(colours) {
    this.colours = colours;
    this.invalidate();
  }

  /** Set the shapes of the datasets, of which at most eight differ. @param {{ shape: string, size: number }[]} list */
  setShapes(list) {
    this.kinds = list;
    this.invalidate();
  }

  /**
   * Set lines below the points between rows a[k] and b[k], with colours by code. No rows: no lines.
   * @param {ArrayLike<number>} a @param {ArrayLike<number>} b @param {ArrayLike<number> | null} colour
   */
  setLines(a, b, colour = null) {
    this.lines = a.length ? { a, b, colour, m: a.length } : null;
    this.invalidate();
  }

  /**
   * A random sample of the rows, those in view if they are known, and the number of points that each
   * stands for; all rows if they are few.
   * @returns {{ rows: Uint32Array | null, each: number }}
   */
  sampleInView() {
    const { order, n } = this;
    if (!order || n <= 3 * MIN_SAMPLED) return { rows: null, each: 1 };
    // The order begins with random samples.
    return { rows: order.rowAt.subarray(0, Math.min(MIN_SAMPLED, order.nPlaced)), each: Math.max(order.nPlaced / MIN_SAMPLED, 1) };
  }

  /**
   * Pass the row nearest to a pixel to `callback`, or -1 if none is within `reach` pixels.
   * @param {View} view @param {number} px @param {number} py @param {number} reach
   * @param {(row: number) => void} callback
   */
  pick(view, px, py, reach, callback) {
    const at = [view.dataX(px), view.dataY(py)];
    this.port.request("pick", { at, perX: view.s, perY: view.s / view.k, reach }, callback);
  }

  /**
   * Pass the visible rows in a polygon (in units of the map) to `callback`.
   * @param {[number, number][]} polygon @param {(rows: Uint32Array) => void} callback
   */
  inside(polygon, callback) { this.port.request("inside", polygon, callback); }

  close() { this.port.close(); }
}
