// What every renderer of points is told (colours, shapes, states, links), and how it is asked what
// lies at a pixel or in a lasso. How it draws is its own.

import { HIDDEN } from "./point_index.js";

export class Told {
  /** `port` knows where points are (see point_index.js); a renderer without one finds them itself. */
  constructor({ wish = () => {}, port = null } = {}) {
    Object.assign(this, {
      wish, port, n: 0, here: 0, order: null,
      bytes: {}, colours: ["#888888"], ground: "#ffffff", hatch: "#888888", kinds: [],
      size: 5.5, alpha: 0.85, faded: 0.16, rim: 0.6, haze: false, any: false,
      lines: null, wide: 1, lineAlpha: 0.35, seen: "", drawn: 0, late: false, uploaded: {},
    });
  }

  /** Whether points can be seen. */
  get ready() { return Boolean(this.order); }

  /** Draw all anew: something has changed. */
  dirty() {
    this.seen = "";
    this.wish();
  }

  /** Bytes by row: {state, colour, trust, dataset}, any of them; those not named stay. */
  dye(bytes) {
    Object.assign(this.bytes, bytes);
    const { state } = bytes;
    if (state) {
      this.port?.ask("hide", state.map((s) => s & HIDDEN));
      this.any = state.some((s) => s & 3 && !(s & HIDDEN));
    }
    this.dirty();
  }

  /** Colours of the codes 0 to 255 as #rrggbb: of categories, or of the steps of a scale. */
  paint(colours) {
    this.colours = colours;
    this.dirty();
  }

  /** [{shape, size}] of the datasets; at most eight differ. */
  shapes(list) {
    this.kinds = list;
    this.dirty();
  }

  /** Lines between rows a[k] and b[k], colours by code, beneath the points; no rows: none. */
  join(a, b, colour = null) {
    this.lines = a.length ? { a, b, colour, m: a.length } : null;
    this.dirty();
  }

  /** The row nearest to a pixel, told to `answer`; -1 where none is within `reach` pixels. */
  pick(view, px, py, reach, answer) {
    const at = [view.dataX(px), view.dataY(py)];
    this.port.ask("pick", { at, perX: view.s, perY: view.s / view.k, reach }, answer);
  }

  /** The rows that are not hidden in a polygon in the map's own units, told to `answer`. */
  inside(polygon, answer) { this.port.ask("inside", polygon, answer); }

  close() { this.port?.close(); }
}
