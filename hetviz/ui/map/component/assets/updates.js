// Updates from Python: a small description with keys of arrays. The arrays are fetched once by key, then
// all parts of the map apply the changes.

import { followCharts } from "./charts.js";
import { colourSlots } from "./colors.js";
import { Media } from "./media.js";
import { awaitPanel } from "./panel.js";
import { remember, remembered } from "./remember.js";
import { scheme } from "./color_scheme.js";
import { MissingArray, array, loadStyle, loadLayout } from "./store.js";

/** @import { HetMap } from "./map.js" */
/** @import { MapSpec } from "./messages.js" */

export class Updates {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.ticket = 0;
    this.painted = null;
    this.wasGeography = false;
  }

  async update(component) {
    const { map, scene } = this;
    const data = map.geography.dataFor(component.data);
    map.component = component;
    const ticket = ++this.ticket;
    this.applyAppearance(data);
    if (scene.data && scene.data.n !== data.n) {
      // The map of other data must not stand under the new title.
      map.root.toggleAttribute("data-known", false);
      map.note.hidden = false;
    }
    // Intermediate layouts of a job can be shown before the arrays are here.
    if (data.live && scene.data?.n === data.n) map.liveLayout.follow(data.live, data.session);
    try {
      const arrays = await this.fetch(data);
      if (ticket === this.ticket && !scene.isClosed) this.receive(data, arrays);
    } catch (error) {
      if (ticket !== this.ticket || scene.isClosed) return;
      if (error instanceof MissingArray) component.setTriggerValue("missing", error.message);
      // The server may be restarting; try again.
      setTimeout(() => ticket === this.ticket && !scene.isClosed && this.update(component), 2500);
    }
  }

  /** Set size and colours of the component. @param {MapSpec} data */
  applyAppearance(data) {
    const { root } = this.map;
    root.style.height = data.height;
    root.dataset.mode = data.mode;
    root.dataset.place = data.place ?? "map";
    root.toggleAttribute("data-stage", Boolean(data.stage));
    this.applyColours(data);
  }

  /** Set the colours of the current theme. @param {MapSpec} data */
  applyColours(data) {
    const { map, scene } = this;
    const { root } = map;
    scene.scheme = scheme();
    root.dataset.theme = scene.scheme;
    for (const [name, value] of Object.entries(data.tokens[scene.scheme])) {
      if (typeof value === "string") root.style.setProperty(`--m-${name.replaceAll("_", "-")}`, value);
    }
  }

  /** Redraw in the colours of a new theme. */
  recolour() {
    const { map, scene } = this;
    if (!scene.data) return;
    const previous = scene.scheme;
    this.applyColours(scene.data);
    scene.tokens = scene.data.tokens[scene.scheme];
    Object.assign(scene, colourSlots(scene.data.colour, scene.values, scene.pale, scene.n, scene.scheme, scene.tokens.bg));
    map.toolbar.update();
    map.legend.update();
    // Texts keep their places. Thumbnails follow after the map.
    map.requestDraw({ paint: true });
    requestAnimationFrame(() => setTimeout(() => {
      if (scene.isClosed) return;
      map.filmStrip.update();
      if (scene.data.stage) followCharts(scene, previous);
    }));
  }

  /** @param {MapSpec} data */
  async fetch(data) {
    const get = (key, type) => (key ? array(data.session, key, type) : null);
    const groups = Object.entries(data.draft?.groups ?? {});
    const newer = data.selection.version > remembered(this.scene, data).version;
    const isNewMap = this.scene.data?.n !== data.n;
    const [geometry, values, pale, mask, failed, order, bits, rows] = await Promise.all([
      loadLayout(data.session, data.geometry, data.n, isNewMap ? (pos) => this.addPiece(pos) : null),
      get(data.colour?.key, data.colour?.kind === "numbers" ? "f4" : "i1"),
      get(data.colour?.pale, "u1"),
      get(data.mask, "u1"), get(data.charts?.failed, "i4"), get(data.order, "i4"),
      newer ? get(data.selection.key, "u1") : null,
      Promise.all(groups.map(([, key]) => get(key, "i4"))),
      loadStyle(),
    ]);
    const grouped = new Map(groups.map(([name], k) => [name, Array.from(rows[k])]));
    return { geometry, values, pale, mask, failed, order, bits, grouped };
  }

  receive(data, { geometry, values, pale, mask, failed, order, bits, grouped }) {
    const { map, scene } = this;
    const previous = scene.data;
    map.stories.prepare(data);
    const restored = remembered(scene, data);
    if (data.stage && data.mode === "work") awaitPanel(data);
    const isNewMap = !previous || previous.n !== data.n;
    const isSameView = this.wasGeography === scene.isGeography;
    this.wasGeography = scene.isGeography;
    Object.assign(scene, {
      data, n: data.n, tokens: data.tokens[scene.scheme], family: getComputedStyle(map.root).fontFamily,
      order: order || [], mask,
    });
    if (!data.stage) scene.view.k = data.frame.stretch || 1;
    this.updateMedia(data);
    if (isNewMap) this.resetMap(data, geometry, restored);
    map.selection.receive(data, bits, isNewMap);
    map.layers.receive(data);
    if (data.terrain !== previous?.terrain) scene.switches.terrain = data.terrain;
    // Cards depend on positions and colours.
    if (values !== scene.values || geometry !== scene.geometry) map.media.cards.clear();
    if (values !== scene.values || data.colour !== previous?.colour) {
      Object.assign(scene, colourSlots(data.colour, values, pale, scene.n, scene.scheme, scene.tokens.bg), { values, pale });
    }
    map.periods.receive(data);
    map.dock.receive(data, failed);
    map.stage.setAttribute("aria-label", `${data.alt} Press question mark for the keys.`);
    map.layers.update();
    const isOnPage = !["data", "compare", "export"].includes(data.place);
    if (isOnPage !== scene.isOnPage) {
      map.requestDraw({ view: true });
      // Browsers may clear a canvas that was hidden for long.
      if (isOnPage) map.points.redraw();
    }
    scene.isOnPage = isOnPage;
    const modeChanged = previous && (previous.mode !== data.mode || previous.stage !== data.stage);
    if (isNewMap || modeChanged) map.camera.begin(data, isNewMap ? restored : {});
    else if (geometry !== scene.geometry) map.transition.start(geometry, isSameView);
    map.linkedMaps.joinGroup(data.linked_group);
    map.statements.receive(data, grouped);
    map.toolbar.update();
    map.legend.update();
    map.filmStrip.update();
    // A second map brings its strip.
    if (!scene.view.zoomed) map.camera.followPanel();
    map.demo.receive(data);
    map.root.toggleAttribute("data-known", true);
    map.note.hidden = true;
    map.liveLayout.follow(data.live, data.session);
    if (!data.live) map.transition.moveToGeometry();
    scene.moving = Boolean(data.live) || Boolean(scene.motion);
    map.trust.load();
    map.spread.load();
    map.sharedSelections.start();
    const datasetsChanged = isNewMap || previous.datasets.some(({ name }, k) => name !== data.datasets[k]?.name);
    if (datasetsChanged) map.regions.clear();
    map.regions.load();
    map.geography.load();
    map.itemPreview.prepare();
    map.stories.receive(data);
    remember(map.scene);
    this.draw(isNewMap);
  }

  /** Show another piece of a large map. @param {Float32Array} pos */
  addPiece(pos) {
    const { map, scene } = this;
    if (scene.isClosed || scene.geometry !== pos || scene.motion) return;
    scene.pos = Float32Array.from(pos);
    map.layers.update();
    map.legend.update();
    map.points.layout(scene.pos.slice(), null, () => map.requestDraw({ paint: true, place: true }));
  }

  /** @param {MapSpec} data */
  updateMedia(data) {
    const { map } = this;
    const version = data.fingerprint || `${data.session}${data.order || ""}`;
    if (version === map.media?.version) return;
    map.media?.close();
    map.media = new Media(data.session, version, () => map.requestDraw({ place: true }));
  }

  /** Reset the map for other items: positions are used without a transition. @param {MapSpec} data */
  resetMap(data, geometry, restored) {
    const { map, scene } = this;
    Object.assign(scene, {
      picked: restored.picked || new Uint8Array(scene.n), count: restored.picked ? restored.count : 0,
      version: restored.version, tool: data.mode === "work" ? restored.tool || scene.tool : "move",
      links: [], pos: Float32Array.from(geometry), geometry,
      cursor: -1, hovered: -1, sketch: null, ghosts: null, flight: null, motion: null,
    });
    map.trust.clear();
    map.spread.clear();
    map.points.begin();
    map.points.layout(scene.pos.slice(), null, () => map.requestDraw({ paint: true, place: true }));
    map.keys.walk = null;
    map.tooltip.show(-1);
    map.transition.target = geometry;
  }

  /** @param {boolean} isNewMap */
  draw(isNewMap) {
    const { map, scene } = this;
    const { data } = scene;
    // Most reruns of the page change no colour or state of a point.
    const painted = JSON.stringify([
      data.geometry.id, data.colour, data.mask, scene.hidden, scene.scheme, scene.version, data.mode, scene.isGeography,
    ]);
    map.requestDraw({ paint: isNewMap || painted !== this.painted, place: true });
    this.painted = painted;
  }
}
