// Boxes already taken on the screen. A grid of cells makes the question "is it free?" cheap.

const CELL = 64;

export class Boxes {
  constructor(W, H) {
    this.W = W;
    this.H = H;
    this.cells = new Map();
  }

  each(box, visit) {
    for (let c = Math.floor(box[0] / CELL); c <= Math.floor(box[2] / CELL); c++) {
      for (let r = Math.floor(box[1] / CELL); r <= Math.floor(box[3] / CELL); r++) {
        if (visit(c * 8192 + r)) return true;
      }
    }
    return false;
  }

  free(box) {
    return !this.each(box, (cell) => (this.cells.get(cell) || []).some(
      (o) => box[0] < o[2] && box[2] > o[0] && box[1] < o[3] && box[3] > o[1],
    ));
  }

  /** Whether a box lies wholly within the picture, `edge` pixels from its sides. */
  within(box, edge = 3) {
    return box[0] >= edge && box[1] >= edge && box[2] <= this.W - edge && box[3] <= this.H - edge;
  }

  take(box) {
    this.each(box, (cell) => {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(box);
    });
  }

  /** Take a box if it is free. */
  put(box) {
    if (!this.free(box)) return false;
    this.take(box);
    return true;
  }
}
