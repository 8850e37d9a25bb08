// The points, drawn by Plotly's scattergl: one trace a dataset.
//
// `paint` goes through Plotly's public functions and may change anything. `nudge` moves points or
// camera by writing to scattergl's buffers: private, but fifty times as fast, and what Plotly itself
// does while one drags. Where a future version lacks them, `nudge` falls back to the public way.

const AXIS = { visible: false, autorange: false, fixedrange: true };
const DIMMED = 0.28;

/** Diameter of a dot: smaller on crowded maps, a little larger when one has zoomed in. */
export function dotSize(n, zoom) {
  const crowd = Math.min(Math.max((2500 / Math.max(n, 1)) ** 0.2, 0.5), 1.4);
  return 5.5 * crowd * Math.min(Math.max(zoom ** 0.25, 1), 1.7);
}

let known = null;

/** Whether the browser offers WebGL, and what draws it where that is told. */
function renderer() {
  if (known === null) {
    const gl = document.createElement("canvas").getContext("webgl");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    known = { there: Boolean(gl), name: info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "" };
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return known;
}

export const hasWebgl = () => renderer().there;

/** Whether points are drawn by the processor, for want of a graphics card. */
const isSlow = () => /swiftshader|llvmpipe|software|basic render/i.test(renderer().name);

export class Plot {
  constructor(div, stats, onLost) {
    Object.assign(this, { div, stats, onLost, fast: true, busy: false, again: null, purged: 0 });
  }

  get ready() { return Boolean(this.div._fullLayout); }

  /** Draw everything anew. */
  async paint(what) {
    const { pos, shown, slot, palette, picked, any, datasets, view, tokens, dot } = what;
    this.datasets = datasets.filter((d) => d.stop > d.start);
    const traces = this.datasets.map((d) => {
      const n = d.stop - d.start;
      const x = new Float32Array(n);
      const y = new Float32Array(n);
      const color = new Array(n);
      const selected = [];
      for (let i = 0, r = d.start; i < n; i++, r++) {
        x[i] = shown[r] ? pos[2 * r] : NaN;
        y[i] = shown[r] ? pos[2 * r + 1] : NaN;
        color[i] = palette[slot[r]];
        if (any && picked[r] && shown[r]) selected.push(i);
      }
      const size = dot * d.factor;
      return {
        type: "scattergl", mode: "markers", x, y, hoverinfo: "skip",
        marker: {
          symbol: d.symbol, size, color, opacity: 0.82,
          line: { width: 0.6, color: tokens.bg },
        },
        selectedpoints: any ? selected : null,
        selected: { marker: { opacity: 1, size: size * 1.25 } },
        unselected: { marker: { opacity: DIMMED } },
      };
    });
    const range = view.range;
    const layout = {
      width: view.W, height: view.H, margin: { l: 0, r: 0, t: 0, b: 0 },
      xaxis: { ...AXIS, range: range.x }, yaxis: { ...AXIS, range: range.y },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false, dragmode: false,
    };
    const begun = performance.now();
    const config = { staticPlot: true, displayModeBar: false, plotGlPixelRatio: this.ratio };
    if (!await this.whole(() => window.Plotly.react(this.div, traces, layout, config))) return;
    this.stats.paintMs = performance.now() - begun;
    this.stats.paints += 1;
    this.watch();
  }

  /** Do a work of Plotly's; returns whether it was done on a plot that is still there. */
  async whole(work) {
    const { purged } = this;
    try {
      await work();
    } catch (error) {
      // Plotly stumbles where a plot is taken away under it.
      if (purged === this.purged) throw error;
    }
    return purged === this.purged;
  }

  /** Twice the screen's pixels keep small dots round; without a graphics card that costs too much. */
  get ratio() {
    const own = window.devicePixelRatio || 1;
    return Math.min(isSlow() ? own : Math.max(own, 2), 3);
  }

  get canvas() { return this.div.querySelector(".gl-canvas-context"); }

  /** The layers that are seen, lowest first. */
  get canvases() {
    return [this.canvas, this.div.querySelector(".gl-canvas-focus")].filter(Boolean);
  }

  watch() {
    const canvas = this.canvas;
    if (!canvas || canvas === this.watched) return;
    this.watched = canvas;
    canvas.addEventListener("webglcontextlost", () => this.onLost());
  }

  places(d, pos, shown) {
    const out = new Float64Array(2 * (d.stop - d.start));
    for (let r = d.start, j = 0; r < d.stop; r++, j += 2) {
      out[j] = shown[r] ? pos[2 * r] : NaN;
      out[j + 1] = shown[r] ? pos[2 * r + 1] : NaN;
    }
    return out;
  }

  /** Move the camera and, where `pos` is given, the points. */
  nudge(view, pos, shown) {
    if (!this.ready) return;
    const { x, y } = view.range;
    if (this.fast) {
      try {
        const layout = this.div._fullLayout;
        const scene = layout._plots.xy._scene;
        const range = [x[0], y[0], x[1], y[1]];
        const change = this.datasets.map(
          (d) => (pos ? { positions: this.places(d, pos, shown), range } : { range }),
        );
        scene.scatter2d.update(change);
        if (scene.select2d) scene.select2d.update(change);
        // Without this the points drawn before stay as ghosts.
        // The second layer holds the selected points, the third (for picking) is never drawn to.
        for (const layer of layout._glcanvas.data().slice(0, 2)) {
          if (layer.key === "contextLayer" || scene.select2d) {
            layer.regl.clear({ color: [0, 0, 0, 0], depth: 1 });
          }
        }
        scene.draw();
        return;
      } catch (error) {
        this.fast = false;
        this.stats.slow = String(error);
      }
    }
    this.publicly(view, pos, shown);
  }

  /** The public way, never two at a time: the newest wish waits. */
  async publicly(view, pos, shown) {
    if (this.busy) {
      this.again = [view, pos || this.again?.[1], shown || this.again?.[2]];
      return;
    }
    this.busy = true;
    const { x, y } = view.range;
    const change = { x: [], y: [] };
    if (pos) {
      for (const d of this.datasets) {
        const p = this.places(d, pos, shown);
        change.x.push(p.filter((_, k) => k % 2 === 0));
        change.y.push(p.filter((_, k) => k % 2 === 1));
      }
    }
    try {
      await this.whole(() => window.Plotly.update(
        this.div, pos ? change : {}, { "xaxis.range": x, "yaxis.range": y },
      ));
    } finally {
      this.busy = false;
    }
    const next = this.again;
    this.again = null;
    if (next && this.ready) this.publicly(...next);
  }

  purge() {
    this.purged += 1;
    if (window.Plotly && this.div._fullLayout) window.Plotly.purge(this.div);
    this.watched = null;
  }
}
