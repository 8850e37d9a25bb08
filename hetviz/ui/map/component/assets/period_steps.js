// Maps of periods: buttons that step through them, and trails of the selected items.

import { withAlpha } from "./colors.js";
import { h, icon, set, thousands } from "./dom.js";
import { send } from "./page_change.js";
import { openPopover } from "./popovers.js";
import { loadLayout } from "./store.js";
import { MORPH_MS } from "./transition.js";

/** @import { HetMap } from "./map.js" */
/** @import { MapSpec, PeriodSpec } from "./messages.js" */
/** @import { Overlay } from "./overlay.js" */

const REST_MS = 700; // ms between two moves while it plays
const [RETRY_MS, MAX_TRIES] = [100, 50];
const ANSWER_MS = 10000; // ms after which a step without an answer is given up
const [MAX_TRAILS, MAX_NAMED] = [60, 6];
const [LINE_PX, DOT_PX, NAME_PX] = [1.6, 3.2, 9];

/** @typedef {[x: number, y: number, map: number]} Stop */

export class PeriodSteps {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {PeriodSpec[]} */
    this.maps = [];
    /** @type {number | null} */
    this.shown = null;
    /** @type {number | null} Map that a person wants, until it is shown. */
    this.wanted = null;
    /** @type {number | null} Map that Python was asked for. */
    this.asked = null;
    /** Whether the last update went from one period to another. */
    this.isStep = false;
    this.isPlaying = false;
    this.hasTrails = true;
    /** @type {Float32Array[]} Positions on each map, once they are loaded. */
    this.layouts = [];
    this.key = "";
    const button = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ onclick) =>
      h("button", { type: "button", class: "hv-tool", "aria-label": label, title: label, onclick }, icon(name));
    this.earlier = button("earlier", "Earlier period", () => this.press(-1));
    this.later = button("later", "Later period", () => this.press(1));
    this.playButton = button("play", "Play the periods", () => (this.isPlaying ? this.stop() : this.play()));
    this.slider = h("input", { type: "range", min: 0, step: 1, "aria-label": "Period" });
    this.slider.addEventListener("input", () => {
      const k = Number(this.slider.value); // before it is drawn
      this.stop();
      this.show(k);
    });
    this.name = h("b", {});
    this.count = h("span", {});
    this.trails = h("button", { type: "button", class: "hv-text-button", title: "Lines through the places of selected items", onclick: () => this.toggleTrails() }, "Trails");
    this.element = h("div", { class: "hv-periods", role: "group", "aria-label": "Maps of periods", hidden: true },
      h("h3", {}, "Maps"), h("span", { class: "hv-period-buttons" }, this.earlier, this.playButton, this.later), this.slider,
      h("span", { class: "hv-period-name" }, this.name, this.count), this.trails);
  }

  /** Whether there are maps to step through. */
  get isShown() { return this.maps.length > 1; }

  /** @param {MapSpec} data */
  receive(data) {
    const { maps, shown } = data.periods ?? { maps: [], shown: null };
    const key = JSON.stringify(maps.map(({ geometry }) => geometry.id));
    this.isStep = key === this.key && shown !== null && this.shown !== null;
    Object.assign(this, { maps, shown });
    if (key !== this.key) {
      Object.assign(this, { key, layouts: [], asked: null, wanted: null });
      this.stop();
      this.load(data, key);
    }
    if (this.asked === shown) this.asked = null;
    if (this.wanted === shown) this.wanted = null;
    this.ask();
    this.draw();
    if (this.isPlaying && this.wanted === null) this.next();
  }

  /** Load the positions of all maps, for trails and so that steps are quick. @param {MapSpec} data @param {string} key */
  async load(data, key) {
    const layouts = await Promise.all(this.maps.map(({ geometry }) => loadLayout(data.session, geometry, data.n))).catch(() => []);
    if (key !== this.key || this.scene.isClosed) return;
    this.layouts = layouts;
    this.map.requestDraw();
  }

  /** @param {number} by */
  press(by) {
    this.stop();
    this.show((this.wanted ?? this.shown ?? (by > 0 ? -1 : this.maps.length)) + by);
  }

  /** Show a map; the latest wish is sent once the one before is answered. @param {number} k */
  show(k) {
    if (k < 0 || k >= this.maps.length) return;
    this.wanted = k;
    this.map.geography.show(false);
    this.ask();
    this.draw();
  }

  ask() {
    const { wanted } = this;
    if (this.asked !== null || wanted === null || wanted === this.shown) return;
    this.asked = wanted;
    send(() => this.map.component.setTriggerValue("run", this.maps[wanted].id));
    clearTimeout(this.answerTimer);
    this.answerTimer = setTimeout(() => {
      if (this.asked === wanted) Object.assign(this, { asked: null, wanted: null });
      this.draw();
    }, ANSWER_MS);
  }

  play() {
    this.isPlaying = true;
    // From the end it begins again.
    if (this.shown === null || this.shown === this.maps.length - 1) this.show(0);
    else this.show(this.shown + 1);
    this.draw();
  }

  /** Go on to the next map when the points have moved. */
  next() {
    clearTimeout(this.timer);
    const { shown } = this;
    if (shown === null || shown + 1 === this.maps.length) {
      this.stop();
      return;
    }
    this.timer = setTimeout(() => {
      if (document.hidden || !this.element.checkVisibility() || this.shown !== shown) this.stop();
      else this.show(shown + 1);
    }, MORPH_MS + REST_MS);
  }

  stop() {
    clearTimeout(this.timer);
    this.isPlaying = false;
    this.draw();
  }

  toggleTrails() {
    this.hasTrails = !this.hasTrails;
    this.map.announce(this.hasTrails ? "Selected items have trails" : "No trails");
    this.draw();
    this.map.requestDraw();
  }

  draw() {
    const { maps } = this;
    const at = this.wanted ?? this.shown;
    this.element.hidden = !this.isShown;
    if (!this.isShown) return;
    const label = this.isPlaying ? "Pause" : "Play the periods";
    set(this.playButton, { "aria-label": label, title: label });
    this.playButton.replaceChildren(icon(this.isPlaying ? "pause" : "play"));
    set(this.slider, { max: maps.length - 1, "aria-valuetext": at === null ? "none shown" : maps[at].name });
    this.slider.value = String(at ?? maps.length - 1);
    this.element.toggleAttribute("data-off", at === null);
    this.earlier.disabled = at === 0;
    this.later.disabled = at === maps.length - 1;
    this.name.textContent = at === null ? `${maps.length} periods` : maps[at].name;
    this.count.textContent = at === null ? "" : `${thousands(maps[at].count)} of ${thousands(this.scene.n)} items`;
    set(this.trails, { "aria-pressed": String(this.hasTrails) });
  }

  /** Open the form of maps of periods. @param {HTMLElement} opener */
  openForm(opener) { openPopover("new-map", "maker", opener, (content) => this.unfold(content)); }

  /** @param {HTMLElement} content */
  unfold(content, tries = MAX_TRIES) {
    const details = content.querySelector(".st-key-period-form details");
    if (!(details instanceof HTMLDetailsElement)) {
      if (tries) setTimeout(() => this.unfold(content, tries - 1), RETRY_MS);
      return;
    }
    if (!details.open) details.querySelector("summary")?.click();
    setTimeout(() => details.scrollIntoView({ block: "nearest" }), 3 * RETRY_MS);
  }

  /** The places of each selected item on the screen, with the numbers of their maps. @returns {{ row: number, places: Stop[] }[]} */
  paths() {
    const { map, scene, layouts, shown } = this;
    const { view, isGeography } = scene;
    if (!this.hasTrails || shown === null || isGeography || layouts.length !== this.maps.length || scene.count > MAX_TRAILS) return [];
    return map.selection.rows().map((row) => ({
      row, places: layouts.flatMap((pos, k) => (Number.isNaN(pos[2 * row]) ? [] : [/** @type {Stop} */ ([view.x(pos[2 * row]), view.y(pos[2 * row + 1]), k])])),
    })).filter(({ places }) => places.length > 1);
  }

  /** Draw a line through the places of each selected item. @param {CanvasRenderingContext2D} ctx */
  drawTrails(ctx) {
    const { palette, slot, tokens } = this.scene;
    ctx.lineJoin = "round";
    for (const { row, places } of this.paths()) {
      ctx.beginPath();
      places.forEach(([x, y], k) => ctx[k ? "lineTo" : "moveTo"](x, y));
      for (const [colour, width] of [[withAlpha(tokens.bg, 0.8), LINE_PX + 2.4], [tokens.ink, LINE_PX]]) {
        ctx.strokeStyle = colour;
        ctx.lineWidth = width;
        ctx.stroke();
      }
      for (const [x, y] of places) {
        ctx.beginPath();
        ctx.arc(x, y, DOT_PX, 0, 7);
        ctx.fillStyle = palette[slot[row]];
        ctx.fill();
        ctx.lineWidth = 1.2;
        ctx.strokeStyle = tokens.ink;
        ctx.stroke();
      }
    }
  }

  /** Name the first and the last period of each trail, where no other text is. @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx */
  drawNames(overlay, ctx) {
    const { tokens, family } = this.scene;
    const paths = this.paths();
    if (!paths.length || paths.length > MAX_NAMED) return;
    const font = `600 12px ${family}`;
    const taken = overlay.boxes().map(({ at }) => at);
    ctx.font = font;
    for (const { places } of paths) {
      for (const [x, y, k] of [places[0], places[places.length - 1]]) {
        const { name } = this.maps[k];
        const half = ctx.measureText(name).width / 2;
        const centres = [[x + half + NAME_PX, y], [x - half - NAME_PX, y], [x, y - 1.4 * NAME_PX], [x, y + 1.6 * NAME_PX]];
        const boxes = centres.map(([cx, cy]) => [cx - half, cy - 8, cx + half, cy + 8]);
        const isFree = (box) => !taken.some((a) => a[0] < box[2] && box[0] < a[2] && a[1] < box[3] && box[1] < a[3]);
        const at = Math.max(boxes.findIndex(isFree), 0);
        taken.push(boxes[at]);
        overlay.text(ctx, name, centres[at][0], centres[at][1], font, tokens.ink, "center");
      }
    }
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.answerTimer);
  }
}
