// What every renderer of points is told (colours, shapes, states, links), and how it is asked what
// lies at a pixel or in a lasso. How it draws is its own.

import { HIDDEN } from "./point_index.js";

export class RendererBase {
  /** `port` knows where points are (see point_index.js); a renderer without one finds them itself. */
  constructor({ requestDraw = () => {}, port = null } = {}) {
    Object.assign(this, {
      requestDraw, port, n: 0, nPlaced: 0, order: null,
      bytes: {}, colours: ["#888888"], ground: "#ffffff", hatch: "#888888", kinds: [],
      size: 5.5, alpha: 0.85, faded: 0.16, rim: 0.6, trustOverlay: false, hasFocus: false,
      lines: null, lineWidth: 1, lineAlpha: 0.35, drawnKey: "", drawn: 0, isLate: false, uploaded: {},
    });
  }

  /** Whether points can be seen. */
  get ready() { return Boolean(this.order); }

  /** Draw all anew: something has changed. */
  invalidate() {
    this.drawnKey = "";
    this.requestDraw();
  }

  /** Bytes by row: {state, colour, trust, dataset}, any of them; those not named stay. */
  setBytes(bytes) {
    Object.assign(this.bytes, bytes);
    const { state } = bytes;
    if (state) {
      this.port?.request("hide", state.map((s) => s & HIDDEN));
      this.hasFocus = state.some((s) => s & 3 && !(s & HIDDEN));
    }
    this.invalidate();
  }

  /** Colours of the codes 0 to 255 as #rrggbb: of categories, or of the steps of a scale. */
  setColors(colours) {
    this.colours = colours;
    this.invalidate();
  }

  /** [{shape, size}] of the datasets; at most eight differ. */
  setShapes(list) {
    this.kinds = list;
    this.invalidate();
  }

  /** Lines between rows a[k] and b[k], colours by code, beneath the points; no rows: none. */
  setLines(a, b, colour = null) {
    this.lines = a.length ? { a, b, colour, m: a.length } : null;
    this.invalidate();
  }

  /** The row nearest to a pixel, told to `answer`; -1 where none is within `reach` pixels. */
  pick(view, px, py, reach, callback) {
    const at = [view.dataX(px), view.dataY(py)];
    this.port.request("pick", { at, perX: view.s, perY: view.s / view.k, reach }, callback);
  }

  /** The rows that are not hidden in a polygon in the map's own units, told to `answer`. */
  inside(polygon, callback) { this.port.request("inside", polygon, callback); }

  close() { this.port?.close(); }
}
