// Thumbnails of all maps, and an overview that shows the camera. Hovering a thumbnail previews that map,
// a click opens it.

import { aligned } from "./align.js";
import { context2d } from "./canvas.js";
import { h, set } from "./dom.js";
import { send } from "./page_change.js";
import { RovingFocus } from "./roving_focus.js";
import { MAPS, TABS, bestCloseText, closeText, openTab, panel, watchCloseTexts, watchPanel } from "./panel.js";
import { loadLayout } from "./store.js";
import { frameOf } from "./view.js";

/** @import { HetMap } from "./map.js" */

const [WIDE, HIGH] = [60, 46];
const MAX_DOTS = 3000;
const PREVIEW_DELAY_MS = 160;

export class FilmStrip {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.row = h("div", { class: "hv-film-strip hv-map-card", role: "group", "aria-label": "Maps" });
    this.rovingFocus = new RovingFocus(this.row, "button");
    this.mini = h("canvas", { "aria-hidden": "true" });
    this.overview = h("div", {
      class: "hv-overview hv-map-card", "aria-hidden": "true",
      onpointerdown: (event) => this.press(event), onpointermove: (event) => event.buttons && this.press(event),
    }, this.mini);
    this.element = h("div", { class: "hv-map-strip" }, this.row, this.overview);
    this.list = h("div", { class: "hv-maps", role: "tabpanel", "aria-label": MAPS });
    this.onResize = () => this.layOutList();
    this.stop = watchPanel(this.onResize);
    addEventListener("resize", this.onResize);
    watchCloseTexts(() => this.scene.data && !this.scene.isClosed && this.drawnState !== JSON.stringify(this.maps()) && this.update());
  }

  /** The maps, each with its share of close links if known. */
  maps() { return (this.scene.data.film_strip ?? []).map((entry) => ({ ...entry, close: entry.close ?? closeText(entry.id), best_close: bestCloseText() })); }

  update() {
    const { data } = this.scene;
    if (!data.stage || data.mode !== "work") return;
    const entries = this.maps();
    const state = JSON.stringify(entries);
    if (state !== this.drawnState) {
      this.drawnState = state;
      this.rovingFocus.redraw(() => this.row.replaceChildren(...entries.map((entry) => this.frame(entry))));
      this.list.replaceChildren(...entries.map((entry) => this.frame(entry)));
    }
    this.map.legend.say();
    this.layOutList();
    this.draw();
  }

  /** Show the maps as a list in the sheet of a narrow window. */
  layOutList() {
    const body = document.querySelector(".st-key-panel-body");
    const { data } = this.scene;
    const shown = body && panel.open && panel.tab === MAPS && data?.stage && data.mode === "work";
    if (!shown) {
      this.list.remove();
      return;
    }
    // Not in the panel, whose children belong to Streamlit.
    if (!this.list.isConnected) document.querySelector(".stApp")?.append(this.list);
    // After the sheet has its new height.
    requestAnimationFrame(() => {
      const { left, top } = body.getBoundingClientRect();
      Object.assign(this.list.style, { left: `${left}px`, top: `${top}px`, width: `${body.clientWidth}px`, height: `${body.clientHeight}px` });
    });
  }

  frame(entry) {
    const canvas = h("canvas", { "aria-hidden": "true" });
    const caption = entry.close ? entry.close : entry.comparisons_met ? `${Math.round(100 * entry.comparisons_met)} % of comparisons hold` : "";
    return h("button", {
      type: "button", "aria-pressed": String(entry.is_open), "data-run": entry.id, title: [entry.title, entry.close, entry.close && entry.best_close].filter(Boolean).join("\n"),
      onclick: () => this.choose(entry), onpointerenter: () => this.preview(entry), onpointerleave: () => this.endPreview(),
    }, canvas, h("span", {}, h("b", {}, entry.title), h("small", entry.is_open && entry.share_close !== null ? { "data-hv-show": `links/1/given/${entry.id}` } : {}, caption)));
  }

  choose(entry) {
    clearTimeout(this.timer);
    this.previewed = null;
    this.map.geography.show(false);
    if (!entry.is_open) send(() => this.map.component.setTriggerValue("run", entry.id));
  }

  /** Preview the positions of another map. */
  preview(entry) {
    const { map, scene } = this;
    clearTimeout(this.timer);
    if (entry.is_open || scene.data.live || scene.isGeography) return;
    this.timer = setTimeout(async () => {
      const pos = await loadLayout(scene.data.session, entry.geometry, scene.n).catch(() => null);
      const to = pos && !scene.isClosed && aligned(pos, scene.geometry, scene.isShown);
      if (!to) return;
      for (let k = 0; k < to.length; k++) if (Number.isNaN(to[k])) to[k] = scene.geometry[k];
      this.previewed = entry.id;
      map.transition.move(to, 240);
    }, PREVIEW_DELAY_MS);
  }

  endPreview() {
    clearTimeout(this.timer);
    if (!this.previewed) return;
    this.previewed = null;
    this.map.transition.move(this.scene.geometry, 240);
  }

  async draw() {
    const { scene } = this;
    for (const button of /** @type {HTMLElement[]} */ ([...this.row.children, ...this.list.children])) {
      const entry = scene.data.film_strip?.find((other) => other.id === button.dataset.run);
      const pos = entry && await loadLayout(scene.data.session, entry.geometry, scene.n).catch(() => null);
      if (pos && !scene.isClosed) this.dots(button.querySelector("canvas"), pos, WIDE, HIGH);
    }
    this.drawOverview();
  }

  /** @param {Float32Array} pos @param {number} W @param {number} H */
  dots(canvas, pos, W, H) {
    const { scene } = this;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: W * ratio, height: H * ratio });
    Object.assign(canvas.style, { width: `${W}px`, height: `${H}px` });
    const ctx = context2d(canvas);
    ctx.scale(ratio, ratio);
    const frame = frameOf(pos, scene.isShown);
    const s = Math.min(W / (frame.x[1] - frame.x[0]), H / (frame.y[1] - frame.y[0]));
    /** @param {number} r */
    const place = (r) => [
      W / 2 + (pos[2 * r] - (frame.x[0] + frame.x[1]) / 2) * s, H / 2 - (pos[2 * r + 1] - (frame.y[0] + frame.y[1]) / 2) * s,
    ];
    const step = Math.max(1, Math.floor(scene.n / MAX_DOTS));
    for (let r = 0; r < scene.n; r += step) {
      if (!scene.isShown[r]) continue;
      const [x, y] = place(r);
      ctx.fillStyle = scene.palette[scene.slot[r]];
      ctx.fillRect(x - 0.7, y - 0.7, 1.4, 1.4);
    }
    return { frame, s, place };
  }

  /** Draw the overview with the window of the camera. */
  drawOverview() {
    const { scene } = this;
    if (!scene.data?.stage || scene.data.mode !== "work" || !scene.isOnPage) return;
    // A single map needs no strip, and one that is all in view no overview.
    const isSingle = this.maps().length < 2;
    this.row.hidden = isSingle;
    if (isSingle && panel.open && panel.tab === MAPS) openTab(TABS[0]);
    this.overview.hidden = isSingle && !scene.view.zoomed;
    set(document.documentElement, { "data-hv-strip": isSingle ? null : "" });
    set(document.documentElement, { "data-hv-overview": this.overview.hidden ? null : "" });
    const [W, H] = [104, 62];
    this.at = { ...this.dots(this.mini, scene.pos, W, H), W, H };
    const { frame, s } = this.at;
    const { x, y } = scene.view.range;
    const ctx = context2d(this.mini);
    const px = (v) => W / 2 + (v - (frame.x[0] + frame.x[1]) / 2) * s;
    const py = (v) => H / 2 - (v - (frame.y[0] + frame.y[1]) / 2) * s;
    ctx.strokeStyle = scene.tokens.ink;
    ctx.lineWidth = 1.4;
    const [x0, y0] = [Math.max(px(x[0]), 1), Math.max(py(y[1]), 1)];
    ctx.strokeRect(x0, y0, Math.min(px(x[1]), W - 1) - x0, Math.min(py(y[0]), H - 1) - y0);
  }

  press(event) {
    const { map, scene } = this;
    if (!this.at) return;
    const box = this.mini.getBoundingClientRect();
    const { frame, s, W, H } = this.at;
    const cx = (event.clientX - box.left - W / 2) / s + (frame.x[0] + frame.x[1]) / 2;
    const cy = -(event.clientY - box.top - H / 2) / s + (frame.y[0] + frame.y[1]) / 2;
    map.camera.fly({ ...scene.view.at(), cx, cy }, 120);
  }

  close() {
    clearTimeout(this.timer);
    removeEventListener("resize", this.onResize);
    this.stop();
    this.list.remove();
  }
}
