// The map. Python sends a small description with keys of arrays; the arrays come once, by address.
//
// Selection and camera belong to the browser while the map lives. Python's are taken when the map
// mounts, and whenever Python's selection has a higher version than ours (undo, Clear, search).

import { Acts } from "./acts.js";
import { aligned } from "./align.js";
import { Bar } from "./bar.js";
import { mix, slots } from "./colour.js";
import { Density } from "./density.js";
import { h } from "./dom.js";
import { Fog } from "./fog.js";
import { Hands } from "./hands.js";
import { Legend } from "./legend.js";
import { Live, frameOf } from "./live.js";
import { Media } from "./media.js";
import { Overlay } from "./overlay.js";
import { pack, rowsOf, unpack } from "./pick.js";
import { Plot, dotSize } from "./plot.js";
import { Missing, ROOT, array, loadPlotly, loadStyle, memory } from "./store.js";
import { Tip } from "./tip.js";
import { Together } from "./together.js";
import { View, between, calm, ease } from "./view.js";

const CAMERA_PAUSE = 900; // ms without movement before Python hears of the camera
const MOST_LINKED = 20000; // selections larger than this are asked for no links

/** Show a map in `root`, or tell the one that is there what has changed. */
export function mount(root, component) {
  root.hvMap ??= new HetMap(root);
  const map = root.hvMap;
  map.update(component);
  // Streamlit also closes an older call while a newer one is under way; only a map that has left
  // the page is taken apart.
  return () => setTimeout(() => {
    if (root.isConnected || root.hvMap !== map) return;
    root.hvMap = null;
    map.close();
  });
}

class HetMap {
  constructor(root) {
    const stage = h("div", { class: "hv-stage", tabindex: 0, role: "application" });
    Object.assign(this, {
      root, stage, view: new View(), ticket: 0, n: 0, data: null, tool: "move", hidden: [],
      pos: new Float32Array(0), shown: new Uint8Array(0), pass: new Uint8Array(0),
      slot: new Uint8Array(0), palette: ["#999999"], picked: new Uint8Array(0), count: 0,
      version: -1, links: [], linksTotal: 0, order: [], cursor: -1, hovered: -1, sketch: null,
      ghosts: null, moving: false, flight: null, motion: null, dirty: {}, frame: 0, dead: false,
      sentHidden: [], heldUntil: 0, pointerDown: false,
      stats: { frames: 0, draws: 0, paints: 0, ms: [], polls: 0, fps: 0, map: this },
    });
    root.replaceChildren();
    this.live = h("div", { class: "hv-say", role: "status", "aria-live": "polite" });
    const plot = h("div", { class: "hv-plot", "aria-hidden": "true" });
    const canvas = h("canvas", { class: "hv-over", "aria-hidden": "true" });
    this.note = h("div", { class: "hv-note" }, "Drawing the map…");
    stage.append(plot, canvas, this.note);
    this.plot = new Plot(plot, this.stats, () => this.rebuild());
    this.overlay = new Overlay(canvas, this);
    this.density = new Density(this);
    this.fog = new Fog(this);
    this.tip = new Tip(this);
    this.together = new Together(this);
    this.acts = new Acts(this);
    this.bar = new Bar(this);
    this.legend = new Legend(this);
    this.follower = new Live(this);
    this.hands = new Hands(this);
    root.append(this.bar.element, stage, this.legend.element, this.live);
    root.__hv = this.stats;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(stage);
    document.fonts?.ready.then(() => this.wish({ place: true }));
  }

  // --- what Python says -------------------------------------------------------------------------

  async update(component) {
    this.component = component;
    const data = component.data;
    const ticket = ++this.ticket;
    this.root.style.height = data.height;
    this.root.dataset.mode = data.mode;
    this.root.dataset.theme = data.theme;
    for (const [name, value] of Object.entries(data.tokens)) {
      if (typeof value === "string") this.root.style.setProperty(`--m-${name.replaceAll("_", "-")}`, value);
    }
    if (!hasWebgl()) {
      this.note.textContent = "This browser offers no WebGL; the map is drawn in a simpler way.";
      if (!this.refused) component.setStateValue("webgl", false);
      this.refused = true;
      return;
    }
    try {
      const get = (key, type) => (key ? array(data.session, key, type) : null);
      const [geometry, values, mask, order, sample] = await Promise.all([
        get(data.geometry, "f4"),
        get(data.colour?.key, data.colour?.kind === "numbers" ? "f4" : "i1"),
        get(data.mask, "u1"), get(data.order, "i4"), get(data.density?.sample, "i4"),
        loadPlotly(data.plotly), loadStyle(),
      ]);
      const bits = data.selection.version > this.remembered(data).version && data.selection.key
        ? await get(data.selection.key, "u1") : null;
      if (ticket !== this.ticket || this.dead) return;
      this.take(data, { geometry, values, mask, order, sample, bits });
    } catch (error) {
      if (ticket !== this.ticket || this.dead) return;
      if (error instanceof Missing) component.setTriggerValue("missing", error.message);
      // The server may be restarting; ask again.
      setTimeout(() => ticket === this.ticket && !this.dead && this.update(component), 2500);
    }
  }

  /** What this page knew of the same map before it was unmounted. */
  remembered(data) {
    if (this.data) return { version: this.data.n === data.n ? this.version : -1 };
    const kept = memory(data.session, data.name);
    return kept.n === data.n && kept.fingerprint === data.fingerprint ? kept : { version: -1 };
  }

  take(data, { geometry, values, mask, order, sample, bits }) {
    const before = this.data;
    const kept = this.remembered(data);
    const fresh = !before || before.n !== data.n;
    this.data = data;
    this.n = data.n;
    this.tokens = data.tokens;
    this.family = getComputedStyle(this.root).fontFamily;
    this.order = order || [];
    this.view.k = data.frame.stretch || 1;
    const version = data.fingerprint || `${data.session}${data.order || ""}`;
    if (this.mediaVersion !== version) {
      this.media?.close();
      this.media = new Media(data.session, version, () => this.wish({ place: true }));
      this.mediaVersion = version;
    }
    if (fresh) {
      this.picked = kept.picked || new Uint8Array(this.n);
      this.count = kept.picked ? kept.count : 0;
      this.version = kept.version;
      this.tool = data.mode === "work" ? kept.tool || this.tool : "move";
      this.links = [];
      this.motion = null;
      this.pos = Float32Array.from(geometry);
      this.geometry = geometry;
    }
    if (data.selection.version > this.version || (fresh && this.version < 0)) {
      this.picked = bits ? unpack(bits, this.n) : new Uint8Array(this.n);
      this.count = data.selection.count ? this.picked.reduce((a, b) => a + b, 0) : 0;
      this.version = data.selection.version;
      this.selectionChanged();
    } else if (fresh && this.count) this.selectionChanged();
    this.takeHidden(data);
    this.mask = mask;
    this.sample = sample;
    if (values !== this.values || data.colour !== before?.colour) {
      Object.assign(this, slots(data.colour, values, this.n));
      this.values = values;
    }
    this.stage.setAttribute("aria-label", `${data.alt} Press question mark for the keys.`);
    this.show();
    if (fresh) {
      this.measure();
      this.start(data, kept);
    } else if (geometry !== this.geometry) this.arrive(geometry);
    this.together.join(data.together);
    this.acts.take(data);
    this.bar.update();
    this.legend.update();
    this.note.hidden = true;
    this.follower.follow(data.live);
    if (!data.live && this.adrift) this.move(geometry, 500);
    this.moving = Boolean(data.live) || Boolean(this.motion);
    this.density.refresh(true);
    this.fog.refresh();
    this.remember();
    // Most reruns of the page change nothing that is painted.
    const painted = JSON.stringify([
      data.geometry, data.colour, data.mask, this.hidden, data.tokens, data.density, this.version,
    ]);
    this.wish({ paint: fresh || painted !== this.painted, place: true });
    this.painted = painted;
  }

  /** Python's hidden datasets, unless they are an echo of what we sent ourselves. */
  takeHidden(data) {
    const told = JSON.stringify([...data.hidden].sort());
    const echo = this.sentHidden.indexOf(told);
    if (echo >= 0) this.sentHidden.splice(0, echo + 1);
    else if (!this.sentHidden.length) this.hidden = data.hidden;
  }

  /** Which points are there: placed, past the filters, of a dataset that is shown. */
  show() {
    const { n, mask, sample } = this;
    const pass = new Uint8Array(n);
    for (const d of this.data.datasets) {
      if (this.hidden.includes(d.name)) continue;
      for (let r = d.start; r < d.stop; r++) {
        pass[r] = !Number.isNaN(this.pos[2 * r]) && !Number.isNaN(this.pos[2 * r + 1])
          && (!mask || mask[r]) ? 1 : 0;
      }
    }
    this.pass = pass;
    if (sample && n > this.data.density.limit) {
      this.shown = new Uint8Array(n);
      for (const r of sample) this.shown[r] = pass[r];
    } else this.shown = pass;
    this.visible = pass.reduce((a, b) => a + b, 0);
    this.drawn = this.shown === pass ? this.visible : this.shown.reduce((a, b) => a + b, 0);
  }

  get dense() { return Boolean(this.data?.density) && this.n > this.data.density.limit; }

  // --- camera -----------------------------------------------------------------------------------

  start(data, kept) {
    this.view.go(this.view.around(data.frame));
    this.view.fitted = this.view.s;
    this.view.zoomed = false;
    if (kept.geometry === data.geometry && kept.zoomed) {
      this.view.go(this.view.around({ ...kept.range, stretch: kept.k }));
      this.view.zoomed = true;
    } else if (data.camera && kept.geometry !== data.geometry) {
      this.view.go(this.view.around(data.camera));
      this.view.zoomed = true;
    }
    this.toldCamera = JSON.stringify(data.camera);
  }

  measure() {
    this.view.W = Math.max(this.stage.clientWidth, 1);
    this.view.H = Math.max(this.stage.clientHeight, 1);
    this.overlay.resize(this.view.W, this.view.H);
  }

  resize() {
    const { clientWidth: W, clientHeight: H } = this.stage;
    if (!W || !H || !this.data || (W === this.view.W && H === this.view.H)) return;
    this.view.resize(W, H);
    this.overlay.resize(W, H);
    const home = this.view.around(this.data.frame);
    if (!this.view.zoomed && !this.data.live) this.view.go(home);
    this.view.fitted = home.s;
    this.bar.fit();
    this.legend.fit();
    this.wish({ paint: true, place: true });
  }

  /** Move the camera there, in one sweep. */
  fly(place, ms = 450, zoomed = true) {
    this.view.zoomed = zoomed;
    if (calm() || ms === 0) {
      this.flight = null;
      this.view.go(place);
    } else this.flight = { from: this.view.at(), to: place, begun: performance.now(), ms };
    this.wish({ view: true });
  }

  fit() {
    const frame = this.data.live ? frameOf(this.pos, this.pass) : this.data.frame;
    this.fly(this.view.around({ ...frame, stretch: this.data.frame.stretch }), 450, false);
  }

  zoomBy(factor) {
    const view = Object.assign(new View(), this.view, this.flight?.to);
    view.zoom(factor);
    this.fly(view.at(), 220);
  }

  /** Fly to one item, close enough to see its surroundings. */
  flyTo(row) {
    const s = Math.max(this.view.s, this.view.fitted * 4);
    const [cx, cy] = [this.pos[2 * row], this.pos[2 * row + 1]];
    this.fly({ cx, cy, s, k: this.view.k }, 700);
  }

  /** Fly to where all the given rows are seen. */
  flyToAll(rows) {
    const flags = new Uint8Array(this.n);
    rows.forEach((r) => { flags[r] = this.pass[r]; });
    const frame = frameOf(this.pos, flags, 0, 1.25);
    const place = this.view.around({ ...frame, stretch: this.view.k });
    place.s = Math.min(place.s, this.view.fitted * 8);
    this.fly(place, 600);
  }

  cameraMoved() {
    this.remember();
    if (this.data.mode !== "work" || this.data.together) return;
    clearTimeout(this.cameraTimer);
    this.cameraTimer = setTimeout(() => {
      if (this.dead || this.pointerDown) return;
      const camera = this.view.zoomed ? this.view.range : null;
      const told = JSON.stringify(camera);
      if (told === this.toldCamera) return;
      this.toldCamera = told;
      this.component.setStateValue("camera", camera);
    }, CAMERA_PAUSE);
  }

  remember() {
    const { data, picked, count, version, tool, view, n } = this;
    Object.assign(memory(data.session, data.name), {
      picked, count, version, tool, n, fingerprint: data.fingerprint, geometry: data.geometry,
      range: view.range, zoomed: view.zoomed, k: view.k,
    });
  }

  // --- places -----------------------------------------------------------------------------------

  get adrift() { return this.target && this.target !== this.geometry; }

  /** A new map of the same items: let every point travel, and leave ghosts of the largest moves. */
  arrive(geometry) {
    const from = aligned(this.geometry, geometry, this.shown);
    this.geometry = geometry;
    const rows = from ? this.movers(from, geometry) : [];
    this.ghosts = rows.length ? {
      rows, born: performance.now(),
      from: Float32Array.from(rows.flatMap((r) => [from[2 * r], from[2 * r + 1]])),
    } : null;
    const seen = this.seen(this.pos);
    this.move(geometry, 600);
    const home = this.view.around(this.data.frame);
    this.view.fitted = home.s;
    // A zoomed camera stays unless it would look at nearly nothing.
    if (!this.view.zoomed || this.seen(geometry) < 0.05 * seen) this.fly(home, 600, false);
    else this.view.k = home.k;
  }

  seen(pos) {
    const { x, y } = this.view.range;
    let count = 0;
    for (let r = 0; r < this.n; r++) {
      if (this.pass[r] && pos[2 * r] > x[0] && pos[2 * r] < x[1]
        && pos[2 * r + 1] > y[0] && pos[2 * r + 1] < y[1]) count += 1;
    }
    return count;
  }

  /** The rows that are selected or in a group, else the 300 that move most. */
  movers(from, to) {
    const meant = [...new Set([...this.pickedRows(), ...this.acts.rows()])];
    if (meant.length && meant.length <= 300) return meant.filter((r) => this.pass[r]);
    const far = [];
    for (let r = 0; r < this.n; r++) {
      const d = Math.hypot(to[2 * r] - from[2 * r], to[2 * r + 1] - from[2 * r + 1]);
      if (this.shown[r] && d > 4 / this.view.s) far.push([d, r]);
    }
    return far.sort((a, b) => b[0] - a[0]).slice(0, 300).map((pair) => pair[1]);
  }

  /** Let the points travel to `target` in `ms`. */
  move(target, ms) {
    this.target = target;
    const from = Float32Array.from(this.pos);
    // Items that had no place, or get none, do not travel.
    let appeared = false;
    for (let k = 0; k < from.length; k++) {
      if (Number.isNaN(from[k]) !== Number.isNaN(target[k])) appeared = true;
      if (Number.isNaN(from[k]) || Number.isNaN(target[k])) from[k] = target[k];
    }
    this.motion = { from, to: target, begun: performance.now(), ms: calm() ? 0 : ms };
    this.moving = true;
    if (appeared) {
      this.pos = Float32Array.from(from);
      this.show();
      this.wish({ paint: true });
    }
    this.wish({ pos: true });
  }

  /** Points hold still while one aims at them. */
  get held() { return this.pointerDown || performance.now() < this.heldUntil; }

  // --- drawing ----------------------------------------------------------------------------------

  wish(what = {}) {
    for (const [name, wanted] of Object.entries(what)) this.dirty[name] ||= wanted;
    if (!this.frame && !this.dead) this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.frame = 0;
    if (!this.data || this.dead) return;
    const begun = performance.now();
    const { dirty } = this;
    this.dirty = {};
    if (this.flight) this.stepFlight(now, dirty);
    if (this.motion) this.stepMotion(now, dirty);
    if (dirty.view) this.together.moved();
    if (dirty.paint) this.paint();
    else if (dirty.view || dirty.pos) {
      this.plot.nudge(this.view, dirty.pos ? this.pos : null, this.shown);
      this.count_(begun, now);
    }
    if (dirty.place || (this.moving && now - (this.placedTime || 0) > 260)) {
      this.placedTime = now;
      this.overlay.place();
    }
    if (dirty.view || dirty.paint) this.density.lay();
    if (dirty.view || dirty.paint) this.fog.lay();
    const drawn = performance.now();
    this.overlay.draw();
    this.stats.overlayMs = performance.now() - drawn;
    if (dirty.view || dirty.pos) this.settleSoon();
    if (this.flight || this.motion) this.wish();
  }

  stepFlight(now, dirty) {
    const { from, to, begun, ms } = this.flight;
    const t = Math.min(Math.max((now - begun) / ms, 0), 1);
    this.view.go(t < 1 ? between(from, to, ease(t)) : to);
    if (t >= 1) this.flight = null;
    dirty.view = true;
  }

  stepMotion(now, dirty) {
    const motion = this.motion;
    if (this.held) {
      motion.begun += now - (motion.seen ?? now);
      motion.seen = now;
      return;
    }
    motion.seen = now;
    const t = motion.ms ? Math.min(Math.max((now - motion.begun) / motion.ms, 0), 1) : 1;
    const share = motion.steady ? t : ease(t);
    const { from, to } = motion;
    const { pos } = this;
    for (let k = 0; k < pos.length; k++) pos[k] = from[k] + (to[k] - from[k]) * share;
    if (t >= 1) {
      this.motion = null;
      this.moving = Boolean(this.data.live);
      clearTimeout(this.commitTimer);
      // Scattergl's own copy of the places is brought up to date when nothing moves any more.
      this.commitTimer = setTimeout(() => this.wish({ paint: true, place: true }), 600);
    }
    dirty.pos = true;
  }

  /** Diameter of a dot now; maps that share a page are small, and so are their dots. */
  get dotWanted() {
    const size = dotSize(this.drawn || 1, this.view.s / this.view.fitted);
    return this.data.together ? size * 0.66 : size;
  }

  paint() {
    const { pos, shown, slot, palette, picked, view, tokens, data } = this;
    this.root.toggleAttribute("data-any", this.count > 0);
    this.dot = this.dotWanted;
    this.plot.paint({
      pos, shown, slot, palette, picked, any: this.count > 0, datasets: data.datasets, view,
      tokens, dot: this.dot,
    }).then(() => {
      this.root.dataset.drawn = "1";
    });
  }

  count_(begun, now) {
    const { stats } = this;
    stats.draws += 1;
    stats.ms.push(performance.now() - begun);
    if (stats.ms.length > 600) stats.ms.splice(0, 300);
    if (this.lastDraw) stats.fps = 0.9 * stats.fps + 0.1 * (1000 / Math.max(now - this.lastDraw, 1));
    this.lastDraw = now;
  }

  settleSoon() {
    clearTimeout(this.settleTimer);
    this.settleTimer = setTimeout(() => this.settle(), 130);
  }

  settle() {
    if (this.dead || this.flight) return;
    const wanted = this.dotWanted;
    const grown = Math.abs(wanted / this.dot - 1) > 0.12 && !this.motion && !this.pointerDown;
    this.wish({ place: true, paint: grown });
    this.density.refresh(false);
    this.fog.refresh();
    this.cameraMoved();
  }

  /** After a lost graphics context: begin anew with a fresh one. */
  rebuild() {
    if (this.dead) return;
    this.plot.purge();
    clearTimeout(this.rebuildTimer);
    this.rebuildTimer = setTimeout(() => this.wish({ paint: true, place: true }), 250);
  }

  textColour(code) {
    const colour = code >= 0 ? this.palette[code + 1] : null;
    return colour ? mix(colour, this.tokens.ink, 0.26) : this.tokens.mute;
  }

  // --- selection --------------------------------------------------------------------------------

  pickedRows() {
    this.rows ??= rowsOf(this.picked);
    return this.rows;
  }

  /**
   * Select rows. `how` is "replace", "add" or "subtract". In density mode a `polygon` is sent in
   * place of rows, for an exact answer over all items.
   */
  select(rows, how = "replace", polygon = null) {
    if (this.data.mode !== "work") return;
    const picked = how === "replace" ? new Uint8Array(this.n) : Uint8Array.from(this.picked);
    const value = how === "subtract" ? 0 : 1;
    for (const r of rows) picked[r] = value;
    const count = picked.reduce((a, b) => a + b, 0);
    if (!count && !this.count && !polygon) return;
    this.picked = picked;
    this.count = count;
    this.version = Math.max(this.version, this.data.selection.version) + 1;
    const told = polygon && this.dense
      ? { polygon, add: how === "add", subtract: how === "subtract", version: this.version,
        fingerprint: this.data.fingerprint }
      : { packed: pack(picked), count, version: this.version, fingerprint: this.data.fingerprint };
    this.component.setStateValue("selection", told);
    this.stats.selectedAt = performance.now();
    this.selectionChanged();
    this.remember();
    this.together.selected();
    this.say(count ? `${count.toLocaleString("en")} selected` : "Nothing selected");
    this.legend.update();
    // The picture follows in the next frames: Python hears of the selection first.
    setTimeout(() => this.wish({ paint: true, place: true }), 20);
  }

  selectionChanged() {
    this.rows = null;
    this.links = [];
    this.linksTotal = 0;
    const version = this.version;
    if (!this.count || this.count > MOST_LINKED || this.data.mode !== "work") return;
    fetch(`${ROOT}hv/links/${this.data.session}`, {
      method: "POST", body: Int32Array.from(this.pickedRows()).buffer,
    }).then((answer) => (answer.ok ? answer.json() : null)).then((found) => {
      if (!found || this.version !== version || this.dead) return;
      this.links = found.links;
      this.linksTotal = found.total;
      this.legend.update();
      this.wish({ place: true });
    }).catch(() => {});
  }

  clear() { this.select([], "replace"); }

  inView() {
    const { x, y } = this.view.range;
    const rows = [];
    for (let r = 0; r < this.n; r++) {
      const [a, b] = [this.pos[2 * r], this.pos[2 * r + 1]];
      if (this.pass[r] && a >= x[0] && a <= x[1] && b >= y[0] && b <= y[1]) rows.push(r);
    }
    return rows;
  }

  toggleDataset(name, only = false) {
    const all = this.data.datasets.map((d) => d.name);
    if (only) {
      const others = all.filter((other) => other !== name);
      const alone = others.every((other) => this.hidden.includes(other));
      this.hidden = alone ? [] : others;
    } else if (this.hidden.includes(name)) this.hidden = this.hidden.filter((other) => other !== name);
    else this.hidden = [...this.hidden, name];
    this.sentHidden.push(JSON.stringify([...this.hidden].sort()));
    this.component.setStateValue("hidden", this.hidden);
    this.show();
    this.bar.update();
    this.legend.update();
    this.density.refresh(true);
    this.fog.refresh();
    this.wish({ paint: true, place: true });
  }

  setTool(tool) {
    this.tool = tool;
    this.stage.dataset.tool = tool;
    this.bar.update();
    this.remember();
  }

  say(words) { this.live.textContent = words; }

  close() {
    this.dead = true;
    cancelAnimationFrame(this.frame);
    for (const timer of ["cameraTimer", "settleTimer", "commitTimer", "rebuildTimer"]) {
      clearTimeout(this[timer]);
    }
    this.observer.disconnect();
    this.hands.close();
    this.bar.close();
    this.tip.close();
    this.together.leave();
    this.follower.stop();
    this.density.close();
    this.fog.close();
    this.media?.close();
    this.plot.purge();
  }
}

let webgl = null;

function hasWebgl() {
  if (webgl === null) {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("webgl");
    webgl = Boolean(context);
    context?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return webgl;
}
