// Points of the map: the choice between two renderers, and the data they get.

import { MAX_NAMED } from "./linked_items.js";
import { FlatRenderer } from "./flat_renderer.js";
import { inside, nearest } from "./pick.js";
import { proposedPairs, proposedFlags } from "./proposed_pairs.js";
import { FOCUS, HIDDEN, Renderer, SELECTED, UNSTABLE, abilities, dotSize } from "./renderer.js";
import { FADED } from "./renderer_base.js";
import { assetUrl } from "./requests.js";
import { Terrain } from "./terrain.js";
import { h } from "./dom.js";
import { prefersReducedMotion } from "./view.js";

/** @import { HetMap } from "./map.js" */
/** @import { RowBytes } from "./renderer_base.js" */

const DIM_MS = 120;
const FULL_DOTS_PX = 700; // width of a map from which dots have their full size

export class Points {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.layer = h("div", { class: "hv-points", "aria-hidden": "true" });
    /** @type {FlatRenderer | Renderer} Null before `begin` and after `close`. */
    this.drawer = /** @type {any} */ (null);
    /** @type {Record<string, unknown[]>} Values that the renderer has, by name. */
    this.synced = {};
    this.terrain = new Terrain();
    this.dimmedAt = 0; // begin of the dimming; 0 if it is over
    map.stage.prepend(this.terrain.canvas, this.layer);
  }

  /** Start WebGL2, else the canvas renderer. */
  begin() {
    if (this.drawer) return;
    if (!abilities().webgl2) {
      this.useFlatRenderer();
      return;
    }
    const canvas = h("canvas", {});
    this.layer.replaceChildren(canvas);
    try {
      this.drawer = new Renderer(canvas, {
        requestDraw: () => this.map.requestDraw(), onContextLost: () => this.onContextLost(),
        worker: assetUrl("point_index.js") ?? undefined,
      });
    } catch { // no context, for example because other pages use all of them
      this.useFlatRenderer();
    }
  }

  useFlatRenderer() {
    const canvas = h("canvas", {});
    this.layer.replaceChildren(canvas);
    this.drawer = new FlatRenderer(canvas, { requestDraw: () => this.map.requestDraw() });
  }

  /** Switch to the canvas renderer after a lost context. */
  onContextLost() {
    const { map, scene } = this;
    if (scene.isClosed || !(this.drawer instanceof Renderer)) return;
    this.drawer.close();
    this.useFlatRenderer();
    this.synced = {};
    this.layout(scene.pos, null, () => map.requestDraw({ paint: true, view: true }));
    map.requestDraw({ paint: true });
  }

  get ready() { return Boolean(this.drawer?.ready); }

  /** Number of drawn points. */
  get drawn() { return this.drawer?.drawn ?? 0; }

  /** Set the positions of all rows. `from`: start of a transition. `done`: called when ready. */
  /** @param {Float32Array} pos @param {Float32Array | null} from @param {() => void} onReady */
  layout(pos, from = null, onReady = () => {}) { this.drawer.layout(pos, { from, onReady }); }

  /** A sample of the rows in view, and the number of points that each stands for. */
  sampleInView() { return this.drawer?.sampleInView() ?? { rows: null, each: 1 }; }

  endTransition() { this.drawer.endTransition(); }

  /** Send changed colours, shapes and states to the renderer. */
  sync() {
    const { map, synced, drawer, scene } = this;
    const { data, tokens, palette, slot, isShown, picked, n } = scene;
    /** @type {(name: string, ...values: unknown[]) => boolean} */
    const changed = (name, ...values) => {
      const same = synced[name]?.length === values.length && synced[name].every((v, k) => v === values[k]);
      synced[name] = values;
      return !same;
    };
    if (changed("ground", tokens.bg, tokens.mute)) {
      Object.assign(drawer, { ground: tokens.bg, hatch: tokens.mute });
      drawer.invalidate();
    }
    if (changed("palette", palette)) drawer.setColors(palette);
    /** @type {RowBytes} */
    const bytes = {};
    if (changed("datasets", data.datasets)) {
      const dataset = bytes.dataset = new Uint8Array(n);
      data.datasets.forEach((d, k) => dataset.fill(k % 8, d.start, d.stop));
      drawer.setShapes(data.datasets.map((d) => ({ shape: d.symbol, size: d.factor })));
    }
    if (changed("slot", slot)) bytes.colour = slot;
    const { legend } = map;
    const isolated = JSON.stringify([[...legend.isolated.set], [...legend.isolated.code], legend.range]);
    if (changed("state", isShown, picked, scene.count, isolated, scene.links, scene.unstable, map.statements.groups, map.statements.pairs, map.outline.rows, proposedPairs())) {
      const state = new Uint8Array(n);
      const focused = map.outline.focus() ?? this.focusFlags() ?? legend.focus() ?? proposedFlags(n);
      for (let r = 0; r < n; r++) {
        state[r] = (isShown[r] ? 0 : HIDDEN) | (picked[r] ? SELECTED : 0) | (focused?.[r] ? FOCUS : 0)
          | (scene.unstable?.[r] ? UNSTABLE : 0);
      }
      bytes.state = state;
    }
    if (changed("trust", scene.trust)) bytes.trust = scene.trust;
    const { hasFocus } = drawer;
    if (Object.keys(bytes).length) drawer.setBytes(bytes);
    if (drawer.hasFocus && !hasFocus) this.startDimming();
    const hasOverlay = Boolean(scene.switches.trust && scene.trust && !scene.isGeography);
    if (drawer.trustOverlay !== hasOverlay) {
      drawer.trustOverlay = hasOverlay;
      drawer.invalidate();
    }
    map.stats.paints += 1;
    this.updateSize();
  }

  /** Dim the other items of a new selection in steps, if a frame is drawn at once. */
  startDimming() {
    const isQuick = this.drawer instanceof Renderer && this.drawer.direct;
    this.dimmedAt = isQuick && !prefersReducedMotion() ? performance.now() : 0;
  }

  /** Returns whether items are still dimmed further. */
  dim() {
    if (!this.dimmedAt) return false;
    const share = Math.min((performance.now() - this.dimmedAt) / DIM_MS, 1);
    this.drawer.faded = share * FADED + (1 - share);
    this.drawer.drawnKey = "";
    if (share === 1) this.dimmedAt = 0;
    return share < 1;
  }

  /** Flags of selected and grouped items and of links of a few items; null if there are none. */
  focusFlags() {
    const { statements } = this.map;
    const { picked, links, count, n } = this.scene;
    const grouped = statements.rows();
    if (!count && !grouped.length) return null;
    const flags = count ? Uint8Array.from(picked) : new Uint8Array(n);
    for (const r of grouped) flags[r] = 1;
    if (count <= MAX_NAMED) {
      for (const [i, j] of links) if (statements.showsLinksOf(picked[i] ? i : j)) flags[i] = flags[j] = 1;
    }
    return flags;
  }

  /** Set the diameter of the dots for the camera. */
  updateSize() {
    const { view, data, visible } = this.scene;
    const narrow = data.stage ? Math.min(view.W / FULL_DOTS_PX, 1) ** 0.8 : 1;
    const size = dotSize(visible || 1, view.s / view.fitted, data.linked_group ? 0.66 : narrow);
    if (Math.abs(size / this.drawer.size - 1) > 0.02) this.drawer.size = size;
  }

  /** Redraw in the next frame although nothing changed. */
  redraw() { this.drawer?.invalidate(); }

  /** Draw one frame; returns whether another is needed. @param {number} share @param {number} now */
  draw(share, now) {
    this.updateSize();
    const begun = performance.now();
    const isDimming = this.dim();
    const more = this.drawer.draw(this.scene.view, share, now) || isDimming;
    const { stats } = this.map;
    stats.ms.push(performance.now() - begun);
    if (stats.ms.length > 600) stats.ms.splice(0, 300);
    return more;
  }

  /** Compute the terrain of a map that rests, hide the one of a map that moves. */
  drawTerrain() {
    const { scene, terrain, drawer } = this;
    const { data, pos, isShown, slot, palette, geometry, view } = scene;
    if (!scene.switches.terrain || scene.motion || !this.ready || pos.length !== 2 * isShown.length) {
      terrain.hide();
      return;
    }
    if (scene.flight) return;
    const isNumeric = data.colour?.kind === "numbers" && Boolean(scene.values);
    const nColours = scene.pale ? (palette.length - 1) / 2 : palette.length - 1;
    terrain.draw({
      pos, ...drawer.sampleInView(), isShown, slot, nColours, isNumeric, palette,
      isDark: scene.scheme === "dark", keys: [geometry, isShown, slot, palette],
    }, view);
    this.map.stats.terrainMs = terrain.ms;
  }

  get isLate() { return Boolean(this.drawer?.isLate); }

  /**
   * Pass the row nearest to a pixel within `reach` to `callback`, or -1.
   * @param {number} x @param {number} y @param {number} reach
   */
  pick(x, y, reach, callback) {
    const { scene } = this;
    // During a transition the index does not match the positions.
    if (scene.motion || !this.ready) callback(nearest(scene.pos, scene.isShown, scene.view, x, y, reach));
    else this.drawer.pick(scene.view, x, y, reach, callback);
  }

  inside(polygon, callback) {
    const { scene } = this;
    if (scene.motion || !this.ready) callback(inside(scene.pos, scene.isShown, polygon));
    else this.drawer.inside(polygon, callback);
  }

  /** @param {number} ratio */
  picture(ratio) { return this.drawer.picture(this.scene.view, ratio); }

  close() {
    this.drawer?.close();
    this.drawer = /** @type {any} */ (null);
  }
}
