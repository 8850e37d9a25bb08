// Plotly renderer (scattergl, one trace per dataset), behind a setting, for comparison.
//
// A new picture uses public functions of Plotly. Camera moves and transitions write to the buffers of
// scattergl. They are private, but fifty times as fast, and Plotly itself writes to them during a drag.

import { loadPlotly } from "./store.js";
import { inside, nearest } from "./pick.js";
import { HIDDEN } from "./renderer.js";
import { RendererBase } from "./renderer_base.js";

const AXIS = { visible: false, autorange: false, fixedrange: true };

export class PlotlyRenderer extends RendererBase {
  constructor(div, { requestDraw = () => {}, address = "" } = {}) {
    super({ requestDraw });
    Object.assign(this, { div, address, datasets: [], stale: true, busy: false, isClosed: false });
  }

  layout(pos, { from = null, onReady = () => {} } = {}) {
    Object.assign(this, { pos, from, order: {}, stale: this.stale || !from });
    this.requestDraw();
    onReady();
  }

  endTransition() { this.from = null; }

  setLines() {}

  invalidate() {
    this.stale = true;
    super.invalidate();
  }

  isShown(row) { return !((this.bytes.state?.[row] ?? 0) & HIDDEN); }

  pick(view, px, py, reach, answer) { answer(nearest(this.pos, this.flags(), view, px, py, reach)); }

  inside(polygon, answer) { answer(inside(this.pos, this.flags(), polygon)); }

  flags() { return Uint8Array.from({ length: this.pos.length / 2 }, (_, r) => (this.isShown(r) ? 1 : 0)); }

  positions(d, share) {
    const out = new Float64Array(2 * (d.stop - d.start));
    for (let r = d.start, k = 0; r < d.stop; r++, k += 2) {
      for (const c of [0, 1]) {
        const to = this.pos[2 * r + c];
        const start = this.from ? this.from[2 * r + c] : to;
        out[k + c] = this.isShown(r) ? (Number.isNaN(start) ? to : start + (to - start) * share) : NaN;
      }
    }
    return out;
  }

  draw(view, share = 1) {
    if (!this.order || this.busy) return Boolean(this.busy);
    if (this.stale) {
      this.stale = false;
      this.drawAll(view, share);
      return false;
    }
    const { x, y } = view.range;
    try {
      const layout = this.div._fullLayout;
      const scene = layout._plots.xy._scene;
      const range = [x[0], y[0], x[1], y[1]];
      const moved = Boolean(this.from);
      scene.scatter2d.update(this.full.map((d) => (
        moved ? { positions: this.positions(d, share), range } : { range })));
      if (scene.select2d) scene.select2d.update(this.full.map(() => ({ range })));
      for (const layer of layout._glcanvas.data().slice(0, 2)) {
        if (layer.key === "contextLayer" || scene.select2d) layer.regl.clear({ color: [0, 0, 0, 0], depth: 1 });
      }
      scene.draw();
    } catch {
      this.drawAll(view, share);
    }
    return false;
  }

  async drawAll(view, share) {
    this.busy = true;
    await loadPlotly(this.address);
    if (this.isClosed) return;
    this.full = this.datasets.filter((d) => d.stop > d.start);
    const { bytes } = this;
    const traces = this.full.map((d) => {
      const positions = this.positions(d, share);
      const selected = [];
      const color = [];
      for (let r = d.start; r < d.stop; r++) {
        color.push(this.colours[bytes.colour?.[r] ?? 0]);
        if (this.hasFocus && bytes.state[r] & 3) selected.push(r - d.start);
      }
      const size = this.size * d.factor;
      return {
        type: "scattergl", mode: "markers", hoverinfo: "skip",
        x: positions.filter((_, k) => k % 2 === 0), y: positions.filter((_, k) => k % 2 === 1),
        marker: { symbol: d.symbol, size, color, opacity: this.alpha, line: { width: 0.6, color: this.ground } },
        selectedpoints: this.hasFocus ? selected : null,
        selected: { marker: { opacity: 1, size: size * 1.25 } },
        unselected: { marker: { opacity: this.faded } },
      };
    });
    const { x, y } = view.range;
    const layout = {
      width: view.W, height: view.H, margin: { l: 0, r: 0, t: 0, b: 0 },
      xaxis: { ...AXIS, range: x }, yaxis: { ...AXIS, range: y },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, dragmode: false,
    };
    try {
      await window.Plotly.react(this.div, traces, layout, { staticPlot: true, displayModeBar: false });
      this.drawn = this.pos.length / 2;
    } catch (error) {
      // Plotly fails if its element was removed.
      if (!this.isClosed) throw error;
    }
    this.busy = false;
    this.requestDraw();
  }

  picture(view, ratio = 2) {
    const out = Object.assign(document.createElement("canvas"), {
      width: Math.round(view.W * ratio), height: Math.round(view.H * ratio),
    });
    const ctx = out.getContext("2d");
    for (const layer of this.div.querySelectorAll(".gl-canvas-context, .gl-canvas-focus")) {
      ctx.drawImage(layer, 0, 0, out.width, out.height);
    }
    return out;
  }

  close() {
    this.isClosed = true;
    if (window.Plotly && this.div._fullLayout) window.Plotly.purge(this.div);
  }
}
