// Reserved boxes on the screen, and the number of dots under a box. A grid of cells makes both fast.

const CELL_PX = 64;
const GRAIN_PX = 6;

export class Boxes {
  /** @param {number} W @param {number} H */
  constructor(W, H) {
    this.W = W;
    this.H = H;
    this.cells = new Map();
  }

  /** @param {ArrayLike<number>} box */
  each(box, visit) {
    for (let c = Math.floor(box[0] / CELL_PX); c <= Math.floor(box[2] / CELL_PX); c++) {
      for (let r = Math.floor(box[1] / CELL_PX); r <= Math.floor(box[3] / CELL_PX); r++) {
        if (visit(c * 8192 + r)) return true;
      }
    }
    return false;
  }

  /** @param {ArrayLike<number>} box */
  isFree(box) {
    return !this.each(box, (cell) => (this.cells.get(cell) || []).some(
      (o) => box[0] < o[2] && box[2] > o[0] && box[1] < o[3] && box[3] > o[1],
    ));
  }

  /** Whether a box lies within the picture, `edge` pixels from its sides. @param {ArrayLike<number>} box */
  within(box, edge = 3) {
    return box[0] >= edge && box[1] >= edge && box[2] <= this.W - edge && box[3] <= this.H - edge;
  }

  /** @param {ArrayLike<number>} box */
  reserve(box) {
    this.each(box, (cell) => {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(box);
    });
  }

  /** Reserve a box if it is free. @param {ArrayLike<number>} box */
  tryReserve(box) {
    if (!this.isFree(box)) return false;
    this.reserve(box);
    return true;
  }
}

/** The number of dots under a box. */
export class Ink {
  /** @param {number} W @param {number} H */
  constructor(W, H) {
    this.columns = Math.ceil(W / GRAIN_PX) + 1;
    this.rows = Math.ceil(H / GRAIN_PX) + 1;
    this.sums = new Float32Array((this.columns + 1) * (this.rows + 1));
  }

  /** @param {number} x @param {number} y @param {number} dots */
  add(x, y, dots) {
    this.sums[(Math.floor(y / GRAIN_PX) + 1) * (this.columns + 1) + Math.floor(x / GRAIN_PX) + 1] += dots;
  }

  /** Build the summed-area table after the last dot. */
  close() {
    const { sums, columns, rows } = this;
    const wide = columns + 1;
    for (let r = 1; r <= rows; r++) {
      for (let c = 1; c <= columns; c++) {
        sums[r * wide + c] += sums[r * wide + c - 1] + sums[(r - 1) * wide + c] - sums[(r - 1) * wide + c - 1];
      }
    }
  }

  under([x0, y0, x1, y1]) {
    const { sums, columns, rows } = this;
    /** @param {number} x */
    const c = (x) => Math.min(Math.max(Math.floor(x / GRAIN_PX), 0), columns);
    /** @param {number} y */
    const r = (y) => Math.min(Math.max(Math.floor(y / GRAIN_PX), 0), rows) * (columns + 1);
    const [left, right] = [c(x0), Math.min(c(x1) + 1, columns)];
    const [top, low] = [r(y0), Math.min(r(y1) + columns + 1, rows * (columns + 1))];
    return sums[low + right] - sums[low + left] - sums[top + right] + sums[top + left];
  }
}

const widths = new Map();

/** @param {CanvasRenderingContext2D} ctx @param {string} text @param {string} font */
export function textWidth(ctx, text, font) {
  const key = `${font}|${text}`;
  if (!widths.has(key)) {
    if (widths.size > 20000) widths.clear();
    ctx.font = font;
    widths.set(key, ctx.measureText(text).width);
  }
  return widths.get(key);
}

/**
 * @param {ArrayLike<number>} box @param {number} x @param {number} y
 * @returns {[left: number, top: number, right: number, bottom: number]}
 */
export const shift = (box, x, y) => [box[0] + x, box[1] + y, box[2] + x, box[3] + y];
