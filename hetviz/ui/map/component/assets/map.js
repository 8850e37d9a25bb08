// Map component: the scene that all parts share, and the parts, which each do one thing.
//
// The browser owns selection and camera while the map is open. Python's selection is used when the map
// mounts, and whenever it has a higher version than ours (undo, clear, search).

import { Statements } from "./statements.js";
import { Updates } from "./updates.js";
import { Toolbar } from "./toolbar.js";
import { Camera } from "./camera.js";
import { ChartDock } from "./chart_dock.js";
import { Demo } from "./demo.js";
import { h } from "./dom.js";
import { FrameLoop } from "./frame_loop.js";
import { watchFileDrops } from "./file_drop.js";
import { ItemPreview } from "./item_preview.js";
import { FilmStrip } from "./film_strip.js";
import { Geography } from "./geography.js";
import { PeriodSteps } from "./period_steps.js";
import { PointerInput } from "./pointer.js";
import { watchPageChanges } from "./page_change.js";
import { Keys } from "./keys.js";
import { Layers } from "./layers.js";
import { Legend } from "./legend.js";
import { LiveLayout } from "./live_layout.js";
import { Outline } from "./outline.js";
import { Overlay } from "./overlay.js";
import { Points } from "./points.js";
import { offerPanel, watchPanel } from "./panel.js";
import { watchPanelItems } from "./panel_items.js";
import { watchProposedPairs } from "./proposed_pairs.js";
import { Regions } from "./regions.js";
import { remember } from "./remember.js";
import { watchScheme } from "./color_scheme.js";
import { Scene } from "./scene.js";
import { watchSentenceField } from "./search.js";
import { Selection } from "./selection.js";
import { Tooltip } from "./tooltip.js";
import { LinkedMaps } from "./linked_maps.js";
import { Transition } from "./transition.js";
import { SharedSelections } from "./shared_selections.js";
import { Spread } from "./spread.js";
import { Stories } from "./stories.js";
import { Trust } from "./trust.js";

/** @import { Media } from "./media.js" */
/** @import { Component, MapSpec } from "./messages.js" */

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

export class HetMap {
  constructor(root) {
    const stage = h("div", { class: "hv-stage", tabindex: 0, role: "application" });
    this.root = root;
    this.stage = stage;
    this.scene = new Scene();
    /** @type {Component<MapSpec>} */
    this.component = /** @type {any} */ (null);
    /** @type {Media} */
    this.media = /** @type {any} */ (null);
    /** @type {{ frames: number, draws: number, paints: number, ms: number[], polls: number, fps: number, map: HetMap } & Record<string, any>} */
    this.stats = { frames: 0, draws: 0, paints: 0, ms: [], polls: 0, fps: 0, map: this };
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
    this.trust = new Trust(this);
    this.spread = new Spread(this);
    this.sharedSelections = new SharedSelections(this);
    this.regions = new Regions(this);
    this.overlay = new Overlay(canvas, this);
    this.outline = new Outline(this);
    this.tooltip = new Tooltip(this);
    this.itemPreview = new ItemPreview(this);
    this.linkedMaps = new LinkedMaps(this);
    this.statements = new Statements(this);
    this.toolbar = new Toolbar(this);
    this.legend = new Legend(this);
    this.periods = new PeriodSteps(this);
    this.dock = new ChartDock(this);
    this.filmStrip = new FilmStrip(this);
    this.geography = new Geography(this);
    this.demo = new Demo(this);
    this.liveLayout = new LiveLayout(this);
    this.stories = new Stories(this);
    this.pointer = new PointerInput(this);
    this.keys = new Keys(this);
    root.append(stage, this.dock.element, this.toolbar.element, this.geography.element, this.legend.element, this.filmStrip.element, this.demo.element, this.stories.element, this.liveRegion);
    root.__hv = this.stats;
    this.observer = new ResizeObserver(() => this.camera.resize());
    this.observer.observe(stage);
    this.cleanups = [
      watchScheme(() => this.updates.recolour()),
      watchPanel(() => requestAnimationFrame(() => {
        this.camera.followPanel();
        this.requestDraw({ place: true });
      })),
      watchProposedPairs((pairs) => {
        this.camera.showRows(pairs[0]?.slice(0, 2) ?? []);
        this.requestDraw({ paint: true, place: true });
      }),
      watchPanelItems(this),
      watchSentenceField(this),
    ];
    watchFileDrops();
    watchPageChanges();
    document.fonts?.ready.then(() => this.requestDraw({ place: true }));
  }

  /** Request a frame that redraws the camera ("view"), points ("pos") or more. */
  requestDraw(what = {}) { this.frameLoop.requestDraw(what); }

  setTool(tool) {
    this.scene.tool = tool;
    this.stage.dataset.tool = tool;
    this.toolbar.update();
    remember(this.scene);
  }

  /** Show the selection in the panel, unless the user closed it. */
  offer() { if (this.scene.data.stage) offerPanel("Item"); }

  /** Select an item, also of a hidden layer, and bring it into view; false if it has no position. */
  visit(row, mode = "replace") {
    if (!this.isPlaced(row)) return false;
    this.showLayer(row);
    this.selection.select([row], mode);
    this.camera.flyTo(row);
    return true;
  }

  /** Put an item into the sentence and bring it into view; false if it has no position. @param {string} group */
  complete(group, row) {
    if (!this.isPlaced(row)) return false;
    this.showLayer(row);
    this.statements.setRows(group, [row]);
    this.camera.flyTo(row);
    return true;
  }

  isPlaced(row) { return !Number.isNaN(this.scene.pos[2 * row] ?? NaN); }

  showLayer(row) {
    const dataset = this.scene.datasetOf(row);
    if (dataset && this.scene.hidden.includes(dataset.name)) this.layers.toggle(dataset.name);
  }

  announce(words) { this.liveRegion.textContent = words; }

  close() {
    this.scene.isClosed = true;
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
    this.geography.close();
    this.periods.close();
    this.dock.close();
    this.legend.close();
    this.tooltip.close();
    this.itemPreview.close();
    this.linkedMaps.leave();
    this.liveLayout.stop();
    this.sharedSelections.close();
    this.demo.close();
    this.stories.close();
    this.media?.close();
    this.points.close();
  }
}
