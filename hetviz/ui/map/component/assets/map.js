// The map: what is known of it, for all parts to read, and the parts, each of which does one thing.
//
// Selection and camera belong to the browser while the map lives. Python's are taken when the map
// mounts, and whenever Python's selection has a higher version than ours (undo, Clear, search).

import { Acts } from "./acts.js";
import { Arrival } from "./arrival.js";
import { Bar } from "./bar.js";
import { Camera } from "./camera.js";
import { h } from "./dom.js";
import { Drawing } from "./drawing.js";
import { watchDrops } from "./drop.js";
import { Early } from "./early.js";
import { Film } from "./film.js";
import { Hands } from "./pointer.js";
import { watchJourneys } from "./journey.js";
import { Keys } from "./keys.js";
import { Layers } from "./layers.js";
import { Legend } from "./legend.js";
import { Live } from "./live.js";
import { Outline } from "./outline.js";
import { Overlay } from "./overlay.js";
import { Points, fetchTrust } from "./points.js";
import { offerPanel, watchPanel } from "./panel.js";
import { watchProposed } from "./proposed.js";
import { Regions } from "./regions.js";
import { remember } from "./recall.js";
import { watchScheme } from "./scheme.js";
import { Selection } from "./selection.js";
import { Tip } from "./tooltip.js";
import { Together } from "./together.js";
import { Travel } from "./transition.js";
import { View } from "./view.js";

/** Show a map in `root`, or tell the one that is there what has changed. */
export function mount(root, component) {
  root.hvMap ??= new HetMap(root);
  const map = root.hvMap;
  map.arrival.update(component);
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
      root, stage, view: new View(), n: 0, data: null, tool: "move", hidden: [],
      pos: new Float32Array(0), pass: new Uint8Array(0),
      slot: new Uint8Array(0), palette: ["#999999"], picked: new Uint8Array(0), count: 0,
      version: -1, links: [], linksTotal: 0, order: [], cursor: -1, hovered: -1, sketch: null,
      ghosts: null, moving: false, flight: null, motion: null, dead: false, focus: null, haze: false, trust: null,
      heldUntil: 0, pointerDown: false,
      stats: { frames: 0, draws: 0, paints: 0, ms: [], polls: 0, fps: 0, map: this },
    });
    root.replaceChildren();
    this.live = h("div", { class: "hv-say", role: "status", "aria-live": "polite" });
    const canvas = h("canvas", { class: "hv-over", "aria-hidden": "true" });
    this.note = h("div", { class: "hv-note" }, "Drawing the map…");
    stage.append(canvas, this.note);
    this.arrival = new Arrival(this);
    this.camera = new Camera(this);
    this.drawing = new Drawing(this);
    this.layers = new Layers(this);
    this.selection = new Selection(this);
    this.travel = new Travel(this);
    this.points = new Points(this);
    this.regions = new Regions(this);
    this.overlay = new Overlay(canvas, this);
    this.outline = new Outline(this);
    this.tip = new Tip(this);
    this.early = new Early(this);
    this.together = new Together(this);
    this.acts = new Acts(this);
    this.bar = new Bar(this);
    this.legend = new Legend(this);
    this.film = new Film(this);
    this.follower = new Live(this);
    this.hands = new Hands(this);
    this.keys = new Keys(this);
    root.append(stage, this.bar.element, this.legend.element, this.film.element, this.live);
    root.__hv = this.stats;
    this.observer = new ResizeObserver(() => this.camera.resize());
    this.observer.observe(stage);
    this.stops = [
      watchScheme(() => this.arrival.recolour()),
      watchPanel(() => requestAnimationFrame(() => this.camera.slide())),
      watchProposed((pairs) => {
        this.camera.see(pairs[0]?.slice(0, 2) ?? []);
        this.wish({ paint: true, place: true });
      }),
    ];
    watchDrops();
    watchJourneys();
    document.fonts?.ready.then(() => this.wish({ place: true }));
  }

  /** Ask for a frame in which the camera ("view"), points ("pos"), or more, are drawn anew. */
  wish(what = {}) { this.drawing.wish(what); }

  select(rows, how) { this.selection.select(rows, how); }

  /** Lay haze over the regions that are not to be trusted, or lift it. */
  async toggleHaze() {
    this.haze = !this.haze;
    this.bar.update();
    this.say(this.haze ? "Haze is where the map is not to be trusted" : "No haze");
    await this.learnTrust();
    this.wish({ paint: true });
  }

  /** Ask for the trust of the items where it is wanted and not known yet. */
  async learnTrust() {
    const { data } = this;
    const of = `${data.geometry.id}-${data.fingerprint}`;
    if (!this.haze || data.live || this.trusted === of) return;
    Object.assign(this, { trusted: of, trust: null });
    try {
      const trust = await fetchTrust(data.session, of, () => !this.dead && this.haze && this.trusted === of);
      if (this.trusted === of) this.trust = trust?.length === this.n ? trust : null;
      // What could not be found out is asked for again with the next description of the map.
      if (this.trusted === of && !this.trust) this.trusted = null;
    } catch {
      this.trusted = null;
    }
    this.wish({ paint: true });
  }

  pickedRows() { return this.selection.rows(); }

  setTool(tool) {
    this.tool = tool;
    this.stage.dataset.tool = tool;
    this.bar.update();
    remember(this);
  }

  /** Show what is selected in the panel, unless the reader closed it. */
  offer() { if (this.data.stage) offerPanel("Item"); }

  say(words) { this.live.textContent = words; }

  close() {
    this.dead = true;
    for (const stop of this.stops) stop();
    this.observer.disconnect();
    this.camera.close();
    this.drawing.close();
    this.travel.close();
    this.hands.close();
    this.keys.close();
    this.outline.close();
    this.acts.close();
    this.bar.close();
    this.film.close();
    this.legend.close();
    this.tip.close();
    this.early.close();
    this.together.leave();
    this.follower.stop();
    this.media?.close();
    this.points.close();
  }
}
