// Updates from Python: a small description with keys of arrays. The arrays are fetched once by key, then
// all parts of the map apply the changes.

import { followCharts } from "./charts.js";
import { colourSlots } from "./colors.js";
import { Media } from "./media.js";
import { awaitPanel } from "./panel.js";
import { remember, remembered } from "./remember.js";
import { scheme } from "./color_scheme.js";
import { MissingArray, array, loadStyle, loadLayout } from "./store.js";

export class Updates {
  constructor(map) { Object.assign(this, { map, ticket: 0, painted: null }); }

  async update(component) {
    const { map } = this;
    const { data } = component;
    map.component = component;
    const ticket = ++this.ticket;
    this.applyAppearance(data);
    // Intermediate layouts of a job can be shown before the arrays are here.
    if (data.live && map.data?.n === data.n) map.liveLayout.follow(data.live, data.session);
    try {
      const arrays = await this.fetch(data);
      if (ticket === this.ticket && !map.isClosed) this.receive(data, arrays);
    } catch (error) {
      if (ticket !== this.ticket || map.isClosed) return;
      if (error instanceof MissingArray) component.setTriggerValue("missing", error.message);
      // The server may be restarting; try again.
      setTimeout(() => ticket === this.ticket && !map.isClosed && this.update(component), 2500);
    }
  }

  /** Set size and colours of the component. */
applyAppearance(data) {
    const { root } = this.map;
    root.style.height = data.height;
    root.dataset.mode = data.mode;
    root.dataset.place = data.place ?? "map";
    root.toggleAttribute("data-stage", Boolean(data.stage));
    this.applyColours(data);
  }

  /** Set the colours of the current theme. */
  applyColours(data) {
    const { map } = this;
    const { root } = map;
    map.scheme = scheme();
    root.dataset.theme = map.scheme;
    for (const [name, value] of Object.entries(data.tokens[map.scheme])) {
      if (typeof value === "string") root.style.setProperty(`--m-${name.replaceAll("_", "-")}`, value);
    }
  }

  /** Redraw in the colours of a new theme. */
  recolour() {
    const { map } = this;
    if (!map.data) return;
    const previous = map.scheme;
    this.applyColours(map.data);
    map.tokens = map.data.tokens[map.scheme];
    Object.assign(map, colourSlots(map.data.colour, map.values, map.n, map.scheme));
    map.toolbar.update();
    map.legend.update();
    // Texts keep their places. Thumbnails follow after the map.
    map.requestDraw({ paint: true });
    requestAnimationFrame(() => setTimeout(() => {
      if (map.isClosed) return;
      map.filmStrip.update();
      if (map.data.stage) followCharts(map, previous);
    }));
  }

  async fetch(data) {
    const get = (key, type) => (key ? array(data.session, key, type) : null);
    const groups = Object.entries(data.acts?.groups ?? {});
    const newer = data.selection.version > remembered(this.map, data).version;
    const isNewMap = this.map.data?.n !== data.n;
    const [geometry, values, mask, order, bits, rows] = await Promise.all([
      loadLayout(data.session, data.geometry, data.n, isNewMap ? (pos) => this.addPiece(pos) : null),
      get(data.colour?.key, data.colour?.kind === "numbers" ? "f4" : "i1"),
      get(data.mask, "u1"), get(data.order, "i4"),
      newer ? get(data.selection.key, "u1") : null,
      Promise.all(groups.map(([, key]) => get(key, "i4"))),
      loadStyle(),
    ]);
    const grouped = new Map(groups.map(([name], k) => [name, Array.from(rows[k])]));
    return { geometry, values, mask, order, bits, grouped };
  }

  receive(data, { geometry, values, mask, order, bits, grouped }) {
    const { map } = this;
    const previous = map.data;
    const restored = remembered(map, data);
    if (data.stage && data.selection.count) awaitPanel();
    const isNewMap = !previous || previous.n !== data.n;
    Object.assign(map, {
      data, n: data.n, tokens: data.tokens[map.scheme], family: getComputedStyle(map.root).fontFamily,
      order: order || [], mask,
    });
    if (!data.stage) map.view.k = data.frame.stretch || 1;
    this.updateMedia(data);
    if (isNewMap) this.resetMap(data, geometry, restored);
    map.selection.receive(data, bits, isNewMap);
    map.layers.receive(data);
    // Cards depend on positions and colours.
    if (values !== map.values || geometry !== map.geometry) map.media.cards.clear();
    if (values !== map.values || data.colour !== previous?.colour) {
      Object.assign(map, colourSlots(data.colour, values, map.n, map.scheme), { values });
    }
    map.stage.setAttribute("aria-label", `${data.alt} Press question mark for the keys.`);
    map.layers.update();
    const shown = !["data", "compare", "export"].includes(data.place);
    if (shown !== map.shown) {
      map.requestDraw({ view: true });
      // Browsers may clear a canvas that was hidden for long.
      if (shown) map.points.redraw();
    }
    map.shown = shown;
    const modeChanged = previous && (previous.mode !== data.mode || previous.stage !== data.stage);
    if (isNewMap || modeChanged) map.camera.begin(data, isNewMap ? restored : {});
    else if (geometry !== map.geometry) map.transition.start(geometry);
    map.linkedMaps.joinGroup(data.together);
    map.statements.receive(data, grouped);
    map.toolbar.update();
    map.legend.update();
    map.filmStrip.update();
    map.root.toggleAttribute("data-known", true);
    map.note.hidden = true;
    map.liveLayout.follow(data.live, data.session);
    if (!data.live) map.transition.moveToGeometry();
    map.moving = Boolean(data.live) || Boolean(map.motion);
    map.loadTrust();
    const datasetsChanged = isNewMap || previous.datasets.some(({ name }, k) => name !== data.datasets[k]?.name);
    if (datasetsChanged) map.regions.clear();
    map.regions.load();
    remember(map);
    this.draw(isNewMap);
  }

  /** Show another piece of a large map. */
  addPiece(pos) {
    const { map } = this;
    if (map.isClosed || map.geometry !== pos || map.motion) return;
    map.pos = Float32Array.from(pos);
    map.layers.update();
    map.legend.update();
    map.points.layout(map.pos.slice(), null, () => map.requestDraw({ paint: true, place: true }));
  }

  updateMedia(data) {
    const { map } = this;
    const version = data.fingerprint || `${data.session}${data.order || ""}`;
    if (version === map.media?.version) return;
    map.media?.close();
    map.media = new Media(data.session, version, () => map.requestDraw({ place: true }));
  }

  /** Reset the map for other items: positions are used without a transition. */
  resetMap(data, geometry, restored) {
    const { map } = this;
    Object.assign(map, {
      picked: restored.picked || new Uint8Array(map.n), count: restored.picked ? restored.count : 0,
      version: restored.version, tool: data.mode === "work" ? restored.tool || map.tool : "move",
      links: [], pos: Float32Array.from(geometry), geometry, trust: null, trustKey: null,
      cursor: -1, hovered: -1, sketch: null, ghosts: null, flight: null, motion: null,
    });
    map.points.begin();
    map.points.layout(map.pos.slice(), null, () => map.requestDraw({ paint: true, place: true }));
    map.keys.walk = null;
    map.tooltip.show(-1);
    map.transition.target = geometry;
  }

  draw(isNewMap) {
    const { map } = this;
    const { data } = map;
    // Most reruns of the page change no colour or state of a point.
    const painted = JSON.stringify([
      data.geometry.id, data.colour, data.mask, map.hidden, map.scheme, map.version, data.mode,
    ]);
    map.requestDraw({ paint: isNewMap || painted !== this.painted, place: true });
    this.painted = painted;
  }
}
