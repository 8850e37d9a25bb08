// The points of the map: which of three drawers draws them, and what it is told.

import { FEW } from "./focus.js";
import { FlatRenderer } from "./flat_renderer.js";
import { inside, nearest } from "./pick.js";
import { PlotlyRenderer } from "./plotly_renderer.js";
import { proposed, proposedFocus } from "./proposed.js";
import { FOCUS, HIDDEN, Renderer, SELECTED, abilities, dotSize } from "./renderer.js";
import { ask } from "./ask.js";
import { h } from "./dom.js";

const SURVEYED = 30000; // rows that tell where there is room for names and pictures

export class Points {
  constructor(map) {
    Object.assign(this, { map, layer: h("div", { class: "hv-points", "aria-hidden": "true" }), told: {} });
    map.stage.prepend(this.layer);
  }

  /** Begin with the drawer that is asked for: "auto", "canvas" or "plotly". */
  begin({ renderer: kind = "auto", plotly: address }) {
    if (kind === this.kind) return;
    this.close();
    const wish = () => this.map.wish();
    const canvas = h("canvas", {});
    this.layer.replaceChildren(canvas);
    Object.assign(this, { kind, told: {} });
    if (kind === "plotly" && abilities().webgl2) {
      this.layer.replaceChildren();
      this.drawer = new PlotlyRenderer(this.layer, { wish, address });
    } else if (kind !== "canvas" && abilities().webgl2) {
      try {
        this.drawer = new Renderer(canvas, { wish, lost: () => this.fall() });
      } catch { // offered, and not given: another page may have all that there are
        this.flat();
      }
    } else this.flat();
  }

  flat() {
    const canvas = h("canvas", {});
    this.layer.replaceChildren(canvas);
    this.drawer = new FlatRenderer(canvas, { wish: () => this.map.wish() });
  }

  /** The card is gone and does not come back: go on without it. */
  fall() {
    const { map } = this;
    if (map.dead || !(this.drawer instanceof Renderer)) return;
    this.drawer.close();
    this.flat();
    this.told = {};
    this.layout(map.pos, null, () => map.wish({ paint: true, view: true }));
    map.wish({ paint: true });
  }

  get ready() { return Boolean(this.drawer?.ready); }

  /** What draws, for people: and whether it draws all. */
  get drawn() { return this.drawer?.drawn ?? 0; }

  /** Places of all rows; `from`: where they come from; `done` once the drawer knows them. */
  layout(pos, from = null, done = () => {}) { this.drawer.layout(pos, { from, done }); }

  /** Rows in view, level by level, at least `least` of them where there are, and of how many each tells. */
  some(least = SURVEYED) {
    const { order, plan } = this.drawer ?? {};
    if (!plan || !order?.rowAt || this.map.n <= 3 * least) return { rows: null, each: 1 };
    const parts = [];
    let [found, all] = [0, 0];
    for (const [firsts, counts, total] of plan) {
      all += total;
      if (found >= least) continue;
      firsts.forEach((first, k) => parts.push(order.rowAt.subarray(first, first + counts[k])));
      found += total;
    }
    const rows = new Uint32Array(found);
    let at = 0;
    for (const part of parts) {
      rows.set(part, at);
      at += part.length;
    }
    return { rows, each: found ? all / found : 1 };
  }

  arrive() { this.drawer.arrive?.(); }

  /** Hand over what has changed of colours, shapes and states. */
  sync() {
    const { map, told, drawer } = this;
    const { data, tokens, palette, slot, pass, picked, focus, n } = map;
    const changed = (name, ...values) => {
      const same = told[name]?.length === values.length && told[name].every((v, k) => v === values[k]);
      told[name] = values;
      return !same;
    };
    drawer.tokens = tokens;
    if (changed("ground", tokens.bg, tokens.mute)) {
      Object.assign(drawer, { ground: tokens.bg, hatch: tokens.mute });
      drawer.dirty();
    }
    if (changed("palette", palette)) drawer.paint(palette);
    const bytes = {};
    if (changed("datasets", data.datasets)) {
      bytes.dataset = new Uint8Array(n);
      data.datasets.forEach((d, k) => bytes.dataset.fill(k % 8, d.start, d.stop));
      drawer.shapes(data.datasets.map((d) => ({ shape: d.symbol, size: d.factor })));
      drawer.datasets = data.datasets;
    }
    if (changed("slot", slot)) bytes.colour = slot;
    const { legend } = map;
    const alone = JSON.stringify([[...legend.alone.set], [...legend.alone.code], legend.range]);
    if (changed("state", pass, picked, focus, map.count, alone, map.links, map.acts.groups, map.acts.preview, map.outline.rows, proposed())) {
      const state = new Uint8Array(n);
      const focused = focus ?? map.outline.focus() ?? this.inFocus() ?? legend.focus() ?? proposedFocus(n);
      for (let r = 0; r < n; r++) {
        state[r] = (pass[r] ? 0 : HIDDEN) | (picked[r] ? SELECTED : 0) | (focused?.[r] ? FOCUS : 0);
      }
      bytes.state = state;
    }
    if (changed("trust", map.trust)) bytes.trust = map.trust;
    if (Object.keys(bytes).length) drawer.dye(bytes);
    if (drawer.haze !== Boolean(map.haze && map.trust)) {
      drawer.haze = Boolean(map.haze && map.trust);
      drawer.dirty();
    }
    map.stats.paints += 1;
    this.measure();
  }

  /** What is selected or in a group, and what a few are linked to; null where nothing is. */
  inFocus() {
    const { picked, links, acts, count, n } = this.map;
    const grouped = acts.rows();
    if (!count && !grouped.length) return null;
    const flags = count ? Uint8Array.from(picked) : new Uint8Array(n);
    for (const r of grouped) flags[r] = 1;
    if (!acts.preview.length && count <= FEW) for (const [i, j] of links) flags[i] = flags[j] = 1;
    return flags;
  }

  /** Diameter of the dots for the camera as it is. */
  measure() {
    const { view, data, visible } = this.map;
    const size = dotSize(visible || 1, view.s / view.fitted) * (data.together ? 0.66 : 1);
    if (Math.abs(size / this.drawer.size - 1) > 0.02) this.drawer.size = size;
  }

  /** Draw all anew in the next frame, though nothing has changed. */
  again() { this.drawer?.dirty?.(); }

  /** One frame; returns whether another is needed. */
  draw(share, now) {
    this.measure();
    const begun = performance.now();
    const more = this.drawer.draw(this.map.view, share, now);
    const { stats } = this.map;
    stats.ms.push(performance.now() - begun);
    if (stats.ms.length > 600) stats.ms.splice(0, 300);
    return more;
  }

  get late() { return Boolean(this.drawer?.late); }

  /** The row nearest to a pixel within `reach`, told to `answer`; -1 where there is none. */
  pick(x, y, reach, answer) {
    const { map } = this;
    // On their way points are nowhere in the index.
    if (map.motion || !this.ready) answer(nearest(map.pos, map.pass, map.view, x, y, reach));
    else this.drawer.pick(map.view, x, y, reach, answer);
  }

  inside(polygon, answer) {
    const { map } = this;
    if (map.motion || !this.ready) answer(inside(map.pos, map.pass, polygon));
    else this.drawer.inside(polygon, answer);
  }

  picture(ratio) { return this.drawer.picture(this.map.view, ratio); }

  close() {
    this.drawer?.close();
    this.drawer = null;
  }
}

/** The trust of each row, 0 to 200, more where it is unknown; null where there is none, or none `wanted` any more. */
export async function fetchTrust(session, of, wanted) {
  let answer = await ask(`hv/fog/${session}?of=${of}`);
  while (answer.status === 202) { // a worker finds it out
    await new Promise((done) => setTimeout(done, 1500));
    if (!wanted()) return null;
    answer = await ask(`hv/fog/${session}?of=${of}`);
  }
  return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
}
