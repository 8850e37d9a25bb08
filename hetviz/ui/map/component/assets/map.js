// Map component: the shared state that all parts read, and the parts, which each do one thing.
//
// The browser owns selection and camera while the map is open. Python's selection is used when the map
// mounts, and whenever it has a higher version than ours (undo, clear, search).

import { Statements } from "./statements.js";
import { Updates } from "./updates.js";
import { Toolbar } from "./toolbar.js";
import { Camera } from "./camera.js";
import { h } from "./dom.js";
import { FrameLoop } from "./frame_loop.js";
import { watchFileDrops } from "./file_drop.js";
import { ItemPreview } from "./item_preview.js";
import { FilmStrip } from "./film_strip.js";
import { PointerInput } from "./pointer.js";
import { watchPageChanges } from "./page_change.js";
import { Keys } from "./keys.js";
import { Layers } from "./layers.js";
import { Legend } from "./legend.js";
import { LiveLayout } from "./live_layout.js";
import { Outline } from "./outline.js";
import { Overlay } from "./overlay.js";
import { Points, fetchTrust } from "./points.js";
import { offerPanel, watchPanel } from "./panel.js";
import { watchProposedPairs } from "./proposed_pairs.js";
import { Regions } from "./regions.js";
import { remember } from "./remember.js";
import { watchScheme } from "./color_scheme.js";
import { Selection } from "./selection.js";
import { Tooltip } from "./tooltip.js";
import { LinkedMaps } from "./linked_maps.js";
import { Transition } from "./transition.js";
import { View } from "./view.js";

/** Show a map in `root`, or update the existing one. */
export function mount(root, component) {
  root.hvMap ??= new HetMap(root);
  const map = root.hvMap;
  map.updates.update(component);
  // Streamlit also closes an older call while a newer one is running; only a map that has left the
  // page is closed.
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
      pos: new Float32Array(0), isShown: new Uint8Array(0),
      slot: new Uint8Array(0), palette: ["#999999"], picked: new Uint8Array(0), count: 0,
      version: -1, links: [], linksTotal: 0, order: [], cursor: -1, hovered: -1, sketch: null,
      ghosts: null, moving: false, flight: null, motion: null, isClosed: false, focus: null, trustOverlay: false, trust: null,
      pausedUntil: 0, pointerDown: false,
      stats: { frames: 0, draws: 0, paints: 0, ms: [], polls: 0, fps: 0, map: this },
    });
    root.replaceChildren();
    this.liveRegion = h("div", { class: "hv-live-region", role: "status", "aria-live": "polite" });
    const canvas = h("canvas", { class: "hv-overlay", "aria-hidden": "true" });
    this.note = h("div", { class: "hv-note" }, "Drawing the map…");
    stage.append(canvas, this.note);
    this.updates = new Updates(this);
    this.camera = new Camera(this);
    this.frameLoop = new FrameLoop(this);
    this.layers = new Layers(this);
    this.selection = new Selection(this);
    this.transition = new Transition(this);
    this.points = new Points(this);
    this.regions = new Regions(this);
    this.overlay = new Overlay(canvas, this);
    this.outline = new Outline(this);
    this.tooltip = new Tooltip(this);
    this.itemPreview = new ItemPreview(this);
    this.linkedMaps = new LinkedMaps(this);
    this.statements = new Statements(this);
    this.toolbar = new Toolbar(this);
    this.legend = new Legend(this);
    this.filmStrip = new FilmStrip(this);
    this.liveLayout = new LiveLayout(this);
    this.pointer = new PointerInput(this);
    this.keys = new Keys(this);
    root.append(stage, this.toolbar.element, this.legend.element, this.filmStrip.element, this.liveRegion);
    root.__hv = this.stats;
    this.observer = new ResizeObserver(() => this.camera.resize());
    this.observer.observe(stage);
    this.cleanups = [
      watchScheme(() => this.updates.recolour()),
      watchPanel(() => requestAnimationFrame(() => this.camera.followPanel())),
      watchProposedPairs((pairs) => {
        this.camera.showRows(pairs[0]?.slice(0, 2) ?? []);
        this.requestDraw({ paint: true, place: true });
      }),
    ];
    watchFileDrops();
    watchPageChanges();
    document.fonts?.ready.then(() => this.requestDraw({ place: true }));
  }

  /** Request a frame that redraws the camera ("view"), points ("pos") or more. */
  requestDraw(what = {}) { this.frameLoop.requestDraw(what); }

  select(rows, how) { this.selection.select(rows, how); }

  /** Show or hide the overlay on unreliable areas. */
  async toggleTrustOverlay() {
    this.trustOverlay = !this.trustOverlay;
    this.toolbar.update();
    this.announce(this.trustOverlay ? "Unreliable areas are marked" : "Unreliable areas are not marked");
    await this.loadTrust();
    this.requestDraw({ paint: true });
  }

  /** Load the trust of the items if the overlay is on. */
  async loadTrust() {
    const { data } = this;
    const key = `${data.geometry.id}-${data.fingerprint}`;
    if (!this.trustOverlay || data.live || this.trustKey === key) return;
    Object.assign(this, { trustKey: key, trust: null });
    try {
      const trust = await fetchTrust(data.session, key, () => !this.isClosed && this.trustOverlay && this.trustKey === key);
      if (this.trustKey === key) this.trust = trust?.length === this.n ? trust : null;
      // A failed request is repeated with the next update.
      if (this.trustKey === key && !this.trust) this.trustKey = null;
    } catch {
      this.trustKey = null;
    }
    this.requestDraw({ paint: true });
  }

  pickedRows() { return this.selection.rows(); }

  setTool(tool) {
    this.tool = tool;
    this.stage.dataset.tool = tool;
    this.toolbar.update();
    remember(this);
  }

  /** Show the selection in the panel, unless the user closed it. */
  offer() { if (this.data.stage) offerPanel("Item"); }

announce(words) { this.liveRegion.textContent = words; }

  close() {
    this.isClosed = true;
    for (const stop of this.cleanups) stop();
    this.observer.disconnect();
    this.camera.close();
    this.frameLoop.close();
    this.transition.close();
    this.pointer.close();
    this.keys.close();
    this.outline.close();
    this.statements.close();
    this.toolbar.close();
    this.filmStrip.close();
    this.legend.close();
    this.tooltip.close();
    this.itemPreview.close();
    this.linkedMaps.leave();
    this.liveLayout.stop();
    this.media?.close();
    this.points.close();
  }
}
