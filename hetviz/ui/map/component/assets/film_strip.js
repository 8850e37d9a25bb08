// Thumbnails of all maps, and an overview that shows the camera. Hovering a thumbnail previews that map,
// a click opens it.

import { aligned } from "./align.js";
import { h } from "./dom.js";
import { send } from "./page_change.js";
import { RovingFocus } from "./roving_focus.js";
import { MAPS, shareClose, panel, watchShareClose, watchPanel } from "./panel.js";
import { loadLayout } from "./store.js";
import { frameOf } from "./view.js";

const [WIDE, HIGH] = [60, 46];
const MAX_DOTS = 3000;
const PREVIEW_DELAY_MS = 160;

export class FilmStrip {
  constructor(map) {
    this.map = map;
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
    watchShareClose(() => map.data && !map.isClosed && this.drawnState !== JSON.stringify(this.maps()) && this.update());
  }

  /** The maps, each with its share of close links if known. */
  maps() { return (this.map.data.film ?? []).map((entry) => ({ ...entry, kept: entry.kept ?? shareClose(entry.id) })); }

  update() {
    const { data } = this.map;
    if (!data.stage || data.mode !== "work") return;
    const entries = this.maps();
    const state = JSON.stringify(entries);
    if (state !== this.drawnState) {
      this.drawnState = state;
      this.rovingFocus.redraw(() => this.row.replaceChildren(...entries.map((entry) => this.frame(entry))));
      this.list.replaceChildren(...entries.map((entry) => this.frame(entry)));
    }
    this.layOutList();
    this.draw();
  }

  /** Show the maps as a list in the sheet of a narrow window. */
  layOutList() {
    const body = document.querySelector(".st-key-panel-body");
    const { data } = this.map;
    const shown = body && panel.open && panel.tab === MAPS && data?.stage && data.mode === "work";
    if (!shown) {
      this.list.remove();
      return;
    }
    // Not in the panel, whose children belong to Streamlit.
    if (!this.list.isConnected) document.querySelector(".stApp").append(this.list);
    // After the sheet has its new height.
    requestAnimationFrame(() => {
      const { left, top } = body.getBoundingClientRect();
      Object.assign(this.list.style, { left: `${left}px`, top: `${top}px`, width: `${body.clientWidth}px`, height: `${body.clientHeight}px` });
    });
  }

  frame(entry) {
    const canvas = h("canvas", { "aria-hidden": "true" });
    const caption = entry.kept !== null ? `${entry.kept} % of links are close` : entry.agrees ? `${Math.round(100 * entry.agrees)} % of comparisons hold` : "";
    return h("button", {
      type: "button", "aria-pressed": String(entry.shown), "data-run": entry.id, title: entry.title,
      onclick: () => this.choose(entry), onpointerenter: () => this.preview(entry), onpointerleave: () => this.endPreview(),
    }, canvas, h("span", {}, h("b", {}, entry.title), h("small", {}, caption)));
  }

  choose(entry) {
    clearTimeout(this.timer);
    this.previewed = null;
    if (!entry.shown) send(() => this.map.component.setTriggerValue("run", entry.id));
  }

  /** Preview the positions of another map. */
  preview(entry) {
    const { map } = this;
    clearTimeout(this.timer);
    if (entry.shown || map.data.live) return;
    this.timer = setTimeout(async () => {
      const pos = await loadLayout(map.data.session, entry.geometry, map.n).catch(() => null);
      const to = pos && !map.isClosed && aligned(pos, map.geometry, map.isShown);
      if (!to) return;
      for (let k = 0; k < to.length; k++) if (Number.isNaN(to[k])) to[k] = map.geometry[k];
      this.previewed = entry.id;
      map.transition.move(to, 240);
    }, PREVIEW_DELAY_MS);
  }

  endPreview() {
    clearTimeout(this.timer);
    if (!this.previewed) return;
    this.previewed = null;
    this.map.transition.move(this.map.geometry, 240);
  }

  async draw() {
    const { map } = this;
    for (const button of [...this.row.children, ...this.list.children]) {
      const entry = map.data.film?.find((other) => other.id === button.dataset.run);
      const pos = entry && await loadLayout(map.data.session, entry.geometry, map.n).catch(() => null);
      if (pos && !map.isClosed) this.dots(button.querySelector("canvas"), pos, WIDE, HIGH);
    }
    this.drawOverview();
  }

  dots(canvas, pos, W, H) {
    const { map } = this;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: W * ratio, height: H * ratio });
    Object.assign(canvas.style, { width: `${W}px`, height: `${H}px` });
    const ctx = canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    const frame = frameOf(pos, map.isShown);
    const s = Math.min(W / (frame.x[1] - frame.x[0]), H / (frame.y[1] - frame.y[0]));
    const place = (r) => [
      W / 2 + (pos[2 * r] - (frame.x[0] + frame.x[1]) / 2) * s, H / 2 - (pos[2 * r + 1] - (frame.y[0] + frame.y[1]) / 2) * s,
    ];
    const step = Math.max(1, Math.floor(map.n / MAX_DOTS));
    for (let r = 0; r < map.n; r += step) {
      if (!map.isShown[r]) continue;
      const [x, y] = place(r);
      ctx.fillStyle = map.palette[map.slot[r]];
      ctx.fillRect(x - 0.7, y - 0.7, 1.4, 1.4);
    }
    return { frame, s, place };
  }

  /** Draw the overview with the window of the camera. */
  drawOverview() {
    const { map } = this;
    if (!map.data?.stage || map.data.mode !== "work" || !map.shown) return;
    const [W, H] = [104, 62];
    this.at = { ...this.dots(this.mini, map.pos, W, H), W, H };
    const { frame, s } = this.at;
    const { x, y } = map.view.range;
    const ctx = this.mini.getContext("2d");
    const px = (v) => W / 2 + (v - (frame.x[0] + frame.x[1]) / 2) * s;
    const py = (v) => H / 2 - (v - (frame.y[0] + frame.y[1]) / 2) * s;
    ctx.strokeStyle = map.tokens.ink;
    ctx.lineWidth = 1.4;
    const [x0, y0] = [Math.max(px(x[0]), 1), Math.max(py(y[1]), 1)];
    ctx.strokeRect(x0, y0, Math.min(px(x[1]), W - 1) - x0, Math.min(py(y[0]), H - 1) - y0);
  }

  press(event) {
    const { map } = this;
    if (!this.at) return;
    const box = this.mini.getBoundingClientRect();
    const { frame, s, W, H } = this.at;
    const cx = (event.clientX - box.left - W / 2) / s + (frame.x[0] + frame.x[1]) / 2;
    const cy = -(event.clientY - box.top - H / 2) / s + (frame.y[0] + frame.y[1]) / 2;
    map.camera.fly({ ...map.view.at(), cx, cy }, 120);
  }

  close() {
    clearTimeout(this.timer);
    removeEventListener("resize", this.onResize);
    this.stop();
    this.list.remove();
  }
}
