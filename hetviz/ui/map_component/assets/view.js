// The camera: which part of the plane is seen, in pixels. One scale for both axes, except that a
// wide frame may be stretched a little sideways.

export class View {
  constructor() {
    Object.assign(this, { W: 1, H: 1, cx: 0, cy: 0, s: 1, k: 1, fitted: 1, zoomed: false });
  }

  x(value) { return (value - this.cx) * this.s + this.W / 2; }

  y(value) { return this.H / 2 - ((value - this.cy) * this.s) / this.k; }

  dataX(pixel) { return (pixel - this.W / 2) / this.s + this.cx; }

  dataY(pixel) { return ((this.H / 2 - pixel) * this.k) / this.s + this.cy; }

  get range() {
    const dx = this.W / 2 / this.s;
    const dy = ((this.H / 2) * this.k) / this.s;
    return { x: [this.cx - dx, this.cx + dx], y: [this.cy - dy, this.cy + dy] };
  }

  /** The camera that shows all of a frame. */
  around({ x, y, stretch }) {
    const k = stretch || this.k;
    const s = Math.min(
      this.W / Math.max(x[1] - x[0], 1e-12), (this.H * k) / Math.max(y[1] - y[0], 1e-12),
    );
    return { cx: (x[0] + x[1]) / 2, cy: (y[0] + y[1]) / 2, s, k };
  }

  at() {
    const { cx, cy, s, k } = this;
    return { cx, cy, s, k };
  }

  go(place) { Object.assign(this, place); }

  /** Scale about a point that stays where it is. */
  zoom(factor, px = this.W / 2, py = this.H / 2) {
    const x = this.dataX(px);
    const y = this.dataY(py);
    this.s = Math.min(Math.max(this.s * factor, this.fitted / 4), this.fitted * 600);
    this.cx = x - (px - this.W / 2) / this.s;
    this.cy = y - ((this.H / 2 - py) * this.k) / this.s;
  }

  pan(dx, dy) {
    this.cx -= dx / this.s;
    this.cy += (dy * this.k) / this.s;
  }

  /** Keep what is seen when the window changes. */
  resize(W, H) {
    const shrink = Math.min(W / this.W, H / this.H);
    Object.assign(this, { W, H, s: this.s * shrink });
  }
}

/** The camera a share `t` of the way; scales are mixed as ratios, or a zoom seems to brake. */
export function between(from, to, t) {
  const s = from.s * (to.s / from.s) ** t;
  // The middle must move with the scale, or the target drifts through the window.
  const move = Math.abs(to.s - from.s) < 1e-9 * to.s ? t
    : (1 / from.s - 1 / s) / (1 / from.s - 1 / to.s);
  return {
    cx: from.cx + (to.cx - from.cx) * move,
    cy: from.cy + (to.cy - from.cy) * move,
    s,
    k: from.k + (to.k - from.k) * t,
  };
}

export const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - (-2 * t + 2) ** 3 / 2);

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
