// Geography: a second view of the same items at their places on the earth, above an outline of the land.
//
// To the other parts it is a map like any other, so that selection, colours, filters and search are shared.
// What is only true of the map (regions, trust, pins, moves) is left out. Python is not notified.

import { context2d } from "./canvas.js";
import { h, set } from "./dom.js";
import { earthPaths, paintEarth } from "./earth.js";
import { request } from "./requests.js";
import { array } from "./store.js";
import { MORPH_MS } from "./transition.js";

/** @import { HetMap } from "./map.js" */
/** @import { GeographySpec, MapSpec } from "./messages.js" */
/** @import { Place } from "./scene.js" */

const RETRY_MS = 1500;

export class Geography {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {(GeographySpec & { of: string }) | null} */
    this.spec = null;
    /** @type {string | null} Map whose geography was requested. */
    this.requested = null;
    /** @type {Path2D[]} Edge of the projection, and land. */
    this.paths = [];
    /** @type {Place | null} Camera of the other view, if it was zoomed. */
    this.otherCamera = null;
    this.drawnKey = "";
    this.canvas = h("canvas", { class: "hv-earth", "aria-hidden": "true" });
    this.buttons = ["Map", "Geography"].map((label, k) => h("button", { type: "button", onclick: () => this.show(k === 1) }, label));
    this.note = h("span", { class: "hv-views-note" });
    this.element = h("div", { class: "hv-views", hidden: true }, h("div", { role: "group", "aria-label": "View" }, ...this.buttons), this.note);
    map.stage.prepend(this.canvas);
  }

  /** What the parts of the map are to show. @param {MapSpec} data @returns {MapSpec} */
  dataFor(data) {
    const { scene, spec } = this;
    if (spec && spec.of !== keyOf(data)) Object.assign(this, { spec: null, requested: null, otherCamera: null });
    // A new map is watched while it is made.
    if (!this.spec || data.live || data.mode !== "work" || typeof data.story?.at === "number") scene.isGeography = false;
    this.update(data);
    if (!spec || !scene.isGeography) return data;
    return {
      ...data,
      geometry: { ...spec.geometry, id: data.geometry.id },
      frame: spec.frame, outside: spec.outside, unplaced: 0, notes: [], names: [], camera: null, refitted: false, pins: [],
      spread: null, ...(data.draft ? { draft: { ...data.draft, moves: [] } } : {}),
    };
  }

  /** Load the geography of the map once, if its items have coordinates. */
  async load() {
    const { map, scene } = this;
    const { data } = scene;
    const { id } = data.geometry;
    if (!data.stage || data.mode !== "work" || data.live || this.requested === id) return;
    this.requested = id;
    try {
      const response = await request(`hv/geography/${data.session}?of=${id}`);
      const { pending, geography } = response.ok ? await response.json() : { pending: false, geography: null };
      const outlines = geography && await array(data.session, geography.outlines, "f4");
      if (scene.isClosed || this.requested !== id) return;
      if (pending) {
        // A worker reads the columns.
        setTimeout(() => {
          if (this.requested === id) this.requested = null;
          if (!scene.isClosed) this.load();
        }, RETRY_MS);
        return;
      }
      this.spec = geography && { ...geography, of: keyOf(data) };
      this.paths = outlines ? earthPaths(outlines) : [];
    } catch {
      // The server may be restarting; the next update loads again.
      this.requested = null;
      return;
    }
    this.update(scene.data);
    if (scene.isGeography) map.updates.update(map.component);
  }

  /** Show the geography, or the map again. @param {boolean} isGeography */
  show(isGeography) {
    const { map, scene, otherCamera } = this;
    const { view } = scene;
    if (isGeography === scene.isGeography || (isGeography && !this.spec)) return;
    this.otherCamera = view.zoomed ? view.at() : null;
    scene.isGeography = isGeography;
    view.zoomed = false;
    map.updates.update(map.component).then(() => otherCamera && map.camera.fly(otherCamera, MORPH_MS));
    map.announce(isGeography ? `Geography. ${this.spec?.note ?? ""}` : "Map");
  }

  /** @param {MapSpec} data */
  update(data) {
    const { scene, spec } = this;
    this.element.hidden = !spec || Boolean(data.live) || data.mode !== "work";
    this.buttons.forEach((button, k) => set(button, { "aria-pressed": String(scene.isGeography === (k === 1)) }));
    this.note.textContent = scene.isGeography && spec ? spec.note : "";
    set(document.documentElement, { "data-hv-geography": scene.isGeography ? "" : null });
    this.canvas.toggleAttribute("data-shown", scene.isGeography);
  }

  /** Draw the land for this camera, unless it is drawn already. */
  draw() {
    const { scene, canvas } = this;
    const { view: { cx, cy, s, k, W, H }, scheme } = scene;
    // The last picture fades out.
    if (!scene.isGeography || !this.paths.length) return;
    const ratio = globalThis.devicePixelRatio || 1;
    const key = [cx, cy, s, k, W, H, scheme, ratio, this.spec?.outlines].join();
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    Object.assign(canvas, { width: Math.round(W * ratio), height: Math.round(H * ratio) });
    const ctx = context2d(canvas);
    ctx.scale(ratio, ratio);
    this.paint(ctx);
  }

  /** Draw the land into a context of the size of the map. @param {CanvasRenderingContext2D} ctx */
  paint(ctx) {
    const { scene: { view, tokens, isGeography }, spec, paths } = this;
    if (isGeography && spec && paths.length) paintEarth(ctx, view, paths, spec.per_km, tokens);
  }

  close() { set(document.documentElement, { "data-hv-geography": null }); }
}

/** The items of a map, whichever it is. @param {MapSpec} data */
const keyOf = (data) => `${data.session}/${data.n}`;
